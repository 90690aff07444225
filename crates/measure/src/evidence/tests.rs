//! The fields of EVIDENCE.md's table, each over stands that are written down here.

use std::collections::BTreeMap;

use agon_core::history::{HISTORY, Past, Showing};
use agon_core::{
    Artifact, Brief, Change, Debate, Fidelity, Grouping, Held, LOG_VERSION, Limits, Marks, Outcome, Seat,
    Stand, Stands, Status, Termination,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::of_stands;

fn brief(models: &[&str], past: &[Past]) -> Brief {
    let seat = |(place, model): (usize, &&str)| Seat {
        id: format!("seat-{}", place + 1),
        role: "judge".into(),
        model: (*model).to_owned(),
    };
    let text = serde_json::to_string(past).unwrap();
    Brief {
        version: LOG_VERSION,
        id: "d1".into(),
        protocol: "review".into(),
        question: "Ship it?".into(),
        files: vec![Artifact { path: HISTORY.into(), text, part: Some(HISTORY.into()) }],
        options: Map::new(),
        seats: models.iter().enumerate().map(seat).collect(),
        seed: 1,
        limits: Limits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: String::new(),
        parent: None,
    }
}

fn debate(models: &[&str], past: &[Past]) -> Debate {
    let (mut debate, _) = Debate::open(brief(models, past)).unwrap();
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

/// Rounds of positions by seat; a change that is followed by words cites them.
fn stands(rounds: &[&[&str]], cited: &[&str], decided: Option<&str>) -> Stands {
    let mut before: Vec<String> = Vec::new();
    let mut held = Vec::new();
    for (place, positions) in rounds.iter().enumerate() {
        let stand = |(seat, position): (usize, &&str)| {
            let changed = before.get(seat).is_some_and(|before| before != position);
            Stand {
                seat: format!("seat-{}", seat + 1),
                position: (*position).to_owned(),
                change: changed.then(|| Change { cited: cited.iter().map(|c| (*c).to_owned()).collect() }),
                ..SeatPosition::default()
            }
        };
        let stands: Vec<Stand> = positions.iter().enumerate().map(stand).collect();
        before = positions.iter().map(|p| (*p).to_owned()).collect();
        let mut now = Held { round: place as u32 + 1, stands, ..RoundPositions::default() };
        now.ruling = now.plurality().map(str::to_owned);
        held.push(now);
    }
    Stands { rounds: held, decided: decided.map(str::to_owned), ..PositionHistory::default() }
}

const THREE: [&str; 3] = ["a/x", "b/y", "c/z"];

/// "distribution of first-round positions; the verdict that a plain vote on them gives; whether the debate changed it"
#[test]
fn the_first_round_is_a_vote_that_the_debate_changed_or_not() {
    let debate = debate(&THREE, &[]);
    for (first, decided, vote, changed) in [
        (["PASS", "PASS", "FAIL"], Some("PASS"), json!("PASS"), false),
        (["PASS", "PASS", "FAIL"], Some("FAIL"), json!("PASS"), true),
        // A tie is no verdict: the debate made one of it.
        (["PASS", "WARN", "FAIL"], Some("FAIL"), Value::Null, true),
        (["PASS", "WARN", "FAIL"], None, Value::Null, false),
    ] {
        let section = of_stands(&debate, &stands(&[&first, &first], &[], decided));
        let round = &section["first_round"];
        assert_eq!(
            (&round["vote"], &round["changed_by_debate"]),
            (&vote, &json!(changed)),
            "{first:?} {decided:?}"
        );
    }
    let section = of_stands(&debate, &stands(&[&["PASS", "FAIL", "PASS"]], &[], Some("PASS")));
    let positions = &section["first_round"]["positions"];
    assert_eq!(positions[0]["position"], "PASS");
    assert_eq!(positions[0]["seats"], json!(["seat-1", "seat-3"]));
    assert_eq!(positions[1]["count"], 1);
    assert_eq!(section["grouping"], "discrete");
}

/// A plain vote counts heads; one FAIL among three is FAIL in a review, before and after, and no debate changed that.
#[test]
fn what_the_debate_changed_is_told_by_the_rule_that_the_verdict_is_taken_by() {
    let same: &[&str] = &["PASS", "PASS", "FAIL"];
    let mut stands = stands(&[same, same], &[], Some("FAIL"));
    stands.rounds.iter_mut().for_each(|held| held.ruling = Some("FAIL".into()));
    let section = of_stands(&debate(&THREE, &[]), &stands);
    assert_eq!(section["first_round"]["vote"], "PASS");
    assert_eq!(section["first_round"]["ruling"], "FAIL");
    assert_eq!(section["first_round"]["changed_by_debate"], false);
}

#[test]
fn a_debate_that_broke_off_has_changed_nothing() {
    let mut debate = debate(&THREE, &[]);
    debate.outcome.as_mut().unwrap().status = Status::Incomplete;
    let section = of_stands(&debate, &stands(&[&["PASS", "PASS", "FAIL"]], &[], None));
    assert_eq!(section["first_round"]["changed_by_debate"], false);
}

/// "per round: who changed, from what to what, with or without cited evidence, toward the majority or away; per seat totals"
#[test]
fn flips_are_listed_and_counted_by_seat() {
    let moved =
        stands(&[&["PASS", "PASS", "FAIL"], &["PASS", "PASS", "PASS"]], &["src/a.rs:3"], Some("PASS"));
    let section = of_stands(&debate(&THREE, &[]), &moved);
    assert_eq!(
        section["flips"],
        json!([{"round": 2, "seat": "seat-3", "from": "FAIL", "to": "PASS", "evidenced": true,
            "toward_majority": true, "cited": ["src/a.rs:3"]}])
    );
    let totals: Vec<&Value> =
        section["flips_by_seat"].as_array().unwrap().iter().map(|row| &row["flips"]).collect();
    assert_eq!(totals, [&json!(0), &json!(0), &json!(1)]);
    assert_eq!(section["trajectory"][2]["positions"][1]["changed"], true);
}

/// "per round: pairwise agreement, entropy of positions, its change (information gain)"
#[test]
fn agreement_is_measured_by_round() {
    let moved = stands(&[&["A", "A", "B"], &["A", "A", "A"]], &[], Some("A"));
    let section = of_stands(&debate(&THREE, &[]), &moved);
    let rounds = section["agreement"].as_array().unwrap();
    let figure = |round: usize, name: &str| rounds[round][name].as_f64().unwrap();
    // One of three pairs; -(2/3 log2 2/3 + 1/3 log2 1/3).
    assert!((figure(0, "pairwise") - 1.0 / 3.0).abs() < 1e-12);
    assert!((figure(0, "entropy") - 0.918_295_834_054_489_6).abs() < 1e-12);
    assert_eq!((figure(1, "pairwise"), figure(1, "entropy")), (1.0, 0.0));
    assert!((figure(1, "information_gain") - figure(0, "entropy")).abs() < 1e-12);
    assert_eq!(rounds[0]["information_gain"], Value::Null);
}

/// "the verdict had it stopped after each round; rounds that changed nothing"
#[test]
fn an_earlier_end_is_told_and_idle_rounds_are_named() {
    let moved = stands(&[&["A", "A", "B"], &["A", "B", "B"], &["A", "B", "B"]], &[], Some("B"));
    let section = of_stands(&debate(&THREE, &[]), &moved);
    let verdicts: Vec<&Value> = section["counterfactual"]["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| &round["verdict"])
        .collect();
    assert_eq!(verdicts, ["A", "B", "B"]);
    assert_eq!(section["counterfactual"]["idle_rounds"], json!([3]));
    assert_eq!(section["counterfactual"]["rounds"][1]["changed"], true);
    assert_eq!(section["counterfactual"]["rounds"][0]["as_decided"], false);
}

fn past(right: &[&[(&str, bool)]]) -> Vec<Past> {
    let showing = |(agent, right): &(&str, bool)| Showing {
        agent: (*agent).to_owned(),
        right: *right,
        confidence: Some(0.8),
        position: right.to_string(),
    };
    let past = |(place, seats): (usize, &&[(&str, bool)])| Past {
        id: format!("p{place}"),
        seats: seats.iter().map(showing).collect(),
        partial: false,
    };
    right.iter().enumerate().map(past).collect()
}

/// "for panels with history: mean error correlation rho, effective number of voices n_eff = K / (1 + (K-1) rho)"
#[test]
fn seats_that_err_together_count_for_fewer_voices() {
    let (yes, no) = (true, false);
    let together: Vec<Vec<(&str, bool)>> =
        [yes, yes, no, yes, no, yes].map(|right| vec![("a/x", right), ("b/y", right)]).to_vec();
    let together: Vec<&[(&str, bool)]> = together.iter().map(Vec::as_slice).collect();
    let debate = debate(&["a/x", "b/y"], &past(&together));
    let section = of_stands(&debate, &stands(&[&["A", "A"]], &[], Some("A")));
    let voices = &section["independence"];
    assert_eq!((&voices["known"], &voices["debates"]), (&json!(true), &json!(6)), "{voices:#}");
    assert!((voices["rho"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!((voices["n_eff"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    // 0.8 sure and right in 4 of 6: (4 * 0.04 + 2 * 0.64) / 6, and a gap of 0.8 - 4/6.
    let seat = &section["calibration"]["seats"][0];
    assert!((seat["brier"].as_f64().unwrap() - 0.24).abs() < 1e-12, "{seat}");
    assert!((seat["ece"].as_f64().unwrap() - (0.8 - 4.0 / 6.0)).abs() < 1e-12, "{seat}");
}

/// "without history: says unknown, and lists seats that share a model"; "seats of one family flagged"
#[test]
fn without_history_independence_is_unknown_and_shared_models_are_named() {
    let debate = debate(&["a/x", "a/x", "a/y"], &[]);
    let section = of_stands(&debate, &stands(&[&["A", "A", "B"]], &[], Some("A")));
    let voices = &section["independence"];
    assert_eq!((&voices["known"], &voices["n_eff"]), (&json!(false), &Value::Null));
    assert!(voices["note"].as_str().unwrap().starts_with("unknown"), "{voices}");
    assert_eq!(voices["shared_models"], json!([{"model": "a/x", "seats": ["seat-1", "seat-2"]}]));
    assert_eq!(voices["families"], json!([{"family": "a", "seats": ["seat-1", "seat-2", "seat-3"]}]));
}

/// Four debates in common are too few to say anything; nor can anything be said of one who was never wrong.
#[test]
fn too_little_history_is_none() {
    let few: &[(&str, bool)] = &[("a/x", true), ("b/y", false)];
    let never: Vec<&[(&str, bool)]> = vec![few; 9];
    // Of a debate whose decision was wrong it is known only of those who held it: they were wrong together, as they must be.
    let mixed: Vec<&[(&str, bool)]> = vec![
        &[("a/x", true), ("b/y", false)],
        &[("a/x", false), ("b/y", true)],
        &[("a/x", true), ("b/y", true)],
    ];
    let mut partial = past(&[&mixed[..], &mixed[..], &never[..3]].concat());
    assert!(known(&partial));
    partial.iter_mut().for_each(|past| past.partial = true);
    assert!(!known(&partial));
    for past in [past(&never[..4]), past(&never)] {
        assert!(!known(&past));
    }
}

fn known(past: &[Past]) -> bool {
    let section = of_stands(&debate(&["a/x", "b/y"], past), &stands(&[&["A", "A"]], &[], Some("A")));
    section["independence"]["known"] == true
}

#[test]
fn a_family_is_the_vendor_behind_whoever_passes_its_models_on() {
    let families = |models: &[&str]| {
        let held: &[&str] = &["A", "A"];
        of_stands(&debate(models, &[]), &stands(&[held], &[], Some("A")))["independence"]["families"].clone()
    };
    assert_eq!(families(&["openrouter/anthropic/x", "anthropic/y"])[0]["family"], "anthropic");
    assert_eq!(families(&["openrouter/anthropic/x", "openrouter/qwen/y"]), json!([]));
    assert_eq!(families(&["script/a.yaml", "script/b.yaml"]), json!([]));
}

/// Where nobody debated, the debate changed nothing.
#[test]
fn positions_that_were_taken_once_were_not_changed_by_a_debate() {
    let section = of_stands(&debate(&THREE, &[]), &stands(&[&["A", "B", "C"]], &[], Some("D")));
    assert_eq!(section["first_round"]["changed_by_debate"], false);
}

/// A rule that makes nothing of the last positions has no verdict, whatever most of them say.
#[test]
fn no_verdict_is_made_up_where_the_rule_makes_none() {
    let moved: &[&str] = &["A", "A", "B"];
    let mut stands = stands(&[moved, moved], &[], None);
    stands.rounds.iter_mut().for_each(|held| held.ruling = None);
    let section = of_stands(&debate(&THREE, &[]), &stands);
    for round in section["counterfactual"]["rounds"].as_array().unwrap() {
        assert_eq!((&round["verdict"], &round["as_decided"]), (&Value::Null, &json!(false)));
    }
}

/// "order consistency where two orders were asked; Krippendorff's alpha for scores, Kendall's W for rankings"
#[test]
fn judges_are_held_against_themselves_and_each_other() {
    let marks = |judge: &str, order, scores: &[(&str, f64)], ranking: &[&str]| Marks {
        judge: judge.into(),
        round: 8,
        order,
        scores: scores.iter().map(|(item, score)| ((*item).to_owned(), *score)).collect(),
        ranking: ranking.iter().map(|item| (*item).to_owned()).collect(),
    };
    let both = vec![
        marks("j1", 0, &[("A", 8.0), ("B", 5.0), ("C", 2.0)], &["A", "B", "C"]),
        marks("j1", 1, &[("A", 7.0), ("B", 9.0), ("C", 2.0)], &["B", "A", "C"]),
    ];
    let section = of_stands(&debate(&THREE, &[]), &Stands { marks: both, ..PositionHistory::default() });
    let orders = &section["judge"]["order_consistency"];
    assert_eq!((&orders["asked"], &orders["same_top"]), (&json!(1), &json!(0)));
    // Two of three pairs are in the same order.
    assert!((orders["kendall_tau"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(section["judge"]["alpha"], Value::Null, "one judge agrees with nobody");
    let two = vec![
        marks("j1", 0, &[("A", 5.0), ("B", 3.0), ("C", 1.0)], &[]),
        marks("j2", 0, &[("A", 5.0), ("B", 3.0), ("C", 1.0)], &[]),
    ];
    let section = of_stands(&debate(&THREE, &[]), &Stands { marks: two, ..PositionHistory::default() });
    assert_eq!((&section["judge"]["alpha"], &section["judge"]["w"]), (&json!(1.0), &json!(1.0)));
    assert_eq!(section["judge"]["order_consistency"], Value::Null);
}

#[test]
fn nothing_held_is_nothing_measured() {
    let section =
        of_stands(&debate(&[], &[]), &Stands { grouping: Grouping::Declared, ..PositionHistory::default() });
    assert_eq!((&section["grouping"], &section["first_round"]), (&Value::Null, &Value::Null));
    assert_eq!((&section["flips"], &section["judge"]), (&json!([]), &Value::Null));
}

proptest! {
    /// The order of the seats changes no figure, and every figure is within its bounds.
    #[test]
    fn figures_are_within_their_bounds_whatever_the_seats(
        positions in prop::collection::vec(prop::collection::vec("[AB]", 3), 1..5),
        swap in any::<bool>(),
    ) {
        let rounds: Vec<Vec<&str>> = positions.iter().map(|round| {
            let mut round: Vec<&str> = round.iter().map(String::as_str).collect();
            if swap { round.reverse(); }
            round
        }).collect();
        let borrowed: Vec<&[&str]> = rounds.iter().map(Vec::as_slice).collect();
        let stands = stands(&borrowed, &["x"], Some("A"));
        let section = of_stands(&debate(&THREE, &[]), &stands);
        let straight: usize = positions.windows(2)
            .map(|pair| pair[0].iter().zip(&pair[1]).filter(|(a, b)| a != b).count()).sum();
        prop_assert_eq!(section["flips"].as_array().unwrap().len(), straight);
        for round in section["agreement"].as_array().unwrap() {
            prop_assert!((0.0..=1.0).contains(&round["pairwise"].as_f64().unwrap()));
            prop_assert!((0.0..=1.0).contains(&round["entropy"].as_f64().unwrap()));
        }
    }
}
