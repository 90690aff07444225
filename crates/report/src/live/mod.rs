//! The view while a debate runs: who is thinking, who has answered, and a table when a round ends.
//!
//! A seat with a label is shown by the label alone. The report names the seat and its model.

mod narration;
pub(crate) mod phase;
mod screen;
mod stream;

pub use phase::title as phase_title;

use std::collections::BTreeMap;
use std::io::Write;

use agon_core::{AskRecord, Debate, Event, LogRecord, NameMask, Protocol, Reply};
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::TerminalStyle;
use agon_core::view::absence_words;
use agon_core::wording::{clauses, seconds, spoken, without_stop};
use agon_host::clean_line;

use crate::markdown_text::{MarkdownPart, bare, cut, parse, tail, wrap};
use screen::LiveScreen;
use stream::ReplyStream;

pub use narration::DebateNarrator;

/// Where the live view goes. Both variants write to stderr, because stdout is for the result.
#[derive(Debug, Clone, Copy)]
pub enum LiveOutput {
    /// A terminal with spinners that show the reply as it streams.
    Terminal {
        /// What the terminal can show.
        style: TerminalStyle,
    },
    /// Plain lines without control characters.
    Plain {
        /// Its width and signs. Colour is not used.
        style: TerminalStyle,
    },
}

/// The live view of one debate.
pub struct LiveView {
    protocol: &'static dyn Protocol,
    style: TerminalStyle,
    screen: LiveScreen,
    debate: Option<Debate>,
    mask: Option<NameMask>,
    pending: BTreeMap<u32, LiveAsk>,
    /// The lines of replies that a person who is asked in the same phase must not see before answering.
    held_back: Vec<String>,
    /// The width of the longest name in the phase, to align the replies.
    name_width: usize,
}

/// An ask that has no reply yet.
struct LiveAsk {
    who: String,
    labelled: bool,
    is_person: bool,
    asked_ms: u64,
    sent: bool,
    attempt: u32,
    fault: Option<String>,
    stream: ReplyStream,
    bar: Option<ProgressBar>,
}

impl LiveView {
    /// A live view. It must get every record of the debate, from the first on.
    pub fn new(protocol: &'static dyn Protocol, out: LiveOutput) -> Self {
        match out {
            LiveOutput::Terminal { style } => {
                Self::on(protocol, style, LiveScreen::terminal(ProgressDrawTarget::stderr()))
            }
            LiveOutput::Plain { style } => Self::plain(protocol, style, Box::new(std::io::stderr())),
        }
    }

    /// A live view that writes plain lines to any writer.
    pub fn plain(protocol: &'static dyn Protocol, style: TerminalStyle, out: Box<dyn Write + Send>) -> Self {
        Self::on(protocol, TerminalStyle { color: false, ..style }, LiveScreen::Plain(out))
    }

    fn on(protocol: &'static dyn Protocol, style: TerminalStyle, screen: LiveScreen) -> Self {
        let (debate, mask, pending) = (None, None, BTreeMap::new());
        Self { protocol, style, screen, debate, mask, pending, held_back: Vec::new(), name_width: 0 }
    }

    /// Shows what is new in the next record. A record out of order is not shown; the end of the debate reports it.
    pub fn record(&mut self, record: &LogRecord) {
        let at_ms = record.entry.at_ms;
        match &mut self.debate {
            None => {
                let Ok(debate) = Debate::from_records(std::slice::from_ref(record)) else { return };
                self.open(&debate);
                self.debate = Some(debate);
                return;
            }
            Some(debate) => {
                if debate.apply(record).is_err() {
                    return;
                }
            }
        }
        match &record.entry.event {
            Event::Opened { .. } => {}
            Event::Asked { asks, .. } => {
                let title = self
                    .debate
                    .as_ref()
                    .and_then(|debate| Some(phase::title(self.protocol, debate, debate.turns.last()?)));
                self.begin(&title.unwrap_or_default(), asks, at_ms);
            }
            Event::Sent { ask, attempt, .. } => self.sent(*ask, *attempt),
            Event::Attempted { ask, detail, .. } => self.faulted(*ask, detail),
            Event::Replied { ask, reply } => self.replied(*ask, reply, at_ms),
            Event::Interjected { by, text } => {
                let line = format!("  {}: {}", clean_line(by), clean_line(text));
                self.screen.line(&cut(&line, self.style.columns(), &self.style));
            }
            Event::Closed { .. } => {
                self.finish();
                // The report follows.
                self.screen.line("");
            }
        }
    }

    /// Shows the next piece of a reply while it is written. Pieces of a finished reply or an abandoned attempt are ignored.
    pub fn delta(&mut self, ask: u32, attempt: u32, text: &str) {
        let (is_hidden, room) = (self.waits_for_person(), self.message_room());
        let Some(pending) = self.pending.get_mut(&ask).filter(|pending| pending.attempt == attempt) else {
            return;
        };
        pending.stream.push(text);
        let Some(bar) = pending.bar.as_ref().filter(|_| !is_hidden) else { return };
        let line = pending.stream.last_line();
        let line = match &self.mask {
            Some(mask) if pending.labelled => mask.apply(&line),
            _ => line,
        };
        bar.set_message(tail(&line, room, &self.style));
    }

