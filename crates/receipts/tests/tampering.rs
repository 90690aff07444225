//! "`agon verify FILE` ... says exactly what was changed when a single byte was."
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod table;

use agon_core::seed::Draw;
use agon_receipts::file::{Link, Receipt};
use agon_receipts::{Verification, verify};
use serde_json::Value;
use table::{Signed, means};

/// Which part of the file a byte is of, told by its line alone: the file has one value a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    /// A brace, or the name of a part.
    File,
    Receipt,
    Key,
    Event(u64),
    /// The braces around an event: what is wrong there may be said of this one or of the next.
    Around(u64),
}

/// The region of each byte.
fn regions(text: &str) -> Vec<Region> {
    let lines = text.split_inclusive('\n').enumerate();
    let mut regions: Vec<Region> =
        lines.flat_map(|(number, line)| vec![region(number, line); line.len()]).collect();
    let name = "  \"public_key\":";
    let at = text.find(name).unwrap();
    regions[at..at + name.len()].fill(Region::File);
    regions
}

/// The lines of a receipt: `{`, the envelope's ten, the key, `"log": [`, then four for each event.
fn region(line: usize, text: &str) -> Region {
    match line {
        2..=9 => Region::Receipt,
        11 => Region::Key,
        _ if line > 12 && text.starts_with("      ") => Region::Event((line as u64 - 13) / 4),
        _ if line > 12 && text.starts_with("    ") => Region::Around((line as u64 - 13) / 4),
        _ => Region::File,
    }
}

/// Whether what is told is about the region, and blames no other.
fn names(told: &Verification, region: Region) -> bool {
    let event = |number: u64| told.findings.iter().any(|finding| finding.event == Some(number));
    let place = |start: &str| told.findings.iter().any(|finding| finding.place.starts_with(start));
    let blamed = told.findings.iter().any(|finding| finding.event.is_some());
    // Between two values, what is wrong may be said of the file as a whole, with line and column.
    let whole =
        told.findings.iter().any(|finding| finding.place.is_empty() && finding.why.starts_with("line "));
    match region {
        Region::File => whole || place("log") || place("public_key") || place("receipt"),
        Region::Receipt => place("receipt") && !blamed,
        Region::Key => place("public_key") && !blamed,
        Region::Event(number) => {
            let others =
                told.findings.iter().filter_map(|finding| finding.event).any(|other| other != number);
            event(number) && !others
        }
        Region::Around(number) => event(number) || event(number + 1) || (place("log") && !blamed) || whole,
    }
}

/// Checks one change. Whether the file still says the same, as it does when a space becomes a newline.
fn check(signed: &Signed, region: Region, place: usize, byte: u8, same: &Value) -> bool {
    let changed = signed.with(place, byte);
    let told = verify(&changed, &signed.known(), &means(0));
    let was = signed.text.as_bytes()[place];
    let parsed: Option<Value> = serde_json::from_slice(&changed).ok();
    if parsed.as_ref() == Some(same) {
        assert!(told.is_intact(), "byte {place}: {:?}", told.findings);
        return true;
    }
    let what = format!("byte {place} of {region:?}, {:?} to {:?}", char::from(was), char::from(byte));
    assert!(!told.is_intact(), "{what} was not noticed");
    assert!(names(&told, region), "{what}: {:#?}", told.findings);
    false
}

/// A byte to put in the place of another: its neighbour, a letter, what ends a text, what is no UTF-8.
fn another(was: u8, draw: &mut Draw) -> u8 {
    let choices =
        [was ^ 1, b'a' + draw.below(26) as u8, b'0' + draw.below(10) as u8, b'"', b'\\', b' ', 0xff, b'}'];
    let other = choices[draw.below(choices.len())];
    if other == was { was ^ 2 } else { other }
}

