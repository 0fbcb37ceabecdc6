//! Validation of variables, channels, processes and the heads of functions (rules 7 to 11, 33 and 34).

use super::{ProgramValidator, Rule, SCALARS_MAX};
use crate::{
    Channel, Function, InstanceCount, Owner, PidRule, Process, ProcessId, PropertyKind, ScalarType,
    Schedule, Type, TypeId, VarId, Variable,
};
use spillway_base::source::Span;

/// An error in the initial value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum InitialValueError {
    /// A scalar that must have a value is undefined.
    #[error("an undefined value where one of {low}..{high} is needed")]
    Undefined {
        /// The least value of the scalar's type.
        low: i64,
        /// The greatest value of the scalar's type.
        high: i64,
    },
    /// A value is outside of its type.
    #[error("{value}, which is not in {low}..{high}")]
    OutOfRange {
        /// The value.
        value: i64,
        /// The least value of the scalar's type.
        low: i64,
        /// The greatest value of the scalar's type.
        high: i64,
    },
    /// A place after the elements of a multiset holds a value.
    #[error("something in a place of a multiset that has no element")]
    UnusedPlace,
}

impl ProgramValidator<'_> {
    pub(super) fn declarations(&mut self) {
        let program = self.program;
        program.variables.values().for_each(|variable| self.variable(variable));
        program.channels.values().for_each(|channel| self.channel(channel));
        program.processes.iter().for_each(|(id, process)| self.process(id, process));
        program.functions.values().for_each(|function| self.function_head(function));
        self.automata();
        self.require(!program.starts.is_empty(), Rule::Starts, Span::default(), || {
            "the program has no way to begin".into()
        });
        if self.problems.is_empty() {
            self.state_size();
        }
    }

    /// Checks rules 1 and 8.
    fn variable(&mut self, variable: &Variable) {
        let Variable { name, ty, owner, initial, span } = variable;
        if !self.known_type(*ty, *span) || !self.known_owner(*owner, *span) {
            return;
        }
        let scalars = self.types.scalars(*ty);
        if initial.len() as u64 != scalars {
            let message = format!("{name} has {scalars} scalars, but {} values", initial.len());
            return self.problem(Rule::Initial, *span, message);
        }
        let mut at = 0;
        if let Err(wrong) = self.initial(*ty, initial, &mut at) {
            self.problem(Rule::Initial, *span, format!("{name} begins with {wrong}"));
        }
    }

    /// Checks rule 8 for the values from `at` on. There are enough values.
    fn initial(
        &self,
        ty: TypeId,
        values: &[Option<i64>],
        at: &mut usize,
    ) -> Result<(), InitialValueError> {
        match &self.program.types[ty] {
            Type::Array { length, element, .. } => {
                (0..*length).try_for_each(|_| self.initial(*element, values, at))
            }
            Type::Record { fields, .. } => {
                fields.iter().try_for_each(|(_, ty)| self.initial(*ty, values, at))
            }
            Type::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    one_of(values[*at], 0, 1, false)?;
                    *at += 1;
                    match values[*at - 1] {
                        Some(1) => self.initial(*element, values, at)?,
                        _ => self.check_unused(*element, values, at)?,
                    }
                }
                Ok(())
            }
            Type::Scalar(ScalarType { domain, undefined }) => {
                let (low, high) = self.program.bounds(domain);
                one_of(values[*at], low, high, *undefined)?;
                *at += 1;
                Ok(())
            }
        }
    }

    /// Checks rule 8 for a place of a multiset after its elements.
    fn check_unused(
        &self,
        ty: TypeId,
        values: &[Option<i64>],
        at: &mut usize,
    ) -> Result<(), InitialValueError> {
        let first = *at;
        self.initial(ty, values, at)?;
        match values[first..*at].iter().eq(&self.unused_values(ty)) {
            true => Ok(()),
            false => Err(InitialValueError::UnusedPlace),
        }
    }

    /// Returns the contents of unused places, so that equal multisets are equal bytes: undefined, or the least value
    /// if they cannot be undefined.
    fn unused_values(&self, ty: TypeId) -> Vec<Option<i64>> {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { undefined: true, .. }) => vec![None],
            Type::Scalar(ScalarType { domain, .. }) => vec![Some(self.program.bounds(domain).0)],
            Type::Array { length, element, .. } => {
                self.unused_values(*element).repeat(*length as usize)
            }
            Type::Record { fields, .. } => {
                fields.iter().flat_map(|(_, ty)| self.unused_values(*ty)).collect()
            }
            Type::Multiset { capacity, element } => {
                [vec![Some(0)], self.unused_values(*element)].concat().repeat(*capacity as usize)
            }
        }
    }

    /// Checks rules 1, 9 and 32.
    fn channel(&mut self, channel: &Channel) {
        let Channel { name, owner, capacity, fields, span, .. } = channel;
        self.known_owner(*owner, *span);
        for &ty in fields {
            if self.known_type(ty, *span) {
                self.require(self.is_scalar(ty), Rule::ChannelFields, *span, || {
                    format!("channel {name} has a field that is no scalar")
                });
            }
        }
        let refused = self.program.schedule == Schedule::Lockstep && *capacity == 0;
        self.require(!refused, Rule::Lockstep, *span, || {
            format!("channel {name} is a rendezvous, which a program in lockstep cannot have")
        });
    }

    /// Checks rule 10.
    fn process(&mut self, id: ProcessId, process: &Process) {
        let Process { name, locations, start, instances, parameters, life, span } = process;
        self.require(locations.get(*start).is_some(), Rule::Processes, *span, || {
            format!("process {name} starts at {start:?}, but has {} locations", locations.len())
        });
        if let InstanceCount::Slots { capacity, active } = *instances {
            self.require(capacity > 0 && active <= capacity, Rule::Processes, *span, || {
                format!("process {name} begins {active} times in {capacity} slots")
            });
        }
        for (at, &parameter) in parameters.iter().enumerate() {
            self.process_parameter(id, parameter, parameters[..at].contains(&parameter), *span);
        }
        let pid = match life.pid {
            PidRule::In(variable) => Some(variable),
            PidRule::None | PidRule::From(_) => None,
        };
        for variable in pid.into_iter().chain(life.priority) {
            self.process_parameter(id, variable, parameters.contains(&variable), *span);
        }
    }

    /// Checks rule 11.
    fn process_parameter(&mut self, id: ProcessId, parameter: VarId, again: bool, span: Span) {
        if !self.known_variable(parameter, span) {
            return;
        }
        let Variable { name, owner, ty, .. } = &self.program.variables[parameter];
        let right = *owner == Owner::Process(id)
            && !again
            && self.program.types.get(*ty).is_some_and(|ty| matches!(ty, Type::Scalar(_)));
        self.require(right, Rule::ProcessParameters, span, || {
            format!("parameter {name} is not a scalar variable of the process, given once")
        });
    }

    /// Checks rules 1 and 17.
    fn function_head(&mut self, function: &Function) {
        let Function { name, parameters, result, span, .. } = function;
        if let Some(ty) = *result
            && self.known_type(ty, *span)
        {
            self.require(self.is_scalar(ty), Rule::ScalarRanges, *span, || {
                format!("function {name} gives a value that is no scalar")
            });
        }
        for parameter in parameters {
            self.known_type(parameter.ty, *span);
        }
    }

    /// Checks rule 33.
    fn automata(&mut self) {
        let mut watches = vec![false; self.program.processes.len()];
        for property in self.program.properties.values() {
            if let PropertyKind::Automaton(process) = property.kind
                && self.known_process(process, property.span)
            {
                watches[process.0 as usize] = true;
            }
        }
        for action in self.program.actions.values() {
            let process = action.edge.and_then(|edge| watches.get(edge.process.0 as usize));
            self.require(process != Some(&true), Rule::Automata, action.span, || {
                format!("action {} moves a property automaton", action.name)
            });
        }
    }

    /// Checks rule 7.
    fn state_size(&mut self) {
        let program = self.program;
        let mut own = vec![1u64; program.processes.len()];
        let mut total = 0u64;
        let mut add = |owner, scalars: u64| {
            let sum = match owner {
                Owner::Program => &mut total,
                Owner::Process(process) => &mut own[process.0 as usize],
            };
            *sum = sum.saturating_add(scalars);
        };
        for variable in program.variables.values() {
            add(variable.owner, self.types.scalars(variable.ty));
        }
        for channel in program.channels.values() {
            let messages = u64::from(channel.capacity).saturating_mul(channel.fields.len() as u64);
            add(channel.owner, messages.saturating_add(1));
        }
        for (process, own) in program.processes.values().zip(own) {
            let slots = match process.instances {
                InstanceCount::One => 1,
                InstanceCount::Slots { capacity, .. } => u64::from(capacity),
            };
            total = total.saturating_add(own.saturating_mul(slots));
        }
        self.require(total <= SCALARS_MAX, Rule::StateSize, Span::default(), || {
            format!("a state has {total} scalars, more than {SCALARS_MAX}")
        });
    }
}

fn one_of(
    value: Option<i64>,
    low: i64,
    high: i64,
    undefined: bool,
) -> Result<(), InitialValueError> {
    match value {
        None if undefined => Ok(()),
        None => Err(InitialValueError::Undefined { low, high }),
        Some(value) if (low..=high).contains(&value) => Ok(()),
        Some(value) => Err(InitialValueError::OutOfRange { value, low, high }),
    }
}
