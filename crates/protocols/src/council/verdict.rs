//! The verdict: what the votes decide, how sure that is, and what the councillors' own words put beside it. The moderator's conclusion
//! counts as far as it verifies.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::log::{
    Challenge, ChallengeFate, ChallengeViolation, CouncilLog, CouncilRound, CouncillorStanding, PeerMessage,
    has_words, texts_of,
};
use super::moderation::{self, ModeratorIntervention, SharedPoint};
use super::replies::{
    ChallengeStance, CouncilConfidence, CouncilVote, CouncillorQuote, FinalStatement, MergedTerms,
    ModeratorConclusion, RiskProbability, RiskSeverity, StatedRisk,
};
use crate::quotes::is_same_text;

/// The verdict of `council`, as it is in the outcome. Councillors are named by their ids.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouncilVerdict {
    pub(super) decision: Option<CouncilVote>,
    pub(super) divided: Option<bool>,
    pub(super) confidence: Option<CouncilConfidence>,
    /// Why the confidence is at most MEDIUM.
    pub(super) confidence_caps: Vec<ConfidenceCap>,
    /// The sentence that all or most would sign, as the moderator put it; `None` where no quotes show it.
    pub(super) agreed: Option<String>,
    pub(super) agreed_quotes: Vec<CouncillorQuote>,
    pub(super) facts_needed: Vec<String>,
    pub(super) votes: Vec<CastVote>,
    pub(super) tally: IndexMap<CouncilVote, usize>,
    pub(super) conditions: Vec<VoteCondition>,
    #[serde(default)]
    pub(super) conflicts: Vec<ConditionConflict>,
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
    pub(super) minority_opinion: Option<Vec<CastVote>>,
    pub(super) open_questions: Vec<OpenQuestion>,
    /// Each with what was said, found and shown in it.
    rounds: Vec<Value>,
    pub(super) economy: bool,
}

super::wire_words! {
    /// Why a verdict cannot have the confidence HIGH.
    enum ConfidenceCap {
        ModeratorAbsent = "moderator_absent",
        ChallengeOpen = "challenge_open",
        NoMessages = "no_messages",
        LowConfidence = "low_confidence",
        CutShort = "cut_short",
        NotOver75Percent = "not_over_75_percent",
        LateVoteChange = "late_vote_change",
    }
}

