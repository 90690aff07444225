//! `agon eval`: questions with known answers, put to one model, to samples of it, to a vote and to debates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_core::Invalid;
use agon_experiments::eval::results::{latest_results, seed_of_results};
use agon_experiments::eval::{
    EvalArm, EvalDataset, EvalFindings, EvalPlan, EvalRequest, EvalTrial, ResultRow, default_arms,
    eval_report, eval_svg, grading_brief,
};
use agon_store::{DebateStore, StoreAddress};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, open_store};
use crate::cli::arguments::{self, CliArguments};
use crate::cli::brief_builder::{BriefBuilder, DebateSubject};
use crate::cli::configuration::Configuration;
use crate::cli::errors::{CliError, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use crate::cli::eval_run::{EvalRun, ResultsFile};
use crate::cli::limits::whole_number;
use crate::cli::runtime::block_on;
use crate::cli::{debate_ids, input, output, seat_models};

pub(super) const VERB: CliVerb = CliVerb { name: "eval", group: VerbGroup::ManyDebates, command, run };

const DEFAULT_CONCURRENCY: u32 = 4;
const CONCURRENCY_MAX: u32 = 1_000;
const DATASET_BYTES_MAX: u64 = 64 << 20;

fn command(command: Command) -> Command {
    let file = Arg::new("dataset")
        .value_name("DATASET.jsonl")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("One JSON object per line: {\"question\", \"answer\"}, optionally with \"id\", \"choices\", \"files\"");
    let arms = Arg::new("arms").long("arms").value_name("A,B;C").help(format!(
        "What is compared: single, self-consistency, vote, or a protocol, optionally with options (PROTOCOL:key=value) \
         [default: {}]",
        default_arms().join(";")
    ));
    let number = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("N").value_parser(whole_number(1_u32, None)).help(help)
    };
    command
        .about("Try protocols on questions with known answers: accuracy against cost, with intervals and paired tests")
        .after_help(
            "Every trial is a stored debate, and its result is a line of the results file. The same command continues an interrupted \
             run. The debates have a store of their own beside the results, so that your other debates do not learn from them, nor \
             they from yours. Options, numbers and equal texts are graded by arithmetic. For any other text the clerk (--clerk) says \
             whether it is the gold answer; what it does not say counts neither as right nor as wrong. self-consistency draws as many samples of the first model as the most expensive debate makes calls.",
        )
        .arg(file)
        .arg(arms)
        .arg(number(
            "samples",
            "Samples of self-consistency [default: as many as the most expensive debate makes calls]",
        ))
        .arg(number("limit", "Only the first N questions"))
        .arg(number("concurrency", "How many debates run at once [default: 4]"))
        .arg(arguments::path_option(
            "out",
            "FILE.jsonl",
            "The results [default: DATASET.results.jsonl in this directory]",
        ))
        .arg(arguments::path_option("plot", "FILE.svg", "Also draw accuracy against cost"))
        .arg(arguments::switch("retry", "Run failed trials again"))
        .arg(arguments::switch("dry-run", "Show arms and calls, and make no call"))
        .arg(arguments::switch("quiet", "Show no progress"))
        .arg(arguments::json())
        .args(arguments::seats())
        .args(arguments::role_models(arguments::all_roles().iter().copied()))
        .args(arguments::limits())
        .args(arguments::config_and_store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let file = args.get_one::<PathBuf>("dataset").cloned().unwrap_or_default();
    output::check_svg_name(args.get_one("plot"))?;
    app.configuration()?;
    let dataset = read_dataset(args, &file)?;
    let out = args.get_one::<PathBuf>("out").cloned().unwrap_or_else(|| default_results_file(&file));
    let stored_seed = std::fs::read(&out).ok().and_then(|results| seed_of_results(&results));
    let is_drawn = stored_seed.is_none() && args.get_one::<u64>("seed").is_none();
    let plan = EvalPlan::new(&dataset, &eval_request(&app, stored_seed)?)?;
    let builders = arm_builders(&app, &plan, &dataset)?;
    if app.flag("dry-run") {
        return print_plan(&plan, app.flag("json"));
    }
    let mut names: Vec<&str> = builders.values().flat_map(BriefBuilder::model_names).collect();
    names.push(&plan.clerk);
    if !app.flag("quiet") {
        if is_drawn {
            let seed = plan.seed;
            output::note(&format!("note: the seed is {seed}; --seed {seed} draws the same again"));
        }
        for notice in seat_models::embedded_notices(names.iter().copied(), &**app.catalogue()?) {
            output::note(&format!("note: {notice}"));
        }
    }
    seat_models::fetch_model_files(&app, names)?;
    let (mut results, stored) = ResultsFile::open(&out, &plan)?;
    let store = eval_store(&app, &out)?;
    let trials: Vec<EvalTrial> = stored.outstanding(&plan, app.flag("retry")).into_iter().cloned().collect();
    if !app.flag("quiet") && !stored.rows.is_empty() {
        let (done, all) = (plan.trials.len() - trials.len(), plan.trials.len());
        output::note(&format!("{done} of {all} trials are in {}: continuing with the rest", out.display()));
    }
    let concurrency = args.get_one::<u32>("concurrency").copied().unwrap_or(DEFAULT_CONCURRENCY);
    let eval = EvalRun {
        engine: app.engine(&store)?,
        store,
        builders,
        dataset,
        clerk: plan.clerk.clone(),
        plan_hash: plan.header().get("plan").and_then(Value::as_str).unwrap_or_default().to_owned(),
        concurrency: usize::try_from(concurrency.min(CONCURRENCY_MAX)).unwrap_or(1),
        is_quiet: app.flag("quiet"),
        retries_failed: app.flag("retry"),
    };
    let (new_rows, is_interrupted) = block_on(eval.run(trials, &mut results))??;
    let rows = latest_results(stored.rows.into_iter().chain(new_rows).collect());
    print_findings(&app, &plan, &rows, &out, is_interrupted)
}

fn read_dataset(args: &ArgMatches, file: &Path) -> Result<EvalDataset, CliError> {
    let text = input::read_text(file, DATASET_BYTES_MAX)?;
    let in_file = |invalid: Invalid| CliError::file(file, invalid);
    let mut dataset = EvalDataset::parse(&text).map_err(in_file)?;
    if let Some(limit) = args.get_one::<u32>("limit") {
        dataset = dataset.first(usize::try_from(*limit).unwrap_or(usize::MAX));
    }
    // The files of a question are named relative to the dataset.
    let folder = file.parent().unwrap_or(Path::new("."));
    let read = |path: &str| {
        let text = input::read_text(&folder.join(path), input::DEBATE_FILE_BYTES_MAX);
        text.map_err(|error| Invalid(error.to_string()))
    };
    dataset.with_files(&read).map_err(in_file)
}

fn eval_request(app: &App<'_>, stored_seed: Option<u64>) -> Result<EvalRequest, CliError> {
    let configuration = app.configuration()?;
    let arguments = CliArguments::of_any_protocol(app.args);
    let seed = match arguments.seed.or(stored_seed) {
        Some(seed) => seed,
        None => debate_ids::new_seed()?,
    };
    let models = match (arguments.models.is_empty(), configuration.models.is_empty()) {
        (false, _) => arguments.models,
        (true, false) => configuration.models.clone(),
        (true, true) => seat_models::default_models(app.catalogue()?)?,
    };
    let mut options = configuration.options.clone();
    // What one question taught must not answer the next.
    for info in
        agon_protocols::all().map(|protocol| protocol.info()).filter(|info| !info.isolation.is_empty())
    {
        let isolation = info.isolation.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        options.entry(info.name.to_owned()).or_default().extend(isolation);
    }
    Ok(EvalRequest {
        arms: app.args.get_one::<String>("arms").map(|arms| split_arms(arms)).unwrap_or_default(),
        models,
        roles: configuration.roles.clone().into_iter().chain(arguments.roles).collect(),
        options,
        samples: app.args.get_one::<u32>("samples").copied(),
        limits: json!({
            "timeout_ms": arguments.limits.timeout_ms,
            "deadline_ms": arguments.limits.deadline_ms,
            "budget_usd": arguments.limits.budget_usd,
            "max_calls": arguments.limits.max_calls,
            "max_tokens": arguments.limits.max_tokens,
        }),
        seed,
    })
}

/// Arms are separated by semicolons, or by commas if none of them has options.
fn split_arms(arms: &str) -> Vec<String> {
    let parts = arms.split(';').flat_map(|part| match part.contains(':') {
        true => vec![part],
        false => part.split(',').collect(),
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// How the debates of each arm are opened. The first question is tried out, so that a wrong model is found before the first call.
fn arm_builders(
    app: &App<'_>,
    plan: &EvalPlan,
    dataset: &EvalDataset,
) -> Result<BTreeMap<String, BriefBuilder>, CliError> {
    let (configuration, catalogue) = (app.configuration()?, app.catalogue()?);
    let mut builders = BTreeMap::new();
    for arm in &plan.arms {
        let builder =
            arm_builder(arm, app.args, configuration)?.with_local_options(configuration, catalogue)?;
        if let Some(question) = dataset.questions.first() {
            let files = question.files.clone();
            let subject = DebateSubject { files, ..DebateSubject::question(&question.text) };
            let brief = builder.brief(subject)?;
            seat_models::check_models(&brief, &**catalogue)?;
            let grading = grading_brief(&brief, String::new(), &plan.clerk, &[], &question.gold);
            seat_models::check_models(&grading, &**catalogue)?;
        }
        builders.insert(arm.name.clone(), builder);
    }
    Ok(builders)
}

fn arm_builder(
    arm: &EvalArm,
    args: &ArgMatches,
    configuration: &Configuration,
) -> Result<BriefBuilder, CliError> {
    let protocol = agon_protocols::find(&arm.protocol)
        .ok_or_else(|| CliError::input(format!("there is no protocol {:?}", arm.protocol)))?;
    let arguments = CliArguments {
        models: arm.models.clone(),
        roles: arm.roles.clone(),
        options: arm.options.clone(),
        ..CliArguments::of_any_protocol(args)
    };
    BriefBuilder::new(protocol, arguments, configuration)
}

/// The debates of a run have their own store: the user's store does not learn from them, and they learn nothing from it.
fn eval_store(app: &App<'_>, out: &Path) -> Result<DebateStore, CliError> {
    match app.args.contains_id("db") {
        true => app.store(),
        false => open_store(&StoreAddress::File(out.with_extension("db")), app.flag("quiet")),
    }
}

fn default_results_file(dataset: &Path) -> PathBuf {
    let stem = dataset.file_stem().map_or_else(|| "eval".into(), |stem| stem.to_string_lossy().into_owned());
    PathBuf::from(format!("{stem}.results.jsonl"))
}

fn print_plan(plan: &EvalPlan, as_json: bool) -> Result<u8, CliError> {
    let [least, most] = plan.calls();
    if as_json {
        output::print_json(&json!({
            "trials": plan.trials.len(), "calls": [least, most], "arms": plan.header().get("arms"),
        }))?;
        return Ok(0);
    }
    let row = |arm: &EvalArm| {
        let [least, most] = arm.calls;
        let calls = if least == most { least.to_string() } else { format!("{least} to {most}") };
        vec![arm.name.clone(), arm.protocol.clone(), arm.models.join(", "), calls]
    };
    let head = ["Arm", "Protocol", "Models", "Calls per question"];
    let table = output::table(&head, plan.arms.iter().map(|arm| row(arm)));
    output::print(&format!("{table}\n{} trials, {least} to {most} calls\n", plan.trials.len()))?;
    Ok(0)
}

fn print_findings(
    app: &App<'_>,
    plan: &EvalPlan,
    rows: &[ResultRow],
    out: &Path,
    is_interrupted: bool,
) -> Result<u8, CliError> {
    let findings = EvalFindings::of(plan, rows);
    if let Some(file) = app.args.get_one::<PathBuf>("plot") {
        output::write_file(file, &eval_svg(&findings))?;
    }
    if app.flag("json") {
        let mut document = serde_json::to_value(&findings)
            .map_err(|why| CliError::System(format!("the findings cannot be written as JSON: {why}")))?;
        if let Some(fields) = document.as_object_mut() {
            fields.insert("results".into(), json!(out.display().to_string()));
            fields.insert("interrupted".into(), json!(is_interrupted));
        }
        output::print_json(&document)?;
    } else {
        output::print(&eval_report(&findings, &output::stdout_style()))?;
        if !app.flag("quiet") {
            output::note(&format!("every trial is a line of {}", out.display()));
        }
    }
    Ok(match (is_interrupted, rows.iter().any(ResultRow::is_failed)) {
        (true, _) => EXIT_INTERRUPTED,
        (false, true) => EXIT_INCOMPLETE,
        (false, false) => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_separated_by_commas_until_one_has_options() {
        for (arms, split) in [
            ("single,deep", vec!["single", "deep"]),
            (
                "single;deep:mode=quick,max_rounds=1; arena",
                vec!["single", "deep:mode=quick,max_rounds=1", "arena"],
            ),
            ("vote", vec!["vote"]),
            ("", vec![]),
        ] {
            assert_eq!(split_arms(arms), split);
        }
    }

    #[test]
    fn results_are_named_after_the_dataset_and_written_here() {
        assert_eq!(default_results_file(Path::new("/data/q.jsonl")), Path::new("q.results.jsonl"));
    }
}
