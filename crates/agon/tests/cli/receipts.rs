//! Receipts: "`agon export ID --receipt`, and `agon verify FILE` that works offline on another machine with the public key
//! and the exported log, and says exactly what was changed when a single byte was".

use serde_json::Value;

use crate::support::{Home, refused};

/// Holds a debate and writes its receipt to `receipt.json`.
fn issued(home: &Home, more: &[&str]) -> String {
    home.debate();
    let mut args = vec!["export", "last", "--receipt", "-o", "receipt.json"];
    args.extend(more);
    home.agon(&args).ok();
    home.read("receipt.json")
}

#[test]
fn a_stranger_checks_a_receipt_with_the_public_key() {
    let home = Home::new();
    let receipt = issued(&home, &[]);
    let own = home.agon(&["verify", "receipt.json"]).ok();
    assert!(own.out.contains("intact and replayed, signed with your own key"), "{own:?}");

    // Another machine: another home, the file and nothing else.
    let stranger = Home::new();
    stranger.write("receipt.json", &receipt);
    let unknown = stranger.agon(&["verify", "receipt.json"]);
    assert_eq!(unknown.status, Some(1), "anybody can sign with a new key: {unknown:?}");
    assert!(unknown.out.contains("intact, but signed with a key that you do not know"), "{unknown:?}");
    let document = stranger.agon(&["verify", "receipt.json", "--json"]).json();
    assert_eq!((&document["intact"], &document["trusted"]), (&Value::Bool(true), &Value::Bool(false)));

    let shown = home.agon(&["keys", "show", "--json"]).ok().json();
    let key = shown[0]["key"].as_str().unwrap().to_owned();
    stranger.agon(&["verify", "receipt.json", "--key", &key]).ok();
    stranger.agon(&["keys", "trust", &key, "--name", "alice"]).ok();
    let trusted = stranger.agon(&["verify", "receipt.json"]).ok();
    assert!(trusted.out.contains("the key that you trust as alice"), "{trusted:?}");
    stranger.agon(&["keys", "distrust", "alice"]).ok();
    assert_eq!(stranger.agon(&["verify", "receipt.json"]).status, Some(1));
    // The key as the other prints it.
    stranger.write("alice.pub", home.agon(&["keys", "show"]).ok().out);
    stranger.agon(&["verify", "receipt.json", "--key", "alice.pub"]).ok();
    stranger.agon(&["keys", "trust", "alice.pub"]).ok();
    stranger.agon(&["verify", "receipt.json"]).ok();

    // A valid signature of somebody else is not the one that was asked for.
    let other = stranger.agon(&["keys", "show", "--json"]).ok().json()[0]["key"].as_str().unwrap().to_owned();
    let said = stranger.agon(&["verify", "receipt.json", "--key", &other]);
    assert_eq!(said.status, Some(1), "{said:?}");
}

#[test]
fn a_changed_byte_is_named_by_its_event_and_its_words() {
    let home = Home::new();
    let receipt = issued(&home, &[]);
    let forged =
        receipt.replacen("Everybody sees the width they like", "Everybody sees the width they hate", 1);
    assert_ne!(forged, receipt);
    home.write("forged.json", &forged);
    let said = home.agon(&["verify", "forged.json"]);
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.out.contains("changed") && said.out.contains("event "), "{said:?}");

    let one =
        receipt.replacen("Everybody sees the width they like", "Everybody sees the width they like!", 1);
    home.write("one.json", &one);
    let document = home.agon(&["verify", "one.json", "--json"]).json();
    assert_eq!(document["intact"], false);
    assert!(document["findings"][0]["event"].is_u64(), "{document:#}");

    // A verdict that was changed in the statement is one that nobody signed.
    let mut statement: Value = serde_json::from_str(&receipt).unwrap();
    let signature = statement["receipt"]["signatures"][0]["sig"].as_str().unwrap().to_owned();
    let swapped = signature.chars().rev().collect::<String>();
    statement["receipt"]["signatures"][0]["sig"] = swapped.into();
    home.write("signed.json", statement.to_string());
    assert_eq!(home.agon(&["verify", "signed.json"]).status, Some(1));
}

