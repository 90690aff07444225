//! `agon ask`, the ladder: "two different models answer; if they agree in substance, that is the answer ...; if not, `deep`
//! with more seats; then a `panel` of judges on what still divides".

use serde_json::{Value, json};

use crate::support::{Home, Said, refused};

/// Says Zurich at first, and gives way to what it reads.
const ONE: &str = r#"
seats:
  "*":
    answer: { answer: Zurich, why: It is the largest city., confidence: 0.7 }
    clerk:
      analysis: They name two different cities.
      positions:
        - { statement: Zurich., members: [{ label: other, quote: Zurich }] }
        - { statement: Bern., members: [{ label: other-2, quote: Bern }] }
    deep/debate:
      - analysis: The seat of government is what makes a capital.
        key_points: [The seat of government decides]
        stance: concede
        changed_because: BECAUSE
        revision: major_revision
        revised_position: Bern.
        confidence: 0.9
      - { stance: maintain, key_points: [The seat of government decides], revision: no_change, confidence: 0.95 }
    deep/synthesis:
      answer: Bern
      why: The federal parliament and government sit there since 1848.
      contested: []
      fates: FATES
  debater-3: THIRD
  moderator:
    deep/moderate:
      - analysis: They name two cities.
        first_positions: FIRST
        positions: LATER
        agreement_score: 0.7
        new_points_ratio: 0.5
        should_stop: false
      - analysis: They repeat themselves.
        positions: LATER
        agreement_score: 0.95
        new_points_ratio: 0.05
        consensus_answer: Bern
        should_stop: true
"#;

/// Says Bern, and stays with it.
const TWO: &str = r#"
seats:
  "*":
    answer: { answer: Bern, why: Parliament and government sit there., confidence: 0.9 }
    clerk:
      analysis: They name two different cities.
      positions:
        - { statement: Zurich., members: [{ label: other, quote: Zurich }] }
        - { statement: Bern., members: [{ label: other-2, quote: Bern }] }
    deep/answer: { answer: FOURTH, why: So it is., confidence: 0.8 }
    deep/debate: { stance: maintain, key_points: [The seat of government decides], revision: no_change, confidence: 0.95 }
"#;

/// The chair's rulings on the positions that are left, in the order of their ids.
fn rulings(fates: &[&str]) -> String {
    let ruling = |(number, fate): (usize, &&str)| json!({"position": format!("P{number}"), "fate": fate, "reason": "Parliament decides."});
    Value::from_iter((1..).zip(fates).map(ruling)).to_string()
}

/// The moderator's sorting: which labels hold Zurich and which hold Bern. D and B answered first, C and A joined them.
fn sorting(zurich: &[&str], bern: &[&str]) -> String {
    let group = |city: &str, members: &[&str]| {
        let members: Vec<Value> =
            members.iter().map(|label| json!({"debater": label, "quote": city})).collect();
        json!({"statement": format!("{city}."), "members": members})
    };
    let groups = [("Zurich", zurich), ("Bern", bern)].into_iter().filter(|(_, members)| !members.is_empty());
    Value::from_iter(groups.map(|(city, members)| group(city, members))).to_string()
}

/// Three of the four first answers are Bern, and the fourth becomes Bern.
fn home_of_bern() -> Home {
    let home = Home::new();
    let third = json!({
        "deep/answer": {"answer": "Bern", "why": "The federal parliament sits there.", "confidence": 0.8},
        "deep/debate": {"stance": "maintain", "key_points": ["It is written down"], "revision": "no_change", "confidence": 0.8},
    });
    let one = ONE
        .replace("BECAUSE", CITED)
        .replace("THIRD", &third.to_string())
        .replace("FIRST", &sorting(&["D"], &["A", "B", "C"]))
        .replace("LATER", &sorting(&[], &["A", "B", "C", "D"]))
        .replace("FATES", &rulings(&["adopted"]));
    home.write("one.yaml", one);
    home.write("two.yaml", TWO.replace("FOURTH", "Bern"));
    home
}

/// Three of the four first answers are Zurich. Two of these debaters change to Bern, and the chair adopts Bern.
fn home_of_zurich(because: &str) -> Home {
    let home = Home::new();
    let third =
        json!({"deep/answer": {"answer": "Zurich", "why": "Most people live there.", "confidence": 0.8}});
    let one = ONE
        .replace("BECAUSE", because)
        .replace("THIRD", &third.to_string())
        .replace("FIRST", &sorting(&["A", "C", "D"], &["B"]))
        .replace("LATER", &sorting(&["A"], &["B", "C", "D"]))
        .replace("FATES", &rulings(&["rejected", "adopted"]));
    home.write("one.yaml", one);
    home.write("two.yaml", TWO.replace("FOURTH", "Zurich"));
    home
}

fn ask(home: &Home, more: &[&str]) -> Said {
    let args = ["ask", "What is the capital of Switzerland?", "--models", "script/one.yaml,script/two.yaml"];
    home.agon(&[&args[..], &["--seed", "7", "--quiet"], more].concat())
}

const CITED: &str = r#"[{ id: B0, quote: "Parliament and government sit there" }]"#;

