//! What `council` reads from the log: who takes part, what was said in each round, what became of each challenge, and where each
//! councillor stands after each round.
//!
//! Councillors are known by the ids of their seats. Maps are in seat order.

use agon_core::{AskRecord, Corrupt, Debate, PhaseTurn, Reply, Seat};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::moderation::{self, ModeratorIntervention, RoundFindings};
use super::replies::{
    ChallengeStance, CouncilConfidence, CouncilVote, CrossExamination, FinalStatement, ModeratorConclusion,
    ModeratorReply, OpeningStatement, RoundResponse,
};
use super::roster::{CouncilRole, role_of_seat};
use super::{CLOSING_SHARE, CouncilOptions, CouncilPhase};
use crate::limits::LimitCheck;
use crate::named_lists::name_key;
use crate::quotes::{QuotedTexts, is_same_text};

/// The log as `council` sees it.
#[derive(Debug)]
pub(super) struct CouncilLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: CouncilOptions,
    turns: &'a [PhaseTurn],
    /// How texts are shown to the seats, and how quotes of them are verified.
    pub(super) texts: QuotedTexts<'a>,
    /// All councillors, in seat order.
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
    /// What the moderator made of the votes; `None` where it was absent or not asked.
    pub(super) conclusion: Option<ModeratorConclusion>,
}

/// A councillor's seat.
#[derive(Debug)]
pub(super) struct CouncilMember<'a> {
    pub(super) seat: &'a Seat,
    pub(super) role: CouncilRole,
}

/// Where a councillor stands after a round; round 0 is the opening.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CouncillorStanding {
    pub(super) round: u32,
    pub(super) position: String,
    pub(super) key_arguments: Vec<String>,
    pub(super) confidence: CouncilConfidence,
    /// The provisional vote.
    pub(super) vote: CouncilVote,
    /// Whether the position changed in this round.
    pub(super) changed: bool,
    pub(super) because: String,
    /// Whether the councillor gave no response in this round, so that everything is as before.
    pub(super) carried: bool,
}

/// A challenge, or a question of an opening, as it is in the verdict.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Challenge {
    /// `C1`, counted over the whole debate.
    pub(super) id: String,
    /// The round in which it was made; 0 for a question of an opening.
    pub(super) round: u32,
    pub(super) from: String,
    pub(super) to: String,
    /// Empty for a question of an opening.
    pub(super) claim: String,
    pub(super) reason: String,
    pub(super) question: String,
    /// Whether the claim occurs in the target's words; `None` for a question.
    pub(super) quoted: Option<bool>,
    pub(super) fate: ChallengeFate,
    /// The stance of the last answer.
    pub(super) stance: Option<ChallengeStance>,
    /// The last answer.
    pub(super) response: Option<String>,
    /// All answers.
    pub(super) answers: Vec<ChallengeAnswer>,
    /// The round in which the moderator put it again.
    pub(super) re_asked: Option<u32>,
    /// The rounds in which it was put to its target and the target was absent.
    pub(super) absent_in: Vec<u32>,
}

/// An answer to a challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChallengeAnswer {
    pub(super) round: u32,
    pub(super) stance: Option<ChallengeStance>,
    pub(super) response: String,
    /// Whether the challenge was put again before it.
    pub(super) second: bool,
    /// The round in which it was found to evade the challenge.
    pub(super) evasive_since: Option<u32>,
}

super::wire_words! {
    /// What became of a challenge.
    #[derive(Default)]
    enum ChallengeFate {
        Answered = "answered",
        Evaded = "evaded",
        /// It has no answer yet.
        #[default]
        Open = "open",
    }
}

/// A challenge that was evaded although it was put again, or that could not be put again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChallengeViolation {
    pub(super) round: u32,
    pub(super) councillor: String,
    pub(super) challenge_id: String,
    pub(super) why: String,
}

/// A message to one councillor, with its reply.
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

