//! The verdict: the seed's record for consensus or majority, composed from the judges' own words and scores.

use agon_core::{Corrupt, timestamps};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::consensus::{PanelDecision, VerdictKind, dimension_scores, extremes, mean, range};
use super::findings::{self, CriticalFindingRecord, PanelFinding, PanelFindings};
use super::follow_up::{self, AttentionItem, PanelRecommendation};
use super::log::{JudgeStance, JudgeStanding, PanelJudge, PanelLog, PanelRound};
use super::replies::ConfidenceLevel;
use super::rubric::RubricDimension;
use super::{PanelPhase, PanelStatus, ScoreBands, figure, rounded};
use crate::participation::answered_calls;

/// The verdict of `panel`, as the outcome carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelVerdict {
    /// The seed's fields for its kind.
    #[serde(flatten)]
    pub decision: VerdictDecision,
    /// What was judged.
    pub feature: String,
    /// Null without a verdict, like the score.
    pub status: Option<PanelStatus>,
    /// The mean of the judges' weighted dimension scores.
    pub weighted_score: Option<f64>,
    pub bands: ScoreBands,
    pub thresholds: ConsensusThresholds,
    pub judges: Vec<JudgeResult>,
    pub critical_findings: Vec<CriticalFindingRecord>,
    /// By dimension, in the rubric's order.
    pub dimension_consensus: IndexMap<String, DimensionAgreement>,
    pub convergent_findings: Vec<PanelFinding>,
    pub shared_findings: Vec<PanelFinding>,
    pub divergent_findings: Vec<PanelFinding>,
    pub rubric: Vec<RubricDimension>,
    pub debate_metrics: PanelMetrics,
}

/// The fields that differ between the kinds of verdict, in the seed's order.
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
    pub verdict_type: VerdictKind,
    pub rounds_completed: u32,
    pub consensus_reached_at_round: Option<u32>,
    /// The mean of all scores.
    pub consensus_score: f64,
    /// The smallest and the largest score.
    pub score_range: [f64; 2],
    pub confidence: ConfidenceLevel,
    /// What the judges say, by stance, in Markdown.
    pub balanced_assessment: String,
    pub recommendations: Vec<PanelRecommendation>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MajorityVerdict {
    pub verdict_type: VerdictKind,
    pub rounds_completed: u32,
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
    pub user_attention_needed: Vec<AttentionItem>,
    pub recommendations: Vec<PanelRecommendation>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndecidedVerdict {
    pub verdict_type: VerdictKind,
    pub rounds_completed: u32,
    pub consensus_reached: bool,
    pub scores: Vec<f64>,
    /// The smallest and the largest score.
    pub score_range: [f64; 2],
    pub confidence: ConfidenceLevel,
    pub positions: Vec<JudgePosition>,
    pub user_attention_needed: Vec<AttentionItem>,
    pub recommendations: Vec<PanelRecommendation>,
}

/// The same fields without a value, so that readers find them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingVerdict {
    pub verdict_type: Option<VerdictKind>,
    pub rounds_completed: u32,
    pub consensus_reached: bool,
    pub confidence: Option<ConfidenceLevel>,
}

/// What consensus needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConsensusThresholds {
    pub consensus_range: f64,
    pub dimension_range: f64,
}

/// A judge with its scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeResult {
    pub judge_id: String,
    pub stance: JudgeStance,
    pub model: String,
    pub score: f64,
    /// The overall score after each round.
    pub scores: Vec<f64>,
    pub dimension_scores: IndexMap<String, f64>,
    pub dimension_scores_by_round: Vec<RoundDimensionScores>,
    /// What the dimension scores weigh to.
    pub weighted: f64,
    /// The rounds in which the judge was absent and its last scores count.
    pub carried: Vec<u32>,
    /// Its last assessment.
    pub position: String,
}

/// A judge's dimension scores after a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundDimensionScores {
    pub round: u32,
    pub dimension_scores: IndexMap<String, f64>,
    /// The dimensions whose scores are those of the round before.
    pub carried: Vec<String>,
}

/// How far the judges agree on a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DimensionAgreement {
    pub average: f64,
    pub range: f64,
}

/// Where a judge stands in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgePosition {
    pub judge_id: String,
    pub stance: JudgeStance,
    pub score: f64,
    pub position: String,
}

impl PanelVerdict {
    /// The document. The seed's consensus record has two of the fields that every verdict has among its own.
    pub(super) fn to_json(&self) -> Result<Value, Corrupt> {
        let mut document = serde_json::to_value(self)?;
        if let Value::Object(fields) = &mut document
            && let Some(place) = fields.keys().position(|key| key == "balanced_assessment")
        {
            for (at, key) in (place..).zip(["dimension_consensus", "convergent_findings"]) {
                if let Some(value) = fields.shift_remove(key) {
                    fields.shift_insert(at, key.to_owned(), value);
                }
            }
        }
        Ok(document)
    }

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

