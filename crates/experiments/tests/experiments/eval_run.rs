//! Whole runs with scripted replies: `single`, `self-consistency`, `vote` and `deep` on questions whose answers are known.

use std::collections::BTreeSet;

use agon_core::play::{invent, play};
use agon_core::{
    Ask, Brief, CallUsage, Debate, DebateLimits, LOG_VERSION, Reply, Request, options, protocol,
};
use agon_experiments::eval::findings::CostUnit;
use agon_experiments::eval::{
    ArmKind, EvalDataset, EvalFindings, EvalPlan, EvalRequest, EvalTrial, GRADING, ResultRow, StoredResults,
    TrialGrade, grading_brief,
};
use agon_report::ReportSource;
use serde_json::{Value, json};

const QUESTIONS: usize = 12;

fn dataset() -> EvalDataset {
    let line = |n: usize| {
        json!({"id": format!("q{n}"), "question": format!("Question {n}?"), "choices": ["x", "y", "z"], "answer": "B"}).to_string()
    };
    EvalDataset::parse(&(0..QUESTIONS).map(line).collect::<Vec<_>>().join("\n")).unwrap()
}

fn request() -> EvalRequest {
    let models = ["a/x", "b/y", "c/z"].map(String::from).to_vec();
    EvalRequest { models, seed: 5, ..EvalRequest::default() }
}

/// The letter that a seat answers. Model a is right on even questions, b on those below 9, c on none. The chair of a debate is right on
/// all but the first.
fn said(trial: &EvalTrial, ask: &Ask) -> &'static str {
    let n = trial.question;
    let right = match ask.model.as_str() {
        _ if ask.seat == "chair" => n != 0,
        "a/x" => n.is_multiple_of(2),
        "b/y" => n < 9,
        _ => false,
    };
    // Wrong models give different wrong answers.
    match (right, ask.model.as_str()) {
        (true, _) => "B",
        (false, "c/z") => "C",
        (false, _) => "A",
    }
}

fn reply(trial: &EvalTrial, debate: &Debate, ask: &Ask) -> Reply {
    let protocol = agon_protocols::find(&trial.arm.protocol).unwrap();
    let letter = said(trial, ask);
    let value = match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
        None => json!(format!("There is much to be said.\nSome of it is long.\n\n**Answer: {letter}**")),
        Some("answer") => json!({"why": "so", "answer": format!("{letter})"), "confidence": 0.7}),
        Some("synthesis") => {
            json!({"answer": format!("They argued long.\n\nAnswer: {letter}"), "why": "so", "contested": []})
        }
        Some(_) => return invent(protocol, debate, ask, trial.seed),
    };
    let (text, value) = match value {
        Value::String(text) => (text, None),
        value => (value.to_string(), Some(value)),
    };
    let usage = CallUsage { input_tokens: 100, output_tokens: 20, usd: Some(0.001), ..CallUsage::default() };
    Reply::Said { text, value, model: ask.model.clone(), usage, cut_off: false, shortened: None }
}

