//! How a terminal wants to be written to.

use anstyle::{AnsiColor, Effects};

/// What the terminal can show. The caller finds out; this crate never looks at the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colours and bold are wanted.
    pub color: bool,
    /// Columns.
    pub width: usize,
    /// Whether signs outside ASCII can be shown.
    pub unicode: bool,
}

/// Wider lines than this are hard to read, however wide the window is.
const WIDEST: usize = 100;
/// Below this nothing can be set in columns; the lines are then longer than the window.
const NARROWEST: usize = 24;

impl Style {
    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(NARROWEST, WIDEST)
    }

    /// A paragraph as lines of a width that is easy to read. All lines but the first are indented.
    pub fn paragraph(&self, text: &str) -> String {
        let lines = crate::markdown_text::wrap(text, self.columns(), "", "  ");
        lines.into_iter().map(|line| line + "\n").collect()
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint(anstyle::Style::new().effects(Effects::BOLD), text)
    }

    pub(crate) fn italic(&self, text: &str) -> String {
        self.paint(anstyle::Style::new().effects(Effects::ITALIC), text)
    }

    /// Small print.
    pub fn dim(&self, text: &str) -> String {
        self.paint(anstyle::Style::new().effects(Effects::DIMMED), text)
    }

    pub(crate) fn heading(&self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default().effects(Effects::BOLD), text)
    }

    pub(crate) fn code(&self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    /// Good news.
    pub fn good(&self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// Bad news.
    pub fn bad(&self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default(), text)
    }

    pub(crate) fn warn(&self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    fn paint(&self, style: anstyle::Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn sign(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    pub(crate) fn tick(&self) -> &'static str {
        self.sign("\u{2713}", "+")
    }

    pub(crate) fn cross(&self) -> &'static str {
        self.sign("\u{2717}", "x")
    }

    pub(crate) fn bullet(&self) -> &'static str {
        self.sign("\u{2022}", "-")
    }

    pub(crate) fn dot(&self) -> &'static str {
        self.sign("\u{b7}", "|")
    }

    /// One column of a bar.
    pub(crate) fn bar(&self) -> &'static str {
        self.sign("\u{2588}", "#")
    }

    /// What a bar is held against.
    pub(crate) fn mark(&self) -> &'static str {
        self.sign("\u{2502}", "|")
    }

    pub(crate) fn ellipsis(&self) -> &'static str {
        self.sign("\u{2026}", "...")
    }

    pub(crate) fn again(&self) -> &'static str {
        self.sign("\u{21bb}", "~")
    }
}
