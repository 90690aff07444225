//! `command/NAME` with real programs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::{call_with, process_id_in, wait_until_ended, wait_until_gone, within_two_minutes};
use agon_core::CallUsage;
use agon_engine::{
    CallFault, CallFaultKind, CallMessage, FinishReason, MessageRole, Model, ModelCompletion, ModelPrice,
};
use agon_models::{CommandConfig, CommandModel};
use tempfile::TempDir;

fn config(program: &[&str]) -> CommandConfig {
    CommandConfig {
        program: program.iter().map(|word| (*word).to_owned()).collect(),
        ..CommandConfig::default()
    }
}

fn command(config: CommandConfig) -> CommandModel {
    CommandModel::new("x", config).unwrap()
}

/// A shell script in a folder of its own, run in that folder.
struct ShellScript(TempDir);

impl ShellScript {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.sh"), text).unwrap();
        Self(folder)
    }

    fn config(&self) -> CommandConfig {
        CommandConfig { cwd: Some(self.0.path().to_owned()), ..config(&["sh", "script.sh"]) }
    }

    fn command(&self) -> CommandModel {
        command(self.config())
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}

async fn ask(command: &CommandModel, prompt: &str) -> Result<ModelCompletion, CallFault> {
    within_two_minutes(command.call(&call_with(vec![CallMessage::new(MessageRole::User, prompt)]), None))
        .await
}

async fn text(script: &str) -> Result<String, CallFault> {
    ask(&ShellScript::new(script).command(), "prompt").await.map(|completion| completion.text)
}

#[tokio::test]
async fn a_program_reads_the_prompt_and_writes_the_answer() {
    let cat = command(config(&["cat"]));
    let completion = ask(&cat, "Tabs or\nspaces?").await.unwrap();
    let (text, model) = ("Tabs or\nspaces?".to_owned(), "command/x".to_owned());
    let expected = ModelCompletion {
        text,
        model,
        usage: CallUsage::default(),
        finish: FinishReason::End,
        shortened: None,
    };
    assert_eq!(completion, expected);
    assert_eq!((cat.name(), cat.provider()), ("command/x", "command"));
    let messages = vec![
        CallMessage::new(MessageRole::System, "Be brief."),
        CallMessage::new(MessageRole::User, "Tabs?"),
    ];
    let page = within_two_minutes(cat.call(&call_with(messages), None)).await.unwrap().text;
    assert!(
        page.contains("Rules (system) =====\n\nBe brief.\n\n") && page.ends_with("=====\n\nTabs?"),
        "{page}"
    );
}

#[tokio::test]
async fn a_prompt_larger_than_a_pipe_is_written_while_the_answer_is_read() {
    let prompt = "0123456789abcdef\n".repeat(60_000);
    let roomy = CommandConfig { output_bytes_max: Some(2 << 20), ..config(&["cat"]) };
    assert_eq!(ask(&command(roomy), &prompt).await.unwrap().text, prompt.trim_end());
    // A program does not have to read its input.
    assert_eq!(ask(&ShellScript::new("echo deaf").command(), &prompt).await.unwrap().text, "deaf");
    assert_eq!(
        ask(&ShellScript::new("exec <&-; echo closed").command(), &prompt).await.unwrap().text,
        "closed"
    );
}

#[tokio::test]
async fn the_answer_is_streamed() {
    // The program waits until its first words have been seen, so an answer in one piece would never come.
    let script = ShellScript::new(
        "printf '\\033[1mone \\303'; while ! [ -e seen ]; do sleep 0.02; done; printf '\\251\\033[0m two\\n'",
    );
    let pieces = Mutex::new(Vec::new());
    let seen = script.file("seen");
    let watch = |piece: &str| {
        pieces.lock().unwrap().push(piece.to_owned());
        std::fs::write(&seen, "").unwrap();
    };
    let call = call_with(vec![CallMessage::new(MessageRole::User, "prompt")]);
    let answer = within_two_minutes(script.command().call(&call, Some(&watch))).await.unwrap();
    assert_eq!(answer.text, "one \u{e9} two");
    let pieces = pieces.into_inner().unwrap();
    assert_eq!((pieces[0].as_str(), pieces.concat().as_str()), ("one ", "one \u{e9} two\n"));
}

#[tokio::test]
async fn arguments_are_not_read_by_a_shell() {
    let words = config(&["printf", "%s|", "$HOME", "a b", ";echo x", "*"]);
    assert_eq!(ask(&command(words), "").await.unwrap().text, "$HOME|a b|;echo x|*|");
}

#[tokio::test]
async fn a_program_runs_in_its_folder_with_its_environment() {
    let script = ShellScript::new("pwd -P");
    let folder = script.0.path().canonicalize().unwrap();
    assert_eq!(Path::new(&ask(&script.command(), "").await.unwrap().text), folder);
    // Cargo sets this one for every test.
    const VARIABLE: &str = "CARGO_MANIFEST_DIR";
    for (env, passed) in [(None, true), (Some(vec![]), false), (Some(vec![VARIABLE.to_owned()]), true)] {
        let listed =
            ask(&command(CommandConfig { env: env.clone(), ..config(&["env"]) }), "").await.unwrap().text;
        assert_eq!(listed.contains(&format!("{VARIABLE}=")), passed, "{env:?}");
        assert!(listed.contains("PATH="), "{listed}");
    }
}

