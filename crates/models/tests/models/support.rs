//! What the tests share: calls, catalogues that point at a mock server, and waiting for processes.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::{Phase, ReplySchema};
use agon_engine::{CallFault, CallMessage, MessageRole, Model, ModelCall, ModelCompletion, ModelSource};
use agon_mock::{MockRequest, MockResponse, MockServer, MockSettings};
use agon_models::{ModelCatalogue, ModelsConfig};
use serde_json::{Value, json};

/// No error may show this key.
pub(crate) const KEY: &str = "sk-secret-4f1d9a7c";
/// No error may show this prompt.
pub(crate) const PROMPT: &str =
    "The confidential question of the person is whether to sell the house in autumn.";

pub(crate) fn call() -> ModelCall {
    ModelCall {
        debate: "d".into(),
        seat: "debater-1".into(),
        ask: 1,
        attempt: 1,
        is_again: false,
        is_repair: false,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        question: String::new(),
        messages: vec![message(MessageRole::System, "Be brief."), message(MessageRole::User, PROMPT)],
        schema: None,
        max_output_tokens: 77,
        seed: u64::MAX,
    }
}

pub(crate) fn call_with_schema() -> ModelCall {
    let json = json!({"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]});
    ModelCall { schema: Some(Arc::new(ReplySchema { name: "reason".into(), json })), ..call() }
}

pub(crate) fn message(role: MessageRole, text: &str) -> CallMessage {
    CallMessage::new(role, text)
}

pub(crate) fn mock(answer: impl Fn(&MockRequest) -> MockResponse + Send + Sync + 'static) -> MockServer {
    MockServer::start(MockSettings::new(answer)).unwrap()
}

/// A catalogue whose provider `openai` is the mock server.
pub(crate) fn catalogue(url: &str, key: Option<&str>) -> ModelCatalogue {
    let env = |name: &str| match name {
        "OPENAI_BASE_URL" => Some(url.to_owned()),
        "OPENAI_API_KEY" => key.map(str::to_owned),
        _ => None,
    };
    ModelCatalogue::new(ModelsConfig::default(), env)
}

pub(crate) fn model(mock: &MockServer) -> Arc<dyn Model> {
    catalogue(&mock.url(), Some(KEY)).model("openai/m").unwrap()
}

/// One provider per wire format.
pub(crate) const WIRES: [&str; 3] = ["openai", "anthropic", "gemini"];

/// A catalogue whose providers `openai`, `anthropic` and `gemini` are the mock server.
pub(crate) fn all_wires(mock: &MockServer) -> ModelCatalogue {
    let (url, root) = (mock.url(), mock.root());
    ModelCatalogue::new(ModelsConfig::default(), |name: &str| match name {
        "OPENAI_BASE_URL" | "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "GEMINI_BASE_URL" => Some(root.clone()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" => Some(KEY.into()),
        _ => None,
    })
}

/// The mock server's model `m` through this wire format.
pub(crate) fn model_of(mock: &MockServer, wire: &str) -> Arc<dyn Model> {
    all_wires(mock).model(&format!("{wire}/m")).unwrap()
}

/// Makes the call and returns the answer and what was streamed.
pub(crate) async fn ask(
    model: &dyn Model,
    call: &ModelCall,
    streamed: bool,
) -> (Result<ModelCompletion, CallFault>, String) {
    let seen = Mutex::new(String::new());
    let push = |piece: &str| seen.lock().unwrap().push_str(piece);
    let answer = model.call(call, streamed.then_some(&push as &(dyn Fn(&str) + Send + Sync))).await;
    let seen = seen.lock().unwrap().clone();
    (answer, seen)
}

pub(crate) fn body(mock: &MockServer, index: usize) -> Value {
    mock.requests()[index].body().clone()
}

/// Every wire format, streamed and not.
pub(crate) fn ways() -> impl Iterator<Item = (&'static str, bool)> {
    WIRES.into_iter().flat_map(|wire| [(wire, false), (wire, true)])
}

/// A call with these messages.
pub(crate) fn call_with(messages: Vec<CallMessage>) -> ModelCall {
    ModelCall { messages, ..call() }
}

/// Fails the test instead of waiting without end.
pub(crate) async fn within_two_minutes<T>(coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), coming).await.expect("still waiting after two minutes")
}

/// Waits for a file with a process id.
pub(crate) async fn process_id_in(file: &Path) -> u32 {
    let found = || std::fs::read_to_string(file).ok()?.strip_suffix('\n')?.parse().ok();
    within_two_minutes(async {
        loop {
            if let Some(number) = found() {
                return number;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// Waits until the process is gone, even as a zombie.
pub(crate) async fn wait_until_gone(id: u32) {
    wait_until(|| process_state(id).is_none()).await;
}

/// Waits until the process has ended. It may stay a zombie until its new parent takes its status.
pub(crate) async fn wait_until_ended(id: u32) {
    wait_until(|| process_state(id).is_none_or(|state| state == 'Z')).await;
}

/// Waits for a condition.
pub(crate) async fn wait_until(condition: impl Fn() -> bool) {
    within_two_minutes(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// The letter of a process's state, as `ps` prints it.
fn process_state(id: u32) -> Option<char> {
    if Path::new("/proc/self/stat").exists() {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        return stat.rsplit_once(") ")?.1.chars().next();
    }
    let output = std::process::Command::new("ps").args(["-o", "state=", "-p", &id.to_string()]).output();
    String::from_utf8(output.expect("there is no ps").stdout).ok()?.trim().chars().next()
}
