//! What must hold for any model file. The tests and the fuzz target `gguf` call it.

use std::io::Cursor;

use crate::EmbeddedError;
use crate::embedded_model::EmbeddedSettings;
use crate::model_thread::read_model;

/// A file is loaded or refused with a sentence. It neither stops the thread nor takes memory that it does not fill itself.
pub fn gguf(bytes: &[u8]) {
    let settings = EmbeddedSettings { threads: Some(1), context: 64, ..EmbeddedSettings::default() };
    match read_model(&mut Cursor::new(bytes), &settings) {
        Ok(_) => {}
        Err(why @ (EmbeddedError::File(_) | EmbeddedError::Arithmetic(_))) => {
            assert!(!why.to_string().is_empty())
        }
        Err(why) => assert!(matches!(why, EmbeddedError::Io(_)), "{why}"),
    }
}

#[test]
fn no_model_file_at_all_stops_its_reader() {
    const PIECES: &[&str] = &[
        "GGUF\u{3}\0\0\0",
        "\u{1}\0\0\0\0\0\0\0",
        "\0\0\0\0\0\0\0\0",
        "\0\0\0\0",
        "\u{4}\0\0\0",
        "\u{8}\0\0\0",
        "\u{9}\0\0\0",
        "\u{11}\0\0\0\0\0\0\0",
        "general.alignment",
        "general.architecture",
        "llama",
        "\u{5}\0\0\0\0\0\0\0",
        "\u{14}\0\0\0\0\0\0\0",
        "\u{7f}",
        "\0",
    ];
    agon_fuzzing::check("gguf", PIECES, gguf);
}
