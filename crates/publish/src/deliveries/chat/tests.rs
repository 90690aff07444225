//! "Slack `{"text", "blocks"}` with mrkdwn escaping of & < >, Discord `{"content"}` at most 2,000 characters,
//! `allowed_mentions: {parse: []}`; so that a debate cannot ping everybody."

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Letter, discord, fitted, slack};

fn letter(body: &str) -> Letter {
    Letter {
        question: "Which one?".into(),
        body: body.into(),
        foot: "arena \u{b7} complete \u{b7} d-1".into(),
    }
}

#[test]
fn a_letter_has_the_question_the_answer_and_how_it_ended() {
    let outcome = json!({"id": "d-1", "protocol": "arena", "question": " Which one? ", "status": "complete",
                         "termination": "consensus", "verdict": {"answer": "This one."}});
    let letter = Letter::of(&outcome);
    assert_eq!((letter.question.as_str(), letter.body.as_str()), ("Which one?", "This one."));
    assert_eq!(letter.foot, "arena \u{b7} complete \u{b7} consensus \u{b7} d-1");
    assert_eq!(Letter::of(&json!({"verdict": {"answer": 7}, "termination": null})), Letter::default());
}

#[test]
fn slack_gets_its_shape() {
    let words = |text: &str| json!({"type": "mrkdwn", "text": text, "verbatim": true});
    assert_eq!(
        slack::message(&letter("A < B & C")),
        json!({"text": "Which one?\narena \u{b7} complete \u{b7} d-1", "blocks": [
            {"type": "section", "text": words("*Which one?*")},
            {"type": "section", "text": words("A &lt; B &amp; C")},
            {"type": "context", "elements": [words("arena \u{b7} complete \u{b7} d-1")]},
        ]})
    );
    assert_eq!(slack::message(&Letter::default()), json!({"text": "A debate is over.", "blocks": []}));
}

#[test]
fn discord_gets_its_shape() {
    assert_eq!(
        discord::message(&letter("A_B")),
        json!({"content": "**Which one?**\nA\\_B\narena \u{b7} complete \u{b7} d\\-1", "allowed_mentions": {"parse": []}})
    );
    let empty = json!({"content": "A debate is over.", "allowed_mentions": {"parse": []}});
    assert_eq!(discord::message(&Letter::default()), empty);
}

fn in_slack(body: &str) -> String {
    slack::message(&letter(body))["blocks"][1]["text"]["text"].as_str().unwrap_or_default().to_owned()
}

fn in_discord(body: &str) -> String {
    let content = discord::message(&letter(body))["content"].as_str().unwrap().to_owned();
    let body = content.strip_prefix("**Which one?**\n").unwrap();
    body.strip_suffix("\narena \u{b7} complete \u{b7} d\\-1").unwrap_or_default().to_owned()
}

#[test]
fn words_that_would_mean_something_are_escaped() {
    for (said, slack, discord) in [
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
        ("<https://evil.example|ok>", "&lt;https://evil.example|ok&gt;", "\\<https://evil.example\\|ok\\>"),
        ("[ok](https://evil.example)", "[ok](https://evil.example)", "\\[ok\\]\\(https://evil.example\\)"),
        ("&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;", "&lt;!channel&gt;"),
        (
            "# **b** _i_ ~s~ `c` \\",
            "# **b** _i_ ~s~ `c` \\",
            "\\# \\*\\*b\\*\\* \\_i\\_ \\~s\\~ \\`c\\` \\\\",
        ),
        ("a\u{0}\u{1b}[31m\u{202e}b\u{200d}\r\n", "a[31mb", "a\\[31mb"),
    ] {
        assert_eq!(in_slack(said), slack, "{said:?}");
        assert_eq!(in_discord(said), discord, "{said:?}");
    }
}

#[test]
fn a_long_text_is_cut_between_two_characters_and_never_in_an_escape() {
    let plain = |c: char| c.to_string();
    assert_eq!(fitted("abc", 3, plain), "abc", "just fits");
    assert_eq!(fitted("abcd", 3, plain), "ab\u{2026}");
    assert_eq!(fitted("a\u{1f600}b", 3, plain), "a\u{2026}", "a face counts for two");
    assert_eq!(fitted("abc", 0, plain), "");
    assert_eq!(fitted("a<<", 6, |c| if c == '<' { "&lt;".into() } else { c.into() }), "a&lt;\u{2026}");
    let long = "<".repeat(5_000);
    assert!(in_slack(&long).ends_with("&lt;\u{2026}") && in_slack(&long).len() <= 3_000);
    assert!(in_discord(&long).ends_with("\\<\u{2026}"));
}

fn units(value: &Value) -> usize {
    value.as_str().unwrap_or_default().encode_utf16().count()
}

proptest! {
    /// "any text gives valid JSON and no ping"
    #[test]
    fn no_text_rings_a_bell_or_grows_too_long(
        question in any::<String>(),
        body in prop_oneof![any::<String>(), "[<>@!&#|\\\\a-z \u{200b}\n]{0,4000}", "(@everyone|<@1>|<!here>|@here){0,900}"],
        foot in any::<String>(),
    ) {
        let letter = Letter { question, body, foot };
        let slack: Value = serde_json::from_str(&slack::message(&letter).to_string()).unwrap();
        let shown = |pointer: &str| slack.pointer(pointer).cloned().unwrap_or_default();
        for text in [shown("/text"), shown("/blocks/0/text/text"), shown("/blocks/1/text/text"), shown("/blocks/2/elements/0/text")] {
            let text = text.as_str().unwrap_or_default().to_owned();
            prop_assert!(!text.contains(['<', '>']), "{text}");
            prop_assert!(!text.contains("@here") && !text.contains("@everyone") && !text.contains("@channel"), "{text}");
            prop_assert!(text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").find('&').is_none(), "{text}");
            prop_assert!(text.encode_utf16().count() <= 3_000);
        }
        prop_assert!(units(&slack["text"]) > 0);
        let discord: Value = serde_json::from_str(&discord::message(&letter).to_string()).unwrap();
        prop_assert_eq!(&discord["allowed_mentions"], &json!({"parse": []}));
        let content = discord["content"].as_str().unwrap();
        prop_assert!((1..=2_000).contains(&units(&discord["content"])), "{}", units(&discord["content"]));
        prop_assert!(!content.contains("@here") && !content.contains("@everyone") && !content.contains("<@1"), "{content}");
    }
}
