//! The vote table in full, the caps of the confidence, and what the verdict contains.

use super::super::replies::CouncilVote;
use super::super::verdict::{ConfidenceCap, confidence, decide, is_over_75_percent};
use super::*;

/// "Unanimity first: all PROCEED is PROCEED, all DO NOT PROCEED is that; then a majority of the first two is PROCEED WITH
/// CONDITIONS, a majority of the last two is RECONSIDER; an even split is RECONSIDER, `divided`", for all votes of 2 to 6.
#[test]
fn the_vote_table_holds_for_all_votes_of_two_to_six() {
    for n in 2..=6_usize {
        for code in 0..4_usize.pow(n as u32) {
            let votes: Vec<CouncilVote> =
                (0..n).map(|at| CouncilVote::ALL[code / 4_usize.pow(at as u32) % 4]).collect();
            let count = |vote: CouncilVote| votes.iter().filter(|other| **other == vote).count();
            let yes = count(CouncilVote::Proceed) + count(CouncilVote::WithConditions);
            let (want, divided) = match (count(CouncilVote::Proceed), count(CouncilVote::DoNotProceed)) {
                (all, _) if all == n => ("PROCEED", false),
                (_, all) if all == n => ("DO NOT PROCEED", false),
                _ if 2 * yes > n => ("PROCEED WITH CONDITIONS", false),
                _ => ("RECONSIDER", 2 * yes == n),
            };
            let decided = decide(&votes, 2).unwrap();
            assert_eq!((decided.vote.as_str(), decided.divided), (want, divided), "{votes:?}");
            let (none, capped) = if divided { ("LOW", "LOW") } else { ("HIGH", "MEDIUM") };
            assert_eq!(confidence(decided, &[]).as_str(), none, "{votes:?}");
            assert_eq!(confidence(decided, &[ConfidenceCap::CutShort]).as_str(), capped, "{votes:?}");
            assert_eq!(decide(&votes, n + 1), None, "without a quorum nothing is decided");
        }
    }
    assert_eq!(decide(&[], 0), None);
}

/// "HIGH over 75% on one side" of all councillors; who is absent is on no side.
#[test]
fn three_of_four_are_not_over_75_percent() {
    for (yes, no, councillors, is_over) in [
        (3, 1, 4, false),
        (4, 1, 5, true),
        (4, 0, 4, true),
        (5, 1, 6, true),
        (4, 2, 6, false),
        (1, 5, 6, true),
        (3, 0, 4, false),
        (4, 0, 5, true),
    ] {
        let votes = [vec![CouncilVote::Proceed; yes], vec![CouncilVote::DoNotProceed; no]].concat();
        assert_eq!(is_over_75_percent(&votes, councillors), is_over, "{yes} and {no} of {councillors}");
    }
}

fn voted(votes: [&'static str; 4], edit: &dyn Fn(&str, u32, &str, &mut Value)) -> Outcome {
    outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if let (true, Some(place)) =
                (said.get("vote").is_some(), SEATS.iter().position(|seat| *seat == ask.seat))
            {
                said["vote"] = json!(votes[place]);
            }
            edit(phase, round, &ask.seat, said);
        })
    })
}

/// "HIGH over 75% on one side and no vote changed in the last round, MEDIUM any other majority, LOW divided"; 75% is not over 75%.
#[test]
fn confidence_is_high_only_over_75_percent_and_without_a_late_change() {
    let (yes, but, no) = ("PROCEED", "PROCEED WITH CONDITIONS", "DO NOT PROCEED");
    for (votes, decision, confidence) in [
        ([yes, yes, yes, yes], yes, "HIGH"),
        ([yes, yes, yes, but], but, "HIGH"),
        ([yes, yes, but, no], but, "MEDIUM"),
        ([yes, yes, no, no], "RECONSIDER", "LOW"),
        ([no, no, no, no], no, "HIGH"),
        ([no, no, "RECONSIDER", yes], "RECONSIDER", "MEDIUM"),
    ] {
        let verdict = voted(votes, &|_, _, _, _| {}).verdict;
        assert_eq!(
            (&verdict["decision"], &verdict["confidence"]),
            (&json!(decision), &json!(confidence)),
            "{votes:?}"
        );
        assert_eq!(verdict["divided"], json!(confidence == "LOW"));
    }
    for (phase, round, high) in [("opening", 0, true), ("respond", 1, false), ("respond", 2, false)] {
        let verdict = voted([yes; 4], &|now, at, seat, said| {
            if (now, at, seat) == (phase, round, "critic") {
                said["vote"] = json!("RECONSIDER");
            }
        });
        assert_eq!(
            verdict.verdict["confidence"] == "HIGH",
            high,
            "{phase} {round}: a vote changed in or after the last round"
        );
    }
}

