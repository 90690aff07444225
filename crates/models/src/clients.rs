//! The HTTP clients, made when first used and shared by all models.
//!
//! There are two, because reading the system's certificates takes longer than everything else that Agon does before
//! its first call, and a server on `http://` needs none of them. Either is made on a thread of its own as soon as a model is
//! named that needs it, while the store is opened and the first prompts are written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use genai::Client;
use reqwest::redirect::Policy;

/// How long making a connection may take. Answers may take as long as the engine lets them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One client in two coats.
#[derive(Debug)]
pub(crate) struct Pair {
    /// For conversations.
    pub(crate) genai: Client,
    /// For what genai does not do, or not well.
    pub(crate) http: reqwest::Client,
}

/// The clients that there are so far.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    plain: OnceLock<Result<Pair, String>>,
    secure: OnceLock<Result<Pair, String>>,
    begun: [AtomicBool; 2],
}

impl Clients {
    /// Begins to make the client, if nobody has. Without a thread to spare it is made when it is first used.
    pub(crate) fn prepare(self: &Arc<Self>, plain: bool) {
        let [begun_secure, begun_plain] = &self.begun;
        let begun = if plain { begun_plain } else { begun_secure };
        if !begun.swap(true, Ordering::Relaxed) {
            let clients = Arc::clone(self);
            drop(std::thread::Builder::new().spawn(move || clients.get(plain).is_ok()));
        }
    }

    /// The client for `http://` or for `https://`, or why there is none.
    pub(crate) fn get(&self, plain: bool) -> Result<&Pair, &str> {
        let client = if plain {
            self.plain.get_or_init(|| build(true))
        } else {
            self.secure.get_or_init(|| build(false))
        };
        client.as_ref().map_err(String::as_str)
    }
}

fn build(plain: bool) -> Result<Pair, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        // A redirect would carry prompts, or a POST turned into a GET, to where nobody configured.
        .redirect(Policy::none())
        .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
    if plain {
        // Plain servers are local ones: a proxy of the environment is not meant for them.
        builder = builder.http1_only().no_proxy().tls_certs_only([]);
    }
    let http = builder.build().map_err(|why| format!("the HTTP client cannot be made: {why}"))?;
    let genai = Client::builder()
        .with_reqwest(http.clone())
        .build()
        .map_err(|why| format!("the model client cannot be made: {why}"))?;
    Ok(Pair { genai, http })
}