#[test]
fn two_that_agree_are_the_answer_for_two_calls() {
    let home = Home::new();
    home.write("one.yaml", TWO);
    home.write("two.yaml", TWO.replace("answer: Bern", "answer: \"bern.\""));
    let outcome = ask(&home, &["--json"]).ok().json();
    let verdict = &outcome["verdict"];
    assert_eq!(
        (&verdict["decided_by"], &outcome["usage"]["calls"]),
        (&json!("agreement"), &json!(2)),
        "{verdict:#}"
    );
    assert_eq!((&verdict["answer"], &verdict["risk"]), (&json!("Bern"), &Value::Null));
    assert_eq!(verdict["steps"].as_array().unwrap().len(), 1);
    assert!(verdict["steps"][0]["reason"].is_string() && verdict["steps"][0]["calls"] == 2);
    assert_eq!(outcome["evidence"]["first_round"]["changed_by_debate"], false);
}

/// "Each step's cost and reason is in the outcome."
#[test]
#[allow(clippy::too_many_lines, reason = "a report is as long as it is")]
fn two_that_differ_are_debated_and_every_step_has_its_reason() {
    let home = home_of_bern();
    insta::assert_snapshot!(ask(&home, &[]).ok().shown(), @r#"
    What is the capital of Switzerland?
    The debaters converged after 2 rounds.
    ask · 4 first answers · 2 rounds · 0.0 s

    Answer
      Bern

    Why
      The federal parliament and government sit there since 1848.

    What the debate did
      Debater D changed position in round 1. A plain vote on the first positions
      gives that of Debater B, Debater C and Debater A; the answer states the same
      position. Nobody changed position in round 2. How independent the debaters are
      is not known; Debater D and Debater C share the model script/one.yaml; Debater
      B and Debater A share the model script/two.yaml.

                 start    R1       R2
      Debater D  Zurich.  Bern.*   Bern.
      Debater B  Bern.    Bern.    Bern.
      Debater C  Bern.    Bern.    Bern.
      Debater A  Bern.    Bern.    Bern.
      * changed, naming a point or evidence
      • Debater D: changed position in round 1, naming [B0] of Debater B:
        "Parliament and government sit there"

    How it was decided
      Decided by: the debate
      Clerk: script/one.yaml

    Dissent
      No dissent: every first-round position was adopted or given up.

    Warnings
      • Round 1: the moderator scores the agreement 0.70, but all debaters hold one
        position

    Step by step
      Step     Why                              Calls  Tokens  US dollars  Ended
      Two      two different models are the     3      0       $0.00       differ
      answers  fewest that can disagree
      Debate   the two answers differ:          13     0       $0.00       converged
               "Zurich." and "Bern."

    First answers
      • Debater D (answerer-1): Zurich
        Confidence 0.70. It is the largest city.
      • Debater B (answerer-2): Bern
        Confidence 0.90. Parliament and government sit there.
      • Debater C (debater-3): Bern
        Confidence 0.80. The federal parliament sits there.
      • Debater A (debater-4): Bern
        Confidence 0.80. So it is.

    Seats
      Debater A: debater-4, script/two.yaml
      Debater B: answerer-2, script/two.yaml
      Debater C: debater-3, script/one.yaml
      Debater D: answerer-1, script/one.yaml
      Moderator: script/one.yaml
      Chair: script/one.yaml
      Clerk: script/one.yaml
      judge-1: script/one.yaml
      judge-2: script/two.yaml
      judge-3: script/one.yaml
      Rapporteur: script/one.yaml

    Cost
      16 calls, 0 tokens in, 0 out, $0.00

    Debate (twelve-id.)
      agon show (twelve-id.)
      agon export (twelve-id.) --format html
    "#);
    let outcome = home.agon(&["show", "last", "--json"]).ok().json();
    let steps = outcome["verdict"]["steps"].as_array().unwrap();
    let calls: u64 = steps.iter().map(|step| step["calls"].as_u64().unwrap()).sum();
    assert_eq!((steps.len(), outcome["usage"]["calls"].as_u64().unwrap()), (2, calls));
    let flips = outcome["evidence"]["flips"].as_array().unwrap();
    assert!(flips.iter().all(|flip| flip["evidenced"] == true), "{flips:#?}");
}

/// "`--never-worse` keeps the plain first-round vote unless the debate's change is backed by evidenced flips."
#[test]
fn never_worse_keeps_the_vote_against_bare_changes_of_mind() {
    let mind = |because: &str| {
        ask(&home_of_zurich(because), &["--never-worse", "--json"]).ok().json()["verdict"].clone()
    };
    let bare = mind("[]");
    assert_eq!(
        (&bare["decided_by"], &bare["answer"]),
        (&json!("first_round_vote"), &json!("Zurich")),
        "{bare:#}"
    );
    assert_eq!(bare["never_worse"]["kept"], true);
    let cited = mind(CITED);
    assert_eq!((&cited["decided_by"], &cited["answer"]), (&json!("debate"), &json!("Bern")), "{cited:#}");
    assert_eq!(cited["never_worse"]["kept"], false);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let home = home_of_bern();
    refused(&home, &["odd"], || ask(&home, &["--judges", "4"]));
    refused(&home, &["question"], || home.agon(&["ask", "", "--models", "script/one.yaml"]));
}
