//! The view while a debate runs: who is thinking, who has answered, and a short table as each round ends.
//!
//! Seats that have a label are shown by it alone; which seat and model is behind it is told by the report.

mod phase;
mod screen;
mod stream;

use std::collections::BTreeMap;
use std::io::Write;

use agon_core::{AskRecord, Debate, Event, LogRecord, NameMask, Protocol, Reply};
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::Style;
use agon_core::view::absence_words;
use agon_core::wording::{seconds, spoken};
use agon_host::clean_line;

use crate::markdown_text::{MarkdownPart, bare, cut, parse, tail, wrap};
use screen::LiveScreen;
use stream::ReplyStream;

/// Where the live view goes. Both go to the error stream, because the result is what stdout is for.
#[derive(Debug, Clone, Copy)]
pub enum LiveOutput {
    /// A terminal: spinners, and the words as they stream.
    Terminal {
        /// What it can show.
        style: Style,
    },
    /// Lines, with no carriage return and no escape.
    Plain {
        /// Its width and signs; colour is not used.
        style: Style,
    },
}

/// The live view of one debate.
pub struct LiveView {
    protocol: &'static dyn Protocol,
    style: Style,
    screen: LiveScreen,
    debate: Option<Debate>,
    mask: Option<NameMask>,
    thinking: BTreeMap<u32, PendingAsk>,
    /// The widest name of the phase, so that the answers line up.
    name_width: usize,
}

/// An ask that has no reply yet.
struct PendingAsk {
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
    /// A live view. Feed it the debate's records from the first.
    pub fn new(protocol: &'static dyn Protocol, out: LiveOutput) -> Self {
        match out {
            LiveOutput::Terminal { style } => {
                Self::on(protocol, style, LiveScreen::terminal(ProgressDrawTarget::stderr()))
            }
            LiveOutput::Plain { style } => Self::plain(protocol, style, Box::new(std::io::stderr())),
        }
    }

    /// Plain lines to any writer.
    pub fn plain(protocol: &'static dyn Protocol, style: Style, out: Box<dyn Write + Send>) -> Self {
        Self::on(protocol, Style { color: false, ..style }, LiveScreen::Plain(out))
    }

