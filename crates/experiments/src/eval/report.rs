//! What protocols come to on questions with known answers: what it means in a sentence or two, the table, and a picture.

use agon_trials::Kind;
use agon_trials::findings::{Comparison, CostIn, Debated, Figures, Findings, SIGNIFICANT};

use crate::Style;
use crate::figures::{count, counted, dollars};
use crate::prose::wrap;
use crate::table::table;

mod plot;

pub use plot::trials_svg;

/// The findings of a run as a person reads them.
pub fn trials(found: &Findings, style: &Style) -> String {
    let mut parts = vec![paragraphs(&meaning(found, style), style), figures_table(found, style)];
    let others: Vec<&Comparison> =
        found.comparisons.iter().filter(|c| !is_single(found, &c.against)).collect();
    if !others.is_empty() {
        parts.push(comparisons(&others, style));
    }
    if found.debates.iter().any(|debated| debated.n > 0) {
        parts.push(debates(&found.debates, style));
    }
    parts.push(paragraphs(&notes(found), style));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn paragraphs(sentences: &[String], style: &Style) -> String {
    let lines = sentences.iter().flat_map(|sentence| wrap(sentence, style.columns(), "", "  "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn is_single(found: &Findings, name: &str) -> bool {
    found.arm(name).is_some_and(|figures| figures.kind == Kind::Single)
}

/// What the run means: for every debate, or without one for every other arm, how it did against one model and against what
/// is as dear.
fn meaning(found: &Findings, style: &Style) -> Vec<String> {
    let mut said = Vec::new();
    if found.done < found.planned {
        said.push(format!(
            "{} of {} are done: the figures are of those.",
            count(found.done as u64),
            counted(found.planned as u64, "trial")
        ));
    }
    let kind = |name: &str| found.arm(name).map(|figures| figures.kind);
    let debates = found.arms.iter().any(|figures| figures.kind == Kind::Protocol);
    let told = |c: &&Comparison| match kind(&c.arm) {
        Some(Kind::Protocol) => kind(&c.against) != Some(Kind::Vote),
        Some(Kind::FirstRound) => false,
        _ => !debates,
    };
    said.extend(found.comparisons.iter().filter(told).map(|c| sentence(found, c, style)));
    if let Some(why) = too_few(found) {
        said.push(why);
    }
    said
}

/// One comparison: how much better, how sure, how dear, and what follows.
fn sentence(found: &Findings, c: &Comparison, style: &Style) -> String {
    let other = match found.arm(&c.against).map(|figures| figures.kind) {
        Some(Kind::Single) => "one model alone".to_owned(),
        Some(Kind::FirstRound) => "the vote on its own first answers".to_owned(),
        Some(Kind::SelfConsistency) => format!("{} of one model", samples(found, &c.against)),
        _ => c.against.clone(),
    };
    let points = c.difference * 100.0;
    let better = match points {
        points if points.abs() < 0.05 => format!("as good as {other}"),
        points => {
            let unit = if format!("{:.1}", points.abs()) == "1.0" { "point" } else { "points" };
            let word = if points > 0.0 { "better" } else { "worse" };
            format!("{:.1} {unit} {word} than {other}", points.abs())
        }
    };
    let cost = c.cost_ratio.map(|ratio| format!(" at {}", times(ratio, found.cost_in))).unwrap_or_default();
    let helps = match (c.is_shown(), c.difference > 0.0) {
        (true, true) => "it helps",
        (true, false) => "it hurts",
        (false, _) => "not shown to help",
    };
    format!(
        "{} is {better} {}{cost}: {helps} (p {}).",
        c.arm,
        range(c.interval, style),
        probability(c.p_corrected)
    )
}

fn samples(found: &Findings, arm: &str) -> String {
    counted(found.arm(arm).map_or(0, |figures| u64::from(figures.expected_calls[1])), "sample")
}

/// A factor of cost in words.
fn times(ratio: f64, cost_in: CostIn) -> String {
    let what = match cost_in {
        CostIn::Usd => "price",
        CostIn::Tokens => "tokens",
        CostIn::Calls => "calls",
    };
    match ratio {
        ratio if (0.95..1.05).contains(&ratio) => format!("the same {what}"),
        ratio if (0.1..10.0).contains(&ratio) => format!("{ratio:.1} times the {what}"),
        ratio if ratio < 0.1 => format!("{ratio:.2} times the {what}"),
        ratio => format!("{ratio:.0} times the {what}"),
    }
}

/// With so few questions that even the plainest result would show nothing, that is said.
fn too_few(found: &Findings) -> Option<String> {
    let n = found.comparisons.iter().map(|c| c.n).max()?;
    let tests = found.comparisons.len() as f64;
    // All questions right in one arm and wrong in the other: the smallest p there is.
    let least = tests * 2.0 * 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    (least >= SIGNIFICANT).then(|| {
        format!("With {} no test could show a difference, whatever it is: try more.", counted(n, "question"))
    })
}

/// An interval of a difference, in points.
fn range([low, high]: [f64; 2], style: &Style) -> String {
    format!("[{}, {}]", signed(low * 100.0, false, style), signed(high * 100.0, false, style))
}

fn signed(value: f64, plus: bool, style: &Style) -> String {
    let written = format!("{:.1}", value.abs());
    let sign = match value {
        _ if written == "0.0" => "",
        value if value < 0.0 => {
            if style.unicode {
                "\u{2212}"
            } else {
                "-"
            }
        }
        _ if plus => "+",
        _ => "",
    };
    format!("{sign}{written}")
}

fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "under 0.001".into(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// The arms, each with its figures and how it did against the single model.
fn figures_table(found: &Findings, style: &Style) -> String {
    let head =
        ["arm", "n", "right", "calls", "tokens", "usd", "against single", "p"].map(str::to_owned).to_vec();
    let row = |figures: &Figures| {
        let against = found.comparisons.iter().find(|c| c.arm == figures.arm && is_single(found, &c.against));
        let mean = |mean: Option<agon_trials::findings::Mean>, show: fn(f64) -> String| {
            mean.map_or("-".to_owned(), |mean| show(mean.mean))
        };
        vec![
            figures.arm.clone(),
            count(figures.n),
            share(figures),
            mean(figures.calls, |calls| format!("{calls:.1}")),
            mean(figures.tokens, |tokens| count(tokens.round() as u64)),
            mean(figures.usd, dollars),
            against.map_or("-".into(), |c| difference(c, style)),
            against.map_or("-".into(), |c| probability(c.p_corrected)),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.arms.iter().map(row)).collect();
    table("", &rows, style)
}

fn share(figures: &Figures) -> String {
    let [low, high] = figures.interval.map(|end| end * 100.0);
    figures.accuracy.map_or("-".into(), |share| format!("{:.1}% [{low:.1}, {high:.1}]", share * 100.0))
}

fn difference(c: &Comparison, style: &Style) -> String {
    format!("{} {}", signed(c.difference * 100.0, true, style), range(c.interval, style))
}

/// The comparisons with something else than the single model.
fn comparisons(others: &[&Comparison], style: &Style) -> String {
    let head = ["arm", "against", "points", "only it", "only the other", "p"].map(str::to_owned).to_vec();
    let row = |c: &&Comparison| {
        let (own, theirs) = (count(c.only_arm), count(c.only_against));
        vec![c.arm.clone(), c.against.clone(), difference(c, style), own, theirs, probability(c.p_corrected)]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(others.iter().map(row)).collect();
    table("The debates against the other ways to spend as much or less", &rows, style)
}

/// What debating made of the first vote.
fn debates(all: &[Debated], style: &Style) -> String {
    let head = ["arm", "put right", "put wrong", "stayed right", "stayed wrong"].map(str::to_owned).to_vec();
    let row = |d: &Debated| {
        let counts = [d.wrong_to_right, d.right_to_wrong, d.stayed_right, d.stayed_wrong].map(count);
        std::iter::once(d.arm.clone()).chain(counts).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(all.iter().map(row)).collect();
    table("What the debate made of the vote on its first answers", &rows, style)
}

/// What a reader must know to trust the figures.
fn notes(found: &Findings) -> Vec<String> {
    let mut notes = Vec::new();
    for figures in &found.arms {
        let arm = &figures.arm;
        if figures.failed > 0 {
            let them = if figures.failed == 1 { "counts" } else { "count" };
            notes.push(format!("{arm}: {} failed and {them} as wrong.", counted(figures.failed, "trial")));
        }
        if figures.unread > 0 {
            notes.push(format!(
                "{arm}: in {} no answer could be found; that counts as wrong.",
                counted(figures.unread, "verdict")
            ));
        }
        if figures.kind == Kind::SelfConsistency {
            notes.push(format!("{arm}: {} a question{}.", samples(found, arm), budget(found, figures)));
        }
    }
    notes.extend(found.notes());
    if !found.comparisons.is_empty() {
        let tests = counted(found.comparisons.len() as u64, "test");
        notes.push(format!("Intervals are 95%. p is McNemar's exact test, corrected for {tests} (Holm)."));
    }
    notes
}

/// What the number of samples has to do with the debates.
fn budget(found: &Findings, sampled: &Figures) -> &'static str {
    let expected = |figures: &Figures| figures.expected_calls.iter().sum::<u32>().div_ceil(2);
    let debates = found.arms.iter().filter(|figures| figures.kind == Kind::Protocol);
    match debates.map(expected).max() {
        _ if sampled.capped => ", fewer than the calls of the dearest debate, for a poll has no more seats",
        Some(dearest) if dearest == expected(sampled) => {
            ", as many calls as the dearest debate was expected to make"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests;
