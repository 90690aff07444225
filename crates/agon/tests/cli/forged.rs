//! `agon verify` on files and stores that somebody changed: "verify checks the hash chain and says exactly where it
//! breaks".

use agon_core::LogRecord;
use agon_core::event::GENESIS;
use serde_json::{Value, json};

use crate::support::{Home, Said};

fn exported(home: &Home) -> Value {
    home.agon(&["export", "last", "--format", "json"]).ok().json()
}

/// Exit status 1 and a sentence with `want` in it.
fn broken(said: &Said, want: &str) {
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.out.contains("broken") && said.out.contains(want), "wanted {want:?} in {said:?}");
}

#[test]
fn no_field_of_an_exported_outcome_can_be_changed() {
    let home = Home::new();
    home.debate();
    let exported = exported(&home);
    let keys: Vec<String> = exported["outcome"].as_object().unwrap().keys().cloned().collect();
    assert!(
        ["rounds_completed", "labels", "seed", "evidence"].iter().all(|key| keys.contains(&key.to_string()))
    );
    let verify = |outcome: Value| {
        let mut forged = exported.clone();
        forged["outcome"] = outcome;
        home.write("forged.json", forged.to_string());
        home.agon(&["verify", "forged.json"])
    };
    verify(exported["outcome"].clone()).not_proven();
    for key in keys {
        let mut changed = exported["outcome"].clone();
        changed[&key] = json!("forged");
        broken(&verify(changed), &format!("`outcome.{key}`"));
        let mut without = exported["outcome"].clone();
        without.as_object_mut().unwrap().remove(&key);
        broken(&verify(without), &format!("`outcome.{key}`"));
    }
    let mut more = exported["outcome"].clone();
    more["evidence"]["endorsed"] = json!(true);
    broken(&verify(more), "`outcome.evidence.endorsed` is not what the log says");
    let mut none = exported.clone();
    none.as_object_mut().unwrap().remove("outcome");
    home.write("forged.json", none.to_string());
    broken(&home.agon(&["verify", "forged.json"]), "the outcome is missing");
}

/// The lines of a log whose last event, or whose first, has these words in place of others, with all hashes computed anew.
fn rehashed(exported: &Value, is_changed: impl Fn(usize) -> bool, from: &str, to: &str) -> String {
    let mut previous = GENESIS.to_owned();
    let mut lines = String::new();
    for (place, event) in exported["log"].as_array().unwrap().iter().enumerate() {
        let body = event["body"].as_str().unwrap();
        let body = if is_changed(place) { body.replace(from, to) } else { body.to_owned() };
        let record = LogRecord::seal(serde_json::from_str(&body).unwrap(), &previous).unwrap();
        let open = record.body.strip_suffix('}').unwrap();
        lines.push_str(&format!("{open},\"hash\":\"{}\"}}\n", record.hash));
        previous = record.hash;
    }
    lines
}

/// "Three answers with three exit statuses": a forger who computes the hashes anew is found by the replay, and what the replay cannot
/// show is not called proven.
#[test]
fn a_forged_log_without_a_signature_is_never_proven() {
    let home = Home::new();
    let outcome = home.debate();
    let exported = exported(&home);
    let last = exported["log"].as_array().unwrap().len() - 1;
    let check = |lines: String| {
        home.write("forged.ndjson", lines);
        home.agon(&["verify", "forged.ndjson"])
    };
    let same = check(rehashed(&exported, |_| false, "", "")).not_proven();
    assert!(same.out.contains("and replayed; without a signature, anybody can have written it"), "{same:?}");
    // The verdict says something else than the replies give.
    let answer = outcome["verdict"]["answer"].as_str().unwrap();
    broken(&check(rehashed(&exported, |place| place == last, answer, "Ship it.")), &format!("event {last}"));
    // A reply whose words are changed but not what was made of them; a reply of a model that nobody asked.
    let body = |place: usize| exported["log"][place]["body"].as_str().unwrap();
    let is_reply =
        |place: &usize| body(*place).contains("\"replied\"") && body(*place).contains("\"value\":{");
    let reply = (0..last).find(is_reply).unwrap();
    for (from, to, want) in [
        ("\\\"analysis\\\":\\\"", "\\\"analysis\\\":\\\"Bought. ", "is not what its text says"),
        ("script/tabs.yaml", "openai/gpt", "openai/gpt was not asked"),
    ] {
        let said = check(rehashed(&exported, |place| place == reply, from, to));
        broken(&said, want);
        broken(&said, &format!("event {reply}"));
    }
    // The hash of a template says that another version wrote it, so that nothing is replayed.
    let opened: Value = serde_json::from_str(exported["log"][0]["body"].as_str().unwrap()).unwrap();
    let template = opened["event"]["brief"]["templates"]["deep/debater.hbs"].as_str();
    let template = template.or(opened["brief"]["templates"]["deep/debater.hbs"].as_str()).unwrap();
    let other =
        check(rehashed(&exported, |place| place == 0, template, &"0".repeat(template.len()))).not_proven();
    assert!(other.out.contains("but not replayed (the template deep/debater.hbs"), "{other:?}");
}

