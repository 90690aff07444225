//! Messages for Slack and Discord.
//!
//! The text of a debate is written by models and may come from anybody. In a chat it is plain text: it notifies nobody,
//! mentions nobody, and cannot look like a link.

use agon_core::{Brief, DebateView, Outcome, ReportItem};
use agon_host::clean_text;
use serde_json::{Value, json};

/// What a chat message says about a debate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatSummary {
    pub question: String,
    /// The verdict in a few words, such as `PASS`.
    pub verdict: Option<String>,
    /// The answer, or the report if there is no answer.
    pub answer: Option<String>,
    /// The other opinions, one sentence each.
    pub dissent: Vec<String>,
    /// How the debate ended.
    pub ending: String,
    pub id: String,
}

impl ChatSummary {
    /// The summary of a debate that is over.
    pub fn new(brief: &Brief, outcome: &Outcome, view: &DebateView) -> Self {
        let text = |text: &Option<String>| {
            let trimmed = text.as_deref().unwrap_or_default().trim();
            Some(trimmed.to_owned()).filter(|text| !text.is_empty())
        };
        let sentence = |item: &ReportItem| match &item.who {
            Some(who) => format!("{who}: {}", item.text),
            None => item.text.clone(),
        };
        let ending = [brief.protocol.as_str(), outcome.status.as_str(), outcome.termination.as_str()];
        Self {
            question: brief.question.trim().to_owned(),
            verdict: text(&view.headline.verdict),
            answer: text(&view.headline.answer),
            dissent: view.dissent.iter().map(sentence).collect(),
            ending: ending.join(" \u{b7} "),
            id: brief.id.clone(),
        }
    }

    fn body(&self) -> String {
        let verdict = self.verdict.iter().map(|verdict| format!("Verdict: {verdict}"));
        let dissent = self.dissent.iter().map(|dissent| format!("Dissent: {dissent}"));
        verdict.chain(self.answer.clone()).chain(dissent).collect::<Vec<_>>().join("\n")
    }

    fn footer(&self) -> String {
        let parts = [self.ending.as_str(), self.id.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" \u{b7} ")
    }
}

/// A Slack message: `text` for notifications, `blocks` for the channel.
pub(in crate::deliveries) fn slack_message(summary: &ChatSummary) -> Value {
    // A section holds at most 3,000 characters.
    let question = escape_for_slack(&summary.question, 600);
    let body = escape_for_slack(&summary.body(), 2_900);
    let footer = escape_for_slack(&summary.footer(), 300);
    // Without `verbatim`, Slack also looks for names in plain text.
    let text = |text: String| json!({"type": "mrkdwn", "text": text, "verbatim": true});
    let section = |content: String| json!({"type": "section", "text": text(content)});
    // Slack refuses empty blocks.
    let mut blocks = Vec::new();
    if !question.is_empty() {
        blocks.push(section(format!("*{question}*")));
    }
    if !body.is_empty() {
        blocks.push(section(body));
    }
    if !footer.is_empty() {
        blocks.push(json!({"type": "context", "elements": [text(footer.clone())]}));
    }
    json!({"text": joined([question, footer]), "blocks": blocks})
}

/// A Discord message: `content`, and no mentions.
pub(in crate::deliveries) fn discord_message(summary: &ChatSummary) -> Value {
    const CONTENT_UNITS_MAX: usize = 2_000;
    let question = escape_for_discord(&summary.question, 400);
    let question = if question.is_empty() { question } else { format!("**{question}**") };
    let footer = escape_for_discord(&summary.footer(), 300);
    let units = |text: &str| text.encode_utf16().count();
    let room = CONTENT_UNITS_MAX.saturating_sub(units(&question) + units(&footer) + 2);
    let body = escape_for_discord(&summary.body(), room);
    json!({"content": joined([question, body, footer]), "allowed_mentions": {"parse": []}})
}

