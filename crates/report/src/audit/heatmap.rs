//! A matrix as a picture.

use std::fmt::Write;

use super::wide;
use agon_host::clean_line;

/// A cell has room for `-0.46`.
const CELL: f64 = 42.0;
/// About the width of a letter at the size of the labels.
const LETTER: f64 = 7.0;
const EDGE: f64 = 16.0;
const TITLE: f64 = 34.0;
const LEGEND: f64 = 56.0;
const NAME_CHARS_MAX: usize = 34;
/// Blue and orange are told apart also by people who do not tell red from green; the value is in the cell besides.
const TOGETHER: &str = "#0072b2";
const AGAINST: &str = "#d55e00";
/// From this strength on the colour is darker than the text.
const STRONG: f64 = 0.85;
const SCALE: [f64; 7] = [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0];

/// A heat map of values from -1 to 1, as an SVG picture that needs nothing else, in light and dark. The stronger the value,
/// the stronger the colour over the background: blue for what goes together, orange for what goes apart. A pair without a
/// value has a dash.
pub fn heatmap(matrix: &[Vec<Option<f64>>], names: &[String], title: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| short(name)).collect();
    let longest = names.iter().map(|name| wide(name)).max().unwrap_or_default() as f64 * LETTER;
    // The names above are turned by 45 degrees, so that they rise and reach to the right.
    let turned = longest * std::f64::consts::FRAC_1_SQRT_2 + 12.0;
    let side = CELL * names.len() as f64;
    let frame = Frame { left: EDGE + longest + 10.0, top: TITLE + turned, names };
    let legend = SCALE.len() as f64 * CELL;
    let width = (frame.left + side.max(legend) + EDGE).max(frame.left + side + turned);
    let height = frame.top + side + LEGEND;
    let mut svg = String::new();
    let title = escaped(&clean_line(title));
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\
         <title>{title}</title>\
         <style>svg{{background:#fff;color:#222}}@media (prefers-color-scheme:dark){{svg{{background:#16181d;color:#ddd}}}}\
         text{{fill:currentColor}}.strong{{fill:#fff}}.value{{font-size:11px;text-anchor:middle}}\
         .cell{{stroke:currentColor;stroke-opacity:.12}}.self{{fill:currentColor;fill-opacity:.06}}</style>\
         <text x=\"{EDGE}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{title}</text>"
    );
    frame.labels(&mut svg);
    for (row, cells) in matrix.iter().enumerate().take(frame.names.len()) {
        for (column, value) in cells.iter().enumerate().take(frame.names.len()) {
            frame.cell(&mut svg, row, column, *value);
        }
    }
    frame.legend(&mut svg, frame.top + side + 14.0);
    svg.push_str("</svg>\n");
    svg
}

struct Frame {
    left: f64,
    top: f64,
    names: Vec<String>,
}

impl Frame {
    fn x(&self, column: usize) -> f64 {
        self.left + CELL * column as f64
    }

    fn y(&self, row: usize) -> f64 {
        self.top + CELL * row as f64
    }

    fn labels(&self, svg: &mut String) {
        for (place, name) in self.names.iter().enumerate() {
            let (name, middle) = (escaped(name), CELL / 2.0);
            let (x, y) = (self.x(place) + middle, self.top - 8.0);
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
                 <text x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-45 {x:.1} {y:.1})\">{name}</text>",
                self.left - 8.0,
                self.y(place) + middle + 4.0,
            );
        }
    }

    fn cell(&self, svg: &mut String, row: usize, column: usize, value: Option<f64>) {
        let name = |place: usize| self.names.get(place).map_or_else(String::new, |name| escaped(name));
        let value = value.filter(|value| value.is_finite());
        let about = match value {
            _ if row == column => name(row),
            Some(value) => format!("{} and {}: {value:.4}", name(row), name(column)),
            None => format!("{} and {}: nothing can be said", name(row), name(column)),
        };
        let value = if row == column { None } else { value };
        let kind = if row == column { "cell self" } else { "cell" };
        let _ = write!(svg, "<g><title>{about}</title>");
        square(svg, self.x(column), self.y(row), kind, value);
        if row != column && value.is_none() {
            written(svg, self.x(column), self.y(row), "value", "\u{2013}");
        }
        svg.push_str("</g>");
    }

    fn legend(&self, svg: &mut String, y: f64) {
        for (place, value) in SCALE.into_iter().enumerate() {
            let x = self.x(place);
            let _ = write!(
                svg,
                "<rect class=\"cell\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"10\" {}/>",
                fill(value)
            );
            let _ = write!(
                svg,
                "<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{value}</text>",
                x + CELL / 2.0,
                y + 25.0
            );
        }
    }
}

fn square(svg: &mut String, x: f64, y: f64, kind: &str, value: Option<f64>) {
    let painted =
        value.map_or_else(|| if kind == "cell" { "fill=\"none\"".to_owned() } else { String::new() }, fill);
    let _ = write!(
        svg,
        "<rect class=\"{kind}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{CELL}\" {painted}/>"
    );
    if let Some(value) = value {
        let class = if value.abs() >= STRONG { "value strong" } else { "value" };
        // A zero has no sign, whatever is left of it in the third digit.
        let shown = format!("{value:.2}");
        written(svg, x, y, class, if shown == "-0.00" { "0.00" } else { &shown });
    }
}

fn written(svg: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let middle = CELL / 2.0;
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
        x + middle,
        y + middle + 4.0
    );
}

fn fill(value: f64) -> String {
    let colour = if value < 0.0 { AGAINST } else { TOGETHER };
    format!("fill=\"{colour}\" fill-opacity=\"{:.3}\"", value.abs().min(1.0))
}

/// A name on one line, short enough for a label.
fn short(name: &str) -> String {
    let line = clean_line(name);
    let mut shown: String = line.chars().take(NAME_CHARS_MAX).collect();
    if line.chars().count() > NAME_CHARS_MAX {
        shown.push('\u{2026}');
    }
    shown
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
        // Rows and names that do not fit together are no picture of anything, but no panic either.
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
        assert!(nothing.contains("nothing can be said") && nothing.contains(">0.00</text>"), "{nothing}");
    }
}
