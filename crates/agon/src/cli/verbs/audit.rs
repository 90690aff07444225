//! `agon audit`: what a table of answers or of rulings says about those who gave them.

use std::path::PathBuf;

use agon_audit::{Bootstrap, JudgeOptions, Table, VoteOptions};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Serialize;

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::{args, output};

pub(super) const VERB: Verb = Verb { name: "audit", group: Group::Many, command, run };

/// More would not change a digit that is printed.
const RESAMPLES_MAX: u32 = 100_000;

fn command(command: Command) -> Command {
    let file = Arg::new("file")
        .value_name("FILE.csv")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("A table with a head, also gzipped");
    let gold = Arg::new("gold")
        .long("gold")
        .value_name("COLUMN")
        .help("The column of what is right [default: gold]");
    let names = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).value_delimiter(',').help(help)
    };
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let chance =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("N").help(help);
    let verb = |name: &'static str, about: &'static str| {
        Command::new(name)
            .about(about)
            .arg(file.clone())
            .arg(gold.clone())
            .arg(args::path("plot", "FILE.svg", "Also draw how far errors go together"))
            .arg(
                chance("resamples", "Resamples for the intervals [default: 1000]")
                    .value_parser(whole(10_u32, Some(RESAMPLES_MAX))),
            )
            .arg(chance("seed", "Where they come from [default: 0]").value_parser(whole(0_u64, None)))
            .arg(args::json())
    };
    command
        .about("Measure a table of answers or rulings: independence, what a vote gains, whether order rules")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            verb("votes", "Models that answered the same questions: how many independent voices they are, what a vote gains")
                .after_help(
                    "A row is a question, a column a model. `-` is a question that a model was not asked; an empty cell is no answer: it\n\
                     does not vote, counts as wrong, and breaks unanimity. Only questions count that all of the models were asked.",
                )
                .arg(names("models", "A,B,C", "The columns of the models [default: all that are not ids]"))
                .arg(names("gate", "A,B", "Two models whose agreement ends the asking: what does that save, and cost?")),
        )
        .subcommand(
            verb("judges", "Judges that ruled on the same pairs in both orders: does the order rule?")
                .after_help(
                    "A judge has two columns, NAME_ab and NAME_ba: which answer it preferred, named as in the first order, when they were\n\
                     shown in that order and in the other.",
                )
                .arg(option("subset", "COLUMN", "Also look at these apart [default: subset]"))
                .arg(option("first-suffix", "TEXT", "How the column of the first order ends [default: _ab]"))
                .arg(option("second-suffix", "TEXT", "How that of the other order ends [default: _ba]")),
        )
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let Some((verb, args)) = args.subcommand() else { return Ok(0) };
    let file = args.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    output::check_svg(args.get_one("plot"))?;
    let wrong = |why: agon_audit::Trouble| Failure::file(&file, why.to_string());
    let table = Table::open(&file).map_err(wrong)?;
    let word = |name: &str| args.get_one::<String>(name).cloned();
    let list = |name: &str| args.get_many::<String>(name).into_iter().flatten().cloned().collect();
    let default = Bootstrap::default();
    let bootstrap = Bootstrap {
        resamples: args.get_one("resamples").copied().unwrap_or(default.resamples),
        seed: args.get_one("seed").copied().unwrap_or(default.seed),
    };
    let style = output::stdout_style();
    if verb == "judges" {
        let default = JudgeOptions::default();
        let options = JudgeOptions {
            gold: word("gold"),
            subset: word("subset"),
            first_suffix: word("first-suffix").unwrap_or(default.first_suffix),
            second_suffix: word("second-suffix").unwrap_or(default.second_suffix),
            bootstrap,
            threads: None,
        };
        let audit = agon_audit::judges(&table, &options).map_err(wrong)?;
        let (text, svg) =
            (agon_report::audit::judges(&audit, &style), || agon_report::audit::judges_svg(&audit));
        return told(args, &audit, &text, svg);
    }
    let options = VoteOptions {
        gold: word("gold"),
        models: list("models"),
        gate: list("gate"),
        bootstrap,
        threads: None,
    };
    let audit = agon_audit::votes(&table, &options).map_err(wrong)?;
    let (text, svg) = (agon_report::audit::votes(&audit, &style), || agon_report::audit::votes_svg(&audit));
    told(args, &audit, &text, svg)
}

fn told(
    args: &ArgMatches,
    audit: &impl Serialize,
    text: &str,
    svg: impl FnOnce() -> String,
) -> Result<u8, Failure> {
    if let Some(file) = args.get_one::<PathBuf>("plot") {
        output::picture(file, &svg())?;
    }
    match args.get_flag("json") {
        true => {
            let document = serde_json::to_value(audit)
                .map_err(|why| Failure::System(format!("the audit cannot be written: {why}")))?;
            output::print_json(&document)?;
        }
        false => output::print(text)?,
    }
    Ok(0)
}
