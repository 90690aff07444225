//! A model of this program's own, as the engine calls one.

use std::path::PathBuf;
use std::sync::Arc;

use agon_core::Invalid;
use agon_engine::{Call, Completion, Deltas, Fault, Model, Price};
use agon_weights::Shelf;
use futures_util::future::BoxFuture;

use crate::worker::Worker;

/// What a person can set about embedded models: `[embedded]` in `agon.toml`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The most tokens that a model reads and writes in one call; never more than its file allows. Memory grows with it.
    pub context: usize,
    /// How structured answers are made; by the model's size when not given.
    pub structured: Option<Structured>,
    /// How many threads compute; as many as the machine has cores when not given.
    pub threads: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { context: 4096, structured: None, threads: None }
    }
}

/// How a model that runs here makes a structured answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Structured {
    /// Field by field, in plain words: for small models.
    Fields,
    /// As JSON that is held to its schema while it is written: for models that can write JSON.
    Schema,
}

impl Settings {
    /// Refuses what cannot work, and says where it stands.
    pub fn check(&self) -> Result<(), Invalid> {
        const LEAST: usize = 512;
        const MOST: usize = 1 << 20;
        if !(LEAST..=MOST).contains(&self.context) {
            return Err(Invalid(format!("[embedded] context must be from {LEAST} to {MOST} tokens")));
        }
        match self.threads {
            Some(0 | 1025..) => Err(Invalid("[embedded] threads must be from 1 to 1024".into())),
            _ => Ok(()),
        }
    }
}

/// Where a model's file is.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// One that Agon knows and keeps on its shelf.
    Shelf(Shelf),
    /// A file of the user's.
    File(PathBuf),
}

/// A model that runs in this program. Its file is read when it is first called.
pub struct Embedded {
    name: String,
    worker: Worker,
    tiny: bool,
}

/// What the small model is called, here and on the shelf.
pub const SMOLLM2: &str = "smollm2";

impl Embedded {
    /// The model that stands after `embedded/`: `smollm2`, which lies on the shelf once it is pulled, or the path of a GGUF file.
    pub fn new(model: &str, shelf: Option<Shelf>, settings: Settings) -> Result<Self, Invalid> {
        settings.check()?;
        let name = format!("embedded/{model}");
        let tiny = model == SMOLLM2;
        let place = match (tiny, shelf) {
            (true, Some(shelf)) => Place::Shelf(shelf),
            (true, None) => {
                return Err(Invalid(format!("{name} has no place to be kept: set HOME or AGON_HOME")));
            }
            _ if is_gguf(model) => Place::File(existing(model, &name)?),
            _ => {
                return Err(Invalid(format!(
                    "there is no embedded model {model:?}; there is embedded/{SMOLLM2}, and embedded/PATH.gguf for a file of yours"
                )));
            }
        };
        Ok(Self { worker: Worker::new(name.clone(), place, settings), name, tiny })
    }
}

impl Model for Embedded {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "embedded"
    }

    fn price(&self) -> Price {
        Price::Free
    }

    /// One after the other: they share the machine's cores, and what is read once is there for the next.
    fn at_once(&self) -> Option<usize> {
        Some(1)
    }

    fn notice(&self, _question: &str) -> Option<String> {
        self.tiny.then(|| {
            "embedded/smollm2 is a tiny model (135 million parameters) that shows how a debate runs; do not trust what it \
             says. To seat better ones: --models openai/MODEL, anthropic/MODEL or gemini/MODEL with a key, ollama/MODEL with \
             Ollama running here, or embedded/PATH.gguf; `agon doctor` says what is there."
                .to_owned()
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(self.worker.call(Arc::new(call.clone()), deltas))
    }
}

fn is_gguf(model: &str) -> bool {
    model.to_ascii_lowercase().ends_with(".gguf")
}

/// A file that is there: a mistyped path is found out before anything is paid for.
fn existing(path: &str, name: &str) -> Result<PathBuf, Invalid> {
    let path = PathBuf::from(path);
    match path.is_file() {
        true => Ok(path),
        false => Err(Invalid(format!("{name}: there is no file {}", path.display()))),
    }
}
