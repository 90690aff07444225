//! Anthropic's wire format: cache marks, and errors in the middle of a stream.

use crate::support::{ask, call, message, mock, model_of};
use agon_engine::{CallFaultKind, CallMessage, MessageRole, ModelCall};
use agon_mock::{MockRequest, MockResponse};
use serde_json::{Value, json};

fn shared(role: MessageRole, shared: &str, own: &str) -> CallMessage {
    CallMessage { role, text: format!("{shared}{own}"), shared: shared.len() }
}

async fn sent(messages: Vec<CallMessage>) -> MockRequest {
    let mock = mock(|_| MockResponse::say("Yes."));
    ask(&*model_of(&mock, "anthropic"), &ModelCall { messages, ..call() }, false).await.0.unwrap();
    mock.requests().remove(0)
}

fn mark() -> Value {
    json!({"type": "ephemeral"})
}

#[tokio::test]
async fn the_shared_parts_of_the_prompt_get_cache_marks() {
    let rules = shared(MessageRole::System, "Rules.", "");
    let request = sent(vec![rules, shared(MessageRole::User, "The question.\n\n", "You are B.")]).await;
    let body = request.body();
    assert_eq!(body["system"], json!([{"type": "text", "text": "Rules.", "cache_control": mark()}]));
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "The question.\n\n", "cache_control": mark()},
            {"type": "text", "text": "You are B."},
        ]}])
    );
    assert_eq!(
        request.messages(),
        [("system", "Rules."), ("user", "The question.\n\nYou are B.")],
        "the text is unchanged"
    );
}

/// The server looks up its cache at the ends of blocks, so the mark of one round must be at the end of a block of the next.
#[tokio::test]
async fn a_later_round_can_use_the_cache_of_an_earlier_one() {
    let quote = |n: u32| {
        format!(
            "<<BEGIN 0123456789abcdef01234567 Debater {n}>>\nEntry {n}.\n<<END 0123456789abcdef01234567>>"
        )
    };
    let round =
        |entries: u32| (1..=entries).map(|n| format!("### Debater {n}\n{}\n", quote(n))).collect::<String>();
    let mut prefixes = Vec::new();
    for entries in [2, 5] {
        let prompt =
            shared(MessageRole::User, &format!("{}\n## Focus {entries}\n", round(entries)), "You are B.");
        let request = sent(vec![prompt.clone()]).await;
        assert_eq!(request.messages(), [("user", prompt.text.as_str())], "the text is unchanged");
        let blocks = request.body()["messages"][0]["content"].as_array().unwrap().clone();
        let text =
            |blocks: &[Value]| blocks.iter().filter_map(|block| block["text"].as_str()).collect::<String>();
        let marked = blocks.iter().position(|block| block.get("cache_control").is_some()).unwrap();
        let ends: Vec<String> = (1..=blocks.len()).map(|end| text(&blocks[..end])).collect();
        prefixes.push((text(&blocks[..=marked]), ends));
    }
    let (earlier, later) = (&prefixes[0].0, &prefixes[1].1);
    assert!(earlier.contains("Entry 2.") && later.contains(earlier), "{earlier:?} is none of {later:?}");
}

#[tokio::test]
async fn a_prompt_without_shared_parts_has_no_marks() {
    let request =
        sent(vec![message(MessageRole::System, "Rules."), message(MessageRole::User, "Why?")]).await;
    assert_eq!(request.body()["system"], json!("Rules."));
    assert_eq!(request.body()["messages"], json!([{"role": "user", "content": "Why?"}]));
}

