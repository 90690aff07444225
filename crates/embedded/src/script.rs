//! A prompt in its pieces, so that it can be told in plain words, or shortened without cutting through anything.
//!
//! Protocols quote whatever somebody at the table said; those quotations are the entries of the transcript. When all of it
//! is more than the model can read, the oldest entries are left out, whole, each with a line that says so, and the reply says
//! how many. What the debate is about and what only this seat reads always stays.

use agon_core::{Shortened, quotations};
use agon_engine::{Message, Role};
use serde_json::Value;

use crate::{Broken, sentence};

/// How a prompt is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As the protocol wrote it.
    Whole,
    /// Only what was quoted, in plain words, for a model that loses the thread over rules and schemas. The person's own
    /// instructions, at the end, are kept where the answer is plain text.
    Plain {
        /// Whether the instructions at the end are kept.
        told: bool,
    },
}

/// A prompt.
pub(crate) struct Script {
    turns: Vec<(Role, Vec<Piece>)>,
    entries: usize,
    style: Style,
}

enum Piece {
    Prose(String),
    Entry { what: String, text: String, raw: String, place: Option<usize> },
}

/// How the protocols call what a debate is about, and a seat's own words.
const QUESTION: &str = "the question";
const OWN: &str = "your words";
/// A text of so many words is something that somebody said; shorter ones are names and marks.
const SAID_WORDS: usize = 4;

impl Script {
    pub(crate) fn new(messages: &[Message], style: Style) -> Self {
        let last = messages.len().saturating_sub(1);
        let mut entries = 0;
        let turns = messages.iter().enumerate().map(|(turn, message)| {
            let mut pieces = Vec::new();
            let mut from = 0;
            for (number, quotation) in quotations(&message.text).into_iter().enumerate() {
                pieces.push(Piece::Prose(
                    message.text.get(from..quotation.range.start).unwrap_or_default().into(),
                ));
                from = quotation.range.end;
                let private = turn == last && quotation.range.start >= message.shared && message.shared > 0;
                let stays = private || message.role == Role::System || number == 0;
                let place = (!stays).then(|| {
                    entries += 1;
                    entries - 1
                });
                pieces.push(Piece::Entry {
                    what: quotation.what.to_owned(),
                    text: plain(quotation.text),
                    raw: message.text.get(quotation.range).unwrap_or_default().into(),
                    place,
                });
            }
            pieces.push(Piece::Prose(message.text.get(from..).unwrap_or_default().into()));
            (message.role, pieces)
        });
        let turns = turns.collect();
        Self { turns, entries, style }
    }

    /// The messages that fit, and what was left out for it. `count` says how many tokens messages have.
    pub(crate) fn fit(
        &self,
        context: usize,
        answer: usize,
        count: &dyn Fn(&[Message]) -> Result<usize, Broken>,
    ) -> Result<(Vec<Message>, Option<Shortened>), Broken> {
        let room = context.saturating_sub(answer);
        let mut tokens = 0;
        for left_out in 0..=self.entries {
            let messages = self.messages(left_out);
            tokens = count(&messages)?;
            if tokens <= room {
                let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let shortened = Shortened {
                    left_out: number(left_out),
                    entries: number(self.entries),
                    context_tokens: number(context),
                };
                return Ok((messages, (left_out > 0).then_some(shortened)));
            }
        }
        Err(Broken::TooLong { tokens, context: room })
    }

    /// What this one said last, as it stands in the prompt.
    pub(crate) fn last_words(&self, who: &str) -> Option<&str> {
        let pieces = self.turns.iter().rev().flat_map(|(_, pieces)| pieces.iter().rev());
        pieces
            .filter_map(|piece| match piece {
                Piece::Entry { what, text, .. } if what == who => Some(text.as_str()),
                _ => None,
            })
            .next()
    }

