//! How `deep` ends: the verdict, the input of the synthesis, and what became of every first-round position.

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
    /// The chair's answer. Null if no chair gave one.
    pub answer: Option<String>,
    pub why: Option<String>,
    /// What stayed in dispute.
    pub contested: Vec<String>,
    /// What the debate loop passed to Stage 3.
    pub synthesis_input: SynthesisInput,
    /// The rounds in which at least one debater argued.
    pub rounds: Vec<RoundReport>,
    pub chair: Option<ChairRecord>,
    /// Standard mode: the answers, best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<RankedAnswer>>,
}

/// Who wrote the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChairRecord {
    pub seat: String,
    pub model: String,
    /// Whether the model stood in for the chair's own model.
    pub stand_in: bool,
}

/// What the debate loop passes to Stage 3: exactly the seed's JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SynthesisInput {
    /// `deep`, `standard` or `quick`.
    pub mode: String,
    /// How many rounds count.
    pub rounds_completed: u32,
    /// Each debater's position at the end, in label order.
    pub final_stances: Vec<FinalStance>,
    /// The last assessment. Null if there is none.
    pub convergence_status: Option<ConvergenceStatus>,
    /// One line for each round.
    pub debate_log: Vec<String>,
}

/// A debater's position at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalStance {
    /// The label.
    pub debater: String,
    /// The last stance. Null if there were no rounds.
    pub stance: Option<Stance>,
    /// The last confidence.
    pub confidence: Option<f64>,
    /// The current position, revised or not.
    pub revised_position: String,
}

/// The moderator's last assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConvergenceStatus {
    pub agreement_score: f64,
    pub new_points_ratio: f64,
    /// What the debaters agree on, if the agreement is high enough.
    pub consensus_answer: Option<String>,
    pub remaining_disagreements: Vec<String>,
}

/// One round of the debate loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundReport {
    pub round: u32,
    /// Whether the moderator assessed the round. If not, the fields up to `next_round_focus` are null or empty.
    pub assessed: bool,
    pub agreement_score: Option<f64>,
    pub new_points_ratio: Option<f64>,
    /// The moderator's advice, which decides nothing.
    pub should_stop: Option<bool>,
    /// What the debaters agree on, if the agreement is high enough.
    pub consensus_answer: Option<String>,
    pub remaining_disagreements: Vec<String>,
    pub next_round_focus: Option<String>,
    /// What each debater argued, in label order.
    pub stances: Vec<StanceReport>,
}

/// What a debater argued in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StanceReport {
    /// The label.
    pub debater: String,
    /// Null if the debater was absent, like `revision` and `confidence`.
    pub stance: Option<Stance>,
    pub revision: Option<Revision>,
    pub confidence: Option<f64>,
    /// Whether the debater was absent and its last position counts.
    pub carried: bool,
    pub key_points: Vec<String>,
    pub counterpoints: Vec<Counterpoint>,
    /// The new position, if the debater took one.
    pub revised_position: Option<String>,
}

/// A minority position and everybody who held it.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct DeepDissent<'a> {
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

/// The minority positions. One that several debaters held is listed once, with all of them.
fn dissent(positions: &[PositionFate]) -> Vec<DeepDissent<'_>> {
    let mut distinct: Vec<DeepDissent<'_>> = Vec::new();
    for minority in positions.iter().filter(|position| position.fate == Fate::Minority) {
        let label = minority.label.as_deref().unwrap_or_default();
        match distinct.iter_mut().find(|entry| entry.position.eq_ignore_ascii_case(&minority.position)) {
            Some(entry) => entry.held_by.push(label),
            None => distinct.push(DeepDissent {
                debater: minority.label.as_deref(),
                seat: &minority.seat,
                position: &minority.position,
                reason: &minority.reason,
                held_by: vec![label],
            }),
        }
    }
    distinct
}

pub(super) fn ending(log: &DeepLog<'_>) -> (Termination, Status) {
    let termination = log.loop_ending();
    match (termination, &log.synthesis) {
        (Termination::QuorumLost, _) => (termination, Status::Incomplete),
        (_, Some(_)) => (termination, Status::Complete),
        (Termination::Budget, None) => (termination, Status::Incomplete),
        _ if log.debate.spent_share() >= 1.0 || is_chair_over_budget(log) => {
            (Termination::Budget, Status::Incomplete)
        }
        _ => (Termination::Failed, Status::Failed),
    }
}

fn is_chair_over_budget(log: &DeepLog<'_>) -> bool {
    let closing = log.debate.turns_of(DeepPhase::Synthesis.as_str());
    let mut absences = closing.flat_map(PhaseTurn::absences).peekable();
    absences.peek().is_some() && absences.all(|(_, why, _)| why == AbsenceReason::OverBudget)
}

fn rounds_completed(log: &DeepLog<'_>) -> u32 {
    log.counted().last().map_or(0, |round| round.number)
}

/// The verdict of a debate, so far if it is not over.
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

/// A round in one line.
fn round_line(log: &DeepLog<'_>, round: &DeepRound) -> String {
    let stances = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| match argument {
        Some(argument) => {
            let (stance, revision) = (argument.stance.as_str(), argument.revision.as_str());
            format!("{}: {stance}, {revision}, confidence {:.2}", debater.label, argument.confidence)
        }
        None => format!("{}: absent, position carried", debater.label),
    });
    let stances: Vec<String> = stances.collect();
    let open = round.assessment.as_ref().map_or(0, |assessment| assessment.remaining_disagreements.len());
    let (number, assessment) = (round.number, round.assessment_words());
    format!("Round {number}: {}; {assessment}; {open} open disagreements", stances.join("; "))
}