    /// What needs the user's attention.
    pub fn attention(&self) -> &[AttentionItem] {
        match &self.decision {
            VerdictDecision::Majority(verdict) => &verdict.user_attention_needed,
            VerdictDecision::NoMajority(verdict) => &verdict.user_attention_needed,
            VerdictDecision::Consensus(_) | VerdictDecision::None(_) => &[],
        }
    }

    /// What should be done.
    pub fn recommendations(&self) -> &[PanelRecommendation] {
        match &self.decision {
            VerdictDecision::Consensus(verdict) => &verdict.recommendations,
            VerdictDecision::Majority(verdict) => &verdict.recommendations,
            VerdictDecision::NoMajority(verdict) => &verdict.recommendations,
            VerdictDecision::None(_) => &[],
        }
    }
}

/// The verdict that follows from a decision.
pub(super) fn verdict(log: &PanelLog<'_>, decision: &PanelDecision) -> PanelVerdict {
    let weighted = log.weighted(&log.places()).filter(|_| *decision != PanelDecision::None);
    let findings = PanelFindings::of(log);
    let standings = log.last_standings();
    let agreement = |place: usize| {
        let scores = dimension_scores(standings, place);
        DimensionAgreement { average: rounded(mean(&scores)), range: rounded(range(&scores)) }
    };
    let dimensions = log.rubric.keys().enumerate().filter(|_| !standings.is_empty());
    PanelVerdict {
        decision: verdict_decision(log, decision),
        feature: log.feature(),
        status: weighted.map(|weighted| log.band(weighted)),
        weighted_score: weighted.map(rounded),
        bands: log.bands,
        thresholds: ConsensusThresholds {
            consensus_range: log.options.consensus_range,
            dimension_range: log.options.dimension_range,
        },
        judges: judge_results(log),
        critical_findings: findings::critical_finding_records(log),
        dimension_consensus: dimensions.map(|(place, key)| (key.to_owned(), agreement(place))).collect(),
        convergent_findings: findings.convergent,
        shared_findings: findings.shared,
        divergent_findings: findings.divergent,
        rubric: log.rubric.dimensions.clone(),
        debate_metrics: metrics(log, decision),
    }
}

fn verdict_decision(log: &PanelLog<'_>, decision: &PanelDecision) -> VerdictDecision {
    let rounds_completed = log.rounds_completed();
    let scores = log.last_scores(&log.places());
    let score_range = || <[f64; 2]>::from(extremes(&scores));
    match decision {
        PanelDecision::Consensus => VerdictDecision::Consensus(ConsensusVerdict {
            verdict_type: VerdictKind::Consensus,
            rounds_completed,
            consensus_reached_at_round: log.last().map(|round| round.number),
            consensus_score: rounded(mean(&scores)),
            score_range: score_range(),
            confidence: consensus_confidence(log),
            balanced_assessment: balanced_assessment(log),
            recommendations: follow_up::recommendations(log, decision),
        }),
        PanelDecision::Majority { majority, minority } => {
            let ours = mean(&log.last_scores(majority));
            let theirs = (!minority.is_empty()).then(|| mean(&log.last_scores(minority)));
            VerdictDecision::Majority(MajorityVerdict {
                verdict_type: VerdictKind::Majority,
                rounds_completed,
                consensus_reached: false,
                majority_score: rounded(ours),
                minority_score: theirs.map(rounded),
                score_gap: theirs.map(|theirs| rounded((ours - theirs).abs())),
                majority_judges: log.ids(majority),
                minority_judges: log.ids(minority),
                confidence: ConfidenceLevel::Medium,
                majority_opinion: opinion(log, "## Majority Position", majority),
                minority_opinion: theirs.map(|_| opinion(log, "## Minority Position (Dissent)", minority)),
                user_attention_needed: follow_up::attention_items(log, decision),
                recommendations: follow_up::recommendations(log, decision),
            })
        }
        PanelDecision::NoMajority => VerdictDecision::NoMajority(UndecidedVerdict {
            verdict_type: VerdictKind::NoMajority,
            rounds_completed,
            consensus_reached: false,
            score_range: score_range(),
            confidence: ConfidenceLevel::Low,
            positions: log.judges.iter().zip(&scores).map(|(judge, score)| position(judge, *score)).collect(),
            scores,
            user_attention_needed: follow_up::attention_items(log, decision),
            recommendations: follow_up::recommendations(log, decision),
        }),
        PanelDecision::None => VerdictDecision::None(MissingVerdict {
            verdict_type: None,
            rounds_completed,
            consensus_reached: false,
            confidence: None,
        }),
    }
}

