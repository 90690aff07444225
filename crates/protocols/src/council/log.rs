//! What `council` reads from the log: who sits, what was said in each round, where each councillor stands after it.
//!
//! A *place* is a councillor's index in seat order; vectors that say something of each councillor are indexed by it.

use agon_core::{AskRecord, Corrupt, Debate, PhaseTurn, Reply, Seat};
use serde::de::DeserializeOwned;

use super::challenges::{Challenge, ChallengeAnswer, ChallengeState, ChallengeViolation};
use super::moderation::{self, InterventionOutcome, ModeratorIntervention, RoundFindings};
use super::replies::{
    ChallengeResponse, CouncilConfidence, CouncilVote, CrossExamination, FinalStatement, MessageReplies, ModeratorReply,
    OpeningStatement,
};
use super::reply_rules::requested_fields;
use super::roster::{CouncilRole, role_of_seat};
use super::text_matching::{has_words, plain_words};
use super::{CLOSING_SHARE, CouncilOptions, CouncilPhase};
use crate::limits::LimitCheck;
use crate::named_lists::name_key;

/// The log as `council` sees it.
#[derive(Debug)]
pub(super) struct CouncilLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: CouncilOptions,
    turns: &'a [PhaseTurn],
    /// Everybody who sits, in seat order.
    pub(super) members: Vec<CouncilMember<'a>>,
    /// The places of those who gave an opening. Nobody else takes part.
    pub(super) active: Vec<usize>,
    /// Where everybody stood after the openings.
    pub(super) openings: Vec<CouncillorStanding>,
    pub(super) challenges: Vec<Challenge>,
    pub(super) messages: Vec<PeerMessage>,
    pub(super) violations: Vec<ChallengeViolation>,
    pub(super) rounds: Vec<CouncilRound>,
    pub(super) finals: Vec<Option<FinalStatement>>,
}

/// A councillor's seat.
#[derive(Debug)]
pub(super) struct CouncilMember<'a> {
    pub(super) seat: &'a Seat,
    pub(super) role: CouncilRole,
    pub(super) opening: Option<OpeningStatement>,
}

/// Where a councillor stands.
#[derive(Debug, Clone, Default)]
pub(super) struct CouncillorStanding {
    pub(super) position: String,
    pub(super) confidence: Option<CouncilConfidence>,
    /// The arguments of the opening and all that were added since.
    pub(super) arguments: Vec<String>,
    /// Whether the position changed in this round.
    pub(super) changed: bool,
    pub(super) because: String,
    /// Whether the councillor was absent from this round's cross-examination.
    pub(super) carried: bool,
}

/// A message to one councillor, with its answer.
#[derive(Debug, Clone)]
pub(super) struct PeerMessage {
    /// Counted from 1 over the whole debate.
    pub(super) number: usize,
    pub(super) round: u32,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) topic: String,
    pub(super) text: String,
    pub(super) reply: Option<String>,
}

/// One round of cross-examination, as far as it got.
#[derive(Debug)]
pub(super) struct CouncilRound {
    pub(super) number: u32,
    pub(super) said: Vec<Option<CrossExamination>>,
    pub(super) message_replies: Vec<Option<MessageReplies>>,
    pub(super) before: Vec<CouncillorStanding>,
    pub(super) after: Vec<CouncillorStanding>,
    /// The challenges whose target took part in this round and did not answer.
    pub(super) unanswered: Vec<usize>,
    /// What the moderator said; `None` where it was absent.
    pub(super) moderator: Option<ModeratorReply>,
    /// Whether the moderator's turn is over, even if it was absent.
    pub(super) is_moderated: bool,
    pub(super) findings: RoundFindings,
    pub(super) interventions: Vec<ModeratorIntervention>,
    /// Whether everything that belongs to the round has happened.
    pub(super) is_over: bool,
}

