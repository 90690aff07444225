//! What a vote and a judgement come to: the ballots and which of them are for the same proposal in other words; the judge's scores, in
//! one order of the proposals or in two; and the ratings that follow.

use std::cmp::Ordering;

use agon_core::lesson::RATING_INITIAL;
use agon_core::{Corrupt, PhaseTurn};
use serde::{Deserialize, Serialize};

use super::log::{ArenaLog, bare_label, reply_value};
use super::replies::{CriteriaScores, JudgementReply, PairRelation, VoteReply};
use super::{ConsensusRule, closing, team, trickster};

/// The choice of a ballot that is for nobody.
pub(super) const ABSTAIN: &str = "abstain";

/// What one agent voted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaBallot {
    pub(super) seat: String,
    pub(super) label: String,
    /// A label, or `abstain`.
    pub(super) choice: String,
    /// The choice and all proposals that the last sorting calls the same.
    pub(super) group: Option<Vec<String>>,
    pub(super) confidence: f64,
    pub(super) reason: String,
    /// Whether the voter chose its own proposal.
    pub(super) own: bool,
    #[serde(skip)]
    pub(super) analysis: String,
    /// The places of the voter and of its choice; no choice is an abstention.
    #[serde(skip)]
    voter: usize,
    #[serde(skip)]
    pub(super) chosen: Option<usize>,
}

/// The votes of one group of proposals that say the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaTally {
    pub(super) labels: Vec<String>,
    pub(super) votes: usize,
    pub(super) share: Option<f64>,
}

/// One vote.
#[derive(Debug)]
pub(super) struct VoteRound {
    pub(super) round: u32,
    /// The stage whose proposals were voted on.
    pub(super) stage: usize,
    /// In label order.
    pub(super) ballots: Vec<ArenaBallot>,
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
        let mut vote = Self {
            round: turn.phase.round,
            stage,
            ballots: Vec::new(),
            groups: log.same_groups(stage),
            hollow: false,
            rule: log.options.consensus,
            seated: log.agents.len(),
        };
        for (voter, agent) in log.agents.iter().enumerate() {
            let Some(value) = reply_value(turn, &agent.seat.id) else { continue };
            let said = VoteReply::deserialize(value)?;
            let chosen = log.place(&said.choice);
            vote.ballots.push(ArenaBallot {
                seat: agent.seat.id.clone(),
                label: agent.label.clone(),
                choice: chosen.map_or(ABSTAIN, |choice| log.label(choice)).to_owned(),
                group: chosen.map(|choice| log.labels(vote.group(choice))),
                confidence: said.confidence,
                reason: said.reason.trim().to_owned(),
                own: chosen == Some(voter),
                analysis: said.analysis,
                voter,
                chosen,
            });
        }
        vote.hollow = vote.favoured().is_some_and(|group| {
            trickster::examine(log, stage, group, Some(&vote)).is_some_and(|finding| finding.hollow)
        });
        Ok(vote)
    }

    /// An agent's ballot.
    pub(super) fn ballot(&self, place: usize) -> Option<&ArenaBallot> {
        self.ballots.iter().find(|ballot| ballot.voter == place)
    }

    /// The ballots in seat order.
    pub(super) fn in_seat_order(&self, log: &ArenaLog<'_>) -> Vec<ArenaBallot> {
        log.in_seat_order().into_iter().filter_map(|place| self.ballot(place).cloned()).collect()
    }

    /// The ballots for a group.
    pub(super) fn ballots_for(&self, group: &[usize]) -> impl Iterator<Item = &ArenaBallot> {
        self.ballots.iter().filter(|ballot| ballot.chosen.is_some_and(|choice| group.contains(&choice)))
    }

    fn choices(&self) -> impl Iterator<Item = usize> {
        self.ballots.iter().filter_map(|ballot| ballot.chosen)
    }

    /// How many ballots are for a proposal.
    pub(super) fn cast(&self) -> usize {
        self.choices().count()
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
    pub(super) fn tally(&self, log: &ArenaLog<'_>) -> Vec<ArenaTally> {
        let group = |group: &Vec<usize>| {
            let (labels, votes, share) = (log.labels(group), self.votes(group), self.share(group));
            ArenaTally { labels, votes, share }
        };
        let mut tally: Vec<ArenaTally> = self.groups.iter().map(group).collect();
        tally.sort_by_key(|group| std::cmp::Reverse(group.votes));
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

    /// The proposal that stands for a group: the one with the most ballots, then the best score, then the first label.
    pub(super) fn best_of(
        &self,
        log: &ArenaLog<'_>,
        group: &[usize],
        judged: Option<&JudgeResult>,
    ) -> Option<usize> {
        let ballots = |place: usize| self.choices().filter(|choice| *choice == place).count();
        let score =
            |place: usize| judged.and_then(|judged| judged.score(log.label(place))).unwrap_or_default();
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

/// What the judge said of the proposals in one order. Proposals are known by their labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JudgeSheet {
    /// The order in which it read them.
    pub(super) order: Vec<String>,
    pub(super) scores: Vec<SheetScore>,
    pub(super) ranking: Vec<String>,
    #[serde(skip)]
    margin_comment: Option<String>,
    /// The agent that judged.
    #[serde(skip)]
    model: String,
}

/// What the judge gave one proposal in one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SheetScore {
    pub(super) label: String,
    /// The weighted mean of the criteria.
    pub(super) score: f64,
    #[serde(skip)]
    criteria: [f64; 5],
    #[serde(skip)]
    reasons: Vec<String>,
}

/// What the judge gave one proposal in all orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ProposalScore {
    pub(super) label: String,
    pub(super) seat: Option<String>,
    /// The mean of the orders.
    pub(super) score: f64,
    pub(super) criteria: CriteriaScores,
    /// Each once.
    pub(super) reasons: Vec<String>,
}

