//! What makes a stranger's words safe for a terminal, also when they come in pieces.

/// `text` without escape sequences, control characters (but newline and tab) and bidirectional overrides.
pub(crate) fn clean(text: &str) -> String {
    Cleaner::default().push(text)
}

/// `text`, cleaned, as one line with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cleans a text that comes in pieces: an escape sequence may begin in one and end in the next.
#[derive(Debug, Default)]
pub(crate) struct Cleaner {
    state: State,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
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

impl Cleaner {
    /// What of the next piece is left.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut kept = String::with_capacity(piece.len());
        for char in piece.chars() {
            // A character that does not go on with a sequence ends it and is looked at afresh.
            while let Again::Yes = self.step(char, &mut kept) {}
        }
        kept
    }

    fn step(&mut self, char: char, kept: &mut String) -> Again {
        let (state, again) = match (self.state, char) {
            (State::Text, _) => (text(char, kept), Again::No),
            (State::Escape, '[') => (State::Sequence, Again::No),
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => (State::String, Again::No),
            (State::Escape | State::Designation, ' '..='/') => (State::Designation, Again::No),
            (State::Escape | State::Designation, '0'..='~') => (State::Text, Again::No),
            (State::Sequence, ' '..='?') => (State::Sequence, Again::No),
            (State::Sequence, '@'..='~') => (State::Text, Again::No),
            (State::String, '\u{07}' | '\u{9c}') | (State::StringEscape, '\\') => (State::Text, Again::No),
            (State::String, '\u{1b}') => (State::StringEscape, Again::No),
            // An unfinished string ends with its line, so that one stray byte cannot swallow an answer.
            (State::String, char) if char != '\n' => (State::String, Again::No),
            (State::Escape | State::Designation | State::Sequence, _) => (State::Text, Again::Yes),
            (State::String | State::StringEscape, _) => (State::Text, Again::Yes),
        };
        self.state = state;
        again
    }
}

enum Again {
    Yes,
    No,
}

fn text(char: char, kept: &mut String) -> State {
    match char {
        '\u{1b}' => return State::Escape,
        '\u{9b}' => return State::Sequence,
        '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => return State::String,
        '\n' | '\t' => kept.push(char),
        _ if char.is_control() || reorders(char) => {}
        _ => kept.push(char),
    }
    State::Text
}

fn reorders(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_said_can_command_the_terminal_also_in_pieces() {
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
            assert_eq!(clean(said), shown, "{said:?}");
            let mut cleaner = Cleaner::default();
            let pieces: String = said.chars().map(|char| cleaner.push(&char.to_string())).collect();
            assert_eq!(pieces, shown, "{said:?} in pieces");
        }
    }

    #[test]
    fn whatever_remains_has_no_control_character() {
        let all: String = (0..=0x2100_u32).filter_map(char::from_u32).collect();
        let left = clean(&format!("{all}\u{1b}{all}"));
        assert!(
            left.chars().all(|char| matches!(char, '\n' | '\t') || !(char.is_control() || reorders(char)))
        );
        assert_eq!(one_line(" a \u{1b}[1m b\n\tc "), "a b c");
    }
}