/// One round, as far as it got.
#[derive(Debug, Default)]
pub(super) struct CouncilRound<'a> {
    pub(super) number: u32,
    /// What each councillor asked of the others.
    pub(super) examined: IndexMap<&'a str, CrossExamination>,
    /// What each councillor answered.
    pub(super) responded: IndexMap<&'a str, RoundResponse>,
    pub(super) before: IndexMap<&'a str, CouncillorStanding>,
    pub(super) after: IndexMap<&'a str, CouncillorStanding>,
    /// The challenges whose target responded in this round and did not answer them.
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
        let mut log = Self {
            debate,
            options: CouncilOptions::read(&debate.brief.options),
            turns: debate.turns.get(..turns).unwrap_or_default(),
            texts: QuotedTexts::new(&debate.brief),
            members: Vec::new(),
            active: Vec::new(),
            openings: IndexMap::new(),
            challenges: Vec::new(),
            messages: Vec::new(),
            violations: Vec::new(),
            rounds: Vec::new(),
            finals: IndexMap::new(),
            conclusion: None,
        };
        let mut questions = Vec::new();
        for seat in debate.brief.seats_of("councillor") {
            log.members.push(CouncilMember { seat, role: role_of_seat(&debate.brief.files, &seat.id) });
            let opening: Option<OpeningStatement> = log.said_by(CouncilPhase::Opening, 0, &seat.id)?;
            if let Some(opening) = opening {
                log.openings.insert(&seat.id, CouncillorStanding::new(&opening));
                log.active.push(&seat.id);
                questions.extend(opening.questions.into_iter().map(|asked| (&seat.id, asked)));
            }
        }
        // They count as challenges, in seat order.
        for (from, asked) in questions {
            let Some(to) = log.seat_named(&asked.to) else { continue };
            let number = log.challenges.len() + 1;
            log.challenges.push(Challenge::new(number, 0, [from, to], ["", "", &asked.question]));
        }
        for number in 1..=log.options.rounds {
            if log.asked(CouncilPhase::Challenge, number).next().is_none() {
                break;
            }
            let round = log.read_round(number)?;
            log.rounds.push(round);
        }
        let last = log.options.rounds;
        log.finals = log.said_by_all(CouncilPhase::Vote, last)?;
        log.conclusion = log.said_by(CouncilPhase::Conclude, last, "moderator")?;
        moderation::settle_late_evasions(&mut log);
        Ok(log)
    }

    fn read_round(&mut self, number: u32) -> Result<CouncilRound<'a>, Corrupt> {
        let standings = self.standings().iter();
        let before: IndexMap<_, _> =
            standings.map(|(seat, held)| (*seat, held.carried_into(number))).collect();
        let mut round = CouncilRound {
            number,
            examined: self.said_by_all(CouncilPhase::Challenge, number)?,
            responded: self.said_by_all(CouncilPhase::Respond, number)?,
            after: before.clone(),
            before,
            moderator: self.said_by(CouncilPhase::Moderate, number, "moderator")?,
            is_moderated: self.asked(CouncilPhase::Moderate, number).any(|(_, reply)| reply.is_some()),
            ..CouncilRound::default()
        };
        self.take_examinations(&round);
        self.take_responses(&mut round);
        round.findings = moderation::find(self, &round, round.moderator.as_ref());
        if round.is_moderated {
            moderation::plan_interventions(self, &mut round);
            let replies: Vec<_> =
                self.asked(CouncilPhase::Intervene, number).map(|(_, reply)| reply).collect();
            moderation::settle_interventions(self, &mut round, &replies)?;
        }
        Ok(round)
    }

    /// Records the challenges and messages of a round.
    fn take_examinations(&mut self, round: &CouncilRound<'_>) {
        for (seat, said) in &round.examined {
            for made in &said.challenges {
                let Some(to) = self.seat_named(&made.to) else { continue };
                let quoted = Some(self.is_claim_of(to, seat, round.number, &made.claim));
                let (number, words) =
                    (self.challenges.len() + 1, [&*made.claim, &*made.reason, &*made.question]);
                let challenge = Challenge::new(number, round.number, [seat, to], words);
                self.challenges.push(Challenge { quoted, ..challenge });
            }
            for message in said.messages.iter().take(self.messages_max()) {
                let Some(to) = self.seat_named(&message.to) else { continue };
                self.messages.push(PeerMessage {
                    id: format!("M{}", self.messages.len() + 1),
                    from: (*seat).to_owned(),
                    to: to.to_owned(),
                    topic: message.topic.trim().to_owned(),
                    text: message.text.trim().to_owned(),
                    reply: None,
                    round: round.number,
                });
            }
        }
    }

    /// Records the answers of a round, and where the councillors stand after it.
    fn take_responses(&mut self, round: &mut CouncilRound<'_>) {
        let asked = self.asked(CouncilPhase::Respond, round.number);
        let is_absent = |seat: &str, said: &IndexMap<&str, RoundResponse>| {
            asked.clone().any(|(ask, reply)| ask.seat == seat && reply.is_some()) && !said.contains_key(seat)
        };
        for challenge in self.challenges.iter_mut().filter(|put| put.is_due(round.number)) {
            let Some(said) = round.responded.get(challenge.to.as_str()) else {
                let is_absent = is_absent(&challenge.to, &round.responded);
                challenge.absent_in.extend(is_absent.then_some(round.number));
                continue;
            };
            let answer =
                said.responses.iter().find(|response| is_same_text(&response.challenge_id, &challenge.id));
            match answer.filter(|answer| has_words(&answer.response)) {
                Some(answer) => {
                    challenge.add_answer(round.number, Some(answer.stance), &answer.response);
                    challenge.fate = ChallengeFate::Answered;
                }
                None => round.unanswered.push(challenge.id.clone()),
            }
        }
        for message in self.messages.iter_mut().filter(|message| message.round == round.number) {
            let said = round.responded.get(message.to.as_str());
            let reply = said
                .and_then(|said| said.replies.iter().find(|it| is_same_text(&it.message_id, &message.id)));
            message.reply = reply.map(|reply| reply.text.trim().to_owned()).filter(|text| has_words(text));
        }
        for (seat, standing) in &mut round.after {
            match round.responded.get(seat) {
                Some(said) => standing.respond(said),
                None => standing.carried = true,
            }
        }
    }

    /// The asks of a phase with their replies, in the order in which they were put. In economy mode a phase has many turns.
    pub(super) fn asked(
        &self,
        phase: CouncilPhase,
        round: u32,
    ) -> impl Iterator<Item = (&'a AskRecord, Option<&'a Reply>)> + Clone + use<'a> {
        let is_it = move |turn: &&PhaseTurn| turn.phase.name == phase.as_str() && turn.phase.round == round;
        let turns = self.turns.iter().filter(is_it);
        turns.flat_map(|turn| turn.asks.iter().zip(turn.replies.iter().map(Option::as_ref)))
    }

    /// What a seat said in a phase.
    fn said_by<T: DeserializeOwned>(
        &self,
        phase: CouncilPhase,
        round: u32,
        seat: &str,
    ) -> Result<Option<T>, Corrupt> {
        let value = self.asked(phase, round).find(|(ask, _)| ask.seat == seat);
        Ok(value.and_then(|(_, reply)| reply?.value()).map(T::deserialize).transpose()?)
    }

    /// What the councillors said in a phase.
    fn said_by_all<T: DeserializeOwned>(
        &self,
        phase: CouncilPhase,
        round: u32,
    ) -> Result<IndexMap<&'a str, T>, Corrupt> {
        let mut all = IndexMap::new();
        for seat in self.members.iter().map(|member| member.seat.id.as_str()) {
            all.extend(self.said_by(phase, round, seat)?.map(|said| (seat, said)));
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

    /// Whether a claim quotes words of a councillor that the challenger was shown before this round.
    pub(super) fn is_claim_of(&self, target: &str, challenger: &str, round: u32, claim: &str) -> bool {
        let Some(target) = self.seat_named(target) else { return false };
        let earlier = self.rounds.iter().filter(|earlier| earlier.number < round);
        let said = earlier.flat_map(|earlier| earlier.public_words(target));
        let standing = self.standings().get(target).into_iter().flat_map(CouncillorStanding::words);
        let letters =
            self.letters(target).filter(|(sent, other, _)| sent.round < round && *other == challenger);
        let letters = letters.map(|(.., text)| text);
        said.chain(standing).chain(letters).any(|text| self.texts.is_quoted(claim, text))
    }

    /// The messages and replies that a councillor wrote, each with its recipient.
    fn letters<'s>(&'s self, seat: &'s str) -> impl Iterator<Item = (&'s PeerMessage, &'s str, &'s str)> {
        self.messages.iter().filter_map(move |sent| match (sent.from == seat, sent.to == seat) {
            (true, _) => Some((sent, sent.to.as_str(), sent.text.as_str())),
            (_, true) => Some((sent, sent.from.as_str(), sent.reply.as_deref()?)),
            _ => None,
        })
    }

    /// The words of a councillor that only the record quotes of a round: what everybody may read, and its messages.
    pub(super) fn quotable_words<'s>(&'s self, round: &'s CouncilRound<'_>, seat: &'s str) -> Vec<&'s str> {
        let letters = self.letters(seat).filter(|(sent, ..)| sent.round == round.number);
        let letters = letters.map(|(.., text)| text);
        round.shared_words(seat).into_iter().chain(letters).collect()
    }

    /// The round of this number, as far as it got.
    pub(super) fn round(&self, number: u32) -> Option<&CouncilRound<'a>> {
        self.rounds.iter().find(|round| round.number == number)
    }

    pub(super) fn challenge(&self, id: &str) -> Option<&Challenge> {
        self.challenges.iter().find(|challenge| is_same_text(&challenge.id, id))
    }

    pub(super) fn message(&self, id: &str) -> Option<&PeerMessage> {
        self.messages.iter().find(|message| is_same_text(&message.id, id))
    }

    pub(super) fn challenge_mut(&mut self, id: &str) -> Option<&mut Challenge> {
        self.challenges.iter_mut().find(|challenge| is_same_text(&challenge.id, id))
    }

    /// The challenges that a councillor made in a round.
    pub(super) fn made_by(&self, seat: &str, round: u32) -> impl Iterator<Item = &Challenge> {
        self.challenges.iter().filter(move |made| made.from == seat && made.round == round)
    }

    /// The most messages that a councillor sends in a round.
    pub(super) fn messages_max(&self) -> usize {
        if self.options.economy { 0 } else { self.options.exchanges }
    }

    pub(super) fn messages_of(&self, round: u32) -> impl Iterator<Item = &PeerMessage> {
        self.messages.iter().filter(move |message| message.round == round)
    }

    /// The points against which somebody made the case, so far.
    pub(super) fn steelmanned_points(&self) -> impl Iterator<Item = &str> {
        let done = self.rounds.iter().flat_map(|round| &round.interventions);
        done.filter_map(ModeratorIntervention::steelmanned_point)
    }

    /// The votes, in seat order.
    pub(super) fn votes(&self) -> Vec<CouncilVote> {
        self.finals.values().map(|last| last.vote).collect()
    }

    /// Where everybody stands now.
    pub(super) fn standings(&self) -> &IndexMap<&'a str, CouncillorStanding> {
        self.rounds.last().map_or(&self.openings, |round| &round.after)
    }

    /// The fewest councillors for a round, and the fewest votes for a decision: half of all, and at least two.
    pub(super) fn quorum(&self) -> usize {
        self.members.len().div_ceil(2).max(2)
    }

    /// How many rounds are over.
    pub(super) fn rounds_completed(&self) -> u32 {
        u32::try_from(self.rounds.iter().filter(|round| round.is_over).count()).unwrap_or(u32::MAX)
    }

    /// The limits of the debate, of which a part is kept for the vote and the moderator's conclusion.
    pub(super) fn limits(&self) -> LimitCheck<'a> {
        let closing_calls = self.active.len() + 1;
        LimitCheck { debate: self.debate, closing_share: CLOSING_SHARE, closing_calls }
    }

    /// The limits after the last round: nothing is kept back any more.
    pub(super) fn closing_limits(&self) -> LimitCheck<'a> {
        LimitCheck { closing_share: 0.0, closing_calls: 0, ..self.limits() }
    }

    /// Who was never asked in a phase that had begun: in economy mode a limit can come between two calls.
    pub(super) fn never_asked(&self, phase: CouncilPhase, round: u32) -> Vec<&'a str> {
        let asked: Vec<&str> = self.asked(phase, round).map(|(ask, _)| ask.seat.as_str()).collect();
        let seats = self.members.iter().map(|member| member.seat.id.as_str());
        let expected = seats.filter(|seat| phase == CouncilPhase::Opening || self.active.contains(seat));
        expected.filter(|seat| !asked.is_empty() && !asked.contains(seat)).collect()
    }

    /// Whether a limit cut the debate before its rounds were over, or kept somebody from answering.
    pub(super) fn was_cut(&self) -> bool {
        let is_vote = |turn: &PhaseTurn| turn.phase.name == CouncilPhase::Vote.as_str();
        let cut = |turn: &PhaseTurn| match CouncilPhase::of(&turn.phase) {
            Ok(CouncilPhase::Vote) => self.closing_limits().cut_short(turn),
            // Without the conclusion the votes still decide.
            Ok(CouncilPhase::Conclude) => false,
            _ => self.limits().cut_short(turn),
        };
        let voted_early = self.turns.iter().any(is_vote) && self.rounds_completed() < self.options.rounds;
        voted_early || self.turns.iter().any(cut)
    }
}

