//! The verbs, one file each. Those of the protocols come from [`agon_protocols::PROTOCOLS`] by [`debate`]; the rest
//! is this table.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use agon_core::{Brief, Protocol};
use clap::{Arg, ArgMatches, Command};

use super::failure::Failure;

mod audit;
mod batch;
mod branch;
mod completions;
pub mod debate;
mod deliver;
mod doctor;
mod eval;
mod export;
mod init;
mod keys;
mod knowledge;
mod list;
mod man;
mod models;
mod protocols;
mod ratings;
mod replay;
mod resolve;
mod resume;
mod search;
mod show;
mod simulate;
mod verify;

/// One verb: its name, its options and help, and what it does.
pub struct Verb {
    /// As a person types it.
    pub name: &'static str,
    /// Under which heading help lists it.
    pub group: Group,
    /// Adds help and options to a command of that name.
    pub command: fn(Command) -> Command,
    /// Does it, and gives the exit status.
    pub run: fn(&ArgMatches) -> Result<u8, Failure>,
}

/// What a verb is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Reading and going on with debates that are kept.
    Kept,
    /// More than one at a time.
    Many,
    /// Setting up.
    Around,
}

/// The groups in help's order.
pub const GROUPS: &[Group] = &[Group::Kept, Group::Many, Group::Around];

impl Group {
    /// The heading in help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kept => "Debates that are kept",
            Self::Many => "Many debates",
            Self::Around => "Around them",
        }
    }
}

/// Every verb that is not a protocol, in help's order.
pub const VERBS: &[Verb] = &[
    list::VERB,
    show::VERB,
    search::VERB,
    export::VERB,
    resume::VERB,
    replay::VERB,
    branch::VERB,
    verify::VERB,
    resolve::VERB,
    ratings::VERB,
    knowledge::VERB,
    batch::VERB,
    eval::VERB,
    simulate::VERB,
    audit::VERB,
    protocols::VERB,
    models::VERB,
    deliver::VERB,
    keys::VERB,
    doctor::VERB,
    init::VERB,
    completions::VERB,
    man::VERB,
];

/// The protocol that a kept debate was held by.
fn protocol_of(brief: &Brief) -> Result<&'static dyn Protocol, Failure> {
    let name = &brief.protocol;
    agon_protocols::find(name).ok_or_else(|| {
        Failure::input(format!(
            "debate {} is a {name:?}, which this agon does not know: use a newer one",
            brief.id
        ))
    })
}

/// The roles of all protocols, for verbs that do not know yet which one it will be.
fn all_roles() -> &'static [&'static str] {
    static ROLES: OnceLock<Vec<&'static str>> = OnceLock::new();
    ROLES.get_or_init(|| {
        let all = agon_protocols::all().flat_map(|protocol| protocol.roles()).copied();
        all.collect::<BTreeSet<_>>().into_iter().collect()
    })
}

/// Which debate a verb is about.
fn id() -> Arg {
    Arg::new("id").value_name("ID").required(true).help("A debate's id, a unique beginning of it, or `last`")
}
