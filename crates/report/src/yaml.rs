//! The outcome as YAML.

use serde_json::Value;

/// The document cannot be written as YAML.
#[derive(Debug, thiserror::Error)]
#[error("this debate cannot be written as YAML ({0}): export it with `--format json`")]
pub struct NotYaml(#[from] serde_norway::Error);

/// The outcome document as YAML, field for field. YAML escapes control characters, so nothing is cleaned. Readers of YAML 1.1 get
/// the same document, although `no` without quotes is false for them.
pub fn yaml(document: &Value) -> Result<String, NotYaml> {
    let text = document.to_string();
    // The YAML writer has no option to quote strings. A placeholder that does not occur in the text is replaced by quotes.
    let Some(sign) = ('\u{e000}'..='\u{f8ff}').find(|sign| !text.contains(*sign)) else {
        return Ok(serde_norway::to_string(document)?);
    };
    Ok(serde_norway::to_string(&marked(document, sign))?.replace(sign, "'"))
}

fn marked(value: &Value, sign: char) -> Value {
    let mark = |text: &str| if is_ambiguous(text) { format!("{sign}{text}{sign}") } else { text.to_owned() };
    match value {
        Value::String(text) => mark(text).into(),
        Value::Array(items) => items.iter().map(|item| marked(item, sign)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, field)| (mark(key), marked(field, sign)));
            fields.collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Whether a reader of YAML 1.1 may read a string without quotes as a boolean, a number, a date or a time. Strings that only look
/// like such values are quoted, too.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "="];
    if WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    let numeric = |char: char| char.is_ascii_hexdigit() || "xXoO_:.,+-TtZz ".contains(char);
    let begins = text.starts_with(|char: char| char.is_ascii_digit() || "+-.".contains(char));
    // The writer quotes a colon before a space.
    let quoted = text.contains(": ") || text.trim() != text || text.len() > 64;
    begins && text.contains(|char: char| char.is_ascii_digit()) && text.chars().all(numeric) && !quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_that_yaml_1_1_would_read_as_other_values_are_quoted() {
        for text in [
            "no",
            "Yes",
            "ON",
            "off",
            "y",
            "N",
            "true",
            "null",
            "2026-01-02",
            "2026-01-02T03:04:05Z",
            "12:30:45",
            "1_000",
            "0x1F",
            "0o17",
            "017",
            "1e5",
            "-1.5",
            "+3",
            ".5",
            "1,000",
            "= ",
            "=",
            "7",
            "12: 30",
            "-",
            "~",
            "",
            "0b11",
        ] {
            let document = json!({"value": text, text: [text]});
            let written = yaml(&document).unwrap();
            assert!(!written.contains(&format!(": {text}\n")), "{text:?} is bare in {written}");
            assert_eq!(serde_norway::from_str::<Value>(&written).unwrap(), document, "{written}");
        }
    }

    #[test]
    fn words_stay_bare_and_private_signs_stay_themselves() {
        assert_eq!(
            yaml(&json!({"a": "Tabs, not spaces", "b": "none"})).unwrap(),
            "a: Tabs, not spaces\nb: none\n"
        );
        let odd = json!({"a": "\u{e000}no\u{e000}", "b": "no"});
        assert_eq!(serde_norway::from_str::<Value>(&yaml(&odd).unwrap()).unwrap(), odd);
    }
}