impl CouncillorStanding {
    fn new(opening: &OpeningStatement) -> Self {
        Self {
            position: opening.position.trim().to_owned(),
            key_arguments: texts_of(&opening.arguments),
            confidence: opening.confidence,
            vote: opening.vote,
            ..Self::default()
        }
    }

    /// The standing with which a round begins.
    fn carried_into(&self, round: u32) -> Self {
        Self { round, changed: false, because: String::new(), carried: false, ..self.clone() }
    }

    fn respond(&mut self, said: &RoundResponse) {
        self.update(&said.position, said.changed, &said.because);
        let key_arguments = texts_of(&said.key_arguments);
        if !key_arguments.is_empty() {
            self.key_arguments = key_arguments;
        }
        (self.confidence, self.vote) = (said.confidence, said.vote);
    }

    /// Takes a new position, if it is declared as one, and says whether it is. Without a declared change the old text stays.
    pub(super) fn update(&mut self, position: &str, changed: bool, because: &str) -> bool {
        let because = because.trim();
        let moved = changed && has_words(position) && !is_same_text(position, &self.position);
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

    /// Its position and key arguments.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.position.as_str()).chain(self.key_arguments.iter().map(String::as_str))
    }
}

impl Challenge {
    /// A new challenge, counted from 1. The words are claim, reason and question.
    fn new(number: usize, round: u32, [from, to]: [&str; 2], words: [&str; 3]) -> Self {
        let [claim, reason, question] = words.map(|text| text.trim().to_owned());
        let (from, to) = (from.to_owned(), to.to_owned());
        Self { id: format!("C{number}"), round, from, to, claim, reason, question, ..Self::default() }
    }

