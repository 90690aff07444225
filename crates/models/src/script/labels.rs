//! How a script names another seat whose label it cannot know.
//!
//! Labels are dealt by the debate's seed. Where the schema enumerates what may stand (`Debater A`, `Debater C`), a
//! script may write `other`, `other-2`... for the first, the second... of them, a seat's id for the label under
//! which the prompt shows that seat's scripted words, or `mine` for the first id that stands in what only this seat reads.

use agon_engine::Call;
use serde_json::Value;

use super::{Script, What};

/// Shorter texts may be anybody's.
const KNOWN_AGAIN: usize = 24;

/// `value` with such names replaced.
pub(super) fn filled(script: &Script, call: &Call, value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(schema) = &call.schema {
        fill(script, call, &schema.json, &schema.json, &mut value);
    }
    value
}

fn fill(script: &Script, call: &Call, root: &Value, schema: &Value, value: &mut Value) {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    let schema = target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema);
    for branch in ["anyOf", "oneOf", "allOf"] {
        for schema in schema.get(branch).and_then(Value::as_array).into_iter().flatten() {
            fill(script, call, root, schema, value);
        }
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(schema) = schema.get("properties").and_then(|properties| properties.get(name)) {
                    fill(script, call, root, schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fill(script, call, root, schema, item));
            }
        }
        Value::String(text) => {
            let allowed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
            if let Some(label) = label(script, call, &allowed, text) {
                *text = label.to_owned();
            }
        }
        _ => {}
    }
}

fn label<'a>(script: &Script, call: &Call, allowed: &[&'a str], name: &str) -> Option<&'a str> {
    if allowed.contains(&name) {
        return None;
    }
    if name == "mine" {
        let last = call.messages.last()?;
        let tail = last.text.get(last.shared..)?;
        return allowed.iter().copied().find(|id| tail.contains(&format!("[{id}]")));
    }
    if let Some(number) = name.strip_prefix("other") {
        let number =
            if number.is_empty() { Some(1) } else { number.strip_prefix('-')?.parse::<usize>().ok() };
        // With fewer others than the script hoped for, the last one stands for the rest.
        let index = number?.checked_sub(1)?.min(allowed.len().checked_sub(1)?);
        return allowed.get(index).copied();
    }
    let seat = script.seats.get(name)?;
    let replies = seat.values().flatten().flatten();
    let texts = replies.flat_map(|reply| match &reply.what {
        What::Text(text) => text.lines().take(1).collect(),
        What::Say(value) => said(value),
        What::Fail(..) | What::Hang => Vec::new(),
    });
    let shown = texts.filter(|text| !text.trim().is_empty()).find_map(|text| heading(call, allowed, text));
    shown.or_else(|| allowed.first().copied())
}

/// The texts in an answer that are long enough to be known again.
fn said(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) if text.chars().count() >= KNOWN_AGAIN => text.lines().take(1).collect(),
        Value::Array(items) => items.iter().flat_map(said).collect(),
        Value::Object(fields) => fields.values().flat_map(said).collect(),
        _ => Vec::new(),
    }
}

/// The label that stands nearest before `words` in what the seat is given to read.
fn heading<'a>(call: &Call, allowed: &[&'a str], words: &str) -> Option<&'a str> {
    let prompt = &call.messages.last()?.text;
    // What earlier debates said comes before what this one does.
    let before = prompt.get(..prompt.rfind(words)?)?;
    let ends = |label: &str| {
        let whole =
            |at: &usize| !before.as_bytes().get(at + label.len()).is_some_and(u8::is_ascii_alphanumeric);
        before.rmatch_indices(label).map(|(at, _)| at).find(whole).map(|at| at + label.len())
    };
    // Of `Debater B` and `B`, which end at the same place, the longer is the label.
    allowed
        .iter()
        .filter_map(|label| Some((ends(label)?, label.len(), *label)))
        .max()
        .map(|(.., label)| label)
}
