//! The answer of a debate, and whether it is right.
//!
//! Options, numbers and equal texts are graded by arithmetic. Whether another text gives the gold answer is a question of meaning:
//! [`TrialGrade::open`] are the texts that a clerk must compare with the gold answers. What it does not declare, or what does not verify,
//! is unknown and never counts as wrong.

use agon_core::{Debate, Status};
use agon_protocols::clerk::{AnswerSheet, CLERK};
use agon_report::ReportSource;

use super::dataset::{EvalQuestion, stated_answer};
use super::grading::GradingVerdict;
use super::plan::EvalTrial;
use super::results::{FirstVote, GradedBy, GradingRecord, ResultRow, TrialUsage};

/// The result of a trial as far as arithmetic can grade it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialGrade {
    /// The result. What a clerk must grade is unknown in it.
    pub row: ResultRow,
    /// The texts that a clerk must compare with the gold answers.
    pub open: Vec<String>,
}

impl TrialGrade {
    /// Grades the debate of a trial.
    pub fn of(trial: &EvalTrial, question: &EvalQuestion, source: &ReportSource<'_>) -> Self {
        let debate = source.debate;
        let status = debate.outcome.as_ref().map(|outcome| outcome.status);
        // A debate that failed or did not end has decided nothing.
        let is_decided = matches!(status, Some(Status::Complete | Status::Incomplete));
        let decision = source.view.headline.decision().filter(|_| is_decided).map(stated_answer);
        let answer = decision.filter(|answer| !answer.is_empty());
        let correct = match &answer {
            Some(answer) => question.is_answered_by(answer),
            None if is_decided && is_result_unknown(source) => None,
            None => Some(false),
        };
        let first_round = first_vote(source).map(|vote| FirstVote {
            correct: vote.as_ref().map_or(Some(false), |answer| question.is_answered_by(answer)),
            answer: vote,
            usage: first_usage(source),
        });
        let row = ResultRow {
            key: trial.key.clone(),
            arm: trial.arm.name.clone(),
            id: question.id.clone(),
            debate: Some(debate.brief.id.clone()),
            graded_by: answer.as_ref().and(correct).map(|_| GradedBy::Arithmetic),
            correct,
            answer,
            gold: question.gold.clone(),
            usage: TrialUsage::of_debate(debate),
            first_round,
            grading: None,
            status: status_word(status).into(),
            why: None,
        };
        let mut open: Vec<String> = row.answer.iter().filter(|_| row.correct.is_none()).cloned().collect();
        let vote = row.first_round.iter().filter(|vote| vote.correct.is_none());
        open.extend(vote.filter_map(|vote| vote.answer.clone()));
        open.dedup();
        Self { row, open }
    }

    /// The result with the grades of the clerk, whose log this is.
    pub fn with_grading(mut self, grading: &Debate) -> Result<ResultRow, agon_core::Corrupt> {
        let grades = GradingVerdict::read(grading)?.grades;
        let grade = |answer: Option<&String>| {
            let place = self.open.iter().position(|text| Some(text) == answer)?;
            grades.get(place).copied().flatten()
        };
        if self.row.correct.is_none() {
            self.row.correct = grade(self.row.answer.as_ref());
            self.row.graded_by = self.row.correct.map(|_| GradedBy::Clerk);
        }
        if let Some(vote) = self.row.first_round.as_mut().filter(|vote| vote.correct.is_none()) {
            vote.correct = grade(vote.answer.as_ref());
        }
        self.row.grading = Some(GradingRecord {
            debate: grading.brief.id.clone(),
            clerk: grading.brief.seat(CLERK).map(|seat| seat.model.clone()).unwrap_or_default(),
            usage: TrialUsage::of_debate(grading),
        });
        Ok(self.row)
    }

    /// The result without a clerk, who could not be asked for this reason.
    pub fn without_grading(mut self, why: &str) -> ResultRow {
        self.row.why = Some(format!("the clerk did not grade it: {why}"));
        self.row
    }
}

fn status_word(status: Option<Status>) -> &'static str {
    match status {
        Some(Status::Complete) => "complete",
        Some(Status::Incomplete) => "incomplete",
        Some(Status::Failed) => "failed",
        None => "interrupted",
    }
}

/// Whether there is no answer because it is not known which answers are the same.
fn is_result_unknown(source: &ReportSource<'_>) -> bool {
    source.view.positions.rounds.last().is_some_and(|last| !last.is_sorted())
}

