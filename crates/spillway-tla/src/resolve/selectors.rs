//! Subexpressions of definitions, by position or by label: `Inv!2`, `Op(x)!(y)!1`, `Thm!:`, `Inv!Label`.
//!
//! A selected subexpression becomes an operator. Its parameters are those of the definition, and the variables that are
//! bound on the way to it.

use super::expr::Argument;
use super::ids::ExprId;
use super::lowering::{DefinitionLowering, Reference, SelectedPath, Step};
use super::names::{EntryId, LocalId, NewEntry, Scope, Symbol, Text};
use super::resolver::Resolver;
use super::tree::DefinitionOrigin;
use crate::syntax::ast::{
    Argument as ArgumentText, DefinitionBody, Expr, ExprKind as Kind, LetUnit, Name, Path,
    PathPart, Selector,
};
use crate::syntax::walk::{self, Binding, binding};
use spillway_base::source::Span;

/// A subexpression in its surroundings.
#[derive(Clone)]
struct FoundSubexpression<'a> {
    text: &'a Expr,
    scope: Scope,
    /// The parameters of the definition and the variables that are bound around the subexpression.
    locals: Vec<LocalId>,
}

/// The place of arguments, and their purpose.
struct Call<'s> {
    scope: &'s Scope,
    reference: &'s mut Reference,
}

/// A label that was found.
struct Label<'a> {
    found: FoundSubexpression<'a>,
    parameters: &'a [Name],
}

