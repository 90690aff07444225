//! A structured answer, one field at a time.
//!
//! A model of this size that has to write JSON talks nonsense; asked in plain words, one thing at a time, it says sensible
//! sentences. So the schema is walked: for a text the voice is asked the field's description and held to a sentence or a few; a
//! value out of a few is the one that the voice is most likely to say, with what it said so far in front; a number is the mean of
//! those that it might say. The answer keeps the schema by the way it is made.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::Broken;

/// Somebody who can be asked in plain words.
pub(crate) trait Voice {
    /// What it says to this, in so many sentences at most; may be empty.
    fn say(&mut self, question: &str, sentences: usize) -> Result<String, Broken>;

    /// How likely it is to say each of these to this, as logarithms, with what it has said so far in front.
    fn weigh(&mut self, question: &str, values: &[String]) -> Result<Vec<f32>, Broken>;

    /// What it has read of this one, if anything.
    fn recall(&self, who: &str) -> Option<String>;
}

/// The answer of this voice to everything that the schema asks for.
pub(crate) fn fill(schema: &Value, voice: &mut dyn Voice) -> Result<Value, Broken> {
    Walk { voice, about: None }.value("the answer", schema)
}

/// A list has so many entries if the schema leaves it open: enough to show a debate, and few enough to wait for.
const ENTRIES: u64 = 2;
/// A list of whole objects.
const OBJECTS: u64 = 1;
/// From this length on a text is an answer rather than a remark.
const LONG_FROM: u64 = 8_000;
const LONG_SENTENCES: usize = 3;
/// A number out of a range is chosen among so many steps.
const STEPS: u64 = 10;

struct Walk<'a> {
    voice: &'a mut dyn Voice,
    /// Whom or what the object is about that is being filled.
    about: Option<String>,
}

