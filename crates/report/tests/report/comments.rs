//! A verdict as a comment on a pull request, and as a code quality report.

use agon_core::{GateFinding, GateReport, GateRuling, GateSeverity};
use agon_report::GateFormat;
use insta::assert_snapshot;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::gates::{failed, finding, gated, hostile, scrambled, written};
use crate::hostile::poisoned_everywhere;

/// A service refuses longer comments. The pipeline adds a few lines.
const CHARS_MAX: usize = 60_000;

fn comment(gate: GateReport) -> String {
    written(&gated(gate), GateFormat::Comment)
}

fn quality(gate: GateReport) -> Vec<Value> {
    serde_json::from_str(&written(&gated(gate), GateFormat::Gitlab)).unwrap()
}

#[test]
fn a_comment_has_the_verdict_the_findings_and_the_cost() {
    let comment = comment(failed());
    for part in [
        "## Agon review: FAIL\n\n**1 of 2 judges that were heard fails it.**\n",
        "\n### Findings\n\n\
         - **Critical** `src/auth.py:45-47` (Authentication): No rate limiting on `/login`<br>\n  \
         Advice: Count attempts by account and by address.<br>\n  Raised or accepted by security, operations.\n\
         - **Significant** `src/session store.py:12` (reliability): The retry loop has no upper bound<br>\n  \
         Raised or accepted by operations.\n\
         - **Minor**: Error responses carry no request id<br>\n  Raised or accepted by operations.\n\
         - **Significant** `the token settings` (authentication): Tokens live for an hour<br>\n  \
         Raised or accepted by security. Dropped in round 2 by security.\n",
        "<details><summary>The judges</summary>\n\n- **security** (openai): FAIL, HIGH: A password can be tried without end.\n",
        "- **usability** (openai): no R1 within 120 s\n",
        "Cost: 0 calls",
        "Who was heard: 2/3 R1, 2/3 R2, fidelity full<br>\nDebate k3v9q2\n",
    ] {
        assert!(comment.contains(part), "{part}\n\nis not in\n\n{comment}");
    }
}

#[test]
fn the_first_line_ends_with_the_verdict() {
    for (verdict, heading) in [(Some("PASS"), "PASS"), (Some("DISAGREE"), "DISAGREE"), (None, "no verdict")] {
        let ruling = if verdict.is_some() { GateRuling::Passed } else { GateRuling::Missing };
        let gate =
            GateReport { ruling, verdict: verdict.map(str::to_owned), findings: Vec::new(), ..failed() };
        let comment = comment(gate);
        assert_eq!(comment.lines().next(), Some(format!("## Agon review: {heading}").as_str()));
        assert!(comment.contains("\nNo findings.\n"), "{comment}");
    }
}

/// "GitHub's limit is 65,536 characters": what does not fit is counted, and the last lines are there.
#[test]
fn a_comment_is_never_too_long() {
    for text in ["@a#1", "$", "word ", "`code` ", "\u{1f600}"] {
        let long = text.repeat(300);
        let mut gate = scrambled(failed(), std::slice::from_ref(&long));
        gate.findings = vec![gate.findings[0].clone(); 400];
        gate.judges = vec![gate.judges[0].clone(); 40];
        let comment = comment(gate);
        assert!(comment.chars().count() <= CHARS_MAX, "{}", comment.chars().count());
        assert!(
            comment.contains("more entries are not shown here.*") && comment.contains("Cost: 0 calls"),
            "{comment}"
        );
    }
}

/// What a reader of GitHub's Markdown finds in a comment.
#[derive(Debug, Default, PartialEq)]
struct RenderedComment {
    headings: Vec<String>,
    /// The text of each block, with code left out.
    texts: Vec<String>,
    /// Tags and other markup that is not ours.
    foreign: Vec<String>,
}

const HTML: [&str; 4] = ["<br>", "<details>", "<summary>", "</summary>"];

fn rendered(comment: &str) -> RenderedComment {
    let mut rendered = RenderedComment::default();
    let mut is_heading = false;
    for event in Parser::new_ext(comment, Options::all()) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                is_heading = true;
                rendered.headings.push(String::new());
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Start(Tag::Paragraph | Tag::Item | Tag::TableCell) => rendered.texts.push(String::new()),
            Event::Text(text) => {
                let place = if is_heading { rendered.headings.last_mut() } else { rendered.texts.last_mut() };
                place
                    .map(|place| place.push_str(&text))
                    .unwrap_or_else(|| rendered.foreign.push(text.to_string()));
            }
            // What is on two sides of it does not make one word.
            Event::Code(_) | Event::SoftBreak | Event::HardBreak => {
                rendered.texts.iter_mut().last().into_iter().for_each(|text| text.push('\u{0}'));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let known = html
                    .trim()
                    .split_inclusive('>')
                    .all(|tag| HTML.contains(&tag) || tag == "</details>" || tag == "The judges</summary>");
                if !known {
                    rendered.foreign.push(html.to_string());
                }
            }
            Event::Start(
                Tag::List(None)
                | Tag::Table(_)
                | Tag::TableHead
                | Tag::TableRow
                | Tag::Strong
                | Tag::Emphasis
                | Tag::HtmlBlock,
            )
            | Event::End(_) => {}
            other => rendered.foreign.push(format!("{other:?}")),
        }
    }
    rendered
}

