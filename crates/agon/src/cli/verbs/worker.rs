//! `agon worker`: runs debates that others submit to a Restate server.

use clap::{Arg, ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, model_catalogue};
use crate::cli::errors::CliError;
use crate::cli::health_check::{CheckedProcess, check_option, check_process};
use crate::cli::runtime::block_on;
use crate::cli::telemetry::{self, TelemetryNotes};
use crate::cli::{arguments, output, signals};
use crate::hosting::debate_request::CallerRights;
use crate::hosting::{DebateHost, DebateRunners, HostSettings};
use crate::worker::debate_workflow::DebateWorkflow;
use crate::worker::settings::WorkerSettings;
use crate::worker::worker_endpoint::{WorkerEndpoint, take_over_silent};

pub(super) const VERB: CliVerb = CliVerb { name: "worker", group: VerbGroup::Servers, command, run };

fn command(command: Command) -> Command {
    let listen = Arg::new("listen")
        .long("listen")
        .value_name("ADDRESS:PORT")
        .help("Where Restate reaches this worker; several workers of one machine can share an address [default: 127.0.0.1:9080]");
    let advertise = Arg::new("advertise")
        .long("advertise")
        .value_name("URL")
        .help("The address that Restate uses, if it is another one: a load balancer in front of all workers");
    let [restate, admin] = arguments::restate("The Restate server, for instance http://HOST:8080");
    command
        .about("Run the debates that others submit to a Restate server, together with other workers")
        .after_help(
            "All workers and all programs that submit use one store, for instance --db postgres://USER@HOST/NAME. A debate whose worker dies goes \
             on at another one; no answer that was paid for is asked for again. docs/scale.md describes a cluster.",
        )
        .arg(restate.required_unless_present("check"))
        .arg(admin)
        .arg(listen)
        .arg(advertise)
        .arg(arguments::switch("quiet", "Print nothing but the address"))
        .arg(check_option())
        .args(arguments::config_and_store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let configuration = app.load_configuration()?;
    let settings = configuration.worker.clone();
    settings.check()?;
    let listen = args.get_one::<String>("listen").unwrap_or(&settings.listen);
    if app.flag("check") {
        return check_process(listen, CheckedProcess::Worker);
    }
    let client =
        app.restate_client()?.ok_or_else(|| CliError::input("name a Restate server with --restate"))?;
    let store = app.store()?;
    let catalogue = model_catalogue(&configuration);
    let notes = if app.flag("quiet") { TelemetryNotes::Quiet } else { TelemetryNotes::AtOnce };
    telemetry::start(&configuration.telemetry, notes);
    block_on(async {
        let endpoint = WorkerEndpoint::bind(listen)?;
        let own = match args.get_one::<String>("advertise") {
            Some(address) => address.clone(),
            None if endpoint.address.ip().is_unspecified() => {
                return Err(CliError::input("Restate cannot reach a worker at an address for all networks")
                    .with_help("say with --advertise http://HOST:PORT how it can"));
            }
            None => format!("http://{}", endpoint.address),
        };
        let runners = DebateRunners { workers: None, share_calls: true };
        let host = DebateHost::with_parts(configuration, catalogue, store, host_settings(&settings), runners)
            .map_err(|error| CliError::input(error.sentence))?;
        let workflow = DebateWorkflow { host: host.clone() };
        output::print(&format!("listening on http://{}\n", endpoint.address))?;
        let register = async {
            client.register(&own).await?;
            if !app.flag("quiet") {
                output::note(&format!("registered as {own}"));
            }
            take_over_silent(&client, &own).await;
            Ok(())
        };
        tokio::select! {
            () = endpoint.serve(workflow, asked_to_end()) => {}
            failed = register => return failed,
            () = host.take_messages() => {}
            () = host.share_calls() => {}
        }
        // Debates that do not end in time are continued by another worker.
        host.shut_down().await;
        Ok(())
    })??;
    Ok(0)
}

async fn asked_to_end() {
    // Without signals there is nothing to wait for, and only a kill ends the worker.
    if signals::end_requested().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn host_settings(settings: &WorkerSettings) -> HostSettings {
    HostSettings {
        debates_at_once: settings.debates,
        queue: usize::MAX,
        usd_per_day: None,
        rights: CallerRights { allowed_models: Default::default(), section: "worker", caller_seat: false },
    }
}
