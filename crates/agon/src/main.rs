//! `agon`: structured debate between language models.

use std::process::ExitCode;

// A thousand debates free on one thread what another allocated; the system's allocator spends a third of the CPU on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match agon::cli::parse(std::env::args_os()).and_then(agon::cli::run) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => ExitCode::from(failure.report()),
    }
}
