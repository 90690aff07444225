//! How `ask` ends: the verdict, with each step's reason and cost, and what became of every first answer.

use agon_core::{
    Corrupt, Debate, DebateLimits, Fate, Fidelity, Outcome, PhaseTurn, PositionFate, Status, Step,
    Termination,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::AskPhase;
use super::decision::{AnswerBasis, AskDecision, NeverWorseCheck, PanelRuling, agreement_risk, decide};
use super::first_answers::PairAgreement;
use super::ladder::{AskLadder, LadderStep};
use super::open_points;
use super::parts::with_whole_limits;
use crate::clerk::{SortedBy, clerk_of, why_unsorted};
use crate::participation::{answered_calls, cut_off_warnings, fidelity, shortened_warnings};
use crate::poll::answers::SeatAnswer;

/// The verdict of `ask`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskVerdict {
    /// Null if nothing was decided.
    pub answer: Option<String>,
    pub why: Option<String>,
    pub decided_by: Option<AnswerBasis>,
    /// The name of the answer's position. Null if that is not known.
    pub position: Option<String>,
    /// The steps that were taken.
    pub steps: Vec<StepReport>,
    /// The first answers, each with the name of its position.
    pub answers: Vec<Value>,
    /// What is still in dispute.
    pub contested: Vec<String>,
    /// If the first two agree: how often they were wrong in earlier debates in which they agreed.
    pub risk: Option<Value>,
    /// Only with `--never-worse`.
    pub never_worse: Option<NeverWorseCheck>,
}

/// A step of the ladder: why it was taken, what it cost, how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    pub step: LadderStep,
    /// Why the step was taken.
    pub reason: String,
    /// How many calls were answered.
    pub calls: usize,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Null if a price is unknown.
    pub usd: Option<f64>,
    /// How the debate or the panel ended. Null for the first step.
    pub termination: Option<Termination>,
    /// The step's own verdict: whether the first two answers agree, or that of `deep` or `panel`.
    pub verdict: Value,
    /// What the panel's verdict means for the answer. Only the panel's step has this field, and only if the panel came to a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<PanelRuling>,
}

impl AskVerdict {
    /// What is reported of a step, if it was taken.
    pub(super) fn step(&self, step: LadderStep) -> Option<&StepReport> {
        self.steps.iter().find(|report| report.step == step)
    }
}

/// Closes the debate.
pub(super) fn close(ladder: &AskLadder<'_>) -> Result<Step, Corrupt> {
    let decision = decide(ladder);
    let (status, termination) = ending(ladder, &decision);
    let positions = positions(ladder, &decision);
    let is_whole = ladder.stopped.is_none()
        && parts(ladder).all(|outcome| outcome.fidelity == Fidelity::Full)
        && status == Status::Complete;
    Ok(Step::Close(Box::new(Outcome {
        status,
        termination,
        rounds_completed: parts(ladder).map(|outcome| outcome.rounds_completed).sum(),
        dissent: dissent(ladder, &decision, &positions),
        fidelity: fidelity(ladder.debate, is_whole),
        warnings: warnings(ladder, &decision),
        verdict: serde_json::to_value(verdict(ladder, decision))?,
        labels: ladder.deep.as_ref().map(|deep| deep.outcome.labels.clone()).unwrap_or_default(),
        positions,
        passed: None,
        lesson: None,
    })))
}

/// The dissent. Where the debate's answer stands, it is that of the debate. Else it is what every seat holds at the end that holds
/// another position than the answer's, whatever it held at first.
fn dissent(ladder: &AskLadder<'_>, decision: &AskDecision, positions: &[PositionFate]) -> Vec<Value> {
    if let Some(deep) = ladder.deep.as_ref().filter(|_| decision.basis.is_some_and(AnswerBasis::is_of_debate))
    {
        return deep.outcome.dissent.clone();
    }
    let is_by_vote = decision.basis == Some(AnswerBasis::FirstRoundVote);
    let is_dissent = |first: &&PositionFate| {
        let is_left = is_by_vote && holds_answer(ladder, decision, &first.seat) == Some(false);
        first.fate == Fate::Minority || is_left
    };
    let dissent = positions.iter().filter(is_dissent).map(|first| {
        let reason = if is_by_vote { AGAINST_VOTE } else { &first.reason };
        let (label, position) = (&first.label, last_words(ladder, first));
        json!({"debater": label, "seat": first.seat, "position": position, "reason": reason})
    });
    dissent.collect()
}

