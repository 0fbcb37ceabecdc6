//! The runtime: the functions that compiled code calls, and the data that it shares with them.
//!
//! Compiled code calls back only for rare events: a full buffer, a fault, a deadlock, a failing property, an
//! interpreted action.

use super::Jit;
use super::code::{FaultSite, MachineCode};
use crate::interp::{MoverContext, MoverMode, StepTarget, WITHIN_MAX};
use crate::{Interp, LABEL_BYTES};
use spillway_analysis::instances::{ActionInstance, ActionInstances, InstanceId, InstanceSets};
use spillway_ir::{ActionId, ProcessInstance};
use spillway_model::{FaultKind, RuntimeFault, StateSpace, SuccessorSink, Violation, stop_request};
use std::io::Write;

/// The maximum number of actions emitted as one chain in a step.
pub(super) const CHAIN_MAX: usize = 64;

/// The number of handed-over intermediate states of one state up to which the interpreter's limit is certainly kept. A
/// chain of actions may follow each.
const WITHIN_SURE: u32 = WITHIN_MAX / (CHAIN_MAX as u32 + 1);

/// Bytes after a state and after a candidate that compiled code may read and write.
pub(super) const SLACK: usize = 8;

/// One call of compiled code. Compiled code reads and writes the fields before `jit`.
#[repr(C)]
pub(super) struct JitRuntime<'r, 'e> {
    /// The last address at which a candidate may begin.
    pub limit: *mut u8,
    /// Not 0 if the expanded state has had a fault, or steps that leave it, before the current buffer segment.
    pub touched: u64,
    /// The address of the first candidate of the expanded state in this buffer segment.
    pub before: *mut u8,
    /// The number of intermediate states that wait for their movers to continue.
    pub open: u64,
    /// The functions for each location of each process.
    pub table: *const *const u8,
    /// The set of the expanded state: its chosen action instances, or those found to be enabled; null without
    /// instances.
    pub set: *mut u8,
    /// Where the number of bytes of candidates at the end of each state is recorded; null if it is not requested.
    pub ends: *mut u64,
    /// The number of bytes handed over before this buffer segment, minus its address.
    pub offset: u64,
    /// The instance with which the continued step began, as its label plus 1; or 0.
    pub begun: u64,
    /// The label of the intermediate state that is handed over.
    pub label: u64,
    /// The number of executions of each action, by number; null for code that does not count.
    pub taken: *mut u64,
    pub jit: &'r Jit<'r>,
    pub code: &'r MachineCode,
    /// The action instances of the sets.
    instances: Option<&'r ActionInstances>,
    /// The set of all instances: every continuation of a chosen step is chosen.
    everything: Option<InstanceSets>,
    pub out: &'r mut SuccessorSink<'e>,
    /// The number of bytes of candidates that have been handed over.
    handed: u64,
    /// The first candidate that has not been handed over.
    start: *mut u8,
    /// The intermediate states.
    within: Vec<PendingStep>,
    /// Their bytes, one after another.
    states: Vec<u8>,
    /// The expanded state, while steps are completed; else null.
    origin: *const u8,
    /// Counts results of steps other than candidates in the current buffer segment.
    events: u64,
    steps: Option<StepLog<'r>>,
}

/// An intermediate state, whose mover continues the step.
#[derive(Clone, Copy)]
struct PendingStep {
    /// The mover's number.
    mover: u32,
    /// Whether it takes its first possible action, and must have one.
    first: bool,
    /// Its last action.
    action: ActionId,
    /// The label of its step.
    label: u32,
}

/// The log of the steps, if requested.
struct StepLog<'r> {
    noted: &'r mut Vec<LoggedStep>,
    /// The number of logged candidates of this buffer segment.
    done: usize,
}

/// The action instances, and a set of them for each state.
#[derive(Clone, Copy)]
pub(super) struct InstanceChoice<'r> {
    pub instances: &'r ActionInstances,
    /// The first state's set; the others follow.
    pub sets: *mut u64,
    /// For the first state, the bytes of candidates added up to its end; those of the others follow. Null for code
    /// that takes no steps.
    pub ends: *mut u64,
    /// The bytes of candidates that had been added before.
    pub added: u64,
}

