//! The findings of a run: what they mean in sentences, the tables, and a plot of accuracy against cost.

use std::fmt::Write;

use agon_core::wording::{count, counted, dollars};
use agon_report::{TerminalStyle, svg_label, table};

use super::arms::ArmKind;
use super::findings::{
    ArmComparison, ArmFigures, CostUnit, DebateEffect, EvalFindings, MeanCost, SIGNIFICANT,
};

/// The findings of a run as text: first what they mean, then the tables.
pub fn eval_report(findings: &EvalFindings, style: &TerminalStyle) -> String {
    let paragraphs =
        |sentences: Vec<String>| sentences.iter().map(|one| style.paragraph(one)).collect::<String>();
    let mut parts = vec![paragraphs(conclusions(findings, style)), arms_table(findings, style)];
    let others: Vec<&ArmComparison> = findings
        .comparisons
        .iter()
        .filter(|one| kind_of(findings, &one.against) != Some(ArmKind::Single))
        .collect();
    if !others.is_empty() {
        parts.push(comparisons_table(&others, style));
    }
    if findings.debates.iter().any(|effect| effect.n > 0) {
        parts.push(effects_table(&findings.debates, style));
    }
    parts.push(paragraphs(notes(findings)));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn kind_of(findings: &EvalFindings, arm: &str) -> Option<ArmKind> {
    findings.arm(arm).map(|figures| figures.kind)
}

/// What the run means. If there are debates, each is compared with one model and with what costs as much; otherwise every other arm is.
fn conclusions(findings: &EvalFindings, style: &TerminalStyle) -> Vec<String> {
    let mut sentences = Vec::new();
    if findings.done < findings.planned {
        sentences.push(format!(
            "{} of {} are done: the figures are of those.",
            count(findings.done as u64),
            counted(findings.planned as u64, "trial")
        ));
    }
    let has_debates = findings.arms.iter().any(|figures| figures.kind == ArmKind::Protocol);
    let is_told = |one: &&ArmComparison| match kind_of(findings, &one.arm) {
        Some(ArmKind::Protocol) => kind_of(findings, &one.against) != Some(ArmKind::Vote),
        Some(ArmKind::FirstRound) => false,
        _ => !has_debates,
    };
    sentences.extend(findings.comparisons.iter().filter(is_told).map(|one| conclusion(findings, one, style)));
    sentences.extend(too_few_questions(findings));
    sentences
}

/// One comparison: how much better, how certain, at what cost, and what follows.
fn conclusion(findings: &EvalFindings, one: &ArmComparison, style: &TerminalStyle) -> String {
    let other = match kind_of(findings, &one.against) {
        Some(ArmKind::Single) => "one model alone".to_owned(),
        Some(ArmKind::FirstRound) => "the vote on its own first answers".to_owned(),
        Some(ArmKind::SelfConsistency) => format!("{} of one model", samples(findings, &one.against)),
        _ => one.against.clone(),
    };
    let points = one.difference * 100.0;
    let better = match points {
        points if points.abs() < 0.05 => format!("as good as {other}"),
        points => {
            let unit = if format!("{:.1}", points.abs()) == "1.0" { "point" } else { "points" };
            let word = if points > 0.0 { "better" } else { "worse" };
            format!("{:.1} {unit} {word} than {other}", points.abs())
        }
    };
    let cost = one.cost_ratio.map(|ratio| format!(" at {}", cost_factor(ratio, findings.cost_in)));
    let effect = match (one.is_significant(), one.difference > 0.0) {
        (true, true) => "it helps",
        (true, false) => "it hurts",
        (false, _) => "not shown to help",
    };
    let (arm, range, cost) = (&one.arm, range(one.interval, style), cost.unwrap_or_default());
    format!("{arm} is {better} {range}{cost}: {effect} (p {}).", probability(one.p_corrected))
}

fn samples(findings: &EvalFindings, arm: &str) -> String {
    counted(findings.arm(arm).map_or(0, |figures| u64::from(figures.expected_calls[1])), "sample")
}

fn cost_factor(ratio: f64, unit: CostUnit) -> String {
    let what = match unit {
        CostUnit::Usd => "price",
        CostUnit::Tokens => "tokens",
        CostUnit::Calls => "calls",
    };
    match ratio {
        ratio if (0.95..1.05).contains(&ratio) => format!("the same {what}"),
        ratio if (0.1..10.0).contains(&ratio) => format!("{ratio:.1} times the {what}"),
        ratio if ratio < 0.1 => format!("{ratio:.2} times the {what}"),
        ratio => format!("{ratio:.0} times the {what}"),
    }
}

/// Says so if there are so few questions that no result could be significant.
fn too_few_questions(findings: &EvalFindings) -> Option<String> {
    let n = findings.comparisons.iter().map(|one| one.n).max()?;
    let tests = findings.comparisons.len() as f64;
    // The smallest possible p: one arm gets every question right and the other none.
    let least = tests * 2.0 * 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let questions = counted(n, "question");
    (least >= SIGNIFICANT).then(|| {
        format!("With {questions} no test could show a difference, however large: try more questions.")
    })
}

/// The interval of a difference, in points.
fn range([low, high]: [f64; 2], style: &TerminalStyle) -> String {
    format!("[{}, {}]", signed(low * 100.0, false, style), signed(high * 100.0, false, style))
}

fn signed(value: f64, with_plus: bool, style: &TerminalStyle) -> String {
    let digits = format!("{:.1}", value.abs());
    let sign = match value {
        _ if digits == "0.0" => "",
        value if value < 0.0 && style.unicode => "\u{2212}",
        value if value < 0.0 => "-",
        _ if with_plus => "+",
        _ => "",
    };
    format!("{sign}{digits}")
}

fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "under 0.001".into(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// A table with these column heads.
fn headed_table<const N: usize>(
    title: &str,
    heads: [&str; N],
    rows: impl Iterator<Item = Vec<String>>,
    style: &TerminalStyle,
) -> String {
    let heads = heads.map(str::to_owned).to_vec();
    table(title, &std::iter::once(heads).chain(rows).collect::<Vec<_>>(), style)
}

/// The arms, each with its figures and its comparison with the single model.
fn arms_table(findings: &EvalFindings, style: &TerminalStyle) -> String {
    let row = |figures: &ArmFigures| {
        let is_against_single = |one: &&ArmComparison| {
            one.arm == figures.arm && kind_of(findings, &one.against) == Some(ArmKind::Single)
        };
        let against = findings.comparisons.iter().find(is_against_single);
        let mean = |cost: Option<MeanCost>, show: fn(f64) -> String| {
            cost.map_or("-".to_owned(), |cost| show(cost.mean))
        };
        vec![
            figures.arm.clone(),
            count(figures.n),
            accuracy(figures),
            mean(figures.calls, |calls| format!("{calls:.1}")),
            mean(figures.tokens, |tokens| count(tokens.round() as u64)),
            mean(figures.usd, dollars),
            against.map_or("-".into(), |one| difference(one, style)),
            against.map_or("-".into(), |one| probability(one.p_corrected)),
        ]
    };
    let heads = ["arm", "n", "right", "calls", "tokens", "usd", "against single", "p"];
    headed_table("", heads, findings.arms.iter().map(row), style)
}

fn accuracy(figures: &ArmFigures) -> String {
    let [low, high] = figures.interval.map(|end| end * 100.0);
    figures.accuracy.map_or("-".into(), |share| format!("{:.1}% [{low:.1}, {high:.1}]", share * 100.0))
}

fn difference(one: &ArmComparison, style: &TerminalStyle) -> String {
    format!("{} {}", signed(one.difference * 100.0, true, style), range(one.interval, style))
}

/// The comparisons with other arms than the single model.
fn comparisons_table(others: &[&ArmComparison], style: &TerminalStyle) -> String {
    let row = |one: &&ArmComparison| {
        let (own, theirs, p) = (count(one.only_arm), count(one.only_against), probability(one.p_corrected));
        vec![one.arm.clone(), one.against.clone(), difference(one, style), own, theirs, p]
    };
    let title = "The debates against other ways to spend as much or less";
    let heads = ["arm", "against", "points", "only it", "only the other", "p"];
    headed_table(title, heads, others.iter().map(row), style)
}

fn effects_table(effects: &[DebateEffect], style: &TerminalStyle) -> String {
    let row = |effect: &DebateEffect| {
        let counts = [effect.wrong_to_right, effect.right_to_wrong, effect.stayed_right, effect.stayed_wrong]
            .map(count);
        std::iter::once(effect.arm.clone()).chain(counts).collect()
    };
    let title = "What the debate made of the vote on its first answers";
    let heads = ["arm", "put right", "put wrong", "stayed right", "stayed wrong"];
    headed_table(title, heads, effects.iter().map(row), style)
}

/// What a reader must know to trust the figures.
fn notes(findings: &EvalFindings) -> Vec<String> {
    let mut notes = Vec::new();
    for figures in &findings.arms {
        let arm = &figures.arm;
        if figures.failed > 0 {
            let verb = if figures.failed == 1 { "counts" } else { "count" };
            notes.push(format!("{arm}: {} failed and {verb} as wrong.", counted(figures.failed, "trial")));
        }
        if figures.unread > 0 {
            let verdicts = counted(figures.unread, "verdict");
            notes.push(format!("{arm}: no answer could be found in {verdicts}; that counts as wrong."));
        }
        if figures.kind == ArmKind::SelfConsistency {
            notes.push(format!(
                "{arm}: {} per question{}.",
                samples(findings, arm),
                budget(findings, figures)
            ));
        }
    }
    notes.extend(findings.unequal_budgets());
    if !findings.comparisons.is_empty() {
        let tests = counted(findings.comparisons.len() as u64, "test");
        notes.push(format!("Intervals are 95%. p is McNemar's exact test, corrected for {tests} (Holm)."));
    }
    notes
}

/// How the number of samples relates to the debates.
fn budget(findings: &EvalFindings, sampled: &ArmFigures) -> &'static str {
    let expected = |figures: &ArmFigures| figures.expected_calls.iter().sum::<u32>().div_ceil(2);
    let debates = findings.arms.iter().filter(|figures| figures.kind == ArmKind::Protocol);
    match debates.map(expected).max() {
        _ if sampled.capped => {
            ", fewer than the calls of the most expensive debate, because a plain vote has no more seats"
        }
        Some(most) if most == expected(sampled) => {
            ", as many calls as the most expensive debate was expected to make"
        }
        _ => "",
    }
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 270.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 56.0;
/// The distance of two lines of the key.
const KEY_LINE: f64 = 22.0;
/// Costs that differ by this factor or more are drawn on a logarithmic scale.
const LOGARITHMIC_FROM: f64 = 8.0;
/// The scale of the accuracy covers at least this much.
const ACCURACY_SPAN_MIN: f64 = 0.2;
/// People who cannot tell red from green can tell these apart. Each kind of arm also has its own shape.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// The arms as an SVG picture: accuracy against the cost per question, with 95% intervals of both. It needs no other file and adapts to
/// light and dark.
pub fn eval_svg(findings: &EvalFindings) -> String {
    let points = plot_points(findings);
    let frame = PlotFrame::around(&points, findings.cost_in);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Accuracy against cost\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\
         <style>svg{{background:#fff;color:#222}}@media (prefers-color-scheme:dark){{svg{{background:#16181d;color:#ddd}}}}\
         text{{fill:currentColor}}.grid{{stroke:currentColor;opacity:.15}}</style>"
    );
    frame.draw_grid(&mut svg);
    for (place, point) in points.iter().enumerate() {
        frame.draw_point(&mut svg, point);
        draw_key(&mut svg, place, point);
    }
    if points.is_empty() {
        let _ = write!(svg, "<text x=\"{LEFT}\" y=\"{}\">No results yet</text>", HEIGHT / 2.0);
    }
    svg.push_str("</svg>\n");
    svg
}

/// An arm in the plot.
struct PlotPoint<'a> {
    figures: &'a ArmFigures,
    accuracy: f64,
    cost: MeanCost,
    colour: &'static str,
}

/// The arms that have results. The vote inside a debate has the colour of its debate.
fn plot_points(findings: &EvalFindings) -> Vec<PlotPoint<'_>> {
    let mut colours = COLOURS.iter().copied().cycle();
    let mut colour = "";
    let mut points = Vec::new();
    for figures in &findings.arms {
        if figures.kind != ArmKind::FirstRound {
            colour = colours.next().unwrap_or("#888");
        }
        if let (Some(accuracy), Some(cost)) = (figures.accuracy, figures.cost(findings.cost_in)) {
            points.push(PlotPoint { figures, accuracy, cost, colour });
        }
    }
    points
}

/// The scales of the plot.
struct PlotFrame {
    unit: CostUnit,
    is_logarithmic: bool,
    cost_min: f64,
    cost_max: f64,
    accuracy_min: f64,
    accuracy_max: f64,
}

impl PlotFrame {
    fn around(points: &[PlotPoint<'_>], unit: CostUnit) -> Self {
        let ends = |of: fn(&PlotPoint<'_>) -> [f64; 2]| {
            let all = points.iter().flat_map(of).filter(|end| end.is_finite());
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)))
        };
        let (cost_min, cost_max) = ends(|point| {
            let [low, high] = point.cost.interval;
            [low.min(point.cost.mean), high.max(point.cost.mean)]
        });
        let is_logarithmic = cost_min > 0.0 && cost_max / cost_min >= LOGARITHMIC_FROM;
        let (cost_min, cost_max) = match is_logarithmic {
            true => (cost_min / 1.3, cost_max * 1.3),
            false if cost_max > 0.0 => (0.0, cost_max * 1.1),
            false => (0.0, 1.0),
        };
        let (low, high) = ends(|point| point.figures.interval);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let missing = (ACCURACY_SPAN_MIN - (high - low)).max(0.0) / 2.0;
        // Whole tenths, so that the lines of the grid have round figures.
        let accuracy_min = ((low - missing) * 10.0).floor().max(0.0) / 10.0;
        let accuracy_max = ((high + missing) * 10.0).ceil().min(10.0) / 10.0;
        Self { unit, is_logarithmic, cost_min, cost_max, accuracy_min, accuracy_max }
    }

    fn x(&self, cost: f64) -> f64 {
        let share = match self.is_logarithmic {
            true => (cost / self.cost_min).ln() / (self.cost_max / self.cost_min).ln(),
            false => (cost - self.cost_min) / (self.cost_max - self.cost_min),
        };
        LEFT + (WIDTH - LEFT - RIGHT) * share.clamp(0.0, 1.0)
    }

    fn y(&self, accuracy: f64) -> f64 {
        let span = self.accuracy_max - self.accuracy_min;
        TOP + (HEIGHT - TOP - BOTTOM) * (self.accuracy_max - accuracy) / span
    }

    fn draw_grid(&self, svg: &mut String) {
        let (end, foot) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let tenths = ((self.accuracy_max - self.accuracy_min) * 10.0).round() as u32;
        for step in 0..=tenths {
            let accuracy = self.accuracy_min + f64::from(step) / 10.0;
            let y = self.y(accuracy);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.0}%</text>",
                LEFT - 8.0,
                y + 4.0,
                accuracy * 100.0
            );
        }
        for cost in self.cost_marks() {
            let x = self.x(cost);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{foot}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                foot + 16.0,
                self.cost_text(cost)
            );
        }
        let unit = match self.unit {
            CostUnit::Usd => "US dollars per question",
            CostUnit::Tokens => "tokens per question",
            CostUnit::Calls => "calls per question",
        };
        let scale = if self.is_logarithmic { " (logarithmic scale)" } else { "" };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{unit}{scale}</text>\
             <text x=\"{LEFT}\" y=\"{:.1}\">right answers, with 95% intervals</text>",
            (LEFT + end) / 2.0,
            HEIGHT - 14.0,
            TOP - 10.0
        );
    }

    /// Round costs for the grid.
    fn cost_marks(&self) -> Vec<f64> {
        if !self.is_logarithmic {
            return (0..=4).map(|step| self.cost_max * f64::from(step) / 4.0).collect();
        }
        let first = self.cost_min.log10().floor() as i32;
        let last = self.cost_max.log10().ceil() as i32;
        let all = (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let inside: Vec<f64> = all.filter(|cost| (self.cost_min..=self.cost_max).contains(cost)).collect();
        // Over many powers of ten, three marks for each are too many.
        let step = if inside.len() > 9 { 3 } else { 1 };
        inside.into_iter().step_by(step).collect()
    }

    fn cost_text(&self, cost: f64) -> String {
        match self.unit {
            CostUnit::Usd => dollars(cost),
            CostUnit::Tokens => count(cost.round() as u64),
            CostUnit::Calls if cost < 10.0 && cost.fract() > 0.05 => format!("{cost:.1}"),
            CostUnit::Calls => count(cost.round() as u64),
        }
    }

    /// The point with a bar for each interval.
    fn draw_point(&self, svg: &mut String, point: &PlotPoint<'_>) {
        let (x, y, colour) = (self.x(point.cost.mean), self.y(point.accuracy), point.colour);
        let [low, high] = point.figures.interval;
        let [cost_low, cost_high] = point.cost.interval;
        // The bars of a vote are dashed, so that a bar underneath is still visible.
        let dash = if point.figures.kind == ArmKind::FirstRound { " stroke-dasharray=\"4 4\"" } else { "" };
        let _ = write!(
            svg,
            "<g stroke=\"{colour}\" stroke-width=\"2\" fill=\"{colour}\"><title>{}: {:.1}% right [{:.1}, {:.1}], {} per question</title>\
             <line{dash} x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <line{dash} x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>{}</g>",
            svg_label(&point.figures.arm),
            point.accuracy * 100.0,
            low * 100.0,
            high * 100.0,
            self.cost_text(point.cost.mean),
            self.y(low),
            self.y(high),
            self.x(cost_low),
            self.x(cost_high),
            arm_shape(point.figures.kind, x, y)
        );
    }
}

