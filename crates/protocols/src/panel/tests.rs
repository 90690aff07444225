//! Seed 001 and its part of PROTOCOLS.md, sentence by sentence.

use agon_core::{Fate, Fidelity, Outcome, RoundSummary, SimulatedAsk, Status, Termination};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer};

const MODELS: &[&str] = &["a/x", "b/y", "c/z"];
const PLAN: (&str, &str) = ("docs/queue-plan.md", "# Plan\n\nMove the jobs to the queue.");
const KEYS: [&str; 5] = [
    "problem_understanding",
    "architecture_quality",
    "risk_mitigation",
    "implementation_clarity",
    "feasibility",
];

fn request(files: &[(&str, &str)], models: &[&str], set: &[(&str, &str)]) -> Result<Request, Invalid> {
    testing::request(&Panel, "", files, models, set)
}

fn brief(models: &[&str], set: &[(&str, &str)]) -> Brief {
    testing::brief(&Panel, request(&[PLAN], models, set).unwrap()).unwrap()
}

/// The sentence that refuses a request.
fn refused(files: &[(&str, &str)], models: &[&str], set: &[(&str, &str)]) -> String {
    match request(files, models, set) {
        Ok(request) => Panel.seats(&request).unwrap_err().0,
        Err(why) => why.0,
    }
}

fn run_brief(brief: Brief, answer: Answer<'_>) -> Debate {
    run_log(brief, answer).1
}

/// Plays a debate. The rapporteur sums up with quotes that verify.
fn run_log(brief: Brief, answer: Answer<'_>) -> (Vec<agon_core::LogRecord>, Debate) {
    testing::run(&Panel, brief, &|ask, phase, round| match ask.seat == RAPPORTEUR {
        true => Some(summed_up(ask)),
        false => answer(ask, phase, round),
    })
}

/// A summary that quotes every judge.
fn summed_up(ask: &Ask) -> Value {
    let (prompt, phase) = (ask.prompt.user(), PanelPhase::Summary.at(0));
    let ask = SimulatedAsk {
        phase: &phase,
        label: None,
        about: None,
        prompt: &prompt,
        schema: ask.schema.as_deref(),
    };
    serde_json::to_value(simulation::summary(&ask)).unwrap()
}

fn run(set: &[(&str, &str)], answer: Answer<'_>) -> Outcome {
    run_brief(brief(MODELS, set), answer).outcome.unwrap()
}

/// The place of the judge who is asked.
fn place(ask: &Ask) -> usize {
    ask.seat.trim_start_matches("judge-").parse::<usize>().unwrap() - 1
}

fn dimensions(score: f64) -> Value {
    KEYS.map(|key| (key.to_owned(), json!(score))).into_iter().collect::<serde_json::Map<_, _>>().into()
}

fn statement(score: f64) -> Value {
    json!({
        "overall_score": score,
        "dimension_scores": dimensions(score),
        "position_statement": format!("## My Assessment\n\nI give it {score}."),
        "key_claims": [{"claim": "it is short", "evidence": "docs/queue-plan.md:3", "confidence": "HIGH"}],
        "critical_findings": [],
    })
}

fn rebuttal(before: f64, score: f64) -> Value {
    let changed = before != score;
    json!({
        "previous_score": before,
        "new_score": score,
        "score_changed": changed,
        "change_reason": if changed { "[A2] is right about line 3" } else { "nothing new was said" },
        "agreements": [],
        "disagreements": [],
        "position_revision": format!("## Updated Position\n\nNow {score}."),
        "unresolved_disputes": [],
        "dimension_scores": dimensions(score),
    })
}

fn last(score: f64) -> Value {
    json!({
        "final_score": score,
        "final_position": format!("## Final Assessment\n\nIn the end {score}."),
        "key_points_maintained": [],
        "concessions_made": [],
        "unresolved_disagreements": [],
        "dimension_scores": dimensions(score),
    })
}

/// What a judge says in a round if these are its scores by round. The last score repeats.
fn plain(scores: &[f64], round: u32) -> Value {
    let score = |round: u32| scores.get(round as usize - 1).or(scores.last()).copied().unwrap();
    match round {
        1 => statement(score(1)),
        2 => rebuttal(score(1), score(2)),
        _ => last(score(3)),
    }
}

/// A debate with these scores, by judge and round.
fn scored(set: &[(&str, &str)], scores: &[&[f64]]) -> Outcome {
    let models = MODELS.repeat(3);
    let models = &models[..scores.len()];
    let answer = |ask: &Ask, _: &str, round: u32| Some(plain(scores[place(ask)], round));
    run_brief(brief(models, set), &answer).outcome.unwrap()
}

fn warned(outcome: &Outcome, words: &str) -> bool {
    outcome.warnings.iter().any(|warning| warning.contains(words))
}

