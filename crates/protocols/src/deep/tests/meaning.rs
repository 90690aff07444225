//! "Meaning is declared and verified, never guessed from words": which debaters agree, who changed its mind and why, and what became
//! of each position. Every case is played in English, German and Chinese. The outcome is right or unknown, never wrong.

use agon_core::Fate::{self, Adopted, Minority, NotSettled, Refuted};
use agon_core::{DecidedPosition, PositionHistory, SeededDraw};
use proptest::prelude::*;

use super::*;

/// A position. The same index is the same text in all languages.
type Text = usize;
const GO: Text = 0;
const GO_AGAIN: Text = 1;
const NEVER_GO: Text = 2;
const OUT_OF_REDIS: Text = 3;
const OUT_OF_POSTGRES: Text = 4;
const GO_FOR_NEW: Text = 5;

const LANGUAGES: [[&str; 6]; 3] = [
    [
        "Use Go for this service.",
        "The service should be written in Go.",
        "Never use Go for this service.",
        "Replace Redis with Postgres.",
        "Replace Postgres with Redis.",
        "Use Go, but for new services only.",
    ],
    [
        "Nehmt Go f\u{fc}r diesen Dienst.",
        "Der Dienst sollte in Go geschrieben werden.",
        "Nehmt niemals Go f\u{fc}r diesen Dienst.",
        "Ersetzt Redis durch Postgres.",
        "Ersetzt Postgres durch Redis.",
        "Nehmt Go, aber nur f\u{fc}r neue Dienste.",
    ],
    [
        "\u{8fd9}\u{4e2a}\u{670d}\u{52a1}\u{7528} Go\u{3002}",
        "\u{5e94}\u{8be5}\u{7528} Go \u{6765}\u{5199}\u{8fd9}\u{4e2a}\u{670d}\u{52a1}\u{3002}",
        "\u{8fd9}\u{4e2a}\u{670d}\u{52a1}\u{7edd}\u{4e0d}\u{8981}\u{7528} Go\u{3002}",
        "\u{7528} Postgres \u{66ff}\u{6362} Redis\u{3002}",
        "\u{7528} Redis \u{66ff}\u{6362} Postgres\u{3002}",
        "\u{53ea}\u{6709}\u{65b0}\u{670d}\u{52a1}\u{7528} Go\u{3002}",
    ],
];

/// What a debater does in the only round.
#[derive(Debug, Clone, Copy)]
enum Move {
    Keeps,
    Refines(Text),
    Changes(Text),
    Concedes(Text),
    IsAbsent,
}
use Move::*;

/// Whose words a member of a group is quoted with.
#[derive(Debug, Clone, Copy)]
enum Quote {
    Own,
    First,
    OfDebater(usize),
    MadeUp,
    Empty,
}
use Quote::*;

type Groups = &'static [&'static [(usize, Quote)]];

/// Debaters are numbers, in label order.
struct MeaningCase {
    about: &'static str,
    first: [Text; 3],
    moves: [Move; 3],
    agrees: &'static [(usize, usize)],
    /// What the moderator declares of the positions after the round; `None` if it is absent.
    groups: Option<Groups>,
    fates: &'static [(&'static str, &'static str)],
    /// The share of pairs that agree after the round.
    agreement: Option<f64>,
    expected: [Fate; 3],
    decided: Option<&'static str>,
}

const NOBODY: Groups = &[];
const ALL_ONE: Groups = &[&[(0, Own), (1, Own), (2, Own)]];
const LAST_APART: Groups = &[&[(0, Own), (1, Own)], &[(2, Own)]];
const ALL_APART: Groups = &[&[(0, Own)], &[(1, Own)], &[(2, Own)]];
const STAY: [Move; 3] = [Keeps, Keeps, Keeps];
const FIRST_WINS: &[(&str, &str)] = &[("P1", "adopted"), ("P2", "rejected")];
const ADOPT_ALL: &[(&str, &str)] = &[("P1", "adopted")];
const BASE: MeaningCase = MeaningCase {
    about: "",
    first: [GO, GO_AGAIN, NEVER_GO],
    moves: STAY,
    agrees: &[],
    groups: Some(LAST_APART),
    fates: FIRST_WINS,
    agreement: Some(1.0 / 3.0),
    expected: [Fate::Adopted, Fate::Adopted, Fate::Minority],
    decided: Some("held"),
};

