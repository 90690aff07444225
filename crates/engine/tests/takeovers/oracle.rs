//! What must hold after every schedule, from what the database, the server and the processes saw.

use std::collections::BTreeMap;

use agon_core::event::open_all;
use agon_core::play::{play, replay};
use agon_core::{Brief, CallUsage, Debate, Event, LogRecord, Outcome, Reply};

use crate::database::{Database, DebateRow, HistoryEntry};
use crate::model_server::{LedgerEntry, good_answer, receipt};
use crate::rounds_protocol::ROUNDS;
use crate::schedule::{ProcessKey, RunEnd, RunNumber, World};

/// Everything that is wrong with a schedule that has ended.
pub(crate) fn violations(world: &World) -> Vec<String> {
    let mut wrong = world.violations.lock().unwrap().clone();
    let database = world.database.lock().unwrap();
    check_owners(world, &database, &mut wrong);
    for brief in &world.schedule.briefs {
        let row = &database.debates[&brief.id];
        let mut about = Vec::new();
        check_run_ends(world, brief, row, &mut about);
        check_log(world, brief, row, &mut about);
        check_replies(world, brief, row, &mut about);
        check_lost_calls(world, brief, row, &mut about);
        wrong.extend(about.into_iter().map(|what| format!("{}: {what}", brief.id)));
    }
    wrong
}

/// Only the process that leased a debate last appends to it, and it loses the debate only if it was disturbed.
fn check_owners(world: &World, database: &Database, wrong: &mut Vec<String>) {
    let mut owners: BTreeMap<&str, (u64, Option<ProcessKey>)> = BTreeMap::new();
    for entry in &database.history {
        match entry {
            HistoryEntry::Leased { debate, epoch, process } => {
                let (last_epoch, owner) =
                    owners.insert(debate, (*epoch, Some(*process))).unwrap_or((1, None));
                if *epoch <= last_epoch {
                    wrong.push(format!("{debate}: epoch {epoch} follows {last_epoch}"));
                }
                if let Some(owner) = owner
                    && world.disturbances_of(owner) == 0
                {
                    wrong.push(format!("{debate} was taken from process {owner}, to which nothing happened"));
                }
            }
            HistoryEntry::Appended { debate, epoch, process, .. } => {
                if owners.get(debate.as_str()) != Some(&(*epoch, Some(*process))) {
                    wrong.push(format!(
                        "{debate}: process {process} appended in epoch {epoch} without owning it"
                    ));
                }
            }
            HistoryEntry::Released { debate, process } => {
                let owner = owners.get_mut(debate.as_str()).map(|(_, owner)| owner.take());
                if owner != Some(Some(*process)) {
                    wrong.push(format!("{debate}: process {process} released what it does not own"));
                }
            }
            HistoryEntry::Refused { .. } | HistoryEntry::Confirmed { .. } => {}
        }
    }
}

/// Only a disturbance makes a run fail, and none makes more than one run of a debate fail that had written something.
fn check_run_ends(world: &World, brief: &Brief, row: &DebateRow, wrong: &mut Vec<String>) {
    let mut failures: BTreeMap<ProcessKey, usize> = BTreeMap::new();
    for (number, run) in world.runs.lock().unwrap().iter().enumerate() {
        let is_in_order = matches!(run.end, Some(RunEnd::Over | RunEnd::Stopped | RunEnd::Elsewhere));
        if is_in_order || run.debate != brief.id {
            continue;
        }
        let has_written = row.written_by.iter().flatten().any(|(writer, _)| *writer == number);
        let failures = failures.entry(run.process).or_default();
        *failures += usize::from(has_written);
        let disturbances = world.disturbances_of(run.process);
        if disturbances < (*failures).max(1) {
            wrong.push(format!(
                "run {number} ended with {:?}, but only {disturbances} things happened to its process",
                run.end
            ));
        }
    }
}

/// The chain holds, the protocol would do the same again, and the debate went as it does without any disturbance.
fn check_log(world: &World, brief: &Brief, row: &DebateRow, wrong: &mut Vec<String>) {
    if !row.is_closed() {
        return wrong.push("it never closes".to_owned());
    }
    let stored = row.log.iter().map(|record| (record.body.clone(), record.hash.clone()));
    if let Err(broken) = open_all(stored) {
        return wrong.push(broken.to_string());
    }
    if let Err(why) = replay(&ROUNDS, &row.log) {
        wrong.push(why.to_string());
    }
    let (found, expected) = (decisions(&row.log), decisions(&undisturbed_log(world.schedule.seed, brief)));
    if found != expected {
        wrong.push(format!("it went otherwise than undisturbed: {found:?}, not {expected:?}"));
    }
}

/// The log of the same debate without processes and a store.
fn undisturbed_log(seed: u64, brief: &Brief) -> Vec<LogRecord> {
    let (_, opened) = Debate::open(brief.clone()).unwrap();
    let mut answer = |_: &Debate, ask: &agon_core::Ask| {
        let text = good_answer(seed, &brief.id, ask.id);
        Reply::Said {
            value: serde_json::from_str(&text).ok(),
            text,
            model: ask.model.clone(),
            usage: CallUsage::default(),
            cut_off: false,
            shortened: None,
        }
    };
    play(&ROUNDS, vec![opened], &mut answer, &mut |_| {}).unwrap()
}

