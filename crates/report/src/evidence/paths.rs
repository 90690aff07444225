//! Who held what after each round, one path for each seat.

use agon_core::{PathStep, PositionPaths, SeatPath};

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
            Some(PathStep {
                position: positions.iter().position(|known| *known == held.position)?,
                value: held.value,
                cited: changed.then(|| flip.map(|flip| flip.cited.clone()).unwrap_or_default()),
                is_unsorted: held.is_unsorted,
            })
        };
        SeatPath {
            who: source.name(&seat.seat),
            place: source.place(&seat.seat),
            steps: rounds.iter().map(step).collect(),
        }
    });
    let seats = seats.collect();
    let votes = source.view.positions.rounds.iter().filter(|round| round.ballots);
    let vote_rounds = votes.map(|round| round.round).collect();
    PositionPaths { seats, rounds, vote_rounds, positions, scored }
}

/// Whether there is anything to draw. With one round there is no path.
pub(crate) fn is_worth_drawing(paths: &PositionPaths) -> bool {
    paths.rounds.len() > 1 && !paths.seats.is_empty() && !paths.positions.is_empty()
}

/// Short keys for the positions: their own names if none is longer than this, else P1, P2 and so on. The second value says
/// whether they are the names.
pub(crate) fn position_keys(paths: &PositionPaths, chars_max: usize) -> (Vec<String>, bool) {
    if paths.positions.iter().all(|position| position.chars().count() <= chars_max) {
        return (paths.positions.clone(), true);
    }
    ((1..=paths.positions.len()).map(|place| format!("#{place}")).collect(), false)
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

/// The marks of a position in a table.
pub(crate) const TABLE_MARKS: PathMarks = PathMarks { cited: "*", bare: "~", unsorted: "?" };

/// The signs of one renderer.
pub(crate) struct PathMarks {
    /// A change with a verified citation.
    pub(crate) cited: &'static str,
    /// A change without one.
    pub(crate) bare: &'static str,
    /// A position that nobody compared with the others.
    pub(crate) unsorted: &'static str,
}

impl PathMarks {
    /// What the marks mean, where there are any.
    pub(crate) fn legend(&self, paths: &PositionPaths) -> Option<String> {
        let any = |is_marked: fn(&PathStep) -> bool| {
            paths.seats.iter().flat_map(|seat| &seat.steps).flatten().any(is_marked)
        };
        let is_cited = any(|step| step.cited.as_ref().is_some_and(|cited| !cited.is_empty()));
        let is_bare = any(|step| step.cited.as_ref().is_some_and(Vec::is_empty));
        let without = if is_cited { "without one" } else { "changed without a verified citation" };
        let parts = [
            is_cited.then(|| format!("{} changed with a verified citation", self.cited)),
            is_bare.then(|| format!("{} {without}", self.bare)),
            any(|step| step.is_unsorted).then(|| format!("{} not compared with others", self.unsorted)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
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
    format!("{}{unsorted}{changed}", keys.get(step.position).map_or("-", String::as_str))
}

/// A round as the head of a column.
pub(crate) fn column_head(paths: &PositionPaths, round: u32) -> String {
    match paths.vote_rounds.as_slice() {
        [vote] if *vote == round => "vote".to_owned(),
        votes if votes.contains(&round) => format!("R{round} vote"),
        _ => round_head(round),
    }
}

/// A round in a chart.
pub(crate) fn round_head(round: u32) -> String {
    if round == 0 { "start".to_owned() } else { format!("R{round}") }
}

/// A round in a sentence that says what held after it.
pub(crate) fn after_round(round: u32) -> String {
    if round == 0 { "the first answers".to_owned() } else { format!("round {round}") }
}
