//! Lowering of statements.

use super::super::ast::{
    AliasDefinition, MAX_DEPTH, MultisetFilter, MurphiBlock, MurphiDeclaration, MurphiExpr as Tree,
    MurphiExprKind as TreeKind, MurphiQuantifier, MurphiStmt as TreeStmt,
    MurphiStmtKind as TreeStmtKind, QuantifierDomain, SourceName,
};
use super::super::lex::unescaped;
use super::constant_folding::{binary, is_stable, same};
use super::expressions::{LoweredFilter, assign};
use super::places::{MultisetPlace, PlaceOrValue, is_fixed};
use super::sorts::ScalarSort;
use super::{LocalKind, MurphiLowering, MurphiMeaning, ReturnTarget, prepend_hoisted};
use spillway_base::source::Span;
use spillway_ir::{
    AssertionKind, BinaryOp, CallArgument, Domain, Expr, ExprKind, LocalId, MultisetContains,
    Place, ProgramProperty, PropertyKind, Stmt, StmtKind, Type, TypeId,
};

/// The maximum number of rounds of a loop, as in CMurphi.
const ROUNDS_MAX: u64 = 1000;

/// The bound of the absolute values in a generated local variable.
const NUMBER_MAX: i64 = (1 << 46) - 1;

/// The maximum number of variables of a block: each declaration nests the statements after it.
const LOCALS_MAX: usize = 500;

