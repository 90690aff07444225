//! All that a reader may want to know of an arena: headline, ballots, dissent, round summaries and quality checks.

use agon_core::view::{ending_sentence, holder_name, minority_items};
use agon_core::wording::counted;
use agon_core::{
    Ballot, Corrupt, DebateView, Fate, Headline, Outcome, PhaseTurn, QualityCheck, ReportItem, RoundSummary,
    Termination,
};
use serde::Deserialize;

use super::ballots::{ABSTAIN, VoteRound};
use super::closing::{self, ArenaDissent};
use super::convergence::ConvergenceCheck;
use super::log::{ArenaLog, JudgeRound};
use super::positions::position_history;
use super::report::{ArenaReport, table_head};
use super::verdict::ArenaVerdict;
use super::{ArenaPhase, FIRST_REVISION, LAST_REVISION, context, judging};

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
    let report = ArenaReport { debate: log.debate, verdict: &verdict, dissent: &dissent };
    Ok(DebateView {
        votes: Vec::new(),
        headline: outcome.map_or_else(Headline::default, |outcome| headline(outcome, &verdict, &report)),
        outline: report.outline(),
        positions: position_history(log)?,
        ballots: first_positions(log),
        dissent: dissent_items(log, &dissent),
        round_summaries: round_summaries(log),
        records: Vec::new(),
        checks: quality_checks(log),
        gate: None,
    })
}

fn headline(outcome: &Outcome, verdict: &ArenaVerdict, report: &ArenaReport<'_>) -> Headline {
    let ending = match (outcome.termination, verdict.early_consensus) {
        // The vote and the judge follow the round in which the agents converged.
        (Termination::Converged, Some(round)) => format!("The agents converged in round {round}."),
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
            Some(Ballot { seat: log.agents.get(place)?.seat.id.clone(), answer, stands_alone: false })
        })
        .collect()
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
            Some(
                ArenaPhase::Context
                | ArenaPhase::Propose
                | ArenaPhase::Critique
                | ArenaPhase::Revise
                | ArenaPhase::Challenge
                | ArenaPhase::Refine,
            )
            | None => None,
        };
        let is_complete = turn.outstanding().next().is_none();
        summaries.extend(summary.filter(|_| is_complete).map(|made| RoundSummary { after_phases, ..made }));
    }
    summaries
}

fn check_summary(log: &ArenaLog<'_>, check: &ConvergenceCheck) -> RoundSummary {
    let mut rows = table_head(&["Agent", "Position", "Like its last", "Conflicts with"]);
    let held = log.stages.get(check.stage).into_iter().flat_map(|stage| stage.held.iter().enumerate());
    for (place, held) in held.filter_map(|(place, held)| Some((place, held.as_ref()?))) {
        let stable = check.stabilities.iter().find(|(holder, _)| *holder == place);
        let stable = stable.map_or("-".to_owned(), |(_, alike)| format!("{alike:.2}"));
        let conflicts = held.conflicts.as_deref().map_or("not said".to_owned(), |places| match places {
            [] => "nobody".to_owned(),
            places => log.labels(places).join(", "),
        });
        let carried = if held.carried { " (carried)" } else { "" };
        let agent = format!("{}{carried}", log.label(place));
        rows.push(vec![agent, cut(&held.said.position), stable, conflicts]);
    }
    let alike = match check.agreement {
        Some(agreement) => format!("at least {:.2}, {:.2} on average", agreement.min, agreement.mean),
        None => "not measured".to_owned(),
    };
    let converged = if check.converged { "converged" } else { "not converged" };
    let opposed = check.opposed.iter();
    let opposed: Vec<String> =
        opposed.map(|(one, other)| format!("{} and {}", log.label(*one), log.label(*other))).collect();
    let notes = [("Positions that oppose each other".to_owned(), opposed)];
    RoundSummary {
        title: format!("Round {}: how alike: {alike}, {converged}", check.round),
        rows,
        notes: notes.into_iter().filter(|(_, items)| !items.is_empty()).collect(),
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
    let result = match judged.top {
        Some(top) => format!("{} is best, {:.1} ahead", log.label(top), judged.margin),
        None => "a tie: its best depends on the order".to_owned(),
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
    vec![
        context_check(log),
        proposals_check(log),
        critiques_check(log),
        convergence_check(log),
        early_consensus_check(log),
        refinement_check(log),
        vote_check(log),
        judge_check(log),
        extended_rounds_check(log),
        ratings_check(log),
        positions_check(log),
    ]
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

fn first_turn<'a>(log: &ArenaLog<'a>, phase: ArenaPhase) -> Option<&'a PhaseTurn> {
    log.debate.turns_of(phase.as_str()).next()
}

/// The asks of all phases of this kind.
fn asks_of(log: &ArenaLog<'_>, phase: ArenaPhase) -> Vec<u32> {
    log.debate.turns_of(phase.as_str()).flat_map(|turn| &turn.asks).map(|ask| ask.id).collect()
}

/// Whether a round that was not held counts as missing: it does if there was a vote, because then a limit cut it.
fn if_not_held(log: &ArenaLog<'_>) -> Option<bool> {
    (!log.votes.is_empty()).then_some(false)
}

fn context_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Round 0 gathers context: knowledge, memory, current topics";
    let wanted = context::sources(&log.options).len();
    let Some(turn) = first_turn(log, ArenaPhase::Context).filter(|_| wanted > 0) else {
        return check(sentence, None, "no source is asked", Vec::new());
    };
    let (heard, items) = (answered(turn), log.context.len());
    let cited = log.context.iter().filter(|item| !item.cited_by(log).is_empty()).count();
    let note = format!("{heard} of {} answered, {items} found, {cited} cited", count(wanted, "source"));
    check(sentence, Some(heard == wanted), note, asks_of(log, ArenaPhase::Context))
}

