//! How `poll` ends: the verdict, what became of every answer, and what readers see.

use std::collections::BTreeMap;

use agon_core::view::ending_sentence;
use agon_core::wording::{percent, score};
use agon_core::{
    Corrupt, DebateView, DecidedPosition, Fate, Headline, Outcome, Outline, PositionFate, PositionHistory,
    ReportBlock, ReportItem, SeatVote, Status, Step, Termination,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::ROUND;
use super::answers::{SeatAnswer, answer_history, ballots};
use super::tally::PollTally;
use crate::clerk::{SortedBy, clerk_of, why_unsorted};
use crate::participation::{cut_off_warnings, fidelity, shortened_warnings};
use crate::report_sections::{answer_section, answer_tone, list_section, table_section};
use crate::sorting::PositionGroup;

/// How clear a vote is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VoteStrength {
    /// All seats gave the answer.
    Consensus,
    /// More than half gave it.
    Majority,
    /// No more than half gave it, but more than any other answer.
    Plurality,
}

/// Closes the poll.
pub(super) fn close(tally: &PollTally<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(tally);
    let positions: Vec<PositionFate> =
        (0..tally.votes.len()).filter_map(|place| position_fate(tally, place)).collect();
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let dissent = minority
        .map(|held| json!({"seat": held.seat, "position": held.position, "reason": held.reason}))
        .collect();
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: u32::from(!tally.votes.is_empty()),
        verdict: verdict(tally),
        dissent,
        fidelity: fidelity(tally.debate, status == Status::Complete),
        warnings: warnings(tally, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// A poll whose result is not known is incomplete. A tie is a result.
fn ending(tally: &PollTally<'_>) -> (Termination, Status) {
    let is_decided = tally.winner().is_some() || !tally.tied().is_empty();
    let status = if is_decided { Status::Complete } else { Status::Incomplete };
    let termination = match strength(tally) {
        _ if tally.is_cut_short() => Termination::Budget,
        _ if tally.votes.is_empty() => Termination::QuorumLost,
        Some(VoteStrength::Consensus) => Termination::Consensus,
        Some(VoteStrength::Majority) => Termination::Majority,
        Some(VoteStrength::Plurality) | None => Termination::NoMajority,
    };
    (termination, status)
}

fn strength(tally: &PollTally<'_>) -> Option<VoteStrength> {
    let (votes, all) = (tally.winner()?.members.len(), tally.votes.len());
    Some(match votes {
        _ if votes == all => VoteStrength::Consensus,
        _ if 2 * votes > all => VoteStrength::Majority,
        _ => VoteStrength::Plurality,
    })
}

/// The verdict of `poll`. `answer` is null if there is none, if several are tied, or if it is not known. The most common answers come
/// first in `tally`.
fn verdict(tally: &PollTally<'_>) -> Value {
    let winner = tally.winner();
    let vote = |SeatAnswer { seat, reply }: &SeatAnswer<'_>| {
        json!({
            "seat": seat,
            "analysis": reply.analysis,
            "why": reply.why,
            "answer": reply.answer,
            "confidence": reply.confidence,
        })
    };
    let entry = |group: &PositionGroup| {
        json!({
            // In the words of its first vote, and in the clerk's words, if the clerk sorted it.
            "answer": tally.name(group),
            "statement": group.statement,
            // Whether nobody declared how it relates to the other answers.
            "unsorted": group.is_unsorted && !tally.is_known(),
            "votes": group.members.len(),
            "share": tally.share(group),
            "confidence": tally.confidence(group),
            "seats": tally.seats(group),
        })
    };
    json!({
        "answer": winner.map(|winner| tally.name(winner)),
        "share": winner.map(|winner| tally.share(winner)),
        "decided_by": strength(tally),
        "tied": tally.tied().iter().map(|group| tally.name(group)).collect::<Vec<_>>(),
        "tally": tally.groups.iter().map(entry).collect::<Vec<_>>(),
        "sorted_by": tally.sorted_by,
        "clerk": clerk_of(tally.debate),
        "votes": tally.votes.iter().map(vote).collect::<Vec<_>>(),
        "answered": tally.votes.len(),
        "seats": tally.voters(),
    })
}

fn position_fate(tally: &PollTally<'_>, place: usize) -> Option<PositionFate> {
    let (vote, group) = (tally.votes.get(place)?, tally.group_of(place)?);
    let support = format!("{} of {} gave this answer", group.members.len(), tally.votes.len());
    let is_open = group.is_unsorted && !tally.is_known();
    let (fate, reason) = match tally.winner() {
        Some(winner) if winner == group => (Fate::Adopted, support),
        _ if is_open => (Fate::NotSettled, "it is not known which other answers are the same".to_owned()),
        None if !tally.is_known() => {
            (Fate::NotSettled, "it is not known which answer is the most common".to_owned())
        }
        _ => (Fate::Minority, support),
    };
    let position = vote.answer().to_owned();
    Some(PositionFate { seat: vote.seat.to_owned(), label: None, position, fate, reason })
}

fn warnings(tally: &PollTally<'_>, termination: Termination) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget {
        warnings.extend(tally.limits().reached(1));
    }
    if !tally.is_known() {
        let why = why_unsorted(tally.debate);
        warnings.push(format!("it is not known which answers are the same, because {why}"));
    }
    if !tally.tied().is_empty() {
        let tied: Vec<String> = tally.tied().iter().map(|group| format!("{:?}", tally.name(group))).collect();
        warnings.push(format!("there is no answer, because these are tied: {}", tied.join(", ")));
    }
    warnings.extend(cut_off_warnings(tally.debate));
    warnings.extend(shortened_warnings(tally.debate));
    warnings
}

