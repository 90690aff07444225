//! What is found in a round and what the moderator does about it: a debate for every intervention that must come, and for every one
//! that must not.

use super::super::moderation::{REFRAMING_QUESTIONS, groupthink_min};
use super::*;

/// Who is asked in the interventions of a round, and about what.
pub(super) fn asked(debate: &Debate, round: u32) -> Vec<(String, Option<String>)> {
    let turn = debate.turn("intervene", round);
    let asks = turn.into_iter().flat_map(|turn| &turn.asks);
    asks.map(|ask| (ask.seat.clone(), ask.about.clone())).collect()
}

pub(super) fn debated(change: &dyn Fn(&Ask, &str, u32, &mut Value)) -> Debate {
    run(&[], &|ask, phase, round| with(ask, phase, round, &|said| change(ask, phase, round, said)))
}

/// A moderator that finds this in round 1.
fn finds(finding: &Value) -> Debate {
    debated(&|_, phase, round, said| {
        if (phase, round) == ("moderate", 1) {
            said.as_object_mut().unwrap().extend(finding.as_object().unwrap().clone());
        }
    })
}

fn drop_answers(said: &mut Value, ids: &[&str]) {
    let responses = said["responses"].as_array_mut().unwrap();
    responses.retain(|response| !ids.contains(&response["challenge_id"].as_str().unwrap()));
}

fn to_critic(about: &str) -> Vec<(String, Option<String>)> {
    vec![("critic".to_owned(), Some(about.to_owned()))]
}

/// A point that these councillors share, each with a quote of its own, and the challenge to the Visionary against it.
pub(super) fn shared(seats: &[&str], challenged: bool) -> Value {
    let members = seats.iter().map(
        |seat| json!({"councillor": seat, "quote": format!("{seat} says that the queue is worth a trial")}),
    );
    let challenged_by = if challenged { vec!["C4"] } else { Vec::new() };
    json!([{"point": "a trial comes first", "members": members.collect::<Vec<_>>(), "challenged_by": challenged_by, "challenged": challenged}])
}

fn evasion(id: &str, quote: &str) -> Value {
    json!({"evasions": [{"challenge_id": id, "why": "no figure", "quote": quote}]})
}

/// "a challenge id with no answer (never a repair)", or an empty one: "that challenge is put again, once".
#[test]
fn an_unanswered_challenge_is_put_again() {
    for empty in [false, true] {
        let debate = debated(&|ask, phase, round, said| match (phase, round, ask.seat.as_str()) {
            ("respond", 1, "critic") if empty => said["responses"][0]["response"] = json!(" ..."),
            ("respond", 1, "critic") => drop_answers(said, &["C1"]),
            _ => {}
        });
        assert_eq!(asked(&debate, 1), to_critic("C1"));
        let outcome = debate.outcome.unwrap();
        let first = entry(&outcome, "challenges", "id", "C1");
        let want = (&json!("answered"), &json!(1), &json!("modified"));
        assert_eq!((&first["fate"], &first["re_asked"], &first["stance"]), want);
        let done = &outcome.verdict["interventions"][0];
        for (field, want) in [("kind", "evasion"), ("to", "critic"), ("about", "C1"), ("outcome", "answered")]
        {
            assert_eq!(done[field], want);
        }
        assert!(done["quote"].as_str().unwrap().contains("What does the visionary overlook?"));
        assert_eq!(outcome.verdict["violations"], json!([]));
    }
}

/// "an answer that the moderator finds does not engage it", with a quote of the answer; without one the finding does not count.
#[test]
fn an_evasive_answer_is_put_again_if_it_is_quoted() {
    let debate = finds(&evasion("C2", "HAS measured\n it twice."));
    assert_eq!(asked(&debate, 1), [("pragmatist".to_owned(), Some("C2".to_owned()))]);
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["interventions"][0]["quote"], "HAS measured\n it twice.");
    assert_eq!(
        entry(&outcome, "challenges", "id", "C2")["answers"].as_array().unwrap().len(),
        2,
        "both are kept"
    );
    for quote in ["I would rather not say", "", "On C1 the critic has measured it twice."] {
        let debate = finds(&evasion("C2", quote));
        assert_eq!(asked(&debate, 1), [], "{quote:?}");
        assert!(warned(&debate.outcome.unwrap(), "The answer to C2 does not contain the words"), "{quote:?}");
    }
}

