//! The output of the live view.

use std::io::Write;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::TerminalStyle;

/// The time between two frames of a spinner.
const TURN: Duration = Duration::from_millis(120);

/// A terminal with spinners, or a stream of plain lines.
pub(super) enum LiveScreen {
    Terminal(MultiProgress),
    Plain(Box<dyn Write + Send>),
}

impl LiveScreen {
    pub(super) fn terminal(target: ProgressDrawTarget) -> Self {
        Self::Terminal(MultiProgress::with_draw_target(target))
    }

    /// Writes a line above the spinners. Errors are ignored: a closed pipe must not stop a debate.
    pub(super) fn line(&mut self, line: &str) {
        let _ = match self {
            Self::Terminal(bars) => bars.println(line),
            Self::Plain(out) => writeln!(out, "{line}").and_then(|()| out.flush()),
        };
    }

    /// Adds a spinner; `None` if the output has none.
    pub(super) fn spinner(&self, name: &str, style: &TerminalStyle) -> Option<ProgressBar> {
        let Self::Terminal(bars) = self else { return None };
        let bar = bars.add(ProgressBar::no_length());
        let turning = style.code("{spinner}");
        let template = format!("  {turning} {{prefix}}  {{elapsed:>4}}  {}", style.dim("{msg}"));
        let signs = if style.unicode {
            "\u{280b}\u{2819}\u{2839}\u{2838}\u{283c}\u{2834}\u{2826}\u{2827} "
        } else {
            "|/-\\ "
        };
        if let Ok(look) = ProgressStyle::with_template(&template) {
            bar.set_style(look.tick_chars(signs));
        }
        bar.set_prefix(name.to_owned());
        bar.enable_steady_tick(TURN);
        Some(bar)
    }

    pub(super) fn remove(&self, bar: &ProgressBar) {
        bar.finish_and_clear();
        if let Self::Terminal(bars) = self {
            bars.remove(bar);
        }
    }

    /// Removes everything but the lines.
    pub(super) fn clear(&self) {
        if let Self::Terminal(bars) = self {
            let _ = bars.clear();
        }
    }
}