/// "capped at MEDIUM when the moderator was absent, a challenge stayed open, no message was exchanged in standard mode, or at least
/// half of the councillors end with LOW (each cap is named in `verdict.confidence_caps`)".
#[test]
fn every_cap_of_the_confidence_is_named() {
    let capped = |absent: &str, edit: &dyn Fn(&str, &str, &mut Value)| {
        let outcome = outcome(&[], &|ask, phase, round| {
            let said = with(ask, phase, round, &|said| edit(phase, &ask.seat, said));
            said.filter(|_| phase != absent)
        });
        (outcome.verdict["confidence"].clone(), outcome.verdict["confidence_caps"].clone())
    };
    assert_eq!(capped("", &|_, _, _| {}), (json!("HIGH"), json!([])));
    let medium = |caps: Value| (json!("MEDIUM"), caps);
    assert_eq!(capped("moderate", &|_, _, _| {}), medium(json!(["moderator_absent"])));
    assert_eq!(capped("conclude", &|_, _, _| {}), medium(json!(["moderator_absent"])));
    let silent = capped("", &|phase, _, said| {
        if phase == "challenge" {
            said["messages"] = json!([]);
        }
    });
    assert_eq!(silent, medium(json!(["no_messages"])));
    let open = capped("intervene", &|phase, seat, said| {
        if phase == "respond" && seat == "critic" {
            said["responses"] = json!([]);
        }
    });
    assert_eq!(open, medium(json!(["challenge_open"])));
    for (unsure, caps) in [(1, json!([])), (2, json!(["low_confidence"]))] {
        let (_, seen) = capped("", &|phase, seat, said| {
            if phase == "respond" && SEATS[..unsure].contains(&seat) {
                said["confidence"] = json!("LOW");
            }
        });
        assert_eq!(seen, caps, "{unsure} of 4");
    }
}

/// The fields of the contract, the tally, and the minority: only those who voted on the other side.
#[test]
fn the_verdict_has_every_field_and_the_minority_voted_against_it() {
    let outcome = voted(["PROCEED", "RECONSIDER", "PROCEED WITH CONDITIONS", "PROCEED"], &|_, _, _, _| {});
    for field in "decision divided confidence confidence_caps agreed agreed_quotes facts_needed votes tally consensus_points \
        disagreements position_evolution interventions violations challenges exchanges risk_matrix conditions conflicts minority_opinion \
        open_questions rounds economy".split_whitespace()
    {
        assert!(outcome.verdict.get(field).is_some(), "{field}");
    }
    let tally = json!({"PROCEED": 2, "PROCEED WITH CONDITIONS": 1, "RECONSIDER": 1, "DO NOT PROCEED": 0});
    assert_eq!(outcome.verdict["tally"], tally);
    let critic = json!({"councillor": "critic", "vote": "RECONSIDER", "key_argument": "The load halves.",
        "strongest_opposing_point": "It costs a month.", "remaining_concern": "Nobody knows the queue.",
        "final_position": "A trial, then we see."});
    assert_eq!(outcome.verdict["minority_opinion"], json!([critic]));
    let dissent: Vec<&str> =
        outcome.dissent.iter().map(|held| held["councillor"].as_str().unwrap()).collect();
    assert_eq!(dissent, ["critic"], "who voted for the winner is never dissent");
    assert!(warned(&outcome, "nobody named a condition"));
    assert_eq!(voted(["PROCEED"; 4], &|_, _, _, _| {}).verdict["minority_opinion"], Value::Null);
}

