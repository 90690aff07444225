//! Ratings of agents, as a table with sparklines and as a plot.

use std::collections::BTreeMap;

use crate::TerminalStyle;
use crate::svg::{PICTURE_STYLES, cut_label, px};
use crate::table::table;
use agon_host::clean_line;
use maud::{Markup, html};

/// An agent and its ratings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatedAgent {
    /// The agent's name.
    pub agent: String,
    /// Its Elo rating.
    pub rating: f64,
    /// The standard deviation of its Glicko-2 rating, in points.
    pub deviation: f64,
    /// The number of its rated debates.
    pub games: u32,
    /// Its Brier score, and over how many resolved outcomes.
    pub brier: Option<(f64, u32)>,
    /// The share of its ballots that were for the winner.
    pub conformity: Option<f64>,
    /// When each of its rated debates ended, and its rating after it.
    pub history: Vec<(String, f64)>,
    /// Where its debates were held, and what kind of models spoke in them.
    pub held_in: Vec<String>,
}

/// A sparkline has at most this many ratings, the last ones.
const SPARK_MAX: usize = 24;
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SPARKS_ASCII: [char; 4] = ['_', '-', '=', '#'];
/// The smallest range of a scale, in points, so that small changes look small.
const SPAN_MIN: f64 = 10.0;

/// The table, in the order of the rows, and under it where the debates were held.
pub fn ratings_table(rows: &[RatedAgent], style: &TerminalStyle) -> String {
    let head = ["agent", "rating", "±", "games", "Brier", "with the winner", "course"];
    let head = head.map(|word| if style.unicode { word } else { if word == "±" { "+/-" } else { word } });
    let row = |rated: &RatedAgent| {
        let brier = rated.brier.map_or("-".into(), |(brier, n)| format!("{brier:.3} of {n}"));
        let conformity = rated.conformity.map_or("-".into(), |share| format!("{:.0}%", share * 100.0));
        let (rating, deviation) = (format!("{:.0}", rated.rating), format!("{:.0}", rated.deviation));
        vec![
            rated.agent.clone(),
            rating,
            deviation,
            rated.games.to_string(),
            brier,
            conformity,
            spark(rated, style),
        ]
    };
    let table_rows: Vec<Vec<String>> =
        std::iter::once(head.map(str::to_owned).to_vec()).chain(rows.iter().map(row)).collect();
    format!("{}{}", table("", &table_rows, style), held_in(rows))
}

/// Where the debates behind the ratings were held, each place once with the agents that were rated there.
fn held_in(rows: &[RatedAgent]) -> String {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rated in rows {
        for place in &rated.held_in {
            places.entry(clean_line(place)).or_default().push(clean_line(&rated.agent));
        }
    }
    let line = |(place, agents): (String, Vec<String>)| format!("Held in {place}: {}\n", agents.join(", "));
    places.into_iter().map(line).collect()
}

/// A rating over time as a sparkline.
fn spark(rated: &RatedAgent, style: &TerminalStyle) -> String {
    let signs: &[char] = if style.unicode { &SPARKS } else { &SPARKS_ASCII };
    let values: Vec<f64> = rated.history.iter().map(|(_, rating)| *rating).collect();
    let shown = values.get(values.len().saturating_sub(SPARK_MAX)..).unwrap_or_default();
    let (low, high) = span(shown.iter().copied());
    let sign = |value: &f64| {
        let step = (value - low) / (high - low) * (signs.len() - 1) as f64;
        // The cast turns NaN into 0.
        signs.get(step.round() as usize).copied().unwrap_or(' ')
    };
    shown.iter().map(sign).collect()
}

/// The smallest and largest value, at least [`SPAN_MIN`] apart.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if !low.is_finite() || !high.is_finite() {
        return (0.0, SPAN_MIN);
    }
    let missing = (SPAN_MIN - (high - low)).max(0.0) / 2.0;
    (low - missing, high + missing)
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 40.0;
/// More lines than this are hard to tell apart, so only the first ones are drawn.
const LINES_MAX: usize = 10;
/// Readable with red-green colour blindness. The second five lines are dashed.
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];
const NAME_CHARS_MAX: usize = 30;

/// The ratings over time, as a self-contained SVG picture for light and dark backgrounds.
pub fn ratings_svg(rows: &[RatedAgent]) -> String {
    let styles = html! { style { (PICTURE_STYLES) ".grid{stroke:currentColor;opacity:.15}" } };
    format!("{}\n", picture(rows, &styles).into_string())
}

/// The same drawing for a page, whose style sheet sets its colours.
pub fn ratings_drawing(rows: &[RatedAgent]) -> Markup {
    picture(rows, &html! {})
}

fn picture(rows: &[RatedAgent], styles: &Markup) -> Markup {
    let drawn: Vec<&RatedAgent> = rows.iter().take(LINES_MAX).collect();
    let games = drawn.iter().map(|rated| rated.history.len()).max().unwrap_or_default();
    let values = drawn.iter().flat_map(|rated| rated.history.iter().map(|(_, rating)| *rating));
    let (low, high) = span(values.chain(std::iter::once(START)));
    let frame = RatingsFrame { games, low, high };
    html! {
        svg class="ratings" xmlns="http://www.w3.org/2000/svg" viewBox=(format_args!("0 0 {WIDTH} {HEIGHT}")) role="img"
            aria-label="Ratings over rated debates" font-family="system-ui, sans-serif" font-size="12" {
            (styles)
            (frame.grid())
            @for (place, rated) in drawn.iter().enumerate() { (frame.line(place, rated)) }
            @if drawn.is_empty() { text x=(LEFT) y=(HEIGHT / 2.0) { "No rated debates yet" } }
        }
    }
}

