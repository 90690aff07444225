//! `agon mcp`: debates as tools of coding agents.

use std::ffi::OsString;
use std::io::IsTerminal as _;
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
            "The agent's client starts this program; `agon serve` has the same tools at /mcp. A call returns within a minute, and its debate \
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
    if std::io::stdin().is_terminal() {
        output::note(
            "note: a coding agent's client starts this and speaks to it on stdin; `agon mcp --install CLIENT` sets it up. Ctrl-D ends it.",
        );
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
        output::note(&client.keys_note(&command));
        return Ok(0);
    }
    match client.write(&file, &command)? {
        true => output::note(&format!("wrote {}", file.display())),
        false => output::note(&format!("{} has it already", file.display())),
    }
    output::note(&client.keys_note(&command));
    Ok(0)
}

/// This program with the same configuration and store. A client may start it from anywhere, so paths are whole.
fn server_command(args: &ArgMatches) -> Result<ServerCommand, CliError> {
    let program = this_program()?;
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
    Ok(ServerCommand { program: shown(&program), arguments, variables: variables(args) })
}

/// The variables that say where the configuration, the store and Ollama are, as far as they are set. An address with a password is not passed
/// on: the client's file may be shared. A server of a store may have one in several forms, so only a file is.
fn variables(args: &ArgMatches) -> Vec<(&'static str, String)> {
    let set = |name: &'static str| Some((name, process_env(name).filter(|value| !value.is_empty())?));
    let whole = |(name, path): (&'static str, OsString)| {
        (name, shown(&std::path::absolute(&path).unwrap_or_else(|_| path.into())))
    };
    let is_file = |path: &OsString| StoreAddress::parse(path).is_ok_and(|store| store.file().is_some());
    let store = set("AGON_DB").filter(|(_, path)| !args.contains_id("db") && is_file(path));
    let ollama = set("OLLAMA_HOST").map(|(name, host)| (name, host.to_string_lossy().into_owned()));
    let ollama = ollama.filter(|(_, host)| !host.contains('@'));
    set("AGON_HOME").map(whole).into_iter().chain(store.map(whole)).chain(ollama).collect()
}

/// The path by which this program was started. A link is kept, because it stays right when the program is updated.
fn this_program() -> Result<PathBuf, CliError> {
    let unknown =
        |why: std::io::Error| CliError::System(format!("the path of this program is not known: {why}"));
    let own = std::env::current_exe().map_err(unknown)?;
    let started = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let is_own = |path: &PathBuf| matches!((path.canonicalize(), own.canonicalize()), (Ok(one), Ok(other)) if one == other);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&folders).map(|folder| folder.join(&started));
    let mut candidates = in_path.filter(|_| started.components().count() == 1).chain([started.clone()]);
    let found = candidates.find(is_own).and_then(|path| std::path::absolute(path).ok());
    Ok(found.unwrap_or(own))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
