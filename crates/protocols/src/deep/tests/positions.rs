//! "Positions: ... For plain text a change is what the seat declares (`revision`, `changed`), and first-round answers are grouped by
//! similarity and declared conflicts".

use agon_core::{PositionFlip, PositionGrouping, PositionHistory};

use super::*;

/// The label of a seat, which is the same in all of these tests.
fn label(seat: &str) -> String {
    let (_, debate) =
        run_brief(brief(MODELS, &[]), &|_, phase, round| plain(phase, round, &["no_change"], &[(0.1, 0.9)]));
    let labels = debate.outcome.unwrap().labels;
    labels.into_iter().find(|(_, other)| other == seat).unwrap().0
}

const MODELS: &[&str] = &["a/x", "b/y", "c/z"];
const FIRST_ANSWERS: [&str; 3] = ["Tabs.", "tabs!", "Spaces. They stay where they are."];

fn first_answer(seat: &str) -> Value {
    json!(FIRST_ANSWERS[seat.trim_start_matches("debater-").parse::<usize>().unwrap() - 1])
}

/// An argument that revises the position, with these key points.
fn revised(revision: &str, position: &str, key_points: &[&str]) -> Value {
    let mut value = argument("no_change");
    value["revision"] = json!(revision);
    value["revised_position"] = json!(position);
    value["key_points"] = json!(key_points);
    value
}

/// Plays a debate with the chair's answer and the arguments that `argue` returns by seat and round. A debater without an argument
/// keeps its position.
fn debate_with(
    answer: String,
    argue: &dyn Fn(&str, u32) -> Option<Value>,
) -> (Vec<LogRecord>, PositionHistory) {
    let (records, debate) = run_brief(brief(MODELS, &[]), &|ask, phase, round| match phase {
        "answer" => Some(first_answer(&ask.seat)),
        "debate" => argue(&ask.seat, round).or_else(|| Some(argument("no_change"))),
        "synthesis" => Some(json!({"answer": answer, "why": "Width.", "contested": []})),
        _ => plain(phase, round, &[], &[(0.1, 0.9)]),
    });
    (records, Deep.view(&debate).unwrap().positions)
}

fn flips(argue: &dyn Fn(&str, u32) -> Option<Value>) -> Vec<PositionFlip> {
    debate_with("Tabs.".into(), argue).1.flips()
}

/// What debater 3 cites for a change to this position, with these key points.
fn cited_for(position: &str, key_points: &[&str]) -> Vec<String> {
    let all = flips(&|seat, round| {
        (seat == "debater-3" && round == 1).then(|| revised("major_revision", position, key_points))
    });
    assert_eq!(all.len(), 1);
    all[0].cited.clone()
}

#[test]
fn the_first_positions_are_the_answers_and_equal_answers_have_one_name() {
    let (_, history) = debate_with("Tabs.".into(), &|_, _| None);
    assert_eq!(history.grouping, PositionGrouping::Similarity);
    let first = &history.rounds[0];
    assert_eq!(first.round, 0);
    let seen: Vec<(&str, &str)> =
        first.stands.iter().map(|held| (held.seat.as_str(), held.position.as_str())).collect();
    // The position is named after the debater whose label comes first.
    let tabs = if label("debater-1") < label("debater-2") { "Tabs." } else { "tabs!" };
    assert_eq!(seen, [("debater-1", tabs), ("debater-2", tabs), ("debater-3", "Spaces.")]);
    assert_eq!(first.ruling.as_deref(), Some(tabs), "the plurality");
    assert_eq!(history.decided.name(), Some(tabs), "by the same name");
    assert!(first.stands.iter().all(|held| held.confidence.is_none() && held.change.is_none()));
    assert_eq!(first.stands[0].label, Some(label("debater-1")));
    assert_eq!(history.rounds.iter().map(|round| round.round).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(history.rounds[1].stands[0].confidence, Some(0.5));
    assert!(history.flips().is_empty());
}

/// "A flip is `{round, seat, from, to, evidenced, toward_majority}`."
#[test]
fn flips_are_bare_or_evidenced_and_lead_to_the_majority_or_away() {
    let other = format!("Debater {} showed that diffs break.", label("debater-3"));
    let all = flips(&|seat, round| match (seat, round) {
        ("debater-3", 1) => Some(revised("major_revision", "Tabs", &["I was persuaded."])),
        ("debater-1", 2) => Some(revised("major_revision", "Spaces. They stay where they are.", &[&other])),
        _ => None,
    });
    let seen = all.iter().map(|f| (f.round, f.seat.as_str(), f.to.as_str(), f.evidenced, f.toward_majority));
    let tabs = all[0].to.as_str();
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [(1, "debater-3", tabs, false, true), (2, "debater-1", "Spaces.", true, false)]
    );
    assert_eq!((all[0].from.as_str(), all[1].from.as_str()), ("Spaces.", tabs));
    assert_eq!(all[1].cited, [format!("Debater {}", label("debater-3"))]);
}

