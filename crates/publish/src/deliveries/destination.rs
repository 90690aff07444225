//! Where a result can go, as a person writes it.

use std::fmt;
use std::path::{Path, PathBuf};

use agon_core::Invalid;
use reqwest::Url;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::deliveries::visible::{self, visible};

/// Where a result goes. Shown, it has no secret in it: of an address only the host.
#[derive(Clone, PartialEq, Eq)]
pub enum Destination {
    /// A file, in the format of its ending.
    File(PathBuf),
    /// A server that is called with the outcome.
    Callback(Address),
    /// A Slack channel's webhook.
    Slack(Address),
    /// A Discord channel's webhook.
    Discord(Address),
    /// A program: a `[destinations.NAME]` that has a command.
    Command(String),
    /// Whatever `[destinations.NAME]` says.
    Named(String),
    /// One of the `[[hooks]]`, by its [key](crate::deliveries::HookConfig::key).
    Hook(String),
}

/// An address on the web. What comes after the host may be a secret and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Url);

/// What a report is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The outcome as JSON.
    #[default]
    Json,
    /// Markdown.
    #[serde(alias = "md")]
    Markdown,
    /// A page of its own.
    Html,
    /// YAML.
    Yaml,
    /// Plain text.
    #[serde(alias = "txt")]
    Text,
}

/// The endings of files, and the formats that they stand for.
const ENDINGS: &[(&str, Format)] = &[
    ("json", Format::Json),
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("yaml", Format::Yaml),
    ("yml", Format::Yaml),
    ("txt", Format::Text),
];

impl Format {
    /// The format that a file's ending stands for.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format)
    }

    /// The usual ending of a file in this format.
    pub fn ending(self) -> &'static str {
        ENDINGS.iter().find(|(_, format)| *format == self).map_or("json", |(ending, _)| ending)
    }
}

impl Destination {
    /// Reads what a person wrote. A path that is not absolute begins at `folder`, for the delivery may be made from elsewhere.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Invalid> {
        match Self::of(text.trim())? {
            Self::Hook(_) => Err(Invalid(
                "a hook is not sent to by hand: write [[hooks]] into agon.toml, and it runs after its debates".into(),
            )),
            Self::File(path) => Ok(Self::File(folder.join(path))),
            other => Ok(other),
        }
    }

    /// Reads what [`stored`](Self::stored) wrote.
    pub fn read(stored: &str) -> Result<Self, Invalid> {
        Self::of(stored)
    }

    fn of(text: &str) -> Result<Self, Invalid> {
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        match kind.to_ascii_lowercase().as_str() {
            "file" => path(rest).map(Self::File),
            "http" | "https" => Address::parse(text).map(Self::Callback),
            "slack" => Address::parse(rest).map(Self::Slack),
            "discord" => Address::parse(rest).map(Self::Discord),
            "command" => name("command", rest).map(Self::Command),
            "hook" => name("hook", rest).map(Self::Hook),
            _ if text.contains("://") => Err(unknown()),
            _ if Format::of(Path::new(text)).is_some() => path(text).map(Self::File),
            _ => name("", text).map(Self::Named).map_err(|_| unknown()),
        }
    }

    /// All of it, for the outbox: [`read`](Self::read) gives the same again. Not to be shown.
    pub fn stored(&self) -> String {
        match self {
            Self::Callback(address) => address.whole().to_owned(),
            Self::Slack(address) => format!("slack:{}", address.whole()),
            Self::Discord(address) => format!("discord:{}", address.whole()),
            Self::File(path) => format!("file:{}", path.display()),
            Self::Command(name) => format!("command:{name}"),
            Self::Named(name) => name.clone(),
            Self::Hook(key) => format!("hook:{key}"),
        }
    }
}

