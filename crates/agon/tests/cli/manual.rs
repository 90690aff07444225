//! What a person sees. These snapshots are to be read as a manual.

use insta::assert_snapshot;

use crate::support::Home;

#[test]
fn agon_help_is_worth_reading() {
    assert_snapshot!(Home::new().agon(&["--help"]).ok().shown(), @"");
}

#[test]
fn a_protocols_verb_has_its_options_as_flags() {
    assert_snapshot!(Home::new().agon(&["deep", "--help"]).ok().shown(), @"");
}

#[test]
fn protocols_lists_the_kinds_of_debate() {
    assert_snapshot!(Home::new().agon(&["protocols"]).ok().shown(), @"");
}

#[test]
fn a_debate_in_a_pipe_is_plain_lines_on_stderr_and_a_report_on_stdout() {
    let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7"];
    assert_snapshot!(Home::new().agon(&args).ok().shown(), @"");
}

#[test]
fn list_show_and_search_find_a_debate_again() {
    let home = Home::new();
    assert_snapshot!(home.agon(&["list"]).ok().shown(), @"");
    home.debate();
    assert_snapshot!(home.agon(&["list"]).ok().shown(), @"");
    assert_snapshot!(home.agon(&["search", "formatter"]).ok().shown(), @"");
    assert_snapshot!(home.agon(&["search", "semicolons"]).ok().shown(), @"");
    assert_snapshot!(home.agon(&["verify", "last"]).ok().shown(), @"");
    let report = home.agon(&["show", "last"]).ok();
    assert!(report.out.contains("Let a formatter decide, and take its default."), "{report:?}");
    assert_eq!(report, home.agon(&["replay", "last"]));
}

#[test]
fn a_dry_run_says_what_a_debate_would_take() {
    let home = Home::new();
    let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--dry-run", "--seed", "7"];
    assert_snapshot!(home.agon(&args).ok().shown(), @"");
    assert!(!home.path("home").exists(), "nothing is stored");
}

#[test]
fn doctor_shows_configuration_store_and_providers() {
    let home = Home::new();
    home.write("agon.toml", "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_env = \"LOCAL_KEY\"\n");
    let mut command = home.command(&["doctor", "--db", "none.db"]);
    let said = crate::support::said(command.env("LOCAL_KEY", "sk-secret").spawn().unwrap());
    assert!(!said.out.contains("sk-secret"));
    assert_snapshot!(said.shown(), @"");
}

#[test]
fn completions_and_man_page_come_from_the_same_table() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.agon(&["completions", shell]).ok().out;
        assert!(script.contains("max-rounds") && script.contains("doctor"), "{shell}");
    }
    let page = home.agon(&["man"]).ok().out;
    assert!(page.starts_with(".ie") && page.contains("agon"), "{page}");
    assert!(home.agon(&["man", "deep"]).ok().out.contains("max\\-rounds"));
}

#[test]
fn init_writes_a_configuration_and_overwrites_nothing() {
    let home = Home::new();
    home.agon(&["init"]).ok();
    let written = home.read("agon.toml");
    home.write("agon.toml", "models = [\"script/tabs.yaml\"]\n");
    assert_snapshot!(home.agon(&["init"]).shown(), @"");
    assert_eq!(home.agon(&["deep", "Tabs or spaces?", "--json"]).json()["status"], "complete");
    home.agon(&["init", "--force"]).ok();
    assert_eq!(home.read("agon.toml"), written);
}
