//! Names from the first edition, until every crate uses the new ones.

use agon_engine::StoreError;
use agon_measure::calibration::{Resolution, Truth};

use crate::{
    AfterFailure, AgentRating, KnowledgeEntry, KnowledgeKind, ListedDebate, LogReceipt, MatchedBy, MemoryHit,
    RebuildReport, SearchHit, SqliteStore, StoreFuture, StoreHealth, StoredDelivery, StoredResolution,
};

#[doc(hidden)]
pub type Sqlite = SqliteStore;
#[doc(hidden)]
pub type Answer<'a, T> = StoreFuture<'a, T>;
#[doc(hidden)]
pub type Health = StoreHealth;
#[doc(hidden)]
pub type Listed = ListedDebate;
#[doc(hidden)]
pub type Receipt = LogReceipt;
#[doc(hidden)]
pub type Delivery = StoredDelivery;
#[doc(hidden)]
pub type Next = AfterFailure;
#[doc(hidden)]
pub type By = MatchedBy;
#[doc(hidden)]
pub type Kind = KnowledgeKind;
#[doc(hidden)]
pub type Knowledge = KnowledgeEntry;
#[doc(hidden)]
pub type Rated = AgentRating;
#[doc(hidden)]
pub type Rebuilt = RebuildReport;
#[doc(hidden)]
pub type Resolved = StoredResolution;
#[doc(hidden)]
pub type Hit = SearchHit;

#[doc(hidden)]
impl SqliteStore {
    pub fn list(&self, limit: Option<usize>) -> Result<Vec<ListedDebate>, StoreError> {
        self.list_debates(limit)
    }

    pub fn find(&self, prefix: &str) -> Result<String, StoreError> {
        self.find_debate(prefix)
    }

    pub fn search(&self, words: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.search_debates(words, limit)
    }

    pub fn raw(&self, id: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.raw_log(id)
    }

    pub fn stored(&self, id: &str) -> Result<(ListedDebate, Vec<(String, String)>), StoreError> {
        self.debate_with_raw_log(id)
    }

    pub fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, StoreError> {
        self.texts_without_vectors(model, limit)
    }

    pub fn index_vectors(
        &self,
        model: &str,
        vectors: Vec<(String, String, Vec<f32>)>,
    ) -> StoreFuture<'_, ()> {
        self.add_vectors(model, vectors)
    }

    pub fn recall(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        now_s: i64,
        limit: usize,
    ) -> Result<Vec<MemoryHit>, StoreError> {
        self.recall_memories(agents, query, vector, now_s, limit)
    }

    pub fn resolve_as(
        &self,
        debate: &str,
        resolution: Resolution,
        note: Option<String>,
        at: &str,
        turned_out: Option<Truth>,
    ) -> StoreFuture<'_, StoredResolution> {
        self.resolve_debate(debate, resolution, note, at, turned_out)
    }

    pub fn resolved(&self, limit: usize) -> Result<Vec<(String, StoredResolution)>, StoreError> {
        self.latest_resolutions(limit)
    }
}
