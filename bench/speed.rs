//! How fast Agon is: `cargo bench -p agon --bench speed`.
//!
//! Runs the real binary against a server on loopback that answers after 20 ms: 3 debaters, 2 rounds, 12 calls of which 6
//! in a row, the store on. Each figure has the machine's own ideal beside it, measured in the same run with a bare
//! client; CPU is compared with the same calls made by the bare `genai` client (`bench/genai_client`, built on first use).
//! CPU and memory are read from `/proc`, so those two are for Linux.
//!
//! Words after `--` choose parts: `one` (start and one debate), `many` (1,000 and 10,000 debates), `store` (100,000 debates in
//! the store), `evidence`. Without any, all of them run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_mock::{MockServer, MockSettings, converging_debate};

mod evidence;
mod large_store;

const DELAY: Duration = Duration::from_millis(20);
const CALLS: u32 = 12;
const IN_A_ROW: u32 = 6;
/// How many calls each of the six steps makes at once.
const STEPS: [usize; 6] = [3, 3, 1, 3, 1, 1];

fn main() {
    let first = Arc::new(Mutex::new(None::<Instant>));
    let seen = first.clone();
    let answer = converging_debate(DELAY);
    let mock = MockServer::start(MockSettings {
        keep: 0,
        ..MockSettings::new(move |request| {
            seen.lock().unwrap().get_or_insert_with(Instant::now);
            answer(request)
        })
    })
    .unwrap();
    let home = std::env::temp_dir().join(format!("agon-bench-{}", std::process::id()));
    fs::create_dir_all(&home).unwrap();
    let bench = Bench { url: mock.url(), home: home.clone(), first };

    println!(
        "3 debaters, 2 rounds: {CALLS} calls, {IN_A_ROW} in a row, each answered after {} ms; store on",
        DELAY.as_millis()
    );
    println!("{:<44} {:>12} {:>14} {:>10}", "", "agon", "bare client", "target");
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |part: &str| named.is_empty() || named.iter().any(|name| name == part);
    if is_wanted("one") {
        bench.start();
        bench.one_debate();
    }
    if is_wanted("many") {
        let thousand = bench.thousand();
        bench.ten_thousand(&thousand);
    }
    if is_wanted("store") {
        bench.run(1, 1);
        large_store::measure(&home, &home.join("agon.db"));
    }
    if is_wanted("evidence") {
        evidence::measure();
    }
    drop(mock);
    fs::remove_dir_all(home).unwrap();
}

struct Bench {
    url: String,
    home: PathBuf,
    first: Arc<Mutex<Option<Instant>>>,
}

/// What one run of the binary took.
struct Run {
    wall: Duration,
    to_first_request: Duration,
    cpu: Option<Duration>,
    rss_max_mb: Option<f64>,
}

impl Bench {
    fn start(&self) {
        let mut times: Vec<f64> = (0..15).map(|_| ms(self.run(1, 1).to_first_request)).collect();
        let mut bare: Vec<f64> = (0..15).map(|_| ms(bare_process())).collect();
        row("process start to first request, median", median(&mut times), median(&mut bare), "ms", "15 ms");
    }

    /// The time that one more debate takes, from runs of 1 and of 21 one after the other.
    fn one_debate(&self) {
        let mut over: Vec<f64> = Vec::new();
        let mut bare: Vec<f64> = Vec::new();
        for _ in 0..5 {
            let (one, many) = (self.run(1, 1).wall, self.run(21, 1).wall);
            over.push((ms(many) - ms(one)) / 20.0);
            bare.push(self.bare_debate(10));
        }
        let ideal = ms(DELAY) * f64::from(IN_A_ROW);
        row(
            "one debate, wall, median",
            median(&mut over),
            median(&mut bare),
            "ms",
            &format!("{} ms", ideal + 3.0),
        );
        println!(
            "{:<44} {:>9.2} ms {:>14} {:>10}",
            "  over the bare client",
            median(&mut over) - median(&mut bare),
            "",
            "5 ms"
        );
    }

