//! How `ask` ends: the verdict, with each step's reason and cost, and what became of every first answer.

use std::collections::BTreeMap;

use agon_core::{
    Corrupt, Debate, Fate, Fidelity, Outcome, PhaseTurn, PositionFate, Status, Step, Termination,
};
use serde::{Deserialize, Serialize};

use super::AskPhase;
use super::asks::labelled;
use super::decision::{
    AgreementRisk, AnswerBasis, AskDecision, NeverWorseCheck, PanelRuling, agreement_risk, decide,
};
use super::first_answers::{FirstAnswer, PairAgreement};
use super::ladder::{AskLadder, LadderStep};
use super::open_points;
use super::parts::with_whole_limits;
use crate::deep::verdict::DeepVerdict;
use crate::panel::verdict::PanelVerdict;
use crate::participation::{answered_calls, cut_off_warnings, shortened_warnings};

/// The verdict of `ask`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskVerdict {
    /// Null if nothing was decided.
    pub answer: Option<String>,
    pub why: Option<String>,
    pub decided_by: Option<AnswerBasis>,
    /// The name of the answer's position, if a seat held it.
    pub position: Option<String>,
    /// The steps that were taken.
    pub steps: Vec<StepReport>,
    /// The first answers.
    pub answers: Vec<FirstAnswerReport>,
    /// What is still in dispute.
    pub contested: Vec<String>,
    /// If the first two agree: how often they were wrong in earlier debates in which they agreed.
    pub risk: Option<AgreementRisk>,
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
    pub verdict: StepVerdict,
    /// What the panel's verdict means for the answer. Only the panel's step has this field, and it may be null there.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "nullable_field")]
    pub ruling: Option<Option<PanelRuling>>,
}

/// Tells a field that is null from one that is missing: `Some(None)` and `None`.
mod nullable_field {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::<T>::deserialize(deserializer).map(Some)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StepVerdict {
    Pair(PairVerdict),
    Deep(Box<DeepVerdict>),
    Panel(Box<PanelVerdict>),
}

/// Whether the first two answers agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairVerdict {
    /// Null if there was nothing to compare.
    pub agreed: Option<bool>,
    pub by: Option<AgreementSource>,
    /// What differs.
    pub differences: Vec<String>,
}

/// How it is known whether two answers agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgreementSource {
    /// The answers are equal or contradict each other, so no seat was asked.
    Arithmetic,
    /// Both seats say that they are the same.
    BothSaySo,
    /// A seat says that they differ.
    Comparison,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstAnswerReport {
    pub label: Option<String>,
    pub seat: String,
    pub answer: String,
    pub why: String,
    pub confidence: f64,
    /// The name of the answer's position. Equal answers have the same name.
    pub position: String,
}

/// A minority answer.
#[derive(Serialize)]
struct AskDissent<'a> {
    debater: Option<&'a str>,
    seat: &'a str,
    position: &'a str,
    reason: &'a str,
}

/// Closes the debate.
pub(super) fn close(ladder: &AskLadder<'_>) -> Result<Step, Corrupt> {
    let decision = decide(ladder);
    let (status, termination) = ending(ladder, &decision);
    let labels = labels(ladder);
    let positions = positions(ladder, &decision, &labels);
    let whole = ladder.debate.absences().next().is_none()
        && cut_off_warnings(ladder.debate).is_empty()
        && ladder.stopped.is_none()
        && parts(ladder).all(|(_, outcome)| outcome.fidelity == Fidelity::Full)
        && status == Status::Complete;
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let dissent = minority.map(|position| AskDissent {
        debater: position.label.as_deref(),
        seat: &position.seat,
        position: &position.position,
        reason: &position.reason,
    });
    let dissent = dissent.map(serde_json::to_value).collect::<Result<_, _>>()?;
    Ok(Step::Close(Box::new(Outcome {
        status,
        termination,
        rounds_completed: parts(ladder).map(|(_, outcome)| outcome.rounds_completed).sum(),
        verdict: serde_json::to_value(verdict(ladder, decision.clone(), &labels))?,
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(ladder, &decision),
        labels,
        positions,
        passed: None,
        lesson: None,
    })))
}

/// The debate and the panel, if they were held.
fn parts<'c>(ladder: &'c AskLadder<'_>) -> impl Iterator<Item = (&'c Debate, &'c Outcome)> {
    let deep = ladder.deep.as_ref().map(|part| (&part.debate, &part.outcome));
    let panel = ladder.panel.as_ref().map(|part| (&part.debate, &part.outcome));
    deep.into_iter().chain(panel)
}

