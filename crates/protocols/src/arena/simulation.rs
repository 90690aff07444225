//! How simulated seats play `arena`: agents who criticize the other side and vote for their own proposal, a clerk who knows the two
//! sides apart, and a judge who may prefer what it is shown first.

use agon_core::Invalid;
use agon_core::simulation::{
    FABRICATED_EVIDENCE, SimulatedAsk, SimulatedMove, SimulatedPlay, SimulatedSeat, SimulatedSide,
    SimulatedSpeaker, SimulationSetup,
};

use super::ArenaPhase;
use super::replies::{
    ChangeCause, CriteriaScores, CritiqueAnswer, CritiqueReply, CritiqueStatus, CritiqueVerdict,
    JudgementReply, NewCritique, PairRelation, PairReply, ProposalClaim, ProposalQuote, ProposalReply,
    RevisionReply, ScoreReasons, ScoreReply, SortingReply, VoteReply,
};

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
        let reply = match ArenaPhase::of(ask.phase).ok()? {
            ArenaPhase::Propose => {
                serde_json::to_string(&proposal(seat, seat.first_side()?, seat.first_side()?.citation()))
            }
            ArenaPhase::Critique => serde_json::to_string(&critique(seat)?),
            ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
                serde_json::to_string(&revision(ask, seat)?)
            }
            ArenaPhase::Compare => serde_json::to_string(&sorting(seat)),
            ArenaPhase::Vote => serde_json::to_string(&vote(ask, seat)?),
            ArenaPhase::Judge => serde_json::to_string(&judgement(ask, seat)?),
            ArenaPhase::Context => return None,
        };
        reply.ok()
    }
}

fn proposal(seat: &dyn SimulatedSeat, side: SimulatedSide, evidence: &str) -> ProposalReply {
    ProposalReply {
        proposal: side.text(),
        position: side.sentence().to_owned(),
        claims: vec![ProposalClaim { claim: side.claim().to_owned(), evidence: evidence.to_owned() }],
        confidence: seat.confidence(),
    }
}

/// Everybody is criticized, so that an agent that is convinced always has a critique to answer. The adversary puts its evidence here,
/// because the others see one sentence of its position.
fn critique(seat: &dyn SimulatedSeat) -> Option<CritiqueReply> {
    Some(CritiqueReply {
        analysis: String::new(),
        issues: vec![issue(seat, seat.first_side()?)],
        suggestions: Vec::new(),
        severity: 0.7,
    })
}

fn issue(seat: &dyn SimulatedSeat, own: SimulatedSide) -> String {
    let issue = format!("It leaves out {}.", own.citation());
    if seat.is_adversary() { format!("{issue} {FABRICATED_EVIDENCE}") } else { issue }
}

