//! The rules of `poll`: one round, and the most common answer wins.

use agon_core::{Brief, Fate, Fidelity, Outcome, Status, Termination};
use serde_json::json;

use super::*;
use crate::testing::{self, Answer as TestAnswer};

const QUESTION: &str = "Which is the capital of France?\nA) Lyon\nB) Paris\nC) Nice";

fn request(models: &[&str], set: &[(&str, &str)]) -> Result<Request, Invalid> {
    testing::request(&Poll, QUESTION, &[], models, set)
}

fn brief(models: &[&str], set: &[(&str, &str)]) -> Brief {
    testing::brief(&Poll, request(models, set).unwrap()).unwrap()
}

fn debate(brief: Brief, answer: TestAnswer<'_>) -> Debate {
    testing::run(&Poll, brief, answer).1
}

/// A poll with one seat for each of these answers. An empty answer means that the seat is absent.
fn poll_of(answers: &[&str]) -> Debate {
    let seats = answers.len().to_string();
    debate(brief(&["a/x"], &[("seats", &seats)]), &|ask, _, _| {
        let place = ask.seat.trim_start_matches("voter-").parse::<usize>().unwrap() - 1;
        let answer = answers[place];
        (!answer.is_empty())
            .then(|| json!({"why": format!("{} thinks so", ask.seat), "answer": answer, "confidence": 0.5}))
    })
}

fn outcome(answers: &[&str]) -> Outcome {
    poll_of(answers).outcome.unwrap()
}

/// "plurality over answers that are the same"; "more than half `majority`, all `consensus`"; "plurality wins, `share` says how
/// much"; "ties broken by nothing: `answer` null, `tied` lists them, termination `no_majority`".
#[test]
fn the_most_common_answer_wins_and_a_tie_has_no_answer() {
    for (answers, answer, share, termination, by, tied) in [
        (&["B", "b)", "Paris"][..], Some("B"), Some(1.0), Termination::Consensus, Some("consensus"), 0),
        (
            &["Lyon", "B", "The answer is Paris."],
            Some("B"),
            Some(2.0 / 3.0),
            Termination::Majority,
            Some("majority"),
            0,
        ),
        (&["A", "B", "B", "C", "Rome"], Some("B"), Some(0.4), Termination::NoMajority, Some("plurality"), 0),
        (&["A", "B", "B", "A", "C"], None, None, Termination::NoMajority, None, 2),
        (&["A", "B"], None, None, Termination::NoMajority, None, 2),
        (&["42"], Some("42"), Some(1.0), Termination::Consensus, Some("consensus"), 0),
    ] {
        let outcome = outcome(answers);
        let verdict = &outcome.verdict;
        assert_eq!((outcome.termination, outcome.status), (termination, Status::Complete), "{answers:?}");
        assert_eq!((verdict["answer"].as_str(), verdict["share"].as_f64()), (answer, share), "{answers:?}");
        assert_eq!(verdict["decided_by"].as_str(), by, "{answers:?}");
        assert_eq!(verdict["tied"].as_array().unwrap().len(), tied, "{answers:?}");
        assert_eq!((outcome.rounds_completed, outcome.fidelity, outcome.passed), (1, Fidelity::Full, None));
    }
}

/// "Outcome.positions with fates, dissent conserved."
#[test]
fn every_answer_is_adopted_or_dissent() {
    let fates =
        |answers: &[&str]| -> Vec<Fate> { outcome(answers).positions.iter().map(|p| p.fate).collect() };
    assert_eq!(fates(&["A", "B", "B"]), [Fate::Minority, Fate::Adopted, Fate::Adopted]);
    assert_eq!(fates(&["A", "B"]), [Fate::Minority, Fate::Minority]);
    let outcome = outcome(&["Lyon", "B", "B"]);
    assert_eq!(
        outcome.dissent,
        [json!({"seat": "voter-1", "position": "Lyon",
        "reason": "1 of 3 gave this answer, 2 gave \"B\""})]
    );
}

