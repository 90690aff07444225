//! How `poll` ends: the verdict, what became of every answer, and what readers see.

use std::collections::BTreeMap;

use agon_core::view::{ending_sentence, minority_items};
use agon_core::wording::{percent, score};
use agon_core::{
    Ballot, Corrupt, DebateView, DecidedPosition, Fate, Fidelity, Headline, Outcome, Outline, PositionFate,
    PositionHistory, ReportBlock, ReportItem, ReportSection, RoundPositions, SeatPosition, SectionKind,
    Status, Step, Termination, VerdictTone,
};
use serde::{Deserialize, Serialize};

use super::ROUND;
use super::tally::{AnswerGroup, PollTally, VoterAnswer};
use crate::limits::LimitCheck;
use crate::participation::{cut_off_warnings, shortened_warnings};

/// The verdict of `poll`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollVerdict {
    /// The most common answer. Null if there is none or several are tied.
    pub answer: Option<String>,
    /// The answer's share of the votes.
    pub share: Option<f64>,
    pub decided_by: Option<VoteStrength>,
    /// The most common answers, if several are tied.
    pub tied: Vec<String>,
    /// The answers, the most common first.
    pub tally: Vec<TallyEntry>,
    pub votes: Vec<PollVote>,
    /// How many seats answered.
    pub answered: usize,
    /// How many seats were asked.
    pub seats: usize,
}

/// How clear a vote is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoteStrength {
    /// All seats gave the answer.
    Consensus,
    /// More than half gave it.
    Majority,
    /// No more than half gave it, but more than any other answer.
    Plurality,
}

/// An answer and who gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TallyEntry {
    /// The answer in the words of its first vote.
    pub answer: String,
    /// The normal form by which answers are compared.
    pub key: Option<String>,
    pub votes: usize,
    /// The share of all votes.
    pub share: f64,
    /// The mean confidence of its votes.
    pub confidence: f64,
    /// The seats that gave it.
    pub seats: Vec<String>,
}

/// What one seat answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollVote {
    pub seat: String,
    pub answer: String,
    pub confidence: f64,
    pub why: String,
}

/// A minority answer.
#[derive(Serialize)]
struct PollDissent<'a> {
    seat: &'a str,
    position: &'a str,
    reason: &'a str,
}

