//! `agon keys`: the key that signs receipts, and the keys of others that are trusted.

use std::path::Path;

use agon_publish::receipts::{Keyring, Known, PublicKey, Standing};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::{args, clock, input, output, place, receipts};

pub(super) const VERB: Verb = Verb { name: "keys", group: Group::Around, command, run };

const KEY_FILE_BYTES_MAX: u64 = 1 << 30;

fn command(command: Command) -> Command {
    let name = Arg::new("name")
        .long("name")
        .value_name("NAME")
        .help("What you call its owner [default: the key's short id]");
    let verb = |name: &'static str, about: &'static str| Command::new(name).about(about).arg(args::json());
    command
        .about("Show, renew or trust the keys that sign receipts")
        .after_help("The own key is made on first use. Give others its public half, and compare its short id another way.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(verb("show", "Show the own public key and those that are known"))
        .subcommand(verb("rotate", "Make a new own key; what the old one signed stays valid"))
        .subcommand(
            verb("trust", "Trust another's key")
                .arg(Arg::new("key").value_name("FILE|KEY").required(true).help(
                    "ed25519:..., a file with it, or a receipt that it signed",
                ))
                .arg(name),
        )
        .subcommand(
            verb("distrust", "Trust a key no more")
                .arg(Arg::new("name").value_name("NAME").required(true).help("What you call its owner, or the id of a retired key of your own")),
        )
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let ring = receipts::keyring(&place::env)?;
    let now = clock::rfc3339(clock::now_s());
    let Some((verb, args)) = args.subcommand() else { return Ok(0) };
    let as_json = args.get_flag("json");
    let word = |name: &str| args.get_one::<String>(name).cloned().unwrap_or_default();
    match verb {
        "rotate" => {
            let (old, new) = ring.rotate(&now).map_err(receipts::refused)?;
            let old = old.map(|old| old.id());
            if as_json {
                output::print_json(&json!({"retired": old, "key": new.to_string(), "id": new.id()}))?;
                return Ok(0);
            }
            let retired = old
                .map(|old| format!("{old} is retired: what it signed stays valid, and it signs no more\n"));
            output::print(&format!("{}new key {}: {new}\n", retired.unwrap_or_default(), new.id()))?;
        }
        "trust" => {
            let key = read(&word("key"))?;
            let name = Some(word("name")).filter(|name| !name.is_empty()).unwrap_or_else(|| key.id());
            ring.trust(&name, &key, &now).map_err(receipts::refused)?;
            told(as_json, &name, &key, "is trusted as")?;
        }
        "distrust" => {
            let name = word("name");
            let key = ring.distrust(&name).map_err(receipts::refused)?;
            told(as_json, &name, &key, "is no longer trusted as")?;
        }
        _ => show(&ring, as_json)?,
    }
    Ok(0)
}

fn told(as_json: bool, name: &str, key: &PublicKey, what: &str) -> Result<(), Failure> {
    match as_json {
        true => output::print_json(&json!({"name": name, "key": key.to_string(), "id": key.id()})),
        false => output::print(&format!("{} {what} {name}\n", key.id())),
    }
}

/// The key that a person passes on: as it is, or in a file.
pub(super) fn read(word: &str) -> Result<PublicKey, Failure> {
    let text = match word.starts_with("ed25519:") {
        true => word.to_owned(),
        false => input::file(Path::new(word), KEY_FILE_BYTES_MAX)?,
    };
    PublicKey::find(&text).map_err(|why| Failure::input(format!("{word}: {why}")))
}

fn show(ring: &Keyring, as_json: bool) -> Result<(), Failure> {
    ring.key().map_err(receipts::refused)?;
    let known = ring.known().map_err(receipts::refused)?;
    if as_json {
        let entry = |known: &Known| {
            let mut entry = json!({"key": known.key.to_string(), "id": known.key.id()});
            if let (Some(fields), Ok(Value::Object(standing))) =
                (entry.as_object_mut(), serde_json::to_value(&known.standing))
            {
                fields.extend(standing);
            }
            entry
        };
        return output::print_json(&known.iter().map(entry).collect());
    }
    let mut text = String::new();
    for Known { key, standing } in &known {
        let whose = match standing {
            Standing::Own => "yours".to_owned(),
            Standing::Retired { at } => format!("yours, retired {at}"),
            Standing::Trusted { name } => name.clone(),
        };
        text.push_str(&format!("{}  {key}  {whose}\n", key.id()));
    }
    output::print(&text)
}
