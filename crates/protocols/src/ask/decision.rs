//! What the ladder decides in the end, and by what.

use agon_core::Stands;
use serde_json::Value;

use super::climb::Climb;
use super::divided;
use super::firsts::{Agreement, First};
use super::never_worse::NeverWorse;
use super::positions::vote;
use super::ruling::{Ruling, ruling};

/// What the answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Agreement,
    Debate,
    Panel,
    Vote,
}

impl By {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::Debate => "debate",
            Self::Panel => "panel",
            Self::Vote => "first_round_vote",
        }
    }
}

/// The decision.
#[derive(Debug, Default)]
pub(super) struct Decision {
    pub(super) by: Option<By>,
    pub(super) answer: Option<String>,
    pub(super) why: Option<String>,
    /// The name that the answer has among the positions, where it is one of them.
    pub(super) position: Option<String>,
    pub(super) never_worse: Option<NeverWorse>,
    /// What the panel said of the debate's answer.
    pub(super) ruling: Option<Ruling>,
    /// What a reader should know of how it came about.
    pub(super) notes: Vec<String>,
}

/// What follows from a ladder that nobody climbs any further.
pub(super) fn decide(climb: &Climb<'_>) -> Decision {
    if matches!(climb.firsts.agreement, Agreement::Same | Agreement::Declared) {
        return agreed(climb);
    }
    let Some(deep) = climb.deep_outcome() else { return Decision::default() };
    let Some(answer) = divided::answer(deep) else {
        let note = "the debate came to no answer";
        return voted(climb, Decision::default(), note);
    };
    let text = |key: &str| deep.verdict.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut decision = Decision {
        by: Some(By::Debate),
        answer: Some(answer.to_owned()),
        why: text("why"),
        position: climb.positions.debated.clone(),
        ..Decision::default()
    };
    decision.ruling =
        climb.panel.as_ref().and_then(|(_, panel)| ruling(panel, climb.debate.brief.float("stands_from")));
    match &decision.ruling {
        Some(ruling) if ruling.stands => decision.by = Some(By::Panel),
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

fn agreed(climb: &Climb<'_>) -> Decision {
    let pair = climb.firsts.pair(climb.debate);
    // The one that is surer says it, of two that are as sure the first.
    let surer = pair.iter().rev().max_by(|a, b| a.given.confidence.total_cmp(&b.given.confidence));
    Decision {
        by: Some(By::Agreement),
        answer: surer.map(|first| first.given.answer.trim().to_owned()),
        why: surer.map(|first| first.given.why.trim().to_owned()),
        position: climb.positions.stands.rounds.first().and_then(vote).map(str::to_owned),
        ..Decision::default()
    }
}

/// The decision with the vote on the first answers instead of what the debate came to, if there is one.
fn voted(climb: &Climb<'_>, before: Decision, reason: &str) -> Decision {
    let Some((position, holders)) = winner(&climb.positions.stands) else {
        let mut decision = before;
        decision
            .notes
            .push(format!("{reason}; the first answers are tied, so that there is no vote to fall back on"));
        return decision;
    };
    let holds = |first: &&First<'_>| first.position == position;
    let spokesman = climb.firsts.all.iter().find(holds);
    let note = format!(
        "{reason}: the answer is the plain vote on the first answers, {holders} of {}",
        climb.firsts.all.len()
    );
    let mut notes = before.notes;
    notes.push(note);
    Decision {
        by: Some(By::Vote),
        answer: spokesman.map(|first| first.given.answer.trim().to_owned()),
        why: spokesman.map(|first| first.given.why.trim().to_owned()),
        position: Some(position),
        notes,
        ..before
    }
}

fn winner(stands: &Stands) -> Option<(String, usize)> {
    let first = stands.rounds.first()?;
    let position = vote(first)?;
    let holders = first.stands.iter().filter(|stand| stand.position == position).count();
    Some((position.to_owned(), holders))
}
