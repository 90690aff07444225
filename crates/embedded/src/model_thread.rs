//! The thread that a model runs on, and how its file is loaded.
//!
//! Calls are answered one after the other. A call that nobody waits for any more is abandoned at the next token.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use agon_engine::{CallFault, CallFaultKind, DeltaSink, ModelCall, ModelCompletion};
use tokio::sync::{mpsc as async_mpsc, oneshot};

use crate::chat_template::ChatTemplate;
use crate::completion::answer_call;
use crate::conversation::LoadedModel;
use crate::embedded_model::{EmbeddedSettings, ModelLocation, SMOLLM2};
use crate::gguf_header::read_header;
use crate::llama::LlamaNetwork;
use crate::model_files::{ModelFileState, ModelFileStore, known_model};
use crate::vocabulary::TokenVocabulary;
use crate::{EmbeddedError, requantize};

/// A model's thread, which starts with the first call.
pub(crate) struct ModelThread {
    name: Arc<str>,
    location: ModelLocation,
    settings: EmbeddedSettings,
    jobs: Mutex<Option<mpsc::Sender<ModelJob>>>,
}

struct ModelJob {
    call: Arc<ModelCall>,
    deltas: async_mpsc::UnboundedSender<String>,
    wanted: Arc<AtomicBool>,
    done: oneshot::Sender<Result<ModelCompletion, CallFault>>,
}

/// Clears the flag when the caller is dropped.
struct CallerWaits(Arc<AtomicBool>);

impl Drop for CallerWaits {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl ModelThread {
    pub(crate) fn new(name: String, location: ModelLocation, settings: EmbeddedSettings) -> Self {
        Self { name: name.into(), location, settings, jobs: Mutex::default() }
    }

    pub(crate) async fn call(
        &self,
        call: Arc<ModelCall>,
        on_delta: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let (deltas, mut pieces) = async_mpsc::unbounded_channel();
        let (done, mut ended) = oneshot::channel();
        let waits = CallerWaits(Arc::new(AtomicBool::new(true)));
        self.send(ModelJob { call, deltas, wanted: waits.0.clone(), done })?;
        loop {
            tokio::select! {
                biased;
                Some(piece) = pieces.recv() => {
                    if let Some(on_delta) = on_delta {
                        on_delta(&piece);
                    }
                }
                ended = &mut ended => return ended.unwrap_or_else(|_| Err(self.stopped())),
            }
        }
    }

    /// Sends the job to the thread, and starts the thread if it does not run.
    fn send(&self, job: ModelJob) -> Result<(), CallFault> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match jobs.as_ref() {
            Some(jobs) => match jobs.send(job) {
                Ok(()) => return Ok(()),
                // The thread has ended: start another.
                Err(mpsc::SendError(job)) => job,
            },
            None => job,
        };
        let (sender, receiver) = mpsc::channel();
        let (name, location, settings) = (self.name.clone(), self.location.clone(), self.settings.clone());
        let thread = std::thread::Builder::new().name("embedded".into());
        let started = thread.spawn(move || answer_jobs(&receiver, &name, &location, &settings));
        started.map_err(|why| {
            CallFault::new(CallFaultKind::Unavailable, format!("{} cannot be started: {why}", self.name))
        })?;
        let sent = sender.send(job).map_err(|_| self.stopped());
        *jobs = Some(sender);
        sent
    }

    fn stopped(&self) -> CallFault {
        CallFault::new(
            CallFaultKind::Unavailable,
            format!("{} stopped in the middle of an answer", self.name),
        )
    }
}

fn answer_jobs(
    jobs: &mpsc::Receiver<ModelJob>,
    name: &str,
    location: &ModelLocation,
    settings: &EmbeddedSettings,
) {
    let mut loaded = None;
    while let Ok(ModelJob { call, deltas, wanted, done }) = jobs.recv() {
        let is_wanted = || wanted.load(Ordering::Relaxed);
        let on_delta = |piece: &str| {
            // If the caller is gone, the next token notices.
            let _ = deltas.send(piece.to_owned());
        };
        let answered = load_once(&mut loaded, location, settings)
            .and_then(|model| answer_call(model, &call, settings, &is_wanted, &on_delta))
            .map(|completion| ModelCompletion { model: name.to_owned(), ..completion })
            .map_err(|why| fault_of(name, &why));
        let _ = done.send(answered);
    }
}

