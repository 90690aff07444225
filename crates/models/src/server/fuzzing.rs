//! What must hold for any body that a server sends. The tests and the fuzz target `server_bodies` call it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::{Arc, LazyLock};

use agon_engine::{ModelCompletion, ModelPrice};
use agon_host::clean_line;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::ServerModel;
use super::dialect::ServerAnswer;
use super::errors::{CallFailure, FailureContext};
use super::events::FrameReader;
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

/// A fault is one short line without the key and the prompt, and no answer contains the key. A stream reads the same however its bytes are
/// cut. The first byte chooses the wire format and whether the body is an answer, a stream or an error. `KEY` and `PROMPT` stand for what was sent.
pub fn server_bodies(bytes: &[u8]) {
    let (first, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let body = String::from_utf8_lossy(bytes).replace("KEY", KEY).replace("PROMPT", PROMPT);
    let model = &MODELS[usize::from(*first) % FORMATS];
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
            assert_harmless(&context.error_body(status, body, &headers));
        }
        1 => {
            if let Ok(body) = serde_json::from_str::<Value>(&body) {
                model.dialect.listed_models(&body);
                assert_harmless(&context.error_in_body(&body));
            }
            check(&model.read_whole(&body, context));
        }
        _ => {
            let whole = read_stream(model, &body, body.len().max(1), context);
            check(&whole);
            let cut = read_stream(model, &body, 1 + usize::from(*first) % 7, context);
            assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
        }
    }
}

fn read_stream(
    model: &ServerModel,
    body: &str,
    piece_bytes: usize,
    context: FailureContext<'_>,
) -> Result<ModelCompletion, CallFailure> {
    let mut frames = FrameReader::default();
    let mut answer = ServerAnswer::default();
    for piece in body.as_bytes().chunks(piece_bytes) {
        for data in frames.push(piece) {
            model.read_frame(&data, &mut answer, &|_| {}, context)?;
        }
    }
    model.end_of_stream(frames, answer, &|_| {}, context)
}

fn check(answer: &Result<ModelCompletion, CallFailure>) {
    match answer {
        Ok(answer) => assert!(!answer.text.contains(KEY), "{answer:?}"),
        Err(failure) => assert_harmless(failure),
    }
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
fn no_body_at_all_shows_a_secret_or_depends_on_how_its_bytes_are_cut() {
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
