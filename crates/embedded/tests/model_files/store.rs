//! What is in the store, by a quick look and by all sums; simultaneous pulls; folders that cannot be used.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use agon_embedded::model_files::{ModelFileState, ModelFileStore, PullError, PullProgress, PullSource};

use crate::fixtures::{LONG, SHORT, TestStore, noise, one_file, run, settings, two_files, until};
use crate::server::{FileServer, ServerBehaviour};

/// No source is reachable: a pull that succeeds needed none.
const NOWHERE: &str = "http://127.0.0.1:9";

fn pulled(files: Vec<crate::fixtures::TestFile>) -> TestStore {
    let test = TestStore::of(files);
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test
}

/// Replaces a file with other bytes of the same length, and keeps its modification time or not.
fn replace_content(test: &TestStore, name: &str, keep_time: bool) {
    let path = test.path(name);
    let before = fs::metadata(&path).unwrap();
    fs::write(&path, noise(before.len() as usize, 99)).unwrap();
    let later = before.modified().unwrap() + Duration::from_secs(if keep_time { 0 } else { 9 });
    File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
}

fn unchecked(test: &TestStore) -> ModelFileState {
    ModelFileState::Unchecked { paths: test.store.paths(test.model) }
}

#[test]
fn a_present_model_is_not_downloaded_again() {
    let test = pulled(two_files());
    test.reported.lock().unwrap().clear();
    let again = test.pull(&PullSource::Auto, &settings(NOWHERE)).unwrap();
    assert_eq!((again.source, test.reported()), (None, vec![]), "no source is tried and no file is read");
    assert_eq!(again.paths, test.store.paths(test.model));
}

#[test]
fn a_touched_file_is_checked_and_not_downloaded() {
    let test = pulled(one_file());
    File::options().write(true).open(test.path(LONG)).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(test.state(), unchecked(&test));
    test.pull(&PullSource::Auto, &settings(NOWHERE)).unwrap();
    test.assert_present();
    assert!(test.reported().contains(&PullProgress::Checking { file: LONG.into() }));
}

#[test]
fn files_copied_there_by_hand_are_checked_and_used() {
    let test = TestStore::of(two_files());
    for (name, bytes) in &test.files {
        test.put(name, bytes);
    }
    assert_eq!(test.state(), unchecked(&test));
    test.pull(&PullSource::Auto, &settings(NOWHERE)).unwrap();
    test.assert_present();
}

