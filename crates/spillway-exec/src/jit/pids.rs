//! Pids known at compile time, and the numbers of channels, which follow from them.

use crate::interp::ChannelInstance;
use spillway_ir::{Owner, PidRule, ProcessInstance, Program};

/// Returns the pid of an instance, if it never changes.
pub(super) fn known_pid(program: &Program, at: ProcessInstance) -> Option<i64> {
    match program.processes[at.process].life.pid {
        PidRule::None => Some(at.slot.into()),
        PidRule::From(first) => Some(i64::from(first + at.slot)),
        PidRule::In(_) => None,
    }
}

/// Returns every channel with its number, if the numbers are known: those of the program, then those of the instances
/// in the order of their pids.
pub(super) fn numbered(program: &Program) -> Option<Vec<(i64, ChannelInstance)>> {
    let mut all: Vec<ChannelInstance> =
        program.channels_of(Owner::Program).map(|id| ChannelInstance { id, slot: 0 }).collect();
    let own = |process| program.channels_of(Owner::Process(process));
    if program.processes.keys().any(|process| own(process).next().is_some()) {
        // With known pids, the instances before an instance are always the same.
        let mut instances = Vec::new();
        for at in program.instances() {
            match program.processes[at.process].life.pid {
                PidRule::From(_) => instances.push((known_pid(program, at)?, at)),
                _ => return None,
            }
        }
        instances.sort_by_key(|(pid, _)| *pid);
        for (_, at) in instances {
            all.extend(own(at.process).map(|id| ChannelInstance { id, slot: at.slot }));
        }
    }
    Some(all.into_iter().zip(1..).map(|(at, number)| (number, at)).collect())
}