    /// The claim as seats and people read it; `None` for a question of an opening.
    pub(super) fn shown_claim(&self) -> Option<String> {
        self.quoted.map(|is_quote| match is_quote {
            true => format!("\"{}\"", self.claim),
            false => format!("{} (not a quote: the challenger's words)", self.claim),
        })
    }

    /// The challenge in a line, as seats and people read it.
    pub(super) fn text(&self) -> String {
        match self.shown_claim() {
            None => self.question.clone(),
            Some(claim) => format!("{claim} - {} Question: {}", self.reason, self.question),
        }
    }

    /// Whether it must be answered in this round.
    pub(super) fn is_due(&self, round: u32) -> bool {
        self.fate == ChallengeFate::Open && self.round <= round
    }

    /// Whether the moderator judges its last answer in this round: an answer of the round, or one to a challenge that was put again
    /// at the end of the round before.
    pub(super) fn is_judged_in(&self, round: u32) -> bool {
        let answered_in = self.answers.last().map(|answer| answer.round);
        let is_second = self.re_asked == answered_in && answered_in.is_some_and(|last| last + 1 == round);
        self.fate == ChallengeFate::Answered && (answered_in == Some(round) || is_second)
    }

    /// Records an answer.
    pub(super) fn add_answer(&mut self, round: u32, stance: Option<ChallengeStance>, response: &str) {
        let (response, second) = (response.trim().to_owned(), self.re_asked == Some(round));
        (self.stance, self.response) = (stance, Some(response.clone()));
        self.answers.push(ChallengeAnswer { round, stance, response, second, evasive_since: None });
    }

