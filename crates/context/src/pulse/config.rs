//! The section `[pulse.NAME]` of `agon.toml`.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::Invalid;
use agon_host::visible_text;
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::errands::ITEMS_MAX;

const TIMEOUT_S_MAX: f64 = 60.0;
const MAX_BYTES_MAX: u64 = 16 << 20;

/// One `[pulse.NAME]`: a source of current topics.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PulseConfig {
    /// The address, with `http://` or `https://`. Set either this or `file`.
    pub url: Option<String>,
    /// The file to read. Set either this or `url`.
    pub file: Option<PathBuf>,
    /// The format. By default it is recognized from the content.
    pub format: Option<PulseFormat>,
    /// For JSON: the pointer to the list of entries, such as `/data/articles`. By default the document itself or its
    /// `items`.
    pub items: Option<String>,
    /// For JSON: the field with an entry's title. A field is a name, or a pointer such as `/meta/title`.
    pub title: Option<String>,
    /// For JSON: the field with an entry's text.
    pub text: Option<String>,
    /// For JSON: the field with an entry's link.
    pub link: Option<String>,
    /// For JSON: the field with an entry's date.
    pub at: Option<String>,
    /// How many seconds the source may take. The debate waits for it.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    /// The most bytes to read.
    #[serde(default = "default_max_bytes")]
    pub max_bytes: u64,
    /// The most entries that a debate gets.
    #[serde(default = "default_limit")]
    pub limit: usize,
    /// The name of the environment variable with the key to send as `Authorization: Bearer`.
    pub key_env: Option<String>,
}

/// The format of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PulseFormat {
    /// RSS of any version, including RSS 1.0 (RDF).
    Rss,
    /// Atom.
    Atom,
    /// Any JSON document with a list of entries, such as a JSON Feed.
    Json,
    /// Plain text or Markdown: each paragraph is an entry.
    #[serde(alias = "txt", alias = "markdown", alias = "md")]
    Text,
}

fn default_timeout_s() -> f64 {
    3.0
}

fn default_max_bytes() -> u64 {
    1 << 20
}

fn default_limit() -> usize {
    5
}

impl PulseConfig {
    /// Rejects settings that cannot work in `[pulse.NAME]`.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let problem =
            self.problem(name).or_else(|| self.problem_with_fields()).or_else(|| self.problem_with_key());
        problem.map_or(Ok(()), |why| Err(Invalid(format!("[pulse.{}]: {why}", visible_text(name)))))
    }

    fn problem(&self, name: &str) -> Option<String> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Some("the name may contain only letters, digits, `-`, `_` and `.`".into());
        }
        match (&self.url, &self.file) {
            (Some(url), None) => {
                if let Err(why) = parse_url(url) {
                    return Some(format!("url {why}"));
                }
            }
            (None, Some(file)) if !file.as_os_str().is_empty() => {}
            _ => return Some("set either url = \"https://...\" or file = \"a file\"".into()),
        }
        if !(self.timeout_s > 0.0 && self.timeout_s <= TIMEOUT_S_MAX) {
            return Some(format!("timeout_s must be greater than 0 and at most {TIMEOUT_S_MAX}"));
        }
        if !(1..=MAX_BYTES_MAX).contains(&self.max_bytes) {
            return Some(format!("max_bytes must be from 1 to {MAX_BYTES_MAX}"));
        }
        if !(1..=ITEMS_MAX).contains(&self.limit) {
            return Some(format!("limit must be from 1 to {ITEMS_MAX}"));
        }
        None
    }

    fn problem_with_fields(&self) -> Option<String> {
        if self.items.as_deref().is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
            return Some("items must be a JSON pointer such as \"/data/articles\"".into());
        }
        let fields = [
            ("items", &self.items),
            ("title", &self.title),
            ("text", &self.text),
            ("link", &self.link),
            ("at", &self.at),
        ];
        let (field, _) = fields.into_iter().find(|(_, field)| field.is_some())?;
        match self.format? {
            PulseFormat::Rss | PulseFormat::Atom => {
                Some(format!("{field} is for JSON only: the fields of a feed are fixed"))
            }
            PulseFormat::Text => {
                Some(format!("{field} is for JSON only: each paragraph of a text is an entry"))
            }
            PulseFormat::Json => None,
        }
    }

    fn problem_with_key(&self) -> Option<String> {
        let variable = self.key_env.as_deref()?;
        let mut chars = variable.chars();
        let starts_well = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !starts_well || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let want = "key_env must be the name of an environment variable, not the key itself";
            return Some(format!("{want}; for example key_env = \"NEWS_KEY\""));
        }
        self.file.is_some().then(|| "key_env is for url only: a file needs no key".to_owned())
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout_s).unwrap_or_default()
    }
}

