//! What a network computes besides products with its weights, on plain slices.
//!
//! The functions are compiled once for each set of instructions, and the machine's own is chosen when they are called. Sums are
//! taken in a fixed order, so that a number does not depend on what else is computed with it.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};

/// So many sums are taken side by side.
const LANES: usize = 16;

/// Scales each row to a mean square of 1, and then each column by its weight.
pub(crate) fn normalize(level: Level, rows: &[f32], weights: &[f32], epsilon: f32, out: &mut Vec<f32>) {
    out.resize(rows.len(), 0.0);
    dispatch!(level, _ => {
        let width = weights.len().max(1);
        for (out, row) in out.chunks_exact_mut(width).zip(rows.chunks_exact(width)) {
            let mean = lane_sum(row, |x| x * x) / width as f32;
            let scale = 1.0 / (mean + epsilon).sqrt();
            for ((out, x), weight) in out.iter_mut().zip(row).zip(weights) {
                *out = x * scale * weight;
            }
        }
    });
}

/// Multiplies each number with its gate, which is passed through the function `silu` first.
pub(crate) fn apply_gates(level: Level, gates: &[f32], numbers: &mut [f32]) {
    dispatch!(level, _ => {
        for (number, gate) in numbers.iter_mut().zip(gates) {
            *number *= gate / (1.0 + exponential(-gate));
        }
    });
}

/// Adds numbers to others.
pub(crate) fn add(level: Level, numbers: &mut [f32], others: &[f32]) {
    dispatch!(level, _ => numbers.iter_mut().zip(others).for_each(|(number, other)| *number += other));
}

/// Turns each pair of numbers of a row of heads by its angle, which encodes a position, and multiplies it with `scale`.
pub(crate) fn rotate(level: Level, row: &mut [f32], angles: &[(f32, f32)], scale: f32) {
    dispatch!(level, _ => {
        for head in row.chunks_exact_mut(2 * angles.len().max(1)) {
            for ([x, y], (cosine, sine)) in head.as_chunks_mut::<2>().0.iter_mut().zip(angles) {
                (*x, *y) = ((*x * cosine - *y * sine) * scale, (*x * sine + *y * cosine) * scale);
            }
        }
    });
}

/// Makes the first `used` numbers probabilities, and the others 0.
#[inline(always)]
pub(crate) fn softmax(scores: &mut [f32], used: usize) {
    let (scores, masked) = scores.split_at_mut_checked(used).unwrap_or_default();
    masked.fill(0.0);
    let largest = lane_fold(scores, f32::NEG_INFINITY, |largest, x| if x > largest { x } else { largest });
    let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = exponential(*score - largest));
    let scale = 1.0 / lane_sum(scores, |x| x);
    scores.iter_mut().for_each(|score| *score *= scale);
}

/// The products of some rows with a panel of 16 columns. `rows` has a number of each row for each row of the panel.
#[inline(always)]
pub(crate) fn panel_products<S: Simd, const ROWS: usize>(
    simd: S,
    rows: &[[f32; ROWS]],
    panel: &[[f32; LANES]],
) -> [[f32; LANES]; ROWS] {
    let mut sums = [f32x16::splat(simd, 0.0); ROWS];
    for (numbers, columns) in rows.iter().zip(panel) {
        let columns = f32x16::simd_from(simd, *columns);
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum = columns.mul_add(f32x16::splat(simd, *number), *sum);
        }
    }
    let mut products = [[0.0; LANES]; ROWS];
    for (product, sum) in products.iter_mut().zip(sums) {
        *product = sum.into();
    }
    products
}

#[inline(always)]
fn lane_sum(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    lane_fold(numbers, 0.0, |sum, x| sum + of(x)).into_iter().sum()
}

/// Folds every 16th number, for each of the first 16.
#[inline(always)]
fn lane_fold(numbers: &[f32], start: f32, fold: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    let mut lanes = [start; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane = fold(*lane, *x));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, x)| *lane = fold(*lane, *x));
    lanes
}

/// `e` to the power of `x`, to seven digits. Unlike the one of the standard library, it is computed for many numbers at once.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // Added to a small number, this rounds it to a whole one, which then stands in the lowest bits.
    const ROUNDING: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let power = shifted - ROUNDING;
    let rest = x - power * LN_2_HIGH - power * LN_2_LOW;
    let series = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let fraction = series.into_iter().fold(0.0, |sum, factor| sum * rest + factor);
    let exponent = shifted.to_bits().wrapping_sub(ROUNDING.to_bits()).wrapping_add(127);
    fraction * f32::from_bits(exponent << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_have_seven_digits() {
        for step in -8_700..=8_800 {
            let x = step as f32 / 100.0;
            let (exact, got) = (f64::from(x).exp(), f64::from(exponential(x)));
            assert!((got - exact).abs() <= 3e-7 * exact, "{x}: {got} instead of {exact}");
        }
    }

    #[test]
    fn probabilities_add_up_to_one_and_masked_scores_have_none() {
        let mut scores: Vec<f32> = (0..45).map(|n| (n % 7) as f32 * 3.0).collect();
        softmax(&mut scores, 37);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(scores[37..].iter().all(|p| *p == 0.0) && scores[..37].iter().all(|p| *p > 0.0));
        assert_eq!(scores[0], scores[7], "equal scores");
    }
}
