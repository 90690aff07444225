//! The roles of the councillors: the built-in roles with their charters, and the roles of a user's own file.

use std::sync::OnceLock;

use agon_core::{BriefFile, Invalid, Request, brief};
use serde::Deserialize;
use serde_json::Value;

use super::CouncilOptions;
use super::log::one_line;
use crate::named_lists::{name_key, read_named_list};

/// The fewest and the most councillors.
const COUNCILLORS: std::ops::RangeInclusive<usize> = 3..=6;
/// How many councillors there are when neither an option nor a file says so.
const COUNCILLORS_DEFAULT: usize = 4;
/// A role's name becomes the id of a seat.
const NAME_CHARS_MAX: usize = 40;

/// A role at the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct CouncilRole {
    /// As people read it: `Domain Expert`.
    pub(super) name: String,
    /// What the role stands for.
    pub(super) charter: String,
    /// Whether it needs a named focus.
    #[serde(default)]
    pub(super) needs_focus: bool,
}

impl CouncilRole {
    /// The id of its seat: `domain-expert`.
    pub(super) fn id(&self) -> String {
        name_key(&self.name)
    }
}

/// What a roster file may say about a role.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RoleEntry {
    charter: Option<String>,
    needs_focus: Option<bool>,
}

fn built_in_roles() -> &'static [CouncilRole] {
    static ROLES: OnceLock<Vec<CouncilRole>> = OnceLock::new();
    ROLES.get_or_init(|| {
        let data: Value = toml::from_str(include_str!("roster.toml")).unwrap_or_default();
        let roles = data.get("roles").map(Vec::<CouncilRole>::deserialize);
        roles.and_then(Result::ok).unwrap_or_default()
    })
}

fn built_in_role(id: &str) -> Option<&'static CouncilRole> {
    built_in_roles().iter().find(|role| role.id() == id)
}

/// The roles of the councillors, in seat order: those of the user's file, then built-in ones.
pub(super) fn seated_roles(request: &Request, options: &CouncilOptions) -> Result<Vec<CouncilRole>, Invalid> {
    let own = roles_of_file(&request.files)?;
    if let Some(count) = options.councillors.filter(|count| *count < own.len()) {
        return Err(Invalid(format!(
            "the roster names {} roles, but councillors is {count}: remove roles from the file or raise the number",
            own.len()
        )));
    }
    // A file with enough roles is a whole roster; the roles of a shorter one join the usual council.
    let usual = if COUNCILLORS.contains(&own.len()) { own.len() } else { COUNCILLORS_DEFAULT };
    let count = options.councillors.unwrap_or(usual);
    let rest = built_in_roles().iter().filter(|role| own.iter().all(|other| other.id() != role.id()));
    let seated: Vec<CouncilRole> = own.iter().chain(rest).take(count).cloned().collect();
    match seated.iter().find(|role| role.needs_focus && options.focus.trim().is_empty()) {
        Some(role) => Err(Invalid(format!(
            "the {} needs a field: name it with --focus, or seat fewer than {count} councillors",
            role.name
        ))),
        None => Ok(seated),
    }
}

/// The role behind a seat.
pub(super) fn role_of_seat(files: &[BriefFile], id: &str) -> CouncilRole {
    let own = roles_of_file(files).unwrap_or_default().into_iter().find(|role| role.id() == id);
    // Only a log that was edited by hand has a seat whose role is in no roster. Its id says who it is.
    let unknown = || CouncilRole { name: id.to_owned(), charter: String::new(), needs_focus: false };
    own.or_else(|| built_in_role(id).cloned()).unwrap_or_else(unknown)
}

/// The roles of the file that the option `roster` names, in its order.
fn roles_of_file(files: &[BriefFile]) -> Result<Vec<CouncilRole>, Invalid> {
    let Some(file) = brief::part(files, "roster") else { return Ok(Vec::new()) };
    let wrong = |why: String| Invalid(format!("the roster in {}: {why}", file.path));
    let entries = read_named_list(&file.text, &["charter", "needs_focus"]).map_err(wrong)?;
    if entries.len() > *COUNCILLORS.end() {
        let (count, most) = (entries.len(), COUNCILLORS.end());
        return Err(wrong(format!("it has {count} roles, but a council has at most {most} councillors")));
    }
    entries.iter().map(|(name, value)| role_of_entry(name, value).map_err(wrong)).collect()
}

/// An entry is a name with a charter, or a record with `charter` and `needs_focus`. What it omits comes from the built-in role of the
/// same name.
fn role_of_entry(name: &str, value: &Value) -> Result<CouncilRole, String> {
    let name = one_line(name);
    check_name(&name)?;
    let entry = match value {
        Value::Null => RoleEntry::default(),
        Value::String(text) => RoleEntry { charter: Some(text.clone()), needs_focus: None },
        fields => RoleEntry::deserialize(fields).map_err(|why| {
            format!("the charter of {name:?} must be text, and its needs_focus true or false: {why}")
        })?,
    };
    let built_in = built_in_role(&name_key(&name));
    let charter = entry.charter.or_else(|| Some(built_in?.charter.clone())).unwrap_or_default();
    let needs_focus = entry.needs_focus.unwrap_or_else(|| built_in.is_some_and(|role| role.needs_focus));
    match charter.trim() {
        "" => Err(format!(
            "the charter of {name:?} is empty: say in a sentence or two what the role stands for"
        )),
        charter => Ok(CouncilRole { charter: charter.to_owned(), name, needs_focus }),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if name_key(name) == "moderator" {
        return Err("a role cannot be called \"moderator\": that seat is the moderator's own".into());
    }
    if let Some(hidden) = name.chars().find(|c| !c.is_alphanumeric() && !c.is_ascii_graphic() && *c != ' ') {
        return Err(format!(
            "{:?} contains the invisible character U+{:04X}: remove it",
            name.escape_unicode().to_string(),
            u32::from(hidden)
        ));
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(format!(
            "{name:?} is longer than {NAME_CHARS_MAX} characters: it becomes the name of a seat"
        ));
    }
    Ok(())
}
