//! "a scripted debate for every intervention that fires and one for each that must not".

use super::super::moderation::{REFRAMING_QUESTIONS, groupthink_min};
use super::*;

pub(super) fn asked(debate: &Debate, round: u32) -> Vec<(String, Option<String>)> {
    let turn = debate.turn("intervene", round);
    let asks = turn.into_iter().flat_map(|turn| &turn.asks);
    asks.map(|ask| (ask.seat.clone(), ask.about.clone())).collect()
}

pub(super) fn intervened(change: &dyn Fn(&Ask, &str, u32, &mut Value)) -> Debate {
    run(&[], &|ask, phase, round| with(ask, phase, round, &|said| change(ask, phase, round, said)))
}

/// A moderator that finds this in round 1.
pub(super) fn finds(finding: &Value) -> Debate {
    intervened(&|_, phase, round, said| {
        if (phase, round) == ("moderate", 1) {
            for (key, value) in finding.as_object().unwrap() {
                said[key] = value.clone();
            }
        }
    })
}

fn drop_answers(said: &mut Value, ids: &[&str]) {
    let responses = said["responses"].as_array_mut();
    responses
        .into_iter()
        .for_each(|all| all.retain(|response| !ids.contains(&response["challenge_id"].as_str().unwrap())));
}

/// "Never let a councillor evade a direct challenge - enforce engagement": an id with no answer is put again, once.
#[test]
fn an_unanswered_challenge_is_put_again() {
    let debate = intervened(&|_, phase, round, said| {
        if (phase, round) == ("challenge", 1) {
            drop_answers(said, &["C1"]);
        }
    });
    assert_eq!(asked(&debate, 1), [("critic".to_owned(), Some("C1".to_owned()))]);
    let outcome = debate.outcome.unwrap();
    let first = entry(&outcome, "challenges", "id", "C1");
    assert_eq!(
        (&first["fate"], &first["re_asked"], &first["stance"]),
        (&json!("answered"), &json!(1), &json!("modified"))
    );
    let done = &outcome.verdict["interventions"][0];
    for (field, want) in [("kind", "evasion"), ("to", "critic"), ("about", "C1"), ("outcome", "answered")] {
        assert_eq!(done[field], want);
    }
    assert!(done["quote"].as_str().unwrap().contains("What does the visionary overlook?"));
    assert_eq!(outcome.verdict["violations"], json!([]));
}

#[test]
fn an_empty_response_does_not_answer_a_challenge() {
    let debate = intervened(&|_, phase, round, said| {
        if (phase, round) == ("challenge", 1) {
            said["responses"][0]["response"] = json!("  ");
        }
    });
    assert_eq!(asked(&debate, 1).len(), 3, "three of the four find room");
    assert_eq!(debate.outcome.unwrap().verdict["violations"].as_array().unwrap().len(), 1);
}

/// "an answer that the moderator finds does not engage it"; "each finding quotes the words it rests on", or else the answer.
#[test]
fn an_evasive_answer_is_put_again_with_words_that_were_said() {
    let found =
        |quote: &str| json!({"evasions": [{"challenge_id": "C2", "why": "no figure", "quote": quote}]});
    let debate = finds(&found("HAS measured\n it twice."));
    assert_eq!(asked(&debate, 1), [("pragmatist".to_owned(), Some("C2".to_owned()))]);
    let outcome = debate.outcome.unwrap();
    let done = &outcome.verdict["interventions"][0];
    assert_eq!((&done["quote"], &done["why"]), (&json!("HAS measured\n it twice."), &json!("no figure")));
    let answers = entry(&outcome, "challenges", "id", "C2")["answers"].as_array().unwrap().len();
    assert_eq!(answers, 2, "both answers are kept");

    let debate = finds(&found("I would rather not say"));
    assert_eq!(asked(&debate, 1), [("pragmatist".to_owned(), Some("C2".to_owned()))]);
    let outcome = debate.outcome.unwrap();
    let quote = outcome.verdict["interventions"][0]["quote"].as_str().unwrap();
    assert!(quote.contains("measured it twice"), "what was not said is not quoted: {quote}");
    assert!(warned(&outcome, "quotation for the evasion of C2 does not occur in the answer"));
}