const AGAINST_VOTE: &str = "the vote on the first answers decided for another position";

/// Whether a seat holds the answer's position at the end. `None` if that is not known.
fn holds_answer(ladder: &AskLadder<'_>, decision: &AskDecision, seat: &str) -> Option<bool> {
    let last = ladder.history.rounds.last()?.of(seat).filter(|last| !last.is_unsorted)?;
    Some(decision.decided.name() == Some(&last.position))
}

/// A seat's position at the end, in its own words.
fn last_words<'w>(ladder: &'w AskLadder<'_>, first: &'w PositionFate) -> &'w str {
    let stances = ladder.deep.iter().flat_map(|deep| &deep.verdict.synthesis_input.final_stances);
    let own = stances.into_iter().find(|stance| first.label.as_ref() == Some(&stance.debater));
    own.map_or(&first.position, |stance| &stance.revised_position)
}

/// The outcomes of the debate and the panel, if they were held.
fn parts<'c>(ladder: &'c AskLadder<'_>) -> impl Iterator<Item = &'c Outcome> {
    let panel = ladder.panel.as_ref().map(|part| &part.outcome);
    ladder.deep.as_ref().map(|part| &part.outcome).into_iter().chain(panel)
}

/// The status of the last step that was completed, and why the ladder ended there.
fn ending(ladder: &AskLadder<'_>, decision: &AskDecision) -> (Status, Termination) {
    let panel = ladder.panel.as_ref().map(|part| &part.outcome);
    let ruled = panel.filter(|outcome| outcome.status == Status::Complete);
    match (ladder.deep.as_ref().map(|deep| &deep.outcome), ruled) {
        _ if decision.basis == Some(AnswerBasis::Agreement) => (Status::Complete, Termination::Consensus),
        (_, Some(panel)) => (Status::Complete, panel.termination),
        (Some(deep), None) => (deep.status, deep.termination),
        (None, None) => (Status::Incomplete, Termination::Budget),
    }
}

/// The anonymous label of a seat in the debate.
fn label_of(ladder: &AskLadder<'_>, seat: &str) -> Option<String> {
    let mut labels = ladder.deep.iter().flat_map(|deep| &deep.outcome.labels);
    labels.find(|(_, labelled)| *labelled == seat).map(|(label, _)| label.clone())
}

fn verdict(ladder: &AskLadder<'_>, decision: AskDecision) -> AskVerdict {
    let agreed = decision.basis == Some(AnswerBasis::Agreement);
    let answer = |SeatAnswer { seat, reply }: &SeatAnswer<'_>| {
        json!({
            "label": label_of(ladder, seat),
            "seat": seat,
            "answer": reply.answer.trim(),
            "why": reply.why.trim(),
            "analysis": reply.analysis.trim(),
            "confidence": reply.confidence,
            "position": first_position(ladder, seat),
        })
    };
    AskVerdict {
        steps: steps(ladder, &decision),
        answers: ladder.firsts.all.iter().map(answer).collect(),
        contested: contested(ladder),
        risk: agreed.then(|| agreement_risk(ladder.debate)).flatten(),
        answer: decision.answer,
        why: decision.why,
        decided_by: decision.basis,
        position: decision.decided.name().map(str::to_owned),
        never_worse: decision.never_worse,
    }
}

/// The name of the position that a seat held at first.
fn first_position<'l>(ladder: &'l AskLadder<'_>, seat: &str) -> &'l str {
    let held = ladder.history.rounds.first().and_then(|round| round.of(seat));
    held.map_or("", |held| &held.position)
}