/// The line of an arm in the key.
fn draw_key(svg: &mut String, place: usize, point: &PlotPoint<'_>) {
    let (x, y, colour) = (WIDTH - RIGHT + 20.0, TOP + KEY_LINE * place as f64, point.colour);
    let _ = write!(
        svg,
        "<g stroke=\"{colour}\" stroke-width=\"2\" fill=\"{colour}\">{}</g><text x=\"{:.1}\" y=\"{:.1}\">{} {:.1}%</text>",
        arm_shape(point.figures.kind, x, y),
        x + 14.0,
        y + 4.0,
        svg_label(&point.figures.arm),
        point.accuracy * 100.0
    );
}

/// Each kind of arm has its own shape. The vote inside a debate has the shape of the debate, without filling.
fn arm_shape(kind: ArmKind, x: f64, y: f64) -> String {
    const RADIUS: f64 = 6.0;
    const TRIANGLE: [(f64, f64); 3] = [(0.0, -1.1), (1.0, 0.8), (-1.0, 0.8)];
    let polygon = |corners: &[(f64, f64)], fill: &str| {
        let corners: Vec<String> =
            corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * RADIUS, y + dy * RADIUS)).collect();
        format!("<polygon{fill} points=\"{}\"/>", corners.join(" "))
    };
    match kind {
        ArmKind::Single => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"/>", RADIUS - 1.0),
        ArmKind::SelfConsistency => polygon(&[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)], ""),
        ArmKind::Vote => polygon(&[(0.0, -1.1), (1.1, 0.0), (0.0, 1.1), (-1.1, 0.0)], ""),
        ArmKind::Protocol => polygon(&TRIANGLE, ""),
        ArmKind::FirstRound => polygon(&TRIANGLE, " fill=\"none\""),
    }
}
