//! All that a reader may want to know of an arena: headline, who held what after each round, dissent, round summaries and quality
//! checks.
//!
//! What an agent proposes and what it votes for are kept apart, also in an extended round, which has both. Who abstains holds nothing
//! in a vote.

use agon_core::view::{ending_sentence, holder_name, minority_items};
use agon_core::wording::counted;
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, DecidedPosition, Fate, Headline, JudgeMarks, Outcome,
    PhaseTurn, PositionChange, PositionFate, PositionHistory, QualityCheck, ReportItem, RoundPositions,
    RoundSummary, SeatPosition, SeatVote, Termination,
};
use serde::Deserialize;

use super::closing::{self, ArenaDissent};
use super::context::ContextKind;
use super::convergence::ConvergenceCheck;
use super::log::{ArenaLog, CritiqueSource, JudgeRound};
use super::replies::PairRelation;
use super::report::{ArenaReport, table_head};
use super::verdict::ArenaVerdict;
use super::voting::{self, ABSTAIN, CastBallot, VoteRound};
use super::{ArenaPhase, FIRST_REVISION, LAST_REVISION, context};
use crate::clerk::CLERK;
use crate::quotes::{is_same_text, quoted_words};
use crate::sorting::{PositionGroup, PositionNames, Sorting};
use crate::tools::SourceCitation;

/// A position or reason in a summary is cut here.
const SUMMARY_CHARS_MAX: usize = 80;

pub(super) fn view(log: &ArenaLog<'_>) -> Result<DebateView, Corrupt> {
    let outcome = log.debate.outcome.as_ref();
    // The recorded verdict counts. A debate that is not over has none, nor has one that was closed from outside.
    let recorded = outcome.and_then(|outcome| ArenaVerdict::deserialize(&outcome.verdict).ok());
    let verdict = recorded.unwrap_or_else(|| ArenaVerdict::of(log));
    let recorded = outcome.into_iter().flat_map(|outcome| &outcome.dissent);
    let dissent: Vec<ArenaDissent> =
        recorded.filter_map(|value| ArenaDissent::deserialize(value).ok()).collect();
    let report = ArenaReport { log, verdict: &verdict };
    Ok(DebateView {
        votes: last_votes(log),
        citable: log.citable(),
        headline: outcome.map_or_else(Headline::default, |outcome| headline(outcome, &verdict, &report)),
        outline: report.outline(),
        positions: position_history(log),
        ballots: first_positions(log),
        dissent: dissent_items(log, &dissent),
        round_summaries: round_summaries(log),
        records: Vec::new(),
        checks: quality_checks(log),
        gate: None,
        items: Vec::new(),
    })
}

fn headline(outcome: &Outcome, verdict: &ArenaVerdict, report: &ArenaReport<'_>) -> Headline {
    let ending = match (outcome.termination, verdict.early_consensus) {
        // The vote and the judge follow the round in which the agents converged.
        (Termination::Converged, Some(round)) => format!("The agents converged in round {round}."),
        // The termination says that the vote met its rule, for which not every agent has to vote for the same.
        (Termination::Consensus, _) if !verdict.is_backed_by_all() => {
            report.consensus_of_some(outcome.rounds_completed)
        }
        _ => ending_sentence(outcome, "agents"),
    };
    Headline {
        verdict: None,
        answer: verdict.answer.clone(),
        why: Some(report.reason()),
        score: None,
        tone: report.tone(),
        ending,
    }
}

/// What each agent proposed in round 1, in a sentence, in seat order.
fn first_positions(log: &ArenaLog<'_>) -> Vec<Ballot> {
    let Some(first) = log.stages.first() else { return Vec::new() };
    let places = log.in_seat_order().into_iter();
    places
        .filter_map(|place| {
            let answer = first.held_by(place)?.said.position.trim().to_owned();
            Some(Ballot { seat: log.seat_id(place)?, answer, stands_alone: false })
        })
        .collect()
}

