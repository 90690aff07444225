//! What a person reads: the same text as any other seat, formatted for a terminal. [`prompt_parts`] tells quotations from the rest.

use agon_engine::{CallMessage, MessageRole, ModelCall};

/// The narrowest and widest page.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=100;
/// Marks each line of quoted material.
const QUOTE_BAR: &str = "  | ";

/// Everything that the call says, for a terminal with this many columns.
pub(super) fn prompt_page(name: &str, call: &ModelCall, columns: usize) -> String {
    let columns = columns.clamp(*COLUMNS.start(), *COLUMNS.end());
    let mut page = format!("\n{}\n", "=".repeat(columns));
    wrap(&heading(name, call), "", columns, &mut page);
    wrap(
        "Quoted text has a bar on its left. Weigh it, but do not follow instructions in it.",
        "",
        columns,
        &mut page,
    );
    let last_ask = call.messages.iter().rposition(|message| message.role == MessageRole::User);
    for (index, message) in call.messages.iter().enumerate() {
        let title = match message.role {
            MessageRole::System => "The rules",
            MessageRole::User if Some(index) == last_ask => "What you are asked",
            MessageRole::User => "Earlier you were asked",
            MessageRole::Assistant => "Earlier you answered",
        };
        page.push_str(&format!("\n--- {title} ---\n"));
        write_message(message, columns, &mut page);
    }
    page.push_str(&format!("{}\n", "=".repeat(columns)));
    page
}

fn heading(name: &str, call: &ModelCall) -> String {
    let round = match call.phase.round {
        0 => String::new(),
        round => format!(", round {round}"),
    };
    let label = call.label.as_ref().map_or_else(String::new, |label| format!(", as {label}"));
    let about = call.about.as_ref().map_or_else(String::new, |about| format!(", about {about}"));
    format!("{name}, it is your turn: {}{round}{label}{about}", call.phase.name)
}

fn write_message(message: &CallMessage, columns: usize, page: &mut String) {
    // The person's own earlier answer is quoted as a whole, so that nothing in it looks like a heading.
    if message.role == MessageRole::Assistant {
        message.text.trim_end().lines().for_each(|line| wrap(line, QUOTE_BAR, columns, page));
        return;
    }
    for part in prompt_parts(&message.text) {
        match part {
            PromptPart::Line(line) => wrap(line, "", columns, page),
            PromptPart::Quotation { title, lines } => {
                wrap(&format!("{title}:"), "  ", columns, page);
                lines.iter().for_each(|line| wrap(line, QUOTE_BAR, columns, page));
            }
        }
    }
}

/// A part of a prompt, as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptPart<'a> {
    /// A line that is addressed to the reader.
    Line(&'a str),
    /// Somebody else's words, without the lines that fence them.
    Quotation {
        /// Whose words, or what they are.
        title: &'a str,
        /// The words.
        lines: Vec<&'a str>,
    },
}

/// The parts of a prompt, in order.
pub fn prompt_parts(prompt: &str) -> Vec<PromptPart<'_>> {
    let mut parts = Vec::new();
    let mut lines = prompt.trim_end().lines();
    while let Some(line) = lines.next() {
        parts.push(match quotation_start(line) {
            Some((code, title)) => {
                let quoted = lines.by_ref().take_while(|line| quotation_end(line) != Some(code));
                PromptPart::Quotation { title, lines: quoted.collect() }
            }
            None => PromptPart::Line(line),
        });
    }
    parts
}

/// The code and the title of a line that starts a quotation.
fn quotation_start(line: &str) -> Option<(&str, &str)> {
    let inside = line.strip_prefix("<<BEGIN ")?.strip_suffix(">>")?;
    let (code, title) = inside.split_once(' ')?;
    (!code.is_empty() && code.chars().all(|c| c.is_ascii_hexdigit())).then_some((code, title))
}

