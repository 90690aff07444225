//! A model that runs in this process, as the engine calls it.

use std::path::PathBuf;
use std::sync::Arc;

use agon_core::Invalid;
use agon_engine::{CallFault, DeltaSink, Model, ModelCall, ModelCompletion, ModelPrice};
use futures_util::future::BoxFuture;

use crate::model_files::ModelFileStore;
use crate::model_thread::ModelThread;

/// The settings of embedded models: `[embedded]` in `agon.toml`.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddedSettings {
    /// The most tokens that a model reads and writes in one call; never more than its file allows. Memory grows with it.
    pub context: usize,
    /// How structured answers are made. By default the model's size decides.
    pub structured: Option<StructuredStrategy>,
    /// How many threads compute. By default, and at most, one for each core.
    pub threads: Option<usize>,
}

impl Default for EmbeddedSettings {
    fn default() -> Self {
        Self { context: 4096, structured: None, threads: None }
    }
}

/// How an embedded model makes a structured answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StructuredStrategy {
    /// One plain question per field: for small models.
    Fields,
    /// JSON that is forced to follow its schema: for models that can write JSON.
    Schema,
}

impl EmbeddedSettings {
    /// Rejects values that cannot work, in a sentence that names the key.
    pub fn check(&self) -> Result<(), Invalid> {
        const CONTEXT_MIN: usize = 512;
        const CONTEXT_MAX: usize = 1 << 20;
        if !(CONTEXT_MIN..=CONTEXT_MAX).contains(&self.context) {
            return Err(Invalid(format!(
                "[embedded] context must be from {CONTEXT_MIN} to {CONTEXT_MAX} tokens"
            )));
        }
        match self.threads {
            Some(0 | 1025..) => Err(Invalid("[embedded] threads must be from 1 to 1024".into())),
            _ => Ok(()),
        }
    }
}

/// Where a model's file is.
#[derive(Debug, Clone)]
pub(crate) enum ModelLocation {
    /// The small model, in Agon's own store.
    Store(ModelFileStore),
    /// A file of the user's.
    File(PathBuf),
}

/// A model that runs in this process. Its file is loaded at the first call.
pub struct EmbeddedModel {
    name: String,
    thread: ModelThread,
    is_tiny: bool,
}

/// The name of the small model, after `embedded/` and in the store.
pub const SMOLLM2: &str = "smollm2";

impl EmbeddedModel {
    /// The model named after `embedded/`: `smollm2`, which must have been pulled to `store`, or the path of a GGUF file.
    pub fn new(
        model: &str,
        store: Option<ModelFileStore>,
        settings: EmbeddedSettings,
    ) -> Result<Self, Invalid> {
        settings.check()?;
        let name = format!("embedded/{model}");
        let is_tiny = model == SMOLLM2;
        let location = match (is_tiny, store) {
            (true, Some(store)) => ModelLocation::Store(store),
            (true, None) => {
                return Err(Invalid(format!(
                    "there is no folder for the files of {name}: set HOME or AGON_HOME"
                )));
            }
            _ if is_gguf(model) => ModelLocation::File(existing_file(model, &name)?),
            _ => {
                return Err(Invalid(format!(
                    "there is no embedded model {model:?}; use embedded/{SMOLLM2}, or embedded/PATH.gguf for your own file"
                )));
            }
        };
        Ok(Self { thread: ModelThread::new(name.clone(), location, settings), name, is_tiny })
    }
}

impl Model for EmbeddedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "embedded"
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    /// One call at a time: calls share the machine's cores, and each reuses what the last one has read.
    fn at_once(&self) -> Option<usize> {
        Some(1)
    }

    fn notice(&self, _question: &str) -> Option<String> {
        self.is_tiny.then(|| {
            "embedded/smollm2 is a tiny model (135 million parameters) that shows how a debate runs; do not trust its \
             answers. To use better models: --models openai/MODEL, anthropic/MODEL or gemini/MODEL with a key, \
             ollama/MODEL with Ollama running here, or embedded/PATH.gguf. `agon doctor` shows what is available."
                .to_owned()
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        Box::pin(self.thread.call(Arc::new(call.clone()), deltas))
    }
}

fn is_gguf(model: &str) -> bool {
    model.to_ascii_lowercase().ends_with(".gguf")
}

/// Checks that the file exists, so that a mistyped path is found before anything is paid for.
fn existing_file(path: &str, name: &str) -> Result<PathBuf, Invalid> {
    let path = PathBuf::from(path);
    match path.is_file() {
        true => Ok(path),
        false => Err(Invalid(format!("{name}: there is no file {}", path.display()))),
    }
}