/// The last ballot of each agent, in seat order.
fn last_votes(log: &ArenaLog<'_>) -> Vec<SeatVote> {
    let Some(vote) = log.votes.last() else { return Vec::new() };
    let cast = log.in_seat_order().into_iter().filter_map(|place| {
        let (agent, ballot) = (log.agents.get(place)?, vote.ballot(place)?);
        Some(SeatVote {
            seat: agent.seat.id.clone(),
            label: Some(agent.label.clone()),
            vote: ballot.choice.map_or(ABSTAIN, |choice| log.label(choice)).to_owned(),
            confidence: Some(format!("{:.2}", ballot.confidence)),
        })
    });
    cast.collect()
}

fn dissent_items(log: &ArenaLog<'_>, dissent: &[ArenaDissent]) -> Vec<ReportItem> {
    if dissent.is_empty() {
        return minority_items(log.debate);
    }
    let item = |held: &ArenaDissent| ReportItem {
        who: Some(holder_name(log.debate, held.label.as_deref(), &held.seat)),
        text: held.position.clone(),
        note: Some(held.reason.clone()),
    };
    dissent.iter().map(item).collect()
}

/// Who held what: the proposals after each round in which any was made, and what each vote was for.
fn position_history(log: &ArenaLog<'_>) -> PositionHistory {
    let names = stage_names(log);
    let stages = log.stages.iter().enumerate();
    let stages = stages.filter(|(at, _)| (0..log.agents.len()).any(|place| log.is_new(*at, place)));
    let votes = log.votes.iter().enumerate().filter(|(_, vote)| vote.ballots.iter().any(Option::is_some));
    let mut phases: Vec<(u32, Option<usize>)> = stages.map(|(_, stage)| (stage.round, None)).collect();
    phases.extend(votes.map(|(at, vote)| (vote.round, Some(at))));
    phases.sort_unstable();
    phases.dedup();
    let rounds = phases.into_iter().map(|(round, vote)| {
        let stands = log.in_seat_order().into_iter().filter_map(|place| match vote {
            Some(vote) => voted_position(log, &names, place, vote),
            None => own_position(log, &names, place, round),
        });
        let mut held =
            RoundPositions { round, stands: stands.collect(), ballots: vote.is_some(), ruling: None };
        // What a vote decided stands until the next one, whatever is held in between.
        held.ruling = match vote.or_else(|| log.votes.iter().rposition(|vote| vote.round < round)) {
            Some(vote) => decided_name(log, &names, vote),
            None => held.plurality().map(str::to_owned),
        };
        held
    });
    let last = log.votes.len().checked_sub(1).filter(|_| log.debate.outcome.is_some());
    let decided = last.and_then(|vote| decided_name(log, &names, vote));
    let decided = decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held);
    PositionHistory {
        are_texts: true,
        rounds: rounds.collect(),
        decided,
        marks: judge_marks(log),
        near: None,
    }
}

/// The name of a position, and whether it is unsorted.
pub(super) type NamedPosition = (String, bool);

/// The names of all positions, by stage and place. Positions that are the same by declaration have one name.
pub(super) fn stage_names(log: &ArenaLog<'_>) -> Vec<Vec<Option<NamedPosition>>> {
    let holders = log.proposers();
    let (mut names, mut stages) = (PositionNames::default(), Vec::<Vec<Option<NamedPosition>>>::new());
    for (at, stage) in log.stages.iter().enumerate() {
        let text = |place: &usize| stage.held_by(*place).map_or("", |held| held.said.position.trim());
        let texts: Vec<&str> = holders.iter().map(text).collect();
        let earlier = at.checked_sub(1).and_then(|before| log.stages.get(before));
        let is_kept = |place: &usize| {
            let earlier = earlier.and_then(|stage| stage.held_by(*place));
            earlier.is_some_and(|held| is_same_text(&held.said.position, text(place)))
        };
        let keeps: Vec<bool> = holders.iter().map(is_kept).collect();
        let given = names.next_round(&stage_sorting(log, at, &holders), &texts, &keeps);
        let mut by_place: Vec<Option<NamedPosition>> = vec![None; log.agents.len()];
        for (place, name) in holders.iter().zip(given) {
            let before = stages.last().and_then(|stage| stage.get(*place)?.clone());
            // A seat that says the same has not moved. If the sorting suggests otherwise, nothing is known.
            let name = match before.filter(|(before, _)| !log.is_revised(at, *place) && *before != name.0) {
                Some((before, _)) => (before, true),
                None => name,
            };
            if let Some(slot) = by_place.get_mut(*place) {
                *slot = Some(name);
            }
        }
        stages.push(by_place);
    }
    stages
}

