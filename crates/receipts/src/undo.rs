//! What an event's body was before a single byte of it was changed.
//!
//! The hash of the true bytes is known, and so are all bodies that are one byte away from the one that was found: the one
//! among them that has the hash is what was there.

use sha2::{Digest, Sha256};

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Undone {
    /// The body as it was.
    Found(String),
    /// More than a byte was changed.
    MoreThanAByte,
    /// It would take too long to say.
    GaveUp,
}

/// Looks for the body that has this hash after `previous`, one byte away from `body`. It hashes at most `left_bytes`, and takes
/// from that what it has hashed.
pub(crate) fn undo(previous: &str, body: &str, hash: &str, left_bytes: &mut u64) -> Undone {
    let Some(wanted) = unhex(hash) else { return Undone::MoreThanAByte };
    let mut search = Search { previous, body: body.as_bytes(), wanted, left_bytes: *left_bytes };
    let printable: Vec<u8> = (b' '..=b'~').chain(*b"\n\t\r").collect();
    let others: Vec<u8> = (0..=u8::MAX).filter(|byte| !printable.contains(byte)).collect();
    // What is cheap and what is likely comes first.
    let found = search
        .spellings()
        .or_else(|| search.replaced(&printable))
        .or_else(|| search.removed(&printable))
        .or_else(|| search.replaced(&others))
        .or_else(|| search.removed(&others));
    *left_bytes = search.left_bytes;
    match found.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(body) => Undone::Found(body),
        None if search.left_bytes == 0 => Undone::GaveUp,
        None => Undone::MoreThanAByte,
    }
}

struct Search<'a> {
    previous: &'a str,
    body: &'a [u8],
    wanted: [u8; 32],
    left_bytes: u64,
}

impl Search<'_> {
    /// A byte that was put in, two that changed places, and an escape of the file that was broken into two characters.
    fn spellings(&mut self) -> Option<Vec<u8>> {
        self.at_each_place(|search, before, place| {
            let (one, two) = (search.body.get(place).copied(), search.body.get(place + 1).copied());
            let put_in = one.and_then(|_| search.attempt(before, place, &[], 1));
            put_in
                .or_else(|| search.attempt(before, place, &[two?, one?], 2))
                .or_else(|| ESCAPES.iter().find_map(|(_, meant)| search.attempt(before, place, &[*meant], 2)))
                .or_else(|| {
                    let (letter, _) = ESCAPES.iter().find(|(_, meant)| Some(*meant) == two)?;
                    search.attempt(before, place, &[b'\\', *letter], 2)
                })
        })
    }

    /// A byte in the place of another.
    fn replaced(&mut self, alphabet: &[u8]) -> Option<Vec<u8>> {
        self.at_each_place(|search, before, place| {
            let is = *search.body.get(place)?;
            let mut others = alphabet.iter().filter(|was| **was != is);
            others.find_map(|was| search.attempt(before, place, &[*was], 1))
        })
    }

    /// A byte that was taken out.
    fn removed(&mut self, alphabet: &[u8]) -> Option<Vec<u8>> {
        self.at_each_place(|search, before, place| {
            alphabet.iter().find_map(|was| search.attempt(before, place, &[*was], 0))
        })
    }

    /// Calls `visit` with the state of the hash before each place, the end included.
    fn at_each_place(
        &mut self,
        mut visit: impl FnMut(&mut Self, &Sha256, usize) -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let mut before = Sha256::new();
        before.update(self.previous.as_bytes());
        for place in 0..=self.body.len() {
            if let Some(found) = visit(self, &before, place) {
                return Some(found);
            }
            before.update(self.body.get(place..place + 1).unwrap_or_default());
        }
        None
    }

    /// The body with `middle` instead of the `length` bytes at a place, if that has the hash.
    fn attempt(&mut self, before: &Sha256, place: usize, middle: &[u8], length: usize) -> Option<Vec<u8>> {
        let after = self.body.get(place + length..)?;
        self.left_bytes = self.left_bytes.saturating_sub((middle.len() + after.len()) as u64 + 1);
        if self.left_bytes == 0 {
            return None;
        }
        let mut hasher = before.clone();
        hasher.update(middle);
        hasher.update(after);
        if hasher.finalize().as_slice() != self.wanted {
            return None;
        }
        Some([self.body.get(..place)?, middle, after].concat())
    }
}

/// The letters that stand for bytes after a backslash.
const ESCAPES: [(u8, u8); 7] =
    [(b'n', b'\n'), (b't', b'\t'), (b'r', b'\r'), (b'"', b'"'), (b'\\', b'\\'), (b'b', 8), (b'f', 12)];

fn unhex(hash: &str) -> Option<[u8; 32]> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = hash.as_bytes().chunks(2).map(pair).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use agon_core::event::{GENESIS, sha256};

    use super::*;

    const BODY: &str = r#"{"text":"né \n it \"is\"","n":10}"#;

    fn undone(found: &str, mut limit_bytes: u64) -> Undone {
        undo(GENESIS, found, &sha256(&format!("{GENESIS}{BODY}")), &mut limit_bytes)
    }

    #[test]
    fn any_one_byte_that_was_changed_is_found() {
        for place in 0..BODY.len() {
            for is in [b'x', b'\n', b'"'] {
                let mut changed = BODY.as_bytes().to_vec();
                changed[place] = is;
                let Ok(changed) = String::from_utf8(changed) else { continue };
                assert_eq!(undone(&changed, u64::MAX), Undone::Found(BODY.into()), "{changed}");
            }
        }
    }

    #[test]
    fn a_byte_that_was_put_in_or_taken_out_is_found() {
        for place in (0..BODY.len()).filter(|place| BODY.is_char_boundary(*place)) {
            let (before, after) = BODY.split_at(place);
            assert_eq!(undone(&format!("{before}Z{after}"), u64::MAX), Undone::Found(BODY.into()));
            let mut rest = after.chars();
            if rest.next().is_some_and(|first| first.len_utf8() == 1) {
                let found = format!("{before}{}", rest.as_str());
                assert_eq!(undone(&found, u64::MAX), Undone::Found(BODY.into()), "{found}");
            }
        }
    }

    /// In the file, a newline in a body is a backslash and an `n`: a change of the backslash makes two characters of it.
    #[test]
    fn an_escape_that_was_broken_is_found() {
        let body = "a line\nanother \\n";
        let hash = sha256(&format!("{GENESIS}{body}"));
        for found in ["a linexnanother \\n", "a line\nanother x\n"] {
            assert_eq!(
                undo(GENESIS, found, &hash, &mut u64::MAX.clone()),
                Undone::Found(body.into()),
                "{found}"
            );
        }
    }

    #[test]
    fn more_than_a_byte_is_not_guessed_and_a_limit_is_kept() {
        assert_eq!(undone(r#"{"text":"no \n it \"is\"","n":11}"#, u64::MAX), Undone::MoreThanAByte);
        assert_eq!(undone(&BODY.replace("10", "11"), 100), Undone::GaveUp);
        assert_eq!(undo(GENESIS, BODY, "no hash", &mut u64::MAX.clone()), Undone::MoreThanAByte);
    }
}
