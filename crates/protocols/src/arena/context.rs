//! Round 0: what earlier debates decided, what the agents remember, and current topics. All of it is material that anybody may have
//! written, and is known by its id.

use std::collections::BTreeMap;

use agon_core::{Brief, Corrupt, Turn};
use serde::Deserialize;

use super::log::{Agent, Log};
use super::reply::{Found, TurnedOut};
use super::{ids, team};

/// The text of an item ends here.
pub(super) const TEXT_CHARS_MAX: usize = 1200;
/// How a seat of a source of current topics begins.
const PULSE: &str = "pulse-";

/// Where an item is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Knowledge,
    Pulse,
    Memory,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Pulse => "pulse",
            Self::Memory => "memory",
        }
    }

    fn of(seat: &str) -> Self {
        match seat {
            "knowledge" => Self::Knowledge,
            "memory" => Self::Memory,
            _ => Self::Pulse,
        }
    }
}

/// A piece of context.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// `K1`, `K2`...
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) source: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) at: Option<String>,
    pub(super) debate: Option<String>,
    pub(super) turned_out: Option<TurnedOut>,
    /// Whose memory it is.
    pub(super) agent: Option<String>,
}

/// The sources that a debate asks: their seats and models.
pub(super) fn sources(brief: &Brief) -> Vec<(String, String)> {
    let mut sources = Vec::new();
    if brief.int("context_items") == 0 {
        return sources;
    }
    if !brief.flag("no_knowledge") {
        sources.push(("knowledge".to_owned(), "context/knowledge".to_owned()));
    }
    if !brief.flag("no_memory") {
        sources.push(("memory".to_owned(), "context/memory".to_owned()));
    }
    let names = brief.text("pulse").split(',').map(str::trim).filter(|name| !name.is_empty());
    for name in names.filter(|_| !brief.flag("no_pulse")) {
        let source = (format!("{PULSE}{name}"), format!("pulse/{name}"));
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

/// The agents who may remember something, each once, in seat order.
pub(super) fn agents(brief: &Brief) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for agent in brief.seats_of("agent").map(|seat| team::agent(&seat.model)) {
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    agents
}

/// What the sources found, numbered: knowledge, then current topics source by source, then memories in the order of the seats.
pub(super) fn items(brief: &Brief, turn: &Turn) -> Result<Vec<Item>, Corrupt> {
    let most = usize::try_from(brief.int("context_items")).unwrap_or(usize::MAX);
    let remembering = agents(brief);
    let mut items: Vec<(usize, Item)> = Vec::new();
    for (asked, reply) in turn.settled() {
        let Some(value) = reply.value() else { continue };
        let kind = Kind::of(&asked.seat);
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for found in Found::deserialize(value)?.items {
            let of = found.agent.as_deref().and_then(|name| remembering.iter().position(|one| one == name));
            // A memory of somebody who does not sit is nobody's to read.
            let Some(order) = (if kind == Kind::Memory { of } else { Some(0) }) else { continue };
            // Each agent has its own share of memories: whoever is surest does not starve the others.
            let count = counts.entry(order).or_default();
            if *count == most {
                continue;
            }
            *count += 1;
            let source = if found.source.trim().is_empty() { asked.model.clone() } else { found.source };
            let item = Item {
                id: String::new(),
                kind,
                source,
                title: found.title,
                text: found.text.trim().chars().take(TEXT_CHARS_MAX).collect(),
                at: found.at,
                debate: found.debate,
                turned_out: found.turned_out,
                agent: found.agent,
            };
            items.push((order, item));
        }
    }
    // A stable sort: within one source the best stays first.
    items.sort_by_key(|(order, item)| (item.kind, *order));
    let numbered = items.into_iter().zip(1..);
    Ok(numbered.map(|((_, item), n)| Item { id: format!("K{n}"), ..item }).collect())
}

/// What the sources have to say about how they looked, by seat.
pub(super) fn notes(turn: &Turn) -> Vec<(String, String)> {
    let said = turn.settled().filter_map(|(asked, reply)| {
        let note = Found::deserialize(reply.value()?).ok()?.note?;
        Some((asked.seat.clone(), note))
    });
    said.filter(|(_, note)| !note.trim().is_empty()).collect()
}

impl Item {
    /// Whether an agent reads it: a memory is its own agent's only.
    pub(super) fn is_for(&self, agent: &Agent<'_>) -> bool {
        self.kind != Kind::Memory || self.agent.as_deref() == Some(&team::agent(&agent.seat.model))
    }

    /// Who cites it, of those who read it, in label order.
    pub(super) fn cited_by(&self, log: &Log<'_>) -> Vec<usize> {
        let cites = |place: &usize| {
            let held = log.stages.iter().filter_map(|stage| stage.held.get(*place)?.as_ref());
            held.into_iter().any(|held| {
                let claims = held.said.claims.iter().flat_map(|made| [&made.claim, &made.evidence]);
                let mut texts = claims.chain([&held.said.proposal, &held.said.position]);
                texts.any(|text| ids::cited(text).iter().any(|one| one.id == self.id && !one.foreign))
            })
        };
        let readers = log.agents.iter().enumerate().filter(|(_, agent)| self.is_for(agent));
        readers.map(|(place, _)| place).filter(cites).collect()
    }

    /// What stands in the quotation: where it is from, and what it says. What has an id in it is not of this debate.
    pub(super) fn written(&self) -> String {
        let turned_out = self.turned_out.map(|how| match how {
            TurnedOut::Right => "it turned out to be right",
            TurnedOut::Wrong => "it turned out to be wrong",
        });
        let lines = [
            ("Source", Some(self.source.as_str())),
            ("Date", self.at.as_deref()),
            ("How it turned out", turned_out),
            ("Title", Some(self.title.as_str())),
        ];
        let lines =
            lines.iter().filter_map(|(name, value)| Some((name, value.filter(|v| !v.trim().is_empty())?)));
        let head: Vec<String> = lines.map(|(name, value)| format!("{name}: {}", one_line(value))).collect();
        let written = format!("{}\n{}", head.join("\n"), self.text);
        match self.debate {
            Some(_) => ids::marked(&written, ids::OF_DEBATE, true),
            None => ids::marked(&written, ids::OF_SOURCE, false),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a source as warnings have it.
pub(super) fn source_name(seat: &str) -> String {
    match seat.strip_prefix(PULSE) {
        Some(name) => format!("the pulse source {name}"),
        None => format!("the {seat} store"),
    }
}

/// The absent sources of a debate: seat, why, and what was seen.
pub(super) fn absent<'a>(log: &'a Log<'_>) -> Vec<(&'a str, &'static str, &'a str)> {
    let turns = log.debate.turns_of("context").flat_map(Turn::absences);
    turns.map(|(asked, why, detail)| (asked.seat.as_str(), why.as_str(), detail)).collect()
}
