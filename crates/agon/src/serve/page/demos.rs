//! The demos: scripted debates that need no model. What to ask for is read from the demo script itself.

use agon_core::{OptionKind, ProtocolInfo};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

/// The files that demo scripts are about.
const EXAMPLES: [(&str, &str); 3] = [
    ("examples/design.md", include_str!(concat!(env!("AGON_BUNDLED"), "/examples/design.md"))),
    ("examples/plan.md", include_str!(concat!(env!("AGON_BUNDLED"), "/examples/plan.md"))),
    ("examples/login.py", include_str!(concat!(env!("AGON_BUNDLED"), "/examples/login.py"))),
];

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
    let script = info.demo?;
    let question = script.lines().find_map(|line| line.strip_prefix("question:"))?.trim().trim_matches('"');
    let files = EXAMPLES.iter().filter(|(path, _)| script.contains(path));
    let files: Vec<Value> = files.map(|(path, text)| json!({"path": path, "text": text})).collect();
    // The text of a target would count as one more target.
    let asks_question = files.is_empty();
    let mut request = json!({
        "protocol": info.name,
        "models": [format!("script/demo-{}", info.name)],
        "files": files,
        "options": demo_options(info, script),
    });
    if let (true, Some(fields)) = (asks_question, request.as_object_mut()) {
        fields.insert("question".into(), json!(question));
    }
    Some(request)
}

/// The options of the command line that the script's first lines show.
fn demo_options(info: &ProtocolInfo, script: &str) -> Map<String, Value> {
    let mut options = Map::new();
    let command =
        script.lines().find(|line| line.starts_with('#') && line.contains("--models")).unwrap_or_default();
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let Some(key) = word.strip_prefix("--").map(|key| key.replace('-', "_")) else { continue };
        let Some(option) = info.options.iter().find(|option| option.key == key) else { continue };
        let value = match option.kind {
            OptionKind::Flag => json!(true),
            _ => match words.next() {
                Some(value) => json!(value.trim_matches('"')),
                None => continue,
            },
        };
        options.insert(key, value);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_demo_has_a_request_with_what_its_script_is_about() {
        for info in agon_protocols::all().map(|protocol| protocol.info()) {
            let Some(script) = info.demo else { continue };
            let request = demo_request(info).unwrap();
            let files = request["files"].as_array().unwrap();
            assert_eq!(request.get("question").is_some(), files.is_empty(), "{request}");
            for option in request["options"].as_object().unwrap().keys() {
                assert!(info.options.iter().any(|known| known.key == option), "{option}");
            }
            // The command line that the script shows has nothing that the request lacks.
            let command = script.lines().find(|line| line.contains("--models")).unwrap();
            let flags =
                command.split_whitespace().filter(|word| word.starts_with("--") && *word != "--models");
            assert_eq!(flags.count(), request["options"].as_object().unwrap().len(), "{command}");
        }
    }
}
