//! Where two JSON values differ, by path.

use serde_json::Value;

const CONTEXT_CHARS: usize = 24;
const SHOWN_CHARS_MAX: usize = 80;

/// A place where two values differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where: `predicate.verdict.votes[2].choice`.
    pub path: String,
    /// What the first has there, shortened to where they part.
    pub first: String,
    /// What the second has.
    pub second: String,
}

/// The places where two values differ, the first `most` of them.
pub fn differences(first: &Value, second: &Value, path: &str, most: usize) -> Vec<Difference> {
    let mut found = Vec::new();
    collect(Some(first), Some(second), path, most, &mut found);
    found
}

fn collect(
    first: Option<&Value>,
    second: Option<&Value>,
    path: &str,
    most: usize,
    found: &mut Vec<Difference>,
) {
    if found.len() >= most || first == second {
        return;
    }
    match (first, second) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let only_in_b = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(only_in_b) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(a.get(key), b.get(key), &path, most, found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for n in 0..a.len().max(b.len()) {
                collect(a.get(n), b.get(n), &format!("{path}[{n}]"), most, found);
            }
        }
        _ => {
            let (first, second) = shown(first, second);
            found.push(Difference { path: path.to_owned(), first, second });
        }
    }
}

/// Two values in few words, each from a little before where they part.
fn shown(first: Option<&Value>, second: Option<&Value>) -> (String, String) {
    if let (Some(Value::String(first)), Some(Value::String(second))) = (first, second) {
        let same = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();
        let from = same.saturating_sub(CONTEXT_CHARS);
        return (excerpt(first, from, same), excerpt(second, from, same));
    }
    let plain = |value: Option<&Value>| match value {
        Some(Value::String(text)) => excerpt(text, 0, 0),
        Some(value) => cut(&value.to_string()),
        None => "nothing".to_owned(),
    };
    (plain(first), plain(second))
}

/// The part of a text around a place, quoted.
pub(crate) fn excerpt(text: &str, from: usize, place: usize) -> String {
    let upto = place + 2 * CONTEXT_CHARS;
    let part: String = text.chars().skip(from).take(upto - from).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if text.chars().nth(upto).is_some() { "…" } else { "" };
    format!("{:?}", format!("{before}{part}{after}"))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_difference_is_named_by_its_path() {
        let ours = json!({"a": {"b": [1, {"c": 2}]}, "d": null, "e": "same"});
        let theirs = json!({"a": {"b": [1, {"c": 3}, 4]}, "e": "same", "f": true});
        let found = differences(&ours, &theirs, "o", 20);
        let told: Vec<String> =
            found.iter().map(|d| format!("{}: {} | {}", d.path, d.first, d.second)).collect();
        assert_eq!(
            told,
            ["o.a.b[1].c: 2 | 3", "o.a.b[2]: nothing | 4", "o.d: null | nothing", "o.f: nothing | true"]
        );
        assert_eq!(differences(&ours, &theirs, "o", 2).len(), 2);
        assert_eq!(differences(&ours, &ours, "o", 2), []);
    }

    #[test]
    fn long_texts_are_shown_where_they_part() {
        let (one, other) =
            (format!("{}yes{}", "a ".repeat(99), " b".repeat(99)), format!("{}no", "a ".repeat(99)));
        let found = differences(&json!(one), &json!(other), "o", 1);
        assert!(
            found[0].first.starts_with("\"…a a") && found[0].first.contains("yes b b"),
            "{}",
            found[0].first
        );
        assert!(found[0].second.ends_with("a no\""), "{}", found[0].second);
        assert!(found[0].first.chars().count() < 100);
    }
}
