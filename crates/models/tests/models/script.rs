//! Scripts: which reply is chosen, and what is wrong with a file.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{ask, call, message};
use agon_core::{CallUsage, Phase, ReplySchema};
use agon_engine::{CallFault, CallFaultKind, FinishReason, MessageRole, Model, ModelCall, ModelCompletion};
use agon_models::ScriptModel;
use serde_json::{Value, json};

const SCRIPT: &str = r#"
question: "Why?"
seats:
  debater-1:
    answer: "Because."
    debate:
      - { stance: maintain, confidence: 0.5 }
      - - text: "not { JSON"
        - say: { stance: concede }
      - say: [1, 2]
  debater-2:
    answer: { fail: rate_limited, retry_after_ms: 250 }
  "*":
    answer: "Me too."
    "*": "Whatever."
"#;

fn asked(seat: &str, phase: &str, round: u32, attempt: u32) -> ModelCall {
    ModelCall { seat: seat.into(), phase: Phase::new(phase, round), attempt, ..call() }
}

async fn reply_to(script: &str, call: &ModelCall) -> Result<ModelCompletion, CallFault> {
    ask(&ScriptModel::parse("test.yaml", script).unwrap(), call, false).await.0
}

#[tokio::test]
async fn a_reply_is_chosen_by_seat_phase_round_and_attempt() {
    for (seat, phase, round, attempt, text) in [
        ("debater-1", "answer", 0, 1, "Because."),
        ("debater-1", "debate", 1, 1, r#"{"stance":"maintain","confidence":0.5}"#),
        ("debater-1", "debate", 1, 2, r#"{"stance":"maintain","confidence":0.5}"#),
        ("debater-1", "debate", 2, 1, "not { JSON"),
        ("debater-1", "debate", 2, 2, r#"{"stance":"concede"}"#),
        ("debater-1", "debate", 2, 3, r#"{"stance":"concede"}"#),
        ("debater-1", "debate", 3, 1, "[1,2]"),
        ("debater-1", "debate", 9, 1, "[1,2]"),
        ("debater-1", "moderate", 1, 1, "Whatever."),
        ("debater-3", "answer", 0, 1, "Me too."),
        ("chair", "synthesis", 0, 1, "Whatever."),
    ] {
        let answer = reply_to(SCRIPT, &asked(seat, phase, round, attempt)).await.unwrap();
        assert_eq!(answer.text, text, "{seat} {phase} {round} {attempt}");
        let rest = (answer.model.as_str(), answer.usage, answer.finish);
        assert_eq!(
            rest,
            ("script/test.yaml", CallUsage::default(), FinishReason::End),
            "a script counts no tokens"
        );
    }
}

/// One script can answer a whole dataset.
#[tokio::test]
async fn a_case_is_chosen_by_words_in_the_prompt() {
    const CASES: &str = r#"
cases:
  - { asked: "capital of France", seats: { "*": { answer: "Paris" } } }
  - { asked: "capital", seats: { debater-2: { answer: "Bern" } } }
seats:
  "*": { answer: "I do not know", "*": "Nothing" }
"#;
    for (seat, phase, question, text) in [
        ("debater-1", "answer", "What is the CAPITAL of FRANCE?", "Paris"),
        ("debater-2", "answer", "What is the capital of Switzerland?", "Bern"),
        ("debater-1", "answer", "What is the capital of Switzerland?", "I do not know"),
        ("debater-1", "debate", "What is the capital of France?", "Nothing"),
        ("debater-1", "answer", "Why?", "I do not know"),
    ] {
        let mut call = asked(seat, phase, 1, 1);
        call.messages = vec![message(MessageRole::User, question)];
        assert_eq!(reply_to(CASES, &call).await.unwrap().text, text, "{seat} {phase} {question}");
    }
    for (wrong, why) in [
        ("cases: 1", "cases is a list"),
        ("cases: [{ seats: {} }]", "cases[0]: `asked`"),
        ("cases: [{ asked: x }]", "cases[0] has no seats"),
        ("cases: []", "no seats"),
    ] {
        let found = ScriptModel::parse("test.yaml", wrong).unwrap_err().to_string();
        assert!(found.contains(why), "{found}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_failure_can_be_scripted() {
    for (word, kind) in [
        ("refuse", CallFaultKind::Refused),
        ("unavailable", CallFaultKind::Unavailable),
        ("rate_limited", CallFaultKind::RateLimited),
        ("garbled", CallFaultKind::Garbled),
        ("rejected", CallFaultKind::Rejected),
        ("key", CallFaultKind::Key),
        ("no_such_model", CallFaultKind::NoSuchModel),
    ] {
        let fault =
            reply_to(&format!("seats: {{\"*\": {{\"*\": {{fail: {word}}}}}}}"), &call()).await.unwrap_err();
        assert_eq!((fault.kind, fault.retry_after), (kind, None));
    }
    let fault = reply_to(SCRIPT, &asked("debater-2", "answer", 0, 1)).await.unwrap_err();
    assert_eq!(fault.retry_after, Some(Duration::from_millis(250)));
    let (hang, call) = (ScriptModel::parse("x", "seats: {\"*\": {\"*\": {fail: timeout}}}").unwrap(), call());
    let waited = tokio::time::timeout(Duration::from_millis(20), hang.call(&call, None)).await;
    assert!(waited.is_err(), "a timeout never answers");
}

#[tokio::test]
async fn a_missing_reply_names_seat_and_phase() {
    let script = "seats: {debater-1: {answer: x}}";
    let fault = reply_to(script, &asked("debater-1", "debate", 1, 1)).await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Rejected);
    assert!(
        fault.message.contains("\"debater-1\"") && fault.message.contains("\"debate\""),
        "{}",
        fault.message
    );
    let fault = reply_to(script, &asked("chair", "synthesis", 0, 1)).await.unwrap_err();
    assert!(fault.message.contains("\"chair\"") && fault.message.contains("debater-1"), "{}", fault.message);
    // `"*"` exists already, so adding it would not help.
    let script = "seats: {debater-1: {answer: x}, \"*\": {answer: y}}";
    let fault = reply_to(script, &asked("chair", "synthesis", 0, 1)).await.unwrap_err();
    assert!(fault.message.contains("add `synthesis:` there"), "{}", fault.message);
    assert!(fault.message.contains("\"chair\"") && !fault.message.contains("or \"*\""), "{}", fault.message);
}

#[tokio::test(start_paused = true)]
async fn a_delay_of_the_reply_overrides_the_seats_and_the_scripts() {
    let script = ScriptModel::parse(
        "x",
        "{delay_ms: 40, seats: {a: {p: slow}, b: {delay_ms: 20, p: quicker}, c: {p: {text: at once, delay_ms: 0}}}}",
    )
    .unwrap();
    let mut order = Vec::new();
    let calls: Vec<ModelCall> = ["a", "b", "c"].map(|seat| asked(seat, "p", 0, 1)).into();
    let mut pending: futures_util::stream::FuturesUnordered<_> =
        calls.iter().map(|call| script.call(call, None)).collect();
    while let Some(answer) = futures_util::StreamExt::next(&mut pending).await {
        order.push(answer.unwrap().text);
    }
    assert_eq!(order, ["at once", "quicker", "slow"]);
}

#[tokio::test(start_paused = true)]
async fn words_are_streamed_one_by_one() {
    for (stream, pieces) in [("stream: 1000\n", 3), ("", 1)] {
        let script =
            ScriptModel::parse("x", &format!("{stream}seats: {{\"*\": {{\"*\": one two three}}}}")).unwrap();
        let seen = std::sync::Mutex::new(Vec::new());
        let push = |piece: &str| seen.lock().unwrap().push(piece.to_owned());
        let call = call();
        let answer = script.call(&call, Some(&push)).await.unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!((seen.len(), seen.concat()), (pieces, answer.text));
    }
}

fn targets(schema: Value) -> Option<Arc<ReplySchema>> {
    Some(Arc::new(ReplySchema { name: "argument".into(), json: schema }))
}

fn debater_schema() -> Value {
    let target = json!({"type": "string", "enum": ["Debater A", "Debater C"]});
    let item = json!({"type": "object", "properties": {"target": target, "point": {"type": "string"}}});
    json!({"type": "object", "properties": {"counterpoints": {"type": "array", "items": item}}})
}

#[tokio::test]
async fn other_stands_for_a_label_from_the_schema() {
    let script = "seats: {\"*\": {\"*\": {counterpoints: [
        {target: other, point: other}, {target: other-2}, {target: other-3}, {target: Debater C}, {target: nobody}]}}}";
    let by_reference = {
        let mut schema = debater_schema();
        let item = schema["properties"]["counterpoints"]["items"].take();
        schema["properties"]["counterpoints"]["items"] = json!({"$ref": "#/$defs/Point"});
        schema["$defs"] = json!({"Point": item});
        schema
    };
    for schema in [debater_schema(), by_reference] {
        let text = reply_to(script, &ModelCall { schema: targets(schema), ..call() }).await.unwrap().text;
        let value: Value = serde_json::from_str(&text).unwrap();
        let at = |index: usize| value["counterpoints"][index]["target"].as_str().unwrap().to_owned();
        assert_eq!(
            [at(0), at(1), at(2)],
            ["Debater A", "Debater C", "Debater C"],
            "the last one is used for the rest"
        );
        assert_eq!([at(3), at(4)], ["Debater C", "nobody"], "other values stay");
        assert_eq!(value["counterpoints"][0]["point"], json!("other"), "plain text stays");
    }
}

#[tokio::test]
async fn a_seat_id_stands_for_the_seats_label_in_the_prompt() {
    let script = "seats: {debater-1: {debate: {counterpoints: [{target: debater-2}, {target: debater-3}]}},
        debater-2: {answer: Second words.}, debater-3: {answer: Third words.}}";
    let prompt = "### Debater A\nThird words.\n---\n### Debater B\nMine.\n---\n### Debater C\nSecond words.\nYou are Debater A.";
    let call = ModelCall {
        messages: vec![message(MessageRole::User, prompt)],
        schema: targets(debater_schema()),
        ..asked("debater-1", "debate", 1, 1)
    };
    let value: Value = serde_json::from_str(&reply_to(script, &call).await.unwrap().text).unwrap();
    let expected = json!({"counterpoints": [{"target": "Debater C"}, {"target": "Debater A"}]});
    assert_eq!(value, expected);
}

