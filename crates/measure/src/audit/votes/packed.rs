//! Lists of yes and no, looked at eight at a time: a resample of a big table is then counted in a tenth of a millisecond.

/// Several lists of one length. Eight of them share a list of bytes, a bit each.
pub(super) struct Packed {
    groups: Vec<Vec<u8>>,
    columns: usize,
}

const BITS: usize = 8;
const BYTES: usize = 256;

impl Packed {
    pub(super) fn of(columns: &[&[bool]]) -> Self {
        let group = |columns: &[&[bool]]| {
            let mut bytes = vec![0_u8; columns.first().map_or(0, |column| column.len())];
            for (bit, column) in columns.iter().enumerate() {
                bytes.iter_mut().zip(*column).for_each(|(byte, yes)| *byte |= u8::from(*yes) << bit);
            }
            bytes
        };
        Self { groups: columns.chunks(BITS).map(group).collect(), columns: columns.len() }
    }

    /// How many yes each list has, when every place counts as often as told.
    pub(super) fn sums(&self, counts: &[u32]) -> Vec<u32> {
        let of_group = |group: &Vec<u8>| {
            let mut seen = [0_u32; BYTES];
            for (byte, count) in group.iter().zip(counts) {
                if let Some(seen) = seen.get_mut(usize::from(*byte)) {
                    *seen += count;
                }
            }
            let of_bit = move |bit: usize| {
                (0_usize..).zip(seen).filter(|(byte, _)| has(*byte, bit)).map(|(_, n)| n).sum()
            };
            (0..BITS).map(of_bit).collect::<Vec<u32>>()
        };
        let mut sums: Vec<u32> = self.groups.iter().flat_map(of_group).collect();
        sums.truncate(self.columns);
        sums
    }

    /// The sum, over all places, of the square of what the yes there weigh together. Lists beyond the weights weigh nothing.
    pub(super) fn squares(&self, weights: &[f64], counts: &[u32]) -> f64 {
        let mut sums = vec![0.0; counts.len()];
        for (group, weights) in self.groups.iter().zip(weights.chunks(BITS)) {
            let of_byte: [f64; BYTES] = std::array::from_fn(|byte| {
                weights.iter().enumerate().filter(|(bit, _)| has(byte, *bit)).map(|(_, weight)| weight).sum()
            });
            for (sum, byte) in sums.iter_mut().zip(group) {
                *sum += of_byte.get(usize::from(*byte)).copied().unwrap_or_default();
            }
        }
        sums.iter().zip(counts).map(|(sum, count)| sum * sum * f64::from(*count)).sum()
    }
}

fn has(byte: usize, bit: usize) -> bool {
    byte >> bit & 1 == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_lists_are_counted_like_lists(
            lists in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 9), 0..20),
            counts in proptest::collection::vec(0_u32..4, 9),
            weights in proptest::collection::vec(-2.0..2.0_f64, 0..20)
        ) {
            let packed = Packed::of(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let count = |list: &Vec<bool>| list.iter().zip(&counts).map(|(yes, n)| u32::from(*yes) * n).sum::<u32>();
            prop_assert_eq!(packed.sums(&counts), lists.iter().map(count).collect::<Vec<_>>());
            let weights = &weights[..weights.len().min(lists.len())];
            let at = |place: usize| lists.iter().zip(weights).filter(|(list, _)| list[place]).map(|(_, w)| w).sum::<f64>();
            let slow: f64 = (0..9).map(|place| at(place).powi(2) * f64::from(counts[place])).sum();
            prop_assert!((packed.squares(weights, &counts) - slow).abs() < 1e-9);
        }
    }
}
