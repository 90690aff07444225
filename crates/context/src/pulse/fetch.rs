//! Gets the bytes of a source: never more than `max_bytes`, and never from a place that a stranger chose.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use agon_engine::CallFaultKind;
use agon_host::{BodyError, BoundedBody, innermost_reason, visible_text};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};

use super::PulseFault;
use super::documents::PulseDocument;
use crate::errands::shorten;

const REDIRECTS_MAX: usize = 5;
const SCHEME_CHARS_MAX: usize = 20;
const ACCEPTED_TYPES: &str = "application/rss+xml, application/atom+xml, application/feed+json, application/json, application/xml;q=0.9, text/markdown;q=0.8, text/plain;q=0.8, */*;q=0.5";

/// Builds the client for an address. Runs on a blocking thread because it reads the system's certificates.
pub(super) async fn client_for(url: &Url) -> Result<Client, PulseFault> {
    let url = url.clone();
    let build = tokio::task::spawn_blocking(move || {
        agon_host::install_tls();
        let mut builder = Client::builder()
            .redirect(Policy::custom(redirect))
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "http" {
            // Redirects to https:// are refused, so no certificates are needed.
            builder = builder.http1_only().tls_certs_only([]);
        }
        if url.host_str().is_some_and(is_this_machine) {
            // The environment's proxy is for other machines.
            builder = builder.no_proxy();
        }
        builder.build().map_err(|why| innermost_reason(&why))
    });
    let client = build.await.unwrap_or_else(|_| Err("the thread failed".into()));
    client.map_err(|why| PulseFault::permanent(format!("cannot be asked: no HTTP client ({why})")))
}

pub(super) async fn fetch_url(
    client: &Client,
    url: &Url,
    key: Option<&SecretString>,
    bytes_max: u64,
) -> Result<PulseDocument, PulseFault> {
    let mut request = client.get(url.clone()).header(ACCEPT, ACCEPTED_TYPES);
    if let Some(key) = key {
        request = request.bearer_auth(key.expose_secret());
    }
    let response = request.send().await.map_err(|why| {
        if why.is_redirect() {
            return PulseFault::permanent("redirects to an invalid address: set url to the final address");
        }
        PulseFault::temporary(format!("cannot be reached ({})", innermost_reason(&why)))
    })?;
    check_status(&response, url)?;
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let bytes = read_body(response, bytes_max).await?;
    Ok(PulseDocument { bytes, content_type })
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
        _ => PulseFault::temporary(format!("cannot read {shown} ({why})")),
    };
    // Reading a pipe or a terminal might never end.
    if !std::fs::metadata(path).map_err(fault)?.is_file() {
        return Err(PulseFault::permanent(format!("has {shown}, which is not a regular file: correct file")));
    }
    let mut bytes = Vec::new();
    let one_more = bytes_max.saturating_add(1);
    File::open(path).map_err(fault)?.take(one_more).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

/// Follows a redirect if it is allowed. Otherwise the redirect itself is the response, and `check_status` reports it.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let allowed = match attempt.previous().first() {
        Some(first) => redirect_problem(first, attempt.url()).is_none(),
        None => false,
    };
    if allowed && attempt.previous().len() <= REDIRECTS_MAX { attempt.follow() } else { attempt.stop() }
}

/// Why a source may not redirect from one address to another, or `None` if it may.
fn redirect_problem(from: &Url, to: &Url) -> Option<String> {
    if from.scheme() != to.scheme() {
        // The server chooses this text, so it is bounded.
        let (from, mut to) = (from.scheme(), to.scheme().to_owned());
        shorten(&mut to, SCHEME_CHARS_MAX);
        return Some(format!("redirects from {from}:// to {to}://: set url to the final address"));
    }
    // Otherwise a stranger could make this machine send requests to its neighbours.
    let is_private = |url: &Url| url.host_str().is_some_and(is_private_host);
    (is_private(to) && !is_private(from))
        .then(|| "redirects from a public address into the private network".into())
}

fn check_status(response: &Response, asked: &Url) -> Result<(), PulseFault> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let to = location.and_then(|to| response.url().join(to).ok());
        let problem = to.and_then(|to| redirect_problem(asked, &to));
        return Err(PulseFault::permanent(
            problem
                .unwrap_or_else(|| format!("redirects without reaching an end (HTTP {})", status.as_u16())),
        ));
    }
    Err(status_fault(status, response))
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

pub(super) fn is_this_machine(host: &str) -> bool {
    host == "localhost" || ip_address(host).is_some_and(|address| address.is_loopback())
}

/// Whether a host is this machine or in a network that strangers cannot reach.
fn is_private_host(host: &str) -> bool {
    is_this_machine(host)
        || ip_address(host).is_some_and(|address| match address {
            IpAddr::V4(v4) => v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
            IpAddr::V6(v6) => {
                v6.is_unique_local()
                    || v6.is_unicast_link_local()
                    || v6.is_unspecified()
                    || v6.to_ipv4_mapped().is_some_and(|v4| is_private_host(&v4.to_string()))
            }
        })
}

fn ip_address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
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
            ("http://10.0.0.7/", "http://10.0.0.8/", true),
        ] {
            let (from, to) = (Url::parse(from).unwrap(), Url::parse(to).unwrap());
            assert_eq!(redirect_problem(&from, &to).is_none(), allowed, "{from} to {to}");
        }
    }
}
