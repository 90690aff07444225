//! "What each seat answers": the shapes, and the rules that shapes cannot say.

use super::*;

/// The first ask of a phase in a plain debate, with what would be answered, and the debate when it was asked.
fn asked_in(phase: &str, seat: &str) -> (Ask, Value, Debate) {
    let table = ScriptedArena { set: &[("embeddings", "embeddings/minilm")], ..ScriptedArena::default() };
    let brief = table.brief();
    let mut found = None;
    let mut answer = |debate: &Debate, ask: &Ask| {
        let now = debate.last_phase().unwrap();
        let said = table.said(&brief, ask, &now.name, now.round);
        if now.name == phase && ask.seat.starts_with(seat) && found.is_none() {
            found = Some((ask.clone(), said.clone(), debate.clone()));
        }
        let (text, model, usage, value) =
            (said.to_string(), ask.model.clone(), CallUsage::default(), Some(said));
        Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
    };
    play(&Arena, vec![Debate::open(brief.clone()).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    found.unwrap()
}

/// Whether schema and rules accept an answer with this change.
fn taken_of(phase: &str, seat: &str, change: impl Fn(&mut Value)) -> Result<(), ReplyFault> {
    let (ask, mut said, debate) = asked_in(phase, seat);
    change(&mut said);
    let schema = &ask.schema.as_ref().unwrap().json;
    jsonschema::validate(schema, &said).map_err(|why| ReplyFault::Invalid(why.to_string()))?;
    Arena.check(&debate, &ask, &said)
}

fn taken(phase: &str, change: impl Fn(&mut Value)) -> Result<(), String> {
    taken_of(phase, "", change).map_err(|fault| fault.sentence().to_owned())
}

fn remove(said: &mut Value, field: &str) {
    said.as_object_mut().unwrap().remove(field);
}

#[test]
fn a_proposal_needs_words_a_position_and_a_confidence() {
    assert_eq!(taken("propose", |_| {}), Ok(()));
    for field in ["proposal", "position"] {
        assert!(taken("propose", |said| said[field] = json!("  ")).unwrap_err().contains(field));
    }
    for field in ["proposal", "position", "confidence"] {
        assert!(taken("propose", |said| remove(said, field)).is_err(), "{field}");
    }
    for confidence in [json!(-0.1), json!(1.1), json!("sure")] {
        assert!(taken("propose", |said| said["confidence"] = confidence.clone()).is_err());
    }
    assert_eq!(taken("propose", |said| remove(said, "claims")), Ok(()), "optional");
    assert_eq!(taken("propose", |said| said["claims"] = json!([{"claim": "x"}])), Ok(()), "evidence too");
    assert_eq!(taken("propose", |said| said["mood"] = json!("fine")), Ok(()), "extra fields are ignored");
}

/// "Extra fields are ignored", also those that only a revision has.
#[test]
fn extra_fields_of_a_proposal_are_ignored() {
    for (field, value) in
        [("analysis", Value::Null), ("analysis", json!(["..."])), ("critiques", json!("none"))]
    {
        let with = |_: &Ask, phase: &str, _: u32, said: &mut Value| {
            if phase == "propose" {
                said[field] = value.clone();
            }
        };
        let outcome = ScriptedArena { with: &with, ..ScriptedArena::default() }.outcome();
        assert_eq!(outcome.fidelity, Fidelity::Full, "{field} {value}: {:?}", outcome.warnings);
    }
}

/// "severity 0 to 1, stated in the prompt, issues, suggestions"; "at least one issue when severity > 0".
#[test]
fn a_critique_with_severity_above_0_names_an_issue() {
    assert_eq!(taken("critique", |said| *said = json!({"severity": 0.0})), Ok(()));
    assert!(taken("critique", |said| *said = json!({"severity": 0.1})).unwrap_err().contains("issues"));
    assert!(taken("critique", |said| *said = json!({"severity": 0.1, "issues": [" "]})).is_err());
    assert_eq!(taken("critique", |said| *said = json!({"severity": 1.0, "issues": ["x"]})), Ok(()));
    assert!(taken("critique", |said| said["severity"] = json!(1.01)).is_err());
}

/// "the schema enumerates the ones that may be used": the seat's own critiques to answer, and only other agents.
#[test]
fn a_revision_answers_its_critiques_and_names_other_agents() {
    for phase in ["revise", "refine"] {
        let (ask, ..) = asked_in(phase, "");
        let ids = allowed(&ask, "/properties/addressed/items/properties/critique_id");
        assert_eq!((ids.clone(), ids.len()), (own(&ask), 2), "what is shown is what may be answered");
        assert!(taken(phase, |said| said["addressed"][0]["critique_id"] = json!("Q99")).is_err());
        assert_eq!(taken(phase, |said| said["addressed"] = json!([])), Ok(()));
        for field in ["conflicts_with", "addressed", "verdicts", "critiques", "analysis", "claims"] {
            assert_eq!(taken(phase, |said| remove(said, field)), Ok(()), "missing optional ones are empty");
        }
        let others = others(&ask);
        assert!(others.len() == 2 && !others.contains(ask.label.as_ref().unwrap()));
        assert_eq!(taken(phase, |said| said["conflicts_with"] = json!(others)), Ok(()));
        for label in ["Agent D", "A", ask.label.as_deref().unwrap()] {
            assert!(taken(phase, |said| said["conflicts_with"] = json!([label])).is_err(), "{label}");
        }
        assert!(taken(phase, |said| said["position"] = json!("")).is_err());
        // What does not count is sent back once and then dropped, not refused.
        let changes: [&dyn Fn(&mut Value); 4] = [
            &|said| said["addressed"][1] = said["addressed"][0].clone(),
            &|said| said["addressed"][0]["how"] = json!(" "),
            &|said| said["changed_because"] = json!([{"id": others[0], "quote": "It never said so"}]),
            &|said| said["changed_because"] = json!([{"id": "Q99", "quote": "leaves the costs open"}]),
        ];
        for change in changes {
            assert!(matches!(taken_of(phase, "", change), Err(ReplyFault::Unverified(_))));
        }
        let cause = json!([{"id": ids[0], "quote": "leaves the costs open"}]);
        assert_eq!(taken(phase, |said| said["changed_because"] = cause.clone()), Ok(()));
    }
    let has = |ask: &Ask, field: &str| ask.schema.as_ref().unwrap().json["properties"].get(field).is_some();
    let (first, ..) = asked_in("revise", "");
    assert!(!has(&first, "verdicts") && !has(&first, "critiques"), "no proposal was revised yet");
    let (last, ..) = asked_in("refine", "");
    assert!(!has(&last, "critiques"), "nobody could answer");
    assert_eq!(allowed(&last, "/properties/verdicts/items/properties/critique_id").len(), 2);
}

/// "`{analysis, pairs: [{a, b, relation, similarity, quotes: [..]}]}` over all pairs, quotes verified".
#[test]
fn a_sorting_has_every_pair_with_words_of_both() {
    let sorted = |change: &dyn Fn(&mut Value)| taken_of("compare", "clerk", change);
    assert_eq!(sorted(&|_| {}), Ok(()));
    for (change, why) in [
        (
            (&|said: &mut Value| _ = said["pairs"].as_array_mut().unwrap().pop()) as &dyn Fn(&mut Value),
            "is missing",
        ),
        (&|said| said["pairs"][1] = said["pairs"][0].clone(), "is listed twice"),
        (&|said| said["pairs"][0]["quotes"] = json!([]), "needs a quote of each proposal"),
        (&|said| said["pairs"][0]["quotes"][0]["quote"] = json!("It never said so"), "does not occur"),
        (&|said| said["pairs"][0]["quotes"][0]["quote"] = json!(""), "does not occur"),
        (&|said| said["pairs"][0]["quotes"][0]["quote"] = json!("..."), "does not occur"),
        (
            &|said| said["pairs"][0]["quotes"][0]["quote"] = said["pairs"][0]["quotes"][1]["quote"].clone(),
            "does not occur",
        ),
        (&|said| said["pairs"][0]["b"] = said["pairs"][0]["a"].clone(), "is paired with itself"),
        (
            &|said| {
                said["pairs"][0]["relation"] = json!("same");
                said["pairs"][1]["relation"] = json!("same");
            },
            "proposals that are the same relate alike to every other one",
        ),
        (
            &|said| {
                said["pairs"][0]["relation"] = json!("same");
                said["pairs"][1]["relation"] = json!("conflict");
            },
            "proposals that are the same relate alike to every other one",
        ),
    ] {
        match sorted(change) {
            Err(ReplyFault::Unverified(said)) => assert!(said.contains(why), "{said}"),
            other => panic!("{why}: {other:?}"),
        }
    }
    for (pointer, value) in [
        ("/pairs/0/relation", json!("similar")),
        ("/pairs/0/similarity", json!(1.1)),
        ("/pairs/0/a", json!("Agent D")),
    ] {
        let change = |said: &mut Value| *said.pointer_mut(pointer).unwrap() = value.clone();
        assert!(matches!(sorted(&change), Err(ReplyFault::Invalid(_))), "{pointer}");
    }
    assert_eq!(sorted(&|said| remove(said, "analysis")), Ok(()));
}

#[test]
fn a_vote_chooses_a_label_or_abstains() {
    for choice in ["Agent A", "Agent B", "Agent C", "abstain"] {
        assert_eq!(taken("vote", |said| said["choice"] = json!(choice)), Ok(()), "{choice}");
    }
    for choice in ["Agent D", "A", "agent-1", ""] {
        assert!(taken("vote", |said| said["choice"] = json!(choice)).is_err(), "{choice}: one spelling");
    }
    assert_eq!(taken("vote", |said| remove(said, "reason")), Ok(()), "the trickster sees to it");
    assert!(taken("vote", |said| said["confidence"] = json!(2)).is_err());
}

/// "every label exactly once in scores; ranking each once (both validated); `reasons` may be a text or a list of texts".
#[test]
fn the_judge_scores_and_ranks_each_proposal_exactly_once() {
    assert_eq!(taken("judge", |_| {}), Ok(()));
    assert_eq!(taken("judge", |said| said["scores"][0]["reasons"] = json!("it is clear")), Ok(()));
    assert_eq!(taken("judge", |said| remove(said, "margin_comment")), Ok(()));
    for empty in [json!(""), json!([]), json!([" "])] {
        assert!(taken("judge", |said| said["scores"][0]["reasons"] = empty.clone()).is_err(), "{empty}");
    }
    let twice =
        taken("judge", |said| said["scores"][0]["label"] = said["scores"][1]["label"].clone()).unwrap_err();
    assert!(twice.contains("`scores`") && twice.contains("exactly once"), "{twice}");
    let ranked = taken("judge", |said| said["ranking"][0] = said["ranking"][1].clone()).unwrap_err();
    assert!(ranked.contains("`ranking`"), "{ranked}");
    assert!(taken("judge", |said| _ = said["scores"].as_array_mut().unwrap().pop()).is_err());
    for score in [-0.1, 10.1] {
        assert!(taken("judge", |said| said["scores"][0]["criteria"]["clarity"] = json!(score)).is_err());
    }
    for criterion in crate::arena::replies::CriteriaScores::NAMES {
        assert!(
            taken("judge", |said| remove(&mut said["scores"][0]["criteria"], criterion)).is_err(),
            "{criterion}"
        );
    }
}

#[test]
fn errands_have_schemas_too() {
    assert_eq!(taken("context", |_| {}), Ok(()));
    for wrong in [
        json!({}),
        json!({"items": [{"title": "x"}]}),
        json!({"items": [{"text": "x", "turned_out": "maybe"}]}),
    ] {
        assert!(taken("context", |said| *said = wrong.clone()).is_err(), "{wrong}");
    }
    let found = json!({"items": [{"text": "x", "turned_out": null, "at": null}]});
    assert_eq!(taken("context", |said| *said = found.clone()), Ok(()));
    let similar = |change: &dyn Fn(&mut Value)| taken_of("compare", "similarity", change);
    assert_eq!(similar(&|_| {}), Ok(()));
    assert!(similar(&|said| _ = said["similarity"].as_array_mut().unwrap().pop()).is_err());
    assert!(similar(&|said| said["similarity"][0][1] = json!(1.5)).is_err());
}

/// "no catch-all that lets an unknown reply pass unchecked".
#[test]
fn a_reply_to_nothing_or_to_an_unreadable_log_is_refused() {
    let (ask, said, _) = asked_in("propose", "");
    let empty = Debate::open(ScriptedArena::default().brief()).unwrap().0;
    assert!(matches!(Arena.check(&empty, &ask, &said), Err(ReplyFault::Invalid(_))));
    assert!(matches!(Arena.check(&asked_in("propose", "").2, &ask, &json!({})), Err(ReplyFault::Invalid(_))));
}

/// "Every structured reply that ends in a score, verdict, vote, stance or choice begins with an `analysis` field", and reasons come
/// before decisions.
#[test]
fn reasons_come_before_decisions_in_every_schema() {
    let keys = |ask: &Ask, pointer: &str| -> Vec<String> {
        let schema = &ask.schema.as_ref().unwrap().json;
        schema
            .pointer(&format!("{pointer}/properties"))
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    for (phase, seat) in [("critique", ""), ("revise", ""), ("compare", "clerk"), ("vote", ""), ("judge", "")]
    {
        assert_eq!(keys(&asked_in(phase, seat).0, "")[0], "analysis", "{phase}");
    }
    let after = |phase: &str, seat: &str, pointer: &str, reason: &str, decision: &str| {
        let keys = keys(&asked_in(phase, seat).0, pointer);
        let place = |key: &str| keys.iter().position(|one| one == key).unwrap();
        assert!(place(reason) < place(decision), "{phase}: {keys:?}");
    };
    after("critique", "", "", "issues", "severity");
    after("refine", "", "/properties/verdicts/items", "why", "status");
    after("compare", "clerk", "/properties/pairs/items", "quotes", "relation");
    after("vote", "", "", "reason", "choice");
    after("judge", "", "/properties/scores/items", "reasons", "criteria");
}

/// The question for an entry of a list is asked for the first entry, too.
#[test]
fn a_question_for_an_entry_fits_the_first() {
    for (phase, seat) in
        [("propose", ""), ("critique", ""), ("refine", ""), ("compare", "clerk"), ("judge", "")]
    {
        let ask = asked_in(phase, seat).0;
        for (name, field) in ask.schema.as_ref().unwrap().json["properties"].as_object().unwrap() {
            let question = field.pointer("/items/description").and_then(Value::as_str).unwrap_or_default();
            let words = ["else", "other"];
            assert!(!question.split(' ').any(|word| words.contains(&word)), "{phase} {name}: {question}");
            assert_eq!(question.is_empty(), field.get("items").is_none(), "{phase} {name}");
        }
    }
}