fn proposals_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Round 1: all agents propose at once, and nobody sees another's proposal";
    let Some(turn) = first_turn(log, ArenaPhase::Propose) else {
        return check(sentence, None, "no proposal was asked for", Vec::new());
    };
    let brief = &log.debate.brief;
    let earlier = log.debate.turns.iter().take_while(|other| other.since < turn.since);
    let spoke_earlier = earlier.flat_map(|turn| &turn.asks).any(|ask| brief.seat(&ask.seat).is_some());
    let note = format!("{} of {} in one phase", answered(turn), count(turn.asks.len(), "proposal"));
    let met = !spoke_earlier && turn.asks.len() == log.agents.len();
    check(sentence, Some(met), note, asks_of(log, ArenaPhase::Propose))
}

fn critiques_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Round 2: every agent critiques each other agent's proposal";
    let Some(turn) = first_turn(log, ArenaPhase::Critique) else {
        return check(sentence, if_not_held(log), "it was not held", Vec::new());
    };
    let due = log.proposers().len() * log.agents.len().saturating_sub(1);
    let made = answered(turn);
    let addressed = log.critiques.iter().filter(|critique| critique.answer(log).is_some()).count();
    let note = format!("{made} of {}, {addressed} answered by id", count(due, "critique"));
    check(sentence, Some(made == due), note, asks_of(log, ArenaPhase::Critique))
}

fn convergence_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Rounds 3 to 5: convergence is checked after each revision";
    let revisions = log.stages.iter().filter(|stage| stage.phase == ArenaPhase::Revise);
    let revisions = revisions.filter(|stage| (FIRST_REVISION..=LAST_REVISION).contains(&stage.round));
    let rounds: Vec<u32> = revisions.map(|stage| stage.round).collect();
    if rounds.is_empty() {
        return check(sentence, if_not_held(log), "no round of revision was held", Vec::new());
    }
    let is_measured =
        |round: &&u32| log.checks.iter().any(|check| check.round == **round && check.is_measured());
    let measured = rounds.iter().filter(is_measured).count();
    let note = format!("{measured} of {} measured", count(rounds.len(), "round"));
    check(sentence, Some(measured == rounds.len()), note, asks_of(log, ArenaPhase::Compare))
}

