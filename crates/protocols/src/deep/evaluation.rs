//! Stage 2S, standard mode: the debaters score each other's answers.

use agon_core::{AskRecord, Corrupt, PhaseTurn, SeededDraw};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::DeepPhase;
use super::log::{Debater, DeepLog};
use super::replies::Evaluation;

/// The highest score of an answer that an evaluator flags for a factual error.
const FACTUAL_ERROR_CAP: f64 = 5.0;
/// From this many debaters on, [`EVALUATORS_DRAWN`] others score each answer instead of all others.
const DRAW_FROM: u32 = 4;
const EVALUATORS_DRAWN: u32 = 3;

/// One line of the ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedAnswer {
    /// The label.
    pub debater: String,
    /// The mean of its evaluators' weighted scores, 1 to 10. Null if no evaluator scored it.
    pub score: Option<f64>,
    /// The mean of its scores standardized by evaluator. Null if no evaluator scored it.
    pub z: Option<f64>,
    /// Whether a majority of its evaluators flagged it as fabricated.
    pub disqualified: bool,
}

/// How many debaters score each answer, among `n` debaters.
pub(super) fn evaluators_each(n: u32) -> u32 {
    if n < DRAW_FROM { n.saturating_sub(1) } else { EVALUATORS_DRAWN }
}

/// Each evaluator with an answer that it scores, in seat order of the evaluators.
pub(super) fn pairs<'a>(log: &'a DeepLog<'_>) -> Vec<(&'a Debater<'a>, &'a Debater<'a>)> {
    let count = u32::try_from(log.debaters.len()).unwrap_or(u32::MAX);
    let mut pairs = Vec::new();
    for answer in &log.debaters {
        let mut others: Vec<&Debater<'_>> =
            log.debaters.iter().filter(|other| other.label != answer.label).collect();
        SeededDraw::new(log.debate.brief.seed, &format!("evaluators of {}", answer.label))
            .shuffle(&mut others);
        pairs.extend(others.into_iter().take(evaluators_each(count) as usize).map(|other| (other, answer)));
    }
    let place =
        |debater: &Debater<'_>| log.debate.brief.seats.iter().position(|seat| seat.id == debater.seat.id);
    pairs.sort_by_key(|(evaluator, answer)| (place(evaluator), answer.label.clone()));
    pairs
}

/// One evaluator's weighted score of one answer.
pub(super) struct WeightedScore {
    /// The seat.
    pub(super) evaluator: String,
    /// The label.
    pub(super) answer: String,
    pub(super) weighted: f64,
    factual_error: bool,
    fabrication: bool,
}

/// The answers, best first. Empty if there was no evaluation.
pub(super) fn ranking(log: &DeepLog<'_>) -> Result<Vec<RankedAnswer>, Corrupt> {
    let mut scores = scores(log)?;
    if scores.is_empty() {
        return Ok(Vec::new());
    }
    let flagged: Vec<String> = scores.iter().filter(|s| s.factual_error).map(|s| s.answer.clone()).collect();
    for score in scores.iter_mut().filter(|score| flagged.contains(&score.answer)) {
        score.weighted = score.weighted.min(FACTUAL_ERROR_CAP);
    }
    let mut ranked: Vec<RankedAnswer> =
        log.debaters.iter().map(|debater| rank(&debater.label, &scores)).collect();
    ranked.sort_by(|a, b| {
        // An answer that nobody scored comes after those that somebody did.
        let best_first =
            |a: Option<f64>, b: Option<f64>| b.unwrap_or(f64::MIN).total_cmp(&a.unwrap_or(f64::MIN));
        let (by_z, by_score) = (best_first(a.z, b.z), best_first(a.score, b.score));
        a.disqualified.cmp(&b.disqualified).then(by_z).then(by_score).then(a.debater.cmp(&b.debater))
    });
    Ok(ranked)
}

/// Every score as the evaluator gave it, before any cap.
pub(super) fn scores(log: &DeepLog<'_>) -> Result<Vec<WeightedScore>, Corrupt> {
    let given = log.debate.turn(DeepPhase::Evaluate.as_str(), 0).into_iter().flat_map(PhaseTurn::settled);
    let given = given.filter_map(|(ask, reply)| Some((ask, ask.about.clone()?, reply.value()?)));
    let score = |(ask, answer, value): (&AskRecord, String, &Value)| {
        let Evaluation { scores, factual_error, fabrication, .. } = Evaluation::deserialize(value)?;
        let weighted = scores.values().into_iter().zip(log.options.weights());
        let weighted = weighted.map(|(score, weight)| score * weight / 100.0).sum();
        Ok(WeightedScore { evaluator: ask.seat.clone(), answer, weighted, factual_error, fabrication })
    };
    given.map(score).collect()
}

fn rank(label: &str, scores: &[WeightedScore]) -> RankedAnswer {
    let received: Vec<&WeightedScore> = scores.iter().filter(|score| score.answer == label).collect();
    let z: Vec<f64> = received.iter().map(|score| standardized(score, scores)).collect();
    let weighted: Vec<f64> = received.iter().map(|score| score.weighted).collect();
    let accusers = received.iter().filter(|score| score.fabrication).count();
    RankedAnswer {
        debater: label.to_owned(),
        score: mean(&weighted),
        z: mean(&z),
        disqualified: accusers * 2 > received.len(),
    }
}

/// How far a score is from its evaluator's mean, in that evaluator's standard deviations. 0 if the evaluator's scores are all
/// equal.
fn standardized(score: &WeightedScore, scores: &[WeightedScore]) -> f64 {
    let given: Vec<f64> =
        scores.iter().filter(|s| s.evaluator == score.evaluator).map(|s| s.weighted).collect();
    let centre = mean(&given).unwrap_or_default();
    let squares: Vec<f64> = given.iter().map(|x| (x - centre).powi(2)).collect();
    let deviation = mean(&squares).unwrap_or_default().sqrt();
    if deviation > 1e-9 { (score.weighted - centre) / deviation } else { 0.0 }
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}
