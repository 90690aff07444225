//! Where the action gets the program from: a release whose checksum it knows.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::action_runner::{ActionResult, ActionUse};
use crate::github_api::GithubApi;
use crate::repository::{TestRepository, project, script, tools};

/// A copy of the action, as a workflow downloads it.
fn copied_action(folder: &Path) -> PathBuf {
    let action = folder.join("copied/action");
    let scripts = action.join("packaging/action");
    std::fs::create_dir_all(&scripts).unwrap();
    std::fs::copy(project().join("action.yml"), action.join("action.yml")).unwrap();
    for entry in std::fs::read_dir(project().join("packaging/action")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, scripts.join(path.file_name().unwrap())).unwrap();
    }
    action
}

/// The archive of a release for this machine, in the folder that a server would have.
fn release(folder: &Path, version: &str) -> PathBuf {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    let name = format!("agon-{version}-{}-{system}", std::env::consts::ARCH);
    let releases = folder.join(format!("releases/v{version}"));
    std::fs::create_dir_all(releases.join(&name)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_agon"), releases.join(&name).join("agon")).unwrap();
    let archive = format!("{name}.tar.gz");
    let ran = Command::new("tar").args(["-czhf", &archive, &name]).current_dir(&releases).status().unwrap();
    assert!(ran.success());
    std::fs::remove_dir_all(releases.join(&name)).unwrap();
    releases.join(archive)
}

fn pin(action: &Path, version: &str, archive: &Path) -> bool {
    let pin = Command::new("bash")
        .arg(action.join("packaging/action/pin"))
        .arg(version)
        .arg(archive.parent().unwrap())
        .output();
    pin.unwrap().status.success()
}

/// A server for the files of a folder. It ends with the test's process.
fn file_server(folder: PathBuf) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
            let path = line.split(' ').nth(1).unwrap().trim_start_matches('/');
            let (status, body) =
                std::fs::read(folder.join(path)).map_or((404, Vec::new()), |body| (200, body));
            let head =
                format!("HTTP/1.1 {status} -\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
        }
    });
    format!("http://{address}")
}

#[test]
fn only_a_release_whose_checksum_is_known_is_run() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let action = copied_action(&repository.path(""));
    let server = file_server(repository.path("releases"));
    let run = |inputs: &[(&str, &str)]| -> ActionResult {
        let mut used = ActionUse::scripted(&repository, &api, &script("FAIL"))
            .with("binary", "")
            .with("releases", &server);
        used.action.clone_from(&action);
        inputs.iter().fold(used, |used, (input, value)| used.with(input, value)).run()
    };
    let unknown = run(&[("version", "9.9.9")]);
    assert!(unknown.status == 2 && unknown.commands()[0].contains("has no agon 9.9.9"), "{}", unknown.log);
    let traversal = run(&[("version", "../../x")]);
    assert!(traversal.status == 2 && traversal.commands()[0].contains("not a version"), "{}", traversal.log);

    let first = release(&repository.path(""), "9.9.8");
    let second = release(&repository.path(""), "9.9.9");
    assert!(pin(&action, "9.9.8", &first) && pin(&action, "9.9.9", &second));
    assert!(!pin(&action, "9.9.9", &second), "a release never changes");
    let installed = run(&[]);
    assert_eq!(installed.status, 1, "{}", installed.log);
    assert!(
        installed.log.contains("agon 9.9.9 is installed."),
        "the last one is the default: {}",
        installed.log
    );
    assert!(run(&[("version", "9.9.8")]).log.contains("agon 9.9.8 is installed."));

    std::fs::write(&second, "something else").unwrap();
    let changed = run(&[]);
    assert_eq!(changed.status, 3, "{}", changed.log);
    assert!(changed.commands()[0].contains("is not the file that was released"), "{}", changed.log);
    std::fs::remove_file(&second).unwrap();
    let gone = run(&[]);
    assert!(gone.status == 3 && gone.log.contains("could not be downloaded"), "{}", gone.log);
}

#[test]
fn a_program_of_the_machine_must_be_there() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let ran = ActionUse::scripted(&repository, &api, &script("PASS")).with("binary", "/none/agon").run();
    assert!(ran.status == 2 && ran.commands()[0].contains("There is no program /none/agon"), "{}", ran.log);
}

/// Every line of the table is what `sha256sum` writes, and no archive is in it twice.
#[test]
fn the_table_of_checksums_can_be_read() {
    let table = std::fs::read_to_string(project().join("packaging/action/checksums.txt")).unwrap();
    let mut archives = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (sum, archive) = line.split_once("  ").unwrap();
        assert!(sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
        assert!(
            archive.starts_with("agon-") && archive.ends_with(".tar.gz") && !archives.contains(&archive),
            "{line}"
        );
        archives.push(archive);
    }
}