/// The server rejects empty blocks, and a fifth mark.
#[tokio::test]
async fn no_block_is_empty_and_at_most_four_are_marked() {
    let turns = || (0..6).map(|n| shared(MessageRole::User, &format!("Shared {n}. "), "Own."));
    let edge_cases = [
        shared(MessageRole::User, " \n", "Words."),
        shared(MessageRole::User, "Words.", " \n"),
        shared(MessageRole::User, "All.", ""),
    ];
    let beyond = CallMessage { shared: 99, ..message(MessageRole::User, "Short.") };
    let inside = CallMessage { shared: 1, ..message(MessageRole::User, "Ärger") };
    let messages: Vec<CallMessage> = turns().chain(edge_cases).chain([beyond, inside]).collect();
    let request = sent(messages.clone()).await;
    let texts: Vec<(&str, &str)> = messages.iter().map(|message| ("user", message.text.as_str())).collect();
    assert_eq!(request.messages(), texts, "the text is unchanged");
    let contents = request.body()["messages"].as_array().unwrap().iter().map(|message| &message["content"]);
    let blocks: Vec<&Value> = contents.filter_map(Value::as_array).flatten().collect();
    assert!(blocks.iter().all(|block| !block["text"].as_str().unwrap().trim().is_empty()), "{blocks:?}");
    let marked: Vec<&str> = blocks
        .iter()
        .filter(|block| block.get("cache_control").is_some())
        .filter_map(|b| b["text"].as_str())
        .collect();
    assert_eq!(marked, ["Shared 4. ", "Shared 5. ", "Words. \n", "All."], "the last four");
}

#[tokio::test]
async fn partly_shared_rules_become_two_blocks() {
    let request =
        sent(vec![shared(MessageRole::System, "For all. ", "For you."), message(MessageRole::User, "Why?")])
            .await;
    let blocks = json!([
        {"type": "text", "text": "For all. ", "cache_control": mark()},
        {"type": "text", "text": "For you."},
    ]);
    assert_eq!(request.body()["system"], blocks);
}

/// The other servers cache common prefixes by themselves.
#[tokio::test]
async fn other_wire_formats_get_no_marks() {
    for wire in ["openai", "gemini"] {
        let mock = mock(|_| MockResponse::say("Yes."));
        let messages = vec![
            shared(MessageRole::System, "Rules.", ""),
            shared(MessageRole::User, "The question. ", "You are B."),
        ];
        ask(&*model_of(&mock, wire), &ModelCall { messages, ..call() }, false).await.0.unwrap();
        let body = mock.requests()[0].body().clone();
        assert!(!body.to_string().contains("cache"), "{wire}: {body}");
        let message = if wire == "openai" {
            &body["messages"][1]["content"]
        } else {
            &body["contents"][0]["parts"][0]["text"]
        };
        assert_eq!(message, "The question. You are B.", "{wire}");
    }
}

#[tokio::test]
async fn an_error_in_a_stream_is_read_by_its_type() {
    let begun =
        "event: content_block_delta\ndata: {\"delta\": {\"type\": \"text_delta\", \"text\": \"Sell\"}}\n\n";
    for (kind, before, expected) in [
        // The request was accepted, so it may be charged for.
        ("overloaded_error", "", CallFaultKind::Garbled),
        ("rate_limit_error", "", CallFaultKind::RateLimited),
        ("authentication_error", "", CallFaultKind::Key),
        // The text before the error may be charged for.
        ("overloaded_error", begun, CallFaultKind::Garbled),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "upstream is down"}});
        let events = format!("{before}event: error\ndata: {error}\n\n");
        let mock = mock(move |_| MockResponse::raw(200, "text/event-stream", events.clone()));
        let fault = ask(&*model_of(&mock, "anthropic"), &call(), true).await.0.unwrap_err();
        assert_eq!(fault.kind, expected, "{kind}");
        assert!(fault.message.contains("upstream is down"), "{}", fault.message);
    }
}

#[tokio::test]
async fn missing_credit_is_reported_as_such() {
    let mock = mock(|_| MockResponse::error(400, "Your credit balance is too low to access the API."));
    let fault = ask(&*model_of(&mock, "anthropic"), &call(), false).await.0.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Key);
    assert!(fault.message.contains("no credit left"), "{}", fault.message);
}
