//! `/debates/ID` while the debate is not over: seats as columns, rounds as rows, and everything that a person can do.
//!
//! `/debates/ID/live` has the parts that change. The script fetches them when something happened, and swaps those that differ.

use agon_core::Debate;
use agon_core::wording::{count, counted, dollars, heading, seconds};
use agon_models::{PromptPart, prompt_parts};
use agon_report::{ReportSource, live_table, share_bar};
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};

use super::answer_form::answer_form;
use super::frame::{SiteSection, page, state_mark};
use crate::cli::debate_reading::DebateReading;
use crate::hosting::person_seats::WaitingAsk;
use crate::hosting::{DebateState, blocking};
use crate::serve::ServerState;
use crate::serve::api::ApiPath;
use crate::serve::problem::Problem;

/// The screen.
pub async fn live_screen(state: &ServerState, id: &str, now: DebateState) -> Result<Response, Problem> {
    let debate = state.host.read_debate(id).await?;
    let asks = state.host.waiting_asks(id);
    let fault = state.host.fault_of(id);
    let main = blocking(move || {
        let parts = changing_parts(&debate, now, &asks, fault.as_deref())?;
        let question = agon_host::clean_text(&debate.brief.question);
        let title: String = agon_host::clean_line(&question).chars().take(120).collect();
        Ok((title, whole_screen(&debate, &question, now, fault.as_deref(), &parts)))
    });
    let (title, main) = main.await?;
    Ok(page(&title, SiteSection::Debates, "screen live", &main))
}

/// The parts that change.
pub async fn live_parts(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
) -> Result<Response, Problem> {
    let id = state.host.find(&id).await?;
    let wanted = id.clone();
    let listed = state.host.read_store(move |store| store.listed_debate(&wanted)).await?;
    let now = state.host.state(&listed);
    let debate = state.host.read_debate(&id).await?;
    let asks = state.host.waiting_asks(&id);
    let fault = state.host.fault_of(&id);
    let parts = blocking(move || changing_parts(&debate, now, &asks, fault.as_deref())).await?;
    let parts = html! { div data-state=(now.as_str()) data-over[now.is_over()] { (parts) } };
    Ok(Html(parts.into_string()).into_response())
}

fn whole_screen(
    debate: &Debate,
    question: &str,
    now: DebateState,
    fault: Option<&str>,
    parts: &Markup,
) -> Markup {
    let brief = &debate.brief;
    let mut models: Vec<String> = brief.seats.iter().map(|seat| agon_host::clean_line(&seat.model)).collect();
    models.sort();
    models.dedup();
    html! {
        div data-debate=(brief.id) data-after=(debate.events.saturating_sub(1)) data-live {
            header class="question" {
                p class="facts" { (brief.protocol) " \u{b7} " (counted(brief.seats.len() as u64, "seat")) " \u{b7} " (models.join(", ")) }
                h1 { (question.trim()) }
            }
            @if now == DebateState::Interrupted {
                // The actions come first: the table may be long.
                @if let Some(fault) = fault { p class="fault" role="alert" { (fault) } }
                (controls(now))
                (parts)
            } @else {
                (parts)
                (controls(now))
            }
            noscript { p { "Load this page again to see what has happened since." } }
        }
    }
}

fn changing_parts(
    debate: &Debate,
    now: DebateState,
    asks: &[WaitingAsk],
    fault: Option<&str>,
) -> Result<Markup, crate::hosting::host_error::HostError> {
    let reading = DebateReading::of(debate)?;
    let keys: Vec<String> = asks.iter().map(|ask| format!("{}.{}", ask.ask, ask.attempt)).collect();
    Ok(html! {
        div data-part="status" class="status" { (status(&reading.source(), now, fault)) }
        div data-part="turn" data-key=(keys.join(" ")) { @for ask in asks { (your_turn(ask)) } }
        div data-part="table" class="wide" tabindex="0" role="region" aria-label="The debate so far" {
            (live_table(&reading.source()))
        }
    })
}

