//! The audit of judges.

use agon_measure::audit::JudgeAudit;
use agon_measure::audit::judges::{JudgeFigures, RulingFigures, RulingSubset};

use super::{
    bracket, end, end_points, four, heatmap, known, paragraph, percent, points, range, row, section,
    small_print, together, voices,
};
use crate::TerminalStyle;
use agon_core::wording::{capitalized, count, counted, number_word};

/// The audit of judges, for a terminal.
pub fn judges(audit: &JudgeAudit, style: &TerminalStyle) -> String {
    let all = &audit.all;
    let mut shown = paragraph(&meaning(all), style);
    for note in &audit.notes {
        shown.push_str(&paragraph(note, style));
    }
    let items = format!("{} items in both orders", count(all.items as u64));
    let drawn = format!("intervals from {}", counted(u64::from(audit.bootstrap.resamples), "resample"));
    shown.push_str(&small_print(&[items, drawn, format!("seed {}", audit.bootstrap.seed)], style));
    shown.push_str(&section("Does the order decide?", &order(all), style));
    let words = ["consistent: the same ruling in both orders", "bias: points more for what is shown first"];
    shown.push_str(&small_print(&words.map(str::to_owned), style));
    if audit.gold.is_some() {
        shown.push_str(&section("Are they right?", &right(all), style));
    }
    if all.judges.len() > 1 {
        shown.push_str(&section("Together", &between(all), style));
        shown.push_str(&together(&all.correlation, &names(all), style));
    }
    if audit.subsets.len() > 1 {
        shown.push_str(&section(
            "The same in both orders, by subset",
            &by_subset(audit, |judge| judge.order_consistency),
            style,
        ));
        if audit.gold.is_some() {
            let both = |judge: &JudgeFigures| judge.accuracy.map(|accuracy| accuracy.both);
            shown.push_str(&section("Right in both orders, by subset", &by_subset(audit, both), style));
        }
    }
    shown
}

/// The error correlations as a picture or, without right answers, how often each pair gives the same ruling.
pub fn judges_svg(audit: &JudgeAudit) -> String {
    let names = names(&audit.all);
    if audit.all.correlation.is_empty() {
        return heatmap(&audit.all.agreement, &names, "Share of rulings that are the same");
    }
    heatmap(&audit.all.correlation, &names, "Error correlation of judges")
}

fn names(rulings: &RulingFigures) -> Vec<String> {
    rulings.judges.iter().map(|judge| judge.judge.clone()).collect()
}

fn meaning(all: &RulingFigures) -> String {
    let mut judges: Vec<(&JudgeFigures, f64)> =
        all.judges.iter().filter_map(|judge| Some((judge, judge.order_consistency?))).collect();
    judges.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let kept = |(judge, share): &(&JudgeFigures, f64)| {
        format!("{}{}", percent(*share), bracket(judge.intervals.get("order_consistency")))
    };
    let order = match (judges.first(), judges.last()) {
        (Some(most), Some(least)) if judges.len() > 1 => format!(
            "Shown the same two answers in the other order, {} keeps its ruling most often, {} of the time, and {} least, {}.",
            most.0.judge,
            kept(most),
            least.0.judge,
            kept(least)
        ),
        (Some(only), _) => format!(
            "Shown the same two answers in the other order, {} keeps its ruling {} of the time.",
            only.0.judge,
            kept(only)
        ),
        _ => String::new(),
    };
    let voices = voices(all.judges.len(), "judges", all.n_eff, all.mean_rho);
    let biased = judges
        .iter()
        .filter(|(judge, _)| {
            judge.intervals.get("position_bias").is_some_and(|(low, high)| *low > 0.0 || *high < 0.0)
        })
        .count();
    let bias = (biased > 0).then(|| {
        let (lean, all) = (capitalized(&number_word(biased)), number_word(judges.len()));
        format!("{lean} of {all} prefer the first or the second place, whichever answer is there.")
    });
    [Some(order), voices, bias].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A column that would be 0 for every judge is left out.
fn order(all: &RulingFigures) -> Vec<Vec<String>> {
    let (neither, missing) =
        (all.judges.iter().any(|judge| judge.neither > 0), all.judges.iter().any(|judge| judge.missing > 0));
    let counts = |mut cells: Vec<String>, for_neither: &str, for_none: &str| {
        cells.extend(neither.then(|| for_neither.to_owned()));
        cells.extend(missing.then(|| for_none.to_owned()));
        cells
    };
    let head = row(["judge", "consistent", "95% interval", "bias", "95% interval"]);
    let of_judge = |judge: &JudgeFigures| {
        let interval = |name: &str| judge.intervals.get(name);
        let cells = row([
            &judge.judge,
            &known(judge.order_consistency, percent),
            &range(interval("order_consistency"), end),
            &known(judge.position_bias, points),
            &range(interval("position_bias"), end_points),
        ]);
        counts(cells, &judge.neither.to_string(), &judge.missing.to_string())
    };
    std::iter::once(counts(head, "neither", "no ruling")).chain(all.judges.iter().map(of_judge)).collect()
}

fn right(all: &RulingFigures) -> Vec<Vec<String>> {
    let head = row(["judge", "first order", "second order", "in both", "95% interval"]);
    let of_judge = |judge: &JudgeFigures| {
        let accuracy = judge.accuracy.as_ref();
        row([
            &judge.judge,
            &known(accuracy.map(|accuracy| accuracy.first_order), percent),
            &known(accuracy.map(|accuracy| accuracy.second_order), percent),
            &known(accuracy.map(|accuracy| accuracy.both), percent),
            &range(judge.intervals.get("accuracy.both"), end),
        ])
    };
    std::iter::once(head).chain(all.judges.iter().map(of_judge)).collect()
}

fn between(all: &RulingFigures) -> Vec<Vec<String>> {
    let number = |what: &str, name: &str, value: Option<f64>| {
        row([what, &known(value, four), &range(all.intervals.get(name), four)])
    };
    let mut rows = vec![
        row(["figure", "value", "95% interval"]),
        number("agreement beyond chance (Krippendorff's alpha)", "alpha", all.alpha),
    ];
    if !all.correlation.is_empty() {
        rows.push(number("mean error correlation", "mean_rho", all.mean_rho));
        rows.push(number("independent judges", "n_eff", all.n_eff));
    }
    rows
}

/// A row per judge and a column per subset.
fn by_subset(audit: &JudgeAudit, figure: impl Fn(&JudgeFigures) -> Option<f64>) -> Vec<Vec<String>> {
    // A long name may be wrapped after a slash.
    let titles = audit
        .subsets
        .iter()
        .map(|subset| format!("{} ({})", subset.subset.replace('/', "/ "), subset.rulings.items));
    let head: Vec<String> = std::iter::once("judge".to_owned()).chain(titles).collect();
    let cell = |subset: &RulingSubset, place: usize| {
        known(subset.rulings.judges.get(place).and_then(&figure), |share| format!("{:.0}%", share * 100.0))
    };
    let of_judge = |(place, judge): (usize, &JudgeFigures)| {
        let cells = audit.subsets.iter().map(|subset| cell(subset, place));
        std::iter::once(judge.judge.clone()).chain(cells).collect()
    };
    std::iter::once(head).chain(audit.all.judges.iter().enumerate().map(of_judge)).collect()
}

#[cfg(test)]
mod tests;
