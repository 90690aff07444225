//! The vote table in full, and what the verdict contains.

use super::super::replies::{CouncilConfidence, CouncilVote};
use super::super::verdict::{confidence, decide};
use super::*;

/// All possible votes of `n` councillors.
fn all(n: usize) -> Vec<Vec<CouncilVote>> {
    (0..4_usize.pow(n as u32))
        .map(|code| (0..n).map(|at| CouncilVote::ALL[code / 4_usize.pow(at as u32) % 4]).collect())
        .collect()
}

/// "Unanimity first: all PROCEED is PROCEED, all DO NOT PROCEED is that; then a majority of the first two is PROCEED WITH
/// CONDITIONS, a majority of the last two is RECONSIDER; an even split is RECONSIDER, `divided`", for all votes of 2 to 6.
#[test]
fn the_vote_table_holds_for_all_votes_of_two_to_six() {
    let mut seen = 0;
    for n in 2..=6 {
        for votes in all(n) {
            let count = |vote: CouncilVote| votes.iter().filter(|other| **other == vote).count();
            let (first_two, last_two) = (
                count(CouncilVote::Proceed) + count(CouncilVote::WithConditions),
                count(CouncilVote::Reconsider) + count(CouncilVote::DoNotProceed),
            );
            let (want, divided) = if count(CouncilVote::Proceed) == n {
                ("PROCEED", false)
            } else if count(CouncilVote::DoNotProceed) == n {
                ("DO NOT PROCEED", false)
            } else if 2 * first_two > n {
                ("PROCEED WITH CONDITIONS", false)
            } else if 2 * last_two > n {
                ("RECONSIDER", false)
            } else {
                ("RECONSIDER", true)
            };
            let decided = decide(&votes).unwrap();
            assert_eq!((decided.vote.as_str(), decided.divided), (want, divided), "{votes:?}");
            let sure = |settled| confidence(&votes, settled).unwrap();
            let over = 4 * first_two.max(last_two) > 3 * n;
            let want = match (divided, over) {
                (true, _) => CouncilConfidence::Low,
                (false, true) => CouncilConfidence::High,
                (false, false) => CouncilConfidence::Medium,
            };
            assert_eq!(sure(true), want, "{votes:?}");
            assert_eq!(sure(false), want.min(CouncilConfidence::Medium), "{votes:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 16 + 64 + 256 + 1024 + 4096);
    assert_eq!(decide(&[]), None, "without a vote there is no decision");
    for vote in CouncilVote::ALL {
        assert_eq!((decide(&[vote]), confidence(&[vote], true)), (None, None), "one vote is no quorum");
    }
}

fn voted(votes: [&'static str; 4], change: &'static str) -> Outcome {
    outcome(&[], &move |ask, phase, round| {
        with(ask, phase, round, &|said| {
            let place = SEATS.iter().position(|seat| *seat == ask.seat);
            match (phase, place) {
                ("verdict", Some(place)) => said["vote"] = json!(votes[place]),
                ("challenge", Some(0)) if change == round.to_string() => {
                    said["changed"] = json!(true);
                    said["because"] = json!("the figures");
                    said["position"] = json!("Not before the figures are in.");
                }
                _ => {}
            }
        })
    })
}

/// "HIGH over 75% on one side and no change in the last round, MEDIUM any other majority, LOW divided": 75% is not over 75%.
#[test]
fn confidence_is_high_only_over_75_percent_and_without_a_late_change() {
    let (yes, but, no) = ("PROCEED", "PROCEED WITH CONDITIONS", "DO NOT PROCEED");
    for (votes, change, decision, confidence) in [
        ([yes, yes, yes, yes], "", "PROCEED", "HIGH"),
        ([yes, yes, yes, but], "", "PROCEED WITH CONDITIONS", "HIGH"),
        ([yes, yes, but, no], "", "PROCEED WITH CONDITIONS", "MEDIUM"),
        ([yes, yes, no, no], "", "RECONSIDER", "LOW"),
        ([yes, yes, yes, yes], "2", "PROCEED", "MEDIUM"),
        ([yes, yes, yes, yes], "1", "PROCEED", "HIGH"),
        ([no, no, no, no], "", "DO NOT PROCEED", "HIGH"),
        ([no, no, "RECONSIDER", yes], "", "RECONSIDER", "MEDIUM"),
    ] {
        let outcome = voted(votes, change);
        let verdict = &outcome.verdict;
        assert_eq!(
            (&verdict["decision"], &verdict["confidence"]),
            (&json!(decision), &json!(confidence)),
            "{votes:?}"
        );
        assert_eq!(verdict["divided"], json!(confidence == "LOW"));
    }
}

#[test]
fn a_warning_says_when_nobody_named_a_condition() {
    let words = "nobody named a condition";
    assert!(warned(&voted(["PROCEED", "PROCEED", "PROCEED WITH CONDITIONS", "PROCEED"], ""), words));
    assert!(!warned(&voted(["PROCEED"; 4], ""), words));
    let named = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, ask.seat.as_str()) == ("verdict", "critic") {
                said["vote"] = json!("PROCEED WITH CONDITIONS");
                said["conditions"] = json!(["A way back"]);
            }
        })
    });
    assert_eq!(named.verdict["decision"], "PROCEED WITH CONDITIONS");
    assert!(!warned(&named, words));
}

