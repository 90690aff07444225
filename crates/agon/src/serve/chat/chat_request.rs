//! What a chat program asks for, and the debate that it becomes.
//!
//! - The last message of the user is the question, or the text to judge where a protocol judges texts.
//! - Messages of the system are the person's instructions. A question carries them at its end, because context is only material; a text
//!   to judge must stay as it is, so there they are context.
//! - All other turns are context, in order, with who said them.
//!
//! Settings of a single model, such as the temperature, do not apply to a debate and are not read. What would change the form of the
//! answer is refused.

use std::collections::BTreeMap;

use agon_core::ProtocolInfo;
use agon_core::wording::excerpt;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::limits::LimitOverrides;
use crate::cli::targets::{CONTEXT, SubjectKind};
use crate::hosting::debate_request::{DebateRequest, RequestFile};

/// The most characters of the name that a text to judge gets from its first line.
const NAME_CHARS_MAX: usize = 60;

/// The body of a request. Fields that are not listed do not apply to a debate.
#[derive(Debug, Clone, Default, Deserialize, utoipa::ToSchema)]
pub struct ChatRequest {
    /// `agon/NAME`: see `/v1/models`.
    pub model: String,
    pub messages: Vec<ChatMessage>,
    /// Whether the answer comes in pieces, as server-sent events.
    #[serde(default)]
    pub stream: Option<bool>,
    #[serde(default)]
    pub stream_options: Option<StreamOptions>,
    /// How many answers; a debate gives one.
    #[serde(default)]
    pub n: Option<u64>,
    /// Only `{"type": "text"}`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub response_format: Option<Value>,
    /// `{"task": ..}` marks a request that a chat program makes for itself.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
    #[serde(default)]
    pub agon: Option<DebateSettings>,
}

#[derive(Debug, Clone, Default, Deserialize, utoipa::ToSchema)]
pub struct ChatMessage {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    pub role: String,
    /// A text, or a list of parts of type `text`.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub content: Value,
    /// Who speaks, if several have the same role.
    #[serde(default)]
    pub name: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, utoipa::ToSchema)]
pub struct StreamOptions {
    /// Whether the last piece says what the debate used.
    #[serde(default)]
    pub include_usage: bool,
}

/// What a request sets for its debate. The rest comes from the server's configuration.
#[derive(Debug, Clone, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DebateSettings {
    /// One per seat, repeated as needed.
    pub models: Vec<String>,
    /// Models for single roles.
    pub roles: BTreeMap<String, String>,
    /// The protocol's options.
    #[schema(value_type = Object)]
    pub options: Map<String, Value>,
    /// Limits on time and money.
    #[schema(value_type = Object)]
    pub limits: LimitOverrides,
}

impl ChatRequest {
    /// Refuses what a debate cannot do.
    pub fn check(&self) -> Result<(), String> {
        if self.n.is_some_and(|count| count != 1) {
            return Err("`n` must be 1: a debate gives one answer".into());
        }
        let format = self.response_format.as_ref().and_then(|format| format.get("type"));
        match format.and_then(Value::as_str) {
            None | Some("text") => Ok(()),
            Some(other) => Err(format!(
                "a debate answers in words, not as {other:?}: omit `response_format`, or use /api/v1/debates, whose outcome is JSON"
            )),
        }
    }

    /// The last message of the user.
    pub fn last_words(&self) -> String {
        let last = self.messages.iter().rfind(|message| message.role == "user");
        last.and_then(|message| message.text().ok()).unwrap_or_default()
    }

    /// The debate that the conversation becomes.
    pub fn debate(&self, info: &ProtocolInfo) -> Result<DebateRequest, String> {
        let Conversation { question, instructions, mut files } = Conversation::read(&self.messages)?;
        let instructions = instructions.join("\n\n");
        let question = match SubjectKind::of(info) {
            SubjectKind::Question if instructions.is_empty() => Some(question),
            SubjectKind::Question => {
                Some(format!("{question}\n\nInstructions of the person who asks:\n\n{instructions}"))
            }
            kind => {
                if !instructions.is_empty() {
                    files.insert(0, context_file("instructions of the person".into(), instructions));
                }
                match kind {
                    SubjectKind::Files => {
                        let first_line = question.lines().find(|line| !line.trim().is_empty());
                        let path = excerpt(first_line.unwrap_or_default().trim(), NAME_CHARS_MAX);
                        files.push(RequestFile { path, text: question, part: None });
                        None
                    }
                    SubjectKind::Question | SubjectKind::Targets => Some(question),
                }
            }
        };
        let DebateSettings { models, roles, options, limits } = self.agon.clone().unwrap_or_default();
        let protocol = Some(info.name.to_owned());
        Ok(DebateRequest { protocol, question, files, models, roles, options, limits, seed: None })
    }
}

/// The messages, by what they are for.
struct Conversation {
    question: String,
    instructions: Vec<String>,
    files: Vec<RequestFile>,
}

impl Conversation {
    fn read(messages: &[ChatMessage]) -> Result<Self, String> {
        let is_user = |message: &ChatMessage| message.role == "user";
        let last = messages.iter().rposition(is_user);
        let last = last.ok_or("`messages` has no message of the user: the last one is the question")?;
        let (mut question, mut instructions, mut files) = (String::new(), Vec::new(), Vec::new());
        for (place, message) in messages.iter().enumerate() {
            let text = message.text().map_err(|why| format!("message {}: {why}", place + 1))?;
            match message.role.as_str() {
                _ if place == last => question = text,
                // For instance a call of a tool, which has no words.
                _ if text.trim().is_empty() => {}
                "system" | "developer" => instructions.push(text),
                role => {
                    let name = message.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
                    files.push(context_file(format!("turn {}, {role}{name}", files.len() + 1), text));
                }
            }
        }
        match question.trim().is_empty() {
            true => Err("the last message of the user is empty: write a question".into()),
            false => Ok(Self { question, instructions, files }),
        }
    }
}

