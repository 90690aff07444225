//! `agon`: structured debate between language models.

use std::process::ExitCode;

// A batch frees on one thread what another thread allocated. The system's allocator spends a third of the CPU on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agon::run_program()
}
