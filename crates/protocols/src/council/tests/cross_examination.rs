//! Challenges and messages: "every challenge and opening question has an id, an owner and a fate".

use super::*;

fn fates(outcome: &Outcome) -> Vec<(String, String)> {
    let all = outcome.verdict["challenges"].as_array().unwrap().iter();
    all.map(|c| (c["id"].as_str().unwrap().to_owned(), c["fate"].as_str().unwrap().to_owned())).collect()
}

/// "numbered in seat order over the whole debate", the openings' questions first.
#[test]
fn ids_run_in_seat_order_over_the_whole_debate() {
    let outcome = outcome(&[], &|ask, phase, round| Some(plain(ask, phase, round)));
    let all = outcome.verdict["challenges"].as_array().unwrap();
    let owned: Vec<(&str, u64, &str, &str)> = all
        .iter()
        .map(|c| {
            (
                c["id"].as_str().unwrap(),
                c["round"].as_u64().unwrap(),
                c["from"].as_str().unwrap(),
                c["to"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(owned.len(), 4 + 8 + 8);
    assert_eq!(owned[0], ("C1", 0, "visionary", "critic"));
    assert_eq!(owned[3], ("C4", 0, "innovator", "visionary"));
    assert_eq!(owned[4], ("C5", 1, "visionary", "critic"));
    assert_eq!(owned[5], ("C6", 1, "visionary", "pragmatist"));
    assert_eq!(owned[19], ("C20", 2, "innovator", "critic"));
}

/// "The questions count as challenges to be answered in round 1"; what the last round asks stays open and is listed.
#[test]
fn challenges_are_answered_in_the_next_round_and_stay_open_after_the_last() {
    let outcome = outcome(&[], &|ask, phase, round| Some(plain(ask, phase, round)));
    let fates = fates(&outcome);
    assert!(fates[..12].iter().all(|(_, fate)| fate == "answered"), "{fates:?}");
    assert!(fates[12..].iter().all(|(_, fate)| fate == "open"), "{fates:?}");
    let first = &outcome.verdict["challenges"][0];
    assert_eq!((&first["stance"], &first["answered_in"]), (&json!("disagree"), &json!(1)));
    assert_eq!(first["response"], "On C1 the critic has measured it twice.");
    assert_eq!(outcome.verdict["challenges"][4]["answered_in"], 2);
    let open = outcome.verdict["open_questions"].as_array().unwrap();
    assert_eq!(open.len(), 8);
    assert!(open[0]["why"].as_str().unwrap().contains("round 2, the last"), "{}", open[0]);
}

/// "A claim should quote": whether it does is recorded and not enforced.
#[test]
fn the_record_says_whether_a_claim_is_really_quoted() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if phase == "challenge" && ask.seat == "critic" {
                said["challenges"][0]["claim"] = json!("the queue cures all ills");
            }
        })
    });
    assert_eq!(entry(&outcome, "challenges", "id", "C5")["quoted"], true);
    assert_eq!(entry(&outcome, "challenges", "id", "C7")["quoted"], false);
    assert_eq!(entry(&outcome, "challenges", "id", "C1")["quoted"], Value::Null, "a question quotes nothing");
}

/// "waiting (its target was absent; it is put again in the next round)": an absence is no evasion.
#[test]
fn a_challenge_to_an_absent_councillor_is_put_again_in_the_next_round() {
    let debate = run(&[], &|ask, phase, round| {
        if (phase, round, ask.seat.as_str()) == ("challenge", 2, "critic") {
            assert!(due(ask).contains(&"C1".to_owned()), "{:?}", due(ask));
        }
        let absent = (phase, round, ask.seat.as_str()) == ("challenge", 1, "critic");
        (!absent).then(|| plain(ask, phase, round))
    });
    let outcome = debate.outcome.unwrap();
    let first = &outcome.verdict["challenges"][0];
    assert_eq!((&first["fate"], &first["answered_in"]), (&json!("answered"), &json!(2)));
    assert_eq!(first["absent_in"], json!([1]));
    assert_eq!(outcome.verdict["violations"], json!([]));
    assert_eq!(outcome.verdict["interventions"], json!([]));
}

