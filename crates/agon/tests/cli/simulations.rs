//! `agon simulate`: "seeded populations that play whole protocols through the real engine".

use crate::support::{Home, refused};

#[test]
fn what_was_planted_is_found_again_and_the_same_seed_says_the_same() {
    let home = Home::new();
    let args = ["simulate", "--protocol", "review", "--trials", "40", "--seed", "3", "--json"];
    let findings = home.agon(&args).ok().json();
    assert_eq!(findings, home.agon(&args).ok().json());
    let names: Vec<&str> =
        findings["recovered"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    for planted in ["flips", "conformity", "persuadable"] {
        assert!(names.contains(&planted), "{planted} in {names:?}");
    }
    assert!(!home.path("home").exists(), "a simulation leaves nothing behind");
    let text = home.agon(&args[..7]).ok().out;
    assert!(text.contains("review"), "{text}");
}

#[test]
fn a_share_is_one() {
    let home = Home::new();
    refused(&home, &["from 0 to 1"], || home.agon(&["simulate", "--accuracy", "1.5"]));
    refused(&home, &["protocol"], || home.agon(&["simulate", "--protocol", "chess"]));
}
