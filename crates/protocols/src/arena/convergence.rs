//! How the proposals relate to each other, and whether they have converged.
//!
//! The clerk says of every two proposals whether they are the same, compatible or in conflict, how similar they are, and which words
//! show it. Code verifies the labels and the quotes; a pair that does not verify is unknown. Proposals that are equal after
//! normalization are the same whatever is declared. What an agent declares about its own proposal outranks the clerk.

use agon_core::{Corrupt, PhaseTurn};
use serde::{Deserialize, Serialize};

use super::ArenaPhase;
use super::log::{ArenaLog, speaker};
use super::replies::{PairRelation, PairReply, ProposalQuote, SimilarityReply, SortingReply};
use super::voting::rounded;
use crate::clerk::CLERK;
use crate::quotes::QUOTE_EXACTLY;

/// Comparisons with the threshold allow for rounding.
const THRESHOLD_TOLERANCE: f64 = 1e-9;

/// How two proposals relate, by their labels. `a` is before `b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ComparedPair {
    pub(super) a: String,
    pub(super) b: String,
    /// `None` if it is not known, like the similarity.
    pub(super) relation: Option<PairRelation>,
    pub(super) similarity: Option<f64>,
    /// Words of both proposals. None for proposals that are equal.
    pub(super) quotes: Vec<ProposalQuote>,
}

impl ComparedPair {
    fn unknown(log: &ArenaLog<'_>, a: usize, b: usize) -> Self {
        let [a, b] = [a, b].map(|place| log.label(place).to_owned());
        Self { a, b, relation: None, similarity: None, quotes: Vec::new() }
    }

    fn is_of(&self, one: &str, other: &str) -> bool {
        [(one, other), (other, one)].contains(&(self.a.as_str(), self.b.as_str()))
    }
}

/// What of a sorting verifies.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SortedPairs {
    /// Every two proposals, in label order.
    pairs: Vec<ComparedPair>,
    /// Where the pairs contradict each other, in words.
    contradictions: Vec<String>,
    /// What does not verify, in sentences for the clerk.
    faults: Vec<String>,
}

impl SortedPairs {
    /// Verifies a sorting of the proposals that are held now.
    pub(super) fn verify(log: &ArenaLog<'_>, said: &SortingReply) -> Self {
        let mut sorted = Self::default();
        let known = |label: &str| log.place(label).filter(|place| log.proposal(*place).is_some());
        for PairReply { a, b, .. } in &said.pairs {
            sorted.faults.extend(match (known(a), known(b)) {
                (Some(one), Some(other)) if one == other => {
                    Some(format!("{} is paired with itself.", log.name(one)))
                }
                (Some(_), Some(_)) => None,
                _ => Some(format!("There is no pair of {a:?} and {b:?}.")),
            });
        }
        let stage = log.stages.len().saturating_sub(1);
        for (a, b) in all_pairs(&log.proposers()) {
            let is_about = |pair: &&PairReply| {
                let labels = (known(&pair.a), known(&pair.b));
                labels == (Some(a), Some(b)) || labels == (Some(b), Some(a))
            };
            let declared: Vec<&PairReply> = said.pairs.iter().filter(is_about).collect();
            let (names, is_equal) = (log.names(&[a, b]), log.is_equal(stage, a, b));
            if declared.is_empty() && !is_equal {
                sorted.faults.push(format!("The pair of {names} is missing."));
            }
            let verified = declared.into_iter().filter_map(|pair| sorted.verified(log, [a, b], pair));
            let verified: Vec<ComparedPair> = verified.collect();
            if verified.len() > 1 {
                sorted.faults.push(format!("The pair of {names} is listed twice."));
            }
            let unknown = ComparedPair::unknown(log, a, b);
            sorted.pairs.push(match <[ComparedPair; 1]>::try_from(verified) {
                _ if is_equal => {
                    ComparedPair { relation: Some(PairRelation::Same), similarity: Some(1.0), ..unknown }
                }
                Ok([pair]) => pair,
                Err(_) => unknown,
            });
        }
        sorted.contradictions = sorted.contradictions(log);
        sorted.faults.extend(sorted.contradictions.iter().map(|one| format!("{one}: change at least one.")));
        sorted
    }

    /// What to tell the clerk; `None` if everything verifies.
    pub(super) fn fault(&self) -> Option<String> {
        (!self.faults.is_empty()).then(|| self.faults.join(" "))
    }

    /// A declared pair whose quotes verify: at least one of each proposal.
    fn verified(
        &mut self,
        log: &ArenaLog<'_>,
        [a, b]: [usize; 2],
        declared: &PairReply,
    ) -> Option<ComparedPair> {
        let names = log.names(&[a, b]);
        let mut verified: Vec<(usize, ProposalQuote)> = Vec::new();
        let says = |place: usize, quote: &str| {
            log.proposal(place).is_some_and(|held| log.quoted.is_quoted(quote, &held.said.now.text()))
        };
        for ProposalQuote { label, quote } in &declared.quotes {
            match log.place(label).filter(|place| [a, b].contains(place) && says(*place, quote)) {
                Some(by) => {
                    let (label, quote) = (log.label(by).to_owned(), quote.trim().to_owned());
                    verified.push((by, ProposalQuote { label, quote }));
                }
                None => self.faults.push(format!(
                    "In the pair of {names}, the quote of {label} does not occur in its proposal: {quote:?} ({QUOTE_EXACTLY})."
                )),
            }
        }
        if [a, b].iter().any(|place| !verified.iter().any(|(by, _)| by == place)) {
            // A quote that does not occur is named already.
            let is_said =
                |place: &usize| declared.quotes.iter().any(|one| log.place(&one.label) == Some(*place));
            if ![a, b].iter().all(is_said) {
                self.faults.push(format!("The pair of {names} needs a quote of each proposal."));
            }
            return None;
        }
        let (relation, similarity) = (Some(declared.relation), Some(declared.similarity));
        let quotes = verified.into_iter().map(|(_, quote)| quote).collect();
        Some(ComparedPair { relation, similarity, quotes, ..ComparedPair::unknown(log, a, b) })
    }

