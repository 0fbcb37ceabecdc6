//! States that carry which of their steps are asleep: what a model that [`Sleeps`] is searched as.
//!
//! A state is kept with its value behind it. The candidates of a level that are the same state are joined to what
//! all agree on; of a state that is known nothing more is heard. So what is asleep in the states of a level is a
//! function of the level before.

use crate::exec::{Expansion, Explain, Lift, Model, Postpones, Sleeps, any_bits};
use spill::values::And;
use spill::{Codec, Values, WIDTH_MAX};

/// Bytes of initial states that are in memory at a time.
const STARTS_BYTES: usize = 32 << 10;

/// A model whose states carry values.
pub(super) struct Awake<'a> {
    model: &'a dyn Model,
    sleeps: &'a dyn Sleeps,
}

impl<'a> Awake<'a> {
    /// The model as it is searched where states are keys that a codec writes, if steps of it can be asleep and there
    /// is room for values: codes of bytes are trained on states alone.
    pub(super) fn of(model: &'a dyn Model, codec: &Codec) -> Option<Awake<'a>> {
        let sleeps = model.sleeps().filter(|_| !matches!(codec, Codec::Huffman(_)))?;
        let fits = model.width() + sleeps.value_bytes() <= WIDTH_MAX;
        fits.then_some(Awake { model, sleeps })
    }

    /// What lies behind states.
    pub(super) fn values(&self) -> Values {
        Values::new(self.sleeps.value_bytes(), And)
    }
}

impl Model for Awake<'_> {
    fn width(&self) -> usize {
        self.model.width() + self.sleeps.value_bytes()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// Nothing is asleep at the start.
    fn initial(&self, out: &mut Expansion) {
        let width = self.model.width();
        let (mut states, mut pair) = (Vec::new(), Vec::new());
        let mut pass_on = |states: &mut Vec<u8>, out: &mut Expansion| {
            for state in states.chunks_exact(width) {
                pair.clear();
                pair.extend_from_slice(state);
                pair.resize(self.width(), 0);
                out.candidate(&pair);
            }
            states.clear();
        };
        let (limit, run) = (STARTS_BYTES.max(width), |out: &mut Expansion| self.model.initial(out));
        let Some(collected) = out.wrap_in_batches(width, &mut states, limit, &mut pass_on, run)
        else {
            return;
        };
        pass_on(&mut states, out);
        out.add_findings(collected.findings);
    }

    fn expand(&self, pairs: &[u8], out: &mut Expansion) {
        self.sleeps.expand_awake(pairs, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        None
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        None
    }
}
