//! What `deep` reads from the log: the debaters and their labels, each round's arguments and assessment, the points with their ids,
//! and what of the debaters' declarations verifies.

use std::borrow::Cow;

use agon_core::tools::TOOLS;
use agon_core::{Brief, Corrupt, Debate, PhaseTurn, PositionChange, Seat, SeededDraw, Termination};
use serde::de::DeserializeOwned;

use super::replies::{AnswerAssent, Argument, Assessment, Ratification, Revision, Synthesis};
use super::{DeepMode, DeepOptions, DeepPhase, positions};
use crate::limits::LimitCheck;
use crate::quotes::{QUOTE_EXACTLY, QuotedTexts};
use crate::sorting::is_label;
use crate::tools::{SourceCitation, cited_item};

/// Comparisons with thresholds allow for rounding.
pub(super) const TOLERANCE: f64 = 1e-9;
/// The share of the time and money limits that is kept for the synthesis.
pub(crate) const CLOSING_SHARE: f64 = 0.2;

/// A debater who gave a Stage 1 answer, under its label.
#[derive(Debug)]
pub(super) struct Debater<'a> {
    /// `A`, `B`...
    pub(super) label: String,
    /// The label as everybody reads it: `Debater A`.
    pub(super) name: String,
    pub(super) seat: &'a Seat,
    pub(super) answer: Cow<'a, str>,
}

/// Something that a debater said, with the id under which others read it.
#[derive(Debug)]
pub(super) struct DebatePoint {
    /// `B0` is Debater B's first answer, `BR1` its position as revised in round 1, `B2` its second key point, and `X3` the third
    /// counterpoint of the debate.
    pub(super) id: String,
    /// Others read it from the next round on.
    pub(super) round: u32,
    pub(super) author: usize,
    /// Whether it is a whole position: a first answer or a revised position.
    pub(super) is_position: bool,
    /// The debater that a counterpoint is aimed at.
    pub(super) target: Option<usize>,
    /// A counterpoint has two: the point and the evidence.
    pub(super) texts: Vec<String>,
}

impl DebatePoint {
    pub(super) fn is_key_point(&self) -> bool {
        !self.is_position && self.target.is_none()
    }
}

/// What a debater declares in an argument, as far as it verifies.
#[derive(Debug, Default)]
pub(super) struct VerifiedArgument {
    /// What made it change. What does not verify is as it stands after "citing".
    pub(super) cause: PositionChange,
    /// The ids of the counterpoints that it answers, each with the answer.
    answered: Vec<(String, String)>,
    /// The debaters whose positions it could sign.
    pub(super) agrees_with: Vec<usize>,
    /// What does not verify, in sentences for the debater.
    pub(super) faults: Vec<String>,
}

/// One round of the debate loop.
#[derive(Debug)]
pub(super) struct DeepRound {
    pub(super) number: u32,
    /// One for each debater, in label order. `None` if the debater was absent and its last position is carried forward.
    pub(super) arguments: Vec<Option<Argument>>,
    /// What of each argument verifies, in the same order.
    pub(super) verified: Vec<VerifiedArgument>,
    /// Which of the points is each debater's position after the round.
    positions: Vec<usize>,
    /// `None` if the moderator was absent or not asked.
    pub(super) assessment: Option<Assessment>,
    /// Whether the moderator was asked.
    pub(super) moderated: bool,
}

/// The log as `deep` sees it.
#[derive(Debug)]
pub(super) struct DeepLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: DeepOptions,
    pub(super) quoted: QuotedTexts<'a>,
    /// In label order.
    pub(super) debaters: Vec<Debater<'a>>,
    pub(super) rounds: Vec<DeepRound>,
    /// Everything that has an id, in the order in which it was said.
    pub(super) points: Vec<DebatePoint>,
    pub(super) synthesis: Option<Synthesis>,
    /// What each debater says to the answer, in label order. Empty if they were not asked.
    pub(super) ratifications: Vec<Option<Ratification>>,
}

