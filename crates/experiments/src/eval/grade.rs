//! The answer of a debate, and whether it is right.

use agon_core::Status;
use agon_protocols::answer::Answer;
use agon_report::ReportSource;

use super::dataset::EvalQuestion;
use super::plan::EvalTrial;
use super::results::{FirstVote, ResultRow, TrialUsage};

/// Grades the debate of a trial.
pub fn grade(trial: &EvalTrial, question: &EvalQuestion, source: &ReportSource<'_>) -> ResultRow {
    let debate = source.debate;
    let status = debate.outcome.as_ref().map(|outcome| outcome.status);
    // A debate that failed or did not end has decided nothing.
    let is_decided = matches!(status, Some(Status::Complete | Status::Incomplete));
    let decision = source.view.headline.decision().map(str::trim);
    let decision = decision.filter(|decision| is_decided && !decision.is_empty());
    // A plain vote asks for the answer alone. The decision of a debate may be a long text with the answer in it.
    let read = if trial.arm.is_plain_vote() { Answer::alone } else { Answer::read };
    let answer = decision.and_then(|decision| read(&question.text, decision));
    let is_right =
        |answer: &Option<Answer>| answer.as_ref().is_some_and(|answer| question.is_answered_by(answer));
    let said = |answer: Option<Answer>| answer.map(|answer| answer.said().to_owned());
    let first_round = first_vote(question, source).map(|answer| FirstVote {
        correct: is_right(&answer),
        answer: said(answer),
        usage: first_usage(source),
    });
    ResultRow {
        key: trial.key.clone(),
        arm: trial.arm.name.clone(),
        id: question.id.clone(),
        debate: Some(debate.brief.id.clone()),
        correct: is_right(&answer),
        unread: answer.is_none() && decision.is_some(),
        answer: said(answer),
        gold: question.gold.clone(),
        usage: TrialUsage::of_debate(debate),
        first_round,
        status: status_word(status).into(),
        why: None,
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

/// What a plain vote on the first positions says: `Some(None)` if it is tied, `None` if no first position can be read.
///
/// An unreadable vote is not counted as wrong. Debate would otherwise seem to help where it changed nothing.
fn first_vote(question: &EvalQuestion, source: &ReportSource<'_>) -> Option<Option<Answer>> {
    let answers: Vec<Answer> = source
        .view
        .ballots
        .iter()
        .filter_map(|ballot| {
            let read = if ballot.stands_alone { Answer::alone } else { Answer::read };
            read(&question.text, &ballot.answer)
        })
        .collect();
    if answers.is_empty() { None } else { Some(plurality(&answers)) }
}

/// The answer that more seats gave than any other.
fn plurality(answers: &[Answer]) -> Option<Answer> {
    let votes = |answer: &Answer| answers.iter().filter(|other| *other == answer).count();
    let most = answers.iter().map(votes).max()?;
    let mut foremost = answers.iter().filter(|answer| votes(answer) == most);
    let first = foremost.next()?;
    foremost.all(|other| other == first).then(|| first.clone())
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
        grade(&plan.trials[0], &dataset.questions[0], &source)
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
    fn the_decision_of_a_debate_is_graded_by_the_answer_in_it() {
        let long =
            "They argued for a long time and did not say what they decided in any way that could be told.";
        for (status, decision, answer, correct, unread) in [
            (Some(Status::Complete), Some("Much speaks for it.\n\nAnswer: B"), Some("B"), true, false),
            (Some(Status::Incomplete), Some("Answer: A"), Some("A"), false, false),
            (Some(Status::Complete), Some(long), None, false, true),
            (Some(Status::Complete), Some(" "), None, false, false),
            (Some(Status::Complete), None, None, false, false),
            (Some(Status::Failed), Some("Answer: B"), None, false, false),
            (None, Some("Answer: B"), None, false, false),
        ] {
            let row = graded("deep", status, &view(decision, &[]), &[]);
            assert_eq!(
                (row.answer.as_deref(), row.correct, row.unread),
                (answer, correct, unread),
                "{decision:?}"
            );
            assert_eq!(row.first_round, None);
        }
    }

    #[test]
    fn the_verdict_word_is_graded_before_the_answer() {
        let mut view = view(Some("Answer: A"), &[]);
        view.headline.verdict = Some("B".into());
        assert!(graded("deep", Some(Status::Complete), &view, &[]).correct);
    }

    #[test]
    fn first_positions_that_cannot_be_read_make_no_vote() {
        let first = |ballots: &[(&str, bool)]| {
            graded("deep", Some(Status::Complete), &view(Some("Answer: B"), ballots), &[]).first_round
        };
        let unreadable = "It depends on a great many things, and nobody can say what they are.";
        assert_eq!(first(&[(unreadable, false), (unreadable, false)]), None);
        let argued = "Much speaks for it.\nAnswer: B";
        assert!(first(&[(argued, false), (unreadable, false)]).unwrap().correct);
        let tied = first(&[(argued, false), ("Answer: A", false)]).unwrap();
        assert_eq!((tied.answer, tied.correct), (None, false));
    }

    /// Words in a long answer that stands alone are not mistaken for another answer.
    #[test]
    fn an_answer_that_stands_alone_is_taken_whole() {
        let long =
            "Whatever is written here in more than twelve words is the answer of those who gave it alone";
        let ballots = [(long, true), (long, true), ("A", true)];
        let row = graded("single", Some(Status::Complete), &view(Some(long), &ballots), &[]);
        assert_eq!(row.answer.as_deref(), Some(long));
        assert_eq!(row.first_round.unwrap().answer.as_deref(), Some(long));
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
