//! `embeddings/minilm`: sentence embeddings that are computed in this process.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_core::{CallUsage, Invalid};
use agon_embedded::EmbeddedError;
use agon_embedded::minilm::MiniLm;
use agon_embedded::model_files::{ModelFileState, ModelFileStore, known_model};
use agon_engine::{CallFault, CallFaultKind};
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{TextEmbedder, TextVectors};

/// `embeddings/minilm`: all-MiniLM-L6-v2, which knows that "cheap" and "inexpensive" mean the same. Its files are read when
/// it is first asked.
pub struct MiniLmEmbedder {
    files: ModelFileStore,
    model: OnceCell<Arc<MiniLm>>,
}

pub(super) const NAME: &str = "embeddings/minilm";
const NO_MODELS_FOLDER: &str = "there is no folder to keep its files in; set HOME or AGON_HOME";

/// Why the model cannot be used with these files; `None` if it can.
pub(super) fn problem(files: Option<&ModelFileStore>) -> Option<String> {
    match files.map(model_folder) {
        Some(Ok(_)) => None,
        Some(Err(why)) => Some(fault(&why).message),
        None => Some(format!("{NAME}: {NO_MODELS_FOLDER}")),
    }
}

/// The embedder, if its files are present.
pub(crate) fn make_minilm(files: Option<ModelFileStore>) -> Result<Arc<dyn TextEmbedder>, Invalid> {
    let files = files.ok_or_else(|| Invalid(format!("{NAME}: {NO_MODELS_FOLDER}")))?;
    Ok(Arc::new(MiniLmEmbedder::new(files)?))
}

impl MiniLmEmbedder {
    /// Checks that the model's files are present. The error says how to get them.
    pub fn new(files: ModelFileStore) -> Result<Self, Invalid> {
        model_folder(&files).map_err(|why| Invalid(fault(&why).message))?;
        Ok(Self { files, model: OnceCell::new() })
    }

    async fn model(&self) -> Result<Arc<MiniLm>, CallFault> {
        let load = || async {
            // The files may have been removed since `new`.
            let folder = model_folder(&self.files).map_err(|why| fault(&why))?;
            on_blocking_thread(move || MiniLm::open(&folder)).await.map(Arc::new)
        };
        self.model.get_or_try_init(load).await.cloned()
    }
}

impl TextEmbedder for MiniLmEmbedder {
    fn name(&self) -> &str {
        NAME
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn provider(&self) -> &str {
        "minilm"
    }

    /// A call uses all cores.
    fn at_once(&self) -> Option<usize> {
        Some(1)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<TextVectors, CallFault>> {
        Box::pin(async move {
            if texts.is_empty() {
                return Ok(TextVectors::default());
            }
            let (model, texts) = (self.model().await?, texts.to_vec());
            let wanted = WantedFlag(Arc::new(AtomicBool::new(true)));
            let is_wanted = Arc::clone(&wanted.0);
            let embed = move || model.embed_while(&texts, &|| is_wanted.load(Ordering::Relaxed));
            let embedded = on_blocking_thread(embed).await?;
            let usage = CallUsage { input_tokens: embedded.tokens, ..CallUsage::default() };
            Ok(TextVectors { vectors: embedded.vectors, usage })
        })
    }
}

impl fmt::Debug for MiniLmEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniLmEmbedder").field("files", &self.files).finish_non_exhaustive()
    }
}

/// The folder of the model's files, or why they cannot be used.
fn model_folder(files: &ModelFileStore) -> Result<PathBuf, EmbeddedError> {
    let Some(known) = known_model("minilm") else {
        return Err(EmbeddedError::File("its files are not known".into()));
    };
    Err(EmbeddedError::File(match files.state(known) {
        ModelFileState::Present { .. } => return Ok(files.model_folder(known)),
        ModelFileState::Missing => "its files are not here".into(),
        ModelFileState::Partial { .. } => "only a part of its files is here".into(),
        ModelFileState::Unchecked { .. } => "its files have not been checked".into(),
        ModelFileState::Wrong { why } => why,
    }))
}

/// Stops the computation when the call is dropped.
struct WantedFlag(Arc<AtomicBool>);

impl Drop for WantedFlag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbeddedError> + Send + 'static,
) -> Result<T, CallFault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|why| fault(&why)),
        Err(_) => {
            Err(CallFault::new(CallFaultKind::Unavailable, format!("{NAME} stopped before it was done")))
        }
    }
}

fn fault(why: &EmbeddedError) -> CallFault {
    let (kind, help) = match why {
        EmbeddedError::File(_) => (CallFaultKind::NoSuchModel, "; `agon models pull minilm` puts that right"),
        EmbeddedError::Prompt(_) | EmbeddedError::TooLong { .. } => (CallFaultKind::Rejected, ""),
        EmbeddedError::Abandoned | EmbeddedError::Arithmetic(_) | EmbeddedError::Io(_) => {
            (CallFaultKind::Unavailable, "")
        }
    };
    CallFault::new(kind, format!("{NAME}: {why}{help}"))
}
