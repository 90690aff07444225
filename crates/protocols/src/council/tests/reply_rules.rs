//! The rules that a schema cannot express, and what the schemas enumerate.

use super::*;

/// The first ask of a phase, with the debate as it is then.
fn at(phase: &str, seat: &str) -> (Debate, Ask) {
    let mut found = None;
    let mut answer = |debate: &Debate, ask: &Ask| {
        let now = debate.last_phase().unwrap();
        if found.is_none() && now.name == phase && ask.seat == seat {
            found = Some((debate.clone(), ask.clone()));
        }
        let mut value = plain(ask, &now.name, now.round);
        if now.name == "moderate" {
            value["new_arguments"] = json!([]);
        }
        let (model, usage) = (ask.model.clone(), CallUsage::default());
        Reply::Said {
            text: value.to_string(),
            value: Some(value),
            model,
            usage,
            cut_off: false,
            shortened: None,
        }
    };
    let opened = Debate::open(brief(&[])).unwrap().1;
    play(&Council, vec![opened], &mut answer, &mut |_| {}).unwrap();
    found.unwrap()
}

/// What is wrong with a reply: `I` for invalid, `U` for unverified, with the sentence; empty if nothing is.
fn fault(phase: &str, seat: &str, change: &dyn Fn(&mut Value)) -> String {
    let (debate, ask) = at(phase, seat);
    let mut value = plain(&ask, phase, debate.last_phase().unwrap().round);
    change(&mut value);
    match Council.check(&debate, &ask, &value) {
        Ok(()) => String::new(),
        Err(ReplyFault::Invalid(why)) => format!("I {why}"),
        Err(ReplyFault::Unverified(why)) => format!("U {why}"),
    }
}

