//! The generation of declarations: rules of the program, channels, processes and variables.

use super::{Builder, Numbers, Recipe};
use spillway::ir::{
    Arithmetic, Channel, Domain, EndRule, Entity, EnumType, InstanceCount, Location, LocationId,
    OverflowRule, Owner, Process, ProcessId, ProcessLifecycle, ScalarType, Scalarset, Schedule,
    Type, TypeId, Urgency, Variable,
};

/// The maximum number of processes in lockstep, whose steps are the product of their actions.
const LOCKSTEP_MAX: usize = 3;

impl<'a> Builder<'a> {
    pub(super) fn declare(&mut self, recipe: &'a Recipe) {
        self.rules();
        self.names();
        let commits = self.choices.chance(25);
        let most = match self.choices.chance(12) {
            true if !self.is_lockstep() => 0,
            _ if self.is_lockstep() => LOCKSTEP_MAX,
            _ => usize::MAX,
        };
        for (numbers, _) in recipe.processes.iter().take(most) {
            self.begin_part(numbers);
            self.process(commits);
        }
        for numbers in &recipe.channels {
            self.channel(numbers);
        }
        for numbers in &recipe.variables {
            self.variable(numbers);
        }
    }

    pub(super) fn is_lockstep(&self) -> bool {
        self.program.schedule == Schedule::Lockstep
    }

    fn rules(&mut self) {
        let choices = &mut self.choices;
        if choices.chance(12) {
            self.program.schedule = Schedule::Lockstep;
        }
        if choices.chance(45) {
            self.program.arithmetic = Arithmetic::Checked64;
        }
        if choices.chance(30) {
            self.program.end = EndRule::AllAtValidEnd;
        }
        self.recklessness = choices.pick(&[0, 10, 20, 20, 40, 60]);
    }

    /// Adds the types that every program has: truth values, an enumeration and a scalarset.
    fn names(&mut self) {
        let boolean = Type::Scalar(ScalarType::defined(Domain::Bool));
        self.small.push(self.program.types.push(boolean));
        let values = 1 + self.choices.below(4);
        let values = (0..values).map(|at| format!("e{at}")).collect();
        self.program.enums.push(EnumType { name: "E".into(), values });
        let size = self.choices.between(1, 4) as u32;
        self.program.scalarsets.push(Scalarset { name: "S".into(), size });
    }

    fn process(&mut self, commits: bool) {
        let number = self.program.processes.len();
        let count = 1 + self.choices.below(4);
        let locations = (0..count).map(|at| self.location(at, commits)).collect();
        let start = LocationId(self.choices.below(count) as u32);
        let span = self.span();
        self.program.processes.push(Process {
            name: format!("P{number}"),
            locations,
            start,
            instances: InstanceCount::One,
            parameters: vec![],
            life: ProcessLifecycle::default(),
            span,
        });
    }

    fn location(&mut self, at: usize, commits: bool) -> Location {
        let committed = commits && self.choices.chance(20);
        Location {
            name: format!("l{at}"),
            urgency: if committed { Urgency::Committed } else { Urgency::Free },
            valid_end: self.choices.chance(40),
            progress: false,
            accepting: false,
            span: self.span(),
        }
    }

    fn owner(&mut self) -> Owner {
        match self.program.processes.len() {
            0 => Owner::Program,
            _ if !self.choices.chance(40) => Owner::Program,
            count => Owner::Process(ProcessId::from_index(self.choices.below(count))),
        }
    }

    fn overflow(&mut self) -> OverflowRule {
        self.choices.pick(&[OverflowRule::Wraps, OverflowRule::Fails])
    }

    fn channel(&mut self, numbers: &'a Numbers) {
        self.begin_part(numbers);
        let rendezvous =
            !self.is_lockstep() && self.program.processes.len() > 1 && self.choices.chance(50);
        let capacity = if rendezvous { 0 } else { self.choices.between(1, 4) as u32 };
        let count = self.choices.pick(&[1, 2, 3, 0]);
        let fields = (0..count).map(|_| self.scalar_type()).collect();
        let (name, owner) = (format!("c{}", self.program.channels.len()), self.owner());
        let (overflow, span) = (self.overflow(), self.span());
        let channel = Channel { name, owner, capacity, fields, overflow, span };
        self.program.channels.push(channel);
    }

    fn variable(&mut self, numbers: &'a Numbers) {
        self.begin_part(numbers);
        let ty = self.any_type();
        let mut initial = Vec::new();
        self.initial(ty, &mut initial);
        let (name, owner) = (format!("v{}", self.program.variables.len()), self.owner());
        let span = self.span();
        self.program.variables.push(Variable { name, ty, owner, initial, span });
    }

    fn initial(&mut self, ty: TypeId, values: &mut Vec<Option<i64>>) {
        match self.program.types[ty].clone() {
            Type::Scalar(scalar) => values.push(self.initial_scalar(&scalar)),
            Type::Array { length, element, .. } => {
                (0..length).for_each(|_| self.initial(element, values));
            }
            Type::Record { fields, .. } => {
                fields.iter().for_each(|(_, ty)| self.initial(*ty, values));
            }
            Type::Multiset { capacity, element } => {
                let size = self.choices.between(0, capacity.into());
                for position in 0..i64::from(capacity) {
                    let there = position < size;
                    values.push(Some(there.into()));
                    match there {
                        true => self.initial(element, values),
                        false => self.unused(element, values),
                    }
                }
            }
        }
    }

    fn initial_scalar(&mut self, scalar: &ScalarType) -> Option<i64> {
        let (low, high) = self.program.bounds(&scalar.domain);
        match self.choices.weighted(&[60, 20, 10, 10]) {
            1 => Some(self.choices.between(low, high.min(low.saturating_add(5)))),
            2 => Some(high),
            3 if scalar.undefined => None,
            _ => Some(low),
        }
    }

    /// Appends the values at the unused positions of a multiset: undefined, or the least value.
    fn unused(&mut self, ty: TypeId, values: &mut Vec<Option<i64>>) {
        match self.program.types[ty].clone() {
            Type::Scalar(ScalarType { undefined: true, .. }) => values.push(None),
            Type::Scalar(scalar) => values.push(Some(self.program.bounds(&scalar.domain).0)),
            Type::Array { length, element, .. } => {
                (0..length).for_each(|_| self.unused(element, values));
            }
            Type::Record { fields, .. } => {
                fields.iter().for_each(|(_, ty)| self.unused(*ty, values))
            }
            Type::Multiset { capacity, element } => {
                for _ in 0..capacity {
                    values.push(Some(0));
                    self.unused(element, values);
                }
            }
        }
    }
}
