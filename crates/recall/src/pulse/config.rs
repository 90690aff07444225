//! The section `[pulse.NAME]` of `agon.toml`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use agon_core::Invalid;
use reqwest::Url;
use serde::Deserialize;

/// One `[pulse.NAME]`: where a debate learns what is going on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PulseConfig {
    /// Where it is, with `http://` or `https://`. Either this or `file`.
    #[serde(default)]
    pub url: Option<String>,
    /// The file that it is in.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// What it is; seen from its content when not given.
    #[serde(default)]
    pub format: Option<Format>,
    /// Of a JSON document: the pointer to the list of entries, such as `/data/articles`. The document itself or its `items` when
    /// not given.
    #[serde(default)]
    pub items: Option<String>,
    /// Of an entry of a JSON document: the field with its title. A field is a name, or a pointer such as `/meta/title`.
    #[serde(default)]
    pub title: Option<String>,
    /// The field with what it says.
    #[serde(default)]
    pub text: Option<String>,
    /// The field with its address.
    #[serde(default)]
    pub link: Option<String>,
    /// The field with its date.
    #[serde(default)]
    pub at: Option<String>,
    /// How long it may take.
    #[serde(default = "timeout_s")]
    pub timeout_s: f64,
    /// The most that is read of it.
    #[serde(default = "max_bytes")]
    pub max_bytes: u64,
    /// The most entries that a debate gets of it.
    #[serde(default = "limit")]
    pub limit: usize,
    /// The environment variable with the key that is sent as `Authorization: Bearer`.
    #[serde(default)]
    pub key_env: Option<String>,
}

/// What a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// RSS 2.0 and what came before it, and RSS 1.0, which is RDF.
    Rss,
    /// Atom.
    Atom,
    /// Any JSON document with a list of entries, such as a JSON Feed.
    Json,
}

/// How long a source may take, where its section does not say: the debate waits for it.
fn timeout_s() -> f64 {
    3.0
}

fn max_bytes() -> u64 {
    1 << 20
}

fn limit() -> usize {
    5
}

const TIMEOUT_S_MAX: f64 = 60.0;
const BYTES_LIMIT: u64 = 16 << 20;
const ITEMS_LIMIT: usize = crate::errand::ITEMS_MAX;

impl PulseConfig {
    /// Refuses what cannot work in `[pulse.NAME]`, and says where it stands.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        self.wrong(name).map_or(Ok(()), |why| Err(Invalid(format!("[pulse.{name}]: {why}"))))
    }

    fn wrong(&self, name: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            return Some("the name has letters, digits, `-`, `_` and `.` only".into());
        }
        match (&self.url, &self.file) {
            (Some(url), None) => {
                if let Err(why) = address(url) {
                    return Some(format!("url {why}"));
                }
            }
            (None, Some(file)) if !file.as_os_str().is_empty() => {}
            _ => return Some("give either url = \"https://...\" or file = \"a file\"".into()),
        }
        if !(self.timeout_s > 0.0 && self.timeout_s <= TIMEOUT_S_MAX) {
            return Some(format!("timeout_s is a number of seconds over 0, at most {TIMEOUT_S_MAX}"));
        }
        if !(1..=BYTES_LIMIT).contains(&self.max_bytes) {
            return Some(format!("max_bytes is from 1 to {BYTES_LIMIT}"));
        }
        if !(1..=ITEMS_LIMIT).contains(&self.limit) {
            return Some(format!("limit is from 1 to {ITEMS_LIMIT}"));
        }
        self.wrong_fields().or_else(|| self.wrong_key())
    }

    fn wrong_fields(&self) -> Option<String> {
        if self.items.as_deref().is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
            return Some("items is a JSON pointer, such as \"/data/articles\"".into());
        }
        let fields = [
            ("items", &self.items),
            ("title", &self.title),
            ("text", &self.text),
            ("link", &self.link),
            ("at", &self.at),
        ];
        let given = fields.into_iter().find(|(_, field)| field.is_some());
        match (given, self.format) {
            (Some((field, _)), Some(Format::Rss | Format::Atom)) => {
                Some(format!("{field} is for JSON: a feed says itself where it has what"))
            }
            _ => None,
        }
    }

    fn wrong_key(&self) -> Option<String> {
        let variable = self.key_env.as_deref()?;
        let mut chars = variable.chars();
        let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !starts || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let want = "key_env is the name of an environment variable, not the key itself";
            return Some(format!("{want}; for instance key_env = \"NEWS_KEY\""));
        }
        self.file.is_some().then(|| "key_env is for a url: a file takes no key".to_owned())
    }

    /// How long it may take.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout_s).unwrap_or_default()
    }
}

/// Refuses sources in a configuration that nobody has named, such as an `agon.toml` that lies in the current folder, when they
/// would take a key to a stranger or bring files into a debate that do not lie there too.
pub fn check_found(sources: &BTreeMap<String, PulseConfig>) -> Result<(), Invalid> {
    for (name, source) in sources {
        let foreign = |path: &PathBuf| !path.components().all(|part| matches!(part, Component::Normal(_)));
        let address = source.url.as_deref().and_then(|url| address(url).ok());
        let stranger = address.filter(|url| !url.host_str().is_some_and(is_here));
        let what = match (&source.key_env, stranger, &source.file) {
            (Some(variable), Some(url), _) => {
                format!("send the key in {variable} to {}", url.host_str().unwrap_or_default())
            }
            (_, _, Some(file)) if foreign(file) => format!("read {:?}", shown(file)),
            _ => continue,
        };
        return Err(Invalid(format!(
            "[pulse.{name}] would {what}, and this agon.toml was found and not asked for: pass `--config agon.toml` if \
             you trust it"
        )));
    }
    Ok(())
}

/// The address of a source.
pub(crate) fn address(url: &str) -> Result<Url, String> {
    let want = "is an address that begins with http:// or https://";
    let url = Url::parse(url).map_err(|why| format!("{want} ({why})"))?;
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
            Err("has a name or a password in it: put the key into a variable and name that with key_env"
                .into())
        }
        "http" | "https" => Ok(url),
        _ => Err(want.into()),
    }
}

/// Whether a host is this machine.
pub(crate) fn is_here(host: &str) -> bool {
    host == "localhost" || ip(host).is_some_and(|address| address.is_loopback())
}

/// Whether a host is this machine or in a network that strangers cannot reach.
pub(crate) fn is_inside(host: &str) -> bool {
    is_here(host)
        || ip(host).is_some_and(|address| match address {
            IpAddr::V4(v4) => v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
            IpAddr::V6(v6) => {
                v6.is_unique_local()
                    || v6.is_unicast_link_local()
                    || v6.is_unspecified()
                    || v6.to_ipv4_mapped().is_some_and(|v4| is_inside(&v4.to_string()))
            }
        })
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn shown(path: &Path) -> String {
    path.display().to_string().chars().filter(|c| !c.is_control()).collect()
}
