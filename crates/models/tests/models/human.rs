//! `human/NAME` at a scripted terminal.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::support::{self, wait_until, within_two_minutes};
use agon_core::{CallUsage, ReplySchema};
use agon_engine::{
    CallFault, CallFaultKind, CallMessage, FinishReason, MessageRole, Model, ModelCall, ModelCompletion,
    ModelPrice,
};
use agon_models::human::{TerminalDevice, TerminalInput};
use agon_models::{HumanConfig, HumanModel, TerminalPrompt};
use serde_json::json;

/// A terminal whose input comes from the test.
struct ScriptedTerminal {
    typed: Mutex<mpsc::Receiver<TerminalInput>>,
    shown: Mutex<String>,
    /// Whether a read can be cancelled, as on Unix.
    can_cancel: bool,
    broken: AtomicBool,
}

struct TestPerson {
    keys: mpsc::Sender<TerminalInput>,
    terminal: Arc<ScriptedTerminal>,
}

impl TerminalDevice for ScriptedTerminal {
    fn write(&self, text: &str) -> io::Result<()> {
        self.shown.lock().unwrap().push_str(text);
        Ok(())
    }

    fn read_line(&self, is_wanted: &dyn Fn() -> bool) -> io::Result<Option<TerminalInput>> {
        let typed = self.typed.lock().unwrap();
        loop {
            if self.broken.load(Ordering::SeqCst) {
                return Err(io::Error::other("unplugged"));
            }
            if self.can_cancel && !is_wanted() {
                return Ok(None);
            }
            match typed.recv_timeout(Duration::from_millis(5)) {
                Ok(typed) => return Ok(Some(typed)),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(Some(TerminalInput::End)),
            }
        }
    }

    fn discard(&self) {
        // While a read is waiting, nothing can be discarded.
        if let Ok(typed) = self.typed.try_lock() {
            while typed.try_recv().is_ok() {}
        }
    }
}

impl TestPerson {
    fn new(can_cancel: bool) -> Self {
        let (keys, typed) = mpsc::channel();
        let (typed, shown, broken) = (Mutex::new(typed), Mutex::default(), AtomicBool::new(false));
        Self { keys, terminal: Arc::new(ScriptedTerminal { typed, shown, can_cancel, broken }) }
    }

    fn prompt(&self) -> Arc<TerminalPrompt> {
        Arc::new(TerminalPrompt::on(self.terminal.clone()))
    }

    fn types(&self, lines: &[&str]) {
        for line in lines {
            self.keys
                .send(if *line == "^D" { TerminalInput::End } else { TerminalInput::Line((*line).into()) })
                .unwrap();
        }
    }

    fn screen(&self) -> String {
        self.terminal.shown.lock().unwrap().clone()
    }

    /// Waits until the text is on the screen this many times.
    async fn sees(&self, text: &str, times: usize) {
        wait_until(|| self.screen().matches(text).count() >= times).await;
    }
}

fn human(prompt: &Arc<TerminalPrompt>) -> HumanModel {
    HumanModel::new("anna", &HumanConfig::default(), prompt.clone()).unwrap()
}

fn call(question: &str) -> ModelCall {
    support::call_with(vec![CallMessage::new(MessageRole::User, question)])
}

/// Asks, and types the lines when the question is on the screen.
async fn asked(call: &ModelCall, lines: &[&str]) -> (String, Result<ModelCompletion, CallFault>) {
    let person = TestPerson::new(true);
    let human = human(&person.prompt());
    let typing = async {
        person.sees("> ", 1).await;
        person.types(lines);
    };
    let (answer, ()) = within_two_minutes(async { tokio::join!(human.call(call, None), typing) }).await;
    drop(human);
    (person.screen(), answer)
}

#[tokio::test]
async fn a_person_sees_the_whole_prompt_and_answers_over_several_lines() {
    let question = call("Tabs?\u{1b}]0;title\u{7}\u{1b}[2J Or\u{202e} spaces?");
    let (screen, answer) = asked(&question, &["Tabs.", "", "Always.", "."]).await;
    let (text, model) = ("Tabs.\n\nAlways.".to_owned(), "human/anna".to_owned());
    let expected = ModelCompletion {
        text,
        model,
        usage: CallUsage::default(),
        finish: FinishReason::End,
        shortened: None,
    };
    assert_eq!(answer, Ok(expected));
    assert!(screen.contains("human/anna, it is your turn: answer\n"), "{screen}");
    assert!(screen.contains("--- What you are asked ---\nTabs? Or spaces?\n"), "{screen}");
    assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen:?}");
}

