//! How many values a JSON text has, before it is parsed. A value of two bytes, such as `{}`, takes a hundred in memory, so a limit on
//! the length of a text is no limit on the memory that it takes.

/// The most values of one message.
pub const JSON_VALUES_MAX: usize = 500_000;

/// Whether a JSON text has no more than [`JSON_VALUES_MAX`] values.
#[must_use]
pub fn has_few_json_values(text: &[u8]) -> bool {
    let mut counter = JsonValueCounter::default();
    text.iter().all(|byte| counter.add(*byte))
}

/// Counts the values of one text, byte by byte: every one is behind a `{`, a `[` or a `,` that is not in a string, but for the outermost.
#[derive(Debug, Default)]
pub struct JsonValueCounter {
    values: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl JsonValueCounter {
    /// Adds a byte. Returns whether there are no more values than there may be.
    pub fn add(&mut self, byte: u8) -> bool {
        match (self.is_in_string, byte) {
            (true, _) if self.is_escaped => self.is_escaped = false,
            (true, b'\\') => self.is_escaped = true,
            (_, b'"') => self.is_in_string = !self.is_in_string,
            (false, b'{' | b'[' | b',') => self.values += 1,
            _ => {}
        }
        self.values <= JSON_VALUES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_strings_are_not_looked_into() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(has_few_json_values(list(JSON_VALUES_MAX).as_bytes()));
        assert!(!has_few_json_values(list(JSON_VALUES_MAX + 1).as_bytes()));
        for text in ["{", "[", "{\"a\":{},", "\"a\\\\\",", "\"\\\"\","] {
            assert!(!has_few_json_values(text.repeat(JSON_VALUES_MAX + 1).as_bytes()), "{text}");
        }
        let words = "{[,\\\\\\\"".repeat(JSON_VALUES_MAX);
        assert!(has_few_json_values(format!("{{\"a\": \"{words}\"}}").as_bytes()));
    }
}
