//! Sends JSON as an HTTP POST.

use agon_host::{BodyError, BoundedBody, innermost_reason};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, Response, StatusCode};
use tokio::sync::OnceCell;

use super::masking::mask_address;
use super::short_line;
use crate::deliveries::attempt::AttemptResult;
use crate::deliveries::destination::WebAddress;
use crate::deliveries::retry_policy::parse_retry_after;

/// How much of an answer is read. Its content does not matter, but a connection that breaks before its end is a failure.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
const REDIRECTS_MAX: usize = 3;

/// The HTTP clients, created on first use. Loading the system's certificates is slow, and `http://` does not need them.
#[derive(Debug, Default)]
pub(in crate::deliveries) struct HttpSender {
    plain: OnceCell<Client>,
    secure: OnceCell<Client>,
}

impl HttpSender {
    /// Posts a JSON body.
    pub(in crate::deliveries) async fn post(
        &self,
        address: &WebAddress,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
        now_s: i64,
    ) -> AttemptResult {
        let is_plain = address.url().scheme() == "http";
        let cell = if is_plain { &self.plain } else { &self.secure };
        let client = match cell.get_or_try_init(|| build_client(is_plain)).await {
            Ok(client) => client,
            Err(why) => return AttemptResult::retry(why),
        };
        let mut request =
            client.post(address.url().clone()).header(CONTENT_TYPE, "application/json").body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(response) => judge_response(response, address, now_s).await,
            Err(why) if why.is_builder() => {
                AttemptResult::Dead { why: format!("the request cannot be made ({})", reason(&why, address)) }
            }
            Err(why) => {
                AttemptResult::retry(format!("{address} cannot be reached ({})", reason(&why, address)))
            }
        }
    }
}

async fn build_client(is_plain: bool) -> Result<Client, String> {
    let built = tokio::task::spawn_blocking(move || {
        agon_host::install_tls();
        let mut builder = Client::builder()
            .redirect(Policy::custom(follow_redirect))
            .no_gzip()
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
        if is_plain {
            // Servers without TLS are local, and a proxy of the environment is not meant for them.
            builder = builder.http1_only().no_proxy().tls_certs_only([]);
        }
        builder.build()
    });
    match built.await {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(why)) => Err(format!("the HTTP client cannot be created ({})", innermost_reason(&why))),
        Err(_) => Err("the HTTP client cannot be created".into()),
    }
}

/// Follows a redirect only if it repeats the POST on the same host. Nobody agreed to send the debate elsewhere.
fn follow_redirect(attempt: Attempt<'_>) -> Action {
    let repeats = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_host = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    let few = attempt.previous().len() <= REDIRECTS_MAX;
    if repeats && same_host && few { attempt.follow() } else { attempt.stop() }
}

async fn judge_response(response: Response, address: &WebAddress, now_s: i64) -> AttemptResult {
    let status = response.status();
    let header = response.headers().get(RETRY_AFTER).and_then(|header| header.to_str().ok());
    let now_s = u64::try_from(now_s).unwrap_or_default();
    let retry_after = header.and_then(|header| parse_retry_after(header, now_s));
    let body = BoundedBody::new(response, ANSWER_BYTES_MAX);
    if status.is_success() {
        return match body.whole().await {
            Ok(_) | Err(BodyError::TooLong) => AttemptResult::Done { note: None },
            Err(BodyError::Network(why)) => {
                AttemptResult::retry(format!("{address} broke off its answer ({})", reason(&why, address)))
            }
        };
    }
    let code = status.as_u16();
    let answer = short_line(&mask_address(&body.beginning().await, address));
    let said = if answer.is_empty() { answer } else { format!(": {answer}") };
    match code {
        300..=399 => AttemptResult::Dead {
            why: format!(
                "{address} redirects to another place (HTTP {code}), which is not followed: use the new address"
            ),
        },
        408 | 409 | 425 | 429 => AttemptResult::Retry {
            why: format!("{address} does not accept it now (HTTP {code}){said}"),
            retry_after,
        },
        400..=499 => AttemptResult::Dead { why: format!("{address} refuses it (HTTP {code}){said}") },
        _ => AttemptResult::Retry { why: format!("{address} failed (HTTP {code}){said}"), retry_after },
    }
}

fn reason(error: &reqwest::Error, address: &WebAddress) -> String {
    mask_address(&short_line(&innermost_reason(error)), address)
}
