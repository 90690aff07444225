//! What a reader should know before trusting the verdict.

use agon_core::Turn;

use super::convergence::Check;
use super::doubt::{self, Answer};
use super::ending;
use super::errands::EMBEDDINGS;
use super::judgement::Judged;
use super::log::Log;
use super::poll::Poll;
use super::{context, record, verdict};
use crate::heard;

pub(super) fn warnings(log: &Log<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(branch(log));
    warnings.extend(limit(log));
    warnings.extend(sources(log));
    warnings.extend(heard::cut_off(log.debate));
    warnings.extend(heard::shortened(log.debate));
    warnings.extend(absent_agents(log));
    warnings.extend(unmeasured(log));
    warnings.extend(by_words(log));
    warnings.extend(log.polls.last().map_or(Vec::new(), |poll| vote(log, poll)));
    warnings.extend(judge(log));
    warnings
}

/// What a branch leaves behind: nothing.
fn branch(log: &Log<'_>) -> Option<String> {
    let parent = &log.debate.brief.parent.as_ref()?.id;
    Some(format!(
        "this is a branch of {parent}, to see what if: no rating changes, and later debates learn nothing from it"
    ))
}

fn limit(log: &Log<'_>) -> Option<String> {
    if !ending::is_limited(log) {
        return None;
    }
    let limit = log.limits().met(log.proposers().len().max(1));
    let limit = limit.unwrap_or_else(|| "a limit of the debate".to_owned());
    let last = last_held(log);
    Some(match log.polls.is_empty() {
        true => format!("there was no vote, because a limit was reached: {limit}"),
        false => format!(
            "no round was held after round {last} but the vote and the judge, because a limit was reached: {limit}"
        ),
    })
}

/// The last round before the vote in which somebody who sits answered.
fn last_held(log: &Log<'_>) -> u32 {
    let is_said = |turn: &Turn| {
        let mut said = turn.settled().filter(|(_, reply)| reply.text().is_some());
        said.any(|(asked, _)| log.debate.brief.seat(&asked.seat).is_some())
    };
    let turns = log.debate.turns.iter().rev();
    let mut before = turns.filter(|turn| !ending::CLOSING.contains(&turn.phase.name.as_str()));
    before.find(|turn| is_said(turn)).map_or(0, |turn| turn.phase.round)
}

/// Which sources of context did not answer, and what the others have to say about how they looked.
fn sources(log: &Log<'_>) -> Vec<String> {
    let absent = context::absent(log).into_iter().map(|(seat, why, detail)| {
        let name = context::source_name(seat);
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        format!("{name} gave no context ({why}{detail}); the debate went on without it")
    });
    let notes = log.debate.turns_of("context").flat_map(context::notes);
    absent.chain(notes.map(|(seat, note)| format!("{}: {note}", context::source_name(&seat)))).collect()
}

/// Who has no proposal, whose counts although it was silent, and who is not one agent.
fn absent_agents(log: &Log<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let proposers = log.proposers();
    let without: Vec<usize> = (0..log.agents.len()).filter(|place| !proposers.contains(place)).collect();
    if !without.is_empty() && !log.stages.is_empty() {
        warnings.push(format!("without a proposal: {}", log.names(&without)));
    }
    for stage in log.stages.iter().skip(1) {
        let turn = log.debate.turn(&stage.name, stage.round);
        let absent = |place: &usize| {
            let seat = log.agents.get(*place).map(|agent| agent.seat.id.as_str());
            turn.is_some_and(|turn| turn.absences().any(|(asked, ..)| Some(asked.seat.as_str()) == seat))
        };
        let carried: Vec<usize> = (0..log.agents.len())
            .filter(|place| stage.held.get(*place).is_some_and(Option::is_some))
            .filter(absent)
            .collect();
        if !carried.is_empty() {
            let (round, phase, names) = (stage.round, &stage.name, log.names(&carried));
            warnings
                .push(format!("round {round}, {phase}: absent, so that the last proposal counts: {names}"));
        }
    }
    if ending::judged(log).is_some() {
        let several = proposers.iter().filter(|place| {
            log.agents.get(**place).is_some_and(|agent| log.speaker(&agent.seat.id).is_none())
        });
        let several: Vec<usize> = several.copied().collect();
        if !several.is_empty() {
            let names = log.names(&several);
            warnings.push(format!("not rated, because more than one model spoke for it: {names}"));
        }
    }
    warnings
}

