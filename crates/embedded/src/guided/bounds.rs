//! A schema with a bound on everything.
//!
//! A model that does not find the end of a list or of a sentence would use up all its tokens on it. So every text and every list
//! gets a share of the tokens that the answer may have: those of an object are divided among the fields that hold texts, those of
//! a list among its entries. The bounded schema allows less than the one that was given, never more, except where the library has
//! no grammar for a keyword: `uniqueItems` of lists that need two entries or more, `not`, `if`, `contains`, `dependentRequired`,
//! `dependentSchemas`, `propertyNames`, `unevaluatedItems`, `unevaluatedProperties`, a `oneOf` of which two parts may hold, and a
//! `format` that it does not know. There the grammar is wider, and the engine validates the answer as it does any other.

use serde_json::{Map, Value, json};

/// The schema of an answer that has so many tokens, as the grammar takes it.
pub(crate) fn bounded(schema: &Value, tokens: usize) -> Value {
    let mut bounded = bound(schema, tokens, true);
    if let Value::Object(map) = &mut bounded {
        map.insert(
            "x-guidance".into(),
            json!({
                // White space without end is what small models like best.
                "whitespace_flexible": false,
                "coerce_one_of": true,
                "lenient": true,
                // No text needs the others, and no control character belongs in one.
                "json_allowed_escapes": "nt\"\\",
            }),
        );
    }
    bounded
}

/// In how many places the model has to choose a value: a number, a word out of a few, yes or no.
pub(super) fn choices(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => {
            let chosen = CHOSEN.iter().any(|kind| is(map, kind)) || map.contains_key("enum");
            usize::from(chosen) + map.values().map(choices).sum::<usize>()
        }
        Value::Array(all) => all.iter().map(choices).sum(),
        _ => 0,
    }
}

/// A text has so many characters for each of its tokens, as English has. Where a language has fewer, the last fields are kept short
/// when it comes to that.
const TOKEN_CHARACTERS: usize = 5;
/// The shortest bound for a text: below it nothing can be said.
const TEXT_LEAST: usize = 40;
/// The longest: nobody reads more in one field.
const TEXT_MOST: usize = 4_000;
/// An entry of a list gets no fewer tokens than this, if there is more than one: a sentence, or a value.
const ENTRY_TOKENS: usize = 40;
const VALUE_TOKENS: usize = 12;
/// Nobody makes more points than this at a time.
const ENTRIES_MOST: usize = 8;
/// The name of a field with its marks, and a value that is no text.
const FIELD_TOKENS: usize = 12;
/// Numbers without a bound: JSON can write some that no machine reads.
const NUMBER_MOST: f64 = 1_000_000_000.0;
/// So much more than a number is what must be more than it.
const INSIDE: f64 = 0.001;

const CHOSEN: &[&str] = &["number", "integer", "boolean"];
const COMBINED: &[&str] = &["anyOf", "oneOf", "allOf"];
const NOTES: &[&str] = &["title", "description", "default", "examples", "$comment", "deprecated"];

/// `whole` tells that nothing beside this schema speaks about the same value: only then may it be closed.
fn bound(schema: &Value, tokens: usize, whole: bool) -> Value {
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
    if whole && given.keys().all(|key| NOTES.contains(&key.as_str())) {
        map.insert("type".into(), json!(["string", "number", "boolean", "null"]));
    }
    let combined = COMBINED.iter().any(|key| given.contains_key(*key));
    let apart =
        !given.keys().any(|key| matches!(key.as_str(), "properties" | "required" | "items" | "allOf"));
    for key in COMBINED {
        if let Some(Value::Array(ways)) = map.get_mut(*key) {
            ways.iter_mut().for_each(|way| *way = bound(way, tokens, whole && apart));
        }
    }
    if is(&map, "string") && !map.contains_key("pattern") {
        let most = (tokens * TOKEN_CHARACTERS).clamp(TEXT_LEAST, TEXT_MOST);
        limit(&mut map, "minLength", "maxLength", most);
    }
    if is(&map, "number") || is(&map, "integer") {
        bound_number(&mut map);
    }
    if is(&map, "array") || given.contains_key("items") {
        bound_list(&mut map, tokens);
    }
    if is(&map, "object") || given.contains_key("properties") {
        bound_object(&mut map, tokens, whole && !combined);
    }
    Value::Object(map)
}

