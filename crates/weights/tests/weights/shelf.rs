//! What is on the shelf, at a glance and with all sums; pulls that meet; folders that cannot be used.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use agon_weights::{Progress, PullError, Shelf, Source, State};

use crate::server::{Manner, Server};
use crate::things::{Home, LONG, SHORT, noise, one_file, run, two_files, until, ways};

/// Nothing is in reach: a pull that works needed nothing.
const NOWHERE: &str = "http://127.0.0.1:9";

fn pulled(files: Vec<crate::things::File>) -> Home {
    let home = Home::of(files);
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home
}

/// Other bytes of the same length; the time of change is kept or not.
fn spoil(home: &Home, name: &str, keep_time: bool) {
    let path = home.path(name);
    let before = fs::metadata(&path).unwrap();
    fs::write(&path, noise(before.len() as usize, 99)).unwrap();
    let later = before.modified().unwrap() + Duration::from_secs(if keep_time { 0 } else { 9 });
    File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
}

fn unchecked(home: &Home) -> State {
    State::Unchecked { paths: home.shelf.paths(home.known) }
}

/// "done by itself on the first run that needs it": the second run needs nothing.
#[test]
fn a_model_that_is_there_is_not_fetched_again() {
    let home = pulled(two_files());
    home.told.lock().unwrap().clear();
    let again = home.pull(&Source::Auto, &ways(NOWHERE)).unwrap();
    assert_eq!((again.source, home.told()), (None, vec![]), "nothing is tried and nothing is read");
    assert_eq!(again.paths, home.shelf.paths(home.known));
}

#[test]
fn a_file_that_was_touched_is_checked_and_not_fetched() {
    let home = pulled(one_file());
    File::options().write(true).open(home.path(LONG)).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(home.state(), unchecked(&home));
    home.pull(&Source::Auto, &ways(NOWHERE)).unwrap();
    home.assert_present();
    assert!(home.told().contains(&Progress::Checking { file: LONG.into() }));
}

#[test]
fn files_put_there_by_hand_are_taken_in_place() {
    let home = Home::of(two_files());
    for (name, bytes) in &home.files {
        home.put(name, bytes);
    }
    assert_eq!(home.state(), unchecked(&home));
    home.pull(&Source::Auto, &ways(NOWHERE)).unwrap();
    home.assert_present();
}