    /// Prints a message above the spinners, which would otherwise overwrite it.
    pub fn note(&mut self, line: &str) {
        self.screen.line(&self.style.warn(&clean_line(line)));
    }

    /// Hides the spinners while `wait` runs. The caller must buffer the records that arrive meanwhile.
    pub fn aside(&mut self, wait: impl FnOnce()) {
        let bars: Vec<(u32, ProgressBar)> =
            self.pending.iter_mut().filter_map(|(ask, pending)| Some((*ask, pending.bar.take()?))).collect();
        bars.iter().for_each(|(_, bar)| self.screen.remove(bar));
        self.screen.clear();
        wait();
        for (ask, gone) in bars {
            let Some(pending) = self.pending.get_mut(&ask) else { continue };
            let bar = self.screen.spinner(&padded(&pending.who, self.name_width), &self.style);
            pending.bar = bar.map(|bar| bar.with_elapsed(gone.elapsed()));
            pending.bar.iter().for_each(|bar| bar.set_message(gone.message()));
        }
    }

    /// The columns for the message of a spinner. The spinner, the seconds and the gaps take 12, and the terminal may echo `^C` twice: on
    /// a full line the echo would begin another one, which nothing removes.
    fn message_room(&self) -> usize {
        self.style.columns().saturating_sub(self.name_width + 16)
    }

    /// Whether a person is asked in this phase and has not answered. A person answers without seeing the others' answers.
    fn waits_for_person(&self) -> bool {
        self.pending.values().any(|pending| pending.is_person)
    }

    /// Removes the spinners. The lines stay.
    pub fn finish(&mut self) {
        self.held_back.clear();
        for (_, pending) in std::mem::take(&mut self.pending) {
            pending.bar.iter().for_each(|bar| self.screen.remove(bar));
        }
        self.screen.clear();
    }

    fn open(&mut self, debate: &Debate) {
        let (brief, style) = (&debate.brief, self.style);
        self.mask = Some(NameMask::new(brief));
        let question = cut(&clean_line(&brief.question), style.columns(), &style);
        self.screen.line(&style.bold(&question));
        let own = self.protocol.view(debate).map(|view| view.outline.facts).unwrap_or_default();
        let facts =
            [vec![brief.protocol.clone()], own, vec![phase::roster(brief), brief.id.clone()]].concat();
        let facts = clean_line(&facts.join(&format!(" {} ", style.dot())));
        self.screen.line(&style.dim(&cut(&facts, style.columns(), &style)));
    }

    fn begin(&mut self, title: &str, asks: &[AskRecord], at_ms: u64) {
        self.screen.line("");
        self.screen.line(&self.style.heading(&cut(&clean_line(title), self.style.columns(), &self.style)));
        for ask in asks {
            let pending = LiveAsk {
                who: clean_line(&phase::shown(ask)),
                labelled: ask.label.is_some(),
                is_person: phase::is_person(&ask.model),
                asked_ms: at_ms,
                sent: false,
                attempt: 0,
                fault: None,
                stream: ReplyStream::default(),
                bar: None,
            };
            self.pending.insert(ask.id, pending);
        }
        self.name_width = self.pending.values().map(|pending| pending.who.width()).max().unwrap_or_default();
    }

    fn sent(&mut self, ask: u32, attempt: u32) {
        let name_width = self.name_width;
        let Some(pending) = self.pending.get_mut(&ask) else { return };
        if pending.sent || attempt > 1 {
            let fault = pending.fault.take().unwrap_or_else(|| "no answer came back".into());
            let line = format!("  {} {}: {fault}, trying again", self.style.again(), pending.who);
            self.screen.line(&self.style.warn(&cut(&line, self.style.columns(), &self.style)));
        }
        pending.sent = true;
        pending.attempt = attempt;
        pending.stream = ReplyStream::default();
        match &pending.bar {
            Some(bar) => bar.set_message(""),
            None => pending.bar = self.screen.spinner(&padded(&pending.who, name_width), &self.style),
        }
    }

    fn faulted(&mut self, ask: u32, detail: &str) {
        let room = self.message_room();
        let Some(pending) = self.pending.get_mut(&ask) else { return };
        let fault = masked_detail(detail, pending.labelled, self.mask.as_ref());
        if let Some(bar) = &pending.bar {
            bar.set_message(cut(&fault, room, &self.style));
        }
        pending.fault = Some(fault);
    }

