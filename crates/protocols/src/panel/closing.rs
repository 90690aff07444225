//! How `panel` ends: the outcome, what became of every first position, the warnings, and who gave which score when.

use std::collections::BTreeMap;

use agon_core::wording::{counted, sentence};
use agon_core::{
    Corrupt, DecidedPosition, Fate, JudgeMarks, Outcome, PositionChange, PositionFate, PositionHistory,
    RoundPositions, SeatPosition, Status, Step, Termination,
};
use serde_json::{Value, json};

use super::consensus::{PanelDecision, TOLERANCE, mean};
use super::findings::{FindingPositionRecord, FindingStand, group_stand, quoted_lines};
use super::follow_up::PanelFollowUp;
use super::log::{self, JudgeStanding, PanelJudge, PanelLog, PanelRound};
use super::verdict::{self, PanelVerdict};
use super::{PanelFailOn, PanelPhase, PanelStatus, figure};
use crate::participation::{cut_off_warnings, fidelity, judges_quorum, shortened_warnings};
use crate::quotes::{QuotedTexts, quoted_words};
use crate::tools::{SourceCitation, named_items};

/// A judge's overall score may differ by this much from its weighted dimensions before a warning says so.
const SCORE_GAP_MAX: f64 = 0.25;

/// Closes the debate.
pub(super) fn close(follow_up: &PanelFollowUp<'_>, termination: Termination) -> Result<Step, Corrupt> {
    let PanelFollowUp { log, decision, .. } = follow_up;
    let is_decided = *decision != PanelDecision::None && short_panel(log).is_none();
    let judges = log.judges.iter().enumerate();
    let positions: Vec<PositionFate> =
        judges.map(|(place, judge)| position_fate(log, decision, place, judge)).collect();
    let is_summary_missing = log.rapporteur().is_some() && !log.has_summary_turn();
    let is_whole = termination != Termination::Budget && is_decided && !is_summary_missing;
    let verdict = verdict::verdict(follow_up);
    let outcome = Outcome {
        status: if is_decided { Status::Complete } else { Status::Incomplete },
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: verdict::record(follow_up, &verdict)?,
        dissent: dissent(log, &positions),
        fidelity: fidelity(log.debate, is_whole),
        warnings: warnings(follow_up, termination),
        labels: BTreeMap::new(),
        positions,
        passed: log.options.fail_on.map(|fail_on| passes(&verdict, decision, fail_on)),
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// Whether a verdict passes the gate. Without a majority nothing does.
pub(super) fn passes(verdict: &PanelVerdict, decision: &PanelDecision, fail_on: PanelFailOn) -> bool {
    let passes = |status: PanelStatus| match fail_on {
        PanelFailOn::Red => status != PanelStatus::Red,
        PanelFailOn::Yellow => status == PanelStatus::Green,
    };
    *decision != PanelDecision::NoMajority && verdict.status.is_some_and(passes)
}

/// What became of a judge's first position. A judge who is not on the verdict's side in the end dissents, even if it moved. One on
/// the verdict's side left its first position if its score moved by more than `consensus_range` or if it gave up a critical finding of
/// its own. That position is refuted where the judge cites what moved it. Where it cites nothing that counts, nothing refuted it.
fn position_fate(
    log: &PanelLog<'_>,
    decision: &PanelDecision,
    place: usize,
    judge: &PanelJudge<'_>,
) -> PositionFate {
    let first = judge.statement.overall_score;
    let last = log.last_standings().get(place).map_or(first, |standing| standing.score);
    let changes = log.rounds.iter().filter(|round| log.score_change(place, round.number).is_some());
    let changes: Vec<&PanelRound> = changes.collect();
    let given_up = given_up_findings(log, place, judge);
    let has_moved = (last - first).abs() > log.options.consensus_range + TOLERANCE;
    let moved = changes.iter().filter(|_| has_moved);
    let moved = moved.map(|round| score_change(log, place, judge, round));
    let left = given_up.iter().filter_map(|(_, said)| {
        let round = log.rounds.iter().find(|round| round.number == said.round)?;
        Some(cited_in(log, place, round, &said.reason))
    });
    let is_evidenced = moved.chain(left).any(|change| !change.cited.is_empty());
    let fate = match decision.is_with(place) {
        false => Fate::Minority,
        true if !has_moved && given_up.is_empty() => Fate::Adopted,
        true if !is_evidenced => Fate::NotSettled,
        true => Fate::Refuted,
    };
    let where_it_stands = match decision {
        PanelDecision::Consensus => "its judge is in the consensus".to_owned(),
        PanelDecision::Majority { majority, .. } if fate == Fate::Minority => {
            format!("the majority's score is {}", figure(mean(&log.last_scores(majority))))
        }
        PanelDecision::Majority { .. } => "its judge is in the majority".to_owned(),
        PanelDecision::NoMajority => "there is no majority that could adopt it".to_owned(),
        PanelDecision::None => "there is no verdict that could adopt it".to_owned(),
    };
    let later = changes.iter().filter_map(|round| log.score(place, round.number));
    let scores: Vec<String> = std::iter::once(first).chain(later).map(figure).collect();
    let score = match changes.is_empty() {
        true => format!("its score stayed at {}", figure(first)),
        false => format!("its score went from {}", scores.join(" to ")),
    };
    let mut reason = vec![format!("{where_it_stands}; {score}.")];
    reason.extend(changes.iter().map(|round| {
        format!("In round {}: {}", round.number, sentence(&verdict::change_reason(judge, round.phase)))
    }));
    reason.extend(given_up.iter().map(|(id, said)| format!("[{id}]: {}", said.told())));
    if fate == Fate::NotSettled {
        reason
            .push("Its reasons cite no point of another judge and no line or words of the files.".to_owned());
    }
    PositionFate {
        seat: judge.id.to_owned(),
        label: None,
        position: judge.first_position().to_owned(),
        fate,
        reason: reason.join(" "),
    }
}

/// The last words of a judge on each critical finding of its own, of round 1, that it does not hold any more.
fn given_up_findings<'a>(
    log: &'a PanelLog<'_>,
    place: usize,
    judge: &PanelJudge<'_>,
) -> Vec<(&'a str, &'a FindingPositionRecord)> {
    let Some(standing) = log.last_standings().get(place) else { return Vec::new() };
    let own = log.findings.iter().enumerate().filter(|(_, finding)| finding.raised.contains(&(place, 1)));
    let given_up = own.filter(|(at, _)| group_stand(standing, log.groups(), *at) == FindingStand::Rejects);
    let last_word = |id: &str| log.critical_of(id)?.last_position(judge.id);
    given_up.filter_map(|(_, own)| Some((own.id.as_str(), last_word(&own.id)?))).collect()
}

/// The judges who dissent, with what they say in the end. The position's fate has what they said at first.
fn dissent(log: &PanelLog<'_>, positions: &[PositionFate]) -> Vec<Value> {
    let judged = log.judges.iter().zip(log.last_standings()).zip(positions);
    let minority = judged.filter(|(_, position)| position.fate == Fate::Minority);
    let dissent = minority.map(|((judge, standing), position)| {
        json!({
            "judge_id": judge.id,
            "seat": judge.id,
            "stance": judge.stance,
            "score": standing.score,
            "position": judge.position(),
            "reason": position.reason,
        })
    });
    dissent.collect()
}

/// What is missing if too few judges gave a statement for a complete verdict.
fn short_panel(log: &PanelLog<'_>) -> Option<String> {
    let (heard, seated) = (log.judges.len(), log.debate.brief.seats_of("judge").count());
    let needed = judges_quorum(seated);
    let warning =
        || format!("only {heard} of {seated} judges gave a statement, and a complete verdict needs {needed}");
    (heard < needed).then(warning)
}

fn warnings(follow_up: &PanelFollowUp<'_>, termination: Termination) -> Vec<String> {
    let PanelFollowUp { log, decision, .. } = follow_up;
    let mut warnings = Vec::new();
    if termination == Termination::Budget || log.was_cut_short() {
        warnings.push(limit_warning(log, decision));
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    // Without a verdict, nothing that was carried forward counts.
    if *decision != PanelDecision::None {
        warnings.extend(short_panel(log));
        warnings.extend(missing_judges_warning(log));
        let later = log.rounds.iter().filter(|round| round.phase != PanelPhase::Position);
        let later = later.filter(|round| round.present() > 0);
        warnings.extend(later.flat_map(|round| carried_warnings(log, round)));
    }
    let judged = log.judges.iter().zip(log.last_standings());
    warnings.extend(judged.filter_map(|(judge, standing)| score_gap_warning(log, judge.id, standing)));
    warnings.extend(summary_warning(follow_up));
    warnings
}

/// Why the opinions are the judges' own statements, where a rapporteur sits.
fn summary_warning(follow_up: &PanelFollowUp<'_>) -> Option<String> {
    let PanelFollowUp { log, decision, summary, .. } = follow_up;
    log.rapporteur().filter(|_| *decision != PanelDecision::None && summary.opinion.is_none())?;
    let why = match (log.has_summary_turn(), &log.summary) {
        (false, _) => "the rapporteur was not asked, because a limit was reached",
        (true, None) => "the rapporteur gave no summary",
        (true, Some(_)) => "the rapporteur's summary is empty or rests on no verified quote of its side",
    };
    Some(format!("{why}, so the opinions are the judges' own statements"))
}

fn limit_warning(log: &PanelLog<'_>, decision: &PanelDecision) -> String {
    let limit = log.limits().reached(log.judges.len().max(1));
    let limit = limit.unwrap_or_else(|| "a limit was reached".to_owned());
    if *decision == PanelDecision::None {
        return format!(
            "there is no verdict, because there were fewer than two position statements when {limit}"
        );
    }
    let rounds = counted(log.rounds_completed().into(), "round");
    format!("the verdict is made from {rounds}, because {limit}")
}

/// The judges who gave no statement.
fn missing_judges_warning(log: &PanelLog<'_>) -> Option<String> {
    let out = log.debate.brief.seats_of("judge").map(|seat| seat.id.as_str());
    let out: Vec<&str> = out.filter(|id| log.judges.iter().all(|judge| judge.id != *id)).collect();
    (!out.is_empty()).then(|| format!("no position statement, so no say in the verdict: {}", out.join(", ")))
}

/// What counts in a round although nobody said it there.
fn carried_warnings(log: &PanelLog<'_>, round: &PanelRound) -> Vec<String> {
    let phase = round.phase;
    let judges = || log.judges.iter().zip(&round.standings);
    let silent = |says: &dyn Fn(&PanelJudge<'_>) -> bool| -> Vec<&str> {
        judges().filter(|(judge, s)| s.present && !says(judge)).map(|(judge, _)| judge.id).collect()
    };
    // A judge who gives null says that nothing changed.
    let unscored = silent(&|judge| {
        let said = log::reply_value(log.debate, phase, judge.id);
        said.is_some_and(|said| said.get("dimension_scores").is_some())
    });
    let is_asked = log.rounds.iter().any(|r| r.number + 1 == round.number && r.check.disputed > 0);
    let unsaid = silent(&|judge| !is_asked || !judge.finding_positions(phase).is_empty());
    let mut warnings = Vec::new();
    for (who, what) in [
        (round.absent(log), "absent, so the last score and positions count"),
        (unscored, "no dimension scores, so those of the round before count"),
        (unsaid, "no position on the critical findings, so those of the round before count"),
    ] {
        if !who.is_empty() {
            warnings.push(format!("round {}: {what}: {}", round.number, who.join(", ")));
        }
    }
    warnings
}

/// Says where a judge's overall score is far from its weighted dimension scores.
fn score_gap_warning(log: &PanelLog<'_>, judge: &str, standing: &JudgeStanding) -> Option<String> {
    let (score, weighted) = (standing.score, log.rubric.weighted(&standing.dimensions));
    let (given, weighs) = (figure(score), figure(weighted));
    ((score - weighted).abs() > SCORE_GAP_MAX + TOLERANCE)
        .then(|| format!("{judge} gives {given} overall, but its dimension scores weigh to {weighs}"))
}

/// The scores as the report writes them, for every round in which somebody spoke.
pub(super) fn positions(log: &PanelLog<'_>) -> PositionHistory {
    let rounds = log.rounds.iter().filter(|round| round.present() > 0).map(|round| RoundPositions {
        round: round.number,
        stands: (0..log.judges.len()).filter_map(|place| position(log, place, round)).collect(),
        ruling: PanelDecision::after(log, round).label(log, round),
        ..RoundPositions::default()
    });
    let over = log.debate.outcome.as_ref().zip(log.last());
    let decided =
        over.and_then(|(outcome, last)| PanelDecision::of(log, outcome.termination).label(log, last));
    let marks = (0..log.judges.len()).filter_map(|place| marks(log, place)).collect();
    PositionHistory {
        rounds: rounds.collect(),
        decided: decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        marks,
        // Scores that would be a consensus count as one position where agreement is counted.
        near: Some(log.options.consensus_range),
        ..PositionHistory::default()
    }
}

fn position(log: &PanelLog<'_>, place: usize, round: &PanelRound) -> Option<SeatPosition> {
    let (judge, now) = (log.judges.get(place)?, log.score(place, round.number)?);
    let before = log.score(place, round.number.saturating_sub(1));
    let change = before.filter(|before| figure(*before) != figure(now));
    let change = change.map(|_| score_change(log, place, judge, round));
    Some(SeatPosition {
        seat: judge.id.to_owned(),
        position: figure(now),
        value: Some(now),
        change,
        ..SeatPosition::default()
    })
}

/// Why a judge's score changed in a round, with what it cites. Where a final statement gives no reason, the id of its first concession
/// stands for it.
fn score_change(
    log: &PanelLog<'_>,
    place: usize,
    judge: &PanelJudge<'_>,
    round: &PanelRound,
) -> PositionChange {
    let conceded = || judge.last.as_ref()?.concessions_made.first()?.about.as_deref();
    let text = match judge.change_reason(round.phase) {
        "" if round.phase == PanelPhase::Final => conceded().unwrap_or_default(),
        reason => reason,
    };
    let reason = Some(verdict::change_reason(judge, round.phase));
    PositionChange { reason, ..cited_in(log, place, round, text) }
}

/// What a judge cites in a text of a round, and what of that does not count. Ids of points of others count, lines of the files, words
/// of the files in quotation marks, and what was looked up.
fn cited_in(log: &PanelLog<'_>, place: usize, round: &PanelRound, text: &str) -> PositionChange {
    let (debate, quoted) = (log.debate, QuotedTexts::new(&log.debate.brief));
    let shown = debate.items_shown(round.phase.as_str(), round.number);
    let found = SourceCitation::in_text(&quoted, &debate.brief, shown, text);
    let mut change = PositionChange::default();
    read_ids(&mut change, log, (place, round.number), text, &found);
    read_files(&mut change, log, text, &found);
    for source in found {
        change.cited.push(source.cited);
        change.sources.push(source.id);
    }
    change
}

fn read_ids(
    change: &mut PositionChange,
    log: &PanelLog<'_>,
    (place, round): (usize, u32),
    text: &str,
    found: &[SourceCitation],
) {
    let ids = log.cited_ids(text, round, Some(place));
    let own = log.cited_ids(text, round, None).into_iter().filter(|id| !ids.contains(id));
    change.unverified.extend(own.map(|id| format!("[{id}], which is its own")));
    change.cited.extend(ids.iter().map(|id| format!("[{id}]")));
    let known = log.cited_ids(text, u32::MAX, None);
    let items = named_items(&log.debate.brief, text);
    let unknown = bracketed_ids(text).filter(|id| known.iter().chain(&items).all(|known| known != id));
    change.unverified.extend(unknown.map(|id| format!("[{id}], which does not exist")));
    let unquoted = items.iter().filter(|id| found.iter().all(|source| source.id != **id));
    change.unverified.extend(unquoted.map(|id| format!("[{id}] without words that occur there")));
}

fn read_files(change: &mut PositionChange, log: &PanelLog<'_>, text: &str, found: &[SourceCitation]) {
    let named = text.split_whitespace().filter_map(|word| {
        // A bare number is no location, even where there is only one file.
        let is_named = log.packet.paths().any(|path| word.contains(path.rsplit('/').next().unwrap_or(path)));
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let place = log.packet.locate(word).filter(|_| is_named)?;
        Some((word.to_owned(), Some(place).filter(|place| place.is_verified)))
    });
    let is_of_source = |quote: &&str| found.iter().any(|source| source.cited.contains(quote.trim()));
    let quoted = quoted_words(text).into_iter().filter(|quote| !is_of_source(quote));
    let quoted = quoted.map(|quote| (format!("\"{quote}\""), quoted_lines(log, quote)));
    for (words, place) in named.chain(quoted) {
        let Some(place) = place else {
            change.unverified.push(format!("{words}, which is not in the files"));
            continue;
        };
        let end = place.end_line.map_or(String::new(), |end| format!("-{end}"));
        // A file alone is no evidence.
        let lines = place.line.map(|line| format!("{}:{line}{end}", place.file));
        change.cited.extend(lines.filter(|lines| !change.cited.contains(lines)));
    }
}

/// What stands in square brackets and has the form of an id: a letter and a number.
fn bracketed_ids(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0));
    inner.filter(|inner| {
        let number = inner.strip_prefix(|c: char| c.is_ascii_uppercase());
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// A judge's dimension scores after the last round in which it gave any.
fn marks(log: &PanelLog<'_>, place: usize) -> Option<JudgeMarks> {
    let judge = log.judges.get(place)?;
    let scored =
        |round: &&PanelRound| log.rubric.keys().any(|key| judge.dimension(round.phase, key).is_some());
    let round = log.rounds.iter().rev().find(scored)?;
    let dimensions = round.standings.get(place)?.dimensions.iter().copied();
    let scores = log.rubric.keys().map(str::to_owned).zip(dimensions).collect();
    Some(JudgeMarks { judge: judge.id.to_owned(), round: round.number, scores, ..JudgeMarks::default() })
}
