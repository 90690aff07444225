//! What a vote and a judgement come to: the ballots and which of them are for the same proposal in other words; the judge's scores, in
//! one order of the proposals or in two; and the ratings that follow.

use std::cmp::Ordering;

use agon_core::lesson::RATING_INITIAL;
use agon_core::{Corrupt, PhaseTurn};
use serde::Deserialize;

use super::log::{ArenaLog, reply_value};
use super::replies::{JudgementReply, PairRelation, VoteReply};
use super::{ConsensusRule, closing, team, trickster};

/// The choice of a ballot that is for nobody.
pub(super) const ABSTAIN: &str = "abstain";

/// What one agent voted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CastBallot {
    /// `None` for an abstention.
    pub(super) choice: Option<usize>,
    pub(super) confidence: f64,
    pub(super) analysis: String,
    pub(super) reason: String,
}

/// One vote.
#[derive(Debug)]
pub(super) struct VoteRound {
    pub(super) round: u32,
    /// The stage whose proposals were voted on.
    pub(super) stage: usize,
    /// By place; `None` if the agent was absent.
    pub(super) ballots: Vec<Option<CastBallot>>,
    /// The proposals, those that the last sorting calls the same together.
    pub(super) groups: Vec<Vec<usize>>,
    /// Whether the agreement behind the vote is hollow, so that it makes no consensus.
    pub(super) hollow: bool,
    rule: ConsensusRule,
    seated: usize,
}

impl VoteRound {
    pub(super) fn read(log: &ArenaLog<'_>, turn: &PhaseTurn) -> Result<Self, Corrupt> {
        let stage = log.stages.len().saturating_sub(1);
        let mut ballots = Vec::new();
        for agent in &log.agents {
            let said = reply_value(turn, &agent.seat.id).map(VoteReply::deserialize).transpose()?;
            ballots.push(said.map(|said| CastBallot {
                choice: log.place(&said.choice),
                confidence: said.confidence,
                analysis: said.analysis,
                reason: said.reason.trim().to_owned(),
            }));
        }
        let mut vote = Self {
            round: turn.phase.round,
            stage,
            ballots,
            groups: log.same_groups(stage),
            hollow: false,
            rule: log.options.consensus,
            seated: log.agents.len(),
        };
        vote.hollow = vote.favoured().is_some_and(|group| {
            trickster::examine(log, stage, group, Some(&vote)).is_some_and(|finding| finding.hollow)
        });
        Ok(vote)
    }

    /// An agent's ballot.
    pub(super) fn ballot(&self, place: usize) -> Option<&CastBallot> {
        self.ballots.get(place)?.as_ref()
    }

