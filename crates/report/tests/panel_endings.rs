//! How the report of a panel tells the ends that are not a plain consensus or majority.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Style, text};
use insta::assert_snapshot;
use sample::panel::{self, section};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

/// The same at high scores: no GREEN stands above what all hold to be critical.
#[test]
fn a_finding_that_all_hold_leads_the_report_at_any_score() {
    let document = panel::held_by_all(&[[4.5, 4.6], [4.4, 4.7], [4.0, 4.5]]).1;
    let shown = text(&document, &PLAIN);
    let (lead, _) = shown.split_once("\nScores\n").unwrap();
    assert_snapshot!(lead, @"
    billing-queue
    Consensus after 2 rounds.
    panel · 3 judges · 2 rounds · 0.1 s

    Critical findings
      CRITICAL
      All 3 judges hold this critical finding, whatever the scores say. Action is
      required.
      • [F1]: An invoice that was taken and not written is lost
        Raised by judge-3. Evidence: docs/billing-queue.md, step 3

    Verdict
      GREEN
      Consensus of 3 judges: 4.6 of 5, all between 4.5 and 4.7. Confidence HIGH.
      Weighted score 4.56. What is critical must be resolved first.
    ");
    let undecided = text(&panel::split().1, &PLAIN);
    assert!(!undecided.lines().any(|line| ["GREEN", "YELLOW", "RED"].contains(&line.trim())), "{undecided}");
}

/// "Nothing vanishes": who moved and is still in the minority is in the dissent, with what it says in the end.
#[test]
fn who_moved_and_stayed_in_the_minority_is_in_the_dissent() {
    let document = panel::moved().1;
    assert_snapshot!(section(&document, "Dissent", &PLAIN), @"
    Dissent
      • judge-3: Nothing in the plan says what happens to an invoice that was taken
        from the queue and not written. That is not a detail: it is the customers'
        money.
        its judge moved and is still in the minority: in round 2 persuaded by
        judge-1: the way back is not written down; in round 3 gives no reason; its
        score went from 1 to 2.5
    ");
}

#[test]
fn no_majority_puts_it_to_the_reader() {
    let document = panel::split().1;
    assert_snapshot!(section(&document, "Verdict", &PLAIN), @"
    Verdict
      NO MAJORITY
      No majority: of the scores 3, 4, 5 no group is nearer together than another.
      Confidence LOW. Weighted score 3.95, which would be YELLOW.
    ");
    assert_snapshot!(section(&document, "Scores", &PLAIN), @"
    Scores
      Judge    Stance   Round 1  Round 2  Round 3  Weighted
      judge-1  neutral  3        3        3        2.98
      judge-2  for      4        4        4        3.98
      judge-3  against  5        5        5        4.9
      The range of the scores by round: it did not shrink. Consensus needs 0.5 or
      less.
      Round 1  2  ████████████████████████████████████████
      Round 2  2  ████████████████████████████████████████
      Round 3  2  ████████████████████████████████████████
    ");
    assert_snapshot!(section(&document, "What needs your attention", &PLAIN), @"
    What needs your attention
      Is one retry enough?  (as of round 2, not taken up again)
        At stake: nobody said what is at stake
        Suggested: Weigh the judges' views yourself, or seek additional input: the
          scores do not decide this.

      Dimensions on which the judges are far apart: problem understanding (2),
        architecture quality (2), risk mitigation (2), implementation clarity (2),
        feasibility (1.5)
        judge-1: problem understanding 3, architecture quality 3, risk mitigation
          2.5, implementation clarity 3, feasibility 3.5
        judge-2: problem understanding 4, architecture quality 4, risk mitigation
          3.5, implementation clarity 4, feasibility 4.5
        judge-3: problem understanding 5, architecture quality 5, risk mitigation
          4.5, implementation clarity 5, feasibility 5
        At stake: consensus needs 1 or less on every dimension
        Suggested: Weigh the judges' views yourself, or seek additional input: the
          scores do not decide this.

      The overall score: no group of judges is nearer together than another
        judge-1: score 3
        judge-2: score 4
        judge-3: score 5
        At stake: there is no verdict, and none was guessed
        Suggested: Weigh the judges' views yourself, or seek additional input: the
          scores do not decide this.
    ");
}

#[test]
fn a_lost_quorum_has_no_verdict_and_shows_who_was_absent() {
    let document = panel::lost().1;
    assert_snapshot!(section(&document, "Verdict", &PLAIN), @"
    Verdict
      No verdict
      There is no verdict, because fewer than two judges were left.
    ");
    assert_snapshot!(section(&document, "Scores", &PLAIN), @"
    Scores
      Judge    Stance   Round 1  Round 2     Weighted
      judge-1  neutral  3        3           2.98
      judge-2  for      4        4 (absent)  3.98
      judge-3  against  5        5 (absent)  4.9
      The range of the scores by round: it did not shrink. Consensus needs 0.5 or
      less.
      Round 1  2  ████████████████████████████████████████
      Round 2  2  ████████████████████████████████████████
    ");
}

/// A limit that leaves too few statements is told as a limit.
#[test]
fn a_limit_that_leaves_no_verdict_is_named() {
    let document = panel::over_budget().1;
    assert_eq!(document["termination"], "budget");
    assert_snapshot!(section(&document, "Verdict", &PLAIN), @"
    Verdict
      No verdict
      There is no verdict, because a limit left fewer than two position statements.
    ");
    assert_snapshot!(section(&document, "Warnings", &PLAIN), @"
    Warnings
      • There is no verdict, because a limit left fewer than two position
        statements: the budget of $0.01 is spent
    ");
}
