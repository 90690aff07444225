//! What `council` reads from the log: who sits, what was said in each round, where each councillor stands after it.
//!
//! Councillors are known by the ids of their seats. Maps are in seat order.

use agon_core::{AskRecord, Corrupt, Debate, PhaseTurn, Reply, Seat};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::challenges::{Challenge, ChallengeAnswer, ChallengeFate, ChallengeViolation};
use super::moderation::{self, ANSWERED, InterventionKind, ModeratorIntervention, RoundFindings};
use super::replies::{
    ChallengeResponse, CouncilConfidence, CouncilVote, CrossExamination, FinalStatement, MessageReplies,
    ModeratorReply, OpeningStatement,
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
    /// Those who gave an opening. Nobody else takes part.
    pub(super) active: Vec<&'a str>,
    /// Where everybody stood after the openings.
    pub(super) openings: IndexMap<&'a str, CouncillorStanding>,
    pub(super) challenges: Vec<Challenge>,
    pub(super) messages: Vec<PeerMessage>,
    pub(super) violations: Vec<ChallengeViolation>,
    pub(super) rounds: Vec<CouncilRound<'a>>,
    pub(super) finals: IndexMap<&'a str, FinalStatement>,
}

/// A councillor's seat.
#[derive(Debug)]
pub(super) struct CouncilMember<'a> {
    pub(super) seat: &'a Seat,
    pub(super) role: CouncilRole,
    pub(super) opening: Option<OpeningStatement>,
}

/// Where a councillor stands after a round; round 0 is the opening.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CouncillorStanding {
    pub(super) round: u32,
    pub(super) position: String,
    pub(super) confidence: CouncilConfidence,
    /// Whether the position changed in this round.
    pub(super) changed: bool,
    pub(super) because: String,
    /// Whether the councillor was absent from this round's cross-examination.
    pub(super) carried: bool,
    /// The arguments of the opening and all that were added since.
    #[serde(skip)]
    pub(super) arguments: Vec<String>,
}

/// A message to one councillor, with its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PeerMessage {
    /// `M1`, counted over the whole debate.
    pub(super) id: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) topic: String,
    pub(super) text: String,
    pub(super) reply: Option<String>,
    pub(super) round: u32,
}

