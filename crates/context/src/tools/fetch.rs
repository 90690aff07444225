//! `fetch`: gets a page from a host that the user allows.
//!
//! The names of hosts are resolved here, and the connection goes to an address that was checked. Private, loopback and link-local
//! addresses are refused unless the address itself is allowed. Each redirect is checked in the same way.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Invalid, ToolOffer};
use agon_host::{BodyError, BoundedBody, innermost_reason, visible_text};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, Url};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{LookupRequest, LookupResult, LookupTool, ToolsConfig, add_lines, short_lines};
use crate::public_addresses::{checked_client, host_of, ip_address, is_public};
use crate::pulse::documents::decode;
use crate::pulse::html_text::page_text;

/// Its name.
pub const NAME: &str = "fetch";
const TIMEOUT: Duration = Duration::from_secs(20);
const REDIRECTS_MAX: usize = 5;
/// A longer answer is not read.
const BODY_BYTES_MAX: usize = 2 << 20;
const URL_BYTES_MAX: usize = 2_000;
const ACCEPTED_TYPES: &str =
    "text/html, text/plain, text/markdown, application/json, application/xml;q=0.9, text/*;q=0.8";

/// Gets pages from hosts that the user allows.
#[derive(Debug)]
pub struct FetchTool {
    hosts: Arc<AllowedHosts>,
    client: OnceCell<Client>,
}

impl FetchTool {
    /// The tool with the hosts of the configuration.
    pub fn new(config: &ToolsConfig) -> Result<Self, Invalid> {
        let allow = config.get(NAME).map_or(&[][..], |config| &config.allow);
        if allow.is_empty() {
            return Err(Invalid::new(
                "the tool fetch reaches no host yet: add [tools.fetch] with allow = [\"docs.example.org\"] to your agon.toml",
            ));
        }
        let hosts = allow.iter().map(|entry| AllowedHost::parse(entry)).collect::<Result<_, _>>()?;
        Ok(Self { hosts: Arc::new(AllowedHosts(hosts)), client: OnceCell::new() })
    }

    /// What seats are told of it.
    pub fn offer(&self) -> ToolOffer {
        let hosts: Vec<&str> = self.hosts.0.iter().map(|host| host.written.as_str()).collect();
        ToolOffer {
            name: NAME.to_owned(),
            about: format!("Gets the text of a page. These hosts can be reached: {}.", hosts.join(", ")),
            arguments: json!({
                "type": "object",
                "properties": {"url": {"type": "string", "description": "an address with http:// or https://"}},
                "required": ["url"],
            }),
        }
    }

    async fn connect(&self) -> Result<Client, String> {
        let hosts = Arc::clone(&self.hosts);
        checked_client(move |host, address| hosts.may_reach(host, address)).await
    }

    async fn serve(&self, arguments: &Value, bytes_max: usize) -> Result<LookupResult, String> {
        let url = arguments.get("url").and_then(Value::as_str).ok_or("the arguments need a `url`")?;
        let mut url = parse_url(url)?;
        for _ in 0..=REDIRECTS_MAX {
            self.hosts.check(&url)?;
            let client = self.client.get_or_try_init(|| self.connect()).await?;
            let request = client.get(url.clone()).header(ACCEPT, ACCEPTED_TYPES);
            let response = request.send().await.map_err(|why| network_reason(&why))?;
            let status = response.status();
            if !status.is_redirection() {
                return match status.is_success() {
                    true => page(response, &url, bytes_max).await,
                    false => Err(format!("{} answers with HTTP {}", shown(&url), status.as_u16())),
                };
            }
            let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = location.and_then(|to| url.join(to).ok());
            let to = to.ok_or_else(|| format!("{} redirects to no valid address", shown(&url)))?;
            if url.scheme() == "https" && to.scheme() != "https" {
                return Err(format!(
                    "{} redirects from https:// to {}://",
                    shown(&url),
                    shown_text(to.scheme())
                ));
            }
            url = to;
        }
        Err(format!("{} redirects more than {REDIRECTS_MAX} times", shown(&url)))
    }
}

