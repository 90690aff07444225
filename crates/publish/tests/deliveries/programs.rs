//! Programs: they read the outcome from stdin and find the debate in the environment, with a time limit and no shell.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::memory_outbox::{DeliveryBench, StoredDelivery, StoredState};

/// Delivers to a program that is a shell script.
async fn run_script(script: &str, more: &str, folder: &Path, debate: &str) -> StoredDelivery {
    let toml =
        format!("[destinations.tool]\ncommand = [\"sh\", \"-c\", {script:?}, \"sh\", {folder:?}]\n{more}");
    let bench = DeliveryBench::new(&toml, folder, &[]);
    let id = bench.add(debate, "command:tool");
    bench.run().await;
    bench.stored(id)
}

#[tokio::test]
async fn a_program_gets_the_outcome_and_the_id_of_the_debate() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "cat > \"$1/out\"; printf '%s %s %s' $AGON_DEBATE_ID $AGON_STATUS $AGON_DELIVERY > \"$1/env\"";
    let stored = run_script(script, "", folder.path(), "d-1").await;
    assert_eq!(stored.state, StoredState::Done, "{}", stored.error);
    let outcome: Value = serde_json::from_slice(&fs::read(folder.path().join("out")).unwrap()).unwrap();
    assert_eq!((&outcome["id"], &outcome["status"]), (&"d-1".into(), &"complete".into()));
    assert_eq!(fs::read_to_string(folder.path().join("env")).unwrap(), "d-1 complete d-1-0");
}

#[tokio::test]
async fn a_command_is_not_read_by_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let toml = format!(
        "[[hooks]]\nname = \"touch\"\ncommand = [\"touch\", \"{}/$HOME; x\"]",
        folder.path().display()
    );
    let bench = DeliveryBench::new(&toml, folder.path(), &[]);
    assert_eq!(bench.try_once("hook:touch").await.state, StoredState::Done);
    assert!(folder.path().join("$HOME; x").is_file());
}

#[tokio::test]
async fn a_program_that_fails_is_run_again_but_a_missing_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let stored = run_script("echo nothing here; echo 'no\tluck' >&2; exit 3", "", folder.path(), "d-1").await;
    assert_eq!(stored.state, StoredState::Due { at_s: 1_001 });
    assert_eq!(stored.error, "the program of [destinations.tool] failed (exit status: 3): no luck");
    let stored = run_script("kill -9 $$", "", folder.path(), "d-1").await;
    assert!(
        stored.error.contains("signal: 9") && matches!(stored.state, StoredState::Due { .. }),
        "{}",
        stored.error
    );
    let plain = folder.path().join("plain");
    fs::write(&plain, "no program").unwrap();
    let toml = format!(
        "[destinations.a]\ncommand = [\"/no/such/program\"]\n[destinations.b]\ncommand = [{plain:?}]"
    );
    let bench = DeliveryBench::new(&toml, folder.path(), &[]);
    for (name, sentence) in [
        ("a", "there is no program /no/such/program: set command in [destinations.a]"),
        ("b", "cannot be executed: make it executable"),
    ] {
        let stored = bench.try_once(name).await;
        assert_eq!(stored.state, StoredState::Dead);
        assert!(stored.error.contains(sentence), "{}", stored.error);
    }
}

#[tokio::test]
async fn a_slow_program_is_killed_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    // Any process that survives would create `left`.
    let script = "(sleep 4; touch \"$1/left\") & echo $$ > \"$1/pid\"; sleep 4; touch \"$1/left\"";
    let stored = run_script(script, "timeout_s = 2", folder.path(), "d-1").await;
    assert_eq!(stored.state, StoredState::Due { at_s: 1_001 });
    assert_eq!(stored.error, "no answer within 2s");
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    assert!(folder.path().join("pid").is_file() && !folder.path().join("left").exists());
}

#[tokio::test]
async fn much_output_and_unread_input_are_fine() {
    let folder = tempfile::tempdir().unwrap();
    let much = "i=0; while [ $i -lt 2000 ]; do printf '%01000d' 0; printf '%01000d' 0 >&2; i=$((i+1)); done";
    assert_eq!(
        run_script(much, "timeout_s = 45", folder.path(), "d-1").await.state,
        StoredState::Done,
        "big output"
    );
    let stored =
        run_script(&format!("{much}; echo the end >&2; exit 1"), "timeout_s = 45", folder.path(), "d-1")
            .await;
    assert!(stored.error.len() < 400 && matches!(stored.state, StoredState::Due { .. }), "{}", stored.error);
    assert_eq!(
        run_script("exit 0", "", folder.path(), "big").await.state,
        StoredState::Done,
        "a megabyte that the program does not read"
    );
}

/// A process that it started may keep its streams open.
#[tokio::test]
async fn a_delivery_is_done_when_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        run_script("sleep 30 & exit 0", "timeout_s = 20", folder.path(), "big").await.state,
        StoredState::Done
    );
    let stored = run_script("sleep 30 & echo why >&2; exit 1", "timeout_s = 20", folder.path(), "big").await;
    assert!(stored.error.ends_with("failed (exit status: 1): why"), "{}", stored.error);
}
