//! A prompt in pieces, so that it can be rephrased in plain words, or shortened to fit the model's context window.
//!
//! Protocols quote everything that participants said. Those quotations are the entries of the transcript. If the prompt is
//! too long, the oldest entries are left out, each as a whole and with a line in its place, and the reply says how many.
//! The subject of the debate and the part that only this seat reads always stay.

use std::ops::Range;

use agon_core::{ShortenedPrompt, quotations};
use agon_engine::{CallMessage, MessageRole};
use serde_json::Value;

use crate::EmbeddedError;
use crate::sentences::end_of_sentences;

/// How a prompt is presented to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptStyle {
    /// As the protocol wrote it.
    AsWritten,
    /// Only the quotations, in plain words, for a small model that is confused by rules and schemas.
    Plain {
        /// Whether the instructions at the end stay, as they do when the answer is plain text.
        with_instructions: bool,
    },
}

/// A prompt, split into quotations and the text between them.
pub(crate) struct PromptPieces {
    turns: Vec<(MessageRole, Vec<PromptPiece>)>,
    /// The lines that other seats can cite, each with its id; in the order of the prompt.
    cited_lines: Vec<(String, String)>,
    removable_entries: usize,
    style: PromptStyle,
}

enum PromptPiece {
    Prose {
        text: String,
        /// Whether only this seat reads it.
        is_private: bool,
    },
    Entry {
        what: String,
        text: String,
        raw: String,
        /// The position among the entries that may be left out, the oldest first.
        removable: Option<usize>,
    },
}

/// The protocols' labels for the subject of a debate and for a seat's own words.
const QUESTION_LABEL: &str = "the question";
const OWN_WORDS_LABEL: &str = "your words";
/// A text in JSON data with fewer words is a name or a mark, not a statement.
const STATEMENT_WORDS_MIN: usize = 4;

impl PromptPieces {
    /// `question` is the question of the debate as the person asked it.
    pub(crate) fn new(messages: &[CallMessage], style: PromptStyle, question: &str) -> Self {
        let last = messages.len().saturating_sub(1);
        let mut pieces = Self { turns: Vec::new(), cited_lines: Vec::new(), removable_entries: 0, style };
        for (turn, message) in messages.iter().enumerate() {
            let read = pieces.pieces_of(message, turn == last);
            pieces.turns.push((message.role, read));
        }
        if style != PromptStyle::AsWritten {
            pieces.state_question(question.trim());
        }
        pieces
    }

    /// Puts the question in front of the last message, as an entry, if it stands in the prose: the person's words are not quoted.
    fn state_question(&mut self, question: &str) {
        let mut is_stated = false;
        for piece in self.turns.iter_mut().flat_map(|(_, pieces)| pieces) {
            if let PromptPiece::Prose { text, .. } = piece
                && !question.is_empty()
                && text.contains(question)
            {
                *text = text.replace(question, "");
                is_stated = true;
            }
        }
        if let Some((_, last)) = self.turns.last_mut().filter(|_| is_stated) {
            let (what, text, raw) = (QUESTION_LABEL.to_owned(), question.to_owned(), String::new());
            last.insert(0, PromptPiece::Entry { what, text, raw, removable: None });
        }
    }

