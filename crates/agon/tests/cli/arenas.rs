//! `agon arena` from outside: the whole of it, what a second one is told of the first, ratings, and how a debate turned out.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Home, Said, demo_of, refused};

const TASK: &str = "How should a team of six be on call?";
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

/// An arena of which later ones know, although a script speaks in it.
fn remembered(home: &Home, args: &[&str]) -> Said {
    arena(home, &[&["--remember"], args].concat())
}

/// "scripts and untrusted folders write neither by default"; "provenance (folder, trust of configuration, kind of model) is stored
/// and shown".
#[test]
fn a_script_leaves_nothing_unless_the_user_asks_for_it() {
    let home = home(demo_of("arena"));
    let outcome = arena(&home, &["--json"]).ok().json();
    assert_eq!(outcome["verdict"]["ratings"], json!([]));
    assert!(outcome["warnings"].to_string().contains("because a script spoke in it"), "{outcome:#}");
    assert_eq!(home.agon(&["ratings", "--json"]).ok().json(), json!([]));
    assert_eq!(home.agon(&["knowledge", "list", "--json"]).ok().json(), json!([]));
    let next = remembered(&home, &["--json"]).ok().json();
    assert_eq!(next["verdict"]["context"], json!([]), "no memory either");

    let folder = std::fs::canonicalize(home.path("")).unwrap();
    let provenance =
        json!({"folder": folder, "found_configuration": false, "models": ["script"], "remember": true});
    let entry = home.agon(&["knowledge", "list", "--json"]).ok().json()[0].clone();
    assert_eq!((&entry["debate"], &entry["provenance"]), (&next["id"], &provenance));
    let rated = home.agon(&["ratings", "--json"]).ok().json();
    assert_eq!((rated.as_array().unwrap().len(), &rated[0]["provenance"]), (3, &json!([provenance])));
    for verb in [
        &["knowledge", "show", entry["id"].as_str().unwrap()][..],
        &["knowledge", "list"],
        &["knowledge", "search", "call"],
        &["ratings"],
    ] {
        let said = home.agon(verb).ok();
        // In a table the two are under each other.
        let has = |words: &str| said.out.contains(words);
        assert!(has(&folder.display().to_string()) && has("script models"), "{verb:?}: {said:?}");
    }
    remembered(&home, &[]).ok();
    let third = home.agon(&["export", "last", "--format", "md"]).ok().out;
    assert!(third.contains("held in ") && third.contains("script models"), "{third}");
    let rebuilt = home.agon(&["ratings", "--rebuild"]).ok();
    assert!(rebuilt.err.contains("nothing was different"), "{rebuilt:?}");
}

