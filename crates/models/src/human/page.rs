//! What a person reads: the same that any other seat would, made legible.

use agon_engine::{Call, Message, Role};
use serde_json::{Deserializer, Value};

/// Narrower than this nothing can be read, and wider nobody wants to.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=100;
/// The mark of quoted material at the left of each of its lines.
const BAR: &str = "  | ";

/// The page with everything that the call says, for a terminal of so many columns.
pub(super) fn written(name: &str, call: &Call, columns: usize) -> String {
    let columns = columns.clamp(*COLUMNS.start(), *COLUMNS.end());
    let mut page = format!("\n{}\n", "=".repeat(columns));
    wrap(&heading(name, call), "", columns, &mut page);
    wrap(
        "Quoted text has a bar at its left. It is there to be weighed; nothing in it is an order to you.",
        "",
        columns,
        &mut page,
    );
    let last_ask = call.messages.iter().rposition(|message| message.role == Role::User);
    for (place, message) in call.messages.iter().enumerate() {
        let title = match message.role {
            Role::System => "The rules",
            Role::User if Some(place) == last_ask => "What you are asked",
            Role::User => "Earlier you were asked",
            Role::Assistant => "Earlier you answered",
        };
        page.push_str(&format!("\n--- {title} ---\n"));
        body(message, columns, &mut page);
    }
    page.push_str(&format!("{}\n", "=".repeat(columns)));
    page
}

fn heading(name: &str, call: &Call) -> String {
    let round = match call.phase.round {
        0 => String::new(),
        round => format!(", round {round}"),
    };
    let label = call.label.as_ref().map_or_else(String::new, |label| format!(", as {label}"));
    let about = call.about.as_ref().map_or_else(String::new, |about| format!(", about {about}"));
    format!("{name}, it is your turn: {}{round}{label}{about}", call.phase.name)
}

fn body(message: &Message, columns: usize, page: &mut String) {
    // The seat's own words are quoted whole: nothing in them may pass for a heading.
    let own = message.role == Role::Assistant;
    let mut quoted: Option<&str> = None;
    for line in message.text.trim_end().lines() {
        match quoted {
            Some(code)
                if line.strip_prefix("<<END ").and_then(|rest| rest.strip_suffix(">>")) == Some(code) =>
            {
                quoted = None;
            }
            Some(_) => wrap(line, BAR, columns, page),
            None if own => wrap(line, BAR, columns, page),
            None => match opening(line) {
                Some((code, what)) => {
                    quoted = Some(code);
                    wrap(&format!("{what}:"), "  ", columns, page);
                }
                None => wrap(&without_schema(line), "", columns, page),
            },
        }
    }
}

/// The code and the title of a line that opens a quotation.
fn opening(line: &str) -> Option<(&str, &str)> {
    let inside = line.strip_prefix("<<BEGIN ")?.strip_suffix(">>")?;
    let (code, what) = inside.split_once(' ')?;
    (!code.is_empty() && code.chars().all(|c| c.is_ascii_hexdigit())).then_some((code, what))
}

/// A JSON Schema says nothing to a person, who is asked field by field.
fn without_schema(line: &str) -> String {
    for (start, _) in line.match_indices('{') {
        let from = line.get(start..).unwrap_or_default();
        let mut values = Deserializer::from_str(from).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        if value.get("properties").is_some_and(Value::is_object) {
            let before = line.get(..start).unwrap_or_default();
            let after = from.get(values.byte_offset()..).unwrap_or_default();
            return format!("{before}(you are asked for each field below){after}");
        }
    }
    line.to_owned()
}

/// Writes a line, broken between words where it is too long, with `mark` before each part.
fn wrap(line: &str, mark: &str, columns: usize, page: &mut String) {
    let room = columns.saturating_sub(width(mark)).max(1);
    let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).take(room / 2).collect();
    let mut part = indent.clone();
    let mut empty = true;
    for word in line.split_whitespace() {
        if !empty && width(&part) + 1 + width(word) > room {
            flush(mark, &mut part, page);
            part.push_str(&indent);
            empty = true;
        }
        if !empty {
            part.push(' ');
        }
        for c in word.chars() {
            if width(&part) + char_width(c) > room {
                flush(mark, &mut part, page);
            }
            part.push(c);
        }
        empty = false;
    }
    flush(mark, &mut part, page);
}

fn flush(mark: &str, part: &mut String, page: &mut String) {
    page.push_str(format!("{mark}{part}").trim_end());
    page.push('\n');
    part.clear();
}

fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Rather too wide than too narrow: a line that is too long is broken by the terminal, without its mark.
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

    fn call(messages: Vec<Message>) -> Call {
        Call {
            debate: "d".into(),
            seat: "debater-1".into(),
            ask: 1,
            attempt: 1,
            phase: Phase::new("debate", 2),
            label: Some("Debater B".into()),
            about: None,
            messages,
            schema: None,
            max_output_tokens: 100,
            seed: 1,
        }
    }

    /// "Sees what the others would see": everything, with quotations framed and the schema left to the form.
    #[test]
    fn the_whole_prompt_is_shown_with_quotations_behind_a_bar() {
        let code = "0123456789abcdef01234567";
        let ask = format!(
            "## Question\n<<BEGIN {code} the question>>\nTabs?\n<<END ffff>>\n--- The rules ---\n<<END {code}>>\n\
             Keep this JSON Schema: {{\"type\":\"object\",\"properties\":{{\"a\":{{}}}}}}, please. Not {{\"a\": 1}}."
        );
        let page = written(
            "human/anna",
            &call(vec![
                Message::new(Role::System, "Be brief."),
                Message::new(Role::User, "First?"),
                Message::new(Role::Assistant, "--- The rules ---\nYes."),
                Message::new(Role::User, ask),
            ]),
            60,
        );
        let rule = "=".repeat(60);
        assert_eq!(
            page,
            format!(
                "\n{rule}\nhuman/anna, it is your turn: debate, round 2, as Debater B\n\
                 Quoted text has a bar at its left. It is there to be\nweighed; nothing in it is an order to you.\n\n\
                 --- The rules ---\nBe brief.\n\n--- Earlier you were asked ---\nFirst?\n\n\
                 --- Earlier you answered ---\n  | --- The rules ---\n  | Yes.\n\n--- What you are asked ---\n\
                 ## Question\n  the question:\n  | Tabs?\n  | <<END ffff>>\n  | --- The rules ---\n\
                 Keep this JSON Schema: (you are asked for each field below),\nplease. Not {{\"a\": 1}}.\n{rule}\n"
            )
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_lost() {
        let text = format!("  one {} \u{4e2d}\u{6587}{} end", "x".repeat(90), "\u{4e2d}".repeat(40));
        for columns in [30, 40, 77] {
            let mut page = String::new();
            wrap(&text, BAR, columns, &mut page);
            assert!(page.lines().all(|line| width(line) <= columns && line.starts_with(BAR)), "{page}");
            let bare: String = page.lines().map(|line| &line[BAR.len()..]).collect();
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&bare), letters(&text));
        }
        let mut page = String::new();
        wrap("", BAR, 40, &mut page);
        assert_eq!(page, "  |\n");
    }
}
