//! What the ladder decides in the end, and on what basis.
//!
//! [`decide`] goes through the ladder: the agreement of the first two, the debate's answer, the panel's ruling on it, and
//! `--never-worse`. The rest of the file has the parts of that decision in the same order, and the risk of an agreement last.

use std::collections::BTreeMap;

use agon_core::history::{ResolvedDebate, history};
use agon_core::wording::counted;
use agon_core::{Debate, DecidedPosition, PositionFlip, PositionHistory, RoundPositions, Seat, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::AskOptions;
use super::first_answers::PairAgreement;
use super::ladder::{AskLadder, EndedPart};
use super::positions::vote;
use crate::panel::consensus::FindingState;
use crate::panel::figure;
use crate::panel::verdict::{MajorityVerdict, PanelVerdict, UndecidedVerdict, VerdictDecision};

/// Comparisons with thresholds allow for rounding.
const TOLERANCE: f64 = 1e-9;
/// The standard normal quantile of a two-sided 95% interval.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// What the answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBasis {
    /// The first two answers agree.
    Agreement,
    /// The debate's chair wrote it.
    Debate,
    /// The judges let the debate's answer stand.
    Panel,
    /// The plain vote on the first answers.
    FirstRoundVote,
}

#[derive(Debug, Clone, Default)]
pub(super) struct AskDecision {
    pub(super) basis: Option<AnswerBasis>,
    pub(super) answer: Option<String>,
    pub(super) why: Option<String>,
    /// The position that the answer states.
    pub(super) decided: DecidedPosition,
    pub(super) never_worse: Option<NeverWorseCheck>,
    /// The panel's ruling on the debate's answer.
    pub(super) ruling: Option<PanelRuling>,
    /// What a reader should know about how the decision came about.
    pub(super) notes: Vec<String>,
}

impl AnswerBasis {
    /// Whether the answer is the debate's own.
    pub(super) fn is_of_debate(self) -> bool {
        matches!(self, Self::Debate | Self::Panel)
    }
}

/// Decides on a ladder that goes no further.
pub(super) fn decide(ladder: &AskLadder<'_>) -> AskDecision {
    if matches!(ladder.firsts.agreement, PairAgreement::Same(_)) {
        return by_agreement(ladder);
    }
    let Some(deep) = &ladder.deep else { return AskDecision::default() };
    let Some(answer) = deep.verdict.answer.clone() else {
        return by_vote(ladder, AskDecision::default(), "the debate came to no answer");
    };
    let mut decision = AskDecision {
        basis: Some(AnswerBasis::Debate),
        answer: Some(answer),
        why: deep.verdict.why.clone(),
        decided: ladder.history.decided.clone(),
        ..AskDecision::default()
    };
    let stands_from = AskOptions::read(&ladder.debate.brief.options).stands_from;
    decision.ruling = ladder.panel.as_ref().and_then(|panel| ruling(panel, stands_from));
    match &decision.ruling {
        Some(ruling) if ruling.stands => decision.basis = Some(AnswerBasis::Panel),
        Some(ruling) => decision = by_vote(ladder, decision.clone(), &ruling.why),
        None if ladder.panel.is_some() => {
            decision.notes.push("the panel came to no verdict: the debate's answer is as it was".to_owned());
        }
        None => {}
    }
    decision.never_worse = ladder.never_worse();
    match &decision.never_worse {
        Some(check) if check.kept => by_vote(ladder, decision.clone(), &check.why),
        _ => decision,
    }
}

/// The answer of the more confident of the first two, or of the first if both are equally confident.
fn by_agreement(ladder: &AskLadder<'_>) -> AskDecision {
    let pair = ladder.firsts.pair();
    let surer = pair.iter().rev().max_by(|a, b| a.reply.confidence.total_cmp(&b.reply.confidence));
    AskDecision {
        basis: Some(AnswerBasis::Agreement),
        answer: surer.map(|first| first.answer().to_owned()),
        why: surer.map(|first| first.reply.why.trim().to_owned()),
        decided: ladder.history.rounds.first().and_then(vote).map_or(DecidedPosition::Unknown, held),
        ..AskDecision::default()
    }
}

