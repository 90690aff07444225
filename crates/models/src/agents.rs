//! `agent/NAME`: a model with a name and a charter of its own.

use std::sync::Arc;
use std::time::Duration;

use agon_engine::{
    CallFault, CallMessage, DeltaSink, MessageRole, Model, ModelCall, ModelCompletion, ModelPrice,
};
use futures_util::future::BoxFuture;

use crate::config::AgentConfig;

pub(crate) struct AgentModel {
    name: String,
    charter: String,
    model: Arc<dyn Model>,
}

impl AgentModel {
    pub(crate) fn new(name: &str, config: &AgentConfig, model: Arc<dyn Model>) -> Self {
        Self { name: name.to_owned(), charter: config.charter.trim().to_owned(), model }
    }

    /// Puts the charter before the rules, so that the rules have the last word.
    fn with_charter(&self, call: &ModelCall) -> ModelCall {
        let mut call = call.clone();
        match call.messages.first_mut() {
            _ if self.charter.is_empty() => {}
            Some(rules) if rules.role == MessageRole::System => {
                rules.text = format!("{}\n\n{}", self.charter, rules.text);
                rules.shared = 0;
            }
            _ => call.messages.insert(0, CallMessage::new(MessageRole::System, self.charter.clone())),
        }
        call
    }
}

impl Model for AgentModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }

    fn uses_tokens(&self) -> bool {
        self.model.uses_tokens()
    }

    fn price(&self) -> ModelPrice {
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
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        Box::pin(async move { self.model.call(&self.with_charter(call), deltas).await })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use agon_core::{CallUsage, Phase};
    use agon_engine::FinishReason;

    use super::*;

    struct RecordingModel(Mutex<Vec<CallMessage>>);

    impl Model for RecordingModel {
        fn name(&self) -> &str {
            "one/a"
        }
        fn provider(&self) -> &str {
            "one"
        }
        fn price(&self) -> ModelPrice {
            ModelPrice::Unknown
        }
        fn call<'a>(
            &'a self,
            call: &'a ModelCall,
            _: Option<DeltaSink<'a>>,
        ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
            *self.0.lock().unwrap() = call.messages.clone();
            let (text, model, usage) = ("yes".into(), "one/a".into(), CallUsage::default());
            Box::pin(async move {
                Ok(ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None })
            })
        }
    }

    fn messages_sent(charter: &str, messages: Vec<CallMessage>) -> Vec<String> {
        let inner = Arc::new(RecordingModel(Mutex::default()));
        let config = AgentConfig { model: "one/a".into(), charter: charter.into() };
        let agent = AgentModel::new("agent/skeptic", &config, inner.clone());
        let call = ModelCall {
            debate: "d".into(),
            seat: "agent-1".into(),
            ask: 1,
            attempt: 1,
            is_again: false,
            is_repair: false,
            phase: Phase::new("propose", 1),
            label: None,
            about: None,
            question: String::new(),
            messages,
            schema: None,
            max_output_tokens: 9,
            seed: 1,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(agent.call(&call, None)).unwrap();
        assert_eq!(
            (agent.name(), agent.provider(), agent.price()),
            ("agent/skeptic", "one", ModelPrice::Unknown)
        );
        inner.0.lock().unwrap().iter().map(|message| message.text.clone()).collect()
    }

    #[test]
    fn the_charter_is_put_before_the_rules() {
        let rules = || {
            vec![CallMessage::new(MessageRole::System, "Rules."), CallMessage::new(MessageRole::User, "Why?")]
        };
        assert_eq!(messages_sent("Doubt.", rules()), ["Doubt.\n\nRules.", "Why?"]);
        assert_eq!(messages_sent(" ", rules()), ["Rules.", "Why?"]);
        assert_eq!(
            messages_sent("Doubt.", vec![CallMessage::new(MessageRole::User, "Why?")]),
            ["Doubt.", "Why?"]
        );
    }
}