/// The status of the last step that was completed, and why the ladder ended there.
fn ending(ladder: &AskLadder<'_>, decision: &AskDecision) -> (Status, Termination) {
    let panel = ladder.panel.as_ref().map(|part| &part.outcome);
    let ruled = panel.filter(|outcome| outcome.status == Status::Complete);
    match (ladder.deep_outcome(), ruled) {
        _ if decision.basis == Some(AnswerBasis::Agreement) => (Status::Complete, Termination::Consensus),
        (_, Some(panel)) => (Status::Complete, panel.termination),
        (Some(deep), None) => (deep.status, deep.termination),
        (None, None) => (Status::Incomplete, Termination::Budget),
    }
}

/// The anonymous labels, each with its seat.
fn labels(ladder: &AskLadder<'_>) -> BTreeMap<String, String> {
    match ladder.deep_outcome() {
        Some(deep) => deep.labels.clone(),
        None => {
            let pair = labelled(ladder.debate, &ladder.firsts);
            pair.into_iter().map(|(label, first)| (label.to_owned(), first.seat.to_owned())).collect()
        }
    }
}

fn label_of<'l>(labels: &'l BTreeMap<String, String>, seat: &str) -> Option<&'l String> {
    labels.iter().find(|(_, labelled)| *labelled == seat).map(|(label, _)| label)
}

fn verdict(ladder: &AskLadder<'_>, decision: AskDecision, labels: &BTreeMap<String, String>) -> AskVerdict {
    let agreed = decision.basis == Some(AnswerBasis::Agreement);
    let answer = |first: &FirstAnswer<'_>| FirstAnswerReport {
        label: label_of(labels, first.seat).cloned(),
        seat: first.seat.to_owned(),
        answer: first.reply.answer.trim().to_owned(),
        why: first.reply.why.trim().to_owned(),
        confidence: first.reply.confidence,
        position: first.position.clone(),
    };
    AskVerdict {
        steps: steps(ladder, &decision),
        answers: ladder.firsts.all.iter().map(answer).collect(),
        contested: contested(ladder),
        risk: agreed.then(|| agreement_risk(ladder.debate)).flatten(),
        answer: decision.answer,
        why: decision.why,
        decided_by: decision.basis,
        position: decision.position,
        never_worse: decision.never_worse,
    }
}

/// What is still in dispute between the debaters, or between the first two if there was no debate.
fn contested(ladder: &AskLadder<'_>) -> Vec<String> {
    match (&ladder.deep, &ladder.firsts.agreement) {
        (Some(deep), _) => open_points::contested(&deep.verdict),
        (None, PairAgreement::Divided(reasons)) => reasons.clone(),
        (None, _) => Vec::new(),
    }
}

fn steps(ladder: &AskLadder<'_>, decision: &AskDecision) -> Vec<StepReport> {
    let debate = ladder.debate;
    let pair = StepVerdict::Pair(pair_verdict(ladder));
    let mut steps = vec![step(debate, LadderStep::Pair, why_pair(debate), None, pair)];
    if let Some(deep) = &ladder.deep {
        let verdict = StepVerdict::Deep(Box::new(deep.verdict.clone()));
        let reason = why_deep(&ladder.firsts.agreement);
        steps.push(step(debate, LadderStep::Deep, reason, Some(deep.outcome.termination), verdict));
    }
    if let Some(panel) = &ladder.panel {
        let verdict = StepVerdict::Panel(Box::new(panel.verdict.clone()));
        let reason = ladder.why_panel().unwrap_or_default();
        let judged = step(debate, LadderStep::Panel, reason, Some(panel.outcome.termination), verdict);
        steps.push(StepReport { ruling: Some(decision.ruling.clone()), ..judged });
    }
    steps
}

fn step(
    debate: &Debate,
    step: LadderStep,
    reason: String,
    termination: Option<Termination>,
    verdict: StepVerdict,
) -> StepReport {
    let is_of_step = |turn: &PhaseTurn| LadderStep::of(&turn.phase.name) == step;
    // A branch also counts the phases that it copied, because its answer rests on them.
    let spent = debate.spent_where(is_of_step);
    StepReport {
        step,
        reason,
        calls: answered_calls(debate.turns.iter().filter(|turn| is_of_step(turn))),
        input_tokens: spent.input_tokens,
        output_tokens: spent.output_tokens,
        usd: spent.usd_known.then_some(spent.usd),
        termination,
        verdict,
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
        PairAgreement::Divided(reasons) => format!("the two answers differ: {}", reasons.join("; ")),
        PairAgreement::Same | PairAgreement::Open | PairAgreement::Declared => {
            "the two answers differ".to_owned()
        }
    }
}

fn pair_verdict(ladder: &AskLadder<'_>) -> PairVerdict {
    let is_compared = ladder.debate.turn(AskPhase::Compare.as_str(), 0).is_some();
    let (agreed, by, differences) = match &ladder.firsts.agreement {
        PairAgreement::Same => (Some(true), Some(AgreementSource::Arithmetic), Vec::new()),
        PairAgreement::Declared => (Some(true), Some(AgreementSource::BothSaySo), Vec::new()),
        PairAgreement::Divided(reasons) if is_compared => {
            (Some(false), Some(AgreementSource::Comparison), reasons.clone())
        }
        PairAgreement::Divided(reasons) => (Some(false), Some(AgreementSource::Arithmetic), reasons.clone()),
        PairAgreement::Missing(_) | PairAgreement::Open => (None, None, Vec::new()),
    };
    PairVerdict { agreed, by, differences }
}