/// The parts on lines of their own. A message must not be empty.
fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "A debate is over.".to_owned() } else { parts.join("\n") }
}

/// In Slack, `<...>` is a link or a mention. A zero-width space after `@` keeps it from looking like a mention.
fn escape_for_slack(text: &str, units_max: usize) -> String {
    escape_and_shorten(text, units_max, |c| match c {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '@' => "@\u{200b}".into(),
        c => c.into(),
    })
}

/// Discord reads Markdown, and `<...>` as a mention. A zero-width space after `@` keeps it from looking like a mention.
fn escape_for_discord(text: &str, units_max: usize) -> String {
    escape_and_shorten(text, units_max, |c| match c {
        '\\' | '*' | '_' | '~' | '`' | '|' | '<' | '>' | '[' | ']' | '(' | ')' | '#' | '-' | '+' => {
            format!("\\{c}")
        }
        '@' => "@\u{200b}".into(),
        c => c.into(),
    })
}

/// Escapes each character and shortens the text to so many UTF-16 units, which both chats count. A shortened text ends in
/// an ellipsis, and no escape is cut in two.
fn escape_and_shorten(text: &str, units_max: usize, escape: impl Fn(char) -> String) -> String {
    let mut out = String::new();
    let mut units = 0;
    let text = clean_text(text);
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = escape(c);
        let more = escaped.encode_utf16().count();
        // Leave room for the ellipsis, unless this is the last character.
        let room = units_max.saturating_sub(units + usize::from(chars.peek().is_some()));
        if more > room {
            if units < units_max {
                out.push('\u{2026}');
            }
            return out;
        }
        units += more;
        out.push_str(&escaped);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn summary(answer: &str) -> ChatSummary {
        ChatSummary {
            question: "Which one?".into(),
            answer: Some(answer.into()),
            ending: "arena \u{b7} complete".into(),
            id: "d-1".into(),
            ..ChatSummary::default()
        }
    }

    #[test]
    fn the_body_has_the_verdict_the_answer_and_the_dissent() {
        let dissent = vec!["Debater B: Wait.".to_owned(), "Never.".to_owned()];
        let summary = ChatSummary { verdict: Some("ADOPT".into()), dissent, ..summary("Adopt it.") };
        assert_eq!(summary.body(), "Verdict: ADOPT\nAdopt it.\nDissent: Debater B: Wait.\nDissent: Never.");
    }

    #[test]
    fn a_slack_message_has_text_and_blocks() {
        let text = |text: &str| json!({"type": "mrkdwn", "text": text, "verbatim": true});
        assert_eq!(
            slack_message(&summary("A < B & C")),
            json!({"text": "Which one?\narena \u{b7} complete \u{b7} d-1", "blocks": [
                {"type": "section", "text": text("*Which one?*")},
                {"type": "section", "text": text("A &lt; B &amp; C")},
                {"type": "context", "elements": [text("arena \u{b7} complete \u{b7} d-1")]},
            ]})
        );
        assert_eq!(
            slack_message(&ChatSummary::default()),
            json!({"text": "A debate is over.", "blocks": []})
        );
    }

    #[test]
    fn a_discord_message_has_content_and_no_mentions() {
        let mentions = json!({"parse": []});
        let content = "**Which one?**\nA\\_B\narena \u{b7} complete \u{b7} d\\-1";
        let expected = json!({"content": content, "allowed_mentions": mentions});
        assert_eq!(discord_message(&summary("A_B")), expected);
        let empty = json!({"content": "A debate is over.", "allowed_mentions": mentions});
        assert_eq!(discord_message(&ChatSummary::default()), empty);
    }

    #[test]
    fn text_with_a_meaning_in_the_chat_is_escaped() {
        for (text, slack, discord) in [
            (
                "plain, with\nlines \u{e9}\u{4e2d}\u{1f600}",
                "plain, with\nlines \u{e9}\u{4e2d}\u{1f600}",
                "plain, with\nlines \u{e9}\u{4e2d}\u{1f600}",
            ),
            ("<!channel> <!here|x>", "&lt;!channel&gt; &lt;!here|x&gt;", "\\<!channel\\> \\<!here\\|x\\>"),
            (
                "<@U123> <#C1> <@&9>",
                "&lt;@\u{200b}U123&gt; &lt;#C1&gt; &lt;@\u{200b}&amp;9&gt;",
                "\\<@\u{200b}U123\\> \\<\\#C1\\> \\<@\u{200b}&9\\>",
            ),
            ("@everyone @here", "@\u{200b}everyone @\u{200b}here", "@\u{200b}everyone @\u{200b}here"),
            (
                "<https://evil.example|ok>",
                "&lt;https://evil.example|ok&gt;",
                "\\<https://evil.example\\|ok\\>",
            ),
            (
                "[ok](https://evil.example)",
                "[ok](https://evil.example)",
                "\\[ok\\]\\(https://evil.example\\)",
            ),
            ("&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;", "&lt;!channel&gt;"),
            (
                "# **b** _i_ ~s~ `c` \\",
                "# **b** _i_ ~s~ `c` \\",
                "\\# \\*\\*b\\*\\* \\_i\\_ \\~s\\~ \\`c\\` \\\\",
            ),
            ("a\u{0}\u{1b}[31m\u{202e}b\r\n", "ab", "ab"),
        ] {
            assert_eq!(escape_for_slack(text, 2_900), slack, "{text:?}");
            assert_eq!(escape_for_discord(text, 2_000), discord, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_shortened_between_characters_and_escapes() {
        let plain = |c: char| c.to_string();
        assert_eq!(escape_and_shorten("abc", 3, plain), "abc", "just fits");
        assert_eq!(escape_and_shorten("abcd", 3, plain), "ab\u{2026}");
        assert_eq!(escape_and_shorten("a\u{1f600}b", 3, plain), "a\u{2026}", "an emoji counts as two");
        assert_eq!(escape_and_shorten("abc", 0, plain), "");
        assert_eq!(escape_for_slack("a<<", 6), "a&lt;\u{2026}");
        let long = "<".repeat(5_000);
        let shortened = escape_for_slack(&long, 2_900);
        assert!(shortened.ends_with("&lt;\u{2026}") && shortened.len() <= 3_000);
        assert!(escape_for_discord(&long, 2_000).ends_with("\\<\u{2026}"));
    }

    proptest! {
        #[test]
        fn no_text_mentions_anybody_or_grows_too_long(
            question in any::<String>(),
            answer in prop_oneof![any::<String>(), "[<>@!&#|\\\\a-z \u{200b}\n]{0,4000}", "(@everyone|<@1>|<!here>|@here){0,900}"],
            ending in any::<String>(),
        ) {
            let units = |text: &str| text.encode_utf16().count();
            let summary = ChatSummary { question, answer: Some(answer), ending, ..ChatSummary::default() };
            let slack = slack_message(&summary);
            prop_assert!(!slack["text"].as_str().unwrap().is_empty());
            for pointer in ["/text", "/blocks/0/text/text", "/blocks/1/text/text", "/blocks/2/elements/0/text"] {
                let text = slack.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                prop_assert!(!text.contains(['<', '>']), "{text}");
                prop_assert!(!text.contains("@here") && !text.contains("@everyone") && !text.contains("@channel"), "{text}");
                prop_assert!(text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").find('&').is_none(), "{text}");
                prop_assert!(units(text) <= 3_000);
            }
            let discord = discord_message(&summary);
            prop_assert_eq!(&discord["allowed_mentions"], &json!({"parse": []}));
            let content = discord["content"].as_str().unwrap();
            prop_assert!((1..=2_000).contains(&units(content)), "{}", units(content));
            prop_assert!(!content.contains("@here") && !content.contains("@everyone") && !content.contains("<@1"), "{content}");
        }
    }
}
