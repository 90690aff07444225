//! The verdict of `deep`.

use serde_json::Value;

use super::facts::{holder, named};
use super::{Block, Chart, Item, Mark, Section, Verdict, at, list, shortened, spoken, string, whole, words};
use crate::figures::score;

/// The answer and why, then the rounds.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let mut lead = vec![answer(document, verdict, full)];
    lead.extend(words(verdict, "/why").map(|why| Section::new("why", "Why", vec![Block::Prose(why.into())])));
    lead.extend(contested(verdict));
    let mut detail = Vec::new();
    detail.extend(rounds(document, verdict, full));
    // Where the changes were measured, the report has them with their reasons.
    if full && at(document, "/evidence/flips").is_null() {
        detail.extend(who_changed(document, verdict));
    }
    detail.extend(ranking(document, verdict));
    Verdict { lead, detail }
}

fn answer(document: &Value, verdict: &Value, full: bool) -> Section {
    if let Some(answer) = words(verdict, "/answer") {
        return Section::new("answer", "Answer", vec![Block::Prose(answer.into())]);
    }
    let mut blocks = vec![Block::Line("This is where the debaters stood:".into())];
    let most = (!full).then_some(super::POSITION_CHARS_MAX);
    let items = standing(document, verdict, most);
    if items.is_empty() {
        blocks = vec![Block::Line("There is no answer.".into())];
    } else {
        blocks.push(Block::Items(items));
    }
    Section::new("answer no-answer", "No answer", blocks)
}

/// Where the debaters stood: the verdict's own list, or the last that is known of them.
fn standing(document: &Value, verdict: &Value, chars_max: Option<usize>) -> Vec<Item> {
    let sources = [
        list(verdict, "/positions"),
        list(verdict, "/synthesis_input/final_stances"),
        list(document, "/evidence/dissent"),
    ];
    let held = sources.into_iter().find(|source| !source.is_empty()).unwrap_or_default();
    let position = |held: &Value| {
        let text = held
            .as_str()
            .or_else(|| words(held, "/position"))
            .or_else(|| words(held, "/revised_position"))?;
        Some(Item { who: holder(document, held), text: shortened(text, chars_max), note: None })
    };
    held.iter().filter_map(position).collect()
}

fn contested(verdict: &Value) -> Option<Section> {
    let items: Vec<Item> =
        list(verdict, "/contested").iter().filter_map(Value::as_str).map(Item::text).collect();
    (!items.is_empty()).then(|| Section::new("contested", "What was contested", vec![Block::Items(items)]))
}

fn rounds(document: &Value, verdict: &Value, full: bool) -> Option<Section> {
    let rounds = list(verdict, "/rounds");
    let debaters = debaters(rounds);
    let mut head = vec!["Round".to_owned(), "Agreement".into(), "New points".into()];
    head.extend(debaters.iter().map(|debater| named(document, debater)));
    let mut rows = vec![head];
    for round in rounds {
        let measured = |pointer: &str| at(round, pointer).as_f64().map_or("not assessed".into(), score);
        let mut row = vec![
            whole(round, "/round").to_string(),
            measured("/agreement_score"),
            measured("/new_points_ratio"),
        ];
        row.extend(debaters.iter().map(|debater| stance_of(round, debater).map(stance).unwrap_or_default()));
        rows.push(row);
    }
    let named = |round: &Value| format!("Round {}", whole(round, "/round"));
    let marks = rounds.iter().map(|round| Mark {
        round: named(round),
        tick: named(round),
        first: at(round, "/agreement_score").as_f64(),
        second: at(round, "/new_points_ratio").as_f64(),
    });
    let mut blocks = Vec::new();
    if full {
        let names = ["agreement", "new points"];
        blocks.push(Block::Chart(Chart { names, threshold: None, most: [1.0, 1.0], marks: marks.collect() }));
    }
    blocks.push(Block::Table(rows));
    (!rounds.is_empty()).then(|| Section::new("rounds", "Round by round", blocks))
}