const CASES: &[MeaningCase] = &[
    MeaningCase {
        about: "a paraphrase is the same position, and a negation of most of its words is not",
        ..BASE
    },
    MeaningCase {
        about: "opposite answers with almost the same words: the loser is not adopted",
        first: [OUT_OF_REDIS, OUT_OF_REDIS, OUT_OF_POSTGRES],
        ..BASE
    },
    MeaningCase {
        about: "all agree in other words",
        first: [GO, GO_AGAIN, GO],
        groups: Some(ALL_ONE),
        fates: ADOPT_ALL,
        agreement: Some(1.0),
        expected: [Adopted; 3],
        ..BASE
    },
    MeaningCase {
        about: "a verbatim copy needs no declaration",
        first: [GO, GO, GO],
        groups: None,
        fates: ADOPT_ALL,
        agreement: Some(1.0),
        expected: [Adopted; 3],
        ..BASE
    },
    MeaningCase {
        about: "a moderator that separates equal texts is overruled",
        first: [GO, GO, NEVER_GO],
        groups: Some(ALL_APART),
        ..BASE
    },
    MeaningCase {
        about: "an absent moderator: who agrees is not known, and the chair still rules on each",
        groups: None,
        fates: &[("P1", "adopted"), ("P2", "adopted"), ("P3", "rejected")],
        agreement: None,
        decided: Some("new"),
        ..BASE
    },
    MeaningCase {
        about: "a moderator that declares nothing leaves it unknown, and so does a chair",
        groups: Some(NOBODY),
        fates: &[],
        agreement: None,
        expected: [NotSettled; 3],
        decided: None,
        ..BASE
    },
    MeaningCase {
        about: "a made-up quote is dropped: that debater is unknown, and the chair rules on it by itself",
        groups: Some(&[&[(0, Own), (1, MadeUp)], &[(2, Own)]]),
        fates: &[("P1", "adopted"), ("P2", "adopted"), ("P3", "rejected")],
        agreement: None,
        decided: Some("new"),
        ..BASE
    },
    MeaningCase {
        about: "an empty quote is none",
        groups: Some(&[&[(0, Own), (1, Empty)], &[(2, Own)]]),
        fates: FIRST_WINS,
        agreement: None,
        expected: [Adopted, Minority, NotSettled],
        ..BASE
    },
    MeaningCase {
        about: "another debater's words are no quote",
        groups: Some(&[&[(0, Own), (1, OfDebater(0))], &[(2, Own)]]),
        fates: FIRST_WINS,
        agreement: None,
        expected: [Adopted, Minority, NotSettled],
        ..BASE
    },
    MeaningCase {
        about: "a quote of a position that was given up is none",
        moves: [Keeps, Keeps, Changes(GO_FOR_NEW)],
        groups: Some(&[&[(0, Own), (1, Own)], &[(2, First)]]),
        agreement: None,
        expected: [Adopted, Adopted, Minority],
        ..BASE
    },
    MeaningCase {
        about: "a debater in two groups is in none",
        groups: Some(&[&[(0, Own), (1, Own)], &[(2, Own), (1, Own)]]),
        fates: &[("P1", "adopted"), ("P2", "adopted"), ("P3", "rejected")],
        agreement: None,
        decided: Some("new"),
        ..BASE
    },
    MeaningCase {
        about: "a debater in no group is unknown",
        groups: Some(&[&[(0, Own), (1, Own)]]),
        agreement: None,
        ..BASE
    },
    MeaningCase {
        about: "a debater's own word joins two positions that the moderator separates",
        agrees: &[(1, 0)],
        groups: Some(ALL_APART),
        ..BASE
    },
    MeaningCase {
        about: "own words join all of them without a moderator",
        first: [GO, GO_AGAIN, GO_AGAIN],
        agrees: &[(1, 0)],
        groups: None,
        fates: ADOPT_ALL,
        agreement: Some(1.0),
        expected: [Adopted; 3],
        ..BASE
    },
    MeaningCase {
        about: "own words about a text that changed in the same round count for nothing",
        first: [NEVER_GO, GO, GO],
        moves: [Changes(GO_FOR_NEW), Keeps, Keeps],
        agrees: &[(1, 0), (2, 0)],
        groups: Some(&[&[(0, Own)], &[(1, Own), (2, Own)]]),
        fates: &[("P1", "rejected"), ("P2", "adopted")],
        expected: [Minority, Adopted, Adopted],
        ..BASE
    },
    MeaningCase {
        about: "a debater that changes its position agrees with the one that it names",
        moves: [Keeps, Keeps, Concedes(GO_AGAIN)],
        agrees: &[(2, 0)],
        groups: Some(LAST_APART),
        fates: ADOPT_ALL,
        agreement: Some(1.0),
        expected: [Adopted, Adopted, Refuted],
        ..BASE
    },
    MeaningCase {
        about: "a change of mind leaves the dissent",
        moves: [Keeps, Keeps, Changes(GO_AGAIN)],
        groups: Some(ALL_ONE),
        fates: ADOPT_ALL,
        agreement: Some(1.0),
        expected: [Adopted, Adopted, Refuted],
        ..BASE
    },
    MeaningCase {
        about: "a change of mind to a position that is rejected is dissent",
        first: [GO, GO_AGAIN, GO],
        moves: [Keeps, Keeps, Changes(NEVER_GO)],
        ..BASE
    },
    MeaningCase {
        about: "a change to the same words is none",
        moves: [Keeps, Keeps, Changes(NEVER_GO)],
        ..BASE
    },
    MeaningCase {
        about: "a minor update keeps the position",
        first: [GO, GO, NEVER_GO],
        moves: [Keeps, Refines(GO_AGAIN), Keeps],
        ..BASE
    },
    MeaningCase {
        about: "a holdout stays in the dissent when the moderator scores 1.0 and the debate converges",
        groups: Some(LAST_APART),
        ..BASE
    },
    MeaningCase {
        about: "a position that is adopted in part is dissent with what was left out",
        first: [GO, GO_AGAIN, GO_FOR_NEW],
        fates: &[("P1", "adopted"), ("P2", "partly")],
        ..BASE
    },
    MeaningCase {
        about: "a missing fate is not settled, never adopted",
        fates: &[("P1", "adopted")],
        expected: [Adopted, Adopted, NotSettled],
        ..BASE
    },
    MeaningCase {
        about: "two fates for one position are none",
        fates: &[("P1", "adopted"), ("P2", "rejected"), ("P2", "adopted")],
        expected: [Adopted, Adopted, NotSettled],
        ..BASE
    },
    MeaningCase {
        about: "the id of another debate settles nothing",
        fates: &[("P7", "adopted"), ("P2", "rejected")],
        expected: [NotSettled, NotSettled, Minority],
        decided: None,
        ..BASE
    },
    MeaningCase {
        about: "an answer that adopts nothing is a new position",
        fates: &[("P1", "partly"), ("P2", "rejected")],
        expected: [Minority; 3],
        decided: Some("new"),
        ..BASE
    },
    MeaningCase {
        about: "an answer that adopts two positions is a new one",
        fates: &[("P1", "adopted"), ("P2", "adopted")],
        expected: [Adopted; 3],
        decided: Some("new"),
        ..BASE
    },
    MeaningCase { about: "an absent debater keeps its position", moves: [Keeps, IsAbsent, Keeps], ..BASE },
    MeaningCase {
        about: "a swap is not the same, although all words are",
        first: [OUT_OF_REDIS, OUT_OF_POSTGRES, OUT_OF_POSTGRES],
        groups: Some(NOBODY),
        fates: &[("P1", "adopted"), ("P2", "rejected")],
        agreement: None,
        expected: [Adopted, Minority, Minority],
        ..BASE
    },
];

