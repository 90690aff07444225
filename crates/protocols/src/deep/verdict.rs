//! How `deep` ends: the verdict, the synthesis input, and what became of every first-round position.

use agon_core::{
    AbsenceReason, Corrupt, Fate, Fidelity, Outcome, PhaseTurn, PositionFate, Status, Step, Termination,
};
use serde::{Deserialize, Serialize};

use super::evaluation::{self, RankedAnswer};
use super::log::{self, DeepLog, DeepRound};
use super::replies::{Argument, Counterpoint, Revision, Stance};
use super::{DeepMode, DeepPhase};
use crate::participation::{cut_off_warnings, shortened_warnings};
use crate::{grouping, lexical};

/// A final position this close to the answer counts as adopted when the debate did not converge.
const ADOPTED_FROM: f64 = 0.5;

/// The verdict of `deep`, as the outcome carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeepVerdict {
    /// The chair's answer; null when no chair gave one.
    pub answer: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// What stayed in dispute.
    pub contested: Vec<String>,
    /// What the debate loop passed to Stage 3.
    pub synthesis_input: SynthesisInput,
    /// The rounds that count.
    pub rounds: Vec<RoundReport>,
    /// Who wrote the answer.
    pub chair: Option<ChairRecord>,
    /// Standard mode: the answers, best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<RankedAnswer>>,
}

/// Who wrote the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChairRecord {
    /// The seat.
    pub seat: String,
    /// The model.
    pub model: String,
    /// Whether it stood in for the chair's own model.
    pub stand_in: bool,
}

/// What the debate loop passes to Stage 3: exactly the seed's JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SynthesisInput {
    /// `deep`, `standard` or `quick`.
    pub mode: String,
    /// How many rounds count.
    pub rounds_completed: u32,
    /// Where each debater stands, in label order.
    pub final_stances: Vec<FinalStance>,
    /// The last assessment; null without one.
    pub convergence_status: Option<ConvergenceStatus>,
    /// One line for each round.
    pub debate_log: Vec<String>,
}

/// Where a debater stands at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalStance {
    /// The label.
    pub debater: String,
    /// Its last stance; null without rounds.
    pub stance: Option<Stance>,
    /// Its last confidence.
    pub confidence: Option<f64>,
    /// Its current position.
    pub revised_position: String,
}

/// The moderator's last assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConvergenceStatus {
    /// How far the debaters agree.
    pub agreement_score: f64,
    /// The share of new points.
    pub new_points_ratio: f64,
    /// What they agree on, where they agree enough.
    pub consensus_answer: Option<String>,
    /// What they do not agree on.
    pub remaining_disagreements: Vec<String>,
}

/// One round of the debate loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundReport {
    /// Its number.
    pub round: u32,
    /// Whether the moderator assessed it.
    pub assessed: bool,
    /// The moderator's score; null where unassessed, like the fields that follow.
    pub agreement_score: Option<f64>,
    /// The share of new points.
    pub new_points_ratio: Option<f64>,
    /// The moderator's advice.
    pub should_stop: Option<bool>,
    /// What they agree on.
    pub consensus_answer: Option<String>,
    /// What they do not agree on.
    pub remaining_disagreements: Vec<String>,
    /// What the moderator asks for next.
    pub next_round_focus: Option<String>,
    /// What each debater argued, in label order.
    pub stances: Vec<StanceReport>,
}

/// What a debater argued in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StanceReport {
    /// The label.
    pub debater: String,
    /// Null where the debater was absent, like the fields that follow.
    pub stance: Option<Stance>,
    /// How much its answer changed.
    pub revision: Option<Revision>,
    /// How sure it is.
    pub confidence: Option<f64>,
    /// Whether it was absent and its last position counts.
    pub carried: bool,
    /// Its reasons.
    pub key_points: Vec<String>,
    /// Its points against others.
    pub counterpoints: Vec<Counterpoint>,
    /// Its new position, where it has one.
    pub revised_position: Option<String>,
}

/// A minority position with everybody who held it.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct DissentEntry<'a> {
    debater: Option<&'a str>,
    seat: &'a str,
    position: &'a str,
    reason: &'a str,
    held_by: Vec<&'a str>,
}

