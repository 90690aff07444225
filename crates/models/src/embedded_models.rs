//! The models that run in this process, from the crate `agon-embedded`. `embedded_absent.rs` takes the place of this file in a
//! build without them.

use std::sync::Arc;

use agon_core::Invalid;
use agon_embedded::EmbeddedModel;
pub(crate) use agon_embedded::model_files::ModelFileStore;
pub use agon_embedded::{EmbeddedSettings, SMOLLM2};
use agon_engine::Model;

/// The model `embedded/NAME`.
pub(crate) fn make_embedded_model(
    name: &str,
    files: Option<ModelFileStore>,
    settings: &EmbeddedSettings,
) -> Result<Arc<dyn Model>, Invalid> {
    Ok(Arc::new(EmbeddedModel::new(name, files, settings.clone())?))
}