impl InstanceChoice<'_> {
    /// Returns the same choice after `states` states, for which `added` bytes of candidates had been added.
    pub fn after(self, states: usize, added: u64) -> Self {
        let words = states * self.instances.sets().words_each();
        let (sets, ends) = (self.sets.wrapping_add(words), self.ends.wrapping_add(states));
        InstanceChoice { sets, ends, added, ..self }
    }
}

/// A step by compiled code.
#[derive(Clone, Copy, Debug)]
pub(super) enum LoggedStep {
    /// A candidate, by this action.
    Taken(u32),
    /// A fault.
    Failed(FaultSite),
}

/// The entry of compiled code. Its arguments are the runtime, the first state, the number of states, and the cursor;
/// it returns the cursor.
type EntryFunction =
    unsafe extern "C" fn(*mut JitRuntime<'_, '_>, *const u8, u64, *mut u8) -> *mut u8;

/// States to expand, one after another.
pub(super) struct StateBatch<'r> {
    /// The first state. [`SLACK`] readable bytes follow the last.
    pub states: *const u8,
    pub count: usize,
    /// The chosen instances, if not all steps are requested.
    pub choice: Option<InstanceChoice<'r>>,
}

/// Expands states.
///
/// # Safety
/// `batch` points to as many states as it says and [`SLACK`] bytes more. `code` was compiled for `jit`, with labels if
/// `noted` is given, and about action instances exactly if there is a choice. The choice has a set for each state,
/// which may be changed if the code marks enabled instances. `out` takes candidates as the code makes them.
///
/// Returns the bytes of candidates that have been added.
pub(super) unsafe fn run(
    jit: &Jit<'_>,
    code: &MachineCode,
    batch: StateBatch<'_>,
    out: &mut SuccessorSink,
    noted: Option<&mut Vec<LoggedStep>>,
) -> u64 {
    let StateBatch { states, count, choice } = batch;
    let mut runtime = JitRuntime {
        limit: std::ptr::null_mut(),
        touched: 0,
        before: std::ptr::null_mut(),
        open: 0,
        table: code.table.as_ptr(),
        set: choice.map_or(std::ptr::null_mut(), |choice| choice.sets.cast()),
        ends: choice.map_or(std::ptr::null_mut(), |choice| choice.ends),
        offset: 0,
        begun: 0,
        label: 0,
        taken: match code.counts {
            true => out.counts(jit.interp.program().actions.len()).as_mut_ptr(),
            false => std::ptr::null_mut(),
        },
        jit,
        code,
        instances: choice.map(|choice| choice.instances),
        everything: choice.map(|choice| everything(choice.instances)),
        out,
        handed: choice.map_or(0, |choice| choice.added),
        start: std::ptr::null_mut(),
        within: Vec::new(),
        states: Vec::new(),
        origin: std::ptr::null(),
        events: 0,
        steps: noted.map(|noted| StepLog { noted, done: 0 }),
    };
    let cursor = runtime.begin_room();
    // SAFETY: the driver was compiled with the signature of an entry.
    let entry = unsafe { std::mem::transmute::<*const u8, EntryFunction>(code.entry) };
    // SAFETY: the caller guarantees the states. The cursor and the limit are in one buffer segment, which is `SLACK`
    // bytes longer than the last candidate that may begin at the limit. Helpers that replace the segment return a new
    // cursor.
    let cursor = unsafe { entry(&mut runtime, states, count as u64, cursor) };
    runtime.commit_candidates(cursor);
    runtime.handed
}

/// Returns the set of all instances.
fn everything(all: &ActionInstances) -> InstanceSets {
    let mut sets = all.sets();
    sets.fill(1);
    sets
}

/// Returns whether an instance is in a set: it is bit `i % 8` of byte `i / 8`.
///
/// # Safety
/// `set` points to a set of instances that includes this one in its range.
unsafe fn is_in(set: *const u8, instance: InstanceId) -> bool {
    // SAFETY: by the contract of the caller.
    let byte = unsafe { *set.add(instance.0 as usize / 8) };
    byte >> (instance.0 % 8) & 1 != 0
}

/// A function of the table. Its arguments are the runtime, the state, and the cursor; it returns the cursor.
type ContinueFunction =
    unsafe extern "C" fn(*mut JitRuntime<'_, '_>, *const u8, *mut u8) -> *mut u8;

