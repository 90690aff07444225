//! From a model's words to a value of the ask's schema: parse, and mend locally what can be mended without guessing.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use agon_core::reply::without_thinking;
use agon_core::{Limits, Schema};
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::{Deserializer, Value};

use crate::Finish;

/// Reads an answer of at most so many bytes: the value in it where there is a schema, `None` for plain text. The error is a
/// sentence that goes back to the seat.
pub(crate) fn read(
    schema: Option<&Schema>,
    text: &str,
    finish: Finish,
    bytes_max: usize,
) -> Result<Option<Value>, String> {
    let bytes = text.len();
    if bytes > bytes_max {
        return Err(format!(
            "the answer has {bytes} bytes, and at most {bytes_max} are read: answer more briefly"
        ));
    }
    let words = without_thinking(text);
    let words = words.trim();
    let Some(schema) = schema else {
        return if words.is_empty() { Err("the answer is empty".into()) } else { Ok(None) };
    };
    let validator = validator(schema)?;
    let cut_off = finish == Finish::Length;
    match structured(&validator, words, cut_off) {
        Ok(value) => Ok(Some(value)),
        Err(why) if cut_off => {
            Err(format!("the answer was cut off at its greatest length, so {why}; answer more briefly"))
        }
        Err(why) => Err(why),
    }
}

/// The longest answer that is read. A server need not keep to the limit on tokens, and every later prompt carries its words.
pub(crate) fn bytes_max(limits: &Limits) -> usize {
    // More than a token has in any language.
    const BYTES_PER_TOKEN: usize = 16;
    usize::try_from(limits.output_tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN)
}

/// The beginning of a text: at most so many bytes, and only whole characters.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

fn structured(validator: &Validator, words: &str, cut_off: bool) -> Result<Value, String> {
    if words.is_empty() {
        return Err("the answer is empty".into());
    }
    let mut first_error = None;
    if let Ok(value) = serde_json::from_str::<Value>(words) {
        match valid(validator, value) {
            Ok(value) => return Ok(value),
            Err(why) => first_error = Some(why),
        }
    }
    if manageable(words) {
        let mut whole: Vec<Value> = Vec::new();
        for value in objects(words) {
            match valid(validator, value) {
                Ok(value) if whole.contains(&value) => {}
                Ok(value) => whole.push(value),
                Err(why) => first_error = first_error.or(Some(why)),
            }
        }
        // Which of several is meant is not ours to guess.
        match whole.len() {
            0 => {}
            1 => return whole.pop().ok_or_else(String::new),
            count => {
                return Err(format!("there are {count} different JSON objects in it, and one is wanted"));
            }
        }
        // Mending would close an open quotation, and half a sentence would pass for what the seat meant.
        if ends_inside(words) {
            return Err("it ends in the middle of the JSON object".into());
        }
        if !cut_off && let Some(value) = mended(words) {
            match valid(validator, value) {
                Ok(value) => return Ok(value),
                Err(why) => first_error = first_error.or(Some(why)),
            }
        }
    }
    Err(first_error.unwrap_or_else(|| "there is no JSON object in it".into()))
}

