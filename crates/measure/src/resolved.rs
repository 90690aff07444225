//! How the first positions of a resolved debate turned out: what later debates know of those who sat.

use agon_core::history::{ResolvedDebate, SeatResult};
use agon_core::{Debate, PositionGrouping, PositionHistory, RoundPositions};

use crate::calibration::{Resolution, Truth};

/// Who was right where no position was.
pub const NOBODY: &str = "nobody";

/// Who spoke for a seat, if it was one all along.
pub fn agent<'a>(debate: &'a Debate, seat: &str) -> Option<&'a str> {
    match debate.spoke(seat).as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// What a resolution says of a debate's first positions. A seat of which it says nothing is left out.
pub fn resolved_debate(debate: &Debate, stands: &PositionHistory, resolution: &Resolution) -> ResolvedDebate {
    let first: &[_] = stands.rounds.first().map_or(&[], |held| &held.stands);
    let truth = truth(debate, stands, resolution);
    let truth = if is_told(stands, &truth) { truth } else { KnownTruth::Nothing };
    let seats = first.iter().filter_map(|stand| {
        let right = match &truth {
            KnownTruth::Is(position) => stand.position == *position,
            KnownTruth::IsNot(position) => (stand.position == *position).then_some(false)?,
            KnownTruth::Nothing => return None,
        };
        let agent = agent(debate, &stand.seat)?.to_owned();
        Some(SeatResult { agent, right, confidence: stand.confidence, position: stand.position.clone() })
    });
    ResolvedDebate {
        id: debate.brief.id.clone(),
        seats: seats.collect(),
        partial: matches!(truth, KnownTruth::IsNot(_)),
    }
}

/// How the decision of a debate turned out by a resolution.
pub fn decision_truth(debate: &Debate, stands: &PositionHistory, resolution: &Resolution) -> Option<Truth> {
    let decided = stands.decided.as_deref()?;
    match truth(debate, stands, resolution) {
        KnownTruth::Is(position) if position == decided => Some(Truth::Right),
        KnownTruth::Is(_) | KnownTruth::IsNot(_) => Some(Truth::Wrong),
        KnownTruth::Nothing => None,
    }
}

/// The position that a name means: one of them, or that of a label or a seat.
pub fn position_named<'a>(debate: &Debate, stands: &'a PositionHistory, name: &str) -> Option<&'a str> {
    let positions = stands
        .rounds
        .iter()
        .flat_map(|held: &RoundPositions| &held.stands)
        .map(|stand| stand.position.as_str());
    let mut positions = positions.chain(stands.decided.as_deref());
    if let Some(position) = positions.find(|position| position.eq_ignore_ascii_case(name)) {
        return Some(position);
    }
    let labels = debate.outcome.as_ref().map(|outcome| &outcome.labels);
    let label = name.rsplit(' ').next().unwrap_or(name);
    let seat = labels.and_then(|labels| labels.get(label)).map_or(name, String::as_str);
    stands.at_last(seat).map(|stand| stand.position.as_str())
}

/// Whether a truth can be compared with the first positions: one of another kind, as votes are where positions are words, or words
/// that nobody held, says nothing of them.
fn is_told(stands: &PositionHistory, truth: &KnownTruth<'_>) -> bool {
    let (KnownTruth::Is(position) | KnownTruth::IsNot(position)) = truth else { return true };
    let rounds = stands.rounds.iter().filter(|held| !held.ballots);
    let held = || rounds.flat_map(|held| &held.stands).any(|stand| stand.position == *position);
    stands.grouping == PositionGrouping::Discrete || position.is_empty() || held()
}

