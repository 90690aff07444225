//! Finds which records of a log were changed, removed, inserted or moved, by following the hash chain.

use std::collections::VecDeque;

use agon_core::event::{GENESIS, sha256};
use serde::Deserialize;

use super::receipt::LoggedRecord;

/// How many records are tried out of order. Without this limit, checking a log whose records are all damaged would take
/// the square of its length.
const TRIES_MAX: usize = 20_000;

/// What is wrong with a record, or in front of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChainFault {
    /// Its hash was changed. The next record continues from its body, so the body is right.
    Hash,
    /// Its body was changed.
    Body,
    /// Events in front of it are missing: the first missing number, and the number of this record.
    Missing(u64, u64),
    /// It was moved.
    Moved,
}

/// A record with its number in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChainedRecord {
    /// Where the file has it.
    pub(super) index: usize,
    /// The number of the event.
    pub(super) seq: u64,
    /// The hash that the next record continues from.
    pub(super) hash: String,
    pub(super) fault: Option<ChainFault>,
}

/// The records of a log in the order of the chain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChainOrder {
    pub(super) records: Vec<ChainedRecord>,
    /// Indexes in the file of records that do not belong to the chain.
    pub(super) inserted: Vec<usize>,
}

/// What was signed about the end of a log.
#[derive(Debug, Clone)]
pub(super) struct SignedEnd {
    pub(super) head: String,
    pub(super) events: u64,
}

/// The hash of a record: of the hash before it and its body.
pub(super) fn record_hash(previous: &str, body: &str) -> String {
    sha256(&[previous, body].concat())
}

/// Follows the chain through a log.
pub(super) fn follow_chain(log: &[LoggedRecord], signed: Option<&SignedEnd>) -> ChainOrder {
    let (rest, order) = ((0..log.len()).collect(), ChainOrder::default());
    let mut walker = ChainWalker { log, signed, rest, order, next_seq: 0, tries_left: TRIES_MAX };
    while let Some(first) = walker.rest.front().copied() {
        match walker.next_in_chain().and_then(|next| walker.rest.remove(next)) {
            Some(index) => walker.append(index, None),
            None => {
                walker.rest.pop_front();
                walker.append_broken(first);
            }
        }
    }
    walker.mark_moved();
    walker.order
}

struct ChainWalker<'a> {
    log: &'a [LoggedRecord],
    signed: Option<&'a SignedEnd>,
    /// Indexes of the records that are not placed yet.
    rest: VecDeque<usize>,
    order: ChainOrder,
    next_seq: u64,
    tries_left: usize,
}

