//! From the tree to the program: names, types, code, in one walk.
//!
//! - `scope`: what names mean;
//! - `types`: types and declarations;
//! - `sorts`: what expressions are values of, and how one sort passes for another;
//! - `places`: variables and parts of them;
//! - `expressions`: values; `shifts` by numbers that are not known;
//! - `equality`: records and arrays compared;
//! - `outline`: expressions that need statements, which become functions;
//! - `calls`: functions and calls;
//! - `recursion`: functions that call themselves, which become several;
//! - `statements`: bodies;
//! - `rules`: actions, starts and properties, with the parameters of what encloses them.
//!
//! Whoever lowers something wrong reports it and gives nothing; nothing lowered is used once there
//! was an error.
//!
//! A function that changes the state, or gives an aggregate, is no expression of the program's.
//! A call of one is *hoisted*: it becomes a statement before the one it stands in, and its result
//! a local variable. Where no statement stands before, as in guards, the expression becomes a function
//! of its own.

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
use crate::front::{Options, name_suggestion};
use crate::ir::validate::SCALARS_MAX;
use crate::ir::{self, Domain, FunctionId, LocalId, Program, Stmt, StmtKind, Type, TypeId};
use crate::source::Span;
use calls::FunctionSignature;
use scope::{MurphiMeaning, ScopeStack};
use std::collections::{HashMap, HashSet};

/// The program of a model, and what propositions about it are; what is wrong with either is in `report`.
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

/// Where functions stand that no model declares.
const ROUTINE_SPAN: Span = Span { file: 0, start: 0, end: 0 };

/// A program in the making.
struct MurphiLowering<'a, 'r> {
    report: &'r DiagnosticSink<'a>,
    program: Program,
    scopes: ScopeStack<'a>,
    /// Types by what they are; arrays also by what indexes them.
    interned: HashMap<(Type, Option<Domain>), TypeId>,
    /// What indexes each array type.
    indices: HashMap<TypeId, Domain>,
    /// The scalars in a value of each type.
    sizes: Vec<u64>,
    /// How deep the types in each type are nested.
    depths: Vec<u32>,
    /// The scalars of all variables and parameters of bodies.
    locals: u64,
    functions: Vec<FunctionSignature>,
    /// The functions that shift to the left and to the right, once they are needed.
    shifts: [Option<FunctionId>; 2],
    /// The function whose body is being lowered: its name, and its place among the functions.
    defining: Option<(&'a str, usize)>,
    body: BodyContext,
    /// Constants that the command line replaces.
    defines: &'r [(String, i64)],
    /// Those among them that there are.
    defined: HashSet<&'r str>,
    /// What is declared outside bodies, wherever.
    later: HashSet<&'a str>,
}

/// What is known of the piece of code being lowered.
#[derive(Default)]
struct BodyContext {
    /// What must run before the statement being lowered.
    hoisted: Vec<HoistedItem>,
    /// How many branches are nested in the `else` of others, because their conditions need statements.
    else_depth: u32,
    /// What can be hoisted.
    hoists: HoistPolicy,
    /// What its locals stand for, by number.
    kinds: Vec<LocalKind>,
    /// Locals that stand for places of the state or of the caller.
    outside: HashSet<LocalId>,
    /// Whether it changes anything outside itself.
    changes: bool,
    /// How deep its calls of functions go.
    calls_depth: usize,
    /// How many bodies there are of what it calls, where each call is written out.
    weight: u64,
    /// Whether it is a function that calls itself.
    calls_itself: bool,
    /// The functions that its expressions become follow from here on.
    first_function: usize,
    /// Where a result goes, in the body of a function that has one.
    result: ReturnTarget,
}

/// What can be hoisted before what is being lowered.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum HoistPolicy {
    /// Nothing: there is no place for statements.
    #[default]
    Nothing,
    /// Calls that change nothing.
    Unchanging,
    /// Every call.
    All,
}

/// What a local stands for.
#[derive(Clone, Copy)]
enum LocalKind {
    /// A value of a scalar type.
    Value(TypeId),
    /// A place of a type.
    Place(TypeId),
}

/// What a body returns.
#[derive(Clone, Copy, Default)]
enum ReturnTarget {
    /// Nothing.
    #[default]
    Nothing,
    /// One value of a type.
    Scalar(TypeId),
    /// An aggregate of a type, into a parameter by reference.
    Aggregate(LocalId, TypeId),
}

/// Something that must run before a statement.
enum HoistedItem {
    /// A local variable is needed from here on.
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

    /// Counts the scalars of a variable or parameter of a body. One error says that there are too
    /// many: all bodies' have room behind a state at once.
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

    /// A local that the body has not used yet.
    fn fresh(&mut self, kind: LocalKind) -> LocalId {
        self.body.kinds.push(kind);
        LocalId(self.body.kinds.len() as u32 - 1)
    }

    /// Lowers one declaration, and lets its names be known.
    fn declaration(&mut self, declaration: &MurphiDeclaration<'a>) {
        match declaration {
            MurphiDeclaration::Constants(names, value) => self.constants(names, value),
            // All of them are names of one type.
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

/// Statements that run after what was hoisted before them.
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