/// "Consensus: overall range <= 0.5 (inclusive, 1e-9)", checked after each round; "it stops at the first".
#[test]
fn consensus_needs_all_scores_within_0_5_and_is_checked_after_each_round() {
    for (scores, termination, rounds) in [
        (&[&[3.5][..], &[4.0], &[3.75]][..], Termination::Consensus, 1),
        (&[&[3.5], &[4.000_000_000_1], &[3.75]], Termination::Consensus, 1),
        (&[&[3.5], &[4.000_001], &[3.75]], Termination::Majority, 3),
        (&[&[3.0, 3.5], &[4.0], &[4.0]], Termination::Consensus, 2),
        (&[&[3.0, 3.0, 3.5], &[4.0], &[4.0]], Termination::Consensus, 3),
        (&[&[3.0, 3.0, 3.49], &[4.0], &[4.0]], Termination::Majority, 3),
        (&[&[3.5], &[3.5], &[3.5]], Termination::Consensus, 1),
    ] {
        let outcome = scored(&[("dimension_range", "4")], scores);
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{scores:?}");
        assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Full), "{scores:?}");
    }
}

/// "every dimension's range <= 1.0 (`dimension_range`, configurable)".
#[test]
fn consensus_needs_every_dimension_within_1_0() {
    for (low, set, termination) in [
        (3.0, &[][..], Termination::Consensus),
        (2.999_999_999_9, &[], Termination::Consensus),
        (2.999_999, &[], Termination::Majority),
        (2.999_999, &[("dimension_range", "1.1")], Termination::Consensus),
        (3.0, &[("dimension_range", "0.9")], Termination::Majority),
    ] {
        let outcome = run(set, &|ask, _, round| {
            let mut said = plain(&[4.0], round);
            if place(ask) == 2 {
                said["dimension_scores"]["feasibility"] = json!(low);
            }
            Some(said)
        });
        assert_eq!(outcome.termination, termination, "{low} {set:?}");
    }
}

/// "`consensus_range`" of the options.
#[test]
fn the_consensus_range_is_configurable() {
    let scores: &[&[f64]] = &[&[3.0], &[3.0], &[4.0]];
    assert_eq!(scored(&[("consensus_range", "1")], scores).termination, Termination::Consensus);
    assert_eq!(scored(&[("consensus_range", "0.99")], scores).termination, Termination::Majority);
    assert_eq!(
        scored(&[("consensus_range", "0")], &[&[3.0], &[3.0], &[3.0]]).termination,
        Termination::Consensus
    );
}

/// `max_rounds` 1 to 3.
#[test]
fn max_rounds_ends_the_debate() {
    for (max, rounds) in [("1", 1), ("2", 2), ("3", 3)] {
        let outcome = scored(&[("max_rounds", max)], &[&[2.0], &[2.0], &[5.0]]);
        assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Majority, rounds));
    }
    assert!(refused(&[PLAN], MODELS, &[("max_rounds", "4")]).contains("max_rounds"));
    assert!(refused(&[PLAN], MODELS, &[("max_rounds", "0")]).contains("max_rounds"));
}

/// The schema that the second judge is given in a round, in a debate without critical findings.
fn schema_of_round(wanted: u32) -> Value {
    let found = std::cell::RefCell::new(Value::Null);
    scored_with(&[&[2.0], &[3.0], &[5.0]], &|ask, round| {
        if round == wanted && place(ask) == 1 {
            *found.borrow_mut() = ask.schema.as_ref().unwrap().json.clone();
        }
    });
    found.into_inner()
}

/// Plays a debate with these scores and passes every ask to `look`.
fn scored_with(scores: &[&[f64]], look: &dyn Fn(&Ask, u32)) {
    run(&[], &|ask, _, round| {
        look(ask, round);
        Some(plain(scores[place(ask)], round))
    });
}

/// "the weighted value is computed beside it and a gap over 0.25 is shown".
#[test]
fn a_gap_over_0_25_to_the_weighted_score_is_shown() {
    for (overall, shown) in [(3.25, false), (3.250_001, true), (2.75, false), (2.749, true), (3.0, false)] {
        let outcome = run(&[], &|_, _, _| {
            let mut said = statement(3.0);
            said["overall_score"] = json!(overall);
            Some(said)
        });
        assert_eq!(outcome.verdict["judges"][0]["weighted"], 3.0);
        assert_eq!(
            warned(&outcome, "dimension scores weigh to 3"),
            shown,
            "{overall}: {:?}",
            outcome.warnings
        );
    }
}

