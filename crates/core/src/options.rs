//! The table of a protocol's options, and how a user's values are checked against it.

use serde_json::{Map, Value, json};

use crate::Corrupt;

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
pub enum OptionKind {
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
    /// The name of a model, or a fallback chain. An option that becomes the model of an ask is of this kind or of the next: who may
    /// not name a model is refused by the kind.
    Model,
    /// Names of models with commas between them; empty for those of the configuration.
    Models,
}

/// One option of a protocol.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// The key of `--set key=value`. With dashes it is also a flag, unless it has a dot.
    pub key: &'static str,
    /// What its value may be.
    pub kind: OptionKind,
    /// The default, as a user would write it; empty for "not set".
    pub default: &'static str,
    /// One line for help.
    pub help: &'static str,
    /// An environment variable that sets it. The command line outranks it.
    pub environment: Option<&'static str>,
}

impl OptionSpec {
    /// Whether its value names models.
    pub fn names_models(&self) -> bool {
        matches!(self.kind, OptionKind::Model | OptionKind::Models)
    }

    fn parse(&self, raw: &str) -> Result<Value, Invalid> {
        let wrong =
            |want: String| Invalid(format!("{} is {raw:?}, but it must be {want}: {}", self.key, self.help));
        match self.kind {
            OptionKind::Int(low, high) => {
                let number = raw.trim().parse::<u32>().ok().filter(|n| (low..=high).contains(n));
                number.map(|n| json!(n)).ok_or_else(|| wrong(format!("a whole number from {low} to {high}")))
            }
            OptionKind::Float(low, high) => {
                let number = raw.trim().parse::<f64>().ok().filter(|n| (low..=high).contains(n));
                number.map(|n| json!(n)).ok_or_else(|| wrong(format!("a number from {low} to {high}")))
            }
            OptionKind::Choice(words) if words.contains(&raw) => Ok(json!(raw)),
            OptionKind::Choice(words) => Err(wrong(format!("one of {}", words.join(", ")))),
            OptionKind::Flag => match raw {
                "true" => Ok(json!(true)),
                "false" => Ok(json!(false)),
                _ => Err(wrong("true or false".into())),
            },
            OptionKind::Text | OptionKind::Model | OptionKind::Models => Ok(json!(raw)),
            OptionKind::File if raw.trim().is_empty() => Err(wrong("the path of a file".into())),
            OptionKind::File => Ok(json!(raw)),
        }
    }
}

