//! From tokens to a tree, names of variables resolved on the way.
//!
//! `inline`s are expanded here: a call puts the body, with its parameters replaced, before the rest
//! of the input. Declarations inside a body are statements where SPIN makes them such: everywhere
//! but at the beginning of a process.

mod asked;
mod declare;
mod expression;
mod ltl;
mod statement;

pub use asked::{AskedOf, AskedTokens};

use super::ast::{Expr, Name, Process, Role};
use super::symbols::{SymbolId, Symbols};
use super::token::{Kind, Token};
use crate::diag::Diagnostic;
use crate::front::nearest::meant;
use crate::front::quote::shorten;
use crate::source::Span;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// A whole model.
#[derive(Debug, Default)]
pub struct Model {
    /// Everything declared.
    pub symbols: Symbols,
    /// Process types, `init` and claims, in order.
    pub processes: Vec<Process>,
    /// The formulas, in order.
    pub formulas: Vec<Formula>,
    /// What is asked beside the model's text.
    pub asked: Option<AskedOf>,
    /// Labels that are asked about from elsewhere.
    pub remote_labels: Vec<Rc<str>>,
    /// Whether priorities are given or asked about.
    pub uses_priorities: bool,
    /// Whether `_last` is read anywhere: then SPIN's states have it, whether or not it is reached.
    pub uses_last: bool,
    /// Advice.
    pub warnings: Vec<Diagnostic>,
}

/// An `ltl` property.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Its name.
    pub name: Name,
    /// Its text, tokens joined.
    pub text: String,
    /// Its tokens, the end last.
    tokens: Vec<Token>,
}

