//! Rules on the use of names, and their error messages.
//!
//! Checking and lowering are one walk. Lowering of a name calls a rule of this module. After an error it continues with
//! a placeholder, so that one run reports many errors. The lowered program is discarded if there was an error. The body
//! of a family is walked once for each member; an error common to all members is reported once.

use super::ast::{DveChannelUse, DveExpr, DveExprKind, DveProcessUse, DveReference, SourceName};
use super::scope::{DveMeaning, DveProcessInstance, DveScope, FamilyMembers};
pub(super) use crate::diagnostics::DiagnosticSink;
use crate::name_suggestion;
use crate::quote::{quote, shorten};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    ChannelId, Entity, ExprKind as Known, LocationId, Place, PlaceSelector, ProcessId, VarId,
};

/// The meaning of a reference: a known value or a part of the state.
pub(super) enum ResolvedReference {
    /// A constant.
    Known(i64),
    /// A variable or an element of an array, and whether it is constant.
    Place(Place, bool),
}

fn is_value(meaning: DveMeaning) -> bool {
    use DveMeaning::*;
    matches!(meaning, Constant(_) | Parameter(_) | Variable { .. })
}

fn is_channel(meaning: DveMeaning) -> bool {
    matches!(meaning, DveMeaning::Channel(_) | DveMeaning::Channels(_))
}

fn is_process(meaning: DveMeaning) -> bool {
    matches!(meaning, DveMeaning::Process(_) | DveMeaning::Processes(_))
}

impl<'w, 'a> DveScope<'w, 'a> {
    /// Resolves a name in an expression.
    pub(super) fn reference(&self, reference: &DveReference<'a>) -> Option<ResolvedReference> {
        let meaning = self.expect_meaning(reference.name, "variable or constant", is_value)?;
        self.resolve_meaning(reference, meaning)
    }

    /// Resolves `x` in `P->x`, where `P` is `member`.
    pub(super) fn resolve_foreign(
        &self,
        member: &DveProcessInstance<'a>,
        reference: &DveReference<'a>,
    ) -> Option<ResolvedReference> {
        let name = reference.name;
        match member.table.get(name.text) {
            Some(meaning) if is_value(meaning) => self.resolve_meaning(reference, meaning),
            Some(meaning) => {
                self.report_misuse(name, meaning, "variable");
                None
            }
            None => {
                let help = name_suggestion::suggest_name(
                    name.text,
                    member.table.names(is_value).into_iter(),
                );
                let of =
                    format!("process {} has no variable {}", quote(&member.name), quote(name.text));
                self.unknown(name.span, of, help);
                None
            }
        }
    }

    fn resolve_meaning(
        &self,
        reference: &DveReference<'a>,
        meaning: DveMeaning,
    ) -> Option<ResolvedReference> {
        let DveReference { name, index } = reference;
        let (id, length, constant) = match meaning {
            DveMeaning::Variable { id, length, constant } => (id, length, constant),
            DveMeaning::Constant(value) | DveMeaning::Parameter(value) if index.is_none() => {
                return Some(ResolvedReference::Known(value));
            }
            _ => return self.not_an_array(*name, meaning, index.as_deref()),
        };
        let place = match (length, index) {
            (None, None) => Place::variable(id, name.span),
            (Some(length), Some(index)) => self.element(*name, id, length, index),
            (None, Some(_)) => return self.not_an_array(*name, meaning, index.as_deref()),
            (Some(_), None) => {
                let error = format!("{} is an array, and this names no element", quote(name.text));
                let help = format!("write `{}[...]`", shorten(name.text));
                self.report.error_with(name.span, error, help);
                return None;
            }
        };
        Some(ResolvedReference::Place(place, constant))
    }

    fn not_an_array(
        &self,
        name: SourceName<'a>,
        meaning: DveMeaning,
        index: Option<&DveExpr<'a>>,
    ) -> Option<ResolvedReference> {
        let span = index.map_or(name.span, |index| index.span);
        let error = format!("{} is {}, not an array", quote(name.text), meaning.describe());
        self.report.error(span, error);
        None
    }

