//! Who went from which position to which: rounds are columns, positions are lanes, seats are lines.

use agon_core::{PathStep, PositionPaths, SeatPath};
use maud::{Markup, html};

use super::blocks::colour;
use crate::evidence::paths::{after_round, column_head, position_keys};
use crate::svg::{cut_label, px};

const WIDTH: f64 = 400.0;
const LEFT: f64 = 16.0;
/// The names of the seats are to the right of where their lines end.
const RIGHT: f64 = 92.0;
/// The position's words stand above the lines in its lane.
const WORDS: f64 = 20.0;
/// The room of one line.
const LINE: f64 = 15.0;
/// Below the lines, and between two lanes.
const AIR: f64 = 6.0;
/// The rounds stand below.
const BOTTOM: f64 = 22.0;
/// More characters do not fit a lane.
const WORDS_CHARS_MAX: usize = 58;
/// More do not fit to the right.
const NAME_CHARS_MAX: usize = 13;

/// The drawing.
pub(super) fn svg(paths: &PositionPaths) -> Markup {
    let lanes = PositionLanes::new(paths);
    let height = lanes.height + BOTTOM;
    let line = |seat: usize, path: &SeatPath| {
        let points =
            line_points(paths, path, LEFT, |place, step| Some(lanes.y_of(paths, seat, place, step.position)));
        let curve = |from: &LinePoint<'_>, to: &LinePoint<'_>| {
            let middle = f64::midpoint(from.x, to.x);
            format!(
                "M{:.1} {:.1}C{middle:.1} {:.1} {middle:.1} {:.1} {:.1} {:.1}",
                from.x, from.y, from.y, to.y, to.x, to.y
            )
        };
        let name = points.last().map(|end| (end.x, end.y, cut_label(&path.who, NAME_CHARS_MAX)));
        seat_line(paths, path, &points, curve, name)
    };
    html! {
        svg class="flow" viewBox=(format_args!("0 0 {WIDTH} {height:.0}")) role="img" aria-label=(described(paths)) {
            @for (top, high) in &lanes.tops {
                rect class="lane" x="0" y=(px(*top)) width=(WIDTH) height=(px(*high)) rx="6" {}
            }
            (round_ticks(paths, LEFT, height - 6.0))
            @for (seat, path) in paths.seats.iter().enumerate() { (line(seat, path)) }
            // The words come last, so that no line strikes them out.
            @for (position, (top, _)) in paths.positions.iter().zip(&lanes.tops) {
                text class="held" x="8" y=(px(top + 14.0)) {
                    (cut_label(position, WORDS_CHARS_MAX))
                    title { (position) }
                }
            }
        }
    }
}

/// Whether a lane has no room for all of a position.
pub(super) fn is_cut(position: &str) -> bool {
    position.chars().count() > WORDS_CHARS_MAX
}

/// What the drawing shows, for readers who do not see it.
pub(super) fn described(paths: &PositionPaths) -> String {
    let (keys, _) = position_keys(paths, WORDS_CHARS_MAX);
    let told = paths.seats.iter().map(|path| format!("{}: {}", path.who, course(paths, path, &keys)));
    told.collect::<Vec<_>>().join("; ")
}

fn course(paths: &PositionPaths, path: &SeatPath, keys: &[String]) -> String {
    let mut told = Vec::new();
    for (step, round) in path.steps.iter().zip(&paths.rounds) {
        let Some(step) = step else { continue };
        let key = keys.get(step.position).map_or("", String::as_str);
        match &step.cited {
            _ if told.is_empty() => told.push(key.to_owned()),
            Some(cited) if cited.is_empty() => {
                told.push(format!("{key} in {}, nothing cited", after_round(*round)));
            }
            Some(_) => told.push(format!("{key} in {}, after a cited point", after_round(*round))),
            None => {}
        }
    }
    told.join(", then ")
}

/// What a seat held after a round, as a dot.
pub(super) struct LinePoint<'a> {
    place: usize,
    step: &'a PathStep,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The dots of a seat, from `left` on. `y_of` says how high each is, from the round's place and the step.
pub(super) fn line_points<'a>(
    paths: &PositionPaths,
    path: &'a SeatPath,
    left: f64,
    y_of: impl Fn(usize, &PathStep) -> Option<f64>,
) -> Vec<LinePoint<'a>> {
    let steps = path.steps.iter().enumerate().filter_map(|(place, step)| Some((place, step.as_ref()?)));
    let point = |(place, step): (usize, &'a PathStep)| {
        Some(LinePoint { place, step, x: x_of(place, paths.rounds.len(), left), y: y_of(place, step)? })
    };
    steps.filter_map(point).collect()
}