    /// The messages without the oldest entries.
    fn messages(&self, left_out: usize) -> Vec<Message> {
        let turns = self.turns.iter().enumerate();
        turns
            .map(|(turn, (role, pieces))| {
                let is_last = turn + 1 == self.turns.len();
                let told: Vec<String> =
                    pieces.iter().map(|piece| self.told(piece, *role, is_last, left_out)).collect();
                let text = match self.style {
                    Style::Whole => told.concat(),
                    Style::Plain { .. } => {
                        let told = told.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
                        told.collect::<Vec<_>>().join("\n\n")
                    }
                };
                Message::new(*role, text)
            })
            .collect()
    }

    fn told(&self, piece: &Piece, role: Role, is_last: bool, left_out: usize) -> String {
        match (piece, self.style) {
            (Piece::Entry { what, place: Some(place), .. }, _) if *place < left_out => {
                format!("[An entry of {what} is left out here: all of it is more than this model can read.]")
            }
            (Piece::Entry { raw, .. }, Style::Whole) => raw.clone(),
            (Piece::Entry { what, text, .. }, Style::Plain { told }) => match what.as_str() {
                QUESTION if told => text.clone(),
                QUESTION => format!("The question: {text}"),
                OWN => format!("Your own opinion: {text}"),
                _ => format!("{} says: {text}", capital(what)),
            },
            (Piece::Prose(text), Style::Whole) => text.clone(),
            (Piece::Prose(text), Style::Plain { .. }) if role == Role::Assistant => text.clone(),
            // A prompt that quotes nothing is all prose.
            (Piece::Prose(text), Style::Plain { .. }) if is_last && self.quotes_nothing() => prose(text),
            (Piece::Prose(text), Style::Plain { told: true }) if is_last && role == Role::User => {
                brief(&prose(text))
            }
            (Piece::Prose(_), Style::Plain { .. }) => String::new(),
        }
    }

    fn quotes_nothing(&self) -> bool {
        let mut pieces = self.turns.iter().flat_map(|(_, pieces)| pieces);
        !pieces.any(|piece| matches!(piece, Piece::Entry { .. }))
    }
}

/// The first instructions of several: who cannot keep all in mind does well with these.
fn brief(text: &str) -> String {
    const KEPT: usize = 2;
    if text.is_empty() {
        return String::new();
    }
    let kept = sentence::end(text, KEPT).and_then(|end| text.get(..end)).unwrap_or(text);
    format!("{kept} Answer in two or three sentences.")
}

