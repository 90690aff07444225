//! Every measure, for the long forms.

use serde_json::Value;

use super::ways::{Ways, after, who};
use crate::figures::score;
use crate::outline::facts::{heading_id, label_for};
use crate::outline::wording::capital;
use crate::outline::{Block, Fold, Section, at, generic, heading, list, string, whole, words};

/// What has a part of its own here or elsewhere in the report; anything else is shown as it comes.
const TOLD: [&str; 11] = [
    "grouping",
    "first_round",
    "flips",
    "flips_by_seat",
    "agreement",
    "trajectory",
    "independence",
    "dissent",
    "counterfactual",
    "calibration",
    "cost",
];

/// The measures that the paragraph sums up.
pub(crate) fn measures(document: &Value) -> Option<Section> {
    let evidence = at(document, "/evidence").as_object()?;
    let parts = [
        ("Before the debate", first_round(document)),
        ("How sure they were", confidence(document)),
        ("Changes by seat", by_seat(document)),
        ("Agreement by round", agreement(document)),
        ("The verdict, had it stopped there", stopped(document)),
        ("Independence", independence(document)),
        ("Calibration", calibration(document)),
    ];
    let group = |(title, blocks): (&str, Vec<Block>)| {
        let some = !blocks.is_empty();
        some.then(|| Block::Group { title: title.to_owned(), badges: Vec::new(), blocks })
    };
    let mut blocks: Vec<Block> = parts.into_iter().filter_map(group).collect();
    let mut rest = evidence.clone();
    rest.retain(|key, _| !TOLD.contains(&key.as_str()));
    blocks.extend(generic::blocks(&Value::Object(rest)));
    let mut section = Section::new("evidence", "The evidence in figures", blocks);
    section.fold = Fold::Closed;
    Some(section)
}

fn rows(head: &[&str]) -> Vec<Vec<String>> {
    vec![head.iter().map(|cell| (*cell).to_owned()).collect()]
}

/// A table that has more than its head.
fn table(rows: Vec<Vec<String>>) -> Option<Block> {
    (rows.len() > 1).then_some(Block::Table(rows))
}

fn figure(value: &Value, pointer: &str) -> String {
    at(value, pointer).as_f64().map_or_else(|| "-".to_owned(), score)
}

fn first_round(document: &Value) -> Vec<Block> {
    let first = at(document, "/evidence/first_round");
    let mut shown = rows(&["Position", "Held by", "Share"]);
    for position in list(first, "/positions") {
        let seats = list(position, "/seats").iter().filter_map(Value::as_str);
        let seats: Vec<String> =
            seats.map(|seat| label_for(document, seat).unwrap_or_else(|| heading_id(seat))).collect();
        let share = at(position, "/share")
            .as_f64()
            .map_or_else(|| "-".into(), |share| format!("{:.0}%", 100.0 * share));
        shown.push(vec![string(position, "/position"), seats.join(", "), share]);
    }
    let mut blocks: Vec<Block> = table(shown).into_iter().collect();
    let mut pairs = Vec::new();
    for (name, pointer) in [("A plain vote says", "/vote"), ("The verdict", "/decided")] {
        pairs.extend(words(first, pointer).map(|text| (name.to_owned(), text.to_owned())));
    }
    let changed = at(first, "/changed_by_debate").as_bool().map(|changed| if changed { "yes" } else { "no" });
    pairs.extend(changed.map(|changed| ("Changed by the debate".to_owned(), changed.to_owned())));
    pairs.extend(words(document, "/evidence/grouping").map(|grouping| {
        let how = match grouping {
            "discrete" => "they are values or scores",
            "declared" => "a change is what a seat declares",
            "similarity" => "by the likeness of their words and by declared conflicts",
            other => other,
        };
        ("How positions are told apart".to_owned(), how.to_owned())
    }));
    blocks.extend((!pairs.is_empty()).then_some(Block::Pairs(pairs)));
    blocks
}