impl<'a> DefinitionLowering<'_, 'a> {
    /// Builds a selected subexpression.
    pub(super) fn selected(&mut self, selected: SelectedPath<'a>, scope: &Scope) -> ExprId {
        let SelectedPath { reference, last, rest, span } = selected;
        match self.select(reference, last, rest, scope) {
            Some((reference, entry)) => {
                let reference = Reference { symbol: Symbol::Entry(entry), ..reference };
                self.apply(reference, Vec::new(), span)
            }
            None => self.dummy(span),
        }
    }

    fn select(
        &mut self,
        mut reference: Reference,
        last: Step<'a>,
        rest: &'a [PathPart],
        scope: &Scope,
    ) -> Option<(Reference, EntryId)> {
        let (Symbol::Entry(id) | Symbol::Fact(Some(id))) = reference.symbol else {
            let message = format!("`{}` has no subexpressions", last.name.text);
            self.error(last.name.span, message, "name an operator with a definition");
            return None;
        };
        let mut found = self.start(id, last, scope, &mut reference)?;
        for part in rest {
            found = self.step(found, part, scope, &mut reference)?;
        }
        let entry = self.resolver.entry(id);
        let (name, leading) = (entry.name.clone(), entry.leading.clone());
        let entry = self.resolver.new_entry(NewEntry {
            name,
            span: found.text.span,
            text: Text::Formula(found.text),
            origin: DefinitionOrigin::Part,
            scope: found.scope,
            leading: [leading, found.locals].concat(),
        });
        Some((reference, entry))
    }

    /// Returns the body of a definition, whose parameters are bound to arguments.
    fn start(
        &mut self,
        id: EntryId,
        last: Step<'a>,
        scope: &Scope,
        reference: &mut Reference,
    ) -> Option<FoundSubexpression<'a>> {
        let entry = self.resolver.entry(id);
        let (mut inner, text) = (entry.scope.clone(), entry.text);
        let mut locals = Vec::new();
        let body = match text {
            Text::Definition(definition) => {
                for declaration in &definition.parameters {
                    let name = &declaration.name;
                    let arity = declaration.arity;
                    let local = self.resolver.new_local(&name.text, name.span, arity);
                    inner = inner.with(&name.text, Symbol::Local(local));
                    locals.push(local);
                }
                match &definition.body {
                    DefinitionBody::Operator(body) => body,
                    _ => return self.no_subexpression(last.name.span),
                }
            }
            Text::Formula(formula) => formula,
            Text::Argument(_) => return self.no_subexpression(last.name.span),
        };
        self.bind_arguments(last.name, &locals, last.arguments, Call { scope, reference })?;
        Some(FoundSubexpression { text: body, scope: inner, locals })
    }

    /// Binds local names to arguments.
    fn bind_arguments(
        &mut self,
        name: &Name,
        locals: &[LocalId],
        arguments: &'a [ArgumentText],
        call: Call<'_>,
    ) -> Option<()> {
        if locals.len() != arguments.len() {
            self.wrong_count(name, locals.len(), arguments.len());
            return None;
        }
        for (&local, argument) in locals.iter().zip(arguments) {
            let arity = self.resolver.local(local).arity;
            let argument: Argument = self.argument(argument, arity, call.scope);
            call.reference.bindings.insert(local, argument);
        }
        Some(())
    }

    fn no_subexpression<T>(&mut self, span: Span) -> Option<T> {
        let help = "count the operands from 1, or define an operator for the subexpression";
        self.error(span, "the definition has no such subexpression", help);
        None
    }

    /// Follows a label.
    fn labelled(
        &mut self,
        found: FoundSubexpression<'a>,
        name: &Name,
        arguments: &'a [ArgumentText],
        call: Call<'_>,
    ) -> Option<FoundSubexpression<'a>> {
        let Some(label) = self.resolver.label(&found, name) else {
            let message = format!("the definition has no label `{}`", name.text);
            let help = "`!` follows an instance, `I == INSTANCE M`, or precedes a label, `L::`";
            self.error(name.span, message, help);
            return None;
        };
        let locals = label_locals(self.resolver, &label, &found);
        if label.found.locals.len() != found.locals.len() + locals.len() {
            let message = format!("the label `{}` does not name all bound variables", name.text);
            let help = format!("write `{}(x)::` with the variables bound around it", name.text);
            self.error(name.span, message, help);
            return None;
        }
        self.bind_arguments(name, &locals, arguments, call)?;
        Some(label.found)
    }

    /// Follows one selector or label.
    fn step(
        &mut self,
        found: FoundSubexpression<'a>,
        part: &'a PathPart,
        scope: &Scope,
        reference: &mut Reference,
    ) -> Option<FoundSubexpression<'a>> {
        let (selector, span) = match part {
            PathPart::Name { name, arguments } => {
                let call = Call { scope, reference };
                return self.labelled(found, name, arguments, call);
            }
            PathPart::Selector { selector, span } => (selector, *span),
        };
        let found = self.resolver.inside(found);
        match selector {
            Selector::Definition => Some(found),
            Selector::Operand(number) => match operand(found.text, *number as usize) {
                Some(text) => Some(FoundSubexpression { text, ..found }),
                None => self.no_subexpression(span),
            },
            Selector::First | Selector::Second => {
                let number = if matches!(selector, Selector::First) { 1 } else { 2 };
                match operand(found.text, number) {
                    Some(text) => Some(FoundSubexpression { text, ..found }),
                    None => self.no_subexpression(span),
                }
            }
            Selector::Arguments(arguments) => {
                let Some(Binding { names, body }) = binding(found.text) else {
                    return self.no_subexpression(span);
                };
                let outer = found.locals.len();
                let opened = self.resolver.bind_found(found, &names, body);
                let name = Name { text: "!".into(), span };
                let locals = opened.locals[outer..].to_vec();
                self.bind_arguments(&name, &locals, arguments, Call { scope, reference })?;
                Some(opened)
            }
            Selector::Bound => {
                let help = "write `!(x)` with a value for each bound variable";
                self.error(span, "`!@` selects an operator, not an expression", help);
                None
            }
        }
    }
}

/// Returns the variables that the parameters of a label name.
fn label_locals(
    resolver: &Resolver<'_>,
    label: &Label<'_>,
    outer: &FoundSubexpression<'_>,
) -> Vec<LocalId> {
    let bound = &label.found.locals[outer.locals.len()..];
    let of = |name: &Name| bound.iter().find(|it| resolver.local(**it).name == name.text);
    label.parameters.iter().filter_map(of).copied().collect()
}