fn status(source: &ReportSource<'_>, now: DebateState, fault: Option<&str>) -> Markup {
    let debate = source.debate;
    let phase = debate.last_phase().map_or_else(
        || "Nothing has been asked yet".to_owned(),
        |phase| source.phase_heading(&phase.name, phase.round),
    );
    let spent = debate.spent();
    let usd = if spent.usd_known { dollars(spent.usd) } else { "price unknown".into() };
    let limits = &debate.brief.limits;
    let shares = [
        limits.usd.map(|limit| (format!("{} of {}", usd, dollars(limit)), spent.usd / limit)),
        limits.calls.map(|limit| {
            (format!("{} of {} calls", spent.calls, limit), f64::from(spent.calls) / f64::from(limit.max(1)))
        }),
    ];
    html! {
        p class="now" { (state_mark(now.as_str())) strong { (phase) } }
        dl class="spent" {
            div { dt { "Cost" } dd { (usd) } }
            div { dt { "Calls" } dd { (spent.calls) } }
            div { dt { "Tokens" } dd { (count(spent.input_tokens)) " in, " (count(spent.output_tokens)) " out" } }
            div { dt { "Time" } dd { (seconds(debate.at_ms)) } }
        }
        @for (words, share) in shares.into_iter().flatten() { p class="budget" { (share_bar(share)) (words) } }
        @if let Some(fault) = fault.filter(|_| now != DebateState::Interrupted) { p class="fault" role="alert" { (fault) } }
    }
}

fn your_turn(ask: &WaitingAsk) -> Markup {
    let name = ask.label.clone().unwrap_or_else(|| ask.seat.clone());
    let round = if ask.round > 0 { format!(", round {}", ask.round) } else { String::new() };
    html! {
        section class="your-turn" aria-labelledby={ "turn-" (ask.ask) } {
            h2 id={ "turn-" (ask.ask) } { "Your turn: " (ask.model) " as " (name) }
            p class="facts" { (heading(&ask.phase)) (round) " \u{b7} " (seconds(ask.seconds_left.saturating_mul(1_000))) " left" }
            div class="prompt" tabindex="0" role="region" aria-label="What you are asked" { (what_is_asked(&agon_host::clean_text(&ask.asked))) }
            details { summary { "What the models read" } pre class="prompt" tabindex="0" { (agon_host::clean_text(&ask.prompt)) } }
            form data-answer=(ask.ask) {
                (answer_form(ask.schema.as_ref()))
                p class="refused" role="alert" data-message {}
                p class="buttons" {
                    button type="submit" { "Answer" }
                    button type="button" class="quiet" data-pass { "Pass" }
                }
            }
        }
    }
}

/// A prompt as a person reads it: headings, paragraphs, and quotations without their fences.
fn what_is_asked(prompt: &str) -> Markup {
    html! {
        @for part in prompt_parts(prompt) {
            @match part {
                PromptPart::Quotation { title, lines } => { h4 { (title) } blockquote { (lines.join("\n")) } }
                PromptPart::Line(line) => {
                    @if let Some(heading) = line.strip_prefix("## ") { h3 { (heading) } }
                    @else if !line.trim().is_empty() { p { (line) } }
                }
            }
        }
    }
}

/// What a person can do with a debate that is not over.
fn controls(now: DebateState) -> Markup {
    let is_interrupted = now == DebateState::Interrupted;
    html! {
        section class="controls" aria-label="What you can do" {
            @if is_interrupted {
                form data-action="resume" {
                    label { span { "Say this to all seats first (optional)" } textarea name="text" rows="2" {} }
                    p class="buttons" { button type="submit" { "Resume the debate" } }
                }
            } @else {
                form data-action="interjections" {
                    label { span { "Say something to all seats. They read it in the next phase." } textarea name="text" rows="2" required {} }
                    p class="buttons" {
                        button type="submit" { "Interject" }
                        button type="button" class="quiet" data-do="conclude" { "Conclude now" }
                        button type="button" class="quiet" data-do="stop" { "Stop" }
                    }
                    p class="note" { "Conclude ends the rounds and lets the debate close with what there is. A stopped debate can be resumed." }
                }
            }
            p role="status" data-message {}
        }
    }
}
