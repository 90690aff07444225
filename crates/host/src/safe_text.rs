//! Other people's text, safe to print on a terminal, also when it arrives in pieces.

use agon_core::invisible::{is_invisible, is_part_of_writing, written_out};

/// `text` without anything that could move the cursor, change colours, set a window's title or reorder what is read:
/// escape sequences, control characters (except newline and tab) and bidirectional overrides. What else cannot be seen is written out,
/// unless it belongs to how a text is written.
pub fn clean_text(text: &str) -> String {
    TextCleaner::default().push(text)
}

/// `text`, cleaned, as one line with single spaces.
pub fn clean_line(text: &str) -> String {
    clean_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` with a mark in place of every character that controls, hides or reorders, so that two different names never
/// look the same.
pub fn visible_text(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || is_invisible(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// Cleans text that arrives in pieces: an escape sequence may begin in one piece and end in the next.
#[derive(Debug, Default)]
pub struct TextCleaner {
    state: EscapeState,
    /// The last character that was read as text, whether it was kept or not.
    before: char,
}

#[derive(Debug, Default, Clone, Copy)]
enum EscapeState {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character.
    Designation,
    /// In a control sequence, such as a colour.
    Sequence,
    /// In a string, such as a window's title.
    String,
    /// In a string, after ESC.
    StringEscape,
}

impl TextCleaner {
    /// The next piece, cleaned.
    pub fn push(&mut self, piece: &str) -> String {
        let mut kept = String::with_capacity(piece.len());
        for char in piece.chars() {
            // A character that does not continue a sequence ends it and is read again as text.
            while let StepResult::ReadAgain = self.step(char, &mut kept) {}
        }
        kept
    }

    fn step(&mut self, char: char, kept: &mut String) -> StepResult {
        let (state, again) = match (self.state, char) {
            (EscapeState::Text, _) => (self.step_text(char, kept), StepResult::Taken),
            (EscapeState::Escape, '[') => (EscapeState::Sequence, StepResult::Taken),
            (EscapeState::Escape, ']' | 'P' | 'X' | '^' | '_') => (EscapeState::String, StepResult::Taken),
            (EscapeState::Escape | EscapeState::Designation, ' '..='/') => {
                (EscapeState::Designation, StepResult::Taken)
            }
            (EscapeState::Escape | EscapeState::Designation, '0'..='~') => {
                (EscapeState::Text, StepResult::Taken)
            }
            (EscapeState::Sequence, ' '..='?') => (EscapeState::Sequence, StepResult::Taken),
            (EscapeState::Sequence, '@'..='~') => (EscapeState::Text, StepResult::Taken),
            (EscapeState::String, '\u{07}' | '\u{9c}') | (EscapeState::StringEscape, '\\') => {
                (EscapeState::Text, StepResult::Taken)
            }
            (EscapeState::String, '\u{1b}') => (EscapeState::StringEscape, StepResult::Taken),
            // An unfinished string ends with its line, so that a stray byte cannot swallow an answer.
            (EscapeState::String, char) if char != '\n' => (EscapeState::String, StepResult::Taken),
            (EscapeState::Escape | EscapeState::Designation | EscapeState::Sequence, _) => {
                (EscapeState::Text, StepResult::ReadAgain)
            }
            (EscapeState::String | EscapeState::StringEscape, _) => {
                (EscapeState::Text, StepResult::ReadAgain)
            }
        };
        self.state = state;
        again
    }

    fn step_text(&mut self, char: char, kept: &mut String) -> EscapeState {
        let before = std::mem::replace(&mut self.before, char);
        match char {
            '\u{1b}' => return EscapeState::Escape,
            '\u{9b}' => return EscapeState::Sequence,
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => return EscapeState::String,
            '\n' | '\t' => kept.push(char),
            _ if char.is_control() || reorders(char) => {}
            // What follows is not known yet, so a letter is assumed.
            _ if is_invisible(char) && !is_part_of_writing(before, char, '\u{4e00}') => {
                kept.push_str(&written_out(char));
            }
            _ => kept.push(char),
        }
        EscapeState::Text
    }
}

/// Whether a character belongs to the state it was read in.
enum StepResult {
    Taken,
    ReadAgain,
}

fn reorders(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_control_the_terminal_whole_or_in_pieces() {
        for (said, shown) in [
            ("plain, with\n\ttabs and \u{e9}\u{4e2d}", "plain, with\n\ttabs and \u{e9}\u{4e2d}"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;5;196mred\u{1b}[m", "red"),
            ("\u{1b}[2J\u{1b}[Hwiped", "wiped"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;new title\u{7}text", "text"),
            ("\u{1b}]8;;there\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9d}0;title\u{9c}text", "text"),
            ("\u{1b}]0;never ended\nnext line", "\nnext line"),
            ("\u{1b}P1$r\u{1b}\\dcs", "dcs"),
            ("\u{1b}(Bset", "set"),
            ("\u{1b}cfull reset", "full reset"),
            ("ends in escape\u{1b}", "ends in escape"),
            ("\u{1b}[", ""),
            ("\u{1b}[31\nline", "\nline"),
            ("over\rwritten\r\n", "overwritten\n"),
            ("a\u{8}\u{8}b\u{0}\u{7}\u{7f}\u{85}", "ab"),
            ("\u{202e}desrever\u{202c} \u{2066}x\u{2069}", "desrever x"),
            ("\u{1b}\u{1b}[31mtwice", "twice"),
        ] {
            assert_eq!(clean_text(said), shown, "{said:?}");
            let mut cleaner = TextCleaner::default();
            let pieces: String = said.chars().map(|char| cleaner.push(&char.to_string())).collect();
            assert_eq!(pieces, shown, "{said:?} in pieces");
        }
    }

    #[test]
    fn what_remains_has_no_control_character() {
        let all: String = (0..=0x2100_u32).filter_map(char::from_u32).collect();
        let left = clean_text(&format!("{all}\u{1b}{all}"));
        assert!(
            left.chars().all(|char| matches!(char, '\n' | '\t') || !(char.is_control() || reorders(char)))
        );
        assert_eq!(clean_line(" a \u{1b}[1m b\n\tc "), "a b c");
    }

    #[test]
    fn what_hides_in_a_name_is_shown_as_a_mark() {
        assert_eq!(visible_text("a\u{200b}b\u{202e}c\u{1b}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(visible_text("r\u{e9}sum\u{e9}.md"), "r\u{e9}sum\u{e9}.md");
    }
}
