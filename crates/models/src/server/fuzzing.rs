//! What must hold for any body that a server sends. The tests and the fuzz target `server_bodies` call it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::{Arc, LazyLock};

use agon_engine::{FinishReason, ModelPrice};
use agon_host::clean_line;
use genai::chat::RawFrameRef;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::dialect::WireDialect;
use super::errors::{CallFailure, FailureContext};
use super::{ServerModel, StreamNotes};
use crate::provider::{KNOWN_PROVIDERS, ModelProvider};

const KEY: &str = "sk-secret-4f1d9a7c";
const PROMPT: &str = "The confidential question of the person is whether to sell the house in autumn.";
/// The first providers of the table, one for each wire format.
const FORMATS: usize = 3;

static MODELS: LazyLock<Vec<ServerModel>> = LazyLock::new(|| {
    let env = |name: &str| name.ends_with("_API_KEY").then(|| KEY.to_owned());
    let known = KNOWN_PROVIDERS.iter().take(FORMATS);
    let model = |known| {
        let provider = Arc::new(ModelProvider::well_known(known, &env));
        ServerModel::new("p/m", "m", provider, ModelPrice::Unknown, Arc::default()).unwrap()
    };
    known.map(model).collect()
});

/// A fault is one short line without the key and the prompt, a refusal never becomes an answer, and no answer contains the key. The first
/// byte chooses the wire format and whether the body is an answer, a stream or an error. `KEY` and `PROMPT` stand for what was sent.
pub fn server_bodies(bytes: &[u8]) {
    let (first, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let body = String::from_utf8_lossy(bytes).replace("KEY", KEY).replace("PROMPT", PROMPT);
    let model = &MODELS[usize::from(*first) % FORMATS];
    let dialect = model.dialect;
    let prompt = [PROMPT];
    let context = FailureContext::new(&model.provider, &model.model, &model.base, &prompt);
    match first / 3 % 3 {
        0 => {
            let (status, body) = body.split_once('\n').unwrap_or(("500", &body));
            let (status, wait) = status.split_once(' ').unwrap_or((status, ""));
            let value = wait.parse().ok();
            let headers: HeaderMap =
                value.into_iter().map(|value| ("retry-after".parse().unwrap(), value)).collect();
            let status = status.trim().parse::<u16>().unwrap_or(500);
            assert_harmless(&context.http_status(status, body, &headers));
        }
        1 => read_answer(model, dialect, &body, context),
        _ => read_stream(model, dialect, &body),
    }
}

fn read_answer(model: &ServerModel, dialect: &dyn WireDialect, body: &str, context: FailureContext<'_>) {
    let Ok(body) = serde_json::from_str::<Value>(body) else { return };
    dialect.listed_models(&body);
    dialect.is_false_error(&body);
    assert_harmless(&context.error_in_body(&body));
    if let Some(refusal) = dialect.refusal(&body) {
        assert_refused(model, refusal.text);
    }
}

/// Each block up to an empty line is a frame of a stream.
fn read_stream(model: &ServerModel, dialect: &dyn WireDialect, body: &str) {
    let notes = StreamNotes::default();
    for (index, data) in (0..).zip(body.split("\n\n")) {
        notes.read_frame(dialect, RawFrameRef { index, event: None, data, elapsed_us: 0 });
    }
    if let Some(refusal) = notes.take_refusal() {
        assert_refused(model, refusal.text);
    }
}

fn assert_refused(model: &ServerModel, text: String) {
    let completion = model.completion("An answer.".into(), Some(text), None, Default::default());
    assert_eq!(completion.finish, FinishReason::Refused);
    assert!(!completion.text.contains(KEY), "{completion:?}");
}

fn assert_harmless(failure: &CallFailure) {
    let message = &failure.fault.message;
    assert!(message.chars().count() <= 300 && !message.is_empty(), "{message}");
    assert_eq!(clean_line(message), *message, "it is one line that can be shown");
    assert!(!message.contains(KEY), "{message}");
    let half: Vec<char> = PROMPT.chars().take(48).collect();
    assert!(!message.contains(&String::from_iter(half)), "{message}");
}

#[test]
fn no_body_at_all_shows_a_secret_or_passes_a_refusal_for_an_answer() {
    const PIECES: &[&str] = &[
        "\0",
        "\u{1}",
        "\u{2}",
        "\u{3}",
        "\u{4}",
        "\u{5}",
        "\u{6}",
        "\u{7}",
        "\u{8}",
        "429 7\n",
        "400\n",
        "200\n",
        "{\"error\":",
        "{",
        "}",
        "[",
        "]",
        "\"message\":",
        "\"KEY\"",
        "\"PROMPT\"",
        "KEY",
        "PROMPT",
        "\"code\":",
        "\"param\":\"seed\"",
        "400",
        "\"details\":[",
        "\"retryDelay\":\"3.5s\"",
        "\"choices\":[{",
        "\"message\":{",
        "\"refusal\":\"",
        "\"content\":[",
        "\"delta\":{",
        "\n\n",
        "\"",
        ":",
        ",",
        "null",
        "\"finish_reason\":\"stop\"",
        "\"promptFeedback\":{\"blockReason\":\"SAFETY\"}",
        "\\u202e",
        "\u{1b}[2J",
        "<html>",
        "K\u{200b}EY",
    ];
    agon_fuzzing::check("server_bodies", PIECES, server_bodies);
}
