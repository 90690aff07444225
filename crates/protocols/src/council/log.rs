//! What `council` reads from the log: who sits, what became of each challenge, where each councillor stands after each round.

use agon_core::{Asked, Brief, Corrupt, Debate, Phase, Reply, Seat, Turn};
use serde::de::DeserializeOwned;

use super::findings::{self, Findings};
use super::ledger::{self, Answer, Entry, State, Violation, place_of};
use super::moderation::{self, Intervention, Kind};
use super::reply::{Examination, Final, Opening};
use super::roster::{self, Role};
use super::round::{Letter, Round, Standing};
use super::schema::asked_for;
use super::words::plain;
use crate::limits::Limits;

/// The share of the time and money limits that is kept for the vote.
pub(super) const KEPT: f64 = 0.2;
/// The fewest councillors that a round or a vote can do with.
pub(super) const QUORUM: usize = 2;

/// A councillor's seat. Who gave no opening takes no part.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) seat: &'a Seat,
    pub(super) role: Role,
    pub(super) opening: Option<Opening>,
}

/// The log as `council` sees it.
#[derive(Debug)]
pub(super) struct Log<'a> {
    pub(super) debate: &'a Debate,
    turns: &'a [Turn],
    /// Everybody who sits, in seat order.
    pub(super) members: Vec<Member<'a>>,
    pub(super) challenges: Vec<Entry>,
    pub(super) letters: Vec<Letter>,
    pub(super) violations: Vec<Violation>,
    pub(super) rounds: Vec<Round>,
    pub(super) finals: Vec<Option<Final>>,
}

