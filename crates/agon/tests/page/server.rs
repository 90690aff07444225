//! A server of its own for a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// What is as hostile as a text can be in a page.
pub(crate) const HOSTILE: &str =
    "</textarea></script><img src=x onerror=alert(1)><b>bold</b>&lt;i&gt;\u{202e}";

/// A debate of three voters who say hostile things, fast.
const HOSTILE_SCRIPT: &str = r#"
seats:
  "*":
    "*":
      analysis: HOSTILE and why
      why: HOSTILE is my reason
      answer: HOSTILE is my answer
      confidence: 0.7
"#;

pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    /// The one-time link, if there is a token.
    pub(crate) link: Option<String>,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(None)
    }

    pub(crate) fn start_with(token: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        let script = folder.path().join("hostile.yaml");
        std::fs::write(&script, HOSTILE_SCRIPT.replace("HOSTILE", &format!("{HOSTILE:?}").replace('"', "")))
            .unwrap();
        let config = format!("[serve]\nallow = [\"script/{}\"]\n", script.display());
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(["serve", "--listen", "127.0.0.1:0", "--config", "config.toml"])
            .current_dir(folder.path())
            .env_clear()
            .env("AGON_HOME", folder.path().join("home"))
            .envs(token.map(|token| ("AGON_TOKEN", token)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut after = |words: &str| lines.next().unwrap().split_once(words).unwrap().1.to_owned();
        let address = after("listening on http://");
        let link = token.map(|_| after("open this link once: "));
        Self { process, address, link, folder }
    }

    /// A rated debate whose outcome is known, so that there is calibration to show. Scripts are rated only if somebody says so.
    pub(crate) fn rated_debate(&self) {
        let debate = ["arena", "Which queue?", "--models", "script/demo-arena", "--remember", "--quiet"];
        for args in [&debate[..], &["resolve", "last", "--truth", "right"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
            command.args(args).current_dir(self.folder.path()).env_clear();
            let said = command.env("AGON_HOME", self.folder.path().join("home")).output().unwrap();
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        }
    }

    /// The name of a model whose every answer is hostile.
    pub(crate) fn hostile_model(&self) -> String {
        format!("script/{}", self.folder.path().join("hostile.yaml").display())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a request: the status, the head and the body.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n",
            self.address
        );
        stream.write_all(format!("{head}{headers}\r\n{body}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    /// A page, as a browser asks for it.
    pub(crate) fn page(&self, path: &str) -> (u16, String, String) {
        self.request("GET", path, "Accept: text/html\r\n", "")
    }

    /// Opens a debate and waits until it is over, or a person is asked. Gives its id.
    pub(crate) fn debate(&self, body: &Value) -> String {
        let headers = "Content-Type: application/json\r\nPrefer: wait=60\r\n";
        let has_person = body["models"].to_string().contains("human/");
        let headers = if has_person { "Content-Type: application/json\r\n" } else { headers };
        let (status, _, answer) = self.request("POST", "/api/v1/debates", headers, &body.to_string());
        assert_eq!(status, 201, "{answer}");
        let start = answer.find('{').unwrap();
        let mut read = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>();
        read.next().unwrap().unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// The demo of a protocol, to its end.
    pub(crate) fn demo(&self, protocol: &str) -> String {
        let info = agon_protocols::find(protocol).unwrap().info();
        self.debate(&agon::serve::page::demos::demo_request(info).unwrap())
    }

    /// A debate in which hostile things were said.
    pub(crate) fn hostile_debate(&self) -> String {
        self.debate(&json!({"protocol": "poll", "question": format!("Is {HOSTILE} safe?"), "models": [self.hostile_model()]}))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
