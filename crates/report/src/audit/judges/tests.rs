use std::path::Path;

use agon_measure::audit::{AuditTable, BootstrapOptions, JudgeOptions};
use insta::assert_snapshot;

use super::*;

const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 80, unicode: true };

fn audited(table: &AuditTable) -> JudgeAudit {
    let bootstrap = BootstrapOptions { resamples: 200, seed: 7 };
    agon_measure::audit::audit_judges(table, &JudgeOptions { bootstrap, ..JudgeOptions::default() }).unwrap()
}

fn of(text: &str) -> JudgeAudit {
    audited(&AuditTable::read(text.as_bytes()).unwrap())
}

/// The judges of LLMBar: order first, then who is right, then what they are together.
#[test]
fn six_judges_read_from_what_it_means_to_the_figures() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/llmbar_judges.csv.gz");
    let audit = audited(&AuditTable::open(&file).unwrap());
    assert_snapshot!(judges(&audit, &PLAIN), @"
    Shown the same two answers in the other order, GPT-4 keeps its ruling most
    often, 92.84% [90.5, 95.2] of the time, and Falcon least, 41.53% [37.2, 45.6].
    Six judges count for about 2.2 independent voices: the mean correlation of their
    errors is 0.36. Five of six prefer the first or the second place, whichever
    answer is there.
    419 items in both orders · intervals from 200 resamples · seed 7

    Does the order decide?
    judge         consistent  95% interval    bias    95% interval    neither
    GPT-4         92.84%      90.5% to 95.2%  +2.39   -0.2 to +5.0    0
    ChatGPT       65.87%      61.1% to 69.9%  +29.36  +24.3 to +34.6  0
    ChatGPT-0301  57.76%      53.5% to 62.8%  +34.13  +28.4 to +39.6  0
    PaLM2         72.55%      68.3% to 76.1%  +12.17  +7.4 to +16.5   8
    LLaMA2        74.94%      71.1% to 78.8%  +11.93  +7.0 to +15.9   2
    Falcon        41.53%      37.2% to 45.6%  +55.13  +50.4 to +60.1  0
    consistent: the same ruling in both orders · bias: points more for what is shown
    first

    Are they right?
    judge         first order  second order  in both  95% interval
    GPT-4         82.82%       86.16%        80.91%   77.3% to 84.5%
    ChatGPT       40.57%       39.38%        22.91%   19.6% to 26.7%
    ChatGPT-0301  48.93%       47.26%        26.97%   23.6% to 31.5%
    PaLM2         68.02%       71.60%        56.09%   51.1% to 60.1%
    LLaMA2        44.15%       44.15%        31.74%   28.4% to 36.0%
    Falcon        55.61%       57.28%        27.21%   23.6% to 31.5%

    Together
    figure                                          value   95% interval
    agreement beyond chance (Krippendorff's alpha)  0.3210  0.2931 to 0.3501
    mean error correlation                          0.3568  0.3273 to 0.3838
    independent judges                              2.1550  2.0554 to 2.2756

    Who errs together: the pairs that do so most, and the one that does so least
    one           other         error correlation
    ChatGPT       ChatGPT-0301  0.6723
    ChatGPT       LLaMA2        0.5303
    ChatGPT-0301  Falcon        0.4987
    ChatGPT-0301  LLaMA2        0.4813
    ChatGPT       Falcon        0.4418
    GPT-4         Falcon        0.1886

    The same in both orders, by subset
    judge         Natural  Adversarial/    Adversarial/   Adversarial/  Adversarial/
                  (100)    Neighbor (134)  GPTInst (92)   GPTOut (47)   Manual (46)
    GPT-4         95%      93%             95%            94%           83%
    ChatGPT       71%      72%             62%            60%           52%
    ChatGPT-0301  78%      59%             40%            45%           59%
    PaLM2         80%      67%             68%            66%           87%
    LLaMA2        79%      78%             73%            72%           65%
    Falcon        52%      43%             30%            30%           50%

    Right in both orders, by subset
    judge         Natural  Adversarial/    Adversarial/   Adversarial/  Adversarial/
                  (100)    Neighbor (134)  GPTInst (92)   GPTOut (47)   Manual (46)
    GPT-4         93%      75%             84%            74%           72%
    ChatGPT       67%      5%              8%             21%           11%
    ChatGPT-0301  73%      8%              8%             23%           24%
    PaLM2         73%      46%             58%            43%           59%
    LLaMA2        70%      13%             17%            43%           20%
    Falcon        50%      22%             15%            19%           26%
    ");
    let plain = judges(&audit, &TerminalStyle { unicode: false, ..PLAIN });
    assert!(plain.is_ascii(), "{plain}");
}

#[test]
fn one_judge_without_gold_is_audited_too() {
    assert_snapshot!(judges(&of("J_ab,J_ba\n1,2\n2,2\n1,1\nNone,\n"), &PLAIN), @"
    Shown the same two answers in the other order, J keeps its ruling 50.00% [0.0,
    100.0] of the time.
    Only 4 items: all figures and intervals are rough.
    No column says which answer is better, so whether they are right is not
    measured: name one with --gold.
    4 items in both orders · intervals from 200 resamples · seed 7

    Does the order decide?
    judge  consistent  95% interval    bias    95% interval   neither  no ruling
    J      50.00%      0.0% to 100.0%  +25.00  +0.0 to +75.0  1        1
    consistent: the same ruling in both orders · bias: points more for what is shown
    first
    ");
}

#[test]
fn the_picture_is_of_errors_or_else_of_agreement() {
    let rulings = "J_ab,J_ba,K_ab,K_ba\n1,2,1,1\n2,2,2,2\n";
    assert!(judges_svg(&of(rulings)).contains("rulings that are the same"));
    let with_gold: String =
        rulings.lines().zip(["gold,", "1,", "2,"]).map(|(line, gold)| format!("{gold}{line}\n")).collect();
    assert!(judges_svg(&of(&with_gold)).contains("Error correlation of judges"));
}
