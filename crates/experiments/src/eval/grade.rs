//! The answer in an outcome document, and whether it is right.

use agon_protocols::answer::Answer;
use serde_json::Value;

use crate::dataset::Question;
use crate::plan::Trial;
use crate::results::{First, Row, Usage};

/// Grades a trial by its debate's outcome document.
pub fn grade(trial: &Trial, question: &Question, document: &Value) -> Row {
    let status = document.get("status").and_then(Value::as_str).unwrap_or("failed").to_owned();
    // What broke off has said nothing.
    let said = answer_of(document).filter(|_| matches!(status.as_str(), "complete" | "incomplete"));
    // A poll asks for the answer alone; elsewhere it must be found in what is said.
    let read = if trial.arm.protocol == "poll" { Answer::alone } else { Answer::read };
    let answer = said.as_deref().and_then(|said| read(&question.text, said));
    let met = |answer: &Option<Answer>| answer.as_ref().is_some_and(|answer| question.is_met_by(answer));
    let first = first_round(question, document).map(|answer| First {
        correct: met(&answer),
        answer: answer.map(|answer| answer.said().to_owned()),
        usage: first_usage(document),
    });
    Row {
        key: trial.key.clone(),
        arm: trial.arm.name.clone(),
        id: question.id.clone(),
        debate: document.get("id").and_then(Value::as_str).map(str::to_owned),
        correct: met(&answer),
        unread: answer.is_none() && said.is_some(),
        answer: answer.map(|answer| answer.said().to_owned()),
        gold: question.gold.clone(),
        usage: Usage::of(document.get("usage").unwrap_or(&Value::Null)),
        first_round: first,
        status,
        why: None,
    }
}

/// What a debate decided, in its protocol's own field.
pub fn answer_of(document: &Value) -> Option<String> {
    let verdict = document.get("verdict")?;
    let fields: &[&str] = match document.get("protocol").and_then(Value::as_str)? {
        "council" => &["decision"],
        "review" => &["verdict"],
        "panel" => &["status", "verdict_type"],
        _ => &["answer"],
    };
    let said = fields.iter().find_map(|field| verdict.get(field).and_then(Value::as_str));
    said.filter(|said| !said.trim().is_empty()).map(str::to_owned)
}

/// What a plain vote on the first positions says: `None` where the document has none or nothing in it can be read, `Some(None)`
/// where the vote is tied. What cannot be read is not wrong: counted so, debate would seem to help where nobody changed.
///
/// Of texts the answers in them are counted, by the same rule as the verdict's; a likeness of texts would not tell B from C.
/// Where positions are values, or answers alone, the section has the vote.
fn first_round(question: &Question, document: &Value) -> Option<Option<Answer>> {
    let evidence = document.get("evidence")?;
    let protocol = protocol(document);
    let is_text = !matches!(protocol, "council" | "panel" | "review" | "ask" | "poll");
    if is_text {
        let read = |text: &Value| Answer::read(&question.text, text.as_str()?);
        let positions = evidence.get("dissent").and_then(Value::as_array).into_iter().flatten();
        let answers: Vec<Answer> = positions.filter_map(|position| read(position.get("position")?)).collect();
        if !answers.is_empty() {
            return Some(plurality(answers));
        }
    }
    let first = evidence.get("first_round").filter(|first| !first.is_null())?;
    // There the reasons stand beside the answers, and words in them would be taken for answers.
    let is_alone = matches!(protocol, "ask" | "poll");
    let read = if is_alone { Answer::alone } else { Answer::read };
    let vote = first.get("vote").and_then(Value::as_str).and_then(|vote| read(&question.text, vote));
    if is_text && vote.is_none() { None } else { Some(vote) }
}

/// The answer that more gave than any other.
fn plurality(answers: Vec<Answer>) -> Option<Answer> {
    let votes = |answer: &Answer| answers.iter().filter(|other| *other == answer).count();
    let most = answers.iter().map(votes).max()?;
    let mut foremost = answers.iter().filter(|answer| votes(answer) == most);
    let first = foremost.next()?;
    foremost.all(|other| other == first).then(|| first.clone())
}

/// What everything cost up to the last phase in which somebody took a first position: what an end after it would have.
fn first_usage(document: &Value) -> Option<Usage> {
    let takes: &[&str] = match protocol(document) {
        // Those who join for the debate give their first answers as it begins.
        "ask" => &["answer", "deep/answer"],
        "arena" => &["propose"],
        "council" => &["opening"],
        "panel" => &["position"],
        "review" => &["r1"],
        _ => &["answer"],
    };
    let phases = document.pointer("/evidence/cost/rounds").and_then(Value::as_array)?;
    let is_first =
        |phase: &Value| phase.get("phase").and_then(Value::as_str).is_some_and(|name| takes.contains(&name));
    let last = phases.iter().rposition(is_first)?;
    phases.iter().take(last + 1).map(Usage::of).reduce(|sum, part| sum + part)
}

