//! `agon eval`: questions with known answers, by one model, by samples of it, by a vote and by debates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_core::Invalid;
use agon_store::Sqlite;
use agon_experiments::eval::{Arm, Dataset, Findings, Plan, Row, Trial, Wanted};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::args::{self, Said};
use crate::cli::config::Config;
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::opening::{Opening, check_models};
use crate::cli::run::runtime;
use crate::cli::trials::{Results, Trials};
use crate::cli::{defaults, desk, input, output, place};

pub(super) const VERB: Verb = Verb { name: "eval", group: Group::Many, command, run };

const CONCURRENCY: &str = "4";
const CONCURRENCY_MAX: u32 = 1_000;
const DATASET_BYTES_MAX: u64 = 64 << 20;
const INTERRUPTED: u8 = 130;
const COULD_NOT_COMPLETE: u8 = 3;
/// Trials are compared: the next run is the same one unless somebody says otherwise.
const SEED: u64 = 0;

fn command(command: Command) -> Command {
    let file = Arg::new("dataset")
        .value_name("DATASET.jsonl")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("One JSON object a line: {\"question\", \"answer\"}, and if wanted \"id\", \"choices\", \"files\"");
    let arms = Arg::new("arms").long("arms").value_name("A,B;C").help(
        "What is tried: single, self-consistency, vote, or a protocol, also with options (deep:mode=quick;arena) \
         [default: single;self-consistency;vote;deep]",
    );
    let number = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("N").value_parser(whole(1_u32, None)).help(help)
    };
    command
        .about("Try protocols on questions with known answers: accuracy against cost, with intervals and paired tests")
        .after_help(
            "Every trial is a debate that is kept; its result is a line of the results file as it ends. The same command goes on\n\
             with a run that was interrupted. The debates have a store of their own beside the results, so that what they decide\n\
             is not known to your other debates, nor theirs to them. self-consistency draws as many samples of the first model as\n\
             the dearest debate makes calls.",
        )
        .arg(file)
        .arg(arms)
        .arg(number("samples", "Samples of self-consistency [default: as many as the dearest debate makes calls]"))
        .arg(number("limit", "Only the first N questions"))
        .arg(number("concurrency", "How many debates run at once [default: 4]"))
        .arg(args::path("out", "FILE.jsonl", "The results [default: DATASET.results.jsonl, here]"))
        .arg(args::path("plot", "FILE.svg", "Also draw accuracy against cost"))
        .arg(args::switch("retry", "Hold those again that failed"))
        .arg(args::switch("dry-run", "Show arms and calls, and make none"))
        .arg(args::switch("quiet", "Show no progress"))
        .arg(args::json())
        .args(args::seats())
        .args(args::roles(super::all_roles()))
        .args(args::limits())
        .args(args::files())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let file = args.get_one::<PathBuf>("dataset").cloned().unwrap_or_default();
    let plot = args.get_one::<PathBuf>("plot");
    output::check_svg(plot)?;
    let config = desk::config(args)?;
    let dataset = dataset(args, &file)?;
    let said = Said::read(args, super::all_roles(), &[]);
    let catalogue = desk::models(&config);
    let models = match (said.models.is_empty(), config.models.is_empty()) {
        (false, _) => said.models.clone(),
        (true, false) => config.models.clone(),
        (true, true) => defaults::models(&catalogue, &place::env)?,
    };
    let wanted = wanted(args, &said, &config, models);
    let plan = Plan::new(&dataset, &wanted)?;
    let mut openings = BTreeMap::new();
    for arm in &plan.arms {
        let opening = opening(arm, args, &config)?.here(&config, &catalogue)?;
        for question in dataset.questions.iter().take(1) {
            let subject = crate::cli::opening::Subject {
                question: question.text.clone(),
                files: question.files.clone(),
                ..Default::default()
            };
            check_models(&opening.brief(subject)?, &*catalogue)?;
        }
        openings.insert(arm.name.clone(), opening);
    }
    if args.get_flag("dry-run") {
        return dry_run(&plan, args.get_flag("json"));
    }
    let quiet = args.get_flag("quiet");
    let named: Vec<&str> = openings.values().flat_map(Opening::named).collect();
    if !quiet {
        defaults::notices(named.iter().copied(), &*catalogue).iter().for_each(|notice| output::note(notice));
    }
    defaults::fetch(named.iter().map(|name| config.behind(name)), quiet)?;
    let out = args.get_one::<PathBuf>("out").cloned().unwrap_or_else(|| results_of(&file));
    let (mut results, kept) = Results::open(&out, &plan)?;
    let store = store(args, &out)?;
    let trials = outstanding(&plan, &kept.rows, args.get_flag("retry"));
    let trials_left = trials.len();
    if !quiet && !kept.rows.is_empty() {
        let (done, all) = (plan.trials.len() - trials_left, plan.trials.len());
        output::note(&format!("{done} of {all} trials are in {}: going on with the rest", out.display()));
    }
    let held = Trials {
        engine: desk::engine(&config, catalogue.clone(), store.clone()),
        store,
        openings,
        dataset,
        plan: plan.header().get("plan").and_then(Value::as_str).unwrap_or_default().to_owned(),
        concurrency: args.get_one::<u32>("concurrency").map_or_else(
            || CONCURRENCY.parse().unwrap_or(1),
            |n| usize::try_from((*n).min(CONCURRENCY_MAX)).unwrap_or(1),
        ),
        progress: !quiet && output::watched(),
        retry: args.get_flag("retry"),
    };
    let (fresh, interrupted) = runtime()?.block_on(held.hold(trials, &mut results))?;
    let rows = merged(kept.rows, fresh);
    report(args, &plan, &rows, plot, &out, interrupted)
}

