//! Heat maps.

use crate::svg::{PICTURE_STYLES, cut_label, px};
use agon_host::clean_line;
use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

/// A cell has room for `-0.46`.
const CELL: f64 = 42.0;
/// About the width of a letter at the size of the labels.
const LETTER: f64 = 7.0;
const EDGE: f64 = 16.0;
const TITLE: f64 = 34.0;
const LEGEND: f64 = 56.0;
const NAME_CHARS_MAX: usize = 34;
/// Blue and orange, which are readable with red-green colour blindness.
const TOGETHER: &str = "#0072b2";
const AGAINST: &str = "#d55e00";
/// From this value on the text is white, because the cell is dark.
const STRONG: f64 = 0.85;
const SCALE: [f64; 7] = [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0];

/// A heat map of values from -1 to 1, as a self-contained SVG picture for light and dark backgrounds. Positive values are blue and
/// negative ones orange, stronger the larger they are. A pair without a value has a dash.
pub fn heatmap(matrix: &[Vec<Option<f64>>], names: &[String], title: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| cut_label(&clean_line(name), NAME_CHARS_MAX)).collect();
    let longest = names.iter().map(|name| name.width()).max().unwrap_or_default() as f64 * LETTER;
    // The names of the columns are turned by 45 degrees, so they need room above and to the right.
    let turned = longest * std::f64::consts::FRAC_1_SQRT_2 + 12.0;
    let side = CELL * names.len() as f64;
    let frame = HeatmapFrame { left: EDGE + longest + 10.0, top: TITLE + turned, names };
    let legend = SCALE.len() as f64 * CELL;
    let width = (frame.left + side.max(legend) + EDGE).max(frame.left + side + turned);
    let height = frame.top + side + LEGEND;
    let title = clean_line(title);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format_args!("0 0 {width:.0} {height:.0}"))
            width=(width.round()) height=(height.round()) role="img" aria-label=(title)
            font-family="system-ui, sans-serif" font-size="12" {
            title { (title) }
            style {
                (PICTURE_STYLES)
                ".strong{fill:#fff}.value{font-size:11px;text-anchor:middle}"
                ".cell{stroke:currentColor;stroke-opacity:.12}.self{fill:currentColor;fill-opacity:.06}"
            }
            text x=(EDGE) y="22" font-size="15" font-weight="600" { (title) }
            (frame.labels())
            @for (row, cells) in matrix.iter().enumerate().take(frame.names.len()) {
                @for (column, value) in cells.iter().enumerate().take(frame.names.len()) {
                    (frame.cell(row, column, *value))
                }
            }
            (frame.legend(frame.top + side + 14.0))
        }
    };
    format!("{}\n", picture.into_string())
}

struct HeatmapFrame {
    left: f64,
    top: f64,
    names: Vec<String>,
}

impl HeatmapFrame {
    fn x(&self, column: usize) -> f64 {
        self.left + CELL * column as f64
    }

    fn y(&self, row: usize) -> f64 {
        self.top + CELL * row as f64
    }

    fn labels(&self) -> Markup {
        html! {
            @for (place, name) in self.names.iter().enumerate() {
                @let (x, y) = (self.x(place) + CELL / 2.0, self.top - 8.0);
                text x=(px(self.left - 8.0)) y=(px(self.y(place) + CELL / 2.0 + 4.0)) text-anchor="end" { (name) }
                text x=(px(x)) y=(px(y)) transform=(format_args!("rotate(-45 {x:.1} {y:.1})")) { (name) }
            }
        }
    }

