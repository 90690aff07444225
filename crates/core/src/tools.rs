//! Tools at the table: what seats may ask to have looked up, and what was found.
//!
//! The tools of a debate are written into the brief when it is opened, as the file of the part [`TOOLS`]. A reply may carry
//! requests. They are run as errands in a phase of their own, so the log has what was found and a replay runs nothing. What was
//! found has an id, `E1`, `E2`..., and all seats read it. A protocol sees neither that phase nor the requests: it sees the items in
//! [`Debate::items`](crate::Debate::items).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Brief, BriefFile, Corrupt, PhaseInfo};

/// The part of a brief that holds the tools: a JSON object, [`TableTools`].
pub const TOOLS: &str = "tools";
/// The phase in which requests are run, and the seat that its asks have.
pub const TOOLS_PHASE: &str = "tools";
/// How the model of an errand for a tool begins: `tool/files`.
pub const TOOL_PREFIX: &str = "tool/";
/// What readers are told of the phase.
pub static TOOLS_INFO: PhaseInfo =
    PhaseInfo::lookup(TOOLS_PHASE, "What was looked up", "looking up what the seats asked for");

/// The most requests of one seat that are run after a phase.
pub const SEAT_REQUESTS_MAX: usize = 3;
/// The most requests that are run in one round.
pub const ROUND_REQUESTS_MAX: usize = 12;
/// The most requests that are run in a debate, unless the user sets another number.
pub const DEBATE_REQUESTS_DEFAULT: u32 = 24;
/// How many tokens all items of a debate may have, unless the user sets another number.
pub const ITEM_TOKENS_DEFAULT: u64 = 24_000;

/// The tools of a debate, and the limits on their use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableTools {
    /// What seats may ask for.
    pub offers: Vec<ToolOffer>,
    /// The most requests that are run.
    pub calls: u32,
    /// How many tokens all items may have.
    pub tokens: u64,
    /// The folder that `files` reads: a debate that is continued elsewhere still reads this one. `~` is the user's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// A tool as the seats are told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOffer {
    /// Its name: `files`, or `docs.search` for a tool of the server `docs`.
    pub name: String,
    /// What it does, in a sentence or two.
    pub about: String,
    /// The JSON Schema of its arguments.
    pub arguments: Value,
}

/// What a seat asks to have looked up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Value,
    /// What the seat wants to know.
    #[serde(default)]
    pub why: String,
}

/// What a tool answers: the reply to the errand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// Where the text comes from: `src/main.rs, lines 1 to 40 of 212`.
    pub source: String,
    /// What was found.
    #[serde(default)]
    pub text: String,
    /// Why nothing was looked up, for the seat that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Something that a seat asked for, with what came of it, or a text that the person attached. Seats cite it by its id.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolItem {
    /// `E1`, `E2`..., numbered over the whole debate; `K1`, `K2`... for what the person attached.
    pub id: String,
    /// The tool's name; `context` for what the person attached.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Who asked for it; nobody asked for what the person attached.
    pub askers: Vec<ItemAsker>,
    /// Whether it was run, or is about to be. A request that a limit stopped was not.
    pub was_run: bool,
    /// What came of it.
    pub finding: ItemFinding,
    /// The seats read it from this turn on. The turns are counted as the protocol sees them.
    pub from_turn: usize,
}

/// Who asked for an item, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemAsker {
    /// The seat.
    pub seat: String,
    /// Its label, where it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The round in which it asked.
    pub round: u32,
    /// What it wanted to know, in its own words.
    pub why: String,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemFinding {
    /// It was not run yet.
    Pending,
    /// What was found, and where.
    Found {
        /// Where the text comes from.
        source: String,
        /// What was found.
        text: String,
    },
    /// Nothing was looked up, or nothing could be.
    Refused(String),
    /// It does not fit into what items may add to the debate. It is not shown.
    LeftOut {
        /// Where the text comes from.
        source: String,
        /// How long it is.
        tokens: u64,
        /// How many tokens were left.
        left: u64,
    },
}

/// What readers are told of an item. The JSON outcome lists them as `items`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemRecord {
    /// `E1`, `E2`..., or `K1`, `K2`...
    pub id: String,
    /// The tool's name; `context` for what the person attached.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// What came of the request.
    pub status: ItemStatus,
    /// Where the text comes from.
    pub source: Option<String>,
    /// Why nothing is shown.
    pub detail: Option<String>,
    /// Who asked for it, and why.
    pub asked_by: Vec<ItemAsker>,
    /// Who cited it.
    pub cited_by: Vec<ItemCitation>,
    /// Who changed its position on it.
    pub changed: Vec<ItemCitation>,
}

/// What came of a request, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// It was not run yet.
    Pending,
    /// Something was found.
    Found,
    /// Nothing was looked up.
    Refused,
    /// What was found did not fit.
    LeftOut,
}

/// Who cited an item, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemCitation {
    /// The seat.
    pub seat: String,
    /// Its label, where it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The round.
    pub round: u32,
    /// Whether words of the item are quoted exactly.
    pub verified: bool,
}

impl TableTools {
    /// The tools as a file of a brief.
    pub fn file(&self) -> Result<BriefFile, Corrupt> {
        let text = serde_json::to_string(self)?;
        Ok(BriefFile { path: TOOLS.to_owned(), text, part: Some(TOOLS.to_owned()) })
    }
}

impl ToolItem {
    /// Whether the person attached it. Otherwise a seat asked for it.
    pub fn is_attached(&self) -> bool {
        self.askers.is_empty()
    }

    /// What was found; `None` if the item shows nothing that could be cited.
    pub fn text(&self) -> Option<&str> {
        match &self.finding {
            ItemFinding::Found { text, .. } => Some(text),
            ItemFinding::Pending | ItemFinding::Refused(_) | ItemFinding::LeftOut { .. } => None,
        }
    }
}

/// Roughly how many tokens a text has. No tokenizer is asked, because the same log must always give the same items.
pub fn estimated_tokens(text: &str) -> u64 {
    const BYTES_PER_TOKEN: usize = 4;
    text.len().div_ceil(BYTES_PER_TOKEN) as u64
}

/// The tools of a debate; `None` if it has none. [`check_values`](crate::protocol::check_values) refuses a brief whose tools
/// cannot be read, so nobody reads them here.
pub fn table_tools(brief: &Brief) -> Option<TableTools> {
    read_tools(brief).unwrap_or_default()
}

/// The tools in a brief, or why they cannot be read.
pub(crate) fn read_tools(brief: &Brief) -> Result<Option<TableTools>, Corrupt> {
    Ok(brief.part(TOOLS).map(|file| serde_json::from_str(&file.text)).transpose()?)
}
