//! A debate that this process has to itself.

use std::sync::Arc;

use crate::Store;

/// The lease of a debate. It is given back when the run is over, also when somebody drops the run half-way.
pub(crate) struct Lease {
    store: Arc<dyn Store>,
    id: Arc<str>,
    held: bool,
}

impl Lease {
    /// The lease of a debate that is about to be created: the first append takes it.
    pub(crate) fn to_come(store: Arc<dyn Store>, id: Arc<str>) -> Self {
        Self { store, id, held: false }
    }

    /// A lease that the store has given.
    pub(crate) fn held(store: Arc<dyn Store>, id: Arc<str>) -> Self {
        Self { store, id, held: true }
    }

    /// The store has, or may by now have, given it.
    pub(crate) fn take(&mut self) {
        self.held = true;
    }

    /// The store would not give it, so there is nothing to give back.
    pub(crate) fn refused(&mut self) {
        self.held = false;
    }

    /// Gives it back. A store that cannot take it back loses nothing: the lease ends with the process.
    pub(crate) async fn release(mut self) {
        if std::mem::take(&mut self.held) {
            let _ = self.store.release(&self.id).await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (true, Ok(runtime)) = (self.held, tokio::runtime::Handle::try_current()) {
            let (store, id) = (self.store.clone(), self.id.clone());
            runtime.spawn(async move { store.release(&id).await });
        }
    }
}
