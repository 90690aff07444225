//! `agon`: structured debate between language models.

use std::process::ExitCode;

// A thousand debates free on one thread what another allocated; the system's allocator spends a third of the CPU on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let status = match agon::cli::parse(std::env::args_os()).and_then(agon::cli::run) {
        Ok(status) => status,
        Err(failure) => failure.report(),
    };
    // No program that took a seat outlives the debate, whatever its end was.
    agon_models::kill_commands();
    ExitCode::from(status)
}
