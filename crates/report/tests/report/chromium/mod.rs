//! A real browser, spoken to over its DevTools protocol.

mod socket;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use serde_json::{Value, json};
use socket::Socket;

/// The names that Chromium goes by.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    socket: Socket,
    session: String,
    last: u64,
    /// What happened on the page.
    pub(crate) events: Vec<Value>,
    profile: PathBuf,
}

/// Where a browser is, if there is one: as named, else on the path.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("AGON_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

impl Browser {
    /// Starts the program with a profile of its own; why not, where it does not.
    pub(crate) fn start(program: &Path) -> Result<Self, String> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("browser-{}-{number}", std::process::id());
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut process = Command::new(program)
            .args([
                "--headless=new",
                "--remote-debugging-port=0",
                "--no-first-run",
                "--no-default-browser-check",
            ])
            // Who builds as root, as in a container, has no sandbox; the page is our own.
            .args([
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|why| format!("{} does not start: {why}", program.display()))?;
        let Some(address) = address(&mut process) else {
            process.kill().ok();
            process.wait().ok();
            return Err(format!("{} started, but does not listen", program.display()));
        };
        let socket = Socket::open(&address);
        let mut browser =
            Self { process, socket, session: String::new(), last: 0, events: Vec::new(), profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Ok(browser)
    }

    /// A command, and its answer; what happens meanwhile is kept.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same; the error is the browser's.
    pub(crate) fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(&message.to_string());
        loop {
            let answer = self.read();
            if answer["id"] == json!(self.last) {
                return match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                };
            }
        }
    }

    fn read(&mut self) -> Value {
        let message: Value = serde_json::from_str(&self.socket.read()).unwrap();
        if message.get("method").is_some() {
            self.events.push(message.clone());
        }
        message
    }

    /// Opens a file in a window of this width and scheme, and waits until all of it is there.
    pub(crate) fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        self.open_url(&format!("file://{}", file.display()), width, scheme);
    }

    /// The same for any address.
    pub(crate) fn open_url(&mut self, url: &str, width: u32, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.read();
        }
    }

    /// The value of an expression on the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// A picture of the whole page.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let taken = json!({"format": "png", "captureBeyondViewport": true});
        decode(self.call("Page.captureScreenshot", taken)["data"].as_str().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        std::fs::remove_dir_all(&self.profile).ok();
    }
}

/// Where the browser listens, once it says so. A thread reads all that it says: a pipe that nobody reads would stop it.
fn address(process: &mut Child) -> Option<String> {
    let (tell, told) = mpsc::channel();
    let said = BufReader::new(process.stderr.take()?);
    std::thread::spawn(move || {
        for line in said.lines().map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("DevTools listening on ws://") {
                tell.send(address.trim().to_owned()).ok();
            }
        }
    });
    told.recv_timeout(socket::PATIENCE).ok()
}

/// Base64.
fn decode(text: &str) -> Vec<u8> {
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        (held, bits) = ((held << 6 | u32::from(value)) & 0xff_ffff, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    bytes
}
