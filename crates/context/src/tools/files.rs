//! `files`: reads, searches and lists what is under one folder.
//!
//! Nothing outside the folder can be reached: a path has no `..` and does not begin at the root, and every part of it is opened
//! without following links, from the folder down. Only regular files are read. Files that usually hold secrets are refused, because
//! what a tool returns is sent to all models of the debate.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::{Invalid, ToolOffer};
use agon_host::visible_text;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ignore::WalkBuilder;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::{LookupResult, LookupTool, ToolsConfig, add_lines};

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
/// How large a compiled expression may be.
const REGEX_BYTES_MAX: usize = 1 << 20;
const QUERY_CHARS_MAX: usize = 200;

/// Names that are never read, because secrets are in such files. A `*` stands for anything at that end.
const REFUSED_NAMES: &[&str] = &[
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".env",
    ".env.*",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "id_rsa*",
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
        self.open(path)?;
        let from = self.root.join(&path.parts);
        let is_wanted =
            |entry: &ignore::DirEntry| entry.file_name().to_str().is_some_and(|name| !is_refused_name(name));
        let walk = WalkBuilder::new(from)
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(is_wanted)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        let (mut text, mut searched, mut found, mut is_cut) = (String::new(), 0, 0, false);
        for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())) {
            if searched == SEARCHED_FILES_MAX || found == MATCHES_MAX {
                is_cut = true;
                break;
            }
            let Some((path, content)) = self.searchable(entry.path()) else { continue };
            searched += 1;
            let lines = matcher.lines(&content).take(FILE_MATCHES_MAX.min(MATCHES_MAX - found) + 1);
            let lines: Vec<String> =
                lines.map(|(number, line)| format!("{path}:{number}: {}", shown_line(line))).collect();
            let most = FILE_MATCHES_MAX.min(MATCHES_MAX - found);
            let added = add_lines(&mut text, lines.iter().take(most).cloned(), bytes_max);
            found += added;
            is_cut |= added < lines.len();
            if added < lines.len().min(most) {
                break;
            }
        }
        let place = if path.is_root() { String::new() } else { format!(" under {}", path.shown()) };
        if found == 0 {
            return Err(format!("none of {searched} files{place} has a line that matches {query:?}"));
        }
        let more = if is_cut { "; there are more, so ask more precisely" } else { "" };
        Ok(LookupResult { source: format!("lines that match {query:?}{place}: {found}{more}"), text })
    }

    /// A file that the walk found, opened again without following links, with its path below the folder.
    fn searchable(&self, path: &Path) -> Option<(String, String)> {
        let below = path.strip_prefix(&self.root).ok()?.to_str()?;
        let safe = SafePath::parse(below).ok()?;
        let OpenedEntry::File(file) = self.open(&safe).ok()? else { return None };
        let content = read_text(file, &safe).ok()?;
        Some((safe.shown(), content))
    }

    /// Opens what a path names.
    #[cfg(unix)]
    fn open(&self, path: &SafePath) -> Result<OpenedEntry, String> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let missing = |_| path.problem("does not exist, is a link, or may not be read");
        // A pipe is opened without waiting for its writer, and then refused.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mut opened =
            openat(CWD, &self.root, flags | OFlags::DIRECTORY, Mode::empty()).map_err(missing)?;
        for part in path.parts.iter() {
            opened = openat(&opened, part, flags, Mode::empty()).map_err(missing)?;
        }
        let file = File::from(opened);
        let kind = file.metadata().map_err(|_| path.problem("cannot be read"))?.file_type();
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => Ok(OpenedEntry::Folder(file)),
            (false, true) => Ok(OpenedEntry::File(file)),
            (false, false) => Err(path.problem("is neither a file nor a folder")),
        }
    }

    /// The names of the files and folders in a folder, and which are folders.
    #[cfg(unix)]
    fn entries(&self, folder: &File, _path: &SafePath) -> Option<Vec<(String, bool)>> {
        use rustix::fs::{Dir, FileType};
        let mut entries = Vec::new();
        for entry in Dir::read_from(folder).ok()?.flatten() {
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
        for entry in std::fs::read_dir(self.root.join(&path.parts)).ok()?.flatten() {
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

    fn look_up<'a>(
        &'a self,
        arguments: &'a Value,
        bytes_max: usize,
    ) -> BoxFuture<'a, Result<LookupResult, String>> {
        let (tool, arguments) = (self.clone(), arguments.clone());
        // A search reads many files, and this thread has other work.
        let served = tokio::task::spawn_blocking(move || tool.serve(&arguments, bytes_max));
        served.map(|served| served.unwrap_or_else(|_| Err("the search failed".to_owned()))).boxed()
    }
}

enum OpenedEntry {
    Folder(File),
    File(File),
}

/// A path below the folder: no `..`, not absolute, nothing that is refused.
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
    let name = name.to_ascii_lowercase();
    REFUSED_NAMES.iter().any(|refused| match (refused.strip_prefix('*'), refused.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == *refused,
    })
}

fn read_text(file: File, path: &SafePath) -> Result<String, String> {
    let mut bytes = Vec::new();
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

/// Finds lines by words or by a regular expression, whatever the case.
enum LineMatcher {
    Words(Vec<Regex>),
    Expression(Regex),
}

impl LineMatcher {
    fn new(query: &str) -> Result<Self, String> {
        if query.chars().count() > QUERY_CHARS_MAX {
            return Err(format!("the query has more than {QUERY_CHARS_MAX} characters"));
        }
        let compiled =
            |pattern: &str| {
                RegexBuilder::new(pattern).case_insensitive(true).size_limit(REGEX_BYTES_MAX).build().map_err(
                    |_| format!("{query:?} is not a regular expression: search for plain words instead"),
                )
            };
        let is_plain =
            |char: char| char.is_alphanumeric() || char.is_whitespace() || matches!(char, '_' | '-');
        match query.chars().all(is_plain) {
            true => query
                .split_whitespace()
                .map(|word| compiled(&regex::escape(word)))
                .collect::<Result<_, _>>()
                .map(Self::Words),
            false => compiled(query).map(Self::Expression),
        }
    }

    /// The lines that match, with their numbers.
    fn lines<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        // Most files have none of the words, which is quicker to see in the whole text.
        let may_match = match self {
            Self::Words(words) => words.iter().all(|word| word.is_match(text)),
            Self::Expression(_) => true,
        };
        let matches = move |line: &str| match self {
            Self::Words(words) => words.iter().all(|word| word.is_match(line)),
            Self::Expression(expression) => expression.is_match(line),
        };
        (1..)
            .zip(text.lines())
            .take(if may_match { usize::MAX } else { 0 })
            .filter(move |(_, line)| matches(line))
    }
}