/// A destination out of an outbox as it may be shown.
pub fn shown(stored: &str) -> String {
    Destination::read(stored).map_or_else(
        |_| "a destination that cannot be read".to_owned(),
        |destination| destination.to_string(),
    )
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", visible::path(path)),
            Self::Callback(address) => address.fmt(f),
            Self::Slack(address) => write!(f, "slack:{address}"),
            Self::Discord(address) => write!(f, "discord:{address}"),
            Self::Command(name) => write!(f, "command:{}", visible(name)),
            Self::Named(name) => f.write_str(&visible(name)),
            Self::Hook(key) => write!(f, "hook:{}", visible(key)),
        }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Destination({self})")
    }
}

impl Serialize for Destination {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.stored())
    }
}

impl<'de> Deserialize<'de> for Destination {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(de::Error::custom)
    }
}

impl Address {
    /// Reads an address that begins with `http://` or `https://`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let want = "an address begins with http:// or https:// and names a host";
        let url = Url::parse(text).map_err(|why| Invalid(format!("{want} ({why})")))?;
        match url.scheme() {
            "http" | "https" if !url.username().is_empty() || url.password().is_some() => Err(Invalid(
                "an address with a name or a password in it cannot be kept: use secret_env".into(),
            )),
            "http" | "https" if url.has_host() => Ok(Self(url)),
            _ => Err(Invalid(want.into())),
        }
    }

    /// All of it. Not to be shown.
    pub fn whole(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Whether it is on this machine.
    pub(crate) fn is_here(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.0.path() == "/" && self.0.query().is_none() { "" } else { "/\u{2026}" };
        write!(f, "{}{more}", self.0.origin().ascii_serialization())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

fn path(text: &str) -> Result<PathBuf, Invalid> {
    let path = Path::new(text);
    if path.file_name().is_none() || text.ends_with(['/', '\\']) || text.contains('\0') {
        return Err(Invalid("a file has a name, as in file:results/outcome.md".into()));
    }
    Ok(path.to_owned())
}

fn name(kind: &str, text: &str) -> Result<String, Invalid> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(Invalid(format!("{kind}:NAME has a name of letters, digits, `-` and `_`"))),
    }
}

/// A name of a section: no ending of a file can be taken for one.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.chars().all(plain)
}

