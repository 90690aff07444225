//! A PostgreSQL server of its own for tests and benchmarks, from the programs that the system has.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs, io};

/// A server on a free port of loopback, in a temporary folder, as an ordinary user. It ends with the process that started it, however
/// that ends.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Stops the server when its input ends.
    _watchdog: Child,
    _input: Option<ChildStdin>,
}

/// Where Debian and others put the programs of the server.
const PROGRAM_FOLDERS: [&str; 3] = ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"];

/// No test needs the disk: a server that is killed loses nothing that the system has.
const TEST_SETTINGS: &str = "-c fsync=off -c full_page_writes=off";

impl PostgresServer {
    /// The server of this process, started at the first call. `None` if PostgreSQL is not installed, which is printed. It panics
    /// instead if `AGON_POSTGRES` is `required`.
    #[allow(clippy::panic)]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<PostgresServer>> = OnceLock::new();
        let start = || {
            let required = env::var("AGON_POSTGRES").is_ok_and(|value| value == "required");
            match Self::start(TEST_SETTINGS) {
                Ok(server) => Some(server),
                Err(why) if required => panic!("PostgreSQL does not start: {why}"),
                Err(why) => {
                    println!("PostgreSQL does not start, so its tests are skipped: {why}");
                    None
                }
            }
        };
        SHARED.get_or_init(start).as_ref()
    }

    /// Starts a server with these settings, such as `-c fsync=off`.
    pub fn start(settings: &str) -> io::Result<Self> {
        let programs = programs()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = env::temp_dir().join(format!("agon-postgres-{}-{port}", std::process::id()));
        fs::create_dir(&folder)?;
        let data = folder.join("data");
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(&folder))?;
        }
        let mut initdb = as_ordinary_user(&programs.join("initdb"));
        run(initdb
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N", "-D"])
            .arg(&data))?;
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 {settings}"
        );
        let mut start = as_ordinary_user(&programs.join("pg_ctl"));
        run(start.args(["start", "-w", "-o", &options, "-l"]).arg(folder.join("log")).arg("-D").arg(&data))?;
        let mut watchdog = watchdog(&programs, &folder).spawn()?;
        Ok(Self { programs, folder, port, _input: watchdog.stdin.take(), _watchdog: watchdog })
    }

    /// The address of a database. `postgres` is always there.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Kills the server and starts it again, as after a crash.
    pub fn crash_and_restart(&self) -> io::Result<()> {
        let mut restart = as_ordinary_user(&self.programs.join("pg_ctl"));
        run(restart
            .args(["restart", "-w", "-m", "immediate", "-D"])
            .arg(self.folder.join("data"))
            .stdout(Stdio::null()))
    }
}

/// Waits until nobody can write to its input any more, then stops the server and removes its folder.
fn watchdog(programs: &Path, folder: &Path) -> Command {
    let stop = as_ordinary_user(&programs.join("pg_ctl"));
    let words = std::iter::once(stop.get_program()).chain(stop.get_args());
    let stop: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let script =
        format!("cat >/dev/null; {} stop -m immediate -D \"$1/data\"; rm -rf \"$1\"", stop.join(" "));
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' INT TERM HUP; {script}"), "sh"]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The server refuses to run as root.
fn as_ordinary_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

fn is_root() -> bool {
    let answer = Command::new("id").arg("-u").output();
    answer.is_ok_and(|answer| answer.stdout == b"0\n")
}

fn run(command: &mut Command) -> io::Result<()> {
    // A server that keeps a pipe open would keep this process waiting.
    let status =
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{:?} failed", command.get_program()))),
    }
}

/// The folder with `initdb`: on the path, or where the system's packages put the newest version.
fn programs() -> io::Result<PathBuf> {
    let on_path =
        env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let mut packaged: Vec<PathBuf> = PROGRAM_FOLDERS
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path().join("bin")))
        .collect();
    packaged.sort();
    packaged
        .into_iter()
        .rev()
        .chain(on_path)
        .find(|folder| folder.join("initdb").exists())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no `initdb`: install PostgreSQL"))
}
