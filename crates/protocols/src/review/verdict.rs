//! How `review` ends: the ruling, the verdict document, and what became of every first verdict. No model takes part in it.

use std::collections::BTreeMap;

use agon_core::view::absence_words;
use agon_core::wording::{counted, joined};
use agon_core::{
    AbsenceReason, Corrupt, Fate, Fidelity, Outcome, PhaseTurn, PositionFate, Status, Step, Termination,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::findings::{ReviewFinding, is_misplaced, merged_findings};
use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::packet;
use super::replies::{ChangeReason, FindingSeverity, FirstVerdict, JudgeVerdict, OtherStatus};
use super::seats::vendor;
use super::{ReviewFailOn, ReviewMode, ReviewPhase};
use crate::participation::{cut_off_warnings, judges_quorum, shortened_warnings};

/// The verdict of `review`, as the outcome carries it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewVerdict {
    /// The ruling; null in modes without verdicts, and when too few judges were heard.
    pub verdict: Option<ReviewRuling>,
    /// The mode.
    pub mode: ReviewMode,
    /// A short name for what was judged.
    pub target: String,
    /// The files that were judged.
    pub paths: Vec<String>,
    /// What the judges came to, in validate mode.
    #[serde(flatten)]
    pub judged: Option<JudgedResult>,
    /// What each judge answered, in the other modes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<JudgeAnswer>>,
    /// How many were heard in each round.
    pub footer: String,
}

/// The result in validate mode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedResult {
    /// The mildest ruling that fails the gate.
    pub fail_on: ReviewFailOn,
    /// Whether the user asked for a second round.
    pub debate: bool,
    /// Whether round 1 was unanimous; null without a second round.
    pub branch: Option<ReviewBranch>,
    /// How many judges had to be heard, and were.
    pub quorum: ReviewQuorum,
    /// The judges, in seat order.
    pub judges: Vec<JudgeRecord>,
    /// The result of each vendor, in the order of their first judges.
    pub vendors: Vec<VendorVerdict>,
    /// What was found in both rounds, each finding once, the most severe first.
    pub findings: Vec<ReviewFinding>,
    /// The judges that had a second round, and whether they changed their verdict.
    pub shifts: Vec<VerdictShift>,
    /// What the judges recommend in the verdicts that count.
    pub recommendations: Vec<JudgeRecommendation>,
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
        /// One vendor says PASS and another FAIL: the user decides.
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

/// What a judge answered, with its name in front.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeAnswer {
    pub judge: String,
    /// The fields of its answer, as it gave them.
    #[serde(flatten)]
    pub answer: Map<String, Value>,
}

impl JudgeAnswer {
    /// The answer of a judge in round 1.
    fn of(judge: &ReviewJudge<'_>) -> Self {
        let mut answer = judge.answer.and_then(Value::as_object).cloned().unwrap_or_default();
        answer.shift_remove("judge");
        Self { judge: judge.seat.id.clone(), answer }
    }

    /// The same for another judge: with the ids of its findings, and a mark where a location does not verify.
    pub(super) fn shown(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, raised: &[&RaisedFinding]) -> Self {
        let mut shown = Self::of(judge);
        let findings = shown.answer.get_mut("findings").and_then(Value::as_array_mut).into_iter().flatten();
        for (finding, raised) in findings.filter_map(Value::as_object_mut).zip(raised) {
            finding.shift_insert(0, "id".to_owned(), Value::from(raised.id.as_str()));
            if is_misplaced(log, &raised.finding) {
                finding.insert("unverified".to_owned(), Value::Bool(true));
            }
        }
        shown
    }
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
    fn of(log: &ReviewLog<'_>) -> Self {
        let needed = log.options.quorum.unwrap_or_else(|| judges_quorum(log.judges.len()));
        let mut missing_vendors: Vec<String> = Vec::new();
        for judge in &log.judges {
            let named = vendor(&judge.seat.model);
            let is_heard = log.survivors().any(|other| vendor(&other.seat.model) == named);
            if !is_heard && !missing_vendors.iter().any(|other| other == named) {
                missing_vendors.push(named.to_owned());
            }
        }
        // A fallback chain can end at the first vendor.
        let is_second = |judge: &&ReviewJudge<'_>| {
            judge.mixed && log.survivors().all(|other| other.mixed || other.vendor != judge.vendor)
        };
        let unmixed = log.judges.iter().any(|judge| judge.mixed) && log.survivors().find(is_second).is_none();
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
        match () {
            () if *unmixed => {
                "no judge of the second vendor gave a verdict, so this review is not mixed".into()
            }
            () if heard < needed => {
                let judges = counted(judges as u64, "judge");
                format!("{heard} of {judges} gave a verdict, and PASS or WARN needs {needed}")
            }
            () => {
                format!("no judge of {} gave a verdict, and PASS or WARN needs one", joined(missing_vendors))
            }
        }
    }
}

