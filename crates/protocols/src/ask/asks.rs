//! The asks for the first answers and their comparison. The asks of the debate and the panel are `deep`'s and `panel`'s own.

use std::sync::{Arc, OnceLock};

use agon_core::{Corrupt, Debate, Fence, NameMask, Prompt, ReplySchema, Seat, SeededDraw, Step};
use serde::Serialize;
use serde_json::json;

use super::AskPhase;
use super::OWN_TEMPLATES;
use super::first_answers::{FirstAnswer, FirstAnswers, pair_of};
use super::replies::{AnswerComparison, AskAnswer};
use crate::prompt::{self, PromptSet, new_ask};

/// The compiled templates and the schemas, which are the same in every debate.
struct AskParts {
    prompts: PromptSet,
    answer: Arc<ReplySchema>,
    comparison: Arc<ReplySchema>,
}

fn parts() -> Result<&'static AskParts, Corrupt> {
    static PARTS: OnceLock<AskParts> = OnceLock::new();
    prompt::made_once(&PARTS, || {
        Ok(AskParts {
            prompts: PromptSet::new(OWN_TEMPLATES)?,
            answer: Arc::new(prompt::schema_of::<AskAnswer>("first_answer")),
            comparison: Arc::new(prompt::schema_of::<AnswerComparison>("comparison")),
        })
    })
}

/// What the templates show. `a` and `b` are the two answers that are compared.
#[derive(Serialize)]
struct AskPromptContext {
    question: String,
    interjections: Vec<String>,
    schema: String,
    a: Option<String>,
    b: Option<String>,
}

/// Asks the two seats of the first step to answer, each alone.
pub(super) fn pair_answers(debate: &Debate) -> Result<Step, Corrupt> {
    let pair = pair_of(debate);
    answers(debate, AskPhase::Answer, |seat| pair.contains(&seat.id.as_str()))
}

/// Asks the debaters who join in the second step to answer the same question in the same way, each alone.
pub(super) fn joining_answers(debate: &Debate) -> Result<Step, Corrupt> {
    let pair = pair_of(debate);
    answers(debate, AskPhase::DeepAnswer, |seat| !pair.contains(&seat.id.as_str()))
}

fn answers(debate: &Debate, phase: AskPhase, is_asked: impl Fn(&Seat) -> bool) -> Result<Step, Corrupt> {
    let parts = parts()?;
    let prompt = whole_prompt(debate, parts, "ask/answer.hbs", &parts.answer, [None, None])?;
    let seats = debate.brief.seats_of("debater").filter(|seat| is_asked(seat));
    let asks = seats.map(|seat| new_ask(seat, prompt.clone(), Some(parts.answer.clone())));
    Ok(Step::Ask(phase.at(0), asks.collect()))
}

/// Asks both whether the two answers are the same. Neither is told which one is its own.
pub(super) fn comparisons(debate: &Debate, firsts: &FirstAnswers<'_>) -> Result<Step, Corrupt> {
    let parts = parts()?;
    let (fence, mask) = (Fence::new(&debate.brief), NameMask::new(&debate.brief));
    let labelled = labelled(debate, firsts);
    let quoted = [0, 1].map(|place| {
        let (label, first) = labelled.get(place)?;
        Some(fence.quote(&format!("answer {label}"), &mask.apply(&first.reply.text())))
    });
    let prompt = whole_prompt(debate, parts, "ask/compare.hbs", &parts.comparison, quoted)?;
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

fn whole_prompt(
    debate: &Debate,
    parts: &AskParts,
    file: &str,
    schema: &ReplySchema,
    [a, b]: [Option<String>; 2],
) -> Result<Prompt, Corrupt> {
    let fence = Fence::new(&debate.brief);
    let system = parts.prompts.shared("ask/system.hbs", &json!({"rule": fence.rule()}))?;
    let interjections = debate.interjections.iter();
    let context = AskPromptContext {
        question: fence.quote("the question", &debate.brief.question),
        interjections: interjections
            .map(|interjection| fence.quote("the person who asked", &interjection.text))
            .collect(),
        schema: schema.json.to_string(),
        a,
        b,
    };
    parts.prompts.whole(&system, file, &context)
}
