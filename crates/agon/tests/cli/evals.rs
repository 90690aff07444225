//! `agon eval`: "questions with gold answers; runs single model, self-consistency at equal budget, first-round vote, and any
//! protocols, through the same engine; ... resumable; works with `script/`".

use serde_json::Value;

use crate::support::{Home, refused};

/// One knows both answers; the other is wrong on the second question until it is shown better.
const SCRIPT: &str = r#"
cases:
  - asked: capital of France
    seats:
      "*":
        answer: { answer: Paris, why: It is, confidence: 0.9 }
  - asked: capital of Switzerland
    seats:
      "*":
        answer: { answer: The city of Zurich, why: It is the largest, confidence: 0.6 }
        clerk:
          analysis: One names another city than the two others.
          positions:
            - { statement: Zurich., members: [{ label: other, quote: Zurich }] }
            - { statement: Bern., members: [{ label: other-2, quote: Bern }, { label: other-3, quote: Berne }] }
"#;

const DATASET: &str = "{\"id\": \"fr\", \"question\": \"What is the capital of France?\", \"answer\": \"Paris\"}\n\
    {\"id\": \"ch\", \"question\": \"What is the capital of Switzerland?\", \"answer\": [\"Bern\", \"Berne\"]}\n";

fn home() -> Home {
    let home = Home::new();
    home.write("know.yaml", SCRIPT);
    home.write("q.jsonl", DATASET);
    home
}

const POLLS: [&str; 8] = [
    "eval",
    "q.jsonl",
    "--models",
    "script/know.yaml",
    "--arms",
    "single,self-consistency",
    "--samples",
    "3",
];

/// A seed that nobody chose is drawn and told, and the run goes on with it. Two runs do not write to one file.
#[test]
fn the_seed_is_drawn_and_told_and_the_results_are_locked() {
    let home = home();
    let seed = |file: &str| -> Value {
        serde_json::from_str::<Value>(home.read(file).lines().next().unwrap()).unwrap()["seed"].clone()
    };
    let said = home.agon(&POLLS).ok();
    let drawn = seed("q.results.jsonl");
    assert!(said.err.contains(&format!("--seed {drawn} draws the same again")), "{said:?}");
    let again = home.agon(&[&POLLS[..], &["--retry"]].concat()).ok();
    assert!(!again.err.contains("the seed is"), "{again:?}");
    assert_eq!(seed("q.results.jsonl"), drawn);
    home.agon(&[&POLLS[..], &["--out", "other.jsonl"]].concat()).ok();
    assert_ne!(seed("other.jsonl"), drawn, "one in 2^53");
    let file = std::fs::File::options().write(true).open(home.path("other.jsonl")).unwrap();
    file.lock().unwrap();
    refused(&home, &["other.jsonl", "another eval is writing to it"], || {
        home.agon(&[&POLLS[..], &["--out", "other.jsonl"]].concat())
    });
}

#[test]
fn accuracy_and_cost_are_told_for_every_arm() {
    let home = home();
    let findings = home.agon(&[&POLLS[..], &["--json", "--plot", "plot.svg"]].concat()).ok().json();
    let arms = findings["arms"].as_array().unwrap();
    let names: Vec<&str> =
        arms.iter().map(|arm| arm["name"].as_str().or(arm["arm"].as_str()).unwrap()).collect();
    assert_eq!(names, ["single", "self-consistency"], "{findings:#}");
    let lines: Vec<Value> =
        home.read("q.results.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5, "a header and four trials");
    let right = lines.iter().filter(|line| line["correct"] == true).count();
    assert_eq!(right, 2, "Paris twice, Zurich twice: {lines:#?}");
    // "short answers by arithmetic; otherwise a clerk is asked": the first order is wrong, so nothing verifies and nothing is wrong.
    let zurich = lines.iter().find(|line| line["key"] == "single/ch").unwrap();
    let is_known = zurich["correct"].is_boolean();
    assert_eq!(
        (zurich["correct"] == false, zurich["graded_by"] == "clerk"),
        (is_known, is_known),
        "{zurich:#}"
    );
    assert_eq!(zurich["grading"]["clerk"], "script/know.yaml");
    let sampled = lines.iter().find(|line| line["key"] == "self-consistency/fr").unwrap();
    assert_eq!(sampled["usage"]["calls"], 3);
    assert!(home.read("plot.svg").starts_with("<svg") && home.read("plot.svg").contains("self-consistency"));
    // The debates are kept beside the results, and not among the person's own.
    assert!(home.path("q.results.db").exists() && !home.path("home/agon.db").exists());
}

#[test]
fn a_run_goes_on_where_it_was_broken_off_and_asks_nothing_twice() {
    let home = home();
    home.agon(&POLLS).ok();
    let whole = home.read("q.results.jsonl");
    // The last line was cut while it was written, and the one before is gone.
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.truncate(3);
    let cut = format!("{}\n{{\"key\": \"sing", lines.join("\n"));
    home.write("q.results.jsonl", cut);
    let again = home.agon(&POLLS).ok();
    assert!(again.err.contains("2 of 4 trials are in"), "{again:?}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    // The same debates, by their ids: they were in the store, and cost nothing again.
    assert_eq!(sorted(&home.read("q.results.jsonl")), sorted(&whole));
    let done = home.agon(&POLLS).ok();
    assert!(done.err.contains("4 of 4"), "{done:?}");
    refused(&home, &["another run", "seed"], || home.agon(&[&POLLS[..], &["--seed", "9"]].concat()));
}

#[test]
fn a_dry_run_counts_and_calls_nobody() {
    let home = home();
    let shown = home.agon(&[&POLLS[..], &["--dry-run"]].concat()).ok();
    assert!(shown.out.contains("4 trials, 8 to 10 calls"), "{shown:?}");
    assert!(!home.path("q.results.jsonl").exists());
}

#[test]
fn what_cannot_be_tried_is_refused_before_the_first_call() {
    let home = home();
    home.write("bad.jsonl", "{\"question\": \"Q?\"}\n");
    refused(&home, &["line 1"], || home.agon(&["eval", "bad.jsonl", "--models", "script/know.yaml"]));
    refused(&home, &["no arm \"deeep\""], || {
        home.agon(&["eval", "q.jsonl", "--models", "script/know.yaml", "--arms", "deeep"])
    });
    refused(&home, &[".svg"], || home.agon(&[&POLLS[..], &["--plot", "plot.png"]].concat()));
    refused(&home, &["no such file"], || {
        home.agon(&["eval", "nowhere.jsonl", "--models", "script/know.yaml"])
    });
}
