//! How fast the server is: `cargo bench -p agon --bench serve`.
//!
//! Runs the real binary against a server on loopback that answers after 20 ms, as `bench/speed.rs` does, and compares debates that are
//! opened over HTTP with the same debates of `agon batch` in the same run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agon_mock::{MockServer, MockSettings, converging_debate};

const DELAY: Duration = Duration::from_millis(20);
const DEBATES: usize = 1_000;
/// The server's own default, so that both run as many debates at once.
const AT_ONCE: usize = 256;
const CLIENTS: usize = 16;
const WATCHERS: usize = 500;

fn main() {
    let answer = converging_debate(DELAY);
    let settings = MockSettings { keep: 0, ..MockSettings::new(move |request| answer(request)) };
    let mock = MockServer::start(settings).unwrap();
    let home = std::env::temp_dir().join(format!("agon-bench-serve-{}", std::process::id()));
    fs::create_dir_all(&home).unwrap();
    let bench = Bench { url: mock.url(), home: home.clone() };
    println!("debates of 12 calls, each answered after {} ms; store on", DELAY.as_millis());
    bench.start_up();
    bench.thousand();
    bench.watchers();
    drop(mock);
    fs::remove_dir_all(home).unwrap();
}

struct Bench {
    url: String,
    home: PathBuf,
}

/// A server, and the address that it printed.
struct Served {
    child: Child,
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Bench {
    fn command(&self, store: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(args).args(["--db", self.home.join(store).to_str().unwrap()]).env_clear();
        command.env("AGON_HOME", &self.home).env("OPENAI_BASE_URL", &self.url);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command
    }

    fn serve(&self, store: &str) -> Served {
        let mut child = self.command(store, &["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Served { child, address }
    }

    /// From the start of the process to the first byte of the page.
    fn start_up(&self) {
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..15 {
            let began = Instant::now();
            let served = self.serve("start.db");
            let mut stream = request(&served.address, "GET / HTTP/1.1\r\nConnection: close", "");
            stream.read_exact(&mut [0]).unwrap();
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("start to the first byte of /, median of 15: {:.1} ms (target 30 ms)", times[7]);
    }

    fn thousand(&self) {
        let lines: String = (0..DEBATES).map(|n| format!("{{\"question\": \"{n}?\"}}\n")).collect();
        let input = self.home.join("in.jsonl");
        fs::write(&input, lines).unwrap();
        let at_once = AT_ONCE.to_string();
        let args = ["batch", input.to_str().unwrap(), "--models", "openai/m", "--concurrency", &at_once];
        let began = Instant::now();
        let output = self.command("batch.db", &args).output().unwrap();
        let batch = began.elapsed();
        assert!(output.status.success());

        let served = self.serve("serve.db");
        let began = Instant::now();
        let next = Arc::new(AtomicUsize::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let (next, address) = (next.clone(), served.address.clone());
                std::thread::spawn(move || {
                    while let n = next.fetch_add(1, Ordering::Relaxed)
                        && n < DEBATES
                    {
                        let body = format!("{{\"question\": \"{n}?\", \"models\": [\"openai/m\"]}}");
                        let head = "POST /api/v1/debates HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json";
                        let answer = read_all(request(&address, head, &body));
                        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        let opened = began.elapsed();
        let left = |state: &str| {
            let head = format!("GET /api/v1/debates?limit=1&state={state} HTTP/1.1\r\nConnection: close");
            read_all(request(&served.address, &head, "")).contains("\"id\"")
        };
        while left("running") {
            std::thread::sleep(Duration::from_millis(20));
        }
        let wall = began.elapsed();
        assert!(!left("interrupted") && !left("failed") && !left("incomplete"));
        let ratio = wall.as_secs_f64() / batch.as_secs_f64();
        println!(
            "{DEBATES} debates: agon batch {:.2} s, over HTTP {:.2} s (opened after {:.2} s): {ratio:.2} times (target 1.5)",
            batch.as_secs_f64(),
            wall.as_secs_f64(),
            opened.as_secs_f64()
        );
        let (cpu_s, rss_mb) = usage(served.child.id());
        println!("  the server used {cpu_s:.2} s of CPU and at most {rss_mb:.0} MB");
    }

    /// Every watcher gets every record.
    fn watchers(&self) {
        let served = self.serve("watch.db");
        let body = "{\"question\": \"q?\", \"models\": [\"openai/m\"]}";
        let head = "POST /api/v1/debates HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json";
        let answer = read_all(request(&served.address, head, body));
        let id = answer.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let began = Instant::now();
        let watchers: Vec<_> = (0..WATCHERS)
            .map(|_| {
                let (address, id) = (served.address.clone(), id.clone());
                std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
                    let head = format!("GET /api/v1/debates/{id}/events HTTP/1.1\r\nConnection: close");
                    read_all(request(&address, &head, "")).matches("event: record").count()
                })
            })
            .collect();
        let counts: Vec<usize> = watchers.into_iter().map(|thread| thread.unwrap().join().unwrap()).collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        let (cpu_s, rss_mb) = usage(served.child.id());
        println!(
            "{WATCHERS} watchers of one debate: each got {least} to {most} records after {:.2} s; {cpu_s:.2} s of CPU, {rss_mb:.0} MB",
            began.elapsed().as_secs_f64()
        );
        assert_eq!(least, most);
    }
}

fn request(address: &str, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let text = format!("{head}\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn read_all(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The CPU seconds and the largest resident size of a process, from `/proc`.
fn usage(process: u32) -> (f64, f64) {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = high.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    ((ticks(11) + ticks(12)) / 100.0, kb.unwrap_or_default() / 1024.0)
}
