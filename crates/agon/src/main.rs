//! `agon`: structured debate between language models.

use std::process::ExitCode;

fn main() -> ExitCode {
    match agon::cli::parse(std::env::args_os()).and_then(agon::cli::run) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => ExitCode::from(failure.report()),
    }
}
