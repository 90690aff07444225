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
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let length = |key: &str| schema.get(key).and_then(Value::as_u64);
        let caption = html! {
            span { (label) @if !needed { small { " (optional)" } } }
            @if let Some(about) = about { small class="about" { (about) } }
        };
        let nullable = nullable.then_some("");
        match self.kind(schema, depth) {
            ValueKind::Object(fields) => html! {
                fieldset class="value" data-kind="object" data-nullable=[nullable] {
                    legend { (caption) }
                    @for (name, schema, required) in fields {
                        div class="field" data-field=(name) data-required[required] {
                            (self.value(schema, &heading(name), required, depth + 1))
                        }
                    }
                }
            },
            ValueKind::List(items) => {
                let fewest = length("minItems").unwrap_or_default();
                let entry = |number: Option<u64>| {
                    html! {
                        div class="entry" {
                            (self.value(items, &number.map_or("Entry".to_owned(), |number| format!("Entry {number}")), true, depth + 1))
                            button type="button" class="quiet" data-remove { "Remove" }
                        }
                    }
                };
                html! {
                    fieldset class="value" data-kind="list" data-nullable=[nullable] {
                        legend { (caption) }
                        @for number in 1..=fewest.clamp(1, ENTRIES_MAX) { (entry(Some(number))) }
                        template { (entry(None)) }
                        button type="button" class="quiet" data-add { "Add an entry" }
                    }
                }
            }
            ValueKind::Choice(words) => html! {
                label class="value" data-kind="text" data-nullable=[nullable] {
                    (caption)
                    select required[needed] {
                        option value="" { "choose" }
                        @for (word, about) in words {
                            option value=(word) { (word) @if !about.is_empty() { ": " (about) } }
                        }
                    }
                }
            },
            ValueKind::YesNo => html! {
                label class="value" data-kind="json" data-nullable=[nullable] {
                    (caption)
                    select required[needed] { option value="" { "choose" } option value="true" { "yes" } option value="false" { "no" } }
                }
            },
            ValueKind::Number { whole } => html! {
                label class="value" data-kind="json" data-nullable=[nullable] {
                    (caption)
                    input type="number" required[needed] step=(if whole { "1" } else { "any" }) min=[number("minimum")] max=[number("maximum")];
                }
            },
            ValueKind::Text => html! {
                label class="value" data-kind="text" data-nullable=[nullable] {
                    (caption)
                    @if length("maxLength").is_some_and(|most| most <= LINE_CHARS_MAX) {
                        input type="text" required[needed] maxlength=[length("maxLength")] autocomplete="off";
                    } @else {
                        textarea rows="3" required[needed] maxlength=[length("maxLength")] {}
                    }
                }
            },
            ValueKind::Json => html! {
                label class="value" data-kind="json" data-nullable=[nullable] {
                    (caption)
                    small class="about" { "Write JSON that conforms to: " code { (schema) } }
                    textarea class="code" rows="4" required[needed] {}
                }
            },
        }
    }
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