/// The words that are no names of variables.
const KEYWORDS: [&str; 61] = [
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

/// The most calls of `inline`s that are expanded.
const EXPANSIONS_MAX: u32 = 1 << 18;
/// The most tokens that wait to be read.
const TOKENS_MAX: usize = 8 << 20;
/// The deepest nest of statements.
const NESTED_MAX: u32 = 100;

/// Reads a model, and what is asked of it.
pub fn parse(tokens: Vec<Token>, asked: Option<AskedTokens>) -> Result<Model, Diagnostic> {
    let mut parser = Parser {
        input: tokens.into(),
        last: None,
        read: Vec::new(),
        model: Model::default(),
        scopes: vec![HashMap::new()],
        labels: Vec::new(),
        exclusive: HashMap::new(),
        structs: HashMap::new(),
        inlines: HashMap::new(),
        process: None,
        can_initialize: true,
        expansion: 0,
        expansions: 0,
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
        parser.model.asked = Some(parser.asked(asked)?);
    }
    Ok(parser.model)
}

#[derive(Clone)]
struct Inline {
    parameters: Vec<Rc<str>>,
    body: Vec<Token>,
}

struct Parser {
    input: VecDeque<Token>,
    /// The token read last.
    last: Option<Token>,
    /// The tokens read of the statement that is part of no other.
    read: Vec<Token>,
    model: Model,
    /// The variables in sight, innermost block last.
    scopes: Vec<HashMap<Rc<str>, SymbolId>>,
    /// The labels so far, of each block of the process.
    labels: Vec<HashSet<Rc<str>>>,
    /// Who first claimed to be the only one to receive from a channel (`xr`, true) or to send to it.
    exclusive: HashMap<(SymbolId, bool), usize>,
    structs: HashMap<Rc<str>, usize>,
    inlines: HashMap<Rc<str>, Inline>,
    /// The number of the process being read.
    process: Option<usize>,
    /// Whether an initial value is set when the process starts, not by a statement.
    can_initialize: bool,
    /// The expansion of an `inline` being read, 0 if none.
    expansion: u32,
    expansions: u32,
    /// Whether a `d_step` is being read.
    in_d_step: bool,
    /// The number of statements that the one being read is part of.
    nested: u32,
    /// The same of expressions.
    nested_expressions: u32,
}

/// What every part of the parser returns.
type Parsed<T> = Result<T, Diagnostic>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.input[0]
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        self.input.get(ahead).unwrap_or(&self.input[self.input.len() - 1])
    }

    fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
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

    /// From the start of something to the token read last.
    fn since(&self, start: Span) -> Span {
        match &self.last {
            Some(last) if last.span.file == start.file && last.span.start >= start.start => {
                start.to(last.span)
            }
            _ => start,
        }
    }

    fn take(&mut self) -> Token {
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
        token
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, text: &str, context: &str) -> Parsed<Token> {
        match self.at(text) {
            true => Ok(self.take()),
            false => self.unexpected(&format!("`{text}` {context}")),
        }
    }

    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let found = match &self.peek().kind {
            Kind::End => "the end of the file".to_owned(),
            kind => format!("`{}`", shorten(&kind.to_string())),
        };
        Err(Diagnostic::error(self.span(), format!("expected {expected}, found {found}")))
    }

    fn error<T>(&self, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(Diagnostic::error(span, message))
    }

    fn at_name(&self) -> bool {
        self.peek().name().is_some_and(|name| !KEYWORDS.contains(&&**name))
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if !self.at_name() {
            return self.unexpected(what);
        }
        let token = self.take();
        match token.name() {
            Some(text) => Ok(Name { text: text.clone(), span: token.span }),
            None => self.unexpected(what),
        }
    }

    /// The variable of this name, if there is one in sight.
    fn look_up(&self, name: &str) -> Option<SymbolId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// The error that nothing is called so, with what may be meant.
    fn no_variable<T>(&self, span: Span, name: &str) -> Parsed<T> {
        let error = Diagnostic::error(span, format!("there is no variable {name}"));
        Err(Diagnostic { help: meant(name, self.known_names().into_iter()), ..error })
    }

    /// What variables and constants in sight are called.
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

    fn unit(&mut self) -> Parsed<()> {
        if self.separators() {
            return Ok(());
        }
        let start = self.span();
        let word = match &self.peek().kind {
            Kind::Name(word) => word.clone(),
            _ => return self.unexpected("a declaration, a process or a property"),
        };
        match &*word {
            "active" | "proctype" | "D_proctype" => self.proctype(),
            "init" => self.init(),
            "never" => self.claim(Role::Never),
            "trace" => self.claim(Role::Trace),
            "notrace" => self.claim(Role::NoTrace),
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

    fn proctype(&mut self) -> Parsed<()> {
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
        let process = Process {
            name,
            role: Role::Process,
            active,
            parameters,
            priority,
            provided,
            body: Vec::new(),
            end: Span::default(),
        };
        self.body(process)
    }

    fn init(&mut self) -> Parsed<()> {
        let span = self.take().span;
        let name = Name { text: ":init:".into(), span };
        if self.model.processes.iter().any(|process| process.name.text == name.text) {
            return self.error(span, "there is an `init` already");
        }
        self.enter_process();
        let priority = self.priority()?;
        self.body(without_parameters(name, Role::Process, 1, priority))
    }

    fn claim(&mut self, role: Role) -> Parsed<()> {
        let word = self.take();
        let mut name = Name { text: format!("{}", word.kind).into(), span: word.span };
        if role == Role::Never {
            // SPIN's name for one that has none.
            let claims = self.model.processes.iter().filter(|it| it.role == Role::Never);
            name.text = format!("never_{}", claims.count()).into();
            if self.at_name() {
                name = self.name("a name")?;
            }
            if self.model.processes.iter().any(|process| process.name.text == name.text) {
                let error = format!("there is a process or a claim {} already", name.text);
                return self.error(name.span, error);
            }
        }
        let is_trace = |it: &Process| matches!(it.role, Role::Trace | Role::NoTrace);
        if role != Role::Never && self.model.processes.iter().any(is_trace) {
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

    /// `priority n`, if it stands here.
    fn priority(&mut self) -> Parsed<Option<i64>> {
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

    fn body(&mut self, mut process: Process) -> Parsed<()> {
        self.expect("{", "before the statements")?;
        // References to the process from within find it.
        self.model.processes.push(process.clone());
        process.body = self.sequence(&["}"])?;
        process.end = self.expect("}", "after the statements")?.span;
        if let Some(last) = self.model.processes.last_mut() {
            *last = process;
        }
        self.scopes.pop();
        self.process = None;
        Ok(())
    }

    fn inline(&mut self) -> Parsed<()> {
        self.take();
        let name = self.name("the name of the inline")?;
        self.expect("(", "before the parameters")?;
        let mut parameters = Vec::new();
        while !self.accept(")") {
            parameters.push(self.name("a parameter")?.text);
            if !self.at(")") {
                self.expect(",", "between parameters")?;
            }
        }
        if !self.at("{") {
            return self.unexpected("`{` before the statements");
        }
        let body = self.balanced("{", "}")?;
        if self.inlines.insert(name.text.clone(), Inline { parameters, body }).is_some() {
            return self.error(name.span, format!("there is an inline {} already", name.text));
        }
        Ok(())
    }

    /// Everything from an opening bracket to the one that closes it, both included.
    fn balanced(&mut self, open: &str, close: &str) -> Parsed<Vec<Token>> {
        let start = self.span();
        let mut tokens = Vec::new();
        let mut depth = 0;
        loop {
            if self.at_end() {
                return self.error(start, format!("this `{open}` is never closed"));
            }
            let token = self.take();
            depth += i32::from(token.is(open)) - i32::from(token.is(close));
            tokens.push(token);
            if depth == 0 {
                return Ok(tokens);
            }
        }
    }

    /// Puts the body of an `inline`, its parameters replaced, before the rest of the input.
    fn call(&mut self, name: &Name) -> Parsed<()> {
        let inline = self.inlines[&name.text].clone();
        let arguments = self.arguments()?;
        if arguments.len() != inline.parameters.len() {
            let (expected, given) = (inline.parameters.len(), arguments.len());
            let error = format!("{} takes {expected} arguments, but {given} are given", name.text);
            return self.error(name.span, error);
        }
        self.expansions += 1;
        if self.expansions > EXPANSIONS_MAX {
            return self.too_many_calls(name);
        }
        for token in inline.body.iter().rev() {
            let parameter = token
                .name()
                .and_then(|name| inline.parameters.iter().position(|parameter| parameter == name));
            match parameter {
                None => self.input.push_front(token.clone()),
                Some(number) => {
                    if self.input.len() + arguments[number].len() > TOKENS_MAX {
                        let error =
                            format!("with this, more than {TOKENS_MAX} tokens wait to be read");
                        return self.error(name.span, error);
                    }
                    for argument in arguments[number].iter().rev() {
                        self.input.push_front(argument.clone());
                    }
                    // What stands for the parameter stands on its line.
                    if !arguments[number].is_empty() {
                        self.input[0].begins_line = token.begins_line;
                        self.input[0].spaced = token.spaced;
                    }
                }
            }
        }
        Ok(())
    }

    /// The error that calls of inlines have become too many.
    fn too_many_calls(&self, name: &Name) -> Parsed<()> {
        let (error, help) = match self.calls_itself(&name.text) {
            true => (
                format!("the inline {} calls itself", name.text),
                "an inline is put where it is called: use a loop, or a process that is `run`",
            ),
            false => (
                format!("with this, inlines are called more than {EXPANSIONS_MAX} times"),
                "each call puts the whole body here: use a loop, or a process that is `run`",
            ),
        };
        Err(Diagnostic::error(name.span, error).help(help))
    }

    /// Whether the body of an inline, or of one that it names, names it.
    fn calls_itself(&self, name: &Rc<str>) -> bool {
        let (mut seen, mut open) = (HashSet::new(), vec![name]);
        while let Some(inline) = open.pop().and_then(|it| self.inlines.get(it)) {
            for called in inline.body.iter().filter_map(Token::name) {
                if called == name {
                    return true;
                }
                if self.inlines.contains_key(called) && seen.insert(called) {
                    open.push(called);
                }
            }
        }
        false
    }

    fn arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        if !self.at("(") {
            return self.unexpected("`(` before the arguments");
        }
        let tokens = self.balanced("(", ")")?;
        let inner = &tokens[1..tokens.len() - 1];
        if inner.is_empty() {
            return Ok(Vec::new());
        }
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        for token in inner {
            depth += i32::from(token.is("(") || token.is("[") || token.is("{"));
            depth -= i32::from(token.is(")") || token.is("]") || token.is("}"));
            match arguments.last_mut() {
                Some(last) if depth > 0 || !token.is(",") => last.push(token.clone()),
                _ => arguments.push(Vec::new()),
            }
        }
        Ok(arguments)
    }

    /// A constant expression.
    fn constant(&mut self, what: &str) -> Parsed<i64> {
        let expr = self.expression()?;
        self.known(&expr, what)
    }

    /// The value of an expression that must be constant; a variable that is only initialized
    /// counts.
    fn known(&self, expr: &Expr, what: &str) -> Parsed<i64> {
        use super::ast::ExprKind;
        use super::symbols::Initial;
        if let Some(value) = expr.constant() {
            return Ok(value);
        }
        if let ExprKind::Variable(reference) = &expr.kind
            && let Initial::Value(value) = &self.model.symbols.all[reference.symbol].initial
            && let Some(value) = value.constant()
        {
            return Ok(value);
        }
        self.error(expr.span, format!("{what} must be a constant"))
    }
}

fn without_parameters(name: Name, role: Role, active: u32, priority: Option<i64>) -> Process {
    let end = name.span;
    Process {
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
