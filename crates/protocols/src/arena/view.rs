//! All that a reader may want to know of an arena but the report, which is in [`report`](super::report): headline, ballots, dissent, the
//! seed's mechanisms as checks over the log, what can be cited by an id, and who held what.
//!
//! Who held what: what each agent proposed after each round, and what each vote was for. The two are kept apart, also in an extended
//! round, which has both. Who abstains holds nothing in a vote.
//!
//! A position is what an agent states in one sentence. It stays the same position while the sentence does, however later sortings relate
//! it to others. An agent with a new sentence takes the position of a proposal that is the same as its own, else the one that had this
//! sentence before, else a new one.

use std::collections::BTreeMap;

use agon_core::view::{ending_sentence, holder_name, minority_items};
use agon_core::wording::{counted, number_word};
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, DecidedPosition, Fate, Headline, JudgeMarks, Outcome,
    PhaseTurn, PositionChange, PositionFate, PositionHistory, QualityCheck, ReportItem, RoundPositions,
    SeatPosition, SeatVote, Termination,
};
use serde::Deserialize;

use super::closing::{self, ArenaDissent};
use super::convergence::ComparedPair;
use super::log::{ArenaLog, agent_name};
use super::replies::PairRelation;
use super::report::ArenaReport;
use super::verdict::ArenaVerdict;
use super::voting::{self, ArenaBallot, VoteRound};
use super::{ArenaPhase, LAST_REVISION, context};
use crate::clerk::CLERK;
use crate::quotes::{is_same_text, quoted_words};
use crate::tools::SourceCitation;

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
        votes: last_votes(&verdict),
        citable: log.citable(),
        headline: outcome.map_or_else(Headline::default, |outcome| headline(outcome, &verdict, &report)),
        outline: report.outline(),
        positions: position_history(log),
        ballots: first_positions(log),
        dissent: dissent_items(log, &dissent),
        round_summaries: report.round_summaries(),
        records: Vec::new(),
        checks: quality_checks(log),
        gate: None,
        items: Vec::new(),
    })
}

fn headline(outcome: &Outcome, verdict: &ArenaVerdict, report: &ArenaReport<'_>) -> Headline {
    let (all, votes) = (verdict.consensus.agents, verdict.tally.first().map_or(0, |group| group.votes));
    let ending = match (outcome.termination, verdict.early_consensus) {
        // The vote and the judge follow the round in which the agents converged.
        (Termination::Converged, Some(round)) => format!("The agents converged in round {round}."),
        // The termination says that the vote met its rule, for which not every agent has to vote for the same.
        (Termination::Consensus, _) if votes < all => format!(
            "After {} {} of {} agents vote for the same.",
            counted(u64::from(outcome.rounds_completed), "round"),
            number_word(votes),
            number_word(all)
        ),
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
            let answer = first.held_by(place)?.said.now.position.clone();
            Some(Ballot { seat: log.seat_id(place)?, answer, stands_alone: false })
        })
        .collect()
}