/// What a plain vote on the first positions says: `Some(None)` if it is tied, `None` if it is not known.
///
/// A vote that is not known is not counted as wrong. Debate would otherwise seem to help where it changed nothing.
fn first_vote(source: &ReportSource<'_>) -> Option<Option<String>> {
    let ballots = &source.view.ballots;
    let answers: Vec<String> = ballots.iter().map(|ballot| stated_answer(&ballot.answer)).collect();
    let sheet = AnswerSheet::new(&source.debate.brief, answers.iter().map(String::as_str).collect());
    let groups: Vec<Vec<usize>> = if sheet.is_settled() {
        sheet.sorted(None).0.groups.into_iter().map(|group| group.members).collect()
    } else {
        let first = source.view.positions.rounds.first().filter(|first| first.is_sorted())?;
        let place = |seat: &str| ballots.iter().position(|ballot| ballot.seat == seat);
        let holders = first.distinct().into_iter().map(|(_, holders)| holders);
        holders.map(|held| held.iter().filter_map(|stand| place(&stand.seat)).collect()).collect()
    };
    let most = groups.iter().map(Vec::len).max().filter(|most| *most > 0)?;
    let mut foremost = groups.iter().filter(|group| group.len() == most);
    let (first, is_tied) = (foremost.next()?, foremost.next().is_some());
    let answer: Option<&String> = first.first().and_then(|place| answers.get(*place));
    Some(answer.filter(|_| !is_tied).cloned())
}

/// What the debate used up to the last phase in which a seat took its first position.
fn first_usage(source: &ReportSource<'_>) -> Option<TrialUsage> {
    let phases = &source.evidence.cost.rounds;
    let takes_first = |name: &str| source.info.phase(name).is_some_and(|phase| phase.takes_first_positions);
    let last = phases.iter().rposition(|phase| takes_first(&phase.phase))?;
    phases.iter().take(last + 1).map(TrialUsage::of_phase).reduce(|sum, part| sum + part)
}

#[cfg(test)]
mod tests {
    use agon_core::{
        Ballot, Brief, Debate, DebateLimits, DebateView, Fidelity, Headline, LOG_VERSION, Outcome,
        PositionHistory, Termination,
    };
    use agon_measure::evidence::PhaseCost;
    use serde_json::{Value, json};

    use super::*;
    use crate::eval::{EvalDataset, EvalPlan, EvalRequest};

    fn debate(status: Option<Status>) -> Debate {
        let brief = Brief {
            version: LOG_VERSION,
            id: "d1".into(),
            protocol: "deep".into(),
            question: "Which?".into(),
            files: Vec::new(),
            options: Default::default(),
            seats: Vec::new(),
            seed: 1,
            nonce: "nonce".into(),
            limits: DebateLimits::default(),
            templates: Default::default(),
            written_by: String::new(),
            created_at: "2026-01-01T00:00:00Z".into(),
            parent: None,
        };
        let mut debate = Debate::open(brief).unwrap().0;
        debate.outcome = status.map(|status| Outcome {
            status,
            termination: Termination::AllRoundsComplete,
            rounds_completed: 1,
            verdict: Value::Null,
            dissent: Vec::new(),
            fidelity: Fidelity::Full,
            warnings: Vec::new(),
            labels: Default::default(),
            positions: Vec::new(),
            passed: None,
            lesson: None,
        });
        debate
    }

    /// Grades a debate of `deep` with this view, whose phases made this many calls. The right answer is B.
    fn graded(arm: &str, status: Option<Status>, view: &DebateView, phases: &[(&str, u32)]) -> ResultRow {
        let line = json!({"question": "Which?", "choices": ["x", "y", "z"], "answer": "B"});
        let dataset = EvalDataset::parse(&line.to_string()).unwrap();
        let models = vec!["a/x".to_owned()];
        let request = EvalRequest { arms: vec![arm.into()], models, ..EvalRequest::default() };
        let plan = EvalPlan::new(&dataset, &request).unwrap();
        let debate = debate(status);
        let mut evidence = agon_measure::evidence(&debate, &PositionHistory::default());
        let phases = phases.iter().map(|(name, calls)| PhaseCost {
            phase: (*name).to_owned(),
            round: 0,
            calls: *calls,
            input_tokens: 10,
            cached_input_tokens: 0,
            output_tokens: 1,
            usd: Some(0.5),
        });
        evidence.cost.rounds = phases.collect();
        let info = agon_protocols::find("deep").unwrap().info();
        let source = ReportSource { info, debate: &debate, view, evidence: &evidence };
        TrialGrade::of(&plan.trials[0], &dataset.questions[0], &source).row
    }