/// The labels of all who spoke in any round, in label order.
fn debaters(rounds: &[Value]) -> Vec<&str> {
    let stances = rounds.iter().flat_map(|round| list(round, "/stances"));
    let mut debaters: Vec<&str> = stances.filter_map(|stance| words(stance, "/debater")).collect();
    debaters.sort_unstable();
    debaters.dedup();
    debaters
}

fn stance_of<'a>(round: &'a Value, debater: &str) -> Option<&'a Value> {
    list(round, "/stances").iter().find(|stance| words(stance, "/debater") == Some(debater))
}

fn carried(stance: &Value) -> bool {
    at(stance, "/carried").as_bool() == Some(true)
}

/// A stance in a cell: what, how sure, and what changed.
fn stance(stance: &Value) -> String {
    if carried(stance) {
        return "absent, carried".into();
    }
    let mut said = vec![words(stance, "/stance").map_or("no stance".into(), spoken)];
    if let Some(confidence) = at(stance, "/confidence").as_f64() {
        said = vec![format!("{} {}", said.concat(), score(confidence))];
    }
    let revision = words(stance, "/revision");
    said.extend(revision.filter(|revision| *revision != "no_change").map(spoken));
    // PROTOCOLS: `concede` with `no_change` is flagged, not rejected.
    let odd = words(stance, "/stance") == Some("concede") && revision == Some("no_change");
    said.extend(odd.then(|| "yet no change".to_owned()));
    said.join(", ")
}

fn who_changed(document: &Value, verdict: &Value) -> Option<Section> {
    let rounds = list(verdict, "/rounds");
    let items: Vec<Item> =
        debaters(rounds).into_iter().map(|debater| changes(document, rounds, debater)).collect();
    (!items.is_empty()).then(|| Section::new("changed", "Who changed", vec![Block::Items(items)]))
}

fn changes(document: &Value, rounds: &[Value], debater: &str) -> Item {
    let told = |round: &Value| {
        let stance = stance_of(round, debater)?;
        let revision = words(stance, "/revision").filter(|revision| *revision != "no_change")?;
        Some(format!("{} in round {}", spoken(revision), whole(round, "/round")))
    };
    let changes: Vec<String> = rounds.iter().filter_map(told).collect();
    let sure: Vec<String> = rounds
        .iter()
        .filter_map(|round| at(stance_of(round, debater)?, "/confidence").as_f64())
        .map(score)
        .collect();
    let sure = match (sure.first(), sure.last()) {
        (Some(first), Some(last)) if first != last => format!("; confidence {first}, then {last}"),
        (Some(first), _) => format!("; confidence {first}"),
        _ => String::new(),
    };
    let heard = rounds.iter().filter_map(|round| stance_of(round, debater)).any(|stance| !carried(stance));
    let text = match (changes.is_empty(), heard) {
        (false, _) => changes.join(", "),
        (true, true) => "kept its position".to_owned(),
        (true, false) => "was absent; its first position was carried".to_owned(),
    };
    Item { who: Some(named(document, debater)), text: format!("{text}{sure}"), note: None }
}

fn ranking(document: &Value, verdict: &Value) -> Option<Section> {
    let ranked = list(verdict, "/ranking");
    let mut rows = vec![["Rank", "Debater", "Score", "z", ""].map(str::to_owned).to_vec()];
    for (place, rank) in (1..).zip(ranked) {
        let figure = |pointer: &str| at(rank, pointer).as_f64().map_or(String::new(), score);
        let out = at(rank, "/disqualified").as_bool() == Some(true);
        let debater = named(document, &string(rank, "/debater"));
        let note = if out { "disqualified" } else { "" };
        rows.push(vec![place.to_string(), debater, figure("/score"), figure("/z"), note.to_owned()]);
    }
    (!ranked.is_empty()).then(|| Section::new("ranking", "Ranking", vec![Block::Table(rows)]))
}
