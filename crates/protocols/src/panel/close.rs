//! How `panel` ends: the outcome, the fate of every first-round position, what a reader should know.

use std::collections::{BTreeMap, BTreeSet};

use agon_core::{Debate, Fate, Fidelity, Outcome, Position, Status, Summary, Termination};
use serde_json::{Value, json};

use super::consensus::{TOLERANCE, mean, range};
use super::figure;
use super::log::{Judge, Log, Round};
use super::metrics::{change_reason, delta};
use super::verdict::{self, Verdict};
use crate::heard;

/// A judge's own score and what its dimensions weigh to may differ by this much before a reader is told.
const GAP_MAX: f64 = 0.25;

/// The outcome of a debate that is over.
pub(super) fn close(log: &Log<'_>, termination: Termination) -> Outcome {
    let decided = Verdict::of(log, termination);
    let status = if decided == Verdict::None { Status::Incomplete } else { Status::Complete };
    let positions: Vec<Position> =
        log.judges.iter().enumerate().map(|(place, judge)| fate(log, &decided, place, judge)).collect();
    let whole = log.debate.absences().next().is_none()
        && heard::cut_off(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete;
    Outcome {
        status,
        termination,
        rounds_completed: verdict::completed(log),
        verdict: verdict::record(log, &decided),
        dissent: dissent(log, &positions),
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, &decided, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    }
}

/// What became of a judge's first position. Who is not on the verdict's side in the end dissents, also after it moved; who came over
/// from further away than judges of one mind may be gave its first position up.
fn fate(log: &Log<'_>, decided: &Verdict, place: usize, judge: &Judge<'_>) -> Position {
    let first = judge.statement.overall_score;
    let last =
        log.last().and_then(|round| round.standings.get(place)).map_or(first, |standing| standing.score);
    let moved = (last - first).abs() > log.debate.brief.float("consensus_range") + TOLERANCE;
    let scores = match (last - first).abs() > TOLERANCE {
        true => format!("its score went from {} to {}", figure(first), figure(last)),
        false => format!("its score stayed at {}", figure(first)),
    };
    let fate = match decided.is_with(place) {
        true if moved => Fate::Refuted,
        true => Fate::Adopted,
        false => Fate::Minority,
    };
    let why = match decided {
        _ if fate == Fate::Refuted => format!("given up: {}", moves(log, place, judge)),
        Verdict::Consensus => "it is in the consensus".to_owned(),
        Verdict::Majority { .. } if fate == Fate::Adopted => "it is the majority's".to_owned(),
        Verdict::Majority { .. } if moved => {
            format!("its judge moved and is still in the minority: {}", moves(log, place, judge))
        }
        Verdict::Majority { .. } => "it is the minority's".to_owned(),
        Verdict::NoMajority => "there is no majority that could adopt it".to_owned(),
        Verdict::None => "there is no verdict that could adopt it".to_owned(),
    };
    Position {
        seat: judge.id.to_owned(),
        label: None,
        position: judge.first_position().to_owned(),
        fate,
        reason: format!("{why}; {scores}"),
    }
}

/// Why a judge left its first score, in its own words.
fn moves(log: &Log<'_>, place: usize, judge: &Judge<'_>) -> String {
    let changes = log.rounds.iter().filter(|round| delta(log, place, round.number).is_some());
    let reasons =
        changes.map(|round| format!("in round {} {}", round.number, change_reason(judge, round.number)));
    reasons.collect::<Vec<_>>().join("; ")
}

/// The judges who dissent, each with what it says in the end; `positions` keeps what it said at first.
fn dissent(log: &Log<'_>, positions: &[Position]) -> Vec<Value> {
    let scores = verdict::scores(log, &log.places());
    let judged = log.judges.iter().zip(scores).zip(positions);
    let minority = judged.filter(|(_, position)| position.fate == Fate::Minority);
    minority
        .map(|((judge, score), position)| {
            json!({"judge_id": judge.id, "seat": judge.id, "stance": judge.stance.as_str(),
                "score": score, "position": judge.position(), "reason": position.reason})
        })
        .collect()
}

fn warnings(log: &Log<'_>, decided: &Verdict, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget || log.was_cut() {
        warnings.push(cut(log, decided));
    }
    warnings.extend(heard::cut_off(log.debate));
    warnings.extend(heard::shortened(log.debate));
    warnings.extend(few(log, decided));
    // Where there is no verdict nothing that was carried forward counts.
    let counted = log.rounds.iter().filter(|_| *decided != Verdict::None);
    for round in counted.filter(|round| round.number > 1 && round.present() > 0) {
        warnings.extend(carried(log, round));
    }
    warnings.extend(gaps(log));
    warnings
}

/// What a limit left.
fn cut(log: &Log<'_>, decided: &Verdict) -> String {
    let limit =
        log.limits().met(log.judges.len().max(1)).unwrap_or_else(|| "a limit of the debate".to_owned());
    let rounds = verdict::completed(log);
    let s = if rounds == 1 { "" } else { "s" };
    match decided {
        Verdict::None => {
            format!("there is no verdict, because a limit left fewer than two position statements: {limit}")
        }
        _ => format!("the verdict is made from {rounds} round{s}, because a limit was reached: {limit}"),
    }
}

