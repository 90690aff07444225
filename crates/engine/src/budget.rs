//! What a debate may still use.
//!
//! The worst case of a call is reserved before it leaves and settled when it comes back, so that what is spent and what is
//! reserved never exceed a limit together, however many calls are under way.

use std::collections::BTreeMap;

use agon_core::debate::Attempt;
use agon_core::{Absence, Debate, Limits, Reply, Usage};

use crate::Price;
use crate::model::Message;

/// The most that one call can use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Worst {
    pub(crate) tokens: u64,
    /// `None` when the price is not known.
    pub(crate) usd: Option<f64>,
}

/// Whether a call may leave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fit {
    Now,
    /// Calls under way may yet give back what they do not use.
    Later,
    /// It cannot fit any more; the sentence names the limit.
    Never(String),
}

/// The limits of a debate and how much of them is gone.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    usd: f64,
    tokens: u64,
    calls: u32,
    reserved: BTreeMap<u32, Worst>,
}

/// No tokenizer makes more tokens than there are bytes; the rest is what a chat template puts around a message.
const TOKENS_AROUND_MESSAGE: u64 = 16;

impl Worst {
    /// The worst case of a call with these messages, for a schema that takes `schema_bytes` to send.
    pub(crate) fn of(messages: &[Message], schema_bytes: u64, price: &Price, limits: &Limits) -> Self {
        let input = messages.iter().fold(schema_bytes, |sum, message| {
            sum.saturating_add(message.text.len() as u64).saturating_add(TOKENS_AROUND_MESSAGE)
        });
        let output = u64::from(limits.output_tokens);
        let usd = match price {
            Price::Free => Some(0.0),
            Price::Unknown => None,
            Price::PerMillion { input: fresh, cached_input, output: written } => {
                Some((input as f64 * fresh.max(*cached_input) + output as f64 * written) / 1e6)
            }
        };
        Self { tokens: input.saturating_add(output), usd }
    }
}

impl Budget {
    /// What the log has left of the limits. `open` says for the asks without a reply how many tokens a call of theirs can
    /// use: that is what one of them counts for that was sent and never heard of again.
    pub(crate) fn of(debate: &Debate, open: &BTreeMap<u32, u64>) -> Self {
        let limits = debate.brief.limits.clone();
        let mut budget = Self { limits, usd: 0.0, tokens: 0, calls: 0, reserved: BTreeMap::new() };
        for turn in debate.turns.iter().filter(|turn| !turn.inherited) {
            for ((asked, attempts), reply) in turn.asks.iter().zip(&turn.attempts).zip(&turn.replies) {
                budget.count(attempts, reply.as_ref(), open.get(&asked.id).copied());
            }
        }
        budget
    }

    fn count(&mut self, attempts: &[Attempt], reply: Option<&Reply>, open: Option<u64>) {
        let answered = match reply {
            Some(Reply::Said { usage, .. }) => Some(usage),
            _ => None,
        };
        let read = attempts.iter().filter_map(|attempt| attempt.fault.as_ref().map(|fault| &fault.usage));
        let input = read.chain(answered).map(|usage| usage.input_tokens).max().unwrap_or_default();
        let unheard = open.unwrap_or(input.saturating_add(u64::from(self.limits.output_tokens)));
        for (place, attempt) in attempts.iter().enumerate() {
            let last = place + 1 == attempts.len();
            let usage = attempt.fault.as_ref().map(|fault| &fault.usage).or(answered.filter(|_| last));
            let abandoned = attempt.fault.as_ref().is_some_and(|fault| fault.why == Absence::TimedOut);
            let worst = Worst { tokens: unheard, usd: attempt.worst_usd };
            self.calls = self.calls.saturating_add(1);
            match usage {
                Some(usage) if !abandoned => self.spend(usage, worst),
                _ => self.spend_worst(worst),
            }
        }
    }

    /// Whether a call that can use this much may leave now.
    pub(crate) fn fit(&self, worst: &Worst) -> Fit {
        let mut later = false;
        if let Some(limit) = self.limits.calls
            && self.calls >= limit
        {
            return Fit::Never(format!("the limit of {limit} calls is reached"));
        }
        if let Some(limit) = self.limits.tokens {
            let held: u64 = self.reserved.values().map(|held| held.tokens).sum();
            if self.tokens.saturating_add(worst.tokens) > limit {
                let left = limit.saturating_sub(self.tokens);
                let most = worst.tokens;
                return Fit::Never(format!(
                    "of the limit of {limit} tokens {left} are left, and the call could use {most}"
                ));
            }
            later |= self.tokens.saturating_add(held).saturating_add(worst.tokens) > limit;
        }
        if let (Some(limit), Some(most)) = (self.limits.usd, worst.usd) {
            let held: f64 = self.reserved.values().filter_map(|held| held.usd).sum();
            if self.usd + most > limit {
                let left = (limit - self.usd).max(0.0);
                return Fit::Never(format!(
                    "of the budget of ${limit} ${left:.6} is left, and the call could cost ${most:.6}"
                ));
            }
            later |= self.usd + held + most > limit;
        }
        if later { Fit::Later } else { Fit::Now }
    }

    /// Reserves the worst case of a call for this ask.
    pub(crate) fn reserve(&mut self, ask: u32, worst: Worst) {
        self.calls = self.calls.saturating_add(1);
        self.reserved.insert(ask, worst);
    }

    /// The call never left.
    pub(crate) fn give_back(&mut self, ask: u32) {
        if self.reserved.remove(&ask).is_some() {
            self.calls = self.calls.saturating_sub(1);
        }
    }

    /// The call came back and used this much, be it more than was reserved.
    pub(crate) fn settle(&mut self, ask: u32, usage: &Usage) {
        if let Some(worst) = self.reserved.remove(&ask) {
            self.spend(usage, worst);
        }
    }

    /// The call was abandoned: nobody knows what it used, so the worst is taken for spent.
    pub(crate) fn abandon(&mut self, ask: u32) {
        if let Some(worst) = self.reserved.remove(&ask) {
            self.spend_worst(worst);
        }
    }

    fn spend(&mut self, usage: &Usage, worst: Worst) {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        self.spend_worst(Worst { tokens, usd: usage.usd.or(worst.usd) });
    }

    fn spend_worst(&mut self, worst: Worst) {
        self.tokens = self.tokens.saturating_add(worst.tokens);
        self.usd += worst.usd.unwrap_or_default();
    }
}
