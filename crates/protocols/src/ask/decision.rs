//! What the ladder decides in the end, and by what.

use std::collections::BTreeMap;

use agon_core::history::{ResolvedDebate, history};
use agon_core::{Debate, PositionFlip, PositionHistory, RoundPositions, Seat, Status};
use serde::{Deserialize, Serialize};

use super::AskOptions;
use super::first_answers::{FirstAnswer, PairAgreement};
use super::ladder::{AskLadder, EndedPart};
use super::positions::vote;
use crate::panel::consensus::FindingState;
use crate::panel::verdict::{PanelVerdict, VerdictDecision};

/// What the answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecidedBy {
    /// The first two answers agree.
    #[serde(rename = "agreement")]
    Agreement,
    /// The debate's chair.
    #[serde(rename = "debate")]
    Debate,
    /// The judges let the debate's answer stand.
    #[serde(rename = "panel")]
    Panel,
    /// The plain vote on the first answers.
    #[serde(rename = "first_round_vote")]
    FirstRoundVote,
}

/// The decision.
#[derive(Debug, Clone, Default)]
pub(super) struct AskDecision {
    pub(super) by: Option<DecidedBy>,
    pub(super) answer: Option<String>,
    pub(super) why: Option<String>,
    /// The name that the answer has among the positions, where it is one of them.
    pub(super) position: Option<String>,
    pub(super) never_worse: Option<NeverWorseCheck>,
    /// What the panel said of the debate's answer.
    pub(super) ruling: Option<PanelRuling>,
    /// What a reader should know of how it came about.
    pub(super) notes: Vec<String>,
}

/// What follows from a ladder that nobody climbs any further.
pub(super) fn decide(climb: &AskLadder<'_>) -> AskDecision {
    if matches!(climb.firsts.agreement, PairAgreement::Same | PairAgreement::Declared) {
        return agreed(climb);
    }
    let Some(deep) = &climb.deep else { return AskDecision::default() };
    let Some(answer) = deep.verdict.answer.clone() else {
        let note = "the debate came to no answer";
        return voted(climb, AskDecision::default(), note);
    };
    let mut decision = AskDecision {
        by: Some(DecidedBy::Debate),
        answer: Some(answer),
        why: deep.verdict.why.clone(),
        position: climb.positions.debated.clone(),
        ..AskDecision::default()
    };
    let stands_from = AskOptions::read(&climb.debate.brief.options).stands_from;
    decision.ruling = climb.panel.as_ref().and_then(|panel| ruling(panel, stands_from));
    match &decision.ruling {
        Some(ruling) if ruling.stands => decision.by = Some(DecidedBy::Panel),
        Some(ruling) => {
            let why = ruling.why.clone();
            decision = voted(climb, decision, &why);
        }
        None if climb.panel.is_some() => {
            decision.notes.push("the panel came to no verdict: the debate's answer is as it was".to_owned());
        }
        None => {}
    }
    decision.never_worse = climb.never_worse();
    match decision.never_worse.as_ref().filter(|weighed| weighed.kept) {
        Some(weighed) => {
            let why = weighed.why.clone();
            voted(climb, decision, &why)
        }
        None => decision,
    }
}

fn agreed(climb: &AskLadder<'_>) -> AskDecision {
    let pair = climb.firsts.pair(climb.debate);
    // The one that is surer says it, of two that are as sure the first.
    let surer = pair.iter().rev().max_by(|a, b| a.given.confidence.total_cmp(&b.given.confidence));
    AskDecision {
        by: Some(DecidedBy::Agreement),
        answer: surer.map(|first| first.given.answer.trim().to_owned()),
        why: surer.map(|first| first.given.why.trim().to_owned()),
        position: climb.positions.stands.rounds.first().and_then(vote).map(str::to_owned),
        ..AskDecision::default()
    }
}

/// The decision with the vote on the first answers instead of what the debate came to, if there is one.
fn voted(climb: &AskLadder<'_>, before: AskDecision, reason: &str) -> AskDecision {
    let Some((position, holders)) = winner(&climb.positions.stands) else {
        let mut decision = before;
        decision
            .notes
            .push(format!("{reason}; the first answers are tied, so that there is no vote to fall back on"));
        return decision;
    };
    let holds = |first: &&FirstAnswer<'_>| first.position == position;
    let spokesman = climb.firsts.all.iter().find(holds);
    let note = format!(
        "{reason}: the answer is the plain vote on the first answers, {holders} of {}",
        climb.firsts.all.len()
    );
    let mut notes = before.notes;
    notes.push(note);
    AskDecision {
        by: Some(DecidedBy::FirstRoundVote),
        answer: spokesman.map(|first| first.given.answer.trim().to_owned()),
        why: spokesman.map(|first| first.given.why.trim().to_owned()),
        position: Some(position),
        notes,
        ..before
    }
}

