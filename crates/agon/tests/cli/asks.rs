//! `agon ask`, the ladder: "two different models answer; if they agree in substance, that is the answer ...; if not, `deep`
//! with more seats; then a `panel` of judges on what still divides".

use serde_json::{Value, json};

use crate::support::{Home, Said, refused};

/// Says Zurich at first, and gives way to what it reads.
const ONE: &str = r#"
seats:
  "*":
    answer: { answer: Zurich, why: It is the largest city., confidence: 0.7 }
    compare: { same: false, difference: They name two different cities. }
    deep/answer: { answer: Bern, why: The federal parliament sits there., confidence: 0.8 }
    deep/debate:
      - stance: concede
        key_points: ["BECAUSE"]
        counterpoints: []
        revision: major_revision
        revised_position: Bern.
        confidence: 0.9
      - { stance: maintain, key_points: [The seat of government decides], revision: no_change, confidence: 0.95 }
    deep/moderate:
      - { should_stop: false, agreement_score: 0.7, new_points_ratio: 0.5 }
      - { should_stop: true, agreement_score: 0.95, new_points_ratio: 0.05, consensus_answer: Bern }
    deep/synthesis: { answer: Bern, why: The federal parliament and government sit there since 1848., contested: [] }
"#;

/// Says Bern, and stays with it.
const TWO: &str = r#"
seats:
  "*":
    answer: { answer: Bern, why: Parliament and government sit there., confidence: 0.9 }
    compare: { same: false, difference: They name two different cities. }
    deep/answer: { answer: FURTHER, why: So it is., confidence: 0.8 }
    deep/debate: { stance: maintain, key_points: [The seat of government decides], revision: no_change, confidence: 0.95 }
"#;

fn home(because: &str, further: &str) -> Home {
    let home = Home::new();
    home.write("one.yaml", ONE.replace("BECAUSE", because));
    home.write("two.yaml", TWO.replace("FURTHER", further));
    home
}

fn ask(home: &Home, more: &[&str]) -> Said {
    let args = ["ask", "What is the capital of Switzerland?", "--models", "script/one.yaml,script/two.yaml"];
    home.agon(&[&args[..], &["--seed", "7", "--quiet"], more].concat())
}

const CITED: &str = "Debater A is right: the Federal Assembly chose Bern in 1848";

#[test]
fn two_that_agree_are_the_answer_for_two_calls() {
    let home = Home::new();
    home.write("one.yaml", TWO);
    home.write("two.yaml", TWO.replace("answer: Bern", "answer: \"bern.\""));
    let outcome = ask(&home, &["--json"]).ok().json();
    let verdict = &outcome["verdict"];
    assert_eq!((&verdict["decided_by"], &outcome["usage"]["calls"]), (&json!("agreement"), &json!(2)), "{verdict:#}");
    assert_eq!((&verdict["answer"], &verdict["risk"]), (&json!("Bern"), &Value::Null));
    assert_eq!(verdict["steps"].as_array().unwrap().len(), 1);
    assert!(verdict["steps"][0]["reason"].is_string() && verdict["steps"][0]["calls"] == 2);
    assert_eq!(outcome["evidence"]["first_round"]["changed_by_debate"], false);
}

/// "Each step's cost and reason is in the outcome."
#[test]
fn two_that_differ_are_debated_and_every_step_has_its_reason() {
    let home = home(CITED, "Bern");
    insta::assert_snapshot!(ask(&home, &[]).ok().shown(), @"");
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
    // Of four, one.yaml and the further seat of two.yaml say Zurich and Geneva... the vote is for Zurich only if two say it.
    let mind = |because: &str| {
        let home = home(because, "Zurich");
        home.write("one.yaml", ONE.replace("BECAUSE", because).replace("answer: Bern, why: The federal", "answer: Zurich, why: The federal"));
        ask(&home, &["--never-worse", "--json"]).ok().json()["verdict"].clone()
    };
    let bare = mind("I was persuaded");
    assert_eq!((&bare["decided_by"], &bare["answer"]), (&json!("first_round_vote"), &json!("Zurich")), "{bare:#}");
    assert_eq!(bare["never_worse"]["kept"], true);
    let cited = mind(CITED);
    assert_eq!((&cited["decided_by"], &cited["answer"]), (&json!("debate"), &json!("Bern")), "{cited:#}");
    assert_eq!(cited["never_worse"]["kept"], false);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let home = home(CITED, "Bern");
    refused(&home, &["odd"], || ask(&home, &["--judges", "4"]));
    refused(&home, &["question"], || home.agon(&["ask", "", "--models", "script/one.yaml"]));
}
