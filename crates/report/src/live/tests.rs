//! The live view on a terminal in memory.

use super::*;

use agon_core::{AbsenceReason, Brief, CallUsage, DebateLimits, Seat};
use indicatif::InMemoryTerm;
use serde_json::json;

fn opened() -> (Debate, LogRecord) {
    let seat = |id: &str| Seat { id: id.into(), role: "debater".into(), model: "openai/alpha".into() };
    let brief = Brief {
        version: agon_core::LOG_VERSION,
        id: "k3v9q2".into(),
        protocol: "deep".into(),
        question: "Why?".into(),
        files: Vec::new(),
        options: serde_json::Map::new(),
        seats: vec![seat("debater-1"), seat("debater-2")],
        seed: 1,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: String::new(),
        parent: None,
    };
    Debate::open(brief).unwrap()
}

fn asked(id: u32, seat: &str) -> AskRecord {
    let (seat, model, prompt) = (seat.into(), "openai/alpha".into(), String::new());
    AskRecord { id, seat, model, label: None, about: None, schema: None, repeats: None, prompt }
}

#[test]
fn spinners_show_who_is_thinking_and_the_words_as_they_stream() {
    let term = InMemoryTerm::new(20, 60);
    let style = TerminalStyle { color: true, width: 60, unicode: true };
    let target = ProgressDrawTarget::term_like(Box::new(term.clone()));
    let mut live = LiveView::on(agon_protocols::find("deep").unwrap(), style, LiveScreen::terminal(target));
    let (mut debate, record) = opened();
    live.record(&record);
    let asks = vec![asked(1, "debater-1"), asked(2, "debater-2")];
    let mut push = |live: &mut LiveView, event: Event| live.record(&debate.push(event, 1_500).unwrap());
    push(&mut live, Event::Asked { phase: "debate".into(), round: 1, asks });
    for ask in [1, 2] {
        push(
            &mut live,
            Event::Sent {
                ask,
                attempt: 1,
                model: "openai/alpha".into(),
                worst_usd: None,
                worst_tokens: 0,
                errand: false,
            },
        );
    }
    live.delta(1, 1, "{\"stance\": \"maintain\", \"key_points\": [\"It costs\u{1b}[31m mo");
    live.delta(2, 7, "from an attempt that was given up");
    // Somebody else has the whole terminal, and then the spinners are back.
    live.aside(|| {
        let shown = term.contents();
        assert!(shown.ends_with("Round 1 of 3 - 2 debaters argue"), "{shown}");
        indicatif::TermLike::write_line(&term, "a person types").unwrap();
    });
    let shown = term.contents();
    assert!(shown.contains("Round 1 of 3 - 2 debaters argue\na person types\n"), "{shown}");
    assert!(shown.lines().any(|line| line.contains("debater-1") && line.contains("It costs mo")), "{shown}");
    assert!(
        shown.contains("debater-2") && !shown.contains("given up") && !shown.contains("key_points"),
        "{shown}"
    );

    let reply = Reply::Said {
        text: "Yes.".into(),
        value: None,
        model: "m".into(),
        usage: CallUsage::default(),
        cut_off: false,
        shortened: None,
    };
    push(&mut live, Event::Replied { ask: 1, reply });
    push(
        &mut live,
        Event::Replied {
            ask: 2,
            reply: Reply::Absent { why: AbsenceReason::Refused, detail: String::new() },
        },
    );
    live.finish();
    insta::assert_snapshot!(term.contents(), @"
    Why?
    deep · 2 debaters · k3v9q2

    Round 1 of 3 - 2 debaters argue
    a person types
      ✓ debater-1   0.0 s  Yes.
      ✗ debater-2  would not answer
    ");
}

#[test]
fn a_debate_is_told_in_a_paragraph_for_each_phase_and_reply() {
    let mut narrator = DebateNarrator::new(agon_protocols::find("deep").unwrap());
    let (mut debate, record) = opened();
    assert_eq!(narrator.tell(&record), None);
    let mut tell = |event: Event| narrator.tell(&debate.push(event, 1_500).unwrap());
    let labelled = AskRecord { label: Some("Debater A".into()), ..asked(1, "debater-1") };
    let asks = vec![labelled, asked(2, "debater-2")];
    let phase = tell(Event::Asked { phase: "debate".into(), round: 1, asks });
    assert_eq!(phase.as_deref(), Some("**Round 1 of 3 - 2 debaters argue**\n\n"));
    let text = format!("<think>hm</think>I am Alpha.\u{1b}[31m It costs {}", "more ".repeat(200));
    let (model, usage, value) = ("m".to_owned(), CallUsage::default(), None);
    let reply = Reply::Said { text, value, model, usage, cut_off: false, shortened: None };
    let block = tell(Event::Replied { ask: 1, reply }).unwrap();
    assert!(block.starts_with("Debater A: I am ") && block.ends_with("more [...]\n\n"), "{block}");
    assert!(!block.contains("hm") && !block.contains("Alpha") && !block.contains('\u{1b}'), "{block}");
    let reply = Reply::Absent { why: AbsenceReason::TimedOut, detail: "no answer in 60 s.".into() };
    let block = tell(Event::Replied { ask: 2, reply });
    assert_eq!(block.as_deref(), Some("debater-2 timed out: no answer in 60 s\n\n"));
}

#[test]
fn a_structured_reply_is_shown_by_its_main_sentence() {
    for (value, shown) in [
        (json!({"analysis": "Notes first.", "stance": "maintain", "position": "Use **tabs**."}), "Use tabs"),
        (
            json!({"analysis": "Notes first.", "answers": [{"id": "C1", "response": "No, it is not."}], "key_points": ["It is cheap."], "revised_position": null}),
            "It is cheap",
        ),
        (
            json!({"findings": [{"id": "F1", "location": "a.rs:3", "claim": "It leaks memory."}], "verdict": "FAIL"}),
            "It leaks memory",
        ),
        (
            json!({"analysis": "\u{7406}\u{7531}", "vote": "FOR", "reason": "\u{7b80}\u{5355}"}),
            "\u{7b80}\u{5355}",
        ),
        (json!({"analysis": "Notes first.", "vote": "FOR", "sure": 0.9}), "FOR"),
        (json!({"restatement": "They say no."}), "They say no"),
        (json!({}), ""),
    ] {
        assert_eq!(first_words("", Some(&value)), shown, "{value}");
    }
}

#[test]
fn while_a_person_is_asked_the_others_answers_of_the_phase_are_held_back() {
    #[derive(Clone, Default)]
    struct SharedOutput(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
    impl Write for SharedOutput {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let out = SharedOutput::default();
    let style = TerminalStyle { color: false, width: 60, unicode: true };
    let deep = agon_protocols::find("deep").unwrap();
    let mut live = LiveView::plain(deep, style, Box::new(out.clone()));
    let shown = || String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let table = |debate: &Debate| {
        let view = deep.view(debate).unwrap();
        let evidence = agon_measure::evidence(debate, &view.positions);
        let source = crate::ReportSource { info: deep.info(), debate, view: &view, evidence: &evidence };
        crate::live_table(&source).into_string()
    };
    let (mut debate, record) = opened();
    live.record(&record);
    let person = AskRecord { model: "human/me".into(), ..asked(2, "debater-2") };
    let asks = vec![asked(1, "debater-1"), person];
    live.record(&debate.push(Event::Asked { phase: "answer".into(), round: 0, asks }, 0).unwrap());
    let reply = |text: &str| {
        let (text, model, usage) = (text.to_owned(), "m".to_owned(), CallUsage::default());
        Reply::Said { text, value: None, model, usage, cut_off: false, shortened: None }
    };
    live.record(&debate.push(Event::Replied { ask: 1, reply: reply("The model's answer.") }, 1).unwrap());
    assert!(!shown().contains("The model's answer"), "{}", shown());
    let page = table(&debate);
    assert!(
        !page.contains("The model's answer") && page.contains("shown when every person has answered"),
        "{page}"
    );
    assert_eq!(page.matches("stream").count(), 1, "the script writes into the person's cell only: {page}");
    live.record(&debate.push(Event::Replied { ask: 2, reply: reply("Mine.") }, 2).unwrap());
    assert!(shown().contains("The model's answer.") && shown().contains("Mine."), "{}", shown());
    let page = table(&debate);
    assert!(
        page.contains("The model's answer") && !page.contains("shown when every person has answered"),
        "{page}"
    );
}