impl<'a> CouncilLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        Self::read_first(debate, debate.turns.len())
    }

    /// The log as it was after this many turns.
    pub(super) fn read_first(debate: &'a Debate, turns: usize) -> Result<Self, Corrupt> {
        let turns = debate.turns.get(..turns).unwrap_or_default();
        let mut members = Vec::new();
        for seat in debate.brief.seats_of("councillor") {
            let opening = said_by(turns, CouncilPhase::Opening, 0, &seat.id, |_| true)?;
            members.push(CouncilMember { seat, role: role_of_seat(&debate.brief.files, &seat.id), opening });
        }
        let opened = members.iter().enumerate().filter(|(_, member)| member.opening.is_some());
        let mut log = Self {
            debate,
            options: CouncilOptions::read(&debate.brief.options),
            turns,
            active: opened.map(|(place, _)| place).collect(),
            openings: members.iter().map(CouncilMember::opening_standing).collect(),
            challenges: Challenge::from_openings(&members),
            members,
            messages: Vec::new(),
            violations: Vec::new(),
            rounds: Vec::new(),
            finals: Vec::new(),
        };
        for number in 1..=log.options.rounds {
            if phase_replies(turns, CouncilPhase::Challenge, number).next().is_none() {
                break;
            }
            let round = log.read_round(number)?;
            log.rounds.push(round);
        }
        log.finals = log.said_by_all(CouncilPhase::Vote, log.options.rounds)?;
        Ok(log)
    }

    fn read_round(&mut self, number: u32) -> Result<CouncilRound, Corrupt> {
        let before: Vec<_> = self.standings().iter().map(CouncillorStanding::carried_over).collect();
        let mut moderator_turn = phase_replies(self.turns, CouncilPhase::Moderate, number);
        let mut round = CouncilRound {
            number,
            said: self.examinations(number)?,
            message_replies: self.said_by_all(CouncilPhase::Exchange, number)?,
            after: before.clone(),
            before,
            unanswered: Vec::new(),
            moderator: None,
            is_moderated: moderator_turn.any(|(_, reply)| reply.is_some()),
            findings: RoundFindings::default(),
            interventions: Vec::new(),
            is_over: false,
        };
        self.settle_due_challenges(&mut round);
        for place in self.active.clone() {
            self.take_examination(&mut round, place);
        }
        self.take_message_replies(&mut round);
        if round.is_moderated {
            let has_answers = self.challenges.iter().any(|challenge| challenge.is_answered_in(number));
            let is_requested = |key: &str| has_answers || key != "evasions";
            round.moderator = said_by(self.turns, CouncilPhase::Moderate, number, "moderator", is_requested)?;
        }
        round.findings = moderation::find(self, &round);
        if round.is_moderated {
            moderation::plan_interventions(self, &mut round);
            let replies: Vec<_> =
                phase_replies(self.turns, CouncilPhase::Intervene, number).map(|(_, reply)| reply).collect();
            moderation::settle_interventions(self, &mut round, &replies)?;
        }
        Ok(round)
    }

    /// Records the answers to the challenges that were due in this round.
    fn settle_due_challenges(&mut self, round: &mut CouncilRound) {
        let number = round.number;
        let asked: Vec<&str> = phase_replies(self.turns, CouncilPhase::Challenge, number)
            .filter(|(_, reply)| reply.is_some())
            .map(|(ask, _)| ask.seat.as_str())
            .collect();
        for (index, challenge) in self.challenges.iter_mut().enumerate() {
            if !challenge.is_due(number) || !self.active.contains(&challenge.to) {
                continue;
            }
            let Some(said) = round.said.get(challenge.to).and_then(Option::as_ref) else {
                let target = self.members.get(challenge.to).map_or("", |member| member.seat.id.as_str());
                challenge.absent_in.extend(asked.contains(&target).then_some(number));
                continue;
            };
            let id = challenge.id();
            let answer = said.responses.iter().find(|response| response.challenge_id == id);
            match answer.filter(|answer| !answer.response.trim().is_empty()) {
                Some(answer) => {
                    let (stance, response) = (Some(answer.stance), answer.response.trim().to_owned());
                    challenge.answers.push(ChallengeAnswer { round: number, stance, response });
                    challenge.state = ChallengeState::Answered;
                }
                None => round.unanswered.push(index),
            }
        }
    }

    /// Records a councillor's position, challenges and messages of a round.
    fn take_examination(&mut self, round: &mut CouncilRound, place: usize) {
        let Some(standing) = round.after.get_mut(place) else { return };
        let Some(said) = round.said.get(place).and_then(Option::as_ref) else {
            standing.carried = true;
            return;
        };
        standing.update(&said.position, said.changed, &said.because);
        standing.confidence = Some(said.confidence);
        let new_arguments = said.new_arguments.iter().filter(|text| !text.trim().is_empty());
        standing.arguments.extend(new_arguments.cloned());
        let before = self.challenges.len();
        for mut challenge in Challenge::from_examination(&self.members, before, round.number, place, said) {
            let earlier = self.rounds.iter().flat_map(|earlier| earlier.words_of(challenge.to));
            let standing = round.before.get(challenge.to).into_iter().flat_map(CouncillorStanding::words);
            let claim = plain_words(&challenge.claim);
            let occurs = earlier.chain(standing).any(|text| plain_words(text).contains(&claim));
            challenge.quoted = Some(!claim.is_empty() && occurs);
            self.challenges.push(challenge);
        }
        for message in &said.messages {
            let Some(to) = place_of(&self.members, &message.to) else { continue };
            self.messages.push(PeerMessage {
                number: self.messages.len() + 1,
                round: round.number,
                from: place,
                to,
                topic: message.topic.trim().to_owned(),
                text: message.text.trim().to_owned(),
                reply: None,
            });
        }
    }

    /// Records the answers to the round's messages, and the positions that they changed.
    fn take_message_replies(&mut self, round: &mut CouncilRound) {
        for message in self.messages.iter_mut().filter(|message| message.round == round.number) {
            let replies = round.message_replies.get(message.to).and_then(Option::as_ref);
            let id = message.id();
            let reply = replies.and_then(|said| said.replies.iter().find(|reply| reply.message_id == id));
            message.reply = reply.map(|reply| reply.text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        for (standing, replies) in round.after.iter_mut().zip(&round.message_replies) {
            if let Some(said) = replies.as_ref().filter(|said| said.changed) {
                standing.update(&said.position, true, &said.because);
            }
        }
    }

    /// What each councillor said in a round, without what it was not asked for: messages in economy mode, responses where there was
    /// nothing to answer.
    fn examinations(&self, round: u32) -> Result<Vec<Option<CrossExamination>>, Corrupt> {
        let said = self.members.iter().enumerate().map(|(place, member)| {
            let has_due = self.challenges.iter().any(|other| other.to == place && other.is_due(round));
            let is_requested = |key: &str| match key {
                "messages" => !self.options.economy,
                "responses" => has_due,
                _ => true,
            };
            said_by(self.turns, CouncilPhase::Challenge, round, &member.seat.id, is_requested)
        });
        said.collect()
    }

    /// What each councillor said in a phase.
    fn said_by_all<T: DeserializeOwned>(
        &self,
        phase: CouncilPhase,
        round: u32,
    ) -> Result<Vec<Option<T>>, Corrupt> {
        let seats = self.members.iter().map(|member| member.seat.id.as_str());
        seats.map(|seat| said_by(self.turns, phase, round, seat, |_| true)).collect()
    }

    /// The id of the councillor at a place.
    pub(super) fn id(&self, place: usize) -> String {
        self.members.get(place).map_or(String::new(), |member| member.seat.id.clone())
    }

    /// The name of the councillor at a place, as people read it.
    pub(super) fn name(&self, place: usize) -> &str {
        self.members.get(place).map_or("", |member| member.role.name.as_str())
    }

    pub(super) fn ids(&self, places: &[usize]) -> Vec<String> {
        places.iter().map(|place| self.id(*place)).collect()
    }

    /// The names of some councillors, in one line.
    pub(super) fn names(&self, places: impl IntoIterator<Item = usize>) -> String {
        places.into_iter().map(|place| self.name(place)).collect::<Vec<_>>().join(", ")
    }

    /// The round of this number, as far as it got.
    pub(super) fn round(&self, number: u32) -> Option<&CouncilRound> {
        self.rounds.iter().find(|round| round.number == number)
    }

    /// The challenges that a councillor made in a round.
    pub(super) fn made_by(&self, place: usize, round: u32) -> impl Iterator<Item = &Challenge> {
        self.challenges.iter().filter(move |made| made.from == place && made.round == round)
    }

    /// Who voted, by place, with its last statement.
    pub(super) fn voters(&self) -> impl Iterator<Item = (usize, &FinalStatement)> {
        self.finals.iter().enumerate().filter_map(|(place, last)| Some((place, last.as_ref()?)))
    }

    /// The votes, in seat order.
    pub(super) fn votes(&self) -> Vec<CouncilVote> {
        self.voters().map(|(_, last)| last.vote).collect()
    }

    /// The answer that a challenge had after a round, unless it was found evasive by then.
    pub(super) fn answer_after(&self, challenge: usize, round: u32) -> Option<&ChallengeAnswer> {
        let answers = &self.challenges.get(challenge)?.answers;
        let answer = answers.iter().rev().find(|answer| answer.round <= round)?;
        let violated = |found: &ChallengeViolation| found.challenge == challenge && found.round <= round;
        let put_again = |done: &ModeratorIntervention| {
            done.challenge() == Some(challenge) && done.outcome != InterventionOutcome::Answered
        };
        let withdrawn = |held: &CouncilRound| {
            (answer.round..=round).contains(&held.number) && held.interventions.iter().any(put_again)
        };
        let evaded = self.violations.iter().any(violated) || self.rounds.iter().any(withdrawn);
        (!evaded).then_some(answer)
    }

    /// Where everybody stands now.
    pub(super) fn standings(&self) -> &[CouncillorStanding] {
        self.rounds.last().map_or(&self.openings, |round| &round.after)
    }

    /// How many rounds are over.
    pub(super) fn rounds_completed(&self) -> u32 {
        u32::try_from(self.rounds.iter().filter(|round| round.is_over).count()).unwrap_or(u32::MAX)
    }

    /// The limits of the debate, of which a part is kept for the vote.
    pub(super) fn limits(&self) -> LimitCheck<'a> {
        let closing_calls = self.active.len();
        LimitCheck { debate: self.debate, closing_share: CLOSING_SHARE, closing_calls }
    }

    /// Who was never asked in a phase that had begun, by place: in economy mode a limit can come between two calls.
    pub(super) fn never_asked(&self, phase: CouncilPhase, round: u32) -> Vec<usize> {
        let asked: Vec<&str> =
            phase_replies(self.turns, phase, round).map(|(ask, _)| ask.seat.as_str()).collect();
        let places = self.members.iter().enumerate().filter(|(place, member)| {
            let takes_part = phase == CouncilPhase::Opening || self.active.contains(place);
            !asked.is_empty() && takes_part && !asked.contains(&member.seat.id.as_str())
        });
        places.map(|(place, _)| place).collect()
    }

    /// Whether a limit cut the debate before its rounds were over, or kept somebody from answering.
    pub(super) fn was_cut(&self) -> bool {
        let is_vote = |turn: &PhaseTurn| turn.phase.name == CouncilPhase::Vote.as_str();
        let limits = self.limits();
        let cut = |turn: &PhaseTurn| match is_vote(turn) {
            // Nothing is kept back from the vote itself.
            true => LimitCheck { closing_share: 0.0, ..limits }.cut_short(turn),
            false => limits.cut_short(turn),
        };
        let voted_early = self.turns.iter().any(is_vote) && self.rounds_completed() < self.options.rounds;
        voted_early || self.turns.iter().any(cut)
    }
}

