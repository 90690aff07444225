//! `agon`: structured debate between language models.

// As in the program of the crate `agon`: a batch frees on one thread what another thread allocated.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    agon::run_program()
}
