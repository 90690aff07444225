//! `files`: reads, searches and lists what is under one folder.
//!
//! Nothing outside the folder can be reached: a path has no `..` and does not begin at the root, and every part of it is opened
//! without following links, from the folder down. Only regular files are read. Files that usually hold secrets are refused, because
//! what a tool returns is sent to all models of the debate.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_core::{Invalid, ToolOffer};
use agon_host::visible_text;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use regex::{Regex, RegexBuilder};
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
/// The most entries of a folder that are looked at.
const ENTRIES_READ_MAX: usize = 50_000;
/// A search stops after this time, and says so. It is shorter than what a request may take.
const SEARCH_TIME: Duration = Duration::from_secs(15);
/// Folders that lie deeper are not searched.
const DEPTH_MAX: usize = 64;
/// Files that say what a search leaves out. The rules of the last one count most.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// A longer one is not used, because all its rules are held in memory.
const IGNORE_BYTES_MAX: usize = 64 * 1024;
/// How large a compiled expression may be.
const REGEX_BYTES_MAX: usize = 1 << 20;
const QUERY_CHARS_MAX: usize = 200;

/// Names that are never read, because secrets are in such files. A `*` stands for anything at that end.
const REFUSED_NAMES: &[&str] = &[
    ".git",
    ".git-credentials",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".docker",
    ".kube",
    ".password-store",
    ".env",
    ".env.*",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
    "credentials",
    "credentials.toml",
    "credentials.json",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ed25519*",
    "id_ecdsa*",
];

