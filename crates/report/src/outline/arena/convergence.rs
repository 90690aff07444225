//! How alike the proposals were after each round, and what kept them from converging.

use serde_json::Value;

use super::{Told, agent, agents, figure};
use crate::figures::score;
use crate::outline::wording::{joined, ranges};
use crate::outline::{Bar, Block, Chart, Item, Levels, Mark, Section, at, list, whole, words};

/// The protocol allows for so much rounding.
const TOLERANCE: f64 = 1e-9;

impl Told<'_> {
    pub(super) fn convergence(&self) -> Option<Section> {
        let checks = self.list("/convergence");
        let named: Vec<String> = checks.iter().enumerate().map(|(place, _)| round(checks, place)).collect();
        let mut blocks = Vec::new();
        let threshold = at(self.verdict, "/convergence_threshold").as_f64();
        let marks = checks.iter().zip(&named).map(|(check, name)| Mark {
            round: name.clone(),
            tick: name.replace("Round ", "R").replace(AGAIN, "+"),
            first: at(check, "/agreement_min").as_f64(),
            second: at(check, "/stability_min").as_f64(),
        });
        if self.full {
            let names = ["agreement", "stability"];
            blocks.push(Block::Chart(Chart { names, threshold, most: [1.0, 1.0], marks: marks.collect() }));
        }
        let bars = checks.iter().zip(&named).filter_map(|(check, name)| {
            let value = at(check, "/agreement_min").as_f64()?;
            Some(Bar { name: name.clone(), value, written: score(value) })
        });
        let bars: Vec<Bar> = bars.collect();
        if !bars.is_empty() {
            blocks.push(Block::Line(explained(threshold)));
            blocks.push(Block::Levels(Levels { bars, threshold }));
        }
        if self.full {
            blocks.push(table(checks, &named));
        }
        blocks.push(Block::Items(outcomes(checks, threshold)));
        (!checks.is_empty()).then(|| Section::new("convergence", "How alike the proposals were", blocks))
    }
}

/// What a round's second comparison is called.
const AGAIN: &str = ", challenged";

/// A round is compared again when a challenge of the trickster was answered in it.
fn round(checks: &[Value], place: usize) -> String {
    let round = checks.get(place).map(|check| whole(check, "/round")).unwrap_or_default();
    format!("Round {round}{}", if is_again(checks, place) { AGAIN } else { "" })
}

fn is_again(checks: &[Value], place: usize) -> bool {
    let number = |check: &Value| whole(check, "/round");
    let round = checks.get(place).map(number);
    checks.iter().take(place).any(|check| Some(number(check)) == round)
}

/// What each round came to; rounds that came to the same one after the other are one line.
fn outcomes(checks: &[Value], threshold: Option<f64>) -> Vec<Item> {
    let mut lines: Vec<Line> = Vec::new();
    for (place, check) in checks.iter().enumerate() {
        let (number, text, again) =
            (whole(check, "/round"), outcome(check, threshold), is_again(checks, place));
        match lines.last_mut().filter(|line| line.text == text && !line.only_again) {
            Some(line) if again => line.both = true,
            Some(line) => line.rounds.push(number),
            None => lines.push(Line { rounds: vec![number], text, only_again: again, both: false }),
        }
    }
    lines.into_iter().map(|line| Item { who: Some(line.name()), text: line.text, note: None }).collect()
}

struct Line {
    rounds: Vec<u64>,
    text: String,
    /// Whether it is about what was said to a challenge alone.
    only_again: bool,
    /// Whether a challenge changed nothing.
    both: bool,
}

impl Line {
    fn name(&self) -> String {
        match self.rounds.as_slice() {
            [only] if self.only_again => format!("Round {only}{AGAIN}"),
            [only] if self.both => format!("Round {only}, before and after the challenge"),
            [only] => format!("Round {only}"),
            rounds => format!("Rounds {}", joined(&ranges(rounds))),
        }
    }
}

fn explained(threshold: Option<f64>) -> String {
    let wanted = threshold.map_or(String::new(), |threshold| {
        format!(" From {} on, and where nobody sees a conflict, they have converged.", score(threshold))
    });
    format!("How alike the two are that differ most; 1 is the same.{wanted}")
}

fn table(checks: &[Value], named: &[String]) -> Block {
    let head = ["Round", "Agreement, least", "Mean", "Stability, least", "Mean", "Converged", "Measured by"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (check, name) in checks.iter().zip(named) {
        let mut row = vec![name.clone()];
        for field in ["/agreement_min", "/agreement_mean", "/stability_min", "/stability_mean"] {
            row.push(figure(check, field, 2).unwrap_or_else(|| "unknown".into()));
        }
        let converged = at(check, "/converged").as_bool() == Some(true);
        row.push(if converged { "yes" } else { "no" }.into());
        row.push(words(check, "/measured_by").unwrap_or("nobody").to_owned());
        rows.push(row);
    }
    Block::Table(rows)
}

/// Converged, or everything that stood against it.
fn outcome(check: &Value, threshold: Option<f64>) -> String {
    if at(check, "/converged").as_bool() == Some(true) {
        return "converged".into();
    }
    let mut against = Vec::new();
    match at(check, "/agreement_min").as_f64() {
        None => against.push("it could not be measured how alike they are".to_owned()),
        Some(least) if threshold.is_some_and(|threshold| least < threshold - TOLERANCE) => {
            against.push("not alike enough".into());
        }
        Some(_) => {}
    }
    // One conflict may be declared from both sides.
    let mut told: Vec<(&str, &str)> = Vec::new();
    for pair in list(check, "/conflicts") {
        let (one, other) = (words(pair, "/0").unwrap_or_default(), words(pair, "/1").unwrap_or_default());
        if !told.contains(&(one, other)) && !told.contains(&(other, one)) {
            told.push((one, other));
            let mutual = list(check, "/conflicts")
                .iter()
                .any(|pair| words(pair, "/0") == Some(other) && words(pair, "/1") == Some(one));
            against.push(match mutual {
                true => format!("{} and {} declare a conflict with each other", agent(one), agent(other)),
                false => format!("{} declares a conflict with {}", agent(one), agent(other)),
            });
        }
    }
    for pair in list(check, "/opposed") {
        let (one, other) = (words(pair, "/0").unwrap_or_default(), words(pair, "/1").unwrap_or_default());
        let (one, other) = (agent(one), agent(other));
        against.push(format!("the positions of {one} and {other} oppose each other by words or figures"));
    }
    let undeclared = list(check, "/undeclared");
    if !undeclared.is_empty() {
        let (has, it) = if undeclared.len() == 1 { ("has", "it sees") } else { ("have", "they see") };
        against.push(format!("{} {has} not said whether {it} a conflict", agents(undeclared)));
    }
    if against.is_empty() { "not converged".into() } else { against.join("; ") }
}
