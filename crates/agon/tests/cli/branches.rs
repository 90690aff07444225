//! What a branch takes over, and what it says when that is less than was asked for.

use serde_json::Value;

use crate::support::Home;

#[test]
fn another_seed_would_relabel_the_rounds_that_are_taken_over() {
    let home = Home::new();
    home.debate();
    let said = home.agon(&["branch", "last", "--at", "1", "--seed", "8", "--json"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert!(said.err.contains("omit --seed, or branch --at 0"), "{said:?}");
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 1);
    home.agon(&["branch", "last", "--at", "0", "--seed", "8", "--json"]).ok();
}

#[test]
fn a_branch_that_can_take_nothing_over_is_refused() {
    let home = Home::new();
    home.debate();
    let models = ["script/tabs.yaml"; 4].join(",");
    let said = home.agon(&["branch", "last", "--at", "1", "--models", &models, "--json"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert!(
        said.err.contains("can be taken over: its seats are debater-1, debater-2, debater-3,"),
        "{said:?}"
    );
    assert!(said.err.contains("help: name as many models"), "{said:?}");
    assert_eq!(home.agon(&["list", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_branch_that_takes_fewer_rounds_over_says_which() {
    let home = Home::new();
    let id = home.debate()["id"].as_str().unwrap().to_owned();
    let quick = ["branch", &id, "--at", "1", "--set", "mode=quick", "--json"];
    let said = home.agon(&quick).ok();
    assert!(said.err.contains(&format!("note: of debate {id}, only what came before round 1")), "{said:?}");
    assert_eq!(home.agon(&[&quick[..], &["--quiet"]].concat()).ok().err, "");
    assert_eq!(home.agon(&["branch", &id, "--at", "1", "--json"]).ok().err, "");
}

/// The rounds that are taken over were asked with the first debate's marker.
#[test]
fn a_branch_keeps_the_nonce_and_a_new_debate_draws_one() {
    let home = Home::new();
    let nonce = |id: &str| {
        let exported = home.agon(&["export", id, "--format", "json"]).ok().out;
        let (_, after) = exported.split_once("nonce").unwrap();
        let digits = after.chars().skip_while(|c| !c.is_ascii_hexdigit());
        digits.take_while(char::is_ascii_hexdigit).collect::<String>()
    };
    let id = |outcome: Value| outcome["id"].as_str().unwrap().to_owned();
    let first = nonce(&id(home.debate()));
    assert_eq!(first.len(), 32);
    assert_eq!(nonce(&id(home.agon(&["branch", "last", "--at", "1", "--json"]).ok().json())), first);
    assert_ne!(nonce(&id(home.debate())), first);
}