/// The model that gives both first answers, if only one model is named.
fn one_model(debate: &Debate) -> Option<&str> {
    let mut models = debate.brief.seats_of("debater").map(|seat| seat.model.as_str());
    let (one, other) = (models.next()?, models.next()?);
    (one == other).then_some(one)
}

/// What became of every first answer. The debate says which ones were given up. The decision says the rest.
fn positions(
    ladder: &AskLadder<'_>,
    decision: &AskDecision,
    labels: &BTreeMap<String, String>,
) -> Vec<PositionFate> {
    let fates = ladder.firsts.all.iter().map(|first| {
        let deep = ladder.deep_outcome();
        let debated = deep.and_then(|deep| deep.positions.iter().find(|fate| fate.seat == first.seat));
        let (fate, reason) = fate(ladder, decision, first, debated);
        PositionFate {
            seat: first.seat.to_owned(),
            label: label_of(labels, first.seat).cloned(),
            position: first.reply.shown(),
            fate,
            reason,
        }
    });
    fates.collect()
}

fn fate(
    ladder: &AskLadder<'_>,
    decision: &AskDecision,
    first: &FirstAnswer<'_>,
    debated: Option<&PositionFate>,
) -> (Fate, String) {
    let is_decided = decision.position.as_deref() == Some(first.position.as_str());
    match (decision.basis, debated) {
        (None, _) => (Fate::Minority, "there is no verdict that could adopt it".to_owned()),
        (Some(AnswerBasis::Agreement), _) if ladder.firsts.agreement == PairAgreement::Same => {
            (Fate::Adopted, "both gave the same answer".to_owned())
        }
        (Some(AnswerBasis::Agreement), _) => {
            (Fate::Adopted, "both say that their answers are the same".to_owned())
        }
        (Some(AnswerBasis::FirstRoundVote), _) if is_decided => {
            (Fate::Adopted, "it won the vote on the first answers".to_owned())
        }
        (_, Some(debated)) if debated.fate == Fate::Refuted => (Fate::Refuted, debated.reason.clone()),
        (Some(AnswerBasis::FirstRoundVote), _) => {
            (Fate::Minority, "the vote on the first answers went against it".to_owned())
        }
        (_, _) if is_decided => (Fate::Adopted, "it is the answer, in substance".to_owned()),
        (_, Some(debated)) if debated.fate == Fate::Minority && decision.position.is_some() => {
            (Fate::Minority, "held to the end; the answer is another one".to_owned())
        }
        (_, Some(debated)) => (debated.fate, debated.reason.clone()),
        (_, None) => (Fate::Minority, "the debate did not take it up".to_owned()),
    }
}

/// The warnings of the ladder itself, then those of its parts.
fn warnings(ladder: &AskLadder<'_>, decision: &AskDecision) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(model) = one_model(ladder.debate) {
        warnings.push(format!("both first answers are from {model}: its agreement with itself shows little"));
    }
    if let Some(limit) = &ladder.stopped {
        let step = match ladder.deep {
            Some(_) => "no panel judged what still divides",
            None => "the two answers were not debated",
        };
        warnings.push(format!("{step}, because a limit was reached: {limit}"));
    }
    warnings.extend(decision.notes.iter().cloned());
    let first_step = first_step(ladder);
    warnings.extend(cut_off_warnings(&first_step).into_iter().chain(shortened_warnings(&first_step)));
    let whole = &ladder.debate.brief.limits;
    if let Some(deep) = &ladder.deep {
        let limits = &deep.debate.brief.limits;
        let warned = deep.outcome.warnings.iter();
        warnings.extend(warned.map(|warning| with_whole_limits(warning, limits, whole)));
    }
    if let Some(panel) = &ladder.panel {
        let limits = &panel.debate.brief.limits;
        let warned = panel.outcome.warnings.iter();
        warnings
            .extend(warned.map(|warning| format!("panel: {}", with_whole_limits(warning, limits, whole))));
    }
    warnings
}

/// The debate with only those phases of the first step that no part contains.
fn first_step(ladder: &AskLadder<'_>) -> Debate {
    let mut first_step = ladder.debate.clone();
    let is_debated = ladder.deep.is_some();
    first_step.turns.retain(|turn| match AskPhase::parse(&turn.phase.name) {
        Some(AskPhase::Compare) => true,
        Some(AskPhase::Answer) => !is_debated,
        _ => false,
    });
    first_step
}
