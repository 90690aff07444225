//! How simulated seats play `review`: judges who rule PASS for one side and FAIL for the other.

use agon_core::simulation::{
    SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup,
};
use agon_core::{BriefFile, Corrupt, Headline, Invalid, Outcome, SeatPosition};
use serde::Serialize;
use serde_json::Value;

use super::ReviewPhase;
use super::replies::{
    ChangeReason, EvidenceKind, FindingSeverity, FirstVerdict, JudgeConfidence, JudgeFinding, JudgeVerdict,
    OtherFindingStatus, OtherStatus, OwnFindingStatus, OwnStatus, SecondVerdict, VerdictRestatement,
};

#[derive(Debug)]
pub(super) struct ReviewSimulation;

impl SimulatedPlay for ReviewSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[2, 3, 4, 5, 6, 7]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        setup.fixed_rounds("two")?;
        Ok(vec![("count".into(), setup.seats.to_string()), ("debate".into(), "true".into())])
    }

    /// What the two sides cite: a line for each.
    fn files(&self) -> Vec<BriefFile> {
        let file = |side: SimulatedSide| {
            let (path, line) = evidence(side);
            let text = format!("{}{}\n", "Nothing to note.\n".repeat(line - 1), side.ground());
            BriefFile { path: path.into(), text, part: None }
        };
        vec![file(SimulatedSide::No), file(SimulatedSide::Yes)]
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        match ReviewPhase::of(ask.phase).ok()? {
            ReviewPhase::Explore => None,
            ReviewPhase::FirstVerdict => written(&first_verdict(seat, seat.first_side()?)),
            ReviewPhase::Restate => {
                written(&VerdictRestatement { restatement: restatement(seat.first_side()?) })
            }
            ReviewPhase::SecondVerdict => written(&second_verdict(ask, seat, &seat.moved()?)?),
        }
    }

    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        side_of_verdict(&position.position)
    }

    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.verdict.as_deref().and_then(side_of_verdict)
    }

    fn evidence_rule(&self) -> Option<(&'static str, &'static str)> {
        Some(("strict_anchoring", "true"))
    }

    fn reverted_changes(&self, outcome: &Outcome) -> Result<usize, Corrupt> {
        let shifts = outcome.verdict.get("shifts").and_then(Value::as_array).into_iter().flatten();
        Ok(shifts.filter(|shift| shift.get("reverted") == Some(&Value::Bool(true))).count())
    }
}

fn written(reply: &impl Serialize) -> Option<String> {
    serde_json::to_string(reply).ok()
}

/// The file and the line that a side cites.
fn evidence(side: SimulatedSide) -> (&'static str, usize) {
    match side {
        SimulatedSide::Yes => ("trial.txt", 31),
        SimulatedSide::No => ("survey.txt", 12),
    }
}

fn citation(side: SimulatedSide) -> String {
    let (path, line) = evidence(side);
    format!("{path}:{line}")
}

fn verdict(side: SimulatedSide) -> JudgeVerdict {
    match side {
        SimulatedSide::Yes => JudgeVerdict::Pass,
        SimulatedSide::No => JudgeVerdict::Fail,
    }
}

fn side_of_verdict(verdict: &str) -> Option<SimulatedSide> {
    match verdict {
        "PASS" => Some(SimulatedSide::Yes),
        "WARN" | "FAIL" => Some(SimulatedSide::No),
        _ => None,
    }
}

fn restatement(side: SimulatedSide) -> String {
    format!("My verdict was {}. {}", verdict(side).as_str(), side.ground())
}

fn first_verdict(seat: &dyn SimulatedSeat, side: SimulatedSide) -> FirstVerdict {
    let finding = JudgeFinding {
        severity: FindingSeverity::Significant,
        description: side.ground().into(),
        category: Some("safety".into()),
        location: Some(citation(side)),
        recommendation: None,
    };
    FirstVerdict {
        findings: if side == SimulatedSide::No { vec![finding] } else { Vec::new() },
        key_insight: seat.stated(side),
        verdict: verdict(side),
        confidence: if seat.is_adversary() { JudgeConfidence::High } else { JudgeConfidence::Medium },
        ..FirstVerdict::default()
    }
}

/// A judge keeps, drops, accepts or disputes findings by the side that it is on now. A change that has evidence quotes its line.
fn second_verdict(
    ask: &SimulatedAsk<'_>,
    seat: &dyn SimulatedSeat,
    moved: &SimulatedMove,
) -> Option<SecondVerdict> {
    let ids = |field: &str| ask.allowed_words(&format!("/properties/{field}/items/properties/id"));
    let is_no = moved.side == SimulatedSide::No;
    let (status, answer) = match is_no {
        true => (OwnStatus::Keep, OtherStatus::Accept),
        false => (OwnStatus::Drop, OtherStatus::Dispute),
    };
    let (reason, severity) = (String::new, None);
    let own = ids("own").into_iter().map(|id| OwnFindingStatus { id, reason: reason(), status, severity });
    let others = ids("others").into_iter();
    let others = others.map(|id| OtherFindingStatus { id, reason: reason(), status: answer, severity });
    let (own, others): (Vec<_>, Vec<_>) = (own.collect(), others.collect());
    let mut now = first_verdict(seat, moved.side);
    if !(own.is_empty() && others.is_empty()) {
        now.findings.clear();
    }
    Some(SecondVerdict {
        restatement: restatement(seat.first_side()?),
        now,
        own,
        others,
        steel_man: moved.side.other().ground().into(),
        changed_because: moved.convinced_by.as_ref().map(|_| ChangeReason {
            kind: EvidenceKind::CodeLocation,
            citation: citation(moved.side),
            quote: moved.side.ground().into(),
        }),
        ..SecondVerdict::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pass_is_on_the_side_of_yes() {
        for (verdict, side) in [
            ("PASS", Some(SimulatedSide::Yes)),
            ("WARN", Some(SimulatedSide::No)),
            ("FAIL", Some(SimulatedSide::No)),
            ("DISAGREE", None),
        ] {
            let headline = Headline { verdict: Some(verdict.to_owned()), ..Headline::default() };
            assert_eq!(ReviewSimulation.side_of_decision(&headline), side, "{verdict}");
        }
    }
}