/// "consensus points (60% and more)" as the last moderated round has them; a challenged point that fewer share is a disagreement.
#[test]
fn consensus_points_need_60_percent_in_the_last_round() {
    for (first, last, points, contested) in [(2, 3, 1, 0), (3, 2, 0, 1), (4, 4, 1, 0)] {
        let outcome = outcome(&[], &|ask, phase, round| {
            with(ask, phase, round, &|said| {
                if phase == "moderate" {
                    let seats = if round == 1 { first } else { last };
                    said["shared_points"] = super::moderation::shared(&SEATS[..seats], true);
                }
            })
        });
        let found = outcome.verdict["consensus_points"].as_array().unwrap();
        assert_eq!(found.len(), points);
        for point in found {
            let share = last as f64 / 4.0;
            assert_eq!(
                (&point["share"], &point["quotes"][1]["councillor"]),
                (&json!(share), &json!("critic"))
            );
        }
        let all = outcome.verdict["disagreements"].as_array().unwrap();
        assert_eq!(all.iter().filter(|point| point["challenge_id"].is_null()).count(), contested);
        let first = all.iter().find(|point| point["challenge_id"] == "C5").unwrap();
        assert!(first["sides"][0]["view"].as_str().unwrap().contains("sees no figures"));
        assert_eq!(first["sides"][1]["view"], "On C5 the critic has measured it twice.");
        assert!(all.iter().all(|point| point["challenge_id"] != "C4"), "the Visionary granted it something");
    }
}

