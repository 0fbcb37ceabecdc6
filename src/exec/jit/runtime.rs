//! What compiled code calls, and what it finds at the pointer it is given.
//!
//! Compiled code calls back only for what is rare: a full buffer, a fault, a deadlock, a property
//! that does not hold, an action that is interpreted.

use super::Jit;
use super::code::{FaultSite, MachineCode};
use crate::analysis::instances::{ActionInstance, ActionInstances, InstanceId, InstanceSets};
use crate::exec::interp::{MoverContext, MoverMode, StepTarget, WITHIN_MAX};
use crate::exec::{Interp, LABEL_BYTES};
use crate::ir::{ActionId, ProcessInstance};
use crate::model::{FaultKind, RuntimeFault, StateSpace, SuccessorSink, Violation, stop_request};
use std::io::Write;

/// So many actions are emitted behind one another in a step.
pub(super) const CHAIN_MAX: usize = 64;

/// Where so many states within the steps from one state have been handed over, the interpreter may
/// find more than it allows: behind each, as many actions are emitted.
const WITHIN_SURE: u32 = WITHIN_MAX / (CHAIN_MAX as u32 + 1);

/// Bytes beyond a state, and beyond a candidate, that compiled code may read and write.
pub(super) const SLACK: usize = 8;

/// One call of compiled code. The fields before `jit` are read and written by compiled code.
#[repr(C)]
pub(super) struct JitRuntime<'r, 'e> {
    /// The last address at which a candidate may begin.
    pub limit: *mut u8,
    /// Not 0 if the state being expanded has given a fault, or steps that lead on before the room
    /// was last found.
    pub touched: u64,
    /// Where the first candidate of the state being expanded is, or would be, in this room.
    pub before: *mut u8,
    /// How many states within steps wait for their movers to go on.
    pub open: u64,
    /// The functions for each location of each process.
    pub table: *const *const u8,
    /// The set of the state being expanded: which action instances are chosen, or are found to be
    /// enabled; null if that is not asked.
    pub set: *mut u8,
    /// Where it is noted how many bytes of candidates had been added when a state was done; null if that
    /// is not asked.
    pub ends: *mut u64,
    /// How many had been handed over when this room was begun, less its address.
    pub offset: u64,
    /// What the step that is being gone on with begins with, as its label plus 1; or 0.
    pub begun: u64,
    /// The label of the state within a step that is handed on.
    pub label: u64,
    /// How often each action was taken, by number; null for code that does not count.
    pub taken: *mut u64,
    pub jit: &'r Jit<'r>,
    pub code: &'r MachineCode,
    /// The instances that sets are of.
    instances: Option<&'r ActionInstances>,
    /// The set of all instances: whatever goes on with a step that is chosen is chosen.
    everything: Option<InstanceSets>,
    pub out: &'r mut SuccessorSink<'e>,
    /// Bytes of candidates that have been handed over.
    handed: u64,
    /// The first candidate that has not been handed over.
    start: *mut u8,
    /// The states within steps.
    within: Vec<PendingStep>,
    /// Their bytes, one after another.
    states: Vec<u8>,
    /// The state being expanded, while steps are completed; else null.
    origin: *const u8,
    /// Counts what has come of steps beside candidates that are still in the room.
    events: u64,
    steps: Option<StepLog<'r>>,
}

/// A state within a step, whose mover goes on.
#[derive(Clone, Copy)]
struct PendingStep {
    /// The mover's number.
    mover: u32,
    /// Whether it takes the first thing it can do, and must find one.
    first: bool,
    /// What it did last.
    action: ActionId,
    /// The label of its step.
    label: u32,
}

/// What each step was, if that is asked for.
struct StepLog<'r> {
    noted: &'r mut Vec<LoggedStep>,
    /// How many of the candidates in the room are noted.
    done: usize,
}

/// The action instances among which there is a choice, and a set of them for each state.
#[derive(Clone, Copy)]
pub(super) struct InstanceChoice<'r> {
    pub instances: &'r ActionInstances,
    /// The first state's set; the others follow.
    pub sets: *mut u64,
    /// For the first state, the bytes of candidates that had been added when it was done; the others
    /// follow. Null for code that takes no steps.
    pub ends: *mut u64,
    /// The bytes of candidates that had been added before.
    pub added: u64,
}

