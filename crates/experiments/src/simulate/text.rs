//! The findings as a person reads them.

use crate::curve::{Curve, Point};
use crate::findings::{Findings, Recovered};
use crate::measure::Share;
use crate::neutral::Neutral;

/// A table with its title; the first row is its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

/// How wide the bar of a whole is.
const BAR_CHARS: f64 = 30.0;

/// All findings as plain text.
pub fn text(findings: &Findings) -> String {
    let mut parts = vec![summary(findings)];
    parts.extend(tables(findings).iter().map(aligned));
    parts.push(without_debate(findings));
    parts.join("\n")
}

/// What a person should know first.
pub fn summary(findings: &Findings) -> String {
    let Findings { plan, first_round_vote: vote, verdict, wrong_to_right, right_to_wrong, flips, .. } =
        findings;
    let adversary = if plan.population.adversary.is_some() { ", one of them an adversary" } else { "" };
    let counting = if plan.population.neutral { ", who only count what they hear" } else { "" };
    let changed = match flips.flips {
        0 => "Nobody changed its mind.".to_owned(),
        all => format!(
            "{all} times a seat changed its mind: {} times it named evidence, {} times it went to where more of the others were.",
            flips.evidenced, flips.toward_majority
        ),
    };
    let mut said = format!(
        "{} debates of {} with {} seats{adversary}{counting}, seed {}: held by the engine, read from their logs.\n\n\
         The verdict is right in {}.\n\
         A plain vote on the first positions is right in {}.\n\
         Debate made {wrong_to_right} wrong votes right and {right_to_wrong} right ones wrong.\n\
         {changed}\n",
        plan.trials,
        plan.protocol,
        plan.population.seats,
        plan.seed,
        percent(verdict),
        percent(vote),
    );
    if let Some(bar) = &findings.evidence_bar {
        said.push_str(&format!(
            "With --strict-anchoring {} of the changes without evidence are taken back,\nand {} of those with it.\n",
            percent(&bar.bare_blocked),
            percent(&bar.evidenced_blocked)
        ));
    }
    said
}

/// The findings as tables.
pub fn tables(findings: &Findings) -> Vec<Table> {
    let mut tables = vec![recovered(&findings.recovered), by_round(findings)];
    tables.extend(findings.curves.iter().map(degradation));
    tables
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn recovered(all: &[Recovered]) -> Table {
    let mut rows = vec![row(["", "planted", "found", "95% interval", "cases", ""])];
    for one in all {
        let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        let interval =
            one.found.interval.map_or("not seen".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"));
        let within = match one.within {
            Some(true) => "within",
            Some(false) => "outside",
            None => "",
        };
        let (planted, found) = (figure(one.planted), figure(one.found.value));
        rows.push(row([&one.name, &planted, &found, &interval, &one.found.cases.to_string(), within]));
    }
    Table { title: "What was planted, and what the logs show".into(), rows }
}

fn by_round(findings: &Findings) -> Table {
    let mut rows = vec![row(["round", "seats that are right", "a vote would be right"])];
    for round in &findings.rounds {
        let (belief, vote) = (percent(&round.mean_belief), percent(&round.majority_accuracy));
        rows.push(row([&round.round.to_string(), &belief, &vote]));
    }
    Table { title: "Round by round".into(), rows }
}

fn degradation(curve: &Curve) -> Table {
    let mut rows =
        vec![row(["seats", "honest", "one adversary", "lost", "first vote", "# with one, + without"])];
    for point in &curve.points {
        let lost = format!("{:+.1}", -100.0 * point.lost());
        let (honest, attacked) = (percent(&point.honest), percent(&point.with_adversary));
        let vote =
            point.vote_with_adversary.share.map_or(String::new(), |share| format!("{:.1}%", 100.0 * share));
        rows.push(row([&point.seats.to_string(), &honest, &attacked, &lost, &vote, &bar(point)]));
    }
    Table { title: format!("One adversary in N: {}", curve.protocol), rows }
}

fn bar(point: &Point) -> String {
    let chars = |share: &Share| (share.share.unwrap_or_default() * BAR_CHARS).round() as usize;
    let (honest, attacked) = (chars(&point.honest), chars(&point.with_adversary));
    format!("{}{}", "#".repeat(attacked), "+".repeat(honest.saturating_sub(attacked)))
}

fn without_debate(findings: &Findings) -> String {
    let ends = |neutral: &Neutral| {
        let (first, last) = (neutral.rounds.first()?, neutral.rounds.last()?);
        Some(format!(
            "mean belief from {:.3} to {:.3}, a vote right from {:.3} to {:.3}",
            first.mean_belief, last.mean_belief, first.majority_accuracy, last.majority_accuracy
        ))
    };
    let neutral = &findings.neutral;
    let rounds = neutral.rounds.len().saturating_sub(1);
    let mut said = format!(
        "If the same seats only counted what they hear ({} tables, {rounds} rounds):\n  {}.\n",
        neutral.trials,
        ends(neutral).unwrap_or_default()
    );
    if let Some(drifting) = &findings.drifting {
        let (more, ends) = (100.0 * drifting.drift, ends(drifting).unwrap_or_default());
        said.push_str(&format!("If right answers weighed {more:.0}% more:\n  {ends}.\n"));
    }
    said
}

fn percent(share: &Share) -> String {
    let [low, high] = share.interval.map(|end| 100.0 * end);
    share.share.map_or("none".to_owned(), |value| format!("{:.1}% [{low:.1}, {high:.1}]", 100.0 * value))
}

fn aligned(table: &Table) -> String {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
    let wide = |column: usize| {
        table.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| wide(column).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let rows: String = table.rows.iter().map(line).collect();
    format!("{}\n{rows}", table.title)
}
