//! What should be done: from the critical findings, the weak dimensions, and what the minority holds.

use serde_json::{Value, json};

use super::consensus::{State, column, mean, range};
use super::log::Log;
use super::verdict::Verdict;
use super::{disputes, figure, ledger};

struct Advice {
    priority: &'static str,
    action: String,
    rationale: String,
    level: &'static str,
}

/// The seed's list: with a rationale where there is consensus, else with how many stand behind each.
pub(super) fn record(log: &Log<'_>, verdict: &Verdict) -> Vec<Value> {
    const ORDER: [&str; 3] = ["MUST", "SHOULD", "CONSIDER"];
    let mut all: Vec<Advice> = critical(log).into_iter().chain(weak(log)).chain(open(log, verdict)).collect();
    all.sort_by_key(|advice| ORDER.iter().position(|priority| *priority == advice.priority));
    let all = all.into_iter();
    all.map(|advice| {
        let Advice { priority, action, rationale, level } = advice;
        match verdict {
            Verdict::Consensus => json!({"priority": priority, "action": action, "rationale": rationale}),
            _ => json!({"priority": priority, "action": action, "consensus_level": level}),
        }
    })
    .collect()
}

/// How many of the judges stand behind something.
fn level(behind: usize, judges: usize) -> &'static str {
    match behind {
        n if n == judges => "unanimous",
        n if n * 2 > judges => "majority",
        _ => "minority",
    }
}

/// MUST where all or most hold a critical finding, CONSIDER where fewer do.
fn critical(log: &Log<'_>) -> Vec<Advice> {
    let held = log.findings.iter().enumerate();
    let held = held.filter(|(place, _)| ledger::state(log, *place) != State::Withdrawn);
    held.map(|(place, finding)| {
        let holders = ledger::holders(log, place);
        let level = level(holders.len(), log.judges.len());
        let who = log.ids(&holders).join(", ");
        Advice {
            priority: if level == "minority" { "CONSIDER" } else { "MUST" },
            action: format!("Resolve [{}]: {}", finding.id, finding.finding),
            rationale: format!("a critical finding held by {who}; evidence: {}", finding.evidence),
            level,
        }
    })
    .collect()
}

/// SHOULD: the dimensions whose average is below GREEN; CONSIDER where only a few judges draw it there.
fn weak(log: &Log<'_>) -> Vec<Advice> {
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    let dimensions = log.rubric.dimensions.iter().enumerate();
    let scored = dimensions.map(|(place, dimension)| (dimension, column(standings, place)));
    let weak = scored.filter(|(_, scores)| !scores.is_empty() && log.band(mean(scores)) != "GREEN");
    weak.map(|(dimension, scores)| {
        let behind = scores.iter().filter(|score| log.band(**score) != "GREEN").count();
        let (average, apart) = (figure(mean(&scores)), figure(range(&scores)));
        let level = level(behind, scores.len());
        Advice {
            priority: if level == "minority" { "CONSIDER" } else { "SHOULD" },
            action: format!("Improve {} ({average} on average)", dimension.key.replace('_', " ")),
            rationale: format!("{}: average {average}, range {apart}", log.band(mean(&scores))),
            level,
        }
    })
    .collect()
}

/// CONSIDER: what judges who are not on the verdict's side leave open; where there are no sides, what anybody does.
fn open(log: &Log<'_>, verdict: &Verdict) -> Vec<Advice> {
    let counts = |place: usize| match verdict {
        Verdict::Majority { minority, .. } if !minority.is_empty() => minority.contains(&place),
        _ => true,
    };
    let last = log.last().map_or(0, |round| round.number);
    let issues = disputes::issues(log).iter().filter(|issue| issue.judges().into_iter().any(counts));
    issues
        .map(|issue| {
            let shown = issue.views.iter().find(|view| counts(view.place) && !view.mine.is_empty());
            let view = shown.map_or(String::new(), |view| format!(" - {}", view.mine));
            let judges = issue.judges();
            // With a view it is that view's holders who stand behind it, else all who leave the issue open.
            let behind = shown.map_or(judges.len(), |shown| issue.holders(&shown.mine).len());
            let who = log.ids(&judges).join(", ");
            let when = if issue.round < last { format!(" in round {}", issue.round) } else { String::new() };
            let why = issue.why().map_or(String::new(), |why| format!(": {why}"));
            Advice {
                priority: "CONSIDER",
                action: format!("{}{view}", issue.text),
                rationale: format!("left open by {who}{when}{why}"),
                level: level(behind, log.judges.len()),
            }
        })
        .collect()
}
