//! What was said, as text: the entries that seats read.

use serde_json::Value;

use super::log::Log;
use super::moderation::{Intervention, Kind};
use super::reply::Stance;
use super::round::{Round, Standing};

/// The questions of a councillor's opening, with their ids.
pub(super) fn questions(log: &Log<'_>, place: usize) -> Option<String> {
    let asked = log.challenges.iter().filter(|entry| entry.round == 0 && entry.from == place);
    let lines: Vec<String> = asked
        .map(|entry| format!("[{}] to {}: {}", entry.id(), log.name(entry.to), entry.question))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What a councillor said to everybody in a round, with the ids before the texts.
pub(super) fn examination(log: &Log<'_>, round: &Round, place: usize) -> Option<String> {
    let said = round.said.get(place)?.as_ref()?;
    let mut lines = vec!["Challenges:".to_owned()];
    let made = log.challenges.iter().filter(|entry| entry.round == round.number && entry.from == place);
    lines.extend(made.map(|entry| format!("[{}] to {}: {}", entry.id(), log.name(entry.to), entry.text())));
    let mut responses = round.responses(place, &log.challenges).peekable();
    if responses.peek().is_some() {
        lines.push("Responses:".into());
    }
    for response in responses {
        let (id, stance) = (&response.challenge_id, response.stance.as_str());
        lines.push(format!("[{id}] ({stance}) {}", response.response.trim()));
    }
    let position = if said.position.trim().is_empty() { "as before" } else { said.position.trim() };
    let changed = match said.changed {
        true => format!("changed because {}", said.because.trim()),
        false => "unchanged".to_owned(),
    };
    lines.push(format!("Position ({changed}): {position}"));
    if !said.new_arguments.is_empty() {
        lines.push("New arguments:".into());
        lines.extend(said.new_arguments.iter().map(|argument| format!("- {}", argument.trim())));
    }
    lines.push(format!("Confidence: {}", said.confidence.as_str()));
    Some(lines.join("\n"))
}

/// "{Role}: {position summary}, Key arguments: {numbered list}, Confidence: {level}".
pub(super) fn position(standing: &Standing) -> String {
    let mut lines = vec![format!("Position: {}", standing.position), "Key arguments:".into()];
    lines.extend(standing.arguments.iter().zip(1..).map(|(argument, n)| format!("{n}. {}", argument.trim())));
    let confidence = standing.confidence.map_or("", |confidence| confidence.as_str());
    lines.push(format!("Confidence: {confidence}"));
    lines.join("\n")
}

/// A councillor's position before and after a round, as the moderator reads it.
pub(super) fn update(round: &Round, place: usize) -> String {
    let (before, after) = (round.before.get(place), round.after.get(place));
    let (Some(before), Some(after)) = (before, after) else { return String::new() };
    let changed = match (after.carried, after.changed) {
        (_, true) => format!("changed because {}", after.because),
        (true, false) => "absent, so that it is carried forward".to_owned(),
        (false, false) => "no change".to_owned(),
    };
    format!("{}\n\nAfter: {}\nThis is: {changed}", position(before), after.position)
}

/// What came back on an intervention.
pub(super) fn intervention(done: &Intervention, reply: &Value) -> String {
    let text = |key: &str| reply.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    match &done.kind {
        Kind::Evasion { .. } => {
            let stance = reply.get("stance").and_then(Value::as_str).unwrap_or("no stance");
            format!("[{}] ({stance}) {}", text("challenge_id"), text("response"))
        }
        Kind::Groupthink { point } => {
            let mut lines = vec![format!("Against \"{point}\": {}", text("counter_argument"))];
            for (key, name) in [
                ("must_be_true", "What would need to be true"),
                ("would_change_my_mind", "What would change my mind"),
                ("blind_spots", "Blind spots"),
            ] {
                let said = text(key);
                lines.extend((!said.is_empty()).then(|| format!("{name}: {said}")));
            }
            lines.join("\n")
        }
        Kind::Stale => format!("\"{}\" - {}", done.question, text("effect")),
    }
}

/// A stance as people read it.
pub(super) fn stance(stance: Option<Stance>) -> &'static str {
    stance.map_or("no stance", Stance::as_str)
}

/// What a reframing question did to a councillor's analysis.
pub(super) fn effect(reply: &Value) -> &str {
    reply.get("effect").and_then(Value::as_str).unwrap_or_default().trim()
}
