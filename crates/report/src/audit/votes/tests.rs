use std::path::Path;

use agon_audit::{Bootstrap, Table, VoteOptions};
use insta::assert_snapshot;

use super::*;

const PLAIN: Style = Style { color: false, width: 90, unicode: true };

fn audited(table: &Table, options: VoteOptions) -> Votes {
    agon_audit::votes(table, &VoteOptions { bootstrap: Bootstrap { resamples: 200, seed: 7 }, ..options })
        .unwrap()
}

fn of(text: &str) -> Votes {
    audited(&Table::read(text.as_bytes()).unwrap(), VoteOptions::default())
}

fn data() -> Table {
    Table::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/mmlu_pro_votes.csv.gz")).unwrap()
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The panel of EVIDENCE: first what it means, then the figures with their intervals.
#[test]
fn a_panel_of_five_reads_from_what_it_means_to_the_figures() {
    let models = list(&[
        "gemini-1.5-pro-002",
        "gemini-1.5-flash-002",
        "DeepSeek-Coder-V2",
        "Meta-Llama-3_1-70B-Instruct",
        "Qwen1.5-110B",
    ]);
    let gate = list(&["Meta-Llama-3_1-70B-Instruct", "gemini-1.5-flash-002"]);
    let audit = audited(&data(), VoteOptions { models, gate, ..VoteOptions::default() });
    assert_snapshot!(votes(&audit, &PLAIN), @"");
    let plain = votes(&audit, &Style { unicode: false, ..PLAIN });
    assert!(plain.is_ascii(), "{plain}");
}

/// What is not shown is not claimed.
#[test]
fn a_gain_that_may_be_chance_is_said_to_be_none() {
    let few = of("gold,m,n,o\nA,A,A,B\nB,B,C,B\nC,C,C,C\nD,A,D,D\n");
    assert_snapshot!(votes(&few, &PLAIN), @"");
    let worse: String = (0..40).map(|n| if n % 2 == 0 { "A,A,B,B\n" } else { "B,B,B,A\n" }).collect();
    let shown = votes(&of(&format!("gold,m,n,o\n{worse}")), &PLAIN);
    assert!(shown.contains("worse than the best alone, m"), "{shown}");
}

/// Without a gold column: "only agreement figures; say so".
#[test]
fn without_right_answers_the_report_says_so() {
    assert_snapshot!(votes(&of("id,m,n,o\n1,A,A,B\n2,B,B,B\n3,,A,B\n"), &PLAIN), @"");
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let shown = votes(&of("gold,\"\u{1b}[31mm\",n,o\nA,A,A,A\nB,B,C,C\nC,C,A,A\n"), &PLAIN);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn the_picture_is_of_errors_or_else_of_agreement() {
    assert!(votes_svg(&of("gold,m,n\nA,A,B\nB,A,B\n")).contains("Error correlation"));
    assert!(votes_svg(&of("m,n\nA,B\nB,B\n")).contains("answered alike"));
}
