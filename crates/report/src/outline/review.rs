//! The verdict of `review`.

use serde_json::Value;

use super::generic::scalar;
use super::{
    Block, Item, Section, Tone, Verdict, at, generic, heading, list, shortened, spoken, string, words,
};
use crate::gate::{Ruling, meaning, ruling};

/// The verdict and what it means, and how the judges came to it; then the findings and what to do.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let answers = answers(verdict);
    if !answers.is_empty() {
        let title = words(verdict, "/mode").map_or("Answers".into(), heading);
        return Verdict { lead: vec![Section::new("answer", title, answers)], detail: Vec::new() };
    }
    let chars_max = (!full).then_some(super::POSITION_CHARS_MAX);
    let mut lead = vec![headline(document)];
    lead.extend(sides(verdict));
    lead.extend(judges(verdict, chars_max));
    lead.extend(shifts(verdict));
    let mut detail = Vec::new();
    detail.extend(findings(verdict, chars_max));
    detail.extend(recommendations(verdict, chars_max));
    if full {
        detail.extend(exchanges(verdict));
    }
    Verdict { lead, detail }
}

/// How many were heard in each round: the line that ends the report of a review.
pub(super) fn footer(document: &Value) -> Option<Section> {
    let review = words(document, "/protocol") == Some("review");
    let line = words(document, "/verdict/footer").filter(|_| review)?;
    Some(Section::new("footer", "Who was heard", vec![Block::Line(line.into())]))
}

/// In the modes in which nobody rules: what each judge said.
fn answers(verdict: &Value) -> Vec<Block> {
    let answers = list(verdict, "/answers").iter().map(|answer| {
        let mut rest = answer.as_object().cloned().unwrap_or_default();
        let who = rest.shift_remove("judge").map(|who| scalar(&who)).unwrap_or_default();
        let badges = generic::badges(&mut rest);
        let blocks = match answer.as_object() {
            Some(_) => generic::blocks(&Value::Object(rest)),
            None => generic::blocks(answer),
        };
        Block::Group { title: who, badges, blocks }
    });
    answers.collect()
}

fn headline(document: &Value) -> Section {
    let (kind, tone) = match ruling(document) {
        Ruling::Passed => ("answer", Tone::Good),
        Ruling::Warned => ("answer no-answer", Tone::Warn),
        Ruling::Blocked => ("answer no-answer", Tone::Bad),
        Ruling::Missing => {
            let blocks =
                vec![Block::Headline(Tone::Warn, "No verdict".into()), Block::Line(meaning(document))];
            return Section::new("answer no-answer", "Verdict", blocks);
        }
    };
    let word = string(document, "/verdict/verdict");
    Section::new(kind, "Verdict", vec![Block::Headline(tone, word), Block::Line(meaning(document))])
}

/// Where the vendors split, each with its own result, its judges and what they say, side by side.
fn sides(verdict: &Value) -> Option<Section> {
    let results = list(verdict, "/vendors").iter();
    let results = results.filter_map(|side| Some((words(side, "/vendor")?, string(side, "/verdict"))));
    let (vendors, results): (Vec<&str>, Vec<String>) = results.unzip();
    if words(verdict, "/verdict") != Some("DISAGREE") || vendors.is_empty() {
        return None;
    }
    let of = |vendor: &str| {
        let judges = list(verdict, "/judges").iter();
        let judges = judges.filter(|judge| words(judge, "/vendor") == Some(vendor));
        judges.filter(|judge| words(judge, "/verdict").is_some()).collect::<Vec<&Value>>()
    };
    let row = |title: &str, field: &str| {
        let cell = |judge: &Value| {
            let told = words(counted(judge), field)?;
            Some(format!("{} ({}): {told}", name(judge), string(judge, "/verdict")))
        };
        let cells = |vendor: &&str| of(vendor).into_iter().filter_map(cell).collect::<Vec<_>>().join(" ");
        let mut row = vec![title.to_owned()];
        row.extend(vendors.iter().map(cells));
        row
    };
    let mut head = vec![String::new()];
    head.extend(vendors.iter().map(|vendor| (*vendor).to_owned()));
    let mut result = vec!["Verdict".to_owned()];
    result.extend(results);
    let rows = vec![head, result, row("Because", "/key_insight"), row("Advice", "/recommendation")];
    Some(Section::new("dissent", "You decide", vec![Block::Table(rows)]))
}

fn name(judge: &Value) -> String {
    words(judge, "/judge").or_else(|| words(judge, "/seat")).unwrap_or("judge").to_owned()
}

