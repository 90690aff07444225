//! A stand-in for the part of GitHub that comments are read and written with.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::action_runner::TOKEN;

/// One comment on the pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PullComment {
    pub(crate) id: u64,
    /// The login, with `[bot]` for a bot.
    pub(crate) author: String,
    pub(crate) body: String,
}

/// The comments of pull request 12, and who may write.
#[derive(Debug, Default)]
struct ApiState {
    comments: Vec<PullComment>,
    is_read_only: bool,
}

/// The server. It ends with the test's process.
pub(crate) struct GithubApi {
    address: SocketAddr,
    state: Arc<Mutex<ApiState>>,
}

/// Who the token belongs to.
const VIEWER: &str = "github-actions[bot]";

impl GithubApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(ApiState::default()));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &mut shared.lock().unwrap());
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn comments(&self) -> Vec<PullComment> {
        self.state.lock().unwrap().comments.clone()
    }

    /// Somebody writes a comment.
    pub(crate) fn write(&self, author: &str, body: &str) {
        self.state.lock().unwrap().add(author, body);
    }

    /// The token may only read, as in workflows of forks.
    pub(crate) fn make_read_only(&self) {
        self.state.lock().unwrap().is_read_only = true;
    }
}

impl ApiState {
    fn add(&mut self, author: &str, body: &str) -> Value {
        let id = 1000 + self.comments.len() as u64;
        self.comments.push(PullComment { id, author: author.to_owned(), body: body.to_owned() });
        json!({"id": id})
    }

    /// The status and the body of the answer.
    fn reply(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = || {
            let text = body["body"].as_str().unwrap().to_owned();
            (text.chars().count() <= 65_536).then_some(text)
        };
        let comment = path.strip_prefix("/repos/octo/demo/issues/comments/");
        match (method, path, comment) {
            ("POST", "/graphql", _) => (200, self.page(&body["variables"])),
            (_, _, _) if self.is_read_only => {
                (403, json!({"message": "Resource not accessible by integration"}))
            }
            ("POST", "/repos/octo/demo/issues/12/comments", _) => match text() {
                Some(text) => (201, self.add(VIEWER, &text)),
                None => (422, json!({"message": "Body is too long (maximum is 65536 characters)"})),
            },
            ("PATCH", _, Some(id)) => {
                let mut comments = self.comments.iter_mut();
                let Some(comment) = comments.find(|comment| comment.id.to_string() == id) else {
                    return (404, json!({}));
                };
                comment.body = text().unwrap();
                (200, json!({"id": comment.id}))
            }
            _ => (404, json!({"message": "Not Found"})),
        }
    }

    /// A page of 100 comments.
    fn page(&self, variables: &Value) -> Value {
        assert_eq!(variables["owner"], "octo");
        assert_eq!((&variables["name"], &variables["number"]), (&json!("demo"), &json!(12)));
        let start: usize = variables["after"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let nodes: Vec<Value> = self.comments.iter().skip(start).take(100).map(node).collect();
        let end = start + nodes.len();
        let page = json!({"endCursor": end.to_string(), "hasNextPage": end < self.comments.len()});
        let comments = json!({"nodes": nodes, "pageInfo": page});
        json!({"data": {"viewer": {"login": VIEWER}, "repository": {"pullRequest": {"comments": comments}}}})
    }
}

/// The login of a bot has no `[bot]` here.
fn node(comment: &PullComment) -> Value {
    let author = match comment.author.strip_suffix("[bot]") {
        Some(login) => json!({"__typename": "Bot", "login": login}),
        None if comment.author.is_empty() => Value::Null,
        None => json!({"__typename": "User", "login": comment.author}),
    };
    json!({"databaseId": comment.id, "body": comment.body, "author": author})
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, state: &mut ApiState) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let pairs = head.iter().filter_map(|line| line.split_once(": "));
        pairs.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut words = head.first().unwrap().split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let is_allowed = header("authorization") == Some(format!("Bearer {TOKEN}"));
    let (status, answer) = match is_allowed {
        true => state.reply(method, path, &serde_json::from_slice(&body).unwrap()),
        false => (401, json!({"message": "Bad credentials"})),
    };
    let answer = answer.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} -\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    )
    .unwrap();
}