/// A judge and its verdicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeRecord {
    pub judge: String,
    pub seat: String,
    /// The provider of its model.
    pub vendor: String,
    /// What it looked at.
    pub perspective: Option<String>,
    /// Whether it is of the second vendor.
    pub mixed: bool,
    /// Its answer in round 1, as it gave it.
    pub r1: Option<Value>,
    /// Its answer in round 2, as it gave it.
    pub r2: Option<Value>,
    /// Whether it changed its verdict without evidence that could be verified.
    pub weak_flip: bool,
    /// Whether its verdict went back to round 1 for that.
    pub reverted: bool,
    /// Whether its verdict is WARN or FAIL and it holds no finding, neither its own nor one that it accepts.
    pub without_finding: bool,
    /// The round whose verdict counts.
    pub used: Option<CountedRound>,
    /// The verdict that counts.
    pub verdict: Option<JudgeVerdict>,
    /// What a reader should know of its verdict.
    pub note: Option<String>,
}

/// The result of all judges of one vendor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VendorVerdict {
    pub vendor: String,
    /// The worst verdict of its judges.
    pub verdict: JudgeVerdict,
}

/// The verdicts of a judge that had a second round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictShift {
    pub judge: String,
    pub r1: JudgeVerdict,
    pub r2: JudgeVerdict,
    pub changed: bool,
    /// Why they differ.
    pub because: Option<ChangeReason>,
    /// Whether that does not verify.
    pub weak_flip: bool,
    /// Whether its verdict went back to round 1 for that.
    pub reverted: bool,
}

/// What a judge recommends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgeRecommendation {
    pub judge: String,
    pub recommendation: String,
}

/// A verdict that is not the ruling, as its judge holds it at the end.
#[derive(Serialize)]
pub(super) struct ReviewDissent {
    pub(super) judge: String,
    seat: String,
    pub(super) position: String,
    pub(super) reason: String,
}

