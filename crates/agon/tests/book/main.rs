//! The documentation is run. Every chapter of `docs/` and the README is a test: its commands are run by `bash`, and what they
//! print is compared with what the chapter shows.
//!
//! - A fenced block tagged `console` is run. A line that begins with `$ ` is a command, and lines that begin with `> ` right
//!   after it continue it. The lines up to the next command are what it prints, on both streams. A line `...` stands for any
//!   number of lines.
//! - All blocks of a chapter run in order in one shell, in a fresh folder `~/work` that has `examples/` and `data/` in it, with
//!   a fresh `AGON_HOME` and the built `agon`. A command that ends with `&` goes on in the background. A command must succeed, unless
//!   the next one is `echo $?`.
//! - A block tagged `console,terminal` is run in a terminal of 80 columns. A shown line that begins with `> ` is typed when the
//!   screen ends with `> `.
//! - `<!-- file: NAME -->` right before a block of any kind writes the block into the file.
//! - `openai/`, `anthropic/`, `gemini/` and `ollama/` reach a server on this machine that plays every seat. A dry run makes no
//!   call and knows the real addresses, and so the prices.
//! - Ids, hashes, dates, durations and ports may differ, and so may the number of spaces. Port 7717 is replaced by a free one.
//! - A block tagged `console,install` is run by `packaging/build`. In every other block, and in code between backticks, the
//!   commands of `agon` must exist with their options.
//!
//! `AGON_UPDATE_BOOK=1 cargo test -p agon --test book NAME` writes what the commands print into the chapter. It keeps each
//! `...` if the lines beside it are still there; otherwise it writes everything, and you cut it again.
//!
//! A tour, in reading order:
//!
//! - `chapter`: blocks, commands and what they should print.
//! - `session`: runs the commands of a chapter.
//! - `comparison`: compares what they print, and updates the chapter.
//! - `mentioned_commands`: the commands in blocks that are not run.
//! - `links`: links, images and the list of chapters.
//! - `clients`: the programs in Python and JavaScript.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod chapter;
mod clients;
mod comparison;
mod links;
mod mentioned_commands;
mod session;

use std::path::PathBuf;

use chapter::Chapter;

/// The root of the repository.
fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap()
}

/// The programs that chapters use, besides those of every system.
const PROGRAMS: [&str; 5] = ["bash", "curl", "git", "jq", "script"];

/// Whether all programs are installed. `AGON_BOOK=required` fails if one is missing.
fn has_programs() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_missing = |name: &&str| !std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(is_missing).collect();
    assert!(
        missing.is_empty() || std::env::var_os("AGON_BOOK").is_none(),
        "the book needs {}: install them",
        missing.join(", ")
    );
    missing.is_empty()
}

/// Runs a chapter, or updates it.
fn check(path: &str) {
    if !has_programs() {
        eprintln!("skipped: a program that the book uses is not installed");
        return;
    }
    let mut chapter = Chapter::read(&repository().join(path));
    let results = session::run(&chapter);
    if std::env::var_os("AGON_UPDATE_BOOK").is_some() {
        comparison::update(&mut chapter, &results);
    }
    let failures = comparison::failures(&chapter, &results);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

macro_rules! chapters {
    ($($name:ident $path:literal)*) => {
        /// Every file that is run.
        const CHAPTERS: &[&str] = &[$($path),*];
        $(#[test] fn $name() { check($path) })*
    };
}

chapters! {
    readme "README.md"
    introduction "docs/introduction.md"
    tutorial "docs/tutorial.md"
    protocols "docs/protocols.md"
    deep "docs/deep.md"
    panel "docs/panel.md"
    council "docs/council.md"
    arena "docs/arena.md"
    review "docs/review.md"
    ask "docs/ask.md"
    evidence "docs/evidence.md"
    commands "docs/commands.md"
    models "docs/models.md"
    ollama "docs/ollama.md"
    configuration "docs/configuration.md"
    tools "docs/tools.md"
    pipelines "docs/pipelines.md"
    http_api "docs/http-api.md"
    mcp "docs/mcp.md"
    recipes "docs/recipes.md"
    security "docs/security.md"
    scale "docs/scale.md"
    telemetry "docs/telemetry.md"
    upgrading "docs/upgrading.md"
}
