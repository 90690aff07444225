//! Accuracy against cost, as an SVG picture that needs nothing else, in light and dark.

use std::fmt::Write;

use agon_trials::Kind;
use agon_trials::findings::{CostIn, Figures, Findings, Mean};

use crate::figures::{count, dollars};
use crate::ratings::escaped;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 270.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 56.0;
const LINE: f64 = 22.0;
/// Costs that are further apart than this are drawn on a logarithmic scale.
const FACTORS_FROM: f64 = 8.0;
/// The shares on the scale are at least so far apart.
const SPAN_MIN: f64 = 0.2;
/// Told apart also by people who do not tell red from green; each kind also has a shape of its own.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// An arm that can be drawn.
struct Dot<'a> {
    figures: &'a Figures,
    accuracy: f64,
    cost: Mean,
    colour: &'static str,
}

/// The arms as points: the share that is right against what a question costs, with 95% intervals of both.
pub fn trials_svg(found: &Findings) -> String {
    let dots = dots(found);
    let frame = Frame::of(&dots, found.cost_in);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Accuracy against cost\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\
         <style>svg{{background:#fff;color:#222}}@media (prefers-color-scheme:dark){{svg{{background:#16181d;color:#ddd}}}}\
         text{{fill:currentColor}}.grid{{stroke:currentColor;opacity:.15}}</style>"
    );
    frame.grid(&mut svg);
    for (place, dot) in dots.iter().enumerate() {
        frame.dot(&mut svg, place, dot);
    }
    if dots.is_empty() {
        let _ = write!(svg, "<text x=\"{LEFT}\" y=\"{}\">No results yet</text>", HEIGHT / 2.0);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A vote inside a debate has the colour of its debate.
fn dots(found: &Findings) -> Vec<Dot<'_>> {
    let mut colours = COLOURS.iter().copied().cycle();
    let mut colour = "";
    let mut dots = Vec::new();
    for figures in &found.arms {
        if figures.kind != Kind::FirstRound {
            colour = colours.next().unwrap_or("#888");
        }
        if let (Some(accuracy), Some(cost)) = (figures.accuracy, figures.cost(found.cost_in)) {
            dots.push(Dot { figures, accuracy, cost, colour });
        }
    }
    dots
}

struct Frame {
    cost_in: CostIn,
    /// Whether costs are on a logarithmic scale.
    factors: bool,
    cheapest: f64,
    dearest: f64,
    low: f64,
    high: f64,
}

impl Frame {
    fn of(dots: &[Dot<'_>], cost_in: CostIn) -> Self {
        let ends = |of: fn(&Dot<'_>) -> [f64; 2]| {
            let all = dots.iter().flat_map(of).filter(|end| end.is_finite());
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)))
        };
        let (cheapest, dearest) =
            ends(|dot| [dot.cost.interval[0].min(dot.cost.mean), dot.cost.interval[1].max(dot.cost.mean)]);
        let (low, high) = ends(|dot| dot.figures.interval);
        let factors = cheapest > 0.0 && dearest / cheapest >= FACTORS_FROM;
        let (cheapest, dearest) = match factors {
            true => (cheapest / 1.3, dearest * 1.3),
            false if dearest > 0.0 => (0.0, dearest * 1.1),
            false => (0.0, 1.0),
        };
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let missing = (SPAN_MIN - (high - low)).max(0.0) / 2.0;
        // Whole tenths, so that the lines of the grid have round figures.
        let low = ((low - missing) * 10.0).floor().max(0.0) / 10.0;
        let high = ((high + missing) * 10.0).ceil().min(10.0) / 10.0;
        Self { cost_in, factors, cheapest, dearest, low, high }
    }

    fn x(&self, cost: f64) -> f64 {
        let share = match self.factors {
            true => (cost / self.cheapest).ln() / (self.dearest / self.cheapest).ln(),
            false => (cost - self.cheapest) / (self.dearest - self.cheapest),
        };
        LEFT + (WIDTH - LEFT - RIGHT) * share.clamp(0.0, 1.0)
    }

    fn y(&self, share: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (self.high - share) / (self.high - self.low)
    }

    fn grid(&self, svg: &mut String) {
        let (end, foot) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let tenths = ((self.high - self.low) * 10.0).round() as u32;
        for step in 0..=tenths {
            let share = self.low + f64::from(step) / 10.0;
            let y = self.y(share);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.0}%</text>",
                LEFT - 8.0,
                y + 4.0,
                share * 100.0
            );
        }
        for cost in self.marks() {
            let x = self.x(cost);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{foot}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                foot + 16.0,
                self.written(cost)
            );
        }
        let what = match self.cost_in {
            CostIn::Usd => "US dollars a question",
            CostIn::Tokens => "tokens a question",
            CostIn::Calls => "calls a question",
        };
        let scale = if self.factors { " (logarithmic scale)" } else { "" };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{what}{scale}</text>\
             <text x=\"{LEFT}\" y=\"{:.1}\">right answers, with 95% intervals</text>",
            (LEFT + end) / 2.0,
            HEIGHT - 14.0,
            TOP - 10.0
        );
    }

    /// Round costs for the grid.
    fn marks(&self) -> Vec<f64> {
        if !self.factors {
            return (0..=4).map(|step| self.dearest * f64::from(step) / 4.0).collect();
        }
        let first = self.cheapest.log10().floor() as i32;
        let last = self.dearest.log10().ceil() as i32;
        let all = (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let inside: Vec<f64> = all.filter(|cost| (self.cheapest..=self.dearest).contains(cost)).collect();
        // Three marks to a power of ten are too many when there are many powers.
        let step = inside.len().div_ceil(9).max(1);
        inside.into_iter().step_by(if step > 1 { 3 } else { 1 }).collect()
    }

    fn written(&self, cost: f64) -> String {
        match self.cost_in {
            CostIn::Usd => dollars(cost),
            CostIn::Tokens => count(cost.round() as u64),
            CostIn::Calls if cost < 10.0 && cost.fract() > 0.05 => format!("{cost:.1}"),
            CostIn::Calls => count(cost.round() as u64),
        }
    }

    fn dot(&self, svg: &mut String, place: usize, dot: &Dot<'_>) {
        let (x, y, colour) = (self.x(dot.cost.mean), self.y(dot.accuracy), dot.colour);
        let [low, high] = dot.figures.interval;
        let [cheap, dear] = dot.cost.interval;
        let name = escaped(&dot.figures.arm);
        // Where the vote of a debate lies upon another arm, both bars are still seen.
        let dash = if dot.figures.kind == Kind::FirstRound { " stroke-dasharray=\"4 4\"" } else { "" };
        let _ = write!(
            svg,
            "<g stroke=\"{colour}\" stroke-width=\"2\" fill=\"{colour}\"><title>{name}: {:.1}% right [{:.1}, {:.1}], {} a question</title>\
             <line{dash} x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <line{dash} x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>{}</g>",
            dot.accuracy * 100.0,
            low * 100.0,
            high * 100.0,
            self.written(dot.cost.mean),
            self.y(low),
            self.y(high),
            self.x(cheap),
            self.x(dear),
            shape(dot.figures.kind, x, y)
        );
        let (key_x, key_y) = (WIDTH - RIGHT + 20.0, TOP + LINE * place as f64);
        let _ = write!(
            svg,
            "<g stroke=\"{colour}\" stroke-width=\"2\" fill=\"{colour}\">{}</g><text x=\"{:.1}\" y=\"{:.1}\">{name} {:.1}%</text>",
            shape(dot.figures.kind, key_x, key_y),
            key_x + 14.0,
            key_y + 4.0,
            dot.accuracy * 100.0
        );
    }
}

/// Each kind of arm has its shape; a vote inside a debate is hollow.
fn shape(kind: Kind, x: f64, y: f64) -> String {
    const R: f64 = 6.0;
    let points = |points: &[(f64, f64)], fill: &str| {
        let points: Vec<String> =
            points.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * R, y + dy * R)).collect();
        format!("<polygon{fill} points=\"{}\"/>", points.join(" "))
    };
    const TRIANGLE: [(f64, f64); 3] = [(0.0, -1.1), (1.0, 0.8), (-1.0, 0.8)];
    match kind {
        Kind::Single => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"/>", R - 1.0),
        Kind::SelfConsistency => points(&[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)], ""),
        Kind::Vote => points(&[(0.0, -1.1), (1.1, 0.0), (0.0, 1.1), (-1.1, 0.0)], ""),
        Kind::Protocol => points(&TRIANGLE, ""),
        Kind::FirstRound => points(&TRIANGLE, " fill=\"none\""),
    }
}