/// What kind of value a schema asks for.
enum Kind<'a> {
    Chosen(&'a [Value]),
    Object(&'a Map<String, Value>),
    List(Option<&'a Value>),
    Text,
    Whole,
    Number,
    Truth,
    Nothing,
}

impl Walk<'_> {
    fn value(&mut self, name: &str, schema: &Value) -> Result<Value, Broken> {
        match kind(schema) {
            Kind::Chosen(values) => self.chosen(name, schema, values),
            Kind::Object(properties) => self.object(schema, properties),
            Kind::List(items) => self.list(name, schema, items),
            Kind::Text => self.text(&self.asked(name, schema), schema).map(Value::String),
            Kind::Whole => self.number(name, schema, true),
            Kind::Number => self.number(name, schema, false),
            Kind::Truth => {
                let question = format!("{} Answer yes or no.", self.asked(name, schema));
                let likely = self.voice.weigh(&question, &["yes".to_owned(), "no".to_owned()])?;
                Ok(Value::Bool(likeliest(&likely) == 0))
            }
            Kind::Nothing => Ok(Value::Null),
        }
    }

    fn object(&mut self, schema: &Value, properties: &Map<String, Value>) -> Result<Value, Broken> {
        let outer = self.about.clone();
        let mut object = Map::new();
        for (name, property) in properties {
            let property = described(property, schema);
            let value = self.value(name, &property)?;
            // Whom a point is aimed at is what the other fields of the point are about.
            if let (Kind::Chosen(_), Value::String(chosen)) = (kind(&property), &value)
                && self.about == outer
                && chosen.contains(' ')
            {
                self.about = Some(chosen.clone());
            }
            object.insert(name.clone(), value);
        }
        self.about = outer;
        Ok(Value::Object(object))
    }

    fn list(&mut self, name: &str, schema: &Value, items: Option<&Value>) -> Result<Value, Broken> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let Some(items) = items else { return Ok(Value::Array(Vec::new())) };
        let whole = matches!(kind(items), Kind::Object(_));
        let least = bound("minItems").unwrap_or_default();
        let most = bound("maxItems").unwrap_or(u64::MAX);
        let wanted = if whole { OBJECTS } else { ENTRIES }.max(least).min(most);
        let distinct = schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or_default();
        let described = described(items, schema);
        let mut list: Vec<Value> = Vec::new();
        if least == 0 && matches!(kind(&described), Kind::Chosen(_)) && !self.any(name, &described)? {
            return Ok(Value::Array(list));
        }
        for number in 0..wanted {
            let said = list.last().and_then(Value::as_str);
            // A list that must have so many has each of a few once: every proposal is scored, none twice.
            let described =
                if number < least { left(&described, &list) } else { Cow::Borrowed(described.as_ref()) };
            let value = match (kind(&described), said) {
                (Kind::Text, Some(said)) => {
                    let question = format!(
                        "You have said: {said}\n{} Say something else.",
                        self.asked(name, &described)
                    );
                    self.text(&question, &described)?.into()
                }
                _ => self.value(name, &described)?,
            };
            // Saying the same thing twice is no second point; but a list that must have so many has them.
            let again = list.iter().any(|said| same(said, &value));
            let empty = value.as_str().is_some_and(str::is_empty);
            if (!again && !empty) || (number < least && !distinct) {
                list.push(value);
            }
        }
        Ok(Value::Array(list))
    }

    /// Whether there is anything to name at all.
    fn any(&mut self, name: &str, schema: &Value) -> Result<bool, Broken> {
        let question = format!("{} Is there any? Answer yes or no.", self.asked(name, schema));
        let likely = self.voice.weigh(&question, &["yes".to_owned(), "no".to_owned()])?;
        Ok(likeliest(&likely) == 0)
    }

    fn chosen(&mut self, name: &str, schema: &Value, values: &[Value]) -> Result<Value, Broken> {
        let [first, ..] = values else { return Ok(Value::Null) };
        // Of "Debater A" and "A" the first says it better.
        let short = |value: &&Value| values.iter().any(|other| is_tail(&shown(value), &shown(other)));
        let values: Vec<&Value> = values.iter().filter(|value| !short(value)).collect();
        let words: Vec<String> = values.iter().map(|value| shown(value).replace('_', " ")).collect();
        if let [only] = values.as_slice() {
            return Ok((*only).clone());
        }
        let question = format!("{} Answer with one of: {}.", self.asked(name, schema), words.join(", "));
        let place = likeliest(&self.voice.weigh(&question, &words)?);
        Ok(values.get(place).copied().unwrap_or(first).clone())
    }

    fn text(&mut self, question: &str, schema: &Value) -> Result<String, Broken> {
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let sentences = if (LONG_FROM..u64::MAX).contains(&most) { LONG_SENTENCES } else { 1 };
        let how =
            if sentences == 1 { "Answer in one sentence." } else { "Answer in two or three sentences." };
        let said = self.voice.say(&format!("{question} {how}"), sentences)?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut said: String = said.chars().take(most).collect();
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or_default();
        let missing = usize::try_from(least).unwrap_or_default().saturating_sub(said.chars().count());
        said.extend(std::iter::repeat_n('.', missing));
        Ok(said)
    }

    fn number(&mut self, name: &str, schema: &Value, whole: bool) -> Result<Value, Broken> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let least = bound("minimum").or(bound("exclusiveMinimum")).unwrap_or_default();
        let most = bound("maximum").or(bound("exclusiveMaximum")).unwrap_or(least + STEPS as f64).max(least);
        let whole = whole || (most - least) >= STEPS as f64 / 2.0;
        let allowed = |n: &f64| {
            bound("exclusiveMinimum").is_none_or(|least| *n > least)
                && bound("exclusiveMaximum").is_none_or(|most| *n < most)
                && *n >= least
                && *n <= most
        };
        let step = if whole {
            ((most - least) / STEPS as f64).ceil().max(1.0)
        } else {
            (most - least) / STEPS as f64
        };
        let first = if whole { least.ceil() } else { least };
        let steps = (0..=STEPS).map(|place| first + step * place as f64);
        let steps: Vec<f64> =
            steps.map(|n| if whole { n } else { (n * 100.0).round() / 100.0 }).filter(allowed).collect();
        let words: Vec<String> =
            steps.iter().map(|n| if whole { format!("{n:.0}") } else { format!("{n:.1}") }).collect();
        let [low, .., high] = words.as_slice() else {
            return Ok(numeral(steps.first().copied().unwrap_or(least), whole));
        };
        let question = format!("{} Answer with a number from {low} to {high}.", self.asked(name, schema));
        let likely = self.voice.weigh(&question, &words)?;
        Ok(numeral(nearest(&steps, mean(&steps, &likely)).unwrap_or(least), whole))
    }

    /// The field's description as a question, or its name where it has none.
    fn asked(&self, name: &str, schema: &Value) -> String {
        let described = schema.get("description").and_then(Value::as_str).map(str::trim);
        let words: Cow<'_, str> = match described.filter(|text| !text.is_empty()) {
            // What comes after the question explains a form that this voice never sees.
            Some(text) => text.split_inclusive('?').next().unwrap_or(text).replace('`', "").into(),
            None => format!("{}.", name.replace('_', " ")).into(),
        };
        let Some(about) = &self.about else { return words.into_owned() };
        match self.voice.recall(about) {
            Some(said) => format!("{about} says: {said}\n{words}"),
            None => format!("About {about}: {words}"),
        }
    }
}

