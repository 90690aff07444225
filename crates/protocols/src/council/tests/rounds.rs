//! The rounds: challenges that quote, messages, answers in the same round, and where everybody stands after it.

use super::*;

fn fate_of(outcome: &Outcome, id: &str) -> Value {
    entry(outcome, "challenges", "id", id)["fate"].clone()
}

/// "numbered in seat order over the whole debate", the openings' questions first; all are answered in the round in which they are
/// put, the openings' in round 1, so that nothing stays open.
#[test]
fn every_challenge_has_an_id_and_is_answered_in_its_round() {
    let outcome = outcome(&[], &|ask, phase, round| {
        if (phase, round, ask.seat.as_str()) == ("respond", 1, "critic") {
            assert_eq!(due(ask), ["C1", "C5", "C12"]);
        }
        Some(plain(ask, phase, round))
    });
    let all = outcome.verdict["challenges"].as_array().unwrap();
    assert_eq!(all.len(), 4 + 8 + 8);
    for (at, id, round, from, to) in [
        (0, "C1", 0, "visionary", "critic"),
        (4, "C5", 1, "visionary", "critic"),
        (19, "C20", 2, "innovator", "critic"),
    ] {
        let want = json!([id, round, from, to]);
        assert_eq!(json!([all[at]["id"], all[at]["round"], all[at]["from"], all[at]["to"]]), want);
    }
    for challenge in all {
        assert_eq!(challenge["fate"], "answered", "{challenge}");
        let answered = challenge["answers"][0]["round"].as_u64().unwrap();
        assert_eq!(answered, challenge["round"].as_u64().unwrap().max(1));
    }
    assert_eq!(outcome.verdict["open_questions"], json!([]));
}

/// "each quoting the claim (verified)": a claim that the other did not say is sent back once; then the challenge stands, and is marked.
#[test]
fn a_claim_that_is_no_quote_is_marked() {
    for (claim, quoted) in [
        ("pragmatist  ARGUES from load", true),
        ("the queue cures all ills", false),
        ("critic argues from load", false),
        ("...", false),
    ] {
        let outcome = outcome(&[("rounds", "1")], &|ask, phase, round| {
            with(ask, phase, round, &|said| {
                if phase == "challenge" && ask.seat == "critic" {
                    said["challenges"][0]["claim"] = json!(if claim == "..." { "x" } else { claim });
                }
            })
        });
        assert_eq!(entry(&outcome, "challenges", "id", "C7")["quoted"], quoted, "{claim}");
        assert_eq!(
            entry(&outcome, "challenges", "id", "C1")["quoted"],
            Value::Null,
            "a question quotes nothing"
        );
    }
}

/// An absence is no evasion: the challenge is put in the next round, or stays open and says why.
#[test]
fn a_challenge_to_an_absent_councillor_waits() {
    let debate = run(&[], &|ask, phase, round| {
        if (phase, round, ask.seat.as_str()) == ("respond", 2, "critic") {
            assert!(due(ask).contains(&"C1".to_owned()), "{:?}", due(ask));
        }
        ((phase, round, ask.seat.as_str()) != ("respond", 1, "critic")).then(|| plain(ask, phase, round))
    });
    let once = debate.outcome.unwrap();
    assert_eq!(
        (fate_of(&once, "C1"), &entry(&once, "challenges", "id", "C1")["absent_in"]),
        (json!("answered"), &json!([1]))
    );
    assert_eq!((&once.verdict["violations"], &once.verdict["interventions"]), (&json!([]), &json!([])));
    let outcome = outcome(&[], &|ask, phase, round| {
        (phase != "respond" || ask.seat != "critic").then(|| plain(ask, phase, round))
    });
    assert_eq!(fate_of(&outcome, "C1"), "open");
    let open = entry(&outcome, "open_questions", "challenge_id", "C1");
    assert_eq!(open["why"], "the councillor who was asked was absent");
    assert_eq!(outcome.verdict["confidence_caps"], json!(["challenge_open"]));
}