#[test]
fn a_file_that_was_changed_is_fetched_again_and_the_others_are_not() {
    let home = pulled(two_files());
    spoil(&home, SHORT, false);
    assert_eq!(home.state(), unchecked(&home));
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_file_of_another_length_is_wrong_at_a_glance() {
    let home = pulled(one_file());
    fs::write(home.path(LONG), b"short").unwrap();
    let State::Wrong { why } = home.state() else { panic!("{:?}", home.state()) };
    assert!(why.contains(LONG) && why.contains("has 5 bytes instead of 200000"), "{why}");
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
}

/// A glance believes the receipt; `verify` believes nothing, and the next pull mends what it found.
#[test]
fn verify_takes_every_sum() {
    let home = pulled(two_files());
    assert_eq!(home.verify(), home.state());
    spoil(&home, LONG, true);
    home.assert_glance_is_fooled();
    let State::Wrong { why } = home.verify() else { panic!("the sum is another one") };
    assert!(why.contains(LONG) && why.contains("sha256"), "{why}");
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
}

impl Home {
    fn assert_glance_is_fooled(&self) {
        assert!(matches!(self.state(), State::Present { .. }), "or this test shows nothing");
    }
}

#[test]
fn verify_of_what_is_not_there_says_so() {
    let home = Home::of(two_files());
    assert_eq!(home.verify(), State::Missing);
    home.put(SHORT, &home.files[1].1);
    assert_eq!(home.verify(), State::Partial { done_bytes: 2, total_bytes: 300_002 });
}

#[test]
fn a_receipt_that_cannot_be_read_only_costs_a_check() {
    let home = pulled(one_file());
    fs::write(home.path("model.bin.receipt"), b"{").unwrap();
    home.pull(&Source::Auto, &ways(NOWHERE)).unwrap();
    home.assert_present();
}

/// Two at once: the second waits, and finds it there.
#[test]
fn two_pulls_at_once_download_once() {
    let home = Home::of(two_files());
    let server = Server::start(&home.files, |nth| Manner {
        cut_bytes: (nth == 0).then_some(1_000),
        ..Manner::default()
    });
    let ways = ways(&server.url());
    let from = Source::Hub;
    let (first, second) = run(async { tokio::join!(home.pulling(&from, &ways), home.pulling(&from, &ways)) });
    home.assert_present();
    assert_eq!(server.requests().len(), 3, "two files, one of them in two pieces");
    assert_eq!((first.unwrap().source.is_some(), second.unwrap().source), (true, None));
    assert_eq!(home.told().iter().filter(|p| **p == Progress::Waiting).count(), 1);
}

/// A dropped pull gives the lock back and leaves its part.
#[test]
fn a_dropped_pull_can_be_taken_up() {
    let home = Home::of(one_file());
    let stalled =
        Server::start(&home.files, |_| Manner { cut_bytes: Some(80_000), hang: true, ..Manner::default() });
    let server = Server::well_behaved(&home.files);
    let so_far = State::Partial { done_bytes: 80_000, total_bytes: 200_000 };
    let to_stalled = ways(&stalled.url());
    run(async {
        tokio::select! {
            ended = home.pulling(&Source::Hub, &to_stalled) => panic!("{ended:?}"),
            () = until(|| home.state() == so_far) => {}
        }
        home.pulling(&Source::Hub, &ways(&server.url())).await.unwrap();
    });
    home.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=80000-".to_owned())]);
}

/// What a killed pull leaves is removed by the next one, whatever source that one uses.
#[test]
fn leftovers_are_removed() {
    let home = Home::of(one_file());
    home.put("model.bin.new", b"half");
    home.put("model.bin.receipt.4711", b"half");
    fs::create_dir_all(home.path("pip.part/wheels")).unwrap();
    let server = Server::well_behaved(&home.files);
    home.pull(&Source::Hub, &ways(&server.url())).unwrap();
    home.assert_present();
}

#[track_caller]
fn unusable(shelf: &Shelf, part: &str) {
    let home = Home::of(one_file());
    let pulled = run(shelf.pull(home.known, &Source::Auto, &ways(NOWHERE), &|_| ()));
    let error = pulled.unwrap_err();
    assert!(matches!(error, PullError::Shelf { .. }), "{error}");
    let sentence = error.to_string();
    assert!(sentence.contains(part) && sentence.contains("AGON_HOME"), "{sentence}");
}

#[test]
fn a_shelf_that_is_a_file_has_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("models");
    fs::write(&file, "").unwrap();
    unusable(&Shelf::new(&file), "a file where a folder must be");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fs::write(file.join("tiny"), "").unwrap();
    unusable(&Shelf::new(&file), "a file where a folder must be");
}

/// Where not even root may make a folder.
#[cfg(target_os = "linux")]
#[test]
fn a_shelf_that_cannot_be_written_has_a_sentence() {
    let shelf = Shelf::new("/sys/agon-models");
    unusable(&shelf, "/sys/agon-models/tiny");
}

#[test]
fn a_folder_in_the_place_of_a_file_has_a_sentence() {
    let home = Home::of(one_file());
    fs::create_dir_all(home.path(LONG).join("inner")).unwrap();
    assert!(matches!(home.state(), State::Wrong { why } if why.contains("is not a file")));
    let server = Server::well_behaved(&home.files);
    let error = home.pull(&Source::Hub, &ways(&server.url())).unwrap_err().to_string();
    assert!(error.contains("a folder where a file must be"), "{error}");
}

/// The engine's tasks may move between threads.
#[test]
fn a_pull_may_move_between_threads() {
    fn moves<T: Send>(_: &T) {}
    let home = Home::of(one_file());
    let (from, ways) = (Source::Auto, ways(NOWHERE));
    moves(&home.shelf.pull(home.known, &from, &ways, &|_| ()));
    moves(&home.shelf.verify(home.known, &|_| ()));
}