/// "still evaded when its answer has no stance, equals the first one after normalization": a violation.
#[test]
fn a_second_evasion_is_a_violation() {
    for (stance, response, why) in [
        (Value::Null, "Here is a figure: 12%.", Some("no stance")),
        (json!("agree"), " ", Some("empty")),
        (json!("agree"), "on C2  the PRAGMATIST has measured it twice.", Some("repeats")),
        (json!("agree"), "On C2 the pragmatist has not measured it twice.", None),
        (json!("agree"), "Twice the pragmatist has measured it, on C2.", None),
    ] {
        let debate = debated(&|_, phase, round, said| match (phase, round) {
            ("moderate", 1) => said["evasions"] = evasion("C2", "measured it twice")["evasions"].clone(),
            ("intervene", _) => (said["stance"], said["response"]) = (stance.clone(), json!(response)),
            _ => {}
        });
        let outcome = debate.outcome.unwrap();
        let fate = &entry(&outcome, "challenges", "id", "C2")["fate"];
        let violations = outcome.verdict["violations"].as_array().unwrap();
        assert_eq!(
            (fate, violations.len()),
            (&json!(if why.is_some() { "evaded" } else { "answered" }), usize::from(why.is_some()))
        );
        if let Some(why) = why {
            assert!(violations[0]["why"].as_str().unwrap().contains(why), "{violations:?}");
            assert_eq!(outcome.verdict["confidence_caps"], json!(["challenge_open"]));
        }
        assert!(outcome.rounds_completed == 2 && outcome.status == Status::Complete, "the debate goes on");
    }
}

/// "or the moderator says so with a quote in its next call (after the last round: in the call after the votes)".
#[test]
fn the_moderator_judges_a_second_answer_in_its_next_call() {
    let judged = |rounds: &str, quote: &str| {
        let debate = run(&[("rounds", rounds)], &|ask, phase, round| {
            with(ask, phase, round, &|said| {
                let again = |said: &mut Value, quote: &str| {
                    said["evasions"] = evasion("C2", quote)["evasions"].clone()
                };
                match (phase, round) {
                    ("moderate", 1) => again(said, "measured it twice"),
                    ("moderate", 2) => {
                        assert!(ask.prompt.user().contains("judge the second answers: [C2]"));
                        again(said, quote);
                    }
                    ("conclude", 1) => {
                        assert_eq!(
                            allowed(ask, "/properties/evasions/items/properties/challenge_id"),
                            ["C2"]
                        );
                        again(said, quote);
                    }
                    _ => {}
                }
            })
        });
        let before = session(&until(&debate, debate.turns.len() - 1));
        assert!(session(&debate).starts_with(&before), "the minutes only grow");
        debate.outcome.unwrap()
    };
    for rounds in ["1", "2"] {
        let evaded = judged(rounds, "the point needs a figure");
        assert_eq!(entry(&evaded, "challenges", "id", "C2")["fate"], "evaded", "{rounds} rounds");
        assert_eq!(evaded.verdict["violations"][0]["round"].to_string(), rounds);
        let unverified = judged(rounds, "measured it twice");
        assert_eq!(
            entry(&unverified, "challenges", "id", "C2")["fate"],
            "answered",
            "words of the first answer"
        );
    }
}

/// An absence is not an evasion: the challenge waits, and is put again only once in the whole debate.
#[test]
fn a_challenge_is_put_again_only_once_in_a_debate() {
    let debate = run(&[("rounds", "3")], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if phase == "respond" && ask.seat == "critic" {
                drop_answers(said, &["C1"]);
            }
        });
        said.filter(|_| phase != "intervene")
    });
    assert_eq!((asked(&debate, 1), asked(&debate, 2)), (to_critic("C1"), Vec::new()));
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["interventions"][0]["outcome"], "absent");
    let first = entry(&outcome, "challenges", "id", "C1");
    assert_eq!((&first["fate"], &first["absent_in"]), (&json!("evaded"), &json!([1])));
    assert_eq!(outcome.verdict["violations"][0]["round"], 2);
    assert_eq!(outcome.verdict["violations"][0]["why"], "no answer to this id");
    assert_eq!(first["re_asked"], 1);
}

