//! How `deep` ends: the verdict, the input of the synthesis, what the chair rules on each position, and who dissents.

use agon_core::wording::{clauses, counted, joined, rounds as rounds_words};
use agon_core::{
    AbsenceReason, Corrupt, Fate, Outcome, PhaseTurn, PositionFate, RoundPositions, Status, Step, Termination,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::evaluation::{self, RankedAnswer};
use super::log::{Debater, DeepLog, DeepRound, TOLERANCE, is_id};
use super::positions::{self, DebatePositions};
use super::replies::{AnswerAssent, Argument, Assessment, Revision, RulingFate, Stance, wire_name};
use super::{DeepMode, DeepPhase};
use crate::participation::{cut_off_warnings, fidelity, shortened_warnings};

/// A consensus answer is kept only above this agreement.
const CONSENSUS_ABOVE: f64 = 0.6;

/// The verdict of `deep`, as the outcome carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeepVerdict {
    /// The chair's answer. Null if no chair gave one.
    pub answer: Option<String>,
    pub why: Option<String>,
    /// What stayed in dispute.
    pub contested: Vec<String>,
    /// The positions at the end, who holds them, and what the chair rules on each.
    pub positions: Vec<PositionRecord>,
    /// The positions that the chair does not rule on.
    pub not_settled: Vec<PositionRecord>,
    /// With `--ratify`: what each debater who was asked and not absent says to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Vec<Value>>,
    /// What the debate loop passed to Stage 3.
    pub synthesis_input: SynthesisInput,
    /// The rounds in which at least one debater argued.
    pub rounds: Vec<RoundReport>,
    pub chair: Option<ChairRecord>,
    /// Standard mode: the answers, best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<RankedAnswer>>,
}

/// A position at the end of the debate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PositionRecord {
    /// The id under which the chair read it: `P1`. Null if it had none.
    pub position: Option<String>,
    pub statement: String,
    /// The labels of the debaters who hold it.
    pub debaters: Vec<String>,
    /// What the chair rules. Null if it does not, or not once.
    pub fate: Option<RulingFate>,
    /// The chair's reason.
    pub reason: Option<String>,
    /// The debaters who hold it, by place.
    #[serde(skip)]
    pub(super) holders: Vec<usize>,
    /// Whether the statement is from whoever sorted. If not, it is the position itself, cut where it is long.
    #[serde(skip)]
    pub(super) is_stated: bool,
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

/// What the moderator says of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConvergenceStatus {
    pub agreement_score: f64,
    pub new_points_ratio: f64,
    /// What the debaters agree on, if the score is high enough.
    pub consensus_answer: Option<String>,
    pub remaining_disagreements: Vec<String>,
}

impl ConvergenceStatus {
    fn of(assessment: &Assessment) -> Self {
        let is_consensus = assessment.agreement_score > CONSENSUS_ABOVE + TOLERANCE;
        Self {
            agreement_score: assessment.agreement_score,
            new_points_ratio: assessment.new_points_ratio,
            consensus_answer: assessment.consensus_answer.clone().filter(|_| is_consensus),
            remaining_disagreements: assessment.remaining_disagreements.clone(),
        }
    }
}

/// One round of the debate loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundReport {
    pub round: u32,
    /// The share of pairs of debaters who hold one position after it. Null if that is not known.
    pub agreement: Option<f64>,
    /// Whether the moderator assessed the round.
    pub assessed: bool,
    /// The moderator's own scores. Null if it was absent.
    #[serde(flatten, serialize_with = "scores_or_nulls")]
    pub assessment: Option<ConvergenceStatus>,
    /// The moderator's advice, which decides nothing.
    pub should_stop: Option<bool>,
    pub next_round_focus: Option<String>,
    /// What each debater argued, in label order.
    pub stances: Vec<StanceReport>,
}

