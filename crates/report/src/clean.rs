//! What makes a model's words safe for a terminal.

use std::iter::Peekable;
use std::str::Chars;

/// `text` without anything that could move the cursor, change colours, set a window's title or reorder what is read:
/// ANSI escape sequences, control characters (but newline and tab) and bidirectional overrides.
pub fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\n' | '\t' => kept.push(char),
            _ if char.is_control() || reorders(char) => {}
            _ => kept.push(char),
        }
    }
    kept
}

/// `text`, cleaned, as one line with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reorders(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        _ => {
            while chars.next_if(|char| matches!(char, ' '..='/')).is_some() {}
            chars.next_if(|char| matches!(char, '0'..='~'));
        }
    }
}

fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|char| matches!(char, ' '..='?')).is_some() {}
    chars.next_if(|char| matches!(char, '@'..='~'));
}

/// A string such as a window's title ends with BEL or ST. An unfinished one ends with its line, so that one stray
/// byte cannot swallow an answer.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(char) = chars.next_if(|char| *char != '\n') {
        match char {
            '\u{07}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_model_says_can_command_the_terminal() {
        for (said, shown) in [
            ("plain, with\n\ttabs and \u{e9}\u{4e2d}", "plain, with\n\ttabs and \u{e9}\u{4e2d}"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;5;196mred\u{1b}[m", "red"),
            ("\u{1b}[2J\u{1b}[Hwiped", "wiped"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;new title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9d}0;title\u{9c}text", "text"),
            ("\u{1b}]0;never ended\nnext line", "\nnext line"),
            ("\u{1b}P1$r\u{1b}\\dcs", "dcs"),
            ("\u{1b}(Bset", "set"),
            ("\u{1b}cfull reset", "full reset"),
            ("ends in escape\u{1b}", "ends in escape"),
            ("\u{1b}[", ""),
            ("over\rwritten\r\n", "overwritten\n"),
            ("a\u{8}\u{8}b\u{0}\u{7}\u{7f}\u{85}", "ab"),
            ("\u{202e}desrever\u{202c} \u{2066}x\u{2069}", "desrever x"),
            ("\u{1b}\u{1b}[31mtwice", "twice"),
        ] {
            assert_eq!(clean(said), shown, "{said:?}");
        }
    }

    #[test]
    fn whatever_remains_has_no_control_character() {
        let all: String = (0..=0x2100_u32).filter_map(char::from_u32).collect();
        let left = clean(&format!("{all}\u{1b}{all}"));
        assert!(
            left.chars().all(|char| matches!(char, '\n' | '\t') || !(char.is_control() || reorders(char)))
        );
    }
}