/// The debaters' places in label order, by seat, for the seed of these tests.
fn place(seat: &str) -> Option<usize> {
    let mut seats = ["debater-1", "debater-2", "debater-3"];
    SeededDraw::new(11, "labels").shuffle(&mut seats);
    seats.iter().position(|other| *other == seat)
}

fn name(place: usize) -> String {
    format!("Debater {}", ["A", "B", "C"][place])
}

/// A debate of one round that follows the case.
fn play_case(case: &MeaningCase, texts: &[&str; 6], score: f64) -> Debate {
    let text = |text: Text| texts[text];
    let now = |place: usize| match case.moves[place] {
        Refines(new) | Changes(new) | Concedes(new) => text(new),
        Keeps | IsAbsent => text(case.first[place]),
    };
    let groups = |groups: Groups, now: &dyn Fn(usize) -> String| -> Value {
        let quote = |(place, quote): &(usize, Quote)| match quote {
            Own => now(*place),
            First => text(case.first[*place]).to_owned(),
            OfDebater(other) => now(*other),
            MadeUp => "words that nobody wrote".to_owned(),
            Empty => " ".to_owned(),
        };
        let member = |member: &(usize, Quote)| json!({"debater": name(member.0), "quote": quote(member)});
        let group = |(number, members): (usize, &&[(usize, Quote)])| json!({"statement": format!("S{number}"), "members": members.iter().map(member).collect::<Vec<_>>()});
        groups.iter().enumerate().map(group).collect()
    };
    let set = [("min_rounds", "1"), ("max_rounds", "1")];
    play_unverified(brief(MODELS, &set), &|ask, phase, _| match phase {
        "answer" => Some(json!(text(case.first[place(&ask.seat)?]))),
        "debate" => {
            let own = place(&ask.seat)?;
            let (stance, revision) = match case.moves[own] {
                IsAbsent => return None,
                Keeps => ("maintain", "no_change"),
                Refines(_) => ("maintain", "minor_update"),
                Changes(_) => ("partial_concede", "major_revision"),
                Concedes(_) => ("concede", "minor_update"),
            };
            let agrees = case.agrees.iter().filter(|(one, _)| *one == own).map(|(_, other)| name(*other));
            Some(
                json!({"stance": stance, "key_points": ["my reason"], "revision": revision, "confidence": 0.99,
                "revised_position": now(own), "agrees_with": agrees.collect::<Vec<_>>()}),
            )
        }
        "moderate" => {
            let declared = groups(case.groups?, &|place| now(place).to_owned());
            Some(
                json!({"should_stop": false, "agreement_score": score, "new_points_ratio": 0.0, "positions": declared}),
            )
        }
        _ => {
            let fates = case
                .fates
                .iter()
                .map(|(id, fate)| json!({"position": id, "fate": fate, "reason": "so ruled"}));
            let fates: Vec<Value> = fates.collect();
            Some(with_listed_ids(ask, json!({"answer": text(GO), "why": "reasons", "fates": fates})))
        }
    })
}