impl JitRuntime<'_, '_> {
    /// Begins a buffer segment for candidates.
    fn begin_room(&mut self) -> *mut u8 {
        let room = self.out.room(SLACK);
        let (start, bytes) = (room.as_mut_ptr().cast::<u8>(), room.len() - SLACK);
        self.start = start;
        self.offset = self.handed.wrapping_sub(start as u64);
        self.limit = start.wrapping_add(bytes - self.stride());
        self.steps.iter_mut().for_each(|steps| steps.done = 0);
        start
    }

    /// Returns the number of bytes from one candidate to the next.
    fn stride(&self) -> usize {
        self.jit.width() + if self.code.is_labelled { LABEL_BYTES } else { 0 }
    }

    /// Returns whether the steps of an action instance are to be taken.
    fn is_chosen(&self, instance: ActionInstance) -> bool {
        self.instances.is_none_or(|all| self.is_chosen_number(all, all.number(instance)))
    }

    fn is_chosen_number(&self, all: &ActionInstances, instance: InstanceId) -> bool {
        debug_assert!(instance.0 < all.count());
        // SAFETY: if there are instances, there is a set of the state.
        unsafe { is_in(self.set, instance) }
    }

    /// Marks an action instance as enabled.
    fn mark(&mut self, all: &ActionInstances, instance: ActionInstance) {
        let number = all.number(instance).0;
        // SAFETY: there is a set of the state, and code that marks enabled instances may change it.
        unsafe { *self.set.add(number as usize / 8) |= 1 << (number % 8) };
        self.touched = 1;
    }

    /// Returns the label after a successor of a step, if there is one.
    fn label_of(&self, begun: ActionInstance, action: ActionId) -> u32 {
        match (self.instances, self.begun) {
            (None, _) => action.0,
            (Some(all), 0) => all.number(begun).0,
            (Some(_), label) => (label - 1) as u32,
        }
    }

    /// Counts the candidates before the cursor.
    fn commit_candidates(&mut self, cursor: *mut u8) {
        self.note_taken(cursor);
        self.events += self.taken(cursor) as u64;
        let bytes = cursor as usize - self.start as usize;
        self.handed += bytes as u64;
        // SAFETY: compiled code has written every byte of the segment before the cursor.
        unsafe { self.out.advance(bytes) };
    }

    /// Records whether any step so far leaves the state, before the segment changes.
    fn note_progress(&mut self, state: &[u8], cursor: *mut u8) {
        let bytes = cursor as usize - self.before as usize;
        // SAFETY: compiled code has written every byte of the segment before the cursor.
        let taken = unsafe { std::slice::from_raw_parts(self.before, bytes) };
        let width = self.jit.width();
        let mut taken = taken.chunks_exact(self.stride()).map(|candidate| &candidate[..width]);
        if taken.any(|successor| self.jit.interp.is_non_stuttering(state, successor)) {
            self.touched = 1;
        }
    }

    /// Hands over the candidates of `state` before the cursor, and ends the segment.
    fn leave_room(&mut self, state: &[u8], cursor: *mut u8) {
        self.note_progress(state, cursor);
        self.commit_candidates(cursor);
    }

    /// Begins a segment for further candidates of the same state.
    fn enter_room(&mut self) -> *mut u8 {
        self.before = self.begin_room();
        self.before
    }

    /// Counts an action that the interpreter took.
    fn count(&mut self, action: ActionId) {
        debug_assert!((action.0 as usize) < self.jit.interp.program().actions.len());
        if self.taken.is_null() {
            return;
        }
        // SAFETY: there is a count for every action, and nothing else accesses it while code runs.
        unsafe { *self.taken.add(action.0 as usize) += 1 };
    }

    /// Reports that a step of `state` fails.
    fn fail(&mut self, state: &[u8], site: FaultSite) {
        // A step that continues after such an error has successors of its own.
        if !site.kind.always_continues_step() {
            (self.touched, self.events) = (1, self.events + 1);
        }
        let chosen = self.instances.zip(site.instance);
        if chosen.is_some_and(|(all, instance)| !self.is_chosen_number(all, instance)) {
            return;
        }
        if let Some(steps) = &mut self.steps {
            steps.noted.push(LoggedStep::Failed(site));
        }
        self.out.record_finding(Violation::Fault(site.kind, site.action.0), state);
    }

    /// Reports that a step of `state` fails after an action.
    fn fail_after(&mut self, state: &[u8], action: ActionId, kind: FaultKind, cursor: *mut u8) {
        self.note_taken(cursor);
        let span = self.jit.interp.program().actions[action].span;
        self.fail(state, FaultSite { action, kind, span, instance: None });
    }