/// What all sheets come to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct JudgeResult {
    pub(super) model: String,
    /// In label order.
    pub(super) scores: Vec<ProposalScore>,
    /// The best first.
    pub(super) ranking: Vec<String>,
    /// The best; `None` for a tie.
    pub(super) top: Option<String>,
    /// The proposals that share the first place. One, unless scores are equal or the orders disagree.
    pub(super) first: Vec<String>,
    /// How far the best is ahead; 0 for a tie.
    pub(super) margin: f64,
    pub(super) margin_comment: Option<String>,
    /// Whether a proposal is best in both orders; `None` without two orders.
    pub(super) consistent: Option<bool>,
    /// One sheet for each order that was answered.
    pub(super) orders: Vec<JudgeSheet>,
    /// Whether the first place includes what the vote before decided; `None` if the vote decided nothing.
    pub(super) agrees_with_vote: Option<bool>,
    /// Whether a model that judged also made a proposal.
    pub(super) also_proposes: bool,
}

impl JudgeSheet {
    /// Reads a sheet. `weights` has what each criterion weighs.
    pub(super) fn read(said: JudgementReply, order: Vec<String>, model: String, weights: [f64; 5]) -> Self {
        let bare = |label: &str| bare_label(label).to_owned();
        let scored = said.scores.iter().map(|scored| {
            let criteria = scored.criteria.list();
            let sum: f64 = criteria.iter().zip(weights).map(|(score, weight)| score * weight).sum();
            let score = rounded(sum / weights.iter().sum::<f64>());
            SheetScore { label: bare(&scored.label), score, criteria, reasons: scored.reasons.texts() }
        });
        let scores = scored.collect();
        let ranking = said.ranking.iter().map(|label| bare(label)).collect();
        let margin_comment = said.margin_comment.filter(|comment| !comment.trim().is_empty());
        Self { order, scores, ranking, margin_comment, model }
    }

    fn score(&self, label: &str) -> Option<f64> {
        self.scores.iter().find(|scored| scored.label == label).map(|scored| scored.score)
    }

    /// How far a proposal is ahead of the best other one.
    pub(super) fn lead(&self, label: &str) -> f64 {
        let others = self.scores.iter().filter(|other| other.label != label).map(|other| other.score);
        rounded(self.score(label).unwrap_or_default() - others.reduce(f64::max).unwrap_or_default())
    }

