//! "a scripted debate for every intervention that fires and one for each that must not".

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
fn an_unanswered_id_is_put_again_and_then_answered() {
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
fn an_empty_response_is_no_answer() {
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
    assert!(warned(&outcome, "quotation for the evasion of C2 does not stand in the answer"));
}

/// "each finding quotes the words it rests on": in the verdict every finding stands with them.
#[test]
fn every_finding_stands_with_its_words() {
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
fn who_answers_everything_is_left_in_peace() {
    let debate = intervened(&|_, _, _, _| {});
    assert_eq!(asked(&debate, 1), []);
    assert!(debate.turn("intervene", 1).is_none());
}

/// "A re-asked challenge is still evaded when its answer has no stance or repeats the first one": a violation.
#[test]
fn still_evaded_is_a_violation() {
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

/// What is only much like the first answer is a new one, and so is its denial.
#[test]
fn an_answer_that_says_more_or_the_contrary_is_no_repetition() {
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
fn a_challenge_is_put_again_once_in_the_whole_debate() {
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
fn at_most_three_interventions_a_round_evasions_first() {
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
fn evasions_come_before_groupthink_and_that_before_stale() {
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
fn without_a_moderator_arithmetic_still_finds() {
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