/// The groups of a stage. One is unsorted if it is not known how it relates to each of the others, and where the clerk contradicts itself
/// about three proposals. The winner of the next vote comes
/// first in its group, so that a new name has its words, which are the decision.
fn stage_sorting(log: &ArenaLog<'_>, stage: usize, holders: &[usize]) -> Sorting {
    let groups = log.same_groups(stage);
    let vote = log.votes.iter().position(|vote| vote.stage >= stage);
    let winner = vote.and_then(|vote| closing::winner_after(log, vote)).map(|winner| winner.place);
    let in_order = |members: &[usize]| {
        let mut places = members.to_vec();
        places.sort_by_key(|place| Some(*place) != winner);
        places
    };
    let is_known = |one: &[usize], other: &[usize]| {
        let mut pairs = one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
        pairs.all(|(a, b)| log.relation(stage, a, b).is_some_and(|relation| relation != PairRelation::Same))
    };
    let group = |members: &Vec<usize>| PositionGroup {
        statement: None,
        is_unsorted: groups.iter().any(|other| other != members && !is_known(members, other)),
        members: in_order(members)
            .iter()
            .filter_map(|place| holders.iter().position(|one| one == place))
            .collect(),
    };
    Sorting { groups: groups.iter().map(group).collect(), faults: Vec::new() }
}

/// The position that an agent's own proposal states after a round.
fn own_position(
    log: &ArenaLog<'_>,
    names: &[Vec<Option<NamedPosition>>],
    place: usize,
    round: u32,
) -> Option<SeatPosition> {
    let stage = log.stages.iter().rposition(|stage| stage.round <= round)?;
    let (position, is_unsorted) = named(names, stage, place)?;
    let said = &log.stages.get(stage)?.held_by(place)?.said;
    let mut stages = log.stages.iter().enumerate().filter(|(_, stage)| stage.round == round);
    let is_revised = stages.any(|(at, _)| log.is_revised(at, place));
    let before = log.stages.iter().rposition(|stage| stage.round < round);
    let said_before = before.and_then(|before| log.stages.get(before)?.held_by(place));
    let is_renamed = before.and_then(|at| named(names, at, place)).is_some_and(|(name, _)| name != position);
    // Who still says the same in one sentence has not changed its mind, even if the clerk now counts it as another position.
    let is_same = said_before.is_some_and(|before| is_same_text(&before.said.position, &said.position));
    let is_changed = is_revised && !(is_renamed && is_same);
    Some(SeatPosition {
        words: Some(said.position.trim().to_owned()),
        is_unsorted,
        confidence: Some(said.confidence),
        change: is_changed.then(|| revision_change(log, place, round)),
        ..seat_position(log, place, position)?
    })
}

/// The position that an agent votes for; `None` if it abstains or is absent. It is a change if it is not the agent's own, or if the
/// agent voted for another proposal the last time. If it is the agent's own position, the words are its own, too.
fn voted_position(
    log: &ArenaLog<'_>,
    names: &[Vec<Option<NamedPosition>>],
    place: usize,
    vote: usize,
) -> Option<SeatPosition> {
    let earlier = log.votes.get(..vote)?.iter().rev();
    let last = earlier.filter_map(|vote| vote.ballot(place)?.choice).next().unwrap_or(place);
    let vote = log.votes.get(vote)?;
    let ballot = vote.ballot(place)?;
    let choice = ballot.choice?;
    let (position, _) = named(names, vote.stage, choice)?;
    let is_moved = named(names, vote.stage, last).is_some_and(|(last, _)| last != position);
    let is_own = named(names, vote.stage, place).is_some_and(|(own, _)| own == position);
    let own = log.stages.get(vote.stage)?.held_by(place).filter(|_| is_own);
    Some(SeatPosition {
        words: own.map(|own| own.said.position.trim().to_owned()),
        confidence: Some(ballot.confidence),
        change: is_moved.then(|| vote_change(log, place, vote, ballot)),
        ..seat_position(log, place, position)?
    })
}