/// "Absences are data; nobody answers: `quorum_lost`, incomplete."
#[test]
fn absent_seats_do_not_count_and_a_poll_without_votes_has_no_answer() {
    let one = outcome(&["", "B", ""]);
    assert_eq!(
        (one.termination, one.status, one.fidelity),
        (Termination::Consensus, Status::Complete, Fidelity::Degraded)
    );
    assert_eq!((&one.verdict["answered"], &one.verdict["seats"]), (&json!(1), &json!(3)));
    let none = outcome(&["", "", ""]);
    assert_eq!((none.termination, none.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!(
        (&none.verdict["answer"], &none.verdict["tied"], none.rounds_completed),
        (&Value::Null, &json!([]), 0)
    );
    assert!(none.positions.is_empty());
}

/// "N seats (1 to 15, default 3; models cycle, `--set seats=N`)".
#[test]
fn models_take_seats_in_turn_and_every_named_model_gets_one() {
    let seated = |models: &[&str], set: &[(&str, &str)]| -> Result<String, Invalid> {
        let seats = Poll.seats(&request(models, set)?)?;
        Ok(seats.iter().map(|seat| seat.model.as_str()).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(seated(&["a/x"], &[]).unwrap(), "a/x a/x a/x");
    assert_eq!(seated(&["a/x", "b/y"], &[]).unwrap(), "a/x b/y");
    assert_eq!(seated(&["a/x", "b/y"], &[("seats", "5")]).unwrap(), "a/x b/y a/x b/y a/x");
    assert_eq!(seated(&["a/x"], &[("seats", "1")]).unwrap(), "a/x");
    for (models, set, why) in [
        (&["a/x", "b/y"][..], &[("seats", "1")][..], "each must answer"),
        (&["a/x"], &[("seats", "16")], "1 to 15"),
        (&["a/x"], &[("seats", "0")], "1 to 15"),
        (&["a/x"; 16], &[], "1 to 15"),
        (&[], &[], "at least one model"),
    ] {
        let found = seated(models, set).unwrap_err().0;
        assert!(found.contains(why), "{found}");
    }
    let mut empty = request(&["a/x"], &[]).unwrap();
    empty.question = " \n".into();
    assert!(Poll.seats(&empty).unwrap_err().0.contains("empty"));
}

/// "independently in one round": all seats read the same prompt, in which the question and the files are quoted.
#[test]
fn all_seats_read_the_same_prompt_once() {
    let request =
        testing::request(&Poll, QUESTION, &[("map.txt", "Paris is on it.")], &["a/x", "b/y"], &[]).unwrap();
    let brief = testing::brief(&Poll, request).unwrap();
    let (debate, _) = Debate::open(brief).unwrap();
    let Step::Ask(phase, asks) = Poll.next(&debate).unwrap() else { panic!("the first step is an ask") };
    assert_eq!((phase.name.as_str(), phase.round, asks.len()), ("answer", 1, 2));
    assert_eq!(asks[0].prompt, asks[1].prompt);
    let text = asks[0].prompt.user();
    let quoted: Vec<String> =
        agon_core::quotations(&text).into_iter().map(|quoted| quoted.text.to_string()).collect();
    assert_eq!(quoted, [QUESTION, "Paris is on it."]);
    let fields = asks[0].schema.as_ref().unwrap().json["properties"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["why", "answer", "confidence"]);
}

#[test]
fn an_empty_answer_is_rejected() {
    let (debate, _) = Debate::open(brief(&["a/x"], &[])).unwrap();
    let Step::Ask(_, asks) = Poll.next(&debate).unwrap() else { panic!("the first step is an ask") };
    let check = |answer: &str| {
        Poll.check(&debate, &asks[0], &json!({"why": "", "answer": answer, "confidence": 1.0}))
    };
    assert!(check(" \n").unwrap_err().contains("must not be empty"));
    assert!(check("B").is_ok());
}

/// "A limit on everything": the answers within the limit count, and the outcome names the limit.
#[test]
fn a_limit_that_keeps_seats_from_answering_is_named() {
    use agon_core::{AbsenceReason, DebateLimits, Reply};
    let run = |present: usize| {
        let mut brief = brief(&["a/x"], &[]);
        brief.limits = DebateLimits { calls: Some(1), ..DebateLimits::default() };
        let mut asked = 0;
        let mut answer = |debate: &Debate, ask: &Ask| {
            asked += 1;
            match asked <= present {
                true => agon_core::play::invent(&Poll, debate, ask, 1),
                false => {
                    Reply::Absent { why: AbsenceReason::OverBudget, detail: "the limit of 1 call".into() }
                }
            }
        };
        let records = vec![Debate::open(brief).unwrap().1];
        let records = agon_core::play::play(&Poll, records, &mut answer, &mut |_| {}).unwrap();
        Debate::from_records(&records).unwrap().outcome.unwrap()
    };
    let (some, none) = (run(1), run(0));
    assert_eq!((some.termination, some.status), (Termination::Budget, Status::Complete));
    assert_eq!((none.termination, none.status), (Termination::Budget, Status::Incomplete));
    assert!(some.warnings[0].contains("the limit of 1 call"), "{:?}", some.warnings);
}

/// "implement it for poll (discrete)": equal answers have one name.
#[test]
fn equal_answers_are_one_position() {
    let positions = Poll.view(&poll_of(&["Paris", "b", "Lyon"])).unwrap().positions;
    assert_eq!((positions.grouping, positions.rounds.len()), (agon_core::PositionGrouping::Discrete, 1));
    let names: Vec<&str> = positions.rounds[0].stands.iter().map(|seat| seat.position.as_str()).collect();
    assert_eq!(names, ["Paris", "Paris", "Lyon"]);
    assert_eq!((positions.rounds[0].plurality(), positions.decided.name()), (Some("Paris"), Some("Paris")));
    assert_eq!(Poll.view(&poll_of(&["A", "B"])).unwrap().positions.decided, None);
    assert!(Poll.view(&poll_of(&["", ""])).unwrap().positions.rounds.is_empty());
}