enum KnownTruth<'a> {
    Is(&'a str),
    IsNot(&'a str),
    Nothing,
}

fn truth<'a>(debate: &'a Debate, stands: &'a PositionHistory, resolution: &'a Resolution) -> KnownTruth<'a> {
    let lesson = debate.outcome.as_ref().and_then(|outcome| outcome.lesson.as_ref());
    let labels =
        lesson.and_then(|lesson| lesson.decision.as_ref()).map_or(&[][..], |decision| &decision.labels);
    match (resolution, stands.decided.as_deref()) {
        (Resolution::Truth(Truth::Right), Some(decided)) => KnownTruth::Is(decided),
        (Resolution::Truth(Truth::Wrong), Some(decided)) => KnownTruth::IsNot(decided),
        (Resolution::Truth(_), None) => KnownTruth::Nothing,
        (Resolution::Winner(name), Some(decided)) if labels.contains(name) => KnownTruth::Is(decided),
        // No position has this name, so that all were wrong: that they were together is just what is to be known.
        (Resolution::Winner(name), _) if name == NOBODY => KnownTruth::Is(""),
        (Resolution::Winner(name), _) => {
            position_named(debate, stands, name).map_or(KnownTruth::Nothing, KnownTruth::Is)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agon_core::{
        Brief, CallUsage, DebateLimits, Event, LOG_VERSION, Phase, Prompt, Reply, Seat, SeatPosition,
    };

    use super::*;

    fn debate(speakers: &[(&str, &[&str])]) -> Debate {
        let seats = speakers.iter().map(|(seat, models)| Seat {
            id: (*seat).into(),
            role: "judge".into(),
            model: models[0].into(),
        });
        let brief = Brief {
            version: LOG_VERSION,
            id: "d1".into(),
            protocol: "review".into(),
            question: String::new(),
            files: Vec::new(),
            options: serde_json::Map::new(),
            seats: seats.collect(),
            seed: 1,
            limits: DebateLimits::default(),
            templates: BTreeMap::new(),
            written_by: String::new(),
            created_at: String::new(),
            parent: None,
        };
        let (mut debate, _) = Debate::open(brief).unwrap();
        let rounds = speakers.iter().map(|(_, models)| models.len()).max().unwrap_or(0);
        for round in 0..rounds {
            let mut asks = Vec::new();
            for (seat, models) in speakers.iter().filter(|(_, models)| models.len() > round) {
                let prompt = Prompt { system: "".into(), shared: "".into(), tail: String::new() };
                asks.push(agon_core::AskRecord {
                    id: debate.asks() + 1 + asks.len() as u32,
                    seat: (*seat).into(),
                    model: models[round].into(),
                    label: None,
                    about: None,
                    schema: None,
                    prompt: prompt.hash(),
                });
            }
            let Phase { name, round } = Phase::new("r", round as u32);
            debate.push(Event::Asked { phase: name, round, asks: asks.clone() }, 0).unwrap();
            for ask in asks {
                let model = ask.model.clone();
                let (text, usage) = (String::new(), CallUsage::default());
                let reply = Reply::Said { text, value: None, model, usage, cut_off: false, shortened: None };
                debate.push(Event::Replied { ask: ask.id, reply }, 0).unwrap();
            }
        }
        debate
    }

    fn stands(positions: &[(&str, &str)], decided: Option<&str>) -> PositionHistory {
        let stand = |(seat, position): &(&str, &str)| SeatPosition {
            seat: (*seat).into(),
            position: (*position).into(),
            ..SeatPosition::default()
        };
        let first = RoundPositions {
            round: 1,
            stands: positions.iter().map(stand).collect(),
            ..RoundPositions::default()
        };
        PositionHistory {
            rounds: vec![first],
            decided: decided.map(str::to_owned),
            ..PositionHistory::default()
        }
    }

    /// Who was right when the decision was, and who was wrong; of those who dissented from a wrong decision nothing is known.
    #[test]
    fn a_resolution_tells_of_each_first_position_what_it_can() {
        let debate = debate(&[("s1", &["a/x"]), ("s2", &["b/y"]), ("s3", &["c/z"])]);
        let stands = stands(&[("s1", "PASS"), ("s2", "FAIL"), ("s3", "PASS")], Some("PASS"));
        let told = |resolution: &Resolution| {
            let past = resolved_debate(&debate, &stands, resolution);
            past.seats.into_iter().map(|showing| (showing.agent, showing.right)).collect::<Vec<_>>()
        };
        let row = |agent: &str, right| (agent.to_owned(), right);
        assert_eq!(
            told(&Resolution::Truth(Truth::Right)),
            [row("a/x", true), row("b/y", false), row("c/z", true)]
        );
        assert_eq!(told(&Resolution::Truth(Truth::Wrong)), [row("a/x", false), row("c/z", false)]);
        let fail = Resolution::Winner("FAIL".into());
        assert_eq!(told(&fail), [row("a/x", false), row("b/y", true), row("c/z", false)]);
        assert_eq!(decision_truth(&debate, &stands, &fail), Some(Truth::Wrong));
        assert_eq!(position_named(&debate, &stands, "s2"), Some("FAIL"));
        assert_eq!(position_named(&debate, &stands, "nobody"), None);
        assert!(told(&Resolution::Winner("elsewhere".into())).is_empty());
        // Where nobody was right, all were wrong, and together.
        let nobody = told(&Resolution::Winner(NOBODY.into()));
        assert_eq!(nobody, [row("a/x", false), row("b/y", false), row("c/z", false)]);
    }

    /// Where positions are words and the verdict is a vote, it is not known of any first position whether it was right.
    #[test]
    fn a_truth_of_another_kind_says_nothing_of_the_first_positions() {
        let debate = debate(&[("s1", &["a/x"]), ("s2", &["b/y"])]);
        let mut words = stands(&[("s1", "Move."), ("s2", "Stay.")], Some("PROCEED"));
        words.grouping = PositionGrouping::Declared;
        assert!(resolved_debate(&debate, &words, &Resolution::Truth(Truth::Right)).seats.is_empty());
        words.decided = Some("Move.".into());
        assert_eq!(resolved_debate(&debate, &words, &Resolution::Truth(Truth::Right)).seats.len(), 2);
    }

    /// Nobody is credited with what two models said between them.
    #[test]
    fn a_seat_for_which_two_spoke_tells_of_neither() {
        let debate = debate(&[("s1", &["a/x", "b/y"]), ("s2", &["b/y"])]);
        let stands = stands(&[("s1", "PASS"), ("s2", "PASS")], Some("PASS"));
        let past = resolved_debate(&debate, &stands, &Resolution::Truth(Truth::Right));
        assert_eq!(past.seats.len(), 1);
        assert_eq!(past.seats[0].agent, "b/y");
    }
}
