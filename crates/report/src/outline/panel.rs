//! The verdict of `panel`.

use serde_json::Value;

use super::generic::scalar;
use super::{
    Bar, Block, Item, Section, Tone, Verdict, at, heading, list, shortened, spoken, string, whole, words,
};
use crate::figures::{counted, dollars};

/// The verdict in a sentence and what is critical; how the judges came together or did not; both sides with the same weight; what is
/// to be decided and done. Then what they agree on, and the figures.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let chars_max = (!full).then_some(super::POSITION_CHARS_MAX);
    let mut lead = vec![headline(document, verdict)];
    lead.extend(critical(verdict));
    lead.extend(scores(verdict));
    lead.extend(opinions(verdict, chars_max));
    lead.extend(attention(verdict));
    lead.extend(recommendations(verdict));
    let mut detail = Vec::new();
    detail.extend(dimensions(verdict));
    detail.extend(findings(verdict, "/convergent_findings", "What the judges agree on"));
    // Where there is consensus nothing goes to the user, but what stayed open is not lost.
    if full || list(verdict, "/user_attention_needed").is_empty() {
        detail.extend(findings(verdict, "/divergent_findings", "Where the judges differ"));
    }
    detail.extend(changes(verdict));
    detail.extend(metrics(verdict));
    Verdict { lead, detail }
}

fn headline(document: &Value, verdict: &Value) -> Section {
    let (kind, tone, word) = match words(verdict, "/status") {
        Some("GREEN") => ("answer", Tone::Good, "GREEN"),
        Some("YELLOW") => ("answer", Tone::Warn, "YELLOW"),
        Some("RED") => ("answer no-answer", Tone::Bad, "RED"),
        _ => ("answer no-answer", Tone::Warn, "No verdict"),
    };
    let blocks = vec![Block::Headline(tone, word.into()), Block::Line(sentence(document, verdict))];
    Section::new(kind, "Verdict", blocks)
}

/// What was decided, by how many, how surely.
fn sentence(document: &Value, verdict: &Value) -> String {
    let judges = list(verdict, "/judges").len();
    let (ours, theirs) = (list(verdict, "/majority_judges").len(), list(verdict, "/minority_judges").len());
    let told = match words(verdict, "/verdict_type") {
        Some("consensus") => {
            let (low, high) = (figure(verdict, "/score_range/0"), figure(verdict, "/score_range/1"));
            let between =
                if low == high { format!("all at {low}") } else { format!("all between {low} and {high}") };
            let score = figure(verdict, "/consensus_score");
            format!("Consensus of {judges} judges: {score} of 5, {between}.")
        }
        Some("majority") if theirs == 0 => {
            let score = figure(verdict, "/majority_score");
            format!(
                "All {judges} judges give {score} of 5 on average, but there is no consensus: something between them is open."
            )
        }
        Some("majority") => format!(
            "A majority of {ours} of {judges} judges gives {} of 5, the minority {}: {} apart.",
            figure(verdict, "/majority_score"),
            figure(verdict, "/minority_score"),
            figure(verdict, "/score_gap")
        ),
        Some("no_majority") => {
            let scores: Vec<String> = list(verdict, "/scores").iter().map(number).collect();
            format!(
                "No majority: of the scores {} no group is nearer together than another.",
                scores.join(", ")
            )
        }
        _ if words(document, "/termination") == Some("quorum_lost") => {
            return "Fewer than two judges were left.".to_owned();
        }
        _ => return "There is no verdict.".to_owned(),
    };
    let confidence = string(verdict, "/confidence");
    format!("{told} Confidence {confidence}. Weighted score {}.", figure(verdict, "/weighted_score"))
}

/// A number at a pointer as people read it.
fn figure(value: &Value, pointer: &str) -> String {
    number(at(value, pointer))
}

fn number(value: &Value) -> String {
    value.as_f64().map_or_else(String::new, |number| ((number * 100.0).round() / 100.0).to_string())
}