/// The answer of a judge that counts.
fn counted(judge: &Value) -> &Value {
    match words(judge, "/used") {
        Some("r2") => at(judge, "/r2"),
        Some("r1") => at(judge, "/r1"),
        _ => &Value::Null,
    }
}

/// The worst first. A severity that nobody knows comes after the known ones, under its own name.
const SEVERITIES: [&str; 3] = ["critical", "significant", "minor"];

fn findings(verdict: &Value, chars_max: Option<usize>) -> Option<Section> {
    let found = list(verdict, "/findings");
    let mut severities: Vec<&str> = SEVERITIES.to_vec();
    let others = found.iter().map(|finding| words(finding, "/severity").unwrap_or("other"));
    for severity in others {
        if !severities.contains(&severity) {
            severities.push(severity);
        }
    }
    let group = |severity: &str| {
        let mut of: Vec<&Value> = found
            .iter()
            .filter(|finding| words(finding, "/severity").unwrap_or("other") == severity)
            .collect();
        of.sort_by_key(|finding| dropped(finding));
        let items: Vec<Item> = of.into_iter().map(|finding| item(finding, chars_max)).collect();
        (!items.is_empty()).then(|| Block::Group {
            title: heading(severity),
            badges: Vec::new(),
            blocks: vec![Block::Items(items)],
        })
    };
    let groups: Vec<Block> = severities.into_iter().filter_map(group).collect();
    (!groups.is_empty()).then(|| Section::new("findings", "Findings", groups))
}

fn dropped(finding: &Value) -> bool {
    at(finding, "/dropped").as_bool() == Some(true)
}

fn names(value: &Value, pointer: &str) -> Vec<String> {
    list(value, pointer).iter().map(scalar).filter(|name| !name.is_empty()).collect()
}

fn item(finding: &Value, chars_max: Option<usize>) -> Item {
    let judges = names(finding, "/judges");
    let rounds: Vec<String> = names(finding, "/rounds").iter().map(|round| format!("R{round}")).collect();
    let rounds = if rounds.is_empty() { String::new() } else { format!(" ({})", rounds.join(", ")) };
    let by = names(finding, "/dropped_by");
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    let place = words(finding, "/location").or_else(|| words(finding, "/file"));
    let place: Vec<&str> = place.into_iter().chain(words(finding, "/category")).collect();
    let mut note: Vec<String> = Vec::new();
    note.extend((!place.is_empty()).then(|| format!("{}.", place.join(", "))));
    note.extend((!judges.is_empty()).then(|| format!("Found by {}{rounds}.", judges.join(", "))));
    note.extend(dropped(finding).then(|| format!("Dropped in round 2{by}.")));
    let advice = words(finding, "/recommendation").map(|advice| format!("Advice: {advice}"));
    note.extend(advice.map(|advice| shortened(&advice, chars_max)));
    Item {
        who: words(finding, "/id").map(|id| match dropped(finding) {
            true => format!("{id} (dropped)"),
            false => id.to_owned(),
        }),
        text: shortened(&string(finding, "/description"), chars_max),
        note: (!note.is_empty()).then(|| note.join(" ")),
    }
}

fn recommendations(verdict: &Value, chars_max: Option<usize>) -> Option<Section> {
    let items = list(verdict, "/recommendations").iter().filter_map(|advice| {
        let text = shortened(words(advice, "/recommendation")?, chars_max);
        Some(Item { who: words(advice, "/judge").map(str::to_owned), text, note: None })
    });
    let items: Vec<Item> = items.collect();
    (!items.is_empty()).then(|| Section::new("recommendations", "Recommendations", vec![Block::Items(items)]))
}