impl<'a> DeepLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let mut log = Self {
            debate,
            options: DeepOptions::read(&debate.brief.options),
            quoted: QuotedTexts::anonymous(&debate.brief),
            debaters: debaters(debate),
            rounds: Vec::new(),
            points: Vec::new(),
            synthesis: None,
            ratifications: Vec::new(),
        };
        log.points.extend(log.debaters.iter().enumerate().map(|(author, debater)| DebatePoint {
            id: format!("{}0", debater.label),
            round: 0,
            author,
            is_position: true,
            target: None,
            texts: vec![debater.answer.trim().to_owned()],
        }));
        for turn in debate.turns_of(DeepPhase::Debate.as_str()) {
            log.read_round(turn)?;
        }
        for turn in debate.turns_of(DeepPhase::Synthesis.as_str()) {
            log.synthesis = log.synthesis.or(first_reply(turn)?);
        }
        if let Some(turn) = debate.turns_of(DeepPhase::Ratify.as_str()).last() {
            log.ratifications = log.replies(turn)?;
        }
        Ok(log)
    }

    fn read_round(&mut self, turn: &PhaseTurn) -> Result<(), Corrupt> {
        let number = turn.phase.round;
        let arguments: Vec<Option<Argument>> = self.replies(turn)?;
        let moderation = self.debate.turn(DeepPhase::Moderate.as_str(), number);
        let assessment = moderation.map(first_reply).transpose()?.flatten();
        let verified = arguments.iter().enumerate().map(|(place, argument)| {
            argument.as_ref().map(|argument| self.verified(place, number, argument)).unwrap_or_default()
        });
        let verified = verified.collect();
        let mut positions: Vec<usize> = match self.rounds.last() {
            Some(last) => last.positions.clone(),
            None => (0..self.debaters.len()).collect(),
        };
        for ((author, argument), position) in arguments.iter().enumerate().zip(&mut positions) {
            let Some(argument) = argument else { continue };
            self.add_points(number, author, argument);
            if argument.new_position().is_some() {
                *position = self.points.len().saturating_sub(1);
            }
        }
        let moderated = moderation.is_some();
        self.rounds.push(DeepRound { number, arguments, verified, positions, assessment, moderated });
        Ok(())
    }

    /// The debaters' replies in a phase, in label order.
    fn replies<T: DeserializeOwned>(&self, turn: &PhaseTurn) -> Result<Vec<Option<T>>, Corrupt> {
        let reply = |debater: &Debater<'_>| {
            let mut settled = turn.settled().filter(|(ask, _)| ask.seat == debater.seat.id);
            Ok(settled.find_map(|(_, reply)| reply.value()).map(T::deserialize).transpose()?)
        };
        self.debaters.iter().map(reply).collect()
    }

    /// Adds the key points and counterpoints of an argument and, at the end, its revised position.
    fn add_points(&mut self, round: u32, author: usize, argument: &Argument) {
        let point = |id: String, target: Option<usize>, texts: Vec<String>| {
            let is_position = false;
            DebatePoint { id, round, author, is_position, target, texts }
        };
        let label = self.label(author).to_owned();
        let is_own = |point: &&DebatePoint| point.author == author && point.is_key_point();
        let first = 1 + self.points.iter().filter(is_own).count();
        for (number, text) in (first..).zip(&argument.key_points) {
            self.points.push(point(format!("{label}{number}"), None, vec![text.clone()]));
        }
        let first = 1 + self.points.iter().filter(|point| point.target.is_some()).count();
        for (number, said) in (first..).zip(&argument.counterpoints) {
            // The schema admits only debaters. One that is not there would be aimed at nobody.
            let target = self.place_of(&said.target).unwrap_or(usize::MAX);
            let texts = vec![said.point.clone(), said.evidence.clone()];
            self.points.push(point(format!("X{number}"), Some(target), texts));
        }
        if let Some(position) = argument.new_position() {
            let revised = point(format!("{label}R{round}"), None, vec![position.to_owned()]);
            self.points.push(DebatePoint { is_position: true, ..revised });
        }
    }

    /// What of an argument verifies: ids that the debater was shown, quotes that occur in what they name, other debaters' labels.
    pub(super) fn verified(&self, place: usize, round: u32, argument: &Argument) -> VerifiedArgument {
        let shown = |said: &str| {
            let id = bare_id(said);
            self.points.iter().find(|point| point.round < round && point.id.eq_ignore_ascii_case(id))
        };
        let mut verified = VerifiedArgument::default();
        for answer in &argument.answers {
            match (shown(&answer.id).filter(|point| point.target == Some(place)), answer.response.trim()) {
                (Some(_), "") => {}
                (Some(point), said) => verified.answered.push((point.id.clone(), said.to_owned())),
                (None, _) => {
                    verified.faults.push(format!("No counterpoint against you has the id {:?}.", answer.id));
                }
            }
        }
        for cause in argument.changed_because.iter().filter(|_| argument.new_position().is_some()) {
            let looked_up = self.debate.items_shown(DeepPhase::Debate.as_str(), round);
            let (said, quote) = (&cause.id, cause.quote.trim());
            if let Some(item) = cited_item(looked_up, said) {
                match SourceCitation::verified(&self.quoted, item, quote) {
                    Some(source) => {
                        verified.cause.cited.push(source.cited);
                        verified.cause.sources.push(source.id);
                    }
                    None => verified.add_misquote(&item.id, quote),
                }
            } else if let Some(point) = shown(said).filter(|point| point.author != place) {
                let id = &point.id;
                let cited = || format!("[{id}] of {}: \"{quote}\"", self.name(point.author));
                match point.texts.iter().any(|text| self.quoted.is_quoted(quote, text)) {
                    true => verified.cause.cited.push(cited()),
                    false => verified.add_misquote(id, quote),
                }
            } else {
                verified.faults.push(format!("No point of another debater has the id {said:?}."));
                let unverified = format!("{said:?}, which no point of another debater has as its id");
                verified.cause.unverified.push(unverified);
            }
        }
        for label in &argument.agrees_with {
            match self.place_of(label).filter(|other| *other != place) {
                Some(other) => verified.agrees_with.push(other),
                None => verified.faults.push(format!("There is no other debater {label:?} to agree with.")),
            }
        }
        verified
    }

    /// What a debater says to the answer, if it was asked and is not absent.
    pub(super) fn ratification(&self, place: usize) -> Option<&Ratification> {
        self.ratifications.get(place)?.as_ref()
    }

    pub(super) fn dissents(&self, place: usize) -> bool {
        self.ratification(place).is_some_and(|word| word.assent == AnswerAssent::Dissent)
    }

    /// What the debater that a counterpoint is aimed at first answered to it.
    pub(super) fn answer_to(&self, counterpoint: &DebatePoint) -> Option<&str> {
        let target = counterpoint.target?;
        let answered = self.rounds.iter().filter_map(|round| round.verified.get(target));
        let mut answers = answered.flat_map(|verified| &verified.answered);
        answers.find(|(id, _)| *id == counterpoint.id).map(|(_, answer)| answer.as_str())
    }

    /// Why a counterpoint has no answer, in a sentence. `None` if it has one.
    pub(super) fn why_unanswered(&self, counterpoint: &DebatePoint) -> Option<String> {
        let target = counterpoint.target.filter(|_| self.answer_to(counterpoint).is_none())?;
        if counterpoint.round == self.rounds_completed() {
            return Some("It was made in the last round, so it could not be answered.".to_owned());
        }
        let mut since = self.rounds.iter().filter(|round| round.number >= counterpoint.round);
        let given_up = since.find(|round| positions::gives_up(self, target, round.number));
        let name = self.name(target);
        let given_up = given_up.map(|round| format!(", and gave up its position in round {}", round.number));
        Some(format!("{name} did not answer it{}.", given_up.unwrap_or_default()))
    }

    /// A debater's position after a round: its last revision, or its Stage 1 answer if it revised nothing.
    fn position_point(&self, place: usize, after: u32) -> Option<&DebatePoint> {
        let last = self.rounds.iter().rev().find(|round| round.number <= after);
        // The first points are the Stage 1 answers.
        let current = last.map_or(Some(place), |round| round.positions.get(place).copied());
        self.points.get(current?)
    }

    pub(super) fn position(&self, place: usize, after: u32) -> &str {
        let point = self.position_point(place, after);
        point.and_then(|point| point.texts.first()).map_or("", String::as_str)
    }

    /// The id of a debater's position after a round.
    pub(super) fn position_id(&self, place: usize, after: u32) -> &str {
        self.position_point(place, after).map_or("", |point| point.id.as_str())
    }

    /// Whether a debater has replaced its first answer.
    pub(super) fn is_revised(&self, place: usize) -> bool {
        self.position(place, u32::MAX) != self.position(place, 0)
    }

    /// `A`, `B`...
    pub(super) fn label(&self, place: usize) -> &str {
        self.debaters.get(place).map_or("", |debater| debater.label.as_str())
    }

    /// `Debater A`, as everybody reads it.
    pub(super) fn name(&self, place: usize) -> String {
        self.debaters.get(place).map_or_else(String::new, |debater| debater.name.clone())
    }

    /// The debater that a label names: `A` or `Debater A`.
    pub(super) fn place_of(&self, label: &str) -> Option<usize> {
        let named = |is_it: fn(&str, &str) -> bool| {
            self.debaters.iter().position(|debater| is_it(label, &debater.name))
        };
        // Nearly always it is the whole name.
        named(|said, name| said == name).or_else(|| named(is_label))
    }

    /// The places of the debaters, in seat order.
    pub(super) fn in_seat_order(&self) -> impl Iterator<Item = usize> {
        let seats = self.debate.brief.seats_of("debater");
        seats.filter_map(|seat| self.debaters.iter().position(|debater| debater.seat.id == seat.id))
    }

    pub(super) fn round(&self, number: u32) -> Option<&DeepRound> {
        self.rounds.iter().find(|round| round.number == number)
    }

    /// What a debater argued in a round. `None` if it was absent.
    pub(super) fn argument(&self, number: u32, place: usize) -> Option<&Argument> {
        self.round(number)?.arguments.get(place)?.as_ref()
    }

    /// How many debaters argued in a round.
    pub(super) fn present(&self, number: u32) -> usize {
        self.round(number).map_or(0, DeepRound::present)
    }

    /// The rounds that count: those in which at least one debater argued.
    pub(super) fn counted(&self) -> impl Iterator<Item = &DeepRound> {
        self.rounds.iter().filter(|round| round.present() > 0)
    }

    /// The last round that counts; 0 if none does.
    pub(super) fn rounds_completed(&self) -> u32 {
        self.counted().last().map_or(0, |round| round.number)
    }

    /// How the loop ends after this round by its own rules, if it does. `min_rounds` gates every exit except `max_rounds`.
    pub(super) fn exit(&self, number: u32) -> Option<Termination> {
        let round = self.round(number).filter(|round| round.present() > 0)?;
        let gated = number < self.options.min_rounds;
        if !gated && round.assessment.as_ref().is_some_and(|assessment| self.meets_thresholds(assessment)) {
            return Some(Termination::Converged);
        }
        if !gated && round.all_unchanged() {
            return Some(Termination::Stable);
        }
        (number >= self.options.max_rounds).then_some(Termination::MaxRounds)
    }

    /// Whether an agreement score reaches its threshold.
    pub(super) fn is_agreement(&self, score: f64) -> bool {
        score >= self.options.agreement_score - TOLERANCE
    }

    /// Whether a share of new points is small enough.
    pub(super) fn is_repetition(&self, ratio: f64) -> bool {
        ratio <= self.options.new_points_ratio + TOLERANCE
    }

    /// Whether the moderator's scores reach both thresholds.
    pub(super) fn meets_thresholds(&self, assessment: &Assessment) -> bool {
        self.is_agreement(assessment.agreement_score) && self.is_repetition(assessment.new_points_ratio)
    }

    /// The debate's limits. A share of each is kept for the synthesis and the signatures.
    pub(super) fn limits(&self) -> LimitCheck<'a> {
        let closing_calls = if self.options.ratify { 1 + self.debaters.len() } else { 1 };
        LimitCheck { debate: self.debate, closing_share: CLOSING_SHARE, closing_calls }
    }

    /// Whether the limits leave enough to ask every debater to sign the answer.
    pub(super) fn can_be_signed(&self) -> bool {
        let calls_left = self.debate.calls_left().map(|left| usize::try_from(left).unwrap_or(usize::MAX));
        calls_left.is_none_or(|left| left >= self.debaters.len())
            && self.debate.spent_share() < 1.0
            && !self.limits().past_deadline()
    }

    /// Whether a limit cut the debate and the user wants no degraded synthesis.
    pub(super) fn is_cut_short_strictly(&self) -> bool {
        self.options.strict && self.loop_ending() == Termination::Budget
    }

    /// How Stages 1 and 2 ended.
    pub(super) fn loop_ending(&self) -> Termination {
        let cut = |phase: DeepPhase, round: u32| {
            self.debate.turn(phase.as_str(), round).is_some_and(|turn| self.limits().cut_short(turn))
        };
        if self.debaters.len() < 2 {
            return if cut(DeepPhase::Answer, 0) { Termination::Budget } else { Termination::QuorumLost };
        }
        let evaluated =
            self.debate.turn(DeepPhase::Evaluate.as_str(), 0).is_some() && !cut(DeepPhase::Evaluate, 0);
        match (self.options.mode, self.rounds.last()) {
            (DeepMode::Quick, _) if !cut(DeepPhase::Answer, 0) => Termination::AllRoundsComplete,
            (DeepMode::Standard, _) if evaluated => Termination::AllRoundsComplete,
            (DeepMode::Quick | DeepMode::Standard, _) | (DeepMode::Deep, None) => Termination::Budget,
            (DeepMode::Deep, Some(last)) => {
                let round = last.number;
                match last.present() {
                    0 if cut(DeepPhase::Debate, round) => Termination::Budget,
                    0 => Termination::QuorumLost,
                    _ if !last.moderated || cut(DeepPhase::Moderate, round) => Termination::Budget,
                    _ => self.exit(round).unwrap_or(Termination::Budget),
                }
            }
        }
    }

    pub(super) fn last_argument(&self, place: usize) -> Option<&Argument> {
        self.rounds.iter().rev().find_map(|round| round.arguments.get(place)?.as_ref())
    }

    /// The model that is asked for the synthesis next. `None` if all of them were asked.
    pub(super) fn next_chair(&self) -> Option<String> {
        let closing = self.debate.turns_of(DeepPhase::Synthesis.as_str());
        let asked: Vec<&str> = closing.flat_map(|turn| &turn.asks).map(|ask| ask.model.as_str()).collect();
        chair_models(&self.debate.brief).into_iter().find(|model| !asked.contains(&model.as_str()))
    }
}