    /// Checks a property. It has no steps, so it does not prevent a deadlock of `state`.
    fn record_property(&mut self, state: &[u8], property: u32) {
        let interp = self.jit.interp;
        match interp.evaluate_property(state, property) {
            Ok(true) => {}
            Ok(false) => self.out.record_finding(Violation::Property(property), state),
            Err(fault) => {
                let check = Violation::Fault(fault.kind, interp.property_action_number(property));
                self.out.record_finding(check, state);
            }
        }
    }

    /// Drops the intermediate states after a stop request. Nothing is concluded from the missing steps.
    fn leave_early(&mut self) {
        self.touched = 1;
        self.within.clear();
        self.states.clear();
    }

    /// Adds a step of `state` by the interpreter, outside a segment.
    fn add_interpreted_step(
        &mut self,
        state: &[u8],
        begun: ActionInstance,
        action: ActionId,
        successor: &[u8],
    ) {
        self.touched |= u64::from(self.jit.interp.is_non_stuttering(state, successor));
        self.events += 1;
        self.handed += self.stride() as u64;
        match self.code.is_labelled {
            false => self.out.candidate(successor),
            true => {
                let label = self.label_of(begun, action);
                self.out.record(successor, &label.to_le_bytes());
            }
        }
        if let Some(steps) = &mut self.steps {
            steps.noted.push(LoggedStep::Taken(action.0));
        }
    }

    /// Takes all requested steps of a mover by the interpreter. They are steps of `origin`, which differs from the
    /// mover's state if the mover continues a step. Returns the cursor.
    fn interpret(&mut self, origin: &[u8], look: &MoverContext, cursor: *mut u8) -> *mut u8 {
        let (interp, all, set) = (self.jit.interp, self.instances, self.set);
        if let Some(all) = all.filter(|_| self.code.marks_enabled) {
            interp.visit_offers(look, &mut |begun| self.mark(all, begun));
            return cursor;
        }
        // SAFETY: if there are instances, there is a set of the state.
        let is_chosen = |begun| all.is_none_or(|all| unsafe { is_in(set, all.number(begun)) });
        self.leave_room(origin, cursor);
        let any = interp.mover_steps(look, &is_chosen, &mut |taken, result| match result {
            Ok(StepTarget::Intermediate) => taken.iter().for_each(|it| self.count(it.action)),
            // Programs that exclude states are not compiled.
            Ok(StepTarget::LeftOut) => {}
            Ok(StepTarget::To(successor)) => {
                if let Some(begun) = interp.begun(look.mover, taken) {
                    let action = interp.representative_action(taken, true);
                    self.add_interpreted_step(origin, begun, action, successor);
                }
            }
            Err(fault) => {
                let action = interp.representative_action(taken, true);
                let RuntimeFault { kind, span, .. } = *fault;
                self.fail(origin, FaultSite { action, kind, span, instance: None });
            }
        });
        self.touched |= u64::from(any && all.is_some());
        if stop_request::is_requested() {
            self.leave_early();
        }
        self.enter_room()
    }

    /// Adds a candidate. Returns the cursor.
    fn add(&mut self, candidate: &[u8], label: u32, state: &[u8], mut cursor: *mut u8) -> *mut u8 {
        if cursor > self.limit {
            self.leave_room(state, cursor);
            cursor = self.enter_room();
        }
        // SAFETY: a candidate may begin at or before the limit.
        unsafe { cursor.copy_from_nonoverlapping(candidate.as_ptr(), candidate.len()) };
        if self.code.is_labelled {
            let to = cursor.wrapping_add(candidate.len());
            // SAFETY: every candidate that fits has space for its label.
            unsafe { to.cast::<u32>().write_unaligned(label.to_le()) };
        }
        cursor.wrapping_add(self.stride())
    }

    /// Returns the number of candidates in the segment.
    fn taken(&self, cursor: *mut u8) -> usize {
        (cursor as usize - self.start as usize) / self.stride()
    }

    /// Counts all results of steps, intermediate states included.
    fn progress(&self, cursor: *mut u8) -> (u64, usize) {
        (self.events + self.taken(cursor) as u64, self.within.len())
    }

