//! "with the measured risk, where history gives one": how often those two were wrong when they agreed before.

use agon_core::history::{Past, history};
use agon_core::{Debate, Seat};
use serde_json::{Value, json};

/// The standard normal quantile of a two-sided 95% interval.
const Z: f64 = 1.959_963_984_540_054;

/// The risk of an agreement of these two, from earlier debates that are resolved; null where there is none in which they agreed.
pub(super) fn risk(debate: &Debate) -> Value {
    let sit: Vec<&str> = debate.brief.seats_of("debater").take(2).map(|seat| spoke(debate, seat)).collect();
    let [one, other] = sit.as_slice() else { return Value::Null };
    let past = history(&debate.brief);
    let agreed: Vec<bool> = past.iter().filter_map(|past| right_together(past, one, other)).collect();
    let (n, wrong) = (agreed.len(), agreed.iter().filter(|right| !**right).count());
    if n == 0 {
        return Value::Null;
    }
    let rate = wrong as f64 / n as f64;
    let (low, high) = wilson(wrong as f64, n as f64);
    let sentence = format!(
        "Of {n} earlier debate{} in which these two gave the same first answer, {wrong} {} wrong: {:.0}%, and between {:.0}% and {:.0}% with \
         95% confidence.",
        if n == 1 { "" } else { "s" },
        if wrong == 1 { "was" } else { "were" },
        100.0 * rate,
        100.0 * low,
        100.0 * high,
    );
    json!({"agreed": n, "wrong": wrong, "rate": rate, "interval": [low, high], "sentence": sentence})
}

/// Who answered on a seat: of a chain of models the one that really did.
fn spoke<'a>(debate: &'a Debate, seat: &'a Seat) -> &'a str {
    debate.spoke(&seat.id).first().copied().unwrap_or(&seat.model)
}

/// Whether both were right in a debate in which their first positions were the same.
fn right_together(past: &Past, one: &str, other: &str) -> Option<bool> {
    let of = |agent: &str, but: Option<usize>| {
        let mut seats = past.seats.iter().enumerate();
        seats.find(|(place, seat)| seat.agent == agent && Some(*place) != but)
    };
    let (place, first) = of(one, None)?;
    let (_, second) = of(other, Some(place))?;
    (first.position == second.position).then_some(first.right)
}

/// Wilson's interval for a share.
fn wilson(part: f64, n: f64) -> (f64, f64) {
    let (p, z2) = (part / n, Z * Z);
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Textbook values: 1 of 10, and none of 10, whose upper end is z^2 / (n + z^2).
    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(1.0, 10.0);
        assert!((low - 0.017_876).abs() < 1e-5 && (high - 0.404_150).abs() < 1e-5, "{low} {high}");
        let (low, high) = wilson(0.0, 10.0);
        assert!(low.abs() < 1e-12 && (high - Z * Z / (10.0 + Z * Z)).abs() < 1e-12, "{low} {high}");
    }
}
