//! Where two JSON values differ, by path.

use serde_json::Value;

const CONTEXT_CHARS: usize = 24;
const SHOWN_CHARS_MAX: usize = 80;

/// A path at which two values differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ValueDifference {
    /// For example `predicate.verdict.votes[2].choice`.
    pub(super) path: String,
    /// The first value there, shortened to the part around the difference.
    pub(super) first: String,
    /// The second value there.
    pub(super) second: String,
}

/// The first `limit` places where two values differ.
pub(super) fn find_differences(first: &Value, second: &Value, limit: usize) -> Vec<ValueDifference> {
    let mut found = Vec::new();
    collect(Some(first), Some(second), "", limit, &mut found);
    found
}

fn collect(
    first: Option<&Value>,
    second: Option<&Value>,
    path: &str,
    limit: usize,
    found: &mut Vec<ValueDifference>,
) {
    if found.len() >= limit || first == second {
        return;
    }
    match (first, second) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let only_in_b = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(only_in_b) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(a.get(key), b.get(key), &path, limit, found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for n in 0..a.len().max(b.len()) {
                collect(a.get(n), b.get(n), &format!("{path}[{n}]"), limit, found);
            }
        }
        _ => {
            let (first, second) = excerpts(first, second);
            found.push(ValueDifference { path: path.to_owned(), first, second });
        }
    }
}

/// Both values, each from shortly before the point where they differ.
fn excerpts(first: Option<&Value>, second: Option<&Value>) -> (String, String) {
    if let (Some(Value::String(first)), Some(Value::String(second))) = (first, second) {
        let same = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();
        return (excerpt(first, same), excerpt(second, same));
    }
    let shortened = |value: Option<&Value>| match value {
        Some(Value::String(text)) => excerpt(text, 0),
        Some(value) => {
            let text = value.to_string();
            let end = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(end, _)| end);
            end.and_then(|end| text.get(..end)).map_or(text.clone(), |start| format!("{start}…"))
        }
        None => "nothing".to_owned(),
    };
    (shortened(first), shortened(second))
}

/// The part of a text around its character number `at`, in quotes.
pub(super) fn excerpt(text: &str, at: usize) -> String {
    let (from, to) = (at.saturating_sub(CONTEXT_CHARS), at + 2 * CONTEXT_CHARS);
    let part: String = text.chars().skip(from).take(to - from).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if text.chars().nth(to).is_some() { "…" } else { "" };
    format!("{:?}", format!("{before}{part}{after}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_difference_has_its_path() {
        let ours = json!({"a": {"b": [1, {"c": 2}]}, "d": null, "e": "same"});
        let theirs = json!({"a": {"b": [1, {"c": 3}, 4]}, "e": "same", "f": true});
        let found = find_differences(&ours, &theirs, 20);
        let shown: Vec<String> =
            found.iter().map(|d| format!("{}: {} | {}", d.path, d.first, d.second)).collect();
        assert_eq!(
            shown,
            ["a.b[1].c: 2 | 3", "a.b[2]: nothing | 4", "d: null | nothing", "f: nothing | true"]
        );
        assert_eq!(find_differences(&ours, &theirs, 2).len(), 2);
        assert_eq!(find_differences(&ours, &ours, 2), []);
    }

    #[test]
    fn long_texts_are_shortened_to_where_they_differ() {
        let (one, other) =
            (format!("{}yes{}", "a ".repeat(99), " b".repeat(99)), format!("{}no", "a ".repeat(99)));
        let found = find_differences(&json!(one), &json!(other), 1);
        let (first, second) = (&found[0].first, &found[0].second);
        assert!(first.starts_with("\"…a a") && first.contains("yes b b"), "{first}");
        assert!(second.ends_with("a no\""), "{second}");
        assert!(first.chars().count() < 100);
    }
}
