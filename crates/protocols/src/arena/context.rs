//! Round 0: what the person attached, what earlier debates decided, what the agents remember, and current topics.
//!
//! All of it is untrusted material that is cited by id. This file also has the rules for ids: `[K1]` for context, `[Q2]` for a
//! critique, or the same as a word without brackets.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use agon_core::wording::joined;
use agon_core::{Ask, Brief, Corrupt, PhaseTurn, Step};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::asks::errand;
use super::log::{ArenaAgent, ArenaLog};
use super::replies::{self, ContextReply, ContextResolution};
use super::{ArenaOptions, ArenaPhase, team};
use crate::attached_context::{AttachedText, attached_texts};
use crate::quotes::quoted_words;
use crate::tools::named_items;

/// The text of an item is cut here.
pub(super) const TEXT_CHARS_MAX: usize = 1200;
/// How the seat of a source of current topics begins.
const PULSE_PREFIX: &str = "pulse-";

/// Where an item is from. Items are numbered in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ContextKind {
    /// By the person who asked.
    #[default]
    Attached,
    Knowledge,
    Pulse,
    Memory,
}

impl ContextKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Knowledge => "knowledge",
            Self::Pulse => "pulse",
            Self::Memory => "memory",
        }
    }

    fn of_seat(seat: &str) -> Self {
        match seat {
            "knowledge" => Self::Knowledge,
            "memory" => Self::Memory,
            _ => Self::Pulse,
        }
    }
}

/// A piece of context.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct ContextItem {
    /// `K1`, `K2`...
    pub(super) id: String,
    pub(super) kind: ContextKind,
    pub(super) source: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) at: Option<String>,
    pub(super) debate: Option<String>,
    pub(super) turned_out: Option<ContextResolution>,
    /// Whose memory it is.
    pub(super) agent: Option<String>,
    /// Where the debate that it comes from was held, and what kind of models spoke there. For readers, not for prompts: a folder's
    /// name is nobody else's business.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provenance: Option<String>,
}

/// Asks every source for what it has about the task. `None` if there is no source.
pub(super) fn lookup(log: &ArenaLog<'_>) -> Result<Option<Step>, Corrupt> {
    let schema = replies::plain_schema::<ContextReply>("context");
    let mut asks: Vec<Ask> = Vec::new();
    for (seat, model) in sources(&log.options) {
        let (query, limit) = (&log.debate.brief.question, log.options.context_items);
        let query = match seat.as_str() {
            "memory" => json!({"query": query, "limit": limit, "agents": remembering_agents(log)}),
            _ => json!({"query": query, "limit": limit}),
        };
        let ask = errand(&seat, &model, &query, schema.clone())?;
        asks.push(Ask { within_ms: Some(source_timeout_ms(log)), firm: true, ..ask });
    }
    Ok((!asks.is_empty()).then(|| Step::Ask(ArenaPhase::Context.at(0), asks)))
}

/// How long a source may take: at most a fifth of the deadline, so that time is left for the debate.
fn source_timeout_ms(log: &ArenaLog<'_>) -> u64 {
    const DEADLINE_PARTS: u64 = 5;
    let wanted = (log.options.context_timeout * 1000.0) as u64;
    let most = log.debate.brief.limits.deadline_ms.map(|deadline| (deadline / DEADLINE_PARTS).max(1));
    most.map_or(wanted, |most| wanted.min(most))
}

