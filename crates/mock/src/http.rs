//! HTTP/1.1, as much of it as a client of the chat API speaks.

use std::io::{self, BufRead, Read};

use serde_json::{Value, json};

use crate::response::{Body, Words};
use crate::{Request, Response};

/// The longest head and body that are read; no prompt of a debate comes near.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The next request of a connection; `None` when the client has closed it.
pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut head = from.take(HEAD_BYTES_MAX);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err(bad("no request line")) };
    let mut headers = Vec::new();
    loop {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return Err(bad("the head ends early or is too long"));
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: u64 = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    if length > BODY_BYTES_MAX {
        return Err(bad("the body is too long"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    if from.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(bad("the body ends early"));
    }
    Ok(Some(Request::new(method, path, headers, bytes)))
}

/// The whole answer as bytes, and how many of them are the head.
pub(crate) fn write(request: &Request, response: &Response) -> (Vec<u8>, usize) {
    let (content_type, body, chunked) = match &response.body {
        Body::Raw { content_type, bytes } => (content_type.as_str(), bytes.clone(), false),
        Body::Words(words) if request.streams() => ("text/event-stream", stream(request, words), true),
        Body::Words(words) => ("application/json", completion(words), false),
    };
    let mut out = format!("HTTP/1.1 {} Mock\r\nContent-Type: {content_type}\r\n", response.status);
    for (name, value) in &response.headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    match chunked {
        true => out.push_str("Transfer-Encoding: chunked\r\n\r\n"),
        false => out.push_str(&format!("Content-Length: {}\r\n\r\n", body.len())),
    }
    let head = out.len();
    let mut out = out.into_bytes();
    out.extend(body);
    (out, head)
}

/// Written out by hand, because this is most of what a benchmark asks of the server.
fn completion(words: &Words) -> Vec<u8> {
    let text = |text: Option<&str>| serde_json::to_string(&text).unwrap_or_default();
    let content = text(Some(words.text.as_str()).filter(|_| words.refusal.is_none()));
    let (refusal, finish) = (text(words.refusal.as_deref()), text(Some(&words.finish)));
    let message = format!(r#"{{"role":"assistant","content":{content},"refusal":{refusal}}}"#);
    let choice = format!(r#"{{"index":0,"message":{message},"finish_reason":{finish},"logprobs":null}}"#);
    let head = r#"{"id":"chatcmpl-mock","object":"chat.completion","created":0,"model":"mock""#;
    format!(r#"{head},"choices":[{choice}],"usage":{}}}"#, usage(words)).into_bytes()
}

fn stream(request: &Request, words: &Words) -> Vec<u8> {
    let mut out = Vec::new();
    let mut event = |data: &str| {
        let text = format!("data: {data}\n\n");
        out.extend(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes());
    };
    event(&delta(json!({"role": "assistant", "content": ""}), None));
    match &words.refusal {
        Some(refusal) => event(&delta(json!({"refusal": refusal}), None)),
        None => {
            words.text.split_inclusive(' ').for_each(|word| event(&delta(json!({"content": word}), None)))
        }
    }
    event(&delta(json!({}), Some(&words.finish)));
    if request.wants_usage() {
        event(&format!(r#"{{"id":"chatcmpl-mock","choices":[],"usage":{}}}"#, usage(words)));
    }
    event("[DONE]");
    out.extend(b"0\r\n\r\n");
    out
}

fn delta(delta: Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "chatcmpl-mock", "object": "chat.completion.chunk", "model": "mock", "choices": [choice]})
        .to_string()
}

fn usage(words: &Words) -> String {
    let Words { input_tokens, cached_tokens, output_tokens, .. } = words;
    let total = input_tokens + output_tokens;
    let details = format!(r#"{{"cached_tokens":{cached_tokens}}}"#);
    let counts = format!(
        r#""prompt_tokens":{input_tokens},"completion_tokens":{output_tokens},"total_tokens":{total}"#
    );
    format!(r#"{{{counts},"prompt_tokens_details":{details}}}"#)
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
