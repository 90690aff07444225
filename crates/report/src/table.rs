//! Tables, aligned by what the eye sees.

use unicode_width::UnicodeWidthStr;

use crate::Style;
use crate::markdown_text::{cut, wrap};
use agon_host::clean_line;

/// The space between two columns.
const GAP: usize = 2;
/// A column is not made narrower than this while another can be.
const COLUMN_MIN: usize = 4;
/// A cell that would need more lines than this is cut.
const CELL_LINES_MAX: usize = 4;

/// A table; the first row is its head. Columns that do not fit the width are wrapped, the widest first, and cells that
/// would become towers are cut.
pub fn table(title: &str, rows: &[Vec<String>], style: &Style) -> String {
    let mut shown = String::new();
    if !title.is_empty() {
        shown.push_str(&style.bold(&clean_line(title)));
        shown.push('\n');
    }
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| clean_line(cell)).collect()).collect();
    let widths = widths(&cells, style.columns());
    for (place, row) in cells.iter().enumerate() {
        for line in set_row(row, &widths, style) {
            let line = line.trim_end();
            shown.push_str(&if place == 0 { style.dim(line) } else { line.to_owned() });
            shown.push('\n');
        }
    }
    shown
}

fn widths(rows: &[Vec<String>], available: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let mut widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or_default()).collect();
    let room = available.saturating_sub(GAP * columns.saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > COLUMN_MIN => *widest -= 1,
            _ => break,
        }
    }
    widths
}

fn set_row(row: &[String], widths: &[usize], style: &Style) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        row.iter().zip(widths).map(|(cell, width)| set_cell(cell, *width, style)).collect();
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

fn set_cell(cell: &str, width: usize, style: &Style) -> Vec<String> {
    let mut lines = wrap(cell, width.max(1), "", "");
    if lines.len() > CELL_LINES_MAX {
        lines.truncate(CELL_LINES_MAX);
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

    const PLAIN: Style = Style { color: false, width: 40, unicode: true };

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

    #[test]
    fn a_narrow_terminal_and_a_ragged_table_do_no_harm() {
        let rows =
            rows(&[&["one", "two", "three", "four"], &["a"], &[], &["\u{1b}[31mred", "b", "c", "d", "e"]]);
        let shown = table("T", &rows, &Style { width: 1, ..PLAIN });
        assert!(!shown.contains('\u{1b}') && shown.contains("red"), "{shown}");
    }
}
