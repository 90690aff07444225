//! How `council` ends: the outcome, what became of every opening position, what a reader should know, and who voted what when.

use std::collections::BTreeMap;

use agon_core::{
    Ballot, Corrupt, DecidedPosition, Fate, Fidelity, Outcome, PositionChange, PositionFate, PositionHistory,
    RoundPositions, SeatPosition, SeatVote, Status, Termination,
};
use serde::{Deserialize, Serialize};

use super::CouncilPhase;
use super::log::{CouncilLog, CouncilRound, CouncillorStanding};
use super::replies::CouncilVote;
use super::verdict::{CouncilVerdict, decide, stated_conditions, verified_conclusion};
use crate::participation::{cut_off_warnings, shortened_warnings};
use crate::quotes::QuotedTexts;
use crate::tools::SourceCitation;

/// A councillor who voted against the decision, or who held out without a vote.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouncilDissent {
    pub(super) seat: String,
    pub(super) councillor: String,
    pub(super) opening: String,
    /// The final position, or the last one where the councillor gave no final statement.
    pub(super) position: String,
    pub(super) vote: Option<CouncilVote>,
    pub(super) key_argument: Option<String>,
    pub(super) reason: String,
}

/// Why a debate ended in which the councillors were asked for their votes.
pub(super) fn termination(log: &CouncilLog<'_>) -> Termination {
    match (log.was_cut(), log.finals.len()) {
        (true, _) => Termination::Budget,
        (false, 0) => Termination::Failed,
        (false, votes) if votes < log.quorum() => Termination::QuorumLost,
        (false, _) => Termination::AllRoundsComplete,
    }
}

/// The outcome of a debate that is over.
pub(super) fn close(log: &CouncilLog<'_>, termination: Termination) -> Result<Outcome, Corrupt> {
    let is_complete = termination == Termination::AllRoundsComplete;
    let all_heard = log.debate.absences().next().is_none() && cut_off_warnings(log.debate).is_empty();
    let positions: Vec<PositionFate> =
        log.openings.iter().map(|(seat, opening)| fate(log, seat, opening)).collect();
    let minority = positions.iter().filter(|held| held.fate == Fate::Minority);
    let dissent = minority.map(|held| serde_json::to_value(dissent(log, held)));
    Ok(Outcome {
        status: if is_complete { Status::Complete } else { Status::Incomplete },
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: serde_json::to_value(CouncilVerdict::from_log(log))?,
        dissent: dissent.collect::<Result<_, _>>()?,
        fidelity: if is_complete && all_heard { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, termination),
        labels: BTreeMap::new(),
        positions,
        passed: None,
        lesson: None,
    })
}

/// What became of an opening position, by the votes: held to the end on the side of the decision, given up for it, or dissent.
fn fate(log: &CouncilLog<'_>, seat: &str, opening: &CouncillorStanding) -> PositionFate {
    let provisional = log.standings().get(seat).map_or(opening.vote, |held| held.vote);
    let (last, voted) = match log.finals.get(seat) {
        Some(last) => (last.vote, format!("voted {}", last.vote.as_str())),
        None => {
            (provisional, format!("did not vote; the last provisional vote was {}", provisional.as_str()))
        }
    };
    let (fate, reason) = match decide(&log.votes(), log.quorum()) {
        None => (Fate::Minority, format!("{voted}; there is no decision that could adopt it")),
        Some(decided) if last.is_in_favour() != decided.vote.is_in_favour() => {
            (Fate::Minority, format!("{voted}; the decision is {}", decided.vote.as_str()))
        }
        Some(_) if opening.vote == last => {
            (Fate::Adopted, format!("{voted} as in the opening, on the side of the decision"))
        }
        Some(_) => (
            Fate::Refuted,
            format!(
                "{voted} after {} in the opening{}",
                opening.vote.as_str(),
                turning_point(log, seat, last)
            ),
        ),
    };
    PositionFate { seat: seat.to_owned(), label: None, position: opening.position.clone(), fate, reason }
}

/// When a councillor's vote became its last one, and why.
fn turning_point(log: &CouncilLog<'_>, seat: &str, last: CouncilVote) -> String {
    let turned = log.rounds.iter().rev().find(|round| round.is_vote_changed(seat));
    let after = turned.and_then(|round| round.after.get(seat)).filter(|after| after.vote == last);
    after.map_or_else(
        || "; changed in the final vote".to_owned(),
        |after| format!("; changed in round {}: {}", after.round, after.because),
    )
}

fn dissent(log: &CouncilLog<'_>, held: &PositionFate) -> CouncilDissent {
    let last = log.finals.get(held.seat.as_str());
    let standing = log.standings().get(held.seat.as_str()).map(|standing| &standing.position);
    CouncilDissent {
        seat: held.seat.clone(),
        councillor: held.seat.clone(),
        opening: held.position.clone(),
        position: last.map(|last| &last.final_position).or(standing).unwrap_or(&held.position).clone(),
        vote: last.map(|last| last.vote),
        key_argument: last.map(|last| last.key_argument.clone()),
        reason: held.reason.clone(),
    }
}