#[tokio::test]
async fn a_structured_answer_is_json_that_conforms_to_its_schema() {
    let json = json!({
        "type": "object",
        "properties": {"sure": {"type": "boolean"}, "score": {"type": "integer", "minimum": 1, "maximum": 10}},
        "required": ["sure", "score"],
    });
    let schema = Some(Arc::new(ReplySchema { name: "s".into(), json }));
    let (screen, answer) =
        asked(&ModelCall { schema, ..call("Score it.") }, &["perhaps", "y", "11", "7"]).await;
    assert_eq!(answer.unwrap().text, r#"{"sure":true,"score":7}"#);
    assert!(screen.contains("type y for yes or n for no"), "{screen}");
    assert!(screen.contains("type a whole number from 1 to 10"), "{screen}");
}

#[tokio::test]
async fn passing_is_a_refusal() {
    for lines in [&["^D"][..], &["/skip"], &["Words.", "/skip"]] {
        let fault = asked(&call("Tabs?"), lines).await.1.unwrap_err();
        assert_eq!((fault.kind, fault.message.as_str()), (CallFaultKind::Refused, "human/anna passed"));
    }
}

#[tokio::test]
async fn an_answer_has_a_maximum_of_lines() {
    let lines = vec!["more"; 2_000];
    let fault = asked(&call("Tabs?"), &lines).await.1.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Garbled);
    assert!(fault.message.contains("more than 2000 lines"), "{fault}");
}

#[tokio::test]
async fn a_late_line_does_not_answer_the_next_question() {
    for can_cancel in [true, false] {
        let person = TestPerson::new(can_cancel);
        let human = human(&person.prompt());
        let first = call("First?");
        tokio::select! {
            answer = human.call(&first, None) => panic!("{answer:?}"),
            () = person.sees("> ", 1) => {}
        }
        person.sees("This question is closed", 1).await;
        person.types(&["late"]);
        let second = call("Second?");
        let typing = async {
            person.sees("Second?", 1).await;
            person.sees("> ", 2).await;
            person.types(&["in time", "."]);
        };
        let (answer, ()) =
            within_two_minutes(async { tokio::join!(human.call(&second, None), typing) }).await;
        assert_eq!(answer.unwrap().text, "in time", "can cancel: {can_cancel}");
    }
}

/// The line comes when the next question is already on the screen, so it is unclear which one it answers.
#[tokio::test]
async fn a_line_started_for_the_previous_question_must_be_typed_again() {
    let person = TestPerson::new(false);
    let human = human(&person.prompt());
    let first = call("First?");
    // Wait for the second prompt, so that a read is waiting.
    tokio::select! {
        answer = human.call(&first, None) => panic!("{answer:?}"),
        () = async {
            person.sees("> ", 1).await;
            person.types(&["one"]);
            person.sees("> ", 2).await;
        } => {}
    }
    let second = call("Second?");
    let typing = async {
        person.sees("> ", 3).await;
        person.types(&["which?"]);
        person.sees("Please type it again", 1).await;
        person.types(&["two", "."]);
    };
    let (answer, ()) = within_two_minutes(async { tokio::join!(human.call(&second, None), typing) }).await;
    assert_eq!(answer.unwrap().text, "two");
}

#[tokio::test]
async fn input_from_before_the_question_is_discarded() {
    let person = TestPerson::new(true);
    let human = human(&person.prompt());
    person.types(&["too early", "."]);
    let question = call("Tabs?");
    let typing = async {
        person.sees("> ", 1).await;
        person.types(&["now", "."]);
    };
    let (answer, ()) = within_two_minutes(async { tokio::join!(human.call(&question, None), typing) }).await;
    assert_eq!(answer.unwrap().text, "now");
}

