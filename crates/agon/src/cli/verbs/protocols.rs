//! `agon protocols`: the kinds of debate and their options.

use agon_core::{Kind, Opt, Protocol};
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::{args, output};

pub(super) const VERB: Verb = Verb { name: "protocols", group: Group::Around, command, run };

fn command(command: Command) -> Command {
    command.about("List the kinds of debate and their options").arg(args::json())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let all = agon_protocols::PROTOCOLS;
    match args.get_flag("json") {
        true => output::print_json(&all.iter().map(|protocol| document(*protocol)).collect())?,
        false => {
            output::print(&all.iter().map(|protocol| section(*protocol)).collect::<Vec<_>>().join("\n"))?
        }
    }
    Ok(0)
}

fn document(protocol: &dyn Protocol) -> Value {
    let option = |opt: &Opt| {
        let default = if opt.default.is_empty() { Value::Null } else { json!(opt.default) };
        json!({"key": opt.key, "value": value(opt.kind), "default": default, "help": opt.help})
    };
    json!({
        "name": protocol.name(),
        "about": protocol.about(),
        "subject": protocol.subject(),
        "roles": protocol.roles(),
        "options": protocol.options().iter().map(option).collect::<Vec<_>>(),
    })
}

fn section(protocol: &dyn Protocol) -> String {
    const INDENT: usize = 6;
    let mut text = format!("{}\n", output::hang(&format!("{}: {}", protocol.name(), protocol.about()), 0));
    let roles: Vec<String> = protocol.roles().iter().map(|role| format!("--{role}")).collect();
    if !roles.is_empty() {
        text.push_str(&format!("  models for single roles: {}\n", roles.join(", ")));
    }
    for opt in protocol.options() {
        let default = if opt.default.is_empty() { "not set" } else { opt.default };
        let indent = " ".repeat(INDENT);
        let help = output::hang(opt.help, INDENT);
        text.push_str(&format!("  {} = {default}   ({})\n{indent}{help}\n", opt.key, value(opt.kind)));
    }
    text
}

fn value(kind: Kind) -> String {
    match kind {
        Kind::Int(low, high) => format!("{low} to {high}"),
        Kind::Float(low, high) => format!("{low:?} to {high:?}"),
        Kind::Choice(words) => words.join(", "),
        Kind::Flag => "true, false".into(),
        Kind::Text => "text".into(),
        Kind::File => "a file".into(),
        Kind::Models => "models, with commas".into(),
    }
}
