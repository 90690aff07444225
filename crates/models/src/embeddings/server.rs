//! `embeddings/PROVIDER/MODEL`: a server's embeddings, in OpenAI's format, which Gemini has a path for too.
//!
//! genai's own reader wants more of an answer than servers send, so the request is made here.

use std::sync::Arc;

use agon_core::{Invalid, Usage};
use agon_engine::{Fault, Price};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::{Embed, Embedded};
use crate::clients::Clients;
use crate::config::ProviderKind;
use crate::fault::{Failed, Failure};
use crate::provider::{Base, Provider};

/// The embeddings of a server's model.
pub(crate) struct Server {
    name: String,
    model: String,
    url: String,
    base: Base,
    provider: Arc<Provider>,
    price: Price,
    clients: Arc<Clients>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Entry>,
    #[serde(default)]
    usage: Tokens,
}

#[derive(Debug, Deserialize)]
struct Entry {
    /// Its place, where the server says; else as it comes.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    prompt_tokens: u64,
}

impl Server {
    pub(crate) fn new(
        name: &str,
        model: &str,
        provider: Arc<Provider>,
        price: Price,
        clients: Arc<Clients>,
    ) -> Result<Self, Invalid> {
        let path = match provider.kind {
            ProviderKind::OpenAi => "embeddings",
            ProviderKind::Gemini => "openai/embeddings",
            ProviderKind::Anthropic => {
                return Err(Invalid(format!(
                    "{} has no embeddings: take another provider's, such as embeddings/openai/text-embedding-3-small, or \
                     embeddings/lexical",
                    provider.name
                )));
            }
        };
        let base = provider.usable()?.clone();
        clients.prepare(base.plain);
        let url = base.join(path);
        Ok(Self { name: name.to_owned(), model: model.to_owned(), url, base, provider, price, clients })
    }

    async fn ask(&self, texts: &[String]) -> Result<Embedded, Failure> {
        let sent: Vec<&str> = texts.iter().map(String::as_str).collect();
        let failed =
            Failed { provider: &self.provider, model: &self.model, at: &self.base.shown, sent: &sent };
        let client = self.clients.get(self.base.plain).map_err(|why| failed.unmade(why))?;
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let mut request = client.http.post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = self.provider.secret() {
            request = request.bearer_auth(key);
        }
        let answer = request.body(body.to_string()).send().await.map_err(|error| failed.network(&error))?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let text = answer.text().await.map_err(|error| failed.network(&error))?;
        if !status.is_success() {
            return Err(failed.answered(status.as_u16(), &text, &headers));
        }
        let answer: Answer =
            serde_json::from_str(&text).map_err(|_| failed.garbled("has no embeddings in it"))?;
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); answer.data.len()];
        for (came, entry) in answer.data.into_iter().enumerate() {
            let place = vectors.get_mut(entry.index.unwrap_or(came));
            *place.ok_or_else(|| failed.garbled("has embeddings out of place"))? = entry.embedding;
        }
        let usage = Usage { input_tokens: answer.usage.prompt_tokens, ..Usage::default() };
        Ok(Embedded { vectors, usage })
    }
}

impl Embed for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider.name
    }

    fn price(&self) -> Price {
        self.price
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embedded, Fault>> {
        Box::pin(async move {
            if texts.is_empty() {
                return Ok(Embedded::default());
            }
            self.ask(texts).await.map_err(|failure| failure.fault)
        })
    }
}
