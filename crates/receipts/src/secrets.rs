//! The last guard: no receipt leaves with a secret that the caller knows.

use serde_json::Value;

/// A value shorter than this is no secret that anybody would be harmed by, but a stand-in such as `x` or `ollama`, which
/// occurs in words.
const CHARS_MIN: usize = 8;

/// A secret that must not leave.
#[derive(Clone, Copy)]
pub struct Secret<'a> {
    /// The variable that holds it: errors name this, never the value.
    pub name: &'a str,
    /// The secret.
    pub value: &'a str,
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The secret's name.
    pub name: String,
    /// The path to it.
    pub path: String,
}

/// Where in a value any of the secrets occurs, keys of objects included.
pub fn leaks(value: &Value, path: &str, secrets: &[Secret<'_>]) -> Vec<Leak> {
    let mut found = Vec::new();
    walk(value, path, &mut |text, path| {
        let held = secrets.iter().filter(|secret| is_in(secret, text));
        found.extend(held.map(|secret| Leak { name: secret.name.to_owned(), path: masked(path, secrets) }));
    });
    found
}

/// The same for an event's body: a secret may be spelled with escapes in it, or as it is.
pub(crate) fn leaks_of_body(body: &str, path: &str, secrets: &[Secret<'_>]) -> Vec<Leak> {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let found = parsed.map(|parsed| leaks(&parsed, path, secrets)).unwrap_or_default();
    if found.is_empty() { leaks(&body.into(), path, secrets) } else { found }
}

fn is_in(secret: &Secret<'_>, text: &str) -> bool {
    let value = secret.value.trim();
    value.chars().count() >= CHARS_MIN && text.contains(value)
}

/// A path goes through names of fields, and one of those may be the secret.
fn masked(path: &str, secrets: &[Secret<'_>]) -> String {
    let held = secrets.iter().filter(|secret| is_in(secret, path));
    held.fold(path.to_owned(), |path, secret| path.replace(secret.value.trim(), "***"))
}

fn walk(value: &Value, path: &str, see: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => see(text, path),
        Value::Number(number) => see(&number.to_string(), path),
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                walk(item, &format!("{path}[{n}]"), see);
            }
        }
        Value::Object(fields) => {
            for (key, inner) in fields {
                see(key, &format!("{path} (the name of a field)"));
                walk(inner, &format!("{path}.{key}"), see);
            }
        }
        _ => {}
    }
}

impl std::fmt::Debug for Secret<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret {}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: Secret<'_> = Secret { name: "OPENAI_API_KEY", value: " sk-0123\"456\n" };
    const SHORT: Secret<'_> = Secret { name: "LOCAL_KEY", value: "x" };
    const DIGITS: Secret<'_> = Secret { name: "PIN", value: "8005551234" };

    fn paths(value: &Value) -> Vec<String> {
        leaks(value, "s", &[KEY, SHORT, DIGITS]).into_iter().map(|leak| leak.path).collect()
    }

    #[test]
    fn a_secret_is_found_wherever_it_is() {
        let said = "my key is sk-0123\"456, keep it";
        assert_eq!(paths(&json!({"a": [1, {"b": said}]})), ["s.a[1].b"]);
        assert_eq!(paths(&json!({"a": 8_005_551_234_u64})), ["s.a"]);
        assert_eq!(paths(&json!({"a": "x marks the spot", "b": null, "c": true})), [""; 0]);
    }

    #[test]
    fn a_secret_in_a_name_is_found_and_not_repeated() {
        let found = paths(&json!({"a": {"sk-0123\"456": {"b": "sk-0123\"456"}}}));
        assert_eq!(found, ["s.a (the name of a field)", "s.a.***.b"]);
    }

    #[test]
    fn a_secret_in_a_body_is_found_however_it_is_spelled() {
        let escaped = json!({"text": "sk-0123\"456"}).to_string();
        assert_eq!(leaks_of_body(&escaped, "log[3]", &[KEY]).len(), 1);
        assert_eq!(leaks_of_body(&escaped, "log[3]", &[KEY])[0].path, "log[3].text");
        assert_eq!(leaks_of_body("not JSON: 8005551234", "log[3]", &[DIGITS])[0].path, "log[3]");
    }
}