/// "A re-asked challenge is still evaded when its answer has no stance": words that nobody can read have none.
#[test]
fn a_challenge_that_is_put_again_and_answered_with_garbage_is_a_violation() {
    let debate = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if phase == "respond" && ask.seat == "critic" {
                drop_answers(said, &["C1"]);
            }
        });
        if phase == "intervene" { Some(Value::Null) } else { said }
    });
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["interventions"][0]["outcome"], "evaded");
    let first = entry(&outcome, "challenges", "id", "C1");
    assert_eq!((&first["fate"], &first["absent_in"]), (&json!("evaded"), &json!([])));
    let [violation] = outcome.verdict["violations"].as_array().unwrap().as_slice() else {
        panic!("{outcome:?}")
    };
    assert_eq!((&violation["round"], &violation["councillor"]), (&json!(1), &json!("critic")));
    assert!(violation["why"].as_str().unwrap().contains("could not be read"), "{violation}");
}

/// "Intervention budget: 3 a round (a reframing to all is one)"; "evasions first, then groupthink, then stale; an evasion that finds
/// no room is a violation".
#[test]
fn three_interventions_a_round_in_their_order() {
    let kinds = |unanswered: &[&str]| {
        let debate = debated(&|_, phase, round, said| match (phase, round) {
            ("respond", 1) => drop_answers(said, unanswered),
            ("moderate", 1) => {
                (said["new_arguments"], said["shared_points"]) = (json!([]), shared(&SEATS, false))
            }
            _ => {}
        });
        let outcome = debate.outcome.as_ref().unwrap();
        let put =
            outcome.verdict["interventions"].as_array().unwrap().iter().filter(|done| done["round"] == 1);
        let kinds: Vec<&str> = put.map(|done| done["kind"].as_str().unwrap()).collect();
        (kinds.join(" "), outcome.verdict["violations"].as_array().unwrap().len(), debate)
    };
    let (put, violations, debate) = kinds(&["C3"]);
    assert_eq!((put.as_str(), violations), ("evasion groupthink stale", 0));
    let seats: Vec<String> = asked(&debate, 1).into_iter().map(|(seat, _)| seat).collect();
    assert_eq!(seats, ["innovator", "critic", "visionary", "critic", "pragmatist", "innovator"]);
    let (put, violations, debate) = kinds(&["C1", "C2"]);
    assert_eq!((put.as_str(), violations), ("evasion evasion groupthink", 0));
    assert!(warned(debate.outcome.as_ref().unwrap(), "there was no room for a reframing question"));
    let (put, violations, debate) = kinds(&["C1", "C2", "C3", "C4"]);
    assert_eq!((put.as_str(), violations), ("evasion evasion evasion", 1));
    assert!(warned(
        debate.outcome.as_ref().unwrap(),
        "no room to have \"a trial comes first\" argued against"
    ));
    assert!(debate.outcome.unwrap().verdict["violations"][0]["why"].as_str().unwrap().contains("no room"));
}

