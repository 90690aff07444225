//! A Restate server, workers and a mock of the models' server, all on this machine.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use agon_mock::{MockServer, MockSettings, PostgresInstance, converging_debate};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Everything that a test needs. Dropping it kills all of it.
pub(crate) struct Cluster {
    pub(crate) home: TempDir,
    pub(crate) mock: MockServer,
    pub(crate) restate: RestateServer,
    workers: Vec<Child>,
    store: String,
    pub(crate) postgres: Option<PostgresInstance>,
}

impl Cluster {
    /// A cluster without workers whose models answer after `delay`, or `None` if there is no Restate server on this machine.
    pub(crate) fn start(delay: Duration) -> Option<Self> {
        let program = restate_program()?;
        let answer = converging_debate(delay);
        let mock = MockServer::start(MockSettings {
            keep: 50_000,
            ..MockSettings::new(move |request| answer(request))
        })
        .unwrap();
        let home = TempDir::new().unwrap();
        let restate = RestateServer::start(&program, &home.path().join("restate"));
        let store = home.path().join("agon.db").to_str().unwrap().to_owned();
        Some(Self { home, mock, restate, workers: Vec::new(), store, postgres: None })
    }

    /// The same with a store on a PostgreSQL server, if there is one on this machine.
    pub(crate) fn start_on_postgres(delay: Duration) -> Option<Self> {
        // It says whether there is one.
        PostgresInstance::shared()?;
        let mut cluster = Self::start(delay)?;
        let server = PostgresInstance::start("-c fsync=off").unwrap();
        cluster.store = server.address("postgres");
        cluster.postgres = Some(server);
        Some(cluster)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(args).args(["--db", &self.store]).env_clear();
        command.env("AGON_HOME", self.home.path()).env("OPENAI_BASE_URL", self.mock.url());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A verb that submits debates.
    pub(crate) fn submitting(&self, args: &[&str]) -> Command {
        let mut command = self.command(args);
        command.args(["--restate", &self.restate.ingress(), "--restate-admin", &self.restate.admin()]);
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The stored debates as `agon list --json` shows them.
    pub(crate) fn list(&self) -> Vec<Value> {
        let output = self.output(&["list", "--json", "--limit", "100000"]);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts `agon serve` that submits its debates, and returns its address.
    pub(crate) fn serve(&mut self) -> String {
        let mut command = self.submitting(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.workers.push(child);
        line.trim().strip_prefix("listening on http://").unwrap().to_owned()
    }

    /// Starts a worker and returns its place. Workers with the same address share it.
    pub(crate) fn add_worker(&mut self, listen: &str) -> usize {
        let mut command = self.submitting(&["worker", "--listen", listen]);
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on http://"), "{line}");
        self.workers.push(child);
        self.workers.len() - 1
    }

    pub(crate) fn worker_pid(&self, place: usize) -> u32 {
        self.workers[place].id()
    }

    /// `kill -9`.
    pub(crate) fn kill_worker(&mut self, place: usize) {
        self.workers[place].kill().unwrap();
        self.workers[place].wait().unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}

/// A real Restate server with a folder of its own.
pub(crate) struct RestateServer {
    program: PathBuf,
    folder: PathBuf,
    ports: [u16; 3],
    child: Child,
}

impl RestateServer {
    fn start(program: &Path, folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let ports = [free_port(), free_port(), free_port()];
        let [ingress, admin, fabric] = ports;
        let configuration = format!(
            "bind-port = {fabric}\nbind-ip = \"127.0.0.1\"\nlisten-mode = \"tcp\"\nnode-name = \"test\"\ndisable-telemetry = true\ndefault-num-partitions = 4\n\
             [ingress]\nbind-port = {ingress}\nbind-ip = \"127.0.0.1\"\n[admin]\nbind-port = {admin}\nbind-ip = \"127.0.0.1\"\n"
        );
        fs::write(folder.join("restate.toml"), configuration).unwrap();
        let child = launch(program, folder);
        let server = Self { program: program.to_owned(), folder: folder.to_owned(), ports, child };
        server.wait_until_ready();
        server
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    pub(crate) fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`, then starts it again on the same folder.
    pub(crate) fn kill_and_restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = launch(&self.program, &self.folder);
        self.wait_until_ready();
    }

    fn wait_until_ready(&self) {
        let began = Instant::now();
        for (port, path) in [(self.ports[1], "/health"), (self.ports[0], "/restate/health")] {
            while !answers(port, path) {
                assert!(began.elapsed() < PATIENCE, "the Restate server does not start");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

impl Drop for RestateServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn launch(program: &Path, folder: &Path) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut command = Command::new(program);
    command.arg("--no-logo").arg("--config-file").arg(folder.join("restate.toml"));
    command.arg("--base-dir").arg(folder.join("data"));
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

fn answers(port: u16, path: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let _ = write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    line.contains(" 200 ")
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn restate_program() -> Option<PathBuf> {
    let program = std::env::var_os("AGON_RESTATE").map(PathBuf::from).filter(|program| program.exists());
    if program.is_none() {
        let required = std::env::var("AGON_WORKERS").is_ok_and(|value| value == "required");
        assert!(!required, "AGON_RESTATE names no Restate server");
        eprintln!("skipped: AGON_RESTATE names no Restate server");
    }
    program
}

/// One request with a JSON body. Returns the status and the answer.
pub(crate) fn http(address: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Asks until the answer is there.
pub(crate) fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "it never happened");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The CPU time of a process, in seconds.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    stat_ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default(), [13, 14])
}

/// The sum of two fields of `/proc/PID/stat` that count ticks, in seconds.
pub(crate) fn stat_ticks(stat: &str, fields: [usize; 2]) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    // The name of the program may contain spaces. It ends with the last parenthesis.
    let rest: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| rest.get(field - 2).and_then(|ticks| ticks.parse::<f64>().ok());
    fields.into_iter().filter_map(ticks).sum::<f64>() / TICKS_PER_SECOND
}
