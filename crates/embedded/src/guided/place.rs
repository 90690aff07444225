//! Where in a JSON text the pen is.

/// What the last byte belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Between values, or in a word like `null`.
    #[default]
    Between,
    /// In a text or the name of a field, perhaps behind a backslash.
    Text { escaped: bool },
    /// In a number of so many characters.
    Number { length: usize },
}

impl Place {
    /// Goes on over these bytes.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::Text { escaped: true }, _) => Self::Text { escaped: false },
                (Self::Text { .. }, b'\\') => Self::Text { escaped: true },
                (Self::Text { .. }, b'"') => Self::Between,
                (text @ Self::Text { .. }, _) => text,
                (_, b'"') => Self::Text { escaped: false },
                (Self::Number { length }, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E') => {
                    Self::Number { length: length + 1 }
                }
                (_, b'0'..=b'9' | b'-') => Self::Number { length: 1 },
                _ => Self::Between,
            };
        }
    }

    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text { .. })
    }
}