/// "each finding quotes the words it rests on": in the verdict every finding stands with them.
#[test]
fn every_finding_carries_the_words_it_rests_on() {
    let debate = finds(&json!({
        "evasions": [{"challenge_id": "C2", "why": "no figure", "quote": "measured it twice"}],
        "shared_points": [{"point": "the queue is worth a trial", "councillors": ["Critic", "visionary"], "challenged": true}],
    }));
    let outcome = debate.outcome.unwrap();
    let found = &outcome.verdict["rounds"][0]["findings"];
    assert_eq!(
        found["evasions"],
        json!([{"challenge_id": "C2", "why": "no figure", "quote": "measured it twice"}])
    );
    let quotes = json!([
        {"councillor": "visionary", "quote": "The visionary says that the queue is worth a trial."},
        {"councillor": "critic", "quote": "The critic says that the queue is worth a trial."},
    ]);
    assert_eq!(found["shared_points"][0]["quotes"], quotes);
    let new = json!([{"councillor": "visionary", "quote": "In round 1 the visionary brings the figures of spring."}]);
    assert_eq!(found["new_arguments"], new);
}

#[test]
fn nothing_is_put_again_when_everything_is_answered() {
    let debate = intervened(&|_, _, _, _| {});
    assert_eq!(asked(&debate, 1), []);
    assert!(debate.turn("intervene", 1).is_none());
}