fn names(value: &Value, pointer: &str) -> String {
    let names: Vec<&str> = list(value, pointer).iter().filter_map(Value::as_str).collect();
    if names == ["all"] { "all judges".to_owned() } else { names.join(", ") }
}

/// The ledger: what all hold, what is open, what was withdrawn.
fn critical(verdict: &Value) -> Option<Section> {
    let mut findings: Vec<&Value> = list(verdict, "/critical_findings").iter().collect();
    let order = ["adopted", "disputed", "withdrawn"];
    findings.sort_by_key(|finding| order.iter().position(|state| words(finding, "/state") == Some(*state)));
    let judges = list(verdict, "/judges").len();
    let items: Vec<Item> = findings
        .into_iter()
        .map(|finding| {
            let state = match words(finding, "/state") {
                Some("adopted") => format!("Held by all {judges} judges"),
                Some("disputed") => format!("Open: held by {}, not by all", names(finding, "/held_by")),
                Some("withdrawn") => "Withdrawn: nobody holds it any more".to_owned(),
                other => heading(other.unwrap_or("unknown")),
            };
            let raised = names(finding, "/raised_by");
            let evidence =
                words(finding, "/evidence").map_or(String::new(), |text| format!(" Evidence: {text}"));
            Item {
                who: Some(format!("[{}]", string(finding, "/finding_id"))),
                text: string(finding, "/finding"),
                note: Some(format!("{state}; raised by {raised}.{evidence}")),
            }
        })
        .collect();
    (!items.is_empty()).then(|| Section::new("critical", "Critical findings", vec![Block::Items(items)]))
}

/// The scores by judge and round, and how far they are apart after each.
fn scores(verdict: &Value) -> Option<Section> {
    let judges = list(verdict, "/judges");
    let rounds = judges.iter().map(|judge| list(judge, "/scores").len()).max().unwrap_or_default();
    let mut head = vec!["Judge".to_owned(), "Stance".into()];
    head.extend((1..=rounds).map(|round| format!("Round {round}")));
    head.push("Weighted".into());
    let sided = judges.iter().any(|judge| !side(verdict, &string(judge, "/judge_id")).is_empty());
    head.extend(sided.then(|| "Side".to_owned()));
    let mut rows = vec![head];
    for judge in judges {
        let mut row = vec![string(judge, "/judge_id"), string(judge, "/stance")];
        let carried: Vec<u64> = list(judge, "/carried").iter().filter_map(Value::as_u64).collect();
        let shown = (1..).zip(list(judge, "/scores")).map(|(round, score)| {
            let note = if carried.contains(&round) { " (absent)" } else { "" };
            format!("{}{note}", number(score))
        });
        row.extend(shown);
        row.push(figure(judge, "/weighted"));
        row.extend(sided.then(|| side(verdict, &string(judge, "/judge_id")).to_owned()));
        rows.push(row);
    }
    let mut blocks = vec![Block::Table(rows)];
    blocks.extend(ranges(verdict));
    (!judges.is_empty()).then(|| Section::new("scores", "Scores", blocks))
}

fn side(verdict: &Value, judge: &str) -> &'static str {
    let is_in = |pointer: &str| list(verdict, pointer).iter().any(|id| id.as_str() == Some(judge));
    match words(verdict, "/verdict_type") {
        Some("consensus") => "consensus",
        _ if is_in("/majority_judges") => "majority",
        _ if is_in("/minority_judges") => "minority",
        _ => "",
    }
}

