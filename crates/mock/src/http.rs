//! HTTP/1.1, as much of it as a client of a chat API speaks.

use std::io::{self, BufRead, Read};

use crate::response::Body;
use crate::{Request, Response, wire};

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
        Body::Words(words) if request.streams() => ("text/event-stream", wire::stream(request, words), true),
        Body::Words(words) => ("application/json", wire::whole(request, words), false),
        Body::Error { message } => {
            ("application/json", wire::error(request, response.status, message), false)
        }
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

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
