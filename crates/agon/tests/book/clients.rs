//! The clients in the chapter about the API: three lines of `httpx` and of `fetch`. They are run where Python has `httpx` and where
//! Node is installed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::chapter::Chapter;
use crate::repository;

/// The address that the chapter shows.
const SHOWN_ADDRESS: &str = "http://127.0.0.1:7717";

/// A language of the chapter, how to see that it can be run, and how to run a text.
const CLIENTS: [(&str, &str, [&str; 2], &[&str]); 2] = [
    ("python", "python3", ["-c", "import httpx"], &["-c"]),
    ("js", "node", ["--eval", "fetch.name"], &["--input-type=module", "--eval"]),
];

#[test]
fn the_clients_of_the_api_print_what_the_chapter_shows() {
    let chapter = Chapter::read(&repository().join("docs/http-api.md"));
    let text_of = |tag: &str| {
        let block = chapter.blocks().into_iter().find(|block| block.tag == tag);
        let block = block.unwrap_or_else(|| panic!("the chapter has no block {tag}"));
        chapter.lines[block.lines].join("\n")
    };
    let server = ServerProcess::start();
    for (tag, program, probe, run) in CLIENTS {
        let source = text_of(tag).replace(SHOWN_ADDRESS, &server.address);
        assert_eq!(source.lines().count(), 3, "{source}");
        assert!(source.contains(&server.address), "{source}");
        let probed = Command::new(program).args(probe).stderr(Stdio::null()).status();
        if !probed.is_ok_and(|status| status.success()) {
            eprintln!("{program} cannot run the client of the chapter here, so it was not run");
            continue;
        }
        let ran = Command::new(program).args(run).arg(&source).output().unwrap();
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(
            printed.trim_end(),
            text_of("text"),
            "{program}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

struct ServerProcess {
    process: Child,
    address: String,
    _home: TempDir,
}

impl ServerProcess {
    fn start() -> Self {
        let home = TempDir::new().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("AGON_HOME", home.path());
        let mut process = command.current_dir(home.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{first:?}"));
        Self { address: address.to_owned(), process, _home: home }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