/// The range of the overall scores after each round, drawn, with what consensus needs.
fn ranges(verdict: &Value) -> Vec<Block> {
    let rounds = at(verdict, "/debate_metrics/rounds").as_object();
    let bars: Vec<Bar> = rounds
        .into_iter()
        .flatten()
        .filter_map(|(name, round)| {
            let (value, written) = (at(round, "/range").as_f64()?, figure(round, "/range"));
            Some(Bar { name: heading(name), value, written })
        })
        .collect();
    let Some((first, last)) = bars.first().zip(bars.last()) else { return Vec::new() };
    let trend = match last.value - first.value {
        _ if bars.len() < 2 => "",
        apart if apart < -1e-9 => ": it shrank",
        apart if apart > 1e-9 => ": it grew",
        _ => ": it did not shrink",
    };
    let needed = Some(figure(verdict, "/thresholds/consensus_range")).filter(|needed| !needed.is_empty());
    let needed = needed.map_or(String::new(), |needed| format!(" Consensus needs {needed} or less."));
    let line = format!("The range of the scores by round{trend}.{needed}");
    vec![Block::Line(line), Block::Bars(bars)]
}

/// What each side holds, in its judges' last words: the minority's section is of the same kind as the majority's.
fn opinions(verdict: &Value, chars_max: Option<usize>) -> Vec<Section> {
    let judges = list(verdict, "/judges");
    let on = |wanted: &str| -> Vec<&Value> {
        judges.iter().filter(|judge| side(verdict, &string(judge, "/judge_id")) == wanted).collect()
    };
    let section = |title: &str, judges: Vec<&Value>| {
        let items: Vec<Item> = judges.into_iter().map(|judge| opinion(judge, chars_max)).collect();
        (!items.is_empty()).then(|| Section::new("opinion", title, vec![Block::Items(items)]))
    };
    let all = match words(verdict, "/verdict_type") {
        Some("consensus") => section("What the judges say", on("consensus")),
        Some("majority") => section("The majority's opinion", on("majority")),
        _ => section("What the judges say", judges.iter().collect()),
    };
    all.into_iter().chain(section("The minority's opinion", on("minority"))).collect()
}

fn opinion(judge: &Value, chars_max: Option<usize>) -> Item {
    let (id, stance) = (string(judge, "/judge_id"), string(judge, "/stance"));
    let text = words(judge, "/position").unwrap_or_default();
    Item {
        who: Some(format!("{id} ({stance}, {})", figure(judge, "/score"))),
        text: shortened(text, chars_max),
        note: None,
    }
}

/// What only the reader can decide, with both views.
fn attention(verdict: &Value) -> Option<Section> {
    let groups: Vec<Block> = list(verdict, "/user_attention_needed").iter().map(open).collect();
    (!groups.is_empty()).then(|| Section::new("attention", "What needs your attention", groups))
}

fn open(entry: &Value) -> Block {
    let mut pairs = Vec::new();
    let mut pair = |name: &str, text: Option<&str>| {
        pairs.extend(text.map(|text| (name.to_owned(), text.to_owned())));
    };
    let (majority, minority) = (words(entry, "/majority_view"), words(entry, "/minority_view"));
    pair("Majority", majority);
    pair("Minority", minority);
    if majority.is_none() && minority.is_none() {
        for view in list(entry, "/views") {
            pair(&string(view, "/judge_id"), words(view, "/view"));
        }
    }
    pair("At stake", words(entry, "/stakes"));
    pair("Suggested", words(entry, "/recommendation"));
    Block::Group { title: string(entry, "/issue"), badges: Vec::new(), blocks: vec![Block::Pairs(pairs)] }
}

fn recommendations(verdict: &Value) -> Option<Section> {
    let items: Vec<Item> = list(verdict, "/recommendations")
        .iter()
        .map(|advice| {
            let level =
                words(advice, "/consensus_level").map_or(String::new(), |level| format!(" ({level})"));
            let who = Some(format!("{}{level}", string(advice, "/priority")));
            let note = words(advice, "/rationale").map(str::to_owned);
            Item { who, text: string(advice, "/action"), note }
        })
        .collect();
    (!items.is_empty()).then(|| Section::new("advice", "Recommendations", vec![Block::Items(items)]))
}