#[test]
fn the_outcome_is_right_or_unknown_in_every_language() {
    for (language, texts) in LANGUAGES.iter().enumerate() {
        for case in CASES {
            let what = format!("language {language}: {}", case.about);
            let debate = play_case(case, texts, 1.0);
            let view = Deep.view(&debate).unwrap();
            let outcome = debate.outcome.as_ref().unwrap();
            let fate = |place: usize| {
                let label = name(place).split_off(8);
                outcome.positions.iter().find(|fate| fate.label == Some(label.clone())).unwrap().fate
            };
            assert_eq!([fate(0), fate(1), fate(2)], case.expected, "{what}");
            assert_eq!(outcome.verdict["rounds"][0]["agreement"], json!(case.agreement), "{what}");
            let decided = match &view.positions.decided {
                DecidedPosition::Held(_) => Some("held"),
                DecidedPosition::New(_) => Some("new"),
                DecidedPosition::Nothing | DecidedPosition::Unknown => None,
            };
            assert_eq!(decided, case.decided, "{what}");
            // Dissent is conserved, whole, and by nobody whose position was adopted.
            for dissent in &outcome.dissent {
                let own =
                    outcome.positions.iter().find(|held| dissent["seat"] == held.seat.as_str()).unwrap();
                assert_eq!(own.fate, Fate::Minority, "{what}");
                assert_eq!(dissent["reason"], "my reason", "{what}");
                assert_eq!(dissent["ruling"], "so ruled", "{what}");
            }
            let minority = case.expected.iter().filter(|fate| **fate == Fate::Minority).count();
            assert_eq!((outcome.dissent.len(), view.dissent.len()), (minority, minority), "{what}");
            let unsettled = outcome.verdict["not_settled"].as_array().unwrap();
            let settled = outcome.verdict["positions"]
                .as_array()
                .unwrap()
                .iter()
                .all(|held| held["fate"] != Value::Null);
            assert_eq!(unsettled.is_empty(), settled, "{what}");
            // The headline follows the groups, whatever the score and the termination.
            let ending = &view.headline.ending;
            let expected = match case.agreement {
                None => "It is not known whether the debaters agree.",
                Some(1.0) => "The debaters agree.",
                Some(_) => "The debaters do not agree: they hold 2 positions.",
            };
            assert!(ending.starts_with(expected), "{what}: {ending}");
            let contradicted =
                outcome.warnings.iter().any(|warning| warning.contains("scores the agreement 1.00"));
            let is_scored = case.groups.is_some();
            assert_eq!(contradicted, is_scored && case.agreement.is_some_and(|share| share < 1.0), "{what}");
        }
    }
}

/// "score at or above the threshold with more than one group, or below it with one".
#[test]
fn a_score_that_contradicts_the_groups_is_told() {
    for (groups, score, warning) in [
        (
            ALL_ONE,
            0.79,
            Some("round 1: the moderator scores the agreement 0.79, but all debaters hold one position"),
        ),
        (ALL_ONE, 0.8, None),
        (
            LAST_APART,
            0.8,
            Some("round 1: the moderator scores the agreement 0.80, but the debaters hold 2 positions"),
        ),
        (LAST_APART, 0.79, None),
        (NOBODY, 1.0, None),
    ] {
        let case = MeaningCase { groups: Some(groups), ..BASE };
        let outcome = play_case(&case, &LANGUAGES[0], score).outcome.unwrap();
        let told = outcome.warnings.iter().find(|warning| warning.contains("scores the agreement"));
        assert_eq!(told.map(String::as_str), warning, "{score}");
    }
}

const CAUSES: &[(&str, &str, &str, bool)] = &[
    ("X1", "too wide", "a counterpoint against it", true),
    ("[x1]", "\u{201c}TOO  wide\u{201d}", "with brackets, quotation marks and other case", true),
    ("X1", "see the\nterminal", "its evidence", true),
    ("A1", "readers choose", "a key point of another debater", true),
    ("A0", "Tabs", "a first answer of another debater", true),
    ("CR1", "spaces in Python", "a revised position of another debater", true),
    ("C0", "spaces in Python", "words of a revised position that are not in the first answer", false),
    ("X1", "too narrow", "words that are not there", false),
    ("X1", "", "an empty quote", false),
    ("X1", "readers choose", "a quote of another point", false),
    ("B1", "I stay", "its own key point", false),
    ("X9", "too wide", "an id that does not exist", false),
    ("C4", "too wide", "an id of another debate", false),
    ("A2", "later", "an id of the same round, which it was not shown", false),
];

