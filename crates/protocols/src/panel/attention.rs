//! What only the person who asked can decide.

use serde_json::{Value, json};

use super::consensus::State;
use super::disputes::{self, Issue, dated};
use super::ledger::{self, Finding};
use super::log::Log;
use super::verdict::{Verdict, scores};
use super::{consensus, figure};

/// The seed's list: open critical findings first, then what judges leave open, then the scores themselves.
pub(super) fn record(log: &Log<'_>, verdict: &Verdict) -> Vec<Value> {
    let critical = log.findings.iter().enumerate();
    let critical = critical.filter(|(place, _)| ledger::state(log, *place) == State::Disputed);
    let mut entries: Vec<Value> =
        critical.map(|(place, finding)| open_critical(log, verdict, place, finding)).collect();
    let everything = *verdict == Verdict::NoMajority;
    let issues = disputes::issues(log).iter().filter(|issue| everything || issue.flagged);
    entries.extend(issues.map(|issue| open_issue(log, verdict, issue)));
    entries.extend(open_dimensions(log, verdict));
    entries.extend(open_scores(log, verdict));
    entries
}

/// The dimensions on which the judges are too far apart for consensus, where there are no sides whose scores say it.
fn open_dimensions(log: &Log<'_>, verdict: &Verdict) -> Option<Value> {
    let without_sides = match verdict {
        Verdict::NoMajority => true,
        Verdict::Majority { minority, .. } => minority.is_empty(),
        _ => false,
    };
    let round = log.last().filter(|_| without_sides)?;
    let most = log.debate.brief.float("dimension_range");
    let apart = log.rubric.dimensions.iter().zip(&round.check.dimensions).enumerate();
    let apart: Vec<_> = apart.filter(|(_, (_, range))| **range > most + consensus::TOLERANCE).collect();
    let name = |key: &str| key.replace('_', " ");
    let told =
        apart.iter().map(|(_, (dimension, range))| format!("{} ({})", name(&dimension.key), figure(**range)));
    let told = told.collect::<Vec<_>>().join(", ");
    let view = |judge: usize| {
        let scores = apart.iter().filter_map(|(place, (dimension, _))| {
            let score = consensus::column(&round.standings, *place).get(judge).copied()?;
            Some(format!("{} {}", name(&dimension.key), figure(score)))
        });
        scores.collect::<Vec<_>>().join(", ")
    };
    let judges = log.judges.iter().enumerate();
    let all = judges.map(|(at, judge)| json!({"judge_id": judge.id, "view": view(at)})).collect();
    (!apart.is_empty()).then(|| {
        entry(
            format!("Dimensions on which the judges are far apart: {told}"),
            [None, None],
            format!("consensus needs {} or less on every dimension", figure(most)),
            options(log, verdict),
            all,
        )
    })
}

/// The two sides of a verdict, by place; `None` where it has none.
fn sides(verdict: &Verdict) -> [Option<&[usize]>; 2] {
    match verdict {
        Verdict::Majority { majority, minority } => {
            [Some(majority.as_slice()), Some(minority.as_slice()).filter(|minority| !minority.is_empty())]
        }
        _ => [None, None],
    }
}

fn entry(
    issue: String,
    views: [Option<String>; 2],
    stakes: String,
    recommendation: String,
    all: Vec<Value>,
) -> Value {
    let [majority_view, minority_view] = views;
    json!({
        "issue": issue,
        "majority_view": majority_view,
        "minority_view": minority_view,
        "stakes": stakes,
        "recommendation": recommendation,
        "views": all,
    })
}

