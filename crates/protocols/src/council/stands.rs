//! Who held what in each round of `council`: votes, as far back as the councillors declare that they held them, or texts.
//!
//! Words and votes cannot be compared. So rounds have votes only where it is known of everybody in every round which vote it held: who
//! never changed its position has held its vote from the start, and so has who said the same. Otherwise all rounds have the texts, and
//! the votes are a round of their own after them.

use agon_core::{Change, Corrupt, Debate, Grouping, Held, Stand, Stands};

use super::log::Log;
use super::reply::{Stance, Vote};
use super::round::{Round, Standing};
use super::verdict;
use super::votes::decide;
use crate::cited::{Known, cited};
use crate::grouping::Groups;

/// Reads the log.
pub(super) fn stands(debate: &Debate) -> Result<Stands, Corrupt> {
    let log = Log::read(debate)?;
    let openings = log.opening_standings();
    let mut stages = vec![Stage { round: None, after: &openings }];
    let held = log.rounds.iter().filter(|round| round.present() > 0);
    stages.extend(held.map(|round| Stage { round: Some(round), after: &round.after }));
    let mut rounds = Vec::new();
    if !log.active().is_empty() {
        let table = Table::new(&log, &stages);
        rounds = table.rounds();
        rounds.extend(table.ballots(&rounds));
    }
    // Until the debate is over, votes may be missing that would decide otherwise.
    let decision = decide(&verdict::votes(&log)).filter(|_| debate.outcome.is_some());
    let decided = decision.map(|decision| decision.vote.as_str().to_owned());
    Ok(Stands { grouping: Grouping::Declared, rounds, decided, marks: Vec::new(), near: None })
}

/// Where everybody stands after a round, or after the openings.
struct Stage<'l> {
    round: Option<&'l Round>,
    after: &'l [Standing],
}

/// A vote, and since which stage it was held: the one of the last declared change.
struct Voted {
    vote: Vote,
    since: usize,
    /// In which words.
    position: String,
}

fn voted(log: &Log<'_>, stages: &[Stage<'_>], place: usize) -> Option<Voted> {
    let vote = log.finals.get(place)?.as_ref()?.vote;
    let changed = |stage: &Stage<'_>| stage.after.get(place).is_some_and(|standing| standing.changed);
    let since = stages.iter().rposition(changed).unwrap_or(0);
    let position = stages.get(since)?.after.get(place)?.position.clone();
    Some(Voted { vote, since, position })
}

struct Table<'l> {
    log: &'l Log<'l>,
    stages: &'l [Stage<'l>],
    /// By place.
    votes: Vec<Option<Voted>>,
    /// By stage and place, the vote of everybody who sits, where it is known of all.
    known: Option<Vec<Vec<Option<Vote>>>>,
}

