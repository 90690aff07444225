//! The verdict: the seed's record for consensus or majority, composed from the judges' own words and scores.

use agon_core::{Corrupt, timestamps};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::consensus::{FindingState, PanelDecision, dimension_scores, extremes, mean, range};
use super::disputes::{self, PositionEvolution};
use super::findings::{CriticalFindingRecord, PointStands};
use super::follow_up::{self, PanelFollowUp};
use super::log::{JudgeStanding, PanelJudge, PanelLog, PanelRound};
use super::replies::{ConfidenceLevel, FindingSeverity, set};
use super::{PanelPhase, PanelStatus, rounded, wire_name};
use crate::participation::answered_calls;

/// What a report says of a verdict, and what another protocol reads of one. Its record in the outcome has more: see [`record`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PanelVerdict {
    /// The seed's fields for its kind.
    #[serde(flatten)]
    pub decision: VerdictDecision,
    /// Null without a verdict, like the score. Never GREEN with a critical finding that anybody holds.
    pub status: Option<PanelStatus>,
    /// The mean of the judges' weighted dimension scores.
    pub weighted_score: Option<f64>,
    pub critical_findings: Vec<CriticalFindingRecord>,
}

/// The fields that differ between the kinds of verdict, in the seed's order. The kind and the rounds stand before them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum VerdictDecision {
    /// "Consensus Verdict (all scores within 0.5)".
    Consensus(ConsensusVerdict),
    /// "Majority Verdict (Round 3 without consensus)".
    Majority(MajorityVerdict),
    /// Two groups are equally near together: all scores and positions.
    NoMajority(UndecidedVerdict),
    /// Too few judges were left.
    None(MissingVerdict),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsensusVerdict {
    pub consensus_reached_at_round: Option<u32>,
    /// The mean of all scores.
    pub consensus_score: f64,
    /// The smallest and the largest score.
    pub score_range: [f64; 2],
    pub confidence: ConfidenceLevel,
    pub balanced_assessment: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MajorityVerdict {
    pub consensus_reached: bool,
    pub majority_score: f64,
    /// Null where all judges are the majority, like the gap and the opinion.
    pub minority_score: Option<f64>,
    pub score_gap: Option<f64>,
    pub majority_judges: Vec<String>,
    pub minority_judges: Vec<String>,
    pub confidence: ConfidenceLevel,
    pub majority_opinion: String,
    pub minority_opinion: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndecidedVerdict {
    pub consensus_reached: bool,
    pub scores: Vec<f64>,
    /// The smallest and the largest score.
    pub score_range: [f64; 2],
    pub confidence: ConfidenceLevel,
    pub balanced_assessment: String,
    pub positions: Vec<Value>,
}

/// The same fields without a value, so that readers find them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingVerdict {
    pub consensus_reached: bool,
    pub confidence: Option<ConfidenceLevel>,
}

/// A finding of the verdict, with the judges whose it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(super) struct PanelFinding {
    pub finding: String,
    pub priority: FindingSeverity,
    /// Their ids, or `all`.
    pub source_judges: Vec<String>,
    pub action_required: bool,
    pub id: String,
    /// Other ids of the same finding, as far as the judges declared it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_as: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Of a finding below CRITICAL, like the fix and the stands. `critical_findings` has those of the others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fix: String,
    #[serde(flatten)]
    pub stands: PointStands,
}

impl PanelFinding {
    /// All its ids.
    pub(super) fn ids(&self) -> Vec<&str> {
        std::iter::once(&self.id).chain(&self.same_as).map(String::as_str).collect()
    }

    /// Whether a finding below CRITICAL is held by nobody any more.
    fn is_given_up(&self) -> bool {
        let stands = &self.stands;
        stands.accepted_by.is_empty() && self.source_judges.iter().all(|id| stands.given_up_by.contains(id))
    }
}

impl PanelVerdict {
    /// The score that the judges decided on.
    pub fn score(&self) -> Option<f64> {
        match &self.decision {
            VerdictDecision::Consensus(verdict) => Some(verdict.consensus_score),
            VerdictDecision::Majority(verdict) => Some(verdict.majority_score),
            VerdictDecision::NoMajority(_) | VerdictDecision::None(_) => None,
        }
    }

    /// How sure the verdict is.
    pub fn confidence(&self) -> Option<ConfidenceLevel> {
        match &self.decision {
            VerdictDecision::Consensus(verdict) => Some(verdict.confidence),
            VerdictDecision::Majority(verdict) => Some(verdict.confidence),
            VerdictDecision::NoMajority(verdict) => Some(verdict.confidence),
            VerdictDecision::None(_) => None,
        }
    }

