//! Printing of statements, communications and bodies.

use super::expr::TextEmitter;
use crate::{AssertionKind, Communication, Expr, OverflowRule, Stmt, StmtKind};

impl TextEmitter<'_> {
    /// Starts a line.
    pub(super) fn line(&mut self) {
        self.put("\n");
        for _ in 0..self.indent {
            self.put(" ");
        }
    }

    /// Writes statements in braces: on one line if there is at most one and it is simple.
    pub(super) fn block(&mut self, body: &[Stmt]) {
        match body {
            [] => self.put("{}"),
            [only] if is_simple(only) => {
                self.put("{ ");
                self.stmt(only);
                self.put(" }");
            }
            _ => self.tall(body),
        }
    }

    /// Writes statements in braces, one on each line.
    pub(super) fn tall(&mut self, body: &[Stmt]) {
        self.put("{");
        self.indent += 2;
        for stmt in body {
            self.line();
            self.stmt(stmt);
        }
        self.indent -= 2;
        self.line();
        self.put("}");
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(branches) => self.branches(branches),
            StmtKind::Switch(subject, cases) => self.switch(subject, cases),
            StmtKind::For { local, first, last, step, body } => {
                self.put("for ");
                self.local(*local);
                self.put(" := ");
                self.plain(first);
                self.put(" to ");
                self.plain(last);
                self.put(" by ");
                self.plain(step);
                self.put(" ");
                self.block(body);
            }
            StmtKind::ForEach { local, over, body } => {
                self.put("for ");
                self.bind(*local, *over);
                self.local(*local);
                self.put(": ");
                self.ty(*over);
                self.put(" ");
                self.block(body);
            }
            StmtKind::Declare { local, name, ty, body } => {
                self.put("var ");
                self.declare(*local, name, Some(*ty));
                self.local(*local);
                self.put(": ");
                self.ty(*ty);
                self.put(" ");
                self.block(body);
            }
            StmtKind::Alias { local, name, place, body } => {
                self.put("alias ");
                self.declare(*local, name, self.type_of_place(place));
                self.local(*local);
                self.put(" = ");
                self.place(place);
                self.put(" ");
                self.block(body);
            }
            StmtKind::While { condition, body, limit } => {
                self.put("while ");
                self.condition(condition);
                self.put(" limit ");
                self.number(limit);
                self.put(" ");
                self.block(body);
            }
            simple => {
                self.simple(simple);
                self.put(";");
            }
        }
    }

    fn branches(&mut self, branches: &[(Option<Expr>, Vec<Stmt>)]) {
        if !matches!(branches, [(Some(_), _), ..]) {
            self.put("if ");
        }
        for (at, (condition, body)) in branches.iter().enumerate() {
            if at > 0 {
                self.put(" else ");
            }
            if let Some(condition) = condition {
                self.put("if ");
                self.condition(condition);
                self.put(" ");
            }
            self.block(body);
        }
    }

    fn switch(&mut self, subject: &Expr, cases: &[(Vec<Expr>, Vec<Stmt>)]) {
        self.put("switch ");
        self.plain(subject);
        self.put(" {");
        self.indent += 2;
        let domain = self.domain_of(subject);
        for (values, body) in cases {
            self.line();
            if values.is_empty() {
                self.put("else");
            }
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    self.put(", ");
                }
                self.expected(value, domain);
            }
            self.put(": ");
            self.block(body);
        }
        self.indent -= 2;
        self.line();
        self.put("}");
    }

    fn simple(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Assign { target, value, overflow } => {
                self.place(target);
                self.put(match overflow {
                    OverflowRule::Fails => " := ",
                    OverflowRule::Wraps => " :=% ",
                });
                self.expected(value, self.domain_of_place(target));
            }
            StmtKind::Copy { target, source } => {
                self.place(target);
                self.put(" := copy ");
                self.place(source);
            }
            StmtKind::Call { function, arguments, into } => {
                if let Some(place) = into {
                    self.place(place);
                    self.put(" := ");
                }
                self.put("call ");
                self.call(*function, arguments);
            }
            StmtKind::Return(value) => {
                self.put("return");
                if let Some(value) = value {
                    self.put(" ");
                    let domain = self.result.and_then(|ty| self.domain_of_type(ty));
                    self.expected(value, domain);
                }
            }
            StmtKind::Undefine(place) => {
                self.put("undefine ");
                self.place(place);
            }
            StmtKind::Clear(place) => {
                self.put("clear ");
                self.place(place);
            }
            StmtKind::Assert { condition, message, asserted } => {
                self.put(match asserted {
                    AssertionKind::Condition => "assert ",
                    AssertionKind::Event => "expect ",
                });
                self.condition(condition);
                self.put(", ");
                self.string(message);
            }
            StmtKind::Assume(condition) => {
                self.put("assume ");
                self.condition(condition);
            }
            StmtKind::Error(message) => {
                self.put("error ");
                self.string(message);
            }
            StmtKind::Communicate(communication) => self.communication(communication),
            _ => self.rare_stmt(kind),
        }
    }

    fn rare_stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Run { process, arguments, into } => {
                self.put("run ");
                self.put(&self.names.process(*process));
                self.run_arguments(*process, arguments);
                if let Some(place) = into {
                    self.put(" into ");
                    self.place(place);
                }
            }
            StmtKind::Exit => self.put("exit"),
            StmtKind::MultisetAdd { multiset, element } => {
                self.put("add ");
                self.argument(element, self.domain_of_element(multiset));
                self.put(" to ");
                self.place(multiset);
            }
            StmtKind::MultisetRemove { multiset, position } => {
                self.put("remove ");
                self.place(multiset);
                self.put(" at ");
                self.plain(position);
            }
            StmtKind::Cover { property, condition } => {
                self.put("cover ");
                match self.program.properties.get(*property) {
                    Some(reached) => self.string(&reached.name),
                    None => self.string(&format!("{property:?}")),
                }
                self.put(": ");
                self.condition(condition);
            }
            StmtKind::Print { format, values } => {
                self.put("print ");
                self.string(format);
                for value in values {
                    self.put(", ");
                    self.plain(value);
                }
            }
            _ => unreachable!("the other statements are written elsewhere"),
        }
    }

    fn run_arguments(&mut self, process: crate::ProcessId, arguments: &[Expr]) {
        let parameters = self.program.processes.get(process).map_or(&[][..], |p| &p.parameters);
        self.put("(");
        for (at, argument) in arguments.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            let variable = parameters.get(at).and_then(|id| self.program.variables.get(*id));
            self.expected(argument, variable.and_then(|v| self.domain_of_type(v.ty)));
        }
        self.put(")");
    }

    pub(super) fn communication(&mut self, communication: &Communication) {
        match communication {
            Communication::Send { channel, values, sorted, .. } => {
                self.put(if *sorted { "send sorted " } else { "send " });
                self.channel(channel);
                self.message(channel, values);
            }
            Communication::Receive { channel, patterns, anywhere, peek, .. } => {
                self.put("receive ");
                self.put(if *anywhere { "any " } else { "" });
                self.put(if *peek { "peek " } else { "" });
                self.channel(channel);
                self.patterns(channel, patterns);
            }
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        self.put("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                c if c.is_control() => self.out.extend(c.escape_default()),
                c => self.out.push(c),
            }
        }
        self.put("\"");
    }
}

/// Returns whether a statement contains no other statements.
pub(super) fn is_simple(stmt: &Stmt) -> bool {
    !matches!(
        stmt.kind,
        StmtKind::If(_)
            | StmtKind::Switch(..)
            | StmtKind::For { .. }
            | StmtKind::ForEach { .. }
            | StmtKind::Declare { .. }
            | StmtKind::Alias { .. }
            | StmtKind::While { .. }
    )
}
