//! A structured answer, asked for one field at a time.
//!
//! A model of this size writes nonsense when it has to write JSON, but sensible sentences when it is asked one thing at a time
//! in plain words. So the schema is walked: a text is the answer to the field's description, limited to a sentence or a few; a
//! choice is the value that the model is most likely to answer; a number is the average of the values that it might answer,
//! weighted by their probability. The result follows the schema because of how it is made.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::EmbeddedError;

/// Answers plain questions. The model does; tests use others.
pub(crate) trait PlainAnswerer {
    /// The answer to a question, with at most so many sentences; may be empty.
    fn answer(&mut self, question: &str, sentences_max: usize) -> Result<String, EmbeddedError>;

    /// The log probability of each of these answers, given the answers so far.
    fn score(&mut self, question: &str, answers: &[String]) -> Result<Vec<f32>, EmbeddedError>;

    /// What the prompt quotes last of this participant or under this id, if anything. A long text is shortened.
    fn last_words_of(&self, who: &str) -> Option<String>;

    /// The first sentence of that, word for word.
    fn quote_of(&self, who: &str) -> Option<String>;
}

/// Asks for everything in the schema and returns the filled document.
pub(crate) fn fill_schema(schema: &Value, answerer: &mut dyn PlainAnswerer) -> Result<Value, EmbeddedError> {
    SchemaWalk { answerer, about: None }.value("the answer", schema)
}

/// The entries of a list that the schema leaves open. A small model that is asked for more repeats the first.
const LIST_ENTRIES: u64 = 1;
/// A text that may have so many characters is an answer; a shorter one is a remark.
const ANSWER_CHARS_MIN: u64 = 8_000;
const ANSWER_SENTENCES: usize = 3;
/// Thoughts before the answer help a large model. A small one only repeats them, so it is not asked.
const ANALYSIS_FIELD: &str = "analysis";
/// Words that must be copied exactly, as proof. A small model cannot do that: an optional list of such entries stays empty, and where
/// an entry is required, the words are looked up.
const QUOTE_FIELD: &str = "quote";
/// A number is chosen from so many steps of its range.
const NUMBER_STEPS: u64 = 10;

struct SchemaWalk<'a> {
    answerer: &'a mut dyn PlainAnswerer,
    /// The participant, or the id of the text, that the current object is about.
    about: Option<String>,
}