    fn view(answer: Option<&str>, ballots: &[(&str, bool)]) -> DebateView {
        let ballot = |(answer, stands_alone): &(&str, bool)| Ballot {
            seat: "debater-1".into(),
            answer: (*answer).to_owned(),
            stands_alone: *stands_alone,
        };
        let headline = Headline { answer: answer.map(str::to_owned), ..Headline::default() };
        DebateView { headline, ballots: ballots.iter().map(ballot).collect(), ..DebateView::default() }
    }

    #[test]
    fn short_answers_are_graded_by_arithmetic_and_texts_are_unknown() {
        let long = "They argued for a long time, and most of it spoke for the second of the three.";
        for (status, decision, answer, correct) in [
            (Some(Status::Complete), Some("Much speaks for it.\n\nAnswer: B"), Some("B"), Some(true)),
            (Some(Status::Complete), Some("**Answer:** y"), Some("y"), Some(true)),
            (Some(Status::Incomplete), Some("Answer: A"), Some("A"), Some(false)),
            (Some(Status::Complete), Some(long), Some(long), None),
            (Some(Status::Complete), Some(" "), None, Some(false)),
            (Some(Status::Complete), None, None, Some(false)),
            (Some(Status::Failed), Some("Answer: B"), None, Some(false)),
            (None, Some("Answer: B"), None, Some(false)),
        ] {
            let row = graded("deep", status, &view(decision, &[]), &[]);
            assert_eq!((row.answer.as_deref(), row.correct), (answer, correct), "{decision:?}");
            assert_eq!(row.first_round, None);
        }
    }

    #[test]
    fn the_verdict_word_is_graded_before_the_answer() {
        let mut view = view(Some("Answer: A"), &[]);
        view.headline.verdict = Some("B".into());
        assert_eq!(graded("deep", Some(Status::Complete), &view, &[]).correct, Some(true));
    }

    /// A poll without an answer is wrong if its votes are tied, and unknown if nobody sorted them.
    #[test]
    fn a_result_that_is_not_known_is_not_wrong() {
        let stand = |position: &str| agon_core::SeatPosition {
            seat: position.into(),
            position: position.into(),
            is_unsorted: true,
            ..Default::default()
        };
        let round = agon_core::RoundPositions { stands: vec![stand("x"), stand("y")], ..Default::default() };
        let mut view = view(None, &[]);
        view.positions.rounds = vec![round];
        assert_eq!(graded("single", Some(Status::Incomplete), &view, &[]).correct, None);
        view.positions.rounds[0].stands.iter_mut().for_each(|stand| stand.is_unsorted = false);
        assert_eq!(graded("single", Some(Status::Complete), &view, &[]).correct, Some(false));
    }

    #[test]
    fn first_positions_that_nobody_sorted_make_no_vote() {
        let first = |ballots: &[(&str, bool)]| {
            graded("deep", Some(Status::Complete), &view(Some("Answer: B"), ballots), &[]).first_round
        };
        let text = "It depends on a great many things, and nobody can say what they are.";
        let argued = "Much speaks for it.\nAnswer: B";
        assert_eq!(first(&[(text, false), (argued, false)]), None);
        assert_eq!(first(&[(argued, false), (argued, false)]).unwrap().correct, Some(true));
        let tied = first(&[(argued, false), ("Answer: A", false)]).unwrap();
        assert_eq!((tied.answer, tied.correct), (None, Some(false)));
        let equal = first(&[(text, true), (text, true)]).unwrap();
        assert_eq!((equal.answer.as_deref(), equal.correct), (Some(text), None));
    }

    #[test]
    fn the_first_round_costs_everything_up_to_the_last_first_position() {
        let usage = |phases: &[(&str, u32)]| {
            let view = view(Some("Answer: B"), &[("B", true)]);
            let first = graded("deep", Some(Status::Complete), &view, phases).first_round.unwrap();
            first.usage.map(|usage| (usage.calls, usage.input_tokens, usage.usd))
        };
        assert_eq!(usage(&[("answer", 3), ("debate", 3), ("synthesis", 1)]), Some((3, 10, Some(0.5))));
        assert_eq!(usage(&[("evaluate", 2), ("answer", 3), ("debate", 3)]), Some((5, 20, Some(1.0))));
        assert_eq!(usage(&[("debate", 3)]), None);
    }
}