/// HIGH where everybody who sits was heard to the end, else MEDIUM.
fn consensus_confidence(log: &PanelLog<'_>) -> ConfidenceLevel {
    let standings = log.last_standings();
    let seated = log.debate.brief.seats_of("judge").count();
    let all_heard = standings.len() == seated && standings.iter().all(|standing| standing.present);
    if all_heard { ConfidenceLevel::High } else { ConfidenceLevel::Medium }
}

fn position(judge: &PanelJudge<'_>, score: f64) -> JudgePosition {
    JudgePosition {
        judge_id: judge.id.to_owned(),
        stance: judge.stance,
        score,
        position: judge.position().to_owned(),
    }
}

fn judge_results(log: &PanelLog<'_>) -> Vec<JudgeResult> {
    let Some(last) = log.last() else { return Vec::new() };
    let judges = log.judges.iter().zip(&last.standings).enumerate();
    judges
        .map(|(place, (judge, standing))| {
            let rounds = || log.rounds.iter().filter(|round| round.number <= last.number);
            let absent = |round: &&PanelRound| round.standings.get(place).is_some_and(|s| !s.present);
            JudgeResult {
                judge_id: judge.id.to_owned(),
                stance: judge.stance,
                model: judge.model.to_owned(),
                score: standing.score,
                scores: rounds().filter_map(|round| Some(round.standings.get(place)?.score)).collect(),
                dimension_scores: by_dimension(log, standing),
                dimension_scores_by_round: rounds()
                    .filter_map(|round| {
                        Some(round_dimensions(log, round, judge, round.standings.get(place)?))
                    })
                    .collect(),
                weighted: rounded(log.rubric.weighted(&standing.dimensions)),
                carried: rounds().filter(absent).map(|round| round.number).collect(),
                position: judge.position().to_owned(),
            }
        })
        .collect()
}

fn by_dimension(log: &PanelLog<'_>, standing: &JudgeStanding) -> IndexMap<String, f64> {
    log.rubric.keys().map(str::to_owned).zip(standing.dimensions.iter().copied()).collect()
}

fn round_dimensions(
    log: &PanelLog<'_>,
    round: &PanelRound,
    judge: &PanelJudge<'_>,
    standing: &JudgeStanding,
) -> RoundDimensionScores {
    let carried = log.rubric.keys().filter(|key| judge.dimension(round.phase, key).is_none());
    RoundDimensionScores {
        round: round.number,
        dimension_scores: by_dimension(log, standing),
        carried: carried.map(str::to_owned).collect(),
    }
}

/// "Synthesis incorporating all stance perspectives": what the judges of each stance say in the end.
fn balanced_assessment(log: &PanelLog<'_>) -> String {
    let mut parts = vec!["## Consensus Assessment".to_owned()];
    for (stance, heading) in [
        (JudgeStance::Neutral, "### Neutral: the objective view"),
        (JudgeStance::For, "### For: the strengths"),
        (JudgeStance::Against, "### Against: the risks"),
    ] {
        let judges = log.judges.iter().enumerate().filter(|(_, judge)| judge.stance == stance);
        let said: Vec<String> = judges.map(|(place, judge)| last_words(log, place, judge)).collect();
        if !said.is_empty() {
            parts.push(heading.to_owned());
            parts.extend(said);
        }
    }
    parts.join("\n\n")
}

/// What some judges say in the end, under the seed's heading for them.
fn opinion(log: &PanelLog<'_>, heading: &str, places: &[usize]) -> String {
    let judges = places.iter().filter_map(|place| Some((*place, log.judges.get(*place)?)));
    let said = judges.map(|(place, judge)| last_words(log, place, judge));
    std::iter::once(heading.to_owned()).chain(said).collect::<Vec<_>>().join("\n\n")
}