/// "A re-asked challenge is still evaded when its answer has no stance or repeats the first one": a violation.
#[test]
fn a_second_evasion_is_a_violation() {
    let repeated = "On C2 the pragmatist has measured it twice.";
    for (stance, response, why) in [
        (Value::Null, "Here is a figure: 12%.", "no stance"),
        (json!("agree"), " ", "empty"),
        (json!("agree"), repeated, "repeats"),
        (json!("agree"), "on c2: the PRAGMATIST has measured it twice", "repeats"),
        (json!("agree"), "Twice the pragmatist has measured it, on C2.", "repeats"),
    ] {
        let debate = intervened(&|_, phase, round, said| match (phase, round) {
            ("moderate", 1) => {
                said["evasions"] =
                    json!([{"challenge_id": "C2", "why": "no figure", "quote": "measured it twice"}]);
            }
            ("intervene", _) => {
                said["stance"] = stance.clone();
                said["response"] = json!(response);
            }
            _ => {}
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!(entry(&outcome, "challenges", "id", "C2")["fate"], "evaded", "{response:?}");
        let violation = &outcome.verdict["violations"][0];
        assert_eq!(
            (&violation["councillor"], &violation["challenge_id"]),
            (&json!("pragmatist"), &json!("C2"))
        );
        assert!(violation["why"].as_str().unwrap().contains(why), "{violation}");
        assert_eq!(outcome.verdict["interventions"][0]["outcome"], "evaded");
        assert!(
            outcome.rounds_completed == 2 && outcome.status == Status::Complete,
            "it is recorded, and the debate goes on"
        );
    }
}

#[test]
fn a_longer_or_opposite_answer_is_not_a_repetition() {
    for response in [
        "On C2 the pragmatist has measured it twice, in May and in June.",
        "On C2 the pragmatist has not measured it twice.",
    ] {
        let debate = intervened(&|_, phase, round, said| match (phase, round) {
            ("moderate", 1) => {
                said["evasions"] =
                    json!([{"challenge_id": "C2", "why": "no figure", "quote": "measured it twice"}]);
            }
            ("intervene", _) => said["response"] = json!(response),
            _ => {}
        });
        assert_eq!(
            entry(&debate.outcome.unwrap(), "challenges", "id", "C2")["fate"],
            "answered",
            "{response:?}"
        );
    }
}

/// "(then: `evaded`? no: an absence is not an evasion)": it waits for the next round, and is re-asked only once in the whole debate.
#[test]
fn a_challenge_is_put_again_only_once_in_a_debate() {
    let debate = run(&[("rounds", "3")], &|ask, phase, round| {
        if phase == "intervene" {
            return None;
        }
        with(ask, phase, round, &|said| {
            if phase == "challenge" {
                drop_answers(said, &["C1"]);
            }
        })
    });
    assert_eq!(asked(&debate, 1), [("critic".to_owned(), Some("C1".to_owned()))]);
    assert_eq!(asked(&debate, 2), []);
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["interventions"][0]["outcome"], "absent");
    let first = entry(&outcome, "challenges", "id", "C1");
    assert_eq!((&first["fate"], &first["absent_in"]), (&json!("evaded"), &json!([1])));
    assert_eq!(outcome.verdict["violations"][0]["round"], 2);
    assert!(outcome.verdict["violations"][0]["why"].as_str().unwrap().contains("put again before"));
}

/// "Intervention budget: 3 a round"; "evasions first"; "an evasion that finds no room is a violation".
#[test]
fn a_round_has_at_most_three_interventions_and_evasions_come_first() {
    let debate = intervened(&|_, phase, round, said| match (phase, round) {
        ("challenge", 1) => drop_answers(said, &["C1", "C2", "C3", "C4"]),
        ("moderate", 1) => {
            said.as_object_mut().unwrap().remove("evasions");
            said["new_arguments"] = json!([]);
            said["shared_points"] =
                json!([{"point": "the queue is worth a trial", "councillors": SEATS, "challenged": false}]);
        }
        _ => {}
    });
    let ids: Vec<String> = asked(&debate, 1).into_iter().filter_map(|(_, about)| about).collect();
    assert_eq!(ids, ["C1", "C2", "C3"], "in id order, and no room for groupthink and stale");
    let outcome = debate.outcome.unwrap();
    assert_eq!(entry(&outcome, "challenges", "id", "C4")["fate"], "evaded");
    let violations = outcome.verdict["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1);
    assert!(violations[0]["why"].as_str().unwrap().contains("no room"), "{violations:?}");
}

/// Unanswered ids come before evasions that were found, then groupthink, then stale.
#[test]
fn interventions_come_in_the_order_evasion_groupthink_stale() {
    let debate = intervened(&|_, phase, round, said| match (phase, round) {
        ("challenge", 1) => drop_answers(said, &["C3"]),
        ("moderate", 1) => {
            said["new_arguments"] = json!([]);
            said["shared_points"] =
                json!([{"point": "the queue is worth a trial", "councillors": SEATS, "challenged": false}]);
        }
        _ => {}
    });
    let kinds: Vec<Value> = debate.outcome.as_ref().unwrap().verdict["interventions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["kind"].clone())
        .collect();
    assert_eq!(kinds, ["evasion", "groupthink", "stale"]);
    let seats: Vec<String> = asked(&debate, 1).into_iter().map(|(seat, _)| seat).collect();
    assert_eq!(
        seats,
        ["innovator", "critic", "visionary", "critic", "pragmatist", "innovator"],
        "a question to all is one intervention"
    );
}

/// "Absent moderator: only what arithmetic finds": unanswered ids, and no change with no new argument of anybody's own.
#[test]
fn what_can_be_counted_is_found_without_a_moderator() {
    let absent = |new: bool| {
        run(&[], &move |ask, phase, round| {
            if phase == "moderate" {
                return None;
            }
            with(ask, phase, round, &|said| {
                if phase == "challenge" {
                    drop_answers(said, &["C1"]);
                    if !new {
                        said["new_arguments"] = json!([]);
                    }
                }
            })
        })
    };
    let debate = absent(true);
    assert_eq!(asked(&debate, 1), [("critic".to_owned(), Some("C1".to_owned()))]);
    assert!(warned(debate.outcome.as_ref().unwrap(), "the moderator was absent"));
    assert_eq!(debate.outcome.unwrap().status, Status::Complete);
    assert_eq!(asked(&absent(false), 1).len(), 5, "and the reframing to all");
}

/// "at least `max(3, ceil(0.6 n))`", both sides of it for 3 to 6 councillors.
#[test]
fn groupthink_needs_three_councillors_and_sixty_percent() {
    for (n, from) in [(2, 3), (3, 3), (4, 3), (5, 3), (6, 4)] {
        assert_eq!(groupthink_min(n), from, "{n} councillors");
    }
    let six = [("councillors", "6"), ("focus", "queues")];
    let seats = ["visionary", "critic", "pragmatist", "innovator", "ethicist", "domain-expert"];
    for (n, set, sharing, fires) in
        [(4, &[][..], 2, false), (4, &[], 3, true), (6, &six, 3, false), (6, &six, 4, true)]
    {
        let debate = run(set, &|ask, phase, round| {
            let place = seats.iter().position(|seat| *seat == ask.seat);
            let other = |steps: usize| place.map(|place| seats[(place + steps) % n]);
            let mut said = match phase {
                "opening" | "challenge" if place.unwrap() >= SEATS.len() => {
                    let mut standing_in = ask.clone();
                    standing_in.seat = "critic".into();
                    plain(&standing_in, phase, round)
                }
                _ => plain(ask, phase, round),
            };
            if let Some(questions) = said.get_mut("questions") {
                questions[0]["to"] = json!(other(1));
            }
            if let Some(challenges) = said.get_mut("challenges") {
                challenges[0]["to"] = json!(other(1));
                challenges[1]["to"] = json!(other(2));
            }
            if (phase, round) == ("moderate", 1) {
                said["shared_points"] = json!([{"point": "the queue is worth a trial", "councillors": seats[..sharing], "challenged": false}]);
            }
            Some(said)
        });
        let want: &[(String, Option<String>)] = &[("critic".to_owned(), Some("point 1".to_owned()))];
        assert_eq!(asked(&debate, 1), if fires { want } else { &[] }, "{sharing} of {n}");
    }
}

fn shares(challenged: bool) -> Value {
    json!({"shared_points": [{"point": "the queue is worth a trial", "councillors": SEATS, "challenged": challenged}]})
}

/// "Moderator MUST inject anti-groupthink questions if positions converge too quickly": the Critic must steelman the opposite.
#[test]
fn groupthink_makes_the_critic_steelman_the_opposite() {
    let debate = finds(&shares(false));
    assert_eq!(asked(&debate, 1), [("critic".to_owned(), Some("point 1".to_owned()))]);
    let outcome = debate.outcome.unwrap();
    let done = &outcome.verdict["interventions"][0];
    for (field, want) in
        [("kind", "groupthink"), ("about", "the queue is worth a trial"), ("outcome", "answered")]
    {
        assert_eq!(done[field], want);
    }
    assert!(done["reply"].as_str().unwrap().contains("The trial itself could be the trap."));
    for seat in ["Visionary", "Critic", "Pragmatist", "Innovator"] {
        assert!(done["quote"].as_str().unwrap().contains(&format!("{seat}: \"The")), "{}", done["quote"]);
    }
}

/// "without rigorous challenge": a point that was challenged is none.
#[test]
fn a_challenged_point_is_not_groupthink() {
    assert_eq!(asked(&finds(&shares(true)), 1), []);
}

/// "The moderator's findings always quote the words they rest on": what nobody said is shared by nobody, and what was said in other
/// words is shown by the moderator's own quotation.
#[test]
fn a_shared_point_must_rest_on_words_that_were_said() {
    let found = |quotes: Value| json!({"shared_points": [{"point": "Dragons!", "councillors": SEATS, "challenged": false, "quotes": quotes}]});
    let debate = finds(&found(json!([])));
    assert_eq!(asked(&debate, 1), []);
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["consensus_points"], json!([]), "and no consensus");
    assert!(warned(&outcome, "Critic does not count as sharing \"Dragons!\": nothing they said supports it"));
    let notes = outcome.verdict["rounds"][0]["summary"]["moderator_notes"].as_array().unwrap();
    assert!(
        notes.iter().any(|note| note.as_str().unwrap().starts_with("Note: Critic does not count")),
        "{notes:?}"
    );
    let said = |seat: &str, quote: &str| json!({"councillor": seat, "quote": quote});
    let three = SEATS[..3].iter().map(|seat| said(seat, &format!("{seat} argues from load")));
    let debate = finds(&found(three.chain([said(SEATS[3], "Here be dragons")]).collect()));
    assert_eq!(asked(&debate, 1), [("critic".to_owned(), Some("point 1".to_owned()))]);
    let point = &debate.outcome.unwrap().verdict["consensus_points"][0];
    assert_eq!(point["councillors"], json!(SEATS[..3]), "a quotation that does not occur does not count");
    assert_eq!(point["quotes"][0]["quote"], format!("{} argues from load", SEATS[0]));
}

#[test]
fn a_point_is_steelmanned_once() {
    let debate = intervened(&|_, phase, _, said| {
        if phase == "moderate" {
            said["shared_points"] = shares(false)["shared_points"].clone();
        }
    });
    assert_eq!((asked(&debate, 1).len(), asked(&debate, 2).len()), (1, 0));
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["consensus_points"][0]["challenged"], true);
    for round in 0..2 {
        let summary = &outcome.verdict["rounds"][round]["summary"]["emerging_consensus"];
        assert_eq!(
            summary,
            &json!(["the queue is worth a trial (Visionary, Critic, Pragmatist, Innovator)"])
        );
    }
    let absent = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if phase == "moderate" {
                said["shared_points"] = shares(false)["shared_points"].clone();
            }
        });
        said.filter(|_| phase != "intervene")
    });
    let outcome = absent.outcome.unwrap();
    assert_eq!(
        outcome.verdict["consensus_points"][0]["challenged"], false,
        "nobody made the case against it"
    );
}

