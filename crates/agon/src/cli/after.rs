//! What happens when a debate is over and its result is printed: what was learned is indexed, and the result is brought where it
//! belongs. Nobody waits for it, and nothing of it is lost: what is not done now is done by a later run.

use std::sync::Arc;

use agon_context::{Shelf, index as give_vectors};
use agon_models::Catalogue;
use agon_store::Sqlite;

use super::failure::Failure;
use super::house::{self, Kept};
use super::{post, run};

/// So many entries get their vectors in one run: a person waits for a search.
const INDEXED_MAX: usize = 2_000;

/// Does what is to be done after debates, and tells what did not work. None of it changes what they came to. What other debates left is `agon deliver`'s: this one's reader does not wait for it.
pub fn all(catalogue: &Catalogue, store: &Sqlite, debates: &[String], quiet: bool) -> Result<(), Failure> {
    run::runtime()?.block_on(async {
        for debate in debates {
            post::tell(&post::deliver(store, Some(debate), post::PATIENCE).await, quiet);
        }
        // Words find it until the next search makes up for what failed here.
        drop(index(catalogue, store).await);
    });
    Ok(())
}

/// The same after a batch, whose hooks have no end to wait for each: all that is due.
pub fn batch(catalogue: &Catalogue, store: &Sqlite, quiet: bool) -> Result<(), Failure> {
    run::runtime()?.block_on(async {
        post::tell(&post::deliver(store, None, post::PATIENCE).await, quiet);
        drop(index(catalogue, store).await);
    });
    Ok(())
}

/// Gives vectors to entries that have none; says why it could not.
pub async fn index(catalogue: &Catalogue, store: &Sqlite) -> Option<String> {
    let vectors = house::vectors(catalogue)?;
    let shelf: Arc<dyn Shelf> = Arc::new(Kept(store.clone()));
    give_vectors(&shelf, vectors.as_ref(), INDEXED_MAX).await.err()
}

/// The vector of a query with its model; or why there is none.
pub async fn vector(catalogue: &Catalogue, query: &str) -> (Option<(String, Vec<f32>)>, Option<String>) {
    let Some(vectors) = house::vectors(catalogue) else { return (None, None) };
    match vectors.of(&[query.to_owned()]).await {
        Ok(made) => (made.into_iter().next().map(|vector| (vectors.name().to_owned(), vector)), None),
        Err(why) => (None, Some(format!("found by words alone: {why}"))),
    }
}
