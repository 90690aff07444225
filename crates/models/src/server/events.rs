//! The frames of a stream (server-sent events).

/// Splits a stream into frames as its bytes arrive.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    /// Bytes of a line that has not ended yet.
    line: Vec<u8>,
    /// The data of the frame so far; `None` before its first line of data.
    data: Option<String>,
    has_frames: bool,
}

impl FrameReader {
    /// Whether there was a line of data at all.
    pub(crate) fn has_frames(&self) -> bool {
        self.has_frames
    }

    /// Takes the next bytes and returns the data of the frames that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut frames = Vec::new();
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let unfinished = lines.next_back().unwrap_or_default();
        for line in lines {
            self.line.extend_from_slice(line);
            frames.extend(self.end_line());
        }
        self.line.extend_from_slice(unfinished);
        frames
    }

    /// The data of a last frame after which the empty line is missing.
    pub(crate) fn finish(mut self) -> Option<String> {
        self.end_line().or(self.data)
    }

    /// Reads the line that has just ended. An empty line ends the frame.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line.is_empty() {
            return self.data.take();
        }
        // Other fields only repeat what the data says.
        let value = line.strip_prefix(b"data:")?;
        self.has_frames = true;
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(&value);
            }
            none => *none = Some(value.into_owned()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of a stream that arrives in pieces of `size` bytes.
    fn frames(stream: &str, size: usize) -> Vec<String> {
        let mut reader = FrameReader::default();
        let mut frames: Vec<String> =
            stream.as_bytes().chunks(size).flat_map(|piece| reader.push(piece)).collect();
        frames.extend(reader.finish());
        frames
    }

    #[test]
    fn frames_are_the_same_however_the_bytes_are_cut() {
        let stream = ": a comment\n\nevent: x\ndata: {\"ä\": 1}\n\ndata:two\r\ndata: lines\r\n\r\nid: 7\n\ndata: [DONE]";
        let expected = ["{\"ä\": 1}", "two\nlines", "[DONE]"];
        for size in 1..=stream.len() {
            assert_eq!(frames(stream, size), expected, "in pieces of {size} bytes");
        }
    }

    #[test]
    fn a_stream_without_data_has_no_frames() {
        for stream in ["", "\n\n", "<html>\n<body>\n\n", "{\"choices\": []}"] {
            assert!(frames(stream, 3).is_empty(), "{stream}");
        }
    }
}
