//! The rules that a schema cannot express, and what the schemas enumerate.

use super::moderation::intervened;
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
        if now.name == "challenge" && now.round == 1 && ask.seat == "visionary" {
            value["messages"] = json!([{"to": "critic", "topic": "load", "text": "Which load?"}]);
        }
        agon_core::Reply::Said {
            text: value.to_string(),
            value: Some(value),
            model: ask.model.clone(),
            usage: agon_core::CallUsage::default(),
            cut_off: false,
            shortened: None,
        }
    };
    let opened = Debate::open(brief(&[])).unwrap().1;
    agon_core::play::play(&Council, vec![opened], &mut answer, &mut |_| {}).unwrap();
    found.unwrap()
}

fn refused(phase: &str, seat: &str, change: &dyn Fn(&mut Value)) -> Option<String> {
    let (debate, ask) = at(phase, seat);
    let round = debate.last_phase().unwrap().round;
    let mut value = plain(&ask, phase, round);
    change(&mut value);
    Council.check(&debate, &ask, &value).err()
}

/// "Each round MUST include ALL councillors challenging at least 2 specific points"; "on distinct points".
#[test]
fn two_challenges_on_distinct_points_are_enforced() {
    let check = |change: &dyn Fn(&mut Value)| refused("challenge", "visionary", change);
    assert_eq!(check(&|_| {}), None);
    let cut = |n: usize| {
        check(&|said: &mut Value| {
            said["challenges"].as_array_mut().unwrap().truncate(n);
        })
    };
    assert!(cut(1).unwrap().contains("at least 2"));
    assert!(cut(0).unwrap().contains("at least 2"));
    let to = |to: &'static str| check(&move |said: &mut Value| said["challenges"][0]["to"] = json!(to));
    assert!(to("visionary").unwrap().contains("yourself"), "self-addressed");
    assert!(to("Visionary").unwrap().contains("yourself"), "by its name too");
    assert!(to("ethicist").unwrap().contains("not at the table"), "unknown");
    assert_eq!(to("Critic"), None, "a name is as good as an id");
    let twice = check(&|said: &mut Value| {
        said["challenges"][1]["to"] = json!("Critic");
        said["challenges"][1]["claim"] = json!("CRITIC argues, from load!");
    });
    assert!(twice.unwrap().contains("same point twice"));
    let other_claim = check(&|said: &mut Value| {
        said["challenges"][1]["to"] = json!("critic");
        said["challenges"][1]["claim"] = json!("critic argues from cost");
    });
    assert_eq!(other_claim, None, "two points of one councillor are distinct");
    for field in ["claim", "reason", "question"] {
        let why = check(&|said: &mut Value| said["challenges"][0][field] = json!(" "));
        assert!(why.unwrap().contains(field));
    }
}

/// "A change needs its reason"; "an id without an answer is never a repair".
#[test]
fn a_change_needs_a_reason_and_an_id_has_one_answer() {
    let check = |change: &dyn Fn(&mut Value)| refused("challenge", "visionary", change);
    let changed = |said: &mut Value| {
        said["changed"] = json!(true);
        said["position"] = json!("Not this year.");
    };
    assert_eq!(check(&changed), None);
    let silent = |said: &mut Value| {
        changed(said);
        said["because"] = json!("");
    };
    assert!(check(&silent).unwrap().contains("because"));
    let nowhere = |said: &mut Value| {
        changed(said);
        said["position"] = json!("");
    };
    assert!(check(&nowhere).unwrap().contains("position"));
    let twice = |said: &mut Value| {
        let one = said["responses"][0].clone();
        said["responses"].as_array_mut().unwrap().push(one);
    };
    assert!(check(&twice).unwrap().contains("C4 twice"));
    assert_eq!(
        check(&|said: &mut Value| said["responses"] = json!([])),
        None,
        "unanswered ids are the moderator's"
    );
}

/// "up to `--exchanges` per councillor (default 2)".
#[test]
fn messages_are_limited_in_number_and_go_to_others() {
    let check = |to: &'static str, count: usize| {
        refused("challenge", "visionary", &move |said: &mut Value| {
            said["messages"] = json!(vec![json!({"to": to, "topic": "load", "text": "Which load?"}); count]);
        })
    };
    assert_eq!(check("critic", 2), None);
    assert!(check("critic", 3).unwrap().contains("at most 2"));
    assert!(check("visionary", 1).unwrap().contains("yourself"));
    assert!(check("ethicist", 1).unwrap().contains("not at the table"));
}