fn scores_or_nulls<S: Serializer>(
    status: &Option<ConvergenceStatus>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let unknown = json!({
        "agreement_score": null, "new_points_ratio": null, "consensus_answer": null, "remaining_disagreements": []
    });
    match status {
        Some(status) => status.serialize(serializer),
        None => unknown.serialize(serializer),
    }
}

/// What a debater argued in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StanceReport {
    /// The label.
    pub debater: String,
    /// Whether the debater was absent and its last position counts. It has no other fields then.
    pub carried: bool,
    /// The points that made the debater revise its position, as far as they verify.
    pub cited: Vec<String>,
    #[serde(flatten)]
    pub argument: Option<Argument>,
}

/// A debater who dissents from the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeepDissent {
    /// The label.
    pub debater: String,
    pub seat: String,
    /// The final position, whole.
    pub position: String,
    /// The debater's best reason, whole: its statement on the answer, or the first key point of its last argument, which is the
    /// strongest of that argument.
    pub reason: Option<String>,
    /// What the chair rules on the position. Null if it does not.
    pub fate: Option<RulingFate>,
    /// The chair's reason: why the position is rejected, or what was left out.
    pub ruling: Option<String>,
}

/// What does not verify in the chair's rulings. No ruling at all declares nothing.
pub(super) fn ruling_faults(log: &DeepLog<'_>) -> Vec<String> {
    let positions = DebatePositions::read(log);
    let given = log.synthesis.as_ref().map_or(&[][..], |synthesis| &synthesis.fates);
    let ids = || positions.last.iter().filter_map(|held| held.position.as_ref());
    let unknown = given.iter().filter(|ruling| !ids().any(|id| is_id(&ruling.position, id)));
    let unknown = unknown.map(|ruling| format!("There is no position {:?}.", ruling.position));
    let open =
        positions.not_settled().filter_map(|held| held.position.as_ref()).filter(|_| !given.is_empty());
    unknown.chain(open.map(|id| format!("`fates` must have {id} once."))).collect()
}

/// Whether a debater is in the dissent: by its own word or, without one, by what the chair rules on its position.
fn is_dissent(log: &DeepLog<'_>, positions: &DebatePositions, place: usize) -> bool {
    let fate = positions.held_by(place).and_then(|held| held.fate);
    match log.ratification(place) {
        Some(_) => log.dissents(place),
        None => matches!(fate, Some(RulingFate::Rejected | RulingFate::Partly)),
    }
}

/// Everybody who dissents, in label order.
pub(super) fn dissent(log: &DeepLog<'_>, positions: &DebatePositions) -> Vec<DeepDissent> {
    let debaters = log.debaters.iter().enumerate().filter(|(place, _)| is_dissent(log, positions, *place));
    let entry = |(place, debater): (usize, &Debater<'_>)| {
        let statement = log.ratification(place).map(|word| word.statement.trim().to_owned());
        let key_point = log.last_argument(place).and_then(|argument| argument.key_points.first().cloned());
        let held = positions.held_by(place);
        DeepDissent {
            debater: debater.label.clone(),
            seat: debater.seat.id.clone(),
            position: log.position(place, u32::MAX).to_owned(),
            reason: statement.filter(|statement| !statement.is_empty()).or(key_point),
            fate: held.and_then(|held| held.fate),
            ruling: held.and_then(|held| held.reason.clone()),
        }
    };
    debaters.map(entry).collect()
}