#[test]
fn the_tally_counts_every_vote_and_the_minority_is_listed() {
    let outcome = voted(["PROCEED", "RECONSIDER", "PROCEED WITH CONDITIONS", "PROCEED"], "");
    let tally = json!({"PROCEED": 2, "PROCEED WITH CONDITIONS": 1, "RECONSIDER": 1, "DO NOT PROCEED": 0});
    assert_eq!(outcome.verdict["tally"], tally);
    let minority = outcome.verdict["minority_opinion"].as_array().unwrap();
    assert_eq!(minority.len(), 1);
    assert_eq!((&minority[0]["councillor"], &minority[0]["vote"]), (&json!("critic"), &json!("RECONSIDER")));
    assert_eq!(voted(["PROCEED"; 4], "").verdict["minority_opinion"], Value::Null);
}

/// The fields of the contract.
#[test]
fn the_verdict_has_every_field() {
    let outcome = outcome(&[], &|ask, phase, round| Some(plain(ask, phase, round)));
    for field in [
        "decision",
        "divided",
        "confidence",
        "votes",
        "tally",
        "consensus_points",
        "disagreements",
        "position_evolution",
        "interventions",
        "violations",
        "challenges",
        "exchanges",
        "risk_matrix",
        "conditions",
        "minority_opinion",
        "open_questions",
        "rounds",
        "economy",
    ] {
        assert!(outcome.verdict.get(field).is_some(), "{field}");
    }
    let vote = &outcome.verdict["votes"][1];
    let want = json!({"councillor": "critic", "vote": "PROCEED", "key_argument": "The load halves.",
        "strongest_opposing_point": "It costs a month.", "remaining_concern": "Nobody knows the queue.",
        "final_position": "A trial, then we see."});
    assert_eq!(vote, &want);
}

/// "Update {debate_log}": the seed's fields for every councillor in every round.
#[test]
fn the_debate_log_has_the_seeds_fields() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, round, ask.seat.as_str()) == ("challenge", 2, "critic") {
                said["changed"] = json!(true);
                said["because"] = json!("the figures");
                said["position"] = json!("Not before the figures are in.");
            }
        })
    });
    let rounds = outcome.verdict["rounds"].as_array().unwrap();
    for (round, number) in rounds.iter().zip(1..) {
        assert_eq!(round["round"], number);
        for seat in SEATS {
            let log = &round["debate_log"][seat];
            assert_eq!(log["challenges_made"].as_array().unwrap().len(), 2);
            assert_eq!(log["challenges_received"].as_array().unwrap().len(), 2);
            for field in ["position", "confidence", "changed", "peer_exchanges"] {
                assert!(log.get(field).is_some(), "{field}");
            }
        }
    }
    let made = &rounds[0]["debate_log"]["visionary"]["challenges_made"][0];
    assert_eq!((&made["target"], &made["point"]), (&json!("critic"), &json!("critic argues from load")));
    let got = &rounds[0]["debate_log"]["critic"]["challenges_received"][0];
    assert_eq!((&got["from"], &got["point"]), (&json!("visionary"), &json!("critic argues from load")));
    assert_eq!(rounds[0]["debate_log"]["critic"]["changed"], "no");
    assert_eq!(rounds[1]["debate_log"]["critic"]["changed"], "yes: the figures");
}

