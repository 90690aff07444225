//! The page of `agon serve` in a real browser, and what its routes answer.
//!
//! Without a browser the tests of the screens say so and pass; with `AGON_BROWSER=required` they fail. `AGON_PICTURES=FOLDER` saves a
//! picture of each screen there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../../../report/tests/report/chromium/mod.rs"]
#[allow(dead_code, reason = "the tests of exported pages use the rest")]
mod chromium;
mod forms;
mod people;
mod routes;
mod screens;
mod server;
mod window;