/// "at least `max(3, ceil(0.6 n))` share, each shown by a verified quote, with no challenge against it": the Critic must steelman the
/// opposite, or the least convinced.
#[test]
fn groupthink_makes_the_critic_steelman_the_opposite() {
    for (n, from) in [(2, 3), (3, 3), (4, 3), (5, 3), (6, 4)] {
        assert_eq!(groupthink_min(n), from, "{n} councillors");
    }
    for (seats, challenged, fires) in
        [(4, false, true), (3, false, true), (2, false, false), (4, true, false)]
    {
        let debate = finds(&json!({"shared_points": shared(&SEATS[..seats], challenged)}));
        assert_eq!(
            asked(&debate, 1),
            if fires { to_critic("point 1") } else { Vec::new() },
            "{seats} {challenged}"
        );
    }
    let outcome = finds(&json!({"shared_points": shared(&SEATS, false)})).outcome.unwrap();
    let done = &outcome.verdict["interventions"][0];
    for (field, want) in [("kind", "groupthink"), ("about", "a trial comes first"), ("outcome", "answered")] {
        assert_eq!(done[field], want);
    }
    assert!(done["reply"].as_str().unwrap().contains("The trial itself could be the trap."));
    assert!(done["quote"].as_str().unwrap().contains("Innovator: \"innovator says"), "{}", done["quote"]);
    let without_critic = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| match (phase, round) {
            ("moderate", 1) => said["shared_points"] = shared(&SEATS, false),
            ("respond", 1) if ask.seat == "innovator" => said["confidence"] = json!("LOW"),
            _ => {}
        });
        said.filter(|_| (phase, round, ask.seat.as_str()) != ("respond", 1, "critic"))
    });
    assert_eq!(asked(&without_critic, 1), [("innovator".to_owned(), Some("point 1".to_owned()))]);
}

/// A challenge of the round against the quoted words is a challenge against the point, whatever the moderator says.
#[test]
fn a_challenge_against_the_quoted_words_is_a_challenge_against_the_point() {
    for (claim, fires) in
        [("critic says that the queue is worth a trial", false), ("critic argues from cost", true)]
    {
        let debate = debated(&|ask, phase, round, said| match (phase, round) {
            ("challenge", 1) if ask.seat == "visionary" => said["challenges"][0]["claim"] = json!(claim),
            ("moderate", 1) => said["shared_points"] = shared(&SEATS, false),
            _ => {}
        });
        assert_eq!(!asked(&debate, 1).is_empty(), fires, "{claim}");
    }
}

/// "with no challenge against it": a challenge that the moderator names must exist and be one to somebody who shares the point. The
/// word alone does not count.
#[test]
fn a_point_is_challenged_only_by_a_challenge_to_somebody_who_shares_it() {
    // C1 is put to the Critic, C3 to the Innovator, C4 to the Visionary.
    for (ids, by, fires) in [
        (&["C4"][..], &["C4"][..], false),
        (&["C4", "C1"], &["C1", "C4"], false),
        (&["C3"], &[], true),
        (&[], &[], true),
    ] {
        let mut points = shared(&SEATS[..3], true);
        points[0]["challenged_by"] = json!(ids);
        let debate = debated(&|_, phase, round, said| {
            if (phase, round) == ("moderate", 1) {
                said["shared_points"] = points.clone();
            }
        });
        assert_eq!(asked(&debate, 1).len(), usize::from(fires), "{ids:?}");
        let outcome = debate.outcome.unwrap();
        let found = &outcome.verdict["rounds"][0]["findings"]["shared_points"][0];
        assert_eq!(found["challenged_by"], json!(by));
        assert_eq!(
            warned(&outcome, "\"a trial comes first\" does not count as challenged"),
            fires,
            "{ids:?}"
        );
    }
}

/// A point is argued against once, and counts as challenged from then on. If nobody answered, it does not.
#[test]
fn a_point_is_steelmanned_once() {
    for answers in [true, false] {
        let debate = run(&[], &|ask, phase, round| {
            let said = with(ask, phase, round, &|said| {
                if phase == "moderate" {
                    said["shared_points"] = shared(&SEATS, false);
                    assert_eq!(
                        ask.prompt.user().contains("already asked to argue against these points"),
                        round == 2 && answers
                    );
                }
            });
            said.filter(|_| answers || phase != "intervene")
        });
        assert_eq!((asked(&debate, 1).len(), asked(&debate, 2).len()), (1, usize::from(!answers)));
        assert_eq!(debate.outcome.unwrap().verdict["consensus_points"][0]["challenged"], answers);
    }
}

