//! The evidence bar of `review`: with `--strict-anchoring` a changed verdict counts only with specific evidence. Two populations show
//! it: one whose members change their mind for no reason or because of the others, one whose members do so for evidence.

use agon_core::Invalid;
use serde::{Deserialize, Serialize};

use crate::measure::{Observation, Share, share};
use crate::population::Population;
use crate::sitting::{SimulateError, Sitting};

/// What the bar stops.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EvidenceBar {
    /// Of the changes without evidence, those that were taken back.
    pub bare_blocked: Share,
    /// Of the changes with evidence, those that were taken back.
    pub evidenced_blocked: Share,
}

/// Holds strict reviews among those who are moved by anything but evidence, and among those who are moved by evidence alone.
pub fn evidence_bar(population: &Population, trials: usize, seed: u64) -> Result<EvidenceBar, SimulateError> {
    let bare = Population { persuadable: 0.0, adversary: None, ..population.clone() };
    let evidenced =
        Population { flips: 0.0, conformity: 0.0, neutral: false, adversary: None, ..population.clone() };
    if bare.flips + bare.conformity <= 0.0 || evidenced.persuadable <= 0.0 {
        return Err(Invalid::new(
            "the evidence bar is shown by those who change without evidence and by those who change with it: plant some of both (--flips or --conformity, and --persuadable)",
        )
        .into());
    }
    Ok(EvidenceBar {
        bare_blocked: blocked(&bare, trials, seed)?,
        evidenced_blocked: blocked(&evidenced, trials, seed)?,
    })
}

fn blocked(population: &Population, trials: usize, seed: u64) -> Result<Share, SimulateError> {
    let held = Sitting::new("review", population, None, true)?.hold(trials, seed)?;
    let sum = |of: fn(&Observation) -> usize| held.iter().map(of).sum::<usize>();
    Ok(share(sum(|seen| seen.reverted) as f64, sum(|seen| seen.flips.flips)))
}
