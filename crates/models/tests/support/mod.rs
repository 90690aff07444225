//! What the tests of this crate share: a call, and a catalogue that points at a mock server.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::sync::{Arc, Mutex};

use agon_core::{Phase, Schema};
use agon_engine::{Call, Completion, Fault, Message, Model, Models, Role};
use agon_mock::{Mock, MockSettings, Request, Response};
use agon_models::Catalogue;
use serde_json::{Value, json};

/// A key that no error may show.
pub(crate) const KEY: &str = "sk-secret-4f1d9a7c";
/// A prompt that no error may show.
pub(crate) const PROMPT: &str =
    "The confidential question of the person is whether to sell the house in autumn.";

pub(crate) fn call() -> Call {
    Call {
        debate: "d".into(),
        seat: "debater-1".into(),
        ask: 1,
        attempt: 1,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        messages: vec![message(Role::System, "Be brief."), message(Role::User, PROMPT)],
        schema: None,
        max_output_tokens: 77,
        seed: u64::MAX,
    }
}

pub(crate) fn call_with_schema() -> Call {
    let json = json!({"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]});
    Call { schema: Some(Arc::new(Schema { name: "reason".into(), json })), ..call() }
}

pub(crate) fn message(role: Role, text: &str) -> Message {
    Message::new(role, text)
}

pub(crate) fn mock(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Mock {
    Mock::start(MockSettings::new(answer)).unwrap()
}

/// A catalogue whose `openai/` is the mock.
pub(crate) fn catalogue(url: &str, key: Option<&str>) -> Catalogue {
    let env = |name: &str| match name {
        "OPENAI_BASE_URL" => Some(url.to_owned()),
        "OPENAI_API_KEY" => key.map(str::to_owned),
        _ => None,
    };
    Catalogue::new(agon_models::Config::default(), env)
}

pub(crate) fn model(mock: &Mock) -> Arc<dyn Model> {
    catalogue(&mock.url(), Some(KEY)).model("openai/m").unwrap()
}

/// The wire formats, by the provider that each is named after.
pub(crate) const WIRES: [&str; 3] = ["openai", "anthropic", "gemini"];

/// A catalogue in which the providers of all wire formats are the mock.
pub(crate) fn all_wires(mock: &Mock) -> Catalogue {
    let (url, root) = (mock.url(), mock.root());
    Catalogue::new(agon_models::Config::default(), |name: &str| match name {
        "OPENAI_BASE_URL" | "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "GEMINI_BASE_URL" => Some(root.clone()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" => Some(KEY.into()),
        _ => None,
    })
}

/// The model `m` of the mock, by this wire format.
pub(crate) fn model_of(mock: &Mock, wire: &str) -> Arc<dyn Model> {
    all_wires(mock).model(&format!("{wire}/m")).unwrap()
}

/// Makes the call, streamed or not, and gives the answer and what was streamed.
pub(crate) async fn ask(
    model: &dyn Model,
    call: &Call,
    streamed: bool,
) -> (Result<Completion, Fault>, String) {
    let seen = Mutex::new(String::new());
    let push = |piece: &str| seen.lock().unwrap().push_str(piece);
    let answer = model.call(call, streamed.then_some(&push as &(dyn Fn(&str) + Send + Sync))).await;
    let seen = seen.lock().unwrap().clone();
    (answer, seen)
}

pub(crate) fn body(mock: &Mock, index: usize) -> Value {
    mock.requests()[index].body().clone()
}

/// Every wire format, streamed and not.
pub(crate) fn ways() -> impl Iterator<Item = (&'static str, bool)> {
    WIRES.into_iter().flat_map(|wire| [(wire, false), (wire, true)])
}
