//! Two measures by round, as lines. A round without a measure is a gap.

use agon_core::wording::score;
use agon_core::{ChartPoint, RoundChart};
use maud::{Markup, html};

use super::position_lines::every;
use crate::svg::px;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 30.0;
/// The axis of the second measure, if it is another one, is in this margin.
const RIGHT: f64 = 30.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 28.0;
/// If a dot is lower than this share of the axis, a number below it would overlap the axis.
const LOW: f64 = 0.17;

/// The drawing; empty if nothing was measured.
pub(super) fn svg(chart: &RoundChart) -> Markup {
    let points = &chart.points;
    let label = describe(chart);
    if label.is_empty() {
        return html! {};
    }
    let [first_most, second_most] = chart.axis_max;
    let [first_name, second_name] = chart.names;
    let first: Vec<ChartDot> = points.iter().map(|point| ChartDot::new(point.first, first_most)).collect();
    let second: Vec<ChartDot> = points.iter().map(|point| ChartDot::new(point.second, second_most)).collect();
    html! {
        svg class="chart" viewBox=(format_args!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(label) {
            title { (label) }
            @for level in [0.0, 0.5, 1.0] {
                (across("grid", y_of(level)))
                text class="axis" x=(px(LEFT - 8.0)) y=(px(y_of(level) + 4.0)) text-anchor="end" { (level) }
            }
            @for (place, point) in points.iter().enumerate().step_by(every(points.len())) {
                text class="axis" x=(px(x_of(place, points.len()))) y=(px(HEIGHT - 8.0)) text-anchor="middle" {
                    (point.tick)
                }
            }
            @for (place, _) in points.iter().enumerate().filter(|(_, point)| is_unknown(point)) {
                text class="axis" x=(px(x_of(place, points.len()))) y=(px(y_of(0.25))) text-anchor="middle" { "unknown" }
            }
            @if let Some(threshold) = chart.threshold {
                (across("wanted", y_of(threshold)))
                text class="axis" x=(px(LEFT + 3.0)) y=(px(y_of(threshold) - 4.0)) { (score(threshold)) }
            }
            (series("agreement", first_name, &first, &second))
            (series("fresh", second_name, &second, &first))
            @if (second_most - first_most).abs() > f64::EPSILON {
                g class="fresh" {
                    @for share in [0.0, 0.5, 1.0] {
                        text x=(px(WIDTH - RIGHT + 8.0)) y=(px(y_of(share) + 4.0)) { (second_most * share) }
                    }
                }
            }
        }
    }
}

/// A line from the left axis to the right one.
fn across(class: &str, y: f64) -> Markup {
    html! { line class=(class) x1=(LEFT) y1=(px(y)) x2=(WIDTH - RIGHT) y2=(px(y)) {} }
}

/// A figure, and its height as a share of the axis.
#[derive(Clone, Copy)]
struct ChartDot {
    figure: Option<f64>,
    share: Option<f64>,
}

impl ChartDot {
    fn new(figure: Option<f64>, most: f64) -> Self {
        let figure = figure.filter(|figure| figure.is_finite());
        Self { figure, share: figure.map(|figure| figure / most) }
    }
}

fn is_unknown(point: &ChartPoint) -> bool {
    point.first.is_none() && point.second.is_none()
}

/// The figures in words; empty if there are none.
fn describe(chart: &RoundChart) -> String {
    if chart.points.iter().all(is_unknown) {
        return String::new();
    }
    let described = chart.points.iter().map(|point| {
        let measures = chart.names.iter().zip([point.first, point.second]);
        let measures = measures.filter_map(|(name, figure)| Some(format!("{name} {}", score(figure?))));
        let measures = measures.collect::<Vec<_>>().join(", ");
        let measures = if measures.is_empty() { "unknown".to_owned() } else { measures };
        format!("{}: {measures}", point.round.to_lowercase())
    });
    described.collect::<Vec<_>>().join("; ")
}

fn x_of(place: usize, rounds: usize) -> f64 {
    let inner = WIDTH - LEFT - RIGHT;
    // At the very edge, the numbers of the first and last round would overlap the axes.
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

/// A line with its dots and numbers, and its name above.
fn series(class: &str, name: &str, dots: &[ChartDot], others: &[ChartDot]) -> Markup {
    let x_of = |place: usize| x_of(place, dots.len());
    let measured = dots.iter().zip(others).enumerate();
    let measured: Vec<(usize, f64, f64, Option<f64>)> = measured
        .filter_map(|(place, (dot, other))| Some((place, dot.share?, dot.figure?, other.share)))
        .collect();
    if measured.is_empty() {
        return html! {};
    }
    let point = |(place, share, ..): &(usize, f64, f64, Option<f64>)| {
        format!("{:.1},{:.1}", x_of(*place), y_of(*share))
    };
    // Only neighbouring rounds are connected.
    let runs = measured.chunk_by(|(one, ..), (next, ..)| one + 1 == *next);
    let lines: Vec<String> = runs.map(|run| run.iter().map(point).collect::<Vec<_>>().join(" ")).collect();
    let is_first = class == "agreement";
    let x = if is_first { LEFT } else { WIDTH / 2.0 };
    html! {
        g class=(class) {
            @for line in lines { polyline points=(line) {} }
            @for (place, share, figure, other) in measured {
                // The upper number is above its dot and the lower one below, unless the axis is there.
                @let x = x_of(place);
                @let upper = other.is_none_or(|other| share > other || (share >= other && is_first));
                @let above = upper || (share < LOW && other.is_none_or(|other| other - share > 2.0 * LOW));
                @let y = y_of(share);
                circle cx=(px(x)) cy=(px(y)) r="4" {}
                text x=(px(x)) y=(px(if above { y - 9.0 } else { y + 17.0 })) text-anchor="middle" { (score(figure)) }
            }
            polyline points=(format_args!("{x},12 {:.1},12", x + 22.0)) {}
            text class="name" x=(px(x + 28.0)) y="16" { (name) }
        }
    }
}