fn context_file(path: String, text: String) -> RequestFile {
    RequestFile { path, text, part: Some(CONTEXT.to_owned()) }
}

impl ChatMessage {
    /// The words of the message.
    pub fn text(&self) -> Result<String, String> {
        match &self.content {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.clone()),
            Value::Array(parts) => {
                let parts = parts.iter().map(part_text).collect::<Result<Vec<&str>, String>>()?;
                Ok(parts.join("\n"))
            }
            _ => Err("`content` must be a text or a list of parts".into()),
        }
    }
}

fn part_text(part: &Value) -> Result<&str, String> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    match (kind, part.get("text").and_then(Value::as_str)) {
        ("text" | "input_text" | "output_text", Some(text)) => Ok(text),
        ("refusal", _) => Ok(""),
        (kind, _) => Err(format!("a part of type {kind:?} cannot be debated: send text only")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(messages: Value) -> ChatRequest {
        serde_json::from_value(json!({"model": "agon/x", "messages": messages, "temperature": 0.3})).unwrap()
    }

    fn info_of(kind: SubjectKind) -> &'static ProtocolInfo {
        let mut infos = agon_protocols::all().map(|protocol| protocol.info());
        infos.find(|info| SubjectKind::of(info) == kind).unwrap()
    }

    fn debate(kind: SubjectKind, messages: Value) -> Result<DebateRequest, String> {
        request(messages).debate(info_of(kind))
    }

    #[test]
    fn the_last_message_of_the_user_is_the_question_and_the_others_are_context() {
        let debate = debate(
            SubjectKind::Question,
            json!([
                {"role": "user", "content": "Which database?"},
                {"role": "assistant", "content": "PostgreSQL."},
                {"role": "assistant", "content": null, "tool_calls": []},
                {"role": "user", "name": "Ada", "content": [{"type": "text", "text": "It must"}, {"type": "text", "text": "be small."}]},
                {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
            ]),
        )
        .unwrap();
        assert_eq!(debate.question.as_deref(), Some("And now?"));
        let files: Vec<(&str, &str)> =
            debate.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        let wanted = [
            ("turn 1, user", "Which database?"),
            ("turn 2, assistant", "PostgreSQL."),
            ("turn 3, user (Ada)", "It must\nbe small."),
        ];
        assert_eq!(files, wanted);
        assert!(debate.files.iter().all(|file| file.part.as_deref() == Some("context")));
    }

    #[test]
    fn instructions_follow_a_question_and_stand_beside_a_text_that_is_judged() {
        let messages = json!([
            {"role": "system", "content": "Answer in German."},
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Tabs?\nOr spaces?"},
        ]);
        let asked = debate(SubjectKind::Question, messages.clone()).unwrap();
        let question = asked.question.unwrap();
        assert!(question.starts_with("Tabs?\nOr spaces?\n\n"), "{question}");
        assert!(question.ends_with("\n\nAnswer in German.\n\nBe brief."), "{question}");
        assert!(asked.files.is_empty());
        let judged = debate(SubjectKind::Targets, messages.clone()).unwrap();
        assert_eq!(judged.question.as_deref(), Some("Tabs?\nOr spaces?"));
        assert_eq!(judged.files[0].text, "Answer in German.\n\nBe brief.");
        let judged = debate(SubjectKind::Files, messages).unwrap();
        assert_eq!((judged.question, judged.files.len()), (None, 2));
        let RequestFile { path, text, part } = &judged.files[1];
        assert_eq!((path.as_str(), text.as_str(), part.as_deref()), ("Tabs?", "Tabs?\nOr spaces?", None));
    }

    #[test]
    fn what_cannot_be_debated_is_refused_with_a_reason() {
        for (messages, why) in [
            (json!([]), "no message of the user"),
            (json!([{"role": "assistant", "content": "Hello."}]), "no message of the user"),
            (json!([{"role": "user", "content": " "}]), "empty"),
            (json!([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]), "image_url"),
            (json!([{"role": "user", "content": 7}]), "message 1"),
        ] {
            let error = debate(SubjectKind::Question, messages).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let with = |more: Value| {
            let mut body = json!({"model": "agon/x", "messages": []});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<ChatRequest>(body).map_err(|why| why.to_string())
        };
        assert!(with(json!({"n": 2})).unwrap().check().unwrap_err().contains("`n`"));
        let format = json!({"response_format": {"type": "json_object"}});
        assert!(with(format).unwrap().check().unwrap_err().contains("json_object"));
        assert!(with(json!({"response_format": {"type": "text"}, "n": 1})).unwrap().check().is_ok());
        assert!(with(json!({"agon": {"model": "x"}})).unwrap_err().contains("model"));
    }

    #[test]
    fn a_request_may_set_its_models_roles_options_and_limits() {
        let mut asked = request(json!([{"role": "user", "content": "Tabs?"}]));
        asked.agon = serde_json::from_value(json!({
            "models": ["openai/a"], "roles": {"chair": "openai/b"}, "options": {"max_rounds": 2}, "limits": {"max_calls": 9},
        }))
        .unwrap();
        let debate = asked.debate(info_of(SubjectKind::Question)).unwrap();
        assert_eq!(
            (debate.models, &debate.roles["chair"]),
            (vec!["openai/a".to_owned()], &"openai/b".to_owned())
        );
        assert_eq!((&debate.options["max_rounds"], debate.limits.max_calls), (&json!(2), Some(9)));
    }
}