/// "with the public key and the exported log": the log may come beside the receipt, or not at all.
#[test]
fn a_receipt_without_its_log_says_less_and_takes_it_from_beside() {
    let home = Home::new();
    let receipt = issued(&home, &["--no-log"]);
    assert!(!receipt.contains("Everybody sees the width"), "the texts stay at home");
    let alone = home.agon(&["verify", "receipt.json"]).not_proven();
    assert!(alone.out.contains("log"), "{alone:?}");
    home.agon(&["export", "last", "--format", "json", "-o", "debate.json"]).ok();
    let beside = home.agon(&["verify", "receipt.json", "--log", "debate.json", "--json"]).ok().json();
    let checks = beside["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["state"] == "holds"), "{beside:#}");
    let exported = home.read("debate.json").replace("Everybody sees", "Nobody sees");
    home.write("other.json", exported);
    let said = home.agon(&["verify", "receipt.json", "--log", "other.json"]);
    assert_eq!(said.status, Some(1), "{said:?}");
}

/// "A receipt never contains a secret."
#[test]
fn a_receipt_that_would_tell_a_secret_is_not_made() {
    let home = Home::new();
    let secret = "sk-live-0123456789abcdef";
    let script =
        home.read("tabs.yaml").replace("Everybody sees the width they like.", &format!("Use {secret}."));
    home.write("tabs.yaml", script);
    home.debate();
    home.agon(&["keys", "show"]).ok();
    let args = ["export", "last", "--receipt"];
    refused(&home, &["OPENAI_API_KEY"], || {
        let said = home.agon_in(&[("OPENAI_API_KEY", secret)], &args);
        assert!(!said.err.contains(secret), "{said:?}");
        said
    });
}

#[test]
fn what_a_retired_key_signed_stays_valid() {
    let home = Home::new();
    issued(&home, &[]);
    home.agon(&["keys", "rotate"]).ok();
    let said = home.agon(&["verify", "receipt.json"]).ok();
    assert!(said.out.contains("retired"), "{said:?}");
    let keys = home.agon(&["keys", "show"]).ok();
    assert_eq!(keys.out.lines().count(), 2, "{keys:?}");
}

#[test]
fn options_of_receipts_are_for_receipts() {
    let home = Home::new();
    home.debate();
    home.agon(&["export", "last", "--format", "json", "-o", "debate.json"]).ok();
    let key = home.agon(&["keys", "show", "--json"]).ok().json()[0]["key"].as_str().unwrap().to_owned();
    refused(&home, &["--key needs a receipt"], || home.agon(&["verify", "debate.json", "--key", &key]));
    refused(&home, &["--receipt"], || home.agon(&["export", "last", "--no-log"]));
    refused(&home, &["ed25519:"], || home.agon(&["keys", "trust", "tabs.yaml", "--name", "x"]));
    refused(&home, &["no such file"], || home.agon(&["keys", "trust", "nowhere.pub", "--name", "x"]));
}

/// "A small independent verifier (a script in another language, in `docs/`) and test vectors, so that a stranger need not trust our
/// binary": both say the same of every vector.
#[test]
fn the_independent_verifier_agrees_on_every_vector() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let home = Home::new();
    let valid = std::fs::read_to_string(docs.join("receipts/valid.json")).unwrap();
    let key = serde_json::from_str::<Value>(&valid).unwrap()["public_key"].as_str().unwrap().to_owned();
    let has_python = std::process::Command::new("python3").arg("--version").output().is_ok();
    for (name, is_changed) in [
        ("valid.json", false),
        ("changed-event.json", true),
        ("changed-signature.json", true),
        ("changed-verdict.json", true),
        ("cut-log.json", true),
        ("rehashed-log.json", true),
    ] {
        let file = docs.join("receipts").join(name);
        let ours = home.agon(&["verify", file.to_str().unwrap(), "--key", &key]).status;
        match is_changed {
            true => assert_eq!(ours, Some(1), "{name}"),
            // A later version has other templates, so that it cannot replay the debate.
            false => assert!(ours == Some(0) || ours == Some(3), "{name}: {ours:?}"),
        }
        if has_python {
            let script = docs.join("verify_receipt.py");
            let theirs =
                std::process::Command::new("python3").arg(script).arg(&file).arg(&key).output().unwrap();
            assert_eq!(theirs.status.code(), Some(if is_changed { 1 } else { 3 }), "{name}: {theirs:?}");
        }
    }
}