/// Reads under one folder.
#[derive(Debug, Clone)]
pub struct FilesTool {
    root: PathBuf,
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
        Self::under(&root)
    }

    /// The tool with this folder.
    pub fn under(root: &Path) -> Result<Self, Invalid> {
        let folder = root.canonicalize().ok().filter(|folder| folder.is_dir());
        let root = folder.ok_or_else(|| {
            Invalid(format!("[tools.files]: {} is not a folder: correct root", root.display()))
        })?;
        Ok(Self { root })
    }

    /// The tool with the folder that a debate was opened with, in another place or at another time.
    fn opened_with(folder: &str) -> Result<Self, String> {
        let path = match (folder.strip_prefix('~'), std::env::home_dir()) {
            (Some(below), Some(home)) => home.join(below.trim_start_matches('/')),
            _ => PathBuf::from(folder),
        };
        Self::under(&path).map_err(|_| {
            format!("the folder {:?}, with which the debate was opened, is not there", visible_text(folder))
        })
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
                OpenedEntry::Folder(folder) => self.list(&folder, &path, bytes_max),
                OpenedEntry::File(file) => read_lines(file, &path, (line("from")?, line("to")?), bytes_max),
            },
        }
    }

    fn list(&self, folder: &File, path: &SafePath, bytes_max: usize) -> Result<LookupResult, String> {
        let entries = self.entries(folder, path).ok_or_else(|| path.problem("cannot be read"))?;
        let entries = entries.into_iter().filter(|(name, _)| !is_refused_name(name));
        let name = |(name, is_folder): (String, bool)| {
            format!("{}{}", visible_text(&name), if is_folder { "/" } else { "" })
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort_unstable();
        let (count, mut text) = (names.len(), String::new());
        let shown = add_lines(&mut text, names.into_iter().take(ENTRIES_MAX), bytes_max);
        let part = if shown < count {
            format!("the first {shown} of {count} entries")
        } else {
            format!("{count} entries")
        };
        Ok(LookupResult { source: format!("the folder {}, {part}", path.shown()), text })
    }

    fn search(&self, query: &str, path: &SafePath, bytes_max: usize) -> Result<LookupResult, String> {
        let matcher = LineMatcher::new(query)?;
        let mut walk = FileWalk::new(self, path)?;
        let (mut text, mut searched, mut found, mut is_cut) = (String::new(), 0, 0, false);
        while let Some((path, file)) = walk.next_file() {
            if searched == SEARCHED_FILES_MAX || found == MATCHES_MAX {
                is_cut = true;
                break;
            }
            let Ok(content) = read_text(file, &path) else { continue };
            searched += 1;
            let most = FILE_MATCHES_MAX.min(MATCHES_MAX - found);
            let lines = matcher.lines(&content).take(most + 1);
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
        let place = if path.is_root() { String::new() } else { format!(" under {}", path.shown()) };
        if found == 0 {
            let rest = if is_cut { "; there are more files, so name a folder with `path`" } else { "" };
            return Err(format!("none of {searched} files{place} has a line that matches {query:?}{rest}"));
        }
        let more = if is_cut { "; there are more, so ask more precisely" } else { "" };
        Ok(LookupResult { source: format!("lines that match {query:?}{place}: {found}{more}"), text })
    }

    /// Opens what a path names.
    #[cfg(unix)]
    fn open(&self, path: &SafePath) -> Result<OpenedEntry, String> {
        use rustix::fs::{CWD, Mode, openat};
        let flags = OPEN_FLAGS | rustix::fs::OFlags::DIRECTORY;
        let root = openat(CWD, &self.root, flags, Mode::empty()).map_err(|_| path.problem(MISSING))?;
        let mut opened = File::from(root);
        for part in path.parts.iter() {
            opened = open_below(&opened, part).ok_or_else(|| path.problem(MISSING))?;
        }
        checked_entry(opened).map_err(|what| path.problem(what))
    }

    /// Opens what a folder that was opened before has under this name.
    #[cfg(unix)]
    fn open_in(&self, folder: &File, name: &str, _path: &SafePath) -> Option<OpenedEntry> {
        checked_entry(open_below(folder, name)?).ok()
    }

    #[cfg(not(unix))]
    fn open_in(&self, _folder: &File, _name: &str, path: &SafePath) -> Option<OpenedEntry> {
        self.open(path).ok()
    }

    /// The names of the files and folders in a folder, and which are folders.
    #[cfg(unix)]
    fn entries(&self, folder: &File, _path: &SafePath) -> Option<Vec<(String, bool)>> {
        use rustix::fs::{Dir, FileType};
        let mut entries = Vec::new();
        for entry in Dir::read_from(folder).ok()?.flatten().take(ENTRIES_READ_MAX) {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let kind = entry.file_type();
            if !matches!(name, "." | "..") && matches!(kind, FileType::Directory | FileType::RegularFile) {
                entries.push((name.to_owned(), kind == FileType::Directory));
            }
        }
        Some(entries)
    }

    #[cfg(not(unix))]
    fn entries(&self, _folder: &File, path: &SafePath) -> Option<Vec<(String, bool)>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.root.join(&path.parts)).ok()?.flatten().take(ENTRIES_READ_MAX) {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            if kind.is_dir() || kind.is_file() {
                entries.push((name, kind.is_dir()));
            }
        }
        Some(entries)
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
            (true, _) => File::open(&resolved).map(OpenedEntry::Folder).map_err(missing),
            (false, true) => File::open(&resolved).map(OpenedEntry::File).map_err(missing),
            (false, false) => Err(path.problem("is neither a file nor a folder")),
        }
    }
}

