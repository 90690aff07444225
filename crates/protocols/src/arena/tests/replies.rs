//! "What each seat answers": the shapes, and the rules that shapes cannot say.

use super::*;

/// The first ask of a phase in a plain debate, with what would be answered, and the debate.
fn asked_in(phase: &str) -> (Ask, Value, Debate) {
    let found = std::cell::RefCell::new(None);
    let look = |ask: &Ask, now: &str, _: u32, said: &mut Value| {
        if now == phase && found.borrow().is_none() {
            *found.borrow_mut() = Some((ask.clone(), said.clone()));
        }
    };
    let debate = ScriptedArena { set: &[], with: &look, ..ScriptedArena::default() }.run();
    let (ask, said) = found.into_inner().unwrap();
    (ask, said, debate)
}

fn asked(phase: &str) -> (Ask, Value) {
    let (ask, said, _) = asked_in(phase);
    (ask, said)
}

/// Whether schema and rules accept an answer with this change.
fn taken(phase: &str, change: impl Fn(&mut Value)) -> Result<(), String> {
    let (ask, mut said, debate) = asked_in(phase);
    change(&mut said);
    let schema = &ask.schema.as_ref().unwrap().json;
    jsonschema::validate(schema, &said).map_err(|why| why.to_string())?;
    Arena.check(&debate, &ask, &said)
}

#[test]
fn a_proposal_needs_words_a_position_and_a_confidence() {
    assert!(taken("propose", |_| {}).is_ok());
    for field in ["proposal", "position"] {
        assert!(taken("propose", |said| said[field] = json!("  ")).unwrap_err().contains(field));
    }
    for field in ["proposal", "position", "confidence"] {
        assert!(taken("propose", |said| _ = said.as_object_mut().unwrap().remove(field)).is_err(), "{field}");
    }
    for phase in ["propose", "revise"] {
        let long = |chars: usize| taken(phase, |said| said["position"] = json!("\u{e9}".repeat(chars)));
        assert!(long(2000).is_ok() && long(2001).is_err(), "{phase}");
        assert!(taken(phase, |said| said["position"] = json!("Use it. It is good.")).is_ok(), "{phase}");
    }
    for confidence in [json!(-0.1), json!(1.1), json!("sure")] {
        assert!(taken("propose", |said| said["confidence"] = confidence.clone()).is_err());
    }
    assert!(taken("propose", |said| _ = said.as_object_mut().unwrap().remove("claims")).is_ok(), "optional");
    assert!(taken("propose", |said| said["claims"] = json!([{"claim": "x"}])).is_ok(), "evidence too");
    assert!(taken("propose", |said| said["mood"] = json!("fine")).is_ok(), "extra fields are ignored");
}

/// "severity 0 to 1, stated in the prompt, issues, suggestions"; "at least one issue when severity > 0".
#[test]
fn a_critique_with_severity_above_0_names_an_issue() {
    assert!(taken("critique", |said| *said = json!({"severity": 0.0})).is_ok());
    assert!(taken("critique", |said| *said = json!({"severity": 0.1})).unwrap_err().contains("issues"));
    assert!(taken("critique", |said| *said = json!({"severity": 0.1, "issues": [" "]})).is_err());
    assert!(taken("critique", |said| *said = json!({"severity": 1.0, "issues": ["x"]})).is_ok());
    assert!(taken("critique", |said| said["severity"] = json!(1.01)).is_err());
    assert!(asked("critique").0.prompt.shared.contains("1 when the proposal cannot stand"));
}

/// "`addressed` (enumerated; each at most once) and `conflicts_with` (the agents' labels)", as the prompt's one schema for all lists them.
#[test]
fn a_revision_answers_its_critiques_and_names_other_agents() {
    for phase in ["revise", "refine"] {
        assert!(taken(phase, |_| {}).is_ok());
        let (ask, said) = asked(phase);
        assert_eq!(own(&ask).len(), 2, "of two other agents");
        assert!(
            taken(phase, |said| said["addressed"][1] = said["addressed"][0].clone())
                .unwrap_err()
                .contains("twice")
        );
        assert!(taken(phase, |said| said["addressed"][0]["critique_id"] = json!("Q99")).is_err());
        assert!(taken(phase, |said| said["addressed"][0]["how"] = json!("")).unwrap_err().contains("how"));
        assert!(taken(phase, |said| said["addressed"] = json!([])).is_ok());
        assert_eq!(said["conflicts_with"], json!([]));
        assert!(
            taken(phase, |said| _ = said.as_object_mut().unwrap().remove("conflicts_with")).is_err(),
            "silence is not consent"
        );
        for label in ["A", "B", "C", "Agent A", "Agent B", "Agent C"] {
            assert!(taken(phase, |said| said["conflicts_with"] = json!([label])).is_ok());
        }
        assert!(taken(phase, |said| said["conflicts_with"] = json!(["Agent D"])).is_err());
        assert!(taken(phase, |said| said["position"] = json!("")).is_err());
        let schema = ask.schema.as_ref().unwrap().json.to_string();
        assert!(ask.prompt.shared.contains(&schema), "the schema that is kept is the one that is read");
    }
}