/// The last ballot of each agent, in seat order.
fn last_votes(verdict: &ArenaVerdict) -> Vec<SeatVote> {
    let vote = |ballot: &ArenaBallot| SeatVote {
        seat: ballot.seat.clone(),
        label: Some(ballot.label.clone()),
        vote: ballot.choice.clone(),
        confidence: Some(format!("{:.2}", ballot.confidence)),
    };
    verdict.votes.iter().map(vote).collect()
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

/// The seed's mechanisms, checked over the log, in the order of the rounds.
fn quality_checks(log: &ArenaLog<'_>) -> Vec<QualityCheck> {
    [round_checks(log), decision_checks(log), vec![positions_check(log)]].concat()
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
    let missing = (!log.votes.is_empty()).then_some(false);
    let held = |phase: ArenaPhase, sentence: &str, is_met: &dyn Fn(&PhaseTurn) -> bool| {
        let asks = asks_of(log, phase);
        match log.debate.turns_of(phase.as_str()).next() {
            Some(turn) => {
                let note = format!("{} of {}", answered(turn), count(turn.asks.len(), "answer"));
                check(sentence, Some(is_met(turn)), note, asks)
            }
            None => check(sentence, missing, "it was not held", asks),
        }
    };
    let wanted = context::sources(&log.options).len();
    let context = "Round 0 gathers context: knowledge, memory, current topics";
    let context = held(ArenaPhase::Context, context, &|turn| answered(turn) == wanted);
    let context = if wanted == 0 { QualityCheck { met: None, ..context } } else { context };
    let proposals = "Round 1: all agents propose at once, and nobody sees another's proposal";
    let proposals = held(ArenaPhase::Propose, proposals, &|turn| {
        let earlier = log.debate.turns.iter().take_while(|other| other.since < turn.since);
        let mut earlier = earlier.flat_map(|turn| &turn.asks);
        let spoke_earlier = earlier.any(|ask| log.debate.brief.seat(&ask.seat).is_some());
        !spoke_earlier && turn.asks.len() == log.agents.len()
    });
    let critiques = "Round 2: every agent critiques each other agent's proposal";
    let due = log.proposers().len() * log.agents.len().saturating_sub(1);
    let critiques = held(ArenaPhase::Critique, critiques, &|turn| answered(turn) == due);
    let sorting = "Rounds 3 to 5: the clerk sorts the proposals after each revision";
    let sorting = held(ArenaPhase::Revise, sorting, &|_| {
        let is_sorted = |stage| log.check_of(stage).is_some_and(|check| check.unknown().next().is_none());
        let mut stages = log.stages.iter().enumerate();
        stages.all(|(at, stage)| {
            let is_revision = stage.phase == ArenaPhase::Revise && stage.round <= LAST_REVISION;
            !is_revision || is_sorted(at)
        })
    });
    let early = log.early_consensus().filter(|_| !log.votes.is_empty());
    let converged = log.checks.iter().find(|check| check.converged && check.round <= LAST_REVISION);
    let note = match (early, converged) {
        (Some(round), _) => format!("in round {round}"),
        (None, Some(found)) => format!("round {} converged, but the agreement was hollow", found.round),
        (None, None) => "no round converged".to_owned(),
    };
    let short_circuit = "Convergence short-circuits to consensus: straight to the vote";
    let asks = asks_of(log, ArenaPhase::Compare);
    let short_circuit = check(short_circuit, early.map(|_| true), note, asks);
    let refinement = "Round 6: a final refinement with all feedback";
    let refinement = held(ArenaPhase::Refine, refinement, &|turn| answered(turn) > 0);
    let refinement = if early.is_some() { QualityCheck { met: None, ..refinement } } else { refinement };
    vec![context, proposals, critiques, sorting, short_circuit, refinement]
}

/// The vote, the judge, and what follows from them.
fn decision_checks(log: &ArenaLog<'_>) -> Vec<QualityCheck> {
    const TOLERANCE: f64 = 1e-9;
    let (vote, judged) = (log.votes.last(), closing::final_judgement(log));
    let judge_asks = asks_of(log, ArenaPhase::Judge);
    let cast = format!("{} of {}", vote.map_or(0, VoteRound::cast), count(log.agents.len(), "vote"));
    let scored = count(judged.map_or(0, |judged| judged.scores.len()), "proposal");
    let held = log.extended_rounds();
    let stops = vote.zip(judged).map(|(vote, judged)| closing::is_early_stop(log, vote, judged));
    let rated = voting::rated_seats(log);
    let sum: f64 = rated.iter().map(|rated| rated.change).sum();
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
            counted(u64::from(held), "extended round"),
            judge_asks.clone(),
        ),
        check(
            "Ratings change by the judge's scores, and sum to 0",
            (!rated.is_empty()).then(|| sum.abs() < TOLERANCE),
            count(rated.len(), "rated seat"),
            judge_asks,
        ),
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
            let place = critique.from.agent();
            let agent = place.and_then(|place| self.agents.get(place)).map(|agent| agent.seat);
            let Some(seat) = agent.or(judge).map(|seat| &seat.id) else { continue };
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
        let is_unknown = |round: u32, pair: &ComparedPair| {
            let mut checks = self.checks.iter().filter(|check| check.round == round);
            checks.all(|check| check.relation(&pair.a, &pair.b).is_none())
        };
        let pairs = self.checks.iter().flat_map(|check| check.unknown().map(|pair| (check.round, pair)));
        let pairs = pairs.filter(|(round, pair)| is_unknown(*round, pair));
        let named = pairs.flat_map(|(round, pair)| [(round, &pair.a, &pair.b), (round, &pair.b, &pair.a)]);
        named
            .map(|(round, one, other)| CitableText {
                id: String::new(),
                seat: CLERK.to_owned(),
                round,
                text: format!("{} and {}", agent_name(one), agent_name(other)),
                remark: Some("does not verify and does not count"),
            })
            .collect()
    }
}

