//! The verdict of `ask`: the answer, by what it was decided, and what each step of the ladder cost.

use serde_json::Value;

use super::facts::holder;
use super::transcript::lower_first;
use super::{Block, Item, Section, Verdict, at, list, shortened, spoken, string, whole, words};
use crate::figures::{count, dollars, score};

/// The answer and why, how it was decided, what was contested; then the steps and the first answers, and of the whole report the
/// debate and the judging in full.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let mut lead = vec![answer(document, verdict)];
    lead.extend(words(verdict, "/why").map(|why| Section::new("why", "Why", vec![Block::Prose(why.into())])));
    lead.push(decided(verdict));
    lead.extend(contested(verdict));
    let mut detail = vec![steps(verdict)];
    detail.extend(firsts(document, verdict, full));
    if full {
        if let Some(deep) = step(verdict, "deep") {
            detail.extend(super::deep::verdict(document, at(deep, "/verdict"), true).detail);
        }
        if let Some(panel) = step(verdict, "panel") {
            detail.extend(judging(document, at(panel, "/verdict")));
        }
    }
    Verdict { lead, detail }
}

/// How a ladder that came to an end ended; `None` where the last step's own word says it.
pub(super) fn ending(document: &Value) -> Option<String> {
    let complete =
        words(document, "/protocol") == Some("ask") && words(document, "/status") == Some("complete");
    let by = words(document, "/verdict/decided_by").filter(|_| complete)?;
    match by {
        "agreement" => Some("The first two answers agree.".into()),
        "panel" => Some("The debaters did not agree; the judges let the answer stand.".into()),
        "first_round_vote" => Some("The plain vote on the first answers decides.".into()),
        _ => None,
    }
}

/// How many gave a first answer, of a ladder; by what they are called.
pub(super) fn first_answers(document: &Value) -> Option<(u64, &'static str)> {
    let answers = at(document, "/verdict/answers").as_array()?;
    (words(document, "/protocol") == Some("ask")).then_some((answers.len() as u64, "first answer"))
}

fn step<'a>(verdict: &'a Value, name: &str) -> Option<&'a Value> {
    list(verdict, "/steps").iter().find(|step| words(step, "/step") == Some(name))
}

fn answer(document: &Value, verdict: &Value) -> Section {
    if let Some(answer) = words(verdict, "/answer") {
        return Section::new("answer", "Answer", vec![Block::Prose(answer.into())]);
    }
    let said = list(verdict, "/answers").iter();
    let items: Vec<Item> = said
        .map(|said| Item { who: holder(document, said), text: string(said, "/answer"), note: None })
        .collect();
    let blocks = match items.is_empty() {
        true => vec![Block::Line("There is no answer.".into())],
        false => vec![Block::Line("These were the first answers:".into()), Block::Items(items)],
    };
    Section::new("answer no-answer", "No answer", blocks)
}

/// By what it was decided and why that was enough, the risk, and whether the vote was kept.
fn decided(verdict: &Value) -> Section {
    let mut lines: Vec<String> = vec![by(verdict)];
    lines.extend(words(verdict, "/risk/sentence").map(str::to_owned));
    if words(verdict, "/decided_by") == Some("agreement") && at(verdict, "/risk").is_null() {
        lines.push("How often these two are wrong when they agree is not known: no earlier debate of theirs is resolved.".into());
    }
    if let Some(why) = words(verdict, "/never_worse/why") {
        let kept = at(verdict, "/never_worse/kept").as_bool() == Some(true);
        let what = if kept { "Never worse: the vote was kept" } else { "Never worse: the vote was not kept" };
        lines.push(format!("{what}, because {why}."));
    }
    Section::new("decided", "How it was decided", lines.into_iter().map(Block::Line).collect())
}