impl InstanceChoice<'_> {
    /// The same from a later state on, before which so many bytes of candidates had been added.
    pub fn after(self, states: usize, added: u64) -> Self {
        let words = states * self.instances.sets().words_each();
        let (sets, ends) = (self.sets.wrapping_add(words), self.ends.wrapping_add(states));
        InstanceChoice { sets, ends, added, ..self }
    }
}

/// A step that compiled code took.
#[derive(Clone, Copy, Debug)]
pub(super) enum LoggedStep {
    /// A candidate, by this action.
    Taken(u32),
    /// A fault.
    Failed(FaultSite),
}

/// The entry of compiled code: the run-time, the first state, how many states, the cursor; gives
/// the cursor.
type EntryFunction =
    unsafe extern "C" fn(*mut JitRuntime<'_, '_>, *const u8, u64, *mut u8) -> *mut u8;

/// States to be expanded, one after another.
pub(super) struct StateBatch<'r> {
    /// The first of them. Behind the last are [`SLACK`] bytes to read.
    pub states: *const u8,
    pub count: usize,
    /// Which of their steps are asked for, if there is a choice.
    pub choice: Option<InstanceChoice<'r>>,
}

/// Expands states.
///
/// # Safety
/// `batch` points to as many states as it says and [`SLACK`] bytes more; `code` was compiled for `jit`, with
/// labels if `noted` is given, and about action instances exactly if there is a choice, which has a set for
/// each state, to be changed if the code looks at states. `out` is for candidates as the code makes
/// them.
///
/// Gives the bytes of candidates that have been added.
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
    // SAFETY: the caller vouches for the states; the cursor and the limit are of one piece of room
    // that is `SLACK` bytes longer than the last candidate that may begin at the limit; helpers
    // that move the room give a new cursor.
    let cursor = unsafe { entry(&mut runtime, states, count as u64, cursor) };
    runtime.commit_candidates(cursor);
    runtime.handed
}

/// The set of all instances.
fn everything(all: &ActionInstances) -> InstanceSets {
    let mut sets = all.sets();
    sets.fill(1);
    sets
}

/// Whether an instance is in a set: it is bit `i % 8` of byte `i / 8`.
///
/// # Safety
/// `set` points to a set of instances of which it is one.
unsafe fn is_in(set: *const u8, instance: InstanceId) -> bool {
    // SAFETY: as the caller says.
    let byte = unsafe { *set.add(instance.0 as usize / 8) };
    byte >> (instance.0 % 8) & 1 != 0
}

/// A function of the table: the run-time, the state, the cursor; gives the cursor.
type ContinueFunction =
    unsafe extern "C" fn(*mut JitRuntime<'_, '_>, *const u8, *mut u8) -> *mut u8;

impl JitRuntime<'_, '_> {
    /// Finds room for candidates.
    fn begin_room(&mut self) -> *mut u8 {
        let room = self.out.room(SLACK);
        let (start, bytes) = (room.as_mut_ptr().cast::<u8>(), room.len() - SLACK);
        self.start = start;
        self.offset = self.handed.wrapping_sub(start as u64);
        self.limit = start.wrapping_add(bytes - self.stride());
        self.steps.iter_mut().for_each(|steps| steps.done = 0);
        start
    }

    /// The bytes from one candidate to the next.
    fn stride(&self) -> usize {
        self.jit.width() + if self.code.is_labelled { LABEL_BYTES } else { 0 }
    }

    /// Whether the steps of an action instance are to be taken.
    fn is_chosen(&self, instance: ActionInstance) -> bool {
        self.instances.is_none_or(|all| self.is_chosen_number(all, all.number(instance)))
    }

    fn is_chosen_number(&self, all: &ActionInstances, instance: InstanceId) -> bool {
        debug_assert!(instance.0 < all.count());
        // SAFETY: where instances are, there is a set of the state.
        unsafe { is_in(self.set, instance) }
    }

    /// An action instance is enabled.
    fn mark(&mut self, all: &ActionInstances, instance: ActionInstance) {
        let number = all.number(instance).0;
        // SAFETY: there is a set of the state, and where code looks at states, it may be changed.
        unsafe { *self.set.add(number as usize / 8) |= 1 << (number % 8) };
        self.touched = 1;
    }

