//! A state in the user's words.

use super::Interp;
use super::channels::ChannelAt;
use crate::ir::layout::CellId;
use crate::ir::{Domain, Instances, Owner, ProcessId, Program, Scalar, Type, TypeId};

impl Interp {
    /// Every variable, location and buffered channel with its printed value, in declaration order.
    pub(super) fn describe_state(&self, state: &[u8]) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        self.describe_owned(Owner::Program, 0, "", state, &mut lines);
        for (id, process) in self.program.processes.iter() {
            if process.instances != Instances::One {
                continue;
            }
            let at = self.location(state, id);
            lines.push((process.name.clone(), process.locations[at].name.clone()));
            let prefix = format!("{}.", process.name);
            self.describe_owned(Owner::Process(id), 0, &prefix, state, &mut lines);
        }
        if self.has_slots {
            self.describe_instances(state, &mut lines);
        }
        lines
    }

    /// The processes that are there, with their pids.
    fn describe_instances(&self, state: &[u8], lines: &mut Vec<(String, String)>) {
        for (pid, at) in self.instances(state).into_iter().enumerate() {
            let process = &self.program.processes[at.process];
            let name = format!("{}[{pid}]", process.name);
            if let Some(location) = self.location_in(state, at) {
                let location = &process.locations[location];
                lines.push((name.clone(), location.name.clone()));
            }
            self.describe_owned(
                Owner::Process(at.process),
                at.slot,
                &format!("{name}."),
                state,
                lines,
            );
        }
    }

    fn describe_owned(
        &self,
        owner: Owner,
        slot: u32,
        prefix: &str,
        state: &[u8],
        lines: &mut Vec<(String, String)>,
    ) {
        for (id, variable) in self.program.variables.iter() {
            if variable.owner == owner {
                let mut cell = self.own_cell(id, slot);
                let value = self.print_value(variable.ty, &mut cell, state);
                lines.push((format!("{prefix}{}", variable.name), value));
            }
        }
        for (id, channel) in self.program.channels.iter() {
            if channel.owner == owner && channel.capacity > 0 {
                let printed = self.print_channel(ChannelAt { id, slot }, state);
                lines.push((format!("{prefix}{}", channel.name), printed));
            }
        }
    }

    fn print_channel(&self, channel: ChannelAt, state: &[u8]) -> String {
        let fields = &self.program.channels[channel.id].fields;
        let messages = (0..self.length(channel, state)).map(|position| {
            let values: Vec<String> = fields
                .iter()
                .enumerate()
                .map(|(field, &ty)| {
                    let mut cell = self.message_cell(channel, position, field);
                    self.print_value(ty, &mut cell, state)
                })
                .collect();
            match values.as_slice() {
                [value] => value.clone(),
                values => format!("{{{}}}", values.join(", ")),
            }
        });
        format!("<{}>", messages.collect::<Vec<_>>().join(", "))
    }

    /// Prints the value that starts at `cell`, and moves `cell` behind it.
    fn print_value(&self, ty: TypeId, cell: &mut CellId, state: &[u8]) -> String {
        match &self.program.types[ty] {
            Type::Scalar(Scalar { domain, .. }) => {
                let value = self.layout.get(state, *cell);
                cell.0 += 1;
                value.map_or("undefined".into(), |value| print_scalar(&self.program, domain, value))
            }
            Type::Array { length, element, .. } => {
                let values: Vec<_> =
                    (0..*length).map(|_| self.print_value(*element, cell, state)).collect();
                format!("[{}]", values.join(", "))
            }
            Type::Record { fields, .. } => {
                let values: Vec<_> = fields
                    .iter()
                    .map(|(name, ty)| format!("{name}: {}", self.print_value(*ty, cell, state)))
                    .collect();
                format!("{{{}}}", values.join(", "))
            }
            Type::Multiset { capacity, element } => {
                let mut values = Vec::new();
                for _ in 0..*capacity {
                    let there = self.layout.get(state, *cell) == Some(1);
                    cell.0 += 1;
                    let value = self.print_value(*element, cell, state);
                    values.extend(there.then_some(value));
                }
                format!("{{{}}}", values.join(", "))
            }
        }
    }
}

/// A value as the user writes it.
fn print_scalar(program: &Program, domain: &Domain, value: i64) -> String {
    match domain {
        Domain::Bool => (value != 0).to_string(),
        Domain::Enum(id) => program.enums[*id].values[value as usize].clone(),
        Domain::Scalarset(id) => format!("{}_{}", program.scalarsets[*id].name, value + 1),
        Domain::Union(parts) => {
            let mut rest = value;
            for part in parts {
                let (low, high) = program.bounds(part);
                if rest <= high - low {
                    return print_scalar(program, part, rest + low);
                }
                rest -= high - low + 1;
            }
            value.to_string()
        }
        Domain::Process => program
            .processes
            .get(ProcessId(value as u32))
            .map_or(value.to_string(), |process| process.name.clone()),
        Domain::Range { .. } | Domain::Channel => value.to_string(),
    }
}
