//! `agon export`: a debate as a file to keep or to pass on.

use std::path::{Path, PathBuf};

use agon_core::invisible::escaped_json;
use agon_report::{GateFormat, gate_report, markdown_report, page_report, yaml};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, DebateHandle, StoredLog};
use crate::cli::debate_reading::DebateReading;
use crate::cli::errors::CliError;
use crate::cli::{arguments, output, receipts, telemetry};

pub(super) const VERB: CliVerb = CliVerb { name: "export", group: VerbGroup::StoredDebates, command, run };

const FORMATS: [&str; 10] =
    ["md", "html", "json", "yaml", "github", "gitlab", "sarif", "junit", "comment", "otlp"];

fn command(command: Command) -> Command {
    let format = Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::new(FORMATS))
        .help("The format [default: by the extension of FILE, else md]");
    let out = Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Write here; an existing file is never overwritten [default: stdout]");
    command
        .about("Write a debate as Markdown, HTML, JSON or YAML, a gate's verdict for a pipeline, or a trace")
        .after_help(
            "json contains the outcome and the whole log with its hashes; --receipt contains both, signed. `agon verify FILE` checks \
             either; a receipt also on another machine and without a network. otlp is the trace that telemetry sends, for a collector.",
        )
        .arg(arguments::debate_id())
        .arg(format)
        .arg(arguments::switch("receipt", "Write a signed receipt instead, with the log").conflicts_with("format"))
        .arg(
            arguments::switch("no-log", "Omit the log from the receipt, because its texts may be private")
                .requires("receipt"),
        )
        .arg(out)
        .args(arguments::config())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let out = args.get_one::<PathBuf>("output");
    let format = match args.get_one::<String>("format") {
        Some(format) => format.as_str(),
        None => out.and_then(|file| format_of_file(file)).unwrap_or("md"),
    };
    let handle = app.stored_debate()?;
    let text = match app.flag("receipt") {
        true => receipts::issue_receipt(&handle, app.catalogue()?, !app.flag("no-log"))?,
        false if format == "otlp" => {
            telemetry::trace_document(&handle.read()?.records, &app.configuration()?.telemetry)?
        }
        false => export_text(&handle, format)?,
    };
    match out {
        Some(file) => output::write_new_file(file, &text)?,
        None => output::print(&text)?,
    }
    Ok(0)
}

fn format_of_file(file: &Path) -> Option<&'static str> {
    let name = match file.extension()?.to_str()? {
        "htm" => "html",
        "yml" => "yaml",
        other => other,
    };
    FORMATS.into_iter().find(|format| *format == name)
}

/// A debate in one of the formats.
pub(crate) fn export_text(handle: &DebateHandle, format: &str) -> Result<String, CliError> {
    let StoredLog { raw, debate, .. } = handle.read()?;
    let reading = DebateReading::of(&debate)?;
    let source = reading.source();
    Ok(match format {
        name if let Some(gate) = GateFormat::from_name(name) => gate_report(&source, gate)?,
        "html" => page_report(&source),
        "json" => format!("{}\n", escaped_json(format!("{:#}", exported_json(reading.document, raw)))),
        "yaml" => yaml(&reading.document)?,
        _ => markdown_report(&source),
    })
}

/// The events are strings, not objects, because the hashes are over their exact bytes.
fn exported_json(outcome: Value, raw: Vec<(String, String)>) -> Value {
    let log: Vec<Value> = raw.into_iter().map(|(body, hash)| json!({"hash": hash, "body": body})).collect();
    json!({"outcome": outcome, "log": log})
}