/// What is still in dispute between the debaters, or between the first two if there was no debate.
fn contested(ladder: &AskLadder<'_>) -> Vec<String> {
    match (&ladder.deep, &ladder.firsts.agreement) {
        (Some(deep), _) => open_points::contested(&deep.verdict),
        (None, PairAgreement::Different(_, statements)) => statements.to_vec(),
        (None, _) => Vec::new(),
    }
}

fn steps(ladder: &AskLadder<'_>, decision: &AskDecision) -> Vec<StepReport> {
    let debate = ladder.debate;
    let mut steps = vec![StepReport {
        verdict: pair_verdict(ladder),
        ..step(debate, LadderStep::Pair, why_pair(debate), None)
    }];
    steps.extend(
        ladder.deep.as_ref().map(|deep| {
            step(debate, LadderStep::Deep, why_deep(&ladder.firsts.agreement), Some(&deep.outcome))
        }),
    );
    steps.extend(ladder.panel.as_ref().map(|panel| {
        let reason = ladder.why_panel().unwrap_or_default();
        let report = step(debate, LadderStep::Panel, reason, Some(&panel.outcome));
        StepReport { ruling: decision.ruling.clone(), ..report }
    }));
    steps
}

/// What a step cost, and what it came to if it is a debate of its own.
fn step(debate: &Debate, step: LadderStep, reason: String, ended: Option<&Outcome>) -> StepReport {
    let is_of_step = |turn: &PhaseTurn| step.has(&turn.phase);
    // A branch also counts the phases that it copied, because its answer rests on them.
    let spent = debate.spent_where(is_of_step);
    StepReport {
        step,
        reason,
        calls: answered_calls(debate.turns.iter().filter(|turn| is_of_step(turn))),
        input_tokens: spent.input_tokens,
        output_tokens: spent.output_tokens,
        usd: spent.usd_known.then_some(spent.usd),
        termination: ended.map(|outcome| outcome.termination),
        verdict: ended.map(|outcome| outcome.verdict.clone()).unwrap_or_default(),
        ruling: None,
    }
}

fn why_pair(debate: &Debate) -> String {
    match one_model(debate) {
        Some(model) => {
            format!("two answers are the fewest that can differ; only {model} is named, so it gives both")
        }
        None => "two different models are the fewest that can disagree".to_owned(),
    }
}

fn why_deep(agreement: &PairAgreement) -> String {
    match agreement {
        PairAgreement::Missing(absent) => {
            format!("there was nothing to compare: no answer came from {}", absent.join(" and "))
        }
        PairAgreement::Different(_, [one, other]) => {
            format!("the two answers differ: {one:?} and {other:?}")
        }
        PairAgreement::Same(_) | PairAgreement::Open | PairAgreement::Unknown => {
            "it is not known whether the two answers are the same".to_owned()
        }
    }
}

/// Whether the first two agree, how that is known, by which clerk, and what each of them says if they differ. `agreed` is null if there
/// was nothing to compare, or if it is not known.
fn pair_verdict(ladder: &AskLadder<'_>) -> Value {
    let (agreed, by, differences) = match &ladder.firsts.agreement {
        PairAgreement::Same(by) => (Some(true), Some(*by), &[][..]),
        PairAgreement::Different(by, statements) => (Some(false), Some(*by), &statements[..]),
        PairAgreement::Unknown => (None, Some(SortedBy::Unknown), &[][..]),
        PairAgreement::Missing(_) | PairAgreement::Open => (None, None, &[][..]),
    };
    json!({"agreed": agreed, "by": by, "clerk": clerk_of(ladder.debate), "differences": differences})
}

/// The model that gives both first answers, if only one model is named.
fn one_model(debate: &Debate) -> Option<&str> {
    let mut models = debate.brief.seats_of("debater").map(|seat| seat.model.as_str());
    let (one, other) = (models.next()?, models.next()?);
    (one == other).then_some(one)
}