/// "Track position evolution across rounds (who changed their mind, and why)": round 0 is the opening.
#[test]
fn positions_are_tracked_from_the_opening() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, round, ask.seat.as_str()) == ("challenge", 1, "innovator") {
                said["changed"] = json!(true);
                said["because"] = json!("the Critic counted");
                said["position"] = json!("No queue for now.");
                said["confidence"] = json!("LOW");
            }
            if (phase, round, ask.seat.as_str()) == ("challenge", 2, "innovator") {
                said["position"] = json!("");
            }
        })
    });
    let steps = outcome.verdict["position_evolution"]["innovator"].as_array().unwrap();
    let want = json!({"round": 1, "position": "No queue for now.", "confidence": "LOW", "changed": true,
        "because": "the Critic counted", "carried": false});
    assert_eq!((steps.len(), &steps[1]), (3, &want));
    assert_eq!((&steps[0]["round"], &steps[0]["confidence"]), (&json!(0), &json!("MEDIUM")));
    assert_eq!(steps[2]["position"], "No queue for now.", "an empty one is the last one");
}

/// "no change" is arithmetic: who says so keeps its position to the letter, however it words it now.
#[test]
fn a_position_keeps_its_words_without_a_declared_change() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, ask.seat.as_str()) == ("challenge", "critic") {
                said["position"] = json!("Away with the queue!");
            }
        })
    });
    let steps = outcome.verdict["position_evolution"]["critic"].as_array().unwrap();
    for step in steps {
        assert_eq!(step["position"], steps[0]["position"]);
        assert_eq!(step["changed"], false);
    }
    assert_eq!(outcome.verdict["rounds"][1]["summary"]["position_changes"][2][2], "unchanged");
    assert_eq!(outcome.verdict["confidence"], "HIGH", "nobody moved in the last round");
}

/// "Track position evolution across rounds (who changed their mind, and why)": two changes in one round have two reasons.
#[test]
fn a_second_change_in_a_round_keeps_both_reasons() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("challenge", 1, "visionary") => {
                said["messages"] = json!([{"to": "critic", "topic": "load", "text": "Which load?"}]);
            }
            ("challenge", 1, "critic") => {
                said["changed"] = json!(true);
                said["because"] = json!("the figures");
                said["position"] = json!("Not this year.");
            }
            ("exchange", 1, "critic") => {
                said["changed"] = json!(true);
                said["because"] = json!("the letter");
                said["position"] = json!("Not this month.");
            }
            _ => {}
        })
    });
    let step = &outcome.verdict["position_evolution"]["critic"][1];
    assert_eq!(
        (&step["position"], &step["because"]),
        (&json!("Not this month."), &json!("the figures; then the letter"))
    );
}

fn sharing(by_round: &[(&[&str], bool)]) -> Outcome {
    outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if phase == "moderate" {
                let (who, challenged) = by_round[round as usize - 1];
                said["shared_points"] = json!([{"point": "the queue is worth a trial", "councillors": who, "challenged": challenged}]);
            }
        })
    })
}

/// "consensus points (60% and more)", "the latest mention counts": 3 of 4 are, 2 of 4 are not.
#[test]
fn consensus_points_need_60_percent_and_the_latest_mention_counts() {
    let (three, two) = (&SEATS[..3], &SEATS[..2]);
    let outcome = sharing(&[(two, true), (three, true)]);
    let points = outcome.verdict["consensus_points"].as_array().unwrap();
    assert_eq!(points.len(), 1);
    assert_eq!((&points[0]["councillors"], &points[0]["share"]), (&json!(three), &json!(0.75)));
    let quote = points[0]["quotes"][1].clone();
    assert_eq!(
        quote,
        json!({"councillor": "critic", "quote": "The critic says that the queue is worth a trial."})
    );
    let contested = |outcome: &Outcome| {
        let all = outcome.verdict["disagreements"].as_array().unwrap();
        all.iter().filter(|point| point["challenge_id"].is_null()).count()
    };
    assert_eq!(contested(&outcome), 0, "what they agree on is not contested as well");
    let outcome = sharing(&[(three, true), (two, true)]);
    assert_eq!(outcome.verdict["consensus_points"], json!([]));
    assert_eq!(contested(&outcome), 1);
}