fn winner(stands: &PositionHistory) -> Option<(String, usize)> {
    let first = stands.rounds.first()?;
    let position = vote(first)?;
    let holders = first.stands.iter().filter(|stand| stand.position == position).count();
    Some((position.to_owned(), holders))
}

/// "`--never-worse` keeps the plain first-round vote unless the debate's change is backed by evidenced flips."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverWorseCheck {
    /// Whether the vote is kept against the debate.
    pub kept: bool,
    /// Why.
    pub why: String,
    /// What the vote says.
    pub vote: Option<String>,
    /// What the debate decided.
    pub debate: Option<String>,
}

impl NeverWorseCheck {
    /// Weighs what the debate came to, by its position where it has one, against the vote on the first answers.
    pub(super) fn weigh(stands: &PositionHistory, decided: Option<&str>) -> Self {
        let vote = stands.rounds.first().and_then(vote);
        let (kept, why) = match vote {
            None => (false, "the vote on the first answers has no winner that could be kept".to_owned()),
            Some(vote) if Some(vote) == decided => {
                (false, "the debate came to what the vote says".to_owned())
            }
            Some(_) => backing(stands, decided),
        };
        Self { kept, why, vote: vote.map(str::to_owned), debate: decided.map(str::to_owned) }
    }
}

/// Whether the flips toward what was decided leave the vote to be kept: at least one names evidence, and no fewer do than do not.
fn backing(stands: &PositionHistory, decided: Option<&str>) -> (bool, String) {
    let Some(decided) = decided else {
        return (
            true,
            "the debate came to an answer that nobody held, so that no change of mind backs it".to_owned(),
        );
    };
    let (evidenced, bare): (Vec<_>, Vec<_>) =
        changed_over(stands, decided).into_iter().partition(|flip| flip.evidenced);
    let (e, b) = (evidenced.len(), bare.len());
    let count =
        |n: usize| if n == 1 { "1 change of mind".to_owned() } else { format!("{n} changes of mind") };
    match (e, b) {
        (0, 0) => (true, "nobody changed over to what the debate came to".to_owned()),
        (0, _) => (true, format!("{} led to what the debate came to, none with evidence", count(b))),
        _ if b > e => {
            (true, format!("{} led to what the debate came to, only {e} with evidence", count(e + b)))
        }
        _ => (false, format!("{} led to what the debate came to, {e} with evidence", count(e + b))),
    }
}

/// The last flip of each seat that held something else at first and holds what was decided in the end: who went there and back,
/// or left and came back, has changed nothing.
fn changed_over(stands: &PositionHistory, decided: &str) -> Vec<PositionFlip> {
    let holds = |held: Option<&RoundPositions>, seat: &str| {
        held.is_some_and(|held| {
            held.stands.iter().any(|stand| stand.seat == seat && stand.position == decided)
        })
    };
    let mut last: BTreeMap<String, PositionFlip> = BTreeMap::new();
    for flip in stands.flips() {
        last.insert(flip.seat.clone(), flip);
    }
    let over = |flip: &PositionFlip| {
        let changed = flip.to == decided && flip.from != decided;
        changed && holds(stands.rounds.last(), &flip.seat) && !holds(stands.rounds.first(), &flip.seat)
    };
    last.into_values().filter(over).collect()
}

/// Comparisons with thresholds allow for rounding.
const TOLERANCE: f64 = 1e-9;

/// Whether the answer stands, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelRuling {
    /// Whether the debate's answer stands.
    pub stands: bool,
    /// Why.
    pub why: String,
}