/// "position, 3 to 5 arguments, confidence, at least one question to another councillor"; "sent back once".
#[test]
fn an_opening_that_breaks_the_rules_is_sent_back() {
    let check = |change: &dyn Fn(&mut Value)| refused("opening", "critic", change);
    let arguments = |n: usize| check(&move |said: &mut Value| said["arguments"] = json!(vec!["load"; n]));
    for (n, good) in [(2, false), (3, true), (5, true), (6, false)] {
        assert_eq!(arguments(n).is_none(), good, "{n} arguments");
    }
    assert!(
        check(&|said: &mut Value| said["arguments"] = json!(["a", "b", " "])).unwrap().contains("3 to 5")
    );
    assert!(
        check(&|said: &mut Value| said["questions"] = json!([])).unwrap().contains("at least one question")
    );
    assert!(
        check(&|said: &mut Value| said["questions"][0]["to"] = json!("critic")).unwrap().contains("yourself")
    );
    assert!(check(&|said: &mut Value| said["position"] = json!("")).unwrap().contains("position"));
    assert!(
        check(&|said: &mut Value| said["questions"][0]["question"] = json!("")).unwrap().contains("question")
    );
}

/// "What can be found by arithmetic (no change) is": a change is one of the words, whatever `changed` says.
#[test]
fn a_changed_position_needs_new_words() {
    let same = |seat: &str| {
        let words = format!("the {seat} says: that the queue is worth a TRIAL");
        move |said: &mut Value| {
            said["changed"] = json!(true);
            said["because"] = json!("the figures");
            said["position"] = json!(words);
        }
    };
    let other = |said: &mut Value| {
        same("critic")(said);
        said["position"] = json!("Not this year.");
    };
    for phase in ["challenge", "exchange"] {
        let why = refused(phase, "critic", &same("critic")).unwrap();
        assert!(why.contains("repeats your standing position"), "{phase}: {why}");
        assert_eq!(refused(phase, "critic", &other), None, "{phase}");
        assert_eq!(refused(phase, "critic", &same("visionary")), None, "{phase}: another's is a new one");
    }
    let reframed = std::cell::Cell::new(0);
    let (debate, _) = at("challenge", "critic");
    intervened(&|ask, phase, _, said| match phase {
        "moderate" => said["new_arguments"] = json!([]),
        "intervene" if ask.seat == "critic" => {
            reframed.set(reframed.get() + 1);
            let mut again = said.clone();
            same("critic")(&mut again);
            assert!(Council.check(&debate, ask, &again).unwrap_err().contains("standing position"));
        }
        _ => {}
    });
    assert_eq!(reframed.get(), 2, "a reframing in each round");
}

/// "Extra fields are ignored", also where they are broken; null is as good as nothing.
#[test]
fn a_null_or_unrequested_field_is_accepted() {
    assert_eq!(refused("challenge", "visionary", &|said| said["messages"] = Value::Null), None);
    assert_eq!(refused("challenge", "visionary", &|said| said["responses"] = Value::Null), None);
    assert_eq!(refused("verdict", "visionary", &|said| said["risks"] = Value::Null), None);
    let why = refused("challenge", "visionary", &|said| said["challenges"] = Value::Null);
    assert!(why.unwrap().contains("challenges"), "what is required stays required");
    let why =
        refused("challenge", "visionary", &|said| said["messages"] = json!([{"to": "critic", "text": "a"}]));
    assert!(why.unwrap().contains("topic"), "in standard mode a message has its topic");
}

#[test]
fn the_other_answers_have_rules_too() {
    let twice = |said: &mut Value| {
        let one = said["replies"][0].clone();
        said["replies"].as_array_mut().unwrap().push(one);
    };
    assert!(refused("exchange", "critic", &twice).unwrap().contains("M1 twice"));
    let moved = |said: &mut Value| said["changed"] = json!(true);
    assert!(refused("exchange", "critic", &moved).unwrap().contains("position"));
    for field in ["final_position", "key_argument"] {
        let why = refused("verdict", "critic", &|said: &mut Value| said[field] = json!(""));
        assert!(why.unwrap().contains(field));
    }
}

#[test]
fn schemas_enumerate_the_others_and_the_ids() {
    let (_, ask) = at("challenge", "visionary");
    let names = ["Critic", "critic", "Pragmatist", "pragmatist", "Innovator", "innovator"];
    assert_eq!(allowed(&ask, "/properties/challenges/items/properties/to"), names);
    assert_eq!(allowed(&ask, "/properties/messages/items/properties/to"), names);
    assert_eq!(due(&ask), ["C4"], "the Innovator's question");
    let (_, ask) = at("exchange", "critic");
    assert_eq!(allowed(&ask, "/properties/replies/items/properties/message_id"), ["M1"]);
    let (_, ask) = at("moderate", "moderator");
    assert_eq!(allowed(&ask, "/properties/evasions/items/properties/challenge_id"), ["C1", "C2", "C3", "C4"]);
}
