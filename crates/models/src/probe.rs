//! Who can be reached, accepts its key and has which models.

use std::time::Duration;

use agon_engine::FaultKind;
use futures_util::future::join_all;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::Value;

use crate::clients::Clients;
use crate::fault::{Failed, Failure};
use crate::provider::{Base, Provider};
use crate::server::wire;

/// What a provider answered when it was asked for its models. Never has a key in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The name before the slash.
    pub name: String,
    /// Where it is.
    pub base_url: String,
    /// Whether a server answered there, with whatever.
    pub reachable: bool,
    /// The HTTP status of the answer.
    pub status: Option<u16>,
    /// Whether it accepts the key; `None` when there is none, and when the answer does not tell.
    pub key_accepted: Option<bool>,
    /// Its models, without the provider's name; `None` when it has no such list or did not give it.
    pub models: Option<Vec<String>>,
    /// How many of those have a known price.
    pub models_priced: usize,
    /// What is wrong, and what to do, in a sentence.
    pub problem: Option<String>,
}

/// Hosts that show their list to everybody, so that it says nothing about a key.
const OPEN_LISTS: &[&str] = &["openrouter.ai"];
/// The longest list that is read; the longest known has less than a megabyte.
const LIST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Asks all of them at once.
pub(crate) async fn all(
    providers: impl Iterator<Item = &Provider>,
    clients: &Clients,
    timeout: Duration,
) -> Vec<Probe> {
    let usable = providers.filter_map(|provider| Some((provider, provider.base.as_ref().ok()?)));
    join_all(usable.map(|(provider, base)| one(provider, base, clients, timeout))).await
}

async fn one(provider: &Provider, base: &Base, clients: &Clients, timeout: Duration) -> Probe {
    let failed = Failed { provider, model: "", at: &base.shown, sent: &[] };
    let mut probe = Probe {
        name: provider.name.clone(),
        base_url: base.shown.clone(),
        reachable: false,
        status: None,
        key_accepted: None,
        models: None,
        models_priced: 0,
        problem: None,
    };
    let asked = tokio::time::timeout(timeout, ask(provider, base, clients, &failed, &mut probe)).await;
    let list = asked.unwrap_or_else(|_| {
        let what = if probe.reachable { "did not end its list of models" } else { "did not answer" };
        Err(format!("{} at {} {what} within {timeout:?}", provider.name, base.shown))
    });
    match list {
        Ok(models) => probe.models = Some(models),
        Err(problem) => probe.problem = Some(problem),
    }
    probe
}

/// The list of models, or what is wrong in a sentence.
async fn ask(
    provider: &Provider,
    base: &Base,
    clients: &Clients,
    failed: &Failed<'_>,
    probe: &mut Probe,
) -> Result<Vec<String>, String> {
    let said = |failure: Failure| failure.fault.message;
    let wire = wire::of(provider.kind);
    let client = clients.get(base.plain).map_err(|why| said(failed.unmade(why)))?;
    let mut request = client.http.get(base.join(wire.list_path()));
    for (name, value) in wire.headers(provider.secret()) {
        request = request.header(name, value);
    }
    let mut answer = request.send().await.map_err(|error| said(failed.network(&error)))?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    (probe.reachable, probe.status) = (true, Some(status));
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| said(failed.network(&error)))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LIST_BYTES_MAX {
            return Err(said(failed.garbled("is too long for a list of models")));
        }
    }
    if !(200..300).contains(&status) {
        let failure = failed.answered(status, &String::from_utf8_lossy(&bytes), &headers);
        let about_key = failure.fault.kind == FaultKind::Key && status != 402;
        probe.key_accepted = provider.key.as_ref().filter(|_| about_key).map(|_| false);
        let is_elsewhere = matches!(status, 400 | 404 | 405 | 422) && failure.fault.kind != FaultKind::Key;
        return Err(match is_elsewhere {
            true => format!(
                "{} at {} has no list of models (HTTP {status}): is the base URL right?",
                provider.name, base.shown
            ),
            false => said(failure),
        });
    }
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let models = wire.listed(&body).ok_or_else(|| {
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("no type");
        said(failed.garbled(&format!("is no list of models ({kind}): is the base URL right?")))
    })?;
    let tells = !OPEN_LISTS.contains(&base.host.as_str());
    probe.key_accepted = provider.key.as_ref().filter(|_| tells).map(|_| true);
    Ok(models)
}
