//! The README's examples are real ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use agon_models::Config;
use agon_models::script::Script;

fn block(language: &str) -> &'static str {
    let readme = include_str!("../README.md");
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_script_of_the_readme_can_be_read() {
    Script::parse("README.md", block("yaml")).unwrap();
}

#[test]
fn the_config_of_the_readme_can_be_read() {
    toml::from_str::<Config>(block("toml")).unwrap().check().unwrap();
}
