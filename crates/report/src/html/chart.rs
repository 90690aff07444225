//! Two measures by round, drawn small.

use super::escape;
use crate::figures::score;
use crate::outline::Chart;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 34.0;
const RIGHT: f64 = 118.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 28.0;
/// A figure below a dot that is lower than this would stand on the axis.
const LOW: f64 = 0.17;

/// The drawing, or nothing when nothing was measured.
pub(super) fn svg(chart: &Chart) -> String {
    let marks = &chart.marks;
    let label = describe(chart);
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
            "<text class=\"axis\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>\n",
            escape(&mark.tick)
        ));
    }
    out.push_str(&chart.threshold.map_or_else(String::new, wanted));
    let first: Vec<Option<f64>> = marks.iter().map(|mark| mark.first).collect();
    let second: Vec<Option<f64>> = marks.iter().map(|mark| mark.second).collect();
    let [first_name, second_name] = chart.names;
    out.push_str(&series("agreement", first_name, &first, &second));
    out.push_str(&series("fresh", second_name, &second, &first));
    out.push_str("</svg>\n");
    out
}

/// The line that the first measure is to reach.
fn wanted(threshold: f64) -> String {
    let (y, end) = (y_of(threshold), WIDTH - RIGHT);
    format!(
        "<line class=\"wanted\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{end}\" y2=\"{y:.1}\"/><text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        LEFT + 3.0,
        y - 4.0,
        score(threshold)
    )
}

fn describe(chart: &Chart) -> String {
    let [first_name, second_name] = chart.names;
    let told = chart.marks.iter().filter_map(|mark| {
        let first = mark.first?;
        let second = mark.second.map_or(String::new(), |second| format!(", {second_name} {}", score(second)));
        Some(format!("{}: {first_name} {}{second}", escape(&mark.round.to_lowercase()), score(first)))
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
