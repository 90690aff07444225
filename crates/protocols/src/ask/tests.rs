//! The rules of EVIDENCE.md, "The ladder". Each test quotes the sentence that it checks.

use std::cell::RefCell;

use agon_core::{AbsenceReason, DebateLimits, Fate, Fidelity, Outcome, Status, Termination, options};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer};

mod debate;
mod limits;
mod never_worse;
mod panel;
mod prompts;

const QUESTION: &str = "How many workers should the queue have?";

fn brief(models: &[&str], set: &[(&str, &str)]) -> Brief {
    let request = testing::request(&Ask, QUESTION, &[], models, set).unwrap();
    testing::brief(&Ask, request).unwrap()
}

fn run(models: &[&str], set: &[(&str, &str)], answer: Answer<'_>) -> Debate {
    testing::run(&Ask, brief(models, set), answer).1
}

fn outcome(debate: &Debate) -> &Outcome {
    debate.outcome.as_ref().unwrap()
}

fn phases(debate: &Debate) -> Vec<String> {
    debate.turns.iter().map(|turn| turn.phase.name.clone()).collect()
}

fn first_answer(answer: &str, why: &str, confidence: f64) -> Value {
    json!({"answer": answer, "why": why, "confidence": confidence})
}

fn argument(position: Option<&str>, points: &[&str]) -> Value {
    let revision = if position.is_some() { "major_revision" } else { "no_change" };
    json!({"stance": if position.is_some() { "concede" } else { "maintain" }, "key_points": points, "counterpoints": [],
           "revision": revision, "revised_position": position, "confidence": 0.7})
}

fn assessment(agreement: f64) -> Value {
    json!({"should_stop": false, "agreement_score": agreement, "new_points_ratio": 0.1, "consensus_answer": null,
           "remaining_disagreements": if agreement < 0.8 { vec!["the memory that each worker takes"] } else { vec![] },
           "next_round_focus": null})
}

fn synthesis(answer: &str) -> Value {
    json!({"answer": answer, "why": "The load test shows it.", "contested": ["the price of memory"]})
}

fn statement(score: f64, critical: bool) -> Value {
    let finding = json!({"finding": "Two workers lose jobs.", "severity": "CRITICAL", "evidence": "answer.md", "blocks_consensus": true});
    json!({"overall_score": score,
           "dimension_scores": {"correctness": score, "evidence": score, "objections": score, "clarity": score},
           "position_statement": "It answers the objections.", "key_claims": [],
           "critical_findings": if critical { vec![finding] } else { vec![] }})
}

/// What all seats reply in a ladder.
struct LadderScript<'a> {
    /// The first answers by seat.
    firsts: &'a [&'a str],
    /// The changes of position in round 1: the debater's place, its new position and its key point.
    changes: &'a [(usize, &'a str, &'a str)],
    /// The moderator's agreement score.
    agreement: f64,
    /// The chair's answer.
    answer: &'a str,
    /// The judges' score.
    score: f64,
    /// Whether all judges hold a critical finding.
    critical: bool,
}

/// The first two differ, the debate does not converge, and the judges let its answer stand.
const SCRIPT: LadderScript<'_> = LadderScript {
    firsts: &["2", "8", "2", "2"],
    changes: &[],
    agreement: 0.2,
    answer: "2 workers.",
    score: 4.0,
    critical: false,
};

impl LadderScript<'_> {
    fn reply(&self, ask: &agon_core::Ask, phase: &str, round: u32) -> Option<Value> {
        let place = ask.seat.rsplit('-').next()?.parse::<usize>().unwrap_or(1) - 1;
        Some(match phase {
            "answer" | "deep/answer" => first_answer(self.firsts[place], &format!("Reason {place}."), 0.6),
            "deep/debate" => {
                let change = self.changes.iter().find(|(seat, ..)| *seat == place && round == 1);
                argument(change.map(|(_, to, _)| *to), &[change.map_or("It fits.", |(.., point)| *point)])
            }
            "deep/moderate" => assessment(self.agreement),
            "deep/synthesis" => synthesis(self.answer),
            "panel/position" => statement(self.score, self.critical),
            _ => return None,
        })
    }

    fn run(&self, set: &[(&str, &str)]) -> Debate {
        run(&["a/x", "b/y"], set, &|ask, phase, round| self.reply(ask, phase, round))
    }
}

