//! The debate protocols. Each has its own folder.
//!
//! A protocol uses only the public API of `agon-core`, so a protocol in another crate can do the same things. The rest of Agon
//! finds protocols only through the tables [`PROTOCOLS`] and [`COMPANIONS`]. The verbs and flags of the command line, the
//! listings and the laws that every protocol is tested for follow from these tables.
//!
//! The five protocols:
//!
//! - [`arena`]: agents propose, criticize, revise and vote; a judge scores. Ratings and memory carry over to later debates.
//! - [`council`]: councillors with roles cross-examine each other, a moderator intervenes, and they vote.
//! - [`deep`]: anonymous debaters argue, a moderator measures convergence, and a chair writes the answer.
//! - [`panel`]: judges with stances score files on a rubric. They reach a consensus, or a majority with dissent.
//! - [`review`]: judges rule PASS, WARN or FAIL, read each other, and revise.
//!
//! The two companions:
//!
//! - [`poll`]: every seat answers once, alone, and the most common answer wins. Debates are compared with it.
//! - [`ask`]: two models answer. If they differ there is a `deep` debate, and a `panel` rules on what it leaves open.
//!
//! What the protocols share:
//!
//! - [`prompt`]: turns templates into prompts, and reply types into schemas.
//! - [`limits`]: says whether a limit ends a debate. [`participation`]: says how the seats took part.
//! - [`attached_context`]: what a person attaches with `--context`.
//! - [`tools`]: what seats ask to have looked up, and what was found.
//! - [`named_lists`]: reads files that list names, each with a value.
//! - [`report_sections`]: sections that several reports have.
//! - [`quotes`]: verifies quotes. [`sorting`]: verifies who holds the same position. [`packet_lines`]: verifies places in files.
//! - [`clerk`]: the seat that sorts answers. [`short_answers`]: compares options and numbers.

use agon_core::Protocol;

pub mod arena;
pub mod ask;
pub mod attached_context;
pub mod clerk;
pub mod council;
pub mod deep;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod limits;
pub mod named_lists;
pub mod packet_lines;
pub mod panel;
pub mod participation;
pub mod poll;
pub mod prompt;
pub mod quotes;
pub mod report_sections;
pub mod review;
pub mod short_answers;
pub mod sorting;
#[cfg(test)]
mod testing;
pub mod tools;

use tools::WithTools;

/// Every protocol, in the order in which help lists them. `WithTools` lets its seats have things looked up.
pub const PROTOCOLS: &[&'static dyn Protocol] = &[
    &WithTools(deep::Deep),
    &WithTools(panel::Panel),
    &WithTools(council::Council),
    &WithTools(arena::Arena),
    &WithTools(review::Review),
];

/// The protocols that are built around the five. They keep the same laws.
pub const COMPANIONS: &[&'static dyn Protocol] = &[&WithTools(poll::Poll), &WithTools(ask::Ask)];

/// The vote that debates are compared with: every seat answers alone, and the most common answer wins.
pub const PLAIN_VOTE: &'static dyn Protocol = &WithTools(poll::Poll);

/// The protocols of both tables.
pub fn all() -> impl Iterator<Item = &'static dyn Protocol> {
    PROTOCOLS.iter().chain(COMPANIONS).copied()
}

/// The protocol with this name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    all().find(|protocol| protocol.info().name == name)
}
