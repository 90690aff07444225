use crate::independence;
use proptest::prelude::*;

use super::*;
use crate::audit::votes::{VoteOptions, votes};
use crate::audit::{Table, Votes};

fn audited(text: &str) -> Votes {
    votes(&Table::read(text.as_bytes()).unwrap(), &VoteOptions::default()).unwrap()
}

/// "plurality with ties to the best single model, else alphabetical; an empty answer does not vote, counts as wrong, and
/// breaks unanimity": each in a table of its own that can be counted by hand.
#[test]
fn the_rules_of_the_vote() {
    let tie_to_the_best = audited("gold,m,n,o\nA,A,A,A\nB,C,A,B\n");
    let right = tie_to_the_best.right.unwrap();
    assert_eq!((right.best_single_model.as_str(), right.best_single, right.plurality), ("o", 1.0, 1.0));

    // The best, m, is not among those that tie: of B and C the first is taken.
    let alphabetical = "gold,m,n,o,p,q\nA,A,A,A,A,A\nA,A,,,,\nC,A,C,B,C,B\n";
    let right = audited(alphabetical).right.unwrap();
    assert_eq!((right.best_single_model.as_str(), right.plurality), ("m", 2.0 / 3.0));
    let right = audited(&alphabetical.replace("C,A,C,B,C,B", "B,A,C,B,C,B")).right.unwrap();
    assert_eq!(right.plurality, 1.0);

    let empty = audited("gold,m,n\nA,A,\nA,A,A\nB,,\n");
    assert_eq!((empty.unanimous, empty.pairwise_agreement, empty.tied), (1.0 / 3.0, 1.0 / 3.0, 0.0));
    assert_eq!(empty.agreement, [[2.0 / 3.0, 1.0 / 3.0], [1.0 / 3.0, 1.0 / 3.0]]);
    let right = empty.right.unwrap();
    assert_eq!(
        (right.plurality, right.oracle, right.correct_when_unanimous),
        (2.0 / 3.0, 2.0 / 3.0, Some(1.0))
    );
    assert_eq!((right.accuracy["m"], right.accuracy["n"]), (2.0 / 3.0, 1.0 / 3.0));
}

#[test]
fn a_question_that_one_was_not_asked_does_not_count() {
    let found = audited("gold,m,n\nA,A,-\nA,A,B\n,A,A\n");
    assert_eq!((found.questions, found.rows, found.unanimous), (1, 3, 0.0));
    let few = "Only 1 questions: all figures are rough, their intervals too.";
    assert_eq!(found.notes, [few, "Left out for want of a right answer: 1 of 3 rows."]);
    assert_eq!(found.right.unwrap().correct_when_unanimous, None);
}

/// Without right answers: "only agreement figures; say so".
#[test]
fn without_right_answers_only_agreement_is_measured() {
    let found = audited("id,answer,m,n,o\n1,A,A,A,B\n2,A,B,B,B\n3,A,,A,B\n");
    assert_eq!((found.models.len(), found.gold.as_deref(), &found.right), (3, None, &None));
    assert!(found.notes[1].contains("--gold \"answer\""), "{:?}", found.notes);
    assert_eq!((found.unanimous, found.tied, found.pairwise_agreement), (1.0 / 3.0, 1.0 / 3.0, 4.0 / 9.0));
    assert!((found.entropy - (entropy(&[1, 1, 2]) + 1.0) / 3.0).abs() < 1e-12);
    let names: Vec<&str> = found.intervals.keys().map(String::as_str).collect();
    assert_eq!(names, ["entropy", "pairwise_agreement", "tied", "unanimous"]);
    assert_eq!((found.gates[0].stops, found.gates[0].accuracy), (2.0 / 3.0, None));
    let json = serde_json::to_value(&found).unwrap();
    assert!(json.get("plurality").is_none() && json["gold"].is_null());
}

#[test]
fn those_who_are_always_right_leave_no_correlation() {
    let found = audited("gold,m,n\nA,A,A\nB,B,B\n");
    let right = found.right.unwrap();
    assert_eq!((right.mean_rho, right.n_eff, right.gain_p), (None, None, 1.0));
    assert_eq!(right.correlation, [[Some(1.0), None], [None, Some(1.0)]]);
    assert!(!found.intervals.contains_key("mean_rho"));
}

