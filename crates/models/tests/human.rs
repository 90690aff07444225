//! `human/NAME` at a scripted terminal: "a person at the terminal takes a seat, sees what the others would see and answers;
//! absent after its own timeout".
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use agon_core::{Schema, Usage};
use agon_engine::{Call, Completion, Fault, FaultKind, Finish, Message, Model, Price, Role};
use agon_models::human::{Terminal, Typed};
use agon_models::{Desk, Human, HumanConfig};
use serde_json::json;
use support::{patiently, until};

/// A terminal with a test in the place of the person.
struct Scripted {
    typed: Mutex<mpsc::Receiver<Typed>>,
    shown: Mutex<String>,
    /// Whether a read can be called back, as on Unix, or not.
    looks_up: bool,
    broken: AtomicBool,
}

/// The person.
struct Person {
    keys: mpsc::Sender<Typed>,
    terminal: Arc<Scripted>,
}

impl Terminal for Scripted {
    fn write(&self, text: &str) -> io::Result<()> {
        self.shown.lock().unwrap().push_str(text);
        Ok(())
    }

    fn read_line(&self, wanted: &dyn Fn() -> bool) -> io::Result<Option<Typed>> {
        let typed = self.typed.lock().unwrap();
        loop {
            if self.broken.load(Ordering::SeqCst) {
                return Err(io::Error::other("unplugged"));
            }
            if self.looks_up && !wanted() {
                return Ok(None);
            }
            match typed.recv_timeout(Duration::from_millis(5)) {
                Ok(typed) => return Ok(Some(typed)),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(Some(Typed::End)),
            }
        }
    }

    fn discard(&self) {
        // One that is being read cannot be looked into.
        if let Ok(typed) = self.typed.try_lock() {
            while typed.try_recv().is_ok() {}
        }
    }
}

impl Person {
    fn new(looks_up: bool) -> Self {
        let (keys, typed) = mpsc::channel();
        let (typed, shown, broken) = (Mutex::new(typed), Mutex::default(), AtomicBool::new(false));
        Self { keys, terminal: Arc::new(Scripted { typed, shown, looks_up, broken }) }
    }

    fn desk(&self) -> Arc<Desk> {
        Arc::new(Desk::at(self.terminal.clone()))
    }

    fn types(&self, lines: &[&str]) {
        for line in lines {
            self.keys.send(if *line == "^D" { Typed::End } else { Typed::Line((*line).into()) }).unwrap();
        }
    }

    fn screen(&self) -> String {
        self.terminal.shown.lock().unwrap().clone()
    }

    /// Returns when this is on the screen so many times.
    async fn sees(&self, text: &str, times: usize) {
        until(|| self.screen().matches(text).count() >= times).await;
    }
}

fn human(desk: &Arc<Desk>) -> Human {
    Human::new("anna", &HumanConfig::default(), desk.clone()).unwrap()
}

fn call(question: &str) -> Call {
    support::call(vec![Message::new(Role::User, question)])
}

/// Asks, and types the lines once the question is on the screen.
async fn asked(call: &Call, lines: &[&str]) -> (String, Result<Completion, Fault>) {
    let person = Person::new(true);
    let human = human(&person.desk());
    let typing = async {
        person.sees("> ", 1).await;
        person.types(lines);
    };
    let (answer, ()) = patiently(async { tokio::join!(human.call(call, None), typing) }).await;
    drop(human);
    (person.screen(), answer)
}

#[tokio::test]
async fn a_person_sees_the_whole_prompt_and_answers_over_several_lines() {
    let question = call("Tabs?\u{1b}]0;title\u{7}\u{1b}[2J Or\u{202e} spaces?");
    let (screen, answer) = asked(&question, &["Tabs.", "", "Always.", "."]).await;
    let (text, model) = ("Tabs.\n\nAlways.".to_owned(), "human/anna".to_owned());
    let wanted = Completion { text, model, usage: Usage::default(), finish: Finish::End, shortened: None };
    assert_eq!(answer, Ok(wanted));
    assert!(screen.contains("human/anna, it is your turn: answer\n"), "{screen}");
    assert!(screen.contains("--- What you are asked ---\nTabs? Or spaces?\n"), "{screen}");
    assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen:?}");
}

#[tokio::test]
async fn a_structured_answer_is_json_that_keeps_its_schema() {
    let json = json!({
        "type": "object",
        "properties": {"sure": {"type": "boolean"}, "score": {"type": "integer", "minimum": 1, "maximum": 10}},
        "required": ["sure", "score"],
    });
    let schema = Some(Arc::new(Schema { name: "s".into(), json }));
    let (screen, answer) = asked(&Call { schema, ..call("Score it.") }, &["perhaps", "y", "11", "7"]).await;
    assert_eq!(answer.unwrap().text, r#"{"sure":true,"score":7}"#);
    assert!(screen.contains("it is y for yes or n for no"), "{screen}");
    assert!(screen.contains("it is a whole number from 1 to 10"), "{screen}");
}

/// "`/skip` or Ctrl-D at once on an empty answer: the person passes."
#[tokio::test]
async fn a_person_who_passes_refuses() {
    for lines in [&["^D"][..], &["/skip"], &["Words.", "/skip"]] {
        let fault = asked(&call("Tabs?"), lines).await.1.unwrap_err();
        assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Refused, "human/anna passed"));
    }
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let lines = vec!["more"; 2_000];
    let fault = asked(&call("Tabs?"), &lines).await.1.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Garbled);
    assert!(fault.message.contains("more than 2000 lines"), "{fault}");
}

