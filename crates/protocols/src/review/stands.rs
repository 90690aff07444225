//! Who held which verdict in each round, and on what each was changed.

use agon_core::stand::{Change, Held, Stand, Stands};

use super::log::{Judge, Log};
use super::reply::Verdict;
use super::verdict::{self, Ruling};
use crate::grouping;

/// The verdicts as the judges gave them: one that strict anchoring reverted was changed all the same, and only the rulings go
/// by what is used. A review that gives no verdicts has no rounds.
pub(super) fn stands(log: &Log<'_>) -> Stands {
    let name = |ruling: Ruling| ruling.as_str().to_owned();
    let firsts = || log.judges.iter().filter_map(|judge| Some((judge, judge.first.as_ref()?.verdict)));
    let mut rounds = Vec::new();
    if firsts().next().is_some() {
        let alone = firsts().map(|(judge, verdict)| (judge.vendor.as_str(), verdict));
        let stands = firsts().map(|(judge, verdict)| stand(judge, verdict, None)).collect();
        rounds.push(Held { round: 1, stands, ruling: verdict::rule(alone).map(name) });
    }
    if log.judges.iter().any(|judge| judge.second.is_some()) {
        let stands = firsts().map(|(judge, first)| after_reading(judge, first)).collect();
        rounds.push(Held { round: 2, stands, ruling: verdict::ruling(log).map(name) });
    }
    let decided = log.debate.outcome.as_ref().and_then(|_| verdict::ruling(log)).map(name);
    Stands { rounds, decided, ..Stands::default() }
}

/// A judge's verdict of round 2; without one, that of round 1.
fn after_reading(judge: &Judge<'_>, first: Verdict) -> Stand {
    let Some((second, _)) = judge.second.as_ref().filter(|(second, _)| second.verdict != first) else {
        return stand(judge, first, None);
    };
    let because = second.changed_because.as_ref().filter(|_| !judge.is_weak_flip());
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cited = because.map(|because| grouping::cut(&line(&because.citation))).into_iter().collect();
    stand(judge, second.verdict, Some(Change { cited }))
}

fn stand(judge: &Judge<'_>, verdict: Verdict, change: Option<Change>) -> Stand {
    let position = verdict.as_str().to_owned();
    Stand { seat: judge.seat.id.clone(), position, change, ..Stand::default() }
}
