//! The terminal's report, as a person sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_core::{Status, Termination};
use agon_report::{Style, text};
use insta::assert_snapshot;
use sample::{Log, outcome};
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

#[test]
fn a_converged_debate_reads_from_the_answer_to_the_cost() {
    assert_snapshot!(text(&sample::converged().document(), &PLAIN), @"");
}

#[test]
fn a_degraded_debate_says_what_was_missing() {
    assert_snapshot!(text(&sample::degraded().document(), &PLAIN), @"");
}

#[test]
fn a_failed_debate_has_no_answer_but_all_positions() {
    assert_snapshot!(text(&sample::failed().document(), &PLAIN), @"");
}

#[test]
fn quick_mode_has_no_rounds_and_standard_mode_has_a_ranking() {
    let mut log = Log::open("deep");
    let verdict = json!({"answer": "Yes.", "why": "Both say so.", "contested": [], "rounds": [], "synthesis_input": {"mode": "quick"}});
    log.close(outcome(Status::Complete, Termination::AllRoundsComplete, 0, verdict));
    assert_snapshot!(text(&log.document(), &PLAIN), @"");

    let mut document = log.document();
    document["verdict"]["synthesis_input"]["mode"] = json!("standard");
    document["verdict"]["ranking"] = json!([{"debater": "B", "score": 8.25, "z": 0.71, "disqualified": false},
        {"debater": "A", "score": 5.0, "z": -0.7, "disqualified": true}]);
    let shown = text(&document, &PLAIN);
    let ranking = shown.split("Ranking\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(ranking, @"");
}

#[test]
fn a_protocol_that_nobody_has_heard_of_is_still_readable() {
    let mut log = Log::open("symposium");
    let verdict = json!({
        "decision": "approve", "share": 0.6666666, "votes_cast": 2025, "divided": true, "nothing": null, "empty": [],
        "rationale": "A paragraph long enough that it does not fit beside its name on one line of the report.",
        "votes": [{"voter": "A", "choice": "yes"}, {"voter": "B", "choice": "no"}],
        "open_questions": ["Who pays?", "Until when?"],
        "risks": [{"name": "Cost", "risk": "It may well cost twice what anybody expects it to cost.", "severity": "high"}],
        "convergence": [{"round": 1, "agreement": 0.5, "speakers": [{"label": "A", "said": ["one", "two"]}]}],
    });
    log.close(outcome(Status::Complete, Termination::Majority, 1, verdict));
    assert_snapshot!(text(&log.document(), &PLAIN), @"");
}

#[test]
fn an_interrupted_debate_says_how_to_go_on_and_hides_the_mapping() {
    let log = Log::open("deep");
    let shown = text(&log.document(), &PLAIN);
    assert!(shown.contains("agon resume k3v9q2"), "{shown}");
    assert!(!shown.contains("Debater A"), "{shown}");
}

#[test]
fn no_dissent_is_said_only_where_every_position_is_accounted_for() {
    let mut document = sample::degraded().document();
    assert!(text(&document, &PLAIN).contains("No dissent"));
    document["evidence"]["dissent"][0]["fate"] = json!("minority");
    let shown = text(&document, &PLAIN);
    assert!(!shown.contains("No dissent") && shown.contains("Debater B (debater-1)"), "{shown}");
    document["evidence"]["dissent"] = json!([]);
    assert!(!text(&document, &PLAIN).contains("issent"));
}

#[test]
fn the_cost_line_tells_what_is_not_known() {
    let mut document = sample::converged().document();
    document["usage"] = json!({"calls": 1, "input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 2_020, "usd": null,
        "possibly_billed_twice_calls": 0, "possibly_billed_twice_usd": 0.0});
    assert!(text(&document, &PLAIN).contains("\n  1 call, 1 token in, 2,020 out, price unknown\n\n"));
    document["usage"]["possibly_billed_twice_calls"] = json!(2);
    document["usage"]["possibly_billed_twice_usd"] = Value::Null;
    assert!(text(&document, &PLAIN).contains("\n  possibly billed twice: 2 calls, price unknown\n"));
}

/// Every string of the document, keys included, with something in it that a terminal would obey.
fn poisoned(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{8}")),
        Value::Array(values) => values.iter().map(poisoned).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), poisoned(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn nothing_in_a_document_can_command_the_terminal() {
    for log in [sample::converged(), sample::degraded(), sample::failed()] {
        let mut document = poisoned(&log.document());
        for protocol in ["deep", "other"] {
            document["protocol"] = json!(protocol);
            let shown = text(&document, &PLAIN);
            assert!(shown.chars().all(|char| char == '\n' || !char.is_control()), "{shown:?}");
            assert!(!shown.contains('\u{202e}'));
        }
    }
}

#[test]
fn lines_keep_to_the_width_and_colour_changes_no_word() {
    for log in [sample::converged(), sample::degraded(), sample::failed()] {
        let document = log.document();
        for width in [40, 80, 300] {
            let shown = text(&document, &Style { width, ..PLAIN });
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.min(100), "{widest} columns of {width}:\n{shown}");
        }
        let painted = text(&document, &Style { color: true, ..PLAIN });
        assert!(painted.contains("\u{1b}["));
        let bare = |text: &str| agon_report::clean(text).replace('`', "");
        assert_eq!(bare(&painted), bare(&text(&document, &PLAIN)));
    }
}

#[test]
fn ascii_terminals_get_ascii_signs() {
    let shown = text(&sample::converged().document(), &Style { unicode: false, ..PLAIN });
    assert!(shown.is_ascii(), "{shown}");
}
