//! Expressions of one kind: arithmetic, formulas, sets, functions, sequences, tuples and records.

use super::{FIELDS, Kind, ModuleGenerator, NamedValue};
use std::slice::from_ref;

impl ModuleGenerator<'_> {
    /// Returns an expression whose outermost operator constructs values of a kind.
    pub(super) fn constructed(&mut self, kind: &Kind, depth: u32) -> String {
        match kind {
            Kind::Integer => self.integer(depth),
            Kind::Boolean => self.formula(depth),
            Kind::Text | Kind::Model => self.leaf(kind),
            Kind::Set(of) => self.set(of, depth),
            Kind::Function(from, to) => self.function(from, to, depth),
            Kind::Tuple(parts) => self.tuple(parts, depth),
            Kind::Record(fields) => self.record(fields, depth),
            Kind::Sequence(of) => self.sequence(of, depth),
        }
    }

    fn integer(&mut self, depth: u32) -> String {
        let integer = Kind::Integer;
        match self.choices.weighted(&[6, 4, 3, 3, 4, 4, 2, 2, 1]) {
            0 => {
                let operator = self.choices.pick(&["+", "-"]);
                self.infix(&integer, operator, depth)
            }
            1 => self.infix(&integer, "*", depth),
            2 => format!("({} \\div {})", self.expression(&integer, depth), self.divisor(depth)),
            3 => format!("({} % {})", self.expression(&integer, depth), self.divisor(depth)),
            4 => {
                self.constructs.insert("Cardinality");
                let of = Kind::choose(&mut self.choices, 100);
                format!("Cardinality({})", self.expression(&Kind::Set(Box::new(of)), depth))
            }
            5 => {
                let of = Kind::choose(&mut self.choices, 100);
                format!("Len({})", self.expression(&Kind::Sequence(Box::new(of)), depth))
            }
            6 => format!("(-{})", self.expression(&integer, depth)),
            7 => format!("({}^{})", self.expression(&integer, depth), self.choices.between(0, 3)),
            _ => format!("({} * 100000 + {})", self.leaf(&integer), self.leaf(&integer)),
        }
    }

    fn divisor(&mut self, depth: u32) -> String {
        match self.choices.chance(10) {
            true => self.expression(&Kind::Integer, depth),
            false => self.choices.between(1, 4).to_string(),
        }
    }

    fn infix(&mut self, kind: &Kind, operator: &str, depth: u32) -> String {
        let (left, right) = (self.expression(kind, depth), self.expression(kind, depth));
        format!("({left} {operator} {right})")
    }

    fn formula(&mut self, depth: u32) -> String {
        match self.choices.weighted(&[5, 4, 5, 5, 3, 7, 3, 2]) {
            0 => {
                let kind = Kind::choose(&mut self.choices, 1000);
                let operator = self.choices.pick(&["=", "#"]);
                self.infix(&kind, operator, depth)
            }
            1 => {
                let operator = self.choices.pick(&["<", "<=", ">", ">="]);
                self.infix(&Kind::Integer, operator, depth)
            }
            2 => {
                self.constructs.insert("membership");
                let kind = Kind::choose(&mut self.choices, 1000);
                let element = self.expression(&kind, depth);
                let operator = self.choices.pick(&["\\in", "\\notin"]);
                let set = match self.choices.chance(40) {
                    true => kind.domain(),
                    false => self.expression(&Kind::Set(Box::new(kind)), depth),
                };
                format!("({element} {operator} {set})")
            }
            3 => {
                let operator = self.choices.pick(&["/\\", "\\/", "=>", "<=>"]);
                self.infix(&Kind::Boolean, operator, depth)
            }
            4 => format!("(~{})", self.expression(&Kind::Boolean, depth)),
            5 => self.quantified(depth),
            6 => {
                self.constructs.insert("\\subseteq");
                let kind = Kind::Set(Box::new(Kind::choose(&mut self.choices, 100)));
                self.infix(&kind, "\\subseteq", depth)
            }
            _ => {
                self.constructs.insert("junction list");
                let bullet = self.choices.pick(&["/\\", "\\/"]);
                let (one, other) = (
                    self.expression(&Kind::Boolean, depth),
                    self.expression(&Kind::Boolean, depth),
                );
                format!("({bullet} {one} {bullet} {other})")
            }
        }
    }

    fn quantified(&mut self, depth: u32) -> String {
        self.constructs.insert("quantifier");
        let quantifier = self.choices.pick(&["\\E", "\\A"]);
        let kind = Kind::choose(&mut self.choices, 27);
        let set = self.small_set(&kind, depth);
        if let Kind::Tuple(parts) = &kind
            && self.choices.chance(50)
        {
            self.constructs.insert("pattern");
            let names: Vec<NamedValue> = parts.iter().map(|it| self.bound(it)).collect();
            let body = self.within(&names, &Kind::Boolean, depth);
            let names: Vec<String> = names.into_iter().map(|it| it.name).collect();
            return format!("({quantifier} <<{}>> \\in {set} : {body})", names.join(", "));
        }
        let name = self.bound(&kind);
        if self.choices.chance(25) {
            let second = Kind::choose(&mut self.choices, 9);
            let (other, others) = (self.bound(&second), self.small_set(&second, depth));
            let body = self.within(&[name.clone(), other.clone()], &Kind::Boolean, depth);
            let (name, other) = (name.name, other.name);
            return format!("({quantifier} {name} \\in {set}, {other} \\in {others} : {body})");
        }
        let body = self.within(from_ref(&name), &Kind::Boolean, depth);
        format!("({quantifier} {} \\in {set} : {body})", name.name)
    }

    fn set(&mut self, of: &Kind, depth: u32) -> String {
        let kind = Kind::Set(Box::new(of.clone()));
        match self.choices.weighted(&[6, 5, 4, 4, 3, 3, 3, 3]) {
            0 => {
                let count = self.choices.below(4);
                format!("{{{}}}", self.list(of, count, depth))
            }
            1 => {
                let operator = self.choices.pick(&["\\cup", "\\cap", "\\"]);
                self.infix(&kind, operator, depth)
            }
            2 => {
                self.constructs.insert("filter");
                let (set, name) = (self.small_set(of, depth), self.bound(of));
                let body = self.within(from_ref(&name), &Kind::Boolean, depth);
                format!("{{{} \\in {set} : {body}}}", name.name)
            }
            3 => {
                self.constructs.insert("map");
                let from = Kind::choose(&mut self.choices, 27);
                let (set, name) = (self.small_set(&from, depth), self.bound(&from));
                let body = self.within(from_ref(&name), of, depth);
                format!("{{{body} : {} \\in {set}}}", name.name)
            }
            4 => {
                self.constructs.insert("UNION");
                let (one, other) = (self.expression(&kind, depth), self.expression(&kind, depth));
                format!("(UNION {{{one}, {other}}})")
            }
            5 => {
                self.constructs.insert("DOMAIN");
                let to = Kind::choose_scalar(&mut self.choices);
                let function = Kind::Function(Box::new(of.clone()), Box::new(to));
                match of.size() <= 9 {
                    true => format!("(DOMAIN {})", self.expression(&function, depth)),
                    false => self.leaf(&kind),
                }
            }
            6 => match of {
                Kind::Integer => {
                    self.constructs.insert("interval");
                    let low = self.choices.between(0, 2);
                    format!("({} .. {} % 5)", low - 1, self.expression(of, depth))
                }
                Kind::Set(inner) => {
                    self.constructs.insert("SUBSET");
                    let kind = Kind::Set(inner.clone());
                    format!("(SUBSET {})", self.leaf(&kind))
                }
                _ => self.leaf(&kind),
            },
            _ if of.size() <= 64 => of.domain(),
            _ => self.leaf(&kind),
        }
    }

    fn function(&mut self, from: &Kind, to: &Kind, depth: u32) -> String {
        let kind = Kind::Function(Box::new(from.clone()), Box::new(to.clone()));
        match self.choices.weighted(&[6, 5, 3, 2]) {
            0 => {
                self.constructs.insert("function");
                let name = self.bound(from);
                let body = self.within(from_ref(&name), to, depth);
                format!("[{} \\in {} |-> {body}]", name.name, from.domain())
            }
            1 => {
                self.constructs.insert("EXCEPT");
                let function = self.expression(&kind, depth);
                let changes: Vec<String> = (0..1 + self.choices.below(2))
                    .map(|_| {
                        let argument = self.expression(from, depth);
                        format!("![{argument}] = {}", self.changed(to, depth))
                    })
                    .collect();
                format!("[{function} EXCEPT {}]", changes.join(", "))
            }
            2 => {
                self.constructs.insert("@@");
                let (argument, value) = (self.expression(from, depth), self.expression(to, depth));
                format!("(({argument} :> {value}) @@ {})", self.expression(&kind, depth))
            }
            _ => self.leaf(&kind),
        }
    }

    /// Returns the new value of a part under EXCEPT, which may use the old one.
    fn changed(&mut self, kind: &Kind, depth: u32) -> String {
        let old = NamedValue { name: "@".to_owned(), kind: kind.clone() };
        // An inner EXCEPT has its own `@`.
        let outer = std::mem::take(&mut self.scope);
        self.scope = outer.iter().filter(|it| it.name != "@").cloned().collect();
        let text = self.within(from_ref(&old), kind, depth);
        self.scope = outer;
        text
    }

    fn tuple(&mut self, parts: &[Kind], depth: u32) -> String {
        let kind = Kind::Tuple(parts.to_vec());
        if self.choices.chance(30) {
            self.constructs.insert("EXCEPT of a tuple");
            let (tuple, index) = (self.expression(&kind, depth), self.choices.below(parts.len()));
            let value = self.changed(&parts[index], depth);
            return format!("[{tuple} EXCEPT ![{}] = {value}]", index + 1);
        }
        let parts: Vec<String> = parts.iter().map(|it| self.expression(it, depth)).collect();
        format!("<<{}>>", parts.join(", "))
    }

    fn record(&mut self, fields: &[Kind], depth: u32) -> String {
        let kind = Kind::Record(fields.to_vec());
        if self.choices.chance(30) {
            self.constructs.insert("EXCEPT of a record");
            let (record, index) = (self.expression(&kind, depth), self.choices.below(fields.len()));
            let value = self.changed(&fields[index], depth);
            return format!("[{record} EXCEPT !.{} = {value}]", FIELDS[index]);
        }
        let fields: Vec<String> = FIELDS
            .iter()
            .zip(fields)
            .map(|(name, kind)| format!("{name} |-> {}", self.expression(kind, depth)))
            .collect();
        format!("[{}]", fields.join(", "))
    }

    fn sequence(&mut self, of: &Kind, depth: u32) -> String {
        let kind = Kind::Sequence(Box::new(of.clone()));
        match self.choices.weighted(&[6, 4, 3, 3, 3, 3]) {
            0 => {
                let count = self.choices.below(4);
                format!("<<{}>>", self.list(of, count, depth))
            }
            1 => {
                let (sequence, last) = (self.expression(&kind, depth), self.expression(of, depth));
                format!("Append({sequence}, {last})")
            }
            2 => self.infix(&kind, "\\o", depth),
            3 => match self.choices.weighted(&[4, 4, 1]) {
                0 => {
                    let first = self.expression(of, depth);
                    format!("Tail(<<{first}>> \\o {})", self.expression(&kind, depth))
                }
                1 => {
                    let name = self.fresh("s");
                    let (low, value) = (self.choices.between(1, 3), self.expression(&kind, depth));
                    format!("(LET {name} == {value} IN SubSeq({name}, {low}, Len({name})))")
                }
                _ => {
                    let (low, high) = (self.choices.between(0, 2), self.choices.between(0, 3));
                    format!("SubSeq({}, {low}, {high})", self.expression(&kind, depth))
                }
            },
            4 => {
                self.constructs.insert("SelectSeq");
                let (sequence, name) = (self.expression(&kind, depth), self.bound(of));
                let body = self.within(from_ref(&name), &Kind::Boolean, depth);
                format!("SelectSeq({sequence}, LAMBDA {} : {body})", name.name)
            }
            _ => {
                let (name, last) = (self.bound(&Kind::Integer), self.choices.between(0, 3));
                let body = self.within(from_ref(&name), of, depth);
                format!("[{} \\in 1 .. {last} |-> {body}]", name.name)
            }
        }
    }
}
