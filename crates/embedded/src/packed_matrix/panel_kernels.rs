//! The inner loops of a product with a packed matrix, for each set of instructions.
//!
//! A kernel takes a panel of weights and a tile of inputs, whose sums fit into the processor's registers, and goes through their
//! blocks. The products of a block are added as integers; then the scales make a fraction of the sum.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Avx2, Avx512, f32x8, f32x16, prelude::*, u8x16, u8x64, u16x8, u16x16};

use super::{InputBlock, InputRows, PANEL_ROWS, WeightBlock, from_half};

/// So few rows leave registers free.
#[cfg(target_arch = "x86_64")]
const FEW_ROWS: usize = 4;

/// The products of a panel with one row of the input.
type PanelOutput = [f32; PANEL_ROWS];

/// Calls a tile's function, for each panel and each tile of the input, with the tile's size as a constant.
macro_rules! for_each_tile {
    ($panels:ident, $blocks:ident, $input:ident, $out:ident, [$($size:literal)*], $products:expr) => {
        let panel_count = $panels.len() / $blocks.max(1);
        for (index, panel) in $panels.chunks_exact($blocks.max(1)).enumerate() {
            for tile in $input.kernel.tiles($input.rows) {
                let range = tile.start * $blocks..tile.end * $blocks;
                let inputs = $input.blocks.get(range).unwrap_or_default();
                let out = $out.iter_mut().skip(tile.start * panel_count + index).step_by(panel_count);
                match tile.len() {
                    $($size => {
                        let products: [PanelOutput; $size] = $products(panel, inputs.as_chunks::<$size>().0);
                        out.zip(products).for_each(|(out, product)| *out = product);
                    })*
                    _ => {}
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    /// For processors with AVX-512 and VNNI.
    pub(super) fn multiply_avx512(
        simd: Avx512,
        panels: &[WeightBlock],
        blocks: usize,
        input: &InputRows,
        out: &mut [PanelOutput],
    ) {
        for_each_tile!(panels, blocks, input, out, [1 2 3 4 5 6 7 8 9 10 11 12], |panel, inputs| {
            tile_avx512(simd, panel, inputs)
        });
    }
);

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
#[inline]
fn tile_avx512<const ROWS: usize>(
    simd: Avx512,
    panel: &[WeightBlock],
    inputs: &[[InputBlock; ROWS]],
) -> [PanelOutput; ROWS] {
    let mut totals = [_mm512_setzero_ps(); ROWS];
    for (block, inputs) in panel.iter().zip(inputs) {
        let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
        for ([sum, _], input) in sums.iter_mut().zip(inputs) {
            *sum = _mm512_set1_epi32(input.offset);
        }
        for (index, weights) in block.weights.as_chunks::<64>().0.iter().enumerate() {
            let weights: __m512i = u8x64::simd_from(simd, *weights).into();
            for ([sum, other], input) in sums.iter_mut().zip(inputs) {
                let group = _mm512_set1_epi32(input.groups.get(index).copied().unwrap_or_default());
                // An instruction waits for the one before it. With few rows, two sums take turns.
                let sum = if ROWS > FEW_ROWS || index % 2 == 0 { sum } else { other };
                *sum = _mm512_dpbusd_epi32(*sum, weights, group);
            }
        }
        let scales = _mm512_cvtph_ps(u16x16::simd_from(simd, block.scales).into());
        for ((total, [sum, other]), input) in totals.iter_mut().zip(sums).zip(inputs) {
            let sum = if ROWS > FEW_ROWS { sum } else { _mm512_add_epi32(sum, other) };
            let scales = _mm512_mul_ps(scales, _mm512_set1_ps(input.scale));
            *total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scales, *total);
        }
    }
    let mut out = [[0.0; PANEL_ROWS]; ROWS];
    for (out, total) in out.iter_mut().zip(totals) {
        *out = f32x16::simd_from(simd, total).into();
    }
    out
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    /// For processors with AVX2 and FMA.
    pub(super) fn multiply_avx2(
        simd: Avx2,
        panels: &[WeightBlock],
        blocks: usize,
        input: &InputRows,
        out: &mut [PanelOutput],
    ) {
        for_each_tile!(panels, blocks, input, out, [1 2 3 4], |panel, inputs| {
            tile_avx2(simd, panel, inputs)
        });
    }
);

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c,fma")]
#[inline]
fn tile_avx2<const ROWS: usize>(
    simd: Avx2,
    panel: &[WeightBlock],
    inputs: &[[InputBlock; ROWS]],
) -> [PanelOutput; ROWS] {
    let mut totals = [[_mm256_setzero_ps(); 2]; ROWS];
    for (block, inputs) in panel.iter().zip(inputs) {
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for (index, [low, high]) in block.weights.as_chunks::<16>().0.as_chunks::<2>().0.iter().enumerate() {
            let low = _mm256_cvtepi8_epi16(u8x16::simd_from(simd, *low).into());
            let high = _mm256_cvtepi8_epi16(u8x16::simd_from(simd, *high).into());
            for ([low_sum, high_sum], input) in sums.iter_mut().zip(inputs) {
                let group = _mm256_set1_epi32(input.groups.get(index).copied().unwrap_or_default());
                *low_sum = _mm256_add_epi32(*low_sum, _mm256_madd_epi16(low, group));
                *high_sum = _mm256_add_epi32(*high_sum, _mm256_madd_epi16(high, group));
            }
        }
        let [low, high, ..] = block.scales.as_chunks::<8>().0 else { continue };
        let low = _mm256_cvtph_ps(u16x8::simd_from(simd, *low).into());
        let high = _mm256_cvtph_ps(u16x8::simd_from(simd, *high).into());
        for (([low_total, high_total], [low_sum, high_sum]), input) in totals.iter_mut().zip(sums).zip(inputs)
        {
            let scale = _mm256_set1_ps(input.scale);
            let low = _mm256_mul_ps(low, scale);
            let high = _mm256_mul_ps(high, scale);
            *low_total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(low_sum), low, *low_total);
            *high_total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(high_sum), high, *high_total);
        }
    }
    let mut out = [[0.0; PANEL_ROWS]; ROWS];
    for (out, totals) in out.iter_mut().zip(totals) {
        for (out, total) in out.as_chunks_mut::<8>().0.iter_mut().zip(totals) {
            *out = f32x8::simd_from(simd, total).into();
        }
    }
    out
}

/// For all other processors.
pub(super) fn multiply_portable(
    panels: &[WeightBlock],
    blocks: usize,
    input: &InputRows,
    out: &mut [PanelOutput],
) {
    for_each_tile!(panels, blocks, input, out, [1 2 3 4], tile_portable);
}

fn tile_portable<const ROWS: usize>(
    panel: &[WeightBlock],
    inputs: &[[InputBlock; ROWS]],
) -> [PanelOutput; ROWS] {
    let mut totals = [[0.0_f32; PANEL_ROWS]; ROWS];
    for (block, inputs) in panel.iter().zip(inputs) {
        let mut sums = [[0_i32; PANEL_ROWS]; ROWS];
        for (index, [first, second]) in
            block.weights.as_chunks::<PANEL_ROWS>().0.as_chunks::<2>().0.iter().enumerate()
        {
            for (sums, input) in sums.iter_mut().zip(inputs) {
                let group = input.groups.get(index).copied().unwrap_or_default();
                let (a, b) = (group as i16, (group >> 16) as i16);
                for ((sum, first), second) in sums.iter_mut().zip(first).zip(second) {
                    let first = i32::from(i16::from(first.cast_signed())) * i32::from(a);
                    let second = i32::from(i16::from(second.cast_signed())) * i32::from(b);
                    *sum += first + second;
                }
            }
        }
        let scales = block.scales.map(from_half);
        for ((totals, sums), input) in totals.iter_mut().zip(sums).zip(inputs) {
            for ((total, sum), scale) in totals.iter_mut().zip(sums).zip(scales) {
                *total += sum as f32 * (scale * input.scale);
            }
        }
    }
    totals
}
