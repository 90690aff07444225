//! `agon list`: the stored debates, the newest first.

use agon_store::ListedDebate;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::errors::CliError;
use crate::cli::limits::whole_number;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "list", group: VerbGroup::StoredDebates, command, run };

const DEFAULT_LIMIT: u64 = 20;

fn command(command: Command) -> Command {
    let limit = Arg::new("limit")
        .long("limit")
        .value_name("N")
        .value_parser(whole_number(1_u64, None))
        .help(format!("The most debates to list [default: {DEFAULT_LIMIT}; with --json all]"));
    command.about("List debates, the newest first").arg(limit).arg(arguments::json()).arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let default = (!app.flag("json")).then_some(DEFAULT_LIMIT);
    let limit = args.get_one::<u64>("limit").copied().or(default);
    let limit = limit.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let (debates, total) = match app.store_to_read()? {
        Some(store) => (store.list_debates(limit)?, store.debate_count()?),
        None => (Vec::new(), 0),
    };
    if app.flag("json") {
        output::print_json(&debates.iter().map(debate_document).collect::<Vec<_>>())?;
    } else if debates.is_empty() {
        output::note("there are no debates yet: `agon --help` shows how to start one");
    } else {
        let head = ["id", "opened", "protocol", "status", "question"];
        output::print_table(&head, debates.iter().map(debate_row))?;
        if !args.contains_id("limit") && total > debates.len() as u64 {
            output::note(&format!("{} of {total} debates; --limit N shows more", debates.len()));
        }
    }
    Ok(0)
}

fn debate_document(debate: &ListedDebate) -> Value {
    let ListedDebate { id, protocol, question, status, created_at, parent } = debate;
    json!({
        "id": id, "protocol": protocol, "question": question, "status": status, "created_at": created_at,
        "parent": parent,
    })
}

fn debate_row(debate: &ListedDebate) -> Vec<String> {
    let opened = debate.created_at.get(..16).unwrap_or(&debate.created_at).replace('T', " ");
    let question = debate.question.lines().next().unwrap_or_default().to_owned();
    vec![debate.id.clone(), opened, debate.protocol.clone(), debate.status.clone(), question]
}