    fn note_taken(&mut self, cursor: *mut u8) {
        let (taken, stride, width) = (self.taken(cursor), self.stride(), self.jit.width());
        let Some(steps) = &mut self.steps else { return };
        for at in steps.done..taken {
            let label = self.start.wrapping_add(at * stride + width).cast::<u32>();
            // SAFETY: compiled code has written every candidate before the cursor, with its label.
            let label = u32::from_le(unsafe { label.read_unaligned() });
            steps.noted.push(LoggedStep::Taken(label));
        }
        steps.done = taken;
    }

    /// Returns the bytes of the expanded state. Compiled code points to them, unless it continues from an intermediate
    /// state.
    ///
    /// # Safety
    /// `state` points to a state.
    unsafe fn state<'s>(&self, state: *const u8) -> &'s [u8] {
        let state = if self.origin.is_null() { state } else { self.origin };
        // SAFETY: by the contract of the caller.
        unsafe { std::slice::from_raw_parts(state, self.jit.width()) }
    }
}

/// Hands over the candidates before the cursor and begins a new segment.
pub(super) unsafe extern "C" fn make_room(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    cursor: *mut u8,
) -> *mut u8 {
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    runtime.leave_room(state, cursor);
    runtime.enter_room()
}

/// Brings some multisets of a candidate into canonical form.
pub(super) unsafe extern "C" fn sort_multisets(
    runtime: &mut JitRuntime<'_, '_>,
    candidate: *mut u8,
    first: u64,
    end: u64,
) {
    let width = runtime.jit.width();
    // SAFETY: compiled code has just written this candidate.
    let candidate = unsafe { std::slice::from_raw_parts_mut(candidate, width) };
    runtime.jit.interp.sort_some_multisets(first as usize..end as usize, candidate);
}

/// Reports that a step of `state` fails.
pub(super) unsafe extern "C" fn fault(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    site: u32,
    cursor: *mut u8,
) {
    runtime.note_taken(cursor);
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    runtime.fail(state, runtime.code.sites[site as usize]);
}

/// Reports that a step of `state` by an action fails in a function that it calls.
pub(super) unsafe extern "C" fn fault_within(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    site: u64,
    action: u64,
    cursor: *mut u8,
) {
    runtime.note_taken(cursor);
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    let site = runtime.code.sites[site as usize];
    runtime.fail(state, FaultSite { action: ActionId(action as u32), ..site });
}

/// Reports that `state` has no step, or perhaps none that leaves it.
pub(super) unsafe extern "C" fn stuck(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    cursor: *mut u8,
) {
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    runtime.note_progress(state, cursor);
    if runtime.touched == 0 {
        let (interp, out) = (&runtime.jit.interp, &mut runtime.out);
        interp.check_end_state(state, |it| out.record_finding(it, state));
    }
}

/// Reports that a property fails in `state` or meets an error; the interpreter determines which.
pub(super) unsafe extern "C" fn broken(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    property: u32,
) {
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    runtime.record_property(state, property);
}

/// Returns whether a stop is requested, as 0 or 1. Then loops are left, and nothing is concluded from the results.
pub(super) unsafe extern "C" fn told_to_stop(runtime: &mut JitRuntime<'_, '_>) -> u64 {
    let stop = stop_request::is_requested();
    runtime.touched |= u64::from(stop);
    stop.into()
}

/// Checks a property by the interpreter.
pub(super) unsafe extern "C" fn judge(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    property: u32,
) {
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    runtime.record_property(state, property);
}

/// Takes all steps of one action of a mover by the interpreter, in a program whose steps are complete when they begin.
/// Returns the cursor.
pub(super) unsafe extern "C" fn interpret(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    cursor: *mut u8,
    action: u32,
    mode: u32,
) -> *mut u8 {
    // SAFETY: compiled code passes the expanded state.
    let state = unsafe { runtime.state(state) };
    let id = ActionId(action);
    let edge = runtime.jit.interp.program().actions[id].edge;
    let mover = edge.map(|edge| ProcessInstance { process: edge.process, slot: 0 });
    let look = MoverContext::new(state, mover, MoverMode::from_number(mode)).with_only(id);
    runtime.interpret(state, &look, cursor)
}

