//! How simulated seats play `council`: councillors who vote for the side they hold, and a moderator who finds nothing wrong.

use agon_core::simulation::{SimulatedAsk, SimulatedPlay, SimulatedSeat, SimulatedSide, SimulationSetup};
use agon_core::{Headline, Invalid, SeatPosition};
use serde::Serialize;
use serde_json::json;

use super::CouncilPhase;
use super::replies::{
    ChallengeResponse, ChallengeStance, CouncilConfidence, CouncilVote, CrossExamination, FinalStatement,
    ModeratorConclusion, ModeratorReply, NewChallenge, OpeningQuestion, OpeningStatement, ReplyForm,
    RoundResponse,
};

#[derive(Debug)]
pub(super) struct CouncilSimulation;

/// An argument that every councillor gives.
const SECOND_ARGUMENT: &str = "It was looked at twice.";

impl SimulatedPlay for CouncilSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[3, 4, 5, 6]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        let rounds = setup.rounds_up_to(4, 2)?;
        let mut options =
            vec![("rounds".into(), rounds.to_string()), ("councillors".into(), setup.seats.to_string())];
        // The sixth councillor is an expert, who needs a field.
        options.extend((setup.seats == 6).then(|| ("focus".into(), "bridges".into())));
        Ok(options)
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        match CouncilPhase::of(ask.phase).ok()? {
            CouncilPhase::Opening => written(&opening(ask, seat)?),
            CouncilPhase::Challenge => written(&examination(seat)),
            CouncilPhase::Respond => written(&response(ask, seat)?),
            CouncilPhase::Moderate => written(&ModeratorReply::default()),
            CouncilPhase::Intervene => intervention(ask, seat),
            CouncilPhase::Vote => written(&vote(seat)?),
            CouncilPhase::Conclude => written(&ModeratorConclusion::default()),
        }
    }

    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        side_of_vote(&position.position)
    }

    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.verdict.as_deref().and_then(side_of_vote)
    }
}

fn written(reply: &impl Serialize) -> Option<String> {
    serde_json::to_string(reply).ok()
}

fn side_of_vote(name: &str) -> Option<SimulatedSide> {
    let vote = CouncilVote::ALL.into_iter().find(|vote| vote.as_str() == name)?;
    Some(if vote.is_in_favour() { SimulatedSide::Yes } else { SimulatedSide::No })
}

fn vote_for(side: SimulatedSide) -> CouncilVote {
    if matches!(side, SimulatedSide::Yes) { CouncilVote::Proceed } else { CouncilVote::DoNotProceed }
}

fn confidence(seat: &dyn SimulatedSeat) -> CouncilConfidence {
    let word = seat.confidence_word();
    CouncilConfidence::ALL.into_iter().find(|it| it.as_str() == word).unwrap_or_default()
}

fn arguments(side: SimulatedSide) -> Vec<String> {
    vec![side.ground().to_owned(), SECOND_ARGUMENT.to_owned(), "Others would say so too.".to_owned()]
}

/// Everybody asks the next one, so that everybody is asked.
fn next_of<T>(seat: &dyn SimulatedSeat, others: &[T]) -> Option<usize> {
    Some((seat.number()?.checked_sub(1)?) % others.len().max(1))
}

fn opening(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<OpeningStatement> {
    let side = seat.first_side()?;
    // Every other seat is allowed by its name and by its id.
    let names: Vec<String> =
        ask.allowed_words("/properties/questions/items/properties/to").into_iter().step_by(2).collect();
    let to = names.get(next_of(seat, &names)?)?.clone();
    Some(OpeningStatement {
        position: seat.stated(side),
        arguments: arguments(side),
        confidence: confidence(seat),
        vote: vote_for(side),
        questions: vec![OpeningQuestion { to, question: "What do you rest this on?".to_owned() }],
        ..OpeningStatement::default()
    })
}

/// Everybody is challenged by everybody, so that a councillor that is convinced always has a challenge to name.
fn examination(seat: &dyn SimulatedSeat) -> CrossExamination {
    let others = seat.others();
    let challenges = others.iter().map(|target| NewChallenge {
        to: target.name.clone(),
        claim: target.side.claim().to_owned(),
        reason: "It was looked at once only.".to_owned(),
        question: "Who looked at it?".to_owned(),
    });
    CrossExamination { challenges: challenges.collect(), ..CrossExamination::default() }
}

/// A change that rests on evidence names a challenge; another names nothing.
fn response(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<RoundResponse> {
    let moved = seat.moved()?;
    let challenged = ask.allowed_words("/properties/responses/items/properties/challenge_id");
    let reason = moved.reason("My arguments hold.");
    let because = match (&moved.convinced_by, challenged.first()) {
        (Some(_), Some(id)) => format!("[{id}]: {reason}"),
        _ => reason,
    };
    let answer = |id: &String| ChallengeResponse {
        challenge_id: id.clone(),
        stance: ChallengeStance::Disagree,
        response: format!("It rests on {}.", moved.side.citation()),
    };
    Some(RoundResponse {
        responses: challenged.iter().map(answer).collect(),
        position: seat.stated(moved.side),
        key_arguments: arguments(moved.side),
        changed: moved.is_changed,
        because,
        confidence: confidence(seat),
        vote: vote_for(moved.side),
        ..RoundResponse::default()
    })
}

fn intervention(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
    let name = ask.schema?.name.as_str();
    match ReplyForm::ALL.into_iter().find(|form| form.as_str() == name)? {
        ReplyForm::Steelman => written(&json!({"counter_argument": "It could be otherwise."})),
        ReplyForm::SecondResponse => written(&json!({
            "challenge_id": ask.allowed_words("/properties/challenge_id").first()?,
            "stance": ChallengeStance::Disagree,
            "response": format!("It rests on {}.", seat.current_side()?.citation()),
        })),
        ReplyForm::Reframing => written(&json!({"effect": "It changes nothing."})),
        _ => None,
    }
}

fn vote(seat: &dyn SimulatedSeat) -> Option<FinalStatement> {
    let side = seat.current_side()?;
    Some(FinalStatement {
        final_position: seat.stated(side),
        key_argument: side.ground().to_owned(),
        vote: vote_for(side),
        ..FinalStatement::default()
    })
}