/// What became of a debater's first answer, and why.
fn fate(log: &DeepLog<'_>, positions: &DebatePositions, place: usize) -> (Fate, String) {
    let given_up = positions::given_up_in(log, place, &positions.rounds).and_then(|left| log.round(left));
    let given_up = given_up.map(|round| format!("in round {}, {}", round.number, citing(round, place)));
    // The chair rules on the position at the end, which is not always the first answer.
    let held = positions.held_by(place);
    let fate = held.and_then(|held| held.fate);
    let ruling = match fate {
        Some(RulingFate::Adopted) => "the chair adopts its holder's final position",
        Some(RulingFate::Partly) => "the chair adopts a part of its holder's final position",
        Some(RulingFate::Rejected) => "the chair rejects its holder's final position",
        None if log.synthesis.is_none() => "there is no answer",
        None => "the chair does not rule on its holder's final position",
    };
    let reason = held.and_then(|held| held.reason.as_ref());
    let because = reason.map_or(String::new(), |reason| format!(": {reason}"));
    let mut story: Vec<String> = given_up.iter().map(|given_up| format!("left {given_up}")).collect();
    story.push(format!("{ruling}{because}"));
    story.extend(log.ratification(place).map(|word| assent_words(word.assent, &word.statement)));
    let fate = match (is_dissent(log, positions, place), &given_up, fate) {
        (true, ..) => Fate::Minority,
        (false, Some(_), _) => Fate::Refuted,
        (false, None, Some(RulingFate::Adopted | RulingFate::Partly)) => Fate::Adopted,
        // Its holder accepts an answer that rejects it.
        (false, None, Some(RulingFate::Rejected)) => Fate::Refuted,
        (false, None, None) => Fate::NotSettled,
    };
    (fate, given_up.filter(|_| fate == Fate::Refuted).unwrap_or_else(|| clauses(&story)))
}

/// What a debater cites for revising its position in a round.
pub(super) fn citing(round: &DeepRound, place: usize) -> String {
    let cause = round.verified.get(place).map(|verified| &verified.cause);
    match cause.map(|cause| (cause.cited.as_slice(), cause.unverified.as_slice())) {
        None | Some(([], [])) => "citing nothing".to_owned(),
        Some(([], named)) => format!("citing {}", named.join("; ")),
        Some((cited, _)) => format!("citing {}", joined(cited)),
    }
}

/// What a debater says to the answer, in words that follow its name.
pub(super) fn assent_words(assent: AnswerAssent, statement: &str) -> String {
    let said = match assent {
        AnswerAssent::Accept => "accepts the answer",
        AnswerAssent::AcceptWithReservations => "accepts the answer with reservations",
        AnswerAssent::Dissent => "dissents from the answer",
    };
    match statement.trim() {
        "" => said.to_owned(),
        statement => format!("{said}: {statement}"),
    }
}

