//! Colours and signs of a terminal.

use anstyle::{AnsiColor, Effects};

/// What the terminal can show. The caller finds out, because this crate does not read the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Whether to use colours and bold.
    pub color: bool,
    /// The width in columns.
    pub width: usize,
    /// Whether the terminal shows signs outside ASCII.
    pub unicode: bool,
}

/// Longer lines are hard to read.
const WIDEST: usize = 100;
/// A window narrower than this gets lines that are longer than the window.
const NARROWEST: usize = 24;

impl TerminalStyle {
    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(NARROWEST, WIDEST)
    }

    /// Wraps a paragraph. All lines but the first are indented.
    pub fn paragraph(&self, text: &str) -> String {
        let lines = crate::markdown_text::wrap(text, self.columns(), "", "  ");
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Emphasis.
    pub fn bold(&self, text: &str) -> String {
        self.paint(anstyle::Style::new().effects(Effects::BOLD), text)
    }

    pub(crate) fn italic(&self, text: &str) -> String {
        self.paint(anstyle::Style::new().effects(Effects::ITALIC), text)
    }

    /// Small print.
    pub fn dim(&self, text: &str) -> String {
        self.paint(anstyle::Style::new().effects(Effects::DIMMED), text)
    }

    /// A heading.
    pub fn heading(&self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default().effects(Effects::BOLD), text)
    }

    /// What can be typed.
    pub fn code(&self, text: &str) -> String {
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

    pub(crate) fn ellipsis(&self) -> &'static str {
        self.sign("\u{2026}", "...")
    }

    pub(crate) fn again(&self) -> &'static str {
        self.sign("\u{21bb}", "~")
    }
}
