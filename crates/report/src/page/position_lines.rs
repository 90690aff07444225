//! How the seats moved between positions. Rounds are columns, positions are lanes, seats are lines.

use agon_core::{PathStep, PositionPaths, SeatPath};
use maud::{Markup, html};

use super::blocks::colour;
use crate::evidence::citation;
use crate::evidence::paths::{position_keys, round_head, round_name};
use crate::svg::{cut_label, px};

const WIDTH: f64 = 400.0;
const LEFT: f64 = 16.0;
/// The margin for the names of the seats, where their lines end.
const RIGHT: f64 = 92.0;
/// The height of the position's text at the top of its lane.
const WORDS: f64 = 20.0;
/// The height of one seat's line.
const LINE: f64 = 15.0;
/// The space below the lines, and between two lanes.
const AIR: f64 = 6.0;
/// The height of the names of the rounds.
const BOTTOM: f64 = 22.0;
/// A lane has room for this many characters.
const WORDS_CHARS_MAX: usize = 58;
/// The margin on the right has room for this many characters.
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
        seat_line(path, &points, curve, name)
    };
    html! {
        svg class="flow" viewBox=(format_args!("0 0 {WIDTH} {height:.0}")) role="img" aria-label=(described(paths)) {
            @for (top, high) in &lanes.tops {
                rect class="lane" x="0" y=(px(*top)) width=(WIDTH) height=(px(*high)) rx="6" {}
            }
            (round_ticks(paths, LEFT, height - 6.0))
            @for (seat, path) in paths.seats.iter().enumerate() { (line(seat, path)) }
            // The texts are drawn last, above the lines.
            @for (position, (top, _)) in paths.positions.iter().zip(&lanes.tops) {
                text class="held" x="8" y=(px(top + 14.0)) {
                    (cut_label(position, WORDS_CHARS_MAX))
                    title { (position) }
                }
            }
        }
    }
}

/// Whether a position does not fit its lane.
pub(super) fn is_cut(position: &str) -> bool {
    position.chars().count() > WORDS_CHARS_MAX
}

/// The drawing in words, for readers who do not see it.
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
        let unsorted = if step.is_unsorted { " (not compared with others)" } else { "" };
        match &step.cited {
            _ if told.is_empty() => told.push(format!("{key}{unsorted}")),
            Some(cited) => {
                let round = round_name(&paths.vote_rounds, *round);
                told.push(format!("{key}{unsorted} in {round}, {}", citation(cited, step.names_unverified)));
            }
            None => {}
        }
    }
    told.join(", then ")
}

/// What a seat held after a round, as a dot.
pub(super) struct LinePoint<'a> {
    step: &'a PathStep,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The dots of a seat, right of `left`. `y_of` gives the height of each, from the round's place and the step.
pub(super) fn line_points<'a>(
    paths: &PositionPaths,
    path: &'a SeatPath,
    left: f64,
    y_of: impl Fn(usize, &PathStep) -> Option<f64>,
) -> Vec<LinePoint<'a>> {
    let steps = path.steps.iter().enumerate().filter_map(|(place, step)| Some((place, step.as_ref()?)));
    let point = |(place, step): (usize, &'a PathStep)| {
        Some(LinePoint { step, x: x_of(place, paths.rounds.len(), left), y: y_of(place, step)? })
    };
    steps.filter_map(point).collect()
}

/// One seat's line with its dots, and its name at the end. A broken piece is a change that names nothing that verifies, and a hollow
/// dot a position that nobody compared with the others.
pub(super) fn seat_line(
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
                path class=[bare] d=(curve(from, to)) {}
            }
            @for point in points {
                @let radius = if point.step.cited.is_some() { 5 } else { 3 };
                @let hollow = point.step.is_unsorted.then_some("hollow");
                circle class=[hollow] cx=(px(point.x)) cy=(px(point.y)) r=(radius) {}
            }
            @if let Some((x, y, name)) = name { text class="name" x=(px(x + 10.0)) y=(px(y + 4.0)) { (name) } }
        }
    }
}

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
                (round_head(&paths.vote_rounds, *round))
            }
        }
    }
}

/// If there are more rounds than this, their names overlap.
const TICKS_MAX: usize = 10;

/// Every how many rounds one is named below a drawing.
fn every(rounds: usize) -> usize {
    rounds.div_ceil(TICKS_MAX).max(1)
}

struct PositionLanes {
    /// The top and height of each lane.
    tops: Vec<(f64, f64)>,
    height: f64,
}

impl PositionLanes {
    /// A lane is as high as the most seats that hold its position in one round need.
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

/// The places of the seats that hold a position after a round.
fn holders(paths: &PositionPaths, round: usize, position: usize) -> impl Iterator<Item = usize> {
    paths.seats.iter().enumerate().filter_map(move |(seat, path)| {
        let step = path.steps.get(round)?.as_ref()?;
        (step.position == position).then_some(seat)
    })
}