fn warnings(log: &CouncilLog<'_>, termination: Termination) -> Vec<String> {
    let held = format!("{} of {} rounds were held", log.rounds_completed(), log.options.rounds);
    let mut warnings = Vec::new();
    let not_asked = log.names(log.never_asked(CouncilPhase::Opening, 0));
    if log.was_cut() || !not_asked.is_empty() {
        let limit = log.limits().reached(log.active.len());
        let limit = limit.unwrap_or_else(|| "a limit was reached".to_owned());
        warnings.push(format!("the debate is incomplete because {limit}; {held}"));
    }
    if !not_asked.is_empty() {
        warnings.push(format!("not asked for an opening, because a limit was reached: {not_asked}"));
    }
    if termination == Termination::QuorumLost {
        let quorum = log.quorum();
        warnings.push(match log.finals.len() {
            0 => format!("fewer than {quorum} councillors were left, so there was no vote; {held}"),
            _ => format!("fewer than {quorum} councillors voted, so nothing is decided; {held}"),
        });
    }
    if log.options.economy {
        let economy = "economy mode: one call at a time on one model, and no messages between councillors";
        warnings.push(economy.to_owned());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    let out = log.members.iter().filter(|member| member.opening.is_none());
    let out = log.names(out.map(|member| member.seat.id.as_str()));
    if !out.is_empty() {
        warnings.push(format!("gave no opening and took no part: {out}"));
    }
    warnings.extend(log.rounds.iter().flat_map(|round| round_warnings(log, round)));
    let silent = log.names(log.active.iter().copied().filter(|seat| !log.finals.contains_key(seat)));
    if !silent.is_empty() && log.debate.turns_of(CouncilPhase::Vote.as_str()).next().is_some() {
        warnings.push(format!("did not vote: {silent}"));
    }
    warnings.extend(conclusion_warnings(log));
    warnings
}

fn round_warnings(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let (number, limit) = (round.number, log.options.exchanges);
    let surplus =
        round.examined.iter().filter(|(_, said)| !log.options.economy && said.messages.len() > limit);
    let surplus = surplus.map(|(seat, said)| {
        let (name, sent) = (log.name(seat), said.messages.len());
        format!(
            "round {number}: {name} sent {sent} messages; the limit is {limit}, and the others were left out"
        )
    });
    let mut warnings: Vec<String> = surplus.collect();
    for (phase, said) in [
        (CouncilPhase::Challenge, round.examined.keys().copied().collect::<Vec<_>>()),
        (CouncilPhase::Respond, round.responded.keys().copied().collect()),
    ] {
        let (name, not_asked) = (phase.as_str(), log.never_asked(phase, number));
        let is_asked = log.debate.turn(name, number).is_some();
        let is_absent = |seat: &&str| is_asked && !said.contains(seat) && !not_asked.contains(seat);
        let absent = log.names(log.active.iter().copied().filter(is_absent));
        if !absent.is_empty() {
            let so = if phase == CouncilPhase::Respond { ", so the last position counts" } else { "" };
            warnings.push(format!("round {number}, {name}: absent{so}: {absent}"));
        }
        if !not_asked.is_empty() {
            let names = log.names(not_asked);
            warnings.push(format!("round {number}, {name}: not asked, because a limit was reached: {names}"));
        }
    }
    if round.is_moderated && round.moderator.is_none() {
        warnings
            .push(format!("round {number}: the moderator was absent, so only what can be counted was found"));
    }
    warnings.extend(round.findings.notes.iter().map(|note| format!("round {number}, moderation: {note}")));
    warnings
}

fn conclusion_warnings(log: &CouncilLog<'_>) -> Vec<String> {
    let decision = decide(&log.votes(), log.quorum());
    let mut warnings = Vec::new();
    match &log.conclusion {
        Some(said) => {
            let faults = verified_conclusion(log, said).faults.into_iter();
            warnings.extend(faults.map(|fault| format!("the moderator's conclusion: {fault}")));
        }
        None if decision.is_some() => {
            warnings.push(
                "the moderator gave no conclusion: conditions and risks are listed as given".to_owned(),
            );
        }
        None => {}
    }
    if decision.is_some_and(|it| it.vote == CouncilVote::WithConditions) && stated_conditions(log).is_empty()
    {
        warnings.push("the decision is PROCEED WITH CONDITIONS, but nobody named a condition".to_owned());
    }
    warnings
}

/// Who voted what: the provisional votes of the openings and of each round, then the votes.
pub(super) fn position_history(log: &CouncilLog<'_>) -> PositionHistory {
    let mut rounds = Vec::new();
    if !log.openings.is_empty() {
        let stands = log.openings.iter().map(|(seat, held)| seat_position(seat, held.vote, None));
        rounds.push(round_positions(log, 0, stands.collect(), false));
    }
    for round in log.rounds.iter().filter(|round| !round.responded.is_empty()) {
        let stands = round.after.iter().map(|(seat, held)| {
            let change = (held.changed || round.is_vote_changed(seat)).then(|| {
                let found = cited_sources(log, round.number, &held.because);
                let mut cited = cited(log, round.number, seat, &held.because);
                cited.extend(found.iter().map(|source| source.cited.clone()));
                PositionChange {
                    cited,
                    sources: found.into_iter().map(|source| source.id).collect(),
                    reason: Some(held.because.clone()).filter(|because| !because.is_empty()),
                }
            });
            seat_position(seat, held.vote, change)
        });
        rounds.push(round_positions(log, round.number, stands.collect(), false));
    }
    if let Some(last) = rounds.last().filter(|_| !log.finals.is_empty()).map(|last| last.round) {
        let stands = log.standings().iter().map(|(seat, held)| {
            let vote = log.finals.get(seat).map_or(held.vote, |last| last.vote);
            let change = (vote != held.vote).then(PositionChange::default);
            seat_position(seat, vote, change)
        });
        rounds.push(round_positions(log, last + 1, stands.collect(), true));
    }
    // Until the debate is over, votes may be missing that would decide otherwise.
    let decision = decide(&log.votes(), log.quorum()).filter(|_| log.debate.outcome.is_some());
    let decided = decision.map_or(DecidedPosition::Nothing, |decision| {
        let name = decision.vote.as_str().to_owned();
        match log.votes().contains(&decision.vote) {
            true => DecidedPosition::Held(name),
            false => DecidedPosition::New(name),
        }
    });
    PositionHistory { are_texts: false, rounds, decided, marks: Vec::new(), near: None }
}

fn seat_position(seat: &str, vote: CouncilVote, change: Option<PositionChange>) -> SeatPosition {
    SeatPosition {
        seat: seat.to_owned(),
        position: vote.as_str().to_owned(),
        change,
        ..SeatPosition::default()
    }
}

fn round_positions(
    log: &CouncilLog<'_>,
    round: u32,
    stands: Vec<SeatPosition>,
    ballots: bool,
) -> RoundPositions {
    let votes = stands
        .iter()
        .filter_map(|held| CouncilVote::ALL.into_iter().find(|vote| vote.as_str() == held.position));
    let votes: Vec<CouncilVote> = if ballots { log.votes() } else { votes.collect() };
    let ruling = decide(&votes, log.quorum()).map(|decision| decision.vote.as_str().to_owned());
    RoundPositions { round, stands, ruling, ballots }
}

/// The challenges and messages that a councillor's reason names by their ids, among those that it was shown when it gave the reason.
pub(super) fn cited(log: &CouncilLog<'_>, round: u32, seat: &str, because: &str) -> Vec<String> {
    let is_named = |id: &str| {
        because.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case(id))
    };
    // What is put to others in a round, the openings' questions in round 1, is public from the next round on.
    let challenges = log
        .challenges
        .iter()
        .filter(|put| (put.to == seat && put.round <= round) || put.round.max(1) < round);
    let received = log.messages.iter().filter(|sent| {
        let is_reply_read = sent.from == seat && sent.reply.is_some() && sent.round < round;
        (sent.to == seat && sent.round <= round) || is_reply_read
    });
    let ids = challenges.map(|put| &put.id).chain(received.map(|sent| &sent.id));
    ids.filter(|id| is_named(id)).map(|id| format!("[{id}]")).collect()
}

