//! What a call cost that came to something, to nothing, or to nobody knows what.

use agon_core::Usage;

use crate::Price;

/// What a call used that was answered. A server that counts no tokens has charged for them all the same.
pub(crate) fn charged(price: &Price, usage: Usage) -> Usage {
    let usd = match price {
        Price::PerMillion { .. } if !counts(&usage) => usage.usd,
        _ => price.of(&usage).or(usage.usd),
    };
    Usage { usd, ..usage }
}

/// What a call used that was not: without tokens it cost nothing, whatever the price of one is.
pub(crate) fn uncharged(price: &Price, usage: Usage) -> Usage {
    let nothing = (!counts(&usage)).then_some(0.0);
    Usage { usd: price.of(&usage).or(usage.usd).or(nothing), ..usage }
}

fn counts(usage: &Usage) -> bool {
    usage.input_tokens > 0 || usage.output_tokens > 0
}

/// What a call used that nobody heard of again: a provider may charge for it all the same.
pub(crate) fn unheard(price: &Price) -> Usage {
    let usd = match price {
        Price::Free => Some(0.0),
        _ => None,
    };
    Usage { usd, ..Usage::default() }
}
