//! The options that a question lists.

/// The options of a question by their letters, from A on; empty where it lists none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options(Vec<String>);

/// Where an option begins.
struct Mark {
    letter: char,
    /// Where the mark begins, and where its words do.
    at: usize,
    words: usize,
}

impl Options {
    /// The last run of options in the question: examples may stand before it.
    pub(super) fn of(question: &str) -> Self {
        let marks = marks(question);
        let mut best: &[Mark] = &[];
        for (start, first) in marks.iter().enumerate() {
            if !matches!(first.letter, 'A' | 'a') {
                continue;
            }
            let rest = marks.get(start..).unwrap_or_default();
            let run = rest.iter().zip(u32::from(first.letter)..);
            let length = run.take_while(|(mark, letter)| u32::from(mark.letter) == *letter).count();
            if length >= 2 {
                best = rest.get(..length).unwrap_or_default();
            }
        }
        let ends = best.iter().skip(1).map(|mark| mark.at).chain(std::iter::once(question.len()));
        let words = best.iter().zip(ends).map(|(mark, end)| {
            let words = question.get(mark.words..end).unwrap_or_default();
            words.trim_start().lines().next().unwrap_or_default().trim().to_owned()
        });
        Self(words.collect())
    }

    /// The letter of the option that this one is, as options are named.
    pub(super) fn letter(&self, said: char) -> Option<char> {
        let letter = said.to_ascii_uppercase();
        self.listed().map(|(known, _)| known).find(|known| *known == letter)
    }

    /// The letters and the words of the options.
    pub(super) fn listed(&self) -> impl Iterator<Item = (char, &str)> {
        ('A'..='Z').zip(self.0.iter().map(String::as_str))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Everything that could open an option, in order.
fn marks(question: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut line_start = true;
    let mut before = '\n';
    for (at, char) in question.char_indices() {
        let rest = question.get(at..).unwrap_or_default();
        if before.is_whitespace() || line_start {
            marks.extend(mark(rest, line_start).map(|(letter, length)| Mark {
                letter,
                at,
                words: at + length,
            }));
        }
        // What stands before the first word of a line does not count: bullets, emphasis.
        line_start =
            char == '\n' || (line_start && (char.is_whitespace() || matches!(char, '-' | '*' | '>')));
        before = char;
    }
    marks
}

/// The letter of the mark that a text begins with, and how many bytes the mark has.
fn mark(text: &str, line_start: bool) -> Option<(char, usize)> {
    let (inner, open) = match text.strip_prefix('(') {
        Some(inner) => (inner, 1),
        None => (text, 0),
    };
    let mut chars = inner.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    let closed = match chars.next()? {
        ')' => true,
        '.' | ':' => line_start && open == 0,
        _ => false,
    };
    let spaced = chars.next().is_some_and(|after| after.is_whitespace() || after == '*');
    (closed && (spaced || open == 1)).then_some((letter, open + 2))
}
