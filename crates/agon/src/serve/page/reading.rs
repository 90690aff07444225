//! `/debates/ID` when the debate is over: the same report as `export --format html`, and what can be done with the debate.

use agon_core::Debate;
use agon_report::PageParts;
use agon_store::{ListedDebate, StoredResolution};
use axum::response::Response;
use maud::{Markup, html};

use super::frame::{SiteSection, page, short_time, state_mark};
use crate::cli::debate_reading::DebateReading;
use crate::hosting::blocking;
use crate::serve::ServerState;
use crate::serve::problem::Problem;

/// The most branches that are listed.
const BRANCHES_MAX: usize = 50;

/// The screen.
pub async fn reading_screen(state: &ServerState, id: &str) -> Result<Response, Problem> {
    let debate = state.host.read_debate(id).await?;
    let wanted = id.to_owned();
    let read = state.host.read_store(move |store| {
        let is_branch = |listed: &ListedDebate| listed.parent.as_deref() == Some(&wanted);
        Ok((store.page_of_debates(None, BRANCHES_MAX, is_branch)?.0, store.resolutions(&wanted)?))
    });
    let (branches, resolutions) = read.await?;
    let branches = branches.into_iter().map(|branch| (state.host.state(&branch).as_str(), branch)).collect();
    let main = blocking(move || {
        let parts = PageParts::new(&DebateReading::of(&debate)?.source());
        let related = RelatedDebates { branches, resolutions };
        Ok((parts.title.clone(), reading(&parts, &debate, &related)))
    });
    let (title, main) = main.await?;
    Ok(page(&title, SiteSection::Debates, "report", &main))
}

struct RelatedDebates {
    /// Each with its state.
    branches: Vec<(&'static str, ListedDebate)>,
    resolutions: Vec<StoredResolution>,
}

fn reading(parts: &PageParts, debate: &Debate, related: &RelatedDebates) -> Markup {
    let id = &debate.brief.id;
    html! {
        (parts.header)
        div class="actions" data-debate=(id) {
            (export_menu(id))
            (branch_form(debate))
            (resolution_form())
            (compare_form(debate))
        }
        p class="answered" role="status" data-message {}
        (related_links(debate, related))
        (parts.contents)
        (parts.sections)
        footer { "Debate " code { (id) } }
    }
}

fn export_menu(id: &str) -> Markup {
    let formats = [
        ("html", "Page (HTML)"),
        ("md", "Markdown"),
        ("json", "JSON with the whole log"),
        ("yaml", "YAML"),
        ("receipt", "Signed receipt"),
    ];
    html! {
        details class="menu" {
            summary { "Export" }
            ul {
                @for (format, name) in formats {
                    li { a href={ "/api/v1/debates/" (id) "/export?format=" (format) } download { (name) } }
                }
            }
        }
    }
}

fn branch_form(debate: &Debate) -> Markup {
    let rounds = debate.outcome.as_ref().map_or(0, |outcome| outcome.rounds_completed);
    html! {
        details class="menu" {
            summary { "Branch" }
            form data-action="branches" {
                p { "Takes over the rounds up to the one you choose, and goes on from there." }
                label {
                    span { "Keep" }
                    select name="at" {
                        option value="0" { "what came before round 1" }
                        @for round in 1..=rounds { option value=(round) selected[round == rounds] { "the rounds up to " (round) } }
                    }
                }
                label { span { "Say this to all seats first" } textarea name="say" rows="3" {} }
                button type="submit" { "Open the branch" }
            }
        }
    }
}

fn resolution_form() -> Markup {
    html! {
        details class="menu" {
            summary { "How did it turn out?" }
            form data-action="resolution" {
                p { "What you record here counts in the calibration of those who spoke." }
                label {
                    span { "The decision was" }
                    select name="truth" { option value="" { "not said" } option value="right" { "right" } option value="wrong" { "wrong" } }
                }
                label { span { "Or: who was right (a position, a label, or \u{201c}nobody\u{201d})" } input name="winner" autocomplete="off"; }
                label { span { "How do you know?" } textarea name="note" rows="2" {} }
                button type="submit" { "Record it" }
            }
        }
    }
}

fn compare_form(debate: &Debate) -> Markup {
    let parent = debate.brief.parent.as_ref().map(|parent| parent.id.as_str());
    html! {
        details class="menu" {
            summary { "Compare" }
            form action="/compare" method="get" {
                input type="hidden" name="a" value=(debate.brief.id);
                label { span { "With the debate" } input name="b" required value=[parent] placeholder="its id" autocomplete="off"; }
                button type="submit" { "Compare" }
            }
        }
    }
}

fn related_links(debate: &Debate, related: &RelatedDebates) -> Markup {
    let id = &debate.brief.id;
    let compared = |other: &str| html! { a href={ "/compare?a=" (id) "&b=" (other) } { "compare" } };
    html! {
        @for StoredResolution { turned_out, note, at, .. } in &related.resolutions {
            p class="resolved" {
                "It turned out " strong { (turned_out.map_or("as recorded", |truth| truth.name())) } " "
                (short_time(at))
                @if let Some(note) = note { ": " (agon_host::clean_line(note)) }
            }
        }
        @if debate.brief.parent.is_some() || !related.branches.is_empty() {
            aside class="branches" aria-label="Branches" {
                @if let Some(parent) = &debate.brief.parent {
                    p { "A branch of " a href={ "/debates/" (parent.id) } { (parent.id) } " after round " (parent.at_round) " (" (compared(&parent.id)) ")" }
                }
                @for (state, branch) in &related.branches {
                    p { "Branch " a href={ "/debates/" (branch.id) } { (branch.id) } " " (state_mark(state)) " (" (compared(&branch.id)) ")" }
                }
            }
        }
    }
}
