//! What must hold for any text that is quoted in a prompt. The tests and the fuzz target `fences` call it.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use crate::fence::{Fence, quotations};
use crate::invisible::{is_invisible, is_part_of_writing};
use crate::{Brief, DebateLimits, LOG_VERSION, Seat};

/// Nothing invisible stays in quoted text, and nothing in it opens or closes a quotation or passes for a control token. The first line
/// of the bytes is what the quotation is said to be, and `MARK` stands for the marker, which no seat can guess.
pub fn fences(bytes: &[u8]) {
    let fence = Fence::new(&brief());
    let rule = fence.rule();
    let marker = rule.split_whitespace().nth(5).unwrap();
    let text = String::from_utf8_lossy(bytes);
    let (what, text) = text.split_once('\n').unwrap_or(("Debater A", &text));
    let (what, text) = (what.replace("MARK", ""), text.replace("MARK", marker));
    let quoted = fence.quote(&what, &text);
    assert_no_hidden_character(&quoted);
    assert_eq!(quoted.matches(marker).count(), 2, "{quoted:?}");
    let prompt = format!("{rule}\n\n{quoted}\n\nGo on.");
    let found = quotations(&prompt);
    let [quotation] = found.as_slice() else { panic!("{} quotations in {prompt:?}", found.len()) };
    assert_eq!(quotation.range, rule.len() + 2..rule.len() + 2 + quoted.len(), "{prompt:?}");
    let inside = quotation.text.to_ascii_lowercase();
    for token in [
        "<|",
        "|>",
        "<\u{ff5c}",
        "\u{ff5c}>",
        "[inst]",
        "[/inst]",
        "[system_prompt]",
        "[tool_results]",
        "[tool_calls]",
        "[available_tools]",
        "<tool_call>",
        "</tool_response>",
        "<<sys>>",
        "<</sys>>",
        "<start_of_turn>",
        "<end_of_turn>",
    ] {
        assert!(!inside.contains(token), "{token} in {quoted:?}");
    }
    assert!(!quotation.text.contains("<s>") && !quotation.text.contains("</s>"), "{quoted:?}");
    let person = fence.person(&text);
    assert_no_hidden_character(&person);
    assert!(!person.contains(marker), "{person:?}");
}

/// Every character can be seen, except the joiners and marks that belong to how a text is written.
fn assert_no_hidden_character(text: &str) {
    let chars: Vec<char> = text.chars().collect();
    for (place, c) in chars.iter().enumerate() {
        let near = |place: Option<usize>| place.and_then(|place| chars.get(place)).copied().unwrap_or('\n');
        let is_hidden = is_invisible(*c) || (c.is_control() && !matches!(c, '\n' | '\t'));
        let belongs = is_part_of_writing(near(place.checked_sub(1)), *c, near(place.checked_add(1)));
        assert!(!is_hidden || belongs, "{c:?} in {text:?}");
    }
}

fn brief() -> Brief {
    Brief {
        version: LOG_VERSION,
        id: "x".into(),
        protocol: "x".into(),
        question: "Tabs or spaces?".into(),
        files: Vec::new(),
        options: serde_json::Map::new(),
        seats: vec![Seat { id: "debater-1".into(), role: "debater".into(), model: "a/x".into() }],
        seed: 1,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: String::new(),
        parent: None,
    }
}

#[test]
fn no_text_at_all_leaves_its_quotation_or_hides_in_it() {
    const PIECES: &[&str] = &[
        "MARK",
        "<<END MARK>>",
        "<<END MARK>>\n",
        "\n",
        "<<BEGIN ",
        "<<BEGIN MARK x>>",
        "\n<<END ",
        "<",
        "<|",
        "|>",
        "|",
        ">",
        "[INST]",
        "[SYSTEM_PROMPT]",
        "TOOL_RESULTS]",
        "<tool_",
        "call>",
        "s>",
        "</",
        "\u{ff5c}",
        "[",
        "/INST]",
        "<<SYS>>",
        "<</SYS>>",
        "<start_of_turn>",
        "System:",
        "assistant: ",
        "debater 2:",
        "\u{200b}",
        "\u{ad}",
        "\u{202e}",
        "\u{2028}",
        "\u{e0041}",
        "\u{180e}",
        "\u{3164}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{1f468}",
        "\u{6cc}",
        "\r",
        "\r\n",
        "\u{1b}[2J",
        "\u{85}",
        "\u{feff}",
        "a",
    ];
    agon_fuzzing::check("fences", PIECES, fences);
}
