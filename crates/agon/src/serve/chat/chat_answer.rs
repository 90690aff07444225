//! A debate's end as an answer in OpenAI's format: whole, or the last chunks of a stream.

use agon_core::view::is_troubled;
use agon_core::wording::excerpt;
use agon_core::{Headline, ReportItem};
use agon_host::{clean_line, clean_text};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::chat_error::ChatError;
use super::side_task::SideTask;
use crate::cli::debate_reading::DebateReading;
use crate::hosting::{DebateHost, blocking};

/// The most characters of a position in the dissent. The `agon` object has all of it.
const DISSENT_CHARS_MAX: usize = 300;

/// What every part of an answer carries.
#[derive(Debug, Clone)]
pub struct AnswerHead {
    /// The debate's id.
    pub id: String,
    /// The model as the caller named it.
    pub model: String,
    /// Seconds since 1970.
    pub created: u64,
}

impl AnswerHead {
    /// A piece of a stream.
    pub fn chunk(&self, delta: Value) -> Value {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        self.object("chat.completion.chunk", json!([choice]))
    }

    fn object(&self, object: &str, choices: Value) -> Value {
        json!({
            "id": self.id, "object": object, "created": self.created, "model": self.model, "choices": choices,
        })
    }
}

/// What a debate came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswer {
    pub content: String,
    /// What the debate used, as this format says it.
    pub usage: Value,
    /// What only Agon has: `{id, state, dissent, cost, debate, receipt}`.
    pub agon: Value,
}

impl ChatAnswer {
    /// Reads the answer of a debate that has ended.
    pub async fn read(host: &DebateHost, id: &str, task: Option<&SideTask>) -> Result<Self, ChatError> {
        let debate = host.read_debate(id).await?;
        let Some(outcome) = &debate.outcome else {
            let stopped = || {
                format!(
                    "debate {id} was stopped before its end: POST /api/v1/debates/{id}/resume continues it"
                )
            };
            let why = host.fault_of(id).unwrap_or_else(stopped);
            return Err(ChatError::new(StatusCode::BAD_GATEWAY, "debate_interrupted", why).not_again());
        };
        let (state, is_troubled) = (json!(outcome.status), is_troubled(outcome));
        let has_failed = outcome.status == agon_core::Status::Failed;
        let (headline, dissent, document) = blocking(move || {
            let DebateReading { view, document, .. } = DebateReading::of(&debate)?;
            Ok((view.headline, view.dissent, document))
        })
        .await?;
        if has_failed {
            let message = format!("{} See /debates/{id} for why.", clean_line(&headline.ending));
            return Err(ChatError::new(StatusCode::BAD_GATEWAY, "debate_failed", message).not_again());
        }
        let content = match task {
            Some(task) => task.answer(headline.decision().unwrap_or_default()),
            None => verdict_text(&headline, &dissent, is_troubled),
        };
        Ok(Self { content, usage: chat_usage(&document), agon: agon_object(id, &state, &document) })
    }

    /// The whole answer.
    pub fn completion(self, head: &AnswerHead) -> Value {
        let message = json!({"role": "assistant", "content": self.content, "refusal": null});
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"});
        let mut completion = head.object("chat.completion", json!([choice]));
        add(&mut completion, "usage", self.usage);
        add(&mut completion, "agon", self.agon);
        completion
    }

    /// The last pieces of a stream: the verdict, the end and, if it is wanted, what the debate used.
    pub fn last_chunks(self, head: &AnswerHead, wants_usage: bool) -> Vec<Value> {
        let mut end =
            head.object("chat.completion.chunk", json!([{"index": 0, "delta": {}, "finish_reason": "stop"}]));
        add(&mut end, "agon", self.agon.clone());
        let mut chunks = vec![head.chunk(json!({"content": self.content})), end];
        if wants_usage {
            let mut usage = head.object("chat.completion.chunk", json!([]));
            add(&mut usage, "usage", self.usage);
            // Some programs look at the last chunk alone.
            add(&mut usage, "agon", self.agon);
            chunks.push(usage);
        }
        chunks
    }
}

fn add(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}

