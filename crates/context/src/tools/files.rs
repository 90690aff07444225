//! `files`: reads, searches and lists what is under one folder.
//!
//! Nothing outside the folder can be reached: the folder is opened once, part by part and without following links, a path has no `..` and
//! does not begin at the root, and every part of it is opened in the same way, from the folder down. Only regular files are read. Files
//! that usually hold secrets are refused, because what a tool returns is sent to all models of the debate.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Read};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use agon_core::{Invalid, ToolOffer};
use agon_host::visible_text;
use caseless::Caseless;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use memchr::{memchr, memchr_iter, memrchr};
use regex::{Regex, RegexBuilder};
#[cfg(unix)]
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use serde_json::{Value, json};

use super::{LookupRequest, LookupResult, LookupTool, ToolsConfig, add_lines};

/// Its name.
pub const NAME: &str = "files";
const TIMEOUT: Duration = Duration::from_secs(20);
/// A larger file is not read at all.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The most lines of one item.
const LINES_MAX: usize = 400;
/// A longer line is cut, with a mark.
const LINE_CHARS_MAX: usize = 400;
/// The most lines that a search shows, and the most of one file.
const MATCHES_MAX: usize = 60;
const FILE_MATCHES_MAX: usize = 12;
/// The most files that a search opens.
const SEARCHED_FILES_MAX: usize = 20_000;
/// The most entries of a folder that are shown.
const ENTRIES_MAX: usize = 300;
/// The most entries that a request looks at, in all folders together. A search holds the names of a folder until it has been there.
const ENTRIES_READ_MAX: usize = 50_000;
/// A search stops after this time, and says so. It is shorter than what a request may take.
const SEARCH_TIME: Duration = Duration::from_secs(15);
/// Folders that lie deeper are not searched.
const DEPTH_MAX: usize = 64;
/// Files that say what a search leaves out. The rules of the last one count most.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// How long all ignore files together may be that count at one place. One that does not fit is not used, because rules take several
/// hundred times their length in memory.
const IGNORE_BYTES_MAX: usize = 64 * 1024;
/// How large a compiled expression may be: ten times a `\w`, which takes 45 KB. The time for a line is that size times the length of
/// the line.
const REGEX_BYTES_MAX: usize = 512 * 1024;
/// How much of a line an expression is compared with. The time limit is checked between lines.
const SEARCHED_LINE_BYTES_MAX: usize = 2 * 1024;
const QUERY_CHARS_MAX: usize = 200;

/// Names that are never read, because secrets are in such files. A `*` stands for anything.
const REFUSED_NAMES: &[&str] = &[
    "*.git",
    ".git-credentials",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".docker",
    ".kube",
    ".password-store",
    ".env*",
    "*.env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc*",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
    ".*_history",
    "credentials",
    "credentials.toml",
    "*credentials.json",
    // gcloud keeps these in a folder whose name many a project has, too.
    "credentials.db",
    "access_tokens.db",
    "legacy_credentials",
    ".dockercfg",
    "kubeconfig",
    "*.tfstate",
    "*.tfstate.*",
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "secring.*",
    "id_rsa*",
    "id_dsa*",
    "id_ed25519*",
    "id_ecdsa*",
];
/// What a copy of a file has behind its name.
const COPY_ENDS: &[&str] = &[".bak", ".old", ".orig", ".backup", "~"];

/// Reads under one folder.
#[derive(Debug, Clone)]
pub struct FilesTool {
    /// Without links.
    root: PathBuf,
    /// What was found there. The path may lead elsewhere later.
    #[cfg(unix)]
    opened: Arc<File>,
}

/// What seats are told of it.
pub fn offer() -> ToolOffer {
    ToolOffer {
        name: NAME.to_owned(),
        about: "Reads under one folder. With `path` of a file: its lines, with numbers, from `from` to `to`. With `path` of a folder: \
                what is in it. With `query`: the lines of all files, or of those under `path`, that contain all its words; a query \
                with other signs than letters and digits is a regular expression."
            .to_owned(),
        arguments: json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "a path below the folder, such as src/main.rs"},
                "from": {"type": "integer", "description": "the first line"},
                "to": {"type": "integer", "description": "the last line"},
                "query": {"type": "string", "description": "words, or a regular expression"},
            },
        }),
    }
}

