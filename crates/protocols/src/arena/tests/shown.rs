//! What a reader sees while a debate runs and afterwards.

use super::*;

fn summary_titles(summaries: &[RoundSummary]) -> Vec<&str> {
    summaries.iter().map(|summary| summary.title.as_str()).collect()
}

#[test]
fn every_check_vote_and_judgement_has_a_summary() {
    let debate = ScriptedArena { votes: &|_| vec![1, 1, 0], ..ScriptedArena::default() }.run();
    let shown = Arena.view(&debate).unwrap().round_summaries;
    let titles = summary_titles(&shown);
    let first = label(&debate.brief, 1);
    assert_eq!(titles.len(), 6, "{titles:?}");
    assert_eq!(titles[0], "Round 3: how alike: at least 0.20, 0.20 on average, not converged");
    assert_eq!(titles[4], format!("Round 7: the vote: majority for {first} (2 of 2)"));
    assert_eq!(titles[5], format!("Round 8: the judge: {first} is best, 2.0 ahead"));
    for summary in &shown {
        assert_eq!(summary.rows.len(), 4);
        assert!(summary.rows.iter().all(|row| row.len() == summary.rows[0].len()));
        let phase = &debate.turns[summary.after_phases - 1].phase;
        assert!(["compare", "vote", "judge"].contains(&phase.name.as_str()));
        assert!(summary.title.starts_with(&format!("Round {}:", phase.round)));
    }
    assert!(shown[4].rows[1][1].ends_with("(own)") && shown[4].rows[3][1] == "abstain");
}

#[test]
fn a_phase_that_is_not_complete_has_no_summary() {
    let table = ScriptedArena::default();
    let brief = table.brief();
    let answer = |ask: &Ask, phase: &str, round: u32| Some(table.said(&brief, ask, phase, round));
    let records = testing::run(&Arena, table.brief(), &answer).0;
    let mut seen = 0;
    for end in 1..=records.len() {
        let debate = Debate::from_records(&records[..end]).unwrap();
        let summaries = Arena.view(&debate).unwrap().round_summaries.len();
        assert!(summaries >= seen, "summaries stay");
        if debate.outstanding().next().is_some() {
            assert_eq!(summaries, seen);
        }
        seen = summaries;
    }
    assert_eq!(seen, 6);
}

#[test]
fn summaries_show_no_figure_for_what_is_not_known() {
    let absent = |_: &Ask, phase: &str, _: u32| ["compare", "judge"].contains(&phase);
    let summaries = |table: ScriptedArena<'_>| Arena.view(&table.run()).unwrap().round_summaries;
    let shown = summaries(ScriptedArena { absent: &absent, ..ScriptedArena::default() });
    assert_eq!(summary_titles(&shown)[0], "Round 3: how alike: not measured, not converged");
    assert_eq!(summary_titles(&shown)[5], "Round 8: the judge was absent");
    let few = summaries(ScriptedArena { votes: &|_| vec![1, 0, 0], ..ScriptedArena::default() });
    assert_eq!(
        few.last().unwrap().title,
        "Round 7: the vote: no quorum: 1 of 3 agents voted for a proposal, 2 abstained"
    );
}

fn unmet(debate: &Debate) -> Vec<String> {
    quality_checks(debate)
        .into_iter()
        .filter(|check| check.met == Some(false))
        .map(|check| check.sentence)
        .collect()
}

/// The seed's mechanisms as checks: a good debate meets all, and each can fail.
#[test]
fn a_good_debate_meets_every_mechanism_of_the_seed() {
    let debate = ScriptedArena { set: &[], ..ScriptedArena::default() }.run();
    let checks = quality_checks(&debate);
    assert_eq!(checks.len(), 11);
    assert_eq!(unmet(&debate), Vec::<String>::new());
    let asks = debate.asks();
    for check in &checks {
        assert!(!check.sentence.is_empty() && !check.note.is_empty());
        assert!(check.shown_by.iter().all(|ask| (1..=asks).contains(ask)));
        assert!(check.met.is_none() || !check.shown_by.is_empty(), "{}", check.sentence);
    }
    let early = ScriptedArena { alike: &|_| 0.9, ..ScriptedArena::default() }.run();
    assert!(unmet(&early).is_empty());
    let met: Vec<Option<bool>> = quality_checks(&early).into_iter().map(|check| check.met).collect();
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
        let table = ScriptedArena { set: &[], absent: &|_, phase, _| phase == absent, ..ScriptedArena::default() };
        let missed = unmet(&table.run());
        assert!(missed.iter().any(|sentence| sentence.starts_with(words)), "{absent}: {missed:?}");
    }
    let limits = agon_core::DebateLimits { calls: Some(12), ..Default::default() };
    let table = ScriptedArena::default();
    let cut = table.run_brief(Brief { limits, ..table.brief() });
    assert_eq!(unmet(&cut).len(), 3, "no critique, no revision, no refinement: {:?}", unmet(&cut));
}

/// Every field of the verdict is there however the debate ends.
#[test]
fn the_verdict_has_every_field_however_it_ends() {
    let nobody = |_: &Ask, _: &str, _: u32| true;
    let no_judge = |_: &Ask, phase: &str, _: u32| phase == "judge";
    for outcome in [
        ScriptedArena::default().outcome(),
        ScriptedArena { absent: &nobody, ..ScriptedArena::default() }.outcome(),
        ScriptedArena { absent: &no_judge, ..ScriptedArena::default() }.outcome(),
        ScriptedArena { votes: &|_| vec![0; 3], ..ScriptedArena::default() }.outcome(),
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