/// "without them round 1's carry forward, and the report says so".
#[test]
fn dimension_scores_carry_forward_and_the_report_says_so() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain([&[2.0, 2.5][..], &[3.0], &[5.0]][place(ask)], round);
        match (round, place(ask)) {
            (2, 0) => said["dimension_scores"] = json!({"feasibility": 5.0, "risk_mitigation": null}),
            (2, 1) => drop(said.as_object_mut().unwrap().remove("dimension_scores")),
            (3, _) => said["dimension_scores"] = json!(null),
            _ => {}
        }
        Some(said)
    });
    let first = &outcome.verdict["judges"][0]["dimension_scores"];
    assert_eq!((&first["feasibility"], &first["risk_mitigation"]), (&json!(5.0), &json!(2.0)));
    assert_eq!(
        outcome.warnings.iter().filter(|warning| warning.contains("no dimension scores")).collect::<Vec<_>>(),
        ["round 2: no dimension scores, so those of the round before count: judge-2"],
        "null says that nothing changed"
    );
    let whole = scored(&[], &[&[2.0], &[3.0], &[5.0]]);
    assert!(!warned(&whole, "no dimension scores"), "{:?}", whole.warnings);
}

fn fates(outcome: &Outcome) -> Vec<Fate> {
    outcome.positions.iter().map(|position| position.fate).collect()
}

/// Rule 12, "Every distinct first-round position ends up adopted, refuted with a reason, or in the dissent section."
#[test]
fn first_positions_are_adopted_refuted_or_dissent() {
    let outcome = scored(&[], &[&[4.0, 4.5], &[4.5], &[2.0, 3.0, 4.5]]);
    assert_eq!(
        fates(&outcome),
        [Fate::Adopted, Fate::Adopted, Fate::Refuted],
        "moved by 0.5, not at all, by 2.5"
    );
    assert!(outcome.positions[2].reason.contains(
        "its score went from 2.0 to 3.0 to 4.5. In round 2: [A2] is right about line 3. In round 3: gives no reason."
    ));
    assert!(outcome.dissent.is_empty());

    let outcome = scored(&[], &[&[4.0], &[4.5], &[2.0, 2.5]]);
    assert_eq!(outcome.positions[2].fate, Fate::Minority);
    assert_eq!(outcome.dissent.len(), 1);
    assert_eq!(outcome.dissent[0]["judge_id"], "judge-3");
    assert!(outcome.positions[2].position.contains("I give it 2."), "the position is the first");
    assert_eq!(outcome.dissent[0]["position"], "In the end 2.5.", "the dissent is what is held in the end");
}

/// "Minority opinion (preserved for user review)": a judge who is not on the verdict's side in the end dissents, however far it moved.
#[test]
fn a_judge_who_moved_but_stays_in_the_minority_dissents() {
    let outcome = scored(&[], &[&[4.0], &[4.2], &[1.0, 1.8, 2.5]]);
    assert_eq!(outcome.verdict["minority_judges"], json!(["judge-3"]));
    assert_eq!(fates(&outcome), [Fate::Adopted, Fate::Adopted, Fate::Minority]);
    let [dissent] = outcome.dissent.as_slice() else { panic!("{:?}", outcome.dissent) };
    assert_eq!((&dissent["judge_id"], &dissent["score"]), (&json!("judge-3"), &json!(2.5)));
    assert_eq!(dissent["position"], "In the end 2.5.");
    let reason = dissent["reason"].as_str().unwrap();
    let moved = "the majority's score is 4.1; its score went from 1.0 to 1.8 to 2.5. In round 2: [A2] is right about line 3.";
    assert!(reason.starts_with(moved), "{reason}");
    assert!(outcome.positions[2].position.contains("I give it 1."));
    let kept = scored(&[], &[&[4.0], &[4.2], &[3.0]]);
    assert_eq!(kept.positions[2].reason, "the majority's score is 4.1; its score stayed at 3.0.");

    // The first position of a judge who joined the majority is given up if it moved by more than the range.
    for (first, fate) in [(3.5, Fate::Adopted), (3.499_999, Fate::Refuted)] {
        let outcome = scored(&[], &[&[4.0], &[4.0], &[first, 4.0], &[1.0], &[1.0]]);
        assert_eq!(fates(&outcome)[2], fate, "{first}");
    }
    // Without a majority, nobody is on its side.
    let outcome = scored(&[], &[&[1.0, 3.0], &[4.0], &[5.0]]);
    assert_eq!((outcome.termination, fates(&outcome)), (Termination::NoMajority, vec![Fate::Minority; 3]));
    assert_eq!((outcome.dissent.len(), &outcome.dissent[0]["score"]), (3, &json!(3.0)));
}