fn revision(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<RevisionReply> {
    let moved = seat.moved()?;
    let others = seat.others();
    let opposed: Vec<&SimulatedSpeaker> = others.iter().filter(|other| other.side != moved.side).collect();
    let how = format!("I had missed {}.", moved.side.citation());
    let answered = convincing_critique(ask, &moved).map(|critique_id| CritiqueAnswer { critique_id, how });
    let told = others.iter().map(|other| NewCritique {
        label: other.name.clone(),
        issue: issue(seat, moved.side),
        severity: 0.7,
    });
    // The one who convinced it has said the sentence of its new side.
    let cause =
        moved.convinced_by.clone().map(|id| ChangeCause { id, quote: moved.side.sentence().to_owned() });
    Some(RevisionReply {
        changed_because: cause.into_iter().collect(),
        addressed: answered.into_iter().collect(),
        verdicts: verdicts(ask, &others, moved.side),
        critiques: told.collect(),
        conflicts_with: opposed.iter().map(|other| other.name.clone()).collect(),
        now: proposal(seat, moved.side, &evidence(seat.number()?, &moved)),
        analysis: String::new(),
    })
}

/// A change that the others' evidence did not cause cites the agent's own notes.
fn evidence(number: usize, moved: &SimulatedMove) -> String {
    let citation = moved.side.citation();
    match &moved.convinced_by {
        Some(name) => format!("{name} is right about {citation}"),
        None if moved.is_changed => format!("what I wrote down at notes-{number}.txt:1"),
        None => citation.to_owned(),
    }
}

/// A critique is resolved if the criticized agent has come over.
fn verdicts(ask: &SimulatedAsk<'_>, others: &[SimulatedSpeaker], own: SimulatedSide) -> Vec<CritiqueVerdict> {
    let heads = ask.prompt.lines().filter_map(|line| line.strip_prefix('[')?.split_once("] on "));
    heads
        .filter_map(|(id, target)| {
            let target = others.iter().find(|other| other.name == target.trim_end_matches(':'))?;
            let is_ally = target.side == own;
            let status = if is_ally { CritiqueStatus::Resolved } else { CritiqueStatus::Unresolved };
            Some(CritiqueVerdict { critique_id: id.to_owned(), why: target.side.ground().to_owned(), status })
        })
        .collect()
}

/// The id of the critique of the agent's own proposal by the agent that convinced it, else of the first.
fn convincing_critique(ask: &SimulatedAsk<'_>, moved: &SimulatedMove) -> Option<String> {
    let name = moved.convinced_by.as_deref()?;
    let heads = ask.prompt.lines().filter_map(|line| line.strip_prefix('[')?.split_once("] from "));
    let heads: Vec<(&str, &str)> = heads.collect();
    let is_from_them = |(_, by): &&(&str, &str)| by.trim_end_matches(':').split(',').next() == Some(name);
    heads.iter().find(is_from_them).or(heads.first()).map(|(id, _)| (*id).to_owned())
}

/// The clerk quotes the sentence by which each proposal takes its side.
fn sorting(clerk: &dyn SimulatedSeat) -> SortingReply {
    let proposals = clerk.statements();
    let mut pairs = Vec::new();
    for (place, one) in proposals.iter().enumerate() {
        for other in proposals.iter().skip(place + 1) {
            let is_same = one.side == other.side;
            let quote = |proposal: &SimulatedSpeaker| ProposalQuote {
                label: proposal.name.clone(),
                quote: proposal.side.sentence().to_owned(),
            };
            pairs.push(PairReply {
                a: one.name.clone(),
                b: other.name.clone(),
                quotes: vec![quote(one), quote(other)],
                relation: if is_same { PairRelation::Same } else { PairRelation::Conflict },
                similarity: if is_same { 1.0 } else { 0.0 },
            });
        }
    }
    SortingReply { analysis: String::new(), pairs }
}

/// Everybody votes for its own proposal. The protocol counts those that say the same together.
fn vote(ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<VoteReply> {
    let choice =
        ask.label.filter(|label| ask.allowed_words("/properties/choice").iter().any(|word| word == label))?;
    Some(VoteReply {
        analysis: String::new(),
        reason: "It is what speaks for itself.".to_owned(),
        choice: choice.to_owned(),
        confidence: seat.confidence(),
    })
}

/// The judge scores the side that it thinks right higher, and one proposal of that side highest. A biased judge scores the first
/// proposal highest instead.
fn judgement(ask: &SimulatedAsk<'_>, judge: &dyn SimulatedSeat) -> Option<JudgementReply> {
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
    let scores = proposals.iter().map(|proposal| ScoreReply {
        label: proposal.name.clone(),
        reasons: ScoreReasons::List(vec![proposal.side.ground().to_owned()]),
        criteria: CriteriaScores::from_list([score(proposal); 5]),
    });
    Some(JudgementReply {
        analysis: String::new(),
        scores: scores.collect(),
        ranking: ranked.iter().map(|proposal| proposal.name.clone()).collect(),
        margin_comment: None,
    })
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
