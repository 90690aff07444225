//! Who held what after each round, one line per seat.

use unicode_width::UnicodeWidthStr;

use crate::TerminalStyle;
use crate::evidence::paths::{TABLE_MARKS, held_positions, position_keys, round_head, step_cell};
use crate::markdown_text::{cut, wrap};
use agon_core::PositionPaths;
use agon_core::wording::excerpt;

/// If one position has a longer name, all are called #1, #2 and so on.
const OWN_NAME_MAX: usize = 14;
/// A longer name of a seat is cut.
const SEAT_MAX: usize = 20;
/// The space between two columns.
const GAP: usize = 2;
/// The most positions that the legend explains.
const LEGEND_MAX: usize = 12;
/// A longer position is cut in the legend.
const POSITION_CHARS_MAX: usize = 240;

/// The table and its legend, no line wider than `room`.
pub(super) fn path_lines(paths: &PositionPaths, room: usize, style: &TerminalStyle) -> Vec<String> {
    let (mut keys, mut own) = position_keys(paths, OWN_NAME_MAX);
    let mut grid = PathGrid::new(paths, &keys, room);
    // If the names need a second band of columns, keys are better.
    if own && grid.columns < paths.rounds.len() && !paths.scored {
        (keys, own) = position_keys(paths, 0);
        grid = PathGrid::new(paths, &keys, room);
    }
    let mut lines = Vec::new();
    let places: Vec<usize> = (0..paths.rounds.len()).collect();
    for band in places.chunks(grid.columns) {
        let heads = band
            .iter()
            .filter_map(|place| paths.rounds.get(*place))
            .map(|round| round_head(&paths.vote_rounds, *round));
        lines.push(style.dim(&grid.row("", heads, style)));
        for seat in &paths.seats {
            let cells = band.iter().map(|place| step_cell(seat, *place, &keys));
            lines.push(grid.row(&seat.who, cells, style));
        }
    }
    if !own {
        lines.extend(legend(paths, &keys, room, style));
    }
    lines.extend(
        TABLE_MARKS
            .legend(paths)
            .iter()
            .flat_map(|told| wrap(told, room, "", ""))
            .map(|line| style.dim(&line)),
    );
    lines
}

fn legend(paths: &PositionPaths, keys: &[String], room: usize, style: &TerminalStyle) -> Vec<String> {
    let held: Vec<(String, &String)> = held_positions(paths, keys).take(LEGEND_MAX).collect();
    let widest = held.iter().map(|(key, _)| key.width()).max().unwrap_or_default();
    let told = held.iter().flat_map(|(key, position)| {
        let head = format!("{key}{}", " ".repeat(GAP + widest.saturating_sub(key.width())));
        wrap(&excerpt(position, POSITION_CHARS_MAX), room, &head, &" ".repeat(widest + GAP))
    });
    let mut lines: Vec<String> = told.collect();
    let more = held_positions(paths, keys).count().saturating_sub(LEGEND_MAX);
    lines
        .extend((more > 0).then(|| cut(&format!("and {more} more, which the full report has"), room, style)));
    lines
}

struct PathGrid {
    seat: usize,
    cell: usize,
    /// How many rounds fit side by side.
    columns: usize,
    room: usize,
}

impl PathGrid {
    fn new(paths: &PositionPaths, keys: &[String], room: usize) -> Self {
        let seat = paths.seats.iter().map(|seat| seat.who.width()).max().unwrap_or_default();
        let seat = seat.min(SEAT_MAX).min(room / 3);
        let heads = paths.rounds.iter().map(|round| round_head(&paths.vote_rounds, *round).width());
        let places = 0..paths.rounds.len();
        let cells = paths
            .seats
            .iter()
            .flat_map(|seat| places.clone().map(move |place| step_cell(seat, place, keys).width()));
        let cell = cells.chain(heads).max().unwrap_or(1);
        let columns = room.saturating_sub(seat) / (cell + GAP);
        Self { seat, cell, columns: columns.max(1), room }
    }

    fn row(&self, name: &str, cells: impl Iterator<Item = String>, style: &TerminalStyle) -> String {
        let padded = |text: &str, to: usize| format!("{text}{}", " ".repeat(to.saturating_sub(text.width())));
        let mut line = padded(&cut(name, self.seat, style), self.seat);
        for cell in cells {
            line.push_str(&" ".repeat(GAP));
            line.push_str(&padded(&cell, self.cell));
        }
        cut(line.trim_end(), self.room, style)
    }
}
