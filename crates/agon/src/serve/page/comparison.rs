//! `/compare?a=ID&b=ID`: two debates side by side, aligned by round.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{SiteSection, page};
use crate::hosting::blocking;
use crate::serve::ServerState;
use crate::serve::api::ApiQuery;
use crate::serve::compare::{ComparedDebate, ComparedRound, DebateComparison, HeldPosition, compare};
use crate::serve::problem::Problem;

/// Which debates.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct CompareChoice {
    a: String,
    b: String,
}

/// The screen.
pub async fn compare_screen(
    State(state): State<ServerState>,
    ApiQuery(choice): ApiQuery<CompareChoice>,
) -> Result<Response, Problem> {
    let (a, b) = (choice.a.trim(), choice.b.trim());
    if a.is_empty() || b.is_empty() {
        return Ok(page("Compare", SiteSection::Debates, "screen compare", &choice_form(a, b)));
    }
    let (a, b) = (state.host.find(a).await?, state.host.find(b).await?);
    let (a, b) = (state.host.read_debate(&a).await?, state.host.read_debate(&b).await?);
    let main = blocking(move || Ok(side_by_side(&compare(&a, &b)?))).await?;
    Ok(page("Compare", SiteSection::Debates, "screen compare", &main))
}

fn choice_form(a: &str, b: &str) -> Markup {
    html! {
        h1 { "Compare two debates" }
        form class="filters" action="/compare" method="get" {
            label { span { "A debate" } input name="a" value=(a) required autocomplete="off"; }
            label { span { "Another, or a branch of it" } input name="b" value=(b) required autocomplete="off"; }
            button type="submit" { "Compare" }
        }
    }
}

fn side_by_side(comparison: &DebateComparison) -> Markup {
    let DebateComparison { a, b, rounds, differences } = comparison;
    html! {
        h1 { "Compare" }
        @if differences.is_empty() { p class="lead" { "They do not differ." } }
        @else { p class="lead" { "They differ in: " (differences.join(", ")) "." } }
        div class="pair heads" { (head(a)) (head(b)) }
        h2 { "What each came to" }
        div class="pair" { (outcome(a, b)) (outcome(b, a)) }
        @for round in rounds { (round_pair(round)) }
    }
}

fn head(debate: &ComparedDebate) -> Markup {
    html! {
        div {
            p class="facts" {
                (debate.protocol) " \u{b7} " code { (debate.id) }
                @if let Some(parent) = &debate.parent { " \u{b7} branch of " code { (parent) } }
            }
            p class="asked" { a href={ "/debates/" (debate.id) } { (agon_host::clean_line(&debate.question)) } }
        }
    }
}

fn outcome(debate: &ComparedDebate, other: &ComparedDebate) -> Markup {
    let differs = debate.headline.decision() != other.headline.decision();
    let decision = debate.headline.decision().unwrap_or("No answer yet");
    let only_here = |text: &String| !other.dissent.contains(text);
    html! {
        div class={ "outcome" @if differs { " differs" } } {
            p class="decision" { (agon_host::clean_line(decision)) }
            p class="note" { (agon_host::clean_line(&debate.headline.ending)) }
            @if debate.dissent.is_empty() { p class="note" { "No dissent is recorded." } }
            @else {
                h3 { "Dissent" }
                ul { @for item in &debate.dissent { li class=[only_here(item).then_some("differs")] { (agon_host::clean_line(item)) } } }
            }
            p class="note" { (usage_words(&debate.usage)) }
        }
    }
}

fn usage_words(usage: &serde_json::Value) -> String {
    let calls = usage.get("calls").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let price = usage.get("usd").and_then(serde_json::Value::as_f64);
    let price = price.map_or("price unknown".to_owned(), agon_core::wording::dollars);
    format!("{}, {price}", agon_core::wording::counted(calls, "call"))
}

fn round_pair(round: &ComparedRound) -> Markup {
    let title = if round.round == 0 { "First answers".to_owned() } else { format!("Round {}", round.round) };
    html! {
        h2 { (title) @if round.same { " " span class="badge" { "the same" } } }
        div class="pair" { (held(&round.a, &round.b)) (held(&round.b, &round.a)) }
    }
}

fn held(positions: &[HeldPosition], others: &[HeldPosition]) -> Markup {
    html! {
        @if positions.is_empty() { div { p class="empty" { "No such round." } } }
        @else {
            dl class="held" {
                @for position in positions {
                    div class=[(!others.contains(position)).then_some("differs")] {
                        dt { (agon_core::wording::seat_name(&position.seat)) }
                        dd { (agon_host::clean_line(&position.position)) }
                    }
                }
            }
        }
    }
}