#[tokio::test]
async fn a_relative_path_starts_where_agon_was_started() {
    let script = ShellScript::new("#!/bin/sh\necho run");
    std::fs::set_permissions(script.file("script.sh"), Permissions::from_mode(0o755)).unwrap();
    // The script is in `cwd`, not in the current folder.
    let relative = CommandConfig { cwd: script.config().cwd, ..config(&["./script.sh"]) };
    let fault = ask(&command(relative), "").await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::NoSuchModel);
    assert!(fault.message.contains("there is no program \"./script.sh\""), "{fault}");
    let absolute = config(&[script.file("script.sh").to_str().unwrap()]);
    assert_eq!(ask(&command(absolute), "").await.unwrap().text, "run");
}

#[tokio::test]
async fn a_program_that_writes_too_much_is_killed() {
    let script = ShellScript::new("echo $$ > pid; sleep 1000 & echo $! > grandchild; yes");
    let limited = CommandConfig { output_bytes_max: Some(100_000), ..script.config() };
    let fault = ask(&command(limited), "").await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Garbled);
    assert!(fault.message.contains("more than 100000 bytes"), "{fault}");
    assert!(fault.message.contains("output_bytes_max under [commands.x]"), "{fault}");
    wait_until_gone(process_id_in(&script.file("pid")).await).await;
    wait_until_ended(process_id_in(&script.file("grandchild")).await).await;
}

#[tokio::test]
async fn child_processes_are_killed_when_the_program_ends() {
    for redirect in ["> /dev/null 2>&1", ""] {
        let script = ShellScript::new(&format!(
            "echo $$ > pid; sleep 1000 {redirect} & echo $! > grandchild; echo done"
        ));
        assert_eq!(ask(&script.command(), "").await.unwrap().text, "done");
        wait_until_gone(process_id_in(&script.file("pid")).await).await;
        wait_until_ended(process_id_in(&script.file("grandchild")).await).await;
    }
}

#[tokio::test]
async fn a_child_process_may_write_shortly_after_the_program_ended() {
    assert_eq!(text("(sleep 0.1; echo late) & echo early").await.unwrap(), "early\nlate");
}

#[tokio::test]
async fn dropping_a_call_kills_the_program_and_its_children() {
    let script = ShellScript::new(
        "trap '' TERM INT HUP; echo $$ > pid; sleep 1000 & echo $! > grandchild; wait; sleep 1000",
    );
    let command = script.command();
    let call = call_with(vec![CallMessage::new(MessageRole::User, "prompt")]);
    let running = command.call(&call, None);
    let file = script.file("grandchild");
    let grandchild = tokio::select! {
        ended = running => panic!("{ended:?}"),
        number = process_id_in(&file) => number,
    };
    wait_until_gone(process_id_in(&script.file("pid")).await).await;
    wait_until_ended(grandchild).await;
}

#[tokio::test]
async fn the_fault_of_a_failed_program_quotes_its_errors() {
    let fault = text("echo so far so good; printf '\\033[31mno\\nkey\\007 for you\\n' >&2; exit 3")
        .await
        .unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Unavailable);
    assert_eq!(fault.message, "command/x ended with exit status 3; it says: no key for you");
    let fault = text("echo 'told on stdout'; exit 1").await.unwrap_err();
    assert_eq!(fault.message, "command/x ended with exit status 1; it says: told on stdout");
    let fault = text("kill -9 $$").await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Unavailable);
    assert!(fault.message.starts_with("command/x ended with signal: 9"), "{fault}");
    let fault =
        text("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1").await.unwrap_err();
    assert!(fault.message.ends_with("line 1999") && fault.message.len() < 500, "{fault}");
}

#[tokio::test]
async fn a_program_that_cannot_start_is_named_with_its_section() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.txt");
    std::fs::write(&plain, "words").unwrap();
    let plain = plain.to_str().unwrap();
    let no_folder = CommandConfig { cwd: Some("/no/such/folder".into()), ..config(&["cat"]) };
    for (config, named) in [
        (config(&["no-such-program-here", "-p"]), "there is no program \"no-such-program-here\": install it"),
        (config(&[plain]), "cannot be run"),
        (no_folder, "\"/no/such/folder\", which is not a folder: set cwd"),
    ] {
        let fault = ask(&command(config), "").await.unwrap_err();
        assert_eq!(fault.kind, CallFaultKind::NoSuchModel, "{fault}");
        assert!(
            fault.message.contains(named) && fault.message.contains("[commands.x] in agon.toml"),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn an_answer_must_be_text_and_may_be_empty() {
    let fault = text("printf 'a\\377b'").await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (CallFaultKind::Garbled, "the answer of command/x is not UTF-8 text")
    );
    let fault = text("printf 'caf\\303'").await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Garbled);
    assert_eq!(text("true").await, Ok(String::new()), "an empty answer is an answer");
}

#[test]
fn the_price_of_a_program_is_unknown_unless_it_is_free() {
    assert_eq!(command(config(&["cat"])).price(), ModelPrice::Unknown);
    assert_eq!(command(CommandConfig { free: true, ..config(&["cat"]) }).price(), ModelPrice::Free);
    assert_eq!(command(config(&["cat"])).timeout(), None);
    let slow = CommandConfig { timeout_s: Some(600.0), ..config(&["cat"]) };
    assert_eq!(command(slow).timeout(), Some(Duration::from_secs(600)));
    assert!(CommandModel::new("x", config(&[])).is_err());
}
