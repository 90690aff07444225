//! Which records of a log are as they were sealed, in which order they were, and which were taken out or put in.

use std::collections::VecDeque;

use agon_core::event::{GENESIS, sha256};
use serde::Deserialize;

use crate::file::Link;

/// What is wrong with a record, or before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The hash that stands beside it was changed; its bytes are those that the next was chained to.
    Hash,
    /// Its bytes were changed.
    Body,
    /// These events before it are not there: the first, and the one after the last.
    Missing(u64, u64),
    /// It stands in another place than it was.
    Moved,
}

/// A record in its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Where the file has it.
    pub(crate) place: usize,
    /// Its number in the log.
    pub(crate) seq: u64,
    /// The hash that the next is chained to.
    pub(crate) hash: String,
    /// What is wrong with it.
    pub(crate) fault: Option<Fault>,
}

/// The log as far as its chain tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The records, in the order of the chain.
    pub(crate) taken: Vec<Taken>,
    /// Places in the file whose records are of no place in the chain.
    pub(crate) put_in: Vec<usize>,
}

/// What was signed about a log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signed<'a> {
    pub(crate) head: &'a str,
    pub(crate) events: u64,
}

/// How many records are looked at out of their order: a log without any order must not take the square of its length.
const LOOKS_MAX: usize = 20_000;

/// The hash of a body after that of the record before.
pub(crate) fn link(previous: &str, body: &str) -> String {
    sha256(&[previous, body].concat())
}

/// Follows the chain through a log.
pub(crate) fn walk(links: &[Link], signed: Option<Signed<'_>>) -> Walk {
    let (rest, walk) = ((0..links.len()).collect(), Walk::default());
    let mut walker = Walker { links, signed, rest, walk, expected: 0, looks: LOOKS_MAX };
    while let Some(front) = walker.rest.front().copied() {
        match walker.next_place().and_then(|next| walker.rest.remove(next)) {
            Some(place) => walker.take(place, None),
            None => {
                walker.rest.pop_front();
                walker.settle(front);
            }
        }
    }
    walker.mark_moved();
    walker.walk
}

struct Walker<'a> {
    links: &'a [Link],
    signed: Option<Signed<'a>>,
    /// Places in the file that are not taken yet.
    rest: VecDeque<usize>,
    walk: Walk,
    /// The number of the next event.
    expected: u64,
    /// How many more records may be looked at out of their order.
    looks: usize,
}

