//! "`agon show ID` gets `--round N`, `--seat S`, `--flips`, `--dissent`, `--timeline`".

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_core::{Debate, Event, Record};
use agon_report::{Kept, NoView, Style, View};
use insta::assert_snapshot;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

fn said(round: Option<u32>, seat: Option<&str>) -> View {
    View::Said { round, seat: seat.map(str::to_owned) }
}

struct Sample {
    document: Value,
    debate: Debate,
    records: Vec<Record>,
}

impl Sample {
    fn deep() -> Self {
        let (debate, document) = sample::evidence::deep();
        Self { document, debate, records: sample::converged().records }
    }

    fn kept(&self) -> Kept<'_> {
        Kept { document: &self.document, debate: &self.debate, records: &self.records }
    }

    fn text(&self, view: &View) -> String {
        view.text(&self.kept(), &PLAIN).unwrap()
    }

    fn json(&self, view: &View) -> Value {
        view.json(&self.kept()).unwrap()
    }
}

/// `--round N --seat S`, together.
#[test]
fn a_seat_in_a_round() {
    let sample = Sample::deep();
    let view = said(Some(2), Some("debater a"));
    assert_snapshot!(sample.text(&view), @"
    Who
      • debater-2: Debater A, debater, anthropic/beta

    Round 2: arguments
      Debater A (debater-2, anthropic/beta)  concede · major revision · confidence
        0.80 · 1.2 s
        Key points
          • All nine incidents were in the ledger
          • Two people know Rust; both want to do this

        Counterpoints
          • Debater B: Two quarters is a guess
            Evidence: the ledger was ported to Go in five weeks in 2022
        Revised position: Rewrite the ledger only, behind the present interface.

    Where they stood after round 2
      • Debater A: Only the ledger: it is 4,000 lines and all the incidents are
        there.
        Changed in this round.

    Who changed and why
      Debater A in round 2  after a cited point · toward the majority
        From: No. A rewrite stops features for two quarters; put types around the
          hot paths instead.
        To: Only the ledger: it is 4,000 lines and all the incidents are there.
        Cited: Debater C's point; the ledger was ported to Go in five weeks in 2022
        In its own words: All nine incidents were in the ledger
    ");
    let told = sample.json(&view);
    assert_eq!(told["seats"], json!(["debater-2"]));
    assert_eq!(told["said"][0]["value"]["revision"], "major_revision");
    assert_eq!(told["said"].as_array().unwrap().len(), 1);
    assert_eq!(told["held"][0]["changed"], true);
    assert_eq!(told["flips"][0]["evidenced"], true);
}

#[test]
fn a_round_has_everybody_and_where_that_left_them() {
    let sample = Sample::deep();
    let shown = sample.text(&said(Some(1), None));
    for words in [
        "Round 1: arguments",
        "Debater B (debater-1, openai/alpha)",
        "Round 1: the moderator's assessment",
        "Where they stood after round 1",
    ] {
        assert!(shown.contains(words), "{words:?} is missing in\n{shown}");
    }
    assert!(!shown.contains("Round 2") && !shown.contains("Who changed"), "{shown}");
    assert_eq!(sample.json(&said(Some(0), None))["said"].as_array().unwrap().len(), 3);
}

/// A seat goes by its id, its label, "Debater B" and its role, in capitals or not.
#[test]
fn a_seat_goes_by_many_names() {
    let sample = Sample::deep();
    for name in ["debater-1", "DEBATER-1", "B", "b", "Debater B", "debater b", " debater-1 "] {
        assert_eq!(sample.json(&said(None, Some(name)))["seats"], json!(["debater-1"]), "{name}");
    }
    assert_eq!(
        sample.json(&said(None, Some("Debater")))["seats"],
        json!(["debater-1", "debater-2", "debater-3"])
    );
    assert_eq!(sample.json(&said(None, Some("chair")))["said"].as_array().unwrap().len(), 1);
    let shown = sample.text(&said(None, Some("A")));
    let held = shown.split("Where it stood\n").nth(1).unwrap();
    assert!(held.contains("Debater A  P1     P1     P3*") && !held.contains("P2"), "{held}");
}

/// "unknown: an error listing what there is".
#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let sample = Sample::deep();
    let no = |view: View| {
        let why = view.text(&sample.kept(), &PLAIN).unwrap_err();
        assert_eq!(view.json(&sample.kept()).unwrap_err(), why);
        why
    };
    assert_snapshot!(no(said(Some(7), None)), @"there is no round 7 in this debate: there are rounds 0 to 2");
    assert_snapshot!(no(said(None, Some("judge-1"))), @"nobody is called `judge-1` in this debate: there are debater-1 (Debater B), debater-2 (Debater A), debater-3 (Debater C), moderator and chair");
    assert_snapshot!(no(said(Some(1), Some("chair"))), @"chair was not asked in round 1; it was in round 2");
    assert!(matches!(no(said(Some(9), Some("chair"))), NoView::Round { round: 9, .. }));
}

