//! The ledger of critical findings: who raised each, who holds it, what became of it.

use serde_json::{Value, json};

use super::consensus::{self, State};
use super::log::{Judge, Log};
use super::reply::{CriticalPosition, Hold, Severity};

/// A critical finding of round 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// `F1`, `F2`... in seat order.
    pub(super) id: String,
    pub(super) finding: String,
    pub(super) evidence: String,
    /// The places of the judges who raised it: more than one where their words are the same.
    pub(super) raised_by: Vec<usize>,
}

/// The critical findings of round 1, numbered in seat order. The same words are the same finding.
pub(super) fn findings(judges: &[Judge<'_>]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (place, judge) in judges.iter().enumerate() {
        let raised = judge.statement.critical_findings.iter();
        for raised in raised.filter(|finding| finding.severity == Severity::Critical) {
            if let Some(same) = findings.iter_mut().find(|other| same_words(&other.finding, &raised.finding))
            {
                if !same.raised_by.contains(&place) {
                    same.raised_by.push(place);
                }
                continue;
            }
            findings.push(Finding {
                id: format!("F{}", findings.len() + 1),
                finding: raised.finding.trim().to_owned(),
                evidence: raised.evidence.trim().to_owned(),
                raised_by: vec![place],
            });
        }
    }
    findings
}

/// Whether two texts are the same but for their case, white space and last stop. Signs count: `< 30 s` is not `> 30 s`.
pub(super) fn same_words(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        match text.trim_end_matches(['.', '!', '?', ';', ',']) {
            "" => text,
            words => words.to_owned(),
        }
    };
    plain(one) == plain(other)
}

/// Whether a judge who did or did not hold a finding holds it after what it says about it.
pub(super) fn holds(before: bool, id: &str, positions: &[CriticalPosition]) -> bool {
    let position = positions.iter().find(|position| position.finding_id == id);
    position.map_or(before, |position| position.position == Hold::Adopt)
}

/// The judges who hold a finding in the end, by place.
pub(super) fn holders(log: &Log<'_>, finding: usize) -> Vec<usize> {
    log.last().map_or(Vec::new(), |round| consensus::holders(&round.standings, finding))
}

/// What has become of a finding in the end.
pub(super) fn state(log: &Log<'_>, finding: usize) -> State {
    consensus::state(&holders(log, finding), log.judges.len())
}

/// What a judge last said about a finding.
pub(super) fn last_position<'a>(judge: &'a Judge<'_>, id: &str) -> Option<&'a CriticalPosition> {
    [3, 2]
        .into_iter()
        .find_map(|round| judge.critical_positions(round).iter().find(|position| position.finding_id == id))
}

/// The ledger as the verdict shows it.
pub(super) fn record(log: &Log<'_>) -> Vec<Value> {
    let ids = |places: &[usize]| -> Vec<&str> { log.ids(places) };
    let findings = log.findings.iter().enumerate();
    findings
        .map(|(place, finding)| {
            let holders = holders(log, place);
            json!({
                "finding_id": finding.id,
                "finding": finding.finding,
                "evidence": finding.evidence,
                "raised_by": ids(&finding.raised_by),
                "held_by": ids(&holders),
                "state": state(log, place).as_str(),
                "positions": positions(log, &finding.id),
            })
        })
        .collect()
}

/// Everything that was said about a finding, by round and in seat order.
fn positions(log: &Log<'_>, id: &str) -> Vec<Value> {
    let mut said = Vec::new();
    for round in [2, 3] {
        for judge in &log.judges {
            let positions = judge.critical_positions(round).iter();
            for position in positions.filter(|position| position.finding_id == id) {
                let (hold, reason) = (position.position, &position.reason);
                said.push(json!({"round": round, "judge_id": judge.id, "position": hold, "reason": reason}));
            }
        }
    }
    said
}
