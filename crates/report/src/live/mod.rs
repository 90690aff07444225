//! The view while a debate runs: who is thinking, who has answered, and a table when a round ends.
//!
//! A seat with a label is shown by the label alone. The report names the seat and its model.

mod narration;
mod phase;
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
use agon_core::wording::{seconds, spoken};
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
    /// The width of the longest name in the phase, to align the replies.
    name_width: usize,
}

/// An ask that has no reply yet.
struct LiveAsk {
    who: String,
    labelled: bool,
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
        Self { protocol, style, screen, debate, mask, pending, name_width: 0 }
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
        let Some(pending) = self.pending.get_mut(&ask).filter(|pending| pending.attempt == attempt) else {
            return;
        };
        pending.stream.push(text);
        let Some(bar) = &pending.bar else { return };
        let line = pending.stream.last_line();
        let line = match &self.mask {
            Some(mask) if pending.labelled => mask.apply(&line),
            _ => line,
        };
        // The spinner, the seconds and the gaps take 12 columns.
        let room = self.style.columns().saturating_sub(self.name_width + 12);
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

    /// Removes the spinners. The lines stay.
    pub fn finish(&mut self) {
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
        let Some(pending) = self.pending.get_mut(&ask) else { return };
        let fault = masked_detail(detail, pending.labelled, self.mask.as_ref());
        if let Some(bar) = &pending.bar {
            bar.set_message(fault.clone());
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
        self.screen.line(&format!("  {sign} {who}  {}", cut(&words, room, &style)));
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
    let line = line.trim_end_matches('.');
    mask.filter(|_| labelled).map_or_else(|| line.to_owned(), |mask| mask.apply(line))
}

/// The beginning of a reply, in one line.
fn first_words(text: &str, value: Option<&Value>) -> String {
    if let Some(value) = value {
        let mut strings = Vec::new();
        gather(value, &mut strings);
        return strings.iter().map(|text| text.trim_end_matches('.')).collect::<Vec<_>>().join("; ");
    }
    let first = parse(text).into_iter().find_map(|para| match para {
        MarkdownPart::Text(text) | MarkdownPart::Quote(text) | MarkdownPart::Item { text, .. } => Some(text),
        _ => None,
    });
    clean_line(&bare(&first.unwrap_or_else(|| text.to_owned())))
}

/// A line shows at most this many values.
const VALUES_MAX: usize = 6;

fn gather(value: &Value, strings: &mut Vec<String>) {
    if strings.len() >= VALUES_MAX {
        return;
    }
    match value {
        Value::String(text) if text.contains(' ') => strings.push(bare(&clean_line(text))),
        Value::String(text) if !text.is_empty() => strings.push(spoken(&clean_line(text))),
        Value::Array(values) => values.iter().for_each(|value| gather(value, strings)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, strings)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