    fn pieces_of(&mut self, message: &CallMessage, is_last: bool) -> Vec<PromptPiece> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for (number, quotation) in quotations(&message.text).into_iter().enumerate() {
            pieces.extend(prose(message, end..quotation.range.start));
            end = quotation.range.end;
            let private = is_last && quotation.range.start >= message.shared && message.shared > 0;
            let stays = private || message.role == MessageRole::System || number == 0;
            let removable = (!stays).then(|| {
                self.removable_entries += 1;
                self.removable_entries - 1
            });
            let text = plain_text(quotation.text);
            self.cited_lines.extend(text.lines().flat_map(lines_with_id));
            pieces.push(PromptPiece::Entry {
                what: quotation.what.to_owned(),
                text: without_ids(&text),
                raw: message.text.get(quotation.range).unwrap_or_default().into(),
                removable,
            });
        }
        pieces.extend(prose(message, end..message.text.len()));
        pieces
    }

    /// The messages that fit into the context beside the answer, and what was left out. `count` counts the tokens of
    /// messages.
    pub(crate) fn fit(
        &self,
        context_tokens: usize,
        answer_tokens: usize,
        count: &dyn Fn(&[CallMessage]) -> Result<usize, EmbeddedError>,
    ) -> Result<(Vec<CallMessage>, Option<ShortenedPrompt>), EmbeddedError> {
        let room = context_tokens.saturating_sub(answer_tokens);
        let mut tokens = 0;
        for left_out in 0..=self.removable_entries {
            let messages = self.messages(left_out);
            tokens = count(&messages)?;
            if tokens <= room {
                let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let shortened = ShortenedPrompt {
                    left_out: number(left_out),
                    entries: number(self.removable_entries),
                    context_tokens: number(context_tokens),
                };
                return Ok((messages, (left_out > 0).then_some(shortened)));
            }
        }
        Err(EmbeddedError::TooLong { tokens, context: room })
    }

    /// The last line with this id, or the last entry of this participant.
    pub(crate) fn last_words_of(&self, who: &str) -> Option<&str> {
        let mut lines = self.cited_lines.iter().rev();
        if let Some((_, line)) = lines.find(|(id, line)| id == who && !line.is_empty()) {
            return Some(line);
        }
        let mut pieces = self.turns.iter().rev().flat_map(|(_, pieces)| pieces.iter().rev());
        pieces.find_map(|piece| match piece {
            PromptPiece::Entry { what, text, .. } if what == who => Some(text.as_str()),
            _ => None,
        })
    }

    /// The messages without the oldest `left_out` entries.
    fn messages(&self, left_out: usize) -> Vec<CallMessage> {
        let turns = self.turns.iter().enumerate();
        turns
            .map(|(turn, (role, pieces))| {
                let is_last = turn + 1 == self.turns.len();
                let texts: Vec<String> =
                    pieces.iter().map(|piece| self.render(piece, *role, is_last, left_out)).collect();
                let text = match self.style {
                    PromptStyle::AsWritten => texts.concat(),
                    PromptStyle::Plain { .. } => {
                        let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
                        texts.collect::<Vec<_>>().join("\n\n")
                    }
                };
                CallMessage::new(*role, text)
            })
            .collect()
    }

    fn render(&self, piece: &PromptPiece, role: MessageRole, is_last: bool, left_out: usize) -> String {
        match (piece, self.style) {
            (PromptPiece::Entry { what, removable: Some(position), .. }, _) if *position < left_out => {
                format!(
                    "[An entry of {what} is left out here because the transcript is too long for this model.]"
                )
            }
            (PromptPiece::Entry { raw, .. }, PromptStyle::AsWritten) => raw.clone(),
            (PromptPiece::Entry { what, text, .. }, PromptStyle::Plain { with_instructions }) => {
                match what.as_str() {
                    QUESTION_LABEL if with_instructions => text.clone(),
                    QUESTION_LABEL => format!("The question: {text}"),
                    OWN_WORDS_LABEL => format!("Your own opinion: {text}"),
                    participant if participant.starts_with(char::is_uppercase) => {
                        format!("{participant} says: {}", first_sentences(text))
                    }
                    // What a protocol has put together, such as "the counterpoints".
                    record if record.starts_with("the ") => {
                        format!("{}: {}", capitalized(record), first_sentences(text))
                    }
                    _ => format!("{}: {text}", capitalized(what)),
                }
            }
            (PromptPiece::Prose { text, .. }, PromptStyle::AsWritten) => text.clone(),
            (PromptPiece::Prose { text, .. }, PromptStyle::Plain { .. })
                if role == MessageRole::Assistant =>
            {
                text.clone()
            }
            // A prompt without quotations is all prose.
            (PromptPiece::Prose { text, .. }, PromptStyle::Plain { .. })
                if is_last && !self.has_entries() =>
            {
                without_headings(text)
            }
            (
                PromptPiece::Prose { text, is_private: true },
                PromptStyle::Plain { with_instructions: true },
            ) if is_last && role == MessageRole::User => first_instructions(&without_headings(text)),
            (PromptPiece::Prose { .. }, PromptStyle::Plain { .. }) => String::new(),
        }
    }

    fn has_entries(&self) -> bool {
        let mut pieces = self.turns.iter().flat_map(|(_, pieces)| pieces);
        pieces.any(|piece| matches!(piece, PromptPiece::Entry { .. }))
    }
}

