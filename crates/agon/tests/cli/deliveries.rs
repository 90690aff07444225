//! Results that go where they belong: files, callbacks, hooks; what is killed on the way, and what is given up.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{Home, TABS, refused, said};

/// What came to a server that answers with this status.
struct Came {
    head: String,
    body: Vec<u8>,
}

impl Came {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split(':').next().is_some_and(|key| key.eq_ignore_ascii_case(name));
        self.head.lines().find(named).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }
}

fn server(status: &'static str) -> (String, Receiver<Came>) {
    serve(TcpListener::bind("127.0.0.1:0").unwrap(), status)
}

fn serve(listener: TcpListener, status: &'static str) -> (String, Receiver<Came>) {
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, came) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
            let end = loop {
                let got = stream.read(&mut piece).unwrap();
                bytes.extend(&piece[..got]);
                let head = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, _)) = head.split_once("\r\n\r\n") else { continue };
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length:").map(str::to_owned));
                let length: usize = length.unwrap().trim().parse().unwrap();
                if bytes.len() >= head.len() + 4 + length {
                    break head.len() + 4;
                }
            };
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            if sender.send(Came { head, body: bytes[end..].to_vec() }).is_err() {
                break;
            }
        }
    });
    (address, came)
}

const DEEP: [&str; 6] = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7"];

/// "Routing back to the origin (terminal, file, HTTP callback with an HMAC signature...)".
#[test]
fn a_result_goes_to_the_terminal_a_file_and_a_signed_callback() {
    let home = Home::new();
    let (url, came) = server("200 OK");
    let args =
        [&DEEP[..], &["--json", "--to", &url, "--to", "file:out/verdict.json", "--to", "report.md"]].concat();
    std::fs::create_dir(home.path("out")).unwrap();
    let outcome = home.agon_in(&[("AGON_CALLBACK_SECRET", "s3cret")], &args).ok();
    let request = came.recv_timeout(Duration::from_secs(20)).unwrap();
    let sent: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!((&sent, request.header("agon-event")), (&outcome.json(), Some("debate.closed")));
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let signed = request.header("agon-signature").unwrap();
    let verified = |secret: &str| {
        agon_publish::deliveries::verify_signature(
            secret,
            signed,
            &request.body,
            i64::try_from(now_s).unwrap(),
            300,
        )
        .is_ok()
    };
    assert!(verified("s3cret") && !verified("other"));
    let filed: Value = serde_json::from_str(&home.read("out/verdict.json")).unwrap();
    assert_eq!(filed, sent);
    assert!(home.read("report.md").starts_with("# "));
    assert!(!outcome.err.contains("s3cret") && !outcome.out.contains("s3cret"));
}

/// "With retries and a dead-letter list that `agon doctor` shows".
#[test]
fn what_is_given_up_is_listed_and_can_be_tried_again() {
    let home = Home::new();
    let (url, came) = server("410 Gone");
    let held = home.agon(&[&DEEP[..], &["--quiet", "--to", &url]].concat());
    assert_eq!(held.status, Some(0), "the verdict stands: {held:?}");
    assert!(held.err.contains("given up"), "{held:?}");
    came.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(home.agon(&["deliver", "--list"]).ok().out.contains("dead"));
    let doctor = home.agon(&["doctor", "--offline", "--json"]).ok().json();
    let dead = &doctor["dead_letters"][0];
    assert_eq!((&dead["state"], &dead["attempts"]), (&json!("dead"), &json!(1)), "{doctor:#}");
    assert!(dead["last_error"].as_str().unwrap().contains("410"), "{dead}");
    let shown = home.agon(&["doctor", "--offline"]).ok().out;
    assert!(shown.contains("Deliveries that were given up") && shown.contains("127.0.0.1"), "{shown}");
    assert!(!shown.contains("/hook"), "what comes after the host may be a secret: {shown}");
    let idle = home.agon(&["deliver"]);
    assert_eq!((idle.status, idle.err.as_str()), (Some(3), "nothing is due\n"), "something was given up");
    assert_eq!(home.agon(&["deliver", "--retry"]).status, Some(3), "it is gone still");
    came.recv_timeout(Duration::from_secs(20)).unwrap();
    refused(&home, &["no delivery 99 is due or was given up"], || home.agon(&["deliver", "--retry", "99"]));
}

