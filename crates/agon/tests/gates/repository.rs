//! A repository on this machine that a pipeline fetches from.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A repository with a base and a change, and a folder for everything else of a test.
pub(crate) struct TestRepository {
    folder: TempDir,
    pub(crate) base: String,
    pub(crate) head: String,
}

/// The programs that every test needs. `None`, with a sentence, if one is missing and none is required.
pub(crate) fn tools() -> Option<()> {
    let missing = ["bash", "git", "curl", "jq"].into_iter().find(|name| {
        !Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    let Some(name) = missing else { return Some(()) };
    let required = std::env::var("AGON_GATES").is_ok_and(|wanted| wanted == "required");
    assert!(!required, "there is no {name}");
    eprintln!("there is no {name}: the test is skipped");
    None
}

/// The root of this project.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What judges say when all say the same, in both rounds, with a finding in `auth.py`.
pub(crate) fn script(verdict: &str) -> String {
    let said = format!("verdict: {verdict}, confidence: HIGH, key_insight: The query is built from text");
    let finding = "{severity: critical, category: injection, location: \"auth.py:2\", description: The name is put into the query, \
                   recommendation: Bind it}";
    format!(
        "seats:\n  \"*\":\n    r1: {{{said}, findings: [{finding}]}}\n    r2: {{restatement: As before., {said}}}\n"
    )
}

/// A script in which no judge answers.
pub(crate) const SILENCE: &str = "seats:\n  \"*\":\n    r1: {fail: refuse}\n";

const SAFE: &str = "def login(name):\n    return db.execute(\"SELECT 1 WHERE name = ?\", name)\n";
const UNSAFE: &str = "def login(name):\n    return db.execute(f\"SELECT 1 WHERE name = '{name}'\")\n";

impl TestRepository {
    /// A change of `auth.py`.
    pub(crate) fn new() -> Self {
        Self::with_change(|change| change.write("auth.py", UNSAFE))
    }

    /// `auth.py` and a few files on `main`, and what `edit` writes on top of them.
    pub(crate) fn with_change(edit: impl FnOnce(&Self)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut repository = Self { folder, base: String::new(), head: String::new() };
        std::fs::create_dir_all(repository.root()).unwrap();
        repository.git(&["init", "-q", "-b", "main"]);
        // The service gives any commit that is asked for, also without its files.
        for key in ["uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter"] {
            repository.git(&["config", key, "true"]);
        }
        repository.write("auth.py", SAFE);
        repository.commit("one");
        repository.git(&["checkout", "-q", "-b", "change"]);
        edit(&repository);
        repository.head = repository.commit("two");
        // The base moves on, as it does in real repositories: that is not part of the change.
        repository.git(&["checkout", "-q", "main"]);
        repository.write("other.py", "# somebody else's work\n");
        repository.base = repository.commit("three");
        repository
    }

    /// The folder of the repository, `OWNER/NAME` below the folder of the test.
    pub(crate) fn root(&self) -> PathBuf {
        self.path("server/octo/demo")
    }

    /// A path in the folder of the test, beside the repository.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the test, beside the repository.
    pub(crate) fn keep(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits everything, and gives the hash.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.root(), args)
    }
}

pub(crate) fn git_in(folder: &Path, args: &[&str]) -> String {
    let who = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "advice.addEmbeddedRepo=false",
    ];
    let ran = Command::new("git").args(who).args(args).current_dir(folder).output().unwrap();
    assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}
