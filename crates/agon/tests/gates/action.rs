//! The action on an honest change: verdicts, files, comments.

use std::path::Path;

use serde_json::{Value, json};

use crate::action_runner::ActionUse;
use crate::github_api::GithubApi;
use crate::repository::{SILENCE, TestRepository, script, tools};

const MARK: &str = "<!-- agon review: agon -->\n";

fn sarif(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// "It works when the gate fails (comment and SARIF are still made, exit status stays 1)."
#[test]
fn every_verdict_has_its_status_its_comment_and_its_files() {
    let Some(()) = tools() else { return };
    for (script, fail_on, status, verdict) in [
        (script("PASS"), "fail", 0, "PASS"),
        (script("WARN"), "fail", 0, "WARN"),
        (script("WARN"), "warn", 1, "WARN"),
        (script("FAIL"), "fail", 1, "FAIL"),
        (SILENCE.to_owned(), "fail", 3, "none"),
    ] {
        let (repository, api) = (TestRepository::new(), GithubApi::start());
        let ran = ActionUse::scripted(&repository, &api, &script).with("fail-on", fail_on).run();
        assert_eq!((ran.status, ran.outputs["verdict"].as_str()), (status, verdict), "{}", ran.log);
        assert_eq!(ran.outputs["status"], status.to_string());
        let heading = if verdict == "none" { "no verdict" } else { verdict };
        assert!(ran.summary.starts_with(&format!("## Agon review: {heading}\n")), "{}", ran.summary);
        assert!(ran.summary.contains("Cost: ") && ran.summary.contains(&repository.head), "{}", ran.summary);
        let comments = api.comments();
        assert_eq!(comments.len(), 1, "{}", ran.log);
        assert_eq!(comments[0].body, format!("{MARK}{}", ran.summary));
        assert_eq!(std::fs::read_to_string(&ran.outputs["summary"]).unwrap(), ran.summary);
        let run = &sarif(&ran.outputs["sarif"])["runs"][0];
        assert_eq!(run["invocations"][0]["exitCode"], status);
        let verdicts = ran.commands().into_iter().filter(|line| line.contains("title=agon review change-"));
        assert_eq!(verdicts.count(), 1, "{}", ran.log);
    }
}

#[test]
fn a_finding_is_an_annotation_a_result_and_a_line_of_the_comment() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let ran = ActionUse::scripted(&repository, &api, &script("FAIL")).run();
    let annotation =
        "::error file=auth.py,line=2,title=agon%3A critical%2C injection::The name is put into the query";
    assert!(ran.commands().iter().any(|line| line.starts_with(annotation)), "{}", ran.log);
    let place = &sarif(&ran.outputs["sarif"])["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&json!("auth.py"), &json!(2))
    );
    let entry =
        "- **Critical** `auth.py:2` (injection): The name is put into the query<br>\n  Advice: Bind it<br>\n";
    assert!(ran.summary.contains(entry), "{}", ran.summary);
    assert!(ran.summary.contains("### Dissent\n\nNo dissent"), "{}", ran.summary);
    assert!(ran.summary.contains("### What the debate did\n"), "{}", ran.summary);
}

/// "Updating its own earlier comment instead of adding one."
#[test]
fn the_next_run_updates_the_comment_and_nobody_elses() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let forged = format!("{MARK}## Agon review: PASS\n");
    for author in ["mallory", "github-actions", "other-app[bot]", ""] {
        api.write(author, &forged);
    }
    (0..150).for_each(|number| api.write("alice", &format!("Remark {number}")));
    api.write("github-actions[bot]", "Coverage is 81%.");
    let before = api.comments();
    let action = ActionUse::scripted(&repository, &api, &script("FAIL"));
    action.run();
    let first = api.comments();
    assert_eq!(first.len(), before.len() + 1);
    assert!(first.last().unwrap().body.contains("review: FAIL"));
    std::fs::write(repository.path("judges.yaml"), script("PASS")).unwrap();
    assert_eq!(action.run().status, 0);
    let second = api.comments();
    assert_eq!(second.len(), first.len(), "no second comment");
    assert_eq!(second[..before.len()], before[..], "what others wrote is as it was");
    assert!(second.last().unwrap().body.contains("review: PASS"));
    // Another review of the same pull request has its own.
    let security = action.with("name", "security 2.0");
    security.run();
    security.run();
    assert_eq!(api.comments().len(), second.len() + 1);
}

#[test]
fn without_a_comment_the_page_of_the_run_has_the_summary() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let ran = ActionUse::scripted(&repository, &api, &script("PASS")).with("comment", "false").run();
    assert_eq!((ran.status, api.comments()), (0, Vec::new()));
    assert!(ran.summary.contains("Agon review: PASS"));
    // A comment that cannot be written changes nothing about the gate.
    api.make_read_only();
    for (verdict, status) in [("PASS", 0), ("FAIL", 1)] {
        let ran = ActionUse::scripted(&repository, &api, &script(verdict)).run();
        assert_eq!(ran.status, status);
        let warning =
            "::warning title=agon review::The comment could not be written: the token may not add one";
        assert!(ran.commands().iter().any(|line| line.starts_with(warning)), "{}", ran.log);
    }
}

