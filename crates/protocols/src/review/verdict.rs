//! How `review` ends: the ruling, the verdict document, and what became of every first verdict. No model takes part in it.

use std::collections::BTreeMap;

use agon_core::view::absence_words;
use agon_core::wording::{counted, joined};
use agon_core::{Corrupt, Fate, Fidelity, Outcome, PositionFate, Status, Step, Termination};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::findings::{holds_finding, is_misplaced, merged_findings};
use super::log::{ReviewJudge, ReviewLog};
use super::packet;
use super::replies::{FirstVerdict, JudgeVerdict};
use super::report::non_empty;
use super::seats::vendor;
use super::{ReviewFailOn, ReviewMode, ReviewPhase};
use crate::participation::{self, cut_off_warnings, judges_quorum, shortened_warnings};

/// The verdict of `review`, as the outcome carries it.
#[derive(Serialize)]
struct ReviewVerdict<'l> {
    /// The ruling; null in modes without verdicts, and when too few judges were heard.
    verdict: Option<ReviewRuling>,
    mode: ReviewMode,
    /// A short name for what was judged.
    target: String,
    /// The files that were judged.
    paths: Vec<&'l str>,
    /// What the judges came to in validate mode, or what each of them answered in the other modes.
    #[serde(flatten)]
    result: Value,
    /// How many were heard in each round.
    footer: String,
}

agon_core::option_words! {
    /// The ruling of a review.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum ReviewRuling {
        /// All verdicts are PASS.
        Pass = "PASS",
        /// Some are WARN, none is FAIL.
        Warn = "WARN",
        /// Some are FAIL.
        Fail = "FAIL",
        /// One provider's judges say PASS and another's FAIL: the user decides.
        Disagree = "DISAGREE",
    }
}

impl ReviewRuling {
    /// Whether it passes the gate.
    pub fn passes(self, fail_on: ReviewFailOn) -> bool {
        match self {
            Self::Pass => true,
            Self::Warn => fail_on == ReviewFailOn::Fail,
            Self::Fail | Self::Disagree => false,
        }
    }
}

impl From<JudgeVerdict> for ReviewRuling {
    fn from(verdict: JudgeVerdict) -> Self {
        match verdict {
            JudgeVerdict::Pass => Self::Pass,
            JudgeVerdict::Warn => Self::Warn,
            JudgeVerdict::Fail => Self::Fail,
        }
    }
}

/// Whether the verdicts of round 1 are all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewBranch {
    Agreed,
    Disagreed,
}

/// The round whose verdict counts for a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedRound {
    R1 = 1,
    R2 = 2,
}

/// Who had to be heard in round 1 before PASS or WARN is the ruling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewQuorum {
    /// How many judges had to give a verdict.
    pub needed: usize,
    /// How many did.
    pub heard: usize,
    /// The vendors of which no judge did.
    pub missing_vendors: Vec<String>,
    /// Whether `--mixed` asked for a second vendor and none was heard.
    pub unmixed: bool,
}

impl ReviewQuorum {
    pub(super) fn of(log: &ReviewLog<'_>) -> Self {
        let needed = log.options.quorum.unwrap_or_else(|| judges_quorum(log.judges.len()));
        let mut missing_vendors: Vec<String> = Vec::new();
        for named in log.judges.iter().map(|judge| vendor(&judge.seat.model)) {
            let is_heard = log.survivors().any(|judge| vendor(&judge.seat.model) == named);
            if !is_heard && !missing_vendors.iter().any(|other| other == named) {
                missing_vendors.push(named.to_owned());
            }
        }
        // A fallback chain can end at the first vendor.
        let is_second = |judge: &ReviewJudge<'_>| {
            judge.mixed && log.survivors().all(|other| other.mixed || other.vendor != judge.vendor)
        };
        let unmixed = log.judges.iter().any(|judge| judge.mixed) && !log.survivors().any(is_second);
        Self { needed, heard: log.survivors().count(), missing_vendors, unmixed }
    }

    /// Whether a ruling stands. FAIL and DISAGREE do with any number of judges, so that the gate fails safe.
    fn allows(&self, ruling: ReviewRuling) -> bool {
        let is_reached = self.heard >= self.needed && self.missing_vendors.is_empty();
        !self.unmixed && (is_reached || matches!(ruling, ReviewRuling::Fail | ReviewRuling::Disagree))
    }

    /// Why there is no ruling.
    pub(super) fn sentence(&self, judges: usize) -> String {
        let Self { needed, heard, missing_vendors, unmixed } = self;
        if *unmixed {
            return "no judge of the second vendor gave a verdict, so this review is not mixed".into();
        }
        if heard < needed {
            let judges = counted(judges as u64, "judge");
            return format!("{heard} of {judges} gave a verdict, and PASS or WARN needs {needed}");
        }
        format!("no judge of {} gave a verdict, and PASS or WARN needs one", joined(missing_vendors))
    }
}

