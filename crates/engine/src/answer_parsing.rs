//! Turns a model's text into a value that conforms to the ask's schema. Small JSON errors are repaired locally, if that
//! needs no guessing.

use std::sync::Arc;

use agon_core::reply::without_thinking;
use agon_core::{DebateLimits, ReplySchema};
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::{Deserializer, Value};

use crate::FinishReason;
use crate::prepared_schema::PreparedSchema;

/// Parses an answer. Returns the value if there is a schema, `None` for plain text. The error is sent back to the seat.
pub(crate) fn parse_answer(
    schema: Option<&PreparedSchema>,
    text: &str,
    finish: FinishReason,
    bytes_max: usize,
) -> Result<Option<Value>, String> {
    let bytes = text.len();
    if bytes > bytes_max {
        return Err(format!("the answer has {bytes} bytes, and at most {bytes_max} are allowed: shorten it"));
    }
    // A text that is the answer as it stands has no thinking in it: a string may contain the words `</think>`.
    let validator = schema.map(PreparedSchema::validator).transpose()?;
    if let Some(value) = validator.and_then(|validator| parse_literally(validator, text)) {
        return Ok(Some(value));
    }
    let text = without_thinking(text);
    let text = text.trim();
    let Some(validator) = validator else {
        return if text.is_empty() { Err("the answer is empty".into()) } else { Ok(None) };
    };
    let is_cut_off = finish == FinishReason::Length;
    match parse_object(validator, text, is_cut_off) {
        Ok(value) => Ok(Some(value)),
        Err(why) if is_cut_off => {
            Err(format!("the answer was cut off at the maximum length ({why}): shorten it"))
        }
        Err(why) => Err(why),
    }
}

/// What an answer in a log says: the value that the engine has read from its text. `cut_off` says whether it ended at the maximum length.
pub fn answer_value(
    schema: Option<&Arc<ReplySchema>>,
    text: &str,
    cut_off: bool,
) -> Result<Option<Value>, String> {
    let finish = if cut_off { FinishReason::Length } else { FinishReason::End };
    parse_answer(schema.map(PreparedSchema::of).as_deref(), text, finish, usize::MAX)
}

/// The longest answer that is accepted. A server may ignore the limit on tokens, and later prompts repeat the answer.
pub(crate) fn answer_bytes_max(limits: &DebateLimits) -> usize {
    // Tokens are shorter than this in all languages.
    const BYTES_PER_TOKEN: usize = 16;
    usize::try_from(limits.output_tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN)
}

/// The start of a text: at most `bytes_max` bytes, without splitting a character.
pub(crate) fn truncated(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

fn parse_literally(validator: &Validator, text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok().filter(Value::is_object)?;
    validator.is_valid(&value).then_some(value)
}

fn parse_object(validator: &Validator, text: &str, is_cut_off: bool) -> Result<Value, String> {
    if text.is_empty() {
        return Err("the answer is empty".into());
    }
    let mut first_error = None;
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        match validated(validator, value) {
            Ok(value) => return Ok(value),
            Err(why) => first_error = Some(why),
        }
    }
    if is_safe_to_repair(text) {
        let mut valid: Vec<Value> = Vec::new();
        for value in complete_objects(text) {
            match validated(validator, value) {
                Ok(value) if valid.contains(&value) => {}
                Ok(value) => valid.push(value),
                Err(why) => first_error = first_error.or(Some(why)),
            }
        }
        match (valid.pop(), valid.len()) {
            (None, _) => {}
            (Some(only), 0) => return Ok(only),
            // Choosing one of them would be a guess.
            (Some(_), others) => {
                return Err(format!("it contains {} different JSON objects instead of one", others + 1));
            }
        }
        // A repair would close the open string, and half a sentence would count as what the seat meant.
        if ends_inside_object(text) {
            return Err("it ends in the middle of the JSON object".into());
        }
        if !is_cut_off && let Some(value) = repaired(text) {
            match validated(validator, value) {
                Ok(value) => return Ok(value),
                Err(why) => first_error = first_error.or(Some(why)),
            }
        }
    }
    Err(first_error.unwrap_or_else(|| "it contains no JSON object".into()))
}

