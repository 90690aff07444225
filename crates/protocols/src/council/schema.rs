//! The shapes of the answers: the replies' own schemas, narrowed to this debate's councillors and ids.

use std::sync::OnceLock;

use agon_core::Schema;
use serde_json::{Value, json};

use super::log::Log;
use super::reply;
use crate::prompt::schema_of;

/// A kind of answer, by its name in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Opening,
    Examination,
    Correspondence,
    Moderation,
    Steelman,
    SecondResponse,
    Reframed,
    Final,
}

/// What of the debate narrows a form. Empty lists take out what could not be answered.
#[derive(Debug, Default)]
pub(super) struct Narrow {
    /// The councillors who may be named.
    pub(super) others: Vec<String>,
    /// The challenges that may be named.
    pub(super) challenges: Vec<String>,
    /// The messages that may be answered.
    pub(super) messages: Vec<String>,
    /// How many messages may be written.
    pub(super) exchanges: u32,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Examination => "examination",
            Self::Correspondence => "correspondence",
            Self::Moderation => "moderation",
            Self::Steelman => "steelman",
            Self::SecondResponse => "second_response",
            Self::Reframed => "reframed",
            Self::Final => "final",
        }
    }

    fn base(self) -> Value {
        static BASES: [OnceLock<Value>; 8] = [const { OnceLock::new() }; 8];
        let name = self.name();
        let make = || {
            match self {
                Self::Opening => schema_of::<reply::Opening>(name),
                Self::Examination => schema_of::<reply::Examination>(name),
                Self::Correspondence => schema_of::<reply::Correspondence>(name),
                Self::Moderation => schema_of::<reply::Moderation>(name),
                Self::Steelman => schema_of::<reply::Steelman>(name),
                Self::SecondResponse => schema_of::<reply::SecondResponse>(name),
                Self::Reframed => schema_of::<reply::Reframed>(name),
                Self::Final => schema_of::<reply::Final>(name),
            }
            .json
        };
        BASES.get(self as usize).map_or_else(make, |base| base.get_or_init(make).clone())
    }

    /// The schema for those who may be named here.
    pub(super) fn schema(self, narrow: &Narrow) -> Schema {
        let mut json = self.base();
        match self {
            Self::Opening => only(&mut json, "/properties/questions/items/properties/to", &narrow.others),
            Self::Examination => {
                only(&mut json, "/properties/challenges/items/properties/to", &narrow.others);
                only(&mut json, "/properties/messages/items/properties/to", &narrow.others);
                set(&mut json, "/properties/messages", "maxItems", json!(narrow.exchanges));
                listed(&mut json, "responses", "challenge_id", &narrow.challenges);
                if narrow.exchanges == 0 {
                    remove(&mut json, "messages");
                }
            }
            Self::Correspondence => {
                listed(&mut json, "replies", "message_id", &narrow.messages);
            }
            Self::Moderation => {
                only(
                    &mut json,
                    "/properties/shared_points/items/properties/councillors/items",
                    &narrow.others,
                );
                only(
                    &mut json,
                    "/properties/shared_points/items/properties/quotes/items/properties/councillor",
                    &narrow.others,
                );
                only(&mut json, "/properties/new_arguments/items/properties/councillor", &narrow.others);
                only(&mut json, "/properties/evasions/items/properties/challenge_id", &narrow.challenges);
                if narrow.challenges.is_empty() {
                    remove(&mut json, "evasions");
                }
            }
            Self::SecondResponse => only(&mut json, "/properties/challenge_id", &narrow.challenges),
            Self::Steelman | Self::Reframed | Self::Final => {}
        }
        Schema { name: self.name().to_owned(), json }
    }
}

/// An answer without the fields that were not asked for. One that is null is one that was left out.
pub(super) fn asked_for(value: &Value, is_asked: impl Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !value.is_null() && is_asked(key));
            Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// The ids and names of all who take part but one.
pub(super) fn others(log: &Log<'_>, places: &[usize], own: Option<usize>) -> Vec<String> {
    let others = places.iter().copied().filter(|place| Some(*place) != own);
    let mut named: Vec<String> = Vec::new();
    for place in others {
        for name in [log.name(place), log.id(place)] {
            if !named.iter().any(|other| other == name) {
                named.push(name.to_owned());
            }
        }
    }
    named
}

/// A list of answers by id: at most one for each, none where there is nothing to answer.
fn listed(schema: &mut Value, list: &str, id: &str, ids: &[String]) {
    only(schema, &format!("/properties/{list}/items/properties/{id}"), ids);
    set(schema, &format!("/properties/{list}"), "maxItems", json!(ids.len()));
    if ids.is_empty() {
        remove(schema, list);
    }
}

fn only(schema: &mut Value, pointer: &str, values: &[String]) {
    if !values.is_empty() {
        set(schema, pointer, "enum", json!(values));
    }
}

fn set(schema: &mut Value, pointer: &str, key: &str, value: Value) {
    if let Some(Value::Object(place)) = schema.pointer_mut(pointer) {
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
