//! "shown in the report as a short paragraph and a small chart that a person understands".

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Style, markdown, text};
use insta::assert_snapshot;
use sample::evidence::{Told, known, unknown};
use sample::panel::section;
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };
const DID: &str = "What the debate did";

/// The paragraph alone, as one line.
fn paragraph(document: &Value) -> String {
    let shown = section(document, DID, &Style { width: 100, ..PLAIN });
    let lines = shown.lines().skip(1).take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A debate of `deep` with this evidence.
fn with(told: Told<'_>) -> Value {
    let log = sample::converged();
    let mut document = log.document();
    told.into(&log.debate, &mut document);
    document
}

const NOTHING: Told<'static> = Told {
    grouping: "discrete",
    rounds: &[1, 2],
    held: &[],
    cited: &[],
    verdicts: &[Some("PASS"), Some("PASS")],
    decided: Some("PASS"),
    independence: Value::Null,
};

fn shown(name: &str) -> String {
    let all = sample::evidence::all();
    let (_, _, document) = all.iter().find(|(own, ..)| *own == name).unwrap();
    section(document, DID, &PLAIN)
}

#[test]
fn positions_that_are_words_have_keys_and_a_legend() {
    assert_snapshot!(shown("deep"), @"
    What the debate did
      One of three changed its mind in round 2, after a cited point. No two of the
      first answers are known to say the same, so that a plain vote was tied; the
      debate settled it. Round 1 changed nothing. How independent these voices are
      is not known yet; no two seats share a model.

                 start  R1     R2
      Debater A  P1     P1     P3*
      Debater B  P2     P2     P2
      Debater C  P3     P3     P3
      P1  No. A rewrite stops features for two quarters; put types around the hot p…
      P2  Yes, rewrite it. The two worst outages of last year were data races.
      P3  Only the ledger: it is 4,000 lines and all the incidents are there.
      * changed after a cited point
    ");
    assert_snapshot!(shown("council"), @"
    What the debate did
      One of four changed its mind in round 1, after a cited point. Before the
      debate no two held the same, so that a plain vote was tied; the debate settled
      it. Round 2 changed nothing: the same verdict after round 1 for 5 fewer calls.
      How independent these voices are is not known yet; four seats share a model
      with another.

                  start  R1     R2
      Visionary   P1     P1     P1
      Critic      P2     P3*    P3
      Pragmatist  P3     P3     P3
      Innovator   P4     P4     P4
      P1  PROCEED
      P2  Do not move billing yet: an invoice that is lost costs more than a slow n…
      P3  PROCEED WITH CONDITIONS
      P4  RECONSIDER
      * changed after a cited point
    ");
    assert_snapshot!(shown("arena"), @"
    What the debate did
      One of three changed its mind in round 3, with nothing cited. No two of the
      first answers are known to say the same, so that a plain vote was tied; the
      debate settled it. Round 7 changed nothing: the same verdict after round 3 for
      3 fewer calls. The three count for about 2.2 independent voices.

               R1   R3   R7
      Agent A  P1   P2~  P2
      Agent B  P2   P2   P2
      Agent C  P3   P3   P3
      P1  Put a queue before billing and keep the old path for a month.
      P2  Move billing to the queue after a pilot with one customer group.
      P3  Write invoices to a ledger first, and let the queue only send them.
      ~ changed with nothing cited
    ");
}

/// "for scores the figures".
#[test]
fn positions_that_are_values_stand_for_themselves() {
    assert_snapshot!(shown("panel"), @"
    What the debate did
      All three changed their score in rounds 2 and 3, four times in all: two after
      a cited point, two with nothing cited. Before the debate no two scores were
      the same, so that a plain vote was tied; the debate settled it. Round 3 did
      not change the verdict: the same verdict after round 2 for 3 fewer calls. The
      panel counts for about 1.8 independent voices.

               R1    R2    R3
      judge-1  3.5   3.8*  4~
      judge-2  4.5   4.5   4.3~
      judge-3  2     2.2*  2.2
      * changed after a cited point; ~ changed with nothing cited
    ");
    assert_snapshot!(shown("review"), @"
    What the debate did
      Two of three changed their mind in round 2, one after a cited point, one with
      nothing cited. A plain vote before the debate would have said something else:
      WARN. How independent these voices are is not known yet; two seats share a
      model.

                  R1     R2
      Security    WARN   FAIL*
      Operations  PASS   WARN~
      Usability   WARN   WARN
      * changed after a cited point; ~ changed with nothing cited
    ");
}

/// The sentence of the issue: "Two of three changed their mind in round 2, both after a cited fact; a plain vote before the debate
/// would have said the same; the panel counts for about 1.8 independent voices".
#[test]
fn the_issues_own_example() {
    let mut document = with(Told {
        held: &[
            ("a", None, &["FAIL", "PASS"]),
            ("b", None, &["PASS", "FAIL"]),
            ("c", None, &["PASS", "PASS"]),
        ],
        cited: &[("a", 2, &["src/a.rs:3"]), ("b", 2, &["[F1]"])],
        verdicts: &[Some("FAIL"), Some("PASS")],
        independence: known(1.7633, 12),
        ..NOTHING
    });
    document["protocol"] = json!("panel");
    assert_snapshot!(paragraph(&document), @"Two of three changed their mind in round 2, both after a cited point. A plain vote before the debate would have said the same. The panel counts for about 1.8 independent voices.");
}

/// Each case with its paragraph.
fn told(cases: Vec<(&str, Value)>) -> String {
    let told = cases.into_iter().map(|(what, document)| format!("{what}\n  {}\n", paragraph(&document)));
    told.collect()
}

/// Right for singular and plural and every combination.
#[test]
fn the_paragraph_is_right_for_one_voice_and_for_several() {
    let mut cases = Vec::new();
    let mut add = |what, document| cases.push((what, document));
    let same: &[&str] = &["PASS", "PASS"];
    let alone = [("a", None, same)];
    add("one voice", with(Told { held: &alone, independence: unknown(&[]), ..NOTHING }));
    let two = [("a", None, same), ("b", None, &["FAIL", "FAIL"][..])];
    add(
        "two keep theirs, tied, one model",
        with(Told { held: &two, independence: unknown(&[&["a", "b"]]), ..NOTHING }),
    );
    let agreed = [("a", None, same), ("b", None, same), ("c", None, same)];
    add("all agreed", with(Told { held: &agreed, independence: unknown(&[&["a", "b", "c"]]), ..NOTHING }));
    let no_verdict = Told { held: &agreed, verdicts: &[None, None], decided: None, ..NOTHING };
    add("all agreed, no verdict", with(no_verdict));
    let both = [("a", None, &["PASS", "FAIL"][..]), ("b", None, &["FAIL", "PASS"][..])];
    add("both, nothing cited", with(Told { held: &both, ..NOTHING }));
    let one = [("a", None, &["FAIL", "PASS"][..]), ("b", None, same), ("c", None, same)];
    add("one, cited", with(Told { held: &one, cited: &[("a", 2, &["Debater B"])], ..NOTHING }));
    add("no verdict", with(Told { held: &one, verdicts: &[None, None], decided: None, ..NOTHING }));
    assert_snapshot!(told(cases), @"
    one voice
      The only voice kept its position. Round 2 changed nothing: the same verdict after round 1 for 4 fewer calls.
    two keep theirs, tied, one model
      Neither of the two changed its position. Before the debate no two held the same, so that a plain vote was tied; the debate settled it. Round 2 changed nothing: the same verdict after round 1 for 4 fewer calls. How independent these voices are is not known yet; both share one model.
    all agreed
      None of the three changed its position. They agreed before the debate began, and that is the verdict. Round 2 changed nothing: the same verdict after round 1 for 4 fewer calls. How independent these voices are is not known yet; all three share one model.
    all agreed, no verdict
      None of the three changed its position. They agreed before the debate began, but there is no verdict. Round 2 changed nothing.
    both, nothing cited
      Both changed their mind in round 2, both with nothing cited. Before the debate no two held the same, so that a plain vote was tied; the debate settled it. Round 2 did not change the verdict: the same verdict after round 1 for 4 fewer calls.
    one, cited
      One of three changed its mind in round 2, after a cited point. A plain vote before the debate would have said the same. Round 2 did not change the verdict: the same verdict after round 1 for 4 fewer calls.
    no verdict
      One of three changed its mind in round 2, with nothing cited. A plain vote before the debate would have said PASS, but there is no verdict. Round 2 did not change the verdict.
    ");
}

/// Rounds that changed nothing, ties, and what is known of the voices.
#[test]
fn the_paragraph_is_right_for_several_rounds() {
    let mut cases = Vec::new();
    let mut add = |what, document| cases.push((what, document));
    let same: &[&str] = &["PASS", "PASS"];
    let two = [("a", None, same), ("b", None, &["FAIL", "FAIL"][..])];
    let agreed = [("a", None, same), ("b", None, same), ("c", None, same)];
    let all = [
        ("a", None, &["FAIL", "PASS", "FAIL"][..]),
        ("b", None, &["WARN", "FAIL", "FAIL"][..]),
        ("c", None, &["FAIL", "WARN", "PASS"][..]),
    ];
    let turned = Told {
        held: &all,
        rounds: &[1, 2, 3],
        verdicts: &[Some("FAIL"), Some("WARN"), Some("PASS")],
        cited: &[("a", 2, &["x"]), ("c", 3, &["y"])],
        independence: unknown(&[&["a", "b"], &["c", "d"]]),
        ..NOTHING
    };
    add("all, more than once, another verdict", with(turned));
    add("one round", with(Told { held: &two, rounds: &[1], verdicts: &[Some("PASS")], ..NOTHING }));
    let words = [
        ("a", None, &["Yes, move it", "Yes, move it"][..]),
        ("b", None, &["No", "No"][..]),
        ("c", None, &["No", "No"][..]),
        ("d", None, &["Yes, move it", "Yes, move it"][..]),
    ];
    add(
        "a tie of words",
        with(Told {
            grouping: "similarity",
            held: &words,
            decided: None,
            verdicts: &[None, None],
            ..NOTHING
        }),
    );
    let three = [("a", None, &["PASS"; 3][..]), ("b", None, &["PASS"; 3][..]), ("c", None, &["FAIL"; 3][..])];
    let mut idle = with(Told { held: &three, rounds: &[1, 2, 3], verdicts: &[Some("PASS"); 3], ..NOTHING });
    idle["evidence"]["cost"]["rounds"] = json!([{"phase": "debate", "round": 1, "calls": 3}, {"phase": "debate", "round": 2, "calls": 3},
        {"phase": "moderate", "round": 2, "calls": 1}, {"phase": "debate", "round": 3, "calls": 3}, {"phase": "synthesis", "round": 3, "calls": 1}]);
    add("idle rounds", idle);
    let mut family = with(Told { held: &agreed, independence: unknown(&[]), ..NOTHING });
    family["evidence"]["independence"]["families"] = json!([{"family": "gpt", "seats": ["a", "b"]}]);
    add("a family", family);
    assert_snapshot!(told(cases), @"
    all, more than once, another verdict
      All three changed their mind in rounds 2 and 3, five times in all: two after a cited point, three with nothing cited. A plain vote before the debate would have said something else: FAIL. How independent these voices are is not known yet; four seats share a model with another.
    one round
      Positions were taken once, so that nobody could change. Before the debate no two held the same, so that a plain vote was tied; the verdict settled it.
    a tie of words
      None of the four changed its position. A plain vote before the debate would have been tied between two positions; nothing settled it. Round 2 changed nothing.
    idle rounds
      None of the three changed its position. A plain vote before the debate would have said the same. Rounds 2 and 3 changed nothing: the same verdict after round 1 for 7 fewer calls.
    a family
      None of the three changed its position. They agreed before the debate began, and that is the verdict. Round 2 changed nothing: the same verdict after round 1 for 4 fewer calls. How independent these voices are is not known yet; two seats are models of one family.
    ");
}

/// Old documents lack the measures, and any part may be null.
#[test]
fn what_was_not_measured_is_not_told() {
    for evidence in [
        json!(null),
        json!({}),
        json!({"dissent": [], "cost": {"rounds": []}}),
        json!({"first_round": null, "flips": [],
        "agreement": [], "trajectory": [], "independence": null, "counterfactual": null, "judge": null, "grouping": null}),
    ] {
        let mut document = sample::converged().document();
        document["evidence"] = evidence;
        assert!(!text(&document, &PLAIN).contains(DID));
    }
}

/// The Markdown has the same chart as a table, and every measure.
#[test]
fn the_long_form_has_every_measure() {
    let (debate, document) = sample::evidence::panel();
    let long = markdown(&document, &debate);
    for words in [
        "| Seat | R1 | R2 | R3 |",
        "| judge-1 | 3.5 | 3.8\\* | 4\\~ |",
        "## Who changed and why",
        "persuaded by judge-1: the way back is not written down",
        "### The verdict, had it stopped there",
        "| Round 3 | majority 4.15 | no |",
        "| Round 2 | 3 | 0.00 | 1.58 | 0.00 |",
        "- **Mean error correlation**: 0.46",
        "| openai/alpha and anthropic/beta | 0.46 | 12 |",
        "**How positions are told apart**: they are values or scores",
    ] {
        assert!(long.contains(words), "{words:?} is missing in\n{long}");
    }
    assert!(!long.contains("Whose score changed"), "the changes are told once");
}
