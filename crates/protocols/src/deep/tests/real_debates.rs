//! Two real debates, with the declarations that a careful reader of them makes. `about` in each file says what is true of it.

use agon_core::{Fate, SeededDraw};

use super::*;

/// A transcript of a debate.
struct RealDebate {
    transcript: Value,
    seed: u64,
}

impl RealDebate {
    fn read(text: &str) -> Self {
        let transcript: Value = serde_json::from_str(text).unwrap();
        let labels: BTreeMap<String, String> = serde_json::from_value(transcript["labels"].clone()).unwrap();
        let wanted: Vec<&String> = labels.values().collect();
        let seed = (0..).find(|seed| {
            let mut seats = ["debater-1", "debater-2", "debater-3"];
            SeededDraw::new(*seed, "labels").shuffle(&mut seats);
            seats.iter().eq(wanted.iter())
        });
        Self { transcript, seed: seed.unwrap() }
    }

    /// Plays the debate. `declare` adds what a seat declares, by phase, round and label or seat.
    fn play(&self, set: &[(&str, &str)], declare: &dyn Fn(&str, u32, &str, &mut Value)) -> Debate {
        let mut brief = brief(MODELS, set);
        brief.question = self.transcript["question"].as_str().unwrap().into();
        brief.seed = self.seed;
        let (_, debate) = run_brief(brief, &|ask, phase, round| {
            let replies = self.transcript["replies"].as_array().unwrap();
            let is_it = |reply: &&Value| {
                reply["seat"] == ask.seat.as_str() && reply["phase"] == phase && reply["round"] == round
            };
            let mut value = replies.iter().find(is_it).unwrap()["reply"].clone();
            if value.is_object() {
                declare(phase, round, ask.label.as_deref().unwrap_or(&ask.seat), &mut value);
            }
            Some(if phase == "synthesis" { with_listed_ids(ask, value) } else { value })
        });
        debate
    }
}

fn positions(groups: &[(&str, &[(&str, &str)])]) -> Value {
    let member = |(debater, quote): &(&str, &str)| json!({"debater": debater, "quote": quote});
    let group = |(statement, members): &(&str, &[(&str, &str)])| json!({"statement": statement, "members": members.iter().map(member).collect::<Vec<_>>()});
    groups.iter().map(group).collect()
}

/// What a careful reader of the English debate declares in the seats' place.
fn declare_english(phase: &str, round: u32, who: &str, value: &mut Value) {
    match (phase, round, who) {
        ("debate", 2, "Debater B") => {
            value["changed_because"] = json!([
                {"id": "X7", "quote": "argues for recording, not for sourcing state from the record"},
                {"id": "A3", "quote": "the event stream is an audit log beside a set of tables"},
            ]);
        }
        ("moderate", 1, _) => {
            let apart = |a: &'static str| {
                positions(&[
                    (
                        "No event sourcing: ordinary tables with an append-only record.",
                        &[("Debater A", a), ("Debater C", "plain tables are enough")],
                    ),
                    (
                        "Event-source the billing core.",
                        &[("Debater B", "event-source the billing core, in the same Postgres database")],
                    ),
                ])
            };
            value["first_positions"] = apart("do not make event sourcing the system of record");
            value["positions"] = apart("Do not make an event stream the source of truth");
        }
        ("moderate", 2 | 3, _) => {
            let a =
                if round == 2 { "Do not derive state from the change log" } else { "enforced by a trigger" };
            value["positions"] = positions(&[(
                "Tables are the source of truth, with a log of changes in the same transaction.",
                &[
                    ("Debater A", a),
                    ("Debater B", "Keep ordinary tables as the source of truth"),
                    (
                        "Debater C",
                        "ordinary tables as the source of truth and a change log in the same transaction",
                    ),
                ],
            )]);
        }
        ("synthesis", ..) => {
            value["fates"] =
                json!([{"position": "P1", "fate": "adopted", "reason": "All three ended there."}])
        }
        _ => {}
    }
}

