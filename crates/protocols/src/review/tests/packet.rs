//! "Packet: files (inlined, with path), target text, `--diff`, `--spec`, prior decisions."

use super::*;

const DIFF: &str = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-old\n+new\n";

fn of(question: &str, files: &[(&str, &str)]) -> Result<Brief, String> {
    let request = testing::request(&Review, question, files, &["a/x"], &[]).map_err(|why| why.0)?;
    testing::brief(&Review, request).map_err(|why| why.0)
}

/// What the first judge reads in round 1.
fn read(brief: Brief) -> String {
    asks(brief, &|_, _, _| Some(first("PASS")))[0].1.prompt.user()
}

#[test]
fn everything_that_was_given_is_in_the_packet() {
    let brief = of(
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
    let text = read(brief.unwrap());
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
    assert_eq!(quoted, want, "all of it is quoted, with where it is from");
}

/// What was not given has no heading.
#[test]
fn what_was_not_given_is_not_mentioned() {
    let text = read(of("", &[("plan.md", "Adopt the queue.")]).unwrap());
    for heading in ["### Target", "### Diff", "### Specification", "### Prior Decisions", "### A Word"] {
        assert!(!text.contains(heading), "{heading}");
    }
    let text = read(of("Is the plan sane?", &[]).unwrap());
    assert!(text.contains("### Target\n<<BEGIN ") && text.contains("Is the plan sane?"), "{text}");
}

/// A file is there to the last line, however long, with its lines numbered so that a finding can say where.
#[test]
fn a_file_is_whole_and_numbered() {
    let long: String = (1..=1000).map(|n| format!("line {n}\r\n")).collect();
    let text = read(of("", &[("long.txt", &long)]).unwrap());
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
        let why = of("", &[("plan.md", "Adopt it."), ("diff:change.diff", text)]).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
    assert!(of("", &[("diff:change.diff", DIFF)]).is_ok(), "a diff alone can be judged");
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
            let why = of(question, files).unwrap_err();
            assert!(why.contains("there is nothing to review: agon review FILE..."), "{files:?}: {why}");
        }
        assert!(of("Is it sane?", files).is_ok(), "{files:?} with a text");
    }
}

/// A review for which the person had no words is called by what it judges.
#[test]
fn a_review_is_called_by_what_it_judges() {
    for (files, title) in [
        (&[("src/auth.py", "x")][..], "Review of src/auth.py"),
        (&[("a.py", "x"), ("b.py", "y"), ("spec:s.md", "z")], "Review of a.py, b.py"),
        (&[("diff:change.diff", DIFF)], "Review of change.diff"),
        (&[("a.py", "x"), ("diff:-", DIFF)], "Review of a.py, a diff"),
    ] {
        assert_eq!(of("", files).unwrap().question, title);
    }
}

/// What git writes with quoted paths or other prefixes names each file once.
#[test]
fn a_file_of_a_diff_is_named_once() {
    for (head, path) in [
        ("diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n", "x.c"),
        ("diff --git x.c x.c\n--- x.c\n+++ x.c\n", "x.c"),
        ("diff --git \"a/x y.c\" \"b/x y.c\"\n--- \"a/x y.c\"\n+++ \"b/x y.c\"\n", "x y.c"),
        ("diff --git a/gone.c b/gone.c\n--- a/gone.c\n+++ /dev/null\n", "gone.c"),
    ] {
        let files = diff::read(&format!("{head}@@ -1 +1 @@\n-a\n+b\n")).unwrap();
        assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [path], "{head}");
    }
    let far = format!("--- a/x\n+++ b/x\n@@ -1,2 +{},2 @@\n a\n b\n", u64::MAX);
    assert_eq!(
        diff::read(&far).unwrap()[0].hunks,
        [(u64::MAX, u64::MAX)],
        "no number is too large to be read"
    );
}