    /// What goes behind a successor of a step, if anything does.
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
        // SAFETY: compiled code has written every byte of the room before the cursor.
        unsafe { self.out.advance(bytes) };
    }

    /// Notes whether any step so far leads on, before the room changes.
    fn note_progress(&mut self, state: &[u8], cursor: *mut u8) {
        let bytes = cursor as usize - self.before as usize;
        // SAFETY: compiled code has written every byte of the room before the cursor.
        let taken = unsafe { std::slice::from_raw_parts(self.before, bytes) };
        let width = self.jit.width();
        let mut taken = taken.chunks_exact(self.stride()).map(|candidate| &candidate[..width]);
        if taken.any(|successor| self.jit.interp.is_non_stuttering(state, successor)) {
            self.touched = 1;
        }
    }

    /// Hands the candidates out of `state` before the cursor over, and gives the room back.
    fn leave_room(&mut self, state: &[u8], cursor: *mut u8) {
        self.note_progress(state, cursor);
        self.commit_candidates(cursor);
    }

    /// Finds room for the next candidates of the same state.
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
        // SAFETY: there is a count of every action, which nobody else has at hand while code runs.
        unsafe { *self.taken.add(action.0 as usize) += 1 };
    }

    /// A step out of `state` fails.
    fn fail(&mut self, state: &[u8], site: FaultSite) {
        // What goes on after such an error has successors of its own.
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

    /// A step out of `state` fails where an action has led it.
    fn fail_after(&mut self, state: &[u8], action: ActionId, kind: FaultKind, cursor: *mut u8) {
        self.note_taken(cursor);
        let span = self.jit.interp.program().actions[action].span;
        self.fail(state, FaultSite { action, kind, span, instance: None });
    }

    /// Judges a property, which has no steps and so does not keep `state` from being stuck.
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

    /// Forgets what is within steps, as it is time to stop. Nothing is concluded from that.
    fn leave_early(&mut self) {
        self.touched = 1;
        self.within.clear();
        self.states.clear();
    }

    /// A step out of `state` that the interpreter took, while there is no room.
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

    /// All steps of a mover by the interpreter, of those that are asked for. They are steps of `origin`, which the mover
    /// has been led on from if it goes on with a step. Gives the cursor.
    fn interpret(&mut self, origin: &[u8], look: &MoverContext, cursor: *mut u8) -> *mut u8 {
        let (interp, all, set) = (self.jit.interp, self.instances, self.set);
        if let Some(all) = all.filter(|_| self.code.marks_enabled) {
            interp.visit_offers(look, &mut |begun| self.mark(all, begun));
            return cursor;
        }
        // SAFETY: where instances are, there is a set of the state.
        let is_chosen = |begun| all.is_none_or(|all| unsafe { is_in(set, all.number(begun)) });
        self.leave_room(origin, cursor);
        let any = interp.mover_steps(look, &is_chosen, &mut |taken, result| match result {
            Ok(StepTarget::Intermediate) => taken.iter().for_each(|it| self.count(it.action)),
            // Programs that leave states out are not compiled.
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

    /// Adds a candidate. Gives the cursor.
    fn add(&mut self, candidate: &[u8], label: u32, state: &[u8], mut cursor: *mut u8) -> *mut u8 {
        if cursor > self.limit {
            self.leave_room(state, cursor);
            cursor = self.enter_room();
        }
        // SAFETY: a candidate may begin at or before the limit.
        unsafe { cursor.copy_from_nonoverlapping(candidate.as_ptr(), candidate.len()) };
        if self.code.is_labelled {
            let to = cursor.wrapping_add(candidate.len());
            // SAFETY: there is room for the label of every candidate that there is room for.
            unsafe { to.cast::<u32>().write_unaligned(label.to_le()) };
        }
        cursor.wrapping_add(self.stride())
    }

    /// How many candidates are in the room.
    fn taken(&self, cursor: *mut u8) -> usize {
        (cursor as usize - self.start as usize) / self.stride()
    }

    /// Counts whatever has come of steps, states within steps included.
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

    /// The bytes of the state being expanded, which compiled code points to unless it goes on from a
    /// state within a step.
    ///
    /// # Safety
    /// `state` points to a state.
    unsafe fn state<'s>(&self, state: *const u8) -> &'s [u8] {
        let state = if self.origin.is_null() { state } else { self.origin };
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts(state, self.jit.width()) }
    }
}

/// Hands the candidates before the cursor over and finds room for more.
pub(super) unsafe extern "C" fn make_room(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    cursor: *mut u8,
) -> *mut u8 {
    // SAFETY: compiled code passes the state it expands.
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

/// A step of `state` fails.
pub(super) unsafe extern "C" fn fault(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    site: u32,
    cursor: *mut u8,
) {
    runtime.note_taken(cursor);
    // SAFETY: compiled code passes the state it expands.
    let state = unsafe { runtime.state(state) };
    runtime.fail(state, runtime.code.sites[site as usize]);
}

/// A step of `state` by an action fails in a function that it calls.
pub(super) unsafe extern "C" fn fault_within(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    site: u64,
    action: u64,
    cursor: *mut u8,
) {
    runtime.note_taken(cursor);
    // SAFETY: compiled code passes the state it expands.
    let state = unsafe { runtime.state(state) };
    let site = runtime.code.sites[site as usize];
    runtime.fail(state, FaultSite { action: ActionId(action as u32), ..site });
}

/// `state` has no step, or perhaps none that leads on.
pub(super) unsafe extern "C" fn stuck(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    cursor: *mut u8,
) {
    // SAFETY: compiled code passes the state it expands.
    let state = unsafe { runtime.state(state) };
    runtime.note_progress(state, cursor);
    if runtime.touched == 0 {
        let (interp, out) = (&runtime.jit.interp, &mut runtime.out);
        interp.check_end_state(state, |it| out.record_finding(it, state));
    }
}

/// A property does not hold in `state`, or meets an error when asked: the interpreter says which.
pub(super) unsafe extern "C" fn broken(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    property: u32,
) {
    // SAFETY: compiled code passes the state it expands.
    let state = unsafe { runtime.state(state) };
    runtime.record_property(state, property);
}

/// Whether it is time to stop, as 0 or 1: then loops are left, and nothing is concluded from that.
pub(super) unsafe extern "C" fn told_to_stop(runtime: &mut JitRuntime<'_, '_>) -> u64 {
    let stop = stop_request::is_requested();
    runtime.touched |= u64::from(stop);
    stop.into()
}

/// A property is judged by the interpreter.
pub(super) unsafe extern "C" fn judge(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    property: u32,
) {
    // SAFETY: compiled code passes the state it expands.
    let state = unsafe { runtime.state(state) };
    runtime.record_property(state, property);
}

/// All steps of one action of a mover by the interpreter, of a program where each is complete when it is begun. Gives
/// the cursor.
pub(super) unsafe extern "C" fn interpret(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    cursor: *mut u8,
    action: u32,
    mode: u32,
) -> *mut u8 {
    // SAFETY: compiled code passes the state it expands.
    let state = unsafe { runtime.state(state) };
    let id = ActionId(action);
    let edge = runtime.jit.interp.program().actions[id].edge;
    let mover = edge.map(|edge| ProcessInstance { process: edge.process, slot: 0 });
    let look = MoverContext::new(state, mover, MoverMode::from_number(mode)).with_only(id);
    runtime.interpret(state, &look, cursor)
}

/// A step is within: the state is where the cursor is, the mover (its number, and in the lowest bit
/// whether only the first thing it can do counts) goes on.
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

/// Completes the steps out of `state` that have been handed on. Gives the cursor.
pub(super) unsafe extern "C" fn complete(
    runtime: &mut JitRuntime<'_, '_>,
    state: *const u8,
    mut cursor: *mut u8,
) -> *mut u8 {
    let (jit, code, width) = (runtime.jit, runtime.code, runtime.jit.width());
    runtime.origin = state;
    let chosen = runtime.set;
    // SAFETY: compiled code passes the state it expands.
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
        // SAFETY: the state is followed by bytes to read, and the cursor is that of the room.
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

/// All steps of one mover from where it is, by the interpreter. Gives the cursor.
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

/// The code of where an instance is.
fn location_code(interp: &Interp, at: ProcessInstance, state: &[u8]) -> usize {
    let cell = interp.layout().locations[at.process].in_slot(at.slot);
    interp.layout().code(state, cell) as usize
}

/// Compiled code is about to store a value that the analysis of ranges ruled out. Going on would
/// make a wrong state, and unwinding through compiled code is not possible.
pub(super) extern "C" fn impossible() {
    // Whether that can be said makes no difference.
    let _ = writeln!(
        std::io::stderr(),
        "error: a variable is given a value that was ruled out; this is a fault of spillway, \
         please report it with the model\n  help: --exec interp says which variable"
    );
    std::process::abort();
}
