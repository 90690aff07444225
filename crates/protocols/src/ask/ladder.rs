//! The steps of the ladder that were taken, read from the log.

use agon_core::{Corrupt, Debate, DebateLimits, Outcome, Phase, PositionHistory, Protocol, Step};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::decision::NeverWorseCheck;
use super::first_answers::FirstAnswers;
use super::parts::{self, DEEP_PREFIX, PANEL_PREFIX};
use super::positions::position_history;
use super::{AskOptions, AskPhase, open_points};
use crate::deep::Deep;
use crate::deep::verdict::DeepVerdict;
use crate::limits::LimitCheck;
use crate::panel::verdict::PanelVerdict;

/// A step of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LadderStep {
    /// Two answers.
    Pair,
    /// A debate.
    Deep,
    /// A panel of judges.
    Panel,
}

impl LadderStep {
    /// The step that a phase belongs to.
    pub(super) fn of(phase: &Phase) -> Result<Self, Corrupt> {
        match &*phase.name {
            name if name.starts_with(DEEP_PREFIX) => Ok(Self::Deep),
            name if name.starts_with(PANEL_PREFIX) => Ok(Self::Panel),
            _ => AskPhase::of(phase).map(|_| Self::Pair),
        }
    }

    /// Whether a phase belongs to this step.
    pub(super) fn has(self, phase: &Phase) -> bool {
        Self::of(phase).is_ok_and(|step| step == self)
    }
}

/// A part of the ladder that has ended, with its own outcome.
#[derive(Debug)]
pub(super) struct EndedPart<V> {
    pub(super) limits: DebateLimits,
    pub(super) outcome: Outcome,
    /// The outcome's verdict, typed.
    pub(super) verdict: V,
}

impl<V: DeserializeOwned> EndedPart<V> {
    pub(super) fn new(part: &Debate, outcome: Outcome) -> Result<Self, Corrupt> {
        Ok(Self { limits: part.brief.limits.clone(), verdict: V::deserialize(&outcome.verdict)?, outcome })
    }
}

/// The ladder so far.
#[derive(Debug)]
pub(super) struct AskLadder<'a> {
    pub(super) debate: &'a Debate,
    pub(super) firsts: FirstAnswers<'a>,
    /// Set once the debate has ended.
    pub(super) deep: Option<EndedPart<DeepVerdict>>,
    /// Set once the panel has ended.
    pub(super) panel: Option<EndedPart<PanelVerdict>>,
    /// Who held what, from the first answers to the last round of the debate, and what the debate came to.
    pub(super) history: PositionHistory,
    /// The limit that left no room for the next step.
    pub(super) stopped: Option<String>,
}

impl<'a> AskLadder<'a> {
    /// The first step alone.
    pub(super) fn of_pair(debate: &'a Debate, firsts: FirstAnswers<'a>) -> Self {
        let history = position_history(&firsts, None);
        Self { debate, firsts, deep: None, panel: None, history, stopped: None }
    }

    /// The first step and the debate.
    pub(super) fn of_deep(
        debate: &'a Debate,
        firsts: FirstAnswers<'a>,
        part: &Debate,
        outcome: Outcome,
    ) -> Result<Self, Corrupt> {
        let history = position_history(&firsts, Some(Deep.view(part)?.positions));
        let deep = Some(EndedPart::new(part, outcome)?);
        Ok(Self { debate, firsts, deep, panel: None, history, stopped: None })
    }

    /// The first step and the debate, for a panel that has begun. The debate's outcome is computed again from its part of the log.
    pub(super) fn with_panel(debate: &'a Debate, firsts: FirstAnswers<'a>) -> Result<Self, Corrupt> {
        let part = parts::deep_part(debate, &firsts);
        match Deep.next(&part)? {
            Step::Close(outcome) => Self::of_deep(debate, firsts, &part, *outcome),
            Step::Ask(phase, _) => Err(Corrupt::Departed {
                seq: debate.events,
                why: format!("a panel sits although the debate would ask {}", phase.name),
            }),
        }
    }

    /// The panel's part of the log.
    pub(super) fn panel_part(&self) -> Debate {
        let files =
            self.deep.as_ref().map(|deep| open_points::panel_files(&self.debate.brief, &deep.verdict));
        parts::panel_part(self.debate, files.unwrap_or_default())
    }

    /// The check of `--never-worse`, if that is set and the debate has an answer.
    pub(super) fn never_worse(&self) -> Option<NeverWorseCheck> {
        let is_set = AskOptions::read(&self.debate.brief.options).never_worse;
        let has_answer = self.deep.as_ref().is_some_and(|deep| deep.verdict.answer.is_some());
        (is_set && has_answer).then(|| NeverWorseCheck::new(&self.history))
    }

    /// Why a panel is needed. `None` if the debate settled the question, or if the vote is kept whatever a panel says.
    pub(super) fn why_panel(&self) -> Option<String> {
        let deep = self.deep.as_ref()?;
        let reason = open_points::panel_reason(&deep.outcome, &deep.verdict, &self.history)?;
        let is_vote_kept = self.never_worse().is_some_and(|check| check.kept);
        (!is_vote_kept).then_some(reason)
    }
}

/// The limits before a step that is not the last. A share is kept for the debate's synthesis and for the panel.
pub(super) fn step_limits(debate: &Debate) -> LimitCheck<'_> {
    LimitCheck { debate, closing_share: parts::CLOSING_SHARE, closing_calls: 1 }
}

/// The limits before the panel, which is the last step. One call is kept, because one may have to be repeated.
pub(super) fn panel_limits(debate: &Debate) -> LimitCheck<'_> {
    LimitCheck { debate, closing_share: 0.0, closing_calls: parts::SPARE_CALLS }
}

/// The limit that leaves no room for this many calls, with the figure that the user set.
pub(super) fn exhausted_limit(limits: LimitCheck<'_>, calls: usize) -> Option<String> {
    limits
        .is_exhausted(calls)
        .then(|| limits.reached(calls).unwrap_or_else(|| "a limit was reached".to_owned()))
}
