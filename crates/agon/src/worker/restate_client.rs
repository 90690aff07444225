//! Restate's HTTP interface: submitting workflows, waiting for them, and making a worker known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::{Client, Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::debate_workflow::{DebateEnd, WORKFLOW, debate_of_key, workflow_key};
use crate::cli::errors::CliError;
use crate::cli::output;

/// The ports on which Restate listens unless it is told otherwise.
const INGRESS_PORT: u16 = 8080;
const ADMIN_PORT: u16 = 9070;
/// How long a short request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server that does not answer is tried.
const PATIENCE: Duration = Duration::from_secs(60);
/// After how long the user is told that it does not answer.
const NOTE_AFTER: Duration = Duration::from_secs(2);
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// The answer of Restate while a workflow has not ended.
const NOT_READY: u16 = 470;

/// A Restate server.
#[derive(Debug, Clone)]
pub struct RestateClient {
    http: Client,
    /// Where debates are submitted, without a slash at the end.
    ingress: String,
    /// Where workers are made known.
    admin: String,
    /// Whether the user has been told that the server does not answer.
    is_away: Arc<AtomicBool>,
}

/// A debate that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedDebate {
    key: String,
}

impl SubmittedDebate {
    /// The id of the debate.
    pub fn debate(&self) -> &str {
        debate_of_key(&self.key)
    }
}

#[derive(Deserialize)]
struct VersionInfo {
    ingress_endpoint: Option<String>,
}

#[derive(Deserialize)]
struct SendAnswer {
    status: String,
}

/// A place where workers listen.
#[derive(Debug, Clone, Deserialize)]
pub struct WorkerDeployment {
    pub id: String,
    #[serde(default)]
    pub uri: String,
    #[serde(default)]
    services: Vec<DeployedService>,
}

#[derive(Debug, Clone, Deserialize)]
struct DeployedService {
    name: String,
}

#[derive(Deserialize)]
struct DeploymentList {
    deployments: Vec<WorkerDeployment>,
}

impl RestateClient {
    /// Finds out what the address is: the place where requests go in (port 8080), or the one for administration (port 9070). The other is
    /// on the same host, unless `admin` names it.
    pub async fn connect(url: &str, admin: Option<&str>) -> Result<Self, CliError> {
        agon_host::install_tls();
        let build = |why: reqwest::Error| CliError::System(format!("the HTTP client cannot start: {why}"));
        let url = url.trim_end_matches('/').to_owned();
        let parsed = reqwest::Url::parse(&url).map_err(|why| {
            CliError::input(format!("{url:?} is no address: {why}"))
                .with_help("write --restate http://HOST:8080")
        })?;
        let http = match parsed.scheme() {
            // One connection carries all requests that wait.
            "http" => Client::builder().http2_prior_knowledge(),
            _ => Client::builder(),
        };
        let http = http.connect_timeout(REQUEST_TIMEOUT).build().map_err(build)?;
        let on_port = |port: u16| {
            let mut other = parsed.clone();
            // An address without a host was refused above.
            let _ = other.set_port(Some(port));
            other.as_str().trim_end_matches('/').to_owned()
        };
        let mut client = Self {
            http,
            ingress: url.clone(),
            is_away: Arc::default(),
            admin: admin.map_or_else(|| on_port(ADMIN_PORT), |admin| admin.trim_end_matches('/').to_owned()),
        };
        if client.answers(&format!("{url}/restate/health")).await {
            return Ok(client);
        }
        let version: VersionInfo = client.request(Method::GET, &format!("{url}/version"), None).await?;
        client.admin = url;
        client.ingress = on_port(INGRESS_PORT);
        if let Some(advertised) = version.ingress_endpoint
            && !client.answers(&format!("{}/restate/health", client.ingress)).await
        {
            client.ingress = advertised.trim_end_matches('/').to_owned();
        }
        Ok(client)
    }

