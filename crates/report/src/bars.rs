//! The lengths of bars, for all renderers.

use agon_core::{LevelBars, ReportBar};

/// The length of each bar as a share of the longest, from 0 to 1.
pub(crate) fn bar_shares(bars: &[ReportBar]) -> Vec<f64> {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let share = |bar: &ReportBar| if most > 0.0 { (bar.value / most).clamp(0.0, 1.0) } else { 0.0 };
    bars.iter().map(share).collect()
}

/// One character of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarCell {
    Full,
    Empty,
    Threshold,
}

/// A bar on a scale from 0 to 1, in this many characters.
pub(crate) fn level_cells(levels: &LevelBars, bar: &ReportBar, columns: usize) -> Vec<BarCell> {
    let place = |value: f64| (value.clamp(0.0, 1.0) * columns as f64).round() as usize;
    let threshold = levels.threshold.map(|threshold| place(threshold).min(columns.saturating_sub(1)));
    let cell = |column: usize| match column {
        _ if Some(column) == threshold => BarCell::Threshold,
        _ if column < place(bar.value) => BarCell::Full,
        _ => BarCell::Empty,
    };
    (0..columns).map(cell).collect()
}
