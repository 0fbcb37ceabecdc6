//! The parser of statements.

use super::{NESTED_MAX, PromelaParseResult, PromelaParser};
use crate::promela::ast::{
    PromelaExpr, PromelaExprKind, PromelaLabel, PromelaName, PromelaReference, PromelaStmt,
    PromelaStmtKind,
};
use crate::promela::symbols::PromelaType;
use crate::promela::token::{PromelaToken, PromelaTokenKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::BinaryOp;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The maximum number of tokens in the text of an expanded statement.
const EXPANDED_TEXT_MAX: usize = 100;

impl PromelaParser {
    /// Parses statements up to one of `until`, which is not taken.
    pub(super) fn sequence(&mut self, until: &[&str]) -> PromelaParseResult<Vec<PromelaStmt>> {
        let start = self.span();
        let (mut sequence, mut empty) = (Vec::new(), true);
        loop {
            if self.at_any(until) {
                break;
            }
            self.step(&mut sequence)?;
            empty = false;
            if !self.separators() && !self.at_any(until) && !self.separated() {
                return self.unexpected("`;` or `->` between statements");
            }
        }
        match empty {
            false => Ok(sequence),
            true => self
                .error(start, "a sequence needs at least one statement")
                .map_err(|it| it.help("write `skip` where nothing is to be done")),
        }
    }

    /// Returns whether the last statement needs no separator after it: SPIN requires none after a closing bracket and
    /// after `else`, but one after `fi` and `od`.
    fn separated(&self) -> bool {
        let closed = ["}", "else"];
        self.last.as_ref().is_some_and(|last| closed.iter().any(|word| last.is(word)))
    }

    /// Parses one step: a declaration, or a statement with its escape.
    fn step(&mut self, sequence: &mut Vec<PromelaStmt>) -> PromelaParseResult<()> {
        if self.at_declaration() {
            sequence.extend(self.declaration(false)?.1);
            return Ok(());
        }
        if self.at_any(&["xr", "xs"]) && self.peek_at(1).name().is_some() {
            let reads = self.take().is("xr");
            loop {
                let channel = self.any_reference()?;
                if self.part_of(&channel).0 != Some(PromelaType::Channel) {
                    return self.error(channel.span, "xr and xs are for channels");
                }
                self.claims_channel(&channel, reads);
                if !self.accept(",") {
                    return Ok(());
                }
            }
        }
        let start = self.span();
        let statement = self.statement(sequence)?;
        if !self.accept("unless") {
            sequence.push(statement);
            return Ok(());
        }
        let escape = self.single_statement()?;
        if self.in_d_step {
            // SPIN ignores it with a similar warning.
            let warning = "an unless in a d_step means nothing: what follows it is left out";
            let warning = Diagnostic::warning(self.since(start), warning);
            self.model.warnings.push(warning.help("use `atomic` instead of `d_step`"));
            sequence.push(statement);
            return Ok(());
        }
        let kind = PromelaStmtKind::Unless(Box::new(statement), Box::new(escape));
        sequence.push(PromelaStmt::new(kind, self.since(start)));
        Ok(())
    }

    /// Records a claim that only this process receives from a channel, or sends to it.
    fn claims_channel(&mut self, channel: &PromelaReference, reads: bool) {
        let Some(here) = self.process else { return };
        let owner = *self.exclusive.entry((channel.symbol, reads)).or_insert(here);
        if owner != here {
            let what = if reads { "xr" } else { "xs" };
            let name = &self.model.symbols.all[channel.symbol].name.text;
            let text = format!("another process has a claim `{what} {name}`, too");
            self.model.warnings.push(Diagnostic::warning(channel.span, text));
        }
    }

    /// Parses one statement; several statements are put in a block.
    fn single_statement(&mut self) -> PromelaParseResult<PromelaStmt> {
        let start = self.span();
        let mut before = Vec::new();
        let statement = self.statement(&mut before)?;
        if before.is_empty() {
            return Ok(statement);
        }
        before.push(statement);
        Ok(PromelaStmt::new(PromelaStmtKind::Block(before), self.since(start)))
    }

    /// Parses one statement; statements that must precede it are appended to `sequence`.
    fn statement(&mut self, sequence: &mut Vec<PromelaStmt>) -> PromelaParseResult<PromelaStmt> {
        self.nested += 1;
        if self.nested == 1 {
            self.read.clear();
        }
        if self.nested > NESTED_MAX {
            return self
                .error(self.span(), "this statement is nested too deeply")
                .map_err(|it| it.help("an inline that calls itself never ends"));
        }
        let statement = self.statement_within(sequence);
        self.nested -= 1;
        statement
    }

    fn statement_within(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
    ) -> PromelaParseResult<PromelaStmt> {
        let start = self.span();
        if self.at_name() && self.next_is(":") {
            let is_variable = self.look_up(self.peek().name().map_or("", |it| it)).is_some();
            let is_remote = self.at_remote_variable();
            if !is_variable || !is_remote {
                return self.labelled(sequence, start);
            }
        }
        let from = self.read.len();
        let kind = self.statement_kind(sequence, start)?;
        self.can_initialize = false;
        Ok(PromelaStmt {
            kind,
            span: self.since(start),
            expanded_text: self.expanded_text_since(from),
        })
    }

    /// Returns the text of the tokens taken since `from`, if an `inline` or a macro produced some of them.
    fn expanded_text_since(&self, from: usize) -> Option<Rc<str>> {
        let read = &self.read[from..];
        let read = &read[..read.len().min(EXPANDED_TEXT_MAX)];
        let follows = |pair: &[PromelaToken]| {
            let [one, next] = [pair[0].span, pair[1].span];
            one.file == next.file && one.end <= next.start
        };
        if self.expansion == 0 && read.windows(2).all(follows) {
            return None;
        }
        let mut text = String::new();
        for token in read {
            if token.spaced || token.after_line_end {
                text.push(' ');
            }
            text += &token.text();
        }
        Some(text.trim().into())
    }

    fn at_remote_variable(&self) -> bool {
        let Some(name) = self.peek().name() else { return false };
        self.model.processes.iter().any(|process| process.name.text == *name)
    }

    fn labelled(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        start: Span,
    ) -> PromelaParseResult<PromelaStmt> {
        let label = self.label()?;
        self.take();
        let text = label.name.text.clone();
        if self.labels.last_mut().is_some_and(|labels| !labels.insert(text)) {
            let error = format!("the label {} stands here twice", label.name.text);
            return self.error(label.name.span, error);
        }
        if self.at_declaration() {
            return self.error(
                self.span(),
                format!("the label {} stands before a declaration", label.name.text),
            );
        }
        let empty = self.at_any(&["}", ";", "->", "::", "fi", "od"]);
        let (is_rewritten, before) = (self.at_plain_select(), sequence.len());
        let inner = match empty {
            true => PromelaStmt::new(skip(start), label.name.span),
            false => self.statement(sequence)?,
        };
        self.can_initialize = false;
        // The label of a `select` that SPIN's lexer rewrites belongs to the assignment before the loop.
        if let (true, [_]) = (is_rewritten, &sequence[before..])
            && let Some(first) = sequence.pop()
        {
            let span = first.span;
            sequence
                .push(PromelaStmt::new(PromelaStmtKind::Labelled(label, Box::new(first)), span));
            return Ok(inner);
        }
        let kind = PromelaStmtKind::Labelled(label, Box::new(inner));
        Ok(PromelaStmt::new(kind, self.since(start)))
    }

    fn label(&mut self) -> PromelaParseResult<PromelaLabel> {
        Ok(PromelaLabel { name: self.name("a label")?, expansion: self.expansion })
    }

    fn statement_kind(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        start: Span,
    ) -> PromelaParseResult<PromelaStmtKind> {
        let word = match &self.peek().kind {
            PromelaTokenKind::Sign("{") => return self.block("{").map(PromelaStmtKind::Block),
            PromelaTokenKind::Name(word) => word.clone(),
            _ => return self.condition(),
        };
        if self.at_call() {
            return self.inline_call(sequence, None);
        }
        match &*word {
            "atomic" => self.block("atomic").map(PromelaStmtKind::Atomic),
            "d_step" => {
                let outside = std::mem::replace(&mut self.in_d_step, true);
                let body = self.block("d_step")?;
                self.in_d_step = outside;
                Ok(PromelaStmtKind::DStep(body))
            }
            "if" => self.options("fi").map(PromelaStmtKind::If),
            "do" => self.options("od").map(PromelaStmtKind::Do),
            "for" => self.for_loop(sequence, start),
            "select" => self.select(sequence, start),
            "goto" => {
                self.take();
                self.label().map(PromelaStmtKind::Goto)
            }
            "return" => self.store_result(),
            "break" => {
                self.take();
                Ok(PromelaStmtKind::Break)
            }
            "else" => {
                self.take();
                Ok(PromelaStmtKind::Else)
            }
            "assert" => {
                self.take();
                self.expression().map(PromelaStmtKind::Assert)
            }
            "printf" => self.print(),
            "printm" => self.print_name(),
            "set_priority" => self.set_priority(),
            "c_code" | "c_decl" => super::super::refuse_c(start, &word),
            "_priority" if self.next_is("=") => {
                self.take();
                self.take();
                self.model.uses_priorities = true;
                let pid = PromelaExpr { kind: PromelaExprKind::Pid, span: start };
                Ok(PromelaStmtKind::SetPriority(pid, self.expression()?))
            }
            "_" if self.next_is("=") => {
                self.take();
                self.take();
                // The value is not stored, but its computation may fail.
                let value = self.expression()?;
                let either = PromelaExpr { kind: PromelaExprKind::Number(1), span: start };
                let kind = PromelaExprKind::Binary(BinaryOp::Or, Box::new(value), Box::new(either));
                Ok(PromelaStmtKind::Condition(PromelaExpr { kind, span: self.since(start) }))
            }
            _ if self.at_name() && self.look_up(&word).is_some() => {
                self.begins_with_variable(sequence, start)
            }
            _ => self.condition(),
        }
    }

    fn condition(&mut self) -> PromelaParseResult<PromelaStmtKind> {
        self.expression().map(PromelaStmtKind::Condition)
    }

    /// Parses a block, after a keyword if one is given.
    fn block(&mut self, word: &str) -> PromelaParseResult<Vec<PromelaStmt>> {
        if word != "{" {
            self.take();
        }
        self.braced(true)
    }

    /// Parses statements in brackets. If they are the whole statement, they begin without a label.
    pub(super) fn braced(&mut self, is_whole: bool) -> PromelaParseResult<Vec<PromelaStmt>> {
        self.expect("{", "before the statements")?;
        self.can_initialize = false;
        self.scopes.push(HashMap::new());
        self.labels.push(HashSet::new());
        let sequence = self.sequence(&["}"])?;
        self.expect("}", "after the statements")?;
        if is_whole {
            self.begins_without_label(&sequence, "before the bracket")?;
        }
        self.scopes.pop();
        self.labels.pop();
        Ok(sequence)
    }

    /// Rejects a label at the start of a block: a jump there would refer to the enclosing choice, so SPIN requires the
    /// label there. A label before a `do` is allowed, because the join of the loop's rounds precedes it.
    fn begins_without_label(
        &self,
        sequence: &[PromelaStmt],
        instead: &str,
    ) -> PromelaParseResult<()> {
        let mut first = sequence.first();
        if let Some(PromelaStmt { kind: PromelaStmtKind::Unless(normal, _), .. }) = first {
            first = Some(&**normal);
        }
        let Some(PromelaStmt { kind: PromelaStmtKind::Labelled(label, inner), .. }) = first else {
            return Ok(());
        };
        let mut inner = inner;
        while let PromelaStmtKind::Labelled(_, within) = &inner.kind {
            inner = within;
        }
        let PromelaName { text, span } = &label.name;
        match inner.kind {
            PromelaStmtKind::Do(_) => Ok(()),
            _ => self
                .error(*span, format!("the label {text} stands first in its sequence"))
                .map_err(|it| it.help(format!("put it {instead}"))),
        }
    }

    fn options(&mut self, end: &str) -> PromelaParseResult<Vec<Vec<PromelaStmt>>> {
        let opening = self.take();
        let mut options = Vec::new();
        while !self.accept(end) {
            self.expect("::", &format!("before an option of `{}`", opening.kind))?;
            self.can_initialize = false;
            self.separators();
            let option = self.sequence(&["::", end])?;
            self.begins_without_label(&option, "at the choice, or after a `skip`")?;
            options.push(option);
        }
        if options.is_empty() {
            return self.error(opening.span, format!("this `{}` has no option", opening.kind));
        }
        self.warn_of_else(&options);
        Ok(options)
    }

    /// Warns of an `else` next to an option that sends or receives: SPIN calls that dubious, and continues.
    fn warn_of_else(&mut self, options: &[Vec<PromelaStmt>]) {
        let firsts = || options.iter().filter_map(|option| option.first());
        let communicates = firsts().any(|it| {
            matches!(it.kind, PromelaStmtKind::Send { .. } | PromelaStmtKind::Receive { .. })
        });
        let otherwise = firsts().find(|it| matches!(it.kind, PromelaStmtKind::Else));
        if let (true, Some(otherwise)) = (communicates, otherwise) {
            let text = "an `else` stands beside options that send or receive";
            let help = "it is possible where none of them is; ask by `full`, `empty` or `c?[...]`";
            self.model.warnings.push(Diagnostic::warning(otherwise.span, text).help(help));
        }
    }

    /// Parses a call of an `inline`, whose body is a block. Its result is stored to `result`.
    fn inline_call(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        result: Option<PromelaReference>,
    ) -> PromelaParseResult<PromelaStmtKind> {
        let name = self.name("the name of an inline")?;
        self.can_initialize = false;
        self.call(&name)?;
        let outer = std::mem::replace(&mut self.expansion, self.expansions);
        self.results.push(result);
        let start = self.span();
        let kind = self.statement_kind(sequence, start)?;
        self.results.pop();
        self.expansion = outer;
        Ok(kind)
    }

    /// Parses `return e` in an inline that is called by `x = f(...)`, as the assignment `x = e`. It does not end the
    /// inline.
    fn store_result(&mut self) -> PromelaParseResult<PromelaStmtKind> {
        let span = self.take().span;
        match self.results.last().cloned() {
            Some(Some(result)) => Ok(PromelaStmtKind::Assign(result, self.expression()?)),
            Some(None) => {
                self.error(span, "this return is in an inline whose call stores no result").map_err(
                    |it| it.help("call the inline by `x = f(...)`, or leave the `return` out"),
                )
            }
            None => self
                .error(span, "this return is in no inline")
                .map_err(|it| it.help("a process ends at its closing bracket: `goto` leads there")),
        }
    }

    fn begins_with_variable(
        &mut self,
        sequence: &mut Vec<PromelaStmt>,
        start: Span,
    ) -> PromelaParseResult<PromelaStmtKind> {
        let reference = self.reference()?;
        let id = reference.symbol;
        let stores = self.at_any(&["=", "++", "--"]);
        self.model.symbols.all[id].assigned |= stores;
        if stores && matches!(self.part_of(&reference).0, Some(PromelaType::Struct(_))) {
            return self
                .error(reference.span, "a structure is assigned as a whole")
                .map_err(|it| it.help("assign its fields one by one"));
        }
        if self.accept("=") {
            if self.at_call() {
                return self.inline_call(sequence, Some(reference));
            }
            return Ok(PromelaStmtKind::Assign(reference, self.expression()?));
        }
        if self.at_any(&["++", "--"]) {
            let operator = if self.take().is("++") { BinaryOp::Add } else { BinaryOp::Subtract };
            // An increment alone is not a use of the variable.
            let used = self.model.symbols.all[id].read;
            let value = self.changed(&reference, operator, start);
            self.model.symbols.all[id].read = used;
            return Ok(PromelaStmtKind::Assign(reference, value));
        }
        if self.at_any(&["!", "!!", "?", "??"]) {
            self.expect_channel(&reference)?;
        }
        if self.at_any(&["!", "!!"]) {
            let sorted = self.take().is("!!");
            return Ok(PromelaStmtKind::Send {
                channel: reference,
                values: self.send_values()?,
                sorted,
            });
        }
        if self.at_any(&["?", "??"]) && !self.peek_at(1).is("[") {
            let anywhere = self.take().is("??");
            let peek = self.accept("<");
            let fields = self.receive_fields(&[">"])?;
            if peek {
                self.expect(">", "after the fields")?;
            }
            return Ok(PromelaStmtKind::Receive { channel: reference, fields, anywhere, peek });
        }
        if self.at_any(&["?", "??"]) {
            let anywhere = self.take().is("??");
            self.take();
            let fields = self.receive_fields(&["]"])?;
            self.expect("]", "after the fields")?;
            let kind = PromelaExprKind::Poll { channel: reference, fields, anywhere };
            let first = PromelaExpr { kind, span: self.since(start) };
            return self.expression_from(first).map(PromelaStmtKind::Condition);
        }
        let first = self.read(reference);
        self.expression_from(first).map(PromelaStmtKind::Condition)
    }

    /// Returns `x + 1` or `x - 1`.
    pub(super) fn changed(
        &mut self,
        reference: &PromelaReference,
        operator: BinaryOp,
        span: Span,
    ) -> PromelaExpr {
        let left = self.read(reference.clone());
        let one = PromelaExpr { kind: PromelaExprKind::Number(1), span };
        let kind = PromelaExprKind::Binary(operator, Box::new(left), Box::new(one));
        PromelaExpr { kind, span: self.since(span) }
    }

    fn print(&mut self) -> PromelaParseResult<PromelaStmtKind> {
        self.take();
        self.expect("(", "before the text")?;
        let PromelaTokenKind::Text(text) = self.take().kind else {
            return self.error(
                self.last.as_ref().map_or(Span::default(), |it| it.span),
                "printf begins with a text",
            );
        };
        let mut values = Vec::new();
        while self.accept(",") {
            values.push(self.expression()?);
        }
        self.expect(")", "after the values")?;
        Ok(PromelaStmtKind::Print(text.to_string(), values))
    }

    fn print_name(&mut self) -> PromelaParseResult<PromelaStmtKind> {
        self.take();
        self.expect("(", "before the name")?;
        let value = self.expression()?;
        self.expect(")", "after the name")?;
        Ok(PromelaStmtKind::Print("%e".to_owned(), vec![value]))
    }

    fn set_priority(&mut self) -> PromelaParseResult<PromelaStmtKind> {
        self.model.uses_priorities = true;
        self.take();
        self.expect("(", "before the number of a process")?;
        let pid = self.expression()?;
        self.expect(",", "before the priority")?;
        let priority = self.expression()?;
        self.expect(")", "after the priority")?;
        Ok(PromelaStmtKind::SetPriority(pid, priority))
    }
}

fn skip(span: Span) -> PromelaStmtKind {
    PromelaStmtKind::Condition(PromelaExpr { kind: PromelaExprKind::Number(1), span })
}