fn protocol(document: &Value) -> &str {
    document.get("protocol").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Dataset, Plan, Wanted};

    fn tried() -> (Dataset, Plan) {
        let line = json!({"question": "Which?", "choices": ["x", "y", "z"], "answer": "B"});
        let dataset = Dataset::parse(&line.to_string()).unwrap();
        let wanted = Wanted { arms: vec!["single".into()], models: vec!["a/x".into()], ..Wanted::default() };
        let plan = Plan::new(&dataset, &wanted).unwrap();
        (dataset, plan)
    }

    /// A first vote that cannot be read is left out of the comparison with the verdict, and not counted as wrong.
    #[test]
    fn a_first_vote_that_cannot_be_read_is_none() {
        let (dataset, plan) = tried();
        let graded = |said: &str| {
            let evidence = json!({
                "first_round": {"vote": null, "positions": []},
                "dissent": [{"position": said}, {"position": said}],
            });
            let document = json!({"protocol": "deep", "status": "complete", "verdict": {"answer": "Answer: B"}, "evidence": evidence});
            grade(&plan.trials[0], &dataset.questions[0], &document).first_round
        };
        assert_eq!(graded("It depends on a great many things, and nobody can say what they are."), None);
        assert!(graded("Much speaks for it.\nAnswer: B").unwrap().correct);
    }

    /// "words in the reasons" are no answers: `ask` and `poll` have the answers alone in their first round.
    #[test]
    fn the_first_vote_of_a_ladder_is_on_the_answers_and_not_on_what_is_said_for_them() {
        let (dataset, plan) = tried();
        let first = |protocol: &str, vote: Value| {
            let position = "A\n\nMany would say that the answer is B. It is not.";
            let evidence = json!({
                "first_round": {"vote": vote, "positions": [{"position": "A", "count": 2}]},
                "dissent": [{"position": position}, {"position": position}],
            });
            let document = json!({"protocol": protocol, "status": "complete", "verdict": {"answer": "B"}, "evidence": evidence});
            grade(&plan.trials[0], &dataset.questions[0], &document).first_round.unwrap()
        };
        for protocol in ["ask", "poll"] {
            let found = first(protocol, json!("A"));
            assert_eq!((found.answer.as_deref(), found.correct), (Some("A"), false), "{protocol}");
            assert_eq!(first(protocol, Value::Null).answer, None, "a tie has no answer");
            let long =
                "Whatever stands here in more than twelve words is the answer of those who gave it alone";
            assert_eq!(first(protocol, json!(long)).answer.as_deref(), Some(long));
        }
    }

    /// The first round costs all that was asked until the last first position was there.
    #[test]
    fn the_first_round_ends_with_the_last_first_position() {
        let (dataset, plan) = tried();
        let calls = |protocol: &str, phases: &[(&str, u64)]| {
            let phase = |(name, calls): &(&str, u64)| json!({"phase": name, "round": 0, "calls": calls, "input_tokens": 10, "output_tokens": 1, "usd": 0.5});
            let rounds: Vec<Value> = phases.iter().map(phase).collect();
            let evidence = json!({"first_round": {"vote": "B"}, "cost": {"rounds": rounds}});
            let document =
                json!({"protocol": protocol, "status": "complete", "verdict": null, "evidence": evidence});
            let first = grade(&plan.trials[0], &dataset.questions[0], &document).first_round.unwrap();
            first.usage.map(|usage| (usage.calls, usage.input_tokens, usage.usd))
        };
        let ladder =
            [("answer", 2), ("compare", 2), ("deep/answer", 3), ("deep/debate", 5), ("deep/synthesis", 1)];
        assert_eq!(calls("ask", &ladder), Some((7, 30, Some(1.5))));
        assert_eq!(
            calls("ask", &ladder[..2]),
            Some((2, 10, Some(0.5))),
            "what compares them is no first answer"
        );
        let review = [("explore", 6), ("r1", 3), ("restate", 3), ("r2", 3)];
        assert_eq!(calls("review", &review), Some((9, 20, Some(1.0))));
        assert_eq!(
            calls("arena", &[("context", 1), ("propose", 3), ("critique", 3)]).map(|found| found.0),
            Some(4)
        );
        assert_eq!(calls("council", &[("opening", 4), ("verdict", 1)]).map(|found| found.0), Some(4));
        assert_eq!(calls("panel", &[("position", 3), ("rebuttal", 3)]).map(|found| found.0), Some(3));
        assert_eq!(calls("deep", &[("debate", 3)]), None);
    }
}
