//! The section `[pulse.NAME]` of `agon.toml`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Component, PathBuf};
use std::time::Duration;

use agon_core::Invalid;
use reqwest::Url;
use serde::Deserialize;

use super::plain::visible;

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
    /// Plain text or Markdown: each paragraph is an entry.
    #[serde(alias = "txt", alias = "markdown", alias = "md")]
    Text,
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
        self.wrong(name).map_or(Ok(()), |why| Err(Invalid(format!("[pulse.{}]: {why}", visible(name)))))
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
            (Some((field, _)), Some(Format::Text)) => {
                Some(format!("{field} is for JSON: of a text each paragraph is an entry"))
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
            (_, _, Some(file)) if foreign(file) => format!("read {:?}", visible(&file.to_string_lossy())),
            _ => continue,
        };
        return Err(Invalid(format!(
            "[pulse.{}] would {what}, and this agon.toml was found and not asked for: pass `--config agon.toml` if you \
             trust it",
            visible(name)
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

#[cfg(test)]
mod tests {
    use super::*;

    type File = BTreeMap<String, BTreeMap<String, PulseConfig>>;

    fn sources(toml: &str) -> Result<BTreeMap<String, PulseConfig>, String> {
        let mut file: File = toml::from_str(toml).map_err(|why| why.to_string())?;
        let sources = file.remove("pulse").unwrap_or_default();
        sources.iter().try_for_each(|(name, source)| source.check(name)).map_err(|why| why.0)?;
        Ok(sources)
    }

    /// "`timeout_s` (default 3), `max_bytes` (default 1 MiB), `limit` (default 5)"
    #[test]
    fn a_section_needs_no_more_than_a_place() {
        let found =
            sources("[pulse.a]\nurl = \"https://a.example/feed\"\n[pulse.b]\nfile = \"b.json\"").unwrap();
        let a = &found["a"];
        assert_eq!((a.timeout(), a.max_bytes, a.limit), (Duration::from_secs(3), 1_048_576, 5));
        assert_eq!((a.format, &a.key_env), (None, &None));
        assert_eq!(found["b"].file, Some("b.json".into()));
    }

    #[test]
    fn wrong_input_of_every_kind_is_named() {
        for (toml, named) in [
            ("[pulse.x]", "[pulse.x]: give either url"),
            ("[pulse.x]\nurl = \"http://a/\"\nfile = \"b\"", "give either url"),
            ("[pulse.x]\nfile = \"\"", "give either url"),
            ("[pulse.x]\nurl = \"a.example/feed\"", "http://"),
            ("[pulse.x]\nurl = \"ftp://a/\"", "http://"),
            ("[pulse.x]\nurl = \"file:///etc/passwd\"", "http://"),
            ("[pulse.x]\nurl = \"http://me:pw@a/\"", "key_env"),
            ("[pulse.\"a/b\"]\nfile = \"b\"", "letters"),
            ("[pulse.\"a\\u001b[2J\"]\nfile = \"b\"", "[pulse.a\u{fffd}[2J]: the name has letters"),
            ("[pulse.x]\nfile = \"b\"\ntimeout_s = 0", "timeout_s"),
            ("[pulse.x]\nfile = \"b\"\ntimeout_s = 61", "timeout_s"),
            ("[pulse.x]\nfile = \"b\"\ntimeout_s = nan", "timeout_s"),
            ("[pulse.x]\nfile = \"b\"\nmax_bytes = 0", "max_bytes"),
            ("[pulse.x]\nfile = \"b\"\nmax_bytes = 16777217", "max_bytes"),
            ("[pulse.x]\nfile = \"b\"\nlimit = 0", "limit"),
            ("[pulse.x]\nfile = \"b\"\nlimit = 51", "limit"),
            ("[pulse.x]\nfile = \"b\"\nitems = \"data\"", "JSON pointer"),
            ("[pulse.x]\nfile = \"b\"\nformat = \"rss\"\ntitle = \"t\"", "title is for JSON"),
            ("[pulse.x]\nfile = \"b\"\nformat = \"text\"\nat = \"t\"", "at is for JSON: of a text"),
            ("[pulse.x]\nfile = \"b\"\nformat = \"soap\"", "soap"),
            ("[pulse.x]\nfile = \"b\"\nkey_env = \"K\"", "a file takes no key"),
            ("[pulse.x]\nurl = \"http://a/\"\nkey_env = \"sk-123\"", "not the key itself"),
            ("[pulse.x]\nurl = \"http://a/\"\nkey = \"sk-123\"", "key"),
        ] {
            let why = sources(toml).unwrap_err();
            assert!(why.contains(named), "{toml}: {why}");
            assert!(!why.contains("pw@"), "{why}");
        }
    }

    #[test]
    fn a_found_config_takes_no_key_to_a_stranger_and_reads_no_file_elsewhere() {
        for (toml, named) in [
            (
                "url = \"https://a.example/?k=1\"\nkey_env = \"GITHUB_TOKEN\"",
                Some("send the key in GITHUB_TOKEN to a.example,"),
            ),
            ("url = \"http://127.0.0.1.a.example/\"\nkey_env = \"K\"", Some("send the key in K")),
            ("file = \"/etc/passwd\"", Some("read \"/etc/passwd\"")),
            ("file = \"../x.json\"", Some("read")),
            ("file = \"/x\\u001b\\u202e\"", Some("read \"/x\u{fffd}\u{fffd}\"")),
            ("url = \"https://a.example/\"", None),
            ("url = \"http://127.0.0.1:80/\"\nkey_env = \"K\"", None),
            ("url = \"http://[::1]:80/\"\nkey_env = \"K\"", None),
            ("file = \"news/x.json\"", None),
        ] {
            let found = check_found(&sources(&format!("[pulse.x]\n{toml}")).unwrap());
            let told = found.err().map(|why| why.0);
            match named {
                None => assert_eq!(told, None, "{toml}"),
                Some(named) => {
                    let told = told.unwrap();
                    assert!(told.contains(named) && told.contains("--config agon.toml"), "{toml}: {told}");
                }
            }
        }
    }
}
