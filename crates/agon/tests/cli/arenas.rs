//! `agon arena` from outside: the whole of it, what a second one is told of the first, ratings, and how a debate turned out.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Home, Said, refused};

const TASK: &str = "How should a team of six be on call?";
const DEMO: &str = include_str!("../../../providers/scripts/demo-arena.yaml");
const AGENTS: &str = r#"
[agents.anna]
model = "script/arena.yaml"
charter = "You have been woken too often."
[agents.ben]
model = "script/arena.yaml"
[agents.cleo]
model = "script/arena.yaml"
"#;

/// A home in which three agents of the configuration follow this script.
fn home(script: &str) -> Home {
    let home = Home::new();
    let script =
        script.replace("delay_ms: 400\nstream: 120\n", "").lines().fold(String::new(), |text, line| {
            if line.trim_start().starts_with("delay_ms:") { text } else { text + line + "\n" }
        });
    home.write("arena.yaml", script);
    home.write("agents.toml", AGENTS);
    home
}

fn arena(home: &Home, args: &[&str]) -> Said {
    let common = ["arena", TASK, "--config", "agents.toml", "--judge", "script/arena.yaml", "--seed", "7"];
    home.agon(&[&common[..], &["--models", "agent/anna,agent/ben,agent/cleo"], args].concat())
}

/// "Rounds 0 to 8": three proposals, six critiques, three revisions with a check each, refinement, vote and judge: 25 calls.
/// What is looked up on this machine is no call.
#[test]
fn a_whole_arena_is_twenty_five_calls() {
    let outcome = arena(&home(DEMO), &["--json"]).ok().json();
    let verdict = &outcome["verdict"];
    assert_eq!(outcome["usage"]["calls"], 25, "{outcome:#}");
    assert_eq!((&outcome["termination"], &outcome["status"]), (&json!("consensus"), &json!("complete")));
    assert_eq!(outcome["rounds_completed"], 8);
    assert_eq!(verdict["winner_seat"], "agent-1");
    assert_eq!(outcome["labels"][verdict["winner"].as_str().unwrap()], "agent-1");
    assert_eq!(verdict["consensus"]["reached"], true);
    assert!((verdict["consensus"]["share"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9);
    let rounds: Vec<u64> = verdict["convergence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["round"].as_u64().unwrap())
        .collect();
    assert_eq!(rounds, [3, 4, 5, 6]);
    assert_eq!(
        (&verdict["extended_rounds"], &verdict["trickster"], &verdict["rhetoric"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
    assert_eq!(outcome["seats"].as_array().unwrap().len(), 4, "three agents and a judge");
}

/// "`agon ratings` as a table with a sparkline per agent, `--plot FILE.svg`, `--json`"; "rebuilding them from the logs gives the
/// same numbers"; zero-sum.
#[test]
fn ratings_after_two_arenas() {
    let home = home(DEMO);
    assert_eq!(home.agon(&["ratings", "--json"]).ok().json(), json!([]));
    let first = arena(&home, &["--json"]).ok().json();
    let change = |agent: &str| {
        let ratings = first["verdict"]["ratings"].as_array().unwrap();
        ratings.iter().find(|rated| rated["agent"] == agent).unwrap()["change"].as_f64().unwrap()
    };
    assert_eq!([change("anna"), change("ben"), change("cleo")], [16.0, -16.0, 0.0]);
    arena(&home, &["--quiet"]).ok();
    let before = home.agon(&["ratings", "--json"]).ok();
    let ratings = before.json();
    let agents: Vec<&str> =
        ratings.as_array().unwrap().iter().map(|row| row["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["anna", "cleo", "ben"]);
    let sum: f64 = ratings.as_array().unwrap().iter().map(|row| row["rating"].as_f64().unwrap()).sum();
    assert!((sum - 4500.0).abs() < 1e-9, "{sum}");
    for row in ratings.as_array().unwrap() {
        assert_eq!((&row["games"], &row["brier"]), (&json!(2), &Value::Null));
        assert!(row["deviation"].as_f64().unwrap() < 350.0, "two games make it surer: {row}");
    }
    let rebuilt = home.agon(&["ratings", "--rebuild", "--json", "--plot", "ratings.svg"]).ok();
    assert_eq!(rebuilt.out, before.out, "the same numbers to the last digit");
    assert!(rebuilt.err.contains("nothing was different"), "{rebuilt:?}");
    assert_eq!(home.read("ratings.svg").matches("<polyline").count(), 3);
    assert_snapshot!(home.agon(&["ratings"]).ok().out, @"
    agent  rating  ±    games  Brier  with the winner  course
    anna   1531    218  2      -      100%             ▁█
    cleo   1500    208  2      -      100%             ▅▅
    ben    1469    218  2      -      0%               █▁
    ");
}

/// "Calibration by resolved outcomes"; "`agon resolve ID`".
#[test]
fn a_debate_that_turned_out_scores_its_voters() {
    let home = home(DEMO);
    let outcome = arena(&home, &["--json"]).ok().json();
    let id = outcome["id"].as_str().unwrap();
    let said = home.agon(&["resolve", id, "--winner", "agent-2", "--note", "The offers were taken."]).ok();
    assert!(said.out.ends_with("what was decided turned out wrong\n"), "{said:?}");
    let brier = |agent: &str| {
        let ratings = home.agon(&["ratings", "--json"]).ok().json();
        let rows = ratings.as_array().unwrap().clone();
        rows.into_iter().find(|row| row["agent"] == agent).unwrap()["brier"].as_f64().unwrap()
    };
    // Confidence 0.7 and 0.6 in what was wrong, 0.55 in what was right.
    let near = |found: f64, want: f64| assert!((found - want).abs() < 1e-12, "{found} is not {want}");
    near(brier("anna"), 0.49);
    near(brier("cleo"), 0.36);
    near(brier("ben"), 0.2025);
    let entry = &home.agon(&["knowledge", "list", "--json"]).ok().json()[0];
    assert_eq!((&entry["debate"], &entry["turned_out"]), (&json!(id), &json!("wrong")));
    // Somebody knew better later: the last word counts.
    home.agon(&["resolve", "last", "--truth", "right"]).ok();
    near(brier("anna"), 0.09);
    // What was said already is said once, and a label goes by the name that the report gives it.
    for name in ["Agent B", "b"] {
        let said = home.agon(&["resolve", id, "--winner", name, "--json"]).ok().json();
        assert_eq!(said["value"], "B", "{said:#}");
    }
    let rebuilt = home.agon(&["ratings", "--rebuild"]).ok();
    assert!(rebuilt.err.contains("nothing was different"), "{rebuilt:?}");

    refused(&home, &["no proposal \"Z\"", "A, B, C"], || home.agon(&["resolve", id, "--winner", "Z"]));
    refused(&home, &["--winner"], || home.agon(&["resolve", id]));
    // What other protocols decide can turn out as well.
    home.debate();
    home.agon(&["resolve", "last", "--truth", "right"]).ok();
}
}
