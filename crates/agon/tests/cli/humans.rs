//! "`human/NAME`: a person at the terminal takes a seat, sees what the others would see and answers; absent after its own
//! timeout." The terminal is a real one, made by the program `script`.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::support::{Home, said};

const SEATED: &str = "deep 'Tabs or spaces?' --models human/anna,script/tabs.yaml,script/tabs.yaml \
                      --moderator script/tabs.yaml --chair script/tabs.yaml --seed 7";

/// What Anna says where her words are asked for.
const ANSWER: &str = "Tabs, I say.";
const POINT: &str = "One keystroke is enough.";

/// What Anna types at the prompt that the screen ends with.
fn typed(screen: &str) -> &'static str {
    let page = screen.rsplit("it is your turn: ").next().unwrap();
    let Some((_, field)) = page.rsplit_once("\n* ") else {
        // A line with a single . ends an answer of several lines.
        return if page.contains(ANSWER) { "." } else { ANSWER };
    };
    match field.lines().next().unwrap().trim() {
        "stance" => "maintain",
        "key points" if field.ends_with(" 1> ") => POINT,
        "revision" => "no_change",
        "confidence" => "0.9",
        _ => "",
    }
}

/// Runs a command in a terminal in which Anna sits, and gives everything that was on the screen.
fn screen(home: &Home, line: &str) -> String {
    let command = format!("{} {line}", env!("CARGO_BIN_EXE_agon"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(home.path("")).env_clear();
    script.env("AGON_HOME", home.path("home")).env("TERM", "xterm").env("LANG", "C.UTF-8");
    script.env("PATH", std::env::var_os("PATH").unwrap()).env("SHELL", "/bin/sh");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = output.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..read]);
        if bytes.ends_with(b"> ") {
            let screen = String::from_utf8_lossy(&bytes).replace('\r', "");
            writeln!(keys, "{}", typed(&screen)).unwrap();
        }
    }
    let screen = String::from_utf8_lossy(&bytes).replace('\r', "");
    assert!(child.wait().unwrap().success(), "{screen}");
    screen
}

#[test]
fn a_person_plays_a_whole_seat_and_the_outcome_shows_their_words() {
    let home = Home::new();
    let screen = screen(&home, SEATED);
    // Answer, and two rounds.
    assert_eq!(screen.matches("human/anna, it is your turn: ").count(), 3, "{screen}");
    assert!(
        screen.contains("| [B0] Spaces. A file looks the same everywhere."),
        "what the others said: {screen}"
    );
    assert!(screen.contains("The debate converged after 2 rounds."), "{screen}");
    let outcome = home.agon(&["show", "last", "--json"]).ok().json();
    assert_eq!((&outcome["status"], &outcome["fidelity"]), (&"complete".into(), &"full".into()));
    assert_eq!(outcome["seats"][0]["spoke"], serde_json::json!(["human/anna"]), "{outcome:#}");
    let told = home.agon(&["export", "last", "--format", "md"]).ok().out;
    assert!(told.contains(ANSWER) && told.contains(POINT), "{told}");
}

/// "The live screen must step aside while a person is asked."
#[test]
fn nothing_is_drawn_while_a_person_reads_and_types() {
    let screen = screen(&Home::new(), SEATED);
    let asked: Vec<&str> = screen
        .split("it is your turn: ")
        .skip(1)
        .map(|rest| rest.split_once("The debate goes on.").unwrap().0)
        .collect();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|page| !page.contains('\u{1b}')), "{asked:?}");
    assert!(screen.contains("\u{1b}["), "there was a live view to step aside");
}

#[test]
fn a_person_who_does_not_answer_is_absent() {
    let home = Home::new();
    home.write("home/agon.toml", "[humans.slow]\ntimeout_s = 1\n[limits]\nretries = 0\n");
    let line = SEATED.replace("human/anna", "human/slow");
    let command = format!("{} {line} --json > outcome.json", env!("CARGO_BIN_EXE_agon"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(home.path("")).env_clear();
    script.env("AGON_HOME", home.path("home")).env("TERM", "xterm").env("SHELL", "/bin/sh");
    script.env("PATH", std::env::var_os("PATH").unwrap());
    // Held open: at the end of its input, `script` would press Ctrl-D.
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let keys = child.stdin.take();
    let ran = said(child);
    drop(keys);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let outcome: serde_json::Value = serde_json::from_str(&home.read("outcome.json")).unwrap();
    let absence = &outcome["absences"][0];
    assert_eq!(
        (&absence["seat"], &absence["why"]),
        (&"debater-1".into(), &"timed_out".into()),
        "{outcome:#}"
    );
    assert!(ran.out.contains("This question is closed"), "{ran:?}");
}

#[test]
fn without_a_terminal_nobody_can_be_asked() {
    let home = Home::new();
    let agon = home.command(&["deep", "q?", "--models", "human/anna,script/tabs.yaml", "--json"]);
    // A session of its own has no terminal, wherever the test was started.
    let mut alone = Command::new("setsid");
    alone.args(["--wait"]).arg(agon.get_program()).args(agon.get_args()).current_dir(home.path(""));
    alone
        .env("AGON_HOME", home.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let said = said(alone.spawn().unwrap());
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert!(
        said.err.contains("human/anna needs a terminal") && said.err.contains("seat a model"),
        "{said:?}"
    );
}
