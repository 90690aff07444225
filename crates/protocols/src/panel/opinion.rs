//! The judges' last words, set together as the seed's opinions.

use super::Stance;
use super::log::{Judge, Log};

/// "Synthesis incorporating all stance perspectives": the neutral view, the identified strengths, the identified risks.
pub(super) fn balanced(log: &Log<'_>) -> String {
    let mut parts = vec!["## Consensus Assessment".to_owned()];
    for (stance, heading) in [
        (Stance::Neutral, "### Neutral: the objective view"),
        (Stance::For, "### For: the strengths"),
        (Stance::Against, "### Against: the risks"),
    ] {
        let judges = log.judges.iter().enumerate().filter(|(_, judge)| judge.stance == stance);
        let said: Vec<String> = judges.map(|(place, judge)| said(log, place, judge)).collect();
        if !said.is_empty() {
            parts.push(heading.to_owned());
            parts.extend(said);
        }
    }
    parts.join("\n\n")
}

/// What some judges hold, under the seed's heading for them.
pub(super) fn of_group(log: &Log<'_>, heading: &str, places: &[usize]) -> String {
    let judges = places.iter().filter_map(|place| Some((*place, log.judges.get(*place)?)));
    let said = judges.map(|(place, judge)| said(log, place, judge));
    std::iter::once(heading.to_owned()).chain(said).collect::<Vec<_>>().join("\n\n")
}

fn said(log: &Log<'_>, place: usize, judge: &Judge<'_>) -> String {
    let score = log.last().and_then(|round| round.standings.get(place)).map(|standing| standing.score);
    let score = score.map_or(String::new(), |score| format!(", score {}", super::figure(score)));
    format!("**{}** ({}{score}):\n\n{}", judge.id, judge.stance.as_str(), below(judge.position()))
}

/// A judge's Markdown under our headings: its own come two levels lower.
fn below(text: &str) -> String {
    const LEVEL_MAX: usize = 6;
    let lines = text.trim().lines().map(|line| {
        let level = line.chars().take_while(|c| *c == '#').count();
        match line.get(level..) {
            Some(rest) if level > 0 && rest.starts_with(' ') => {
                format!("{}{rest}", "#".repeat((level + 2).min(LEVEL_MAX)))
            }
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
