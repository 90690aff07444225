//! A debate that this host has given to workers: its log is read from the store, and what people say goes there.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agon_core::event::LogEntry;
use agon_core::play::reopen;
use agon_core::{Ask, Debate, LogRecord};
use agon_engine::BudgetUse;
use agon_store::DebateMessage;

use super::DebateHost;
use super::host_error::HostError;
use super::hosted_run::HostedRun;
use super::person_seats::{CALLER, PersonAnswer, WaitingAsk};
use crate::cli::app::protocol_of;
use crate::worker::debate_allowances::HeldAllowance;
use crate::worker::remote_debates::RemoteDebates;

/// How often the log of a debate is read while somebody watches it.
const WATCHED_LOOK: Duration = Duration::from_millis(300);
/// How often it is read while nobody does, if a person sits at the table.
const UNWATCHED_LOOK: Duration = Duration::from_secs(2);

impl DebateHost {
    /// Submits a debate to the workers and follows it until its workflow ends.
    pub(super) async fn run_on_workers(
        &self,
        run: &HostedRun,
        workers: &RemoteDebates,
        held: Option<HeldAllowance>,
    ) -> Result<(), HostError> {
        let submitted = workers.give_away(&run.id).await?;
        let has_people = has_person(&self.read_debate(&run.id).await?);
        let end = workers.ended(&submitted);
        tokio::pin!(end);
        let mut is_told_to_stop = false;
        let end = loop {
            let pause = if run.is_watched() { WATCHED_LOOK } else { UNWATCHED_LOOK };
            tokio::select! {
                end = &mut end => break end?,
                () = run.stop.stopped(), if !is_told_to_stop => {
                    // A host that ends leaves its debates to the workers.
                    if !run.was_stopped_by_person() {
                        return Ok(());
                    }
                    is_told_to_stop = true;
                    self.send_message(run, DebateMessage::Stop).await?;
                    workers.wake(&submitted).await?;
                }
                () = run.inbox.changed() => self.pass_on_words(run).await?,
                () = tokio::time::sleep(pause) => {
                    if run.is_watched() || has_people {
                        self.read_new_records(run).await?;
                    }
                    if has_people {
                        self.find_waiting_people(run).await?;
                        if run.has_answers_to_tell.swap(false, Ordering::AcqRel) {
                            workers.wake(&submitted).await?;
                        }
                    }
                }
            }
        };
        run.set_remote_asks(Vec::new());
        self.read_new_records(run).await?;
        if held.is_some() {
            let debate = self.read_debate(&run.id).await?;
            self.give_back(held, BudgetUse::of_debate(&debate)).await?;
        }
        match end.why {
            Some(why) if !run.was_stopped_by_person() => Err(HostError::conflict(why)),
            _ => Ok(()),
        }
    }

    async fn send_message(&self, run: &HostedRun, message: DebateMessage) -> Result<(), HostError> {
        Ok(self.store().send_message(&run.id, message).await?)
    }

    /// Sends the answer of a person to the worker that waits for it.
    pub(super) async fn answer_at_worker(
        &self,
        run: &HostedRun,
        ask: u32,
        answer: PersonAnswer,
    ) -> Result<(), HostError> {
        let (text, insists) = match answer {
            PersonAnswer::Text { text, insists } => (Some(text), insists),
            PersonAnswer::Pass | PersonAnswer::Late => (None, false),
        };
        self.send_message(run, DebateMessage::Answer { ask, text, insists }).await?;
        run.note_answered(ask);
        self.tell(&run.id);
        Ok(())
    }

    async fn pass_on_words(&self, run: &HostedRun) -> Result<(), HostError> {
        for (by, text) in run.inbox.take_interjections() {
            self.send_message(run, DebateMessage::Interject { by, text }).await?;
        }
        match run.inbox.is_concluding() {
            true => self.send_message(run, DebateMessage::Conclude).await,
            false => Ok(()),
        }
    }

    async fn read_new_records(&self, run: &HostedRun) -> Result<(), HostError> {
        let (id, first) = (run.id.clone(), run.record_count() as u64);
        let raw = self.read_store(move |store| store.raw_log_from(&id, first, usize::MAX)).await?;
        if raw.is_empty() {
            return Ok(());
        }
        for (body, hash) in raw {
            let entry: LogEntry = serde_json::from_str(&body)
                .map_err(|why| HostError::failed(format!("event of debate {}: {why}", run.id)))?;
            run.add(Arc::new(LogRecord { entry, body, hash }));
        }
        self.tell(&run.id);
        Ok(())
    }

    /// Finds out who is asked now and has not answered.
    async fn find_waiting_people(&self, run: &HostedRun) -> Result<(), HostError> {
        let records: Vec<LogRecord> = run.records_from(0).iter().map(|record| (**record).clone()).collect();
        if records.is_empty() {
            return Ok(());
        }
        let unreadable = |why: agon_core::Corrupt| HostError::failed(why.to_string());
        let protocol = protocol_of(&Debate::from_records(&records).map_err(unreadable)?.brief)?;
        let (debate, asks) = reopen(protocol, &records).map_err(unreadable)?;
        let asks: Vec<WaitingAsk> = asks
            .iter()
            .filter(|ask| is_person(&ask.model) && !run.was_answered(ask.id))
            .filter_map(|ask| self.remote_ask(&debate, ask))
            .collect();
        if run.set_remote_asks(asks) {
            self.tell(&run.id);
        }
        Ok(())
    }

    fn remote_ask(&self, debate: &Debate, ask: &Ask) -> Option<WaitingAsk> {
        let phase = &debate.turns.last()?.phase;
        let timeout = self.models().model(&ask.model).ok()?.timeout().unwrap_or_default();
        Some(WaitingAsk::of_ask(ask, phase, timeout.as_secs()))
    }
}

fn has_person(debate: &Debate) -> bool {
    debate.brief.seats.iter().any(|seat| is_person(&seat.model))
}

fn is_person(model: &str) -> bool {
    model == CALLER || model.starts_with("human/")
}