#[test]
fn an_error_in_a_script_names_the_place() {
    for (text, named) in [
        ("seats: {a: {p: x}\n  b: [}", "line 2"),
        ("- x", "mapping"),
        ("seats: {}", "no seats"),
        ("delay_ms: 3", "no seats"),
        ("seats: {a: {p: x}}\nseat: 3", "\"seat\""),
        ("seats: {a: {p: x}}\ndelay_ms: -1", "delay_ms"),
        ("seats: {a: {p: x}}\ndelay_ms: soon", "delay_ms"),
        ("seats: {a: {p: x}}\nstream: 0", "stream"),
        ("seats: {a: x}", "seats.a"),
        ("seats: {a: {p: 3}}", "seats.a.p"),
        ("seats: {a: {p: []}}", "seats.a.p"),
        ("seats: {a: {p: [x, [[y]]]}}", "seats.a.p[1][0]"),
        ("seats: {a: {p: [x, {fail: explode}]}}", "seats.a.p[1]: `fail` must be one of timeout"),
        ("seats: {a: {p: {fail: key, delay_ms: 3}}}", "after_ms"),
        ("seats: {a: {p: {text: x, fial: key}}}", "\"fial\""),
        ("seats: {a: {p: {text: {b: 1}}}}", "`say:`"),
        ("seats: {a: {p: {text: x, say: y}}}", "\"say\""),
    ] {
        let why = ScriptModel::parse("my.yaml", text).unwrap_err().0;
        assert!(why.contains("my.yaml") && why.contains(named), "{text}: {why}");
    }
    assert!(ScriptModel::parse("my.json", "{\"seats\": {\"a\": {\"p\": \"x\"}}}").is_ok());
    assert!(ScriptModel::parse("my.json", "seats: {a: {p: x}}").unwrap_err().0.contains("JSON"));
}

#[test]
fn an_unreadable_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("latin1.yaml"), [0xE9, 0xE8]).unwrap();
    std::fs::File::create(path("big.yaml")).unwrap().set_len(8 * 1024 * 1024 + 1).unwrap();
    for (name, named) in
        [("none.yaml", "script/demo"), ("latin1.yaml", "UTF-8"), ("big.yaml", "8 MB"), (".", "directory")]
    {
        let why = ScriptModel::open(&path(name)).unwrap_err().0;
        assert!(why.contains(named) && why.contains(&path(name)), "{name}: {why}");
    }
    std::fs::write(path("good.yaml"), SCRIPT).unwrap();
    assert!(ScriptModel::open(&path("good.yaml")).is_ok());
}
