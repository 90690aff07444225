//! The demos on the page: a button for each.

use agon_core::{OptionKind, ProtocolInfo};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::cli::demo_debates::DemoDebate;

/// A button for every protocol that has a demo.
pub fn demo_cards() -> Markup {
    let infos = agon_protocols::all().map(|protocol| protocol.info());
    html! {
        ul class="demos" {
            @for (info, request) in infos.filter_map(|info| Some((info, demo_request(info)?))) {
                li {
                    h2 { (info.name) }
                    p { (info.about) }
                    p class="note" { (request.get("question").and_then(Value::as_str).unwrap_or_default()) }
                    (demo_button(&request))
                }
            }
        }
        noscript { p { "Starting a debate needs JavaScript; reading does not." } }
    }
}

/// A button that starts a demo.
pub fn demo_button(request: &Value) -> Markup {
    html! {
        button type="button" class="demo" data-open=(request) { "Watch the demo" }
        span class="refused" role="alert" data-message {}
    }
}

/// What to send to `POST /api/v1/debates` for the demo of a protocol.
pub fn demo_request(info: &ProtocolInfo) -> Option<Value> {
    let demo = DemoDebate::of(agon_protocols::find(info.name)?)?;
    let files = demo.files.iter().map(|file| json!({"path": file.path, "text": file.text}));
    let value = |key: &str, text: &str| match info.options.iter().find(|option| option.key == key)?.kind {
        OptionKind::Flag => Some(json!(text == "true")),
        _ => Some(json!(text)),
    };
    let options = demo.options.iter().filter_map(|(key, text)| Some((key.clone(), value(key, text)?)));
    let mut request = json!({
        "protocol": info.name,
        "models": [demo.model],
        "files": files.collect::<Vec<_>>(),
        "options": options.collect::<Map<_, _>>(),
    });
    if let (Some(question), Some(fields)) = (demo.question, request.as_object_mut()) {
        fields.insert("question".into(), json!(question));
    }
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::demo_debates::demo_debates;

    #[test]
    fn every_demo_has_a_request_with_what_its_script_is_about() {
        for demo in demo_debates() {
            let request = demo_request(demo.protocol.info()).unwrap();
            assert_eq!(request["files"].as_array().unwrap().len(), demo.files.len());
            assert_eq!(request.get("question").and_then(Value::as_str), demo.question);
            assert_eq!(request["options"].as_object().unwrap().len(), demo.options.len(), "{request}");
        }
    }
}