/// Every rule: the phase, the seat, a place in the reply, what stands there, and what the fault says.
#[test]
#[allow(clippy::too_many_lines, reason = "a table is as long as it is")]
fn every_rule_names_what_is_wrong() {
    let four = json!(["a", "b", "c", "d", "e", "f"]);
    let same = json!("The VISIONARY says  that the queue is worth a trial.");
    for (phase, seat, place, value, want) in [
        ("opening", "critic", "/position", json!(" "), "I `position` must not be empty"),
        (
            "opening",
            "critic",
            "/arguments",
            json!(["a", "b", " "]),
            "I `arguments` has 2 arguments, but it must have 3 to 5",
        ),
        ("opening", "critic", "/arguments", four, "I `arguments` has 6"),
        ("opening", "critic", "/questions", json!([]), "I `questions` is empty"),
        ("opening", "critic", "/questions/0/to", json!("Critic"), "I `questions` names yourself"),
        ("opening", "critic", "/questions/0/question", json!("?"), "I `question` must not be empty"),
        ("challenge", "visionary", "/challenges", json!([]), "I `challenges` has 0"),
        ("challenge", "visionary", "/challenges/0/to", json!("visionary"), "I `challenges` names yourself"),
        (
            "challenge",
            "visionary",
            "/challenges/0/to",
            json!("ethicist"),
            "I `challenges` names \"ethicist\", who does not take part",
        ),
        ("challenge", "visionary", "/challenges/0/claim", json!(""), "I `claim` must not be empty"),
        ("challenge", "visionary", "/challenges/0/reason", json!(""), "I `reason` must not be empty"),
        ("challenge", "visionary", "/challenges/0/question", json!(""), "I `question` must not be empty"),
        (
            "challenge",
            "visionary",
            "/challenges/0/claim",
            json!("Dragons"),
            "U critic did not say \"Dragons\" word for word. Keep at least 2 challenges: only the quote does not count",
        ),
        (
            "challenge",
            "visionary",
            "/challenges/0/claim",
            json!("pragmatist argues from load"),
            "U critic did not say",
        ),
        ("challenge", "visionary", "/challenges/0/claim", json!("CRITIC argues from\nload"), ""),
        ("challenge", "visionary", "/messages/0/to", json!("visionary"), "I `messages` names yourself"),
        ("challenge", "visionary", "/messages/0/text", json!(""), "I `text` must not be empty"),
        ("respond", "visionary", "/changed", json!(true), "I `changed` is true, so `position` must state"),
        ("respond", "visionary", "/vote", json!("RECONSIDER"), ""),
        ("respond", "visionary", "/responses", json!([]), ""),
        ("moderate", "moderator", "/key_exchanges", json!(["C1", "C99"]), ""),
        ("verdict", "critic", "/final_position", json!(""), "I `final_position` must not be empty"),
        ("verdict", "critic", "/key_argument", json!(""), "I `key_argument` must not be empty"),
        ("verdict", "critic", "/risks", Value::Null, ""),
        (
            "verdict",
            "critic",
            "/vote",
            json!("RECONSIDER"),
            "U your provisional vote was PROCEED, so `because` must say why",
        ),
        (
            "conclude",
            "moderator",
            "/agreed",
            json!("Go ahead."),
            "U `agreed` needs a quote of more than half",
        ),
        (
            "conclude",
            "moderator",
            "/quotes",
            json!([{"councillor": "critic", "quote": "Dragons"}]),
            "U Critic did not say \"Dragons\" in the final statement, word for word.",
        ),
    ] {
        let seen = fault(phase, seat, &|said: &mut Value| *said.pointer_mut(place).unwrap() = value.clone());
        assert!(
            if want.is_empty() { seen.is_empty() } else { seen.starts_with(want) },
            "{phase} {place} {value}: {seen:?}"
        );
    }
    let twice = fault("challenge", "visionary", &|said| {
        said["challenges"][1] = said["challenges"][0].clone();
        said["challenges"][1]["to"] = json!("Critic");
        said["challenges"][1]["claim"] = json!("Critic ARGUES from load");
    });
    assert!(twice.contains("twice: challenge distinct points"), "{twice}");
    let repeated = fault("respond", "visionary", &|said| change(said, same.as_str().unwrap(), "figures"));
    assert!(repeated.contains("repeats your position"), "{repeated}");
    assert!(
        fault("respond", "visionary", &|said| change(said, "Not now.", " "))
            .contains("`because` must say why")
    );
    let voted = fault("respond", "visionary", &|said| {
        (said["changed"], said["vote"]) = (json!(true), json!("RECONSIDER"));
    });
    assert_eq!(voted, "", "a changed vote is a change without a new position");
    // A change that names nothing is not sent back. The report says that it cites nothing.
    assert_eq!(fault("respond", "visionary", &|said| change(said, "Not now.", "It feels wiser.")), "");
    let silent = fault("respond", "visionary", &|said| {
        (said["vote"], said["because"]) = (json!("RECONSIDER"), json!(""));
    });
    assert!(silent.contains("your vote changed"), "{silent}");
    assert!(fault("intervene", "critic", &|said| said["changed"] = json!(true)).contains("position"));
    assert!(fault("intervene", "critic", &|said| said["effect"] = json!("")).contains("effect"));
}

#[test]
fn schemas_enumerate_the_others_and_the_ids() {
    let names = ["Critic", "critic", "Pragmatist", "pragmatist", "Innovator", "innovator"];
    let (_, ask) = at("challenge", "visionary");
    assert_eq!(allowed(&ask, "/properties/challenges/items/properties/to"), names);
    assert_eq!(allowed(&ask, "/properties/messages/items/properties/to"), names);
    let (_, ask) = at("respond", "critic");
    assert_eq!(due(&ask), ["C1", "C5", "C12"]);
    assert_eq!(allowed(&ask, "/properties/replies/items/properties/message_id"), ["M1"]);
    let (_, ask) = at("moderate", "moderator");
    assert_eq!(allowed(&ask, "/properties/evasions/items/properties/challenge_id").len(), 12);
    assert_eq!(allowed(&ask, "/properties/key_exchanges/items").len(), 13, "twelve challenges and a message");
    let (_, ask) = at("conclude", "moderator");
    let properties = ask.schema.as_ref().unwrap().json["properties"].as_object().unwrap();
    assert!(
        !properties.contains_key("merged") && !properties.contains_key("evasions"),
        "there is nothing to name"
    );
}

/// A log that cannot be read is an error, not a missing rule.
#[test]
fn an_unreadable_log_is_an_error() {
    let (mut debate, ask) = at("respond", "critic");
    let value = plain(&ask, "respond", 1);
    debate.turns.last_mut().unwrap().phase.name = "exchange".into();
    assert!(Council.check(&debate, &ask, &value).unwrap_err().sentence().contains("exchange"));
    debate.turns.clear();
    assert!(Council.check(&debate, &ask, &value).is_err());
}
