//! The growth of an encoding by the unencoded states of a level, which then become candidates.

use super::{ExpansionWorker, UnencodedLevel};
use spill::Result;
use spillway_model::{GrowingStateSpace, StateSpace, UnencodedStates};

/// The bytes of the batches in which encoded states become candidates.
const BATCH_BYTES: usize = 32 << 10;

/// Unencoded states without the back-edges that follow them.
struct StatesWithoutEdges<'s> {
    states: &'s dyn UnencodedStates,
    /// The bytes of a back-edge, or 0 if there are none.
    edge_bytes: usize,
}

impl UnencodedStates for StatesWithoutEdges<'_> {
    fn visit(
        &self,
        each: &mut dyn FnMut(&[u8]) -> spillway_model::Result<()>,
    ) -> spillway_model::Result<()> {
        self.states.visit(&mut |it| each(&it[..it.len() - self.edge_bytes]))
    }
}

/// The level whose unencoded states get their bytes.
pub struct LateEncoding<'m> {
    /// The searched system.
    pub model: &'m dyn StateSpace,
    /// Its encoding.
    pub growing: &'m dyn GrowingStateSpace,
    /// The number of the level.
    pub level: u32,
    /// The bytes of the back-edge that follows each state, 0 if there are none.
    pub edge_bytes: usize,
}

impl LateEncoding<'_> {
    /// Extends the encoding by what the states need. The states become candidates of the worker, which are passed to
    /// `note` first. Returns the bytes to append to the journal.
    ///
    /// # Errors
    ///
    /// The encoding cannot hold the states, they cannot be read, or candidates cannot be written.
    pub fn encode(
        &self,
        states: UnencodedLevel<'_>,
        worker: &mut ExpansionWorker,
        note: &mut dyn FnMut(&[u8]),
    ) -> Result<Vec<u8>> {
        let LateEncoding { model, growing, level, edge_bytes } = *self;
        let mut encode = || {
            let journal = growing.grow(&StatesWithoutEdges { states: &states, edge_bytes })?;
            let (mut state, mut batch) = (vec![0; model.width()], Vec::new());
            let mut kept = Ok(());
            states.visit(&mut |it| {
                let (it, edge) = it.split_at(it.len() - edge_bytes);
                growing.encode(it, &mut state)?;
                batch.extend_from_slice(&state);
                batch.extend_from_slice(edge);
                if batch.len() >= BATCH_BYTES && kept.is_ok() {
                    note(&batch);
                    kept = worker.take(level, &mut batch);
                }
                Ok(())
            })?;
            note(&batch);
            Ok((journal, kept.and_then(|()| worker.take_last(level, &mut batch))))
        };
        let encoded = encode();
        let (journal, taken) = states.or_error(encoded)?;
        taken.map(|()| journal)
    }
}
