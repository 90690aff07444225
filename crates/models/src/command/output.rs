//! What a program says.

use agon_host::TextCleaner as Cleaner;

/// Why what a program says cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It wrote more than so many bytes.
    TooLong(u64),
    /// It is no UTF-8 text.
    NotText,
    /// It could not be read.
    Broken(String),
}

/// An answer as it comes: text without colours and other orders to a terminal.
#[derive(Debug)]
pub(super) struct Answer {
    text: String,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
    cleaner: Cleaner,
    bytes_left: u64,
    bytes_max: u64,
}

impl Answer {
    pub(super) fn new(bytes_max: u64) -> Self {
        let (text, begun, cleaner) = (String::new(), Vec::new(), Cleaner::default());
        Self { text, begun, cleaner, bytes_left: bytes_max, bytes_max }
    }

    /// Takes in the next bytes and gives the text that is new.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<String, Unusable> {
        let left = self.bytes_left.checked_sub(bytes.len() as u64);
        self.bytes_left = left.ok_or(Unusable::TooLong(self.bytes_max))?;
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(all) => all.len(),
            Err(error) if error.error_len().is_some() => return Err(Unusable::NotText),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.begun.split_off(whole);
        let bytes = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8(bytes).map_err(|_| Unusable::NotText)?;
        let piece = self.cleaner.push(&text);
        self.text.push_str(&piece);
        Ok(piece)
    }

    /// What has come.
    pub(super) fn so_far(&self) -> &str {
        &self.text
    }

    /// The answer, when no more comes.
    pub(super) fn whole(self) -> Result<String, Unusable> {
        match self.begun.is_empty() {
            true => Ok(self.text.trim_end().to_owned()),
            false => Err(Unusable::NotText),
        }
    }
}

/// The last of what a program writes to its error stream.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
}

const TAIL_BYTES: usize = 2 * 1024;

impl Tail {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let over = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..over);
    }

    /// It may begin in the middle of a character, and nobody has promised that it is text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim_start_matches('\u{fffd}').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&[u8]]) -> Result<(Vec<String>, String), Unusable> {
        let mut answer = Answer::new(1_000);
        let pieces = pieces.iter().map(|bytes| answer.take(bytes)).collect::<Result<_, _>>()?;
        Ok((pieces, answer.whole()?))
    }

    /// "Deltas are streamed as stdout comes": also where a piece ends inside a character or a colour.
    #[test]
    fn pieces_are_whole_characters_without_colours() {
        let (pieces, text) = heard(&[b"\x1b[3", b"1mcaf\xc3", b"\xa9\x1b[0m \xe4\xb8", b"\xad\n"]).unwrap();
        assert_eq!(pieces, ["", "caf", "\u{e9} ", "\u{4e2d}\n"]);
        assert_eq!(text, "caf\u{e9} \u{4e2d}");
        assert_eq!(heard(&[]), Ok((vec![], String::new())), "an empty answer is an answer");
    }

    #[test]
    fn what_is_no_text_is_no_answer() {
        assert_eq!(heard(&[b"a\xffb"]), Err(Unusable::NotText));
        assert_eq!(heard(&[b"caf\xc3"]), Err(Unusable::NotText), "half a character at the end");
    }

    #[test]
    fn the_limit_on_output_is_kept_to_the_byte() {
        let mut answer = Answer::new(4);
        assert_eq!(answer.take(b"abcd"), Ok("abcd".into()));
        assert_eq!(answer.take(b"e"), Err(Unusable::TooLong(4)));
    }

    #[test]
    fn of_complaints_the_last_are_kept() {
        let mut tail = Tail::default();
        for number in 0..2_000 {
            tail.take(format!("line {number} \u{e9}\n").as_bytes());
        }
        let text = tail.text();
        assert!(text.ends_with("line 1999 \u{e9}\n") && text.len() <= TAIL_BYTES, "{text}");
        assert!(!text.contains('\u{fffd}'), "{text}");
    }
}
