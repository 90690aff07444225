//! "`command/NAME`: any program that reads a prompt on stdin and answers on stdout (a coding agent's one-shot mode, a script),
//! with timeout, output limit, process-group kill, no shell."

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::{Home, Said, said};

/// Two scripted debaters, moderator and chair, and a program for the first debater.
const SEATED: [&str; 10] = [
    "deep",
    "Tabs or spaces?",
    "--models",
    "command/critic,script/tabs.yaml,script/tabs.yaml",
    "--moderator",
    "script/tabs.yaml",
    "--chair",
    "script/tabs.yaml",
    "--seed",
    "7",
];

/// Answers by what it is asked for.
const CRITIC: &str = r#"#!/bin/sh
prompt=$(cat)
case "$prompt" in
  *'"stance"'*) echo '{"stance": "maintain", "key_points": ["Programs count bytes."], "counterpoints": [],
    "revision": "no_change", "revised_position": "", "confidence": 0.8}' ;;
  *) echo "Whatever is shorter, says the program." ;;
esac
"#;

/// Writes down who it is, with a child of its own, and never answers.
const HANGS: &str = "#!/bin/sh\nsleep 600 &\necho $$ $! >> pids\nwait\n";

fn home(program: &str, more: &str) -> Home {
    let home = Home::new();
    let file = home.write("critic", program);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.write("seats.toml", format!("[commands.critic]\ncommand = [\"./critic\"]\n{more}\n"));
    home
}

fn command(home: &Home, more: &[&str]) -> Command {
    let mut command = home.command(&[&SEATED[..], &["--config", "seats.toml"], more].concat());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn run(home: &Home, more: &[&str]) -> Said {
    said(command(home, more).spawn().unwrap())
}

/// Everybody who wrote themselves down is gone.
fn nobody_is_left(home: &Home) {
    let pids = home.read("pids");
    assert!(!pids.is_empty());
    for pid in pids.split_whitespace() {
        // The system may take a moment to clear a process away that was ended.
        until(&format!("{pid} is gone"), || !is_alive(pid));
    }
}

fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
    match Path::new("/proc/self/status").exists() {
        // One that ended and that nobody has asked for yet does nothing any more.
        true => status.is_ok_and(|status| !status.contains("State:\tZ")),
        false => Command::new("kill").args(["-0", pid]).status().unwrap().success(),
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < patience, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_takes_a_seat_and_its_words_are_in_the_outcome() {
    let home = home(CRITIC, "free = true");
    let outcome = run(&home, &["--json", "--budget-usd", "1"]).ok().json();
    assert_eq!((&outcome["status"], &outcome["fidelity"]), (&"complete".into(), &"full".into()));
    assert_eq!(outcome["seats"][0]["model"], "command/critic");
    let told = home.agon(&["export", "last", "--format", "md"]).ok().out;
    assert!(told.contains("Whatever is shorter, says the program."), "{told}");
    assert!(told.contains("Programs count bytes."), "{told}");
}

#[test]
fn a_program_that_hangs_is_absent_and_no_process_is_left() {
    let home = home(HANGS, "timeout_s = 2\n[limits]\nretries = 0");
    let outcome = run(&home, &["--json"]).ok().json();
    assert_eq!(outcome["fidelity"], "degraded");
    let absence = &outcome["absences"][0];
    assert_eq!(
        (&absence["seat"], &absence["why"]),
        (&"debater-1".into(), &"timed_out".into()),
        "{outcome:#}"
    );
    nobody_is_left(&home);
}

/// Starts a debate whose first debater hangs, and waits until it does.
fn hanging(home: &Home) -> Child {
    let child = command(home, &["--quiet"]).spawn().unwrap();
    until("the program runs", || home.path("pids").exists() && home.read("pids").ends_with('\n'));
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Whether this process ignores that its terminal is closed, as `nohup` makes it. A child inherits that.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
}

/// In order, at once, and when the terminal is closed.
#[test]
fn however_the_debate_is_ended_the_program_ends_with_it() {
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        if name == "-HUP" && ignores_hangup() {
            continue;
        }
        let home = home(HANGS, "");
        let child = hanging(&home);
        signal(&child, name);
        let said = said(child);
        assert_eq!(said.status, Some(130), "{name}: {said:?}");
        assert!(said.err.contains("agon resume 1"), "{name}: {said:?}");
        nobody_is_left(&home);
    }
}

#[test]
fn a_second_ctrl_c_leaves_no_program_behind() {
    let home = home(HANGS, "");
    let mut child = hanging(&home);
    signal(&child, "-INT");
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(err.next().unwrap().unwrap().starts_with("stopping: "));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nobody_is_left(&home);
}

/// "an unknown price is `null`, never 0, and a dollar budget with an unknown price is an error before the first call."
#[test]
fn a_budget_needs_a_program_to_be_free() {
    let home = home(HANGS, "");
    let said = run(&home, &["--budget-usd", "1"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("`free = true` under [commands.critic]"), "{said:?}");
    assert!(!said.err.contains("[prices]"), "{said:?}");
    assert!(!home.path("pids").exists(), "nothing was started");
}

#[test]
fn a_program_that_is_not_there_stops_with_its_name() {
    let home = home(CRITIC, "");
    home.write("seats.toml", "[commands.critic]\ncommand = [\"no-such-program\"]\n");
    let said = run(&home, &["--json"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert!(said.err.contains("no-such-program") && said.err.contains("[commands.critic]"), "{said:?}");
    assert!(!home.path("home/agon.db").exists(), "found before the first call");
}
