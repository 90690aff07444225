//! What `deep` reads from the log: the debaters and their labels, each round's arguments and assessment, and positions.

use std::borrow::Cow;

use agon_core::{Brief, Corrupt, Debate, PhaseTurn, SeededDraw, Termination};
use serde::Deserialize;

use super::replies::{Argument, Assessment, Revision, Synthesis};
use super::{DeepMode, DeepOptions, DeepPhase};
use crate::limits::LimitCheck;

/// Comparisons with thresholds allow for rounding.
const TOLERANCE: f64 = 1e-9;
/// The share of the time and money limits that is kept for the synthesis.
pub(crate) const CLOSING_SHARE: f64 = 0.2;
/// A consensus answer is kept only above this agreement.
const CONSENSUS_ABOVE: f64 = 0.6;

/// A debater who gave a Stage 1 answer, under its label.
#[derive(Debug)]
pub(super) struct Debater<'a> {
    /// `A`, `B`...
    pub(super) label: String,
    pub(super) seat: &'a str,
    pub(super) answer: Cow<'a, str>,
}

/// One round of the debate loop.
#[derive(Debug)]
pub(super) struct DeepRound {
    pub(super) number: u32,
    /// One for each debater, in label order. `None` if the debater was absent and its last position is carried forward.
    pub(super) arguments: Vec<Option<Argument>>,
    /// `None` if the moderator was absent or not asked.
    pub(super) assessment: Option<Assessment>,
    /// Whether the moderator was asked.
    pub(super) moderated: bool,
}

/// How the debate loop ends by its own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopExit {
    Converged,
    Stable,
    MaxRounds,
}

impl LoopExit {
    fn termination(self) -> Termination {
        match self {
            Self::Converged => Termination::Converged,
            Self::Stable => Termination::Stable,
            Self::MaxRounds => Termination::MaxRounds,
        }
    }
}

/// The log as `deep` sees it.
#[derive(Debug)]
pub(super) struct DeepLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: DeepOptions,
    /// In label order.
    pub(super) debaters: Vec<Debater<'a>>,
    pub(super) rounds: Vec<DeepRound>,
    pub(super) synthesis: Option<Synthesis>,
}

impl<'a> DeepLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let options = DeepOptions::read(&debate.brief.options);
        let debaters = debaters(debate);
        let mut rounds = Vec::new();
        for turn in debate.turns_of(DeepPhase::Debate.as_str()) {
            rounds.push(read_round(debate, turn, &debaters)?);
        }
        let closing = debate.turns_of(DeepPhase::Synthesis.as_str());
        let synthesis = closing.flat_map(PhaseTurn::settled).find_map(|(_, reply)| reply.value());
        let synthesis = synthesis.map(Synthesis::deserialize).transpose()?;
        Ok(Self { debate, options, debaters, rounds, synthesis })
    }

    pub(super) fn round(&self, number: u32) -> Option<&DeepRound> {
        self.rounds.iter().find(|round| round.number == number)
    }

    /// How many debaters argued in a round.
    pub(super) fn present(&self, number: u32) -> usize {
        self.round(number).map_or(0, DeepRound::present)
    }

    /// The rounds that count: those in which at least one debater argued.
    pub(super) fn counted(&self) -> impl Iterator<Item = &DeepRound> {
        self.rounds.iter().filter(|round| round.present() > 0)
    }

    /// How the loop ends after this round by its own rules, if it does. `min_rounds` gates every exit except `max_rounds`.
    pub(super) fn exit(&self, number: u32) -> Option<LoopExit> {
        let round = self.round(number).filter(|round| round.present() > 0)?;
        let gated = number < self.options.min_rounds;
        if !gated && round.assessment.as_ref().is_some_and(|assessment| self.meets_thresholds(assessment)) {
            return Some(LoopExit::Converged);
        }
        if !gated && round.all_unchanged() {
            return Some(LoopExit::Stable);
        }
        (number >= self.options.max_rounds).then_some(LoopExit::MaxRounds)
    }

    /// Whether the moderator's scores reach both thresholds.
    pub(super) fn meets_thresholds(&self, assessment: &Assessment) -> bool {
        assessment.agreement_score >= self.options.agreement_score - TOLERANCE
            && assessment.new_points_ratio <= self.options.new_points_ratio + TOLERANCE
    }

    /// The debate's limits. A share of each is kept for the synthesis.
    pub(super) fn limits(&self) -> LimitCheck<'a> {
        LimitCheck { debate: self.debate, closing_share: CLOSING_SHARE, closing_calls: 1 }
    }

    /// Whether a limit cut the debate and the user wants no degraded synthesis.
    pub(super) fn is_cut_short_strictly(&self) -> bool {
        self.options.strict && self.loop_ending() == Termination::Budget
    }

    /// How Stages 1 and 2 ended.
    pub(super) fn loop_ending(&self) -> Termination {
        if self.debaters.len() < 2 {
            return Termination::QuorumLost;
        }
        let cut = |phase: DeepPhase, round: u32| {
            self.debate.turn(phase.as_str(), round).is_some_and(|turn| self.limits().cut_short(turn))
        };
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
                    _ => self.exit(round).map_or(Termination::Budget, LoopExit::termination),
                }
            }
        }
    }

    /// A debater's position after a round: its last revision, or its Stage 1 answer if it revised nothing.
    pub(super) fn position(&self, place: usize, after: u32) -> &str {
        let revised = self.rounds.iter().rev().filter(|round| round.number <= after);
        let revised = revised.filter_map(|round| round.arguments.get(place)?.as_ref()?.new_position()).next();
        revised.unwrap_or_else(|| self.debaters.get(place).map_or("", |debater| debater.answer.trim()))
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

    fn all_unchanged(&self) -> bool {
        self.present() > 0
            && self.arguments.iter().flatten().all(|argument| argument.revision == Revision::NoChange)
    }
}