fn round_report(log: &DeepLog<'_>, round: &DeepRound) -> RoundReport {
    let assessment = round.assessment.as_ref();
    let stances = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| {
        let argument = argument.as_ref();
        StanceReport {
            debater: debater.label.clone(),
            stance: argument.map(|argument| argument.stance),
            revision: argument.map(|argument| argument.revision),
            confidence: argument.map(|argument| argument.confidence),
            carried: argument.is_none(),
            key_points: argument.map(|argument| argument.key_points.clone()).unwrap_or_default(),
            counterpoints: argument.map(|argument| argument.counterpoints.clone()).unwrap_or_default(),
            revised_position: argument.and_then(Argument::new_position).map(str::to_owned),
        }
    });
    RoundReport {
        round: round.number,
        assessed: assessment.is_some(),
        agreement_score: assessment.map(|assessment| assessment.agreement_score),
        new_points_ratio: assessment.map(|assessment| assessment.new_points_ratio),
        should_stop: assessment.map(|assessment| assessment.should_stop),
        consensus_answer: assessment.and_then(log::consensus_answer).map(str::to_owned),
        remaining_disagreements: assessment
            .map(|assessment| assessment.remaining_disagreements.clone())
            .unwrap_or_default(),
        next_round_focus: assessment.and_then(|assessment| assessment.next_round_focus.clone()),
        stances: stances.collect(),
    }
}

/// What became of every Stage 1 answer. An answer that its debater gave up is refuted. Otherwise convergence decides, or the
/// similarity of the debater's position and the verdict.
pub(super) fn fates(log: &DeepLog<'_>, termination: Termination) -> Vec<PositionFate> {
    let fate = |place: usize| {
        reason_given_up(log, place)
            .map(|reason| (Fate::Refuted, reason))
            .unwrap_or_else(|| fate_if_kept(log, place, termination))
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

/// Why a debater gave up its first answer. `None` if it did not.
fn reason_given_up(log: &DeepLog<'_>, place: usize) -> Option<String> {
    let debater = log.debaters.get(place)?;
    let own = &debater.label;
    // A debater who returned to its first answer has not given it up.
    if grouping::is_same(log.position(place, u32::MAX), debater.answer.trim()) {
        return None;
    }
    let (number, argument) = log.rounds.iter().find_map(|round| {
        let argument = round.arguments.get(place)?.as_ref()?;
        let conceded = argument.stance == Stance::Concede && argument.revision != Revision::NoChange;
        (conceded || argument.revision == Revision::MajorRevision).then_some((round.number, argument))
    })?;
    let against = log.rounds.iter().filter(|round| round.number <= number).flat_map(|round| {
        log.debaters.iter().zip(&round.arguments).flat_map(|(debater, argument)| {
            let points = argument.iter().flat_map(|argument| &argument.counterpoints);
            points
                .filter(|point| point.target.ends_with(own.as_str()))
                .map(|point| (&debater.label, &point.point))
        })
    });
    let points: Vec<String> = against.map(|(label, point)| format!("Debater {label}: {point}")).collect();
    let points = if points.is_empty() { "no counterpoint named it".to_owned() } else { points.join("; ") };
    let position = argument.new_position().unwrap_or_default();
    Some(format!("given up in round {number} for: {position} (against it: {points})"))
}

fn fate_if_kept(log: &DeepLog<'_>, place: usize, termination: Termination) -> (Fate, String) {
    let Some(synthesis) = &log.synthesis else {
        return (Fate::Minority, "there is no verdict that could adopt it".into());
    };
    if termination == Termination::Converged {
        let assessment = log.counted().last().and_then(|round| round.assessment.as_ref());
        let score = assessment.map_or(0.0, |assessment| assessment.agreement_score);
        return (Fate::Adopted, format!("the debaters converged, agreement {score:.2}"));
    }
    let position = log.position(place, u32::MAX);
    match is_similar(position, &synthesis.answer) {
        true => (Fate::Adopted, "held to the end, and the answer adopts it".into()),
        false => (Fate::Minority, "held to the end; the answer does not adopt it".into()),
    }
}

/// Whether the words of a position are similar enough to the answer's to count as the same position.
pub(super) fn is_similar(position: &str, answer: &str) -> bool {
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
            let is_empty_concession = |argument: &Argument| {
                argument.stance == Stance::Concede && argument.revision == Revision::NoChange
            };
            if argument.as_ref().is_some_and(is_empty_concession) {
                warnings.push(format!(
                    "round {}: Debater {} concedes but changes nothing",
                    round.number, debater.label
                ));
            }
        }
    }
    warnings
}

/// A warning if the moderator's advice contradicts its own scores.
fn contradiction(log: &DeepLog<'_>, round: &DeepRound) -> Option<String> {
    let assessment = round.assessment.as_ref()?;
    let number = round.number;
    let is_converged = log.meets_thresholds(assessment);
    let why = match (assessment.should_stop, is_converged, number < log.options.min_rounds) {
        (true, false, _) => "the moderator would stop, but its own scores do not reach the thresholds",
        (true, true, true) => "the moderator would stop, but min_rounds is not reached",
        (false, true, false) => "the moderator would go on, but its own scores reach the thresholds",
        _ => return None,
    };
    Some(format!("round {number}: {why}"))
}
