//! What holds whatever is said and whoever is absent.

use std::collections::BTreeSet;

use agon_core::play::{invent, play};
use agon_core::SeededDraw;
use agon_core::{AbsenceReason, Reply};

use super::*;

/// A debate of made-up answers in which one ask in `absent` is without a reply.
fn made_up(set: &[(&str, &str)], seed: u64, absent: usize) -> Debate {
    let mut draw = SeededDraw::new(seed, "absences");
    let mut answer = |debate: &Debate, ask: &Ask| match absent > 0 && draw.below(absent) == 0 {
        true => Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() },
        false => invent(&Arena, debate, ask, seed),
    };
    let brief = Brief { seed, ..ScriptedArena { set, ..ScriptedArena::default() }.brief() };
    let records = play(&Arena, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

/// "no invented figure": every figure of an outcome rests on something that was said.
fn balanced(debate: &Debate) {
    let outcome = debate.outcome.as_ref().unwrap();
    let verdict = &outcome.verdict;
    let judged = verdict["judge"].is_object();
    let rated = verdict["ratings"].as_array().unwrap();
    assert!(judged || rated.is_empty(), "no judge, no ratings");
    let sum: f64 = rated.iter().map(|one| one["change"].as_f64().unwrap()).sum();
    assert!(sum.abs() < 1e-9);
    let decided = verdict["winner"].is_string();
    for field in ["winner_seat", "answer", "position", "decided_by"] {
        assert_eq!(verdict[field].is_string(), decided, "{field}");
    }
    match outcome.termination {
        Termination::Converged | Termination::Consensus => assert_eq!(verdict["consensus"]["reached"], true),
        Termination::NoMajority | Termination::Failed => assert_eq!(verdict["consensus"]["reached"], false),
        Termination::QuorumLost => assert!(!decided && !judged && outcome.lesson.is_none()),
        _ => {}
    }
    let complete = matches!(outcome.status, Status::Complete);
    assert_eq!(
        complete, judged,
        "complete is what was judged, where no limit cuts: {:?}",
        outcome.termination
    );
    let votes = verdict["votes"].as_array().unwrap();
    let cast = votes.iter().filter(|vote| vote["choice"] != "abstain").count();
    assert_eq!(verdict["consensus"]["cast"], cast);
    let agents = verdict["consensus"]["agents"].as_u64().unwrap() as usize;
    assert_eq!(verdict["consensus"]["share"].is_null(), 2 * cast < agents, "no share without a quorum");
    let counted: u64 =
        verdict["tally"].as_array().unwrap().iter().map(|group| group["votes"].as_u64().unwrap()).sum();
    assert_eq!(counted as usize, cast);
    let grouped: Vec<&str> =
        verdict["tally"].as_array().unwrap().iter().flat_map(|group| strings(&group["labels"])).collect();
    let distinct: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(distinct.len(), grouped.len(), "each proposal is in one group");
    for (critique, n) in verdict["critiques"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(critique["id"], format!("Q{n}"));
        assert_ne!(critique["from"], critique["to"]);
    }
    for check in verdict["convergence"].as_array().unwrap() {
        let quiet = check["conflicts"] == json!([])
            && check["opposed"] == json!([])
            && check["undeclared"] == json!([]);
        let alike = check["agreement_min"].as_f64().is_some_and(|least| least >= 0.85 - 1e-9);
        assert_eq!(check["converged"] == true, quiet && alike);
    }
    assert_eq!(verdict["rounds"].as_array().unwrap().len(), debate.turns.len());
}

#[test]
fn every_outcome_is_balanced_whoever_is_absent() {
    let mut ends = BTreeSet::new();
    for set in [
        &[][..],
        BARE,
        &[("trickster", "true"), ("judge_orders", "2")],
        &[("decide", "judge"), ("consensus", "unanimous")],
    ] {
        for seed in 0..60 {
            for absent in [0, 3, 8, 20] {
                let debate = made_up(set, seed, absent);
                balanced(&debate);
                ends.insert(format!("{:?}", debate.outcome.unwrap().termination));
            }
        }
    }
    for end in ["Consensus", "NoMajority", "QuorumLost", "Failed"] {
        assert!(ends.contains(end), "{ends:?}");
    }
}
