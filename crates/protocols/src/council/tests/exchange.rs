//! "Peer exchange is the seed's key differentiator: messages go to one recipient, are answered, can change minds".

use super::*;

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
