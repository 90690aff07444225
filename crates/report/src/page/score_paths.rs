//! Scores by round, one line for each seat.

use super::blocks::colour;
use super::markup::escape;
use super::paths::{cut, described, every, segment, x_of};
use agon_core::{PositionPaths, SeatPath};

use crate::evidence::paths::column_head;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 210.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// Two names closer than this stand on each other.
const NAME_APART: f64 = 14.0;
/// More do not fit beside the figure.
const NAME_CHARS_MAX: usize = 9;
/// More lines than this across the drawing say nothing.
const GRID_MAX: u32 = 6;

/// The drawing.
pub(super) fn svg(paths: &PositionPaths) -> String {
    let scale = Scale::of(paths);
    let label = described(paths);
    let mut out = format!(
        "<svg class=\"flow\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\n"
    );
    let step = ((scale.high - scale.low) / f64::from(GRID_MAX)).ceil().max(1.0);
    for level in
        (0..=GRID_MAX).map(|line| scale.low + step * f64::from(line)).filter(|level| *level <= scale.high)
    {
        let y = scale.y_of(level);
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"16\" y1=\"{y:.1}\" x2=\"{WIDTH}\" y2=\"{y:.1}\"/>\
             <text class=\"axis\" x=\"0\" y=\"{:.1}\">{level}</text>\n",
            y + 4.0
        ));
    }
    for (place, round) in paths.rounds.iter().enumerate().step_by(every(paths.rounds.len())) {
        let x = x_of(place, paths.rounds.len()).max(24.0);
        out.push_str(&format!(
            "<text class=\"axis\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            HEIGHT - 8.0,
            column_head(*round)
        ));
    }
    let names = names(paths, &scale);
    for (path, name) in paths.seats.iter().zip(names) {
        out.push_str(&drawn(paths, &scale, path, name));
    }
    out.push_str("</svg>\n");
    out
}

/// One seat's line, and its name beside the end.
fn drawn(paths: &PositionPaths, scale: &Scale, path: &SeatPath, name: Option<f64>) -> String {
    let mut out = format!("<g class=\"way {}\"><title>{}</title>", colour(path.place), escape(&path.who));
    let mut before: Option<(f64, f64)> = None;
    for (place, step) in path.steps.iter().enumerate() {
        let Some((step, value)) = step.as_ref().and_then(|step| Some((step, step.value?))) else { continue };
        let (x, y) = (x_of(place, paths.rounds.len()).max(24.0), scale.y_of(value));
        if let Some((x0, y0)) = before {
            let bare = if step.cited.as_ref().is_some_and(Vec::is_empty) { " class=\"bare\"" } else { "" };
            out.push_str(&format!(
                "<path{bare} d=\"M{x0:.1} {y0:.1}L{x:.1} {y:.1}\"><title>{}</title></path>",
                escape(&segment(paths, path, place))
            ));
        }
        let radius = if step.cited.is_some() { 5.0 } else { 3.0 };
        out.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
        before = Some((x, y));
    }
    let last = path.steps.iter().rev().flatten().find_map(|step| paths.positions.get(step.position));
    if let (Some((x, _)), Some(y), Some(last)) = (before, name, last) {
        out.push_str(&format!(
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{} {}</text>",
            x + 10.0,
            y + 4.0,
            escape(&cut(last, NAME_CHARS_MAX)),
            escape(&cut(&path.who, NAME_CHARS_MAX))
        ));
    }
    out.push_str("</g>\n");
    out
}

/// Where the names stand: beside the ends of their lines, but never on each other.
fn names(paths: &PositionPaths, scale: &Scale) -> Vec<Option<f64>> {
    let ends = paths.seats.iter().map(|path| path.steps.iter().rev().flatten().find_map(|step| step.value));
    let mut placed: Vec<Option<f64>> = ends.map(|end| end.map(|end| scale.y_of(end))).collect();
    let mut order: Vec<usize> = (0..placed.len()).collect();
    let at = |placed: &[Option<f64>], seat: usize| placed.get(seat).copied().flatten();
    order.sort_by(|a, b| at(&placed, *a).unwrap_or_default().total_cmp(&at(&placed, *b).unwrap_or_default()));
    let mut free = f64::MIN;
    for seat in order {
        if let Some(slot) = placed.get_mut(seat).and_then(Option::as_mut) {
            *slot = slot.max(free);
            free = *slot + NAME_APART;
        }
    }
    // What was pushed below the drawing moves up again, all together.
    let over = (free - NAME_APART - (HEIGHT - BOTTOM)).max(0.0);
    placed.iter_mut().flatten().for_each(|y| *y -= over);
    placed
}

struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(paths: &PositionPaths) -> Self {
        let values =
            || paths.seats.iter().flat_map(|path| path.steps.iter().flatten()).filter_map(|step| step.value);
        let low = values().fold(f64::INFINITY, f64::min).floor();
        let high = values().fold(f64::NEG_INFINITY, f64::max).ceil();
        let high = if high > low { high } else { low + 1.0 };
        // Of figures so big that one more is the same there is no scale.
        let some = low.is_finite() && high.is_finite() && (high - low).is_finite() && high > low;
        if some { Self { low, high } } else { Self { low: 0.0, high: 1.0 } }
    }

    fn y_of(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share.clamp(0.0, 1.0))
    }
}