impl ChainWalker<'_> {
    fn head(&self) -> &str {
        self.order.records.last().map_or(GENESIS, |record| &record.hash)
    }

    /// Which of the rest continues the chain. Normally it is the first.
    fn next_in_chain(&mut self) -> Option<usize> {
        let mut rest = self.rest.iter().take(1 + self.tries_left);
        let next = rest.position(|index| self.continues(self.head(), *index));
        self.tries_left -= self.tries_left.min(next.unwrap_or(self.rest.len()));
        next
    }

    fn continues(&self, previous: &str, index: usize) -> bool {
        self.log.get(index).is_some_and(|record| record_hash(previous, &record.body) == record.hash)
    }

    fn append(&mut self, index: usize, fault: Option<ChainFault>) {
        let Some(record) = self.log.get(index) else { return };
        let hash = match fault {
            Some(ChainFault::Hash) => record_hash(self.head(), &record.body),
            _ => record.hash.clone(),
        };
        let seq = self.next_seq;
        self.next_seq += 1;
        self.order.records.push(ChainedRecord { index, seq, hash, fault });
    }

    /// Appends a record where the chain breaks, with the fault that explains the break.
    fn append_broken(&mut self, index: usize) {
        // The chain continued without it, with records that come after it in the file.
        if self.order.records.last().is_some_and(|last| last.index > index) {
            return self.order.inserted.push(index);
        }
        if let Some(kept) = self.continues_earlier(index) {
            let cut = self.order.records.split_off(kept);
            self.next_seq -= cut.len() as u64;
            self.order.inserted.extend(cut.iter().map(|record| record.index));
            return self.append(index, None);
        }
        if self.is_continued(index) {
            return self.append(index, Some(ChainFault::Hash));
        }
        if let Some(seq) = self.missing_before(index) {
            let fault = ChainFault::Missing(self.next_seq, seq);
            self.next_seq = seq;
            return self.append(index, Some(fault));
        }
        self.append(index, Some(ChainFault::Body));
    }

    /// How many placed records to keep if this record continues an earlier one. The rest of them were inserted.
    fn continues_earlier(&mut self, index: usize) -> Option<usize> {
        let count = self.order.records.len();
        let earlier = (0..count).rev().take(self.tries_left).find(|kept| {
            let previous = kept.checked_sub(1).and_then(|last| self.order.records.get(last));
            self.continues(previous.map_or(GENESIS, |record| &record.hash), index)
        });
        self.tries_left -= self.tries_left.min(count);
        earlier
    }

    /// Whether the chain continues from the body of this record, whatever its hash says.
    fn is_continued(&self, index: usize) -> bool {
        let Some(record) = self.log.get(index) else { return false };
        let computed = record_hash(self.head(), &record.body);
        match self.rest.front() {
            Some(next) => self.continues(&computed, *next),
            None => self.signed.is_some_and(|signed| signed.head == computed),
        }
    }

    /// The number of this record, if it is later than expected and the record after it agrees.
    fn missing_before(&self, index: usize) -> Option<u64> {
        let seq = self.claimed_seq(index).filter(|seq| *seq > self.next_seq)?;
        let agrees = match self.rest.front() {
            Some(next) => self.claimed_seq(*next) == Some(seq + 1),
            None => self.signed.is_some_and(|signed| signed.events == seq + 1),
        };
        agrees.then_some(seq)
    }

    fn claimed_seq(&self, index: usize) -> Option<u64> {
        #[derive(Deserialize)]
        struct NumberedBody {
            seq: u64,
        }
        let body: NumberedBody = serde_json::from_str(&self.log.get(index)?.body).ok()?;
        Some(body.seq)
    }

    /// A record was moved if the file has an earlier record of the chain after it.
    fn mark_moved(&mut self) {
        let mut furthest = None;
        for record in &mut self.order.records {
            if furthest > Some(record.index) && record.fault.is_none() {
                record.fault = Some(ChainFault::Moved);
            }
            furthest = furthest.max(Some(record.index));
        }
        self.order.inserted.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample_log(events: u64) -> Vec<LoggedRecord> {
        let mut log: Vec<LoggedRecord> = Vec::new();
        for seq in 0..events {
            let body = json!({"seq": seq, "text": "said"}).to_string();
            let previous = log.last().map_or(GENESIS, |record: &LoggedRecord| &record.hash);
            log.push(LoggedRecord { hash: record_hash(previous, &body), body });
        }
        log
    }

    /// The faults of a log that was signed as `sample_log(5)`: by event number, then the inserted records by index.
    fn faults(log: &[LoggedRecord]) -> Vec<String> {
        let signed = SignedEnd { head: sample_log(5)[4].hash.clone(), events: 5 };
        let order = follow_chain(log, Some(&signed));
        let fault = |record: &ChainedRecord| Some(format!("{} {:?}", record.seq, record.fault.clone()?));
        let mut faults: Vec<String> = order.records.iter().filter_map(fault).collect();
        faults.extend(order.inserted.iter().map(|index| format!("{index} Inserted")));
        faults
    }

    #[test]
    fn the_chain_is_the_one_that_core_writes() {
        let entry = agon_core::event::LogEntry {
            seq: 0,
            at_ms: 0,
            event: agon_core::Event::Interjected { by: "me".into(), text: "é".into() },
        };
        let record = agon_core::LogRecord::seal(entry, GENESIS).unwrap();
        assert_eq!(record_hash(GENESIS, &record.body), record.hash);
        assert_eq!(faults(&sample_log(5)), [""; 0]);
    }

    #[test]
    fn only_the_changed_record_is_named() {
        for index in 0..5 {
            let mut log = sample_log(5);
            log[index].body = log[index].body.replace("said", "sad");
            assert_eq!(faults(&log), [format!("{index} Body")]);
            let mut log = sample_log(5);
            log[index].hash.replace_range(..1, "x");
            assert_eq!(faults(&log), [format!("{index} Hash")]);
            let mut log = sample_log(5);
            log[index].body = log[index].body.replace(&format!("\"seq\":{index}"), "\"seq\":9");
            assert_eq!(faults(&log), [format!("{index} Body")]);
        }
    }

    #[test]
    fn a_removed_record_is_missing() {
        for index in 0..4 {
            let mut log = sample_log(5);
            log.remove(index);
            assert_eq!(faults(&log), [format!("{0} Missing({index}, {0})", index + 1)]);
        }
        let mut log = sample_log(5);
        log.drain(1..4);
        assert_eq!(faults(&log), ["4 Missing(1, 4)"]);
    }

    #[test]
    fn an_inserted_record_is_named_even_if_its_own_hash_is_right() {
        for index in 0..5 {
            let mut log = sample_log(5);
            log.insert(index, LoggedRecord { hash: GENESIS.into(), body: "{\"seq\":1}".into() });
            assert_eq!(faults(&log), [format!("{index} Inserted")]);
            let mut log = sample_log(5);
            let previous = index.checked_sub(1).map_or(GENESIS, |last| log[last].hash.as_str());
            let body = json!({"seq": index, "text": "forged"}).to_string();
            let forged = LoggedRecord { hash: record_hash(previous, &body), body };
            log.insert(index, forged);
            assert_eq!(faults(&log), [format!("{index} Inserted")]);
            let mut log = sample_log(5);
            log.insert(index, sample_log(5)[index / 2].clone());
            let found = faults(&log);
            // A record next to its copy: either one may be the copy.
            let twin = [format!("{index} Inserted"), format!("{} Inserted", index + 1)];
            assert!(found.len() == 1 && twin.contains(&found[0]), "{found:?}");
        }
    }

    #[test]
    fn moved_records_are_named() {
        let mut log = sample_log(5);
        log.swap(1, 2);
        assert_eq!(faults(&log), ["2 Moved"]);
        let mut log = sample_log(5);
        log.reverse();
        assert_eq!(faults(&log).len(), 4);
    }
}