    fn thousand(&self) -> Run {
        let mut best: Option<Run> = None;
        for _ in 0..3 {
            let run = self.run(1000, 1000);
            if best.as_ref().is_none_or(|best| run.wall < best.wall) {
                best = Some(run);
            }
        }
        let run = best.unwrap();
        let bare = self.bare_calls(1000 * CALLS as usize, 256);
        row("1,000 debates at once, wall, best of 3", run.wall.as_secs_f64(), bare, "s", "3 s");
        if let (Some(cpu), Some(genai)) = (run.cpu, self.genai_cpu(1000)) {
            let (agon, genai) = (per_call(cpu, 1000), per_call(genai, 1000));
            row("CPU a call; beside it the bare genai client", agon, genai, "ms", "");
            println!("{:<44} {:>9.2} x  {:>14} {:>10}", "  ratio", agon / genai, "", "1.30 x");
        }
        if let Some(rss) = run.rss_max_mb {
            println!("{:<44} {:>9.1} MB {:>14} {:>10}", "largest resident size", rss, "-", "150 MB");
        }
        run
    }

    fn ten_thousand(&self, thousand: &Run) {
        let run = self.run(10_000, 10_000);
        let ratio = run.wall.as_secs_f64() / thousand.wall.as_secs_f64();
        row(
            "10,000 debates at once; beside it 1,000",
            run.wall.as_secs_f64(),
            thousand.wall.as_secs_f64(),
            "s",
            "",
        );
        println!("{:<44} {:>9.2} x  {:>14} {:>10}", "  ratio", ratio, "", "10 x");
        if let Some(rss) = run.rss_max_mb {
            println!("{:<44} {:>9.1} MB {:>14} {:>10}", "  largest resident size", rss, "-", "400 MB");
        }
        let store = fs::metadata(self.home.join("agon.db")).unwrap().len() as f64;
        println!(
            "{:<44} {:>9.1} KB {:>14} {:>10}",
            "  size of the store for each debate",
            store / 10_000.0 / 1024.0,
            "-",
            ""
        );
    }