/// "the Critic (or the least convinced)".
#[test]
fn the_least_convinced_steelmans_when_the_critic_is_absent() {
    let debate = run(&[], &|ask, phase, round| {
        if (phase, round, ask.seat.as_str()) == ("challenge", 1, "critic") {
            return None;
        }
        with(ask, phase, round, &|said| match (phase, round) {
            ("moderate", 1) => said["shared_points"] = shares(false)["shared_points"].clone(),
            ("challenge", 1) if ask.seat == "innovator" => said["confidence"] = json!("LOW"),
            _ => {}
        })
    });
    assert_eq!(asked(&debate, 1), [("innovator".to_owned(), Some("point 1".to_owned()))]);
}

/// "with no challenge against it": one that quotes the point is in the log, whatever the moderator says.
#[test]
fn a_challenge_that_quotes_a_shared_point_is_a_challenge_against_it() {
    for (claim, fires) in [("The queue is worth a trial.", false), ("The queue is slow.", true)] {
        let debate = intervened(&|ask, phase, round, said| match (phase, round) {
            ("challenge", 1) if ask.seat == "visionary" => said["challenges"][0]["claim"] = json!(claim),
            ("moderate", 1) => said["shared_points"] = shares(false)["shared_points"].clone(),
            _ => {}
        });
        let steelmen = asked(&debate, 1).iter().filter(|(seat, _)| seat == "critic").count();
        assert_eq!(steelmen, usize::from(fires), "{claim}");
    }
}

