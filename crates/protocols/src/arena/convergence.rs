//! How the proposals relate to each other, and whether they have converged.
//!
//! The clerk says of every two proposals whether they are the same, compatible or in conflict, how similar they are, and which words
//! show it. Code verifies the labels and the quotes; a pair that does not verify is unknown. Proposals that are equal after
//! normalization are the same whatever is declared. What an agent declares about its own proposal outranks the clerk.

use agon_core::{Corrupt, PhaseTurn};
use serde::{Deserialize, Serialize};

use super::log::{ArenaLog, speaker};
use super::replies::{PairRelation, PairReply, SimilarityReply, SortingReply};
use super::voting::rounded;
use crate::clerk::CLERK;
use crate::quotes::{QUOTE_EXACTLY, is_quote_of, normalized};

/// Comparisons with the threshold allow for rounding.
const THRESHOLD_TOLERANCE: f64 = 1e-9;

/// Two proposals of which it is known how they relate. `a` is before `b` in label order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VerifiedPair {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) relation: PairRelation,
    pub(super) similarity: f64,
    /// Words of both proposals, each with its author. None for proposals that are equal.
    pub(super) quotes: Vec<(usize, String)>,
}

/// What of a sorting verifies.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SortedPairs {
    pub(super) pairs: Vec<VerifiedPair>,
    /// Where the pairs contradict each other, in words.
    contradictions: Vec<String>,
    /// What does not verify, in sentences for the clerk.
    faults: Vec<String>,
}

impl SortedPairs {
    /// Verifies a sorting of the proposals that are held now.
    pub(super) fn verify(log: &ArenaLog<'_>, said: &SortingReply) -> Self {
        let text = |place: &usize| {
            log.proposal(*place).map_or(String::new(), |held| log.quoted.shown(&held.said.text()))
        };
        // What the clerk was shown, prepared once because every quote is compared with it.
        let shown: Vec<(usize, String)> =
            log.proposers().iter().map(|place| (*place, normalized(&text(place)))).collect();
        let mut sorted = Self::default();
        let mut twice: Vec<(usize, usize)> = Vec::new();
        for declared in &said.pairs {
            let Some(pair) = sorted.verified_pair(log, &shown, declared) else { continue };
            match sorted.pairs.iter().any(|other| (other.a, other.b) == (pair.a, pair.b)) {
                true => twice.push((pair.a, pair.b)),
                false => sorted.pairs.push(pair),
            }
        }
        let again =
            twice.iter().map(|(a, b)| format!("The pair of {} is listed twice.", log.names(&[*a, *b])));
        sorted.faults.extend(again);
        sorted.pairs.retain(|pair| !twice.contains(&(pair.a, pair.b)));
        let stage = log.stages.len().saturating_sub(1);
        sorted.pairs.retain(|pair| !log.is_equal(stage, pair.a, pair.b));
        for (a, b) in all_pairs(&log.proposers()) {
            if log.is_equal(stage, a, b) {
                let (relation, similarity) = (PairRelation::Same, 1.0);
                sorted.pairs.push(VerifiedPair { a, b, relation, similarity, quotes: Vec::new() });
            } else if !said.pairs.iter().any(|pair| is_about(log, pair, a, b)) {
                sorted.faults.push(format!("The pair of {} is missing.", log.names(&[a, b])));
            }
        }
        sorted.pairs.sort_by_key(|pair| (pair.a, pair.b));
        sorted.contradictions = sorted.contradictions(log);
        sorted.faults.extend(sorted.contradictions.iter().map(|one| format!("{one}: change at least one.")));
        sorted
    }

    /// What to tell the clerk; `None` if everything verifies.
    pub(super) fn fault(&self) -> Option<String> {
        (!self.faults.is_empty()).then(|| self.faults.join(" "))
    }

