//! The generation of functions and calls.

use super::{Builder, Part, stmts};
use spillway::ir::{
    CallArgument, Entity, Expr, ExprKind, Function, FunctionId, FunctionParameter, OverflowRule,
    PlaceRoot, Stmt, StmtKind, TypeId,
};

impl Builder<'_> {
    /// Adds a function: every second one is pure and may be called in expressions. It calls only earlier functions.
    pub(super) fn function(&mut self) {
        let span = self.span();
        let outer = self.parts.len();
        self.in_function = true;
        let recklessness = self.recklessness;
        self.recklessness /= 4;
        self.pure = self.choices.chance(50);
        let count = self.choices.weighted(&[10, 50, 40]);
        let parameters: Vec<FunctionParameter> = (0..count).map(|at| self.parameter(at)).collect();
        let has_result = self.pure || self.choices.chance(40);
        self.returns = has_result.then(|| self.choices.pick(&self.small));
        let mut body = self.block(stmts::DEPTH - 1);
        if has_result {
            // Control must not reach the end of such a body, unless the body is reckless.
            let last = self.rooted(|it| match it.risks() {
                true => it.return_early(),
                false => it.return_now(),
            });
            body.push(last);
        }
        self.parts.truncate(outer);
        self.in_function = false;
        self.recklessness = recklessness;
        let name = format!("f{}", self.program.functions.len());
        let (result, pure) = (self.returns.take(), std::mem::take(&mut self.pure));
        self.is_pure.push(pure);
        self.program.functions.push(Function {
            name,
            parameters,
            result,
            body,
            whole: false,
            span,
        });
    }

    fn parameter(&mut self, at: usize) -> FunctionParameter {
        let (ty, local) = (self.known_type(), self.local());
        let by_reference = !self.pure && self.choices.chance(40);
        self.find_parts_of(PlaceRoot::Local(local), ty);
        FunctionParameter { local, name: format!("x{at}"), ty, by_reference }
    }

    fn some_function(&mut self, wanted: impl Fn(&Self, FunctionId) -> bool) -> Option<FunctionId> {
        let functions = self.program.functions.keys().filter(|&id| wanted(self, id));
        let functions: Vec<FunctionId> = functions.collect();
        (!functions.is_empty()).then(|| self.choices.pick(&functions))
    }

    /// Returns a call as an expression.
    pub(super) fn pure_call(&mut self) -> Option<Expr> {
        let id = self.some_function(|it, id| it.is_pure[id.index()])?;
        let (condition, arguments) = self.arguments(id)?;
        let call = self.expr(ExprKind::Call(id, arguments));
        Some(match condition {
            None => call,
            Some(condition) => {
                let otherwise = self.any_constant();
                self.conditional(condition, call, otherwise)
            }
        })
    }

    /// Returns a call as a statement, whose result is usually stored.
    pub(super) fn call(&mut self) -> Option<Stmt> {
        let id = self.some_function(|it, id| !it.pure || it.is_pure[id.index()])?;
        let result = self.program.functions[id].result;
        let into = result.filter(|_| self.choices.chance(70)).and_then(|ty| {
            self.part(|it, part| part.ty == ty && !part.is_in_multiset() && it.may_write(part))
        });
        let into = into.map(|part| self.place(&part, 1));
        let (condition, arguments) = self.arguments(id)?;
        let stmt = self.stmt(StmtKind::Call { function: id, arguments, into });
        Some(self.only_if(condition, stmt))
    }

    /// Returns the arguments of a function, and the condition under which they exist.
    fn arguments(&mut self, id: FunctionId) -> Option<(Option<Expr>, Vec<CallArgument>)> {
        let parameters = self.program.functions[id].parameters.clone();
        let mut condition = None;
        let mut arguments = Vec::new();
        for parameter in parameters {
            let (there, argument) = self.argument(parameter.ty, parameter.by_reference)?;
            condition = self.conjunction(condition, there);
            arguments.push(argument);
        }
        Some((condition, arguments))
    }

    fn argument(&mut self, ty: TypeId, by_reference: bool) -> Option<(Option<Expr>, CallArgument)> {
        if !by_reference && self.scalar(ty).is_some() && self.choices.chance(80) {
            return Some((None, CallArgument::Value(self.possibly_undefined(ty))));
        }
        let part = self.part(|it, part| part.ty == ty && (!by_reference || it.may_write(part)))?;
        let (condition, place) = self.target(&part);
        Some(match by_reference {
            true => (condition, CallArgument::Reference(place)),
            false => (condition, CallArgument::Copy(place)),
        })
    }

    /// Assigns a value of its type to a part.
    pub(super) fn assign_to(&mut self, part: &Part) -> Stmt {
        let target = self.place(part, 1);
        let value = self.possibly_undefined(part.ty);
        self.stmt(StmtKind::Assign { target, value, overflow: OverflowRule::Fails })
    }
}
