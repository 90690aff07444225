//! The same tests as in `tests/store`, with the store on a PostgreSQL server, and the tests of what only a server has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../store/closed_debates.rs"]
mod closed_debates;
#[path = "../store/copies.rs"]
mod copies;
#[path = "../store/debate_list.rs"]
mod debate_list;
#[path = "../store/debate_messages.rs"]
mod debate_messages;
#[path = "../store/deliveries.rs"]
mod deliveries;
#[path = "../store/fixtures.rs"]
mod fixtures;
#[path = "../store/group_commit.rs"]
mod group_commit;
#[path = "../store/housekeeping.rs"]
mod housekeeping;
#[path = "../store/knowledge.rs"]
mod knowledge;
#[path = "../store/leases.rs"]
mod leases;
#[path = "../store/logs.rs"]
mod logs;
#[path = "../store/memories.rs"]
mod memories;
#[path = "../store/processes.rs"]
mod processes;
#[path = "../store/ratings.rs"]
mod ratings;
#[path = "../store/rebuild.rs"]
mod rebuild;
#[path = "../store/resolutions.rs"]
mod resolutions;
#[path = "../store/search.rs"]
mod search;
mod server;
#[path = "../store/shared_limits.rs"]
mod shared_limits;
mod test_home;
#[path = "../store/vectors.rs"]
mod vectors;
