//! What is shown as a phase ends: how alike the proposals are, the votes, the scores.

use agon_core::{Debate, Summary};

use super::convergence::Check;
use super::log::{Log, Trial};
use super::poll::{ABSTAIN, Poll};

/// A position or reason in a table is cut here.
const WORDS_CHARS_MAX: usize = 80;

pub(super) fn summary(debate: &Debate) -> Option<Summary> {
    let phase = debate.last_phase()?;
    let shown = ["compare", "vote", "judge"].contains(&phase.name.as_str());
    let log = Log::read(debate).ok().filter(|_| shown)?;
    match phase.name.as_str() {
        "compare" => log.checks.last().map(|check| alike(&log, check)),
        "vote" => log.polls.last().map(|poll| votes(&log, poll)),
        _ => log.trials.last().map(|trial| scores(&log, trial)),
    }
}

fn head(cells: &[&str]) -> Vec<Vec<String>> {
    vec![cells.iter().map(|cell| (*cell).to_owned()).collect()]
}

fn alike(log: &Log<'_>, check: &Check) -> Summary {
    let mut rows = head(&["Agent", "Position", "Like its last", "Conflicts with"]);
    for (place, held) in log.held().iter().enumerate() {
        let Some(held) = held else { continue };
        let stable = check.stabilities.iter().find(|(holder, _)| *holder == place);
        let stable = stable.map_or("-".to_owned(), |(_, alike)| format!("{alike:.2}"));
        let conflicts = held.conflicts.as_deref().map_or("not said".to_owned(), |places| match places {
            [] => "nobody".to_owned(),
            places => log.labels(places).join(", "),
        });
        let carried = if held.carried { " (carried)" } else { "" };
        rows.push(vec![
            format!("{}{carried}", log.label(place)),
            short(&held.said.position),
            stable,
            conflicts,
        ]);
    }
    let how = match check.agreement {
        Some(agreement) => format!("at least {:.2}, {:.2} on average", agreement.min, agreement.mean),
        None => "not measured".to_owned(),
    };
    let ended = if check.converged { "converged" } else { "not converged" };
    let pairs = |pairs: &[(usize, usize)]| -> Vec<String> {
        pairs.iter().map(|(one, other)| format!("{} and {}", log.label(*one), log.label(*other))).collect()
    };
    let notes = [("Positions that oppose each other".to_owned(), pairs(&check.opposed))];
    Summary {
        title: format!("Round {}: how alike: {how}, {ended}", check.round),
        rows,
        notes: notes.into_iter().filter(|(_, items)| !items.is_empty()).collect(),
    }
}

fn votes(log: &Log<'_>, poll: &Poll) -> Summary {
    let mut rows = head(&["Agent", "Vote", "Confidence", "Reason"]);
    for place in log.in_seat_order() {
        let cells = match poll.ballots.get(place).and_then(Option::as_ref) {
            Some(ballot) => {
                let choice = ballot.choice.map_or(ABSTAIN, |choice| log.label(choice));
                let own = if ballot.choice == Some(place) { " (own)" } else { "" };
                [format!("{choice}{own}"), format!("{:.2}", ballot.confidence), short(&ballot.reason)]
            }
            None => ["absent".to_owned(), "-".to_owned(), String::new()],
        };
        rows.push(std::iter::once(log.label(place).to_owned()).chain(cells).collect());
    }
    let kind = log.debate.brief.text("consensus");
    let cast = poll.cast();
    let ended = match poll.winning() {
        Some(group) => {
            format!("{kind} for {} ({} of {cast})", log.labels(group).join(", "), poll.votes(group))
        }
        None if !poll.is_quorum() => format!("no quorum: {}", poll.turnout()),
        None if poll.hollow => "the agreement is hollow and does not count".to_owned(),
        None => format!("no {kind}"),
    };
    Summary { title: format!("Round {}: the vote: {ended}", poll.round), rows, notes: Vec::new() }
}

fn scores(log: &Log<'_>, trial: &Trial) -> Summary {
    let mut rows = head(&["Proposal", "Score", "Reasons"]);
    let Some(judged) = &trial.judged else {
        return Summary {
            title: format!("Round {}: the judge was absent", trial.round),
            rows,
            notes: Vec::new(),
        };
    };
    for place in &judged.ranking {
        let score = judged.score(*place).unwrap_or_default();
        let reasons = short(&judged.reasons(*place).join("; "));
        rows.push(vec![log.label(*place).to_owned(), format!("{score:.1}"), reasons]);
    }
    let top = match judged.top {
        Some(top) => format!("{} is best, {:.1} ahead", log.label(top), judged.margin),
        None => "a tie: its best depends on the order".to_owned(),
    };
    Summary { title: format!("Round {}: the judge: {top}", trial.round), rows, notes: Vec::new() }
}

fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(WORDS_CHARS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}
