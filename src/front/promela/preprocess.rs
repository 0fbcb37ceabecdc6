//! The preprocessor, as SPIN's users rely on it: `#include`, `#define` with and without
//! parameters, `#undef`, `#if` and its kin, `#` and `##`.
//!
//! Macros are expanded with *hide sets* (Prosser's algorithm, the one the C standard describes): a
//! token remembers the macros it came from and is not expanded by them again. What a macro makes
//! stands, for messages, where the macro is used.

use super::condition;
use super::habits;
use super::lex::lex;
use super::token::{Kind, Token};
use crate::diag::Diagnostic;
use crate::front::nearest;
use crate::front::quote::quote;
use crate::source::{self, Sources, Span};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::rc::Rc;

/// The deepest nest of included files.
const DEPTH_MAX: usize = 40;
/// The deepest nest of macros whose bodies use each other.
const MACROS_MAX: usize = 1000;
/// The deepest nest of macros within arguments of macros.
const ARGUMENTS_MAX: usize = 100;
/// The deepest nest of brackets in such an argument; no expression has as many.
const BRACKETS_MAX: usize = 1000;
/// The most tokens of an expanded model.
const TOKENS_MAX: usize = 4 << 20;

/// A model without directives and macros.
pub struct Preprocessed {
    /// All of its tokens.
    pub model: Vec<Token>,
    /// Those of other files, with the same macros.
    pub others: Vec<Vec<Token>>,
    /// That something is defined whose name is nowhere, if it is.
    pub unknown: Option<Diagnostic>,
}

/// All tokens of the model in file 0, with its includes read and its macros expanded; and, with the same macros, those of
/// each of some other files.
pub fn preprocess(
    sources: &mut Sources,
    defines: &[(String, i64)],
    others: &[u32],
) -> Result<Preprocessed, Diagnostic> {
    let mut preprocessor = Preprocessor {
        sources,
        macros: HashMap::new(),
        fixed: Vec::new(),
        met: HashSet::new(),
        files: Vec::new(),
        ready: VecDeque::new(),
        conditions: Vec::new(),
        arguments: 0,
    };
    for (name, value) in defines {
        preprocessor.define_value(name, *value);
    }
    let model = preprocessor.whole(0)?;
    let others = others.iter().map(|&file| preprocessor.whole(file));
    let others: Result<Vec<_>, Diagnostic> = others.collect();
    let others = others?;
    Ok(Preprocessed { model, others, unknown: preprocessor.unknown_define() })
}

/// The macros a token came from.
type Hidden = Rc<Vec<Rc<str>>>;

#[derive(Clone)]
struct Macro {
    /// The names of the parameters, if it has a list of them.
    parameters: Option<Vec<Rc<str>>>,
    body: Vec<Token>,
}

struct File {
    number: u32,
    tokens: std::vec::IntoIter<Token>,
}

/// An `#if` that is not closed yet.
struct Condition {
    span: Span,
    /// Whether tokens around it count.
    outer: bool,
    /// Whether tokens of the present branch count.
    active: bool,
    /// Whether a branch has been chosen, or none may be.
    decided: bool,
    has_else: bool,
}

struct Preprocessor<'a> {
    sources: &'a mut Sources,
    macros: HashMap<Rc<str>, Macro>,
    /// Names given on the command line, which the model does not replace.
    fixed: Vec<Rc<str>>,
    /// Those of them that are in some file.
    met: HashSet<Rc<str>>,
    files: Vec<File>,
    /// What comes before the rest of the files.
    ready: VecDeque<(Token, Hidden)>,
    conditions: Vec<Condition>,
    /// How many arguments are being expanded, each within the one before.
    arguments: usize,
}

fn error<T>(span: Span, message: impl Into<String>) -> Result<T, Diagnostic> {
    Err(Diagnostic::error(span, message))
}

