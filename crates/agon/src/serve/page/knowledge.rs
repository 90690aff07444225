//! `/knowledge`: what debates decided, and what people added.

use agon_core::wording::excerpt;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::frame::{SiteSection, page, short_time};
use crate::serve::ServerState;
use crate::serve::api::ApiQuery;
use crate::serve::api::listings::{KnowledgeQuery, knowledge_entries};
use crate::serve::problem::Problem;

/// A longer text is cut in the list.
const TEXT_CHARS_MAX: usize = 1_200;

/// The screen.
pub async fn knowledge_screen(
    State(state): State<ServerState>,
    ApiQuery(query): ApiQuery<KnowledgeQuery>,
) -> Result<Response, Problem> {
    let words = query.q.clone().unwrap_or_default();
    let entries = knowledge_entries(&state, query).await?;
    let main = html! {
        h1 { "Knowledge" }
        p class="lead" { "What debates decided and what people added. Later debates can be told of it." }
        form class="filters" role="search" action="/knowledge" method="get" {
            label { span { "Search by words and by meaning" } input type="search" name="q" value=(words); }
            button type="submit" { "Search" }
        }
        @if entries.is_empty() {
            p class="empty" { @if words.is_empty() { "There is nothing yet: a debate that decides something leaves an entry here." } @else { "Nothing matches." } }
        }
        ul class="entries" { @for entry in &entries { li { (entry_block(entry)) } } }
    };
    Ok(page("Knowledge", SiteSection::Knowledge, "screen knowledge", &main))
}

fn entry_block(entry: &Value) -> Markup {
    let text = |key: &str| agon_host::clean_line(entry.get(key).and_then(Value::as_str).unwrap_or_default());
    html! {
        h2 { (text("title")) }
        p { (excerpt(&text("text"), TEXT_CHARS_MAX)) }
        p class="facts" {
            span { (text("kind")) }
            (short_time(&text("at")))
            @if let Some(confidence) = entry.get("confidence").and_then(Value::as_f64) { span { (format_args!("{:.0}% sure", 100.0 * confidence)) } }
            @if !text("turned_out").is_empty() { span { "turned out " (text("turned_out")) } }
            @if let Some(debate) = entry.get("debate").and_then(Value::as_str) { a href={ "/debates/" (debate) } { "the debate" } }
            code { (text("id")) }
        }
    }
}
