//! The check that no receipt contains a secret.

use serde_json::Value;

/// Shorter values are placeholders such as `x` or `ollama`, which also occur in ordinary words.
const SECRET_CHARS_MIN: usize = 8;

/// What keys of well-known services look like: how they begin, their minimum length, and their description.
const KEY_SHAPES: [(&str, usize, &str); 10] = [
    ("sk-", 20, "something that looks like an API key (sk-...)"),
    ("ghp_", 30, "something that looks like a GitHub token"),
    ("gho_", 30, "something that looks like a GitHub token"),
    ("github_pat_", 40, "something that looks like a GitHub token"),
    ("glpat-", 20, "something that looks like a GitLab token"),
    ("AKIA", 20, "something that looks like an AWS key"),
    ("AIza", 35, "something that looks like a Google key"),
    ("xoxb-", 20, "something that looks like a Slack token"),
    ("xoxp-", 20, "something that looks like a Slack token"),
    ("hf_", 30, "something that looks like a Hugging Face token"),
];

/// A secret that must not be published.
#[derive(Clone, Copy)]
pub struct KnownSecret<'a> {
    /// The variable that holds it. Errors show this name, never the value.
    pub name: &'a str,
    /// The secret.
    pub value: &'a str,
}

/// A secret that was found in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretLeak {
    /// The secret's name.
    pub name: String,
    /// The path to it.
    pub path: String,
}

/// Finds secrets in a value, names of fields included: the known ones, and texts that look like a key.
pub fn find_leaks(value: &Value, path: &str, secrets: &[KnownSecret<'_>]) -> Vec<SecretLeak> {
    let mut leaks = Vec::new();
    visit_texts(value, path, &mut |text, path| {
        let known = secrets.iter().filter(|secret| secret.is_in(text)).map(|secret| secret.name);
        let names = known.chain(key_shape(text));
        leaks.extend(names.map(|name| SecretLeak { name: name.to_owned(), path: masked(path, secrets) }));
    });
    leaks
}

/// The same for the body of an event, where a secret may be written with JSON escapes or without.
pub(super) fn find_leaks_in_body(body: &str, path: &str, secrets: &[KnownSecret<'_>]) -> Vec<SecretLeak> {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let leaks = parsed.map(|parsed| find_leaks(&parsed, path, secrets)).unwrap_or_default();
    if leaks.is_empty() { find_leaks(&body.into(), path, secrets) } else { leaks }
}

impl KnownSecret<'_> {
    fn is_in(&self, text: &str) -> bool {
        let value = self.value.trim();
        value.chars().count() >= SECRET_CHARS_MIN && text.contains(value)
    }
}

fn key_shape(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----") {
        return Some("something that looks like a private key");
    }
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    // Ordinary words have no digit.
    let mut words = words.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    words.find_map(|word| {
        let shape =
            KEY_SHAPES.iter().find(|(start, chars, _)| word.starts_with(start) && word.len() >= *chars);
        shape.map(|(.., description)| *description)
    })
}

/// A path contains names of fields, and one of them may be the secret itself.
fn masked(path: &str, secrets: &[KnownSecret<'_>]) -> String {
    let found = secrets.iter().filter(|secret| secret.is_in(path));
    found.fold(path.to_owned(), |path, secret| path.replace(secret.value.trim(), "***"))
}

fn visit_texts(value: &Value, path: &str, visit: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(text, path),
        Value::Number(number) => visit(&number.to_string(), path),
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                visit_texts(item, &format!("{path}[{n}]"), visit);
            }
        }
        Value::Object(fields) => {
            for (key, inner) in fields {
                visit(key, &format!("{path} (the name of a field)"));
                visit_texts(inner, &format!("{path}.{key}"), visit);
            }
        }
        _ => {}
    }
}

impl std::fmt::Debug for KnownSecret<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KnownSecret {}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: KnownSecret<'_> = KnownSecret { name: "OPENAI_API_KEY", value: " sk-0123\"456\n" };
    const SHORT: KnownSecret<'_> = KnownSecret { name: "LOCAL_KEY", value: "x" };
    const DIGITS: KnownSecret<'_> = KnownSecret { name: "PIN", value: "8005551234" };

    fn leak_paths(value: &Value) -> Vec<String> {
        find_leaks(value, "s", &[KEY, SHORT, DIGITS]).into_iter().map(|leak| leak.path).collect()
    }

    #[test]
    fn a_known_secret_is_found_anywhere_in_a_value() {
        let text = "my key is sk-0123\"456, keep it";
        assert_eq!(leak_paths(&json!({"a": [1, {"b": text}]})), ["s.a[1].b"]);
        assert_eq!(leak_paths(&json!({"a": 8_005_551_234_u64})), ["s.a"]);
        assert_eq!(leak_paths(&json!({"a": "x marks the spot", "b": null, "c": true})), [""; 0]);
    }

    /// "A receipt never contains a secret": also one that this process does not know.
    #[test]
    fn a_text_that_looks_like_a_key_counts_as_a_secret() {
        let key = format!("sk-live-{}", "0123456789abcdef");
        for text in [key.as_str(), "use AKIA0123456789ABCDEF now", "-----BEGIN RSA PRIVATE KEY-----\nMII"] {
            assert_eq!(find_leaks(&json!({"a": text}), "s", &[]).len(), 1, "{text}");
        }
        for text in
            ["sk-short1", "a task-oriented-and-long-hyphenated-word", "AKIA is a prefix", "ghp_ tokens"]
        {
            assert!(find_leaks(&json!({"a": text}), "s", &[]).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_secret_in_the_name_of_a_field_is_found_and_not_repeated() {
        let paths = leak_paths(&json!({"a": {"sk-0123\"456": {"b": "sk-0123\"456"}}}));
        assert_eq!(paths, ["s.a (the name of a field)", "s.a.***.b"]);
    }

    #[test]
    fn a_secret_in_a_body_is_found_with_and_without_escapes() {
        let escaped = json!({"text": "sk-0123\"456"}).to_string();
        assert_eq!(find_leaks_in_body(&escaped, "log[3]", &[KEY]).len(), 1);
        assert_eq!(find_leaks_in_body(&escaped, "log[3]", &[KEY])[0].path, "log[3].text");
        assert_eq!(find_leaks_in_body("not JSON: 8005551234", "log[3]", &[DIGITS])[0].path, "log[3]");
    }
}