fn named(names: &[Vec<Option<NamedPosition>>], stage: usize, place: usize) -> Option<NamedPosition> {
    names.get(stage)?.get(place)?.clone()
}

fn seat_position(log: &ArenaLog<'_>, place: usize, position: String) -> Option<SeatPosition> {
    let agent = log.agents.get(place)?;
    let (seat, label) = (agent.seat.id.clone(), Some(agent.label.clone()));
    Some(SeatPosition { seat, label, position, ..SeatPosition::default() })
}

/// What a revision cites: the causes that its author declares and that verify. That it answers a critique makes it no cause.
fn revision_change(log: &ArenaLog<'_>, place: usize, round: u32) -> PositionChange {
    let held =
        log.stages.iter().filter(|stage| stage.round == round).filter_map(|stage| stage.held_by(place));
    let held: Vec<_> = held.filter(|held| held.round == round).collect();
    let (mut cited, mut sources) = (Vec::new(), Vec::new());
    for cause in held.iter().flat_map(|held| &held.said.changed_because) {
        cited.push(log.cited_cause(cause));
        sources.extend(log.item(&cause.id).map(|item| item.id.clone()));
    }
    let mut unverified: Vec<String> = held.iter().flat_map(|held| held.unverified.clone()).collect();
    unverified.dedup();
    let change = position_change(cited, sources, held.last().map_or("", |held| &held.said.analysis));
    PositionChange { unverified, ..change }
}

/// What a vote cites: the ids in its reason that the agent was shown, and the words of other proposals that it quotes.
fn vote_change(log: &ArenaLog<'_>, place: usize, vote: &VoteRound, ballot: &CastBallot) -> PositionChange {
    let (round, reason) = (vote.round, &ballot.reason);
    let shown = log.ids_shown(place, round);
    let found = SourceCitation::in_text(&log.quoted, &log.debate.brief, log.items_shown(round), reason);
    let is_quoted = |id: &String| found.iter().any(|source| source.id == *id);
    let ids = context::own_ids(reason).into_iter().filter(|id| shown.contains(&id.as_str()));
    let ids: Vec<String> = ids.filter(|id| !is_quoted(id)).collect();
    let sources = found.iter().map(|source| source.id.clone()).collect();
    let cited =
        ids.into_iter().map(|id| format!("[{id}]")).chain(found.into_iter().map(|source| source.cited));
    let words = quoted_proposals(log, place, vote, ballot);
    position_change(cited.chain(words).collect(), sources, reason)
}

/// The words of other proposals that a vote quotes. A vote has no field for them, so they stand in its analysis or in its reason.
fn quoted_proposals(log: &ArenaLog<'_>, place: usize, vote: &VoteRound, ballot: &CastBallot) -> Vec<String> {
    // Words of several proposals are those of the choice.
    let others = ballot.choice.into_iter().chain(log.proposers()).filter(|other| *other != place);
    let stage = log.stages.get(vote.stage);
    let texts = others.filter_map(|other| Some((other, stage?.held_by(other)?.said.text())));
    let texts: Vec<(usize, String)> = texts.collect();
    let quotes = [&ballot.analysis, &ballot.reason].into_iter().flat_map(|text| quoted_words(text));
    let cited = quotes.filter_map(|quote| {
        let (author, _) = texts.iter().find(|(_, text)| log.quoted.is_quoted(quote, text))?;
        Some(format!("{}: \"{}\"", log.name(*author), quote.trim()))
    });
    cited.collect()
}

fn position_change(mut cited: Vec<String>, sources: Vec<String>, reason: &str) -> PositionChange {
    cited.sort_unstable();
    cited.dedup();
    PositionChange {
        cited,
        sources,
        reason: Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
        ..PositionChange::default()
    }
}

/// The name of the proposal that a vote decided for, by arena's own rule.
fn decided_name(log: &ArenaLog<'_>, names: &[Vec<Option<NamedPosition>>], vote: usize) -> Option<String> {
    let winner = closing::winner_after(log, vote)?;
    named(names, log.votes.get(vote)?.stage, winner.place).map(|(name, _)| name)
}