fn held(position: &str) -> DecidedPosition {
    DecidedPosition::Held(position.to_owned())
}

/// Replaces a decision by the vote on the first answers, for this reason. A vote that is tied or not known replaces nothing.
fn by_vote(ladder: &AskLadder<'_>, mut decision: AskDecision, reason: &str) -> AskDecision {
    let first_round = ladder.history.rounds.first();
    let Some((first_round, position)) = first_round.and_then(|round| Some((round, vote(round)?))) else {
        let why = no_vote(&ladder.history);
        decision.notes.push(format!("{reason}; there is no vote to fall back on: {why}"));
        return decision;
    };
    let stands = first_round.stands.iter().filter(|stand| stand.position == position);
    let holders: Vec<&str> = stands.map(|stand| stand.seat.as_str()).collect();
    decision.notes.push(format!(
        "{reason}: the answer is the plain vote on the first answers, {} of {}",
        holders.len(),
        ladder.firsts.all.len()
    ));
    decision.notes.extend(one_models_votes(ladder.debate, &holders));
    let first_holder = ladder.firsts.all.iter().find(|first| holders.contains(&first.seat));
    AskDecision {
        basis: Some(AnswerBasis::FirstRoundVote),
        answer: first_holder.map(|first| first.answer().to_owned()),
        why: first_holder.map(|first| first.reply.why.trim().to_owned()),
        decided: held(position),
        ..decision
    }
}

/// A warning if one model gave all the votes that won.
fn one_models_votes(debate: &Debate, holders: &[&str]) -> Option<String> {
    let mut models = holders.iter().filter_map(|id| Some(agent(debate, debate.brief.seat(id)?)));
    let model = models.next()?;
    (holders.len() > 1 && models.all(|other| other == model)).then(|| {
        let votes = holders.len();
        format!("all {votes} votes for the answer are from {model}, whose agreement with itself shows little")
    })
}

/// Why the first answers have no winner.
fn no_vote(history: &PositionHistory) -> &'static str {
    match history.rounds.first() {
        Some(first) if !first.is_sorted() => "it is not known which first answers are the same",
        _ => "the first answers are tied",
    }
}

/// Whether the debate's answer stands before the judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelRuling {
    pub stands: bool,
    pub why: String,
}

/// The ruling of a panel that has ended. `None` if it came to no verdict.
fn ruling(panel: &EndedPart<PanelVerdict>, stands_from: f64) -> Option<PanelRuling> {
    let score = panel_score(&panel.verdict).filter(|_| panel.outcome.status == Status::Complete)?;
    let is_enough = score >= stands_from - TOLERANCE;
    let mut findings = panel.verdict.critical_findings.iter();
    let adopted = findings.find(|finding| finding.state == FindingState::Adopted);
    let (who, given) = (scored_by(&panel.verdict.decision), figure(score));
    let mut why = format!("{who} the answer {given} of 5, {} is needed", figure(stands_from));
    if let Some(finding) = adopted {
        why = format!("{why}; all judges hold a critical finding: {}", finding.finding);
    }
    Some(PanelRuling { stands: is_enough && adopted.is_none(), why })
}

/// The score that decides. Without consensus or majority, every judge must find the answer good enough, so the lowest score
/// counts.
fn panel_score(verdict: &PanelVerdict) -> Option<f64> {
    match &verdict.decision {
        VerdictDecision::NoMajority(UndecidedVerdict { score_range: [lowest, _], .. }) => Some(*lowest),
        _ => verdict.score(),
    }
}

