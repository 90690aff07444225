//! "`--never-worse` keeps the plain first-round vote unless the debate's change is backed by evidenced flips."

use super::*;

const NEVER_WORSE: &[(&str, &str)] = &[("never_worse", "true")];
/// One of the three seats that answered 8 changes to 2, and the chair's answer is 2.
const BARE: &[ChangedMind<'_>] =
    &[ChangedMind { place: 2, to: "2", words: "I take two workers now.", is_evidenced: false }];
const EVIDENCED: &[ChangedMind<'_>] =
    &[ChangedMind { place: 2, to: "2", words: "I take two workers now.", is_evidenced: true }];

fn script<'a>(changes: &'a [ChangedMind<'a>]) -> LadderScript<'a> {
    LadderScript { firsts: &["2", "8", "8", "8"], changes, agreement: 0.9, ..SCRIPT }
}

#[test]
fn bare_flips_keep_the_vote_and_evidenced_ones_beat_it() {
    for (changes, set, decided_by, kept) in [
        (BARE, NEVER_WORSE, "first_round_vote", json!(true)),
        (EVIDENCED, NEVER_WORSE, "panel", json!(false)),
        (BARE, &[], "panel", Value::Null),
    ] {
        let debate = script(changes).run(set);
        let verdict = &outcome(&debate).verdict;
        assert_eq!(verdict["decided_by"], decided_by, "{verdict}");
        assert_eq!(verdict["never_worse"].get("kept").cloned().unwrap_or_default(), kept);
        if kept == json!(true) {
            assert_eq!((&verdict["answer"], &verdict["position"]), (&json!("8"), &json!("8")));
            assert_eq!(
                (&verdict["never_worse"]["vote"], &verdict["never_worse"]["debate"]),
                (&json!("8"), &json!("2"))
            );
            assert_eq!(Ask.view(&debate).unwrap().positions.decided.name(), Some("8"));
            let fates: Vec<Fate> = outcome(&debate).positions.iter().map(|position| position.fate).collect();
            assert_eq!(
                fates,
                [Fate::Minority, Fate::Adopted, Fate::Refuted, Fate::Adopted],
                "of the three seats that voted for it, one left it"
            );
        }
    }
}

/// If the vote is kept whatever the judges say, no judge is asked.
#[test]
fn a_vote_that_is_kept_needs_no_panel() {
    let undecided = LadderScript { agreement: 0.2, ..script(BARE) };
    let has_panel = |set| phases(&undecided.run(set)).iter().any(|phase| phase.starts_with("panel/"));
    assert!(has_panel(&[]) && !has_panel(NEVER_WORSE));
}

/// "A tied vote (no plurality) cannot be kept: say so."
#[test]
fn a_tied_vote_is_not_kept() {
    let tied = LadderScript { firsts: &["2", "8", "2", "8"], adopts: "2", ..script(&[]) };
    let debate = tied.run(NEVER_WORSE);
    let never_worse = &outcome(&debate).verdict["never_worse"];
    assert_eq!((&never_worse["kept"], &never_worse["vote"]), (&json!(false), &Value::Null));
    assert_eq!(never_worse["why"], "there is no vote that could be kept: the first answers are tied");
}

/// If the first two agree there is no debate, so there is nothing to compare with the vote.
#[test]
fn an_agreement_has_no_never_worse_check() {
    let debate = run(&["a/x", "b/y"], NEVER_WORSE, &|_, _, _| Some(first_answer("8", "Counted.", 0.5)));
    assert_eq!(outcome(&debate).verdict["never_worse"], Value::Null);
}

/// The check compares the vote with the debate's answer, also if the judges reject that answer.
#[test]
fn the_check_is_of_the_debates_answer_even_if_the_judges_reject_it() {
    let rejected = LadderScript { agreement: 0.2, score: 1.0, ..script(EVIDENCED) };
    let verdict = &outcome(&rejected.run(NEVER_WORSE)).verdict.clone();
    assert_eq!((&verdict["decided_by"], &verdict["answer"]), (&json!("first_round_vote"), &json!("8")));
    assert_eq!(
        (&verdict["never_worse"]["kept"], &verdict["never_worse"]["debate"]),
        (&json!(false), &json!("2"))
    );
}

/// "compares with the first-round vote only where that is known": texts that nobody sorted have no vote.
#[test]
fn a_vote_that_is_not_known_is_not_kept() {
    let texts = ["two of them", "eight of them", "eight workers", "8 workers"];
    let debate = run(&["a/x", "b/y"], NEVER_WORSE, &|ask, phase, round| {
        LadderScript { firsts: &texts, is_sorted: false, ..script(BARE) }.reply(ask, phase, round)
    });
    let verdict = &outcome(&debate).verdict;
    assert_eq!(
        (&verdict["never_worse"]["kept"], &verdict["never_worse"]["vote"]),
        (&json!(false), &Value::Null)
    );
    let why = verdict["never_worse"]["why"].as_str().unwrap();
    assert!(why.ends_with("it is not known which first answers are the same"), "{why}");
}

/// Rule 12: a seat that ends on a position which the verdict rejects is dissent, also where a vote is kept against the debate.
#[test]
fn who_ends_on_what_the_vote_rejects_is_dissent() {
    let debate = script(BARE).run(NEVER_WORSE);
    let outcome = outcome(&debate);
    assert_eq!(outcome.verdict["decided_by"], "first_round_vote");
    let dissent: Vec<&str> = outcome.dissent.iter().map(|entry| entry["seat"].as_str().unwrap()).collect();
    let held = Ask.view(&debate).unwrap().positions;
    let against = held.rounds.last().unwrap().stands.iter().filter(|stand| stand.position != "8");
    let against: Vec<&str> = against.map(|stand| stand.seat.as_str()).collect();
    assert_eq!(
        (dissent.len(), &dissent),
        (2, &against),
        "the one who always held it, and the one who changed over"
    );
}
