//! The choice of a key order by a sample of the states.
//!
//! The size of a sorted run of states depends on the order of its key, by a factor of two to five, like the size of a
//! decision diagram. So a sample of the states is taken. Local search tries a few dozen orders on a part of it, and the
//! best one is measured on the whole sample. A sample is not the state space. So an order that is fitted to the sample
//! must be much smaller to be preferred to the declared order.
//!
//! The result does not depend on time or chance: the same model gets the same order.

mod bits;
mod local_search;
mod packed_sample;
pub(super) mod sample;

use super::SearchControl;
use local_search::climb;
use packed_sample::{PackedSample, VaryingBits};
use sample::StateSample;
use spill::Result;
use spillway_model::{GroupId, KeyGroups, StateSpace};

/// The number of states of each part of the sample on which every order is tried. It is smaller for wide states, so
/// that trying takes about the same time for each model.
const TRIED_MAX: usize = 8000;

/// The least number of these states.
const TRIED_MIN: usize = 3000;

/// The work of trying one order: states times [`VaryingBits::work`].
const TRIED_WORK: usize = 400_000;

/// The number of orders tried.
const ROUNDS: usize = 64;

/// The greatest size of a given order, relative to the declared one, at which it is preferred.
const GIVEN_MAX: f64 = 0.8;

/// The same bound for an order that was fitted to the sample. On the sample such an order looks too good: one with less
/// than 0.7 on a sample of cambridge.6 (BEEM) took 1.7 times the bytes for all 3.4 million states.
const FITTED_MAX: f64 = 0.5;

/// An order that is better than the declared one, on a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct ImprovedOrder {
    /// The order.
    pub order: Vec<GroupId>,
    /// The size of the sample in this order, relative to the declared one.
    pub share: f64,
}

/// Returns an order that is clearly better than the declared one for the states of `model`: `given` or one derived from
/// it. `declared` has the declared order. Returns `None` if there is none, or if the model has no more states than the
/// sample. Returns an error if the model fails. The result is meaningless after a stop.
pub fn order_from_sample(
    model: &dyn StateSpace,
    declared: &KeyGroups,
    given: &[GroupId],
    control: &SearchControl,
) -> Result<Option<ImprovedOrder>> {
    if declared.order.len() < 2 {
        return Ok(None);
    }
    let Some(sample) = StateSample::take(model, control)? else { return Ok(None) };
    let parts = [sample.early.as_slice(), &sample.deep];
    let Some(varying) = VaryingBits::of(declared, &parts) else { return Ok(None) };
    let tried = (TRIED_WORK / varying.work()).clamp(TRIED_MIN, TRIED_MAX) * declared.width;
    let tried = parts.map(|states| &states[..states.len().min(tried)]);
    let fitted = fit(&OrderComparison::new(&varying, declared, tried), given, control);
    if control.should_stop() {
        return Ok(None);
    }
    let judge = OrderComparison::new(&varying, declared, parts);
    let candidates = [(given, GIVEN_MAX), (&fitted, FITTED_MAX)];
    let shares = candidates.map(|(order, max)| (order, judge.largest_share(order), max));
    let acceptable = shares.into_iter().filter(|(_, share, max)| share <= max);
    let best = acceptable.min_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
    Ok(best.map(|(order, share, _)| ImprovedOrder { order: order.to_vec(), share }))
}

/// Returns the best order near `given` or the declared one.
fn fit(judge: &OrderComparison, given: &[GroupId], control: &SearchControl) -> Vec<GroupId> {
    let better = judge.mean_share(given) < 1.0;
    let start = if better { given } else { judge.declared };
    climb(start.to_vec(), ROUNDS, || control.should_stop(), |order| judge.mean_share(order))
}

/// Compares orders with the declared one on the parts of a sample.
struct OrderComparison<'a> {
    declared: &'a [GroupId],
    /// Each nonempty part, and its bytes in the declared order.
    parts: Vec<(PackedSample<'a>, usize)>,
}

