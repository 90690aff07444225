//! `embeddings/PROVIDER/MODEL`: a server's embeddings in OpenAI's format, which Gemini offers too.

use std::sync::Arc;

use agon_core::{CallUsage, Invalid};
use agon_engine::{CallFault, ModelPrice};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::{TextEmbedder, TextVectors};
use crate::config::WireFormat;
use crate::provider::{BaseUrl, ModelProvider};
use crate::server::dialect::TOKENS_MAX;
use crate::server::errors::{CallFailure, FailureContext};
use crate::server::http::{HttpClients, answer_text};

pub(crate) struct ServerEmbedder {
    name: String,
    model: String,
    url: String,
    base: BaseUrl,
    provider: Arc<ModelProvider>,
    price: ModelPrice,
    clients: Arc<HttpClients>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingEntry>,
    #[serde(default)]
    usage: EmbeddingsUsage,
}

#[derive(Debug, Deserialize)]
struct EmbeddingEntry {
    /// Which text it belongs to. Without it, entries are in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmbeddingsUsage {
    prompt_tokens: u64,
}

impl ServerEmbedder {
    pub(crate) fn new(
        name: &str,
        model: &str,
        provider: Arc<ModelProvider>,
        price: ModelPrice,
        clients: Arc<HttpClients>,
    ) -> Result<Self, Invalid> {
        let path = match provider.format {
            WireFormat::OpenAi => "embeddings",
            WireFormat::Gemini => "openai/embeddings",
            WireFormat::Anthropic => {
                return Err(Invalid(format!(
                    "{} has no embeddings: use another provider's, such as embeddings/openai/text-embedding-3-small, or \
                     embeddings/lexical",
                    provider.name
                )));
            }
        };
        let base = provider.check_usable()?.clone();
        clients.prepare(base.is_plain_http);
        let url = base.join(path);
        Ok(Self { name: name.to_owned(), model: model.to_owned(), url, base, provider, price, clients })
    }

    async fn request_vectors(&self, texts: &[String]) -> Result<TextVectors, CallFailure> {
        let prompt: Vec<&str> = texts.iter().map(String::as_str).collect();
        let context = FailureContext::new(&self.provider, &self.model, &self.base, &prompt);
        let client = self.clients.get(self.base.is_plain_http).map_err(|why| context.no_client(why))?;
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let mut request = client.post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = self.provider.secret() {
            request = request.bearer_auth(key);
        }
        let answer =
            request.body(body.to_string()).send().await.map_err(|error| context.network_error(&error))?;
        if !answer.status().is_success() {
            return Err(context.http_status(answer).await);
        }
        let text = answer_text(answer).await.map_err(|error| context.body_error(&error))?;
        let response: EmbeddingsResponse =
            serde_json::from_str(&text).map_err(|_| context.garbled("contains no embeddings"))?;
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); response.data.len()];
        for (position, entry) in response.data.into_iter().enumerate() {
            let vector = vectors.get_mut(entry.index.unwrap_or(position));
            *vector.ok_or_else(|| context.garbled("has an embedding for a text that was not sent"))? =
                entry.embedding;
        }
        let usage =
            CallUsage { input_tokens: response.usage.prompt_tokens.min(TOKENS_MAX), ..CallUsage::default() };
        Ok(TextVectors { vectors, usage })
    }
}

impl TextEmbedder for ServerEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider.name
    }

    fn price(&self) -> ModelPrice {
        self.price
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<TextVectors, CallFault>> {
        Box::pin(async move {
            if texts.is_empty() {
                return Ok(TextVectors::default());
            }
            self.request_vectors(texts).await.map_err(|failure| *failure.fault)
        })
    }
}
