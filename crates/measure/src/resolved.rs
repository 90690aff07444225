//! What a resolution says about the first positions in a debate. Later debates learn from it how their agents did.

use agon_core::history::{ResolvedDebate, SeatResult};
use agon_core::{Debate, DecidedPosition, PositionHistory, SeatPosition};

use crate::calibration::{DebateResolution, OutcomeTruth};

/// The winner's name in a resolution if no position was right.
pub const NOBODY: &str = "nobody";

/// The agent that spoke for a seat; `None` if there was more than one.
pub fn seat_agent<'a>(debate: &'a Debate, seat: &str) -> Option<&'a str> {
    match debate.spoke(seat).as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// Which first positions were right. A seat is left out if the resolution says nothing about its position, or if nobody declared
/// whether its position is the right one.
pub fn resolved_debate(
    debate: &Debate,
    positions: &PositionHistory,
    resolution: &DebateResolution,
) -> ResolvedDebate {
    let truth = known_truth(debate, positions, resolution);
    let first = positions.rounds.first().map_or(&[][..], |round| &round.stands);
    let seats = first.iter().filter_map(|held| {
        let right = is_right(positions, &truth, held)?;
        let agent = seat_agent(debate, &held.seat)?.to_owned();
        Some(SeatResult { agent, right, confidence: held.confidence, position: held.position.clone() })
    });
    let (id, partial) = (debate.brief.id.clone(), matches!(truth, KnownTruth::IsNot(_)));
    ResolvedDebate { id, seats: seats.collect(), partial }
}

/// How the decision turned out; `None` if there is none, or if it is not known.
pub fn decision_truth(
    debate: &Debate,
    positions: &PositionHistory,
    resolution: &DebateResolution,
) -> Option<OutcomeTruth> {
    if positions.decided == DecidedPosition::Nothing {
        return None;
    }
    if let DebateResolution::Truth(truth) = resolution {
        return Some(*truth);
    }
    match (known_truth(debate, positions, resolution), positions.decided.name()) {
        (KnownTruth::Is(position), Some(decided)) if position == decided => Some(OutcomeTruth::Right),
        (KnownTruth::Is(position), Some(_)) if is_distinct(positions, position) => Some(OutcomeTruth::Wrong),
        (KnownTruth::Nobody, _) => Some(OutcomeTruth::Wrong),
        _ => None,
    }
}

/// The position with this name, or the last position of the seat with this label or id.
pub fn position_named<'a>(debate: &Debate, positions: &'a PositionHistory, name: &str) -> Option<&'a str> {
    let held = positions.rounds.iter().flat_map(|round| &round.stands).map(|held| held.position.as_str());
    let mut known = held.chain(positions.decided.name());
    if let Some(position) = known.find(|position| position.eq_ignore_ascii_case(name)) {
        return Some(position);
    }
    let labels = debate.outcome.as_ref().map(|outcome| &outcome.labels);
    let label = name.rsplit(' ').next().unwrap_or(name);
    let seat = labels.and_then(|labels| labels.get(label)).map_or(name, String::as_str);
    positions.at_last(seat).map(|held| held.position.as_str())
}

/// What a resolution says about positions.
enum KnownTruth<'a> {
    /// This position is right.
    Is(&'a str),
    /// This position is wrong; nothing is known about the others.
    IsNot(&'a str),
    /// Every position is wrong.
    Nobody,
    Nothing,
}

fn known_truth<'a>(
    debate: &'a Debate,
    positions: &'a PositionHistory,
    resolution: &'a DebateResolution,
) -> KnownTruth<'a> {
    let lesson = debate.outcome.as_ref().and_then(|outcome| outcome.lesson.as_ref());
    let labels =
        lesson.and_then(|lesson| lesson.decision.as_ref()).map_or(&[][..], |decision| &decision.labels);
    match (resolution, positions.decided.name()) {
        (DebateResolution::Truth(OutcomeTruth::Right), Some(decided)) => KnownTruth::Is(decided),
        (DebateResolution::Truth(OutcomeTruth::Wrong), Some(decided)) => KnownTruth::IsNot(decided),
        (DebateResolution::Truth(_), None) => KnownTruth::Nothing,
        (DebateResolution::Winner(name), Some(decided)) if labels.contains(name) => KnownTruth::Is(decided),
        (DebateResolution::Winner(name), _) if name == NOBODY => KnownTruth::Nobody,
        (DebateResolution::Winner(name), _) => {
            position_named(debate, positions, name).map_or(KnownTruth::Nothing, KnownTruth::Is)
        }
    }
}