/// "A late line must not be taken for the answer to the next question": where reads can be called back, and where not.
#[tokio::test]
async fn a_question_that_is_given_up_leaves_nothing_to_the_next_one() {
    for looks_up in [true, false] {
        let person = Person::new(looks_up);
        let human = human(&person.desk());
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
        let (answer, ()) = patiently(async { tokio::join!(human.call(&second, None), typing) }).await;
        assert_eq!(answer.unwrap().text, "in time", "looks up: {looks_up}");
    }
}

/// As before, but the line comes when the next question is already on the screen, and nobody can know which one it is for.
#[tokio::test]
async fn a_line_begun_for_the_question_before_is_asked_for_again() {
    let person = Person::new(false);
    let human = human(&person.desk());
    let first = call("First?");
    // The second line is waited for, so that the terminal is being read.
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
    let (answer, ()) = patiently(async { tokio::join!(human.call(&second, None), typing) }).await;
    assert_eq!(answer.unwrap().text, "two");
}

/// "Lines that came before the question are discarded."
#[tokio::test]
async fn what_was_typed_before_the_question_is_no_answer() {
    let person = Person::new(true);
    let human = human(&person.desk());
    person.types(&["too early", "."]);
    let question = call("Tabs?");
    let typing = async {
        person.sees("> ", 1).await;
        person.types(&["now", "."]);
    };
    let (answer, ()) = patiently(async { tokio::join!(human.call(&question, None), typing) }).await;
    assert_eq!(answer.unwrap().text, "now");
}

/// "Only one person at a time at one terminal."
#[tokio::test]
async fn two_people_at_one_terminal_are_asked_one_after_the_other() {
    let person = Person::new(true);
    let desk = person.desk();
    let (anna, bob) = (human(&desk), Human::new("bob", &HumanConfig::default(), desk).unwrap());
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
    let (from_anna, from_bob, ()) = patiently(both).await;
    assert_eq!((from_anna.unwrap().text, from_bob.unwrap().text), ("I am Anna".into(), "I am Bob".into()));
    assert_eq!(anna.at_once(), Some(1));
}

/// Whatever else draws on the terminal is told to stand aside, and that it may go on.
#[tokio::test]
async fn others_stand_aside_while_a_person_is_asked() {
    let person = Person::new(true);
    let told: Arc<Mutex<Vec<(bool, usize)>>> = Arc::default();
    let (tell, terminal) = (told.clone(), person.terminal.clone());
    let aside = Arc::new(move |busy| {
        let pages = terminal.shown.lock().unwrap().matches("your turn").count();
        tell.lock().unwrap().push((busy, pages));
    });
    let human = human(&Arc::new(Desk::at(person.terminal.clone()).with_aside(aside)));
    let question = call("Tabs?");
    let typing = async {
        person.sees("> ", 1).await;
        person.types(&["yes", "."]);
    };
    let (answer, ()) = patiently(async { tokio::join!(human.call(&question, None), typing) }).await;
    answer.unwrap();
    until(|| told.lock().unwrap().len() == 2).await;
    tokio::select! {
        answer = human.call(&question, None) => panic!("{answer:?}"),
        () = person.sees("your turn", 2) => {}
    }
    until(|| told.lock().unwrap().len() == 4).await;
    // Before the page is shown, and after.
    assert_eq!(*told.lock().unwrap(), [(true, 0), (false, 1), (true, 1), (false, 2)]);
}

#[tokio::test]
async fn without_a_terminal_nobody_can_be_asked() {
    let desk = Desk::opened_by(|| Err(io::Error::from(io::ErrorKind::NotFound)));
    let fault = human(&Arc::new(desk)).call(&call("Tabs?"), None).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::NoSuchModel);
    assert!(fault.message.starts_with("human/anna needs a terminal"), "{fault}");
}

#[tokio::test]
async fn a_terminal_that_fails_is_opened_anew() {
    let person = Person::new(true);
    let opened = Arc::new(AtomicUsize::new(0));
    let (count, terminal) = (opened.clone(), person.terminal.clone());
    let human = human(&Arc::new(Desk::opened_by(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(terminal.clone())
    })));
    person.terminal.broken.store(true, Ordering::SeqCst);
    let question = call("Tabs?");
    let fault = patiently(human.call(&question, None)).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    assert_eq!(fault.message, "the terminal of human/anna is gone: unplugged");
    person.terminal.broken.store(false, Ordering::SeqCst);
    let typing = async {
        person.sees("> ", 2).await;
        person.types(&["back", "."]);
    };
    let (answer, ()) = patiently(async { tokio::join!(human.call(&question, None), typing) }).await;
    assert_eq!(answer.unwrap().text, "back");
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[test]
fn a_person_costs_nothing_and_has_time_of_its_own() {
    let desk = Person::new(true).desk();
    assert_eq!(human(&desk).price(), Price::Free);
    assert_eq!((human(&desk).name(), human(&desk).provider()), ("human/anna", "human"));
    assert_eq!(human(&desk).timeout(), Some(Duration::from_secs(15 * 60)));
    let hasty = Human::new("bob", &HumanConfig { timeout_s: Some(30.0) }, desk.clone()).unwrap();
    assert_eq!(hasty.timeout(), Some(Duration::from_secs(30)));
    assert!(Human::new("a/b", &HumanConfig::default(), desk).is_err());
}
