//! Who sat where, and who really spoke.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Style, text};
use insta::assert_snapshot;
use serde_json::json;

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

#[test]
fn one_model_on_every_seat_is_named_once() {
    let mut document = sample::converged().document();
    for seat in document["seats"].as_array_mut().unwrap() {
        seat["model"] = json!("script/demo");
        seat["spoke"] = json!(["script/demo"]);
    }
    let shown = text(&document, &PLAIN);
    let seats = shown.split("Who sat where\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(seats, @"
    All seats: script/demo
    Debater A is debater-2, Debater B is debater-1, Debater C is debater-3.
    ");
}

/// "The second takes the seat when the first is down, and the report says who really spoke."
#[test]
fn who_really_spoke_is_said_where_it_is_not_simply_the_model_that_was_named() {
    let shown = |named: [&str; 3], spoke: [&[&str]; 3]| {
        let mut document = sample::converged().document();
        for (seat, model) in document["seats"].as_array_mut().unwrap().iter_mut().zip(named) {
            seat["model"] = json!(model);
        }
        document["seats"].as_array_mut().unwrap().truncate(3);
        for (place, spoke) in spoke.into_iter().enumerate() {
            document["seats"][place]["spoke"] = json!(spoke);
        }
        let text = text(&document, &PLAIN);
        text.split("Who sat where\n").nth(1).unwrap().split("\n\n").next().unwrap().to_owned()
    };
    const CHAIN: &str = "openai/x|anthropic/y";
    let each = shown(
        [CHAIN, "gemini/z", CHAIN],
        [&["anthropic/y"], &["gemini/z-002"], &["openai/x", "anthropic/y"]],
    );
    assert_snapshot!(each, @"
    Debater A: debater-2, gemini/z (gemini/z-002 spoke)
    Debater B: debater-1, openai/x|anthropic/y (anthropic/y spoke)
    Debater C: debater-3, openai/x|anthropic/y (openai/x and anthropic/y spoke)
    ");
    let all = shown([CHAIN; 3], [&["anthropic/y"], &[], &["anthropic/y"]]);
    assert_snapshot!(all, @"
    All seats: openai/x|anthropic/y (anthropic/y spoke)
    Debater A is debater-2, Debater B is debater-1, Debater C is debater-3.
    ");
    let named = shown([CHAIN; 3], [&["anthropic/y"], &["openai/x"], &[]]);
    assert_snapshot!(named, @"
    Debater A: debater-2, openai/x|anthropic/y (openai/x spoke)
    Debater B: debater-1, openai/x|anthropic/y (anthropic/y spoke)
    Debater C: debater-3, openai/x|anthropic/y
    ");
}
