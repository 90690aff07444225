//! Markdown, HTML and YAML.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_core::{Absence, Debate, Event, Shortened, Status, Termination};
use agon_report::{html, markdown, yaml};
use sample::{Log, outcome};
use serde_json::{Value, json};

const BAD: &str = "<script>alert(1)</script>";

/// Every string of a value with markup put in.
fn poisoned(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}{BAD}<img src=x onerror=y>\"'&")),
        Value::Array(values) => values.iter().map(poisoned).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (format!("{key}{BAD}"), poisoned(value))).collect()
        }
        other => other.clone(),
    }
}

/// The same, but known keys keep their names, so that the reading of `deep` applies.
fn poisoned_values(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(poisoned_values).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), poisoned_values(value))).collect()
        }
        other => poisoned(other),
    }
}

fn poisoned_debate() -> Debate {
    let mut debate = sample::converged().debate;
    debate.brief.question = format!("Q {BAD}");
    for seat in &mut debate.brief.seats {
        seat.model.push_str(BAD);
        seat.id.push_str(BAD);
    }
    debate.brief.options.insert(BAD.into(), json!(BAD));
    for turn in &mut debate.turns {
        turn.phase.name.push_str(BAD);
        for ask in &mut turn.asks {
            ask.seat.push_str(BAD);
            ask.model.push_str(BAD);
            ask.label = Some(BAD.into());
            ask.about = Some(BAD.into());
        }
        for reply in turn.replies.iter_mut().flatten() {
            if let agon_core::Reply::Said { text, value, .. } = reply {
                text.push_str(BAD);
                *value = value.as_ref().map(poisoned);
            }
        }
    }
    debate
}

#[test]
fn html_escapes_markup_in_every_field() {
    let debate = poisoned_debate();
    let document = sample::converged().document();
    let mut deep = poisoned_values(&document);
    deep["protocol"] = json!("deep");
    for document in [&deep, &poisoned(&document), &poisoned_values(&document)] {
        let page = html(document, &debate);
        assert!(page.contains("&lt;script&gt;"));
        let tags: Vec<&str> =
            page.split('<').skip(1).map(|tag| tag.split(['>', ' ', '\n']).next().unwrap()).collect();
        for tag in ["script", "/script", "img"] {
            assert!(!tags.contains(&tag), "<{tag}> got through");
        }
        let text = markdown(document, &debate);
        // Between backticks markup is text already.
        let outside: String = text.split('`').step_by(2).collect();
        assert!(!outside.contains("<script") && !outside.contains("<img"), "{outside}");
    }
}

/// The drawings, their titles and what is said of them to who does not see them are words of models, too.
#[test]
fn html_escapes_markup_in_the_evidence_of_every_protocol() {
    for (name, debate, document) in sample::evidence::all() {
        let mut document = poisoned_values(&document);
        document["protocol"] = json!(name);
        document["evidence"]["grouping"] = json!("similarity");
        let page = html(&document, &debate);
        assert!(page.contains("<svg class=\"flow\""), "{name}");
        for tag in ["<script", "</script", "<img", "=\"'", "onerror=y>\""] {
            assert!(!page.contains(tag), "{name}: {tag} got through");
        }
        let text = markdown(&document, &debate);
        let outside: String = text.split('`').step_by(2).collect();
        assert!(!outside.contains("<script") && !outside.contains("<img"), "{outside}");
    }
}

#[test]
fn html_is_one_page_that_loads_and_runs_nothing() {
    let log = sample::converged();
    let page = html(&log.document(), &log.debate);
    for outside in ["http:", "https:", "src=", "url(", "@import", "<script", "<link", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for inside in ["default-src 'none'", "prefers-color-scheme: dark", "width=device-width", "<svg"] {
        assert!(page.contains(inside), "{inside}");
    }
    // What opens is closed.
    for tag in ["section", "details", "article", "ul", "table", "dl", "svg", "g", "li", "div"] {
        let opened = page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn the_long_forms_hold_every_word_that_was_said() {
    let log = sample::converged();
    let document = log.document();
    for form in [markdown(&document, &log.debate), html(&document, &log.debate)] {
        for words in [
            "put types around the hot paths",
            "The two worst outages of last year",
            "All nine incidents were in the ledger",
            "Two quarters is a guess",
            "the ledger was ported to Go in five weeks",
            "Rewrite the ledger first, and decide on the rest",
            "Who maintains the Rust code",
            "two languages in one service",
            "Round 2: arguments",
            "Debater A (debater-2, anthropic/beta)",
            "major revision in round 2",
            "The first model also plays moderator and chair.",
            "0.86",
            "agon verify k3v9q2",
        ] {
            assert!(form.contains(words), "{words:?} is missing in\n{form}");
        }
    }
}

/// "The report says who really spoke", and "an explicit, logged shortening ..., never a silent cut".
#[test]
fn the_transcript_says_who_really_spoke_and_what_was_not_read() {
    let mut log = Log::open("deep");
    let ask = log.ask("answer", 0, &[("debater-1", None), ("debater-2", None)]);
    (0..2).for_each(|n| log.sent(ask + n, 1));
    let shortened = Shortened { left_out: 3, entries: 9, context_tokens: 2048 };
    log.said_by("ollama/stand-in", ask, "Yes.", None, Some(shortened));
    log.absent(ask + 1, Absence::TimedOut, "");
    log.close(outcome(Status::Failed, Termination::QuorumLost, 0, json!({})));
    let document = log.document();
    assert_eq!(document["seats"][0]["spoke"], json!(["ollama/stand-in"]));
    assert_eq!(document["seats"][1]["spoke"], json!([]), "who never spoke has an empty list");
    for form in [markdown(&document, &log.debate), html(&document, &log.debate)] {
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
fn a_debate_that_has_not_ended_keeps_its_labels() {
    let log = sample::converged();
    let records = &log.records[..log.records.len() - 1];
    let debate = Debate::from_records(records).unwrap();
    assert!(!matches!(records.last().unwrap().entry.event, Event::Closed { .. }));
    let document = agon_core::document::document(&debate, json!({}));
    let shown = markdown(&document, &debate);
    assert!(shown.contains("### Debater A\n") && !shown.contains("Debater A ("), "{shown}");
}

#[test]
fn a_models_markdown_cannot_break_the_outline_of_ours() {
    let log = sample::converged();
    let mut document = log.document();
    document["verdict"]["answer"] = json!("# Big\n\n![x](y)\n\n```\nnever closed\n# not a heading");
    let text = markdown(&document, &log.debate);
    let answer = text.split("## Answer\n\n").nth(1).unwrap().split("\n## ").next().unwrap();
    insta::assert_snapshot!(answer, @r#"
    **Big**

    !\[x](y)

    ```
    never closed
    # not a heading
    ```
    "#);
}

#[test]
fn yaml_reads_back_as_the_same_document() {
    let mut document = sample::converged().document();
    document["question"] = json!("- odd: \"yes\" #no\n\u{1b}[31m\ttab\n\n  on: 012 ~ \u{202e}");
    document["warnings"] = json!(["null", "1e3", "", " lead", "true"]);
    let written = yaml(&document).unwrap();
    let read: Value = serde_norway::from_str(&written).unwrap();
    assert_eq!(read, document);
    assert!(!written.contains('\u{1b}'), "a control character would reach the terminal");
}