impl ConfidenceCap {
    /// What it means, after "because".
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ModeratorAbsent => "the moderator did not answer every time",
            Self::ChallengeOpen => "a challenge got no direct answer",
            Self::NoMessages => "the councillors exchanged no messages",
            Self::LowConfidence => "at least half of the councillors end with low confidence",
            Self::CutShort => "the debate was cut short",
            Self::NotOver75Percent => "not more than 75% of the councillors are on one side",
            Self::LateVoteChange => "a vote changed in the last round or after it",
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CastVote {
    pub(super) councillor: String,
    pub(super) vote: CouncilVote,
    pub(super) key_argument: String,
    pub(super) strongest_opposing_point: String,
    pub(super) remaining_concern: String,
    pub(super) final_position: String,
    /// Why it is not the provisional vote of the last round.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) because: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VoteCondition {
    pub(super) condition: String,
    pub(super) councillors: Vec<String>,
    /// What each of them said. The text is the moderator's where they said it in different words.
    #[serde(default)]
    pub(super) stated: Vec<CouncillorQuote>,
    /// Whether they voted on the side of the decision.
    #[serde(alias = "majority")]
    pub(super) on_decision_side: bool,
}

/// Conditions of several councillors that cannot all be met, by the moderator's word.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConditionConflict {
    pub(super) stated: Vec<CouncillorQuote>,
    pub(super) why: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConsensusPoint {
    pub(super) point: String,
    pub(super) councillors: Vec<String>,
    share: f64,
    pub(super) challenged: bool,
    #[serde(default)]
    pub(super) challenged_by: Vec<String>,
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
    #[serde(default)]
    pub(super) stated: Vec<CouncillorQuote>,
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

/// What the votes decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VoteDecision {
    pub(super) vote: CouncilVote,
    /// Whether the votes are evenly split.
    pub(super) divided: bool,
}

impl VoteDecision {
    /// The decision as seats and people read it.
    pub(super) fn words(self) -> String {
        format!("{}{}", self.vote.as_str(), if self.divided { " (divided)" } else { "" })
    }
}

/// Unanimity first, then a majority of either side; an even split is RECONSIDER, divided. `None` without a quorum of votes.
pub(super) fn decide(votes: &[CouncilVote], quorum: usize) -> Option<VoteDecision> {
    let first = votes.first().filter(|_| votes.len() >= quorum)?;
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

/// How sure a decision is: LOW if it is divided, HIGH if nothing caps it, otherwise MEDIUM.
pub(super) fn confidence(decision: VoteDecision, caps: &[ConfidenceCap]) -> CouncilConfidence {
    match (decision.divided, caps) {
        (true, _) => CouncilConfidence::Low,
        (false, []) => CouncilConfidence::High,
        (false, _) => CouncilConfidence::Medium,
    }
}

/// Whether over 75% of `seated` are on one side.
pub(super) fn is_over_75_percent(votes: &[CouncilVote], seated: usize) -> bool {
    let favour = votes.iter().filter(|vote| vote.is_in_favour()).count();
    4 * favour.max(votes.len() - favour) > 3 * seated
}

fn confidence_caps(log: &CouncilLog<'_>) -> Vec<ConfidenceCap> {
    let standings = log.standings();
    let low = standings.values().filter(|held| held.confidence == CouncilConfidence::Low).count();
    let last_round = log.rounds.last();
    let is_late_in_round =
        last_round.is_some_and(|last| last.after.keys().any(|seat| last.is_vote_changed(seat)));
    let is_late = |(seat, last): (&&str, &FinalStatement)| {
        standings.get(*seat).is_none_or(|held| held.vote != last.vote)
    };
    let is_moderator_absent = log.debate.absences().any(|(_, ask, ..)| ask.seat == "moderator");
    let is_settled = |put: &Challenge| put.fate == ChallengeFate::Answered;
    let caps = [
        (is_moderator_absent, ConfidenceCap::ModeratorAbsent),
        (!log.challenges.iter().all(is_settled), ConfidenceCap::ChallengeOpen),
        (!log.options.economy && log.messages.is_empty(), ConfidenceCap::NoMessages),
        (low * 2 >= standings.len(), ConfidenceCap::LowConfidence),
        (log.was_cut(), ConfidenceCap::CutShort),
        (!is_over_75_percent(&log.votes(), log.members.len()), ConfidenceCap::NotOver75Percent),
        (is_late_in_round || log.finals.iter().any(is_late), ConfidenceCap::LateVoteChange),
    ];
    caps.into_iter().filter(|(holds, _)| *holds).map(|(_, cap)| cap).collect()
}

/// The moderator's conclusion, as far as it verifies.
#[derive(Debug, Default)]
pub(super) struct VerifiedConclusion {
    agreed: Option<String>,
    pub(super) quotes: Vec<CouncillorQuote>,
    merged: Vec<MergedTerms>,
    conflicts: Vec<ConditionConflict>,
    facts_needed: Vec<String>,
    /// What does not verify, in sentences.
    pub(super) faults: Vec<String>,
}

/// Checks what the moderator made of the votes: the quotes, the ids, and the answers that it calls evasive.
pub(super) fn verified_conclusion(log: &CouncilLog<'_>, said: &ModeratorConclusion) -> VerifiedConclusion {
    let mut found = VerifiedConclusion { facts_needed: texts_of(&said.facts_needed), ..Default::default() };
    for member in &said.quotes {
        let Some(seat) = log.seat_named(&member.councillor) else { continue };
        let Some(last) = log.finals.get(seat) else { continue };
        let quote = member.quote.trim();
        if own_words(last).any(|text| log.texts.is_quoted(quote, text)) {
            found.quotes.push(CouncillorQuote::new(seat, quote));
        } else {
            let name = log.name(seat);
            found.faults.push(format!("{name} did not say {quote:?} in the final statement, word for word."));
        }
    }
    found.quotes.sort_by_key(|said| log.finals.get_index_of(said.councillor.as_str()));
    let is_shown = councillors_of(&found.quotes).len() * 2 > log.finals.len();
    match (has_words(&said.agreed), is_shown) {
        (true, true) => found.agreed = Some(said.agreed.trim().to_owned()),
        (true, false) => {
            let note = "`agreed` needs a quote of more than half of those who voted.";
            found.faults.push(note.to_owned());
        }
        (false, _) => {}
    }
    found.merged = verified_merges(log, said, &mut found.faults);
    found.conflicts = verified_conflicts(log, said, &mut found.faults);
    let last = log.options.rounds + 1;
    // Answers that are already known as evaded are not judged again.
    if log.conclusion.is_none() {
        moderation::verified_evasions(log, last, &said.evasions, &mut found.faults);
    }
    found
}

/// At least two terms of one kind with these ids; `None` if they are anything else.
fn terms_of_one_kind<'l>(terms: &[StatedTerm<'l>], ids: &[String]) -> Option<Vec<StatedTerm<'l>>> {
    let is_named = |term: &&StatedTerm<'_>| ids.iter().any(|id| is_same_text(id, &term.id));
    let named: Vec<StatedTerm<'l>> = terms.iter().filter(is_named).cloned().collect();
    let is_known = |id: &String| named.iter().any(|term| is_same_text(id, &term.id));
    let is_one_kind = named.iter().zip(named.iter().skip(1)).all(|(one, other)| one.kind() == other.kind());
    (named.len() > 1 && is_one_kind && ids.iter().all(is_known)).then_some(named)
}

