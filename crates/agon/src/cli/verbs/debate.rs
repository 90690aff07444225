//! The verb of a protocol: opens a debate and runs it to its end.

use std::sync::Arc;

use agon_core::Protocol;
use clap::{ArgMatches, Command};

use crate::cli::app::{App, estimate_catalogue};
use crate::cli::arguments::{self, CliArguments};
use crate::cli::brief_builder::BriefBuilder;
use crate::cli::debate_run::DebateSession;
use crate::cli::deliveries::{DeliveryBindings, to_option};
use crate::cli::errors::CliError;
use crate::cli::paths::process_env;
use crate::cli::result_output::ResultOutput;
use crate::cli::runtime::block_on;
use crate::cli::{context_files, dry_run, output, seat_models, table_tools, targets};

/// The command of one protocol, made from its tables.
pub fn command(protocol: &'static dyn Protocol) -> Command {
    let info = protocol.info();
    let dry_run = "Show seats, calls, tokens and price; make no call and store nothing";
    Command::new(info.name)
        .about(info.about)
        .args(targets::arguments(info))
        .arg(context_files::argument())
        .arg(arguments::switch("dry-run", dry_run))
        .args(arguments::seats())
        .args(arguments::role_models(info.named_roles()))
        .args(arguments::protocol_options(info))
        .arg(arguments::set_option())
        .args(arguments::limits())
        .args(table_tools::arguments())
        .args(arguments::workers())
        .args(arguments::output_options())
        .arg(to_option())
        .args(info.gate.map(|_| arguments::gate_format()))
        .args(info.is_rated.then(arguments::remember))
        .args(info.record_folder.map(|_| arguments::no_files()))
        .args(arguments::config_and_store())
}

/// Runs a debate of this protocol.
pub fn run(protocol: &'static dyn Protocol, args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let info = protocol.info();
    let configuration = app.configuration()?;
    let arguments = CliArguments::of_protocol(args, info, &process_env);
    let seed = arguments.seed;
    let is_dry_run = app.flag("dry-run");
    let catalogue =
        &if is_dry_run { estimate_catalogue(configuration) } else { Arc::clone(app.catalogue()?) };
    let builder = BriefBuilder::new(protocol, arguments, configuration)?
        .or_default_models(|| seat_models::default_models(catalogue))?
        .with_local_options(configuration, catalogue)?
        .with_store(app.existing_store()?)
        .with_tools(table_tools::read(args, &app)?);
    let bindings = DeliveryBindings::read(args, configuration, info.name)?;
    let context = context_files::read(args)?;
    let mut subject = targets::read_subject(info, args)?;
    subject.files.extend(context);
    let mut brief = builder.brief(subject)?;
    seat_models::check_models(&brief, &**catalogue)?;
    if is_dry_run {
        return dry_run::print_estimate(protocol, brief, seed, &**catalogue, app.flag("json"));
    }
    seat_models::check_ollama_models(&brief, catalogue)?;
    let output = ResultOutput::read(&app);
    output.check(protocol, &brief)?;
    output.write_no_files(info, &mut brief);
    let store = app.store()?;
    if !app.flag("quiet") {
        for notice in seat_models::notices(&brief, &**catalogue) {
            output::note(&format!("note: {notice}"));
        }
    }
    seat_models::fetch_model_files(&app, seat_models::brief_models(&brief))?;
    let (id, engine) = (brief.id.clone(), app.engine(&store)?);
    block_on(bindings.bind(&store, &id))??;
    let run = DebateSession { protocol, id: id.clone(), store: store.clone(), output: &output };
    let status = match app.workers(&store)? {
        Some(workers) => run.run(async |watch, stop| workers.hold(brief, watch, stop).await)?,
        None => run.run(async |watch, stop| Ok(engine.open(protocol, brief, watch, stop).await?))?,
    };
    app.deliver_and_index(&store, Some(&id))?;
    Ok(status)
}