#[test]
fn what_cannot_be_audited_is_refused_with_a_sentence() {
    let refused = |text: &str, options: VoteOptions| {
        votes(&Table::read(text.as_bytes()).unwrap(), &options).unwrap_err().to_string()
    };
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let none = VoteOptions::default;
    let models = |names: &[&str]| VoteOptions { models: list(names), ..none() };
    let gate = |names: &[&str]| VoteOptions { gate: list(names), ..none() };
    let table = "Question_ID,gold,m,n\n1,A,A,B\n";
    for (text, options, sentence) in [
        ("id,gold,m\n1,A,A\n", none(), "only \"m\" to audit, and a vote needs two models"),
        ("id,gold\n1,A\n", none(), "no model to audit"),
        (table, models(&["m"]), "only \"m\""),
        (table, models(&["m", "x"]), "no column \"x\"; it has \"Question_ID\", \"gold\", \"m\", \"n\""),
        (table, models(&["m", "m"]), "\"m\" is named twice"),
        (table, models(&["m", "gold"]), "\"gold\" is the column of the right answers"),
        (table, VoteOptions { gold: Some("right".into()), ..none() }, "no column \"right\""),
        (table, gate(&["m"]), "as in --gate \"m,n\", and not \"m\""),
        (table, gate(&["m", "m"]), "--gate needs two different models"),
        (table, gate(&["m", "x"]), "--gate needs two different models"),
        ("gold,m,n\nA,A,-\nA,-,-\n", none(), "no question that all of these models were asked (\"n\""),
    ] {
        let found = refused(text, options);
        assert!(found.contains(sentence), "{found}");
    }
}

#[test]
fn columns_that_say_which_question_it_is_are_no_models() {
    let found = audited(",Question_ID,Category,SUBSET,gold,m,n,id-like\n0,1,c,s,A,A,B,A\n");
    assert_eq!(found.models, ["m", "n", "id-like"]);
}

fn tables() -> impl Strategy<Value = String> {
    let cell = proptest::sample::select(vec!["A", "B", "C", "D", "", "-"]);
    let row = (proptest::sample::select(vec!["A", "B", "C"]), proptest::collection::vec(cell, 4));
    proptest::collection::vec(row, 1..30).prop_map(|rows| {
        let line = |(gold, cells): (&str, Vec<&str>)| format!("{gold},{}\n", cells.join(","));
        format!("gold,m,n,o,p\n{}A,A,B,C,D\n", rows.into_iter().map(line).collect::<String>())
    })
}

proptest! {
    /// The shortcut by which resamples find the mean correlation is the mean over all pairs.
    #[test]
    fn the_mean_correlation_needs_no_pairs(rights in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 12), 2..6)) {
        // The shortcut leaves out who is in no pair, the mean leaves out each such pair: the same.
        let means: Vec<f64> = rights.iter().map(|rights| mean(rights, &[1; 12])).collect();
        let packed = Packed::of(&rights.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let short = mean_rho(&packed, &means, &[1; 12]);
        let pairs = independence::Independence::of(&rights).mean_rho;
        prop_assert_eq!(short.is_finite(), pairs.is_some());
        prop_assert!(pairs.is_none_or(|pairs| (pairs - short).abs() < 1e-9));
    }

    #[test]
    fn figures_keep_their_bounds_and_do_not_depend_on_threads(table in tables()) {
        let table = Table::read(table.as_bytes()).unwrap();
        let run = |threads| {
            let bootstrap = Bootstrap { resamples: 40, seed: 3 };
            let gate = vec!["m".to_owned(), "o".to_owned()];
            votes(&table, &VoteOptions { bootstrap, gate, threads: Some(threads), ..VoteOptions::default() }).unwrap()
        };
        let found = run(1);
        prop_assert_eq!(&found, &run(3));
        let right = found.right.as_ref().unwrap();
        prop_assert!(right.plurality <= right.oracle && right.best_single <= right.oracle);
        prop_assert!(right.accuracy.values().all(|share| *share <= right.best_single));
        prop_assert!(found.unanimous <= found.pairwise_agreement);
        for gate in &found.gates {
            prop_assert!((2.0..=4.0).contains(&gate.calls) && gate.accuracy.unwrap() <= right.oracle);
        }
        prop_assert!(found.intervals.values().all(|(low, high)| low <= high));
    }
}