    fn on(protocol: &'static dyn Protocol, style: Style, screen: LiveScreen) -> Self {
        let (debate, mask, thinking) = (None, None, BTreeMap::new());
        Self { protocol, style, screen, debate, mask, thinking, name_width: 0 }
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

    /// The next piece of an answer as it is written. Pieces of an answer that is already in, or of an attempt that was
    /// given up, are left aside.
    pub fn delta(&mut self, ask: u32, attempt: u32, text: &str) {
        let Some(thinking) = self.thinking.get_mut(&ask).filter(|thinking| thinking.attempt == attempt)
        else {
            return;
        };
        thinking.stream.push(text);
        let Some(bar) = &thinking.bar else { return };
        let line = thinking.stream.last_line();
        let line = match &self.mask {
            Some(mask) if thinking.labelled => mask.apply(&line),
            _ => line,
        };
        // The spinner, the seconds and the gaps between them take this much.
        let room = self.style.columns().saturating_sub(self.name_width + 12);
        bar.set_message(tail(&line, room, &self.style));
    }

    /// Prints a message above the spinners, which would otherwise overwrite it.
    pub fn note(&mut self, line: &str) {
        self.screen.line(&self.style.warn(&clean_line(line)));
    }

    /// Hides the spinners while `wait` runs. The caller must buffer the records that arrive meanwhile.
    pub fn aside(&mut self, wait: impl FnOnce()) {
        let bars: Vec<(u32, ProgressBar)> = self
            .thinking
            .iter_mut()
            .filter_map(|(ask, thinking)| Some((*ask, thinking.bar.take()?)))
            .collect();
        bars.iter().for_each(|(_, bar)| self.screen.remove(bar));
        self.screen.clear();
        wait();
        for (ask, gone) in bars {
            let Some(thinking) = self.thinking.get_mut(&ask) else { continue };
            let bar = self.screen.spinner(&padded(&thinking.who, self.name_width), &self.style);
            thinking.bar = bar.map(|bar| bar.with_elapsed(gone.elapsed()));
            thinking.bar.iter().for_each(|bar| bar.set_message(gone.message()));
        }
    }

    /// Takes the spinners away. The lines stay.
    pub fn finish(&mut self) {
        for (_, thinking) in std::mem::take(&mut self.thinking) {
            thinking.bar.iter().for_each(|bar| self.screen.remove(bar));
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
            let thinking = PendingAsk {
                who: clean_line(&phase::shown(ask)),
                labelled: ask.label.is_some(),
                asked_ms: at_ms,
                sent: false,
                attempt: 0,
                fault: None,
                stream: ReplyStream::default(),
                bar: None,
            };
            self.thinking.insert(ask.id, thinking);
        }
        self.name_width =
            self.thinking.values().map(|thinking| thinking.who.width()).max().unwrap_or_default();
    }

    fn sent(&mut self, ask: u32, attempt: u32) {
        let name_width = self.name_width;
        let Some(thinking) = self.thinking.get_mut(&ask) else { return };
        if thinking.sent || attempt > 1 {
            let fault = thinking.fault.take().unwrap_or_else(|| "no answer came back".into());
            let line = format!("  {} {}: {fault}, trying again", self.style.again(), thinking.who);
            self.screen.line(&self.style.warn(&cut(&line, self.style.columns(), &self.style)));
        }
        thinking.sent = true;
        thinking.attempt = attempt;
        thinking.stream = ReplyStream::default();
        match &thinking.bar {
            Some(bar) => bar.set_message(""),
            None => thinking.bar = self.screen.spinner(&padded(&thinking.who, name_width), &self.style),
        }
    }

    fn faulted(&mut self, ask: u32, detail: &str) {
        let Some(thinking) = self.thinking.get_mut(&ask) else { return };
        let fault = told(detail, thinking.labelled, self.mask.as_ref());
        if let Some(bar) = &thinking.bar {
            bar.set_message(fault.clone());
        }
        thinking.fault = Some(fault);
    }

    fn replied(&mut self, ask: u32, reply: &Reply, at_ms: u64) {
        let Some(thinking) = self.thinking.remove(&ask) else { return };
        thinking.bar.iter().for_each(|bar| self.screen.remove(bar));
        let style = self.style;
        let who = padded(&thinking.who, self.name_width);
        let took = seconds(at_ms.saturating_sub(thinking.asked_ms));
        let (sign, words) = match reply {
            Reply::Said { text, value, .. } => {
                (style.good(style.tick()), format!("{took:>6}  {}", first_words(text, value.as_ref())))
            }
            Reply::Absent { why, detail } => {
                let detail = told(detail, thinking.labelled, self.mask.as_ref());
                let gap = if detail.is_empty() { "" } else { ": " };
                (style.bad(style.cross()), format!("{}{gap}{detail}", absence_words(*why)))
            }
        };
        let words = match &self.mask {
            Some(mask) if thinking.labelled => mask.apply(&words),
            _ => words,
        };
        let room = style.columns().saturating_sub(self.name_width + 6);
        self.screen.line(&format!("  {sign} {who}  {}", cut(&words, room, &style)));
        if self.thinking.is_empty() {
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
        let style = Style { width: self.style.columns().saturating_sub(4), ..self.style };
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

/// What was seen, without the names that a label hides.
fn told(detail: &str, labelled: bool, mask: Option<&NameMask>) -> String {
    let line = clean_line(detail);
    let line = line.trim_end_matches('.');
    mask.filter(|_| labelled).map_or_else(|| line.to_owned(), |mask| mask.apply(line))
}

/// How an answer begins, in one line.
fn first_words(text: &str, value: Option<&Value>) -> String {
    if let Some(value) = value {
        let mut strings = Vec::new();
        gather(value, &mut strings);
        return strings.join("; ");
    }
    let first = parse(text).into_iter().find_map(|para| match para {
        MarkdownPart::Text(text) | MarkdownPart::Quote(text) | MarkdownPart::Item { text, .. } => Some(text),
        _ => None,
    });
    clean_line(&bare(&first.unwrap_or_else(|| text.to_owned())))
}

/// A line holds no more values than this.
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