/// The groups of at least two terms of one kind, each term in one group only.
fn verified_merges(
    log: &CouncilLog<'_>,
    said: &ModeratorConclusion,
    faults: &mut Vec<String>,
) -> Vec<MergedTerms> {
    let terms = [stated_conditions(log), stated_risks(log)].concat();
    let mut found: Vec<MergedTerms> = Vec::new();
    for group in &said.merged {
        let ids = terms_of_one_kind(&terms, &group.ids).unwrap_or_default().into_iter().map(|term| term.id);
        let ids: Vec<String> = ids.collect();
        let is_used = found.iter().any(|other| other.ids.iter().any(|id| ids.contains(id)));
        if ids.is_empty() || is_used || !has_words(&group.text) {
            let ids = group.ids.join(", ");
            faults.push(format!("`merged` cannot join {ids}: name at least two risks, two conditions for going ahead, or two for a new vote, each in one entry only."));
            continue;
        }
        found.push(MergedTerms { ids, text: group.text.trim().to_owned() });
    }
    found
}

/// The conflicts between conditions of at least two councillors that are conditions of one thing.
fn verified_conflicts(
    log: &CouncilLog<'_>,
    said: &ModeratorConclusion,
    faults: &mut Vec<String>,
) -> Vec<ConditionConflict> {
    let (terms, mut found) = (stated_conditions(log), Vec::new());
    for conflict in &said.conflicts {
        let stated = words_of(&terms_of_one_kind(&terms, &conflict.ids).unwrap_or_default());
        if councillors_of(&stated).len() > 1 && has_words(&conflict.why) {
            found.push(ConditionConflict { stated, why: conflict.why.trim().to_owned() });
            continue;
        }
        faults.push(format!(
            "`conflicts` cannot name {}: name conditions of one kind, of at least two councillors, and say why they exclude each other.",
            conflict.ids.join(", ")
        ));
    }
    found
}

/// What a councillor says for itself in its final statement. The strongest opposing point is not its own.
fn own_words(last: &FinalStatement) -> impl Iterator<Item = &str> {
    let words = [&last.final_position, &last.key_argument, &last.remaining_concern];
    words.into_iter().chain(&last.conditions).map(String::as_str)
}

/// A condition or a risk of a councillor, with the id under which the moderator is shown it.
#[derive(Debug, Clone)]
pub(super) struct StatedTerm<'l> {
    pub(super) id: String,
    pub(super) seat: &'l str,
    pub(super) text: &'l str,
    /// The risk as its councillor stated it; `None` for a condition.
    pub(super) risk: Option<&'l StatedRisk>,
    /// Whether the councillor voted to go ahead.
    in_favour: bool,
}

impl StatedTerm<'_> {
    /// Terms of different kinds are never one. What must be so before a new vote is no condition for going ahead; a risk is a risk for
    /// both sides.
    fn kind(&self) -> Option<bool> {
        self.risk.is_none().then_some(self.in_favour)
    }
}

/// A condition's or risk's text, with the risk.
type TermText<'l> = (&'l String, Option<&'l StatedRisk>);