fn bound_number(map: &mut Map<String, Value>) {
    let given = |key: &str| map.get(key).and_then(Value::as_f64);
    let (above, below) = (given("exclusiveMinimum"), given("exclusiveMaximum"));
    let least = above.into_iter().chain(given("minimum")).reduce(f64::max);
    let most = below.into_iter().chain(given("maximum")).reduce(f64::min);
    let reach = |other: Option<f64>| NUMBER_MOST.max(2.0 * other.unwrap_or_default().abs());
    let (low, high) = (least.unwrap_or(-reach(most)), most.unwrap_or(reach(least)));
    if is(map, "number") {
        // What must be more than another number lets that number pass, where the two begin alike: the library takes this wrong.
        let inside = INSIDE.min((high - low) * INSIDE);
        let low = if above == Some(low) { low + inside } else { low };
        let high = if below == Some(high) { high - inside } else { high };
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
    let entry = if speaks(&items) { ENTRY_TOKENS } else { VALUE_TOKENS };
    let distinct = map.get("uniqueItems").and_then(Value::as_bool).unwrap_or_default();
    // One entry is unlike the others.
    let most = if distinct { 1 } else { (tokens / entry).clamp(1, ENTRIES_MOST) };
    let most = limit(map, "minItems", "maxItems", most.max(first));
    let share = tokens / most.max(1);
    if let Some(Value::Array(items)) = map.get_mut("prefixItems") {
        items.iter_mut().for_each(|item| *item = bound(item, share, true));
    }
    map.insert("items".into(), bound(&items, share, true));
}

fn bound_object(map: &mut Map<String, Value>, tokens: usize, whole: bool) {
    let speakers = properties(map).filter(|(_, property)| speaks(property)).count();
    let share = tokens.saturating_sub(fixed_tokens(map)) / speakers.max(1);
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(|property| *property = bound(property, share, true));
    }
    let possible = properties(map).filter(|(_, property)| **property != Value::Bool(false));
    let names: Vec<String> = possible.map(|(name, _)| name.clone()).collect();
    let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
    let known = required.filter_map(Value::as_str).all(|name| names.iter().any(|known| known == name));
    let least = map.get("minProperties").and_then(Value::as_u64).unwrap_or_default();
    if !whole || !known || least > names.len() as u64 && !names.is_empty() {
        return;
    }
    if names.is_empty() {
        return bound_names(map, tokens);
    }
    map.insert("additionalProperties".into(), Value::Bool(false));
    map.shift_remove("patternProperties");
    // Whoever may leave out fields leaves out the most telling ones.
    if !map.contains_key("maxProperties") {
        map.shift_remove("minProperties");
        map.insert("required".into(), names.into());
    }
}

/// An object whose fields have any names.
fn bound_names(map: &mut Map<String, Value>, tokens: usize) {
    let free = map.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
    if free != Value::Bool(false) {
        let most = (tokens / ENTRY_TOKENS).clamp(1, ENTRIES_MOST);
        let most = limit(map, "minProperties", "maxProperties", most);
        map.insert("additionalProperties".into(), bound(&free, tokens / most.max(1), true));
    }
}

/// Sets an upper limit, which is no higher than the one that is there and no lower than what is asked for.
fn limit(map: &mut Map<String, Value>, least: &str, most: &str, wanted: usize) -> usize {
    let given = |key: &str| map.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let limit = wanted.max(given(least).unwrap_or_default()).min(given(most).unwrap_or(usize::MAX));
    map.insert(most.into(), limit.into());
    limit
}

/// The tokens of an object that are not for texts.
fn fixed_tokens(map: &Map<String, Value>) -> usize {
    let tokens = |property: &Value| match property {
        Value::Object(inner) if !speaks(property) => FIELD_TOKENS + fixed_tokens(inner),
        _ => FIELD_TOKENS,
    };
    properties(map).map(|(_, property)| tokens(property)).sum()
}

/// Whether there is a text in it whose words are free.
fn speaks(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return *schema == Value::Bool(true) };
    if map.contains_key("enum") || map.contains_key("const") {
        return false;
    }
    let ways = || COMBINED.iter().filter_map(|key| map.get(*key)?.as_array()).flatten();
    is(map, "string")
        || map.get("items").is_some_and(speaks)
        || map.get("additionalProperties").is_some_and(|free| free.is_object() && speaks(free))
        || properties(map).any(|(_, property)| speaks(property))
        || ways().any(speaks)
}

fn properties(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether a value of this kind may come.
fn is(map: &Map<String, Value>, kind: &str) -> bool {
    match map.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}
