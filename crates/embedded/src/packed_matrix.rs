//! Matrices of 8-bit weights, in the order in which the processor multiplies them.
//!
//! A matrix is a list of panels of 16 rows. A panel is a list of blocks of 32 columns, and a block has the weights of `Q8_0`: a
//! scale for each row, and 8 bits for each weight. Inside a block, the weights of all rows that one instruction multiplies stand
//! side by side. Inputs are rounded to 8 bits too, so that all products within a block are exact integers.
//!
//! Each number of a product is computed in the same order of operations, with however many others it is computed together. So a
//! prompt gives the same numbers whether it is read at once or in parts, and on any number of threads.

mod panel_kernels;

use std::ops::Range;

use candle_core::quantized::{GgmlDType, QTensor};
use fearless_simd::{Level, Simd, dispatch};

use crate::EmbeddedError;
use crate::requantize::to_8_bits;

/// The rows of a panel.
pub(crate) const PANEL_ROWS: usize = 16;
/// The weights that share a scale.
const BLOCK_WIDTH: usize = 32;
/// The bytes of such a block of one row in a file: the scale and the weights.
const FILE_BLOCK_BYTES: usize = 2 + BLOCK_WIDTH;
/// Added to a number below 2^22, this rounds it to a whole number, which then stands in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

/// A matrix of weights with a row for each output.
pub(crate) struct PackedMatrix {
    rows: usize,
    /// The number of blocks in a row.
    blocks: usize,
    panels: Vec<WeightBlock>,
    kernel: PanelKernel,
}

/// 32 columns of a panel.
#[derive(Clone)]
struct WeightBlock {
    /// 16-bit fractions.
    scales: [u16; PANEL_ROWS],
    weights: [u8; PANEL_ROWS * BLOCK_WIDTH],
}

/// How blocks are multiplied. It depends on the instructions that the processor has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PanelKernel {
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::Avx2),
    /// What the compiler makes of plain loops.
    Portable,
}

/// 32 numbers of an input, rounded to 8 bits.
#[derive(Clone, Copy, Default)]
struct InputBlock {
    /// The numbers, as many in each group as the kernel multiplies at once: 4 of 8 bits, or 2 of 16 bits.
    groups: [i32; BLOCK_WIDTH / 2],
    scale: f32,
    /// What the kernel adds to each sum of products. It is not 0 if the weights are stored without a sign.
    offset: i32,
}

/// Rows of numbers, rounded to 8 bits, that a matrix is multiplied with. The rows that a kernel takes at once stand block by block.
pub(crate) struct InputRows {
    level: Level,
    kernel: PanelKernel,
    rows: usize,
    blocks: Vec<InputBlock>,
}

impl PanelKernel {
    /// The fastest kernel for these instructions.
    pub(crate) fn of(level: Level) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = level.as_avx512() {
            return Self::Avx512(avx512);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = level.as_avx2() {
            return Self::Avx2(avx2);
        }
        let _ = level;
        Self::Portable
    }

    /// The weights of one row that stand side by side.
    fn group_width(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 4,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => 2,
            Self::Portable => 1,
        }
    }

    /// Whether weights are stored with 128 added to them: the instruction needs them without a sign.
    fn is_unsigned(self) -> bool {
        self.group_width() == 4
    }

    /// The most rows of an input that are multiplied at once: as many as the processor has registers for.
    fn rows_max(self) -> usize {
        if self.is_unsigned() { 12 } else { 4 }
    }

    /// The ranges of rows that are multiplied at once, of about equal length.
    fn tiles(self, rows: usize) -> impl Iterator<Item = Range<usize>> {
        let tiles = rows.div_ceil(self.rows_max());
        (0..tiles).map(move |tile| even_share(rows, tile, tiles))
    }
}

/// The part of `count` things that belongs to one of several takers.
pub(crate) fn even_share(count: usize, taker: usize, takers: usize) -> Range<usize> {
    let takers = takers.max(1);
    count * taker / takers..count * (taker + 1) / takers
}