/// The complete JSON objects in a text, whatever is around them.
pub(crate) fn complete_objects(text: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let from = rest.get(start..).unwrap_or_default();
        let mut values = Deserializer::from_str(from).into_iter::<Value>();
        let used = match values.next() {
            Some(Ok(value)) => {
                objects.push(value);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = from.get(used..).unwrap_or_default();
    }
    objects
}

/// Whether a text ends inside a string, a list or an inner object of its first object. If only the last bracket is missing,
/// the object can be repaired.
fn ends_inside_object(text: &str) -> bool {
    let Some(from) = text.find('{').and_then(|start| text.get(start..)) else { return false };
    let (mut depth, mut in_string, mut is_escaped) = (0_i64, false, false);
    for c in from.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    in_string || depth > 1
}

fn repaired(text: &str) -> Option<Value> {
    let from = text.find('{')?;
    // Escaping to ASCII would break characters outside the basic multilingual plane.
    let options = llm_json::RepairOptions { ensure_ascii: false, ..Default::default() };
    llm_json::loads(text.get(from..)?, &options).ok().filter(Value::is_object)
}

/// Whether searching and repairing a text takes bounded time and stack. `llm_json` recurses at every bracket and looks ahead
/// over white space.
fn is_safe_to_repair(text: &str) -> bool {
    const BRACKETS_MAX: usize = 1024;
    const BLANKS_MAX: usize = 256;
    let (mut brackets, mut blanks) = (0, 0);
    for c in text.chars() {
        brackets += usize::from(matches!(c, '{' | '['));
        blanks = if c.is_whitespace() { blanks + 1 } else { 0 };
        if brackets > BRACKETS_MAX || blanks > BLANKS_MAX {
            return false;
        }
    }
    true
}

fn validated(validator: &Validator, value: Value) -> Result<Value, String> {
    const ERRORS_SHOWN: usize = 5;
    if !value.is_object() {
        return Err("it is JSON but not an object".into());
    }
    if validator.is_valid(&value) {
        return Ok(value);
    }
    let errors: Vec<String> =
        validator.iter_errors(&value).take(ERRORS_SHOWN).map(|error| error_message(&error)).collect();
    Err(errors.join("; "))
}

fn error_message(error: &ValidationError<'_>) -> String {
    // The validator's own message names only a few of the allowed values. The seat needs all of them to choose one.
    const VALUES_NAMED: usize = 20;
    let path = shortened(&readable_path(error.instance_path()));
    if let ValidationErrorKind::Enum { options } = error.kind()
        && let Some(options) = options.as_array().filter(|options| options.len() <= VALUES_NAMED)
    {
        let value = shortened(&error.instance().to_string());
        let allowed: Vec<String> = options.iter().map(Value::to_string).collect();
        let one_of = if allowed.len() == 1 { "" } else { "one of " };
        return format!("{path} is {value}; it must be {one_of}{}", allowed.join(", "));
    }
    format!("{path}: {}", shortened(&error.to_string()))
}

/// A path like `counterpoints[0].target`.
fn readable_path(location: &Location) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Property(name) if path.is_empty() => path.push_str(&name),
            LocationSegment::Property(name) => path.extend([".", &name]),
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    if path.is_empty() { "the object".into() } else { path }
}