impl Preprocessor<'_> {
    fn define_value(&mut self, name: &str, value: i64) {
        let token = Token {
            kind: Kind::Number(value),
            span: Span::default(),
            begins_line: false,
            spaced: true,
        };
        let name: Rc<str> = name.into();
        self.macros.insert(name.clone(), Macro { parameters: None, body: vec![token] });
        self.fixed.push(name);
    }

    fn open(&mut self, number: u32) -> Result<(), Diagnostic> {
        let tokens = lex(number, &self.sources.file(number).text)?;
        let named = tokens.iter().filter_map(Token::name);
        self.met.extend(named.filter(|it| self.fixed.contains(it)).cloned());
        self.files.push(File { number, tokens: tokens.into_iter() });
        Ok(())
    }

    /// The error that a name given on the command line is nowhere in the model, if one is not.
    fn unknown_define(&self) -> Option<Diagnostic> {
        let name = self.fixed.iter().find(|name| !self.met.contains(*name))?;
        let is_own = |it: &&Rc<str>| !self.fixed.contains(it);
        let macros: BTreeSet<&str> = self.macros.keys().filter(is_own).map(|it| &**it).collect();
        let macros: Vec<&str> = macros.into_iter().collect();
        let message = format!("{} is defined, and is nowhere in the model", quote(name));
        let help = habits::of_macro(name).unwrap_or_else(|| nearest::help(name, &macros, "macros"));
        Some(Diagnostic::error(Span::default(), message).help(help))
    }

    /// All tokens of a file and what it includes, the end last.
    fn whole(&mut self, number: u32) -> Result<Vec<Token>, Diagnostic> {
        self.open(number)?;
        let mut tokens = Vec::new();
        while let Some((token, _)) = self.next()? {
            if tokens.len() == TOKENS_MAX {
                let error = format!("the model has more than {TOKENS_MAX} tokens");
                return Err(Diagnostic::error(token.span, error));
            }
            tokens.push(token);
        }
        if let Some(open) = self.conditions.last() {
            return Err(Diagnostic::error(open.span, "this condition has no #endif"));
        }
        let end = tokens.last().map_or(Span::default(), |last| last.span);
        tokens.push(Token { kind: Kind::End, span: end, begins_line: true, spaced: true });
        Ok(tokens)
    }

    /// The next token of the files, directives obeyed and not expanded.
    fn raw(&mut self) -> Result<Option<(Token, Hidden)>, Diagnostic> {
        if let Some(token) = self.ready.pop_front() {
            return Ok(Some(token));
        }
        loop {
            let Some(file) = self.files.last_mut() else { return Ok(None) };
            let Some(token) = file.tokens.next() else {
                self.files.pop();
                continue;
            };
            if token.is("#") && token.begins_line {
                let line = self.rest_of_line();
                self.directive(token.span, &line)?;
            } else if self.is_active() {
                return Ok(Some((token, Hidden::default())));
            }
        }
    }

    /// Whether tokens count here.
    fn is_active(&self) -> bool {
        self.conditions.last().is_none_or(|it| it.outer && it.active)
    }

    fn rest_of_line(&mut self) -> Vec<Token> {
        let mut line = Vec::new();
        if let Some(file) = self.files.last_mut() {
            while file.tokens.as_slice().first().is_some_and(|next| !next.begins_line) {
                line.extend(file.tokens.next());
            }
        }
        line
    }

    /// The next token, expanded.
    fn next(&mut self) -> Result<Option<(Token, Hidden)>, Diagnostic> {
        loop {
            let Some((token, hidden)) = self.raw()? else { return Ok(None) };
            let Some(name) = token.name().filter(|name| !hidden.contains(name)) else {
                return Ok(Some((token, hidden)));
            };
            let Some(found) = self.macros.get(name).cloned() else {
                return Ok(Some((token, hidden)));
            };
            if !self.expand(&token, &hidden, name.clone(), &found)? {
                return Ok(Some((token, hidden)));
            }
        }
    }

    /// Puts the expansion of a macro before what comes next; false if it is a function-like macro
    /// without arguments, which stands for itself.
    fn expand(
        &mut self,
        token: &Token,
        hidden: &Hidden,
        name: Rc<str>,
        found: &Macro,
    ) -> Result<bool, Diagnostic> {
        let arguments = match &found.parameters {
            None => Vec::new(),
            Some(parameters) => {
                let Some(next) = self.raw()? else { return Ok(false) };
                if !next.0.is("(") {
                    self.ready.push_front(next);
                    return Ok(false);
                }
                let arguments = self.arguments(token.span)?;
                let count = match arguments.as_slice() {
                    [only] if parameters.is_empty() && only.is_empty() => 0,
                    arguments => arguments.len(),
                };
                if count != parameters.len() {
                    let expected = parameters.len();
                    return error(
                        token.span,
                        format!(
                            "the macro {name} takes {expected} arguments, but {count} are given"
                        ),
                    );
                }
                arguments
            }
        };
        if hidden.len() >= MACROS_MAX {
            let error = format!("macros use each other more than {MACROS_MAX} deep here");
            return Err(Diagnostic::error(token.span, error)
                .help("let macros use constants or fewer other macros"));
        }
        let mut set = (**hidden).clone();
        set.push(name);
        let set = Rc::new(set);
        let made = self.substitute(found, &arguments, token)?;
        if self.ready.len() + made.len() > TOKENS_MAX {
            let error = format!("this macro expands to more than {TOKENS_MAX} tokens");
            return Err(Diagnostic::error(token.span, error)
                .help("use loops or processes for what is repeated"));
        }
        let count = made.len();
        for (number, (mut made, theirs)) in made.into_iter().rev().enumerate() {
            made.begins_line = token.begins_line && number + 1 == count;
            self.ready.push_front((made, both(&set, &theirs)));
        }
        Ok(true)
    }

    /// The arguments of a use, the opening bracket being read.
    fn arguments(&mut self, span: Span) -> Result<Vec<Vec<(Token, Hidden)>>, Diagnostic> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some((token, hidden)) = self.raw()? else {
                return error(span, "the arguments of this macro have no closing bracket");
            };
            match &token.kind {
                Kind::Sign(",") if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::Sign(")") if depth == 0 => return Ok(arguments),
                Kind::Sign("(") if depth == BRACKETS_MAX => {
                    let error = format!("more than {BRACKETS_MAX} brackets are open here");
                    return Err(Diagnostic::error(token.span, error)
                        .help("give parts of it names, as macros of their own"));
                }
                Kind::Sign("(") => depth += 1,
                Kind::Sign(")") => depth -= 1,
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push((token, hidden));
            }
        }
    }

    fn substitute(
        &mut self,
        found: &Macro,
        arguments: &[Vec<(Token, Hidden)>],
        site: &Token,
    ) -> Result<Vec<(Token, Hidden)>, Diagnostic> {
        let parameter = |token: &Token| {
            let name = token.name()?;
            found.parameters.as_ref()?.iter().position(|parameter| parameter == name)
        };
        let here = |token: &Token| Token { span: site.span, begins_line: false, ..token.clone() };
        let mut made: Vec<(Token, Hidden)> = Vec::new();
        let mut at = 0;
        while let Some(token) = found.body.get(at) {
            let next = found.body.get(at + 1);
            if token.is("#")
                && found.parameters.is_some()
                && let Some(number) = next.and_then(parameter)
            {
                let text = spelled(&arguments[number]);
                made.push((
                    Token { kind: Kind::Text(text.into()), ..here(token) },
                    Hidden::default(),
                ));
                at += 2;
            } else if token.is("##")
                && let (Some(left), Some(right)) = (made.pop(), next)
            {
                let mut rest = match parameter(right) {
                    Some(number) => arguments[number].clone(),
                    None => vec![(right.clone(), Hidden::default())],
                };
                if rest.is_empty() {
                    made.push(left);
                } else {
                    let joined = format!("{}{}", left.0.kind, rest[0].0.kind);
                    rest.remove(0);
                    let tokens = lex(site.span.file, &joined)?;
                    made.extend(tokens.iter().map(|token| (here(token), Hidden::default())));
                    made.extend(rest.iter().map(|(token, set)| (here(token), set.clone())));
                }
                at += 2;
            } else if let Some(number) = parameter(token) {
                // Beside ## an argument is pasted as written; elsewhere it is expanded first.
                let pasted = next.is_some_and(|next| next.is("##"));
                let argument = arguments[number].clone();
                let mut argument = if pasted { argument } else { self.expanded(argument)? };
                // It stands where the parameter does.
                argument.iter_mut().take(1).for_each(|(it, _)| it.spaced = token.spaced);
                made.extend(argument.iter().map(|(token, set)| (here(token), set.clone())));
                at += 1;
            } else {
                made.push((here(token), Hidden::default()));
                at += 1;
            }
        }
        Ok(made)
    }

    /// An argument by itself, expanded.
    fn expanded(
        &mut self,
        tokens: Vec<(Token, Hidden)>,
    ) -> Result<Vec<(Token, Hidden)>, Diagnostic> {
        self.arguments += 1;
        if let (true, Some((token, _))) = (self.arguments > ARGUMENTS_MAX, tokens.first()) {
            let error =
                format!("macros within arguments of macros are more than {ARGUMENTS_MAX} deep");
            return Err(Diagnostic::error(token.span, error)
                .help("give parts of it names, as macros of their own"));
        }
        let ready = std::mem::replace(&mut self.ready, tokens.into());
        let files = std::mem::take(&mut self.files);
        let mut made = Vec::new();
        while let Some(token) = self.next()? {
            made.push(token);
        }
        (self.ready, self.files) = (ready, files);
        self.arguments -= 1;
        Ok(made)
    }

    fn directive(&mut self, span: Span, line: &[Token]) -> Result<(), Diagnostic> {
        let Some(word) = line.first() else { return Ok(()) };
        let name = word.name().map_or("", |name| name);
        let rest = &line[1..];
        match name {
            "if" | "ifdef" | "ifndef" => self.begin(name, span, rest),
            "elif" | "else" | "endif" => self.go_on(name, span, rest),
            _ if !self.is_active() => Ok(()),
            "define" => self.define(word.span, rest),
            "undef" => {
                let Some(name) = rest.first().and_then(Token::name) else {
                    return error(word.span, "#undef needs the name of a macro");
                };
                if !self.fixed.contains(name) {
                    self.macros.remove(name);
                }
                Ok(())
            }
            "include" => self.include(word.span, rest),
            "error" => error(word.span, format!("#error {}", spell(rest.iter()))),
            "warning" | "pragma" | "line" => Ok(()),
            _ if matches!(word.kind, Kind::Number(_)) => Ok(()),
            _ => Err(Diagnostic::error(word.span, format!("#{} is no directive", word.kind)).help(
                "there are #include, #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif",
            )),
        }
    }

    fn begin(&mut self, name: &str, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let outer = self.is_active();
        let holds = outer && self.condition(name, span, rest)?;
        self.conditions.push(Condition {
            span,
            outer,
            active: holds,
            decided: holds || !outer,
            has_else: false,
        });
        Ok(())
    }

    fn go_on(&mut self, name: &str, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let Some(mut condition) = self.conditions.pop() else {
            return error(span, format!("#{name} without #if"));
        };
        if name == "endif" {
            return Ok(());
        }
        if condition.has_else {
            return error(span, format!("#{name} after #else"));
        }
        condition.has_else = name == "else";
        condition.active =
            !condition.decided && (name == "else" || self.condition("if", span, rest)?);
        condition.decided |= condition.active;
        self.conditions.push(condition);
        Ok(())
    }

    fn condition(&mut self, name: &str, span: Span, rest: &[Token]) -> Result<bool, Diagnostic> {
        if name == "if" {
            return self.judge(span, rest);
        }
        match rest.first().and_then(Token::name) {
            Some(macro_name) => Ok(self.macros.contains_key(macro_name) == (name == "ifdef")),
            None => error(span, format!("#{name} needs the name of a macro")),
        }
    }

    /// Whether the condition of an `#if` holds; `defined` is answered before macros are expanded.
    fn judge(&mut self, span: Span, line: &[Token]) -> Result<bool, Diagnostic> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(token) = line.get(at) {
            at += 1;
            if !token.is("defined") {
                tokens.push((token.clone(), Hidden::default()));
                continue;
            }
            let bracket = line.get(at).is_some_and(|next| next.is("("));
            let Some(name) = line.get(at + usize::from(bracket)).and_then(Token::name) else {
                return error(token.span, "`defined` needs the name of a macro");
            };
            let known = self.macros.contains_key(name).into();
            at += 1 + 2 * usize::from(bracket);
            tokens.push((Token { kind: Kind::Number(known), ..token.clone() }, Hidden::default()));
        }
        let tokens = self.expanded(tokens)?;
        let tokens: Vec<Token> = tokens.into_iter().map(|(token, _)| token).collect();
        Ok(condition::evaluate(&tokens, span)? != 0)
    }

    fn define(&mut self, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let Some(name) = rest.first().and_then(Token::name) else {
            return error(span, "#define needs a name");
        };
        if self.fixed.contains(name) {
            return Ok(());
        }
        let mut body = &rest[1..];
        let mut parameters = None;
        if body.first().is_some_and(|next| next.is("(") && !next.spaced) {
            let Some(end) = body.iter().position(|token| token.is(")")) else {
                return error(span, "the parameters of this macro have no closing bracket");
            };
            let names = body[1..end].iter().filter(|token| !token.is(","));
            let names: Option<Vec<Rc<str>>> = names.map(|token| token.name().cloned()).collect();
            let Some(names) = names else {
                return error(span, "the parameters of a macro are names");
            };
            parameters = Some(names);
            body = &body[end + 1..];
        }
        self.macros.insert(name.clone(), Macro { parameters, body: body.to_vec() });
        Ok(())
    }

    fn include(&mut self, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let Some(Kind::Text(name)) = rest.first().map(|token| &token.kind) else {
            return Err(Diagnostic::error(span, "#include needs the name of a file")
                .help("write it between double quotes"));
        };
        if self.files.len() >= DEPTH_MAX {
            return error(span, format!("files include each other more than {DEPTH_MAX} deep"));
        }
        let from = self.files.last().map_or(0, |file| file.number);
        let folder = Path::new(&self.sources.file(from).name).parent().unwrap_or(Path::new(""));
        let path = folder.join(&**name);
        let name = path.display().to_string();
        // A search that goes on has brought the files it began with.
        let kept = self.sources.iter().skip(1).position(|file| file.name == name);
        if let Some(number) = kept {
            return self.open(number as u32 + 1);
        }
        let bytes = source::read(&path).map_err(|why| {
            let message = format!("cannot read the included file {}: {why}", path.display());
            Diagnostic::error(span, message)
        })?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(latin) => latin.into_bytes().into_iter().map(char::from).collect(),
        };
        let number = self.sources.add(name, text);
        self.open(number)
    }
}

/// The names of both sets, each once.
fn both(one: &Hidden, other: &Hidden) -> Hidden {
    if other.is_empty() {
        return one.clone();
    }
    let known: HashSet<&Rc<str>> = one.iter().collect();
    let new = other.iter().filter(|name| !known.contains(name));
    Rc::new(one.iter().chain(new).cloned().collect())
}

fn spelled(tokens: &[(Token, Hidden)]) -> String {
    spell(tokens.iter().map(|(token, _)| token))
}

fn spell<'a>(tokens: impl Iterator<Item = &'a Token>) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.spaced && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.kind.to_string());
    }
    text
}