impl<'a> Log<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        Self::of_first(debate, debate.turns.len())
    }

    /// The log as it was after so many phases.
    pub(super) fn of_first(debate: &'a Debate, turns: usize) -> Result<Self, Corrupt> {
        let turns = debate.turns.get(..turns).unwrap_or_default();
        let mut members = Vec::new();
        for seat in debate.brief.seats_of("councillor") {
            let role = role_of(&debate.brief, seat);
            members.push(Member { seat, role, opening: value(turns, "opening", 0, &seat.id)? });
        }
        let challenges = ledger::questions(&members);
        let (letters, violations, rounds, finals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut log = Self { debate, turns, members, challenges, letters, violations, rounds, finals };
        for number in 1..=debate.brief.int("rounds") {
            if !log.read_round(number)? {
                break;
            }
        }
        let finals = log.members.iter().map(|member| {
            let voted = turns.iter().rev().find(|turn| turn.phase.name == "verdict");
            voted
                .map(|turn| turn.phase.round)
                .map_or(Ok(None), |round| value(turns, "verdict", round, &member.seat.id))
        });
        log.finals = finals.collect::<Result<_, _>>()?;
        Ok(log)
    }

    fn read_round(&mut self, number: u32) -> Result<bool, Corrupt> {
        if heard(self.turns, "challenge", number).next().is_none() {
            return Ok(false);
        }
        let before = match self.rounds.last() {
            Some(round) => round.after.iter().map(Standing::carried_over).collect(),
            None => self.openings(),
        };
        let mut round = Round {
            number,
            said: self.examinations(number)?,
            correspondence: self.values("exchange", number)?,
            after: before.clone(),
            before,
            unanswered: Vec::new(),
            moderation: None,
            moderated: heard(self.turns, "moderate", number).any(|(_, reply)| reply.is_some()),
            findings: Findings::default(),
            interventions: Vec::new(),
            over: false,
        };
        self.cross_examine(&mut round);
        self.exchange(&mut round);
        if round.moderated {
            let answered =
                self.challenges.iter().any(|entry| entry.last().is_some_and(|a| a.round == number));
            let is_asked = |key: &str| answered || key != "evasions";
            round.moderation = narrowed(self.turns, "moderate", number, "moderator", is_asked)?;
        }
        round.findings = findings::findings(self, &round);
        if round.moderated {
            moderation::plan(self, &mut round);
            let asked: Vec<_> = heard(self.turns, "intervene", number).map(|(_, reply)| reply).collect();
            moderation::settle(self, &mut round, &asked)?;
        }
        self.rounds.push(round);
        Ok(true)
    }

    fn openings(&self) -> Vec<Standing> {
        let opened = |member: &Member<'_>| match &member.opening {
            None => Standing::default(),
            Some(opening) => Standing {
                position: opening.position.trim().to_owned(),
                confidence: Some(opening.confidence),
                arguments: opening.arguments.clone(),
                ..Standing::default()
            },
        };
        self.members.iter().map(opened).collect()
    }

    /// Answers to the challenges that were put, new challenges, new messages, positions.
    fn cross_examine(&mut self, round: &mut Round) {
        let number = round.number;
        let asked: Vec<&str> = heard(self.turns, "challenge", number)
            .filter(|(_, reply)| reply.is_some())
            .map(|(asked, _)| asked.seat.as_str())
            .collect();
        for (at, entry) in self.challenges.iter_mut().enumerate() {
            if !entry.is_due(number) || self.members.get(entry.to).is_none_or(|m| !m.is_active()) {
                continue;
            }
            let Some(said) = round.said.get(entry.to).and_then(Option::as_ref) else {
                let was_asked =
                    self.members.get(entry.to).is_some_and(|m| asked.contains(&m.seat.id.as_str()));
                entry.missed.extend(was_asked.then_some(number));
                continue;
            };
            let id = entry.id();
            let answer = said.responses.iter().find(|response| response.challenge_id == id);
            match answer.filter(|answer| !answer.response.trim().is_empty()) {
                Some(answer) => {
                    let (stance, response) = (Some(answer.stance), answer.response.trim().to_owned());
                    entry.answers.push(Answer { round: number, stance, response });
                    entry.state = State::Answered;
                }
                None => round.unanswered.push(at),
            }
        }
        for (place, said) in round.said.iter().enumerate() {
            let active = self.members.get(place).is_some_and(Member::is_active);
            let Some(standing) = round.after.get_mut(place).filter(|_| active) else { continue };
            standing.carried = said.is_none();
            let Some(said) = said else { continue };
            standing.update(&said.position, said.changed, &said.because);
            standing.confidence = Some(said.confidence);
            standing
                .arguments
                .extend(said.new_arguments.iter().filter(|text| !text.trim().is_empty()).cloned());
            let made = ledger::challenges(&self.members, self.challenges.len(), number, place, said);
            for mut entry in made {
                let words = self.rounds.iter().flat_map(|earlier| earlier.spoken(entry.to));
                let words = words.chain(round.before.get(entry.to).into_iter().flat_map(Standing::spoken));
                let claim = plain(&entry.claim);
                entry.quoted =
                    Some(!claim.is_empty() && words.into_iter().any(|text| plain(text).contains(&claim)));
                self.challenges.push(entry);
            }
            for message in &said.messages {
                let Some(to) = place_of(&self.members, &message.to) else { continue };
                self.letters.push(Letter {
                    number: self.letters.len() + 1,
                    round: number,
                    from: place,
                    to,
                    topic: message.topic.trim().to_owned(),
                    text: message.text.trim().to_owned(),
                    reply: None,
                });
            }
        }
    }

    /// The recipients' answers, and whose mind they changed.
    fn exchange(&mut self, round: &mut Round) {
        for letter in self.letters.iter_mut().filter(|letter| letter.round == round.number) {
            let answers = round.correspondence.get(letter.to).and_then(Option::as_ref);
            let answers = answers.map_or(&[][..], |answers| &answers.replies);
            let id = letter.id();
            let answer = answers.iter().find(|answer| answer.message_id == id);
            letter.reply = answer.map(|answer| answer.text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        for (standing, answers) in round.after.iter_mut().zip(&round.correspondence) {
            if let Some(answers) = answers.as_ref().filter(|answers| answers.changed) {
                standing.update(&answers.position, true, &answers.because);
            }
        }
    }

    /// What each councillor said in a round, without what it was not asked for: messages in economy mode, responses where there was
    /// nothing to answer.
    fn examinations(&self, round: u32) -> Result<Vec<Option<Examination>>, Corrupt> {
        let said = self.members.iter().enumerate().map(|(place, member)| {
            let due = self.challenges.iter().any(|entry| entry.to == place && entry.is_due(round));
            let is_asked = |key: &str| match key {
                "messages" => !self.is_economy(),
                "responses" => due,
                _ => true,
            };
            narrowed(self.turns, "challenge", round, &member.seat.id, is_asked)
        });
        said.collect()
    }

    /// For each councillor what it answered in a phase.
    fn values<T: DeserializeOwned>(&self, phase: &str, round: u32) -> Result<Vec<Option<T>>, Corrupt> {
        self.members.iter().map(|member| value(self.turns, phase, round, &member.seat.id)).collect()
    }

    /// The places of those who take part, in seat order.
    pub(super) fn active(&self) -> Vec<usize> {
        let active = self.members.iter().enumerate().filter(|(_, member)| member.is_active());
        active.map(|(place, _)| place).collect()
    }

    /// The id of the councillor at a place.
    pub(super) fn id(&self, place: usize) -> &'a str {
        self.members.get(place).map_or("", |member| member.seat.id.as_str())
    }

    /// The name of the councillor at a place, as people read it.
    pub(super) fn name(&self, place: usize) -> &str {
        self.members.get(place).map_or("", |member| member.role.name.as_str())
    }

    /// The ids of some councillors.
    pub(super) fn ids(&self, places: &[usize]) -> Vec<&'a str> {
        places.iter().map(|place| self.id(*place)).collect()
    }

    /// The names of some councillors, in one line.
    pub(super) fn names(&self, places: impl IntoIterator<Item = usize>) -> String {
        places.into_iter().map(|place| self.name(place)).collect::<Vec<_>>().join(", ")
    }

    /// The round of this number, as far as it got.
    pub(super) fn round(&self, number: u32) -> Option<&Round> {
        self.rounds.iter().find(|round| round.number == number)
    }

    /// The answer to a challenge that counted as one after a round: what was said later, and what was found to evade it, is none.
    pub(super) fn answered_by(&self, at: usize, round: u32) -> Option<&Answer> {
        let answer = self.challenges.get(at)?.answers.iter().rev().find(|answer| answer.round <= round)?;
        let evaded =
            self.violations.iter().any(|violation| violation.entry == at && violation.round <= round);
        let withdrawn = |held: &Round| {
            let open = |done: &Intervention| {
                matches!(done.kind, Kind::Evasion { entry, .. } if entry == at) && done.outcome != "answered"
            };
            (answer.round..=round).contains(&held.number) && held.interventions.iter().any(open)
        };
        (!evaded && !self.rounds.iter().any(withdrawn)).then_some(answer)
    }

    /// Where everybody stands now.
    pub(super) fn standings(&self) -> Vec<Standing> {
        self.rounds.last().map_or_else(|| self.openings(), |round| round.after.clone())
    }

    /// Where everybody stood after the opening.
    pub(super) fn opening_standings(&self) -> Vec<Standing> {
        self.openings()
    }

    pub(super) fn is_economy(&self) -> bool {
        self.debate.brief.flag("economy")
    }

    /// The rounds that are over.
    pub(super) fn completed(&self) -> u32 {
        u32::try_from(self.rounds.iter().filter(|round| round.over).count()).unwrap_or(u32::MAX)
    }

    /// The limits of the debate, of which a part is kept for the vote.
    pub(super) fn limits(&self) -> Limits<'a> {
        Limits { debate: self.debate, kept: KEPT, closing_calls: self.active().len() }
    }

    /// Whether a limit cut the debate before its rounds were over, or left somebody out.
    /// Who was never asked in a phase that had begun, by place: in economy mode a limit can come between two.
    pub(super) fn unasked<'s>(&'s self, name: &'s str, round: u32) -> impl Iterator<Item = usize> + 's {
        let turns = move || {
            self.turns.iter().filter(move |turn| turn.phase.name == name && turn.phase.round == round)
        };
        let begun = turns().next().is_some();
        let places = self.members.iter().enumerate().filter(move |(_, member)| {
            let takes_part = name == "opening" || member.is_active();
            let asked = turns().flat_map(|turn| &turn.asks).any(|ask| ask.seat == member.seat.id);
            begun && takes_part && !asked
        });
        places.map(|(place, _)| place)
    }

    pub(super) fn was_cut(&self) -> bool {
        let voted = self.turns.iter().any(|turn| turn.phase.name == "verdict");
        let limits = self.limits();
        let cut = |turn: &Turn| match turn.phase.name.as_str() {
            // Nothing is kept back from the vote itself.
            "verdict" => Limits { kept: 0.0, ..limits }.was_cut(turn),
            _ => limits.was_cut(turn),
        };
        (voted && self.completed() < self.debate.brief.int("rounds")) || self.turns.iter().any(cut)
    }
}

