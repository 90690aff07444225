//! `agon`: structured debate between language models.

use std::process::ExitCode;

// A batch frees on one thread what another thread allocated. The system's allocator spends a third of the CPU on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(shell) = std::env::var_os(agon::cli::completion::VARIABLE) {
        return ExitCode::from(agon::cli::completion::answer(&shell, std::env::args_os()));
    }
    agon_host::survive_file_size_limit();
    let status = match agon::cli::run_command_line(std::env::args_os()) {
        Ok(status) => status,
        Err(error) => error.report(),
    };
    agon::cli::telemetry::finish();
    // Programs that took a seat must not outlive the debate, however it ended.
    agon_host::kill_all_groups();
    ExitCode::from(status)
}