// What was written is not repeated: it may hold a secret.
fn unknown() -> Invalid {
    Invalid(
        "a destination is a file that ends in .json, .md, .html, .yaml or .txt, file:PATH, https://..., slack:URL, \
         discord:URL, command:NAME, or the NAME of a [destinations.NAME] in agon.toml"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Destination, String> {
        Destination::parse(text, Path::new("/home/me")).map_err(|why| why.0)
    }

    #[test]
    fn every_destination_is_read_shown_without_its_secret_and_kept_with_it() {
        for (text, shown, stored) in [
            ("out.md", "file:/home/me/out.md", "file:/home/me/out.md"),
            ("a b/out.JSON", "file:/home/me/a b/out.JSON", "file:/home/me/a b/out.JSON"),
            ("file:out", "file:/home/me/out", "file:/home/me/out"),
            ("/tmp/out.html", "file:/tmp/out.html", "file:/tmp/out.html"),
            ("https://a.example", "https://a.example", "https://a.example/"),
            (
                "https://a.example:8443/x?k=s",
                "https://a.example:8443/\u{2026}",
                "https://a.example:8443/x?k=s",
            ),
            ("http://[::1]:80/x", "http://[::1]/\u{2026}", "http://[::1]/x"),
            (
                "slack:https://hooks.example/T/S",
                "slack:https://hooks.example/\u{2026}",
                "slack:https://hooks.example/T/S",
            ),
            (
                "discord:https://d.example/w/S",
                "discord:https://d.example/\u{2026}",
                "discord:https://d.example/w/S",
            ),
            ("command:notify", "command:notify", "command:notify"),
            (" ops-1 ", "ops-1", "ops-1"),
            ("HTTP://A.example/x", "http://a.example/\u{2026}", "http://a.example/x"),
            ("Https://a.example/", "https://a.example", "https://a.example/"),
            ("Slack:HTTPS://a.example/x", "slack:https://a.example/\u{2026}", "slack:https://a.example/x"),
            ("FILE:out.md", "file:/home/me/out.md", "file:/home/me/out.md"),
        ] {
            let destination = parse(text).unwrap();
            assert_eq!(
                (destination.to_string(), destination.stored()),
                (shown.into(), stored.into()),
                "{text}"
            );
            assert_eq!(format!("{destination:?}"), format!("Destination({shown})"));
            assert_eq!(super::shown(stored), shown);
            assert_eq!(Destination::read(stored), Ok(destination.clone()), "{text}, again");
            let json = serde_json::to_string(&destination).unwrap();
            assert_eq!(serde_json::from_str::<Destination>(&json).unwrap(), destination, "{json}");
        }
    }

    #[test]
    fn what_is_no_destination_is_refused_without_repeating_it() {
        for (text, named) in [
            ("", "a destination is"),
            ("out.docx", "a destination is"),
            ("ftp://secret.example/out.json", "a destination is"),
            ("slak:https://secret.example/", "a destination is"),
            ("two words", "a destination is"),
            ("file:", "a file has a name"),
            ("file:secret/", "a file has a name"),
            ("file:..", "a file has a name"),
            ("slack:secret", "an address begins with http"),
            ("slack:ftp://secret.example", "an address begins with http"),
            ("discord:", "an address begins with http"),
            ("https://", "an address begins with http"),
            ("https://me:secret@a.example/", "secret_env"),
            ("command:", "command:NAME"),
            ("command:a b", "command:NAME"),
            ("hook:secret/x", "hook:NAME"),
            ("hook:secret", "a hook is not sent to by hand: write [[hooks]]"),
            (" HOOK:secret", "a hook is not sent to by hand"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(named), "{text}: {why}");
            assert!(!why.replace("secret_env", "").contains("secret"), "{why}");
            assert!(text.to_lowercase().contains("hook:") || !shown(text).contains("secret"), "{text}");
        }
    }

    /// "Everything printed of a destination or a file name is free of control characters", and what is kept is not changed.
    #[test]
    fn a_name_is_shown_without_what_a_terminal_would_obey() {
        let text = "file:a\u{1b}[2J\n\u{202e}b.md";
        let destination = parse(text).unwrap();
        assert_eq!(destination.to_string(), "file:/home/me/a\u{fffd}[2J\u{fffd}\u{fffd}b.md");
        assert_eq!(shown(&destination.stored()), destination.to_string());
        assert_eq!(Destination::read(&destination.stored()), Ok(destination));
        for made in [Destination::Named("a\u{7}".into()), Destination::Command("a\u{7}".into())] {
            assert!(!made.to_string().contains('\u{7}') && !format!("{made:?}").contains('\u{7}'));
        }
    }

    /// `parse` is for people, `read` for the outbox.
    #[test]
    fn a_hook_is_read_from_the_outbox_alone() {
        let hook = Destination::Hook("1f2e".into());
        assert!(parse("hook:1f2e").is_err());
        assert_eq!((hook.stored().as_str(), Destination::read("hook:1f2e")), ("hook:1f2e", Ok(hook.clone())));
        assert_eq!((shown("hook:1f2e"), hook.to_string()), ("hook:1f2e".into(), "hook:1f2e".into()));
    }

    proptest! {
        /// "Display never shows a secret"
        #[test]
        fn nothing_after_the_host_is_shown(path in "[a-zA-Z0-9/]{0,30}", query in "[a-z0-9=&]{0,30}") {
            for kind in ["", "slack:", "discord:"] {
                let text = format!("{kind}https://a.example/SESAME{path}?SESAME{query}");
                let destination = parse(&text).unwrap();
                let told = format!("{destination} {destination:?} {}", shown(&text));
                prop_assert!(!told.contains("SESAME"), "{told}");
                prop_assert!(destination.stored().contains("SESAME"));
            }
        }
    }
}