impl PackedMatrix {
    /// Packs the matrix of a file. Weights of another format than `Q8_0` are converted.
    pub(crate) fn of(tensor: QTensor, kernel: PanelKernel) -> Result<Self, EmbeddedError> {
        let (rows, width) = tensor.shape().dims2()?;
        if !width.is_multiple_of(BLOCK_WIDTH) {
            return Err(EmbeddedError::File(format!(
                "it has a matrix with {width} columns; only multiples of {BLOCK_WIDTH} are supported"
            )));
        }
        let tensor = if tensor.dtype() == GgmlDType::Q8_0 { tensor } else { to_8_bits(&tensor)? };
        Ok(Self::pack(&tensor.data()?, rows, width / BLOCK_WIDTH, kernel))
    }

    fn pack(data: &[u8], rows: usize, blocks: usize, kernel: PanelKernel) -> Self {
        let sign = if kernel.is_unsigned() { 0x80 } else { 0 };
        let empty = WeightBlock { scales: [0; PANEL_ROWS], weights: [sign; PANEL_ROWS * BLOCK_WIDTH] };
        let mut panels = vec![empty; rows.div_ceil(PANEL_ROWS) * blocks];
        let (row_bytes, group) = (blocks * FILE_BLOCK_BYTES, kernel.group_width());
        for (panel, rows) in panels.chunks_mut(blocks).zip(data.chunks(PANEL_ROWS * row_bytes)) {
            for (row, bytes) in rows.chunks_exact(row_bytes).enumerate() {
                let (file_blocks, _) = bytes.as_chunks::<FILE_BLOCK_BYTES>();
                for (block, [low, high, weights @ ..]) in panel.iter_mut().zip(file_blocks) {
                    if let Some(scale) = block.scales.get_mut(row) {
                        *scale = u16::from_le_bytes([*low, *high]);
                    }
                    let groups = block.weights.chunks_exact_mut(PANEL_ROWS * group);
                    for (places, weights) in groups.zip(weights.chunks_exact(group)) {
                        let places = places.iter_mut().skip(row * group);
                        places.zip(weights).for_each(|(place, weight)| *place = weight ^ sign);
                    }
                }
            }
        }
        Self { rows, blocks, panels, kernel }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.blocks * BLOCK_WIDTH
    }

    /// The number of panels. The last one may have rows of zeros at its end.
    pub(crate) fn panels(&self) -> usize {
        self.rows.div_ceil(PANEL_ROWS)
    }

    /// One row, as it was before it was packed.
    pub(crate) fn row(&self, row: usize) -> Vec<f32> {
        let group = self.kernel.group_width();
        let panel = self.panels.chunks(self.blocks.max(1)).nth(row / PANEL_ROWS).unwrap_or_default();
        let (row, sign) = (row % PANEL_ROWS, if self.kernel.is_unsigned() { 0x80 } else { 0 });
        let numbers = panel.iter().flat_map(|block| {
            let scale = block.scales.get(row).map_or(0.0, |scale| from_half(*scale));
            let groups = block.weights.chunks_exact(PANEL_ROWS * group);
            let weights = groups.flat_map(move |places| places.iter().skip(row * group).take(group));
            weights.map(move |weight| f32::from((weight ^ sign).cast_signed()) * scale)
        });
        numbers.collect()
    }

    /// Multiplies some panels with an input. For each row of the input, `out` gets the products with the rows of these panels.
    pub(crate) fn multiply(&self, panels: Range<usize>, input: &InputRows, out: &mut Vec<f32>) {
        let selected = self.panels.get(panels.start * self.blocks..panels.end * self.blocks);
        let selected = selected.unwrap_or_default();
        out.resize(input.rows * panels.len() * PANEL_ROWS, 0.0);
        let (out, _) = out.as_chunks_mut::<PANEL_ROWS>();
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            PanelKernel::Avx512(avx512) => {
                panel_kernels::multiply_avx512(avx512, selected, self.blocks, input, out)
            }
            #[cfg(target_arch = "x86_64")]
            PanelKernel::Avx2(avx2) => {
                panel_kernels::multiply_avx2(avx2, selected, self.blocks, input, out);
            }
            PanelKernel::Portable => panel_kernels::multiply_portable(selected, self.blocks, input, out),
        }
    }
}

