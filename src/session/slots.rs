//! The number of slots for processes that are started in loops or by recursion.
//!
//! A language may set no bound on their number, or a high one, and unused slots make states wide. So a short probe
//! counts the instances that exist at the same time, and the search gets slots for these. If it needs one more, it
//! ends with [`OutOfSlots`] and restarts with more slots.

use super::{Error, TextModel};
use crate::exec::Interp;
use crate::front::{Language, Options};
use crate::ir::{Entity, ProcessId, ProcessInstance};
use crate::model::OutOfSlots;
use crate::search::SearchControl;
use crate::source::SourceMap;
use std::collections::{HashSet, VecDeque};

/// The maximum number of slots of a process.
const SLOTS_MAX: u32 = 255;

/// The minimum number of slots of a restarted search. A restart quadruples the slots, so that restarts are rare.
const SLOTS_AGAIN: u32 = 16;

/// The maximum number of states near the initial states that the probe visits.
const STATES: usize = 1500;

/// The maximum number of their successors.
const SUCCESSORS: usize = 10_000;

/// The maximum number of states of each walk from an initial state.
const WALK: usize = 2000;

/// The maximum bytes of states in each of these.
const BYTES: usize = 16 << 20;

/// Numbers of slots by process name.
pub type SlotCounts = Vec<(String, u32)>;

impl TextModel {
    /// Reads the model with the maximum number of slots for which its states have space.
    pub fn with_most_slots(
        language: &'static Language,
        sources: &SourceMap,
        options: &Options,
    ) -> Result<(TextModel, Vec<String>), Error> {
        let (model, warnings) = TextModel::load(language, sources.clone(), options.clone())?;
        let mut slots = SLOTS_MAX;
        while model.interp.program().slots_can_grow && slots > SLOTS_AGAIN {
            let processes = model.interp.program().processes.values();
            let room = processes.map(|it| (it.name.clone(), slots)).collect();
            let options = Options { slots_by_process: room, ..options.clone() };
            // Too wide states are rejected.
            if let Ok(wide) = TextModel::load(language, sources.clone(), options) {
                return Ok(wide);
            }
            slots /= 2;
        }
        Ok((model, warnings))
    }

    /// Returns the numbers of slots in use in a short probe of a model. The probe ends early if `control` stops it.
    pub fn slots_taken(&self, control: &SearchControl) -> SlotCounts {
        let _heeding = control.heed();
        let program = self.interp.program();
        let mut look =
            SlotProbe { model: &self.interp, control, most: vec![0; program.processes.len()] };
        look.explore_start();
        look.walk(&|instances: &mut Vec<ProcessInstance>| instances.reverse());
        look.walk(&|_| {});
        let named = program.processes.values().map(|it| it.name.clone());
        named.zip(look.most).collect()
    }

    /// Returns more slots for a process that lacked one, as far as states have space.
    pub fn more_slots(&self, process: ProcessId) -> Result<SlotCounts, Error> {
        let program = self.interp.program();
        let slots = program.slots(process);
        let wished = slots.saturating_mul(4).clamp(SLOTS_AGAIN, SLOTS_MAX);
        if wished <= slots {
            return Err(Error::Unreadable(format!("there can be no more than {slots} processes")));
        }
        let room = |more: u32| -> SlotCounts {
            let of = |it: ProcessId| if it == process { more } else { program.slots(it) };
            program
                .processes
                .keys()
                .map(|it| (program.processes[it].name.clone(), of(it)))
                .collect()
        };
        let load = |more: u32| {
            let options = Options { slots_by_process: room(more), ..self.options.clone() };
            TextModel::load(self.language, self.sources.clone(), options).map(drop)
        };
        let Err(mut refused) = load(wished) else { return Ok(room(wished)) };
        let (mut fits, mut too_many) = (slots, wished);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            match load(middle) {
                Ok(()) => fits = middle,
                Err(error) => (too_many, refused) = (middle, error),
            }
        }
        if fits > slots { Ok(room(fits)) } else { Err(refused) }
    }
}

impl Error {
    /// Returns the process that lacked a slot, if the search ended for that reason.
    pub fn lacks_slots(&self) -> Option<ProcessId> {
        match self {
            Error::Sample(error) | Error::Run(_, error) | Error::Open(_, error) => {
                process_without_slot(error)
            }
            _ => None,
        }
    }
}

/// Returns the process that lacked a slot, if a model failed for that reason.
pub fn process_without_slot(error: &spill::Error) -> Option<ProcessId> {
    match error {
        spill::Error::Source { reason } => {
            reason.downcast_ref().map(|OutOfSlots(process)| ProcessId(*process))
        }
        _ => None,
    }
}

/// A probe of some states of a model.
struct SlotProbe<'m> {
    model: &'m Interp,
    control: &'m SearchControl,
    /// The maximum number of instances of each process in any state so far.
    most: Vec<u32>,
}

impl SlotProbe<'_> {
    /// Visits the states near the initial states.
    fn explore_start(&mut self) {
        let (mut seen, mut open) = (HashSet::new(), VecDeque::new());
        let (mut successors, mut bytes) = (0, 0);
        self.model.each_start_state(&mut |state| open.push_back(state.to_vec()));
        while let Some(state) = open.pop_front() {
            let is_enough = seen.len() >= STATES || successors >= SUCCESSORS || bytes >= BYTES;
            if is_enough || self.control.should_stop() {
                return;
            }
            if seen.contains(&state) {
                continue;
            }
            self.count(&state);
            self.model.each_successor(&state, None, &mut |next| {
                successors += 1;
                if !seen.contains(next) {
                    bytes += next.len();
                    open.push_back(next.to_vec());
                }
            });
            seen.insert(state);
        }
    }

    /// Walks from an initial state. In each step the first process in the given order that leads to a new state moves.
    /// Of its successors the walk takes the one with the most processes.
    fn walk(&mut self, order: &dyn Fn(&mut Vec<ProcessInstance>)) {
        let (mut seen, mut start) = (HashSet::new(), None);
        self.model.each_start_state(&mut |state| _ = start.get_or_insert_with(|| state.to_vec()));
        let Some(mut state) = start else { return };
        for _ in 0..WALK.min(BYTES / state.len().max(1)) {
            if self.control.should_stop() {
                return;
            }
            self.count(&state);
            let mut movers = self.model.instances(&state);
            order(&mut movers);
            seen.insert(state.clone());
            let mut best: Option<(i64, Vec<u8>)> = None;
            // If no process can move, one may move at a timeout.
            for mover in movers.into_iter().map(Some).chain([None]) {
                self.model.each_successor(&state, mover, &mut |next| {
                    let processes = self.model.count_processes(next);
                    let is_better = best.as_ref().is_none_or(|(most, _)| processes > *most);
                    if is_better && !seen.contains(next) {
                        best = Some((processes, next.to_vec()));
                    }
                });
                if best.is_some() {
                    break;
                }
            }
            let Some((_, next)) = best else { return };
            state = next;
        }
    }

    fn count(&mut self, state: &[u8]) {
        for (number, most) in self.most.iter_mut().enumerate() {
            *most = self.model.live(state, ProcessId::from_index(number)).max(*most);
        }
    }
}