/// Nothing in a comment is alive but what we wrote.
fn assert_inert(comment: &str, headings: &[&str]) {
    let rendered = rendered(comment);
    assert_eq!(rendered.foreign, Vec::<String>::new(), "{comment}");
    assert!(
        rendered.headings.iter().all(|heading| headings.iter().any(|known| heading.starts_with(known))),
        "{comment}"
    );
    for text in &rendered.texts {
        let chars: Vec<char> = text.to_lowercase().chars().collect();
        let lower: String = chars.iter().collect();
        for alive in ["://", "www.", "gh-1"] {
            assert!(!lower.contains(alive), "{alive} in {text:?}: {comment}");
        }
        for pair in chars.windows(2) {
            let is_alive = match pair {
                ['@', next] => next.is_alphanumeric(),
                ['#', next] => next.is_ascii_digit(),
                _ => false,
            };
            assert!(!is_alive, "{pair:?} in {text:?}: {comment}");
        }
    }
}

const HEADINGS: [&str; 6] =
    ["Agon review: ", "Findings", "Dissent", "What the debate did", "What was missing", "Warnings"];

#[test]
fn the_words_of_a_model_are_only_text() {
    for text in [
        "@octo/team, see #12 and GH-1 at https://evil.example or www.a.example, mail a@b.example",
        "[link](https://evil.example) ![image](x) <img src=x onerror=y> <https://x> &lt;b&gt; &#60;b>",
        "# heading",
        "1. list",
        "- [ ] task\n\n***\n\n===\n---\n",
        "```\nfence\n```\n~~~\n| a | b |\n|---|---|",
        "`code` `un**paired $x$ $`y`$ ~~gone~~ __bold__ :smile: \\",
        "</details></summary><!-- x -->",
        "[^1]: note\n\n[x]: https://y\n> quote\n> [!NOTE]",
    ] {
        let comment = comment(scrambled(failed(), &[text.to_owned()]));
        assert_inert(&comment, &HEADINGS);
    }
    let gate = scrambled(failed(), &["See `auth.py` and `@octo`, **now**".to_owned()]);
    assert!(comment(gate).contains("See `auth.py` and `@octo`, now"), "code stays code");
}

/// A whole review with its dissent and evidence, and with `text` wherever a person, a file or a model can put it.
fn poisoned_review(text: &str) -> String {
    let review = agon_protocols::find("review").unwrap();
    written(&poisoned_everywhere(review, text), GateFormat::Comment)
}

#[test]
fn dissent_evidence_and_what_was_missing_are_only_text_too() {
    let comment = poisoned_review("");
    for heading in
        ["## Agon review: ", "### Findings", "### Dissent", "### What the debate did", "<summary>The judges"]
    {
        assert!(comment.contains(heading), "{heading}: {comment}");
    }
    assert_inert(&poisoned_review(" @octo `x` <b> ![i](https://x) #1"), &HEADINGS);
}

#[test]
fn a_code_quality_report_lists_the_findings_beside_their_lines() {
    let entries = quality(failed());
    let shown: Vec<String> = entries
        .iter()
        .map(|entry| {
            let (place, lines) = (&entry["location"]["path"], &entry["location"]["lines"]);
            format!(
                "{} {} {place}:{}-{}",
                entry["severity"], entry["check_name"], lines["begin"], lines["end"]
            )
        })
        .collect();
    assert_snapshot!(shown.join("\n"), @r#"
    "critical" "agon/authentication" "src/auth.py":45-47
    "major" "agon/reliability" "src/session store.py":12-12
    "minor" "agon/minor" "src/auth.py":1-1
    "info" "agon/authentication" "src/auth.py":1-1
    "#);
    assert_eq!(
        quality(GateReport { path: None, ..failed() }).len(),
        2,
        "GitLab shows nothing without a file"
    );
}

/// GitLab shows only the first of two entries with the same fingerprint.
#[test]
fn two_findings_have_two_fingerprints() {
    let same = |line: u64| GateFinding {
        file: Some("a.py".into()),
        line: Some(line),
        ..finding(GateSeverity::Minor, "No type", &[])
    };
    let gate = GateReport { findings: vec![same(1), same(2), same(3)], ..failed() };
    let mut prints: Vec<String> =
        quality(gate).iter().map(|entry| entry["fingerprint"].to_string()).collect();
    prints.dedup();
    assert_eq!(prints.len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mixture_of_texts_is_alive_in_a_comment(strings in proptest::collection::vec(prop_oneof![hostile(), marks()], 1..30)) {
        assert_inert(&comment(scrambled(failed(), &strings)), &HEADINGS);
    }

    #[test]
    fn no_field_of_a_review_is_alive_in_a_comment(text in marks()) {
        assert_inert(&poisoned_review(&text), &HEADINGS);
    }

    #[test]
    fn any_texts_make_a_code_quality_report(strings in proptest::collection::vec(hostile(), 1..30)) {
        prop_assert_eq!(quality(scrambled(failed(), &strings)).len(), failed().findings.len());
    }
}

/// What Markdown, HTML and GitHub give a meaning to, one after the other.
fn marks() -> impl Strategy<Value = String> {
    let pieces = "`¦``¦```¦~~~¦~¦\\¦<b>¦</b>¦<¦>¦<!--¦-->¦<http://x>¦![¦[¦](¦)¦[^1]¦x¦ ¦\n¦- ¦1. ¦+ ¦> ¦# ¦|¦---¦*¦**¦_¦__¦$¦$$¦&lt;¦&#60;¦&¦;¦@¦a¦#¦1¦\
        ://¦www.¦WWW.¦GH-¦https:¦/¦.¦:¦=¦!¦\u{200b}¦</details>¦<summary>¦[!NOTE]¦[ ] ";
    let pieces: Vec<&str> = pieces.split('¦').collect();
    proptest::collection::vec(proptest::sample::select(pieces), 1..14).prop_map(|pieces| pieces.concat())
}
