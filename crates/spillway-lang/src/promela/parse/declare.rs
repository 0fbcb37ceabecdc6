//! The parser of declarations: variables, channels, structures and `mtype`s.

use super::{PromelaParseResult, PromelaParser};
use crate::promela::ast::{
    PromelaExpr, PromelaExprKind, PromelaName, PromelaReference, PromelaStmt, PromelaStmtKind,
};
use crate::promela::symbols::{
    PromelaInitializer, PromelaStruct, PromelaSymbol, PromelaType, SymbolId,
};
use crate::{DeclaredName, DeclaredNameKind};
use spillway_base::source::Span;
use std::rc::Rc;

/// The maximum number of elements of an array.
const ELEMENTS_MAX: i64 = 1 << 20;

impl PromelaParser {
    /// Returns whether a declaration begins here.
    pub(super) fn at_declaration(&self) -> bool {
        const WORDS: [&str; 12] = [
            "hidden", "show", "local", "bit", "bool", "byte", "pid", "short", "int", "unsigned",
            "mtype", "chan",
        ];
        self.at_any(&WORDS)
            || self.peek().name().is_some_and(|name| self.structs.contains_key(name))
                && self.look_up(self.peek().name().map_or("", |name| name)).is_none()
    }

    pub(super) fn parameters(&mut self) -> PromelaParseResult<Vec<SymbolId>> {
        let mut parameters = Vec::new();
        while !self.at(")") {
            parameters.extend(self.declaration(true)?.0);
            if self.at(",") {
                return self.unexpected("`;` between parameters of different types");
            }
            if !self.accept(";") && !self.at(")") {
                return self.unexpected("`;` between parameters");
            }
        }
        Ok(parameters)
    }

    /// Parses one declaration. Inside a body, its initial values are appended as statements.
    pub(super) fn declaration(
        &mut self,
        parameter: bool,
    ) -> PromelaParseResult<(Vec<SymbolId>, Vec<PromelaStmt>)> {
        let hidden = self.accept("hidden");
        if !hidden && !self.accept("show") {
            self.accept("local");
        }
        let start = self.span();
        let Some(basic) = self.basic(true)? else { return Ok(Default::default()) };
        if hidden && matches!(basic, PromelaType::Bit | PromelaType::Bool) {
            return self
                .error(start, "a bit cannot be hidden")
                .map_err(|it| it.help("declare it as a byte, as SPIN wants it, too"));
        }
        let (mut declared, mut statements) = (Vec::new(), Vec::new());
        loop {
            let name = self.name("the name of a variable")?;
            let symbol = self.variable(name, basic, parameter, hidden)?;
            let (id, statement) = self.declare(symbol)?;
            declared.push(id);
            statements.extend(statement);
            if !self.at(",") || parameter && self.next_is_type() {
                return Ok((declared, statements));
            }
            self.take();
        }
    }

    /// Returns whether a comma here separates parameters, not variables of one type.
    fn next_is_type(&self) -> bool {
        self.peek_at(1).name().is_some_and(|word| {
            ["bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan"]
                .contains(&&**word)
                || self.structs.contains_key(word)
        })
    }

    /// Parses a type. With `names`, a declaration of `mtype` names, which is not a type, yields `None`.
    fn basic(&mut self, names: bool) -> PromelaParseResult<Option<PromelaType>> {
        let token = self.take();
        let word = token.name().map_or("", |name| name);
        Ok(Some(match word {
            "bit" => PromelaType::Bit,
            "bool" => PromelaType::Bool,
            "byte" | "pid" => PromelaType::Byte,
            "short" => PromelaType::Short,
            "int" => PromelaType::Int,
            "unsigned" => PromelaType::Unsigned(0),
            "chan" => PromelaType::Channel,
            "mtype" => {
                let mut set: Rc<str> = "mtype".into();
                if self.accept(":") {
                    set = self.name("the name of a set")?.text;
                }
                let set = self.model.symbols.set(&set);
                if names && (self.accept("=") || self.at("{")) {
                    self.mtype_names(set)?;
                    return Ok(None);
                }
                PromelaType::Mtype(set)
            }
            _ => match self.structs.get(word) {
                Some(&number) => PromelaType::Struct(number),
                None => return self.error(token.span, format!("`{}` is no type", token.kind)),
            },
        }))
    }

