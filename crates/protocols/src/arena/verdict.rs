//! The verdict: arena's own document in the outcome.

use serde_json::{Value, json};

use super::convergence::Check;
use super::ending;
use super::judgement::{Judged, Sheet};
use super::log::Log;
use super::poll::Poll;
use super::{doubt, ratings, record};

pub(super) fn verdict(log: &Log<'_>) -> Value {
    let winner = ending::winner(log);
    let held = winner.as_ref().and_then(|winner| log.proposal(winner.place));
    let brief = &log.debate.brief;
    json!({
        "winner": winner.as_ref().map(|winner| log.label(winner.place)),
        "winner_seat": winner.as_ref().and_then(|winner| Some(&log.agents.get(winner.place)?.seat.id)),
        "answer": held.map(|held| held.said.proposal.trim()),
        "position": held.map(|held| held.said.position.trim()),
        "decided_by": winner.as_ref().map(|winner| winner.by),
        "consensus": consensus(log),
        "votes": log.polls.last().map_or(json!([]), |poll| ballots(log, poll)),
        "tally": log.polls.last().map_or(json!([]), |poll| tally(log, poll)),
        "judge": ending::judged(log).map(|judged| judge(log, judged)),
        "convergence": log.checks.iter().map(|check| convergence(log, check)).collect::<Vec<_>>(),
        "convergence_threshold": log.threshold(),
        "extended_rounds": log.extended(),
        "early_consensus": log.early_consensus(),
        "ratings": rated(log),
        "trickster": brief.flag("trickster").then(|| trickster(log)),
        "rhetoric": brief.flag("observer").then(|| record::observed(log)),
        "context": record::context(log),
        "team": record::team(log),
        "proposals": record::proposals(log),
        "critiques": record::critiques(log),
        "rounds": record::rounds(log),
    })
}

/// What the last vote came to. The share is that of the group with the most votes, where the vote counts at all.
fn consensus(log: &Log<'_>) -> Value {
    let poll = log.polls.last();
    let counted = poll.filter(|poll| poll.is_quorum());
    let most = counted.and_then(|poll| poll.share(poll.tally().first()?.0));
    json!({
        "kind": log.debate.brief.text("consensus"),
        "reached": poll.is_some_and(|poll| poll.winning().is_some()),
        "share": most,
        "cast": poll.map_or(0, Poll::cast),
        "agents": log.agents.len(),
        "hollow": poll.is_some_and(|poll| poll.hollow),
    })
}

/// The ballots of a vote, in seat order.
pub(super) fn ballots(log: &Log<'_>, poll: &Poll) -> Value {
    let given = log.in_seat_order().into_iter().filter_map(|place| {
        let (agent, ballot) = (log.agents.get(place)?, poll.ballots.get(place)?.as_ref()?);
        Some(json!({
            "seat": agent.seat.id,
            "label": agent.label,
            "choice": ballot.choice.map_or(super::poll::ABSTAIN, |choice| log.label(choice)),
            "group": ballot.choice.map(|choice| log.labels(poll.group(choice))),
            "confidence": ballot.confidence,
            "reason": ballot.reason,
            "own": ballot.choice == Some(place),
        }))
    });
    given.collect::<Vec<_>>().into()
}

pub(super) fn tally(log: &Log<'_>, poll: &Poll) -> Value {
    let groups = poll.tally().into_iter();
    groups
        .map(
            |(group, votes)| json!({"labels": log.labels(group), "votes": votes, "share": poll.share(group)}),
        )
        .collect::<Vec<_>>()
        .into()
}