/// "two different models answer; if they agree in substance, that is the answer"; "the same after normalising = agreed without
/// another call".
#[test]
fn two_models_that_agree_decide_with_two_calls() {
    for (one, other) in
        [("8", "8.0"), ("Eight workers", "eight workers."), ("1,000", "1000"), ("The answer is 8.", "8")]
    {
        let debate = run(&["a/x", "b/y", "c/z"], &[], &|ask, _, _| {
            let (answer, confidence) = if ask.seat == "answerer-1" { (one, 0.6) } else { (other, 0.9) };
            Some(first_answer(answer, &format!("{} counted.", ask.seat), confidence))
        });
        let outcome = outcome(&debate);
        assert_eq!(
            (phases(&debate), debate.spent().calls),
            (vec!["answer".to_owned()], 2),
            "{one} / {other}"
        );
        assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Complete));
        assert_eq!((outcome.fidelity, outcome.rounds_completed), (Fidelity::Full, 0));
        let verdict = &outcome.verdict;
        assert_eq!(
            (&verdict["decided_by"], &verdict["answer"]),
            (&json!("agreement"), &json!(other)),
            "the answer of the more confident seat"
        );
        assert_eq!(verdict["why"], "answerer-2 counted.");
        let agreement = json!({"agreed": true, "by": "arithmetic", "differences": []});
        assert_eq!(verdict["steps"][0]["verdict"], agreement);
        assert!(outcome.positions.iter().all(|position| position.fate == Fate::Adopted));
        assert!(outcome.warnings.is_empty() && outcome.dissent.is_empty());
        let history = Ask.view(&debate).unwrap().positions;
        assert_eq!((history.rounds.len(), history.decided.name()), (1, Some(one)));
    }
}

