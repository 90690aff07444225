//! Who held what after each round, one path for each seat.

use agon_core::{PathStep, PositionPaths, SeatPath};

use crate::source::ReportSource;

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
            Some(PathStep {
                position: positions.iter().position(|known| *known == held.position)?,
                value: held.value,
                cited: changed.then(|| flip.map(|flip| flip.cited.clone()).unwrap_or_default()),
            })
        };
        SeatPath {
            who: source.name(&seat.seat),
            place: source.place(&seat.seat),
            steps: rounds.iter().map(step).collect(),
        }
    });
    let seats = seats.collect();
    PositionPaths { seats, rounds, positions, scored }
}

/// Whether there is anything to draw: nobody moves in one round.
pub(crate) fn is_worth_drawing(paths: &PositionPaths) -> bool {
    paths.rounds.len() > 1 && !paths.seats.is_empty() && !paths.positions.is_empty()
}

/// What the positions are called where there is little room: by their own names if none is longer than this, else P1, P2...
/// The second value says which.
pub(crate) fn position_keys(paths: &PositionPaths, chars_max: usize) -> (Vec<String>, bool) {
    if paths.positions.iter().all(|position| position.chars().count() <= chars_max) {
        return (paths.positions.clone(), true);
    }
    ((1..=paths.positions.len()).map(|place| format!("P{place}")).collect(), false)
}

/// The positions that a seat of these paths holds, with their keys.
pub(crate) fn held_positions<'a>(
    paths: &'a PositionPaths,
    keys: &'a [String],
) -> impl Iterator<Item = (&'a String, &'a String)> {
    let is_held = |place: usize| {
        paths.seats.iter().flat_map(|seat| &seat.steps).flatten().any(|step| step.position == place)
    };
    let all = keys.iter().zip(&paths.positions).enumerate();
    all.filter(move |(place, _)| is_held(*place)).map(|(_, pair)| pair)
}

/// What marks a change that cites something, and one that cites nothing.
pub(crate) const CITED_MARK: &str = "*";
pub(crate) const BARE_MARK: &str = "~";

/// What a seat held after a round, with its mark where it changed.
pub(crate) fn step_cell(seat: &SeatPath, place: usize, keys: &[String]) -> String {
    let Some(step) = seat.steps.get(place).and_then(Option::as_ref) else { return "-".to_owned() };
    let mark = match &step.cited {
        None => "",
        Some(cited) if cited.is_empty() => BARE_MARK,
        Some(_) => CITED_MARK,
    };
    format!("{}{mark}", keys.get(step.position).map_or("-", String::as_str))
}

/// What the marks mean, where there are any.
pub(crate) fn marks_legend(paths: &PositionPaths) -> Option<String> {
    let steps = || paths.seats.iter().flat_map(|seat| &seat.steps).flatten();
    let any =
        |bare: bool| steps().filter_map(|step| step.cited.as_ref()).any(|cited| cited.is_empty() == bare);
    let parts = [
        any(false).then(|| format!("{CITED_MARK} changed after a cited point")),
        any(true).then(|| format!("{BARE_MARK} changed with nothing cited")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// A round as the head of a column.
pub(crate) fn column_head(round: u32) -> String {
    if round == 0 { "start".to_owned() } else { format!("R{round}") }
}

/// A round in a sentence that says what held after it.
pub(crate) fn after_round(round: u32) -> String {
    if round == 0 { "the first answers".to_owned() } else { format!("round {round}") }
}
