//! What `deep` reads from the log: who sits behind which label, each round's arguments and assessment, positions.

use std::borrow::Cow;

use agon_core::seed::Draw;
use agon_core::{Brief, Corrupt, Debate, Phase, Reply, Termination, Turn};
use serde::Deserialize;

use super::reply::{Argument, Assessment, Revision, Synthesis};
use crate::limits::Limits;

/// Comparisons with thresholds allow for rounding.
const TOLERANCE: f64 = 1e-9;
/// The share of the time and money limits that is kept for the synthesis.
pub(super) const KEPT: f64 = 0.2;
/// A consensus answer is kept only above this agreement.
const CONSENSUS_FROM: f64 = 0.6;

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
pub(super) struct Round {
    pub(super) number: u32,
    /// For each debater in label order its argument; `None` where its last position is carried forward.
    pub(super) arguments: Vec<Option<Argument>>,
    /// `None` where the moderator was absent or not asked.
    pub(super) assessment: Option<Assessment>,
    /// Whether the moderator was asked.
    pub(super) moderated: bool,
}

/// How the loop ends by its own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Converged,
    Stable,
    MaxRounds,
}

impl Exit {
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
pub(super) struct Log<'a> {
    pub(super) debate: &'a Debate,
    /// In label order.
    pub(super) debaters: Vec<Debater<'a>>,
    pub(super) rounds: Vec<Round>,
    pub(super) synthesis: Option<Synthesis>,
}

impl<'a> Log<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let debaters = debaters(debate);
        let mut rounds = Vec::new();
        for turn in debate.turns_of("debate") {
            rounds.push(read_round(debate, turn, &debaters)?);
        }
        let synthesis =
            debate.turns_of("synthesis").flat_map(Turn::settled).find_map(|(_, reply)| reply.value());
        let synthesis = synthesis.map(Synthesis::deserialize).transpose()?;
        Ok(Self { debate, debaters, rounds, synthesis })
    }

    pub(super) fn round(&self, number: u32) -> Option<&Round> {
        self.rounds.iter().find(|round| round.number == number)
    }

    /// How many debaters argued in a round.
    pub(super) fn present(&self, number: u32) -> usize {
        self.round(number).map_or(0, Round::present)
    }

    /// The rounds that count: those in which somebody argued.
    pub(super) fn counted(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| round.present() > 0)
    }

    /// Whether and how the loop ends after this round by its own rules. `min_rounds` gates every exit but the limit.
    pub(super) fn exit(&self, number: u32) -> Option<Exit> {
        let brief = &self.debate.brief;
        let round = self.round(number).filter(|round| round.present() > 0)?;
        let gated = number < brief.int("min_rounds");
        if !gated && round.assessment.as_ref().is_some_and(|assessment| meets_thresholds(brief, assessment)) {
            return Some(Exit::Converged);
        }
        if !gated && round.all_unchanged() {
            return Some(Exit::Stable);
        }
        (number >= brief.int("max_rounds")).then_some(Exit::MaxRounds)
    }

    /// The limits of the debate, of which a part is kept for the synthesis.
    pub(super) fn limits(&self) -> Limits<'a> {
        Limits { debate: self.debate, kept: KEPT, closing_calls: 1 }
    }

    /// Whether a limit cut the debate and the user wants no degraded synthesis.
    pub(super) fn cut_short_strictly(&self) -> bool {
        self.debate.brief.flag("strict") && self.loop_ending() == Termination::Budget
    }

    /// How Stages 1 and 2 ended, by the log alone.
    pub(super) fn loop_ending(&self) -> Termination {
        if self.debaters.len() < 2 {
            return Termination::QuorumLost;
        }
        let cut = |name: &str, round: u32| {
            self.debate.turn(name, round).is_some_and(|turn| self.limits().was_cut(turn))
        };
        let evaluated = self.debate.turn("evaluate", 0).is_some() && !cut("evaluate", 0);
        match (self.debate.brief.text("mode"), self.rounds.last()) {
            ("quick", _) if !cut("answer", 0) => Termination::AllRoundsComplete,
            ("standard", _) if evaluated => Termination::AllRoundsComplete,
            ("quick" | "standard", _) | (_, None) => Termination::Budget,
            (_, Some(last)) if last.present() == 0 && cut("debate", last.number) => Termination::Budget,
            (_, Some(last)) if last.present() == 0 => Termination::QuorumLost,
            (_, Some(last)) if !last.moderated || cut("moderate", last.number) => Termination::Budget,
            (_, Some(last)) => self.exit(last.number).map_or(Termination::Budget, Exit::termination),
        }
    }

    /// A debater's position after a round: its last revision, else its Stage 1 answer.
    pub(super) fn position(&self, place: usize, after: u32) -> &str {
        let revised = self.rounds.iter().rev().filter(|round| round.number <= after);
        let revised = revised.filter_map(|round| round.arguments.get(place)?.as_ref()?.new_position()).next();
        revised.unwrap_or_else(|| self.debaters.get(place).map_or("", |debater| debater.answer.trim()))
    }

    /// A debater's last argument and its round.
    pub(super) fn last_argument(&self, place: usize) -> Option<(u32, &Argument)> {
        let said = |round: &'_ Round| {
            Some(round.number).zip(round.arguments.get(place).and_then(Option::as_ref).map(|_| ()))
        };
        let number = self.rounds.iter().rev().find_map(said)?.0;
        let argument = self.round(number)?.arguments.get(place)?.as_ref()?;
        Some((number, argument))
    }

    /// The model that is asked for the synthesis next; `None` when all have been.
    pub(super) fn next_chair(&self) -> Option<String> {
        let asked: Vec<&str> = self
            .debate
            .turns_of("synthesis")
            .flat_map(|turn| &turn.asks)
            .map(|ask| ask.model.as_str())
            .collect();
        chairs(&self.debate.brief).into_iter().find(|model| !asked.contains(&model.as_str()))
    }
}