    fn mtype_names(&mut self, set: usize) -> PromelaParseResult<()> {
        self.expect("{", "before the names")?;
        if self.process.is_some() {
            return self.error(self.span(), "an mtype is declared outside processes");
        }
        let mut names = Vec::new();
        while !self.accept("}") {
            let name = self.name("a name")?;
            if self.model.symbols.constants.contains_key(&name.text) || names.contains(&name.text) {
                return self.error(name.span, format!("the mtype {} is declared twice", name.text));
            }
            let kind = DeclaredNameKind::Constant;
            self.model.names.push(DeclaredName::new(&name.text, kind, name.span));
            names.push(name.text);
            self.accept(",");
        }
        if self.model.symbols.sets[set].names.len() + names.len() > 255 {
            return self.error(self.span(), "an mtype has more than 255 names");
        }
        self.model.symbols.extend_set(set, &names);
        Ok(())
    }

    /// Parses the rest of a variable's declaration, after its name.
    fn variable(
        &mut self,
        name: PromelaName,
        mut basic: PromelaType,
        parameter: bool,
        hidden: bool,
    ) -> PromelaParseResult<PromelaSymbol> {
        if self.accept(":") {
            let span = self.span();
            let bits = self.constant("a number of bits")?;
            if !(1..=31).contains(&bits) {
                return self.error(span, format!("{bits} bits are asked for, but 1 to 31 can be"));
            }
            if matches!(basic, PromelaType::Unsigned(_)) {
                basic = PromelaType::Unsigned(bits as u32);
            }
        }
        if basic == PromelaType::Unsigned(0) {
            return self.error(
                name.span,
                format!("say how many bits {} has: `unsigned {} : 4`", name.text, name.text),
            );
        }
        let mut length = None;
        if self.accept("[") {
            let span = self.span();
            let count = self.constant("the length of an array")?;
            if !(1..=ELEMENTS_MAX).contains(&count) {
                return self.error(span, format!("an array of {count} elements is not possible"));
            }
            length = Some(count as u32);
            self.expect("]", "after the length")?;
        }
        let initial = match self.at("=") {
            true => self.initial(parameter, length)?,
            false => PromelaInitializer::Zero,
        };
        if matches!(initial, PromelaInitializer::Channel { .. }) && basic != PromelaType::Channel {
            return self.error(name.span, format!("{} is no chan", name.text));
        }
        Ok(PromelaSymbol {
            name,
            basic,
            length,
            initial,
            owner: self.process,
            parameter,
            hidden,
            assigned: parameter,
            read: false,
        })
    }

    fn initial(
        &mut self,
        parameter: bool,
        length: Option<u32>,
    ) -> PromelaParseResult<PromelaInitializer> {
        let span = self.take().span;
        if parameter {
            return self.error(span, "a parameter has no initial value");
        }
        if self.at("[") {
            return self.channel();
        }
        if !self.accept("{") {
            let value = self.expression()?;
            if contains_run(&value) {
                return self
                    .error(value.span, "a variable cannot begin with a run")
                    .map_err(|it| it.help("declare it first, then assign: `p = run P()`"));
            }
            return Ok(PromelaInitializer::Value(value));
        }
        if length.is_none() {
            return self.error(span, "only an array begins with a list");
        }
        let mut values = Vec::new();
        while !self.accept("}") {
            values.push(self.expression()?);
            if !self.at("}") {
                self.expect(",", "between the elements")?;
            }
        }
        match values.is_empty() {
            true => self.error(span, "this list is empty"),
            false => Ok(PromelaInitializer::List(values)),
        }
    }

    fn channel(&mut self) -> PromelaParseResult<PromelaInitializer> {
        let start = self.span();
        self.expect("[", "before the capacity")?;
        let span = self.span();
        let capacity = self.constant("the capacity of a channel")?;
        let Some(capacity) = u32::try_from(capacity).ok().filter(|&capacity| capacity <= 255)
        else {
            return self.error(span, format!("the capacity is {capacity}, but it is 0 to 255"));
        };
        self.expect("]", "after the capacity")?;
        self.expect("of", "before the types of a message")?;
        self.expect("{", "before the types of a message")?;
        let mut fields = Vec::new();
        loop {
            let span = self.span();
            match self.basic(false)? {
                Some(PromelaType::Unsigned(_)) | None => {
                    return self.error(span, "unsigned cannot be the type of a message's field");
                }
                Some(basic) => fields.push(basic),
            }
            if self.accept("}") {
                return Ok(PromelaInitializer::Channel {
                    capacity,
                    fields,
                    span: self.since(start),
                });
            }
            self.expect(",", "between the types")?;
        }
    }

