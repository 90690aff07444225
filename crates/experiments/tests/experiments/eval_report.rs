//! The findings of `eval` as text and as a plot.

use agon_experiments::eval::findings::{
    ArmComparison, ArmFigures, BootstrapInfo, CostUnit, DebateEffect, EvalFindings, MeanCost,
};
use agon_experiments::eval::{ArmKind, eval_report, eval_svg};
use agon_report::TerminalStyle;

const STYLE: TerminalStyle = TerminalStyle { color: false, width: 100, unicode: true };

fn mean(mean: f64) -> Option<MeanCost> {
    Some(MeanCost { mean, interval: [mean * 0.9, mean * 1.1] })
}

fn figures(arm: &str, kind: ArmKind, correct: u64, calls: f64) -> ArmFigures {
    let n = 200;
    let share = correct as f64 / n as f64;
    ArmFigures {
        arm: arm.into(),
        kind,
        protocol: "poll".into(),
        models: vec!["a/x".into()],
        expected_calls: [calls.floor() as u32, calls.ceil() as u32],
        capped: false,
        n,
        correct,
        accuracy: Some(share),
        interval: [share - 0.06, share + 0.06],
        failed: 0,
        unread: 0,
        calls: mean(calls),
        tokens: mean(calls * 612.0),
        usd: mean(calls * 0.0021),
    }
}

fn comparison(
    arm: &str,
    against: &str,
    only: (u64, u64),
    interval: [f64; 2],
    p: f64,
    ratio: f64,
) -> ArmComparison {
    ArmComparison {
        arm: arm.into(),
        against: against.into(),
        n: 200,
        only_arm: only.0,
        only_against: only.1,
        difference: (only.0 as f64 - only.1 as f64) / 200.0,
        interval,
        p,
        p_corrected: p,
        cost_ratio: Some(ratio),
    }
}

fn found() -> EvalFindings {
    let mut deep = figures("deep", ArmKind::Protocol, 138, 13.2);
    (deep.failed, deep.unread) = (2, 1);
    EvalFindings {
        questions: 200,
        planned: 800,
        done: 800,
        cost_in: CostUnit::Tokens,
        arms: vec![
            figures("single", ArmKind::Single, 130, 1.0),
            figures("self-consistency", ArmKind::SelfConsistency, 134, 14.0),
            figures("vote", ArmKind::Vote, 145, 3.0),
            deep,
            figures("deep, first round", ArmKind::FirstRound, 144, 3.0),
        ],
        comparisons: vec![
            comparison("self-consistency", "single", (9, 5), [-0.015, 0.055], 0.42, 14.0),
            comparison("vote", "single", (20, 5), [0.03, 0.12], 0.0041, 3.02),
            comparison("deep", "single", (18, 10), [-0.01, 0.09], 0.19, 13.2),
            comparison("deep", "vote", (2, 9), [-0.065, -0.005], 0.065, 4.4),
            comparison("deep", "self-consistency", (12, 8), [-0.02, 0.06], 0.5, 0.98),
            comparison("deep", "deep, first round", (3, 9), [-0.06, 0.0], 0.15, 4.4),
        ],
        debates: vec![DebateEffect {
            arm: "deep".into(),
            n: 200,
            wrong_to_right: 3,
            right_to_wrong: 9,
            stayed_right: 135,
            stayed_wrong: 53,
        }],
        bootstrap: BootstrapInfo { resamples: 1000, seed: 7 },
    }
}

