//! Who may sit: the built-in roles with their charters, and those of a person's own file.

use std::sync::OnceLock;

use agon_core::{Artifact, Invalid, Request, brief};
use serde::Deserialize;
use serde_json::Value;

use crate::named;

/// The fewest and the most councillors.
pub(super) const COUNCILLORS: std::ops::RangeInclusive<usize> = 3..=6;
/// Councillors when neither an option nor a file asks for others. Models cycle over the seats, so that their number changes nothing.
const COUNCILLORS_DEFAULT: usize = 4;
/// A role's name becomes the name of a seat.
const NAME_CHARS_MAX: usize = 40;

const DATA: &str = include_str!("roster.toml");

/// A role at the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Role {
    /// As people read it: `Domain Expert`.
    pub(super) name: String,
    /// What it stands for.
    pub(super) charter: String,
    /// Whether it can only sit where a focus is named.
    #[serde(default)]
    pub(super) needs_focus: bool,
}

impl Role {
    /// The id of its seat: `domain-expert`.
    pub(super) fn id(&self) -> String {
        named::key(&self.name)
    }
}

fn built_in() -> &'static [Role] {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    ROLES.get_or_init(|| {
        let data: Value = toml::from_str(DATA).unwrap_or_default();
        let roles = data.get("roles").map(Vec::<Role>::deserialize);
        roles.and_then(Result::ok).unwrap_or_default()
    })
}

/// The roles that sit in this debate, in seat order.
pub(super) fn seated(request: &Request) -> Result<Vec<Role>, Invalid> {
    let own = own(&request.files)?;
    let set =
        request.options.get("councillors").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    if let Some(set) = set.filter(|set| *set < own.len()) {
        return Err(Invalid(format!(
            "the roster names {} roles, but councillors is {set}: take roles out of the file or raise the number",
            own.len()
        )));
    }
    // Enough roles are a whole roster; fewer are added to the usual one.
    let usual = if COUNCILLORS.contains(&own.len()) { own.len() } else { COUNCILLORS_DEFAULT };
    let count = set.unwrap_or(usual);
    let rest = built_in().iter().filter(|role| own.iter().all(|other| other.id() != role.id()));
    let seated: Vec<Role> = own.iter().chain(rest).take(count).cloned().collect();
    let focus = request.options.get("focus").and_then(Value::as_str).unwrap_or_default();
    match seated.iter().find(|role| role.needs_focus && focus.trim().is_empty()) {
        Some(role) => Err(Invalid(format!(
            "the {} needs a field: name it with --focus, or seat fewer than {count} councillors",
            role.name
        ))),
        None => Ok(seated),
    }
}

/// The role behind a seat.
pub(super) fn role(files: &[Artifact], id: &str) -> Option<Role> {
    let own = own(files).unwrap_or_default();
    own.into_iter().find(|role| role.id() == id).or_else(|| find(id).cloned())
}

fn find(id: &str) -> Option<&'static Role> {
    built_in().iter().find(|role| role.id() == id)
}

/// The roles of a person's own file, in its order.
fn own(files: &[Artifact]) -> Result<Vec<Role>, Invalid> {
    let Some(file) = brief::part(files, "roster") else { return Ok(Vec::new()) };
    let wrong = |why: String| Invalid(format!("the roster in {}: {why}", file.path));
    let entries = named::read(&file.text, &["charter", "needs_focus"]).map_err(wrong)?;
    if entries.len() > *COUNCILLORS.end() {
        let (count, most) = (entries.len(), COUNCILLORS.end());
        return Err(wrong(format!("it has {count} roles, but at most {most} councillors sit")));
    }
    entries.iter().map(|(name, value)| of_entry(name, value).map_err(wrong)).collect()
}

/// A name with its charter, or a record of charter and `needs_focus`. What is left out is as it is built in.
fn of_entry(name: &str, value: &Value) -> Result<Role, String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if named::key(&name) == "moderator" {
        return Err("a role cannot be called \"moderator\": that seat is the moderator's own".into());
    }
    if let Some(hidden) = name.chars().find(|c| !c.is_alphanumeric() && !c.is_ascii_graphic() && *c != ' ') {
        return Err(format!(
            "{:?} has the character U+{:04X} in it, which nobody sees or types: write it without",
            name.escape_unicode().to_string(),
            u32::from(hidden)
        ));
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(format!(
            "{name:?} is longer than {NAME_CHARS_MAX} characters: it becomes the name of a seat"
        ));
    }
    let (charter, needs_focus) =
        find(&named::key(&name)).map(|role| (role.charter.as_str(), role.needs_focus)).unwrap_or_default();
    let (charter, needs_focus) = match value {
        Value::String(charter) => (charter.clone(), needs_focus),
        Value::Object(fields) => {
            if let Some(other) = fields.keys().find(|key| !matches!(key.as_str(), "charter" | "needs_focus"))
            {
                return Err(format!(
                    "{name:?} has a field {other:?}; a role has name, charter and needs_focus"
                ));
            }
            let text = match fields.get("charter") {
                None | Some(Value::Null) => charter.to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(_) => return Err(not_text(&name)),
            };
            let needs_focus = match fields.get("needs_focus") {
                None => needs_focus,
                Some(Value::Bool(needs)) => *needs,
                Some(_) => return Err(format!("needs_focus of {name:?} must be true or false")),
            };
            (text, needs_focus)
        }
        Value::Null => (charter.to_owned(), needs_focus),
        _ => return Err(not_text(&name)),
    };
    if charter.trim().is_empty() {
        return Err(format!(
            "the charter of {name:?} is empty: say in a sentence or two what the role stands for"
        ));
    }
    Ok(Role { name, charter: charter.trim().to_owned(), needs_focus })
}

fn not_text(name: &str) -> String {
    format!("the charter of {name:?} must be text: say what the role stands for")
}