/// What the judge gave each proposal, by label, in each order in which it was asked.
fn judge_marks(log: &ArenaLog<'_>) -> Vec<JudgeMarks> {
    let judge = || log.debate.brief.seats_of("judge").next().map_or(String::new(), |seat| seat.id.clone());
    let sheets = log.judgements.iter().flat_map(|judgement| {
        let sheets = judgement.result.iter().flat_map(|result| &result.sheets);
        sheets.map(move |sheet| (judgement.round, sheet))
    });
    sheets
        .map(|(round, sheet)| JudgeMarks {
            judge: judge(),
            round,
            order: u32::from(log.judging_orders(round).first() != Some(&sheet.order)),
            scores: sheet.scores.iter().map(|one| (log.label(one.place).to_owned(), one.score)).collect(),
            ranking: log.labels(&sheet.ranking),
        })
        .collect()
}

/// A table for every comparison, vote and judgement that is complete.
fn round_summaries(log: &ArenaLog<'_>) -> Vec<RoundSummary> {
    let (mut checks, mut votes, mut judgements) =
        (log.checks.iter(), log.votes.iter(), log.judgements.iter());
    let mut summaries = Vec::new();
    for (turn, after_phases) in log.debate.turns.iter().zip(1..) {
        let summary = match ArenaPhase::parse(&turn.phase.name) {
            Some(ArenaPhase::Compare) => checks.next().map(|check| check_summary(log, check)),
            Some(ArenaPhase::Vote) => votes.next().map(|vote| vote_summary(log, vote)),
            Some(ArenaPhase::Judge) => judgements.next().map(|judgement| judge_summary(log, judgement)),
            _ => None,
        };
        let is_complete = turn.outstanding().next().is_none();
        summaries.extend(summary.filter(|_| is_complete).map(|made| RoundSummary { after_phases, ..made }));
    }
    summaries
}

fn check_summary(log: &ArenaLog<'_>, check: &ConvergenceCheck) -> RoundSummary {
    let mut rows = table_head(&["Agent", "Position", "Revised", "Conflicts with"]);
    let held = log.stages.get(check.stage).into_iter().flat_map(|stage| stage.held.iter().enumerate());
    for (place, held) in held.filter_map(|(place, held)| Some((place, held.as_ref()?))) {
        let revised = match (held.carried, check.changed.contains(&place)) {
            (true, _) => "absent",
            (false, true) => "yes",
            (false, false) => "no",
        };
        let conflicts = log.labels(&held.conflicts).join(", ");
        rows.push(vec![log.label(place).to_owned(), cut(&held.said.position), revised.to_owned(), conflicts]);
    }
    let pairs = check.pairs.iter().map(|pair| {
        let (a, b) = (log.label(pair.a), log.label(pair.b));
        format!("{a} and {b}: {} ({:.2})", pair.relation.as_str(), pair.similarity)
    });
    let unknown =
        check.unknown.iter().map(|(a, b)| format!("{} and {}: not known", log.label(*a), log.label(*b)));
    let result = match (&check.sorted_by, check.agreement_min, check.converged) {
        (None, ..) => "the clerk was absent, not converged".to_owned(),
        (Some(_), None, _) => "not all pairs are known, not converged".to_owned(),
        (Some(_), Some(least), true) => format!("convergence score {least:.2}, converged"),
        (Some(_), Some(least), false) => format!("convergence score {least:.2}, not converged"),
    };
    let notes = [("How the clerk relates them".to_owned(), pairs.chain(unknown).collect::<Vec<_>>())];
    RoundSummary {
        title: format!("Round {}: {result}", check.round),
        rows,
        notes: notes
            .into_iter()
            .filter(|(_, items)| !items.is_empty() && check.sorted_by.is_some())
            .collect(),
        ..RoundSummary::default()
    }
}