    fn element(&self, name: SourceName<'a>, id: VarId, length: u32, index: &DveExpr<'a>) -> Place {
        let lowered = self.lower(index);
        if let Some(known) = lowered.as_constant().filter(|&k| k < 0 || k >= length.into()) {
            let array = quote(name.text);
            let which = self.which_member();
            let warning =
                format!("{array} has no element {known}{which}: a step that gets here fails");
            let help = format!("its elements are 0 to {}", length - 1);
            self.report.add(Diagnostic::warning(index.span, warning).help(help));
        }
        let span = Span { end: index.span.end, ..name.span };
        Place { path: vec![PlaceSelector::Index(lowered)], ..Place::variable(id, span) }
    }

    /// Returns the place that an assignment or a receive writes.
    pub(super) fn target(&self, expr: &DveExpr<'a>) -> Option<Place> {
        let reference = match &expr.kind {
            DveExprKind::Value(reference) => reference,
            DveExprKind::Foreign(process, _) => {
                let owner = quote(process.name.text);
                let error = format!("only {owner} itself may assign its variables");
                self.report.error(expr.span, error);
                return None;
            }
            _ => {
                let error = "expected a variable, found an expression";
                let help = "only a variable or an element of an array can be assigned";
                self.report.error_with(expr.span, error, help);
                return None;
            }
        };
        match self.reference(reference)? {
            ResolvedReference::Place(place, false) => Some(Place { span: expr.span, ..place }),
            _ => {
                let name = reference.name;
                let kind = match self.get(name.text) {
                    Some(DveMeaning::Parameter(_)) => "the number of a family's member",
                    _ => "a constant",
                };
                let error = format!("{} is {kind} and cannot be assigned", quote(name.text));
                self.report.error(name.span, error);
                None
            }
        }
    }

    /// Returns the process that `P` or `P[e]` denotes.
    pub(super) fn process(
        &self,
        process: &DveProcessUse<'a>,
    ) -> Option<&'w DveProcessInstance<'a>> {
        let DveProcessUse { name, member } = process;
        let id = match self.expect_meaning(*name, "process", is_process)? {
            DveMeaning::Process(id) if member.is_none() => id,
            DveMeaning::Processes(members) => {
                ProcessId::from_index(self.member_of(*name, members, member.as_deref())?)
            }
            _ => return self.not_a_family(*name, "process", member.as_deref()),
        };
        self.world.members.get(id.index())
    }

    /// Returns the channel that `c` or `c[e]` denotes.
    pub(super) fn channel(&self, channel: &DveChannelUse<'a>) -> Option<ChannelId> {
        let DveChannelUse { name, member } = channel;
        match self.expect_meaning(*name, "channel", is_channel)? {
            DveMeaning::Channel(id) if member.is_none() => Some(id),
            DveMeaning::Channels(members) => {
                let index = self.member_of(*name, members, member.as_deref())?;
                Some(ChannelId::from_index(index))
            }
            _ => self.not_a_family(*name, "channel", member.as_deref()),
        }
    }

    /// Returns the state of a process that has this name.
    pub(super) fn state(
        &self,
        member: &DveProcessInstance<'a>,
        name: SourceName<'a>,
    ) -> Option<LocationId> {
        let is_state = |meaning| matches!(meaning, DveMeaning::State(_));
        match member.table.get(name.text) {
            Some(DveMeaning::State(location)) => Some(location),
            Some(meaning) => {
                self.report_misuse(name, meaning, "state");
                None
            }
            None => {
                let help = name_suggestion::suggest_name(
                    name.text,
                    member.table.names(is_state).into_iter(),
                );
                let process = quote(&member.name);
                let error = format!("process {process} has no state {}", quote(name.text));
                self.unknown(name.span, error, help);
                None
            }
        }
    }

    /// Returns the value of an expression that must be constant; `what` names its use for messages.
    pub(super) fn constant(&self, expr: &DveExpr<'a>, what: &str) -> Option<i64> {
        let before = self.report.errors();
        let lowered = self.lower(expr);
        if self.report.errors() > before {
            return None;
        }
        lowered.as_constant().or_else(|| {
            self.not_constant(&lowered, what);
            None
        })
    }

