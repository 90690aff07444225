//! A real debate: how a library should reduce e-book waiting times. From round 3 on agents 1 and 2 say the same in other words, as all
//! voters and the judge wrote; agent 3 differs.

use super::*;

fn library() -> Value {
    serde_json::from_str(include_str!("library.json")).unwrap()
}

/// The debate, with what a clerk says of agents 1 and 2 as they are now; `None` for an absent clerk.
pub(super) fn debate(clerk: Option<&'static str>, orders: &str) -> Debate {
    let texts = library();
    let set = [BARE, &[("judge_orders", orders)]].concat();
    let table = ScriptedArena { set: &set, ..ScriptedArena::default() };
    let brief = Brief { question: texts["question"].as_str().unwrap().into(), ..table.brief() };
    // The labels of the fixture are those of its own debate.
    let choice = |seat: &str| {
        let label = texts["votes"][seat]["choice"].as_str().unwrap().strip_prefix("Agent ").unwrap();
        name(&brief, number(texts["labels"][label].as_str().unwrap()))
    };
    let is_third = |text: &str| text.starts_with("Change the lending rules first");
    ScriptedArena {
        votes: &|_| vec![1, 2, 3],
        scores: &|_, _| vec![7.6, 7.3, 6.1],
        absent: &|ask, _, _| clerk.is_none() && ask.seat == "clerk",
        with: &|ask, phase, _, said| {
            let part = match phase {
                "propose" => "proposals",
                "revise" | "refine" => "revisions",
                "vote" => {
                    said["reason"] = texts["votes"][&ask.seat]["reason"].clone();
                    said["choice"] = json!(choice(&ask.seat));
                    return;
                }
                "compare" => {
                    *said = sorted(ask, &|one, other| match (is_third(one) || is_third(other), clerk) {
                        (true, _) => ("conflict", 0.3),
                        (false, relation) => (relation.unwrap(), 0.9),
                    });
                    return;
                }
                _ => return,
            };
            for field in ["proposal", "position", "claims", "confidence"] {
                said[field] = texts[part][&ask.seat][field].clone();
            }
        },
        ..table
    }
    .run_brief(brief.clone())
}

/// What a careful reader says of it: two agents propose one plan and have a majority, and only the third dissents.
#[test]
fn a_paraphrase_wins_together_and_only_the_third_agent_dissents() {
    let debate = debate(Some("same"), "1");
    let outcome = debate.outcome.as_ref().unwrap();
    let verdict = &outcome.verdict;
    assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Complete));
    let mut together = vec![label(&debate.brief, 1), label(&debate.brief, 2)];
    together.sort();
    assert_eq!(
        (&verdict["tally"][0]["labels"], &verdict["tally"][0]["votes"]),
        (&json!(together), &json!(2))
    );
    assert_eq!(
        (&verdict["winner_seat"], &verdict["judge"]["agrees_with_vote"]),
        (&json!("agent-1"), &json!(true))
    );
    let dissent: Vec<&Value> = outcome.dissent.iter().map(|held| &held["seat"]).collect();
    assert_eq!(dissent, ["agent-3"]);
    assert!(
        outcome.dissent[0]["reason"].as_str().unwrap().contains("Only B finds out which queues vanish"),
        "its own reason"
    );
    for check in verdict["convergence"].as_array().unwrap() {
        assert_eq!((&check["converged"], &check["agreement_min"]), (&json!(false), &json!(0.0)));
    }
    // Round 4 repeats round 3, so there is no round 5.
    assert_eq!(verdict["idle_revision"], 4);
    assert_eq!(calls(&debate).0, 3 + 6 + 2 * 4 + 3 + 3 + 1);
    let view = Arena.view(&debate).unwrap();
    let third = view.positions.rounds.iter().find(|round| round.round == 3).unwrap();
    assert_eq!(
        (third.is_sorted(), third.distinct().len()),
        (true, 2),
        "one position of two agents, and one of the third"
    );
    assert_eq!(
        (view.positions.rounds[0].is_sorted(), view.positions.rounds[0].ruling.clone()),
        (false, None),
        "unknown"
    );
    let why = view.headline.why.unwrap();
    assert!(
        why.starts_with("2 votes for ")
            && why.contains(" (counted as the same) and 1 vote for ")
            && why.contains(": a majority (67%)."),
        "{why}"
    );
}

/// Without the clerk nobody is counted together, and nothing claims that the two differ.
#[test]
fn without_a_clerk_the_same_debate_says_that_it_does_not_know() {
    let debate = debate(None, "2");
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.termination, Termination::NoMajority);
    assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 3);
    assert!(warned(outcome, "it is not known how the proposals relate"));
    let history = Arena.view(&debate).unwrap().positions;
    assert!(history.rounds.iter().filter(|round| !round.ballots).all(|round| !round.is_sorted()));
}

/// Proposals that only fit together are two choices.
#[test]
fn compatible_plans_are_two_choices() {
    let outcome = debate(Some("compatible"), "1").outcome.unwrap();
    assert_eq!(
        (outcome.termination, outcome.verdict["tally"].as_array().unwrap().len()),
        (Termination::NoMajority, 3)
    );
    assert_eq!(outcome.dissent.len(), 3, "there is no decision");
}

/// The demo shows the rules at work with texts that verify.
#[test]
fn the_demo_quotes_what_its_agents_propose() {
    let demo: Value = serde_norway::from_str(INFO.demo.unwrap()).unwrap();
    let pairs = demo.pointer("/seats/clerk/compare/pairs").unwrap().as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    for quote in pairs.iter().flat_map(|pair| pair["quotes"].as_array().unwrap()) {
        let seat = &demo["seats"][quote["label"].as_str().unwrap()];
        for said in seat["revise"].as_array().unwrap() {
            let said: crate::arena::replies::RevisionReply = serde_json::from_value(said.clone()).unwrap();
            let words = quote["quote"].as_str().unwrap();
            assert!(crate::quotes::is_quote_of(words, &said.now.text()), "{words}");
        }
    }
}