/// Closes the debate.
pub(super) fn close(log: &DeepLog<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(log);
    let positions = DebatePositions::read(log);
    let first_position = |(place, debater): (usize, &Debater<'_>)| {
        let (fate, reason) = fate(log, &positions, place);
        let (seat, label) = (debater.seat.id.clone(), Some(debater.label.clone()));
        PositionFate { seat, label, position: debater.answer.trim().to_owned(), fate, reason }
    };
    let is_whole = termination != Termination::Budget && status == Status::Complete && !is_unsigned(log);
    let labels = log.debaters.iter().map(|debater| (debater.label.clone(), debater.seat.id.clone()));
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: serde_json::to_value(verdict(log, &positions)?)?,
        dissent: dissent(log, &positions).iter().map(serde_json::to_value).collect::<Result<_, _>>()?,
        fidelity: fidelity(log.debate, is_whole),
        warnings: warnings(log, termination, &positions),
        labels: labels.collect(),
        positions: log.debaters.iter().enumerate().map(first_position).collect(),
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

fn ending(log: &DeepLog<'_>) -> (Termination, Status) {
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

/// Whether the debaters should have been asked to sign the answer, and were not.
fn is_unsigned(log: &DeepLog<'_>) -> bool {
    log.options.ratify && log.synthesis.is_some() && log.ratifications.is_empty()
}

/// The chair that wrote the answer.
pub(super) fn chair(log: &DeepLog<'_>) -> Option<ChairRecord> {
    let closing =
        log.debate.turns_of(DeepPhase::Synthesis.as_str()).last().filter(|_| log.synthesis.is_some());
    let (ask, _) = closing?.settled().next()?;
    Some(ChairRecord {
        seat: ask.seat.clone(),
        model: ask.model.clone(),
        stand_in: log.debate.brief.seat(&ask.seat).is_none_or(|seat| seat.model != ask.model),
    })
}

fn verdict(log: &DeepLog<'_>, positions: &DebatePositions) -> Result<DeepVerdict, Corrupt> {
    let synthesis = log.synthesis.as_ref();
    let words = log.debaters.iter().zip(&log.ratifications).filter_map(|(debater, word)| {
        let word = word.as_ref()?;
        Some(json!({"debater": debater.label, "assent": word.assent, "statement": word.statement}))
    });
    let is_ranked = log.options.mode == DeepMode::Standard;
    Ok(DeepVerdict {
        answer: synthesis.map(|synthesis| synthesis.answer.clone()),
        why: synthesis.map(|synthesis| synthesis.why.clone()),
        contested: synthesis.map(|synthesis| synthesis.contested.clone()).unwrap_or_default(),
        positions: positions.last.clone(),
        not_settled: positions.not_settled().cloned().collect(),
        signed: log.options.ratify.then(|| words.collect()),
        synthesis_input: synthesis_input(log),
        rounds: log.counted().map(|round| round_report(log, round, positions)).collect(),
        chair: chair(log),
        ranking: is_ranked.then(|| evaluation::ranking(log)).transpose()?,
    })
}

/// What the debate loop passes to Stage 3.
pub(super) fn synthesis_input(log: &DeepLog<'_>) -> SynthesisInput {
    let last = log.counted().last().and_then(|round| round.assessment.as_ref());
    let final_stance = |(place, debater): (usize, &Debater<'_>)| {
        let last = log.last_argument(place);
        FinalStance {
            debater: debater.label.clone(),
            stance: last.map(|argument| argument.stance),
            confidence: last.map(|argument| argument.confidence),
            revised_position: log.position(place, u32::MAX).to_owned(),
        }
    };
    SynthesisInput {
        mode: log.options.mode.as_str().to_owned(),
        rounds_completed: log.rounds_completed(),
        final_stances: log.debaters.iter().enumerate().map(final_stance).collect(),
        convergence_status: last.map(ConvergenceStatus::of),
        debate_log: log.counted().map(|round| round_line(log, round)).collect(),
    }
}

/// A round in one line.
fn round_line(log: &DeepLog<'_>, round: &DeepRound) -> String {
    let stances = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| match argument {
        Some(Argument { stance, revision, confidence, .. }) => {
            let (stance, revision) = (wire_name(stance), wire_name(revision));
            format!("{}: {stance}, {revision}, confidence {confidence:.2}", debater.label)
        }
        None => format!("{}: absent, position carried", debater.label),
    });
    let stances: Vec<String> = stances.collect();
    // Without an assessment it is not known what is open.
    let open = round.assessment.as_ref().map_or(String::new(), |assessment| {
        let open = assessment.remaining_disagreements.len();
        format!("; {}", counted(open as u64, "open disagreement"))
    });
    let (number, assessment) = (round.number, round.assessment_words());
    format!("Round {number}: {}; {assessment}{open}", stances.join("; "))
}

fn round_report(log: &DeepLog<'_>, round: &DeepRound, positions: &DebatePositions) -> RoundReport {
    let assessment = round.assessment.as_ref();
    let said = round.arguments.iter().zip(&round.verified);
    let stances = log.debaters.iter().zip(said).map(|(debater, (argument, verified))| StanceReport {
        debater: debater.label.clone(),
        carried: argument.is_none(),
        cited: verified.cause.cited.clone(),
        argument: argument.clone(),
    });
    RoundReport {
        round: round.number,
        agreement: positions.agreement(round.number),
        assessed: assessment.is_some(),
        assessment: assessment.map(ConvergenceStatus::of),
        should_stop: assessment.map(|assessment| assessment.should_stop),
        next_round_focus: assessment.and_then(|assessment| assessment.next_round_focus.clone()),
        stances: stances.collect(),
    }
}

fn warnings(log: &DeepLog<'_>, termination: Termination, positions: &DebatePositions) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget && log.synthesis.is_some() {
        warnings.push(format!("{} -> synthesis (degraded)", log.options.mode.as_str()));
    }
    if matches!(termination, Termination::Budget | Termination::QuorumLost) || is_unsigned(log) {
        warnings.extend(log.limits().reached(log.debaters.len()));
    }
    if is_unsigned(log) {
        warnings.push("the debaters were not asked to sign the answer: too little was left".into());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    let evaluated = log.debate.turn(DeepPhase::Evaluate.as_str(), 0);
    if evaluated.is_some_and(|turn| turn.settled().all(|(_, reply)| reply.value().is_none())) {
        warnings.push("no evaluation could be used: the answers are not ranked".into());
    }
    warnings.extend(contradiction(log));
    warnings.extend(log.counted().flat_map(|round| round_warnings(log, round, positions)));
    let is_known = |number: u32| positions.round(number).is_some_and(RoundPositions::is_sorted);
    let unknown: Vec<u32> =
        log.counted().map(|round| round.number).filter(|number| !is_known(*number)).collect();
    if !unknown.is_empty() {
        let when = rounds_words(&unknown);
        warnings
            .push(format!("it is not known who agreed after {when}: nobody said it in a way that verifies"));
    }
    warnings
}

/// A score that contradicts the groups, a missing assessment, and concessions that change nothing.
fn round_warnings(log: &DeepLog<'_>, round: &DeepRound, positions: &DebatePositions) -> Vec<String> {
    let held = positions.round(round.number);
    let mut warnings: Vec<String> =
        held.and_then(|held| contradicted_score(log, round, held)).into_iter().collect();
    if round.assessment.is_none() {
        let why = match round.moderated {
            true => "the moderator was absent",
            false => "too little was left to ask the moderator",
        };
        warnings.push(format!("round {} is unassessed: {why}", round.number));
    }
    let is_empty_concession =
        |argument: &Argument| argument.stance == Stance::Concede && argument.revision == Revision::NoChange;
    let conceding = log.debaters.iter().zip(&round.arguments);
    let conceding = conceding.filter(|(_, argument)| argument.as_ref().is_some_and(is_empty_concession));
    warnings.extend(conceding.map(|(debater, _)| {
        format!("round {}: {} concedes but changes nothing", round.number, debater.name)
    }));
    warnings
}

/// A warning about the first round in which the moderator's advice contradicts its own scores. In the last round the advice no longer
/// matters.
fn contradiction(log: &DeepLog<'_>) -> Option<String> {
    let mut earlier = log.counted().filter(|round| round.number < log.rounds_completed());
    let (number, assessment) = earlier.find_map(|round| {
        Some((round.number, round.assessment.as_ref().filter(|assessment| assessment.should_stop)?))
    })?;
    let why = match log.meets_thresholds(assessment) {
        true => "min_rounds is not reached",
        false => "its own scores do not reach the thresholds",
    };
    Some(format!("round {number}: the moderator would stop, but {why}"))
}

/// A warning if the moderator's agreement score contradicts the groups.
fn contradicted_score(log: &DeepLog<'_>, round: &DeepRound, held: &RoundPositions) -> Option<String> {
    let score = round.assessment.as_ref()?.agreement_score;
    let groups = held.is_sorted().then(|| held.distinct().len())?;
    let what = match (log.is_agreement(score), groups) {
        (true, 2..) => format!("the debaters hold {groups} positions"),
        (false, 1) => "all debaters hold one position".to_owned(),
        _ => return None,
    };
    Some(format!("round {}: the moderator scores the agreement {score:.2}, but {what}", round.number))
}
