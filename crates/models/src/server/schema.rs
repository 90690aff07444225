//! A JSON Schema in the dialect of a server.
//!
//! What a dialect has no keyword for is said in the description instead, where the model reads it; the engine checks the
//! answer against the whole schema in any case.

use serde_json::{Map, Value, json};

/// Anthropic refuses a schema that limits lengths and numbers, and knows `anyOf` for every choice.
pub(super) fn anthropic(schema: &Value) -> Value {
    const SAID: &[&str] = &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    ];
    translate(schema, &|map| {
        let long = map.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 1);
        say(map, |key| SAID.contains(&key) || (long && key == "minItems"));
        map.remove("$schema");
        if let Some(choices) = map.remove("oneOf") {
            map.insert("anyOf".into(), choices);
        }
    })
}

/// OpenAI's strict mode refuses a schema that limits the length of texts, among others.
pub(super) fn openai(schema: &Value) -> Value {
    const SAID: &[&str] = &["minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"];
    translate(schema, &|map| say(map, |key| SAID.contains(&key)))
}

/// Gemini has a list of keywords that it knows.
pub(super) fn gemini(schema: &Value) -> Value {
    const KNOWN: &[&str] = &[
        "$anchor",
        "$defs",
        "$id",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "propertyOrdering",
        "required",
        "title",
        "type",
    ];
    translate(schema, &|map| {
        if let Some(only) = map.remove("const") {
            map.insert("enum".into(), json!([only]));
        }
        map.remove("$schema");
        say(map, |key| !KNOWN.contains(&key));
    })
}

/// Moves what `unknown` picks into the description.
fn say(map: &mut Map<String, Value>, unknown: impl Fn(&str) -> bool) {
    let moved: Vec<String> =
        map.iter().filter(|(key, _)| unknown(key)).map(|(key, value)| format!("{key}: {value}")).collect();
    if moved.is_empty() {
        return;
    }
    map.retain(|key, _| !unknown(key));
    let moved = format!("({})", moved.join(", "));
    let description = match map.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description} {moved}"),
        None => moved,
    };
    map.insert("description".into(), description.into());
}

/// Applies `change` to a schema and to every schema in it.
fn translate(schema: &Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let within = |key: &str, value: &Value| match (key, value) {
        // What stands under these keys are names, not keywords.
        ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), translate(schema, change))).collect()
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter().map(|schema| translate(schema, change)).collect()
        }
        ("items" | "additionalProperties" | "not" | "contains", schema) => translate(schema, change),
        _ => value.clone(),
    };
    let mut map: Map<String, Value> =
        map.iter().map(|(key, value)| (key.clone(), within(key, value))).collect();
    change(&mut map);
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "maximum": {"type": ["string", "null"], "maxLength": 9, "description": "The most."},
                "score": {"type": "number", "minimum": 0, "maximum": 1},
                "points": {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "string", "maxLength": 5}},
                "one": {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}},
                "kind": {"oneOf": [{"const": "x"}, {"type": "integer", "multipleOf": 2}]},
            },
            "required": ["score"],
        })
    }

    #[test]
    fn what_anthropic_refuses_is_said_in_words() {
        let told = anthropic(&schema());
        assert_eq!(
            told["properties"],
            json!({
                "maximum": {"type": ["string", "null"], "description": "The most. (maxLength: 9)"},
                "score": {"type": "number", "description": "(minimum: 0, maximum: 1)"},
                "points": {
                    "type": "array", "description": "(minItems: 2, maxItems: 3)",
                    "items": {"type": "string", "description": "(maxLength: 5)"},
                },
                "one": {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}},
                "kind": {"anyOf": [{"const": "x"}, {"type": "integer", "description": "(multipleOf: 2)"}]},
            })
        );
        assert_eq!(told["required"], json!(["score"]));
    }

    #[test]
    fn what_gemini_does_not_know_is_said_in_words() {
        let told = gemini(&schema());
        assert_eq!(
            told["properties"],
            json!({
                "maximum": {"type": ["string", "null"], "description": "The most. (maxLength: 9)"},
                "score": {"type": "number", "minimum": 0, "maximum": 1},
                "points": {
                    "type": "array", "minItems": 2, "maxItems": 3,
                    "items": {"type": "string", "description": "(maxLength: 5)"},
                },
                "one": {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}},
                "kind": {"oneOf": [{"enum": ["x"]}, {"type": "integer", "description": "(multipleOf: 2)"}]},
            })
        );
    }
}
