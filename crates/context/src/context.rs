//! `context/knowledge` and `context/memory`: what is on the shelf about the question.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Model, Price};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::errand::{Answer, Errand, Item};
use crate::shelf::{Shelf, Vectors};

/// How long the vector of the query is waited for: words alone find most of what there is, and the debate waits.
pub const VECTOR_PATIENCE: Duration = Duration::from_secs(2);
/// How many texts get their vectors in one go.
const BATCH: usize = 32;

/// `context/knowledge`: what was decided before, on what evidence, and how it turned out.
pub type Knowledge = Context<Decided>;

/// `context/memory`: what the agents of a debate remember.
pub type Memory = Context<Remembered>;

/// What is on a shelf about the question, found by words and, where vectors can be made, by meaning.
pub struct Context<K> {
    shelf: Arc<dyn Shelf>,
    vectors: Option<Arc<dyn Vectors>>,
    patience: Duration,
    kind: PhantomData<K>,
}

/// A part of the shelf.
pub trait Kind: Send + Sync + 'static {
    /// The name of the model that looks there.
    const NAME: &'static str;

    /// Looks there. May block.
    fn look(shelf: &dyn Shelf, errand: &Errand, vector: Option<(&str, &[f32])>) -> Result<Vec<Item>, String>;

    /// No more of what was found than was asked for, what is left out first for want of room last.
    fn share(found: Vec<Item>, limit: usize) -> Vec<Item>;
}

/// What was decided.
#[derive(Debug, Clone, Copy)]
pub struct Decided;

/// What is remembered.
#[derive(Debug, Clone, Copy)]
pub struct Remembered;

impl Kind for Decided {
    const NAME: &'static str = "context/knowledge";

    fn look(shelf: &dyn Shelf, errand: &Errand, vector: Option<(&str, &[f32])>) -> Result<Vec<Item>, String> {
        shelf.knowledge(&errand.query, vector, errand.limit)
    }

    fn share(mut found: Vec<Item>, limit: usize) -> Vec<Item> {
        found.truncate(limit);
        found
    }
}

impl Kind for Remembered {
    const NAME: &'static str = "context/memory";

    fn look(shelf: &dyn Shelf, errand: &Errand, vector: Option<(&str, &[f32])>) -> Result<Vec<Item>, String> {
        shelf.memories(&errand.agents, &errand.query, vector, errand.limit)
    }

    /// Everybody's best before anybody's second.
    fn share(found: Vec<Item>, limit: usize) -> Vec<Item> {
        let mut counts: HashMap<Option<String>, usize> = HashMap::new();
        let placed = found.into_iter().map(|item| {
            let count = counts.entry(item.agent.clone()).or_default();
            *count += 1;
            (*count, item)
        });
        let mut placed: Vec<(usize, Item)> = placed.filter(|(place, _)| *place <= limit).collect();
        // A stable sort: of the same place, the best stays first.
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, item)| item).collect()
    }
}

/// Gives vectors to entries that have none of this model, `limit` of them at most, and says how many it was.
pub async fn index(shelf: &Arc<dyn Shelf>, vectors: &dyn Vectors, limit: usize) -> Result<usize, String> {
    let mut done = 0;
    while done < limit {
        let model = vectors.name().to_owned();
        let batch = BATCH.min(limit - done);
        let found = aside(shelf, move |shelf| shelf.unindexed(&model, batch)).await?;
        if found.is_empty() {
            break;
        }
        let (ids, texts): (Vec<String>, Vec<String>) = found.into_iter().unzip();
        let made = sound(vectors, texts.len(), vectors.of(&texts).await?)?;
        done += ids.len();
        let made =
            ids.into_iter().zip(texts).zip(made).map(|((id, text), vector)| (id, text, vector)).collect();
        let model = vectors.name().to_owned();
        aside(shelf, move |shelf| shelf.index(&model, made)).await?;
    }
    Ok(done)
}

impl<K: Kind> Context<K> {
    /// What is on this shelf.
    pub fn new(shelf: Arc<dyn Shelf>, vectors: Option<Arc<dyn Vectors>>) -> Self {
        Self { shelf, vectors, patience: VECTOR_PATIENCE, kind: PhantomData }
    }

    /// Waits so long for the vector of the query, in the place of [`VECTOR_PATIENCE`].
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    async fn answer(&self, call: &Call, deltas: Option<Deltas<'_>>) -> Result<Completion, Fault> {
        let errand = Errand::of(call)?;
        let (vector, note) = match &self.vectors {
            Some(vectors) => self.vector(vectors.as_ref(), &errand.query).await,
            None => (None, None),
        };
        let found = aside(&self.shelf, move |shelf| {
            let vector = vector.as_ref().map(|(model, vector)| (model.as_str(), vector.as_slice()));
            Ok(K::share(K::look(shelf, &errand, vector)?, errand.limit))
        });
        // The store may be busy for a moment: worth another try.
        let unavailable = |why| Fault::new(FaultKind::Unavailable, format!("{}: {why}", K::NAME));
        let items = found.await.map_err(unavailable)?;
        let completion = Answer { items, note }.completion(K::NAME, call);
        if let Some(deltas) = deltas {
            deltas(&completion.text);
        }
        Ok(completion)
    }

    /// The query's vector with its model; or, when there is none, why the words must do.
    async fn vector(
        &self,
        vectors: &dyn Vectors,
        query: &str,
    ) -> (Option<(String, Vec<f32>)>, Option<String>) {
        let texts = [query.to_owned()];
        let made = tokio::time::timeout(self.patience, vectors.of(&texts)).await;
        let made = made.unwrap_or_else(|_| Err(format!("it took longer than {:?}", self.patience)));
        let made = made.and_then(|made| sound(vectors, 1, made));
        match made.map(|made| made.into_iter().next()) {
            Ok(Some(vector)) => (Some((vectors.name().to_owned(), vector)), None),
            Ok(None) => (None, None),
            Err(why) => (
                None,
                Some(format!("found by words alone: {} gave no vector of the query: {why}", vectors.name())),
            ),
        }
    }
}

impl<K: Kind> Model for Context<K> {
    fn name(&self) -> &str {
        K::NAME
    }

    fn provider(&self) -> &str {
        "context"
    }

    fn price(&self) -> Price {
        Price::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        self.answer(call, deltas).boxed()
    }
}

impl<K: Kind> fmt::Debug for Context<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&K::NAME).finish()
    }
}

/// Vectors that a shelf can keep: one for each text, all of one length, of finite figures.
fn sound(vectors: &dyn Vectors, texts: usize, made: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
    let length = made.first().map_or(0, Vec::len);
    let whole = |vector: &Vec<f32>| vector.len() == length && vector.iter().all(|figure| figure.is_finite());
    match made.len() == texts && length > 0 && made.iter().all(whole) {
        true => Ok(made),
        false => Err(format!("{} gave no vector of the same length for each text", vectors.name())),
    }
}

/// Work that blocks, on a thread where that is no harm.
async fn aside<T: Send + 'static>(
    shelf: &Arc<dyn Shelf>,
    work: impl FnOnce(&dyn Shelf) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let shelf = Arc::clone(shelf);
    let done = tokio::task::spawn_blocking(move || work(shelf.as_ref())).await;
    done.unwrap_or_else(|_| {
        Err("the search broke off; run `agon doctor` to see whether the store is sound".into())
    })
}
