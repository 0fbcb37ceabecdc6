//! State spaces behind a reference, a box or an `Arc`.

use super::{Capabilities, StateSpace, SuccessorSink, SystemDescription};
use std::sync::Arc;

macro_rules! forward {
    ($($holder:ty),*) => {$(
        impl<M: StateSpace + ?Sized> StateSpace for $holder {
            fn width(&self) -> usize {
                (**self).width()
            }

            fn bits(&self) -> u32 {
                (**self).bits()
            }

            fn initial(&self, out: &mut SuccessorSink) {
                (**self).initial(out);
            }

            fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
                (**self).expand(states, out);
            }

            fn write_masks(&self) -> Vec<Vec<u8>> {
                (**self).write_masks()
            }

            fn digest(&self) -> [u8; 32] {
                (**self).digest()
            }

            fn description(&self) -> &dyn SystemDescription {
                (**self).description()
            }

            fn capabilities(&self) -> Capabilities<'_> {
                (**self).capabilities()
            }
        }
    )*};
}

forward!(&M, Box<M>, Arc<M>);
