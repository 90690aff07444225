//! What a reader must know beside the figures.

use super::Findings;
use crate::arms::Kind;

impl Findings {
    /// Where self-consistency had not the budget that a debate really took: of a debate that may end early the calls are not known
    /// beforehand, so what they were is told.
    pub fn notes(&self) -> Vec<String> {
        let tried = self.arms.iter().filter(|figures| figures.n > 0);
        let Some(sampled) = tried.clone().find(|figures| figures.kind == Kind::SelfConsistency) else {
            return Vec::new();
        };
        let varies = |[least, most]: [u32; 2]| least.saturating_mul(2) < most;
        let debates =
            tried.filter(|figures| figures.kind == Kind::Protocol && varies(figures.expected_calls));
        let note = |(name, calls): (&str, f64)| {
            let samples = sampled.calls?.mean;
            // Told in tenths, so compared in tenths.
            let (drew, made) = (format!("{samples:.1}"), format!("{calls:.1}"));
            (drew != made).then(|| {
                let drew = drew.trim_end_matches(".0");
                format!(
                    "{} drew {drew} samples; {name} made {made} calls on average: not an equal budget",
                    sampled.arm
                )
            })
        };
        debates.filter_map(|figures| note((figures.arm.as_str(), figures.calls?.mean))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Dataset, Plan, Row, Trial, Wanted};

    /// "drew N samples; ask made M calls on average: not an equal budget", from what was used.
    #[test]
    fn a_debate_that_may_end_early_has_not_the_budget_of_the_samples() {
        let line = |n: u32| {
            json!({"id": n.to_string(), "question": format!("Question {n}?"), "answer": "B"}).to_string()
        };
        let dataset = Dataset::parse(&[line(1), line(2)].join("\n")).unwrap();
        let arms = ["self-consistency", "ask", "deep"].map(String::from).to_vec();
        let models = ["a/x", "b/y", "c/z"].map(String::from).to_vec();
        let plan = Plan::new(&dataset, &Wanted { arms, models, ..Wanted::default() }).unwrap();
        let [least, most] = plan.arm("ask").unwrap().calls;
        assert!(least * 2 < most, "{least} {most}");
        let samples = u64::from(plan.arm("self-consistency").unwrap().calls[0]);
        let rows = |asked: [u64; 2]| -> Vec<Row> {
            let row = |trial: &Trial| {
                let mut row = Row::failed(trial, &dataset.questions[trial.question], "");
                row.usage.calls = if trial.arm.name == "ask" { asked[trial.question] } else { samples };
                row
            };
            plan.trials.iter().map(row).collect()
        };
        let expected = format!(
            "self-consistency drew {samples} samples; ask made 3.5 calls on average: not an equal budget"
        );
        assert_eq!(Findings::of(&plan, &rows([2, 5])).notes(), [expected]);
        assert!(
            Findings::of(&plan, &rows([samples, samples])).notes().is_empty(),
            "an equal budget needs no note"
        );
        assert!(Findings::of(&plan, &[]).notes().is_empty());
    }
}