#[tokio::test]
async fn people_at_one_terminal_are_asked_one_after_the_other() {
    let person = TestPerson::new(true);
    let prompt = person.prompt();
    let (anna, bob) = (human(&prompt), HumanModel::new("bob", &HumanConfig::default(), prompt).unwrap());
    let (for_anna, for_bob) = (call("Anna?"), call("Bob?"));
    let typing = async {
        person.sees("> ", 1).await;
        assert!(!person.screen().contains("Bob?"), "{}", person.screen());
        person.types(&["I am Anna", "."]);
        person.sees("Bob?", 1).await;
        person.sees("> ", 3).await;
        person.types(&["I am Bob", "."]);
    };
    let both = async { tokio::join!(anna.call(&for_anna, None), bob.call(&for_bob, None), typing) };
    let (from_anna, from_bob, ()) = within_two_minutes(both).await;
    assert_eq!((from_anna.unwrap().text, from_bob.unwrap().text), ("I am Anna".into(), "I am Bob".into()));
    assert_eq!(anna.at_once(), Some(1));
}

#[tokio::test]
async fn the_pause_hook_is_called_before_and_after_each_question() {
    let person = TestPerson::new(true);
    let calls: Arc<Mutex<Vec<(bool, usize)>>> = Arc::default();
    let (record, terminal) = (calls.clone(), person.terminal.clone());
    let hook = Arc::new(move |is_asking| {
        let pages = terminal.shown.lock().unwrap().matches("your turn").count();
        record.lock().unwrap().push((is_asking, pages));
    });
    let human = human(&Arc::new(TerminalPrompt::on(person.terminal.clone()).with_pause_hook(hook)));
    let question = call("Tabs?");
    let typing = async {
        person.sees("> ", 1).await;
        person.types(&["yes", "."]);
    };
    let (answer, ()) = within_two_minutes(async { tokio::join!(human.call(&question, None), typing) }).await;
    answer.unwrap();
    wait_until(|| calls.lock().unwrap().len() == 2).await;
    tokio::select! {
        answer = human.call(&question, None) => panic!("{answer:?}"),
        () = person.sees("your turn", 2) => {}
    }
    wait_until(|| calls.lock().unwrap().len() == 4).await;
    // Each with the number of pages shown so far.
    assert_eq!(*calls.lock().unwrap(), [(true, 0), (false, 1), (true, 1), (false, 2)]);
}

#[tokio::test]
async fn without_a_terminal_a_person_cannot_be_asked() {
    let prompt = TerminalPrompt::opened_by(|| Err(io::Error::from(io::ErrorKind::NotFound)));
    let fault = human(&Arc::new(prompt)).call(&call("Tabs?"), None).await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::NoSuchModel);
    assert!(fault.message.starts_with("human/anna needs a terminal"), "{fault}");
}

#[tokio::test]
async fn a_terminal_that_fails_is_opened_again() {
    let person = TestPerson::new(true);
    let opened = Arc::new(AtomicUsize::new(0));
    let (count, terminal) = (opened.clone(), person.terminal.clone());
    let human = human(&Arc::new(TerminalPrompt::opened_by(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(terminal.clone())
    })));
    person.terminal.broken.store(true, Ordering::SeqCst);
    let question = call("Tabs?");
    let fault = within_two_minutes(human.call(&question, None)).await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Unavailable);
    assert_eq!(fault.message, "the terminal of human/anna is gone: unplugged");
    person.terminal.broken.store(false, Ordering::SeqCst);
    let typing = async {
        person.sees("> ", 2).await;
        person.types(&["back", "."]);
    };
    let (answer, ()) = within_two_minutes(async { tokio::join!(human.call(&question, None), typing) }).await;
    assert_eq!(answer.unwrap().text, "back");
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[test]
fn a_person_costs_nothing_and_has_a_timeout_of_its_own() {
    let prompt = TestPerson::new(true).prompt();
    assert_eq!(human(&prompt).price(), ModelPrice::Free);
    assert_eq!((human(&prompt).name(), human(&prompt).provider()), ("human/anna", "human"));
    assert_eq!(human(&prompt).timeout(), Some(Duration::from_secs(15 * 60)));
    let hurried = HumanModel::new("bob", &HumanConfig { timeout_s: Some(30.0) }, prompt.clone()).unwrap();
    assert_eq!(hurried.timeout(), Some(Duration::from_secs(30)));
    assert!(HumanModel::new("a/b", &HumanConfig::default(), prompt).is_err());
}