/// Whose score that is, in words that the score follows.
fn scored_by(decision: &VerdictDecision) -> String {
    match decision {
        VerdictDecision::Majority(MajorityVerdict { majority_judges, minority_judges, .. }) => {
            let (with, all) = (majority_judges.len(), majority_judges.len() + minority_judges.len());
            format!("a majority of {with} of {all} judges gives")
        }
        VerdictDecision::NoMajority(_) => {
            "the judges have no majority, and the lowest of them gives".to_owned()
        }
        VerdictDecision::Consensus(_) | VerdictDecision::None(_) => "the panel gives".to_owned(),
    }
}

/// "`--never-worse` keeps the plain first-round vote unless the debate's change is backed by evidenced flips."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverWorseCheck {
    /// Whether the vote is kept against the debate.
    pub kept: bool,
    pub why: String,
    /// The position that wins the vote. Null if that is a tie or not known.
    pub vote: Option<String>,
    /// The position that the debate decided on. Null if that is not known.
    pub debate: Option<String>,
}

impl NeverWorseCheck {
    /// Compares the position that the debate decided on with the vote on the first answers.
    pub(super) fn new(history: &PositionHistory) -> Self {
        let (vote, decided) = (history.rounds.first().and_then(vote), history.decided.name());
        let (kept, why) = match vote {
            None => (false, format!("there is no vote that could be kept: {}", no_vote(history))),
            Some(vote) if Some(vote) == decided => {
                (false, "the debate came to what the vote says".to_owned())
            }
            Some(_) => is_vote_kept(history),
        };
        Self { kept, why, vote: vote.map(str::to_owned), debate: decided.map(str::to_owned) }
    }
}

/// Whether the vote is kept, and why. It is not kept if at least one flip to the debate's answer is evidenced, and at least as many
/// are evidenced as are bare.
fn is_vote_kept(history: &PositionHistory) -> (bool, String) {
    let decided = match &history.decided {
        DecidedPosition::Held(decided) => decided,
        DecidedPosition::New(_) => {
            let why = "the debate came to an answer that nobody held, so no change of mind backs it";
            return (true, why.to_owned());
        }
        DecidedPosition::Nothing | DecidedPosition::Unknown => {
            return (true, "it is not known whose position the debate's answer is".to_owned());
        }
    };
    let flips = lasting_flips(history, decided);
    let evidenced = flips.iter().filter(|flip| flip.evidenced).count();
    let (all, bare) = (flips.len(), flips.len() - evidenced);
    let changed = format!("{all} changed over to what the debate came to");
    match evidenced {
        _ if flips.is_empty() => (true, "nobody changed over to what the debate came to".to_owned()),
        0 => (true, format!("{changed}, none with evidence")),
        _ => (bare > evidenced, format!("{changed}, {evidenced} with evidence")),
    }
}

/// The last flip of each seat that did not hold the decided position at first and holds it in the end. A seat that changed and
/// then returned has changed nothing.
fn lasting_flips(history: &PositionHistory, decided: &str) -> Vec<PositionFlip> {
    let holds = |round: Option<&RoundPositions>, seat: &str| {
        round.and_then(|round| round.of(seat)).is_some_and(|held| held.position == decided)
    };
    let mut last_flips: BTreeMap<String, PositionFlip> = BTreeMap::new();
    for flip in history.flips() {
        last_flips.insert(flip.seat.clone(), flip);
    }
    let is_lasting = |flip: &PositionFlip| {
        let leads_there = flip.to == decided && flip.from != decided;
        leads_there && holds(history.rounds.last(), &flip.seat) && !holds(history.rounds.first(), &flip.seat)
    };
    last_flips.into_values().filter(is_lasting).collect()
}

