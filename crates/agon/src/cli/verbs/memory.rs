//! `agon memory`: what agents remember of the debates that they took part in.

use agon_host::{clean_line, clean_text};
use agon_store::MemoryHit;
use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use super::knowledge::{day, held_in, json_word};
use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::arguments::{count_limit, limit_value};
use crate::cli::errors::CliError;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, clock, output};

pub(super) const VERB: CliVerb = CliVerb { name: "memory", group: VerbGroup::StoredDebates, command, run };

const DEFAULT_LIMIT: &str = "20";

fn command(command: Command) -> Command {
    let memory = |help: &'static str| Arg::new("memory").value_name("ID").required(true).help(help);
    let agent = Arg::new("agent").long("agent").value_name("NAME").help("Only what this agent remembers");
    let subcommand = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(arguments::json()).args(arguments::config_and_store())
    };
    command
        .about("Show and delete what agents remember of their debates")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            subcommand("list", "List what agents remember by now, the last changed first")
                .arg(agent)
                .arg(count_limit(DEFAULT_LIMIT, "The most memories to list")),
        )
        .subcommand(subcommand("show", "Show a memory").arg(memory("The id of a memory")))
        .subcommand(
            subcommand("forget", "Delete memories for good, also those that have faded away")
                .arg(memory("The ids of the memories").num_args(1..)),
        )
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let Some((subcommand, args)) = args.subcommand() else { return Ok(0) };
    let app = App::new(args);
    match subcommand {
        "list" => list(&app),
        "show" => show(&app),
        "forget" => forget(&app),
        _ => Err(CliError::input("name a subcommand: agon memory --help lists them")),
    }
}

fn list(app: &App<'_>) -> Result<u8, CliError> {
    let agent = app.args.get_one::<String>("agent").map(String::as_str);
    let memories = match app.store_to_read()? {
        Some(store) => store.list_memories(agent, clock::store_seconds(), limit_value(app.args))?,
        None => Vec::new(),
    };
    if app.flag("json") {
        output::print_json(&memories)?;
    } else if memories.is_empty() {
        output::note(match agent {
            Some(_) => "this agent remembers nothing now: `agon memory list` shows what all of them remember",
            None => "no agent remembers anything now: agents remember what they proposed, until it fades",
        });
    } else {
        let row = |memory: &MemoryHit| {
            vec![
                memory.id.clone(),
                clean_line(&memory.agent),
                day(&memory.at),
                memory.tier.name().to_owned(),
                memory.seen.to_string(),
                json_word(&json!(memory.turned_out)),
                clean_line(memory.proposal()),
            ]
        };
        output::print_table(
            &["memory", "agent", "since", "tier", "seen", "turned out", "proposal"],
            memories.iter().map(row),
        )?;
    }
    Ok(0)
}

fn show(app: &App<'_>) -> Result<u8, CliError> {
    let id = app.args.get_one::<String>("memory").map(String::as_str).unwrap_or_default();
    let memory = match app.store_to_read()? {
        Some(store) => store.show_memory(id, clock::store_seconds())?,
        None => return Err(unknown_memory(id)),
    };
    if app.flag("json") {
        output::print_json(&memory)?;
        return Ok(0);
    }
    let mut facts = vec![format!("{} of {}, since {}", memory.id, memory.agent, day(&memory.at))];
    if memory.has_faded {
        facts.push("has faded away".to_owned());
    } else {
        facts.push(format!("{}, seen {}", memory.tier.name(), memory.seen));
    }
    facts.push(format!("last in debate {}", memory.debate));
    facts.extend(memory.provenance.as_ref().map(|provenance| format!("held in {}", held_in(provenance))));
    facts.extend(memory.turned_out.map(|truth| format!("turned out {}", json_word(&json!(truth)))));
    let facts = output::stdout_style().dim(&clean_line(&facts.join(", ")));
    output::print(&format!("{facts}\n{}\n", clean_text(&memory.text)))?;
    Ok(0)
}

fn forget(app: &App<'_>) -> Result<u8, CliError> {
    let ids: Vec<&String> = app.args.get_many::<String>("memory").into_iter().flatten().collect();
    let first = ids.first().map(|id| id.as_str()).unwrap_or_default();
    let store = app.store_to_read()?.ok_or_else(|| unknown_memory(first))?;
    let now_s = clock::store_seconds();
    // All ids are looked up before anything is deleted.
    let mut named: Vec<String> = Vec::new();
    for id in ids {
        let id = store.show_memory(id, now_s)?.id;
        if !named.contains(&id) {
            named.push(id);
        }
    }
    let mut forgotten = Vec::new();
    for id in &named {
        forgotten.push(block_on(store.forget_memory(id, now_s))??);
    }
    if app.flag("json") {
        output::print_json(&json!({"ids": named}))?;
    } else {
        for memory in forgotten {
            let (agent, proposal) = (clean_line(&memory.agent), clean_line(memory.proposal()));
            output::print(&format!("{} of {agent} is deleted: {proposal}\n", memory.id))?;
        }
    }
    Ok(0)
}

fn unknown_memory(id: &str) -> CliError {
    CliError::input(format!("there is no memory {id:?}: `agon memory list` lists them"))
}
