//! The steps of the ladder that were taken, read from the log.

use agon_core::{Corrupt, Debate, Outcome, Protocol, Step};
use serde::{Deserialize, Serialize};

use super::AskOptions;
use super::decision::NeverWorseCheck;
use super::first_answers::FirstAnswers;
use super::open_points;
use super::parts::{self, DEEP_PREFIX, PANEL_PREFIX};
use super::positions::AskPositions;
use crate::deep::verdict::DeepVerdict;
use crate::deep::{Deep, DeepPhase};
use crate::limits::LimitCheck;
use crate::panel::Panel;
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
    pub(super) fn of(phase: &str) -> Self {
        match phase {
            _ if phase.starts_with(DEEP_PREFIX) => Self::Deep,
            _ if phase.starts_with(PANEL_PREFIX) => Self::Panel,
            _ => Self::Pair,
        }
    }
}

/// A part of the ladder that has ended.
#[derive(Debug)]
pub(super) struct EndedPart<V> {
    pub(super) debate: Debate,
    pub(super) outcome: Outcome,
    /// The outcome's verdict, typed.
    pub(super) verdict: V,
}

impl<V: serde::de::DeserializeOwned> EndedPart<V> {
    pub(super) fn new(debate: Debate, outcome: Outcome) -> Result<Self, Corrupt> {
        let verdict = V::deserialize(&outcome.verdict)?;
        Ok(Self { debate, outcome, verdict })
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
    pub(super) positions: AskPositions,
    /// The limit that left no room for the next step.
    pub(super) stopped: Option<String>,
}

impl<'a> AskLadder<'a> {
    /// The first step alone.
    pub(super) fn of_pair(debate: &'a Debate, firsts: FirstAnswers<'a>) -> Result<Self, Corrupt> {
        let positions = AskPositions::read(debate, &firsts, None)?;
        Ok(Self { debate, firsts, deep: None, panel: None, positions, stopped: None })
    }

    /// The first step and the debate.
    pub(super) fn of_deep(
        debate: &'a Debate,
        firsts: FirstAnswers<'a>,
        part: Debate,
        outcome: Outcome,
    ) -> Result<Self, Corrupt> {
        let positions = AskPositions::read(debate, &firsts, Some(&part))?;
        let deep = Some(EndedPart::new(part, outcome)?);
        Ok(Self { debate, firsts, deep, panel: None, positions, stopped: None })
    }

    /// The first step and the debate, for a panel that has begun. The debate's outcome is computed again from its part of the log.
    pub(super) fn with_panel(debate: &'a Debate, firsts: FirstAnswers<'a>) -> Result<Self, Corrupt> {
        let part = parts::deep_part(debate, &firsts);
        match Deep.next(&part)? {
            Step::Close(outcome) => Self::of_deep(debate, firsts, part, *outcome),
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

    pub(super) fn deep_outcome(&self) -> Option<&Outcome> {
        self.deep.as_ref().map(|deep| &deep.outcome)
    }

    /// The check of `--never-worse`, if that is set and the debate has an answer.
    pub(super) fn never_worse(&self) -> Option<NeverWorseCheck> {
        let is_set = AskOptions::read(&self.debate.brief.options).never_worse;
        let has_answer = self.deep.as_ref().is_some_and(|deep| deep.verdict.answer.is_some());
        (is_set && has_answer)
            .then(|| NeverWorseCheck::new(&self.positions.history, self.positions.debated.as_deref()))
    }

    /// Why a panel is needed. `None` if the debate settled the question, or if the vote is kept whatever a panel says.
    pub(super) fn why_panel(&self) -> Option<String> {
        let deep = self.deep.as_ref()?;
        let reason = open_points::panel_reason(&deep.outcome, &deep.verdict, &self.positions.history)?;
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
        .then(|| limits.reached(calls).unwrap_or_else(|| "a limit of the debate".to_owned()))
}

/// The part that the last phase belongs to, and its protocol. `None` for the first answers and their comparison.
pub(super) fn current_part(debate: &Debate) -> Option<(&'static dyn Protocol, Debate)> {
    let phase = debate.last_phase()?;
    match LadderStep::of(&phase.name) {
        LadderStep::Pair => None,
        LadderStep::Deep if phase.name.strip_prefix(DEEP_PREFIX) == Some(DeepPhase::Answer.as_str()) => None,
        LadderStep::Deep => Some((&Deep, parts::deep_part(debate, &FirstAnswers::read(debate).ok()?))),
        // Only the prompts need the files that the panel judges.
        LadderStep::Panel => Some((&Panel, parts::panel_part(debate, Vec::new()))),
    }
}
