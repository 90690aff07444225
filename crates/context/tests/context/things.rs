//! Asks, sources and answers for the tests.

use agon_core::Phase;
use agon_engine::{Call, Fault, Message, Model, Role};
use agon_context::{Answer, Pulse, PulseConfig};
use serde_json::json;

/// A call with this as its last message.
pub(crate) fn call(tail: &str) -> Call {
    Call {
        debate: "d-1".into(),
        seat: "pulse-news".into(),
        ask: 1,
        attempt: 1,
        phase: Phase { name: "context".into(), round: 0 },
        label: None,
        about: None,
        messages: vec![Message::new(Role::User, tail)],
        schema: None,
        max_output_tokens: 4_096,
        seed: 0,
    }
}

/// The source `news` with this section; patient, where it does not say otherwise, for the machine may be busy.
pub(crate) fn pulse(section: &str) -> Pulse {
    let patience = if section.contains("timeout_s") { "" } else { "timeout_s = 60" };
    let config: PulseConfig = toml::from_str(&format!("{section}\n{patience}")).unwrap();
    Pulse::new("news", config, &|name| (name == "NEWS_KEY").then(|| "k-123".into())).unwrap()
}

/// What a model answers to an errand.
pub(crate) async fn ask(model: &dyn Model, query: &str, limit: usize) -> Result<Answer, Fault> {
    let call = call(&json!({"query": query, "limit": limit}).to_string());
    let completion = model.call(&call, None).await?;
    assert_eq!(completion.model, model.name());
    Ok(serde_json::from_str(&completion.text).unwrap())
}

/// What a source in a file answers.
pub(crate) async fn of_file(text: impl AsRef<[u8]>, more: &str, query: &str) -> Result<Answer, Fault> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, text).unwrap();
    ask(&pulse(&format!("file = {path:?}\n{more}")), query, 50).await
}

/// The titles of an answer.
pub(crate) fn titles(answer: &Answer) -> Vec<&str> {
    answer.items.iter().map(|item| item.title.as_str()).collect()
}