impl LookupTool for FetchTool {
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn look_up(&self, request: LookupRequest) -> BoxFuture<'_, Result<LookupResult, String>> {
        async move { self.serve(&request.arguments, request.bytes_max).await }.boxed()
    }
}

fn parse_url(url: &str) -> Result<Url, String> {
    let problem = |what: &str| Err(format!("{:?} {what}", shown_text(url)));
    if url.len() > URL_BYTES_MAX {
        return problem("is too long");
    }
    match Url::parse(url.trim()) {
        Err(_) => problem("is no address: write https://HOST/PATH"),
        Ok(url) => Ok(url),
    }
}

/// The text of a page. Of a long one, the beginning, and the source says so.
async fn page(response: Response, url: &Url, bytes_max: usize) -> Result<LookupResult, String> {
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or("text/plain").to_ascii_lowercase();
    let is_text = ["text/", "json", "xml", "javascript"].iter().any(|known| content_type.contains(known));
    if !is_text {
        return Err(format!("{} is not a text, but {:?}", shown(url), shown_text(&content_type)));
    }
    let body = BoundedBody::new(response, BODY_BYTES_MAX).whole().await.map_err(|error| match error {
        BodyError::TooLong => format!("{} has more than {} MB", shown(url), BODY_BYTES_MAX >> 20),
        BodyError::Network(why) => format!("{} broke off ({})", shown(url), innermost_reason(&why)),
    })?;
    let text = decode(&body, Some(&content_type)).map_err(|why| format!("{} {why}", shown(url)))?;
    let is_page = content_type.contains("html");
    let text = if is_page { page_text(&text) } else { text.trim_end().to_owned() };
    if text.trim().is_empty() {
        return Err(format!("{} has no text", shown(url)));
    }
    let (lines, mut shown_part) = (text.lines().flat_map(short_lines), String::new());
    add_lines(&mut shown_part, lines, bytes_max);
    let part = match shown_part.len() < text.len() {
        true => format!(", the first {} of {} characters", shown_part.chars().count(), text.chars().count()),
        false => String::new(),
    };
    Ok(LookupResult { source: format!("{}{part}", shown(url)), text: shown_part })
}

fn network_reason(why: &reqwest::Error) -> String {
    format!("the page cannot be reached ({})", innermost_reason(why))
}

fn shown(url: &Url) -> String {
    shown_text(url.as_str())
}

/// What a stranger chose, in a bounded length.
fn shown_text(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    let mut text = visible_text(text);
    crate::errands::shorten(&mut text, CHARS_MAX);
    text
}

/// Refuses entries of `allow` that name no host.
pub(super) fn check_hosts(allow: &[String]) -> Result<(), Invalid> {
    allow.iter().try_for_each(|entry| AllowedHost::parse(entry).map(drop))
}

/// The hosts that the user allows.
#[derive(Debug)]
struct AllowedHosts(Vec<AllowedHost>);

/// One entry of `allow`.
#[derive(Debug)]
struct AllowedHost {
    written: String,
    /// Without the `*.` of an entry that means all hosts below it.
    host: String,
    has_subdomains: bool,
    /// Any port if none is written.
    port: Option<u16>,
}

impl AllowedHost {
    fn parse(entry: &str) -> Result<Self, Invalid> {
        let wrong = || {
            Invalid(format!(
                "[tools.fetch]: allow has {:?}, which is no host: write docs.example.org, *.example.org or 127.0.0.1:8080",
                visible_text(entry)
            ))
        };
        let (has_subdomains, rest) = entry.strip_prefix("*.").map_or((false, entry), |rest| (true, rest));
        // The library that reads addresses decides what a host is, so that both are written in the same way.
        let url = Url::parse(&format!("http://{rest}/")).map_err(|_| wrong())?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?.to_ascii_lowercase();
        let is_bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty();
        let is_named = !rest.contains(['/', '*'])
            && (!has_subdomains || host.contains('.') && ip_address(&host).is_none());
        if !is_bare || !is_named {
            return Err(wrong());
        }
        // The library leaves out the port that http:// has anyway.
        let written_port = rest.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = url.port().or(written_port.filter(|_| !rest.ends_with(']')));
        Ok(Self { written: entry.to_owned(), host, has_subdomains, port })
    }

