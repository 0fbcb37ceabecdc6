//! Lowering of the tree to a program: resolves names, checks types and emits code, in one walk.
//!
//! - `scope`: the meanings of names;
//! - `types`: types and declarations;
//! - `sorts`: the sorts of expressions, and conversions between them;
//! - `places`: variables and their parts;
//! - `expressions`: values; `shifts`: shifts by unknown numbers;
//! - `equality`: comparisons of records and arrays;
//! - `outline`: expressions that need statements, which become functions;
//! - `calls`: functions and calls;
//! - `recursion`: recursive functions, which are unrolled;
//! - `statements`: bodies;
//! - `rules`: actions, starts and properties, with the parameters of the enclosing constructs.
//!
//! A function that lowers an incorrect part reports an error and returns `None`. The lowered program is discarded if
//! there was an error.
//!
//! A function that changes the state or returns an aggregate cannot be called in an expression of the program. Such a
//! call is *hoisted*: it becomes a statement before the statement that contains it, and its result becomes a local
//! variable. If no statement can precede the expression, as in a guard, the expression becomes a separate function.

mod calls;
mod constant_folding;
mod equality;
mod expressions;
mod outline;
mod places;
mod recursion;
mod rules;
mod scope;
mod shifts;
mod sorts;
mod statements;
mod types;

use super::DiagnosticSink;
use super::ast::{MurphiDeclaration, MurphiExpr, MurphiModel};
use crate::{Options, name_suggestion};
use calls::FunctionSignature;
use scope::{MurphiMeaning, ScopeStack};
use spillway_base::source::Span;
use spillway_ir::validate::SCALARS_MAX;
use spillway_ir::{self as ir, Domain, FunctionId, LocalId, Program, Stmt, StmtKind, Type, TypeId};
use std::collections::{HashMap, HashSet};

/// Returns the program of a model, and the conditions of propositions about it; errors go to `report`.
pub(super) fn lower<'a>(
    model: &MurphiModel<'a>,
    propositions: &[MurphiExpr<'a>],
    options: &Options,
    report: &'a DiagnosticSink<'a>,
) -> (Program, Vec<ir::Expr>) {
    let mut lowerer = MurphiLowering {
        report,
        program: Program::default(),
        scopes: ScopeStack::default(),
        interned: HashMap::new(),
        indices: HashMap::new(),
        sizes: Vec::new(),
        depths: Vec::new(),
        locals: 0,
        functions: Vec::new(),
        shifts: [None; 2],
        defining: None,
        body: BodyContext::default(),
        defines: &options.defines,
        defined: HashSet::new(),
        later: model.declarations.iter().flat_map(MurphiDeclaration::names).collect(),
    };
    lowerer.scopes.push();
    lowerer.declare_predefined();
    for declaration in &model.declarations {
        lowerer.declaration(declaration);
    }
    lowerer.unknown_defines(&model.declarations);
    lowerer.all_rules(&model.rules);
    lowerer.body = BodyContext::default();
    let conditions = propositions.iter().filter_map(|it| lowerer.pure_condition(it)).collect();
    (lowerer.program, conditions)
}

/// The span of generated functions that no model declares.
const ROUTINE_SPAN: Span = Span { file: 0, start: 0, end: 0 };

/// A program under construction.
struct MurphiLowering<'a, 'r> {
    report: &'r DiagnosticSink<'a>,
    program: Program,
    scopes: ScopeStack<'a>,
    /// The types by their definition; array types also by their index domain.
    interned: HashMap<(Type, Option<Domain>), TypeId>,
    /// The index domain of each array type.
    indices: HashMap<TypeId, Domain>,
    /// The number of scalars in a value of each type.
    sizes: Vec<u64>,
    /// The nesting depth of each type.
    depths: Vec<u32>,
    /// The number of scalars in all variables and parameters of bodies.
    locals: u64,
    functions: Vec<FunctionSignature>,
    /// The functions that shift to the left and to the right, created on demand.
    shifts: [Option<FunctionId>; 2],
    /// The function whose body is being lowered: its name, and its index among the functions.
    defining: Option<(&'a str, usize)>,
    body: BodyContext,
    /// Constants that the command line replaces.
    defines: &'r [(String, i64)],
    /// The members of `defines` that the model declares.
    defined: HashSet<&'r str>,
    /// All names declared outside bodies, including those declared later.
    later: HashSet<&'a str>,
}

/// The state of lowering of a body.
#[derive(Default)]
struct BodyContext {
    /// Items that must run before the current statement.
    hoisted: Vec<HoistedItem>,
    /// The number of branches nested in the `else` of others because their conditions need statements.
    else_depth: u32,
    /// The calls that can be hoisted.
    hoists: HoistPolicy,
    /// The kinds of its locals, by number.
    kinds: Vec<LocalKind>,
    /// The locals that denote places of the state or of the caller.
    outside: HashSet<LocalId>,
    /// Whether it changes anything outside itself.
    changes: bool,
    /// The maximum nesting of its calls of functions.
    calls_depth: usize,
    /// The number of bodies it calls, if each call is expanded.
    weight: u64,
    /// Whether it is the body of a recursive function.
    calls_itself: bool,
    /// The index of the first function generated for its expressions.
    first_function: usize,
    /// The target of the result, in the body of a function with a result.
    result: ReturnTarget,
}

/// The calls that can be hoisted before the current expression.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum HoistPolicy {
    /// None: no statement can precede it.
    #[default]
    Nothing,
    /// Calls without side effects.
    Unchanging,
    /// Every call.
    All,
}

