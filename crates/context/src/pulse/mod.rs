//! `pulse/NAME`: current topics from a source that the user configured.
//!
//! A source is not trusted: it may be slow, broken, endless or hostile, and a debate goes on without it. A request
//! contains only the source's address; the debate's question is never sent.

pub mod config;
pub(crate) mod documents;
mod feeds;
mod fetch;
pub(crate) mod html_text;
mod json;
mod markdown;
mod nearest;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use agon_core::Invalid;
use agon_engine::{CallFault, CallFaultKind, DeltaSink, Model, ModelCall, ModelCompletion, ModelPrice};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::{Client, Url};
use secrecy::SecretString;
use tokio::sync::OnceCell;

use crate::errands::{Errand, ErrandAnswer};
use documents::PulseEntry;

pub use config::{PulseConfig, PulseFormat};

/// How much longer a source waits than the timeout it reports to the engine. The engine then gives up first and logs
/// the absence as `timed_out`; callers without a timeout of their own still get an error.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);

/// A model that answers errands from one `[pulse.NAME]`.
pub struct PulseSource {
    /// `pulse/NAME`.
    name: String,
    config: PulseConfig,
    location: PulseLocation,
    client: OnceCell<Client>,
}

enum PulseLocation {
    /// A missing key is reported when the source is asked, not before: other sources may still work.
    Url {
        url: Url,
        key: Result<Option<SecretString>, String>,
    },
    File(PathBuf),
}

impl PulseSource {
    /// The source of `[pulse.NAME]`. `name` is the part after `pulse/`; `env` reads an environment variable. Makes no
    /// request.
    pub fn new(
        name: &str,
        config: PulseConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Invalid> {
        config.check(name)?;
        let location = match (&config.url, &config.file) {
            (Some(url), _) => {
                let url =
                    config::parse_url(url).map_err(|why| Invalid(format!("[pulse.{name}]: url {why}")))?;
                PulseLocation::Url { url, key: read_key(&config, env) }
            }
            (None, file) => PulseLocation::File(file.clone().unwrap_or_default()),
        };
        Ok(Self { name: format!("pulse/{name}"), config, location, client: OnceCell::new() })
    }

    async fn answer(
        &self,
        call: &ModelCall,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let errand = Errand::of(call)?;
        let limit = errand.limit.min(self.config.limit);
        let timeout = self.config.timeout();
        let entries = tokio::time::timeout(timeout + TIMEOUT_GRACE, self.entries()).await;
        // Not worth a second try: the debate would wait again.
        let late = |_| Err(PulseFault::permanent(format!("did not answer within {timeout:?}")));
        let entries = entries.unwrap_or_else(late).map_err(|fault| fault.into_fault(&self.name))?;
        let source = self.name.strip_prefix("pulse/").unwrap_or(&self.name);
        let items = nearest::nearest_items(entries, &errand.query, limit, source);
        let completion = ErrandAnswer { items, note: None }.completion(&self.name, call);
        if let Some(deltas) = deltas {
            deltas(&completion.text);
        }
        Ok(completion)
    }

    async fn entries(&self) -> Result<Vec<PulseEntry>, PulseFault> {
        let document = match &self.location {
            PulseLocation::Url { url, key } => {
                let key = key.as_ref().map_err(|why| PulseFault::permanent(why.clone()))?;
                let client = self.client.get_or_try_init(|| fetch::client_for(url)).await?;
                fetch::fetch_url(client, url, key.as_ref(), self.config.max_bytes).await?
            }
            PulseLocation::File(path) => fetch::read_file(path, self.config.max_bytes).await?,
        };
        let config = self.config.clone();
        // A large document takes a while to parse, and this thread has other work.
        let entries = tokio::task::spawn_blocking(move || document.entries(&config)).await;
        entries.unwrap_or_else(|_| Err("cannot be parsed".into())).map_err(PulseFault::permanent)
    }
}

impl Model for PulseSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "pulse"
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.config.timeout())
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        self.answer(call, deltas).boxed()
    }
}

impl fmt::Debug for PulseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PulseSource").field(&self.name).finish()
    }
}

/// Why a source returned nothing. The reason continues a sentence that begins with the source's name.
#[derive(Debug)]
struct PulseFault {
    kind: CallFaultKind,
    reason: String,
    retry_after: Option<Duration>,
}

impl PulseFault {
    /// Another try would fail the same way.
    fn permanent(reason: impl Into<String>) -> Self {
        Self { kind: CallFaultKind::Rejected, reason: reason.into(), retry_after: None }
    }

    /// Another try may succeed.
    fn temporary(reason: impl Into<String>) -> Self {
        Self { kind: CallFaultKind::Unavailable, reason: reason.into(), retry_after: None }
    }

    fn into_fault(self, name: &str) -> CallFault {
        let Self { kind, reason, retry_after } = self;
        CallFault { retry_after, ..CallFault::new(kind, format!("{name} {reason}")) }
    }
}

fn read_key(
    config: &PulseConfig,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<SecretString>, String> {
    let Some(variable) = &config.key_env else { return Ok(None) };
    match env(variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()) {
        Some(key) if key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(SecretString::from(key))),
        Some(_) => {
            Err(format!("needs a key, but {variable} contains characters that no key has: set it again"))
        }
        None => Err(format!("needs a key: set the environment variable {variable}")),
    }
}