/// What fewer judges than sit make of a verdict.
fn few(log: &Log<'_>, decided: &Verdict) -> Vec<String> {
    let mut warnings = Vec::new();
    let out = log.debate.brief.seats_of("judge").map(|seat| seat.id.as_str());
    let out: Vec<&str> = out.filter(|id| log.judges.iter().all(|judge| judge.id != *id)).collect();
    if !out.is_empty() && *decided != Verdict::None {
        let who = out.join(", ");
        warnings.push(format!("without a position statement and so without a say: {who}"));
    }
    if let (Verdict::Majority { majority, minority }, 2) = (decided, log.judges.len())
        && minority.is_empty()
    {
        let apart = figure(log.last().map_or(0.0, |round| round.check.range));
        let both = log.ids(majority).join(" and ");
        warnings.push(format!(
            "only {both} are left: both together are the majority by the rule, although their scores are {apart} apart"
        ));
    }
    warnings
}

/// What still counts in a round although nobody said it there.
fn carried(log: &Log<'_>, round: &Round) -> Vec<String> {
    let number = round.number;
    let judges = || log.judges.iter().zip(&round.standings);
    let absent: Vec<&str> = judges().filter(|(_, s)| !s.present).map(|(judge, _)| judge.id).collect();
    let silent = |says: &dyn Fn(&Judge<'_>) -> bool| -> Vec<&str> {
        judges().filter(|(judge, s)| s.present && !says(judge)).map(|(judge, _)| judge.id).collect()
    };
    let keys = || log.rubric.dimensions.iter().map(|dimension| dimension.key.as_str());
    let unscored = silent(&|judge| keys().any(|key| judge.dimension(number, key).is_some()));
    let unsaid = silent(&|judge| log.findings.is_empty() || !judge.critical_positions(number).is_empty());
    let mut warnings = Vec::new();
    for (who, what) in [
        (absent, "absent, so that the last score and positions count"),
        (unscored, "no dimension scores, so that those of the round before count"),
        (unsaid, "no position on the critical findings, so that those of the round before count"),
    ] {
        if !who.is_empty() {
            warnings.push(format!("round {number}: {what}: {}", who.join(", ")));
        }
    }
    warnings
}

/// Whose overall score is not what its dimension scores weigh to.
fn gaps(log: &Log<'_>) -> Vec<String> {
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    let judged = log.judges.iter().zip(standings);
    judged
        .filter_map(|(judge, standing)| {
            let weighted = log.rubric.weighted(&standing.dimensions);
            let gap = (standing.score - weighted).abs();
            let (score, weighted) = (figure(standing.score), figure(weighted));
            (gap > GAP_MAX + TOLERANCE).then(|| {
                let id = judge.id;
                format!("{id} gives {score} overall, but its dimension scores weigh to {weighted}")
            })
        })
        .collect()
}

/// The table after a round.
pub(super) fn round_table(debate: &Debate) -> Option<Summary> {
    let log = Log::read(debate).ok()?;
    let round = log.rounds.last()?;
    let mut head = vec!["Judge".to_owned(), "Stance".into(), "Score".into()];
    head.extend(columns(log.rubric.dimensions.iter().map(|dimension| dimension.key.as_str()).collect()));
    let mut rows = vec![head];
    for (place, (judge, standing)) in log.judges.iter().zip(&round.standings).enumerate() {
        let change = delta(&log, place, round.number).map_or(String::new(), |delta| format!(" ({delta:+})"));
        let absent = if standing.present { "" } else { " (carried)" };
        let score = format!("{}{change}{absent}", figure(standing.score));
        let mut row = vec![judge.id.to_owned(), judge.stance.as_str().to_owned(), score];
        row.extend(standing.dimensions.iter().map(|score| figure(*score)));
        rows.push(row);
    }
    if rows.len() < 2 {
        return None;
    }
    let ranges = round.check.dimensions.iter().map(|range| figure(*range));
    let mut last = vec!["range".to_owned(), String::new(), figure(round.check.range)];
    last.extend(ranges);
    rows.push(last);
    let reached = if round.check.reached { "consensus" } else { "no consensus" };
    let open = match round.check.disputed.len() {
        0 => String::new(),
        1 => ", 1 critical finding disputed".to_owned(),
        n => format!(", {n} critical findings disputed"),
    };
    let title = format!(
        "Round {}: mean {}, range {}, {reached}{open}",
        round.number,
        figure(mean(&round.scores())),
        figure(range(&round.scores()))
    );
    Some(Summary { title, rows, notes: Vec::new() })
}

/// The dimensions' names as the heads of narrow columns: the first word of each, where that tells them apart.
fn columns(keys: Vec<&str>) -> Vec<String> {
    const HEAD_CHARS_MAX: usize = 8;
    let short = |key: &&str| {
        let word = key.split('_').next().unwrap_or(key);
        match word.chars().count() {
            0..=HEAD_CHARS_MAX => word.to_owned(),
            _ => format!("{}.", word.chars().take(HEAD_CHARS_MAX - 2).collect::<String>()),
        }
    };
    let heads: Vec<String> = keys.iter().map(short).collect();
    let distinct: BTreeSet<&String> = heads.iter().collect();
    if distinct.len() == heads.len() { heads } else { keys.iter().map(|key| key.replace('_', " ")).collect() }
}
