//! How long an audit takes, including reading the file: `cargo bench -p agon-measure --bench audit`. Add `-- 10000` for another
//! number of resamples.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::path::Path;
use std::time::Instant;

use agon_measure::audit::{
    AuditTable, BootstrapOptions, JudgeOptions, VoteOptions, audit_judges, audit_votes,
};

const RUNS: usize = 7;
const PANEL: [&str; 5] = [
    "gemini-1.5-pro-002",
    "gemini-1.5-flash-002",
    "DeepSeek-Coder-V2",
    "Meta-Llama-3_1-70B-Instruct",
    "Qwen1.5-110B",
];

fn main() {
    let resamples = std::env::args().skip(1).find_map(|number| number.parse().ok());
    let bootstrap =
        BootstrapOptions { resamples: resamples.unwrap_or(BootstrapOptions::default().resamples), seed: 7 };
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    let (answers, rulings) = (file("mmlu_pro_votes.csv.gz"), file("llmbar_judges.csv.gz"));
    println!("{} resamples; median of {RUNS} runs, and the slowest, in ms", bootstrap.resamples);
    measure("reading the table of 18 x 11,999", || {
        AuditTable::open(&answers).unwrap();
    });
    for threads in [Some(1), None] {
        let on = threads.map_or("all cores".into(), |threads: usize| format!("{threads} thread"));
        let all = VoteOptions { bootstrap, threads, ..VoteOptions::default() };
        let five = VoteOptions { models: PANEL.map(str::to_owned).to_vec(), gate: gate(), ..all.clone() };
        measure(&format!("votes, 18 models, {on}"), || audit(&answers, &all));
        measure(&format!("votes, 5 models and a gate, {on}"), || audit(&answers, &five));
        let options = JudgeOptions { bootstrap, threads, ..JudgeOptions::default() };
        measure(&format!("judges, 6 x 419, 5 subsets, {on}"), || {
            audit_judges(&AuditTable::open(&rulings).unwrap(), &options).unwrap();
        });
    }
}

fn gate() -> Vec<String> {
    vec!["Meta-Llama-3_1-70B-Instruct".into(), "gemini-1.5-flash-002".into()]
}

fn audit(file: &Path, options: &VoteOptions) {
    audit_votes(&AuditTable::open(file).unwrap(), options).unwrap();
}

fn measure(what: &str, run: impl Fn()) {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1_000.0
    };
    let mut times: Vec<f64> = (0..RUNS).map(time).collect();
    times.sort_by(f64::total_cmp);
    println!("{what:<44} {:>8.1} {:>8.1}", times[RUNS / 2], times[RUNS - 1]);
}
