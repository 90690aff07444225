//! What kind of value a JSON Schema asks for.

use agon_host::clean_line;
use serde_json::Value;

use super::EmptyLine;

/// The schema that every value conforms to.
pub(super) static ANY_VALUE: Value = Value::Bool(true);

/// A schema, as the form reads it.
pub(super) struct FieldSchema<'a> {
    /// The part with the keywords: the only alternative to null, or the whole schema.
    pub(super) schema: &'a Value,
    pub(super) kind: FormFieldKind<'a>,
    pub(super) is_nullable: bool,
    pub(super) description: Option<&'a str>,
}

pub(super) enum FormFieldKind<'a> {
    /// The only allowed value.
    Fixed(Value),
    /// One of these values, with the descriptions of those that have one.
    Choice(Vec<Value>, Vec<Option<&'a str>>),
    YesNo,
    Number {
        is_integer: bool,
    },
    Text,
    List,
    Object,
    /// One of several schemas.
    OneOf(Vec<&'a Value>),
    /// Anything else must be typed as JSON.
    Json,
}

impl<'a> FieldSchema<'a> {
    pub(super) fn read(schema: &'a Value) -> Self {
        let description = schema.get("description").and_then(Value::as_str);
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let Some(alternatives) = alternatives else {
            let (kind, is_nullable) = kind_without_alternatives(schema);
            return Self { schema, kind, is_nullable, description };
        };
        let kinds: Vec<&Value> = alternatives.iter().filter(|kind| !is_null(kind)).collect();
        let is_nullable = kinds.len() < alternatives.len();
        let fixed: Vec<Value> = kinds.iter().filter_map(|kind| only_value(kind)).collect();
        if fixed.len() == kinds.len() && !fixed.is_empty() {
            let about = kinds.iter().map(|kind| kind.get("description").and_then(Value::as_str)).collect();
            return Self { schema, kind: FormFieldKind::Choice(fixed, about), is_nullable, description };
        }
        // Values that are listed beside any other text are the ones to choose from.
        let is_any_text =
            |kind: &Value| kind.get("type") == Some(&Value::from("string")) && kind.get("enum").is_none();
        match kinds.as_slice() {
            [] => Self { schema, kind: FormFieldKind::Fixed(Value::Null), is_nullable: false, description },
            [listed, any] if listed.get("enum").is_some() && is_any_text(any) => {
                Self { is_nullable, description, ..Self::read(listed) }
            }
            [only] => {
                let inner = Self::read(only);
                let (is_nullable, description) =
                    (is_nullable || inner.is_nullable, description.or(inner.description));
                Self { is_nullable, description, ..inner }
            }
            _ => Self { schema, kind: FormFieldKind::OneOf(kinds), is_nullable, description },
        }
    }
}

/// The fields of an object, in the order in which they are asked for.
pub(super) fn fields(schema: &Value) -> Vec<(&str, &Value, EmptyLine)> {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let described = properties.into_iter().flatten().filter(|(_, field)| **field != Value::Bool(false));
    let described = described.map(|(name, field)| {
        let is_required = required.contains(&name.as_str());
        (name.as_str(), field, if is_required { EmptyLine::Rejected } else { EmptyLine::Omits })
    });
    let other = schema.get("additionalProperties").unwrap_or(&ANY_VALUE);
    let undescribed =
        required.iter().filter(|name| properties.is_none_or(|known| !known.contains_key(**name)));
    described.chain(undescribed.map(|name| (*name, other, EmptyLine::Rejected))).collect()
}

/// What an alternative is called.
pub(super) fn title(schema: &Value, index: usize) -> String {
    let word = |key: &str| schema.get(key).and_then(Value::as_str);
    let word = word("title").or_else(|| word("description")).or_else(|| word("type"));
    word.map_or_else(|| format!("kind {}", index + 1), clean_line)
}

fn kind_without_alternatives(schema: &Value) -> (FormFieldKind<'_>, bool) {
    const TYPED_AS_JSON: &[&str] =
        &["$ref", "allOf", "not", "if", "patternProperties", "prefixItems", "contains"];
    if TYPED_AS_JSON.iter().any(|keyword| schema.get(keyword).is_some()) {
        return (FormFieldKind::Json, false);
    }
    if let Some(value) = schema.get("const") {
        return (FormFieldKind::Fixed(value.clone()), false);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        let is_nullable = choices.len() < values.len();
        return match choices.is_empty() {
            true => (FormFieldKind::Fixed(Value::Null), false),
            false => (FormFieldKind::Choice(choices, Vec::new()), is_nullable),
        };
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ if schema.get("items").is_some() => vec!["array"],
        _ => Vec::new(),
    };
    let is_nullable = types.contains(&"null");
    let types: Vec<&str> = types.into_iter().filter(|word| *word != "null").collect();
    let kind = match types.as_slice() {
        ["string"] => FormFieldKind::Text,
        ["boolean"] => FormFieldKind::YesNo,
        ["number"] | ["integer", "number"] | ["number", "integer"] => {
            FormFieldKind::Number { is_integer: false }
        }
        ["integer"] => FormFieldKind::Number { is_integer: true },
        ["array"] => FormFieldKind::List,
        ["object"] => FormFieldKind::Object,
        [] if is_nullable => return (FormFieldKind::Fixed(Value::Null), false),
        _ => FormFieldKind::Json,
    };
    (kind, is_nullable)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || only_value(schema) == Some(Value::Null)
}

fn only_value(schema: &Value) -> Option<Value> {
    let single = schema.get("enum").and_then(Value::as_array).filter(|values| values.len() == 1);
    schema.get("const").or_else(|| single?.first()).cloned()
}
