//! Whatever models and people write, nothing in a report can command a terminal or a browser.

use std::collections::BTreeSet;

use agon_core::play::{invent, play};
use agon_core::{AbsenceReason, Ask, BriefFile, Debate, Protocol, Reply, ReplyFault};
use agon_report::TerminalStyle;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::protocols;
use crate::samples::{self, PLAIN, ReadDebate, deep};

/// Every string of a value with `text` appended, except the words that the protocol defines.
fn poisoned(value: &Value, text: &str) -> Value {
    match value {
        Value::String(said)
            if matches!(
                said.as_str(),
                "concede" | "maintain" | "major_revision" | "no_change" | "adopted" | "rejected"
            ) =>
        {
            value.clone()
        }
        Value::String(said) => json!(format!("{said}{text}")),
        Value::Array(values) => values.iter().map(|value| poisoned(value, text)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), poisoned(value, text))).collect()
        }
        other => other.clone(),
    }
}

/// A finished debate with `text` in the question, the answers, the labels, the models, the seats and the options.
fn poisoned_debate(text: &str) -> ReadDebate {
    let mut debate: Debate = samples::converged().debate;
    let poison = |words: &mut String| words.push_str(text);
    let brief = &mut debate.brief;
    poison(&mut brief.question);
    poison(&mut brief.id);
    brief.options.insert(format!("key{text}"), json!(text));
    // The backtick of the name must not pair with one of the value.
    brief.options.insert("`".into(), json!("`<b>`"));
    for seat in &mut brief.seats {
        poison(&mut seat.model);
        poison(&mut seat.id);
    }
    for turn in &mut debate.turns {
        for ask in &mut turn.asks {
            poison(&mut ask.seat);
            poison(&mut ask.model);
            ask.label.iter_mut().for_each(poison);
            ask.about = Some(text.to_owned());
        }
        for reply in turn.replies.iter_mut().flatten() {
            if let Reply::Said { text: said, value, model, .. } = reply {
                poison(said);
                poison(model);
                *value = value.as_ref().map(|value| poisoned(value, text));
            }
        }
    }
    let outcome = debate.outcome.as_mut().unwrap();
    outcome.labels.values_mut().for_each(poison);
    outcome.warnings.push(format!("A warning{text}"));
    for held in &mut outcome.positions {
        [&mut held.seat, &mut held.position, &mut held.reason].into_iter().for_each(poison);
    }
    ReadDebate::new(deep(), debate)
}

/// The words that a reply must choose from.
fn allowed_words(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let choices = fields.get("enum").and_then(Value::as_array).into_iter().flatten();
            words.extend(choices.chain(fields.get("const")).filter_map(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| allowed_words(field, words));
        }
        Value::Array(values) => values.iter().for_each(|value| allowed_words(value, words)),
        _ => {}
    }
}

/// The paths of all strings in a value.
fn string_paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(values) => {
            (0..)
                .zip(values)
                .for_each(|(n, value): (usize, _)| string_paths(value, &format!("{path}/{n}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| string_paths(value, &format!("{path}/{key}"), found));
        }
        _ => {}
    }
}

/// A reply of any protocol with `text` at the end of every string that the protocol does not define.
fn poisoned_reply(protocol: &dyn Protocol, debate: &Debate, ask: &Ask, text: &str) -> Reply {
    if ask.id % 7 == 6 {
        return Reply::Absent { why: AbsenceReason::Unreachable, detail: format!("refused{text}") };
    }
    let mut reply = invent(protocol, debate, ask, 5);
    let Reply::Said { text: said, value, .. } = &mut reply else { return reply };
    let Some(value) = value else {
        said.push_str(text);
        return reply;
    };
    let (mut words, mut paths) = (BTreeSet::new(), Vec::new());
    allowed_words(ask.schema.as_ref().map_or(&Value::Null, |schema| &schema.json), &mut words);
    string_paths(value, "", &mut paths);
    let poison = |value: &Value, paths: &[String]| {
        let mut changed = value.clone();
        for path in paths {
            match changed.pointer_mut(path) {
                Some(Value::String(said)) if !words.contains(said) => said.push_str(text),
                _ => {}
            }
        }
        let is_valid = !matches!(protocol.check(debate, ask, &changed), Err(ReplyFault::Invalid(_)));
        is_valid.then_some(changed)
    };
    // All at once if the protocol takes it, else as much as it takes.
    match poison(value, &paths) {
        Some(changed) => *value = changed,
        None => {
            for path in paths {
                *value = poison(value, &[path]).unwrap_or_else(|| value.clone());
            }
        }
    }
    *said = value.to_string();
    reply
}

/// A debate of any protocol with `text` in every field that a person, a file or a model can fill.
pub(crate) fn poisoned_everywhere(protocol: &'static dyn Protocol, text: &str) -> ReadDebate {
    let mut brief = protocols::brief(protocol);
    brief.question.push_str(text);
    for file in &mut brief.files {
        file.path.push_str(text);
        file.text.push_str(text);
    }
    let part = Some("context".to_owned());
    brief.files.push(BriefFile { path: format!("notes{text}"), text: format!("A note.{text}"), part });
    brief.seats.iter_mut().for_each(|seat| seat.model.push_str(text));
    let mut answer = |debate: &Debate, ask: &Ask| poisoned_reply(protocol, debate, ask, text);
    let records = play(protocol, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    ReadDebate::new(protocol, Debate::from_records(&records).unwrap())
}

fn assert_harmless(read: &ReadDebate) {
    let shown = read.terminal(&PLAIN);
    assert!(shown.chars().all(|char| char == '\n' || char == '\t' || !char.is_control()), "{shown:?}");
    assert!(!shown.contains('\u{202e}'), "{shown:?}");
    // Only our own styles come out in colour.
    let painted = read.terminal(&TerminalStyle { color: true, ..PLAIN });
    for escape in painted.split('\u{1b}').skip(1) {
        let style = escape.strip_prefix('[').and_then(|escape| escape.split_once('m'));
        assert!(
            style.is_some_and(|(digits, _)| digits.bytes().all(|b| b.is_ascii_digit() || b == b';')),
            "{escape:?}"
        );
    }
    assert_no_live_html_in_markdown(&read.markdown());
    assert_no_foreign_markup_in_page(&read.page());
}

/// A reader of Markdown finds no HTML but our own line breaks, and no images.
fn assert_no_live_html_in_markdown(text: &str) {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::InlineHtml(html) | Event::Html(html) => assert_eq!(html.trim(), "<br>", "in {text}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url} would be fetched by {text}"),
            _ => {}
        }
    }
}

