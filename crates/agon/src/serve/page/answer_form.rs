//! A form for any JSON Schema, where a person answers. The script reads it back into JSON by the `data-` attributes.
//!
//! What a form cannot express (a choice between objects, a map) is a text field that takes JSON, so every schema can be answered.

use agon_core::wording::heading;
use maud::{Markup, html};
use serde_json::Value;

/// Deeper values are written as JSON.
const DEPTH_MAX: usize = 5;
/// A string that may be longer gets several lines.
const LINE_CHARS_MAX: u64 = 120;
/// A form has at most this many entries of a list at first.
const ENTRIES_MAX: u64 = 6;

/// The fields of an answer. Without a schema it is plain text.
pub fn answer_form(schema: Option<&Value>) -> Markup {
    let Some(schema) = schema else {
        return html! {
            div class="fields" data-kind="text" { label { span { "Your answer" } textarea rows="8" required {} } }
        };
    };
    let form = SchemaForm { root: schema };
    html! { div class="fields" data-root { (form.value(schema, "Your answer", true, 0)) } }
}

struct SchemaForm<'a> {
    root: &'a Value,
}

/// What kind of value a schema asks for.
enum ValueKind<'a> {
    Object(Vec<(&'a str, &'a Value, bool)>),
    List(&'a Value),
    /// Each word, and what it means.
    Choice(Vec<(&'a str, &'a str)>),
    Text,
    Number {
        whole: bool,
    },
    YesNo,
    Json,
}

impl<'a> SchemaForm<'a> {
    /// The schema that a reference stands for. A reference in a circle ends at some depth.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..8 {
            let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
            match target.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            Some([only]) if schema.get("properties").is_none() => self.resolved(only),
            _ => schema,
        }
    }

    /// The schema without "or null", and whether null is allowed.
    fn without_null(&self, schema: &'a Value) -> (&'a Value, bool) {
        let schema = self.resolved(schema);
        let is_null = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("null");
        let any = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
        if let Some(any) = any {
            let others: Vec<&Value> = any.iter().filter(|schema| !is_null(schema)).collect();
            if let ([only], true) = (others.as_slice(), others.len() < any.len()) {
                return (self.resolved(only), true);
            }
        }
        let types = schema.get("type").and_then(Value::as_array);
        (schema, types.is_some_and(|types| types.iter().any(|kind| kind == "null")))
    }

    fn kind(&self, schema: &'a Value, depth: usize) -> ValueKind<'a> {
        if let Some(words) = choice(schema) {
            return ValueKind::Choice(words);
        }
        if suggestions(schema).is_some() {
            return ValueKind::Text;
        }
        let kind = match schema.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) => {
                let mut kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
                match (kinds.next(), kinds.next()) {
                    (Some(only), None) => only,
                    _ => "",
                }
            }
            _ => "",
        };
        match (kind, schema.get("properties").and_then(Value::as_object), schema.get("items")) {
            ("object", Some(properties), _) if depth < DEPTH_MAX => {
                let required = schema.get("required").and_then(Value::as_array);
                let needs =
                    |name: &str| required.is_some_and(|names| names.iter().any(|needed| needed == name));
                ValueKind::Object(
                    properties.iter().map(|(name, schema)| (name.as_str(), schema, needs(name))).collect(),
                )
            }
            ("array", _, Some(items)) if depth < DEPTH_MAX => ValueKind::List(items),
            ("string", ..) => ValueKind::Text,
            ("number", ..) => ValueKind::Number { whole: false },
            ("integer", ..) => ValueKind::Number { whole: true },
            ("boolean", ..) => ValueKind::YesNo,
            _ => ValueKind::Json,
        }
    }

    /// One value with its label. Inputs are inside their labels, because a list repeats them and ids cannot repeat.
    fn value(&self, given: &'a Value, label: &str, required: bool, depth: usize) -> Markup {
        let (schema, nullable) = self.without_null(given);
        let about =
            [given, schema].iter().find_map(|schema| schema.get("description").and_then(Value::as_str));
        let needed = required && !nullable;
        let name = html! { span { (label) @if !needed { small { " (optional)" } } } };
        let about = html! {
            @if let Some(about) = about { small class="about" { (about) } }
            @if let Some(words) = suggestions(schema) { small class="about" { "For example: " (words.join(", ")) } }
        };
        let nullable = nullable.then_some("");
        let group = |word: &str, inside: Markup| {
            html! {
                fieldset class="value" data-kind=(word) data-nullable=[nullable] { legend { (name) } (about) (inside) }
            }
        };
        match self.kind(schema, depth) {
            ValueKind::Object(fields) => group("object", self.fields(fields, depth)),
            ValueKind::List(items) => group("list", self.entries(schema, items, depth)),
            kind => {
                let word =
                    if matches!(kind, ValueKind::Text | ValueKind::Choice(_)) { "text" } else { "json" };
                html! {
                    label class="value" data-kind=(word) data-nullable=[nullable] { (name) (about) (input(schema, &kind, needed)) }
                }
            }
        }
    }

    fn fields(&self, fields: Vec<(&str, &'a Value, bool)>, depth: usize) -> Markup {
        html! {
            @for (name, schema, required) in fields {
                div class="field" data-field=(name) data-required[required] {
                    (self.value(schema, &heading(name), required, depth + 1))
                }
            }
        }
    }

    /// The entries of a list: as many as are needed at first, and a template for more.
    fn entries(&self, schema: &Value, items: &'a Value, depth: usize) -> Markup {
        let fewest = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
        let entry = || {
            html! {
                div class="entry" {
                    (self.value(items, "Entry", true, depth + 1))
                    button type="button" class="quiet small" data-remove { "Remove" }
                }
            }
        };
        html! {
            @for _ in 0..fewest.clamp(1, ENTRIES_MAX) { (entry()) }
            template { (entry()) }
            button type="button" class="quiet small" data-add { "Add an entry" }
        }
    }
}

