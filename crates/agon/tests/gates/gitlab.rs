//! The GitLab job, run as a runner with a shell does.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::repository::{SILENCE, TestRepository, project, script, tools};

/// What came of one job.
struct JobResult {
    status: Option<i32>,
    log: String,
    /// The folder of the artifacts.
    artifacts: PathBuf,
}

fn template() -> Value {
    let text = std::fs::read_to_string(project().join("packaging/gitlab/agon-review.yml")).unwrap();
    serde_norway::from_str(&text).unwrap()
}

/// The folder with the program, as an image has it on its path.
fn program_folder() -> String {
    Path::new(env!("CARGO_BIN_EXE_agon")).parent().unwrap().display().to_string()
}

/// Runs the job with these variables of the project on top of its own.
fn job(repository: &TestRepository, path: &str, variables: &[(&str, &str)]) -> JobResult {
    let job = &template()["agon-review"];
    let start = repository.git(&["merge-base", "main", &repository.head]);
    let lines = job["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
    let script = repository.keep("job.sh", &lines.collect::<Vec<_>>().join("\n"));
    let folder = repository.path("builds/x");
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new("sh");
    command.arg(script).current_dir(&folder).env_clear().env("PATH", path).env("HOME", repository.path(""));
    for (name, value) in job["variables"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    command
        .env("CI_PROJECT_DIR", &folder)
        .env("CI_REPOSITORY_URL", format!("file://{}", repository.root().display()))
        .env("CI_COMMIT_SHA", &repository.head)
        .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", start)
        .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .env("CI_COMMIT_TITLE", "$(touch pwned)")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let log = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    JobResult { status: output.status.code(), log, artifacts: folder.join("agon-review") }
}

fn path_with_program() -> String {
    format!("{}:{}", program_folder(), std::env::var("PATH").unwrap())
}

fn judges(repository: &TestRepository, script: &str) -> String {
    format!("script/{}", repository.keep("judges.yaml", script).display())
}

#[test]
fn every_verdict_has_its_status_and_its_reports() {
    let Some(()) = tools() else { return };
    let template = template();
    let reports = &template["agon-review"]["artifacts"]["reports"];
    for (script, fail_on, status) in [
        (script("PASS"), "fail", 0),
        (script("WARN"), "warn", 1),
        (script("FAIL"), "fail", 1),
        (SILENCE.to_owned(), "fail", 3),
    ] {
        let repository = TestRepository::new();
        let models = judges(&repository, &script);
        let ran =
            job(&repository, &path_with_program(), &[("AGON_MODELS", &models), ("AGON_FAIL_ON", fail_on)]);
        assert_eq!(ran.status, Some(status), "{}", ran.log);
        let report = |kind: &str| {
            let path = reports[kind].as_str().unwrap();
            std::fs::read_to_string(ran.artifacts.parent().unwrap().join(path)).unwrap()
        };
        assert!(report("junit").starts_with("<?xml"), "{}", ran.log);
        let quality: Value = serde_json::from_str(&report("codequality")).unwrap();
        assert_eq!(quality.as_array().unwrap().len(), usize::from(status != 3), "{quality}");
        if status != 3 {
            assert_eq!(quality[0]["location"]["path"], "auth.py");
            assert_eq!(
                (&quality[0]["severity"], &quality[0]["location"]["lines"]["begin"]),
                (&"critical".into(), &2.into())
            );
        }
        assert!(ran.artifacts.join("agon.sarif").exists());
        assert!(ran.log.contains("## Agon review: "), "{}", ran.log);
    }
}

#[test]
fn a_change_cannot_bring_its_own_judges_or_run_anything() {
    let Some(()) = tools() else { return };
    let repository = TestRepository::with_change(|change| {
        change.write("auth.py", "x = 1\n");
        change.write("$(touch pwned);`touch pwned`.py", "x = 1\n");
        change.write("pass.yaml", &script("PASS"));
        change.write("agon.toml", "models = [\"script/pass.yaml\"]\n[review]\ncount = 1\n");
        change.write(".gitattributes", "* -diff\n");
    });
    let models = judges(&repository, &script("FAIL"));
    let ran =
        job(&repository, &path_with_program(), &[("AGON_MODELS", &models), ("AGON_PRESET", "code-review")]);
    assert_eq!(ran.status, Some(1), "{}", ran.log);
    assert!(!repository.path("builds/x/pwned").exists() && !repository.path("builds/x/auth.py").exists());
    repository.write("ci.toml", &format!("models = [{models:?}]\n[review]\ncount = 3\n"));
    repository.commit("a configuration of the target branch");
    let ran = job(&repository, &path_with_program(), &[("AGON_CONFIG", "ci.toml")]);
    assert!(
        ran.status == Some(1) && ran.log.contains("judge-1, judge-2 and judge-3 say FAIL."),
        "{}",
        ran.log
    );
}

#[test]
fn a_release_is_downloaded_only_with_its_checksum() {
    let Some(()) = tools() else { return };
    // `sh` and the tools must be found, and no agon.
    let path = std::env::var("PATH").unwrap();
    if std::env::split_paths(&path).any(|folder| folder.join("agon").exists()) {
        return;
    }
    let repository = TestRepository::new();
    let models = judges(&repository, &script("PASS"));
    let none = job(&repository, &path, &[("AGON_MODELS", &models)]);
    assert!(none.status == Some(2) && none.log.contains("set AGON_ARCHIVE_URL"), "{}", none.log);
    std::fs::create_dir(repository.path("agon-9")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_agon"), repository.path("agon-9/agon")).unwrap();
    let archive = repository.path("agon.tar.gz");
    let tar = Command::new("tar")
        .arg("-czhf")
        .arg(&archive)
        .arg("agon-9")
        .current_dir(repository.path(""))
        .status();
    assert!(tar.unwrap().success());
    let sum = Command::new("sha256sum").arg(&archive).output();
    let Ok(sum) = sum else { return };
    let sum = String::from_utf8(sum.stdout).unwrap().split(' ').next().unwrap().to_owned();
    let address = format!("file://{}", archive.display());
    let with = |sum: &str| {
        let variables =
            [("AGON_MODELS", models.as_str()), ("AGON_ARCHIVE_URL", &address), ("AGON_ARCHIVE_SHA256", sum)];
        job(&repository, &path, &variables)
    };
    assert_eq!(with(&sum).status, Some(0));
    let other = with(&"0".repeat(64));
    assert!(other.status == Some(2) && other.log.contains("not the one that was expected"), "{}", other.log);
}

#[test]
fn without_a_model_or_a_change_it_says_so() {
    let Some(()) = tools() else { return };
    let repository = TestRepository::new();
    let ran = job(&repository, &path_with_program(), &[]);
    assert!(ran.status == Some(2) && ran.log.contains("no model is named"), "{}", ran.log);
    let wrong = job(&repository, &path_with_program(), &[("AGON_MODELS", "nobody/x")]);
    assert!(wrong.status == Some(2) && wrong.log.contains("nobody"), "{}", wrong.log);
    let same = TestRepository::with_change(|_| {});
    let models = judges(&same, &script("FAIL"));
    let ran = job(&same, &path_with_program(), &[("AGON_MODELS", &models)]);
    assert!(ran.status == Some(0) && ran.log.contains("nothing to review"), "{}", ran.log);
}