/// The risk that the first two are wrong although they agree: how often they were in earlier, resolved debates in which they gave the
/// same first answer, with the 95% interval of that rate. `None` if they never did.
pub(super) fn agreement_risk(debate: &Debate) -> Option<Value> {
    let agents: Vec<&str> =
        debate.brief.seats_of("debater").take(2).map(|seat| agent(debate, seat)).collect();
    let [one, other] = agents.as_slice() else { return None };
    let resolved = history(&debate.brief);
    let agreements: Vec<bool> =
        resolved.iter().filter_map(|resolved| right_together(resolved, one, other)).collect();
    let (agreed, wrong) = (agreements.len(), agreements.iter().filter(|right| !**right).count());
    if agreed == 0 {
        return None;
    }
    let rate = wrong as f64 / agreed as f64;
    let (low, high) = wilson_interval(wrong as f64, agreed as f64);
    let sentence = format!(
        "Of {} in which these two gave the same first answer, {wrong} {} wrong: {:.0}%, and between {:.0}% and {:.0}% \
         with 95% confidence.",
        counted(agreed as u64, "earlier debate"),
        if wrong == 1 { "was" } else { "were" },
        100.0 * rate,
        100.0 * low,
        100.0 * high,
    );
    let interval = [low, high];
    Some(json!({"agreed": agreed, "wrong": wrong, "rate": rate, "interval": interval, "sentence": sentence}))
}

/// The model that answered on a seat. A seat with a list of fallback models may have been answered by any of them.
fn agent<'a>(debate: &'a Debate, seat: &'a Seat) -> &'a str {
    debate.spoke(&seat.id).first().copied().unwrap_or(&seat.model)
}

/// Whether both agents were right. `None` unless both sat in the debate and held the same first position.
fn right_together(resolved: &ResolvedDebate, one: &str, other: &str) -> Option<bool> {
    let seat_of = |agent: &str, except: Option<usize>| {
        let mut seats = resolved.seats.iter().enumerate();
        seats.find(|(place, seat)| seat.agent == agent && Some(*place) != except)
    };
    let (place, first) = seat_of(one, None)?;
    let (_, second) = seat_of(other, Some(place))?;
    (first.position == second.position).then_some(first.right)
}

