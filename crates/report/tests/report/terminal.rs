//! The report in a terminal.

use agon_core::{BranchParent, DebateView, Event, Fidelity, Outcome, Status, Termination};
use agon_report::{TerminalStyle, terminal_report};
use insta::assert_snapshot;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::samples::{self, DebateLog, PLAIN, ReadDebate, ScriptedReply, answer, brief, deep};

#[test]
#[allow(clippy::too_many_lines, reason = "a report is as long as it is")]
fn a_converged_debate_reads_from_the_answer_to_the_cost() {
    assert_snapshot!(samples::converged().read().terminal(&PLAIN), @"
    Should a team of four rewrite its billing service in Rust this year?
    The debaters do not agree: they hold 2 positions. The debate converged after 2
    rounds.
    deep · 3 debaters · 2 rounds · 15 s

    Answer
      Rewrite the ledger only. Keep the rest as it is:

      • port the 4,000 lines behind the present interface, with the old code running
        beside it until a month of invoices agrees;
      • decide about the rest in a year.

    Why
      The incidents come from one place, and a small port can be undone.

    What the debate did
      Debater B changed position in round 2. A plain vote on the first positions is
      tied; the answer states one of the tied positions. Nobody changed position in
      round 1. How independent the debaters are is not known; no two share a model.

                 start  R1     R2
      Debater C  #1     #1     #1
      Debater B  #2     #2     #3'~
      Debater A  #3     #3     #3
      #1   Rewrite all of it.
      #2   Put types around the hot paths.
      #3   Rewrite the ledger only.
      #3'  Only the ledger: it is 4,000 lines and all the incidents are there.
           (Debater B, last)
      ~ changed, naming nothing; ' in other words
      • Debater B: changed position in round 2, naming nothing

    Strongest points of each last argument
      • Debater A:
        • All nine incidents were in the ledger
        • Two people know Rust; both want to do this
      • Debater B:
        • All nine incidents were in the ledger
        • Two people know Rust; both want to do this
      • Debater C:
        • All nine incidents were in the ledger
        • Two people know Rust; both want to do this

    What was contested
      • Whether two people who know Rust are enough
      • Whether types in the present language would do

    Dissent
      • Debater C (debater-1):
        Yes, rewrite it. The two worst outages of last year were data races.

        Plan
        1. Port the ledger.
        2. Port the rest.

            fn main() {}
        Rejected by the chair: Nothing shows that the rest needs it. Its holder's
        reason: All nine incidents were in the ledger

    Warnings
      • Round 2: the moderator scores the agreement 0.86, but the debaters hold 2
        positions

    Round by round
      Round  Pairs that agree  Moderator's score  New points, by the moderator
      1      0.00              0.55               0.80
      2      0.33              0.86               0.10
      What each debater did:
      Round  Debater  Stance    Revision        Confidence
      1      A        maintain  no change       0.90
      1      B        maintain  no change       0.90
      1      C        maintain  no change       0.90
      2      A        maintain  no change       0.90
      2      B        concede   major revision  0.80
      2      C        maintain  no change       0.90

    Seats
      Debater A: debater-3, gemini/gamma
      Debater B: debater-2, anthropic/beta
      Debater C: debater-1, openai/alpha
      Moderator: openai/alpha
      Chair: openai/alpha

    Cost
      12 calls, 8,412 tokens in (31% cached), 2,016 out, $0.0123

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");
}

#[test]
fn a_degraded_debate_says_what_was_missing() {
    let read = samples::degraded().read();
    let sections = ["Answer", "What was missing", "Warnings", "Round by round", "Cost"];
    let shown = sections.map(|title| read.section(title, &PLAIN)).join("\n\n");
    assert!(read.terminal(&PLAIN).contains("Degraded: see what was missing.\n"));
    assert_snapshot!(shown, @"
    Answer
      No.

    What was missing
      • Debater A (debater-3): timed out in round 1 (debate): no answer within 120 s
      • Moderator: gave no usable answer in round 1 (moderate): agreement_score is
        3, more than 1
      • Chair: would not answer (synthesis)
      • The chair was absent: anthropic/beta stood in and wrote the verdict.

    Warnings
      • Round 1 is unassessed: the moderator was absent
      • It is not known who agreed after round 1: nobody said it in a way that
        verifies

    Round by round
      Round  Pairs that agree  Moderator's score  New points, by the moderator
      1      not known         not known          not known
      What each debater did:
      Round  Debater  Stance    Revision          Confidence
      1      A        absent    position carried  -
      1      B        maintain  no change         0.80
      1      C        maintain  no change         0.80

    Cost
      10 calls, 4,206 tokens in (31% cached), 1,008 out, $0.0062
      possibly billed twice: 1 call, $0.0100
    ");
}

#[test]
fn a_failed_debate_has_no_answer_but_all_positions() {
    let read = samples::failed().read();
    assert!(read.terminal(&PLAIN).contains("Failed: there is no verdict."));
    assert_snapshot!(read.section("No answer", &PLAIN), @"
    No answer
      This is where the debaters stood:
      • Debater A (debater-3): Only the ledger. Only the ledger. Only the ledger.
        Only the ledger. Only the ledger. Only the ledger. Only the ledger. Only the
        ledger. Only the ledger. Only the ledger. Only the ledger. Only the ledger.
        Only the ledger. Only the ledger. Only the ledger. Only the ledger. Only the
        ledger. Only the ledger. Only the ledger. Only the ledger. Only the ledger.
        Only the ledger. Only the ledger. Only the ledger. Only the ledger. Only the
        ledger. Only the ledger. Only the ledger. Only the ledger. Only [...]
      • Debater B (debater-2): No. A rewrite stops features for two quarters; put
        types around the hot paths instead.
      • Debater C (debater-1):
        Yes, rewrite it. The two worst outages of last year were data races.

        Plan
        1. Port the ledger.
        2. Port the rest.

            fn main() {}
    ");
}

/// An outcome whose verdict no protocol describes.
pub(crate) fn outcome(verdict: Value) -> Outcome {
    Outcome {
        status: Status::Complete,
        termination: Termination::Majority,
        rounds_completed: 1,
        verdict,
        dissent: Vec::new(),
        fidelity: Fidelity::Full,
        warnings: Vec::new(),
        labels: [("A", "debater-2"), ("B", "debater-1")]
            .map(|(label, seat)| (label.into(), seat.into()))
            .into(),
        positions: Vec::new(),
        passed: None,
        lesson: None,
    }
}

#[test]
fn a_verdict_without_an_outline_is_still_readable() {
    let mut log = DebateLog::open(brief(&[]));
    log.debate.brief.protocol = "symposium".into();
    let verdict = json!({
        "decision": "approve", "share": 0.6666666, "votes_cast": 2025, "divided": true, "nothing": null, "empty": [],
        "rationale": "A paragraph long enough that it does not fit beside its name on one line of the report.",
        "votes": [{"voter": "A", "choice": "yes"}, {"voter": "B", "choice": "no"}],
        "open_questions": ["Who pays?", "Until when?"],
        "risks": [{"name": "Cost", "risk": "It may well cost twice what anybody expects it to cost.", "severity": "high"}],
        "convergence": [{"round": 1, "agreement": 0.5, "speakers": [{"label": "A", "said": ["one", "two"]}]}],
    });
    log.push(Event::Closed { outcome: Box::new(outcome(verdict)) }, 5);
    let read = ReadDebate::with_view(deep(), log.debate, DebateView::default());
    let shown = read.terminal(&PLAIN);
    assert_snapshot!(shown.split("\n\nSeats").next().unwrap(), @"
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
    ");
}

#[test]
fn an_interrupted_debate_says_how_to_continue_and_hides_who_is_who() {
    let mut log = DebateLog::open(brief(&[]));
    log.next_phase();
    let shown = log.read().terminal(&PLAIN);
    assert!(shown.contains("agon resume k3v9q2") && !shown.contains("Debater A"), "{shown}");
}

#[test]
fn the_report_says_that_there_is_no_dissent_only_if_every_position_is_accounted_for() {
    let mut read = samples::converged().read();
    read.view.dissent.clear();
    read.evidence.dissent.iter_mut().for_each(|held| held.fate = agon_core::Fate::Adopted);
    assert!(read.terminal(&PLAIN).contains("No dissent"));
    read.evidence.dissent[0].fate = agon_core::Fate::Minority;
    assert!(!read.terminal(&PLAIN).contains("No dissent"));
    read.evidence.dissent.clear();
    assert!(!read.terminal(&PLAIN).contains("issent"));
}

fn cost_of(change: impl Fn(&mut DebateLog)) -> String {
    let mut log = DebateLog::open(brief(&[("mode", "quick")]));
    change(&mut log);
    let log = log.play(&|phase, ask| {
        ScriptedReply::Said(if phase.name == "answer" { answer(ask) } else { samples::synthesis() })
    });
    log.read().section("Cost", &PLAIN)
}

#[test]
fn the_cost_line_says_what_is_cached_and_what_is_unknown() {
    assert_snapshot!(cost_of(|_| {}), @"
    Cost
      4 calls, 2,804 tokens in (31% cached), 672 out, $0.0041
    ");
    assert_snapshot!(cost_of(|log| log.usage.cache_write_tokens = 90), @"
    Cost
      4 calls, 2,804 tokens in (31% cached, 13% written to the cache), 672 out,
      $0.0041
    ");
    assert_snapshot!(cost_of(|log| (log.usage.usd, log.usage.cached_input_tokens) = (None, 0)), @"
    Cost
      4 calls, 2,804 tokens in, 672 out, price unknown
    ");
}

/// Which model has each seat, and which model speaks for it.
fn seats(models: [&str; 3], spoke: [&str; 3]) -> String {
    let mut brief = brief(&[("mode", "quick")]);
    brief
        .seats
        .iter_mut()
        .zip(models.into_iter().cycle())
        .for_each(|(seat, model)| seat.model = model.into());
    brief.seats.truncate(3);
    let mut log = DebateLog::open(brief);
    for (ask, model) in log.next_phase().iter().zip(spoke) {
        log.sent(ask, 1);
        match model {
            "" => log.absent(ask, agon_core::AbsenceReason::TimedOut, ""),
            model => log.said_by(model, ask, answer(ask), None),
        }
    }
    log.push(Event::Closed { outcome: Box::new(outcome(json!({}))) }, 5);
    log.read().section("Seats", &PLAIN)
}

#[test]
fn a_model_is_named_with_the_one_that_really_spoke() {
    const CHAIN: &str = "openai/x|anthropic/y";
    assert_snapshot!(seats([CHAIN, "gemini/z", CHAIN], ["anthropic/y", "gemini/z-002", "openai/x"]), @"
    Seats
      Debater A: debater-2, gemini/z (gemini/z-002 spoke)
      Debater B: debater-1, openai/x|anthropic/y (anthropic/y spoke)
      debater-3: openai/x|anthropic/y (openai/x spoke)
    ");
    assert_snapshot!(seats([CHAIN; 3], ["anthropic/y", "openai/x", ""]), @"
    Seats
      Debater A: debater-2, openai/x|anthropic/y (openai/x spoke)
      Debater B: debater-1, openai/x|anthropic/y (anthropic/y spoke)
      debater-3: openai/x|anthropic/y
    ");
}

#[test]
fn one_model_on_every_seat_is_named_once() {
    assert_snapshot!(seats(["openai/x|anthropic/y"; 3], ["anthropic/y", "", "anthropic/y"]), @"
    Seats
      Debater A: debater-2, openai/x|anthropic/y
      Debater B: debater-1, openai/x|anthropic/y (anthropic/y spoke)
      debater-3: openai/x|anthropic/y (anthropic/y spoke)
    ");
}

#[test]
fn lines_keep_to_the_width_and_colour_changes_no_word() {
    for log in [samples::converged(), samples::degraded(), samples::failed()] {
        let read = log.read();
        for width in [40, 80, 300] {
            let shown = read.terminal(&TerminalStyle { width, ..PLAIN });
            // Code and commands are there to be copied: they are never wrapped.
            let is_kept = |line: &&str| line.contains("fn main") || line.contains("agon export");
            for line in shown.lines().filter(|line| !is_kept(line)) {
                assert!(line.width() <= width.min(100), "{} columns of {width}: {line:?}", line.width());
            }
        }
        let painted = read.terminal(&TerminalStyle { color: true, ..PLAIN });
        assert!(painted.contains("\u{1b}["));
        let bare = |text: &str| agon_host::clean_text(text).replace('`', "");
        assert_eq!(bare(&painted), bare(&read.terminal(&PLAIN)));
    }
}

#[test]
fn ascii_terminals_get_ascii_signs() {
    let shown = samples::converged().read().terminal(&TerminalStyle { unicode: false, ..PLAIN });
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn a_branch_says_where_it_came_from() {
    let mut read = samples::converged().read();
    assert!(!read.terminal(&PLAIN).contains("branched"));
    for (at_round, want) in
        [(0, "branched from 1parent before round 1"), (2, "branched from 1parent after round 2")]
    {
        read.debate.brief.parent = Some(BranchParent { id: "1parent".into(), at_round, events: 1 });
        let shown = read.terminal(&PLAIN).replace('\n', " ");
        assert!(shown.contains(want), "{shown}");
    }
}

#[test]
fn every_command_names_the_store_if_it_must_be_named() {
    let mut log = DebateLog::open(brief(&[]));
    log.next_phase();
    let shown = terminal_report(&log.read().source(), &PLAIN, " --db my.db");
    let commands = shown.matches("agon ").count();
    assert_eq!(commands, 3, "{shown}");
    assert_eq!(shown.replace('\n', " ").matches(" --db my.db").count(), commands, "{shown}");
}
