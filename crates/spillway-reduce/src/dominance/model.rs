//! The transition system whose states end with numbers. States with smaller numbers dominate.

use super::NAME;
use spillway_analysis::monotonicity::DominanceSense;
use spillway_ir::Layout;
use spillway_ir::layout::{CellId, StateValidator};
use spillway_model::{
    Capabilities, Dominance, ExpansionOutcome, StateSpace, StepwiseSimulation, SuccessorSink,
    SystemDescription, any_bits, stop_request,
};
use std::sync::Arc;

/// A transition system with the states of another one, in which some cells are cleared and appended as numbers: their
/// codes, or the distances of these from the greatest code.
///
/// An undefined cell is not cleared, and its number is 0. So such states are compared only with each other.
pub(super) struct DominanceModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    layout: &'m Layout,
    /// Distinguishes encoded states from other bytes.
    codes: StateValidator,
    numbers: Vec<DominanceField>,
    dominance: Dominance,
    cells: Arc<[(CellId, DominanceSense)]>,
}

/// A cell, and the number that replaces it.
struct DominanceField {
    cell: CellId,
    /// Whether smaller or greater codes dominate.
    sense: DominanceSense,
    /// The code of the cleared cell.
    cleared: u32,
    /// The greatest code that fits.
    greatest: u32,
    bytes: usize,
}

impl DominanceField {
    fn of(layout: &Layout, cell: CellId, sense: DominanceSense) -> DominanceField {
        let about = &layout.cells[cell];
        let greatest = ((1u64 << about.bits) - 1) as u32;
        let bytes = about.bits.div_ceil(8) as usize;
        DominanceField { cell, sense, cleared: about.undefined.into(), greatest, bytes }
    }

    /// Converts a code to a number, or a number to a code.
    fn turned(&self, code: u32) -> u32 {
        match self.sense {
            DominanceSense::Down => code,
            DominanceSense::Up => self.greatest - code,
        }
    }
}

impl<'m> DominanceModel<'m> {
    pub(super) fn new(
        model: Box<dyn StateSpace + 'm>,
        layout: &'m Layout,
        cells: Arc<[(CellId, DominanceSense)]>,
    ) -> Self {
        let numbers: Vec<DominanceField> =
            cells.iter().map(|&(cell, sense)| DominanceField::of(layout, cell, sense)).collect();
        let dominance = numbers.iter().map(|it| it.bytes as u8).collect::<Vec<_>>();
        let dominance = Dominance::new(&dominance);
        DominanceModel { model, layout, codes: layout.codes(), numbers, dominance, cells }
    }

    /// Replaces `own` by the state of this system for a state of the base system.
    fn pack(&self, below: &[u8], own: &mut Vec<u8>) {
        let width = self.model.width();
        own.clear();
        own.extend_from_slice(below);
        for number in &self.numbers {
            let code = self.layout.code(&own[..width], number.cell);
            let is_undefined = code < number.cleared;
            let turned = if is_undefined { 0 } else { number.turned(code) };
            if !is_undefined {
                self.layout.set_code(&mut own[..width], number.cell, number.cleared);
            }
            own.extend_from_slice(&turned.to_be_bytes()[4 - number.bytes..]);
        }
    }

    /// Replaces `below` by the state of the base system for a state of this system.
    fn unpack(&self, own: &[u8], below: &mut Vec<u8>) {
        let (state, mut rest) = own.split_at(self.model.width());
        below.clear();
        below.extend_from_slice(state);
        for number in &self.numbers {
            let (turned, others) = rest.split_at(number.bytes);
            rest = others;
            if self.layout.code(below, number.cell) < number.cleared {
                continue;
            }
            let turned = turned.iter().fold(0, |all: u32, &byte| all << 8 | u32::from(byte));
            // Damaged bytes may have any value.
            let code = number.turned(turned.min(number.greatest));
            self.layout.set_code(below, number.cell, code);
        }
    }

    /// Passes on the additions of `run` to an expansion, with candidates as states of this system. Findings are
    /// recorded at `own`, or at the converted state if `own` is `None`.
    fn with_mapped_candidates(
        &self,
        own: Option<&[u8]>,
        out: &mut SuccessorSink,
        run: impl FnOnce(&mut SuccessorSink),
    ) {
        let width = self.model.width();
        let (mut successors, mut key) = (Vec::new(), Vec::new());
        let Some(collected) = out.wrap(width, &mut successors, run) else { return };
        for successor in successors.chunks_exact(width) {
            self.pack(successor, &mut key);
            out.candidate(&key);
        }
        let ExpansionOutcome { counters, findings, .. } = collected;
        out.add_counters(counters);
        for (check, finding) in findings.iter() {
            let witness = match own {
                Some(own) => own,
                None => {
                    self.pack(&finding.witness, &mut key);
                    &key
                }
            };
            (0..finding.count).for_each(|_| out.record_finding(check, witness));
        }
    }
}

impl StateSpace for DominanceModel<'_> {
    fn width(&self) -> usize {
        self.model.width() + self.dominance.bytes()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.with_mapped_candidates(None, out, |inner| self.model.initial(inner));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        let mut below = Vec::new();
        for own in states.chunks_exact(self.width()) {
            if stop_request::is_requested() {
                return;
            }
            self.unpack(own, &mut below);
            self.with_mapped_candidates(Some(own), out, |inner| self.model.expand(&below, inner));
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
        for (cell, sense) in self.cells.iter() {
            hasher.update(&cell.0.to_le_bytes()).update(sense.name().as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            // Dominance is not used with postponed transitions.
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: Some(self.dominance.clone()),
            growing: None,
            views: None,
        }
    }
}

impl StepwiseSimulation for DominanceModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.model
    }

    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        let bytes = self.layout.bytes;
        let mut packed = Vec::new();
        let is_state = below.len() == self.model.width() && self.codes.is_state(&below[..bytes]);
        is_state && {
            self.pack(below, &mut packed);
            packed == own
        }
    }
}
