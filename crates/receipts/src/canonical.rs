//! JSON with one spelling (RFC 8785): the same value is always the same bytes, whoever writes it.

use serde_json::Value;

/// A value in its one spelling: keys sorted, no white space, numbers as ECMAScript writes them.
pub fn text(value: &Value) -> Result<String, serde_json::Error> {
    serde_json_canonicalizer::to_string(value)
}

/// A value as it comes back from its one spelling, which knows one kind of number: only such values can be compared
/// with one that was read from a receipt.
pub fn normal(value: &Value) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&text(value)?)
}