/// One round of cross-examination, as far as it got.
#[derive(Debug)]
pub(super) struct CouncilRound<'a> {
    pub(super) number: u32,
    /// Who took part, and what each said.
    pub(super) said: IndexMap<&'a str, CrossExamination>,
    pub(super) before: IndexMap<&'a str, CouncillorStanding>,
    pub(super) after: IndexMap<&'a str, CouncillorStanding>,
    /// The challenges whose target took part in this round and did not answer.
    pub(super) unanswered: Vec<String>,
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
        let (mut members, mut openings) = (Vec::new(), IndexMap::new());
        for seat in debate.brief.seats_of("councillor") {
            let opening = said_by(turns, CouncilPhase::Opening, 0, &seat.id, |_| true)?;
            if let Some(opening) = &opening {
                openings.insert(seat.id.as_str(), CouncillorStanding::new(opening));
            }
            members.push(CouncilMember { seat, role: role_of_seat(&debate.brief.files, &seat.id), opening });
        }
        let mut log = Self {
            debate,
            options: CouncilOptions::read(&debate.brief.options),
            turns,
            members,
            active: openings.keys().copied().collect(),
            openings,
            challenges: Vec::new(),
            messages: Vec::new(),
            violations: Vec::new(),
            rounds: Vec::new(),
            finals: IndexMap::new(),
        };
        log.challenges = log.opening_questions();
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

    /// The questions of the openings, in seat order. They count as challenges.
    fn opening_questions(&self) -> Vec<Challenge> {
        let mut questions = Vec::new();
        for member in &self.members {
            for asked in member.opening.iter().flat_map(|opening| &opening.questions) {
                let Some(to) = self.seat_named(&asked.to) else { continue };
                let words = ["", "", asked.question.as_str()];
                questions.push(Challenge::new(questions.len() + 1, 0, &member.seat.id, to, words));
            }
        }
        questions
    }

    fn read_round(&mut self, number: u32) -> Result<CouncilRound<'a>, Corrupt> {
        let standings = self.standings().iter();
        let before: IndexMap<_, _> =
            standings.map(|(seat, held)| (*seat, held.carried_into(number))).collect();
        let mut moderator_turn = phase_replies(self.turns, CouncilPhase::Moderate, number);
        let mut round = CouncilRound {
            number,
            said: self.examinations(number)?,
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
        for seat in self.active.clone() {
            self.take_examination(&mut round, seat);
        }
        self.take_message_replies(&mut round)?;
        if round.is_moderated {
            let has_answers = self.challenges.iter().any(|put| put.answered_in == Some(number));
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
    fn settle_due_challenges(&mut self, round: &mut CouncilRound<'_>) {
        let asked: Vec<&str> = phase_replies(self.turns, CouncilPhase::Challenge, round.number)
            .filter(|(_, reply)| reply.is_some())
            .map(|(ask, _)| ask.seat.as_str())
            .collect();
        for challenge in &mut self.challenges {
            let target = challenge.to.as_str();
            if !challenge.is_due(round.number) || !self.active.contains(&target) {
                continue;
            }
            let Some(said) = round.said.get(target) else {
                challenge.absent_in.extend(asked.contains(&target).then_some(round.number));
                continue;
            };
            let answer = said.responses.iter().find(|response| response.challenge_id == challenge.id);
            match answer.filter(|answer| !answer.response.trim().is_empty()) {
                Some(answer) => {
                    challenge.add_answer(round.number, Some(answer.stance), &answer.response);
                    challenge.fate = ChallengeFate::Answered;
                }
                None => round.unanswered.push(challenge.id.clone()),
            }
        }
    }

    /// Records a councillor's position, challenges and messages of a round.
    fn take_examination(&mut self, round: &mut CouncilRound<'_>, seat: &str) {
        let Some(standing) = round.after.get_mut(seat) else { return };
        let Some(said) = round.said.get(seat) else {
            standing.carried = true;
            return;
        };
        standing.update(&said.position, said.changed, &said.because);
        standing.confidence = said.confidence;
        let new_arguments = said.new_arguments.iter().filter(|text| !text.trim().is_empty());
        standing.arguments.extend(new_arguments.cloned());
        for made in &said.challenges {
            let Some(to) = self.seat_named(&made.to) else { continue };
            let earlier = self.rounds.iter().flat_map(|earlier| earlier.words_of(to));
            let standing = round.before.get(to).into_iter().flat_map(CouncillorStanding::words);
            let claim = plain_words(made.claim.trim());
            let occurs = earlier.chain(standing).any(|text| plain_words(text).contains(&claim));
            let words = [made.claim.as_str(), &made.reason, &made.question];
            let challenge = Challenge::new(self.challenges.len() + 1, round.number, seat, to, words);
            let quoted = Some(!claim.is_empty() && occurs);
            self.challenges.push(Challenge { quoted, ..challenge });
        }
        for message in &said.messages {
            let Some(to) = self.seat_named(&message.to) else { continue };
            self.messages.push(PeerMessage {
                id: format!("M{}", self.messages.len() + 1),
                from: seat.to_owned(),
                to: to.to_owned(),
                topic: message.topic.trim().to_owned(),
                text: message.text.trim().to_owned(),
                reply: None,
                round: round.number,
            });
        }
    }

    /// Records the answers to the round's messages, and the positions that they changed.
    fn take_message_replies(&mut self, round: &mut CouncilRound<'_>) -> Result<(), Corrupt> {
        let replies: IndexMap<&str, MessageReplies> =
            self.said_by_all(CouncilPhase::Exchange, round.number)?;
        for message in self.messages.iter_mut().filter(|message| message.round == round.number) {
            let said = replies.get(message.to.as_str());
            let reply =
                said.and_then(|said| said.replies.iter().find(|reply| reply.message_id == message.id));
            message.reply = reply.map(|reply| reply.text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        for (seat, said) in replies.iter().filter(|(_, said)| said.changed) {
            if let Some(standing) = round.after.get_mut(*seat) {
                standing.update(&said.position, true, &said.because);
            }
        }
        Ok(())
    }

    /// What each councillor said in a round, without what it was not asked for: messages in economy mode, responses where there was
    /// nothing to answer.
    fn examinations(&self, round: u32) -> Result<IndexMap<&'a str, CrossExamination>, Corrupt> {
        let mut all = IndexMap::new();
        for seat in self.members.iter().map(|member| member.seat.id.as_str()) {
            let has_due = self.challenges.iter().any(|put| put.to == seat && put.is_due(round));
            let is_requested = |key: &str| match key {
                "messages" => !self.options.economy,
                "responses" => has_due,
                _ => true,
            };
            let said = said_by(self.turns, CouncilPhase::Challenge, round, seat, is_requested)?;
            all.extend(said.map(|said| (seat, said)));
        }
        Ok(all)
    }

    /// What the councillors said in a phase.
    fn said_by_all<T: DeserializeOwned>(
        &self,
        phase: CouncilPhase,
        round: u32,
    ) -> Result<IndexMap<&'a str, T>, Corrupt> {
        let mut all = IndexMap::new();
        for seat in self.members.iter().map(|member| member.seat.id.as_str()) {
            all.extend(said_by(self.turns, phase, round, seat, |_| true)?.map(|said| (seat, said)));
        }
        Ok(all)
    }

    /// The seat of the councillor with this id or name.
    pub(super) fn seat_named(&self, name: &str) -> Option<&'a str> {
        let key = name_key(name);
        self.members.iter().map(|member| member.seat.id.as_str()).find(|id| *id == key)
    }

    /// A councillor's name, as people read it.
    pub(super) fn name(&self, seat: &str) -> &str {
        let member = self.members.iter().find(|member| member.seat.id == seat);
        member.map_or("", |member| member.role.name.as_str())
    }

    /// The names of some councillors, in one line.
    pub(super) fn names<'s>(&self, seats: impl IntoIterator<Item = &'s str>) -> String {
        seats.into_iter().map(|seat| self.name(seat)).collect::<Vec<_>>().join(", ")
    }

    /// The round of this number, as far as it got.
    pub(super) fn round(&self, number: u32) -> Option<&CouncilRound<'a>> {
        self.rounds.iter().find(|round| round.number == number)
    }

    pub(super) fn challenge(&self, id: &str) -> Option<&Challenge> {
        self.challenges.iter().find(|challenge| challenge.id == id)
    }

    pub(super) fn challenge_mut(&mut self, id: &str) -> Option<&mut Challenge> {
        self.challenges.iter_mut().find(|challenge| challenge.id == id)
    }

    /// The challenges that a councillor made in a round.
    pub(super) fn made_by(&self, seat: &str, round: u32) -> impl Iterator<Item = &Challenge> {
        self.challenges.iter().filter(move |made| made.from == seat && made.round == round)
    }

    pub(super) fn messages_of(&self, round: u32) -> impl Iterator<Item = &PeerMessage> {
        self.messages.iter().filter(move |message| message.round == round)
    }

    /// The votes, in seat order.
    pub(super) fn votes(&self) -> Vec<CouncilVote> {
        self.finals.values().map(|last| last.vote).collect()
    }

    /// The answer that a challenge had after a round, unless it was found evasive by then.
    pub(super) fn answer_after<'c>(
        &self,
        challenge: &'c Challenge,
        round: u32,
    ) -> Option<&'c ChallengeAnswer> {
        let answer = challenge.answers.iter().rev().find(|answer| answer.round <= round)?;
        let violated =
            |found: &ChallengeViolation| found.challenge_id == challenge.id && found.round <= round;
        let put_again = |done: &ModeratorIntervention| {
            let is_about =
                done.kind == InterventionKind::Evasion && done.about.as_ref() == Some(&challenge.id);
            is_about && done.outcome != ANSWERED
        };
        let withdrawn = |held: &CouncilRound<'_>| {
            (answer.round..=round).contains(&held.number) && held.interventions.iter().any(put_again)
        };
        let evaded = self.violations.iter().any(violated) || self.rounds.iter().any(withdrawn);
        (!evaded).then_some(answer)
    }

    /// Where everybody stands now.
    pub(super) fn standings(&self) -> &IndexMap<&'a str, CouncillorStanding> {
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

    /// Who was never asked in a phase that had begun: in economy mode a limit can come between two calls.
    pub(super) fn never_asked(&self, phase: CouncilPhase, round: u32) -> Vec<&'a str> {
        let asked: Vec<&str> =
            phase_replies(self.turns, phase, round).map(|(ask, _)| ask.seat.as_str()).collect();
        let seats = self.members.iter().map(|member| member.seat.id.as_str());
        let expected = seats.filter(|seat| phase == CouncilPhase::Opening || self.active.contains(seat));
        expected.filter(|seat| !asked.is_empty() && !asked.contains(seat)).collect()
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