#[test]
fn a_change_cites_evidence_and_the_debaters_whose_points_it_adopts() {
    let (own, other) = (label("debater-3"), label("debater-1"));
    assert_eq!(cited_for("Tabs", &[&format!("{other}'s example holds")]), [format!("Debater {other}")]);
    assert_eq!(cited_for("Tabs: https://example.org/tabs", &[]), ["https://example.org/tabs"]);
    assert_eq!(cited_for("Tabs", &["RFC 678 asks for them"]), ["RFC 678"]);
    for bare in
        [format!("Debater {own} said so before"), format!("Debater {other} is wrong"), "All agree".into()]
    {
        assert_eq!(cited_for("Tabs", &[&bare]), [""; 0], "{bare}");
    }
}

/// A debater's own counterpoint argues against another, so it is no reason to change. An earlier counterpoint against the debater
/// is a reason if the debater now uses its words.
#[test]
fn an_earlier_counterpoint_counts_if_the_change_uses_its_words() {
    let (own, other) = (label("debater-3"), label("debater-1"));
    let counter = |to: &str| json!([{"target": format!("Debater {to}"), "point": "Screen readers announce every single blank.", "evidence": ""}]);
    let flips_to = |position: &'static str| {
        let (own, other) = (own.clone(), other.clone());
        flips(&move |seat, round| match (seat, round) {
            ("debater-1", 1) => {
                let mut value = argument("no_change");
                value["counterpoints"] = counter(&own);
                Some(value)
            }
            ("debater-3", 2) => {
                let mut value = revised("major_revision", position, &[]);
                value["counterpoints"] = counter(&other);
                Some(value)
            }
            _ => None,
        })
    };
    let convinced = flips_to("Tabs, because screen readers announce blanks one by one.");
    assert_eq!(convinced[0].cited, [format!("Debater {other}'s point")]);
    assert!(!flips_to("Tabs after all.")[0].evidenced);
}

/// "revision is not no_change and there is a new position whose words differ".
#[test]
fn a_change_requires_new_words_and_a_minor_one_keeps_the_name() {
    assert!(flips(&|seat, _| (seat == "debater-1").then(|| revised("minor_update", "TABS", &[]))).is_empty());
    // An update that keeps the name of the position is no flip.
    let keeps_name = |position: &'static str| {
        let all = flips(&|seat, round| {
            (seat == "debater-1" && round == 1).then(|| revised("minor_update", position, &[]))
        });
        all.is_empty()
    };
    assert!(keeps_name("Tabs everywhere, with a file that says how wide they are."));
    assert!(!keeps_name("Spaces."), "it is another position although it is called a minor update");
}

#[test]
fn an_absent_debater_keeps_its_position_and_a_silent_one_is_not_listed() {
    let (_, debate) =
        run_brief(brief(MODELS, &[]), &|ask, phase, round| match (phase, ask.seat.as_str(), round) {
            (_, "debater-2", _) | ("debate", "debater-3", 2) => None,
            ("answer", seat, _) => Some(first_answer(seat)),
            ("debate", "debater-3", 1) => Some(revised("major_revision", "Both.", &[])),
            _ => plain(phase, round, &["no_change"], &[(0.1, 0.9)]),
        });
    let history = Deep.view(&debate).unwrap().positions;
    for round in &history.rounds {
        let seats: Vec<&str> = round.stands.iter().map(|held| held.seat.as_str()).collect();
        assert_eq!(seats, ["debater-1", "debater-3"]);
    }
    let [.., one, two] = history.rounds.as_slice() else { panic!("{history:?}") };
    assert!(one.stands[1].change.is_some());
    assert_eq!((two.stands[1].position.as_str(), &two.stands[1].change), ("Both.", &None));
    assert_eq!(two.stands[1].confidence, Some(0.5), "the last confidence that it stated");
    assert_eq!(one.ruling, None, "a tie");
}