fn by(verdict: &Value) -> String {
    let said = list(verdict, "/answers").len();
    let ruling = step(verdict, "panel").and_then(|panel| words(panel, "/ruling/why"));
    match words(verdict, "/decided_by") {
        Some("agreement") if words(verdict, "/steps/0/verdict/by") == Some("both_say_so") => {
            "Two models answered, each alone, and both say that their answers are the same: nothing more was needed.".into()
        }
        Some("agreement") => "Two models answered, each alone, and gave the same answer: nothing more was needed.".into(),
        Some("panel") => {
            let ruling = ruling.map_or(String::new(), |ruling| format!(": {ruling}"));
            format!("The debate's answer stands before the judges{ruling}.")
        }
        Some("debate") if step(verdict, "panel").is_some() => {
            "The debate decided; the judges did not change that.".into()
        }
        Some("debate") => "The first two answers differ; the debate decided.".into(),
        Some("first_round_vote") => {
            let ruling = ruling.map_or(String::new(), |ruling| format!(" ({ruling})"));
            format!("The plain vote on the {said} first answers decided, not the debate{ruling}.")
        }
        _ => "Nothing was decided.".into(),
    }
}

fn contested(verdict: &Value) -> Option<Section> {
    let items: Vec<Item> =
        list(verdict, "/contested").iter().filter_map(Value::as_str).map(Item::text).collect();
    (!items.is_empty()).then(|| Section::new("contested", "What was contested", vec![Block::Items(items)]))
}

/// The ladder as a table: each step, why it was taken, what it cost, how it ended.
fn steps(verdict: &Value) -> Section {
    let head = ["Step", "Why", "Calls", "Tokens", "US dollars", "Ended"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for step in list(verdict, "/steps") {
        let name = match words(step, "/step") {
            Some("pair") => "Two answers".to_owned(),
            Some("deep") => "Debate".to_owned(),
            Some("panel") => "Judges".to_owned(),
            other => spoken(other.unwrap_or_default()),
        };
        let ended = match at(step, "/verdict/agreed").as_bool() {
            Some(true) => "agreed".to_owned(),
            Some(false) => "differ".to_owned(),
            None => words(step, "/termination").map_or_else(String::new, spoken),
        };
        let tokens = whole(step, "/input_tokens").saturating_add(whole(step, "/output_tokens"));
        let usd = at(step, "/usd").as_f64().map_or("unknown".into(), dollars);
        rows.push(vec![
            name,
            string(step, "/reason"),
            count(whole(step, "/calls")),
            count(tokens),
            usd,
            ended,
        ]);
    }
    Section::new("steps", "Step by step", vec![Block::Table(rows)])
}

/// The first answers, each given alone.
fn firsts(document: &Value, verdict: &Value, full: bool) -> Option<Section> {
    let chars_max = (!full).then_some(super::POSITION_CHARS_MAX);
    let item = |said: &Value| {
        let sure = at(said, "/confidence").as_f64().map(|sure| format!("confidence {}", score(sure)));
        let why = words(said, "/why").filter(|_| full).map(|why| shortened(why, chars_max));
        let note: Vec<String> = sure.into_iter().chain(why).collect();
        Item { who: holder(document, said), text: string(said, "/answer"), note: Some(note.join("; ")) }
    };
    let items: Vec<Item> = list(verdict, "/answers").iter().map(item).collect();
    (!items.is_empty()).then(|| Section::new("firsts", "First answers", vec![Block::Items(items)]))
}

/// The judging in full, under headings that tell it from the answer.
fn judging(document: &Value, panel: &Value) -> Vec<Section> {
    let judged = super::panel::verdict(document, panel, true);
    let mut sections: Vec<Section> = judged.lead.into_iter().chain(judged.detail).collect();
    for section in &mut sections {
        // What the judges say is not the answer, and the page must not set it as one.
        if section.kind.starts_with("answer") {
            section.kind = "judging";
        }
        section.title = format!("The judges: {}", lower_first(&section.title));
    }
    sections
}
