//! Brings the bytes of a source: never more than are wanted, never from where nobody sent us.

use std::error::Error as _;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use agon_engine::FaultKind;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};

use super::config::{is_here, is_inside};
use super::plain::{plain, visible};
use super::{Fetched, Trouble};

const REDIRECTS_MAX: usize = 5;
const ACCEPTED: &str = "application/rss+xml, application/atom+xml, application/feed+json, application/json, application/xml;q=0.9, text/markdown;q=0.8, text/plain;q=0.8, */*;q=0.5";

/// The client for an address, made on a thread where reading the system's certificates holds nobody.
pub(super) async fn client(url: &Url) -> Result<Client, Trouble> {
    let url = url.clone();
    let made = tokio::task::spawn_blocking(move || {
        let mut builder = Client::builder()
            .redirect(Policy::custom(follow))
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "http" {
            // It never comes to need them, for it does not leave its scheme.
            builder = builder.http1_only().tls_certs_only([]);
        }
        if url.host_str().is_some_and(is_here) {
            // A proxy of the environment is not meant for this machine.
            builder = builder.no_proxy();
        }
        builder.build()
    });
    let made =
        made.await.map_err(|_| Trouble::hopeless("cannot be asked: the HTTP client cannot be made"))?;
    made.map_err(|why| {
        Trouble::hopeless(format!("cannot be asked: the HTTP client cannot be made ({})", deepest(&why)))
    })
}

/// What an address gives.
pub(super) async fn address(
    client: &Client,
    url: &Url,
    key: Option<&SecretString>,
    bytes_max: u64,
) -> Result<Fetched, Trouble> {
    let mut request = client.get(url.clone()).header(ACCEPT, ACCEPTED);
    if let Some(key) = key {
        request = request.bearer_auth(key.expose_secret());
    }
    let response = request.send().await.map_err(|why| unreached(&why))?;
    usable(&response, url)?;
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let bytes = body(response, bytes_max).await?;
    Ok(Fetched { bytes, content_type })
}

/// What is in a file.
pub(super) async fn file(path: &Path, bytes_max: u64) -> Result<Fetched, Trouble> {
    let content_type = is_named_text(path).then(|| "text/markdown".to_owned());
    let path = path.to_owned();
    let read = tokio::task::spawn_blocking(move || bytes_of(&path, bytes_max)).await;
    let bytes = read.unwrap_or_else(|_| Err(Trouble::hopeless("cannot be read")))?;
    Ok(Fetched { bytes, content_type })
}

/// Whether a file's name says that it is a text, plain or in Markdown, which is a text too.
fn is_named_text(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["md", "markdown", "txt", "text"].iter().any(|known| known.eq_ignore_ascii_case(ending))
}

fn bytes_of(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Trouble> {
    let shown = visible(&path.to_string_lossy());
    let unread = |why: std::io::Error| match why.kind() {
        ErrorKind::NotFound => Trouble::hopeless(format!("has no file {shown}: set file to where it is")),
        ErrorKind::PermissionDenied => {
            Trouble::hopeless(format!("may not read {shown}: give yourself access"))
        }
        _ => Trouble::passing(format!("cannot read {shown} ({why})")),
    };
    // A pipe or a terminal would be waited for without end.
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(Trouble::hopeless(format!("names {shown}, which is no file: set file to one")));
    }
    let mut bytes = Vec::new();
    let more = bytes_max.saturating_add(1);
    File::open(path).map_err(unread)?.take(more).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

/// Goes on to where a server sends us, as long as it is the same kind of place. The answer itself tells where it was not.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let allowed = match attempt.previous().first() {
        Some(first) => barred(first, attempt.url()).is_none(),
        None => false,
    };
    if allowed && attempt.previous().len() <= REDIRECTS_MAX { attempt.follow() } else { attempt.stop() }
}

/// Why a source may not send us from one place to another, if it may not.
fn barred(from: &Url, to: &Url) -> Option<String> {
    let inside = |url: &Url| url.host_str().is_some_and(is_inside);
    if from.scheme() != to.scheme() {
        let scheme = plain(to.scheme(), 20);
        return Some(format!(
            "sends us from {}:// to {scheme}://: set url to the address that it means",
            from.scheme()
        ));
    }
    // Else a stranger could have this machine ask its neighbours.
    (inside(to) && !inside(from))
        .then(|| "sends us to an address inside this network, and is not in it".into())
}

fn usable(response: &Response, asked: &Url) -> Result<(), Trouble> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let to = location.and_then(|to| response.url().join(to).ok());
        let why = to.and_then(|to| barred(asked, &to));
        return Err(Trouble::hopeless(match why {
            Some(why) => why,
            None => format!("sends us from one place to the next without an end (HTTP {})", status.as_u16()),
        }));
    }
    Err(refusal(status, response))
}

fn refusal(status: StatusCode, response: &Response) -> Trouble {
    let code = status.as_u16();
    match code {
        401 | 403 => Trouble::hopeless(format!(
            "does not let us read it (HTTP {code}): set key_env to the variable that holds its key"
        )),
        404 | 410 => Trouble::hopeless(format!("is not there (HTTP {code}): set url to where it is")),
        429 => {
            let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
            let retry_after = wait.and_then(|wait| wait.trim().parse().ok()).map(Duration::from_secs);
            let why = format!("takes no more requests for now (HTTP {code})");
            Trouble { kind: FaultKind::RateLimited, why, retry_after }
        }
        408 | 425 | 500..=599 => Trouble::passing(format!("failed (HTTP {code})")),
        _ => Trouble::hopeless(format!("answers with HTTP {code} instead of its entries")),
    }
}

/// Reads a body up to the limit and not a byte further.
async fn body(mut response: Response, bytes_max: u64) -> Result<Vec<u8>, Trouble> {
    if response.content_length().is_some_and(|length| length > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let mut bytes = Vec::new();
    let broken =
        |why: reqwest::Error| Trouble::passing(format!("broke off in the middle ({})", deepest(&why)));
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if (bytes.len() + chunk.len()) as u64 > bytes_max {
            return Err(too_large(bytes_max));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn too_large(bytes_max: u64) -> Trouble {
    Trouble::hopeless(format!("has more than {bytes_max} bytes: set max_bytes if that is right"))
}

fn unreached(why: &reqwest::Error) -> Trouble {
    if why.is_redirect() {
        return Trouble::hopeless(
            "sends us to where nobody can be asked: set url to the address that it means",
        );
    }
    Trouble::passing(format!("cannot be reached ({})", deepest(why)))
}

/// The innermost reason: the outer ones name the address, which may hold a key, and say little.
fn deepest(error: &reqwest::Error) -> String {
    let mut reason = error.source();
    while let Some(inner) = reason.and_then(|reason| reason.source()) {
        reason = Some(inner);
    }
    plain(&reason.map_or_else(|| "no reason is given".to_owned(), ToString::to_string), 160)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source outside may not send this machine to its neighbours; one inside may.
    #[test]
    fn a_redirect_stays_in_its_scheme_and_out_of_this_network() {
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
            assert_eq!(barred(&from, &to).is_none(), allowed, "{from} to {to}");
        }
    }
}
