//! "a hollow winning group does not count as consensus either": what the trickster finds at the vote.

use super::hollow::{ON, empty};
use super::*;

/// A table at which agents 1 and 2 are near copies that rest on nothing, and win two of three votes.
fn pair<'a>(set: &'a [(&'a str, &'a str)], with: &'a dyn Fn(&Ask, &str, u32, &mut Value)) -> ScriptedArena<'a> {
    ScriptedArena { set, votes: &|_| SPLIT.to_vec(), scores: &|_, _| NEAR.to_vec(), with, ..ScriptedArena::default() }
}

/// What agents 1 and 2 have in common; whether they hold it against a challenge as it is.
fn copied(ask: &Ask, phase: &str, said: &mut Value, stubborn: bool) {
    if phase == "compare" {
        let texts: Vec<String> = serde_json::from_str(&ask.prompt.tail).unwrap();
        let like = |one: &String, other: &String| {
            let shared = |text: &String| text.contains("one queue");
            if one == other {
                1.0
            } else if shared(one) && shared(other) {
                0.95
            } else {
                0.2
            }
        };
        let row = |one: &String| texts.iter().map(|other| like(one, other)).collect::<Vec<f64>>();
        said["similarity"] = json!(texts.iter().map(row).collect::<Vec<_>>());
    }
    if ["agent-1", "agent-2"].contains(&ask.seat.as_str())
        && ["propose", "revise", "refine", "challenge"].contains(&phase)
    {
        let claims = said["claims"].clone();
        empty(ask, phase, said);
        said["position"] = json!("Put them into one queue.");
        if phase == "challenge" && !stubborn {
            said["claims"] = claims;
        }
    }
}

/// "The trickster also looks at the winning group of a vote (two empty near-copies that win 2 of 3)": the finding is made at the vote, the
/// challenge comes in the extended round, to those who agree.
#[test]
fn a_winning_group_that_rests_on_little_is_no_consensus() {
    let set = [ON, &[("max_extended_rounds", "1"), ("judge_gap", "10")]].concat();
    let debate = pair(&set, &|ask, phase, _, said| copied(ask, phase, said, true)).run();
    let challenge = debate.turn("challenge", 9).unwrap();
    let mut asked: Vec<&str> = challenge.asks.iter().map(|asked| asked.seat.as_str()).collect();
    asked.sort_unstable();
    assert_eq!(asked, ["agent-1", "agent-2"]);
    assert_eq!(debate.turns.iter().filter(|turn| turn.phase.name == "challenge").count(), 1);
    assert_eq!(calls(&debate).0, 25 + 7 + 2);
    let outcome = debate.outcome.unwrap();
    let consensus = &outcome.verdict["consensus"];
    assert_eq!((&consensus["hollow"], &consensus["reached"]), (&json!(true), &json!(false)));
    assert_eq!((outcome.termination, &outcome.verdict["winner"]), (Termination::NoMajority, &Value::Null));
    assert!(warned(&outcome, "its challenge was not met"), "{:?}", outcome.warnings);
    assert!(!warned(&outcome, "absent"), "who was not asked is not absent: {:?}", outcome.warnings);
    let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
    let told: Vec<(&Value, &Value, &Value)> =
        checks.iter().map(|check| (&check["round"], &check["challenged"], &check["came_to"])).collect();
    assert_eq!(
        told,
        [(&json!(7), &json!(false), &Value::Null), (&json!(9), &json!(true), &json!("not_met"))]
    );
    for check in checks {
        let mut seats: Vec<&str> =
            strings(&check["agents"]).into_iter().map(|label| outcome.labels[label].as_str()).collect();
        seats.sort_unstable();
        assert_eq!((seats, &check["hollow"]), (vec!["agent-1", "agent-2"], &json!(true)));
    }

    let met = pair(&set, &|ask, phase, _, said| copied(ask, phase, said, false)).outcome();
    assert_eq!(
        (met.termination, &met.verdict["consensus"]["hollow"]),
        (Termination::Consensus, &json!(false))
    );
    assert_eq!(met.verdict["trickster"]["checks"][1]["met"], true);
    let off = pair(BARE, &|ask, phase, _, said| copied(ask, phase, said, true)).outcome();
    assert_eq!(
        (off.termination, &off.verdict["consensus"]["reached"]),
        (Termination::Consensus, &json!(true))
    );
}

/// Without an extended round there is no challenge, and it does not count either.
#[test]
fn a_hollow_winning_group_without_a_round_left_does_not_count() {
    let set = [ON, &[("max_extended_rounds", "0")]].concat();
    let outcome = pair(&set, &|ask, phase, _, said| copied(ask, phase, said, true)).outcome();
    assert_eq!(
        (&outcome.verdict["consensus"]["hollow"], outcome.termination),
        (&json!(true), Termination::NoMajority)
    );
    assert!(warned(&outcome, "no round was left for a challenge"), "{:?}", outcome.warnings);
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}
