//! No byte of a receipt can be changed unnoticed.

use std::collections::BTreeSet;

use agon_core::seed::SeededDraw;
use agon_publish::receipts::{LoggedRecord, ReceiptVerification, verify};
use serde_json::Value;

use crate::sample_debate::{CONTEXT, SampleReceipt, check};

/// The part of the file that a byte belongs to. The file has one value per line, so the line decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileRegion {
    /// A brace or the name of a part.
    Outline,
    Receipt,
    Key,
    Event(u64),
    /// The braces around an event. A finding there may concern this event or the next.
    EventBraces(u64),
}

/// The region of each byte.
fn regions(text: &str) -> Vec<FileRegion> {
    let lines = text.split_inclusive('\n').enumerate();
    let mut regions: Vec<FileRegion> =
        lines.flat_map(|(number, line)| vec![line_region(number, line); line.len()]).collect();
    let name = "  \"public_key\":";
    let at = text.find(name).unwrap();
    regions[at..at + name.len()].fill(FileRegion::Outline);
    regions
}

/// The lines of a receipt: `{`, ten of the envelope, the key, `"log": [`, then four for each event.
fn line_region(line: usize, text: &str) -> FileRegion {
    match line {
        2..=9 => FileRegion::Receipt,
        11 => FileRegion::Key,
        _ if line > 12 && text.starts_with("      ") => FileRegion::Event((line as u64 - 13) / 4),
        _ if line > 12 && text.starts_with("    ") => FileRegion::EventBraces((line as u64 - 13) / 4),
        _ => FileRegion::Outline,
    }
}

/// Whether the findings name the region, and no other event.
fn names_region(result: &ReceiptVerification, region: FileRegion) -> bool {
    let findings = &result.findings;
    let event = |number: u64| findings.iter().any(|finding| finding.event == Some(number));
    let place = |start: &str| findings.iter().any(|finding| finding.place.starts_with(start));
    let blames_event = findings.iter().any(|finding| finding.event.is_some());
    // A file that is not JSON any more is reported with line and column.
    let position =
        findings.iter().any(|finding| finding.place.is_empty() && finding.why.starts_with("line "));
    match region {
        FileRegion::Outline => position || place("log") || place("public_key") || place("receipt"),
        FileRegion::Receipt => place("receipt") && !blames_event,
        FileRegion::Key => (place("public_key") || position) && !blames_event,
        FileRegion::Event(number) => {
            let others = findings.iter().filter_map(|finding| finding.event).any(|other| other != number);
            event(number) && !others
        }
        FileRegion::EventBraces(number) => {
            event(number) || event(number + 1) || (place("log") && !blames_event) || position
        }
    }
}

/// Replaces one byte and checks that this is noticed. A space that becomes a newline changes nothing.
fn check_change(sample: &SampleReceipt, region: FileRegion, at: usize, byte: u8, original: &Value) {
    let changed = sample.with_byte(at, byte);
    let result = verify(&changed, &sample.known(), &CONTEXT);
    let was = sample.text.as_bytes()[at];
    let parsed: Option<Value> = serde_json::from_slice(&changed).ok();
    if parsed.as_ref() == Some(original) {
        assert!(result.is_intact(), "byte {at}: {:?}", result.findings);
        assert!(was.is_ascii_whitespace() && byte.is_ascii_whitespace(), "only white space has no meaning");
        return;
    }
    let what = format!("byte {at} of {region:?}, {:?} to {:?}", char::from(was), char::from(byte));
    assert!(!result.is_intact(), "{what} was not noticed");
    assert!(names_region(&result, region), "{what}: {:#?}", result.findings);
}

/// A byte to put in place of another: its neighbour, a letter, a digit, the end of a string, or invalid UTF-8.
fn other_byte(was: u8, draw: &mut SeededDraw) -> u8 {
    let choices =
        [was ^ 1, b'a' + draw.below(26) as u8, b'0' + draw.below(10) as u8, b'"', b'\\', b' ', 0xff, b'}'];
    let other = choices[draw.below(choices.len())];
    if other == was { was ^ 2 } else { other }
}

#[test]
fn every_changed_byte_of_the_envelope_and_the_key_is_noticed_and_located() {
    let sample = SampleReceipt::new();
    let regions = regions(&sample.text);
    let original: Value = serde_json::from_str(&sample.text).unwrap();
    let mut draw = SeededDraw::new(1, "envelope");
    let end = regions.iter().rposition(|region| *region == FileRegion::Key).unwrap();
    for (at, was) in sample.text.as_bytes().iter().enumerate().take(end + 1) {
        check_change(&sample, regions[at], at, other_byte(*was, &mut draw), &original);
    }
}

#[test]
fn a_changed_byte_of_the_log_is_noticed_and_its_event_is_named() {
    let sample = SampleReceipt::new();
    let regions = regions(&sample.text);
    let original: Value = serde_json::from_str(&sample.text).unwrap();
    let mut draw = SeededDraw::new(2, "log");
    let begin = regions.iter().rposition(|region| *region == FileRegion::Key).unwrap() + 1;
    let bytes = sample.text.as_bytes();
    let mut events = BTreeSet::new();
    for _ in 0..2500 {
        let at = begin + draw.below(bytes.len() - begin);
        check_change(&sample, regions[at], at, other_byte(bytes[at], &mut draw), &original);
        if let FileRegion::Event(number) = regions[at] {
            events.insert(number);
        }
    }
    assert!(events.len() > 5);
}

#[test]
fn other_white_space_between_values_changes_nothing() {
    let sample = SampleReceipt::new();
    let compact: Value = serde_json::from_str(&sample.text).unwrap();
    for text in [compact.to_string(), sample.text.replace("\n", "\r\n\t")] {
        let result = check(&text, &sample.known());
        assert!(result.is_trusted(), "{:?}", result.findings);
    }
}

/// A stranger has no keyring to compare with.
#[test]
fn a_stranger_sees_which_of_the_key_and_its_id_was_changed() {
    let sample = SampleReceipt::new();
    let (key, id) = (sample.key.public().to_string(), sample.key.public().id());
    for (text, place, signer) in
        [(key, "public_key", None), (id.clone(), "receipt.signatures[0].keyid", Some(id))]
    {
        for at in sample.range_of(&text) {
            let byte = if sample.text.as_bytes()[at] == b'q' { b'r' } else { b'q' };
            let result = verify(&sample.with_byte(at, byte), &[], &CONTEXT);
            assert_eq!(result.findings.len(), 1, "{:#?}", result.findings);
            assert_eq!(result.findings[0].place, place);
            assert_eq!(result.signer.map(|signer| signer.id), signer);
        }
    }
}

#[test]
fn a_file_that_is_damaged_everywhere_is_checked_quickly_and_reported_briefly() {
    let sample = SampleReceipt::new();
    let mut receipt = sample.parsed();
    let record =
        |n: usize| LoggedRecord { hash: format!("{n:064x}"), body: format!("{{\"seq\":{n}}}\u{1b}[2J") };
    receipt.log = Some((0..30_000).map(record).collect());
    receipt.public_key = "ed25519:".repeat(10_000);
    let result = sample.check(&receipt);
    assert!(result.findings.len() >= 30_000);
    let text = result.text("r.json");
    assert!(text.lines().count() < 40 && text.contains("more; --json shows all of them"), "{text}");
}

#[test]
fn control_characters_in_a_file_do_not_reach_the_terminal() {
    let text = check(r#"{"receipt": {"\u001b[2J\u202e": 1}}"#, &[]).text("r.json");
    assert!(text.contains("\u{fffd}[2J\u{fffd}") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
}