/// A first position that its judge left is refuted by what the judge cites. Where it cites nothing that counts, nothing refuted it.
#[test]
fn a_first_position_is_refuted_by_a_cited_cause_only() {
    for (what, score, reason, position, fate) in [
        ("moved, citing a point", 4.0, "[A2] is right", None, Fate::Refuted),
        ("moved, citing a line", 4.0, "docs/queue-plan.md:3", None, Fate::Refuted),
        ("moved, citing words", 4.0, "„move the JOBS“", None, Fate::Refuted),
        ("moved, persuaded", 4.0, "I was persuaded", None, Fate::NotSettled),
        ("moved, citing its own point", 4.0, "[A1] was mine", None, Fate::NotSettled),
        ("moved a little", 2.1, "[A2] is right", None, Fate::Adopted),
        ("gave up a finding, citing a point", 2.1, "[A2]", Some("[A3] shows it"), Fate::Refuted),
        ("gave up a finding, citing nothing", 2.1, "[A2]", Some("It is rare"), Fate::NotSettled),
        ("gave up a finding, citing it", 2.1, "[A2]", Some("[F1] is rare"), Fate::NotSettled),
    ] {
        let others = if score > 3.0 { 4.0 } else { 2.1 };
        let outcome = run(&[], &|ask, _, round| {
            let mut said = plain([&[2.0, score][..], &[others], &[others]][place(ask)], round);
            said["dimension_scores"]["feasibility"] =
                json!(if round == 1 { 1.0 + place(ask) as f64 } else { 3.0 });
            if place(ask) == 0 {
                if let (1, Some(_)) = (round, position) {
                    said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]);
                }
                if let (2, Some(why)) = (round, position) {
                    said["critical_positions"] =
                        json!([{"finding_id": "F1", "position": "withdraw", "reason": why}]);
                }
                if round == 2 {
                    said["change_reason"] = json!(reason);
                }
            }
            Some(said)
        });
        assert_eq!(outcome.termination, Termination::Consensus, "{what}");
        assert_eq!(fates(&outcome), [fate, Fate::Adopted, Fate::Adopted], "{what}");
        let told = &outcome.positions[0].reason;
        assert!(told.contains(&format!("In round 2: {reason}")), "{what}: {told}");
        assert!(position.is_none_or(|why| told.contains(why)), "{what}: {told}");
    }
}

/// "after each round a table".
#[test]
fn every_round_that_is_over_has_a_table() {
    let (records, debate) = run_log(brief(MODELS, &[]), &|ask, _, round| {
        (place(ask) != 1 || round != 2).then(|| plain([&[2.0, 3.0][..], &[3.5], &[5.0]][place(ask)], round))
    });
    let mut seen = Vec::new();
    for length in 1..=records.len() {
        let view = Panel.view(&Debate::from_records(&records[..length]).unwrap()).unwrap();
        seen.push(view.round_summaries.len());
    }
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3], "a table comes when the last judge of its round has answered");
    let tables = Panel.view(&debate).unwrap().round_summaries;
    assert_eq!(tables.iter().map(|table| table.after_phases).collect::<Vec<_>>(), [1, 2, 3]);
    let RoundSummary { title, rows, .. } = &tables[1];
    assert_eq!(title, "Round 2: mean 3.83, range 2.0, no consensus");
    assert_eq!(rows[0], ["Judge", "Stance", "Score", "Weighted"]);
    assert_eq!(rows[1], ["judge-1", "neutral", "3.0 (+1.0)", "3.0"]);
    assert_eq!(rows[2], ["judge-2", "for", "3.5 (carried)", "3.5"]);
}

/// What another protocol reads of a verdict is what its record says.
#[test]
fn a_verdict_reads_back_from_its_record() {
    for scores in [[4.0, 4.2, 4.4], [4.0, 4.5, 2.0], [3.0, 4.0, 5.0]] {
        let outcome = scored(&[], &[&scores[..1], &scores[1..2], &scores[2..]]);
        let verdict = verdict::PanelVerdict::deserialize(&outcome.verdict).unwrap();
        let decision = serde_json::to_value(&verdict.decision).unwrap();
        assert!(
            decision.as_object().unwrap().iter().all(|(key, value)| outcome.verdict[key] == *value),
            "{decision}"
        );
        assert_eq!(json!(verdict.status), outcome.verdict["status"]);
        assert_eq!(json!(verdict.weighted_score), outcome.verdict["weighted_score"]);
    }
    let lost = run(&[], &|ask, _, round| (place(ask) == 0).then(|| plain(&[4.0], round)));
    let verdict = verdict::PanelVerdict::deserialize(&lost.verdict).unwrap();
    assert!(matches!(verdict.decision, verdict::VerdictDecision::None(_)), "{verdict:?}");
}

mod absences;
mod critical_findings;
mod majority;
mod meaning;
mod positions;
mod prompts;
mod rapporteur;
mod report;
mod setup;
mod templates;
mod validation;