    fn fits(&self, host: &str) -> bool {
        match self.has_subdomains {
            true => {
                host.strip_suffix(&self.host).is_some_and(|before| before.ends_with('.') && before.len() > 1)
            }
            false => host == self.host,
        }
    }
}

impl AllowedHosts {
    /// Refuses an address that is not on the web, or whose host is not allowed.
    fn check(&self, url: &Url) -> Result<(), String> {
        let refused = |what: &str| Err(format!("{} {what}", shown(url)));
        if !matches!(url.scheme(), "http" | "https") {
            return refused("is not on the web: only http:// and https:// are");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("has a user name in it");
        }
        let host = host_of(url);
        let port = url.port_or_known_default();
        let is_allowed =
            |entry: &AllowedHost| entry.fits(&host) && entry.port.is_none_or(|own| Some(own) == port);
        if !self.0.iter().any(is_allowed) {
            return refused("is at a host that the user does not allow");
        }
        // A name is checked when it is resolved.
        match ip_address(&host) {
            Some(address) if !self.may_reach(&host, address) => refused("is at a private address"),
            _ => Ok(()),
        }
    }

    /// Whether a connection may go to an address that a host has. A private address must itself be allowed.
    fn may_reach(&self, host: &str, address: IpAddr) -> bool {
        let is_itself = ip_address(host) == Some(address);
        let is_listed = |entry: &AllowedHost| {
            ip_address(&entry.host) == Some(address) && (is_itself || entry.port.is_none())
                || entry.host == "localhost" && host == "localhost" && address.is_loopback()
        };
        is_public(address) || self.0.iter().any(is_listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(allow: &[&str]) -> AllowedHosts {
        AllowedHosts(allow.iter().map(|entry| AllowedHost::parse(entry).unwrap()).collect())
    }

    #[test]
    fn only_listed_hosts_are_allowed_and_private_addresses_only_if_listed_themselves() {
        let hosts =
            hosts(&["docs.example.org", "*.rust.example", "127.0.0.1:8080", "[fd00::1]", "example.com:443"]);
        for (url, allowed) in [
            ("https://docs.example.org/a", true),
            ("http://DOCS.example.org./a", true),
            ("https://example.org/", false),
            ("https://docs.example.org.evil.test/", false),
            ("https://a.b.rust.example/", true),
            ("https://rust.example/", false),
            ("https://evilrust.example/", false),
            ("http://127.0.0.1:8080/", true),
            ("http://127.0.0.1/", false),
            ("http://127.0.0.2:8080/", false),
            ("http://2130706433:8080/", true),
            ("http://[fd00::1]/", true),
            ("http://[fd00::2]/", false),
            ("https://example.com/", true),
            ("http://example.com/", false),
            ("http://user@docs.example.org/", false),
            ("ftp://docs.example.org/", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(hosts.check(&Url::parse(url).unwrap()).is_ok(), allowed, "{url}");
        }
        for (host, address, reachable) in [
            ("docs.example.org", "8.8.8.8", true),
            ("docs.example.org", "127.0.0.1", false),
            ("docs.example.org", "fd00::1", true),
            ("docs.example.org", "10.0.0.1", false),
            ("localhost", "::1", false),
        ] {
            assert_eq!(hosts.may_reach(host, address.parse().unwrap()), reachable, "{host} {address}");
        }
    }

    #[test]
    fn an_entry_that_is_no_host_is_refused() {
        for entry in [
            "",
            "*",
            "*.com:x",
            "https://a.example",
            "a.example/path",
            "*.127.0.0.1",
            "a b",
            "user@a.example",
        ] {
            assert!(AllowedHost::parse(entry).is_err(), "{entry}");
        }
    }
}
