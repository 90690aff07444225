//! What the trickster and the rhetorical observer found.

use serde_json::Value;

use super::{ITEMS_MAX, Told, agent, figure, joined};
use crate::figures::{counted, score};
use crate::outline::{Block, Item, Section, at, heading, list, spoken, string, whole, words};

/// So many quotations show a signal in the short report.
const QUOTES_MAX: usize = 3;

impl Told<'_> {
    /// Whether an agreement was hollow, by which signals, and whether the challenge was met.
    pub(super) fn trickster(&self) -> Option<Section> {
        let trickster = at(self.verdict, "/trickster");
        let checks = list(trickster, "/checks");
        let mut blocks: Vec<Block> = checks.iter().map(|check| self.looked(check)).collect();
        if blocks.is_empty() {
            let line = "The trickster had nothing to look at: there was never enough agreement.";
            blocks.push(Block::Line(line.into()));
        }
        trickster.is_object().then(|| Section::new("trickster", "Hollow consensus", blocks))
    }

    /// The fallacies with their sentences, and how often each pattern occurs; the full report has all of them.
    pub(super) fn rhetoric(&self) -> Option<Section> {
        let all = at(self.verdict, "/rhetoric").as_array()?;
        let kind = |wanted: &'static str| all.iter().filter(move |seen| words(seen, "/kind") == Some(wanted));
        let mut blocks = Vec::new();
        if all.is_empty() {
            blocks.push(Block::Line("The observer found nothing to report.".into()));
            return Some(Section::new("rhetoric", "Rhetoric", blocks));
        }
        let line = "Found by words alone: hints to the reader, which decide nothing.";
        blocks.push(Block::Line(line.into()));
        let mut fallacies: Vec<Item> = kind("fallacy").map(seen).collect();
        let more = fallacies.len().saturating_sub(ITEMS_MAX);
        if !self.full && more > 1 {
            fallacies.truncate(ITEMS_MAX);
        }
        let cut = (!self.full && more > 1)
            .then(|| Block::Line(format!("And {more} more: the full report has them.")));
        match fallacies.is_empty() {
            true => blocks.push(Block::Line("No fallacy was seen.".into())),
            false => blocks.push(Block::Items(fallacies)),
        }
        blocks.extend(cut);
        let patterns: Vec<&Value> = kind("pattern").collect();
        if !patterns.is_empty() {
            blocks.push(Block::Line(format!(
                "{}: {}.",
                counted(patterns.len() as u64, "pattern"),
                counts(&patterns)
            )));
        }
        if self.full && !patterns.is_empty() {
            blocks.push(Block::Items(patterns.into_iter().map(seen).collect()));
        }
        Some(Section::new("rhetoric", "Rhetoric", blocks))
    }
}

impl Told<'_> {
    fn looked(&self, check: &Value) -> Block {
        let hollow = at(check, "/hollow").as_bool() == Some(true);
        // Of an agreement of all, nobody needs to be named.
        let agents = list(check, "/agents");
        let some = (1..self.list("/proposals").len()).contains(&agents.len());
        let whose = if some { format!(", {}", super::agents(agents)) } else { String::new() };
        let found = if hollow { "hollow" } else { "not hollow" };
        let title = format!("Round {}{whose}: {found}", whole(check, "/round"));
        let badges = came_to(check).map(|came_to| format!("challenged, and {came_to}"));
        Block::Group { title, badges: badges.into_iter().collect(), blocks: signals(check, self.full) }
    }
}

/// What a challenge came to; `None` where none was put.
fn came_to(check: &Value) -> Option<&'static str> {
    at(check, "/challenged").as_bool().filter(|challenged| *challenged)?;
    Some(match (words(check, "/came_to"), at(check, "/met").as_bool()) {
        (Some("left"), _) => "the agreement was left",
        (Some("unmeasured"), _) => "nothing could be measured after it",
        (_, Some(true)) => "the challenge was met",
        _ => "the challenge was not met",
    })
}

/// The signals of a check with the words that they rest on, and what still fired after a challenge.
fn signals(check: &Value, full: bool) -> Vec<Block> {
    let signals = list(check, "/signals");
    let mut rows = vec![["Signal", "Share", "Fires from", "Fired"].map(String::from).to_vec()];
    for signal in signals {
        let fired = at(signal, "/fired").as_bool() == Some(true);
        rows.push(vec![
            meaning(&string(signal, "/signal")),
            figure(signal, "/value", 2).unwrap_or_default(),
            figure(signal, "/threshold", 2).unwrap_or_default(),
            if fired { "yes" } else { "no" }.into(),
        ]);
    }
    let quoted = signals.iter().filter(|signal| full || at(signal, "/fired").as_bool() == Some(true));
    let quotes: Vec<Item> = quoted.filter_map(|signal| quotes(signal, full)).collect();
    let mut blocks = vec![Block::Table(rows)];
    let after = list(check, "/after").iter().filter(|signal| at(signal, "/fired").as_bool() == Some(true));
    let after: Vec<String> = after.map(|signal| lower(&meaning(&string(signal, "/signal")))).collect();
    if at(check, "/after").is_array() {
        let left = if after.is_empty() { "nothing".to_owned() } else { joined(&after) };
        blocks.push(Block::Line(format!("What still fired after the challenge: {left}.")));
    }
    blocks.extend((!quotes.is_empty()).then_some(Block::Items(quotes)));
    blocks
}

/// The words that a signal rests on; in the short report some of them.
fn quotes(signal: &Value, full: bool) -> Option<Item> {
    let most = if full { usize::MAX } else { QUOTES_MAX };
    let all = list(signal, "/quotes");
    let told = all.iter().take(most).map(|quote| {
        format!("{}, \u{201c}{}\u{201d}", agent(&string(quote, "/label")), string(quote, "/quote"))
    });
    let told: Vec<String> = told.collect();
    let more = all.len().saturating_sub(told.len()) as u64;
    Some(Item {
        who: Some(meaning(&string(signal, "/signal"))),
        text: told.join("; "),
        note: (more > 0).then(|| format!("And {}, in the full report.", counted(more, "other quotation"))),
    })
    .filter(|_| !all.is_empty())
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A signal in words.
fn meaning(signal: &str) -> String {
    match signal {
        "uncited" => "Claims without evidence".into(),
        "unspecific" => "Evidence that nobody can check".into(),
        "near_copies" => "Near copies of each other".into(),
        "no_reasons" => "No reasons given".into(),
        other => heading(other),
    }
}

/// One finding of the observer with its sentence.
fn seen(seen: &Value) -> Item {
    let place = format!("round {}, {}", whole(seen, "/round"), spoken(&string(seen, "/phase")));
    let sure = at(seen, "/score").as_f64().map_or(String::new(), |sure| format!(", {}", score(sure)));
    Item {
        who: Some(format!("{}, {}", heading(&string(seen, "/name")), agent(&string(seen, "/label")))),
        text: format!("\u{201c}{}\u{201d}", string(seen, "/quote")),
        note: Some(format!("{}{sure}", heading(&place))),
    }
}

/// "3 concession, 2 hedging", the most frequent first.
fn counts(all: &[&Value]) -> String {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for name in all.iter().map(|seen| spoken(&string(seen, "/name"))) {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by(|(one, few), (other, many)| many.cmp(few).then(one.cmp(other)));
    counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
