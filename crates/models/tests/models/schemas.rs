//! Structured output in every wire format, and servers that reject it.

use std::sync::Arc;

use crate::support::{all_wires, ask, call, call_with_schema, message, mock, model_of, ways};
use agon_core::ReplySchema;
use agon_engine::{CallFaultKind, MessageRole, ModelCall, ModelSource};
use agon_mock::{MockRequest, MockResponse};
use serde_json::json;

/// A schema with everything that the protocols' schemas use.
fn rich_call() -> ModelCall {
    let json = json!({
        "type": "object",
        "properties": {
            "stance": {"type": "string", "enum": ["maintain", "concede"]},
            "points": {"type": "array", "maxItems": 12, "items": {"type": "string", "maxLength": 4000}},
            "revised": {"type": ["string", "null"], "maxLength": 16000, "description": "The new one."},
            "confidence": {"type": "number", "minimum": 0.0, "maximum": 1.0},
        },
        "required": ["stance", "points", "confidence"],
    });
    ModelCall { schema: Some(Arc::new(ReplySchema { name: "argument".into(), json })), ..call() }
}

#[tokio::test]
async fn a_schema_is_sent_as_its_wire_format_expects() {
    for (wire, streamed) in ways() {
        let mock = mock(|_| MockResponse::say("{}"));
        ask(&*model_of(&mock, wire), &rich_call(), streamed).await.0.unwrap();
        let request = &mock.requests()[0];
        let (body, schema) = (request.body(), request.schema().unwrap());
        let all = ["stance", "points", "revised", "confidence"];
        let known: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(known, all, "{wire}: the order of fields is kept");
        assert_eq!(schema["properties"]["stance"]["enum"], json!(["maintain", "concede"]), "{wire}");
        assert_eq!(schema["properties"]["revised"]["type"], json!(["string", "null"]), "{wire}");
        let written = schema.to_string();
        match wire {
            // Strict mode: every property is required and no other is allowed.
            "openai" => {
                let format = &body["response_format"];
                assert_eq!(
                    (&format["type"], &format["json_schema"]["strict"]),
                    (&json!("json_schema"), &json!(true))
                );
                assert_eq!(
                    (&schema["required"], &schema["additionalProperties"]),
                    (&json!(all), &json!(false))
                );
                assert!(
                    !written.contains("\"maxLength\":") && written.contains("\"minimum\":0.0"),
                    "{written}"
                );
                assert!(written.contains("maxLength: 4000"), "{written}");
            }
            // Limits on numbers, lengths and lists are rejected, so they are in the descriptions.
            "anthropic" => {
                assert_eq!(body["output_config"]["format"]["type"], json!("json_schema"));
                assert_eq!(schema["additionalProperties"], json!(false));
                assert_eq!(schema["required"], json!(["stance", "points", "confidence"]));
                for keyword in ["\"maxLength\"", "\"minimum\"", "\"maximum\"", "\"maxItems\""] {
                    assert!(!written.contains(keyword), "{keyword}: {written}");
                }
                let revised = &schema["properties"]["revised"]["description"];
                assert_eq!(revised, "The new one. (maxLength: 16000)");
            }
            _ => {
                assert_eq!(body["generationConfig"]["responseMimeType"], json!("application/json"));
                assert_eq!(
                    schema["properties"]["confidence"],
                    json!({"type": "number", "minimum": 0.0, "maximum": 1.0})
                );
                assert!(!written.contains("\"maxLength\""), "{written}");
            }
        }
    }
}

const SCHEMA_REQUEST: &str =
    "Your reply must be one JSON object that conforms to this JSON Schema: {\"type\":\"object\",";

/// How often a request contains the schema, as structured output and in the prompt.
fn schemas_in(request: &MockRequest) -> (usize, usize) {
    let whole = request.body().to_string().matches("properties").count();
    let prompt: String = request.messages().into_iter().map(|(_, text)| text).collect();
    let stated = prompt.matches(SCHEMA_REQUEST).count();
    assert_eq!(stated, prompt.matches("properties").count(), "{prompt}");
    (whole - stated, stated)
}

#[tokio::test]
async fn a_schema_is_sent_once() {
    for (wire, streamed) in ways() {
        let mock = mock(|request| match request.schema() {
            Some(_) if request.model() == "rejecting" => MockResponse::error(400, "no structured output"),
            Some(_) if request.model() == "ignoring" => MockResponse::say("Because."),
            _ => MockResponse::say("{\"why\": \"so\"}"),
        });
        let catalogue = all_wires(&mock);
        for (name, sent) in [
            ("accepting", [(1, 0), (1, 0), (1, 0)]),
            ("rejecting", [(1, 0), (0, 1), (0, 1)]),
            ("ignoring", [(1, 0), (0, 1), (0, 1)]),
        ] {
            let model = catalogue.model(&format!("{wire}/{name}")).unwrap();
            let before = mock.requests().len();
            let answers = [
                ask(&*model, &call_with_schema(), streamed).await.0,
                ask(&*model, &call_with_schema(), streamed).await.0,
                // A repair continues the conversation.
                ask(&*model, &repair_of(call_with_schema()), streamed).await.0,
            ];
            match name {
                "rejecting" => {
                    let fault = answers[0].as_ref().unwrap_err();
                    assert_eq!(fault.kind, CallFaultKind::Unsupported, "{wire}");
                }
                _ => assert!(answers[0].is_ok(), "{wire}"),
            }
            assert!(answers[1..].iter().all(|answer| answer.as_ref().unwrap().text == "{\"why\": \"so\"}"));
            let requests = mock.requests();
            let found: Vec<(usize, usize)> = requests[before..].iter().map(schemas_in).collect();
            assert_eq!(found, sent, "{wire}, {name}, streamed: {streamed}");
        }
        let plain = model_of(&mock, wire);
        ask(&*plain, &call(), streamed).await.0.unwrap();
        assert_eq!(schemas_in(mock.requests().last().unwrap()), (0, 0), "{wire}: an ask for plain text");
    }
}

fn repair_of(mut call: ModelCall) -> ModelCall {
    call.messages.push(message(MessageRole::Assistant, "{}"));
    call.messages.push(message(MessageRole::User, "Your answer cannot be used: why is missing."));
    call
}

/// The schema of a program is at the end of its prompt, after what it is asked.
#[cfg(unix)]
#[tokio::test]
async fn a_program_reads_the_schema_once() {
    let config: agon_models::ModelsConfig =
        toml::from_str("[commands.echo]\ncommand = [\"cat\"]\nfree = true\n").unwrap();
    let catalogue = agon_models::ModelCatalogue::new(config, |_| None);
    let model = catalogue.model("command/echo").unwrap();
    for (call, times) in [(call(), 0), (call_with_schema(), 1), (repair_of(call_with_schema()), 1)] {
        let prompt = ask(&*model, &call, false).await.0.unwrap().text;
        assert_eq!(prompt.matches(SCHEMA_REQUEST).count(), times, "{prompt}");
        assert!(times == 0 || prompt.ends_with(&call.schema.unwrap().json.to_string()), "{prompt}");
    }
}
