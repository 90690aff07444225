//! Files derived from a model's own, such as a re-quantized copy.

use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::fixtures::{TestStore, model, noise, one_file};

#[test]
fn a_derived_file_is_made_once() {
    let test = TestStore::of(one_file());
    let made = AtomicUsize::new(0);
    let keep = || {
        test.store.make_derived(test.model, "q8", |file| {
            made.fetch_add(1, Ordering::Relaxed);
            file.write_all(b"copy")
        })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(keep)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), test.store.derived_path(test.model, "q8"));
        }
    });
    assert_eq!(made.into_inner(), 1);
    assert_eq!(fs::read(test.store.derived_path(test.model, "q8")).unwrap(), b"copy");
}

#[test]
fn an_unfinished_derived_file_does_not_stay() {
    let test = TestStore::of(one_file());
    let broken = |file: &mut fs::File| {
        file.write_all(b"half of it")?;
        Err(io::Error::other("the weights are odd"))
    };
    let error = test.store.make_derived(test.model, "q8", broken).unwrap_err();
    assert!(error.to_string().contains("the weights are odd"), "{error}");
    let path = test.store.derived_path(test.model, "q8");
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["derived.lock"]);
    test.store.make_derived(test.model, "q8", |file| file.write_all(b"all")).unwrap();
    assert_eq!(fs::read(path).unwrap(), b"all");
}

#[test]
fn other_weights_have_another_derived_file() {
    let test = TestStore::of(one_file());
    let other = model(&[("model.bin", noise(200_000, 3))]);
    assert_ne!(test.store.derived_path(test.model, "q8"), test.store.derived_path(other, "q8"));
}

#[test]
fn a_name_with_a_path_is_refused() {
    let test = TestStore::of(one_file());
    for name in ["", "..", "a/b", "/etc/x", "a/"] {
        let kept = test.store.make_derived(test.model, name, |_| panic!("{name} is written"));
        assert!(kept.unwrap_err().to_string().contains("not the name of a file"), "{name}");
    }
}

/// `/dev/full` stands for the disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_explained() {
    let test = TestStore::of(one_file());
    let full = |_: &mut fs::File| fs::OpenOptions::new().write(true).open("/dev/full")?.write_all(b"x");
    let error = test.store.make_derived(test.model, "q8", full).unwrap_err().to_string();
    assert!(error.contains("the disk is full: free some space"), "{error}");
}

#[test]
fn a_changed_derived_file_is_made_again() {
    let test = TestStore::of(one_file());
    let make =
        |text: &'static [u8]| test.store.make_derived(test.model, "q8", |file| file.write_all(text)).unwrap();
    let path = make(b"first");
    assert_eq!(test.store.existing_derived(test.model, "q8"), Some(path.clone()));
    assert_eq!(fs::read(make(b"never written")).unwrap(), b"first");
    fs::write(&path, b"fi").unwrap();
    assert_eq!(test.store.existing_derived(test.model, "q8"), None);
    assert_eq!(fs::read(make(b"again")).unwrap(), b"again");
}
