//! The calls of a debate on one time axis.

use agon_core::wording::{counted, seconds, spoken};
use agon_core::{AskRecord, CallUsage, Event, Reply};
use agon_host::clean_line;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::StoredDebate;
use crate::TerminalStyle;
use crate::markdown_text::cut;
use crate::transcript::asked_name;

/// A longer name is cut.
const NAME_MAX: usize = 22;
/// The width of the figures right of the bars.
const FIGURES: usize = 28;
/// The smallest and largest width of the time axis.
const AXIS_MIN: usize = 8;
const AXIS_MAX: usize = 60;

/// The time axis, the time of each phase, and a bar for each call.
pub(super) fn text(stored: &StoredDebate<'_>, style: &TerminalStyle) -> String {
    let timeline = Timeline::read(stored);
    let width = style.columns();
    let names = timeline.phases.iter().flat_map(|phase| &phase.calls).map(|call| call.who.width());
    let name = names.max().unwrap_or_default().min(NAME_MAX).min(width / 3);
    let axis = width.saturating_sub(name + FIGURES + 4).clamp(AXIS_MIN, AXIS_MAX);
    let drawing = TimelineDrawing { style, width, name, axis, total: timeline.total };
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&drawing.scale());
    for (place, phase) in timeline.phases.iter().enumerate() {
        timeline
            .remarks
            .iter()
            .filter(|said| said.after == place)
            .for_each(|said| line(&drawing.remark(said)));
        line("");
        line(&drawing.head(phase));
        phase.calls.iter().for_each(|call| line(&drawing.call(call)));
    }
    let last = timeline.remarks.iter().filter(|said| said.after >= timeline.phases.len());
    last.for_each(|said| line(&drawing.remark(said)));
    out
}

/// The same as JSON.
pub(super) fn json(stored: &StoredDebate<'_>) -> Value {
    let timeline = Timeline::read(stored);
    let call = |call: &TimelineCall| {
        let faults: Vec<Value> = call
            .faults
            .iter()
            .map(|(at, why, detail)| json!({"at_ms": at, "why": why, "detail": detail}))
            .collect();
        json!({"ask": call.id, "seat": call.seat, "who": call.who, "from_ms": call.from, "to_ms": call.to,
            "attempts": call.attempts, "faults": faults, "absent": call.absent, "input_tokens": call.usage.input_tokens,
            "cached_input_tokens": call.usage.cached_input_tokens, "output_tokens": call.usage.output_tokens})
    };
    let phase = |phase: &TimelinePhase| {
        let calls: Vec<Value> = phase.calls.iter().map(call).collect();
        json!({"phase": phase.name, "round": phase.round, "from_ms": phase.from, "to_ms": phase.to, "calls": calls})
    };
    let remark = |said: &TimelineRemark| json!({"at_ms": said.at, "by": said.by, "text": said.text});
    json!({"id": stored.source.debate.brief.id, "total_ms": timeline.total, "phases": timeline.phases.iter().map(phase).collect::<Vec<_>>(),
        "interjections": timeline.remarks.iter().map(remark).collect::<Vec<_>>(),
        "time": {"in_phases_ms": timeline.in_phases(), "in_calls_ms": timeline.in_calls()}})
}

struct Timeline {
    phases: Vec<TimelinePhase>,
    remarks: Vec<TimelineRemark>,
    total: u64,
}

struct TimelinePhase {
    name: String,
    title: String,
    round: u32,
    from: u64,
    to: u64,
    calls: Vec<TimelineCall>,
}

struct TimelineCall {
    id: u32,
    seat: String,
    who: String,
    /// When it was sent, else when it was asked.
    from: u64,
    /// When its reply or absence was recorded.
    to: Option<u64>,
    attempts: u32,
    faults: Vec<(u64, String, String)>,
    absent: Option<String>,
    usage: CallUsage,
}

/// An interjection of a person.
struct TimelineRemark {
    at: u64,
    by: String,
    text: String,
    /// The number of phases before it.
    after: usize,
}

impl Timeline {
    fn read(stored: &StoredDebate<'_>) -> Self {
        let mut timeline = Self { phases: Vec::new(), remarks: Vec::new(), total: 0 };
        for record in stored.records {
            let at = record.entry.at_ms;
            timeline.total = timeline.total.max(at);
            match &record.entry.event {
                Event::Opened { .. } | Event::Closed { .. } => {}
                Event::Asked { phase, round, asks } => timeline.begin(stored, phase, *round, asks, at),
                Event::Interjected { by, text } => {
                    let (by, text, after) = (clean_line(by), clean_line(text), timeline.phases.len());
                    timeline.remarks.push(TimelineRemark { at, by, text, after });
                }
                Event::Sent { ask, .. } => timeline.with(*ask, |call| {
                    call.from = if call.attempts == 0 { at } else { call.from };
                    call.attempts += 1;
                }),
                Event::Attempted { ask, why, detail, usage, .. } => timeline.with(*ask, |call| {
                    call.faults.push((at, why.as_str().to_owned(), clean_line(detail)));
                    call.used(usage);
                }),
                Event::Replied { ask, reply } => {
                    timeline.with(*ask, |call| {
                        call.to = Some(at);
                        match reply {
                            Reply::Said { usage, .. } => call.used(usage),
                            Reply::Absent { why, .. } => call.absent = Some(why.as_str().to_owned()),
                        }
                    });
                    timeline.phases.iter_mut().last().into_iter().for_each(|phase| phase.to = at);
                }
            }
        }
        timeline
    }

