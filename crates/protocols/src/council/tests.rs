//! Seed 002.