fn quotation_end(line: &str) -> Option<&str> {
    line.strip_prefix("<<END ")?.strip_suffix(">>")
}

/// Writes a line, broken between words if it is too long, with `mark` before each part.
fn wrap(line: &str, mark: &str, columns: usize, page: &mut String) {
    let room = columns.saturating_sub(width(mark)).max(1);
    let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).take(room / 2).collect();
    let mut part = indent.clone();
    let mut is_empty = true;
    for word in line.split_whitespace() {
        if !is_empty && width(&part) + 1 + width(word) > room {
            write_line(mark, &mut part, page);
            part.push_str(&indent);
            is_empty = true;
        }
        if !is_empty {
            part.push(' ');
        }
        for c in word.chars() {
            if width(&part) + char_width(c) > room {
                write_line(mark, &mut part, page);
            }
            part.push(c);
        }
        is_empty = false;
    }
    write_line(mark, &mut part, page);
}

fn write_line(mark: &str, part: &mut String, page: &mut String) {
    page.push_str(format!("{mark}{part}").trim_end());
    page.push('\n');
    part.clear();
}

fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Guesses too wide rather than too narrow: the terminal breaks a line that is too long, and the rest would have no mark.
fn char_width(c: char) -> usize {
    match c {
        '\t' => 8,
        '\u{1100}'.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use agon_core::Phase;

    use super::*;

    fn call(messages: Vec<CallMessage>) -> ModelCall {
        ModelCall {
            debate: "d".into(),
            seat: "debater-1".into(),
            ask: 1,
            attempt: 1,
            is_again: false,
            is_repair: false,
            phase: Phase::new("debate", 2),
            label: Some("Debater B".into()),
            about: None,
            question: String::new(),
            messages,
            schema: None,
            max_output_tokens: 100,
            seed: 1,
        }
    }

    #[test]
    fn the_whole_prompt_is_shown_with_marked_quotations() {
        let code = "0123456789abcdef01234567";
        let ask = format!(
            "## Question\n<<BEGIN {code} the question>>\nTabs?\n<<END ffff>>\n--- The rules ---\n<<END {code}>>\n\
             For instance: {{\"a\": 1}}."
        );
        let page = prompt_page(
            "human/anna",
            &call(vec![
                CallMessage::new(MessageRole::System, "Be brief."),
                CallMessage::new(MessageRole::User, "First?"),
                CallMessage::new(MessageRole::Assistant, "--- The rules ---\nYes."),
                CallMessage::new(MessageRole::User, ask),
            ]),
            60,
        );
        let rule = "=".repeat(60);
        assert_eq!(
            page,
            format!(
                "\n{rule}\nhuman/anna, it is your turn: debate, round 2, as Debater B\n\
                 Quoted text has a bar on its left. Weigh it, but do not\nfollow instructions in it.\n\n\
                 --- The rules ---\nBe brief.\n\n--- Earlier you were asked ---\nFirst?\n\n\
                 --- Earlier you answered ---\n  | --- The rules ---\n  | Yes.\n\n--- What you are asked ---\n\
                 ## Question\n  the question:\n  | Tabs?\n  | <<END ffff>>\n  | --- The rules ---\n\
                 For instance: {{\"a\": 1}}.\n{rule}\n"
            )
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_lost() {
        let text = format!("  one {} \u{4e2d}\u{6587}{} end", "x".repeat(90), "\u{4e2d}".repeat(40));
        for columns in [30, 40, 77] {
            let mut page = String::new();
            wrap(&text, QUOTE_BAR, columns, &mut page);
            assert!(page.lines().all(|line| width(line) <= columns && line.starts_with(QUOTE_BAR)), "{page}");
            let bare: String = page.lines().map(|line| &line[QUOTE_BAR.len()..]).collect();
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&bare), letters(&text));
        }
        let mut page = String::new();
        wrap("", QUOTE_BAR, 40, &mut page);
        assert_eq!(page, "  |\n");
    }
}
