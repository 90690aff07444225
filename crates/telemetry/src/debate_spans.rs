//! The spans of a debate, made from its log after the fact.
//!
//! One span for the debate, one for each phase under it, one for each ask under its phase. Where an ask took several calls, each call has
//! a span under the ask. The ids are hashes of the debate's id and of what the span stands for, so every reading of the log gives the
//! same ones. A debate that is not over yet has its spans, too: those that are still open end with the last event.
//!
//! Without [`SpanContent::Captured`], no word that anybody wrote is in a span.

use std::collections::HashMap;

use agon_core::play::replay_with;
use agon_core::{
    AbsenceReason, Ask, AskRecord, CallUsage, Corrupt, Debate, Event, LogRecord, Protocol, Reply, SeatThread,
    Status, timestamps,
};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event as SpanEvent, Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status as SpanStatus};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::conventions::{AskOperation, attribute, names, provider_and_model, scope};

/// Whether spans carry what was asked and said.
#[derive(Clone, Copy)]
pub enum SpanContent<'a> {
    /// No word that anybody wrote.
    Omitted,
    /// The question, prompts, replies and the verdict. The log has no prompts, so the protocol renders them again.
    Captured(&'a dyn Protocol),
}

/// Sampled, and the parent is known to be no remote one.
const SPAN_FLAGS: u32 = 0x101;
const NANOS_PER_S: u64 = 1_000_000_000;
const NANOS_PER_MS: u64 = 1_000_000;

/// The spans of a debate: the debate's own first, each span after its parent. A branch has no spans for what it took over, but a link
/// to the debate that it took it from.
pub fn debate_spans(records: &[LogRecord], content: SpanContent<'_>) -> Result<Vec<Span>, Corrupt> {
    let debate = Debate::from_records(records)?;
    let (captures, prompts) = match content {
        SpanContent::Omitted => (false, HashMap::new()),
        SpanContent::Captured(protocol) => (true, prompts_of(protocol, records)),
    };
    let opened_s = timestamps::seconds(&debate.brief.created_at).unwrap_or_default();
    let trace = TraceMaker {
        trace_id: trace_id(&debate.brief.id).to_vec(),
        opened_ns: opened_s.saturating_mul(NANOS_PER_S),
        debate: &debate,
        captures,
        prompts,
    };
    let phases = read_phases(records, &debate);
    let mut spans = vec![trace.root(records)];
    for phase in &phases {
        let span = trace.phase(phase);
        let phase_id = span.span_id.clone();
        spans.push(span);
        for ask in &phase.asks {
            let span = trace.ask(phase, ask, &phase_id);
            let ask_id = span.span_id.clone();
            spans.push(span);
            if ask.calls.len() > 1 {
                spans.extend(ask.calls.iter().map(|call| trace.call(ask, call, &ask_id)));
            }
        }
    }
    Ok(spans)
}

/// The trace of a debate with this id. All its runs, on whatever machine, are in it.
pub fn trace_id(debate: &str) -> [u8; 16] {
    first_bytes(&["trace", debate])
}

fn span_id(debate: &str, kind: &str, number: u64) -> Vec<u8> {
    first_bytes::<8>(&["span", debate, kind, &number.to_string()]).to_vec()
}

fn root_id(debate: &str) -> Vec<u8> {
    span_id(debate, "debate", 0)
}

fn first_bytes<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut hasher = Sha256::new_with_prefix("agon");
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0; N];
    bytes.iter_mut().zip(hasher.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    bytes
}

/// Spans as a request to a collector.
pub(crate) fn trace_request(spans: Vec<Span>, resource: Resource) -> ExportTraceServiceRequest {
    let scope_spans = ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() };
    let resource_spans = ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![scope_spans],
        ..ResourceSpans::default()
    };
    ExportTraceServiceRequest { resource_spans: vec![resource_spans] }
}

