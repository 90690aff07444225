//! A named agent: a model with a charter of its own.

use std::sync::Arc;
use std::time::Duration;

use agon_core::Invalid;
use agon_engine::{Call, Completion, Deltas, Fault, Message, Model, Price, Role};
use futures_util::future::BoxFuture;
use serde::Deserialize;

/// One `[agents.NAME]`: who is seated, and rated, as `agent/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The model that speaks.
    pub model: String,
    /// Who it is when it does, in front of the rules of the debate.
    #[serde(default)]
    pub charter: String,
}

/// The longest charter: it is in front of every call.
const CHARTER_CHARS_MAX: usize = 8_000;

impl AgentConfig {
    /// Refuses what cannot sit.
    pub(crate) fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |why: &str| Err(Invalid(format!("[agents.{name}]: {why}")));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            return wrong("an agent's name has letters, digits, `-`, `_` and `.` only");
        }
        if self.model.contains(['|', ',']) || !self.model.contains('/') || self.model.trim() != self.model {
            return wrong("model is one model, written provider/model");
        }
        if self.model.starts_with("agent/") || self.model.starts_with("embeddings/") {
            return wrong("model is a model that speaks, not another agent");
        }
        if self.charter.chars().count() > CHARTER_CHARS_MAX {
            return wrong(&format!("its charter is longer than {CHARTER_CHARS_MAX} characters"));
        }
        Ok(())
    }
}

/// A model that speaks under a name and with a charter.
pub(crate) struct Agent {
    name: String,
    charter: String,
    model: Arc<dyn Model>,
}

impl Agent {
    pub(crate) fn new(name: &str, config: &AgentConfig, model: Arc<dyn Model>) -> Self {
        Self { name: name.to_owned(), charter: config.charter.trim().to_owned(), model }
    }

    /// The call with the charter in front of the rules, which have the last word.
    fn chartered(&self, call: &Call) -> Call {
        let mut call = call.clone();
        match call.messages.first_mut() {
            _ if self.charter.is_empty() => {}
            Some(rules) if rules.role == Role::System => {
                rules.text = format!("{}\n\n{}", self.charter, rules.text);
                rules.shared = 0;
            }
            _ => call.messages.insert(0, Message::new(Role::System, self.charter.clone())),
        }
        call
    }
}

impl Model for Agent {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }

    fn price(&self) -> Price {
        self.model.price()
    }

    fn at_once(&self) -> Option<usize> {
        self.model.at_once()
    }

    fn missing(&self) -> Option<String> {
        self.model.missing()
    }

    fn timeout(&self) -> Option<Duration> {
        self.model.timeout()
    }

    fn notice(&self, question: &str) -> Option<String> {
        self.model.notice(question)
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(async move { self.model.call(&self.chartered(call), deltas).await })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use agon_core::{Phase, Usage};
    use agon_engine::Finish;

    use super::*;

    struct Heard(Mutex<Vec<Message>>);

    impl Model for Heard {
        fn name(&self) -> &str {
            "one/a"
        }
        fn provider(&self) -> &str {
            "one"
        }
        fn price(&self) -> Price {
            Price::Unknown
        }
        fn call<'a>(
            &'a self,
            call: &'a Call,
            _: Option<Deltas<'a>>,
        ) -> BoxFuture<'a, Result<Completion, Fault>> {
            *self.0.lock().unwrap() = call.messages.clone();
            let (text, model, usage) = ("yes".into(), "one/a".into(), Usage::default());
            Box::pin(
                async move { Ok(Completion { text, model, usage, finish: Finish::End, shortened: None }) },
            )
        }
    }

    fn heard(charter: &str, messages: Vec<Message>) -> Vec<String> {
        let inner = Arc::new(Heard(Mutex::default()));
        let config = AgentConfig { model: "one/a".into(), charter: charter.into() };
        let agent = Agent::new("agent/skeptic", &config, inner.clone());
        let call = Call {
            debate: "d".into(),
            seat: "agent-1".into(),
            ask: 1,
            attempt: 1,
            phase: Phase::new("propose", 1),
            label: None,
            about: None,
            messages,
            schema: None,
            max_output_tokens: 9,
            seed: 1,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(agent.call(&call, None)).unwrap();
        assert_eq!((agent.name(), agent.provider(), agent.price()), ("agent/skeptic", "one", Price::Unknown));
        inner.0.lock().unwrap().iter().map(|message| message.text.clone()).collect()
    }

    #[test]
    fn a_charter_stands_before_the_rules_and_the_rules_stay() {
        let rules = || vec![Message::new(Role::System, "Rules."), Message::new(Role::User, "Why?")];
        assert_eq!(heard("Doubt.", rules()), ["Doubt.\n\nRules.", "Why?"]);
        assert_eq!(heard(" ", rules()), ["Rules.", "Why?"]);
        assert_eq!(heard("Doubt.", vec![Message::new(Role::User, "Why?")]), ["Doubt.", "Why?"]);
    }

    #[test]
    fn an_agent_that_cannot_sit_is_named() {
        let check =
            |name: &str, model: &str| AgentConfig { model: model.into(), charter: String::new() }.check(name);
        assert_eq!(check("skeptic", "openai/x"), Ok(()));
        for (name, model) in [
            ("", "a/b"),
            ("a b", "a/b"),
            ("x", "b"),
            ("x", "a/b|c/d"),
            ("x", "agent/y"),
            ("x", "embeddings/minilm"),
        ] {
            assert!(
                check(name, model).unwrap_err().0.starts_with(&format!("[agents.{name}]: ")),
                "{name} {model}"
            );
        }
    }
}
