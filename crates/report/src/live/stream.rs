//! The readable part of a reply while it streams.

/// Only the end of a stream is shown, so only this much of it is kept.
const KEPT_CHARS_MAX: usize = 600;

/// Takes a reply in pieces and keeps its readable end. Of a reply in JSON, only the string values are kept.
#[derive(Debug, Default)]
pub(crate) struct ReplyStream {
    mode: StreamMode,
    shown: String,
}

#[derive(Debug, Default)]
enum StreamMode {
    /// Only white space or the beginning of a code fence so far.
    #[default]
    Undecided,
    Plain,
    Json(JsonPosition),
}

/// Where in a JSON text the stream is.
#[derive(Debug, Default)]
struct JsonPosition {
    /// For each open container, whether it is an object.
    open: Vec<bool>,
    /// Whether the next string is a key.
    key: bool,
    string: Option<StringEscape>,
}

#[derive(Debug)]
enum StringEscape {
    None,
    Backslash,
    /// The hexadecimal digits so far.
    Unicode(String),
}

impl ReplyStream {
    pub(crate) fn push(&mut self, text: &str) {
        for char in text.chars() {
            self.push_char(char);
        }
        let count = self.shown.chars().count();
        if count > KEPT_CHARS_MAX {
            self.shown = self.shown.chars().skip(count - KEPT_CHARS_MAX).collect();
        }
    }

    /// The last readable line.
    pub(crate) fn last_line(&self) -> String {
        let last = self.shown.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        agon_host::clean_line(last)
    }

    fn push_char(&mut self, char: char) {
        match &mut self.mode {
            StreamMode::Undecided => self.decide(char),
            StreamMode::Plain => self.shown.push(char),
            StreamMode::Json(json) => {
                if let Some(read) = json.read(char) {
                    self.shown.push_str(&read);
                }
            }
        }
    }

    fn decide(&mut self, char: char) {
        let fenced = self.shown.starts_with("```");
        match char {
            '{' | '[' if self.shown.is_empty() || fenced => {
                self.shown.clear();
                let mut json = JsonPosition::default();
                json.read(char);
                self.mode = StreamMode::Json(json);
            }
            '`' => self.shown.push(char),
            // The JSON may begin with "```json".
            _ if fenced && (char.is_alphanumeric() || char.is_whitespace()) && self.shown.len() < 16 => {
                self.shown.push(char);
            }
            _ if char.is_whitespace() && self.shown.is_empty() => {}
            _ => {
                self.shown.push(char);
                self.mode = StreamMode::Plain;
            }
        }
    }
}

impl JsonPosition {
    /// The readable text that this character adds.
    fn read(&mut self, char: char) -> Option<String> {
        match &mut self.string {
            Some(escape) => {
                let (ended, read) = escape.read(char);
                let key = self.key;
                if ended {
                    self.string = None;
                    return (!key).then(|| "\n".to_owned());
                }
                read.filter(|_| !key).map(String::from)
            }
            None => {
                self.structure(char);
                None
            }
        }
    }

    fn structure(&mut self, char: char) {
        match char {
            '"' => self.string = Some(StringEscape::None),
            '{' | '[' => {
                self.open.push(char == '{');
                self.key = char == '{';
            }
            '}' | ']' => {
                self.open.pop();
                self.key = false;
            }
            ',' => self.key = self.open.last() == Some(&true),
            ':' => self.key = false,
            _ => {}
        }
    }
}

impl StringEscape {
    /// Whether the string ends here, and the character that is meant.
    fn read(&mut self, char: char) -> (bool, Option<char>) {
        match self {
            Self::None if char == '"' => (true, None),
            Self::None if char == '\\' => {
                *self = Self::Backslash;
                (false, None)
            }
            Self::None => (false, Some(char)),
            Self::Backslash => {
                *self = if char == 'u' { Self::Unicode(String::new()) } else { Self::None };
                let meant = match char {
                    'n' | 'r' => Some('\n'),
                    't' => Some(' '),
                    'u' | 'b' | 'f' => None,
                    other => Some(other),
                };
                (false, meant)
            }
            Self::Unicode(digits) => {
                digits.push(char);
                if digits.len() < 4 {
                    return (false, None);
                }
                // Half of a surrogate pair is not a character and is left out.
                let read = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                *self = Self::None;
                (false, read)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(text: &str, piece: usize) -> String {
        let mut stream = ReplyStream::default();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(piece) {
            stream.push(&piece.iter().collect::<String>());
        }
        agon_host::clean_line(&stream.shown)
    }

    #[test]
    fn structured_replies_show_their_words_however_they_are_cut() {
        let json = r#" {"stance": "maintain", "key_points": ["Costs \"rise\"", "a\u00e9\nb"], "confidence": 0.9, "x": {"y": "z"}} "#;
        for (text, shown) in [
            (json, "maintain Costs \"rise\" a\u{e9} b z"),
            ("```json\n{\"answer\": \"No.\"}\n```", "No."),
            ("[\"a\", {\"k\": \"b\"}, \"c\"]", "a b c"),
            ("Plain {text} with \"quotes\".", "Plain {text} with \"quotes\"."),
            ("`code` first", "`code` first"),
            ("{\"half\": \"an ans", "an ans"),
            ("{\"key_only", ""),
            ("", ""),
        ] {
            for piece in [1, 3, 1000] {
                assert_eq!(streamed(text, piece), shown, "{text:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn only_the_end_is_kept() {
        let mut stream = ReplyStream::default();
        (0..2_000).for_each(|n| stream.push(&format!("line {n}\n")));
        assert!(stream.shown.chars().count() <= KEPT_CHARS_MAX);
        assert_eq!(stream.last_line(), "line 1999");
    }
}