/// The dimensions by judge, with average and range.
fn dimensions(verdict: &Value) -> Option<Section> {
    let judges = list(verdict, "/judges");
    // Many judges fit only by their numbers.
    let short = judges.len() > 3;
    let named = judges.iter().map(|judge| {
        let id = string(judge, "/judge_id");
        if short { id.trim_start_matches("judge-").to_owned() } else { id }
    });
    let mut rows =
        vec![["Dimension".to_owned(), "Weight".into()].into_iter().chain(named).collect::<Vec<_>>()];
    if let Some(head) = rows.first_mut() {
        head.extend(["Average".to_owned(), "Range".into()]);
    }
    for dimension in list(verdict, "/rubric") {
        let key = string(dimension, "/name");
        let mut row = vec![spoken(&key), scalar(at(dimension, "/weight"))];
        row.extend(judges.iter().map(|judge| {
            number(judge.get("dimension_scores").map_or(&Value::Null, |s| at(s, &format!("/{key}"))))
        }));
        row.extend(
            ["average", "range"].map(|name| figure(verdict, &format!("/dimension_consensus/{key}/{name}"))),
        );
        rows.push(row);
    }
    let shown = rows.len() > 1 && !judges.is_empty();
    shown.then(|| Section::new("dimensions", "By dimension", vec![Block::Table(rows)]))
}

fn findings(verdict: &Value, pointer: &str, title: &str) -> Option<Section> {
    let items: Vec<Item> = list(verdict, pointer)
        .iter()
        .map(|finding| {
            let action = at(finding, "/action_required").as_bool() == Some(true);
            let action = if action { ", action required" } else { "" };
            let (priority, who) = (string(finding, "/priority"), names(finding, "/source_judges"));
            let note = Some(format!("{}{action}; {who}", heading(&priority.to_lowercase())));
            Item { who: None, text: named_dimension(verdict, &string(finding, "/finding")), note }
        })
        .collect();
    (!items.is_empty()).then(|| Section::new("findings", title, vec![Block::Items(items)]))
}

/// A finding that begins with a dimension's key begins with its name.
fn named_dimension(verdict: &Value, finding: &str) -> String {
    let is_key = |key: &str| list(verdict, "/rubric").iter().any(|d| words(d, "/name") == Some(key));
    match finding.split_once(':') {
        Some((key, rest)) if is_key(key) => format!("{}:{rest}", heading(key)),
        _ => finding.to_owned(),
    }
}

/// Who changed its score, by how much and why.
fn changes(verdict: &Value) -> Option<Section> {
    let rounds = at(verdict, "/debate_metrics/rounds").as_object().into_iter().flatten();
    let mut items = Vec::new();
    for (name, round) in rounds {
        for change in list(round, "/score_changes") {
            let delta = at(change, "/delta").as_f64().unwrap_or_default();
            let told = format!("{delta:+} in {}: {}", spoken(name), string(change, "/reason"));
            items.push(Item { who: words(change, "/judge").map(str::to_owned), text: told, note: None });
        }
    }
    (!items.is_empty()).then(|| Section::new("changed", "Whose score changed", vec![Block::Items(items)]))
}

fn metrics(verdict: &Value) -> Option<Section> {
    let metrics = verdict.get("debate_metrics").filter(|metrics| metrics.is_object())?;
    let moved = |key: &str| whole(metrics, &format!("/position_evolution/{key}"));
    let usd = at(metrics, "/cost/estimated_usd").as_f64().map_or("price unknown".to_owned(), dollars);
    let calls = counted(whole(metrics, "/cost/judge_calls"), "judge call");
    let evolution = format!(
        "{} formed, {} resolved, {} remaining",
        counted(moved("agreements_formed"), "agreement"),
        counted(moved("disputes_resolved"), "dispute"),
        moved("disputes_remaining")
    );
    let blocks = vec![Block::Line(format!("{evolution}; {calls}, {usd}."))];
    Some(Section::new("metrics", "The debate in figures", blocks))
}
