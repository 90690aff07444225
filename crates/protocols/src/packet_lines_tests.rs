//! Diffs, locations and quotes of lines, however a judge writes them.

use proptest::prelude::*;

use super::*;
use crate::testing::plain_brief;

fn diff_paths(text: &str) -> Result<Vec<String>, String> {
    read_diff(text).map(|diff| diff.files.into_iter().map(|file| file.path).collect())
}

/// Also with quoted paths and other prefixes.
#[test]
fn a_diff_names_each_file_once() {
    for (head, path) in [
        ("diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n", "x.c"),
        ("diff --git x.c x.c\n--- x.c\n+++ x.c\n", "x.c"),
        ("diff --git \"a/x y.c\" \"b/x y.c\"\n--- \"a/x y.c\"\n+++ \"b/x y.c\"\n", "x y.c"),
        ("diff --git a/gone.c b/gone.c\n--- a/gone.c\n+++ /dev/null\n", "gone.c"),
        ("--- old/x.c\t2026-01-01\n+++ x.c\t2026-01-02\n", "x.c"),
        ("diff --git a/x.c b/x.c\r\n--- a/x.c\r\n+++ b/x.c\r\n", "x.c"),
    ] {
        assert_eq!(diff_paths(&format!("{head}@@ -1 +1 @@\n-a\n+b\n")), Ok(vec![path.to_owned()]), "{head}");
    }
    let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
    assert_eq!(diff_paths(renamed).unwrap(), ["y"]);
    let odd = "diff --git \"a/dir/\\303\\274 b.py\" \"b/dir/\\303\\274 b.py\"\n--- \"a/dir/\\303\\274 b.py\"\n+++ \"b/dir/\\303\\274 b.py\"\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(diff_paths(odd).unwrap(), ["dir/\u{fc} b.py"], "git quotes unusual characters");
    let blank = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b\n";
    assert_eq!(diff_paths(blank).unwrap(), ["x"], "an empty line without its blank");
}

const TWO_FILES: &str = "From somebody\n---\n a.rs | 2 +-\n\ndiff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@ fn a\n one\n-two\n+TWO\n+more\r\n three\n@@ -9 +10 @@\n-x\n+y\n\\ No newline at end of file\ndiff --git a/new b.txt b/new b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new b.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n-- \n2.40\n";

/// "A prompt that asks for a line shows line numbers": the new ones, and the old ones of removed lines.
#[test]
fn a_diff_is_shown_with_line_numbers() {
    let diff = read_diff(TWO_FILES).unwrap();
    assert_eq!(diff.message, "From somebody\n---\n a.rs | 2 +-");
    let want = [
        "@@ -1,3 +1,4 @@ fn a",
        "     1 | one",
        "-    2 | two",
        "+    2 | TWO",
        "+    3 | more\\r",
        "     4 | three",
        "@@ -9 +10 @@",
        "-    9 | x",
        "+   10 | y",
        "\\ No newline at end of file",
    ];
    assert_eq!(diff.files[0].numbered, want);
    assert_eq!(
        diff.files[1].numbered,
        ["new file mode 100644", "@@ -0,0 +1,2 @@", "+    1 | 1", "+    2 | 2"]
    );
    assert_eq!(with_line_numbers("a\r\nb\rc\n"), ["1 | a\\r", "2 | b\\rc"], "`\\r` is shown");
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
        let why = read_diff(text).unwrap_err();
        assert!(why.contains(want), "{text:?}: {why}");
    }
}

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

