//! `/`: the debates, with search and filters.

use agon_store::ListedDebate;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::demos;
use super::frame::{SiteSection, page, short_time, state_mark};
use crate::hosting::DebateHost;
use crate::serve::ServerState;
use crate::serve::api::ApiQuery;
use crate::serve::api::debates::{ListQuery, listed_page};
use crate::serve::problem::Problem;

const STATES: [&str; 6] = ["running", "waiting", "interrupted", "complete", "incomplete", "failed"];

/// The screen.
pub async fn list_screen(
    State(state): State<ServerState>,
    ApiQuery(mut query): ApiQuery<ListQuery>,
) -> Result<Response, Problem> {
    // A form sends its empty fields, too.
    for field in [&mut query.after, &mut query.protocol, &mut query.state, &mut query.q] {
        *field = field.take().filter(|value| !value.trim().is_empty());
    }
    let (debates, next) = listed_page(&state.host, query.clone()).await?;
    let is_filtered = query.protocol.is_some() || query.state.is_some() || query.q.is_some();
    let main = html! {
        div class="title-row" {
            h1 { "Debates" }
            a class="button" href="/new" { "New debate" }
        }
        @if debates.is_empty() && !is_filtered && query.after.is_none() { (welcome()) }
        @else { (filters(&query)) }
        div data-part="debates" {
            @if debates.is_empty() && is_filtered { p class="empty" { "No debate matches. " a href="/" { "Show all" } } }
            (rows(&state.host, &debates))
            @if let Some(next) = next { p { a rel="next" href=(next_link(&query, &next)) { "Older debates" } } }
        }
    };
    Ok(page("Debates", SiteSection::Debates, "screen debates", &main))
}

fn filters(query: &ListQuery) -> Markup {
    let is_chosen = |chosen: &Option<String>, word: &str| chosen.as_deref() == Some(word);
    html! {
        form class="filters" role="search" action="/" method="get" {
            label { span { "Search" } input type="search" name="q" value=[query.q.as_deref()] placeholder="Words in questions and answers"; }
            label {
                span { "Kind" }
                select name="protocol" {
                    option value="" { "All kinds" }
                    @for name in agon_protocols::all().map(|protocol| protocol.info().name) {
                        option value=(name) selected[is_chosen(&query.protocol, name)] { (name) }
                    }
                }
            }
            label {
                span { "State" }
                select name="state" {
                    option value="" { "Any state" }
                    @for name in STATES { option value=(name) selected[is_chosen(&query.state, name)] { (name) } }
                }
            }
            button type="submit" { "Show" }
        }
    }
}

fn rows(host: &DebateHost, debates: &[ListedDebate]) -> Markup {
    html! {
        ul class="debates" {
            @for debate in debates {
                li {
                    a href={ "/debates/" (debate.id) } { (first_line(&debate.question)) }
                    p class="facts" {
                        (state_mark(host.state(debate).as_str()))
                        span { (debate.protocol) }
                        (short_time(&debate.created_at))
                        @if let Some(parent) = &debate.parent { span { "branch of " a href={ "/debates/" (parent) } { (parent) } } }
                        code { (debate.id) }
                    }
                }
            }
        }
    }
}

/// A list has room for this much of a question.
const QUESTION_CHARS_MAX: usize = 240;

fn first_line(question: &str) -> String {
    let line = agon_host::clean_line(question);
    match line.trim() {
        "" => "(no question)".to_owned(),
        line => agon_core::wording::excerpt(line, QUESTION_CHARS_MAX),
    }
}

/// The link to the next page, with the same filters.
fn next_link(query: &ListQuery, next: &str) -> String {
    let pairs = [("q", &query.q), ("protocol", &query.protocol), ("state", &query.state)];
    let mut link = format!("/?after={next}");
    for (key, value) in pairs {
        if let Some(value) = value {
            link.push_str(&format!("&{key}={}", percent_encoded(value)));
        }
    }
    link
}

/// A value of a query string.
pub fn percent_encoded(value: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(encode).collect()
}

/// What somebody sees who has no debate yet.
fn welcome() -> Markup {
    html! {
        div class="welcome" {
            p class="lead" { "Several models answer, read each other, change their minds or not, and you see who moved and on which words. Watch a scripted debate first; it needs no model and costs nothing." }
            (demos::demo_cards())
        }
    }
}