/// Spans as one JSON document that any collector reads.
pub fn trace_json(spans: Vec<Span>, resource: Resource) -> Result<String, serde_json::Error> {
    serde_json::to_string(&trace_request(spans, resource))
}

/// A phase with its asks and their times, in milliseconds since the debate was opened.
struct TimedPhase<'a> {
    seq: u64,
    name: &'a str,
    round: u32,
    start_ms: u64,
    end_ms: u64,
    asks: Vec<TimedAsk<'a>>,
}

struct TimedAsk<'a> {
    record: &'a AskRecord,
    start_ms: u64,
    end_ms: u64,
    calls: Vec<TimedCall<'a>>,
    reply: Option<&'a Reply>,
}

struct TimedCall<'a> {
    seq: u64,
    number: u32,
    model: &'a str,
    errand: bool,
    start_ms: u64,
    end_ms: u64,
    fault: Option<CallFault<'a>>,
}

struct CallFault<'a> {
    why: AbsenceReason,
    detail: &'a str,
    usage: &'a CallUsage,
}

/// The phases that the debate itself asked, with the times of everything in them. What is open ends with the log.
fn read_phases<'a>(records: &'a [LogRecord], debate: &Debate) -> Vec<TimedPhase<'a>> {
    let inherited = debate.brief.parent.as_ref().map_or(0, |parent| parent.events);
    let end_ms = debate.at_ms;
    let mut phases: Vec<TimedPhase<'a>> = Vec::new();
    for entry in records.iter().map(|record| &record.entry).filter(|entry| entry.seq > inherited) {
        let at_ms = entry.at_ms;
        if let Event::Asked { phase, round, asks } = &entry.event {
            let timed = |record| TimedAsk { record, start_ms: at_ms, end_ms, calls: Vec::new(), reply: None };
            let asks = asks.iter().map(timed).collect();
            let name = phase.as_str();
            phases.push(TimedPhase { seq: entry.seq, name, round: *round, start_ms: at_ms, end_ms, asks });
            continue;
        }
        let (Event::Sent { ask, .. } | Event::Attempted { ask, .. } | Event::Replied { ask, .. }) =
            &entry.event
        else {
            continue;
        };
        // A log is valid only if every call belongs to the phase before it.
        let Some(phase) = phases.last_mut() else { continue };
        if let Some(timed) = phase.asks.iter_mut().find(|timed| timed.record.id == *ask) {
            timed.fold(entry.seq, at_ms, end_ms, &entry.event);
        }
        if phase.asks.iter().all(|timed| timed.reply.is_some()) {
            phase.end_ms = at_ms;
        }
    }
    phases
}

impl<'a> TimedAsk<'a> {
    fn fold(&mut self, seq: u64, at_ms: u64, log_end_ms: u64, event: &'a Event) {
        match event {
            Event::Sent { attempt, model, errand, .. } => {
                // The ask may have waited for a free place before.
                if self.calls.is_empty() {
                    self.start_ms = at_ms;
                }
                self.calls.push(TimedCall {
                    seq,
                    number: *attempt,
                    model,
                    errand: *errand,
                    start_ms: at_ms,
                    end_ms: log_end_ms,
                    fault: None,
                });
            }
            Event::Attempted { attempt, why, detail, usage, .. } => {
                if let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == *attempt) {
                    call.end_ms = at_ms;
                    call.fault = Some(CallFault { why: *why, detail, usage });
                }
            }
            Event::Replied { reply, .. } => {
                (self.reply, self.end_ms) = (Some(reply), at_ms);
                for call in self.calls.iter_mut().filter(|call| call.fault.is_none()) {
                    call.end_ms = at_ms;
                }
            }
            _ => {}
        }
    }

    /// What all its calls used, and what they cost as far as that is known.
    fn usage(&self) -> CallUsage {
        let faults = self.calls.iter().filter(|call| !call.errand).filter_map(|call| call.fault.as_ref());
        let said = match self.reply {
            Some(Reply::Said { usage, .. }) => Some(usage),
            _ => None,
        };
        let mut sum = CallUsage::default();
        for usage in faults.map(|fault| fault.usage).chain(said) {
            sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
            sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(usage.cached_input_tokens);
            sum.cache_write_tokens = sum.cache_write_tokens.saturating_add(usage.cache_write_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
            if let Some(usd) = usage.usd {
                sum.usd = Some(sum.usd.unwrap_or_default() + usd);
            }
        }
        sum
    }

    /// The model that was asked first. A seat may have others to fall back on.
    fn asked_model(&self) -> &'a str {
        let first_of_chain = || self.record.model.split('|').next().unwrap_or_default().trim();
        self.calls.first().map_or_else(first_of_chain, |call| call.model)
    }
}

