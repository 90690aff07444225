//! What a report says, before it is known how it will look.
//!
//! An outline is sections of blocks, made from the outcome document ([`short`]) or from that and the log ([`full`]).
//! The terminal, Markdown and HTML only set it.

mod arena;
mod ask;
mod council;
mod deep;
pub(crate) mod evidence;
pub(crate) mod facts;
mod generic;
mod panel;
mod review;
mod seats;
pub(crate) mod transcript;
pub(crate) mod wording;

pub(crate) use evidence::{Change, Way, Ways};
pub(crate) use facts::{heading_id, in_a_round, own_name, why_absent};
pub(crate) use seats::Card;

use agon_core::Debate;
use serde_json::Value;

use crate::clean::{clean, one_line};

/// A report.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) id: String,
    pub(crate) question: String,
    /// How it ended, in a sentence or two.
    pub(crate) ending: String,
    /// Whether that is cause for a second look.
    pub(crate) troubled: bool,
    /// The small print under the title: how many sat, how long it took.
    pub(crate) facts: Vec<String>,
    pub(crate) sections: Vec<Section>,
}

/// A part with a heading.
#[derive(Debug)]
pub(crate) struct Section {
    /// What kind it is, for the page's styles.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
    /// Whether a page may fold it away, and how it is at first.
    pub(crate) fold: Fold,
}

/// How a page shows a section at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    Never,
    Open,
    Closed,
}

/// What stands under a heading.
#[derive(Debug)]
pub(crate) enum Block {
    /// Somebody's words, in light Markdown.
    Prose(String),
    /// A sentence of the report's own.
    Line(String),
    /// The one word that everything else is about.
    Headline(Tone, String),
    Items(Vec<Item>),
    /// Names and what they stand for.
    Pairs(Vec<(String, String)>),
    /// The first row is the head.
    Table(Vec<Vec<String>>),
    /// What belongs together: one seat's words, one element of a list.
    Group {
        title: String,
        badges: Vec<String>,
        blocks: Vec<Block>,
    },
    /// The same of one seat, which a page shows in the seat's colour.
    Speech {
        /// The seat's place at the table.
        place: usize,
        title: String,
        badges: Vec<String>,
        blocks: Vec<Block>,
    },
    /// The seats at a glance. Only the page shows them so.
    Cards(Vec<Card>),
    /// How the seats went through the rounds.
    Ways(Ways),
    /// What the page shows in another way.
    OffPage(Vec<Block>),
    /// Two measures by round, as lines. Only the page draws it.
    Chart(Chart),
    /// Figures from 0 to 1, as bars with what is wanted marked. The page has the chart instead.
    Levels(Levels),
    /// A few figures of one kind, to be compared at a glance.
    Bars(Vec<Bar>),
}

/// A figure with its name.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// The figure as it is written.
    pub(crate) written: String,
}

/// How much of the room each bar has, from 0 to 1: the longest takes all of it.
pub(crate) fn shares(bars: &[Bar]) -> Vec<f64> {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let share = |bar: &Bar| if most > 0.0 { (bar.value / most).clamp(0.0, 1.0) } else { 0.0 };
    bars.iter().map(share).collect()
}

/// How good a headline's news is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Warn,
    Bad,
}

/// A point of a list.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub(crate) who: Option<String>,
    pub(crate) text: String,
    pub(crate) note: Option<String>,
}

/// Two measures by round.
#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) names: [&'static str; 2],
    /// What the first is held against.
    pub(crate) threshold: Option<f64>,
    /// The upper end of each measure's axis.
    pub(crate) most: [f64; 2],
    pub(crate) marks: Vec<Mark>,
}

/// What was measured in one round.
#[derive(Debug)]
pub(crate) struct Mark {
    /// The round, as it is called.
    pub(crate) round: String,
    /// The same where there is little room.
    pub(crate) tick: String,
    pub(crate) first: Option<f64>,
    pub(crate) second: Option<f64>,
}