fn report(
    args: &ArgMatches,
    plan: &Plan,
    rows: &[Row],
    plot: Option<&PathBuf>,
    out: &Path,
    interrupted: bool,
) -> Result<u8, Failure> {
    let findings = Findings::of(plan, rows);
    if let Some(file) = plot {
        output::picture(file, &agon_experiments::eval::eval_svg(&findings))?;
    }
    if args.get_flag("json") {
        let mut document = serde_json::to_value(&findings)
            .map_err(|why| Failure::System(format!("the findings cannot be written: {why}")))?;
        if let Some(fields) = document.as_object_mut() {
            fields.insert("results".into(), json!(out.display().to_string()));
            fields.insert("interrupted".into(), json!(interrupted));
        }
        output::print_json(&document)?;
    } else {
        output::print(&agon_experiments::eval::eval_report(&findings, &output::stdout_style()))?;
        if !args.get_flag("quiet") {
            output::note(&format!("every trial is a line of {}", out.display()));
        }
    }
    Ok(match (interrupted, rows.iter().any(Row::is_failed)) {
        (true, _) => INTERRUPTED,
        (false, true) => COULD_NOT_COMPLETE,
        (false, false) => 0,
    })
}

fn dataset(args: &ArgMatches, file: &Path) -> Result<Dataset, Failure> {
    let text = input::file(file, DATASET_BYTES_MAX)?;
    let of_file = |why: Invalid| Failure::file(file, why.0);
    let mut dataset = Dataset::parse(&text).map_err(of_file)?;
    if let Some(limit) = args.get_one::<u32>("limit") {
        dataset = dataset.first(usize::try_from(*limit).unwrap_or(usize::MAX));
    }
    // The files that a question names stand beside the dataset.
    let beside = file.parent().unwrap_or(Path::new("."));
    let read = |path: &str| {
        input::file(&beside.join(path), input::ARTIFACT_BYTES_MAX).map_err(|why| Invalid(why.to_string()))
    };
    dataset.with_files(&read).map_err(of_file)
}

fn wanted(args: &ArgMatches, said: &Said, config: &Config, models: Vec<String>) -> Wanted {
    let arms = args.get_one::<String>("arms").map(|arms| split(arms)).unwrap_or_default();
    let mut options = config.options.clone();
    // What one question taught must not answer the next.
    options.entry("arena".into()).or_default().push(("context_items".into(), "0".into()));
    Wanted {
        arms,
        models,
        roles: config.roles.clone().into_iter().chain(said.roles.clone()).collect(),
        options,
        samples: args.get_one::<u32>("samples").copied(),
        limits: limits(args),
        seed: said.seed.unwrap_or(SEED),
    }
}