impl<'a> OrderComparison<'a> {
    fn new(
        varying: &'a VaryingBits,
        declared: &'a KeyGroups,
        parts: [&[u8]; 2],
    ) -> OrderComparison<'a> {
        let declared = declared.order.as_slice();
        let measure = |states: &&[u8]| {
            let packed = PackedSample::new(varying, declared, states);
            let bytes = packed.encoded(declared);
            (packed, bytes)
        };
        let parts = parts.iter().filter(|states| !states.is_empty()).map(measure).collect();
        OrderComparison { declared, parts }
    }

    fn shares(&self, order: &[GroupId]) -> impl Iterator<Item = f64> {
        self.parts.iter().map(|(part, declared)| part.encoded(order) as f64 / *declared as f64)
    }

    /// Returns the largest relative size of a part.
    fn largest_share(&self, order: &[GroupId]) -> f64 {
        self.shares(order).fold(0.0, f64::max)
    }

    /// Returns the product of the relative sizes, which orders like their geometric mean.
    fn mean_share(&self, order: &[GroupId]) -> f64 {
        self.shares(order).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_base::source::SourceMap;
    use spillway_exec::Interp;
    use spillway_lang::{Options, dve};

    /// A ring of processes that count. Their states differ in the variables declared first.
    fn interp(bound: u32) -> Interp {
        let mut text = String::from("int fast[4];\nbyte slow;\n");
        for process in 0..4 {
            text += &format!(
                "process P{process} {{ byte turn; state a, b; init a; trans
                   a -> b {{ guard fast[{process}] < {bound}; effect fast[{process}] =
                     fast[{process}] + 1, turn = slow; }},
                   b -> a {{ guard slow < 3; effect slow = slow + 1; }},
                   b -> a {{ effect turn = 0; }}; }}\n"
            );
        }
        text += "system async;\n";
        let mut sources = SourceMap::default();
        sources.add("ring.dve", text);
        let loaded = dve::LANGUAGE.load(&mut sources, &Options::default()).unwrap();
        Interp::new(loaded.program).unwrap()
    }

    #[test]
    fn a_small_space_needs_no_order() {
        let model = interp(1);
        let layout = model.layout();
        let groups = layout.key_groups();
        assert_eq!(
            order_from_sample(&model, &groups, &layout.order, &SearchControl::default()).unwrap(),
            None
        );
    }

    #[test]
    fn the_order_is_deterministic_and_valid() {
        let model = interp(30);
        let layout = model.layout();
        let groups = layout.key_groups();
        let first =
            order_from_sample(&model, &groups, &layout.order, &SearchControl::default()).unwrap();
        assert_eq!(
            first,
            order_from_sample(&model, &groups, &layout.order, &SearchControl::default()).unwrap()
        );
        let order = first.map_or(layout.order.clone(), |better| better.order);
        assert!(layout.clone().reordered(&order).is_ok());
    }

    #[test]
    fn packed_states_have_the_measured_size_of_a_new_layout() {
        let model = interp(30);
        let sample = StateSample::take(&model, &SearchControl::default()).unwrap().unwrap();
        let varying = VaryingBits::of(&model.layout().key_groups(), &[&sample.early]).unwrap();
        let packed = PackedSample::new(&varying, &model.layout().order, &sample.early);
        let reversed: Vec<GroupId> = model.layout().order.iter().rev().copied().collect();
        for order in [&model.layout().order, &reversed] {
            let layout = model.layout().clone().reordered(order).unwrap();
            let mut states = Vec::new();
            for state in sample.early.chunks(layout.bytes) {
                let mut moved = vec![0; layout.bytes];
                for cell in layout.cells.keys() {
                    layout.set(&mut moved, cell, model.layout().get(state, cell));
                }
                states.extend(moved);
            }
            spill::sort_dedup(layout.bytes, &mut states, &mut Vec::new());
            let exact = packed_sample::encoded(layout.bytes, &states) as f64;
            let measured = packed.encoded(order) as f64;
            // Constant bits are 0 in the measured states.
            assert!((measured / exact - 1.0).abs() < 0.01, "{measured} for {exact}");
        }
    }
}