    /// The ballots for a group.
    pub(super) fn ballots_for<'v>(
        &'v self,
        group: &'v [usize],
    ) -> impl Iterator<Item = (usize, &'v CastBallot)> {
        let given =
            self.ballots.iter().enumerate().filter_map(|(voter, ballot)| Some((voter, ballot.as_ref()?)));
        given.filter(|(_, ballot)| ballot.choice.is_some_and(|choice| group.contains(&choice)))
    }

    fn choices(&self) -> impl Iterator<Item = usize> {
        self.ballots.iter().flatten().filter_map(|ballot| ballot.choice)
    }

    /// How many ballots are for a proposal.
    pub(super) fn cast(&self) -> usize {
        self.choices().count()
    }

    /// How many agents voted for a proposal, abstained and were absent, in words.
    pub(super) fn turnout(&self) -> String {
        let given = self.ballots.iter().flatten().count();
        let (cast, seated) = (self.cast(), self.seated);
        let rest =
            [(given.saturating_sub(cast), "abstained"), (seated.saturating_sub(given), "gave no vote")];
        let rest =
            rest.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
        format!("{cast} of {seated} agents voted for a proposal{}", rest.collect::<String>())
    }

    /// Whether half of the agents that sit voted for a proposal.
    pub(super) fn is_quorum(&self) -> bool {
        is_quorum(self.cast(), self.seated)
    }

    /// The group of a proposal.
    pub(super) fn group(&self, place: usize) -> &[usize] {
        self.groups.iter().find(|group| group.contains(&place)).map_or(&[], Vec::as_slice)
    }

    /// The votes of a group.
    pub(super) fn votes(&self, group: &[usize]) -> usize {
        self.ballots_for(group).count()
    }

    /// A group's share of the votes cast; `None` if there are none.
    pub(super) fn share(&self, group: &[usize]) -> Option<f64> {
        let cast = self.cast();
        (cast > 0).then(|| self.votes(group) as f64 / cast as f64)
    }

    /// The groups with their votes, the most votes first.
    pub(super) fn tally(&self) -> Vec<(&[usize], usize)> {
        let mut tally: Vec<(&[usize], usize)> =
            self.groups.iter().map(|group| (group.as_slice(), self.votes(group))).collect();
        tally.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        tally
    }

    /// The group that has the votes for a consensus, whether or not the agreement is hollow.
    pub(super) fn favoured(&self) -> Option<&[usize]> {
        let votes: Vec<usize> = self.groups.iter().map(|group| self.votes(group)).collect();
        let group = self.groups.get(leading(&votes)?)?;
        let enough = self.is_quorum() && self.rule.is_met(self.votes(group), self.cast());
        enough.then_some(group.as_slice())
    }

    /// The group that the vote makes the winner; `None` without consensus.
    pub(super) fn winning(&self) -> Option<&[usize]> {
        self.favoured().filter(|_| !self.hollow)
    }

    /// Whether the winning group has enough votes only because proposals that are not equal count as the same.
    pub(super) fn is_won_by_sorting(&self, log: &ArenaLog<'_>) -> bool {
        let parts =
            |group: &[usize]| linked_groups(group, &|one, other| log.is_equal(self.stage, one, other));
        let is_enough = |part: &Vec<usize>| self.rule.is_met(self.votes(part), self.cast());
        self.winning().is_some_and(|group| !parts(group).iter().any(is_enough))
    }

    /// Whether the judge's scores choose the proposal that stands for a group.
    pub(super) fn is_chosen_by_score(&self, group: &[usize], judged: &JudgeResult) -> bool {
        let most = group.iter().map(|place| self.ballots_on(*place)).max();
        let leading = group.iter().filter(|place| Some(self.ballots_on(**place)) == most);
        let scores: Vec<Option<f64>> = leading.map(|place| judged.score(*place)).collect();
        scores.windows(2).any(|pair| pair.first() != pair.last())
    }

    /// How many ballots name a proposal.
    fn ballots_on(&self, place: usize) -> usize {
        self.choices().filter(|choice| *choice == place).count()
    }

    /// The proposal that stands for a group: the one with the most ballots, then the best score, then the first label.
    pub(super) fn best_of(&self, group: &[usize], judged: Option<&JudgeResult>) -> Option<usize> {
        let ballots = |place: usize| self.ballots_on(place);
        let score = |place: usize| judged.and_then(|judged| judged.score(place)).unwrap_or_default();
        let better = |a: &usize, b: &usize| {
            let by_score = score(*b).total_cmp(&score(*a));
            ballots(*b).cmp(&ballots(*a)).then(by_score).then(a.cmp(b))
        };
        group.iter().copied().min_by(better)
    }
}

/// Whether enough of the agents voted for a proposal: half of those who sit.
pub(super) fn is_quorum(cast: usize, seated: usize) -> bool {
    2 * cast >= seated
}

/// The place with the most votes; `None` if there are no votes or several have the most.
pub(super) fn leading(votes: &[usize]) -> Option<usize> {
    let most = votes.iter().copied().max().filter(|most| *most > 0)?;
    let mut leading = votes.iter().enumerate().filter(|(_, votes)| **votes == most);
    let (first, _) = leading.next()?;
    leading.next().is_none().then_some(first)
}

