//! Stage 2S: "each answer is scored 1 to 10 ... by seats other than its author (all of them for N < 4, else 3 drawn by
//! seed), one call per evaluator and answer; per-evaluator z-scores, mean, rank; a factual-error flag of any evaluator
//! caps its score at 5, a fabrication flag of a majority of them disqualifies."

use super::*;

fn standard(models: usize, answer: &dyn Fn(&Ask) -> Value) -> Debate {
    let brief = brief(&vec!["a/x"; models], &[("mode", "standard")]);
    run_brief(brief, &|ask, phase, round| match phase {
        "evaluate" => Some(answer(ask)),
        _ => plain(phase, round, &[], &[]),
    })
    .1
}

fn ranking(debate: &Debate) -> Vec<(String, f64, bool)> {
    let rows = debate.outcome.as_ref().unwrap().verdict["ranking"].as_array().unwrap().clone();
    let read = |row: &Value| {
        (row["debater"].as_str().unwrap().into(), row["score"].as_f64().unwrap(), row["disqualified"] == true)
    };
    rows.iter().map(read).collect()
}

#[test]
fn each_answer_is_scored_by_debaters_other_than_its_author() {
    for (models, each) in [(2, 1), (3, 2), (4, 3), (5, 3), (7, 3)] {
        let debate = standard(models, &|_| evaluation(5.0, false, false));
        let turn = debate.turn("evaluate", 0).unwrap();
        let labels = &debate.outcome.as_ref().unwrap().labels;
        for (label, author) in labels {
            let evaluators: Vec<&str> = turn
                .asks
                .iter()
                .filter(|ask| ask.about.as_ref() == Some(label))
                .map(|ask| ask.seat.as_str())
                .collect();
            assert_eq!(evaluators.len(), each, "{models} debaters");
            assert!(!evaluators.contains(&author.as_str()));
        }
    }
}

#[test]
fn the_ranking_starts_with_the_best_answer() {
    let by_label = |ask: &Ask| match ask.about.as_deref() {
        Some("B") => 9.0,
        Some("A") => 6.0,
        _ => 3.0,
    };
    let rows = ranking(&standard(3, &|ask| evaluation(by_label(ask), false, false)));
    assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["B", "A", "C"]);
    assert!((rows[0].1 - 9.0).abs() < 1e-9);
}

#[test]
fn a_factual_error_flag_of_one_evaluator_caps_the_score_at_5() {
    let rows = ranking(&standard(4, &|ask| {
        let accuser = ask.label.as_deref() == Some("Debater B");
        evaluation(9.0, accuser && ask.about.as_deref() == Some("A"), false)
    }));
    for (label, score, _) in rows {
        assert!((score - if label == "A" { 5.0 } else { 9.0 }).abs() < 1e-9, "{label}: {score}");
    }
}

#[test]
fn the_cap_does_not_raise_a_low_score() {
    let rows = ranking(&standard(3, &|_| evaluation(2.0, true, false)));
    assert!(rows.iter().all(|row| (row.1 - 2.0).abs() < 1e-9));
}

#[test]
fn only_a_majority_disqualifies_for_fabrication() {
    for (accusers, disqualified) in [(&["Debater B"][..], false), (&["Debater B", "Debater C"], true)] {
        let rows = ranking(&standard(4, &|ask| {
            let accused =
                ask.about.as_deref() == Some("A") && accusers.contains(&ask.label.as_deref().unwrap());
            evaluation(if ask.about.as_deref() == Some("A") { 10.0 } else { 4.0 }, false, accused)
        }));
        let row = rows.iter().find(|row| row.0 == "A").unwrap();
        assert_eq!(row.2, disqualified);
        assert_eq!(rows.last().unwrap().0 == "A", disqualified, "a disqualified answer ranks last");
    }
}

/// One of two evaluators is not a majority.
#[test]
fn half_of_the_evaluators_do_not_disqualify() {
    let rows = ranking(&standard(3, &|ask| {
        let accuser = ask.label.as_deref() == Some("Debater B");
        evaluation(6.0, false, accuser && ask.about.as_deref() == Some("A"))
    }));
    assert!(rows.iter().all(|row| !row.2), "{rows:?}");
}

/// Without any usable evaluation there is no ranking.
#[test]
fn a_warning_says_that_there_are_no_evaluations() {
    let brief = brief(&["a/x"], &[("mode", "standard")]);
    let (_, debate) = run_brief(brief, &|_, phase, round| match phase {
        "evaluate" => None,
        _ => plain(phase, round, &[], &[]),
    });
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["ranking"], json!([]));
    assert!(outcome.warnings.iter().any(|warning| warning.contains("not ranked")));
}

/// "What nobody declared ... is `unknown`: never 0": an answer that nobody scored has no z-score and does not rank above others.
#[test]
fn an_answer_that_nobody_scored_is_not_ranked_above_others() {
    let brief = brief(&["a/x"], &[("mode", "standard")]);
    let (_, debate) = run_brief(brief, &|ask, phase, round| match (phase, ask.about.as_deref()) {
        ("evaluate", Some("A")) => None,
        ("evaluate", Some("B")) => Some(evaluation(9.0, false, false)),
        ("evaluate", _) => Some(evaluation(3.0, false, false)),
        _ => plain(phase, round, &[], &[]),
    });
    let rows = debate.outcome.as_ref().unwrap().verdict["ranking"].as_array().unwrap().clone();
    let labels: Vec<&Value> = rows.iter().map(|row| &row["debater"]).collect();
    assert_eq!(labels, ["B", "C", "A"]);
    assert_eq!((&rows[2]["score"], &rows[2]["z"]), (&Value::Null, &Value::Null));
}

/// An evaluator that gives 8 and 6 has a mean of 7 and a deviation of 1, so the z-scores are 1 and -1.
#[test]
fn scores_are_standardized_by_evaluator() {
    let debate = standard(3, &|ask| {
        let first_of_two =
            ask.about.as_deref() == Some(if ask.label.as_deref() == Some("Debater A") { "B" } else { "A" });
        evaluation(if first_of_two { 8.0 } else { 6.0 }, false, false)
    });
    let rows = debate.outcome.as_ref().unwrap().verdict["ranking"].as_array().unwrap().clone();
    let z = |label: &str| rows.iter().find(|row| row["debater"] == label).unwrap()["z"].as_f64().unwrap();
    assert!((z("A") - 1.0).abs() < 1e-9 && z("B").abs() < 1e-9 && (z("C") + 1.0).abs() < 1e-9, "{rows:?}");
}

/// "weights configurable, must sum to 100".
#[test]
fn the_weights_set_the_score() {
    let set = [
        ("mode", "standard"),
        ("weights.accuracy", "100"),
        ("weights.completeness", "0"),
        ("weights.verifiability", "0"),
        ("weights.reasoning", "0"),
        ("weights.clarity", "0"),
        ("weights.usefulness", "0"),
    ];
    let brief = brief(&["a/x"], &set);
    let (_, debate) = run_brief(brief, &|_, phase, round| {
        let mut value = plain(phase, round, &[], &[])?;
        if phase == "evaluate" {
            value["scores"]["accuracy"] = json!(2.0);
        }
        Some(value)
    });
    assert!(ranking(&debate).iter().all(|row| (row.1 - 2.0).abs() < 1e-9));
}