/// Everything that the reports, the page and the other interfaces show of the poll.
pub(super) fn view(tally: &PollTally<'_>) -> DebateView {
    let last_vote = |vote: &SeatAnswer<'_>| SeatVote {
        seat: vote.seat.to_owned(),
        label: None,
        vote: vote.answer().to_owned(),
        confidence: Some(score(vote.reply.confidence)),
    };
    let outcome = tally.debate.outcome.as_ref();
    let answer = tally.winner().filter(|_| outcome.is_some()).map(|winner| tally.name(winner).to_owned());
    let is_open = tally.winner().is_none() && !tally.is_known();
    let ending = outcome.map(|outcome| match is_open {
        true => "It is not known which answer is the most common.".to_owned(),
        false => ending_sentence(outcome, "voters"),
    });
    DebateView {
        headline: Headline {
            tone: answer_tone(answer.as_ref()),
            answer,
            ending: ending.unwrap_or_default(),
            ..Headline::default()
        },
        outline: outline(tally),
        positions: positions(tally),
        ballots: ballots(&tally.votes),
        votes: tally.votes.iter().map(last_vote).collect(),
        dissent: dissent(tally),
        ..DebateView::default()
    }
}

/// The minority's answers with their own reasons.
fn dissent(tally: &PollTally<'_>) -> Vec<ReportItem> {
    let fates = (0..tally.votes.len()).filter_map(|place| position_fate(tally, place)).zip(&tally.votes);
    let minority = fates.filter(|(fate, _)| tally.debate.outcome.is_some() && fate.fate == Fate::Minority);
    minority.map(|(_, vote)| vote_item(vote)).collect()
}

fn vote_item(vote: &SeatAnswer<'_>) -> ReportItem {
    let note = Some(vote.reply.why.trim().to_owned()).filter(|why| !why.is_empty());
    ReportItem { who: Some(vote.seat.to_owned()), text: vote.answer().to_owned(), note }
}

fn outline(tally: &PollTally<'_>) -> Outline {
    let (winner, answered) = (tally.winner(), tally.votes.len());
    let tied = tally.tied().iter().map(|group| ReportItem::text(tally.name(group)));
    let mut answer =
        answer_section(winner.map(|winner| tally.name(winner)), "These answers are tied:", tied.collect());
    let support = winner.map(|winner| {
        let at_least = if tally.is_known() { "" } else { "At least " };
        format!("{at_least}{} of {answered} gave this answer.", winner.members.len())
    });
    let sorted = match (tally.sorted_by, clerk_of(tally.debate)) {
        (SortedBy::Clerk, Some(model)) => Some(format!("The clerk, {model}, sorted the answers.")),
        (SortedBy::Unknown, _) if answered > 1 => {
            Some("Nobody declared of all answers which are the same, so some may belong together.".to_owned())
        }
        _ => None,
    };
    answer.blocks.extend(support.into_iter().chain(sorted).map(ReportBlock::Line));
    let rows = tally.groups.iter().map(|group| {
        let (votes, confidence) = (group.members.len(), score(tally.confidence(group)));
        let share = percent(votes as u64, answered as u64);
        let (answer, seats) = (tally.name(group).to_owned(), tally.seats(group).join(", "));
        [answer, votes.to_string(), share, confidence, seats]
    });
    let counted = table_section("Tally", ["Answer", "Votes", "Share", "Confidence", "Seats"], rows);
    let votes = list_section("Votes", tally.votes.iter().map(vote_item));
    Outline {
        answer: vec![answer],
        details: counted.into_iter().chain(votes).collect(),
        ..Outline::default()
    }
}

/// One round of positions. The same answers have the same name.
fn positions(tally: &PollTally<'_>) -> PositionHistory {
    let is_over = tally.debate.outcome.is_some();
    let decided = tally.winner().filter(|_| is_over).map(|winner| tally.name(winner).to_owned());
    let mut history = answer_history(&tally.votes, &tally.groups, ROUND);
    history.rounds.iter_mut().for_each(|round| round.ruling.clone_from(&decided));
    let decided = decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held);
    PositionHistory { are_texts: !tally.sheet().is_discrete(), decided, ..history }
}