impl ConsensusRule {
    /// Whether `votes` of `cast` are enough.
    pub(super) fn is_met(self, votes: usize, cast: usize) -> bool {
        let enough = match self {
            Self::Majority => 2 * votes > cast,
            Self::Supermajority => 3 * votes >= 2 * cast,
            Self::Unanimous => votes == cast,
        };
        cast > 0 && enough
    }
}

impl ArenaLog<'_> {
    /// The proposals of a stage, those that are the same together. If one is the same as two that are not the same as each other, it
    /// could be counted with either, and so it is counted with neither; proposals that are equal stay together.
    pub(super) fn same_groups(&self, stage: usize) -> Vec<Vec<usize>> {
        let is_same = |one: usize, other: usize| self.relation(stage, one, other) == Some(PairRelation::Same);
        let mut groups = Vec::new();
        for linked in linked_groups(&self.proposers(), &is_same) {
            let mut pairs = super::convergence::all_pairs(&linked).into_iter();
            match pairs.all(|(one, other)| is_same(one, other)) {
                true => groups.push(linked),
                false => {
                    groups.extend(linked_groups(&linked, &|one, other| self.is_equal(stage, one, other)))
                }
            }
        }
        groups.sort_unstable();
        groups
    }
}

/// Groups the places that are linked with each other, directly or through others.
pub(super) fn linked_groups(places: &[usize], is_linked: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in places.iter().copied() {
        let touches = |group: &Vec<usize>| group.iter().any(|other| is_linked(*other, place));
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
        groups = apart;
        groups.push([joined.concat(), vec![place]].concat());
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

/// Scores this close are equal.
pub(super) const SCORE_TOLERANCE: f64 = 1e-9;

/// What the judge said of the proposals in one order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeSheet {
    /// The order in which it read them.
    pub(super) order: Vec<usize>,
    pub(super) scores: Vec<SheetScore>,
    pub(super) ranking: Vec<usize>,
    pub(super) margin_comment: Option<String>,
    /// The agent that judged.
    pub(super) model: String,
}

/// What the judge gave one proposal in one order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SheetScore {
    pub(super) place: usize,
    /// The weighted mean of the criteria.
    pub(super) score: f64,
    pub(super) criteria: [f64; 5],
    pub(super) reasons: Vec<String>,
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
    /// The proposals that share the first place. One, unless scores are equal or the orders disagree.
    pub(super) first: Vec<usize>,
    /// How far the best is ahead; 0 for a tie.
    pub(super) margin: f64,
    /// Whether a proposal is best in both orders; `None` without two orders.
    pub(super) consistent: Option<bool>,
}

impl JudgeSheet {
    /// Reads a sheet. `place` gives the place of a label, `weights` what each criterion weighs.
    pub(super) fn read(
        said: JudgementReply,
        order: Vec<usize>,
        model: String,
        weights: [f64; 5],
        place: impl Fn(&str) -> Option<usize>,
    ) -> Self {
        let scored = said.scores.iter().filter_map(|scored| {
            let criteria = scored.criteria.list();
            let sum: f64 = criteria.iter().zip(weights).map(|(score, weight)| score * weight).sum();
            let score = rounded(sum / weights.iter().sum::<f64>());
            Some(SheetScore {
                place: place(&scored.label)?,
                score,
                criteria,
                reasons: scored.reasons.texts(),
            })
        });
        let scores = scored.collect();
        let ranking = said.ranking.iter().filter_map(|label| place(label)).collect();
        let margin_comment = said.margin_comment.filter(|comment| !comment.trim().is_empty());
        Self { order, scores, ranking, margin_comment, model }
    }

    fn score(&self, place: usize) -> Option<f64> {
        self.scores.iter().find(|scored| scored.place == place).map(|scored| scored.score)
    }

    fn rank(&self, place: usize) -> usize {
        self.ranking.iter().position(|ranked| *ranked == place).unwrap_or(self.ranking.len())
    }

