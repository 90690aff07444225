//! The verdict: the seed's record for consensus or majority, composed from the judges' own words and scores.

use agon_core::timestamps;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::consensus::{FindingState, PanelDecision, VerdictKind, dimension_scores, extremes, mean, range};
use super::disputes::{self, DisputeRecord, DisputeState, PositionEvolution};
use super::findings::{CriticalFindingRecord, PointStands};
use super::follow_up::{self, AttentionItem, PanelFollowUp, PanelRecommendation};
use super::log::{JudgeStance, JudgeStanding, PanelJudge, PanelLog, PanelRound};
use super::replies::{ConfidenceLevel, FindingSeverity, JudgeQuote, set};
use super::rubric::RubricDimension;
use super::{PanelPhase, PanelStatus, ScoreBands, figure, rounded, wire_name};
use crate::participation::answered_calls;

/// The verdict of `panel`, as the outcome carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelVerdict {
    /// The seed's fields for its kind.
    #[serde(flatten)]
    pub decision: VerdictDecision,
    /// Who wrote the opinions: the rapporteur, or the judges themselves. Null without a verdict.
    pub opinions_by: Option<OpinionAuthor>,
    /// The judges' words that the rapporteur's opinions rest on.
    pub opinion_quotes: Vec<JudgeQuote>,
    pub user_attention_needed: Vec<AttentionItem>,
    pub recommendations: Vec<PanelRecommendation>,
    /// What was judged.
    pub feature: String,
    /// What the person wants to know, where they asked a question of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Null without a verdict, like the score. Never GREEN with a critical finding that anybody holds.
    pub status: Option<PanelStatus>,
    /// The mean of the judges' weighted dimension scores.
    pub weighted_score: Option<f64>,
    pub bands: ScoreBands,
    pub thresholds: ConsensusThresholds,
    pub judges: Vec<JudgeResult>,
    pub critical_findings: Vec<CriticalFindingRecord>,
    pub disputes: Vec<DisputeRecord>,
    /// By dimension, in the rubric's order.
    pub dimension_consensus: IndexMap<String, DimensionAgreement>,
    /// "A conclusion all judges agree on": critical findings that all hold.
    pub convergent_findings: Vec<PanelFinding>,
    /// "A conclusion where judges disagree": what is open in the end.
    pub divergent_findings: Vec<PanelFinding>,
    /// Findings below CRITICAL, with the judges who raised them.
    pub other_findings: Vec<PanelFinding>,
    pub rubric: Vec<RubricDimension>,
    pub debate_metrics: Value,
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
    pub balanced_assessment: String,
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
    pub balanced_assessment: String,
    pub positions: Vec<JudgePosition>,
}

/// The same fields without a value, so that readers find them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingVerdict {
    pub verdict_type: Option<VerdictKind>,
    pub rounds_completed: u32,
    pub consensus_reached: bool,
    pub confidence: Option<ConfidenceLevel>,
}

/// Who wrote the opinions of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpinionAuthor {
    /// The rapporteur, with quotes that verify.
    Rapporteur,
    /// The judges: their own last statements.
    Judges,
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
    /// What it last answered to the person's question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_to_question: Option<String>,
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

/// A judge's position in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgePosition {
    pub judge_id: String,
    pub stance: JudgeStance,
    pub score: f64,
    pub position: String,
}

/// A finding of the verdict, with the judges whose it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PanelFinding {
    pub finding: String,
    /// Null for a dispute, because no judge gave it one.
    pub priority: Option<FindingSeverity>,
    /// Their ids, or `all`.
    pub source_judges: Vec<String>,
    pub action_required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Other ids of the same finding, as far as the judges declared it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_as: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Of a finding below CRITICAL, like the fix and the stands. `critical_findings` has those of the others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
    #[serde(flatten)]
    pub stands: PointStands,
}

impl From<JudgeResult> for JudgePosition {
    fn from(JudgeResult { judge_id, stance, score, position, .. }: JudgeResult) -> Self {
        Self { judge_id, stance, score, position }
    }
}