/// Where nothing says how alike the proposals were.
fn unmeasured(log: &Log<'_>) -> Vec<String> {
    let turns = log.debate.turns_of("compare");
    let absent = turns.flat_map(|turn| Turn::absences(turn).map(move |absence| (turn.phase.round, absence)));
    absent
        .map(|(round, (_, why, _))| {
            let why = why.as_str();
            format!(
                "round {round}: how alike the proposals are is not known ({why}), so that nothing could converge and only the same \
                 words are one choice"
            )
        })
        .collect()
}

/// Where likeness decided something and was measured by words alone.
fn by_words(log: &Log<'_>) -> Option<String> {
    let by_words = |check: &Check| check.measured_by.as_deref() == Some(EMBEDDINGS);
    let converged = log.checks.iter().any(|check| check.converged && by_words(check));
    let grouped = log
        .polls
        .iter()
        .any(|poll| poll.groups.iter().any(|group| group.len() > 1) && by_words(&log.check_at(poll.stage)));
    (converged || grouped).then(|| {
        format!(
            "how alike the proposals are was measured by words alone ({EMBEDDINGS}), which knows no meaning: see for yourself whether \
             those that count as the same say the same"
        )
    })
}

fn vote(log: &Log<'_>, poll: &Poll) -> Vec<String> {
    let mut warnings = Vec::new();
    let silent = poll.ballots.iter().enumerate().filter(|(_, ballot)| ballot.is_none());
    let silent: Vec<usize> = silent.map(|(place, _)| place).collect();
    if !silent.is_empty() {
        warnings.push(format!("round {}: without a vote: {}", poll.round, log.names(&silent)));
    }
    if !poll.is_quorum() {
        warnings.push(format!(
            "{}; half of them must vote for one: nothing is decided, and the judge was not asked",
            poll.turnout()
        ));
    }
    if poll.hollow {
        let why = match doubt::doubts(log).last().and_then(|doubt| doubt.came_to) {
            Some(Answer::Unmeasured) => "nothing could be measured after its challenge",
            Some(Answer::NotMet) => "its challenge was not met",
            Some(Answer::Met | Answer::Left) | None => "no round was left for a challenge",
        };
        warnings.push(format!(
            "the agreement is hollow by the trickster's signals, and {why}: the vote makes no consensus"
        ));
    }
    warnings
}

fn judge(log: &Log<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if log
        .trials
        .iter()
        .filter_map(|trial| trial.judged.as_ref())
        .any(|judged| record::judge_proposes(log, judged))
    {
        warnings.push("the judge's model also makes a proposal: name another with --judge".to_owned());
    }
    for trial in &log.trials {
        let round = trial.round;
        match &trial.judged {
            None => warnings.push(format!(
                "round {round}: the judge was absent: nothing is scored, and no rating changes"
            )),
            Some(judged) => {
                warnings.extend(sheets(judged, trial.orders).map(|why| format!("round {round}: {why}")))
            }
        }
    }
    warnings.extend(undecided(log));
    if let Some(judged) = ending::judged(log).filter(|judged| verdict::agrees(log, judged) == Some(false)) {
        let group = log.polls.last().and_then(Poll::winning).unwrap_or_default();
        let top = judged.top.map_or("nobody", |top| log.label(top));
        let (voted, by) = (log.names(group), log.debate.brief.text("decide"));
        warnings.push(format!("the vote and the judge disagree: the vote is for {voted}, the judge's best is Agent {top}; the {by} decides"));
    }
    warnings
}

/// Where the judge was to decide and did not.
fn undecided(log: &Log<'_>) -> Option<String> {
    let judged = ending::judged(log);
    if !ending::judge_decides(log)
        || log.trials.is_empty()
        || judged.is_some_and(|judged| judged.top.is_some())
    {
        return None;
    }
    let how = if judged.is_some() { "names no best" } else { "was absent" };
    Some(match ending::winner(log) {
        Some(_) => format!("the judge was to decide and {how}: the vote's winner stands"),
        None => {
            let kind = log.debate.brief.text("consensus");
            format!(
                "the judge was to decide and {how}, and the vote reached no consensus ({kind}): there is no winner"
            )
        }
    })
}

fn sheets(judged: &Judged, orders: usize) -> impl Iterator<Item = String> {
    let mut said: Vec<String> = Vec::new();
    if judged.sheets.len() < orders {
        said.push("the judge answered in one of two orders only, which counts alone".to_owned());
    }
    if judged.consistent == Some(false) {
        said.push("the judge's best depends on the order in which it reads the proposals: a tie".to_owned());
    }
    if judged.sheets.iter().any(super::judgement::Sheet::is_contradictory) {
        said.push("the judge's ranking contradicts its scores: the scores count".to_owned());
    }
    said.into_iter()
}