/// The result of all judges of one vendor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VendorVerdict {
    pub vendor: String,
    /// The worst verdict of its judges.
    pub verdict: JudgeVerdict,
}

/// Closes the debate.
pub(super) fn close(log: &ReviewLog<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(log);
    let decided = decided(log);
    let positions = fates(log, decided);
    let rounds = [log.survivors().count(), log.revised().count()];
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: rounds.iter().map(|heard| u32::from(*heard > 0)).sum(),
        verdict: serde_json::to_value(verdict(log))?,
        dissent: dissent(log, &positions),
        fidelity: fidelity(log),
        warnings: warnings(log, termination),
        labels: BTreeMap::new(),
        positions,
        passed: decided.map(|ruling| ruling.passes(log.options.fail_on)),
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

fn ending(log: &ReviewLog<'_>) -> (Termination, Status) {
    let is_cut = log.debate.turns.iter().any(|turn| log.limits().cut_short(turn));
    let is_heard = log.survivors().next().is_some();
    let is_decided = is_heard && (!log.options.is_validation() || decided(log).is_some());
    match (is_decided, is_cut) {
        (true, _) if is_cut || second_round_was_skipped(log) => (Termination::Budget, Status::Complete),
        (true, _) => (Termination::AllRoundsComplete, Status::Complete),
        (false, true) => (Termination::Budget, Status::Incomplete),
        (false, false) if is_heard => (Termination::QuorumLost, Status::Incomplete),
        (false, false) => (Termination::Failed, Status::Failed),
    }
}

/// Whether a limit left no room for the second verdicts, although there were judges to give them.
fn second_round_was_skipped(log: &ReviewLog<'_>) -> bool {
    let has_phase = |phase: ReviewPhase| log.debate.turn(phase.as_str(), 2).is_some();
    log.has_second_round()
        && !has_phase(ReviewPhase::SecondVerdict)
        && (!has_phase(ReviewPhase::Restate) || log.restated().next().is_some())
}

fn fidelity(log: &ReviewLog<'_>) -> Fidelity {
    let (termination, status) = ending(log);
    let is_whole = termination != Termination::Budget && status == Status::Complete;
    participation::fidelity(log.debate, is_whole)
}

/// The worst verdict of each vendor, in the order of their first judges.
pub(super) fn by_vendor<'l>(
    log: &ReviewLog<'l>,
    verdict: impl Fn(&ReviewJudge<'l>) -> Option<JudgeVerdict>,
) -> Vec<VendorVerdict> {
    let mut vendors: Vec<VendorVerdict> = Vec::new();
    for (judge, verdict) in log.judges.iter().filter_map(|judge| Some((judge, verdict(judge)?))) {
        match vendors.iter_mut().find(|own| own.vendor == judge.vendor) {
            Some(own) => own.verdict = own.verdict.max(verdict),
            None => vendors.push(VendorVerdict { vendor: judge.vendor.clone(), verdict }),
        }
    }
    vendors
}

/// "All PASS: PASS; any FAIL: FAIL; else WARN", and vendors that contradict each other DISAGREE. `None` without verdicts, or where too few
/// judges were heard.
fn consolidated(log: &ReviewLog<'_>, vendors: &[VendorVerdict]) -> Option<ReviewRuling> {
    let has = |verdict: JudgeVerdict| vendors.iter().any(|own| own.verdict == verdict);
    let ruling = match has(JudgeVerdict::Pass) && has(JudgeVerdict::Fail) {
        true => ReviewRuling::Disagree,
        false => vendors.iter().map(|own| own.verdict).max()?.into(),
    };
    ReviewQuorum::of(log).allows(ruling).then_some(ruling)
}

/// The ruling on the verdicts that count.
pub(super) fn decided(log: &ReviewLog<'_>) -> Option<ReviewRuling> {
    consolidated(log, &by_vendor(log, ReviewJudge::counted_verdict))
}

/// The same for the verdicts of round 1 alone.
pub(super) fn first_decided(log: &ReviewLog<'_>) -> Option<ReviewRuling> {
    consolidated(log, &by_vendor(log, ReviewJudge::first_verdict))
}

fn verdict<'l>(log: &'l ReviewLog<'_>) -> ReviewVerdict<'l> {
    ReviewVerdict {
        verdict: decided(log),
        mode: log.options.mode,
        target: packet::slug(log.brief()),
        paths: log.packet().paths().collect(),
        result: match log.options.is_validation() {
            true => judged_result(log),
            false => json!({"answers": log.survivors().map(named_answer).collect::<Vec<_>>()}),
        },
        footer: footer(log),
    }
}

fn footer(log: &ReviewLog<'_>) -> String {
    let (judges, heard, revised) = (log.judges.len(), log.survivors().count(), log.revised().count());
    format!("{heard}/{judges} R1, {revised}/{heard} R2, fidelity {}", fidelity(log).as_str())
}

/// The answer of a judge in round 1, as it gave it, with its name in front.
fn named_answer(judge: &ReviewJudge<'_>) -> Map<String, Value> {
    let mut answer = judge.answer.and_then(Value::as_object).cloned().unwrap_or_default();
    answer.shift_insert(0, "judge".to_owned(), judge.seat.id.clone().into());
    answer
}

/// The same for another judge: with the ids of its findings, and a mark where a location does not verify.
pub(super) fn shown_answer(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> Map<String, Value> {
    let mut shown = named_answer(judge);
    let findings = shown.get_mut("findings").and_then(Value::as_array_mut).into_iter().flatten();
    for (finding, raised) in findings.filter_map(Value::as_object_mut).zip(log.shown_findings(judge, true)) {
        finding.shift_insert(0, "id".to_owned(), Value::from(raised.id.as_str()));
        if is_misplaced(log, &raised.finding) {
            finding.insert("unverified".to_owned(), Value::Bool(true));
        }
    }
    shown
}

/// The footer for a reader. Without a second round its count looks like a failure, so it says why.
pub(super) fn footer_line(log: &ReviewLog<'_>) -> String {
    let note = if log.options.has_debate() { "" } else { " (no second round)" };
    format!("{}{note}", footer(log))
}

/// The result in validate mode. Findings are those of both rounds, each once, the most severe first.
fn judged_result(log: &ReviewLog<'_>) -> Value {
    let second = log.debate.turn(ReviewPhase::SecondVerdict.as_str(), 2);
    let recommendation = |(judge, words): (&str, String)| json!({"judge": judge, "recommendation": words});
    json!({
        "fail_on": log.options.fail_on,
        "debate": log.options.debate,
        "branch": log.branch().filter(|_| second.is_some()),
        "quorum": ReviewQuorum::of(log),
        "judges": log.judges.iter().map(|judge| judge_record(log, judge)).collect::<Vec<_>>(),
        "vendors": by_vendor(log, ReviewJudge::counted_verdict),
        "findings": merged_findings(log),
        "shifts": log.judges.iter().filter_map(shift).collect::<Vec<_>>(),
        "recommendations": recommendations(log).map(recommendation).collect::<Vec<_>>(),
    })
}

/// What the judges recommend in the verdicts that count.
pub(super) fn recommendations<'l>(log: &'l ReviewLog<'_>) -> impl Iterator<Item = (&'l str, String)> {
    log.judges.iter().filter_map(|judge| {
        let (_, counted) = judge.counted()?;
        Some((judge.seat.id.as_str(), non_empty(&counted.recommendation)?))
    })
}

/// A judge and its verdicts: its answers as it gave them, and which of them counts.
fn judge_record(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> Value {
    json!({
        "judge": judge.seat.id,
        "seat": judge.seat.id,
        "vendor": judge.vendor,
        "perspective": judge.perspective.as_ref().map(|perspective| &perspective.name),
        "mixed": judge.mixed,
        "r1": judge.answer,
        "r2": log.second_answer(judge),
        "weak_flip": judge.is_weak_flip(),
        "reverted": judge.is_reverted,
        "without_finding": is_without_finding(log, judge),
        "used": judge.counted().map(|(round, _)| round),
        "verdict": judge.counted_verdict(),
        "note": note(log, judge),
    })
}

/// What a reader should know of a judge's verdict.
pub(super) fn note(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> Option<String> {
    let missed = |phase: ReviewPhase| log.absence(phase, &judge.seat.id).map(absence_words);
    if let Some(why) = missed(ReviewPhase::FirstVerdict) {
        return Some(format!("no R1 verdict ({why}), so no R2 for it"));
    }
    let second = missed(ReviewPhase::Restate).or_else(|| missed(ReviewPhase::SecondVerdict));
    let fallback = second.map(|why| format!("no R2 ({why}): its R1 verdict is used"));
    fallback.or_else(|| judge.change_words())
}

/// Whether a judge's verdict is WARN or FAIL and it names nothing that is wrong.
pub(super) fn is_without_finding(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> bool {
    judge.counted_verdict().is_some_and(|verdict| verdict != JudgeVerdict::Pass)
        && !holds_finding(log, judge, judge.second.as_ref())
}

/// The verdicts of a judge that had a second round, and why they differ if they do.
fn shift(judge: &ReviewJudge<'_>) -> Option<Value> {
    Some(json!({
        "judge": judge.seat.id,
        "r1": judge.first_verdict()?,
        "r2": judge.second.as_ref()?.now.verdict,
        "changed": judge.change().is_some(),
        "because": judge.changed_because(),
        "weak_flip": judge.is_weak_flip(),
        "reverted": judge.is_reverted,
    }))
}

/// What became of every answer of round 1.
fn fates(log: &ReviewLog<'_>, ruling: Option<ReviewRuling>) -> Vec<PositionFate> {
    let fate = |judge: &ReviewJudge<'_>| {
        let insight = || judge.answer?.get("key_insight")?.as_str();
        let (position, (fate, reason)) = match &judge.first {
            Some(first) => (held(first), fate(judge, first, ruling)),
            None => {
                (insight()?.trim().to_owned(), (Fate::Adopted, "all answers are in the result".to_owned()))
            }
        };
        Some(PositionFate { seat: judge.seat.id.clone(), label: None, position, fate, reason })
    };
    log.judges.iter().filter_map(fate).collect()
}

fn held(said: &FirstVerdict) -> String {
    format!("{}: {}", said.verdict.as_str(), said.key_insight.trim())
}

fn fate(judge: &ReviewJudge<'_>, first: &FirstVerdict, ruling: Option<ReviewRuling>) -> (Fate, String) {
    let Some(ruling) = ruling else { return (Fate::NotSettled, "there is no verdict".into()) };
    if ruling == ReviewRuling::Disagree {
        return (Fate::Minority, "the providers disagree, and the user decides".into());
    }
    let is_ruling = |said: &FirstVerdict| ReviewRuling::from(said.verdict) == ruling;
    let fate = match (is_ruling(first), judge.last().is_some_and(is_ruling)) {
        (true, _) => Fate::Adopted,
        (false, true) => Fate::Refuted,
        (false, false) => Fate::Minority,
    };
    (fate, judge.change_words().unwrap_or_else(|| format!("the verdict is {}", ruling.as_str())))
}

/// The verdicts that are not the ruling, as their judges hold them at the end. Whoever left the ruling dissents from it, too.
fn dissent(log: &ReviewLog<'_>, positions: &[PositionFate]) -> Vec<Value> {
    let entry = |position: &PositionFate| {
        let judge = log.judge(&position.seat)?;
        let is_dissent = match position.fate {
            Fate::Adopted => judge.change().is_some() && !judge.is_reverted,
            fate => fate == Fate::Minority,
        };
        let (seat, last) = (&position.seat, judge.last().filter(|_| is_dissent)?);
        Some(json!({"judge": seat, "seat": seat, "position": held(last), "reason": position.reason}))
    };
    positions.iter().filter_map(entry).collect()
}

fn warnings(log: &ReviewLog<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = round_warnings(log, termination);
    let weak = log.judges.iter().filter(|judge| judge.is_weak_flip());
    warnings.extend(weak.filter_map(|judge| Some(format!("{}: {}", judge.seat.id, judge.change_words()?))));
    if log.survivors().next().is_some() && log.options.is_validation() && decided(log).is_none() {
        let why = ReviewQuorum::of(log).sentence(log.judges.len());
        warnings.push(format!("there is no verdict: {why}"));
    }
    for judge in log.judges.iter().filter(|judge| is_without_finding(log, judge)) {
        let verdict = judge.counted_verdict().map_or("", JudgeVerdict::as_str);
        warnings.push(format!("{} counts as {verdict} and holds no finding", judge.seat.id));
    }
    warnings.extend(convergence_warning(log));
    if log.options.strict_anchoring && !log.options.has_debate() {
        warnings.push("strict_anchoring does nothing without debate: there is no round 2".into());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    warnings
}

/// Why round 2 is missing, and which limit was reached.
fn round_warnings(log: &ReviewLog<'_>, termination: Termination) -> Vec<String> {
    let (heard, nobody_revised) = (log.survivors().count(), log.revised().next().is_none());
    let is_cut = termination == Termination::Budget;
    // A round that has begun needs no more calls.
    let has_begun = log.debate.turn(ReviewPhase::SecondVerdict.as_str(), 2).is_some();
    let calls = if has_begun { 0 } else { log.second_calls() };
    let reached = if is_cut { log.limits().reached(calls) } else { None };
    let missing = match log.options.has_debate() {
        true if heard == 1 => Some("only one judge gave a verdict in round 1, so there was no round 2"),
        true if heard > 1 && log.revisers().next().is_none() => {
            Some("no judge of the first provider gave a verdict in round 1, so there was no round 2")
        }
        true if nobody_revised && is_cut && log.has_second_round() => {
            Some("there was no room for round 2: the verdicts of round 1 are used")
        }
        true if nobody_revised && log.debate.turns.iter().any(|turn| turn.phase.round == 2) => {
            Some("all judges failed in round 2: the verdict rests on round 1 only")
        }
        _ => None,
    };
    reached.into_iter().chain(missing.map(str::to_owned)).collect()
}

/// "R1 split and R2 unanimous": judges who differed in round 1 all say the same in round 2. A reverted verdict did not
/// converge.
fn convergence_warning(log: &ReviewLog<'_>) -> Option<String> {
    let mut seconds = log.revised().filter_map(ReviewJudge::counted_verdict);
    let (first, next) = (seconds.next()?, seconds.next()?);
    let has_converged = log.branch() == Some(ReviewBranch::Disagreed)
        && next == first
        && seconds.all(|verdict| verdict == first);
    let all = first.as_str();
    has_converged.then(|| {
        format!("convergence: the verdicts of round 1 differed, and all of round 2 are {all}: check what moved the judges")
    })
}
