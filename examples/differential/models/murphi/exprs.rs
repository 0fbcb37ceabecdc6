//! Expressions, with the places that must be defined, so that the generated code can test them first.

use super::{Array, ModelGenerator, Ty, type_name};

/// An expression, and the places that must be defined for it, in the order in which they must be tested.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub text: String,
    pub needs: Vec<String>,
}

/// A place, and the places through which it is reached.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub text: String,
    pub ty: Ty,
    /// The places that must be defined to reach it.
    pub needs: Vec<String>,
    pub may_be_undefined: bool,
}

impl Access {
    /// Returns the value of the place.
    pub fn read(mut self) -> Expr {
        if self.may_be_undefined {
            self.needs.push(self.text.clone());
        }
        Expr { text: self.text, needs: self.needs }
    }
}

impl Expr {
    fn of(text: String) -> Expr {
        Expr { text, needs: Vec::new() }
    }

    /// Returns the test that the expression can be evaluated, if one is needed.
    pub fn definedness_test(&self) -> Option<String> {
        let asked = self.needs.iter().map(|it| format!("!isundefined({it})"));
        let asked: Vec<String> = asked.collect();
        (!asked.is_empty()).then(|| asked.join(" & "))
    }
}

impl ModelGenerator<'_> {
    pub(super) fn constant(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Boolean => self.choices.pick(&["false", "true"]).into(),
            Ty::Range => self.choices.below(3).to_string(),
            Ty::Signed => self.choices.between(-1, 1).to_string(),
            Ty::Enum | Ty::Union => self.choices.pick(&["e0", "e1", "e2"]).into(),
            Ty::Scalar(_) => unreachable!("symmetric elements have no names"),
        }
    }

    /// Returns a name with a value of this type, usually the innermost.
    pub(super) fn bound_name(&mut self, ty: Ty) -> Option<String> {
        let names = self.bound.iter().rev().filter(|it| it.ty == ty);
        let names: Vec<String> = names.map(|it| it.name.clone()).collect();
        (!names.is_empty()).then(|| names[self.choices.below(names.len())].clone())
    }

    /// Returns an element of an array.
    fn element(&mut self, array: &Array) -> Option<Access> {
        let (field, ty, may_be_undefined) =
            array.fields[self.choices.below(array.fields.len())].clone();
        let name = self.bound_name(array.index);
        let plain = self.places.iter().filter(|it| it.ty == array.index);
        let plain: Vec<_> = plain.map(|it| (it.text.clone(), it.may_be_undefined)).collect();
        let through = !plain.is_empty() && self.choices.chance(25);
        let (index, needs) = match (name, array.index) {
            (Some(name), _) if !through => (name, Vec::new()),
            _ if through => {
                let (text, may_be_undefined) = plain[self.choices.below(plain.len())].clone();
                self.constructs.insert("index from a variable");
                (text.clone(), if may_be_undefined { vec![text] } else { Vec::new() })
            }
            (_, Ty::Scalar(_)) => return None,
            (_, ty) => (self.constant(ty), Vec::new()),
        };
        Some(Access {
            text: format!("{}[{index}]{field}", array.name),
            ty,
            needs,
            may_be_undefined,
        })
    }

    /// Returns a place.
    pub(super) fn access(&mut self) -> Access {
        if !self.arrays.is_empty() && self.choices.chance(55) {
            let array = self.arrays[self.choices.below(self.arrays.len())].clone();
            if let Some(access) = self.element(&array) {
                return access;
            }
        }
        let place = self.places[self.choices.below(self.places.len())].clone();
        Access {
            text: place.text,
            ty: place.ty,
            needs: Vec::new(),
            may_be_undefined: place.may_be_undefined,
        }
    }

    /// Returns a place of this type.
    pub(super) fn access_of(&mut self, ty: Ty) -> Option<Access> {
        (0..4).map(|_| self.access()).find(|it| it.ty == ty)
    }

    /// Returns a value of this type.
    pub(super) fn value(&mut self, ty: Ty) -> Option<Expr> {
        let choice = self.choices.below(10);
        if let Ty::Scalar(_) = ty {
            let name = self.bound_name(ty);
            return match (choice, name) {
                (0..=6, Some(name)) => Some(Expr::of(name)),
                (_, name) => match self.access_of(ty) {
                    Some(access) => Some(access.read()),
                    None => name.map(Expr::of),
                },
            };
        }
        if choice < 3 {
            return Some(Expr::of(self.constant(ty)));
        }
        if matches!(choice, 3 | 4)
            && let Some(access) = self.access_of(ty)
        {
            return Some(access.read());
        }
        Some(match ty {
            Ty::Boolean => self.condition_expr(1),
            Ty::Range => self.number(),
            Ty::Union if choice < 8 => {
                return self.value(Ty::Scalar('S')).or_else(|| self.value(Ty::Enum));
            }
            Ty::Enum if choice == 5 => {
                self.constructs.insert("conditional expression");
                let Expr { text, needs } = self.condition_expr(0);
                let [one, other] = [self.constant(ty), self.constant(ty)];
                Expr { text: format!("({text} ? {one} : {other})"), needs }
            }
            Ty::Signed if choice == 5 => {
                let Expr { text, needs } = self.number();
                Expr { text: format!("{text} - 1"), needs }
            }
            ty => Expr::of(self.constant(ty)),
        })
    }

    /// Returns a number from 0 to 2.
    fn number(&mut self) -> Expr {
        let numbers = [Ty::Range, Ty::Range, Ty::Signed];
        let wanted = self.choices.pick(&numbers);
        let read = match self.bound_name(wanted) {
            Some(name) if self.choices.chance(50) => Expr::of(name),
            _ => match self.access_of(wanted) {
                Some(access) => access.read(),
                None => Expr::of("x".into()),
            },
        };
        let Expr { text, needs } = read;
        let text = match self.choices.below(5) {
            0 => format!("({text} + 1) % 3"),
            1 => format!("(({text} * 2 + 2) % 3)"),
            2 => format!("(4 - {text}) % 3"),
            3 => format!("(5 + {text}) / 3"),
            _ => {
                self.constructs.insert("conditional expression");
                format!("({text} = 1 ? 2 : 0)")
            }
        };
        Expr { text, needs }
    }

    /// Returns a condition, with the tests of the places that must be defined.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        let expr = self.condition_expr(depth);
        match expr.definedness_test() {
            Some(definedness_test) if !self.choices.chance(3) => {
                format!("({definedness_test} & {})", expr.text)
            }
            _ => expr.text,
        }
    }

    fn condition_expr(&mut self, depth: usize) -> Expr {
        match self.choices.weighted(&[40, 12, 8, 8, 8, 6, 6, 6]) {
            1 if depth > 0 => {
                let [one, other] = [self.condition(depth - 1), self.condition(depth - 1)];
                Expr::of(format!("({one} {} {other})", self.choices.pick(&["&", "|", "->"])))
            }
            2 if depth > 0 => Expr::of(format!("!({})", self.condition(depth - 1))),
            3 if depth > 0 => Expr::of(self.quantifier(depth)),
            4 => self.undefined(),
            5 if self.functions.contains(&"asks") => {
                let Expr { text, needs } = self.number();
                Expr { text: format!("asks({text})"), needs }
            }
            6 if !self.multisets.is_empty() => {
                let cond = self.multiset_condition("k");
                self.constructs.insert("MultiSetCount");
                Expr::of(format!("MultiSetCount(k: m, {cond}) > {}", self.choices.below(2)))
            }
            7 if !self.multisets.is_empty() && self.choices.chance(30) => {
                let cond = self.multiset_condition("k");
                Expr::of(format!("MultiSetCount(k: m, {cond}) = 0"))
            }
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Expr {
        let access = self.access();
        let ty = access.ty;
        let Expr { text, mut needs } = access.read();
        if ty == Ty::Union && self.choices.chance(40) {
            self.constructs.insert("ismember");
            let ty = self.choices.pick(&["S", "E"]);
            return Expr { text: format!("ismember({text}, {ty})"), needs };
        }
        let other = match (ty, self.choices.chance(70)) {
            (Ty::Scalar(_), _) => self.value(ty),
            (ty, true) => Some(Expr { text: self.constant(ty), needs: Vec::new() }),
            (ty, false) => self.value(ty),
        };
        let Some(other) = other else {
            return Expr { text: format!("!isundefined({text})"), needs: Vec::new() };
        };
        needs.extend(other.needs);
        let operator = match ty {
            Ty::Range | Ty::Signed => self.choices.pick(&["=", "!=", "<", ">", "<=", ">="]),
            _ => self.choices.pick(&["=", "!="]),
        };
        Expr { text: format!("{text} {operator} ({})", other.text), needs }
    }

    fn undefined(&mut self) -> Expr {
        for _ in 0..4 {
            let Access { text, needs, may_be_undefined, .. } = self.access();
            if may_be_undefined {
                self.constructs.insert("isundefined");
                let not = self.choices.pick(&["", "!"]);
                return Expr { text: format!("{not}isundefined({text})"), needs };
            }
        }
        self.comparison()
    }

    fn quantifier(&mut self, depth: usize) -> String {
        let types = [Ty::Scalar('S'), Ty::Scalar('S'), Ty::Range, Ty::Boolean, Ty::Enum];
        let ty = self.choices.pick(&types);
        let name = self.name("k");
        let word_of = self.choices.pick(&["exists", "forall"]);
        self.constructs.insert(word_of);
        let content = self.with(&name, ty, |it| it.condition(depth - 1));
        format!("{word_of} {name}: {} do {content} end", type_name(ty))
    }

    /// Returns a condition on an element of the multiset; `name` is its index.
    pub(super) fn multiset_condition(&mut self, name: &str) -> String {
        if !self.multisets[0].records {
            return format!(
                "m[{name}] {} {}",
                self.choices.pick(&["=", "!="]),
                self.choices.below(3)
            );
        }
        let fields: Vec<_> = self
            .places
            .iter()
            .filter_map(|it| Some((it.text.strip_prefix('q')?.to_owned(), it.ty)))
            .collect();
        let (field, ty) = fields[self.choices.below(fields.len())].clone();
        match (ty, self.bound_name(ty)) {
            (Ty::Scalar(_), Some(bound)) => format!("m[{name}]{field} = {bound}"),
            (Ty::Scalar(_), None) => format!("isundefined(m[{name}]{field})"),
            (ty, _) => {
                let constant = self.constant(ty);
                format!("(!isundefined(m[{name}]{field}) & m[{name}]{field} = {constant})")
            }
        }
    }
}
