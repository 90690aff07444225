//! What the judge's scores come to, in one order of the proposals or in two, and the ratings that follow from them.

use std::cmp::Ordering;

use agon_core::lesson::RATING_INITIAL;

use super::log::ArenaLog;
use super::replies::JudgementReply;
use super::{closing, team};

/// Scores this close are equal.
pub(super) const SCORE_TOLERANCE: f64 = 1e-9;

/// What the judge said of the proposals in one order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeSheet {
    /// The order in which it read them.
    pub(super) order: Vec<usize>,
    /// Each proposal with its score and the reasons.
    pub(super) scores: Vec<(usize, f64, Vec<String>)>,
    pub(super) ranking: Vec<usize>,
    pub(super) margin_comment: Option<String>,
    /// The agent that judged.
    pub(super) model: String,
}

/// What all sheets come to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeResult {
    /// One for each order that was answered.
    pub(super) sheets: Vec<JudgeSheet>,
    /// The mean score of each proposal.
    pub(super) scores: Vec<(usize, f64)>,
    /// The best first.
    pub(super) ranking: Vec<usize>,
    /// The best; `None` if the orders disagree about it.
    pub(super) top: Option<usize>,
    /// How far it is ahead.
    pub(super) margin: f64,
    /// Whether both orders have the same best; `None` without two orders.
    pub(super) consistent: Option<bool>,
}

impl JudgeSheet {
    /// Reads a sheet. `place` gives the place of a label.
    pub(super) fn read(
        said: JudgementReply,
        order: Vec<usize>,
        model: String,
        place: impl Fn(&str) -> Option<usize>,
    ) -> Self {
        let scored = said.scores.iter();
        let scores =
            scored.filter_map(|scored| Some((place(&scored.label)?, scored.score, scored.reasons.texts())));
        let ranking = said.ranking.iter().filter_map(|label| place(label)).collect();
        let margin_comment = said.margin_comment.filter(|comment| !comment.trim().is_empty());
        Self { order, scores: scores.collect(), ranking, margin_comment, model }
    }

    fn score(&self, place: usize) -> Option<f64> {
        self.scores.iter().find(|(scored, ..)| *scored == place).map(|(_, score, _)| *score)
    }

    fn rank(&self, place: usize) -> usize {
        self.ranking.iter().position(|ranked| *ranked == place).unwrap_or(self.ranking.len())
    }

    /// The best by score, of equals the first by its ranking.
    fn top(&self) -> Option<usize> {
        let places = self.scores.iter().map(|(place, ..)| *place);
        places.min_by(|a, b| by_score(self.score(*a), self.score(*b)).then(self.rank(*a).cmp(&self.rank(*b))))
    }

    /// Whether the ranking puts a proposal above one that has a better score.
    pub(super) fn is_contradictory(&self) -> bool {
        let pairs = self.ranking.windows(2).filter_map(|pair| match pair {
            [above, below] => Some((self.score(*above)?, self.score(*below)?)),
            _ => None,
        });
        pairs.into_iter().any(|(above, below)| above < below - SCORE_TOLERANCE)
    }
}

/// A figure without the noise of binary fractions.
pub(super) fn rounded(figure: f64) -> f64 {
    const STEPS: f64 = 1e9;
    (figure * STEPS).round() / STEPS
}

/// The greater score first. Scores that are nearly the same are equal.
fn by_score(a: Option<f64>, b: Option<f64>) -> Ordering {
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    if (a - b).abs() <= SCORE_TOLERANCE { Ordering::Equal } else { b.total_cmp(&a) }
}

impl JudgeResult {
    /// What these sheets come to; `None` without any.
    pub(super) fn of(sheets: Vec<JudgeSheet>) -> Option<Self> {
        let first = sheets.first()?;
        let mean = |place: usize| {
            let given: Vec<f64> = sheets.iter().filter_map(|sheet| sheet.score(place)).collect();
            rounded(given.iter().sum::<f64>() / given.len().max(1) as f64)
        };
        let mut scores: Vec<(usize, f64)> =
            first.scores.iter().map(|(place, ..)| (*place, mean(*place))).collect();
        scores.sort_by_key(|(place, _)| *place);
        let tops: Vec<Option<usize>> = sheets.iter().map(JudgeSheet::top).collect();
        let consistent = (sheets.len() > 1).then(|| tops.windows(2).all(|pair| pair.first() == pair.last()));
        let ranks = |place: usize| -> usize { sheets.iter().map(|sheet| sheet.rank(place)).sum() };
        let mut ranked = scores.clone();
        ranked.sort_by(|(a, one), (b, other)| {
            by_score(Some(*one), Some(*other)).then(ranks(*a).cmp(&ranks(*b))).then(a.cmp(b))
        });
        let top = tops.first().copied().flatten().filter(|_| consistent != Some(false));
        let margin = match (consistent, ranked.as_slice()) {
            (Some(false), _) | (_, []) => 0.0,
            (_, [(_, only)]) => *only,
            (_, [(_, best), (_, second), ..]) => rounded(best - second).max(0.0),
        };
        let ranking = ranked.iter().map(|(place, _)| *place).collect();
        Some(Self { scores, ranking, top, margin, consistent, sheets })
    }