/// Parses the address of a source. The error continues a sentence that begins with "url".
pub(crate) fn parse_url(url: &str) -> Result<Url, String> {
    let want = "must begin with http:// or https://";
    let url = Url::parse(url).map_err(|why| format!("{want} ({why})"))?;
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => Err(
            "must not contain a user name or password: put the key into an environment variable and set key_env to its name"
                .into(),
        ),
        "http" | "https" => Ok(url),
        _ => Err(want.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sources(toml: &str) -> Result<BTreeMap<String, PulseConfig>, String> {
        let mut file: BTreeMap<String, BTreeMap<String, PulseConfig>> =
            toml::from_str(toml).map_err(|why| why.to_string())?;
        let sources = file.remove("pulse").unwrap_or_default();
        sources.iter().try_for_each(|(name, source)| source.check(name)).map_err(|why| why.0)?;
        Ok(sources)
    }

    #[test]
    fn only_url_or_file_is_required() {
        let found =
            sources("[pulse.a]\nurl = \"https://a.example/feed\"\n[pulse.b]\nfile = \"b.json\"").unwrap();
        let a = &found["a"];
        assert_eq!((a.timeout(), a.max_bytes, a.limit), (Duration::from_secs(3), 1_048_576, 5));
        assert_eq!((a.format, &a.key_env), (None, &None));
        assert_eq!(found["b"].file, Some("b.json".into()));
    }

    #[test]
    fn every_invalid_setting_is_rejected_with_a_reason() {
        for (toml, named) in [
            ("[pulse.x]", "[pulse.x]: set either url"),
            ("[pulse.x]\nurl = \"http://a/\"\nfile = \"b\"", "set either url"),
            ("[pulse.x]\nfile = \"\"", "set either url"),
            ("[pulse.x]\nurl = \"a.example/feed\"", "http://"),
            ("[pulse.x]\nurl = \"ftp://a/\"", "http://"),
            ("[pulse.x]\nurl = \"file:///etc/passwd\"", "http://"),
            ("[pulse.x]\nurl = \"http://me:pw@a/\"", "key_env"),
            ("[pulse.\"a/b\"]\nfile = \"b\"", "letters"),
            ("[pulse.\"a\\u001b[2J\"]\nfile = \"b\"", "[pulse.a\u{fffd}[2J]: the name may contain"),
            ("[pulse.x]\nfile = \"b\"\ntimeout_s = 0", "timeout_s"),
            ("[pulse.x]\nfile = \"b\"\ntimeout_s = 61", "timeout_s"),
            ("[pulse.x]\nfile = \"b\"\ntimeout_s = nan", "timeout_s"),
            ("[pulse.x]\nfile = \"b\"\nmax_bytes = 0", "max_bytes"),
            ("[pulse.x]\nfile = \"b\"\nmax_bytes = 16777217", "max_bytes"),
            ("[pulse.x]\nfile = \"b\"\nlimit = 0", "limit"),
            ("[pulse.x]\nfile = \"b\"\nlimit = 51", "limit"),
            ("[pulse.x]\nfile = \"b\"\nitems = \"data\"", "JSON pointer"),
            ("[pulse.x]\nfile = \"b\"\nformat = \"rss\"\ntitle = \"t\"", "title is for JSON only"),
            ("[pulse.x]\nfile = \"b\"\nformat = \"text\"\nat = \"t\"", "at is for JSON only: each paragraph"),
            ("[pulse.x]\nfile = \"b\"\nformat = \"soap\"", "soap"),
            ("[pulse.x]\nfile = \"b\"\nkey_env = \"K\"", "a file needs no key"),
            ("[pulse.x]\nurl = \"http://a/\"\nkey_env = \"sk-123\"", "not the key itself"),
            ("[pulse.x]\nurl = \"http://a/\"\nkey = \"sk-123\"", "key"),
        ] {
            let why = sources(toml).unwrap_err();
            assert!(why.contains(named), "{toml}: {why}");
            assert!(!why.contains("pw@"), "{why}");
        }
    }
}
