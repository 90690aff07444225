//! Scores by round, one line for each seat.

use agon_core::PositionPaths;
use maud::{Markup, html};

use super::position_lines::{LinePoint, described, line_points, round_ticks, seat_line};
use crate::svg::{cut_label, px};

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 210.0;
/// The numbers of the axis are left of this.
const LEFT: f64 = 24.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// Names closer than this overlap.
const NAME_APART: f64 = 14.0;
/// More characters do not fit beside the score.
const NAME_CHARS_MAX: usize = 9;
/// The most lines across the drawing.
const GRID_MAX: u32 = 6;

/// The drawing.
pub(super) fn svg(paths: &PositionPaths) -> Markup {
    let scale = ScoreScale::of(paths);
    let step = ((scale.high - scale.low) / f64::from(GRID_MAX)).ceil().max(1.0);
    let levels = (0..=GRID_MAX).map(|line| scale.low + step * f64::from(line));
    html! {
        svg class="flow" viewBox=(format_args!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(described(paths)) {
            @for level in levels.filter(|level| *level <= scale.high) {
                @let y = scale.y_of(level);
                line class="grid" x1="16" y1=(px(y)) x2=(WIDTH) y2=(px(y)) {}
                text class="axis" x="0" y=(px(y + 4.0)) { (level) }
            }
            (round_ticks(paths, LEFT, HEIGHT - 8.0))
            @for (path, height) in paths.seats.iter().zip(name_heights(paths, &scale)) {
                @let points = line_points(paths, path, LEFT, |_, step| Some(scale.y_of(step.value?)));
                @let last = path.steps.iter().rev().flatten().find_map(|step| paths.positions.get(step.position));
                @let name = points.last().zip(height).zip(last).map(|((end, height), last)| {
                    let [last, who] = [last, &path.who].map(|text| cut_label(text, NAME_CHARS_MAX));
                    (end.x, height, format!("{last} {who}"))
                });
                (seat_line(path, &points, straight, name))
            }
        }
    }
}

fn straight(from: &LinePoint<'_>, to: &LinePoint<'_>) -> String {
    format!("M{:.1} {:.1}L{:.1} {:.1}", from.x, from.y, to.x, to.y)
}

/// The heights of the names: beside the ends of their lines, without overlap.
fn name_heights(paths: &PositionPaths, scale: &ScoreScale) -> Vec<Option<f64>> {
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
    // Names that were pushed below the drawing move up again, all together.
    let over = (free - NAME_APART - (HEIGHT - BOTTOM)).max(0.0);
    placed.iter_mut().flatten().for_each(|y| *y -= over);
    placed
}

struct ScoreScale {
    low: f64,
    high: f64,
}

impl ScoreScale {
    fn of(paths: &PositionPaths) -> Self {
        let values =
            || paths.seats.iter().flat_map(|path| path.steps.iter().flatten()).filter_map(|step| step.value);
        let low = values().fold(f64::INFINITY, f64::min).floor();
        let high = values().fold(f64::NEG_INFINITY, f64::max).ceil();
        let high = if high > low { high } else { low + 1.0 };
        // Numbers this large have no room for a scale: adding 1 does not change them.
        let is_scale = low.is_finite() && high.is_finite() && (high - low).is_finite() && high > low;
        if is_scale { Self { low, high } } else { Self { low: 0.0, high: 1.0 } }
    }

    fn y_of(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share.clamp(0.0, 1.0))
    }
}
