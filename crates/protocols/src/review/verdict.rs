//! Consolidation: from the judges' verdicts to the one that counts.

use serde_json::{Value, json};

use super::log::{Judge, Log};
use super::reply::Verdict;

/// What a review comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ruling {
    /// What the judges' verdicts add up to.
    Is(Verdict),
    /// One vendor says PASS and another FAIL: the user decides.
    Disagree,
}

impl Ruling {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Is(verdict) => verdict.as_str(),
            Self::Disagree => "DISAGREE",
        }
    }

    /// Whether a pipeline may go on.
    pub(super) fn passes(self, fail_on: &str) -> bool {
        match self {
            Self::Is(Verdict::Pass) => true,
            Self::Is(Verdict::Warn) => fail_on != "warn",
            Self::Is(Verdict::Fail) | Self::Disagree => false,
        }
    }
}

/// "All PASS: PASS; any FAIL: FAIL; else WARN." `None` without a verdict.
pub(super) fn consolidate(verdicts: impl Iterator<Item = Verdict>) -> Option<Verdict> {
    verdicts.max()
}

/// The verdicts that count, each with its vendor.
fn used<'a>(log: &'a Log<'_>) -> impl Iterator<Item = (&'a str, Verdict)> {
    log.judges.iter().filter_map(|judge| Some((judge.vendor.as_str(), judge.used()?.1)))
}

/// Each vendor's own result, in the order of its first judge.
pub(super) fn by_vendor<'a>(log: &'a Log<'_>) -> Vec<(&'a str, Verdict)> {
    of_vendors(used(log))
}

fn of_vendors<'a>(verdicts: impl Iterator<Item = (&'a str, Verdict)>) -> Vec<(&'a str, Verdict)> {
    let mut vendors: Vec<(&str, Verdict)> = Vec::new();
    for (vendor, verdict) in verdicts {
        match vendors.iter_mut().find(|(name, _)| *name == vendor) {
            Some((_, own)) => *own = (*own).max(verdict),
            None => vendors.push((vendor, verdict)),
        }
    }
    vendors
}

/// The ruling; `None` when nobody gave a verdict.
pub(super) fn ruling(log: &Log<'_>) -> Option<Ruling> {
    rule(used(log))
}

/// What these verdicts come to, each with its vendor.
pub(super) fn rule<'a>(verdicts: impl Iterator<Item = (&'a str, Verdict)>) -> Option<Ruling> {
    let vendors = of_vendors(verdicts);
    let has = |verdict: Verdict| vendors.iter().any(|(_, own)| *own == verdict);
    if has(Verdict::Pass) && has(Verdict::Fail) {
        return Some(Ruling::Disagree);
    }
    consolidate(vendors.iter().map(|(_, verdict)| *verdict)).map(Ruling::Is)
}

/// The verdict-shift table: every judge that had a second round.
pub(super) fn shifts(log: &Log<'_>) -> Vec<Value> {
    let shift = |judge: &Judge<'_>| {
        let (first, (second, _)) = (judge.first.as_ref()?, judge.second.as_ref()?);
        let changed = first.verdict != second.verdict;
        Some(json!({
            "judge": judge.seat.id,
            "r1": first.verdict,
            "r2": second.verdict,
            "changed": changed,
            "because": second.changed_because.as_ref().filter(|_| changed),
            "weak_flip": judge.is_weak_flip(),
            "reverted": judge.is_reverted(),
        }))
    };
    log.judges.iter().filter_map(shift).collect()
}

/// "R1 split and R2 unanimous": whether judges who differed in round 1 all say the same in round 2, as far as they had one.
pub(super) fn has_converged(log: &Log<'_>) -> bool {
    // What was reverted did not converge.
    let seconds = log.judges.iter().filter(|judge| judge.second.is_some());
    let mut seconds = seconds.filter_map(|judge| Some(judge.used()?.1));
    let (Some(first), Some(next)) = (seconds.next(), seconds.next()) else { return false };
    log.branch() == Some("disagreed") && next == first && seconds.all(|verdict| verdict == first)
}
