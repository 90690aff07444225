//! The hash chain: "events hash-chained", and a change of any single byte is found and named.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use agon_core::event::{BrokenChain, open_all};
use agon_core::{Brief, Debate, DebateLimits, Event, LOG_VERSION, LogRecord};
use proptest::prelude::*;

fn log(words: &[String]) -> Vec<LogRecord> {
    let brief = Brief {
        version: LOG_VERSION,
        id: "x".into(),
        protocol: "deep".into(),
        question: "Q".into(),
        files: Vec::new(),
        options: serde_json::Map::new(),
        seats: Vec::new(),
        seed: 1,
        nonce: "nonce".into(),
        limits: DebateLimits { usd: Some(0.1 + 0.2), ..DebateLimits::default() },
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: String::new(),
        parent: None,
    };
    let (mut debate, first) = Debate::open(brief).unwrap();
    let mut records = vec![first];
    for (at, text) in words.iter().enumerate() {
        let event = Event::Interjected { by: "you".into(), text: text.clone() };
        records.push(debate.push(event, at as u64).unwrap());
    }
    records
}

fn stored(records: &[LogRecord]) -> Vec<(String, String)> {
    records.iter().map(|record| (record.body.clone(), record.hash.clone())).collect()
}

proptest! {
    #[test]
    fn a_log_reads_back_as_it_was_written(words in proptest::collection::vec("\\PC{0,20}", 0..8)) {
        let records = log(&words);
        prop_assert_eq!(open_all(stored(&records)).unwrap(), records);
    }

    #[test]
    fn a_single_changed_byte_is_found_and_its_event_named(at in 0_usize..4, byte in any::<prop::sample::Index>(), by in 1_u8..128) {
        let mut rows = stored(&log(&["one".into(), "two".into(), "three".into()]));
        let mut bytes = rows[at].0.clone().into_bytes();
        let place = byte.index(bytes.len());
        bytes[place] = (bytes[place] ^ by) & 0x7f;
        let changed = String::from_utf8(bytes).unwrap();
        prop_assume!(changed != rows[at].0);
        rows[at].0 = changed;
        let broken = open_all(rows).unwrap_err();
        prop_assert!(matches!(broken, BrokenChain::Hash { seq, .. } if seq == at as u64), "{}", broken);
    }
}

#[test]
fn an_event_that_is_missing_swapped_or_repeated_is_found() {
    let rows = stored(&log(&["one".into(), "two".into(), "three".into()]));
    for (what, changed) in [
        ("missing", vec![rows[0].clone(), rows[2].clone(), rows[3].clone()]),
        ("swapped", vec![rows[0].clone(), rows[2].clone(), rows[1].clone(), rows[3].clone()]),
        ("repeated", vec![rows[0].clone(), rows[1].clone(), rows[1].clone()]),
    ] {
        assert!(open_all(changed).is_err(), "{what}");
    }
}

#[test]
fn a_log_of_another_version_is_refused_with_a_sentence() {
    for version in [LOG_VERSION - 1, LOG_VERSION + 1] {
        let mut records = log(&[]);
        if let Event::Opened { brief } = &mut records[0].entry.event {
            brief.version = version;
        }
        let why = Debate::from_records(&records).unwrap_err().to_string();
        assert!(why.contains("use the agon that wrote it"), "{why}");
    }
}