    /// The CPU time of the same calls with the bare genai client. `None` where it cannot be measured.
    fn genai_cpu(&self, debates: usize) -> Option<Duration> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/genai_client");
        let target = Path::new(env!("CARGO_BIN_EXE_agon")).parent()?.join("genai_client");
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--release", "--manifest-path", path(&package.join("Cargo.toml"))])
            .args(["--target-dir", path(&target)])
            .status();
        if !built.is_ok_and(|status| status.success()) {
            println!("the genai client cannot be built, so the CPU of a call is not compared");
            return None;
        }
        let requests = self.home.join("requests.jsonl");
        fs::write(&requests, self.requests_of_one_debate()).unwrap();
        let mut best: Option<Duration> = None;
        for _ in 0..3 {
            let before = children_cpu()?;
            let client = Command::new(target.join("release/genai_client"))
                .args([&self.url, path(&requests), &debates.to_string()])
                .stdout(Stdio::null())
                .status();
            assert!(client.unwrap().success());
            let cpu = children_cpu()? - before;
            best = Some(best.map_or(cpu, |best| best.min(cpu)));
        }
        best
    }

    /// The bodies of a debate's requests, one per line, as a server saw them.
    fn requests_of_one_debate(&self) -> String {
        let mock = MockServer::start(MockSettings {
            keep: CALLS as usize,
            responder: converging_debate(Duration::ZERO),
        });
        let mock = mock.unwrap();
        Self { url: mock.url(), home: self.home.clone(), first: Arc::default() }.run(1, 1);
        mock.requests().iter().map(|request| format!("{}\n", request.body())).collect()
    }

    fn run(&self, debates: usize, concurrency: usize) -> Run {
        let input = self.home.join("input.jsonl");
        let lines: String =
            (0..debates).map(|n| format!("{{\"id\":\"{n}\",\"question\":\"Question {n}?\"}}\n")).collect();
        fs::write(&input, lines).unwrap();
        let store = self.home.join("agon.db");
        for file in ["agon.db", "agon.db-wal", "agon.db-shm"] {
            let _ = fs::remove_file(self.home.join(file));
        }
        *self.first.lock().unwrap() = None;
        let before = children_cpu();
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(["batch", path(&input), "--protocol", "deep", "--models", "openai/mock", "--concurrency"])
            .args([&concurrency.to_string(), "--db", path(&store), "--set", "max_rounds=2"])
            .env("OPENAI_BASE_URL", &self.url)
            .env("OPENAI_API_KEY", "none")
            .env("AGON_HOME", &self.home)
            .current_dir(&self.home)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (outcomes, rss_max_mb) = follow(&mut child);
        assert!(child.wait().unwrap().success());
        let wall = began.elapsed();
        assert_eq!(
            outcomes.matches("\"status\":\"complete\"").count(),
            debates,
            "every debate ended with a verdict"
        );
        assert_eq!(outcomes.matches(&format!("\"calls\":{CALLS},\"input")).count(), debates);
        let first = *self.first.lock().unwrap();
        let to_first_request = first.map_or(Duration::ZERO, |first| first - began);
        let cpu = children_cpu().zip(before).map(|(after, before)| after - before);
        Run { wall, to_first_request, cpu, rss_max_mb }
    }

    /// The same calls with nothing around them: one thread a seat, kept-alive connections, a fixed request.
    fn bare_debate(&self, times: u32) -> f64 {
        let mut connections: Vec<Bare> = (0..3).map(|_| Bare::open(&self.url)).collect();
        let began = Instant::now();
        for width in (0..times).flat_map(|_| STEPS) {
            std::thread::scope(|scope| {
                for connection in connections.iter_mut().take(width) {
                    scope.spawn(|| connection.call());
                }
            });
        }
        ms(began.elapsed()) / f64::from(times)
    }

    fn bare_calls(&self, calls: usize, threads: usize) -> f64 {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut connection = Bare::open(&self.url);
                    (0..calls / threads).for_each(|_| connection.call());
                });
            }
        });
        began.elapsed().as_secs_f64()
    }
}

/// A client that does nothing but send and wait.
struct Bare {
    stream: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Bare {
    fn open(url: &str) -> Self {
        let host = url.trim_start_matches("http://").trim_end_matches("/v1");
        let body = r#"{"model":"mock","messages":[{"role":"user","content":"Question?"}]}"#;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        );
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes();
        let stream = TcpStream::connect(host).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, request, buffer: vec![0; 16 * 1024] }
    }

    fn call(&mut self) {
        self.stream.write_all(&self.request).unwrap();
        let mut read = 0;
        loop {
            let n = self.stream.read(&mut self.buffer[read..]).unwrap();
            assert!(n > 0, "the server closed the connection");
            read += n;
            let text = String::from_utf8_lossy(&self.buffer[..read]);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
            });
            if body.len() >= length.unwrap() {
                return;
            }
        }
    }
}

/// The least that starting any process takes here.
fn bare_process() -> Duration {
    let began = Instant::now();
    assert!(Command::new("true").status().unwrap().success());
    began.elapsed()
}

/// Reads all that the child prints, and its largest resident size while it runs.
fn follow(child: &mut Child) -> (String, Option<f64>) {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let mut largest = None;
    while !reader.is_finished() {
        largest = high_water(&status).or(largest);
        std::thread::sleep(Duration::from_millis(5));
    }
    (reader.join().unwrap(), largest)
}

fn high_water(status: &Path) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// CPU time of all children that have ended. The kernel counts in hundredths of a second.
fn children_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(13)? + ticks(14)?) * 10))
}

fn row(what: &str, agon: f64, bare: f64, unit: &str, target: &str) {
    println!("{what:<44} {agon:>9.2} {unit:<2} {bare:>11.2} {unit:<2} {target:>10}");
}

fn per_call(cpu: Duration, debates: u32) -> f64 {
    ms(cpu) / f64::from(debates * CALLS)
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
