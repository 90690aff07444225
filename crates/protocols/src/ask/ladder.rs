//! How far the ladder was climbed, from the log alone.

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
    /// Its own log.
    pub(super) debate: Debate,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// Its verdict.
    pub(super) verdict: V,
}

impl<V: serde::de::DeserializeOwned> EndedPart<V> {
    pub(super) fn new(debate: Debate, outcome: Outcome) -> Result<Self, Corrupt> {
        let verdict = V::deserialize(&outcome.verdict)?;
        Ok(Self { debate, outcome, verdict })
    }
}

/// The ladder as far as it was climbed.
#[derive(Debug)]
pub(super) struct AskLadder<'a> {
    pub(super) debate: &'a Debate,
    pub(super) firsts: FirstAnswers<'a>,
    /// The debate, once it has ended.
    pub(super) deep: Option<EndedPart<DeepVerdict>>,
    /// The panel, once it has ended.
    pub(super) panel: Option<EndedPart<PanelVerdict>>,
    pub(super) positions: AskPositions,
    /// The limit that kept the next step from being taken.
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

    /// All of it, with the debate's outcome made again from its part of the log.
    pub(super) fn of_panel(debate: &'a Debate, firsts: FirstAnswers<'a>) -> Result<Self, Corrupt> {
        let part = parts::deep(debate, &firsts);
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
        let files = self.deep.as_ref().map(|deep| open_points::files(&self.debate.brief, &deep.verdict));
        parts::panel(self.debate, files.unwrap_or_default())
    }

    pub(super) fn deep_outcome(&self) -> Option<&Outcome> {
        self.deep.as_ref().map(|deep| &deep.outcome)
    }

    /// What `--never-worse` makes of what the debate came to, where it is set and there was a debate with an answer.
    pub(super) fn never_worse(&self) -> Option<NeverWorseCheck> {
        let asked = AskOptions::read(&self.debate.brief.options).never_worse;
        let answered = self.deep.as_ref().is_some_and(|deep| deep.verdict.answer.is_some());
        (asked && answered)
            .then(|| NeverWorseCheck::weigh(&self.positions.stands, self.positions.debated.as_deref()))
    }

    /// Why a panel is needed. None is needed where the vote is kept whatever a panel says.
    pub(super) fn why_panel(&self) -> Option<String> {
        let kept = || self.never_worse().is_some_and(|weighed| weighed.kept);
        let deep = self.deep.as_ref()?;
        open_points::reason(&deep.outcome, &deep.verdict, &self.positions.stands).filter(|_| !kept())
    }
}

/// The limits before a step that is not the last. A share is kept for the closing steps.
pub(super) fn limits(debate: &Debate) -> LimitCheck<'_> {
    LimitCheck { debate, closing_share: closing_share(), closing_calls: 1 }
}

/// The limits before the panel, which is the last step. One call is kept, because one may have to be repeated.
pub(super) fn limits_of_panel(debate: &Debate) -> LimitCheck<'_> {
    LimitCheck { debate, closing_share: 0.0, closing_calls: parts::SPARE_CALLS }
}

/// The share of the limits that is kept for the debate's synthesis and for the panel.
pub(super) fn closing_share() -> f64 {
    1.0 - (1.0 - parts::PANEL_SHARE) * (1.0 - Deep.info().closing_share)
}

/// The limit that leaves no room for this many calls, in the person's words.
pub(super) fn stopped(limits: LimitCheck<'_>, calls: usize) -> Option<String> {
    limits
        .is_exhausted(calls)
        .then(|| limits.reached(calls).unwrap_or_else(|| "a limit of the debate".to_owned()))
}

/// The part of the debate that the last phase is in, with its protocol; `None` in the first step and for the first answers.
pub(super) fn current(debate: &Debate) -> Option<(&'static dyn Protocol, Debate)> {
    let phase = debate.last_phase()?;
    match LadderStep::of(&phase.name) {
        LadderStep::Pair => None,
        LadderStep::Deep if phase.name.strip_prefix(DEEP_PREFIX) == Some(DeepPhase::Answer.as_str()) => None,
        LadderStep::Deep => Some((&Deep, parts::deep(debate, &FirstAnswers::read(debate).ok()?))),
        // The files that are judged only matter for the prompts.
        LadderStep::Panel => Some((&Panel, parts::panel(debate, Vec::new()))),
    }
}
