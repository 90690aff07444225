//! Choosing the next token.

use agon_core::seed::SeededDraw;

/// How freely a model chooses. Small models repeat themselves at low temperatures and become incoherent at high ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SamplingSettings {
    pub(crate) temperature: f32,
    /// Only the likeliest tokens whose probabilities add up to this are candidates.
    pub(crate) top_p: f32,
    /// How much less likely a token becomes once it was written.
    pub(crate) repeat_penalty: f32,
}

/// Draws a token by its likelihood. The same seed gives the same tokens.
pub(crate) fn sample_token(
    logits: &[f32],
    written: &[u32],
    settings: SamplingSettings,
    draw: &mut SeededDraw,
) -> u32 {
    let mut scored: Vec<(u32, f32)> = (0..).zip(logits.iter().copied()).collect();
    for token in written {
        if let Some((_, logit)) = scored.get_mut(*token as usize)
            && let Some(&plain) = logits.get(*token as usize)
        {
            *logit =
                if plain > 0.0 { plain / settings.repeat_penalty } else { plain * settings.repeat_penalty };
        }
    }
    // Tokens far below the best are never drawn; dropping them first keeps the sort short.
    let best = scored.iter().fold(f32::NEG_INFINITY, |best, (_, logit)| best.max(*logit));
    let reach = settings.temperature * 12.0;
    scored.retain(|(_, logit)| *logit >= best - reach);
    scored.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
    let weight = |logit: f32| ((logit - best) / settings.temperature).exp();
    let total: f32 = scored.iter().map(|(_, logit)| weight(*logit)).sum();
    let mut kept = 0.0;
    let mut candidates = 0;
    for (_, logit) in &scored {
        candidates += 1;
        kept += weight(*logit);
        if kept >= settings.top_p * total {
            break;
        }
    }
    let mut point = draw.unit() as f32 * kept;
    for (token, logit) in scored.iter().take(candidates) {
        point -= weight(*logit);
        if point <= 0.0 {
            return *token;
        }
    }
    scored.first().map_or(0, |(token, _)| *token)
}

/// The natural logarithm of a token's probability.
pub(crate) fn log_probability(logits: &[f32], token: u32) -> f32 {
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = logits.iter().map(|logit| (logit - best).exp()).sum();
    logits.get(token as usize).map_or(f32::NEG_INFINITY, |logit| logit - best - total.ln())
}