/// "If a round produces no position changes and no new arguments: inject a reframing question", to all.
#[test]
fn a_stale_round_gets_a_reframing_question() {
    let debate = finds(&json!({"new_arguments": [], "reframing_question": "What if it were free?"}));
    let seats: Vec<String> = asked(&debate, 1).into_iter().map(|(seat, _)| seat).collect();
    assert_eq!(seats, SEATS);
    let outcome = debate.outcome.unwrap();
    let done = &outcome.verdict["interventions"][0];
    assert_eq!(
        (&done["kind"], &done["to"], &done["question"]),
        (&json!("stale"), &json!("all"), &json!("What if it were free?"))
    );
    assert_eq!(done["outcome"], "0 of 4 changed their position");
    assert_eq!(done["replies"].as_array().unwrap().len(), 4);
}

#[test]
fn a_reframing_question_is_drawn_when_the_moderator_gives_none() {
    let debate = finds(&json!({"new_arguments": []}));
    let question =
        debate.outcome.unwrap().verdict["interventions"][0]["question"].as_str().unwrap().to_owned();
    assert!(REFRAMING_QUESTIONS.contains(&question.as_str()), "{question}");
}

#[test]
fn a_reframing_can_move_a_position() {
    let debate = intervened(&|ask, phase, round, said| match (phase, round) {
        ("moderate", 1) => said["new_arguments"] = json!([]),
        ("intervene", 1) if ask.seat == "pragmatist" => {
            *said = json!({"effect": "All of it.", "position": "Wait a year.", "changed": true, "because": "time is the question"});
        }
        _ => {}
    });
    let outcome = debate.outcome.unwrap();
    let step = &outcome.verdict["position_evolution"]["pragmatist"][1];
    assert_eq!((&step["position"], &step["changed"]), (&json!("Wait a year."), &json!(true)));
    assert_eq!(outcome.verdict["interventions"][0]["outcome"], "1 of 4 changed their position");
}