fn vote_summary(log: &ArenaLog<'_>, vote: &VoteRound) -> RoundSummary {
    let mut rows = table_head(&["Agent", "Vote", "Confidence", "Reason"]);
    for place in log.in_seat_order() {
        let cells = match vote.ballot(place) {
            Some(ballot) => {
                let choice = ballot.choice.map_or(ABSTAIN, |choice| log.label(choice));
                let own = if ballot.choice == Some(place) { " (own)" } else { "" };
                [format!("{choice}{own}"), format!("{:.2}", ballot.confidence), cut(&ballot.reason)]
            }
            None => ["absent".to_owned(), "-".to_owned(), String::new()],
        };
        rows.push(std::iter::once(log.label(place).to_owned()).chain(cells).collect());
    }
    let kind = log.options.consensus.as_str();
    let result = match vote.winning() {
        Some(group) => {
            let (labels, votes) = (log.labels(group).join(", "), vote.votes(group));
            format!("{kind} for {labels} ({votes} of {})", vote.cast())
        }
        None if !vote.is_quorum() => format!("no quorum: {}", vote.turnout()),
        None if vote.hollow => "the agreement is hollow and does not count".to_owned(),
        None => format!("no {kind}"),
    };
    let title = format!("Round {}: the vote: {result}", vote.round);
    RoundSummary { title, rows, ..RoundSummary::default() }
}

fn judge_summary(log: &ArenaLog<'_>, judgement: &JudgeRound) -> RoundSummary {
    let mut rows = table_head(&["Proposal", "Score", "Reasons"]);
    let Some(judged) = &judgement.result else {
        let title = format!("Round {}: the judge was absent", judgement.round);
        return RoundSummary { title, rows, ..RoundSummary::default() };
    };
    for place in &judged.ranking {
        let score = judged.score(*place).unwrap_or_default();
        let reasons = cut(&judged.reasons(*place).join("; "));
        rows.push(vec![log.label(*place).to_owned(), format!("{score:.1}"), reasons]);
    }
    let result = match judged.top() {
        Some(top) => {
            let next = judged.ranking.get(1).map_or("", |next| log.label(*next));
            format!("{} is best, {:.1} ahead of {next}", log.label(top), judged.margin)
        }
        None => format!("a tie between {}", log.labels(&judged.first).join(" and ")),
    };
    let title = format!("Round {}: the judge: {result}", judgement.round);
    RoundSummary { title, rows, ..RoundSummary::default() }
}

fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SUMMARY_CHARS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}

/// The seed's mechanisms, checked over the log, in the order of the rounds.
fn quality_checks(log: &ArenaLog<'_>) -> Vec<QualityCheck> {
    let mut checks = round_checks(log);
    checks.extend(decision_checks(log));
    checks
}

fn check(sentence: &str, met: Option<bool>, note: impl Into<String>, shown_by: Vec<u32>) -> QualityCheck {
    QualityCheck { sentence: sentence.to_owned(), met, note: note.into(), shown_by }
}

fn count(number: usize, noun: &str) -> String {
    counted(number as u64, noun)
}

/// How many asks of a phase were answered.
fn answered(turn: &PhaseTurn) -> usize {
    turn.settled().filter(|(_, reply)| reply.text().is_some()).count()
}

/// The asks of all phases of this kind.
fn asks_of(log: &ArenaLog<'_>, phase: ArenaPhase) -> Vec<u32> {
    log.debate.turns_of(phase.as_str()).flat_map(|turn| &turn.asks).map(|ask| ask.id).collect()
}

