//! How an arena reads when it ends without a decision, or when parts of its verdict are missing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_core::Termination;
use agon_report::{Style, html, markdown, text};
use sample::arena;
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

/// "A failed judge, vote or quorum is a distinct ending": each says what was missing, in words of its own.
#[test]
fn every_ending_without_a_decision_says_why() {
    for (termination, why) in [
        (Termination::QuorumLost, "Fewer than two agents made a proposal"),
        (Termination::Budget, "A limit was reached before anybody voted."),
        (Termination::Cancelled, "The debate was cancelled before anything was decided."),
        (Termination::Failed, "The vote reached no majority (nobody voted), and no judge was heard."),
    ] {
        let log = arena::nothing(termination);
        let shown = text(&log.document(), &PLAIN);
        assert!(shown.contains(&format!("No decision\n  {why}")), "{shown}");
        for section in
            ["Votes", "The judge", "Ratings", "Hollow consensus", "Rhetoric", "What they were given"]
        {
            assert!(!shown.contains(&format!("\n{section}")), "{section} in\n{shown}");
        }
        let (long, page) = (markdown(&log.document(), &log.debate), html(&log.document(), &log.debate));
        assert!(long.contains(why) && page.contains(why), "{long}");
    }
    let mut document = arena::no_majority().document();
    document["termination"] = json!("quorum_lost");
    document["verdict"]["consensus"] =
        json!({"kind": "majority", "reached": false, "share": null, "cast": 1, "agents": 3});
    for (votes, told) in [
        (json!([{"choice": "A"}, {"choice": "abstain"}, {"choice": "abstain"}]), " (2 abstained)"),
        (json!([{"choice": "A"}]), ""),
    ] {
        document["verdict"]["votes"] = votes;
        let shown = text(&document, &PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
        let words = format!("Only 1 of 3 agents voted for a proposal{told}, and half of them must.");
        assert!(shown.contains(&words), "{shown}");
    }
}

/// "hollow consensus does not count": the reader is told why a vote with enough voices decided nothing.
#[test]
fn a_hollow_consensus_is_told_as_such() {
    let mut document = arena::no_majority().document();
    document["verdict"]["consensus"] =
        json!({"kind": "majority", "reached": false, "share": 1.0, "cast": 3, "agents": 3, "hollow": true});
    document["verdict"]["tally"] = json!([{"labels": ["B"], "votes": 3, "share": 1.0}]);
    for (challenged, came_to, why) in [
        (true, json!("not_met"), "the trickster's challenge was not met"),
        (true, json!("unmeasured"), "nothing could be measured after the trickster's challenge"),
        (false, Value::Null, "no round was left for the trickster's challenge"),
    ] {
        document["verdict"]["trickster"] = json!({"checks": [{"round": 7, "agents": ["A", "B"], "hollow": true,
            "challenged": challenged, "came_to": came_to, "met": null, "signals": [], "after": null}]});
        let shown = text(&document, &PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            shown.contains(&format!(
                "The vote (3 votes for Agent B) rests on little: {why}, so that it does not count."
            )),
            "{shown}"
        );
        assert!(shown.contains("Round 7, Agent A and Agent B: hollow"), "whose agreement it is: {shown}");
    }
}

/// "`null` when nothing was measured after it or the agreement was left (then own words in the report)".
#[test]
fn what_a_challenge_came_to_has_words_of_its_own() {
    for (came_to, met, words) in [
        ("met", json!(true), "challenged, and the challenge was met"),
        ("not_met", json!(false), "challenged, and the challenge was not met"),
        ("left", Value::Null, "challenged, and the agreement was left"),
        ("unmeasured", Value::Null, "challenged, and nothing could be measured after it"),
    ] {
        let mut document = arena::consensus().document();
        let check = &mut document["verdict"]["trickster"]["checks"][0];
        (check["came_to"], check["met"]) = (json!(came_to), met);
        let shown = text(&document, &PLAIN);
        assert!(shown.contains(&format!("Round 3: hollow  {words}\n")), "{shown}");
    }
}

/// A vote that reached its majority is never said to have missed it, whoever was to decide.
#[test]
fn a_majority_that_was_reached_is_not_denied() {
    let mut document = arena::no_majority().document();
    document["verdict"]["consensus"] =
        json!({"kind": "majority", "reached": true, "share": 1.0, "cast": 3, "agents": 3, "hollow": false});
    document["verdict"]["tally"] = json!([{"labels": ["B"], "votes": 3, "share": 1.0}]);
    let told = |document: &Value| text(document, &PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = told(&document);
    assert!(!shown.contains("reached no"), "{shown}");
    assert!(
        shown.contains("The vote reached a majority (3 votes for Agent B), but the judge was to decide, and it names no best"),
        "{shown}"
    );
    // The vote's winner stands where the judge names no best.
    for (key, value) in [("winner", json!("B")), ("decided_by", json!("vote"))] {
        document["verdict"][key] = value;
    }
    let shown = told(&document);
    assert!(
        shown.contains(
            "By vote: 3 of 3 votes cast (100%); a majority is more than half. The judge names no best"
        ),
        "{shown}"
    );
}

/// "seats of one agent share it": the reader is told why two rows end with one rating.
#[test]
fn seats_of_one_agent_share_its_rating() {
    let mut document = arena::consensus().document();
    let line = "anthropic/beta sits more than once";
    assert!(!text(&document, &PLAIN).contains(line));
    document["verdict"]["ratings"][2]["agent"] = json!("anthropic/beta");
    let shown = text(&document, &PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains(&format!("{line}: its seats share one rating, to which all of their changes add.")),
        "{shown}"
    );
}

/// "rounds with the same reasons are one line".
#[test]
fn rounds_with_the_same_reasons_are_one_line() {
    let mut document = arena::no_majority().document();
    let check = |round: u32, least: f64| {
        json!({"round": round, "agreement_min": least, "agreement_mean": least, "stability_min": null, "stability_mean": null,
            "converged": false, "conflicts": [], "opposed": [], "undeclared": [], "measured_by": "embeddings/lexical"})
    };
    let told = |document: &Value| text(document, &PLAIN);
    document["verdict"]["convergence"] =
        json!([check(3, 0.1), check(4, 0.2), check(5, 0.3), check(6, 0.4), check(9, 0.4)]);
    let shown = told(&document);
    assert!(shown.contains("• Rounds 3 to 6 and 9: not alike enough\n"), "{shown}");
    assert_eq!(shown.matches("not alike enough").count(), 1);
    document["verdict"]["convergence"] = json!([check(3, 0.1), check(4, 0.2), check(5, 0.9), check(6, 0.4)]);
    let shown = told(&document);
    for line in [
        "• Rounds 3 and 4: not alike enough\n",
        "• Round 5: not converged\n",
        "• Round 6: not alike enough\n",
    ] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
}

/// A verdict of which any part is null or missing is still read without a gap or a made-up figure.
#[test]
fn whatever_part_of_the_verdict_is_null_the_report_can_be_read() {
    for log in [arena::consensus(), arena::no_majority(), arena::judge_failed()] {
        let document = log.document();
        let keys: Vec<String> = document["verdict"].as_object().unwrap().keys().cloned().collect();
        for key in &keys {
            for value in [Value::Null, json!([]), json!({})] {
                let mut document = document.clone();
                document["verdict"][key] = value;
                let shown = text(&document, &PLAIN);
                assert!(
                    shown.contains("\nDecision\n") && !shown.contains("null") && !shown.contains("NaN"),
                    "{key}: {shown}"
                );
                assert!(!shown.contains("  ()") && !shown.contains(" ,"), "{key}: {shown}");
                assert!(
                    html(&document, &log.debate).ends_with("</html>\n")
                        && !markdown(&document, &log.debate).is_empty()
                );
            }
        }
    }
}

/// "Judge and vote disagreeing is reported, not hidden": whoever of the two decides.
#[test]
fn a_judge_who_disagrees_with_the_vote_is_named_in_the_first_sentence() {
    let mut document = arena::consensus().document();
    document["verdict"]["judge"]["top"] = json!("A");
    document["verdict"]["judge"]["agrees_with_vote"] = json!(false);
    let told = |document: &Value| text(document, &PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told(&document).contains("The judge does not agree: it puts Agent A first."),
        "{}",
        told(&document)
    );
    assert!(told(&document).contains("That does not agree with the vote."), "{}", told(&document));
    document["verdict"]["decided_by"] = json!("judge");
    document["verdict"]["winner"] = json!("A");
    let shown = told(&document);
    assert!(
        shown.contains(
            "Agent A wins By the judge, 1.50 points ahead. The vote does not agree: it is for Agent B."
        ),
        "{shown}"
    );
    document["verdict"]["consensus"]["reached"] = json!(false);
    assert!(
        told(&document).contains("The vote reached no majority: 2 votes for Agent B and 1 abstention."),
        "{}",
        told(&document)
    );
}
