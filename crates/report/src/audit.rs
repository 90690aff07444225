//! An audit as people read it: first what it means, then the figures with their intervals.

mod heatmap;
mod judges;
mod votes;

use unicode_width::UnicodeWidthStr;

use crate::Style;
use crate::markdown_text::wrap;
use agon_host::clean_line;

pub use heatmap::heatmap;
pub use judges::{judges, judges_svg};
pub use votes::{votes, votes_svg};

type Interval = (f64, f64);

/// A heading with a table under it.
fn section(title: &str, rows: &[Vec<String>], style: &Style) -> String {
    format!("\n{}\n{}", style.heading(title), crate::table("", rows, style))
}

/// Sentences, broken into lines.
fn paragraph(text: &str, style: &Style) -> String {
    wrap(&clean_line(text), style.columns(), "", "").iter().map(|line| format!("{line}\n")).collect()
}

/// Where the figures come from.
fn small_print(facts: &[String], style: &Style) -> String {
    let facts = facts.join(&format!(" {} ", style.dot()));
    wrap(&facts, style.columns(), "", "").iter().map(|line| format!("{}\n", style.dim(line))).collect()
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// `73.35%`.
fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// An end of an interval, which is never known to so many digits: `72.5%`.
fn end(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// `72.5% to 74.2%`, or what says that there is none.
fn range(interval: Option<&Interval>, written: impl Fn(f64) -> String) -> String {
    interval.map_or("-".into(), |(low, high)| format!("{} to {}", written(*low), written(*high)))
}

/// `[72.5, 74.2]` after a share in a sentence; nothing where no interval was drawn.
fn bracket(interval: Option<&Interval>) -> String {
    interval.map_or_else(String::new, |(low, high)| format!(" [{:.1}, {:.1}]", low * 100.0, high * 100.0))
}

/// A correlation or a number of voices.
fn four(value: f64) -> String {
    format!("{value:.4}")
}

fn known(value: Option<f64>, written: impl Fn(f64) -> String) -> String {
    value.map_or("-".into(), written)
}

/// An end of the interval of a difference in points.
fn end_points(difference: f64) -> String {
    format!("{:+.1}", difference * 100.0)
}

/// A difference of shares in points: `+1.52`.
fn points(difference: f64) -> String {
    format!("{:+.2}", difference * 100.0)
}

/// A small number as a word.
fn word(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// The same at the beginning of a sentence.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// How many independent ones they are, in a sentence; `None` where nothing can be said.
fn voices(number: usize, noun: &str, n_eff: Option<f64>, rho: Option<f64>) -> Option<String> {
    let who = format!("{} {noun}", capital(&word(number)));
    let rho = rho?;
    let correlation = format!("the mean correlation of their errors is {rho:.2}");
    if rho <= 0.0 {
        return Some(format!("{who} count in full, because they do not err together: {correlation}."));
    }
    Some(format!("{who} count for about {:.1} independent voices: {correlation}.", n_eff?))
}

/// The width of a name in a picture, in characters.
fn wide(name: &str) -> usize {
    name.width()
}

/// Every pair of a matrix that has a value, the greatest first; pairs of equal value in the order of the matrix.
fn pairs<'a>(matrix: &[Vec<Option<f64>>], names: &'a [String]) -> Vec<(&'a str, &'a str, f64)> {
    let mut pairs: Vec<(&str, &str, f64)> = matrix
        .iter()
        .zip(names)
        .enumerate()
        .flat_map(|(place, (cells, one))| {
            let others = cells.iter().zip(names).skip(place + 1);
            others.filter_map(|(value, other)| Some((one.as_str(), other.as_str(), (*value)?)))
        })
        .collect();
    pairs.sort_by(|(.., a), (.., b)| b.total_cmp(a));
    pairs
}

/// So many pairs are shown from each end.
const PAIRS_MAX: usize = 5;

/// The pairs that err together most, and the one that does least.
fn together(matrix: &[Vec<Option<f64>>], names: &[String], style: &Style) -> String {
    let pairs = pairs(matrix, names);
    if pairs.len() < 2 {
        return String::new();
    }
    let shown = pairs.iter().take(PAIRS_MAX.min(pairs.len() - 1)).chain(pairs.last());
    let head = std::iter::once(row(["one", "other", "error correlation"]));
    let rows: Vec<Vec<String>> =
        head.chain(shown.map(|(one, other, rho)| row([one, other, &four(*rho)]))).collect();
    section("Who errs together: the most, and last the least", &rows, style)
}