/// Bars on a scale from 0 to 1.
#[derive(Debug)]
pub(crate) struct Levels {
    pub(crate) bars: Vec<Bar>,
    /// What they are held against.
    pub(crate) threshold: Option<f64>,
}

impl Levels {
    /// A bar in this many columns: which are full, and which has the mark.
    pub(crate) fn cells(&self, bar: &Bar, columns: usize) -> Vec<Cell> {
        let place = |value: f64| (value.clamp(0.0, 1.0) * columns as f64).round() as usize;
        let mark = self.threshold.map(|threshold| place(threshold).min(columns.saturating_sub(1)));
        let cell = |column: usize| match column {
            _ if Some(column) == mark => Cell::Mark,
            _ if column < place(bar.value) => Cell::Full,
            _ => Cell::Empty,
        };
        (0..columns).map(cell).collect()
    }
}

/// One column of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Full,
    Empty,
    Mark,
}

impl Section {
    pub(crate) fn new(kind: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { kind, title: title.into(), blocks, fold: Fold::Never }
    }
}

impl Item {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Headings before and after which the common sections stand.
#[derive(Default)]
struct Verdict {
    lead: Vec<Section>,
    detail: Vec<Section>,
}

/// The report for a terminal.
pub(crate) fn short(document: &Value, store: &str) -> Outline {
    let verdict = verdict(document, false);
    let (mut sections, rest) = opened(verdict.lead);
    sections.extend(evidence::did(document, false));
    sections.extend(rest);
    sections.extend(facts::dissent(document, Some(POSITION_CHARS_MAX)));
    sections.extend(facts::missing(document));
    sections.extend(facts::warnings(document));
    sections.extend(verdict.detail);
    sections.extend(seats::seats(document));
    sections.extend(facts::cost(document));
    sections.extend(review::footer(document));
    finish(document, sections, store)
}

/// A position in the short report is cut here: it can be a whole essay.
const POSITION_CHARS_MAX: usize = 500;

/// The whole debate.
pub(crate) fn full(document: &Value, debate: &Debate) -> Outline {
    let verdict = verdict(document, true);
    let (mut sections, rest) = opened(verdict.lead);
    sections.extend(evidence::did(document, true));
    sections.extend(seats::cards(document));
    sections.extend(rest);
    sections.extend(facts::dissent(document, None));
    sections.extend(facts::missing(document));
    sections.extend(facts::warnings(document));
    sections.extend(evidence::changed(document, debate));
    sections.extend(verdict.detail);
    sections.extend(transcript::sections(document, debate));
    sections.extend(facts::positions(document));
    sections.extend(facts::cost(document));
    sections.extend(facts::cost_by_phase(document));
    sections.extend(evidence::measures(document));
    sections.push(facts::receipt(document, debate));
    sections.extend(review::footer(document));
    finish(document, sections, "")
}

/// A verdict's first sections up to the answer and its reason, and those after: what the debate did stands between.
fn opened(mut lead: Vec<Section>) -> (Vec<Section>, Vec<Section>) {
    let answers = |section: &Section| section.kind.starts_with("answer") || section.kind == "why";
    let end = lead.iter().rposition(answers).map_or(0, |last| last + 1);
    let rest = lead.split_off(end);
    (lead, rest)
}

fn verdict(document: &Value, whole: bool) -> Verdict {
    let verdict = at(document, "/verdict");
    match at(document, "/protocol").as_str() {
        Some("arena") if verdict.is_object() => arena::verdict(document, verdict, whole),
        Some("ask") if verdict.is_object() => ask::verdict(document, verdict, whole),
        Some("council") if verdict.is_object() => council::verdict(document, verdict, whole),
        Some("deep") if verdict.is_object() => deep::verdict(document, verdict, whole),
        Some("panel") if verdict.is_object() => panel::verdict(document, verdict, whole),
        Some("review") if verdict.is_object() => review::verdict(document, verdict, whole),
        _ => Verdict { lead: generic::sections(verdict), detail: Vec::new() },
    }
}

/// Sections that can be set: none is empty, and all words are safe.
pub(crate) fn cleaned(mut sections: Vec<Section>) -> Vec<Section> {
    sections.retain(|section| !section.blocks.is_empty());
    for section in &mut sections {
        section.title = one_line(&section.title);
        section.blocks.iter_mut().for_each(clean_block);
    }
    sections
}

fn finish(document: &Value, sections: Vec<Section>, store: &str) -> Outline {
    let sections = cleaned(sections);
    Outline {
        id: one_line(&string(document, "/id")),
        question: clean(&string(document, "/question")).trim().to_owned(),
        ending: one_line(&facts::ending(document, store)),
        troubled: facts::troubled(document),
        facts: facts::small_print(document).iter().map(|fact| one_line(fact)).collect(),
        sections,
    }
}

/// The one place where words from a model, a question or a log become safe: no form can forget it.
fn clean_block(block: &mut Block) {
    let line = |text: &mut String| *text = one_line(text);
    let prose = |text: &mut String| *text = clean(text).trim().to_owned();
    match block {
        Block::Prose(text) => prose(text),
        Block::Line(text) | Block::Headline(_, text) => line(text),
        Block::Items(items) => {
            for item in items {
                item.who.iter_mut().chain(&mut item.note).for_each(line);
                prose(&mut item.text);
            }
        }
        Block::Pairs(pairs) => pairs.iter_mut().for_each(|(name, value)| {
            line(name);
            line(value);
        }),
        Block::Table(rows) => rows.iter_mut().flatten().for_each(line),
        Block::Group { title, badges, blocks } | Block::Speech { title, badges, blocks, .. } => {
            line(title);
            badges.iter_mut().for_each(line);
            blocks.iter_mut().for_each(clean_block);
        }
        Block::OffPage(blocks) => blocks.iter_mut().for_each(clean_block),
        Block::Cards(cards) => cards.iter_mut().flat_map(Card::texts).for_each(line),
        Block::Ways(ways) => ways.each_text(line),
        Block::Bars(bars) | Block::Levels(Levels { bars, .. }) => bars.iter_mut().for_each(|bar| {
            line(&mut bar.name);
            line(&mut bar.written);
        }),
        // Rounds are numbers, and their names the report's own.
        Block::Chart(_) => {}
    }
}

/// The value at a JSON pointer, or null.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    const NOTHING: &Value = &Value::Null;
    value.pointer(pointer).unwrap_or(NOTHING)
}

/// The array at a JSON pointer, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The words at a JSON pointer, unless there are none.
pub(crate) fn words<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    at(value, pointer).as_str().map(str::trim).filter(|text| !text.is_empty())
}

pub(crate) fn string(value: &Value, pointer: &str) -> String {
    words(value, pointer).unwrap_or_default().to_owned()
}

pub(crate) fn whole(value: &Value, pointer: &str) -> u64 {
    at(value, pointer).as_u64().unwrap_or_default()
}

/// A wire name as words: `partial_concede` is "partial concede".
pub(crate) fn spoken(name: &str) -> String {
    name.replace(['_', '-'], " ").trim().to_owned()
}

/// A wire name as a heading: `new_points_ratio` is "New points ratio".
pub(crate) fn heading(name: &str) -> String {
    let spoken = spoken(name);
    let mut chars = spoken.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The beginning of a text, to the end of a word.
fn shortened(text: &str, chars_max: Option<usize>) -> String {
    let Some(end) = chars_max.and_then(|most| text.char_indices().nth(most)).map(|(at, _)| at) else {
        return text.to_owned();
    };
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once(char::is_whitespace).map_or(kept, |(kept, _)| kept);
    format!("{} [...]", kept.trim_end())
}