/// Text without headings and rulers.
fn prose(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("---"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Data as the sentences in it, each with the name that stands beside it; other text as it is.
fn plain(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(data @ (Value::Object(_) | Value::Array(_))) => {
            let mut lines = Vec::new();
            sentences(&data, "", &mut lines);
            lines.join("\n")
        }
        _ => text.to_owned(),
    }
}

fn sentences(data: &Value, name: &str, lines: &mut Vec<String>) {
    match data {
        Value::String(text) if text.split_whitespace().count() >= SAID_WORDS && !is_record(text) => {
            lines.push(format!("{name}{text}"))
        }
        Value::Array(items) => items.iter().for_each(|item| sentences(item, name, lines)),
        Value::Object(map) => {
            let short = |text: &&str| !text.is_empty() && text.split_whitespace().count() < SAID_WORDS;
            let first = map.iter().find_map(|(key, value)| Some((key, value.as_str().filter(short)?)));
            let name = first.map_or(String::new(), |(key, value)| format!("{} {value}: ", capital(key)));
            map.values().for_each(|value| sentences(value, &name, lines));
        }
        _ => {}
    }
}

/// Whether a text is a line of a record ("Round 1: A: maintain; B: concede") rather than something that somebody said.
fn is_record(text: &str) -> bool {
    text.matches([':', ';']).count() >= 4
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "0123456789abcdef01234567";

    fn quote(what: &str, text: &str) -> String {
        format!("<<BEGIN {MARK} {what}>>\n{text}\n<<END {MARK}>>")
    }

    fn prompt() -> Vec<Message> {
        let question = quote("the question", "Tabs or spaces?");
        let (one, two) = (quote("Debater A", "Tabs, for width."), quote("Debater B", "Spaces, for looks."));
        let shared = format!(
            "## Question\n{question}\n\nAnswer in JSON.\n### Debater A\n{one}\n### Debater B\n{two}\n"
        );
        let text = format!("{shared}## You\n{}\n\nSay what you think.", quote("your words", "Tabs."));
        vec![Message::new(Role::System, "Rules."), Message { role: Role::User, shared: shared.len(), text }]
    }

    fn words(messages: &[Message]) -> Result<usize, Broken> {
        Ok(messages.iter().map(|message| message.text.split_whitespace().count()).sum())
    }

    #[test]
    fn told_plainly_a_prompt_is_what_was_said_and_nothing_else() {
        let (messages, shortened) =
            Script::new(&prompt(), Style::Plain { told: false }).fit(999, 0, &words).unwrap();
        assert_eq!(
            messages[1].text,
            "The question: Tabs or spaces?\n\nDebater A says: Tabs, for width.\n\nDebater B says: Spaces, for looks.\n\nYour own \
             opinion: Tabs."
        );
        assert_eq!(shortened, None);
        let (told, _) = Script::new(&prompt(), Style::Plain { told: true }).fit(999, 0, &words).unwrap();
        assert!(told[1].text.starts_with("Tabs or spaces?"), "{}", told[1].text);
        assert!(
            told[1].text.ends_with("Say what you think. Answer in two or three sentences."),
            "{}",
            told[1].text
        );
    }

    #[test]
    fn told_whole_a_prompt_is_as_it_was() {
        let (messages, _) = Script::new(&prompt(), Style::Whole).fit(999, 0, &words).unwrap();
        assert_eq!(messages[1].text, prompt()[1].text);
    }

    #[test]
    fn the_oldest_entries_go_first_and_leave_a_line_behind() {
        for style in [Style::Whole, Style::Plain { told: false }] {
            let script = Script::new(&prompt(), style);
            let whole = words(&script.fit(999, 0, &words).unwrap().0).unwrap();
            let (messages, shortened) = script.fit(whole + 1, 1, &words).unwrap();
            assert_eq!(shortened, None, "it just fits");
            assert!(messages[1].text.contains("Tabs, for width."));
        }
        let mut long = prompt();
        let filler = quote("Debater A", &"so it goes ".repeat(100));
        let place = long[1].text.find("### Debater A").unwrap();
        long[1].text.insert_str(place, &format!("{filler}\n"));
        long[1].shared += filler.len() + 1;
        let script = Script::new(&long, Style::Whole);
        let (messages, shortened) = script.fit(150, 10, &words).unwrap();
        assert_eq!(shortened, Some(Shortened { left_out: 1, entries: 3, context_tokens: 150 }));
        let text = &messages[1].text;
        assert!(
            text.contains("An entry of Debater A is left out here") && !text.contains("so it goes"),
            "{text}"
        );
        assert!(
            ["Tabs or spaces?", "Tabs, for width.", "Spaces, for looks.", "your words"]
                .iter()
                .all(|kept| text.contains(kept))
        );
        assert!(
            matches!(script.fit(20, 10, &words), Err(Broken::TooLong { .. })),
            "the question and one's own words stay"
        );
    }

    #[test]
    fn data_is_told_as_the_sentences_in_it() {
        let data = r#"{"mode": "deep", "final_stances": [{"debater": "A", "confidence": 0.4, "revised_position": "Tabs are good for width."}]}"#;
        assert_eq!(plain(data), "Debater A: Tabs are good for width.");
        assert_eq!(plain("not { data"), "not { data");
    }

    #[test]
    fn what_somebody_said_last_is_found_by_name() {
        let script = Script::new(&prompt(), Style::Plain { told: false });
        assert_eq!(script.last_words("Debater B"), Some("Spaces, for looks."));
        assert_eq!(script.last_words("Debater Z"), None);
    }
}
