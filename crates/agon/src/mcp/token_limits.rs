//! How much text a result may have. An agent pays for every token that it reads.

/// Text has at least this many bytes per token in the languages and tokenizers that are in use.
const BYTES_PER_TOKEN: usize = 3;

/// How many bytes surely fit into this many tokens.
pub fn bytes_for_tokens(tokens: usize) -> usize {
    tokens.saturating_mul(BYTES_PER_TOKEN)
}

/// About how many tokens a text has, rather too many than too few.
pub fn tokens_of(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// The text, cut to at most this many bytes. What was cut off is said at its end: `rest` is how to get it.
pub fn cut_text(text: &str, bytes_max: usize, rest: &str) -> String {
    let text = text.trim();
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let note = |left: usize| format!(" [cut: about {left} tokens more; {rest}]");
    let room = bytes_max.saturating_sub(note(text.len()).len());
    let (kept, left) = text.split_at(text.floor_char_boundary(room));
    format!("{}{}", kept.trim_end(), note(tokens_of(left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_character_and_says_so() {
        assert_eq!(cut_text(" short ", 10, "ask"), "short");
        for text in ["a".repeat(500), "é".repeat(300), "討論".repeat(200)] {
            for room in [60, 61, 62, 63, 200] {
                let cut = cut_text(&text, room, "raise max_tokens");
                assert!(cut.len() <= room && cut.ends_with("raise max_tokens]"), "{cut}");
            }
        }
    }
}