impl CouncillorStanding {
    fn new(opening: &OpeningStatement) -> Self {
        Self {
            round: 0,
            position: opening.position.trim().to_owned(),
            confidence: opening.confidence,
            changed: false,
            because: String::new(),
            carried: false,
            arguments: opening.arguments.clone(),
        }
    }

    /// The standing with which a round begins.
    fn carried_into(&self, round: u32) -> Self {
        Self { round, changed: false, because: String::new(), carried: false, ..self.clone() }
    }

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

impl CouncilRound<'_> {
    pub(super) fn is_present(&self, seat: &str) -> bool {
        self.said.contains_key(seat)
    }

    /// Whose position changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&str, &CouncillorStanding)> {
        self.after.iter().map(|(seat, standing)| (*seat, standing)).filter(|(_, standing)| standing.changed)
    }

    /// A councillor's responses to challenges that were put to it. A response to anything else answers nothing.
    pub(super) fn responses<'r>(
        &'r self,
        seat: &'r str,
        challenges: &'r [Challenge],
    ) -> impl Iterator<Item = &'r ChallengeResponse> {
        let said = self.said.get(seat).into_iter().flat_map(|said| &said.responses);
        said.filter(move |response| {
            let mut own = challenges.iter().filter(|put| put.to == seat && put.round < self.number);
            own.any(|put| put.id == response.challenge_id) && has_words(&response.response)
        })
    }

    /// What a councillor said to everybody in this round's cross-examination.
    pub(super) fn words_of(&self, seat: &str) -> Vec<&str> {
        let Some(said) = self.said.get(seat) else { return Vec::new() };
        let mut words = vec![said.position.as_str(), said.because.as_str()];
        words.extend(said.new_arguments.iter().map(String::as_str));
        words.extend(said.responses.iter().map(|response| response.response.as_str()));
        words.extend(said.challenges.iter().flat_map(|made| [made.reason.as_str(), made.question.as_str()]));
        words
    }
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
