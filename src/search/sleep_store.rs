//! States that carry which of their steps are asleep: what a model that [`SleepSetStateSpace`] is searched as.
//!
//! A state is kept with its value behind it. The candidates of a level that are the same state are joined to what
//! all agree on; of a state that is known nothing more is heard. So what is asleep in the states of a level is a
//! function of the level before.

use crate::model::{
    CandidateBatch, Capabilities, SleepSetStateSpace, StateSpace, SuccessorSink, SystemDescription,
    any_bits,
};
use spill::values::AndOperator;
use spill::{Codec, ValueSpec, WIDTH_MAX};

/// Bytes of initial states that are in memory at a time.
const STARTS_BYTES: usize = 32 << 10;

/// A model whose states carry values.
pub(super) struct SleepSetModel<'a> {
    model: &'a dyn StateSpace,
    sleeps: &'a dyn SleepSetStateSpace,
}

impl<'a> SleepSetModel<'a> {
    /// The model as it is searched where states are keys that a codec writes, if steps of it can be asleep and there
    /// is room for values: codes of bytes are trained on states alone.
    pub(super) fn of(model: &'a dyn StateSpace, codec: &Codec) -> Option<SleepSetModel<'a>> {
        let sleeps =
            model.capabilities().sleep_sets.filter(|_| !matches!(codec, Codec::Huffman(_)))?;
        let fits = model.width() + sleeps.value_bytes() <= WIDTH_MAX;
        fits.then_some(SleepSetModel { model, sleeps })
    }

    /// What lies behind states.
    pub(super) fn values(&self) -> ValueSpec {
        ValueSpec::new(self.sleeps.value_bytes(), AndOperator)
    }
}

impl StateSpace for SleepSetModel<'_> {
    fn width(&self) -> usize {
        self.model.width() + self.sleeps.value_bytes()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// Nothing is asleep at the start.
    fn initial(&self, out: &mut SuccessorSink) {
        let width = self.model.width();
        let (mut states, mut pair) = (Vec::new(), Vec::new());
        let mut pass_on = |states: &mut Vec<u8>, out: &mut SuccessorSink| {
            for state in states.chunks_exact(width) {
                pair.clear();
                pair.extend_from_slice(state);
                pair.resize(self.width(), 0);
                out.candidate(&pair);
            }
            states.clear();
        };
        let (limit, run) =
            (STARTS_BYTES.max(width), |out: &mut SuccessorSink| self.model.initial(out));
        let batch = CandidateBatch { width, buffer: &mut states, limit };
        let Some(collected) = out.wrap_in_batches(batch, &mut pass_on, run) else {
            return;
        };
        pass_on(&mut states, out);
        out.add_findings(collected.findings);
    }

    fn expand(&self, pairs: &[u8], out: &mut SuccessorSink) {
        self.sleeps.expand_awake(pairs, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}
