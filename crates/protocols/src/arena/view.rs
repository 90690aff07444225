//! All that a reader may want to know of an arena: headline, ballots, dissent, the seed's mechanisms as checks over the log, and what can
//! be cited by an id. Who held what is in [`positions`](super::positions), the outline in [`report`](super::report).

use agon_core::view::{ending_sentence, holder_name, minority_items};
use agon_core::wording::{counted, number_word};
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, Fate, Headline, Outcome, PhaseTurn, PositionFate, QualityCheck,
    ReportItem, SeatVote, Termination,
};
use serde::Deserialize;

use super::closing::{self, ArenaDissent};
use super::convergence::ComparedPair;
use super::log::{ArenaLog, agent_name};
use super::positions::position_history;
use super::report::ArenaReport;
use super::verdict::ArenaVerdict;
use super::voting::{self, ArenaBallot, VoteRound};
use super::{ArenaPhase, LAST_REVISION, context};
use crate::clerk::CLERK;

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