    /// A pair whose quotes verify: at least one of each proposal.
    fn verified_pair(
        &mut self,
        log: &ArenaLog<'_>,
        shown: &[(usize, String)],
        declared: &PairReply,
    ) -> Option<VerifiedPair> {
        let known = |label: &str| log.place(label).filter(|place| log.proposal(*place).is_some());
        let (Some(one), Some(other)) = (known(&declared.a), known(&declared.b)) else {
            self.faults.push(format!("There is no pair of {:?} and {:?}.", declared.a, declared.b));
            return None;
        };
        if one == other {
            self.faults.push(format!("{} is paired with itself.", log.name(one)));
            return None;
        }
        let (a, b) = (one.min(other), one.max(other));
        let mut quotes = Vec::new();
        for quote in &declared.quotes {
            let place = log.place(&quote.label).filter(|place| [a, b].contains(place));
            let source =
                shown.iter().find(|(by, text)| Some(*by) == place && is_quote_of(&quote.quote, text));
            match source {
                Some((place, _)) => quotes.push((*place, quote.quote.trim().to_owned())),
                None => self.faults.push(format!(
                    "In the pair of {}, the quote of {} does not occur in its proposal: {:?} ({QUOTE_EXACTLY}).",
                    log.names(&[a, b]),
                    quote.label,
                    quote.quote
                )),
            }
        }
        if [a, b].iter().any(|place| !quotes.iter().any(|(by, _)| by == place)) {
            // A quote that does not occur is named already.
            if [a, b]
                .iter()
                .any(|place| declared.quotes.iter().all(|said| log.place(&said.label) != Some(*place)))
            {
                self.faults
                    .push(format!("The pair of {} needs a quote of each proposal.", log.names(&[a, b])));
            }
            return None;
        }
        let PairReply { relation, similarity, .. } = *declared;
        Some(VerifiedPair { a, b, relation, similarity, quotes })
    }

    /// Proposals that are the same must relate alike to every other one.
    fn contradictions(&self, log: &ArenaLog<'_>) -> Vec<String> {
        let relation = |a: usize, b: usize| {
            let pair = self.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b))?;
            Some((pair.relation, format!("{} {}", log.names(&[a, b]), pair.relation.verb())))
        };
        let holders = log.proposers();
        let pairs = all_pairs(&holders).into_iter();
        let triples = pairs.flat_map(|(a, b)| {
            let later = holders.iter().filter(move |c| **c > b);
            later.filter_map(move |c| Some([relation(a, b)?, relation(a, *c)?, relation(b, *c)?]))
        });
        let told = triples.filter_map(|[(one, first), (other, second), (third, last)]| {
            let same = PairRelation::Same;
            let is_contradiction = (one == same && other != third)
                || (other == same && one != third)
                || (third == same && one != other);
            is_contradiction.then(|| {
                format!(
                    "{first}; {second}; {last}. These cannot all be true, because \
                     proposals that are the same relate alike to every other one"
                )
            })
        });
        told.collect()
    }
}

fn is_about(log: &ArenaLog<'_>, pair: &PairReply, a: usize, b: usize) -> bool {
    let labels = (log.place(&pair.a), log.place(&pair.b));
    labels == (Some(a), Some(b)) || labels == (Some(b), Some(a))
}

/// Every two of these places, in order.
pub(super) fn all_pairs(places: &[usize]) -> Vec<(usize, usize)> {
    let later = |n: usize| places.iter().skip(n + 1);
    places.iter().enumerate().flat_map(|(n, one)| later(n).map(move |other| (*one, *other))).collect()
}

/// The least and the mean of some figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FigureSpread {
    pub(super) min: f64,
    pub(super) mean: f64,
}

impl FigureSpread {
    fn of(figures: &[f64]) -> Option<Self> {
        let min = figures.iter().copied().reduce(f64::min)?;
        Some(Self { min, mean: rounded(figures.iter().sum::<f64>() / figures.len() as f64) })
    }
}

/// Similarities by embeddings. They are shown and decide nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EmbeddingFigures {
    pub(super) model: String,
    pub(super) agreement_min: f64,
    pub(super) agreement_mean: f64,
}

/// The check of one stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConvergenceCheck {
    pub(super) round: u32,
    /// The stage whose proposals were sorted.
    pub(super) stage: usize,
    /// The clerk's model; `None` if the clerk was absent.
    pub(super) sorted_by: Option<String>,
    /// What is known of the pairs.
    pub(super) pairs: Vec<VerifiedPair>,
    /// The pairs of which nothing is known.
    pub(super) unknown: Vec<(usize, usize)>,
    /// Where the pairs contradict each other, in words.
    pub(super) contradictions: Vec<String>,
    /// The lowest similarity, 0 for a conflict; `None` if it is not known.
    pub(super) agreement_min: Option<f64>,
    pub(super) agreement_mean: Option<f64>,
    /// How similar the proposals are to the ones before them; `None` if that is not known of each that was revised.
    pub(super) stability: Option<FigureSpread>,
    /// The conflicts that agents declare and that still count, each with who declares it first.
    pub(super) conflicts: Vec<(usize, usize)>,
    /// Whose proposals changed in this stage.
    pub(super) changed: Vec<usize>,
    pub(super) embedding: Option<EmbeddingFigures>,
    pub(super) converged: bool,
}

