//! What is said to a debate that another process runs: it goes through the store, and the process that runs the debate takes it from there.
//!
//! A message stays in the store until its effect is in the log, so a process that dies in between loses none.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agon_core::{Event, LogRecord};
use agon_store::{DebateMessage, StoredMessage};

use super::DebateHost;
use super::hosted_run::HostedRun;
use super::person_seats::PersonAnswer;

/// How often the store is asked for messages.
const LOOK_EVERY: Duration = Duration::from_millis(300);

impl DebateHost {
    /// Takes messages for the debates that run here, for as long as it is polled.
    pub async fn take_messages(&self) {
        let mut taken = BTreeSet::new();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            // A store that is away for a moment is asked again.
            let Ok(messages) = self.read_store(|store| store.unread_messages()).await else { continue };
            taken.retain(|n| messages.iter().any(|message| message.n == *n));
            let mut done = Vec::new();
            for message in messages {
                let Some(run) = self.run_of(&message.debate).filter(|run| !run.is_remote()) else { continue };
                if is_done(&message, &run.records_from(0)) {
                    done.push(message.n);
                } else if !taken.contains(&message.n) && self.deliver_message(&run, &message).await {
                    taken.insert(message.n);
                }
            }
            if !done.is_empty() {
                // What is not removed now is found done again.
                drop(self.store().remove_messages(done).await);
            }
        }
    }

    /// Gives people's answers that are in the store to the asks that wait for them here. Returns whether there were any.
    pub(super) async fn take_answers(&self, run: &Arc<HostedRun>) -> bool {
        let messages = self.read_store(|store| store.unread_messages()).await.unwrap_or_default();
        let mut found = false;
        for message in messages.iter().filter(|message| message.debate == run.id) {
            if matches!(message.message, DebateMessage::Answer { .. }) {
                found |= self.deliver_message(run, message).await;
            }
        }
        found
    }

    /// Gives a message to the debate. Returns whether it has it: an answer waits until its ask does.
    async fn deliver_message(&self, run: &Arc<HostedRun>, message: &StoredMessage) -> bool {
        match &message.message {
            DebateMessage::Stop => {
                run.stopped_by_person.store(true, Ordering::Release);
                drop(self.store().mark_stopped(&run.id, true).await);
                drop(self.store().remove_messages(vec![message.n]).await);
                run.stop.stop();
            }
            DebateMessage::Conclude => run.inbox.conclude(),
            DebateMessage::Interject { by, text } => run.inbox.interject(by, text),
            DebateMessage::Answer { ask, text, insists } => {
                let answer = match text {
                    None => PersonAnswer::Pass,
                    Some(text) => PersonAnswer::Text { text: text.clone(), insists: *insists },
                };
                return self.people().answer(&run.id, *ask, answer);
            }
        }
        true
    }
}

/// Whether the log has what the message brought about.
fn is_done(message: &StoredMessage, records: &[Arc<LogRecord>]) -> bool {
    match &message.message {
        // They end with the debate, and the store then removes them.
        DebateMessage::Stop | DebateMessage::Conclude => false,
        DebateMessage::Interject { by, text } => records.iter().any(|record| {
            let said = matches!(&record.entry.event, Event::Interjected { by: who, text: what } if who == by && what == text);
            said && record.entry.seq >= message.after_event
        }),
        DebateMessage::Answer { ask, .. } => records
            .iter()
            .any(|record| matches!(&record.entry.event, Event::Replied { ask: replied, .. } if replied == ask)),
    }
}
