//! A debate as people read it: while it runs, and when it is over.
//!
//! Everything here is a reading of the JSON outcome ([`agon_core::document`]) and, for the long forms, of the folded
//! log. Nothing here decides anything, and a protocol that this crate has never heard of is still readable: its
//! verdict's keys become headings. A tour, in reading order:
//!
//! - [`text`]: the report in a terminal; [`markdown`], [`html`] and [`yaml`]: the same to keep or to pass on.
//! - `outline`: what a report says, before it is known how it will look. All forms share it, so they cannot disagree.
//! - [`View`]: a part of a kept debate: a round, a seat, who changed, the dissent, where the time went.
//! - [`gate`]: the verdict of a review for a pipeline: annotations, SARIF, JUnit.
//! - [`live`]: the view while a debate runs.
//! - [`clean`]: what makes a model's words safe for a terminal. Every form goes through it.
//! - [`mod@ratings`]: how agents stand, as a table and as a picture.
//! - [`mod@trials`]: what protocols come to on questions with known answers, as a table and as a picture.
//! - [`audit`]: what a table of answers or rulings says about those who gave them, in words and as a heat map.
//! - [`figures`]: how numbers are written; [`mod@table`] and `prose`: how tables and light Markdown are set.

#![warn(missing_docs)]

pub mod audit;
pub mod figures;
pub mod live;
pub mod ratings;
pub mod table;
pub mod trials;

mod clean;
mod gate;
mod html;
mod markdown;
mod outline;
mod prose;
mod style;
mod text;
mod views;
mod yaml;

pub use clean::clean;
pub use gate::{Gate, NoGate, gate};
pub use html::html;
pub use live::{Live, LiveOut};
pub use markdown::markdown;
pub use ratings::{Rated, ratings, ratings_svg};
pub use style::Style;
pub use table::table;
pub use text::{text, text_of_store};
pub use trials::{trials, trials_svg};
pub use views::{Kept, NoView, View};
pub use yaml::{NotYaml, yaml};