/// What kind of value a schema asks for.
enum FieldKind<'a> {
    Choice(&'a [Value]),
    Object(&'a Map<String, Value>),
    List(Option<&'a Value>),
    Text,
    Integer,
    Number,
    Boolean,
    Null,
}

impl SchemaWalk<'_> {
    fn value(&mut self, name: &str, schema: &Value) -> Result<Value, EmbeddedError> {
        match field_kind(schema) {
            FieldKind::Choice(values) => self.choice(name, schema, values),
            FieldKind::Object(properties) => self.object(schema, properties),
            FieldKind::List(items) => self.list(name, schema, items),
            FieldKind::Text => self.text(&self.question(name, schema), schema).map(Value::String),
            FieldKind::Integer => self.number(name, schema, true),
            FieldKind::Number => self.number(name, schema, false),
            FieldKind::Boolean => {
                let question = self.question(name, schema);
                self.yes_or_no(&question).map(Value::Bool)
            }
            FieldKind::Null => Ok(Value::Null),
        }
    }

    fn object(&mut self, schema: &Value, properties: &Map<String, Value>) -> Result<Value, EmbeddedError> {
        let outer = self.about.clone();
        let mut object = Map::new();
        let required =
            schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (name, property) in properties {
            if name == ANALYSIS_FIELD && !required.iter().any(|other| other == name) {
                continue;
            }
            let property = described(property, schema);
            let value = match name.as_str() {
                QUOTE_FIELD => self.quote(&property),
                _ => self.value(name, &property)?,
            };
            // The other fields of a point are about the participant or the text that it is aimed at.
            if let (FieldKind::Choice(_), Value::String(chosen)) = (field_kind(&property), &value)
                && self.about == outer
                && (chosen.contains(' ') || self.answerer.last_words_of(chosen).is_some())
            {
                self.about = Some(chosen.clone());
            }
            object.insert(name.clone(), value);
        }
        self.about = outer;
        Ok(Value::Object(object))
    }

    /// Words of the participant or the text that the current object is about; empty if there are none.
    fn quote(&self, schema: &Value) -> Value {
        let quote = self.about.as_ref().and_then(|who| self.answerer.quote_of(who));
        let text: String = quote.unwrap_or_default().chars().take(length_max(schema)).collect();
        text.into()
    }

    fn list(&mut self, name: &str, schema: &Value, items: Option<&Value>) -> Result<Value, EmbeddedError> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let Some(items) = items else { return Ok(Value::Array(Vec::new())) };
        let least = bound("minItems").unwrap_or_default();
        // A small model says yes to every such question, so it is not asked.
        let is_declaration = matches!(field_kind(items), FieldKind::Choice(_)) || has_quote(items);
        if least == 0 && is_declaration {
            return Ok(Value::Array(Vec::new()));
        }
        let most = bound("maxItems").unwrap_or(u64::MAX);
        let wanted = LIST_ENTRIES.max(least).min(most);
        let distinct = schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or_default();
        let described = described(items, schema);
        let mut list: Vec<Value> = Vec::new();
        for number in 0..wanted {
            let last = list.last().and_then(Value::as_str);
            // Required entries are distinct while values are left: every proposal is scored, none twice.
            let described = if number < least {
                without_taken(&described, &list)
            } else {
                Cow::Borrowed(described.as_ref())
            };
            let value = match (field_kind(&described), last) {
                (FieldKind::Text, Some(last)) => {
                    let question = format!(
                        "You have said: {last}\n{} Say something else.",
                        self.question(name, &described)
                    );
                    self.text(&question, &described)?.into()
                }
                _ => self.value(name, &described)?,
            };
            // A repetition is not a second point, unless the schema requires one.
            let again = list.iter().any(|earlier| says_the_same(earlier, &value));
            let empty = value.as_str().is_some_and(str::is_empty);
            if (!again && !empty) || (number < least && !distinct) {
                list.push(value);
            }
        }
        Ok(Value::Array(list))
    }

    fn yes_or_no(&mut self, question: &str) -> Result<bool, EmbeddedError> {
        let question = format!("{question} Answer yes or no.");
        let scores = self.answerer.score(&question, &["yes".to_owned(), "no".to_owned()])?;
        Ok(index_of_greatest(&scores) == 0)
    }

    fn choice(&mut self, name: &str, schema: &Value, values: &[Value]) -> Result<Value, EmbeddedError> {
        let [first, ..] = values else { return Ok(Value::Null) };
        // If both "Debater A" and "A" are allowed, only the first is offered.
        let is_short_form =
            |value: &&Value| values.iter().any(|other| is_last_word_of(&shown(value), &shown(other)));
        let values: Vec<&Value> = values.iter().filter(|value| !is_short_form(value)).collect();
        let words: Vec<String> = values.iter().map(|value| shown(value).replace('_', " ")).collect();
        if let [only] = values.as_slice() {
            return Ok((*only).clone());
        }
        let question = format!("{} Answer with one of: {}.", self.question(name, schema), words.join(", "));
        let index = index_of_greatest(&self.answerer.score(&question, &words)?);
        Ok(values.get(index).copied().unwrap_or(first).clone())
    }

    fn text(&mut self, question: &str, schema: &Value) -> Result<String, EmbeddedError> {
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let sentences = if (ANSWER_CHARS_MIN..u64::MAX).contains(&most) { ANSWER_SENTENCES } else { 1 };
        let length =
            if sentences == 1 { "Answer in one sentence." } else { "Answer in two or three sentences." };
        let text = self.answerer.answer(&format!("{question} {length}"), sentences)?;
        let mut text: String = text.chars().take(length_max(schema)).collect();
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or_default();
        let missing = usize::try_from(least).unwrap_or_default().saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('.', missing));
        Ok(text)
    }

    fn number(&mut self, name: &str, schema: &Value, whole: bool) -> Result<Value, EmbeddedError> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let least = bound("minimum").or(bound("exclusiveMinimum")).unwrap_or_default();
        let most =
            bound("maximum").or(bound("exclusiveMaximum")).unwrap_or(least + NUMBER_STEPS as f64).max(least);
        let whole = whole || (most - least) >= NUMBER_STEPS as f64 / 2.0;
        let allowed = |n: &f64| {
            bound("exclusiveMinimum").is_none_or(|least| *n > least)
                && bound("exclusiveMaximum").is_none_or(|most| *n < most)
                && *n >= least
                && *n <= most
        };
        let step = if whole {
            ((most - least) / NUMBER_STEPS as f64).ceil().max(1.0)
        } else {
            (most - least) / NUMBER_STEPS as f64
        };
        let first = if whole { least.ceil() } else { least };
        let steps = (0..=NUMBER_STEPS).map(|index| first + step * index as f64);
        let steps: Vec<f64> =
            steps.map(|n| if whole { n } else { (n * 100.0).round() / 100.0 }).filter(allowed).collect();
        let words: Vec<String> =
            steps.iter().map(|n| if whole { format!("{n:.0}") } else { format!("{n:.1}") }).collect();
        let [low, .., high] = words.as_slice() else {
            return Ok(number_value(steps.first().copied().unwrap_or(least), whole));
        };
        let question = format!("{} Answer with a number from {low} to {high}.", self.question(name, schema));
        let scores = self.answerer.score(&question, &words)?;
        let average = weighted_mean(&steps, &scores);
        Ok(number_value(nearest(&steps, average).unwrap_or(least), whole))
    }

    /// The field's description as a question, or its name where it has none.
    fn question(&self, name: &str, schema: &Value) -> String {
        let described = schema.get("description").and_then(Value::as_str).map(str::trim);
        let words: Cow<'_, str> = match described.filter(|text| !text.is_empty()) {
            // What follows the question explains a JSON form that the model never sees.
            Some(text) => text.split_inclusive('?').next().unwrap_or(text).replace('`', "").into(),
            None => format!("{}.", name.replace('_', " ")).into(),
        };
        let Some(about) = &self.about else { return words.into_owned() };
        match self.answerer.last_words_of(about) {
            Some(statement) if about.contains(' ') => format!("{about} says: {statement}\n{words}"),
            Some(statement) => format!("{statement}\n{words}"),
            None => format!("About {about}: {words}"),
        }
    }
}