impl<'l> Table<'l> {
    fn new(log: &'l Log<'l>, stages: &'l [Stage<'l>]) -> Self {
        let votes = (0..log.members.len()).map(|place| voted(log, stages, place)).collect();
        let mut table = Self { log, stages, votes, known: None };
        table.known = table.votes_held();
        table
    }

    fn rounds(&self) -> Vec<Held> {
        let texts = if self.known.is_none() { self.texts() } else { Vec::new() };
        let name = |at: usize, place: usize| match &self.known {
            Some(_) => self.vote(at, place).map(|vote| vote.as_str().to_owned()),
            None => texts.get(at)?.get(place)?.clone(),
        };
        let stages = self.stages.iter().enumerate();
        stages.map(|(at, stage)| self.held(at, stage, &|place| name(at, place))).collect()
    }

    /// The vote that a councillor held in a stage, where that is known.
    fn vote(&self, at: usize, place: usize) -> Option<Vote> {
        match &self.known {
            Some(known) => *known.get(at)?.get(place)?,
            None => self.votes.get(place)?.as_ref().filter(|voted| at >= voted.since).map(|voted| voted.vote),
        }
    }

    /// The vote that everybody held in every stage, by its own or by those of others who held the same words, if they agree on one;
    /// `None` where it is not known of somebody.
    fn votes_held(&self) -> Option<Vec<Vec<Option<Vote>>>> {
        let mut voted = Groups::default();
        let cast = self.votes.iter().flatten();
        let words: Vec<(String, Vote)> =
            cast.map(|held| (voted.name(&held.position, "", &[]), held.vote)).collect();
        let by_words = |text: &str| {
            let said = voted.find(text);
            let mut votes = words.iter().filter(|(name, _)| said == Some(name)).map(|(_, vote)| *vote);
            votes.next().filter(|first| votes.all(|vote| vote == *first))
        };
        let mut stages = Vec::new();
        for (at, stage) in self.stages.iter().enumerate() {
            let mut held = vec![None; self.log.members.len()];
            for place in self.log.active() {
                let vote = self.vote(at, place).or_else(|| by_words(&stage.after.get(place)?.position))?;
                *held.get_mut(place)? = Some(vote);
            }
            stages.push(held);
        }
        Some(stages)
    }

    /// What everybody said it held in every stage.
    fn texts(&self) -> Vec<Vec<Option<String>>> {
        let mut groups = Groups::default();
        let mut names: Vec<Option<String>> = vec![None; self.log.members.len()];
        let mut stages = Vec::new();
        for stage in self.stages {
            for place in self.log.active() {
                let (Some(standing), Some(name)) = (stage.after.get(place), names.get_mut(place)) else {
                    continue;
                };
                if standing.changed || name.is_none() {
                    *name = Some(groups.name(&standing.position, self.log.id(place), &[]));
                }
            }
            stages.push(names.clone());
        }
        stages
    }

    fn held(&self, at: usize, stage: &Stage<'_>, name: &dyn Fn(usize) -> Option<String>) -> Held {
        let mut stands = Vec::new();
        for place in self.log.active() {
            let (Some(standing), Some(position)) = (stage.after.get(place), name(place)) else {
                continue;
            };
            let changed = stage.round.filter(|_| standing.changed);
            stands.push(Stand {
                seat: self.log.id(place).to_owned(),
                position,
                change: changed.map(|round| Change { cited: self.cited(place, round, standing) }),
                ..Stand::default()
            });
        }
        let ruling = self.ruling(at).map(|vote| vote.as_str().to_owned());
        Held { round: stage.round.map_or(0, |round| round.number), stands, ruling, ..Held::default() }
    }

    /// The votes, where the rounds have texts. Nobody changes its position by casting its vote; who casts none keeps its words.
    fn ballots(&self, rounds: &[Held]) -> Option<Held> {
        let last = rounds.last().filter(|_| self.known.is_none())?;
        let cast = |stand: &Stand| {
            let voted = |place: &usize| self.log.id(*place) == stand.seat;
            let place = self.log.active().into_iter().find(voted)?;
            Some(self.votes.get(place)?.as_ref()?.vote.as_str())
        };
        if self.votes.iter().all(Option::is_none) {
            return None;
        }
        let stands = last.stands.iter().map(|stand| {
            let position = cast(stand).unwrap_or(&stand.position).to_owned();
            Stand { position, change: None, ..stand.clone() }
        });
        let ruling = decide(&verdict::votes(self.log)).map(|decision| decision.vote.as_str().to_owned());
        Some(Held { round: last.round + 1, stands: stands.collect(), ruling, ballots: true })
    }

    /// What the council's rule makes of the votes that were held by this stage, where they decide it whatever those hold who have none.
    fn ruling(&self, at: usize) -> Option<Vote> {
        let active = self.log.active();
        let votes: Vec<Vote> = active.iter().filter_map(|place| self.vote(at, *place)).collect();
        let others = active.len() - votes.len();
        // All the others on one side, and all for one vote: what these agree on, nothing between them changes.
        let decisions = Vote::ALL.map(|vote| {
            let votes: Vec<Vote> = votes.iter().copied().chain(std::iter::repeat_n(vote, others)).collect();
            decide(&votes).map(|decision| decision.vote)
        });
        let [first, rest @ ..] = decisions;
        first.filter(|first| !votes.is_empty() && rest.iter().all(|vote| *vote == Some(*first)))
    }

    /// What a change names: other councillors, challenges and messages, evidence that is new, and the challenges with which the
    /// councillor agrees in the same round, or for which it modifies its point.
    fn cited(&self, place: usize, round: &Round, standing: &Standing) -> Vec<String> {
        let mut known = Known::default();
        for other in self.log.active().into_iter().filter(|other| *other != place) {
            known = known.name(self.log.name(other), self.log.name(other));
        }
        for entry in self.log.challenges.iter().filter(|entry| entry.round <= round.number) {
            known = known.id(&entry.id());
        }
        for letter in self.log.letters.iter().filter(|letter| letter.round <= round.number) {
            known = known.id(&letter.id());
        }
        for text in round.before.get(place).into_iter().flat_map(Standing::spoken) {
            known = known.said_before(text);
        }
        let mut named = cited(&format!("{}\n{}", standing.because, standing.position), &known);
        let granted = round.responses(place, &self.log.challenges);
        for response in granted.filter(|response| response.stance != Stance::Disagree) {
            let id = format!("[{}]", response.challenge_id);
            if !named.contains(&id) {
                named.push(id);
            }
        }
        named
    }
}
