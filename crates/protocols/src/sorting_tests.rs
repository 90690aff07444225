use super::*;
use crate::testing;

const TEXTS: [&str; 4] = [
    "Use Postgres only. Redis adds a moving part.",
    "Postgres alone is enough; drop Redis.",
    "Keep Redis for the queue.",
    "\u{53ea}\u{7528} Postgres\u{ff0c}\u{4e0d}\u{8981} Redis\u{3002}",
];

fn group(statement: &str, members: &[(&str, &str)]) -> DeclaredGroup {
    let member = |(label, quote): &(&str, &str)| ((*label).to_owned(), (*quote).to_owned());
    DeclaredGroup { statement: statement.into(), members: members.iter().map(member).collect() }
}

fn sorted(declared: Option<&[DeclaredGroup]>, texts: &[&str], same: &[(usize, usize)]) -> Sorting {
    let brief = testing::plain_brief();
    let labelled = ["A", "B", "C", "D"].into_iter().zip(texts);
    let labelled: Vec<LabelledText<'_>> =
        labelled.map(|(label, text)| LabelledText { label, text }).collect();
    Sorting::verify(declared, &labelled, same, &QuotedTexts::anonymous(&brief))
}

fn members(sorting: &Sorting) -> Vec<(Vec<usize>, bool)> {
    sorting.groups.iter().map(|group| (group.members.clone(), group.is_unsorted)).collect()
}

#[test]
fn a_partition_with_quotes_that_occur_is_the_sorting() {
    let declared = [
        group(
            "Postgres only",
            &[("Debater A", "Postgres only"), ("B", "drop redis"), ("D", "\u{53ea}\u{7528} Postgres")],
        ),
        group("Keep Redis", &[("C", "Keep Redis")]),
    ];
    let sorting = sorted(Some(&declared), &TEXTS, &[]);
    assert_eq!(members(&sorting), [(vec![0, 1, 3], false), (vec![2], false)]);
    assert_eq!((sorting.fault(), sorting.is_complete()), (None, true));
    assert_eq!(sorting.groups[0].statement.as_deref(), Some("Postgres only"));
}

/// "The part that does not verify is dropped, the rest counts." "What was dropped is unknown."
#[test]
fn what_does_not_verify_is_dropped_and_said() {
    let good = [("A", "Postgres only"), ("B", "drop Redis"), ("C", "Keep Redis"), ("D", "Redis")];
    for (changed, fault) in [
        (("B", "Postgres with Redis"), "(quote the exact words, in the language of the original)"),
        (("B", ""), "does not occur"),
        (("B", "Keep Redis for the queue"), "does not occur"),
        (("E", "drop Redis"), "no \"E\""),
    ] {
        let declared =
            [group("Postgres only", &[good[0], changed, good[3]]), group("Keep Redis", &[good[2]])];
        let sorting = sorted(Some(&declared), &TEXTS, &[]);
        assert_eq!(
            members(&sorting),
            [(vec![0, 3], false), (vec![1], true), (vec![2], false)],
            "{changed:?}"
        );
        assert!(sorting.fault().unwrap().contains(fault), "{:?}", sorting.faults);
        assert!(!sorting.is_complete(), "one text is not placed");
    }
}

#[test]
fn a_text_in_two_groups_or_in_none_is_unsorted() {
    let all = |second: &[(&str, &str)]| {
        let declared = [group("P", &[("A", "Postgres"), ("B", "Postgres")]), group("R", second)];
        members(&sorted(Some(&declared), &TEXTS[..3], &[]))
    };
    assert_eq!(all(&[("C", "Redis"), ("B", "Redis")]), [(vec![0], false), (vec![1], true), (vec![2], false)]);
    assert_eq!(all(&[]), [(vec![0, 1], false), (vec![2], true)]);
}

#[test]
fn without_a_declaration_only_equal_texts_are_one() {
    let sorting = sorted(None, &["Use Go", "use  GO", "Never use Go"], &[]);
    assert_eq!(members(&sorting), [(vec![0, 1], true), (vec![2], true)]);
    assert_eq!((sorting.is_complete(), sorting.fault()), (false, None));
    let equal = sorted(None, &["Use Go", "use  GO"], &[]);
    assert!(equal.is_complete());
}

/// "Equality makes two texts one", and what a holder declares about its own position outranks what anybody else says.
#[test]
fn equal_texts_and_own_declarations_outrank_the_sorting() {
    let apart =
        [group("P", &[("A", "Postgres")]), group("Q", &[("B", "Postgres")]), group("R", &[("C", "Redis")])];
    let sorting = sorted(Some(&apart), &TEXTS[..3], &[(1, 0)]);
    assert_eq!(members(&sorting), [(vec![0, 1], false), (vec![2], false)]);
    let equal = ["Postgres it is", "postgres it is", "Redis"];
    assert_eq!(members(&sorted(Some(&apart), &equal, &[])), [(vec![0, 1], false), (vec![2], false)]);
}

#[test]
fn a_position_keeps_its_name_while_a_holder_keeps_it() {
    let mut names = PositionNames::default();
    let first = [
        group("Postgres only", &[("A", "Postgres"), ("B", "Postgres")]),
        group("Keep Redis", &[("C", "Redis")]),
    ];
    let first = sorted(Some(&first), &TEXTS[..3], &[]);
    let held = names.next_round(&first, &TEXTS[..3], &[]);
    assert_eq!(
        held.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["Postgres only", "Postgres only", "Keep Redis"]
    );
    // C joins the others in other words. Nobody sorts: only what changed is unknown.
    let texts = [TEXTS[0], TEXTS[1], "You are right, Postgres."];
    let held = names.next_round(&sorted(None, &texts, &[]), &texts, &[true, true, false]);
    assert_eq!(
        held,
        [("Postgres only".into(), false), ("Postgres only".into(), false), (texts[2].into(), true)]
    );
    // The next round is sorted again, under another statement. The holders have not changed, so the name has not either.
    let again = [group("One database", &[("A", "Postgres"), ("B", "Postgres"), ("C", "Postgres")])];
    let held = names.next_round(&sorted(Some(&again), &texts, &[]), &texts, &[true, true, true]);
    assert!(held.iter().all(|(name, unsorted)| name == "Postgres only" && !unsorted), "{held:?}");
}

#[test]
fn a_position_that_comes_back_has_its_old_name() {
    let mut names = PositionNames::default();
    let round = |names: &mut PositionNames, statements: [&str; 2], keeps: &[bool]| {
        let groups = [group(statements[0], &[("A", "Postgres")]), group(statements[1], &[("B", "Postgres")])];
        let held = names.next_round(&sorted(Some(&groups), &TEXTS[..2], &[]), &TEXTS[..2], keeps);
        held.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(round(&mut names, ["Yes", "No"], &[]), ["Yes", "No"]);
    assert_eq!(round(&mut names, ["Perhaps", "No"], &[false, true]), ["Perhaps", "No"]);
    assert_eq!(round(&mut names, ["yes", "No"], &[false, true]), ["Yes", "No"]);
    assert_eq!(
        round(&mut names, ["No", "no"], &[false, false]),
        ["No", "No (2)"],
        "two groups are two positions"
    );
}
