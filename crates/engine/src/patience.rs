//! How long an ask may take.

use std::time::Duration;

use agon_core::Ask;
use tokio::time::Instant;

use crate::chain::Link;
use crate::run::Run;

impl Run<'_> {
    /// How long a call of this model may take for the ask at `index`.
    pub(crate) fn patience(&self, index: usize, link: &Link) -> Duration {
        let ask = self.slots.get(index).map(|slot| &slot.ask);
        let own = ask.and_then(|ask| ask.within_ms);
        let limit = Duration::from_millis(own.unwrap_or(self.debate.brief.limits.call_timeout_ms));
        match link.model.timeout() {
            Some(timeout) if ask.is_some_and(|ask| ask.firm) => timeout.min(limit),
            Some(timeout) => timeout,
            None => limit,
        }
    }

    /// How long the call that leaves now may take. The first one starts the clock of an ask that has a time of its own.
    pub(crate) fn time_for(&mut self, index: usize, link: &Link) -> Duration {
        let patience = self.patience(index, link);
        // A model that sets itself a time, as a person does, is measured by another only where somebody wants that.
        let measured = |slot: &&mut crate::slot::Slot| slot.ask.firm || link.model.timeout().is_none();
        let Some(slot) = self.slots.get_mut(index).filter(measured) else { return patience };
        if let Some(within_ms) = slot.ask.within_ms {
            slot.due.get_or_insert(Instant::now() + Duration::from_millis(within_ms));
        }
        slot.due.map_or(patience, |due| patience.min(due.saturating_duration_since(Instant::now())))
    }
}

/// What an ask is told to have missed.
pub(crate) fn late(ask: &Ask) -> String {
    let within = Duration::from_millis(ask.within_ms.unwrap_or_default());
    format!("no answer within {within:?}")
}