impl DeepRound {
    /// The moderator's scores in words.
    pub(super) fn assessment_words(&self) -> String {
        match &self.assessment {
            Some(Assessment { agreement_score, new_points_ratio, .. }) => {
                format!("agreement {agreement_score:.2}, new points {new_points_ratio:.2}")
            }
            None => "unassessed".to_owned(),
        }
    }

    pub(super) fn present(&self) -> usize {
        self.arguments.iter().flatten().count()
    }

    /// One debater alone cannot make a round stable.
    fn all_unchanged(&self) -> bool {
        self.present() > 1
            && self.arguments.iter().flatten().all(|argument| argument.revision == Revision::NoChange)
    }
}

impl VerifiedArgument {
    fn add_misquote(&mut self, id: &str, quote: &str) {
        self.faults.push(format!("The quote does not occur in [{id}]: {quote:?} ({QUOTE_EXACTLY})."));
        self.cause.unverified.push(format!("[{id}] with words that do not occur there"));
    }
}

/// The labels of this many debaters: `A`, `B`, `C`... Where things can be looked up, no debater is `E`: `E1` is one of them.
fn labels(brief: &Brief, count: usize) -> Vec<String> {
    let has_tools = brief.part(TOOLS).is_some();
    ('A'..='Z').filter(|label| !has_tools || *label != 'E').take(count).map(String::from).collect()
}

