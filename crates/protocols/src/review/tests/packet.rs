//! "Packet: files (inlined, with path), target text, `--diff`, `--spec`, prior decisions."

use proptest::prelude::*;

use super::super::packet::{self, PacketPaths};
use super::*;

const DIFF: &str = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-old\n+new\n";

fn brief_of(question: &str, files: &[(&str, &str)]) -> Result<Brief, String> {
    let request = testing::request(&Review, question, files, &["a/x"], &[]).map_err(|why| why.0)?;
    testing::brief(&Review, request).map_err(|why| why.0)
}

/// What the first judge reads in round 1.
fn first_prompt(brief: Brief) -> String {
    asks(brief, &|_, _, _| Some(first("PASS")))[0].1.prompt.user()
}

#[test]
fn everything_that_was_given_is_in_the_packet() {
    let brief = brief_of(
        "",
        &[
            ("src/auth.py", "import jwt\nlogin()\n"),
            ("docs/auth.md", "How to log in.\n"),
            ("text:text", "Mind the tokens."),
            ("diff:change.diff", DIFF),
            ("spec:spec.md", "Tokens live 15 minutes."),
            ("decisions:adr.md", "We use JWT."),
        ],
    );
    let text = first_prompt(brief.unwrap());
    for part in [
        "### File `src/auth.py`",
        "1 | import jwt\n2 | login()",
        "### File `docs/auth.md`",
        "1 | How to log in.",
        "### Target",
        "Mind the tokens.",
        "### Diff",
        "-old\n+new",
        "### Specification",
        "Tokens live 15 minutes.",
        "### Prior Decisions",
        "We use JWT.",
    ] {
        assert!(text.contains(part), "it lacks {part:?}:\n{text}");
    }
    let quoted: Vec<String> =
        agon_core::fence::quotations(&text).iter().map(|quotation| quotation.what.to_owned()).collect();
    let want = [
        "file src/auth.py",
        "file docs/auth.md",
        "the target",
        "diff change.diff",
        "specification spec.md",
        "decisions adr.md",
    ];
    assert_eq!(quoted, want, "everything is quoted with its source");
}

#[test]
fn what_was_not_given_is_not_mentioned() {
    let text = first_prompt(brief_of("", &[("plan.md", "Adopt the queue.")]).unwrap());
    for heading in ["### Target", "### Diff", "### Specification", "### Prior Decisions", "### A Word"] {
        assert!(!text.contains(heading), "{heading}");
    }
    let text = first_prompt(brief_of("Is the plan sane?", &[]).unwrap());
    assert!(text.contains("### Target\n<<BEGIN ") && text.contains("Is the plan sane?"), "{text}");
}

/// A file is never cut, and its lines are numbered so that a finding can say where it is.
#[test]
fn a_file_is_whole_and_numbered() {
    let long: String = (1..=1000).map(|n| format!("line {n}\r\n")).collect();
    let text = first_prompt(brief_of("", &[("long.txt", &long)]).unwrap());
    for row in ["   1 | line 1\n", " 100 | line 100\n", "1000 | line 1000\n"] {
        assert!(text.contains(row), "{row:?}");
    }
}

/// The issue: "a diff that does not parse ...: exit 2, a sentence that names it, no call made."
#[test]
fn a_diff_that_does_not_parse_is_refused_by_name() {
    for (text, words) in [
        ("just words", "the diff change.diff: it is not a unified diff"),
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n",
            "the diff change.diff: it ends in the middle of the hunk of line 3",
        ),
    ] {
        let why = brief_of("", &[("plan.md", "Adopt it."), ("diff:change.diff", text)]).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
    assert!(brief_of("", &[("diff:change.diff", DIFF)]).is_ok(), "a diff alone can be judged");
}

/// A specification or decisions alone are nothing to judge.
#[test]
fn there_must_be_something_to_judge() {
    for files in [
        &[][..],
        &[("spec:spec.md", "s")],
        &[("decisions:adr.md", "d")],
        &[("perspectives_file:own.yaml", "a: b")],
    ] {
        for question in ["", " \n"] {
            let why = brief_of(question, files).unwrap_err();
            assert!(why.contains("there is nothing to review: agon review FILE..."), "{files:?}: {why}");
        }
        assert!(brief_of("Is it sane?", files).is_ok(), "{files:?} with a text");
    }
}

