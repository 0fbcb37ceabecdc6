//! States with their sleep sets: the searched system of a model that is a [`SleepSetStateSpace`].
//!
//! A state is stored with its value behind it. Equal candidates of a level are combined by intersection. Later
//! candidates of a known state are dropped. So the sleep sets of a level are a function of the level before.

use spill::values::AndOperator;
use spill::{Codec, ValueSpec, WIDTH_MAX};
use spillway_model::{
    CandidateBatch, Capabilities, SleepSetStateSpace, StateSpace, SuccessorSink, SystemDescription,
    any_bits,
};

/// Bytes of initial states in memory at a time.
const STARTS_BYTES: usize = 32 << 10;

/// A transition system whose states carry values.
pub(super) struct SleepSetModel<'a> {
    model: &'a dyn StateSpace,
    sleeps: &'a dyn SleepSetStateSpace,
}

impl<'a> SleepSetModel<'a> {
    /// Returns the searched system for a codec, if the model has sleep sets and the codec allows values: Huffman codes
    /// are trained on states alone.
    pub(super) fn of(model: &'a dyn StateSpace, codec: &Codec) -> Option<SleepSetModel<'a>> {
        let sleeps =
            model.capabilities().sleep_sets.filter(|_| !matches!(codec, Codec::Huffman(_)))?;
        let fits = model.width() + sleeps.value_bytes() <= WIDTH_MAX;
        fits.then_some(SleepSetModel { model, sleeps })
    }

    /// Returns the kind of the values.
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

    /// The sleep sets of initial states are empty.
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
