//! The figures that EVIDENCE.md gives for the two tables in `data/`, to four digits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::path::Path;

use agon_measure::audit::judges::RulingSubset;
use agon_measure::audit::{
    AuditTable, BootstrapOptions, JudgeAudit, JudgeOptions, VoteAudit, VoteOptions, audit_judges, audit_votes,
};

const PANEL: [&str; 5] = [
    "gemini-1.5-pro-002",
    "gemini-1.5-flash-002",
    "DeepSeek-Coder-V2",
    "Meta-Llama-3_1-70B-Instruct",
    "Qwen1.5-110B",
];

fn table(name: &str) -> AuditTable {
    AuditTable::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)).unwrap()
}

fn audit_panel(resamples: u32) -> VoteAudit {
    let options = VoteOptions {
        models: PANEL.map(str::to_owned).to_vec(),
        gate: vec!["Meta-Llama-3_1-70B-Instruct".into(), "gemini-1.5-flash-002".into()],
        bootstrap: BootstrapOptions { resamples, seed: 7 },
        ..VoteOptions::default()
    };
    audit_votes(&table("mmlu_pro_votes.csv.gz"), &options).unwrap()
}

fn audit_rulings() -> JudgeAudit {
    let options =
        JudgeOptions { bootstrap: BootstrapOptions { resamples: 200, seed: 7 }, ..JudgeOptions::default() };
    audit_judges(&table("llmbar_judges.csv.gz"), &options).unwrap()
}

fn four(value: f64) -> String {
    format!("{value:.4}")
}

#[test]
fn the_panel_of_five_has_the_published_figures() {
    let found = audit_panel(0);
    assert_eq!((found.questions, found.rows), (10_294, 11_999));
    let right = found.right.unwrap();
    let figures = [
        right.mean_rho.unwrap(),
        right.n_eff.unwrap(),
        right.best_single,
        right.plurality,
        right.oracle,
        found.unanimous,
        right.correct_when_unanimous.unwrap(),
    ];
    assert_eq!(figures.map(four), ["0.4589", "1.7633", "0.7184", "0.7335", "0.8696", "0.3781", "0.9162"]);
    assert_eq!(right.best_single_model, "gemini-1.5-pro-002");
}

#[test]
fn the_gate_has_the_published_figures() {
    let found = audit_panel(0);
    let gate = found.gate.unwrap().gate;
    assert_eq!([gate.stops, gate.calls, gate.accuracy.unwrap()].map(four), ["0.6451", "3.0646", "0.7300"]);
    let all: Vec<_> =
        found.gates.iter().filter(|other| other.models.iter().all(|m| gate.models.contains(m))).collect();
    assert_eq!(found.gates.len(), 10);
    assert_eq!((all.len(), all[0].stops, all[0].accuracy), (1, gate.stops, gate.accuracy));
}

/// The interval contains the figure, and for shares it is about as wide as theory predicts.
#[test]
fn every_figure_has_an_interval() {
    let found = audit_panel(200);
    let json = serde_json::to_value(&found).unwrap();
    for (name, (low, high)) in &found.intervals {
        let figure = json[name].as_f64().unwrap_or_else(|| panic!("{name} is not a figure"));
        assert!(*low <= figure && figure <= *high, "{name}: {figure} is not in {low} to {high}");
    }
    assert_eq!(found.intervals.len(), 11);
    let right = found.right.as_ref().unwrap();
    assert_eq!(right.accuracy_intervals.len(), 5);
    for (model, (low, high)) in &right.accuracy_intervals {
        let share = right.accuracy[model];
        let theory = 2.0 * 1.96 * (share * (1.0 - share) / 10_294.0).sqrt();
        assert!((high - low) / theory > 0.8 && (high - low) / theory < 1.2, "{model}: {low} to {high}");
    }
    assert_eq!(found.gate.unwrap().intervals.keys().collect::<Vec<_>>(), ["accuracy", "calls", "stops"]);
    assert!(right.gain_p < 1e-4 && found.intervals["gain"].0 > 0.0, "the gain is not chance");
}

#[test]
fn intervals_depend_on_the_seed_and_not_on_threads() {
    let options = |seed, threads| VoteOptions {
        models: PANEL.map(str::to_owned).to_vec(),
        bootstrap: BootstrapOptions { resamples: 20, seed },
        threads: Some(threads),
        ..VoteOptions::default()
    };
    let table = table("mmlu_pro_votes.csv.gz");
    let run = |seed, threads| audit_votes(&table, &options(seed, threads)).unwrap();
    assert_eq!(run(1, 1), run(1, 2));
    assert_ne!(run(1, 1).intervals, run(2, 1).intervals);
}

#[test]
fn all_models_are_audited_by_default() {
    let bootstrap = BootstrapOptions { resamples: 0, seed: 0 };
    let options = VoteOptions { bootstrap, ..VoteOptions::default() };
    let found = audit_votes(&table("mmlu_pro_votes.csv.gz"), &options).unwrap();
    assert_eq!((found.models.len(), found.questions, found.gates.len()), (18, 10_294, 153));
    assert!(found.intervals.is_empty());
}

#[test]
fn order_consistency_has_the_published_figures() {
    let found = audit_rulings();
    let consistency = |name: &str| {
        let judge = found.all.judges.iter().find(|judge| judge.judge == name).unwrap();
        assert_eq!(judge.items, 419);
        four(judge.order_consistency.unwrap())
    };
    assert_eq!(["GPT-4", "ChatGPT", "PaLM2"].map(consistency), ["0.9284", "0.6587", "0.7255"]);
    assert_eq!((found.all.items, found.all.common_items, found.all.judges.len()), (419, 419, 6));
}

#[test]
fn a_judge_that_follows_the_order_has_a_position_bias() {
    let found = audit_rulings();
    let falcon = found.all.judges.iter().find(|judge| judge.judge == "Falcon").unwrap();
    // Of 838 rulings, 326 + 324 are for the answer shown first and 93 + 95 for the answer shown second.
    assert_eq!(four(falcon.position_bias.unwrap()), four((650.0 - 188.0) / 838.0));
    assert!(falcon.intervals["position_bias"].0 > 0.4);
    let accuracy = found.all.judges[0].accuracy.unwrap();
    assert_eq!([accuracy.first_order, accuracy.second_order].map(four), ["0.8282", "0.8616"]);
    assert!(accuracy.both <= accuracy.first_order.min(accuracy.second_order));
}

#[test]
fn subsets_add_up_to_all_items() {
    let found = audit_rulings();
    let names: Vec<&str> = found.subsets.iter().map(|subset| subset.subset.as_str()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(found.subsets.iter().map(|subset| subset.rulings.items).sum::<usize>(), 419);
    let weighted = |subset: &RulingSubset| {
        subset.rulings.judges[3].order_consistency.unwrap() * subset.rulings.items as f64
    };
    assert_eq!(four(found.subsets.iter().map(weighted).sum::<f64>() / 419.0), "0.7255");
}