/// The ruling of a panel that has ended; `None` where it gave no verdict.
fn ruling(panel: &EndedPart<PanelVerdict>, stands_from: f64) -> Option<PanelRuling> {
    let score = score(&panel.verdict).filter(|_| panel.outcome.status == Status::Complete)?;
    let enough = score >= stands_from - TOLERANCE;
    let adopted = panel.verdict.critical_findings.iter().find(|found| found.state == FindingState::Adopted);
    let given =
        format!("the panel gives the answer {} of 5, {} is needed", figure(score), figure(stands_from));
    let why = match adopted {
        Some(found) => format!("{given}; all judges hold a critical finding: {}", found.finding),
        None => given,
    };
    Some(PanelRuling { stands: enough && adopted.is_none(), why })
}

/// The verdict's score. Without consensus or majority every judge must find the answer good enough, so the lowest score counts.
fn score(panel: &PanelVerdict) -> Option<f64> {
    match &panel.decision {
        VerdictDecision::Consensus(verdict) => Some(verdict.consensus_score),
        VerdictDecision::Majority(verdict) => Some(verdict.majority_score),
        VerdictDecision::NoMajority(verdict) => verdict.scores.iter().copied().reduce(f64::min),
        VerdictDecision::None(_) => None,
    }
}

fn figure(score: f64) -> String {
    ((score * 100.0).round() / 100.0).to_string()
}

/// The standard normal quantile of a two-sided 95% interval.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// How often two agents were wrong when they agreed before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgreementRisk {
    /// In how many resolved debates they gave the same first answer.
    pub agreed: usize,
    /// In how many of those they were wrong.
    pub wrong: usize,
    /// The share of those.
    pub rate: f64,
    /// Its 95% interval.
    pub interval: [f64; 2],
    /// The same in a sentence.
    pub sentence: String,
}

/// The risk of an agreement of the first two, from earlier debates that are resolved; `None` where they never agreed in one.
pub(super) fn agreement_risk(debate: &Debate) -> Option<AgreementRisk> {
    let seats: Vec<&str> = debate.brief.seats_of("debater").take(2).map(|seat| spoke(debate, seat)).collect();
    let [one, other] = seats.as_slice() else { return None };
    let past = history(&debate.brief);
    let together: Vec<bool> = past.iter().filter_map(|past| right_together(past, one, other)).collect();
    let (agreed, wrong) = (together.len(), together.iter().filter(|right| !**right).count());
    if agreed == 0 {
        return None;
    }
    let rate = wrong as f64 / agreed as f64;
    let (low, high) = wilson(wrong as f64, agreed as f64);
    let sentence = format!(
        "Of {agreed} earlier debate{} in which these two gave the same first answer, {wrong} {} wrong: {:.0}%, and between {:.0}% and {:.0}% \
         with 95% confidence.",
        if agreed == 1 { "" } else { "s" },
        if wrong == 1 { "was" } else { "were" },
        100.0 * rate,
        100.0 * low,
        100.0 * high,
    );
    Some(AgreementRisk { agreed, wrong, rate, interval: [low, high], sentence })
}

/// Who answered on a seat: of a chain of models the one that really did.
fn spoke<'a>(debate: &'a Debate, seat: &'a Seat) -> &'a str {
    debate.spoke(&seat.id).first().copied().unwrap_or(&seat.model)
}

/// Whether both were right in a debate in which their first positions were the same.
fn right_together(past: &ResolvedDebate, one: &str, other: &str) -> Option<bool> {
    let of = |agent: &str, but: Option<usize>| {
        let mut seats = past.seats.iter().enumerate();
        seats.find(|(place, seat)| seat.agent == agent && Some(*place) != but)
    };
    let (place, first) = of(one, None)?;
    let (_, second) = of(other, Some(place))?;
    (first.position == second.position).then_some(first.right)
}

