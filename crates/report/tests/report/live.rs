//! The live view as plain lines.

use std::io::Write;
use std::sync::{Arc, Mutex};

use agon_core::{AbsenceReason, Event, LogRecord};
use agon_report::{LiveView, TerminalStyle};
use insta::assert_snapshot;
use serde_json::json;

use crate::samples::{DebateLog, answer, argument, assessment, brief, deep};

/// Lines that were written.
#[derive(Clone, Default)]
pub(crate) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl SharedBuffer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn live_view(buffer: &SharedBuffer) -> LiveView {
    let style = TerminalStyle { color: true, width: 80, unicode: true };
    LiveView::plain(deep(), style, Box::new(buffer.clone()))
}

fn watched(records: &[LogRecord]) -> String {
    let buffer = SharedBuffer::default();
    let mut live = live_view(&buffer);
    for record in records {
        live.record(record);
        if let Event::Sent { ask, attempt, .. } = &record.entry.event {
            live.delta(*ask, *attempt, "{\"stance\": \"main");
        }
    }
    buffer.text()
}

/// A debate that is interrupted by faults, a person and an absence, and is still running.
fn eventful() -> DebateLog {
    let mut log = DebateLog::open(brief(&[]));
    let asks = log.next_phase();
    asks.iter().for_each(|ask| log.sent(ask, 1));
    log.said(&asks[2], answer(&asks[2]));
    log.fault(&asks[1], 1, AbsenceReason::Unreachable, "rate limited");
    log.sent(&asks[1], 2);
    log.said(&asks[0], answer(&asks[0]));
    log.said(&asks[1], json!("\u{1b}[31mNo.\u{1b}[0m A rewrite stops features.\n\nSecond paragraph."));
    log.push(Event::Interjected { by: "Ada".into(), text: "Mind the\ninvoices.".into() }, 5);
    let asks = log.next_phase();
    asks.iter().for_each(|ask| log.sent(ask, 1));
    log.fault(
        &asks[0],
        1,
        AbsenceReason::Unreachable,
        "anthropic/beta on debater-2 answered with status 503.",
    );
    log.sent(&asks[0], 2);
    log.said(&asks[0], argument("maintain", None, 0.8, &["I am Beta by Anthropic and I say it works"]));
    log.said(
        &asks[1],
        argument("concede", Some("The ledger."), 0.6, &["All nine incidents were in the ledger"]),
    );
    log.absent(&asks[2], AbsenceReason::TimedOut, "gemini/gamma gave no answer within 120 s");
    let asks = log.next_phase();
    log.sent(&asks[0], 1);
    log.said(&asks[0], assessment(0.55, 0.8));
    log.next_phase();
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
      ↻ Debater C: [masked] on [masked] answered with status 503, trying again
      ✓ Debater C   1.6 s  I am [masked] by [masked] and I say it works
      ✓ Debater B   2.9 s  The ledger
      ✗ Debater A  timed out: [masked] gave no answer within 120 s

    Round 1 of 3 - the moderator measures how far they agree
      ✓ Moderator   1.2 s  Who maintains the Rust code when its two authors are away
        Round 1 of 3, agreement 0.55, new points 0.80
        Debater  Stance    Revision          Confidence
        A        absent    position carried  -
        B        concede   major revision    0.60
        C        maintain  no change         0.80

    Round 2 of 3 - 3 debaters argue
    ");
}

#[test]
fn no_seat_and_no_model_is_shown_once_there_are_labels() {
    let shown = watched(&eventful().records);
    let (_, labelled) = shown.split_once("Round 1 of 3").unwrap();
    for name in ["debater-", "anthropic", "Anthropic", "Beta", "beta", "gemini", "gamma", "alpha"] {
        assert!(!labelled.contains(name), "{name} in {labelled}");
    }
}

#[test]
fn records_that_do_not_follow_and_words_of_unknown_asks_are_ignored() {
    let log = eventful();
    let buffer = SharedBuffer::default();
    let mut live = live_view(&buffer);
    live.delta(99, 1, "nobody");
    live.record(&log.records[3]);
    assert_eq!(buffer.text(), "");
    live.record(&log.records[0]);
    live.record(&log.records[3]);
    live.finish();
    assert_eq!(buffer.text().lines().count(), 2);
}

#[test]
fn a_live_view_can_move_to_another_thread() {
    fn moves<T: Send>(_: &T) {}
    moves(&live_view(&SharedBuffer::default()));
}