impl CouncilMember<'_> {
    fn opening_standing(&self) -> CouncillorStanding {
        match &self.opening {
            None => CouncillorStanding::default(),
            Some(opening) => CouncillorStanding {
                position: opening.position.trim().to_owned(),
                confidence: Some(opening.confidence),
                arguments: opening.arguments.clone(),
                ..CouncillorStanding::default()
            },
        }
    }
}

impl CouncillorStanding {
    /// Takes a new position, if it is one, and says whether it is. Without a change the old text stays to the letter, because later
    /// rounds compare texts.
    pub(super) fn update(&mut self, position: &str, changed: bool, because: &str) -> bool {
        let because = because.trim();
        let moved = changed && is_new_position(position, &self.position);
        if moved {
            // A second change in one round keeps the reason of the first.
            self.because = match (self.changed, because.is_empty()) {
                (true, true) => self.because.clone(),
                (true, false) => format!("{}; then {because}", self.because),
                (false, _) => because.to_owned(),
            };
            self.position = position.trim().to_owned();
            self.changed = true;
        } else if !self.changed && !because.is_empty() {
            self.because = because.to_owned();
        }
        moved
    }

    /// The standing with which the next round begins.
    fn carried_over(&self) -> Self {
        Self { changed: false, because: String::new(), carried: false, ..self.clone() }
    }