/// "the first two *different* models of `--models`"; "the models cycle"; "`--judge M` names one for all".
#[test]
fn the_first_two_different_models_answer_first() {
    let models = |models: &[&str], set: &[(&str, &str)]| -> Vec<String> {
        brief(models, set).seats.iter().map(|seat| format!("{} {}", seat.id, seat.model)).collect()
    };
    assert_eq!(
        models(&["a/x", "a/x", "b/y"], &[]),
        [
            "answerer-1 a/x",
            "answerer-2 b/y",
            "debater-3 a/x",
            "debater-4 a/x",
            "moderator a/x",
            "chair a/x",
            "judge-1 a/x",
            "judge-2 b/y",
            "judge-3 a/x"
        ]
    );
    assert_eq!(models(&["a/x", "b/y"], &[("seats", "3"), ("judges", "5")]).len(), 3 + 2 + 5);
    assert_eq!(models(&["a/1", "a/2", "a/3", "a/4", "a/5"], &[]).len(), 5 + 2 + 3);
    let mut request = testing::request(&Ask, QUESTION, &[], &["a/x", "b/y"], &[]).unwrap();
    request.roles.insert("judge".into(), "j/j".into());
    request.roles.insert("chair".into(), "c/c".into());
    let seats = Ask.seats(&request).unwrap();
    assert!(seats.iter().all(|seat| (seat.role == "judge") == (seat.model == "j/j")), "{seats:?}");
    assert!(seats.iter().any(|seat| seat.id == "chair" && seat.model == "c/c"));
    // The models that a brief lists give the same seats again.
    let first = brief(&["a/x", "a/x", "b/y"], &[]);
    let listed = Ask.info().listed_models(&first);
    let again = brief(&listed.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(again.seats, first.seats);
}

#[test]
fn a_request_that_cannot_be_seated_is_rejected_with_a_reason() {
    let rejection = |question: &str, models: &[&str], set: &[(&str, &str)]| {
        Ask.seats(&testing::request(&Ask, question, &[], models, set).unwrap()).unwrap_err().0
    };
    let eight = ["a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8"];
    for (why, expected) in [
        (rejection(" ", &["a/x"], &[]), "the question is empty: agon ask"),
        (rejection(QUESTION, &[], &[]), "ask needs at least one model"),
        (rejection(QUESTION, &["a/x"], &[("judges", "4")]), "judges is 4, but it must be odd"),
        (rejection(QUESTION, &eight, &[]), "set --seats"),
        (rejection(QUESTION, &["a/x"], &[("min_rounds", "5")]), "min_rounds is 5"),
    ] {
        assert!(why.contains(expected), "{why}");
    }
    assert!(Ask.seats(&testing::request(&Ask, QUESTION, &[], &eight, &[("seats", "3")]).unwrap()).is_ok());
}

/// "One model only: it sits twice and a warning says that its agreement with itself shows little."
#[test]
fn a_single_model_takes_both_seats_and_a_warning_says_so() {
    let debate = run(&["a/x"], &[], &|_, _, _| Some(first_answer("8", "Counted.", 0.5)));
    let outcome = outcome(&debate);
    assert_eq!(outcome.warnings, ["both first answers are from a/x: its agreement with itself shows little"]);
    assert!(outcome.verdict["steps"][0]["reason"].as_str().unwrap().contains("only a/x is named"));
}

/// "Otherwise phase `compare`: both are asked [...]; agreed only if both say so."
#[test]
fn answers_in_different_words_agree_only_if_both_seats_say_so() {
    let compared = |one: Option<Value>, other: Option<Value>| {
        run(&["a/x", "b/y"], &[], &|ask, phase, round| match (phase, ask.seat.as_str()) {
            ("answer", "answerer-1") => Some(first_answer("As many as there are cores", "Load.", 0.6)),
            ("answer", _) => Some(first_answer("One worker per core", "Load.", 0.6)),
            ("compare", "answerer-1") => one.clone(),
            ("compare", _) => other.clone(),
            _ => SCRIPT.reply(ask, phase, round),
        })
    };
    let (yes, no) = (
        json!({"difference": null, "same": true}),
        json!({"difference": "cores are not jobs", "same": false}),
    );
    let debate = compared(Some(yes.clone()), Some(yes.clone()));
    assert_eq!((phases(&debate), debate.spent().calls), (vec!["answer".to_owned(), "compare".into()], 4));
    assert_eq!(outcome(&debate).verdict["steps"][0]["verdict"]["by"], "both_say_so");
    assert_eq!(outcome(&debate).verdict["decided_by"], "agreement");
    let history = Ask.view(&debate).unwrap().positions;
    assert_eq!(
        (history.rounds[0].distinct().len(), history.decided.name()),
        (1, Some("As many as there are cores"))
    );
    for (one, other, why) in [
        (Some(yes.clone()), Some(no.clone()), "cores are not jobs"),
        (Some(yes.clone()), None, "answerer-2 did not say whether the two are the same"),
    ] {
        let debate = compared(one, other);
        let steps = &outcome(&debate).verdict["steps"];
        assert_eq!(steps[0]["verdict"], json!({"agreed": false, "by": "comparison", "differences": [why]}));
        assert_eq!(steps[1]["reason"], format!("the two answers differ: {why}"));
    }
    let without_difference = json!({"difference": "", "same": false});
    let debate = compared(Some(yes), Some(no));
    let mut ask = crate::prompt::new_ask(&debate.brief.seats[0], empty_prompt(), None);
    ask.schema =
        Some(std::sync::Arc::new(crate::prompt::schema_of::<replies::AnswerComparison>("comparison")));
    assert!(Ask.check(&debate, &ask, &without_difference).unwrap_err().contains("what differs"));
}

fn empty_prompt() -> agon_core::Prompt {
    agon_core::Prompt { system: "".into(), shared: "".into(), tail: String::new() }
}

/// "the answers are not opposed, contrary or of other figures". If they are, no seat needs to be asked.
#[test]
fn contradictory_answers_are_debated_without_a_comparison() {
    let debate = SCRIPT.run(&[]);
    assert_eq!(phases(&debate)[..2], ["answer", "deep/answer"]);
    let steps = &outcome(&debate).verdict["steps"];
    assert_eq!(steps[0]["verdict"]["by"], "arithmetic");
    assert_eq!(steps[1]["reason"], "the two answers differ: their figures differ: 2 and 8");
}

/// "Each step's cost and reason is in the outcome."
#[test]
fn each_step_reports_its_reason_and_its_cost() {
    let debate = SCRIPT.run(&[]);
    let steps = outcome(&debate).verdict["steps"].as_array().unwrap();
    let calls: Vec<(&str, u64)> =
        steps.iter().map(|step| (step["step"].as_str().unwrap(), step["calls"].as_u64().unwrap())).collect();
    // Two more first answers, two rounds of four debaters and a moderator, one synthesis.
    assert_eq!(calls, [("pair", 2), ("deep", 2 + 2 * 5 + 1), ("panel", 3)]);
    let usd: f64 = steps.iter().map(|step| step["usd"].as_f64().unwrap()).sum();
    assert!((usd - debate.spent().usd).abs() < 1e-9 && usd > 0.17, "{usd}");
    assert!(steps.iter().all(|step| !step["reason"].as_str().unwrap().is_empty()));
    assert_eq!((&steps[0]["termination"], &steps[1]["termination"]), (&Value::Null, &json!("stable")));
    assert_eq!(steps[1]["verdict"]["answer"], "2 workers.");
    assert_eq!(steps[2]["verdict"]["verdict_type"], "consensus");
    let answers = outcome(&debate).verdict["answers"].as_array().unwrap();
    let seats: Vec<&str> = answers.iter().map(|answer| answer["seat"].as_str().unwrap()).collect();
    assert_eq!(seats, ["answerer-1", "answerer-2", "debater-3", "debater-4"]);
    assert!(answers.iter().all(|answer| answer["label"].is_string() && answer["confidence"] == 0.6));
}

/// "among past debates in which both models of step 1 held the same first position: `{agreed, wrong, rate, interval}` (Wilson), null
/// with none."
#[test]
fn the_risk_is_how_often_the_two_were_wrong_when_they_agreed() {
    let seat = |agent: &str, right: bool, position: &str| json!({"agent": agent, "right": right, "position": position});
    let past = |id: usize, seats: Value| json!({"id": id.to_string(), "seats": seats});
    let agreed = |id, right: bool| {
        past(id, json!([seat("a/x", right, "p"), seat("c/z", false, "q"), seat("b/y", right, "p")]))
    };
    let mut history: Vec<Value> = (0..10).map(|id| agreed(id, id > 0)).collect();
    history.push(past(10, json!([seat("a/x", false, "p"), seat("b/y", true, "q")])));
    history.push(past(11, json!([seat("a/x", false, "p"), seat("c/z", false, "p")])));
    let risk_of = |history: &[Value], models: &[&str]| {
        let mut brief = brief(models, &[]);
        let text = json!(history).to_string();
        brief.files.push(agon_core::BriefFile { path: "history".into(), text, part: Some("history".into()) });
        let debate = testing::run(&Ask, brief, &|_, _, _| Some(first_answer("8", "Counted.", 0.5))).1;
        outcome(&debate).verdict["risk"].clone()
    };
    let risk = risk_of(&history, &["a/x", "b/y"]);
    assert_eq!((&risk["agreed"], &risk["wrong"], &risk["rate"]), (&json!(10), &json!(1), &json!(0.1)));
    assert!((risk["interval"][1].as_f64().unwrap() - 0.404_150).abs() < 1e-5, "{risk}");
    assert!(risk["sentence"].as_str().unwrap().starts_with(
        "Of 10 earlier debates in which these two gave the same first answer, 1 was wrong: 10%"
    ));
    assert_eq!(risk_of(&history, &["b/y", "d/d"]), Value::Null);
    assert_eq!(risk_of(&[], &["a/x", "b/y"]), Value::Null);
    // A model that takes both seats is compared with itself, in debates in which it had two seats.
    assert_eq!(risk_of(&history, &["a/x"]), Value::Null);
    let twice = [past(0, json!([seat("a/x", true, "p"), seat("a/x", true, "p")]))];
    assert_eq!(risk_of(&twice, &["a/x"])["agreed"], 1);
}

/// The debate's options have the same ranges, defaults and help in `ask` and in `deep`.
#[test]
fn deep_declares_the_debate_options_in_the_same_way() {
    for key in parts::DEBATE_OPTIONS {
        let declared = |protocol: &dyn Protocol| {
            let spec = protocol.info().options.iter().find(|spec| spec.key == key).unwrap();
            (spec.kind, spec.default, spec.help)
        };
        assert_eq!(declared(&Ask), declared(&Deep), "{key}");
    }
}

/// The debate gets its options from `ask`, and the panel gets its own number of rounds.
#[test]
fn each_part_gets_its_own_options() {
    let brief = brief(&["a/x", "b/y"], &[("max_rounds", "5"), ("panel_rounds", "1")]);
    assert_eq!(
        (&parts::deep_brief(&brief).options["max_rounds"], &parts::panel_brief(&brief).options["max_rounds"]),
        (&json!(5), &json!(1))
    );
    let is_complete = |brief: &Brief, protocol: &dyn Protocol| {
        let default = options::resolve(protocol.info().options, []).unwrap();
        default.keys().all(|key| brief.options.contains_key(key))
    };
    assert!(is_complete(&parts::deep_brief(&brief), &Deep));
    assert!(is_complete(&parts::panel_brief(&brief), &Panel));
}

/// "`bound`, `calls` exact ranges".
#[test]
fn the_fewest_and_the_most_calls_are_both_reached() {
    let brief = brief(&["a/x", "b/y"], &[]);
    let plan = Ask.plan(&brief);
    assert_eq!((plan.fewest_calls, plan.most_calls), (2, 2 + 2 + 2 + 3 * 5 + 1 + 3 * 3));
    let debate = run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        let place = ask.seat.rsplit('-').next().unwrap().parse::<u32>().unwrap_or(0);
        Some(match phase {
            "answer" | "deep/answer" => first_answer(&format!("plan of {}", ask.model), "Load.", 0.6),
            "compare" => json!({"difference": "the plan", "same": false}),
            "deep/debate" => argument(Some(&format!("plan {place} of round {round}")), &["Load."]),
            "panel/position" => statement(1.0 + f64::from(place), false),
            "panel/rebuttal" => {
                json!({"previous_score": 1.0 + f64::from(place), "new_score": 1.0 + f64::from(place),
                "change_reason": "", "position_revision": "As before.", "agreements": [], "disagreements": []})
            }
            "panel/final" => json!({"final_score": 1.0 + f64::from(place), "final_position": "As before."}),
            _ => SCRIPT.reply(ask, phase, round)?,
        })
    });
    assert_eq!(debate.asks(), plan.most_calls);
    assert_eq!(outcome(&debate).termination, Termination::NoMajority);
}

/// The tables of the debate and the panel have their places in the whole log.
#[test]
fn every_round_of_every_step_has_a_table() {
    let debate = SCRIPT.run(&[]);
    let summaries = Ask.view(&debate).unwrap().round_summaries;
    assert!(summaries.iter().all(|summary| (1..=debate.turns.len()).contains(&summary.after_phases)));
    let titles: Vec<&str> = summaries.iter().map(|summary| summary.title.as_str()).collect();
    assert_eq!(titles[0], "The two answers differ");
    assert!(titles.iter().any(|title| title.starts_with("Round 2 of 3, agreement 0.20")), "{titles:?}");
    assert!(titles.last().unwrap().starts_with("Round 1: mean 4"), "{titles:?}");
}

/// The absent seats, with the reasons.
fn absent_seats(debate: &Debate) -> Vec<(String, AbsenceReason)> {
    debate.absences().map(|(_, ask, why, _)| (ask.seat.clone(), why)).collect()
}
