//! What changes in a range of commits, or in what is staged: a diff that git makes, and in which nothing can be hidden.
//!
//! The repository may be a stranger's: its names, its settings and its size are not trusted. So both ends of a range become hashes
//! first, settings that decide what a diff shows are overruled, and git has limits.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::errors::CliError;
use super::input::{DEBATE_FILE_BYTES_MAX, too_long};

/// The word for what is staged in the repository's index.
pub(super) const STAGED: &str = "staged";

/// How long git may take. A setting may name a pipe to which nobody writes.
const GIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest diff that is read. What stays of it without the content of binary files may be shorter.
const RAW_DIFF_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The longest answer that is no diff, and the longest error.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// A ref whose name looks like a shortened hash is compared with the hashes from this length on.
const SHORT_HASH_CHARS_MIN: usize = 7;
/// Full hashes of SHA-1 and SHA-256.
const HASH_CHARS: [usize; 2] = [40, 64];

/// No program runs, no object is replaced, and no file of the repository changes what is shown.
const GIT_OPTIONS: &[&str] = &[
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.commitGraph=false",
    "-c",
    "diff.external=",
    "-c",
    "advice.graftFileDeprecated=false",
];

/// Everything that a setting could change is said here. `--text` because attributes could call a text binary.
const DIFF_OPTIONS: &[&str] = &[
    "diff",
    "--patch",
    "--unified=3",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames",
    "--text",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "-O/dev/null",
    // `.gitmodules` of the change could hide its submodules.
    "--ignore-submodules=none",
    "--submodule=short",
];

/// Whether a word names commits and no file: `main...HEAD`, `v1..v2`.
pub(super) fn is_git_range(word: &str) -> bool {
    word.contains("..")
        && !word.starts_with('-')
        && !word.trim_matches('.').is_empty()
        && !word.starts_with(['/', '\\'])
        && !word.starts_with("./")
        && !word.split('/').any(|part| part == "..")
}

/// What changes in a range of commits of the repository in the working directory, or in its index.
pub(super) fn git_diff(range: &str) -> Result<String, CliError> {
    if Path::new(range).exists() {
        let sentence = format!("{range} is a range of commits and also a file: write ./{range} for the file");
        return Err(CliError::input(sentence));
    }
    let git = GitReader { range, folder: Path::new("."), timeout: GIT_TIMEOUT };
    let text = git.diff()?;
    match text.trim().is_empty() {
        true if range == STAGED => {
            Err(CliError::input("nothing is staged: add what should be judged with git add"))
        }
        true => Err(CliError::input(format!("nothing changes in the range {range}"))),
        false => Ok(text),
    }
}

/// Asks git about a range of the repository that a folder belongs to.
struct GitReader<'a> {
    range: &'a str,
    folder: &'a Path,
    timeout: Duration,
}

/// What git said.
struct GitAnswer {
    has_succeeded: bool,
    /// At most one byte more than was allowed.
    out: Vec<u8>,
    /// The first line on stderr.
    complaint: String,
}

