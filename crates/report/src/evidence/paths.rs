//! Who held what after each round, one path for each seat.

use agon_core::{PathStep, PositionPaths, SeatPath};
use agon_host::clean_line;
use agon_measure::evidence::HeldPosition;

use super::citation;
use crate::report_source::ReportSource;

/// The paths of all seats.
pub(crate) fn position_paths(source: &ReportSource<'_>) -> PositionPaths {
    let trajectories = &source.evidence.trajectory;
    let held = || trajectories.iter().flat_map(|seat| &seat.positions);
    let mut rounds: Vec<u32> = held().map(|held| held.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let mut positions: Vec<String> = Vec::new();
    for round in &rounds {
        for held in held().filter(|held| held.round == *round) {
            if !positions.contains(&held.position) {
                positions.push(held.position.clone());
            }
        }
    }
    let scored = held().next().is_some() && held().all(|held| held.value.is_some());
    let seats = trajectories.iter().map(|seat| {
        let step = |round: &u32| {
            let held = seat.positions.iter().find(|held| held.round == *round)?;
            let mut flips = source.evidence.flips.iter();
            let flip = flips.find(|flip| flip.seat == seat.seat && flip.round == *round);
            let changed = held.changed || flip.is_some();
            let position = positions.iter().position(|known| *known == held.position)?;
            Some(PathStep {
                position,
                value: held.value,
                cited: changed.then(|| flip.map(|flip| flip.cited.clone()).unwrap_or_default()),
                names_unverified: flip.is_some_and(|flip| !flip.unverified.is_empty()),
                is_unsorted: held.is_unsorted,
                is_reworded: other_words(source, &seat.seat, held).is_some(),
            })
        };
        SeatPath {
            who: source.name(&seat.seat),
            place: source.place(&seat.seat),
            steps: rounds.iter().map(step).collect(),
        }
    });
    let seats = seats.collect();
    let in_full = positions.iter().map(|name| source.view.positions.in_full(name)).collect();
    let reworded = positions.iter().map(|name| others_words(source, name)).collect();
    PositionPaths { seats, rounds, vote_rounds: source.vote_rounds(), positions, in_full, reworded, scored }
}

/// A seat's wording of its position after a round, if it is another than the position's name.
fn other_words<'a>(source: &ReportSource<'a>, seat: &str, held: &HeldPosition) -> Option<&'a str> {
    let history = &source.view.positions;
    let is_other = |words: &&str| clean_line(words) != clean_line(&history.in_full(&held.position));
    history.wording(seat, held.round).filter(is_other)
}

