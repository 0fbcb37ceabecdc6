//! Sorts: classes of values that may name the same things.
//!
//! Each scalar of a variable, each index of an array, each field of a channel and each parameter has a *sort*. Values
//! that are compared, stored or sent from one to the other have one sort. A sort is *fixed* if its values are
//! computed with, ordered or used as truth values: such values are their own images. The values of all other sorts
//! are only names, so they can be exchanged. The inference is that of scalarset types in Ip and Dill 1996, section 5.

use crate::equivalence_classes::UnionFind;
use spillway_ir::interval::Interval;
use spillway_ir::{
    ActionId, Arena, ChannelId, LocalId, LocationId, ProcessEdge, ProcessId, Program, PropertyId,
    Type, TypeId, VarId,
};
use std::collections::HashMap;

/// A set of values that may meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ValueSort(pub(super) u32);

/// The sorts of the scalars of a type and of the indices of its arrays.
#[derive(Clone, Debug)]
pub(super) enum TypeSorts {
    Scalar { sort: ValueSort, range: Interval },
    Array { index: ValueSort, low: i64, length: u32, element: Box<TypeSorts> },
    Record(Vec<TypeSorts>),
}

/// The scope of a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LocalScope {
    Action(ActionId),
    Property(PropertyId),
    Process(ProcessId),
}

/// The sorts of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramSorts {
    classes: UnionFind,
    is_fixed: Vec<bool>,
    /// The ranges that must contain all exchanged values of a sort.
    ranges: Vec<Vec<Interval>>,
    pub(super) variables: Arena<VarId, TypeSorts>,
    pub(super) channels: Arena<ChannelId, Vec<TypeSorts>>,
    /// The sort of the slots of each process.
    pub(super) slots: Arena<ProcessId, ValueSort>,
    /// The sort of pids.
    pub(super) pids: ValueSort,
    locals: HashMap<(LocalScope, LocalId), (ValueSort, Interval)>,
}

impl ProgramSorts {
    /// Returns separate sorts for the variables, channels and processes of a program. Returns `None` if it has values
    /// of an unsupported type.
    pub(super) fn apart(program: &Program) -> Option<ProgramSorts> {
        let mut sorts = ProgramSorts::default();
        sorts.pids = sorts.fresh();
        for variable in program.variables.values() {
            let shape = sorts.shape(program, variable.ty)?;
            sorts.variables.push(shape);
        }
        for channel in program.channels.values() {
            let fields = channel.fields.iter().map(|&ty| sorts.shape(program, ty));
            let fields = fields.collect::<Option<_>>()?;
            sorts.channels.push(fields);
        }
        for _ in program.processes.values() {
            let slots = sorts.fresh();
            sorts.slots.push(slots);
        }
        Some(sorts)
    }

    fn fresh(&mut self) -> ValueSort {
        let sort = ValueSort(self.classes.add() as u32);
        self.is_fixed.push(false);
        self.ranges.push(Vec::new());
        sort
    }

    fn shape(&mut self, program: &Program, ty: TypeId) -> Option<TypeSorts> {
        match &program.types[ty] {
            Type::Scalar(scalar) => {
                let range = program.bounds(&scalar.domain);
                let sort = self.fresh();
                self.ranges[sort.0 as usize].push(range);
                Some(TypeSorts::Scalar { sort, range })
            }
            Type::Array { low, length, element, .. } => {
                let index = self.fresh();
                self.ranges[index.0 as usize].push((*low, *low + i64::from(*length) - 1));
                let element = Box::new(self.shape(program, *element)?);
                Some(TypeSorts::Array { index, low: *low, length: *length, element })
            }
            Type::Record { fields, .. } => {
                let fields = fields.iter().map(|(_, ty)| self.shape(program, *ty));
                Some(TypeSorts::Record(fields.collect::<Option<_>>()?))
            }
            Type::Multiset { .. } => None,
        }
    }

    /// Returns the representative of the class of a sort.
    pub(super) fn class(&self, sort: ValueSort) -> ValueSort {
        ValueSort(self.classes.find(sort.0 as usize) as u32)
    }

    /// Returns whether the values of a class are fixed.
    pub(super) fn is_fixed(&self, class: ValueSort) -> bool {
        self.is_fixed[class.0 as usize]
    }

    /// Returns whether a value fits wherever a value of the class is stored.
    pub(super) fn can_be_anywhere(&self, class: ValueSort, value: i64) -> bool {
        self.ranges[class.0 as usize].iter().all(|&(low, high)| low <= value && value <= high)
    }

    /// Returns the sort and the range of a local.
    pub(super) fn local(&self, scope: LocalScope, local: LocalId) -> Option<SortedValue> {
        let &(sort, range) = self.locals.get(&(scope, local))?;
        Some(SortedValue::Of { sort, range })
    }

    /// Adds a local that may have any value in a range.
    pub(super) fn bind(&mut self, scope: LocalScope, local: LocalId, range: Interval) {
        let sort = self.fresh();
        self.ranges[sort.0 as usize].push(range);
        self.locals.insert((scope, local), (sort, range));
    }

    /// Makes the class of a sort fixed.
    pub(super) fn fix(&mut self, sort: ValueSort) {
        let class = self.class(sort);
        self.is_fixed[class.0 as usize] = true;
    }

    pub(super) fn join(&mut self, one: ValueSort, other: ValueSort) {
        let (one, other) = self.classes.union(one.0 as usize, other.0 as usize);
        if one != other {
            self.is_fixed[one] |= self.is_fixed[other];
            let ranges = std::mem::take(&mut self.ranges[other]);
            self.ranges[one].extend(ranges);
        }
    }

    pub(super) fn join_shapes(&mut self, one: &TypeSorts, other: &TypeSorts) -> Option<()> {
        match (one, other) {
            (TypeSorts::Scalar { sort: one, .. }, TypeSorts::Scalar { sort: other, .. }) => {
                self.join(*one, *other);
                Some(())
            }
            (
                TypeSorts::Array { index: one, element: own, .. },
                TypeSorts::Array { index: other, element: others, .. },
            ) => {
                self.join(*one, *other);
                self.join_shapes(own, others)
            }
            (TypeSorts::Record(own), TypeSorts::Record(others)) if own.len() == others.len() => {
                own.iter().zip(others).try_for_each(|(one, other)| self.join_shapes(one, other))
            }
            _ => None,
        }
    }
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SortedValue {
    /// A constant in the first text and one in the second.
    Constant(i64, i64),
    /// A value of a sort, in this range.
    Of { sort: ValueSort, range: Interval },
    /// A number that is its own image, in both texts.
    Plain,
}

/// Returns the value of a scalar.
pub(super) fn scalar(shape: &TypeSorts) -> Option<SortedValue> {
    match shape {
        TypeSorts::Scalar { sort, range } => Some(SortedValue::Of { sort: *sort, range: *range }),
        _ => None,
    }
}

/// A location and its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LocationInProcess {
    pub(super) process: ProcessId,
    pub(super) location: LocationId,
}

impl LocationInProcess {
    /// Returns the source of an edge.
    pub(super) fn source(edge: ProcessEdge) -> LocationInProcess {
        LocationInProcess { process: edge.process, location: edge.from }
    }

    /// Returns the target of an edge.
    pub(super) fn target(edge: ProcessEdge) -> LocationInProcess {
        LocationInProcess { process: edge.process, location: edge.to }
    }
}

/// A name for each value of a scalar type.
#[derive(Clone, Copy)]
pub(super) struct ScalarBinding {
    pub(super) local: LocalId,
    pub(super) over: TypeId,
}