fn kind(schema: &Value) -> Kind<'_> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Kind::Chosen(values);
    }
    if let Some(value) = schema.get("const") {
        return Kind::Chosen(std::slice::from_ref(value));
    }
    for key in ["anyOf", "oneOf"] {
        // Of a value that may be nothing, the other kind.
        let ways = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        if let Some(way) = ways.into_iter().find(|way| !matches!(kind(way), Kind::Nothing)) {
            return kind(way);
        }
    }
    let named = schema.get("type");
    let names = named
        .and_then(Value::as_array)
        .map_or(named.into_iter().collect::<Vec<_>>(), |all| all.iter().collect());
    let names: Vec<&str> = names.into_iter().filter_map(Value::as_str).collect();
    let is = |name: &str| names.contains(&name);
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => Kind::Object(properties),
        None if is("string") => Kind::Text,
        None if is("array") => Kind::List(schema.get("items")),
        None if is("integer") => Kind::Whole,
        None if is("number") => Kind::Number,
        None if is("boolean") => Kind::Truth,
        _ => Kind::Nothing,
    }
}

/// A part's schema, with the description of the whole where it has none of its own.
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

/// An entry's schema without the values that earlier entries took, as long as others are left: of an object, those of the first
/// field that is one out of a few.
fn left<'a>(schema: &'a Value, taken: &[Value]) -> Cow<'a, Value> {
    let (pointer, taken): (String, Vec<&Value>) = match kind(schema) {
        Kind::Chosen(_) => ("/enum".to_owned(), taken.iter().collect()),
        Kind::Object(properties) => {
            let few = properties.iter().find(|(_, field)| matches!(kind(field), Kind::Chosen([_, _, ..])));
            let Some((name, _)) = few else { return Cow::Borrowed(schema) };
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
        let same =
            |other: &str, value: &str| other == value || is_tail(other, value) || is_tail(value, other);
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

/// Whether a value is the last word of a longer one.
fn is_tail(value: &str, other: &str) -> bool {
    other.strip_suffix(value).is_some_and(|before| before.ends_with(' '))
}

fn numeral(n: f64, whole: bool) -> Value {
    if whole { (n as i64).into() } else { n.into() }
}

/// Whether two entries say the same: most of the words of either are in the other.
fn same(one: &Value, other: &Value) -> bool {
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

/// The place of the greatest.
fn likeliest(likely: &[f32]) -> usize {
    let places = likely.iter().enumerate();
    places.max_by(|(a, one), (b, other)| one.total_cmp(other).then(b.cmp(a))).map_or(0, |(place, _)| place)
}

/// The mean of the steps, each counted as much as it is likely.
fn mean(steps: &[f64], likely: &[f32]) -> f64 {
    let best = likely.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weighed = steps.iter().zip(likely).map(|(step, likely)| (*step, f64::from((likely - best).exp())));
    let (sum, total) =
        weighed.fold((0.0, 0.0), |(sum, total), (step, weight)| (sum + step * weight, total + weight));
    sum / total
}

fn nearest(steps: &[f64], wanted: f64) -> Option<f64> {
    let away = |step: &f64| (step - wanted).abs();
    steps.iter().copied().min_by(|one, other| away(one).total_cmp(&away(other)))
}

#[cfg(test)]
mod tests;
