//! Where the live view is written to.

use std::io::Write;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Style;

/// How often a spinner turns.
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

    /// Writes a line above the spinners. A reader that has gone away is no reason to stop a debate.
    pub(super) fn line(&mut self, line: &str) {
        let _ = match self {
            Self::Terminal(bars) => bars.println(line),
            Self::Plain(out) => writeln!(out, "{line}").and_then(|()| out.flush()),
        };
    }

    /// A spinner, where there can be one.
    pub(super) fn spinner(&self, name: &str, style: &Style) -> Option<ProgressBar> {
        let Self::Terminal(bars) = self else { return None };
        let bar = bars.add(ProgressBar::no_length());
        let turning = style.code("{spinner}");
        let template = format!("  {turning} {{prefix}}  {{elapsed:>4}}  {}", style.dim("{wide_msg}"));
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

    /// Takes a spinner away.
    pub(super) fn remove(&self, bar: &ProgressBar) {
        bar.finish_and_clear();
        if let Self::Terminal(bars) = self {
            bars.remove(bar);
        }
    }

    /// Takes everything away that is not a line.
    pub(super) fn clear(&self) {
        if let Self::Terminal(bars) = self {
            let _ = bars.clear();
        }
    }
}
