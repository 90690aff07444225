//! The errands of a debate: what is looked up before it, and what is computed in it. Each is an ask like any other, so that its answer is
//! in the log; no seat is behind it.

use std::sync::Arc;

use agon_core::{Ask, Brief, Phase, Prompt, Schema, Seat, Step};
use serde_json::{Value, json};

use super::context;
use super::log::Log;
use super::schema;
use crate::prompt::ask;

/// What says how alike texts are where nobody names anything else.
pub(super) const EMBEDDINGS: &str = "embeddings/lexical";

/// Round 0: every source is asked for what it has about the task. `None` where there is nothing to ask.
pub(super) fn context(log: &Log<'_>) -> Option<Step> {
    let brief = &log.debate.brief;
    let schema = schema::found();
    let asks: Vec<Ask> = context::sources(brief)
        .into_iter()
        .map(|(seat, model)| {
            let (query, limit) = (&brief.question, brief.int("context_items"));
            let query = match seat.as_str() {
                "memory" => json!({"query": query, "limit": limit, "agents": context::agents(brief)}),
                _ => json!({"query": query, "limit": limit}),
            };
            let mut ask = errand(&seat, &model, &query, schema.clone());
            ask.within_ms = Some(within_ms(brief));
            ask.firm = true;
            ask
        })
        .collect();
    (!asks.is_empty()).then(|| Step::Ask(Phase::new("context", 0), asks))
}

/// How long a source may take: what is looked up must not eat the time in which the debate is to be held.
fn within_ms(brief: &Brief) -> u64 {
    const MOST_OF_DEADLINE: u64 = 5;
    let wanted = (brief.float("context_timeout") * 1000.0) as u64;
    let most = brief.limits.deadline_ms.map(|deadline| (deadline / MOST_OF_DEADLINE).max(1));
    most.map_or(wanted, |most| wanted.min(most))
}

/// How alike the proposals are, with each other and each with what it was before.
pub(super) fn compare(log: &Log<'_>, round: u32) -> Step {
    let texts = |stage: Option<&super::log::Stage>| -> Vec<String> {
        stage.into_iter().flat_map(|stage| &stage.held).flatten().map(|held| held.said.text()).collect()
    };
    let before = log.stages.len().checked_sub(2).and_then(|place| log.stages.get(place));
    let compared = [texts(log.stage_now()), texts(before)].concat();
    let named = log.debate.brief.text("embeddings").trim();
    let model = if named.is_empty() { EMBEDDINGS } else { named };
    let schema = schema::likeness(compared.len());
    Step::Ask(Phase::new("compare", round), vec![errand("similarity", model, &json!(compared), schema)])
}

fn errand(seat: &str, model: &str, query: &Value, schema: Arc<Schema>) -> Ask {
    let seat = Seat { id: seat.to_owned(), role: "errand".to_owned(), model: model.to_owned() };
    let prompt = Prompt { system: "".into(), shared: "".into(), tail: query.to_string() };
    ask(&seat, prompt, Some(schema))
}
