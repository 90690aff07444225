//! Many debates: one JSON object a line in, one outcome a line out.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Home, TABS, wrong_key};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_gives_one_outcome_with_its_index_and_input_id() {
    let home = Home::new();
    let input: String =
        (0..20).map(|n| format!("{{\"id\": \"line-{n}\", \"question\": \"Question {n}?\"}}\n")).collect();
    home.write("in.jsonl", input);
    let args =
        ["batch", "in.jsonl", "--protocol", "deep", "--concurrency", "7", "--models", "script/tabs.yaml"];
    let said = home.agon(&[&args[..], &["--out", "out.jsonl"]].concat()).ok();
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""));
    let outcomes = lines(&home.read("out.jsonl"));
    assert_eq!(outcomes.len(), 20);
    for outcome in &outcomes {
        let index = outcome["index"].as_u64().unwrap();
        assert_eq!(outcome["input_id"], format!("line-{index}").as_str());
        assert_eq!(outcome["question"], format!("Question {index}?").as_str());
        assert_eq!(outcome["status"], "complete");
    }
    let ids: BTreeSet<&str> = outcomes.iter().map(|outcome| outcome["id"].as_str().unwrap()).collect();
    let listed = home.agon(&["list", "--json"]).ok().json();
    let stored: BTreeSet<&str> =
        listed.as_array().unwrap().iter().map(|debate| debate["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids), (20, stored));
}

#[test]
fn a_debate_that_cannot_complete_has_a_line_and_the_rest_goes_on() {
    let home = Home::new();
    let refusals = TABS
        .replace("answer: Tabs. Everybody sees the width they like.", "answer: { fail: refuse }")
        .replace("answer: Spaces. A file looks the same everywhere.", "answer: { fail: refuse }");
    home.write("lost.yaml", refusals);
    home.write("key.yaml", wrong_key());
    let input = "{\"question\": \"a?\"}\n{\"question\": \"b?\", \"models\": [\"script/lost.yaml\"]}\n\
                 {\"id\": 3, \"question\": \"c?\", \"models\": [\"script/key.yaml\"]}\n\
                 {\"question\": \"d?\", \"options\": {\"mode\": \"quick\"}, \"seed\": 9}\n";
    let said = home.agon_with(&["batch", "-", "--models", "script/tabs.yaml"], input.as_bytes());
    assert_eq!(said.status, Some(3), "{said:?}");
    let mut outcomes = lines(&said.out);
    outcomes.sort_by_key(|outcome| outcome["index"].as_u64());
    let statuses: Vec<&Value> = outcomes.iter().map(|outcome| &outcome["status"]).collect();
    assert_eq!(statuses, ["complete", "incomplete", "interrupted", "complete"]);
    assert_eq!((&outcomes[2]["protocol"], &outcomes[2]["question"]), (&"deep".into(), &"c?".into()));
    for key in ["termination", "verdict"] {
        assert_eq!(outcomes[2].get(key), Some(&Value::Null), "{key}");
    }
    let listed = home.agon(&["list", "--json"]).ok().json();
    for outcome in &outcomes {
        let debate = listed.as_array().unwrap().iter().find(|debate| debate["id"] == outcome["id"]).unwrap();
        assert_eq!(debate["status"], outcome["status"], "{outcome}");
    }
    assert!(outcomes[2]["error"].as_str().unwrap().contains("agon resume"), "{}", outcomes[2]);
    assert_eq!((&outcomes[2]["input_id"], &outcomes[0]["input_id"]), (&3.into(), &Value::Null));
    assert_eq!((&outcomes[3]["seed"], &outcomes[3]["usage"]["calls"]), (&9.into(), &4.into()));
}

#[test]
fn an_empty_file_of_out_is_filled_and_force_overwrites_a_full_one() {
    let home = Home::new();
    home.write("in.jsonl", "{\"question\": \"a?\"}\n");
    home.write("out.jsonl", "");
    let args = ["batch", "in.jsonl", "--models", "script/tabs.yaml", "--out", "out.jsonl"];
    home.agon(&args).ok();
    let first = home.read("out.jsonl");
    assert_eq!(lines(&first).len(), 1);
    let refused = home.agon(&args);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert_eq!(home.read("out.jsonl"), first);
    home.agon(&[&args[..], &["--force"]].concat()).ok();
    assert_eq!(lines(&home.read("out.jsonl")).len(), 1);
}

/// "`agon batch` killed and rerun ... goes on by line id, appends": a finished line is not held again, a debate that had begun is
/// continued, and a torn line is no outcome.
#[test]
#[cfg(unix)]
fn a_batch_that_was_killed_goes_on() {
    let home = Home::new();
    let (before, _) = TABS.split_once("    synthesis:\n").unwrap();
    home.write("slow.yaml", format!("{before}    synthesis: {{ fail: timeout }}\n"));
    let slow = "{\"id\": \"b\", \"question\": \"slow?\", \"models\": [\"script/slow.yaml\"]}\n";
    home.write(
        "in.jsonl",
        format!(
            "{{\"id\": \"a\", \"question\": \"fast?\"}}\n{slow}{{\"id\": \"c\", \"question\": \"last?\"}}\n"
        ),
    );
    let args = [
        "batch",
        "in.jsonl",
        "--models",
        "script/tabs.yaml",
        "--concurrency",
        "1",
        "--out",
        "out.jsonl",
        "--quiet",
    ];
    let mut child = home.command(&args).spawn().unwrap();
    // The first line is done and the second has begun.
    let begun = || std::fs::read_to_string(home.path("out.jsonl.progress")).unwrap_or_default();
    while begun().lines().count() < 2 || home.agon(&["list", "--json"]).json().as_array().unwrap().len() < 2 {
        assert_eq!(child.try_wait().unwrap(), None, "it is still running");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let first = home.read("out.jsonl");
    assert_eq!(lines(&first).len(), 1, "{first}");
    home.write("out.jsonl", format!("{first}{{\"torn"));
    home.write("slow.yaml", TABS);
    home.agon(&args).ok();
    let outcomes = lines(&home.read("out.jsonl"));
    let ids: Vec<&Value> = outcomes.iter().map(|outcome| &outcome["input_id"]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(home.read("out.jsonl").starts_with(&first), "what was written stays");
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 3, "none was begun twice");
    assert!(!home.path("out.jsonl.progress").exists());
    // Another input is another batch.
    home.write("out.jsonl.progress", "{\"index\":0,\"line\":\"0\",\"id\":\"x\"}\n");
    let other = home.agon(&args);
    assert!(other.status == Some(2) && other.err.contains("line 1 of the input"), "{other:?}");
}

/// "has a budget over the whole batch": never exceeded, also over several runs, and a higher one goes on where the last one ended.
#[test]
fn a_batch_keeps_to_its_budget_over_all_its_runs() {
    let home = Home::new();
    home.write(
        "in.jsonl",
        (0..4).map(|n| format!("{{\"question\": \"Question {n}?\"}}\n")).collect::<String>(),
    );
    let args =
        ["batch", "in.jsonl", "--models", "script/tabs.yaml", "--concurrency", "3", "--out", "out.jsonl"];
    let run = |limit: &str| home.agon(&[&args[..], &["--total-calls", limit]].concat());
    let calls_made = || -> u64 {
        let listed = home.agon(&["list", "--json"]).ok().json();
        let ids = listed.as_array().unwrap().iter().map(|debate| debate["id"].as_str().unwrap().to_owned());
        let sent = |id: String| {
            let log = home.agon(&["export", &id, "--format", "json"]).ok().json()["log"].clone();
            log.as_array()
                .unwrap()
                .iter()
                .filter(|event| event["body"].as_str().unwrap().contains("\"sent\""))
                .count()
        };
        ids.map(sent).sum::<usize>() as u64
    };
    let alone = home.debate()["usage"]["calls"].as_u64().unwrap();
    // Enough for two of four debates and a part of another.
    let first = run(&(2 * alone + 3).to_string());
    assert_eq!(first.status, Some(3), "{first:?}");
    assert!(
        first.err.contains("the budget of the batch is used up") && first.err.contains("goes on"),
        "{first:?}"
    );
    assert_eq!(calls_made() - alone, 2 * alone + 3, "all of it is used, and no more");
    let again = run(&(2 * alone + 3).to_string());
    assert_eq!((again.status, calls_made() - alone), (Some(3), 2 * alone + 3), "{again:?}");
    run(&(4 * alone).to_string()).ok();
    assert_eq!(calls_made() - alone, 4 * alone, "nothing was asked twice");
    let outcomes = lines(&home.read("out.jsonl"));
    let done: BTreeSet<u64> = outcomes
        .iter()
        .filter(|outcome| outcome["status"] == "complete")
        .map(|outcome| outcome["index"].as_u64().unwrap())
        .collect();
    assert_eq!(done.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    // Without a file there is nothing to count on, and the debates are named.
    let said = home.agon(&["batch", "in.jsonl", "--models", "script/tabs.yaml", "--total-calls", "1"]);
    assert!(said.status == Some(3) && said.err.contains("agon resume "), "{said:?}");
    let args = ["batch", "in.jsonl", "--models", "openai/unknown-model", "--total-usd", "1"];
    let unpriced = home.agon_in(&[("OPENAI_API_KEY", "sk-0123456789")], &args);
    assert!(unpriced.status == Some(2) && unpriced.err.contains("needs the price"), "{unpriced:?}");
}

/// A repository may bring links under the names of outputs, and under names that the user never types.
#[test]
#[cfg(unix)]
fn a_batch_writes_through_no_link() {
    let home = Home::new();
    home.write("in.jsonl", "{\"question\": \"a?\"}\n");
    for link in ["out.jsonl", "out.jsonl.progress"] {
        let target = home.path("elsewhere");
        std::os::unix::fs::symlink(&target, home.path(link)).unwrap();
        let said = home.agon(&["batch", "in.jsonl", "--models", "script/tabs.yaml", "--out", "out.jsonl"]);
        assert!(said.status == Some(2) && said.err.contains("it is a link"), "{link}: {said:?}");
        assert!(!target.exists(), "{link}");
        std::fs::remove_file(home.path(link)).unwrap();
        drop(std::fs::remove_file(home.path("out.jsonl.progress")));
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_batch_in_order() {
    use std::io::{BufRead, BufReader};
    let home = Home::new();
    let (before, _) = TABS.split_once("    synthesis:\n").unwrap();
    home.write("slow.yaml", format!("{before}    synthesis: {{ fail: timeout }}\n"));
    let slow = "{\"question\": \"slow?\", \"models\": [\"script/slow.yaml\"]}\n";
    home.write("in.jsonl", format!("{{\"question\": \"fast?\"}}\n{slow}{slow}{slow}"));
    let args = ["batch", "in.jsonl", "--models", "script/tabs.yaml", "--concurrency", "3"];
    let mut child = home.command(&args).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&out.next().unwrap().unwrap()).unwrap();
    assert_eq!((&first["index"], &first["status"]), (&0.into(), &"complete".into()));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let rest: Vec<Value> = out.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let said = crate::support::said(child);
    assert_eq!(said.status, Some(130), "{said:?}");
    assert!(!rest.is_empty() && rest.iter().all(|line| line["status"] == "interrupted"), "{rest:?}");
    for line in rest {
        assert!(said.err.contains(&format!("agon resume {}", line["id"].as_str().unwrap())), "{said:?}");
    }
}
