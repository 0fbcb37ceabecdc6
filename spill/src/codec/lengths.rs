//! Lengths of the words of a prefix code: the least total, no word longer than a limit.
//!
//! Package-merge (Larmore and Hirschberg, "A fast algorithm for optimal length-limited Huffman
//! codes", 1990): a word of length l is l coins, of denominations 1/2, 1/4, ... 2^-l, each worth the
//! symbol's weight, and the code is the cheapest set of coins whose denominations sum to n - 1. From
//! the smallest denomination up, coins are sorted and packed in pairs, which join the coins of the
//! next. The first 2n - 2 items of the largest are the set; each time a symbol is in one of them,
//! its word is one longer.

/// Symbols of a code: the values of a byte.
pub(super) const SYMBOLS: usize = 256;

/// The longest word in bits. Longer ones save nothing that can be measured, and the table to decode
/// by has 2^12 entries.
pub(super) const LENGTH_MAX: usize = 12;

/// A coin, or a package of them.
#[derive(Clone)]
struct CoinPackage {
    weight: u64,
    /// How often each symbol is in it.
    symbols: [u8; SYMBOLS],
}

/// The lengths of the words of an optimal code in which every byte has a word.
pub(super) fn lengths(counts: &[u64; SYMBOLS]) -> [u8; SYMBOLS] {
    let mut coins: Vec<CoinPackage> = (0..SYMBOLS).map(|symbol| coin(counts, symbol)).collect();
    coins.sort_by_key(|coin| coin.weight);
    let mut items = coins.clone();
    for _ in 1..LENGTH_MAX {
        let packages: Vec<CoinPackage> = items.chunks_exact(2).map(package).collect();
        items = coins.iter().cloned().chain(packages).collect();
        items.sort_by_key(|item| item.weight);
    }
    let mut lengths = [0; SYMBOLS];
    for item in &items[..2 * SYMBOLS - 2] {
        add(&mut lengths, &item.symbols);
    }
    lengths
}

/// A byte that was never seen weighs less than any that was, but something.
fn coin(counts: &[u64; SYMBOLS], symbol: usize) -> CoinPackage {
    let mut symbols = [0; SYMBOLS];
    symbols[symbol] = 1;
    CoinPackage { weight: counts[symbol].saturating_mul(SYMBOLS as u64).min(1 << 48) + 1, symbols }
}

fn package(pair: &[CoinPackage]) -> CoinPackage {
    let mut symbols = pair[0].symbols;
    add(&mut symbols, &pair[1].symbols);
    CoinPackage { weight: pair[0].weight + pair[1].weight, symbols }
}

fn add(sums: &mut [u8; SYMBOLS], other: &[u8; SYMBOLS]) {
    sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}

/// Whether these are the lengths of a code that wastes nothing: Kraft's sum is 1.
pub(super) fn are_complete(lengths: &[u8]) -> bool {
    let possible = |length: &u8| (1..=LENGTH_MAX).contains(&usize::from(*length));
    lengths.len() == SYMBOLS
        && lengths.iter().all(possible)
        && lengths.iter().map(|&length| 1 << (LENGTH_MAX - usize::from(length))).sum::<u64>()
            == 1 << LENGTH_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The total of an unlimited Huffman code, the old way.
    fn huffman_total(counts: &[u64; SYMBOLS]) -> u64 {
        let mut weights: Vec<u64> =
            (0..SYMBOLS).map(|symbol| coin(counts, symbol).weight).collect();
        let mut total = 0;
        while weights.len() > 1 {
            weights.sort_unstable_by(|one, other| other.cmp(one));
            let pair = weights.pop().unwrap() + weights.pop().unwrap();
            total += pair;
            weights.push(pair);
        }
        total
    }

    proptest! {
        #[test]
        fn lengths_make_a_complete_code_that_is_optimal_if_the_limit_does_not_bind(
            counts in prop::collection::vec(prop_oneof![Just(0u64), 0u64..40, 0u64..1_000_000], SYMBOLS),
        ) {
            let counts: [u64; SYMBOLS] = counts.try_into().unwrap();
            let lengths = lengths(&counts);
            prop_assert!(are_complete(&lengths));
            let total: u64 =
                (0..SYMBOLS).map(|at| coin(&counts, at).weight * u64::from(lengths[at])).sum();
            let least = huffman_total(&counts);
            prop_assert!(total >= least);
            if lengths.iter().all(|&length| usize::from(length) < LENGTH_MAX) {
                prop_assert_eq!(total, least);
            }
        }
    }

    #[test]
    fn a_frequent_byte_has_a_short_word() {
        let mut counts = [0; SYMBOLS];
        counts[7] = 1000;
        assert_eq!(lengths(&counts)[7], 1);
        assert_eq!(lengths(&[1; SYMBOLS]), [8; SYMBOLS]);
    }
}
