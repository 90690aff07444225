//! The log: one SQLite file, or a PostgreSQL database.
//!
//! [`DebateStore`] is the store that the engine writes to. When an append returns, its records are on the disk, all of
//! them or none, and they survive whatever happens to the process. The files, in reading order:
//!
//! - `store`: the store itself: opening, reading, queuing writes, and the engine's `Store` trait.
//! - `writer`: the thread that writes. It commits everything that is queued in one transaction, so a thousand debates
//!   do not cost a thousand fsyncs.
//! - `log_table`: appending to and reading the logs.
//! - `debate_list`, `search`, `health`: what `agon list`, `agon search` and `agon doctor` read. A debate is indexed
//!   when it closes, so a search takes the same time however many debates there are.
//! - `closed_debates`: what is written in the transaction that closes a debate. Its parts are `knowledge`, `memories`,
//!   `ratings_table` and `deliveries_table`.
//! - `knowledge_search` and `vectors`: search of the knowledge store by words and by meaning.
//! - `resolutions`: what became known after a debate. `served_debates`: which request opened a debate of a server.
//! - `debate_messages`: what is said to a debate that another process runs. `shared_limits`: limits that all processes keep together.
//! - `housekeeping`: removes old debates, and gives their space back.
//! - `rebuild`: makes everything that comes from debates again from their logs. `store_copy`: copies debates to another store.
//! - `sql`: statements, values and rows that are the same for both databases. `store_address`, `store_place`, `store_fault`: where
//!   the store is, and what can be wrong.
//! - `sqlite` and `postgres`: what differs: tables, full-text search, leases, and the writer of a group. In a file, a process
//!   holds a file lock while it lives, so a killed process loses its leases at once, without a clock. On a server, it holds
//!   an advisory lock and says now and then that it is alive, and every lease has a number that an append needs.
//!
//! The store never changes or judges a debate and reads no clock for it. It stores bytes; [`agon_core::event`] checks the
//! hash chain over them. What it records about a closed debate comes from the outcome's lesson alone.

mod closed_debates;
mod debate_list;
mod debate_messages;
mod deliveries_table;
mod health;
mod housekeeping;
mod knowledge;
mod knowledge_search;
mod log_table;
mod memories;
mod postgres;
mod ratings_table;
mod rebuild;
mod resolutions;
mod search;
mod served_debates;
mod shared_limits;
mod sql;
mod sqlite;
mod store;
mod store_address;
mod store_copy;
mod store_fault;
mod store_place;
mod vectors;
mod writer;

pub use closed_debates::LogReceipt;
pub use debate_list::{DebateProgress, ListedDebate};
pub use debate_messages::{DebateMessage, StoredMessage};
pub use deliveries_table::{AfterFailure, DeliveryState, NewDelivery, StoredDelivery};
pub use health::StoreHealth;
pub use housekeeping::{PrunedDebates, VacuumedFile};
pub use knowledge::{KnowledgeEntry, KnowledgeKind, NewKnowledge};
pub use knowledge_search::{KnowledgeHit, MatchedBy};
pub use memories::MemoryHit;
pub use postgres::PostgresAddress;
pub use ratings_table::AgentRating;
pub use rebuild::RebuildReport;
pub use resolutions::StoredResolution;
pub use search::{HIT_END, HIT_START, SearchHit};
pub use served_debates::ServedRequest;
pub use shared_limits::{AllowanceAnswer, AllowanceClaim};
pub use store::{DebateStore, StoreFuture};
pub use store_address::StoreAddress;
pub use store_copy::CopyReport;

/// The version of the tables in a file.
pub const FILE_SCHEMA_VERSION: i64 = sqlite::schema::VERSION;
/// The oldest version of a file that is brought up to date.
pub const FILE_SCHEMA_OLDEST: i64 = sqlite::schema::OLDEST_VERSION;
/// The version of the tables on a server.
pub const SERVER_SCHEMA_VERSION: i64 = postgres::schema::VERSION;
