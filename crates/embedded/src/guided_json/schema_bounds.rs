//! A schema with a limit on everything.
//!
//! A model that does not end a list or a sentence would use up all its tokens on it. So every string and every list gets a
//! share of the answer's tokens: those of an object are divided among the fields that contain strings, those of a list among
//! its entries. The bounded schema allows less than the original, never more, except for keywords that llguidance has no
//! grammar for: `uniqueItems` of lists with two entries or more, `not`, `if`, `contains`, `dependentRequired`,
//! `dependentSchemas`, `propertyNames`, `unevaluatedItems`, `unevaluatedProperties`, a `oneOf` whose parts overlap, and an
//! unknown `format`. There the grammar is wider, and the engine validates the answer as it validates any other.

use serde_json::{Map, Value, json};

/// The schema of an answer of at most so many tokens, with llguidance's options.
pub(crate) fn bounded_schema(schema: &Value, tokens: usize) -> Value {
    let mut bounded = bound_value(schema, tokens, true);
    if let Value::Object(map) = &mut bounded {
        map.insert(
            "x-guidance".into(),
            json!({
                // Small models like to write white space without end.
                "whitespace_flexible": false,
                "coerce_one_of": true,
                "lenient": true,
                // No text needs other escapes or control characters.
                "json_allowed_escapes": "nt\"\\",
            }),
        );
    }
    bounded
}

/// How many values the model has to choose: numbers, enumerations and booleans.
pub(super) fn count_choices(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => {
            let is_choice =
                CHOICE_TYPES.iter().any(|kind| allows_type(map, kind)) || map.contains_key("enum");
            usize::from(is_choice) + map.values().map(count_choices).sum::<usize>()
        }
        Value::Array(all) => all.iter().map(count_choices).sum(),
        _ => 0,
    }
}

/// The characters of a string per token, as in English. With other languages the last fields may have to be kept short.
const CHARS_PER_TOKEN: usize = 5;
/// No string is limited to less: nothing could be said in it.
const STRING_CHARS_MIN: usize = 40;
/// Nobody reads more in one field.
const STRING_CHARS_MAX: usize = 4_000;
/// If a list has several entries, each gets at least these tokens: for a sentence, or for a value.
const SENTENCE_ENTRY_TOKENS: usize = 40;
const VALUE_ENTRY_TOKENS: usize = 12;
/// Nobody makes more points at a time.
const ENTRIES_MAX: usize = 8;
/// The name of a field with its punctuation, and a value that is not a string.
const FIELD_TOKENS: usize = 12;
/// The limit of numbers without one: JSON can write numbers that no program reads.
const NUMBER_MAX: f64 = 1_000_000_000.0;
/// How far an exclusive limit is moved inwards to become an inclusive one.
const EXCLUSIVE_MARGIN: f64 = 0.001;

const CHOICE_TYPES: &[&str] = &["number", "integer", "boolean"];
const COMBINING_KEYWORDS: &[&str] = &["anyOf", "oneOf", "allOf"];
const ANNOTATIONS: &[&str] = &["title", "description", "default", "examples", "$comment", "deprecated"];

/// `alone` means that no other schema describes the same value: only then may an object be closed to other fields.
fn bound_value(schema: &Value, tokens: usize, alone: bool) -> Value {
    let empty = Map::new();
    let given = match schema {
        Value::Object(map) => map,
        Value::Bool(true) => &empty,
        _ => return schema.clone(),
    };
    if given.contains_key("enum") || given.contains_key("const") || given.contains_key("$ref") {
        return schema.clone();
    }
    let mut map = given.clone();
    if alone && given.keys().all(|key| ANNOTATIONS.contains(&key.as_str())) {
        map.insert("type".into(), json!(["string", "number", "boolean", "null"]));
    }
    let combined = COMBINING_KEYWORDS.iter().any(|key| given.contains_key(*key));
    let separate =
        !given.keys().any(|key| matches!(key.as_str(), "properties" | "required" | "items" | "allOf"));
    for key in COMBINING_KEYWORDS {
        if let Some(Value::Array(alternatives)) = map.get_mut(*key) {
            alternatives.iter_mut().for_each(|one| *one = bound_value(one, tokens, alone && separate));
        }
    }
    if allows_type(&map, "string") && !map.contains_key("pattern") {
        let most = (tokens * CHARS_PER_TOKEN).clamp(STRING_CHARS_MIN, STRING_CHARS_MAX);
        set_limit(&mut map, "minLength", "maxLength", most);
    }
    if allows_type(&map, "number") || allows_type(&map, "integer") {
        bound_number(&mut map);
    }
    if allows_type(&map, "array") || given.contains_key("items") {
        bound_list(&mut map, tokens);
    }
    if allows_type(&map, "object") || given.contains_key("properties") {
        bound_object(&mut map, tokens, alone && !combined);
    }
    Value::Object(map)
}

