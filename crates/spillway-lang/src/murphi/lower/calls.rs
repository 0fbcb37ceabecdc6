//! Functions and calls.

use super::super::ast::{MurphiExpr as Tree, MurphiFunction, ParameterGroup, SourceName};
use super::places::{PlaceOrValue, TypedPlace};
use super::{
    BodyContext, HoistPolicy, HoistedItem, LocalKind, MurphiLowering, MurphiMeaning, ReturnTarget,
};
use crate::quote::quote;
use spillway_base::source::Span;
use spillway_ir::{
    CallArgument, Expr, ExprKind, Function as Lowering, FunctionId, FunctionParameter, LocalId,
    Place, Stmt, StmtKind, TypeId,
};

/// The signature of a function, as callers need it.
#[derive(Clone)]
pub(super) struct FunctionSignature {
    pub(super) id: FunctionId,
    /// The type of each parameter, and whether it is passed by reference.
    parameters: Vec<(TypeId, bool)>,
    /// The type of the result. An aggregate is returned through an additional parameter by reference.
    result: Option<TypeId>,
    /// Whether it changes anything outside itself.
    changes: bool,
    /// The maximum nesting of its calls of other functions.
    pub(super) depth: usize,
    /// The number of bodies, its own and those of all calls, if each call is expanded.
    pub(super) weight: u64,
    /// Whether its only effect is to print.
    pub(super) only_prints: bool,
}

/// The maximum nesting of calls: executors recurse on their own stack.
const DEPTH_MAX: usize = 100;

/// The maximum number of bodies of a function whose calls analyses follow. They treat a larger function as a whole.
const FOLLOWED_MAX: u64 = 1000;

