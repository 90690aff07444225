//! The verdict: the seed's record for consensus or majority, composed from the judges' own words.

use agon_core::{Brief, Termination};
use serde_json::{Map, Value, json};

use super::consensus::{column, extremes, majority, mean, range};
use super::findings::Findings;
use super::log::{self, Log, Round, Standing};
use super::{advice, attention, figure, ledger, metrics, opinion, tidy};

/// What the arithmetic says in the end, with the judges on each side by place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Consensus,
    Majority {
        majority: Vec<usize>,
        minority: Vec<usize>,
    },
    /// Two groups are alike: nobody can be said to have won.
    NoMajority,
    /// Too few judges were left for any.
    None,
}

impl Verdict {
    /// What follows from where the judges stand in the end.
    pub(super) fn of(log: &Log<'_>, termination: Termination) -> Self {
        let last = log.last().filter(|_| termination != Termination::QuorumLost);
        last.map_or(Self::None, |last| Self::after(log, last))
    }

    /// What follows from where the judges stand after a round.
    pub(super) fn after(log: &Log<'_>, round: &Round) -> Self {
        if !log.has_quorum() || !(round.is_quorate() || log.was_cut()) {
            return Self::None;
        }
        if round.check.reached {
            return Self::Consensus;
        }
        let Some(majority) = majority(&round.scores()) else { return Self::NoMajority };
        let minority = log.places().into_iter().filter(|place| !majority.contains(place)).collect();
        Self::Majority { majority, minority }
    }

