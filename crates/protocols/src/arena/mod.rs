//! `arena` (seed 003).

pub mod rhetoric;
#[cfg(test)]
mod tests;
pub mod trickster;
