//! All figures, for the full report.

use agon_core::wording::{capitalized, score};
use agon_core::{PositionGrouping, ReportBlock, ReportSection, SectionKind};
use agon_measure::evidence::SeatCalibration;

use crate::report_source::ReportSource;

/// The figures behind the paragraph.
pub(crate) fn measures(source: &ReportSource<'_>) -> Option<ReportSection> {
    let parts = [
        ("The first positions", first_round(source)),
        ("Changes of position by seat", changes_by_seat(source)),
        ("Agreement by round", agreement(source)),
        ("What the positions give after each round, by the protocol's own rule", earlier_verdicts(source)),
        ("Independence", independence(source)),
        ("Calibration", calibration(source)),
        ("Judge", judge(source)),
    ];
    let group = |(title, blocks): (&str, Vec<ReportBlock>)| {
        let group = |blocks| ReportBlock::Group { title: title.to_owned(), badges: Vec::new(), blocks };
        (!blocks.is_empty()).then(|| group(blocks))
    };
    let blocks = parts.into_iter().filter_map(group).collect();
    Some(ReportSection::new(SectionKind::Part, "The evidence in figures", blocks).folded())
}

/// A table of these rows, unless there are none.
fn table(head: &[&str], rows: Vec<Vec<String>>) -> Vec<ReportBlock> {
    if rows.is_empty() {
        return Vec::new();
    }
    let head = head.iter().map(|cell| (*cell).to_owned()).collect();
    vec![ReportBlock::Table([vec![head], rows].concat())]
}

/// For a figure that does not apply.
const NONE: &str = "-";
/// For a figure that depends on which positions are the same, where no verified declaration says so.
const UNKNOWN: &str = "unknown";

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), score)
}

fn known<T>(value: Option<T>, written: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), written)
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn first_round(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let Some(first) = &source.evidence.first_round else { return Vec::new() };
    let rows = first.positions.iter().map(|position| {
        let share = known(position.share, |share| format!("{:.0}%", 100.0 * share));
        vec![
            source.view.positions.in_full(&position.position),
            source.names(&position.seats).join(", "),
            share,
        ]
    });
    let mut blocks = table(&["Position", "Held by", "Share"], rows.collect());
    let mut pairs = Vec::new();
    let ruling = first.ruling.clone().filter(|_| first.ruling != first.vote);
    for (name, position) in [
        ("A plain vote says", &first.vote),
        ("The protocol's own rule says", &ruling),
        ("The verdict states", &first.decided),
    ] {
        pairs.extend(
            position.as_ref().map(|position| (name.to_owned(), source.view.positions.in_full(position))),
        );
    }
    pairs.push(("The debate changed the verdict".to_owned(), known(first.changed_by_debate, yes_no)));
    pairs.extend(source.evidence.grouping.map(|grouping| {
        let how = match grouping {
            PositionGrouping::Discrete if source.is_scored() => {
                "scores are the same if they are equal, and agree if they are near"
            }
            PositionGrouping::Discrete => "positions are values, and equal ones are the same",
            PositionGrouping::Declared => "by declarations with quotes that verify",
            PositionGrouping::Exact => "by equal texts",
            PositionGrouping::Unknown => "unknown: no declaration verifies",
        };
        ("How it is known which positions are the same".to_owned(), how.to_owned())
    }));
    blocks.push(ReportBlock::Pairs(pairs));
    blocks
}

fn changes_by_seat(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let rows = source.evidence.flips_by_seat.iter().map(|seat| {
        let counts = [Some(seat.flips), Some(seat.evidenced), seat.toward_majority];
        let counts = counts.map(|count| known(count, |count| count.to_string()));
        [source.name(&seat.seat)].into_iter().chain(counts).collect()
    });
    let toward = if source.is_scored() { "Toward the other scores" } else { "Toward the majority" };
    table(&["Seat", "Changes", "Naming a point or evidence", toward], rows.collect())
}

