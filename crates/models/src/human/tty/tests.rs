//! A real pseudo-terminal, with the test in place of the person.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use agon_core::Phase;
use agon_engine::{CallMessage, MessageRole, Model, ModelCall};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::system::UnixTerminal;
use crate::human::terminal_prompt::{TerminalDevice, TerminalInput};
use crate::{HumanConfig, HumanModel, TerminalPrompt};

/// The person's end of a terminal, and Agon's.
fn terminal() -> (File, UnixTerminal) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let flags = OFlags::NOCTTY.bits().cast_signed();
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(name).unwrap();
    (File::from(person), UnixTerminal::new(file))
}

fn line(text: &str) -> Option<TerminalInput> {
    Some(TerminalInput::Line(text.into()))
}

/// Everything that the terminal shows up to `end`.
fn shown(person: &mut File, end: &str) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while !text.contains(end) {
        let read = person.read(&mut buffer).unwrap();
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    text
}

#[test]
fn a_real_terminal_passes_on_lines_ctrl_d_and_output() {
    let (mut person, tty) = terminal();
    person.write_all("caf\u{e9}\nsecond\n\u{4}".as_bytes()).unwrap();
    assert_eq!(tty.read_line(&|| true).unwrap(), line("caf\u{e9}"));
    assert_eq!(tty.read_line(&|| true).unwrap(), line("second"));
    assert_eq!(tty.read_line(&|| true).unwrap(), Some(TerminalInput::End));
    tty.write("What?\n> ").unwrap();
    assert!(shown(&mut person, "> ").ends_with("What?\r\n> "));
    assert_eq!(tty.columns(), 80, "the default if the size is unknown");
}

#[test]
fn a_line_that_is_not_wanted_is_left_unread() {
    let (mut person, tty) = terminal();
    assert_eq!(tty.read_line(&|| false).unwrap(), None);
    person.write_all(b"late\n").unwrap();
    assert_eq!(tty.read_line(&|| false).unwrap(), None);
    assert_eq!(tty.read_line(&|| true).unwrap(), line("late"), "it can still be read");
}

#[test]
fn input_from_before_a_question_is_discarded() {
    let (mut person, tty) = terminal();
    person.write_all(b"old\nhalf a li").unwrap();
    // The echo shows that the terminal has received it.
    shown(&mut person, "half a li");
    tty.discard();
    person.write_all(b"new\n").unwrap();
    assert_eq!(tty.read_line(&|| true).unwrap(), line("new"));
}

#[tokio::test]
async fn a_person_answers_at_a_real_terminal() {
    let (mut person, tty) = terminal();
    let human = HumanModel::new("anna", &HumanConfig::default(), Arc::new(TerminalPrompt::on(Arc::new(tty))))
        .unwrap();
    let call = ModelCall {
        debate: "d".into(),
        seat: "s".into(),
        ask: 1,
        attempt: 1,
        is_again: false,
        is_repair: false,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        question: String::new(),
        messages: vec![CallMessage::new(MessageRole::User, "Tabs or \u{1b}[2Jspaces?")],
        schema: None,
        max_output_tokens: 10,
        seed: 1,
    };
    let typing = std::thread::spawn(move || {
        let page = shown(&mut person, "> ");
        person.write_all(b"Tabs.\nAlways.\n.\n").unwrap();
        page + &shown(&mut person, "Thank you.")
    });
    let answer = human.call(&call, None).await.unwrap();
    assert_eq!(answer.text, "Tabs.\nAlways.");
    let page = typing.join().unwrap();
    assert!(page.contains("Tabs or spaces?") && !page.contains('\u{1b}'), "{page}");
}