/// Without a text, the title names what is judged.
#[test]
fn the_title_of_a_review_names_what_it_judges() {
    for (files, title) in [
        (&[("src/auth.py", "x")][..], "Review of src/auth.py"),
        (&[("a.py", "x"), ("b.py", "y"), ("spec:s.md", "z")], "Review of a.py, b.py"),
        (&[("diff:change.diff", DIFF)], "Review of change.diff"),
        (&[("a.py", "x"), ("diff:-", DIFF)], "Review of a.py, a diff"),
    ] {
        assert_eq!(brief_of("", files).unwrap().question, title);
    }
}

/// Also with quoted paths and other prefixes.
#[test]
fn a_diff_names_each_file_once() {
    for (head, path) in [
        ("diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n", "x.c"),
        ("diff --git x.c x.c\n--- x.c\n+++ x.c\n", "x.c"),
        ("diff --git \"a/x y.c\" \"b/x y.c\"\n--- \"a/x y.c\"\n+++ \"b/x y.c\"\n", "x y.c"),
        ("diff --git a/gone.c b/gone.c\n--- a/gone.c\n+++ /dev/null\n", "gone.c"),
    ] {
        let paths = packet::diff_paths(&format!("{head}@@ -1 +1 @@\n-a\n+b\n")).unwrap();
        assert_eq!(paths, [path], "{head}");
    }
}

const TWO_FILES: &str = "From somebody\n---\n a.rs | 2 +-\n\ndiff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@ fn a\n one\n-two\n+TWO\n+more\n three\n@@ -9 +10 @@\n-x\n+y\n\\ No newline at end of file\ndiff --git a/new b.txt b/new b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new b.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n";

#[test]
fn the_paths_of_a_diff_are_those_of_the_new_version() {
    assert_eq!(packet::diff_paths(TWO_FILES).unwrap(), ["a.rs", "new b.txt"]);
    let plain = "--- old/x.c\t2026-01-01\n+++ x.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(packet::diff_paths(plain).unwrap(), ["x.c"]);
    let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
    assert_eq!(packet::diff_paths(renamed).unwrap(), ["y"]);
    let odd = "diff --git \"a/dir/\\303\\274 b.py\" \"b/dir/\\303\\274 b.py\"\n--- \"a/dir/\\303\\274 b.py\"\n+++ \"b/dir/\\303\\274 b.py\"\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(packet::diff_paths(odd).unwrap(), ["dir/\u{fc} b.py"], "git quotes unusual characters");
    let gone = "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    assert_eq!(packet::diff_paths(gone).unwrap(), ["x"]);
    let blank = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b\n";
    assert_eq!(packet::diff_paths(blank).unwrap(), ["x"], "an empty line without its blank");
}

/// "a diff that does not parse: exit 2, a sentence that names it"
#[test]
fn a_diff_that_does_not_parse_is_refused_with_the_line() {
    for (text, want) in [
        ("", "not a unified diff"),
        ("just some words\n", "not a unified diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1: a hunk stands before the first file"),
        ("--- a/x\n+++ b/x\n@@ what @@\n", "line 3: it is not the head of a hunk"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "ends in the middle of the hunk of line 3"),
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\nprose\n",
            "line 5: it does not belong to the hunk of line 3",
        ),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n+b\n", "line 5"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n", "line 1: it names no file"),
    ] {
        let why = packet::diff_paths(text).unwrap_err();
        assert!(why.contains(want), "{text:?}: {why}");
    }
}

fn paths(files: &[(&str, Option<u64>)]) -> PacketPaths {
    PacketPaths { known: files.iter().map(|(path, lines)| ((*path).to_owned(), *lines)).collect() }
}

fn located(paths: &PacketPaths, location: &str) -> Option<(String, Option<u64>, Option<u64>)> {
    paths.locate(location).map(|place| (place.file, place.line, place.end_line))
}

