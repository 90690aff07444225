//! Each field of the `evidence` section, over positions that are written down here.

use std::collections::BTreeMap;

use agon_core::history::{HISTORY, ResolvedDebate, SeatResult};
use agon_core::{
    Brief, BriefFile, DebateLimits, DecidedPosition, Fidelity, JudgeMarks, LOG_VERSION, Outcome,
    PositionChange, RoundPositions, Seat, SeatPosition, Status, Termination,
};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

const THREE: [&str; 3] = ["a/x", "b/y", "c/z"];

/// A complete debate with one seat per model. The brief contains the history.
fn debate(models: &[&str], past: &[ResolvedDebate]) -> Debate {
    let seat = |(place, model): (usize, &&str)| Seat {
        id: format!("seat-{}", place + 1),
        role: "judge".into(),
        model: (*model).to_owned(),
    };
    let text = serde_json::to_string(past).unwrap();
    let brief = Brief {
        version: LOG_VERSION,
        id: "d1".into(),
        protocol: "review".into(),
        question: "Ship it?".into(),
        files: vec![BriefFile { path: HISTORY.into(), text, part: Some(HISTORY.into()) }],
        options: Map::new(),
        seats: models.iter().enumerate().map(seat).collect(),
        seed: 1,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: String::new(),
        parent: None,
    };
    let (mut debate, _) = Debate::open(brief).unwrap();
    debate.outcome = Some(Outcome {
        status: Status::Complete,
        termination: Termination::Majority,
        rounds_completed: 2,
        verdict: json!({}),
        dissent: Vec::new(),
        fidelity: Fidelity::Full,
        warnings: Vec::new(),
        labels: BTreeMap::new(),
        positions: Vec::new(),
        passed: None,
        lesson: None,
    });
    debate
}

/// The positions of all seats, round by round. Every change cites `cited`, and the ruling of a round is a plain vote. A position
/// that ends with `?` is unsorted.
fn positions(rounds: &[&[&str]], cited: &[&str], decided: Option<&str>) -> PositionHistory {
    let mut before: &[&str] = &[];
    let mut history = Vec::new();
    for (place, positions) in rounds.iter().enumerate() {
        let held = |(seat, position): (usize, &&str)| {
            let changed = before.get(seat).is_some_and(|before| before != position);
            let cited = cited.iter().map(|cited| (*cited).to_owned()).collect();
            SeatPosition {
                seat: format!("seat-{}", seat + 1),
                position: position.trim_end_matches('?').to_owned(),
                is_unsorted: position.ends_with('?'),
                change: changed.then_some(PositionChange { cited, ..PositionChange::default() }),
                ..SeatPosition::default()
            }
        };
        let stands = positions.iter().enumerate().map(held).collect();
        let mut round = RoundPositions { round: place as u32 + 1, stands, ..RoundPositions::default() };
        round.ruling = round.plurality().map(str::to_owned);
        history.push(round);
        before = positions;
    }
    let are_texts = history.iter().flat_map(|round| &round.stands).any(|held| held.is_unsorted);
    let decided = decided.map_or(DecidedPosition::Nothing, |name| DecidedPosition::Held(name.to_owned()));
    PositionHistory { are_texts, rounds: history, decided, ..PositionHistory::default() }
}

fn first_round_of(debate: &Debate, positions: &PositionHistory) -> FirstRound {
    evidence(debate, positions).first_round.unwrap()
}

#[test]
fn the_first_round_says_whether_the_debate_changed_the_vote() {
    let debate = debate(&THREE, &[]);
    for (first, decided, vote, changed) in [
        (["PASS", "PASS", "FAIL"], Some("PASS"), Some("PASS"), false),
        (["PASS", "PASS", "FAIL"], Some("FAIL"), Some("PASS"), true),
        // A tie has no verdict, so any verdict is a change.
        (["PASS", "WARN", "FAIL"], Some("FAIL"), None, true),
        (["PASS", "WARN", "FAIL"], None, None, false),
    ] {
        let round = first_round_of(&debate, &positions(&[&first, &first], &[], decided));
        assert_eq!(
            (round.vote.as_deref(), round.changed_by_debate),
            (vote, Some(changed)),
            "{first:?} {decided:?}"
        );
    }
    let evidence = evidence(&debate, &positions(&[&["PASS", "FAIL", "PASS"]], &[], Some("PASS")));
    let counts = evidence.first_round.unwrap().positions;
    assert_eq!((counts[0].position.as_str(), counts[1].count), ("PASS", 1));
    assert_eq!(counts[0].seats, ["seat-1", "seat-3"]);
    assert_eq!(evidence.grouping, Some(PositionGrouping::Discrete));
}