/// "A change is *evidenced* when a `changed_because` id is a counterpoint, a key point of another seat or a context item it was shown
/// and the quote verifies." "A declaration that does not verify is sent back once; then the part that does not verify is dropped, the
/// rest counts, and it is no absence."
#[test]
fn a_change_is_evidenced_if_a_cause_verifies() {
    let answer = |ask: &Ask, phase: &str, round: u32, cause: Option<(&str, &str)>| {
        let mut value = plain(phase, round, &["no_change"], &[(0.1, 0.9)])?;
        match (phase, ask.label.as_deref(), round) {
            ("answer", ..) => value = json!("Tabs, because of width."),
            ("debate", Some("Debater A"), 1) => {
                value["key_points"] = json!(["readers choose the width"]);
                value["counterpoints"] = json!([{"target": "B", "point": "Spaces are too wide.", "evidence": "See the terminal."}]);
            }
            ("debate", Some("Debater A"), 2) => value["key_points"] = json!(["later"]),
            ("debate", Some("Debater B"), 1) => value["key_points"] = json!(["I stay"]),
            ("debate", Some("Debater C"), 1) => {
                value["revision"] = json!("minor_update");
                value["revised_position"] = json!("Tabs, but spaces in Python.");
            }
            ("debate", Some("Debater B"), 2) => {
                value["analysis"] = json!(" Readers decide. ");
                value["revision"] = json!("major_revision");
                value["revised_position"] = json!("Spaces.");
                value["changed_because"] =
                    cause.into_iter().map(|(id, quote)| json!({"id": id, "quote": quote})).collect();
            }
            _ => {}
        }
        Some(value)
    };
    for (id, quote, about, is_evidenced) in CAUSES {
        let debate = play_unverified(brief(MODELS, &[]), &|ask, phase, round| {
            answer(ask, phase, round, Some((id, quote)))
        });
        let flips = Deep.view(&debate).unwrap().positions.flips();
        assert_eq!(flips.len(), 1, "{about}: {flips:?}");
        assert_eq!((flips[0].round, flips[0].evidenced), (2, *is_evidenced), "{about}");
        // A change without a cause that verifies has the debater's own reason.
        let reason = (!is_evidenced).then_some("Readers decide.");
        assert_eq!(flips[0].reason.as_deref(), reason, "{about}");
        assert_eq!(flips[0].unverified.is_empty(), *is_evidenced, "{about}");
        let view = Deep.view(&debate).unwrap();
        let revised = view.citable.iter().find(|text| text.id == "BR2").unwrap();
        assert_eq!(revised.remark.is_none(), *is_evidenced, "{about}");
        assert_eq!(debate.absences().count(), 0, "{about}");
        let outcome = debate.outcome.as_ref().unwrap();
        let stance = &outcome.verdict["rounds"][1]["stances"][1];
        assert_eq!(stance["cited"].as_array().unwrap().len(), usize::from(*is_evidenced), "{about}");

        let mut value = argument("no_change");
        (value["revision"], value["revised_position"]) = (json!("major_revision"), json!("Spaces."));
        value["changed_because"] = json!([{"id": id, "quote": quote}]);
        let mut seats = ["debater-1", "debater-2", "debater-3"];
        SeededDraw::new(11, "labels").shuffle(&mut seats);
        let checked = check_at(
            &[],
            ("debate", 2, seats[1]),
            &|ask, phase, round| answer(ask, phase, round, None),
            &value,
        );
        assert_eq!(matches!(checked, Err(ReplyFault::Unverified(_))), !is_evidenced, "{about}: {checked:?}");
    }
}

/// "`answers: [{id, response}]` (to counterpoints aimed at it)". The chair reads "the counterpoints that were not answered", and the
/// others with their answers.
#[test]
fn only_a_counterpoint_against_the_debater_is_answered() {
    const GIVEN_UP: &str = "Debater B did not answer it, and gave up its position in round 2.";
    for (id, response, revision, said) in [
        ("X1", "No.", "no_change", "Answer: No."),
        ("[X1]", "No.", "major_revision", "Answer: No."),
        ("X1", " ", "no_change", "Debater B did not answer it."),
        ("X2", "No.", "minor_update", "Debater B did not answer it."),
        ("A0", "No.", "major_revision", GIVEN_UP),
    ] {
        let chair = std::cell::RefCell::new(String::new());
        play_unverified(brief(MODELS, &[]), &|ask, phase, round| {
            let mut value = plain(phase, round, &["no_change"], &[(0.1, 0.9)])?;
            match (phase, ask.label.as_deref(), round) {
                ("debate", Some("Debater A"), 1) => {
                    value["counterpoints"] = json!([{"target": "Debater B", "point": "p", "evidence": "e"},
                        {"target": "Debater C", "point": "q", "evidence": "e"}]);
                }
                ("debate", Some("Debater B"), 2) => {
                    value["revision"] = json!(revision);
                    value["revised_position"] = json!("Spaces.");
                    value["answers"] = json!([{"id": id, "response": response}]);
                    value["counterpoints"] = json!([{"target": "Debater A", "point": "r", "evidence": ""}]);
                }
                ("synthesis", ..) => *chair.borrow_mut() = ask.prompt.user(),
                _ => {}
            }
            Some(value)
        });
        let chair = chair.into_inner();
        let (_, read) = chair.split_once("## Counterpoints and Answers").unwrap();
        let first = format!("[X1] Debater A to Debater B: p Because: e\n{said}\n");
        assert!(read.contains(&first), "{id} {response:?}: {read}");
        assert!(
            read.contains("[X2] Debater A to Debater C: q Because: e\nDebater C did not answer it.\n"),
            "{read}"
        );
    }
}

