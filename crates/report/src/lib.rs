//! Shows debates to people, while they run and when they are over.
//!
//! This crate renders what the protocol's view, the evidence and the log say. It decides nothing and knows no protocol. A tour, in
//! reading order:
//!
//! - [`ReportSource`]: the input of every report.
//! - `report_assembly`: the whole report as sections, from the protocol's outline and what every debate has (`sections`,
//!   `evidence`, `transcript`; `json_blocks` shows any JSON).
//! - [`terminal_report`], [`markdown_report`], [`page_report`] and [`yaml`]: the renderers. [`PageParts`] and [`live_table`] are parts of
//!   pages, for a server.
//! - [`terminal_document`]: a chapter of the book in a terminal.
//! - [`DebateExcerpt`]: a part of a stored debate, such as a round, a seat, the dissent or the timeline.
//! - [`gate_report`]: a verdict for a pipeline, as annotations, reports of several formats, or a comment.
//! - [`live`]: the view while a debate runs; [`DebateNarrator`] tells it in paragraphs.
//! - [`ratings_table`]: the ratings of agents as a table, and [`ratings_svg`] as a picture; [`reliability_drawing`]: their calibration.
//! - [`audit`]: the audits of votes and judges.
//! - [`mod@table`], `markdown_text` and `svg`: shared by the renderers.

#![warn(missing_docs)]

pub mod audit;
pub mod live;
pub mod ratings;
pub mod reliability;
pub mod table;

mod document;
mod evidence;
mod excerpts;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod gate;
mod json_blocks;
mod markdown;
mod markdown_text;
mod page;
mod report_assembly;
mod report_source;
mod sections;
mod svg;
mod terminal;
mod terminal_style;
mod transcript;
mod unshown_files;
mod yaml;

pub use document::terminal_document;
pub use excerpts::{DebateExcerpt, ExcerptError, StoredDebate};
pub use gate::{GateFormat, NotAGate, gate_report};
pub use live::{DebateNarrator, LiveOutput, LiveView, phase_title};
pub use markdown::markdown_report;
pub use page::{PAGE_STYLES, PageParts, live_table, page_report, share_bar};
pub use ratings::{RatedAgent, ratings_drawing, ratings_svg, ratings_table, svg_label};
pub use reliability::reliability_drawing;
pub use report_source::ReportSource;
pub use table::{plain_columns, table};
pub use terminal::terminal_report;
pub use terminal_style::TerminalStyle;
pub use unshown_files::unshown_file_line;
pub use yaml::{NotYaml, yaml};
