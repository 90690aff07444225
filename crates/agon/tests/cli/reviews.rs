//! `agon review` as a gate in somebody's pipeline: exit status, formats, files, a second vendor, batches.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Home, Said};

const SCRIPT: &str = include_str!("review.yaml");
pub(crate) const AUTH: &str = "import jwt\nSECRET = \"changeme\"\n\ndef login(user):\n    return db.execute(f\"SELECT * FROM users WHERE name = '{user}'\")\n";

pub(crate) fn home() -> Home {
    let home = Home::new();
    home.write("review.yaml", SCRIPT);
    home.write("auth.py", AUTH);
    home
}

pub(crate) fn review(home: &Home, args: &[&str]) -> Said {
    home.agon(&[&["review"], args, &["--models", "script/review.yaml", "--seed", "7"]].concat())
}

/// A home in which every judge says this, in both rounds.
pub(crate) fn unanimous(verdict: &str) -> Home {
    let home = home();
    let said = format!("verdict: {verdict}, confidence: HIGH, key_insight: x");
    let found = "findings: [{severity: minor, description: d}]";
    home.write(
        "review.yaml",
        format!("seats:\n  \"*\":\n    r1: {{{said}, {found}}}\n    r2: {{restatement: y, {said}}}\n"),
    );
    home
}