/// The other wordings of a position, each with who held it so. Of several by one seat, the last.
fn others_words(source: &ReportSource<'_>, name: &str) -> Option<String> {
    let words = source.evidence.trajectory.iter().filter_map(|seat| {
        let mut held = seat.positions.iter().rev().filter(|held| held.position == name);
        let words = held.find_map(|held| other_words(source, &seat.seat, held))?;
        Some(format!("{words} ({}, last)", source.name(&seat.seat)))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether there is anything to draw. With one round there is no path.
pub(crate) fn is_worth_drawing(paths: &PositionPaths) -> bool {
    paths.rounds.len() > 1 && !paths.seats.is_empty() && !paths.positions.is_empty()
}

/// Short keys for the positions: their own names if none is longer than this and none is held in other words, too, else #1, #2 and so
/// on. The second value says whether they are the names.
pub(crate) fn position_keys(paths: &PositionPaths, chars_max: usize) -> (Vec<String>, bool) {
    let is_same = paths.reworded.iter().all(Option::is_none);
    if is_same && paths.positions.iter().all(|position| position.chars().count() <= chars_max) {
        return (paths.positions.clone(), true);
    }
    ((1..=paths.positions.len()).map(|place| format!("#{place}")).collect(), false)
}

/// The key of a position in other words.
fn reworded_key(key: &str) -> String {
    format!("{key}'")
}

/// The positions that a seat of these paths holds, in full, with their keys.
pub(crate) fn held_positions<'a>(
    paths: &'a PositionPaths,
    keys: &'a [String],
) -> impl Iterator<Item = (String, &'a String)> {
    let steps = move |place: usize| {
        paths.seats.iter().flat_map(|seat| &seat.steps).flatten().filter(move |step| step.position == place)
    };
    let all = keys.iter().zip(&paths.in_full).enumerate();
    let held = all.filter(move |(place, _)| steps(*place).next().is_some());
    held.flat_map(move |(place, (key, position))| {
        let reworded = paths.reworded.get(place).and_then(Option::as_ref);
        let reworded = reworded.filter(|_| steps(place).any(|step| step.is_reworded));
        let reworded = reworded.map(|words| (reworded_key(key), words));
        std::iter::once((key.clone(), position)).chain(reworded)
    })
}

/// The marks of a position in a table.
pub(crate) const TABLE_MARKS: PathMarks =
    PathMarks { cited: "*", bare: "~", unsorted: "?", reworded: Some("'") };

/// The signs of one renderer.
pub(crate) struct PathMarks {
    /// A change that names something, as far as that verifies.
    pub(crate) cited: &'static str,
    /// A change that names nothing that verifies.
    pub(crate) bare: &'static str,
    /// A position that nobody compared with the others.
    pub(crate) unsorted: &'static str,
    /// A position in words of its holder, where they are shown.
    pub(crate) reworded: Option<&'static str>,
}

impl PathMarks {
    /// What the marks mean, where there are any.
    pub(crate) fn legend(&self, paths: &PositionPaths) -> Option<String> {
        let any = |is_marked: fn(&PathStep) -> bool| {
            paths.seats.iter().flat_map(|seat| &seat.steps).flatten().any(is_marked)
        };
        let is_cited = any(|step| step.cited.as_ref().is_some_and(|cited| !cited.is_empty()));
        let is_bare = any(PathStep::is_bare);
        let nothing = citation(&[], any(|step| step.is_bare() && step.names_unverified));
        let parts = [
            is_cited.then(|| format!("{} changed, naming a point or evidence", self.cited)),
            is_bare.then(|| format!("{} changed, {nothing}", self.bare)),
            self.reworded
                .filter(|_| any(|step| step.is_reworded))
                .map(|mark| format!("{mark} in other words")),
            any(|step| step.is_unsorted).then(|| format!("{} not compared with others", self.unsorted)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// A row for each seat and a column for each round, under a head.
pub(crate) fn path_rows(paths: &PositionPaths, keys: &[String]) -> Vec<Vec<String>> {
    let head = paths.rounds.iter().map(|round| round_head(&paths.vote_rounds, *round));
    let head = std::iter::once("Seat".to_owned()).chain(head).collect();
    let row = |seat: &SeatPath| {
        let cells = (0..paths.rounds.len()).map(|place| step_cell(seat, place, keys));
        std::iter::once(seat.who.clone()).chain(cells).collect()
    };
    std::iter::once(head).chain(paths.seats.iter().map(row)).collect()
}

/// What a seat held after a round, with its marks.
pub(crate) fn step_cell(seat: &SeatPath, place: usize, keys: &[String]) -> String {
    let Some(step) = seat.steps.get(place).and_then(Option::as_ref) else { return "-".to_owned() };
    let changed = match &step.cited {
        None => "",
        Some(cited) if cited.is_empty() => TABLE_MARKS.bare,
        Some(_) => TABLE_MARKS.cited,
    };
    let unsorted = if step.is_unsorted { TABLE_MARKS.unsorted } else { "" };
    let key = keys.get(step.position).map_or("-", String::as_str);
    let key = if step.is_reworded { reworded_key(key) } else { key.to_owned() };
    format!("{key}{unsorted}{changed}")
}

/// A round where there is little room. `votes` are the rounds that are votes.
pub(crate) fn round_head(votes: &[u32], round: u32) -> String {
    match votes {
        [vote] if *vote == round => "vote".to_owned(),
        votes if votes.contains(&round) => format!("R{round} vote"),
        _ if round == 0 => "start".to_owned(),
        _ => format!("R{round}"),
    }
}

/// A round in a sentence. `votes` are the rounds that are votes.
pub(crate) fn round_name(votes: &[u32], round: u32) -> String {
    match votes {
        [vote] if *vote == round => "the vote".to_owned(),
        votes if votes.contains(&round) => format!("the vote of round {round}"),
        _ if round == 0 => "the first answers".to_owned(),
        _ => format!("round {round}"),
    }
}