impl Member<'_> {
    pub(super) fn is_active(&self) -> bool {
        self.opening.is_some()
    }
}

/// The asks of a phase with what came of each, in the order in which they were put, over all its turns.
pub(super) fn heard<'a>(
    turns: &'a [Turn],
    phase: &'a str,
    round: u32,
) -> impl Iterator<Item = (&'a Asked, Option<&'a Reply>)> {
    let turns = turns.iter().filter(move |turn| turn.phase.name == phase && turn.phase.round == round);
    turns.flat_map(|turn| turn.asks.iter().zip(turn.replies.iter().map(Option::as_ref)))
}

fn value<T: DeserializeOwned>(
    turns: &[Turn],
    phase: &str,
    round: u32,
    seat: &str,
) -> Result<Option<T>, Corrupt> {
    narrowed(turns, phase, round, seat, |_| true)
}

fn narrowed<T: DeserializeOwned>(
    turns: &[Turn],
    phase: &str,
    round: u32,
    seat: &str,
    is_asked: impl Fn(&str) -> bool,
) -> Result<Option<T>, Corrupt> {
    let said = heard(turns, phase, round).find(|(asked, _)| asked.seat == seat);
    let said = said.and_then(|(_, reply)| reply?.value());
    Ok(said.map(|said| T::deserialize(asked_for(said, is_asked))).transpose()?)
}