impl FilesTool {
    /// The tool with the folder of the configuration, or the working directory.
    pub fn new(config: &ToolsConfig) -> Result<Self, Invalid> {
        let root = config.get(NAME).and_then(|config| config.root.clone()).unwrap_or_else(|| ".".into());
        let base = std::env::current_dir().unwrap_or_default();
        Self::configured(&base, &root)
    }

    /// The tool with the folder that a configuration names. Whoever wrote the files of the working directory may have made a link of that
    /// name, so a relative one is below the directory and is reached without links.
    pub fn configured(base: &Path, root: &Path) -> Result<Self, Invalid> {
        let tool = Self::under(&base.join(root))?;
        if root.is_absolute() {
            return Ok(tool);
        }
        let is_below = base.canonicalize().is_ok_and(|base| tool.root.starts_with(base));
        // Part by part: with a slash or a dot at its end, a path is about what a link leads to.
        let mut at = base.to_owned();
        let has_link = root.components().any(|part| {
            at.push(part);
            at.is_symlink()
        });
        if !is_below || has_link {
            return Err(Invalid(format!(
                "[tools.files]: root {:?} is a link or leads out of {}: write the whole path of the folder that you mean",
                visible_text(&root.to_string_lossy()),
                visible_text(&base.to_string_lossy())
            )));
        }
        Ok(tool)
    }

    /// The tool with this folder.
    pub fn under(root: &Path) -> Result<Self, Invalid> {
        let folder = root.canonicalize().ok().filter(|folder| folder.is_dir());
        let wrong = || {
            Invalid(format!(
                "[tools.files]: {} is not a folder that can be read: correct root",
                root.display()
            ))
        };
        let root = folder.ok_or_else(wrong)?;
        #[cfg(unix)]
        let opened = Arc::new(open_folder(&root).ok_or_else(wrong)?);
        Ok(Self {
            root,
            #[cfg(unix)]
            opened,
        })
    }

    /// The tool with the folder that a debate was opened with, in another place or at another time.
    fn opened_with(folder: &str) -> Result<Self, String> {
        let path = match (folder.strip_prefix('~'), std::env::home_dir()) {
            (Some(below), Some(home)) => home.join(below.trim_start_matches('/')),
            _ => PathBuf::from(folder),
        };
        let which = || format!("the folder {:?}, with which the debate was opened,", visible_text(folder));
        let tool = Self::under(&path).map_err(|_| format!("{} is not there", which()))?;
        // The path was recorded without links, so one that stands there now was put in its place.
        if tool.folder() != folder {
            return Err(format!("{} leads elsewhere now", which()));
        }
        Ok(tool)
    }

    /// The folder, with `~` for the user's home: a log can be passed on.
    pub fn folder(&self) -> String {
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let below = home.and_then(|home| self.root.strip_prefix(home).ok().map(Path::to_owned));
        let shown = below.map_or_else(|| self.root.clone(), |below| Path::new("~").join(below));
        let shown = shown.to_string_lossy();
        if shown == "/" { shown.into_owned() } else { shown.trim_end_matches('/').to_owned() }
    }

