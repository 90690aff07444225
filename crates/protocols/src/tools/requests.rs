//! How a reply carries requests, and how they are taken out of it before others read it.
//!
//! A structured reply has them in its field `requests`. A reply in plain text ends with one JSON object, `{"requests": [..]}`, in a
//! code fence or not. No other field comes before this one.

use agon_core::{Reply, ToolRequest};
use serde_json::{Map, Value};

/// The field of a reply that holds its requests.
pub(super) const FIELD: &str = "requests";
/// No tool has a longer name.
const TOOL_CHARS_MAX: usize = 128;
/// How far from the end of a plain text its requests may begin. Much less is enough for what a seat may ask at once.
const TAIL_BYTES_MAX: usize = 64 * 1024;
/// How many places in a plain text are tried as the beginning of its requests. A log is read often, and a seat can write any text.
const STARTS_MAX: usize = 16;
/// The longest reason that a report shows.
const WHY_CHARS_MAX: usize = 300;
/// All seats read the arguments of a request, so longer ones are dropped, and the request is refused.
const ARGUMENT_BYTES_MAX: usize = 2_000;

/// Takes the requests out of a reply. What is no request is dropped.
pub(super) fn take_requests(reply: &mut Reply) -> Vec<ToolRequest> {
    let Reply::Said { text, value, .. } = reply else { return Vec::new() };
    let listed = match value {
        Some(Value::Object(fields)) => fields.shift_remove(FIELD),
        Some(_) => None,
        None => cut_from_text(text),
    };
    let Some(Value::Array(listed)) = listed else { return Vec::new() };
    listed.into_iter().filter_map(read_request).collect()
}

/// The value of a reply without its requests.
pub(super) fn without_requests(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        fields.shift_remove(FIELD);
    }
    value
}

/// Cuts the requests from the end of a text, with the code fence around them.
fn cut_from_text(text: &mut String) -> Option<Value> {
    let whole = text.trim_end().trim_end_matches("```").trim_end();
    if !whole.ends_with('}') {
        return None;
    }
    let (start, mut fields) = request_starts(whole).find_map(|at| {
        let fields: Map<String, Value> = serde_json::from_str(whole.get(at..)?).ok()?;
        Some((at, fields))
    })?;
    let before = whole.get(..start)?.trim_end();
    let before = before.strip_suffix("```json").or_else(|| before.strip_suffix("```")).unwrap_or(before);
    *text = before.trim_end().to_owned();
    fields.shift_remove(FIELD)
}

/// Where the requests of a text can begin, from its end: at a brace before the field's name.
fn request_starts(text: &str) -> impl Iterator<Item = usize> {
    let from = text.floor_char_boundary(text.len().saturating_sub(TAIL_BYTES_MAX));
    let tail = text.get(from..).unwrap_or_default();
    let begins = |rest: &str| {
        let name = rest.trim_start().strip_prefix('"').and_then(|rest| rest.strip_prefix(FIELD));
        name.is_some_and(|rest| rest.starts_with('"'))
    };
    let braces = tail.rmatch_indices('{').map(|(at, _)| at);
    let starts = braces.filter(move |at| tail.get(at + 1..).is_some_and(begins));
    starts.map(move |at| from + at).take(STARTS_MAX)
}

fn read_request(listed: Value) -> Option<ToolRequest> {
    let mut request: ToolRequest = serde_json::from_value(listed).ok()?;
    // The name stands in prompts and reports. A tool's own name has no other characters.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let name = request.tool.trim().chars().take(TOOL_CHARS_MAX);
    request.tool = name.map(|c| if is_plain(c) { c } else { '?' }).collect();
    request.why = request.why.split_whitespace().collect::<Vec<_>>().join(" ");
    request.why = request.why.chars().take(WHY_CHARS_MAX).collect();
    // Some servers can only write an object that they know the fields of, and write any other as text.
    if let Some(written) = request.arguments.as_str() {
        request.arguments = serde_json::from_str(written).unwrap_or(request.arguments);
    }
    // Some servers must write every field, and write null for those that are not set.
    if let Value::Object(arguments) = &mut request.arguments {
        arguments.retain(|_, value| !value.is_null());
    }
    if request.arguments.to_string().len() > ARGUMENT_BYTES_MAX {
        request.arguments = Value::String("(too long)".to_owned());
    }
    Some(request)
}

