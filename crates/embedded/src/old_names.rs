//! The former names of public items, for the crates that still use them.

use std::path::PathBuf;

use crate::model_files::{KnownModel, ModelFileStore};

#[doc(hidden)]
pub type Broken = crate::EmbeddedError;
#[doc(hidden)]
pub type Embedded = crate::EmbeddedModel;
#[doc(hidden)]
pub type Settings = crate::EmbeddedSettings;
#[doc(hidden)]
pub type Structured = crate::StructuredStrategy;

#[doc(hidden)]
pub type Known = KnownModel;
#[doc(hidden)]
pub const KNOWN: &[KnownModel] = crate::model_files::KNOWN_MODELS;
#[doc(hidden)]
pub type Shelf = ModelFileStore;
#[doc(hidden)]
pub type State = crate::model_files::ModelFileState;
#[doc(hidden)]
pub type Pulled = crate::model_files::PulledModel;
#[doc(hidden)]
pub type Source = crate::model_files::PullSource;
#[doc(hidden)]
pub type Ways = crate::model_files::PullSettings;
#[doc(hidden)]
pub type Progress = crate::model_files::PullProgress;
#[doc(hidden)]
pub type Meter = crate::model_files::SpeedMeter;
#[doc(hidden)]
pub type Pace = crate::model_files::TransferSpeed;
#[doc(hidden)]
pub use crate::model_files::PullError;
#[doc(hidden)]
pub use crate::model_files::known_model as known;

impl ModelFileStore {
    #[doc(hidden)]
    pub fn place(&self, model: &KnownModel) -> PathBuf {
        self.model_folder(model)
    }
}