/// The consensus answer, if the agreement is high enough for one.
pub(super) fn consensus_answer(assessment: &Assessment) -> Option<&str> {
    assessment
        .consensus_answer
        .as_deref()
        .filter(|_| assessment.agreement_score > CONSENSUS_ABOVE + TOLERANCE)
}

/// The labels of this many debaters: `A`, `B`, `C`...
pub(super) fn labels(count: usize) -> Vec<String> {
    ('A'..='Z').take(count).map(String::from).collect()
}

/// The models that may write the synthesis, in order, each once: the chair's, the moderator's, the debaters'.
pub(super) fn chair_models(brief: &Brief) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for role in ["chair", "moderator", "debater"] {
        for seat in brief.seats_of(role) {
            if !models.contains(&seat.model) {
                models.push(seat.model.clone());
            }
        }
    }
    models
}

/// The debaters who answered, shuffled with the debate's seed and labelled A, B, C...
fn debaters(debate: &Debate) -> Vec<Debater<'_>> {
    let answers = debate.turn(DeepPhase::Answer.as_str(), 0).into_iter().flat_map(PhaseTurn::settled);
    let mut answers: Vec<(&str, Cow<'_, str>)> =
        answers.filter_map(|(ask, reply)| Some((ask.seat.as_str(), reply.words()?))).collect();
    SeededDraw::new(debate.brief.seed, "labels").shuffle(&mut answers);
    let labels = labels(answers.len()).into_iter();
    labels.zip(answers).map(|(label, (seat, answer))| Debater { label, seat, answer }).collect()
}

fn read_round(debate: &Debate, turn: &PhaseTurn, debaters: &[Debater<'_>]) -> Result<DeepRound, Corrupt> {
    let number = turn.phase.round;
    let mut arguments = Vec::new();
    for debater in debaters {
        let reply =
            turn.settled().find(|(ask, _)| ask.seat == debater.seat).and_then(|(_, reply)| reply.value());
        arguments.push(reply.map(Argument::deserialize).transpose()?);
    }
    let moderation = debate.turns.iter().find(|turn| turn.phase == DeepPhase::Moderate.at(number));
    let assessment = moderation.and_then(|turn| turn.settled().find_map(|(_, reply)| reply.value()));
    let assessment = assessment.map(Assessment::deserialize).transpose()?;
    Ok(DeepRound { number, arguments, assessment, moderated: moderation.is_some() })
}
