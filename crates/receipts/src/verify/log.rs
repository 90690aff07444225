//! The chain over the log: which event was changed, taken out, put in or moved, and what it was.

use agon_core::event::{Entry, GENESIS};
use agon_core::{Advance, Debate, Record, advance};
use serde_json::Value;

use super::words::{change, event};
use super::{Log, Means, Verification, signed_of};
use crate::chain::{Fault, Taken, walk};
use crate::file::Link;
use crate::undo::{Undone, undo};

/// Follows the chain, with a finding for each event that is not as it was sealed. What can be told about such an event is
/// put right, so that the rest can be checked as it was.
pub(super) fn check(
    links: &[Link],
    head: Option<&(String, u64)>,
    means: &Means<'_>,
    told: &mut Verification,
) -> Log {
    let walk = walk(links, signed_of(head));
    let mut mender = Mender {
        means,
        told,
        records: Vec::new(),
        whole: true,
        short: false,
        readable: true,
        search_bytes: means.search_bytes,
    };
    for taken in &walk.taken {
        if let Some(link) = links.get(taken.place) {
            mender.see(taken, link);
        }
    }
    let Mender { mut records, mut whole, short, readable, told, .. } = mender;
    for place in walk.put_in {
        let why =
            format!("log[{place}] was put in: it is of no place in the chain, which is whole without it");
        told.find_event(format!("log[{place}]"), place as u64, why);
    }
    cut_what_was_added(&mut records, head, told);
    let debate = match Debate::from_records(&records) {
        _ if !readable => None,
        Ok(debate) => Some(debate),
        Err(why) => {
            // That events are missing is said where it is known how many there were.
            if whole && !records.is_empty() {
                told.find("log", format!("the log is no debate: {why}"));
            }
            whole = false;
            None
        }
    };
    Log { records, debate, whole, short, readable }
}

/// What is chained on after the head that was signed was not there then.
fn cut_what_was_added(records: &mut Vec<Record>, head: Option<&(String, u64)>, told: &mut Verification) {
    let Some((head, events)) = head else { return };
    let count = records.len();
    let Ok(signed) = usize::try_from(*events) else { return };
    let last = signed.checked_sub(1).and_then(|last| records.get(last));
    if count > signed && last.is_some_and(|record| record.hash == *head) {
        let why = format!("the log was added to: the receipt is of {events} events, and the log has {count}");
        told.find_event(format!("log[{events}]"), *events, why);
        records.truncate(signed);
    }
}

struct Mender<'a> {
    means: &'a Means<'a>,
    told: &'a mut Verification,
    records: Vec<Record>,
    whole: bool,
    short: bool,
    readable: bool,
    /// Of all events together: a file with a thousand damaged ones must not take a thousand times as long.
    search_bytes: u64,
}

impl Mender<'_> {
    fn see(&mut self, taken: &Taken, link: &Link) {
        let (seq, place) = (taken.seq, taken.place);
        let mut body = link.body.clone();
        match &taken.fault {
            None => {}
            Some(Fault::Hash) => {
                let what = self.event(seq, &body);
                let why = format!(
                    "the hash beside {what} was changed: it is {:?}, and was {:?}",
                    link.hash, taken.hash
                );
                self.told.find_event(format!("log[{place}].hash"), seq, why);
            }
            Some(Fault::Moved) => {
                let why =
                    format!("{} was moved: it stands in the place of event {place}", self.event(seq, &body));
                self.told.find_event(format!("log[{place}]"), seq, why);
            }
            Some(Fault::Missing(from, to)) => self.missing(*from, *to, place),
            Some(Fault::Body) => body = self.mend(seq, place, link),
        }
        let entry: Result<Entry, _> = serde_json::from_str(&body);
        match entry {
            Ok(entry) => self.records.push(Record { entry, body, hash: taken.hash.clone() }),
            Err(why) => {
                if taken.fault.is_none() {
                    let why =
                        format!("event {seq} is of no kind that this agon knows ({why}): use a newer one");
                    self.told.find_event(format!("log[{place}].body"), seq, why);
                }
                (self.whole, self.readable) = (false, false);
            }
        }
    }

    fn missing(&mut self, from: u64, to: u64, place: usize) {
        let last = to - 1;
        let which =
            if from == last { format!("event {from} is") } else { format!("events {from} to {last} are") };
        let why = format!("{which} missing: event {to} stands in the place of event {place}");
        self.told.find_event(format!("log[{place}]"), from, why);
        (self.whole, self.short) = (false, true);
    }

    /// The body as it was, or, where that cannot be told, as it is.
    fn mend(&mut self, seq: u64, place: usize, link: &Link) -> String {
        let previous = self.records.last().map_or(GENESIS, |record| record.hash.as_str()).to_owned();
        let at = format!("log[{place}].body");
        let undone = match self.worked_out(seq, link) {
            Some(was) => Undone::Found(was),
            // Without the record before it, nothing can have the hash.
            None if !self.readable => Undone::GaveUp,
            None => undo(&previous, &link.body, &link.hash, &mut self.search_bytes),
        };
        match undone {
            Undone::Found(was) => {
                let why = format!("{} was changed: {}", self.event(seq, &was), change(&was, &link.body));
                self.told.find_event(at, seq, why);
                was
            }
            undone => {
                let more = if undone == Undone::GaveUp { "" } else { ", in more than one byte" };
                let why = format!(
                    "{} was changed{more}, or the event before it and its hash: the bytes do not give the hash beside it",
                    self.event(seq, &link.body)
                );
                self.told.find_event(at, seq, why);
                self.whole = false;
                link.body.clone()
            }
        }
    }

    /// The body of a step that the protocol takes: it follows from the log before it.
    fn worked_out(&self, seq: u64, link: &Link) -> Option<String> {
        if !self.whole {
            return None;
        }
        let debate = Debate::from_records(&self.records).ok()?;
        if debate.outstanding().next().is_some() || debate.outcome.is_some() {
            return None;
        }
        let protocol = (self.means.protocol)(&debate.brief.protocol)?;
        let (Advance::Ask(step, _) | Advance::Close(step)) = advance(protocol, &debate).ok()?;
        let told: Option<Value> = serde_json::from_str(&link.body).ok();
        let told = told.and_then(|body| body.get("at_ms")?.as_u64());
        let times = told.into_iter().chain([debate.at_ms]);
        times
            .filter_map(|at_ms| Record::seal(Entry { seq, at_ms, event: step.clone() }, &debate.head).ok())
            .find(|record| record.hash == link.hash)
            .map(|record| record.body)
    }

    fn event(&self, seq: u64, body: &str) -> String {
        event(seq, body, &self.records)
    }
}
