//! `agon audit`: what a table of answers or of rulings says about those who gave them.

use std::path::PathBuf;

use agon_measure::audit::{
    AuditError, AuditTable, BootstrapOptions, JudgeOptions, VoteOptions, audit_judges, audit_votes,
};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Serialize;

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::limits::whole_number;
use crate::cli::progress::TaskProgress;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "audit", group: VerbGroup::ManyDebates, command, run };

/// More resamples would not change a digit that is printed.
const RESAMPLES_MAX: u32 = 100_000;

fn command(command: Command) -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let list = |name: &'static str, value: &'static str, help: &'static str| {
        option(name, value, help).value_delimiter(',')
    };
    let subcommand = |name: &'static str, about: &'static str| {
        Command::new(name)
            .about(about)
            .arg(
                Arg::new("file")
                    .value_name("FILE.csv")
                    .required(true)
                    .value_parser(value_parser!(PathBuf))
                    .help("A table with a header row; it may be gzipped"),
            )
            .arg(option("gold", "COLUMN", "The column with the right answers [default: gold]"))
            .arg(arguments::path_option("plot", "FILE.svg", "Also draw how strongly errors are correlated"))
            .arg(
                option("resamples", "N", "Resamples for the intervals [default: 1000]")
                    .value_parser(whole_number(10_u32, Some(RESAMPLES_MAX))),
            )
            .arg(
                option("seed", "N", "The seed of the resamples [default: 0]")
                    .value_parser(whole_number(0_u64, None)),
            )
            .arg(arguments::json())
    };
    command
        .about("Measure a table of answers or rulings: independence, what a vote gains, whether order matters")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            subcommand("votes", "Models that answered the same questions: how independent they are, what a vote gains")
                .after_help(
                    "A row is a question, a column a model. `-` is a question that a model was not asked. An empty cell is no answer: it \
                     does not vote, counts as wrong, and breaks unanimity. Only questions that all of the models were asked count.",
                )
                .arg(list("models", "A,B,C", "The columns of the models [default: all that are not ids]"))
                .arg(list("gate", "A,B", "Two models: what is saved and lost if their agreement ends the asking")),
        )
        .subcommand(
            subcommand("judges", "Judges that ruled on the same pairs in both orders: does the order matter?")
                .after_help(
                    "A judge has two columns, NAME_ab and NAME_ba: which answer it preferred when the pair was shown in the first order and \
                     in the other. Both name the answers as in the first order.",
                )
                .arg(option("subset", "COLUMN", "Also measure the subsets in this column [default: subset]"))
                .arg(option("first-suffix", "TEXT", "The suffix of the columns of the first order [default: _ab]"))
                .arg(option("second-suffix", "TEXT", "The suffix of the columns of the other order [default: _ba]")),
        )
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let Some((subcommand, args)) = args.subcommand() else { return Ok(0) };
    let file = args.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    output::check_svg_name(args.get_one("plot"))?;
    let file_error = |trouble: AuditError| CliError::file(&file, trouble);
    let progress = TaskProgress::start("reading the table", false);
    let table = AuditTable::open(&file).map_err(file_error)?;
    progress.set_message(" and drawing the intervals");
    let word = |name: &str| args.get_one::<String>(name).cloned();
    let list = |name: &str| args.get_many::<String>(name).into_iter().flatten().cloned().collect();
    let default = BootstrapOptions::default();
    let bootstrap = BootstrapOptions {
        resamples: args.get_one("resamples").copied().unwrap_or(default.resamples),
        seed: args.get_one("seed").copied().unwrap_or(default.seed),
    };
    let style = output::stdout_style();
    if subcommand == "judges" {
        let default = JudgeOptions::default();
        let options = JudgeOptions {
            gold: word("gold"),
            subset: word("subset"),
            first_suffix: word("first-suffix").unwrap_or(default.first_suffix),
            second_suffix: word("second-suffix").unwrap_or(default.second_suffix),
            bootstrap,
            threads: None,
        };
        let audit = audit_judges(&table, &options).map_err(file_error)?;
        drop(progress);
        let text = agon_report::audit::judges(&audit, &style);
        return print_audit(args, &audit, text, || agon_report::audit::judges_svg(&audit));
    }
    let options = VoteOptions {
        gold: word("gold"),
        models: list("models"),
        gate: list("gate"),
        bootstrap,
        threads: None,
    };
    let audit = audit_votes(&table, &options).map_err(file_error)?;
    drop(progress);
    let text = agon_report::audit::votes(&audit, &style);
    print_audit(args, &audit, text, || agon_report::audit::votes_svg(&audit))
}

fn print_audit(
    args: &ArgMatches,
    audit: &impl Serialize,
    text: String,
    svg: impl FnOnce() -> String,
) -> Result<u8, CliError> {
    if let Some(file) = args.get_one::<PathBuf>("plot") {
        output::write_file(file, &svg())?;
    }
    output::print_result(args.get_flag("json"), || audit, || text)
}
