//! What `agon review` is given: files, texts, diffs, stdin, and what is wrong with them.

use crate::reviews::{home, review, unanimous};
use crate::support::{Home, Said, refused};

/// "A TARGET that exists is a file; ... anything else, or after `--text`, is text." A diff alone is a target too.
#[test]
fn files_texts_and_a_diff_are_targets() {
    let home = unanimous("PASS");
    let question = |said: Said| said.ok().json()["question"].as_str().unwrap().to_owned();
    let json = |args: &[&str]| question(review(&home, &[args, &["--json", "--no-files"]].concat()));
    assert_eq!(json(&["auth.py"]), "Review of auth.py");
    assert_eq!(json(&["Is it sane?"]), "Is it sane?");
    assert_eq!(json(&["--text", "none.py", "auth.py"]), "none.py");
    home.write("change.diff", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n");
    assert_eq!(json(&["--diff", "change.diff"]), "Review of change.diff");
    let diff = b"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n";
    let piped = ["review", "--diff", "-", "--models", "script/review.yaml", "--json", "--no-files"];
    assert_eq!(question(home.agon_with(&piped, diff)), "Review of a diff");
    let text = ["review", "--models", "script/review.yaml", "--json", "--no-files"];
    assert_eq!(question(home.agon_with(&text, b"a plan\n")), "a plan");
    assert_eq!(question(home.agon_with(&text, diff)), "Review of a diff", "it is recognised");
    let with_spec = [&text[..], &["--spec", "auth.py"]].concat();
    assert_eq!(question(home.agon_with(&with_spec, b"a plan\n")), "a plan");
    let absolute = home.path("auth.py");
    assert_eq!(json(&[absolute.to_str().unwrap()]), "Review of auth.py", "as a repository knows it");
}

/// "Bad input: ... exit 2, a sentence that names it, no call made."
#[test]
fn bad_input_is_named_and_nobody_is_asked() {
    let home = home();
    home.write("empty.md", " \n");
    home.write("binary.md", [b'a', 0, b'b']);
    home.write("latin.md", [0xe4]);
    home.write("large.md", vec![b'x'; (1 << 20) + 1]);
    home.write("prose.diff", "these are no changes\n");
    home.write("cut.diff", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n");
    home.write("names.yaml", "- 7\n");
    for (args, wants) in [
        (&["none.py"][..], &["none.py", "no such file"][..]),
        (&["src/none"], &["src/none", "no such file"]),
        (&["empty.md"], &["empty.md", "it is empty"]),
        (&["binary.md"], &["binary.md", "binary"]),
        (&["latin.md"], &["latin.md", "UTF-8"]),
        (&["large.md"], &["large.md", "longer than 1024 KB"]),
        (&["."], &["binary.md", "binary"]),
        (&["--diff", "main...nowhere"], &["main...nowhere is a range", "in no git repository"]),
        (&[], &["nothing to review"]),
        (&["--text", " "], &["target is empty"]),
        (&["--diff", "prose.diff"], &["prose.diff", "not a unified diff"]),
        (&["--diff", "cut.diff"], &["cut.diff", "in the middle of the hunk"]),
        (&["--diff", "none.diff"], &["none.diff", "no such file"]),
        (&["auth.py", "--spec", "empty.md"], &["empty.md", "it is empty"]),
        (&["auth.py", "--perspectives", "security,nose"], &["there is no perspective \"nose\"", "security"]),
        (&["auth.py", "--perspectives-file", "names.yaml"], &["names.yaml", "mapping"]),
        (&["auth.py", "--preset", "nope"], &["security-audit"]),
        (&["auth.py", "--count", "13"], &["count", "12"]),
        (&["auth.py", "--count", "5", "--explorers", "2"], &["15 agents", "at most 12"]),
        (&["auth.py", "--explorers", "6"], &["explorers", "0 to 5"]),
        (&["auth.py", "--quick", "--debate"], &["--quick", "--debate"]),
        (&["auth.py", "--mixed"], &["--mixed names no model"]),
        (&["auth.py", "--mixed", "script/other.yaml"], &["second vendor", "script"]),
        (&["auth.py", "--mixed", "nobody/x"], &["no provider"]),
        (&["auth.py", "--mode", "research", "--format", "sarif"], &["--format"]),
        (&["auth.py", "--format", "xml"], &["sarif"]),
        (&["auth.py", "--fail-on", "pass"], &["warn"]),
        (&["auth.py", "--r2-timeout", "0"], &["r2_timeout"]),
    ] {
        refused(&home, wants, || review(&home, args));
    }
    let said = review(&home, &["auth.py", "--debate", "--mode", "brainstorm"]);
    let sentence =
        "Error: --debate is only supported with validate mode. Debate requires PASS/WARN/FAIL verdicts.\n";
    assert_eq!((said.status, said.err.as_str()), (Some(2), sentence));
}

/// Stdin can be read once, and nothing on it is named too.
#[test]
fn what_is_wrong_with_stdin_is_named() {
    let home = home();
    for (args, want) in [
        (&["review", "-", "--diff", "-"][..], "stdin can be read only once"),
        (&["review", "--diff", "-", "--spec", "-"], "stdin can be read only once"),
        (&["review", "--diff", "-"], "the diff on stdin is empty"),
        (&["review", "-"], "the target is empty"),
    ] {
        let said = home.agon_with(&[args, &["--models", "script/review.yaml"]].concat(), b"\n");
        assert!(said.status == Some(2) && said.err.contains(want), "{args:?}: {said:?}");
    }
}

/// "an unreadable file": one that the system opens and will not give, to anybody.
#[test]
#[cfg(target_os = "linux")]
fn an_unreadable_file_is_named() {
    let home = home();
    refused(&home, &["/proc/self/mem", "it cannot be read"], || review(&home, &["/proc/self/mem"]));
}

/// "`--diff FILE|-|RANGE` (a git range such as `main...HEAD`)", and a folder is its files.
#[test]
fn a_git_range_and_a_folder_are_targets() {
    let home = unanimous("PASS");
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let ran = std::process::Command::new("git").args(who).args(args).current_dir(home.path("")).output();
        assert!(ran.unwrap().status.success(), "git {args:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "auth.py"]);
    git(&["commit", "-q", "-m", "one"]);
    home.write("auth.py", "import jwt\n");
    git(&["commit", "-q", "-a", "-m", "two"]);
    let path = std::env::var("PATH").unwrap();
    let review = |args: &[&str]| {
        let args = [&["review"], args, &["--models", "script/review.yaml", "--json", "--no-files"]].concat();
        home.agon_in(&[("PATH", &path)], &args)
    };
    let said = review(&["--diff", "main~1...main"]).ok().json();
    assert_eq!(
        (&said["question"], &said["verdict"]["paths"][0]),
        (&"Review of main~1...main".into(), &"auth.py".into())
    );
    assert!(review(&["--diff", "main..main"]).err.contains("nothing changes in the range main..main"));
    std::fs::create_dir(home.path("src")).unwrap();
    home.write("src/b.py", "b = 1\n");
    home.write("src/a.py", "a = 1\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", home.path("src/link.py")).unwrap();
    let paths = review(&["src"]).ok().json()["verdict"]["paths"].clone();
    assert_eq!(
        paths,
        serde_json::json!(["src/a.py", "src/b.py"]),
        "a link leads to what is not for others to read"
    );

    // A change could hide itself with attributes, run a program as a text converter, or be a file with the name of the range.
    home.write(".gitattributes", "*.py -diff diff=evil\n");
    git(&["config", "diff.evil.textconv", "sh -c 'touch ran; echo harmless'"]);
    home.write("auth.py", "import os\n");
    git(&["add", "auth.py", ".gitattributes"]);
    git(&["commit", "-q", "-m", "three"]);
    let id = review(&["--diff", "main~1...main"]).ok().json()["id"].as_str().unwrap().to_owned();
    let log = home.agon(&["export", &id, "--format", "json"]).ok().out;
    assert!(log.contains("+import os") && !log.contains("Binary files"), "{log}");
    assert!(!home.path("ran").exists());
    home.write("main~1...main", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
    let both = review(&["--diff", "main~1...main"]);
    assert!(both.status == Some(2) && both.err.contains("also a file"), "{both:?}");
    review(&["--diff", "./main~1...main"]).ok();
}

#[test]
fn a_stray_word_is_a_question_without_quotes_only_where_a_question_is_taken() {
    let home = Home::new();
    refused(
        &home,
        &["one argument too many: \"pays?\"", "put a question of several words in quotes"],
        || home.agon(&["deep", "Who", "pays?"]),
    );
    let listed = home.agon(&["list", "foo"]);
    assert!(
        listed.status == Some(2) && listed.err.contains("foo") && !listed.err.contains("question"),
        "{listed:?}"
    );
}

#[test]
fn a_range_of_commits_outside_of_a_repository_says_what_to_do() {
    let home = Home::new();
    let review = ["review", "--diff", "main...HEAD", "--models", "script/demo-review", "--no-files"];
    refused(&home, &["this folder is in no git repository", "change to the repository's folder"], || {
        home.agon_in(&[("PATH", &std::env::var("PATH").unwrap())], &review)
    });
}