/// The chair reads the positions that are left, with ids in the order of the debaters. The report tells a first answer from what its
/// holder made of it, and says what a change cites.
#[test]
fn the_report_tells_first_answers_from_final_positions() {
    let texts = LANGUAGES[0];
    for (causes, cites) in [
        (json!([]), "in round 1, citing nothing"),
        (
            json!([{"id": "A0", "quote": "made up"}]),
            "in round 1, citing [A0] with words that do not occur there",
        ),
        (json!([{"id": "A0", "quote": "Use Go"}]), "in round 1, citing [A0] of Debater A: \"Use Go\""),
    ] {
        let chair = std::cell::RefCell::new(String::new());
        let set = [("min_rounds", "1"), ("max_rounds", "1")];
        let now = [GO_AGAIN, OUT_OF_REDIS, GO_FOR_NEW];
        let debate = play_unverified(brief(MODELS, &set), &|ask, phase, round| match phase {
            "answer" => Some(json!(texts[[GO, OUT_OF_REDIS, NEVER_GO][place(&ask.seat)?]])),
            "debate" => {
                let own = place(&ask.seat)?;
                let mut value = argument(["minor_update", "no_change", "major_revision"][own]);
                value["revised_position"] = json!(texts[now[own]]);
                value["changed_because"] = if own == 2 { causes.clone() } else { json!([]) };
                Some(value)
            }
            "moderate" => {
                let mut value = assessment(0.5, 0.9);
                let group = |place: usize| json!({"statement": format!("S{place}"), "members": [{"debater": name(place), "quote": texts[now[place]]}]});
                value["positions"] = json!([group(0), group(1), group(2)]);
                Some(value)
            }
            "synthesis" => {
                *chair.borrow_mut() = ask.prompt.user();
                let fate = |(id, fate): (&str, &str)| json!({"position": id, "fate": fate, "reason": "So."});
                let fates = [("P1", "adopted"), ("P2", "partly"), ("P3", "adopted")].map(fate);
                Some(with_listed_ids(ask, json!({"answer": "Go.", "why": "w", "fates": fates})))
            }
            _ => plain(phase, round, &[], &[]),
        });
        let (outcome, view) = (debate.outcome.as_ref().unwrap(), Deep.view(&debate).unwrap());
        for (number, record) in (1..).zip(outcome.verdict["positions"].as_array().unwrap()) {
            let label = record["debaters"][0].as_str().unwrap();
            assert_eq!(record["position"], format!("P{number}"));
            let id = if label == "B" { "B0".to_owned() } else { format!("{label}R1") };
            let statement = record["statement"].as_str().unwrap();
            let line = format!("[P{number}] {statement} (held by Debater {label} [{id}])");
            assert!(chair.borrow().contains(&line), "{line}");
        }
        let reasons: Vec<&str> = outcome.positions.iter().map(|held| held.reason.as_str()).collect();
        let expected = [
            "the chair adopts its holder's final position: So.",
            "the chair adopts a part of its holder's final position: So.",
            cites,
        ];
        assert_eq!(reasons, expected);
        // A position that was revised and kept is shown as it is put now.
        let reworded =
            view.positions.rounds[1].stands.iter().map(|held| (held.label.as_deref(), &held.reworded));
        let mut reworded: Vec<_> = reworded.collect();
        reworded.sort();
        assert_eq!(reworded, [(Some("A"), &Some("S0".to_owned())), (Some("B"), &None), (Some("C"), &None)]);
        let note = view.dissent[0].note.as_deref();
        assert_eq!(note, Some("Adopted in part by the chair: So. Its holder's reason: width"));
    }
}

