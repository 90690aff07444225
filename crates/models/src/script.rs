//! `script/FILE`: canned replies in place of a model, for tests and for showing a debate without any model.
//!
//! The README of this crate describes the file format. A reply is chosen by seat, phase, round and attempt, so a script
//! answers the same every time, in whatever order the calls come.

mod labels;
mod parse;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use agon_core::{CallUsage, Invalid};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

const SCRIPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Stands for any seat or phase without an entry of its own.
const ANY: &str = "*";
/// A script that has been read and checked.
#[derive(Debug)]
pub struct ScriptModel {
    name: String,
    /// The question that it was written for.
    question: Option<String>,
    /// How fast a reply is streamed. `None` streams it in one piece.
    words_per_second: Option<u32>,
    seats: BTreeMap<String, SeatScript>,
    /// Replies for particular questions, tried in order before `seats`.
    cases: Vec<ScriptCase>,
}

/// The replies to prompts that contain certain words.
#[derive(Debug)]
struct ScriptCase {
    /// In lower case.
    words: String,
    seats: BTreeMap<String, SeatScript>,
}

/// The replies of one seat: for each phase, by round and then by attempt.
type SeatScript = BTreeMap<String, Vec<Vec<ScriptedReply>>>;

#[derive(Debug, Clone, PartialEq)]
struct ScriptedReply {
    delay: Duration,
    content: ReplyContent,
}

#[derive(Debug, Clone, PartialEq)]
enum ReplyContent {
    /// This text exactly.
    Text(String),
    /// This value, printed as JSON.
    Data(Value),
    /// This fault, and how long to ask the caller to wait.
    Fail(CallFaultKind, Option<Duration>),
    /// No answer ever comes.
    Hang,
}

impl ScriptModel {
    /// Reads the script in `file`.
    pub fn open(file: &str) -> Result<Self, Invalid> {
        let wrong = |why: String| Invalid(format!("the script {file}: {why}"));
        let open = agon_host::open_input_file(Path::new(file))
            .map_err(|why| wrong(format!("{why}; a script is named script/FILE, or script/demo")))?;
        let mut bytes = Vec::new();
        let read = open.take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|why| wrong(why.to_string()))?;
        if bytes.len() as u64 > SCRIPT_BYTES_MAX {
            return Err(wrong(format!("is larger than {} MB", SCRIPT_BYTES_MAX >> 20)));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("is not UTF-8 text".into()))?;
        Self::parse(file, &text)
    }

    /// Reads a script from its text, YAML or JSON. `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, Invalid> {
        parse::parse_script(file, text).map_err(|why| Invalid(format!("the script {file}: {why}")))
    }

    /// Looks in the matching case and then in `seats`; there for the seat and then for any seat; there for the phase and
    /// then for any phase; there by round and attempt.
    fn reply(&self, call: &ModelCall) -> Result<&ScriptedReply, CallFault> {
        let case = self.matching_case(call).map(|case| &case.seats);
        let rounds = case.into_iter().chain([&self.seats]).find_map(|table| {
            let seats = [call.seat.as_str(), ANY].into_iter().filter_map(|seat| table.get(seat));
            seats.into_iter().find_map(|seat| seat.get(&call.phase.name).or_else(|| seat.get(ANY)))
        });
        let attempts = rounds.and_then(|rounds| entry(rounds, call.phase.round));
        // A seat that is asked again with what was looked up has answered once before.
        let attempt = call.attempt + u32::from(call.is_again);
        let reply = attempts.and_then(|attempts| entry(attempts, attempt));
        reply.ok_or_else(|| self.no_reply(call))
    }

    fn matching_case(&self, call: &ModelCall) -> Option<&ScriptCase> {
        if self.cases.is_empty() {
            return None;
        }
        let prompt: String = call.messages.iter().map(|message| message.text.to_lowercase()).collect();
        self.cases.iter().find(|case| prompt.contains(&case.words))
    }

    fn no_reply(&self, call: &ModelCall) -> CallFault {
        let (name, seat, phase) = (&self.name, &call.seat, &call.phase.name);
        let message = if self.seats.contains_key(seat) {
            format!("{name} has no reply of {seat:?} for {phase:?}: add `{phase}:` under seats.{seat}")
        } else if self.seats.contains_key(ANY) {
            format!(
                "{name} has no reply for {phase:?} under seats.\"*\", which stands for {seat:?}: add `{phase}:` there"
            )
        } else {
            let seats: Vec<&str> = self.seats.keys().map(String::as_str).collect();
            format!("{name} has no seat {seat:?}, only {}: add it, or \"*\" for any seat", seats.join(", "))
        };
        CallFault::new(CallFaultKind::Rejected, message)
    }

    async fn complete(
        &self,
        call: &ModelCall,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let reply = self.reply(call)?;
        sleep(reply.delay).await;
        let text = match &reply.content {
            ReplyContent::Text(text) => text.clone(),
            ReplyContent::Data(value) => labels::fill_in_labels(self, call, value).to_string(),
            ReplyContent::Hang => std::future::pending().await,
            ReplyContent::Fail(kind, retry_after) => {
                let message = format!("{} lets {} fail here", self.name, call.seat);
                return Err(CallFault { retry_after: *retry_after, ..CallFault::new(*kind, message) });
            }
        };
        if let Some(deltas) = deltas {
            self.stream(&text, deltas).await;
        }
        let (model, usage) = (self.name.clone(), CallUsage::default());
        Ok(ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None })
    }

    async fn stream(&self, text: &str, deltas: DeltaSink<'_>) {
        let Some(words_per_second) = self.words_per_second else { return deltas(text) };
        let interval = Duration::from_secs(1) / words_per_second;
        // Each word has a fixed time, so that late wake-ups do not add up.
        let mut time = Instant::now();
        for word in text.split_inclusive(' ') {
            time += interval;
            sleep_until(time).await;
            deltas(word);
        }
    }
}

impl Model for ScriptModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "script"
    }

    fn uses_tokens(&self) -> bool {
        false
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn notice(&self, question: &str) -> Option<String> {
        let written_for = self.question.as_deref().filter(|own| *own != question.trim())?;
        Some(format!("{} gives its replies to {written_for:?}, whatever you ask", self.name))
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        Box::pin(self.complete(call, deltas))
    }
}

/// The entry for a round or attempt, counted from 1. Round 0 takes the first entry; the last entry stands for all later ones.
fn entry<T>(entries: &[T], number: u32) -> Option<&T> {
    let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
    entries.get(index).or_else(|| entries.last())
}