/// The sources of topics that are named.
pub(super) fn pulse_names(options: &ArenaOptions) -> impl Iterator<Item = &str> {
    options.pulse.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// The sources that a debate asks: their seats and models.
pub(super) fn sources(options: &ArenaOptions) -> Vec<(String, String)> {
    let mut sources = Vec::new();
    if options.context_items == 0 {
        return sources;
    }
    if !options.no_knowledge {
        sources.push(("knowledge".to_owned(), "context/knowledge".to_owned()));
    }
    if !options.no_memory {
        sources.push(("memory".to_owned(), "context/memory".to_owned()));
    }
    for name in pulse_names(options).filter(|_| !options.no_pulse) {
        let source = (format!("{PULSE_PREFIX}{name}"), format!("pulse/{name}"));
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

/// The agents that may remember something, each once, in seat order.
fn remembering_agents(log: &ArenaLog<'_>) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for agent in log.debate.brief.seats_of("agent").map(|seat| team::agent_name(&seat.model)) {
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    agents
}

/// What the person attached, numbered first.
pub(super) fn attached_items(brief: &Brief) -> Vec<ContextItem> {
    let item = |attached: AttachedText<'_>| ContextItem {
        id: attached.id,
        source: attached.path.to_owned(),
        text: attached.text.trim().to_owned(),
        ..ContextItem::default()
    };
    attached_texts(brief).into_iter().map(item).collect()
}

/// What the sources found, numbered: knowledge, then current topics by source, then memories in seat order.
pub(super) fn read_items(log: &ArenaLog<'_>, turn: &PhaseTurn) -> Result<Vec<ContextItem>, Corrupt> {
    let remembering = remembering_agents(log);
    let mut items: Vec<(usize, ContextItem)> = Vec::new();
    for (ask, reply) in turn.settled() {
        let Some(value) = reply.value() else { continue };
        let kind = ContextKind::of_seat(&ask.seat);
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for found in ContextReply::deserialize(value)?.items {
            let owner =
                found.agent.as_deref().and_then(|name| remembering.iter().position(|one| one == name));
            // Nobody reads the memories of an agent that does not sit.
            let Some(order) = (if kind == ContextKind::Memory { owner } else { Some(0) }) else { continue };
            // Every agent has its own share of memories, so that one agent cannot use up the limit.
            let count = counts.entry(order).or_default();
            if *count == log.options.context_items {
                continue;
            }
            *count += 1;
            let source = if found.source.trim().is_empty() { ask.model.clone() } else { found.source };
            let item = ContextItem {
                id: String::new(),
                kind,
                source,
                title: found.title,
                text: found.text.trim().chars().take(TEXT_CHARS_MAX).collect(),
                at: found.at,
                debate: found.debate,
                turned_out: found.turned_out,
                agent: found.agent,
                provenance: found.provenance,
            };
            items.push((order, item));
        }
    }
    // The sort is stable: within one source the best stays first.
    items.sort_by_key(|(order, item)| (item.kind, *order));
    let numbered = items.into_iter().zip(log.context.len() + 1..);
    Ok(numbered.map(|((_, item), n)| ContextItem { id: format!("K{n}"), ..item }).collect())
}

impl ContextItem {
    /// Whether an agent reads it. Only its own agent reads a memory.
    pub(super) fn is_for(&self, agent: &ArenaAgent<'_>) -> bool {
        self.kind != ContextKind::Memory
            || self.agent.as_deref() == Some(&team::agent_name(&agent.seat.model))
    }

    /// Which of its readers cite it, in label order.
    pub(super) fn cited_by(&self, log: &ArenaLog<'_>) -> Vec<usize> {
        let cites = |place: &usize| {
            log.stages.iter().filter_map(|stage| stage.held_by(*place)).any(|held| {
                let claims = held.said.now.claims.iter().flat_map(|made| [&made.claim, &made.evidence]);
                let mut texts = claims.chain([&held.said.now.proposal, &held.said.now.position]);
                texts.any(|text| cited_ids(text).iter().any(|cited| cited.id == self.id && !cited.foreign))
            })
        };
        let readers = log.agents.iter().enumerate().filter(|(_, agent)| self.is_for(agent));
        readers.map(|(place, _)| place).filter(cites).collect()
    }

    /// Its source and text, as prompts quote them. Ids in it are marked as not of this debate.
    pub(super) fn quoted_text(&self) -> String {
        let turned_out = self.turned_out.map(|how| format!("it turned out to be {}", how.as_str()));
        let lines = [
            ("Source", Some(self.source.as_str())),
            ("Date", self.at.as_deref()),
            ("How it turned out", turned_out.as_deref()),
            ("Title", Some(self.title.as_str())),
        ];
        let lines =
            lines.iter().filter_map(|(name, value)| Some((name, value.filter(|v| !v.trim().is_empty())?)));
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let head: Vec<String> = lines.map(|(name, value)| format!("{name}: {}", one_line(value))).collect();
        let written = format!("{}\n{}", head.join("\n"), self.text);
        match self.debate {
            Some(_) => mark_ids(&written, OF_DEBATE, true),
            None => mark_ids(&written, OF_SOURCE, false),
        }
    }
}

impl ArenaLog<'_> {
    /// What an id names: the text of a piece of context, or a critique.
    pub(super) fn cited_text(&self, id: &str) -> Option<String> {
        let item = self.context.iter().find(|item| item.id == id).map(ContextItem::quoted_text);
        let critique = self.critiques.iter().find(|critique| critique.id == id);
        item.or_else(|| {
            critique.map(|critique| [critique.issues.join("\n"), critique.suggestions.join("\n")].join("\n"))
        })
    }

    /// The ids that a text names in brackets. What names nothing in the debate is an id only among ids: `[Q3]`, but not
    /// `[Q3 2025 report]`.
    fn named_ids(&self, text: &str) -> BTreeSet<String> {
        let cited = cited_ids(text).into_iter().filter(|cited| cited.bracketed && !cited.foreign);
        let cited = cited.map(|cited| (cited.id.to_uppercase(), cited.is_listed));
        let named = cited.filter(|(id, is_listed)| *is_listed || self.cited_text(id).is_some());
        named.map(|(id, _)| id).collect()
    }

    /// The ids that evidence names, each once: those in brackets, and items that were looked up or attached.
    pub(super) fn evidence_ids(&self, evidence: &str) -> BTreeSet<String> {
        self.named_ids(evidence).into_iter().chain(named_items(&self.debate.brief, evidence)).collect()
    }

    /// The words in quotation marks of evidence that names something, each with whether they occur there.
    pub(super) fn evidence_quotes<'t>(&self, evidence: &'t str) -> Vec<(&'t str, bool)> {
        let ids = self.evidence_ids(evidence);
        let sources: Vec<String> = ids.iter().filter_map(|id| self.cited_text(id)).collect();
        if sources.is_empty() && !ids.iter().any(|id| self.item(id).is_some()) {
            return Vec::new();
        }
        let is_found = |quote: &str| {
            sources.iter().any(|source| self.quoted.is_quoted(quote, source))
                || ids.iter().any(|id| self.is_item_quoted(id, quote))
        };
        quoted_words(evidence).into_iter().map(|quote| (quote, is_found(quote))).collect()
    }

    /// Which ids of a text name nothing in this debate, as the end of a sentence: "cites [K1], which does not exist".
    pub(super) fn unknown_ids(&self, text: &str) -> Option<String> {
        let unknown = self.named_ids(text).into_iter().filter(|id| self.cited_text(id).is_none());
        let unknown: Vec<String> = unknown.map(|id| format!("[{id}]")).collect();
        let do_not = if unknown.len() == 1 { "does not" } else { "do not" };
        (!unknown.is_empty()).then(|| format!("cites {}, which {do_not} exist", joined(&unknown)))
    }
}