fn agreement(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let rows = source.evidence.agreement.iter().map(|row| {
        let figures = match row.positions {
            Some(positions) => {
                let figures = [row.pairwise, row.entropy, row.information_gain].map(figure);
                [vec![positions.to_string()], figures.to_vec()].concat()
            }
            None => vec![UNKNOWN.to_owned(); 4],
        };
        [vec![capitalized(&source.round_name(row.round))], figures].concat()
    });
    table(&["After", "Positions", "Pairs that agree", "Spread, bits", "Gain, bits"], rows.collect())
}

fn earlier_verdicts(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let rows = source.evidence.counterfactual.rounds.iter().zip(&source.view.positions.rounds);
    let rows = rows.enumerate().map(|(place, (row, positions))| {
        let verdict = match (&row.verdict, positions.is_sorted()) {
            (_, false) => UNKNOWN.to_owned(),
            (Some(verdict), true) => source.view.positions.in_full(verdict),
            (None, true) => "none".to_owned(),
        };
        let changed = if place == 0 { NONE.to_owned() } else { known(row.changed, yes_no) };
        vec![capitalized(&source.round_name(row.round)), verdict, changed]
    });
    table(&["After", "Verdict", "Changed"], rows.collect())
}

fn independence(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let independence = &source.evidence.independence;
    let mut pairs = Vec::new();
    for (name, value) in
        [("Mean error correlation", independence.rho), ("Independent voices", independence.n_eff)]
    {
        pairs.extend(value.map(|value| (name.to_owned(), score(value))));
    }
    pairs.push(("Resolved debates of these models".to_owned(), independence.debates.to_string()));
    let names = |seats: &[String]| source.names(seats).join(", ");
    let models = independence.shared_models.iter();
    pairs.extend(models.map(|shared| (format!("Model {}", shared.model), names(&shared.seats))));
    let families = independence.families.iter();
    pairs.extend(families.map(|shared| (format!("Provider {}", shared.family), names(&shared.seats))));
    let rows = independence.pairs.iter();
    let rows = rows.map(|pair| vec![pair.agents.join(" and "), score(pair.rho), pair.debates.to_string()]);
    let mut blocks = vec![ReportBlock::Pairs(pairs)];
    blocks.extend(table(&["Agents", "Error correlation", "Debates"], rows.collect()));
    blocks.push(ReportBlock::Line(capitalized(&independence.note)));
    blocks
}

fn calibration(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let is_known = |seat: &&SeatCalibration| {
        let figures = [seat.brier, seat.ece, seat.before, seat.after];
        seat.forecasts > 0 || figures.iter().any(Option::is_some)
    };
    let rows = source.evidence.calibration.seats.iter().filter(is_known).map(|seat| {
        let figures = [seat.brier, seat.ece, seat.before, seat.after].map(figure);
        let mut row = vec![source.name(&seat.seat), seat.agent.clone(), seat.forecasts.to_string()];
        row.extend(figures);
        row
    });
    let head = ["Seat", "Model", "Forecasts", "Brier", "Calibration error", "Confidence before", "After"];
    table(&head, rows.collect())
}

fn judge(source: &ReportSource<'_>) -> Vec<ReportBlock> {
    let Some(judge) = &source.evidence.judge else { return Vec::new() };
    let mut pairs = vec![("Judges".to_owned(), judge.judges.to_string())];
    if let Some(orders) = &judge.order_consistency {
        let same = format!("{} of {}", orders.same_top, orders.asked);
        pairs.push(("The same first in both orders".to_owned(), same));
    }
    let figures = [
        (
            "Kendall's tau of the two orders",
            judge.order_consistency.as_ref().and_then(|orders| orders.kendall_tau),
        ),
        ("Krippendorff's alpha of the scores", judge.alpha),
        ("Kendall's W of the rankings", judge.w),
    ];
    pairs.extend(figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), score(value?)))));
    vec![ReportBlock::Pairs(pairs)]
}