    /// The critical findings that somebody holds in the end.
    pub(crate) fn held_findings(&self) -> impl Iterator<Item = &CriticalFindingRecord> {
        self.critical_findings.iter().filter(|finding| finding.state.is_held())
    }
}

/// The verdict that follows from a decision.
pub(super) fn verdict(follow_up: &PanelFollowUp<'_>) -> PanelVerdict {
    let PanelFollowUp { log, decision, .. } = follow_up;
    let weighted = log.weighted(&log.places()).filter(|_| decision.kind().is_some());
    PanelVerdict {
        decision: verdict_decision(follow_up),
        status: log.last().filter(|_| weighted.is_some()).map(|last| log.go_after(last).1),
        weighted_score: weighted.map(rounded),
        critical_findings: log.critical.clone(),
    }
}

/// The verdict as the outcome carries it, with the seed's fields first.
pub(super) fn record(follow_up: &PanelFollowUp<'_>, verdict: &PanelVerdict) -> Result<Value, Corrupt> {
    let PanelFollowUp { log, decision, summary, .. } = follow_up;
    // The opinions are the rapporteur's, with quotes that verify, or the judges' own last statements.
    let author = if summary.opinion.is_some() { "rapporteur" } else { "judges" };
    let standings = log.last_standings();
    let dimensions = log.rubric.keys().enumerate().filter(|_| !standings.is_empty()).map(|(place, key)| {
        let scores = dimension_scores(standings, place);
        (key.to_owned(), json!({"average": rounded(mean(&scores)), "range": rounded(range(&scores))}))
    });
    let disputes = disputes::listed(log).into_iter().map(|dispute| disputes::record(log, dispute));
    let mut record = json!({"verdict_type": decision.kind(), "rounds_completed": log.rounds_completed()});
    let rest = json!({
        "opinions_by": decision.kind().map(|_| author),
        "opinion_quotes": summary.quotes,
        "user_attention_needed": follow_up.attention_items(),
        "recommendations": follow_up.recommendations(),
        "feature": log.feature(),
        "question": log.question(),
        "status": verdict.status,
        "weighted_score": verdict.weighted_score,
        "judges": judge_results(log),
        "critical_findings": verdict.critical_findings,
        "disputes": disputes.collect::<Vec<_>>(),
        // By dimension, in the rubric's order.
        "dimension_consensus": dimensions.collect::<Map<_, _>>(),
        "convergent_findings": convergent_findings(log),
        "other_findings": other_findings(log),
        "rubric": log.rubric.dimensions,
        "debate_metrics": metrics(log, decision),
    });
    let decided = serde_json::to_value(&verdict.decision)?;
    if let (Value::Object(record), Value::Object(decided), Value::Object(rest)) = (&mut record, decided, rest)
    {
        record.extend(decided);
        record.extend(rest.into_iter().filter(|(key, value)| key != "question" || !value.is_null()));
    }
    Ok(record)
}