/// One seat's line with its dots, and its name at the end. A broken piece is a change that cites nothing.
pub(super) fn seat_line(
    paths: &PositionPaths,
    path: &SeatPath,
    points: &[LinePoint<'_>],
    curve: impl Fn(&LinePoint<'_>, &LinePoint<'_>) -> String,
    name: Option<(f64, f64, String)>,
) -> Markup {
    html! {
        g class={ "way " (colour(path.place)) } {
            title { (path.who) }
            @for (from, to) in points.iter().zip(points.iter().skip(1)) {
                @let bare = to.step.cited.as_ref().is_some_and(Vec::is_empty).then_some("bare");
                path class=[bare] d=(curve(from, to)) { title { (segment(paths, path, to)) } }
            }
            @for point in points {
                @let radius = if point.step.cited.is_some() { 5 } else { 3 };
                circle cx=(px(point.x)) cy=(px(point.y)) r=(radius) {}
            }
            @if let Some((x, y, name)) = name { text class="name" x=(px(x + 10.0)) y=(px(y + 4.0)) { (name) } }
        }
    }
}

/// What happened on the way to a round, as a browser shows it over the line.
fn segment(paths: &PositionPaths, path: &SeatPath, to: &LinePoint<'_>) -> String {
    let round = paths.rounds.get(to.place).map_or_else(String::new, |round| after_round(*round));
    let held = paths.positions.get(to.step.position).map_or("", String::as_str);
    match &to.step.cited {
        None => format!("{}, {round}: still {held}", path.who),
        Some(cited) if cited.is_empty() => format!("{} changed in {round}, nothing cited: {held}", path.who),
        Some(cited) => format!("{} changed in {round}, citing {}: {held}", path.who, cited.join("; ")),
    }
}

/// Where the rounds stand.
fn x_of(place: usize, rounds: usize, left: f64) -> f64 {
    let inner = WIDTH - LEFT - RIGHT;
    (LEFT + inner * place as f64 / (rounds.max(2) - 1) as f64).max(left)
}

/// The names of the rounds below a drawing.
pub(super) fn round_ticks(paths: &PositionPaths, left: f64, y: f64) -> Markup {
    let rounds = paths.rounds.len();
    html! {
        @for (place, round) in paths.rounds.iter().enumerate().step_by(every(rounds)) {
            text class="axis" x=(px(x_of(place, rounds, left))) y=(px(y)) text-anchor="middle" {
                (column_head(*round))
            }
        }
    }
}

/// More rounds than this below a drawing stand on each other.
const TICKS_MAX: usize = 10;

/// Which rounds are named below a drawing: all, or every so many.
pub(super) fn every(rounds: usize) -> usize {
    rounds.div_ceil(TICKS_MAX).max(1)
}

/// Where the lane of each position is.
struct PositionLanes {
    /// Top and height of each.
    tops: Vec<(f64, f64)>,
    height: f64,
}

impl PositionLanes {
    /// A lane has room for the most seats that ever were in it at once.
    fn new(paths: &PositionPaths) -> Self {
        let mut lanes = Self { tops: Vec::new(), height: 0.0 };
        for position in 0..paths.positions.len() {
            let held = (0..paths.rounds.len()).map(|round| holders(paths, round, position).count());
            let high = WORDS + LINE * held.max().unwrap_or(1) as f64 + AIR;
            lanes.tops.push((lanes.height, high));
            lanes.height += high + AIR;
        }
        lanes
    }

    fn y_of(&self, paths: &PositionPaths, seat: usize, round: usize, position: usize) -> f64 {
        let slot = holders(paths, round, position).position(|holder| holder == seat).unwrap_or_default();
        let (top, _) = self.tops.get(position).copied().unwrap_or_default();
        top + WORDS + LINE * (slot as f64 + 0.5)
    }
}

/// Who holds a position after a round, in seat order.
fn holders(paths: &PositionPaths, round: usize, position: usize) -> impl Iterator<Item = usize> {
    paths.seats.iter().enumerate().filter_map(move |(seat, path)| {
        let step = path.steps.get(round)?.as_ref()?;
        (step.position == position).then_some(seat)
    })
}
