//! "Positions: ... For plain text a change is what the seat declares (`revision`, `changed`), and first-round answers are grouped by
//! similarity and declared conflicts".

use agon_core::{PositionFlip, PositionGrouping, PositionHistory};

use super::*;

/// The labels that the seats of these tests always get.
fn label(seat: &str) -> String {
    let (_, debate) =
        run_brief(brief(MODELS, &[]), &|_, phase, round| plain(phase, round, &["no_change"], &[(0.1, 0.9)]));
    let labels = debate.outcome.unwrap().labels;
    labels.into_iter().find(|(_, other)| other == seat).unwrap().0
}

const MODELS: &[&str] = &["a/x", "b/y", "c/z"];
const FIRST: [&str; 3] = ["Tabs.", "tabs!", "Spaces. They stay where they are."];

fn first(seat: &str) -> Value {
    json!(FIRST[seat.trim_start_matches("debater-").parse::<usize>().unwrap() - 1])
}

/// A change of position, with what is given for it.
fn revised(revision: &str, position: &str, key_points: &[&str]) -> Value {
    let mut value = argument("no_change");
    value["revision"] = json!(revision);
    value["revised_position"] = json!(position);
    value["key_points"] = json!(key_points);
    value
}

/// The first answers, and in each round what is said; who says nothing special holds to its position.
fn debated(answer: String, said: &dyn Fn(&str, u32) -> Option<Value>) -> (Vec<LogRecord>, PositionHistory) {
    let (records, debate) = run_brief(brief(MODELS, &[]), &|ask, phase, round| match phase {
        "answer" => Some(first(&ask.seat)),
        "debate" => said(&ask.seat, round).or_else(|| Some(argument("no_change"))),
        "synthesis" => Some(json!({"answer": answer, "why": "Width.", "contested": []})),
        _ => plain(phase, round, &[], &[(0.1, 0.9)]),
    });
    (records, Deep.view(&debate).unwrap().positions)
}

fn flips(said: &dyn Fn(&str, u32) -> Option<Value>) -> Vec<PositionFlip> {
    debated("Tabs.".into(), said).1.flips()
}

/// The cited of the one change of position of a debate.
fn named(position: &str, key_points: &[&str]) -> Vec<String> {
    let all = flips(&|seat, round| {
        (seat == "debater-3" && round == 1).then(|| revised("major_revision", position, key_points))
    });
    assert_eq!(all.len(), 1);
    all[0].cited.clone()
}

#[test]
fn the_first_positions_are_the_answers_and_the_same_ones_have_one_name() {
    let (_, stands) = debated("Tabs.".into(), &|_, _| None);
    assert_eq!(stands.grouping, PositionGrouping::Similarity);
    let first = &stands.rounds[0];
    assert_eq!(first.round, 0);
    let seen: Vec<(&str, &str)> =
        first.stands.iter().map(|stand| (stand.seat.as_str(), stand.position.as_str())).collect();
    // Whoever is labelled first says it first.
    let tabs = if label("debater-1") < label("debater-2") { "Tabs." } else { "tabs!" };
    assert_eq!(seen, [("debater-1", tabs), ("debater-2", tabs), ("debater-3", "Spaces.")]);
    assert_eq!(first.ruling.as_deref(), Some(tabs), "the plurality");
    assert_eq!(stands.decided.as_deref(), Some(tabs), "by the same name");
    assert!(first.stands.iter().all(|stand| stand.confidence.is_none() && stand.change.is_none()));
    assert_eq!(first.stands[0].label, Some(label("debater-1")));
    assert_eq!(stands.rounds.iter().map(|held| held.round).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(stands.rounds[1].stands[0].confidence, Some(0.5));
    assert!(stands.flips().is_empty());
}

/// "A flip is `{round, seat, from, to, evidenced, toward_majority}`."
#[test]
fn a_bare_flip_and_an_evidenced_one_toward_the_majority_and_away() {
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
fn a_change_names_debaters_whose_points_it_takes_and_evidence() {
    let (own, other) = (label("debater-3"), label("debater-1"));
    assert_eq!(named("Tabs", &[&format!("{other}'s example holds")]), [format!("Debater {other}")]);
    assert_eq!(named("Tabs: https://example.org/tabs", &[]), ["https://example.org/tabs"]);
    assert_eq!(named("Tabs", &["RFC 678 asks for them"]), ["RFC 678"]);
    for bare in
        [format!("Debater {own} said so before"), format!("Debater {other} is wrong"), "All agree".into()]
    {
        assert_eq!(named("Tabs", &[&bare]), [""; 0], "{bare}");
    }
}

/// A counterpoint argues against another: its target is no reason to change. What others held against the seat before, and it now
/// says itself, is one.
#[test]
fn counterpoints_count_where_their_words_are_taken_up() {
    let (own, other) = (label("debater-3"), label("debater-1"));
    let counter = |to: &str| json!([{"target": format!("Debater {to}"), "point": "Screen readers announce every single blank.", "evidence": ""}]);
    let argue = |taken: &'static str| {
        let (own, other) = (own.clone(), other.clone());
        flips(&move |seat, round| match (seat, round) {
            ("debater-1", 1) => {
                let mut value = argument("no_change");
                value["counterpoints"] = counter(&own);
                Some(value)
            }
            ("debater-3", 2) => {
                let mut value = revised("major_revision", taken, &[]);
                value["counterpoints"] = counter(&other);
                Some(value)
            }
            _ => None,
        })
    };
    let taken = argue("Tabs, because screen readers announce blanks one by one.");
    assert_eq!(taken[0].cited, [format!("Debater {other}'s point")]);
    assert!(!argue("Tabs after all.")[0].evidenced);
}

/// "revision is not no_change and there is a new position whose words differ".
#[test]
fn a_change_needs_other_words_and_a_minor_one_keeps_its_name() {
    assert!(flips(&|seat, _| (seat == "debater-1").then(|| revised("minor_update", "TABS", &[]))).is_empty());
    // Declared or not, the same position under the same name is no change of mind.
    let minor = |position: &'static str| {
        let all = flips(&|seat, round| {
            (seat == "debater-1" && round == 1).then(|| revised("minor_update", position, &[]))
        });
        all.is_empty()
    };
    assert!(minor("Tabs everywhere, with a file that says how wide they are."));
    assert!(!minor("Spaces."), "whatever it is called");
}