fn open_critical(log: &Log<'_>, verdict: &Verdict, place: usize, finding: &Finding) -> Value {
    let holders = ledger::holders(log, place);
    let view = |judge: usize| {
        let said = log.judges.get(judge).and_then(|judge| ledger::last_position(judge, &finding.id));
        let reason = said.map(|said| said.reason.trim()).filter(|reason| !reason.is_empty());
        let stand = match (holders.contains(&judge), said) {
            (true, _) => "holds it",
            (false, Some(_)) => "does not hold it",
            (false, None) => "takes no position",
        };
        reason.map_or(stand.to_owned(), |reason| format!("{stand}: {reason}"))
    };
    let told = |places: &[usize]| {
        let named = log.ids(places).into_iter().zip(places);
        named.map(|(id, place)| format!("{id} {}", view(*place))).collect::<Vec<_>>().join("; ")
    };
    let all = log.judges.iter().enumerate();
    let all = all.map(|(at, judge)| json!({"judge_id": judge.id, "view": view(at)})).collect();
    let (id, n, of) = (&finding.id, holders.len(), log.judges.len());
    let evidence = if finding.evidence.is_empty() { "no evidence was given" } else { &finding.evidence };
    entry(
        format!("[{id}] {}", finding.finding),
        sides(verdict).map(|side| side.map(told)),
        format!("a critical finding, held by {n} of {of} judges; evidence: {evidence}"),
        format!(
            "Settle [{id}] before going on: check its evidence; if it is right, resolve it first, and if not, say why and go on."
        ),
        all,
    )
}

fn open_issue(log: &Log<'_>, verdict: &Verdict, issue: &Issue) -> Value {
    let id = |place: usize| log.judges.get(place).map_or("", |judge| judge.id);
    // A side that did not name the issue is told of by those who did.
    let told = |side: &[usize]| {
        let own = issue.views.iter().filter(|view| side.contains(&view.place) && !view.mine.is_empty());
        let own: Vec<String> = own.map(|view| format!("{}: {}", id(view.place), view.mine)).collect();
        if !own.is_empty() {
            return Some(own.join("; "));
        }
        let others = issue.views.iter().filter(|view| !side.contains(&view.place) && !view.theirs.is_empty());
        let others: Vec<String> =
            others.map(|view| format!("{} (as {} puts it)", view.theirs, id(view.place))).collect();
        (!others.is_empty()).then(|| others.join("; "))
    };
    let all = issue.views.iter();
    let all =
        all.map(|v| json!({"judge_id": id(v.place), "view": v.mine, "opposing_view": v.theirs})).collect();
    let stakes = issue.why().map_or_else(|| "nobody said what is at stake".to_owned(), str::to_owned);
    let views = sides(verdict).map(|side| side.and_then(told));
    dated(entry(issue.text.clone(), views, stakes, options(log, verdict), all), issue)
}

/// How far the sides are apart, and what that would mean.
fn open_scores(log: &Log<'_>, verdict: &Verdict) -> Option<Value> {
    let judges = log.judges.iter().zip(scores(log, &log.places()));
    let all = judges
        .map(|(j, score)| json!({"judge_id": j.id, "view": format!("score {}", figure(score))}))
        .collect();
    let [ours, theirs] = sides(verdict);
    match (verdict, ours, theirs) {
        (Verdict::Majority { .. }, Some(ours), Some(theirs)) => {
            let told = |side: &[usize]| {
                let (mean, ids) = (consensus::mean(&scores(log, side)), log.ids(side).join(", "));
                format!("{} ({ids})", figure(mean))
            };
            let band = |side: &[usize]| log.weighted(side).map_or("unknown", |weighted| log.band(weighted));
            Some(entry(
                "The overall score".to_owned(),
                [Some(told(ours)), Some(told(theirs))],
                format!(
                    "by its own weighted score the majority is {}, the minority {}",
                    band(ours),
                    band(theirs)
                ),
                options(log, verdict),
                all,
            ))
        }
        (Verdict::NoMajority, ..) => Some(entry(
            "The overall score: no group of judges is nearer together than another".to_owned(),
            [None, None],
            "there is no verdict, and none was guessed".to_owned(),
            options(log, verdict),
            all,
        )),
        _ => None,
    }
}

/// The ways that are open to the user.
fn options(log: &Log<'_>, verdict: &Verdict) -> String {
    match sides(verdict) {
        [Some(ours), Some(theirs)] => format!(
            "Accept the majority's view ({}), address the minority's concerns ({}) before proceeding, or seek additional input.",
            log.ids(ours).join(", "),
            log.ids(theirs).join(", ")
        ),
        _ => "Weigh the judges' views yourself, or seek additional input: the scores do not decide this."
            .to_owned(),
    }
}
