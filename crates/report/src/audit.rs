//! Audits for people: first what they mean, then the figures with their intervals.

mod heatmap;
mod judges;
mod votes;

use crate::TerminalStyle;
use crate::markdown_text::wrap;
use agon_core::wording::{capitalized, number_word};
use agon_host::clean_line;

pub use heatmap::heatmap;
pub use judges::{judges, judges_svg};
pub use votes::{votes, votes_svg};

/// The ends of a 95% interval.
type FigureInterval = (f64, f64);

/// A heading with a table under it.
fn section(title: &str, rows: &[Vec<String>], style: &TerminalStyle) -> String {
    format!("\n{}\n{}", style.heading(title), crate::table("", rows, style))
}

fn paragraph(text: &str, style: &TerminalStyle) -> String {
    wrap(&clean_line(text), style.columns(), "", "").iter().map(|line| format!("{line}\n")).collect()
}

/// Facts about the figures, in one dim line.
fn small_print(facts: &[String], style: &TerminalStyle) -> String {
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

/// An end of an interval: `72.5%`. More digits would be noise.
fn end(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// `72.5% to 74.2%`, or `-` without an interval.
fn range(interval: Option<&FigureInterval>, written: impl Fn(f64) -> String) -> String {
    interval.map_or("-".into(), |(low, high)| format!("{} to {}", written(*low), written(*high)))
}

/// `[72.5, 74.2]` after a share in a sentence; empty without an interval.
fn bracket(interval: Option<&FigureInterval>) -> String {
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

/// How many independent voices they are worth, in a sentence; `None` if that is not known.
fn voices(number: usize, noun: &str, n_eff: Option<f64>, rho: Option<f64>) -> Option<String> {
    let who = format!("{} {noun}", capitalized(&number_word(number)));
    let rho = rho?;
    let correlation = format!("the mean correlation of their errors is {rho:.2}");
    if rho <= 0.0 {
        return Some(format!("{who} count in full, because they do not err together: {correlation}."));
    }
    Some(format!("{who} count for about {:.1} independent voices: {correlation}.", n_eff?))
}

/// The pairs of a matrix that have a value, the largest first. Ties keep the order of the matrix.
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

/// The number of pairs shown that err together most.
const PAIRS_MAX: usize = 5;

/// The pairs that err together most, and the pair that does so least.
fn together(matrix: &[Vec<Option<f64>>], names: &[String], style: &TerminalStyle) -> String {
    let pairs = pairs(matrix, names);
    if pairs.len() < 2 {
        return String::new();
    }
    let shown = pairs.iter().take(PAIRS_MAX.min(pairs.len() - 1)).chain(pairs.last());
    let head = std::iter::once(row(["one", "other", "error correlation"]));
    let rows: Vec<Vec<String>> =
        head.chain(shown.map(|(one, other, rho)| row([one, other, &four(*rho)]))).collect();
    section("Who errs together: the pairs that do so most, and the one that does so least", &rows, style)
}
