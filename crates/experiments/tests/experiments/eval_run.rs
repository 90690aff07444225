//! Whole runs with made-up models: `single`, `self-consistency`, `vote` and `deep` on questions whose answers are known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_core::document::document;
use agon_core::play::{invent, play};
use agon_core::{Ask, Brief, Debate, LOG_VERSION, Limits, Reply, Request, Usage, options, protocol};
use agon_trials::{Dataset, Findings, Kept, Kind, Plan, Row, Trial, Wanted, findings, grade};
use serde_json::{Value, json};

const QUESTIONS: usize = 12;

fn dataset() -> Dataset {
    let line = |n: usize| {
        json!({"id": format!("q{n}"), "question": format!("Question {n}?"), "choices": ["x", "y", "z"], "answer": "B"}).to_string()
    };
    Dataset::parse(&(0..QUESTIONS).map(line).collect::<Vec<_>>().join("\n")).unwrap()
}

fn wanted() -> Wanted {
    let models = ["a/x", "b/y", "c/z"].map(String::from).to_vec();
    Wanted { models, seed: 5, ..Wanted::default() }
}

/// What everybody knows: model a is right on even questions, b on those below 9, c on none; the chair of a debate is right on all
/// but the first.
fn said(trial: &Trial, ask: &Ask) -> &'static str {
    let n = trial.question;
    let right = match ask.model.as_str() {
        _ if ask.seat == "chair" => n != 0,
        "a/x" => n.is_multiple_of(2),
        "b/y" => n < 9,
        _ => false,
    };
    // Who is wrong is wrong in its own way.
    match (right, ask.model.as_str()) {
        (true, _) => "B",
        (false, "c/z") => "C",
        (false, _) => "A",
    }
}

fn reply(trial: &Trial, debate: &Debate, ask: &Ask) -> Reply {
    let protocol = agon_protocols::find(&trial.arm.protocol).unwrap();
    let letter = said(trial, ask);
    let value = match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
        None => json!(format!("There is much to be said.\nSome of it is long.\n\n**Answer: {letter}**")),
        Some("given") => json!({"why": "so", "answer": format!("{letter})"), "confidence": 0.7}),
        Some("synthesis") => {
            json!({"answer": format!("They argued long.\n\nAnswer: {letter}"), "why": "so", "contested": []})
        }
        Some(_) => return invent(protocol, debate, ask, trial.seed),
    };
    let (text, value) = match value {
        Value::String(text) => (text, None),
        value => (value.to_string(), Some(value)),
    };
    let usage = Usage { input_tokens: 100, output_tokens: 20, usd: Some(0.001), ..Usage::default() };
    Reply::Said { text, value, model: ask.model.clone(), usage, cut_off: false, shortened: None }
}

