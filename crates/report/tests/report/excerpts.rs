//! Parts of a stored debate.

use agon_core::{Debate, Event};
use agon_report::{DebateExcerpt, ExcerptError, TerminalStyle};
use insta::assert_snapshot;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::protocols::played;
use crate::samples::{self, DebateLog, PLAIN, ReadDebate};

fn said(round: Option<u32>, seat: Option<&str>) -> DebateExcerpt {
    DebateExcerpt::Said { round, seat: seat.map(str::to_owned) }
}

fn text(log: &DebateLog, excerpt: &DebateExcerpt) -> String {
    excerpt.text(&log.read().stored(&log.records), &PLAIN).unwrap()
}

fn document(log: &DebateLog, excerpt: &DebateExcerpt) -> Value {
    excerpt.json(&log.read().stored(&log.records)).unwrap()
}

#[test]
fn one_seat_in_one_round() {
    let log = samples::converged();
    let excerpt = said(Some(2), Some("debater-2"));
    assert_snapshot!(text(&log, &excerpt), @"
    Seats
      • debater-2: Debater B, debater, anthropic/beta

    Round 2: arguments
      Debater B (debater-2, anthropic/beta)  stance: concede · revision: major
        revision · confidence 0.80 · 1.2 s
        Key points
          • [B3] All nine incidents were in the ledger
          • [B4] Two people know Rust; both want to do this

        Counterpoints
          • [X5] Debater B: Two quarters is a guess
            Evidence: the ledger was ported to Go in five weeks in 2022

        Revised position [BR2]
          Only the ledger: it is 4,000 lines and all the incidents are there.

    Positions after round 2
      • Debater B: Only the ledger: it is 4,000 lines and all the incidents are
        there.
        Changed in this round.

    Who changed and why
      Debater B in round 2
        From: Put types around the hot paths.
        To: Only the ledger: it is 4,000 lines and all the incidents are there.
        Counted with: Rewrite the ledger only.
        Named: nothing
    ");
    let document = document(&log, &excerpt);
    assert_eq!(document["seats"], json!(["debater-2"]));
    assert_eq!(document["said"][0]["value"]["revision"], "major_revision");
    assert_eq!(document["said"].as_array().unwrap().len(), 1);
    assert_eq!(document["held"][0]["changed"], true);
    assert_eq!(document["flips"][0]["seat"], "debater-2");
}

/// Every id that a text cites is beside what it names, with what does not verify, and no stop is doubled.
#[test]
fn a_transcript_shows_ids_and_single_stops() {
    let log = samples::converged();
    let mut read = log.read();
    let quarters = read.view.citable.iter_mut().find(|text| text.id == "X5").unwrap();
    quarters.remark = Some("evidence unverified");
    let text = said(Some(2), Some("debater-2")).text(&read.stored(&log.records), &PLAIN).unwrap();
    assert!(text.contains("[X5] (evidence unverified) Debater B: Two quarters is a guess"), "{text}");
    let quarters = read.view.citable.iter_mut().find(|text| text.id == "X5").unwrap();
    quarters.id.clear();
    let text = said(Some(2), Some("debater-2")).text(&read.stored(&log.records), &PLAIN).unwrap();
    assert!(
        text.contains(" (evidence unverified) Debater B: Two quarters") && !text.contains("[]"),
        "{text}"
    );
    let long = read.markdown();
    assert!(long.contains("*[B0]"), "a first answer has an id, too: {long}");
    assert!(!long.contains(".. "), "{long}");
}

/// Two seats with one position have one name for it, and each its own words.
#[test]
fn what_a_seat_holds_is_in_its_own_words() {
    let log = samples::converged();
    let mut read = log.read();
    for (place, words) in [(1, "The ledger, and soon."), (2, "Rewrite the ledger only.")] {
        read.view.positions.rounds[2].stands[place].words = Some(words.to_owned());
    }
    let text = said(Some(2), Some("debater")).text(&read.stored(&log.records), &PLAIN).unwrap();
    let held = text.split("Positions after round 2\n").nth(1).unwrap();
    assert_snapshot!(held, @"
      • Debater C: Rewrite all of it.
      • Debater B: The ledger, and soon.
        Changed in this round.
      • Debater A: Rewrite the ledger only.

    Who changed and why
      Debater B in round 2
        From: Put types around the hot paths.
        To: The ledger, and soon.
        Counted with: Rewrite the ledger only.
        Named: nothing
    ");
}

#[test]
fn a_round_has_everybody_and_where_they_stood_after_it() {
    let log = samples::converged();
    let shown = text(&log, &said(Some(1), None));
    for words in [
        "Round 1: arguments",
        "(debater-1, openai/alpha)",
        "Round 1: the moderator's assessment",
        "Positions after round 1",
    ] {
        assert!(shown.contains(words), "{words:?} is missing in\n{shown}");
    }
    assert!(!shown.contains("Round 2") && !shown.contains("Who changed"), "{shown}");
    assert_eq!(document(&log, &said(Some(0), None))["said"].as_array().unwrap().len(), 3);
}

#[test]
fn a_seat_goes_by_many_names() {
    let log = samples::converged();
    let labels = log.debate.outcome.as_ref().unwrap().labels.clone();
    let (label, _) = labels.iter().find(|(_, seat)| *seat == "debater-1").unwrap();
    let labelled =
        [label.clone(), label.to_lowercase(), format!("Debater {label}"), format!("debater {label}")];
    for name in ["debater-1", "DEBATER-1", " debater-1 "].map(str::to_owned).into_iter().chain(labelled) {
        assert_eq!(document(&log, &said(None, Some(&name)))["seats"], json!(["debater-1"]), "{name}");
    }
    let debaters = json!(["debater-1", "debater-2", "debater-3"]);
    assert_eq!(document(&log, &said(None, Some("Debater")))["seats"], debaters);
    assert_eq!(document(&log, &said(None, Some("chair")))["said"].as_array().unwrap().len(), 1);
    let shown = text(&log, &said(None, Some("debater-2")));
    assert_snapshot!(shown.split("Positions by round\n").nth(1).unwrap(), @"
                 start  R1     R2
      Debater B  #2     #2     #3'~
      #2   Put types around the hot paths.
      #3   Rewrite the ledger only.
      #3'  Only the ledger: it is 4,000 lines and all the incidents are there.
           (Debater B, last)
      ~ changed, naming nothing; ' in other words

    Who changed and why
      Debater B in round 2
        From: Put types around the hot paths.
        To: Only the ledger: it is 4,000 lines and all the incidents are there.
        Counted with: Rewrite the ledger only.
        Named: nothing
    ");
}

#[test]
fn an_excerpt_that_does_not_exist_is_answered_with_those_that_do() {
    let log = samples::converged();
    let read = log.read();
    let stored = read.stored(&log.records);
    let error = |excerpt: DebateExcerpt| {
        let error = excerpt.text(&stored, &PLAIN).unwrap_err();
        assert_eq!(excerpt.json(&stored).unwrap_err(), error);
        error
    };
    assert_snapshot!(error(said(Some(7), None)), @"there is no round 7 in this debate: there are rounds 0 to 2");
    assert_snapshot!(error(said(None, Some("judge-1"))), @"no seat is called `judge-1` in this debate: there are debater-1 (Debater C), debater-2 (Debater B), debater-3 (Debater A), moderator and chair");
    assert_snapshot!(error(said(Some(1), Some("chair"))), @"chair was not asked in round 1; it was asked in round 2");
    assert!(matches!(error(said(Some(9), Some("chair"))), ExcerptError::NoRound { round: 9, .. }));
}

#[test]
fn changes_and_dissent_have_their_reasons() {
    let log = samples::converged();
    let mut read = log.read();
    read.evidence.flips[0].reason = Some("All nine incidents were in the ledger".into());
    let flips = DebateExcerpt::Flips.text(&read.stored(&log.records), &PLAIN).unwrap();
    assert_snapshot!(flips, @"
    Who changed and why
      Debater B in round 2
        From: Put types around the hot paths.
        To: Only the ledger: it is 4,000 lines and all the incidents are there.
        Counted with: Rewrite the ledger only.
        Named: nothing
        In its own words: All nine incidents were in the ledger
    ");
    assert_snapshot!(text(&log, &DebateExcerpt::Dissent), @"
    Dissent
      • Debater C (debater-1):
        Yes, rewrite it. The two worst outages of last year were data races.

        Plan
        1. Port the ledger.
        2. Port the rest.

            fn main() {}
        Rejected by the chair: Nothing shows that the rest needs it. Its holder's
        reason: All nine incidents were in the ledger

    What became of each first position
      • Debater A (debater-3): Only the ledger: it is 4,000 lines and all the
        incidents are there.
        Adopted: the chair adopts its holder's final position: All incidents are
        there.
      • Debater B (debater-2): No. A rewrite stops features for two quarters; put
        types around the hot paths instead.
        Given up: in round 2, citing nothing
      • Debater C (debater-1):
        Yes, rewrite it. The two worst outages of last year were data races.

        Plan
        1. Port the ledger.
        2. Port the rest.

            fn main() {}
        Minority: the chair rejects its holder's final position: Nothing shows that
        the rest needs it.
    ");
    let flips = DebateExcerpt::Flips.json(&read.stored(&log.records)).unwrap();
    assert_eq!(flips["flips"][0]["reason"], "All nine incidents were in the ledger");
    assert_eq!(document(&log, &DebateExcerpt::Dissent)["positions"].as_array().unwrap().len(), 3);
}

#[test]
fn the_timeline_has_bars_side_by_side_and_says_where_the_time_went() {
    let mut log = samples::degraded();
    let outcome = log.debate.outcome.clone().unwrap();
    // The same debate, with an interjection before it closes.
    log.records.pop();
    log.debate = Debate::from_records(&log.records).unwrap();
    log.push(Event::Interjected { by: "Ada".into(), text: "Mind the \u{1b}[31mledger.".into() }, 700);
    log.push(Event::Closed { outcome: Box::new(outcome) }, 5);
    assert_snapshot!(text(&log, &DebateExcerpt::Timeline), @"
                 0 s                                12 s

    First answers  3.7 s
      Debater C  █████                                    1.2 s, 869 tokens, 2 tries
      Debater B  █████████                                2.5 s, 869 tokens
      Debater A  █████████████                            3.7 s, 869 tokens

    Round 1: arguments  3.8 s
      Debater C              █████                        1.2 s, 869 tokens
      Debater B              █████████                    2.5 s, 869 tokens
      Debater A              █████████✗██✗                3.8 s, timed out

    Round 1: the moderator's assessment  1.3 s
      Moderator                          █✗██✗            1.3 s, malformed

    Synthesis  1.3 s
      Chair                                  █✗██✗        1.3 s, refused

    Synthesis  1.2 s
      Chair                                      █████    1.2 s, 869 tokens
    12 s, Ada: Mind the ledger.
    ");
    let document = document(&log, &DebateExcerpt::Timeline);
    assert_eq!(document["interjections"][0]["by"], "Ada");
    assert_eq!(
        document["phases"][1]["calls"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|call| call["absent"] == "timed_out")
            .count(),
        1
    );
    assert_eq!(document["phases"][0]["calls"][0]["attempts"], 2);
    assert_eq!(document["total_ms"], json!(log.debate.at_ms));
}

#[test]
fn every_timeline_fits_at_every_width() {
    let mut logs = vec![samples::converged().records, samples::degraded().records, samples::failed().records];
    logs.push(logs[0][..6].to_vec());
    logs.push(logs[0][..1].to_vec());
    let deep = logs.into_iter().map(|records| (samples::deep(), records));
    for (protocol, records) in
        deep.chain(agon_protocols::all().map(|protocol| (protocol, played(protocol, |_| false))))
    {
        let read = ReadDebate::new(protocol, Debate::from_records(&records).unwrap());
        for (width, unicode) in [(24, false), (40, true), (80, true), (200, true)] {
            let style = TerminalStyle { color: false, width, unicode };
            let shown = DebateExcerpt::Timeline.text(&read.stored(&records), &style).unwrap();
            for line in shown.lines() {
                assert!(line.width() <= width.clamp(44, 100), "{width}: {line:?}");
                assert!(unicode || line.is_ascii(), "{line:?}");
            }
            for excerpt in [said(None, None), DebateExcerpt::Flips, DebateExcerpt::Dissent] {
                assert!(excerpt.text(&read.stored(&records), &style).is_ok());
                assert!(excerpt.json(&read.stored(&records)).unwrap().is_object());
            }
        }
    }
}
