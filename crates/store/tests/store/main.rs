//! Tests of the store through its public interface: durability, leases, search, and what is written when a debate
//! closes. `fixtures` makes the debates. `tests/store_on_postgres` runs the tests that are not about a file on a server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod closed_debates;
mod copies;
mod debate_list;
mod debate_messages;
mod deliveries;
mod failing_disk;
mod fixtures;
mod group_commit;
mod housekeeping;
mod knowledge;
mod leases;
mod lock_files;
mod logs;
mod memories;
mod power_failures;
mod processes;
mod ratings;
mod rebuild;
mod resolutions;
mod search;
mod shared_limits;
mod store_file;
mod test_home;
mod vectors;