    /// Serves a request. The error is the reason why nothing was looked up.
    pub fn serve(&self, arguments: &Value, bytes_max: usize) -> Result<LookupResult, String> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::trim);
        let line = |key: &str| match arguments.get(key) {
            None => Ok(None),
            Some(number) => match number.as_u64().and_then(|number| usize::try_from(number).ok()) {
                Some(number) if number > 0 => Ok(Some(number)),
                _ => Err(format!("`{key}` must be the number of a line, counted from 1")),
            },
        };
        let path = text("path").unwrap_or_default();
        let path = SafePath::parse(path)?;
        match text("query").filter(|query| !query.is_empty()) {
            Some(query) => self.search(query, &path, bytes_max),
            None if text("path").is_none() => Err("the arguments need a `path` or a `query`".to_owned()),
            None => match self.open(&path)? {
                OpenedEntry::Folder(folder) => self.list(&folder.file, &path, bytes_max),
                OpenedEntry::File(file) => read_lines(&file, &path, (line("from")?, line("to")?), bytes_max),
            },
        }
    }

    fn list(&self, folder: &File, path: &SafePath, bytes_max: usize) -> Result<LookupResult, String> {
        let (entries, is_cut) =
            self.entries(folder, path, ENTRIES_READ_MAX).ok_or_else(|| path.problem("cannot be read"))?;
        let entries = entries.into_iter().filter(|(name, _)| !is_refused_name(name));
        let name = |(name, is_folder): (String, bool)| {
            format!("{}{}", visible_text(&name), if is_folder { "/" } else { "" })
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort_unstable();
        let (count, mut text) = (names.len(), String::new());
        let shown = add_lines(&mut text, names.into_iter().take(ENTRIES_MAX), bytes_max);
        let part = match is_cut {
            true => format!("{shown} of more than {ENTRIES_READ_MAX} entries"),
            false if shown < count => format!("the first {shown} of {count} entries"),
            false => format!("{count} entries"),
        };
        Ok(LookupResult { source: format!("the folder {}, {part}", path.shown()), text })
    }

    fn search(&self, query: &str, path: &SafePath, bytes_max: usize) -> Result<LookupResult, String> {
        let matcher = LineMatcher::new(query)?;
        let mut walk = FileWalk::new(self, path)?;
        let (mut text, mut searched, mut found) = (String::new(), 0, 0);
        let (mut buffer, mut is_cut) = (Vec::new(), false);
        while let Some((path, file)) = walk.next_file() {
            if searched == SEARCHED_FILES_MAX || found == MATCHES_MAX {
                is_cut = true;
                break;
            }
            let Ok(content) = read_text(&file, &path, &mut buffer) else { continue };
            searched += 1;
            let most = FILE_MATCHES_MAX.min(MATCHES_MAX - found);
            let lines = matcher.lines(content, walk.until).take(most + 1);
            let lines: Vec<String> = lines
                .map(|(number, line)| format!("{}:{number}: {}", path.shown(), shown_line(line)))
                .collect();
            let added = add_lines(&mut text, lines.iter().take(most).cloned(), bytes_max);
            found += added;
            is_cut |= added < lines.len();
            if added < lines.len().min(most) {
                break;
            }
        }
        is_cut |= walk.was_cut;
        let unopened = match walk.unopened {
            0 => String::new(),
            count => format!("; {count} files or folders could not be opened"),
        };
        let place = if path.is_root() { String::new() } else { format!(" under {}", path.shown()) };
        let lines = match matcher.has_cut_line.get() {
            true => format!(
                "; an expression is compared with the first {} KB of a line, plain words with all of it",
                SEARCHED_LINE_BYTES_MAX >> 10
            ),
            false => String::new(),
        };
        if found == 0 {
            let rest = if is_cut { "; there are more files, so name a folder with `path`" } else { "" };
            return Err(format!(
                "none of {searched} files{place} has a line that matches {query:?}{rest}{unopened}{lines}"
            ));
        }
        let more = if is_cut { "; there are more, so ask more precisely" } else { "" };
        let source = format!("lines that match {query:?}{place}: {found}{more}{unopened}{lines}");
        Ok(LookupResult { source, text })
    }

    /// Opens what a path names.
    #[cfg(unix)]
    fn open(&self, path: &SafePath) -> Result<OpenedEntry, String> {
        let missing = || path.problem(MISSING);
        // Each request reads folders from their beginning, so none of them shares this descriptor.
        let mut opened = openat(&*self.opened, ".", FOLDER_FLAGS, Mode::empty()).map(File::from);
        let (folders, last) = (path.parts.parent(), path.parts.file_name());
        for part in folders.into_iter().flatten() {
            opened =
                openat(opened.map_err(|_| missing())?, part, FOLDER_FLAGS, Mode::empty()).map(File::from);
        }
        let opened = opened.map_err(|_| missing())?;
        match last {
            Some(name) => open_below(&opened, name),
            None => checked_entry(opened, None),
        }
        .map_err(|what| path.problem(what))
    }

    /// Opens a file or folder that was read from an opened folder with `entries`. If a pipe has taken its place since, it is opened for a
    /// moment and refused.
    #[cfg(unix)]
    fn open_listed(&self, folder: &OpenedFolder, name: &str, _path: &SafePath) -> Option<OpenedEntry> {
        open_checked(&folder.file, name, Some(folder.device)).ok()
    }

    #[cfg(not(unix))]
    fn open_listed(&self, _folder: &OpenedFolder, _name: &str, path: &SafePath) -> Option<OpenedEntry> {
        self.open(path).ok()
    }

    /// The names of the files and folders in a folder, and which are folders; and whether there are more than may be looked at.
    #[cfg(unix)]
    fn entries(&self, folder: &File, _path: &SafePath, most: usize) -> Option<(Vec<(String, bool)>, bool)> {
        let (mut entries, mut read) = (Vec::new(), Dir::read_from(folder).ok()?.flatten());
        for entry in read.by_ref().take(most) {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let kind = entry.file_type();
            if !matches!(name, "." | "..") && matches!(kind, FileType::Directory | FileType::RegularFile) {
                entries.push((name.to_owned(), kind == FileType::Directory));
            }
        }
        Some((entries, read.next().is_some()))
    }

    #[cfg(not(unix))]
    fn entries(&self, _folder: &File, path: &SafePath, most: usize) -> Option<(Vec<(String, bool)>, bool)> {
        let mut entries = Vec::new();
        let mut read = std::fs::read_dir(self.root.join(&path.parts)).ok()?.flatten();
        for entry in read.by_ref().take(most) {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            if kind.is_dir() || kind.is_file() {
                entries.push((name, kind.is_dir()));
            }
        }
        Some((entries, read.next().is_some()))
    }

    /// Opens what a path names. Links are resolved and must stay below the folder.
    #[cfg(not(unix))]
    fn open(&self, path: &SafePath) -> Result<OpenedEntry, String> {
        let missing = |_| path.problem("does not exist or may not be read");
        let resolved = self.root.join(&path.parts).canonicalize().map_err(missing)?;
        if !resolved.starts_with(&self.root) {
            return Err(path.problem("is a link that leads out of the folder"));
        }
        match (resolved.is_dir(), resolved.is_file()) {
            (true, _) => {
                File::open(&resolved).map(|file| OpenedEntry::Folder(OpenedFolder { file })).map_err(missing)
            }
            (false, true) => {
                let file = File::open(&resolved).map_err(missing)?;
                let bytes = file.metadata().map_err(missing)?.len();
                Ok(OpenedEntry::File(OpenedFile { file, bytes }))
            }
            (false, false) => Err(path.problem("is neither a file nor a folder")),
        }
    }
}