/// Quick and standard mode: "it also returns `positions`, as the moderator does, and its fates name them `P1`, `P2` ... in the order of
/// that list".
#[test]
fn without_rounds_the_chair_sorts_and_its_ids_follow_its_list() {
    let texts = LANGUAGES[0];
    let chair = |quote: &str| {
        json!({"answer": "Use Go.", "why": "w", "positions": [
        {"statement": "No Go", "members": [{"debater": "C", "quote": texts[NEVER_GO]}]},
        {"statement": "Go", "members": [{"debater": "Debater A", "quote": "use go"}, {"debater": "Debater B", "quote": quote}]},
    ], "fates": [{"position": "P2", "fate": "adopted", "reason": ""}, {"position": "P1", "fate": "rejected", "reason": "no"}]})
    };
    for (quote, fates, ending) in [
        (
            "written in Go",
            [Fate::Adopted, Fate::Adopted, Fate::Minority],
            "The debaters do not agree: they hold 2 positions. ",
        ),
        (
            "written in Rust",
            [Fate::Adopted, Fate::NotSettled, Fate::Minority],
            "It is not known whether the debaters agree.",
        ),
    ] {
        let debate = play_unverified(brief(MODELS, &[("mode", "quick")]), &|ask, phase, _| match phase {
            "answer" => Some(json!(texts[[GO, GO_AGAIN, NEVER_GO][place(&ask.seat)?]])),
            _ => Some(chair(quote)),
        });
        let outcome = debate.outcome.as_ref().unwrap();
        let fate = |label: &str| {
            outcome.positions.iter().find(|held| held.label.as_deref() == Some(label)).unwrap().fate
        };
        assert_eq!(["A", "B", "C"].map(fate), fates);
        let view = Deep.view(&debate).unwrap();
        assert_eq!(view.positions.decided.name(), Some("Go"));
        assert!(view.headline.ending.starts_with(ending), "{}", view.headline.ending);
    }
}

/// "Carriers keep names", and a position that comes back has its old name: a change back is two changes of mind.
#[test]
fn a_change_back_returns_to_the_first_position() {
    let debate = play_unverified(
        brief(MODELS, &[("min_rounds", "2"), ("max_rounds", "2")]),
        &|ask, phase, round| {
            let texts = LANGUAGES[1];
            let first = |place: usize| texts[[GO, GO_AGAIN, NEVER_GO][place]];
            let now = |place: usize| if (place, round) == (2, 1) { texts[GO_AGAIN] } else { first(place) };
            let group = |statement: &str, members: &[usize]| {
                json!({"statement": statement, "members":
            members.iter().map(|place| json!({"debater": name(*place), "quote": now(*place)})).collect::<Vec<_>>()})
            };
            match phase {
                "answer" => Some(json!(first(place(&ask.seat)?))),
                "debate" => {
                    let mut value = argument("no_change");
                    if place(&ask.seat) == Some(2) {
                        (value["revision"], value["revised_position"]) =
                            (json!("major_revision"), json!(now(2)));
                    }
                    Some(value)
                }
                "moderate" => {
                    let mut value = assessment(0.5, 0.9);
                    let apart = json!([group("Go", &[0, 1]), group("Nie Go", &[2])]);
                    (value["first_positions"], value["positions"]) = match round {
                        1 => (
                            json!([{"statement": "Go", "members": [{"debater": "A", "quote": first(0)}, {"debater": "B", "quote": first(1)}]},
                        {"statement": "Nie Go", "members": [{"debater": "C", "quote": first(2)}]}]),
                            json!([group("Go", &[0, 1, 2])]),
                        ),
                        _ => (json!([]), apart),
                    };
                    Some(value)
                }
                _ => plain(phase, round, &[], &[]),
            }
        },
    );
    let view = Deep.view(&debate).unwrap();
    let held: Vec<&str> = view
        .positions
        .rounds
        .iter()
        .map(|round| {
            let seat = debate.outcome.as_ref().unwrap().labels["C"].as_str();
            round.of(seat).unwrap().position.as_str()
        })
        .collect();
    assert_eq!(held, ["Nie Go", "Go", "Nie Go"]);
    let flips = view.positions.flips();
    assert_eq!(
        flips.iter().map(|flip| (flip.round, flip.toward_majority)).collect::<Vec<_>>(),
        [(1, Some(true)), (2, Some(false))]
    );
    let fates: Vec<Fate> = debate.outcome.as_ref().unwrap().positions.iter().map(|held| held.fate).collect();
    assert!(!fates.contains(&Fate::Refuted), "nobody gave up its first answer for good: {fates:?}");
    let reasons = debate.outcome.as_ref().unwrap().positions.iter().map(|held| held.reason.as_str());
    assert_eq!(reasons.collect::<Vec<_>>(), ["the chair does not rule on its holder's final position"; 3]);
}

