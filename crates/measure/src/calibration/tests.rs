//! "Calibration is Brier against resolved outcomes, kept apart from conformity."

use super::Truth::{Right, Wrong};
use super::*;

fn labels(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

fn near(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a - b).abs() < 1e-12)
}

/// By hand: (0.9 - 1)^2 + (0.6 - 0)^2 + (0.2 - 0)^2 = 0.01 + 0.36 + 0.04 = 0.41, over 3.
#[test]
fn a_brier_score_is_the_mean_of_the_squares() {
    let mut calibration = Calibration::default();
    assert_eq!((calibration.brier(), calibration.error(), calibration.resolved()), (None, None, 0));
    for (confidence, truth) in [(0.9, Right), (0.6, Wrong), (0.2, Wrong)] {
        calibration.add(confidence, truth);
    }
    assert_eq!(calibration.resolved(), 3);
    assert!(near(calibration.brier(), 0.41 / 3.0));
}

/// Who always says one half has 0.25, whatever turns out; who is sure and right has 0, who is sure and wrong has 1.
#[test]
fn the_known_points_of_a_brier_score() {
    for (confidence, truth, brier) in
        [(0.5, Right, 0.25), (0.5, Wrong, 0.25), (1.0, Right, 0.0), (1.0, Wrong, 1.0)]
    {
        let mut calibration = Calibration::default();
        (0..7).for_each(|_| calibration.add(confidence, truth));
        assert!(near(calibration.brier(), brier), "{confidence} {truth:?}");
    }
}

/// "Expected calibration error in 10 bins". By hand: of four at 0.75, three right: no error. Of two at 0.95, one right:
/// 0.45 off. (4 x 0 + 2 x 0.45) / 6 = 0.15.
#[test]
fn an_expected_calibration_error_compares_within_bins() {
    let mut calibration = Calibration::default();
    for (confidence, truth) in
        [(0.75, Right), (0.75, Right), (0.75, Right), (0.75, Wrong), (0.95, Right), (0.95, Wrong)]
    {
        calibration.add(confidence, truth);
    }
    assert!(near(calibration.error(), 0.15), "{:?}", calibration.error());
}

/// Two forecasts offset each other only within a bin: 0.69 and 0.71 are in two, 0.71 and 0.79 in one.
#[test]
fn a_bin_begins_at_its_tenth() {
    let error = |a: f64, b: f64| {
        let mut calibration = Calibration::default();
        calibration.add(a, Right);
        calibration.add(b, Wrong);
        calibration.error()
    };
    assert!(near(error(0.71, 0.79), 0.25));
    assert!(near(error(0.69, 0.71), (0.31 + 0.71) / 2.0));
    assert!(near(error(0.95, 1.0), 0.475), "certainty is in the last bin");
    assert!(near(error(0.0, 0.05), 0.475), "and its contrary in the first");
}

/// "`winner: label`: o = 1 if the label is in the ballot's choice group else 0".
#[test]
fn a_winner_makes_every_ballot_right_or_wrong() {
    let winner = Resolution::Winner("B".into());
    assert_eq!(winner.of_ballot(&labels(&["A", "B"]), false), Some(Right));
    assert_eq!(winner.of_ballot(&labels(&["A", "C"]), true), Some(Wrong));
    assert_eq!(winner.of_decision(&labels(&["A", "B"])), Some(Right));
    assert_eq!(winner.of_decision(&labels(&["A"])), Some(Wrong));
    assert_eq!(winner.of_decision(&[]), None);
    assert_eq!(winner.of_proposal("B", false, Some(Wrong)), Some(Right));
    assert_eq!(winner.of_proposal("A", true, Some(Right)), Some(Right), "it says the same as the winner");
    assert_eq!(winner.of_proposal("A", false, Some(Right)), Some(Wrong));
    assert_eq!(winner.of_proposal("A", true, Some(Wrong)), Some(Wrong));
}

/// "`right` makes ballots for others 0; `wrong` says nothing of the others."
#[test]
fn a_truth_is_about_the_decision() {
    let (right, wrong) = (Resolution::Truth(Right), Resolution::Truth(Wrong));
    let choice = labels(&["A"]);
    assert_eq!((right.of_ballot(&choice, true), wrong.of_ballot(&choice, true)), (Some(Right), Some(Wrong)));
    assert_eq!((right.of_ballot(&choice, false), wrong.of_ballot(&choice, false)), (Some(Wrong), None));
    assert_eq!((right.of_decision(&choice), wrong.of_decision(&choice)), (Some(Right), Some(Wrong)));
    assert_eq!(right.of_proposal("A", true, Some(Right)), Some(Right));
    assert_eq!(wrong.of_proposal("A", false, Some(Wrong)), None);
}

#[test]
fn a_truth_has_a_name() {
    for truth in [Right, Wrong] {
        assert_eq!(Truth::named(truth.name()), Some(truth));
    }
    assert_eq!(Truth::named("maybe"), None);
}
