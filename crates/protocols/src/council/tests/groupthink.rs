//! "Anti-groupthink": when a point that many share must be argued against, by whom, and when not.

use super::super::moderation::groupthink_from;
use super::interventions::{asked, finds, intervened};
use super::*;

/// "at least `max(3, ceil(0.6 n))`", both sides of it for 3 to 6 councillors.
#[test]
fn groupthink_needs_three_and_sixty_percent() {
    for (n, from) in [(2, 3), (3, 3), (4, 3), (5, 3), (6, 4)] {
        assert_eq!(groupthink_from(n), from, "{n} councillors");
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
fn a_challenged_point_is_no_groupthink() {
    assert_eq!(asked(&finds(&shares(true)), 1), []);
}

/// "The moderator's findings always quote the words they rest on": what nobody said is shared by nobody, and what was said in other
/// words is shown by the moderator's own quotation.
#[test]
fn a_shared_point_rests_on_words_that_were_said() {
    let found = |quotes: Value| json!({"shared_points": [{"point": "Dragons!", "councillors": SEATS, "challenged": false, "quotes": quotes}]});
    let debate = finds(&found(json!([])));
    assert_eq!(asked(&debate, 1), []);
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["consensus_points"], json!([]), "and no consensus");
    assert!(warned(&outcome, "Critic does not count as sharing \"Dragons!\": no words of theirs say it"));
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
    assert_eq!(point["councillors"], json!(SEATS[..3]), "a quotation that nobody said shows nothing");
    assert_eq!(point["quotes"][0]["quote"], format!("{} argues from load", SEATS[0]));
}

/// A point against which the case was made is not unchallenged any more.
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
    assert_eq!(outcome.verdict["consensus_points"][0]["challenged"], false, "a steelman that nobody made");
}

/// "the Critic (or the least convinced)".
#[test]
fn without_the_critic_the_least_convinced_steelmans() {
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
fn a_challenge_that_quotes_the_point_is_against_it() {
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
