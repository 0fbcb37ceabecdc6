//! `inline`s: a call inserts the body, with its parameters replaced, before the rest of the input.

use super::{PromelaParseResult, PromelaParser};
use crate::promela::ast::PromelaName;
use crate::promela::token::PromelaToken;
use crate::{DeclaredName, DeclaredNameKind};
use spillway_base::diag::Diagnostic;
use std::collections::HashSet;
use std::rc::Rc;

/// The maximum number of tokens that calls of inlines insert.
const INLINED_MAX: usize = 1 << 20;

pub(super) struct InlineDefinition {
    parameters: Vec<Rc<str>>,
    /// The tokens from bracket to bracket.
    body: Vec<PromelaToken>,
}

impl PromelaParser {
    pub(super) fn inline(&mut self) -> PromelaParseResult<()> {
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
        let inline = Rc::new(InlineDefinition { parameters, body });
        self.model.names.push(DeclaredName::new(&name.text, DeclaredNameKind::Macro, name.span));
        if self.inlines.insert(name.text.clone(), inline).is_some() {
            return self.error(name.span, format!("there is an inline {} already", name.text));
        }
        Ok(())
    }

    /// Returns whether an inline is called here. A variable may have the same name.
    pub(super) fn at_call(&self) -> bool {
        self.peek().name().is_some_and(|name| {
            self.inlines.contains_key(name) && (self.look_up(name).is_none() || self.next_is("("))
        })
    }

    /// Takes the tokens from an opening bracket to the matching closing one, both included.
    pub(super) fn balanced(
        &mut self,
        open: &str,
        close: &str,
    ) -> PromelaParseResult<Vec<PromelaToken>> {
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

    /// Inserts the body of an `inline`, with its parameters replaced, before the rest of the input.
    pub(super) fn call(&mut self, name: &PromelaName) -> PromelaParseResult<()> {
        let inline = self.inlines[&name.text].clone();
        let arguments = self.arguments()?;
        if arguments.len() != inline.parameters.len() {
            let (expected, given) = (inline.parameters.len(), arguments.len());
            let error = format!("{} takes {expected} arguments, but {given} are given", name.text);
            return self.error(name.span, error);
        }
        self.expansions += 1;
        let (mut body, mut line_ended) = (Vec::new(), false);
        for token in &inline.body {
            let parameter = token
                .name()
                .and_then(|name| inline.parameters.iter().position(|parameter| parameter == name));
            let from = body.len();
            match parameter {
                None => body.push(token.clone()),
                Some(number) => body.extend_from_slice(&arguments[number]),
            }
            // The argument is on the line of the parameter.
            line_ended |= token.after_line_end;
            if let Some(first) = body.get_mut(from) {
                first.after_line_end = std::mem::take(&mut line_ended);
                first.spaced = token.spaced;
            }
            if self.inlined + body.len() > INLINED_MAX {
                return self.too_many(name);
            }
        }
        self.inlined += body.len();
        body.into_iter().rev().for_each(|token| self.input.push_front(token));
        Ok(())
    }

    /// Returns the error that calls of inlines insert too many tokens.
    fn too_many(&self, name: &PromelaName) -> PromelaParseResult<()> {
        let (error, help) = match self.calls_itself(&name.text) {
            true => (
                format!("the inline {} calls itself", name.text),
                "an inline is put where it is called: use a loop, or a process that is `run`",
            ),
            false => (
                format!("with this, inlines come to more than {INLINED_MAX} tokens"),
                "each call puts the whole body here: use a loop, or a process that is `run`",
            ),
        };
        Err(Diagnostic::error(name.span, error).help(help))
    }

    /// Returns whether an inline calls itself, directly or through other inlines.
    fn calls_itself(&self, name: &Rc<str>) -> bool {
        let (mut seen, mut open) = (HashSet::new(), vec![name]);
        while let Some(inline) = open.pop().and_then(|it| self.inlines.get(it)) {
            for called in inline.body.iter().filter_map(PromelaToken::name) {
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

    /// Takes the arguments of a call. They count as one line, wherever they are written.
    fn arguments(&mut self) -> PromelaParseResult<Vec<Vec<PromelaToken>>> {
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
                Some(last) if depth > 0 || !token.is(",") => {
                    last.push(PromelaToken { after_line_end: false, ..token.clone() });
                }
                _ => arguments.push(Vec::new()),
            }
        }
        Ok(arguments)
    }
}