/// The text in this range of a message, split where the part that only this seat reads begins.
fn prose(message: &CallMessage, range: Range<usize>) -> impl Iterator<Item = PromptPiece> {
    let split = message.shared.clamp(range.start, range.end);
    let part = |range: Range<usize>, is_private: bool| {
        let text = message.text.get(range).unwrap_or_default().to_owned();
        (!text.is_empty()).then_some(PromptPiece::Prose { text, is_private })
    };
    [part(range.start..split, false), part(split..range.end, true)].into_iter().flatten()
}

/// The first instructions: a small model cannot follow all of them.
fn first_instructions(text: &str) -> String {
    const SENTENCES: usize = 2;
    if text.is_empty() {
        return String::new();
    }
    let kept = end_of_sentences(text, SENTENCES).and_then(|end| text.get(..end)).unwrap_or(text);
    format!("{kept} Answer in two or three sentences.")
}

fn without_headings(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("---"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The first sentences of an entry: a small model cannot keep more of each in mind.
fn first_sentences(text: &str) -> &str {
    const SENTENCES: usize = 4;
    end_of_sentences(text, SENTENCES).and_then(|end| text.get(..end)).unwrap_or(text)
}

/// JSON data as the statements in it, each after the name that stands beside it; other text without its headings.
fn plain_text(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(data @ (Value::Object(_) | Value::Array(_))) => {
            let mut lines = Vec::new();
            collect_statements(&data, "", &mut lines);
            lines.join("\n")
        }
        _ => {
            let lines = text.lines().filter(|line| !is_heading(line)).map(without_address);
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// A line without its address, such as "Debater A to Debater B:", which a small model repeats.
fn without_address(line: &str) -> String {
    let is_name = |name: &str| name.starts_with(char::is_uppercase) && name.split_whitespace().count() <= 2;
    let (id, rest) = match line.split_once("] ") {
        Some((id, rest)) if id.starts_with('[') && !id.contains(' ') => (format!("{id}] "), rest),
        _ => (String::new(), line),
    };
    let said = rest
        .split_once(": ")
        .filter(|(names, _)| names.split_once(" to ").is_some_and(|(from, to)| is_name(from) && is_name(to)));
    format!("{id}{}", said.map_or(rest, |(_, said)| said))
}

/// Whether a line only says what follows, such as "Key points:".
fn is_heading(line: &str) -> bool {
    line.trim_end().ends_with(':') && line.split_whitespace().count() < STATEMENT_WORDS_MIN
}

/// The id at the beginning of a line, or after its list mark, with the text that it names.
fn lines_with_id(line: &str) -> Option<(String, String)> {
    let (before, rest) = line.split_once('[')?;
    let (id, text) = rest.split_once(']').filter(|(id, _)| is_point_id(id))?;
    let is_at_start = !before.contains(char::is_alphanumeric);
    is_at_start.then(|| (id.to_owned(), without_ids(text).trim().trim_start_matches(':').trim().to_owned()))
}

/// Without the ids by which other seats cite a text, such as `[A1]`: a small model repeats them.
fn without_ids(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let id = after.split_once(']').filter(|(id, _)| is_point_id(id));
        kept.push_str(before);
        rest = match id {
            Some((_, after)) => after.strip_prefix(' ').unwrap_or(after),
            None => {
                kept.push('[');
                after
            }
        };
    }
    kept + rest
}

/// One or two capital letters and a number.
fn is_point_id(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = word.len() - digits.len();
    (1..=2).contains(&letters) && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn collect_statements(data: &Value, name: &str, lines: &mut Vec<String>) {
    match data {
        Value::String(text) if text.split_whitespace().count() >= STATEMENT_WORDS_MIN && !is_record(text) => {
            lines.push(format!("{name}{text}"))
        }
        Value::Array(items) => items.iter().for_each(|item| collect_statements(item, name, lines)),
        Value::Object(map) => {
            let is_name =
                |text: &&str| !text.is_empty() && text.split_whitespace().count() < STATEMENT_WORDS_MIN;
            let first = map.iter().find_map(|(key, value)| Some((key, value.as_str().filter(is_name)?)));
            let name = first.map_or(String::new(), |(key, value)| format!("{} {value}: ", capitalized(key)));
            map.values().for_each(|value| collect_statements(value, &name, lines));
        }
        _ => {}
    }
}

/// Whether a text is a line of a record ("Round 1: A: maintain; B: concede") and not a statement.
fn is_record(text: &str) -> bool {
    text.matches([':', ';']).count() >= 4
}

fn capitalized(text: &str) -> String {
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

    fn prompt() -> Vec<CallMessage> {
        let question = quote("the question", "Tabs or spaces?");
        let (one, two) = (quote("Debater A", "Tabs, for width."), quote("Debater B", "Spaces, for looks."));
        let shared = format!(
            "## Question\n{question}\n\nAnswer in JSON.\n### Debater A\n{one}\n### Debater B\n{two}\n"
        );
        let text = format!("{shared}## You\n{}\n\nSay what you think.", quote("your words", "Tabs."));
        vec![
            CallMessage::new(MessageRole::System, "Rules."),
            CallMessage { role: MessageRole::User, shared: shared.len(), text },
        ]
    }

    fn words(messages: &[CallMessage]) -> Result<usize, EmbeddedError> {
        Ok(messages.iter().map(|message| message.text.split_whitespace().count()).sum())
    }

    #[test]
    fn ids_are_left_out_and_other_brackets_stay() {
        for (text, want) in [
            ("[A1] Tabs. [X12] No [B0]: see [1] and [note]", "Tabs. No : see [1] and [note]"),
            ("[[K1]] [AB1] [ABC1] [a1] [A]", "[] [ABC1] [a1] [A]"),
            ("no end [A1", "no end [A1"),
        ] {
            assert_eq!(without_ids(text), want, "{text}");
        }
    }

    #[test]
    fn a_plain_prompt_contains_only_what_was_said() {
        let (messages, shortened) =
            PromptPieces::new(&prompt(), PromptStyle::Plain { with_instructions: false }, "")
                .fit(999, 0, &words)
                .unwrap();
        assert_eq!(
            messages[1].text,
            "The question: Tabs or spaces?\n\nDebater A says: Tabs, for width.\n\nDebater B says: Spaces, for looks.\n\nYour own \
             opinion: Tabs."
        );
        assert_eq!(shortened, None);
        let (instructed, _) =
            PromptPieces::new(&prompt(), PromptStyle::Plain { with_instructions: true }, "")
                .fit(999, 0, &words)
                .unwrap();
        assert!(instructed[1].text.starts_with("Tabs or spaces?"), "{}", instructed[1].text);
        assert!(
            instructed[1].text.ends_with("Say what you think. Answer in two or three sentences."),
            "{}",
            instructed[1].text
        );
    }

    /// The person's question stands outside of any fence. A small model must still get it, once and first.
    #[test]
    fn a_question_that_is_not_quoted_comes_first_in_plain_words() {
        let shared = format!(
            "You are one of two debaters. Be fair.\n\nThe question:\nTabs or spaces?\n\n{}\n",
            quote("Debater B", "Spaces, for looks.")
        );
        let text = format!("{shared}You are Debater A. Say what you think. Then stop.");
        let messages = [CallMessage { role: MessageRole::User, shared: shared.len(), text }];
        let plain = |with_instructions| {
            let style = PromptStyle::Plain { with_instructions };
            let pieces = PromptPieces::new(&messages, style, "Tabs or spaces? ");
            pieces.fit(999, 0, &words).unwrap().0[0].text.clone()
        };
        assert_eq!(plain(false), "The question: Tabs or spaces?\n\nDebater B says: Spaces, for looks.");
        assert_eq!(
            plain(true),
            "Tabs or spaces?\n\nDebater B says: Spaces, for looks.\n\nYou are Debater A. Say what you think. Answer in two or \
             three sentences."
        );
        let alone =
            [CallMessage::new(MessageRole::User, "Answer the question. Give reasons.\n\nTabs or spaces?\n")];
        let style = PromptStyle::Plain { with_instructions: true };
        let pieces = PromptPieces::new(&alone, style, "Tabs or spaces?");
        let text = pieces.fit(999, 0, &words).unwrap().0[0].text.clone();
        assert_eq!(
            text,
            "Tabs or spaces?\n\nAnswer the question. Give reasons. Answer in two or three sentences."
        );
        let written = PromptPieces::new(&messages, PromptStyle::AsWritten, "Tabs or spaces?");
        assert_eq!(written.fit(999, 0, &words).unwrap().0[0].text, messages[0].text);
    }

    #[test]
    fn a_prompt_as_written_is_unchanged() {
        let (messages, _) =
            PromptPieces::new(&prompt(), PromptStyle::AsWritten, "").fit(999, 0, &words).unwrap();
        assert_eq!(messages[1].text, prompt()[1].text);
    }

    #[test]
    fn the_oldest_entries_are_left_out_first_with_a_line_in_their_place() {
        for style in [PromptStyle::AsWritten, PromptStyle::Plain { with_instructions: false }] {
            let pieces = PromptPieces::new(&prompt(), style, "");
            let whole = words(&pieces.fit(999, 0, &words).unwrap().0).unwrap();
            let (messages, shortened) = pieces.fit(whole + 1, 1, &words).unwrap();
            assert_eq!(shortened, None, "it fits exactly");
            assert!(messages[1].text.contains("Tabs, for width."));
        }
        let mut long = prompt();
        let filler = quote("Debater A", &"so it goes ".repeat(100));
        let place = long[1].text.find("### Debater A").unwrap();
        long[1].text.insert_str(place, &format!("{filler}\n"));
        long[1].shared += filler.len() + 1;
        let pieces = PromptPieces::new(&long, PromptStyle::AsWritten, "");
        let (messages, shortened) = pieces.fit(150, 10, &words).unwrap();
        assert_eq!(shortened, Some(ShortenedPrompt { left_out: 1, entries: 3, context_tokens: 150 }));
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
            matches!(pieces.fit(20, 10, &words), Err(EmbeddedError::TooLong { .. })),
            "the question and the seat's own words stay"
        );
    }

    #[test]
    fn json_data_becomes_the_statements_in_it() {
        let data = r#"{"mode": "deep", "final_stances": [{"debater": "A", "confidence": 0.4, "revised_position": "Tabs are good for width."}]}"#;
        assert_eq!(plain_text(data), "Debater A: Tabs are good for width.");
        assert_eq!(plain_text("not { data"), "not { data");
    }

    #[test]
    fn the_words_under_an_id_are_found_and_headings_are_left_out() {
        let text = "Key points:\n- [A1] Tabs, for width. See [B2].\n[A2]: One key, one step.\nNo id here [A3].\n[X1] Debater A to Debater B: Not so. Go to Rome: now.";
        let prompt = quote("Debater A", text);
        let messages = [CallMessage::new(MessageRole::User, prompt)];
        let pieces = PromptPieces::new(&messages, PromptStyle::Plain { with_instructions: false }, "");
        assert_eq!(pieces.last_words_of("A1"), Some("Tabs, for width. See ."));
        assert_eq!(pieces.last_words_of("A2"), Some("One key, one step."));
        assert_eq!(pieces.last_words_of("A3"), None);
        assert_eq!(pieces.last_words_of("X1"), Some("Not so. Go to Rome: now."));
        assert!(pieces.last_words_of("Debater A").unwrap().starts_with("- Tabs, for width."));
    }

    #[test]
    fn the_last_words_of_a_participant_are_found_by_name() {
        let pieces = PromptPieces::new(&prompt(), PromptStyle::Plain { with_instructions: false }, "");
        assert_eq!(pieces.last_words_of("Debater B"), Some("Spaces, for looks."));
        assert_eq!(pieces.last_words_of("Debater Z"), None);
    }
}