    /// Declares a variable. Inside a body, a statement stores its initial value.
    fn declare(
        &mut self,
        mut symbol: PromelaSymbol,
    ) -> PromelaParseResult<(SymbolId, Option<PromelaStmt>)> {
        let PromelaName { text, span } = symbol.name.clone();
        // A name cannot be redeclared in an inner block; SPIN rejects that, too.
        if self.look_up(&text).is_some() {
            return self.error(span, format!("{text} is declared already"));
        }
        if self.model.symbols.constants.contains_key(&text) {
            return self.error(span, format!("{text} is the name of an mtype"));
        }
        let by_statement = !self.can_initialize && !symbol.parameter;
        let mut value = None;
        if by_statement {
            if let PromelaInitializer::Channel { span, .. } = symbol.initial {
                return self
                    .error(span, format!("the channel {text} is declared amid statements"))
                    .map_err(|it| it.help("declare it at the start of the process"));
            }
            value = Some(std::mem::replace(&mut symbol.initial, PromelaInitializer::Zero));
            symbol.assigned = true;
        }
        let id = self.model.symbols.all.push(symbol);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(text, id);
        }
        Ok((id, value.map(|value| self.store_initial(id, value, span))))
    }

    fn store_initial(
        &mut self,
        symbol: SymbolId,
        value: PromelaInitializer,
        span: Span,
    ) -> PromelaStmt {
        let target = PromelaReference { symbol, index: None, fields: Vec::new(), span };
        let kind = match value {
            PromelaInitializer::Value(value) => PromelaStmtKind::Assign(target, value),
            PromelaInitializer::List(values) => PromelaStmtKind::Fill(target, values),
            _ => PromelaStmtKind::Assign(
                target,
                PromelaExpr { kind: PromelaExprKind::Number(0), span },
            ),
        };
        PromelaStmt::new(kind, self.since(span))
    }

    pub(super) fn typedef(&mut self) -> PromelaParseResult<()> {
        self.take();
        let name = self.name("the name of the structure")?;
        if self.structs.contains_key(&name.text) {
            return self.error(name.span, format!("there is a typedef {} already", name.text));
        }
        self.model.names.push(DeclaredName::new(&name.text, DeclaredNameKind::Type, name.span));
        self.expect("{", "before the fields")?;
        self.line_ends = true;
        let mut fields: Vec<PromelaSymbol> = Vec::new();
        while !self.accept("}") {
            if !self.accept("hidden") && !self.accept("show") {
                self.accept("local");
            }
            let Some(basic) = self.basic(false)? else { continue };
            loop {
                let field = self.name("the name of a field")?;
                if fields.iter().any(|other| other.name.text == field.text) {
                    return self
                        .error(field.span, format!("the field {} is there already", field.text));
                }
                fields.push(self.variable(field, basic, false, false)?);
                if !self.accept(",") {
                    break;
                }
            }
            if !self.separators() && !self.at("}") {
                return self.unexpected("`;` between the fields");
            }
        }
        self.line_ends = false;
        let number = self.model.symbols.structs.len();
        self.model.symbols.structs.push(PromelaStruct { name: name.text.clone(), fields });
        self.structs.insert(name.text, number);
        Ok(())
    }
}

/// Returns whether an expression contains `run`.
pub(super) fn contains_run(expr: &PromelaExpr) -> bool {
    match &expr.kind {
        PromelaExprKind::Run { .. } => true,
        PromelaExprKind::Unary(_, operand) => contains_run(operand),
        PromelaExprKind::Binary(_, left, right) => contains_run(left) || contains_run(right),
        PromelaExprKind::Conditional(condition, then, otherwise) => {
            contains_run(condition) || contains_run(then) || contains_run(otherwise)
        }
        _ => false,
    }
}
