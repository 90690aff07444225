//! What touches the machine, for every crate that does.
//!
//! - [`atomic_file`]: files that are written whole or not at all, and files that grow.
//! - [`bounded_body`]: answers of servers, read no further than they may be long.
//! - [`file_size_limit`]: a limit on the size of files is an error, not the end of the process.
//! - [`input_file`]: files that a person names as input.
//! - [`json_values`]: JSON with so many values that it would fill the memory.
//! - [`open_files_limit`]: as many open files as the system allows.
//! - [`process_group`]: programs that end together with everything they started.
//! - [`safe_text`]: other people's text, safe to print on a terminal.
//! - [`error_chain`]: the innermost reason of an error.
//! - [`tls`]: the cryptography of HTTPS.

#![warn(missing_docs)]

pub mod atomic_file;
pub mod bounded_body;
pub mod error_chain;
pub mod file_size_limit;
pub mod input_file;
pub mod json_values;
pub mod open_files_limit;
pub mod process_group;
pub mod safe_text;
pub mod tls;

pub use atomic_file::{FileAccess, open_growing, write_atomic};
pub use bounded_body::{BodyError, BoundedBody};
pub use error_chain::innermost_reason;
pub use file_size_limit::survive_file_size_limit;
pub use input_file::{open_input_file, open_regular_file};
pub use json_values::{JSON_VALUES_MAX, JsonValueCounter, has_few_json_values};
pub use open_files_limit::raise_open_files_limit;
pub use process_group::{ProcessGroup, ProcessPipes, kill_all_groups};
pub use safe_text::{TextCleaner, clean_line, clean_text, visible_text};
pub use tls::install_tls;