impl GitReader<'_> {
    fn diff(&self) -> Result<String, CliError> {
        let answer = self.run(&["rev-parse", "--git-dir"], ANSWER_BYTES_MAX)?;
        if !answer.has_succeeded {
            let range = self.range;
            if !answer.complaint.contains("not a git repository") {
                return Err(self.wrong(&answer.complaint));
            }
            let sentence = format!("{range} is a range of commits, but this folder is in no git repository");
            return Err(CliError::input(sentence)
                .with_help("change to the repository's folder; or write the diff to a file and name that"));
        }
        let compared = if self.range == STAGED { "--cached".to_owned() } else { self.hashes()? };
        // A full hash is never taken for the name of a ref, so git need not warn of one.
        let args = [&["-c", "core.warnAmbiguousRefs=false"], DIFF_OPTIONS, &[&compared, "--"]].concat();
        let answer = self.run(&args, RAW_DIFF_BYTES_MAX)?;
        let too_long = || too_long(&format!("diff of {}", self.range), DEBATE_FILE_BYTES_MAX);
        if answer.out.len() as u64 > RAW_DIFF_BYTES_MAX {
            return Err(too_long());
        }
        if !answer.has_succeeded {
            return Err(self.wrong(&answer.complaint));
        }
        let text = self.text(&answer.out)?;
        if text.len() as u64 > DEBATE_FILE_BYTES_MAX { Err(too_long()) } else { Ok(text) }
    }

    /// The diff as text. Of a file with a NUL byte only the header is kept, and a line that names it: leaving it out would hide it. Any
    /// other file that is not UTF-8 text is an error.
    fn text(&self, diff: &[u8]) -> Result<String, CliError> {
        let lines: Vec<&[u8]> = diff.split_inclusive(|byte| *byte == b'\n').collect();
        let mut text = String::new();
        // The lines of a file's text have a sign before them.
        for file in lines.chunk_by(|_, next| !next.starts_with(b"diff --git ")) {
            let header = file.iter().position(|line| line.starts_with(b"@@")).unwrap_or(file.len());
            let header = file.get(..header).unwrap_or_default().concat();
            let name = changed_name(&String::from_utf8_lossy(&header));
            let is_binary = file.iter().any(|line| line.contains(&0));
            let shown = if is_binary { header } else { file.concat() };
            text.push_str(std::str::from_utf8(&shown).map_err(|_| {
                self.wrong(&format!("{name} is not UTF-8 text")).with_help(
                    "write the diff without it to a file and name that: git diff RANGE -- . ':!FILE'",
                )
            })?);
            if is_binary {
                text.push_str(&agon_report::unshown_file_line(&name));
                text.push('\n');
            }
        }
        Ok(text)
    }

    /// The range with the hashes of both commits.
    fn hashes(&self) -> Result<String, CliError> {
        let (from, rest) = self.range.split_once("..").unwrap_or((self.range, ""));
        let (dots, to) = rest.strip_prefix('.').map_or(("..", rest), |to| ("...", to));
        Ok(format!("{}{dots}{}", self.commit(from)?, self.commit(to)?))
    }

    /// The hash of the commit at one end of a range: a name or a hash, with `~N` and `^N` after it.
    fn commit(&self, end: &str) -> Result<String, CliError> {
        let (name, steps) = end.split_at(end.find(['~', '^']).unwrap_or(end.len()));
        let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"{}:?*[\\\"'`$".contains(c);
        let are_steps = steps.chars().all(|c| matches!(c, '~' | '^') || c.is_ascii_digit());
        let is_name = name.chars().all(is_plain) && !name.starts_with('-') && !name.contains("..");
        if !is_name || !are_steps || name.is_empty() && !steps.is_empty() {
            return Err(self.wrong(&format!("{end:?} is neither a name nor a hash")).with_help(
                "write a branch, a tag or the hash of a commit, and ~N or ^N after it if you like",
            ));
        }
        let known = if is_hash(name) { Some(name.to_owned()) } else { self.ref_hash(name)? };
        let wanted = format!("{}{steps}^{{commit}}", known.as_deref().unwrap_or(name));
        // A full hash is never taken for the name of a ref. For any other name, git's warning counts whatever the settings say.
        let warns = format!("core.warnAmbiguousRefs={}", known.is_none());
        let answer = self.run(&["-c", &warns, "rev-parse", "--verify", &wanted], ANSWER_BYTES_MAX)?;
        let hash = String::from_utf8_lossy(&answer.out).trim().to_owned();
        match answer.has_succeeded && is_hash(&hash) {
            true if known.is_none() && !answer.complaint.is_empty() => Err(self.wrong(&answer.complaint)),
            true => Ok(hash),
            false => Err(self.wrong(&format!("there is no commit {end:?}"))),
        }
    }

    /// The hash of the only ref with this name. Git would prefer a tag to a branch, and tags come with whatever is fetched, so a name
    /// with two meanings is refused.
    fn ref_hash(&self, name: &str) -> Result<Option<String>, CliError> {
        let names = match name {
            "" | "@" | "HEAD" => vec!["HEAD".to_owned()],
            full if full.starts_with("refs/") => vec![full.to_owned()],
            short => ["refs/heads/X", "refs/remotes/X", "refs/remotes/X/HEAD", "refs/tags/X", "refs/X"]
                .map(|place| place.replace('X', short))
                .to_vec(),
        };
        let mut found = Vec::new();
        for place in names {
            let args = ["show-ref", "--verify", "--hash", "--", &place];
            let answer = self.run(&args, ANSWER_BYTES_MAX)?;
            let hash = String::from_utf8_lossy(&answer.out).trim().to_owned();
            if answer.has_succeeded && is_hash(&hash) {
                found.push((place, hash));
            }
        }
        let is_short_hash = name.len() >= SHORT_HASH_CHARS_MIN && is_hex(name);
        if !found.is_empty() && is_short_hash {
            let answer = self.run(&["rev-parse", &format!("--disambiguate={name}")], ANSWER_BYTES_MAX)?;
            let hashes = String::from_utf8_lossy(&answer.out).into_owned();
            found.extend(hashes.lines().map(|hash| (hash.to_owned(), hash.to_owned())));
        }
        if found.len() > 1 {
            let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
            let sentence = format!("{name:?} is ambiguous: it names {}", places.join(" and "));
            return Err(self
                .wrong(&sentence)
                .with_help("write one of these in full, or the hash of the commit"));
        }
        Ok(found.pop().map(|(_, hash)| hash))
    }

    /// Runs git and reads at most one byte more of its answer than is allowed.
    fn run(&self, args: &[&str], bytes_max: u64) -> Result<GitAnswer, CliError> {
        let started = Command::new("git")
            .args(GIT_OPTIONS)
            .args(args)
            .current_dir(self.folder)
            // Its complaints are looked at.
            .env("LC_ALL", "C")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none")
            // Grafts give a commit other parents.
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env_remove("GIT_DIFF_OPTS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let range = self.range;
        let failed = |why| CliError::input(format!("git cannot be run for the range {range}: {why}"));
        let mut child = started.map_err(failed)?;
        let answer = self.answer(&mut child, bytes_max);
        // Git may still run: its answer was too long, or it took too long.
        let has_answered = matches!(&answer, Ok(answer) if answer.out.len() as u64 <= bytes_max);
        if !has_answered {
            let _ = child.kill();
        }
        let has_succeeded = child.wait().is_ok_and(|status| status.success());
        Ok(GitAnswer { has_succeeded, ..answer? })
    }

    fn answer(&self, child: &mut Child, bytes_max: u64) -> Result<GitAnswer, CliError> {
        let ends_at = Instant::now() + self.timeout;
        let out = first_bytes(child.stdout.take(), bytes_max + 1);
        let complaint = first_bytes(child.stderr.take(), ANSWER_BYTES_MAX);
        let wait = |piece: Receiver<Vec<u8>>| match piece
            .recv_timeout(ends_at.saturating_duration_since(Instant::now()))
        {
            Ok(bytes) => Ok(bytes),
            Err(RecvTimeoutError::Disconnected) => Err(self.wrong("what git says cannot be read")),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.timeout.as_secs();
                Err(self.wrong(&format!("git was stopped, because it took more than {seconds} seconds")))
            }
        };
        let out = wait(out)?;
        // Git is killed if its answer is too long. It may still hold stderr, so stderr is not read then.
        let complaint = if out.len() as u64 > bytes_max { Vec::new() } else { wait(complaint)? };
        let complaint = String::from_utf8_lossy(&complaint).lines().next().unwrap_or_default().to_owned();
        Ok(GitAnswer { has_succeeded: false, out, complaint })
    }

    fn wrong(&self, why: &str) -> CliError {
        let why = if why.trim().is_empty() { "git failed" } else { why.trim() };
        match self.range {
            STAGED => CliError::input(format!("what is staged: {why}")),
            range => CliError::input(format!("the range {range}: {why}")),
        }
    }
}

