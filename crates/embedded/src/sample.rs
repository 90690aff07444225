//! Which token comes next.

use agon_core::seed::Draw;

/// How daring a voice is. Small models go round in circles at the cautious end and lose the thread at the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taste {
    pub(crate) temperature: f32,
    /// The likeliest tokens that together are so likely are the ones to choose from.
    pub(crate) top: f32,
    /// How much less likely a token gets for having been said.
    pub(crate) penalty: f32,
}

/// Chooses by likelihood and luck. The luck comes from the seed: the same seed says the same words.
pub(crate) fn sample(logits: &[f32], said: &[u32], taste: Taste, draw: &mut Draw) -> u32 {
    let mut scored: Vec<(u32, f32)> = (0..).zip(logits.iter().copied()).collect();
    for token in said {
        if let Some((_, logit)) = scored.get_mut(*token as usize)
            && let Some(&plain) = logits.get(*token as usize)
        {
            *logit = if plain > 0.0 { plain / taste.penalty } else { plain * taste.penalty };
        }
    }
    // What is far from the best is never chosen, and leaving it out makes the sorting short.
    let best = scored.iter().fold(f32::NEG_INFINITY, |best, (_, logit)| best.max(*logit));
    let reach = taste.temperature * 12.0;
    scored.retain(|(_, logit)| *logit >= best - reach);
    scored.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
    let weight = |logit: f32| ((logit - best) / taste.temperature).exp();
    let total: f32 = scored.iter().map(|(_, logit)| weight(*logit)).sum();
    let mut kept = 0.0;
    let mut from = 0;
    for (_, logit) in &scored {
        from += 1;
        kept += weight(*logit);
        if kept >= taste.top * total {
            break;
        }
    }
    let mut point = draw.unit() as f32 * kept;
    for (token, logit) in scored.iter().take(from) {
        point -= weight(*logit);
        if point <= 0.0 {
            return *token;
        }
    }
    scored.first().map_or(0, |(token, _)| *token)
}

/// How likely a token is, as a logarithm.
pub(crate) fn likelihood(logits: &[f32], token: u32) -> f32 {
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = logits.iter().map(|logit| (logit - best).exp()).sum();
    logits.get(token as usize).map_or(f32::NEG_INFINITY, |logit| logit - best - total.ln())
}
