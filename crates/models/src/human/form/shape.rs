//! What kind of value a JSON Schema wants.

use serde_json::Value;

use super::Need;

/// The schema that everything keeps.
pub(super) static ANYTHING: Value = Value::Bool(true);

/// A schema, read.
pub(super) struct Shape<'a> {
    /// The part that has the keywords: the only alternative beside null, or all of it.
    pub(super) schema: &'a Value,
    pub(super) kind: Kind<'a>,
    /// Whether null will do as well.
    pub(super) nullable: bool,
    /// What it is for.
    pub(super) about: Option<&'a str>,
}

/// The kinds of values that a person can be asked for.
pub(super) enum Kind<'a> {
    /// The only value that it may be.
    Fixed(Value),
    /// One of these, some with a word about them.
    Choice(Vec<Value>, Vec<Option<&'a str>>),
    YesNo,
    Number {
        integer: bool,
    },
    Text,
    List,
    Fields,
    /// One of several kinds.
    Either(Vec<&'a Value>),
    /// Something else, which has to be typed as JSON.
    Json,
}

impl<'a> Shape<'a> {
    pub(super) fn of(schema: &'a Value) -> Self {
        let about = schema.get("description").and_then(Value::as_str);
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let Some(alternatives) = alternatives else {
            let (kind, nullable) = plain(schema);
            return Self { schema, kind, nullable, about };
        };
        let kinds: Vec<&Value> = alternatives.iter().filter(|kind| !is_null(kind)).collect();
        let nullable = kinds.len() < alternatives.len();
        let fixed: Vec<Value> = kinds.iter().filter_map(|kind| only_value(kind)).collect();
        if fixed.len() == kinds.len() && !fixed.is_empty() {
            let told = kinds.iter().map(|kind| kind.get("description").and_then(Value::as_str)).collect();
            return Self { schema, kind: Kind::Choice(fixed, told), nullable, about };
        }
        match kinds.as_slice() {
            [] => Self { schema, kind: Kind::Fixed(Value::Null), nullable: false, about },
            [only] => {
                let inner = Self::of(only);
                Self { about: about.or(inner.about), nullable: nullable || inner.nullable, ..inner }
            }
            _ => Self { schema, kind: Kind::Either(kinds), nullable, about },
        }
    }
}

/// The fields of an object in the order in which they are asked for.
pub(super) fn fields(schema: &Value) -> Vec<(&str, &Value, Need)> {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let described = properties.into_iter().flatten().filter(|(_, field)| **field != Value::Bool(false));
    let described = described.map(|(name, field)| {
        let need = if required.contains(&name.as_str()) { Need::Must } else { Need::CanSkip };
        (name.as_str(), field, need)
    });
    let other = schema.get("additionalProperties").unwrap_or(&ANYTHING);
    let undescribed =
        required.iter().filter(|name| properties.is_none_or(|known| !known.contains_key(**name)));
    described.chain(undescribed.map(|name| (*name, other, Need::Must))).collect()
}

/// What an alternative is called.
pub(super) fn title(schema: &Value, at: usize) -> String {
    let word = |key: &str| schema.get(key).and_then(Value::as_str);
    let word = word("title").or_else(|| word("description")).or_else(|| word("type"));
    word.map_or_else(|| format!("kind {}", at + 1), agon_host::clean_line)
}

fn plain(schema: &Value) -> (Kind<'_>, bool) {
    const BEYOND: &[&str] = &["$ref", "allOf", "not", "if", "patternProperties", "prefixItems", "contains"];
    if BEYOND.iter().any(|keyword| schema.get(keyword).is_some()) {
        return (Kind::Json, false);
    }
    if let Some(value) = schema.get("const") {
        return (Kind::Fixed(value.clone()), false);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let said: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        let nullable = said.len() < values.len();
        return match said.is_empty() {
            true => (Kind::Fixed(Value::Null), false),
            false => (Kind::Choice(said, Vec::new()), nullable),
        };
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ if schema.get("items").is_some() => vec!["array"],
        _ => Vec::new(),
    };
    let nullable = types.contains(&"null");
    let types: Vec<&str> = types.into_iter().filter(|word| *word != "null").collect();
    let kind = match types.as_slice() {
        ["string"] => Kind::Text,
        ["boolean"] => Kind::YesNo,
        ["number"] | ["integer", "number"] | ["number", "integer"] => Kind::Number { integer: false },
        ["integer"] => Kind::Number { integer: true },
        ["array"] => Kind::List,
        ["object"] => Kind::Fields,
        [] if nullable => return (Kind::Fixed(Value::Null), false),
        _ => Kind::Json,
    };
    (kind, nullable)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || only_value(schema) == Some(Value::Null)
}

fn only_value(schema: &Value) -> Option<Value> {
    let single = schema.get("enum").and_then(Value::as_array).filter(|values| values.len() == 1);
    schema.get("const").or_else(|| single?.first()).cloned()
}
