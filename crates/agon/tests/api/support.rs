//! A server in a home of its own, and a small HTTP client that can say anything, evil headers included.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A running `agon serve`.
pub(crate) struct Server {
    home: TempDir,
    child: Option<Child>,
    address: String,
    /// What it printed after the address.
    pub(crate) link: Option<String>,
    env: Vec<(String, String)>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn ok(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The `detail` of a problem document.
    pub(crate) fn problem(self, status: u16) -> String {
        let answer = self.ok(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{answer:?}");
        let problem = answer.json();
        assert_eq!(problem["status"], status);
        problem["detail"].as_str().unwrap().to_owned()
    }
}

/// The body of a debate that scripts hold.
pub(crate) fn demo() -> Value {
    json!({"question": "Go or Rust?", "models": ["script/demo"]})
}

/// The script of a short debate that needs no time.
pub(crate) const QUICK: &str = include_str!("../cli/tabs.yaml");

impl Server {
    /// Starts a server without a token.
    pub(crate) fn start() -> Self {
        Self::start_with(&[], "")
    }

    /// With these variables, and this as `agon.toml` of the home.
    pub(crate) fn start_with(env: &[(&str, &str)], configuration: &str) -> Self {
        let home = TempDir::new().unwrap();
        std::fs::create_dir_all(home.path().join("home")).unwrap();
        std::fs::write(home.path().join("home/agon.toml"), configuration).unwrap();
        std::fs::write(home.path().join("tabs.yaml"), QUICK).unwrap();
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut server = Self { home, child: None, address: String::new(), link: None, env };
        server.launch();
        server
    }

    /// The command in the server's home.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(args).current_dir(self.home.path()).env_clear();
        command.env("AGON_HOME", self.home.path().join("home")).envs(self.env.iter().cloned());
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).stdout(Stdio::piped());
        command
    }

    /// `http://ADDRESS:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Starts the process anew.
    pub(crate) fn launch(&mut self) {
        let mut child = self.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        self.address = first.strip_prefix("listening on http://").unwrap().to_owned();
        self.link = match self.env.iter().any(|(name, _)| name == "AGON_TOKEN") {
            true => Some(lines.next().unwrap().unwrap()),
            false => None,
        };
        self.child = Some(child);
    }

    /// Ends the process at once.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the process to end and returns its exit status.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        let status = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(status.success());
        child.wait().unwrap().code()
    }

    /// What the command line prints in the same home.
    pub(crate) fn agon(&self, args: &[&str]) -> String {
        String::from_utf8(self.command(args).output().unwrap().stdout).unwrap()
    }

    /// A request with these headers. `Host` is the server's unless it is among them.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.open(method, path, headers, body);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        parse_answer(&bytes)
    }

    /// Sends a request and returns the connection.
    pub(crate) fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], &body.to_string())
    }

    /// Opens a debate and returns its id.
    pub(crate) fn debate(&self, body: &Value) -> String {
        let opened = self.post("/api/v1/debates", body).ok(201);
        let id = opened.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(opened.header("location"), Some(format!("/api/v1/debates/{id}").as_str()));
        id
    }

    /// Waits until a debate is in this state, and returns its outcome.
    pub(crate) fn wait_for(&self, id: &str, state: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let outcome = self.get(&format!("/api/v1/debates/{id}")).ok(200).json();
            if outcome["state"] == state {
                return outcome;
            }
            assert!(Instant::now() < until, "not {state} but {} ({})", outcome["state"], outcome["error"]);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The asks of a debate that wait, once there are this many.
    pub(crate) fn asks(&self, id: &str, count: usize) -> Vec<Value> {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let asks = self.get(&format!("/api/v1/debates/{id}/asks")).ok(200).json();
            let asks = asks["asks"].as_array().unwrap().clone();
            if asks.len() >= count {
                return asks;
            }
            assert!(Instant::now() < until, "{asks:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn parse_answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, headers, body }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    body
}

/// An event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StreamEvent {
    pub(crate) event: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: String,
}

/// Reads events as they come.
pub(crate) struct EventReader {
    lines: std::io::Lines<BufReader<TcpStream>>,
}

impl EventReader {
    pub(crate) fn open(server: &Server, path: &str, headers: &[(&str, &str)]) -> Self {
        let stream = server.open("GET", path, headers, "");
        let mut lines = BufReader::new(stream).lines();
        let status = lines.next().unwrap().unwrap();
        assert!(status.contains(" 200 "), "{status}");
        while !lines.next().unwrap().unwrap().is_empty() {}
        Self { lines }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<StreamEvent> {
        let mut event = StreamEvent::default();
        loop {
            let line = self.lines.next()?.ok()?;
            match line.split_once(": ") {
                Some(("event", name)) => event.event = name.to_owned(),
                Some(("id", id)) => event.id = Some(id.parse().unwrap()),
                Some(("data", data)) => event.data = data.to_owned(),
                // An empty line ends an event. Others are sizes of chunks and comments that keep the connection alive.
                _ if line.is_empty() && !event.event.is_empty() => return Some(event),
                _ => {}
            }
        }
    }

    /// The next event of the log.
    pub(crate) fn next_record(&mut self) -> Option<StreamEvent> {
        loop {
            let event = self.next()?;
            if event.event == "record" {
                return Some(event);
            }
        }
    }
}