/// The kind of a local.
#[derive(Clone, Copy)]
enum LocalKind {
    /// A value of a scalar type.
    Value(TypeId),
    /// A place of a type.
    Place(TypeId),
}

/// The kind of a result.
#[derive(Clone, Copy, Default)]
enum ReturnTarget {
    /// No result.
    #[default]
    Nothing,
    /// One value of a type.
    Scalar(TypeId),
    /// An aggregate of a type, returned through a parameter by reference.
    Aggregate(LocalId, TypeId),
}

/// An item that must run before a statement.
enum HoistedItem {
    /// The declaration of a local variable.
    Local(LocalId, TypeId, Span),
    /// A statement.
    Stmt(Box<Stmt>),
}

impl<'a> MurphiLowering<'a, '_> {
    fn error(&self, span: Span, message: impl Into<String>) {
        self.report.error(span, message);
    }

    fn error_with(&self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report.error_with(span, message, help);
    }

    /// Counts the scalars of a variable or parameter of a body, and reports one error if there are too many. The
    /// storage after a state has room for those of all bodies at once.
    fn keep_local(&mut self, ty: TypeId, span: Span) {
        let before = self.locals;
        self.locals = before.saturating_add(self.sizes[ty.0 as usize]);
        if before <= SCALARS_MAX && self.locals > SCALARS_MAX {
            let message = format!(
                "with this, variables of rules and functions have more than {SCALARS_MAX} scalars"
            );
            self.error_with(span, message, "make the model's constants smaller");
        }
    }

    /// Returns a new local of the body.
    fn fresh(&mut self, kind: LocalKind) -> LocalId {
        self.body.kinds.push(kind);
        LocalId(self.body.kinds.len() as u32 - 1)
    }

    /// Lowers one declaration, and declares its names.
    fn declaration(&mut self, declaration: &MurphiDeclaration<'a>) {
        match declaration {
            MurphiDeclaration::Constants(names, value) => self.constants(names, value),
            // All these names denote one type.
            MurphiDeclaration::Types(names, ty) => {
                let first = names.first().map_or("", |it| it.text);
                if let Some(id) = self.named_type(ty, first) {
                    names.iter().for_each(|&it| self.declare(it, MurphiMeaning::Type(id)));
                }
            }
            MurphiDeclaration::Variables(names, ty) => self.variables(names, ty),
            MurphiDeclaration::Function(function) => self.function(function),
        }
        declaration.names().into_iter().for_each(|it| self.scopes.declare_unknown(it));
    }

    fn unknown_defines(&self, declarations: &[MurphiDeclaration<'a>]) {
        let constants = declarations.iter().filter_map(|it| match it {
            MurphiDeclaration::Constants(names, _) => Some(names),
            _ => None,
        });
        let constants: Vec<&str> = constants.flatten().map(|it| it.text).collect();
        for (name, _) in self.defines.iter().filter(|(name, _)| !self.defined.contains(&**name)) {
            let message = format!("the model has no constant `{name}` to define");
            let help = name_suggestion::unknown_name_help(name, &constants, "constants");
            self.error_with(Span::default(), message, help);
        }
    }
}

/// Returns the hoisted items, followed by the statements.
fn prepend_hoisted(hoisted: Vec<HoistedItem>, body: Vec<Stmt>) -> Vec<Stmt> {
    hoisted.into_iter().rev().fold(body, |mut body, it| match it {
        HoistedItem::Stmt(stmt) => {
            body.insert(0, *stmt);
            body
        }
        HoistedItem::Local(local, ty, span) => {
            let kind = StmtKind::Declare { local, name: String::new(), ty, body };
            vec![Stmt { kind, span }]
        }
    })
}
