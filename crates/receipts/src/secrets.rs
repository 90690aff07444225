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
        let held = secrets.iter().filter(|secret| is_in(secret, text)).map(|secret| secret.name);
        let held = held.chain(shape(text));
        found.extend(held.map(|name| Leak { name: name.to_owned(), path: masked(path, secrets) }));
    });
    found
}

/// What a text holds that looks like a key which is in use somewhere, whoever knows it: how it begins, how many characters it has at
/// least, and what it is called.
const SHAPES: [(&str, usize, &str); 10] = [
    ("sk-", 20, "what looks like a key of an API (sk-...)"),
    ("ghp_", 30, "what looks like a token of GitHub"),
    ("gho_", 30, "what looks like a token of GitHub"),
    ("github_pat_", 40, "what looks like a token of GitHub"),
    ("glpat-", 20, "what looks like a token of GitLab"),
    ("AKIA", 20, "what looks like a key of AWS"),
    ("AIza", 35, "what looks like a key of Google"),
    ("xoxb-", 20, "what looks like a token of Slack"),
    ("xoxp-", 20, "what looks like a token of Slack"),
    ("hf_", 30, "what looks like a token of Hugging Face"),
];

fn shape(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----") {
        return Some("what looks like a private key");
    }
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    // Words that are only words have no digit in them.
    let mut words = words.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    words.find_map(|word| {
        let looks =
            |(start, chars, _): &&(&str, usize, &str)| word.starts_with(start) && word.len() >= *chars;
        SHAPES.iter().find(looks).map(|(.., name)| *name)
    })
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

    /// "A receipt never contains a secret": also one that this process does not know.
    #[test]
    fn what_looks_like_a_key_is_taken_for_one() {
        let key = format!("sk-live-{}", "0123456789abcdef");
        for text in [key.as_str(), "use AKIA0123456789ABCDEF now", "-----BEGIN RSA PRIVATE KEY-----\nMII"] {
            assert_eq!(leaks(&json!({"a": text}), "s", &[]).len(), 1, "{text}");
        }
        for text in
            ["sk-short1", "a task-oriented-and-long-hyphenated-word", "AKIA is a prefix", "ghp_ tokens"]
        {
            assert!(leaks(&json!({"a": text}), "s", &[]).is_empty(), "{text}");
        }
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
