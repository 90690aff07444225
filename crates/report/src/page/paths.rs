//! Who went from which position to which: rounds are columns, positions are lanes, seats are lines.

use super::blocks::colour;
use super::markup::escape;
use agon_core::{PositionPaths, SeatPath};

use crate::evidence::paths::{after_round, column_head, position_keys};

const WIDTH: f64 = 400.0;
const LEFT: f64 = 16.0;
/// The seats' names are to the right of where their lines end.
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
pub(super) fn svg(paths: &PositionPaths) -> String {
    let lanes = Lanes::new(paths);
    let height = lanes.height + BOTTOM;
    let label = described(paths);
    let mut out = format!(
        "<svg class=\"flow\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{label}\">\n"
    );
    for place in 0..paths.positions.len() {
        let (top, high) = lanes.of(place);
        out.push_str(&format!(
            "<rect class=\"lane\" x=\"0\" y=\"{top:.1}\" width=\"{WIDTH}\" height=\"{high:.1}\" rx=\"6\"/>\n"
        ));
    }
    for (place, round) in paths.rounds.iter().enumerate().step_by(every(paths.rounds.len())) {
        out.push_str(&format!(
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            x_of(place, paths.rounds.len()),
            height - 6.0,
            column_head(*round)
        ));
    }
    paths.seats.iter().enumerate().for_each(|(seat, path)| out.push_str(&drawn(paths, &lanes, seat, path)));
    // Over the lines, so that none strikes out a word.
    for (place, position) in paths.positions.iter().enumerate() {
        out.push_str(&format!(
            "<text class=\"held\" x=\"8\" y=\"{:.1}\">{}<title>{}</title></text>\n",
            lanes.of(place).0 + 14.0,
            escape(&cut(position, WORDS_CHARS_MAX)),
            escape(position)
        ));
    }
    out.push_str("</svg>\n");
    out
}

/// Whether a lane has no room for all of a position.
pub(super) fn is_cut(position: &str) -> bool {
    position.chars().count() > WORDS_CHARS_MAX
}

/// What the drawing shows, for who does not see it.
pub(super) fn described(paths: &PositionPaths) -> String {
    let (keys, _) = position_keys(paths, WORDS_CHARS_MAX);
    let told = paths.seats.iter().map(|path| format!("{}: {}", path.who, course(paths, path, &keys)));
    escape(&told.collect::<Vec<_>>().join("; "))
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

/// One seat's line with its dots and name.
fn drawn(paths: &PositionPaths, lanes: &Lanes, seat: usize, path: &SeatPath) -> String {
    let mut out = format!("<g class=\"way {}\"><title>{}</title>", colour(path.place), escape(&path.who));
    let mut before: Option<(f64, f64)> = None;
    for (place, step) in path.steps.iter().enumerate() {
        let Some(step) = step else { continue };
        let (x, y) = (x_of(place, paths.rounds.len()), lanes.y_of(paths, seat, place, step.position));
        if let Some((x0, y0)) = before {
            let middle = f64::midpoint(x0, x);
            let bare = if step.cited.as_ref().is_some_and(Vec::is_empty) { " class=\"bare\"" } else { "" };
            out.push_str(&format!(
                "<path{bare} d=\"M{x0:.1} {y0:.1}C{middle:.1} {y0:.1} {middle:.1} {y:.1} {x:.1} {y:.1}\"><title>{}</title></path>",
                escape(&segment(paths, path, place))
            ));
        }
        let radius = if step.cited.is_some() { 5.0 } else { 3.0 };
        out.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
        before = Some((x, y));
    }
    if let Some((x, y)) = before {
        out.push_str(&format!(
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 10.0,
            y + 4.0,
            escape(&cut(&path.who, NAME_CHARS_MAX))
        ));
    }
    out.push_str("</g>\n");
    out
}

/// What happened on the way to a round, as a browser shows it over the line.
pub(super) fn segment(paths: &PositionPaths, path: &SeatPath, place: usize) -> String {
    let round = paths.rounds.get(place).map_or_else(String::new, |round| after_round(*round));
    let step = path.steps.get(place).and_then(Option::as_ref);
    let held = step.and_then(|step| paths.positions.get(step.position)).map_or("", String::as_str);
    match step.and_then(|step| step.cited.as_ref()) {
        None => format!("{}, {round}: still {held}", path.who),
        Some(cited) if cited.is_empty() => format!("{} changed in {round}, nothing cited: {held}", path.who),
        Some(cited) => format!("{} changed in {round}, citing {}: {held}", path.who, cited.join("; ")),
    }
}

/// Where the rounds stand.
pub(super) fn x_of(place: usize, rounds: usize) -> f64 {
    let inner = WIDTH - LEFT - RIGHT;
    if rounds < 2 { LEFT } else { LEFT + inner * place as f64 / (rounds - 1) as f64 }
}

/// More rounds than this below a drawing stand on each other.
const TICKS_MAX: usize = 10;

/// Which rounds are named below a drawing: all, or every so many.
pub(super) fn every(rounds: usize) -> usize {
    rounds.div_ceil(TICKS_MAX).max(1)
}

/// The beginning of a text, with an ellipsis where something was left off.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
            format!("{}\u{2026}", kept.trim_end())
        }
    }
}

/// Where each position's lane is.
struct Lanes {
    tops: Vec<(f64, f64)>,
    height: f64,
}

impl Lanes {
    /// A lane has room for the most who ever were in it at once.
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

    fn of(&self, position: usize) -> (f64, f64) {
        self.tops.get(position).copied().unwrap_or_default()
    }

    fn y_of(&self, paths: &PositionPaths, seat: usize, round: usize, position: usize) -> f64 {
        let slot = holders(paths, round, position).position(|holder| holder == seat).unwrap_or_default();
        self.of(position).0 + WORDS + LINE * (slot as f64 + 0.5)
    }
}

/// Who holds a position after a round, in seat order.
fn holders(paths: &PositionPaths, round: usize, position: usize) -> impl Iterator<Item = usize> {
    paths.seats.iter().enumerate().filter_map(move |(seat, path)| {
        let step = path.steps.get(round)?.as_ref()?;
        (step.position == position).then_some(seat)
    })
}