/// The tool of a configuration. A debate may be opened in one folder and continued in another, and a folder can vanish while a debate runs, so
/// one that cannot be read is the reason of a refused request.
impl LookupTool for Result<FilesTool, Invalid> {
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn look_up(&self, request: LookupRequest) -> BoxFuture<'_, Result<LookupResult, String>> {
        let tool = self.clone();
        // A search reads many files, and this thread has other work.
        let served = tokio::task::spawn_blocking(move || {
            let LookupRequest { arguments, folder, bytes_max } = request;
            let is_own = |folder: &String| tool.as_ref().is_ok_and(|tool| tool.folder() == *folder);
            match folder.filter(|folder| !is_own(folder)) {
                None => tool.map_err(|why| why.0)?.serve(&arguments, bytes_max),
                Some(folder) => FilesTool::opened_with(&folder)?.serve(&arguments, bytes_max),
            }
        });
        served.map(|served| served.unwrap_or_else(|_| Err("the search failed".to_owned()))).boxed()
    }
}

/// Finds the files under a folder, in the order of their names. Every folder and every ignore file is opened as a request would open
/// it, without following links: a walk by paths could be led out of the folder while it runs, and an ignore file could be a device.
struct FileWalk<'a> {
    tool: &'a FilesTool,
    folders: Vec<WalkedFolder>,
    until: Instant,
    /// How many entries may still be looked at.
    entries_left: usize,
    /// Whether files were left out because the search took too long, went too deep or met too many entries.
    was_cut: bool,
    /// How many files and folders could not be opened.
    unopened: usize,
}

struct WalkedFolder {
    path: SafePath,
    opened: OpenedFolder,
    /// The entries that are still to come, the next one last.
    entries: Vec<(String, bool)>,
    rules: Gitignore,
    /// The length of the ignore files that the rules are from.
    rules_bytes: usize,
}

