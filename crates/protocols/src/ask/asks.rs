//! The asks of the first step, and the first answers of those who join in the second.

use std::sync::{Arc, OnceLock};

use agon_core::{Corrupt, Debate, Fence, NameMask, Prompt, ReplySchema, Seat, SeededDraw, Step};
use serde_json::{Value, json};

use super::AskPhase;
use super::OWN_TEMPLATES;
use super::first_answers::{FirstAnswer, FirstAnswers, pair_of};
use super::replies::{AnswerComparison, AskAnswer};
use crate::prompt::{self, PromptSet, new_ask};

/// The compiled templates and the schemas, which are the same in every debate.
struct AskParts {
    prompts: PromptSet,
    given: Arc<ReplySchema>,
    comparison: Arc<ReplySchema>,
}

fn parts() -> Result<&'static AskParts, Corrupt> {
    static PARTS: OnceLock<AskParts> = OnceLock::new();
    prompt::made_once(&PARTS, || {
        Ok(AskParts {
            prompts: PromptSet::new(OWN_TEMPLATES)?,
            given: Arc::new(prompt::schema_of::<AskAnswer>("first_answer")),
            comparison: Arc::new(prompt::schema_of::<AnswerComparison>("comparison")),
        })
    })
}

/// The two of the first step answer, each alone.
pub(super) fn answers(debate: &Debate) -> Result<Step, Corrupt> {
    let pair = pair_of(debate);
    given(debate, AskPhase::Answer, |seat| pair.contains(&seat.id.as_str()))
}

/// Those who join in the second step answer the same question in the same way, each alone.
pub(super) fn further(debate: &Debate) -> Result<Step, Corrupt> {
    let pair = pair_of(debate);
    given(debate, AskPhase::DeepAnswer, |seat| !pair.contains(&seat.id.as_str()))
}

fn given(debate: &Debate, phase: AskPhase, sits: impl Fn(&Seat) -> bool) -> Result<Step, Corrupt> {
    let parts = parts()?;
    let prompt = whole(debate, parts, "ask/answer.hbs", json!({"schema": parts.given.json.to_string()}))?;
    let seats = debate.brief.seats_of("debater").filter(|seat| sits(seat));
    let asks = seats.map(|seat| new_ask(seat, prompt.clone(), Some(parts.given.clone())));
    Ok(Step::Ask(phase.at(0), asks.collect()))
}

/// Both are asked whether the two answers are the same. Neither is told which one is its own.
pub(super) fn comparisons(debate: &Debate, firsts: &FirstAnswers<'_>) -> Result<Step, Corrupt> {
    let parts = parts()?;
    let (fence, mask) = (Fence::new(&debate.brief), NameMask::new(&debate.brief));
    let labelled = labelled(debate, firsts);
    let quoted = |place: usize| {
        let (label, first) = labelled.get(place)?;
        Some(fence.quote(&format!("answer {label}"), &mask.apply(&first.given.text())))
    };
    let context = json!({"a": quoted(0), "b": quoted(1), "schema": parts.comparison.json.to_string()});
    let prompt = whole(debate, parts, "ask/compare.hbs", context)?;
    let seats = pair_of(debate).into_iter().filter_map(|seat| debate.brief.seat(seat));
    let asks = seats.map(|seat| new_ask(seat, prompt.clone(), Some(parts.comparison.clone())));
    Ok(Step::Ask(AskPhase::Compare.at(0), asks.collect()))
}

/// The answers of the first step under the labels by which they are compared, in label order.
pub(super) fn labelled<'f, 'a>(
    debate: &Debate,
    firsts: &'f FirstAnswers<'a>,
) -> Vec<(&'static str, &'f FirstAnswer<'a>)> {
    let mut pair = firsts.pair(debate);
    SeededDraw::new(debate.brief.seed, "pair").shuffle(&mut pair);
    ["A", "B"].into_iter().zip(pair).collect()
}

fn whole(debate: &Debate, parts: &AskParts, file: &str, mut context: Value) -> Result<Prompt, Corrupt> {
    let fence = Fence::new(&debate.brief);
    let system = parts.prompts.shared("ask/system.hbs", &json!({"rule": fence.rule()}))?;
    let said = debate.interjections.iter();
    let said: Vec<String> = said.map(|said| fence.quote("the person who asked", &said.text)).collect();
    if let Value::Object(map) = &mut context {
        map.insert("question".into(), fence.quote("the question", &debate.brief.question).into());
        map.insert("interjections".into(), said.into());
    }
    parts.prompts.whole(&system, file, &context)
}