/// The ids of those who gave an opening.
pub(super) fn opened(debate: &Debate) -> Vec<&str> {
    let heard = heard(&debate.turns, "opening", 0);
    let said = heard.filter(|(_, reply)| reply.is_some_and(|reply| reply.value().is_some()));
    said.map(|(asked, _)| asked.seat.as_str()).collect()
}

/// A councillor's position as it stands.
pub(super) fn standing(debate: &Debate, seat: &str) -> String {
    let Ok(log) = Log::read(debate) else { return String::new() };
    let place = log.members.iter().position(|member| member.seat.id == seat);
    place.and_then(|place| log.standings().into_iter().nth(place)).unwrap_or_default().position
}

/// The place in the log at which the phase that was asked last began.
pub(super) fn begun(debate: &Debate) -> usize {
    let same = |phase: &Phase| debate.turns.iter().rev().take_while(|turn| turn.phase == *phase).count();
    debate.turns.len() - debate.last_phase().map_or(0, same)
}

fn role_of(brief: &Brief, seat: &Seat) -> Role {
    // A seat whose role is in no roster can only come from a log that was written by hand; its id says who it is.
    let unknown = || Role { name: seat.id.clone(), charter: String::new(), needs_focus: false };
    roster::role(&brief.files, &seat.id).unwrap_or_else(unknown)
}
