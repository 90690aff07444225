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

/// What a plain vote on the first positions says: `None` where the document has none, `Some(None)` where the vote is tied or
/// says nothing that can be read.
///
/// Of texts the answers in them are counted, by the same rule as the verdict's; a likeness of texts would not tell B from C.
/// Where positions are values, the section has the vote.
fn first_round(question: &Question, document: &Value) -> Option<Option<Answer>> {
    let evidence = document.get("evidence")?;
    let read = |text: &Value| Answer::read(&question.text, text.as_str()?);
    if !matches!(document.get("protocol").and_then(Value::as_str), Some("council" | "panel" | "review")) {
        let positions = evidence.get("dissent").and_then(Value::as_array).into_iter().flatten();
        let answers: Vec<Answer> = positions.filter_map(|position| read(position.get("position")?)).collect();
        if !answers.is_empty() {
            return Some(plurality(answers));
        }
    }
    let first = evidence.get("first_round").filter(|first| !first.is_null())?;
    Some(first.get("vote").and_then(read))
}

/// The answer that more gave than any other.
fn plurality(answers: Vec<Answer>) -> Option<Answer> {
    let votes = |answer: &Answer| answers.iter().filter(|other| *other == answer).count();
    let most = answers.iter().map(votes).max()?;
    let mut foremost = answers.iter().filter(|answer| votes(answer) == most);
    let first = foremost.next()?;
    foremost.all(|other| other == first).then(|| first.clone())
}

/// What the first phase cost in which somebody was asked: what an end after it would have.
fn first_usage(document: &Value) -> Option<Usage> {
    let phases = document.pointer("/evidence/cost/rounds").and_then(Value::as_array)?;
    let calls = |phase: &&Value| phase.get("calls").and_then(Value::as_u64).unwrap_or_default() > 0;
    let begun = phases.iter().skip_while(|phase| !calls(phase));
    let name = |phase: &Value| (phase.get("phase").cloned(), phase.get("round").cloned());
    let first = name(begun.clone().next()?);
    let parts = begun.take_while(|phase| name(phase) == first).map(Usage::of);
    parts.reduce(|sum, part| sum + part)
}