/// Wilson's interval for a share.
fn wilson(part: f64, n: f64) -> (f64, f64) {
    let (p, z2) = (part / n, NORMAL_QUANTILE * NORMAL_QUANTILE);
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL_QUANTILE / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use agon_core::{PositionChange, SeatPosition};

    use super::*;

    /// A round: what each seat holds, and how much it names where it changed.
    type Then<'a> = &'a [(&'a str, Option<usize>)];

    fn stands(first: &[&str], then: Then<'_>) -> PositionHistory {
        rounds(first, &[then])
    }

    fn rounds(first: &[&str], then: &[Then<'_>]) -> PositionHistory {
        let stand = |place: usize, position: &str, cited: Option<usize>| SeatPosition {
            seat: format!("debater-{place}"),
            position: position.to_owned(),
            change: cited.map(|n| PositionChange { cited: vec!["Debater B".to_owned(); n] }),
            ..SeatPosition::default()
        };
        let held = |round, stands| RoundPositions { round, stands, ..RoundPositions::default() };
        let before = first.iter().enumerate().map(|(place, p)| stand(place, p, None)).collect();
        let after =
            |then: Then<'_>| then.iter().enumerate().map(|(n, (p, cited))| stand(n, p, *cited)).collect();
        let rounds = (1..).zip(then).map(|(round, then)| held(round, after(then)));
        PositionHistory {
            rounds: [held(0, before)].into_iter().chain(rounds).collect(),
            ..PositionHistory::default()
        }
    }

    /// "keeps the plain first-round vote unless [...] backed by evidenced flips": both sides of the rule.
    #[test]
    fn only_evidenced_flips_beat_the_vote() {
        let first = ["x", "x", "x", "y"];
        for (then, kept) in [
            ([("y", Some(1)), ("x", None), ("x", None), ("y", None)], false),
            ([("y", Some(0)), ("x", None), ("x", None), ("y", None)], true),
            ([("y", Some(1)), ("y", Some(0)), ("x", None), ("y", None)], false),
            ([("y", Some(1)), ("y", Some(0)), ("y", Some(0)), ("y", None)], true),
            ([("x", None), ("x", None), ("x", None), ("y", None)], true),
            // Evidence that leads elsewhere backs nothing.
            ([("z", Some(3)), ("y", Some(0)), ("x", None), ("y", None)], true),
        ] {
            let weighed = NeverWorseCheck::weigh(&stands(&first, &then), Some("y"));
            assert_eq!(weighed.kept, kept, "{then:?}: {}", weighed.why);
        }
    }

    /// "unless the debate's change is backed by evidenced flips": a flip that was taken back backs nothing.
    #[test]
    fn there_and_back_is_no_change() {
        let first = ["x", "x", "x", "y"];
        let there = [("y", Some(2)), ("x", None), ("x", None), ("y", None)];
        let back = [("x", Some(0)), ("x", None), ("x", None), ("y", None)];
        let weigh = |then: &[Then<'_>]| NeverWorseCheck::weigh(&rounds(&first, then), Some("y"));
        assert!(!weigh(&[&there]).kept);
        let taken_back = weigh(&[&there, &back]);
        assert!(taken_back.kept && taken_back.why.contains("nobody changed over"), "{}", taken_back.why);
        let again = [("y", Some(0)), ("x", None), ("x", None), ("y", None)];
        let last = weigh(&[&there, &back, &again]);
        assert!(last.kept && last.why.contains("none with evidence"), "the last flip counts: {}", last.why);
        let left = [("x", None), ("x", None), ("x", None), ("x", Some(0))];
        let returned = [("x", None), ("x", None), ("x", None), ("y", Some(1))];
        assert!(weigh(&[&left, &returned]).kept, "who held it at first was counted in the vote");
    }

    /// "A tied vote (no plurality) cannot be kept: say so."
    #[test]
    fn a_tied_vote_cannot_be_kept() {
        let weighed = NeverWorseCheck::weigh(&stands(&["x", "y"], &[("y", Some(0)), ("y", None)]), Some("y"));
        assert!(!weighed.kept && weighed.why.contains("no winner"), "{}", weighed.why);
        let weighed = NeverWorseCheck::weigh(&stands(&["x", "x"], &[("x", None), ("x", None)]), Some("x"));
        assert!(!weighed.kept && weighed.why.contains("what the vote says"), "{}", weighed.why);
        let weighed = NeverWorseCheck::weigh(&stands(&["x", "x"], &[("x", None), ("x", None)]), None);
        assert!(weighed.kept && weighed.why.contains("nobody held"), "{}", weighed.why);
    }

    /// Textbook values: 1 of 10, and none of 10, whose upper end is z^2 / (n + z^2).
    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(1.0, 10.0);
        assert!((low - 0.017_876).abs() < 1e-5 && (high - 0.404_150).abs() < 1e-5, "{low} {high}");
        let (low, high) = wilson(0.0, 10.0);
        assert!(
            low.abs() < 1e-12
                && (high - NORMAL_QUANTILE * NORMAL_QUANTILE / (10.0 + NORMAL_QUANTILE * NORMAL_QUANTILE))
                    .abs()
                    < 1e-12,
            "{low} {high}"
        );
    }
}
