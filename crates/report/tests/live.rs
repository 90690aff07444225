//! The live view as plain lines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use agon_core::{
    Absence, Ask, Brief, Corrupt, Debate, Event, Invalid, Opt, Protocol, Record, Request, Seat, Step,
    Summary, Template,
};
use agon_report::{Live, Style};
use insta::assert_snapshot;
use sample::{ANSWERS, LABELLED, Log, argument, assessment};
use serde_json::Value;

/// A protocol that only has a table to show.
struct Tabled;

impl Protocol for Tabled {
    fn name(&self) -> &'static str {
        "deep"
    }
    fn about(&self) -> &'static str {
        ""
    }
    fn subject(&self) -> &'static str {
        "QUESTION"
    }
    fn options(&self) -> &'static [Opt] {
        &[]
    }
    fn roles(&self) -> &'static [&'static str] {
        &[]
    }
    fn templates(&self) -> &'static [Template] {
        &[]
    }
    fn seats(&self, _: &Request) -> Result<Vec<Seat>, Invalid> {
        Ok(Vec::new())
    }
    fn calls(&self, _: &Brief) -> RangeInclusive<u32> {
        0..=0
    }
    fn bound(&self, _: &Brief) -> u32 {
        0
    }
    fn next(&self, _: &Debate) -> Result<Step, Corrupt> {
        Err(Corrupt::Empty)
    }
    fn check(&self, _: &Debate, _: &Ask, _: &Value) -> Result<(), String> {
        Ok(())
    }
    fn summary(&self, debate: &Debate) -> Option<Summary> {
        let phase = debate.last_phase().filter(|phase| phase.name == "moderate")?;
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = vec![row(["debater", "stance", "confidence"]), row(["Debater A", "maintain", "0.80"])];
        let notes = vec![("Moderator Notes".to_owned(), vec!["nobody dodged".to_owned()])];
        Some(Summary { title: format!("After round {}", phase.round), rows, notes })
    }
}

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn read(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn live(paper: &Paper) -> Live {
    let style = Style { color: true, width: 80, unicode: true };
    Live::plain(&Tabled, style, Box::new(paper.clone()))
}

fn watched(records: &[Record]) -> String {
    let paper = Paper::default();
    let mut live = live(&paper);
    for record in records {
        live.record(record);
        if let Event::Sent { ask, attempt, .. } = &record.entry.event {
            live.delta(*ask, *attempt, "{\"stance\": \"main");
        }
    }
    paper.read()
}

fn eventful() -> Log {
    let mut log = Log::open("deep");
    let first = log.ask("answer", 0, &[("debater-1", None), ("debater-2", None), ("debater-3", None)]);
    (0..3).for_each(|n| log.sent(first + n, 1));
    log.said(first + 2, ANSWERS[2], None);
    log.fault(first + 1, 1, Absence::Unreachable, "rate limited");
    log.sent(first + 1, 2);
    log.said(first, ANSWERS[0], None);
    log.said(first + 1, "\u{1b}[31mNo.\u{1b}[0m A rewrite stops features.\n\nSecond paragraph.", None);
    log.push(Event::Interjected { by: "Ada".into(), text: "Mind the\ninvoices.".into() }, 5);
    let first = log.ask("debate", 1, &LABELLED);
    (0..3).for_each(|n| log.sent(first + n, 1));
    log.fault(first, 1, Absence::Unreachable, "anthropic/beta on debater-2 answered with status 503.");
    log.sent(first, 2);
    log.said(
        first,
        "",
        Some(argument("maintain", "no_change", 0.8, &["I am Beta by Anthropic and I say it works"])),
    );
    log.said(
        first + 1,
        "",
        Some(argument("concede", "major_revision", 0.6, &["All nine incidents were in the ledger"])),
    );
    log.absent(first + 2, Absence::TimedOut, "gemini/gamma gave no answer within 120 s");
    let ask = log.ask("moderate", 1, &[("moderator", None)]);
    log.sent(ask, 1);
    log.said(ask, "", Some(assessment(0.55, 0.8)));
    let ask = log.ask("synthesis", 0, &[("chair", None)]);
    log.sent(ask, 1);
    log
}

#[test]
fn a_debate_in_a_pipe_is_plain_lines() {
    let shown = watched(&eventful().records);
    assert!(shown.chars().all(|char| char == '\n' || !char.is_control()), "{shown:?}");
    assert_snapshot!(shown, @"
    Should a team of four rewrite its billing service in Rust this year?
    deep · 3 debaters, moderator, chair · k3v9q2

    3 debaters answer, each on its own
      ✓ debater-3   1.2 s  Only the ledger: it is 4,000 lines and all the incidents…
      ↻ debater-2: rate limited, trying again
      ✓ debater-1   2.9 s  Yes, rewrite it. The two worst outages of last year were…
      ✓ debater-2   4.1 s  No. A rewrite stops features.
      Ada: Mind the invoices.

    Round 1 of 3 - 3 debaters argue
      ↻ Debater A: [masked] on [masked] answered with status 503, trying again
      ✓ Debater A   1.6 s  maintain; I am [masked] by [masked] and I say it works;…
      ✓ Debater B   2.9 s  concede; All nine incidents were in the ledger; Debater…
      ✗ Debater C  timed out: [masked] gave no answer within 120 s

    Round 1 of 3 - the moderator measures how far they agree
      ✓ Moderator   1.2 s  Who maintains the Rust code when its two authors are awa…
        After round 1
        debater    stance    confidence
        Debater A  maintain  0.80
        Moderator Notes
        • nobody dodged

    The chair writes the verdict
    ");
}

#[test]
fn once_labels_exist_no_seat_and_no_model_is_shown() {
    let shown = watched(&eventful().records);
    let (_, labelled) = shown.split_once("Round 1 of 3").unwrap();
    for name in [
        "debater-1",
        "debater-2",
        "debater-3",
        "anthropic",
        "Anthropic",
        "Beta",
        "beta",
        "gemini",
        "gamma",
        "alpha",
    ] {
        assert!(!labelled.contains(name), "{name} in {labelled}");
    }
}

#[test]
fn records_that_do_not_follow_and_words_for_nobody_are_left_aside() {
    let log = eventful();
    let paper = Paper::default();
    let mut live = live(&paper);
    live.delta(99, 1, "nobody");
    live.record(&log.records[3]);
    assert_eq!(paper.read(), "");
    live.record(&log.records[0]);
    live.record(&log.records[3]);
    live.finish();
    assert_eq!(paper.read().lines().count(), 2);
}

#[test]
fn a_live_view_can_move_to_another_thread() {
    fn moves<T: Send>(_: &T) {}
    moves(&live(&Paper::default()));
}
