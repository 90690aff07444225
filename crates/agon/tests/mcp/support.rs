//! A client on stdin and stdout of the real binary. It accepts nothing on stdout but JSON-RPC.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use agon_mock::{MockServer, MockSettings, converging_debate};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder that is at once the working directory and the home of the program.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The configuration of the user.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::create_dir_all(self.path("home")).unwrap();
        std::fs::write(self.path("home/agon.toml"), text).unwrap();
    }

    /// The program, with nothing of this machine's environment in it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(args).current_dir(self.folder.path()).env_clear();
        command.env("AGON_HOME", self.path("home")).env("HOME", self.path("user"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A client that has not said anything yet.
    pub(crate) fn silent_client(&self) -> McpClient {
        McpClient::start(self.command(&["mcp"]))
    }

    /// A client that has introduced itself.
    pub(crate) fn client(&self) -> McpClient {
        self.client_with(json!({}))
    }

    /// The same with capabilities.
    pub(crate) fn client_with(&self, capabilities: Value) -> McpClient {
        let mut client = self.silent_client();
        client.introduce(capabilities);
        client
    }

    /// What a command printed.
    pub(crate) fn printed(&self, args: &[&str]) -> String {
        let output = self.command(args).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A server of models that holds its answers back until they are released.
pub(crate) struct HeldModel {
    pub(crate) mock: MockServer,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl HeldModel {
    pub(crate) fn start() -> Self {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let (held, answer) = (gate.clone(), converging_debate(Duration::ZERO));
        let responder = move |request: &agon_mock::MockRequest| {
            let (is_open, opened) = &*held;
            let open = opened.wait_timeout_while(is_open.lock().unwrap(), PATIENCE, |is_open| !*is_open);
            drop(open.unwrap());
            answer(request)
        };
        Self { mock: MockServer::start(MockSettings::new(responder)).unwrap(), gate }
    }

    pub(crate) fn release(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    /// The configuration that makes it the user's only model.
    pub(crate) fn configuration(&self) -> String {
        mock_configuration(&self.mock)
    }
}

/// The configuration that makes a server of models the only one.
pub(crate) fn mock_configuration(mock: &MockServer) -> String {
    format!("models = [\"mock/m\"]\n[providers.mock]\nbase_url = \"{}\"\n", mock.url())
}

/// A client that speaks JSON-RPC over the pipes of the program.
pub(crate) struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
    /// Everything that came and was not an answer: notifications and requests of the server.
    pub(crate) heard: Vec<Value>,
    answers: Vec<Value>,
    /// What a client of the newest revision says about itself with every request.
    about: Option<Value>,
}

impl McpClient {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|why| json!({"not_json": line, "why": why.to_string()}));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, next_id: 1, heard: Vec::new(), answers: Vec::new(), about: None }
    }

    pub(crate) fn introduce(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let info = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        info
    }

    /// Speaks the newest revision, which has no introduction.
    pub(crate) fn speak_modern(&mut self, capabilities: Value) {
        self.about = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its id.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        if let Some(about) = &self.about {
            params["_meta"] = about.clone();
        }
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The result of a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer_to(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer_to(id);
        assert!(answer["result"].is_null(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// The whole answer to a request.
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        self.next_of(|client| {
            let place = client.answers.iter().position(|answer| answer["id"] == id)?;
            Some(client.answers.remove(place))
        })
    }

    /// The result of a request. Meanwhile, `fill_in` says what a person answers in each form that comes.
    pub(crate) fn answer_with_forms(&mut self, id: u64, fill_in: impl Fn(&Value) -> Value) -> Value {
        loop {
            let message = self.next_of(|client| {
                let form = client.heard.iter().position(|message| message["method"] == "elicitation/create");
                if let Some(place) = form {
                    return Some(client.heard.remove(place));
                }
                let place = client.answers.iter().position(|answer| answer["id"] == id)?;
                Some(client.answers.remove(place))
            });
            if message["method"].is_null() {
                return message["result"].clone();
            }
            let result = json!({"action": "accept", "content": fill_in(&message["params"])});
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        }
    }

    /// The first message of this method that the server sent by itself.
    pub(crate) fn heard(&mut self, method: &str) -> Value {
        self.next_of(|client| {
            let place = client.heard.iter().position(|message| message["method"] == method)?;
            Some(client.heard.remove(place))
        })
    }

    fn next_of(&mut self, wanted: impl Fn(&mut Self) -> Option<Value>) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(message) = wanted(self) {
                return message;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).expect("an answer");
            assert_eq!(message["jsonrpc"], "2.0", "stdout carries nothing but the protocol: {message}");
            match message["method"].is_null() {
                true => self.answers.push(message),
                false => self.heard.push(message),
            }
        }
    }

    /// Calls a tool and gives its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that has a structured result, which is not an error.
    pub(crate) fn told(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
        result["structuredContent"].clone()
    }

    /// The sentence with which a tool refuses.
    pub(crate) fn complaint(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes stdin and waits for the end of the process.
    pub(crate) fn hang_up(&mut self) -> Option<i32> {
        self.input = None;
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the process ends");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the process without any warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits until something is true that another process brings about.
pub(crate) fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