/// Who held what: the proposals after each round in which any was made, and what each vote was for.
pub(super) fn position_history(log: &ArenaLog<'_>) -> PositionHistory {
    let table = PositionTable::of(log);
    let stages = log.stages.iter().enumerate();
    let stages = stages.filter(|(at, _)| (0..log.agents.len()).any(|place| log.is_new(*at, place)));
    let votes = log.votes.iter().enumerate().filter(|(_, vote)| !vote.ballots.is_empty());
    let mut phases: Vec<(u32, Option<usize>)> = stages.map(|(_, stage)| (stage.round, None)).collect();
    phases.extend(votes.map(|(at, vote)| (vote.round, Some(at))));
    phases.sort_unstable();
    phases.dedup();
    let rounds = phases.into_iter().map(|(round, vote)| {
        let stands = log.in_seat_order().into_iter().filter_map(|place| match vote {
            Some(vote) => table.voted(log, place, vote),
            None => table.proposed(log, place, round),
        });
        let mut held =
            RoundPositions { round, stands: stands.collect(), ballots: vote.is_some(), ruling: None };
        // What a vote decided stands until the next one, whatever is held in between.
        held.ruling = match vote.or_else(|| log.votes.iter().rposition(|vote| vote.round < round)) {
            Some(vote) => table.decided(log, vote),
            None => held.plurality().map(str::to_owned),
        };
        held
    });
    let rounds = rounds.collect();
    let last = log.votes.len().checked_sub(1).filter(|_| log.debate.outcome.is_some());
    let decided = last.and_then(|vote| table.decided(log, vote));
    let decided = decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held);
    PositionHistory { are_texts: true, rounds, decided, marks: judge_marks(log), near: None }
}

/// The position of an agent after a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NumberedPosition {
    number: usize,
    /// Whether it is not known how it relates to the others of the stage.
    is_unsorted: bool,
}

/// The positions of a debate, by stage and place, and their names.
struct PositionTable {
    stages: Vec<BTreeMap<usize, NumberedPosition>>,
    names: Vec<String>,
}

impl PositionTable {
    fn of(log: &ArenaLog<'_>) -> Self {
        let (mut stages, mut count) = (Vec::<BTreeMap<usize, NumberedPosition>>::new(), 0);
        for at in 0..log.stages.len() {
            let kept = |place: &usize| {
                let before = at.checked_sub(1)?;
                let is_kept = is_same_text(sentence(log, before, *place), sentence(log, at, *place));
                stages.get(before)?.get(place).copied().filter(|_| is_kept)
            };
            let groups = log.same_groups(at);
            let mut now: BTreeMap<usize, NumberedPosition> =
                log.proposers().iter().filter_map(|place| Some((*place, kept(place)?))).collect();
            for group in &groups {
                let is_held = |number: usize| now.values().any(|held| held.number == number);
                let joined = group.iter().find_map(|place| Some(now.get(place)?.number));
                let joined = joined.or_else(|| {
                    let again = number_of_sentence(log, &stages, sentence(log, at, *group.first()?));
                    again.filter(|number| !is_held(*number))
                });
                let number = joined.unwrap_or(count);
                count = count.max(number + 1);
                let is_unsorted =
                    groups.iter().any(|other| other != group && !is_apart(log, at, group, other));
                for place in group {
                    let new = NumberedPosition { number, is_unsorted: true };
                    let held = now.entry(*place).or_insert(new);
                    // Whose sentence stays keeps its position. If the sorting now counts it as another, nothing is known.
                    held.is_unsorted = (held.is_unsorted && is_unsorted) || held.number != number;
                }
            }
            stages.push(now);
        }
        Self { names: position_names(log, &stages, count), stages }
    }

    fn name(&self, stage: usize, place: usize) -> Option<&String> {
        self.names.get(self.stages.get(stage)?.get(&place)?.number)
    }

    /// The position that an agent's own proposal states after a round.
    fn proposed(&self, log: &ArenaLog<'_>, place: usize, round: u32) -> Option<SeatPosition> {
        let stage = log.stages.iter().rposition(|stage| stage.round <= round)?;
        let said = &log.stages.get(stage)?.held_by(place)?.said;
        let mut stages = log.stages.iter().enumerate().filter(|(_, stage)| stage.round == round);
        let is_revised = stages.any(|(at, _)| log.is_revised(at, place));
        Some(SeatPosition {
            words: Some(said.now.position.clone()),
            is_unsorted: self.stages.get(stage)?.get(&place)?.is_unsorted,
            confidence: Some(said.now.confidence),
            change: is_revised.then(|| revision_change(log, place, round)),
            ..seat_position(log, place, self.name(stage, place)?)?
        })
    }

    /// The position that an agent votes for; `None` if it abstains or is absent. It is a change if it is not the agent's own, or if the
    /// agent voted for another proposal the last time. If it is the agent's own position, the words are its own, too.
    fn voted(&self, log: &ArenaLog<'_>, place: usize, vote: usize) -> Option<SeatPosition> {
        let earlier = log.votes.get(..vote)?.iter().rev();
        let last = earlier.filter_map(|vote| vote.ballot(place)?.chosen).next().unwrap_or(place);
        let name = |place: usize| self.voted_name(log, vote, place);
        let vote = log.votes.get(vote)?;
        let ballot = vote.ballot(place)?;
        let position = name(ballot.chosen?)?;
        let is_own = name(place) == Some(position);
        let is_moved = name(last).is_some_and(|last| last != position);
        Some(SeatPosition {
            words: is_own.then(|| sentence(log, vote.stage, place).to_owned()),
            confidence: Some(ballot.confidence),
            change: is_moved.then(|| vote_change(log, place, vote, ballot)),
            ..seat_position(log, place, position)?
        })
    }

