//! `agon list`: the debates that are kept, newest first.

use agon_store::Listed;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::{args, desk, output};

pub(super) const VERB: Verb = Verb { name: "list", group: Group::Kept, command, run };

const LIMIT: u64 = 20;

fn command(command: Command) -> Command {
    let limit = Arg::new("limit")
        .long("limit")
        .value_name("N")
        .value_parser(whole(1_u64, None))
        .help(format!("The most to list [default: {LIMIT}; with --json all]"));
    command.about("List debates, the newest first").arg(limit).arg(args::json()).arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let json = args.get_flag("json");
    let limit = args.get_one::<u64>("limit").copied().or((!json).then_some(LIMIT));
    let limit = limit.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let listed = match desk::kept(args)? {
        Some(store) => store.list(limit)?,
        None => Vec::new(),
    };
    if json {
        output::print_json(&listed.iter().map(entry).collect())?;
    } else if listed.is_empty() {
        output::note("no debates yet: agon deep \"QUESTION\" holds one");
    } else {
        output::print(&table(&listed))?;
    }
    Ok(0)
}

fn entry(listed: &Listed) -> Value {
    let Listed { id, protocol, question, status, created_at, parent } = listed;
    json!({
        "id": id, "protocol": protocol, "question": question, "status": status, "created_at": created_at,
        "parent": parent,
    })
}

fn table(listed: &[Listed]) -> String {
    let head = ["id", "opened", "protocol", "status", "question"].map(str::to_owned).to_vec();
    let row = |debate: &Listed| {
        let opened = debate.created_at.get(..16).unwrap_or(&debate.created_at).replace('T', " ");
        let question = debate.question.lines().next().unwrap_or_default().to_owned();
        vec![debate.id.clone(), opened, debate.protocol.clone(), debate.status.clone(), question]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(listed.iter().map(row)).collect();
    agon_report::table("", &rows, &output::stdout_style())
}