impl Walker<'_> {
    fn previous(&self) -> &str {
        self.walk.taken.last().map_or(GENESIS, |taken| &taken.hash)
    }

    /// Which of the rest follows: the first, as it should, or the first that does.
    fn next_place(&mut self) -> Option<usize> {
        let mut rest = self.rest.iter().take(1 + self.looks);
        let next = rest.position(|place| self.follows(self.previous(), *place));
        self.looks -= self.looks.min(next.unwrap_or(self.rest.len()));
        next
    }

    fn follows(&self, previous: &str, place: usize) -> bool {
        self.links.get(place).is_some_and(|found| link(previous, &found.body) == found.hash)
    }

    fn take(&mut self, place: usize, fault: Option<Fault>) {
        let Some(found) = self.links.get(place) else { return };
        let hash = match fault {
            Some(Fault::Hash) => link(self.previous(), &found.body),
            _ => found.hash.clone(),
        };
        let seq = self.expected;
        self.expected += 1;
        self.walk.taken.push(Taken { place, seq, hash, fault });
    }

    /// Says what is wrong where no record follows the one before.
    fn settle(&mut self, place: usize) {
        // Records behind it were taken without it, so the chain is whole without it.
        if self.walk.taken.last().is_some_and(|last| last.place > place) {
            return self.walk.put_in.push(place);
        }
        if let Some(kept) = self.follows_an_earlier(place) {
            let cut = self.walk.taken.split_off(kept);
            self.expected -= cut.len() as u64;
            self.walk.put_in.extend(cut.iter().map(|taken| taken.place));
            return self.take(place, None);
        }
        if self.is_chained_on(place) {
            return self.take(place, Some(Fault::Hash));
        }
        if let Some(seq) = self.missing_before(place) {
            let fault = Fault::Missing(self.expected, seq);
            self.expected = seq;
            return self.take(place, Some(fault));
        }
        self.take(place, Some(Fault::Body));
    }

    /// How many of the taken records are before one that does not follow the last of them, but another.
    fn follows_an_earlier(&mut self, place: usize) -> Option<usize> {
        let count = self.walk.taken.len();
        let earlier = (0..count).rev().take(self.looks).find(|kept| {
            let previous = kept.checked_sub(1).and_then(|last| self.walk.taken.get(last));
            self.follows(previous.map_or(GENESIS, |taken| &taken.hash), place)
        });
        self.looks -= self.looks.min(count);
        earlier
    }

    /// Whether what comes after was chained to the bytes of this record, whatever hash stands beside it.
    fn is_chained_on(&self, place: usize) -> bool {
        let Some(found) = self.links.get(place) else { return false };
        let computed = link(self.previous(), &found.body);
        match self.rest.front() {
            Some(next) => self.follows(&computed, *next),
            None => self.signed.is_some_and(|signed| signed.head == computed),
        }
    }

    /// The number of a record that says it is a later one than is expected, if what comes after agrees.
    fn missing_before(&self, place: usize) -> Option<u64> {
        let seq = self.number(place).filter(|seq| *seq > self.expected)?;
        let agrees = match self.rest.front() {
            Some(next) => self.number(*next) == Some(seq + 1),
            None => self.signed.is_some_and(|signed| signed.events == seq + 1),
        };
        agrees.then_some(seq)
    }

    fn number(&self, place: usize) -> Option<u64> {
        #[derive(Deserialize)]
        struct Numbered {
            seq: u64,
        }
        let numbered: Numbered = serde_json::from_str(&self.links.get(place)?.body).ok()?;
        Some(numbered.seq)
    }

    /// A record is moved if one that the file has behind it was before it.
    fn mark_moved(&mut self) {
        let mut furthest = None;
        for taken in &mut self.walk.taken {
            if furthest > Some(taken.place) && taken.fault.is_none() {
                taken.fault = Some(Fault::Moved);
            }
            furthest = furthest.max(Some(taken.place));
        }
        self.walk.put_in.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log(events: u64) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for seq in 0..events {
            let body = json!({"seq": seq, "text": "said"}).to_string();
            let previous = links.last().map_or(GENESIS, |link: &Link| &link.hash);
            links.push(Link { hash: link(previous, &body), body });
        }
        links
    }

    /// The faults of a log that was signed as `log(5)`: by number, and at the end what was put in, by place.
    fn faults(links: &[Link]) -> Vec<String> {
        let whole = log(5);
        let walk = walk(links, Some(Signed { head: &whole[4].hash, events: 5 }));
        let fault = |taken: &Taken| Some(format!("{} {:?}", taken.seq, taken.fault.clone()?));
        let mut found: Vec<String> = walk.taken.iter().filter_map(fault).collect();
        found.extend(walk.put_in.iter().map(|place| format!("{place} PutIn")));
        found
    }

    #[test]
    fn the_chain_is_that_of_the_log() {
        let entry = agon_core::event::Entry {
            seq: 0,
            at_ms: 0,
            event: agon_core::Event::Interjected { by: "me".into(), text: "é".into() },
        };
        let record = agon_core::Record::seal(entry, GENESIS).unwrap();
        assert_eq!(link(GENESIS, &record.body), record.hash);
        assert_eq!(faults(&log(5)), [""; 0]);
    }

    #[test]
    fn a_changed_record_is_named_and_those_after_it_are_not() {
        for place in 0..5 {
            let mut links = log(5);
            links[place].body = links[place].body.replace("said", "sad");
            assert_eq!(faults(&links), [format!("{place} Body")]);
            let mut links = log(5);
            links[place].hash.replace_range(..1, "x");
            assert_eq!(faults(&links), [format!("{place} Hash")]);
            let mut links = log(5);
            links[place].body = links[place].body.replace(&format!("\"seq\":{place}"), "\"seq\":9");
            assert_eq!(faults(&links), [format!("{place} Body")]);
        }
    }

    #[test]
    fn a_record_that_was_taken_out_is_missing() {
        for place in 0..4 {
            let mut links = log(5);
            links.remove(place);
            assert_eq!(faults(&links), [format!("{0} Missing({place}, {0})", place + 1)]);
        }
        let mut links = log(5);
        links.drain(1..4);
        assert_eq!(faults(&links), ["4 Missing(1, 4)"]);
    }

    #[test]
    fn a_record_that_was_put_in_is_named_also_where_its_own_hash_fits() {
        for place in 0..5 {
            let mut links = log(5);
            links.insert(place, Link { hash: GENESIS.into(), body: "{\"seq\":1}".into() });
            assert_eq!(faults(&links), [format!("{place} PutIn")]);
            let mut links = log(5);
            let previous = place.checked_sub(1).map_or(GENESIS, |last| links[last].hash.as_str());
            let body = json!({"seq": place, "text": "forged"}).to_string();
            let forged = Link { hash: link(previous, &body), body };
            links.insert(place, forged);
            assert_eq!(faults(&links), [format!("{place} PutIn")]);
            let mut links = log(5);
            links.insert(place, log(5)[place / 2].clone());
            let found = faults(&links);
            // A record beside its own copy cannot be told from it.
            let twin = [format!("{place} PutIn"), format!("{} PutIn", place + 1)];
            assert!(found.len() == 1 && twin.contains(&found[0]), "{found:?}");
        }
    }

    #[test]
    fn records_in_another_order_are_named() {
        let mut links = log(5);
        links.swap(1, 2);
        assert_eq!(faults(&links), ["2 Moved"]);
        let mut links = log(5);
        links.reverse();
        assert_eq!(faults(&links).len(), 4);
    }
}
