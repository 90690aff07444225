//! Agreement and new points by round, drawn small.

use crate::figures::score;
use crate::outline::Mark;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 34.0;
const RIGHT: f64 = 118.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 28.0;
/// A figure below a dot that is lower than this would stand on the axis.
const LOW: f64 = 0.17;

/// The drawing, or nothing when no round was assessed.
pub(super) fn svg(marks: &[Mark]) -> String {
    let label = describe(marks);
    if label.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\n<title>{label}</title>\n"
    );
    for level in [0.0, 0.5, 1.0] {
        let y = y_of(level);
        let end = WIDTH - RIGHT;
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{end}\" y2=\"{y:.1}\"/>"
        ));
        out.push_str(&format!(
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{level}</text>\n",
            LEFT - 8.0,
            y + 4.0
        ));
    }
    for (place, mark) in marks.iter().enumerate() {
        let (x, y) = (x_of(place, marks.len()), HEIGHT - 8.0);
        out.push_str(&format!(
            "<text class=\"axis\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">Round {}</text>\n",
            mark.round
        ));
    }
    let agreement: Vec<Option<f64>> = marks.iter().map(|mark| mark.agreement).collect();
    let fresh: Vec<Option<f64>> = marks.iter().map(|mark| mark.new_points).collect();
    out.push_str(&series("agreement", "agreement", &agreement, &fresh));
    out.push_str(&series("fresh", "new points", &fresh, &agreement));
    out.push_str("</svg>\n");
    out
}

fn describe(marks: &[Mark]) -> String {
    let told = marks.iter().filter_map(|mark| {
        let agreement = mark.agreement?;
        let fresh = mark.new_points.map_or(String::new(), |fresh| format!(", new points {}", score(fresh)));
        Some(format!("round {}: agreement {}{fresh}", mark.round, score(agreement)))
    });
    told.collect::<Vec<_>>().join("; ")
}

fn x_of(place: usize, rounds: usize) -> f64 {
    let inner = WIDTH - LEFT - RIGHT;
    // A first and last round on the very edge would put their figures over the axis.
    let pad = 32.0;
    if rounds < 2 {
        LEFT + inner / 2.0
    } else {
        LEFT + pad + (inner - 2.0 * pad) * place as f64 / (rounds - 1) as f64
    }
}

fn y_of(value: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value.clamp(0.0, 1.0))
}

/// A line with its dots, figures and name. A round that was not assessed is a gap in it.
fn series(class: &str, name: &str, values: &[Option<f64>], others: &[Option<f64>]) -> String {
    let mut out = format!("<g class=\"{class}\">");
    let points: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(place, value)| value.map(|value| (x_of(place, values.len()), y_of(value))))
        .collect();
    let joined: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    out.push_str(&format!("<polyline points=\"{}\"/>", joined.join(" ")));
    for (place, (value, other)) in values.iter().zip(others).enumerate() {
        let Some(value) = value else { continue };
        let (x, y) = (x_of(place, values.len()), y_of(*value));
        // The figures keep away from the other line: the upper one above its dot, the lower one below, unless the
        // axis is there.
        let upper = other.is_none_or(|other| *value > other || (*value >= other && class == "agreement"));
        let above = upper || (*value < LOW && other.is_none_or(|other| other - value > 2.0 * LOW));
        let text_y = if above { y - 9.0 } else { y + 17.0 };
        out.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"));
        out.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{text_y:.1}\" text-anchor=\"middle\">{}</text>",
            score(*value)
        ));
    }
    if let Some((x, y)) = points.last() {
        let last = |values: &[Option<f64>]| values.iter().rev().find_map(|value| *value);
        let close = last(values).zip(last(others)).is_some_and(|(a, b)| (a - b).abs() < 0.12);
        let shift = match (close, class) {
            (true, "agreement") => -4.0,
            (true, _) => 14.0,
            _ => 4.0,
        };
        out.push_str(&format!(
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
            x + 26.0,
            y + shift
        ));
    }
    out.push_str("</g>\n");
    out
}
