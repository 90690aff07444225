//! The thread that a model lives on. Calls come in one after the other; one that nobody waits for any more is given up at the
//! next token.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use agon_engine::{Call, Completion, Deltas, Fault, FaultKind};
use agon_weights::State;
use candle_core::quantized::gguf_file::Content;
use tokio::sync::{mpsc as words, oneshot};

use crate::answer::answer;
use crate::broken::first_line;
use crate::chat::Template;
use crate::llama::Llama;
use crate::model::{Place, SMOLLM2, Settings};
use crate::speaker::Loaded;
use crate::vocabulary::Vocabulary;
use crate::{Broken, requantize};

/// The way to a model's thread.
pub(crate) struct Worker {
    name: Arc<str>,
    place: Place,
    settings: Settings,
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
}

struct Job {
    call: Arc<Call>,
    heard: words::UnboundedSender<String>,
    wanted: Arc<AtomicBool>,
    done: oneshot::Sender<Result<Completion, Fault>>,
}

/// Says that nobody waits any more, when it is dropped.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Worker {
    pub(crate) fn new(name: String, place: Place, settings: Settings) -> Self {
        Self { name: name.into(), place, settings, jobs: Mutex::default() }
    }

    pub(crate) async fn call(
        &self,
        call: Arc<Call>,
        deltas: Option<Deltas<'_>>,
    ) -> Result<Completion, Fault> {
        let (heard, mut words) = words::unbounded_channel();
        let (done, mut ended) = oneshot::channel();
        let wanted = Wanted(Arc::new(AtomicBool::new(true)));
        self.send(Job { call, heard, wanted: wanted.0.clone(), done })?;
        loop {
            tokio::select! {
                biased;
                Some(piece) = words.recv() => {
                    if let Some(deltas) = deltas {
                        deltas(&piece);
                    }
                }
                ended = &mut ended => return ended.unwrap_or_else(|_| Err(self.lost())),
            }
        }
    }

    /// Hands the job to the thread, which is started for the first.
    fn send(&self, job: Job) -> Result<(), Fault> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match jobs.as_ref() {
            Some(jobs) => match jobs.send(job) {
                Ok(()) => return Ok(()),
                // The thread has ended: another takes its place.
                Err(mpsc::SendError(job)) => job,
            },
            None => job,
        };
        let (sender, receiver) = mpsc::channel();
        let (name, place, settings) = (self.name.clone(), self.place.clone(), self.settings.clone());
        let thread = std::thread::Builder::new().name("embedded".into());
        let started = thread.spawn(move || work(&receiver, &name, &place, &settings));
        started.map_err(|why| {
            Fault::new(FaultKind::Unavailable, format!("{} cannot be started: {why}", self.name))
        })?;
        let sent = sender.send(job).map_err(|_| self.lost());
        *jobs = Some(sender);
        sent
    }

    fn lost(&self) -> Fault {
        Fault::new(FaultKind::Unavailable, format!("{} stopped in the middle of an answer", self.name))
    }
}

fn work(jobs: &mpsc::Receiver<Job>, name: &str, place: &Place, settings: &Settings) {
    let mut loaded = None;
    while let Ok(Job { call, heard, wanted, done }) = jobs.recv() {
        let go_on = || wanted.load(Ordering::Relaxed);
        let hear = |piece: &str| {
            // Whoever asked may be gone; the next token finds that out.
            let _ = heard.send(piece.to_owned());
        };
        let answered = load(&mut loaded, place, settings)
            .and_then(|loaded| answer(loaded, &call, settings, &go_on, &hear))
            .map(|answered| Completion { model: name.to_owned(), ..answered })
            .map_err(|why| fault(name, &why));
        let _ = done.send(answered);
    }
}

fn load<'a>(
    loaded: &'a mut Option<Loaded>,
    place: &Place,
    settings: &Settings,
) -> Result<&'a mut Loaded, Broken> {
    if loaded.is_none() {
        *loaded = Some(open(&file(place)?, settings)?);
    }
    loaded.as_mut().ok_or(Broken::Abandoned)
}

/// Reads a model's file.
pub(crate) fn open(path: &std::path::Path, settings: &Settings) -> Result<Loaded, Broken> {
    let shown = path.display();
    let file = File::open(path).map_err(|why| Broken::File(format!("{shown} cannot be read: {why}")))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let content = Content::read(&mut file)
        .map_err(|why| Broken::File(format!("{shown} is no GGUF file: {}", first_line(&why))))?;
    let within = |why: Broken| match why {
        Broken::File(why) => Broken::File(format!("{shown} cannot be used: {why}")),
        other => other,
    };
    let vocabulary = Vocabulary::of(&content).map_err(within)?;
    let template = Template::of(&content, &vocabulary).map_err(within)?;
    let llama = Llama::read(&content, &mut file, settings.context).map_err(within)?;
    Ok(Loaded { llama, vocabulary, template, guide: None })
}

/// The file to read: the small model's is kept in the form that is computed fastest.
fn file(place: &Place) -> Result<PathBuf, Broken> {
    let shelf = match place {
        Place::File(path) => return Ok(path.clone()),
        Place::Shelf(shelf) => shelf,
    };
    let pull = format!("`agon models pull {SMOLLM2}` fetches it");
    let known = agon_weights::known(SMOLLM2).ok_or_else(|| Broken::File("it is not known".into()))?;
    if let Some(made) = shelf.made(known, requantize::NAME) {
        return Ok(made);
    }
    let paths = match shelf.state(known) {
        State::Present { paths } => paths,
        State::Missing | State::Partial { .. } => {
            return Err(Broken::File(format!("its file is not here: {pull}")));
        }
        State::Unchecked { .. } => {
            return Err(Broken::File(format!("its file has not been checked: {pull}")));
        }
        State::Wrong { why } => return Err(Broken::File(format!("{why}: {pull}"))),
    };
    let Some(from) = paths.first() else { return Err(Broken::File(format!("its file is not here: {pull}"))) };
    let kept =
        shelf.keep_derived(known, requantize::NAME, |to| requantize::requantize(from, to).map_err(io_error));
    // A shelf that cannot be written to costs time and nothing else: the slow form is made fast while it is read.
    Ok(kept.unwrap_or_else(|_| from.clone()))
}

fn io_error(why: Broken) -> std::io::Error {
    match why {
        Broken::Io(why) => why,
        other => std::io::Error::other(other),
    }
}

fn fault(name: &str, why: &Broken) -> Fault {
    let kind = match why {
        Broken::File(_) => FaultKind::NoSuchModel,
        Broken::Prompt(_) | Broken::TooLong { .. } => FaultKind::Rejected,
        Broken::Abandoned | Broken::Arithmetic(_) | Broken::Io(_) => FaultKind::Unavailable,
    };
    Fault::new(kind, format!("{name}: {why}"))
}