fn early_consensus_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Convergence short-circuits to consensus: straight to the vote";
    let converged = log.checks.iter().find(|check| check.converged && check.round <= LAST_REVISION);
    match (converged, log.early_consensus()) {
        (_, Some(round)) => {
            check(sentence, Some(true), format!("in round {round}"), asks_of(log, ArenaPhase::Compare))
        }
        (Some(found), None) => {
            let note = format!("round {} converged, but the agreement was hollow", found.round);
            check(sentence, None, note, asks_of(log, ArenaPhase::Challenge))
        }
        (None, None) => check(sentence, None, "no round converged", Vec::new()),
    }
}

fn refinement_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Round 6: a final refinement with all feedback";
    match (first_turn(log, ArenaPhase::Refine), log.early_consensus()) {
        (Some(turn), _) => {
            let note = format!("{} of {}", answered(turn), count(turn.asks.len(), "proposal"));
            check(sentence, Some(answered(turn) > 0), note, asks_of(log, ArenaPhase::Refine))
        }
        (None, Some(round)) => check(sentence, None, format!("early consensus in round {round}"), Vec::new()),
        (None, None) => check(sentence, if_not_held(log), "it was not held", Vec::new()),
    }
}

fn vote_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Round 7: all agents vote, and half of them choose a proposal";
    let Some(vote) = log.votes.last() else {
        let note = format!("only {}: no vote", count(log.proposers().len(), "proposal"));
        return check(sentence, Some(false), note, Vec::new());
    };
    let (cast, agents) = (vote.cast(), log.agents.len());
    let note = format!("{cast} of {agents} in the last vote, {}", count(log.votes.len(), "vote"));
    check(sentence, Some(vote.is_quorum()), note, asks_of(log, ArenaPhase::Vote))
}

fn judge_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Round 8: one judge scores and ranks every proposal";
    let shown = asks_of(log, ArenaPhase::Judge);
    match closing::final_judgement(log) {
        Some(judged) => {
            let scored = judged.scores.len();
            let note = format!("{scored} scored in {}", count(judged.sheets.len(), "order"));
            check(sentence, Some(scored == log.proposers().len()), note, shown)
        }
        None if shown.is_empty() => check(sentence, Some(false), "it was not asked", shown),
        None => check(sentence, Some(false), "it was absent the last time", shown),
    }
}

fn extended_rounds_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Extended rounds only if the early stop criteria are not met";
    let held = log.extended_rounds();
    let after = counted(u64::from(held), "extended round");
    let shown = asks_of(log, ArenaPhase::Judge);
    let last = log.votes.last().zip(closing::final_judgement(log));
    match last.map(|(vote, judged)| closing::is_early_stop(log, vote, judged)) {
        None => check(sentence, None, "there is no judgement to stop at", shown),
        Some(true) => check(sentence, Some(true), format!("met after {after}"), shown),
        Some(false) => {
            let all_held = held >= log.options.max_extended_rounds;
            check(sentence, Some(all_held), format!("not met after {after}"), shown)
        }
    }
}

fn ratings_check(log: &ArenaLog<'_>) -> QualityCheck {
    const TOLERANCE: f64 = 1e-9;
    let sentence = "Ratings change by the judge's scores, and sum to 0";
    let rated = judging::rated_seats(log);
    let sum: f64 = rated.iter().map(|rated| rated.change).sum();
    match rated.len() {
        0 => check(sentence, None, "nobody is rated", Vec::new()),
        seats => {
            let met = Some(sum.abs() < TOLERANCE);
            check(sentence, met, count(seats, "rated seat"), asks_of(log, ArenaPhase::Judge))
        }
    }
}

fn positions_check(log: &ArenaLog<'_>) -> QualityCheck {
    let sentence = "Every position of round 1 is adopted, refuted with a reason, or dissent";
    let fates = closing::position_fates(log);
    if fates.is_empty() {
        return check(sentence, None, "there is no position", Vec::new());
    }
    let of = |fate: Fate| fates.iter().filter(|position| position.fate == fate).count();
    let (adopted, refuted, minority) = (of(Fate::Adopted), of(Fate::Refuted), of(Fate::Minority));
    let kept = closing::dissent(log, &fates).len() == minority
        && fates.iter().all(|position| !position.reason.is_empty());
    let note = format!("{adopted} adopted, {refuted} refuted, {minority} in the dissent");
    check(sentence, Some(kept), note, asks_of(log, ArenaPhase::Propose))
}