/// "annotations from the findings' locations"
#[test]
fn a_location_is_read_however_a_judge_writes_it() {
    let known = paths(&[("src/auth.py", Some(60)), ("src/deep/mod.rs", None), ("mod.rs", None)]);
    let at = |file: &str, line, end| Some((file.to_owned(), line, end));
    for (location, want) in [
        ("src/auth.py:45", at("src/auth.py", Some(45), None)),
        ("auth.py:45", at("src/auth.py", Some(45), None)),
        ("`auth.py:45-47`", at("src/auth.py", Some(45), Some(47))),
        ("src/auth.py:45:7", at("src/auth.py", Some(45), None)),
        ("src/auth.py#L45-L47", at("src/auth.py", Some(45), Some(47))),
        ("src/auth.py, lines 45 to 47", at("src/auth.py", Some(45), Some(47))),
        ("login() in auth.py (line 3)", at("src/auth.py", Some(3), None)),
        ("src/auth.py", at("src/auth.py", None, None)),
        ("src/auth.py:60", at("src/auth.py", Some(60), None)),
        ("src/auth.py:61", at("src/auth.py", None, None)),
        ("src/auth.py:0", at("src/auth.py", None, None)),
        ("src/auth.py:50-40", at("src/auth.py", Some(50), None)),
        ("src/deep/mod.rs:9", at("src/deep/mod.rs", Some(9), None)),
        ("mod.rs:9", at("mod.rs", Some(9), None)),
        ("tests/login.py:5", at("tests/login.py", Some(5), None)),
        ("tests/auth.py:5", at("tests/auth.py", Some(5), None)),
        ("/repo/src/auth.py:5", at("src/auth.py", Some(5), None)),
        ("b/src/auth.py:5", at("src/auth.py", Some(5), None)),
        ("./auth.py:5", at("src/auth.py", Some(5), None)),
        ("other/mod.rs:5", at("other/mod.rs", Some(5), None)),
        ("src/auth.py, function sha256", at("src/auth.py", None, None)),
        ("src/auth.py (see RFC 52)", at("src/auth.py", None, None)),
        ("src/auth.py (45)", at("src/auth.py", Some(45), None)),
        ("/etc/passwd.txt:1", None),
        ("../up.py:1", None),
        ("version 2.5", None),
        ("the login handler", None),
        ("line 45", None),
        ("", None),
    ] {
        assert_eq!(located(&known, location), want, "{location}");
    }
    let one = paths(&[("plan.md", Some(10))]);
    assert_eq!(located(&one, "line 4"), at("plan.md", Some(4), None));
    for bare in ["4", "L4", ":4", "Line 4", "at line: 4 of the plan"] {
        assert_eq!(located(&one, bare), at("plan.md", Some(4), None), "{bare}");
    }
    assert_eq!(located(&one, "4-6"), at("plan.md", Some(4), Some(6)));
    for other in ["the introduction", "Section 3", "deadline 3", "3. Rollout"] {
        assert_eq!(located(&one, other), None, "{other}");
    }
}

/// Any text is read as a diff or refused with a sentence.
#[test]
fn any_text_is_a_diff_or_is_refused() {
    let line = prop_oneof![
        Just("diff --git a/x b/x".to_owned()),
        Just("--- a/x".to_owned()),
        Just("+++ b/x".to_owned()),
        Just("+++ /dev/null".to_owned()),
        any::<(u64, u8, u64, u8)>().prop_map(|(old, a, new, b)| format!(
            "@@ -{old},{} +{new},{} @@",
            a % 3,
            b % 3
        )),
        "[-+ \\\\]?[a-z\u{e4}\u{1f600}\t ]{0,4}",
        "\\PC{0,12}",
    ];
    proptest!(|(lines in prop::collection::vec(line, 0..12))| {
        match packet::diff_paths(&lines.join("\n")) {
            Ok(paths) => prop_assert!(!paths.is_empty()),
            Err(why) => prop_assert!(!why.is_empty()),
        }
    });
}

/// Whatever a judge writes as a location, the file is below the working directory and has the line.
#[test]
fn any_location_is_read_or_ignored() {
    let location = prop_oneof![
        "\\PC{0,24}",
        (
            "(\\./|a/|/repo/|tests/|)(src/auth\\.py|auth\\.py|\u{e4}\\.py)",
            "[:#L (]{0,3}",
            any::<u64>(),
            "(-| to |\\.\\.|)",
            any::<u64>()
        )
            .prop_map(|(path, sign, line, to, end)| format!(
                "{path}{sign}{}{to}{}",
                line % 90,
                end % 90
            )),
        ("(line|lines|L|)", any::<u64>()).prop_map(|(word, line)| format!("{word} {line}")),
    ];
    let brief = brief(&["a/x"], &[]);
    let paths = packet::PacketPaths::of(&brief);
    proptest!(|(location in location)| {
        if let Some(place) = paths.locate(&location) {
            prop_assert!(!place.file.starts_with('/') && !place.file.contains(".."), "{location}: {place:?}");
            let known = place.file == "src/auth.py";
            prop_assert!(place.line.is_none_or(|line| line > 0 && (!known || line <= 50)), "{location}: {place:?}");
            prop_assert!(place.end_line.is_none_or(|end| place.line.is_some_and(|line| end >= line)), "{location}: {place:?}");
        }
    });
}
