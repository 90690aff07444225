//! Where in a JSON text a byte is.

/// The path to the value that a JSON text is in the middle of at this byte, as far as the text before it can be read:
/// `log[7].body`. Empty at the top.
pub(crate) fn path(text: &[u8], offset: usize) -> String {
    let mut trail = Trail::default();
    for byte in text.iter().take(offset) {
        trail.step(*byte);
    }
    trail.path()
}

/// The byte at which a parser stopped.
pub(crate) fn offset(text: &[u8], error: &serde_json::Error) -> usize {
    let lines = text.split(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let before: usize = lines.map(|line| line.len() + 1).sum();
    before + error.column().saturating_sub(1)
}

#[derive(Default)]
struct Trail {
    levels: Vec<Level>,
    text: Option<Text>,
}

enum Level {
    /// The name of the field, and whether its value has begun.
    Object {
        name: String,
        named: bool,
    },
    Array {
        place: usize,
    },
}

/// A string that is being read.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    escaped: bool,
}

impl Trail {
    fn step(&mut self, byte: u8) {
        match &mut self.text {
            Some(text) if text.escaped => {
                text.escaped = false;
                text.bytes.push(byte);
            }
            Some(text) => match byte {
                b'\\' => text.escaped = true,
                b'"' => self.end_text(),
                _ => text.bytes.push(byte),
            },
            None => self.step_outside(byte),
        }
    }

    fn step_outside(&mut self, byte: u8) {
        match byte {
            b'"' => self.text = Some(Text::default()),
            b'{' => self.levels.push(Level::Object { name: String::new(), named: false }),
            b'[' => self.levels.push(Level::Array { place: 0 }),
            b'}' | b']' => drop(self.levels.pop()),
            b':' => {
                if let Some(Level::Object { named, .. }) = self.levels.last_mut() {
                    *named = true;
                }
            }
            b',' => match self.levels.last_mut() {
                Some(Level::Object { name, named }) => {
                    name.clear();
                    *named = false;
                }
                Some(Level::Array { place }) => *place += 1,
                None => {}
            },
            _ => {}
        }
    }

    fn end_text(&mut self) {
        let text = self.text.take().unwrap_or_default();
        if let Some(Level::Object { name, named: false }) = self.levels.last_mut() {
            *name = String::from_utf8_lossy(&text.bytes).into_owned();
        }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            match level {
                Level::Object { name, .. } if name.is_empty() => {}
                Level::Object { name, .. } if path.is_empty() => path.push_str(name),
                Level::Object { name, .. } => path.push_str(&format!(".{name}")),
                Level::Array { place } => path.push_str(&format!("[{place}]")),
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_to_a_byte_is_that_of_the_value_around_it() {
        let text = br#"{"a": {"b\"": [1, {"c": "x,]}"}]}, "d": 7}"#;
        let at = |mark: &str| {
            let text = std::str::from_utf8(text).unwrap();
            path(text.as_bytes(), text.find(mark).unwrap())
        };
        assert_eq!(at("1"), "a.b\"[0]");
        assert_eq!(at(",]"), "a.b\"[1].c");
        assert_eq!(at("7"), "d");
        assert_eq!(path(text, 0), "");
        assert_eq!(path(text, text.len() + 9), "");
    }

    #[test]
    fn a_parser_s_place_is_found_in_the_text() {
        let text = b"{\n  \"a\": [\n    1,\n    x\n  ]\n}";
        let error = serde_json::from_slice::<serde_json::Value>(text).unwrap_err();
        let offset = offset(text, &error);
        assert_eq!(text[offset], b'x');
        assert_eq!(path(text, offset), "a[1]");
    }
}