    fn rank(&self, label: &str) -> usize {
        self.ranking.iter().position(|ranked| ranked == label).unwrap_or(self.ranking.len())
    }

    /// Whether the ranking puts a proposal above one that has a better score.
    pub(super) fn is_contradictory(&self) -> bool {
        let scores: Vec<f64> = self.ranking.iter().filter_map(|label| self.score(label)).collect();
        scores.windows(2).any(|pair| matches!(pair, [above, below] if *above < below - SCORE_TOLERANCE))
    }
}

/// The labels with the best score: several if they are equal.
fn best_labels<'s>(scores: impl Iterator<Item = (&'s String, f64)> + Clone) -> Vec<String> {
    let best = scores.clone().map(|(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
    scores.filter(|(_, score)| best - score <= SCORE_TOLERANCE).map(|(label, _)| label.clone()).collect()
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let figures: Vec<f64> = figures.collect();
    rounded(figures.iter().sum::<f64>() / figures.len().max(1) as f64)
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
    /// What these sheets come to; `None` without any. What else is known of the judge is added by [`of_judge`](Self::of_judge).
    pub(super) fn of(orders: Vec<JudgeSheet>) -> Option<Self> {
        let mut labels: Vec<&String> = orders.first()?.scores.iter().map(|scored| &scored.label).collect();
        labels.sort_unstable();
        let score = |label: &String| ProposalScore::of(&orders, label);
        let scores: Vec<ProposalScore> = labels.into_iter().map(score).collect();
        let best =
            orders.iter().map(|sheet| best_labels(sheet.scores.iter().map(|one| (&one.label, one.score))));
        let best: Vec<Vec<String>> = best.collect();
        let is_best_in_all = |label: &String| best.iter().all(|labels| labels.contains(label));
        let consistent = (orders.len() > 1).then(|| best.iter().flatten().any(is_best_in_all));
        let mut first = match consistent {
            Some(false) => best.concat(),
            _ => best_labels(scores.iter().map(|one| (&one.label, one.score))),
        };
        first.sort_unstable();
        first.dedup();
        let ranks = |label: &str| -> usize { orders.iter().map(|sheet| sheet.rank(label)).sum() };
        let mut ranked: Vec<&ProposalScore> = scores.iter().collect();
        ranked.sort_by(|a, b| {
            let by_score = by_score(Some(a.score), Some(b.score));
            by_score.then(ranks(&a.label).cmp(&ranks(&b.label))).then(a.label.cmp(&b.label))
        });
        let margin = match (first.as_slice(), ranked.as_slice()) {
            ([_], [only]) => only.score,
            ([_], [best, second, ..]) => rounded(best.score - second.score).max(0.0),
            _ => 0.0,
        };
        let mut models: Vec<&str> = orders.iter().map(|sheet| sheet.model.as_str()).collect();
        models.dedup();
        Some(Self {
            model: models.join(", "),
            ranking: ranked.iter().map(|one| one.label.clone()).collect(),
            top: first.first().filter(|_| first.len() == 1).cloned(),
            margin_comment: orders.iter().find_map(|sheet| sheet.margin_comment.clone()),
            first,
            margin,
            consistent,
            scores,
            orders,
            ..Self::default()
        })
    }

    /// The result of the judge of a debate, on the proposals of the last vote.
    pub(super) fn of_judge(log: &ArenaLog<'_>, orders: Vec<JudgeSheet>) -> Option<Self> {
        let proposing = log.proposing_models();
        let is_proposing = orders.iter().any(|sheet| proposing.contains(&sheet.model));
        let mut result = Self::of(orders)?;
        let seat = |label: &str| log.seat_id(log.place(label)?);
        result.scores.iter_mut().for_each(|scored| scored.seat = seat(&scored.label));
        let decided = log.votes.last().and_then(VoteRound::winning);
        result.agrees_with_vote = decided.map(|group| result.is_for(&log.labels(group)));
        result.also_proposes = is_proposing || team::is_judge_a_proposer(&log.debate.brief);
        Some(result)
    }

    /// Whether the first place includes a proposal of this group.
    pub(super) fn is_for(&self, group: &[String]) -> bool {
        self.first.iter().any(|label| group.contains(label))
    }

    pub(super) fn of_proposal(&self, label: &str) -> Option<&ProposalScore> {
        self.scores.iter().find(|scored| scored.label == label)
    }

    pub(super) fn score(&self, label: &str) -> Option<f64> {
        self.of_proposal(label).map(|scored| scored.score)
    }

    /// The result of one proposal against another: 1, 0.5 or 0. It is a tie if the orders contradict each other.
    pub(super) fn result(&self, one: &str, other: &str) -> f64 {
        let ahead = |sheet: &JudgeSheet| by_score(sheet.score(other), sheet.score(one));
        let says = |wanted: Ordering| self.orders.iter().any(|sheet| ahead(sheet) == wanted);
        if says(Ordering::Less) && says(Ordering::Greater) {
            return 0.5;
        }
        match by_score(self.score(other), self.score(one)) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        }
    }
}

impl ProposalScore {
    fn of(orders: &[JudgeSheet], label: &str) -> Self {
        let given = || orders.iter().flat_map(|sheet| &sheet.scores).filter(|scored| scored.label == label);
        let criterion = |at: usize| mean(given().filter_map(|scored| scored.criteria.get(at).copied()));
        let mut reasons: Vec<String> = Vec::new();
        for reason in given().flat_map(|scored| &scored.reasons) {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        Self {
            label: label.to_owned(),
            seat: None,
            score: mean(given().map(|scored| scored.score)),
            criteria: CriteriaScores::from_list([0, 1, 2, 3, 4].map(criterion)),
            reasons,
        }
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RatedSeat {
    pub(super) seat: String,
    pub(super) agent: String,
    pub(super) before: f64,
    /// Seats of one agent share it.
    pub(super) after: f64,
    pub(super) change: f64,
    /// The judge's score.
    pub(super) score: f64,
    #[serde(skip)]
    pub(super) label: String,
    /// The result against each other rated seat, by its id.
    #[serde(skip)]
    pub(super) against: Vec<(String, f64)>,
}

/// The rated seats, in seat order: those that have a score and whose proposals one agent made. Nobody is rated without a judge,
/// by a judge that also proposes, or without anybody to compare with, and not in a debate of which later ones may not know.
pub(super) fn rated_seats(log: &ArenaLog<'_>) -> Vec<RatedSeat> {
    let is_fair = |judged: &&JudgeResult| log.is_remembered() && !judged.also_proposes;
    let Some(judged) = closing::final_judgement(log).filter(is_fair) else { return Vec::new() };
    let rated = log.in_seat_order().into_iter().filter_map(|place| {
        let seat = log.seat_id(place)?;
        let agent = log.sole_speaker(&seat)?;
        let before = team::standing(&log.standings, &agent).map_or(RATING_INITIAL, |known| known.rating);
        let label = log.label(place).to_owned();
        let score = judged.score(&label)?;
        Some(RatedSeat { seat, agent, before, after: before, change: 0.0, score, label, against: Vec::new() })
    });
    let mut rated: Vec<RatedSeat> = rated.collect();
    if rated.len() < 2 {
        return Vec::new();
    }
    let all = rated.clone();
    let before: Vec<f64> = all.iter().map(|seat| seat.before).collect();
    let result = |one: usize, other: usize| {
        all.get(one).zip(all.get(other)).map_or(0.5, |(one, other)| judged.result(&one.label, &other.label))
    };
    for (seat, change) in rated.iter_mut().zip(rating_changes(&before, result)) {
        let others = all.iter().filter(|other| other.label != seat.label);
        let against = |other: &RatedSeat| (other.seat.clone(), judged.result(&seat.label, &other.label));
        seat.against = others.map(against).collect();
        seat.change = change;
    }
    let changes: Vec<(String, f64)> = rated.iter().map(|seat| (seat.agent.clone(), seat.change)).collect();
    for seat in &mut rated {
        let own = changes.iter().filter(|(agent, _)| *agent == seat.agent).map(|(_, change)| change);
        seat.after += own.sum::<f64>();
    }
    rated
}