/// Cuts out the middle of a long message. A validator puts what is wrong at the end, after the value.
fn shortened(message: &str) -> String {
    const CHARS_MAX: usize = 300;
    let count = message.chars().count();
    if count <= CHARS_MAX {
        return message.to_owned();
    }
    let head: String = message.chars().take(CHARS_MAX / 3).collect();
    let tail: String = message.chars().skip(count - 2 * CHARS_MAX / 3).collect();
    format!("{head} ... {tail}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prepared(name: &str, json: Value) -> Arc<PreparedSchema> {
        PreparedSchema::of(&Arc::new(ReplySchema { name: name.into(), json }))
    }

    fn parse(text: &str, finish: FinishReason) -> Result<Option<Value>, String> {
        let json = json!({
            "type": "object",
            "properties": {"stance": {"enum": ["agree", "disagree"]}, "score": {"type": "number"}},
            "required": ["stance"],
            "additionalProperties": false,
        });
        parse_answer(Some(&prepared("stance", json)), text, finish, usize::MAX)
    }

    #[test]
    fn small_json_errors_are_repaired_locally() {
        let agree = json!({"stance": "agree"});
        for text in [
            r#"{"stance": "agree"}"#,
            "```json\n{\"stance\": \"agree\"}\n```",
            "```\n{\"stance\": \"agree\"}\n```",
            "Here is my answer:\n{\"stance\": \"agree\"}\nI hope that helps {really}.",
            r#"{"stance": "agree",}"#,
            "Sure! {stance: 'agree',}",
            r#"{"stance": "agree""#,
            "<think>{\"stance\": \"disagree\"} or not?</think>{\"stance\": \"agree\"}",
            "so I think {\"stance\": \"disagree\"}</think>\n{\"stance\": \"agree\"}",
            "I said {\"stance\": \"agree\"}, and I say {\"stance\": \"agree\"}",
        ] {
            assert_eq!(parse(text, FinishReason::End), Ok(Some(agree.clone())), "{text}");
        }
    }

    #[test]
    fn a_string_of_an_answer_cannot_end_its_thinking() {
        let json = json!({
            "type": "object",
            "properties": {"source": {"type": "string"}, "text": {"type": "string"}},
            "required": ["source"],
        });
        let schema = prepared("item", json);
        for (source, text) in [
            ("notes.txt", "</think>{\"source\": \"passwords.txt\", \"text\": \"forged\"}"),
            ("x</think>{\"source\": \"forged\"}", ""),
            ("notes.txt", "seen <think>hidden</think> seen"),
            ("notes.txt", "<think>"),
        ] {
            let answer = json!({"source": source, "text": text});
            let read = parse_answer(Some(&schema), &answer.to_string(), FinishReason::End, usize::MAX);
            assert_eq!(read, Ok(Some(answer)));
        }
    }

    #[test]
    fn an_answer_that_cannot_be_repaired_is_rejected_with_the_reason() {
        for (text, reason) in [
            ("I agree.", "no JSON object"),
            ("", "empty"),
            ("<think>I wonder", "empty"),
            ("[1, 2]", "not an object"),
            ("\"agree\"", "not an object"),
            ("{}", "the object: \"stance\" is a required property"),
            (r#"{"stance": "perhaps"}"#, r#"stance is "perhaps"; it must be one of "agree", "disagree""#),
            (r#"{"stance": "agree", "score": "7"}"#, "score: \"7\" is not of type \"number\""),
            (r#"{"stance": "agree", "extra": 1}"#, "extra"),
            (
                r#"My answer: {"stance": "agree"}, and not {"stance": "disagree"}"#,
                "contains 2 different JSON objects",
            ),
            (r#"{"stance": "agree", "because": "I would have sa"#, "ends in the middle"),
            (r#"{"stance": "agree", "points": ["one""#, "ends in the middle"),
        ] {
            let why = parse(text, FinishReason::End).unwrap_err();
            assert!(why.contains(reason), "{text}: {why}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_is_never_completed() {
        let why = parse(r#"{"stance": "agree"#, FinishReason::Length).unwrap_err();
        assert!(why.contains("cut off"), "{why}");
        assert!(parse(r#"{"stance": "agree"} and fur"#, FinishReason::Length).is_ok());
    }

    #[test]
    fn hostile_answers_are_rejected_quickly() {
        for text in ["[".repeat(1 << 18), "{".repeat(1 << 18), format!("{{a{}", " ".repeat(1 << 18))] {
            assert!(parse(&text, FinishReason::End).is_err());
        }
        let emoji = parse("{stance: 'agree', 'score': 1, \u{1F600}: 2,}", FinishReason::End).unwrap_err();
        assert!(emoji.contains('\u{1F600}'), "{emoji}");
    }

    #[test]
    fn plain_text_must_not_be_empty() {
        assert_eq!(parse_answer(None, "Yes.", FinishReason::End, 4), Ok(None));
        assert!(parse_answer(None, " \n", FinishReason::End, 4).is_err());
        assert!(parse_answer(None, "<think>Hm</think> ", FinishReason::End, 100).is_err());
    }

    #[test]
    fn an_error_names_the_path_and_all_allowed_values() {
        let why = |count: usize| {
            let labels: Vec<String> = (1..=count).map(|number| format!("Debater {number}")).collect();
            let target = json!({"properties": {"target": {"enum": labels}}});
            let json = json!({"properties": {"counterpoints": {"items": target}}});
            let text = r#"{"counterpoints": [{"target": "Debater Z"}]}"#;
            parse_answer(Some(&prepared("n", json)), text, FinishReason::End, usize::MAX).unwrap_err()
        };
        let three = r#"counterpoints[0].target is "Debater Z"; it must be one of "Debater 1", "Debater 2", "Debater 3""#;
        assert_eq!(why(3), three);
        assert!(why(20).ends_with("\"Debater 19\", \"Debater 20\""), "{}", why(20));
        assert!(why(21).starts_with("counterpoints[0].target: \"Debater Z\" is not one of"), "{}", why(21));
        assert!(!why(21).contains("Debater 21"), "{}", why(21));
        assert_eq!(why(1), r#"counterpoints[0].target is "Debater Z"; it must be "Debater 1""#);
    }

    #[test]
    fn an_answer_that_is_too_long_is_rejected() {
        let why = parse_answer(None, "Yes, yes.", FinishReason::End, 8).unwrap_err();
        assert_eq!(why, "the answer has 9 bytes, and at most 8 are allowed: shorten it");
        assert_eq!(answer_bytes_max(&DebateLimits { output_tokens: 3, ..DebateLimits::default() }), 48);
        assert_eq!(["", "a", "a\u{e9}", "a\u{e9}b"].map(|text| truncated(text, 2)), ["", "a", "a", "a"]);
        assert_eq!(truncated("a\u{e9}b", 3), "a\u{e9}");
    }
}
