//! How `panel` ends: the outcome, what became of every first position, the warnings, and who gave which score when.

use std::collections::BTreeMap;

use agon_core::wording::{joined, sentence};
use agon_core::{
    Corrupt, DecidedPosition, Fate, Fidelity, JudgeMarks, Outcome, PositionChange, PositionFate,
    PositionHistory, RoundPositions, SeatPosition, Status, Step, Termination,
};
use serde::Serialize;

use super::consensus::{PanelDecision, TOLERANCE, mean};
use super::findings::{FindingStand, finding_records, group_stand, quoted_lines};
use super::log::{self, JudgeStance, PanelJudge, PanelLog, PanelRound};
use super::verdict::{self, OpinionAuthor, PanelVerdict};
use super::{PanelFailOn, PanelPhase, PanelStatus, figure};
use crate::packet_lines::PacketLocation;
use crate::participation::{cut_off_warnings, judges_quorum, shortened_warnings};
use crate::quotes::{QuotedTexts, quoted_words};
use crate::tools::{SourceCitation, named_items};

/// A judge's overall score may differ by this much from its weighted dimensions before a warning says so.
const SCORE_GAP_MAX: f64 = 0.25;

/// A judge who dissents, with what it says in the end. The position's fate has what it said at first.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct DissentingJudge<'a> {
    judge_id: &'a str,
    seat: &'a str,
    stance: JudgeStance,
    score: f64,
    position: &'a str,
    reason: &'a str,
}

