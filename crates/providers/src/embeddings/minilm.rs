//! `embeddings/minilm`: sentence embeddings that are computed here.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_core::{Invalid, Usage};
use agon_embedded::Broken;
use agon_embedded::minilm;
use agon_embedded::{Shelf, State};
use agon_engine::{Fault, FaultKind};
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{Embed, Embedded};

/// `embeddings/minilm`: all-MiniLM-L6-v2, which knows that "cheap" and "inexpensive" mean the same. Its files are read when it is
/// first asked.
pub struct MiniLm {
    shelf: Shelf,
    model: OnceCell<Arc<minilm::MiniLm>>,
}

pub(crate) const NAME: &str = "embeddings/minilm";
/// What its files are called on the shelf.
const FILES: &str = "minilm";
pub(crate) const NO_SHELF: &str = "there is no folder to keep its files in; set HOME or AGON_HOME";

impl MiniLm {
    /// The model whose files are on this shelf, or a sentence that says how they get there.
    pub fn new(shelf: Shelf) -> Result<Self, Invalid> {
        folder(&shelf).map_err(|why| Invalid(fault(&why).message))?;
        Ok(Self { shelf, model: OnceCell::new() })
    }

    async fn model(&self) -> Result<Arc<minilm::MiniLm>, Fault> {
        let read = || async {
            // They may be gone since the model was named.
            let folder = folder(&self.shelf).map_err(|why| fault(&why))?;
            aside(move || minilm::MiniLm::open(&folder)).await.map(Arc::new)
        };
        self.model.get_or_try_init(read).await.cloned()
    }
}

impl Embed for MiniLm {
    fn name(&self) -> &str {
        NAME
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn provider(&self) -> &str {
        "minilm"
    }

    /// One after the other: each takes all cores that it can get.
    fn at_once(&self) -> Option<usize> {
        Some(1)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, Fault>> {
        Box::pin(async move {
            if texts.is_empty() {
                return Ok(Embedded::default());
            }
            let (model, texts) = (self.model().await?, texts.to_vec());
            let wanted = Wanted(Arc::new(AtomicBool::new(true)));
            let go_on = Arc::clone(&wanted.0);
            let read = aside(move || model.embed_while(&texts, &|| go_on.load(Ordering::Relaxed))).await?;
            let usage = Usage { input_tokens: read.tokens, ..Usage::default() };
            Ok(Embedded { vectors: read.vectors, usage })
        })
    }
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniLm").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}

/// The folder of its files, or why they cannot be used.
pub(super) fn folder(shelf: &Shelf) -> Result<PathBuf, Broken> {
    let Some(known) = agon_embedded::known(FILES) else {
        return Err(Broken::File("its files are not known".into()));
    };
    Err(Broken::File(match shelf.state(known) {
        State::Present { .. } => return Ok(shelf.place(known)),
        State::Missing => "its files are not here".into(),
        State::Partial { .. } => "only a part of its files is here".into(),
        State::Unchecked { .. } => "its files have not been checked".into(),
        State::Wrong { why } => why,
    }))
}

/// Says that nobody waits any more, when it is dropped.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Runs what takes long on a thread of its own.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Broken> + Send + 'static,
) -> Result<T, Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|why| fault(&why)),
        Err(_) => {
            Err(Fault::new(FaultKind::Unavailable, format!("{NAME} stopped in the middle of its work")))
        }
    }
}

pub(super) fn fault(why: &Broken) -> Fault {
    let (kind, help) = match why {
        Broken::File(_) => (FaultKind::NoSuchModel, "; `agon models pull minilm` puts that right"),
        Broken::Prompt(_) | Broken::TooLong { .. } => (FaultKind::Rejected, ""),
        Broken::Abandoned | Broken::Arithmetic(_) | Broken::Io(_) => (FaultKind::Unavailable, ""),
    };
    Fault::new(kind, format!("{NAME}: {why}{help}"))
}
