//! A result as an HTTP call.

use std::error::Error as _;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, Response, StatusCode};
use tokio::sync::OnceCell;

use super::mask::masked;
use super::{one_line, retry_after};
use crate::deliveries::courier::Carried;
use crate::deliveries::destination::Address;

/// Headers beside the usual ones.
pub(crate) type Headers = Vec<(&'static str, String)>;

/// What is read of an answer: nobody needs it, but a server that breaks off in it has not answered.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
const REDIRECTS_MAX: usize = 3;

/// The HTTP clients, made when first used: reading the system's certificates takes long, and `http://` needs none of them.
#[derive(Debug, Default)]
pub(crate) struct Post {
    plain: OnceCell<Client>,
    secure: OnceCell<Client>,
}

impl Post {
    /// Sends the body, which is JSON, at `now_s`.
    pub(crate) async fn send(
        &self,
        address: &Address,
        headers: Headers,
        body: Vec<u8>,
        now_s: i64,
    ) -> Carried {
        let plain = address.url().scheme() == "http";
        let cell = if plain { &self.plain } else { &self.secure };
        let client = match cell.get_or_try_init(|| client(plain)).await {
            Ok(client) => client,
            Err(why) => return Carried::later(why),
        };
        let mut request =
            client.post(address.url().clone()).header(CONTENT_TYPE, "application/json").body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(response) => judged(response, address, now_s).await,
            Err(why) if why.is_builder() => {
                Carried::Dead { why: format!("it cannot be sent ({})", reason(&why, address)) }
            }
            Err(why) => Carried::later(format!("{address} cannot be reached ({})", reason(&why, address))),
        }
    }
}

async fn client(plain: bool) -> Result<Client, String> {
    let made = tokio::task::spawn_blocking(move || {
        let mut builder = Client::builder()
            .redirect(Policy::custom(follow))
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
        if plain {
            // Plain servers are local ones: a proxy of the environment is not meant for them.
            builder = builder.http1_only().no_proxy().tls_certs_only([]);
        }
        builder.build()
    });
    match made.await {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(why)) => Err(format!("the HTTP client cannot be made ({})", deepest(&why))),
        Err(_) => Err("the HTTP client cannot be made".into()),
    }
}

/// Goes on only where the body stays a body and the host the same: a debate is not for where nobody sent it.
fn follow(attempt: Attempt<'_>) -> Action {
    let kept = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    let near = attempt.previous().len() <= REDIRECTS_MAX;
    if kept && same && near { attempt.follow() } else { attempt.stop() }
}

async fn judged(response: Response, address: &Address, now_s: i64) -> Carried {
    let status = response.status();
    let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
    let now_s = u64::try_from(now_s).unwrap_or_default();
    let retry_after = wait.and_then(|wait| retry_after::parse(wait, now_s));
    let answer = answer(response, address).await;
    if status.is_success() {
        return match answer {
            Ok(_) => Carried::Done { note: None },
            Err(why) => Carried::later(format!("{address} broke off in its answer ({why})")),
        };
    }
    let code = status.as_u16();
    let said = one_line(&masked(&answer.unwrap_or_default(), address));
    let said = if said.is_empty() { said } else { format!(": {said}") };
    match code {
        300..=399 => Carried::Dead {
            why: format!(
                "{address} sends on to another place (HTTP {code}), where nobody sent this: write that address"
            ),
        },
        408 | 409 | 425 | 429 => {
            Carried::Later { why: format!("{address} does not take it now (HTTP {code}){said}"), retry_after }
        }
        400..=499 => Carried::Dead { why: format!("{address} refuses it (HTTP {code}){said}") },
        _ => Carried::Later { why: format!("{address} failed (HTTP {code}){said}"), retry_after },
    }
}

/// The beginning of an answer.
async fn answer(mut response: Response, address: &Address) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|why| reason(&why, address))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= ANSWER_BYTES_MAX {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Why an address was not reached.
fn reason(error: &reqwest::Error, address: &Address) -> String {
    masked(&deepest(error), address)
}

/// The innermost reason: the outer ones name the address, which may hold a secret, and say little.
fn deepest(error: &reqwest::Error) -> String {
    let mut reason = error.source();
    while let Some(inner) = reason.and_then(|reason| reason.source()) {
        reason = Some(inner);
    }
    one_line(&reason.map_or_else(|| "no reason is given".to_owned(), ToString::to_string))
}
