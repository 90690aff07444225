//! The long forms: Markdown, the page and YAML.

use agon_core::{AbsenceReason, BriefFile, Debate, Event, ReportBlock, ShortenedPrompt};
use agon_report::yaml;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::samples::{self, DebateLog, ReadDebate, brief, deep};
use crate::terminal::outcome;

#[test]
fn a_page_is_one_file_that_loads_and_runs_nothing() {
    let page = samples::converged().read().page();
    for outside in ["http:", "https:", "src=", "url(", "@import", "<script", "<link", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for inside in ["default-src 'none'", "prefers-color-scheme: dark", "width=device-width", "<svg"] {
        assert!(page.contains(inside), "{inside}");
    }
    for tag in ["section", "details", "article", "ul", "table", "dl", "svg", "g", "li", "div", "p"] {
        let opened = page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag} is not closed");
    }
}

#[test]
fn the_long_forms_hold_every_word_that_was_said() {
    let read = samples::converged().read();
    for form in [read.markdown(), read.page()] {
        for words in [
            "put types around the hot paths",
            "The two worst outages of last year",
            "All nine incidents were in the ledger",
            "Two quarters is a guess",
            "the ledger was ported to Go in five weeks",
            "Rewrite the ledger first, and decide on the rest",
            "Who maintains the Rust code",
            "Round 2: arguments",
            "(debater-2, anthropic/beta)",
            "0.86",
            "agon verify k3v9q2",
        ] {
            assert!(form.contains(words), "{words:?} is missing in\n{form}");
        }
    }
}

#[test]
fn the_transcript_says_who_really_spoke_and_what_was_not_read() {
    let mut log = DebateLog::open(brief(&[]));
    let asks = log.next_phase();
    asks.iter().for_each(|ask| log.sent(ask, 1));
    let shortened = ShortenedPrompt { left_out: 3, entries: 9, context_tokens: 2048 };
    log.said_by("ollama/stand-in", &asks[0], json!("Yes."), Some(shortened));
    log.absent(&asks[1], AbsenceReason::TimedOut, "");
    log.absent(&asks[2], AbsenceReason::TimedOut, "");
    log.push(Event::Closed { outcome: Box::new(outcome(json!({}))) }, 5);
    let read = log.read();
    for form in [read.markdown(), read.page()] {
        for words in [
            "Debater B (debater-1, ollama/stand-in)",
            "Debater A (debater-2, anthropic/beta)",
            "openai/alpha (ollama/stand-in spoke)",
            "did not read the 3 oldest of 9 entries",
        ] {
            assert!(form.contains(words), "{words:?} is missing in\n{form}");
        }
    }
}

#[test]
fn a_report_warns_of_what_a_diff_does_not_show() {
    let mut brief = brief(&[]);
    let line = agon_report::unshown_file_line("logo.png");
    for (part, text) in [
        (Some("diff"), format!("diff --git a/logo.png b/logo.png\n{line}\n+Binary file x: not shown\n")),
        (None, line),
    ] {
        brief.files.push(BriefFile { path: "p".into(), text, part: part.map(str::to_owned) });
    }
    let mut log = DebateLog::open(brief);
    for ask in log.next_phase() {
        log.sent(&ask, 1);
        log.absent(&ask, AbsenceReason::TimedOut, "");
    }
    log.push(Event::Closed { outcome: Box::new(outcome(json!({}))) }, 5);
    let report = log.read().markdown();
    let (_, warnings) = report.split_once("Warnings").unwrap();
    assert!(warnings.contains("nobody has judged what changes in it: logo.png"), "{report}");
    assert_eq!(warnings.matches("logo.png").count(), 1, "{report}");
}

/// Whoever has a person at the table reads what the others are doing, and not yet what they say.
#[test]
fn while_a_person_is_asked_the_table_says_who_has_answered_and_who_is_absent() {
    let mut brief = brief(&[]);
    brief.seats[0].model = "human/ada".into();
    let mut log = DebateLog::open(brief);
    let asks = log.next_phase();
    asks.iter().for_each(|ask| log.sent(ask, 1));
    let of = |seat: &str| asks.iter().find(|ask| ask.seat == seat).unwrap();
    log.said(of("debater-2"), json!("The secret answer."));
    log.absent(of("debater-3"), AbsenceReason::TimedOut, "");
    let table = agon_report::live_table(&log.read().source()).into_string();
    for words in ["has answered", "is absent", "when every person has answered"] {
        assert!(table.contains(words), "{words:?} is missing in {table}");
    }
    assert!(!table.contains("secret"), "{table}");
}

