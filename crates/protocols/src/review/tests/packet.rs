//! "Packet: files (inlined, with path), target text, `--diff`, `--spec`, prior decisions."

use super::super::packet::parts;
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
        "### Text",
        "Mind the tokens.",
        "### Diff of `src/x.rs`",
        "-    1 | old\n+    1 | new",
        "a line with `-` was removed",
        "### Specification",
        "Tokens live 15 minutes.",
        "compare it with the specification",
        "### Prior decisions",
        "We use JWT.",
    ] {
        assert!(text.contains(part), "it lacks {part:?}:\n{text}");
    }
    let quoted: Vec<String> =
        agon_core::fence::quotations(&text).iter().map(|quotation| quotation.what.to_owned()).collect();
    let want = [
        "File src/auth.py",
        "File docs/auth.md",
        "Text",
        "Diff of src/x.rs",
        "specification spec.md",
        "decisions adr.md",
    ];
    assert_eq!(quoted, want, "everything is quoted with its source");
}

#[test]
fn what_was_not_given_is_not_mentioned() {
    let text = first_prompt(brief_of("", &[("plan.md", "Adopt the queue.")]).unwrap());
    for words in ["### Text", "Diff", "diff", "pecification", "rior decisions", "The person who asked"] {
        assert!(!text.contains(words), "{words}");
    }
    let text = first_prompt(brief_of("Is the plan sane?", &[]).unwrap());
    assert!(text.contains("### Text\n<<BEGIN ") && text.contains("Is the plan sane?"), "{text}");
    assert!(!text.contains("path:line"), "a text has no line numbers, so that none is asked for");
}

/// A file is never cut, and its lines are numbered so that a finding can say where it is; "`\r` ... shown".
#[test]
fn a_file_is_whole_and_numbered() {
    let long: String = (1..=1000).map(|n| format!("line {n}\r\n")).collect();
    let text = first_prompt(brief_of("", &[("long.txt", &long)]).unwrap());
    for row in ["   1 | line 1\\r\n", " 100 | line 100\\r\n", "1000 | line 1000\\r\n"] {
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

/// "Explorers get disjoint parts of the packet (by file, then by range), dealt by code."
#[test]
fn explorers_get_disjoint_parts_that_cover_everything() {
    let long: String = (1..=40).map(|n| format!("long {n}\n")).collect();
    for (files, explorers, sizes) in [
        (&[("a.py", "x\ny\n"), ("b.py", "z\n"), ("long.py", &*long)][..], 1, &[43][..]),
        (&[("a.py", "x\ny\n"), ("b.py", "z\n"), ("long.py", &*long)], 2, &[3, 40]),
        (&[("a.py", "x\ny\n"), ("b.py", "z\n"), ("long.py", &*long)], 5, &[1, 2, 10, 10, 20]),
        (&[("long.py", &*long)], 4, &[10, 10, 10, 10]),
        (&[("text:text", "one line")], 5, &[1]),
        (&[("diff:change.diff", DIFF), ("a.py", "x\n")], 2, &[1, 3]),
    ] {
        let brief = brief_of("", files).unwrap();
        let dealt = parts(&brief, explorers);
        let lines = |text: &str| {
            agon_core::quotations(text)
                .iter()
                .flat_map(|quoted| quoted.text.lines().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let request = testing::request(
            &Review,
            "",
            files,
            &["a/x"],
            &[("count", "1"), ("explorers", &explorers.to_string())],
        )
        .unwrap();
        let brief = testing::brief(&Review, request).unwrap();
        assert_eq!(Review.plan(&brief).most_calls as usize, dealt.len() + 1, "{files:?}");
        let seen = asks(brief, &|_, phase, _| {
            Some(if phase == "explore" { json!({"notes": "n"}) } else { first("PASS") })
        });
        let explored: Vec<Vec<String>> = seen
            .iter()
            .filter(|(phase, _)| phase == "explore")
            .map(|(_, ask)| lines(&ask.prompt.user()))
            .collect();
        let mut counts: Vec<usize> = explored.iter().map(Vec::len).collect();
        counts.sort_unstable();
        assert_eq!(counts, sizes, "{files:?} for {explorers}");
        let mut together: Vec<String> = explored.concat();
        let mut whole: Vec<String> = lines(&seen.last().unwrap().1.prompt.shared);
        together.sort();
        whole.sort();
        assert_eq!(together, whole, "every line once");
    }
}