fn trial_brief(trial: &EvalTrial, dataset: &EvalDataset) -> Brief {
    let protocol = agon_protocols::find(&trial.arm.protocol).unwrap();
    let request = Request {
        question: dataset.questions[trial.question].text.clone(),
        models: trial.arm.models.clone(),
        roles: trial.arm.roles.clone(),
        options: options::resolve(protocol.info().options, trial.arm.options.clone()).unwrap(),
        seed: trial.seed,
        ..Request::default()
    };
    Brief {
        version: LOG_VERSION,
        id: trial.key.clone(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: Vec::new(),
        options: request.options,
        seed: trial.seed,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// Holds a trial as the engine would, and grades it.
fn row(trial: &EvalTrial, dataset: &EvalDataset) -> ResultRow {
    let protocol = agon_protocols::find(&trial.arm.protocol).unwrap();
    let (question, brief) = (&dataset.questions[trial.question], trial_brief(trial, dataset));
    let mut answer = |debate: &Debate, ask: &Ask| reply(trial, debate, ask);
    let records = play(protocol, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    let debate = Debate::from_records(&records).unwrap();
    let view = protocol.view(&debate).unwrap();
    let evidence = agon_measure::evidence(&debate, &view.positions);
    let source = ReportSource { info: protocol.info(), debate: &debate, view: &view, evidence: &evidence };
    TrialGrade::of(trial, question, &source).row
}

#[test]
fn a_run_finds_the_planted_accuracies_and_what_they_cost() {
    let dataset = dataset();
    let plan = EvalPlan::new(&dataset, &request()).unwrap();
    let rows: Vec<ResultRow> = plan.trials.iter().map(|trial| row(trial, &dataset)).collect();
    let found = EvalFindings::of(&plan, &rows);
    let correct = |name: &str| found.arm(name).map(|figures| (figures.correct, figures.n)).unwrap();
    assert_eq!((found.questions, found.planned, found.done), (12, 48, 48));
    assert_eq!(correct("single"), (6, 12), "even questions");
    assert_eq!(correct("self-consistency"), (6, 12), "the model always says the same");
    // a and b are both right on 0, 2, 4, 6 and 8. Where all three differ, the vote is tied and has no answer.
    assert_eq!(correct("vote"), (5, 12));
    assert_eq!(correct("deep, first round"), (5, 12), "the same vote, at no cost");
    assert_eq!(correct("deep"), (11, 12));
    let calls = |name: &str| found.arm(name).unwrap().calls.unwrap().mean;
    assert_eq!(
        (calls("single"), calls("self-consistency"), calls("vote"), calls("deep, first round")),
        (1.0, 14.0, 3.0, 3.0)
    );
    assert!((12.0..=16.0).contains(&calls("deep")), "{}", calls("deep"));
    assert_eq!(found.cost_in, CostUnit::Usd);
    assert!((found.arm("vote").unwrap().usd.unwrap().mean - 0.003).abs() < 1e-9);
    assert_eq!(found.arm("vote").unwrap().tokens.unwrap().interval, [360.0, 360.0]);
    let effect = &found.debates[0];
    assert_eq!(
        (effect.wrong_to_right, effect.right_to_wrong, effect.stayed_right, effect.stayed_wrong),
        (7, 1, 4, 0)
    );
    let pairs: Vec<(&str, &str)> =
        found.comparisons.iter().map(|c| (c.arm.as_str(), c.against.as_str())).collect();
    assert_eq!(
        pairs,
        [
            ("self-consistency", "single"),
            ("vote", "single"),
            ("deep", "single"),
            ("deep", "vote"),
            ("deep", "self-consistency"),
            ("deep", "deep, first round"),
            ("deep, first round", "single"),
        ]
    );
    let deep = found
        .comparisons
        .iter()
        .find(|c| (c.arm.as_str(), c.against.as_str()) == ("deep", "single"))
        .unwrap();
    assert_eq!((deep.n, deep.only_arm, deep.only_against), (12, 6, 1));
    assert!((deep.difference - 5.0 / 12.0).abs() < 1e-12 && (deep.p - 0.125).abs() < 1e-12);
    assert!(deep.interval[0] >= 0.0 && deep.interval[1] < 0.8 && !deep.is_significant());
    assert!((deep.cost_ratio.unwrap() - calls("deep")).abs() < 1e-9, "a call costs the same in all arms");
}

#[test]
fn a_run_that_is_cut_anywhere_continues_to_the_same_results() {
    let dataset = dataset().first(3);
    let request = EvalRequest { arms: vec!["single".into(), "vote".into()], ..request() };
    let plan = EvalPlan::new(&dataset, &request).unwrap();
    let rows: Vec<ResultRow> = plan.trials.iter().map(|trial| row(trial, &dataset)).collect();
    let mut file = format!("{}\n", plan.header());
    file.extend(rows.iter().map(|row| row.line().unwrap()));
    for cut in 0..=file.len() {
        let bytes = &file.as_bytes()[..cut];
        let kept = StoredResults::read(&plan, bytes).unwrap();
        let whole = bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(kept.rows, rows[..whole.saturating_sub(1)], "cut at {cut}");
        assert!(kept.length <= cut && (kept.length == 0 || bytes[kept.length - 1] == b'\n'));
        let outstanding = kept.outstanding(&plan, false);
        assert_eq!(outstanding.len() + kept.rows.len(), plan.trials.len());
        // The outstanding lines complete the file.
        let mut again = file[..kept.length].to_owned();
        if kept.length == 0 {
            again.push_str(&format!("{}\n", plan.header()));
        }
        let place = |key: &str| rows.iter().find(|row| row.key == key).unwrap();
        again.extend(outstanding.iter().map(|trial| place(&trial.key).line().unwrap()));
        assert_eq!(again, file, "cut at {cut}");
    }
}

#[test]
fn results_of_another_plan_are_refused() {
    let plan = EvalPlan::new(&dataset(), &request()).unwrap();
    let file = |dataset: &EvalDataset, request: &EvalRequest| {
        format!("{}\n", EvalPlan::new(dataset, request).unwrap().header())
    };
    assert!(StoredResults::read(&plan, file(&dataset(), &request()).as_bytes()).is_ok());
    let arms = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let other = |change: fn(&mut EvalRequest)| {
        let mut request = request();
        change(&mut request);
        file(&dataset(), &request)
    };
    for (file, why) in [
        (file(&dataset().first(5), &request()), "its dataset differs"),
        (other(|request| request.seed = 6), "its seed differs"),
        (other(|request| request.limits = json!({"max_calls": 9})), "its set of limits differs"),
        (
            file(&dataset(), &EvalRequest { arms: arms(&["single", "deep"]), ..request() }),
            "list of arms (single, deep)",
        ),
        (other(|request| request.models[0] = "d/d".into()), "arm single, in its models"),
        (other(|request| request.samples = Some(4)), "arm self-consistency, in its options"),
        (other(|request| drop(request.roles.insert("clerk".into(), "d/d".into()))), "its clerk differs"),
        (
            other(|request| {
                drop(request.options.insert("deep".into(), vec![("max_rounds".into(), "2".into())]))
            }),
            "in its options",
        ),
        (
            other(|_| {})
                .replacen("poll/answer.hbs\":\"", "poll/answer.hbs\":\"0", 1)
                .replace("\"plan\":\"", "\"plan\":\"0"),
            "in its templates",
        ),
        ("{\"question\": \"Q?\"}\n".into(), "not a results file"),
        ("not JSON\n".into(), "not a results file"),
    ] {
        let found = StoredResults::read(&plan, file.as_bytes()).unwrap_err().0;
        assert!(found.contains(why), "{why}: {found}");
    }
    assert!(StoredResults::read(&plan, b"\xff\xfe\n").is_err());
}

#[test]
fn a_broken_line_is_named_and_the_last_result_of_a_trial_counts() {
    let dataset = dataset().first(2);
    let plan = EvalPlan::new(&dataset, &EvalRequest { arms: vec!["single".into()], ..request() }).unwrap();
    let failed = ResultRow::failed(&plan.trials[0], &dataset.questions[0], "the network is down");
    let (first, second) = (row(&plan.trials[0], &dataset), row(&plan.trials[1], &dataset));
    let file = |lines: &[String]| format!("{}\n{}", plan.header(), lines.concat());
    let lines = [failed.line().unwrap(), second.line().unwrap(), first.line().unwrap()];
    assert_eq!(StoredResults::read(&plan, file(&lines).as_bytes()).unwrap().rows, [second, first.clone()]);
    let broken = [first.line().unwrap(), "{\"key\"\n".to_owned()];
    assert!(
        StoredResults::read(&plan, file(&broken).as_bytes())
            .unwrap_err()
            .0
            .starts_with("line 3 of the results")
    );
    let stranger = [first.line().unwrap().replace("single/q0", "single/q9")];
    assert!(
        StoredResults::read(&plan, file(&stranger).as_bytes()).unwrap_err().0.contains("not in the plan")
    );
}

#[test]
fn failed_trials_count_as_wrong_and_unknown_ones_count_for_nothing() {
    let dataset = dataset().first(4);
    let arms = vec!["single".into(), "deep".into()];
    let plan = EvalPlan::new(&dataset, &EvalRequest { arms, ..request() }).unwrap();
    let question = |place: usize| &dataset.questions[plan.trials[place].question];
    let graded = |place: usize, status: &str, answer: Option<&str>, correct: Option<bool>, calls: u64| {
        let mut row = ResultRow::failed(&plan.trials[place], question(place), "");
        (row.status, row.usage.calls) = (status.into(), calls);
        (row.correct, row.answer) = (correct, answer.map(str::to_owned));
        row
    };
    let rows = [
        graded(1, "complete", Some("a long text"), None, 9),
        graded(3, "failed", None, Some(false), 2),
        graded(5, "incomplete", None, Some(false), 3),
        ResultRow::failed(&plan.trials[7], question(7), "the key is wrong"),
        graded(0, "incomplete", Some("B"), Some(true), 1),
        graded(2, "complete", Some("B"), Some(true), 1),
    ];
    let found = EvalFindings::of(&plan, &rows);
    let (deep, single) = (found.arm("deep").unwrap(), found.arm("single").unwrap());
    assert_eq!((deep.n, deep.correct, deep.failed, deep.unknown), (3, 0, 3, 1));
    assert_eq!((single.n, single.correct, single.kind), (2, 2, ArmKind::Single));
    assert_eq!((found.cost_in, deep.calls.unwrap().mean, deep.usd), (CostUnit::Calls, 3.5, None));
    assert_eq!(found.comparisons.len(), 1, "only questions with two known grades are compared");
    assert_eq!((found.comparisons[0].n, found.comparisons[0].only_against), (1, 1));
    let nothing = EvalFindings::of(&plan, &[]);
    assert!(nothing.comparisons.is_empty() && nothing.arms.iter().all(|figures| figures.accuracy.is_none()));
    let stored = StoredResults { rows: rows.to_vec(), length: 0 };
    let (missing, retried) = (stored.outstanding(&plan, false).len(), stored.outstanding(&plan, true).len());
    assert_eq!((missing, retried), (2, 5), "a retry holds the three failed trials again");
}

/// "grading of free text against the gold answer: short answers by arithmetic; otherwise a clerk is asked, its sorting verified".
#[test]
fn a_clerk_grades_what_arithmetic_cannot_in_a_log_of_its_own() {
    let line = |question: &str, gold: Value| json!({"question": question, "answer": gold}).to_string();
    for (question, answer, gold, quotes, expected) in [
        (
            "Capital of Switzerland?",
            "The city of Bern",
            json!("Bern"),
            Some(["city of Bern", "Bern"]),
            Some(true),
        ),
        ("Hauptstadt der Schweiz?", "Die Stadt Z\u{fc}rich", json!("Bern"), None, Some(false)),
        (
            "\u{745e}\u{58eb}\u{9996}\u{90fd}\u{ff1f}",
            "\u{4f2f}\u{5c14}\u{5c3c}\u{5e02}",
            json!("\u{4f2f}\u{5c14}\u{5c3c}"),
            Some(["\u{5e02}", "\u{4f2f}\u{5c14}"]),
            Some(true),
        ),
        ("Capital?", "The city of Bern", json!("Bern"), Some(["Zurich", "Bern"]), None),
        ("Capital?", "The city of Bern", json!("Bern"), Some(["", "Bern"]), None),
        ("How many?", "42 apples", json!([42, "forty-two"]), Some(["42 apples", "42"]), Some(true)),
    ] {
        let dataset = EvalDataset::parse(&line(question, gold)).unwrap();
        let (asked, gold) = (&dataset.questions[0], &dataset.questions[0].gold);
        assert_eq!(asked.is_answered_by(answer), None, "{answer}");
        let plan =
            EvalPlan::new(&dataset, &EvalRequest { arms: vec!["single".into()], ..request() }).unwrap();
        assert_eq!(plan.clerk, "a/x");
        let mut row = row(&plan.trials[0], &dataset);
        (row.answer, row.correct, row.graded_by, row.first_round) = (Some(answer.into()), None, None, None);
        let grade = TrialGrade { row, open: vec![answer.into()] };
        let brief = grading_brief(
            &trial_brief(&plan.trials[0], &dataset),
            "g1".into(),
            &plan.clerk,
            &grade.open,
            gold,
        );
        let mut reply = |_: &Debate, ask: &Ask| clerk_says(ask, answer, gold, quotes);
        let records = play(&GRADING, vec![Debate::open(brief).unwrap().1], &mut reply, &mut |_| {}).unwrap();
        let graded = grade.with_grading(&Debate::from_records(&records).unwrap()).unwrap();
        assert_eq!(graded.correct, expected, "{answer} {quotes:?}");
        let grading = graded.grading.as_ref().unwrap();
        assert_eq!((grading.debate.as_str(), grading.clerk.as_str(), grading.usage.calls), ("g1", "a/x", 1));
        let found = EvalFindings::of(&plan, &[graded]);
        assert_eq!(
            (found.arms[0].n, found.arms[0].unknown),
            (u64::from(expected.is_some()), u64::from(expected.is_none()))
        );
        assert_eq!(found.clerk.unwrap().asked, 1);
    }
}

/// The clerk puts the answer with the first gold answer, with these quotes; without quotes it puts each text alone.
fn clerk_says(ask: &Ask, answer: &str, gold: &[String], quotes: Option<[&str; 2]>) -> Reply {
    let prompt = ask.prompt.user();
    let quoted = agon_core::quotations(&prompt);
    let label = |text: &str| quoted.iter().find(|quoted| quoted.text == text).unwrap().what;
    let member = |text: &str, quote: &str| json!({"label": label(text), "quote": quote});
    let position = |members: Vec<Value>| json!({"statement": "It.", "members": members});
    let mut positions: Vec<Value> = match quotes {
        Some([own, of_gold]) => vec![position(vec![member(answer, own), member(&gold[0], of_gold)])],
        None => vec![position(vec![member(answer, answer)]), position(vec![member(&gold[0], &gold[0])])],
    };
    positions.extend(gold.iter().skip(1).map(|gold| position(vec![member(gold, gold)])));
    let value = json!({"positions": positions});
    said_reply(value, ask)
}

fn said_reply(value: Value, ask: &Ask) -> Reply {
    let (text, model) = (value.to_string(), ask.model.clone());
    Reply::Said {
        text,
        value: Some(value),
        model,
        usage: CallUsage::default(),
        cut_off: false,
        shortened: None,
    }
}

/// Holm: the smallest p of seven is multiplied by seven, the next by six, and none gets smaller than the one before it.
#[test]
fn the_tests_are_corrected_for_their_number() {
    let dataset = dataset();
    let plan = EvalPlan::new(&dataset, &request()).unwrap();
    let rows: Vec<ResultRow> = plan.trials.iter().map(|trial| row(trial, &dataset)).collect();
    let mut found = EvalFindings::of(&plan, &rows).comparisons;
    found.sort_by(|one, other| one.p.total_cmp(&other.p));
    let mut expected = 0.0_f64;
    for (rank, comparison) in found.iter().enumerate() {
        expected = expected.max(comparison.p * (7 - rank) as f64).min(1.0);
        assert!((comparison.p_corrected - expected).abs() < 1e-12 && comparison.p_corrected >= comparison.p);
    }
    assert!(found[0].p < 0.1 && found[0].p_corrected > found[0].p);
}

#[test]
fn the_plan_goes_question_by_question_and_each_trial_has_its_own_seed() {
    let dataset = dataset();
    let plan = EvalPlan::new(&dataset, &request()).unwrap();
    let first: Vec<&str> = plan.trials.iter().take(5).map(|trial| trial.key.as_str()).collect();
    assert_eq!(first, ["single/q0", "self-consistency/q0", "vote/q0", "deep/q0", "single/q1"]);
    let seeds: BTreeSet<u64> = plan.trials.iter().map(|trial| trial.seed).collect();
    assert_eq!(seeds.len(), plan.trials.len());
    assert!(seeds.iter().all(|seed| *seed < 1 << 53));
    assert_eq!(plan.calls(), [12 * 30, 12 * 36]);
}