/// The verdicts as a table, and below it what each judge saw and what a reader should know of it: a whole sentence
/// does not fit a cell.
fn judges(verdict: &Value, chars_max: Option<usize>) -> Option<Section> {
    let judges = list(verdict, "/judges");
    let perspective =
        |judge: &Value| words(judge, "/perspective").filter(|lens| *lens != name(judge)).map(str::to_owned);
    // A judge is mostly called by its perspective; a column that says the same again is left out.
    let lenses = judges.iter().any(|judge| perspective(judge).is_some());
    let debate = at(verdict, "/debate").as_bool() == Some(true);
    let columns = |judge: &str, lens: &str, vendor: &str, r1: &str, r2: &str, sure: &str, used: &str| {
        let mut row = vec![judge.to_owned()];
        row.extend(lenses.then(|| lens.to_owned()));
        row.extend([vendor, r1].map(str::to_owned));
        row.extend(debate.then(|| r2.to_owned()));
        row.extend([sure, used].map(str::to_owned));
        row
    };
    let mut rows = vec![columns("Judge", "Perspective", "Vendor", "R1", "R2", "Confidence", "Counts")];
    for judge in judges {
        let lens = words(judge, "/perspective").unwrap_or_default();
        let r1 = words(judge, "/r1/verdict");
        let r2 = match (words(judge, "/r2/verdict"), at(judge, "/mixed").as_bool()) {
            (Some(verdict), _) => verdict,
            (None, Some(true)) => "not asked",
            (None, _) if r1.is_some() => "none",
            (None, _) => "",
        };
        let used = words(judge, "/used").map_or(String::new(), |used| format!(" ({})", used.to_uppercase()));
        let counts = words(judge, "/verdict").map_or("nothing".into(), |verdict| format!("{verdict}{used}"));
        let sure = scalar(at(counted(judge), "/confidence"));
        let r1 = r1.unwrap_or("absent");
        rows.push(columns(&name(judge), lens, &string(judge, "/vendor"), r1, r2, &sure, &counts));
    }
    let insight = |judge: &Value| {
        let text = words(counted(judge), "/key_insight").map(|text| shortened(text, chars_max));
        let note = words(judge, "/note").map(str::to_owned);
        let (text, note) = if text.is_none() { (note, None) } else { (text, note) };
        Some(Item { who: Some(name(judge)), text: text?, note })
    };
    let items: Vec<Item> = judges.iter().filter_map(insight).collect();
    let mut blocks = vec![Block::Table(rows)];
    blocks.extend((!items.is_empty()).then_some(Block::Items(items)));
    (!judges.is_empty()).then(|| Section::new("judges", "The judges", blocks))
}

/// Who changed, and on what evidence.
fn shifts(verdict: &Value) -> Option<Section> {
    let shifts = list(verdict, "/shifts");
    let mut rows = vec![["Judge", "R1", "R2", "Because"].map(str::to_owned).to_vec()];
    for shift in shifts {
        let cells = ["/judge", "/r1", "/r2"].map(|field| string(shift, field));
        rows.push(cells.into_iter().chain([because(shift)]).collect());
    }
    let mut blocks = vec![Block::Table(rows)];
    let line = match words(verdict, "/branch") {
        Some("agreed") => "Round 1 was unanimous.",
        Some("disagreed") => "Round 1 was split.",
        _ => "",
    };
    if !line.is_empty() {
        blocks.push(Block::Line(line.into()));
    }
    (!shifts.is_empty()).then(|| Section::new("shifts", "Verdict shifts", blocks))
}

fn because(shift: &Value) -> String {
    let flag = |pointer: &str| at(shift, pointer).as_bool() == Some(true);
    let kind = words(shift, "/because/kind").map(spoken);
    let cited = words(shift, "/because/citation").map(str::to_owned);
    let evidence: Vec<String> = kind.into_iter().chain(cited).collect();
    if flag("/weak_flip") {
        let reverted = if flag("/reverted") { "; reverted, R1 counts" } else { "" };
        return format!("WEAK FLIP: no evidence for the change{reverted}");
    }
    match evidence.as_slice() {
        _ if !flag("/changed") => "kept".into(),
        [] => "changed".into(),
        evidence => evidence.join(": "),
    }
}

/// What the judges said to each other in round 2.
fn exchanges(verdict: &Value) -> Option<Section> {
    let groups: Vec<Block> = list(verdict, "/judges").iter().filter_map(exchange).collect();
    (!groups.is_empty()).then(|| Section::new("exchanges", "How the judges answered each other", groups))
}

fn exchange(judge: &Value) -> Option<Block> {
    let said = at(judge, "/r2");
    let group =
        |title: &str, blocks: Vec<Block>| Block::Group { title: title.into(), badges: Vec::new(), blocks };
    let prose = |title: &str, pointer: &str| {
        words(said, pointer).map(|text| group(title, vec![Block::Prose(text.to_owned())]))
    };
    let items = |title: &str, pointer: &str, text: &str, note: &str| {
        let told = list(said, pointer).iter().map(|told| Item {
            who: words(told, "/judge").map(str::to_owned),
            text: string(told, text),
            note: words(told, note).map(str::to_owned),
        });
        let items: Vec<Item> = told.collect();
        (!items.is_empty()).then(|| group(title, vec![Block::Items(items)]))
    };
    let parts = [
        prose("Where it stood", "/restatement"),
        prose("The other side at its best", "/steel_man"),
        items("Challenges", "/challenges", "/claim", "/response"),
        items("Acknowledgments", "/acknowledgments", "/point", "/response"),
    ];
    let blocks: Vec<Block> = parts.into_iter().flatten().collect();
    (!blocks.is_empty()).then(|| Block::Group { title: name(judge), badges: Vec::new(), blocks })
}