/// "config (trusted)", "spec": files of the base, whatever the change makes of them.
#[test]
fn configuration_and_specification_come_from_the_base() {
    let Some(()) = tools() else { return };
    let repository = TestRepository::with_change(|change| {
        change.write(".github/agon.toml", "models = [\"script/pass.yaml\"]\n");
        change.write("spec.md", "Anything is fine.\n");
        change.write("pass.yaml", &script("PASS"));
        change.write("auth.py", "x = 1\n");
    });
    let api = GithubApi::start();
    repository.write(".github/agon.toml", "models = [\"script/fail.yaml\"]\n[review]\ncount = 3\n");
    repository.write("fail.yaml", &script("FAIL"));
    repository.write("spec.md", "Queries bind their parameters.\n");
    let base = repository.commit("a configuration");
    let mut action =
        ActionUse::new(&repository, &api, "").with("config", ".github/agon.toml").with("spec", "spec.md");
    action.event.1["pull_request"]["base"]["sha"] = base.into();
    let ran = action.run();
    assert_eq!(ran.status, 1, "{}", ran.log);
    assert!(ran.summary.contains("judge-1, judge-2 and judge-3 say FAIL."), "{}", ran.summary);
    let work = Path::new(&ran.outputs["summary"]).parent().unwrap();
    let log = std::process::Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["export", "last", "--format", "json", "--no-config", "--db"])
        .arg(work.join("agon.db"))
        .output();
    let log = String::from_utf8(log.unwrap().stdout).unwrap();
    assert!(log.contains("Queries bind their parameters.") && !log.contains("somebody else's work"), "{log}");
}

#[test]
fn options_and_a_budget_reach_the_review() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let action = ActionUse::scripted(&repository, &api, &script("PASS"));
    let ran = action
        .with("options", "--count=4\n\n--seed\n7\n")
        .with("debate", "false")
        .with("budget-usd", "0.01")
        .run();
    assert_eq!(ran.status, 0, "{}", ran.log);
    assert!(
        ran.summary.contains("judge-3 and judge-4 say PASS.") && ran.summary.contains("4/4 R1, 0/4 R2"),
        "{}",
        ran.summary
    );
    // An option that reviews nothing does not open the gate.
    let ran = ActionUse::scripted(&repository, &api, &script("PASS")).with("options", "--dry-run").run();
    assert_eq!((ran.status, ran.outputs["verdict"].as_str()), (3, "none"), "{}", ran.log);
    let wrong = ActionUse::scripted(&repository, &api, &script("PASS")).with("preset", "nonsense").run();
    assert_eq!(wrong.status, 2, "{}", wrong.log);
    assert!(wrong.log.contains("security-audit") && wrong.summary.contains("no verdict"), "{}", wrong.log);
}

#[test]
fn what_is_missing_is_said_in_a_sentence() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let ran = ActionUse::new(&repository, &api, "").run();
    assert_eq!(ran.status, 2);
    assert!(ran.commands()[0].contains("No model is named"), "{}", ran.log);
    let mut push = ActionUse::scripted(&repository, &api, &script("PASS"));
    push.event = ("push", json!({"ref": "refs/heads/main"}));
    let ran = push.run();
    assert_eq!(ran.status, 2);
    assert!(ran.commands()[0].contains("This event (push) has no pull request"), "{}", ran.log);
    let named = push.with("base", &repository.base).with("head", &repository.head).run();
    assert_eq!((named.status, api.comments()), (0, Vec::new()), "{}", named.log);
    let mut queue = ActionUse::scripted(&repository, &api, &script("FAIL"));
    let group = json!({"base_sha": repository.base, "head_sha": repository.head});
    queue.event = ("merge_group", json!({"merge_group": group}));
    assert_eq!(queue.run().status, 1);
    let gone = ActionUse::scripted(&repository, &api, &script("PASS")).with("head", &"0".repeat(40)).run();
    assert!(gone.status == 3 && gone.commands()[0].contains("could not be fetched"), "{}", gone.log);
}

#[test]
fn a_change_that_changes_nothing_passes_without_a_review() {
    let Some(()) = tools() else { return };
    let (repository, api) = (TestRepository::with_change(|_| {}), GithubApi::start());
    let ran = ActionUse::scripted(&repository, &api, &script("FAIL")).run();
    assert_eq!((ran.status, ran.outputs["verdict"].as_str()), (0, "none"), "{}", ran.log);
    assert!(api.comments()[0].body.contains("nothing to review"));
}
