//! Signed receipts of stored debates, and the keys that they are checked with.

use agon_core::Debate;
use agon_models::ModelCatalogue;
use agon_publish::receipts::{
    Keyring, KeyringError, KnownKey, KnownSecret, ReceiptSubject, ReceiptVerification, ReplayContext,
    SignedOutcome, issue, verify,
};

use super::app::{DebateHandle, StoredLog};
use super::clock;
use super::debate_reading::DebateReading;
use super::errors::CliError;
use super::paths::{keys_folder, process_env};

/// Words in the names of variables that hold secrets.
const SECRET_WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "WEBHOOK"];

/// The user's keys.
pub fn keyring() -> Result<Keyring, CliError> {
    keys_folder(&process_env).map(Keyring::new).ok_or_else(|| {
        CliError::input("there is no folder for keys: neither AGON_HOME nor a home directory is set")
            .with_help("set AGON_HOME to a folder")
    })
}

/// A keyring's error as bad input.
pub fn keyring_error(error: KeyringError) -> CliError {
    CliError::input(error.to_string())
}

/// A signed receipt of a stored debate, with its log or without.
pub fn issue_receipt(
    handle: &DebateHandle,
    catalogue: &ModelCatalogue,
    with_log: bool,
) -> Result<String, CliError> {
    let StoredLog { raw, debate, .. } = handle.read()?;
    let outcome = signed_outcome(&debate)?;
    let known = known_secrets(catalogue);
    let secrets: Vec<KnownSecret<'_>> =
        known.iter().map(|(name, value)| KnownSecret { name, value }).collect();
    let log = with_log.then_some(raw.as_slice());
    let subject = ReceiptSubject { outcome: &outcome, debate: &debate, log, secrets: &secrets };
    let key = keyring()?.key().map_err(keyring_error)?;
    issue(&subject, &key, &clock::timestamp()).map_err(|why| CliError::input(why.to_string()))
}

/// Checks a receipt against known keys.
pub fn verify_receipt(bytes: &[u8], known: &[KnownKey]) -> ReceiptVerification {
    let outcome = |debate: &Debate| signed_outcome(debate).map_err(|why| why.to_string());
    verify(bytes, known, &ReplayContext { protocol: &agon_protocols::find, outcome: &outcome })
}

fn signed_outcome(debate: &Debate) -> Result<SignedOutcome, CliError> {
    let DebateReading { view, document, .. } = DebateReading::of(debate)?;
    Ok(SignedOutcome { document, votes: view.votes })
}

/// The names and values of the secrets in this process's environment. A receipt must not contain them.
fn known_secrets(catalogue: &ModelCatalogue) -> Vec<(String, String)> {
    let key_variables: Vec<String> =
        catalogue.providers().into_iter().filter_map(|provider| provider.key_env).collect();
    let is_secret = |name: &str| {
        let upper = name.to_ascii_uppercase();
        let is_secret_word =
            |word: &str| SECRET_WORDS.iter().any(|secret| word.starts_with(secret) || word.ends_with(secret));
        key_variables.iter().any(|own| own == name)
            || upper.split('_').filter(|word| !word.is_empty()).any(is_secret_word)
    };
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let whole = variables.iter().filter(|(name, _)| is_secret(name)).cloned();
    // An address may contain a password, whatever its variable is called.
    let passwords =
        variables.iter().filter_map(|(name, value)| Some((name.clone(), password_in(value)?.to_owned())));
    whole.chain(passwords).filter(|(_, value)| !value.is_empty() && !value.starts_with('/')).collect()
}

/// The password in an address: `scheme://user:password@host`.
fn password_in(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_in_an_address_is_a_secret() {
        assert_eq!(password_in("postgres://u:hunter2secret@h:5432/db"), Some("hunter2secret"));
        for plain in ["https://host/path", "https://u@host/", "no address", "https://host/a:b@c"] {
            assert_eq!(password_in(plain), None, "{plain}");
        }
    }
}
