//! What a report is made of.

use agon_core::view::label_name;
use agon_core::wording::seat_name;
use agon_core::{Debate, DebateView, Outcome, ProtocolInfo};
use agon_measure::Evidence;

/// A debate with everything that was read from its log.
#[derive(Debug, Clone, Copy)]
pub struct ReportSource<'a> {
    /// What never changes about its protocol.
    pub info: &'static ProtocolInfo,
    /// The log, folded.
    pub debate: &'a Debate,
    /// The protocol's reading of it.
    pub view: &'a DebateView,
    /// What the debate did.
    pub evidence: &'a Evidence,
}

impl<'a> ReportSource<'a> {
    /// How the debate ended, if it has.
    pub(crate) fn outcome(&self) -> Option<&'a Outcome> {
        self.debate.outcome.as_ref()
    }

    /// The label behind which a seat sat: `A`.
    pub(crate) fn label(&self, seat: &str) -> Option<&'a str> {
        let labels = &self.outcome()?.labels;
        labels.iter().find(|(_, id)| *id == seat).map(|(label, _)| label.as_str())
    }

    /// A seat as readers know it: by its label, else by its id.
    pub(crate) fn name(&self, seat: &str) -> String {
        self.label(seat).map_or_else(|| seat_name(seat), |label| label_name(self.debate, label))
    }

    /// A seat's place at the table. Whoever has no seat comes after the last.
    pub(crate) fn place(&self, seat: &str) -> usize {
        let seats = &self.debate.brief.seats;
        seats.iter().position(|known| known.id == seat).unwrap_or(seats.len())
    }

    /// What a phase is called.
    pub(crate) fn phase_title(&self, phase: &str) -> String {
        let known = self.info.phase(phase).map(|phase| phase.title.to_owned());
        known.unwrap_or_else(|| agon_core::wording::heading(phase))
    }

    /// Whether a phase belongs to the round whose number it has.
    pub(crate) fn is_in_round(&self, phase: &str, round: u32) -> bool {
        round > 0 && !self.info.phase(phase).is_some_and(|phase| phase.is_outside_rounds)
    }
}
