//! The verbs, one per file. Those of the protocols come from [`agon_protocols::all`] through [`debate`]; the others are in
//! [`VERBS`].

use clap::{ArgMatches, Command};

use super::errors::CliError;

mod audit;
mod batch;
mod branch;
mod completions;
pub mod debate;
mod deliver;
mod demo;
mod doctor;
mod eval;
pub(crate) mod export;
pub mod help;
mod init;
pub use branch::branch_of;
pub(crate) use init::configuration_template;
#[cfg(test)]
pub(crate) use init::every_setting;
mod keys;
mod knowledge;
mod list;
mod man;
mod mcp;
mod memory;
pub(crate) mod models;
pub(crate) mod protocols;
pub(crate) mod ratings;
mod replay;
pub(crate) mod resolve;
mod resume;
mod search;
mod serve;
mod show;
mod simulate;
mod store;
pub(crate) mod verify;
mod worker;

/// One verb: its name, its options and help, and what it does.
pub struct CliVerb {
    /// Its name on the command line.
    pub name: &'static str,
    /// The heading under which help lists it.
    pub group: VerbGroup,
    /// Adds help and options to a command of that name.
    pub command: fn(Command) -> Command,
    /// Runs it and returns the exit status.
    pub run: fn(&ArgMatches) -> Result<u8, CliError>,
}

/// What a verb is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbGroup {
    /// Shows what Agon does and how it is used.
    Learning,
    /// Reads or continues stored debates.
    StoredDebates,
    /// Serves debates to browsers and other programs.
    Servers,
    /// Runs or measures many debates.
    ManyDebates,
    /// Sets Agon up and shows what is there.
    Setup,
}

/// The groups in the order of the help.
pub const VERB_GROUPS: &[VerbGroup] = &[
    VerbGroup::Learning,
    VerbGroup::StoredDebates,
    VerbGroup::Servers,
    VerbGroup::ManyDebates,
    VerbGroup::Setup,
];

impl VerbGroup {
    /// The heading in the help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Learning => "To learn",
            Self::StoredDebates => "Stored debates",
            Self::Servers => "For browsers and programs",
            Self::ManyDebates => "Many debates",
            Self::Setup => "Setup",
        }
    }
}

/// Every verb that is not a protocol, in the order of the help.
pub const VERBS: &[CliVerb] = &[
    demo::VERB,
    help::VERB,
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
    memory::VERB,
    serve::VERB,
    mcp::VERB,
    worker::VERB,
    batch::VERB,
    eval::VERB,
    simulate::VERB,
    audit::VERB,
    protocols::VERB,
    models::VERB,
    deliver::VERB,
    store::VERB,
    keys::VERB,
    doctor::VERB,
    init::VERB,
    completions::VERB,
    man::VERB,
];