    fn cell(&self, row: usize, column: usize, value: Option<f64>) -> Markup {
        let name = |place: usize| self.names.get(place).map_or("", String::as_str);
        let value = value.filter(|value| value.is_finite());
        let about = match value {
            _ if row == column => name(row).to_owned(),
            Some(value) => format!("{} and {}: {value:.4}", name(row), name(column)),
            None => format!("{} and {}: unknown", name(row), name(column)),
        };
        let (class, value) = if row == column { ("cell self", None) } else { ("cell", value) };
        let strong = value.is_some_and(|value| value.abs() >= STRONG);
        let written = match value {
            _ if row == column => None,
            None => Some("\u{2013}".to_owned()),
            // -0.001 is shown as 0.00, not as -0.00.
            Some(value) => {
                Some(format!("{value:.2}")).map(|shown| if shown == "-0.00" { "0.00".into() } else { shown })
            }
        };
        let (x, y) = (self.x(column), self.y(row));
        let fill = match value {
            None if row != column => Some("none"),
            value => value.map(colour),
        };
        html! {
            g {
                title { (about) }
                rect class=(class) x=(px(x)) y=(px(y)) width=(CELL) height=(CELL) fill=[fill] fill-opacity=[value.map(opacity)] {}
                @if let Some(written) = written {
                    text class={ "value" @if strong { " strong" } } x=(px(x + CELL / 2.0)) y=(px(y + CELL / 2.0 + 4.0)) { (written) }
                }
            }
        }
    }

    fn legend(&self, y: f64) -> Markup {
        html! {
            @for (place, value) in SCALE.into_iter().enumerate() {
                @let x = self.x(place);
                rect class="cell" x=(px(x)) y=(px(y)) width=(CELL) height="10" fill=(colour(value)) fill-opacity=(opacity(value)) {}
                text class="value" x=(px(x + CELL / 2.0)) y=(px(y + 25.0)) { (value) }
            }
        }
    }
}

fn colour(value: f64) -> &'static str {
    if value < 0.0 { AGAINST } else { TOGETHER }
}

fn opacity(value: f64) -> String {
    format!("{:.3}", value.abs().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(svg: &str) -> (usize, usize) {
        let tree = roxmltree::Document::parse(svg).unwrap();
        let classed = |class: &str| {
            tree.descendants()
                .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "rect")))
                .filter(|node| {
                    node.attribute("class") == Some(class) && node.attribute("height") == Some("42")
                })
                .count()
        };
        (classed("cell"), classed("cell self"))
    }

    /// "a correlation heat map `--plot FILE.svg`": whole XML whatever the names are, and nothing from elsewhere.
    #[test]
    fn the_picture_is_whole_whatever_it_is_given() {
        let names: Vec<String> =
            (0..18).map(|n| format!("<b>&\"{n}\u{1b}[31m\n{}", "long ".repeat(n))).collect();
        let value = |row: usize, column: usize| match (row + column) % 5 {
            0 => None,
            1 => Some(f64::NAN),
            step => Some(step as f64 / 2.0 - 1.7),
        };
        for size in [0, 1, 2, 18] {
            let matrix: Vec<Vec<Option<f64>>> =
                (0..size).map(|row| (0..size).map(|column| value(row, column)).collect()).collect();
            let svg = heatmap(&matrix, &names[..size], "A & <B>");
            assert_eq!(cells(&svg), (size * size - size, size));
            assert!(!svg.contains('\u{1b}') && !svg.contains("NaN") && !svg.contains("<b>"), "{svg}");
            assert_eq!(svg.matches("http").count(), 1, "only the name of the format");
        }
        // Rows and names of different lengths do not panic.
        assert_eq!(cells(&heatmap(&[vec![Some(0.5); 3]], &names[..2], "")), (1, 1));
    }

    #[test]
    fn a_cell_says_its_pair_and_its_value_in_words_and_colour() {
        let matrix = [vec![Some(1.0), Some(-0.25)], vec![Some(0.9), Some(1.0)]];
        let svg = heatmap(&matrix, &["a".into(), "b".into()], "Errors");
        assert!(svg.contains("<title>a and b: -0.2500</title>") && svg.contains(">-0.25</text>"), "{svg}");
        assert!(svg.contains("fill=\"#d55e00\" fill-opacity=\"0.250\""), "apart is orange");
        assert!(
            svg.contains("class=\"value strong\"") && svg.contains("fill=\"#0072b2\" fill-opacity=\"0.900\"")
        );
        let nothing = heatmap(&[vec![None; 2], vec![Some(-0.001), None]], &["a".into(), "b".into()], "");
        assert!(nothing.contains("a and b: unknown") && nothing.contains(">0.00</text>"), "{nothing}");
    }
}
