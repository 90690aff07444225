//! People who answer through the agent's client: an ask of a seat `human/NAME` becomes a form.
//!
//! Forms are flat: the protocol allows texts, numbers, choices and yes or no. An ask whose answer has lists or objects in it becomes a
//! form with one field, in which the person writes the answer as JSON.
//!
//! Until protocol version 2026-07-28 the server sends the form as a request of its own, and the form may stay open longer than the
//! call. Since then a call returns the forms, and the client calls again with what was filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle};
use serde_json::{Map, Value, json};

use super::McpServer;
use super::token_limits::cut_text;
use crate::hosting::DebateHost;
use crate::hosting::host_error::{HostError, HostErrorKind};
use crate::hosting::person_seats::{CALLER, WaitingAsk};

/// The field of a form whose answer is not flat.
const ANSWER_FIELD: &str = "answer";
/// The longest text above a form.
const MESSAGE_BYTES: usize = 20_000;
/// How often a form looks whether its ask still waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// An ask, by its debate and number.
type AskKey = (String, u32);

/// Which forms are open in a session, and what was wrong with earlier answers. Clones share them.
#[derive(Clone, Default)]
pub struct OpenForms {
    /// Asks that this session has shown to a person. Another one shows them, too: nobody may be there any more to read them here.
    shown: Arc<Mutex<BTreeSet<AskKey>>>,
    /// How many answers to an ask were refused, and why the last one was, in all sessions.
    refusals: Arc<Mutex<BTreeMap<AskKey, (u32, String)>>>,
}

impl OpenForms {
    /// The forms of another session.
    pub fn of_new_session(&self) -> Self {
        Self { shown: Arc::default(), refusals: self.refusals.clone() }
    }

    fn shown(&self) -> MutexGuard<'_, BTreeSet<AskKey>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refusals(&self) -> MutexGuard<'_, BTreeMap<AskKey, (u32, String)>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self, id: &str, ask: &WaitingAsk) -> String {
        let refusal = self.refusals().get(&(id.to_owned(), ask.ask)).cloned();
        let refusal = refusal.map(|(_, why)| format!("\n\nYour last answer was not accepted: {why}"));
        let prompt = cut_text(&ask.prompt, MESSAGE_BYTES, "debate_show has all of it");
        format!("{} in debate {id}:\n\n{prompt}{}", ask.model, refusal.unwrap_or_default())
    }

    /// Passes on what a person filled in. An answer that is refused is asked for once more.
    async fn take_answer(&self, host: &DebateHost, id: &str, ask: u32, filled: ElicitResult) {
        let value = match filled.action {
            ElicitationAction::Accept => Some(answer_of_form(filled.content.unwrap_or_default())),
            ElicitationAction::Decline => None,
            // The person closed the form. The ask waits on, and can still be answered with debate_answer.
            _ => return,
        };
        let key = (id.to_owned(), ask);
        match host.answer(id, ask, value).await {
            Err(HostError { kind: HostErrorKind::Invalid, sentence }) => {
                self.shown().remove(&key);
                let mut refusals = self.refusals();
                let count = refusals.get(&key).map_or(0, |(count, _)| *count);
                refusals.insert(key, (count + 1, sentence));
            }
            _ => {
                self.refusals().remove(&key);
            }
        }
    }
}

/// Whether the client of a call shows forms.
pub fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
    // A client that names no kind of form shows the plain one.
    elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

/// Whether the client speaks a revision without requests of the server: it takes forms and tasks only as the result of a call.
pub fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn asks_of_people(host: &DebateHost, id: &str) -> Vec<WaitingAsk> {
    host.waiting_asks(id).into_iter().filter(|ask| ask.model != CALLER).collect()
}

impl McpServer {
    /// Sends the forms of the asks that wait for people, each once.
    pub(super) async fn elicit_answers(&self, id: &str, context: &RequestContext<RoleServer>) {
        if !shows_forms(context) || is_modern(context) {
            return;
        }
        for ask in asks_of_people(self.host(), id) {
            let key = (id.to_owned(), ask.ask);
            if !self.forms().shown().insert(key) {
                continue;
            }
            let form = ServerRequest::ElicitRequest(ElicitRequest::new(self.form(id, &ask)));
            // It is sent from within the call, so that it takes the call's way to the client. It may outlive the call.
            let sent = context.peer.send_cancellable_request(form, PeerRequestOptions::no_options()).await;
            if let Ok(handle) = sent {
                let (host, forms, id) = (self.host().clone(), self.forms().clone(), id.to_owned());
                tokio::spawn(async move { await_form(&host, &forms, &id, ask.ask, handle).await });
            }
        }
    }

    /// The forms of the asks that wait for people, as the result of a call.
    pub(super) fn form_requests(&self, id: &str) -> InputRequests {
        let form = |ask: &WaitingAsk| {
            let request = InputRequest::Elicitation(ElicitRequest::new(self.form(id, ask)));
            (self.form_key(id, ask), request)
        };
        asks_of_people(self.host(), id).iter().map(form).collect()
    }

