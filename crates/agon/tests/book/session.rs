//! Runs the commands of a chapter in one shell.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agon_mock::{MockDebate, MockResponse, MockServer, MockSettings};
use serde_json::json;
use tempfile::TempDir;

use crate::chapter::{Chapter, ChapterStep, ConsoleCommand};
use crate::repository;

/// The port that chapters show.
const SHOWN_PORT: &str = "7717";
/// The address of the mock server as chapters show it: that of Ollama.
const SHOWN_PROVIDER: &str = "127.0.0.1:11434";
/// Where `agon` is installed in what chapters show.
const SHOWN_PROGRAM: &str = "/usr/local/bin/agon";
/// The home directory that chapters show.
const SHOWN_HOME: &str = "/home/you";
/// The variables that send the calls of a chapter to the mock server.
const ADDRESSES: [&str; 4] = ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_HOST"];
const CHAPTER_TIME_MAX: Duration = Duration::from_secs(300);

/// Runs every step. `book_status` is the status of the last command, so that `echo $?` shows it.
const SHELL_SCRIPT: &str = r#"
# Runs the command in a terminal and types the next line whenever the screen ends with a prompt.
in_terminal() {
    mkfifo "$book_step/keys"
    exec 9<>"$book_step/keys"
    : >"$book_step/both"
    script -qefc "stty cols 80; $book_command" /dev/null <&9 >"$book_step/both" &
    book_typed=0
    while IFS= read -r book_line; do
        until [ "$(tail -c 2 "$book_step/both")" = "> " ] && [ "$(wc -c <"$book_step/both")" -gt "$book_typed" ]; do
            kill -0 $! 2>/dev/null || break 2
            sleep 0.05
        done
        book_typed=$(wc -c <"$book_step/both")
        printf '%s\n' "$book_line" >&9
    done <"$book_step/typed"
    wait $!
}