/// Closes the debate.
pub(super) fn close(log: &DeepLog<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(log);
    let positions = fates(log, termination);
    let dissent = dissent(&positions).iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    let whole = log.debate.absences().next().is_none()
        && cut_off_warnings(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete;
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: rounds_completed(log),
        verdict: serde_json::to_value(verdict(log)?)?,
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, termination),
        labels: log.debaters.iter().map(|debater| (debater.label.clone(), debater.seat.to_owned())).collect(),
        positions,
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// The minority's positions, each distinct one once, with everybody who held it.
fn dissent(positions: &[PositionFate]) -> Vec<DissentEntry<'_>> {
    let mut distinct: Vec<DissentEntry<'_>> = Vec::new();
    for held in positions.iter().filter(|held| held.fate == Fate::Minority) {
        let label = held.label.as_deref().unwrap_or_default();
        match distinct.iter_mut().find(|entry| entry.position.eq_ignore_ascii_case(&held.position)) {
            Some(entry) => entry.held_by.push(label),
            None => distinct.push(DissentEntry {
                debater: held.label.as_deref(),
                seat: &held.seat,
                position: &held.position,
                reason: &held.reason,
                held_by: vec![label],
            }),
        }
    }
    distinct
}

pub(super) fn ending(log: &DeepLog<'_>) -> (Termination, Status) {
    let stages = log.loop_ending();
    match (stages, &log.synthesis) {
        (Termination::QuorumLost, _) => (stages, Status::Incomplete),
        (_, Some(_)) => (stages, Status::Complete),
        (Termination::Budget, None) => (stages, Status::Incomplete),
        _ if log.debate.spent_share() >= 1.0 || chair_over_budget(log) => {
            (Termination::Budget, Status::Incomplete)
        }
        _ => (Termination::Failed, Status::Failed),
    }
}

fn chair_over_budget(log: &DeepLog<'_>) -> bool {
    let closing = log.debate.turns_of(DeepPhase::Synthesis.as_str());
    let mut absences = closing.flat_map(PhaseTurn::absences).peekable();
    absences.peek().is_some() && absences.all(|(_, why, _)| why == AbsenceReason::OverBudget)
}

fn rounds_completed(log: &DeepLog<'_>) -> u32 {
    log.counted().last().map_or(0, |round| round.number)
}

/// The verdict of a debate, as far as it has come.
pub(super) fn verdict(log: &DeepLog<'_>) -> Result<DeepVerdict, Corrupt> {
    let synthesis = log.synthesis.as_ref();
    let closing = log.debate.turns_of(DeepPhase::Synthesis.as_str()).last();
    let written_by = closing.and_then(|turn| turn.settled().next()).filter(|_| synthesis.is_some());
    let chair = written_by.map(|(ask, _)| ChairRecord {
        seat: ask.seat.clone(),
        model: ask.model.clone(),
        stand_in: log.debate.brief.seat(&ask.seat).is_none_or(|seat| seat.model != ask.model),
    });
    let is_ranked = log.options.mode == DeepMode::Standard;
    Ok(DeepVerdict {
        answer: synthesis.map(|synthesis| synthesis.answer.clone()),
        why: synthesis.map(|synthesis| synthesis.why.clone()),
        contested: synthesis.map(|synthesis| synthesis.contested.clone()).unwrap_or_default(),
        synthesis_input: synthesis_input(log),
        rounds: log.counted().map(|round| round_report(log, round)).collect(),
        chair,
        ranking: is_ranked.then(|| evaluation::ranking(log)).transpose()?,
    })
}

/// What the debate loop passes to Stage 3.
pub(super) fn synthesis_input(log: &DeepLog<'_>) -> SynthesisInput {
    let last = log.counted().last().and_then(|round| round.assessment.as_ref());
    SynthesisInput {
        mode: log.options.mode.as_str().to_owned(),
        rounds_completed: rounds_completed(log),
        final_stances: (0..log.debaters.len()).filter_map(|place| final_stance(log, place)).collect(),
        convergence_status: last.map(|assessment| ConvergenceStatus {
            agreement_score: assessment.agreement_score,
            new_points_ratio: assessment.new_points_ratio,
            consensus_answer: log::consensus_answer(assessment).map(str::to_owned),
            remaining_disagreements: assessment.remaining_disagreements.clone(),
        }),
        debate_log: log.counted().map(|round| round_line(log, round)).collect(),
    }
}

