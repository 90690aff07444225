//! Which providers answer, accept their key and have which models.

use std::time::Duration;

use agon_engine::CallFaultKind;
use futures_util::future::join_all;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;

use crate::provider::{BaseUrl, ModelProvider};
use crate::server::errors::{CallFailure, FailureContext};
use crate::server::http::{HttpClients, answer_text};
use crate::server::{dialect, json_value};

/// What a provider answered when it was asked for its list of models. Never contains a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderProbe {
    /// The name before the slash.
    pub name: String,
    /// Its address.
    pub base_url: String,
    /// Whether a server answered at all.
    pub reachable: bool,
    /// The HTTP status of the answer.
    pub status: Option<u16>,
    /// Whether it accepts the key. `None` without a key, or if the answer does not tell.
    pub key_accepted: Option<bool>,
    /// Its models, without the provider's name. `None` if it did not send a list.
    pub models: Option<Vec<String>>,
    /// Whether it sent something else as its list, as what is no model server does.
    pub sent_no_list: bool,
    /// How many of its models have a known price.
    pub models_priced: usize,
    /// What is wrong and what to do.
    pub problem: Option<String>,
}

/// Hosts that send their list without checking the key.
const HOSTS_WITH_OPEN_LISTS: &[&str] = &["openrouter.ai"];

/// Probes all providers at once.
pub(crate) async fn probe_all(
    providers: impl Iterator<Item = &ModelProvider>,
    clients: &HttpClients,
    timeout: Duration,
) -> Vec<ProviderProbe> {
    let usable = providers.filter_map(|provider| Some((provider, provider.base.as_ref().ok()?)));
    join_all(usable.map(|(provider, base)| probe_one(provider, base, clients, timeout))).await
}

async fn probe_one(
    provider: &ModelProvider,
    base: &BaseUrl,
    clients: &HttpClients,
    timeout: Duration,
) -> ProviderProbe {
    let mut probe = ProviderProbe {
        name: provider.name.clone(),
        base_url: base.shown.clone(),
        reachable: false,
        status: None,
        key_accepted: None,
        models: None,
        sent_no_list: false,
        models_priced: 0,
        problem: None,
    };
    let listed = tokio::time::timeout(timeout, list_models(provider, base, clients, &mut probe)).await;
    let listed = listed.unwrap_or_else(|_| {
        let what = if probe.reachable { "did not finish its list of models" } else { "did not answer" };
        Err(format!("{} at {} {what} within {timeout:?}", provider.name, base.shown))
    });
    match listed {
        Ok(models) => probe.models = Some(models),
        Err(problem) => probe.problem = Some(problem),
    }
    probe
}

/// Asks for the list of models and fills in the rest of `probe`. An error is a sentence that says what is wrong.
async fn list_models(
    provider: &ModelProvider,
    base: &BaseUrl,
    clients: &HttpClients,
    probe: &mut ProviderProbe,
) -> Result<Vec<String>, String> {
    let context = FailureContext::new(provider, "", base, &[]);
    let message = |failure: CallFailure| failure.fault.message;
    let dialect = dialect::of(provider.format);
    let client = clients.get(base.is_plain_http).map_err(|why| message(context.no_client(why)))?;
    let mut request = client.get(base.join(dialect.list_path()));
    for (name, value) in dialect.headers(provider.secret()) {
        request = request.header(name, value);
    }
    let answer = request.send().await.map_err(|error| message(context.network_error(&error)))?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    (probe.reachable, probe.status) = (true, Some(status));
    if !(200..300).contains(&status) {
        let failure = context.http_status(answer).await;
        let is_about_key = failure.fault.kind == CallFaultKind::Key;
        probe.key_accepted = provider.key.as_ref().filter(|_| is_about_key && status != 402).map(|_| false);
        let has_no_list = matches!(status, 400 | 404 | 405 | 422) && !is_about_key;
        return Err(match has_no_list {
            true => format!(
                "{} at {} has no list of models (HTTP {status}): is the base URL right?",
                provider.name, base.shown
            ),
            false => message(failure),
        });
    }
    let body = answer_text(answer).await.map_err(|error| message(context.body_error(&error)))?;
    let models = match json_value(&body, context) {
        Ok(body) => dialect.listed_models(&body),
        Err(_) => None,
    };
    let models = models.ok_or_else(|| {
        probe.sent_no_list = true;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("no type");
        message(match body.trim_start().starts_with('<') {
            true => context.html_page(),
            false => context.garbled(&format!("is no list of models ({kind}): is the base URL right?")),
        })
    })?;
    let checks_keys = !HOSTS_WITH_OPEN_LISTS.contains(&base.host.as_str());
    probe.key_accepted = provider.key.as_ref().filter(|_| checks_keys).map(|_| true);
    Ok(models)
}
