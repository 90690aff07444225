//! The table of a protocol's options, and how a user's values are checked against it.

use serde_json::{Map, Value, json};

/// A user's request that cannot be carried out. The sentence says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// From a sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

/// What an option's value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number in this range.
    Int(u32, u32),
    /// A number in this range.
    Float(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// The path of a text file. The caller reads it into the request's files, with the option's key as its part.
    File,
    /// Names of models with commas between them; empty for those of the configuration.
    Models,
}

/// One option of a protocol.
#[derive(Debug, Clone, Copy)]
pub struct Opt {
    /// The key of `--set key=value`; with dashes it is also a flag, unless it has a dot.
    pub key: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// The default, as a user would write it; empty for "not set".
    pub default: &'static str,
    /// One line for help.
    pub help: &'static str,
}

impl Opt {
    fn parse(&self, raw: &str) -> Result<Value, Invalid> {
        let wrong =
            |want: String| Invalid(format!("{} is {raw:?}, but it must be {want}: {}", self.key, self.help));
        match self.kind {
            Kind::Int(low, high) => {
                let number = raw.trim().parse::<u32>().ok().filter(|n| (low..=high).contains(n));
                number.map(|n| json!(n)).ok_or_else(|| wrong(format!("a whole number from {low} to {high}")))
            }
            Kind::Float(low, high) => {
                let number = raw.trim().parse::<f64>().ok().filter(|n| (low..=high).contains(n));
                number.map(|n| json!(n)).ok_or_else(|| wrong(format!("a number from {low} to {high}")))
            }
            Kind::Choice(words) if words.contains(&raw) => Ok(json!(raw)),
            Kind::Choice(words) => Err(wrong(format!("one of {}", words.join(", ")))),
            Kind::Flag => match raw {
                "true" => Ok(json!(true)),
                "false" => Ok(json!(false)),
                _ => Err(wrong("true or false".into())),
            },
            Kind::Text | Kind::Models => Ok(json!(raw)),
            Kind::File if raw.trim().is_empty() => Err(wrong("the path of a file".into())),
            Kind::File => Ok(json!(raw)),
        }
    }
}

/// Checks what a user set against the table and fills in the defaults.
pub fn resolve(
    table: &[Opt],
    given: impl IntoIterator<Item = (String, String)>,
) -> Result<Map<String, Value>, Invalid> {
    let mut options = Map::new();
    for opt in table.iter().filter(|opt| !opt.default.is_empty()) {
        options.insert(opt.key.to_owned(), opt.parse(opt.default)?);
    }
    for (key, raw) in given {
        let opt = table.iter().find(|opt| opt.key == key).ok_or_else(|| {
            let known: Vec<&str> = table.iter().map(|opt| opt.key).collect();
            Invalid(format!("there is no option {key:?}; the options are: {}", known.join(", ")))
        })?;
        options.insert(key, opt.parse(&raw)?);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Opt] = &[
        Opt { key: "max_rounds", kind: Kind::Int(1, 20), default: "3", help: "the most rounds" },
        Opt { key: "agreement_score", kind: Kind::Float(0.0, 1.0), default: "0.8", help: "the threshold" },
        Opt { key: "mode", kind: Kind::Choice(&["quick", "deep"]), default: "deep", help: "the stages" },
        Opt { key: "strict", kind: Kind::Flag, default: "false", help: "no degraded verdict" },
        Opt { key: "focus", kind: Kind::Text, default: "", help: "the field" },
    ];

    fn set(key: &str, raw: &str) -> Result<Value, String> {
        let resolved = resolve(TABLE, [(key.to_owned(), raw.to_owned())]).map_err(|why| why.0)?;
        Ok(resolved[key].clone())
    }

    #[test]
    fn an_unknown_key_or_an_impossible_value_is_an_error() {
        assert_eq!(set("max_rounds", "4"), Ok(json!(4)));
        for (key, raw) in [
            ("max_rounds", "0"),
            ("max_rounds", "21"),
            ("max_rounds", "-1"),
            ("max_rounds", "2.5"),
            ("max_rounds", ""),
            ("agreement_score", "1.1"),
            ("agreement_score", "NaN"),
            ("mode", "fast"),
            ("strict", "yes"),
        ] {
            let why = set(key, raw).unwrap_err();
            assert!(why.contains(key) && why.contains("must be"), "{why}");
        }
        assert!(set("rounds", "3").unwrap_err().contains("the options are: max_rounds"));
    }

    #[test]
    fn defaults_fill_what_was_not_set() {
        let options = resolve(TABLE, []).unwrap();
        assert_eq!(
            Value::Object(options),
            json!({"max_rounds": 3, "agreement_score": 0.8, "mode": "deep", "strict": false})
        );
    }
}
