//! "Q4_1 file re-quantized to Q8_0 once and kept".

use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::things::{Home, model, noise, one_file};

#[test]
fn a_copy_is_made_once() {
    let home = Home::of(one_file());
    let made = AtomicUsize::new(0);
    let keep = || {
        home.shelf.keep_derived(home.known, "q8", |file| {
            made.fetch_add(1, Ordering::Relaxed);
            file.write_all(b"copy")
        })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(keep)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), home.shelf.derived(home.known, "q8"));
        }
    });
    assert_eq!(made.into_inner(), 1);
    assert_eq!(fs::read(home.shelf.derived(home.known, "q8")).unwrap(), b"copy");
}

#[test]
fn a_copy_that_could_not_be_finished_is_not_there() {
    let home = Home::of(one_file());
    let broken = |file: &mut fs::File| {
        file.write_all(b"half of it")?;
        Err(io::Error::other("the weights are odd"))
    };
    let error = home.shelf.keep_derived(home.known, "q8", broken).unwrap_err();
    assert!(error.to_string().contains("the weights are odd"), "{error}");
    let path = home.shelf.derived(home.known, "q8");
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["derived.lock"]);
    home.shelf.keep_derived(home.known, "q8", |file| file.write_all(b"all")).unwrap();
    assert_eq!(fs::read(path).unwrap(), b"all");
}

#[test]
fn a_copy_of_other_weights_is_another_file() {
    let home = Home::of(one_file());
    let other = model(&[("model.bin", noise(200_000, 3))]);
    assert_ne!(home.shelf.derived(home.known, "q8"), home.shelf.derived(other, "q8"));
}

#[test]
fn a_name_cannot_lead_elsewhere() {
    let home = Home::of(one_file());
    for name in ["", "..", "a/b", "/etc/x", "a/"] {
        let kept = home.shelf.keep_derived(home.known, name, |_| panic!("{name} is written"));
        assert!(kept.unwrap_err().to_string().contains("not the name of a file"), "{name}");
    }
}

/// A device that is always full stands for the disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_has_a_sentence() {
    let home = Home::of(one_file());
    let full = |_: &mut fs::File| fs::OpenOptions::new().write(true).open("/dev/full")?.write_all(b"x");
    let error = home.shelf.keep_derived(home.known, "q8", full).unwrap_err().to_string();
    assert!(error.contains("the disk is full: free some space"), "{error}");
}

/// A file that was changed after it was made is not taken for it: it is made anew.
#[test]
fn a_damaged_copy_is_made_again() {
    let home = Home::of(one_file());
    let make =
        |text: &'static [u8]| home.shelf.keep_derived(home.known, "q8", |file| file.write_all(text)).unwrap();
    let path = make(b"first");
    assert_eq!(home.shelf.made(home.known, "q8"), Some(path.clone()));
    assert_eq!(fs::read(make(b"never written")).unwrap(), b"first");
    fs::write(&path, b"fi").unwrap();
    assert_eq!(home.shelf.made(home.known, "q8"), None);
    assert_eq!(fs::read(make(b"again")).unwrap(), b"again");
}
