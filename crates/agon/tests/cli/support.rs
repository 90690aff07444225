//! A home of its own for each test, and what the binary said in it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The script of a whole debate that converges in its second round.
pub(crate) const TABS: &str = include_str!("tabs.yaml");

/// The text of `script/demo-PROTOCOL`.
pub(crate) fn demo_of(protocol: &str) -> &'static str {
    agon_protocols::find(protocol).unwrap().info().demo.unwrap()
}

/// A folder that is at once the working directory and `AGON_HOME`'s parent.
pub(crate) struct Home {
    folder: TempDir,
}

/// What came of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    /// A home with the script `tabs.yaml` in it.
    pub(crate) fn new() -> Self {
        let home = Self { folder: TempDir::new().unwrap() };
        home.write("tabs.yaml", TABS);
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command, with nothing of this machine's environment in it.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("AGON_HOME", self.path("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn agon<S: AsRef<OsStr>>(&self, args: &[S]) -> Said {
        said(self.command(args).spawn().unwrap())
    }

    /// With these variables.
    pub(crate) fn agon_in<S: AsRef<OsStr>>(&self, env: &[(&str, &str)], args: &[S]) -> Said {
        said(self.command(args).envs(env.iter().copied()).spawn().unwrap())
    }

    /// Under a limit that the shell sets, such as `ulimit -v 1000000`.
    #[cfg(unix)]
    pub(crate) fn agon_limited(&self, limit: &str, env: &[(&str, &str)], args: &[&str]) -> Said {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limit}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_agon")]).args(args);
        shell.current_dir(self.folder.path()).env_clear().env("AGON_HOME", self.path("home"));
        shell.envs(env.iter().copied());
        said(shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// With something piped in.
    pub(crate) fn agon_with<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        // A command that does not read all of its input closes the pipe.
        drop(child.stdin.take().unwrap().write_all(input));
        said(child)
    }

    /// Holds the debate of `tabs.yaml` and gives its outcome.
    pub(crate) fn debate(&self) -> Value {
        self.agon(&["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7", "--json"])
            .json()
    }

    /// Every file below the home but the ones that SQLite makes and unmakes while it looks.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push((path.clone(), std::fs::read(&path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }
}

/// The script of a debate in which no key is accepted.
pub(crate) fn wrong_key() -> String {
    let answers = [
        "Tabs. Everybody sees the width they like.",
        "Spaces. A file looks the same everywhere.",
        "Let a formatter decide.",
    ];
    answers.iter().fold(TABS.to_owned(), |script, answer| {
        script.replace(&format!("    answer: {answer}\n"), "    answer: { fail: key }\n")
    })
}

/// Waits for a command that was started.
pub(crate) fn said(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Bad input: exit 2, a sentence on stderr that has all of `wants` in it, nothing on stdout, and not a file changed.
pub(crate) fn refused(home: &Home, wants: &[&str], go: impl Fn() -> Said) {
    let before = home.files();
    let said = go();
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert!(said.err.starts_with("error: "), "{said:?}");
    assert!(wants.iter().all(|want| said.err.contains(want)), "wanted {wants:?} in {}", said.err);
    assert_eq!(home.files(), before, "{said:?}");
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, Some(0), "{self:?}");
        self
    }

    /// What `agon verify` says of a file that nobody signed, or that cannot be replayed.
    pub(crate) fn not_proven(self) -> Self {
        assert_eq!(self.status, Some(3), "{self:?}");
        self
    }

    /// Everything as one text for a snapshot, with what differs from run to run put the same.
    pub(crate) fn shown(&self) -> String {
        let mut text = steady(&self.out);
        if !self.err.is_empty() {
            text.push_str("-- stderr\n");
            text.push_str(&steady(&self.err));
        }
        if self.status != Some(0) {
            text.push_str(&format!("-- exit status {:?}\n", self.status));
        }
        text
    }
}

/// Ids, hashes, dates and durations put the same.
pub(crate) fn steady(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(steady_line).collect();
    lines.join("\n")
}

fn steady_line(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_id = word.len() == 12 && word.starts_with('1') && !word.contains(char::is_uppercase);
        let is_hash = word.len() == 64;
        shown.push_str(if is_id {
            "(twelve-id.)"
        } else if is_hash {
            "(hash)"
        } else {
            word
        });
        let mut chars = after.chars();
        shown.extend(chars.next());
        rest = chars.as_str();
    }
    steady_times(&shown)
}

/// `2026-01-02 03:04`, `2026-01-02T03:04:05Z`, `1.2 s` and `12 ms`.
fn steady_times(line: &str) -> String {
    let bytes = line.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let date = |at: usize| {
        line.get(at..at + 10).is_some_and(|date| {
            date.char_indices()
                .all(|(n, char)| if n == 4 || n == 7 { char == '-' } else { char.is_ascii_digit() })
        })
    };
    if let Some(at) = (0..line.len()).find(|at| date(*at)) {
        let length = line[at..].find(|char: char| !char.is_ascii_digit() && !"-: TZ".contains(char));
        let length = length.unwrap_or(line.len() - at);
        let trimmed = line[at..at + length].trim_end().len();
        return format!("{}{:.<trimmed$}{}", &line[..at], "(date)", steady_times(&line[at + trimmed..]));
    }
    for unit in [" s", " ms"] {
        for (at, _) in line.match_indices(unit) {
            let ends = !line[at + unit.len()..].starts_with(|char: char| char.is_alphanumeric());
            if ends && at > 0 && digit(at - 1) {
                let start = line[..at]
                    .rfind(|char: char| !char.is_ascii_digit() && char != '.')
                    .map_or(0, |n| n + line[n..].chars().next().map_or(1, char::len_utf8));
                return format!("{}0.0 s{}", &line[..start], steady_times(&line[at + unit.len()..]));
            }
        }
    }
    line.to_owned()
}

/// Runs a command line in a terminal, made by the program `script`. Whenever the screen ends with one of `prompts`, its answer is typed.
/// Gives everything that was on the screen, and the exit status.
#[cfg(unix)]
pub(crate) fn in_terminal(
    home: &Home,
    env: &[(&str, &str)],
    line: &str,
    prompts: &[(&str, &str)],
) -> (String, Option<i32>) {
    use std::io::Read;
    // A new terminal has no size.
    let command = format!("stty rows 24 cols 80; {} {line}", env!("CARGO_BIN_EXE_agon"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(home.path("")).env_clear();
    script
        .env("AGON_HOME", home.path("home"))
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .env("SHELL", "/bin/sh");
    script.env("PATH", std::env::var_os("PATH").unwrap()).envs(env.iter().copied());
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = output.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..read]);
        let screen = String::from_utf8_lossy(&bytes).replace('\r', "");
        if let Some((_, answer)) = prompts.iter().find(|(prompt, _)| screen.ends_with(prompt)) {
            keys.write_all(answer.as_bytes()).unwrap();
        }
    }
    let screen = String::from_utf8_lossy(&bytes).replace('\r', "");
    (screen, child.wait().unwrap().code())
}