#[test]
fn an_unfinished_debate_has_positions_and_no_decision() {
    let (records, whole) = debate_with("Tabs.".into(), &|_, _| None);
    let positions_before = |phase: &str| {
        let names_phase = |event: &agon_core::Event| {
            serde_json::to_value(event).unwrap().to_string().contains(&format!("\"{phase}\""))
        };
        let end = records.iter().position(|record| names_phase(&record.entry.event)).unwrap();
        Deep.view(&Debate::from_records(&records[..end]).unwrap()).unwrap().positions
    };
    let first = positions_before("debate");
    assert_eq!((first.rounds.len(), &first.decided), (1, &None));
    assert_eq!(first.rounds[0], whole.rounds[0]);
    let rounds = positions_before("synthesis");
    assert_eq!((&rounds.rounds, &rounds.decided), (&whole.rounds, &None));
    assert_eq!(positions_before("answer").rounds, []);
}

/// The chair's answer is the position that it adopts, the position whose words it uses, or a new one.
#[test]
fn the_decision_has_the_name_of_the_adopted_position() {
    let decided = |answer: &str| debate_with(answer.into(), &|_, _| None).1.decided.unwrap();
    assert_eq!(decided("Spaces. They stay where they are."), "Spaces.");
    assert_eq!(decided("Neither: write it in one line."), "Neither: write it in one line.");
    // Every debater gives up its first answer, and all end with the same new position.
    let all = debate_with("So it is both, each in its files.".into(), &|_, round| {
        (round == 1).then(|| revised("major_revision", "Both, each in its files.", &[]))
    });
    assert_eq!(all.1.decided.name(), Some("Both, each in its files."));
    assert_eq!(all.1.rounds[1].ruling, all.1.decided);
}

/// "first-round answers are grouped by similarity and declared conflicts".
#[test]
fn similar_long_answers_are_one_position_unless_a_debater_objects() {
    let long = "Adopt the queue: the team writes down what it does, tells everybody a week before, looks at the figures again";
    let position_count = |has_objection: bool| {
        let (one, two) = (label("debater-1"), label("debater-2"));
        let (_, debate) =
            run_brief(brief(MODELS, &[]), &|ask, phase, round| match (phase, ask.seat.as_str()) {
                ("answer", "debater-1") => Some(json!(format!("{long}."))),
                ("answer", "debater-2") => Some(json!(format!("{long}, as agreed."))),
                ("debate", "debater-2") if has_objection => {
                    assert_ne!(one, two);
                    let mut value = argument("no_change");
                    value["counterpoints"] =
                        json!([{"target": format!("Debater {one}"), "point": "Too early.", "evidence": ""}]);
                    Some(value)
                }
                _ => plain(phase, round, &["no_change"], &[(0.1, 0.9)]),
            });
        Deep.view(&debate).unwrap().positions.rounds[0].distinct().len()
    };
    assert_eq!((position_count(false), position_count(true)), (2, 3));
}

/// The evaluators of standard mode are judges of the same answers.
#[test]
fn the_evaluations_are_reported_as_marks() {
    let (_, debate) = run_brief(brief(MODELS, &[("mode", "standard")]), &|ask, phase, round| match phase {
        "evaluate" => Some(evaluation(if ask.seat == "debater-1" { 9.0 } else { 4.0 }, false, false)),
        _ => plain(phase, round, &[], &[]),
    });
    let history = Deep.view(&debate).unwrap().positions;
    let judges: Vec<&str> = history.marks.iter().map(|marks| marks.judge.as_str()).collect();
    assert_eq!(judges, ["debater-1", "debater-2", "debater-3"]);
    let mut others = vec![label("debater-2"), label("debater-3")];
    others.sort();
    let given: Vec<(&str, f64)> =
        history.marks[0].scores.iter().map(|(to, score)| (to.as_str(), *score)).collect();
    assert_eq!(given.iter().map(|(to, _)| *to).collect::<Vec<_>>(), others);
    assert!(given.iter().all(|(_, score)| (score - 9.0).abs() < 1e-9), "{given:?}");
    assert_eq!((history.rounds.len(), history.rounds[0].stands.len()), (1, 3));
}