/// Every agent's rating before its first debate.
const START: f64 = agon_core::lesson::RATING_INITIAL;

struct RatingsFrame {
    games: usize,
    low: f64,
    high: f64,
}

impl RatingsFrame {
    fn x(&self, game: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * game as f64 / self.games.max(1) as f64
    }

    fn y(&self, rating: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (self.high - rating) / (self.high - self.low)
    }

    fn grid(&self) -> Markup {
        html! {
            @for step in 0..=4 {
                @let rating = self.low + (self.high - self.low) * f64::from(step) / 4.0;
                @let y = self.y(rating);
                line class="grid" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(px(y)) y2=(px(y)) {}
                text x=(px(LEFT - 8.0)) y=(px(y + 4.0)) text-anchor="end" { (format_args!("{rating:.0}")) }
            }
            text x=(px((LEFT + WIDTH - RIGHT) / 2.0)) y=(px(HEIGHT - 10.0)) text-anchor="middle" {
                "rated debates, each agent's own (" (self.games) ")"
            }
        }
    }

    fn line(&self, place: usize, rated: &RatedAgent) -> Markup {
        let colour = COLOURS.get(place % COLOURS.len()).copied().unwrap_or("#888");
        let dash = (place >= COLOURS.len()).then_some("6 4");
        let course = std::iter::once(START).chain(rated.history.iter().map(|(_, rating)| *rating));
        let points: Vec<String> = course
            .enumerate()
            .map(|(game, rating)| format!("{:.1},{:.1}", self.x(game), self.y(rating)))
            .collect();
        let (left, key) = (WIDTH - RIGHT + 16.0, TOP + 18.0 * place as f64);
        html! {
            polyline fill="none" stroke=(colour) stroke-width="2" stroke-dasharray=[dash] points=(points.join(" ")) {}
            line x1=(left) x2=(left + 22.0) y1=(key) y2=(key) stroke=(colour) stroke-width="2" stroke-dasharray=[dash] {}
            text x=(left + 28.0) y=(key + 4.0) {
                (cut_label(&clean_line(&rated.agent), NAME_CHARS_MAX)) " " (format_args!("{:.0}", rated.rating))
            }
        }
    }
}

/// A name as text in an SVG picture: one line, cut to fit the legend, with markup escaped.
pub fn svg_label(name: &str) -> String {
    html! { (cut_label(&clean_line(name), NAME_CHARS_MAX)) }.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(agent: &str, course: &[f64]) -> RatedAgent {
        let history: Vec<(String, f64)> =
            course.iter().map(|r| ("2026-01-01T00:00:00Z".into(), *r)).collect();
        RatedAgent {
            agent: agent.into(),
            rating: course.last().copied().unwrap_or(START),
            deviation: 210.4,
            games: course.len() as u32,
            brier: (course.len() > 2).then_some((0.125, 4)),
            conformity: (course.len() > 2).then_some(0.75),
            history,
            held_in: vec!["~/work, server models".into()],
        }
    }

    /// "`agon ratings` as a table with a sparkline per agent".
    #[test]
    fn the_table_has_a_small_line_for_each_agent() {
        let rows = [
            rated("openai/alpha", &[1516.0, 1531.0, 1520.0, 1544.5]),
            rated("skeptic", &[1499.0, 1501.0]),
            rated("new", &[]),
        ];
        let style = TerminalStyle { color: false, width: 90, unicode: true };
        insta::assert_snapshot!(ratings_table(&rows, &style), @"
        agent         rating  ±    games  Brier       with the winner  course
        openai/alpha  1544    210  4      0.125 of 4  75%              ▁▅▂█
        skeptic       1501    210  2      -           -                ▄▅
        new           1500    210  0      -           -
        Held in ~/work, server models: openai/alpha, skeptic, new
        ");
        let plain = ratings_table(&rows, &TerminalStyle { unicode: false, ..style });
        assert!(plain.is_ascii(), "{plain}");
    }

    /// "`--plot FILE.svg`": a whole picture whatever the names are, and without anything from elsewhere.
    #[test]
    fn the_plot_is_one_picture_that_needs_nothing_else() {
        let rows: Vec<RatedAgent> = (0..14)
            .map(|n| rated(&format!("<b>&\"{n}\u{1b}[31m\n"), &[1500.0 + f64::from(n), 1490.0]))
            .collect();
        for rows in [&rows[..], &rows[..1], &[]] {
            let svg = ratings_svg(rows);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(!svg.contains("<b>") && !svg.contains('\u{1b}') && !svg.contains("NaN"), "{svg}");
            assert_eq!(svg.matches("<polyline").count(), rows.len().min(LINES_MAX));
            assert_eq!(svg.matches("http").count(), 1, "only the name of the format");
        }
    }

    #[test]
    fn a_flat_course_is_drawn_in_the_middle_and_a_long_one_by_its_end() {
        let style = TerminalStyle { color: false, width: 80, unicode: true };
        assert_eq!(spark(&rated("a", &[1500.0, 1500.0]), &style), "▅▅");
        let long: Vec<f64> = (0..100).map(|n| 1400.0 + f64::from(n) * 5.0).collect();
        let line = spark(&rated("a", &long), &style);
        assert_eq!(
            (line.chars().count(), line.chars().next(), line.chars().next_back()),
            (24, Some('▁'), Some('█'))
        );
    }
}
