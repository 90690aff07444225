//! The rules that a schema cannot say. Each sentence goes back to the seat with the repair.

use agon_core::Ask;
use serde::Deserialize;
use serde_json::Value;

use super::reply::{
    Correspondence, Examination, Final, Message, Moderation, Opening, Reframed, SecondResponse, Steelman,
};
use super::round::is_new;
use super::schema::asked_for;
use super::words::plain;
use crate::named;

/// "challenging at least 2 specific points".
pub(super) const CHALLENGES_MIN: usize = 2;

/// Whom a seat may address, and how much.
pub(super) struct Rules<'a> {
    /// The ids of those who take part.
    pub(super) active: Vec<&'a str>,
    /// The most messages of one councillor in a round.
    pub(super) exchanges: usize,
    /// The position of who is asked, as it stands.
    pub(super) standing: String,
}

pub(super) fn check(rules: &Rules<'_>, ask: &Ask, value: &Value) -> Result<(), String> {
    let properties = ask.schema.as_ref().and_then(|schema| schema.json.get("properties")?.as_object());
    let value = &asked_for(value, |key| properties.is_none_or(|known| known.contains_key(key)));
    match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
        Some("opening") => opening(&ask.seat, &read(value)?),
        Some("examination") => examination(rules, &ask.seat, &read(value)?),
        Some("correspondence") => {
            let said: Correspondence = read(value)?;
            once("replies", said.replies.iter().map(|reply| reply.message_id.as_str()))?;
            change(rules, said.changed, &said.position, &said.because)
        }
        Some("moderation") => read::<Moderation>(value).map(|_| ()),
        Some("steelman") => not_empty("counter_argument", &read::<Steelman>(value)?.counter_argument),
        Some("second_response") => read::<SecondResponse>(value).map(|_| ()),
        Some("reframed") => {
            let said: Reframed = read(value)?;
            not_empty("effect", &said.effect)?;
            change(rules, said.changed, &said.position, &said.because)
        }
        _ => {
            let said: Final = read(value)?;
            not_empty("final_position", &said.final_position)?;
            not_empty("key_argument", &said.key_argument)
        }
    }
}

fn read<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<T, String> {
    T::deserialize(value).map_err(|why| why.to_string())
}

fn not_empty(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("`{field}` must not be empty")) } else { Ok(()) }
}

/// "position, 3 to 5 arguments, confidence, at least one question to another councillor".
fn opening(seat: &str, said: &Opening) -> Result<(), String> {
    not_empty("position", &said.position)?;
    let arguments = said.arguments.iter().filter(|argument| !argument.trim().is_empty()).count();
    if !(3..=5).contains(&arguments) {
        return Err(format!("`arguments` has {arguments} arguments, but it must have 3 to 5"));
    }
    if said.questions.is_empty() {
        return Err("`questions` is empty: ask another councillor at least one question".into());
    }
    for question in &said.questions {
        not_oneself("questions", seat, &question.to)?;
        not_empty("question", &question.question)?;
    }
    Ok(())
}

fn examination(rules: &Rules<'_>, seat: &str, said: &Examination) -> Result<(), String> {
    if said.challenges.len() < CHALLENGES_MIN {
        let count = said.challenges.len();
        return Err(format!(
            "`challenges` has {count}, but at least {CHALLENGES_MIN} specific points must be challenged"
        ));
    }
    let mut made: Vec<(String, String)> = Vec::new();
    for challenge in &said.challenges {
        addressed(rules, "challenges", seat, &challenge.to)?;
        not_empty("claim", &challenge.claim)?;
        not_empty("reason", &challenge.reason)?;
        not_empty("question", &challenge.question)?;
        let point = (named::key(&challenge.to), plain(&challenge.claim));
        if made.contains(&point) {
            let (to, claim) = (&challenge.to, &challenge.claim);
            return Err(format!(
                "`challenges` has the same point twice, to {to}: \"{claim}\"; challenge distinct points"
            ));
        }
        made.push(point);
    }
    once("responses", said.responses.iter().map(|response| response.challenge_id.as_str()))?;
    messages(rules, seat, &said.messages)?;
    change(rules, said.changed, &said.position, &said.because)
}

fn messages(rules: &Rules<'_>, seat: &str, sent: &[Message]) -> Result<(), String> {
    let most = rules.exchanges;
    if sent.len() > most {
        let count = sent.len();
        return Err(format!("`messages` has {count}, but at most {most} may be sent in a round"));
    }
    for message in sent {
        addressed(rules, "messages", seat, &message.to)?;
        not_empty("text", &message.text)?;
    }
    Ok(())
}

/// "Changed because: {reason}".
fn change(rules: &Rules<'_>, changed: bool, position: &str, because: &str) -> Result<(), String> {
    match changed {
        true if position.trim().is_empty() => {
            Err("`changed` is true, so `position` must say the new one".into())
        }
        true if !is_new(position, &rules.standing) => Err(
            "`changed` is true, but `position` has the words of the standing one: say the new one, or set `changed` to false"
                .into(),
        ),
        true if because.trim().is_empty() => Err("`changed` is true, so `because` must say why".into()),
        _ => Ok(()),
    }
}

fn addressed(rules: &Rules<'_>, list: &str, seat: &str, to: &str) -> Result<(), String> {
    not_oneself(list, seat, to)?;
    if rules.active.contains(&named::key(to).as_str()) {
        return Ok(());
    }
    let others: Vec<&str> = rules.active.iter().copied().filter(|id| *id != seat).collect();
    Err(format!("`{list}` names {to:?}, who is not at the table; the others are: {}", others.join(", ")))
}

fn not_oneself(list: &str, seat: &str, to: &str) -> Result<(), String> {
    match named::key(to) == seat {
        true => Err(format!("`{list}` names yourself: address another councillor")),
        false => Ok(()),
    }
}

fn once<'a>(list: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for id in ids {
        if seen.contains(&id) {
            return Err(format!("`{list}` has {id} twice: answer each id once"));
        }
        seen.push(id);
    }
    Ok(())
}