/// Checks what a user set against the table and fills in the defaults.
pub fn resolve(
    table: &[OptionSpec],
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

/// Refuses options that are not in the table, or whose values are not of its kinds.
pub fn check_options(table: &[OptionSpec], options: &Map<String, Value>) -> Result<(), Corrupt> {
    for (key, value) in options {
        let raw = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let spec = table.iter().find(|spec| spec.key == key);
        let is_allowed = spec.is_some_and(|spec| spec.parse(&raw).is_ok_and(|parsed| parsed == *value));
        if !(is_allowed || value.is_null() && spec.is_some()) {
            return Err(Corrupt::Option { key: key.clone(), value: value.to_string() });
        }
    }
    Ok(())
}

/// A type that an option's value is read into.
pub trait OptionValue: Sized {
    /// The value, where it has the right type.
    fn from_json(value: &Value) -> Option<Self>;

    /// The value as a brief has it. Null means "not set".
    fn to_json(&self) -> Value;
}

impl OptionValue for u32 {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64().and_then(|number| Self::try_from(number).ok())
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

impl OptionValue for usize {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64().and_then(|number| Self::try_from(number).ok())
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

impl OptionValue for f64 {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_f64()
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

impl OptionValue for bool {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

impl OptionValue for String {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }
}

/// An option that may be unset.
impl<T: OptionValue> OptionValue for Option<T> {
    fn from_json(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_json(value).map(Some) }
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }
}

/// Reads one option from a debate's options, else its default, else the type's default.
pub fn read_option<T: OptionValue + Default>(options: &Map<String, Value>, spec: &OptionSpec) -> T {
    let set = options.get(spec.key).and_then(T::from_json);
    let default = || {
        // An empty default means "not set", which is not the same as an empty text.
        let parsed = if spec.default.is_empty() { None } else { spec.parse(spec.default).ok() };
        parsed.as_ref().and_then(T::from_json)
    };
    set.or_else(default).unwrap_or_default()
}

/// Declares a protocol's options once: a struct with a typed field for each, the table `SPECS` that help, flags and validation
/// derive from, `read`, which fills the struct from a brief's options, and `write`, which is its inverse.
///
/// ```
/// agon_core::protocol_options! {
///     /// What a user may set.
///     pub struct ExampleOptions {
///         max_rounds: u32 = Int(1, 20), "3", "the debate ends after this round";
///         strict: bool = Flag, "false", "stop without a synthesis when a limit is reached";
///         weight_of_clarity as "weights.clarity": f64 = Float(0.0, 100.0), "10", "the weight of clarity";
///         r2_timeout: f64 = Float(0.1, 3600.0), "90", "seconds for round 2", env "COUNCIL_R2_TIMEOUT";
///     }
/// }
/// let options = ExampleOptions::read(&agon_core::options::resolve(ExampleOptions::SPECS, []).unwrap());
/// assert_eq!((options.max_rounds, options.strict, options.weight_of_clarity), (3, false, 10.0));
/// assert_eq!(ExampleOptions { max_rounds: 5, ..options }.write()["max_rounds"], 5);
/// ```
#[macro_export]
macro_rules! protocol_options {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident $(as $key:literal)? : $type:ty =
                $kind:ident $(( $($argument:expr),* $(,)? ))?, $default:literal, $help:expr $(, env $env:literal)? ;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $($(#[$field_meta])* #[doc = $help] pub $field: $type,)+
        }

        impl $name {
            /// The table of the options.
            $vis const SPECS: &'static [$crate::OptionSpec] = &[
                $($crate::OptionSpec {
                    key: $crate::option_key!($field $(, $key)?),
                    kind: $crate::OptionKind::$kind $(( $($argument),* ))?,
                    default: $default,
                    help: $help,
                    environment: $crate::option_environment!($($env)?),
                },)+
            ];

            /// Reads the options of a brief or a request.
            $vis fn read(options: &::serde_json::Map<String, ::serde_json::Value>) -> Self {
                let mut specs = Self::SPECS.iter();
                $(let $field = specs.next().map(|spec| $crate::options::read_option(options, spec)).unwrap_or_default();)+
                Self { $($field),+ }
            }

            /// The options as a brief has them. What is not set is left out.
            #[allow(dead_code, reason = "only a protocol that is part of another is given its options in this way")]
            $vis fn write(&self) -> ::serde_json::Map<String, ::serde_json::Value> {
                let fields = [$(($crate::option_key!($field $(, $key)?), $crate::options::OptionValue::to_json(&self.$field)),)+];
                let is_set = |value: &::serde_json::Value| !value.is_null() && value.as_str() != Some("");
                fields.into_iter().filter(|(_, value)| is_set(value)).map(|(key, value)| (key.to_owned(), value)).collect()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::read(&::serde_json::Map::new())
            }
        }
    };
}

/// The key of an option: its own, or the name of its field.
#[doc(hidden)]
#[macro_export]
macro_rules! option_key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident, $key:literal) => {
        $key
    };
}

/// The variable that sets an option, if there is one.
#[doc(hidden)]
#[macro_export]
macro_rules! option_environment {
    () => {
        None
    };
    ($env:literal) => {
        Some($env)
    };
}

/// Declares an enum whose values are the words of an option: `WORDS` for [`OptionKind::Choice`], `as_str`, and reading. The
/// first word is the enum's default.
///
/// ```
/// agon_core::option_words! {
///     /// The stages of a debate.
///     pub enum ExampleMode { Deep = "deep", Quick = "quick" }
/// }
/// assert_eq!(ExampleMode::WORDS, ["deep", "quick"]);
/// assert_eq!(ExampleMode::Quick.as_str(), "quick");
/// ```
#[macro_export]
macro_rules! option_words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $($(#[$variant_meta])* #[doc = $word] $variant,)+ }

        impl $name {
            /// The words, in order.
            $vis const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            $vis fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                [$(Self::$variant),+][0]
            }
        }

        impl $crate::options::OptionValue for $name {
            fn from_json(value: &::serde_json::Value) -> Option<Self> {
                match value.as_str()? {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn to_json(&self) -> ::serde_json::Value {
                self.as_str().into()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[OptionSpec] = &[
        OptionSpec {
            key: "max_rounds",
            kind: OptionKind::Int(1, 20),
            default: "3",
            help: "the most rounds",
            environment: None,
        },
        OptionSpec {
            key: "agreement_score",
            kind: OptionKind::Float(0.0, 1.0),
            default: "0.8",
            help: "the threshold",
            environment: None,
        },
        OptionSpec {
            key: "mode",
            kind: OptionKind::Choice(&["quick", "deep"]),
            default: "deep",
            help: "the stages",
            environment: None,
        },
        OptionSpec {
            key: "strict",
            kind: OptionKind::Flag,
            default: "false",
            help: "no degraded verdict",
            environment: None,
        },
        OptionSpec {
            key: "focus",
            kind: OptionKind::Text,
            default: "",
            help: "the field",
            environment: None,
        },
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