impl<'a> Resolver<'a> {
    /// Goes inside parentheses, labels and LET.
    fn inside(&mut self, mut found: FoundSubexpression<'a>) -> FoundSubexpression<'a> {
        loop {
            match &found.text.kind {
                Kind::Parenthesized(inner) | Kind::Labelled { body: inner, .. } => {
                    found.text = inner;
                }
                Kind::Let { definitions, body } => {
                    found.scope = self.let_scope(definitions, &found);
                    found.text = body;
                }
                _ => return found,
            }
        }
    }

    /// Returns the scope of the body of a LET, in which its definitions are operators.
    fn let_scope(&mut self, units: &'a [LetUnit], found: &FoundSubexpression<'a>) -> Scope {
        let mut scope = found.scope.clone();
        let leading = [self.leading(scope.place.environment), found.locals.clone()].concat();
        for unit in units {
            let LetUnit::Definition(definition) = unit else { continue };
            let name = &definition.name.text;
            let symbol = match &definition.body {
                DefinitionBody::Instance(instance) => Symbol::Instance(self.named_instance(
                    definition,
                    instance,
                    &scope,
                    leading.clone(),
                )),
                _ => {
                    let entry = self.definition_entry(definition, scope.clone(), leading.clone());
                    self.entries[entry.0].origin = DefinitionOrigin::Let;
                    self.entries[entry.0].scope = scope.with(name, Symbol::Entry(entry));
                    Symbol::Entry(entry)
                }
            };
            scope = scope.with(name, symbol);
        }
        scope
    }

    /// Returns the body of an expression that binds names.
    fn bind_found(
        &mut self,
        found: FoundSubexpression<'a>,
        names: &[&'a Name],
        body: &'a Expr,
    ) -> FoundSubexpression<'a> {
        let FoundSubexpression { mut scope, mut locals, .. } = found;
        for name in names {
            let local = self.new_local(&name.text, name.span, 0);
            scope = scope.with(&name.text, Symbol::Local(local));
            locals.push(local);
        }
        FoundSubexpression { text: body, scope, locals }
    }

    /// Finds a label that is not inside another one.
    fn label(&mut self, found: &FoundSubexpression<'a>, name: &Name) -> Option<Label<'a>> {
        if let Kind::Labelled { label, parameters, body } = &found.text.kind {
            let is_it = label.text == name.text;
            let found = FoundSubexpression { text: body, ..found.clone() };
            return is_it.then_some(Label { found, parameters });
        }
        let bound = binding(found.text);
        let mut children = Vec::new();
        walk::each_child(found.text, &mut |it| children.push(it));
        let in_let = match &found.text.kind {
            Kind::Let { definitions, .. } => Some(self.let_scope(definitions, found)),
            _ => None,
        };
        for child in children {
            let mut inner = FoundSubexpression { text: child, ..found.clone() };
            if let Some(scope) = &in_let {
                inner.scope = scope.clone();
            }
            if let Some(Binding { names, body }) = &bound
                && std::ptr::eq(*body, child)
            {
                inner = self.bind_found(inner, names, child);
            }
            if let Some(label) = self.label(&inner, name) {
                return Some(label);
            }
        }
        None
    }
}

/// Returns an operand by its number, counted from 1.
fn operand(text: &Expr, number: usize) -> Option<&Expr> {
    let index = number.checked_sub(1)?;
    if let Kind::Path(Path { parts }) = &text.kind {
        let Some(PathPart::Name { arguments, .. }) = parts.last() else { return None };
        return match arguments.get(index) {
            Some(ArgumentText::Expression(expr)) => Some(expr),
            _ => None,
        };
    }
    if binding(text).is_some() {
        return None;
    }
    let mut children = Vec::new();
    walk::each_child(text, &mut |it| children.push(it));
    children.get(index).copied()
}
