//! Where a debate was held, and what kind of models spoke in it.
//!
//! What a rated debate leaves in knowledge, memories and ratings reaches later debates elsewhere, so a reader must be able to see
//! where it comes from. The provenance is written into the brief when the debate is opened, as the file of the part
//! [`PROVENANCE`]. Whether the debate leaves anything therefore follows from the log alone.

use serde::{Deserialize, Serialize};

use crate::{Brief, BriefFile, Corrupt, wording};

/// The part of a brief that holds the provenance: a JSON object, [`DebateProvenance`].
pub const PROVENANCE: &str = "provenance";

/// Where a debate was held, and what kind of models spoke in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DebateProvenance {
    /// The folder in which it was held. `~` is the user's home.
    pub folder: String,
    /// Whether it used options of an `agon.toml` that was found there and that the user did not name.
    pub found_configuration: bool,
    /// The kinds of models in its seats, each once.
    pub models: Vec<ModelKind>,
    /// Whether the user asked that later debates know of it in any case.
    pub remember: bool,
}

/// What answers in a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// A provider or another server.
    Server,
    /// A model that runs in the process.
    Embedded,
    /// A program on this machine.
    Command,
    /// A person.
    Human,
    /// Canned replies.
    Script,
    /// A made-up seat of a simulation.
    Simulated,
}

impl ModelKind {
    /// The kind of a model by its name. `None` for what looks something up and has no opinion.
    pub fn of_model(name: &str) -> Option<Self> {
        match name.trim().split_once('/').map_or("", |(provider, _)| provider) {
            "embedded" => Some(Self::Embedded),
            "command" => Some(Self::Command),
            "human" => Some(Self::Human),
            "script" => Some(Self::Script),
            "population" => Some(Self::Simulated),
            "context" | "pulse" | "embeddings" | "tool" => None,
            _ => Some(Self::Server),
        }
    }

    fn is_made_up(self) -> bool {
        matches!(self, Self::Script | Self::Simulated)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Embedded => "embedded",
            Self::Command => "command",
            Self::Human => "human",
            Self::Script => "script",
            Self::Simulated => "simulated",
        }
    }
}

impl DebateProvenance {
    /// The provenance as a file of a brief.
    pub fn file(&self) -> Result<BriefFile, Corrupt> {
        let text = serde_json::to_string(self)?;
        Ok(BriefFile { path: PROVENANCE.to_owned(), text, part: Some(PROVENANCE.to_owned()) })
    }

    /// Why later debates may not know of this one. `None` if they may.
    pub fn reason_to_forget(&self) -> Option<&'static str> {
        if self.remember {
            None
        } else if self.models.iter().any(|kind| kind.is_made_up()) {
            Some("a script spoke in it")
        } else if self.found_configuration {
            Some("it used an agon.toml that was found in its folder")
        } else {
            None
        }
    }

    /// In words: `~/work, server and script models, with an agon.toml that was found there`.
    pub fn words(&self) -> String {
        let kinds: Vec<String> = self.models.iter().map(|kind| kind.word().to_owned()).collect();
        let models = if kinds.is_empty() {
            "no model".to_owned()
        } else {
            format!("{} models", wording::joined(&kinds))
        };
        let found = if self.found_configuration { ", with an agon.toml that was found there" } else { "" };
        format!("{}, {models}{found}", self.folder)
    }
}

/// The provenance of a debate with this brief, if its log has one. [`check_values`](crate::protocol::check_values) refuses a brief
/// whose provenance cannot be read, so nobody reads one here.
pub fn provenance(brief: &Brief) -> Option<DebateProvenance> {
    read_provenance(brief).ok().flatten()
}

/// The provenance in a brief, or why it cannot be read.
pub(crate) fn read_provenance(brief: &Brief) -> Result<Option<DebateProvenance>, Corrupt> {
    brief.part(PROVENANCE).map(|file| Ok(serde_json::from_str(&file.text)?)).transpose()
}