impl ConvergenceCheck {
    /// The check of the proposals that are held now; `None` before the first, and while the clerk has not answered.
    pub(super) fn read(log: &ArenaLog<'_>, turn: &PhaseTurn) -> Result<Option<Self>, Corrupt> {
        let stage = match log.stages.len().checked_sub(1) {
            Some(stage) if turn.outstanding().next().is_none() => stage,
            _ => return Ok(None),
        };
        let (mut sorted, mut sorted_by, mut measured) = (SortedPairs::default(), None, None);
        for (ask, reply) in turn.settled() {
            let Some(value) = reply.value() else { continue };
            if ask.seat == CLERK {
                sorted = SortedPairs::verify(log, &SortingReply::deserialize(value)?);
                sorted_by = Some(speaker(turn, ask).unwrap_or_default());
            } else {
                let rows = SimilarityReply::deserialize(value)?.similarity;
                measured = Some((rows, speaker(turn, ask).unwrap_or_default()));
            }
        }
        let holders = log.proposers();
        let SortedPairs { pairs, contradictions, .. } = sorted;
        let is_known = |(a, b): &(usize, usize)| pairs.iter().any(|pair| (pair.a, pair.b) == (*a, *b));
        let unknown: Vec<(usize, usize)> =
            all_pairs(&holders).into_iter().filter(|pair| !is_known(pair)).collect();
        let figure = |pair: &VerifiedPair| match pair.relation {
            PairRelation::Conflict => 0.0,
            PairRelation::Same | PairRelation::Compatible => pair.similarity,
        };
        let agreement = FigureSpread::of(&pairs.iter().map(figure).collect::<Vec<_>>());
        let is_conflict = |pair: &VerifiedPair| pair.relation == PairRelation::Conflict;
        let has_conflict = pairs.iter().any(is_conflict);
        // Nothing is lower than a conflict, whatever the other pairs are.
        let agreement_min = agreement.map(|spread| spread.min).filter(|_| unknown.is_empty() || has_conflict);
        let conflicts = log.declared_conflicts(stage);
        let threshold = log.options.convergence_threshold - THRESHOLD_TOLERANCE;
        let converged = sorted_by.is_some()
            && unknown.is_empty()
            && !has_conflict
            && conflicts.is_empty()
            && agreement_min.is_some_and(|least| least >= threshold);
        let changed: Vec<usize> =
            holders.iter().copied().filter(|place| log.is_revised(stage, *place)).collect();
        let rows = measured.as_ref().map(|(rows, _)| rows.as_slice());
        Ok(Some(Self {
            round: turn.phase.round,
            stage,
            agreement_min,
            agreement_mean: agreement.map(|spread| spread.mean).filter(|_| unknown.is_empty()),
            stability: stability(log, stage, &changed, rows),
            embedding: measured
                .as_ref()
                .and_then(|(rows, model)| embedded_agreement(rows, model, holders.len())),
            sorted_by,
            pairs,
            unknown,
            contradictions,
            conflicts,
            changed,
            converged,
        }))
    }

    /// What the clerk says of two proposals.
    pub(super) fn relation(&self, one: usize, other: usize) -> Option<PairRelation> {
        let pair = self.pairs.iter().find(|pair| (pair.a, pair.b) == (one.min(other), one.max(other)));
        pair.map(|pair| pair.relation)
    }
}

/// How similar each proposal of a stage is to the one before it: 1 where it is equal, and what embeddings say elsewhere.
fn stability(
    log: &ArenaLog<'_>,
    stage: usize,
    changed: &[usize],
    rows: Option<&[Vec<f64>]>,
) -> Option<FigureSpread> {
    let holders = log.proposers();
    let spoke = holders.iter().enumerate().filter(|(_, place)| log.is_new(stage, **place));
    let figures: Option<Vec<f64>> = spoke
        .map(|(row, place)| match changed.contains(place) {
            false => Some(1.0),
            true => rows?.get(row)?.get(holders.len() + row).copied(),
        })
        .collect();
    FigureSpread::of(&figures?)
}

/// The agreement by embeddings of so many proposals. The rows and columns after them are the earlier versions.
fn embedded_agreement(rows: &[Vec<f64>], model: &str, count: usize) -> Option<EmbeddingFigures> {
    let places: Vec<usize> = (0..count).collect();
    let figures = all_pairs(&places).into_iter().map(|(a, b)| rows.get(a)?.get(b).copied());
    let FigureSpread { min, mean } = FigureSpread::of(&figures.collect::<Option<Vec<f64>>>()?)?;
    Some(EmbeddingFigures { model: model.to_owned(), agreement_min: min, agreement_mean: mean })
}
