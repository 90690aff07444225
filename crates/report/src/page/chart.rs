//! Two measures by round, drawn small.

use super::markup::escape;
use super::paths::every;
use agon_core::RoundChart;
use agon_core::wording::score;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 30.0;
/// The second measure has its axis here, where that is another one.
const RIGHT: f64 = 30.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 28.0;
/// A figure below a dot that is lower than this would stand on the axis.
const LOW: f64 = 0.17;

/// The drawing, or nothing when nothing was measured.
pub(super) fn svg(chart: &RoundChart) -> String {
    let marks = &chart.points;
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
    for (place, mark) in marks.iter().enumerate().step_by(every(marks.len())) {
        let (x, y) = (x_of(place, marks.len()), HEIGHT - 8.0);
        out.push_str(&format!(
            "<text class=\"axis\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>\n",
            escape(&mark.tick)
        ));
    }
    out.push_str(&chart.threshold.map_or_else(String::new, wanted));
    let [first_most, second_most] = chart.axis_max;
    let first: Vec<Point> = marks.iter().map(|mark| Point::new(mark.first, first_most)).collect();
    let second: Vec<Point> = marks.iter().map(|mark| Point::new(mark.second, second_most)).collect();
    let [first_name, second_name] = chart.names;
    out.push_str(&series("agreement", first_name, &first, &second));
    out.push_str(&series("fresh", second_name, &second, &first));
    if (second_most - first_most).abs() > f64::EPSILON {
        out.push_str(&second_axis(second_most));
    }
    out.push_str("</svg>\n");
    out
}

/// The second measure's own scale, in its colour.
fn second_axis(most: f64) -> String {
    let tick = |share: f64| {
        let (x, y, level) = (WIDTH - RIGHT + 8.0, y_of(share) + 4.0, most * share);
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\">{level}</text>")
    };
    format!("<g class=\"fresh\">{}{}{}</g>\n", tick(0.0), tick(0.5), tick(1.0))
}

/// A figure, and how far up its axis it is.
#[derive(Clone, Copy)]
struct Point {
    figure: Option<f64>,
    share: Option<f64>,
}

impl Point {
    fn new(figure: Option<f64>, most: f64) -> Self {
        let figure = figure.filter(|figure| figure.is_finite());
        Self { figure, share: figure.map(|figure| figure / most) }
    }
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

fn describe(chart: &RoundChart) -> String {
    let [first_name, second_name] = chart.names;
    let told = chart.points.iter().filter_map(|mark| {
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

/// A line with its dots and figures, and its name above. A round that was not assessed is a gap in it.
fn series(class: &str, name: &str, values: &[Point], others: &[Point]) -> String {
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .filter_map(|(place, value)| Some((x_of(place, values.len()), y_of(value.share?))))
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    if points.is_empty() {
        return String::new();
    }
    let mut out = format!("<g class=\"{class}\"><polyline points=\"{}\"/>", points.join(" "));
    for (place, (value, other)) in values.iter().zip(others).enumerate() {
        let (Some(share), Some(figure)) = (value.share, value.figure) else { continue };
        let (x, y) = (x_of(place, values.len()), y_of(share));
        // The figures keep away from the other line: the upper one above its dot, the lower one below, unless the
        // axis is there.
        let upper = other.share.is_none_or(|other| share > other || (share >= other && class == "agreement"));
        let above = upper || (share < LOW && other.share.is_none_or(|other| other - share > 2.0 * LOW));
        let text_y = if above { y - 9.0 } else { y + 17.0 };
        out.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"));
        out.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{text_y:.1}\" text-anchor=\"middle\">{}</text>",
            score(figure)
        ));
    }
    let x = if class == "agreement" { LEFT } else { WIDTH / 2.0 };
    out.push_str(&format!(
        "<polyline points=\"{x},12 {:.1},12\"/><text class=\"name\" x=\"{:.1}\" y=\"16\">{name}</text></g>\n",
        x + 22.0,
        x + 28.0
    ));
    out
}
