use proptest::prelude::*;

use super::*;

/// Krippendorff's own example: four observers, twelve units, values missing.
fn four_observers() -> Vec<Vec<Option<f64>>> {
    let rows = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."];
    let rows = rows.map(|row| row.chars().collect::<Vec<_>>());
    (0..12).map(|unit| rows.iter().map(|row| row[unit].to_digit(10).map(f64::from)).collect()).collect()
}

#[test]
fn alpha_of_krippendorffs_four_observers_as_he_published_it() {
    let units = four_observers();
    let found = [Level::Nominal, Level::Ordinal, Level::Interval]
        .map(|level| format!("{:.3}", alpha(&units, level).unwrap()));
    assert_eq!(found, ["0.743", "0.815", "0.849"]);
}

/// Krippendorff (2011), section A: two observers, ten units, two values.
#[test]
fn alpha_of_two_observers_and_two_values() {
    let (a, b) = ([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]);
    let units: Vec<_> = a.iter().zip(b).map(|(a, b)| vec![Some(f64::from(*a)), Some(f64::from(b))]).collect();
    assert_eq!(format!("{:.3}", alpha(&units, Level::Nominal).unwrap()), "0.095");
}

#[test]
fn alpha_says_nothing_where_nothing_varies_or_nobody_is_paired() {
    assert_eq!(alpha(&[], Level::Nominal), None);
    assert_eq!(alpha(&[vec![Some(1.0), Some(1.0)], vec![Some(1.0), None]], Level::Interval), None);
    assert_eq!(alpha(&[vec![Some(1.0), None], vec![Some(2.0)]], Level::Nominal), None);
    let unpaired = [vec![Some(1.0), Some(1.0)], vec![Some(2.0), None]];
    assert_eq!(alpha(&unpaired, Level::Ordinal), None, "a value that nobody else could share");
}

/// Siegel (1956), chapter 9: three executives and six applicants, W = .16; and three rankings of ten with ties, W = .828.
#[test]
fn w_of_the_textbook_with_and_without_ties() {
    let executives =
        [vec![1., 6., 3., 2., 5., 4.], vec![1., 5., 6., 4., 2., 3.], vec![6., 3., 2., 5., 4., 1.]];
    assert_eq!(format!("{:.3}", kendall_w(&executives).unwrap()), "0.162");
    let tied = [
        vec![1., 4.5, 2., 4.5, 3., 7.5, 6., 9., 7.5, 10.],
        vec![2.5, 1., 2.5, 4.5, 4.5, 8., 9., 6.5, 10., 6.5],
        vec![2., 1., 4.5, 4.5, 4.5, 4.5, 8., 8., 8., 10.],
    ];
    assert_eq!(format!("{:.3}", kendall_w(&tied).unwrap()), "0.828");
}

#[test]
fn w_says_nothing_where_there_is_no_order() {
    for rankings in [vec![], vec![vec![1.0, 2.0]], vec![vec![1.0], vec![1.0]], vec![vec![3.0; 4]; 2]] {
        assert_eq!(kendall_w(&rankings), None, "{rankings:?}");
    }
    assert_eq!(kendall_w(&[vec![1.0, 2.0], vec![1.0, 2.0, 3.0]]), None);
    assert_eq!(kendall_w(&[vec![1.0, 2.0, 3.0], vec![3.0, 2.0, 1.0]]), Some(0.0));
}

#[test]
fn pairs_and_bits() {
    assert_eq!((pairwise(&["a", "a", "b"]), pairwise(&["a"])), (Some(1.0 / 3.0), None));
    assert_eq!((entropy(&["a", "b"]), entropy(&["a", "a"]), entropy::<u8>(&[])), (1.0, 0.0, 0.0));
    assert!((entropy(&[1, 1, 1, 2]) - 0.811_278_124_459_132_8).abs() < 1e-12);
    assert!((entropy(&[1, 2, 3, 4, 5]) - 5_f64.log2()).abs() < 1e-12);
}

fn units() -> impl Strategy<Value = Vec<Vec<Option<f64>>>> {
    let value = proptest::option::of((1_u8..6).prop_map(f64::from));
    proptest::collection::vec(proptest::collection::vec(value, 4), 1..20)
}

const LEVELS: [Level; 3] = [Level::Nominal, Level::Ordinal, Level::Interval];

fn same(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one == other,
    }
}

proptest! {
    #[test]
    fn alpha_does_not_depend_on_who_judged_or_in_which_order(mut units in units()) {
        let before = LEVELS.map(|level| alpha(&units, level));
        units.reverse();
        units.iter_mut().for_each(|unit| unit.rotate_left(1));
        for (level, before) in LEVELS.into_iter().zip(before) {
            prop_assert!(same(alpha(&units, level), before));
            prop_assert!(before.is_none_or(|alpha| alpha <= 1.0 + 1e-12));
        }
    }

    #[test]
    fn alpha_of_scores_does_not_depend_on_their_scale_and_of_grades_only_on_their_order(units in units()) {
        let moved = |change: fn(f64) -> f64| -> Vec<Vec<Option<f64>>> {
            units.iter().map(|unit| unit.iter().map(|value| value.map(change)).collect()).collect()
        };
        prop_assert!(same(alpha(&moved(|v| 3.0 * v - 7.0), Level::Interval), alpha(&units, Level::Interval)));
        prop_assert!(same(alpha(&moved(|v| v.powi(3)), Level::Ordinal), alpha(&units, Level::Ordinal)));
        prop_assert!(same(alpha(&moved(|v| (v * 7.0) % 11.0), Level::Nominal), alpha(&units, Level::Nominal)));
    }

    #[test]
    fn alpha_is_one_when_all_say_the_same(values in proptest::collection::vec(1_u8..6, 2..20)) {
        prop_assume!(values.iter().any(|value| *value != values[0]));
        let units: Vec<_> = values.iter().map(|value| vec![Some(f64::from(*value)); 3]).collect();
        for level in LEVELS {
            prop_assert_eq!(alpha(&units, level), Some(1.0));
        }
    }

    #[test]
    fn w_is_a_share_and_is_one_for_equal_rankings(
        mut rankings in proptest::collection::vec(proptest::collection::vec((0_u8..9).prop_map(f64::from), 5), 2..6)
    ) {
        if let Some(w) = kendall_w(&rankings) {
            prop_assert!((0.0..=1.0).contains(&w));
            let turned: Vec<Vec<f64>> = rankings.iter().map(|r| r.iter().map(|v| -v * 2.0).collect()).collect();
            prop_assert!(same(kendall_w(&turned), Some(w)), "the other direction is the same order");
        }
        let first = rankings[0].clone();
        rankings.fill(first);
        prop_assert!(kendall_w(&rankings).is_none_or(|w| (w - 1.0).abs() < 1e-9));
    }

    #[test]
    fn entropy_is_bounded_and_zero_just_where_all_agree(positions in proptest::collection::vec(0_u8..6, 1..30)) {
        let bits = entropy(&positions);
        prop_assert!(bits >= 0.0 && bits <= 6_f64.log2() + 1e-9);
        prop_assert_eq!(bits < 1e-12, positions.iter().all(|position| *position == positions[0]));
        if let Some(share) = pairwise(&positions) {
            prop_assert!((0.0..=1.0).contains(&share));
            prop_assert_eq!(share == 1.0, bits < 1e-12);
        }
    }
}
