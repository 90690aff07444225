//! Debates that are kept: export, verify, replay, branch, save.

use agon_core::{Brief, Debate};
use agon_engine::Store as _;
use agon_store::DebateStore;
use serde_json::{Value, json};

use crate::support::Home;

#[test]
fn replay_prints_the_first_runs_report_byte_for_byte() {
    let home = Home::new();
    let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml"];
    let first = home.agon(&[&args[..], &["--quiet"]].concat()).ok();
    // Without the script no model could answer: a replay makes no call.
    std::fs::remove_file(home.path("tabs.yaml")).unwrap();
    let replayed = home.agon(&["replay", "last"]).ok();
    assert_eq!(replayed.out, first.out);
    assert!(replayed.err.starts_with("replayed: every step"), "{replayed:?}");
    let json = home.agon(&["replay", "last", "--json"]).ok();
    assert_eq!(json, home.agon(&["show", "last", "--json"]));
}

#[test]
fn a_log_of_another_wording_is_not_replayed_but_still_read() {
    let home = Home::new();
    home.debate();
    let exported = home.agon(&["export", "last", "--format", "json"]).ok().json();
    let opened: Value = serde_json::from_str(exported["log"][0]["body"].as_str().unwrap()).unwrap();
    let mut brief: Brief = serde_json::from_value(opened["brief"].clone()).unwrap();
    brief.id = "1other".into();
    brief.written_by = "0.0.9".into();
    brief.templates.values_mut().for_each(|hash| *hash = "0".repeat(64));
    let (_, record) = Debate::open(brief).unwrap();
    let store = DebateStore::open(&home.path("home/agon.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.append("1other", vec![record])).unwrap();
    store.close();

    let said = home.agon(&["replay", "1other"]);
    assert_eq!((said.status, said.out.as_str()), (Some(3), ""), "{said:?}");
    let help = format!("opened by agon 0.0.9, and this is agon {}", env!("CARGO_PKG_VERSION"));
    assert!(said.err.contains(&help) && said.err.contains("agon show 1other"), "{said:?}");
    assert!(home.agon(&["show", "1other"]).ok().out.contains("Tabs or spaces?"));
    home.agon(&["verify", "1other"]).not_proven();
}

#[test]
fn every_format_of_export_holds_the_answer() {
    let home = Home::new();
    home.debate();
    for format in ["md", "html", "json", "yaml"] {
        let file = format!("debate.{format}");
        home.agon(&["export", "last", "-o", &file]).ok();
        let text = home.read(&file);
        assert!(text.contains("Let a formatter decide, and take its default."), "{format}: {text}");
        assert_eq!(home.agon(&["export", "last", "--format", format]).ok().out, text);
    }
    let html = home.read("debate.html");
    assert!(html.to_lowercase().starts_with("<!doctype html>"), "{html}");
}

#[test]
fn verify_says_exactly_which_event_was_changed() {
    let home = Home::new();
    home.debate();
    home.agon(&["export", "last", "-o", "debate.json"]).ok();
    let exported: Value = serde_json::from_str(&home.read("debate.json")).unwrap();
    let events = exported["log"].as_array().unwrap().len();
    let intact = home.agon(&["verify", "debate.json", "--json"]).not_proven().json();
    assert_eq!((&intact["intact"], &intact["events"]), (&true.into(), &events.into()));

    for at in [0, 3, events - 1] {
        let mut changed = exported.clone();
        let body = changed["log"][at]["body"].as_str().unwrap().replacen("at_ms\":", "at_ms\":1", 1);
        changed["log"][at]["body"] = json!(body);
        home.write("changed.json", changed.to_string());
        let said = home.agon(&["verify", "changed.json"]);
        assert_eq!(said.status, Some(1), "{said:?}");
        assert!(said.out.contains(&format!("event {at} was changed")), "{said:?}");
        let json = home.agon(&["verify", "changed.json", "--json"]).json();
        assert_eq!((&json["intact"], &json["event"]), (&false.into(), &at.into()));
    }
}

#[test]
fn verify_sees_a_log_that_was_cut_and_an_outcome_that_was_changed() {
    let home = Home::new();
    home.debate();
    let exported = home.agon(&["export", "last", "--format", "json"]).ok().json();
    let mut cut = exported.clone();
    cut["log"].as_array_mut().unwrap().pop();
    let mut gap = exported.clone();
    gap["log"].as_array_mut().unwrap().remove(4);
    let mut changed = exported.clone();
    changed["outcome"]["verdict"]["answer"] = json!("Tabs.");
    for (name, document, want) in
        [("cut.json", cut, "outcome"), ("gap.json", gap, "event 4"), ("changed.json", changed, "verdict")]
    {
        home.write(name, document.to_string());
        let said = home.agon(&["verify", name]);
        assert_eq!(said.status, Some(1), "{said:?}");
        assert!(said.out.contains(want), "wanted {want:?} in {said:?}");
    }
}

#[test]
fn a_branch_takes_the_first_rounds_over_and_goes_on_in_its_own_way() {
    let home = Home::new();
    let parent = home.debate();
    let id = parent["id"].as_str().unwrap();
    let branch = home.agon(&["branch", id, "--at", "1", "--say", "What of Makefiles?", "--json"]).ok().json();
    assert_ne!(branch["id"], parent["id"]);
    assert_eq!(branch["labels"], parent["labels"], "who is A stays A");
    // Three answers, three arguments and an assessment are the parent's: five calls are its own.
    assert_eq!((&parent["usage"]["calls"], &branch["usage"]["calls"]), (&12.into(), &5.into()));
    let log = home.agon(&["export", branch["id"].as_str().unwrap(), "--format", "json"]).ok().out;
    assert!(
        log.contains("What of Makefiles?")
            && log.contains(&format!("\\\"id\\\":\\\"{id}\\\",\\\"at_round\\\":1"))
    );
    home.agon(&["replay", branch["id"].as_str().unwrap()]).ok();
    home.agon(&["verify", branch["id"].as_str().unwrap()]).ok();
    let listed = home.agon(&["list", "--json"]).json();
    assert_eq!(listed[0]["parent"], parent["id"]);
}

#[test]
fn a_branch_may_have_other_models_and_options() {
    let home = Home::new();
    home.write("other.yaml", crate::support::TABS.replace("take its default", "configure it"));
    let id = home.debate()["id"].as_str().unwrap().to_owned();
    let branch =
        ["branch", &id, "--at", "0", "--chair", "script/other.yaml", "--set", "max_rounds=2", "--json"];
    let branch = home.agon(&branch).ok().json();
    assert_eq!(branch["verdict"]["answer"], "Let a formatter decide, and configure it.");
    let seats = branch["seats"].as_array().unwrap();
    let others: Vec<&Value> = seats.iter().filter(|seat| seat["model"] == "script/other.yaml").collect();
    assert!(others.len() == 1 && others[0]["role"] == "chair", "{seats:?}");
    let said =
        home.agon(&["branch", &id, "--at", "1", "--models", "script/other.yaml", "--json"]).ok().json();
    assert!(said["seats"].as_array().unwrap().iter().all(|seat| seat["model"] == "script/other.yaml"));
}

#[test]
fn save_writes_report_outcome_and_log_and_overwrites_nothing() {
    let home = Home::new();
    let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--json", "--save"];
    let outcome = home.agon(&args).ok().json();
    let folder = format!("agon-debates/{}", outcome["id"].as_str().unwrap());
    let saved: Value = serde_json::from_str(&home.read(&format!("{folder}/outcome.json"))).unwrap();
    assert_eq!(saved, outcome);
    assert!(
        home.read(&format!("{folder}/report.md")).contains("Let a formatter decide, and take its default.")
    );
    let log = home.read(&format!("{folder}/log.ndjson"));
    assert_eq!(log.lines().count() as u64, outcome["receipt"]["events"].as_u64().unwrap());
    let again = home.agon(&["resume", "last", "--save"]);
    assert_eq!(again.status, Some(2), "{again:?}");
    assert!(again.err.contains("nothing is overwritten"), "{again:?}");
    home.agon(&["resume", "last", "--save", "elsewhere"]).ok();
    assert_eq!(home.read(&format!("elsewhere/{}/log.ndjson", outcome["id"].as_str().unwrap())), log);
}

#[test]
fn an_id_may_be_a_unique_beginning() {
    let home = Home::new();
    let id = home.debate()["id"].as_str().unwrap().to_owned();
    assert_eq!(home.agon(&["show", "last", "--json"]).ok().json()["id"], id.as_str());
    assert_eq!(home.agon(&["show", &id[..11], "--json"]).ok().json()["id"], id.as_str());
    home.debate();
    let said = home.agon(&["show", &id[..2]]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("more than one"), "{said:?}");
}
