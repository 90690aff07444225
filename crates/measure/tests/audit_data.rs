//! "Figures that must come out" of the two tables in `data/`, to four digits, as EVIDENCE and the issue have them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::path::Path;

use agon_measure::audit::{Bootstrap, JudgeOptions, Judges, Table, VoteOptions, Votes, judges, votes};

const PANEL: [&str; 5] = [
    "gemini-1.5-pro-002",
    "gemini-1.5-flash-002",
    "DeepSeek-Coder-V2",
    "Meta-Llama-3_1-70B-Instruct",
    "Qwen1.5-110B",
];

fn table(name: &str) -> Table {
    Table::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)).unwrap()
}

fn panel(resamples: u32) -> Votes {
    let options = VoteOptions {
        models: PANEL.map(str::to_owned).to_vec(),
        gate: vec!["Meta-Llama-3_1-70B-Instruct".into(), "gemini-1.5-flash-002".into()],
        bootstrap: Bootstrap { resamples, seed: 7 },
        ..VoteOptions::default()
    };
    votes(&table("mmlu_pro_votes.csv.gz"), &options).unwrap()
}

fn rulings() -> Judges {
    let options =
        JudgeOptions { bootstrap: Bootstrap { resamples: 200, seed: 7 }, ..JudgeOptions::default() };
    judges(&table("llmbar_judges.csv.gz"), &options).unwrap()
}

fn four(value: f64) -> String {
    format!("{value:.4}")
}

/// "0.4589 | 1.7633 | 0.7184 | 0.7335 | 0.8696 | 0.3781 | 0.9162", "on the 10,294 questions that all were asked".
#[test]
fn the_panel_of_five() {
    let found = panel(0);
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

/// "Gate ...: stops 0.6451, 3.0646 calls, accuracy 0.7300".
#[test]
fn the_gate_of_two() {
    let found = panel(0);
    let gate = found.gate.unwrap().gate;
    assert_eq!([gate.stops, gate.calls, gate.accuracy.unwrap()].map(four), ["0.6451", "3.0646", "0.7300"]);
    let all: Vec<_> =
        found.gates.iter().filter(|other| other.models.iter().all(|m| gate.models.contains(m))).collect();
    assert_eq!(found.gates.len(), 10);
    assert_eq!((all.len(), all[0].stops, all[0].accuracy), (1, gate.stops, gate.accuracy));
}

/// "bootstrap 95% intervals": around each figure, and about as wide as theory has those of a share.
#[test]
fn every_figure_has_its_interval() {
    let found = panel(200);
    let json = serde_json::to_value(&found).unwrap();
    for (name, (low, high)) in &found.intervals {
        let figure = json[name].as_f64().unwrap_or_else(|| panic!("{name} is no figure"));
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
    assert!(right.gain_p < 1e-4 && found.intervals["gain"].0 > 0.0, "the vote gains, and not by chance");
}

#[test]
fn a_seed_gives_the_same_audit_and_another_one_other_intervals() {
    let options = |seed, threads| VoteOptions {
        models: PANEL.map(str::to_owned).to_vec(),
        bootstrap: Bootstrap { resamples: 20, seed },
        threads: Some(threads),
        ..VoteOptions::default()
    };
    let table = table("mmlu_pro_votes.csv.gz");
    let run = |seed, threads| votes(&table, &options(seed, threads)).unwrap();
    assert_eq!(run(1, 1), run(1, 2));
    assert_ne!(run(1, 1).intervals, run(2, 1).intervals);
}

#[test]
fn all_eighteen_without_naming_any() {
    let bootstrap = Bootstrap { resamples: 0, seed: 0 };
    let options = VoteOptions { bootstrap, ..VoteOptions::default() };
    let found = votes(&table("mmlu_pro_votes.csv.gz"), &options).unwrap();
    assert_eq!((found.models.len(), found.questions, found.gates.len()), (18, 10_294, 153));
    assert!(found.intervals.is_empty());
}

/// "Order consistency: GPT-4 0.9284, ChatGPT 0.6587, PaLM2 0.7255", on the 419 pairs.
#[test]
fn the_order_consistency_of_the_judges() {
    let found = rulings();
    let consistency = |name: &str| {
        let judge = found.all.judges.iter().find(|judge| judge.judge == name).unwrap();
        assert_eq!(judge.items, 419);
        four(judge.order_consistency.unwrap())
    };
    assert_eq!(["GPT-4", "ChatGPT", "PaLM2"].map(consistency), ["0.9284", "0.6587", "0.7255"]);
    assert_eq!((found.all.items, found.all.common_items, found.all.judges.len()), (419, 419, 6));
}

#[test]
fn judges_that_rule_by_the_order_are_known_by_their_bias() {
    let found = rulings();
    let falcon = found.all.judges.iter().find(|judge| judge.judge == "Falcon").unwrap();
    // 326 + 324 of 838 rulings are for what was shown first, 93 + 95 for what was shown second.
    assert_eq!(four(falcon.position_bias.unwrap()), four((650.0 - 188.0) / 838.0));
    assert!(falcon.intervals["position_bias"].0 > 0.4);
    let accuracy = found.all.judges[0].accuracy.unwrap();
    assert_eq!([accuracy.first_order, accuracy.second_order].map(four), ["0.8282", "0.8616"]);
    assert!(accuracy.both <= accuracy.first_order.min(accuracy.second_order));
}

#[test]
fn subsets_add_up_to_all_items() {
    let found = rulings();
    let names: Vec<&str> = found.subsets.iter().map(|subset| subset.subset.as_str()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(found.subsets.iter().map(|subset| subset.rulings.items).sum::<usize>(), 419);
    let weighted = |subset: &agon_measure::audit::judges::Subset| {
        subset.rulings.judges[3].order_consistency.unwrap() * subset.rulings.items as f64
    };
    assert_eq!(four(found.subsets.iter().map(weighted).sum::<f64>() / 419.0), "0.7255");
}
