//! Simulated seats hold whole debates through the real engine.
//!
//! A simulation knows the right answer and what moves each seat: how often it is right, changes its mind for no reason, follows the
//! majority or the evidence, and how often a judge prefers what it is shown first. The measures read the logs of these debates
//! and must find what was planted. A tour, in reading order:
//!
//! - [`seat_behaviour`]: what is planted in the seats, and the one function by which a seat changes its mind.
//! - [`neutral`]: what debate does by itself to seats that only count the answers they hear.
//! - `prompt_reading`: what a seat sees, which is its prompt and nothing else. `simulated_models`: a seat as a model of the engine.
//! - [`debates`]: many debates of one kind.
//! - [`observation`]: what one log shows. [`estimates`]: from many logs back to what was planted, with intervals.
//! - [`findings`]: a whole simulation, from its plan to its findings. [`mod@text`]: the findings as plain text.

pub mod debates;
pub mod estimates;
pub mod findings;
pub mod neutral;
pub mod observation;
mod prompt_reading;
pub mod seat_behaviour;
mod simulated_models;
pub mod text;

pub use debates::{DebateCounter, SimulatedDebates, SimulationError, simulated_protocols};
pub use findings::{SimulationFindings, SimulationPlan, simulate};
pub use seat_behaviour::{SimulatedAdversary, SimulatedPopulation};
pub use text::text;