fn stated_terms<'l>(
    log: &'l CouncilLog<'_>,
    letter: &str,
    texts: fn(&'l FinalStatement) -> Vec<TermText<'l>>,
) -> Vec<StatedTerm<'l>> {
    let mut terms = Vec::new();
    for (seat, last) in &log.finals {
        for (text, risk) in texts(last).into_iter().filter(|(text, _)| has_words(text)) {
            let (id, in_favour) = (format!("{letter}{}", terms.len() + 1), last.vote.is_in_favour());
            terms.push(StatedTerm { id, seat, text: text.trim(), risk, in_favour });
        }
    }
    terms
}

/// The conditions of all final statements, `D1` and so on.
pub(super) fn stated_conditions<'l>(log: &'l CouncilLog<'_>) -> Vec<StatedTerm<'l>> {
    stated_terms(log, "D", |last| last.conditions.iter().map(|text| (text, None)).collect())
}

/// The risks of all final statements, `R1` and so on.
pub(super) fn stated_risks<'l>(log: &'l CouncilLog<'_>) -> Vec<StatedTerm<'l>> {
    stated_terms(log, "R", |last| last.risks.iter().map(|stated| (&stated.risk, Some(stated))).collect())
}

/// Terms of one kind that say the same: equal texts, and those that the moderator merged. Each group has its text and its terms.
fn merged_terms<'l>(
    terms: Vec<StatedTerm<'l>>,
    merged: &[MergedTerms],
) -> Vec<(String, Vec<StatedTerm<'l>>)> {
    let mut groups: Vec<(String, Vec<StatedTerm<'l>>)> = Vec::new();
    for term in terms {
        let declared = merged.iter().find(|group| group.ids.contains(&term.id));
        let text = declared.map_or(term.text, |group| &group.text);
        let is_same = |(other, members): &&mut (String, Vec<StatedTerm<'l>>)| {
            is_same_text(other, text) && members.iter().all(|member| member.kind() == term.kind())
        };
        match groups.iter_mut().find(is_same) {
            Some((_, members)) => members.push(term),
            None => groups.push((text.to_owned(), vec![term])),
        }
    }
    groups
}

fn words_of(terms: &[StatedTerm<'_>]) -> Vec<CouncillorQuote> {
    terms.iter().map(|term| CouncillorQuote::new(term.seat, term.text)).collect()
}

/// Who said these words, in seat order.
pub(super) fn councillors_of(words: &[CouncillorQuote]) -> Vec<String> {
    let mut councillors: Vec<String> = words.iter().map(|said| said.councillor.clone()).collect();
    councillors.dedup();
    councillors
}

/// Each condition once, with those who make it. Those of the side of the decision come first.
fn conditions(
    log: &CouncilLog<'_>,
    merged: &[MergedTerms],
    decision: Option<VoteDecision>,
) -> Vec<VoteCondition> {
    let is_with = |term: &StatedTerm<'_>| {
        decision.is_some_and(|decision| decision.vote.is_in_favour() == term.in_favour)
    };
    let groups = merged_terms(stated_conditions(log), merged).into_iter();
    let conditions = groups.map(|(condition, terms)| {
        let (stated, on_decision_side) = (words_of(&terms), terms.iter().any(is_with));
        VoteCondition { condition, councillors: councillors_of(&stated), stated, on_decision_side }
    });
    let mut conditions: Vec<VoteCondition> = conditions.collect();
    conditions.sort_by_key(|made| !made.on_decision_side);
    conditions
}

/// Each risk once, as severe as anybody sees it, the most severe first.
fn risk_matrix(log: &CouncilLog<'_>, merged: &[MergedTerms]) -> Vec<RiskEntry> {
    let entries = merged_terms(stated_risks(log), merged).into_iter().map(|(risk, terms)| {
        let (risks, stated) = (terms.iter().filter_map(|term| term.risk), words_of(&terms));
        let mut mitigations: Vec<&str> = Vec::new();
        for text in risks.clone().map(|risk| risk.mitigation.trim()).filter(|text| has_words(text)) {
            if mitigations.iter().all(|other| !is_same_text(other, text)) {
                mitigations.push(text);
            }
        }
        RiskEntry {
            risk,
            severity: risks.clone().map(|risk| risk.severity).max().unwrap_or(RiskSeverity::Low),
            probability: risks.map(|risk| risk.probability).max().unwrap_or(RiskProbability::Low),
            mitigation: mitigations.join(" / "),
            councillors: councillors_of(&stated),
            stated,
        }
    });
    let mut entries: Vec<RiskEntry> = entries.collect();
    entries.sort_by_key(|entry| std::cmp::Reverse((entry.severity, entry.probability)));
    entries
}

impl CouncilVerdict {
    /// The verdict of the log as it is.
    pub(super) fn from_log(log: &CouncilLog<'_>) -> Self {
        let votes = log.votes();
        let decision = decide(&votes, log.quorum());
        let caps = confidence_caps(log);
        let concluded =
            log.conclusion.as_ref().map(|said| verified_conclusion(log, said)).unwrap_or_default();
        let count = |vote: CouncilVote| votes.iter().filter(|other| **other == vote).count();
        let evolution = log.openings.iter().map(|(seat, opening)| {
            let after = log.rounds.iter().filter_map(|round| round.after.get(seat));
            ((*seat).to_owned(), std::iter::once(opening).chain(after).cloned().collect())
        });
        let cast: Vec<CastVote> = log.finals.iter().map(|(seat, last)| cast_vote(seat, last)).collect();
        let is_against = |cast: &&CastVote| {
            decision.is_some_and(|decision| cast.vote.is_in_favour() != decision.vote.is_in_favour())
        };
        let minority: Vec<CastVote> = cast.iter().filter(is_against).cloned().collect();
        let interventions = log.rounds.iter().flat_map(|round| &round.interventions);
        Self {
            decision: decision.map(|decision| decision.vote),
            divided: decision.map(|decision| decision.divided),
            confidence: decision.map(|decision| confidence(decision, &caps)),
            confidence_caps: if decision.is_some() { caps } else { Vec::new() },
            agreed: concluded.agreed,
            agreed_quotes: concluded.quotes,
            facts_needed: concluded.facts_needed,
            votes: cast,
            tally: CouncilVote::ALL.into_iter().map(|vote| (vote, count(vote))).collect(),
            conditions: conditions(log, &concluded.merged, decision),
            conflicts: concluded.conflicts,
            consensus_points: consensus_points(log),
            disagreements: disagreements(log),
            position_evolution: evolution.collect(),
            interventions: interventions.cloned().collect(),
            violations: log.violations.clone(),
            challenges: log.challenges.clone(),
            exchanges: log.messages.clone(),
            risk_matrix: risk_matrix(log, &concluded.merged),
            minority_opinion: (!minority.is_empty()).then_some(minority),
            open_questions: open_questions(log),
            rounds: log.rounds.iter().map(|round| round_record(log, round)).collect(),
            economy: log.options.economy,
        }
    }
}

fn cast_vote(seat: &str, last: &FinalStatement) -> CastVote {
    CastVote {
        councillor: seat.to_owned(),
        vote: last.vote,
        key_argument: last.key_argument.clone(),
        strongest_opposing_point: last.strongest_opposing_point.clone(),
        remaining_concern: last.remaining_concern.clone(),
        final_position: last.final_position.clone(),
        because: last.because.trim().to_owned(),
    }
}

/// The points that councillors shared in the last round that was moderated.
fn shared_points<'l>(log: &'l CouncilLog<'_>) -> &'l [SharedPoint] {
    let last = log.rounds.iter().rev().find(|round| round.is_moderated);
    last.map_or(&[], |round| &round.findings.shared_points)
}

/// "consensus points (60% and more)".
fn is_consensus(log: &CouncilLog<'_>, point: &SharedPoint) -> bool {
    5 * point.members.len() >= 3 * log.active.len()
}

/// What 60% or more share, with the words that show it.
pub(super) fn consensus_points(log: &CouncilLog<'_>) -> Vec<ConsensusPoint> {
    let points = shared_points(log).iter().filter(|point| is_consensus(log, point));
    let points = points.map(|point| ConsensusPoint {
        point: point.point.clone(),
        councillors: point.holders().map(str::to_owned).collect(),
        share: point.members.len() as f64 / log.active.len().max(1) as f64,
        challenged: point.challenged,
        challenged_by: point.challenged_by.clone(),
        quotes: point.members.clone(),
    });
    points.collect()
}

/// Both sides of every challenge that was answered with a no, and of every challenged point that too few share for a consensus.
fn disagreements(log: &CouncilLog<'_>) -> Vec<CouncilDisagreement> {
    let side = |seats: &[&str], view: &str| {
        let councillors = seats.iter().map(|seat| (*seat).to_owned()).collect();
        DisagreementSide { councillors, view: view.to_owned() }
    };
    let is_refused = |put: &&Challenge| {
        put.fate == ChallengeFate::Answered && put.stance == Some(ChallengeStance::Disagree)
    };
    let refused = log.challenges.iter().filter(is_refused).map(|put| {
        let response = put.response.as_deref().unwrap_or_default();
        let sides = [(&put.from, put.reason.as_str()), (&put.to, response)].into_iter();
        let sides = sides.filter(|(_, view)| has_words(view)).map(|(seat, view)| side(&[seat], view));
        // The claim may be undisputed: what was asked about it is in dispute.
        let (point, challenge_id) = (put.question.clone(), Some(put.id.clone()));
        CouncilDisagreement { point, challenge_id, sides: sides.collect() }
    });
    let is_contested = |point: &&SharedPoint| !point.challenged_by.is_empty() && !is_consensus(log, point);
    let contested = shared_points(log).iter().filter(is_contested).map(|point| {
        let with: Vec<&str> = point.holders().collect();
        let quotes: Vec<&str> = point.members.iter().map(|said| said.quote.as_str()).collect();
        let against =
            point.challenged_by.iter().filter_map(|id| log.challenge(id)).map(|put| {
                side(&[&put.from], if has_words(&put.reason) { &put.reason } else { &put.question })
            });
        let sides = std::iter::once(side(&with, &quotes.join(" / "))).chain(against).collect();
        CouncilDisagreement { point: point.point.clone(), challenge_id: None, sides }
    });
    refused.chain(contested).collect()
}

/// The challenges and questions that nobody will answer any more.
fn open_questions(log: &CouncilLog<'_>) -> Vec<OpenQuestion> {
    let open = log.challenges.iter().filter(|put| put.fate == ChallengeFate::Open);
    let questions = open.map(|put| OpenQuestion {
        challenge_id: put.id.clone(),
        from: put.from.clone(),
        to: put.to.clone(),
        claim: put.claim.clone(),
        question: put.question.clone(),
        why: match (log.active.contains(&put.to.as_str()), put.absent_in.is_empty()) {
            (false, _) => "the councillor who was asked gave no opening and took no part".to_owned(),
            (true, false) => "the councillor who was asked was absent".to_owned(),
            (true, true) => "the debate was cut short before it could be answered".to_owned(),
        },
    });
    questions.collect()
}

/// The seed's debate log of a round, and what was found in it.
fn round_record(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Value {
    let standings = round.after.iter();
    let debate_log: Map<String, Value> = standings
        .map(|(seat, held)| ((*seat).to_owned(), councillor_record(log, round, seat, held)))
        .collect();
    json!({
        "round": round.number,
        "complete": round.is_over,
        "debate_log": debate_log,
        "findings": round.findings,
    })
}

fn councillor_record(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    seat: &str,
    held: &CouncillorStanding,
) -> Value {
    let record = |put: &Challenge| json!({"id": put.id, "from": put.from, "target": put.to, "point": put.claim, "question": put.question});
    let received = log.challenges.iter().filter(|put| put.round == round.number && put.to == seat);
    let own = log.messages_of(round.number).filter(|sent| sent.from == seat || sent.to == seat);
    let exchanges = own.map(|sent| {
        let with = if sent.from == seat { &sent.to } else { &sent.from };
        let outcome = sent.reply.as_deref().unwrap_or("no reply");
        json!({"id": sent.id, "with": with, "topic": sent.topic, "outcome": outcome})
    });
    json!({
        "challenges_made": log.made_by(seat, round.number).map(record).collect::<Vec<_>>(),
        "challenges_received": received.map(record).collect::<Vec<_>>(),
        "position": held.position,
        "confidence": held.confidence,
        "vote": held.vote,
        "changed": if held.changed { format!("yes: {}", held.because) } else { "no".to_owned() },
        "present": round.responded.contains_key(seat),
        "peer_exchanges": exchanges.collect::<Vec<_>>(),
    })
}
