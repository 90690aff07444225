//! A debate as people read it: while it runs, and when it is over.
//!
//! Everything here renders what the protocol's view, the evidence and the log say. Nothing here decides anything or knows a
//! protocol. A tour, in reading order:
//!
//! - [`ReportSource`]: what a report is made of.
//! - `assemble`: the whole report as sections, from the protocol's outline and what every debate has (`sections`, `evidence`,
//!   `transcript`; `json_blocks` shows any JSON).
//! - [`terminal_report`], [`markdown_report`], [`page_report`] and [`yaml`]: the renderers.
//! - [`DebateExcerpt`]: a part of a stored debate: a round, a seat, who changed, the dissent, where the time went.
//! - [`gate_report`]: a verdict for a pipeline: annotations, SARIF, JUnit.
//! - [`live`]: the view while a debate runs.
//! - [`ratings_table`]: how agents are rated, as a table and as a picture.
//! - [`audit`]: what a table of answers or rulings says about those who gave them.
//! - [`mod@table`] and `markdown_text`: how tables and light Markdown are set; `bars`: how bars are measured;
//!   `svg`: what the drawings share.

#![warn(missing_docs)]

pub mod audit;
pub mod live;
pub mod ratings;
pub mod table;

mod assemble;
mod bars;
mod evidence;
mod excerpts;
mod gate;
mod json_blocks;
mod markdown;
mod markdown_text;
mod page;
mod sections;
mod source;
mod style;
mod svg;
mod terminal;
mod transcript;
mod yaml;

pub use excerpts::{DebateExcerpt, ExcerptError, StoredDebate};
pub use gate::{GateFormat, NotAGate, gate_report};
pub use live::{LiveOutput, LiveView};
pub use markdown::markdown_report;
pub use page::page_report;
pub use ratings::{RatedAgent, ratings_svg, ratings_table, svg_label};
pub use source::ReportSource;
pub use style::Style;
pub use table::table;
pub use terminal::terminal_report;
pub use yaml::{NotYaml, yaml};