impl InputRows {
    pub(crate) fn new(level: Level) -> Self {
        Self { level, kernel: PanelKernel::of(level), rows: 0, blocks: Vec::new() }
    }

    /// Rounds rows of this width, which replace those of before.
    pub(crate) fn fill(&mut self, numbers: &[f32], width: usize) {
        self.rows = numbers.len() / width.max(1);
        self.blocks.resize(self.rows * (width / BLOCK_WIDTH), InputBlock::default());
        let level = self.level;
        dispatch!(level, simd => self.round(simd, numbers, width));
    }

    #[inline(always)]
    fn round<S: Simd>(&mut self, _: S, numbers: &[f32], width: usize) {
        let blocks = width / BLOCK_WIDTH;
        for tile in self.kernel.tiles(self.rows) {
            let places = self.blocks.get_mut(tile.start * blocks..tile.end * blocks).unwrap_or_default();
            for (index, row) in tile.clone().enumerate() {
                let row = numbers.get(row * width..(row + 1) * width).unwrap_or_default();
                let places = places.iter_mut().skip(index).step_by(tile.len());
                for (place, numbers) in places.zip(row.as_chunks::<BLOCK_WIDTH>().0) {
                    *place = InputBlock::of(numbers, self.kernel);
                }
            }
        }
    }
}

impl InputBlock {
    #[inline(always)]
    fn of(numbers: &[f32; BLOCK_WIDTH], kernel: PanelKernel) -> Self {
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let steps = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        let mut rounded = [0_i16; BLOCK_WIDTH];
        for (rounded, number) in rounded.iter_mut().zip(numbers) {
            *rounded = (number * steps + ROUNDING).to_bits() as i16;
        }
        let mut block = Self { scale: largest / 127.0, ..Self::default() };
        if kernel.is_unsigned() {
            for (group, [a, b, c, d]) in block.groups.iter_mut().zip(rounded.as_chunks::<4>().0) {
                *group = i32::from_le_bytes([*a as u8, *b as u8, *c as u8, *d as u8]);
            }
            block.offset = -128 * rounded.iter().map(|number| i32::from(*number)).sum::<i32>();
        } else {
            for (group, [a, b]) in block.groups.iter_mut().zip(rounded.as_chunks::<2>().0) {
                *group = i32::from(*a as u16) | i32::from(*b) << 16;
            }
        }
        block
    }
}

