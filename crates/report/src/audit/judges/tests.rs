use std::path::Path;

use agon_audit::{Bootstrap, JudgeOptions, Table};
use insta::assert_snapshot;

use super::*;

const PLAIN: Style = Style { color: false, width: 100, unicode: true };

fn audited(table: &Table) -> Judges {
    let bootstrap = Bootstrap { resamples: 200, seed: 7 };
    agon_audit::judges(table, &JudgeOptions { bootstrap, ..JudgeOptions::default() }).unwrap()
}

fn of(text: &str) -> Judges {
    audited(&Table::read(text.as_bytes()).unwrap())
}

/// The judges of LLMBar: order first, then who is right, then what they are together.
#[test]
fn six_judges_read_from_what_it_means_to_the_figures() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/llmbar_judges.csv.gz");
    let audit = audited(&Table::open(&file).unwrap());
    assert_snapshot!(judges(&audit, &PLAIN), @"");
    let plain = judges(&audit, &Style { unicode: false, ..PLAIN });
    assert!(plain.is_ascii(), "{plain}");
}

#[test]
fn one_judge_without_gold_is_audited_too() {
    assert_snapshot!(judges(&of("J_ab,J_ba\n1,2\n2,2\n1,1\nNone,\n"), &PLAIN), @"");
}

#[test]
fn the_picture_is_of_errors_or_else_of_agreement() {
    let rulings = "J_ab,J_ba,K_ab,K_ba\n1,2,1,1\n2,2,2,2\n";
    assert!(judges_svg(&of(rulings)).contains("rulings that are the same"));
    let with_gold: String =
        rulings.lines().zip(["gold,", "1,", "2,"]).map(|(line, gold)| format!("{gold}{line}\n")).collect();
    assert!(judges_svg(&of(&with_gold)).contains("Error correlation of judges"));
}