/// The complete objects in a text, whatever stands around them.
fn objects(words: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = words;
    while let Some(start) = rest.find('{') {
        let from = rest.get(start..).unwrap_or_default();
        let mut values = Deserializer::from_str(from).into_iter::<Value>();
        let used = match values.next() {
            Some(Ok(value)) => {
                found.push(value);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = from.get(used..).unwrap_or_default();
    }
    found
}

/// Whether a text ends before its first object does: in a text of it, or in a list or another object. That only the last
/// bracket is missing can be mended.
fn ends_inside(words: &str) -> bool {
    let Some(from) = words.find('{').and_then(|start| words.get(start..)) else { return false };
    let (mut depth, mut quoted, mut escaped) = (0_i64, false, false);
    for c in from.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    quoted || depth > 1
}

fn mended(words: &str) -> Option<Value> {
    let from = words.find('{')?;
    // Escaping to ASCII would break characters beyond the basic plane.
    let options = llm_json::RepairOptions { ensure_ascii: false, ..Default::default() };
    llm_json::loads(words.get(from..)?, &options).ok().filter(Value::is_object)
}

/// Whether a text can be searched and mended at a bounded price: the mender recurses at every bracket and looks ahead over
/// white space, so that a text made of nothing else could exhaust the stack or the patience.
fn manageable(words: &str) -> bool {
    const BRACKETS: usize = 1024;
    const BLANKS: usize = 256;
    let (mut brackets, mut blanks) = (0, 0);
    for c in words.chars() {
        brackets += usize::from(matches!(c, '{' | '['));
        blanks = if c.is_whitespace() { blanks + 1 } else { 0 };
        if brackets > BRACKETS || blanks > BLANKS {
            return false;
        }
    }
    true
}

fn valid(validator: &Validator, value: Value) -> Result<Value, String> {
    const SHOWN: usize = 5;
    if !value.is_object() {
        return Err("it is JSON, but not an object".into());
    }
    if validator.is_valid(&value) {
        return Ok(value);
    }
    let errors: Vec<String> =
        validator.iter_errors(&value).take(SHOWN).map(|error| sentence(&error)).collect();
    Err(errors.join("; "))
}

fn sentence(error: &ValidationError<'_>) -> String {
    // The validator names only a few of the allowed values, and a seat cannot choose one that it does not know.
    const NAMED: usize = 20;
    let place = shortened(&place(error.instance_path()));
    if let ValidationErrorKind::Enum { options } = error.kind()
        && let Some(options) = options.as_array().filter(|options| options.len() <= NAMED)
    {
        let was = shortened(&error.instance().to_string());
        let may: Vec<String> = options.iter().map(Value::to_string).collect();
        let one_of = if may.len() == 1 { "" } else { "one of " };
        return format!("{place} is {was}; it must be {one_of}{}", may.join(", "));
    }
    format!("{place}: {}", shortened(&error.to_string()))
}

/// `counterpoints[0].target`, as a person would write it.
fn place(path: &Location) -> String {
    let mut place = String::new();
    for segment in path {
        match segment {
            LocationSegment::Property(name) if place.is_empty() => place.push_str(&name),
            LocationSegment::Property(name) => place.extend([".", &name]),
            LocationSegment::Index(index) => place.push_str(&format!("[{index}]")),
        }
    }
    if place.is_empty() { "the object".into() } else { place }
}

fn shortened(sentence: &str) -> String {
    const MOST: usize = 300;
    // What is wrong stands at the end of a validator's sentence, after the value that it is about.
    let count = sentence.chars().count();
    if count <= MOST {
        return sentence.to_owned();
    }
    let head: String = sentence.chars().take(MOST / 3).collect();
    let tail: String = sentence.chars().skip(count - 2 * MOST / 3).collect();
    format!("{head} ... {tail}")
}

/// Compiling a schema costs more than a thousand validations with it, and debates of one protocol share their schemas.
fn validator(schema: &Schema) -> Result<Arc<Validator>, String> {
    // Schemas may name the ids of one debate, so the number of different ones has no bound of its own.
    const KEPT: usize = 128;
    static COMPILED: LazyLock<Mutex<HashMap<Value, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let compiled = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(validator) = compiled().get(&schema.json) {
        return Ok(validator.clone());
    }
    let validator = jsonschema::validator_for(&schema.json)
        .map_err(|why| format!("the schema {} of the protocol is not one: {why}", schema.name))?;
    let validator = Arc::new(validator);
    let mut kept = compiled();
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(schema.json.clone(), validator.clone());
    Ok(validator)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(text: &str, finish: Finish) -> Result<Option<Value>, String> {
        let json = json!({
            "type": "object",
            "properties": {"stance": {"enum": ["agree", "disagree"]}, "score": {"type": "number"}},
            "required": ["stance"],
            "additionalProperties": false,
        });
        read(Some(&Schema { name: "stance".into(), json }), text, finish, usize::MAX)
    }

    #[test]
    fn rule_6_parses_and_repairs_locally() {
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
            assert_eq!(answer(text, Finish::End), Ok(Some(agree.clone())), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_mended_goes_back_with_the_validation_error() {
        for (text, said) in [
            ("I agree.", "no JSON object"),
            ("", "empty"),
            ("<think>I wonder", "empty"),
            ("[1, 2]", "not an object"),
            ("\"agree\"", "not an object"),
            ("{}", "the object: \"stance\" is a required property"),
            (r#"{"stance": "perhaps"}"#, r#"stance is "perhaps"; it must be one of "agree", "disagree""#),
            (r#"{"stance": "agree", "score": "7"}"#, "score: \"7\" is not of type \"number\""),
            (r#"{"stance": "agree", "extra": 1}"#, "extra"),
            (r#"My answer: {"stance": "agree"}, and not {"stance": "disagree"}"#, "2 different JSON objects"),
            (r#"{"stance": "agree", "because": "I would have sa"#, "ends in the middle"),
            (r#"{"stance": "agree", "points": ["one""#, "ends in the middle"),
        ] {
            let why = answer(text, Finish::End).unwrap_err();
            assert!(why.contains(said), "{text}: {why}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_is_never_completed_for_the_seat() {
        let why = answer(r#"{"stance": "agree"#, Finish::Length).unwrap_err();
        assert!(why.contains("cut off"), "{why}");
        assert!(answer(r#"{"stance": "agree"} and fur"#, Finish::Length).is_ok());
    }

    #[test]
    fn hostile_answers_cost_little_and_break_nothing() {
        for text in ["[".repeat(1 << 18), "{".repeat(1 << 18), format!("{{a{}", " ".repeat(1 << 18))] {
            assert!(answer(&text, Finish::End).is_err());
        }
        let smile = answer("{stance: 'agree', 'score': 1, \u{1F600}: 2,}", Finish::End).unwrap_err();
        assert!(smile.contains('\u{1F600}'), "{smile}");
    }

    #[test]
    fn plain_text_must_only_be_there() {
        assert_eq!(read(None, "Yes.", Finish::End, 4), Ok(None));
        assert!(read(None, " \n", Finish::End, 4).is_err());
        assert!(read(None, "<think>Hm</think> ", Finish::End, 100).is_err());
    }

    /// "Name all allowed values", and where in the answer they are allowed.
    #[test]
    fn a_repair_names_the_place_and_every_value_that_may_stand_there() {
        let why = |count: usize| {
            let labels: Vec<String> = (1..=count).map(|number| format!("Debater {number}")).collect();
            let target = json!({"properties": {"target": {"enum": labels}}});
            let json = json!({"properties": {"counterpoints": {"items": target}}});
            let text = r#"{"counterpoints": [{"target": "Debater Z"}]}"#;
            read(Some(&Schema { name: "n".into(), json }), text, Finish::End, usize::MAX).unwrap_err()
        };
        let named = r#"counterpoints[0].target is "Debater Z"; it must be one of "Debater 1", "Debater 2", "Debater 3""#;
        assert_eq!(why(3), named);
        assert!(why(20).ends_with("\"Debater 19\", \"Debater 20\""), "{}", why(20));
        assert!(why(21).starts_with("counterpoints[0].target: \"Debater Z\" is not one of"), "{}", why(21));
        assert!(!why(21).contains("Debater 21"), "{}", why(21));
        assert_eq!(why(1), r#"counterpoints[0].target is "Debater Z"; it must be "Debater 1""#);
    }

    /// Rule 8, "limits on everything: message length".
    #[test]
    fn an_answer_that_is_too_long_is_not_read() {
        let why = read(None, "Yes, yes.", Finish::End, 8).unwrap_err();
        assert_eq!(why, "the answer has 9 bytes, and at most 8 are read: answer more briefly");
        assert_eq!(bytes_max(&Limits { output_tokens: 3, ..Limits::default() }), 48);
        assert_eq!(["", "a", "a\u{e9}", "a\u{e9}b"].map(|text| cut(text, 2)), ["", "a", "a", "a"]);
        assert_eq!(cut("a\u{e9}b", 3), "a\u{e9}");
    }
}