/// Answers to critiques of other proposals and the agent's own label are allowed by the shared schema and dropped.
#[test]
fn answers_to_critiques_of_others_are_dropped() {
    for phase in ["revise", "refine"] {
        let (ask, ..) = asked(phase);
        let own = own(&ask);
        let foreign = (1..=6).map(|n| format!("Q{n}")).find(|id| !own.contains(id)).unwrap();
        let answer = |how: &str| json!({"critique_id": foreign, "how": how});
        assert_eq!(taken(phase, |said| said["addressed"][0] = answer("taken in")), Ok(()));
        assert_eq!(
            taken(phase, |said| said["addressed"] = json!([answer("a"), answer("b"), answer("")])),
            Ok(())
        );
    }
    let outcome = ScriptedArena {
        with: &|ask, phase, _, said| {
            if ["revise", "refine"].contains(&phase) {
                let all = allowed(ask, "/properties/addressed/items/properties/critique_id");
                said["addressed"] = all
                    .iter()
                    .map(|id| json!({"critique_id": id, "how": format!("by {}", ask.seat)}))
                    .collect();
                said["conflicts_with"] = json!([ask.label]);
            }
        },
        alike: &|_| 0.9,
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!(outcome.termination, Termination::Converged, "nobody is in conflict with itself");
    for proposal in outcome.verdict["proposals"].as_array().unwrap() {
        assert_eq!(proposal["conflicts_with"], json!([]));
        assert_eq!(proposal["addressed"].as_array().unwrap().len(), 2);
    }
    for critique in outcome.verdict["critiques"].as_array().unwrap() {
        let target = &outcome.labels[critique["to"].as_str().unwrap()];
        assert_eq!(critique["addressed"], format!("by {target}"), "only its target answers it");
    }
}

#[test]
fn a_vote_chooses_a_label_or_abstains_and_says_why() {
    for choice in ["A", "B", "C", "Agent A", "abstain"] {
        assert!(taken("vote", |said| said["choice"] = json!(choice)).is_ok(), "{choice}");
    }
    for choice in ["D", "agent-1", ""] {
        assert!(taken("vote", |said| said["choice"] = json!(choice)).is_err(), "{choice}");
    }
    assert!(taken("vote", |said| said["reason"] = json!(" ")).unwrap_err().contains("reason"));
    assert!(taken("vote", |said| said["confidence"] = json!(2)).is_err());
}

/// "every label exactly once in scores; ranking each once (both validated); `reasons` may be a text or a list of texts".
#[test]
fn the_judge_scores_and_ranks_each_proposal_exactly_once() {
    assert!(taken("judge", |_| {}).is_ok());
    assert!(taken("judge", |said| said["scores"][0]["reasons"] = json!("it is clear")).is_ok());
    assert!(taken("judge", |said| _ = said.as_object_mut().unwrap().remove("margin_comment")).is_ok());
    for empty in [json!(""), json!([]), json!([" "])] {
        assert!(taken("judge", |said| said["scores"][0]["reasons"] = empty.clone()).is_err(), "{empty}");
    }
    let twice =
        taken("judge", |said| said["scores"][0]["label"] = said["scores"][1]["label"].clone()).unwrap_err();
    assert!(twice.contains("`scores`") && twice.contains("exactly once"), "{twice}");
    let ranked = taken("judge", |said| said["ranking"][0] = said["ranking"][1].clone()).unwrap_err();
    assert!(ranked.contains("`ranking`"), "{ranked}");
    let alias = |said: &mut Value| {
        let label = said["ranking"][1].as_str().unwrap().to_owned();
        said["ranking"][0] = json!(format!("Agent {label}"));
    };
    assert!(taken("judge", alias).is_err(), "the same in other words");
    assert!(taken("judge", |said| _ = said["scores"].as_array_mut().unwrap().pop()).is_err());
    for score in [-0.1, 10.1] {
        assert!(taken("judge", |said| said["scores"][0]["score"] = json!(score)).is_err());
    }
}

#[test]
fn errands_have_schemas_too() {
    assert!(taken("context", |_| {}).is_ok());
    assert!(taken("context", |said| *said = json!({})).is_err());
    assert!(
        taken("context", |said| said["items"] = json!([{"title": "x"}])).is_err(),
        "an item without text"
    );
    assert!(taken("context", |said| said["items"] = json!([{"text": "x", "turned_out": "maybe"}])).is_err());
    assert!(
        taken("context", |said| said["items"] = json!([{"text": "x", "turned_out": null, "at": null}]))
            .is_ok()
    );
    assert!(taken("compare", |_| {}).is_ok());
    assert!(taken("compare", |said| _ = said["similarity"].as_array_mut().unwrap().pop()).is_err());
    assert!(taken("compare", |said| _ = said["similarity"][0].as_array_mut().unwrap().pop()).is_err());
    assert!(taken("compare", |said| said["similarity"][0][1] = json!(1.5)).is_err());
}
