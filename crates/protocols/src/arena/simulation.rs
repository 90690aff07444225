//! How simulated seats play `arena`: agents who criticize the other side and vote for their own proposal, and a judge who may prefer
//! what it is shown first.

use agon_core::Invalid;
use agon_core::simulation::{
    FABRICATED_EVIDENCE, SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide,
    SimulatedSpeaker, SimulationSetup,
};
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct ArenaSimulation;

impl SimulatedPlay for ArenaSimulation {
    fn seat_counts(&self) -> &'static [usize] {
        &[2, 3, 4, 5, 6, 7]
    }

    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid> {
        setup.fixed_rounds("nine")?;
        let options =
            [("judge_orders", "2"), ("no_knowledge", "true"), ("no_memory", "true"), ("no_pulse", "true")];
        Ok(options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String> {
        let reply = match ask.phase.name.as_str() {
            "propose" => seat.first_side().map(|side| proposal(seat, side, side.citation()))?,
            "critique" => critique(seat)?,
            "revise" | "refine" => revision(ask, seat)?,
            "vote" => vote(ask, seat)?,
            "judge" => judgement(ask, seat)?,
            _ => return None,
        };
        Some(reply.to_string())
    }
}

fn proposal(seat: &dyn SimulatedSeat, side: SimulatedSide, evidence: &str) -> Value {
    json!({
        "proposal": side.text(),
        "position": side.sentence(),
        "claims": [{"claim": side.claim(), "evidence": evidence}],
        "confidence": seat.confidence(),
    })
}

/// An agent criticizes the other side only. The adversary puts its evidence here, because the others see one sentence of its position.
fn critique(seat: &dyn SimulatedSeat) -> Option<Value> {
    let own = seat.first_side()?;
    if seat.statements().first().is_some_and(|target| target.side == own) {
        return Some(json!({"severity": 0.0, "issues": [], "suggestions": []}));
    }
    let mut issue = format!("It leaves out {}.", own.citation());
    if seat.is_adversary() {
        issue = format!("{issue} {FABRICATED_EVIDENCE}");
    }
    Some(json!({"severity": 0.7, "issues": [issue], "suggestions": []}))
}

fn revision(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Value> {
    let moved = seat.moved()?;
    let others = seat.others().into_iter();
    let conflicts: Vec<String> =
        others.filter(|other| other.side != moved.side).map(|other| other.name).collect();
    let answered: Vec<Value> = convincing_critique(ask, &moved)
        .into_iter()
        .map(|id| json!({"critique_id": id, "how": format!("I had missed {}.", moved.side.citation())}))
        .collect();
    let mut reply = proposal(seat, moved.side, &evidence(seat.number()?, &moved));
    let more = json!({"addressed": answered, "conflicts_with": conflicts});
    if let (Value::Object(reply), Value::Object(more)) = (&mut reply, more) {
        reply.extend(more);
    }
    Some(reply)
}

/// A revision must give evidence. A change that the others' evidence did not cause cites the agent's own notes.
fn evidence(number: usize, moved: &SimulatedMove) -> String {
    let citation = moved.side.citation();
    match &moved.convinced_by {
        Some(name) => format!("{name} is right about {citation}"),
        None if moved.is_changed => format!("what I wrote down at notes-{number}.txt:1"),
        None => citation.to_owned(),
    }
}

/// The id of the critique of the agent's own proposal by whoever changed its mind.
fn convincing_critique(ask: &SimulatedAsk<'_>, moved: &SimulatedMove) -> Option<String> {
    let name = moved.convinced_by.as_deref()?;
    let critiques = ask.prompt.split_once("### Critiques of Your Proposal")?.1;
    let mut heads = critiques.lines().filter_map(|line| line.strip_prefix('[')?.split_once("] from "));
    let is_from_them = |(_, by): &(&str, &str)| by.trim_end_matches(':').split(',').next() == Some(name);
    heads.find(is_from_them).map(|(id, _)| id.to_owned())
}

/// Everybody votes for its own proposal. The protocol counts those that say the same together.
fn vote(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<Value> {
    let choice =
        ask.label.filter(|label| ask.allowed_words("/properties/choice").iter().any(|word| word == label))?;
    Some(
        json!({"choice": choice, "confidence": seat.confidence(), "reason": "It is what speaks for itself."}),
    )
}

/// The judge scores the side that it thinks right higher, and one proposal of that side highest. A biased judge scores the first
/// proposal highest instead.
fn judgement(ask: &SimulatedAsk<'_>, judge: &dyn SimulatedSeat) -> Option<Value> {
    let round = ask.phase.round;
    let order = ask.about.unwrap_or_default();
    let proposals = judge.statements();
    let right = judge.impartial_side(&format!("judge {round}"));
    let top = match judge.prefers_first(&format!("bias {round} {order}")) {
        true => proposals.first()?.name.clone(),
        false => best(&proposals, right, round, judge)?,
    };
    let score = |proposal: &SimulatedSpeaker| match (proposal.name == top, proposal.side == right) {
        (true, _) => 8.5,
        (false, true) => 8.0,
        (false, false) => 4.0,
    };
    let mut ranked: Vec<&SimulatedSpeaker> = proposals.iter().collect();
    ranked.sort_by(|a, b| f64::total_cmp(&score(b), &score(a)).then(a.name.cmp(&b.name)));
    let ranking: Vec<&String> = ranked.iter().map(|proposal| &proposal.name).collect();
    let scores: Vec<Value> = proposals
        .iter()
        .map(|proposal| {
            json!({"label": proposal.name, "score": score(proposal), "reasons": [proposal.side.ground()]})
        })
        .collect();
    Some(json!({"scores": scores, "ranking": ranking, "margin_comment": ""}))
}

/// The best proposal, whatever order they are shown in. It is drawn among those of the right side, because the first label would
/// otherwise win more often than the others. If no proposal is of the right side, it is drawn among all.
fn best(
    proposals: &[SimulatedSpeaker],
    right: SimulatedSide,
    round: u32,
    judge: &dyn SimulatedSeat,
) -> Option<String> {
    let mut candidates: Vec<&SimulatedSpeaker> = proposals.iter().filter(|one| one.side == right).collect();
    if candidates.is_empty() {
        candidates = proposals.iter().collect();
    }
    candidates.sort_by(|a, b| a.name.cmp(&b.name));
    let drawn = judge.draw(&format!("best {round}")).below(candidates.len());
    candidates.get(drawn).map(|proposal| proposal.name.clone())
}