/// A 16-bit fraction as one of 32 bits: the same bits further left, times the difference of the two exponents.
#[inline(always)]
fn from_half(bits: u16) -> f32 {
    const EXPONENTS: f32 = (1_u128 << 112) as f32;
    let size = f32::from_bits(u32::from(bits & 0x7FFF) << 13) * EXPONENTS;
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use agon_core::seed::SeededDraw;

    use super::*;

    const ROWS: usize = 37;
    const WIDTH: usize = 96;

    /// The sets of instructions that this machine has.
    fn levels() -> Vec<Level> {
        #[cfg(target_arch = "x86_64")]
        let avx2 = Level::new().as_avx2().map(Level::Avx2);
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = None;
        [Level::baseline(), Level::new()].into_iter().chain(avx2).collect()
    }

    /// A matrix as in a file, with the largest weights and scales among its numbers.
    fn file_bytes() -> Vec<u8> {
        let mut draw = SeededDraw::new(1, "matrix");
        let mut byte = |max: f64| (draw.unit() * max) as u8;
        let mut block = |_| {
            let scale = [byte(256.0), 0x20 + byte(24.0)];
            let weights = (0..BLOCK_WIDTH).map(|place| if place == 3 { 0x80 } else { byte(256.0) });
            scale.into_iter().chain(weights.collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        (0..ROWS * WIDTH / BLOCK_WIDTH).flat_map(&mut block).collect()
    }

    fn input(rows: usize) -> Vec<f32> {
        let mut draw = SeededDraw::new(2, "input");
        (0..rows * WIDTH).map(|_| (draw.unit() as f32 - 0.5) * 8.0).collect()
    }

    fn product(level: Level, panels: Range<usize>, numbers: &[f32]) -> Vec<f32> {
        let matrix = PackedMatrix::pack(&file_bytes(), ROWS, WIDTH / BLOCK_WIDTH, PanelKernel::of(level));
        let (mut rows, mut out) = (InputRows::new(level), Vec::new());
        rows.fill(numbers, WIDTH);
        matrix.multiply(panels, &rows, &mut out);
        out
    }

    #[test]
    fn packing_keeps_every_weight() {
        let bytes = file_bytes();
        for level in levels() {
            let matrix = PackedMatrix::pack(&bytes, ROWS, WIDTH / BLOCK_WIDTH, PanelKernel::of(level));
            for (row, bytes) in bytes.chunks_exact(WIDTH / BLOCK_WIDTH * FILE_BLOCK_BYTES).enumerate() {
                let wanted = bytes.chunks_exact(FILE_BLOCK_BYTES).flat_map(|block| {
                    let scale = from_half(u16::from_le_bytes([block[0], block[1]]));
                    block[2..].iter().map(move |weight| f32::from(weight.cast_signed()) * scale)
                });
                assert_eq!(matrix.row(row), wanted.collect::<Vec<_>>(), "{level:?}, row {row}");
            }
        }
    }

    #[test]
    fn every_kernel_multiplies_every_number_of_rows() {
        let matrix = PackedMatrix::pack(&file_bytes(), ROWS, WIDTH / BLOCK_WIDTH, PanelKernel::Portable);
        let weights: Vec<Vec<f32>> = (0..ROWS).map(|row| matrix.row(row)).collect();
        for rows in 1..30 {
            let numbers = input(rows);
            for level in levels() {
                let got = product(level, 0..3, &numbers);
                for (numbers, got) in numbers.chunks(WIDTH).zip(got.chunks(3 * PANEL_ROWS)) {
                    for (weights, got) in weights.iter().zip(got) {
                        let terms = weights.iter().zip(numbers).map(|(a, b)| f64::from(a * b));
                        let (wanted, size) = (terms.clone().sum::<f64>(), terms.map(f64::abs).sum::<f64>());
                        // An input is rounded to a 254th of the range of its block.
                        let error = (f64::from(*got) - wanted).abs();
                        assert!(error < 0.004 * size, "{level:?}, {rows} rows: {got}, not {wanted}");
                    }
                    assert!(got[ROWS..].iter().all(|padding| *padding == 0.0));
                }
            }
        }
    }

    #[test]
    fn a_product_does_not_depend_on_what_is_computed_with_it() {
        let numbers = input(25);
        for level in levels() {
            let all = product(level, 0..3, &numbers);
            for (numbers, all) in numbers.chunks(WIDTH).zip(all.chunks(3 * PANEL_ROWS)) {
                assert_eq!(product(level, 0..3, numbers), all, "{level:?}: one row alone");
                assert_eq!(product(level, 1..2, numbers), all[PANEL_ROWS..2 * PANEL_ROWS], "one panel alone");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn processors_with_and_without_avx512_compute_the_same() {
        let numbers = input(13);
        let Some(avx2) = Level::new().as_avx2() else { return };
        assert_eq!(product(Level::new(), 0..3, &numbers), product(Level::Avx2(avx2), 0..3, &numbers));
    }
}