fn confidence(document: &Value) -> Vec<Block> {
    let ways = Ways::read(document);
    let mut head = vec!["Seat".to_owned()];
    head.extend(ways.rounds.iter().map(|round| capital(&after(*round))));
    let (mut shown, mut some) = (vec![head], false);
    for seat in list(document, "/evidence/trajectory") {
        let held = |round: &u64| {
            let held =
                list(seat, "/positions").iter().find(|held| at(held, "/round").as_u64() == Some(*round));
            held.map_or_else(|| "-".to_owned(), |held| figure(held, "/confidence"))
        };
        let cells: Vec<String> = ways.rounds.iter().map(held).collect();
        some |= cells.iter().any(|cell| cell != "-");
        shown.push([who(document, seat)].into_iter().chain(cells).collect());
    }
    table(shown).filter(|_| some).into_iter().collect()
}

fn by_seat(document: &Value) -> Vec<Block> {
    let mut shown = rows(&["Seat", "Changes", "After a cited point", "Toward the majority"]);
    for seat in list(document, "/evidence/flips_by_seat") {
        let count = |pointer: &str| whole(seat, pointer).to_string();
        shown.push(vec![
            who(document, seat),
            count("/flips"),
            count("/evidenced"),
            count("/toward_majority"),
        ]);
    }
    table(shown).into_iter().collect()
}

fn agreement(document: &Value) -> Vec<Block> {
    let mut shown = rows(&["After", "Positions", "Pairs that agree", "Spread, bits", "Gain, bits"]);
    for row in list(document, "/evidence/agreement") {
        let mut cells = vec![capital(&after(whole(row, "/round"))), whole(row, "/positions").to_string()];
        cells.extend(["/pairwise", "/entropy", "/information_gain"].map(|pointer| figure(row, pointer)));
        shown.push(cells);
    }
    table(shown).into_iter().collect()
}

fn stopped(document: &Value) -> Vec<Block> {
    let mut shown = rows(&["After", "Verdict", "Changed"]);
    for row in list(document, "/evidence/counterfactual/rounds") {
        let changed = if at(row, "/changed").as_bool() == Some(true) { "yes" } else { "no" };
        let verdict = words(row, "/verdict").unwrap_or("none").to_owned();
        shown.push(vec![capital(&after(whole(row, "/round"))), verdict, changed.to_owned()]);
    }
    table(shown).into_iter().collect()
}

fn independence(document: &Value) -> Vec<Block> {
    let told = at(document, "/evidence/independence");
    let mut pairs = Vec::new();
    for (name, pointer) in [("Mean error correlation", "/rho"), ("Independent voices", "/n_eff")] {
        pairs.extend(at(told, pointer).as_f64().map(|figure| (name.to_owned(), score(figure))));
    }
    let debates = at(told, "/debates").as_u64();
    pairs.extend(debates.map(|debates| ("Debates measured".to_owned(), debates.to_string())));
    for (pointer, key) in [("/shared_models", "/model"), ("/families", "/family")] {
        for group in list(told, pointer) {
            let seats: Vec<&str> = list(group, "/seats").iter().filter_map(Value::as_str).collect();
            let name = heading(key.trim_start_matches('/'));
            pairs.push((format!("{name} {}", string(group, key)), seats.join(", ")));
        }
    }
    let mut shown = rows(&["Agents", "Error correlation", "Debates"]);
    for pair in list(told, "/pairs") {
        let agents: Vec<&str> = list(pair, "/agents").iter().filter_map(Value::as_str).collect();
        shown.push(vec![agents.join(" and "), figure(pair, "/rho"), whole(pair, "/debates").to_string()]);
    }
    let mut blocks: Vec<Block> = (!pairs.is_empty()).then_some(Block::Pairs(pairs)).into_iter().collect();
    blocks.extend(table(shown));
    blocks.extend(words(told, "/note").map(|note| Block::Line(note.to_owned())));
    blocks
}

fn calibration(document: &Value) -> Vec<Block> {
    let mut shown =
        rows(&["Seat", "Agent", "Forecasts", "Brier", "Calibration error", "Sure before", "Sure after"]);
    for seat in list(document, "/evidence/calibration/seats") {
        let mut cells =
            vec![who(document, seat), string(seat, "/agent"), whole(seat, "/forecasts").to_string()];
        cells.extend(["/brier", "/ece", "/before", "/after"].map(|pointer| figure(seat, pointer)));
        shown.push(cells);
    }
    table(shown).into_iter().collect()
}
