//! How templates become prompts.
//!
//! A template is a Handlebars file beside its protocol. The line [`PRIVATE`] divides it: what stands above is the
//! same for all seats of a phase and is rendered once; what stands below is the seat's own. Values are never
//! rendered again, so template syntax in an answer stays text; there is no HTML escaping, and a variable that is
//! missing is an error.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agon_core::{Ask, Corrupt, Prompt, PromptTemplate, ReplySchema, Seat, SeatThread};
use handlebars::{Context, Handlebars};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

/// The line between what all seats read and what only one does.
pub const PRIVATE: &str = "{{!-- private --}}\n";

/// Makes a value at its first use and keeps it, for instance a protocol's compiled templates.
pub fn made_once<T>(
    kept: &'static OnceLock<T>,
    make: impl FnOnce() -> Result<T, Corrupt>,
) -> Result<&'static T, Corrupt> {
    if let Some(made) = kept.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(kept.get_or_init(|| made))
}

/// A protocol's templates, compiled.
#[derive(Debug)]
pub struct PromptSet {
    registry: Handlebars<'static>,
}

impl PromptSet {
    /// Compiles the templates.
    pub fn new(templates: &[PromptTemplate]) -> Result<Self, Corrupt> {
        let mut registry = Handlebars::new();
        registry.set_strict_mode(true);
        registry.register_escape_fn(handlebars::no_escape);
        for template in templates {
            let (shared, tail) = template.text.split_once(PRIVATE).unwrap_or((template.text, ""));
            for (part, text) in [("shared", shared), ("tail", tail)] {
                let registered = registry.register_template_string(&name(template.file, part), text);
                registered
                    .map_err(|why| Corrupt::Render { file: template.file.into(), why: why.to_string() })?;
            }
        }
        Ok(Self { registry })
    }

    /// The part that all seats read.
    pub fn shared(&self, file: &str, context: &impl Serialize) -> Result<Arc<str>, Corrupt> {
        self.render(file, "shared", &made_context(file, context)?).map(Arc::from)
    }

    /// The part that only one seat reads.
    pub fn tail(&self, file: &str, context: &impl Serialize) -> Result<String, Corrupt> {
        self.render(file, "tail", &made_context(file, context)?)
    }

    /// A prompt with both parts of one template rendered from one context.
    pub fn whole(&self, system: &Arc<str>, file: &str, context: &impl Serialize) -> Result<Prompt, Corrupt> {
        let context = made_context(file, context)?;
        Ok(Prompt {
            system: system.clone(),
            shared: self.render(file, "shared", &context)?.into(),
            tail: self.render(file, "tail", &context)?,
        })
    }

    fn render(&self, file: &str, part: &str, context: &Context) -> Result<String, Corrupt> {
        let rendered = self.registry.render_with_context(&name(file, part), context);
        rendered.map_err(|why| Corrupt::Render { file: file.to_owned(), why: why.to_string() })
    }
}

fn made_context(file: &str, context: &impl Serialize) -> Result<Context, Corrupt> {
    Context::wraps(context).map_err(|why| Corrupt::Render { file: file.to_owned(), why: why.to_string() })
}

fn name(file: &str, part: &str) -> String {
    format!("{file}#{part}")
}

/// A new ask of this seat, with its own model and no earlier turns.
pub fn new_ask(seat: &Seat, prompt: Prompt, schema: Option<Arc<ReplySchema>>) -> Ask {
    Ask {
        id: 0,
        seat: seat.id.clone(),
        model: seat.model.clone(),
        label: None,
        about: None,
        thread: SeatThread::Fresh,
        prompt,
        schema,
        within_ms: None,
        at_once: None,
        repeats: None,
        firm: false,
    }
}

/// The JSON Schema of a reply's Rust type, with everything inlined.
pub fn schema_of<T: JsonSchema>(name: &str) -> ReplySchema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut json = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut json);
    ReplySchema { name: name.to_owned(), json }
}

/// Schemas that list the ids of a debate, by what they list. Debates of one shape list the same, so the schemas of many debates are
/// made once.
#[derive(Debug, Default)]
pub struct ListedSchemas {
    kept: Mutex<HashMap<String, Arc<ReplySchema>>>,
}

/// Ids depend on what was said, so the number of schemas has no bound of its own.
const LISTED_SCHEMAS_MAX: usize = 256;

impl ListedSchemas {
    /// The schema of this kind that lists these ids, made at its first use. An id has no line break.
    pub fn get(
        &self,
        kind: &str,
        lists: &[&[String]],
        make: impl FnOnce() -> ReplySchema,
    ) -> Arc<ReplySchema> {
        let mut key = kind.to_owned();
        for list in lists {
            list.iter().for_each(|id| key.extend(["\n", id]));
            key.push_str("\n\n");
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= LISTED_SCHEMAS_MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        Arc::clone(kept.entry(key).or_insert_with(|| Arc::new(make())))
    }
}

/// Describes each entry of a list. A person or a small model is asked for the entries one by one, with this question.
pub fn entry_question(question: &'static str) -> impl schemars::transform::Transform {
    move |list: &mut schemars::Schema| {
        if let Some(Value::Object(entry)) = list.get_mut("items") {
            entry.insert("description".into(), question.into());
        }
    }
}

/// Removes what tells a model nothing and what strict servers refuse: titles, number formats, defaults.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            // A property may have one of these names, too; then its value is a schema and stays.
            map.retain(|key, value| {
                value.is_object() || !matches!(key.as_str(), "title" | "format" | "default")
            });
            // Enum values that carry a comment each become one plain list.
            if let Some(words) =
                map.get("oneOf").and_then(Value::as_array).and_then(|choices| constants(choices))
            {
                map.shift_remove("oneOf");
                map.insert("type".into(), "string".into());
                map.insert("enum".into(), words.into());
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn constants(choices: &[Value]) -> Option<Vec<Value>> {
    choices.iter().map(|choice| choice.get("const").filter(|word| word.is_string()).cloned()).collect()
}

/// Restricts the string at `pointer` to these values.
pub fn restrict(mut schema: ReplySchema, pointer: &str, values: &[String]) -> ReplySchema {
    if let Some(Value::Object(place)) = schema.json.pointer_mut(pointer) {
        place.insert("enum".into(), values.into());
    }
    schema
}

/// Lists the values that the string at `pointer` should have. Others are not refused: an id or a label that does not exist is for the
/// protocol to verify, and it costs a seat its declaration, not its reply.
pub fn list_values(mut schema: ReplySchema, pointer: &str, values: &[String]) -> ReplySchema {
    if let Some(Value::Object(place)) = schema.json.pointer_mut(pointer) {
        place.shift_remove("type");
        place.insert(
            "anyOf".into(),
            serde_json::json!([{"type": "string", "enum": values}, {"type": "string"}]),
        );
    }
    schema
}

/// Takes a field that does not apply out of a schema.
pub fn remove_field(schema: &mut ReplySchema, field: &str) {
    if let Some(Value::Object(fields)) = schema.json.pointer_mut("/properties") {
        fields.shift_remove(field);
    }
}
