//! What a debate may still use.
//!
//! The worst case of a call is reserved before it leaves and settled when it comes back, so that what is spent and what is
//! reserved never exceed a limit together, however many calls are under way.

use std::collections::BTreeMap;

use agon_core::debate::Attempt;
use agon_core::{Absence, Debate, Limits, Reply, Usage};

use crate::Price;
use crate::allowance::Allowance;
use crate::model::Message;

/// What is known of a call's use before it is decided how long its answer may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Need {
    input_tokens: u64,
    price: Price,
}

/// The most that one call can use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Worst {
    pub(crate) tokens: u64,
    /// `None` when the price is not known.
    pub(crate) usd: Option<f64>,
}

/// Leave for a call: how long its answer may be, and what that can use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grant {
    pub(crate) output_tokens: u32,
    pub(crate) worst: Worst,
}

impl Grant {
    /// Leave for an errand: it uses nothing that is limited.
    pub(crate) fn errand(limits: &Limits) -> Self {
        Self { output_tokens: limits.output_tokens, worst: Worst { tokens: 0, usd: Some(0.0) } }
    }
}

/// Whether a call may leave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fit {
    Now(Grant),
    /// Calls under way may yet give back what they do not use.
    Later,
    /// It cannot fit any more; the sentence names the limit.
    Never(String),
}

/// How much of a debate's limits is gone.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most tokens that any answer may have.
    output_tokens: u32,
    usd: f64,
    tokens: u64,
    calls: u32,
    reserved: BTreeMap<u32, Worst>,
}

/// No tokenizer makes more tokens than there are bytes; the rest is what a chat template puts around a message.
const TOKENS_AROUND_MESSAGE: u64 = 16;

/// An answer that is allowed less than this is hardly worth its question.
const OUTPUT_TOKENS_MIN: u32 = 256;

impl Need {
    /// What a call with these messages needs, for a schema that takes `schema_bytes` to send.
    pub(crate) fn of(messages: &[Message], schema_bytes: u64, price: Price) -> Self {
        let input_tokens = messages.iter().fold(schema_bytes, |sum, message| {
            sum.saturating_add(message.text.len() as u64).saturating_add(TOKENS_AROUND_MESSAGE)
        });
        Self { input_tokens, price }
    }

    /// The worst case of the call when its answer may have so many tokens.
    pub(crate) fn worst(&self, output_tokens: u32) -> Worst {
        let usd = match self.price {
            Price::Free => Some(0.0),
            Price::Unknown => None,
            Price::PerMillion { output, .. } => {
                let read = self.input_tokens as f64 * self.price.dearest_input();
                Some((read + f64::from(output_tokens) * output) / 1e6)
            }
        };
        Worst { tokens: self.input_tokens.saturating_add(u64::from(output_tokens)), usd }
    }

    /// How long an answer can be for so many dollars; without end where it costs nothing.
    fn output_for(&self, usd: f64) -> u32 {
        let Price::PerMillion { output, .. } = self.price else { return u32::MAX };
        let left = usd * 1e6 - self.input_tokens as f64 * self.price.dearest_input();
        // A cast takes what is below 0 for 0, and what is above all numbers for the greatest.
        if output > 0.0 || left < 0.0 { (left / output) as u32 } else { u32::MAX }
    }
}

impl Budget {
    /// What the log has left of the limits. `open` says for the asks without a reply how many tokens a call of theirs can
    /// use: that is what one of them counts for that was sent and never heard of again.
    pub(crate) fn of(debate: &Debate, open: &BTreeMap<u32, u64>) -> Self {
        let output_tokens = debate.brief.limits.output_tokens;
        let mut budget = Self { output_tokens, usd: 0.0, tokens: 0, calls: 0, reserved: BTreeMap::new() };
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
        let unheard = open.unwrap_or(input.saturating_add(u64::from(self.output_tokens)));
        for (place, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| !attempt.errand) {
            let last = place + 1 == attempts.len();
            let usage = attempt.fault.as_ref().map(|fault| &fault.usage).or(answered.filter(|_| last));
            let abandoned = attempt.fault.as_ref().is_some_and(|fault| fault.why == Absence::TimedOut);
            let worst = Worst { tokens: unheard, usd: attempt.worst_usd };
            self.calls = self.calls.saturating_add(1);
            match usage {
                Some(usage) if !abandoned && !is_silent(usage) => self.spend(usage, worst),
                _ => self.spend_worst(worst),
            }
        }
    }

    /// Whether a call may leave now, and how long its answer may be. The calls that wait to leave, `waiting` of them with this
    /// one, share evenly what is left, so that none takes it all; where that is too little for each, they go one by one.
    pub(crate) fn afford(&self, need: &Need, waiting: usize, allowed: &Allowance) -> Fit {
        let least = OUTPUT_TOKENS_MIN.min(self.output_tokens);
        let share = self.even_output(need, waiting, allowed);
        if share > least
            && let now @ Fit::Now(_) = self.fit(need, share, allowed)
        {
            return now;
        }
        self.fit(need, least, allowed)
    }

    fn even_output(&self, need: &Need, waiting: usize, allowed: &Allowance) -> u32 {
        let waiting = waiting.max(1) as u64;
        let mut output = self.output_tokens;
        if let Some(limit) = allowed.tokens {
            let left = limit.saturating_sub(self.tokens).saturating_sub(self.held_tokens());
            let most = (left / waiting).saturating_sub(need.input_tokens);
            output = output.min(u32::try_from(most).unwrap_or(u32::MAX));
        }
        if let Some(limit) = allowed.usd {
            output = output.min(need.output_for((limit - self.usd - self.held_usd()) / waiting as f64));
        }
        output
    }

    fn fit(&self, need: &Need, output_tokens: u32, allowed: &Allowance) -> Fit {
        let worst = need.worst(output_tokens);
        let mut later = false;
        if let Some(limit) = allowed.calls
            && self.calls >= limit
        {
            return Fit::Never(allowed.no_call_left());
        }
        if let Some(limit) = allowed.tokens {
            if self.tokens.saturating_add(worst.tokens) > limit {
                return Fit::Never(allowed.too_long(worst.tokens, limit.saturating_sub(self.tokens)));
            }
            later |= self.tokens.saturating_add(self.held_tokens()).saturating_add(worst.tokens) > limit;
        }
        if let (Some(limit), Some(most)) = (allowed.usd, worst.usd) {
            if self.usd + most > limit {
                return Fit::Never(allowed.too_dear(most, (limit - self.usd).max(0.0)));
            }
            later |= self.usd + self.held_usd() + most > limit;
        }
        if later { Fit::Later } else { Fit::Now(Grant { output_tokens, worst }) }
    }

    fn held_tokens(&self) -> u64 {
        self.reserved.values().fold(0, |sum, held| sum.saturating_add(held.tokens))
    }

    fn held_usd(&self) -> f64 {
        self.reserved.values().filter_map(|held| held.usd).sum()
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

    /// The call came back and used this much, be it more than was reserved. One that does not say counts for the worst.
    pub(crate) fn settle(&mut self, ask: u32, usage: &Usage) {
        if is_silent(usage) {
            self.abandon(ask);
        } else if let Some(worst) = self.reserved.remove(&ask) {
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

/// Whether a call says nothing of what it used. What costs nothing has a price that is known.
fn is_silent(usage: &Usage) -> bool {
    usage.input_tokens == 0 && usage.output_tokens == 0 && usage.usd.is_none()
}
