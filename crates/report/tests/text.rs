//! The terminal's report, as a person sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_core::{Status, Termination};
use agon_report::{Style, text};
use insta::assert_snapshot;
use sample::{Log, outcome};
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

#[test]
fn a_converged_debate_reads_from_the_answer_to_the_cost() {
    assert_snapshot!(text(&sample::converged().document(), &PLAIN), @"
    Should a team of four rewrite its billing service in Rust this year?
    The debaters converged after 2 rounds.
    deep · 3 debaters · 2 rounds · 14 s

    Answer
      Rewrite the ledger only. Keep the rest as it is:

      • port the 4,000 lines behind the present interface, with the old code running
        beside it until a month of invoices agrees;
      • decide about the rest in a year.

    Why
      Everybody agreed in the end that the incidents come from one place, and that a
      small port can be undone.

    What was contested
      • Whether two people who know Rust are enough
      • Whether types in the present language would do

    Dissent
      • Debater B (debater-1): Rewrite all of it: two languages in one service cost
        more than one rewrite.
        Held to the end with confidence 0.80; nobody answered the point about two
        build systems.

    Round by round
      Round  Agreement  New points  Debater A           Debater B      Debater C
      1      0.55       0.80        partial concede     maintain 0.85  maintain 0.90
                                    0.70, minor update
      2      0.86       0.10        concede 0.80,       maintain 0.80  maintain 0.95
                                    major revision

    Who sat where
      Debater A: debater-2, anthropic/beta
      Debater B: debater-1, openai/alpha
      Debater C: debater-3, gemini/gamma
      Moderator: openai/alpha
      Chair: openai/alpha
      The first model also plays moderator and chair.

    Cost
      12 calls, 8,412 tokens in (31% cached), 2,016 out, $0.0123

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");
}

#[test]
fn a_degraded_debate_says_what_was_missing() {
    assert_snapshot!(text(&sample::degraded().document(), &PLAIN), @"
    Should a team of four rewrite its billing service in Rust this year?
    Nobody changed position any more after 1 round. Degraded: see what was missing.
    deep · 3 debaters · 1 round · 10 s

    Answer
      No.

    Why
      The two who were heard agree.

    Dissent
      No dissent: every first-round position was adopted or given up.

    What was missing
      • Debater C (debater-3): timed out in round 1 (debate): no answer within 120 s
      • Moderator: gave no answer that could be used in round 1 (moderate):
        agreement_score is 3, more than 1
      • Chair: would not answer (synthesis)
      • The chair was absent: anthropic/beta stood in and wrote the verdict.

    Warnings
      • The moderator wanted to stop in round 1, the arithmetic did not.

    Round by round
      Round  Agreement     New points    Debater A      Debater B      Debater C
      1      not assessed  not assessed  maintain 0.80  maintain 0.80  absent,
                                                                       carried

    Who sat where
      Debater A: debater-2, anthropic/beta
      Debater B: debater-1, openai/alpha
      Debater C: debater-3, gemini/gamma
      Moderator: openai/alpha
      Chair: openai/alpha
      The first model also plays moderator and chair.

    Cost
      9 calls, 3,505 tokens in (31% cached), 840 out, $0.0051
      possibly billed twice: 1 call, $0.0100

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");
}

#[test]
fn a_failed_debate_has_no_answer_but_all_positions() {
    assert_snapshot!(text(&sample::failed().document(), &PLAIN), @"
    Should a team of four rewrite its billing service in Rust this year?
    Failed: there is no verdict. Degraded: see what was missing.
    deep · 3 debaters · 5.0 s

    No answer
      This is where the debaters stood:
      • Debater A: No. A rewrite stops features for two quarters; put types around
        the hot paths instead.
      • Debater B: Only the ledger: it is 4,000 lines and all the incidents are
        there. word word word word word word word word word word word word word word
        word word word word word word word word word word word word word word word
        word word word word word word word word word word word word word word word
        word word word word word word word word word word word word word word word
        word word word word word word word word word word word word word word word
        word word word word word word word word word word word word [...]

    What was missing
      • Chair: could not be reached (synthesis): connection refused

    Who sat where
      Debater A: debater-2, anthropic/beta
      Debater B: debater-1, openai/alpha
      Debater C: debater-3, gemini/gamma
      Moderator: openai/alpha
      Chair: openai/alpha
      The first model also plays moderator and chair.

    Cost
      4 calls, 2,103 tokens in (31% cached), 504 out, $0.0031

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");
}

#[test]
fn quick_mode_has_no_rounds_and_standard_mode_has_a_ranking() {
    let mut log = Log::open("deep");
    let verdict = json!({"answer": "Yes.", "why": "Both say so.", "contested": [], "rounds": [], "synthesis_input": {"mode": "quick"}});
    log.close(outcome(Status::Complete, Termination::AllRoundsComplete, 0, verdict));
    assert_snapshot!(text(&log.document(), &PLAIN), @"
    Should a team of four rewrite its billing service in Rust this year?
    Answered without debate rounds.
    deep · quick · 3 debaters · 0.0 s

    Answer
      Yes.

    Why
      Both say so.

    Who sat where
      Debater A: debater-2, anthropic/beta
      Debater B: debater-1, openai/alpha
      Debater C: debater-3, gemini/gamma
      Moderator: openai/alpha
      Chair: openai/alpha
      The first model also plays moderator and chair.

    Cost
      0 calls, 0 tokens in, 0 out, $0.00

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");

    let mut document = log.document();
    document["verdict"]["synthesis_input"]["mode"] = json!("standard");
    document["verdict"]["ranking"] = json!([{"debater": "B", "score": 8.25, "z": 0.71, "disqualified": false},
        {"debater": "A", "score": 5.0, "z": -0.7, "disqualified": true}]);
    let shown = text(&document, &PLAIN);
    let ranking = shown.split("Ranking\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(ranking, @"
    Rank  Debater    Score  z
    1     Debater B  8.25   0.71
    2     Debater A  5.00   -0.70  disqualified
    ");
}

#[test]
fn a_protocol_that_nobody_has_heard_of_is_still_readable() {
    let mut log = Log::open("symposium");
    let verdict = json!({
        "decision": "approve", "share": 0.6666666, "votes_cast": 2025, "divided": true, "nothing": null, "empty": [],
        "rationale": "A paragraph long enough that it does not fit beside its name on one line of the report.",
        "votes": [{"voter": "A", "choice": "yes"}, {"voter": "B", "choice": "no"}],
        "open_questions": ["Who pays?", "Until when?"],
        "risks": [{"name": "Cost", "risk": "It may well cost twice what anybody expects it to cost.", "severity": "high"}],
        "convergence": [{"round": 1, "agreement": 0.5, "speakers": [{"label": "A", "said": ["one", "two"]}]}],
    });
    log.close(outcome(Status::Complete, Termination::Majority, 1, verdict));
    assert_snapshot!(text(&log.document(), &PLAIN), @"
    Should a team of four rewrite its billing service in Rust this year?
    A majority after 1 round, not a consensus.
    symposium · 3 debaters · 1 round · 0.0 s

    Verdict
      Decision: approve
      Share: 0.667
      Votes cast: 2025
      Divided: yes

    Rationale
      A paragraph long enough that it does not fit beside its name on one line of
      the report.

    Votes
      Voter  Choice
      A      yes
      B      no

    Open questions
      • Who pays?
      • Until when?

    Risks
      • Cost: It may well cost twice what anybody expects it to cost.
        Severity: high

    Convergence
      Round 1  agreement 0.50
        Speakers
          A
            Said
              • one
              • two

    Who sat where
      Debater A: debater-2, anthropic/beta
      Debater B: debater-1, openai/alpha
      Debater C: debater-3, gemini/gamma
      Moderator: openai/alpha
      Chair: openai/alpha
      The first model also plays moderator and chair.

    Cost
      0 calls, 0 tokens in, 0 out, $0.00

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");
}

#[test]
fn an_interrupted_debate_says_how_to_go_on_and_hides_the_mapping() {
    let log = Log::open("deep");
    let shown = text(&log.document(), &PLAIN);
    assert!(shown.contains("agon resume k3v9q2"), "{shown}");
    assert!(!shown.contains("Debater A"), "{shown}");
}

#[test]
fn no_dissent_is_said_only_where_every_position_is_accounted_for() {
    let mut document = sample::degraded().document();
    assert!(text(&document, &PLAIN).contains("No dissent"));
    document["evidence"]["dissent"][0]["fate"] = json!("minority");
    let shown = text(&document, &PLAIN);
    assert!(!shown.contains("No dissent") && shown.contains("Debater B (debater-1)"), "{shown}");
    document["evidence"]["dissent"] = json!([]);
    assert!(!text(&document, &PLAIN).contains("issent"));
}

#[test]
fn the_cost_line_tells_what_is_not_known() {
    let mut document = sample::converged().document();
    document["usage"] = json!({"calls": 1, "input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 2_020, "usd": null,
        "possibly_billed_twice_calls": 0, "possibly_billed_twice_usd": 0.0});
    assert!(text(&document, &PLAIN).contains("\n  1 call, 1 token in, 2,020 out, price unknown\n\n"));
    document["usage"]["possibly_billed_twice_calls"] = json!(2);
    document["usage"]["possibly_billed_twice_usd"] = Value::Null;
    assert!(text(&document, &PLAIN).contains("\n  possibly billed twice: 2 calls, price unknown\n"));
}

#[test]
fn the_cost_line_tells_what_was_written_to_a_cache() {
    let mut document = sample::converged().document();
    document["usage"]["cache_write_tokens"] = json!(1_010);
    let shown = text(&document, &PLAIN);
    let line = "12 calls, 8,412 tokens in (31% cached, 12% written to the cache), 2,016 out,";
    assert!(shown.contains(line), "{shown}");
    document["usage"]["cached_input_tokens"] = json!(0);
    assert!(text(&document, &PLAIN).contains("tokens in (12% written to the cache), 2,016 out"));
}

/// Every string of the document, keys included, with something in it that a terminal would obey.
fn poisoned(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{8}")),
        Value::Array(values) => values.iter().map(poisoned).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), poisoned(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn nothing_in_a_document_can_command_the_terminal() {
    for log in [sample::converged(), sample::degraded(), sample::failed()] {
        let mut document = poisoned(&log.document());
        for protocol in ["deep", "other"] {
            document["protocol"] = json!(protocol);
            let shown = text(&document, &PLAIN);
            assert!(shown.chars().all(|char| char == '\n' || !char.is_control()), "{shown:?}");
            assert!(!shown.contains('\u{202e}'));
        }
    }
}

#[test]
fn lines_keep_to_the_width_and_colour_changes_no_word() {
    for log in [sample::converged(), sample::degraded(), sample::failed()] {
        let document = log.document();
        for width in [40, 80, 300] {
            let shown = text(&document, &Style { width, ..PLAIN });
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.min(100), "{widest} columns of {width}:\n{shown}");
        }
        let painted = text(&document, &Style { color: true, ..PLAIN });
        assert!(painted.contains("\u{1b}["));
        let bare = |text: &str| agon_report::clean(text).replace('`', "");
        assert_eq!(bare(&painted), bare(&text(&document, &PLAIN)));
    }
}

#[test]
fn ascii_terminals_get_ascii_signs() {
    let shown = text(&sample::converged().document(), &Style { unicode: false, ..PLAIN });
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn a_branch_says_where_it_came_from() {
    let mut document = sample::converged().document();
    for (at_round, want) in
        [(0, "branched from 1parent before round 1"), (2, "branched from 1parent after round 2")]
    {
        document["parent"] = serde_json::json!({"id": "1parent", "at_round": at_round});
        let shown = text(&document, &PLAIN).replace('\n', " ");
        assert!(shown.contains(want), "{shown}");
    }
    document["parent"] = serde_json::Value::Null;
    assert!(!text(&document, &PLAIN).contains("branched"));
}

#[test]
fn every_command_names_a_store_that_has_to_be_named() {
    let mut document = sample::converged().document();
    document["termination"] = serde_json::Value::Null;
    let shown = agon_report::text_of_store(&document, &PLAIN, " --db my.db");
    assert_eq!(
        shown.matches("agon ").count(),
        shown.replace('\n', " ").matches(" --db my.db").count(),
        "{shown}"
    );
}
