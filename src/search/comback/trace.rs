//! Counterexamples: the back-edges are the way.

use super::edges::Edges;
use super::tagged::{Successors, TAG, untag};
use crate::exec::{Check, Model};
use crate::search::trace::{Trace, replay};
use spill::{Disk, Error, Result, SavedLevels};

/// The counterexample that ends in `witness`, a state with its tag in front, where `check` fails. The
/// levels must be on disk as `levels` says.
pub fn counterexample(
    model: &dyn Model,
    disk: &dyn Disk,
    levels: &SavedLevels,
    check: Check,
    witness: &[u8],
) -> Result<Trace> {
    let damaged = |what: &str| Error::corrupt("levels", 0, what);
    let (tag, witness) = witness.split_at(TAG);
    let mut edges = Edges::of(levels);
    let mut way = Vec::new();
    let mut number = untag(tag).0;
    if number < edges.next() {
        for level in (0..=edges.level(number)).rev() {
            let index;
            (number, index) = edges.get(disk, levels, level, number)?;
            way.push(index);
        }
    }
    let (mut states, mut successors) = (Vec::<Vec<u8>>::new(), Successors::new(model));
    for index in way.into_iter().rev() {
        let _ = successors.take(states.last().map(Vec::as_slice))?;
        let state = successors.get(index);
        states.push(state.ok_or_else(|| damaged("a back-edge leads nowhere"))?.to_vec());
    }
    if states.last().is_some_and(|state| state != witness) {
        return Err(damaged("the back-edges of a state lead to another"));
    }
    replay(model, check, states).ok_or_else(|| damaged("the counterexample cannot be replayed"))
}