/// Whether a first position was right; `None` if that is not known.
fn is_right(positions: &PositionHistory, truth: &KnownTruth<'_>, held: &SeatPosition) -> Option<bool> {
    match truth {
        KnownTruth::Is(position) if held.position == *position => Some(true),
        KnownTruth::Is(position) => (!held.is_unsorted && is_distinct(positions, position)).then_some(false),
        KnownTruth::IsNot(position) => (held.position == *position).then_some(false),
        KnownTruth::Nobody => Some(false),
        KnownTruth::Nothing => None,
    }
}

/// Whether a seat that holds a position of another name is known not to hold this one. It is not known of a text that nobody held,
/// such as one that combines several, and of one that nobody sorted. A vote says nothing about texts.
fn is_distinct(positions: &PositionHistory, position: &str) -> bool {
    let rounds = positions.rounds.iter().filter(|round| !round.ballots);
    let mut held = rounds.flat_map(|round| &round.stands);
    !positions.are_texts || held.any(|held| held.position == position && !held.is_unsorted)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agon_core::{
        AskRecord, Brief, CallUsage, DebateLimits, Event, LOG_VERSION, Phase, Prompt, Reply, RoundPositions,
        Seat, SeatPosition,
    };

    use super::*;

    /// A debate whose seats were answered for by these models, one per round.
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
            nonce: "nonce".into(),
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
                asks.push(AskRecord {
                    id: debate.asks() + 1 + asks.len() as u32,
                    seat: (*seat).into(),
                    model: models[round].into(),
                    label: None,
                    about: None,
                    schema: None,
                    repeats: None,
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

    fn first_positions(positions: &[(&str, &str)], decided: &str) -> PositionHistory {
        let held = |(seat, position): &(&str, &str)| SeatPosition {
            seat: (*seat).into(),
            position: (*position).into(),
            ..SeatPosition::default()
        };
        let stands = positions.iter().map(held).collect();
        let first = RoundPositions { round: 1, stands, ..RoundPositions::default() };
        let decided = DecidedPosition::Held(decided.into());
        PositionHistory { rounds: vec![first], decided, ..PositionHistory::default() }
    }

    const RIGHT: DebateResolution = DebateResolution::Truth(OutcomeTruth::Right);
    const WRONG: DebateResolution = DebateResolution::Truth(OutcomeTruth::Wrong);

    #[test]
    fn a_resolution_says_which_first_positions_were_right() {
        let debate = debate(&[("s1", &["a/x"]), ("s2", &["b/y"]), ("s3", &["c/z"])]);
        let positions = first_positions(&[("s1", "PASS"), ("s2", "FAIL"), ("s3", "PASS")], "PASS");
        let results = |resolution: &DebateResolution| {
            let resolved = resolved_debate(&debate, &positions, resolution);
            resolved.seats.into_iter().map(|seat| (seat.agent, seat.right)).collect::<Vec<_>>()
        };
        let row = |agent: &str, right| (agent.to_owned(), right);
        assert_eq!(results(&RIGHT), [row("a/x", true), row("b/y", false), row("c/z", true)]);
        // A wrong decision says nothing about those who dissented.
        assert_eq!(results(&WRONG), [row("a/x", false), row("c/z", false)]);
        let fail = DebateResolution::Winner("FAIL".into());
        assert_eq!(results(&fail), [row("a/x", false), row("b/y", true), row("c/z", false)]);
        assert_eq!(decision_truth(&debate, &positions, &fail), Some(OutcomeTruth::Wrong));
        assert_eq!(position_named(&debate, &positions, "s2"), Some("FAIL"));
        assert_eq!(position_named(&debate, &positions, "nobody"), None);
        assert!(results(&DebateResolution::Winner("elsewhere".into())).is_empty());
        let nobody = results(&DebateResolution::Winner(NOBODY.into()));
        assert_eq!(nobody, [row("a/x", false), row("b/y", false), row("c/z", false)]);
    }

    #[test]
    fn a_vote_says_nothing_about_first_positions_that_are_texts() {
        let debate = debate(&[("s1", &["a/x"]), ("s2", &["b/y"])]);
        let mut texts = first_positions(&[("s1", "Move."), ("s2", "Stay.")], "PROCEED");
        texts.are_texts = true;
        assert!(resolved_debate(&debate, &texts, &RIGHT).seats.is_empty());
        texts.decided = DecidedPosition::Held("Move.".into());
        assert_eq!(resolved_debate(&debate, &texts, &RIGHT).seats.len(), 2);
    }

    /// Inequality of texts decides nothing, so a seat that was not sorted is not counted as wrong.
    #[test]
    fn a_text_that_nobody_sorted_is_never_counted_as_wrong() {
        let debate = debate(&[("s1", &["a/x"]), ("s2", &["b/y"]), ("s3", &["c/z"])]);
        let mut texts = first_positions(&[("s1", "Move."), ("s2", "Stay."), ("s3", "Go.")], "Move.");
        texts.are_texts = true;
        let results = |texts: &PositionHistory, resolution: &DebateResolution| {
            let seats = resolved_debate(&debate, texts, resolution).seats;
            seats.into_iter().map(|seat| (seat.position, seat.right)).collect::<Vec<_>>()
        };
        let row = |position: &str, right| (position.to_owned(), right);
        let stay = DebateResolution::Winner("Stay.".into());
        assert_eq!(decision_truth(&debate, &texts, &stay), Some(OutcomeTruth::Wrong));
        texts.rounds[0].stands[2].is_unsorted = true;
        assert_eq!(results(&texts, &RIGHT), [row("Move.", true), row("Stay.", false)]);
        texts.rounds[0].stands.iter_mut().for_each(|held| held.is_unsorted = true);
        assert_eq!(results(&texts, &RIGHT), [row("Move.", true)]);
        assert_eq!(results(&texts, &WRONG), [row("Move.", false)]);
        assert_eq!(decision_truth(&debate, &texts, &stay), None, "they may be the same");
        let nobody = DebateResolution::Winner(NOBODY.into());
        assert_eq!(results(&texts, &nobody).len(), 3);
    }

    #[test]
    fn a_decision_is_right_or_wrong_also_if_nobody_declared_its_position() {
        let debate = debate(&[("s1", &["a/x"]), ("s2", &["b/y"])]);
        let mut texts = first_positions(&[("s1", "Move."), ("s2", "Stay.")], "");
        texts.are_texts = true;
        let winner = DebateResolution::Winner("Move.".into());
        for (decided, of_truth, of_winner, seats) in [
            (DecidedPosition::Nothing, None, None, 0),
            (DecidedPosition::Unknown, Some(OutcomeTruth::Right), None, 0),
            (DecidedPosition::New("Both.".into()), Some(OutcomeTruth::Right), Some(OutcomeTruth::Wrong), 0),
            (DecidedPosition::Held("Move.".into()), Some(OutcomeTruth::Right), Some(OutcomeTruth::Right), 2),
        ] {
            texts.decided = decided.clone();
            assert_eq!(decision_truth(&debate, &texts, &RIGHT), of_truth, "{decided:?}");
            assert_eq!(decision_truth(&debate, &texts, &winner), of_winner, "{decided:?}");
            assert_eq!(resolved_debate(&debate, &texts, &RIGHT).seats.len(), seats, "{decided:?}");
        }
    }

    #[test]
    fn a_seat_for_which_two_models_spoke_is_left_out() {
        let debate = debate(&[("s1", &["a/x", "b/y"]), ("s2", &["b/y"])]);
        let positions = first_positions(&[("s1", "PASS"), ("s2", "PASS")], "PASS");
        let resolved = resolved_debate(&debate, &positions, &RIGHT);
        assert_eq!(resolved.seats.iter().map(|seat| seat.agent.as_str()).collect::<Vec<_>>(), ["b/y"]);
    }
}
