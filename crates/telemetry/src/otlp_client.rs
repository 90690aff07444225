//! Sends one message to a collector: OTLP over HTTP, with the retries that the protocol asks for.

use std::time::Duration;

use agon_host::{BoundedBody, clean_line, innermost_reason};
use prost::Message;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde::Serialize;
use tokio::sync::{OnceCell, watch};

use crate::settings::{OtlpEncoding, SignalTarget};

const TRIES: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// A collector that wants a longer pause loses the message, because debates go on meanwhile.
const DELAY_MAX: Duration = Duration::from_secs(10);
/// How much of an error is shown.
const ANSWER_BYTES_MAX: usize = 300;

/// A connection to where one kind of telemetry goes. It is opened when it is first needed.
pub(crate) struct OtlpClient {
    target: SignalTarget,
    client: OnceCell<Client>,
}

/// Why a message did not arrive.
struct SendFault {
    why: String,
    /// When to try again, if that can help.
    retry_after: Option<Duration>,
}

impl OtlpClient {
    pub(crate) fn new(target: SignalTarget) -> Self {
        Self { target, client: OnceCell::new() }
    }

    /// Sends a message. The error is a sentence. When the process is `finishing`, nothing is tried again.
    pub(crate) async fn send<M: Message + Serialize>(
        &self,
        message: &M,
        mut finishing: watch::Receiver<bool>,
    ) -> Result<(), String> {
        let body = match self.target.encoding {
            OtlpEncoding::Protobuf => message.encode_to_vec(),
            OtlpEncoding::Json => serde_json::to_vec(message).map_err(|why| why.to_string())?,
        };
        let client = self.client.get_or_try_init(|| build_client(self.target.url.scheme() == "http")).await?;
        let mut delay = FIRST_DELAY;
        for attempt in 1.. {
            let Err(fault) = self.try_once(client, body.clone()).await else { break };
            let pause = fault.retry_after.map(|wanted| wanted.max(delay));
            let Some(pause) = pause.filter(|pause| attempt < TRIES && *pause <= DELAY_MAX) else {
                return Err(fault.why);
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = finishing.wait_for(|is_finishing| *is_finishing) => return Err(fault.why),
            }
            delay *= 2;
        }
        Ok(())
    }

    async fn try_once(&self, client: &Client, body: Vec<u8>) -> Result<(), SendFault> {
        let kind = match self.target.encoding {
            OtlpEncoding::Protobuf => "application/x-protobuf",
            OtlpEncoding::Json => "application/json",
        };
        let request = client.post(self.target.url.clone()).headers(self.target.headers.clone());
        let request = request.header(CONTENT_TYPE, kind).timeout(self.target.timeout).body(body);
        let shown = self.target.shown();
        let unreached = |why: reqwest::Error| {
            let why = innermost_reason(&why.without_url());
            SendFault { why: format!("{shown} cannot be reached ({why})"), retry_after: Some(Duration::ZERO) }
        };
        let response = match request.send().await {
            // The receiver had its time. Whoever waits for the next message should not wait for this one, too.
            Err(why) if why.is_timeout() => {
                let ms = self.target.timeout.as_millis();
                return Err(SendFault {
                    why: format!("{shown} gave no answer within {ms} ms"),
                    retry_after: None,
                });
            }
            answered => answered.map_err(unreached)?,
        };
        match response.status().is_success() {
            true => Ok(()),
            false => Err(refusal(&shown, response).await),
        }
    }
}

async fn refusal(shown: &str, response: Response) -> SendFault {
    let code = response.status().as_u16();
    let header =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    // These four are the ones that OTLP calls temporary.
    let retry_after =
        matches!(code, 429 | 502 | 503 | 504).then(|| header.map_or(Duration::ZERO, Duration::from_secs));
    let said = clean_line(&BoundedBody::new(response, ANSWER_BYTES_MAX).beginning().await);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    SendFault { why: format!("{shown} answered HTTP {code}{said}"), retry_after }
}

async fn build_client(is_plain: bool) -> Result<Client, String> {
    // It reads the certificates of the system, which may take a while.
    let built = tokio::task::spawn_blocking(move || {
        agon_host::install_tls();
        let agent = concat!("agon/", env!("CARGO_PKG_VERSION"));
        let mut builder = Client::builder().redirect(Policy::none()).user_agent(agent);
        if is_plain {
            // Servers without TLS are local, and a proxy of the environment is not meant for them.
            builder = builder.http1_only().no_proxy().tls_certs_only([]);
        }
        builder.build()
    });
    match built.await {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(why)) => Err(format!("the HTTP client cannot be created ({})", innermost_reason(&why))),
        Err(_) => Err("the HTTP client cannot be created".to_owned()),
    }
}
