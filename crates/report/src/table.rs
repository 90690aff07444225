//! Tables with columns aligned by display width.

use unicode_width::UnicodeWidthStr;

use crate::TerminalStyle;
use crate::markdown_text::{cut, wrap};
use agon_host::clean_line;

/// The space between two columns.
const GAP: usize = 2;
/// Columns are not made narrower than this.
const COLUMN_MIN: usize = 4;
/// A cell that would need more lines than this is cut.
const CELL_LINES_MAX: usize = 4;

/// A table; the first row is its head. If it does not fit the width, columns are wrapped so that rows stay low, at spaces as long
/// as that is enough. Cells with too many lines are cut.
pub fn table(title: &str, rows: &[Vec<String>], style: &TerminalStyle) -> String {
    let mut shown = String::new();
    if !title.is_empty() {
        shown.push_str(&style.bold(&clean_line(title)));
        shown.push('\n');
    }
    shown.push_str(&set_table(rows, style, CELL_LINES_MAX));
    shown
}

/// Rows in columns without a head and without a title.
pub fn plain_columns(rows: &[Vec<String>], style: &TerminalStyle) -> String {
    let style = TerminalStyle { color: false, ..*style };
    set_table(rows, &style, usize::MAX)
}

/// A table without a title whose cells are never cut.
pub(crate) fn whole_table(rows: &[Vec<String>], style: &TerminalStyle) -> String {
    set_table(rows, style, usize::MAX)
}

fn set_table(rows: &[Vec<String>], style: &TerminalStyle, cell_lines_max: usize) -> String {
    let mut shown = String::new();
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| clean_line(cell)).collect()).collect();
    let widths = widths(&cells, style.columns());
    for (place, row) in cells.iter().enumerate() {
        for line in set_row(row, &widths, style, cell_lines_max) {
            let line = line.trim_end();
            shown.push_str(&if place == 0 { style.dim(line) } else { line.to_owned() });
            shown.push('\n');
        }
    }
    shown
}

fn widths(rows: &[Vec<String>], available: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let room = available.saturating_sub(GAP * columns.saturating_sub(1));
    let cells: Vec<Vec<usize>> =
        rows.iter().map(|row| row.iter().map(|cell| cell.width()).collect()).collect();
    let widest = |column: usize| cells.iter().filter_map(|row| row.get(column)).max().copied();
    let longest_word = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.flat_map(|cell| cell.split(' ')).map(|word| word.width()).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> =
        (0..columns).map(|column| widest(column).unwrap_or_default().min(available)).collect();
    let word_widths: Vec<usize> = (0..columns).map(|column| longest_word(column).max(COLUMN_MIN)).collect();
    shrink(&mut widths, &cells, &word_widths, room);
    shrink(&mut widths, &cells, &vec![COLUMN_MIN; columns], room);
    widths
}

/// Narrows columns until they fit, none below its minimum. It is always the column whose narrowing adds the fewest lines to the
/// table, of equals the widest. A cell that is cut counts as much as the lines that are left of it.
fn shrink(widths: &mut [usize], cells: &[Vec<usize>], minima: &[usize], room: usize) {
    let lines = |(cell, width): (&usize, &usize)| cell.div_ceil(*width.max(&1));
    let cost = |widths: &[usize]| -> usize {
        let row_cost = |row: &Vec<usize>| {
            let heights: Vec<usize> = row.iter().zip(widths).map(lines).collect();
            let cut = heights.iter().filter(|height| **height > CELL_LINES_MAX).count();
            heights.into_iter().max().unwrap_or_default() + cut * CELL_LINES_MAX
        };
        cells.iter().map(row_cost).sum()
    };
    while widths.iter().sum::<usize>() > room {
        let narrowed = |column: &usize| {
            let mut widths = widths.to_vec();
            if let Some(width) = widths.get_mut(*column) {
                *width -= 1;
            }
            cost(&widths)
        };
        let columns = (0..widths.len()).filter(|column| widths.get(*column) > minima.get(*column));
        let next =
            columns.min_by_key(|column| (narrowed(column), widths.get(*column).map(std::cmp::Reverse)));
        let Some(width) = next.and_then(|column| widths.get_mut(column)) else { return };
        *width -= 1;
    }
}

fn set_row(row: &[String], widths: &[usize], style: &TerminalStyle, cell_lines_max: usize) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        row.iter().zip(widths).map(|(cell, width)| set_cell(cell, *width, style, cell_lines_max)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    (0..height)
        .map(|line| {
            let parts = cells.iter().zip(widths).map(|(cell, width)| {
                let text = cell.get(line).map_or("", String::as_str);
                format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
            });
            parts.collect::<Vec<_>>().join(&" ".repeat(GAP))
        })
        .collect()
}

fn set_cell(cell: &str, width: usize, style: &TerminalStyle, lines_max: usize) -> Vec<String> {
    let mut lines = wrap(cell, width.max(1), "", "");
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last}{}", " ".repeat(width)), width, style);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 40, unicode: true };

    #[test]
    fn columns_line_up_by_display_width() {
        let rows = rows(&[&["who", "said"], &["\u{4e2d}\u{6587}", "x"], &["caf\u{e9}", "y"]]);
        insta::assert_snapshot!(table("Title", &rows, &PLAIN), @"
        Title
        who   said
        中文  x
        café  y
        ");
    }

    #[test]
    fn what_does_not_fit_is_wrapped_then_cut() {
        let long = "word ".repeat(60);
        let rows =
            rows(&[&["a", "b"], &["short", "this cell is wrapped over two lines of it"], &["x", &long]]);
        let shown = table("", &rows, &PLAIN);
        assert!(shown.lines().all(|line| line.width() <= 40), "{shown}");
        insta::assert_snapshot!(shown, @"
        a      b
        short  this cell is wrapped over two
               lines of it
        x      word word word word word word
               word word word word word word
               word word word word word word
               word word word word word word…
        ");
    }

    /// "Seven debaters fit in 80 columns": one row per seat, and no word is broken.
    #[test]
    fn seven_seats_fit_in_eighty_columns() {
        let mut cells =
            vec![["Seat", "Stance", "Confidence", "Strongest point", "Moved"].map(str::to_owned).to_vec()];
        let point = "All nine incidents of last year were in the ledger, which is small";
        for label in ["A", "B", "C", "D", "E", "F", "G"] {
            let seat = format!("Debater {label}");
            cells.push(
                [seat.as_str(), "partial concede", "0.90, then 0.80", point, "P1 to P3 in round 2"]
                    .map(str::to_owned)
                    .to_vec(),
            );
        }
        let shown = table("", &cells, &TerminalStyle { width: 80, ..PLAIN });
        assert!(shown.lines().all(|line| line.width() <= 80), "{shown}");
        let row = |label: &str| shown.lines().position(|line| line.starts_with(label));
        assert_eq!(row("Debater G").unwrap() - row("Debater A").unwrap(), 6 * 3, "{shown}");
        assert!(
            ["Confidence", "incidents", "partial", "Strongest"].iter().all(|word| shown.contains(word)),
            "{shown}"
        );
    }

    #[test]
    fn a_narrow_terminal_and_a_ragged_table_do_no_harm() {
        let rows =
            rows(&[&["one", "two", "three", "four"], &["a"], &[], &["\u{1b}[31mred", "b", "c", "d", "e"]]);
        let shown = table("T", &rows, &TerminalStyle { width: 1, ..PLAIN });
        assert!(!shown.contains('\u{1b}') && shown.contains("red"), "{shown}");
    }
}
