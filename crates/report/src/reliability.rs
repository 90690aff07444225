//! The reliability curve of an agent: how sure it was, and how often it was right.

use agon_measure::calibration::ReliabilityPoint;
use maud::{Markup, html};

use crate::svg::px;

const SIDE: f64 = 220.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// The radius of a point with one forecast, and the most that more of them add.
const DOT: f64 = 3.0;
const DOT_MORE: f64 = 6.0;

/// The curve, for a page whose style sheet sets its colours. On the diagonal, confidence is what it should be.
pub fn reliability_drawing(agent: &str, points: &[ReliabilityPoint]) -> Markup {
    let most = points.iter().map(|point| point.forecasts).max().unwrap_or(1).max(1);
    let line: Vec<String> =
        points.iter().map(|point| format!("{},{}", px(x(point.confidence)), px(y(point.right)))).collect();
    html! {
        svg class="reliability" xmlns="http://www.w3.org/2000/svg" viewBox=(format_args!("0 0 {SIDE} {SIDE}")) role="img"
            aria-label=(spoken(agent, points)) font-size="11" {
            @for share in [0.0, 0.5, 1.0] {
                line class="grid" x1=(px(x(0.0))) x2=(px(x(1.0))) y1=(px(y(share))) y2=(px(y(share))) {}
                line class="grid" x1=(px(x(share))) x2=(px(x(share))) y1=(px(y(0.0))) y2=(px(y(1.0))) {}
                text x=(px(LEFT - 6.0)) y=(px(y(share) + 4.0)) text-anchor="end" { (percent(share)) }
                text x=(px(x(share))) y=(px(SIDE - BOTTOM + 15.0)) text-anchor="middle" { (percent(share)) }
            }
            line class="ideal" x1=(px(x(0.0))) x2=(px(x(1.0))) y1=(px(y(0.0))) y2=(px(y(1.0))) {}
            text x=(px((x(0.0) + x(1.0)) / 2.0)) y=(px(SIDE - 8.0)) text-anchor="middle" { "how sure" }
            text x="0" y="0" transform=(format_args!("translate(10 {}) rotate(-90)", px((y(0.0) + y(1.0)) / 2.0)))
                text-anchor="middle" { "how often right" }
            polyline class="curve" fill="none" points=(line.join(" ")) {}
            @for point in points {
                circle class="point" cx=(px(x(point.confidence))) cy=(px(y(point.right)))
                    r=(px(DOT + DOT_MORE * (f64::from(point.forecasts) / f64::from(most)).sqrt())) {
                    title { (words(point)) }
                }
            }
        }
    }
}

fn x(share: f64) -> f64 {
    LEFT + (SIDE - LEFT - RIGHT) * share.clamp(0.0, 1.0)
}

fn y(share: f64) -> f64 {
    TOP + (SIDE - TOP - BOTTOM) * (1.0 - share.clamp(0.0, 1.0))
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn words(point: &ReliabilityPoint) -> String {
    let ReliabilityPoint { confidence, right, forecasts } = point;
    format!("{} sure, {} right, of {forecasts}", percent(*confidence), percent(*right))
}

fn spoken(agent: &str, points: &[ReliabilityPoint]) -> String {
    let points: Vec<String> = points.iter().map(words).collect();
    format!("Calibration of {}: {}", agon_host::clean_line(agent), points.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_a_point_inside_the_frame_and_is_told_in_words() {
        let point = |confidence, right, forecasts| ReliabilityPoint { confidence, right, forecasts };
        let points = [point(0.55, 0.5, 4), point(0.93, 0.25, 1), point(1.0, 1.0, 9)];
        let drawing = reliability_drawing("<b>a\n", &points).into_string();
        assert_eq!(drawing.matches("<circle").count(), 3);
        assert!(drawing.contains("93% sure, 25% right, of 1") && !drawing.contains("<b>"), "{drawing}");
        assert!(!drawing.contains("NaN") && !reliability_drawing("a", &[]).into_string().contains("NaN"));
        assert!((x(1.0) + DOT + DOT_MORE) <= SIDE && y(1.0) - DOT - DOT_MORE >= 0.0);
    }
}
