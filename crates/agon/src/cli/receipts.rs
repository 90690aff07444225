//! Receipts of kept debates, and what they are checked with.

use agon_core::Debate;
use agon_core::event::open_all;
use agon_models::Catalogue;
use agon_publish::receipts::{
    Keyring, KeyringError, Known, Means, Secret, Subject, Verification, issue, verify,
};

use super::desk::Kept;
use super::failure::Failure;
use super::place::{self, Env};
use super::{clock, show};

/// Words in the names of variables that hold what nobody else may know, whoever reads them.
const SECRET_WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "WEBHOOK"];

/// The keys of this person.
pub fn keyring(env: Env) -> Result<Keyring, Failure> {
    place::keys(env).map(Keyring::new).ok_or_else(|| {
        Failure::input("there is no folder for keys: neither AGON_HOME nor a home directory is set")
            .help("set AGON_HOME to a folder")
    })
}

/// What a keyring refuses, as a sentence.
pub fn refused(why: KeyringError) -> Failure {
    Failure::input(why.to_string())
}

/// The signed receipt of a kept debate; without its log if that is private.
pub fn of(kept: &Kept, catalogue: &Catalogue, with_log: bool) -> Result<String, Failure> {
    let raw = kept.store.raw(&kept.id)?;
    let records =
        open_all(raw.iter().cloned()).map_err(|broken| Failure::Broken { id: kept.id.clone(), broken })?;
    let debate = Debate::from_records(&records).map_err(|why| Failure::Log { id: kept.id.clone(), why })?;
    let outcome = show::outcome(&debate);
    let known = secrets(catalogue);
    let secrets: Vec<Secret<'_>> = known.iter().map(|(name, value)| Secret { name, value }).collect();
    let subject =
        Subject { outcome: &outcome, debate: &debate, log: with_log.then_some(&raw), secrets: &secrets };
    let key = keyring(&place::env)?.key().map_err(refused)?;
    issue(&subject, &key, &clock::rfc3339(clock::now_s())).map_err(|why| Failure::input(why.to_string()))
}

/// What this process knows that nobody else may.
fn secrets(catalogue: &Catalogue) -> Vec<(String, String)> {
    let named: Vec<String> =
        catalogue.providers().into_iter().filter_map(|provider| provider.key_env).collect();
    let is_secret = |name: &str| {
        let upper = name.to_ascii_uppercase();
        let words = || upper.split('_').filter(|word| !word.is_empty());
        let told =
            |word: &str| SECRET_WORDS.iter().any(|secret| word.starts_with(secret) || word.ends_with(secret));
        named.iter().any(|own| own == name) || words().any(told)
    };
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let all: Vec<(String, String)> = all.collect();
    let whole = all.iter().filter(|(name, _)| is_secret(name)).cloned();
    // An address may carry its password, whatever the variable is called.
    let within = all.iter().filter_map(|(name, value)| Some((name.clone(), password(value)?.to_owned())));
    whole.chain(within).filter(|(_, value)| !value.is_empty() && !value.starts_with('/')).collect()
}

/// The password in an address: `scheme://user:password@host`.
fn password(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

/// Checks a receipt by the keys that are known.
pub fn check(bytes: &[u8], known: &[Known]) -> Verification {
    let means = Means { protocol: &agon_protocols::find, outcome: &show::outcome };
    verify(bytes, known, &means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_an_address_is_a_secret() {
        assert_eq!(password("postgres://u:hunter2secret@h:5432/db"), Some("hunter2secret"));
        for plain in ["https://host/path", "https://u@host/", "no address", "https://host/a:b@c"] {
            assert_eq!(password(plain), None, "{plain}");
        }
    }
}