/// What all spans of a trace need.
struct TraceMaker<'a> {
    trace_id: Vec<u8>,
    opened_ns: u64,
    debate: &'a Debate,
    captures: bool,
    prompts: HashMap<u32, Ask>,
}

impl TraceMaker<'_> {
    fn at(&self, ms: u64) -> u64 {
        self.opened_ns.saturating_add(ms.saturating_mul(NANOS_PER_MS))
    }

    fn span(&self, id: Vec<u8>, name: String, (start_ms, end_ms): (u64, u64)) -> Span {
        Span {
            trace_id: self.trace_id.clone(),
            span_id: id,
            flags: SPAN_FLAGS,
            name,
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: self.at(start_ms),
            end_time_unix_nano: self.at(end_ms.max(start_ms)),
            status: Some(SpanStatus::default()),
            ..Span::default()
        }
    }

    /// An error without the words of whoever reported it, unless content is captured.
    fn failure(&self, detail: &str) -> Option<SpanStatus> {
        let message = if self.captures { detail.to_owned() } else { String::new() };
        Some(SpanStatus { code: StatusCode::Error.into(), message })
    }

    fn root(&self, records: &[LogRecord]) -> Span {
        let brief = &self.debate.brief;
        let name = format!("invoke_workflow {}", brief.protocol);
        let mut span = self.span(root_id(&brief.id), name, (0, self.debate.at_ms));
        let spent = self.debate.spent();
        span.attributes = vec![
            attribute(names::OPERATION, "invoke_workflow"),
            attribute(names::WORKFLOW, brief.protocol.as_str()),
            attribute(names::CONVERSATION, brief.id.as_str()),
            attribute(names::DEBATE, brief.id.as_str()),
            attribute(names::PROTOCOL, brief.protocol.as_str()),
            attribute(names::SEATS, brief.seats.len() as u64),
            attribute(names::CALLS, spent.calls),
            attribute(names::ALL_INPUT_TOKENS, spent.input_tokens),
            attribute(names::ALL_OUTPUT_TOKENS, spent.output_tokens),
            attribute(names::COST_USD, spent.usd),
            attribute(names::COST_COMPLETE, spent.usd_known),
        ];
        if self.captures {
            span.attributes.push(attribute(names::QUESTION, brief.question.as_str()));
        }
        self.add_outcome(&mut span);
        span.events = self.interjections(records);
        span.links = brief.parent.iter().map(|parent| parent_link(&parent.id)).collect();
        span
    }

    fn add_outcome(&self, span: &mut Span) {
        let Some(outcome) = &self.debate.outcome else {
            span.attributes.push(attribute(names::STATUS, "interrupted"));
            span.attributes.push(attribute(names::UNFINISHED, true));
            return;
        };
        span.attributes.extend([
            attribute(names::STATUS, outcome.status.as_str()),
            attribute(names::TERMINATION, outcome.termination.as_str()),
            attribute(names::FIDELITY, outcome.fidelity.as_str()),
            attribute(names::ROUNDS, outcome.rounds_completed),
        ]);
        span.attributes.extend(outcome.passed.map(|passed| attribute(names::PASSED, passed)));
        if self.captures {
            span.attributes.push(attribute(names::VERDICT, outcome.verdict.to_string()));
        }
        if outcome.status == Status::Failed {
            span.attributes.push(attribute(names::ERROR_TYPE, outcome.termination.as_str()));
            span.status = self.failure("");
        }
    }

    fn interjections(&self, records: &[LogRecord]) -> Vec<SpanEvent> {
        let event = |record: &LogRecord| {
            let Event::Interjected { by, text } = &record.entry.event else { return None };
            let mut attributes = Vec::new();
            if self.captures {
                attributes.push(attribute(names::SAID_BY, by.as_str()));
                attributes.push(attribute(names::SAID_TEXT, text.as_str()));
            }
            let time_unix_nano = self.at(record.entry.at_ms);
            let name = names::INTERJECTION.to_owned();
            Some(SpanEvent { time_unix_nano, name, attributes, ..SpanEvent::default() })
        };
        records.iter().filter_map(event).collect()
    }

    fn phase(&self, phase: &TimedPhase<'_>) -> Span {
        let id = &self.debate.brief.id;
        let name = format!("phase {}", phase.name);
        let mut span = self.span(span_id(id, "phase", phase.seq), name, (phase.start_ms, phase.end_ms));
        span.parent_span_id = root_id(id);
        span.attributes = vec![
            attribute(names::DEBATE, id.as_str()),
            attribute(names::PHASE, phase.name),
            attribute(names::ROUND, phase.round),
        ];
        if phase.asks.iter().any(|ask| ask.reply.is_none()) {
            span.attributes.push(attribute(names::UNFINISHED, true));
        }
        span
    }

    fn ask(&self, phase: &TimedPhase<'_>, ask: &TimedAsk<'_>, parent: &[u8]) -> Span {
        let brief = &self.debate.brief;
        let operation = AskOperation::of_model(ask.asked_model());
        let (provider, model) = provider_and_model(ask.asked_model());
        let id = span_id(&brief.id, "ask", ask.record.id.into());
        let name = format!("{} {model}", operation.as_str());
        let mut span = self.span(id, name, (ask.start_ms, ask.end_ms));
        span.parent_span_id = parent.to_vec();
        span.attributes = vec![
            attribute(names::OPERATION, operation.as_str()),
            attribute(names::CONVERSATION, brief.id.as_str()),
            attribute(names::DEBATE, brief.id.as_str()),
            attribute(names::PHASE, phase.name),
            attribute(names::ROUND, phase.round),
            attribute(names::ASK, ask.record.id),
            attribute(names::SEAT, ask.record.seat.as_str()),
            attribute(names::ATTEMPTS, ask.calls.len() as u64),
        ];
        let role = brief.seat(&ask.record.seat).map(|seat| attribute(names::ROLE, seat.role.as_str()));
        span.attributes.extend(role);
        match operation {
            AskOperation::Tool => span.attributes.push(attribute(names::TOOL, model)),
            AskOperation::Person => {}
            AskOperation::Chat | AskOperation::Embeddings => {
                span.kind = SpanKind::Client.into();
                span.attributes.push(attribute(names::PROVIDER, provider));
                span.attributes.push(attribute(names::REQUEST_MODEL, model));
            }
        }
        add_usage(&mut span, &ask.usage());
        self.add_reply(&mut span, ask, operation);
        span
    }

    fn add_reply(&self, span: &mut Span, ask: &TimedAsk<'_>, operation: AskOperation) {
        match ask.reply {
            None => span.attributes.push(attribute(names::UNFINISHED, true)),
            Some(Reply::Absent { why, detail }) => {
                span.attributes.push(attribute(names::ERROR_TYPE, why.as_str()));
                span.status = self.failure(detail);
            }
            Some(Reply::Said { text, model, cut_off, .. }) => {
                let finish = if *cut_off { "length" } else { "stop" };
                if operation.is_of_model() {
                    span.attributes.push(attribute(names::RESPONSE_MODEL, provider_and_model(model).1));
                    span.attributes.push(attribute(names::FINISH_REASONS, [finish]));
                }
                if self.captures {
                    let message =
                        json!([{"role": "assistant", "parts": [text_part(text)], "finish_reason": finish}]);
                    span.attributes.push(attribute(names::OUTPUT_MESSAGES, message.to_string()));
                }
            }
        }
        if let Some(asked) = self.prompts.get(&ask.record.id) {
            span.attributes.extend(prompt_attributes(asked));
        }
    }

    fn call(&self, ask: &TimedAsk<'_>, call: &TimedCall<'_>, parent: &[u8]) -> Span {
        let id = span_id(&self.debate.brief.id, "call", call.seq);
        let mut span = self.span(id, format!("attempt {}", call.number), (call.start_ms, call.end_ms));
        span.parent_span_id = parent.to_vec();
        span.attributes = vec![
            attribute(names::DEBATE, self.debate.brief.id.as_str()),
            attribute(names::ASK, ask.record.id),
            attribute(names::ATTEMPT, call.number),
            attribute(names::MODEL, call.model),
        ];
        if let Some(fault) = &call.fault {
            // Under our own names, because the ask counts these tokens already.
            span.attributes.push(attribute(names::ALL_INPUT_TOKENS, fault.usage.input_tokens));
            span.attributes.push(attribute(names::ALL_OUTPUT_TOKENS, fault.usage.output_tokens));
            span.attributes.push(attribute(names::ERROR_TYPE, fault.why.as_str()));
            span.status = self.failure(fault.detail);
        }
        span
    }
}

