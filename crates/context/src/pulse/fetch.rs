//! Gets the bytes of a source: never more than `max_bytes`, and never from a place that a stranger chose.

use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use agon_engine::CallFaultKind;
use agon_host::{BodyError, BoundedBody, innermost_reason, open_regular_file, visible_text};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};

use super::PulseFault;
use super::documents::PulseDocument;
use crate::errands::shorten;
use crate::public_addresses::{checked_client, host_of, ip_address, is_public};

const REDIRECTS_MAX: usize = 5;
const SCHEME_CHARS_MAX: usize = 20;
const ACCEPTED_TYPES: &str = "application/rss+xml, application/atom+xml, application/feed+json, application/json, application/xml;q=0.9, text/markdown;q=0.8, text/plain;q=0.8, */*;q=0.5";

/// Builds the client for an address. Runs on a blocking thread because it reads the system's certificates.
pub(super) async fn client_for(url: &Url) -> Result<Client, PulseFault> {
    let url = url.clone();
    let build = tokio::task::spawn_blocking(move || {
        agon_host::install_tls();
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "http" {
            // Redirects to https:// are refused, so no certificates are needed.
            builder = builder.http1_only().tls_certs_only([]);
        }
        if is_this_machine(&host_of(&url)) {
            // The environment's proxy is for other machines.
            builder = builder.no_proxy();
        }
        builder.build().map_err(|why| innermost_reason(&why))
    });
    let client = build.await.unwrap_or_else(|_| Err("the thread failed".into()));
    client.map_err(|why| PulseFault::permanent(format!("cannot be asked: no HTTP client ({why})")))
}

/// Gets a source. It may redirect within its own host, which the user chose, and to public addresses. Its name may have another address by
/// then, so a private one must be the one that has just answered.
pub(super) async fn fetch_url(
    client: &Client,
    url: &Url,
    key: Option<&SecretString>,
    bytes_max: u64,
) -> Result<PulseDocument, PulseFault> {
    let mut response = send(client, url, key).await?;
    let mut redirects = 0;
    while let Some(to) = redirect_target(&response, url)? {
        redirects += 1;
        if redirects > REDIRECTS_MAX {
            let code = response.status().as_u16();
            return Err(PulseFault::permanent(format!("redirects without reaching an end (HTTP {code})")));
        }
        // The key is for the address that the user wrote.
        let key = key.filter(|_| to.origin() == url.origin());
        response = if is_proxied(&to, &Matcher::from_system()) {
            // Only to the same host: the proxy chooses the address.
            send(client, &to, key).await?
        } else {
            let (own, answered) = (host_of(url), response.remote_addr());
            let rule = move |host: &str, address| may_follow(host, address, &own, answered);
            let checked = checked_client(rule).await.map_err(PulseFault::temporary)?;
            send(&checked, &to, key).await?
        };
    }
    let status = response.status();
    if !status.is_success() {
        return Err(status_fault(status, &response));
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let bytes = read_body(response, bytes_max).await?;
    Ok(PulseDocument { bytes, content_type })
}

async fn send(client: &Client, url: &Url, key: Option<&SecretString>) -> Result<Response, PulseFault> {
    let mut request = client.get(url.clone()).header(ACCEPT, ACCEPTED_TYPES);
    if let Some(key) = key {
        request = request.bearer_auth(key.expose_secret());
    }
    request
        .send()
        .await
        .map_err(|why| PulseFault::temporary(format!("cannot be reached ({})", innermost_reason(&why))))
}

pub(super) async fn read_file(path: &Path, bytes_max: u64) -> Result<PulseDocument, PulseFault> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_text = ["md", "markdown", "txt", "text"].iter().any(|known| known.eq_ignore_ascii_case(extension));
    let path = path.to_owned();
    let bytes = tokio::task::spawn_blocking(move || read_file_blocking(&path, bytes_max)).await;
    let bytes = bytes.unwrap_or_else(|_| Err(PulseFault::permanent("cannot be read")))?;
    Ok(PulseDocument { bytes, content_type: is_text.then(|| "text/markdown".to_owned()) })
}

