//! `agon council` from outside: the rounds as they end, minutes that grow, checks over the log, rosters.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Home, Said, refused};

const TOPIC: &str = "Should a company of twelve move to a four-day week?";

fn council(home: &Home, args: &[&str]) -> Said {
    home.agon(&[&["council", TOPIC, "--models", "script/demo-council", "--seed", "7"], args].concat())
}

/// "The terminal shows the round summary of the seed after each round: the table of position changes, key exchanges, emerging
/// consensus, persistent disagreements, moderator notes."
#[test]
fn a_round_summary_as_the_round_ends() {
    let said = council(&Home::new(), &[]).ok();
    let (_, second) = said.err.split_once("Round 2 of 2 Complete").unwrap();
    let (summary, _) = second.split_once("4 councillors vote").unwrap();
    assert_snapshot!(summary.trim_end(), @"
    Councillor  Before                After                 Changed?
    Visionary   Move, beginning with  Move by a trial of    Yes: The
                a trial that ends by  twelve weeks that     Pragmatist's twelve
                itself if ...         ends by itself, with  weeks show the same
                                      ...                   for half the ...
    Critic      Do not move; twelve   A trial only with a   Yes: Thirty-one
                people cannot give    hard end, counted by  calls on ten Fridays
                away a fifth of ...   somebody who does     are not what I had
                                      ...                   claimed.
    Pragmatist  Try it for twelve     A trial of twelve     Yes: The Innovator's
                weeks with a look     weeks with a look     order of teams takes
                after six, support    after six, a rota of  the release out of
                by ...                ...                   it.
    Innovator   A trial of whole      unchanged             No
                days off, team by
                team, the one that
                ...
    Key Exchanges
    • Visionary → Critic [C5]: customers call on Fridays — modified: Thirty-one
      calls on ten Fridays: fewer than I thought, and four of them could not
      wait.
    • Visionary → Pragmatist [C6]: a trial of eight weeks is enough — agree:
      Nothing that is not novelty; hence twelve.
    • Critic → Visionary [C7]: larger competitors cannot copy quickly — agree:
      Support stays at five days by rota, in the trial and after it.
    • Critic → Innovator [C8]: shorter days do the same — agree: Nobody; that is
      why I gave the short days up.
    • Pragmatist → Visionary [C9]: A trial of six months — agree: Twelve weeks
      with a look after six is what I would sign.
    • Pragmatist → Innovator [C10]: shorter days do the same — agree: I would
      not; it was my weakest point.
    • Innovator → Critic [C11]: cannot be taken back — disagree: A pilot team of
      four is a third of the company; that is not a pilot.
    • Innovator → Pragmatist [C12]: The quiet season risks no release —
      modified: The team that releases next starts last; the other two start at
      once.
    Emerging Consensus
    • A trial of twelve weeks with support on five days (Visionary, Pragmatist,
      Innovator)
    Persistent Disagreements
    • Innovator → Pragmatist [C4]: Who would you hire for a rota that nobody
      wants?
    • Innovator → Critic [C11]: cannot be taken back
    Moderator Notes
    • none
    ");
}

/// "`agon show ID --check` prints them met or not met, with the line of the log that shows it."
#[test]
fn checks_over_a_log() {
    let home = Home::new();
    council(&home, &["--quiet"]).ok();
    let said = home.agon(&["show", "last", "--check"]);
    assert_eq!(said.status, Some(0), "{said:?}");
    assert_snapshot!(said.out, @"
    met       All rounds completed (no rounds skipped): 2 of 2 rounds are over
              (lines 27, 44 of the log)
    met       Each councillor challenged 2+ specific points per round: 16 challenges
              in 2 rounds (lines 16, 17, 18, 19, 38, 39, 40, 41 of the log)
    met       Peer exchange occurred between councillors (standard mode): 2
              messages, 2 of them answered (lines 23, 24 of the log)
    met       Position evolution tracked across all rounds: positions of 4
              councillors after 2 of 2 rounds, 6 changes (lines 16, 17, 18, 19, 38,
              39, 40, 41 of the log)
    met       Moderator intervened when groupthink, evasion, or stalemate detected:
              2 interventions for 2 findings (lines 31, 32 of the log)
    met       New insights emerged in each round (not just repetition): a changed
              position or a new argument in each of 2 rounds (lines 27, 44 of the
              log)
    met       Debate log accumulated across all rounds: 2 of 2 rounds are in the
              log, 20 challenges with a fate each (lines 16, 38 of the log)
    met       Avoided: Cutting rounds short before all councillors respond:
              everybody responded in every round (lines 16, 17, 18, 19, 38, 39, 40,
              41 of the log)
    met       Avoided: Not enforcing the 2-challenge minimum per councillor per
              round: 0 answers sent back (lines 16, 17, 18, 19, 38, 39, 40, 41 of
              the log)
    met       Avoided: Skipping moderator intervention when groupthink is detected:
              1 steelman for 1 unchallenged point (lines 31, 32 of the log)
    met       Avoided: Not tracking position changes across rounds: 6 of 6 changes
              have a reason (lines 16, 17, 18, 19, 38, 39, 40, 41 of the log)
    -         Avoided: Letting councillors repeat arguments without new substance:
              no round stalled
    met       Avoided: Over-intervening and dominating the debate (moderator should
              facilitate, not lead): at most 2 interventions in a round, of 3 (lines
              31, 32 of the log)
    met       Avoided: In standard mode: not encouraging/allowing peer exchange: 2
              messages written, 0 of them not delivered (lines 23, 24 of the log)
    ");
    let checks = home.agon(&["show", "last", "--check", "--json"]).json();
    let log: Vec<Value> = home.agon(&["export", "last", "--format", "json"]).json()["log"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| serde_json::from_str(line["body"].as_str().unwrap()).unwrap())
        .collect();
    for line in checks.as_array().unwrap().iter().flat_map(|check| check["log_lines"].as_array().unwrap()) {
        let body = &log[usize::try_from(line.as_u64().unwrap()).unwrap() - 1];
        assert!(body.to_string().contains("\"replied\""), "line {line} is an answer: {body}");
    }
    home.debate();
    assert!(home.agon(&["show", "last", "--check"]).err.contains("deep has no checks"));
}

/// "printed as the round ends and appended to `session.md` with `--save`"
#[test]
fn minutes_grow_in_the_folder() {
    let home = Home::new();
    council(&home, &["--save", "kept", "--quiet"]).ok();
    let kept = std::fs::read_dir(home.path("kept")).unwrap().next().unwrap().unwrap().path();
    let mut names: Vec<String> = std::fs::read_dir(&kept)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["log.ndjson", "outcome.json", "report.md", "session.md"]);
    let session = std::fs::read_to_string(kept.join("session.md")).unwrap();
    for part in [
        "### Round 1\n",
        "### Round 2\n",
        "#### Challenges",
        "#### Position Updates",
        "#### Key Exchanges",
        "#### Moderator Interventions",
        "Debate complete",
    ] {
        assert!(session.contains(part), "{part} is missing in\n{session}");
    }
}

/// A debate that is killed leaves the rounds that were over, and its resume goes on with the same file.
#[test]
#[cfg(unix)]
fn minutes_survive_a_kill() {
    let home = Home::new();
    let script = include_str!("../../../protocols/src/council/demo.yaml")
        .replace("    verdict:\n", "    verdict: {fail: timeout}\n    unused:\n");
    home.write("slow.yaml", script);
    let args = ["council", TOPIC, "--models", "script/slow.yaml", "--save", "kept", "--quiet"];
    let mut child = home.command(&args).spawn().unwrap();
    let session = || {
        let kept = std::fs::read_dir(home.path("kept")).ok()?.next()?.ok()?.path();
        std::fs::read_to_string(kept.join("session.md")).ok()
    };
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !session().is_some_and(|text| text.contains("### Round 2\n")) {
        assert!(std::time::Instant::now() < patience, "no minutes of round 2");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    home.write("slow.yaml", include_str!("../../../protocols/src/council/demo.yaml"));
    home.agon(&["resume", "last", "--save", "kept", "--quiet"]).ok();
    assert!(session().unwrap().contains("Debate complete"));
}

/// "a user adds a role or a whole roster without touching Rust (`--roster FILE`), and gets a clear error for a bad one"
#[test]
fn rosters_are_data() {
    let home = Home::new();
    home.write("roles.yaml", "Accountant: You look at the money.\n");
    let said = council(&home, &["--roster", "roles.yaml", "--dry-run", "--json"]).ok();
    let seats: Vec<String> = said.json()["seats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| seat["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(seats, ["accountant", "visionary", "critic", "pragmatist", "moderator"]);
    home.write("empty.yaml", "\n");
    home.write("broken.yaml", "Accountant: [\n");
    home.write("bare.yaml", "Accountant: \"\"\n");
    for (args, wants) in [
        (&["--roster", "none.yaml"][..], &["none.yaml", "no such file"][..]),
        (&["--roster", "empty.yaml"], &["empty.yaml", "it is empty"]),
        (&["--roster", "broken.yaml"], &["broken.yaml"]),
        (&["--roster", "bare.yaml"], &["bare.yaml", "charter"]),
        (&["--rounds", "5"], &["rounds", "1 to 4"]),
        (&["--rounds", "0"], &["rounds", "1 to 4"]),
        (&["--councillors", "2"], &["councillors", "3 to 6"]),
        (&["--councillors", "7"], &["councillors", "3 to 6"]),
        (&["--councillors", "6"], &["focus"]),
        (&["--exchanges", "0"], &["exchanges"]),
    ] {
        refused(&home, wants, || council(&home, args));
    }
}
