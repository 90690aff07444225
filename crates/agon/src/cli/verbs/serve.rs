//! `agon serve`: debates over HTTP, for browsers, programs and chat programs.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, model_catalogue};
use crate::cli::errors::CliError;
use crate::cli::health_check::{CheckedProcess, check_option, check_process};
use crate::cli::runtime::block_on;
use crate::cli::telemetry::{self, TelemetryNotes};
use crate::cli::{arguments, output};
use crate::hosting::debate_request::CallerRights;
use crate::hosting::{DebateHost, DebateRunners, HostSettings};
use crate::serve::BoundServer;
use crate::serve::access::AccessRules;
use crate::serve::settings::ServeSettings;

pub(super) const VERB: CliVerb = CliVerb { name: "serve", group: VerbGroup::Servers, command, run };

fn command(command: Command) -> Command {
    let listen = Arg::new("listen")
        .long("listen")
        .value_name("ADDRESS:PORT")
        .help("Where to listen; port 0 picks a free one [default: 127.0.0.1:7717]");
    let token = "A file with one token per line; it is read again when it changes";
    command
        .about("Serve debates over HTTP: a page to watch and join them, an API, and debates as models of chat programs")
        .after_help(
            "The page is at /, the API under /api/v1 (described by /openapi.json), OpenAI's format under /v1, \
             the tools of `agon mcp` at /mcp. On this machine nobody needs a token. To listen on other addresses, set AGON_TOKEN or use \
             --token-file; browsers then use the one-time link that is printed.",
        )
        .arg(listen)
        .arg(arguments::path_option("token-file", "FILE", token))
        .arg(arguments::switch("quiet", "Print nothing but the address"))
        .arg(check_option())
        .args(arguments::workers())
        .args(arguments::config_and_store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let configuration = app.load_configuration()?;
    let settings = configuration.serve.clone();
    settings.check()?;
    let listen = args.get_one::<String>("listen").unwrap_or(&settings.listen).clone();
    if app.flag("check") {
        return check_process(&listen, CheckedProcess::Server);
    }
    let token = std::env::var("AGON_TOKEN").ok();
    let token_file = args.get_one::<PathBuf>("token-file").cloned();
    let store = app.store()?;
    let catalogue = model_catalogue(&configuration);
    let notes = if app.flag("quiet") { TelemetryNotes::Quiet } else { TelemetryNotes::AtOnce };
    telemetry::start(&configuration.telemetry, notes);
    let runners = DebateRunners { workers: app.workers(&store)?, share_calls: false };
    block_on(async {
        let server = BoundServer::bind(&listen).await?;
        let address = server.address;
        let access = AccessRules::new(address.ip(), &settings.hosts, token, token_file)?;
        let access = Arc::new(access);
        let host = DebateHost::with_parts(configuration, catalogue, store, host_settings(&settings), runners)
            .map_err(|error| CliError::input(error.sentence))?;
        output::print(&format!("listening on http://{address}\n"))?;
        if access.needs_token() {
            output::print(&format!("open this link once: http://{address}{}\n", access.new_link()?))?;
        }
        server.serve(host, access, settings).await
    })??;
    Ok(0)
}

fn host_settings(settings: &ServeSettings) -> HostSettings {
    HostSettings {
        debates_at_once: settings.debates,
        queue: settings.queue,
        usd_per_day: settings.usd_per_day,
        rights: CallerRights {
            allowed_models: settings.allow.iter().cloned().collect(),
            section: "serve",
            caller_seat: false,
        },
    }
}
