//! Who held what in each round of `council`: votes as far back as a councillor declares that it held them, texts before that.

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
    let votes: Vec<Option<Voted>> = (0..log.members.len()).map(|place| voted(&log, &stages, place)).collect();
    let mut voted = Groups::default();
    let words = votes.iter().flatten();
    let words: Vec<(String, Vote)> =
        words.map(|held| (voted.name(&held.position, "", &[]), held.vote)).collect();
    let mut table = Table {
        log: &log,
        votes,
        voted,
        words,
        groups: Groups::default(),
        texts: vec![None; log.members.len()],
    };
    let mut rounds = Vec::new();
    if !log.active().is_empty() {
        rounds.extend(stages.iter().enumerate().map(|(at, stage)| table.held(at, stage)));
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
    /// By place.
    votes: Vec<Option<Voted>>,
    /// The positions in whose words somebody voted, and how.
    voted: Groups,
    words: Vec<(String, Vote)>,
    /// The positions that are no votes.
    groups: Groups,
    /// By place, the last of them.
    texts: Vec<Option<String>>,
}

impl Table<'_> {
    fn held(&mut self, at: usize, stage: &Stage<'_>) -> Held {
        let mut stands = Vec::new();
        for place in self.log.active() {
            let Some(standing) = stage.after.get(place) else { continue };
            let changed = stage.round.filter(|_| standing.changed);
            stands.push(Stand {
                seat: self.log.id(place).to_owned(),
                position: self.name(at, place, standing),
                change: changed.map(|round| Change { cited: self.cited(place, round, standing) }),
                ..Stand::default()
            });
        }
        let held = Held { round: stage.round.map_or(0, |round| round.number), stands, ..Held::default() };
        Held { ruling: ruling(&held), ..held }
    }

    /// The vote, where it was held by then; else the text, by the vote that others cast who held the same, if they agree on one.
    fn name(&mut self, at: usize, place: usize, standing: &Standing) -> String {
        let own = self.votes.get(place).and_then(Option::as_ref).filter(|voted| at >= voted.since);
        if let Some(voted) = own {
            return voted.vote.as_str().to_owned();
        }
        if let Some(Some(text)) = self.texts.get(place).filter(|_| !standing.changed) {
            return text.clone();
        }
        let said = self.voted.find(&standing.position);
        let mut votes = self.words.iter().filter(|(name, _)| said == Some(name)).map(|(_, vote)| *vote);
        let name = match votes.next().filter(|first| votes.all(|vote| vote == *first)) {
            Some(vote) => vote.as_str().to_owned(),
            None => self.groups.name(&standing.position, self.log.id(place), &[]),
        };
        self.texts.get_mut(place).into_iter().for_each(|text| *text = Some(name.clone()));
        name
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

/// What the council's rule makes of the votes, where they decide it whatever those hold who have none; else the most held position.
fn ruling(held: &Held) -> Option<String> {
    let vote = |stand: &Stand| Vote::ALL.into_iter().find(|vote| vote.as_str() == stand.position);
    let votes: Vec<Vote> = held.stands.iter().filter_map(vote).collect();
    let others = held.stands.len() - votes.len();
    // All the others on one side, and all for one vote: what these agree on, nothing between them changes.
    let decisions = Vote::ALL.map(|vote| {
        let votes: Vec<Vote> = votes.iter().copied().chain(std::iter::repeat_n(vote, others)).collect();
        decide(&votes).map(|decision| decision.vote)
    });
    let [first, rest @ ..] = decisions;
    let decided = first.filter(|first| !votes.is_empty() && rest.iter().all(|vote| *vote == Some(*first)));
    decided.map(Vote::as_str).or_else(|| held.plurality()).map(str::to_owned)
}
