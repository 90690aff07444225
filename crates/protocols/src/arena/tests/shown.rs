//! What a person sees while it runs and afterwards: tables as phases end, checks over the log.

use super::*;

/// The tables of a debate, in order.
fn tables(table: Table<'_>) -> Vec<Summary> {
    let (brief, seen) = (table.brief(), std::cell::RefCell::new(Vec::new()));
    let answer = |ask: &Ask, phase: &str, round: u32| {
        (!(table.absent)(ask, phase, round)).then(|| table.said(&brief, ask, phase, round))
    };
    let records = testing::run(&Arena, table.brief(), &answer).0;
    for end in 1..=records.len() {
        let debate = Debate::from_records(&records[..end]).unwrap();
        if debate.outcome.is_none() && !debate.turns.is_empty() && debate.outstanding().next().is_none() {
            seen.borrow_mut().extend(Arena.summary(&debate));
        }
    }
    seen.into_inner()
}

#[test]
fn a_table_is_shown_after_each_check_vote_and_judge() {
    let shown = tables(Table { votes: &|_| vec![1, 1, 0], ..Table::default() });
    let titles: Vec<&str> = shown.iter().map(|table| table.title.as_str()).collect();
    let first = label(&Table::default().brief(), 1);
    assert_eq!(titles[0], "Round 3: how alike: at least 0.20, 0.20 on average, not converged");
    assert_eq!(titles.len(), 6, "{titles:?}");
    assert_eq!(titles[4], format!("Round 7: the vote: majority for {first} (2 of 2)"));
    assert_eq!(titles[5], format!("Round 8: the judge: {first} is best, 2.0 ahead"));
    for table in &shown {
        assert_eq!(table.rows.len(), 4);
        assert!(table.rows.iter().all(|row| row.len() == table.rows[0].len()));
    }
    assert!(shown[4].rows[1][1].ends_with("(own)") && shown[4].rows[3][1] == "abstain");
}

/// What is not known is not shown as a figure.
#[test]
fn tables_say_what_is_not_known() {
    let absent = |_: &Ask, phase: &str, _: u32| ["compare", "judge"].contains(&phase);
    let titles: Vec<String> =
        tables(Table { absent: &absent, ..Table::default() }).into_iter().map(|table| table.title).collect();
    assert_eq!(titles[0], "Round 3: how alike: not measured, not converged");
    assert_eq!(titles[5], "Round 8: the judge was absent");
    let few = tables(Table { votes: &|_| vec![1, 0, 0], ..Table::default() });
    assert_eq!(
        few.last().unwrap().title,
        "Round 7: the vote: no quorum: 1 of 3 agents voted for a proposal, 2 abstained"
    );
    assert!(Arena.summary(&Debate::open(Table::default().brief()).unwrap().0).is_none());
}

fn unmet(debate: &Debate) -> Vec<String> {
    Arena
        .checks(debate)
        .into_iter()
        .filter(|check| check.met == Some(false))
        .map(|check| check.sentence)
        .collect()
}

/// The seed's mechanisms as checks: a good debate meets all, and each can fail.
#[test]
fn a_good_debate_meets_every_mechanism_of_the_seed() {
    let debate = Table { set: &[], ..Table::default() }.run();
    let checks = Arena.checks(&debate);
    assert_eq!(checks.len(), 11);
    assert_eq!(unmet(&debate), Vec::<String>::new());
    let asks = debate.asks();
    for check in &checks {
        assert!(!check.sentence.is_empty() && !check.note.is_empty());
        assert!(check.shown_by.iter().all(|ask| (1..=asks).contains(ask)));
        assert!(check.met.is_none() || !check.shown_by.is_empty(), "{}", check.sentence);
    }
    let early = Table { alike: &|_| 0.9, ..Table::default() }.run();
    assert!(unmet(&early).is_empty());
    let met: Vec<Option<bool>> = Arena.checks(&early).into_iter().map(|check| check.met).collect();
    assert_eq!(
        (met[0], met[4], met[5]),
        (None, Some(true), None),
        "no context, short-circuit, no refinement"
    );
}

#[test]
fn a_bad_debate_is_told_what_it_misses() {
    for (absent, words) in [
        ("context", "Round 0"),
        ("critique", "Round 2"),
        ("compare", "Rounds 3 to 5"),
        ("refine", "Round 6"),
        ("vote", "Round 7"),
        ("judge", "Round 8"),
    ] {
        let table = Table { set: &[], absent: &|_, phase, _| phase == absent, ..Table::default() };
        let missed = unmet(&table.run());
        assert!(missed.iter().any(|sentence| sentence.starts_with(words)), "{absent}: {missed:?}");
    }
    let limits = agon_core::Limits { calls: Some(12), ..Default::default() };
    let table = Table::default();
    let cut = table.run_brief(Brief { limits, ..table.brief() });
    assert_eq!(unmet(&cut).len(), 3, "no critique, no revision, no refinement: {:?}", unmet(&cut));
}

/// Every field of the verdict is there however the debate ends.
#[test]
fn the_verdict_has_every_field_however_it_ends() {
    let nobody = |_: &Ask, _: &str, _: u32| true;
    let no_judge = |_: &Ask, phase: &str, _: u32| phase == "judge";
    for outcome in [
        Table::default().outcome(),
        Table { absent: &nobody, ..Table::default() }.outcome(),
        Table { absent: &no_judge, ..Table::default() }.outcome(),
        Table { votes: &|_| vec![0; 3], ..Table::default() }.outcome(),
    ] {
        let verdict = outcome.verdict.as_object().unwrap();
        for field in [
            "winner",
            "winner_seat",
            "answer",
            "position",
            "decided_by",
            "consensus",
            "votes",
            "tally",
            "judge",
            "convergence",
            "extended_rounds",
            "early_consensus",
            "ratings",
            "trickster",
            "rhetoric",
            "context",
            "team",
            "proposals",
            "critiques",
            "rounds",
        ] {
            assert!(verdict.contains_key(field), "{field}");
        }
        for field in ["kind", "reached", "share", "cast", "agents", "hollow"] {
            assert!(verdict["consensus"].get(field).is_some(), "{field}");
        }
    }
}

/// What a person reads before choosing: `explore` is a share on average, and the embeddings are those in use.
#[test]
fn the_help_says_what_holds() {
    let help = |key: &str| Arena.options().iter().find(|opt| opt.key == key).unwrap().help;
    assert!(help("embeddings").contains("by default the ones in use here (agon doctor says which)"));
    assert!(help("explore").contains("one more with the probability of the rest; 0 draws nobody, 1 all"));
}