fn read_file_blocking(path: &Path, bytes_max: u64) -> Result<Vec<u8>, PulseFault> {
    let shown = visible_text(&path.to_string_lossy());
    let fault = |why: std::io::Error| match why.kind() {
        ErrorKind::NotFound => {
            PulseFault::permanent(format!("has no file {shown}: correct the path in file"))
        }
        ErrorKind::PermissionDenied => {
            PulseFault::permanent(format!("may not read {shown}: change the file's permissions"))
        }
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => {
            PulseFault::permanent(format!("has {shown}, which is not a regular file: correct file"))
        }
        _ => PulseFault::temporary(format!("cannot read {shown} ({why})")),
    };
    let mut bytes = Vec::new();
    let one_more = bytes_max.saturating_add(1);
    open_regular_file(path).map_err(fault)?.take(one_more).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

/// Where a response redirects to; `None` if it does not.
fn redirect_target(response: &Response, asked: &Url) -> Result<Option<Url>, PulseFault> {
    let status = response.status();
    if !status.is_redirection() {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    let to = location.and_then(|to| response.url().join(to).ok());
    let to = to.ok_or_else(|| {
        let code = status.as_u16();
        PulseFault::permanent(format!(
            "redirects to an invalid address (HTTP {code}): set url to the final address"
        ))
    })?;
    let problem = redirect_problem(asked, &to, is_proxied(&to, &Matcher::from_system()));
    problem.map_or(Ok(Some(to)), |why| Err(PulseFault::permanent(why)))
}

/// Why a source may not redirect from one address to another, or `None` if it may. A name of another host is checked when it is resolved.
fn redirect_problem(from: &Url, to: &Url, is_proxied: bool) -> Option<String> {
    if from.scheme() != to.scheme() {
        // The server chooses this text, so it is bounded.
        let (from, mut to) = (from.scheme(), to.scheme().to_owned());
        shorten(&mut to, SCHEME_CHARS_MAX);
        return Some(format!("redirects from {from}:// to {to}://: set url to the final address"));
    }
    // Otherwise a stranger could make this machine send requests to its neighbours.
    let host = host_of(to);
    let is_private = host == "localhost" || ip_address(&host).is_some_and(|address| !is_public(address));
    let is_other = host != host_of(from);
    match is_private {
        true if is_other => Some("redirects to a private address: set url to the final address".into()),
        // A proxy resolves the name itself, so nobody here would see a private address.
        false if is_other && is_proxied => {
            Some("redirects to another host, behind a proxy: set url to the final address".into())
        }
        _ => None,
    }
}

/// Whether a redirect may lead to an address of a host. `own` is the host of the source, and `answered` is what it answered from.
fn may_follow(host: &str, address: IpAddr, own: &str, answered: Option<SocketAddr>) -> bool {
    is_public(address) || (host == own && answered.is_some_and(|answered| answered.ip() == address))
}

/// Whether a request to an address goes through one of these proxies.
fn is_proxied(url: &Url, proxies: &Matcher) -> bool {
    let is_intercepted = |url| proxies.intercept(&url).is_some();
    !is_this_machine(&host_of(url)) && url.as_str().parse().is_ok_and(is_intercepted)
}

fn status_fault(status: StatusCode, response: &Response) -> PulseFault {
    let code = status.as_u16();
    match code {
        401 | 403 => PulseFault::permanent(format!(
            "denies access (HTTP {code}): set key_env to the variable that holds its key"
        )),
        404 | 410 => PulseFault::permanent(format!("does not exist (HTTP {code}): correct url")),
        429 => {
            let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let retry_after = seconds.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
            let reason = format!("accepts no more requests for now (HTTP {code})");
            PulseFault { kind: CallFaultKind::RateLimited, reason, retry_after }
        }
        408 | 425 | 500..=599 => PulseFault::temporary(format!("failed (HTTP {code})")),
        _ => PulseFault::permanent(format!("answers with HTTP {code}")),
    }
}

/// Reads a body and stops at the limit. The limit counts decompressed bytes.
async fn read_body(response: Response, bytes_max: u64) -> Result<Vec<u8>, PulseFault> {
    let bytes_max_here = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    BoundedBody::new(response, bytes_max_here).whole().await.map_err(|error| match error {
        BodyError::TooLong => too_large(bytes_max),
        BodyError::Network(why) => {
            PulseFault::temporary(format!("broke off in the middle ({})", innermost_reason(&why)))
        }
    })
}

fn too_large(bytes_max: u64) -> PulseFault {
    PulseFault::permanent(format!("has more than {bytes_max} bytes: increase max_bytes if that is expected"))
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || ip_address(host).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_its_scheme_and_does_not_enter_the_private_network() {
        for (from, to, allowed) in [
            ("https://a.example/", "https://b.example/feed", true),
            ("http://a.example/", "http://b.example/", true),
            ("http://a.example/", "https://a.example/", false),
            ("https://a.example/", "http://a.example/", false),
            ("http://a.example/", "http://127.0.0.1/", false),
            ("http://a.example/", "http://localhost/", false),
            ("http://a.example/", "http://169.254.169.254/latest", false),
            ("http://a.example/", "http://10.0.0.7/", false),
            ("http://a.example/", "http://192.168.1.1/", false),
            ("http://a.example/", "http://0.0.0.0/", false),
            ("http://a.example/", "http://[::1]/", false),
            ("http://a.example/", "http://[fd00::1]/", false),
            ("http://a.example/", "http://[::ffff:10.0.0.7]/", false),
            ("http://a.example/", "http://2130706433/", false),
            ("http://127.0.0.1:1/", "http://127.0.0.1:2/", true),
            ("http://10.0.0.7/", "http://10.0.0.8/", false),
            ("http://a.example/", "http://localhost./", false),
            ("http://a.example/", "http://100.64.0.1/", false),
            ("http://a.example/", "http://[64:ff9b::a00:7]/", false),
            ("http://a.example/", "http://[2002:a00:7::]/", false),
            ("http://wiki.internal/", "http://WIKI.internal./feed", true),
        ] {
            let (from, to) = (Url::parse(from).unwrap(), Url::parse(to).unwrap());
            assert_eq!(redirect_problem(&from, &to, false).is_none(), allowed, "{from} to {to}");
            let is_same = host_of(&from) == host_of(&to);
            assert_eq!(redirect_problem(&from, &to, true).is_none(), allowed && is_same, "{from} to {to}");
        }
    }

    /// Whoever owns a name can let it resolve to another address after the first answer.
    #[test]
    fn a_private_address_is_followed_only_if_it_has_just_answered() {
        let answered = Some("10.0.0.7:80".parse().unwrap());
        for (host, address, answered, allowed) in [
            ("feed.example", "1.1.1.1", None, true),
            ("feed.example", "127.0.0.1", None, false),
            ("feed.example", "127.0.0.1", answered, false),
            ("feed.example", "10.0.0.7", answered, true),
            ("other.example", "10.0.0.7", answered, false),
        ] {
            let found = may_follow(host, address.parse().unwrap(), "feed.example", answered);
            assert_eq!(found, allowed, "{host} at {address} after {answered:?}");
        }
    }

    #[test]
    fn a_proxy_is_for_the_hosts_that_the_environment_means() {
        let proxies = Matcher::builder().http("http://proxy.example:3128").no("wiki.internal").build();
        for (url, expected) in [
            ("http://a.example/", true),
            ("https://a.example/", false),
            ("http://wiki.internal/", false),
            ("http://127.0.0.1:1/", false),
        ] {
            assert_eq!(is_proxied(&Url::parse(url).unwrap(), &proxies), expected, "{url}");
        }
    }
}