#[test]
#[allow(clippy::too_many_lines, reason = "a report is as long as it is")]
fn a_review_in_two_rounds() {
    assert_snapshot!(review(&home(), &["auth.py", "--debate"]).shown(), @r#"
    Review of auth.py
    Both rounds are complete.
    review · 2 judges · 2 rounds · 0.0 s

    Verdict
      FAIL
      judge-1 and judge-2 say FAIL. One FAIL is enough.

    Findings
      Critical
        • F1: SQL injection through the user name
          auth.py:5, injection. Advice: Bind the parameter. Found by judge-1.
          Accepted by judge-2: The f-string is there.

      Significant
        • F3: The secret key is hard-coded
          auth.py:2, secrets. Found by judge-2. Accepted by judge-1: It is on line
          2.

      Minor
        • F2 (dropped): No docstring
          auth.py:4. Found by judge-1. judge-1 dropped it in round 2: The name says
          it.

    The judges
      Judge                  Provider  R1    R2    Confidence      Counts
      judge-1 (correctness)  script    FAIL  FAIL  HIGH            FAIL (R2)
      judge-2 (risk)         script    WARN  FAIL  MEDIUM -> HIGH  FAIL (R2)
      • judge-1: Still an injection
      • judge-2: The injection is worse than the secret
        WARN to FAIL, code location: auth.py:5 “return db.execute(f"SELECT * FROM
        users WHERE name = '{user}'")”

    Recommendations
      • judge-1: Bind the parameter
      • judge-2: Bind the parameter, move the secret

    What the debate did
      judge-2 changed from WARN to FAIL in round 2, naming auth.py:5. A plain vote
      on the first positions is tied between FAIL and WARN; the verdict is FAIL. By
      the protocol's own rule the first positions give FAIL. How independent the
      judges are is not known; judge-1 and judge-2 share the model
      script/review.yaml.

               R1     R2
      judge-1  FAIL   FAIL
      judge-2  WARN   FAIL*
      * changed, naming a point or evidence

    Dissent
      No dissent: every first-round position was adopted or given up.

    Warnings
      • Convergence: the verdicts of round 1 differed, and all of round 2 are FAIL:
        check what moved the judges

    Seats
      judge-1: script/review.yaml
      judge-2: script/review.yaml

    Cost
      4 calls, 0 tokens in, 0 out, $0.00

    Who was heard
      2/2 R1, 2/2 R2, fidelity full

    Debate (twelve-id.)
      agon show (twelve-id.)
      agon export (twelve-id.) --format html
    -- stderr
    Review of auth.py
    review · 2 judges · (twelve-id.)

    Round 1 - 2 judges give a verdict, each on its own
      ✓ judge-1   0.0 s  SQL is built from what the user types
      ✓ judge-2   0.0 s  The secret is in the code
        Round 1: FAIL so far
        Judge    Verdict  Confidence  Key insight
        judge-1  FAIL     HIGH        SQL is built from what the user types
        judge-2  WARN     MEDIUM      The secret is in the code

    Round 2 - 2 judges read the others and may revise
      ✓ judge-1   0.0 s  Still an injection
      ✓ judge-2   0.0 s  The injection is worse than the secret
        Round 2: FAIL
        Judge    Verdict       Confidence  Key insight
        judge-1  FAIL          HIGH        Still an injection
        judge-2  WARN -> FAIL  HIGH        The injection is worse than the secret

    written: .agents/council/(date).....auth-report.md
    -- exit status Some(1)
    "#);
}

/// "Exit status: PASS and WARN 0 (`--fail-on warn` makes WARN 1), FAIL and DISAGREE 1, bad usage 2, could not complete 3."
#[test]
fn the_exit_status_is_the_gate() {
    for (verdict, plain, strict) in [("PASS", 0, 0), ("WARN", 0, 1), ("FAIL", 1, 1)] {
        let home = unanimous(verdict);
        assert_eq!(review(&home, &["auth.py"]).status, Some(plain), "{verdict}");
        assert_eq!(review(&home, &["auth.py", "--fail-on", "warn"]).status, Some(strict), "{verdict}");
        assert_eq!(review(&home, &["auth.py", "--debate", "--json"]).status, Some(plain), "{verdict}");
    }
    let nobody = home();
    nobody.write("review.yaml", "seats:\n  \"*\":\n    r1: {fail: refuse}\n");
    let said = review(&nobody, &["auth.py", "--json"]);
    assert_eq!((said.status, &said.json()["verdict"]["verdict"]), (Some(3), &Value::Null));
    assert_eq!(said.json()["verdict"]["footer"], "0/2 R1, 0/0 R2, fidelity degraded");
}

/// "`--format github` prints annotations from the findings' locations, `--format sarif` a SARIF file, `--format junit` a
/// JUnit report", also of a debate that is kept.
#[test]
fn formats_for_a_pipeline() {
    let home = home();
    let said = review(&home, &["auth.py", "--debate", "--format", "github", "--quiet"]);
    assert_eq!((said.status, said.err.as_str()), (Some(1), ""));
    assert_snapshot!(said.out, @"
    ::error file=auth.py,line=5,title=agon%3A critical%2C injection::SQL injection through the user name%0ARecommendation: Bind the parameter%0ARaised or accepted by judge-1, judge-2.
    ::warning file=auth.py,line=2,title=agon%3A significant%2C secrets::The secret key is hard-coded%0ARaised or accepted by judge-1, judge-2.
    ::notice file=auth.py,line=4,title=agon%3A minor%2C dropped in round 2::No docstring%0ARaised or accepted by judge-1.%0ADropped in round 2 by judge-1.
    ::error title=agon review auth%3A FAIL::FAIL: judge-1 and judge-2 say FAIL. One FAIL is enough.%0Aconvergence: the verdicts of round 1 differed, and all of round 2 are FAIL: check what moved the judges%0A2/2 R1, 2/2 R2, fidelity full
    agon review auth: FAIL: judge-1 and judge-2 say FAIL. One FAIL is enough.
    - judge-1 (script/review.yaml): FAIL: Still an injection
    - judge-2 (script/review.yaml): FAIL: The injection is worse than the secret
    Replies: 2/2 R1, 2/2 R2, fidelity full
    ");
    assert_eq!(home.agon(&["export", "last", "--format", "github"]).ok().out, said.out);
    let sarif = review(&home, &["auth.py", "--format", "sarif"]).json();
    let result = &sarif["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&result["level"], &place["region"]["startLine"]), (&"error".into(), &5.into()));
    assert_eq!(place["artifactLocation"]["uri"], "auth.py");
    let junit = review(&home, &["auth.py", "--format", "junit"]).out;
    assert!(junit.starts_with("<?xml") && junit.contains("<failure"), "{junit}");
    home.debate();
    let other = home.agon(&["export", "last", "--format", "sarif"]);
    assert!(other.status == Some(2) && other.err.contains("this debate (deep)"), "{other:?}");
}

fn council(home: &Home) -> Vec<String> {
    let names = std::fs::read_dir(home.path(".agents/council")).unwrap();
    let mut names: Vec<String> = names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// "Files: `.agents/council/YYYY-MM-DD-<target>-<vendor>-<perspective>.md`, `-r2.md` for round 2, and the report; a second run
/// on one day gets a run suffix and overwrites nothing."
#[test]
fn files_of_the_judges_and_a_second_run_that_overwrites_nothing() {
    let home = home();
    review(&home, &["auth.py", "--debate"]);
    let first = council(&home);
    let day = &first[0][..10];
    let names = |run: &str| {
        let of = |name: &str| format!("{day}-auth-{name}.md");
        vec![
            of(&format!("report{run}")),
            of(&format!("script-correctness{run}-r2")),
            of(&format!("script-correctness{run}")),
            of(&format!("script-risk{run}-r2")),
            of(&format!("script-risk{run}")),
        ]
    };
    assert_eq!(first, names(""));
    let report = home.read(&format!(".agents/council/{day}-auth-report.md"));
    assert!(report.contains("FAIL") && report.contains("2/2 R1, 2/2 R2"), "{report}");
    let r2 = home.read(&format!(".agents/council/{day}-auth-script-risk-r2.md"));
    assert!(r2.contains("return db.execute(f") && r2.contains("\"restatement\""), "{r2}");
    let before = home.files();
    review(&home, &["auth.py", "--debate", "--quiet"]);
    let mut both = [names(""), names("-run2")].concat();
    both.sort();
    assert_eq!(council(&home), both);
    let after = home.files();
    let same = |(path, bytes): &(std::path::PathBuf, Vec<u8>)| {
        !path.to_string_lossy().contains("council") || after.contains(&(path.clone(), bytes.clone()))
    };
    assert!(before.iter().all(same), "nothing is overwritten");
    review(&home, &["auth.py", "--no-files"]);
    assert_eq!(council(&home), both);
}

/// A review that is over wrote its files when it ended.
#[test]
fn a_finished_review_writes_nothing_again() {
    let home = home();
    review(&home, &["auth.py"]);
    let written = council(&home);
    assert_eq!(home.agon(&["resume", "last", "--quiet"]).status, Some(1));
    assert_eq!(council(&home), written);
}

/// "`resume` of a review started with `--no-files` writes" none either.
#[test]
fn a_review_without_files_stays_without_them_when_it_is_resumed() {
    let home = home();
    home.write("key.yaml", "seats:\n  \"*\":\n    r1: { fail: key }\n");
    let args = ["review", "auth.py", "--models", "script/key.yaml", "--no-files", "--quiet"];
    let stopped = home.agon(&args);
    assert!(stopped.err.contains("agon resume"), "{stopped:?}");
    home.write("key.yaml", SCRIPT);
    assert_eq!(home.agon(&["resume", "last", "--quiet"]).status, Some(1));
    assert!(!home.path(".agents").exists());
}

/// A place where nothing can be written costs a word and not the verdict.
#[test]
fn files_that_cannot_be_written_do_not_cost_the_verdict() {
    let home = home();
    home.write(".agents", "a file where the folder should be");
    let said = review(&home, &["auth.py", "--quiet"]);
    assert_eq!(said.status, Some(1));
    assert!(said.out.contains("FAIL") && said.err.contains("records are not written"), "{said:?}");
}

/// "`--mixed MODEL,...` adds judges of a second vendor ... typically as an external command: only the first vendor's judges have
/// R2"; the vendors split, so the user decides.
#[test]
#[cfg(unix)]
fn a_command_is_the_second_vendor() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let program = home.write(
        "agent",
        "#!/bin/sh\ncat > asked\necho '{\"verdict\": \"PASS\", \"confidence\": \"LOW\", \"key_insight\": \"fine\"}'\n",
    );
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.write(
        "mixed.toml",
        "[commands.agent]\ncommand = [\"./agent\"]\n[review]\nmixed = [\"command/agent\"]\n",
    );
    let mixed = |args: &[&str]| {
        let args = [&["auth.py", "--config", "mixed.toml", "--json"], args].concat();
        let args = [&["review"], &args[..], &["--models", "script/review.yaml"]].concat();
        let path = std::env::var("PATH").unwrap();
        home.agon_in(&[("PATH", &path)], &args)
    };
    let said = mixed(&["--debate", "--mixed"]);
    assert_eq!(said.status, Some(1), "{said:?}");
    let verdict = &said.json()["verdict"];
    assert_eq!(
        (&verdict["verdict"], &verdict["footer"]),
        (&"DISAGREE".into(), &"4/4 R1, 2/4 R2, fidelity full".into())
    );
    let used: Vec<&Value> =
        verdict["judges"].as_array().unwrap().iter().map(|judge| &judge["used"]).collect();
    assert_eq!(used, ["r2", "r2", "r1", "r1"]);
    assert!(home.read("asked").contains("SELECT * FROM users"), "the program read the packet");
    let said = mixed(&["--mixed", "command/agent,command/agent,command/agent"]);
    assert_eq!(said.json()["verdict"]["judges"].as_array().unwrap().len(), 5, "{said:?}");
}

/// "A review that silently was not mixed is worse than none."
#[test]
#[cfg(unix)]
fn a_second_vendor_that_is_not_heard_is_told() {
    let home = unanimous("PASS");
    home.write(
        "mixed.toml",
        "[commands.gone]\ncommand = [\"false\"]\n[commands.none]\ncommand = [\"/no/such/program\"]\n",
    );
    let mixed = |model: &str| {
        let path = std::env::var("PATH").unwrap();
        let args = [
            "review",
            "auth.py",
            "--config",
            "mixed.toml",
            "--json",
            "--models",
            "script/review.yaml",
            "--mixed",
            model,
        ];
        home.agon_in(&[("PATH", &path)], &args)
    };
    let said = mixed("command/gone");
    let warnings = said.json()["warnings"].to_string();
    assert!(warnings.contains("this review is not mixed"), "{warnings}");
    assert_eq!((said.status, &said.json()["status"]), (Some(3), &"incomplete".into()));
    let said = mixed("command/none");
    assert!(said.status == Some(2) && said.err.contains("no program /no/such/program"), "{said:?}");
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 1, "nothing was asked");
}

/// "`COUNCIL_R2_TIMEOUT`, default 90 s, and `--r2-timeout`": a judge that is late keeps its verdict of round 1.
#[test]
fn a_late_second_round_is_discarded() {
    let home = home();
    let late = SCRIPT.replacen("    r2:\n", "    r2: {fail: timeout}\n    unused:\n", 1);
    home.write("review.yaml", late);
    let check = |said: Said| {
        let document = said.json();
        let judge = &document["verdict"]["judges"][0];
        assert_eq!((&judge["used"], &judge["r2"]), (&"r1".into(), &Value::Null), "{said:?}");
        assert!(judge["note"].as_str().unwrap().contains("no R2 (timed out)"), "{judge}");
        assert_eq!(document["verdict"]["footer"], "2/2 R1, 1/2 R2, fidelity degraded");
        assert_eq!(document["absences"][0]["why"], "timed_out");
    };
    let args = ["review", "auth.py", "--debate", "--json", "--no-files", "--models", "script/review.yaml"];
    check(home.agon(&[&args[..], &["--r2-timeout", "0.3"]].concat()));
    check(home.agon_in(&[("COUNCIL_R2_TIMEOUT", "0.3")], &args));
    check(home.agon_in(&[("COUNCIL_R2_TIMEOUT", "50")], &[&args[..], &["--r2-timeout", "0.3"]].concat()));
}

/// A review in a batch: a text or files, or both.
#[test]
fn reviews_in_a_batch() {
    let home = unanimous("WARN");
    home.write("in.jsonl", "{\"question\": \"a plan\"}\n{\"files\": [\"auth.py\"], \"options\": {\"debate\": true}}\n{\"question\": \"see\", \"files\": [\"auth.py\"]}\n");
    let args =
        ["batch", "in.jsonl", "--protocol", "review", "--models", "script/review.yaml", "--out", "out.jsonl"];
    home.agon(&args).ok();
    let mut lines: Vec<Value> =
        home.read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.sort_by_key(|line| line["index"].as_u64());
    let questions: Vec<&Value> = lines.iter().map(|line| &line["question"]).collect();
    assert_eq!(questions, ["a plan", "Review of auth.py", "see"]);
    assert!(lines.iter().all(|line| line["verdict"]["verdict"] == "WARN"));
    assert_eq!(lines[1]["rounds_completed"], 2);
}