impl<'a> FileWalk<'a> {
    fn new(tool: &'a FilesTool, from: &SafePath) -> Result<Self, String> {
        let mut walk = Self {
            tool,
            folders: Vec::new(),
            until: Instant::now() + SEARCH_TIME,
            entries_left: ENTRIES_READ_MAX,
            was_cut: false,
            unopened: 0,
        };
        match tool.open(from)? {
            OpenedEntry::Folder(opened) => walk.enter(from.clone(), opened),
            // A search may begin at a file.
            OpenedEntry::File(_) => {
                let path = SafePath { parts: from.parts.parent().unwrap_or(Path::new("")).to_owned() };
                let name = from.parts.file_name().and_then(|name| name.to_str());
                let entries = name.map(|name| (name.to_owned(), false)).into_iter().collect();
                if let OpenedEntry::Folder(opened) = tool.open(&path)? {
                    walk.folders.push(WalkedFolder {
                        path,
                        opened,
                        entries,
                        rules: Gitignore::empty(),
                        rules_bytes: 0,
                    });
                }
            }
        }
        Ok(walk)
    }

    /// The next file, opened; `None` at the end.
    fn next_file(&mut self) -> Option<(SafePath, OpenedFile)> {
        while let Some(folder) = self.folders.last_mut() {
            if Instant::now() > self.until {
                self.was_cut = true;
                return None;
            }
            let Some((name, is_folder)) = folder.entries.pop() else {
                self.folders.pop();
                continue;
            };
            let path = SafePath { parts: folder.path.parts.join(&name) };
            if is_refused_name(&name) || self.is_ignored(&path, is_folder) {
                continue;
            }
            let opened =
                self.folders.last().and_then(|folder| self.tool.open_listed(&folder.opened, &name, &path));
            match opened {
                Some(OpenedEntry::File(file)) => return Some((path, file)),
                Some(OpenedEntry::Folder(opened)) if self.folders.len() < DEPTH_MAX => {
                    self.enter(path, opened)
                }
                Some(OpenedEntry::Folder(_)) => self.was_cut = true,
                None => self.unopened += 1,
            }
        }
        None
    }

    fn enter(&mut self, path: SafePath, opened: OpenedFolder) {
        let read = self.tool.entries(&opened.file, &path, self.entries_left);
        self.unopened += usize::from(read.is_none());
        let (mut entries, is_cut) = read.unwrap_or_default();
        self.entries_left = if is_cut { 0 } else { self.entries_left.saturating_sub(entries.len()) };
        self.was_cut |= is_cut;
        entries.sort_unstable_by(|one, other| other.cmp(one));
        let (rules, rules_bytes) = self.rules(&path, &opened, &entries);
        self.folders.push(WalkedFolder { path, opened, entries, rules, rules_bytes });
    }

    /// The rules of a folder's ignore files, and the length of these files.
    fn rules(
        &self,
        path: &SafePath,
        opened: &OpenedFolder,
        entries: &[(String, bool)],
    ) -> (Gitignore, usize) {
        let above: usize = self.folders.iter().map(|folder| folder.rules_bytes).sum();
        let (mut rules, mut bytes, mut buffer) = (GitignoreBuilder::new(&path.parts), 0, Vec::new());
        for name in IGNORE_FILES.into_iter().filter(|name| entries.iter().any(|(entry, _)| entry == name)) {
            let path = SafePath { parts: path.parts.join(name) };
            let Some(OpenedEntry::File(file)) = self.tool.open_listed(opened, name, &path) else { continue };
            let text = read_text(&file, &path, &mut buffer).unwrap_or_default();
            if above + bytes + text.len() > IGNORE_BYTES_MAX {
                continue;
            }
            bytes += text.len();
            for line in text.lines() {
                // A rule that cannot be read leaves nothing out.
                drop(rules.add_line(None, line));
            }
        }
        (rules.build().unwrap_or_else(|_| Gitignore::empty()), bytes)
    }

    /// Whether an ignore file leaves this out. The one that is nearest to it counts.
    fn is_ignored(&self, path: &SafePath, is_folder: bool) -> bool {
        let matches = self.folders.iter().rev().map(|folder| folder.rules.matched(&path.parts, is_folder));
        matches.into_iter().find(|found| !found.is_none()).is_some_and(|found| found.is_ignore())
    }
}

#[cfg(unix)]
const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
/// A folder on the way to another one need not be readable.
#[cfg(target_os = "linux")]
const PASSED_FLAGS: OFlags = FOLDER_FLAGS.union(OFlags::PATH);
#[cfg(all(unix, not(target_os = "linux")))]
const PASSED_FLAGS: OFlags = FOLDER_FLAGS;
/// If a pipe or a terminal takes the place of a file, nothing waits for it and it becomes nobody's terminal.
#[cfg(unix)]
const OPEN_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
#[cfg(unix)]
const MISSING: &str = "does not exist, is a link, or may not be read";
#[cfg(unix)]
const NO_FILE: &str = "is neither a file nor a folder";

