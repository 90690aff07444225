//! A limit on how deep a document may be nested, for readers that have none of their own.

/// How many brackets may be open at once. The reader of YAML takes minutes for a file that is nothing but open brackets.
pub const BRACKETS_MAX: usize = 200;

/// Whether more brackets are open at once than a document may have. Brackets in texts count, too.
pub fn is_nested_too_deeply(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > BRACKETS_MAX
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_brackets_are_counted_and_closed_ones_are_not() {
        assert!(is_nested_too_deeply(&"[".repeat(BRACKETS_MAX + 1)));
        assert!(is_nested_too_deeply(&"a: {".repeat(400_000)));
        assert!(!is_nested_too_deeply(&"[".repeat(BRACKETS_MAX)));
        assert!(!is_nested_too_deeply(&"[]{}".repeat(10_000)));
    }
}
