//! Bindings of names while code runs, and function calls.
//!
//! Local variables and parameters by value occupy cells after those of the state (see [`layout`](spillway_ir::layout)).
//! The buffer is a state followed by space for every frame. A variable is cleared at its declaration, so no body sees
//! the values that an earlier body left.

use super::failure::fault;
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::layout::{CellId, LocalFrame};
use spillway_ir::{
    CallArgument, Entity, Function, FunctionId, LocalId, OverflowRule, Place, ProcessInstance,
    ScalarType, Type, TypeId,
};
use spillway_model::{CallSite, FaultKind};
use std::cell::{Cell, RefCell};

/// The binding of a local.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum LocalValue {
    /// Unbound.
    #[default]
    Nothing,
    /// A value: a parameter of the action, or bound by a loop or quantifier.
    Value(i64),
    /// Cells from this one on: a variable, a parameter of the function, an alias.
    Cells(CellId, TypeId),
}

/// The bindings of the locals of one body, by [`LocalId`]. Each local is bound again at its binder, so no local needs
/// to be unbound.
#[derive(Clone, Default)]
pub(super) struct LocalEnv<'a> {
    bound: RefCell<Vec<LocalValue>>,
    /// The combination of values of the bound parameters.
    pub(super) combination: Cell<u32>,
    /// The cells of the variables of the body.
    frame: Option<&'a LocalFrame>,
    /// The mover, if it is a process.
    pub(super) mover: Option<ProcessInstance>,
    /// The value of `timeout`: whether no step is possible otherwise.
    pub(super) timeout: bool,
    /// The depth of nested `enabled` queries between processes.
    pub(super) asking: u32,
    /// Whether failures need no message.
    pub(super) is_terse: bool,
}

impl<'a> LocalEnv<'a> {
    /// Creates the bindings of a body with this frame.
    pub(super) fn new(frame: &'a LocalFrame) -> Self {
        Self { frame: Some(frame), ..Self::default() }
    }

    /// Creates empty bindings with this mover.
    pub(super) fn of(mover: ProcessInstance) -> Self {
        Self { mover: Some(mover), ..Self::default() }
    }

    /// Creates empty bindings for an evaluation whose failure is not reported.
    pub(super) fn without_messages() -> Self {
        Self { is_terse: true, ..Self::default() }
    }

    /// Returns the same bindings, for a body that is called in an evaluation.
    fn with_terseness_of(self, caller: &LocalEnv) -> Self {
        Self { is_terse: caller.is_terse, ..self }
    }

    /// Returns the same bindings, for a body that this mover runs.
    pub(super) fn with_mover(self, mover: Option<ProcessInstance>, timeout: bool) -> Self {
        Self { mover, timeout, ..self }
    }

    /// Returns the same bindings, for another mover.
    pub(super) fn for_another(&self, mover: ProcessInstance) -> Self {
        Self { timeout: self.timeout, asking: self.asking, ..Self::of(mover) }
    }

    /// Returns the mover's slot.
    pub(super) fn slot(&self) -> u32 {
        self.mover.map_or(0, |mover| mover.slot)
    }

    pub(super) fn get(&self, local: LocalId) -> LocalValue {
        self.bound.borrow().get(local.index()).copied().unwrap_or_default()
    }

    pub(super) fn set(&self, local: LocalId, to: LocalValue) {
        let mut bound = self.bound.borrow_mut();
        if bound.len() <= local.index() {
            bound.resize(local.index() + 1, LocalValue::Nothing);
        }
        bound[local.index()] = to;
    }

    /// Returns the first cell of a variable of the body.
    fn cell(&self, local: LocalId) -> CellId {
        let cell = self.frame.and_then(|frame| frame.cell(local));
        cell.unwrap_or_else(|| unreachable!("every local variable has cells"))
    }
}

/// What follows a statement.
pub(super) enum BodyFlow {
    /// The next statement.
    Next,
    /// The end of the body, with its result if there is a defined one.
    Return(Option<i64>),
    /// The step is dropped: an assumption fails.
    Dropped,
}

/// The rule for a value that its cell cannot hold.
#[derive(Clone, Copy)]
pub(crate) struct StoreRule {
    /// Whether the value wraps around or is a fault.
    pub overflow: OverflowRule,
    /// The position at which a fault is reported.
    pub span: Span,
}

/// The cells of a value.
#[derive(Clone, Copy)]
pub(super) struct TypedCells {
    /// The first cell.
    pub first: CellId,
    /// The type of the content.
    pub ty: TypeId,
}

/// The destination of an argument.
#[derive(Clone, Copy)]
pub(super) struct ArgumentTarget {
    /// The cells.
    pub cells: TypedCells,
    /// The call or statement that stores it.
    pub span: Span,
}

/// A call of a function.
#[derive(Clone, Copy)]
pub(super) struct FunctionCall<'c> {
    pub function: FunctionId,
    pub arguments: &'c [CallArgument],
    pub span: Span,
}

/// A state and locals in which expressions are evaluated.
#[derive(Clone, Copy)]
pub(super) struct EvalContext<'e> {
    pub state: &'e [u8],
    pub locals: &'e LocalEnv<'e>,
}