/// The ids that a text cites in brackets as ids of this debate.
pub(super) fn own_ids(text: &str) -> Vec<String> {
    let cited = cited_ids(text).into_iter().filter(|cited| cited.bracketed && !cited.foreign);
    cited.map(|cited| cited.id.to_uppercase()).collect()
}

/// Warnings about sources that did not answer, and the notes of the others about how they searched.
pub(super) fn source_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let turns = || log.debate.turns_of(ArenaPhase::Context.as_str());
    let absent = turns().flat_map(PhaseTurn::absences).map(|(ask, why, detail)| {
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        format!(
            "{} gave no context ({}{detail}); the debate continued without it",
            source_name(&ask.seat),
            why.as_str()
        )
    });
    let notes = turns().flat_map(PhaseTurn::settled).filter_map(|(ask, reply)| {
        let note = ContextReply::deserialize(reply.value()?).ok()?.note?;
        (!note.trim().is_empty()).then(|| format!("{}: {note}", source_name(&ask.seat)))
    });
    absent.chain(notes).collect()
}

fn source_name(seat: &str) -> String {
    match seat.strip_prefix(PULSE_PREFIX) {
        Some(name) => format!("the pulse source {name}"),
        None => format!("the {seat} store"),
    }
}

/// The mark after an id of another debate.
const OF_DEBATE: &str = " of that debate";
/// The mark after an id that an outside source wrote.
const OF_SOURCE: &str = " of that source";

