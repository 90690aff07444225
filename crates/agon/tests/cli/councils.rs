//! `agon council` from outside: the rounds as they end, minutes that grow, checks over the log, rosters.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Home, Said, demo_of, refused};

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

    Councillor  Before                After          Changed?         Confidence
    Visionary   Move, beginning with  unchanged      No               HIGH
                a trial of twelve
                weeks that ends by
                [...]
    Critic      A trial only with a   unchanged      No               MEDIUM
                hard end, counted by
                somebody who does
                not want it; else…
    Pragmatist  Try it for twelve     A trial of     Yes: [C16] is    MEDIUM →
                weeks with a look     twelve weeks   right that one   HIGH
                after six, support    with a look    illness breaks
                by rota.              after six, a…  a rota of two.
    Innovator   A trial of whole      unchanged      No               MEDIUM →
                days off, team by                                     HIGH
                team, the one that
                releases last.
    Key Exchanges
    • Critic → Pragmatist [C16]: What happens in the week in which one of them
      is ill? — agree: A third name on the rota: the Visionary.
    • Innovator → Visionary [C20]: Would you let the releasing team start last?
      — agree: Yes. The team that releases next starts last.
    New Arguments
    • Pragmatist: A rota of three survives an illness.
    Emerging Consensus
    • A trial comes before any decision (Visionary, Pragmatist, Innovator;
      challenged in [C20])
    Persistent Disagreements
    • Innovator → Critic [C19]: What is the smallest pilot that you would
      accept?
    Debate complete. 2 rounds of cross-examination finished.
    Position Evolution
    • Visionary changed in round 1: [C2] asked what would end the trial, and
      nothing would have; [C9] shows the same for half the risk.
    • Critic changed in round 1: [C5] and [M2]: thirty-one calls on ten Fridays
      are not what I had claimed.
    • Pragmatist changed in round 1: [C6] and [M1]: eight weeks measure novelty.
    • Innovator changed in round 1: [C3], [C8] and [C10]: two handovers a day
      more is a price that I had not counted.
    • Pragmatist changed in round 2: [C16] is right that one illness breaks a
      rota of two.
    Key Results
    • Consensus areas: 1
    • Persistent disagreements: 1
    • Position changes: 5
    NEXT: Phase 4 - Verdict
    • Synthesizing all debate evidence into a structured verdict.
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
    met       All rounds completed (no rounds skipped): 2 of 2 rounds over (lines
              31, 57 of the log)
    met       Each councillor challenged 2+ specific points per round: 8 of 8
              cross-examinations with at least 2 quoted claims (lines 16, 17, 18,
              19, 42, 43, 44, 45 of the log)
    met       Peer exchange occurred between councillors (standard mode): 1 of 1
              standard debate held with an answered message (lines 25, 26, 27, 28,
              51, 52, 53, 54 of the log)
    met       Position evolution tracked across all rounds: 2 of 2 rounds with
              everybody's position (lines 25, 26, 27, 28, 51, 52, 53, 54 of the log)
    met       Moderator intervened when groupthink, evasion, or stalemate detected:
              2 of 2 findings with an intervention (lines 35, 36 of the log)
    met       New insights emerged in each round (not just repetition): 2 of 2
              rounds with a change or a new argument (lines 31, 57 of the log)
    met       Debate log accumulated across all rounds: 2 of 2 rounds in the log
              (lines 16, 17, 18, 19, 42, 43, 44, 45 of the log)
    met       Avoided: Cutting rounds short before all councillors respond: 2 of 2
              rounds over, with answers from everybody (lines 25, 26, 27, 28, 51,
              52, 53, 54 of the log)
    met       Avoided: Not enforcing the 2-challenge minimum per councillor per
              round: 8 of 8 given cross-examinations with at least 2 quoted claims
              (lines 16, 17, 18, 19, 42, 43, 44, 45 of the log)
    met       Avoided: Skipping moderator intervention when groupthink is detected:
              1 of 1 widely shared and unchallenged point argued against (lines 35,
              36 of the log)
    met       Avoided: Not tracking position changes across rounds: 5 of 5 position
              changes with a reason (lines 25, 26, 27, 28, 51, 52, 53, 54 of the
              log)
    -         Avoided: Letting councillors repeat arguments without new substance:
              no stale round (lines 31, 57 of the log)
    met       Avoided: Over-intervening and dominating the debate (moderator should
              facilitate, not lead): 2 of 2 rounds with at most 3 interventions
              (lines 35, 36 of the log)
    met       Avoided: In standard mode: not encouraging/allowing peer exchange: 4
              of 4 messages delivered (lines 25, 26, 27, 28, 51, 52, 53, 54 of the
              log)
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
    let script = demo_of("council").replace("    verdict:\n", "    verdict: {fail: timeout}\n    unused:\n");
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
    home.write("slow.yaml", demo_of("council"));
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