fn judge(log: &Log<'_>, judged: &Judged) -> Value {
    let seat = |place: usize| log.agents.get(place).map(|agent| agent.seat.id.as_str());
    let scores = judged.scores.iter().map(|(place, score)| {
        json!({"label": log.label(*place), "seat": seat(*place), "score": score, "reasons": judged.reasons(*place)})
    });
    let mut models: Vec<&str> = judged.sheets.iter().map(|sheet| sheet.model.as_str()).collect();
    models.dedup();
    json!({
        "model": models.join(", "),
        "scores": scores.collect::<Vec<_>>(),
        "ranking": log.labels(&judged.ranking),
        "top": judged.top.map(|top| log.label(top)),
        "margin": judged.margin,
        "margin_comment": judged.sheets.iter().find_map(|sheet| sheet.margin_comment.as_deref()),
        "consistent": judged.consistent,
        "orders": judged.sheets.iter().map(|sheet| order(log, sheet)).collect::<Vec<_>>(),
        "agrees_with_vote": agrees(log, judged),
        "also_proposes": record::judge_proposes(log, judged),
    })
}

/// Whether the judge's best is what the vote decided; `None` where one of them decided nothing.
pub(super) fn agrees(log: &Log<'_>, judged: &Judged) -> Option<bool> {
    let group = log.polls.last()?.winning()?;
    if judged.is_for(group) { Some(true) } else { judged.top.map(|_| false) }
}

fn order(log: &Log<'_>, sheet: &Sheet) -> Value {
    let scores =
        sheet.scores.iter().map(|(place, score, _)| json!({"label": log.label(*place), "score": score}));
    json!({
        "order": log.labels(&sheet.order),
        "scores": scores.collect::<Vec<_>>(),
        "ranking": log.labels(&sheet.ranking),
    })
}

fn convergence(log: &Log<'_>, check: &Check) -> Value {
    let pairs = |pairs: &[(usize, usize)]| -> Vec<[String; 2]> {
        pairs.iter().map(|(one, other)| [log.label(*one).to_owned(), log.label(*other).to_owned()]).collect()
    };
    json!({
        "round": check.round,
        "after_challenge": log.stages.get(check.stage).is_some_and(|stage| stage.name == "challenge"),
        "agreement_min": check.agreement.map(|agreement| agreement.min),
        "agreement_mean": check.agreement.map(|agreement| agreement.mean),
        "stability_min": check.stability.map(|stability| stability.min),
        "stability_mean": check.stability.map(|stability| stability.mean),
        "converged": check.converged,
        "conflicts": pairs(&check.conflicts),
        "opposed": pairs(&check.opposed),
        "undeclared": log.labels(&check.silent),
        "measured_by": check.measured_by,
    })
}

/// The ratings by seat. Seats of one agent share what it is rated afterwards.
fn rated(log: &Log<'_>) -> Value {
    let rated = ratings::rated(log);
    let all = |agent: &str| -> f64 {
        rated.iter().filter(|other| other.agent == agent).map(|other| other.change).sum()
    };
    let rows = rated.iter().map(|rated| {
        json!({
            "seat": log.agents.get(rated.place).map(|agent| agent.seat.id.as_str()),
            "agent": rated.agent,
            "before": rated.before,
            "after": rated.before + all(&rated.agent),
            "change": rated.change,
            "score": rated.score,
        })
    });
    rows.collect::<Vec<_>>().into()
}

fn trickster(log: &Log<'_>) -> Value {
    let signals = |finding: &super::trickster::Finding| -> Vec<Value> {
        let quotes = |quotes: &[(String, String)]| -> Vec<Value> {
            quotes.iter().map(|(label, quote)| json!({"label": label, "quote": quote})).collect()
        };
        let signals = finding.signals.iter();
        signals
            .map(|s| {
                json!({"signal": s.signal, "value": s.value, "threshold": s.threshold, "fired": s.fired, "quotes": quotes(&s.quotes)})
            })
            .collect()
    };
    let checks = doubt::doubts(log).into_iter().map(|doubt| {
        json!({
            "round": doubt.round,
            "hollow": doubt.found.hollow,
            "agents": log.labels(&doubt.agents),
            "challenged": doubt.came_to.is_some(),
            "came_to": doubt.came_to.map(doubt::Answer::as_str),
            "met": doubt.met(),
            "signals": signals(&doubt.found),
            "after": doubt.after.as_ref().map(signals),
        })
    });
    json!({"checks": checks.collect::<Vec<_>>()})
}
