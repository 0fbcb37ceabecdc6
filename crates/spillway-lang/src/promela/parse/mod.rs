//! The parser: from tokens to a tree. It resolves names of variables.
//!
//! `inline`s are expanded here: a call inserts the body, with its parameters replaced, before the rest of the input.
//! Declarations inside a body are statements, as in SPIN, except at the beginning of a process.

mod declare;
mod expression;
mod inlines;
mod line_ends;
mod loops;
mod ltl;
mod property;
mod statement;

pub use property::{ParsedProperty, PropertyTokens};

use super::ast::{ProcessRole, PromelaExpr, PromelaName, PromelaProcess, PromelaReference};
use super::symbols::{PromelaSymbolTable, SymbolId};
use super::token::{PromelaToken, PromelaTokenKind};
use crate::DeclaredName;
use crate::name_suggestion::suggest_name;
use crate::quote::shorten;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// A whole model.
#[derive(Debug, Default)]
pub struct PromelaModel {
    /// All declared symbols.
    pub symbols: PromelaSymbolTable,
    /// Process types, `init` and claims, in order.
    pub processes: Vec<PromelaProcess>,
    /// The formulas, in order.
    pub formulas: Vec<LtlProperty>,
    /// The property given outside the model's text.
    pub property: Option<ParsedProperty>,
    /// The variables that replace `_pid` in processes that receive into it, by the number of the process.
    pub own_pids: HashMap<usize, SymbolId>,
    /// Labels to which other processes refer.
    pub remote_labels: Vec<Rc<str>>,
    /// Whether priorities are used.
    pub uses_priorities: bool,
    /// Whether `_last` is read anywhere. Then it is part of SPIN's states, even if the read is unreachable.
    pub uses_last: bool,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// The names of inlines, types and symbolic constants.
    pub names: Vec<DeclaredName>,
}

/// An `ltl` property.
#[derive(Clone, Debug)]
pub struct LtlProperty {
    /// Its name.
    pub name: PromelaName,
    /// Its text, tokens joined.
    pub text: String,
    /// Its tokens, the end last.
    tokens: Vec<PromelaToken>,
}

/// The reserved words.
const KEYWORDS: [&str; 62] = [
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "chan",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "D_proctype",
    "do",
    "d_step",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "ltl",
];

/// The maximum nesting of statements.
const NESTED_MAX: u32 = 100;

/// Parses a model and its property.
pub fn parse(
    tokens: Vec<PromelaToken>,
    asked: Option<PropertyTokens>,
) -> Result<PromelaModel, Diagnostic> {
    let mut parser = PromelaParser {
        input: tokens.into(),
        last: None,
        read: Vec::new(),
        model: PromelaModel::default(),
        scopes: vec![HashMap::new()],
        labels: Vec::new(),
        exclusive: HashMap::new(),
        structs: HashMap::new(),
        inlines: HashMap::new(),
        process: None,
        can_initialize: true,
        expansion: 0,
        expansions: 0,
        inlined: 0,
        results: Vec::new(),
        line_ends: false,
        brackets: 0,
        in_d_step: false,
        nested: 0,
        nested_expressions: 0,
    };
    parser.model.symbols.set("mtype");
    while !parser.at_end() {
        parser.unit()?;
    }
    parser.formulas()?;
    if let Some(asked) = asked {
        parser.model.property = Some(parser.parse_property(asked)?);
    }
    Ok(parser.model)
}

struct PromelaParser {
    input: VecDeque<PromelaToken>,
    /// The token taken last.
    last: Option<PromelaToken>,
    /// The tokens taken of the current outermost statement.
    read: Vec<PromelaToken>,
    model: PromelaModel,
    /// The variables in scope, innermost block last.
    scopes: Vec<HashMap<Rc<str>, SymbolId>>,
    /// The labels so far, by block of the process.
    labels: Vec<HashSet<Rc<str>>>,
    /// The process that first claimed exclusive receives (`xr`, true) or sends on a channel.
    exclusive: HashMap<(SymbolId, bool), usize>,
    structs: HashMap<Rc<str>, usize>,
    inlines: HashMap<Rc<str>, Rc<inlines::InlineDefinition>>,
    /// The number of the current process.
    process: Option<usize>,
    /// Whether an initial value is set when the process starts, not by a statement.
    can_initialize: bool,
    /// The number of the current expansion of an `inline`, or 0.
    expansion: u32,
    expansions: u32,
    /// The number of tokens that calls of inlines have inserted.
    inlined: usize,
    /// The targets of the results of the current inlines, innermost last; `None` if the call does not store its result.
    results: Vec<Option<PromelaReference>>,
    /// Whether the end of a line may end a statement here.
    line_ends: bool,
    /// The number of open round brackets.
    brackets: u32,
    /// Whether a `d_step` is being parsed.
    in_d_step: bool,
    /// The nesting depth of the current statement.
    nested: u32,
    /// The nesting depth of the current expression.
    nested_expressions: u32,
}