    /// Its position and arguments.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.position.as_str()).chain(self.arguments.iter().map(String::as_str))
    }
}

/// Whether a position differs from the standing one by its words.
pub(super) fn is_new_position(position: &str, standing: &str) -> bool {
    let words = plain_words(position);
    !words.is_empty() && words != plain_words(standing)
}

impl PeerMessage {
    pub(super) fn id(&self) -> String {
        format!("M{}", self.number)
    }
}

impl CouncilRound {
    /// How many took part in the cross-examination.
    pub(super) fn present(&self) -> usize {
        self.said.iter().flatten().count()
    }

    pub(super) fn is_present(&self, place: usize) -> bool {
        self.said.get(place).is_some_and(Option::is_some)
    }

    /// Whose position changed, by place.
    pub(super) fn changed(&self) -> impl Iterator<Item = (usize, &CouncillorStanding)> {
        self.after.iter().enumerate().filter(|(_, standing)| standing.changed)
    }

    /// A councillor's responses to challenges that were put to it. A response to anything else answers nothing.
    pub(super) fn responses<'a>(
        &'a self,
        place: usize,
        challenges: &'a [Challenge],
    ) -> impl Iterator<Item = &'a ChallengeResponse> {
        let said = self.said.get(place).and_then(Option::as_ref);
        said.into_iter().flat_map(|said| &said.responses).filter(move |response| {
            let mut own = challenges.iter().filter(|put| put.to == place && put.round < self.number);
            own.any(|put| put.id() == response.challenge_id) && has_words(&response.response)
        })
    }

    /// What a councillor said to everybody in this round's cross-examination.
    pub(super) fn words_of(&self, place: usize) -> Vec<&str> {
        let Some(said) = self.said.get(place).and_then(Option::as_ref) else { return Vec::new() };
        let mut words = vec![said.position.as_str(), said.because.as_str()];
        words.extend(said.new_arguments.iter().map(String::as_str));
        words.extend(said.responses.iter().map(|response| response.response.as_str()));
        words.extend(said.challenges.iter().flat_map(|made| [made.reason.as_str(), made.question.as_str()]));
        words
    }
}

