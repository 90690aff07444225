//! The old names of public items, for crates that still use them. To be deleted after their last use.

use std::sync::Arc;

use agon_core::Invalid;

use crate::human::TerminalPauseHook;
use crate::{ModelCatalogue, TerminalPrompt, TextEmbedder};

#[doc(hidden)]
pub use crate::TextEmbedder as Embed;
#[doc(hidden)]
pub use agon_host::kill_all_groups as kill_commands;

#[doc(hidden)]
pub type EmbeddedConfig = crate::EmbeddedSettings;
#[doc(hidden)]
pub type Aside = TerminalPauseHook;
#[doc(hidden)]
pub type Catalogue = ModelCatalogue;
#[doc(hidden)]
pub type Config = crate::ModelsConfig;
#[doc(hidden)]
pub type Desk = TerminalPrompt;
#[doc(hidden)]
pub type Probe = crate::ProviderProbe;

impl ModelCatalogue {
    #[doc(hidden)]
    #[must_use]
    pub fn with_desk(self, desk: Arc<TerminalPrompt>) -> Self {
        self.with_terminal(desk)
    }

    #[doc(hidden)]
    pub fn vectors(&self, name: &str) -> Result<Option<Arc<dyn TextEmbedder>>, Invalid> {
        self.text_embedder(name)
    }
}

impl TerminalPrompt {
    #[doc(hidden)]
    pub fn here() -> Self {
        Self::on_this_terminal()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_aside(self, hook: TerminalPauseHook) -> Self {
        self.with_pause_hook(hook)
    }
}