    async fn answers(&self, url: &str) -> bool {
        let answer = self.http.get(url).timeout(REQUEST_TIMEOUT).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// Submits a debate. A debate that was submitted before and has not ended is only woken.
    pub async fn submit(&self, debate: &str) -> Result<SubmittedDebate, CliError> {
        for submission in 0.. {
            let key = workflow_key(debate, submission);
            let url = format!("{}/{WORKFLOW}/{key}/run/send", self.ingress);
            let answer = self.send_to_workers(&url, debate).await?;
            let sent: SendAnswer = self.read(&url, answer).await?;
            if sent.status != "PreviouslyAccepted" {
                return Ok(SubmittedDebate { key });
            }
            let submitted = SubmittedDebate { key };
            match self.output(&submitted).await? {
                Some(end) if end.status == "interrupted" => {}
                Some(_) => return Ok(submitted),
                None => {
                    self.wake(&submitted).await?;
                    return Ok(submitted);
                }
            }
        }
        Err(CliError::System(format!("debate {debate} was submitted too often")))
    }

    /// Sends a request to the workflow. Where requests go in, a worker is known a moment later than where it was registered.
    async fn send_to_workers(&self, url: &str, debate: &str) -> Result<reqwest::Response, CliError> {
        let (started, mut delay) = (tokio::time::Instant::now(), RETRY_FIRST);
        loop {
            let answer = self.send_patiently(Method::POST, url, None).await?;
            if answer.status() != StatusCode::NOT_FOUND {
                return Ok(answer);
            }
            if started.elapsed() > REQUEST_TIMEOUT || self.deployments().await?.is_empty() {
                let server = &self.ingress;
                let message = format!("no worker is known to the Restate server {server}");
                return Err(CliError::input(message).with_help(format!(
                    "start `agon worker --restate {server}` with the same store; debate {debate} is kept there"
                )));
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(RETRY_MAX);
        }
    }

    /// Wakes the workflow of a debate if it waits for people.
    pub async fn wake(&self, submitted: &SubmittedDebate) -> Result<(), CliError> {
        let url = format!("{}/{WORKFLOW}/{}/wake/send", self.ingress, submitted.key);
        self.request::<Value>(Method::POST, &url, None).await.map(drop)
    }

    /// How the workflow ended, if it has.
    pub async fn output(&self, submitted: &SubmittedDebate) -> Result<Option<DebateEnd>, CliError> {
        let url = format!("{}/restate/workflow/{WORKFLOW}/{}/output", self.ingress, submitted.key);
        let answer = self.send_patiently(Method::GET, &url, None).await?;
        match answer.status().as_u16() {
            NOT_READY => Ok(None),
            _ => self.read(&url, answer).await.map(Some),
        }
    }

    /// Makes the address of a worker known.
    pub async fn register(&self, address: &str) -> Result<(), CliError> {
        let url = format!("{}/deployments", self.admin);
        let body = json!({ "uri": address, "force": true });
        self.request::<Value>(Method::POST, &url, Some(&body)).await.map(drop)
    }

    /// The places where workers of debates listen.
    pub async fn deployments(&self) -> Result<Vec<WorkerDeployment>, CliError> {
        let url = format!("{}/deployments", self.admin);
        let list: DeploymentList = self.request(Method::GET, &url, None).await?;
        let is_ours = |deployment: &WorkerDeployment| {
            deployment.services.iter().any(|service| service.name == WORKFLOW)
        };
        Ok(list.deployments.into_iter().filter(is_ours).collect())
    }

    /// Sends what was meant for one place to another.
    pub async fn redirect(&self, deployment: &str, address: &str) -> Result<(), CliError> {
        let url = format!("{}/deployments/{deployment}", self.admin);
        let body = json!({ "uri": address });
        self.request::<Value>(Method::PATCH, &url, Some(&body)).await.map(drop)
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
    ) -> Result<T, CliError> {
        let answer = self.send_patiently(method, url, body).await?;
        self.read(url, answer).await
    }

    /// Sends a request that does no harm if it arrives twice, until it is answered.
    async fn send_patiently(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
    ) -> Result<reqwest::Response, CliError> {
        let (started, mut delay) = (tokio::time::Instant::now(), RETRY_FIRST);
        loop {
            let mut request = self.http.request(method.clone(), url).timeout(REQUEST_TIMEOUT);
            if let Some(body) = body {
                request = request.header("content-type", "application/json").body(body.to_string());
            }
            let why = match request.send().await {
                Ok(answer) if !is_worth_retrying(answer.status()) => {
                    self.is_away.store(false, Ordering::Relaxed);
                    return Ok(answer);
                }
                Ok(answer) => format!("it answers {}", answer.status()),
                Err(error) => deepest(&error),
            };
            if started.elapsed() > PATIENCE {
                return Err(CliError::System(format!("Restate cannot be reached at {url}: {why}")));
            }
            // Many requests may wait, and one word is enough.
            if started.elapsed() > NOTE_AFTER && !self.is_away.swap(true, Ordering::Relaxed) {
                output::note(&format!("Restate does not answer at {url} ({why}); trying for a minute"));
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(RETRY_MAX);
        }
    }

    async fn read<T: DeserializeOwned>(&self, url: &str, answer: reqwest::Response) -> Result<T, CliError> {
        let status = answer.status();
        let text = answer.text().await.unwrap_or_default();
        if !status.is_success() {
            let shown: String = text.chars().take(300).collect();
            return Err(CliError::System(format!("Restate refused {url} ({status}): {shown}")));
        }
        let text = if text.is_empty() { "null" } else { &text };
        serde_json::from_str(text)
            .map_err(|why| CliError::System(format!("Restate's answer of {url} cannot be read: {why}")))
    }
}

/// A server that starts, or has too much to do, answers later.
fn is_worth_retrying(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504)
}

fn deepest(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
