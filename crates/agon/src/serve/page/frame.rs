//! What is around every screen, and the page of an error.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::assets::{ICON, SCRIPT, STYLES};
use crate::serve::problem::{NO_SUCH_PATH, Problem};

/// The screens that every page links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteSection {
    Debates,
    New,
    Ratings,
    Knowledge,
    /// None of them.
    Elsewhere,
}

const LINKS: [(SiteSection, &str, &str); 4] = [
    (SiteSection::Debates, "/", "Debates"),
    (SiteSection::New, "/new", "New"),
    (SiteSection::Ratings, "/ratings", "Ratings"),
    (SiteSection::Knowledge, "/knowledge", "Knowledge"),
];

/// A whole page. `screen` is its class and tells the script what to do.
pub fn page(title: &str, section: SiteSection, screen: &str, main: &Markup) -> Response {
    Html(document(title, section, screen, main).into_string()).into_response()
}

fn document(title: &str, section: SiteSection, screen: &str, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " \u{b7} Agon" }
                link rel="icon" type="image/svg+xml" href=(ICON.path());
                link rel="stylesheet" href=(STYLES.path());
                script type="module" src=(SCRIPT.path()) {}
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header class="site" {
                    a class="brand" href="/" { img src=(ICON.path()) alt="" width="24" height="24"; "Agon" }
                    nav aria-label="Main" {
                        @for (link, path, name) in LINKS {
                            a href=(path) aria-current=[(link == section).then_some("page")] { (name) }
                        }
                    }
                }
                main id="main" class=(screen) tabindex="-1" { (main) }
            }
        }
    }
}

/// An error as a page.
pub fn error_page(problem: &Problem) -> Response {
    let status = problem.status_code();
    let main = html! {
        h1 { (title_of(status)) }
        @if problem.detail == NO_SUCH_PATH { p class="lead" { "No debate and no page has this address." } }
        @else { p class="lead" { (problem.detail) "." } }
        @if status == StatusCode::UNAUTHORIZED { (how_to_log_in()) }
        @else { p { a href="/" { "All debates" } } }
    };
    let mut response = page(title_of(status), SiteSection::Elsewhere, "screen problem", &main);
    *response.status_mut() = status;
    response
}

fn title_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "This server needs a token",
        StatusCode::NOT_FOUND => "There is nothing here",
        StatusCode::FORBIDDEN => "This is not allowed",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "There is no room right now",
        _ if status.is_client_error() => "This does not work",
        _ => "Something went wrong",
    }
}

fn how_to_log_in() -> Markup {
    html! {
        p { "A browser logs in with a link that works once. There are two ways to get one:" }
        ol {
            li { "Whoever started the server finds the first link in its terminal, below " code { "listening on" } "." }
            li {
                "Whoever has the token can ask for another:"
                pre tabindex="0" { code { "curl -X POST -H \"Authorization: Bearer $AGON_TOKEN\" http://ADDRESS/api/v1/links" } }
                "Open the " code { "path" } " that it answers, at this server's address."
            }
        }
    }
}

/// A time of a log, short enough for a list.
pub fn short_time(at: &str) -> Markup {
    let (day, time) = at.split_once('T').unwrap_or((at, ""));
    let shown = format!("{day} {}", time.get(..5).unwrap_or_default());
    html! { time datetime=(at) { (shown.trim()) } }
}

/// Where a debate is, as a mark in a list.
pub fn state_mark(state: &str) -> Markup {
    html! { span class={ "state " (state) } { (state) } }
}