fn verdict_decision(follow_up: &PanelFollowUp<'_>) -> VerdictDecision {
    let PanelFollowUp { log, decision, summary, .. } = follow_up;
    let scores = log.last_scores(&log.places());
    let score_range = || <[f64; 2]>::from(extremes(&scores));
    let position = |(judge, score): (&PanelJudge<'_>, &f64)| json!({"judge_id": judge.id, "stance": judge.stance, "score": score, "position": judge.position()});
    let cap = confidence_cap(log);
    let opinion = |heading: &str, places: &[usize], summed: &Option<String>| match summed {
        Some(text) => format!("{heading}\n\n{text}"),
        None => own_statements(log, heading, places),
    };
    match decision {
        PanelDecision::Consensus => VerdictDecision::Consensus(ConsensusVerdict {
            consensus_reached_at_round: log.last().map(|round| round.number),
            consensus_score: rounded(mean(&scores)),
            score_range: score_range(),
            confidence: cap,
            balanced_assessment: opinion("## Consensus Assessment", &log.places(), &summary.opinion),
        }),
        PanelDecision::Majority { majority, minority } => {
            let ours = mean(&log.last_scores(majority));
            let theirs = (!minority.is_empty()).then(|| mean(&log.last_scores(minority)));
            VerdictDecision::Majority(MajorityVerdict {
                consensus_reached: false,
                majority_score: rounded(ours),
                minority_score: theirs.map(rounded),
                score_gap: theirs.map(|theirs| rounded((ours - theirs).abs())),
                majority_judges: log.ids(majority),
                minority_judges: log.ids(minority),
                confidence: cap.min(ConfidenceLevel::Medium),
                majority_opinion: opinion("## Majority Position", majority, &summary.opinion),
                minority_opinion: theirs
                    .map(|_| opinion("## Minority Position (Dissent)", minority, &summary.minority)),
            })
        }
        PanelDecision::NoMajority => VerdictDecision::NoMajority(UndecidedVerdict {
            consensus_reached: false,
            score_range: score_range(),
            confidence: ConfidenceLevel::Low,
            balanced_assessment: opinion("## Assessment without a Majority", &log.places(), &summary.opinion),
            positions: log.judges.iter().zip(&scores).map(position).collect(),
            scores,
        }),
        PanelDecision::None => {
            VerdictDecision::None(MissingVerdict { consensus_reached: false, confidence: None })
        }
    }
}

/// HIGH where everybody who sits was heard to the end, nobody's score jumped without a reason that cites an id, and no critical
/// finding is open; else MEDIUM.
fn confidence_cap(log: &PanelLog<'_>) -> ConfidenceLevel {
    let standings = log.last_standings();
    let seated = log.debate.brief.seats_of("judge").count();
    let all_heard = standings.len() == seated && standings.iter().all(|standing| standing.present);
    let is_open = log.last().is_some_and(|round| round.check.disputed > 0);
    match all_heard && !is_open && follow_up::unexplained_moves(log).is_empty() {
        true => ConfidenceLevel::High,
        false => ConfidenceLevel::Medium,
    }
}

/// What the judges say in the end, marked as their own words, under the seed's heading.
fn own_statements(log: &PanelLog<'_>, heading: &str, places: &[usize]) -> String {
    let judges = places.iter().filter_map(|place| log.judges.get(*place));
    let said = judges
        .map(|judge| format!("**{}** ({}):\n\n{}", judge.id, wire_name(judge.stance), judge.position()));
    let mark = "*The judges' own statements; no rapporteur's summary is available.*".to_owned();
    [heading.to_owned(), mark].into_iter().chain(said).collect::<Vec<_>>().join("\n\n")
}

/// The judges with their scores in the end and after each round, and with their last assessments and answers.
fn judge_results(log: &PanelLog<'_>) -> Vec<Value> {
    let result = |(place, (judge, last)): (usize, (&PanelJudge<'_>, &JudgeStanding))| {
        let rounds = log.counted_rounds();
        let standings: Vec<(u32, &JudgeStanding)> =
            rounds.filter_map(|round| Some((round.number, round.standings.get(place)?))).collect();
        let absent = standings.iter().filter(|(_, standing)| !standing.present);
        let dimensions = log.rubric.keys().zip(&last.dimensions);
        let mut result = json!({
            "judge_id": judge.id,
            "stance": judge.stance,
            "model": judge.model,
            "score": last.score,
            "scores": standings.iter().map(|(_, standing)| standing.score).collect::<Vec<_>>(),
            "dimension_scores": dimensions.map(|(key, score)| (key.to_owned(), json!(score))).collect::<Map<_, _>>(),
            "weighted": rounded(log.rubric.weighted(&last.dimensions)),
            "carried": absent.map(|(round, _)| round).collect::<Vec<_>>(),
            "position": judge.position(),
        });
        judge.answer().into_iter().for_each(|answer| set(&mut result, "answer_to_question", answer));
        result
    };
    log.judges.iter().zip(log.last_standings()).enumerate().map(result).collect()
}

/// "A conclusion all judges agree on": the critical findings that all hold.
fn convergent_findings(log: &PanelLog<'_>) -> Vec<PanelFinding> {
    let adopted = log.critical.iter().filter(|finding| finding.state == FindingState::Adopted);
    let convergent = adopted.map(|finding| PanelFinding {
        finding: finding.finding.clone(),
        priority: FindingSeverity::Critical,
        source_judges: vec!["all".to_owned()],
        action_required: true,
        id: finding.finding_id.clone(),
        same_as: finding.same_as.clone(),
        unverified: finding.unverified,
        ..PanelFinding::default()
    });
    convergent.collect()
}

/// Findings below CRITICAL. Equal texts, and those that judges declare the same, are one.
pub(super) fn other_findings(log: &PanelLog<'_>) -> Vec<PanelFinding> {
    let mut found: Vec<PanelFinding> = Vec::new();
    for (finding, first) in log.all_findings().skip(log.findings.len()) {
        let first = log.all_findings().nth(first).map(|(first, _)| first.id.clone());
        let first = first.filter(|first| *first != finding.id);
        if let Some(same) = found.iter_mut().find(|other| Some(&other.id) == first.as_ref()) {
            same.priority = same.priority.min(finding.severity);
            if same.unverified && !finding.is_unverified {
                (same.evidence, same.unverified) = (finding.evidence.clone(), false);
            }
            same.source_judges.extend(log.ids(&finding.raisers()));
            same.source_judges.sort_unstable();
            same.source_judges.dedup();
            same.same_as.push(finding.id.clone());
            continue;
        }
        found.push(PanelFinding {
            finding: finding.finding.clone(),
            priority: finding.severity,
            source_judges: log.ids(&finding.raisers()),
            id: finding.id.clone(),
            same_as: first.into_iter().collect(),
            unverified: finding.is_unverified,
            evidence: finding.evidence.clone(),
            fix: finding.fix.clone(),
            ..PanelFinding::default()
        });
    }
    for finding in &mut found {
        finding.stands = PointStands::of(log, &finding.ids());
        finding.action_required = finding.priority == FindingSeverity::High && !finding.is_given_up();
    }
    found.sort_by_key(|finding| (finding.is_given_up(), finding.priority));
    found
}

/// The seed's "Debate Metrics": the rounds in figures, how the positions moved, and what it cost.
pub(super) fn metrics(log: &PanelLog<'_>, decision: &PanelDecision) -> Value {
    let last = log.last().map_or(0, |round| round.number);
    let (mut rounds, mut over_all) = (Map::new(), PositionEvolution::default());
    for (place, round) in log.counted_rounds().enumerate() {
        let evolution = disputes::evolution_after(log, place);
        let agreements_formed = over_all.agreements_formed + evolution.agreements_formed;
        over_all = PositionEvolution { agreements_formed, ..evolution };
        let mut figures = round_metrics(log, round, evolution);
        if round.number == last {
            set(&mut figures, "final_verdict", json!(decision.kind()));
        }
        rounds.insert(format!("round_{}", round.number), figures);
    }
    // A branch counts all calls that its figures rest on, those of its parent too. The rapporteur is no judge.
    let spent = log.debate.spent_where(|_| true);
    let judging = log.debate.turns.iter().filter(|turn| turn.phase.name != PanelPhase::Summary.as_str());
    let created_at = &log.debate.brief.created_at;
    json!({
        "feature": log.feature(),
        "start_time": created_at,
        "end_time": timestamps::later(created_at, log.debate.at_ms),
        "rounds": rounds,
        "position_evolution": over_all,
        "cost": {
            "judge_calls": answered_calls(judging),
            "estimated_usd": spent.usd_known.then(|| rounded(spent.usd)),
        },
    })
}

/// Disputes are as they are after this round, and the agreements are those of this round alone.
fn round_metrics(log: &PanelLog<'_>, round: &PanelRound, evolution: PositionEvolution) -> Value {
    let mut figures = json!({
        "scores": round.scores(),
        "range": rounded(round.check.range),
        "consensus_check": round.check.reached,
    });
    if round.phase != PanelPhase::Position {
        let judges = log.judges.iter().enumerate();
        let changes = judges.filter_map(|(place, judge)| {
            let delta = log.score_change(place, round.number)?;
            Some(json!({"judge": judge.id, "delta": delta, "reason": change_reason(judge, round.phase)}))
        });
        set(&mut figures, "score_changes", changes.collect::<Vec<_>>());
        set(&mut figures, "carried", round.absent(log));
    }
    set(&mut figures, "agreements_formed", evolution.agreements_formed);
    set(&mut figures, "disputes_resolved", evolution.disputes_resolved);
    set(&mut figures, "disputes_remaining", evolution.disputes_remaining);
    figures
}

/// Why a judge changed its score, in its own words. A final statement without a reason has its first concession.
pub(super) fn change_reason(judge: &PanelJudge<'_>, phase: PanelPhase) -> String {
    let stated = Some(judge.change_reason(phase)).filter(|reason| !reason.is_empty()).map(str::to_owned);
    let conceded = || {
        let last = judge.last.as_ref().filter(|_| phase == PanelPhase::Final);
        last.and_then(|last| last.concessions_made.first()).map(|concession| {
            let (point, by) = (concession.point.trim(), concession.convinced_by.trim());
            match by {
                "" => format!("gives no reason, but concedes: {point}"),
                by => format!("gives no reason, but concedes, convinced by {by}: {point}"),
            }
        })
    };
    stated.or_else(conceded).unwrap_or_else(|| "gives no reason".to_owned())
}
