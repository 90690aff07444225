//! `/ratings`: how agents are rated, and how well they are calibrated.

use agon_report::{ratings_drawing, reliability_drawing, share_bar};
use agon_store::AgentRating;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::frame::{SiteSection, page};
use crate::cli::verbs::ratings::rated_agent;
use crate::serve::ServerState;
use crate::serve::problem::Problem;

/// The screen.
pub async fn ratings_screen(State(state): State<ServerState>) -> Result<Response, Problem> {
    let ratings = state.host.read_store(|store| store.ratings()).await?;
    let main = html! {
        h1 { "Ratings" }
        @if ratings.is_empty() { (nobody_yet()) } @else { (rated(&ratings)) }
    };
    Ok(page("Ratings", SiteSection::Ratings, "screen ratings", &main))
}

fn nobody_yet() -> Markup {
    let rated: Vec<&str> = agon_protocols::all()
        .map(|protocol| protocol.info())
        .filter(|info| info.is_rated)
        .map(|info| info.name)
        .collect();
    html! {
        p class="lead" { "No agent is rated yet." }
        p {
            "Agents are rated in debates with a judge or a vote: "
            @for (place, name) in rated.iter().enumerate() {
                @if place > 0 { ", " }
                a href={ "/new?protocol=" (name) } { (name) }
            }
            ". Record how debates turned out, and their calibration is known, too."
        }
    }
}

fn rated(ratings: &[AgentRating]) -> Markup {
    let agents: Vec<_> = ratings.iter().map(rated_agent).collect();
    html! {
        p class="lead" {
            "The rating is Elo, from 1500; \u{b1} is its uncertainty by Glicko-2. The Brier score compares how sure an agent was with how things turned \
             out: 0 is perfect, 0.25 is guessing."
        }
        @if agents.iter().any(|agent| !agent.history.is_empty()) {
            div class="wide" tabindex="0" role="region" aria-label="Ratings over time" { (ratings_drawing(&agents)) }
        }
        div class="wide" tabindex="0" role="region" aria-label="Ratings" {
            table {
                tr {
                    @for head in ["Agent", "Rating", "\u{b1}", "Games", "Brier score", "Calibration error", "Resolved", "With the winner"] {
                        th scope="col" { (head) }
                    }
                }
                @for rating in ratings { (row(rating)) }
            }
        }
        h2 { "Calibration" }
        p {
            "How sure an agent was, and how often it turned out to be right. On the dashed line its confidence is what it should be; below \
             it the agent is too sure. A larger point stands for more ballots. The bar is the mean distance from the line: shorter is better."
        }
        @if ratings.iter().all(|rating| rating.calibration_error.is_none()) {
            p class="empty" { "Unknown: no debate with these agents is resolved yet. Open one and record how it turned out." }
        } @else {
            div class="calibrations" {
                @for (rating, error) in ratings.iter().filter_map(|rating| Some((rating, rating.calibration_error?))) {
                    figure {
                        figcaption {
                            strong { (agon_host::clean_line(&rating.agent)) }
                            (share_bar(error)) (format_args!("{error:.3} over {}", rating.resolved))
                        }
                        (reliability_drawing(&rating.agent, &rating.reliability))
                    }
                }
            }
        }
    }
}

fn row(rating: &AgentRating) -> Markup {
    let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    html! {
        tr {
            th scope="row" { (agon_host::clean_line(&rating.agent)) }
            td { (format_args!("{:.0}", rating.rating.elo)) }
            td { (format_args!("{:.0}", rating.rating.glicko.deviation)) }
            td { (rating.rating.games) }
            td { (figure(rating.brier)) }
            td { (figure(rating.calibration_error)) }
            td { (rating.resolved) }
            td { (rating.conformity.map_or("-".to_owned(), |share| format!("{:.0}%", 100.0 * share))) }
        }
    }
}
