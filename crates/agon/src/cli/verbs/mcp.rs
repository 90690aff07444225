//! `agon mcp`: debates as tools of coding agents.

use std::path::{Path, PathBuf};

use agon_store::StoreAddress;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, model_catalogue};
use crate::cli::errors::CliError;
use crate::cli::paths::process_env;
use crate::cli::runtime::block_on;
use crate::cli::telemetry::{self, TelemetryNotes};
use crate::cli::{arguments, output};
use crate::hosting::DebateHost;
use crate::mcp::client_setup::{AgentClient, CLIENTS, ServerCommand};
use crate::mcp::stdio::serve_stdio;

pub(super) const VERB: CliVerb = CliVerb { name: "mcp", group: VerbGroup::Servers, command, run };

fn command(command: Command) -> Command {
    let install = Arg::new("install")
        .long("install")
        .value_name("CLIENT")
        .value_parser(PossibleValuesParser::new(CLIENTS.map(|client| client.name)))
        .help("Print the configuration that makes this client start `agon mcp`");
    let write = arguments::switch(
        "write",
        "Write it into the client's usual file instead; nothing else in it changes",
    );
    command
        .about("Serve debates as tools to a coding agent on stdin and stdout (Model Context Protocol)")
        .after_help(
            "The agent's client starts this program; `agon serve` has the same tools at /mcp. A call returns within a minute, and its debate\n\
             goes on. When the client hangs up, running debates are finished, or with on_close = \"stop\" under [mcp] left for the next start.",
        )
        .arg(install)
        .arg(write.requires("install"))
        .args(arguments::config_and_store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let wanted = args.get_one::<String>("install");
    if let Some(client) = wanted.and_then(|name| CLIENTS.iter().find(|client| client.name == name)) {
        return install(client, args, app.flag("write"));
    }
    let configuration = app.load_configuration()?;
    let settings = configuration.mcp.clone();
    settings.check()?;
    let store = app.store()?;
    let catalogue = model_catalogue(&configuration);
    telemetry::start(&configuration.telemetry, TelemetryNotes::AtOnce);
    block_on(async {
        let host = DebateHost::new(configuration, catalogue, store, settings.host_settings())
            .map_err(|error| CliError::input(error.sentence))?;
        serve_stdio(host, &settings).await
    })??;
    Ok(0)
}

fn install(client: &AgentClient, args: &ArgMatches, writes: bool) -> Result<u8, CliError> {
    let command = server_command(args)?;
    let file = client.usual_file(&process_env)?;
    if !writes {
        output::note(&format!("for {}:", file.display()));
        output::print(&client.setup_text(&command))?;
        return Ok(0);
    }
    match client.write(&file, &command)? {
        true => output::note(&format!("wrote {}", file.display())),
        false => output::note(&format!("{} has it already", file.display())),
    }
    Ok(0)
}

/// This program with the same configuration and store. A client may start it from anywhere, so paths are whole.
fn server_command(args: &ArgMatches) -> Result<ServerCommand, CliError> {
    let unknown =
        |why: std::io::Error| CliError::System(format!("the path of this program is not known: {why}"));
    let program = std::env::current_exe().map_err(unknown)?;
    let mut arguments = vec!["mcp".to_owned()];
    for name in ["config", "db"] {
        if let Some(path) = args.get_one::<PathBuf>(name) {
            let is_address = name == "db"
                && StoreAddress::parse(path.as_os_str()).is_ok_and(|store| store.file().is_none());
            let whole = match is_address {
                true => arguments::shown_store(path),
                false => shown(&std::path::absolute(path).unwrap_or_else(|_| path.clone())),
            };
            arguments.extend([format!("--{name}"), whole]);
        }
    }
    if args.get_flag("no-config") {
        arguments.push("--no-config".to_owned());
    }
    Ok(ServerCommand { program: shown(&program), arguments })
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