    /// Whether the best of every order is in this group. Proposals that say the same may swap places.
    pub(super) fn is_for(&self, group: &[usize]) -> bool {
        self.sheets.iter().all(|sheet| sheet.top().is_some_and(|top| group.contains(&top)))
    }

    pub(super) fn score(&self, place: usize) -> Option<f64> {
        self.scores.iter().find(|(scored, _)| *scored == place).map(|(_, score)| *score)
    }

    /// The result of one proposal against another: 1, 0.5 or 0. It is a tie if the orders contradict each other.
    pub(super) fn result(&self, one: usize, other: usize) -> f64 {
        let ahead = |sheet: &JudgeSheet| by_score(sheet.score(other), sheet.score(one));
        let says = |wanted: Ordering| self.sheets.iter().any(|sheet| ahead(sheet) == wanted);
        if says(Ordering::Less) && says(Ordering::Greater) {
            return 0.5;
        }
        match by_score(self.score(other), self.score(one)) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        }
    }

    /// The reasons for a proposal's score in all orders, each once.
    pub(super) fn reasons(&self, place: usize) -> Vec<String> {
        let mut reasons: Vec<String> = Vec::new();
        let given = self.sheets.iter().flat_map(|sheet| &sheet.scores);
        for reason in given.filter(|(scored, ..)| *scored == place).flat_map(|(.., reasons)| reasons) {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        reasons
    }

    /// Whether an agent that judged also made a proposal.
    pub(super) fn is_by_a_proposer(&self, log: &ArenaLog<'_>) -> bool {
        let proposing: Vec<String> =
            log.agents.iter().flat_map(|agent| log.proposing_speakers(&agent.seat.id)).collect();
        self.sheets.iter().any(|sheet| proposing.contains(&sheet.model))
    }

    /// Whether the judge's best is what the last vote decided; `None` if one of them decided nothing.
    pub(super) fn agrees_with_vote(&self, log: &ArenaLog<'_>) -> Option<bool> {
        let group = log.votes.last()?.winning()?;
        if self.is_for(group) { Some(true) } else { self.top.map(|_| false) }
    }
}

/// The most that a rating changes in one debate.
const ELO_K: f64 = 32.0;
/// A difference in rating that makes a win ten times as likely as a loss.
const ELO_SCALE: f64 = 400.0;
/// A smaller change is the noise of binary fractions.
const ELO_NOISE: f64 = 1e-9;

/// The score that is expected of `rating` against `other`, from 0 to 1 (Elo, 1978).
pub(super) fn expected_score(rating: f64, other: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf((other - rating) / ELO_SCALE))
}

/// The change of each rating if everybody played everybody. `result` gives 1 for a win, 0.5 for a tie and 0 for a loss. Each game
/// counts for an equal part of what one debate may change, and the changes sum to 0.
pub(super) fn rating_changes(ratings: &[f64], result: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let games = ratings.len().saturating_sub(1).max(1) as f64;
    let change = |(one, rating): (usize, &f64)| {
        let others = ratings.iter().enumerate().filter(|(other, _)| *other != one);
        let over: f64 =
            others.map(|(other, theirs)| result(one, other) - expected_score(*rating, *theirs)).sum();
        let change = ELO_K / games * over;
        if change.abs() < ELO_NOISE { 0.0 } else { change }
    };
    ratings.iter().enumerate().map(change).collect()
}

/// What a debate means for the rating of one seat's agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RatedSeat {
    pub(super) place: usize,
    pub(super) agent: String,
    pub(super) before: f64,
    pub(super) change: f64,
    /// The judge's score.
    pub(super) score: f64,
    /// The result against each other rated seat, by place.
    pub(super) against: Vec<(usize, f64)>,
}

/// The rated seats, in seat order: those that have a score and whose proposals one agent made. Nobody is rated without a judge
/// or without anybody to compare with, and not in a branch, because a debate is one game however often it is branched.
pub(super) fn rated_seats(log: &ArenaLog<'_>) -> Vec<RatedSeat> {
    let Some(judged) = closing::final_judgement(log).filter(|_| !log.is_branch()) else { return Vec::new() };
    let entrants = log.in_seat_order().into_iter().filter_map(|place| {
        let agent = log.sole_speaker(&log.agents.get(place)?.seat.id)?;
        let before = team::standing(&log.standings, &agent).map_or(RATING_INITIAL, |known| known.rating);
        Some((place, agent, before, judged.score(place)?))
    });
    let entrants: Vec<(usize, String, f64, f64)> = entrants.collect();
    if entrants.len() < 2 {
        return Vec::new();
    }
    let places: Vec<usize> = entrants.iter().map(|(place, ..)| *place).collect();
    let before: Vec<f64> = entrants.iter().map(|(_, _, before, _)| *before).collect();
    let result = |one: usize, other: usize| match (places.get(one), places.get(other)) {
        (Some(one), Some(other)) => judged.result(*one, *other),
        _ => 0.5,
    };
    let changes = rating_changes(&before, result);
    let against = |one: usize| {
        let others = places.iter().filter(|other| **other != one);
        others.map(|other| (*other, judged.result(one, *other))).collect()
    };
    let rated = entrants.into_iter().zip(changes);
    rated
        .map(|((place, agent, before, score), change)| RatedSeat {
            place,
            agent,
            before,
            change,
            score,
            against: against(place),
        })
        .collect()
}