    /// Passes on what people filled in.
    pub(super) async fn take_form_answers(&self, id: &str, responses: InputResponses) {
        let asks = asks_of_people(self.host(), id);
        for (key, response) in responses {
            let ask = asks.iter().find(|ask| self.form_key(id, ask) == key);
            let filled = serde_json::from_value::<ElicitResult>(response);
            // A key that nobody asked for is ignored, as the protocol wants it.
            if let (Some(ask), Ok(filled)) = (ask, filled) {
                self.forms().take_answer(self.host(), id, ask.ask, filled).await;
            }
        }
    }

    fn form(&self, id: &str, ask: &WaitingAsk) -> ElicitRequestParams {
        let (requested_schema, hint) = form_schema(ask.schema.as_ref());
        let message = format!("{}{hint}", self.forms().message(id, ask));
        ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
    }

    /// Every attempt at an ask has a key of its own, because a key must not be used twice.
    fn form_key(&self, id: &str, ask: &WaitingAsk) -> String {
        let refused = self.forms().refusals().get(&(id.to_owned(), ask.ask)).map_or(0, |(count, _)| *count);
        format!("ask-{}-{}-{refused}", ask.ask, ask.attempt)
    }
}

/// Waits until the person has filled in the form, or somebody else has answered.
async fn await_form(
    host: &DebateHost,
    forms: &OpenForms,
    id: &str,
    ask: u32,
    mut handle: RequestHandle<RoleServer>,
) {
    loop {
        tokio::select! {
            response = &mut handle.rx => {
                if let Ok(Ok(ClientResult::ElicitResult(filled))) = response {
                    forms.take_answer(host, id, ask, filled).await;
                } else {
                    // Another connection may show it.
                    forms.shown().remove(&(id.to_owned(), ask));
                }
                return;
            }
            () = tokio::time::sleep(LOOK_EVERY) => {
                if !host.waiting_asks(id).iter().any(|waiting| waiting.ask == ask) {
                    let _ = handle.cancel(Some("the ask does not wait any more".to_owned())).await;
                    return;
                }
            }
        }
    }
}

/// The form for an answer of this schema, and what the person must be told about it.
fn form_schema(schema: Option<&Value>) -> (ElicitationSchema, String) {
    let flat = schema.and_then(flat_properties).and_then(|form| serde_json::from_value(form).ok());
    if let Some(form) = flat {
        return (form, String::new());
    }
    let (about, hint) = match schema {
        None => ("Your answer".to_owned(), String::new()),
        Some(schema) => (
            "Your answer as one JSON object".to_owned(),
            format!("\n\nAnswer with one JSON object that conforms to this JSON Schema:\n{schema:#}"),
        ),
    };
    let form = json!({
        "type": "object",
        "properties": {ANSWER_FIELD: {"type": "string", "title": about}},
        "required": [ANSWER_FIELD],
    });
    (serde_json::from_value(form).unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new())), hint)
}

/// The schema with nothing but flat fields; `None` if it has others.
fn flat_properties(schema: &Value) -> Option<Value> {
    const KEPT: [&str; 8] =
        ["type", "title", "description", "enum", "minimum", "maximum", "minLength", "maxLength"];
    let properties = schema.get("properties")?.as_object()?;
    // A form with this field alone is the form of an answer that is not flat.
    if properties.keys().eq([ANSWER_FIELD]) {
        return None;
    }
    let mut fields = Map::new();
    for (name, field) in properties {
        let field = field.as_object()?;
        if !matches!(field.get("type")?.as_str()?, "string" | "number" | "integer" | "boolean") {
            return None;
        }
        let kept = field.iter().filter(|(key, _)| KEPT.contains(&key.as_str()));
        fields.insert(name.clone(), kept.map(|(key, value)| (key.clone(), value.clone())).collect());
    }
    let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
    Some(json!({"type": "object", "properties": fields, "required": required}))
}

/// What the person filled in, as the answer to the ask.
fn answer_of_form(content: Value) -> Value {
    match content.as_object() {
        Some(fields) if fields.keys().eq([ANSWER_FIELD]) => {
            fields.get(ANSWER_FIELD).cloned().unwrap_or_default()
        }
        _ => content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_answer_has_a_field_each_and_any_other_one_field_for_json() {
        let flat = json!({
            "type": "object", "additionalProperties": false, "required": ["stance"],
            "properties": {
                "stance": {"type": "string", "enum": ["hold", "concede"], "description": "What you do"},
                "confidence": {"type": "integer", "minimum": 1, "maximum": 5},
            },
        });
        let (form, hint) = form_schema(Some(&flat));
        let form = serde_json::to_value(&form).unwrap();
        assert_eq!(form["properties"]["stance"]["enum"], json!(["hold", "concede"]));
        assert_eq!(form["properties"]["confidence"]["maximum"], 5);
        assert_eq!((form["required"].clone(), hint.as_str()), (json!(["stance"]), ""));

        let nested = json!({"type": "object", "properties": {"points": {"type": "array", "items": {"type": "string"}}}});
        let (form, hint) = form_schema(Some(&nested));
        let form = serde_json::to_value(&form).unwrap();
        assert_eq!(form["properties"]["answer"]["type"], "string");
        assert!(hint.contains("\"points\""), "{hint}");
        let written = answer_of_form(json!({"answer": "{\"points\": []}"}));
        assert_eq!(written, json!("{\"points\": []}"), "the host reads JSON in a text");

        let (form, hint) = form_schema(None);
        assert!(serde_json::to_value(&form).unwrap()["properties"]["answer"].is_object() && hint.is_empty());
    }
}