#[test]
fn who_is_absent_keeps_its_stand_and_who_never_spoke_is_not_listed() {
    let (_, debate) =
        run_brief(brief(MODELS, &[]), &|ask, phase, round| match (phase, ask.seat.as_str(), round) {
            (_, "debater-2", _) | ("debate", "debater-3", 2) => None,
            ("answer", seat, _) => Some(first(seat)),
            ("debate", "debater-3", 1) => Some(revised("major_revision", "Both.", &[])),
            _ => plain(phase, round, &["no_change"], &[(0.1, 0.9)]),
        });
    let stands = Deep.view(&debate).unwrap().positions;
    for held in &stands.rounds {
        assert_eq!(
            held.stands.iter().map(|stand| stand.seat.as_str()).collect::<Vec<_>>(),
            ["debater-1", "debater-3"]
        );
    }
    let [.., one, two] = stands.rounds.as_slice() else { panic!("{stands:?}") };
    assert!(one.stands[1].change.is_some());
    assert_eq!((two.stands[1].position.as_str(), &two.stands[1].change), ("Both.", &None));
    assert_eq!(two.stands[1].confidence, Some(0.5), "the last that it gave");
    assert_eq!(one.ruling, None, "one each");
}

#[test]
fn a_debate_that_is_not_over_has_stands_and_no_verdict() {
    let (records, whole) = debated("Tabs.".into(), &|_, _| None);
    let until = |event: &dyn Fn(&agon_core::Event) -> bool| {
        let end = records.iter().position(|record| event(&record.entry.event)).unwrap();
        Deep.view(&Debate::from_records(&records[..end]).unwrap()).unwrap().positions
    };
    let asked = |phase: &'static str| {
        move |event: &agon_core::Event| {
            serde_json::to_value(event).unwrap().to_string().contains(&format!("\"{phase}\""))
        }
    };
    let first = until(&asked("debate"));
    assert_eq!((first.rounds.len(), &first.decided), (1, &None));
    assert_eq!(first.rounds[0], whole.rounds[0]);
    let rounds = until(&asked("synthesis"));
    assert_eq!((&rounds.rounds, &rounds.decided), (&whole.rounds, &None));
    assert_eq!(until(&asked("answer")).rounds, []);
}

/// What the answer is: the position that it adopts, the one whose words it has, or none of them.
#[test]
fn the_verdict_has_the_name_of_the_position_that_it_adopts() {
    let decided = |answer: &str| debated(answer.into(), &|_, _| None).1.decided.unwrap();
    assert_eq!(decided("Spaces. They stay where they are."), "Spaces.");
    assert_eq!(decided("Neither: write it in one line."), "Neither: write it in one line.");
    // Nobody holds to its first answer, and all end with other words.
    let all = debated("So it is both, each in its files.".into(), &|_, round| {
        (round == 1).then(|| revised("major_revision", "Both, each in its files.", &[]))
    });
    assert_eq!(all.1.decided.as_deref(), Some("Both, each in its files."));
    assert_eq!(all.1.rounds[1].ruling, all.1.decided);
}

/// "first-round answers are grouped by similarity and declared conflicts".
#[test]
fn long_answers_that_are_alike_are_one_unless_a_debater_says_otherwise() {
    let long = "Adopt the queue: the team writes down what it does, tells everybody a week before, looks at the figures again";
    let names = |conflict: bool| {
        let (one, two) = (label("debater-1"), label("debater-2"));
        let (_, debate) =
            run_brief(brief(MODELS, &[]), &|ask, phase, round| match (phase, ask.seat.as_str()) {
                ("answer", "debater-1") => Some(json!(format!("{long}."))),
                ("answer", "debater-2") => Some(json!(format!("{long}, as agreed."))),
                ("debate", "debater-2") if conflict => {
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
    assert_eq!((names(false), names(true)), (2, 3));
}

/// Standard mode: the evaluators are judges of the same answers.
#[test]
fn the_evaluations_are_marks() {
    let (_, debate) = run_brief(brief(MODELS, &[("mode", "standard")]), &|ask, phase, round| match phase {
        "evaluate" => Some(evaluation(if ask.seat == "debater-1" { 9.0 } else { 4.0 }, false, false)),
        _ => plain(phase, round, &[], &[]),
    });
    let stands = Deep.view(&debate).unwrap().positions;
    let judges: Vec<&str> = stands.marks.iter().map(|marks| marks.judge.as_str()).collect();
    assert_eq!(judges, ["debater-1", "debater-2", "debater-3"]);
    let mut others = vec![label("debater-2"), label("debater-3")];
    others.sort();
    let given: Vec<(&str, f64)> =
        stands.marks[0].scores.iter().map(|(to, score)| (to.as_str(), *score)).collect();
    assert_eq!(given.iter().map(|(to, _)| *to).collect::<Vec<_>>(), others);
    assert!(given.iter().all(|(_, score)| (score - 9.0).abs() < 1e-9), "{given:?}");
    assert_eq!((stands.rounds.len(), stands.rounds[0].stands.len()), (1, 3));
}