#[test]
fn who_changed_and_who_dissents() {
    let sample = Sample::deep();
    assert_snapshot!(sample.text(&View::Flips), @"
    Who changed and why
      Debater A in round 2  after a cited point · toward the majority
        From: No. A rewrite stops features for two quarters; put types around the
          hot paths instead.
        To: Only the ledger: it is 4,000 lines and all the incidents are there.
        Cited: Debater C's point; the ledger was ported to Go in five weeks in 2022
        In its own words: All nine incidents were in the ledger
    ");
    assert_snapshot!(sample.text(&View::Dissent), @"
    Dissent
      • Debater B (debater-1): Rewrite all of it: two languages in one service cost
        more than one rewrite.
        Held to the end with confidence 0.80; nobody answered the point about two
        build systems.

    What became of each first position
      • Debater A (debater-2): No. A rewrite stops features for two quarters; put
        types around the hot paths instead.
        Given up: major revision in round 2
      • Debater B (debater-1):
        Yes, rewrite it. The two worst outages of last year were data races.

        Plan
        1. Port the ledger.
        2. Port the rest.

            fn main() {}
        In the dissent: held to the end
      • Debater C (debater-3): Only the ledger: it is 4,000 lines and all the
        incidents are there.
        Adopted: it is the verdict
    ");
    assert_eq!(sample.json(&View::Flips)["flips"][0]["reason"], "All nine incidents were in the ledger");
    assert_eq!(sample.json(&View::Dissent)["positions"].as_array().unwrap().len(), 3);
    let old = Sample { document: sample::converged().document(), ..Sample::deep() };
    assert!(old.text(&View::Flips).contains("was not measured"));
}

/// "events of the log on one time axis".
#[test]
fn the_timeline_has_bars_side_by_side_and_says_where_the_time_went() {
    let mut log = sample::degraded();
    let outcome = log.debate.outcome.clone().unwrap();
    // The same debate, with a word from the floor before it closes.
    log.records.pop();
    log.debate = Debate::from_records(&log.records).unwrap();
    log.push(Event::Interjected { by: "Ada".into(), text: "Mind the \u{1b}[31mledger.".into() }, 700);
    log.close(outcome);
    let sample = Sample { document: log.document(), debate: log.debate, records: log.records };
    assert_snapshot!(sample.text(&View::Timeline), @"
                 0 s                                10 s

    First answers  3.7 s
      Debater B  █████                                    1.2 s, 869 tokens, 2 tries
      Debater A  █████████                                2.5 s, 869 tokens
      Debater C  ██████████████                           3.7 s, 869 tokens

    Round 1: arguments  3.8 s
      Debater A               █████                       1.2 s, 869 tokens
      Debater B               ██████████                  2.5 s, 869 tokens
      Debater C               ██████████✗███✗             3.8 s, timed out

    Round 1: the moderator's assessment  1.3 s
      Moderator                             █✗██✗         1.3 s, malformed

    Synthesis  1.3 s
      Chair                                     ██✗██✗    1.3 s, refused
    10 s, Ada: Mind the ledger.

    Where the time went
    Phase                                Time   Share  Calls  The longest
    First answers                        3.7 s  34%    3      Debater C, 3.7 s
    Round 1: arguments                   3.8 s  35%    3      Debater C, 3.8 s
    Round 1: the moderator's assessment  1.3 s  12%    1      Moderator, 1.3 s
    Synthesis                            1.3 s  12%    1      Chair, 1.3 s
    The calls took 17 s together; side by side they took 10 s.
    0.8 s passed between the phases.
    ");
    let told = sample.json(&View::Timeline);
    assert_eq!(told["interjections"][0]["by"], "Ada");
    assert_eq!(told["phases"][1]["calls"][2]["absent"], "timed_out");
    assert_eq!(told["phases"][0]["calls"][0]["attempts"], 2);
    assert_eq!(told["total_ms"], json!(sample.debate.at_ms));
}

/// Every view of every protocol, at any width: lines that fit, also of a debate that has just begun or broke off.
#[test]
fn every_view_fits_at_every_width_whatever_there_is() {
    let mut logs = vec![
        sample::converged(),
        sample::degraded(),
        sample::failed(),
        sample::arena::consensus(),
        sample::review::failed(),
    ];
    let mut cut = sample::converged();
    cut.records.truncate(6);
    cut.debate = Debate::from_records(&cut.records).unwrap();
    logs.push(cut);
    let mut opened = sample::converged();
    opened.records.truncate(1);
    opened.debate = Debate::from_records(&opened.records).unwrap();
    logs.push(opened);
    for log in logs {
        let document = log.document();
        let kept = Kept { document: &document, debate: &log.debate, records: &log.records };
        for (width, unicode) in [(24, false), (40, true), (80, true), (200, true)] {
            for view in [said(None, None), View::Flips, View::Dissent, View::Timeline] {
                let style = Style { color: false, width, unicode };
                let shown = view.text(&kept, &style).unwrap();
                let code = |line: &str| line.trim_start().starts_with("fn main");
                if view == View::Timeline {
                    for line in shown.lines().filter(|line| !code(line)) {
                        assert!(line.width() <= width.clamp(44, 100), "{width}: {line:?}");
                        assert!(unicode || line.is_ascii(), "{line:?}");
                    }
                }
                assert!(view.json(&kept).unwrap().is_object());
            }
        }
    }
}
