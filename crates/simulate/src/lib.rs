//! Seeded populations.
pub mod neutral;
pub mod population;