/// Opens a folder by a whole path without links, part by part: somebody may put a link there at any time.
#[cfg(unix)]
fn open_folder(path: &Path) -> Option<File> {
    let mut opened = openat(CWD, "/", PASSED_FLAGS, Mode::empty()).ok()?;
    for part in path.strip_prefix("/").ok()? {
        opened = openat(&opened, part, PASSED_FLAGS, Mode::empty()).ok()?;
    }
    openat(&opened, ".", FOLDER_FLAGS, Mode::empty()).ok().map(File::from)
}

/// Opens what is in a folder, if it is a file or a folder. Opening a pipe lets a waiting writer go, so what it is, is asked before.
#[cfg(unix)]
fn open_below(folder: &File, name: impl rustix::path::Arg + Copy) -> Result<OpenedEntry, &'static str> {
    let entry = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|_| MISSING)?;
    match FileType::from_raw_mode(entry.st_mode) {
        FileType::RegularFile | FileType::Directory => {}
        FileType::Symlink => return Err(MISSING),
        _ => return Err(NO_FILE),
    }
    open_checked(folder, name, None)
}

/// The same for what is known to be a file or a folder.
#[cfg(unix)]
fn open_checked(
    folder: &File,
    name: impl rustix::path::Arg,
    checked_device: Option<u64>,
) -> Result<OpenedEntry, &'static str> {
    let opened = openat(folder, name, OPEN_FLAGS, Mode::empty()).map_err(|_| MISSING)?;
    checked_entry(opened.into(), checked_device)
}

/// The file or folder, unless it is something else. The error says what is wrong with it. A device that was checked before is a file
/// system that may be read.
#[cfg(unix)]
fn checked_entry(file: File, checked_device: Option<u64>) -> Result<OpenedEntry, &'static str> {
    let data = file.metadata().map_err(|_| "cannot be read")?;
    let device = data.dev();
    if checked_device != Some(device) && is_of_kernel(&file) {
        return Err("is about this machine and its programs, and not read");
    }
    match (data.is_dir(), data.is_file()) {
        (true, _) => Ok(OpenedEntry::Folder(OpenedFolder { file, device })),
        (false, true) => Ok(OpenedEntry::File(OpenedFile { file, bytes: data.len() })),
        (false, false) => Err(NO_FILE),
    }
}

/// The file systems that the kernel makes up, by the numbers of `linux/magic.h`. Their files tell of the machine and its programs,
/// variables and keys included.
#[cfg(target_os = "linux")]
const KERNEL_FILE_SYSTEMS: [u32; 25] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0x5a3c_69f0, // apparmorfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0xde5e_81e4, // efivarfs
    0x6165_676c, // pstore
    0x4249_4e4d, // binfmt_misc
    0x6e73_6673, // nsfs
    0x1980_0202, // mqueue
    0x6573_5543, // fusectl
    0x1cd1,      // devpts
    0x0765_5821, // resctrl
    0x6e66_7364, // nfsd
    0x6759_6969, // rpc_pipefs
    0x6c6f_6f70, // binderfs
    0xabba_1974, // xenfs
    0x9fa1,      // openpromfs
];

#[cfg(target_os = "linux")]
fn is_of_kernel(opened: &File) -> bool {
    // The number has another type on each kind of machine, and these 32 bits on all.
    rustix::fs::fstatfs(opened).is_ok_and(|system| {
        let number = i128::from(system.f_type) & 0xffff_ffff;
        KERNEL_FILE_SYSTEMS.iter().any(|known| i128::from(*known) == number)
    })
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_of_kernel(_opened: &File) -> bool {
    false
}

enum OpenedEntry {
    Folder(OpenedFolder),
    File(OpenedFile),
}

struct OpenedFolder {
    file: File,
    /// The number of its file system.
    #[cfg(unix)]
    device: u64,
}

struct OpenedFile {
    file: File,
    /// How long it was when it was opened.
    bytes: u64,
}

/// A path below the folder: no `..`, not absolute, nothing that is refused.
#[derive(Clone)]
struct SafePath {
    parts: PathBuf,
}

impl SafePath {
    fn parse(path: &str) -> Result<Self, String> {
        let outside =
            || format!("{:?} is outside the folder: name a path below it, without ..", visible_text(path));
        if path.starts_with(['/', '\\', '~']) || path.contains(['\0', '\\']) || path.get(1..2) == Some(":") {
            return Err(outside());
        }
        let mut parts = PathBuf::new();
        for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
            if part == ".." {
                return Err(outside());
            }
            if is_refused_name(part) {
                return Err(format!(
                    "{:?} is not read, because such files may hold secrets",
                    visible_text(path)
                ));
            }
            parts.push(part);
        }
        Ok(Self { parts })
    }

    fn is_root(&self) -> bool {
        self.parts.as_os_str().is_empty()
    }

    fn shown(&self) -> String {
        let path = visible_text(&self.parts.to_string_lossy());
        if path.is_empty() { ".".to_owned() } else { path }
    }

    fn problem(&self, what: &str) -> String {
        format!("{:?} {what}", self.shown())
    }
}