/// Three proposals, six critiques, revisions with one call of the clerk each, refinement, vote and judge. What is looked up on this
/// machine is no call.
#[test]
fn a_whole_arena() {
    let outcome = arena(&home(demo_of("arena")), &["--json"]).ok().json();
    let verdict = &outcome["verdict"];
    assert_eq!(outcome["usage"]["calls"], 3 + 6 + 2 * (3 + 1) + 3 + 3 + 1, "{outcome:#}");
    assert_eq!((&outcome["termination"], &outcome["status"]), (&json!("consensus"), &json!("complete")));
    assert_eq!(outcome["rounds_completed"], 7);
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
    // Nothing changed in round 4, so there is no round 5.
    assert_eq!(rounds, [3, 4]);
    assert_eq!(
        (&verdict["extended_rounds"], &verdict["trickster"], &verdict["rhetoric"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
    assert_eq!(outcome["seats"].as_array().unwrap().len(), 5, "three agents, a judge and a clerk");
}

/// "`agon ratings` as a table with a sparkline per agent, `--plot FILE.svg`, `--json`"; "rebuilding them from the logs gives the
/// same numbers"; zero-sum.
#[test]
fn ratings_after_two_arenas() {
    let home = home(demo_of("arena"));
    assert_eq!(home.agon(&["ratings", "--json"]).ok().json(), json!([]));
    let first = remembered(&home, &["--json"]).ok().json();
    let change = |agent: &str| {
        let ratings = first["verdict"]["ratings"].as_array().unwrap();
        ratings.iter().find(|rated| rated["agent"] == agent).unwrap()["change"].as_f64().unwrap()
    };
    assert_eq!([change("anna"), change("ben"), change("cleo")], [16.0, -16.0, 0.0]);
    remembered(&home, &["--quiet"]).ok();
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
    let folder = std::fs::canonicalize(home.path("")).unwrap();
    assert_snapshot!(home.agon(&["ratings"]).ok().out.replace(&*folder.to_string_lossy(), "(folder)"), @"
    agent  rating  ±    games  Brier  with the winner  course
    anna   1531    218  2      -      100%             ▁█
    cleo   1500    208  2      -      100%             ▅▅
    ben    1469    218  2      -      0%               █▁
    Held in (folder), script models: anna, cleo, ben
    ");
}

/// "Calibration by resolved outcomes"; "`agon resolve ID`".
#[test]
fn a_debate_that_turned_out_scores_its_voters() {
    let home = home(demo_of("arena"));
    let outcome = remembered(&home, &["--json"]).ok().json();
    let id = outcome["id"].as_str().unwrap();
    let said = home.agon(&["resolve", id, "--winner", "agent-2", "--note", "The offers were taken."]).ok();
    assert!(said.out.ends_with("the decision turned out wrong\n"), "{said:?}");
    assert!(!said.err.contains("resolved before"), "{said:?}");
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
    // "`agon memory list|show|forget`": what each agent remembers of it.
    let memories = home.agon(&["memory", "list", "--agent", "anna", "--json"]).ok().json();
    let memory = &memories[0];
    assert_eq!((&memory["agent"], &memory["debate"]), (&json!("anna"), &json!(id)), "{memories:#}");
    let shown = home.agon(&["memory", "show", memory["id"].as_str().unwrap()]).ok();
    assert!(shown.out.contains("Proposal: "), "{shown:?}");
    let listed = home.agon(&["memory", "list"]).ok().out;
    assert!(
        listed.contains("anna") && !listed.contains("Question:"),
        "memories of one question differ: {listed}"
    );
    // Somebody knew better later: the last word counts.
    let later = home.agon(&["resolve", "last", "--truth", "right"]).ok();
    assert!(later.err.contains("this debate was resolved before"), "{later:?}");
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

/// "Two or more debates on related questions show in a test that the second one gets and cites the first one's outcome."
#[test]
fn a_second_arena_gets_and_cites_what_the_first_decided() {
    let home = home(demo_of("arena"));
    let first = remembered(&home, &["--json"]).ok().json();
    home.agon(&["resolve", "last", "--truth", "right"]).ok();
    // The agents of the second one cite the first item that they are shown.
    home.write(
        "arena.yaml",
        home.read("arena.yaml").replace("44 needed no action.", "44 needed no action, as [K1] found."),
    );
    let related = "Should the team of six also be on call at weekends?";
    let args = [
        "arena",
        related,
        "--config",
        "agents.toml",
        "--judge",
        "script/arena.yaml",
        "--seed",
        "8",
        "--json",
    ];
    let second =
        home.agon(&[&args[..], &["--models", "agent/anna,agent/ben,agent/cleo"]].concat()).ok().json();
    let known = &second["verdict"]["context"][0];
    assert_eq!(
        (&known["id"], &known["kind"], &known["debate"]),
        (&json!("K1"), &json!("knowledge"), &first["id"])
    );
    assert_eq!(known["turned_out"], "right");
    let answer = first["verdict"]["answer"].as_str().unwrap();
    assert!(known["text"].as_str().unwrap().contains(&answer[..60]), "{known:#}");
    let seat: Vec<&str> = known["cited_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| second["labels"][label.as_str().unwrap()].as_str().unwrap())
        .collect();
    assert_eq!(seat, ["agent-3"], "only it says [K1]");
    let kinds: Vec<&str> = second["verdict"]["context"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"memory"), "the agents remember the first one: {kinds:?}");
    let without = home.agon(
        &[&args[..], &["--models", "agent/anna,agent/ben,agent/cleo", "--no-knowledge", "--no-memory"]]
            .concat(),
    );
    assert_eq!(without.ok().json()["verdict"]["context"], json!([]));
}

/// "Knowledge Mound stores the decision, evidence, and receipts": the one that `agon verify` gives.
#[test]
fn what_was_decided_has_the_receipt_of_its_debate() {
    let home = home(demo_of("arena"));
    let outcome = remembered(&home, &["--json"]).ok().json();
    let id = outcome["id"].as_str().unwrap();
    let checked = home.agon(&["verify", id, "--json"]).ok().json();
    let entry = home.agon(&["knowledge", "list", "--json"]).ok().json()[0].clone();
    assert_eq!(entry["receipt"], json!({"head": checked["head"], "events": checked["events"]}));
    let shown = home.agon(&["knowledge", "show", entry["id"].as_str().unwrap()]).ok().out;
    let (events, head) = (&checked["events"], checked["head"].as_str().unwrap());
    let line = format!("receipt: {events} events, head {head}; `agon verify {id}` checks it");
    assert_eq!(shown.lines().nth(2), Some(line.as_str()), "{shown}");
}

/// What people add is told like what debates decided, and what is forgotten is not.
#[test]
fn what_a_person_adds_is_told_and_what_is_forgotten_is_not() {
    let home = home(demo_of("arena"));
    let added = home
        .agon(&["knowledge", "add", "Team six was on call", "in May: 61 alerts a month.", "--json"])
        .ok()
        .json();
    let id = added["ids"][0].as_str().unwrap().to_owned();
    let texts = |home: &Home| -> Vec<String> {
        let outcome = arena(home, &["--json", "--no-memory"]).ok().json();
        let items = outcome["verdict"]["context"].as_array().unwrap().clone();
        items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    };
    assert!(texts(&home).iter().any(|text| text.contains("61 alerts a month")));
    home.agon(&["knowledge", "forget", &id]).ok();
    assert!(!texts(&home).iter().any(|text| text.contains("61 alerts a month")));
}

/// "`--team N` picks from the configured agents by rating".
#[test]
fn a_team_is_picked_by_rating() {
    let home = home(demo_of("arena"));
    remembered(&home, &["--quiet"]).ok();
    // The script's judge knows three proposals and fails with two; the team is picked all the same.
    let said = arena(&home, &["--team", "2", "--set", "explore=0", "--json"]).json();
    let team: Vec<&str> = said["verdict"]["team"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pick| pick["agent"].as_str().unwrap())
        .collect();
    assert_eq!(team, ["anna", "cleo"], "{:#}", said["verdict"]["team"]);
}

#[test]
fn what_cannot_be_held_is_refused_before_any_call() {
    let home = home(demo_of("arena"));
    for (args, wants) in [
        (&["--set", "pulse=news"][..], &["no pulse source \"news\"", "[pulse.news]"][..]),
        (&["--embeddings", "embeddings/bert"], &["embeddings/bert"]),
        (&["--consensus", "most"], &["most"]),
        (&["--team", "1"], &["team"]),
        (&["--judge-orders", "3"], &["judge_orders"]),
        (&["--models", "agent/dora"], &["there is no agent/dora", "[agents.dora]"]),
        (&["--to", "nowhere"], &["no destination \"nowhere\""]),
    ] {
        refused(&home, wants, || {
            let models: &[&str] = if args.contains(&"--models") {
                &[]
            } else {
                &["--models", "agent/anna,agent/ben,agent/cleo"]
            };
            home.agon(&[&["arena", TASK, "--config", "agents.toml"], models, args].concat())
        });
    }
}
