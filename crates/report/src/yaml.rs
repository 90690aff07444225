//! The outcome as YAML.

use agon_core::invisible::is_invisible;
use serde_json::Value;

/// The document cannot be written as YAML.
#[derive(Debug, thiserror::Error)]
#[error("this debate cannot be written as YAML ({0}): export it with `--format json`")]
pub struct NotYaml(#[from] serde_norway::Error);

/// The outcome document as YAML, field for field. Control codes and characters that cannot be seen are escaped. Readers of YAML 1.1
/// get the same document, although `no` without quotes is false for them.
pub fn yaml(document: &Value) -> Result<String, NotYaml> {
    let text = document.to_string();
    // The YAML writer has no option to quote strings. A placeholder that does not occur in the text is replaced by the quoted string.
    let mark = (0_u32..).map(|n| format!("\u{e000}{n}\u{e000}")).find(|mark| !text.contains(mark));
    let mut quoted = QuotedStrings { mark: mark.unwrap_or_default(), strings: Vec::new() };
    let written = serde_norway::to_string(&quoted.marked(document))?;
    // Every second piece is the number of a string.
    let pieces = written.split(&quoted.mark).enumerate().map(|(place, piece)| match place % 2 {
        0 => piece,
        _ => piece.parse().ok().and_then(|n: usize| quoted.strings.get(n)).map_or(piece, String::as_str),
    });
    Ok(pieces.collect())
}

/// The strings that must be in quotes, as they are written in the end.
struct QuotedStrings {
    mark: String,
    strings: Vec<String>,
}

impl QuotedStrings {
    fn marked(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.mark(text).into(),
            Value::Array(items) => items.iter().map(|item| self.marked(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, field)| (self.mark(key), self.marked(field)));
                fields.collect::<serde_json::Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }

    fn mark(&mut self, text: &str) -> String {
        let quoted = match text {
            _ if text.chars().any(is_hidden) => escaped(text),
            _ if is_ambiguous(text) => format!("'{text}'"),
            _ => return text.to_owned(),
        };
        self.strings.push(quoted);
        format!("{mark}{}{mark}", self.strings.len() - 1, mark = self.mark)
    }
}

/// Whether a reader would not see this character, or a terminal would obey it.
fn is_hidden(c: char) -> bool {
    is_invisible(c) || ('\u{7f}'..='\u{9f}').contains(&c)
}

/// A string in double quotes, with hidden characters as `\u202e`. What JSON escapes, YAML reads in the same way, except for pairs of
/// surrogates.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in Value::from(text).to_string().chars() {
        match u32::from(c) {
            _ if !is_hidden(c) => escaped.push(c),
            code @ 0..=0xffff => escaped.push_str(&format!("\\u{code:04x}")),
            code => escaped.push_str(&format!("\\U{code:08x}")),
        }
    }
    escaped
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
        let odd = json!({"a": "\u{e000}no\u{e000}", "b": "no", "c": "\u{e000}0\u{e000}", "d": "\u{e000}1"});
        assert_eq!(serde_norway::from_str::<Value>(&yaml(&odd).unwrap()).unwrap(), odd);
    }

    #[test]
    fn no_hidden_character_is_raw_and_the_document_stays_the_same() {
        let hidden = [
            "\u{202e}",
            "\u{9b}",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{e0041}",
            "\u{200b}",
            "\u{fe0f}",
        ];
        for hidden in hidden {
            for text in [
                hidden.to_owned(),
                format!("no{hidden}"),
                format!("two\nlines{hidden}\n"),
                format!("a \"quote\" and a \\ and: {hidden} # x"),
            ] {
                let document = json!({"value": text, &text: [text, {"deep": text}]});
                let written = yaml(&document).unwrap();
                assert!(!written.chars().any(is_hidden), "{written:?}");
                assert_eq!(serde_norway::from_str::<Value>(&written).unwrap(), document, "{written}");
            }
        }
        assert_eq!(yaml(&json!({"a": "x\u{202e}\u{e0041}"})).unwrap(), "a: \"x\\u202e\\U000e0041\"\n");
    }
}