cd "$HOME/work"
book_status=0
for book_step in "$BOOK_STEPS"/*; do
    if [ -e "$book_step/file" ]; then
        mkdir -p "$(dirname "$(cat "$book_step/name")")"
        cp "$book_step/file" "$(cat "$book_step/name")"
        continue
    fi
    book_command=$(cat "$book_step/command")
    if [ -e "$book_step/typed" ]; then
        in_terminal
    else
        (exit "$book_status")
        eval "$book_command" >"$book_step/both" 2>&1 </dev/null
    fi
    book_status=$?
    case $book_command in
        *\&)
            # A server: its first line says that it is ready.
            for book_wait in $(seq 200); do [ -s "$book_step/both" ] && break; sleep 0.1; done ;;
    esac
    cp "$book_step/both" "$book_step/output"
    echo "$book_status" >"$book_step/status"
done
"#;

/// What a command of a chapter printed.
pub(crate) struct CommandResult {
    pub(crate) command: ConsoleCommand,
    pub(crate) lines: Vec<String>,
    pub(crate) status: i32,
}

/// Runs all steps of a chapter, in a folder that is removed afterwards.
pub(crate) fn run(chapter: &Chapter) -> Vec<CommandResult> {
    let steps = chapter.steps();
    if steps.is_empty() {
        return Vec::new();
    }
    let folder = TempDir::new().unwrap();
    // The system's folder for temporary files may be a link.
    let root = folder.path().canonicalize().unwrap();
    let port = free_port();
    prepare(&root);
    for (n, step) in steps.iter().enumerate() {
        let at = root.join(format!("steps/{n:03}"));
        fs::create_dir_all(&at).unwrap();
        match step {
            ChapterStep::Write { name, text } => {
                fs::write(at.join("file"), text).unwrap();
                fs::write(at.join("name"), name).unwrap();
            }
            ChapterStep::Run(command) => {
                fs::write(at.join("command"), adapted(&command.text, &port)).unwrap();
                if command.in_terminal {
                    fs::write(at.join("typed"), typed_lines(&chapter.lines[command.output.clone()])).unwrap();
                }
            }
        }
    }
    let mock = mock_server();
    let is_over = run_shell(&root, &mock);
    let shown = [
        (root.join("bin/agon").display().to_string(), SHOWN_PROGRAM.to_owned()),
        (env!("CARGO_BIN_EXE_agon").to_owned(), SHOWN_PROGRAM.to_owned()),
        (root.join("you").display().to_string(), SHOWN_HOME.to_owned()),
        (format!("127.0.0.1:{port}"), format!("127.0.0.1:{SHOWN_PORT}")),
        (mock.root(), format!("http://{SHOWN_PROVIDER}")),
    ];
    let results: Vec<_> = (0..).zip(&steps).filter_map(|(n, step)| result(&root, n, step, &shown)).collect();
    assert!(
        is_over,
        "{}: this command and the ones before it take longer than {} s",
        chapter.place(results.last().map_or(0, |result| result.command.line)),
        CHAPTER_TIME_MAX.as_secs()
    );
    results
}

/// The home directory, the working directory with examples and data, and `agon` in a folder for `PATH`.
fn prepare(root: &Path) {
    for name in ["bin", "steps", "tmp"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_agon"), root.join("bin/agon")).unwrap();
    for name in ["examples", "data"] {
        let to = root.join("you/work").join(name);
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(repository().join(name)).unwrap() {
            let from = entry.unwrap().path();
            if from.is_file() {
                fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
            }
        }
    }
}

/// Whether the shell ended in time.
fn run_shell(root: &Path, mock: &MockServer) -> bool {
    let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-c", SHELL_SCRIPT]).env_clear().process_group(0);
    shell.env("PATH", path).env("HOME", root.join("you")).env("AGON_HOME", root.join("you/.agon"));
    shell.env("BOOK_STEPS", root.join("steps")).env("TMPDIR", root.join("tmp"));
    shell.env("LANG", "C.UTF-8").env("TZ", "UTC").env("SHELL", "/bin/bash");
    shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for (name, address) in ADDRESSES.iter().zip([mock.url(), mock.root(), mock.root(), mock.root()]) {
        shell.env(name, address);
    }
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        shell.env(name, "sk-book-0123456789");
    }
    let mut child = shell.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + CHAPTER_TIME_MAX;
    let is_over = loop {
        if child.try_wait().unwrap().is_some() {
            break true;
        }
        if Instant::now() > end {
            break false;
        }
        thread::sleep(Duration::from_millis(20));
    };
    kill_group(&mut child);
    is_over
}

/// Ends the shell and what it left running.
fn kill_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    drop(Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status());
    drop(child.wait());
}

/// What the providers of a chapter answer.
fn mock_server() -> MockServer {
    let responder = MockDebate::default().responder();
    let server = MockServer::start(MockSettings { responder, keep: 0 }).unwrap();
    server.list(|request| {
        let names = match (request.header("x-api-key"), request.header("authorization")) {
            _ if request.path.starts_with("/v1beta") => {
                return MockResponse::json(200, &json!({"models": [{"name": "models/gemini-2.5-flash"}]}));
            }
            (Some(_), _) => ["claude-sonnet-4-5", "claude-haiku-4-5"],
            (_, Some(_)) => ["gpt-5", "gpt-5-mini"],
            _ => ["llama3.2:3b", "qwen3:4b"],
        };
        let models = names.map(|name| json!({"id": name, "object": "model", "type": "model"}));
        MockResponse::json(200, &json!({"object": "list", "data": models, "has_more": false}))
    });
    server
}

/// What a step printed, with the addresses and paths that chapters show.
fn result(root: &Path, n: usize, step: &ChapterStep, shown: &[(String, String)]) -> Option<CommandResult> {
    let ChapterStep::Run(command) = step else { return None };
    let at = root.join(format!("steps/{n:03}"));
    let status = fs::read_to_string(at.join("status")).ok()?.trim().parse().unwrap();
    let output = String::from_utf8_lossy(&fs::read(at.join("output")).unwrap()).into_owned();
    let output = shown.iter().fold(output, |output, (is, shown)| output.replace(is, shown));
    let mut lines: Vec<String> =
        output.lines().map(|line| without_escapes(line).trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    Some(CommandResult { command: command.clone(), lines, status })
}

/// A line of a terminal without colours and carriage returns.
fn without_escapes(line: &str) -> String {
    let mut shown = String::new();
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => drop(chars.find(char::is_ascii_alphabetic)),
            '\r' => {}
            _ => shown.push(char),
        }
    }
    shown
}

/// The command with a free port in place of the one that it shows. A server is told, because it would listen on its default.
fn adapted(command: &str, port: &str) -> String {
    let mut command = command.replace(SHOWN_PORT, port);
    if !command.contains("--listen") {
        command = command.replace("agon serve", &format!("agon serve --listen 127.0.0.1:{port}"));
    }
    if command.contains("mcp --install") {
        command = command.replace("agon ", "env -u AGON_HOME -u OLLAMA_HOST agon ");
    }
    if command.contains("--dry-run") {
        let unset = ADDRESSES.map(|name| format!("-u {name} ")).concat();
        command = command.replace("agon ", &format!("env {unset}agon "));
    }
    command
}

/// What somebody types: the shown lines that begin with a prompt.
fn typed_lines(shown: &[String]) -> String {
    shown.iter().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect()
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}
