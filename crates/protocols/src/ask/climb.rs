//! How far the ladder was climbed, by the log alone.

use agon_core::{Corrupt, Debate, Outcome, Protocol, Step};

use super::divided;
use super::firsts::{ANSWER, Firsts};
use super::never_worse::NeverWorse;
use super::part::{self, DEEP, PANEL};
use super::positions::Positions;
use crate::deep::Deep;
use crate::limits::Limits;
use crate::panel::Panel;

/// A step of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rung {
    Pair,
    Deep,
    Panel,
}

impl Rung {
    /// The step that a phase belongs to.
    pub(super) fn of(phase: &str) -> Self {
        match phase {
            _ if phase.starts_with(DEEP) => Self::Deep,
            _ if phase.starts_with(PANEL) => Self::Panel,
            _ => Self::Pair,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Deep => "deep",
            Self::Panel => "panel",
        }
    }
}

/// The ladder as far as it was climbed.
#[derive(Debug)]
pub(super) struct Climb<'a> {
    pub(super) debate: &'a Debate,
    pub(super) firsts: Firsts<'a>,
    /// The debate's own log and how it ended, once it has.
    pub(super) deep: Option<(Debate, Outcome)>,
    /// The same of the panel.
    pub(super) panel: Option<(Debate, Outcome)>,
    pub(super) positions: Positions,
    /// The limit for which the next step was not taken.
    pub(super) stopped: Option<String>,
}

impl<'a> Climb<'a> {
    /// The first step alone.
    pub(super) fn of_pair(debate: &'a Debate, firsts: Firsts<'a>) -> Result<Self, Corrupt> {
        let positions = Positions::read(debate, &firsts, None)?;
        Ok(Self { debate, firsts, deep: None, panel: None, positions, stopped: None })
    }

    /// The first step and the debate.
    pub(super) fn of_deep(
        debate: &'a Debate,
        firsts: Firsts<'a>,
        part: Debate,
        outcome: Outcome,
    ) -> Result<Self, Corrupt> {
        let positions = Positions::read(debate, &firsts, Some(&part))?;
        Ok(Self { debate, firsts, deep: Some((part, outcome)), panel: None, positions, stopped: None })
    }

    /// All of it, with the debate's outcome made again from its part of the log.
    pub(super) fn of_panel(debate: &'a Debate, firsts: Firsts<'a>) -> Result<Self, Corrupt> {
        let part = part::deep(debate, &firsts);
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
        let files = self.deep.as_ref().map(|(_, deep)| divided::files(&self.debate.brief, deep));
        part::panel(self.debate, files.unwrap_or_default())
    }

    pub(super) fn deep_outcome(&self) -> Option<&Outcome> {
        self.deep.as_ref().map(|(_, outcome)| outcome)
    }

    /// What `--never-worse` makes of what the debate came to, where it is set and there was a debate with an answer.
    pub(super) fn never_worse(&self) -> Option<NeverWorse> {
        let asked = self.debate.brief.flag("never_worse");
        let answered = self.deep_outcome().is_some_and(|deep| divided::answer(deep).is_some());
        (asked && answered)
            .then(|| NeverWorse::weigh(&self.positions.stands, self.positions.debated.as_deref()))
    }

    /// Why a panel is to sit. Where the vote is kept whatever a panel says, none is asked.
    pub(super) fn why_panel(&self) -> Option<String> {
        let kept = || self.never_worse().is_some_and(|weighed| weighed.kept);
        divided::reason(self.deep_outcome()?, &self.positions.stands).filter(|_| !kept())
    }
}

/// The limits before a step that is not the last: a part is kept for those that close the debate.
pub(super) fn limits(debate: &Debate) -> Limits<'_> {
    Limits { debate, kept: kept(), closing_calls: 1 }
}

/// The limits before the panel sits, which nothing follows: one call is kept because one may have to be made again.
pub(super) fn limits_of_panel(debate: &Debate) -> Limits<'_> {
    Limits { debate, kept: 0.0, closing_calls: part::SPARE_CALLS }
}

/// The share of the limits that is kept for the debate's synthesis and for the panel.
pub(super) fn kept() -> f64 {
    1.0 - (1.0 - part::KEPT_FOR_PANEL) * (1.0 - Deep.kept_for_closing())
}

/// The limit that leaves no room for so many calls, as a person would name it.
pub(super) fn stopped(limits: Limits<'_>, calls: usize) -> Option<String> {
    limits.spent(calls).then(|| limits.met(calls).unwrap_or_else(|| "a limit of the debate".to_owned()))
}

/// The part of the debate that the last phase is in, with its protocol; `None` in the first step and for the first answers.
pub(super) fn current(debate: &Debate) -> Option<(&'static dyn Protocol, Debate)> {
    let phase = debate.last_phase()?;
    match Rung::of(&phase.name) {
        Rung::Pair => None,
        Rung::Deep if phase.name.strip_prefix(DEEP) == Some(ANSWER) => None,
        Rung::Deep => Some((&Deep, part::deep(debate, &Firsts::read(debate).ok()?))),
        // What is judged matters to its prompts alone.
        Rung::Panel => Some((&Panel, part::panel(debate, Vec::new()))),
    }
}
