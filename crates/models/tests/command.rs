//! `command/NAME` with real programs: "any program that reads a prompt on stdin and answers on stdout, with timeout, output
//! limit, process-group kill, no shell".
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use agon_core::Usage;
use agon_engine::{Completion, Fault, FaultKind, Finish, Message, Model, Price, Role};
use agon_models::{Command, CommandConfig};
use support::{call, is_gone, is_over, number_in, patiently};
use tempfile::TempDir;

fn config(program: &[&str]) -> CommandConfig {
    CommandConfig {
        program: program.iter().map(|word| (*word).to_owned()).collect(),
        ..CommandConfig::default()
    }
}

fn command(config: CommandConfig) -> Command {
    Command::new("x", config).unwrap()
}

/// A shell script in a folder of its own, run in that folder.
struct Script(TempDir);

impl Script {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.sh"), text).unwrap();
        Self(folder)
    }

    fn config(&self) -> CommandConfig {
        CommandConfig { cwd: Some(self.0.path().to_owned()), ..config(&["sh", "script.sh"]) }
    }

    fn command(&self) -> Command {
        command(self.config())
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}

async fn ask(command: &Command, prompt: &str) -> Result<Completion, Fault> {
    patiently(command.call(&call(vec![Message::new(Role::User, prompt)]), None)).await
}

async fn text(script: &str) -> Result<String, Fault> {
    ask(&Script::new(script).command(), "prompt").await.map(|completion| completion.text)
}

#[tokio::test]
async fn the_prompt_goes_in_and_the_answer_comes_out() {
    let cat = command(config(&["cat"]));
    let completion = ask(&cat, "Tabs or\nspaces?").await.unwrap();
    let (text, model) = ("Tabs or\nspaces?".to_owned(), "command/x".to_owned());
    let wanted = Completion { text, model, usage: Usage::default(), finish: Finish::End, shortened: None };
    assert_eq!(completion, wanted);
    assert_eq!((cat.name(), cat.provider()), ("command/x", "command"));
    let messages = vec![Message::new(Role::System, "Be brief."), Message::new(Role::User, "Tabs?")];
    let page = patiently(cat.call(&call(messages), None)).await.unwrap().text;
    assert!(
        page.contains("Rules (system) =====\n\nBe brief.\n\n") && page.ends_with("=====\n\nTabs?"),
        "{page}"
    );
}

#[tokio::test]
async fn a_prompt_larger_than_any_pipe_goes_through_while_the_answer_comes() {
    let prompt = "0123456789abcdef\n".repeat(60_000);
    let roomy = CommandConfig { output_bytes_max: Some(2 << 20), ..config(&["cat"]) };
    assert_eq!(ask(&command(roomy), &prompt).await.unwrap().text, prompt.trim_end());
    // "A program that does not read its stdin (EPIPE) is no fault."
    assert_eq!(ask(&Script::new("echo deaf").command(), &prompt).await.unwrap().text, "deaf");
    assert_eq!(ask(&Script::new("exec <&-; echo closed").command(), &prompt).await.unwrap().text, "closed");
}

#[tokio::test]
async fn the_answer_streams_as_it_comes() {
    // The program waits for the watcher, so that an answer that came all at once would never come.
    let script = Script::new(
        "printf '\\033[1mone \\303'; while ! [ -e seen ]; do sleep 0.02; done; printf '\\251\\033[0m two\\n'",
    );
    let pieces = Mutex::new(Vec::new());
    let seen = script.file("seen");
    let watch = |piece: &str| {
        pieces.lock().unwrap().push(piece.to_owned());
        std::fs::write(&seen, "").unwrap();
    };
    let call = call(vec![Message::new(Role::User, "prompt")]);
    let answer = patiently(script.command().call(&call, Some(&watch))).await.unwrap();
    assert_eq!(answer.text, "one \u{e9} two");
    let pieces = pieces.into_inner().unwrap();
    assert_eq!((pieces[0].as_str(), pieces.concat().as_str()), ("one ", "one \u{e9} two\n"));
}

#[tokio::test]
async fn no_shell_reads_the_arguments() {
    let words = config(&["printf", "%s|", "$HOME", "a b", ";echo x", "*"]);
    assert_eq!(ask(&command(words), "").await.unwrap().text, "$HOME|a b|;echo x|*|");
}

#[tokio::test]
async fn a_program_runs_in_its_folder_with_the_environment_it_is_given() {
    let script = Script::new("pwd -P");
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
async fn a_relative_program_is_taken_from_where_agon_was_started() {
    let script = Script::new("#!/bin/sh\necho run");
    std::fs::set_permissions(script.file("script.sh"), Permissions::from_mode(0o755)).unwrap();
    // It is in the folder that it would run in, and not here.
    let relative = CommandConfig { cwd: script.config().cwd, ..config(&["./script.sh"]) };
    let fault = ask(&command(relative), "").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::NoSuchModel);
    assert!(fault.message.contains("there is no program \"./script.sh\""), "{fault}");
    let absolute = config(&[script.file("script.sh").to_str().unwrap()]);
    assert_eq!(ask(&command(absolute), "").await.unwrap().text, "run");
}

