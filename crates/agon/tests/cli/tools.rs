//! `--tools`: what seats have looked up, from the command line.

use serde_json::Value;

use crate::support::{Home, TABS, refused};

const DEEP: [&str; 9] = [
    "deep",
    "Tabs or spaces?",
    "--models",
    "script/asking.yaml",
    "--seed",
    "7",
    "--tools",
    "files",
    "--json",
];

/// A debater asks for the house's style in round 1, and changes its mind because of it in round 2.
fn home() -> Home {
    let home = Home::new();
    let asks = "key_points: [Review tools show tabs too wide]\n        requests:\n          - { tool: files, arguments: { path: style.md }, why: what the house does }\n          - { tool: files, arguments: { path: ../outside.md } }\n";
    let script = TABS.replace("key_points: [Review tools show tabs too wide]\n", asks).replace(
        "{ id: debater-3, quote: Let a formatter decide }",
        "{ id: E1, quote: The formatter decides }",
    );
    assert_eq!(script.matches("requests:").count() + script.matches("id: E1").count(), 2);
    home.write("asking.yaml", script);
    home.write("style.md", "# Style\nThe formatter decides.\n");
    home
}

fn phases(exported: &Value) -> Vec<String> {
    let event = |record: &Value| match record["body"].as_str() {
        Some(body) => serde_json::from_str(body).unwrap(),
        None => record.clone(),
    };
    let events = exported["log"].as_array().unwrap().iter().map(event);
    let asked = events.filter(|event: &Value| event["event"] == "asked");
    asked.map(|event| event["phase"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_a_seat_asks_for_is_looked_up_shared_cited_and_never_looked_up_twice() {
    let home = home();
    let outcome = home.agon(&DEEP).ok().json();
    let flips = outcome["evidence"]["flips"].as_array().unwrap();
    let flip = flips.iter().find(|flip| flip["seat"] == "debater-2").unwrap();
    assert_eq!(
        (&flip["evidenced"], &flip["by_source"], &flip["by_argument"]),
        (&true.into(), &true.into(), &false.into())
    );
    assert_eq!(flip["cited"][0], "[E1]: \"The formatter decides\"");
    let calls = home
        .agon(&["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7", "--json"])
        .json();
    assert_eq!(outcome["usage"]["calls"], calls["usage"]["calls"], "an errand is no call");
    let items = outcome["items"].as_array().unwrap();
    assert_eq!(
        (&items[0]["id"], &items[0]["status"], &items[1]["status"]),
        (&"E1".into(), &"found".into(), &"refused".into())
    );
    assert_eq!(
        (&items[0]["asked_by"][0]["seat"], &items[0]["changed"][0]["seat"]),
        (&"debater-2".into(), &"debater-2".into())
    );
    assert_eq!(items[0]["cited_by"][0]["verified"], true);
    let id = outcome["id"].as_str().unwrap();

    let report = home.agon(&["export", id, "--format", "md"]).ok().out;
    for words in [
        "What was looked up",
        "style.md, lines 1 to 2 of 2",
        "what the house does",
        "is outside the folder",
        "**Named**: [E1]",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    // From here on nothing is left to look up.
    std::fs::remove_file(home.path("style.md")).unwrap();
    home.agon(&["replay", id]).ok();
    let branch = home.agon(&["branch", id, "--at", "1", "--json"]).ok().json();
    assert_eq!(branch["evidence"]["flips"], outcome["evidence"]["flips"]);
    let exported = home.agon(&["export", id, "--format", "json"]).ok().json();
    assert_eq!(phases(&exported).iter().filter(|phase| *phase == "tools").count(), 1);
}

/// A branch or a resumed debate looks where the debate was opened, wherever it goes on.
#[test]
fn a_debate_that_goes_on_in_another_folder_reads_the_one_it_was_opened_in() {
    let home = home();
    let script = format!("script/{}", home.path("asking.yaml").display());
    let args = ["deep", "Tabs or spaces?", "--models", &script, "--seed", "7", "--tools", "files", "--json"];
    home.agon(&args).ok();
    home.write("elsewhere/style.md", "another style\n");
    let mut branch = home.command(&["branch", "last", "--at", "0", "--seed", "7", "--json"]);
    let outcome =
        crate::support::said(branch.current_dir(home.path("elsewhere")).spawn().unwrap()).ok().json();
    let item = &outcome["items"][0];
    assert_eq!((&item["status"], &item["source"]), (&"found".into(), &"style.md, lines 1 to 2 of 2".into()));
}

#[test]
fn the_debates_of_a_batch_have_tools_too() {
    let home = home();
    let batch =
        ["batch", "-", "--models", "script/asking.yaml", "--tools", "files", "--tool-calls", "1", "--quiet"];
    let said = home.agon_with(&batch, b"{\"question\": \"Tabs or spaces?\", \"seed\": 7}\n").ok();
    let outcome: Value = serde_json::from_str(said.out.lines().next().unwrap()).unwrap();
    let items = outcome["items"].as_array().unwrap();
    assert_eq!((&items[0]["status"], &items[1]["status"]), (&"found".into(), &"refused".into()));
    assert!(items[1]["detail"].as_str().unwrap().contains("limit of 1 requests"), "{}", items[1]);
}

#[test]
fn limits_leave_out_whole_items_and_the_report_says_so() {
    let home = home();
    let args = [&DEEP[..8], &["--tool-tokens", "3", "--quiet"]].concat();
    home.agon(&args).ok();
    let report = home.agon(&["export", "last", "--format", "md"]).ok().out;
    assert!(report.contains("Left out: it has about"), "{report}");
    let args = [&DEEP[..8], &["--tool-calls", "0", "--json"]].concat();
    home.agon(&args).ok();
    let report = home.agon(&["export", "last", "--format", "md"]).ok().out;
    assert!(report.contains("limit of 0 requests is used up"), "{report}");
}

#[test]
fn only_the_command_line_names_tools_and_only_the_users_configuration_describes_them() {
    let home = home();
    home.write("agon.toml", "[tools.notes]\ncommand = [\"touch\", \"ran\"]\n[tools.files]\nroot = \"/\"\n[tools.fetch]\nallow = [\"127.0.0.1\"]\n");
    for tool in ["notes", "fetch"] {
        let args = ["deep", "Tabs or spaces?", "--models", "script/asking.yaml", "--tools", tool];
        let said = home.agon(&args);
        assert_eq!(said.status, Some(2), "{said:?}");
        assert!(said.err.contains("Not used: [tools]"), "{said:?}");
    }
    assert!(!home.path("ran").exists());
    let outcome = home.agon(&DEEP).ok().json();
    assert_eq!(
        outcome["evidence"]["flips"].as_array().unwrap().len(),
        1,
        "the root is the working directory"
    );
    refused(&home, &["--tools"], || {
        home.agon(&["deep", "Why?", "--models", "script/asking.yaml", "--tool-calls", "3", "--no-config"])
    });
    for protocol in agon_protocols::all().map(|protocol| protocol.info()) {
        let help = home.agon(&[protocol.name, "--help"]).ok().out;
        assert!(help.contains("--tools <NAME,..>"), "{}", protocol.name);
    }
}
