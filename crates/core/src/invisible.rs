//! Characters that a reader cannot see but a model reads.

/// Whether no reader would see this character: Unicode's Default_Ignorable_Code_Point, the format characters (Cf), and the two
/// separators that end a line or a paragraph. Control codes are not among them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an invisible character belongs to how a text is written: a joiner between letters of a script that uses it or between
/// pictures, or the mark after a sign that says whether it is drawn as a picture. Two in a row never do.
pub fn is_part_of_writing(before: char, c: char, after: char) -> bool {
    let is_sign = |c: char| c > '\u{ff}' && !is_invisible(c) && !c.is_whitespace();
    match c {
        '\u{200c}' => is_sign(before) && is_sign(after),
        '\u{200d}' => (is_sign(before) || before == '\u{fe0f}') && is_sign(after),
        '\u{fe0e}' | '\u{fe0f}' => is_sign(before) && (after == '\u{200d}' || !is_invisible(after)),
        _ => false,
    }
}

/// An invisible character or control code, written out: `\u{200b}`.
pub fn written_out(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// JSON in which every control code and invisible character is escaped. It means the same.
pub fn escaped_json(json: String) -> String {
    let is_hidden = |c: char| is_invisible(c) || ('\u{7f}'..='\u{9f}').contains(&c);
    // Most JSON is plain ASCII, which is checked many bytes at a time.
    if json.bytes().all(|byte| byte < 0x7f) || !json.chars().any(is_hidden) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_hidden(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_invisible_characters_is_known() {
        for c in [
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200e}',
            '\u{2028}',
            '\u{2029}',
            '\u{202e}',
            '\u{2060}',
            '\u{2064}',
            '\u{2066}',
            '\u{206a}',
            '\u{3164}',
            '\u{fe00}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{e01ef}',
        ] {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in ['a', '\u{e9}', '\u{4e2d}', '\u{627}', '\u{1f600}', ' ', '\u{a0}', '\u{3000}', '\n'] {
            assert!(!is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn json_means_the_same_after_escaping() {
        let text = "a\u{202e}b\u{9b}c\u{e0041}d\u{4e2d}";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escaped_json(json.clone());
        assert!(!escaped.chars().any(|c| is_invisible(c) || c.is_control()), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}
