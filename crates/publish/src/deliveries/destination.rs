//! Where an outcome can go, as a person writes it.

use std::fmt;
use std::path::{Path, PathBuf};

use agon_core::Invalid;
use agon_host::visible_text;
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an outcome goes. When it is displayed, only the host of an address is shown, because the rest may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Destination {
    /// A file, in the format of its extension.
    File(PathBuf),
    /// A server that receives the outcome.
    Callback(WebAddress),
    /// The webhook of a Slack channel.
    Slack(WebAddress),
    /// The webhook of a Discord channel.
    Discord(WebAddress),
    /// A program: a `[destinations.NAME]` with a command.
    Command(String),
    /// Whatever `[destinations.NAME]` says.
    Named(String),
    /// One of the `[[hooks]]`, by its [key](super::HookConfig::key).
    Hook(String),
}

/// An `http` or `https` address. What follows the host may be a secret and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct WebAddress(Url);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportFormat {
    /// The outcome as JSON.
    #[default]
    Json,
    /// Markdown; `md` for short.
    #[serde(alias = "md")]
    Markdown,
    /// A complete HTML page.
    Html,
    /// The outcome as YAML.
    Yaml,
    /// Plain text; `txt` for short.
    #[serde(alias = "txt")]
    Text,
}

/// File extensions and their formats. The first extension of a format is the usual one.
const EXTENSIONS: &[(&str, ReportFormat)] = &[
    ("json", ReportFormat::Json),
    ("md", ReportFormat::Markdown),
    ("markdown", ReportFormat::Markdown),
    ("html", ReportFormat::Html),
    ("htm", ReportFormat::Html),
    ("yaml", ReportFormat::Yaml),
    ("yml", ReportFormat::Yaml),
    ("txt", ReportFormat::Text),
];

impl ReportFormat {
    /// The format of a file, by its extension.
    pub fn of_file(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, format)| *format)
    }

    /// The usual extension of a file in this format.
    pub fn extension(self) -> &'static str {
        EXTENSIONS.iter().find(|(_, format)| *format == self).map_or("json", |(extension, _)| extension)
    }
}

impl Destination {
    /// Parses what a person wrote. Relative paths start at `folder`, because the delivery may be made from elsewhere.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Invalid> {
        match Self::read(text.trim())? {
            Self::Hook(_) => Err(Invalid(
                "you cannot send to a hook: write [[hooks]] into agon.toml, and it runs after its debates"
                    .into(),
            )),
            Self::File(path) => Ok(Self::File(folder.join(path))),
            other => Ok(other),
        }
    }

    /// Parses what [`stored`](Self::stored) wrote.
    pub fn read(text: &str) -> Result<Self, Invalid> {
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        match kind.to_ascii_lowercase().as_str() {
            "file" => parse_path(rest).map(Self::File),
            "http" | "https" => WebAddress::parse(text).map(Self::Callback),
            "slack" => WebAddress::parse(rest).map(Self::Slack),
            "discord" => WebAddress::parse(rest).map(Self::Discord),
            "command" => parse_name("command", rest).map(Self::Command),
            "hook" => parse_name("hook", rest).map(Self::Hook),
            _ if text.contains("://") => Err(unknown_destination()),
            _ if ReportFormat::of_file(Path::new(text)).is_some() => parse_path(text).map(Self::File),
            _ if is_section_name(text) => Ok(Self::Named(text.to_owned())),
            _ => Err(unknown_destination()),
        }
    }

    /// The whole destination, for the outbox. It may contain a secret, so do not show it.
    pub fn stored(&self) -> String {
        match self {
            Self::Callback(address) => address.0.to_string(),
            Self::Slack(address) => format!("slack:{}", address.0),
            Self::Discord(address) => format!("discord:{}", address.0),
            Self::File(path) => format!("file:{}", path.display()),
            Self::Command(name) => format!("command:{name}"),
            Self::Named(name) => name.clone(),
            Self::Hook(key) => format!("hook:{key}"),
        }
    }
}

/// A stored destination without its secrets.
pub fn shown_destination(stored: &str) -> String {
    Destination::read(stored).map_or_else(
        |_| "a destination that cannot be read".to_owned(),
        |destination| destination.to_string(),
    )
}

/// A path that is safe to print.
pub(super) fn shown_path(path: &Path) -> String {
    visible_text(&path.to_string_lossy())
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", shown_path(path)),
            Self::Callback(address) => address.fmt(f),
            Self::Slack(address) => write!(f, "slack:{address}"),
            Self::Discord(address) => write!(f, "discord:{address}"),
            Self::Command(name) => write!(f, "command:{}", visible_text(name)),
            Self::Named(name) => f.write_str(&visible_text(name)),
            Self::Hook(key) => write!(f, "hook:{}", visible_text(key)),
        }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Destination({self})")
    }
}