/// "1 to `--exchanges` messages (a surplus is left out, not sent back)"; only sender, recipient and moderator read them.
#[test]
fn messages_are_private_and_limited_and_answered_in_the_round() {
    let debate = run(&[("exchanges", "2")], &|ask, phase, round| {
        let reads = ask.prompt.user().contains("4711");
        let expected = match (phase, round, ask.seat.as_str()) {
            ("moderate", ..) => true,
            ("challenge", 2, seat) | ("respond" | "verdict", _, seat) => {
                ["visionary", "critic"].contains(&seat)
            }
            _ => false,
        };
        assert_eq!(reads, expected, "{phase} {round} {}", ask.seat);
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("challenge", 1, "visionary") => {
                let letter = json!({"to": "Critic", "topic": "load", "text": "A secret figure: 4711."});
                said["messages"] = json!([letter, letter, letter]);
            }
            ("respond", 2, "critic") => said["replies"] = json!([]),
            // The case against a point is shown what the moderator quotes for it, so that is no message.
            ("moderate", 1, _) => {
                let mut points = super::moderation::shared(&["pragmatist", "critic", "innovator"], false);
                points[0]["members"][1]["quote"] = json!("critic answers M1.");
                let letter = json!({"councillor": "visionary", "quote": "A secret figure: 4711."});
                points[0]["members"].as_array_mut().unwrap().push(letter);
                said["shared_points"] = points;
            }
            _ => {}
        })
    });
    assert_eq!(view(&debate).checks.last().unwrap().note, "3 of 3 messages delivered");
    let outcome = debate.outcome.unwrap();
    assert!(warned(&outcome, "Visionary did not say \"A secret figure: 4711.\" to everybody, word for word"));
    assert!(warned(&outcome, "Critic did not say \"critic answers M1.\" to everybody, word for word"));
    let sent = outcome.verdict["exchanges"].as_array().unwrap();
    assert_eq!(sent.iter().filter(|message| message["round"] == 1).count(), 2, "the third is left out");
    let surplus = "round 1: Visionary sent 3 messages; the limit is 2, and the others were left out";
    assert!(outcome.warnings.iter().any(|warning| warning == surplus), "{:?}", outcome.warnings);
    assert!(warned(&outcome, "round 2: Critic did not reply to the message [M3] from Visionary"));
    let first = json!({"id": "M1", "from": "visionary", "to": "critic", "topic": "load", "text": "A secret figure: 4711.",
        "reply": "critic answers M1.", "round": 1});
    assert_eq!(sent[0], first);
    let log = &outcome.verdict["rounds"][0]["debate_log"];
    let exchange = json!({"id": "M1", "with": "critic", "topic": "load", "outcome": "critic answers M1."});
    assert_eq!(log["visionary"]["peer_exchanges"][0], exchange);
}

/// "Track position evolution across rounds (who changed their mind, and why)". Without a declared change the old words stand, and
/// without new key arguments the old ones.
#[test]
fn standings_follow_the_declared_changes() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("respond", 1, "innovator") => {
                change(said, "No queue for now.", "[C3] counts");
                said["key_arguments"] = json!(["It is dear", " "]);
                (said["confidence"], said["vote"]) = (json!("LOW"), json!("RECONSIDER"));
            }
            ("respond", 2, "innovator") => {
                said["position"] = json!("Away with the queue!");
                (said["confidence"], said["vote"]) = (json!("LOW"), json!("RECONSIDER"));
            }
            _ => {}
        })
    });
    let steps = outcome.verdict["position_evolution"]["innovator"].as_array().unwrap();
    let want = json!({"round": 1, "position": "No queue for now.", "key_arguments": ["It is dear"], "confidence": "LOW",
        "vote": "RECONSIDER", "changed": true, "because": "[C3] counts", "carried": false});
    assert_eq!((steps.len(), &steps[1]), (3, &want));
    assert_eq!((&steps[2]["position"], &steps[2]["changed"]), (&want["position"], &json!(false)));
    assert_eq!(steps[2]["key_arguments"], want["key_arguments"]);
    let log = &outcome.verdict["rounds"][0]["debate_log"]["innovator"];
    assert_eq!((&log["changed"], &log["vote"]), (&json!("yes: [C3] counts"), &json!("RECONSIDER")));
    assert_eq!(log["challenges_made"].as_array().unwrap().len(), 2);
    assert_eq!(log["challenges_received"][0]["point"], "innovator argues from load");
}

