//! What touches the machine, for every crate that does.
//!
//! - [`atomic_file`]: files that are written whole or not at all.
//! - [`bounded_body`]: answers of servers, read no further than they may be long.
//! - [`input_file`]: files that a person names as input.
//! - [`process_group`]: programs that end together with everything they started.
//! - [`safe_text`]: other people's text, safe to print on a terminal.
//! - [`error_chain`]: the innermost reason of an error.
//! - [`tls`]: the cryptography of HTTPS.

#![warn(missing_docs)]

pub mod atomic_file;
pub mod bounded_body;
pub mod error_chain;
pub mod input_file;
pub mod process_group;
pub mod safe_text;
pub mod tls;

pub use atomic_file::{FileAccess, write_atomic};
pub use bounded_body::{BodyError, BoundedBody};
pub use error_chain::innermost_reason;
pub use input_file::open_input_file;
pub use process_group::{ProcessGroup, ProcessPipes, kill_all_groups};
pub use safe_text::{TextCleaner, clean_line, clean_text, visible_text};
pub use tls::install_tls;
