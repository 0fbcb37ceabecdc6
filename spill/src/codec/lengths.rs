//! Word lengths of a prefix code of least total length with a limit on the length of a word.
//!
//! The method is package-merge (Larmore and Hirschberg, "A fast algorithm for optimal length-limited Huffman codes",
//! 1990). A word of length l is l coins, of denominations 1/2, 1/4, ... 2^-l, each with the weight of the symbol. The
//! optimal code is the cheapest set of coins whose denominations sum to n - 1. From the smallest denomination up,
//! coins are sorted and packed in pairs. The pairs join the coins of the next denomination. The first 2n - 2 items of
//! the largest denomination are the set. The length of a symbol's word is the number of these items that contain the
//! symbol.

/// The number of symbols of a code: the values of a byte.
pub(super) const SYMBOLS: usize = 256;

/// The maximum length of a word in bits. Longer words save nothing measurable, and the decoding table has 2^12
/// entries.
pub(super) const LENGTH_MAX: usize = 12;

/// A coin, or a package of them.
#[derive(Clone)]
struct CoinPackage {
    weight: u64,
    /// The number of occurrences of each symbol in it.
    symbols: [u8; SYMBOLS],
}

/// Returns the word lengths of an optimal code in which every byte has a word.
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

/// Returns the coin of a symbol. A byte that was never seen has a positive weight, less than that of any byte that was
/// seen.
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

/// Returns whether these are the lengths of a complete code: Kraft's sum is 1.
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

    /// Returns the total length of an unlimited Huffman code, by Huffman's algorithm.
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
        fn lengths_are_a_complete_code_and_optimal_below_the_limit(
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