/// Rounds 0 to 6. A round that was not held counts as missing if there was a vote, because then a limit cut it.
fn round_checks(log: &ArenaLog<'_>) -> Vec<QualityCheck> {
    let turn = |phase: ArenaPhase| log.debate.turns_of(phase.as_str()).next();
    let missing = (!log.votes.is_empty()).then_some(false);
    let held = |phase: ArenaPhase, sentence: &str, result: &dyn Fn(&PhaseTurn) -> (bool, String)| match turn(
        phase,
    ) {
        Some(turn) => {
            let (met, note) = result(turn);
            check(sentence, Some(met), note, asks_of(log, phase))
        }
        None => check(sentence, missing, "it was not held", Vec::new()),
    };
    let wanted = context::sources(&log.options).len();
    let context =
        held(ArenaPhase::Context, "Round 0 gathers context: knowledge, memory, current topics", &|turn| {
            // What the person attached is from no source.
            let found = || log.context.iter().filter(|item| item.kind != ContextKind::Attached);
            let cited = found().filter(|item| !item.cited_by(log).is_empty()).count();
            let (heard, sources, items) = (answered(turn), count(wanted, "source"), found().count());
            (heard == wanted, format!("{heard} of {sources} answered, {items} found, {cited} cited"))
        });
    let context = if wanted == 0 { QualityCheck { met: None, ..context } } else { context };
    let proposals = held(
        ArenaPhase::Propose,
        "Round 1: all agents propose at once, and nobody sees another's proposal",
        &|turn| {
            let earlier = log.debate.turns.iter().take_while(|other| other.since < turn.since);
            let mut earlier = earlier.flat_map(|turn| &turn.asks);
            let spoke_earlier = earlier.any(|ask| log.debate.brief.seat(&ask.seat).is_some());
            let note = format!("{} of {} in one phase", answered(turn), count(turn.asks.len(), "proposal"));
            (!spoke_earlier && turn.asks.len() == log.agents.len(), note)
        },
    );
    let critiques =
        held(ArenaPhase::Critique, "Round 2: every agent critiques each other agent's proposal", &|turn| {
            let due = log.proposers().len() * log.agents.len().saturating_sub(1);
            let of_round = log.critiques.iter().filter(|critique| critique.round == turn.phase.round);
            let addressed = of_round.filter(|critique| critique.last_step(log, false).is_some()).count();
            let made = answered(turn);
            (made == due, format!("{made} of {}, {addressed} answered by id", count(due, "critique")))
        });
    let sorting =
        held(ArenaPhase::Revise, "Rounds 3 to 5: the clerk sorts the proposals after each revision", &|_| {
            let revised = log.stages.iter().enumerate().filter(|(_, stage)| {
                stage.phase == ArenaPhase::Revise && (FIRST_REVISION..=LAST_REVISION).contains(&stage.round)
            });
            let stages: Vec<usize> = revised.map(|(at, _)| at).collect();
            let is_sorted = |check: &ConvergenceCheck| check.sorted_by.is_some() && check.unknown.is_empty();
            let sorted = stages.iter().filter(|stage| log.check_of(**stage).is_some_and(is_sorted)).count();
            (sorted == stages.len(), format!("{sorted} of {} sorted", count(stages.len(), "round")))
        });
    let early = log.early_consensus().filter(|_| !log.votes.is_empty());
    let converged = log.checks.iter().find(|check| check.converged && check.round <= LAST_REVISION);
    let note = match (early, converged) {
        (Some(round), _) => format!("in round {round}"),
        (None, Some(found)) => format!("round {} converged, but the agreement was hollow", found.round),
        (None, None) => "no round converged".to_owned(),
    };
    let short_circuit = check(
        "Convergence short-circuits to consensus: straight to the vote",
        early.map(|_| true),
        note,
        asks_of(log, ArenaPhase::Compare),
    );
    let refinement = held(ArenaPhase::Refine, "Round 6: a final refinement with all feedback", &|turn| {
        (answered(turn) > 0, format!("{} of {}", answered(turn), count(turn.asks.len(), "proposal")))
    });
    let refinement = if early.is_some() { QualityCheck { met: None, ..refinement } } else { refinement };
    vec![context, proposals, critiques, sorting, short_circuit, refinement]
}