    fn begin(&mut self, stored: &StoredDebate<'_>, name: &str, round: u32, asks: &[AskRecord], at: u64) {
        let title = stored.source.phase_heading(name, round);
        let call = |ask: &AskRecord| TimelineCall {
            id: ask.id,
            seat: ask.seat.clone(),
            who: clean_line(&asked_name(&stored.source, ask)),
            from: at,
            to: None,
            attempts: 0,
            faults: Vec::new(),
            absent: None,
            usage: CallUsage::default(),
        };
        let (name, calls) = (name.to_owned(), asks.iter().map(call).collect());
        self.phases.push(TimelinePhase { name, title: clean_line(&title), round, from: at, to: at, calls });
    }

    fn with(&mut self, ask: u32, change: impl FnOnce(&mut TimelineCall)) {
        let mut calls = self.phases.iter_mut().rev().flat_map(|phase| &mut phase.calls);
        if let Some(call) = calls.find(|call| call.id == ask) {
            change(call);
        }
    }

    fn in_phases(&self) -> u64 {
        self.phases.iter().map(TimelinePhase::took).fold(0, u64::saturating_add)
    }

    fn in_calls(&self) -> u64 {
        self.phases.iter().flat_map(|phase| &phase.calls).map(TimelineCall::took).fold(0, u64::saturating_add)
    }
}

impl TimelinePhase {
    fn took(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

impl TimelineCall {
    fn took(&self) -> u64 {
        self.to.unwrap_or(self.from).saturating_sub(self.from)
    }

    fn used(&mut self, usage: &CallUsage) {
        let sum = &mut self.usage;
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(usage.cached_input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
    }
}

struct TimelineDrawing<'a> {
    style: &'a TerminalStyle,
    width: usize,
    name: usize,
    /// The columns of the time axis.
    axis: usize,
    total: u64,
}

impl TimelineDrawing<'_> {
    fn scale(&self) -> String {
        let (end, room) = (seconds(self.total), self.name + 4 + self.axis);
        let ruler = format!("{}0 s", " ".repeat(self.name + 4));
        let gap = room.saturating_sub(ruler.width() + end.width());
        self.style.dim(&format!("{ruler}{}{end}", " ".repeat(gap.max(1))))
    }

    fn head(&self, phase: &TimelinePhase) -> String {
        let took = format!("  {}", seconds(phase.took()));
        let title = cut(&phase.title, self.width.saturating_sub(took.width()), self.style);
        format!("{}{}", self.style.heading(&title), self.style.dim(&took))
    }

    fn call(&self, call: &TimelineCall) -> String {
        let name = cut(&call.who, self.name, self.style);
        let gap = " ".repeat(2 + self.name.saturating_sub(name.width()));
        let lead = format!("  {name}{gap}");
        let cells: String = (0..self.axis).map(|column| self.cell(call, column)).collect();
        let room = self.width.saturating_sub(self.name + 4 + self.axis + 2);
        let tokens = call.usage.input_tokens.saturating_add(call.usage.output_tokens);
        let mut figures = match (&call.absent, call.to) {
            (Some(why), _) => vec![seconds(call.took()), spoken(why)],
            (None, None) => vec!["no answer yet".to_owned()],
            (None, Some(_)) => vec![seconds(call.took()), counted(tokens, "token")],
        };
        figures.extend((call.attempts > 1).then(|| format!("{} tries", call.attempts)));
        let figures = cut(&figures.join(", "), room, self.style);
        format!("{lead}{}  {}", self.style.code(&cells), self.style.dim(&figures))
    }

    /// Shows whether the call was running in this column, or an attempt failed.
    fn cell(&self, call: &TimelineCall, column: usize) -> &'static str {
        let at = |ms: u64| self.column(ms);
        let end = call.to.map_or(self.axis.saturating_sub(1), at);
        let failed = call.faults.iter().any(|(ms, ..)| at(*ms) == column)
            || (call.absent.is_some() && column == end.max(at(call.from)));
        match (failed, column >= at(call.from) && column <= end.max(at(call.from))) {
            (true, _) => self.style.cross(),
            (false, true) => self.style.bar(),
            (false, false) => " ",
        }
    }

    fn column(&self, ms: u64) -> usize {
        let share = ms as f64 / self.total.max(1) as f64;
        ((share * self.axis as f64) as usize).min(self.axis.saturating_sub(1))
    }

    fn remark(&self, said: &TimelineRemark) -> String {
        let line = format!("{}, {}: {}", seconds(said.at), said.by, said.text);
        cut(&line, self.width, self.style)
    }
}