/// The verdict as Markdown: its word, the answer, why, and the dissent in short.
fn verdict_text(headline: &Headline, dissent: &[ReportItem], is_troubled: bool) -> String {
    let Headline { verdict, answer, why, ending, .. } = headline;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(verdict.as_ref().map(|verdict| format!("**{}**", clean_line(verdict))));
    parts.extend(answer.as_ref().map(|answer| clean_text(answer)));
    parts.extend(why.as_ref().filter(|why| Some(*why) != answer.as_ref()).map(|why| clean_text(why)));
    if parts.is_empty() || is_troubled {
        parts.push(format!("*{}*", clean_line(ending)));
    }
    if !dissent.is_empty() {
        let items: Vec<String> = dissent.iter().map(dissent_item).collect();
        parts.push(format!("**Dissent**\n\n{}", items.join("\n")));
    }
    parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn dissent_item(item: &ReportItem) -> String {
    let text = excerpt(&clean_line(&item.text), DISSENT_CHARS_MAX);
    match &item.who {
        Some(who) => format!("- **{}**: {text}", clean_line(who)),
        None => format!("- {text}"),
    }
}

fn chat_usage(document: &Value) -> Value {
    let count =
        |key: &str| document.pointer(&format!("/usage/{key}")).and_then(Value::as_u64).unwrap_or_default();
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": {"cached_tokens": count("cached_input_tokens")},
    })
}

fn agon_object(id: &str, state: &Value, document: &Value) -> Value {
    let field = |path: &str| document.pointer(path).cloned().unwrap_or_default();
    let count = |path: &str| field(path).as_u64().unwrap_or_default();
    let tokens = count("/usage/input_tokens").saturating_add(count("/usage/output_tokens"));
    json!({
        "id": id,
        "state": state,
        "dissent": field("/dissent"),
        "cost": {"usd": field("/usage/usd"), "calls": count("/usage/calls"), "tokens": tokens},
        "debate": format!("/debates/{id}"),
        "receipt": format!("/api/v1/debates/{id}/export?format=receipt"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headline(verdict: Option<&str>, answer: Option<&str>, why: Option<&str>) -> Headline {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let ending = "Consensus after 1 round.".to_owned();
        Headline {
            verdict: text(verdict),
            answer: text(answer),
            why: text(why),
            ending,
            ..Headline::default()
        }
    }

    #[test]
    fn the_verdict_is_the_content_with_the_dissent_in_short() {
        let long = "tabs ".repeat(200);
        let dissent = [ReportItem { who: Some("Debater B".into()), text: long, note: None }];
        let text = verdict_text(&headline(None, Some("Spaces."), Some("They align.")), &dissent, false);
        assert!(text.starts_with("Spaces.\n\nThey align.\n\n**Dissent**\n\n- **Debater B**: tabs"), "{text}");
        assert!(text.len() < 400 && text.ends_with("[...]"), "{text}");
    }

    #[test]
    fn an_ending_that_calls_for_a_second_look_is_said() {
        let text = |headline: &Headline, troubled| verdict_text(headline, &[], troubled);
        assert_eq!(text(&headline(Some("PASS"), None, None), false), "**PASS**");
        assert_eq!(
            text(&headline(Some("PASS"), Some("Yes."), Some("Yes.")), true),
            "**PASS**\n\nYes.\n\n*Consensus after 1 round.*"
        );
        assert_eq!(text(&headline(None, None, None), false), "*Consensus after 1 round.*");
    }

    #[test]
    fn a_stream_ends_with_the_verdict_the_end_and_the_usage_if_it_is_wanted() {
        let head = AnswerHead { id: "k3v9q2".into(), model: "agon/x".into(), created: 7 };
        let usage = json!({"usage": {"input_tokens": 30, "cached_input_tokens": 10, "output_tokens": 12, "calls": 3, "usd": 0.5}, "dissent": ["x"]});
        let answer = ChatAnswer {
            content: "Spaces.".into(),
            usage: chat_usage(&usage),
            agon: agon_object("k3v9q2", &json!("complete"), &usage),
        };
        let chunks = answer.clone().last_chunks(&head, true);
        assert!(
            chunks.iter().all(|chunk| chunk["id"] == "k3v9q2" && chunk["object"] == "chat.completion.chunk")
        );
        assert_eq!(chunks[0]["choices"][0]["delta"]["content"], "Spaces.");
        assert_eq!(chunks[1]["choices"][0]["finish_reason"], "stop");
        assert_eq!(
            (chunks[2]["choices"].clone(), &chunks[2]["usage"]["total_tokens"]),
            (json!([]), &json!(42))
        );
        assert_eq!(chunks[1]["agon"], chunks[2]["agon"]);
        assert_eq!(answer.clone().last_chunks(&head, false).len(), 2);
        let whole = answer.completion(&head);
        assert_eq!(whole["choices"][0]["message"]["content"], "Spaces.");
        assert_eq!(whole["agon"]["cost"], json!({"usd": 0.5, "calls": 3, "tokens": 42}));
        assert_eq!(whole["agon"]["receipt"], "/api/v1/debates/k3v9q2/export?format=receipt");
    }
}
