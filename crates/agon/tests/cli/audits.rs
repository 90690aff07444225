//! `agon audit votes|judges`: "useful by themselves", on CSV, "(also .gz), with the figures of EVIDENCE.md".

use serde_json::Value;

use crate::support::{Home, refused};

fn data(name: &str) -> String {
    format!("{}/../../data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn four(value: &Value) -> String {
    format!("{:.4}", value.as_f64().unwrap())
}

/// "| 0.4589 | 1.7633 | 0.7184 | 0.7335 | 0.8696 | 0.3781 | 0.9162 |", and the gate below it.
#[test]
fn the_published_table_of_votes_comes_out_to_four_digits() {
    let home = Home::new();
    let models =
        "gemini-1.5-pro-002,gemini-1.5-flash-002,DeepSeek-Coder-V2,Meta-Llama-3_1-70B-Instruct,Qwen1.5-110B";
    let gate = "Meta-Llama-3_1-70B-Instruct,gemini-1.5-flash-002";
    let file = data("mmlu_pro_votes.csv.gz");
    let args = [
        "audit",
        "votes",
        &file,
        "--models",
        models,
        "--gate",
        gate,
        "--resamples",
        "50",
        "--plot",
        "map.svg",
    ];
    let audit = home.agon(&[&args[..], &["--json"]].concat()).ok().json();
    let figures =
        ["mean_rho", "n_eff", "best_single", "plurality", "oracle", "unanimous", "correct_when_unanimous"];
    let found = figures.map(|name| four(&audit[name]));
    assert_eq!(found, ["0.4589", "1.7633", "0.7184", "0.7335", "0.8696", "0.3781", "0.9162"]);
    assert_eq!(audit["questions"], 10_294);
    let gate = &audit["gate"];
    assert_eq!(["stops", "calls", "accuracy"].map(|name| four(&gate[name])), ["0.6451", "3.0646", "0.7300"]);
    for name in figures {
        let interval = audit["intervals"][name].as_array().unwrap();
        let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
        assert!(low < audit[name].as_f64().unwrap() && audit[name].as_f64().unwrap() < high, "{name}");
    }
    assert!(home.read("map.svg").starts_with("<svg"));
    let text = home.agon(&args).ok().out;
    assert!(text.contains("1.8 independent voices") || text.contains("1.76"), "{text}");
}

/// "Order consistency: GPT-4 0.9284, ChatGPT 0.6587, PaLM2 0.7255."
#[test]
fn the_published_order_consistencies_come_out_to_four_digits() {
    let home = Home::new();
    let file = data("llmbar_judges.csv.gz");
    let audit = home.agon(&["audit", "judges", &file, "--resamples", "50", "--json"]).ok().json();
    let judges = audit["judges"].as_array().unwrap();
    let of = |name: &str| {
        let judge = judges.iter().find(|judge| judge["judge"] == name).unwrap();
        four(&judge["order_consistency"])
    };
    assert_eq!([of("GPT-4"), of("ChatGPT"), of("PaLM2")], ["0.9284", "0.6587", "0.7255"]);
}

#[test]
fn a_table_that_cannot_be_audited_is_refused_with_its_place() {
    let home = Home::new();
    home.write("t.csv", "id,gold,a,b\n1,x,x,x\n2,x,x\n");
    refused(&home, &["line 3"], || home.agon(&["audit", "votes", "t.csv"]));
    home.write("t.csv", "id,gold,a,b\n1,x,x,y\n2,x,x,x\n");
    refused(&home, &["truth"], || home.agon(&["audit", "votes", "t.csv", "--gold", "truth"]));
    refused(&home, &["t.csv"], || home.agon(&["audit", "judges", "t.csv"]));
    refused(&home, &["nowhere.csv", "cannot be read"], || home.agon(&["audit", "votes", "nowhere.csv"]));
    refused(&home, &[".svg"], || home.agon(&["audit", "votes", "t.csv", "--plot", "map.png"]));
}