#[test]
fn a_round_with_a_change_or_a_new_argument_is_not_stale() {
    let debate = intervened(&|ask, phase, round, said| match (phase, round) {
        ("moderate", 1) => said["new_arguments"] = json!([]),
        ("challenge", 1) if ask.seat == "critic" => {
            said["changed"] = json!(true);
            said["because"] = json!("the figures");
            said["position"] = json!("Not before the figures are in.");
        }
        _ => {}
    });
    assert_eq!(asked(&debate, 1), []);
    let found = finds(&json!({"new_arguments": [{"councillor": "critic", "argument": "Dragons!"}]}));
    assert_eq!(asked(&found, 1).len(), 4, "an argument without words does not count, so the round is stale");
    let outcome = found.outcome.unwrap();
    assert!(!outcome.verdict["rounds"][0]["findings"]["new_arguments"].to_string().contains("Dragons"));
    assert!(warned(
        &outcome,
        "the new argument of Critic does not count: nothing they said in this round makes it"
    ));
}

/// "Each round must produce NEW insights, not repeat previous arguments": words that were said before are not new, whoever says so.
#[test]
fn repeated_words_are_not_a_new_argument() {
    let repeated = "Visionary: argues from LOAD";
    let found = finds(&json!({"new_arguments": [{"councillor": "critic", "argument": repeated}]}));
    assert_eq!(asked(&found, 1).len(), 4, "the round is stale");
    assert!(warned(&found.outcome.unwrap(), "its words were said in an earlier round"));
    let same = intervened(&|_, phase, _, said| match phase {
        "moderate" => {
            said["new_arguments"] = json!([{"councillor": "visionary", "argument": "figures of spring"}])
        }
        "challenge" => said["new_arguments"] = json!(["The figures of spring."]),
        _ => {}
    });
    assert_eq!((asked(&same, 1).len(), asked(&same, 2).len()), (0, 4), "new in round 1 and not in round 2");
    let alone = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if phase == "challenge" {
                said["new_arguments"] = json!(["The figures of spring."]);
            }
        });
        said.filter(|_| phase != "moderate")
    });
    assert_eq!((asked(&alone, 1).len(), asked(&alone, 2).len()), (0, 4), "without a moderator too");
}
