//! The command line from outside: the real binary, a store of its own for each test, and scripts for models.
//!
//! - `manual`: what a person sees, as snapshots that read as a manual.
//! - `wrong_input`: wrong input of every kind.
//! - `streams`: what goes to stdout and what to stderr.
//! - `kept`: debates that are kept: export, verify, replay, branch, save.
//! - `released`: logs and stores of released versions.
//! - `forged`: verify on what somebody changed; `branches`: what a branch takes over; `stores`: stores that are named,
//!   full, or only to be read.
//! - `interruption`: Ctrl-C, kill -9, two processes, and going on afterwards.
//! - `batch`: many debates.
//! - `found_configurations`: an `agon.toml` that came with somebody else's files.
//! - `councils`: a council, its minutes and checks; `panels`: a panel and its records; `reviews`: a review as a gate in a pipeline; `targets`: what it is given.
//! - `arenas`: an arena, what the next one is told of it, and ratings; `known`: knowledge; `deliveries`: where results go.
//! - `demos`: the protocols' demos, and `agon demo`; `start`: `agon` alone; `book`: `agon help`; `shell_completion`: bash, zsh and fish.
//! - `progress`: what is shown on a terminal while something takes time.
//! - `context`: what a person attaches.
//! - `commands`: programs that take a seat; `humans`: a person at a real terminal.
//! - `providers`: keys, models and chains, against a server of each wire format.
//! - `servers`: stores on a PostgreSQL server, and a process that is stopped.
//! - `telemetry`: traces and metrics, as a collector receives them.
//! - `doctor`: what is here and who can be reached; `models`: what can be named, and the files of embedded models.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod arenas;
mod asks;
mod audits;
mod batch;
mod book;
mod branches;
mod commands;
mod context;
mod councils;
mod deliveries;
mod demos;
mod doctor;
mod embedded;
mod evals;
mod evidence;
mod forged;
mod found_configurations;
mod humans;
mod interruption;
mod kept;
mod known;
mod manual;
mod models;
mod otlp_receiver;
mod panels;
mod progress;
mod providers;
mod receipts;
mod released;
mod reviews;
mod servers;
mod shell_completion;
mod simulations;
mod start;
mod stores;
mod streams;
mod support;
mod targets;
mod telemetry;
mod tools;
mod wrong_input;
