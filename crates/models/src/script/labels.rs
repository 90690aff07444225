//! How a script names another seat although it cannot know the seat's label.
//!
//! Labels are dealt by the debate's seed. Where the schema lists the allowed values (`Debater A`, `Debater C`), a script may
//! write `other`, `other-2`... for the first, second... of them; a seat's id for the label under which the prompt shows that
//! seat's scripted words; or `mine` for the first id in the part of the prompt that only this seat reads.

use agon_engine::ModelCall;
use serde_json::Value;

use super::{ReplyContent, ScriptModel};

/// Shorter texts may occur anywhere, so they do not identify a seat.
const RECOGNIZED_CHARS_MIN: usize = 24;

/// `value` with such names replaced by labels.
pub(super) fn fill_in_labels(script: &ScriptModel, call: &ModelCall, value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(schema) = &call.schema {
        fill_in(script, call, &schema.json, &schema.json, &mut value);
    }
    value
}

fn fill_in(script: &ScriptModel, call: &ModelCall, root: &Value, schema: &Value, value: &mut Value) {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    let schema = target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema);
    for branch in ["anyOf", "oneOf", "allOf"] {
        for schema in schema.get(branch).and_then(Value::as_array).into_iter().flatten() {
            fill_in(script, call, root, schema, value);
        }
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(schema) = schema.get("properties").and_then(|properties| properties.get(name)) {
                    fill_in(script, call, root, schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fill_in(script, call, root, schema, item));
            }
        }
        Value::String(text) => {
            let allowed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
            if let Some(label) = label_for(script, call, &allowed, text) {
                *text = label.to_owned();
            }
        }
        _ => {}
    }
}

fn label_for<'a>(script: &ScriptModel, call: &ModelCall, allowed: &[&'a str], name: &str) -> Option<&'a str> {
    if allowed.contains(&name) {
        return None;
    }
    if name == "mine" {
        let last = call.messages.last()?;
        let own_part = last.text.get(last.shared..)?;
        return allowed.iter().copied().find(|id| own_part.contains(&format!("[{id}]")));
    }
    if let Some(number) = name.strip_prefix("other") {
        let number =
            if number.is_empty() { Some(1) } else { number.strip_prefix('-')?.parse::<usize>().ok() };
        // If there are fewer others than the script expects, use the last one.
        let index = number?.checked_sub(1)?.min(allowed.len().checked_sub(1)?);
        return allowed.get(index).copied();
    }
    let seat = script.seats.get(name)?;
    let replies = seat.values().flatten().flatten();
    let texts = replies.flat_map(|reply| match &reply.content {
        ReplyContent::Text(text) => text.lines().take(1).collect(),
        ReplyContent::Data(value) => recognizable_texts(value),
        ReplyContent::Fail(..) | ReplyContent::Hang => Vec::new(),
    });
    let shown =
        texts.filter(|text| !text.trim().is_empty()).find_map(|text| label_before(call, allowed, text));
    shown.or_else(|| allowed.first().copied())
}

fn recognizable_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) if text.chars().count() >= RECOGNIZED_CHARS_MIN => text.lines().take(1).collect(),
        Value::Array(items) => items.iter().flat_map(recognizable_texts).collect(),
        Value::Object(fields) => fields.values().flat_map(recognizable_texts).collect(),
        _ => Vec::new(),
    }
}

/// The label that comes last before `text` in the prompt.
fn label_before<'a>(call: &ModelCall, allowed: &[&'a str], text: &str) -> Option<&'a str> {
    let prompt = &call.messages.last()?.text;
    // Earlier debates are quoted before this one, so take the last occurrence.
    let before = prompt.get(..prompt.rfind(text)?)?;
    let end_of_words = |words: &str| {
        let is_whole =
            |at: &usize| !before.as_bytes().get(at + words.len()).is_some_and(u8::is_ascii_alphanumeric);
        before.rmatch_indices(words).map(|(at, _)| at).find(is_whole).map(|at| at + words.len())
    };
    // Quoted JSON has the letter of `Debater B` alone.
    let end_of = |label: &str| {
        let letter = label.rsplit_once(' ').map(|(_, letter)| format!("\"{letter}\""));
        end_of_words(label).max(letter.and_then(|letter| end_of_words(&letter)))
    };
    // `Debater B` and `B` end at the same place; the longer one is the label.
    allowed
        .iter()
        .filter_map(|label| Some((end_of(label)?, label.len(), *label)))
        .max()
        .map(|(.., label)| label)
}