impl<'a> MurphiLowering<'a, '_> {
    /// Lowers declarations and the statements in their scope.
    pub(super) fn block(&mut self, block: &MurphiBlock<'a>) -> Vec<Stmt> {
        self.scopes.push();
        let mut locals = Vec::new();
        for declaration in &block.declarations {
            match declaration {
                MurphiDeclaration::Variables(names, ty) => {
                    let Some(ty) = self.ty(ty) else {
                        names.iter().for_each(|it| self.scopes.declare_unknown(it.text));
                        continue;
                    };
                    for &name in names {
                        let local = self.fresh(LocalKind::Place(ty));
                        self.keep_local(ty, name.span);
                        let place = Place::local(local, name.span);
                        self.declare(name, MurphiMeaning::Place(place, ty, true));
                        if locals.len() == LOCALS_MAX {
                            let error = format!("this block has more than {LOCALS_MAX} variables");
                            self.error_with(name.span, error, "keep them in an array or a record");
                        }
                        locals.push((local, name, ty));
                    }
                }
                other => self.declaration(other),
            }
        }
        let body = self.statements(&block.body);
        self.scopes.pop();
        locals.into_iter().rev().fold(body, |body, (local, name, ty)| {
            let kind = StmtKind::Declare { local, name: name.text.to_owned(), ty, body };
            vec![Stmt { kind, span: name.span }]
        })
    }

    pub(super) fn statements(&mut self, statements: &[TreeStmt<'a>]) -> Vec<Stmt> {
        statements.iter().flat_map(|stmt| self.statement(stmt)).collect()
    }

    fn statement(&mut self, stmt: &TreeStmt<'a>) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.body.hoisted);
        let lowered = self.lower_statement(stmt).unwrap_or_default();
        let hoisted = std::mem::replace(&mut self.body.hoisted, outer);
        prepend_hoisted(hoisted, lowered)
    }

    fn lower_statement(&mut self, stmt: &TreeStmt<'a>) -> Option<Vec<Stmt>> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            TreeStmtKind::Assign(target, value) => return self.assignment(target, value, span),
            TreeStmtKind::If(branches) => return self.branches(branches, span),
            TreeStmtKind::Switch(subject, cases) => self.switch(subject, cases)?,
            TreeStmtKind::For(quantifiers, body) => return self.for_(quantifiers, body, span),
            TreeStmtKind::While(condition, body) => return self.while_(condition, body, span),
            TreeStmtKind::Alias(aliases, body) => return Some(self.aliased(aliases, body)),
            TreeStmtKind::Call(name, arguments) => {
                return self.call_for_effect(*name, arguments, span);
            }
            TreeStmtKind::Return(value) => return self.return_(value.as_ref(), span),
            TreeStmtKind::Clear(place) => self.clear(place)?,
            TreeStmtKind::Undefine(place) => StmtKind::Undefine(self.target(place)?.place),
            TreeStmtKind::Error(text) => StmtKind::Error(unescaped(text)),
            TreeStmtKind::Assert(condition, text) => {
                let text = text.map(unescaped);
                let text = text.unwrap_or_else(|| self.report.text(condition.span).to_owned());
                let message = text.split_whitespace().collect::<Vec<_>>().join(" ");
                StmtKind::Assert {
                    condition: self.condition(condition)?,
                    message,
                    asserted: AssertionKind::Condition,
                }
            }
            TreeStmtKind::Assume(condition) => {
                self.body.changes = true;
                StmtKind::Assume(self.condition(condition)?)
            }
            TreeStmtKind::Cover(condition, name) => self.cover(condition, *name, span)?,
            TreeStmtKind::Put(value) => self.put(value)?,
            TreeStmtKind::PutText(text) => {
                let format = unescaped(text).replace("{}", "{ }");
                StmtKind::Print { format, values: Vec::new() }
            }
            TreeStmtKind::Add(element, multiset) => self.add(element, multiset)?,
            TreeStmtKind::Remove(position, multiset) => {
                let position = self.value_as(position, &ScalarSort::Number)?;
                self.target(multiset)?;
                let multiset = self.multiset(multiset)?.place;
                StmtKind::MultisetRemove { multiset, position }
            }
            TreeStmtKind::RemoveWhere(filter) => self.remove_where(filter, span)?,
        };
        Some(vec![Stmt { kind, span }])
    }

    fn assignment(&mut self, target: &Tree<'a>, value: &Tree<'a>, span: Span) -> Option<Vec<Stmt>> {
        let to = self.target(target)?;
        if matches!(value.kind, TreeKind::Undefined) {
            return Some(vec![Stmt { kind: StmtKind::Undefine(to.place), span }]);
        }
        if let Some(sort) = self.sort_of(to.ty) {
            let value = self.value_as(value, &sort)?;
            self.check_range(&value, to.ty);
            return Some(vec![assign(to.place, value, span)]);
        }
        let from = self.require_place(value)?;
        if !self.same_shape(from.ty, to.ty) {
            let help = "arrays and records are copied whole between variables of one type";
            self.error_with(span, "the two sides are of different types", help);
            return None;
        }
        let kind = StmtKind::Copy { target: to.place, source: from.place };
        Some(vec![Stmt { kind, span }])
    }

    /// Lowers `clear`: sets every value in a place to the least of its type. A scalarset has no least element: choosing
    /// the first one would break the symmetry.
    fn clear(&mut self, tree: &Tree<'a>) -> Option<StmtKind> {
        let part = self.target(tree)?;
        if self.begins_with_an_element(part.ty) {
            let message =
                "`clear` stores the least value, but a scalarset's elements have no order";
            let help = "use `undefine`, or assign one of the elements";
            self.error_with(tree.span, message, help);
            return None;
        }
        Some(StmtKind::Clear(part.place))
    }

    /// Returns whether the least value of some scalar of a type, multisets excepted, is one of several elements of a
    /// scalarset.
    fn begins_with_an_element(&self, ty: TypeId) -> bool {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => self.least_is_an_element(&scalar.domain),
            Type::Array { element, .. } => self.begins_with_an_element(*element),
            Type::Record { fields, .. } => {
                fields.iter().any(|(_, ty)| self.begins_with_an_element(*ty))
            }
            // `clear` empties it.
            Type::Multiset { .. } => false,
        }
    }

    fn least_is_an_element(&self, domain: &Domain) -> bool {
        match domain {
            Domain::Scalarset(id) => self.program.scalarsets[*id].size > 1,
            Domain::Union(parts) => {
                parts.first().is_some_and(|first| self.least_is_an_element(first))
            }
            _ => false,
        }
    }

    /// Warns if a known value is outside the type.
    fn check_range(&self, value: &Expr, ty: TypeId) {
        if let (Some(known), Some(domain)) = (value.as_constant(), self.domain(ty)) {
            let (low, high) = self.program.bounds(domain);
            if !(low..=high).contains(&known) {
                let message = format!("{known} is outside the range, which is {low} to {high}");
                let warning = spillway_base::diag::Diagnostic::warning(value.span, message);
                self.report.add(warning.help("where this is executed, it is a run-time error"));
            }
        }
    }

    /// Lowers the branches of an `if`. A branch whose condition needs hoisted items is nested in the `else` of those
    /// before.
    fn branches(
        &mut self,
        branches: &[(Option<Tree<'a>>, Vec<TreeStmt<'a>>)],
        span: Span,
    ) -> Option<Vec<Stmt>> {
        let mut lowered = Vec::new();
        for (at, (condition, body)) in branches.iter().enumerate() {
            let before = std::mem::take(&mut self.body.hoisted);
            let condition = match condition {
                Some(condition) => self.condition(condition).map(Some),
                None => Some(None),
            };
            let hoisted = std::mem::replace(&mut self.body.hoisted, before);
            let Some(condition) = condition else {
                self.statements(body);
                continue;
            };
            if at == 0 {
                self.body.hoisted.extend(hoisted);
            } else if !hoisted.is_empty() {
                self.nests_in_else(span)?;
                let mut rest = vec![(condition, self.statements(body))];
                for stmt in self.branches(&branches[at + 1..], span)? {
                    match stmt.kind {
                        StmtKind::If(more) => rest.extend(more),
                        kind => rest.push((None, vec![Stmt { kind, span }])),
                    }
                }
                self.body.else_depth -= 1;
                let inner = Stmt { kind: StmtKind::If(rest), span };
                lowered.push((None, prepend_hoisted(hoisted, vec![inner])));
                break;
            }
            lowered.push((condition, self.statements(body)));
        }
        match lowered.is_empty() {
            true => Some(Vec::new()),
            false => Some(vec![Stmt { kind: StmtKind::If(lowered), span }]),
        }
    }

    /// Counts one more level of nested `else`, and rejects too many: code that walks statements recurses as deep.
    fn nests_in_else(&mut self, span: Span) -> Option<()> {
        self.body.else_depth += 1;
        if self.body.else_depth > MAX_DEPTH {
            let message = format!(
                "more than {MAX_DEPTH} conditions here call functions that change something"
            );
            self.error_with(span, message, "call them before, and keep the results in variables");
            return None;
        }
        Some(())
    }

    fn switch(
        &mut self,
        subject: &Tree<'a>,
        cases: &[(Vec<Tree<'a>>, Vec<TreeStmt<'a>>)],
    ) -> Option<StmtKind> {
        let (subject, sort) = self.value(subject)?;
        let mut lowered = Vec::new();
        for (values, body) in cases {
            let values: Vec<Option<Expr>> =
                values.iter().map(|value| self.pure_value_as(value, &sort)).collect();
            let body = self.statements(body);
            lowered.extend(values.into_iter().collect::<Option<Vec<_>>>().map(|it| (it, body)));
        }
        if !sort.may_be_compared_undefined() {
            return Some(StmtKind::Switch(subject, lowered));
        }
        let branches = lowered.into_iter().map(|(values, body)| {
            let cases = values.into_iter().map(|value| {
                let span = value.span;
                same(subject.clone(), value, span)
            });
            let or = |all, case: Expr| {
                let span = case.span;
                binary(BinaryOp::Or, all, case, span)
            };
            (cases.reduce(or), body)
        });
        Some(StmtKind::If(branches.collect()))
    }

    fn for_(
        &mut self,
        quantifiers: &[MurphiQuantifier<'a>],
        body: &[TreeStmt<'a>],
        span: Span,
    ) -> Option<Vec<Stmt>> {
        let Some((first, rest)) = quantifiers.split_first() else {
            return Some(self.statements(body));
        };
        self.scopes.push();
        let loop_ = match &first.over {
            QuantifierDomain::Type(_) => self.bind_quantifier(first).and_then(|(local, over)| {
                let body = self.for_(rest, body, span)?;
                Some(StmtKind::ForEach { local, over, body })
            }),
            QuantifierDomain::Values { first: from, last, step } => {
                self.bounds(from, last, step.as_ref()).and_then(|[from, last, step]| {
                    let numbers = self.widest_type(&ScalarSort::Number);
                    let local = self.fresh(LocalKind::Value(numbers));
                    let value = Expr::new(ExprKind::Local(local), first.name.span);
                    self.declare(first.name, MurphiMeaning::Value(value, ScalarSort::Number));
                    let body = self.for_(rest, body, span)?;
                    Some(StmtKind::For { local, first: from, last, step, body })
                })
            }
        };
        self.scopes.pop();
        Some(vec![Stmt { kind: loop_?, span }])
    }

    pub(super) fn bounds(
        &mut self,
        first: &Tree<'a>,
        last: &Tree<'a>,
        step: Option<&Tree<'a>>,
    ) -> Option<[Expr; 3]> {
        let first = self.value_as(first, &ScalarSort::Number)?;
        let last = self.value_as(last, &ScalarSort::Number)?;
        let step = match step {
            Some(step) => self.value_as(step, &ScalarSort::Number)?,
            None => Expr::constant(1, first.span),
        };
        if step.as_constant() == Some(0) {
            self.error(step.span, "a loop in steps of 0 does not end");
            return None;
        }
        Some([first, last, step])
    }

    fn while_(
        &mut self,
        condition: &Tree<'a>,
        body: &[TreeStmt<'a>],
        span: Span,
    ) -> Option<Vec<Stmt>> {
        let lowered = self.condition(condition)?;
        let limit = ROUNDS_MAX;
        if self.body.hoisted.is_empty() {
            let kind = StmtKind::While { condition: lowered, body: self.statements(body), limit };
            return Some(vec![Stmt { kind, span }]);
        }
        // The condition is computed before each round, into a variable.
        let first = std::mem::take(&mut self.body.hoisted);
        let truth = self.scalar_type(Domain::Bool);
        let place = Place::local(self.hoist_local(truth, span), span);
        let mut stmts = prepend_hoisted(first, vec![assign(place.clone(), lowered, span)]);
        let mut round = self.statements(body);
        let outer = std::mem::take(&mut self.body.hoisted);
        let again = self.condition(condition)?;
        let hoisted = std::mem::replace(&mut self.body.hoisted, outer);
        round.extend(prepend_hoisted(hoisted, vec![assign(place.clone(), again, span)]));
        let known = Expr::new(ExprKind::Read(place), span);
        stmts.push(Stmt { kind: StmtKind::While { condition: known, body: round, limit }, span });
        Some(stmts)
    }

    /// Lowers statements in the scope of aliases.
    fn aliased(&mut self, aliases: &[AliasDefinition<'a>], body: &[TreeStmt<'a>]) -> Vec<Stmt> {
        let Some((first, rest)) = aliases.split_first() else { return self.statements(body) };
        let span = first.name.span;
        let outer = std::mem::take(&mut self.body.hoisted);
        let value = self.lower_place_or_value(&first.value);
        let hoisted = std::mem::replace(&mut self.body.hoisted, outer);
        self.scopes.push();
        let stmts = match value {
            None => Vec::new(),
            Some(value) => match self.alias(first.name, value) {
                None => self.aliased(rest, body),
                Some(bound) => {
                    let body = self.aliased(rest, body);
                    vec![Stmt { kind: bound.wrap_body(first.name, body), span }]
                }
            },
        };
        self.scopes.pop();
        prepend_hoisted(hoisted, stmts)
    }

    /// Binds a name to a place or a value. A place or value that must be evaluated once is bound to a local.
    pub(super) fn alias(
        &mut self,
        name: SourceName<'a>,
        value: PlaceOrValue,
    ) -> Option<AliasBinding> {
        match value {
            PlaceOrValue::TypedPlace(part) if is_fixed(&part.place) => {
                self.declare(name, MurphiMeaning::Place(part.place, part.ty, part.writable));
                None
            }
            PlaceOrValue::TypedPlace(part) => {
                let local = self.fresh(LocalKind::Place(part.ty));
                if self.is_external_place(&part.place) {
                    self.body.outside.insert(local);
                }
                let place = Place::local(local, name.span);
                self.declare(name, MurphiMeaning::Place(place, part.ty, part.writable));
                Some(AliasBinding::Place(local, part.place))
            }
            PlaceOrValue::Value(value, sort) if is_stable(&value) => {
                self.declare(name, MurphiMeaning::Value(value, sort));
                None
            }
            PlaceOrValue::Value(value, sort) => {
                let ty = self.widest_type(&sort);
                let local = self.fresh(LocalKind::Place(ty));
                let place = Place::local(local, name.span);
                self.declare(name, MurphiMeaning::Place(place, ty, false));
                Some(AliasBinding::Value(local, ty, value))
            }
        }
    }

    /// Returns a type that contains every value of a sort.
    pub(super) fn widest_type(&mut self, sort: &ScalarSort) -> TypeId {
        self.scalar_type(match sort {
            ScalarSort::Number => Domain::Range { low: -NUMBER_MAX, high: NUMBER_MAX },
            ScalarSort::Bool => Domain::Bool,
            ScalarSort::Enum(id) => Domain::Enum(*id),
            ScalarSort::Scalarset(id) => Domain::Scalarset(*id),
            ScalarSort::Union(parts) => Domain::Union(parts.clone()),
        })
    }

    fn return_(&mut self, value: Option<&Tree<'a>>, span: Span) -> Option<Vec<Stmt>> {
        let returned = |value| Stmt { kind: StmtKind::Return(value), span };
        match (self.body.result, value) {
            (ReturnTarget::Nothing, None) => Some(vec![returned(None)]),
            (ReturnTarget::Nothing, Some(value)) => {
                let help = "`return` alone ends a rule or a procedure";
                self.error_with(value.span, "there is nothing to return a value to", help);
                None
            }
            (_, None) => {
                self.error_with(span, "a function returns a value", "write it behind `return`");
                None
            }
            (ReturnTarget::Scalar(ty), Some(value)) => {
                let sort = self.sort_of(ty)?;
                let value = self.stored_value_as(value, &sort)?;
                Some(vec![returned(Some(value))])
            }
            (ReturnTarget::Aggregate(local, ty), Some(value)) => {
                let from = self.require_place(value)?;
                if !self.same_shape(from.ty, ty) {
                    self.error(value.span, "this is of another type than the function");
                    return None;
                }
                let target = Place::local(local, span);
                let copy = StmtKind::Copy { target, source: from.place };
                Some(vec![Stmt { kind: copy, span }, returned(None)])
            }
        }
    }

    /// Lowers a `cover` in a body to a statement that refers to a property of the program. A body that is lowered again
    /// refers to the same property.
    fn cover(&mut self, tree: &Tree<'a>, name: Option<&str>, span: Span) -> Option<StmtKind> {
        let condition = self.condition(tree)?;
        let name = name.map_or_else(|| self.report.text(tree.span).to_owned(), unescaped);
        let is_known = |it: &ProgramProperty| it.kind == PropertyKind::Reached && it.span == span;
        let known = self.program.properties.iter().find(|(_, it)| is_known(it));
        let property = known.map(|(id, _)| id).unwrap_or_else(|| {
            let (name, kind) = (name.trim().to_owned(), PropertyKind::Reached);
            self.program.properties.push(ProgramProperty { name, kind, span })
        });
        Some(StmtKind::Cover { property, condition })
    }

    fn put(&mut self, value: &Tree<'a>) -> Option<StmtKind> {
        let name = self.report.text(value.span).replace("{}", "{ }");
        match self.lower_place_or_value(value)? {
            PlaceOrValue::TypedPlace(part) if self.domain(part.ty).is_none() => {
                Some(StmtKind::Print { format: name, values: Vec::new() })
            }
            PlaceOrValue::TypedPlace(part) => {
                let (value, _) = self.read(part)?;
                Some(StmtKind::Print { format: format!("{name}: {{}}"), values: vec![value] })
            }
            PlaceOrValue::Value(value, _) => {
                Some(StmtKind::Print { format: "{}".into(), values: vec![value] })
            }
        }
    }

    fn add(&mut self, element: &Tree<'a>, multiset: &Tree<'a>) -> Option<StmtKind> {
        self.target(multiset)?;
        let MultisetPlace { place, element: ty, .. } = self.multiset(multiset)?;
        let element = match self.sort_of(ty) {
            Some(sort) => CallArgument::Value(self.stored_value_as(element, &sort)?),
            None => {
                let from = self.require_place(element)?;
                if !self.same_shape(from.ty, ty) {
                    self.error(element.span, "this is of another type than the elements");
                    return None;
                }
                CallArgument::Copy(from.place)
            }
        };
        Some(StmtKind::MultisetAdd { multiset: place, element })
    }

    fn remove_where(&mut self, filter: &MultisetFilter<'a>, span: Span) -> Option<StmtKind> {
        self.target(&filter.multiset)?;
        let LoweredFilter { multiset, over, local, condition } = self.lower_filter(filter)?;
        let position = Expr::new(ExprKind::Local(local), filter.name.span);
        let there = MultisetContains { multiset: multiset.clone(), position: position.clone() };
        let there = Expr::new(ExprKind::Contains(Box::new(there)), span);
        let chosen = binary(BinaryOp::And, there, condition, span);
        let remove = Stmt { kind: StmtKind::MultisetRemove { multiset, position }, span };
        let body = vec![Stmt { kind: StmtKind::If(vec![(Some(chosen), vec![remove])]), span }];
        Some(StmtKind::ForEach { local, over, body })
    }
}

/// The binding of an alias that is evaluated once.
pub(super) enum AliasBinding {
    Place(LocalId, Place),
    Value(LocalId, TypeId, Expr),
}

impl AliasBinding {
    /// Wraps statements in the binding, under this name.
    pub(super) fn wrap_body(self, name: SourceName, mut body: Vec<Stmt>) -> StmtKind {
        let (span, name) = (name.span, name.text.to_owned());
        match self {
            AliasBinding::Place(local, place) => StmtKind::Alias { local, name, place, body },
            AliasBinding::Value(local, ty, value) => {
                body.insert(0, assign(Place::local(local, span), value, span));
                StmtKind::Declare { local, name, ty, body }
            }
        }
    }
}