impl<'a> MurphiLowering<'a, '_> {
    /// Lowers a function, and declares its name.
    pub(super) fn function(&mut self, function: &MurphiFunction<'a>) {
        let (errors, locals) = (self.report.errors(), self.locals);
        let id = self.add_function(Lowering {
            name: function.name.text.to_owned(),
            parameters: Vec::new(),
            result: None,
            body: Vec::new(),
            whole: false,
            span: function.name.span,
        });
        let number = self.functions.len();
        let mut info = self.function_body(function, id, false);
        let calls_itself = self.body.calls_itself;
        // The kind of its recursive calls in expressions depends on whether it has side effects, which is known only
        // now.
        let changes = info.as_ref().is_some_and(|it| it.changes);
        if changes && calls_itself && self.report.errors() == errors {
            self.locals = locals;
            self.functions.truncate(number);
            info = self.function_body(function, id, true);
        }
        self.functions.truncate(number);
        let Some(mut info) = info else { return };
        if calls_itself && self.report.errors() == errors {
            let inner = self.body.first_function..self.program.functions.len();
            self.unroll_recursion(&mut info, inner);
        }
        if info.depth > DEPTH_MAX {
            let error = format!("this function's calls go more than {DEPTH_MAX} functions deep");
            let help = "write some of them out where they are called";
            self.error_with(function.name.span, error, help);
        }
        self.functions.push(info);
        self.declare(function.name, MurphiMeaning::Function(number));
    }

    /// Lowers the parameters and body of a function. `changes` is whether its recursive calls are assumed to have side
    /// effects.
    fn function_body(
        &mut self,
        function: &MurphiFunction<'a>,
        id: FunctionId,
        changes: bool,
    ) -> Option<FunctionSignature> {
        let MurphiFunction { name, parameters, result, body } = function;
        let first_function = self.program.functions.len();
        self.body =
            BodyContext { hoists: HoistPolicy::All, first_function, ..BodyContext::default() };
        let depth = self.scopes.depth();
        self.scopes.push();
        // A parameter may have the name of the result's type.
        let result = match result {
            Some(ty) => self.ty(ty).map(Some),
            None => Some(None),
        };
        let parameters = self.parameters(parameters);
        let (Some(mut parameters), Some(result)) = (parameters, result) else {
            self.scopes.close(depth);
            return None;
        };
        let types = parameters.iter().map(|it| (it.ty, it.by_reference)).collect();
        let info = FunctionSignature {
            id,
            parameters: types,
            result,
            changes,
            depth: 0,
            weight: 1,
            only_prints: false,
        };
        self.defining = Some((name.text, self.functions.len()));
        self.functions.push(info.clone());
        self.body.result = self.returns(result, &mut parameters);
        let scalar = result.filter(|ty| self.domain(*ty).is_some());
        let body = self.block(body);
        self.defining = None;
        self.scopes.close(depth);
        let whole = self.body.weight >= FOLLOWED_MAX;
        let only_prints = result.is_none() && !self.body.changes && self.only_prints(&body, id);
        let (name, span) = (name.text.to_owned(), name.span);
        let lowered = Lowering { name, parameters, result: scalar, body, whole, span };
        self.program.functions[id] = lowered;
        Some(FunctionSignature {
            changes: self.body.changes,
            depth: self.body.calls_depth,
            weight: self.body.weight.saturating_add(1),
            only_prints,
            ..info
        })
    }

    /// Adds a function to the program.
    pub(super) fn add_function(&mut self, function: Lowering) -> FunctionId {
        self.program.functions.push(function)
    }

    fn parameters(&mut self, all: &[ParameterGroup<'a>]) -> Option<Vec<FunctionParameter>> {
        let mut parameters = Vec::new();
        for ParameterGroup { names, by_reference, ty } in all {
            let ty = self.ty(ty)?;
            for &name in names {
                let (local, by_reference) = (self.fresh(LocalKind::Place(ty)), *by_reference);
                match by_reference {
                    true => drop(self.body.outside.insert(local)),
                    false => self.keep_local(ty, name.span),
                }
                let place = Place::local(local, name.span);
                self.declare(name, MurphiMeaning::Place(place, ty, by_reference));
                let name = name.text.to_owned();
                parameters.push(FunctionParameter { local, name, ty, by_reference });
            }
        }
        Some(parameters)
    }

    /// Returns the kind of a result of this type; an aggregate adds a parameter.
    fn returns(
        &mut self,
        result: Option<TypeId>,
        parameters: &mut Vec<FunctionParameter>,
    ) -> ReturnTarget {
        match result {
            None => ReturnTarget::Nothing,
            Some(ty) if self.domain(ty).is_some() => ReturnTarget::Scalar(ty),
            Some(ty) => {
                let local = self.fresh(LocalKind::Place(ty));
                self.body.outside.insert(local);
                let name = "result".to_owned();
                parameters.push(FunctionParameter { local, name, ty, by_reference: true });
                ReturnTarget::Aggregate(local, ty)
            }
        }
    }

    /// Returns the function of a name.
    fn callee(&mut self, name: SourceName<'a>) -> Option<FunctionSignature> {
        match self.meaning(name)? {
            MurphiMeaning::Function(number) => {
                let callee = self.functions[number].clone();
                self.body.calls_depth = self.body.calls_depth.max(callee.depth + 1);
                self.body.weight = self.body.weight.saturating_add(callee.weight);
                self.body.calls_itself |= self.defining.is_some_and(|(_, own)| own == number);
                Some(callee)
            }
            other => {
                self.report_wrong_meaning(name, &other, "a function");
                None
            }
        }
    }

    /// Lowers a call that is used for its result.
    pub(super) fn call_for_value(
        &mut self,
        name: SourceName<'a>,
        arguments: &[Tree<'a>],
        span: Span,
    ) -> Option<PlaceOrValue> {
        let callee = self.callee(name)?;
        let Some(result) = callee.result else {
            let message = format!("{} is a procedure, which has no result", quote(name.text));
            let help = "call it in a statement of its own, or make it a `function`";
            self.error_with(name.span, message, help);
            return None;
        };
        let sort = self.sort_of(result);
        if let (Some(sort), false) = (&sort, callee.changes) {
            let arguments = self.arguments(name, &callee, arguments)?;
            let value = Expr::new(ExprKind::Call(callee.id, arguments), span);
            return Some(PlaceOrValue::Value(value, sort.clone()));
        }
        let can_be_hoisted = match self.body.hoists {
            HoistPolicy::All => true,
            HoistPolicy::Unchanging => !callee.changes,
            HoistPolicy::Nothing => false,
        };
        if !can_be_hoisted {
            let message = match callee.changes {
                true => {
                    format!("{} changes the state, which may not happen here", quote(name.text))
                }
                false => format!("{} gives an aggregate, which cannot be here", quote(name.text)),
            };
            self.error_with(name.span, message, "call it in a statement of its own");
            return None;
        }
        let arguments = self.arguments(name, &callee, arguments)?;
        let local = self.hoist_local(result, span);
        let place = Place::local(local, span);
        let call = self.call_into(&callee, arguments, place.clone(), sort.is_some());
        self.hoist(call);
        Some(PlaceOrValue::TypedPlace(TypedPlace { place, ty: result, writable: false }))
    }

    /// Lowers a call whose result is stored at a place.
    pub(super) fn call_into(
        &mut self,
        callee: &FunctionSignature,
        mut arguments: Vec<CallArgument>,
        place: Place,
        scalar: bool,
    ) -> Stmt {
        let span = place.span;
        self.body.changes |= callee.changes;
        let into = if scalar {
            Some(place)
        } else {
            arguments.push(CallArgument::Reference(place));
            None
        };
        Stmt { kind: StmtKind::Call { function: callee.id, arguments, into }, span }
    }

    /// Lowers a call that is used for its effect.
    pub(super) fn call_for_effect(
        &mut self,
        name: SourceName<'a>,
        arguments: &[Tree<'a>],
        span: Span,
    ) -> Option<Vec<Stmt>> {
        let callee = self.callee(name)?;
        let arguments = self.arguments(name, &callee, arguments)?;
        self.body.changes |= callee.changes;
        let aggregate = callee.result.filter(|ty| self.domain(*ty).is_none());
        let call = match aggregate {
            Some(ty) => {
                let place = Place::local(self.hoist_local(ty, span), span);
                self.call_into(&callee, arguments, place, false)
            }
            None => {
                let kind = StmtKind::Call { function: callee.id, arguments, into: None };
                Stmt { kind, span }
            }
        };
        Some(vec![call])
    }

    fn arguments(
        &mut self,
        name: SourceName<'a>,
        callee: &FunctionSignature,
        given: &[Tree<'a>],
    ) -> Option<Vec<CallArgument>> {
        let expected = callee.parameters.len();
        if given.len() != expected {
            let plural = if expected == 1 { "" } else { "s" };
            let name_ = quote(name.text);
            let message = format!("{name_} takes {expected} argument{plural}, not {}", given.len());
            self.error_with(name.span, message, "give one for each of its parameters");
            return None;
        }
        let pairs = given.iter().zip(&callee.parameters);
        // All are lowered, so that all errors are reported.
        let all: Vec<Option<CallArgument>> = pairs
            .map(|(tree, (ty, by_reference))| self.argument(tree, *ty, *by_reference))
            .collect();
        all.into_iter().collect()
    }

    fn argument(
        &mut self,
        tree: &Tree<'a>,
        ty: TypeId,
        by_reference: bool,
    ) -> Option<CallArgument> {
        if by_reference {
            let part = self.require_place(tree)?;
            if !part.writable {
                let help = "the function may change it: declare it with `var`, or copy it first";
                self.error_with(tree.span, "this cannot be changed here", help);
                return None;
            }
            if !self.same_shape(part.ty, ty) {
                let help = "a `var` parameter stands for a variable of its own type";
                self.error_with(tree.span, "this is of another type than the parameter", help);
                return None;
            }
            return Some(CallArgument::Reference(part.place));
        }
        match self.sort_of(ty) {
            Some(sort) => self.stored_value_as(tree, &sort).map(CallArgument::Value),
            None => {
                let part = self.require_place(tree)?;
                if !self.same_shape(part.ty, ty) {
                    self.error(tree.span, "this is of another type than the parameter");
                    return None;
                }
                Some(CallArgument::Copy(part.place))
            }
        }
    }

    /// Returns whether values of both types consist of the same scalars.
    pub(super) fn same_shape(&self, one: TypeId, other: TypeId) -> bool {
        use spillway_ir::Type::*;
        if one == other {
            return true;
        }
        match (&self.program.types[one], &self.program.types[other]) {
            (Scalar(one), Scalar(other)) => {
                let (left, right) = (&one.domain, &other.domain);
                self.program.bounds(left) == self.program.bounds(right)
                    && super::sorts::ScalarSort::of(left) == super::sorts::ScalarSort::of(right)
            }
            (
                Array { length, element, .. },
                Array { length: other_length, element: other_element, .. },
            ) => length == other_length && self.same_shape(*element, *other_element),
            (
                Multiset { capacity, element },
                Multiset { capacity: other_capacity, element: other_element },
            ) => capacity == other_capacity && self.same_shape(*element, *other_element),
            (Record { fields, .. }, Record { fields: others, .. }) => {
                let mut pairs = fields.iter().zip(others);
                fields.len() == others.len()
                    && pairs.all(|((_, one), (_, other))| self.same_shape(*one, *other))
            }
            _ => false,
        }
    }

    /// Declares a local variable before the current statement.
    pub(super) fn hoist_local(&mut self, ty: TypeId, span: Span) -> LocalId {
        let local = self.fresh(LocalKind::Place(ty));
        self.keep_local(ty, span);
        self.body.hoisted.push(HoistedItem::Local(local, ty, span));
        local
    }

    /// Adds a statement before the current one.
    pub(super) fn hoist(&mut self, stmt: Stmt) {
        self.body.hoisted.push(HoistedItem::Stmt(Box::new(stmt)));
    }
}