/// Returns a failure in the body of a function, with the position of its call.
fn within(function: &Function, span: Span, mut failure: EvalFailure) -> EvalFailure {
    if function.is_declared() {
        failure.calls.push(CallSite { function: function.name.clone(), span });
    }
    failure
}

impl Interp {
    /// Puts a state (or a longer buffer) into `work`, with space for all frames.
    pub(super) fn load(&self, state: &[u8], work: &mut Vec<u8>) {
        work.clear();
        work.reserve(self.layout.frames.bytes);
        work.extend_from_slice(state);
        work.resize(self.layout.frames.bytes, 0);
    }

    /// Clears a local variable at its declaration.
    pub(super) fn declare(&self, local: LocalId, ty: TypeId, state: &mut [u8], locals: &LocalEnv) {
        let first = locals.cell(local);
        self.clear_cells(first.0, self.layout.sizes[ty], state);
        locals.set(local, LocalValue::Cells(first, ty));
    }

    /// Calls a function: evaluates the arguments in order, then runs the body. [`BodyFlow::Next`] is the end of a
    /// function without result.
    pub(super) fn call(
        &self,
        call: FunctionCall<'_>,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<BodyFlow, EvalFailure> {
        let FunctionCall { function: id, arguments, span } = call;
        let function = &self.program.functions[id];
        let own = LocalEnv::new(&self.layout.frames.functions[id]).with_terseness_of(locals);
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            let cell = match argument {
                CallArgument::Reference(place) => self.cell(place, state, locals)?.0,
                _ => {
                    let cell = own.cell(parameter.local);
                    let cells = TypedCells { first: cell, ty: parameter.ty };
                    let to = ArgumentTarget { cells, span };
                    self.store_argument(argument, to, state, locals)?;
                    cell
                }
            };
            own.set(parameter.local, LocalValue::Cells(cell, parameter.ty));
        }
        let went = self.run(&function.body, state, &own);
        match went.map_err(|failure| within(function, span, failure))? {
            BodyFlow::Return(result) => self.result(function, result, span).map(BodyFlow::Return),
            BodyFlow::Next if function.result.is_some() => {
                let message = format!("{} ends without a result", function.name);
                Err(fault(FaultKind::Undefined, span, message))
            }
            flow => Ok(flow),
        }
    }

    /// Returns the result of a function that changes only its own locals. It runs on a copy with space for these.
    pub(super) fn result_of(
        &self,
        call: FunctionCall<'_>,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<Option<i64>, EvalFailure> {
        let mut work = Vec::with_capacity(self.layout.frames.bytes);
        self.load(state, &mut work);
        match self.call(call, &mut work, locals)? {
            BodyFlow::Return(result) => Ok(result),
            _ => Ok(None),
        }
    }

    /// Checks that a result is a value of its type.
    fn result(
        &self,
        function: &Function,
        result: Option<i64>,
        span: Span,
    ) -> Result<Option<i64>, EvalFailure> {
        if let (Some(ty), Some(value)) = (function.result, result) {
            let (low, high) = self.scalar_bounds(ty);
            if !(low..=high).contains(&value) {
                let message =
                    format!("{} gives {value}, but its range is {low} to {high}", function.name);
                return Err(fault(FaultKind::Range, span, message));
            }
        }
        Ok(result)
    }

    /// Stores an argument that is a value or a copy.
    pub(super) fn store_argument(
        &self,
        argument: &CallArgument,
        to: ArgumentTarget,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<(), EvalFailure> {
        let ArgumentTarget { cells: TypedCells { first, ty }, span } = to;
        match argument {
            CallArgument::Value(value) => {
                let value = self.possibly_undefined(value, state, locals)?;
                let rule = StoreRule { overflow: OverflowRule::Fails, span };
                self.store_or_undefine(first, value, rule, state)
            }
            CallArgument::Copy(place) | CallArgument::Reference(place) => {
                let (from, _) = self.cell(place, state, locals)?;
                self.copy_cells(from.0, first.0, self.layout.sizes[ty], state);
                Ok(())
            }
        }
    }

    /// Sets every scalar of a place to undefined or to its least value; empties multisets.
    pub(super) fn fill(
        &self,
        place: &Place,
        undefined: bool,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<(), EvalFailure> {
        let (first, ty) = self.cell(place, state, locals)?;
        self.fill_cells(undefined, first, ty, state);
        Ok(())
    }

    fn fill_cells(&self, undefined: bool, first: CellId, ty: TypeId, state: &mut [u8]) {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { .. }) => {
                let least = self.layout.cells[first].low;
                self.layout.set(state, first, (!undefined).then_some(least));
            }
            Type::Array { length, element, .. } => {
                let stride = self.layout.sizes[*element];
                for at in 0..*length {
                    self.fill_cells(undefined, CellId(first.0 + at * stride), *element, state);
                }
            }
            Type::Record { fields, .. } => {
                let mut next = first;
                for (_, field) in fields {
                    self.fill_cells(undefined, next, *field, state);
                    next.0 += self.layout.sizes[*field];
                }
            }
            Type::Multiset { .. } => self.clear_cells(first.0, self.layout.sizes[ty], state),
        }
    }
}