    /// Proposals that are the same must relate alike to every other one.
    fn contradictions(&self, log: &ArenaLog<'_>) -> Vec<String> {
        let relation = |a: usize, b: usize| {
            let pair = self.pairs.iter().find(|pair| pair.is_of(log.label(a), log.label(b)))?;
            Some((pair.relation?, format!("{}: {}", log.names(&[a, b]), pair.relation?.as_str())))
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ConvergenceCheck {
    pub(super) round: u32,
    #[serde(default)]
    pub(super) after_challenge: bool,
    /// The lowest similarity, 0 for a conflict; `None` if it is not known.
    pub(super) agreement_min: Option<f64>,
    pub(super) agreement_mean: Option<f64>,
    /// How similar the proposals are to the ones before them; `None` if that is not known of each that was revised.
    pub(super) stability_min: Option<f64>,
    pub(super) stability_mean: Option<f64>,
    pub(super) converged: bool,
    /// What the clerk says of every two proposals.
    pub(super) pairs: Vec<ComparedPair>,
    /// The conflicts that agents declare and that still count, each with who declares it first.
    pub(super) conflicts: Vec<[String; 2]>,
    /// Whose proposals changed in this stage.
    pub(super) changed: Vec<String>,
    /// The clerk's model; `None` if the clerk was absent.
    pub(super) sorted_by: Option<String>,
    /// What embeddings say, which decides nothing.
    pub(super) embedding: Option<EmbeddingFigures>,
    /// The stage whose proposals were sorted.
    #[serde(skip)]
    pub(super) stage: usize,
    /// Where the pairs contradict each other, in words.
    #[serde(skip)]
    pub(super) contradictions: Vec<String>,
}

impl ConvergenceCheck {
    /// The check of the proposals that are held now; `None` before the first, and while the clerk has not answered.
    pub(super) fn read(log: &ArenaLog<'_>, turn: &PhaseTurn) -> Result<Option<Self>, Corrupt> {
        let Some(last) = log.stages.last().filter(|_| turn.outstanding().next().is_none()) else {
            return Ok(None);
        };
        let (stage, holders) = (log.stages.len() - 1, log.proposers());
        let (mut sorted, mut sorted_by, mut measured) = (None, None, None);
        for (ask, reply) in turn.settled() {
            let Some(value) = reply.value() else { continue };
            if ask.seat == CLERK {
                sorted = Some(SortedPairs::verify(log, &SortingReply::deserialize(value)?));
                sorted_by = Some(speaker(turn, ask).unwrap_or_default());
            } else {
                let rows = SimilarityReply::deserialize(value)?.similarity;
                measured = Some((rows, speaker(turn, ask).unwrap_or_default()));
            }
        }
        let unknown =
            || all_pairs(&holders).into_iter().map(|(a, b)| ComparedPair::unknown(log, a, b)).collect();
        let SortedPairs { pairs, contradictions, .. } =
            sorted.unwrap_or_else(|| SortedPairs { pairs: unknown(), ..SortedPairs::default() });
        let figure = |pair: &ComparedPair| match pair.relation? {
            PairRelation::Conflict => Some(0.0),
            PairRelation::Same | PairRelation::Compatible => pair.similarity,
        };
        let figures: Vec<f64> = pairs.iter().filter_map(figure).collect();
        let (is_known, agreement) = (figures.len() == pairs.len(), FigureSpread::of(&figures));
        let has_conflict = pairs.iter().any(|pair| pair.relation == Some(PairRelation::Conflict));
        // Nothing is lower than a conflict, whatever the other pairs are.
        let agreement_min = agreement.map(|spread| spread.min).filter(|_| is_known || has_conflict);
        let conflicts = log.declared_conflicts(stage);
        let threshold = log.options.convergence_threshold - THRESHOLD_TOLERANCE;
        let is_similar = agreement_min.is_some_and(|least| least >= threshold);
        let changed: Vec<usize> =
            holders.iter().copied().filter(|place| log.is_revised(stage, *place)).collect();
        let rows = measured.as_ref().map(|(rows, _)| rows.as_slice());
        let stability = stability(log, stage, &changed, rows);
        let label = |place: usize| log.label(place).to_owned();
        Ok(Some(Self {
            round: turn.phase.round,
            after_challenge: last.phase == ArenaPhase::Challenge,
            agreement_min,
            agreement_mean: agreement.map(|spread| spread.mean).filter(|_| is_known),
            stability_min: stability.map(|spread| spread.min),
            stability_mean: stability.map(|spread| spread.mean),
            converged: sorted_by.is_some() && is_known && !has_conflict && conflicts.is_empty() && is_similar,
            pairs,
            conflicts: conflicts.into_iter().map(|(one, other)| [label(one), label(other)]).collect(),
            changed: log.labels(&changed),
            sorted_by,
            embedding: measured
                .as_ref()
                .and_then(|(rows, model)| embedded_agreement(rows, model, holders.len())),
            stage,
            contradictions,
        }))
    }

    /// What the clerk says of two proposals.
    pub(super) fn relation(&self, one: &str, other: &str) -> Option<PairRelation> {
        self.pairs.iter().find(|pair| pair.is_of(one, other))?.relation
    }

    /// The pairs of which nothing is known.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &ComparedPair> {
        self.pairs.iter().filter(|pair| pair.relation.is_none())
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