/// Closes the debate.
pub(super) fn close(log: &ReviewLog<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(log);
    let decided = decided(log);
    let positions = fates(log, decided);
    let dissent = dissent(log, &positions).iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    let rounds_completed = match (log.survivors().next(), log.revised().next()) {
        (None, _) => 0,
        (Some(_), None) => 1,
        (Some(_), Some(_)) => 2,
    };
    let outcome = Outcome {
        status,
        termination,
        rounds_completed,
        verdict: serde_json::to_value(verdict(log))?,
        dissent,
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
    let is_undecided = log.options.is_validation() && decided(log).is_none();
    match (log.survivors().count(), is_cut) {
        (0, false) => (Termination::Failed, Status::Failed),
        (_, true) if is_undecided => (Termination::Budget, Status::Incomplete),
        (_, false) if is_undecided => (Termination::QuorumLost, Status::Incomplete),
        (0, true) => (Termination::Budget, Status::Incomplete),
        (_, true) => (Termination::Budget, Status::Complete),
        _ if second_round_was_skipped(log) => (Termination::Budget, Status::Complete),
        _ => (Termination::AllRoundsComplete, Status::Complete),
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
    let whole = log.debate.absences().next().is_none()
        && cut_off_warnings(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete;
    if whole { Fidelity::Full } else { Fidelity::Degraded }
}

/// The worst verdict of each vendor, in the order of their first judges.
fn by_vendor<'a>(verdicts: impl Iterator<Item = (&'a str, JudgeVerdict)>) -> Vec<VendorVerdict> {
    let mut vendors: Vec<VendorVerdict> = Vec::new();
    for (vendor, verdict) in verdicts {
        match vendors.iter_mut().find(|own| own.vendor == vendor) {
            Some(own) => own.verdict = own.verdict.max(verdict),
            None => vendors.push(VendorVerdict { vendor: vendor.to_owned(), verdict }),
        }
    }
    vendors
}

/// "All PASS: PASS; any FAIL: FAIL; else WARN", and vendors that contradict each other DISAGREE. `None` without verdicts.
fn consolidated(vendors: &[VendorVerdict]) -> Option<ReviewRuling> {
    let has = |verdict: JudgeVerdict| vendors.iter().any(|own| own.verdict == verdict);
    if has(JudgeVerdict::Pass) && has(JudgeVerdict::Fail) {
        return Some(ReviewRuling::Disagree);
    }
    vendors.iter().map(|own| own.verdict).max().map(ReviewRuling::from)
}

fn counted_by_vendor(log: &ReviewLog<'_>) -> Vec<VendorVerdict> {
    by_vendor(log.judges.iter().filter_map(|judge| Some((judge.vendor.as_str(), judge.counted_verdict()?))))
}

/// The ruling on the verdicts that count; `None` without verdicts, or where too few judges were heard.
pub(super) fn decided(log: &ReviewLog<'_>) -> Option<ReviewRuling> {
    consolidated(&counted_by_vendor(log)).filter(|ruling| ReviewQuorum::of(log).allows(*ruling))
}

/// The same for the verdicts of round 1 alone.
pub(super) fn first_decided(log: &ReviewLog<'_>) -> Option<ReviewRuling> {
    let firsts =
        log.judges.iter().filter_map(|judge| Some((judge.vendor.as_str(), judge.first.as_ref()?.verdict)));
    consolidated(&by_vendor(firsts)).filter(|ruling| ReviewQuorum::of(log).allows(*ruling))
}

/// The verdict of a review, as far as it has come.
pub(super) fn verdict(log: &ReviewLog<'_>) -> ReviewVerdict {
    let brief = log.brief();
    let (judges, heard, revised) = (log.judges.len(), log.survivors().count(), log.revised().count());
    let fidelity = if fidelity(log) == Fidelity::Full { "full" } else { "degraded" };
    ReviewVerdict {
        verdict: decided(log),
        mode: log.options.mode,
        target: packet::slug(brief),
        paths: log.packet().paths().map(str::to_owned).collect(),
        judged: log.options.is_validation().then(|| judged_result(log)),
        answers: (!log.options.is_validation())
            .then(|| log.survivors().map(|judge| JudgeAnswer::of(judge)).collect()),
        footer: format!("{heard}/{judges} R1, {revised}/{heard} R2, fidelity {fidelity}"),
    }
}

/// The footer for a reader. Without a second round its count looks like a failure, so it says why.
pub(super) fn footer_line(log: &ReviewLog<'_>, verdict: &ReviewVerdict) -> String {
    let note = if log.options.has_debate() { "" } else { " (no second round)" };
    format!("{}{note}", verdict.footer)
}

fn judged_result(log: &ReviewLog<'_>) -> JudgedResult {
    let recommendation = |judge: &ReviewJudge<'_>| {
        let recommendation = judge.counted()?.1.recommendation.trim().to_owned();
        let is_given = !recommendation.is_empty();
        is_given.then(|| JudgeRecommendation { judge: judge.seat.id.clone(), recommendation })
    };
    JudgedResult {
        fail_on: log.options.fail_on,
        debate: log.options.debate,
        branch: log.branch().filter(|_| log.debate.turn(ReviewPhase::SecondVerdict.as_str(), 2).is_some()),
        quorum: ReviewQuorum::of(log),
        judges: log.judges.iter().map(|judge| judge_record(log, judge)).collect(),
        vendors: counted_by_vendor(log),
        findings: merged_findings(log),
        shifts: log.judges.iter().filter_map(shift).collect(),
        recommendations: log.judges.iter().filter_map(recommendation).collect(),
    }
}