/// What was asked, what was answered and what was decided, without how often it took.
#[derive(Debug, PartialEq)]
struct DebateDecisions {
    asked: Vec<Event>,
    answers: BTreeMap<u32, Option<String>>,
    outcome: Outcome,
}

fn decisions(log: &[LogRecord]) -> DebateDecisions {
    let events = || log.iter().map(|record| &record.entry.event);
    let answer = |event: &Event| match event {
        Event::Replied { ask, reply } => Some((*ask, reply.text().map(str::to_owned))),
        _ => None,
    };
    let outcome = events().find_map(|event| match event {
        Event::Closed { outcome } => Some((**outcome).clone()),
        _ => None,
    });
    DebateDecisions {
        asked: events().filter(|event| matches!(event, Event::Asked { .. })).cloned().collect(),
        answers: events().filter_map(answer).collect(),
        outcome: outcome.unwrap(),
    }
}

/// Every reply comes from one call, which was made and answered. What returned to a run before an append that succeeded, or before it
/// ended in order, is in the log.
fn check_replies(world: &World, brief: &Brief, row: &DebateRow, wrong: &mut Vec<String>) {
    let ledger = world.ledger.lock().unwrap();
    let mut used = Vec::new();
    for (place, record) in row.log.iter().enumerate() {
        let Event::Replied { ask, reply: Reply::Said { text, usage, .. } } = &record.entry.event else {
            continue;
        };
        let is_call = |(number, entry): &(usize, &LedgerEntry)| {
            let writer = row.written_by[place].map(|(run, _)| run);
            receipt(*number) == usage.input_tokens
                && (entry.debate.as_str(), entry.ask) == (brief.id.as_str(), *ask)
                && entry.answered.as_ref() == Some(text)
                && writer == Some(entry.run)
        };
        match ledger.iter().enumerate().find(is_call) {
            Some((number, _)) if !used.contains(&number) => used.push(number),
            _ => wrong.push(format!("no call gave the reply to ask {ask}")),
        }
    }
    let is_recorded = |number: usize| {
        let LedgerEntry { ask, attempt, .. } = &ledger[number];
        used.contains(&number)
            || row.log.iter().any(|record| {
                matches!(&record.entry.event, Event::Attempted { ask: a, attempt: n, .. } if (a, n) == (ask, attempt))
            })
    };
    for run in world.runs.lock().unwrap().iter().filter(|run| run.debate == brief.id) {
        let durable = match run.end {
            Some(RunEnd::Over | RunEnd::Stopped) => run.returned.len(),
            _ => run.confirmed,
        };
        for number in run.returned.iter().take(durable).filter(|number| !is_recorded(**number)) {
            wrong.push(format!("the log lacks the result of {:?}", ledger[*number]));
        }
    }
}

/// A call is repeated only if its run ended while it was under way, and no run leaves more of them behind than it can make at once.
fn check_lost_calls(world: &World, brief: &Brief, row: &DebateRow, wrong: &mut Vec<String>) {
    let runs = world.runs.lock().unwrap();
    for (run, lost) in lost_calls(row) {
        if runs[run].end == Some(RunEnd::Over) {
            wrong.push(format!("run {run} closed the debate and had lost {lost} calls"));
        }
        let most = world.schedule.calls_at_once(brief);
        if lost > most {
            wrong.push(format!("run {run} lost {lost} calls, but it makes {most} at once"));
        }
    }
}

/// How many calls of each run have no result in the log.
fn lost_calls(row: &DebateRow) -> BTreeMap<RunNumber, usize> {
    let mut open: BTreeMap<u32, RunNumber> = BTreeMap::new();
    let mut lost = BTreeMap::new();
    for (record, writer) in row.log.iter().zip(&row.written_by) {
        match (&record.entry.event, writer) {
            (Event::Sent { ask, .. }, Some((run, _))) => {
                if let Some(before) = open.insert(*ask, *run) {
                    *lost.entry(before).or_default() += 1;
                }
            }
            (Event::Attempted { ask, .. } | Event::Replied { ask, .. }, _) => {
                open.remove(ask);
            }
            _ => {}
        }
    }
    lost
}

/// How often what the schedules are about happened: takeovers, calls of processes that had lost their debate, writes that were refused
/// to them, commits whose answer was lost, stops, calls that were repeated.
pub(crate) fn occurrences(world: &World) -> [usize; 6] {
    let database = world.database.lock().unwrap();
    let mut owners = BTreeMap::new();
    let [mut takeovers, mut refused, mut unconfirmed] = [0; 3];
    for entry in &database.history {
        match entry {
            HistoryEntry::Leased { debate, process, .. } => {
                takeovers += usize::from(owners.insert(debate, *process).is_some());
            }
            HistoryEntry::Released { debate, .. } => drop(owners.remove(debate)),
            HistoryEntry::Refused { .. } => refused += 1,
            HistoryEntry::Confirmed { .. } => unconfirmed += 1,
            HistoryEntry::Appended { .. } => {}
        }
    }
    let late = world.ledger.lock().unwrap().iter().filter(|entry| entry.is_late).count();
    let runs = world.runs.lock().unwrap();
    let stops = runs.iter().filter(|run| run.end == Some(RunEnd::Stopped)).count();
    let repeated = database.debates.values().flat_map(|row| lost_calls(row).into_values()).sum();
    [takeovers, late, refused, unconfirmed, stops, repeated]
}