fn load_once<'a>(
    loaded: &'a mut Option<LoadedModel>,
    location: &ModelLocation,
    settings: &EmbeddedSettings,
) -> Result<&'a mut LoadedModel, EmbeddedError> {
    match loaded {
        Some(model) => Ok(model),
        None => Ok(loaded.insert(load_model(&model_path(location)?, settings)?)),
    }
}

fn load_model(path: &Path, settings: &EmbeddedSettings) -> Result<LoadedModel, EmbeddedError> {
    let shown = path.display();
    let file =
        File::open(path).map_err(|why| EmbeddedError::File(format!("{shown} cannot be read: {why}")))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    read_model(&mut file, settings).map_err(|why| match why {
        EmbeddedError::File(why) => EmbeddedError::File(format!("{shown} cannot be used: {why}")),
        other => other,
    })
}

/// Reads a model from the start of its file. The sentence of an error follows the name of the file.
pub(crate) fn read_model(
    file: &mut (impl Read + Seek),
    settings: &EmbeddedSettings,
) -> Result<LoadedModel, EmbeddedError> {
    let content = read_header(file)?;
    let vocabulary = TokenVocabulary::of(&content)?;
    let template = ChatTemplate::of(&content, &vocabulary)?;
    let network = LlamaNetwork::read(&content, file, settings)?;
    Ok(LoadedModel { network, vocabulary, template, compiler: None })
}

/// Makes the copy of the small model's file that is loaded fastest, unless it exists. The first call would do it otherwise. Returns
/// whether there is one: without its file, or in a folder that cannot be written, there is none.
pub fn prepare_small_model(store: &ModelFileStore) -> bool {
    let is_prepared = || {
        let model = known_model(SMOLLM2)?;
        store.existing_derived(model, requantize::FAST_COPY_NAME)
    };
    is_prepared().is_some()
        || (model_path(&ModelLocation::Store(store.clone())).is_ok() && is_prepared().is_some())
}

/// The file to load. The small model is kept in the format that computes fastest.
fn model_path(location: &ModelLocation) -> Result<PathBuf, EmbeddedError> {
    let store = match location {
        ModelLocation::File(path) => return Ok(path.clone()),
        ModelLocation::Store(store) => store,
    };
    let model = known_model(SMOLLM2)
        .ok_or_else(|| EmbeddedError::File("it is not in the table of known models".into()))?;
    if let Some(path) = store.existing_derived(model, requantize::FAST_COPY_NAME) {
        return Ok(path);
    }
    let refused =
        |why: &str| EmbeddedError::File(format!("{why}: `agon models pull {SMOLLM2}` downloads it"));
    let paths = match store.state(model) {
        ModelFileState::Present { paths } => paths,
        ModelFileState::Missing | ModelFileState::Partial { .. } => {
            return Err(refused("its file is not on this machine"));
        }
        ModelFileState::Unchecked { .. } => return Err(refused("its file has not been checked")),
        ModelFileState::Wrong { why } => return Err(refused(&why)),
    };
    let Some(original) = paths.first() else { return Err(refused("its file is not on this machine")) };
    let made = store.make_derived(model, requantize::FAST_COPY_NAME, |copy| {
        requantize::write_fast_copy(original, copy).map_err(into_io_error)
    });
    // If the store cannot be written, loading only takes longer: the weights are then converted while they are read.
    Ok(made.unwrap_or_else(|_| original.clone()))
}

fn into_io_error(why: EmbeddedError) -> std::io::Error {
    match why {
        EmbeddedError::Io(why) => why,
        other => std::io::Error::other(other),
    }
}

fn fault_of(name: &str, why: &EmbeddedError) -> CallFault {
    let kind = match why {
        EmbeddedError::File(_) => CallFaultKind::NoSuchModel,
        EmbeddedError::Prompt(_) | EmbeddedError::TooLong { .. } => CallFaultKind::Rejected,
        EmbeddedError::Abandoned | EmbeddedError::Arithmetic(_) | EmbeddedError::Io(_) => {
            CallFaultKind::Unavailable
        }
    };
    CallFault::new(kind, format!("{name}: {why}"))
}