    /// Its kind and the score that it comes to after a round, as short as they are told: `consensus 4.2`.
    pub(super) fn named(&self, round: &Round) -> Option<String> {
        let scores = round.scores();
        let of = |places: &[usize]| -> Vec<f64> {
            places.iter().filter_map(|place| scores.get(*place).copied()).collect()
        };
        match self {
            Self::Consensus => Some(format!("consensus {}", figure(mean(&scores)))),
            Self::Majority { majority, .. } => Some(format!("majority {}", figure(mean(&of(majority))))),
            Self::NoMajority => Some("no majority".to_owned()),
            Self::None => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&'static str> {
        match self {
            Self::Consensus => Some("consensus"),
            Self::Majority { .. } => Some("majority"),
            Self::NoMajority => Some("no_majority"),
            Self::None => None,
        }
    }

    /// Whether a judge is on the side that the verdict takes.
    pub(super) fn is_with(&self, place: usize) -> bool {
        match self {
            Self::Consensus => true,
            Self::Majority { majority, .. } => majority.contains(&place),
            Self::NoMajority | Self::None => false,
        }
    }
}

/// The verdict as one document: the seed's fields for its kind first, in the seed's order, then what every verdict has.
pub(super) fn record(log: &Log<'_>, verdict: &Verdict) -> Value {
    let findings = Findings::of(log);
    let mut fields = match verdict {
        Verdict::Consensus => consensus(log, &findings.convergent),
        Verdict::Majority { majority, minority } => majority_record(log, verdict, majority, minority),
        Verdict::NoMajority => no_majority(log, verdict),
        Verdict::None => fields(
            json!({"verdict_type": null, "rounds_completed": completed(log), "consensus_reached": false, "confidence": null}),
        ),
    };
    let weighted = log.weighted(&log.places()).filter(|_| *verdict != Verdict::None);
    let more = json!({
        "feature": log::feature_of(&log.debate.brief),
        "status": weighted.map(|weighted| log.band(weighted)),
        "weighted_score": weighted.map(tidy),
        "bands": bands(&log.debate.brief),
        "thresholds": {
            "consensus_range": log.debate.brief.float("consensus_range"),
            "dimension_range": log.debate.brief.float("dimension_range"),
        },
        "judges": judges(log),
        "critical_findings": ledger::record(log),
        "dimension_consensus": dimensions(log),
        "convergent_findings": findings.convergent,
        "shared_findings": findings.shared,
        "divergent_findings": findings.divergent,
        "rubric": log.rubric.record(),
        "debate_metrics": metrics::record(log, verdict),
    });
    for (key, value) in self::fields(more) {
        fields.entry(key).or_insert(value);
    }
    Value::Object(fields)
}

/// The last round that counts.
pub(super) fn completed(log: &Log<'_>) -> u32 {
    log.completed().last().map_or(0, |round| round.number)
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// "Consensus Verdict (all scores within 0.5)".
fn consensus(log: &Log<'_>, convergent: &[Value]) -> Map<String, Value> {
    let scores = scores(log, &log.places());
    fields(json!({
        "verdict_type": "consensus",
        "rounds_completed": completed(log),
        "consensus_reached_at_round": log.last().map(|round| round.number),
        "consensus_score": tidy(mean(&scores)),
        "score_range": score_range(&scores),
        "confidence": confidence(log, &Verdict::Consensus),
        "dimension_consensus": dimensions(log),
        "convergent_findings": convergent,
        "balanced_assessment": opinion::balanced(log),
        "recommendations": advice::record(log, &Verdict::Consensus),
    }))
}

/// "Majority Verdict (Round 3 without consensus)".
fn majority_record(
    log: &Log<'_>,
    verdict: &Verdict,
    majority: &[usize],
    minority: &[usize],
) -> Map<String, Value> {
    let ours = mean(&scores(log, majority));
    let theirs = (!minority.is_empty()).then(|| mean(&scores(log, minority)));
    fields(json!({
        "verdict_type": "majority",
        "rounds_completed": completed(log),
        "consensus_reached": false,
        "majority_score": tidy(ours),
        "minority_score": theirs.map(tidy),
        "score_gap": theirs.map(|theirs| tidy((ours - theirs).abs())),
        "majority_judges": log.ids(majority),
        "minority_judges": log.ids(minority),
        "confidence": confidence(log, verdict),
        "majority_opinion": opinion::of_group(log, "## Majority Position", majority),
        "minority_opinion": (!minority.is_empty())
            .then(|| opinion::of_group(log, "## Minority Position (Dissent)", minority)),
        "user_attention_needed": attention::record(log, verdict),
        "recommendations": advice::record(log, verdict),
    }))
}

/// Two groups alike: all scores and positions, and everything to the user.
fn no_majority(log: &Log<'_>, verdict: &Verdict) -> Map<String, Value> {
    let scores = scores(log, &log.places());
    let positions = log.judges.iter().zip(&scores).map(|(judge, score)| {
        json!({"judge_id": judge.id, "stance": judge.stance.as_str(), "score": score, "position": judge.position()})
    });
    fields(json!({
        "verdict_type": "no_majority",
        "rounds_completed": completed(log),
        "consensus_reached": false,
        "scores": scores,
        "score_range": score_range(&scores),
        "confidence": confidence(log, verdict),
        "positions": positions.collect::<Vec<_>>(),
        "user_attention_needed": attention::record(log, verdict),
        "recommendations": advice::record(log, verdict),
    }))
}

/// The scores of some judges in the end.
pub(super) fn scores(log: &Log<'_>, places: &[usize]) -> Vec<f64> {
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    places.iter().filter_map(|place| standings.get(*place)).map(|standing| standing.score).collect()
}

fn score_range(scores: &[f64]) -> Value {
    let (low, high) = extremes(scores);
    json!([low, high])
}

/// Consensus is HIGH where all who sit were heard to the end, else MEDIUM like a majority; LOW where nobody won. An open critical
/// finding is never HIGH, because it is never consensus.
fn confidence(log: &Log<'_>, verdict: &Verdict) -> Option<&'static str> {
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    let whole = standings.len() == log.seated() && standings.iter().all(|standing| standing.present);
    match verdict {
        Verdict::Consensus if whole => Some("HIGH"),
        Verdict::Consensus | Verdict::Majority { .. } => Some("MEDIUM"),
        Verdict::NoMajority => Some("LOW"),
        Verdict::None => None,
    }
}

/// Each dimension's average and range, by name.
fn dimensions(log: &Log<'_>) -> Value {
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    if standings.is_empty() {
        return json!({});
    }
    let dimensions = log.rubric.dimensions.iter().enumerate();
    let records = dimensions.map(|(place, dimension)| {
        let scores = column(standings, place);
        (dimension.key.clone(), json!({"average": tidy(mean(&scores)), "range": tidy(range(&scores))}))
    });
    Value::Object(records.collect())
}

fn bands(brief: &Brief) -> Value {
    let bands = super::bands(brief.text("bands"));
    bands.map_or(Value::Null, |(green, yellow)| json!({"green": green, "yellow": yellow}))
}

/// A judge's scores by dimension.
fn by_dimension(log: &Log<'_>, standing: &Standing) -> Map<String, Value> {
    let keys = log.rubric.dimensions.iter().map(|dimension| dimension.key.clone());
    keys.zip(standing.dimensions.iter().map(|score| json!(score))).collect()
}

/// The same after one round, with the dimensions that were carried forward from the round before.
fn in_round(log: &Log<'_>, round: &Round, place: usize) -> Option<Value> {
    let (judge, standing) = (log.judges.get(place)?, round.standings.get(place)?);
    let keys = log.rubric.dimensions.iter().map(|dimension| dimension.key.as_str());
    let carried = keys.filter(|key| judge.dimension(round.number, key).is_none());
    Some(json!({
        "round": round.number,
        "dimension_scores": by_dimension(log, standing),
        "carried": carried.collect::<Vec<_>>(),
    }))
}

/// Each judge with its scores by round, its dimensions in the end, and the rounds in which they were carried forward.
fn judges(log: &Log<'_>) -> Vec<Value> {
    let Some(last) = log.last() else { return Vec::new() };
    let judges = log.judges.iter().zip(&last.standings).enumerate();
    judges
        .map(|(place, (judge, standing))| {
            let rounds = || log.rounds.iter().filter(|round| round.number <= last.number);
            let scores: Vec<f64> =
                rounds().filter_map(|round| Some(round.standings.get(place)?.score)).collect();
            let absent = |round: &&Round| round.standings.get(place).is_some_and(|s| !s.present);
            let carried: Vec<u32> = rounds().filter(absent).map(|round| round.number).collect();
            json!({
                "judge_id": judge.id,
                "stance": judge.stance.as_str(),
                "model": judge.model,
                "score": standing.score,
                "scores": scores,
                "dimension_scores": by_dimension(log, standing),
                "dimension_scores_by_round": rounds().filter_map(|round| in_round(log, round, place)).collect::<Vec<_>>(),
                "weighted": tidy(log.rubric.weighted(&standing.dimensions)),
                "carried": carried,
                "position": judge.position(),
            })
        })
        .collect()
}