/// Exactly 60% is enough: 3 of 5.
#[test]
fn exactly_sixty_percent_is_a_consensus() {
    let five: Vec<&str> = SEATS.into_iter().chain(["ethicist"]).collect();
    for (sharing, points) in [(3, 1), (2, 0)] {
        let outcome = outcome(&[("councillors", "5")], &|ask, phase, round| {
            let mut stand_in = ask.clone();
            if ask.seat == "ethicist" {
                stand_in.seat = "critic".into();
            }
            let at = five.iter().position(|seat| *seat == ask.seat).unwrap_or_default();
            with(&stand_in, phase, round, &|said| {
                for (list, entry) in [("questions", 0), ("challenges", 0), ("challenges", 1)] {
                    if let Some(entry_value) = said.get_mut(list).and_then(|list| list.get_mut(entry)) {
                        entry_value["to"] = json!(five[(at + entry + 1) % 5]);
                    }
                }
                if phase == "moderate" {
                    said["shared_points"] = json!([{"point": "the queue is worth a trial", "councillors": five[..sharing], "challenged": true}]);
                }
            })
        });
        assert_eq!(outcome.verdict["consensus_points"].as_array().unwrap().len(), points, "{sharing} of 5");
    }
}

/// "persistent disagreements": challenges answered with a no, and contested points, with both sides.
#[test]
fn disagreements_have_both_sides() {
    let outcome = sharing(&[(&SEATS[..2], true), (&SEATS[..2], true)]);
    let all = outcome.verdict["disagreements"].as_array().unwrap();
    assert_eq!(all.len(), 12 + 1, "all answers are no, and one point is contested");
    let (first, last) = (&all[4], &all[12]);
    assert_eq!((&first["challenge_id"], &first["point"]), (&json!("C5"), &json!("critic argues from load")));
    assert_eq!(first["sides"][0]["councillors"], json!(["visionary"]));
    assert!(first["sides"][0]["view"].as_str().unwrap().contains("sees no figures"));
    assert_eq!(first["sides"][1]["view"], "On C5 the critic has measured it twice.");
    assert_eq!(last["sides"][1]["councillors"], json!(["pragmatist", "innovator"]));
}

/// "risk matrix (severity 4 x probability 3), conditions": merged by their words, the gravest first.
#[test]
fn risks_and_conditions_are_merged_and_ordered() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            let risk = |risk: &str, severity: &str, probability: &str, mitigation: &str| json!({"risk": risk, "severity": severity, "probability": probability, "mitigation": mitigation});
            match (phase, ask.seat.as_str()) {
                ("verdict", "visionary") => {
                    said["risks"] = json!([
                        risk("It is slow", "low", "high", ""),
                        risk("Data is lost.", "high", "low", "a backup")
                    ]);
                    said["conditions"] = json!(["A backup first", "A way back"]);
                }
                ("verdict", "critic") => {
                    said["risks"] = json!([
                        risk("data is LOST", "critical", "medium", "two backups"),
                        risk("It is dear", "critical", "high", "")
                    ]);
                    said["conditions"] = json!(["a backup first."]);
                }
                _ => {}
            }
        })
    });
    let want = json!([
        {"risk": "It is dear", "severity": "critical", "probability": "high", "mitigation": "", "councillors": ["critic"]},
        {"risk": "Data is lost.", "severity": "critical", "probability": "medium", "mitigation": "a backup; two backups",
            "councillors": ["visionary", "critic"]},
        {"risk": "It is slow", "severity": "low", "probability": "high", "mitigation": "", "councillors": ["visionary"]},
    ]);
    assert_eq!(outcome.verdict["risk_matrix"], want);
    let want = json!([
        {"condition": "A backup first", "councillors": ["visionary", "critic"]},
        {"condition": "A way back", "councillors": ["visionary"]},
    ]);
    assert_eq!(outcome.verdict["conditions"], want);
}