/// The models that may write the synthesis, in order, each once: the chair's, the moderator's, the debaters'.
pub(super) fn chair_models(brief: &Brief) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for seat in ["chair", "moderator", "debater"].into_iter().flat_map(|role| brief.seats_of(role)) {
        if !models.contains(&seat.model) {
            models.push(seat.model.clone());
        }
    }
    models
}

/// The debaters who answered, shuffled with the debate's seed and labelled A, B, C...
fn debaters(debate: &Debate) -> Vec<Debater<'_>> {
    let answers = debate.turn(DeepPhase::Answer.as_str(), 0).into_iter().flat_map(PhaseTurn::settled);
    let mut answers: Vec<(&Seat, Cow<'_, str>)> =
        answers.filter_map(|(ask, reply)| Some((debate.brief.seat(&ask.seat)?, reply.words()?))).collect();
    SeededDraw::new(debate.brief.seed, "labels").shuffle(&mut answers);
    let labels = labels(&debate.brief, answers.len()).into_iter();
    let debater = |(label, (seat, answer))| Debater { name: format!("Debater {label}"), label, seat, answer };
    labels.zip(answers).map(debater).collect()
}

/// The first usable reply of a phase.
fn first_reply<T: DeserializeOwned>(turn: &PhaseTurn) -> Result<Option<T>, Corrupt> {
    Ok(turn.settled().find_map(|(_, reply)| reply.value()).map(T::deserialize).transpose()?)
}

/// Whether `said` is this id, with or without brackets.
pub(super) fn is_id(said: &str, id: &str) -> bool {
    bare_id(said).eq_ignore_ascii_case(id)
}

fn bare_id(said: &str) -> &str {
    said.trim().trim_matches(['[', ']'])
}
