//! The verdict: what the votes decide, and everything that the councillors' own words put beside it. No model writes it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::QUORUM;
use super::challenges::{Challenge, ChallengeFate, ChallengeViolation};
use super::log::{CouncilLog, CouncilRound, CouncillorStanding, PeerMessage};
use super::minutes::RoundNotes;
use super::moderation::{ModeratorIntervention, RoundFindings, SharedPoint};
use super::replies::{
    ChallengeStance, CouncilConfidence, CouncilVote, CouncillorQuote, RiskProbability, RiskSeverity,
};
use super::text_matching::{is_same_point, plain_words};

/// A larger share of the votes than this on one side can be HIGH.
const HIGH_SHARE: f64 = 0.75;
/// "consensus points (60% and more)".
const CONSENSUS_SHARE_MIN: f64 = 0.6;
const TOLERANCE: f64 = 1e-9;

/// The verdict of `council`, as it is in the outcome. Councillors are named by their ids.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouncilVerdict {
    pub(super) decision: Option<CouncilVote>,
    pub(super) divided: Option<bool>,
    pub(super) confidence: Option<CouncilConfidence>,
    pub(super) votes: Vec<CastVote>,
    pub(super) tally: IndexMap<CouncilVote, usize>,
    pub(super) councillors: Vec<SeatedCouncillor>,
    pub(super) conditions: Vec<VoteCondition>,
    pub(super) consensus_points: Vec<ConsensusPoint>,
    pub(super) disagreements: Vec<CouncilDisagreement>,
    /// From the opening, which is round 0, to the last round.
    pub(super) position_evolution: IndexMap<String, Vec<CouncillorStanding>>,
    pub(super) interventions: Vec<ModeratorIntervention>,
    pub(super) violations: Vec<ChallengeViolation>,
    pub(super) challenges: Vec<Challenge>,
    pub(super) exchanges: Vec<PeerMessage>,
    pub(super) risk_matrix: Vec<RiskEntry>,
    /// `None` where everybody voted on the side of the decision.
    pub(super) minority_opinion: Option<Vec<MinorityVote>>,
    pub(super) open_questions: Vec<OpenQuestion>,
    rounds: Vec<RoundRecord>,
    economy: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CastVote {
    pub(super) councillor: String,
    pub(super) vote: CouncilVote,
    pub(super) key_argument: String,
    pub(super) strongest_opposing_point: String,
    pub(super) remaining_concern: String,
    pub(super) final_position: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SeatedCouncillor {
    pub(super) councillor: String,
    pub(super) name: String,
    pub(super) active: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VoteCondition {
    pub(super) condition: String,
    pub(super) councillors: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConsensusPoint {
    pub(super) point: String,
    pub(super) councillors: Vec<String>,
    share: f64,
    pub(super) challenged: bool,
    quotes: Vec<CouncillorQuote>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouncilDisagreement {
    pub(super) point: String,
    pub(super) challenge_id: Option<String>,
    pub(super) sides: Vec<DisagreementSide>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DisagreementSide {
    pub(super) councillors: Vec<String>,
    pub(super) view: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RiskEntry {
    pub(super) risk: String,
    pub(super) severity: RiskSeverity,
    pub(super) probability: RiskProbability,
    pub(super) mitigation: String,
    pub(super) councillors: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MinorityVote {
    pub(super) councillor: String,
    pub(super) vote: CouncilVote,
    pub(super) key_argument: String,
    pub(super) final_position: String,
    remaining_concern: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenQuestion {
    pub(super) challenge_id: String,
    pub(super) from: String,
    pub(super) to: String,
    claim: String,
    pub(super) question: String,
    pub(super) why: String,
}

/// The seed's debate log of a round, and what was shown as it ended.
#[derive(Debug, Serialize, Deserialize)]
struct RoundRecord {
    round: u32,
    complete: bool,
    debate_log: IndexMap<String, CouncillorRecord>,
    findings: RoundFindings,
    summary: RoundNotes,
}

#[derive(Debug, Serialize, Deserialize)]
struct CouncillorRecord {
    challenges_made: Vec<MadeChallenge>,
    challenges_received: Vec<ReceivedChallenge>,
    position: String,
    confidence: CouncilConfidence,
    changed: String,
    present: bool,
    peer_exchanges: Vec<PeerExchange>,
}

#[derive(Debug, Serialize, Deserialize)]
struct MadeChallenge {
    id: String,
    target: String,
    point: String,
    question: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReceivedChallenge {
    id: String,
    from: String,
    point: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct PeerExchange {
    id: String,
    with: String,
    topic: String,
    outcome: String,
}

/// What the votes decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VoteDecision {
    pub(super) vote: CouncilVote,
    /// Whether the votes are evenly split.
    pub(super) divided: bool,
}

/// Unanimity first, then a majority of either side; an even split is RECONSIDER, divided. `None` without a quorum of votes.
pub(super) fn decide(votes: &[CouncilVote]) -> Option<VoteDecision> {
    let first = votes.first().filter(|_| votes.len() >= QUORUM)?;
    let is_unanimous = votes.iter().all(|vote| vote == first);
    let favour = votes.iter().filter(|vote| vote.is_in_favour()).count();
    let (vote, divided) = match favour.cmp(&(votes.len() - favour)) {
        _ if is_unanimous && matches!(first, CouncilVote::Proceed | CouncilVote::DoNotProceed) => {
            (*first, false)
        }
        std::cmp::Ordering::Greater => (CouncilVote::WithConditions, false),
        std::cmp::Ordering::Less => (CouncilVote::Reconsider, false),
        std::cmp::Ordering::Equal => (CouncilVote::Reconsider, true),
    };
    Some(VoteDecision { vote, divided })
}

/// How sure a decision is: HIGH with over 75% on one side if the debate is settled, LOW if it is divided, otherwise MEDIUM. A debate is
/// settled when everybody voted, all rounds were held, and nobody changed position in the last one.
pub(super) fn confidence(votes: &[CouncilVote], is_settled: bool) -> Option<CouncilConfidence> {
    let decision = decide(votes)?;
    let favour = votes.iter().filter(|vote| vote.is_in_favour()).count();
    let share = favour.max(votes.len() - favour) as f64 / votes.len() as f64;
    Some(match decision.divided {
        true => CouncilConfidence::Low,
        false if is_settled && share > HIGH_SHARE + TOLERANCE => CouncilConfidence::High,
        false => CouncilConfidence::Medium,
    })
}

impl CouncilVerdict {
    /// The verdict of the log as it is.
    pub(super) fn from_log(log: &CouncilLog<'_>) -> Self {
        let votes = log.votes();
        let decision = decide(&votes);
        let is_unchanged = log.rounds.last().is_some_and(|round| round.changed().next().is_none());
        let is_settled = votes.len() == log.members.len() && !log.was_cut() && is_unchanged;
        let count = |vote: CouncilVote| votes.iter().filter(|other| **other == vote).count();
        let councillors = log.members.iter().map(|member| SeatedCouncillor {
            councillor: member.seat.id.clone(),
            name: member.role.name.clone(),
            active: member.opening.is_some(),
        });
        let cast = log.finals.iter().map(|(seat, last)| CastVote {
            councillor: (*seat).to_owned(),
            vote: last.vote,
            key_argument: last.key_argument.clone(),
            strongest_opposing_point: last.strongest_opposing_point.clone(),
            remaining_concern: last.remaining_concern.clone(),
            final_position: last.final_position.clone(),
        });
        let evolution = log.openings.iter().map(|(seat, opening)| {
            let after = log.rounds.iter().filter_map(|round| round.after.get(seat));
            ((*seat).to_owned(), std::iter::once(opening).chain(after).cloned().collect())
        });
        let interventions = log.rounds.iter().flat_map(|round| &round.interventions);
        Self {
            decision: decision.map(|decision| decision.vote),
            divided: decision.map(|decision| decision.divided),
            confidence: confidence(&votes, is_settled),
            votes: cast.collect(),
            tally: CouncilVote::ALL.into_iter().map(|vote| (vote, count(vote))).collect(),
            councillors: councillors.collect(),
            conditions: merged_conditions(log),
            consensus_points: consensus_points(log),
            disagreements: disagreements(log),
            position_evolution: evolution.collect(),
            interventions: interventions.cloned().collect(),
            violations: log.violations.clone(),
            challenges: log.challenges.clone(),
            exchanges: log.messages.clone(),
            risk_matrix: merged_risks(log),
            minority_opinion: decision.and_then(|decision| minority_opinion(log, decision.vote)),
            open_questions: open_questions(log),
            rounds: log.rounds.iter().map(|round| round_record(log, round)).collect(),
            economy: log.options.economy,
        }
    }
}

/// Each condition once, with who makes it.
pub(super) fn merged_conditions(log: &CouncilLog<'_>) -> Vec<VoteCondition> {
    let mut merged: Vec<VoteCondition> = Vec::new();
    for (seat, last) in &log.finals {
        for condition in last.conditions.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            let id = (*seat).to_owned();
            let same = |other: &&mut VoteCondition| plain_words(&other.condition) == plain_words(condition);
            match merged.iter_mut().find(same) {
                Some(same) if same.councillors.contains(&id) => {}
                Some(same) => same.councillors.push(id),
                None => merged.push(VoteCondition { condition: condition.to_owned(), councillors: vec![id] }),
            }
        }
    }
    merged
}

/// Each risk once, as severe as anybody sees it, the most severe first.
fn merged_risks(log: &CouncilLog<'_>) -> Vec<RiskEntry> {
    let mut merged: Vec<(RiskEntry, Vec<String>)> = Vec::new();
    for (seat, last) in &log.finals {
        for stated in last.risks.iter().filter(|stated| !stated.risk.trim().is_empty()) {
            let words = plain_words(&stated.risk);
            let index = merged.iter().position(|(other, _)| plain_words(&other.risk) == words);
            let index = index.unwrap_or_else(|| {
                let entry = RiskEntry {
                    risk: stated.risk.trim().to_owned(),
                    severity: stated.severity,
                    probability: stated.probability,
                    mitigation: String::new(),
                    councillors: Vec::new(),
                };
                merged.push((entry, Vec::new()));
                merged.len() - 1
            });
            let Some((entry, mitigations)) = merged.get_mut(index) else { continue };
            entry.severity = entry.severity.max(stated.severity);
            entry.probability = entry.probability.max(stated.probability);
            let mitigation = stated.mitigation.trim();
            let is_known = mitigations.iter().any(|other| plain_words(other) == plain_words(mitigation));
            mitigations.extend((!mitigation.is_empty() && !is_known).then(|| mitigation.to_owned()));
            let id = (*seat).to_owned();
            if !entry.councillors.contains(&id) {
                entry.councillors.push(id);
            }
        }
    }
    merged.sort_by_key(|(risk, _)| std::cmp::Reverse((risk.severity, risk.probability)));
    let joined = |(risk, mitigations): (RiskEntry, Vec<String>)| RiskEntry {
        mitigation: mitigations.join("; "),
        ..risk
    };
    merged.into_iter().map(joined).collect()
}

/// The points that several share, each once, as it was found last.
fn shared_points<'a>(log: &'a CouncilLog<'_>) -> Vec<&'a SharedPoint> {
    let mut points: Vec<&SharedPoint> = Vec::new();
    for found in log.rounds.iter().flat_map(|round| &round.findings.shared_points) {
        match points.iter_mut().find(|point| is_same_point(&point.point, &found.point)) {
            Some(point) => *point = found,
            None => points.push(found),
        }
    }
    points.retain(|point| !point.quotes.is_empty());
    points
}

/// The share of the council that shares a point.
fn share(log: &CouncilLog<'_>, point: &SharedPoint) -> f64 {
    point.quotes.len() as f64 / log.active.len().max(1) as f64
}

fn is_consensus(log: &CouncilLog<'_>, point: &SharedPoint) -> bool {
    share(log, point) >= CONSENSUS_SHARE_MIN - TOLERANCE
}

/// What 60% or more share, with the sentences that say so.
pub(super) fn consensus_points(log: &CouncilLog<'_>) -> Vec<ConsensusPoint> {
    let points = shared_points(log).into_iter().filter(|point| is_consensus(log, point));
    let records = points.map(|point| ConsensusPoint {
        point: point.point.clone(),
        councillors: point.holders().map(str::to_owned).collect(),
        share: share(log, point),
        challenged: point.is_challenged(),
        quotes: point.quotes.clone(),
    });
    records.collect()
}

/// What stays in dispute, with both sides: challenges answered with a no, and challenged points that too few share for a consensus.
pub(super) fn disagreements(log: &CouncilLog<'_>) -> Vec<CouncilDisagreement> {
    let side = |councillors: &[&str], view: String| DisagreementSide {
        councillors: councillors.iter().map(|seat| (*seat).to_owned()).collect(),
        view,
    };
    let disputed = log.challenges.iter().filter(|challenge| {
        challenge.fate == ChallengeFate::Answered && challenge.stance == Some(ChallengeStance::Disagree)
    });
    let disputed = disputed.map(|challenge| {
        let view = format!("{} {}", challenge.reason, challenge.question).trim().to_owned();
        let response = challenge.response.clone().unwrap_or_default();
        CouncilDisagreement {
            point: challenge.point().to_owned(),
            challenge_id: Some(challenge.id.clone()),
            sides: vec![side(&[&challenge.from], view), side(&[&challenge.to], response)],
        }
    });
    let contested = shared_points(log).into_iter();
    let contested =
        contested.filter(|point| point.is_challenged() && !is_consensus(log, point)).map(|point| {
            let with: Vec<&str> = point.holders().collect();
            let without: Vec<&str> = log.active.iter().copied().filter(|seat| !with.contains(seat)).collect();
            let said: Vec<&str> = point.quotes.iter().map(|said| said.quote.as_str()).collect();
            let others = without.iter().filter_map(|seat| log.standings().get(seat));
            let others: Vec<&str> = others.map(|standing| standing.position.as_str()).collect();
            CouncilDisagreement {
                point: point.point.clone(),
                challenge_id: None,
                sides: vec![side(&with, said.join(" / ")), side(&without, others.join(" / "))],
            }
        });
    disputed.chain(contested).collect()
}

/// Those who voted on the other side than the decision.
fn minority_opinion(log: &CouncilLog<'_>, decision: CouncilVote) -> Option<Vec<MinorityVote>> {
    let others = log.finals.iter().filter(|(_, last)| last.vote.is_in_favour() != decision.is_in_favour());
    let others = others.map(|(seat, last)| MinorityVote {
        councillor: (*seat).to_owned(),
        vote: last.vote,
        key_argument: last.key_argument.clone(),
        final_position: last.final_position.clone(),
        remaining_concern: last.remaining_concern.clone(),
    });
    let others: Vec<MinorityVote> = others.collect();
    (!others.is_empty()).then_some(others)
}

/// The challenges and questions that nobody will answer any more.
fn open_questions(log: &CouncilLog<'_>) -> Vec<OpenQuestion> {
    let open = log.challenges.iter().filter(|challenge| challenge.fate == ChallengeFate::Open);
    let records = open.map(|challenge| OpenQuestion {
        challenge_id: challenge.id.clone(),
        from: challenge.from.clone(),
        to: challenge.to.clone(),
        claim: challenge.claim.clone(),
        question: challenge.question.clone(),
        why: why_open(log, challenge),
    });
    records.collect()
}

fn why_open(log: &CouncilLog<'_>, challenge: &Challenge) -> String {
    let last = log.rounds.last().map_or(0, |round| round.number);
    if !log.active.contains(&challenge.to.as_str()) {
        "the councillor who was asked gave no opening and took no part".to_owned()
    } else if !challenge.absent_in.is_empty() {
        "the councillor who was asked was absent".to_owned()
    } else if challenge.round == last && last > 0 {
        format!("asked in round {last}, the last one that was held")
    } else {
        "the debate was cut short before it could be answered".to_owned()
    }
}

fn round_record(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> RoundRecord {
    let standings = round.after.iter();
    RoundRecord {
        round: round.number,
        complete: round.is_over,
        debate_log: standings
            .map(|(seat, standing)| ((*seat).to_owned(), councillor_record(log, round, seat, standing)))
            .collect(),
        findings: round.findings.clone(),
        summary: RoundNotes::new(log, round),
    }
}

fn councillor_record(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    seat: &str,
    standing: &CouncillorStanding,
) -> CouncillorRecord {
    let made = log.made_by(seat, round.number).map(|challenge| MadeChallenge {
        id: challenge.id.clone(),
        target: challenge.to.clone(),
        point: challenge.claim.clone(),
        question: challenge.question.clone(),
    });
    let of_round = log.challenges.iter().filter(|challenge| challenge.round == round.number);
    let received = of_round.filter(|challenge| challenge.to == seat).map(|challenge| ReceivedChallenge {
        id: challenge.id.clone(),
        from: challenge.from.clone(),
        point: challenge.claim.clone(),
    });
    let own = log.messages_of(round.number).filter(|message| message.from == seat || message.to == seat);
    let exchanges = own.map(|message| PeerExchange {
        id: message.id.clone(),
        with: if message.from == seat { &message.to } else { &message.from }.clone(),
        topic: message.topic.clone(),
        outcome: message.reply.clone().unwrap_or_else(|| "no answer".to_owned()),
    });
    CouncillorRecord {
        challenges_made: made.collect(),
        challenges_received: received.collect(),
        position: standing.position.clone(),
        confidence: standing.confidence,
        changed: if standing.changed { format!("yes: {}", standing.because) } else { "no".to_owned() },
        present: round.is_present(seat),
        peer_exchanges: exchanges.collect(),
    }
}