/// Two of three said PASS, but under a rule where one FAIL is enough the debate changed nothing.
#[test]
fn a_change_is_measured_against_the_protocols_own_rule() {
    let same: &[&str] = &["PASS", "PASS", "FAIL"];
    let mut positions = positions(&[same, same], &[], Some("FAIL"));
    positions.rounds.iter_mut().for_each(|round| round.ruling = Some("FAIL".into()));
    let round = first_round_of(&debate(&THREE, &[]), &positions);
    assert_eq!((round.vote.as_deref(), round.ruling.as_deref()), (Some("PASS"), Some("FAIL")));
    assert_eq!(round.changed_by_debate, Some(false));
}

#[test]
fn an_incomplete_debate_and_a_single_round_change_nothing() {
    let mut debate = debate(&THREE, &[]);
    let once = positions(&[&["A", "B", "C"]], &[], Some("D"));
    assert_eq!(first_round_of(&debate, &once).changed_by_debate, Some(false));
    let same: &[&str] = &["PASS", "PASS", "FAIL"];
    debate.outcome.as_mut().unwrap().status = Status::Incomplete;
    let cut_short = first_round_of(&debate, &positions(&[same, same], &[], None));
    assert_eq!(cut_short.changed_by_debate, Some(false));
}

#[test]
fn flips_are_listed_and_counted_by_seat() {
    let rounds: &[&[&str]] = &[&["PASS", "PASS", "FAIL"], &["PASS", "PASS", "PASS"]];
    let evidence = evidence(&debate(&THREE, &[]), &positions(rounds, &["src/a.rs:3"], Some("PASS")));
    assert_eq!(
        serde_json::to_value(&evidence.flips).unwrap(),
        json!([{"round": 2, "seat": "seat-3", "from": "FAIL", "to": "PASS", "evidenced": true, "by_argument": true, "by_source": false,
            "toward_majority": true, "cited": ["src/a.rs:3"]}])
    );
    assert_eq!(evidence.flips_by_seat.iter().map(|seat| seat.flips).collect::<Vec<_>>(), [0, 0, 1]);
    assert!(evidence.trajectory[2].positions[1].changed);
}

