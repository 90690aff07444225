//! The same tools at `/mcp` of `agon serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use crate::support::Home;

const TOKEN: &str = "0123456789abcdef0123";

/// A server that ends with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(home: &Home, token: Option<&str>) -> Self {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.envs(token.map(|token| ("AGON_TOKEN", token)));
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address }
    }

    /// Sends a JSON-RPC message and gives the status, the session and the first JSON message of the answer.
    fn post(&self, headers: &[(&str, &str)], message: &Value) -> (u16, Option<String>, Value) {
        let mut answer = String::new();
        self.send(headers, message).read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let session =
            answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ").map(str::to_owned));
        let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
        let message = data.filter_map(|line| serde_json::from_str(line).ok()).next().unwrap_or_default();
        (status, session, message)
    }

    /// Sends a JSON-RPC message and leaves the answer unread.
    fn send(&self, headers: &[(&str, &str)], message: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = message.to_string();
        let host =
            headers.iter().find(|(name, _)| *name == "Host").map_or(self.address.as_str(), |(_, host)| host);
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n",
            body.len()
        );
        for (name, value) in headers.iter().filter(|(name, _)| *name != "Host") {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        write!(stream, "{request}\r\n{body}").unwrap();
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn introduction() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    })
}

#[test]
fn an_agent_debates_over_http() {
    let home = Home::new();
    let served = Served::start(&home, None);
    let (status, session, info) = served.post(&[], &introduction());
    assert_eq!((status, info["result"]["serverInfo"]["name"].as_str()), (200, Some("agon")));
    let session = session.unwrap();
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    served.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "debate", "arguments": {"question": "Tabs?", "models": ["script/demo-deep"]}},
    });
    let (status, _, answer) = served.post(&headers, &call);
    assert_eq!(
        (status, answer["result"]["structuredContent"]["state"].as_str()),
        (200, Some("complete")),
        "{answer}"
    );
    let own = json!({
        "jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": "debate", "arguments": {"question": "Tabs?", "models": ["command/rm"]}},
    });
    let (_, _, answer) = served.post(&headers, &own);
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("[serve]"), "{answer}");
}

/// "With the same checks of Host, Origin and token."
#[test]
fn the_checks_of_the_server_hold_for_its_tools() {
    let home = Home::new();
    let served = Served::start(&home, Some(TOKEN));
    let bearer = ("Authorization", "Bearer 0123456789abcdef0123");
    let status = |headers: &[(&str, &str)]| served.post(headers, &introduction()).0;
    assert_eq!(status(&[bearer]), 200);
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("Authorization", "Bearer wrong")]), 401);
    assert_eq!(status(&[bearer, ("Host", "evil.example")]), 403);
    assert_eq!(status(&[bearer, ("Origin", "http://evil.example")]), 403);
    assert_eq!(status(&[bearer, ("Origin", &format!("http://{}", served.address))]), 200);
}

/// The client that was shown a form first may be gone, although its session is not.
#[test]
fn a_form_is_shown_in_every_session_that_waits() {
    let home = Home::new();
    let served = Served::start(&home, None);
    let mut begin = introduction();
    begin["params"]["capabilities"] = json!({"elicitation": {}});
    let arguments = json!({"question": "Tabs?", "protocol": "poll", "models": ["human/anna"], "wait_s": 40});
    let mut call = json!({"name": "debate", "arguments": arguments});
    for _ in 0..2 {
        let session = served.post(&[], &begin).1.unwrap();
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
        served.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let stream = served
            .send(&headers, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
        let shown = BufReader::new(stream).lines().map_while(Result::ok);
        let form =
            shown.into_iter().find(|line| line.contains("\"method\":") || line.contains("\"result\":"));
        assert!(form.as_ref().is_some_and(|form| form.contains("elicitation/create")), "{form:?}");
        let listed: Value = serde_json::from_str(&home.printed(&["list", "--json"])).unwrap();
        call = json!({"name": "debate_wait", "arguments": {"id": listed[0]["id"], "wait_s": 40}});
    }
}

/// A client that begins again and again ends its own oldest sessions, and fills no memory.
#[test]
fn only_so_many_sessions_are_kept() {
    let home = Home::new();
    let served = Served::start(&home, None);
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let sessions: Vec<String> = (0..258).map(|_| served.post(&[], &introduction()).1.unwrap()).collect();
    let status = |session: &str| {
        let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-06-18")];
        served.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        served.post(&headers, &ping).0
    };
    assert_eq!((status(&sessions[0]), status(&sessions[1])), (404, 404));
    assert_eq!((status(&sessions[2]), status(&sessions[257])), (200, 200));
}
