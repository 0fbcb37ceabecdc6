//! Descriptions of states in the terms of the source.

use super::Interp;
use super::channels::ChannelInstance;
use super::step_sink::StepAction;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Action, ChannelRef, Communication, Domain, Owner, ProcessId, ProcessInstance, Program,
    ScalarType, Stmt, StmtKind, Type, TypeId,
};
use spillway_model::{OutgoingAction, ProcessLocation, StateValue, StepActor, without_process};

impl Interp {
    /// Returns every variable, location and buffered channel with its printed value, in declaration order.
    pub(super) fn describe_state(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        let mut lines = self.describe_owned(Owner::Program, 0, "", state);
        for (id, process) in self.program.processes.iter() {
            if process.has_slots() {
                continue;
            }
            let at = self.location(state, id);
            lines.push((process.name.clone(), process.locations[at].name.as_str().into()));
            let prefix = format!("{}.", process.name);
            lines.extend(self.describe_owned(Owner::Process(id), 0, &prefix, state));
        }
        if self.has_slots {
            self.describe_instances(state, &mut lines);
        }
        lines
    }

    /// Adds the live processes with their pids.
    fn describe_instances(&self, state: &[u8], lines: &mut Vec<(String, StateValue)>) {
        for (pid, at) in self.instances(state).into_iter().enumerate() {
            let process = &self.program.processes[at.process];
            let name = format!("{}[{pid}]", process.name);
            if let Some(location) = self.location_in(state, at) {
                let location = &process.locations[location];
                lines.push((name.clone(), location.name.as_str().into()));
            }
            let (owner, prefix) = (Owner::Process(at.process), format!("{name}."));
            lines.extend(self.describe_owned(owner, at.slot, &prefix, state));
        }
    }

    fn describe_owned(
        &self,
        owner: Owner,
        slot: u32,
        prefix: &str,
        state: &[u8],
    ) -> Vec<(String, StateValue)> {
        let mut lines = Vec::new();
        for (id, variable) in self.program.variables.iter() {
            if variable.owner == owner {
                let mut cell = self.own_cell(id, slot);
                let value = self.value_of(variable.ty, &mut cell, state);
                lines.push((format!("{prefix}{}", variable.name), value));
            }
        }
        for (id, channel) in self.program.channels.iter() {
            if channel.owner == owner && channel.capacity > 0 {
                let held = self.messages_in(ChannelInstance { id, slot }, state);
                lines.push((format!("{prefix}{}", channel.name), held));
            }
        }
        lines
    }

    fn messages_in(&self, channel: ChannelInstance, state: &[u8]) -> StateValue {
        let fields = &self.program.channels[channel.id].fields;
        let message = |position| {
            let value = |(field, &ty): (usize, &TypeId)| {
                self.value_of(ty, &mut self.message_cell(channel, position, field), state)
            };
            let mut values: Vec<StateValue> = fields.iter().enumerate().map(value).collect();
            match values.len() {
                1 => values.remove(0),
                _ => StateValue::Message(values),
            }
        };
        StateValue::Queue((0..self.length(channel, state)).map(message).collect())
    }

