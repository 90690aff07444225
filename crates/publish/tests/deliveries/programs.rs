//! "`command:NAME` (a program of the configuration: outcome JSON on stdin, `AGON_DEBATE_ID`/`AGON_STATUS` in the environment, time
//! limit, no shell)"

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::things::{Kept, Office, State};

/// Runs a shell script as the program of a destination.
async fn run(script: &str, more: &str, folder: &Path, debate: &str) -> Kept {
    let toml =
        format!("[destinations.tool]\ncommand = [\"sh\", \"-c\", {script:?}, \"sh\", {folder:?}]\n{more}");
    let office = Office::new(&toml, folder, &[]);
    let id = office.post(debate, "command:tool");
    office.run().await;
    office.kept(id)
}

#[tokio::test]
async fn a_program_reads_the_outcome_and_knows_the_debate() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "cat > \"$1/out\"; printf '%s %s %s' $AGON_DEBATE_ID $AGON_STATUS $AGON_DELIVERY > \"$1/env\"";
    let kept = run(script, "", folder.path(), "d-1").await;
    assert_eq!(kept.state, State::Done, "{}", kept.error);
    let outcome: Value = serde_json::from_slice(&fs::read(folder.path().join("out")).unwrap()).unwrap();
    assert_eq!((&outcome["id"], &outcome["status"]), (&"d-1".into(), &"complete".into()));
    assert_eq!(fs::read_to_string(folder.path().join("env")).unwrap(), "d-1 complete d-1-0");
}

#[tokio::test]
async fn no_shell_reads_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let toml = format!(
        "[[hooks]]\nname = \"touch\"\ncommand = [\"touch\", \"{}/$HOME; x\"]",
        folder.path().display()
    );
    let office = Office::new(&toml, folder.path(), &[]);
    assert_eq!(office.once("hook:touch").await.state, State::Done);
    assert!(folder.path().join("$HOME; x").is_file());
}

#[tokio::test]
async fn a_program_that_fails_is_run_again_and_one_that_is_missing_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let kept = run("echo nothing here; echo 'no\tluck' >&2; exit 3", "", folder.path(), "d-1").await;
    assert_eq!(kept.state, State::Due { at_s: 1_001 });
    assert_eq!(kept.error, "the program of [destinations.tool] failed (exit status: 3): no luck");
    let kept = run("kill -9 $$", "", folder.path(), "d-1").await;
    assert!(kept.error.contains("signal: 9") && matches!(kept.state, State::Due { .. }), "{}", kept.error);
    let plain = folder.path().join("plain");
    fs::write(&plain, "no program").unwrap();
    let toml = format!(
        "[destinations.a]\ncommand = [\"/no/such/program\"]\n[destinations.b]\ncommand = [{plain:?}]"
    );
    let office = Office::new(&toml, folder.path(), &[]);
    for (name, sentence) in [
        ("a", "there is no program /no/such/program: set command in [destinations.a]"),
        ("b", "may not be run: make it executable"),
    ] {
        let kept = office.once(name).await;
        assert_eq!(kept.state, State::Dead);
        assert!(kept.error.contains(sentence), "{}", kept.error);
    }
}

#[tokio::test]
async fn a_slow_program_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    // Whoever is left would write this.
    let script = "(sleep 4; touch \"$1/left\") & echo $$ > \"$1/pid\"; sleep 4; touch \"$1/left\"";
    let kept = run(script, "timeout_s = 2", folder.path(), "d-1").await;
    assert_eq!(kept.state, State::Due { at_s: 1_001 });
    assert_eq!(kept.error, "no answer within 2s");
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    assert!(folder.path().join("pid").is_file() && !folder.path().join("left").exists());
}

#[tokio::test]
async fn much_is_written_and_nothing_is_read_and_both_are_well() {
    let folder = tempfile::tempdir().unwrap();
    let much = "i=0; while [ $i -lt 2000 ]; do printf '%01000d' 0; printf '%01000d' 0 >&2; i=$((i+1)); done";
    assert_eq!(run(much, "timeout_s = 45", folder.path(), "d-1").await.state, State::Done, "big output");
    let kept =
        run(&format!("{much}; echo the end >&2; exit 1"), "timeout_s = 45", folder.path(), "d-1").await;
    assert!(kept.error.len() < 400 && matches!(kept.state, State::Due { .. }), "{}", kept.error);
    assert_eq!(
        run("exit 0", "", folder.path(), "big").await.state,
        State::Done,
        "a megabyte that nobody reads"
    );
}

/// What a program leaves behind may hold its streams open; it is done all the same.
#[tokio::test]
async fn a_program_is_done_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run("sleep 30 & exit 0", "timeout_s = 20", folder.path(), "big").await.state, State::Done);
    let kept = run("sleep 30 & echo why >&2; exit 1", "timeout_s = 20", folder.path(), "big").await;
    assert!(kept.error.ends_with("failed (exit status: 1): why"), "{}", kept.error);
}
