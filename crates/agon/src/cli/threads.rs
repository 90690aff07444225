//! How many threads an embedded model computes with.
//!
//! The library that computes it reads that from the environment once, and a program cannot safely change its own
//! environment. So with `[embedded] threads = N` Agon starts itself anew, in the same process, with the variable set. What the
//! person has set in the environment stands.

use std::process::Command;

use super::config::Config;
use super::failure::Failure;

/// Stands for some embedded model.
pub const ANY: &str = "embedded/";
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Starts anew with as many threads as the configuration says, if one of these models is embedded. Comes back when there is nothing to
/// change. Call it before anything is read from standard input.
pub fn settle<'a>(models: impl IntoIterator<Item = &'a str>, config: &Config) -> Result<(), Failure> {
    let Some(threads) = config.providers.embedded.threads else { return Ok(()) };
    let mut links = models.into_iter().flat_map(|name| name.split('|')).map(str::trim);
    if std::env::var_os(VARIABLE).is_some() || !links.any(|link| link.starts_with(ANY)) {
        return Ok(());
    }
    let failed = |why: std::io::Error| Failure::System(format!("[embedded] threads cannot be kept: {why}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(VARIABLE, threads.to_string());
    Err(failed(start(command)))
}

#[cfg(unix)]
fn start(mut command: Command) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

#[cfg(not(unix))]
fn start(mut command: Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(why) => why,
    }
}
