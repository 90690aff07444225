//! Calls, sources and answers for the tests.

use agon_context::{ErrandAnswer, PulseConfig, PulseSource};
use agon_core::Phase;
use agon_engine::{CallFault, CallMessage, MessageRole, Model, ModelCall};
use serde_json::json;

pub(crate) fn call_with(last_message: &str) -> ModelCall {
    ModelCall {
        debate: "d-1".into(),
        seat: "pulse-news".into(),
        ask: 1,
        attempt: 1,
        is_again: false,
        is_repair: false,
        phase: Phase { name: "context".into(), round: 0 },
        label: None,
        about: None,
        question: String::new(),
        messages: vec![CallMessage::new(MessageRole::User, last_message)],
        schema: None,
        max_output_tokens: 4_096,
        seed: 0,
    }
}

/// The source `pulse/news` with this section. Its default timeout is long because the machine may be busy.
pub(crate) fn pulse(section: &str) -> PulseSource {
    let timeout = if section.contains("timeout_s") { "" } else { "timeout_s = 60" };
    let config: PulseConfig = toml::from_str(&format!("{section}\n{timeout}")).unwrap();
    PulseSource::new("news", config, &|name| (name == "NEWS_KEY").then(|| "k-123".into())).unwrap()
}

pub(crate) async fn ask(model: &dyn Model, query: &str, limit: usize) -> Result<ErrandAnswer, CallFault> {
    let call = call_with(&json!({"query": query, "limit": limit}).to_string());
    let completion = model.call(&call, None).await?;
    assert_eq!(completion.model, model.name());
    Ok(serde_json::from_str(&completion.text).unwrap())
}

/// Asks a source that is a file with this content. `settings` are more lines of its section.
pub(crate) async fn ask_file(
    content: impl AsRef<[u8]>,
    settings: &str,
    query: &str,
) -> Result<ErrandAnswer, CallFault> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, content).unwrap();
    ask(&pulse(&format!("file = {path:?}\n{settings}")), query, 50).await
}

pub(crate) fn titles(answer: &ErrandAnswer) -> Vec<&str> {
    answer.items.iter().map(|item| item.title.as_str()).collect()
}