/// What became of every first answer. The debate says which ones were given up. The decision says the rest.
fn positions(ladder: &AskLadder<'_>, decision: &AskDecision) -> Vec<PositionFate> {
    let fates = ladder.firsts.all.iter().map(|first| {
        let deep = ladder.deep.as_ref().map(|deep| &deep.outcome);
        let debated = deep.and_then(|deep| deep.positions.iter().find(|fate| fate.seat == first.seat));
        let (fate, reason) = fate(ladder, decision, first, debated);
        PositionFate {
            seat: first.seat.to_owned(),
            label: label_of(ladder, first.seat),
            position: first.reply.text(),
            fate,
            reason,
        }
    });
    fates.collect()
}

fn fate(
    ladder: &AskLadder<'_>,
    decision: &AskDecision,
    first: &SeatAnswer<'_>,
    debated: Option<&PositionFate>,
) -> (Fate, String) {
    let is_decided = decision.decided.name() == Some(first_position(ladder, first.seat));
    match (decision.basis, debated) {
        (None, _) => (Fate::Minority, "there is no verdict that could adopt it".to_owned()),
        (Some(AnswerBasis::Agreement), _) => (Fate::Adopted, "the first two answers agree".to_owned()),
        (Some(AnswerBasis::FirstRoundVote), debated) => {
            let given_up = debated.filter(|debated| debated.fate == Fate::Refuted);
            let given_up = given_up.map(|debated| debated.reason.clone());
            match (is_decided, holds_answer(ladder, decision, first.seat), given_up) {
                (true, Some(true) | None, _) => {
                    (Fate::Adopted, "it won the vote on the first answers".to_owned())
                }
                (_, _, Some(reason)) => (Fate::Refuted, reason),
                (true, _, None) | (false, Some(true), None) => {
                    (Fate::Refuted, "its holder left it in the debate".to_owned())
                }
                (false, _, None) => (Fate::Minority, AGAINST_VOTE.to_owned()),
            }
        }
        (_, Some(debated)) => (debated.fate, debated.reason.clone()),
        (_, None) => (Fate::NotSettled, "the debate did not take it up".to_owned()),
    }
}

/// The warnings of the ladder itself, then those of its parts.
fn warnings(ladder: &AskLadder<'_>, decision: &AskDecision) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(model) = one_model(ladder.debate) {
        warnings
            .push(format!("both first answers are from {model}, whose agreement with itself shows little"));
    }
    if let Some(limit) = &ladder.stopped {
        let step = match ladder.deep {
            Some(_) => "no panel judged what still divides",
            None => "the two answers were not debated",
        };
        warnings.push(format!("{step}, because {limit}"));
    }
    if ladder.firsts.agreement == PairAgreement::Unknown {
        let why = why_unsorted(ladder.debate);
        warnings.push(format!("it is not known whether the first two answers are the same, because {why}"));
    }
    warnings.extend(decision.notes.iter().cloned());
    let first_step = first_step(ladder);
    warnings.extend(cut_off_warnings(&first_step).into_iter().chain(shortened_warnings(&first_step)));
    let whole = &ladder.debate.brief.limits;
    let reworded = |warned: &[String], part: &DebateLimits, whose: &str| -> Vec<String> {
        let warned = warned.iter().map(|warning| with_whole_limits(warning, part, whole));
        warned.map(|warning| format!("{whose}{warning}")).collect()
    };
    let deep = ladder.deep.iter().flat_map(|deep| reworded(&deep.outcome.warnings, &deep.limits, ""));
    let panel = ladder.panel.iter();
    let panel = panel.flat_map(|panel| reworded(&panel.outcome.warnings, &panel.limits, "panel: "));
    warnings.extend(deep.chain(panel));
    warnings
}

/// The debate with only those phases of the first step that no part contains.
fn first_step(ladder: &AskLadder<'_>) -> Debate {
    let mut first_step = ladder.debate.clone();
    let is_debated = ladder.deep.is_some();
    first_step.turns.retain(|turn| match AskPhase::parse(&turn.phase.name) {
        Some(AskPhase::Clerk) => true,
        Some(AskPhase::Answer) => !is_debated,
        _ => false,
    });
    first_step
}