fn last_words(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> String {
    let standing = log.last_standings().get(place);
    let score = standing.map_or(String::new(), |standing| format!(", score {}", figure(standing.score)));
    format!("**{}** ({}{score}):\n\n{}", judge.id, judge.stance.as_str(), lower_headings(judge.position()))
}

/// A judge's Markdown with its headings two levels lower, so that the seed's headings stay on top.
fn lower_headings(text: &str) -> String {
    const LEVEL_MAX: usize = 6;
    let lines = text.trim().lines().map(|line| {
        let level = line.chars().take_while(|c| *c == '#').count();
        match line.get(level..) {
            Some(rest) if level > 0 && rest.starts_with(' ') => {
                format!("{}{rest}", "#".repeat((level + 2).min(LEVEL_MAX)))
            }
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// "Debate Metrics": the rounds in figures, how the positions moved, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelMetrics {
    pub feature: String,
    pub start_time: String,
    pub end_time: String,
    /// By name: `round_1`.
    pub rounds: IndexMap<String, PanelRoundMetrics>,
    pub position_evolution: PositionEvolution,
    pub cost: JudgingCost,
}

/// A round in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelRoundMetrics {
    pub scores: Vec<f64>,
    pub range: f64,
    pub consensus_check: bool,
    /// From round 2 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_changes: Option<Vec<ScoreChange>>,
    /// From round 2 on: the judges who were absent and whose last scores count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Vec<String>>,
    /// In the last round; null without a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_verdict: Option<Option<VerdictKind>>,
}

/// A judge's change of score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreChange {
    pub judge: String,
    pub delta: f64,
    pub reason: String,
}

/// How the positions moved, counted from the judges' own lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionEvolution {
    pub agreements_formed: usize,
    pub disputes_resolved: usize,
    pub disputes_remaining: usize,
}

/// What the judging cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JudgingCost {
    pub judge_calls: usize,
    /// Null where a price is unknown.
    pub estimated_usd: Option<f64>,
}

/// The seed's metrics of a debate with this decision.
pub(super) fn metrics(log: &PanelLog<'_>, decision: &PanelDecision) -> PanelMetrics {
    let brief = &log.debate.brief;
    let last = log.last().map_or(0, |round| round.number);
    let rounds = log.rounds.iter().filter(|round| round.number <= last);
    let rounds =
        rounds.map(|round| (format!("round_{}", round.number), round_metrics(log, round, decision, last)));
    // A branch counts all calls that its figures rest on, those of its parent too.
    let spent = log.debate.spent_where(|_| true);
    let judges = || log.judges.iter();
    PanelMetrics {
        feature: log.feature(),
        start_time: brief.created_at.clone(),
        end_time: timestamps::later(&brief.created_at, log.debate.at_ms),
        rounds: rounds.collect(),
        position_evolution: PositionEvolution {
            agreements_formed: judges()
                .flat_map(|judge| &judge.rebuttal)
                .map(|said| said.agreements.len())
                .sum(),
            disputes_resolved: judges()
                .flat_map(|judge| &judge.last)
                .map(|said| said.concessions_made.len())
                .sum(),
            disputes_remaining: judges().map(count_unresolved).sum(),
        },
        cost: JudgingCost {
            judge_calls: answered_calls(&log.debate.turns),
            estimated_usd: spent.usd_known.then(|| rounded(spent.usd)),
        },
    }
}

/// How many points a judge's last statement leaves unresolved.
fn count_unresolved(judge: &PanelJudge<'_>) -> usize {
    match (&judge.last, &judge.rebuttal) {
        (Some(last), _) => last.unresolved_disagreements.len(),
        (None, Some(rebuttal)) => rebuttal.unresolved_disputes.len(),
        (None, None) => 0,
    }
}

fn round_metrics(
    log: &PanelLog<'_>,
    round: &PanelRound,
    decision: &PanelDecision,
    last: u32,
) -> PanelRoundMetrics {
    let judges = || log.judges.iter().enumerate();
    let changes = judges().filter_map(|(place, judge)| {
        let delta = log.score_change(place, round.number)?;
        Some(ScoreChange { judge: judge.id.to_owned(), delta, reason: change_reason(judge, round.phase) })
    });
    let absent = judges().filter(|(place, _)| round.standings.get(*place).is_some_and(|s| !s.present));
    let is_later = round.phase != PanelPhase::Position;
    PanelRoundMetrics {
        scores: round.scores(),
        range: rounded(round.check.range),
        consensus_check: round.check.reached,
        score_changes: is_later.then(|| changes.collect()),
        carried: is_later.then(|| absent.map(|(_, judge)| judge.id.to_owned()).collect()),
        final_verdict: (round.number == last).then(|| decision.kind()),
    }
}

/// Why a judge changed its score, in its own words. A final statement has no such field; its first concession is the reason.
pub(super) fn change_reason(judge: &PanelJudge<'_>, phase: PanelPhase) -> String {
    let reason = match phase {
        PanelPhase::Position => None,
        PanelPhase::Rebuttal => {
            judge.rebuttal.as_ref().map(|rebuttal| rebuttal.change_reason.trim().to_owned())
        }
        PanelPhase::Final => {
            judge.last.as_ref().and_then(|last| last.concessions_made.first()).map(|concession| {
                let (point, by) = (concession.point.trim(), concession.convinced_by.trim());
                if by.is_empty() {
                    format!("concedes: {point}")
                } else {
                    format!("persuaded by {by}: {point}")
                }
            })
        }
    };
    reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| "gives no reason".to_owned())
}