/// Wilson's interval for the share of `part` in `n`.
fn wilson_interval(part: f64, n: f64) -> (f64, f64) {
    let (p, z2) = (part / n, NORMAL_QUANTILE * NORMAL_QUANTILE);
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL_QUANTILE / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use agon_core::{PositionChange, SeatPosition};

    use super::*;

    /// A round of the debate: for each seat its position and, if it changed, how many things it cites.
    type LaterRound<'a> = &'a [(&'a str, Option<usize>)];

    fn history_of(first: &[&str], later: &[LaterRound<'_>]) -> PositionHistory {
        let seat_position = |place: usize, position: &str, cited: Option<usize>| SeatPosition {
            seat: format!("debater-{place}"),
            position: position.to_owned(),
            change: cited.map(|n| PositionChange {
                cited: vec!["Debater B".to_owned(); n],
                ..PositionChange::default()
            }),
            ..SeatPosition::default()
        };
        let round = |round, stands| RoundPositions { round, stands, ..RoundPositions::default() };
        let first = first.iter().enumerate().map(|(place, name)| seat_position(place, name, None)).collect();
        let later_seats = |later: LaterRound<'_>| {
            later
                .iter()
                .enumerate()
                .map(|(place, (name, cited))| seat_position(place, name, *cited))
                .collect()
        };
        let later = (1..).zip(later).map(|(number, later)| round(number, later_seats(later)));
        PositionHistory {
            rounds: [round(0, first)].into_iter().chain(later).collect(),
            ..PositionHistory::default()
        }
    }

    fn check(first: &[&str], later: &[LaterRound<'_>], decided: Option<&str>) -> NeverWorseCheck {
        let decided = decided.map_or(DecidedPosition::New("z".into()), held);
        NeverWorseCheck::new(&PositionHistory { decided, ..history_of(first, later) })
    }

    /// "keeps the plain first-round vote unless [...] backed by evidenced flips": both sides of the rule.
    #[test]
    fn only_evidenced_flips_beat_the_vote() {
        let first = ["x", "x", "x", "y"];
        for (later, kept) in [
            ([("y", Some(1)), ("x", None), ("x", None), ("y", None)], false),
            ([("y", Some(0)), ("x", None), ("x", None), ("y", None)], true),
            ([("y", Some(1)), ("y", Some(0)), ("x", None), ("y", None)], false),
            ([("y", Some(1)), ("y", Some(0)), ("y", Some(0)), ("y", None)], true),
            ([("x", None), ("x", None), ("x", None), ("y", None)], true),
            // Evidence for a change to another position does not back this one.
            ([("z", Some(3)), ("y", Some(0)), ("x", None), ("y", None)], true),
        ] {
            let check = check(&first, &[&later], Some("y"));
            assert_eq!(check.kept, kept, "{later:?}: {}", check.why);
        }
    }

    /// "unless the debate's change is backed by evidenced flips": a flip that was reversed backs nothing.
    #[test]
    fn a_reversed_flip_does_not_count() {
        let check = |later: &[LaterRound<'_>]| check(&["x", "x", "x", "y"], later, Some("y"));
        let flip = [("y", Some(2)), ("x", None), ("x", None), ("y", None)];
        let reversal = [("x", Some(0)), ("x", None), ("x", None), ("y", None)];
        assert!(!check(&[&flip]).kept);
        let reversed = check(&[&flip, &reversal]);
        assert!(reversed.kept && reversed.why.contains("nobody changed over"), "{}", reversed.why);
        let bare_flip = [("y", Some(0)), ("x", None), ("x", None), ("y", None)];
        let last = check(&[&flip, &reversal, &bare_flip]);
        assert!(last.kept && last.why.contains("none with evidence"), "the last flip counts: {}", last.why);
        let left = [("x", None), ("x", None), ("x", None), ("x", Some(0))];
        let returned = [("x", None), ("x", None), ("x", None), ("y", Some(1))];
        assert!(check(&[&left, &returned]).kept, "a seat that held it at first already voted for it");
    }

    /// "A tied vote (no plurality) cannot be kept: say so."
    #[test]
    fn a_tied_vote_cannot_be_kept() {
        let tied = check(&["x", "y"], &[&[("y", Some(0)), ("y", None)]], Some("y"));
        assert!(!tied.kept && tied.why.contains("are tied"), "{}", tied.why);
        let unchanged: LaterRound<'_> = &[("x", None), ("x", None)];
        let same = check(&["x", "x"], &[unchanged], Some("x"));
        assert!(!same.kept && same.why.contains("what the vote says"), "{}", same.why);
        let not_held = check(&["x", "x"], &[unchanged], None);
        assert!(not_held.kept && not_held.why.contains("nobody held"), "{}", not_held.why);
    }

    /// "compares with the first-round vote only where that is known": an unsorted round has no vote. A debate's answer of which nobody
    /// said whose position it is does not beat a vote that is known.
    #[test]
    fn what_is_not_known_is_not_compared() {
        let mut history = history_of(&["x", "x", "y"], &[&[("y", Some(1)), ("y", Some(1)), ("y", None)]]);
        history.decided = DecidedPosition::Unknown;
        let unknown = NeverWorseCheck::new(&history);
        assert!(unknown.kept && unknown.why.contains("not known whose position"), "{}", unknown.why);
        history.decided = held("y");
        assert!(!NeverWorseCheck::new(&history).kept);
        history.rounds[0].stands[2].is_unsorted = true;
        let unsorted = NeverWorseCheck::new(&history);
        assert!(!unsorted.kept && unsorted.vote.is_none(), "{}", unsorted.why);
        assert!(unsorted.why.contains("not known which first answers"), "{}", unsorted.why);
    }

    /// Textbook values for 1 of 10, and for 0 of 10, whose upper end is z^2 / (n + z^2).
    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson_interval(1.0, 10.0);
        assert!((low - 0.017_876).abs() < 1e-5 && (high - 0.404_150).abs() < 1e-5, "{low} {high}");
        let (low, high) = wilson_interval(0.0, 10.0);
        let z2 = NORMAL_QUANTILE * NORMAL_QUANTILE;
        assert!(low.abs() < 1e-12 && (high - z2 / (10.0 + z2)).abs() < 1e-12, "{low} {high}");
    }
}
