//! The report of a review, as a person reads it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Style, html, markdown, text};
use insta::assert_snapshot;
use sample::review;
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

/// A section of the terminal's report.
fn section(document: &Value, title: &str) -> String {
    let shown = text(document, &PLAIN);
    assert!(shown.lines().any(|line| line == title), "{title:?} is missing in\n{shown}");
    let from = shown.lines().skip_while(|line| *line != title);
    let below = from.skip(1).take_while(|line| line.is_empty() || line.starts_with(' '));
    [title].into_iter().chain(below).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[test]
fn a_review_reads_from_the_verdict_to_the_footer() {
    assert_snapshot!(text(&review::failed().document(), &PLAIN), @"
    Review src/auth.py and src/session store.py.
    All 2 rounds complete.
    review · 3 judges · 2 rounds · 6.2 s

    Verdict
      FAIL
      1 of 3 judges fails it.

    The judges
      Judge       Vendor     R1    R2         Confidence  Counts
      security    openai     WARN  FAIL       HIGH        FAIL (R2)
      operations  openai     PASS  WARN       MEDIUM      WARN (R2)
      usability   anthropic  WARN  not asked  LOW         WARN (R1)
      • security: A password can be tried without end: nothing on the way from
        `/login` to the database counts attempts.
      • operations: The retry loop in the session store hides an outage until every
        worker waits on it.
      • usability: The interface is small and reads well, but an error cannot be
        traced to its request.

    Verdict shifts
      Judge       R1    R2    Because
      security    WARN  FAIL  code location: src/auth.py:45 calls the database
                              before any check
      operations  PASS  WARN  WEAK FLIP: no evidence for the change
      Round 1 was split.

    Findings
      Critical
        • F2: No rate limiting on `/login`
          src/auth.py:45-47, Authentication. Found by security, operations (R1, R2).
          Advice: Count attempts by account and by address.

      Significant
        • F1: The retry loop has no upper bound, so one slow database takes every
          worker with it
          src/session store.py:12, reliability. Found by operations (R1, R2).
        • F3 (dropped): Tokens live for an hour
          the token settings, authentication. Found by security (R1). Dropped in
          round 2 by security.

      Minor
        • F4: Error responses carry no request id
          Found by usability (R1).

    Recommendations
      • security: Limit attempts before release.
      • operations: Bound the loop, then ship.
      • usability: Put a request id into every error.

    Who sat where
      security (judge): openai/alpha
      operations (judge): openai/alpha
      usability (judge): anthropic/beta

    Cost
      5 calls, 3,505 tokens in (31% cached), 840 out, $0.0051

    Who was heard
      3/3 R1, 2/3 R2, fidelity full

    Debate k3v9q2
      agon show k3v9q2
      agon export k3v9q2 --format html
    ");
}

/// "DISAGREE, and the user decides": the vendors' results stand side by side.
#[test]
fn where_the_vendors_split_the_reader_decides() {
    let shown = text(&review::split(), &PLAIN);
    let lead: Vec<&str> = shown.split("\n\n").skip(1).take(2).collect();
    assert_snapshot!(lead.join("\n\n"), @"
    Verdict
      DISAGREE
      The vendors split: openai says FAIL, anthropic says PASS. You decide.

    You decide
               openai                              anthropic
      Verdict  FAIL                                PASS
      Because  security (FAIL): A password can be  usability (PASS): The interface
               tried without end: nothing on the   is small and reads well, but an
               way from `/login` to the database   error cannot be traced to its
               counts attempts. operations…        request.
      Advice   security (FAIL): Limit attempts     usability (PASS): Put a request
               before release. operations (WARN):  id into every error.
               Bound the loop, then ship.
    ");
}

#[test]
fn an_absent_judge_is_in_the_table_and_in_what_was_missing() {
    let document = review::passed();
    let shown =
        ["Verdict", "The judges", "What was missing", "Who was heard"].map(|title| section(&document, title));
    assert_snapshot!(shown.join("\n\n"), @"
    Verdict
      PASS
      Both judges that were heard pass it.

    The judges
      Judge       Vendor     R1      Confidence  Counts
      security    openai     PASS    HIGH        PASS (R1)
      operations  openai     absent              nothing
      usability   anthropic  PASS    HIGH        PASS (R1)
      • security: Attempts are counted now.
      • operations: no R1 within 120 s
      • usability: Attempts are counted now.

    What was missing
      • Operations: timed out in round 1 (judge): no answer within 120 s

    Who was heard
      2/3 R1, fidelity degraded
    ");
}

#[test]
fn a_review_that_failed_says_so() {
    assert_snapshot!(section(&review::unheard(), "Verdict"), @"
    Verdict
      No verdict
      The review failed: there is no verdict.
    ");
}

/// A weak flip is "flagged, and with `--strict-anchoring` reverted to R1".
#[test]
fn a_weak_flip_is_flagged_and_a_reverted_one_says_that_round_1_counts() {
    let mut document = review::failed().document();
    assert!(section(&document, "Verdict shifts").contains("WEAK FLIP"));
    document["verdict"]["shifts"][1]["reverted"] = json!(true);
    assert_snapshot!(section(&document, "Verdict shifts"), @"
    Verdict shifts
      Judge       R1    R2    Because
      security    WARN  FAIL  code location: src/auth.py:45 calls the database
                              before any check
      operations  PASS  WARN  WEAK FLIP: no evidence for the change; reverted, R1
                              counts
      Round 1 was split.
    ");
    document["verdict"]["shifts"][1]["weak_flip"] = json!(false);
    document["verdict"]["shifts"][1]["changed"] = json!(false);
    assert!(!section(&document, "Verdict shifts").contains("WEAK FLIP"));
}

/// "No R2 completion message within 90 s: R1 used": the note is beside the judge.
#[test]
fn a_late_second_round_and_another_perspective_are_told_beside_the_judge() {
    let mut document = review::failed().document();
    let judge = &mut document["verdict"]["judges"][0];
    for (field, value) in [
        ("r2", Value::Null),
        ("used", json!("r1")),
        ("verdict", json!("WARN")),
        ("note", json!("no R2 within 90 s: R1 used")),
        ("judge", json!("judge-1")),
    ] {
        judge[field] = value;
    }
    assert_snapshot!(section(&document, "The judges"), @"
    The judges
      Judge       Perspective  Vendor     R1    R2         Confidence  Counts
      judge-1     security     openai     WARN  none       HIGH        WARN (R1)
      operations  operations   openai     PASS  WARN       MEDIUM      WARN (R2)
      usability   usability    anthropic  WARN  not asked  LOW         WARN (R1)
      • judge-1: A password can be tried without end: nothing on the way from
        `/login` to the database counts attempts.
        no R2 within 90 s: R1 used
      • operations: The retry loop in the session store hides an outage until every
        worker waits on it.
      • usability: The interface is small and reads well, but an error cannot be
        traced to its request.
    ");
}

/// "All judges fail R2: fall back to R1-only consolidation (note in report)".
#[test]
fn where_every_second_round_failed_the_table_still_has_it() {
    let mut document = review::passed();
    document["verdict"]["debate"] = json!(true);
    document["verdict"]["judges"][0]["note"] = json!("no R2: R1 used");
    let shown = section(&document, "The judges");
    assert!(
        shown.contains("  R2 ") && shown.contains("PASS    none") && shown.contains("no R2: R1 used"),
        "{shown}"
    );
}

#[test]
fn what_the_verdict_means_counts_the_judges() {
    let means = |verdict: &str, fail_on: &str, judges: &[Option<&str>]| {
        let mut document = review::failed().document();
        document["verdict"]["verdict"] = json!(verdict);
        document["verdict"]["fail_on"] = json!(fail_on);
        document["verdict"]["judges"] =
            judges.iter().map(|verdict| json!({"judge": "x", "verdict": verdict})).collect();
        section(&document, "Verdict").lines().skip(2).collect::<Vec<_>>().join(" ").trim().to_owned()
    };
    let (pass, warn, fail) = (Some("PASS"), Some("WARN"), Some("FAIL"));
    assert_eq!(means("PASS", "fail", &[pass]), "The judge passes it.");
    assert_eq!(means("PASS", "fail", &[pass, pass]), "Both judges pass it.");
    assert_eq!(means("PASS", "fail", &[pass, pass, pass]), "All 3 judges pass it.");
    assert_eq!(means("PASS", "fail", &[pass, None]), "The judge that was heard passes it.");
    assert_eq!(means("PASS", "fail", &[]), "The judges pass it.");
    assert_eq!(means("WARN", "fail", &[pass, warn]), "1 of 2 judges has reservations, nobody fails it.");
    let gate = "1 of 2 judges has reservations, nobody fails it. WARN counts as failing here.";
    assert_eq!(means("WARN", "warn", &[pass, warn]), gate);
    assert_eq!(means("FAIL", "fail", &[fail, pass, fail, None]), "2 of 3 judges that were heard fail it.");
}

#[test]
fn brainstorm_and_research_have_answers_and_no_verdict() {
    let mut document = review::failed().document();
    document["verdict"] = json!({"mode": "brainstorm", "verdict": null, "target": "auth", "footer": "2/2 R1, fidelity full",
    "answers": [
        {"judge": "security", "key_insight": "Passkeys would make the limit needless.",
            "ideas": ["Offer passkeys first", "Count attempts by account"], "confidence": "HIGH"},
        {"judge": "operations", "answer": "Put the limit into the gateway."},
    ]});
    let shown = text(&document, &PLAIN);
    assert!(!shown.contains("Verdict"), "{shown}");
    assert_snapshot!(section(&document, "Brainstorm"), @"
    Brainstorm
      security  confidence: HIGH
        Key insight: Passkeys would make the limit needless.

        Ideas
          • Offer passkeys first
          • Count attempts by account

      operations
        Answer: Put the limit into the gateway.
    ");
    assert_snapshot!(section(&document, "Who was heard"), @"
    Who was heard
      2/2 R1, fidelity full
    ");
}

#[test]
fn the_long_forms_hold_what_the_judges_said_to_each_other() {
    let log = review::failed();
    let document = log.document();
    for form in [markdown(&document, &log.debate), html(&document, &log.debate)] {
        for words in [
            "Where it stood",
            "I looked at the login path first.",
            "The other side at its best",
            "A gateway in front of the service",
            "Errors are the worst of it",
            "An attacker with a word list is worse.",
            "The retry loop makes an attack cheaper.",
            "WEAK FLIP",
            "F3 (dropped)",
            "Round 1: judge",
        ] {
            assert!(form.contains(words), "{words:?} is missing in\n{form}");
        }
        assert!(form.rfind("Who was heard") > form.rfind("Technical details"), "the footer line is last");
    }
    assert!(html(&document, &log.debate).contains("<p class=\"headline bad\">FAIL</p>"));
    assert!(markdown(&document, &log.debate).contains("## Verdict\n\n**FAIL**\n\n1 of 3 judges fails it.\n"));
}

#[test]
fn the_verdict_has_the_colour_of_its_news() {
    let mut document = review::failed().document();
    for (verdict, colour) in [("PASS", "\u{1b}[32m"), ("WARN", "\u{1b}[33m"), ("FAIL", "\u{1b}[31m")] {
        document["verdict"]["verdict"] = json!(verdict);
        let painted = text(&document, &Style { color: true, ..PLAIN });
        assert!(painted.contains(&format!("{colour}{verdict}\u{1b}[0m")), "{painted:?}");
    }
}

/// Every string with something in it that a terminal or a page would obey.
fn poisoned(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}\u{1b}[2J\u{202e}\u{8}<script>x</script>")),
        Value::Array(values) => values.iter().map(poisoned).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), poisoned(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn nothing_in_a_review_can_command_the_terminal_or_the_page() {
    let log = review::failed();
    let mut document = poisoned(&log.document());
    document["protocol"] = json!("review");
    let shown = text(&document, &PLAIN);
    assert!(shown.contains("The judges") && shown.contains("Findings"), "{shown}");
    assert!(shown.chars().all(|char| char == '\n' || !char.is_control()), "{shown:?}");
    assert!(!shown.contains('\u{202e}'));
    assert!(!html(&document, &log.debate).contains("<script"));
}

#[test]
fn lines_keep_to_the_width_and_ascii_terminals_get_ascii() {
    for document in [review::failed().document(), review::split(), review::passed(), review::unheard()] {
        for width in [40, 80, 300] {
            let shown = text(&document, &Style { width, ..PLAIN });
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.min(100), "{widest} columns of {width}:\n{shown}");
        }
        assert!(text(&document, &Style { unicode: false, ..PLAIN }).is_ascii());
    }
}

#[test]
fn a_review_with_fields_missing_is_still_readable() {
    for verdict in [
        json!({}),
        json!({"verdict": "FAIL", "judges": [null, {}], "findings": [null, {}, {"severity": "odd", "description": "x"}],
            "shifts": [{}], "recommendations": [{}], "vendors": [{}], "answers": []}),
        json!({"verdict": "DISAGREE", "vendors": [{"vendor": "a"}, {}], "judges": [{"vendor": "a", "used": "r2"}]}),
        json!({"mode": "research", "answers": ["plain words", null, {"judge": null}]}),
    ] {
        let document = json!({"protocol": "review", "status": "complete", "verdict": verdict});
        assert!(text(&document, &PLAIN).contains("agon show"));
    }
}
