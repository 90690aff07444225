//! What takes the place of embedded models in a build without the feature `embedded`: errors that say so.

use std::path::Path;
use std::sync::Arc;

use agon_core::Invalid;
use agon_engine::Model;

/// The name of the model that a build with embedded models has.
pub const SMOLLM2: &str = "smollm2";
/// Why an embedded model cannot be used.
pub(crate) const BUILT_WITHOUT: &str = "this agon was built without embedded models";

/// `[embedded]` in `agon.toml`. It is read so that the same file works with every build, and has no effect in this one.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddedSettings {
    /// The most tokens of one call.
    pub context: usize,
    /// How structured answers are made.
    pub structured: Option<String>,
    /// How many threads compute.
    pub threads: Option<usize>,
}

impl EmbeddedSettings {
    /// Accepts everything.
    pub fn check(&self) -> Result<(), Invalid> {
        Ok(())
    }
}

/// The folder of model files, which this build does not use.
#[derive(Debug)]
pub(crate) struct ModelFileStore;

impl ModelFileStore {
    pub(crate) fn new(_: impl AsRef<Path>) -> Self {
        Self
    }
}

/// Refuses the model `embedded/NAME`.
pub(crate) fn make_embedded_model(
    name: &str,
    _: Option<ModelFileStore>,
    _: &EmbeddedSettings,
) -> Result<Arc<dyn Model>, Invalid> {
    Err(Invalid(format!("embedded/{name}: {BUILT_WITHOUT}; name another model")))
}
