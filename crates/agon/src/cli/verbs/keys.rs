//! `agon keys`: the key that signs receipts, and the keys of others that are trusted.

use std::path::Path;

use agon_publish::receipts::{KeyStanding, Keyring, KnownKey, PublicKey};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::receipts::{keyring, keyring_error};
use crate::cli::{arguments, clock, input, output};

pub(super) const VERB: CliVerb = CliVerb { name: "keys", group: VerbGroup::Setup, command, run };

/// A key may be read from a receipt, which may contain a whole log.
const KEY_FILE_BYTES_MAX: u64 = 1 << 30;

fn command(command: Command) -> Command {
    let key = Arg::new("key")
        .value_name("FILE|KEY")
        .required(true)
        .help("ed25519:..., a file with it, or a receipt that it signed");
    let owner = Arg::new("name")
        .long("name")
        .value_name("NAME")
        .help("A name for its owner [default: the key's short id]");
    let distrusted = Arg::new("name")
        .value_name("NAME")
        .required(true)
        .help("The name of its owner, or the id of a retired key of your own");
    let subcommand =
        |name: &'static str, about: &'static str| Command::new(name).about(about).arg(arguments::json());
    command
        .about("Show, renew or trust the keys that sign receipts")
        .after_help(
            "Your own key is made on first use. Give its public half to others, and let them compare its short id through another channel.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(subcommand("show", "Show your own public key and those that you trust"))
        .subcommand(subcommand("rotate", "Make a new key of your own; what the old one signed stays valid"))
        .subcommand(subcommand("trust", "Trust somebody else's key").arg(key).arg(owner))
        .subcommand(subcommand("distrust", "Stop trusting a key").arg(distrusted))
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let ring = keyring()?;
    let now = clock::timestamp();
    let Some((subcommand, args)) = args.subcommand() else { return Ok(0) };
    let as_json = args.get_flag("json");
    let word = |name: &str| args.get_one::<String>(name).cloned().unwrap_or_default();
    match subcommand {
        "rotate" => rotate(&ring, &now, as_json)?,
        "trust" => {
            let key = read_key(&word("key"))?;
            let name = Some(word("name")).filter(|name| !name.is_empty()).unwrap_or_else(|| key.id());
            ring.trust(&name, &key, &now).map_err(keyring_error)?;
            print_key(as_json, &name, &key, "is trusted as")?;
        }
        "distrust" => {
            let name = word("name");
            let key = ring.distrust(&name).map_err(keyring_error)?;
            print_key(as_json, &name, &key, "is no longer trusted as")?;
        }
        _ => show(&ring, as_json)?,
    }
    Ok(0)
}

fn rotate(ring: &Keyring, now: &str, as_json: bool) -> Result<(), CliError> {
    let (old, new) = ring.rotate(now).map_err(keyring_error)?;
    let old = old.map(|old| old.id());
    if as_json {
        return output::print_json(&json!({"retired": old, "key": new.to_string(), "id": new.id()}));
    }
    let retired =
        old.map(|old| format!("{old} is retired: what it signed stays valid, but it signs no more\n"));
    output::print(&format!("{}new key {}: {new}\n", retired.unwrap_or_default(), new.id()))
}

fn print_key(as_json: bool, name: &str, key: &PublicKey, what: &str) -> Result<(), CliError> {
    match as_json {
        true => output::print_json(&json!({"name": name, "key": key.to_string(), "id": key.id()})),
        false => output::print(&format!("{} {what} {name}\n", key.id())),
    }
}

/// Reads a key from the command line or from the file that is named there.
pub(super) fn read_key(word: &str) -> Result<PublicKey, CliError> {
    let text = match word.starts_with("ed25519:") {
        true => word.to_owned(),
        false => input::read_text(Path::new(word), KEY_FILE_BYTES_MAX)?,
    };
    PublicKey::find(&text).map_err(|why| CliError::input(format!("{word}: {why}")))
}

fn show(ring: &Keyring, as_json: bool) -> Result<(), CliError> {
    ring.key().map_err(keyring_error)?;
    let known = ring.known().map_err(keyring_error)?;
    if as_json {
        return output::print_json(&known.iter().map(key_document).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for KnownKey { key, standing } in &known {
        let owner = match standing {
            KeyStanding::Own => "yours".to_owned(),
            KeyStanding::Retired { at } => format!("yours, retired {at}"),
            KeyStanding::Trusted { name } => name.clone(),
        };
        text.push_str(&format!("{}  {key}  {owner}\n", key.id()));
    }
    output::print(&text)
}

fn key_document(known: &KnownKey) -> Value {
    let mut document = json!({"key": known.key.to_string(), "id": known.key.id()});
    if let (Some(fields), Ok(Value::Object(standing))) =
        (document.as_object_mut(), serde_json::to_value(&known.standing))
    {
        fields.extend(standing);
    }
    document
}
