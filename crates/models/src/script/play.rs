//! How a script answers a call.

use std::time::Duration;

use agon_core::Usage;
use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Finish, Model, Price};
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Reply, Script, What, labels};

/// The seat or phase that stands for any.
const ANY: &str = "*";

impl Script {
    /// The reply to this call: of the case whose words are in it, else of all; by seat and then for any seat, by phase and then for any phase, by round and by
    /// attempt, where the last entry of a list stands for all later ones.
    fn reply(&self, call: &Call) -> Result<&Reply, Fault> {
        let case = self.case(call).map(|case| &case.seats);
        let tables = case.into_iter().chain([&self.seats]);
        let seats =
            tables.flat_map(|table| [call.seat.as_str(), ANY].into_iter().filter_map(|id| table.get(id)));
        let phases =
            |seat| [call.phase.name.as_str(), ANY].into_iter().filter_map(move |name| get(seat, name));
        let rounds = seats.flat_map(phases).next().ok_or_else(|| self.missing(call))?;
        let attempts = at(rounds, call.phase.round).ok_or_else(|| self.missing(call))?;
        at(attempts, call.attempt).ok_or_else(|| self.missing(call))
    }

    /// The first case whose words are in what is asked.
    fn case(&self, call: &Call) -> Option<&super::Case> {
        if self.cases.is_empty() {
            return None;
        }
        let asked: String = call.messages.iter().map(|message| message.text.to_lowercase()).collect();
        self.cases.iter().find(|case| asked.contains(&case.asked))
    }

    fn missing(&self, call: &Call) -> Fault {
        let (name, seat, phase) = (&self.name, &call.seat, &call.phase.name);
        let has: Vec<&str> = self.seats.keys().map(String::as_str).collect();
        let what = if self.seats.contains_key(seat) {
            format!("{name} has no reply of {seat:?} for {phase:?}: add `{phase}:` under seats.{seat}")
        } else if self.seats.contains_key(ANY) {
            let stands = format!("seats.\"*\", which stands for {seat:?}");
            format!("{name} has no reply for {phase:?} under {stands}: add `{phase}:` there")
        } else {
            format!("{name} has no seat {seat:?}, only {}: add it, or \"*\" for any seat", has.join(", "))
        };
        Fault::new(FaultKind::Rejected, what)
    }

    async fn complete(&self, call: &Call, deltas: Option<Deltas<'_>>) -> Result<Completion, Fault> {
        let reply = self.reply(call)?;
        sleep(reply.after).await;
        let text = match &reply.what {
            What::Text(text) => text.clone(),
            What::Say(value) => labels::filled(self, call, value).to_string(),
            What::Hang => std::future::pending().await,
            What::Fail(kind, retry_after) => {
                let message = format!("{} has {} fail here", self.name, call.seat);
                return Err(Fault { retry_after: *retry_after, ..Fault::new(*kind, message) });
            }
        };
        if let Some(deltas) = deltas {
            self.speak(&text, deltas).await;
        }
        Ok(Completion {
            text,
            model: self.name.clone(),
            usage: Usage::default(),
            finish: Finish::End,
            shortened: None,
        })
    }

    /// Says it word by word, each at its moment rather than after a pause, so that pauses do not add up.
    async fn speak(&self, text: &str, deltas: Deltas<'_>) {
        let Some(words_per_second) = self.words_per_second else { return deltas(text) };
        let pace = Duration::from_secs(1) / words_per_second;
        let mut moment = Instant::now();
        for word in text.split_inclusive(' ') {
            moment += pace;
            sleep_until(moment).await;
            deltas(word);
        }
    }
}

impl Model for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "script"
    }

    fn price(&self) -> Price {
        Price::Free
    }

    fn notice(&self, question: &str) -> Option<String> {
        let written_for = self.question.as_deref().filter(|own| *own != question.trim())?;
        Some(format!(
            "{} says what it was written to say about {written_for:?}, whatever is asked",
            self.name
        ))
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(self.complete(call, deltas))
    }
}

fn get<'a>(seat: &'a super::Seat, phase: &str) -> Option<&'a Vec<Vec<Reply>>> {
    seat.get(phase)
}

/// The entry for a number that counts from 1; 0 is the first too.
fn at<T>(entries: &[T], number: u32) -> Option<&T> {
    let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
    entries.get(index).or_else(|| entries.last())
}