/// The name of a changed file in the header of its diff, as git writes it.
fn changed_name(header: &str) -> String {
    let path = |mark: &str| {
        let path = header.lines().find_map(|line| line.strip_prefix(mark))?.trim_end_matches('\t');
        (path != "/dev/null").then(|| {
            let quoted = path.strip_prefix("\"b/").or_else(|| path.strip_prefix("\"a/"));
            let plain = path.strip_prefix("b/").or_else(|| path.strip_prefix("a/")).unwrap_or(path);
            quoted.map_or_else(|| plain.to_owned(), |rest| format!("\"{rest}"))
        })
    };
    let whole = || header.lines().next().unwrap_or_default().trim_start_matches("diff --git ").to_owned();
    path("+++ ").or_else(|| path("--- ")).unwrap_or_else(whole)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hash(text: &str) -> bool {
    HASH_CHARS.contains(&text.len()) && is_hex(text)
}

/// Reads the beginning of a pipe on a thread, and then closes it. Both pipes of a program must be read at once.
fn first_bytes(pipe: Option<impl Read + Send + 'static>, bytes_max: u64) -> Receiver<Vec<u8>> {
    let (send, receive) = sync_channel(1);
    let read = move || {
        let mut bytes = Vec::new();
        let is_read = pipe.is_some_and(|pipe| pipe.take(bytes_max).read_to_end(&mut bytes).is_ok());
        if is_read {
            let _ = send.send(bytes);
        }
    };
    // Without a thread, the sender is dropped, and the receiver says so.
    let _ = std::thread::Builder::new().name("git".into()).spawn(read);
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, args: &[&str]) -> String {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").args(who).args(args).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    /// `main` with a file in a folder, and `change` with two commits on top of it.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q", "-b", "main"]);
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for (branch, text) in
            [("main", "top\nbase\n"), ("change", "top\nbase\nfirst\n"), ("change", "top\nfirst\nsecond\n")]
        {
            git(root, &["checkout", "-q", "-B", branch]);
            std::fs::write(root.join("a.txt"), text).unwrap();
            std::fs::write(root.join("sub/b.txt"), text).unwrap();
            git(root, &["add", "-A"]);
            git(root, &["commit", "-q", "-m", text.trim()]);
        }
        folder
    }

    fn diff_in(folder: &Path, range: &str) -> Result<String, String> {
        let reader = GitReader { range, folder, timeout: GIT_TIMEOUT };
        reader.diff().map_err(|why| why.to_string())
    }

    fn refused(folder: &Path, range: &str, want: &str) {
        let why = diff_in(folder, range).unwrap_err();
        assert!(why.contains(want), "{range}: {why}");
    }

    #[test]
    fn a_range_of_commits_is_no_path() {
        for word in ["main...HEAD", "v1.2..v1.3", "HEAD~3..", "..feature/x", "origin/main..HEAD"] {
            assert!(is_git_range(word), "{word}");
        }
        for word in [
            "../change.diff",
            "a/../b.diff",
            "..",
            "...",
            "--output=x..y",
            "change.diff",
            "-",
            "./a..b",
            "/a..b",
        ] {
            assert!(!is_git_range(word), "{word}");
        }
    }

    #[test]
    fn a_name_that_a_fetched_tag_shares_with_a_branch_is_refused() {
        let folder = repository();
        let root = folder.path();
        let (main, first) = (git(root, &["rev-parse", "main"]), git(root, &["rev-parse", "change~1"]));
        git(root, &["update-ref", "refs/remotes/origin/main", &main]);
        let whole = diff_in(root, "main...change").unwrap();
        assert!(whole.contains("+second") && whole.contains("-base"), "{whole}");
        for range in ["origin/main...change", "main..", "main...HEAD", "..change~0", "@^2..change"] {
            let is_range = !range.starts_with('@') && !range.starts_with("..");
            assert_eq!(diff_in(root, range).is_ok_and(|text| text == whole), is_range, "{range}");
        }
        for tag in ["main", "origin/main", "HEAD", &first, &first[..8]] {
            git(root, &["update-ref", &format!("refs/tags/{tag}"), &first]);
        }
        git(root, &["config", "core.warnAmbiguousRefs", "false"]);
        refused(root, "main...HEAD", "it names refs/heads/main and refs/tags/main");
        refused(root, "main~0..HEAD", "ambiguous");
        refused(root, "origin/main...HEAD", "it names refs/remotes/origin/main and refs/tags/origin/main");
        refused(root, &format!("{}..HEAD", &first[..8]), "ambiguous");
        let by_hash = format!("{main}...HEAD");
        for range in ["refs/heads/main...HEAD", "refs/remotes/origin/main...@", &by_hash] {
            assert_eq!(diff_in(root, range).unwrap(), whole, "{range}");
        }
        let rest = diff_in(root, &format!("{first}..HEAD")).unwrap();
        assert_eq!(diff_in(root, "refs/tags/main..HEAD").unwrap(), rest);
    }

    /// Whatever is no name of a commit could compare with the work tree, or read what happened on this machine.
    #[test]
    fn both_ends_of_a_range_are_commits() {
        let folder = repository();
        let root = folder.path();
        for range in
            ["HEAD^{/..}", "main@{1}..HEAD", "main..:/first", "main..HEAD:sub", "^main..HEAD", "a b..c"]
        {
            refused(root, range, "is neither a name nor a hash");
        }
        for range in ["nothing...HEAD", "main..nothing", "main..--stat", "main...HEAD..HEAD", "main..HEAD~9"]
        {
            assert!(diff_in(root, range).is_err(), "{range}");
        }
        refused(root, "main..nothing", "there is no commit \"nothing\"");
    }

    #[test]
    fn no_setting_of_a_repository_changes_what_a_diff_shows() {
        let folder = repository();
        let root = folder.path();
        let whole = diff_in(root, "main~0...change").unwrap();
        let attributes = root.join(".git/attributes");
        std::fs::write(&attributes, "* -diff\n").unwrap();
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::write(root.join(".git/info/attributes"), "* -diff\n").unwrap();
        let graft = [git(root, &["rev-parse", "main"]), git(root, &["rev-parse", "change"])].join(" ");
        std::fs::write(root.join(".git/info/grafts"), graft).unwrap();
        for (key, value) in [
            ("core.attributesFile", attributes.to_str().unwrap()),
            ("diff.relative", "true"),
            ("diff.orderFile", "none"),
            ("diff.external", "false"),
            ("diff.noprefix", "true"),
            ("diff.context", "0"),
        ] {
            git(root, &["config", key, value]);
        }
        git(root, &["replace", "change:a.txt", "main:a.txt"]);
        for place in [root.to_owned(), root.join("sub")] {
            assert_eq!(diff_in(&place, "main~0...change").unwrap(), whole);
        }
    }

    #[test]
    fn a_binary_file_is_named_in_place_of_its_content() {
        let folder = repository();
        let root = folder.path();
        std::fs::write(root.join(".gitattributes"), "a.txt -diff\nb.txt binary\n").unwrap();
        std::fs::write(root.join("a.txt"), "hidden?\n").unwrap();
        std::fs::create_dir_all(root.join("x b")).unwrap();
        for name in ["sub/logo.png", "x b/\u{e4} b.png"] {
            std::fs::write(
                root.join(name),
                [b"\x89PNG\n@@\ndiff --git a/x b/x\n\0".as_slice(), &[255; 2_000_000]].concat(),
            )
            .unwrap();
        }
        git(root, &["add", "-A"]);
        let check = |diff: String, sign: char| {
            let read = agon_protocols::packet_lines::read_diff(&diff).unwrap();
            let shown = |path: &str| {
                let file = read.files.iter().find(|file| file.path == path);
                file.unwrap_or_else(|| panic!("{path} in {diff}")).numbered.join("\n")
            };
            assert!(shown("sub/logo.png").ends_with("Binary file sub/logo.png: not shown"), "{diff}");
            assert!(shown("x b/\u{e4} b.png").ends_with(": not shown") && !diff.contains("PNG"), "{diff}");
            assert!(diff.contains(&format!("\n{sign}hidden?\n")), "an attribute hides nothing: {diff}");
            assert_eq!(diff.matches(": not shown").count(), 2, "{diff}");
        };
        check(diff_in(root, STAGED).unwrap(), '+');
        git(root, &["commit", "-q", "-m", "logo"]);
        check(diff_in(root, "main..HEAD").unwrap(), '+');
        check(diff_in(root, "HEAD..main").unwrap(), '-');
        std::fs::write(root.join("sub/latin.txt"), b"caf\xe9\n").unwrap();
        git(root, &["add", "-A"]);
        refused(root, STAGED, "what is staged: sub/latin.txt is not UTF-8 text");
    }

    #[test]
    fn what_is_wrong_with_a_repository_is_said_in_gits_words() {
        let folder = repository();
        let root = folder.path();
        let elsewhere = tempfile::tempdir().unwrap();
        refused(elsewhere.path(), "main..HEAD", "this folder is in no git repository");
        std::fs::write(root.join(".git/config"), "[core\n").unwrap();
        refused(root, "main..HEAD", "bad config line 1");
    }

    #[test]
    fn a_long_diff_is_not_read_to_its_end() {
        let folder = repository();
        let root = folder.path();
        let long = "text\n".repeat(usize::try_from(DEBATE_FILE_BYTES_MAX).unwrap());
        std::fs::write(root.join("a.txt"), long).unwrap();
        git(root, &["commit", "-q", "-a", "-m", "long"]);
        refused(root, "main..HEAD", "the diff of main..HEAD is longer than 1024 KB");
        let reader = GitReader { range: "main..HEAD", folder: root, timeout: GIT_TIMEOUT };
        let answer = reader.run(&["cat-file", "blob", "HEAD:a.txt"], 1000).unwrap();
        assert_eq!((answer.out.len(), answer.has_succeeded), (1001, false));
    }

    /// Nobody writes to the pipe, so git would never return.
    #[test]
    #[cfg(unix)]
    fn a_git_that_does_not_end_is_stopped() {
        let folder = repository();
        let config = folder.path().join(".git/config");
        std::fs::remove_file(&config).unwrap();
        assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
        let timeout = Duration::from_millis(200);
        let reader = GitReader { range: "main..HEAD", folder: folder.path(), timeout };
        let why = reader.diff().unwrap_err().to_string();
        assert!(why.contains("git was stopped"), "{why}");
    }
}