    fn not_constant(&self, expr: &spillway_ir::Expr, what: &str) {
        let culprit = non_constant_part(expr);
        let which = self.which_member();
        match &culprit.kind {
            Known::Binary(operator, ..) if is_known(culprit) => {
                use spillway_ir::BinaryOp::{Divide, Remainder};
                let error = match operator {
                    Divide | Remainder => format!("a division by zero in {what}{which}"),
                    _ => format!("a shift by less than 0 or more than 31 bits in {what}{which}"),
                };
                self.report.error(culprit.span, error);
            }
            _ => {
                let error = format!("{what} must be constant");
                let help = "only numbers and constants can be used here";
                self.report.error_with(culprit.span, error, help);
            }
        }
    }

    fn member_of(
        &self,
        name: SourceName<'a>,
        members: FamilyMembers,
        index: Option<&DveExpr<'a>>,
    ) -> Option<usize> {
        let FamilyMembers { first, count } = members;
        let Some(index) = index else {
            let family = quote(name.text);
            let error = format!("{family} is a family of {count}, and this names no member");
            let help = format!("write `{}[...]`", shorten(name.text));
            self.report.error_with(name.span, error, help);
            return None;
        };
        let known = self.constant(index, "the number of a family's member")?;
        match u32::try_from(known) {
            Ok(known) if known < count => Some((first + known) as usize),
            _ => {
                let which = self.which_member();
                let error = format!("{} has no member {known}{which}", quote(name.text));
                let help = format!("its members are 0 to {}", count - 1);
                self.report.error_with(index.span, error, help);
                None
            }
        }
    }

    fn not_a_family<T>(
        &self,
        name: SourceName<'a>,
        what: &str,
        index: Option<&DveExpr<'a>>,
    ) -> Option<T> {
        let span = index.map_or(name.span, |index| index.span);
        let error = format!("{} is one {what}, not a family", quote(name.text));
        self.report.error(span, error);
        None
    }

    /// Returns ` for i = 3`, inside a member of a family.
    fn which_member(&self) -> String {
        match self.member.and_then(|member| member.parameter) {
            Some((name, value)) => format!(" for {} = {value}", shorten(name.text)),
            None => String::new(),
        }
    }

    /// Returns the meaning of a name, which must be of a wanted kind.
    fn expect_meaning(
        &self,
        name: SourceName<'a>,
        what: &str,
        wanted: fn(DveMeaning) -> bool,
    ) -> Option<DveMeaning> {
        match self.get(name.text) {
            Some(meaning) if wanted(meaning) => Some(meaning),
            Some(meaning) => {
                self.report_misuse(name, meaning, what);
                None
            }
            None => {
                let error = format!("no {what} is called {}", quote(name.text));
                self.unknown(name.span, error, self.suggest_name(name.text, wanted));
                None
            }
        }
    }

    fn report_misuse(&self, name: SourceName<'a>, meaning: DveMeaning, what: &str) {
        let (text, kind) = (quote(name.text), meaning.describe());
        let message = format!("expected a {what}, but {text} is {kind}");
        let help = match (meaning, what) {
            (DveMeaning::Process(_), "variable or constant") => {
                Some(format!("to ask for its state, write `{}.state`", shorten(name.text)))
            }
            _ => None,
        };
        self.report.add(Diagnostic { help, ..Diagnostic::error(name.span, message) });
    }

    fn unknown(&self, span: Span, message: String, help: Option<String>) {
        self.report.add(Diagnostic { help, ..Diagnostic::error(span, message) });
    }
}

/// Returns the first part that is not constant.
fn non_constant_part(expr: &spillway_ir::Expr) -> &spillway_ir::Expr {
    let parts: [Option<&spillway_ir::Expr>; 2] = match &expr.kind {
        Known::Unary(_, operand) => [Some(operand), None],
        Known::Binary(_, left, right) => [Some(left), Some(right)],
        _ => [None, None],
    };
    let guilty = parts.into_iter().flatten().find(|part| part.as_constant().is_none());
    guilty.map_or(expr, non_constant_part)
}

/// Returns whether both operands are constant, so that the operator itself fails.
fn is_known(expr: &spillway_ir::Expr) -> bool {
    match &expr.kind {
        Known::Binary(_, left, right) => {
            left.as_constant().is_some() && right.as_constant().is_some()
        }
        _ => false,
    }
}
