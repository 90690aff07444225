//! Who was picked and why, and what the debate means for the ratings.

use serde_json::Value;

use super::{Told, figure};
use crate::outline::{Block, Section, at, string, words};

impl Told<'_> {
    /// The team; in the short report only where somebody was picked rather than named.
    pub(super) fn team(&self) -> Option<Section> {
        let team = self.list("/team");
        let head = ["Agent", "Model", "Why", "Rating", "Brier", "Games"];
        let mut rows = vec![head.map(String::from).to_vec()];
        for member in team {
            rows.push(vec![
                self.labelled(&string(member, "/seat")),
                string(member, "/agent"),
                why(member).to_owned(),
                figure(member, "/rating", 0).unwrap_or_default(),
                figure(member, "/brier", 3).unwrap_or_else(|| "unknown".into()),
                figure(member, "/games", 0).unwrap_or_default(),
            ]);
        }
        let picked = team.iter().any(|member| words(member, "/why").is_some_and(|why| why != "named"));
        let shown = !team.is_empty() && (self.full || picked);
        shown.then(|| Section::new("team", "The team", vec![Block::Table(rows)]))
    }

    pub(super) fn ratings(&self) -> Option<Section> {
        let ratings = self.list("/ratings");
        let head = ["Agent", "Model", "Judge's score", "Before", "After", "Change"];
        let mut rows = vec![head.map(String::from).to_vec()];
        for rated in ratings {
            let change = at(rated, "/change").as_f64().map(signed);
            rows.push(vec![
                self.labelled(&string(rated, "/seat")),
                string(rated, "/agent"),
                figure(rated, "/score", 2).unwrap_or_default(),
                figure(rated, "/before", 1).unwrap_or_default(),
                figure(rated, "/after", 1).unwrap_or_default(),
                change.unwrap_or_default(),
            ]);
        }
        let mut blocks = vec![Block::Table(rows)];
        blocks.extend(shared(ratings).into_iter().map(|agent| {
            Block::Line(format!(
                "{agent} sits more than once: its seats share one rating, to which all of their changes add."
            ))
        }));
        (!ratings.is_empty()).then(|| Section::new("ratings", "Ratings", blocks))
    }
}

/// The agents that are rated in more than one seat, each once.
fn shared(ratings: &[Value]) -> Vec<&str> {
    let agents: Vec<&str> = ratings.iter().filter_map(|rated| words(rated, "/agent")).collect();
    let is_first = |place: usize, agent: &str| !agents.iter().take(place).any(|other| *other == agent);
    let again = |place: usize, agent: &str| agents.iter().skip(place + 1).any(|other| *other == agent);
    let found =
        agents.iter().enumerate().filter(|(place, agent)| is_first(*place, agent) && again(*place, agent));
    found.map(|(_, agent)| *agent).collect()
}

/// With its sign, which nothing has.
fn signed(change: f64) -> String {
    match format!("{change:+.1}") {
        nothing if matches!(nothing.as_str(), "+0.0" | "-0.0") => "0.0".into(),
        written => written,
    }
}

fn why(member: &Value) -> &str {
    match words(member, "/why") {
        Some("rated") => "picked by rating and calibration",
        Some("explored") => "drawn, to learn more about it",
        Some(other) => other,
        None => "",
    }
}