/// Numbers after a path are lines; words of no language are.
#[test]
fn a_location_is_read_however_a_judge_writes_it() {
    let known = PacketLines::default().with_file("src/auth.py", &lines(60));
    let known = known.with_file("./src/deep/mod.rs", &lines(9)).with_file("mod.rs", &lines(9));
    let at = |file: &str, line, end_line, is_verified| {
        Some(PacketLocation { file: file.to_owned(), line, end_line, is_verified })
    };
    for (location, want) in [
        ("src/auth.py:45", at("src/auth.py", Some(45), None, true)),
        ("auth.py:45", at("src/auth.py", Some(45), None, true)),
        ("`auth.py:45-47`", at("src/auth.py", Some(45), Some(47), true)),
        ("src/auth.py:45:7", at("src/auth.py", Some(45), None, true)),
        ("src/auth.py#L45-L47", at("src/auth.py", Some(45), Some(47), true)),
        ("src/auth.py (45)", at("src/auth.py", Some(45), None, true)),
        ("login() in auth.py:3", at("src/auth.py", Some(3), None, true)),
        ("src/auth.py", at("src/auth.py", None, None, true)),
        ("src/auth.py:60", at("src/auth.py", Some(60), None, true)),
        ("src/auth.py:61", at("src/auth.py", None, None, false)),
        ("src/auth.py:0", at("src/auth.py", None, None, false)),
        ("src/auth.py:50-40", at("src/auth.py", Some(50), None, true)),
        ("src/auth.py:50-70", at("src/auth.py", Some(50), None, false)),
        ("src/deep/mod.rs:9", at("src/deep/mod.rs", Some(9), None, true)),
        ("mod.rs:9", at("mod.rs", Some(9), None, true)),
        ("tests/login.py:5", at("tests/login.py", Some(5), None, false)),
        ("tests/auth.py:5", at("tests/auth.py", Some(5), None, false)),
        ("nowhere.py:9999", at("nowhere.py", Some(9999), None, false)),
        ("/repo/src/auth.py:5", at("src/auth.py", Some(5), None, true)),
        ("b/src/auth.py:5", at("src/auth.py", Some(5), None, true)),
        ("other/mod.rs:5", at("other/mod.rs", Some(5), None, false)),
        ("src/auth.py, function sha256", at("src/auth.py", None, None, true)),
        ("/etc/passwd.txt:1", None),
        ("../up.py:1", None),
        ("version 2.5", None),
        ("the login handler", None),
        ("line 45", None),
        ("", None),
    ] {
        assert_eq!(known.locate(location), want, "{location}");
    }
    let one = PacketLines::default().with_file("plan.md", &lines(10));
    for bare in ["4", "L4", ":4", "#L4"] {
        assert_eq!(one.locate(bare), at("plan.md", Some(4), None, true), "{bare}");
    }
    for other in ["the introduction", "Section 3", "deadline 3", "3. Rollout"] {
        assert_eq!(one.locate(other), None, "{other}");
    }
}

/// "a location `path:line` must resolve to a line of the packet, and the quoted line must match it"
#[test]
fn a_quote_is_of_the_line_that_is_named() {
    let brief = plain_brief();
    let packet = PacketLines::default().with_file("a.py", "one()\r\ntw\u{200b}o()\nthree()\nfour()\n");
    let packet = packet.with_diff(read_diff(TWO_FILES).unwrap().files).as_shown(&QuotedTexts::new(&brief));
    for (location, quote, is_true) in [
        ("a.py:1", "one()", true),
        ("a.py:1", "one()\\r", true),
        ("a.py:1", "1 | ONE()", true),
        ("a.py:1", "three()", false),
        ("a.py:1", "", false),
        ("a.py:9", "one()", false),
        ("a.py", "one()", false),
        ("b.py:1", "one()", false),
        ("a.py:2", "tw\\u{200b}o()", true),
        ("a.py:2", "two()", false),
        ("a.py:3", "three()\nfour()", true),
        ("a.py:3-4", "four()", true),
        ("a.rs:2", "TWO", true),
        ("a.rs:2", "+    2 | TWO", true),
        ("a.rs:2", "-two", true),
        ("a.rs:9", "-    9 | x", true),
        ("a.rs:4", "TWO", false),
    ] {
        assert_eq!(packet.quotes_line(location, quote), is_true, "{location} {quote:?}");
        assert!(!is_true || packet.contains(quote), "{quote:?}");
    }
    assert!(!packet.contains("five()") && !packet.contains(" \n"));
}

/// Any text is read as a diff or refused with a sentence, and every numbered line can be quoted.
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
        match read_diff(&lines.join("\n")) {
            Ok(diff) => prop_assert!(!diff.files.is_empty()),
            Err(why) => prop_assert!(!why.is_empty()),
        }
    });
}

/// Whatever a judge writes as a location, the file is below the working directory, and a verified line exists.
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
    ];
    let packet = PacketLines::default().with_file("src/auth.py", &lines(50));
    proptest!(|(location in location)| {
        if let Some(place) = packet.locate(&location) {
            prop_assert!(!place.file.starts_with('/') && !place.file.contains(".."), "{location}: {place:?}");
            let known = place.file == "src/auth.py";
            prop_assert!(known || !place.is_verified, "{location}: {place:?}");
            prop_assert!(place.line.is_none_or(|line| !known || (1..=50).contains(&line)), "{location}: {place:?}");
        }
    });
}