impl LookupTool for FilesTool {
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn look_up(&self, request: LookupRequest) -> BoxFuture<'_, Result<LookupResult, String>> {
        let tool = self.clone();
        // A search reads many files, and this thread has other work.
        let served = tokio::task::spawn_blocking(move || {
            let LookupRequest { arguments, folder, bytes_max } = request;
            match folder.filter(|folder| *folder != tool.folder()) {
                None => tool.serve(&arguments, bytes_max),
                Some(folder) => Self::opened_with(&folder)?.serve(&arguments, bytes_max),
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
    /// Whether files were left out because the search took too long or went too deep.
    was_cut: bool,
}

struct WalkedFolder {
    path: SafePath,
    opened: File,
    /// The entries that are still to come, the next one last.
    entries: Vec<(String, bool)>,
    rules: Gitignore,
}

impl<'a> FileWalk<'a> {
    fn new(tool: &'a FilesTool, from: &SafePath) -> Result<Self, String> {
        let mut walk =
            Self { tool, folders: Vec::new(), until: Instant::now() + SEARCH_TIME, was_cut: false };
        match tool.open(from)? {
            OpenedEntry::Folder(opened) => walk.enter(from.clone(), opened),
            // A search may begin at a file.
            OpenedEntry::File(_) => {
                let path = SafePath { parts: from.parts.parent().unwrap_or(Path::new("")).to_owned() };
                let name = from.parts.file_name().and_then(|name| name.to_str());
                let entries = name.map(|name| (name.to_owned(), false)).into_iter().collect();
                if let OpenedEntry::Folder(opened) = tool.open(&path)? {
                    walk.folders.push(WalkedFolder { path, opened, entries, rules: Gitignore::empty() });
                }
            }
        }
        Ok(walk)
    }

    /// The next file, opened; `None` at the end.
    fn next_file(&mut self) -> Option<(SafePath, File)> {
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
                self.folders.last().and_then(|folder| self.tool.open_in(&folder.opened, &name, &path));
            match opened {
                Some(OpenedEntry::File(file)) => return Some((path, file)),
                Some(OpenedEntry::Folder(opened)) if self.folders.len() < DEPTH_MAX => {
                    self.enter(path, opened)
                }
                Some(OpenedEntry::Folder(_)) => self.was_cut = true,
                None => {}
            }
        }
        None
    }

    fn enter(&mut self, path: SafePath, opened: File) {
        let mut entries = self.tool.entries(&opened, &path).unwrap_or_default();
        entries.sort_unstable_by(|one, other| other.cmp(one));
        let rules = self.rules(&path, &opened, &entries);
        self.folders.push(WalkedFolder { path, opened, entries, rules });
    }

    fn rules(&self, path: &SafePath, opened: &File, entries: &[(String, bool)]) -> Gitignore {
        let mut rules = GitignoreBuilder::new(&path.parts);
        for name in IGNORE_FILES.into_iter().filter(|name| entries.iter().any(|(entry, _)| entry == name)) {
            let path = SafePath { parts: path.parts.join(name) };
            let Some(OpenedEntry::File(file)) = self.tool.open_in(opened, name, &path) else { continue };
            let text = read_text(file, &path).unwrap_or_default();
            for line in text.lines().filter(|_| text.len() <= IGNORE_BYTES_MAX) {
                // A rule that cannot be read leaves nothing out.
                drop(rules.add_line(None, line));
            }
        }
        rules.build().unwrap_or_else(|_| Gitignore::empty())
    }

    /// Whether an ignore file leaves this out. The one that is nearest to it counts.
    fn is_ignored(&self, path: &SafePath, is_folder: bool) -> bool {
        let matches = self.folders.iter().rev().map(|folder| folder.rules.matched(&path.parts, is_folder));
        matches.into_iter().find(|found| !found.is_none()).is_some_and(|found| found.is_ignore())
    }
}

/// A pipe is opened without waiting for its writer, and then refused.
#[cfg(unix)]
const OPEN_FLAGS: rustix::fs::OFlags = rustix::fs::OFlags::RDONLY
    .union(rustix::fs::OFlags::NOFOLLOW)
    .union(rustix::fs::OFlags::CLOEXEC)
    .union(rustix::fs::OFlags::NONBLOCK);
#[cfg(unix)]
const MISSING: &str = "does not exist, is a link, or may not be read";

/// Opens what is in a folder, if it is no link.
#[cfg(unix)]
fn open_below(folder: &File, name: impl rustix::path::Arg) -> Option<File> {
    rustix::fs::openat(folder, name, OPEN_FLAGS, rustix::fs::Mode::empty()).ok().map(File::from)
}

/// The file or folder, unless it is something else. The error says what is wrong with it.
#[cfg(unix)]
fn checked_entry(opened: File) -> Result<OpenedEntry, &'static str> {
    if is_about_processes(&opened) {
        return Err("is about this machine and its programs, and not read");
    }
    let kind = opened.metadata().map_err(|_| "cannot be read")?.file_type();
    match (kind.is_dir(), kind.is_file()) {
        (true, _) => Ok(OpenedEntry::Folder(opened)),
        (false, true) => Ok(OpenedEntry::File(opened)),
        (false, false) => Err("is neither a file nor a folder"),
    }
}

/// Whether this is in a file system that the kernel makes up, where files tell of programs, their variables and keys included.
#[cfg(target_os = "linux")]
fn is_about_processes(opened: &File) -> bool {
    const SYSFS_MAGIC: i128 = 0x6265_6572;
    rustix::fs::fstatfs(opened).is_ok_and(|system| {
        i128::from(system.f_type) == i128::from(rustix::fs::PROC_SUPER_MAGIC)
            || i128::from(system.f_type) == SYSFS_MAGIC
    })
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_about_processes(_opened: &File) -> bool {
    false
}

enum OpenedEntry {
    Folder(File),
    File(File),
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
    // Some file systems know one file by several names: in other cases, with invisible characters, with dots or spaces at the end.
    let plain = name.chars().filter(|char| !agon_core::invisible::is_invisible(*char));
    let name: String = plain.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    REFUSED_NAMES.iter().any(|refused| match (refused.strip_prefix('*'), refused.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == *refused,
    })
}

fn read_text(file: File, path: &SafePath) -> Result<String, String> {
    let size = file.metadata().map_or(0, |data| data.len().min(FILE_BYTES_MAX));
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|_| path.problem("cannot be read"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(path.problem(&format!("has more than {} MB", FILE_BYTES_MAX >> 20)));
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
        .ok_or_else(|| path.problem("is not a text in UTF-8"))
}

fn read_lines(
    file: File,
    path: &SafePath,
    (from, to): (Option<usize>, Option<usize>),
    bytes_max: usize,
) -> Result<LookupResult, String> {
    let content = read_text(file, path)?;
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
    /// Whether a pattern that matches a line also matches a text that contains it.
    sees_whole_texts: bool,
}

impl LineMatcher {
    fn new(query: &str) -> Result<Self, String> {
        if query.chars().count() > QUERY_CHARS_MAX {
            return Err(format!("the query has more than {QUERY_CHARS_MAX} characters"));
        }
        let compiled = |pattern: &str| {
            let mut builder = RegexBuilder::new(pattern);
            builder.case_insensitive(true).multi_line(true).crlf(true).size_limit(REGEX_BYTES_MAX);
            let wrong = |_| format!("{query:?} is not a regular expression: search for plain words instead");
            builder.build().map_err(wrong)
        };
        let is_plain =
            |char: char| char.is_alphanumeric() || char.is_whitespace() || matches!(char, '_' | '-');
        if !query.chars().all(is_plain) {
            // These mean something else in a whole text than in a line.
            let sees_whole_texts = !["(?", r"\A", r"\z"].iter().any(|sign| query.contains(sign));
            return Ok(Self { patterns: vec![compiled(query)?], sees_whole_texts });
        }
        // Long words are rare, and the first that is missing decides.
        let mut words: Vec<&str> = query.split_whitespace().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let patterns = words.into_iter().map(|word| compiled(&regex::escape(word)));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()?, sees_whole_texts: true })
    }

    /// The lines that match, with their numbers.
    fn lines<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        let matches = move |text: &str| self.patterns.iter().all(|pattern| pattern.is_match(text));
        // Most files have no such line, which is quicker to see in the whole text.
        let may_match = !self.sees_whole_texts || matches(text);
        (1..)
            .zip(text.lines())
            .take(if may_match { usize::MAX } else { 0 })
            .filter(move |(_, line)| matches(line))
    }
}