#[test]
fn agreement_is_measured_by_round() {
    let rounds: &[&[&str]] = &[&["A", "A", "B"], &["A", "A", "A"]];
    let evidence = evidence(&debate(&THREE, &[]), &positions(rounds, &[], Some("A")));
    let [first, second] = &evidence.agreement[..] else { panic!("two rounds") };
    // One of three pairs; -(2/3 log2 2/3 + 1/3 log2 1/3).
    assert!((first.pairwise.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert!((first.entropy.unwrap() - 0.918_295_834_054_489_6).abs() < 1e-12);
    assert_eq!((second.pairwise, second.entropy), (Some(1.0), Some(0.0)));
    assert_eq!((first.information_gain, second.information_gain), (None, first.entropy));
}

#[test]
fn the_counterfactual_has_the_verdict_after_each_round_and_the_idle_rounds() {
    let rounds: &[&[&str]] = &[&["A", "A", "B"], &["A", "B", "B"], &["A", "B", "B"]];
    let CounterfactualVerdicts { rounds, idle_rounds } =
        evidence(&debate(&THREE, &[]), &positions(rounds, &[], Some("B"))).counterfactual;
    let verdicts: Vec<_> = rounds.iter().map(|round| round.verdict.as_deref().unwrap()).collect();
    assert_eq!((verdicts, idle_rounds), (vec!["A", "B", "B"], vec![3]));
    assert_eq!((rounds[1].changed, rounds[0].as_decided), (Some(true), Some(false)));
}

#[test]
fn a_round_without_a_ruling_has_no_verdict_even_if_a_plain_vote_would() {
    let same: &[&str] = &["A", "A", "B"];
    let mut positions = positions(&[same, same], &[], None);
    positions.rounds.iter_mut().for_each(|round| round.ruling = None);
    for round in evidence(&debate(&THREE, &[]), &positions).counterfactual.rounds {
        assert_eq!((round.verdict, round.changed, round.as_decided), (None, Some(false), Some(false)));
    }
}

/// "Where it is `unknown`, agreement, vote and `changed_by_debate` are null."
#[test]
fn texts_that_nobody_sorted_give_null_and_never_a_figure() {
    let unsorted: &[&str] = &["A?", "B?", "C?"];
    let revised: &[&str] = &["A?", "D?", "C?"];
    for decided in [DecidedPosition::Unknown, DecidedPosition::Held("A".into()), DecidedPosition::Nothing] {
        for rounds in [&[unsorted, revised][..], &[unsorted]] {
            let mut positions = positions(rounds, &["a point"], None);
            positions.decided = decided.clone();
            let evidence = evidence(&debate(&THREE, &[]), &positions);
            assert_eq!(evidence.grouping, Some(PositionGrouping::Unknown));
            let first = evidence.first_round.unwrap();
            assert_eq!(
                (first.vote, first.ruling, first.changed_by_debate),
                (None, None, None),
                "{decided:?}"
            );
            assert!(first.tied.is_empty(), "texts that nobody compared are not tied");
            assert!(first.positions.iter().all(|position| position.share.is_none()));
            for row in &evidence.agreement {
                let figures = (row.positions, row.pairwise, row.entropy, row.information_gain);
                assert_eq!(figures, (None, None, None, None));
            }
            for row in &evidence.counterfactual.rounds {
                assert_eq!((&row.verdict, row.changed, row.as_decided), (&None, None, None));
            }
            assert!(evidence.trajectory.iter().flat_map(|seat| &seat.positions).all(|held| held.is_unsorted));
        }
    }
    let evidence = evidence(&debate(&THREE, &[]), &positions(&[unsorted, revised], &[], None));
    assert_eq!(evidence.flips[0].toward_majority, None);
    let toward: Vec<Option<usize>> = evidence.flips_by_seat.iter().map(|seat| seat.toward_majority).collect();
    assert_eq!(toward, [Some(0), None, Some(0)], "a seat that did not change moved toward nobody");
}

/// Only the rounds that nobody sorted are unknown, and equal texts need no sorting.
#[test]
fn a_round_is_unknown_by_itself() {
    let unsorted: &[&str] = &["A?", "B?", "A?"];
    let equal: &[&str] = &["A?", "A?", "A?"];
    let sorted: &[&str] = &["A", "B", "A"];
    let all = evidence(&debate(&THREE, &[]), &positions(&[sorted, unsorted, sorted], &[], Some("A")));
    assert_eq!(all.grouping, Some(PositionGrouping::Declared));
    assert_eq!(
        all.agreement.iter().map(|row| row.entropy.is_some()).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert_eq!(all.agreement[2].information_gain, None, "the round before is not known");
    let changed: Vec<Option<bool>> = all.counterfactual.rounds.iter().map(|row| row.changed).collect();
    assert_eq!(changed, [Some(false), None, None]);
    assert_eq!(all.first_round.unwrap().changed_by_debate, Some(false));
    let exact = evidence(&debate(&THREE, &[]), &positions(&[equal, unsorted], &[], Some("A")));
    assert_eq!(exact.grouping, Some(PositionGrouping::Exact));
    assert_eq!((exact.agreement[0].pairwise, exact.agreement[1].pairwise), (Some(1.0), None));
    assert!(!exact.trajectory[0].positions[0].is_unsorted && exact.trajectory[0].positions[1].is_unsorted);
}

#[test]
fn a_verdict_is_compared_only_if_its_position_is_known() {
    let same: &[&str] = &["A", "A", "B"];
    for (decided, name, changed, as_decided) in [
        (DecidedPosition::Held("A".into()), Some("A"), Some(false), Some(true)),
        (DecidedPosition::Held("B".into()), Some("B"), Some(true), Some(false)),
        (DecidedPosition::New("A and B".into()), Some("A and B"), Some(true), Some(false)),
        (DecidedPosition::Nothing, None, Some(true), Some(false)),
        (DecidedPosition::Unknown, None, None, None),
    ] {
        let positions = PositionHistory { decided: decided.clone(), ..positions(&[same, same], &[], None) };
        let evidence = evidence(&debate(&THREE, &[]), &positions);
        let first = evidence.first_round.unwrap();
        assert_eq!((first.decided.as_deref(), first.changed_by_debate), (name, changed), "{decided:?}");
        assert_eq!(evidence.counterfactual.rounds[1].as_decided, as_decided, "{decided:?}");
    }
    let mut running = debate(&THREE, &[]);
    running.outcome = None;
    let evidence = evidence(&running, &positions(&[same, same], &[], Some("A")));
    assert_eq!(evidence.counterfactual.rounds[1].as_decided, None, "there is no final verdict yet");
}

/// "'Changed nothing' is said of a round only when nobody revised in it", and never of a vote.
#[test]
fn a_round_is_idle_only_if_nobody_revised_in_it() {
    let same: &[&str] = &["A", "A", "B"];
    let mut positions = positions(&[same, same, same, same], &[], Some("A"));
    // The same position in other words is a revision, although nobody changed.
    positions.rounds[1].stands[0].change = Some(PositionChange::default());
    positions.rounds[3].ballots = true;
    let evidence = evidence(&debate(&THREE, &[]), &positions);
    assert_eq!((evidence.counterfactual.idle_rounds, evidence.flips), (vec![3], Vec::new()));
}

/// What a seat proposes is compared with what it proposed last, and its vote with its last vote: a seat that votes for another's proposal
/// and then goes on with its own changed its mind once.
#[test]
fn proposals_are_compared_with_proposals_and_votes_with_votes() {
    let rounds: &[&[&str]] = &[&["A", "B"], &["A", "A"], &["A", "B"], &["A", "A"], &["A", "C"]];
    for (is_reworded, idle) in [(true, vec![]), (false, vec![3])] {
        let mut positions = positions(rounds, &[], Some("A"));
        for at in [1, 3] {
            positions.rounds[at].ballots = true;
        }
        positions.rounds[2].stands[1].change = is_reworded.then(PositionChange::default);
        let evidence = evidence(&debate(&THREE[..2], &[]), &positions);
        let changed: Vec<bool> = evidence.trajectory[1].positions.iter().map(|held| held.changed).collect();
        assert_eq!(changed, [false, true, false, false, true]);
        assert_eq!(evidence.flips.iter().map(|flip| flip.round).collect::<Vec<_>>(), [2, 5]);
        assert_eq!(evidence.counterfactual.idle_rounds, idle);
        let gains: Vec<Option<f64>> = evidence.agreement.iter().map(|row| row.information_gain).collect();
        assert_eq!(gains, [None, None, Some(0.0), Some(0.0), Some(0.0)]);
    }
}

#[test]
fn a_seat_that_does_not_vote_keeps_its_row() {
    let rounds: &[&[&str]] = &[&["A", "B", "B"], &["A", "B", "B"]];
    let mut positions = positions(rounds, &[], Some("B"));
    positions.rounds[1].ballots = true;
    positions.rounds[1].stands.remove(1);
    let evidence = evidence(&debate(&THREE, &[]), &positions);
    let rows: Vec<(&str, usize)> =
        evidence.trajectory.iter().map(|seat| (seat.seat.as_str(), seat.positions.len())).collect();
    assert_eq!(rows, [("seat-1", 2), ("seat-2", 1), ("seat-3", 2)]);
    assert_eq!(evidence.flips_by_seat.len(), 3);
    assert_eq!(evidence.calibration.seats.len(), 3);
}

/// One debate per row, with the agents in it and whether each was right.
fn past_debates(rows: &[&[(&str, bool)]]) -> Vec<ResolvedDebate> {
    let result = |(agent, right): &(&str, bool)| SeatResult {
        agent: (*agent).to_owned(),
        right: *right,
        confidence: Some(0.8),
        position: right.to_string(),
    };
    let debate = |(place, seats): (usize, &&[(&str, bool)])| ResolvedDebate {
        id: format!("p{place}"),
        seats: seats.iter().map(result).collect(),
        partial: false,
    };
    rows.iter().enumerate().map(debate).collect()
}

fn agreed_evidence(models: &[&str], past: &[ResolvedDebate]) -> Evidence {
    evidence(&debate(models, past), &positions(&[&vec!["A"; models.len()]], &[], Some("A")))
}

#[test]
fn seats_that_err_together_are_worth_fewer_voices() {
    let rows = [true, true, false, true, false, true].map(|right| [("a/x", right), ("b/y", right)]);
    let rows: Vec<&[(&str, bool)]> = rows.iter().map(|row| &row[..]).collect();
    let evidence = agreed_evidence(&["a/x", "b/y"], &past_debates(&rows));
    let independence = &evidence.independence;
    assert_eq!((independence.known, independence.debates), (true, 6), "{independence:?}");
    assert!((independence.rho.unwrap() - 1.0).abs() < 1e-12);
    assert!((independence.n_eff.unwrap() - 1.0).abs() < 1e-12);
    // A confidence of 0.8 and right in 4 of 6: (4 * 0.04 + 2 * 0.64) / 6, and a gap of 0.8 - 4/6.
    let seat = &evidence.calibration.seats[0];
    assert!((seat.brier.unwrap() - 0.24).abs() < 1e-12, "{seat:?}");
    assert!((seat.ece.unwrap() - (0.8 - 4.0 / 6.0)).abs() < 1e-12, "{seat:?}");
}

#[test]
fn without_history_independence_is_unknown_and_shared_models_are_listed() {
    let independence = agreed_evidence(&["a/x", "a/x", "a/y"], &[]).independence;
    assert_eq!((independence.known, independence.n_eff), (false, None));
    assert!(independence.note.starts_with("unknown"), "{independence:?}");
    let json = serde_json::to_value(&independence).unwrap();
    assert_eq!(json["shared_models"], json!([{"model": "a/x", "seats": ["seat-1", "seat-2"]}]));
    assert_eq!(json["families"], json!([{"family": "a", "seats": ["seat-1", "seat-2", "seat-3"]}]));
}

#[test]
fn independence_needs_enough_complete_history_with_varied_results() {
    let is_known = |past: &[ResolvedDebate]| agreed_evidence(&["a/x", "b/y"], past).independence.known;
    let same: &[(&str, bool)] = &[("a/x", true), ("b/y", false)];
    let varied: [&[(&str, bool)]; 3] =
        [same, &[("a/x", false), ("b/y", true)], &[("a/x", true), ("b/y", true)]];
    let mut enough = past_debates(&[&varied[..], &varied[..]].concat());
    assert!(is_known(&enough));
    assert!(!is_known(&past_debates(&[&varied[..], &[same]].concat())), "four debates are too few");
    assert!(!is_known(&past_debates(&[same; 9])), "no agent was both right and wrong");
    // After a wrong decision only those who held it are known, and they were wrong together by definition.
    enough.iter_mut().for_each(|past| past.partial = true);
    assert!(!is_known(&enough));
}

#[test]
fn the_family_of_a_model_is_its_vendor() {
    let families = |models: &[&str]| -> Vec<String> {
        let families = agreed_evidence(models, &[]).independence.families;
        families.into_iter().map(|shared| shared.family).collect()
    };
    assert_eq!(families(&["openrouter/anthropic/x", "anthropic/y"]), ["anthropic"]);
    assert!(families(&["openrouter/anthropic/x", "openrouter/qwen/y"]).is_empty());
    assert!(families(&["script/a.yaml", "script/b.yaml"]).is_empty());
    assert!(families(&["ollama/llama3.2:3b", "ollama/qwen3:4b"]).is_empty());
    assert_eq!(families(&["ollama/llama3.2:3b", "groq/llama-3.3-70b"]), ["llama"]);
    assert!(families(&["ollama/hf.co/x/llama", "ollama/hf.co/y/qwen"]).is_empty());
    assert!(families(&["embedded/smollm2", "embedded/qwen.gguf"]).is_empty());
}

#[test]
fn judges_are_compared_with_themselves_and_with_each_other() {
    let marks = |judge: &str, order, scores: [f64; 3], ranking: &[&str]| JudgeMarks {
        judge: judge.into(),
        round: 8,
        order,
        scores: ["A", "B", "C"].map(str::to_owned).into_iter().zip(scores).collect(),
        ranking: ranking.iter().map(|item| (*item).to_owned()).collect(),
    };
    let judge_evidence = |marks| {
        let positions = PositionHistory { marks, ..PositionHistory::default() };
        evidence(&debate(&THREE, &[]), &positions).judge.unwrap()
    };
    let one_judge = judge_evidence(vec![
        marks("j1", 0, [8.0, 5.0, 2.0], &["A", "B", "C"]),
        marks("j1", 1, [7.0, 9.0, 2.0], &["B", "A", "C"]),
    ]);
    let orders = one_judge.order_consistency.unwrap();
    assert_eq!((orders.asked, orders.same_top), (1, 0));
    // Two of three pairs are in the same order.
    assert!((orders.kendall_tau.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(one_judge.alpha, None, "one judge has nobody to agree with");
    let two_judges =
        judge_evidence(vec![marks("j1", 0, [5.0, 3.0, 1.0], &[]), marks("j2", 0, [5.0, 3.0, 1.0], &[])]);
    assert_eq!((two_judges.alpha, two_judges.w), (Some(1.0), Some(1.0)));
    assert_eq!(two_judges.order_consistency, None);
}

/// The documented JSON names.
#[test]
fn a_debate_without_positions_has_empty_evidence() {
    let positions = PositionHistory { are_texts: true, ..PositionHistory::default() };
    let json = serde_json::to_value(evidence(&debate(&[], &[]), &positions)).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "grouping",
            "first_round",
            "flips",
            "flips_by_seat",
            "agreement",
            "trajectory",
            "independence",
            "dissent",
            "counterfactual",
            "judge",
            "calibration",
            "cost"
        ]
    );
    assert!(json["grouping"].is_null() && json["first_round"].is_null() && json["judge"].is_null());
    assert_eq!(json["flips"], json!([]));
}

proptest! {
    /// The order of the seats changes neither the number of flips nor the bounds.
    #[test]
    fn figures_are_within_bounds_for_any_positions(
        rounds in prop::collection::vec(prop::collection::vec("[AB]", 3), 1..5),
        reverse in any::<bool>(),
    ) {
        let ordered = |round: &Vec<String>| -> Vec<String> {
            let mut round = round.clone();
            if reverse { round.reverse(); }
            round
        };
        let ordered: Vec<Vec<String>> = rounds.iter().map(ordered).collect();
        let borrowed: Vec<Vec<&str>> =
            ordered.iter().map(|round| round.iter().map(String::as_str).collect()).collect();
        let borrowed: Vec<&[&str]> = borrowed.iter().map(Vec::as_slice).collect();
        let evidence = evidence(&debate(&THREE, &[]), &positions(&borrowed, &["x"], Some("A")));
        let changes: usize = rounds.windows(2)
            .map(|pair| pair[0].iter().zip(&pair[1]).filter(|(a, b)| a != b).count()).sum();
        prop_assert_eq!(evidence.flips.len(), changes);
        for round in &evidence.agreement {
            prop_assert!((0.0..=1.0).contains(&round.pairwise.unwrap()));
            prop_assert!((0.0..=1.0).contains(&round.entropy.unwrap()));
        }
    }
}

/// The note names the pair that is not known, and not the one that is: a model that sits twice has to be compared with itself.
#[test]
fn the_note_on_independence_names_what_is_not_known() {
    let one: &[(&str, bool)] = &[("a/x", true), ("b/y", false)];
    let other: &[(&str, bool)] = &[("a/x", false), ("b/y", false)];
    let third: &[(&str, bool)] = &[("a/x", true), ("b/y", true)];
    let past = past_debates(&[one, other, third, one, other, third]);
    let independence = agreed_evidence(&["a/x", "b/y", "a/x", "b/y"], &past).independence;
    assert_eq!((independence.known, independence.pairs.len()), (false, 1), "{independence:?}");
    assert_eq!(independence.pairs[0].debates, 6);
    let note = &independence.note;
    assert!(note.contains("a/x on two seats: 0 of 5; b/y on two seats: 0 of 5"), "{note}");
    assert!(!note.contains("a/x and b/y"), "{note}");
    let few = agreed_evidence(&["a/x", "b/y"], &past[..4]).independence.note;
    assert!(few.contains("a/x and b/y: 4 of 5"), "{few}");
    let flat = past_debates(&[one; 5]);
    let flat = agreed_evidence(&["a/x", "b/y"], &flat).independence.note;
    assert!(flat.contains("a/x and b/y: 5, in which one of them was always right or always wrong"), "{flat}");
}
