//! Files that list names with a value each: perspectives with their questions, dimensions with their weights.
//!
//! The file is YAML, JSON or TOML. It holds a mapping from name to value, a list of records with a `name`, or a list of names,
//! at its top or under its only key.

use agon_core::nesting::{BRACKETS_MAX, is_nested_too_deeply};
use serde_json::Value;

/// The names in order, each with its value: whatever stands beside it, the rest of its record, or null. `fields` are the keys that
/// a record may have beside its name; they tell a single record from a heading over many.
pub fn read_named_list(text: &str, fields: &[&str]) -> Result<Vec<(String, Value)>, String> {
    let is_record = |value: &Value| {
        let keys = value.as_object().into_iter().flat_map(|record| record.keys());
        keys.clone().count() > 0
            && keys.into_iter().all(|key| key == "name" || fields.contains(&key.as_str()))
    };
    let mut value = parse(text)?;
    if let Value::Object(pairs) = &mut value
        && pairs.len() == 1
        && let Some(inner) = pairs.values_mut().next().filter(|inner| inner.is_object() || inner.is_array())
        && !is_record(inner)
    {
        value = inner.take();
    }
    let named = match value {
        Value::Object(pairs) if pairs.contains_key("name") && is_record(&Value::Object(pairs.clone())) => {
            vec![item(Value::Object(pairs))?]
        }
        Value::Object(pairs) => pairs.into_iter().collect(),
        Value::Array(items) => items.into_iter().map(item).collect::<Result<Vec<_>, _>>()?,
        _ => return Err(SHAPE.into()),
    };
    let mut seen: Vec<String> = Vec::new();
    for (name, _) in &named {
        let key = name_key(name);
        if key.is_empty() {
            return Err("a name in it is empty".into());
        }
        if seen.contains(&key) {
            return Err(format!("it names {name:?} twice"));
        }
        seen.push(key);
    }
    if named.is_empty() { Err("there is no name in it".into()) } else { Ok(named) }
}

/// A name as it is compared: lower case, words joined by dashes.
pub fn name_key(name: &str) -> String {
    let words = name.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

const SHAPE: &str = "it must be a mapping from name to value, or a list of records that have a name";

fn item(value: Value) -> Result<(String, Value), String> {
    match value {
        Value::String(name) => Ok((name, Value::Null)),
        Value::Object(mut fields) => match (fields.shift_remove("name"), fields.len()) {
            (Some(Value::String(name)), _) => Ok((name, Value::Object(fields))),
            // A list of single pairs, as YAML is often written.
            (None, 1) => fields.into_iter().next().ok_or_else(|| SHAPE.into()),
            _ => Err(SHAPE.into()),
        },
        _ => Err(SHAPE.into()),
    }
}

fn parse(text: &str) -> Result<Value, String> {
    let whole = |value: &Value| value.is_object() || value.is_array();
    // JSON first: the reader of YAML would take it too, but does not keep its numbers to the letter.
    let read = serde_json::from_str(text).ok().filter(whole);
    let read = read.or_else(|| toml::from_str::<Value>(text).ok().filter(whole));
    match read {
        Some(value) => Ok(value),
        None if is_nested_too_deeply(text) => Err(format!("it has more than {BRACKETS_MAX} open brackets")),
        // Its own values refuse a key that stands there twice; JSON's would take the last.
        None => {
            match serde_norway::from_str::<serde_norway::Value>(text).and_then(serde_norway::from_value) {
                Ok(value) if whole(&value) => Ok(value),
                Ok(_) => Err(SHAPE.into()),
                Err(why) => Err(format!("it is neither YAML nor JSON nor TOML ({why})")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_way_to_write_it_gives_the_same_names_in_order() {
        for text in [
            "b: 1\na: 2\n",
            "b = 1\na = 2\n",
            "[dimensions]\nb = 1\na = 2\n",
            "dimensions:\n  b: 1\n  a: 2\n",
            "{\"b\": 1, \"a\": 2}",
            "- b: 1\n- a: 2\n",
        ] {
            assert_eq!(
                read_named_list(text, &["description"]).unwrap(),
                [("b".into(), json!(1)), ("a".into(), json!(2))],
                "{text}"
            );
        }
        let records = "perspectives:\n- name: b\n  description: x\n- name: a\n  description: y\n";
        let want = [("b".to_owned(), json!({"description": "x"})), ("a".into(), json!({"description": "y"}))];
        assert_eq!(read_named_list(records, &["description"]).unwrap(), want);
        assert_eq!(
            read_named_list("[[p]]\nname = \"b\"\n", &["description"]).unwrap(),
            [("b".into(), json!({}))]
        );
        assert_eq!(
            read_named_list("- b\n- a\n", &["description"]).unwrap(),
            [("b".into(), Value::Null), ("a".into(), Value::Null)]
        );
    }

    /// One record alone is a record, and not a heading over its fields.
    #[test]
    fn one_record_is_not_taken_for_a_heading() {
        let want = [("a".to_owned(), json!({"description": "x"}))];
        for text in [
            "a:\n  description: x\n",
            "[a]\ndescription = \"x\"\n",
            "{\"name\": \"a\", \"description\": \"x\"}",
        ] {
            assert_eq!(read_named_list(text, &["description"]).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_such_file_is_refused_with_a_sentence() {
        for (text, want) in [
            ("", "no name"),
            ("just words", "mapping"),
            ("7", "mapping"),
            ("- 7\n", "mapping"),
            ("{}", "no name"),
            ("[]", "no name"),
            ("- a\n- A\n", "twice"),
            ("\"\": 1\nb: 2\n", "empty"),
            ("a: [", "neither"),
            ("a: 1\nb: 2\na: 3\n", "duplicate"),
        ] {
            let why = read_named_list(text, &["description"]).unwrap_err();
            assert!(why.contains(want), "{text:?}: {why}");
        }
    }
}
