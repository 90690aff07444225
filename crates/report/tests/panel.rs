//! The report of a panel, as a person reads it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_core::Protocol;
use agon_protocols::panel::Panel;
use agon_report::{Style, html, markdown, table, text};
use insta::assert_snapshot;
use sample::panel::{self, section};
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

/// "the verdict with the minority's opinion as visible as the majority's"; "the scores by judge, dimension and round as a small table
/// or chart with the range shrinking (or not)".
#[test]
fn a_majority_reads_from_the_verdict_to_the_figures() {
    let shown = text(&panel::divided().1, &PLAIN);
    let (decided, _) = shown.split_once("\nWhat needs your attention\n").unwrap();
    assert_snapshot!(decided, @"
    billing-queue
    A majority after 3 rounds, not a consensus.
    panel · 3 judges · 3 rounds · 0.1 s

    Verdict
      YELLOW
      A majority of 2 of 3 judges gives 4.15 of 5, the minority 2.2: 1.95 apart.
      Confidence MEDIUM. Weighted score 3.48.

    Critical findings
      • [F1]: An invoice that was taken and not written is lost
        Open: held by judge-3, not by all; raised by judge-3. Evidence:
        docs/billing-queue.md, step 3

    Scores
      Judge    Stance   Round 1  Round 2  Round 3  Weighted  Side
      judge-1  neutral  3.5      3.8      4        3.98      majority
      judge-2  for      4.5      4.5      4.3      4.28      majority
      judge-3  against  2        2.2      2.2      2.17      minority
      The range of the scores by round: it shrank. Consensus needs 0.5 or less.
      Round 1  2.5  ████████████████████████████████████████
      Round 2  2.3  █████████████████████████████████████
      Round 3  2.1  ██████████████████████████████████

    The majority's opinion
      • judge-1 (neutral, 4): The plan names the right problem and cuts it where it
        is smallest. What it leaves open is how a half-moved month of invoices is
        brought back; until that is written down I would not start.
      • judge-2 (for, 4.3): This is the smallest step that takes the nightly peak
        off the database. Everything behind the interface stays, so that it can be
        undone in a day.

    The minority's opinion
      • judge-3 (against, 2.2): Nothing in the plan says what happens to an invoice
        that was taken from the queue and not written. That is not a detail: it is
        the customers' money.
    ");
}

/// "user attention; recommendations; metrics", and what every report has.
#[test]
fn a_majority_ends_with_what_to_decide_and_to_do() {
    let shown = text(&panel::divided().1, &PLAIN);
    let from = shown.find("What needs your attention\n").unwrap();
    let to = shown.find("\nWho sat where\n").unwrap();
    assert_snapshot!(&shown[from..to], @"
    What needs your attention
      [F1] An invoice that was taken and not written is lost
        Majority: judge-1 takes no position; judge-2 takes no position
        Minority: judge-3 holds it: still unanswered
        At stake: a critical finding, held by 1 of 3 judges; evidence:
          docs/billing-queue.md, step 3
        Suggested: Settle [F1] before going on: check its evidence; if it is right,
          resolve it first, and if not, say why and go on.

      Is one retry enough?
        Majority: one retry and an alarm will do (as judge-3 puts it)
        Minority: judge-3: an invoice needs an outbox, not a retry
        At stake: nobody knows how often the write fails
        Suggested: Accept the majority's view (judge-1, judge-2), address the
          minority's concerns (judge-3) before proceeding, or seek additional input.

      The overall score
        Majority: 4.15 (judge-1, judge-2)
        Minority: 2.2 (judge-3)
        At stake: by its own weighted score the majority is GREEN, the minority RED
        Suggested: Accept the majority's view (judge-1, judge-2), address the
          minority's concerns (judge-3) before proceeding, or seek additional input.

    Recommendations
      • SHOULD (unanimous): Improve risk mitigation (3 on average)
      • CONSIDER (minority): Resolve [F1]: An invoice that was taken and not written
        is lost
      • CONSIDER (minority): Improve problem understanding (3.5 on average)
      • CONSIDER (minority): Improve architecture quality (3.5 on average)
      • CONSIDER (minority): Improve implementation clarity (3.5 on average)
      • CONSIDER (minority): Is one retry enough? - an invoice needs an outbox, not
        a retry

    Dissent
      • judge-3: Nothing in the plan says what happens to an invoice that was taken
        from the queue and not written. That is not a detail: it is the customers'
        money.
        it is the minority's; its score went from 2 to 2.2

    Warnings
      • Round 2: no position on the critical findings, so that those of the round
        before count: judge-1, judge-2, judge-3
      • Round 3: no position on the critical findings, so that those of the round
        before count: judge-1, judge-2

    By dimension
      Dimension               Weight  J1   J2   J3   Average  R1   R2   R3
      problem understanding   20      4    4.3  2.2  3.5      2.5  2.3  2.1
      architecture quality    25      4    4.3  2.2  3.5      2.5  2.3  2.1
      risk mitigation         20      3.5  3.8  1.7  3        2.5  2.3  2.1
      implementation clarity  20      4    4.3  2.2  3.5      2.5  2.3  2.1
      feasibility             15      4.5  4.8  2.7  4        2.5  2.3  2.1
      R1 to R3: how far the judges are apart after each round. Consensus needs 1 or
      less.

    What all judges agree on
      • The interface stays as it is.
        Medium; all judges

    Whose score changed
      • judge-1: +0.3 in round 2: persuaded by judge-1: the way back is not written
        down
      • judge-3: +0.2 in round 2: persuaded by judge-1: the way back is not written
        down
      • judge-1: +0.2 in round 3: gives no reason
      • judge-2: -0.2 in round 3: gives no reason

    The debate in figures
      3 agreements formed, 0 disputes resolved, 1 remaining; 9 judge calls, $0.0092.
    ");
}

/// "One that all hold ... the finding leads the report".
#[test]
fn a_finding_that_all_hold_stands_above_the_scores() {
    let document = panel::agreed().1;
    assert_snapshot!(section(&document, "Verdict", &PLAIN), @"
    Verdict
      RED
      Consensus of 3 judges: 2.57 of 5, all between 2.4 and 2.8. Confidence HIGH.
      Weighted score 2.54. What is critical must be resolved first.
    ");
    assert_snapshot!(section(&document, "Critical findings", &PLAIN), @"
    Critical findings
      CRITICAL
      All 3 judges hold this critical finding, whatever the scores say. Action is
      required.
      • [F1]: An invoice that was taken and not written is lost
        Raised by judge-3. Evidence: docs/billing-queue.md, step 3
    ");
    assert_snapshot!(section(&document, "Recommendations", &PLAIN), @"
    Recommendations
      • MUST: Resolve [F1]: An invoice that was taken and not written is lost
        a critical finding held by judge-1, judge-2, judge-3; evidence:
        docs/billing-queue.md, step 3
      • SHOULD: Improve problem understanding (2.57 on average)
        RED: average 2.57, range 0.4
      • SHOULD: Improve architecture quality (2.57 on average)
        RED: average 2.57, range 0.4
      • SHOULD: Improve risk mitigation (2.07 on average)
        RED: average 2.07, range 0.4
      • SHOULD: Improve implementation clarity (2.57 on average)
        RED: average 2.57, range 0.4
      • SHOULD: Improve feasibility (3.07 on average)
        YELLOW: average 3.07, range 0.4
      • CONSIDER: Is one retry enough?
        left open by judge-1, judge-2, judge-3
    ");
    assert_snapshot!(section(&document, "Where the judges differ", &PLAIN), @"
    Where the judges differ
      • Is one retry enough?
        High, action required; judge-1, judge-2, judge-3
    ");
}

/// `script/demo-panel` as it is printed, from what needs attention on: what some share, what round 2 left open, every dimension's range
/// by round.
#[test]
fn the_demo_reads_well() {
    let document = panel::demo().1;
    let shown = text(&document, &PLAIN);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_snapshot!(section(&document, "By dimension", &PLAIN), @"
    By dimension
      Dimension               Weight  J1   J2   J3   Average  R1  R2   R3
      problem understanding   20      4    4.5  4    4.17     1   0.5  0.5
      architecture quality    25      4    4    3    3.67     1   1    1
      risk mitigation         20      2.5  3    1    2.17     3   2    2
      implementation clarity  20      3    3.5  2.5  3        2   1    1
      feasibility             15      4    4    3    3.67     2   1    1
      R1 to R3: how far the judges are apart after each round. Consensus needs 1 or
      less.
    ");
    assert_snapshot!(section(&document, "What some judges share", &PLAIN), @"
    What some judges share
      • The flag makes a rollback cheap
        Low; judge-1, judge-2
      • Double writing has no rule for differences
        Low; judge-1, judge-3
      • The callback is an open hole
        Low; judge-1, judge-3
      • The risks are named and not handled
        Low; judge-2, judge-3
      • The goal is well measured
        Low; judge-2, judge-3
    ");
    assert_snapshot!(section(&document, "Where the judges differ", &PLAIN), @"
    Where the judges differ
      • Whether nine weeks are enough
        Medium; judge-1, judge-3
    ");
    let mut older = document.clone();
    for entry in older["verdict"]["user_attention_needed"].as_array_mut().unwrap() {
        if entry["as_of_round"].is_u64() {
            entry["as_of_round"] = serde_json::json!(2);
        }
    }
    let open = section(&older, "What needs your attention", &PLAIN);
    assert!(open.contains("(as of round 2, not taken up again)"), "{open}");
}

/// "The terminal shows the scores by judge, dimension and round": the table after a round fits a terminal.
#[test]
fn the_table_after_a_round_fits_80_columns() {
    let (mut debate, _) = panel::divided();
    debate.outcome = None;
    debate.turns.truncate(2);
    let agon_core::Summary { title, rows, .. } = Panel.summary(&debate).unwrap();
    let shown = table(&title, &rows, &Style { width: 76, ..PLAIN });
    assert_eq!(shown.lines().count(), rows.len() + 1, "nothing is wrapped:\n{shown}");
    assert_snapshot!(shown, @"
    Round 2: mean 3.5, range 2.3, no consensus, 1 critical finding disputed
    Judge    Stance   Score       problem  archit.  risk  implem.  feasib.
    judge-1  neutral  3.8 (+0.3)  3.8      3.8      3.3   3.8      4.3
    judge-2  for      4.5         4.5      4.5      4     4.5      5
    judge-3  against  2.2 (+0.2)  2.2      2.2      1.7   2.2      2.7
    range             2.3         2.3      2.3      2.3   2.3      2.3
    ");
}

/// Bars are drawn with what the terminal has.
#[test]
fn bars_are_ascii_where_the_terminal_is() {
    let document = panel::agreed().1;
    assert_snapshot!(section(&document, "Scores", &Style { unicode: false, width: 40, ..PLAIN }), @"
    Scores
      Judge  Stanc  Round  Round  Weig  Side
             e      1      2      hted
      judge  neutr  3      2.5    2.48  cons
      -1     al                         ensu
                                        s
      judge  for    4      2.8    2.78  cons
      -2                                ensu
                                        s
      judge  again  2      2.4    2.38  cons
      -3     st                         ensu
                                        s
      The range of the scores by round: it
      shrank. Consensus needs 0.5 or less.
      Round 1  2    ####################
      Round 2  0.4  ####
    ");
    let narrow = text(&document, &Style { unicode: false, width: 24, ..PLAIN });
    assert!(narrow.contains("Round 1") && narrow.is_ascii(), "{narrow}");
}

/// The status has its colour.
#[test]
fn the_status_is_painted() {
    let painted = |document: &Value| text(document, &Style { color: true, ..PLAIN });
    assert!(painted(&panel::divided().1).contains("\u{1b}[33mYELLOW"));
    assert!(painted(&panel::agreed().1).contains("\u{1b}[31mRED"));
    let mut green = panel::agreed().1;
    green["verdict"]["status"] = json!("GREEN");
    assert!(painted(&green).contains("\u{1b}[33mGREEN"), "not good news with what all hold to be critical");
    assert!(painted(&green).contains("\u{1b}[31mCRITICAL"));
    green["verdict"]["critical_findings"] = json!([]);
    assert!(painted(&green).contains("\u{1b}[32mGREEN"));
    assert!(painted(&panel::split().1).contains("\u{1b}[33mNO MAJORITY"));
}

/// Both opinions are sections of one kind, and neither can be folded away.
#[test]
fn the_minority_is_never_folded() {
    let (debate, document) = panel::divided();
    let page = html(&document, &debate);
    let whole = markdown(&document, &debate);
    for title in ["The majority's opinion", "The minority's opinion"] {
        let heading = title.replace('\'', "&#39;");
        let before = page.split(&format!("<h2>{heading}</h2>")).next().unwrap();
        assert!(before.lines().last().unwrap().starts_with("<section class=\"opinion\""), "{title}");
        assert!(whole.contains(&format!("\n## {title}\n")), "{title}");
    }
    for (round, width, range) in [(1, "100.0", "2.5"), (3, "84.0", "2.1")] {
        let bar =
            format!("<span class=\"track\"><span class=\"bar\" style=\"width:{width}%\"></span></span>");
        assert!(page.contains(&format!("<dt>Round {round}</dt><dd>{bar}{range}</dd>")), "{round}");
    }
    assert!(whole.contains("- Round 1: 2.5 \u{2588}\u{2588}"));
    assert!(whole.contains("## Round 2: rebuttals") && whole.contains("## Round 3: final statements"));
}

/// A verdict of any other shape is readable too: nothing is taken for granted.
#[test]
fn a_verdict_with_anything_missing_is_still_a_report() {
    let whole = panel::divided().1;
    let fields: Vec<String> = whole["verdict"].as_object().unwrap().keys().cloned().collect();
    for field in fields {
        for other in [json!(null), json!("x"), json!([]), json!({}), json!([[1], {"a": 2}]), json!(-1)] {
            let mut document = whole.clone();
            document["verdict"][&field] = other;
            let shown = text(&document, &PLAIN);
            assert!(shown.contains("\nVerdict\n") && shown.contains("agon show p4n3l7"), "{field}: {shown}");
        }
    }
}