/// "Output limit: past it the group is killed and the reply is Garbled with a sentence."
#[tokio::test]
async fn a_program_that_writes_without_end_is_stopped() {
    let script = Script::new("echo $$ > pid; sleep 1000 & echo $! > grandchild; yes");
    let limited = CommandConfig { output_bytes_max: Some(100_000), ..script.config() };
    let fault = ask(&command(limited), "").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Garbled);
    assert!(fault.message.contains("more than 100000 bytes"), "{fault}");
    assert!(fault.message.contains("output_bytes_max under [commands.x]"), "{fault}");
    is_gone(number_in(&script.file("pid")).await).await;
    is_over(number_in(&script.file("grandchild")).await).await;
}

/// "Grandchildren too": one that outlives its parent is ended, also when it holds the answer's pipe open.
#[tokio::test]
async fn what_a_program_leaves_behind_is_ended_with_it() {
    for redirect in ["> /dev/null 2>&1", ""] {
        let script =
            Script::new(&format!("echo $$ > pid; sleep 1000 {redirect} & echo $! > grandchild; echo done"));
        assert_eq!(ask(&script.command(), "").await.unwrap().text, "done");
        is_gone(number_in(&script.file("pid")).await).await;
        is_over(number_in(&script.file("grandchild")).await).await;
    }
}

/// What a program has started may finish its sentence.
#[tokio::test]
async fn a_helper_that_writes_after_its_parent_is_heard() {
    assert_eq!(text("(sleep 0.1; echo late) & echo early").await.unwrap(), "early\nlate");
}

/// "When the engine drops the future the process group is killed", and no zombie is left.
#[tokio::test]
async fn a_call_that_is_given_up_ends_the_program_and_what_it_started() {
    let script = Script::new(
        "trap '' TERM INT HUP; echo $$ > pid; sleep 1000 & echo $! > grandchild; wait; sleep 1000",
    );
    let command = script.command();
    let call = call(vec![Message::new(Role::User, "prompt")]);
    let running = command.call(&call, None);
    let file = script.file("grandchild");
    let grandchild = tokio::select! {
        ended = running => panic!("{ended:?}"),
        number = number_in(&file) => number,
    };
    is_gone(number_in(&script.file("pid")).await).await;
    is_over(grandchild).await;
}

#[tokio::test]
async fn a_program_that_fails_says_why() {
    let fault = text("echo so far so good; printf '\\033[31mno\\nkey\\007 for you\\n' >&2; exit 3")
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    assert_eq!(fault.message, "command/x ended with exit status 3; it says: no key for you");
    let fault = text("echo 'told on stdout'; exit 1").await.unwrap_err();
    assert_eq!(fault.message, "command/x ended with exit status 1; it says: told on stdout");
    let fault = text("kill -9 $$").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    assert!(fault.message.starts_with("command/x ended with signal: 9"), "{fault}");
    let fault =
        text("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1").await.unwrap_err();
    assert!(fault.message.ends_with("line 1999") && fault.message.len() < 500, "{fault}");
}

#[tokio::test]
async fn what_cannot_be_run_is_named_with_its_section() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.txt");
    std::fs::write(&plain, "words").unwrap();
    let plain = plain.to_str().unwrap();
    let no_folder = CommandConfig { cwd: Some("/no/such/folder".into()), ..config(&["cat"]) };
    for (config, named) in [
        (config(&["no-such-program-here", "-p"]), "there is no program \"no-such-program-here\": install it"),
        (config(&[plain]), "cannot be run"),
        (no_folder, "\"/no/such/folder\", which is no folder: set cwd"),
    ] {
        let fault = ask(&command(config), "").await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::NoSuchModel, "{fault}");
        assert!(
            fault.message.contains(named) && fault.message.contains("[commands.x] in agon.toml"),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn only_text_is_an_answer_and_none_at_all_is_one() {
    let fault = text("printf 'a\\377b'").await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::Garbled, "the answer of command/x is not UTF-8 text")
    );
    let fault = text("printf 'caf\\303'").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Garbled);
    assert_eq!(text("true").await, Ok(String::new()), "an empty answer is an answer");
}

/// "A dollar budget with an unknown price is an error before the first call": what a program costs is not known.
#[test]
fn the_price_of_a_program_is_unknown_unless_it_is_free() {
    assert_eq!(command(config(&["cat"])).price(), Price::Unknown);
    assert_eq!(command(CommandConfig { free: true, ..config(&["cat"]) }).price(), Price::Free);
    assert_eq!(command(config(&["cat"])).timeout(), None);
    let slow = CommandConfig { timeout_s: Some(600.0), ..config(&["cat"]) };
    assert_eq!(command(slow).timeout(), Some(Duration::from_secs(600)));
    assert!(Command::new("x", config(&[])).is_err());
}