impl Round {
    pub(super) fn present(&self) -> usize {
        self.arguments.iter().flatten().count()
    }

    fn all_unchanged(&self) -> bool {
        self.present() > 0
            && self.arguments.iter().flatten().all(|argument| argument.revision == Revision::NoChange)
    }
}

/// Whether the moderator's numbers reach both thresholds.
pub(super) fn meets_thresholds(brief: &Brief, assessment: &Assessment) -> bool {
    assessment.agreement_score >= brief.float("agreement_score") - TOLERANCE
        && assessment.new_points_ratio <= brief.float("new_points_ratio") + TOLERANCE
}

/// The consensus answer, kept only when the agreement is high enough for one.
pub(super) fn consensus_answer(assessment: &Assessment) -> Option<&str> {
    assessment.consensus_answer.as_deref().filter(|_| assessment.agreement_score > CONSENSUS_FROM + TOLERANCE)
}

/// The first `n` labels.
pub(super) fn names(n: usize) -> Vec<String> {
    ('A'..='Z').take(n).map(String::from).collect()
}

/// The models that may write the synthesis, in order, each once: the chair's, the moderator's, the debaters'.
pub(super) fn chairs(brief: &Brief) -> Vec<String> {
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

/// The debaters who answered, shuffled by the debate's seed and labelled A, B, C...
fn debaters(debate: &Debate) -> Vec<Debater<'_>> {
    let answers = debate.turn("answer", 0).into_iter().flat_map(Turn::settled);
    let mut said: Vec<(&str, Cow<'_, str>)> =
        answers.filter_map(|(ask, reply)| Some((ask.seat.as_str(), reply.words()?))).collect();
    Draw::new(debate.brief.seed, "labels").shuffle(&mut said);
    let labels = names(said.len()).into_iter();
    labels.zip(said).map(|(label, (seat, answer))| Debater { label, seat, answer }).collect()
}

fn read_round(debate: &Debate, turn: &Turn, debaters: &[Debater<'_>]) -> Result<Round, Corrupt> {
    let number = turn.phase.round;
    let mut arguments = Vec::new();
    for debater in debaters {
        let reply =
            turn.settled().find(|(ask, _)| ask.seat == debater.seat).and_then(|(_, reply)| reply.value());
        arguments.push(reply.map(Argument::deserialize).transpose()?);
    }
    let moderation = debate.turns.iter().find(|turn| turn.phase == Phase::new("moderate", number));
    let assessed =
        moderation.and_then(|turn| turn.settled().find_map(|(_, reply): (_, &Reply)| reply.value()));
    let assessment = assessed.map(Assessment::deserialize).transpose()?;
    Ok(Round { number, arguments, assessment, moderated: moderation.is_some() })
}
