//! The hook for `pre-commit`: alone, and with the real tool.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::repository::{SILENCE, TestRepository, git_in, project, script, tools};

/// Runs something in the repository, with the program on the path and nothing of this user's configuration.
fn run(repository: &TestRepository, program: &Path, args: &[&str], path: &str) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(repository.root()).env_clear().env("PATH", path);
    command.env("AGON_HOME", repository.path("home")).env("HOME", repository.path("")).output().unwrap()
}

fn path_with_program() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_agon")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn hook() -> std::path::PathBuf {
    project().join("packaging/pre-commit/agon-review")
}

#[test]
fn what_is_staged_is_reviewed_and_nothing_else() {
    let Some(()) = tools() else { return };
    let repository = TestRepository::new();
    let hook = |script: &str| {
        let models = format!("--models=script/{}", repository.keep("judges.yaml", script).display());
        run(&repository, &hook(), &["--quick", &models], &path_with_program())
    };
    let nothing = hook(&script("FAIL"));
    assert!(nothing.status.success() && said(&nothing).contains("Nothing is staged"), "{}", said(&nothing));
    repository.write("auth.py", "staged = 'staged text'\nx = 1\n");
    repository.git(&["add", "auth.py"]);
    repository.write("auth.py", "left = 'text that is not staged'\n");
    repository.write("untracked.py", "x = 1\n");
    for (script, status) in [(script("PASS"), 0), (script("FAIL"), 1), (SILENCE.to_owned(), 3)] {
        let ran = hook(&script);
        assert_eq!(ran.status.code(), Some(status), "{}", said(&ran));
        assert_eq!(said(&ran).contains("SKIP=agon-review"), status != 0, "{}", said(&ran));
    }
    let args = ["export", "last", "--format", "json"];
    let log = said(&run(&repository, Path::new(env!("CARGO_BIN_EXE_agon")), &args, &path_with_program()));
    assert!(
        log.contains("staged text") && !log.contains("not staged") && !log.contains("untracked"),
        "{log}"
    );
    assert!(!repository.root().join(".agents").exists(), "no files are written into the repository");
}

#[test]
fn without_the_program_the_hook_says_how_to_install_it() {
    let Some(()) = tools() else { return };
    let repository = TestRepository::new();
    let git = String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout)
        .unwrap();
    let bin = repository.path("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, target) in [("git", git.trim()), ("sh", "/bin/sh"), ("env", "/usr/bin/env")] {
        std::os::unix::fs::symlink(target, bin.join(name)).unwrap();
    }
    let ran = run(&repository, &hook(), &["--quick"], &bin.display().to_string());
    assert!(
        ran.status.code() == Some(2) && said(&ran).contains("pipx install agon-debate"),
        "{}",
        said(&ran)
    );
}

/// With the tool from PyPI: it clones this repository, reads `.pre-commit-hooks.yaml`, and stops a commit.
#[test]
fn the_real_tool_runs_the_hook() {
    let (Some(()), Ok(tool)) = (tools(), std::env::var("AGON_PRE_COMMIT")) else {
        eprintln!("AGON_PRE_COMMIT does not name pre-commit: the test is skipped");
        return;
    };
    let repository = TestRepository::new();
    // The tool clones a revision, so the files as they are now become one.
    let hooks = repository.path("hooks");
    std::fs::create_dir_all(hooks.join("packaging/pre-commit")).unwrap();
    for name in [".pre-commit-hooks.yaml", "packaging/pre-commit/agon-review"] {
        std::fs::copy(project().join(name), hooks.join(name)).unwrap();
    }
    git_in(&hooks, &["init", "-q"]);
    git_in(&hooks, &["add", "-A"]);
    git_in(&hooks, &["commit", "-q", "-m", "hooks"]);
    git_in(&hooks, &["tag", "v0.1.0"]);
    let judges = repository.keep("judges.yaml", &script("FAIL"));
    let example =
        std::fs::read_to_string(project().join("examples/workflows/pre-commit-config.yaml")).unwrap();
    let config = example
        .replace("https://github.com/OWNER/agon", &hooks.display().to_string())
        .replace("openai/MODEL", &format!("script/{}", judges.display()));
    assert_ne!(config, example);
    repository.write(".pre-commit-config.yaml", &config);
    repository.commit("a configuration of the hooks");

    let tool = Path::new(&tool);
    let installed = run(&repository, tool, &["install"], &path_with_program());
    assert!(installed.status.success(), "{}", said(&installed));
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        run(&repository, Path::new("git"), &[&who[..], args].concat(), &path_with_program())
    };
    repository.write("auth.py", "x = 1\ny = 2\n");
    repository.git(&["add", "auth.py"]);
    let before = repository.git(&["rev-parse", "HEAD"]);
    let stopped = git(&["commit", "-m", "a change"]);
    assert!(!stopped.status.success() && said(&stopped).contains("FAIL"), "{}", said(&stopped));
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), before, "nothing was committed");
    std::fs::write(&judges, script("PASS")).unwrap();
    let passed = git(&["commit", "-m", "a change"]);
    assert!(passed.status.success() && said(&passed).contains("PASS"), "{}", said(&passed));
    assert_ne!(repository.git(&["rev-parse", "HEAD"]), before);
    let all = run(&repository, tool, &["run", "--all-files"], &path_with_program());
    assert!(all.status.success() && said(&all).contains("Nothing is staged"), "{}", said(&all));
}

/// "Quick by default."
#[test]
fn the_hook_is_quick_by_default() {
    let text = std::fs::read_to_string(project().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks: Value = serde_norway::from_str(&text).unwrap();
    assert_eq!(hooks[0]["args"], serde_json::json!(["--quick"]));
    assert_eq!(hooks[0]["entry"], "packaging/pre-commit/agon-review");
    assert_eq!(hooks[0]["pass_filenames"], false);
}
