//! Structured output in every wire format, and servers that reject it.

use std::sync::Arc;

use crate::support::{all_wires, ask, call, call_with_schema, mock, model_of, ways};
use agon_core::ReplySchema;
use agon_engine::{CallFaultKind, ModelCall, ModelSource};
use agon_mock::MockResponse;
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

/// The prompt also contains the schema.
#[tokio::test]
async fn after_a_rejected_schema_a_model_is_called_without_it() {
    for (wire, streamed) in ways() {
        let mock = mock(|request| match request.schema() {
            Some(_) => MockResponse::error(400, "structured output is not supported"),
            None => MockResponse::say("{\"why\": \"so\"}"),
        });
        let catalogue = all_wires(&mock);
        let model = catalogue.model(&format!("{wire}/m")).unwrap();
        let fault = ask(&*model, &call_with_schema(), streamed).await.0.unwrap_err();
        assert_eq!(fault.kind, CallFaultKind::Unsupported, "{wire}");
        for _ in 0..2 {
            let answer = ask(&*model, &call_with_schema(), streamed).await.0.unwrap();
            assert_eq!(answer.text, "{\"why\": \"so\"}");
        }
        let other = catalogue.model(&format!("{wire}/other")).unwrap();
        ask(&*other, &call_with_schema(), streamed).await.0.unwrap_err();
        let with: Vec<bool> = mock.requests().iter().map(|request| request.schema().is_some()).collect();
        assert_eq!(with, [true, false, false, true], "{wire}: another model may accept it");
    }
}