/// What was looked up that a councillor's reason names, with words of it in quotation marks.
fn cited_sources(log: &CouncilLog<'_>, round: u32, because: &str) -> Vec<SourceCitation> {
    let (debate, quoted) = (log.debate, QuotedTexts::new(&log.debate.brief));
    let shown = debate.items_shown(CouncilPhase::Respond.as_str(), round);
    SourceCitation::in_text(&quoted, &debate.brief, shown, because)
}

/// What each councillor would have voted before it read anybody.
pub(super) fn ballots(log: &CouncilLog<'_>) -> Vec<Ballot> {
    let ballot = |(seat, held): (&&str, &CouncillorStanding)| Ballot {
        seat: (*seat).to_owned(),
        answer: held.vote.as_str().to_owned(),
        stands_alone: true,
    };
    log.openings.iter().map(ballot).collect()
}

/// Each councillor's last vote: the final one, else the last provisional one.
pub(super) fn last_votes(log: &CouncilLog<'_>) -> Vec<SeatVote> {
    let vote = |(seat, held): (&&str, &CouncillorStanding)| SeatVote {
        seat: (*seat).to_owned(),
        label: None,
        vote: log.finals.get(seat).map_or(held.vote, |last| last.vote).as_str().to_owned(),
        confidence: Some(held.confidence.as_str().to_owned()),
    };
    log.standings().iter().map(vote).collect()
}