#[test]
fn every_changed_byte_of_the_envelope_and_the_key_is_noticed_and_its_place_is_named() {
    let signed = Signed::new();
    let regions = regions(&signed.text);
    let same: Value = serde_json::from_str(&signed.text).unwrap();
    let mut draw = Draw::new(1, "envelope");
    let end = regions.iter().rposition(|region| *region == Region::Key).unwrap();
    let bytes = signed.text.as_bytes();
    let mut alike = 0;
    for (place, was) in bytes.iter().enumerate().take(end + 1) {
        alike += u32::from(check(&signed, regions[place], place, another(*was, &mut draw), &same));
    }
    println!("{} places, {alike} of which say the same", end + 1);
}

#[test]
fn a_changed_byte_of_the_log_is_noticed_and_its_event_is_named() {
    let signed = Signed::new();
    let regions = regions(&signed.text);
    let same: Value = serde_json::from_str(&signed.text).unwrap();
    let mut draw = Draw::new(2, "log");
    let begin = regions.iter().rposition(|region| *region == Region::Key).unwrap() + 1;
    let bytes = signed.text.as_bytes();
    let (mut alike, mut seen) = (0, std::collections::BTreeSet::new());
    for _ in 0..2500 {
        let place = begin + draw.below(bytes.len() - begin);
        alike += u32::from(check(&signed, regions[place], place, another(bytes[place], &mut draw), &same));
        if let Region::Event(number) = regions[place] {
            seen.insert(number);
        }
    }
    println!("of {} bytes; {} events, {alike} changes say the same", bytes.len() - begin, seen.len());
    assert!(seen.len() > 5);
}

/// White space between values is not part of what is said.
#[test]
fn a_file_that_says_the_same_in_other_white_space_is_intact() {
    let signed = Signed::new();
    let compact: Value = serde_json::from_str(&signed.text).unwrap();
    for text in [compact.to_string(), signed.text.replace("\n", "\r\n\t")] {
        let told = verify(text.as_bytes(), &signed.known(), &means(0));
        assert!(told.is_trusted(), "{:?}", told.findings);
    }
}

/// A stranger has no key to compare with, so that the file's own parts must tell.
#[test]
fn a_changed_byte_of_the_key_or_its_id_is_named_also_to_a_stranger() {
    let signed = Signed::new();
    let id = signed.key.public().id();
    let mut draw = Draw::new(4, "key");
    for (of, place_named) in
        [(signed.key.public().to_string(), "public_key"), (id, "receipt.signatures[0].keyid")]
    {
        for place in signed.places(&of) {
            let mut other = another(signed.text.as_bytes()[place], &mut draw);
            // What ends a text is for the tests above.
            if !other.is_ascii_alphanumeric() {
                other = if signed.text.as_bytes()[place] == b'q' { b'r' } else { b'q' };
            }
            let told = verify(&signed.with(place, other), &[], &means(0));
            assert_eq!(told.findings.len(), 1, "{:#?}", told.findings);
            assert_eq!(told.findings[0].place, place_named);
            assert_eq!(
                told.signer.map(|signer| signer.id),
                Some(signed.key.public().id()),
                "it can still be checked"
            );
        }
    }
}

/// A file that is damaged all over ends soon, and says so without filling the screen.
#[test]
fn a_file_that_is_damaged_all_over_is_checked_in_bounds() {
    let signed = Signed::new();
    let mut receipt: Receipt = serde_json::from_str(&signed.text).unwrap();
    let link = |n: usize| Link { hash: format!("{n:064x}"), body: format!("{{\"seq\":{n}}}\u{1b}[2J") };
    receipt.log = Some((0..30_000).map(link).collect());
    receipt.public_key = "ed25519:".repeat(10_000);
    let told = verify(serde_json::to_string(&receipt).unwrap().as_bytes(), &[], &means(1 << 20));
    assert!(told.findings.len() >= 30_000);
    let text = told.text("r.json");
    assert!(text.lines().count() < 40 && text.contains("more, all of them with --json"), "{text}");
}

/// What a stranger wrote cannot move the cursor of who checks it.
#[test]
fn no_name_in_a_file_hides_what_is_said_of_it() {
    let text = r#"{"receipt": {"\u001b[2J\u202e": 1}}"#;
    let said = verify(text.as_bytes(), &[], &means(0)).text("r.json");
    assert!(said.contains("u{1b}[2J") && !said.contains(['\u{1b}', '\u{202e}']), "{said}");
}
