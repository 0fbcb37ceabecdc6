//! States that carry their number, and successors that say where they come from.
//!
//! A *tag* is a number of 40 bits and an index of 24, big-endian: of a state to be expanded its own
//! number and zero, in front of the state; of a successor its parent's number and which of the
//! parent's successors it is, behind the state. So a sorted level ascends by number, and sorted
//! candidates have equal states side by side, the first of them with the least tag.

use crate::exec::{Check, Expansion, Model, PropertyInfo, Step};

/// Bytes of a tag.
pub const TAG: usize = 8;

/// Bits of an index.
const INDEX_BITS: u32 = 24;

/// The tag of a number and an index.
pub(super) fn tag(number: u64, index: u64) -> [u8; TAG] {
    assert!(number < 1 << (64 - INDEX_BITS) && index < 1 << INDEX_BITS, "a tag has 40 and 24 bits");
    (number << INDEX_BITS | index).to_be_bytes()
}

/// The number and the index of a tag.
pub(super) fn untag(tag: &[u8]) -> (u64, u64) {
    let tag = tag.iter().fold(0, |tag: u64, &byte| tag << 8 | u64::from(byte));
    (tag >> INDEX_BITS, tag % (1 << INDEX_BITS))
}

/// A model whose states carry tags.
pub(in crate::search) struct Tagged<'a> {
    pub(in crate::search) model: &'a dyn Model,
}

/// Replaces `buffer` by the successors of a state, or the initial states if there is none, as the
/// model gives them. What is wrong, and with which state, is told to `found`.
pub(super) fn successors(
    model: &dyn Model,
    state: Option<&[u8]>,
    buffer: &mut Vec<u8>,
    found: &mut dyn FnMut(Check, &[u8]),
) {
    buffer.clear();
    let mut never = |_: &mut Vec<u8>| Ok(());
    let mut expansion = Expansion::new(model.width(), buffer, usize::MAX, &mut never);
    match state {
        Some(state) => model.expand(state, &mut expansion),
        None => model.initial(&mut expansion),
    }
    for (check, finding) in expansion.findings.iter() {
        (0..finding.count).for_each(|_| found(check, &finding.witness));
    }
}

impl Tagged<'_> {
    fn add(&self, number: u64, states: &[u8], key: &mut Vec<u8>, out: &mut Expansion) {
        for (index, state) in states.chunks_exact(self.model.width()).enumerate() {
            key.clear();
            key.extend_from_slice(state);
            key.extend_from_slice(&tag(number, index as u64));
            out.candidate(key);
        }
    }
}

impl Model for Tagged<'_> {
    fn width(&self) -> usize {
        self.model.width() + TAG
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        let (mut buffer, mut key) = (Vec::new(), Vec::new());
        // What is wrong before there is a state has no number.
        let mut found = |check, witness: &[u8]| {
            out.finding(check, &[&tag(0, 0), witness].concat());
        };
        successors(self.model, None, &mut buffer, &mut found);
        self.add(0, &buffer, &mut key, out);
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        let (mut buffer, mut key) = (Vec::new(), Vec::new());
        for tagged in states.chunks_exact(self.width()) {
            let (tag, state) = tagged.split_at(TAG);
            let mut found = |check, _: &[u8]| out.finding(check, tagged);
            successors(self.model, Some(state), &mut buffer, &mut found);
            self.add(untag(tag).0, &buffer, &mut key, out);
        }
    }

    fn steps(&self, state: &[u8]) -> Vec<Step> {
        self.model.steps(&state[TAG..])
    }

    fn starts(&self) -> Vec<Step> {
        self.model.starts()
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.model.properties()
    }

    fn action_name(&self, action: u32) -> String {
        self.model.action_name(action)
    }

    fn violations(&self, state: &[u8]) -> Vec<Check> {
        self.model.violations(&state[TAG..])
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, String)> {
        self.model.describe(&state[TAG..])
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }
}