/// Closes the poll.
pub(super) fn close(tally: &PollTally<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(tally);
    let positions: Vec<PositionFate> =
        (0..tally.votes.len()).filter_map(|place| position_fate(tally, place)).collect();
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let dissent = minority.map(|position| PollDissent {
        seat: &position.seat,
        position: &position.position,
        reason: &position.reason,
    });
    let dissent = dissent.map(serde_json::to_value).collect::<Result<_, _>>()?;
    let whole = tally.debate.absences().next().is_none()
        && cut_off_warnings(tally.debate).is_empty()
        && status == Status::Complete;
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: u32::from(!tally.votes.is_empty()),
        verdict: serde_json::to_value(verdict(tally))?,
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(tally, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

fn limits<'a>(tally: &'a PollTally<'_>) -> LimitCheck<'a> {
    LimitCheck { debate: tally.debate, closing_share: 0.0, closing_calls: 0 }
}

fn ending(tally: &PollTally<'_>) -> (Termination, Status) {
    let is_cut_short = tally.debate.turns.iter().any(|turn| limits(tally).cut_short(turn));
    match (strength(tally), tally.votes.len()) {
        (_, 0) if is_cut_short => (Termination::Budget, Status::Incomplete),
        (_, 0) => (Termination::QuorumLost, Status::Incomplete),
        _ if is_cut_short => (Termination::Budget, Status::Complete),
        (Some(VoteStrength::Consensus), _) => (Termination::Consensus, Status::Complete),
        (Some(VoteStrength::Majority), _) => (Termination::Majority, Status::Complete),
        (Some(VoteStrength::Plurality) | None, _) => (Termination::NoMajority, Status::Complete),
    }
}

fn strength(tally: &PollTally<'_>) -> Option<VoteStrength> {
    let (votes, all) = (tally.winner()?.votes.len(), tally.votes.len());
    Some(match votes {
        _ if votes == all => VoteStrength::Consensus,
        _ if 2 * votes > all => VoteStrength::Majority,
        _ => VoteStrength::Plurality,
    })
}

fn verdict(tally: &PollTally<'_>) -> PollVerdict {
    let winner = tally.winner();
    let tied = tally.most_common().iter().filter(|_| winner.is_none());
    let vote = |vote: &VoterAnswer<'_>| PollVote {
        seat: vote.seat.to_owned(),
        answer: vote.reply.answer.clone(),
        confidence: vote.reply.confidence,
        why: vote.reply.why.clone(),
    };
    PollVerdict {
        answer: winner.map(|winner| tally.name(winner).to_owned()),
        share: winner.map(|winner| tally.share(winner)),
        decided_by: strength(tally),
        tied: tied.map(|group| tally.name(group).to_owned()).collect(),
        tally: tally.groups.iter().map(|group| tally_entry(tally, group)).collect(),
        votes: tally.votes.iter().map(vote).collect(),
        answered: tally.votes.len(),
        seats: tally.debate.brief.seats.len(),
    }
}

fn tally_entry(tally: &PollTally<'_>, group: &AnswerGroup) -> TallyEntry {
    let votes = || group.votes.iter().filter_map(|place| tally.votes.get(*place));
    let confidence: f64 = votes().map(|vote| vote.reply.confidence).sum();
    TallyEntry {
        answer: tally.name(group).to_owned(),
        key: votes().next().map(|vote| vote.answer.key().to_owned()),
        votes: group.votes.len(),
        share: tally.share(group),
        confidence: confidence / group.votes.len().max(1) as f64,
        seats: votes().map(|vote| vote.seat.to_owned()).collect(),
    }
}

fn position_fate(tally: &PollTally<'_>, place: usize) -> Option<PositionFate> {
    let (vote, group) = (tally.votes.get(place)?, tally.group_of(place)?);
    let support = format!("{} of {} gave this answer", group.votes.len(), tally.votes.len());
    let (fate, reason) = match tally.winner() {
        Some(winner) if winner == group => (Fate::Adopted, support),
        Some(winner) => {
            (Fate::Minority, format!("{support}, {} gave {:?}", winner.votes.len(), tally.name(winner)))
        }
        None => (Fate::Minority, format!("{support}; the most given answers are tied, so none is adopted")),
    };
    let position = vote.reply.answer.trim().to_owned();
    Some(PositionFate { seat: vote.seat.to_owned(), label: None, position, fate, reason })
}

fn warnings(tally: &PollTally<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget {
        let reached = limits(tally).reached(tally.debate.brief.seats.len());
        warnings.extend(reached.map(|limit| format!("a limit was reached: {limit}")));
    }
    if tally.votes.len() > 1 && tally.winner().is_none() {
        let tied: Vec<String> =
            tally.most_common().iter().map(|group| format!("{:?}", tally.name(group))).collect();
        warnings.push(format!("there is no answer, because these are tied: {}", tied.join(", ")));
    }
    warnings.extend(cut_off_warnings(tally.debate));
    warnings.extend(shortened_warnings(tally.debate));
    warnings
}

/// Everything that the reports, the page and the other interfaces show of the poll.
pub(super) fn view(tally: &PollTally<'_>) -> DebateView {
    let verdict = verdict(tally);
    let ballots = tally.votes.iter().map(|vote| Ballot {
        seat: vote.seat.to_owned(),
        answer: vote.reply.answer.trim().to_owned(),
        stands_alone: true,
    });
    let outcome = tally.debate.outcome.as_ref();
    DebateView {
        votes: Vec::new(),
        headline: Headline {
            answer: verdict.answer.clone(),
            tone: if verdict.answer.is_some() { VerdictTone::Good } else { VerdictTone::Bad },
            ending: outcome.map(|outcome| ending_sentence(outcome, "voters")).unwrap_or_default(),
            ..Headline::default()
        },
        outline: outline(&verdict),
        positions: positions(tally),
        ballots: ballots.collect(),
        dissent: minority_items(tally.debate),
        ..DebateView::default()
    }
}

fn outline(verdict: &PollVerdict) -> Outline {
    let answer = match &verdict.answer {
        Some(answer) => {
            let votes = verdict.tally.first().map_or(0, |first| first.votes);
            let line = format!("{votes} of {} gave this answer.", verdict.answered);
            let blocks = vec![ReportBlock::Prose(answer.clone()), ReportBlock::Line(line)];
            ReportSection::new(SectionKind::Answer, "Answer", blocks)
        }
        None if verdict.tied.len() > 1 => {
            let items = verdict.tied.iter().map(ReportItem::text).collect();
            let blocks = vec![ReportBlock::Line("These answers are tied:".into()), ReportBlock::Items(items)];
            ReportSection::new(SectionKind::NoAnswer, "No answer", blocks)
        }
        None => {
            let blocks = vec![ReportBlock::Line("There is no answer.".into())];
            ReportSection::new(SectionKind::NoAnswer, "No answer", blocks)
        }
    };
    let mut rows = vec![["Answer", "Votes", "Share", "Confidence", "Seats"].map(str::to_owned).to_vec()];
    for entry in &verdict.tally {
        rows.push(vec![
            entry.answer.clone(),
            entry.votes.to_string(),
            percent(entry.votes as u64, verdict.answered as u64),
            score(entry.confidence),
            entry.seats.join(", "),
        ]);
    }
    let votes = verdict.votes.iter().map(|vote| ReportItem {
        who: Some(vote.seat.clone()),
        text: vote.answer.clone(),
        note: Some(vote.why.clone()).filter(|why| !why.trim().is_empty()),
    });
    let tally = ReportSection::new(SectionKind::Part, "Tally", vec![ReportBlock::Table(rows)]);
    let votes = ReportSection::new(SectionKind::Part, "Votes", vec![ReportBlock::Items(votes.collect())]);
    let details = if verdict.votes.is_empty() { Vec::new() } else { vec![tally, votes] };
    Outline { answer: vec![answer], details, ..Outline::default() }
}

/// One round of positions. Equal answers have the same name.
fn positions(tally: &PollTally<'_>) -> PositionHistory {
    let seat_position = |(place, vote): (usize, &VoterAnswer<'_>)| SeatPosition {
        seat: vote.seat.to_owned(),
        position: tally.group_of(place).map_or("", |group| tally.name(group)).to_owned(),
        confidence: Some(vote.reply.confidence),
        ..SeatPosition::default()
    };
    let decided = tally.winner().map(|winner| tally.name(winner).to_owned());
    let round = RoundPositions {
        round: ROUND,
        stands: tally.votes.iter().enumerate().map(seat_position).collect(),
        ruling: decided.clone(),
        ..RoundPositions::default()
    };
    let rounds = if round.stands.is_empty() { Vec::new() } else { vec![round] };
    PositionHistory {
        rounds,
        decided: decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        ..PositionHistory::default()
    }
}