fn final_stance(log: &DeepLog<'_>, place: usize) -> Option<FinalStance> {
    let last = log.last_argument(place);
    Some(FinalStance {
        debater: log.debaters.get(place)?.label.clone(),
        stance: last.map(|argument| argument.stance),
        confidence: last.map(|argument| argument.confidence),
        revised_position: log.position(place, u32::MAX).to_owned(),
    })
}

/// A round in one line, made from its data.
fn round_line(log: &DeepLog<'_>, round: &DeepRound) -> String {
    let stances = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| match argument {
        Some(said) => {
            let (stance, revision) = (said.stance.as_str(), said.revision.as_str());
            format!("{}: {stance}, {revision}, confidence {:.2}", debater.label, said.confidence)
        }
        None => format!("{}: absent, position carried", debater.label),
    });
    let stances: Vec<String> = stances.collect();
    let open = round.assessment.as_ref().map_or(0, |assessment| assessment.remaining_disagreements.len());
    let assessed = round.assessed();
    format!("Round {}: {}; {assessed}; {open} open disagreements", round.number, stances.join("; "))
}

fn round_report(log: &DeepLog<'_>, round: &DeepRound) -> RoundReport {
    let assessment = round.assessment.as_ref();
    let stances = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| {
        let said = argument.as_ref();
        StanceReport {
            debater: debater.label.clone(),
            stance: said.map(|said| said.stance),
            revision: said.map(|said| said.revision),
            confidence: said.map(|said| said.confidence),
            carried: said.is_none(),
            key_points: said.map(|said| said.key_points.clone()).unwrap_or_default(),
            counterpoints: said.map(|said| said.counterpoints.clone()).unwrap_or_default(),
            revised_position: said.and_then(Argument::new_position).map(str::to_owned),
        }
    });
    RoundReport {
        round: round.number,
        assessed: assessment.is_some(),
        agreement_score: assessment.map(|assessed| assessed.agreement_score),
        new_points_ratio: assessment.map(|assessed| assessed.new_points_ratio),
        should_stop: assessment.map(|assessed| assessed.should_stop),
        consensus_answer: assessment.and_then(log::consensus_answer).map(str::to_owned),
        remaining_disagreements: assessment
            .map(|assessed| assessed.remaining_disagreements.clone())
            .unwrap_or_default(),
        next_round_focus: assessment.and_then(|assessed| assessed.next_round_focus.clone()),
        stances: stances.collect(),
    }
}

/// What became of every Stage 1 answer. A debater's own declaration comes first. Where it kept its answer, convergence or
/// the likeness of its position to the verdict decides.
pub(super) fn fates(log: &DeepLog<'_>, termination: Termination) -> Vec<PositionFate> {
    let fate = |place: usize| {
        given_up(log, place)
            .map(|reason| (Fate::Refuted, reason))
            .unwrap_or_else(|| kept(log, place, termination))
    };
    let debaters = log.debaters.iter().enumerate();
    debaters
        .map(|(place, debater)| {
            let (fate, reason) = fate(place);
            let (seat, label) = (debater.seat.to_owned(), Some(debater.label.clone()));
            PositionFate { seat, label, position: debater.answer.trim().to_owned(), fate, reason }
        })
        .collect()
}

