//! The seats of `arena`: agents who propose, criticize the other side and vote for their own, and a judge who may prefer what it is
//! shown first.

use agon_engine::Call;
use serde_json::{Value, json};

use super::Player;
use crate::reading::{Other, Shown, allowed};
use crate::words::{FABRICATED, Side};
use crate::world::Moved;

pub(super) fn answer(player: &Player, call: &Call) -> Option<Value> {
    match call.phase.name.as_str() {
        "propose" => player.first().map(|side| proposal(player, side, side.citation())),
        "critique" => critique(player, call),
        "revise" | "refine" => revision(player, call),
        "vote" => vote(player, call),
        "judge" => Some(judgement(player, call)),
        _ => None,
    }
}

fn proposal(player: &Player, side: Side, evidence: &str) -> Value {
    json!({
        "proposal": side.text(),
        "position": side.sentence(),
        "claims": [{"claim": side.claim(), "evidence": evidence}],
        "confidence": player.confidence(),
    })
}

/// The other side is told what speaks against it; one's own side is let alone. The adversary's critiques are where its evidence is
/// read, for of a position others see one sentence.
fn critique(player: &Player, call: &Call) -> Option<Value> {
    let own = player.first()?;
    let target = Shown::read(call).in_order().first().map(|other| other.side);
    if target == Some(own) {
        return Some(json!({"severity": 0.0, "issues": [], "suggestions": []}));
    }
    let mut issue = format!("It leaves out {}.", own.citation());
    if player.is_adversary() {
        issue = format!("{issue} {FABRICATED}");
    }
    Some(json!({"severity": 0.7, "issues": [issue], "suggestions": []}))
}

fn revision(player: &Player, call: &Call) -> Option<Value> {
    let place = player.place?;
    let moved = player.world.moved(place, call);
    let others = Shown::read(call).others();
    let conflicts: Vec<String> =
        others.into_iter().filter(|other| other.side != moved.side).map(|other| other.who).collect();
    let addressed: Vec<Value> = taken(call, &moved)
        .into_iter()
        .map(|id| json!({"critique_id": id, "how": format!("I had missed {}.", moved.side.citation())}))
        .collect();
    let mut answer = proposal(player, moved.side, &evidence(place, &moved));
    if let (Value::Object(answer), Value::Object(more)) =
        (&mut answer, json!({"addressed": addressed, "conflicts_with": conflicts}))
    {
        answer.extend(more);
    }
    Some(answer)
}

/// What a proposal rests on: who was convinced says by whom and of what, and who changed for no reason that others gave has one of its
/// own, as everybody has who must give one.
fn evidence(place: usize, moved: &Moved) -> String {
    let citation = moved.side.citation();
    match moved.convinced_by() {
        Some(who) => format!("{who} is right about {citation}"),
        None if moved.is_changed() => format!("what I wrote down at notes-{}.txt:1", place + 1),
        None => citation.to_owned(),
    }
}

/// The critique of one's own proposal by whoever changed one's mind.
fn taken(call: &Call, moved: &Moved) -> Option<String> {
    let who = moved.convinced_by()?;
    let prompt = call.messages.last()?.text.as_str();
    let own = prompt.split_once("### Critiques of Your Proposal")?.1;
    let mut heads = own.lines().filter_map(|line| line.strip_prefix('[')?.split_once("] from "));
    let from = |(_, by): &(&str, &str)| by.trim_end_matches(':').split(',').next() == Some(who);
    heads.find(from).map(|(id, _)| id.to_owned())
}

/// Everybody votes for its own proposal; those that say the same are counted together.
fn vote(player: &Player, call: &Call) -> Option<Value> {
    let choice = call.label.clone().filter(|label| allowed(call, "/properties/choice").contains(label))?;
    Some(
        json!({"choice": choice, "confidence": player.confidence(), "reason": "It is what speaks for itself."}),
    )
}

/// What the judge thinks right is better than the rest, and one of them is its best, in whatever order they stand. With the planted
/// bias it takes the first instead.
fn judgement(player: &Player, call: &Call) -> Value {
    let world = &player.world;
    let shown: Vec<Other> = Shown::read(call).in_order();
    let round = call.phase.round;
    let favoured = world.onlooker(&format!("judge {round}"));
    let order = call.about.as_deref().unwrap_or_default();
    let biased = world.draw(&format!("bias {round} {order}")).unit() < world.population.position_bias;
    let mut by_name: Vec<&Other> = shown.iter().collect();
    by_name.sort_by(|a, b| (a.side != favoured, &a.who).cmp(&(b.side != favoured, &b.who)));
    // By name alone the first label would be judged best more often than the others; which one is, is drawn once for both orders.
    let alike =
        by_name.iter().take_while(|other| other.side == by_name.first().map_or(favoured, |o| o.side)).count();
    let best = by_name.get(world.draw(&format!("best {round}")).below(alike)).map(|other| other.who.clone());
    let top = if biased { shown.first().map(|first| first.who.clone()) } else { best };
    let score = |other: &Other| -> f64 {
        match (Some(&other.who) == top.as_ref(), other.side == favoured) {
            (true, _) => 8.5,
            (false, true) => 8.0,
            (false, false) => 4.0,
        }
    };
    let mut ranked: Vec<&Other> = shown.iter().collect();
    ranked.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.who.cmp(&b.who)));
    let scores: Vec<Value> = shown
        .iter()
        .map(|other| json!({"label": other.who, "score": score(other), "reasons": [other.side.ground()]}))
        .collect();
    let ranking: Vec<&String> = ranked.iter().map(|other| &other.who).collect();
    json!({"scores": scores, "ranking": ranking, "margin_comment": ""})
}
