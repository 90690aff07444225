//! What must hold for any script, and for any body of a server. The tests and the fuzz targets `yaml` and `server_bodies` call it.

use crate::ScriptModel;
pub use crate::server::fuzzing::server_bodies;

/// A script is read or refused with a sentence that names it, in bounded time and stack.
pub fn scripts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for file in ["a.yaml", "a.json"] {
        if let Err(why) = ScriptModel::parse(file, &text) {
            assert!(why.0.contains(file), "{why}");
        }
    }
}

#[test]
fn no_script_at_all_stops_its_reader() {
    const PIECES: &[&str] = &[
        "seats:",
        "  ",
        "\n",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ": ",
        "\"*\"",
        "debater-1",
        "answer",
        "say: yes",
        "text: |",
        "fail: timeout",
        "delay_ms: 5",
        "cases:",
        "asked: x",
        "stream: 20",
        "&a ",
        "*a",
        "!!str ",
        "<<: ",
        "---\n",
        "? ",
        "'",
        "\"",
        "#",
        "|\n",
        ">-\n",
        "1e400",
        "0x7f",
        "~",
        "\t",
        "\u{feff}",
    ];
    agon_fuzzing::check("yaml", PIECES, scripts);
}