impl PanelFinding {
    /// Whether a finding below CRITICAL is held by nobody any more.
    pub(super) fn is_given_up(&self) -> bool {
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
    let PanelFollowUp { log, decision, summary, .. } = follow_up;
    let kind = decision.kind();
    let weighted = log.weighted(&log.places()).filter(|_| kind.is_some());
    let author = if summary.opinion.is_some() { OpinionAuthor::Rapporteur } else { OpinionAuthor::Judges };
    let standings = log.last_standings();
    let agreement = |place: usize| {
        let scores = dimension_scores(standings, place);
        DimensionAgreement { average: rounded(mean(&scores)), range: rounded(range(&scores)) }
    };
    let dimensions = log.rubric.keys().enumerate().filter(|_| !standings.is_empty());
    let disputes = disputes::dispute_records(log);
    PanelVerdict {
        decision: verdict_decision(follow_up),
        opinions_by: kind.map(|_| author),
        opinion_quotes: summary.quotes.clone(),
        user_attention_needed: follow_up.attention_items(),
        recommendations: follow_up.recommendations(),
        feature: log.feature(),
        question: log.question().map(str::to_owned),
        status: log.last().filter(|_| weighted.is_some()).map(|last| log.go_after(last).1),
        weighted_score: weighted.map(rounded),
        bands: log.bands,
        thresholds: ConsensusThresholds {
            consensus_range: log.options.consensus_range,
            dimension_range: log.options.dimension_range,
        },
        judges: judge_results(log),
        dimension_consensus: dimensions.map(|(place, key)| (key.to_owned(), agreement(place))).collect(),
        convergent_findings: in_state(&log.critical, FindingState::Adopted),
        divergent_findings: divergent_findings(&log.critical, &disputes),
        other_findings: other_findings(log),
        critical_findings: log.critical.clone(),
        disputes,
        rubric: log.rubric.dimensions.clone(),
        debate_metrics: metrics(log, decision),
    }
}

fn verdict_decision(follow_up: &PanelFollowUp<'_>) -> VerdictDecision {
    let PanelFollowUp { log, decision, summary, .. } = follow_up;
    let rounds_completed = log.rounds_completed();
    let scores = log.last_scores(&log.places());
    let score_range = || <[f64; 2]>::from(extremes(&scores));
    let cap = confidence_cap(log);
    let opinion = |heading: &str, places: &[usize], summed: &Option<String>| match summed {
        Some(text) => format!("{heading}\n\n{text}"),
        None => own_statements(log, heading, places),
    };
    match decision {
        PanelDecision::Consensus => VerdictDecision::Consensus(ConsensusVerdict {
            verdict_type: VerdictKind::Consensus,
            rounds_completed,
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
                verdict_type: VerdictKind::Majority,
                rounds_completed,
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
            verdict_type: VerdictKind::NoMajority,
            rounds_completed,
            consensus_reached: false,
            score_range: score_range(),
            confidence: ConfidenceLevel::Low,
            balanced_assessment: opinion("## Assessment without a Majority", &log.places(), &summary.opinion),
            positions: judge_results(log).into_iter().map(JudgePosition::from).collect(),
            scores,
        }),
        PanelDecision::None => VerdictDecision::None(MissingVerdict {
            verdict_type: None,
            rounds_completed,
            consensus_reached: false,
            confidence: None,
        }),
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

fn judge_results(log: &PanelLog<'_>) -> Vec<JudgeResult> {
    let Some(last) = log.last() else { return Vec::new() };
    let judges = log.judges.iter().zip(&last.standings).enumerate();
    judges
        .map(|(place, (judge, standing))| {
            let rounds = || log.rounds.iter().filter(|round| round.number <= last.number);
            let absent = |round: &&PanelRound| round.standings.get(place).is_some_and(|s| !s.present);
            let by_round = rounds().filter_map(|round| {
                let carried = log.rubric.keys().filter(|key| judge.dimension(round.phase, key).is_none());
                Some(RoundDimensionScores {
                    round: round.number,
                    dimension_scores: by_dimension(log, round.standings.get(place)?),
                    carried: carried.map(str::to_owned).collect(),
                })
            });
            JudgeResult {
                judge_id: judge.id.to_owned(),
                stance: judge.stance,
                model: judge.model.to_owned(),
                score: standing.score,
                scores: rounds().filter_map(|round| Some(round.standings.get(place)?.score)).collect(),
                dimension_scores: by_dimension(log, standing),
                dimension_scores_by_round: by_round.collect(),
                weighted: rounded(log.rubric.weighted(&standing.dimensions)),
                carried: rounds().filter(absent).map(|round| round.number).collect(),
                position: judge.position().to_owned(),
                answer_to_question: judge.answer().map(str::to_owned),
            }
        })
        .collect()
}

fn by_dimension(log: &PanelLog<'_>, standing: &JudgeStanding) -> IndexMap<String, f64> {
    log.rubric.keys().map(str::to_owned).zip(standing.dimensions.iter().copied()).collect()
}

/// The critical findings in a state, with the judges who hold them.
fn in_state(findings: &[CriticalFindingRecord], state: FindingState) -> Vec<PanelFinding> {
    let findings = findings.iter().filter(|finding| finding.state == state);
    findings
        .map(|finding| PanelFinding {
            finding: finding.finding.clone(),
            priority: Some(FindingSeverity::Critical),
            source_judges: match state {
                FindingState::Adopted => vec!["all".to_owned()],
                _ => finding.held_by.clone(),
            },
            action_required: true,
            id: Some(finding.finding_id.clone()),
            same_as: finding.same_as.clone(),
            unverified: finding.unverified,
            ..PanelFinding::default()
        })
        .collect()
}

/// Open critical findings, and the other disputes that are open in the end.
fn divergent_findings(findings: &[CriticalFindingRecord], disputes: &[DisputeRecord]) -> Vec<PanelFinding> {
    let is_finding = |dispute: &DisputeRecord| {
        findings.iter().any(|finding| finding.ids().any(|id| dispute.about.as_ref() == Some(id)))
    };
    let open = disputes.iter().filter(|dispute| dispute.state == DisputeState::Open && !is_finding(dispute));
    let open = open.map(|dispute| PanelFinding {
        finding: dispute.topic.clone(),
        priority: None,
        source_judges: match dispute.raised_by.as_slice() {
            [] => vec!["all".to_owned()],
            judges => judges.to_vec(),
        },
        action_required: false,
        id: Some(dispute.dispute_id.clone()),
        same_as: dispute.same_as.clone(),
        ..PanelFinding::default()
    });
    in_state(findings, FindingState::Disputed).into_iter().chain(open).collect()
}

/// Findings below CRITICAL. Equal texts, and those that judges declare the same, are one.
fn other_findings(log: &PanelLog<'_>) -> Vec<PanelFinding> {
    let mut found: Vec<PanelFinding> = Vec::new();
    for (finding, first) in log.all_findings().skip(log.findings.len()) {
        let first = log.all_findings().nth(first).map(|(first, _)| first.id.clone());
        let first = first.filter(|first| *first != finding.id);
        if let Some(same) = found.iter_mut().find(|other| other.id.is_some() && other.id == first) {
            same.priority = same.priority.min(Some(finding.severity));
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
            priority: Some(finding.severity),
            source_judges: log.ids(&finding.raisers()),
            id: Some(finding.id.clone()),
            same_as: first.into_iter().collect(),
            unverified: finding.is_unverified,
            evidence: finding.evidence.clone(),
            fix: finding.fix.clone(),
            ..PanelFinding::default()
        });
    }
    for finding in &mut found {
        let ids: Vec<&str> = finding.id.iter().chain(&finding.same_as).map(String::as_str).collect();
        finding.stands = PointStands::of(log, &ids);
        finding.action_required = finding.priority == Some(FindingSeverity::High) && !finding.is_given_up();
    }
    found.sort_by_key(|finding| (finding.is_given_up(), finding.priority));
    found
}

/// The seed's "Debate Metrics": the rounds in figures, how the positions moved, and what it cost.
pub(super) fn metrics(log: &PanelLog<'_>, decision: &PanelDecision) -> Value {
    let last = log.last().map_or(0, |round| round.number);
    let counted = log.rounds.iter().enumerate().filter(|(_, round)| round.number <= last);
    let (mut rounds, mut over_all) = (Map::new(), PositionEvolution::default());
    for (place, round) in counted {
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

/// A score as a sentence shows it.
pub(super) fn scores_written(scores: &[f64]) -> String {
    scores.iter().copied().map(figure).collect::<Vec<_>>().join(", ")
}
