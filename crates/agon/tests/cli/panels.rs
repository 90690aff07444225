//! `agon panel` from outside: the verdict, the seed's records, rubrics, bad input.

use serde_json::Value;

use crate::support::{Home, Said, refused};

const DESIGN: &str = include_str!("../../../../examples/design.md");
const PLAN: &str = include_str!("../../../../examples/plan.md");

fn home() -> Home {
    let home = Home::new();
    home.write("design.md", DESIGN);
    home.write("plan.md", PLAN);
    home
}

fn panel(home: &Home, args: &[&str]) -> Said {
    home.agon(&[&["panel"], args, &["--models", "script/demo-panel", "--seed", "7"]].concat())
}

/// "`agon panel design.md plan.md --feature NAME`: three stances, ... three rounds with the consensus check after each, the ledger
/// of critical findings, consensus / majority / no_majority verdicts."
#[test]
fn a_majority_with_dissent_after_three_rounds() {
    let home = home();
    let document = panel(&home, &["design.md", "plan.md", "--feature", "checkout-v2", "--json"]).ok().json();
    let verdict = &document["verdict"];
    assert_eq!(document["question"], "checkout-v2");
    assert_eq!(
        (&verdict["verdict_type"], &document["termination"]),
        (&"majority".into(), &"majority".into())
    );
    assert_eq!(verdict["majority_judges"], serde_json::json!(["judge-1", "judge-2"]));
    assert_eq!(verdict["minority_judges"], serde_json::json!(["judge-3"]));
    assert_eq!(verdict["confidence"], "MEDIUM");
    let rounds = &verdict["debate_metrics"]["rounds"];
    let range = |round: &str| rounds[round]["range"].as_f64().unwrap();
    assert!(range("round_1") > range("round_2") && range("round_2") > range("round_3"), "{rounds}");
    let ledger = &verdict["critical_findings"][0];
    assert_eq!((&ledger["finding_id"], &ledger["state"]), (&"F1".into(), &"disputed".into()));
    assert_eq!(document["dissent"][0]["seat"], "judge-3");
    assert_eq!(verdict["debate_metrics"]["cost"]["judge_calls"], 9);
    assert_eq!((&ledger["same_as"][0], &verdict["opinions_by"]), (&"F2".into(), &"rapporteur".into()));
    assert_eq!(verdict["debate_metrics"]["position_evolution"]["disputes_resolved"], 3);
}

/// "`--fail-on red|yellow` makes the panel a gate (exit 1); without it a verdict is exit 0."
#[test]
fn fail_on_makes_it_a_gate() {
    let home = home();
    for (args, status) in [
        (&["plan.md"][..], 0),
        (&["plan.md", "--fail-on", "red"], 0),
        (&["plan.md", "--fail-on", "yellow"], 1),
    ] {
        let said = panel(&home, &[&["design.md"], args, &["--json"]].concat());
        assert_eq!(said.status, Some(status), "{args:?}");
    }
}

/// "`--save` writing the seed's YAML records"
#[test]
fn the_records_of_the_seed_are_yaml_files() {
    let home = home();
    panel(&home, &["design.md", "plan.md", "--save", "kept", "--quiet"]).ok();
    let kept = std::fs::read_dir(home.path("kept")).unwrap().next().unwrap().unwrap().path();
    let mut names: Vec<String> = std::fs::read_dir(&kept)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let statements =
        (1..=3).flat_map(|round| (1..=3).map(move |judge| format!("round-{round}-judge-{judge}.yaml")));
    let mut wanted: Vec<String> = ["debate_metrics.yaml", "log.ndjson", "outcome.json", "report.md"]
        .map(String::from)
        .into_iter()
        .chain(statements)
        .chain(["verdict.yaml".to_owned()])
        .collect();
    wanted.sort();
    assert_eq!(names, wanted);
    let read = |name: &str| -> Value {
        serde_norway::from_str(&std::fs::read_to_string(kept.join(name)).unwrap()).unwrap()
    };
    let statement = read("round-1-judge-3.yaml");
    assert_eq!((&statement["judge_id"], &statement["stance"]), (&"judge-3".into(), &"against".into()));
    assert_eq!(statement["critical_findings"][0]["blocks_consensus"], true);
    assert_eq!(read("round-3-judge-1.yaml")["is_final"], true);
    assert_eq!(read("verdict.yaml")["verdict_type"], "majority");
}

/// "the weighted rubric (and custom rubrics)"
#[test]
fn a_rubric_of_ones_own_changes_what_is_scored() {
    let home = home();
    home.write("rubric.toml", "[dimensions]\nrisk = 60\ncost = 40\n");
    home.write("own.yaml", "seats:\n  \"*\":\n    position: {overall_score: 4.2, dimension_scores: {risk: 5, cost: 3}, position_statement: Good., key_claims: [], critical_findings: []}\n");
    let args = ["panel", "plan.md", "--rubric", "rubric.toml", "--models", "script/own.yaml", "--json"];
    let document = home.agon(&args).ok().json();
    let verdict = &document["verdict"];
    assert_eq!((&verdict["verdict_type"], &verdict["confidence"]), (&"consensus".into(), &"HIGH".into()));
    assert!((verdict["weighted_score"].as_f64().unwrap() - 4.2).abs() < 1e-9);
    assert_eq!((&verdict["status"], &document["question"]), (&"GREEN".into(), &"Checkout v2: plan".into()));
    assert_eq!(verdict["dimension_consensus"]["risk"]["average"], 5.0);
}

/// "Bad input: ... exit 2, a sentence that names it, no call made."
#[test]
fn bad_input_is_named_and_nobody_is_asked() {
    let home = home();
    home.write("empty.md", "\n");
    home.write("binary.md", [b'a', 0]);
    home.write("large.md", vec![b'x'; (1 << 20) + 1]);
    home.write("ninety.toml", "risk = 50\ncost = 40\n");
    home.write("over.toml", "risk = 60\ncost = 40.1\n");
    home.write("words.yaml", "risk: much\n");
    home.write("broken.yaml", "risk: [\n");
    for (args, wants) in [
        (&["none.md"][..], &["none.md", "no such file"][..]),
        (&["empty.md"], &["empty.md", "it is empty"]),
        (&["binary.md"], &["binary.md", "binary"]),
        (&["large.md"], &["large.md", "longer than"]),
        (&["."], &["folder"]),
        (&[], &["<FILE>"]),
        (&["plan.md", "--rubric", "none.toml"], &["none.toml", "no such file"]),
        (&["plan.md", "--rubric", "ninety.toml"], &["ninety.toml", "100", "90"]),
        (&["plan.md", "--rubric", "over.toml"], &["over.toml", "100"]),
        (&["plan.md", "--rubric", "words.yaml"], &["words.yaml", "risk"]),
        (&["plan.md", "--rubric", "broken.yaml"], &["broken.yaml"]),
        (&["plan.md", "--judges", "4"], &["odd"]),
        (&["plan.md", "--judges", "9"], &["judges", "3 to 7"]),
        (&["plan.md", "--bands", "3,4"], &["bands"]),
        (&["plan.md", "--dimension-range", "-1"], &["dimension_range"]),
        (&["plan.md", "--format", "sarif"], &["--format"]),
    ] {
        refused(&home, wants, || panel(&home, args));
    }
}