/// Evidence compares votes with votes: the openings' provisional votes, those of each round, and the final votes as ballots.
#[test]
fn the_positions_are_votes_from_first_to_last() {
    let debate = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("opening", _, "critic" | "innovator") => said["vote"] = json!("RECONSIDER"),
            ("respond", 1, "critic") => {
                change(said, "A trial it is.", "[M1] and C12 are right");
                said["responses"][0]["stance"] = json!("agree");
            }
            ("respond", 1, "innovator") => change(said, "A trial, then.", "I see it differently now"),
            ("respond", 2, "innovator") => {
                (said["because"], said["vote"]) = (json!("[C1] and [C13]"), json!("PROCEED WITH CONDITIONS"))
            }
            ("verdict", _, "visionary") => said["vote"] = json!("PROCEED WITH CONDITIONS"),
            _ => {}
        })
    });
    let view = view(&debate);
    let positions = &view.positions;
    assert_eq!(positions.grouping(), agon_core::PositionGrouping::Discrete);
    let rounds: Vec<(u32, bool, Option<&str>)> =
        positions.rounds.iter().map(|round| (round.round, round.ballots, round.ruling.as_deref())).collect();
    let (yes, but) = (Some("PROCEED"), Some("PROCEED WITH CONDITIONS"));
    assert_eq!(rounds, [(0, false, Some("RECONSIDER")), (1, false, yes), (2, false, but), (3, true, but)]);
    let flips = positions.flips();
    let flips: Vec<_> =
        flips.iter().map(|flip| (flip.round, flip.seat.as_str(), flip.cited.join(" "))).collect();
    let want = [
        (1, "critic", "[C12] [M1]".to_owned()),
        (1, "innovator", String::new()),
        (2, "innovator", "[C1]".to_owned()),
        (3, "visionary", String::new()),
        (3, "innovator", String::new()),
    ];
    assert_eq!(flips, want, "a change rests on the ids in its reason that the councillor was shown");
    let change = positions.rounds[2].stands[3].change.as_ref().unwrap();
    assert_eq!(change.unverified, ["[C13], which it had not read"]);
    assert_eq!(positions.decided, agon_core::DecidedPosition::Held("PROCEED WITH CONDITIONS".into()));
    let ballots: Vec<&str> = view.ballots.iter().map(|ballot| ballot.answer.as_str()).collect();
    assert_eq!(ballots, ["PROCEED", "RECONSIDER", "PROCEED", "RECONSIDER"]);
    let votes: Vec<&str> = view.votes.iter().map(|vote| vote.vote.as_str()).collect();
    assert_eq!(votes, ["PROCEED WITH CONDITIONS", "PROCEED", "PROCEED", "PROCEED"]);
}

/// "Extra fields are ignored, missing optional ones are empty", also where they are broken or null.
#[test]
fn fields_that_were_not_asked_for_are_ignored() {
    for messages in [json!([{"to": "critic", "text": "no topic"}]), Value::Null, json!("words")] {
        let debate = run(&[("economy", "true")], &|ask, phase, round| {
            with(ask, phase, round, &|said| match phase {
                "challenge" => said["messages"] = messages.clone(),
                "respond" => (said["replies"], said["key_arguments"]) = (messages.clone(), json!([])),
                "conclude" => said["merged"] = messages.clone(),
                _ => {}
            })
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.status, &outcome.verdict["exchanges"]), (Status::Complete, &json!([])));
    }
}