/// Which debaters agree in each round, who changed its mind, and what became of the positions.
fn decisions(debate: &Debate) -> impl PartialEq + std::fmt::Debug + use<> {
    let history: PositionHistory = Deep.view(debate).unwrap().positions;
    let outcome = debate.outcome.as_ref().unwrap();
    let groups: Vec<(bool, Vec<usize>)> =
        history.rounds.iter().map(|round| (round.is_sorted(), round.grouped(None))).collect();
    let flips: Vec<(u32, String, bool, Option<bool>)> = history
        .flips()
        .into_iter()
        .map(|flip| (flip.round, flip.seat, flip.evidenced, flip.toward_majority))
        .collect();
    let fates: Vec<Fate> = outcome.positions.iter().map(|held| held.fate).collect();
    let dissent: Vec<Value> = outcome.dissent.iter().map(|dissent| dissent["debater"].clone()).collect();
    let agreement: Vec<Value> = outcome.verdict["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| round["agreement"].clone())
        .collect();
    let decided = std::mem::discriminant(&history.decided);
    (groups, flips, fates, dissent, agreement, decided, outcome.termination, outcome.warnings.len())
}

/// A debate with random declarations, some of which verify. `free` stands in all texts that declare nothing.
fn random_debate(seed: u64, free: &str, rename: &dyn Fn(&str) -> String) -> Debate {
    let texts = ["Use Go now", "Go it is", "Never Go", "Wait a year", "Ask the team first"];
    let draw = |purpose: &str| SeededDraw::new(seed, purpose);
    let text =
        |place: usize, round: u32| rename(texts[draw(&format!("text {place} {round}")).below(texts.len())]);
    let revision = |place: usize, round: u32| {
        ["no_change", "minor_update", "major_revision"][draw(&format!("revision {place} {round}")).below(3)]
    };
    let held = |place: usize, after: u32| {
        let last = (1..=after).rev().find(|round| revision(place, *round) != "no_change");
        text(place, last.unwrap_or(0))
    };
    let groups = |purpose: &str, after: u32| -> Value {
        let mut draw = draw(purpose);
        let mut groups: Vec<Vec<Value>> = vec![Vec::new(); 3];
        for place in 0..3 {
            let other = (place + draw.below(4) / 3) % 3;
            groups[draw.below(3)].push(json!({"debater": name(place), "quote": held(other, after)}));
        }
        let groups = groups.into_iter().filter(|members| !members.is_empty()).enumerate();
        groups.map(|(number, members)| json!({"statement": rename(&format!("statement {number}")), "members": members})).collect()
    };
    let fates = || -> Value {
        let mut draw = draw("fates");
        let fate = |number: usize| {
            let fate = ["adopted", "partly", "rejected"][draw.below(3)];
            json!({"position": format!("P{number}"), "reason": free, "fate": fate})
        };
        (1..=3).map(fate).collect()
    };
    let mut brief = brief(MODELS, &[("max_rounds", "3")]);
    brief.nonce = format!("nonce {seed}");
    play_unverified(brief, &|ask, phase, round| match phase {
        "answer" => Some(json!(text(place(&ask.seat)?, 0))),
        "debate" => {
            let own = place(&ask.seat)?;
            let other = (own + 1) % 3;
            let agrees = draw(&format!("agrees {own} {round}")).below(3) == 0;
            Some(json!({"analysis": free, "stance": "maintain", "key_points": [free], "confidence": 0.5,
                "counterpoints": [{"target": name(other), "point": free, "evidence": free}],
                "revision": revision(own, round), "revised_position": text(own, round),
                "agrees_with": if agrees { vec![name(other)] } else { Vec::new() },
                "changed_because": [{"id": format!("{}0", ["A", "B", "C"][other]), "quote": held(other, round - 1)}]}))
        }
        "moderate" => Some(
            json!({"analysis": free, "should_stop": false, "agreement_score": 0.9, "new_points_ratio": 0.9,
            "consensus_answer": free, "remaining_disagreements": [free], "next_round_focus": free,
            "first_positions": groups("first", 0), "positions": groups(&format!("now {round}"), round)}),
        ),
        _ => Some(
            json!({"analysis": free, "answer": rename("Use Go now"), "why": free, "contested": [free], "fates": fates()}),
        ),
    })
}

/// Every word becomes another one, and no two become the same.
fn made_up_language(text: &str) -> String {
    let word = |word: &str| format!("{}qx", word.to_lowercase().chars().rev().collect::<String>());
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// "No text that a seat writes, apart from a verified declaration, changes who agrees with whom."
    #[test]
    fn free_text_decides_nothing(seed in 0..10_000_u64, free in "[a-zA-Z .,!\u{4e00}-\u{4e20}]{0,40}|I agree with everybody\\.|Debater A is right|Never\\.|I concede\\.") {
        let plain = random_debate(seed, "because", &|text| text.to_owned());
        let other = random_debate(seed, &free, &|text| text.to_owned());
        prop_assert_eq!(format!("{:?}", decisions(&plain)), format!("{:?}", decisions(&other)));
    }

    /// "Renaming every word of a debate by a bijection (a made-up language) changes no decision."
    #[test]
    fn a_made_up_language_changes_no_decision(seed in 0..10_000_u64) {
        let plain = random_debate(seed, "because", &|text| text.to_owned());
        let other = random_debate(seed, "esuaceb", &made_up_language);
        prop_assert_eq!(format!("{:?}", decisions(&plain)), format!("{:?}", decisions(&other)));
    }
}