fn bound_number(map: &mut Map<String, Value>) {
    let given = |key: &str| map.get(key).and_then(Value::as_f64);
    let (above, below) = (given("exclusiveMinimum"), given("exclusiveMaximum"));
    let least = above.into_iter().chain(given("minimum")).reduce(f64::max);
    let most = below.into_iter().chain(given("maximum")).reduce(f64::min);
    let reach = |other: Option<f64>| NUMBER_MAX.max(2.0 * other.unwrap_or_default().abs());
    let (low, high) = (least.unwrap_or(-reach(most)), most.unwrap_or(reach(least)));
    if allows_type(map, "number") {
        // llguidance accepts an exclusive limit itself if the digits begin alike, so the limit is made inclusive.
        let margin = EXCLUSIVE_MARGIN.min((high - low) * EXCLUSIVE_MARGIN);
        let low = if above == Some(low) { low + margin } else { low };
        let high = if below == Some(high) { high - margin } else { high };
        map.retain(|key, value| !(key.starts_with("exclusiveM") && value.is_number()));
        map.insert("minimum".into(), low.into());
        map.insert("maximum".into(), high.into());
    } else {
        map.entry("minimum").or_insert((low as i64).into());
        map.entry("maximum").or_insert((high as i64).into());
    }
}

fn bound_list(map: &mut Map<String, Value>, tokens: usize) {
    let first = map.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
    let items = map.get("items").cloned().unwrap_or(Value::Bool(true));
    let entry = if has_free_text(&items) { SENTENCE_ENTRY_TOKENS } else { VALUE_ENTRY_TOKENS };
    let distinct = map.get("uniqueItems").and_then(Value::as_bool).unwrap_or_default();
    // The grammar cannot compare entries, but a single entry is unique.
    let most = if distinct { 1 } else { (tokens / entry).clamp(1, ENTRIES_MAX) };
    let most = set_limit(map, "minItems", "maxItems", most.max(first));
    let share = tokens / most.max(1);
    if let Some(Value::Array(items)) = map.get_mut("prefixItems") {
        items.iter_mut().for_each(|item| *item = bound_value(item, share, true));
    }
    map.insert("items".into(), bound_value(&items, share, true));
}

fn bound_object(map: &mut Map<String, Value>, tokens: usize, alone: bool) {
    let text_fields = properties(map).filter(|(_, property)| has_free_text(property)).count();
    let share = tokens.saturating_sub(fixed_tokens(map)) / text_fields.max(1);
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(|property| *property = bound_value(property, share, true));
    }
    let possible = properties(map).filter(|(_, property)| **property != Value::Bool(false));
    let names: Vec<String> = possible.map(|(name, _)| name.clone()).collect();
    let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
    let known = required.filter_map(Value::as_str).all(|name| names.iter().any(|known| known == name));
    let least = map.get("minProperties").and_then(Value::as_u64).unwrap_or_default();
    if !alone || !known || least > names.len() as u64 && !names.is_empty() {
        return;
    }
    if names.is_empty() {
        return bound_free_names(map, tokens);
    }
    map.insert("additionalProperties".into(), Value::Bool(false));
    map.shift_remove("patternProperties");
    // A model that may leave out fields leaves out the most important ones.
    if !map.contains_key("maxProperties") {
        map.shift_remove("minProperties");
        map.insert("required".into(), names.into());
    }
}

/// Limits an object whose fields may have any name.
fn bound_free_names(map: &mut Map<String, Value>, tokens: usize) {
    let free = map.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
    if free != Value::Bool(false) {
        let most = (tokens / SENTENCE_ENTRY_TOKENS).clamp(1, ENTRIES_MAX);
        let most = set_limit(map, "minProperties", "maxProperties", most);
        map.insert("additionalProperties".into(), bound_value(&free, tokens / most.max(1), true));
    }
}

/// Sets an upper limit that is not above the given one and not below the required minimum.
fn set_limit(map: &mut Map<String, Value>, least: &str, most: &str, wanted: usize) -> usize {
    let given = |key: &str| map.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let limit = wanted.max(given(least).unwrap_or_default()).min(given(most).unwrap_or(usize::MAX));
    map.insert(most.into(), limit.into());
    limit
}

/// The tokens of an object that are not for strings.
fn fixed_tokens(map: &Map<String, Value>) -> usize {
    let tokens = |property: &Value| match property {
        Value::Object(inner) if !has_free_text(property) => FIELD_TOKENS + fixed_tokens(inner),
        _ => FIELD_TOKENS,
    };
    properties(map).map(|(_, property)| tokens(property)).sum()
}

/// Whether it contains a string whose text is free.
fn has_free_text(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return *schema == Value::Bool(true) };
    if map.contains_key("enum") || map.contains_key("const") {
        return false;
    }
    let alternatives = || COMBINING_KEYWORDS.iter().filter_map(|key| map.get(*key)?.as_array()).flatten();
    allows_type(map, "string")
        || map.get("items").is_some_and(has_free_text)
        || map.get("additionalProperties").is_some_and(|free| free.is_object() && has_free_text(free))
        || properties(map).any(|(_, property)| has_free_text(property))
        || alternatives().any(has_free_text)
}

fn properties(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn allows_type(map: &Map<String, Value>, kind: &str) -> bool {
    match map.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}
