//! How simulated seats play `deep`: the debaters argue, the moderator sorts the positions, the chair follows the majority.

use agon_core::simulation::{SimulatedAsk, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup};
use agon_core::{Invalid, quotations};

use super::DeepPhase;
use super::replies::{
    Argument, Assessment, CitedPoint, Counterpoint, DeclaredPosition, PositionMember, PositionRuling,
    Revision, RulingFate, Stance, Synthesis,
};
use super::verdict::SynthesisInput;

#[derive(Debug)]
pub(super) struct DeepSimulation;

impl SimulatedPlay for DeepSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[2, 3, 4, 5, 6, 7]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        let rounds = setup.rounds_up_to(20, 3)?.to_string();
        Ok(vec![("min_rounds".into(), rounds.clone()), ("max_rounds".into(), rounds)])
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        match DeepPhase::of(ask.phase).ok()? {
            DeepPhase::Answer => seat.first_side().map(|side| seat.stated(side)),
            DeepPhase::Debate => serde_json::to_string(&argument(ask, seat)?).ok(),
            DeepPhase::Moderate => serde_json::to_string(&assessment(ask.phase.round, seat)).ok(),
            DeepPhase::Synthesis => serde_json::to_string(&synthesis(ask, seat)?).ok(),
            DeepPhase::Evaluate | DeepPhase::Ratify => None,
        }
    }
}

fn argument(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Argument> {
    let moved = seat.moved()?;
    let position = seat.stated(moved.side);
    let counterpoint = |name: &String| Counterpoint {
        target: name.clone(),
        point: "That was looked at once only.".into(),
        evidence: "A second look gave another result.".into(),
    };
    let cause = moved.convinced_by.as_deref().and_then(|name| cited_point(ask, name, moved.side));
    let (stance, revision) = match moved.is_changed {
        true => (Stance::Concede, Revision::MajorRevision),
        false => (Stance::Maintain, Revision::NoChange),
    };
    Some(Argument {
        analysis: String::new(),
        answers: Vec::new(),
        key_points: vec![moved.reason(&format!("See {}.", moved.side.citation())), position.clone()],
        counterpoints: moved.opponent.iter().map(counterpoint).collect(),
        stance,
        agrees_with: Vec::new(),
        changed_because: cause.into_iter().collect(),
        revision,
        revised_position: moved.is_changed.then_some(position),
        confidence: seat.confidence(),
    })
}

/// The last point in the prompt in which this debater takes this side.
fn cited_point(ask: &SimulatedAsk<'_>, name: &str, side: SimulatedSide) -> Option<CitedPoint> {
    let quote = side.sentence();
    let quoted = quotations(ask.prompt);
    let mut lines = quoted.iter().filter(|quoted| quoted.what == name).flat_map(|quoted| quoted.text.lines());
    let line = lines.rfind(|line| line.starts_with('[') && line.contains(quote))?;
    let id = line.trim_start_matches('[').split(']').next()?;
    Some(CitedPoint { id: id.to_owned(), quote: quote.to_owned() })
}

/// The agreement is the share of the debaters who hold the most common position.
fn assessment(round: u32, moderator: &dyn SimulatedSeat) -> Assessment {
    let debaters = moderator.others();
    let positions = |side_of: &dyn Fn(&str) -> Option<SimulatedSide>| -> Vec<DeclaredPosition> {
        let position = |side: SimulatedSide| {
            let holders = debaters.iter().filter(|debater| side_of(&debater.name) == Some(side));
            let member =
                |name: &String| PositionMember { debater: name.clone(), quote: side.sentence().into() };
            let members: Vec<PositionMember> = holders.map(|debater| member(&debater.name)).collect();
            DeclaredPosition { statement: side.sentence().into(), members }
        };
        let sides = [SimulatedSide::Yes, SimulatedSide::No].map(position);
        sides.into_iter().filter(|position| !position.members.is_empty()).collect()
    };
    let now =
        positions(&|name| debaters.iter().find(|debater| debater.name == name).map(|debater| debater.side));
    // In the first round, a debater's first words are its first answer.
    let said = moderator.statements();
    let first = positions(&|name| said.iter().find(|said| said.name == name).map(|said| said.side));
    let most = now.iter().map(|position| position.members.len()).max().unwrap_or_default();
    Assessment {
        first_positions: if round == 1 { first } else { Vec::new() },
        positions: now,
        agreement_score: most as f64 / debaters.len().max(1) as f64,
        new_points_ratio: if round == 1 { 1.0 } else { 0.1 },
        ..Assessment::default()
    }
}

/// The answer is what most of the final stances say. The chair breaks a tie by its own opinion.
fn synthesis(ask: &SimulatedAsk<'_>, chair: &dyn SimulatedSeat) -> Option<Synthesis> {
    let quoted = quotations(ask.prompt);
    let text = |what: &str| quoted.iter().find(|quoted| quoted.what == what).map(|quoted| quoted.text);
    let debate: SynthesisInput = serde_json::from_str(text("the debate")?).ok()?;
    let stances = debate.final_stances.iter();
    let sides: Vec<SimulatedSide> =
        stances.filter_map(|stance| SimulatedSide::find_in(&stance.revised_position)).collect();
    let yes = sides.iter().filter(|side| **side == SimulatedSide::Yes).count();
    let side = match (2 * yes).cmp(&sides.len()) {
        std::cmp::Ordering::Greater => SimulatedSide::Yes,
        std::cmp::Ordering::Less => SimulatedSide::No,
        std::cmp::Ordering::Equal => chair.impartial_side("chair"),
    };
    let fates = text("the positions")?.lines().filter_map(|line| {
        let (id, statement) = line.split_once(' ')?;
        let is_adopted = SimulatedSide::find_in(statement)? == side;
        let fate = if is_adopted { RulingFate::Adopted } else { RulingFate::Rejected };
        Some(PositionRuling {
            position: id.trim_matches(['[', ']']).to_owned(),
            fate,
            reason: side.ground().into(),
        })
    });
    Some(Synthesis {
        answer: side.text(),
        why: "Most of the debaters hold it.".into(),
        fates: fates.collect(),
        ..Synthesis::default()
    })
}