#[test]
fn the_stores_row_must_say_what_the_log_says() {
    let home = Home::new();
    let id = home.debate()["id"].as_str().unwrap().to_owned();
    let events = home.agon(&["verify", &id, "--json"]).ok().json()["events"].as_i64().unwrap();
    let store = rusqlite::Connection::open(home.path("home/agon.db")).unwrap();
    for (change, back, want) in [
        ("question = 'Ship it?'", "question = 'Tabs or spaces?'", "another question"),
        ("protocol = 'chess'", "protocol = 'deep'", "another protocol"),
        ("status = 'failed'", "status = 'complete'", "as failed"),
        ("status = NULL", "status = 'complete'", "as interrupted"),
        ("parent = 'x'", "parent = NULL", "another parent"),
    ] {
        store.execute(&format!("UPDATE debates SET {change}"), []).unwrap();
        broken(&home.agon(&["verify", &id]), want);
        store.execute(&format!("UPDATE debates SET {back}"), []).unwrap();
    }
    home.agon(&["verify", &id]).ok();
    store.execute("DELETE FROM events WHERE seq = ?1", [events - 1]).unwrap();
    broken(
        &home.agon(&["verify", &id]),
        "the end of the log is missing: the store lists the debate as complete",
    );
}

#[test]
fn the_lines_of_save_and_events_carry_their_hashes() {
    let home = Home::new();
    let deep = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--events", "--save"];
    let lines = home.agon(&deep).ok().out;
    let head = exported(&home)["outcome"]["receipt"]["head"].clone();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(last["hash"], head);
    let folder = std::fs::read_dir(home.path("agon-debates")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(folder.join("log.ndjson")).unwrap(), lines);

    home.write("events.ndjson", &lines);
    let intact = home.agon(&["verify", "events.ndjson", "--json"]).not_proven().json();
    assert_eq!((&intact["intact"], &intact["over"], &intact["head"]), (&true.into(), &true.into(), &head));
    let cut: String = lines.lines().take(5).flat_map(|line| [line, "\n"]).collect();
    home.write("cut.ndjson", cut);
    let so_far = home.agon(&["verify", "cut.ndjson"]).not_proven().out;
    assert!(so_far.contains("intact so far (the debate is not over) and replayed"), "{so_far}");
    home.write("changed.ndjson", lines.replace("Everybody sees the width", "Nobody sees the width"));
    broken(&home.agon(&["verify", "changed.ndjson"]), "was changed");
    home.write("torn.ndjson", &lines[..lines.len() - 10]);
    broken(&home.agon(&["verify", "torn.ndjson"]), "does not end in its hash");
}

#[test]
fn any_other_file_gets_a_sentence_that_says_what_verify_reads() {
    let home = Home::new();
    home.write("empty.json", "");
    home.write("other.json", "{\"log\": [], \"more\": 1}");
    for file in ["tabs.yaml", "empty.json", "other.json"] {
        let said = home.agon(&["verify", file]);
        assert_eq!(said.status, Some(2), "{said:?}");
        assert!(said.err.contains(file) && said.err.contains("verify reads what"), "{said:?}");
    }
}