fn judge_record(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> JudgeRecord {
    JudgeRecord {
        judge: judge.seat.id.clone(),
        seat: judge.seat.id.clone(),
        vendor: judge.vendor.clone(),
        perspective: judge.perspective.as_ref().map(|perspective| perspective.name.clone()),
        mixed: judge.mixed,
        r1: judge.answer.cloned(),
        r2: judge.second.as_ref().map(|(_, value)| (*value).clone()),
        weak_flip: judge.is_weak_flip,
        reverted: judge.is_reverted,
        without_finding: is_without_finding(log, judge),
        used: judge.counted().map(|(round, _)| round),
        verdict: judge.counted_verdict(),
        note: note(log, judge),
    }
}

/// What a reader should know of a judge's verdict.
pub(super) fn note(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> Option<String> {
    let seat = &judge.seat.id;
    if judge.answer.is_none() {
        log.reply(ReviewPhase::FirstVerdict, seat)?;
        let why = log.absence(ReviewPhase::FirstVerdict, seat).map_or("absent".into(), absence_words);
        return Some(format!("no R1 verdict ({why}), so no R2 for it"));
    }
    if judge.is_weak_flip {
        let cited = judge.unverified_cause().map_or(String::new(), |cited| format!(" (it cites {cited})"));
        let reverted = if judge.is_reverted { ", reverted to R1" } else { "" };
        return Some(format!("weak flip: changed {}{cited}{reverted}", lack_of_evidence(judge)));
    }
    let missed =
        log.absence(ReviewPhase::Restate, seat).or_else(|| log.absence(ReviewPhase::SecondVerdict, seat));
    match missed {
        Some(AbsenceReason::TimedOut) => {
            Some(format!("no R2 within {} s: its R1 verdict is used", log.r2_within_ms() as f64 / 1000.0))
        }
        Some(why) => Some(format!("no R2 ({}): its R1 verdict is used", absence_words(why))),
        None if judge.mixed && log.options.has_debate() => Some("of the second vendor: round 1 only".into()),
        None => None,
    }
}

/// Whether a judge's verdict is WARN or FAIL and it names nothing that is wrong.
fn is_without_finding(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> bool {
    let accepts = |second: &super::replies::SecondVerdict| {
        second.others.iter().any(|other| other.status == OtherStatus::Accept)
    };
    judge.counted_verdict().is_some_and(|verdict| verdict != JudgeVerdict::Pass)
        && log.standing(judge).next().is_none()
        && !judge.second.as_ref().is_some_and(|(second, _)| accepts(second))
}

fn shift(judge: &ReviewJudge<'_>) -> Option<VerdictShift> {
    let (first, (second, _)) = (judge.first.as_ref()?, judge.second.as_ref()?);
    let changed = judge.is_changed();
    Some(VerdictShift {
        judge: judge.seat.id.clone(),
        r1: first.verdict,
        r2: second.now.verdict,
        changed,
        because: second.changed_because.clone().filter(|_| changed),
        weak_flip: judge.is_weak_flip,
        reverted: judge.is_reverted,
    })
}

/// What became of every answer of round 1.
fn fates(log: &ReviewLog<'_>, ruling: Option<ReviewRuling>) -> Vec<PositionFate> {
    let fate = |judge: &ReviewJudge<'_>| {
        let (position, fate, reason) = match &judge.first {
            Some(first) => {
                let (fate, reason) = fate(judge, first, ruling);
                (held(first), fate, reason)
            }
            None => {
                let insight = judge.answer?.get("key_insight").and_then(Value::as_str).unwrap_or_default();
                (insight.trim().to_owned(), Fate::Adopted, "all answers are in the result".to_owned())
            }
        };
        Some(PositionFate { seat: judge.seat.id.clone(), label: None, position, fate, reason })
    };
    log.judges.iter().filter_map(fate).collect()
}

fn held(said: &FirstVerdict) -> String {
    format!("{}: {}", said.verdict.as_str(), said.key_insight.trim())
}

/// What a weak flip lacks.
fn lack_of_evidence(judge: &ReviewJudge<'_>) -> &'static str {
    match judge.unverified_cause() {
        Some(_) => "without evidence that could be verified",
        None => "without citing evidence",
    }
}

fn fate(judge: &ReviewJudge<'_>, first: &FirstVerdict, ruling: Option<ReviewRuling>) -> (Fate, String) {
    let Some(ruling) = ruling else { return (Fate::NotSettled, "there is no verdict".into()) };
    if ruling == ReviewRuling::Disagree {
        return (Fate::Minority, "the vendors disagree, and the user decides".into());
    }
    let last = judge.last().map_or(first.verdict, |last| last.verdict);
    let because = match &judge.evidence {
        Some(evidence) => format!(": {}", evidence.cited),
        None => format!(" {} (a weak flip)", lack_of_evidence(judge)),
    };
    let (own, word) = (last.as_str(), ruling.as_str());
    let counts =
        if judge.is_reverted { format!(", so {} counts", first.verdict.as_str()) } else { String::new() };
    let moved = format!("the judge moved to {own} in round 2{because}{counts}");
    if judge.is_reverted && ReviewRuling::from(first.verdict) == ruling {
        return (Fate::Adopted, format!("it is the verdict; {moved}"));
    }
    match (ReviewRuling::from(last) == ruling, last == first.verdict) {
        (true, true) => (Fate::Adopted, "it is the verdict".into()),
        (true, false) => (Fate::Refuted, format!("the judge gave it up in round 2{because}{counts}")),
        (false, true) => {
            (Fate::Minority, format!("held to the end; the worst verdict counts, which is {word}"))
        }
        (false, false) if ReviewRuling::from(first.verdict) == ruling => {
            (Fate::Adopted, format!("it is the verdict, which its judge left: {moved}"))
        }
        (false, false) => (Fate::Minority, format!("{moved}; the verdict is {word}")),
    }
}

/// The dissent of a debate that is over.
pub(super) fn final_dissent(log: &ReviewLog<'_>) -> Vec<ReviewDissent> {
    dissent(log, log.debate.outcome.as_ref().map_or(&[], |outcome| &outcome.positions))
}

fn dissent(log: &ReviewLog<'_>, positions: &[PositionFate]) -> Vec<ReviewDissent> {
    let judge_of = |position: &PositionFate| log.judges.iter().find(|judge| judge.seat.id == position.seat);
    let has_left = |judge: &ReviewJudge<'_>| judge.is_changed() && !judge.is_reverted;
    // Whoever left the verdict dissents from it, too.
    let minority = positions.iter().filter(|position| match position.fate {
        Fate::Adopted => judge_of(position).is_some_and(has_left),
        fate => fate == Fate::Minority,
    });
    let entry = |position: &PositionFate| {
        let judge = judge_of(position);
        let last = judge.and_then(ReviewJudge::last).map(held);
        ReviewDissent {
            judge: position.seat.clone(),
            seat: position.seat.clone(),
            position: last.unwrap_or_else(|| position.position.clone()),
            // The reason of a first verdict that is the ruling is no reason to dissent.
            reason: match position.fate {
                Fate::Adopted => position.reason.replacen("it is the verdict, which its judge left: ", "", 1),
                _ => position.reason.clone(),
            },
        }
    };
    minority.map(entry).collect()
}

fn warnings(log: &ReviewLog<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = round_warnings(log, termination);
    for judge in log.judges.iter().filter(|judge| judge.is_weak_flip) {
        let reverted = if judge.is_reverted { "; its verdict of round 1 is used" } else { "" };
        warnings.push(format!(
            "weak flip: {} changed its verdict in round 2 {}{reverted}",
            judge.seat.id,
            lack_of_evidence(judge)
        ));
    }
    let quorum = ReviewQuorum::of(log);
    if log.survivors().next().is_some() && log.options.is_validation() && decided(log).is_none() {
        warnings.push(format!("there is no verdict: {}", quorum.sentence(log.judges.len())));
    }
    for judge in log.judges.iter().filter(|judge| is_without_finding(log, judge)) {
        let verdict = judge.counted_verdict().map_or("", JudgeVerdict::as_str);
        warnings.push(format!("{} counts as {verdict} and holds no finding", judge.seat.id));
    }
    for judge in &log.judges {
        if let [first, .., last] = log.debate.spoke(&judge.seat.id).as_slice() {
            warnings.push(format!(
                "{} was {first} in one call and {last} in another: the model changed between the rounds",
                judge.seat.id
            ));
        }
    }
    for judge in log.judges.iter().filter(|judge| passes_something_critical(log, judge)) {
        warnings.push(format!("{} counts as PASS and holds a finding that it calls critical", judge.seat.id));
    }
    if has_converged(log) {
        let who =
            if log.revised().count() == log.judges.len() { "all" } else { "all who had a second round" };
        warnings.push(format!(
            "convergence: the judges differed in round 1 and {who} agree after round 2: check what moved them"
        ));
    }
    if log.options.strict_anchoring && !log.options.has_debate() {
        warnings.push("strict_anchoring does nothing without debate: there is no round 2".into());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    warnings
}

/// Why round 2 is missing, or rests on fewer judges.
fn round_warnings(log: &ReviewLog<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    let (heard, revised) = (log.survivors().count(), log.revised().count());
    if termination == Termination::Budget {
        // A round that has begun needs no more calls.
        let has_begun = log.debate.turn(ReviewPhase::SecondVerdict.as_str(), 2).is_some();
        let calls = if has_begun { 0 } else { log.second_calls() };
        warnings.extend(log.limits().reached(calls));
        if log.has_second_round() && revised == 0 {
            warnings.push("there was no room for round 2: the verdicts of round 1 are used".into());
        }
    }
    let has_debate = log.options.has_debate();
    if has_debate && heard == 1 {
        warnings.push("only one judge gave a verdict in round 1, so there was no round 2".into());
    } else if has_debate && heard > 1 && log.revisers().next().is_none() {
        warnings
            .push("no judge of the first vendor gave a verdict in round 1, so there was no round 2".into());
    } else if revised == 0 && log.debate.turns.iter().any(|turn: &PhaseTurn| turn.phase.round == 2) {
        warnings.push("all judges failed in round 2: the verdict rests on round 1 only".into());
    }
    warnings
}

/// "R1 split and R2 unanimous": judges who differed in round 1 all say the same in round 2. A reverted verdict did not
/// converge.
fn has_converged(log: &ReviewLog<'_>) -> bool {
    let mut seconds = log.revised().filter_map(|judge| judge.counted_verdict());
    let (Some(first), Some(next)) = (seconds.next(), seconds.next()) else { return false };
    log.branch() == Some(ReviewBranch::Disagreed) && next == first && seconds.all(|verdict| verdict == first)
}

/// Whether a judge's verdict contradicts its own findings.
fn passes_something_critical(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> bool {
    judge.counted_verdict() == Some(JudgeVerdict::Pass)
        && log.standing(judge).any(|finding| finding.severity == FindingSeverity::Critical)
}