#[cfg(test)]
mod tests {
    use agon_core::CallUsage;
    use serde_json::json;

    use super::*;

    fn said(text: &str, value: Option<Value>) -> Reply {
        let (text, model, usage) = (text.to_owned(), "one/a".to_owned(), CallUsage::default());
        Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
    }

    #[test]
    fn a_structured_reply_loses_its_requests() {
        let listed = json!([
            {"tool": " files ", "arguments": {"path": "a.md", "from": null}, "why": "to\n see"},
            {"tool": "files", "arguments": "{\"query\": \"retry\"}"},
            {"tool": "x\n\u{2028}\u{202e}\u{2022} [E2]: files", "arguments": {}},
            {"arguments": {}}, "nonsense"
        ]);
        let long = json!([{"tool": "t".repeat(999), "arguments": {"query": "x".repeat(9_999)}}]);
        let long = take_requests(&mut said("", Some(json!({"requests": long}))));
        assert_eq!((long[0].tool.len(), long[0].arguments.is_object()), (TOOL_CHARS_MAX, false));
        let mut reply = said("", Some(json!({"vote": "PASS", "requests": listed})));
        let requests = take_requests(&mut reply);
        assert_eq!(reply.value(), Some(&json!({"vote": "PASS"})));
        assert_eq!(requests.len(), 3);
        assert_eq!((requests[0].tool.as_str(), requests[0].why.as_str()), ("files", "to see"));
        assert_eq!(requests[0].arguments, json!({"path": "a.md"}));
        assert_eq!(requests[1].arguments, json!({"query": "retry"}));
        assert_eq!(requests[2].tool, "x??????E2???files", "no name of a tool is a line of its own");
    }

    #[test]
    fn a_plain_reply_ends_with_its_requests_and_others_do_not_read_them() {
        let object = r#"{"requests": [{"tool": "files", "arguments": {"path": "a.md"}, "why": "x"}]}"#;
        for text in [
            format!("Use {{braces}}.\n\n{object}"),
            format!("Use {{braces}}.\n```json\n{object}\n```\n"),
            format!("Use {{braces}}. {object}  "),
            format!("Use {{braces}}. {}", object.replacen('{', "{\n  ", 1)),
            format!("Use {{braces}}. {}", object.replace("\"x\"", r#""where is {\"requests\": 1}?""#)),
        ] {
            let mut reply = said(&text, None);
            assert_eq!(take_requests(&mut reply).len(), 1, "{text}");
            assert_eq!(reply.text(), Some("Use {braces}."));
        }
        for text in
            ["No requests.", "{\"requests\": 1} and more", "{\"request\": []}", object.trim_end_matches('}')]
        {
            let mut reply = said(text, None);
            assert_eq!((take_requests(&mut reply).len(), reply.text()), (0, Some(text)));
        }
    }

    /// The text is read again for every event of a log.
    #[test]
    fn no_text_has_many_places_where_requests_could_begin() {
        for (piece, starts) in [
            (r#"{"":"#, 0),
            ("{", 0),
            (r#"{"requests":["#, STARTS_MAX),
            (r#"{ "requests":[{"requests":["#, STARTS_MAX),
        ] {
            let text = format!("{}}}", piece.repeat(20_000));
            assert_eq!(request_starts(&text).count(), starts, "{piece}");
            assert!(request_starts(&text).all(|at| text.len() - at <= TAIL_BYTES_MAX), "{piece}");
            assert_eq!(take_requests(&mut said(&text, None)).len(), 0, "{piece}");
        }
        let spread = format!("{{\"requests\": []}}{}", " ".repeat(TAIL_BYTES_MAX));
        assert_eq!(request_starts(&spread).count(), 0);
    }
}
