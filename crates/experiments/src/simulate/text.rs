//! The findings of a simulation as plain text.

use super::debates::simulated_protocol;
use super::estimates::ShareEstimate;
use super::findings::{AdversaryCurve, CurvePoint, RecoveredFigure, SimulationFindings};
use super::neutral::NeutralUpdating;

/// The width of a bar that stands for 100%.
const BAR_CHARS: f64 = 30.0;

/// All findings: first in sentences, then in tables.
pub fn text(findings: &SimulationFindings) -> String {
    let mut parts = vec![summary(findings), recovered(&findings.recovered), by_round(findings)];
    parts.extend(findings.curves.iter().map(adversary_curve));
    parts.push(without_debate(findings));
    parts.join("\n")
}

fn summary(findings: &SimulationFindings) -> String {
    let SimulationFindings { plan, wrong_to_right, right_to_wrong, flips, .. } = findings;
    let adversary = if plan.population.adversary.is_some() { ", one of them an adversary" } else { "" };
    let counting = if plan.population.neutral { ", which only count what they hear" } else { "" };
    let changes = match flips.flips {
        0 => "No seat changed its mind.".to_owned(),
        all => format!(
            "Seats changed their minds {all} times: {} times with evidence, {} times toward the majority of the others.",
            flips.evidenced, flips.toward_majority
        ),
    };
    let mut summary = format!(
        "{} debates of {} with {} seats{adversary}{counting}, seed {}: held by the engine, read from their logs.\n\n\
         The verdict is right in {}.\n\
         A plain vote on the first positions is right in {}.\n\
         Debate made {wrong_to_right} wrong votes right and {right_to_wrong} right votes wrong.\n\
         {changes}\n",
        plan.trials,
        plan.protocol,
        plan.population.seats,
        plan.seed,
        percent(&findings.verdict),
        percent(&findings.first_round_vote),
    );
    if let Some(bar) = &findings.evidence_bar {
        summary.push_str(&format!(
            "{} takes back {} of the changes without evidence,\nand {} of those with evidence.\n",
            evidence_rule(&plan.protocol),
            percent(&bar.bare_blocked),
            percent(&bar.evidenced_blocked)
        ));
    }
    summary
}

/// The rule that a change of mind needs evidence, by its flag on the command line.
fn evidence_rule(protocol: &str) -> String {
    let option = simulated_protocol(protocol).ok().and_then(|(_, play)| play.evidence_rule());
    option.map_or("The evidence rule".to_owned(), |(key, _)| format!("--{}", key.replace('_', "-")))
}

fn recovered(all: &[RecoveredFigure]) -> String {
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
    aligned("What was planted, and what the logs show", &rows)
}

fn by_round(findings: &SimulationFindings) -> String {
    let mut rows = vec![row(["round", "seats that are right", "a vote would be right"])];
    for round in &findings.rounds {
        let (belief, vote) = (percent(&round.mean_belief), percent(&round.majority_accuracy));
        rows.push(row([&round.round.to_string(), &belief, &vote]));
    }
    aligned("Round by round", &rows)
}

fn adversary_curve(curve: &AdversaryCurve) -> String {
    let mut rows =
        vec![row(["seats", "honest", "one adversary", "lost", "first vote", "# with one, + without"])];
    for point in &curve.points {
        let lost = format!("{:+.1}", -100.0 * point.loss());
        let (honest, attacked) = (percent(&point.honest), percent(&point.with_adversary));
        let vote =
            point.vote_with_adversary.share.map_or(String::new(), |share| format!("{:.1}%", 100.0 * share));
        rows.push(row([&point.seats.to_string(), &honest, &attacked, &lost, &vote, &bar(point)]));
    }
    aligned(&format!("One adversary in N: {}", curve.protocol), &rows)
}

fn bar(point: &CurvePoint) -> String {
    let chars = |share: &ShareEstimate| (share.share.unwrap_or_default() * BAR_CHARS).round() as usize;
    let (honest, attacked) = (chars(&point.honest), chars(&point.with_adversary));
    format!("{}{}", "#".repeat(attacked), "+".repeat(honest.saturating_sub(attacked)))
}

fn without_debate(findings: &SimulationFindings) -> String {
    let change = |updating: &NeutralUpdating| {
        let (first, last) = (updating.rounds.first()?, updating.rounds.last()?);
        Some(format!(
            "mean belief from {:.3} to {:.3}, a vote right from {:.3} to {:.3}",
            first.mean_belief, last.mean_belief, first.majority_accuracy, last.majority_accuracy
        ))
    };
    let neutral = &findings.neutral;
    let rounds = neutral.rounds.len().saturating_sub(1);
    let mut lines = format!(
        "If the same seats only counted what they hear ({} tables, {rounds} rounds):\n  {}.\n",
        neutral.trials,
        change(neutral).unwrap_or_default()
    );
    if let Some(drifting) = &findings.drifting {
        let (more, change) = (100.0 * drifting.drift, change(drifting).unwrap_or_default());
        lines.push_str(&format!("If right answers weighed {more:.0}% more:\n  {change}.\n"));
    }
    lines
}

fn percent(share: &ShareEstimate) -> String {
    let [low, high] = share.interval.map(|end| 100.0 * end);
    share.share.map_or("none".to_owned(), |value| format!("{:.1}% [{low:.1}, {high:.1}]", 100.0 * value))
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// An indented table. It is never wrapped: a bar that is cut would be read as a shorter one.
fn aligned(title: &str, rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let lines: String = rows.iter().map(line).collect();
    format!("{title}\n{lines}")
}
