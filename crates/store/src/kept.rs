//! What the store keeps beside the logs, as the rest of the program asks for it.
//!
//! Reading answers at once. A change is queued at once and made by the writer; its answer comes when it is on the disk.

use agon_core::lesson::Standing;
use agon_engine::StoreError;
use agon_evidence::calibration::{Resolution, Truth};

use crate::deliveries::{self, Delivery, DeliveryState, NewDelivery, Next};
use crate::knowledge::hybrid::{self, KnowledgeHit};
use crate::knowledge::{self, Knowledge, NewKnowledge};
use crate::memory::{self, MemoryHit};
use crate::ratings::{self, Rated};
use crate::rebuild::{self, Rebuilt};
use crate::resolutions::{self, By, Resolved};
use crate::sqlite::Answer;
use crate::{Sqlite, vectors};

/// What is known.
impl Sqlite {
    /// Adds entries and gives their ids. One that is there already, word for word and from the same source, stays as it is.
    pub fn knowledge_add(&self, entries: Vec<NewKnowledge>) -> Answer<'_, Vec<String>> {
        self.change(move |store| knowledge::add(store, &entries))
    }

    /// The entries, newest first.
    pub fn knowledge_list(&self, limit: usize) -> Result<Vec<Knowledge>, StoreError> {
        self.kept(|store| knowledge::list(store, limit))
    }

    /// The entry whose id is, or begins with, this.
    pub fn knowledge_show(&self, id: &str) -> Result<Knowledge, StoreError> {
        self.kept(|store| knowledge::show(store, id))
    }

    /// Forgets an entry, for good: its words, its vectors and what it is found by. Gives what it was. The log of a debate
    /// keeps what was said in it.
    pub fn knowledge_forget(&self, id: &str) -> Answer<'_, Knowledge> {
        let id = id.to_owned();
        self.change(move |store| knowledge::forget(store, &id))
    }

    /// The entries that have words of the query, or mean something like it, the best first. The vector is the query's, with
    /// the name of the model that made it.
    pub fn knowledge_search(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<KnowledgeHit>, StoreError> {
        self.kept(|store| hybrid::search(store, query, vector, limit))
    }

    /// The ids and texts of entries and memories that have no vector of this model yet.
    pub fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, StoreError> {
        self.kept(|store| vectors::unindexed(store, model, limit))
    }

    /// Keeps vectors, each with the id and the text that [`unindexed`](Self::unindexed) gave. Those of what is gone by now, or
    /// has other words, are left out.
    pub fn index_vectors(&self, model: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Answer<'_, ()> {
        let model = model.to_owned();
        self.change(move |store| vectors::index(store, &model, &vectors))
    }
}

/// What agents remember, and how they stand.
impl Sqlite {
    /// What these agents remember by now that has to do with the query, what counts most first: of each agent its best
    /// `limit`.
    pub fn recall(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        now_s: i64,
        limit: usize,
    ) -> Result<Vec<MemoryHit>, StoreError> {
        self.kept(|store| memory::recall(store, agents, query, vector, now_s, limit))
    }

    /// Everybody who was rated or has voted, the best first.
    pub fn ratings(&self) -> Result<Vec<Rated>, StoreError> {
        self.kept(ratings::list)
    }

    /// How these agents stand, in the same order; one that was never rated stands as everybody begins.
    pub fn standings(&self, agents: &[String]) -> Result<Vec<Standing>, StoreError> {
        self.kept(|store| ratings::standings(store, agents))
    }

    /// Makes all that is kept of debates again from their logs, and tells what was not as the logs have it.
    pub fn rebuild(&self) -> Answer<'_, Rebuilt> {
        self.change(rebuild::rebuild)
    }

    /// Says how a debate turned out, and has its agents' memories observe it. What was said before is corrected by it; to say
    /// the same again changes nothing. Refused for a debate that is not over and for a label that has no proposal.
    pub fn resolve(
        &self,
        debate: &str,
        resolution: Resolution,
        note: Option<String>,
        at: &str,
    ) -> Answer<'_, Resolved> {
        self.resolve_by(debate, resolution, note, at, By::Lesson)
    }

    /// The same for a debate that may leave no lesson: `turned_out` is then how its decision turned out.
    pub fn resolve_as(
        &self,
        debate: &str,
        resolution: Resolution,
        note: Option<String>,
        at: &str,
        turned_out: Option<Truth>,
    ) -> Answer<'_, Resolved> {
        self.resolve_by(debate, resolution, note, at, By::Positions(turned_out))
    }

    fn resolve_by(
        &self,
        debate: &str,
        resolution: Resolution,
        note: Option<String>,
        at: &str,
        by: By,
    ) -> Answer<'_, Resolved> {
        let (debate, at) = (debate.to_owned(), at.to_owned());
        self.change(move |store| resolutions::resolve(store, &debate, &resolution, note.as_deref(), &at, by))
    }

    /// The debates of which it is known how they turned out, the last resolved first, each with the last word on it.
    pub fn resolved(&self, limit: usize) -> Result<Vec<(String, Resolved)>, StoreError> {
        self.kept(|store| resolutions::latest(store, limit))
    }

    /// How a debate turned out: all that was said of it, in order. The last counts.
    pub fn resolutions(&self, debate: &str) -> Result<Vec<Resolved>, StoreError> {
        self.kept(|store| resolutions::list(store, debate))
    }
}

/// What is to be delivered.
impl Sqlite {
    /// Binds deliveries to a debate that is about to be opened, and gives their ids. They are due when it closes.
    pub fn deliveries_bind(&self, debate: &str, new: Vec<NewDelivery>) -> Answer<'_, Vec<i64>> {
        let debate = debate.to_owned();
        self.change(move |store| deliveries::bind(store, &debate, &new))
    }

    /// Claims what is to be sent now, for a minute. Deliveries whose debates were not opened within a day are dropped.
    pub fn deliveries_due(&self, now_s: i64, limit: usize) -> Answer<'_, Vec<Delivery>> {
        // Who asks every second must not write every second.
        match self.kept(|store| deliveries::waits(store, now_s)) {
            Ok(true) => self.change(move |store| deliveries::due(store, now_s, limit)),
            Ok(false) => Box::pin(async { Ok(Vec::new()) }),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    /// Claims this one for a minute, if it is to be sent now.
    pub fn delivery_claim(&self, id: i64, now_s: i64) -> Answer<'_, Option<Delivery>> {
        self.change(move |store| deliveries::claim(store, id, now_s))
    }

    /// It arrived.
    pub fn delivery_done(&self, id: i64, now_s: i64) -> Answer<'_, ()> {
        self.change(move |store| deliveries::done(store, id, now_s))
    }

    /// It did not arrive.
    pub fn delivery_failed(&self, id: i64, error: &str, next: Next) -> Answer<'_, ()> {
        let error = error.to_owned();
        self.change(move |store| deliveries::failed(store, id, &error, next))
    }

    /// Has one that was given up tried again, with all its attempts.
    pub fn delivery_retry(&self, id: i64) -> Answer<'_, Delivery> {
        self.change(move |store| deliveries::retry(store, id))
    }

    /// The deliveries, or those in one state, newest first.
    pub fn deliveries(&self, state: Option<DeliveryState>) -> Result<Vec<Delivery>, StoreError> {
        self.kept(|store| deliveries::list(store, state))
    }
}