/// "One moderator call after the votes merges conditions and risks over ids shown; each keeps who named it"; "the majority's
/// conditions come first, all of them"; "without it they are listed as given".
#[test]
fn conditions_and_risks_are_merged_as_the_moderator_declares() {
    let risk = |risk: &str, severity: &str, mitigation: &str| json!({"risk": risk, "severity": severity, "probability": "low", "mitigation": mitigation});
    let concluded = |merged: Option<Value>| {
        outcome(&[], &|ask, phase, round| {
            let said = with(ask, phase, round, &|said| match (phase, ask.seat.as_str()) {
                ("verdict", "visionary") => {
                    said["vote"] = json!("RECONSIDER");
                    said["conditions"] = json!(["A copy of the data"]);
                    said["risks"] = json!([risk("Data is lost", "high", "a copy")]);
                }
                ("verdict", "critic") => {
                    said["conditions"] = json!(["A way back", "A backup first"]);
                    said["risks"] =
                        json!([risk("All is gone", "critical", "A COPY"), risk("It is dear", "low", "")]);
                }
                ("verdict", "innovator") => said["conditions"] = json!(["a way  BACK"]),
                ("conclude", _) => said["merged"] = merged.clone().unwrap_or_default(),
                _ => {}
            });
            said.filter(|_| phase != "conclude" || merged.is_some())
        })
    };
    let listed = |outcome: &Outcome, list: &str, field: &str| {
        let all = outcome.verdict[list].as_array().unwrap();
        all.iter()
            .map(|entry| format!("{} {}", entry[field].as_str().unwrap(), entry["councillors"]))
            .collect::<Vec<_>>()
    };
    let plain = concluded(None);
    let given = [
        r#"A way back ["critic","innovator"]"#,
        r#"A backup first ["critic"]"#,
        r#"A copy of the data ["visionary"]"#,
    ];
    assert_eq!(
        listed(&plain, "conditions", "condition"),
        given,
        "equal texts are one, and the majority's come first"
    );
    assert!(warned(&plain, "the moderator gave no conclusion: conditions and risks are listed as given"));
    let merged = concluded(Some(
        json!([{"ids": ["D3", "D4"], "text": "Safety first"}, {"ids": ["R1", "R2"], "text": "Data loss"}]),
    ));
    let want = [r#"A way back ["critic"]"#, r#"Safety first ["critic","innovator"]"#, given[2]];
    assert_eq!(listed(&merged, "conditions", "condition"), want);
    let stated = json!([{"councillor": "critic", "quote": "A backup first"}, {"councillor": "innovator", "quote": "a way  BACK"}]);
    assert_eq!(merged.verdict["conditions"][1]["stated"], stated, "who named which words");
    let loss = &merged.verdict["risk_matrix"][0];
    assert_eq!(
        (&loss["risk"], &loss["severity"], &loss["mitigation"]),
        (&json!("Data loss"), &json!("critical"), &json!("a copy"))
    );
    for wrong in [
        json!([{"ids": ["D1", "R1"], "text": "Data"}]),
        // The Visionary wants it before a new vote, the Critic before the start.
        json!([{"ids": ["D1", "D3"], "text": "Copy the data first"}]),
        json!([{"ids": ["D1", "D1"], "text": "Data"}]),
        json!([{"ids": ["D1", "D3"], "text": ""}]),
    ] {
        let dropped = concluded(Some(wrong.clone()));
        assert_eq!(listed(&dropped, "conditions", "condition"), given, "{wrong}");
        assert!(warned(&dropped, "the moderator's conclusion: `merged` cannot join"), "{wrong}");
    }
}

/// It is done when the conditions are met, so the moderator names those that cannot all be met: of one kind, and of several councillors.
#[test]
fn conditions_that_exclude_each_other_are_named() {
    for (ids, why, is_named) in [
        (json!(["D2", "D4"]), "One date cannot be both.", true),
        (json!(["D2", "D4"]), " ", false),
        (json!(["D2", "D3"]), "Both are the Critic's.", false),
        (json!(["D1", "D4"]), "One is wanted before a new vote.", false),
    ] {
        let debate = run(&[], &|ask, phase, round| {
            with(ask, phase, round, &|said| match (phase, ask.seat.as_str()) {
                ("opening" | "respond", "visionary") => said["vote"] = json!("RECONSIDER"),
                ("verdict", "visionary") => {
                    (said["vote"], said["conditions"]) = (json!("RECONSIDER"), json!(["No date at all"]))
                }
                ("verdict", "critic") => said["conditions"] = json!(["The date stands", "A backup"]),
                ("verdict", "innovator") => said["conditions"] = json!(["The date moves"]),
                ("conclude", _) => said["conflicts"] = json!([{"ids": ids, "why": why}]),
                _ => {}
            })
        });
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!(warned(outcome, "`conflicts` cannot name"), !is_named, "{ids} {why}");
        let conditions =
            view(&debate).outline.answer.into_iter().find(|section| section.title == "Conditions").unwrap();
        let words = "Critic: \\\"The date stands\\\" / Innovator: \\\"The date moves\\\"";
        assert_eq!(format!("{conditions:?}").contains(words), is_named, "{ids} {why}");
    }
}

/// "gives, with quotes, the sentence that all or most agree on, which leads the report, and the facts that only the person can supply".
#[test]
fn the_agreed_sentence_needs_quotes_of_more_than_half() {
    let agreed = |quotes: &[(&str, &str)]| {
        let quotes: Vec<Value> =
            quotes.iter().map(|(seat, quote)| json!({"councillor": seat, "quote": quote})).collect();
        let debate = run(&[], &|ask, phase, round| {
            with(ask, phase, round, &|said| {
                if phase == "conclude" {
                    (said["agreed"], said["quotes"]) = (json!("Try it."), json!(quotes));
                    said["facts_needed"] = json!(["How many users are there?", " "]);
                }
            })
        });
        view(&debate).headline.answer
    };
    let own = "A trial, then we see.";
    let leads = Some("Try it.".to_owned());
    assert_eq!(agreed(&[("critic", own), ("Visionary", "the load HALVES"), ("innovator", own)]), leads);
    assert_eq!(agreed(&[("critic", own), ("visionary", own)]), None, "half is not most");
    assert_eq!(agreed(&[("critic", own), ("critic", own), ("visionary", own)]), None, "each counts once");
    let other_side = [("critic", own), ("visionary", own), ("innovator", "It costs a month.")];
    assert_eq!(agreed(&other_side), None, "the strongest point of the other side is not one's own");
}