/// Whether an entry, or an entry of one of its lists, contains a quote.
fn has_quote(schema: &Value) -> bool {
    match field_kind(schema) {
        FieldKind::Object(properties) => {
            properties.iter().any(|(name, property)| name == QUOTE_FIELD || has_quote(property))
        }
        FieldKind::List(Some(items)) => has_quote(items),
        _ => false,
    }
}

fn length_max(schema: &Value) -> usize {
    let most = schema.get("maxLength").and_then(Value::as_u64);
    most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

fn field_kind(schema: &Value) -> FieldKind<'_> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return FieldKind::Choice(values);
    }
    if let Some(value) = schema.get("const") {
        return FieldKind::Choice(std::slice::from_ref(value));
    }
    for key in ["anyOf", "oneOf"] {
        // For a value that may be null, the other alternative.
        let mut alternatives = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        if let Some(other) = alternatives.find(|other| !matches!(field_kind(other), FieldKind::Null)) {
            return field_kind(other);
        }
    }
    let named = schema.get("type");
    let names = named
        .and_then(Value::as_array)
        .map_or(named.into_iter().collect::<Vec<_>>(), |all| all.iter().collect());
    let names: Vec<&str> = names.into_iter().filter_map(Value::as_str).collect();
    let is = |name: &str| names.contains(&name);
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => FieldKind::Object(properties),
        None if is("string") => FieldKind::Text,
        None if is("array") => FieldKind::List(schema.get("items")),
        None if is("integer") => FieldKind::Integer,
        None if is("number") => FieldKind::Number,
        None if is("boolean") => FieldKind::Boolean,
        _ => FieldKind::Null,
    }
}