fn add_usage(span: &mut Span, usage: &CallUsage) {
    let counts = [
        (names::INPUT_TOKENS, usage.input_tokens),
        (names::OUTPUT_TOKENS, usage.output_tokens),
        (names::CACHE_READ_TOKENS, usage.cached_input_tokens),
        (names::CACHE_WRITE_TOKENS, usage.cache_write_tokens),
    ];
    let counts = counts.into_iter().filter(|(_, tokens)| *tokens > 0);
    span.attributes.extend(counts.map(|(name, tokens)| attribute(name, tokens)));
    span.attributes.extend(usage.usd.map(|usd| attribute(names::COST_USD, usd)));
}

fn parent_link(debate: &str) -> Link {
    Link {
        trace_id: trace_id(debate).to_vec(),
        span_id: root_id(debate),
        attributes: vec![attribute(names::DEBATE, debate)],
        flags: SPAN_FLAGS,
        ..Link::default()
    }
}

/// The asks that have a reply, with their prompts. A log that this version cannot replay gives those up to where it departs.
fn prompts_of(protocol: &dyn Protocol, records: &[LogRecord]) -> HashMap<u32, Ask> {
    let mut prompts = HashMap::new();
    let replayed = replay_with(protocol, records, &mut |ask, _| {
        prompts.insert(ask.id, ask.clone());
        Ok(())
    });
    drop(replayed);
    prompts
}

fn prompt_attributes(ask: &Ask) -> [KeyValue; 2] {
    let message = |role: &str, text: &str| json!({"role": role, "parts": [text_part(text)]});
    let mut messages = Vec::new();
    if let SeatThread::Continue(earlier) = &ask.thread {
        for turn in earlier {
            messages.push(message("user", &turn.prompt));
            messages.push(message("assistant", &turn.reply));
        }
    }
    messages.push(message("user", &ask.prompt.user()));
    [
        attribute(names::SYSTEM_INSTRUCTIONS, json!([text_part(&ask.prompt.system)]).to_string()),
        attribute(names::INPUT_MESSAGES, Value::from(messages).to_string()),
    ]
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}