impl WebAddress {
    /// Parses an address that begins with `http://` or `https://`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let want = "an address begins with http:// or https:// and names a host";
        let url = Url::parse(text).map_err(|why| Invalid(format!("{want} ({why})")))?;
        match url.scheme() {
            "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
                Err(Invalid("an address may not contain a user name or a password: use secret_env".into()))
            }
            "http" | "https" if url.has_host() => Ok(Self(url)),
            _ => Err(Invalid(want.into())),
        }
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = if self.0.path() == "/" && self.0.query().is_none() { "" } else { "/\u{2026}" };
        write!(f, "{}{rest}", self.0.origin().ascii_serialization())
    }
}

impl fmt::Debug for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebAddress({self})")
    }
}

fn parse_path(text: &str) -> Result<PathBuf, Invalid> {
    let path = Path::new(text);
    if path.file_name().is_none() || text.ends_with(['/', '\\']) || text.contains('\0') {
        return Err(Invalid("a file needs a name, as in file:results/outcome.md".into()));
    }
    Ok(path.to_owned())
}

fn parse_name(kind: &str, text: &str) -> Result<String, Invalid> {
    match is_section_name(text) {
        true => Ok(text.to_owned()),
        false => Err(Invalid(format!("in {kind}:NAME, the name has letters, digits, `-` and `_` only"))),
    }
}

/// Whether this can be the name of a section. It has no dot, so it cannot be confused with a file.
pub(super) fn is_section_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.chars().all(plain)
}

/// The error does not repeat the text, which may contain a secret.
fn unknown_destination() -> Invalid {
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
    fn destinations_are_shown_without_their_secret_and_stored_with_it() {
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
            ("Slack:HTTPS://a.example/x", "slack:https://a.example/\u{2026}", "slack:https://a.example/x"),
            ("FILE:out.md", "file:/home/me/out.md", "file:/home/me/out.md"),
        ] {
            let destination = parse(text).unwrap();
            assert_eq!(
                (destination.to_string().as_str(), destination.stored().as_str()),
                (shown, stored),
                "{text}"
            );
            assert_eq!(format!("{destination:?}"), format!("Destination({shown})"));
            assert_eq!(shown_destination(stored), shown);
            assert_eq!(Destination::read(stored), Ok(destination.clone()), "{text}");
        }
    }

    #[test]
    fn an_invalid_destination_is_refused_without_repeating_it() {
        for (text, part) in [
            ("", "a destination is"),
            ("out.docx", "a destination is"),
            ("ftp://secret.example/out.json", "a destination is"),
            ("slak:https://secret.example/", "a destination is"),
            ("two words", "a destination is"),
            ("file:", "a file needs a name"),
            ("file:secret/", "a file needs a name"),
            ("file:..", "a file needs a name"),
            ("slack:secret", "an address begins with http"),
            ("slack:ftp://secret.example", "an address begins with http"),
            ("discord:", "an address begins with http"),
            ("https://", "an address begins with http"),
            ("https://me:secret@a.example/", "secret_env"),
            ("command:", "command:NAME"),
            ("command:a b", "command:NAME"),
            ("hook:secret/x", "hook:NAME"),
            ("hook:secret", "you cannot send to a hook: write [[hooks]]"),
            (" HOOK:secret", "you cannot send to a hook"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
            assert!(!why.replace("secret_env", "").contains("secret"), "{why}");
            let is_hook = text.to_lowercase().contains("hook:");
            assert!(is_hook || !shown_destination(text).contains("secret"), "{text}");
        }
    }

    #[test]
    fn control_characters_are_not_shown_but_kept() {
        let destination = parse("file:a\u{1b}[2J\n\u{202e}b.md").unwrap();
        assert_eq!(destination.to_string(), "file:/home/me/a\u{fffd}[2J\u{fffd}\u{fffd}b.md");
        assert_eq!(shown_destination(&destination.stored()), destination.to_string());
        assert_eq!(Destination::read(&destination.stored()), Ok(destination));
        for made in [Destination::Named("a\u{7}".into()), Destination::Command("a\u{7}".into())] {
            assert!(!made.to_string().contains('\u{7}') && !format!("{made:?}").contains('\u{7}'));
        }
    }

    #[test]
    fn a_hook_is_accepted_from_the_outbox_but_not_from_a_person() {
        let hook = Destination::Hook("1f2e".into());
        assert!(parse("hook:1f2e").is_err());
        assert_eq!((hook.stored().as_str(), Destination::read("hook:1f2e")), ("hook:1f2e", Ok(hook.clone())));
        assert_eq!(
            (shown_destination("hook:1f2e"), hook.to_string()),
            ("hook:1f2e".into(), "hook:1f2e".into())
        );
    }

    proptest! {
        #[test]
        fn nothing_after_the_host_is_shown(path in "[a-zA-Z0-9/]{0,30}", query in "[a-z0-9=&]{0,30}") {
            for kind in ["", "slack:", "discord:"] {
                let text = format!("{kind}https://a.example/SESAME{path}?SESAME{query}");
                let destination = parse(&text).unwrap();
                let shown = format!("{destination} {destination:?} {}", shown_destination(&text));
                prop_assert!(!shown.contains("SESAME"), "{shown}");
                prop_assert!(destination.stored().contains("SESAME"));
            }
        }
    }
}
