//! Who held what in each round, and what a plain vote on it says.
//!
//! `deep` says who held what after each round: its moderator sorts the positions. Where the first answers are options, numbers or equal
//! texts, arithmetic sorts them better, and their own words are the names.

use agon_core::{DecidedPosition, PositionHistory, RoundPositions};

use super::first_answers::FirstAnswers;

/// The rounds from the first answers to the last round of the debate, whose own positions are `deep`.
pub(super) fn position_history(firsts: &FirstAnswers<'_>, deep: Option<PositionHistory>) -> PositionHistory {
    let mut history = deep.filter(|deep| !deep.rounds.is_empty()).unwrap_or_else(|| firsts.history());
    if let Some(names) = first_names(firsts, &history) {
        rename(&mut history, &names);
        mark_sorted(&mut history);
    }
    for stand in history.rounds.first_mut().into_iter().flat_map(|first| &mut first.stands) {
        let first = firsts.all.iter().find(|first| first.seat == stand.seat);
        stand.confidence = first.map(|first| first.reply.confidence).or(stand.confidence);
    }
    for round in &mut history.rounds {
        round.ruling = vote(round).map(str::to_owned);
    }
    history
}

/// The most common position, if it is known and at least two seats hold it. One seat alone is no vote.
pub(super) fn vote(round: &RoundPositions) -> Option<&str> {
    let position = round.plurality()?;
    (round.stands.iter().filter(|seat| seat.position == position).count() > 1).then_some(position)
}

/// For each name of the first round, the first answer that it stands for. `None` if arithmetic cannot sort the first answers, or if
/// the moderator has one name for two answers that arithmetic tells apart.
fn first_names(firsts: &FirstAnswers<'_>, history: &PositionHistory) -> Option<Vec<(String, String)>> {
    let mut names: Vec<(String, String)> = Vec::new();
    for stand in &history.rounds.first().filter(|_| firsts.is_known())?.stands {
        let answer = firsts.position(&stand.seat)?;
        match names.iter().find(|(name, _)| *name == stand.position) {
            Some((_, known)) if *known != answer => return None,
            Some(_) => {}
            None => names.push((stand.position.clone(), answer)),
        }
    }
    Some(names)
}

fn rename(history: &mut PositionHistory, names: &[(String, String)]) {
    let renamed = |name: &mut String| {
        if let Some((_, answer)) = names.iter().find(|(known, _)| known == name) {
            name.clone_from(answer);
        }
    };
    let stands = history.rounds.iter_mut().flat_map(|round| &mut round.stands);
    stands.for_each(|stand| renamed(&mut stand.position));
    if let DecidedPosition::Held(name) | DecidedPosition::New(name) = &mut history.decided {
        renamed(name);
    }
}

/// A seat that has not revised its first answer is as sorted as that is.
fn mark_sorted(history: &mut PositionHistory) {
    // Texts that are all equal need no declaration.
    if history.rounds.first().is_some_and(|first| first.distinct().len() == 1) {
        return;
    }
    let mut revised: Vec<String> = Vec::new();
    for stand in history.rounds.iter_mut().flat_map(|round| &mut round.stands) {
        if stand.change.is_some() {
            revised.push(stand.seat.clone());
        }
        stand.is_unsorted &= revised.contains(&stand.seat);
    }
}
