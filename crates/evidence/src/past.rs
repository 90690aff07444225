//! How the first positions of a resolved debate turned out: what later debates know of those who sat.

use agon_core::history::{Past, Showing};
use agon_core::{Debate, Held, Stands};

use crate::calibration::{Resolution, Truth};

/// Who spoke for a seat, if it was one all along.
pub fn agent<'a>(debate: &'a Debate, seat: &str) -> Option<&'a str> {
    match debate.spoke(seat).as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// What a resolution says of a debate's first positions. A seat of which it says nothing is left out.
pub fn past(debate: &Debate, stands: &Stands, resolution: &Resolution) -> Past {
    let first: &[_] = stands.rounds.first().map_or(&[], |held| &held.stands);
    let truth = truth(debate, stands, resolution);
    let seats = first.iter().filter_map(|stand| {
        let right = match &truth {
            Known::Is(position) => stand.position == *position,
            Known::IsNot(position) => (stand.position == *position).then_some(false)?,
            Known::Nothing => return None,
        };
        let agent = agent(debate, &stand.seat)?.to_owned();
        Some(Showing { agent, right, confidence: stand.confidence, position: stand.position.clone() })
    });
    Past { id: debate.brief.id.clone(), seats: seats.collect() }
}

/// How the decision of a debate turned out by a resolution.
pub fn turned_out(debate: &Debate, stands: &Stands, resolution: &Resolution) -> Option<Truth> {
    let decided = stands.decided.as_deref()?;
    match truth(debate, stands, resolution) {
        Known::Is(position) if position == decided => Some(Truth::Right),
        Known::Is(_) | Known::IsNot(_) => Some(Truth::Wrong),
        Known::Nothing => None,
    }
}

/// The position that a name means: one of them, or that of a label or a seat.
pub fn named<'a>(debate: &Debate, stands: &'a Stands, name: &str) -> Option<&'a str> {
    let positions =
        stands.rounds.iter().flat_map(|held: &Held| &held.stands).map(|stand| stand.position.as_str());
    let mut positions = positions.chain(stands.decided.as_deref());
    if let Some(position) = positions.find(|position| position.eq_ignore_ascii_case(name)) {
        return Some(position);
    }
    let labels = debate.outcome.as_ref().map(|outcome| &outcome.labels);
    let label = name.rsplit(' ').next().unwrap_or(name);
    let seat = labels.and_then(|labels| labels.get(label)).map_or(name, String::as_str);
    stands.at_last(seat).map(|stand| stand.position.as_str())
}

enum Known<'a> {
    Is(&'a str),
    IsNot(&'a str),
    Nothing,
}

fn truth<'a>(debate: &'a Debate, stands: &'a Stands, resolution: &'a Resolution) -> Known<'a> {
    let lesson = debate.outcome.as_ref().and_then(|outcome| outcome.lesson.as_ref());
    let labels =
        lesson.and_then(|lesson| lesson.decision.as_ref()).map_or(&[][..], |decision| &decision.labels);
    match (resolution, stands.decided.as_deref()) {
        (Resolution::Truth(Truth::Right), Some(decided)) => Known::Is(decided),
        (Resolution::Truth(Truth::Wrong), Some(decided)) => Known::IsNot(decided),
        (Resolution::Truth(_), None) => Known::Nothing,
        (Resolution::Winner(name), Some(decided)) if labels.contains(name) => Known::Is(decided),
        (Resolution::Winner(name), _) => named(debate, stands, name).map_or(Known::Nothing, Known::Is),
    }
}