/// What a value that is neither an object nor a list is entered into.
fn input(schema: &Value, kind: &ValueKind<'_>, needed: bool) -> Markup {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let most = schema.get("maxLength").and_then(Value::as_u64);
    match kind {
        ValueKind::Choice(words) => html! {
            select required[needed] {
                option value="" { "choose" }
                @for (word, about) in words {
                    option value=(word) { (word) @if !about.is_empty() { ": " (about) } }
                }
            }
        },
        ValueKind::YesNo => html! {
            select required[needed] {
                option value="" { "choose" }
                option value="true" { "yes" }
                option value="false" { "no" }
            }
        },
        ValueKind::Number { whole } => {
            let step = if *whole { "1" } else { "any" };
            html! { input type="number" required[needed] step=(step) min=[number("minimum")] max=[number("maximum")]; }
        }
        ValueKind::Text if most.is_some_and(|most| most <= LINE_CHARS_MAX) => {
            html! { input type="text" required[needed] maxlength=[most] autocomplete="off"; }
        }
        ValueKind::Text => html! { textarea rows="3" required[needed] maxlength=[most] {} },
        ValueKind::Json | ValueKind::Object(_) | ValueKind::List(_) => html! {
            small class="about" { "Write JSON that conforms to: " code { (schema) } }
            textarea class="code" rows="4" required[needed] {}
        },
    }
}

/// The words that are suggested where any text is allowed, if the schema is such a list.
fn suggestions(schema: &Value) -> Option<Vec<&str>> {
    let variants = schema.get("anyOf").and_then(Value::as_array)?;
    let is_text = |variant: &Value| variant.get("type").and_then(Value::as_str) == Some("string");
    let is_free = |variant: &Value| variant.get("enum").is_none() && variant.get("const").is_none();
    let words = variants.iter().filter_map(|variant| variant.get("enum").and_then(Value::as_array)).flatten();
    (variants.iter().all(is_text) && variants.iter().any(is_free))
        .then(|| words.filter_map(Value::as_str).collect())
}

/// The words to choose from, each with what it means, if the schema is such a list.
fn choice(schema: &Value) -> Option<Vec<(&str, &str)>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        // `null` in the list is said by leaving the field empty.
        let words = words.iter().filter(|word| !word.is_null());
        return words.map(|word| Some((word.as_str()?, ""))).collect();
    }
    if let Some(only) = schema.get("const").and_then(Value::as_str) {
        return Some(vec![(only, "")]);
    }
    let variants = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array)?;
    variants
        .iter()
        .map(|variant| {
            let words = variant.get("const").and_then(Value::as_str);
            let about = variant.get("description").and_then(Value::as_str).unwrap_or_default();
            words.map(|word| (word, about))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_value_has_a_field_of_its_own() {
        let schema = json!({
            "type": "object",
            "required": ["word", "points"],
            "properties": {
                "word": {"type": "string", "maxLength": 40, "description": "In a word."},
                "text": {"type": ["string", "null"]},
                "sure": {"type": "number", "minimum": 0.0, "maximum": 1.0},
                "vote": {"$ref": "#/$defs/Vote"},
                "yes": {"type": "boolean"},
                "points": {"type": "array", "minItems": 2, "items": {"type": "string"}},
                "maybe": {"anyOf": [{"$ref": "#/$defs/Vote"}, {"type": "null"}]},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "id": {"anyOf": [{"type": "string", "enum": ["A0", "C0"]}, {"type": "string"}]},
            },
            "$defs": {"Vote": {"oneOf": [{"const": "FOR", "description": "I agree"}, {"const": "AGAINST"}]}},
        });
        let form = answer_form(Some(&schema)).into_string();
        for part in [
            "data-field=\"word\" data-required",
            "In a word.",
            "maxlength=\"40\"",
            "min=\"0\" max=\"1\"",
            "<option value=\"FOR\">FOR: I agree</option>",
            "<option value=\"true\">yes</option>",
            "data-nullable",
            "For example: A0, C0",
            "Write JSON that conforms to",
        ] {
            assert!(form.contains(part), "no {part}: {form}");
        }
        // Two entries at first, and one in the template.
        assert_eq!(form.matches("class=\"entry\"").count(), 3, "{form}");
        assert!(!form.contains(" id="), "an id in a list would repeat: {form}");
    }

    /// A schema comes from a protocol, but it may quote what models said.
    #[test]
    fn words_in_a_schema_stay_text() {
        let schema = json!({"type": "string", "enum": ["<script>", "\"><b>"], "description": "<i>"});
        let form = answer_form(Some(&schema)).into_string();
        assert!(!form.contains("<script>") && !form.contains("<b>") && !form.contains("<i>"), "{form}");
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends_in_a_text_field() {
        let schema = json!({"type": "object", "properties": {"inner": {"$ref": "#"}}});
        assert!(answer_form(Some(&schema)).into_string().contains("Write JSON"));
        let circle = json!({"$ref": "#"});
        assert!(answer_form(Some(&circle)).into_string().contains("Write JSON"));
    }
}
