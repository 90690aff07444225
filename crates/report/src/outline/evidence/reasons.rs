//! A seat's own words for a change.

use agon_core::{Debate, Reply, Turn};
use serde_json::Value;

use crate::outline::{at, words};

/// Where the protocols' replies say why, the plainest first.
const WHY: [&str; 9] = [
    "/change_reason",
    "/changed_because/citation",
    "/changed_because",
    "/because",
    "/addressed/0/how",
    "/concessions_made/0/point",
    "/reason",
    "/key_points/0/point",
    "/key_points/0",
];

/// What the seat said in this round about why it changed, if it did.
pub(crate) fn reason(debate: &Debate, seat: &str, round: u64) -> Option<String> {
    let turns = debate.turns.iter().rev().filter(|turn| u64::from(turn.phase.round) == round);
    let said = turns.flat_map(Turn::settled).filter(|(ask, _)| ask.seat == seat);
    let values: Vec<&Value> = said
        .filter_map(|(_, reply)| match reply {
            Reply::Said { value, .. } => value.as_ref().filter(|value| !denies(value)),
            Reply::Absent { .. } => None,
        })
        .collect();
    let found = values.iter().find_map(|value| WHY.iter().find_map(|pointer| words(value, pointer)));
    found.map(str::to_owned)
}

/// Whether a reply says that nothing changed: its reason is not one for a change.
fn denies(value: &Value) -> bool {
    let flags = ["/changed", "/score_changed"];
    flags.iter().any(|flag| at(value, flag).as_bool() == Some(false))
        || words(value, "/revision") == Some("no_change")
}