/// The place of the councillor with this id or name.
pub(super) fn place_of(members: &[CouncilMember<'_>], name: &str) -> Option<usize> {
    let key = name_key(name);
    members.iter().position(|member| member.seat.id == key)
}

/// The asks of a phase with their replies, in the order in which they were put. In economy mode a phase has many turns.
pub(super) fn phase_replies(
    turns: &[PhaseTurn],
    phase: CouncilPhase,
    round: u32,
) -> impl Iterator<Item = (&AskRecord, Option<&Reply>)> {
    let turns =
        turns.iter().filter(move |turn| turn.phase.name == phase.as_str() && turn.phase.round == round);
    turns.flat_map(|turn| turn.asks.iter().zip(turn.replies.iter().map(Option::as_ref)))
}

/// What a seat said in a phase, without the fields that were not asked for.
fn said_by<T: DeserializeOwned>(
    turns: &[PhaseTurn],
    phase: CouncilPhase,
    round: u32,
    seat: &str,
    is_requested: impl Fn(&str) -> bool,
) -> Result<Option<T>, Corrupt> {
    let asked = phase_replies(turns, phase, round).find(|(ask, _)| ask.seat == seat);
    let value = asked.and_then(|(_, reply)| reply?.value());
    Ok(value.map(|value| T::deserialize(requested_fields(value, is_requested))).transpose()?)
}
