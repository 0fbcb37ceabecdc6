//! Local search over orders.

use spillway_model::GroupId;

/// The most adjacent groups that are moved together.
const TOGETHER_MAX: u64 = 4;

/// Changes `order` in up to `rounds` rounds, until `should_stop`, and keeps the changes that do not increase `cost`.
pub(super) fn climb(
    mut order: Vec<GroupId>,
    rounds: usize,
    should_stop: impl Fn() -> bool,
    mut cost: impl FnMut(&[GroupId]) -> f64,
) -> Vec<GroupId> {
    let mut least = cost(&order);
    let mut random = OrderRandom(7);
    for _ in (0..rounds).take_while(|_| !should_stop()) {
        let mut changed = order.clone();
        random.change(&mut changed);
        if changed == order {
            continue;
        }
        let new = cost(&changed);
        if new <= least {
            (order, least) = (changed, new);
        }
    }
    order
}

/// A linear congruential generator (Knuth's MMIX), so that the same model gets the same order.
struct OrderRandom(u64);

impl OrderRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Moves a few adjacent groups, or swaps two groups.
    fn change(&mut self, order: &mut Vec<GroupId>) {
        let (at, count) = (self.below(order.len()), order.len());
        if self.below(3) == 0 {
            let other = self.below(count);
            return order.swap(at, other);
        }
        let together = 1 + self.below((count - at).min(TOGETHER_MAX as usize));
        let moved: Vec<GroupId> = order.drain(at..at + together).collect();
        let to = self.below(order.len() + 1);
        order.splice(to..to, moved);
    }
}