    /// Returns the value that starts at `cell`; moves `cell` past it.
    pub(super) fn value_of(&self, ty: TypeId, cell: &mut CellId, state: &[u8]) -> StateValue {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => {
                let value = self.layout.get(state, *cell);
                cell.0 += 1;
                value.map_or(StateValue::Undefined, |value| scalar(&self.program, domain, value))
            }
            Type::Array { low, length, by, element } => {
                let mut next = || self.value_of(*element, cell, state);
                match by {
                    None => StateValue::Array(*low, (0..*length).map(|_| next()).collect()),
                    Some(by) => {
                        let index = |at| self.index_name(Some(by), low + i64::from(at));
                        StateValue::Table((0..*length).map(|at| (index(at), next())).collect())
                    }
                }
            }
            Type::Record { fields, .. } => {
                let mut field =
                    |(name, ty): &(String, TypeId)| (name.clone(), self.value_of(*ty, cell, state));
                StateValue::Record(fields.iter().map(&mut field).collect())
            }
            Type::Multiset { capacity, element } => {
                let mut values = Vec::new();
                for _ in 0..*capacity {
                    let there = self.layout.get(state, *cell) == Some(1);
                    cell.0 += 1;
                    let value = self.value_of(*element, cell, state);
                    values.extend(there.then_some(value));
                }
                StateValue::Bag(values)
            }
        }
    }

    /// Returns the printed name of an array index, if the indices have names.
    pub(super) fn index_name(&self, by: Option<&Domain>, index: i64) -> String {
        by.map_or(index.to_string(), |by| scalar(&self.program, by, index).to_string())
    }

    /// Returns the live processes with their names in descriptions.
    fn named_instances(&self, state: &[u8]) -> Vec<(ProcessInstance, String)> {
        let all = self.program.processes.iter();
        let fixed = all.filter(|(_, it)| !it.has_slots());
        let fixed =
            fixed.map(|(id, it)| (ProcessInstance { process: id, slot: 0 }, it.name.clone()));
        let live = if self.has_slots { self.instances(state) } else { Vec::new() };
        let named = live.into_iter().enumerate().filter_map(|(pid, it)| {
            let about = &self.program.processes[it.process];
            about.has_slots().then(|| (it, format!("{}[{pid}]", about.name)))
        });
        fixed.chain(named).collect()
    }

    /// Returns the location of the process of this name.
    pub(super) fn place_of(&self, process: &str, state: &[u8]) -> Option<&str> {
        let named = self.named_instances(state);
        let (instance, _) = named.into_iter().find(|(_, it)| it == process)?;
        let at = self.location_in(state, instance)?;
        Some(&self.program.processes[instance.process].locations[at].name)
    }

    /// Returns the contents of a channel of the program or the mover, with its name; `None` if the channel is
    /// unbuffered.
    pub(super) fn held_in(
        &self,
        channel: &ChannelRef,
        mover: Option<ProcessInstance>,
        state: &[u8],
    ) -> Option<(String, StateValue)> {
        let ChannelRef::Named(id) = *channel else { return None };
        let about = &self.program.channels[id];
        let slot = match about.owner {
            Owner::Program => 0,
            Owner::Process(owner) => mover.filter(|it| it.process == owner)?.slot,
        };
        let held = || self.messages_in(ChannelInstance { id, slot }, state);
        (about.capacity > 0).then(|| (about.name.clone(), held()))
    }

    /// Returns the locations of the live processes.
    pub(super) fn standing_in(&self, state: &[u8]) -> Vec<ProcessLocation> {
        let standing = |(instance, process): (ProcessInstance, String)| {
            let at = self.location_in(state, instance)?;
            let about = &self.program.processes[instance.process];
            let location = &about.locations[at];
            let leads_on = |action: &&Action| {
                let is_here =
                    action.edge.is_some_and(|it| it.process == instance.process && it.from == at);
                // A process at its end can only exit.
                is_here && !matches!(action.body[..], [Stmt { kind: StmtKind::Exit, .. }])
            };
            let way = |action: &Action| {
                let name = without_process(&action.name, &about.name).to_owned();
                // A guard from an `inline` has another source position than the action.
                let guard = action.guard.as_ref().map(|it| it.span);
                let guard = guard.filter(|it| action.span.to(*it) == action.span);
                OutgoingAction {
                    name,
                    guard,
                    operands: self.operands_of_action(action, instance, state),
                }
            };
            let ways = self.program.actions.values().filter(leads_on).map(way).collect();
            Some(ProcessLocation {
                process,
                location: location.name.clone(),
                span: location.span,
                outgoing: ways,
            })
        };
        self.named_instances(state).into_iter().filter_map(standing).collect()
    }

    /// Returns the process that takes an action in a state.
    pub(super) fn actor(&self, state: &[u8], taken: &StepAction) -> Option<StepActor> {
        let action = &self.program.actions[taken.action];
        let mover = ProcessInstance { process: action.edge?.process, slot: taken.slot };
        let named = self.named_instances(state).into_iter().find(|(it, _)| *it == mover);
        let own = || self.program.processes[mover.process].name.clone();
        let process = named.map_or_else(own, |(_, name)| name);
        let sends = matches!(action.communication, Some(Communication::Send { .. }));
        Some(StepActor { process, action: action.name.clone(), sends })
    }

    /// Returns the values of an action's parameters, with their names in the source.
    pub(super) fn parameters_of(&self, taken: &StepAction) -> Vec<(String, StateValue)> {
        let parameters = &self.program.actions[taken.action].parameters;
        let domains: Option<Vec<&Domain>> = (parameters.iter())
            .map(|it| match &self.program.types[it.over] {
                Type::Scalar(scalar) => Some(&scalar.domain),
                _ => None,
            })
            .collect();
        let Some(domains) = domains else { return Vec::new() };
        let bounds: Vec<(i64, i64)> = domains.iter().map(|it| self.program.bounds(it)).collect();
        let counts = bounds.iter().map(|&(low, high)| i128::from(high) - i128::from(low) + 1);
        let counts: Vec<i128> = counts.collect();
        // Beyond this, combinations are not numbered.
        let all = counts.iter().try_fold(1, |all: i128, &it| all.checked_mul(it));
        if all.is_none_or(|it| it > i128::from(u32::MAX)) {
            return Vec::new();
        }
        let mut rest = i128::from(taken.combination);
        let mut found = Vec::new();
        for (at, parameter) in parameters.iter().enumerate().rev() {
            let value = bounds[at].0 + (rest % counts[at]) as i64;
            rest /= counts[at];
            found.push((parameter.name.clone(), scalar(&self.program, domains[at], value)));
        }
        found.reverse();
        found
    }
}

/// Returns a value as the source writes it.
fn scalar(program: &Program, domain: &Domain, value: i64) -> StateValue {
    match domain {
        Domain::Bool => StateValue::Truth(value != 0),
        Domain::Enum(id) => program.enums[*id].values[value as usize].as_str().into(),
        Domain::Scalarset(id) => format!("{}_{}", program.scalarsets[*id].name, value + 1).into(),
        Domain::Union(parts) => {
            let mut rest = value;
            for part in parts {
                let (low, high) = program.bounds(part);
                if rest <= high - low {
                    return scalar(program, part, rest + low);
                }
                rest -= high - low + 1;
            }
            value.into()
        }
        Domain::Process => program
            .processes
            .get(ProcessId(value as u32))
            .map_or(value.into(), |process| process.name.as_str().into()),
        Domain::Range { .. } | Domain::Channel => value.into(),
    }
}
