//! The form of each answer: its JSON Schema, limited to the councillors and ids of this debate, and the rules that a schema cannot
//! express.

use std::sync::OnceLock;

use agon_core::{Ask, ReplySchema};
use serde::Deserialize;
use serde_json::Value;

use super::log::{CouncilLog, is_new_position};
use super::replies::{
    CrossExamination, FinalStatement, MessageReplies, ModeratorReply, NewMessage, OpeningStatement,
    ReframingAnswer, SecondResponse, SteelmanCase,
};
use super::text_matching::plain_words;
use crate::named_lists::name_key;
use crate::prompt::schema_of;

/// "challenging at least 2 specific points".
pub(super) const CHALLENGES_MIN: usize = 2;

/// A kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyForm {
    Opening,
    Examination,
    Correspondence,
    Moderation,
    Steelman,
    SecondResponse,
    Reframed,
    Final,
}

/// What an answer may name. A list that is empty removes the field that would name something from it.
#[derive(Debug, Default)]
pub(super) struct SchemaChoices {
    pub(super) councillors: Vec<String>,
    pub(super) challenges: Vec<String>,
    pub(super) messages: Vec<String>,
    /// How many messages may be sent.
    pub(super) messages_max: u32,
}

// The names of the schemas in the log.
super::wire_names!(ReplyForm {
    Opening = "opening",
    Examination = "examination",
    Correspondence = "correspondence",
    Moderation = "moderation",
    Steelman = "steelman",
    SecondResponse = "second_response",
    Reframed = "reframed",
    Final = "final",
});

impl ReplyForm {
    /// The schema before it is limited to a debate.
    fn base_schema(self) -> Value {
        static BASES: [OnceLock<Value>; 8] = [const { OnceLock::new() }; 8];
        let name = self.as_str();
        let make = || {
            match self {
                Self::Opening => schema_of::<OpeningStatement>(name),
                Self::Examination => schema_of::<CrossExamination>(name),
                Self::Correspondence => schema_of::<MessageReplies>(name),
                Self::Moderation => schema_of::<ModeratorReply>(name),
                Self::Steelman => schema_of::<SteelmanCase>(name),
                Self::SecondResponse => schema_of::<SecondResponse>(name),
                Self::Reframed => schema_of::<ReframingAnswer>(name),
                Self::Final => schema_of::<FinalStatement>(name),
            }
            .json
        };
        BASES.get(self as usize).map_or_else(make, |base| base.get_or_init(make).clone())
    }

    /// The schema for what may be named here.
    pub(super) fn schema(self, choices: &SchemaChoices) -> ReplySchema {
        let mut json = self.base_schema();
        let councillors = &choices.councillors;
        match self {
            Self::Opening => limit(&mut json, "questions/items/properties/to", councillors),
            Self::Examination => {
                limit(&mut json, "challenges/items/properties/to", councillors);
                limit(&mut json, "messages/items/properties/to", councillors);
                set(&mut json, "messages", "maxItems", choices.messages_max.into());
                one_answer_each(&mut json, "responses", "challenge_id", &choices.challenges);
                if choices.messages_max == 0 {
                    remove(&mut json, "messages");
                }
            }
            Self::Correspondence => {
                one_answer_each(&mut json, "replies", "message_id", &choices.messages);
            }
            Self::Moderation => {
                let points = "shared_points/items/properties";
                limit(&mut json, &format!("{points}/councillors/items"), councillors);
                limit(&mut json, &format!("{points}/quotes/items/properties/councillor"), councillors);
                limit(&mut json, "new_arguments/items/properties/councillor", councillors);
                limit(&mut json, "evasions/items/properties/challenge_id", &choices.challenges);
                if choices.challenges.is_empty() {
                    remove(&mut json, "evasions");
                }
            }
            Self::SecondResponse => limit(&mut json, "challenge_id", &choices.challenges),
            Self::Steelman | Self::Reframed | Self::Final => {}
        }
        ReplySchema { name: self.as_str().to_owned(), json }
    }
}

/// At most one entry of `list` for each id, and no list where there are no ids.
fn one_answer_each(schema: &mut Value, list: &str, id_field: &str, ids: &[String]) {
    limit(schema, &format!("{list}/items/properties/{id_field}"), ids);
    set(schema, list, "maxItems", ids.len().into());
    if ids.is_empty() {
        remove(schema, list);
    }
}

fn limit(schema: &mut Value, property: &str, values: &[String]) {
    if !values.is_empty() {
        set(schema, property, "enum", values.to_vec().into());
    }
}

fn set(schema: &mut Value, property: &str, key: &str, value: Value) {
    if let Some(Value::Object(place)) = schema.pointer_mut(&format!("/properties/{property}")) {
        place.insert(key.to_owned(), value);
    }
}

fn remove(schema: &mut Value, property: &str) {
    if let Some(Value::Object(properties)) = schema.pointer_mut("/properties") {
        properties.shift_remove(property);
    }
    if let Some(Value::Array(required)) = schema.pointer_mut("/required") {
        required.retain(|name| name != property);
    }
}

/// An answer without the fields that were not asked for. A field that is null counts as absent.
pub(super) fn requested_fields(value: &Value, is_requested: impl Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !value.is_null() && is_requested(key));
            Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// Checks an answer by the rules that its schema cannot express. The sentence goes back to the seat.
