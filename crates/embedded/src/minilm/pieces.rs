//! Text to word pieces, as BERT has them, and long texts to parts.

use std::path::Path;

use tokenizers::Tokenizer;

use super::unusable;
use crate::Broken;

/// How texts are cut.
pub(super) struct Pieces {
    tokenizer: Tokenizer,
    /// The tokens that stand before and after each part.
    begin: u32,
    end: u32,
    /// The most pieces of a part, without those two.
    most: usize,
}

impl Pieces {
    /// From a `tokenizer.json`, for a model that reads so many tokens at once.
    pub(super) fn read(path: &Path, tokens_max: usize) -> Result<Self, Broken> {
        let mut tokenizer = Tokenizer::from_file(path).map_err(|why| unusable(path, &why))?;
        // The file asks for a cut after 128 tokens and for padding, which a caller could not see.
        tokenizer.with_truncation(None).map_err(|why| unusable(path, &why))?;
        tokenizer.with_padding(None);
        // What a text says about `[SEP]` is text.
        tokenizer.set_encode_special_tokens(true);
        let special = |name: &str| {
            tokenizer.token_to_id(name).ok_or_else(|| unusable(path, &format!("it has no {name}")))
        };
        let (begin, end) = (special("[CLS]")?, special("[SEP]")?);
        let most = tokens_max.saturating_sub(2);
        Ok(Self { tokenizer, begin, end, most })
    }

    /// The tokens of a text: one part, or as few of about the same length as can be read. None for a text without words.
    pub(super) fn parts(&self, text: &str) -> Result<Vec<Vec<u32>>, Broken> {
        let encoding = self.tokenizer.encode_fast(text, false);
        let encoding = encoding.map_err(|why| Broken::Prompt(format!("a text cannot be cut: {why}")))?;
        let framed = |part: &[u32]| [&[self.begin], part, &[self.end]].concat();
        Ok(even(encoding.get_ids(), self.most).map(framed).collect())
    }
}

/// As few slices of at most `most` as there can be, of about the same length: a last one of a few words would say little.
fn even(pieces: &[u32], most: usize) -> impl Iterator<Item = &[u32]> {
    let parts = pieces.len().div_ceil(most).max(1);
    pieces.chunks(pieces.len().div_ceil(parts).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_whole_in_parts_of_about_the_same_length() {
        for (pieces, lengths) in [
            (0, &[][..]),
            (1, &[1]),
            (10, &[10]),
            (11, &[6, 5]),
            (20, &[10, 10]),
            (21, &[7, 7, 7]),
            (95, &[10, 10, 10, 10, 10, 10, 10, 10, 10, 5]),
        ] {
            let text: Vec<u32> = (0..pieces).collect();
            let parts: Vec<&[u32]> = even(&text, 10).collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), lengths);
            assert_eq!(parts.concat(), text);
        }
    }
}