/// "All of it off the critical path, none of it lost by `kill -9`".
#[cfg(unix)]
#[test]
fn what_is_killed_on_the_way_is_brought_after_a_resume() {
    let home = Home::new();
    home.write("slow.yaml", TABS.replace("seats:\n", "delay_ms: 1500\nseats:\n"));
    let args = [
        "deep",
        "Tabs or spaces?",
        "--models",
        "script/slow.yaml",
        "--seed",
        "7",
        "--to",
        "file:late.json",
        "--json",
    ];
    let mut child = home.command(&args).spawn().unwrap();
    let log = home.path("home/agon.db");
    let begun =
        || home.agon(&["list", "--json"]).json().as_array().is_some_and(|debates| !debates.is_empty());
    while !log.exists() || !begun() {
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    drop(said(child));
    assert!(!home.path("late.json").exists());
    home.write("slow.yaml", TABS);
    let resumed = home.agon(&["resume", "last", "--json"]).ok();
    let filed: Value = serde_json::from_str(&home.read("late.json")).unwrap();
    assert_eq!(filed, resumed.json());
}

/// "Hooks (command, webhook, export)". A configuration that was only found runs nothing.
#[cfg(unix)]
#[test]
fn hooks_run_after_every_debate_of_their_kind() {
    let home = Home::new();
    let hooks = "[[hooks]]\non = \"complete\"\ncommand = [\"/bin/sh\", \"-c\", \"cat > got-$AGON_STATUS.json\"]\n\
                 [[hooks]]\nprotocols = [\"deep\"]\nexport = { format = \"md\", dir = \"exports\" }\n\
                 [[hooks]]\nprotocols = [\"arena\"]\nexport = { format = \"md\", dir = \"elsewhere\" }\n\
                 [[hooks]]\non = \"failed\"\nexport = { dir = \"failures\" }\n";
    home.write("hooks.toml", hooks);
    let args = [&DEEP[..], &["--json", "--config", "hooks.toml"]].concat();
    let outcome = home.agon(&args).ok().json();
    let got: Value = serde_json::from_str(&home.read("got-complete.json")).unwrap();
    assert_eq!(got, outcome);
    assert_eq!(std::fs::read_dir(home.path("exports")).unwrap().count(), 1);
    assert!(!home.path("elsewhere").exists() && !home.path("failures").exists());
    // A program that fails is run again later, from anywhere, in the folder where the debate was held.
    home.write("notify.sh", "#!/bin/sh\ntest -f ready && cat > notified.json\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.path("notify.sh"), mode).unwrap();
    home.write("late.toml", "[[hooks]]\ncommand = [\"./notify.sh\"]\n");
    home.agon(&[&DEEP[..], &["--quiet", "--config", "late.toml"]].concat()).ok();
    home.write("ready", "");
    let due = home.agon(&["deliver", "--list", "--json"]).json();
    let number =
        due.as_array().unwrap().iter().find(|one| one["state"] == "due").unwrap()["delivery"].to_string();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut deliver = home.command(&["deliver", "--retry", &number]);
    assert_eq!(said(deliver.current_dir(elsewhere.path()).spawn().unwrap()).status, Some(0));
    assert!(home.path("notified.json").exists());
}

/// A delivery is brought as it was bound: a later run needs no configuration for it, another one's names do not catch it, and one
/// that was to be signed waits for its secret.
#[test]
fn a_later_run_brings_what_was_bound_and_nothing_else() {
    let home = Home::new();
    // A port on which nobody listens yet.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.write("team.toml", format!("[destinations.team]\nurl = \"http://{port}/hook\"\n"));
    let args = [&DEEP[..], &["--quiet", "--config", "team.toml", "--to", "team"]].concat();
    let secret = [("AGON_CALLBACK_SECRET", "s3cret")];
    let held = home.agon_in(&secret, &args).ok();
    assert!(held.err.contains("not delivered yet"), "{held:?}");
    // Somebody else's file that has the same name for something else.
    home.write("agon.toml", "[destinations.team]\ndir = \"loot\"\n");
    home.agon(&[&DEEP[..], &["--quiet"]].concat()).ok();
    assert!(!home.path("loot").exists());
    let (_, came) = serve(TcpListener::bind(port).unwrap(), "200 OK");
    let number = home.agon(&["deliver", "--list", "--json"]).json()[0]["delivery"].to_string();
    let unsigned = home.agon(&["deliver", "--retry", &number]);
    assert_eq!(unsigned.status, Some(3), "{unsigned:?}");
    assert!(unsigned.err.contains("AGON_CALLBACK_SECRET, which is not set"), "{unsigned:?}");
    home.agon_in(&secret, &["deliver", "--retry", &number]).ok();
    let request = came.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(request.header("agon-signature").is_some());
    assert!(!home.path("loot").exists());
    assert_eq!(home.agon(&["deliver"]).ok().err, "nothing is due\n");
}