/// The vote, the judge, and what follows from them.
fn decision_checks(log: &ArenaLog<'_>) -> Vec<QualityCheck> {
    const TOLERANCE: f64 = 1e-9;
    let (vote, judged) = (log.votes.last(), closing::final_judgement(log));
    let judge_asks = asks_of(log, ArenaPhase::Judge);
    let cast = match vote {
        Some(vote) => {
            let votes = count(log.votes.len(), "vote");
            format!("{} of {} in the last vote, {votes}", vote.cast(), log.agents.len())
        }
        None => format!("only {}: no vote", count(log.proposers().len(), "proposal")),
    };
    let scored = match judged {
        Some(judged) => {
            format!("{} scored in {}", judged.scores.len(), count(judged.sheets.len(), "order"))
        }
        None if judge_asks.is_empty() => "it was not asked".to_owned(),
        None => "it was absent the last time".to_owned(),
    };
    let held = log.extended_rounds();
    let stops = vote.zip(judged).map(|(vote, judged)| closing::is_early_stop(log, vote, judged));
    let after = counted(u64::from(held), "extended round");
    let extended = match stops {
        None => "there is no judgement to stop at".to_owned(),
        Some(true) => format!("met after {after}"),
        Some(false) => format!("not met after {after}"),
    };
    let rated = voting::rated_seats(log);
    let sum: f64 = rated.iter().map(|rated| rated.change).sum();
    let is_rated = (!rated.is_empty()).then(|| sum.abs() < TOLERANCE);
    vec![
        check(
            "Round 7: all agents vote, and half of them choose a proposal",
            Some(vote.is_some_and(VoteRound::is_quorum)),
            cast,
            asks_of(log, ArenaPhase::Vote),
        ),
        check(
            "Round 8: one judge scores and ranks every proposal",
            Some(judged.is_some_and(|judged| judged.scores.len() == log.proposers().len())),
            scored,
            judge_asks.clone(),
        ),
        check(
            "Extended rounds only if the early stop criteria are not met",
            stops.map(|stops| stops || held >= log.options.max_extended_rounds),
            extended,
            judge_asks.clone(),
        ),
        check(
            "Ratings change by the judge's scores, and sum to 0",
            is_rated,
            count(rated.len(), "rated seat"),
            judge_asks,
        ),
        positions_check(log),
    ]
}

fn positions_check(log: &ArenaLog<'_>) -> QualityCheck {
    let fates = closing::position_fates(log);
    let of = |fate: Fate| fates.iter().filter(|position| position.fate == fate).count();
    let (adopted, given_up, minority) = (of(Fate::Adopted), of(Fate::Refuted), of(Fate::Minority));
    let open = of(Fate::NotSettled);
    let dissent = closing::dissent(log, &fates);
    // Who gave its first position up may dissent with a later one.
    let is_told = |position: &PositionFate| dissent.iter().any(|told| told.seat == position.seat);
    let is_conserved = fates.iter().all(|position| {
        !position.reason.is_empty() && (position.fate != Fate::Minority || is_told(position))
    });
    check(
        "Every position of round 1 is adopted, given up with a reason, not settled, or dissent",
        (!fates.is_empty()).then_some(is_conserved),
        format!("{adopted} adopted, {given_up} given up, {open} not settled, {minority} kept by dissenters"),
        asks_of(log, ArenaPhase::Propose),
    )
}

impl ArenaLog<'_> {
    /// What can be cited by an id: every issue of every critique, as its author's reply has it. What the clerk says of two proposals has
    /// a remark where it does not verify.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let judge = self.debate.brief.seats_of("judge").next();
        let mut texts = Vec::new();
        for critique in &self.critiques {
            let seat = match critique.from {
                CritiqueSource::Peer(place) | CritiqueSource::Voter(place, _) => {
                    self.agents.get(place).map(|agent| &agent.seat.id)
                }
                CritiqueSource::Judge => judge.map(|seat| &seat.id),
            };
            let Some(seat) = seat else { continue };
            texts.extend(critique.issues.iter().map(|issue| CitableText {
                id: critique.id.clone(),
                seat: seat.clone(),
                round: critique.round,
                text: issue.clone(),
                remark: None,
            }));
        }
        texts.extend(self.unverified_pairs());
        texts
    }

    /// The pairs of which no sorting of their round says anything that verifies, by both names of each.
    fn unverified_pairs(&self) -> Vec<CitableText> {
        let is_unknown = |round: u32, pair: &(usize, usize)| {
            let mut checks = self.checks.iter().filter(|check| check.round == round);
            checks.all(|check| check.unknown.contains(pair))
        };
        let pairs = self.checks.iter().flat_map(|check| check.unknown.iter().map(|pair| (check.round, pair)));
        let pairs = pairs.filter(|(round, pair)| is_unknown(*round, pair));
        let named = pairs.flat_map(|(round, (a, b))| [(round, [*a, *b]), (round, [*b, *a])]);
        named
            .map(|(round, pair)| CitableText {
                id: String::new(),
                seat: CLERK.to_owned(),
                round,
                text: self.names(&pair),
                remark: Some("does not verify and does not count"),
            })
            .collect()
    }
}