/// Closes the debate.
pub(super) fn close(
    log: &PanelLog<'_>,
    decision: &PanelDecision,
    termination: Termination,
) -> Result<Step, Corrupt> {
    let is_decided = *decision != PanelDecision::None && short_panel(log).is_none();
    let status = if is_decided { Status::Complete } else { Status::Incomplete };
    let judges = log.judges.iter().enumerate();
    let positions: Vec<PositionFate> =
        judges.map(|(place, judge)| position_fate(log, decision, place, judge)).collect();
    let is_summary_missing = log.rapporteur().is_some() && !log.has_summary_turn();
    let whole = log.debate.absences().next().is_none()
        && cut_off_warnings(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete
        && !is_summary_missing;
    let dissent =
        dissenting_judges(log, &positions).iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    let verdict = verdict::verdict(log, decision);
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: serde_json::to_value(&verdict)?,
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, decision, &verdict, termination),
        labels: BTreeMap::new(),
        positions,
        passed: log.options.fail_on.map(|fail_on| passes(&verdict, decision, fail_on)),
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// Whether a verdict passes the gate. Without a majority nothing does.
pub(super) fn passes(verdict: &PanelVerdict, decision: &PanelDecision, fail_on: PanelFailOn) -> bool {
    let has_side = matches!(decision, PanelDecision::Consensus | PanelDecision::Majority { .. });
    has_side
        && match verdict.status {
            Some(PanelStatus::Green) => true,
            Some(PanelStatus::Yellow) => fail_on == PanelFailOn::Red,
            Some(PanelStatus::Red) | None => false,
        }
}

/// What became of a judge's first position. A judge who is not on the verdict's side in the end dissents, even if it moved. One on
/// the verdict's side gave its first position up if it moved by more than `consensus_range` or gave up a critical finding of its own.
fn position_fate(
    log: &PanelLog<'_>,
    decision: &PanelDecision,
    place: usize,
    judge: &PanelJudge<'_>,
) -> PositionFate {
    let first = judge.statement.overall_score;
    let last = log.last_standings().get(place).map_or(first, |standing| standing.score);
    let moved = (last - first).abs() > log.options.consensus_range + TOLERANCE;
    let scores = match (last - first).abs() > TOLERANCE {
        true => format!("its score went from {} to {}", figure(first), figure(last)),
        false => format!("its score stayed at {}", figure(first)),
    };
    let given_up = given_up_findings(log, place, judge);
    let fate = match decision.is_with(place) {
        true if moved || !given_up.is_empty() => Fate::Refuted,
        true => Fate::Adopted,
        false => Fate::Minority,
    };
    let why = match decision {
        _ if fate == Fate::Refuted => String::new(),
        PanelDecision::Consensus => "its judge is in the consensus; ".to_owned(),
        PanelDecision::Majority { .. } if fate == Fate::Adopted => {
            "its judge is in the majority; ".to_owned()
        }
        PanelDecision::Majority { majority, .. } => {
            let moved = if moved { "moved and still " } else { "" };
            format!("its judge {moved}{}; ", against_the_majority(log, place, majority))
        }
        PanelDecision::NoMajority => "there is no majority that could adopt it; ".to_owned(),
        PanelDecision::None => "there is no verdict that could adopt it; ".to_owned(),
    };
    let has_reasons = moved && matches!(decision, PanelDecision::Consensus | PanelDecision::Majority { .. });
    let reasons = if has_reasons { change_reasons(log, place, judge) } else { Vec::new() };
    let words: Vec<String> = reasons.into_iter().chain(given_up).collect();
    let taken_up = taken_up(log, place, judge).into_iter().map(|(what, ids)| format!("; it {what} {ids}"));
    let changes = format!("{scores}{}", taken_up.collect::<String>());
    PositionFate {
        seat: judge.id.to_owned(),
        label: None,
        position: judge.first_position().to_owned(),
        fate,
        reason: match words.join(" ") {
            words if words.is_empty() => format!("{why}{changes}"),
            words => format!("{why}{changes}. {words}"),
        },
    }
}

/// How a judge of the minority scores, compared with the majority, and whether the status would be another one.
fn against_the_majority(log: &PanelLog<'_>, place: usize, majority: &[usize]) -> String {
    let [own, ours] = [&[place][..], majority].map(|side| mean(&log.last_scores(side)));
    let weighted = [&[place][..], majority].map(|side| log.weighted(side).unwrap_or_default());
    let [[score, status], [other_score, other]] =
        weighted.map(|score| [figure(score), log.band(score).as_str().to_owned()]);
    let direction = if own < ours { "lower" } else { "higher" };
    let same = if status == other {
        format!("; weighted {score} against {other_score}, both {status}")
    } else {
        String::new()
    };
    format!("scores {direction} than the majority ({} against {}{same})", figure(own), figure(ours))
}

/// What a judge took up of the others or gave up of its own, except critical findings of its own: what it did, and the ids.
fn taken_up(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> Vec<(&'static str, String)> {
    let adopted = finding_records(log).into_iter().filter(|finding| {
        let [raised, holds] =
            [&finding.raised_by, &finding.held_by].map(|judges| judges.iter().any(|id| id == judge.id));
        holds && !raised
    });
    let adopted = adopted.map(|finding| format!("[{}]", finding.finding_id)).collect();
    let points = log.points();
    let of = |is_own: bool, accepts: bool| -> Vec<String> {
        let points = points.iter().filter(|(raisers, ..)| raisers.contains(&place) == is_own);
        let points = points.filter(|(.., id)| log.accepts(place, &[id]) == Some(accepts));
        points.map(|(.., id)| format!("[{id}]")).collect()
    };
    let told: [(_, Vec<String>); 3] =
        [("adopted", adopted), ("accepted", of(false, true)), ("gave up", of(true, false))];
    let told = told.into_iter().filter(|(_, ids)| !ids.is_empty());
    told.map(|(what, ids)| (what, joined(&ids))).collect()
}

/// The critical findings of round 1 that their judge does not hold any more, with what it says of them now.
fn given_up_findings(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> Vec<String> {
    let Some(standing) = log.last_standings().get(place) else { return Vec::new() };
    let (groups, records) = (log.groups(), finding_records(log));
    let own = log.findings.iter().enumerate().filter(|(_, finding)| finding.raised.contains(&(place, 1)));
    let given_up = own.filter(|(at, _)| group_stand(standing, &groups, *at) == FindingStand::Rejects);
    let said = given_up.filter_map(|(_, finding)| {
        let record = records.iter().find(|record| record.ids().any(|id| *id == finding.id))?;
        Some(format!("Its finding [{}] is now {}", finding.id, sentence(&record.view_of(judge.id))))
    });
    said.collect()
}

/// Why a judge changed its score, round by round, in its own words.
fn change_reasons(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> Vec<String> {
    let changes = log.rounds.iter().filter(|round| log.score_change(place, round.number).is_some());
    let reason = |round: &PanelRound| sentence(&verdict::change_reason(judge, round.phase));
    changes.map(|round| format!("In round {}: {}", round.number, reason(round))).collect()
}

fn dissenting_judges<'a>(log: &'a PanelLog<'_>, positions: &'a [PositionFate]) -> Vec<DissentingJudge<'a>> {
    let scores = log.last_scores(&log.places());
    let judged = log.judges.iter().zip(scores).zip(positions);
    let minority = judged.filter(|(_, position)| position.fate == Fate::Minority);
    minority
        .map(|((judge, score), position)| DissentingJudge {
            judge_id: judge.id,
            seat: judge.id,
            stance: judge.stance,
            score,
            position: judge.position(),
            reason: &position.reason,
        })
        .collect()
}

/// What is missing if too few judges gave a statement for a complete verdict.
fn short_panel(log: &PanelLog<'_>) -> Option<String> {
    let (heard, seated) = (log.judges.len(), log.debate.brief.seats_of("judge").count());
    let needed = judges_quorum(seated);
    let warning =
        || format!("only {heard} of {seated} judges gave a statement, and a complete verdict needs {needed}");
    (heard < needed).then(warning)
}

fn warnings(
    log: &PanelLog<'_>,
    decision: &PanelDecision,
    verdict: &PanelVerdict,
    termination: Termination,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget || log.was_cut_short() {
        warnings.push(limit_warning(log, decision));
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    warnings.extend(short_panel(log).filter(|_| *decision != PanelDecision::None));
    warnings.extend(missing_judge_warnings(log, decision));
    // Without a verdict, nothing that was carried forward counts.
    let counted = log.rounds.iter().filter(|_| *decision != PanelDecision::None);
    for round in counted.filter(|round| round.phase != PanelPhase::Position && round.present() > 0) {
        warnings.extend(carried_warnings(log, round));
    }
    warnings.extend(score_gap_warnings(log));
    warnings.extend(summary_warning(log, verdict));
    warnings
}

/// Why the opinions are the judges' own statements, where a rapporteur sits.
fn summary_warning(log: &PanelLog<'_>, verdict: &PanelVerdict) -> Option<String> {
    log.rapporteur().filter(|_| verdict.opinions_by == Some(OpinionAuthor::Judges))?;
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
    let rounds = log.rounds_completed();
    let s = if rounds == 1 { "" } else { "s" };
    match decision {
        PanelDecision::None => {
            format!("there is no verdict, because there were fewer than two position statements when {limit}")
        }
        PanelDecision::Consensus | PanelDecision::Majority { .. } | PanelDecision::NoMajority => {
            format!("the verdict is made from {rounds} round{s}, because {limit}")
        }
    }
}

/// What it means for the verdict that fewer judges gave a statement than sit.
fn missing_judge_warnings(log: &PanelLog<'_>, decision: &PanelDecision) -> Vec<String> {
    let mut warnings = Vec::new();
    let out = log.debate.brief.seats_of("judge").map(|seat| seat.id.as_str());
    let out: Vec<&str> = out.filter(|id| log.judges.iter().all(|judge| judge.id != *id)).collect();
    if !out.is_empty() && *decision != PanelDecision::None {
        warnings.push(format!("no position statement, so no say in the verdict: {}", out.join(", ")));
    }
    if let (PanelDecision::Majority { majority, minority }, 2) = (decision, log.judges.len())
        && minority.is_empty()
    {
        let apart = figure(log.last().map_or(0.0, |round| round.check.range));
        let both = log.ids(majority).join(" and ");
        warnings.push(format!(
            "only {both} are left: by the rule both together are the majority, although their scores are {apart} apart"
        ));
    }
    warnings
}

/// What counts in a round although nobody said it there.
fn carried_warnings(log: &PanelLog<'_>, round: &PanelRound) -> Vec<String> {
    let phase = round.phase;
    let judges = || log.judges.iter().zip(&round.standings);
    let absent: Vec<&str> = judges().filter(|(_, s)| !s.present).map(|(judge, _)| judge.id).collect();
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
        (absent, "absent, so the last score and positions count"),
        (unscored, "no dimension scores, so those of the round before count"),
        (unsaid, "no position on the critical findings, so those of the round before count"),
    ] {
        if !who.is_empty() {
            warnings.push(format!("round {}: {what}: {}", round.number, who.join(", ")));
        }
    }
    warnings
}

/// The judges whose overall score is far from their weighted dimension scores.
fn score_gap_warnings(log: &PanelLog<'_>) -> Vec<String> {
    let judged = log.judges.iter().zip(log.last_standings());
    judged
        .filter_map(|(judge, standing)| {
            let weighted = log.rubric.weighted(&standing.dimensions);
            let gap = (standing.score - weighted).abs();
            let (score, weighted) = (figure(standing.score), figure(weighted));
            (gap > SCORE_GAP_MAX + TOLERANCE).then(|| {
                format!("{} gives {score} overall, but its dimension scores weigh to {weighted}", judge.id)
            })
        })
        .collect()
}

/// The scores as the report writes them, for every round in which somebody spoke.
pub(super) fn positions(log: &PanelLog<'_>) -> PositionHistory {
    let mut rounds: Vec<RoundPositions> = Vec::new();
    let mut before: Option<&PanelRound> = None;
    for round in log.rounds.iter().filter(|round| round.present() > 0) {
        let stands = (0..log.judges.len()).filter_map(|place| position(log, place, round, before)).collect();
        let ruling = PanelDecision::after(log, round).label(log, round);
        rounds.push(RoundPositions { round: round.number, stands, ruling, ..RoundPositions::default() });
        before = Some(round);
    }
    let over = log.debate.outcome.as_ref().zip(log.last());
    let decided =
        over.and_then(|(outcome, last)| PanelDecision::of(log, outcome.termination).label(log, last));
    let marks = (0..log.judges.len()).filter_map(|place| marks(log, place)).collect();
    PositionHistory {
        rounds,
        decided: decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        marks,
        // Scores that would be a consensus count as one position where agreement is counted.
        near: Some(log.options.consensus_range),
        ..PositionHistory::default()
    }
}

fn position(
    log: &PanelLog<'_>,
    place: usize,
    round: &PanelRound,
    before: Option<&PanelRound>,
) -> Option<SeatPosition> {
    let score = |round: &PanelRound| round.standings.get(place).map(|standing| standing.score);
    let (judge, now) = (log.judges.get(place)?, score(round)?);
    let changed = before.filter(|before| score(before).is_some_and(|then| figure(then) != figure(now)));
    Some(SeatPosition {
        seat: judge.id.to_owned(),
        position: figure(now),
        value: Some(now),
        change: changed.map(|_| {
            let found = cited_sources(log, judge, round);
            let (mut cited, unverified) = cited_in_change(log, judge, place, round, &found);
            cited.extend(found.iter().map(|source| source.cited.clone()));
            PositionChange {
                cited,
                unverified,
                sources: found.into_iter().map(|source| source.id).collect(),
                reason: Some(verdict::change_reason(judge, round.phase)),
            }
        }),
        ..SeatPosition::default()
    })
}

/// What a judge cites as it changes its score, and what of that does not count. In its reason, ids of points of others count, lines of
/// the files, and words of the files in quotation marks. Where a final statement gives no reason, its first concession stands for it.
fn cited_in_change(
    log: &PanelLog<'_>,
    judge: &PanelJudge<'_>,
    place: usize,
    round: &PanelRound,
    found: &[SourceCitation],
) -> (Vec<String>, Vec<String>) {
    let reason = judge.change_reason(round.phase);
    let conceded = judge.last.iter().filter(|_| round.phase == PanelPhase::Final && reason.is_empty());
    let conceded =
        conceded.filter_map(|last| last.concessions_made.first()?.about.clone()).collect::<String>();
    let text = format!("{reason}{conceded}");
    let ids = log.cited_ids(&text, round.number, Some(place));
    let own = log.cited_ids(&text, round.number, None).into_iter().filter(|id| !ids.contains(id));
    let mut unverified: Vec<String> = own.map(|id| format!("[{id}], which is its own")).collect();
    let mut cited: Vec<String> = ids.iter().map(|id| format!("[{id}]")).collect();
    let known = log.cited_ids(&text, u32::MAX, None);
    let items = named_items(&log.debate.brief, reason);
    let unknown = bracketed_ids(reason).filter(|id| known.iter().chain(&items).all(|known| known != id));
    unverified.extend(unknown.map(|id| format!("[{id}], which does not exist")));
    let unquoted = items.iter().filter(|id| found.iter().all(|source| source.id != **id));
    unverified.extend(unquoted.map(|id| format!("[{id}] without words that occur there")));
    let named = reason.split_whitespace().filter_map(|word| {
        // A bare number is no location, even where there is only one file.
        let is_named = log.packet.paths().any(|path| word.contains(path.rsplit('/').next().unwrap_or(path)));
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let found = log.packet.locate(word).filter(|_| is_named)?;
        Some((format!("{word}, which is not in the files"), Some(found).filter(|found| found.is_verified)))
    });
    let is_of_source = |quote: &&str| found.iter().any(|source| source.cited.contains(quote.trim()));
    let quoted = quoted_words(reason).into_iter().filter(|quote| !is_of_source(quote));
    let quoted =
        quoted.map(|quote| (format!("\"{quote}\", which is not in the files"), quoted_lines(log, quote)));
    for (missing, found) in named.chain(quoted) {
        let lines = |found: &PacketLocation| {
            let end = found.end_line.map_or(String::new(), |end| format!("-{end}"));
            found.line.map(|line| format!("{}:{line}{end}", found.file))
        };
        match found.as_ref().map(lines) {
            Some(Some(place)) if !cited.contains(&place) => cited.push(place),
            // A file alone is no evidence.
            Some(_) => {}
            None => unverified.push(missing),
        }
    }
    (cited, unverified)
}

/// What stands in square brackets and has the form of an id: a letter and a number.
fn bracketed_ids(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0));
    inner.filter(|inner| {
        let number = inner.strip_prefix(|c: char| c.is_ascii_uppercase());
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// What was looked up that a judge's reason names, with words of it in quotation marks.
fn cited_sources(log: &PanelLog<'_>, judge: &PanelJudge<'_>, round: &PanelRound) -> Vec<SourceCitation> {
    let (debate, quoted) = (log.debate, QuotedTexts::new(&log.debate.brief));
    let shown = debate.items_shown(round.phase.as_str(), round.number);
    SourceCitation::in_text(&quoted, &debate.brief, shown, judge.change_reason(round.phase))
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