#[test]
fn only_a_changed_file_is_downloaded_again() {
    let test = pulled(two_files());
    replace_content(&test, SHORT, false);
    assert_eq!(test.state(), unchecked(&test));
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_file_of_another_length_is_wrong_without_reading_it() {
    let test = pulled(one_file());
    fs::write(test.path(LONG), b"short").unwrap();
    let ModelFileState::Wrong { why } = test.state() else { panic!("{:?}", test.state()) };
    assert!(why.contains(LONG) && why.contains("has 5 bytes instead of 200000"), "{why}");
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
}

/// A quick look trusts the note beside the file; `verify` does not, and the next pull replaces the wrong file.
#[test]
fn verify_computes_every_sum() {
    let test = pulled(two_files());
    assert_eq!(test.verify(), test.state());
    replace_content(&test, LONG, true);
    assert!(matches!(test.state(), ModelFileState::Present { .. }), "the quick look does not notice");
    let ModelFileState::Wrong { why } = test.verify() else { panic!("the sum is wrong") };
    assert!(why.contains(LONG) && why.contains("sha256"), "{why}");
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
}

#[test]
fn verify_reports_missing_files() {
    let test = TestStore::of(two_files());
    assert_eq!(test.verify(), ModelFileState::Missing);
    test.put(SHORT, &test.files[1].1);
    assert_eq!(test.verify(), ModelFileState::Partial { done_bytes: 2, total_bytes: 300_002 });
}

#[test]
fn an_unreadable_note_only_costs_a_check() {
    let test = pulled(one_file());
    fs::write(test.path("model.bin.receipt"), b"{").unwrap();
    test.pull(&PullSource::Auto, &settings(NOWHERE)).unwrap();
    test.assert_present();
}

/// The second pull waits and finds the model.
#[test]
fn two_simultaneous_pulls_download_once() {
    let test = TestStore::of(two_files());
    let server = FileServer::start(&test.files, |number| ServerBehaviour {
        cut_bytes: (number == 0).then_some(1_000),
        ..ServerBehaviour::default()
    });
    let settings = settings(&server.url());
    let from = PullSource::Hub;
    let (first, second) =
        run(async { tokio::join!(test.pulling(&from, &settings), test.pulling(&from, &settings)) });
    test.assert_present();
    assert_eq!(server.requests().len(), 3, "two files, one of them in two pieces");
    assert_eq!((first.unwrap().source.is_some(), second.unwrap().source), (true, None));
    assert_eq!(test.reported().iter().filter(|p| **p == PullProgress::Waiting).count(), 1);
}

/// A dropped pull releases its lock and leaves its part.
#[test]
fn a_dropped_pull_can_be_resumed() {
    let test = TestStore::of(one_file());
    let stalled = FileServer::start(&test.files, |_| ServerBehaviour {
        cut_bytes: Some(80_000),
        hang: true,
        ..ServerBehaviour::default()
    });
    let server = FileServer::well_behaved(&test.files);
    let so_far = ModelFileState::Partial { done_bytes: 80_000, total_bytes: 200_000 };
    let to_stalled = settings(&stalled.url());
    run(async {
        tokio::select! {
            ended = test.pulling(&PullSource::Hub, &to_stalled) => panic!("{ended:?}"),
            () = until(|| test.state() == so_far) => {}
        }
        test.pulling(&PullSource::Hub, &settings(&server.url())).await.unwrap();
    });
    test.assert_present();
    assert_eq!(server.ranges(), [Some("bytes=80000-".to_owned())]);
}

#[test]
fn a_pull_removes_what_a_killed_one_left_behind() {
    let test = TestStore::of(one_file());
    test.put("model.bin.new", b"half");
    test.put(".agon-4711.part", b"half");
    fs::create_dir_all(test.path("pip.part/wheels")).unwrap();
    let server = FileServer::well_behaved(&test.files);
    test.pull(&PullSource::Hub, &settings(&server.url())).unwrap();
    test.assert_present();
}

#[track_caller]
fn assert_unusable(store: &ModelFileStore, part: &str) {
    let test = TestStore::of(one_file());
    let pulled = run(store.pull(test.model, &PullSource::Auto, &settings(NOWHERE), &|_| ()));
    let error = pulled.unwrap_err();
    assert!(matches!(error, PullError::Store { .. }), "{error}");
    let sentence = error.to_string();
    assert!(sentence.contains(part) && sentence.contains("AGON_HOME"), "{sentence}");
}

#[test]
fn a_store_that_is_a_file_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("models");
    fs::write(&file, "").unwrap();
    assert_unusable(&ModelFileStore::new(&file), "a file where a folder must be");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fs::write(file.join("tiny"), "").unwrap();
    assert_unusable(&ModelFileStore::new(&file), "a file where a folder must be");
}

/// Not even root may create a folder there.
#[cfg(target_os = "linux")]
#[test]
fn a_store_that_cannot_be_written_is_explained() {
    let store = ModelFileStore::new("/sys/agon-models");
    assert_unusable(&store, "/sys/agon-models/tiny");
}

#[test]
fn a_folder_in_place_of_a_file_is_explained() {
    let test = TestStore::of(one_file());
    fs::create_dir_all(test.path(LONG).join("inner")).unwrap();
    assert!(matches!(test.state(), ModelFileState::Wrong { why } if why.contains("is not a file")));
    let server = FileServer::well_behaved(&test.files);
    let error = test.pull(&PullSource::Hub, &settings(&server.url())).unwrap_err().to_string();
    assert!(error.contains("a folder where a file must be"), "{error}");
}

#[test]
fn a_pull_can_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let test = TestStore::of(one_file());
    let (from, settings) = (PullSource::Auto, settings(NOWHERE));
    assert_send(&test.store.pull(test.model, &from, &settings, &|_| ()));
    assert_send(&test.store.verify(test.model, &|_| ()));
}
