//! Finds a short list of numbers with a given property of a longer list. The meaning of the numbers does not matter.
//!
//! Pieces are removed, large ones first. Then numbers are replaced by smaller ones. Both repeat until the list does not
//! change or the number of tries is exhausted.

/// The maximum number of tries.
const TRIES_MAX: usize = 300;

/// Returns the simplest list found for which `has_property` holds. It holds for `numbers`.
pub fn shrink(numbers: &[u16], mut has_property: impl FnMut(&[u16]) -> bool) -> Vec<u16> {
    let (mut best, mut tries) = (numbers.to_vec(), 0);
    let mut holds = |list: &[u16]| {
        tries += 1;
        (tries <= TRIES_MAX).then(|| has_property(list))
    };
    loop {
        let before = best.clone();
        let Some(()) = cut(&mut best, &mut holds) else { return best };
        let Some(()) = lower(&mut best, &mut holds) else { return best };
        if best == before {
            return best;
        }
    }
}

type Holds<'a> = &'a mut dyn FnMut(&[u16]) -> Option<bool>;

fn cut(best: &mut Vec<u16>, holds: Holds) -> Option<()> {
    // Numbers after the end of a list count as zeros, so most of a long list may be unused.
    let mut length = best.len();
    while length > 0 {
        let prefix = &best[..best.len() - length.min(best.len())];
        if holds(prefix)? {
            *best = prefix.to_vec();
        } else {
            length /= 2;
        }
    }
    let mut size = best.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at + size <= best.len() {
            let mut shorter = best.clone();
            shorter.drain(at..at + size);
            match holds(&shorter)? {
                true => *best = shorter,
                false => at += size,
            }
        }
        size /= 2;
    }
    Some(())
}

fn lower(best: &mut Vec<u16>, holds: Holds) -> Option<()> {
    for at in 0..best.len() {
        for lesser in [0, best[at] / 2] {
            if lesser < best[at] {
                let mut simpler = best.clone();
                simpler[at] = lesser;
                if holds(&simpler)? {
                    *best = simpler;
                }
            }
        }
    }
    Some(())
}
