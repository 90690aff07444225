//! What must hold for any rubric or list of names. The tests and the fuzz target `yaml` call it.

use crate::named_lists::{name_key, read_named_list};

/// A list is read, with names that differ and are not empty, or refused with a sentence, in bounded time and stack.
pub fn named_lists(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match read_named_list(&text, &["description", "weight"]) {
        Ok(named) => {
            let keys: std::collections::BTreeSet<String> =
                named.iter().map(|(name, _)| name_key(name)).collect();
            assert_eq!(keys.len(), named.len(), "{text:?}");
            assert!(!keys.is_empty() && !keys.contains(""), "{text:?}");
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_list_at_all_stops_its_reader() {
        const PIECES: &[&str] = &[
            "name: ",
            "accuracy",
            "weight: 30",
            "description: x",
            "  ",
            "\n",
            "- ",
            "{",
            "}",
            "[",
            "]",
            ": ",
            " = ",
            "[a]",
            "[[p]]",
            "\"",
            "'",
            "&a ",
            "*a",
            "<<: ",
            "---\n",
            "#",
            "|\n",
            "~",
            "\t",
            "1",
            "?",
        ];
        agon_fuzzing::check("yaml", PIECES, super::named_lists);
    }
}