const TAGS: &str = "!doctype html head meta title style body header p h1 h2 h3 h4 h5 h6 nav ul ol li a main section div \
    article details summary span strong em code pre blockquote table tr th td dl dt dd figure figcaption svg g rect line \
    text circle polyline path footer br mark";
const ATTRIBUTES: &str = "html lang charset name content http-equiv class id href open tabindex role aria-label aria-hidden scope viewBox \
    x y x1 y1 x2 y2 width height rx cx cy r d points text-anchor";

/// Every tag and every attribute of the page is one that we write.
fn assert_no_foreign_markup_in_page(page: &str) {
    let (tags, attributes): (Vec<&str>, Vec<&str>) =
        (TAGS.split_whitespace().collect(), ATTRIBUTES.split_whitespace().collect());
    let body = page.split_once("</style>").unwrap().1;
    assert!(!body.contains("</style>") && !body.contains("<style"), "a second style sheet");
    for tag in body.split('<').skip(1) {
        // Quoted values are every second piece; what stands between them are names.
        let (inside, _) = tag.split_once('>').unwrap();
        let names = inside.split('"').step_by(2).flat_map(|piece| piece.split([' ', '\n', '=', '/']));
        let mut names = names.filter(|name| !name.is_empty());
        let name = names.next().unwrap();
        assert!(tags.contains(&name), "<{inside}> is not ours");
        names.for_each(|name| assert!(attributes.contains(&name), "{name} in <{inside}> is not ours"));
    }
    assert!(!body.contains('\u{1b}') && page.ends_with("</html>\n"));
}

#[test]
fn no_field_carries_commands_or_markup_into_a_report() {
    for text in [
        "\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{8}",
        "<script>alert(1)</script><img src=x onerror=y>\"'&",
        "\" onload=\"x' onload='x",
        "![x](http://y) [z]: http://y",
        "\n\n<!-- x\n\n<div onclick=x>\n\n```\n<b>\n",
        "` <b>x</b> `` <i> ` \\` <u> ``` <s>",
        "`",
        "<b>x</b>",
    ] {
        assert_harmless(&poisoned_debate(text));
    }
}

/// A lone backtick in one field must not pair with one in another.
#[test]
fn a_lone_backtick_makes_nothing_live_in_a_document_of_any_protocol() {
    for protocol in agon_protocols::all() {
        for text in ["`", "` <b>x</b>", "<img src=x>"] {
            assert_no_live_html_in_markdown(&poisoned_everywhere(protocol, text).markdown());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mixture_of_marks_carries_markup_into_a_report(pieces in prop::collection::vec(prop::sample::select(PIECES.split('¦').collect::<Vec<_>>()), 1..14)) {
        assert_harmless(&poisoned_debate(&pieces.concat()));
    }

    #[test]
    fn no_field_of_any_protocol_carries_markup_into_a_document(
        pieces in prop::collection::vec(prop::sample::select(PIECES.split('¦').collect::<Vec<_>>()), 1..14),
        place in 0..agon_protocols::all().count(),
    ) {
        let protocol = agon_protocols::all().nth(place).unwrap();
        assert_no_live_html_in_markdown(&poisoned_everywhere(protocol, &pieces.concat()).markdown());
    }
}

/// What Markdown and HTML give a meaning to, one after the other.
const PIECES: &str = "`¦``¦```¦~~~¦\\¦<b>¦</b>¦<¦>¦<!--¦-->¦<http://x>¦![¦[¦](¦)¦x¦ ¦\n¦\n\n¦    ¦\t¦- ¦1. ¦> ¦# ¦|¦---¦*¦**¦_¦\
    &lt;¦&#60;¦&amp;¦\"¦'¦\u{1b}[1m¦\u{85}¦\u{2028}¦<br¦=¦===¦:¦]:¦\u{a0}¦<script>";