    /// The proposals by their scores, the best first.
    pub(super) fn by_score(&self) -> Vec<usize> {
        let mut places = self.ranking.clone();
        places.sort_by(|a, b| by_score(self.score(*a), self.score(*b)));
        places
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

/// The places with the best score: several if they are equal.
fn best_places(scores: &[(usize, f64)]) -> Vec<usize> {
    let best = scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let is_best = |(_, score): &&(usize, f64)| best - score <= SCORE_TOLERANCE;
    scores.iter().filter(is_best).map(|(place, _)| *place).collect()
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
        let first_sheet = sheets.first()?;
        let mean = |place: usize| {
            let given: Vec<f64> = sheets.iter().filter_map(|sheet| sheet.score(place)).collect();
            rounded(given.iter().sum::<f64>() / given.len().max(1) as f64)
        };
        let mut scores: Vec<(usize, f64)> =
            first_sheet.scores.iter().map(|scored| (scored.place, mean(scored.place))).collect();
        scores.sort_by_key(|(place, _)| *place);
        let best: Vec<Vec<usize>> = sheets
            .iter()
            .map(|sheet| {
                best_places(&sheet.scores.iter().map(|one| (one.place, one.score)).collect::<Vec<_>>())
            })
            .collect();
        let is_best_in_all = |place: &usize| best.iter().all(|places| places.contains(place));
        let consistent = (sheets.len() > 1).then(|| best.iter().flatten().any(is_best_in_all));
        let mut first = match consistent {
            Some(false) => best.concat(),
            _ => best_places(&scores),
        };
        first.sort_unstable();
        first.dedup();
        let ranks = |place: usize| -> usize { sheets.iter().map(|sheet| sheet.rank(place)).sum() };
        let mut ranked = scores.clone();
        ranked.sort_by(|(a, one), (b, other)| {
            by_score(Some(*one), Some(*other)).then(ranks(*a).cmp(&ranks(*b))).then(a.cmp(b))
        });
        let margin = match (first.as_slice(), ranked.as_slice()) {
            ([_], [(_, only)]) => *only,
            ([_], [(_, best), (_, second), ..]) => rounded(best - second).max(0.0),
            _ => 0.0,
        };
        let ranking = ranked.iter().map(|(place, _)| *place).collect();
        Some(Self { scores, ranking, first, margin, consistent, sheets })
    }

    /// The best; `None` for a tie.
    pub(super) fn top(&self) -> Option<usize> {
        match self.first.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether the first place includes a proposal of this group.
    pub(super) fn is_for(&self, group: &[usize]) -> bool {
        self.first.iter().any(|place| group.contains(place))
    }

    /// The mean of a proposal's scores on each criterion.
    pub(super) fn criteria(&self, place: usize) -> [f64; 5] {
        let given: Vec<[f64; 5]> = self.given(place).map(|scored| scored.criteria).collect();
        let mut mean = [0.0; 5];
        for (criterion, figure) in mean.iter_mut().enumerate() {
            let figures = given.iter().filter_map(|criteria| criteria.get(criterion));
            *figure = rounded(figures.sum::<f64>() / given.len().max(1) as f64);
        }
        mean
    }

    fn given(&self, place: usize) -> impl Iterator<Item = &SheetScore> {
        self.sheets.iter().flat_map(|sheet| &sheet.scores).filter(move |scored| scored.place == place)
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
        for reason in self.given(place).flat_map(|scored| &scored.reasons) {
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

    /// Whether the judge's first place includes what the last vote decided; `None` if the vote decided nothing.
    pub(super) fn agrees_with_vote(&self, log: &ArenaLog<'_>) -> Option<bool> {
        Some(self.is_for(log.votes.last()?.winning()?))
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

/// The rated seats, in seat order: those that have a score and whose proposals one agent made. Nobody is rated without a judge,
/// by a judge that also proposes, or without anybody to compare with, and not in a debate of which later ones may not know.
pub(super) fn rated_seats(log: &ArenaLog<'_>) -> Vec<RatedSeat> {
    let is_fair = |judged: &&JudgeResult| {
        log.is_remembered() && !team::is_judge_a_proposer(&log.debate.brief) && !judged.is_by_a_proposer(log)
    };
    let Some(judged) = closing::final_judgement(log).filter(is_fair) else { return Vec::new() };
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