    /// What a vote counts a proposal as: the position of the one that stands for all that are the same.
    fn voted_name(&self, log: &ArenaLog<'_>, vote: usize, place: usize) -> Option<&String> {
        let judged = log.judgements.get(vote).and_then(|judgement| judgement.result.as_ref());
        let vote = log.votes.get(vote)?;
        self.name(vote.stage, vote.best_of(log, vote.group(place), judged)?)
    }

    /// The position that a vote decided for, by arena's own rule.
    fn decided(&self, log: &ArenaLog<'_>, vote: usize) -> Option<String> {
        let winner = closing::winner_after(log, vote)?;
        self.voted_name(log, vote, winner.place).cloned()
    }
}

/// An agent's position in one sentence, after a stage.
fn sentence<'l>(log: &'l ArenaLog<'_>, stage: usize, place: usize) -> &'l str {
    let held = log.stages.get(stage).and_then(|stage| stage.held_by(place));
    held.map_or("", |held| held.said.now.position.as_str())
}

/// The position that had this sentence in an earlier stage.
fn number_of_sentence(
    log: &ArenaLog<'_>,
    stages: &[BTreeMap<usize, NumberedPosition>],
    wanted: &str,
) -> Option<usize> {
    let mut held = stages.iter().enumerate().flat_map(|(at, held)| held.iter().map(move |one| (at, one)));
    let found = held.find(|(at, (place, _))| is_same_text(sentence(log, *at, **place), wanted));
    found.map(|(_, (_, held))| held.number)
}

/// Whether it is known that no proposal of one group is the same as one of the other.
fn is_apart(log: &ArenaLog<'_>, stage: usize, group: &[usize], other: &[usize]) -> bool {
    let mut pairs = group.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
    pairs.all(|(a, b)| log.relation(stage, a, b).is_some_and(|relation| relation != PairRelation::Same))
}

/// The name of each position: the sentence in which it was first proposed. Holders may put it differently; their words stand beside it.
fn position_names(
    log: &ArenaLog<'_>,
    stages: &[BTreeMap<usize, NumberedPosition>],
    count: usize,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for number in 0..count {
        let mut held = stages.iter().enumerate().flat_map(|(at, held)| held.iter().map(move |one| (at, one)));
        let first = held.find(|(_, (_, held))| held.number == number);
        let first = first.map_or("", |(at, (place, _))| sentence(log, at, *place));
        let first = if first.is_empty() { "(no words)" } else { first };
        let taken = names.iter().filter(|name| is_same_text(name, first)).count();
        names.push(if taken == 0 { first.to_owned() } else { format!("{first} ({})", taken + 1) });
    }
    names
}

fn seat_position(log: &ArenaLog<'_>, place: usize, position: &str) -> Option<SeatPosition> {
    let agent = log.agents.get(place)?;
    let (seat, label) = (agent.seat.id.clone(), Some(agent.label.clone()));
    Some(SeatPosition { seat, label, position: position.to_owned(), ..SeatPosition::default() })
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
fn vote_change(log: &ArenaLog<'_>, place: usize, vote: &VoteRound, ballot: &ArenaBallot) -> PositionChange {
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
fn quoted_proposals(log: &ArenaLog<'_>, place: usize, vote: &VoteRound, ballot: &ArenaBallot) -> Vec<String> {
    // Words of several proposals are those of the choice.
    let others = ballot.chosen.into_iter().chain(log.proposers()).filter(|other| *other != place);
    let stage = log.stages.get(vote.stage);
    let texts = others.filter_map(|other| Some((other, stage?.held_by(other)?.said.now.text())));
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

/// What the judge gave each proposal, by label, in each order in which it was asked.
fn judge_marks(log: &ArenaLog<'_>) -> Vec<JudgeMarks> {
    let judge = || log.debate.brief.seats_of("judge").next().map_or(String::new(), |seat| seat.id.clone());
    let sheets = log.judgements.iter().flat_map(|judgement| {
        let sheets = judgement.result.iter().flat_map(|result| &result.orders);
        sheets.map(move |sheet| (judgement.round, sheet))
    });
    sheets
        .map(|(round, sheet)| JudgeMarks {
            judge: judge(),
            round,
            order: u32::from(
                log.judging_orders(round).first().map(|first| log.labels(first)).as_ref()
                    != Some(&sheet.order),
            ),
            scores: sheet.scores.iter().map(|one| (one.label.clone(), one.score)).collect(),
            ranking: sheet.ranking.clone(),
        })
        .collect()
}