/// "Three debaters end at nearly one design; one changes its mind in round 2 for stated reasons; first answers are 2:1."
#[test]
fn an_english_debate_is_reported_as_it_was() {
    let real = RealDebate::read(include_str!("english.json"));
    let debate = real.play(&[], &declare_english);
    let (outcome, view) = (debate.outcome.as_ref().unwrap(), Deep.view(&debate).unwrap());
    assert_eq!(outcome.termination, Termination::MaxRounds);
    assert_eq!(
        view.headline.ending,
        "The debaters agree and still add points. The limit of 3 rounds was reached."
    );
    let agreement: Vec<Option<f64>> =
        view.positions.rounds.iter().map(|round| round.pairs_agreeing(None)).collect();
    assert_eq!(agreement, [Some(1.0 / 3.0), Some(1.0 / 3.0), Some(1.0), Some(1.0)]);
    let flips = view.positions.flips();
    assert_eq!(flips.len(), 1, "{flips:?}");
    let flip = &flips[0];
    assert_eq!(
        (flip.round, flip.seat.as_str(), flip.evidenced, flip.toward_majority),
        (2, "debater-2", true, Some(true))
    );
    assert_eq!(flip.cited.len(), 2);
    assert!(flip.cited[0].starts_with("[X7] of Debater C: \"argues for recording"), "{:?}", flip.cited);
    assert_eq!(outcome.dissent, [json!(null); 0]);
    let fate =
        |label: &str| outcome.positions.iter().find(|held| held.label.as_deref() == Some(label)).unwrap();
    assert_eq!(["A", "B", "C"].map(|label| fate(label).fate), [Fate::Adopted, Fate::Refuted, Fate::Adopted]);
    assert!(fate("B").reason.starts_with("in round 2, citing [X7] of Debater C"), "{}", fate("B").reason);
    assert_eq!(view.positions.decided.name(), view.positions.rounds[3].ruling.as_deref());
    let told: Vec<&String> =
        outcome.warnings.iter().filter(|warning| warning.contains("would stop")).collect();
    assert_eq!(told, ["round 2: the moderator would stop, but its own scores do not reach the thresholds"]);
    assert_eq!(outcome.warnings.len(), 1, "{:?}", outcome.warnings);
}

/// "German. One debater holds out to the end; the first answers are 2:1 Nein." With a threshold that the moderator's score reaches, the
/// debate converges, and the holdout is in the dissent all the same.
#[test]
fn a_german_holdout_stays_in_the_dissent_even_if_the_debate_converges() {
    let real = RealDebate::read(include_str!("german.json"));
    for (set, termination, ended) in [
        (&[("min_rounds", "3")][..], Termination::MaxRounds, "The limit of 3 rounds was reached."),
        (
            &[("min_rounds", "3"), ("agreement_score", "0.5"), ("new_points_ratio", "0.6")],
            Termination::Converged,
            "The debate converged after 3 rounds.",
        ),
    ] {
        let debate = real.play(set, &|phase, round, _, value| match (phase, round) {
            ("moderate", round) => {
                let groups = |a: &'static str, b: &'static str, c: &'static str| {
                    positions(&[
                        ("Ja, den ganzen Stadtkern sperren.", &[("Debater A", a)]),
                        ("Nein, nicht komplett.", &[("Debater B", b), ("Debater C", c)]),
                    ])
                };
                let (yes, no) = ("vollst\u{e4}ndig sperren", "Nein zur vollst\u{e4}ndigen Sperrung");
                value["positions"] = match round {
                    1 => groups(yes, no, "Nein, nicht komplett"),
                    _ => groups(
                        "Der ganze Stadtkern wird f\u{fc}r private Autos gesperrt",
                        "Nein zur kompletten Sperrung",
                        "Nein, nicht komplett",
                    ),
                };
                if round == 1 {
                    value["first_positions"] = groups(yes, no, "Nein, nicht komplett");
                }
            }
            ("synthesis", _) => {
                value["fates"] = json!([
                {"position": "P1", "fate": "rejected", "reason": "Ein unbedingtes Ja tr\u{e4}gt nicht."},
                {"position": "P2", "fate": "adopted", "reason": "Die Antwort folgt ihr."}])
            }
            _ => {}
        });
        let (outcome, view) = (debate.outcome.as_ref().unwrap(), Deep.view(&debate).unwrap());
        assert_eq!(outcome.termination, termination);
        assert_eq!(
            view.headline.ending,
            format!("The debaters do not agree: they hold 2 positions. {ended}")
        );
        assert!(view.positions.flips().is_empty(), "minor updates are no changes of mind");
        assert_eq!(view.positions.rounds[0].ruling.as_deref(), Some("Nein, nicht komplett."), "2:1");
        let [dissent] = outcome.dissent.as_slice() else { panic!("{:?}", outcome.dissent) };
        assert_eq!((&dissent["debater"], &dissent["fate"]), (&json!("A"), &json!("rejected")));
        assert!(dissent["position"].as_str().unwrap().starts_with("Ja. Der ganze Stadtkern wird"));
        assert!(dissent["position"].as_str().unwrap().ends_with("durch den Kern f\u{fc}hrt."), "whole");
        assert!(dissent["reason"].as_str().unwrap().starts_with("Es ist ein Streit \u{fc}ber die Stadt"));
        let note = view.dissent[0].note.as_ref().unwrap();
        assert!(
            note.starts_with(
                "Rejected by the chair: Ein unbedingtes Ja tr\u{e4}gt nicht. Its holder's reason: Es ist ein"
            ),
            "{note}"
        );
        let contradicted =
            outcome.warnings.iter().any(|warning| warning.contains("the debaters hold 2 positions"));
        assert_eq!(contradicted, termination == Termination::Converged, "{:?}", outcome.warnings);
    }
}
