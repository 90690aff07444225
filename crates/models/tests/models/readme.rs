//! The examples in the README parse, and its figures are right.

use agon_models::config::{HUMAN_TIMEOUT, OUTPUT_BYTES_MAX};
use agon_models::{ModelsConfig, ScriptModel};

const README: &str = include_str!("../../README.md");

fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let starts = README.split(&fence).skip(1);
    starts.map(|rest| rest.split_once("```").unwrap().0).collect()
}

#[test]
fn the_example_script_parses() {
    assert_eq!(blocks("yaml").len(), 1);
    ScriptModel::parse("README.md", blocks("yaml")[0]).unwrap();
}

#[test]
fn the_example_configurations_parse() {
    assert_eq!(blocks("toml").len(), 2);
    for block in blocks("toml") {
        toml::from_str::<ModelsConfig>(block).unwrap().check().unwrap();
    }
}

#[test]
fn the_defaults_in_the_readme_are_right() {
    assert!(README.contains(&format!("| {OUTPUT_BYTES_MAX} (1 MiB) |")));
    assert!(README.contains(&format!("| {} (15 minutes) |", HUMAN_TIMEOUT.as_secs())));
}
