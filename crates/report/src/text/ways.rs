//! How the seats went through the rounds, one line for each.

use unicode_width::UnicodeWidthStr;

use crate::Style;
use crate::outline::evidence::column;
use crate::outline::{Change, Way, Ways};
use crate::prose::{cut, wrap};

/// A position with a longer name is called P1, P2 and so on.
const OWN_NAME_MAX: usize = 14;
/// A longer name of a seat is cut.
const SEAT_MAX: usize = 20;
/// The space between two columns.
const GAP: usize = 2;
/// More positions than this are for the long forms.
const LEGEND_MAX: usize = 12;

/// A change that names something, and one that names nothing.
pub(crate) const CITED: &str = "*";
pub(crate) const BARE: &str = "~";

/// The lines, none wider than `room`.
pub(super) fn lines(ways: &Ways, room: usize, style: &Style) -> Vec<String> {
    let (mut keys, mut own) = ways.keys(OWN_NAME_MAX);
    let mut grid = Grid::new(ways, &keys, room);
    // Names are worth more room than keys, but not a second band.
    if own && grid.columns < ways.rounds.len() && !ways.scored {
        (keys, own) = ways.keys(0);
        grid = Grid::new(ways, &keys, room);
    }
    let mut lines = Vec::new();
    let places: Vec<usize> = (0..ways.rounds.len()).collect();
    for band in places.chunks(grid.columns) {
        let heads = band.iter().filter_map(|place| ways.rounds.get(*place)).map(|round| column(*round));
        lines.push(style.dim(&grid.row("", heads, style)));
        for way in &ways.ways {
            let cells = band.iter().map(|place| cell(way, *place, &keys));
            lines.push(grid.row(&way.who, cells, style));
        }
    }
    if !own {
        lines.extend(legend(ways, &keys, room, style));
    }
    lines.extend(marks(ways).iter().flat_map(|told| wrap(told, room, "", "")).map(|line| style.dim(&line)));
    lines
}

/// What a seat held after a round, with its mark where it is new.
pub(crate) fn cell(way: &Way, place: usize, keys: &[String]) -> String {
    let Some(step) = way.steps.get(place).and_then(Option::as_ref) else { return "-".to_owned() };
    let mark = match &step.change {
        None => "",
        Some(Change::Evidenced(_)) => CITED,
        Some(Change::Bare) => BARE,
    };
    format!("{}{mark}", keys.get(step.position).map_or("-", String::as_str))
}

/// What the marks mean, where there are any.
pub(crate) fn marks(ways: &Ways) -> Option<String> {
    let (cited, bare) = ways.marks();
    let parts = [
        cited.then(|| format!("{CITED} changed after a cited point")),
        bare.then(|| format!("{BARE} changed with nothing cited")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn legend(ways: &Ways, keys: &[String], room: usize, style: &Style) -> Vec<String> {
    let widest = keys.iter().map(|key| key.width()).max().unwrap_or_default();
    let mut lines: Vec<String> = ways
        .legend(keys)
        .take(LEGEND_MAX)
        .map(|(key, position)| {
            let told = format!("{key}{}{position}", " ".repeat(GAP + widest.saturating_sub(key.width())));
            cut(&told, room, style)
        })
        .collect();
    let more = ways.legend(keys).count().saturating_sub(LEGEND_MAX);
    lines.extend((more > 0).then(|| cut(&format!("and {more} more: the full report has them"), room, style)));
    lines
}

struct Grid {
    seat: usize,
    cell: usize,
    /// How many rounds fit side by side.
    columns: usize,
    room: usize,
}

impl Grid {
    fn new(ways: &Ways, keys: &[String], room: usize) -> Self {
        let seat = ways.ways.iter().map(|way| way.who.width()).max().unwrap_or_default();
        let seat = seat.min(SEAT_MAX).min(room / 3);
        let heads = ways.rounds.iter().map(|round| column(*round).width());
        // A mark may follow.
        let cell = keys.iter().map(|key| key.width() + 1).chain(heads).max().unwrap_or(1);
        let columns = room.saturating_sub(seat) / (cell + GAP);
        Self { seat, cell, columns: columns.max(1), room }
    }

    fn row(&self, name: &str, cells: impl Iterator<Item = String>, style: &Style) -> String {
        let padded = |text: &str, to: usize| format!("{text}{}", " ".repeat(to.saturating_sub(text.width())));
        let mut line = padded(&cut(name, self.seat, style), self.seat);
        for cell in cells {
            line.push_str(&" ".repeat(GAP));
            line.push_str(&padded(&cell, self.cell));
        }
        cut(line.trim_end(), self.room, style)
    }
}