/// An id in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitedId<'t> {
    /// As it is written, without brackets.
    pub(super) id: &'t str,
    /// Its place in bytes.
    pub(super) place: Range<usize>,
    /// Whether it is in brackets.
    pub(super) bracketed: bool,
    /// Whether these brackets have nothing but ids.
    pub(super) is_listed: bool,
    /// Whether it is marked as not of this debate.
    pub(super) foreign: bool,
}

impl CitedId<'_> {
    /// Whether it may be a quarter of a year: "sales rose in Q3" and "[Q3 2025 report]" cite nothing.
    fn is_quarter(&self) -> bool {
        !self.is_listed
            && ["Q1", "Q2", "Q3", "Q4"].iter().any(|quarter| quarter.eq_ignore_ascii_case(self.id))
    }
}

/// Every id of a text, in order.
pub(super) fn cited_ids(text: &str) -> Vec<CitedId<'_>> {
    let (mut found, mut from) = (Vec::new(), 0);
    let find =
        |from: usize, is_wanted: &dyn Fn(char) -> bool| Some(from + text.get(from..)?.find(is_wanted)?);
    while let Some(start) = find(from, &char::is_alphanumeric) {
        let end = find(start, &|c| !c.is_alphanumeric()).unwrap_or(text.len());
        let id = text.get(start..end).unwrap_or_default();
        if is_id(id) {
            let (before, after) =
                (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
            let opened = before.rfind('[').filter(|at| Some(*at) > before.rfind(']'));
            let closed = after.find(']').map(|at| end + at);
            let inside = opened.zip(closed).and_then(|(from, to)| text.get(from + 1..to));
            let is_listed = inside.is_some_and(is_id_list);
            let foreign = [OF_DEBATE, OF_SOURCE].iter().any(|mark| after.starts_with(mark));
            found.push(CitedId { id, place: start..end, bracketed: inside.is_some(), is_listed, foreign });
        }
        from = end;
    }
    found
}

fn is_id(word: &str) -> bool {
    let number = word.strip_prefix(['K', 'Q', 'k', 'q']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

/// Whether a text is ids, of whatever kind, and nothing else.
fn is_id_list(text: &str) -> bool {
    let is_id = |word: &str| {
        let number = word.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
    };
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).all(is_id)
}

/// Marks the ids in a text from elsewhere, so that nobody takes them for ids of this debate: `[K1]` becomes `(K1 of that debate)`.
/// `bare` says whether words without brackets count as ids.
fn mark_ids(text: &str, mark: &str, bare: bool) -> String {
    let (mut written, mut from) = (String::new(), 0);
    for cited in cited_ids(text) {
        if cited.foreign || cited.is_quarter() || !(cited.bracketed || bare) {
            continue;
        }
        let before = text.get(from..cited.place.start).unwrap_or_default();
        let after = text.get(cited.place.end..).unwrap_or_default();
        // Brackets around one id belong to it; brackets around several belong to the list and stay.
        match before.strip_suffix('[').filter(|_| after.starts_with(']')) {
            Some(before) => {
                written.push_str(&format!("{before}({}{mark})", cited.id));
                from = cited.place.end + 1;
            }
            None => {
                written.push_str(&format!("{before}{}{mark}", cited.id));
                from = cited.place.end;
            }
        }
    }
    written + text.get(from..).unwrap_or_default()
}
