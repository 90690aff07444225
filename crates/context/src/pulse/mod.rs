//! `pulse/NAME`: what is going on, from a source that the user has configured.
//!
//! A source is a stranger: it may be late, broken, endless or hostile, and a debate goes on without it. Only its address is
//! asked; the question of a debate never leaves this machine for it.

mod charset;
pub mod config;
mod entry;
mod feed;
mod fetch;
mod json;
mod moment;
mod nearest;
mod plain;
mod text;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use agon_core::Invalid;
use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Model, Price};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::{Client, Url};
use secrecy::SecretString;
use tokio::sync::OnceCell;

use crate::errand::{Answer, Errand};
use entry::Entry;

pub use config::{Format, PulseConfig, check_found};

/// How much longer the source itself waits than it lets the engine wait: one that is late has timed out in the engine's own
/// words, and whoever asks without a clock is told all the same.
const GRACE: Duration = Duration::from_secs(1);

/// A source of what is going on.
pub struct Pulse {
    /// `pulse/NAME`.
    name: String,
    config: PulseConfig,
    place: Place,
    client: OnceCell<Client>,
}

enum Place {
    Address { url: Url, key: Result<Option<SecretString>, String> },
    File(PathBuf),
}

impl Pulse {
    /// The source of `[pulse.NAME]`; `name` is what stands after `pulse/`, `env` reads an environment variable. Asks nobody.
    pub fn new(
        name: &str,
        config: PulseConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Invalid> {
        config.check(name)?;
        let place = match (&config.url, &config.file) {
            (Some(url), _) => {
                let url =
                    config::address(url).map_err(|why| Invalid(format!("[pulse.{name}]: url {why}")))?;
                Place::Address { url, key: key(&config, env) }
            }
            (None, file) => Place::File(file.clone().unwrap_or_default()),
        };
        Ok(Self { name: format!("pulse/{name}"), config, place, client: OnceCell::new() })
    }

    /// What the user calls it.
    fn source(&self) -> &str {
        self.name.strip_prefix("pulse/").unwrap_or(&self.name)
    }

    async fn answer(&self, call: &Call, deltas: Option<Deltas<'_>>) -> Result<Completion, Fault> {
        let errand = Errand::of(call)?;
        let limit = errand.limit.min(self.config.limit);
        let within = self.config.timeout();
        let entries = tokio::time::timeout(within + GRACE, self.entries()).await;
        // A source that is late once is left out: the debate does not wait for it twice.
        let late = |_| Err(Trouble::hopeless(format!("gave no answer within {within:?}")));
        let entries = entries.unwrap_or_else(late).map_err(|trouble| trouble.fault(&self.name))?;
        let items = nearest::items(entries, &errand.query, limit, self.source());
        let completion = Answer { items, note: None }.completion(&self.name, call);
        if let Some(deltas) = deltas {
            deltas(&completion.text);
        }
        Ok(completion)
    }

    async fn entries(&self) -> Result<Vec<Entry>, Trouble> {
        let fetched = match &self.place {
            Place::Address { url, key } => {
                let key = key.as_ref().map_err(|why| Trouble::hopeless(why.clone()))?;
                let client = self.client.get_or_try_init(|| fetch::client(url)).await?;
                fetch::address(client, url, key.as_ref(), self.config.max_bytes).await?
            }
            Place::File(path) => fetch::file(path, self.config.max_bytes).await?,
        };
        let config = self.config.clone();
        // A large document takes its time, and others wait on this thread.
        let read = tokio::task::spawn_blocking(move || read(&fetched, &config)).await;
        read.unwrap_or_else(|_| Err("cannot be read".into())).map_err(Trouble::hopeless)
    }
}

impl Model for Pulse {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "pulse"
    }

    fn price(&self) -> Price {
        Price::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.config.timeout())
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        self.answer(call, deltas).boxed()
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pulse").field(&self.name).finish()
    }
}

/// What a source gave.
#[derive(Debug)]
struct Fetched {
    bytes: Vec<u8>,
    content_type: Option<String>,
}

impl Fetched {
    /// Whether it is said to be of this type.
    fn is(&self, kind: &str) -> bool {
        let said = self.content_type.as_deref().unwrap_or_default().split(';').next();
        said.is_some_and(|said| said.trim().eq_ignore_ascii_case(kind))
    }
}

/// Why a source gave nothing: what follows its name in a sentence.
#[derive(Debug)]
struct Trouble {
    kind: FaultKind,
    why: String,
    retry_after: Option<Duration>,
}

impl Trouble {
    /// Another try would be the same.
    fn hopeless(why: impl Into<String>) -> Self {
        Self { kind: FaultKind::Rejected, why: why.into(), retry_after: None }
    }

    /// Another try may go well.
    fn passing(why: impl Into<String>) -> Self {
        Self { kind: FaultKind::Unavailable, why: why.into(), retry_after: None }
    }

    fn fault(self, name: &str) -> Fault {
        let Self { kind, why, retry_after } = self;
        Fault { retry_after, ..Fault::new(kind, format!("{name} {why}")) }
    }
}

fn key(config: &PulseConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<SecretString>, String> {
    let Some(variable) = &config.key_env else { return Ok(None) };
    match env(variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()) {
        Some(key) if key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(SecretString::from(key))),
        Some(_) => Err(format!("needs a key, and {variable} holds something that no key has: set it anew")),
        None => Err(format!("needs a key: set {variable} to it in the environment")),
    }
}

/// The entries of what a source gave.
fn read(fetched: &Fetched, config: &PulseConfig) -> Result<Vec<Entry>, String> {
    let text = match charset::text(&fetched.bytes, fetched.content_type.as_deref()) {
        Ok(text) if text::is_binary(text.as_bytes()) => return Err(NO_TEXT.into()),
        Err(_) if text::is_binary(&fetched.bytes) => return Err(NO_TEXT.into()),
        text => text?,
    };
    let text = text.trim_start();
    let entries = match config.format {
        _ if text.is_empty() => return Err("is empty".into()),
        Some(Format::Json) => json::entries(text, config)?,
        Some(Format::Rss | Format::Atom) => feed::entries(text, config.format)?,
        Some(Format::Text) | None if text::is_page(text) => return Err(PAGE.into()),
        Some(Format::Text) => text::entries(text),
        None => seen(text, fetched, config)?,
    };
    let entries: Vec<Entry> = entries.into_iter().filter(|entry| !entry.is_blank()).collect();
    match entries.is_empty() {
        true => Err("has no entries with words in them".into()),
        false => Ok(entries),
    }
}

const NO_TEXT: &str = "is neither a feed nor JSON, nor any other text: look at what its address gives";
const PAGE: &str = "is neither a feed nor JSON but an HTML page: set url to the address of its feed";

/// The entries of a text that is what it looks like.
fn seen(text: &str, fetched: &Fetched, config: &PulseConfig) -> Result<Vec<Entry>, String> {
    let found = match text.chars().next() {
        Some('{' | '[') => json::entries(text, config),
        Some('<') => feed::entries(text, None),
        _ if fetched.is("text/html") => return Err(PAGE.into()),
        _ => return Ok(text::entries(text)),
    };
    // Markdown may begin with a link or a tag.
    found.or_else(|why| if fetched.is("text/markdown") { Ok(text::entries(text)) } else { Err(why) })
}