    fn replied(&mut self, ask: u32, reply: &Reply, at_ms: u64) {
        let Some(pending) = self.pending.remove(&ask) else { return };
        pending.bar.iter().for_each(|bar| self.screen.remove(bar));
        let style = self.style;
        let who = padded(&pending.who, self.name_width);
        let took = seconds(at_ms.saturating_sub(pending.asked_ms));
        let (sign, words) = match reply {
            Reply::Said { text, value, .. } => {
                (style.good(style.tick()), format!("{took:>6}  {}", first_words(text, value.as_ref())))
            }
            Reply::Absent { why, detail } => {
                let detail = masked_detail(detail, pending.labelled, self.mask.as_ref());
                let gap = if detail.is_empty() { "" } else { ": " };
                (style.bad(style.cross()), format!("{}{gap}{detail}", absence_words(*why)))
            }
        };
        let words = match &self.mask {
            Some(mask) if pending.labelled => mask.apply(&words),
            _ => words,
        };
        let room = style.columns().saturating_sub(self.name_width + 6);
        self.held_back.push(format!("  {sign} {who}  {}", cut(&words, room, &style)));
        if !self.waits_for_person() {
            std::mem::take(&mut self.held_back).iter().for_each(|line| self.screen.line(line));
        }
        if self.pending.is_empty() {
            self.show_summary();
        }
    }

    /// Prints the table of a round that has just ended.
    fn show_summary(&mut self) {
        let Some(debate) = &self.debate else { return };
        let Ok(view) = self.protocol.view(debate) else { return };
        let phases = debate.turns.len();
        let Some(summary) = view.round_summaries.into_iter().find(|round| round.after_phases == phases)
        else {
            return;
        };
        let style = TerminalStyle { width: self.style.columns().saturating_sub(4), ..self.style };
        for line in crate::table(&summary.title, &summary.rows, &style).lines() {
            self.screen.line(&format!("    {line}"));
        }
        for (heading, items) in &summary.notes {
            self.screen.line(&format!("    {}", style.bold(&clean_line(heading))));
            let bullet = format!("{} ", style.bullet());
            for line in items.iter().flat_map(|item| wrap(&clean_line(item), style.columns(), &bullet, "  "))
            {
                self.screen.line(&format!("    {line}"));
            }
        }
    }
}

fn padded(name: &str, width: usize) -> String {
    format!("{name}{}", " ".repeat(width.saturating_sub(name.width())))
}

/// A detail in one line, without the names that a label hides.
fn masked_detail(detail: &str, labelled: bool, mask: Option<&NameMask>) -> String {
    let line = clean_line(detail);
    let line = without_stop(&line);
    mask.filter(|_| labelled).map_or_else(|| line.to_owned(), |mask| mask.apply(line))
}

/// The beginning of a reply, in one line.
fn first_words(text: &str, value: Option<&Value>) -> String {
    if let Some(value) = value {
        return without_stop(&main_sentence(value)).to_owned();
    }
    let first = parse(text).into_iter().find_map(|para| match para {
        MarkdownPart::Text(text) | MarkdownPart::Quote(text) | MarkdownPart::Item { text, .. } => Some(text),
        _ => None,
    });
    clean_line(&bare(&first.unwrap_or_else(|| text.to_owned())))
}

/// A line shows at most this many values.
const VALUES_MAX: usize = 6;

/// The fields that come before a decision: what a seat notes, repeats, or says for the other side.
pub(crate) const NOTES: [&str; 3] = ["analysis", "restatement", "steel_man"];

/// What a structured reply says first: the first text among its fields, else in a list of texts, else anywhere in it, else its words.
/// The notes that come before a decision are left out if there is anything else.
fn main_sentence(value: &Value) -> String {
    let own = fields(value).find_map(free_text);
    let listed = || fields(value).find_map(|value| free_text(value.get(0)?));
    if let Some(text) = own.or_else(listed).or_else(|| first_text(value)) {
        return bare(&clean_line(text));
    }
    let mut strings = Vec::new();
    gather(value, &mut strings);
    let notes = || NOTES.iter().find_map(|key| free_text(value.get(*key)?));
    match strings.is_empty() {
        true => notes().map(|text| bare(&clean_line(text))).unwrap_or_default(),
        false => clauses(&strings),
    }
}

/// The fields of an object, without the notes.
fn fields(value: &Value) -> impl Iterator<Item = &Value> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter(|(key, _)| !NOTES.contains(&key.as_str())).map(|(_, value)| value)
}

fn first_text(value: &Value) -> Option<&str> {
    match value {
        Value::String(_) => free_text(value),
        Value::Array(values) => values.iter().find_map(first_text),
        _ => fields(value).find_map(first_text),
    }
}

/// A text that is neither an id nor a word of a choice: those are ASCII and have no spaces.
fn free_text(value: &Value) -> Option<&str> {
    let text = value.as_str()?.trim();
    (text.contains(char::is_whitespace) || !text.is_ascii()).then_some(text)
}

fn gather(value: &Value, strings: &mut Vec<String>) {
    if strings.len() >= VALUES_MAX {
        return;
    }
    match value {
        Value::String(text) if !text.is_empty() => strings.push(spoken(&clean_line(text))),
        Value::Array(values) => values.iter().for_each(|value| gather(value, strings)),
        _ => fields(value).for_each(|value| gather(value, strings)),
    }
}

#[cfg(test)]
mod tests;