/// The result of parsing.
type PromelaParseResult<T> = Result<T, Diagnostic>;

impl PromelaParser {
    fn peek(&self) -> &PromelaToken {
        &self.input[0]
    }

    fn peek_at(&self, ahead: usize) -> &PromelaToken {
        self.input.get(ahead).unwrap_or(&self.input[self.input.len() - 1])
    }

    fn at_end(&self) -> bool {
        self.peek().kind == PromelaTokenKind::End
    }

    fn at(&self, text: &str) -> bool {
        self.peek().is(text)
    }

    fn at_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.at(text))
    }

    fn span(&self) -> Span {
        self.peek().span
    }

    /// Returns the span from `start` to the token taken last.
    fn since(&self, start: Span) -> Span {
        match &self.last {
            Some(last) if last.span.file == start.file && last.span.start >= start.start => {
                start.to(last.span)
            }
            _ => start,
        }
    }

    fn take(&mut self) -> PromelaToken {
        let token = match self.at_end() {
            true => self.peek().clone(),
            false => {
                self.input.pop_front().unwrap_or_else(|| unreachable!("the end is never taken"))
            }
        };
        self.last = Some(token.clone());
        if self.nested > 0 {
            self.read.push(token.clone());
        }
        self.brackets += u32::from(token.is("("));
        self.brackets = self.brackets.saturating_sub(token.is(")").into());
        self.end_line(&token);
        token
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, text: &str, context: &str) -> PromelaParseResult<PromelaToken> {
        match self.at(text) {
            true => Ok(self.take()),
            false => self.unexpected(&format!("`{text}` {context}")),
        }
    }

    fn unexpected<T>(&self, expected: &str) -> PromelaParseResult<T> {
        let found = match &self.peek().kind {
            PromelaTokenKind::End => "the end of the file".to_owned(),
            PromelaTokenKind::LineEnd => "the end of the line".to_owned(),
            kind => format!("`{}`", shorten(&kind.to_string())),
        };
        let error = format!("expected {expected}, found {found}");
        Err(Diagnostic { help: self.help_on_line_ends(), ..Diagnostic::error(self.span(), error) })
    }

    fn error<T>(&self, span: Span, message: impl Into<String>) -> PromelaParseResult<T> {
        Err(Diagnostic::error(span, message))
    }

    fn at_name(&self) -> bool {
        self.peek().name().is_some_and(|name| !KEYWORDS.contains(&&**name))
    }

    fn name(&mut self, what: &str) -> PromelaParseResult<PromelaName> {
        if !self.at_name() {
            return self.unexpected(what);
        }
        let token = self.take();
        match token.name() {
            Some(text) => Ok(PromelaName { text: text.clone(), span: token.span }),
            None => self.unexpected(what),
        }
    }

    /// Returns the variable of this name, if one is in scope.
    fn look_up(&self, name: &str) -> Option<SymbolId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// Returns the error for an unknown name, with a similar name if there is one.
    fn no_variable<T>(&self, span: Span, name: &str) -> PromelaParseResult<T> {
        let error = Diagnostic::error(span, format!("there is no variable {name}"));
        Err(Diagnostic { help: suggest_name(name, self.known_names().into_iter()), ..error })
    }

    /// Returns the names of variables and constants in scope.
    fn known_names(&self) -> BTreeSet<&str> {
        let variables = self.scopes.iter().flat_map(HashMap::keys);
        variables.chain(self.model.symbols.constants.keys()).map(|it| &**it).collect()
    }

    fn separators(&mut self) -> bool {
        let mut any = false;
        while self.at_any(&[";", "->"]) {
            self.take();
            any = true;
        }
        any
    }

    fn unit(&mut self) -> PromelaParseResult<()> {
        if self.separators() {
            return Ok(());
        }
        let start = self.span();
        let word = match &self.peek().kind {
            PromelaTokenKind::Name(word) => word.clone(),
            _ => return self.unexpected("a declaration, a process or a property"),
        };
        match &*word {
            "active" | "proctype" | "D_proctype" => self.proctype(),
            "init" => self.init(),
            "never" => self.claim(ProcessRole::Never),
            "trace" => self.claim(ProcessRole::Trace),
            "notrace" => self.claim(ProcessRole::NoTrace),
            "ltl" => self.ltl(),
            "typedef" => self.typedef(),
            "inline" => self.inline(),
            word if word.starts_with("c_") && KEYWORDS.contains(&word) => {
                super::refuse_c(start, word)
            }
            _ if self.at_declaration() => {
                self.can_initialize = true;
                self.declaration(false).map(drop)
            }
            _ => self.unexpected("a declaration, a process or a property"),
        }
    }

    fn proctype(&mut self) -> PromelaParseResult<()> {
        let mut active = 0;
        if self.accept("active") {
            active = 1;
            if self.accept("[") {
                let span = self.span();
                let count = self.constant("the number of instances")?;
                active = match u32::try_from(count) {
                    Ok(count) if count <= 255 => count,
                    _ => {
                        return self.error(
                            span,
                            format!("there are {count} instances, but 0 to 255 can be active"),
                        );
                    }
                };
                self.expect("]", "after the number of instances")?;
            }
        }
        if !self.accept("D_proctype") {
            self.expect("proctype", "after `active`")?;
        }
        let name = self.name("the name of the process")?;
        if self.model.processes.iter().any(|process| process.name.text == name.text) {
            return self.error(name.span, format!("there is a process {} already", name.text));
        }
        self.enter_process();
        self.expect("(", "before the parameters")?;
        let parameters = self.parameters()?;
        self.expect(")", "after the parameters")?;
        let priority = self.priority()?;
        let provided = match self.accept("provided") {
            false => None,
            true => {
                self.expect("(", "after `provided`")?;
                let condition = self.expression()?;
                self.expect(")", "after the condition")?;
                Some(condition)
            }
        };
        let process = PromelaProcess {
            name,
            role: ProcessRole::Process,
            active,
            parameters,
            priority,
            provided,
            body: Vec::new(),
            end: Span::default(),
        };
        self.body(process)
    }

    fn init(&mut self) -> PromelaParseResult<()> {
        let span = self.take().span;
        let name = PromelaName { text: ":init:".into(), span };
        if self.model.processes.iter().any(|process| process.name.text == name.text) {
            return self.error(span, "there is an `init` already");
        }
        self.enter_process();
        let priority = self.priority()?;
        self.body(without_parameters(name, ProcessRole::Process, 1, priority))
    }

    fn claim(&mut self, role: ProcessRole) -> PromelaParseResult<()> {
        let word = self.take();
        let mut name = PromelaName { text: format!("{}", word.kind).into(), span: word.span };
        if role == ProcessRole::Never {
            // SPIN's name for a claim without one.
            let claims = self.model.processes.iter().filter(|it| it.role == ProcessRole::Never);
            name.text = format!("never_{}", claims.count()).into();
            if self.at_name() {
                name = self.name("a name")?;
            }
            if self.model.processes.iter().any(|process| process.name.text == name.text) {
                let error = format!("there is a process or a claim {} already", name.text);
                return self.error(name.span, error);
            }
        }
        let is_trace =
            |it: &PromelaProcess| matches!(it.role, ProcessRole::Trace | ProcessRole::NoTrace);
        if role != ProcessRole::Never && self.model.processes.iter().any(is_trace) {
            let error = format!("the model has a second `trace` or `notrace`: {}", name.text);
            return self
                .error(name.span, error)
                .map_err(|it| it.help("a model has one of them at most, as in SPIN"));
        }
        self.enter_process();
        self.body(without_parameters(name, role, 0, None))
    }

    fn enter_process(&mut self) {
        self.process = Some(self.model.processes.len());
        self.scopes.push(HashMap::new());
        self.labels = vec![HashSet::new()];
        self.can_initialize = true;
    }

    /// Parses `priority n`, if present.
    fn priority(&mut self) -> PromelaParseResult<Option<i64>> {
        if !self.accept("priority") {
            return Ok(None);
        }
        self.model.uses_priorities = true;
        let span = self.span();
        match self.constant("a priority")? {
            priority @ 1..=255 => Ok(Some(priority)),
            priority => self.error(span, format!("the priority is {priority}, but it is 1 to 255")),
        }
    }

    fn body(&mut self, mut process: PromelaProcess) -> PromelaParseResult<()> {
        self.expect("{", "before the statements")?;
        // This lets the body refer to its own process.
        self.model.processes.push(process.clone());
        self.line_ends = true;
        process.body = self.sequence(&["}"])?;
        self.line_ends = false;
        process.end = self.expect("}", "after the statements")?.span;
        if let Some(last) = self.model.processes.last_mut() {
            *last = process;
        }
        self.scopes.pop();
        self.process = None;
        Ok(())
    }

    /// Parses a constant expression.
    fn constant(&mut self, what: &str) -> PromelaParseResult<i64> {
        let expr = self.expression()?;
        self.known(&expr, what)
    }

    /// Returns the value of an expression that must be constant. A variable with a constant initial value counts as
    /// that value.
    fn known(&self, expr: &PromelaExpr, what: &str) -> PromelaParseResult<i64> {
        use super::ast::PromelaExprKind;
        use super::symbols::PromelaInitializer;
        if let Some(value) = expr.constant() {
            return Ok(value);
        }
        if let PromelaExprKind::Variable(reference) = &expr.kind
            && let PromelaInitializer::Value(value) =
                &self.model.symbols.all[reference.symbol].initial
            && let Some(value) = value.constant()
        {
            return Ok(value);
        }
        self.error(expr.span, format!("{what} must be a constant"))
    }
}

fn without_parameters(
    name: PromelaName,
    role: ProcessRole,
    active: u32,
    priority: Option<i64>,
) -> PromelaProcess {
    let end = name.span;
    PromelaProcess {
        name,
        role,
        active,
        parameters: Vec::new(),
        priority,
        provided: None,
        body: Vec::new(),
        end,
    }
}