/// Holds a trial as the engine would, and gives its outcome document.
fn held(trial: &Trial, dataset: &Dataset) -> Value {
    let protocol = agon_protocols::find(&trial.arm.protocol).unwrap();
    let request = Request {
        question: dataset.questions[trial.question].text.clone(),
        models: trial.arm.models.clone(),
        roles: trial.arm.roles.clone(),
        options: options::resolve(protocol.options(), trial.arm.options.clone()).unwrap(),
        seed: trial.seed,
        ..Request::default()
    };
    let brief = Brief {
        version: LOG_VERSION,
        id: trial.key.clone(),
        protocol: protocol.name().into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: Vec::new(),
        options: request.options,
        seed: trial.seed,
        limits: Limits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    };
    let mut answer = |debate: &Debate, ask: &Ask| reply(trial, debate, ask);
    let records = play(protocol, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    let debate = Debate::from_records(&records).unwrap();
    document(&debate, agon_evidence::section(protocol, &debate))
}

fn row(trial: &Trial, dataset: &Dataset) -> Row {
    grade(trial, &dataset.questions[trial.question], &held(trial, dataset))
}

/// "runs single model, self-consistency at equal budget, first-round vote, and any protocols": the accuracies that were planted
/// come out, and so does what each arm costs.
#[test]
fn a_run_finds_the_accuracies_that_were_planted_and_what_they_cost() {
    let dataset = dataset();
    let plan = Plan::new(&dataset, &wanted()).unwrap();
    let rows: Vec<Row> = plan.trials.iter().map(|trial| row(trial, &dataset)).collect();
    let found = Findings::of(&plan, &rows);
    let correct = |name: &str| found.arm(name).map(|figures| (figures.correct, figures.n)).unwrap();
    assert_eq!((found.questions, found.planned, found.done), (12, 48, 48));
    assert_eq!(correct("single"), (6, 12), "even questions");
    assert_eq!(correct("self-consistency"), (6, 12), "a model that always says the same");
    // a and b are right together on 0, 2, 4, 6 and 8; where all three differ the vote is tied and has no answer.
    assert_eq!(correct("vote"), (5, 12));
    assert_eq!(correct("deep, first round"), (5, 12), "the same vote, at no cost");
    assert_eq!(correct("deep"), (11, 12));
    let calls = |name: &str| found.arm(name).unwrap().calls.unwrap().mean;
    assert_eq!(
        (calls("single"), calls("self-consistency"), calls("vote"), calls("deep, first round")),
        (1.0, 14.0, 3.0, 3.0)
    );
    assert!((12.0..=16.0).contains(&calls("deep")), "{}", calls("deep"));
    assert_eq!(found.cost_in, findings::CostIn::Usd);
    assert!((found.arm("vote").unwrap().usd.unwrap().mean - 0.003).abs() < 1e-9);
    assert_eq!(found.arm("vote").unwrap().tokens.unwrap().interval, [360.0, 360.0]);
    // "per protocol arm how many answers went wrong->right and right->wrong between first-round vote and verdict".
    let debated = &found.debates[0];
    assert_eq!(
        (debated.wrong_to_right, debated.right_to_wrong, debated.stayed_right, debated.stayed_wrong),
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
    assert!(deep.interval[0] >= 0.0 && deep.interval[1] < 0.8 && !deep.is_shown());
    assert!((deep.cost_ratio.unwrap() - calls("deep")).abs() < 1e-9, "a call costs the same in all arms");
}

/// "resumable": "trials whose key is there are not run again; a half line at the end is ignored and overwritten". Cut anywhere.
#[test]
fn a_run_that_is_cut_anywhere_goes_on_to_the_same_results() {
    let dataset = dataset().first(3);
    let wanted = Wanted { arms: vec!["single".into(), "vote".into()], ..wanted() };
    let plan = Plan::new(&dataset, &wanted).unwrap();
    let rows: Vec<Row> = plan.trials.iter().map(|trial| row(trial, &dataset)).collect();
    let mut file = format!("{}\n", plan.header());
    file.extend(rows.iter().map(|row| row.line().unwrap()));
    for cut in 0..=file.len() {
        let bytes = &file.as_bytes()[..cut];
        let kept = Kept::read(&plan, bytes).unwrap();
        let whole = bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(kept.rows, rows[..whole.saturating_sub(1)], "cut at {cut}");
        assert!(kept.length <= cut && (kept.length == 0 || bytes[kept.length - 1] == b'\n'));
        let outstanding = kept.outstanding(&plan);
        assert_eq!(outstanding.len() + kept.rows.len(), plan.trials.len());
        // What is written behind the whole lines makes the same file.
        let mut again = file[..kept.length].to_owned();
        if kept.length == 0 {
            again.push_str(&format!("{}\n", plan.header()));
        }
        let place = |key: &str| rows.iter().find(|row| row.key == key).unwrap();
        again.extend(outstanding.iter().map(|trial| place(&trial.key).line().unwrap()));
        assert_eq!(again, file, "cut at {cut}");
    }
}

/// "a results file of another plan (dataset hash, arms, models, seed differ) is refused with a sentence".
#[test]
fn results_of_another_plan_are_refused() {
    let plan = Plan::new(&dataset(), &wanted()).unwrap();
    let file =
        |dataset: &Dataset, wanted: &Wanted| format!("{}\n", Plan::new(dataset, wanted).unwrap().header());
    assert!(Kept::read(&plan, file(&dataset(), &wanted()).as_bytes()).is_ok());
    let arms = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let other = |change: fn(&mut Wanted)| {
        let mut wanted = wanted();
        change(&mut wanted);
        file(&dataset(), &wanted)
    };
    for (file, why) in [
        (file(&dataset().first(5), &wanted()), "its dataset differs"),
        (other(|wanted| wanted.seed = 6), "its seed differs"),
        (other(|wanted| wanted.limits = json!({"max_calls": 9})), "its set of limits differs"),
        (
            file(&dataset(), &Wanted { arms: arms(&["single", "deep"]), ..wanted() }),
            "list of arms (single, deep)",
        ),
        (other(|wanted| wanted.models[0] = "d/d".into()), "arm single, in its models"),
        (other(|wanted| wanted.samples = Some(4)), "arm self-consistency, in its options"),
        (
            other(|wanted| {
                drop(wanted.options.insert("deep".into(), vec![("max_rounds".into(), "2".into())]))
            }),
            "in its options",
        ),
        (
            other(|_| {})
                .replacen("poll/answer.hbs\":\"", "poll/answer.hbs\":\"0", 1)
                .replace("\"plan\":\"", "\"plan\":\"0"),
            "in its templates",
        ),
        ("{\"question\": \"Q?\"}\n".into(), "no file of results"),
        ("not JSON\n".into(), "no file of results"),
    ] {
        let found = Kept::read(&plan, file.as_bytes()).unwrap_err().0;
        assert!(found.contains(why), "{why}: {found}");
    }
    assert!(Kept::read(&plan, b"\xff\xfe\n").is_err());
}

#[test]
fn a_broken_line_is_named_and_a_trial_that_was_held_again_counts_as_it_went_last() {
    let dataset = dataset().first(2);
    let plan = Plan::new(&dataset, &Wanted { arms: vec!["single".into()], ..wanted() }).unwrap();
    let failed = Row::failed(&plan.trials[0], &dataset.questions[0], "the network is down");
    let (first, second) = (row(&plan.trials[0], &dataset), row(&plan.trials[1], &dataset));
    let file = |lines: &[String]| format!("{}\n{}", plan.header(), lines.concat());
    let lines = [failed.line().unwrap(), second.line().unwrap(), first.line().unwrap()];
    assert_eq!(Kept::read(&plan, file(&lines).as_bytes()).unwrap().rows, [second, first.clone()]);
    let broken = [first.line().unwrap(), "{\"key\"\n".to_owned()];
    assert!(Kept::read(&plan, file(&broken).as_bytes()).unwrap_err().0.starts_with("line 3 of the results"));
    let stranger = [first.line().unwrap().replace("single/q0", "single/q9")];
    assert!(Kept::read(&plan, file(&stranger).as_bytes()).unwrap_err().0.contains("not in the plan"));
}

/// "a run that failed counts as wrong and is counted as `failed`".
#[test]
fn what_failed_is_wrong_and_what_cannot_be_read_is_counted() {
    let dataset = dataset().first(4);
    let plan =
        Plan::new(&dataset, &Wanted { arms: vec!["single".into(), "deep".into()], ..wanted() }).unwrap();
    let question = |place: usize| &dataset.questions[plan.trials[place].question];
    let of = |place: usize, document: Value| grade(&plan.trials[place], question(place), &document);
    let long = "They argued for a long time and did not say what they came to in any way that could be told.\nSo it is.";
    let rows = [
        of(
            1,
            json!({"id": "d1", "protocol": "deep", "status": "complete", "verdict": {"answer": long}, "usage": {"calls": 9}}),
        ),
        of(
            3,
            json!({"id": "d2", "protocol": "deep", "status": "failed", "verdict": {"answer": "Answer: B"}, "usage": {"calls": 2}}),
        ),
        of(
            5,
            json!({"id": "d3", "protocol": "deep", "status": "incomplete", "verdict": {"answer": null}, "usage": {"calls": 3}}),
        ),
        Row::failed(&plan.trials[7], question(7), "the key is wrong"),
        of(
            0,
            json!({"id": "s1", "protocol": "poll", "status": "incomplete", "verdict": {"answer": "B"}, "usage": {"calls": 1, "usd": null}}),
        ),
    ];
    let found = Findings::of(&plan, &rows);
    let (deep, single) = (found.arm("deep").unwrap(), found.arm("single").unwrap());
    assert_eq!((deep.n, deep.correct, deep.failed, deep.unread), (4, 0, 3, 1));
    assert_eq!((single.n, single.correct, single.kind), (1, 1, Kind::Single));
    assert_eq!((found.cost_in, deep.calls.unwrap().mean, deep.usd), (findings::CostIn::Calls, 3.5, None));
    assert_eq!(found.comparisons.len(), 1, "only what both were tried on is compared");
    assert_eq!((found.comparisons[0].n, found.comparisons[0].only_against), (1, 1));
    let nothing = Findings::of(&plan, &[]);
    assert!(nothing.comparisons.is_empty() && nothing.arms.iter().all(|figures| figures.accuracy.is_none()));
}

/// "`answer_of(document)` per protocol".
#[test]
fn every_protocol_has_its_own_word_for_the_answer() {
    for (protocol, verdict, want) in [
        ("deep", json!({"answer": "Answer: B"}), Some("Answer: B")),
        ("arena", json!({"answer": "B"}), Some("B")),
        ("poll", json!({"answer": null, "tied": ["A", "B"]}), None),
        ("ask", json!({"answer": "B"}), Some("B")),
        ("council", json!({"decision": "PROCEED", "answer": "x"}), Some("PROCEED")),
        ("review", json!({"verdict": "PASS"}), Some("PASS")),
        ("panel", json!({"status": "good", "verdict_type": "majority"}), Some("good")),
        ("panel", json!({"status": null, "verdict_type": "no_majority"}), Some("no_majority")),
        ("deep", json!(null), None),
    ] {
        let document = json!({"protocol": protocol, "verdict": verdict});
        assert_eq!(agon_trials::grade::answer_of(&document).as_deref(), want, "{protocol}");
    }
    let dataset = Dataset::parse("{\"question\": \"Ship it?\", \"answer\": \"pass\"}").unwrap();
    let plan = Plan::new(&dataset, &Wanted { arms: vec!["single".into()], ..wanted() }).unwrap();
    let graded = |protocol: &str, verdict: Value, evidence: Value| {
        let document =
            json!({"protocol": protocol, "status": "complete", "verdict": verdict, "evidence": evidence});
        grade(&plan.trials[0], &dataset.questions[0], &document)
    };
    let vote = json!({"first_round": {"vote": "FAIL"}, "dissent": [{"position": "PASS"}]});
    let row = graded("review", json!({"verdict": "PASS"}), vote.clone());
    assert_eq!(
        (row.correct, row.first_round.map(|first| (first.answer, first.correct))),
        (true, Some((Some("FAIL".into()), false)))
    );
    let row = graded("deep", json!({"answer": "Fail."}), vote);
    assert_eq!(
        (row.correct, row.first_round.map(|first| first.correct)),
        (false, Some(true)),
        "the answers in texts are counted"
    );
    let tied = json!({"first_round": {"vote": null, "tied": ["PASS", "FAIL"]}});
    assert_eq!(graded("review", json!({"verdict": "PASS"}), tied).first_round.unwrap().answer, None);
    assert!(graded("review", json!({"verdict": "PASS"}), json!({})).first_round.is_none());
}

/// "Holm correction over the table": the smallest of seven is taken seven times, and none is smaller than one before it.
#[test]
fn tests_are_corrected_for_how_many_there_are() {
    let dataset = dataset();
    let plan = Plan::new(&dataset, &wanted()).unwrap();
    let rows: Vec<Row> = plan.trials.iter().map(|trial| row(trial, &dataset)).collect();
    let mut found = Findings::of(&plan, &rows).comparisons;
    found.sort_by(|one, other| one.p.total_cmp(&other.p));
    let mut expected = 0.0_f64;
    for (rank, comparison) in found.iter().enumerate() {
        expected = expected.max(comparison.p * (7 - rank) as f64).min(1.0);
        assert!((comparison.p_corrected - expected).abs() < 1e-12 && comparison.p_corrected >= comparison.p);
    }
    assert!(found[0].p < 0.1 && found[0].p_corrected > found[0].p);
}

/// Whatever part of the plan is done, the arms can be compared; and no two trials have one seed.
#[test]
fn the_plan_goes_question_by_question_with_a_seed_for_each_trial() {
    let dataset = dataset();
    let plan = Plan::new(&dataset, &wanted()).unwrap();
    let first: Vec<&str> = plan.trials.iter().take(5).map(|trial| trial.key.as_str()).collect();
    assert_eq!(first, ["single/q0", "self-consistency/q0", "vote/q0", "deep/q0", "single/q1"]);
    let seeds: std::collections::BTreeSet<u64> = plan.trials.iter().map(|trial| trial.seed).collect();
    assert_eq!(seeds.len(), plan.trials.len());
    assert!(seeds.iter().all(|seed| *seed < 1 << 53));
    assert_eq!(plan.calls(), [12 * 30, 12 * 34]);
}