#[test]
fn the_report_begins_with_what_the_figures_mean() {
    insta::assert_snapshot!(eval_report(&found(), &STYLE), @"
    deep is 4.0 points better than one model alone [−1.0, 9.0] at 13 times the tokens: not shown to help
      (p 0.19).
    deep is 2.0 points better than 14 samples of one model [−2.0, 6.0] at the same tokens: not shown to
      help (p 0.50).
    deep is 3.0 points worse than the vote on its own first answers [−6.0, 0.0] at 4.4 times the tokens:
      not shown to help (p 0.15).

    arm                n    right               calls  tokens  usd      against single    p
    single             200  65.0% [59.0, 71.0]  1.0    612     $0.0021  -                 -
    self-consistency   200  67.0% [61.0, 73.0]  14.0   8,568   $0.0294  +2.0 [−1.5, 5.5]  0.42
    vote               200  72.5% [66.5, 78.5]  3.0    1,836   $0.0063  +7.5 [3.0, 12.0]  0.004
    deep               200  69.0% [63.0, 75.0]  13.2   8,078   $0.0277  +4.0 [−1.0, 9.0]  0.19
    deep, first round  200  72.0% [66.0, 78.0]  3.0    1,836   $0.0063  -                 -

    The debates against other ways to spend as much or less
    arm   against            points             only it  only the other  p
    deep  vote               −3.5 [−6.5, −0.5]  2        9               0.065
    deep  self-consistency   +2.0 [−2.0, 6.0]   12       8               0.50
    deep  deep, first round  −3.0 [−6.0, 0.0]   3        9               0.15

    What the debate made of the vote on its first answers
    arm   put right  put wrong  stayed right  stayed wrong
    deep  3          9          135           53

    self-consistency: 14 samples per question, as many calls as the most expensive debate was expected
      to make.
    deep: 2 trials failed and count as wrong.
    deep: no answer could be found in 1 verdict; that counts as wrong.
    Intervals are 95%. p is McNemar's exact test, corrected for 6 tests (Holm).
    ");
    let plain = eval_report(&found(), &TerminalStyle { unicode: false, ..STYLE });
    assert!(plain.is_ascii(), "{plain}");
}

/// The report with every sentence on one line.
fn unwrapped(found: &EvalFindings) -> String {
    eval_report(found, &STYLE).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_sentences_say_what_the_tests_show_and_what_they_cannot() {
    let mut few = found();
    few.planned = 900;
    few.comparisons.iter_mut().for_each(|c| c.n = 5);
    let text = eval_report(&few, &STYLE);
    assert!(text.starts_with("800 of 900 trials are done"), "{text}");
    assert!(text.contains("With 5 questions no test could show a difference"), "{text}");
    let mut sure = found();
    let of = |sure: &mut EvalFindings, p: f64, only: (u64, u64)| {
        sure.comparisons[2] = comparison("deep", "single", only, [0.02, 0.2], p, 13.2);
        unwrapped(sure)
    };
    assert!(of(&mut sure, 0.0004, (30, 6)).contains("deep is 12.0 points better than one model alone [2.0, 20.0] at 13 times the tokens: it helps (p under 0.001)."));
    assert!(of(&mut sure, 0.01, (6, 30)).contains(
        "12.0 points worse than one model alone [2.0, 20.0] at 13 times the tokens: it hurts (p 0.010)."
    ));
    assert!(of(&mut sure, 1.0, (6, 6)).contains("deep is as good as one model alone"));
    sure.arms[1].capped = true;
    assert!(
        of(&mut sure, 1.0, (6, 6))
            .contains("14 samples per question, fewer than the calls of the most expensive debate")
    );
    // Without a debate, the sentences are about the other arms.
    sure.arms.retain(|figures| figures.kind != ArmKind::Protocol && figures.kind != ArmKind::FirstRound);
    sure.comparisons.retain(|c| c.arm != "deep");
    let text = unwrapped(&sure);
    assert!(text.contains("vote is 7.5 points better than one model alone [3.0, 12.0] at 3.0 times the tokens: it helps (p 0.004)."), "{text}");
}

/// The picture is complete whatever the arms are called and whatever is missing.
#[test]
fn the_plot_is_one_well_formed_picture_without_references() {
    let mut strange = found();
    strange.arms[3].arm = "deep:focus=<b>&\"\u{1b}[31m\n".into();
    strange.arms[0].usd = None;
    let mut free = found();
    for figures in &mut free.arms {
        (figures.tokens, figures.accuracy, figures.interval) = (mean(0.0), Some(1.0), [1.0, 1.0]);
    }
    let mut nothing = found();
    nothing.arms.iter_mut().for_each(|figures| figures.accuracy = None);
    for (found, shown) in [(found(), 5), (strange, 5), (free, 5), (nothing, 0)] {
        for cost_in in [CostUnit::Tokens, CostUnit::Usd, CostUnit::Calls] {
            let svg = eval_svg(&EvalFindings { cost_in, ..found.clone() });
            let parsed = roxmltree::Document::parse(&svg).unwrap();
            let titles = parsed.descendants().filter(|node| node.has_tag_name("title")).count();
            let missing = usize::from(shown > 0 && cost_in == CostUnit::Usd && found.arms[0].usd.is_none());
            assert_eq!(titles, shown - missing, "{cost_in:?}");
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<b>"), "{svg}");
            assert_eq!(svg.matches("http").count(), 1, "the only address is the name of the format");
        }
    }
}
