//! The rules of each kind of debate, one folder each.
//!
//! A protocol sees nothing but the public API of `agon-core`, so that one from outside has the same powers. The faces
//! of Agon know protocols only by the table [`PROTOCOLS`]: the command line's verbs and flags, the listing and the
//! laws that every protocol is tested for derive from it.
//!
//! - [`arena`]: agents propose, critique, revise and vote, a judge scores, and ratings and memory remain.
//! - [`council`]: councillors with roles cross-examine each other, a moderator intervenes, a vote.
//! - [`deep`]: anonymous debaters, a moderator who measures convergence, a synthesis.
//! - [`panel`]: judges with stances score files on a rubric, and reach consensus or a majority with dissent.
//! - [`review`]: judges rule PASS, WARN or FAIL, and revise after reading each other.
//!
//! Beside the five, in [`BESIDE`], stand what is built around them and is measured against them:
//!
//! - [`poll`]: everybody answers alone, once, and the answer that most give is the answer.
//! - [`ask`]: the ladder: two answer, and only where they differ a `deep`, then a `panel`.
//!
//! What they share:
//!
//! - [`answer`]: when two short answers are the same.
//! - [`prompt`]: how templates become prompts.
//! - [`limits`]: whether a limit ends a debate; [`participation`]: how the seats took part.
//! - [`named_lists`]: files that list names with a value each.
//! - [`lexical`]: a measure of how much two texts have in common; [`grouping`]: which texts are one position.
//! - [`cited`]: what a text names of others' points and of evidence.

use agon_core::Protocol;

pub mod answer;
pub mod arena;
pub mod ask;
pub mod cited;
pub mod council;
pub mod deep;
pub mod grouping;
pub mod lexical;
pub mod limits;
pub mod named_lists;
pub mod panel;
pub mod participation;
pub mod poll;
pub mod prompt;
pub mod review;
#[cfg(test)]
mod testing;

/// Every protocol, in the order in which help lists them.
pub const PROTOCOLS: &[&'static dyn Protocol] =
    &[&deep::Deep, &panel::Panel, &council::Council, &arena::Arena, &review::Review];

/// What is built around the five: they keep the same laws.
pub const BESIDE: &[&'static dyn Protocol] = &[&poll::Poll, &ask::Ask];

/// Every seat answers alone, and the answer that most of them give is the answer: what debates are compared with.
pub const PLAIN_VOTE: &'static dyn Protocol = &poll::Poll;

/// Every protocol of both tables.
pub fn all() -> impl Iterator<Item = &'static dyn Protocol> {
    PROTOCOLS.iter().chain(BESIDE).copied()
}

/// The protocol of this name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    all().find(|protocol| protocol.info().name == name)
}