fn is_refused_name(name: &str) -> bool {
    static REFUSED: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
        let any_of =
            |names: &[&str]| names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
        let names = any_of(REFUSED_NAMES).replace(r"\*", ".*");
        Regex::new(&format!("(?s)^(?:{names})(?:{})*$", any_of(COPY_ENDS)))
    });
    // Some file systems know one file by several names: in other cases, with invisible characters, with dots or spaces at the end.
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    let name: String = match is_plain {
        true => name.to_ascii_lowercase(),
        false => {
            let visible = name.chars().filter(|char| !agon_core::invisible::is_invisible(*char));
            visible.default_case_fold().collect()
        }
    };
    // Some systems take what is behind a colon for a part of the file; for others, it is a part of the name.
    std::iter::once(&*name)
        .chain(name.split(':'))
        .map(|part| part.trim_end_matches(['.', ' ']))
        .any(|part| REFUSED.as_ref().map_or(true, |refused| refused.is_match(part)))
}

/// A text, read into a buffer that other files can use afterwards.
fn read_text<'b>(file: &OpenedFile, path: &SafePath, buffer: &'b mut Vec<u8>) -> Result<&'b str, String> {
    let too_long = || path.problem(&format!("has more than {} MB", FILE_BYTES_MAX >> 20));
    if file.bytes > FILE_BYTES_MAX {
        return Err(too_long());
    }
    // One byte more than is expected shows whether the file has grown.
    let expected = usize::try_from(file.bytes).unwrap_or_default() + 1;
    if buffer.len() < expected {
        buffer.resize(expected, 0);
    }
    let mut length = 0;
    loop {
        match (&file.file).read(buffer.get_mut(length..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(path.problem("cannot be read")),
        }
        if length as u64 > FILE_BYTES_MAX {
            return Err(too_long());
        }
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
        }
    }
    let bytes = buffer.get(..length).unwrap_or_default();
    let has_nul = memchr(0, bytes).is_some();
    let text = str::from_utf8(bytes).ok().filter(|_| !has_nul);
    text.ok_or_else(|| path.problem("is not a text in UTF-8"))
}

fn read_lines(
    file: &OpenedFile,
    path: &SafePath,
    (from, to): (Option<usize>, Option<usize>),
    bytes_max: usize,
) -> Result<LookupResult, String> {
    let mut buffer = Vec::new();
    let content = read_text(file, path, &mut buffer)?;
    let count = content.lines().count();
    let first = from.unwrap_or(1);
    let last = to.unwrap_or(count).min(count);
    if count == 0 {
        return Err(path.problem("is empty"));
    }
    if first > last {
        return Err(path.problem(&format!("has {count} lines, and the first of the range is after its last")));
    }
    let (width, mut text) = (last.to_string().len(), String::new());
    let lines = (1..).zip(content.lines()).skip(first - 1).take((last + 1 - first).min(LINES_MAX));
    let lines = lines.map(|(number, line): (usize, &str)| format!("{number:>width$} | {}", shown_line(line)));
    let shown = add_lines(&mut text, lines, bytes_max);
    let end = first + shown.saturating_sub(1);
    let more = match end < last {
        true => format!("; ask for the lines from {} on in another request", end + 1),
        false => String::new(),
    };
    Ok(LookupResult { source: format!("{}, lines {first} to {end} of {count}{more}", path.shown()), text })
}

