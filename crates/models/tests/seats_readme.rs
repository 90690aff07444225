//! The README's example is a real one, and its figures are the program's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;

use agon_models::config::{HUMAN_TIMEOUT, OUTPUT_BYTES_MAX};
use agon_models::{CommandConfig, HumanConfig, check_found};
use serde::Deserialize;

const README: &str = include_str!("../README.md");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    commands: BTreeMap<String, CommandConfig>,
    humans: BTreeMap<String, HumanConfig>,
}

#[test]
fn the_example_can_be_read() {
    let (_, rest) = README.split_once("```toml\n").unwrap();
    let file: File = toml::from_str(rest.split_once("```").unwrap().0).unwrap();
    assert_eq!((file.commands.len(), file.humans.len()), (2, 1));
    file.commands.iter().for_each(|(name, command)| command.check(name).unwrap());
    file.humans.iter().for_each(|(name, human)| human.check(name).unwrap());
    assert!(check_found(&file.commands).is_err());
}

#[test]
fn the_defaults_are_the_ones_that_are_told() {
    assert!(README.contains(&format!("| {OUTPUT_BYTES_MAX} (1 MiB) |")));
    assert!(README.contains(&format!("| {} (15 minutes) |", HUMAN_TIMEOUT.as_secs())));
}