pub(super) fn check_reply(log: &CouncilLog<'_>, ask: &Ask, value: &Value) -> Result<(), String> {
    let schema = ask.schema.as_ref();
    let properties = schema.and_then(|schema| schema.json.get("properties")?.as_object());
    let value = &requested_fields(value, |key| properties.is_none_or(|known| known.contains_key(key)));
    let standing = log.standings().get(ask.seat.as_str());
    let rules = ReplyRules {
        log,
        seat: &ask.seat,
        standing_position: standing.map_or("", |standing| standing.position.as_str()),
    };
    let form = ReplyForm::ALL.into_iter().find(|form| schema.is_some_and(|s| s.name == form.as_str()));
    match form.ok_or("this question has no known form of answer")? {
        ReplyForm::Opening => rules.opening(&read(value)?),
        ReplyForm::Examination => rules.examination(&read(value)?),
        ReplyForm::Correspondence => {
            let said: MessageReplies = read(value)?;
            each_id_once("replies", said.replies.iter().map(|reply| reply.message_id.as_str()))?;
            rules.change(said.changed, &said.position, &said.because)
        }
        ReplyForm::Moderation => read::<ModeratorReply>(value).map(|_| ()),
        ReplyForm::Steelman => not_empty("counter_argument", &read::<SteelmanCase>(value)?.counter_argument),
        ReplyForm::SecondResponse => read::<SecondResponse>(value).map(|_| ()),
        ReplyForm::Reframed => {
            let said: ReframingAnswer = read(value)?;
            not_empty("effect", &said.effect)?;
            rules.change(said.changed, &said.position, &said.because)
        }
        ReplyForm::Final => {
            let said: FinalStatement = read(value)?;
            not_empty("final_position", &said.final_position)?;
            not_empty("key_argument", &said.key_argument)
        }
    }
}

/// The rules for one councillor's answers.
struct ReplyRules<'a> {
    log: &'a CouncilLog<'a>,
    seat: &'a str,
    standing_position: &'a str,
}

impl ReplyRules<'_> {
    /// "position, 3 to 5 arguments, confidence, at least one question to another councillor".
    fn opening(&self, said: &OpeningStatement) -> Result<(), String> {
        not_empty("position", &said.position)?;
        let arguments = said.arguments.iter().filter(|argument| !argument.trim().is_empty()).count();
        if !(3..=5).contains(&arguments) {
            return Err(format!("`arguments` has {arguments} arguments, but it must have 3 to 5"));
        }
        if said.questions.is_empty() {
            return Err("`questions` is empty: ask another councillor at least one question".into());
        }
        for question in &said.questions {
            self.not_oneself("questions", &question.to)?;
            not_empty("question", &question.question)?;
        }
        Ok(())
    }

    fn examination(&self, said: &CrossExamination) -> Result<(), String> {
        let count = said.challenges.len();
        if count < CHALLENGES_MIN {
            return Err(format!(
                "`challenges` has {count}, but at least {CHALLENGES_MIN} specific points must be challenged"
            ));
        }
        let mut points: Vec<(String, String)> = Vec::new();
        for challenge in &said.challenges {
            self.takes_part("challenges", &challenge.to)?;
            not_empty("claim", &challenge.claim)?;
            not_empty("reason", &challenge.reason)?;
            not_empty("question", &challenge.question)?;
            let point = (name_key(&challenge.to), plain_words(&challenge.claim));
            if points.contains(&point) {
                let (to, claim) = (&challenge.to, &challenge.claim);
                return Err(format!(
                    "`challenges` has the same point twice, to {to}: \"{claim}\"; challenge distinct points"
                ));
            }
            points.push(point);
        }
        each_id_once("responses", said.responses.iter().map(|response| response.challenge_id.as_str()))?;
        self.messages(&said.messages)?;
        self.change(said.changed, &said.position, &said.because)
    }

    fn messages(&self, sent: &[NewMessage]) -> Result<(), String> {
        let (count, most) = (sent.len(), self.log.options.exchanges);
        if count > most {
            return Err(format!("`messages` has {count}, but at most {most} may be sent in a round"));
        }
        for message in sent {
            self.takes_part("messages", &message.to)?;
            not_empty("text", &message.text)?;
        }
        Ok(())
    }

    /// "Changed because: {reason}".
    fn change(&self, changed: bool, position: &str, because: &str) -> Result<(), String> {
        match changed {
            true if position.trim().is_empty() => {
                Err("`changed` is true, so `position` must state the new position".into())
            }
            true if !is_new_position(position, self.standing_position) => Err(
                "`changed` is true, but `position` repeats your standing position: state the new one, or set `changed` to false"
                    .into(),
            ),
            true if because.trim().is_empty() => Err("`changed` is true, so `because` must say why".into()),
            _ => Ok(()),
        }
    }

    fn takes_part(&self, list: &str, to: &str) -> Result<(), String> {
        self.not_oneself(list, to)?;
        if self.log.active.contains(&name_key(to).as_str()) {
            return Ok(());
        }
        let others: Vec<&str> = self.log.active.iter().copied().filter(|id| *id != self.seat).collect();
        Err(format!("`{list}` names {to:?}, who is not at the table; the others are: {}", others.join(", ")))
    }

    fn not_oneself(&self, list: &str, to: &str) -> Result<(), String> {
        match name_key(to) == self.seat {
            true => Err(format!("`{list}` names yourself: address another councillor")),
            false => Ok(()),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<T, String> {
    T::deserialize(value).map_err(|why| why.to_string())
}

fn not_empty(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("`{field}` must not be empty")) } else { Ok(()) }
}

fn each_id_once<'a>(list: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for id in ids {
        if seen.contains(&id) {
            return Err(format!("`{list}` has {id} twice: answer each id once"));
        }
        seen.push(id);
    }
    Ok(())
}
