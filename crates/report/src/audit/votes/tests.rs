use std::path::Path;

use agon_measure::audit::{AuditTable, BootstrapOptions, VoteOptions};
use insta::assert_snapshot;

use super::*;

const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 90, unicode: true };

fn audited(table: &AuditTable, options: VoteOptions) -> VoteAudit {
    agon_measure::audit::audit_votes(
        table,
        &VoteOptions { bootstrap: BootstrapOptions { resamples: 200, seed: 7 }, ..options },
    )
    .unwrap()
}

fn of(text: &str) -> VoteAudit {
    audited(&AuditTable::read(text.as_bytes()).unwrap(), VoteOptions::default())
}

fn data() -> AuditTable {
    AuditTable::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/mmlu_pro_votes.csv.gz")).unwrap()
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
    assert_snapshot!(votes(&audit, &PLAIN), @"
    Five models count for about 1.8 independent voices: the mean correlation of their errors
    is 0.46. A plain vote is right 73.35% [72.7, 74.2] of the time, 1.5 points [0.9, 2.2]
    better than the best alone, gemini-1.5-pro-002. When all agree, which they do in 37.81% of
    the questions, they are right 91.62% of the time.
    10,294 of 11,999 rows, which all 5 were asked · intervals from 200 resamples · seed 7

    The vote
    figure                           value       95% interval
    mean error correlation           0.4589      0.4501 to 0.4690
    independent voices               1.7633      1.7386 to 1.7855
    best alone is right              71.84%      71.0% to 72.7%
    plurality is right               73.35%      72.7% to 74.2%
    plurality less the best, points  +1.52       +0.9 to +2.2
    such a difference by chance      p < 0.0001
    at least one is right            86.96%      86.4% to 87.6%
    all agree                        37.81%      36.9% to 38.7%
    right when all agree             91.62%      90.8% to 92.4%
    two agree                        61.45%      60.9% to 62.0%
    the vote is tied                 8.73%       8.2% to 9.2%
    entropy of the answers, bits     0.7103      0.6983 to 0.7217

    Each alone
    model                        right   95% interval
    gemini-1.5-pro-002           71.84%  71.0% to 72.7%
    gemini-1.5-flash-002         65.74%  64.8% to 66.6%
    Meta-Llama-3_1-70B-Instruct  64.70%  63.9% to 65.6%
    DeepSeek-Coder-V2            63.78%  63.0% to 64.5%
    Qwen1.5-110B                 51.62%  50.7% to 52.6%

    Who errs together: the pairs that do so most, and the one that does so least
    one                   other                        error correlation
    gemini-1.5-flash-002  DeepSeek-Coder-V2            0.5308
    gemini-1.5-pro-002    gemini-1.5-flash-002         0.5228
    gemini-1.5-flash-002  Meta-Llama-3_1-70B-Instruct  0.4874
    DeepSeek-Coder-V2     Meta-Llama-3_1-70B-Instruct  0.4688
    gemini-1.5-pro-002    Meta-Llama-3_1-70B-Instruct  0.4630
    gemini-1.5-pro-002    Qwen1.5-110B                 0.3633

    Meta-Llama-3_1-70B-Instruct and gemini-1.5-flash-002 agree, else the plurality of five
    figure            value   95% interval
    stops             64.51%  63.7% to 65.5%
    calls a question  3.0646  3.0360 to 3.0897
    right             73.00%  72.4% to 73.8%

    Ask two first, the others only if they disagree: the pairs that no other beats
    one                 other                        stops   calls  right
    gemini-1.5-pro-002  Meta-Llama-3_1-70B-Instruct  66.58%  3.00   73.73%
    gemini-1.5-pro-002  gemini-1.5-flash-002         69.62%  2.91   73.51%
    They were chosen on these same questions, so expect slightly less on other questions.
    ");
    let plain = votes(&audit, &TerminalStyle { unicode: false, ..PLAIN });
    assert!(plain.is_ascii(), "{plain}");
}

/// What is not shown is not claimed.
#[test]
fn a_gain_that_may_be_chance_is_said_to_be_none() {
    let few = of("gold,m,n,o\nA,A,A,B\nB,B,C,B\nC,C,C,C\nD,A,D,D\n");
    assert_snapshot!(votes(&few, &PLAIN), @"
    Three models count in full, because they do not err together: the mean correlation of
    their errors is -0.33. A plain vote is right 100.00% [51.0, 100.0] of the time, +25.0
    points [0.0, 50.6] against the best alone, m: not shown to differ. When all agree, which
    they do in 25.00% of the questions, they are right 100.00% of the time.
    Only 4 questions: all figures and intervals are rough.
    4 of 4 rows, which all 3 were asked · intervals from 200 resamples · seed 7

    The vote
    figure                           value       95% interval
    mean error correlation           -0.3333     -1.0000 to -0.3333
    independent voices               9.0000      9.0000 to 376.0615
    best alone is right              75.00%      49.4% to 100.0%
    plurality is right               100.00%     51.0% to 100.0%
    plurality less the best, points  +25.00      +0.0 to +50.6
    such a difference by chance      p = 1.0000
    at least one is right            100.00%     51.0% to 100.0%
    all agree                        25.00%      0.0% to 75.0%
    right when all agree             100.00%     20.7% to 100.0%
    two agree                        50.00%      33.3% to 83.3%
    the vote is tied                 0.00%       0.0% to 49.0%
    entropy of the answers, bits     0.6887      0.2296 to 0.9183

    Each alone
    model  right   95% interval
    m      75.00%  49.4% to 100.0%
    n      75.00%  25.0% to 100.0%
    o      75.00%  25.0% to 100.0%

    Who errs together: the pairs that do so most, and the one that does so least
    one  other  error correlation
    m    n      -0.3333
    m    o      -0.3333
    n    o      -0.3333

    Ask two first, the others only if they disagree: the pairs that no other beats
    one  other  stops   calls  right
    m    n      50.00%  2.50   100.00%
    m    o      50.00%  2.50   100.00%
    n    o      50.00%  2.50   100.00%
    They were chosen on these same questions, so expect slightly less on other questions.
    ");
    let worse: String = (0..40).map(|n| if n % 2 == 0 { "A,A,B,B\n" } else { "B,B,B,A\n" }).collect();
    let shown = votes(&of(&format!("gold,m,n,o\n{worse}")), &PLAIN);
    assert!(shown.contains("worse than the best alone, m"), "{shown}");
}

/// Without a gold column: "only agreement figures; say so".
#[test]
fn without_right_answers_the_report_says_so() {
    assert_snapshot!(votes(&of("id,m,n,o\n1,A,A,B\n2,B,B,B\n3,,A,B\n"), &PLAIN), @"
    A pair of these three models gives the same answer 44.44% [11.1, 78.3] of the time, and
    all of them do in 33.33% of the questions.
    Only 3 questions: all figures and intervals are rough.
    No column says what is right, so only agreement is measured: name one with --gold to learn
    how often they are right and whether they err together.
    3 of 3 rows, which all 3 were asked · intervals from 200 resamples · seed 7

    The vote
    figure                        value   95% interval
    all agree                     33.33%  0.0% to 67.5%
    two agree                     44.44%  11.1% to 78.3%
    the vote is tied              33.33%  0.0% to 66.7%
    entropy of the answers, bits  0.6394  0.2984 to 0.9728

    Ask two first, the others only if they disagree: the pairs that no other beats
    one  other  stops   calls  right
    m    n      66.67%  2.33   -
    ");
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