/// Why a debater gave its first answer up, if it did.
fn given_up(log: &DeepLog<'_>, place: usize) -> Option<String> {
    let debater = log.debaters.get(place)?;
    let own = &debater.label;
    // A debater who came back to its first answer has not given it up.
    if grouping::is_same(log.position(place, u32::MAX), debater.answer.trim()) {
        return None;
    }
    let (number, argument) = log.rounds.iter().find_map(|round| {
        let argument = round.arguments.get(place)?.as_ref()?;
        let conceded = argument.stance == Stance::Concede && argument.revision != Revision::NoChange;
        (conceded || argument.revision == Revision::MajorRevision).then_some((round.number, argument))
    })?;
    let against = log.rounds.iter().filter(|round| round.number <= number).flat_map(|round| {
        log.debaters.iter().zip(&round.arguments).flat_map(|(debater, said)| {
            let points = said.iter().flat_map(|argument| &argument.counterpoints);
            points
                .filter(|point| point.target.ends_with(own.as_str()))
                .map(|point| (&debater.label, &point.point))
        })
    });
    let by: Vec<String> = against.map(|(label, point)| format!("Debater {label}: {point}")).collect();
    let by = if by.is_empty() { "no counterpoint named it".to_owned() } else { by.join("; ") };
    let now = argument.new_position().unwrap_or_default();
    Some(format!("given up in round {number} for: {now} (against it: {by})"))
}

fn kept(log: &DeepLog<'_>, place: usize, termination: Termination) -> (Fate, String) {
    let Some(synthesis) = &log.synthesis else {
        return (Fate::Minority, "there is no verdict that could adopt it".into());
    };
    if termination == Termination::Converged {
        let agreement = log.counted().last().and_then(|round| round.assessment.as_ref());
        let score = agreement.map_or(0.0, |assessment| assessment.agreement_score);
        return (Fate::Adopted, format!("the debaters converged, agreement {score:.2}"));
    }
    let position = log.position(place, u32::MAX);
    let likeness = lexical::similarity(position, &synthesis.answer);
    let fate = if is_like(position, &synthesis.answer) { Fate::Adopted } else { Fate::Minority };
    (
        fate,
        format!(
            "held to the end; its words are {likeness:.2} like the answer's, {ADOPTED_FROM:.2} counts as adopted"
        ),
    )
}

/// Whether the words of a position show that the answer is it.
pub(super) fn is_like(position: &str, answer: &str) -> bool {
    lexical::similarity(position, answer) >= ADOPTED_FROM && !lexical::opposed(position, answer)
}

fn warnings(log: &DeepLog<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget && log.synthesis.is_some() {
        warnings.push(format!("{} -> synthesis (degraded)", log.options.mode.as_str()));
    }
    if matches!(termination, Termination::Budget | Termination::QuorumLost) {
        warnings.extend(
            log.limits().reached(log.debaters.len()).map(|limit| format!("a limit was reached: {limit}")),
        );
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    let evaluated = log.debate.turn(DeepPhase::Evaluate.as_str(), 0);
    if evaluated.is_some_and(|turn| turn.settled().all(|(_, reply)| reply.value().is_none())) {
        warnings.push("no evaluation could be used: the answers are not ranked".into());
    }
    for round in log.counted() {
        warnings.extend(contradiction(log, round));
        if round.assessment.is_none() {
            let why = if round.moderated {
                "the moderator was absent"
            } else {
                "too little was left to ask the moderator"
            };
            warnings.push(format!("round {} is unassessed: {why}", round.number));
        }
        for (debater, argument) in log.debaters.iter().zip(&round.arguments) {
            let odd = |a: &&Argument| a.stance == Stance::Concede && a.revision == Revision::NoChange;
            if argument.as_ref().is_some_and(|argument| odd(&argument)) {
                warnings.push(format!(
                    "round {}: Debater {} concedes but changes nothing",
                    round.number, debater.label
                ));
            }
        }
    }
    warnings
}

/// Where the moderator's advice and the arithmetic differ.
fn contradiction(log: &DeepLog<'_>, round: &DeepRound) -> Option<String> {
    let assessment = round.assessment.as_ref()?;
    let number = round.number;
    let met = log.meets_thresholds(assessment);
    let why = match (assessment.should_stop, met, number < log.options.min_rounds) {
        (true, false, _) => "the moderator would stop, but its own scores do not reach the thresholds",
        (true, true, true) => "the moderator would stop, but min_rounds is not reached",
        (false, true, false) => "the moderator would go on, but its own scores reach the thresholds",
        _ => return None,
    };
    Some(format!("round {number}: {why}"))
}