#[test]
fn labels_are_not_resolved_before_the_end() {
    let log = samples::converged();
    let records = &log.records[..log.records.len() - 1];
    let shown = ReadDebate::new(deep(), Debate::from_records(records).unwrap()).markdown();
    assert!(shown.contains("### Debater A\n") && !shown.contains("Debater A ("), "{shown}");
}

/// The Markdown and the page of a debate with this answer.
fn answered(answer: &str) -> (String, String) {
    let mut read = samples::converged().read();
    read.view.outline.answer[0].blocks = vec![ReportBlock::Prose(answer.into())];
    let (markdown, page) = (read.markdown(), read.page());
    let markdown = markdown.split("## Answer\n\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let page = page.split("<h2>Answer</h2>").nth(1).unwrap().split("</section>").next().unwrap();
    // One tag on a line is easier to read.
    (markdown.trim().to_owned(), page.replace("><", ">\n<").replace(">\n\n<", ">\n<").trim().to_owned())
}

#[test]
fn the_markdown_of_a_model_cannot_break_the_outline_of_the_report() {
    let (markdown, page) = answered("# Big\n\n![x](y) <b>bold</b>\n\n```\nnever closed\n# not a heading");
    assert_snapshot!(markdown, @r#"
    **Big**

    !\[x](y) &lt;b>bold&lt;/b>

    ```
    never closed
    # not a heading
    ```
    "#);
    assert_snapshot!(page, @r#"
    <h3 class="own">Big</h3>
    <p>![x](y) &lt;b&gt;bold&lt;/b&gt;</p>
    <pre tabindex="0">never closed
    # not a heading</pre>
    "#);
}

#[test]
fn light_markdown_is_set_in_every_form() {
    let (markdown, page) = answered(
        "A **bold** and an *italic* word, `a < b`, [a link](http://x).\n\n- one\n  - below\n- two\n\n3. three\n\n> quoted\n\n\
         | a | b |\n|---|---|\n| 1 | `2` |",
    );
    assert_snapshot!(markdown, @"
    A **bold** and an *italic* word, `a < b`, [a link](http://x).

    - one
       - below
    - two
    3. three

    > quoted

    | a | b |
    | --- | --- |
    | 1 | `2` |
    ");
    assert_snapshot!(page, @r#"
    <p>A <strong>bold</strong> and an <em>italic</em> word, <code>a &lt; b</code>, [a link](http://x).</p>
    <ul class="said">
    <li class="depth0">one</li>
    <li class="depth1">below</li>
    <li class="depth0">two</li>
    <li class="depth0 numbered">
    <span class="number">3.</span> three</li>
    </ul>
    <blockquote>quoted</blockquote>
    <div class="wide" tabindex="0" role="region" aria-label="Table">
    <table>
    <tr>
    <th scope="col">a</th>
    <th scope="col">b</th>
    </tr>
    <tr>
    <td>1</td>
    <td>
    <code>2</code>
    </td>
    </tr>
    </table>
    </div>
    "#);
}

#[test]
fn yaml_reads_back_as_the_same_document() {
    let read = samples::converged().read();
    let mut document =
        agon_core::document::document(&read.debate, serde_json::to_value(&read.evidence).unwrap());
    document["question"] = json!("- odd: \"yes\" #no\n\u{1b}[31m\ttab\n\n  on: 012 ~ \u{202e}");
    document["warnings"] = json!(["null", "1e3", "", " lead", "true"]);
    let written = yaml(&document).unwrap();
    let parsed: Value = serde_norway::from_str(&written).unwrap();
    assert_eq!(parsed, document);
    assert!(!written.contains('\u{1b}'), "a control character would reach the terminal");
}