    /// What its target responded in a round, before the moderator intervened.
    pub(super) fn answer_in(&self, round: u32) -> Option<&ChallengeAnswer> {
        self.answers.iter().find(|answer| answer.round == round && !answer.second)
    }

    /// The answer as it stood after a round, unless it was found evasive by then.
    pub(super) fn answer_after(&self, round: u32) -> Option<&ChallengeAnswer> {
        let answer = self.answers.iter().rev().find(|answer| answer.round <= round)?;
        Some(answer).filter(|answer| answer.evasive_since.is_none_or(|since| since > round))
    }
}

impl PeerMessage {
    /// Whether the councillor sent or received it.
    pub(super) fn is_of(&self, seat: &str) -> bool {
        self.from == seat || self.to == seat
    }
}

impl ChallengeAnswer {
    /// The stance as people read it.
    pub(super) fn stance_word(&self) -> &'static str {
        self.stance.map_or("no stance", ChallengeStance::as_str)
    }
}

impl CouncilRound<'_> {
    /// Whose position changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&str, &CouncillorStanding)> {
        self.after.iter().map(|(seat, standing)| (*seat, standing)).filter(|(_, standing)| standing.changed)
    }

    /// Whether the councillor's provisional vote is another than before the round.
    pub(super) fn is_vote_changed(&self, seat: &str) -> bool {
        self.before.get(seat).map(|held| held.vote) != self.after.get(seat).map(|held| held.vote)
    }

    /// The words of a councillor that everybody may read: where it stands now, and what it said to everybody in this round.
    pub(super) fn shared_words<'s>(&'s self, seat: &'s str) -> Vec<&'s str> {
        let standing = self.after.get(seat).into_iter().flat_map(CouncillorStanding::words);
        standing.chain(self.public_words(seat)).collect()
    }

    /// What a councillor said to everybody in this round, without claims that it quotes.
    pub(super) fn public_words(&self, seat: &str) -> Vec<&str> {
        let mut words: Vec<&str> = Vec::new();
        for made in self.examined.get(seat).into_iter().flat_map(|said| &said.challenges) {
            words.extend([made.reason.as_str(), made.question.as_str()]);
        }
        if let Some(said) = self.responded.get(seat) {
            words.push(&said.because);
            words.extend(said.responses.iter().map(|response| response.response.as_str()));
            words.extend(said.new_arguments.iter().map(String::as_str));
        }
        let answers = self.interventions.iter().flat_map(|done| &done.replies);
        words.extend(answers.filter(|reply| reply.councillor == seat).map(|reply| reply.text.as_str()));
        words
    }
}

/// Whether a text has any letter or digit.
pub(super) fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// The texts of a list that say something.
pub(super) fn texts_of(list: &[String]) -> Vec<String> {
    list.iter().filter(|text| has_words(text)).map(|text| text.trim().to_owned()).collect()
}

/// A text on one line with single spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
