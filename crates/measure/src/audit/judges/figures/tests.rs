use proptest::prelude::*;

use crate::audit::judges::{Judge, JudgeOptions, Judges, judges};
use crate::audit::{Bootstrap, Table, Trouble};

fn tried(text: &str, options: &JudgeOptions) -> Result<Judges, Trouble> {
    judges(&Table::read(text.as_bytes()).unwrap(), options)
}

fn audited(text: &str) -> Judges {
    tried(text, &JudgeOptions::default()).unwrap()
}

fn only(text: &str) -> Judge {
    audited(text).all.judges.remove(0)
}

/// The table in the module's documentation, cell by cell.
#[test]
fn how_each_kind_of_ruling_counts() {
    let consistency = |first: &str, second: &str| {
        only(&format!("gold,J_ab,J_ba\n1,{first},{second}\n2,1,2\n")).order_consistency
    };
    assert_eq!(consistency("1", "1"), Some(0.5));
    assert_eq!(consistency("None", "tie"), Some(0.5), "two rulings for neither are the same");
    assert_eq!(consistency("None", "1"), Some(0.0));
    assert_eq!(consistency("", ""), Some(0.0), "no ruling agrees with nothing");
    let apart = only("gold,J_ab,J_ba\n1,-,1\n2,2,2\n1,None,\n");
    assert_eq!((apart.items, apart.order_consistency, apart.neither, apart.missing), (2, Some(0.5), 1, 1));
    let accuracy = apart.accuracy.unwrap();
    assert_eq!((accuracy.first_order, accuracy.second_order, accuracy.both), (0.5, 0.5, 0.5));
}

#[test]
fn a_judge_that_always_takes_what_is_shown_first_has_a_bias_of_one() {
    let found = only("gold,J_ab,J_ba\n1,1,2\n2,1,2\n1,1,2\n");
    assert_eq!((found.position_bias, found.order_consistency), (Some(1.0), Some(0.0)));
    assert_eq!(found.accuracy.unwrap().both, 0.0);
    let last = only("gold,J_ab,J_ba\n1,2,1\n2,2,1\n");
    assert_eq!(last.position_bias, Some(-1.0));
    let fair = only("gold,J_ab,J_ba\n1,2,2\n2,1,1\n");
    assert_eq!((fair.position_bias, fair.order_consistency), (Some(0.0), Some(1.0)));
}

#[test]
fn answers_may_have_any_two_names() {
    let numbers = "gold,J_ab,J_ba\n1,1,2\n2,2,2\n";
    let found = audited(numbers);
    for (first, second) in [("A", "B"), ("a", "B"), ("alpha", "beta")] {
        let named: Vec<String> =
            numbers.lines().skip(1).map(|l| l.replace('1', first).replace('2', second)).collect();
        assert_eq!(audited(&format!("gold,J_ab,J_ba\n{}\n", named.join("\n"))), found);
    }
    assert_eq!(only("J_ab,J_ba\nB,B\n").position_bias, Some(0.0));
}

#[test]
fn judges_that_say_the_same_are_one_voice() {
    let found = audited("gold,J_ab,J_ba,K_ab,K_ba\n1,1,2,1,2\n2,2,2,2,2\n1,2,2,2,2\n").all;
    assert_eq!((found.alpha, found.mean_rho, found.n_eff), (Some(1.0), Some(1.0), Some(1.0)));
    assert_eq!(found.correlation, vec![vec![Some(1.0); 2]; 2]);
    assert_eq!(found.agreement, vec![vec![Some(1.0); 2]; 2]);
}

#[test]
fn without_gold_only_order_and_agreement_are_measured() {
    let found = audited("J_ab,J_ba,K_ab,K_ba\n1,2,1,1\n2,2,2,2\n");
    assert_eq!((found.gold, found.all.mean_rho, found.all.judges[0].accuracy), (None, None, None));
    assert!(
        found.all.alpha.is_some() && found.all.correlation.is_empty() && found.notes[1].contains("--gold")
    );
    assert_eq!(
        found.all.judges[0].intervals.keys().collect::<Vec<_>>(),
        ["order_consistency", "position_bias"]
    );
}