/// Hands over an intermediate state, which is at the cursor. Its mover continues; `mover` is the mover's number, and
/// its lowest bit says whether only the first possible action counts.
pub(super) unsafe extern "C" fn leave_to_interpreter(
    runtime: &mut JitRuntime<'_, '_>,
    cursor: *mut u8,
    mover: u32,
    action: u32,
) {
    let width = runtime.jit.width();
    // SAFETY: compiled code has just written this state.
    let state = unsafe { std::slice::from_raw_parts(cursor, width) };
    runtime.states.extend_from_slice(state);
    let (mover, first) = (mover >> 1, mover & 1 != 0);
    let (action, label) = (ActionId(action), runtime.label as u32);
    runtime.within.push(PendingStep { mover, first, action, label });
    runtime.open += 1;
}

/// Completes the steps of `state` that have been handed over. Returns the cursor.
pub(super) unsafe extern "C" fn complete(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    mut cursor: *mut u8,
) -> *mut u8 {
    let (jit, code, width) = (runtime.jit, runtime.code, runtime.jit.width());
    runtime.origin = state;
    let chosen = runtime.set;
    // SAFETY: compiled code passes the expanded state.
    let origin = unsafe { runtime.state(state) };
    let mut within = vec![0; width + SLACK];
    let mut handed_over = 0;
    while let Some(PendingStep { mover, first, action, label }) = runtime.within.pop() {
        let rest = runtime.states.len() - width;
        within[..width].copy_from_slice(&runtime.states[rest..]);
        runtime.states.truncate(rest);
        handed_over += 1;
        if stop_request::is_requested() {
            runtime.leave_early();
            break;
        }
        runtime.set = chosen;
        if handed_over == WITHIN_SURE
            && let Some((action, fault)) =
                jit.interp.endless_step(origin, &|it| runtime.is_chosen(it))
        {
            runtime.note_taken(cursor);
            let RuntimeFault { kind, span, .. } = *fault;
            runtime.fail(origin, FaultSite { action, kind, span, instance: None });
            runtime.within.clear();
            runtime.states.clear();
            break;
        }
        let instance = code.instances[mover as usize];
        let section = if first { 2 * code.per_mode } else { 0 };
        let place = code.firsts[mover as usize] + location_code(jit.interp, instance, &within);
        // SAFETY: all functions of the table were compiled with this signature.
        let go_on = unsafe {
            std::mem::transmute::<*const u8, ContinueFunction>(code.table[section + place])
        };
        let before = runtime.progress(cursor);
        if let Some(everything) = &mut runtime.everything {
            runtime.set = everything.all_words_mut().as_mut_ptr().cast();
            runtime.begun = u64::from(label) + 1;
        }
        // SAFETY: readable bytes follow the state, and the cursor is that of the segment.
        cursor = unsafe { go_on(runtime, within.as_ptr(), cursor) };
        let nothing = runtime.progress(cursor) == before;
        if nothing && first {
            runtime.fail_after(origin, action, FaultKind::Error, cursor);
        } else if nothing {
            let label = if runtime.instances.is_some() { label } else { action.0 };
            cursor = runtime.add(&within[..width], label, origin, cursor);
        }
    }
    (runtime.open, runtime.origin) = (0, std::ptr::null());
    (runtime.set, runtime.begun) = (chosen, 0);
    cursor
}

/// Takes all steps of one mover from its location by the interpreter. Returns the cursor.
pub(super) unsafe extern "C" fn interpret_mover(
    runtime: &mut JitRuntime<'_, '_>,
    from: *const u8,
    cursor: *mut u8,
    mover: u32,
    mode: u32,
) -> *mut u8 {
    let width = runtime.jit.width();
    // SAFETY: compiled code passes a state.
    let (origin, from) = unsafe { (runtime.state(from), std::slice::from_raw_parts(from, width)) };
    let mover = runtime.code.instances[mover as usize];
    let look = MoverContext::new(from, Some(mover), MoverMode::from_number(mode));
    runtime.interpret(origin, &look, cursor)
}

/// Returns the location code of an instance.
fn location_code(interp: &Interp, at: ProcessInstance, state: &[u8]) -> usize {
    let cell = interp.layout().locations[at.process].in_slot(at.slot);
    interp.layout().code(state, cell) as usize
}

/// Aborts: compiled code is about to store a value that the range analysis ruled out. Continuing would create a wrong
/// state, and unwinding through compiled code is not possible.
pub(super) extern "C" fn impossible() {
    // An error of this write makes no difference.
    let _ = writeln!(
        std::io::stderr(),
        "error: a variable is given a value that was ruled out; this is a bug in spillway, please report it with the \
         model\n  help: --exec interp says which variable"
    );
    std::process::abort();
}
