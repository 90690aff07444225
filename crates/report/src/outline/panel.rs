//! The verdict of `panel`.

use serde_json::Value;

use super::generic::scalar;
use super::{
    Bar, Block, Item, Section, Tone, Verdict, at, heading, list, shortened, spoken, string, whole, words,
};
use crate::figures::{counted, dollars};

/// What all judges hold to be critical leads; then the verdict in a sentence and what else is critical; how the judges came together
/// or did not; both sides with the same weight; what is to be decided and done. Then what they agree on, and the figures.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let chars_max = (!full).then_some(super::POSITION_CHARS_MAX);
    let (adopted, open) = critical(verdict);
    let mut lead: Vec<Section> = adopted.into_iter().collect();
    lead.push(headline(document, verdict, !lead.is_empty()));
    lead.extend(open);
    lead.extend(scores(verdict));
    lead.extend(opinions(verdict, chars_max));
    lead.extend(attention(verdict));
    lead.extend(recommendations(verdict));
    let mut detail = Vec::new();
    detail.extend(dimensions(verdict));
    detail.extend(findings(verdict, "/convergent_findings", "What all judges agree on", &|_| true));
    detail.extend(findings(verdict, "/shared_findings", "What some judges share", &|_| true));
    // What the reader has seen above is not told again: what needs attention, and the dimensions.
    let seen = |finding: &Value| {
        let text = words(finding, "/finding");
        let dimension =
            text.and_then(|text| text.split_once(':')).is_some_and(|(key, _)| is_key(verdict, key));
        dimension
            || list(verdict, "/user_attention_needed").iter().any(|entry| words(entry, "/issue") == text)
    };
    let new = |finding: &Value| full || !seen(finding);
    detail.extend(findings(verdict, "/divergent_findings", "Where the judges differ", &new));
    // Where the changes were measured, the long report has them with their reasons.
    if !full || at(document, "/evidence/flips").is_null() {
        detail.extend(changes(verdict));
    }
    detail.extend(metrics(verdict));
    Verdict { lead, detail }
}

/// The status in one word. No band stands for what the judges did not decide, and none is good news under something critical.
fn headline(document: &Value, verdict: &Value, critical: bool) -> Section {
    let undecided = words(verdict, "/verdict_type") == Some("no_majority");
    let (kind, tone, word) = match words(verdict, "/status") {
        _ if undecided => ("answer no-answer", Tone::Warn, "NO MAJORITY"),
        Some("GREEN") if critical => ("answer no-answer", Tone::Warn, "GREEN"),
        Some("GREEN") => ("answer", Tone::Good, "GREEN"),
        Some("YELLOW") => ("answer", Tone::Warn, "YELLOW"),
        Some("RED") => ("answer no-answer", Tone::Bad, "RED"),
        _ => ("answer no-answer", Tone::Warn, "No verdict"),
    };
    let but = if critical { " What is critical must be resolved first." } else { "" };
    let line = format!("{}{but}", sentence(document, verdict));
    let blocks = vec![Block::Headline(tone, word.into()), Block::Line(line)];
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
        _ => return no_verdict(document).to_owned(),
    };
    let confidence = string(verdict, "/confidence");
    let band = words(verdict, "/status").filter(|_| words(verdict, "/verdict_type") == Some("no_majority"));
    let band = band.map_or(String::new(), |band| format!(", which would be {band}"));
    format!("{told} Confidence {confidence}. Weighted score {}{band}.", figure(verdict, "/weighted_score"))
}

fn no_verdict(document: &Value) -> &'static str {
    match words(document, "/termination") {
        Some("quorum_lost") => "There is no verdict, because fewer than two judges were left.",
        Some("budget") => "There is no verdict, because a limit left fewer than two position statements.",
        _ => "There is no verdict.",
    }
}

/// A number at a pointer as people read it.
fn figure(value: &Value, pointer: &str) -> String {
    number(at(value, pointer))
}

fn number(value: &Value) -> String {
    value.as_f64().map_or_else(String::new, rounded)
}

fn rounded(number: f64) -> String {
    ((number * 100.0).round() / 100.0).to_string()
}

fn names(value: &Value, pointer: &str) -> String {
    let names: Vec<&str> = list(value, pointer).iter().filter_map(Value::as_str).collect();
    if names == ["all"] { "all judges".to_owned() } else { names.join(", ") }
}

/// The ledger in two sections: what all hold, which leads; and what is open or was withdrawn.
fn critical(verdict: &Value) -> (Option<Section>, Option<Section>) {
    let of = |state: &str| -> Vec<&Value> {
        let findings = list(verdict, "/critical_findings").iter();
        findings.filter(|finding| words(finding, "/state") == Some(state)).collect()
    };
    let (adopted, judges) = (of("adopted"), list(verdict, "/judges").len());
    let what = if adopted.len() == 1 { "this critical finding" } else { "these critical findings" };
    let items = |findings: Vec<&Value>| findings.into_iter().map(critical_item).collect::<Vec<Item>>();
    let leads = (!adopted.is_empty()).then(|| {
        let line = format!("All {judges} judges hold {what}, whatever the scores say. Action is required.");
        let head = Block::Headline(Tone::Bad, "CRITICAL".into());
        let blocks = vec![head, Block::Line(line), Block::Items(items(adopted))];
        Section::new("answer no-answer critical", "Critical findings", blocks)
    });
    let title = if leads.is_some() { "Other critical findings" } else { "Critical findings" };
    let others: Vec<&Value> = of("disputed").into_iter().chain(of("withdrawn")).collect();
    let open =
        (!others.is_empty()).then(|| Section::new("critical", title, vec![Block::Items(items(others))]));
    (leads, open)
}