#[test]
fn subsets_keep_their_order_and_what_has_no_gold_is_left_out() {
    let found = audited("subset,gold,J_ab,J_ba\nz,1,1,1\na,1,1,2\nz,2,2,2\na,,1,1\n");
    let seen: Vec<_> = found.subsets.iter().map(|s| (s.subset.as_str(), s.rulings.items)).collect();
    assert_eq!((seen, found.all.items), (vec![("z", 2), ("a", 1)], 3));
    assert_eq!(found.notes[1..], ["Left out for want of a better answer: 1 of 4 rows."]);
}

#[test]
fn other_endings_can_be_told() {
    let options =
        JudgeOptions { first_suffix: ".1".into(), second_suffix: ".2".into(), ..JudgeOptions::default() };
    let found = tried("gold,J.1,J.2\n1,1,2\n", &options).unwrap();
    assert_eq!(found.all.judges[0].judge, "J");
}

#[test]
fn what_cannot_be_audited_is_refused_with_a_sentence() {
    let none = JudgeOptions::default;
    for (text, options, sentence) in [
        ("gold,J\n1,1\n", none(), "has no judges: each has two columns, NAME_ab"),
        ("gold,J_ab\n1,1\n", none(), "has a column \"J_ab\" and none named \"J_ba\""),
        ("gold,J_ba\n1,1\n", none(), "has a column \"J_ba\" and none named \"J_ab\""),
        ("gold,J_ab,J_ba\n1,2,oops\n", none(), "more than two answers: \"1\", \"2\", \"oops\""),
        ("gold,J_ab,J_ba\nx,x,x\n", none(), "no two answers to rule between, only \"x\""),
        ("gold,J_ab,J_ba,K_ab,K_ba\n1,2,1,-,1\n", none(), "no item that \"K\" was asked in both orders"),
        ("J_ab,J_ba\n1,2\n", JudgeOptions { gold: Some("g".into()), ..none() }, "no column \"g\""),
        ("J_ab,J_ba\n1,2\n", JudgeOptions { subset: Some("s".into()), ..none() }, "no column \"s\""),
        ("J_ab,J_ba\n1,2\n", JudgeOptions { first_suffix: "_ba".into(), ..none() }, "two different endings"),
    ] {
        let found = tried(text, &options).unwrap_err().to_string();
        assert!(found.contains(sentence), "{found}");
    }
}

proptest! {
    #[test]
    fn figures_keep_their_bounds_and_do_not_depend_on_threads(
        rows in proptest::collection::vec(proptest::collection::vec(proptest::sample::select(vec!["1", "2", "None", "", "-"]), 6), 1..25)
    ) {
        let lines: String = rows.iter().map(|row| format!("1,{}\n", row.join(","))).collect();
        let table = format!("gold,J_ab,J_ba,K_ab,K_ba,L_ab,L_ba\n{lines}2,1,2,1,1,2,1\n");
        let run = |threads| {
            let bootstrap = Bootstrap { resamples: 30, seed: 3 };
            tried(&table, &JudgeOptions { bootstrap, threads: Some(threads), ..JudgeOptions::default() }).unwrap()
        };
        let found = run(1);
        prop_assert_eq!(&found, &run(3));
        for judge in &found.all.judges {
            let (consistency, bias) = (judge.order_consistency.unwrap(), judge.position_bias.unwrap());
            prop_assert!((0.0..=1.0).contains(&consistency) && bias.abs() <= 1.0 - consistency + 1e-9);
            let accuracy = judge.accuracy.unwrap();
            prop_assert!(accuracy.both <= accuracy.first_order.min(accuracy.second_order) + 1e-12);
        }
    }
}
