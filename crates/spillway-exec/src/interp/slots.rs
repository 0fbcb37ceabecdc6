//! Dynamic processes.
//!
//! The instances of all processes form a stack: the pid of an instance is the number of instances before it, and only
//! the last can end. So an instance's slot is its rank among the instances of its process type. A slot is free exactly
//! if its location cell says so; all other cells of a free slot are zero bits.

use super::failure::fault;
use super::frames::LocalEnv;
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::layout::{CellGroup, CellId};
use spillway_ir::{LocationId, Owner, PidRule, ProcessId, ProcessInstance};
use spillway_model::FaultKind;

/// The maximum number of processes at one time, as in SPIN.
const PROCESSES_MAX: i64 = 255;

impl Interp {
    /// Returns the location of an instance, or `None` if the slot is free.
    pub(crate) fn location_in(&self, state: &[u8], at: ProcessInstance) -> Option<LocationId> {
        let cell = self.layout.locations[at.process].in_slot(at.slot);
        let code = self.value_in(state, cell).unwrap_or_default() as u32;
        code.checked_sub(self.program.processes[at.process].first_location()).map(LocationId)
    }

    /// Sets the location of an instance.
    pub(super) fn set_location(&self, state: &mut [u8], at: ProcessInstance, to: LocationId) {
        let cell = self.layout.locations[at.process].in_slot(at.slot);
        let first = self.program.processes[at.process].first_location();
        self.layout.set(state, cell, Some(i64::from(to.0 + first)));
    }

    /// Returns the number of instances of a process.
    pub fn live(&self, state: &[u8], process: ProcessId) -> u32 {
        let slots = 0..self.program.slots(process);
        let taken =
            |&slot: &u32| self.location_in(state, ProcessInstance { process, slot }).is_some();
        slots.take_while(taken).count() as u32
    }

    /// Returns every instance, in the order of pids.
    pub fn instances(&self, state: &[u8]) -> Vec<ProcessInstance> {
        self.instances_of(state, self.program.processes.keys())
    }

    /// Returns every instance of some processes, in the order of pids. The processes are in the order of the program.
    pub(super) fn instances_of(
        &self,
        state: &[u8],
        processes: impl Iterator<Item = ProcessId>,
    ) -> Vec<ProcessInstance> {
        let mut all: Vec<(i64, ProcessInstance)> = Vec::new();
        for process in processes {
            for slot in 0..self.live(state, process) {
                let at = ProcessInstance { process, slot };
                all.push((self.pid(state, at), at));
            }
        }
        all.sort_by_key(|(pid, _)| *pid);
        all.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns the number of instances of all processes.
    pub fn count_processes(&self, state: &[u8]) -> i64 {
        self.program.processes.keys().map(|process| i64::from(self.live(state, process))).sum()
    }

    /// Returns the pid of an instance, or its slot if its process type has no pids.
    pub(super) fn pid(&self, state: &[u8], at: ProcessInstance) -> i64 {
        match self.program.processes[at.process].life.pid {
            PidRule::None => at.slot.into(),
            PidRule::From(first) => i64::from(first + at.slot),
            PidRule::In(variable) => {
                let cell = self.own_cell(variable, at.slot);
                self.value_in(state, cell).unwrap_or_default()
            }
        }
    }

    /// Returns the first cell of a local variable in a slot.
    pub(super) fn own_cell(&self, variable: spillway_ir::VarId, slot: u32) -> CellId {
        self.layout.variables[variable].in_slot(slot)
    }

    /// Returns the instance with a pid.
    pub(super) fn instance(&self, state: &[u8], pid: i64) -> Option<ProcessInstance> {
        self.program.processes.keys().find_map(|process| {
            let slot = self.slot_of(state, process, pid)?;
            Some(ProcessInstance { process, slot })
        })
    }

    /// Returns the slot of the instance of this process with a pid.
    pub(super) fn slot_of(&self, state: &[u8], process: ProcessId, pid: i64) -> Option<u32> {
        let slots = 0..self.live(state, process);
        slots.into_iter().find(|&slot| self.pid(state, ProcessInstance { process, slot }) == pid)
    }

    /// Starts an instance in the first free slot, and returns its pid.
    pub(super) fn start_instance(
        &self,
        process: ProcessId,
        arguments: &[i64],
        span: Span,
        state: &mut [u8],
    ) -> Result<i64, EvalFailure> {
        let about = &self.program.processes[process];
        let (slot, pid) = (self.live(state, process), self.count_processes(state));
        if pid >= PROCESSES_MAX {
            let message = format!("there are {PROCESSES_MAX} processes already");
            return Err(fault(FaultKind::Limit, span, message));
        }
        if slot >= self.program.slots(process) {
            let message = format!(
                "{} has no free slot: {slot} instances run already; use `-X slots={}` for more",
                about.name,
                slot.saturating_mul(2).max(16)
            );
            let kind = match self.program.slots_can_grow {
                true => FaultKind::NoSlot(process.0),
                false => FaultKind::Limit,
            };
            return Err(fault(kind, span, message));
        }
        let at = ProcessInstance { process, slot };
        self.set_location(state, at, about.start);
        for (id, variable) in self.program.variables.iter() {
            if variable.owner != Owner::Process(process) {
                continue;
            }
            let first = self.own_cell(id, slot);
            for (offset, &value) in variable.initial.iter().enumerate() {
                self.layout.set(state, CellId(first.0 + offset as u32), value);
            }
        }
        if let PidRule::In(variable) = about.life.pid {
            self.layout.set(state, self.own_cell(variable, slot), Some(pid));
        }
        for (&parameter, &value) in about.parameters.iter().zip(arguments) {
            let cell = self.own_cell(parameter, slot);
            let wrapped = self.layout.cells[cell].wrap(value);
            self.layout.set(state, cell, Some(wrapped));
        }
        self.run(&about.life.prologue, state, &LocalEnv::of(at))?;
        Ok(pid)
    }

    /// Ends an instance: all cells it owns become zero bits.
    pub(super) fn end_instance(&self, at: ProcessInstance, state: &mut [u8]) {
        for group in self.own_groups(at) {
            self.clear_cells(group.first.0, group.cells, state);
        }
    }

    /// Returns the cell groups of everything that an instance owns.
    pub(crate) fn own_groups(&self, at: ProcessInstance) -> impl Iterator<Item = &CellGroup> {
        let owner = Owner::Process(at.process);
        let groups = self.layout.groups.values();
        groups.filter(move |it| it.slot == at.slot && self.program.owner(it.part) == owner)
    }

    /// Returns whether any process is alive.
    pub(super) fn has_processes(&self, state: &[u8]) -> bool {
        self.program.processes.keys().any(|process| self.live(state, process) > 0)
    }

    /// Returns whether all processes have ended or are at valid end states.
    pub(super) fn all_at_end(&self, state: &[u8]) -> bool {
        self.program.processes.iter().all(|(process, about)| {
            (0..self.live(state, process)).all(|slot| {
                let at = self.location_in(state, ProcessInstance { process, slot });
                at.is_none_or(|at| about.locations[at].valid_end)
            })
        })
    }
}