/// A line as it is shown. A long one is cut, with a mark that says so.
fn shown_line(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => {
            format!("{} [... cut, {} characters]", line.get(..end).unwrap_or_default(), line.chars().count())
        }
    }
}

/// Finds the lines that all patterns match, whatever the case: the words of a query, or one regular expression.
struct LineMatcher {
    patterns: Vec<Regex>,
    /// Words are found in a whole text about as quickly as in a line. An expression may take long for every byte.
    are_words: bool,
    /// Whether an expression can match a line and not a text that has this line. Then only lines are compared.
    knows_ends: bool,
    /// Whether only a part of some line was compared.
    has_cut_line: Cell<bool>,
}

impl LineMatcher {
    fn new(query: &str) -> Result<Self, String> {
        if query.chars().count() > QUERY_CHARS_MAX {
            return Err(format!("the query has more than {QUERY_CHARS_MAX} characters"));
        }
        let compiled = |pattern: &str| {
            let mut builder = RegexBuilder::new(pattern);
            builder.case_insensitive(true).multi_line(true).crlf(true).size_limit(REGEX_BYTES_MAX);
            let wrong = |why| match why {
                regex::Error::CompiledTooBig(_) => {
                    format!("{query:?} is too large for a regular expression: search for plain words instead")
                }
                _ => format!("{query:?} is not a regular expression: search for plain words instead"),
            };
            builder.build().map_err(wrong)
        };
        let is_plain =
            |char: char| char.is_alphanumeric() || char.is_whitespace() || matches!(char, '_' | '-');
        if !query.chars().all(is_plain) {
            let knows_ends = ["\\A", "\\z", "(?"].iter().any(|mark| query.contains(mark));
            return Ok(Self::with(vec![compiled(query)?], false, knows_ends));
        }
        // Long words are rare, and the first that is missing decides.
        let mut words: Vec<&str> = query.split_whitespace().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let patterns = words.into_iter().map(|word| compiled(&regex::escape(word)));
        Ok(Self::with(patterns.collect::<Result<_, _>>()?, true, false))
    }

    fn with(patterns: Vec<Regex>, are_words: bool, knows_ends: bool) -> Self {
        Self { patterns, are_words, knows_ends, has_cut_line: Cell::new(false) }
    }

    /// The lines that match, with their numbers, as far as they are found in time.
    fn lines<'t>(&'t self, text: &'t str, until: Instant) -> impl Iterator<Item = (usize, &'t str)> {
        let matches = move |text: &str| self.patterns.iter().all(|pattern| pattern.is_match(text));
        let block_bytes = if self.are_words { usize::MAX } else { SEARCHED_LINE_BYTES_MAX };
        // Most blocks have no such line, which is quicker to see in the whole block.
        let may_match = move |block: &str| {
            let is_cut = block.trim_end_matches(['\r', '\n']).len() > block_bytes;
            self.has_cut_line.set(self.has_cut_line.get() || is_cut);
            is_cut || self.knows_ends || matches(block)
        };
        let (mut number, mut counted_to) = (1, 0);
        line_blocks(text, block_bytes)
            .take_while(move |_| Instant::now() <= until)
            .filter(move |(_, block)| may_match(block))
            .flat_map(move |(start, block)| {
                let skipped = text.as_bytes().get(counted_to..start).unwrap_or_default();
                number += memchr_iter(b'\n', skipped).count();
                counted_to = start;
                (number..).zip(block.lines())
            })
            .filter(move |(_, line)| matches(self.searched_part(line)))
    }

    /// The part of a line that is compared.
    fn searched_part<'t>(&self, line: &'t str) -> &'t str {
        match self.are_words {
            true => line,
            false => line.get(..line.floor_char_boundary(SEARCHED_LINE_BYTES_MAX)).unwrap_or(line),
        }
    }
}

/// Whole lines of a text in blocks of at most so many bytes, each with the place where it begins. A longer line is a block of its own.
fn line_blocks(text: &str, bytes_max: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let whole = rest
            .as_bytes()
            .get(..bytes_max)
            .map_or(Some(rest.len()), |part| memrchr(b'\n', part).map(|at| at + 1));
        let end = whole.or_else(|| Some(memchr(b'\n', rest.as_bytes())? + 1)).unwrap_or(rest.len());
        let start = text.len() - rest.len();
        let (block, after) = rest.split_at(end);
        rest = after;
        (!block.is_empty()).then_some((start, block))
    })
}