#[test]
fn a_question_to_a_councillor_without_an_opening_stays_open() {
    let outcome = outcome(&[], &|ask, phase, round| {
        if ask.seat == "critic" {
            return None;
        }
        with(ask, phase, round, &|said| {
            if phase == "challenge" {
                let others: Vec<&str> =
                    SEATS.into_iter().filter(|seat| *seat != "critic" && *seat != ask.seat).collect();
                said["challenges"][0]["to"] = json!(others[0]);
                said["challenges"][1]["to"] = json!(others[1]);
            }
        })
    });
    let first = &outcome.verdict["challenges"][0];
    assert_eq!((&first["to"], &first["fate"]), (&json!("critic"), &json!("open")));
    let open = entry(&outcome, "open_questions", "challenge_id", "C1");
    assert!(open["why"].as_str().unwrap().contains("took no part"), "{open}");
}

/// The Visionary writes to the Critic in round 1.
fn written(change: &dyn Fn(&Ask, &str, u32, &mut Value)) -> Debate {
    run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, round, ask.seat.as_str()) == ("challenge", 1, "visionary") {
                said["messages"] =
                    json!([{"to": "Critic", "topic": "the load", "text": "A secret figure: 4711."}]);
            }
            change(ask, phase, round, said);
        })
    })
}

/// "councillors send direct messages to each other, the recipient answers": only the recipients are asked.
#[test]
fn a_message_is_answered_by_its_recipient_and_by_nobody_else() {
    let debate = written(&|_, _, _, _| {});
    let turn = debate.turn("exchange", 1).unwrap();
    let seats: Vec<&str> = turn.asks.iter().map(|ask| ask.seat.as_str()).collect();
    assert_eq!(seats, ["critic"]);
    assert!(debate.turn("exchange", 2).is_none(), "without messages there is nothing to answer");
    let outcome = debate.outcome.unwrap();
    let want = json!([{"id": "M1", "from": "visionary", "to": "critic", "topic": "the load", "text": "A secret figure: 4711.",
        "reply": "critic answers M1.", "round": 1}]);
    assert_eq!(outcome.verdict["exchanges"], want);
    let log = &outcome.verdict["rounds"][0]["debate_log"];
    let outcome = json!({"id": "M1", "with": "critic", "topic": "the load", "outcome": "critic answers M1."});
    assert_eq!(log["visionary"]["peer_exchanges"], json!([outcome]));
    assert_eq!(log["critic"]["peer_exchanges"][0]["with"], "visionary");
    assert_eq!(log["innovator"]["peer_exchanges"], json!([]));
}

/// "What was said to and by a seat in exchanges is in that seat's later prompts and in nobody else's but the moderator's".
#[test]
fn messages_are_read_by_sender_recipient_and_moderator_only() {
    let debate = run(&[], &|ask, phase, round| {
        let read = ask.prompt.user().contains("4711");
        let expected = match (phase, round, ask.seat.as_str()) {
            ("opening", ..) | ("challenge", 1, _) => false,
            ("exchange", ..) => true,
            ("moderate", 1, _) => true,
            ("challenge", 2, "visionary" | "critic") | ("verdict", _, "visionary" | "critic") => true,
            _ => false,
        };
        assert_eq!(read, expected, "{phase} {round} {}", ask.seat);
        with(ask, phase, round, &|said| {
            if (phase, round, ask.seat.as_str()) == ("challenge", 1, "visionary") {
                said["messages"] =
                    json!([{"to": "critic", "topic": "the load", "text": "A secret figure: 4711."}]);
            }
        })
    });
    assert_eq!(debate.outcome.unwrap().status, Status::Complete);
}

/// "can change minds (the position update after the exchange says so)".
#[test]
fn an_exchange_can_change_a_mind() {
    let debate = written(&|_, phase, _, said| {
        if phase == "exchange" {
            said["changed"] = json!(true);
            said["position"] = json!("After the message the Critic is for it.");
            said["because"] = json!("the figure is right");
        }
    });
    let outcome = debate.outcome.unwrap();
    let steps = outcome.verdict["position_evolution"]["critic"].as_array().unwrap();
    assert_eq!(steps[1]["position"], "After the message the Critic is for it.");
    assert_eq!((&steps[1]["changed"], &steps[1]["because"]), (&json!(true), &json!("the figure is right")));
    assert_eq!(steps[2]["changed"], false);
}

/// "A message not answered is recorded."
#[test]
fn a_message_without_an_answer_is_recorded() {
    let debate = written(&|_, phase, _, said| {
        if phase == "exchange" {
            said["replies"] = json!([]);
        }
    });
    let outcome = debate.outcome.unwrap();
    assert_eq!(outcome.verdict["exchanges"][0]["reply"], Value::Null);
    assert_eq!(
        outcome.verdict["rounds"][0]["debate_log"]["critic"]["peer_exchanges"][0]["outcome"],
        "no answer"
    );
}