/// "Stale: no position changed and no new argument: a reframing question to all", the moderator's own or one of the seed's.
#[test]
fn a_stale_round_gets_a_reframing_question() {
    let debate = finds(&json!({"new_arguments": [], "reframing_question": "What if it were free?"}));
    let seats: Vec<String> = asked(&debate, 1).into_iter().map(|(seat, _)| seat).collect();
    assert_eq!(seats, SEATS);
    let outcome = debate.outcome.unwrap();
    let done = &outcome.verdict["interventions"][0];
    for (field, want) in [
        ("kind", "stale"),
        ("to", "all"),
        ("question", "What if it were free?"),
        ("outcome", "0 of 4 changed their position"),
    ] {
        assert_eq!(done[field], want);
    }
    let drawn = finds(&json!({"new_arguments": []})).outcome.unwrap();
    let drawn = drawn.verdict["interventions"][0]["question"].as_str().unwrap().to_owned();
    assert!(REFRAMING_QUESTIONS.contains(&drawn.as_str()), "{drawn}");
    let moved = debated(&|ask, phase, round, said| match (phase, round) {
        ("moderate", 1) => said["new_arguments"] = json!([]),
        ("intervene", 1) if ask.seat == "pragmatist" => change(said, "Wait a year.", "time is the question"),
        _ => {}
    });
    let step = &moved.outcome.unwrap().verdict["position_evolution"]["pragmatist"][1];
    assert_eq!((&step["position"], &step["changed"]), (&json!("Wait a year."), &json!(true)));
    for change_it in [true, false] {
        let debate = debated(&|ask, phase, round, said| match (phase, round, ask.seat.as_str()) {
            ("moderate", 1, _) => said["new_arguments"] = json!([]),
            ("respond", 1, "critic") if change_it => {
                change(said, "Not before the figures are in.", "the figures")
            }
            ("respond", 1, "critic") => said["vote"] = json!("RECONSIDER"),
            _ => {}
        });
        assert_eq!(asked(&debate, 1), [], "a changed position or vote");
    }
}

/// Whatever is said and whoever is absent: every challenge has one fate, every violation is one that was evaded, at most three
/// interventions a round, and the minutes only grow.
#[test]
fn the_records_add_up_whatever_is_said_and_whoever_is_absent() {
    let (mut evaded, mut put_again) = (0, 0);
    for (seed, absent) in (0..6).flat_map(|seed| [0, 3, 8].map(|absent| (seed, absent))) {
        for set in
            [&[("rounds", "3")][..], &[("economy", "true")], &[("councillors", "3"), ("exchanges", "5")]]
        {
            let mut draw = agon_core::seed::SeededDraw::new(seed, "absences");
            let mut answer = |debate: &Debate, ask: &Ask| match absent > 0 && draw.below(absent) == 0 {
                true => Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() },
                false => agon_core::play::invent(&Council, debate, ask, seed),
            };
            let opened = Debate::open(Brief { seed, ..brief(set) }).unwrap().1;
            let debate =
                Debate::from_records(&play(&Council, vec![opened], &mut answer, &mut |_| {}).unwrap())
                    .unwrap();
            let verdict = &debate.outcome.as_ref().unwrap().verdict;
            let list = |name: &str| verdict[name].as_array().unwrap().clone();
            let ids = |entries: &[Value], field: &str| {
                entries
                    .iter()
                    .map(|entry| entry[field].to_string())
                    .collect::<std::collections::BTreeSet<_>>()
            };
            let with_fate = |fate: &str| {
                let all = list("challenges");
                ids(&all.into_iter().filter(|put| put["fate"] == fate).collect::<Vec<_>>(), "id")
            };
            assert_eq!(ids(&list("violations"), "challenge_id"), with_fate("evaded"));
            assert_eq!(list("violations").len(), with_fate("evaded").len(), "each is violated once");
            assert_eq!(ids(&list("open_questions"), "challenge_id"), with_fate("open"));
            for round in 1..=4 {
                assert!(list("interventions").iter().filter(|done| done["round"] == round).count() <= 3);
            }
            evaded += list("violations").len();
            put_again += list("interventions").len();
            let mut before = String::new();
            for turns in 0..=debate.turns.len() {
                let now = session(&until(&debate, turns));
                assert!(now.starts_with(&before), "{set:?}, seed {seed}, {turns} phases");
                before = now;
            }
            assert_eq!(view(&debate).checks.len(), 14);
        }
    }
    assert!(
        evaded > 20 && put_again > 20,
        "{evaded} violations, {put_again} interventions: too little happened"
    );
}
