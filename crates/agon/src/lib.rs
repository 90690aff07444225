//! The faces of Agon: the command line, the server, and the tools of coding agents.
//!
//! No rule of debate is here. Verbs, flags, help, completions and the manual page are made from two tables:
//! [`agon_protocols::all`] and [`cli::verbs::VERBS`].
//!
//! A tour, in reading order:
//!
//! - [`cli`]: the command, how it is parsed and run; [`cli::verbs`]: one verb per file.
//! - [`cli::arguments`] and [`cli::limits`]: the options that verbs share.
//! - [`cli::configuration`]: the same options from `agon.toml`; [`cli::found_configuration`]: what an `agon.toml` in the
//!   working directory may not do; [`cli::paths`]: where Agon keeps its files.
//! - [`cli::app`]: configuration, models, store and engine, each opened when it is needed; [`cli::runtime`]: the one
//!   runtime of the process.
//! - [`cli::targets`] and [`cli::input`]: what a debate is about; [`cli::brief_builder`]: from there to the brief;
//!   [`cli::history`]: what the store knows of the seats; [`cli::seat_models`]: the models of the
//!   seats; [`cli::context_files`]: what a person attaches.
//! - [`cli::debate_run`]: runs a debate; [`cli::signals`] and [`cli::terminal_pause`]: Ctrl-C and people at the terminal.
//! - [`cli::debate_reading`]: one reading of a log for every output; [`cli::result_output`], [`cli::records`] and
//!   [`cli::output`]: how it is printed and saved.
//! - [`cli::dry_run`], [`cli::batch_input`], [`cli::eval_run`]: estimates, the lines of a batch, the trials of an eval.
//! - [`cli::deliveries`], [`cli::receipts`], [`cli::verification`]: results that go elsewhere, and proof that a log is
//!   unchanged.
//! - [`cli::model_directory`]: what a debate can ask; [`cli::knowledge_index`] and [`cli::document_sections`]: how
//!   knowledge is found and imported.
//! - [`cli::model_files`] and [`cli::local_programs`]: model files and programs on this machine.
//! - [`cli::start_screen`]: `agon` alone; [`cli::demo_debates`]: the demos; [`cli::book`] and [`cli::pager`]: the chapters of the book.
//! - [`cli::progress`]: what is shown while something takes time; [`cli::key_pause`]: a pause that a key ends.
//! - [`cli::completion`]: what a shell completes; [`cli::file_permissions`] and [`cli::doctor_fixes`]: what `agon doctor --fix` can do.
//! - [`cli::health_check`]: whether a server or a worker is ready.
//! - [`cli::errors`]: what can go wrong.
//! - [`hosting`]: debates that run in the background of a process; [`serve`] and [`mcp`]: the server and the tools of
//!   coding agents on top of it; [`worker`]: debates that run on other machines.

pub mod cli;
pub mod hosting;
pub mod mcp;
#[cfg(test)]
mod reference_tables;
pub mod serve;
pub mod worker;

use std::process::ExitCode;

/// The whole program: runs the command line of this process.
pub fn run_program() -> ExitCode {
    if let Some(shell) = std::env::var_os(cli::completion::VARIABLE) {
        return ExitCode::from(cli::completion::answer(&shell, std::env::args_os()));
    }
    agon_host::survive_file_size_limit();
    let status = match cli::run_command_line(std::env::args_os()) {
        Ok(status) => status,
        Err(error) => error.report(),
    };
    cli::telemetry::finish();
    // Programs that took a seat must not outlive the debate, however it ended.
    agon_host::kill_all_groups();
    ExitCode::from(status)
}