fn critical_item(finding: &Value) -> Item {
    let state = match words(finding, "/state") {
        Some("disputed") => format!("Open: held by {}, not by all; r", names(finding, "/held_by")),
        Some("withdrawn") => "Withdrawn: nobody holds it any more; r".to_owned(),
        _ => "R".to_owned(),
    };
    let raised = names(finding, "/raised_by");
    let evidence = words(finding, "/evidence").map_or(String::new(), |text| format!(" Evidence: {text}"));
    Item {
        who: Some(format!("[{}]", string(finding, "/finding_id"))),
        text: string(finding, "/finding"),
        note: Some(format!("{state}aised by {raised}.{evidence}")),
    }
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
    let entries = list(verdict, "/user_attention_needed").iter();
    let groups: Vec<Block> = entries.map(|entry| open(verdict, entry)).collect();
    (!groups.is_empty()).then(|| Section::new("attention", "What needs your attention", groups))
}

fn open(verdict: &Value, entry: &Value) -> Block {
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
    let badges = earlier(verdict, entry).map(|when| format!("({when})")).into_iter().collect();
    Block::Group { title: string(entry, "/issue"), badges, blocks: vec![Block::Pairs(pairs)] }
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

/// The dimensions by judge, with the average and how far the judges are apart in each round.
fn dimensions(verdict: &Value) -> Option<Section> {
    let judges = list(verdict, "/judges");
    // Only the numbers leave room for the rounds.
    let named = judges.iter().map(|judge| string(judge, "/judge_id").replace("judge-", "J"));
    let rounds = judges.iter().map(|judge| list(judge, "/dimension_scores_by_round").len()).max();
    let rounds = rounds.filter(|rounds| *rounds > 1).unwrap_or_default();
    let mut head = vec!["Dimension".to_owned(), "Weight".into()];
    head.extend(named.chain(["Average".to_owned()]));
    head.extend((1..=rounds).map(|round| format!("R{round}")));
    head.extend((rounds == 0).then(|| "Range".to_owned()));
    let mut rows = vec![head];
    for dimension in list(verdict, "/rubric") {
        let key = string(dimension, "/name");
        let mut row = vec![spoken(&key), scalar(at(dimension, "/weight"))];
        row.extend(judges.iter().map(|judge| figure(judge, &format!("/dimension_scores/{key}"))));
        row.push(figure(verdict, &format!("/dimension_consensus/{key}/average")));
        row.extend((0..rounds).map(|round| apart(judges, round, &key)));
        row.extend((rounds == 0).then(|| figure(verdict, &format!("/dimension_consensus/{key}/range"))));
        rows.push(row);
    }
    let shown = rows.len() > 1 && !judges.is_empty();
    let needed = Some(figure(verdict, "/thresholds/dimension_range")).filter(|needed| !needed.is_empty());
    let needed = needed.map_or(String::new(), |needed| format!(" Consensus needs {needed} or less."));
    let line = format!("R1 to R{rounds}: how far the judges are apart after each round.{needed}");
    let mut blocks = vec![Block::Table(rows)];
    blocks.extend((rounds > 0).then_some(Block::Line(line)));
    shown.then(|| Section::new("dimensions", "By dimension", blocks))
}

/// How far the judges are apart in a dimension after a round.
fn apart(judges: &[Value], round: usize, key: &str) -> String {
    let pointer = format!("/dimension_scores_by_round/{round}/dimension_scores/{key}");
    let scores: Vec<f64> = judges.iter().filter_map(|judge| at(judge, &pointer).as_f64()).collect();
    let (low, high) = (scores.iter().copied().reduce(f64::min), scores.iter().copied().reduce(f64::max));
    low.zip(high).map_or(String::new(), |(low, high)| rounded(high - low))
}

fn findings(verdict: &Value, pointer: &str, title: &str, shown: &dyn Fn(&Value) -> bool) -> Option<Section> {
    let items: Vec<Item> = list(verdict, pointer)
        .iter()
        .filter(|finding| shown(finding))
        .map(|finding| {
            let action = at(finding, "/action_required").as_bool() == Some(true);
            let action = if action { ", action required" } else { "" };
            let (priority, who) = (string(finding, "/priority"), names(finding, "/source_judges"));
            let when = earlier(verdict, finding).map_or(String::new(), |when| format!("; {when}"));
            let note = Some(format!("{}{action}; {who}{when}", heading(&priority.to_lowercase())));
            Item { who: None, text: named_dimension(verdict, &string(finding, "/finding")), note }
        })
        .collect();
    (!items.is_empty()).then(|| Section::new("findings", title, vec![Block::Items(items)]))
}

/// What was left open in an earlier round and not taken up again is marked so.
fn earlier(verdict: &Value, open: &Value) -> Option<String> {
    let round = at(open, "/as_of_round").as_u64()?;
    (round < whole(verdict, "/rounds_completed")).then(|| format!("as of round {round}, not taken up again"))
}

fn is_key(verdict: &Value, key: &str) -> bool {
    list(verdict, "/rubric").iter().any(|dimension| words(dimension, "/name") == Some(key))
}

/// A finding that begins with a dimension's key begins with its name.
fn named_dimension(verdict: &Value, finding: &str) -> String {
    match finding.split_once(':') {
        Some((key, rest)) if is_key(verdict, key) => format!("{}:{rest}", heading(key)),
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