/// The schema of a part, with the description of the whole if it has none of its own.
fn described<'a>(part: &'a Value, whole: &Value) -> Cow<'a, Value> {
    match (part.get("description"), whole.get("description"), part) {
        (None, Some(description), Value::Object(map)) => {
            let mut map = map.clone();
            map.insert("description".into(), description.clone());
            Cow::Owned(Value::Object(map))
        }
        _ => Cow::Borrowed(part),
    }
}

/// The schema of an entry without the values that earlier entries took, if others are left. For an object, this applies to its
/// first field that is a choice.
fn without_taken<'a>(schema: &'a Value, taken: &[Value]) -> Cow<'a, Value> {
    let (pointer, taken): (String, Vec<&Value>) = match field_kind(schema) {
        FieldKind::Choice(_) => ("/enum".to_owned(), taken.iter().collect()),
        FieldKind::Object(properties) => {
            let choice = properties
                .iter()
                .find(|(_, field)| matches!(field_kind(field), FieldKind::Choice([_, _, ..])));
            let Some((name, _)) = choice else { return Cow::Borrowed(schema) };
            let pointer = format!("/properties/{}/enum", name.replace('~', "~0").replace('/', "~1"));
            (pointer, taken.iter().filter_map(|entry| entry.get(name)).collect())
        }
        _ => return Cow::Borrowed(schema),
    };
    let mut schema = schema.clone();
    let Some(values) = schema.pointer_mut(&pointer).and_then(Value::as_array_mut) else {
        return Cow::Owned(schema);
    };
    let is_taken = |value: &Value| {
        let same = |other: &str, value: &str| {
            other == value || is_last_word_of(other, value) || is_last_word_of(value, other)
        };
        taken.iter().any(|taken| same(&shown(taken), &shown(value)))
    };
    let free: Vec<Value> = values.iter().filter(|value| !is_taken(value)).cloned().collect();
    if !free.is_empty() {
        *values = free;
    }
    Cow::Owned(schema)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_last_word_of(value: &str, other: &str) -> bool {
    other.strip_suffix(value).is_some_and(|before| before.ends_with(' '))
}

fn number_value(n: f64, whole: bool) -> Value {
    if whole { (n as i64).into() } else { n.into() }
}

/// Whether two entries say the same: most words of each are in the other.
fn says_the_same(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_str(), other.as_str()) else { return one == other };
    let words = |text: &str| -> BTreeSet<String> {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    let both = one.intersection(&other).count();
    5 * both >= 4 * one.len().max(other.len())
}

/// Of equal ones, the first.
fn index_of_greatest(scores: &[f32]) -> usize {
    let indexed = scores.iter().enumerate();
    indexed.max_by(|(a, one), (b, other)| one.total_cmp(other).then(b.cmp(a))).map_or(0, |(index, _)| index)
}

/// The mean of the steps, weighted by their probability.
fn weighted_mean(steps: &[f64], scores: &[f32]) -> f64 {
    let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weighted = steps.iter().zip(scores).map(|(step, score)| (*step, f64::from((score - best).exp())));
    let (sum, total) =
        weighted.fold((0.0, 0.0), |(sum, total), (step, weight)| (sum + step * weight, total + weight));
    sum / total
}

fn nearest(steps: &[f64], wanted: f64) -> Option<f64> {
    let distance = |step: &f64| (step - wanted).abs();
    steps.iter().copied().min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

#[cfg(test)]
mod tests;