/// The limits as they were said: what one cuts short is another result.
fn limits(args: &ArgMatches) -> Value {
    let seconds = |name: &str| args.get_one::<u64>(name).copied();
    json!({
        "timeout_ms": seconds("timeout"),
        "deadline_ms": seconds("deadline"),
        "budget_usd": args.get_one::<f64>("budget-usd").copied(),
        "max_calls": args.get_one::<u32>("max-calls").copied(),
        "max_tokens": args.get_one::<u64>("max-tokens").copied(),
    })
}

/// Arms are parted by semicolons, and by commas where no options stand between them.
fn split(arms: &str) -> Vec<String> {
    let parts = arms.split(';').flat_map(|part| match part.contains(':') {
        true => vec![part],
        false => part.split(',').collect(),
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn opening(arm: &Arm, args: &ArgMatches, config: &Config) -> Result<Opening, Failure> {
    let protocol = agon_protocols::find(&arm.protocol)
        .ok_or_else(|| Failure::input(format!("there is no protocol {:?}", arm.protocol)))?;
    let said = Said {
        models: arm.models.clone(),
        roles: arm.roles.clone(),
        options: arm.options.clone(),
        ..Said::read(args, &[], &[])
    };
    Opening::new(protocol, said, config)
}

/// The debates of a run are its own: a person's own store neither learns from them nor tells them anything.
fn store(args: &ArgMatches, out: &Path) -> Result<Sqlite, Failure> {
    match args.get_one::<PathBuf>("db") {
        Some(_) => desk::store(args),
        None => desk::open(&out.with_extension("db")),
    }
}

fn results_of(dataset: &Path) -> PathBuf {
    let stem = dataset.file_stem().map_or_else(|| "eval".into(), |stem| stem.to_string_lossy().into_owned());
    PathBuf::from(format!("{stem}.results.jsonl"))
}

fn outstanding(plan: &Plan, rows: &[Row], retry: bool) -> Vec<Trial> {
    let is_done = |trial: &&Trial| rows.iter().any(|row| row.key == trial.key && !(retry && row.is_failed()));
    plan.trials.iter().filter(|trial| !is_done(trial)).cloned().collect()
}

/// What was held again counts as it went the last time.
fn merged(mut rows: Vec<Row>, fresh: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| !fresh.iter().any(|other| other.key == row.key));
    rows.extend(fresh);
    rows
}

fn dry_run(plan: &Plan, as_json: bool) -> Result<u8, Failure> {
    let [least, most] = plan.calls();
    if as_json {
        output::print_json(&json!({
            "trials": plan.trials.len(), "calls": [least, most], "arms": plan.header().get("arms"),
        }))?;
        return Ok(0);
    }
    let mut rows = vec![["Arm", "Protocol", "Models", "Calls a question"].map(String::from).to_vec()];
    for arm in &plan.arms {
        let [least, most] = arm.calls;
        let calls = if least == most { least.to_string() } else { format!("{least} to {most}") };
        rows.push(vec![arm.name.clone(), arm.protocol.clone(), arm.models.join(", "), calls]);
    }
    let trials = plan.trials.len();
    let table = agon_report::table("", &rows, &output::stdout_style());
    output::print(&format!("{table}\n{trials} trials, {least} to {most} calls\n"))?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_parted_by_commas_until_one_has_options() {
        for (arms, want) in [
            ("single,deep", vec!["single", "deep"]),
            (
                "single;deep:mode=quick,max_rounds=1; arena",
                vec!["single", "deep:mode=quick,max_rounds=1", "arena"],
            ),
            ("vote", vec!["vote"]),
            ("", vec![]),
        ] {
            assert_eq!(split(arms), want);
        }
    }

    #[test]
    fn results_are_named_after_the_dataset_and_written_here() {
        assert_eq!(results_of(Path::new("/data/q.jsonl")), Path::new("q.results.jsonl"));
    }
}
