//! What a person at a terminal sees while something takes time, and what nobody sees elsewhere.
#![cfg(unix)]

use serde_json::json;

use crate::support::{Home, TABS, in_terminal};

/// The script of the other tests, in which every reply takes a while.
fn slow_home() -> Home {
    let home = Home::new();
    home.write("slow.yaml", format!("delay_ms: 400\n{TABS}"));
    home.write("two.jsonl", "{\"question\": \"Tabs?\"}\n{\"question\": \"Spaces?\"}\n");
    home
}

#[test]
fn a_batch_shows_its_count_before_the_first_debate_ends() {
    let home = slow_home();
    let line = "batch two.jsonl --models script/slow.yaml --out out.jsonl";
    let (screen, status) = in_terminal(&home, &[], line, &[]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(screen.starts_with("debates  [") && screen.contains("]  0 of 2, "), "{screen:?}");
    assert_eq!(home.read("out.jsonl").lines().count(), 2);
    let (screen, _) = in_terminal(&home, &[], &format!("{line} --force --quiet"), &[]);
    assert_eq!(screen, "");
}

#[test]
fn outcomes_on_the_same_terminal_are_whole_lines() {
    let home = slow_home();
    let line = "batch two.jsonl --models script/slow.yaml --concurrency 1";
    let (screen, status) = in_terminal(&home, &[], line, &[]);
    assert_eq!(status, Some(0), "{screen}");
    // Each line stands alone behind what clears the drawing.
    let outcomes: Vec<serde_json::Value> =
        screen.lines().filter_map(|line| serde_json::from_str(&line[line.find("{\"")?..]).ok()).collect();
    assert_eq!(
        outcomes.iter().map(|outcome| &outcome["status"]).collect::<Vec<_>>(),
        [&json!("complete"); 2],
        "{screen:?}"
    );
}

#[test]
fn nothing_is_drawn_without_a_terminal() {
    let home = slow_home();
    let said = home.agon(&["batch", "two.jsonl", "--models", "script/slow.yaml"]).ok();
    assert_eq!((said.err.as_str(), said.out.lines().count()), ("", 2));
    assert_eq!(home.agon(&["simulate", "--trials", "20"]).ok().err, "");
}
