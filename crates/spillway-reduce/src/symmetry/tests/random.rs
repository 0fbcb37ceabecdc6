//! Random symmetric models, as text. They have scalarsets, enumerations and unions, as values, as indices and in
//! records, arrays and multisets. They also have undefined values, `choose` and parameters.
//!
//! Nothing depends on the order of elements: loops over scalarsets do the same for each element, and conditions of
//! quantifiers do not fail. Models have no functions and no local variables of rules, so that the ranges of variables
//! are found. The stored values vary from constants to any value.

use std::fmt::Write;

/// Returns the model that the numbers determine. Zeros follow the last number.
pub(super) fn model(numbers: &[u16]) -> String {
    let mut generator =
        ModelGenerator { rest: numbers.iter(), text: String::new(), scalars: Vec::new() };
    generator.write();
    generator.text
}

/// The types of scalar values in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScalarType {
    Bool,
    Number,
    Enum,
    /// `A` or `B`.
    Set(char),
    /// A union of members in this order.
    Union(&'static str, &'static [ScalarType]),
}

use ScalarType::{Bool, Enum, Number, Set, Union};

const A: ScalarType = Set('A');
const B: ScalarType = Set('B');
const UNIONS: [ScalarType; 4] = [
    Union("AE", &[A, Enum]),
    Union("EA", &[Enum, A]),
    Union("AB", &[A, B]),
    Union("BEA", &[B, Enum, A]),
];

impl ScalarType {
    fn name(self) -> String {
        match self {
            Bool => "boolean".into(),
            Number => "N".into(),
            Enum => "E".into(),
            Set(name) => name.into(),
            Union(name, _) => name.into(),
        }
    }

    /// Returns whether any two values of the type may be compared, including undefined ones.
    fn compares(self) -> bool {
        matches!(self, Set(_) | Union(..))
    }

    fn has(self, member: ScalarType) -> bool {
        self == member || matches!(self, Union(_, members) if members.contains(&member))
    }
}

/// A place of the state with one value. Its text has a `#` for each index.
#[derive(Clone, Debug)]
struct Place {
    text: String,
    indices: Vec<ScalarType>,
    of: ScalarType,
}

/// A name with the type of its value.
type TypedName = (String, ScalarType);

/// A multiset, with the parts of an element.
type Multiset = (String, Vec<TypedName>);

struct ModelGenerator<'n> {
    rest: std::slice::Iter<'n, u16>,
    text: String,
    scalars: Vec<Place>,
}

impl ModelGenerator<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let number = self.rest.next().copied().unwrap_or(0);
        (usize::from(number) * bound) >> 16
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())].clone()
    }

    fn write(&mut self) {
        let (a, b) = (2 + self.below(2), 1 + self.below(2));
        let _ = writeln!(
            self.text,
            "type A: scalarset({a}); B: scalarset({b}); E: enum {{e0, e1, e2}}; N: 0..2;\n  \
             AE: union {{A, E}}; EA: union {{E, A}}; AB: union {{A, B}}; BEA: union {{B, E, A}};"
        );
        let mut multisets = Vec::new();
        for number in 0..2 + self.below(2) {
            self.variable(&format!("v{number}"), &mut multisets);
        }
        self.start();
        for number in 0..2 + self.below(3) {
            self.rule(number, &multisets);
        }
        if self.chance(30) {
            let condition = self.condition(&[], &[]);
            let _ = writeln!(self.text, "invariant \"holds\" {condition};");
        }
    }

    fn scalar_type(&mut self) -> ScalarType {
        match self.below(8) {
            0..=2 => self.pick(&UNIONS),
            3 => A,
            4 => B,
            5 => Enum,
            6 => Number,
            _ => Bool,
        }
    }

    /// Returns the index type of an array.
    fn index(&mut self) -> ScalarType {
        self.pick(&[A, A, B, Enum, UNIONS[0], UNIONS[2]])
    }

    fn variable(&mut self, name: &str, multisets: &mut Vec<Multiset>) {
        let place = |text: String, indices: &[ScalarType], of| Place {
            text,
            indices: indices.to_vec(),
            of,
        };
        let (one, other, by) = (self.scalar_type(), self.scalar_type(), self.index());
        let [one_name, other_name, by_name] = [one, other, by].map(ScalarType::name);
        let ty = match self.below(6) {
            0 | 1 => {
                self.scalars.push(place(name.into(), &[], one));
                one_name
            }
            2 => {
                self.scalars.push(place(format!("{name}[#]"), &[by], one));
                format!("array [{by_name}] of {one_name}")
            }
            3 => {
                self.scalars.push(place(format!("{name}[#][#]"), &[by, A], one));
                format!("array [{by_name}] of array [A] of {one_name}")
            }
            4 => {
                self.scalars.push(place(format!("{name}[#].f"), &[by], one));
                self.scalars.push(place(format!("{name}[#].g"), &[by], other));
                format!("array [{by_name}] of record f: {one_name}; g: {other_name}; end")
            }
            _ if self.chance(50) => {
                multisets.push((name.into(), vec![(String::new(), one)]));
                format!("multiset [2] of {one_name}")
            }
            _ => {
                let fields = vec![(".f".into(), one), (".g".into(), other)];
                // The element to be added is built in this variable.
                let _ = writeln!(
                    self.text,
                    "var {name}new: record f: {one_name}; g: {other_name}; end;"
                );
                self.scalars.push(place(format!("{name}new.f"), &[], one));
                self.scalars.push(place(format!("{name}new.g"), &[], other));
                multisets.push((name.into(), fields));
                format!("multiset [2] of record f: {one_name}; g: {other_name}; end")
            }
        };
        let _ = writeln!(self.text, "var {name}: {ty};");
    }

    /// Writes a start state: constants, parameters, or undefined.
    fn start(&mut self) {
        let parameter = self.chance(30);
        let scope: Vec<TypedName> = if parameter { vec![("s".into(), A)] } else { Vec::new() };
        let head = if parameter { "ruleset s: A do " } else { "" };
        let mut body = String::new();
        for place in self.scalars.clone() {
            if self.chance(20) {
                continue;
            }
            let Some(value) = self.constant_value(place.of, &scope) else { continue };
            let names = (0..place.indices.len()).map(|at| format!("i{at}")).collect::<Vec<_>>();
            let target = with_indices(&place.text, &names);
            let loops = names.iter().zip(&place.indices);
            let loops: String =
                loops.map(|(name, ty)| format!("for {name}: {} do ", ty.name())).collect();
            let ends = "end; ".repeat(names.len());
            let _ = write!(body, "{loops}{target} := {value}; {ends}");
        }
        let tail = if parameter { " end;" } else { "" };
        let _ = writeln!(self.text, "{head}startstate {body}end;{tail}");
    }

    fn rule(&mut self, number: usize, multisets: &[Multiset]) {
        let mut scope: Vec<TypedName> = Vec::new();
        let (mut head, mut tail) = (String::new(), String::new());
        for at in 0..self.below(3) {
            let over = self.pick(&[A, B, A, UNIONS[0], UNIONS[2]]);
            let name = format!("p{at}");
            let _ = write!(head, "ruleset {name}: {} do ", over.name());
            tail.push_str(" end;");
            scope.push((name, over));
        }
        let mut chosen = Vec::new();
        let choice =
            if multisets.is_empty() || self.chance(50) { None } else { Some(self.pick(multisets)) };
        if let Some((multiset, fields)) = &choice {
            let _ = write!(head, "choose c: {multiset} do ");
            tail.push_str(" end;");
            for (field, of) in fields {
                let text = format!("{multiset}[c]{field}");
                chosen.push(Place { text, indices: Vec::new(), of: *of });
            }
        }
        let guard = self.condition(&scope, &chosen);
        let mut body = String::new();
        for _ in 0..1 + self.below(3) {
            let statement = self.statement(&scope, &chosen, multisets);
            body.push_str(&statement);
        }
        if let (Some((multiset, _)), true) = (&choice, self.chance(60)) {
            let _ = write!(body, "multisetremove(c, {multiset}); ");
        }
        if self.chance(10) {
            let condition = self.condition(&scope, &[]);
            let _ = write!(body, "if {condition} then error \"met\"; end; ");
        }
        let _ = writeln!(self.text, "{head}rule \"r{number}\" {guard} ==> {body}end;{tail}");
    }

    fn statement(
        &mut self,
        scope: &[TypedName],
        chosen: &[Place],
        multisets: &[Multiset],
    ) -> String {
        if !multisets.is_empty() && self.chance(25) {
            let (multiset, fields) = self.pick(multisets);
            let element = match fields.as_slice() {
                [(_, of)] => self.value(*of, scope, chosen),
                _ => Some(format!("{multiset}new")),
            };
            let room = format!("multisetcount(m: {multiset}, true) < 2");
            return element
                .map(|it| format!("if {room} then multisetadd({it}, {multiset}); end; "))
                .unwrap_or_default();
        }
        let Some((target, of)) = self.place(scope, chosen) else { return String::new() };
        match self.below(8) {
            0 => format!("undefine {target}; "),
            1 if matches!(of, Bool | Number | Enum) => format!("clear {target}; "),
            2 => self.for_all(scope),
            3 => {
                let condition = self.condition(scope, chosen);
                let value = self.value(of, scope, chosen);
                value
                    .map(|it| format!("if {condition} then {target} := {it}; end; "))
                    .unwrap_or_default()
            }
            _ => {
                let value = self.value(of, scope, chosen);
                value.map(|it| format!("{target} := {it}; ")).unwrap_or_default()
            }
        }
    }

    /// Returns a loop that does the same for every element, independently of the others.
    fn for_all(&mut self, scope: &[TypedName]) -> String {
        let places: Vec<Place> =
            self.scalars.iter().filter(|it| it.indices.len() == 1).cloned().collect();
        if places.is_empty() {
            return String::new();
        }
        let place = self.pick(&places);
        let mut inside = scope.to_vec();
        inside.push(("z".into(), place.indices[0]));
        let target = with_indices(&place.text, &["z".into()]);
        let over = place.indices[0].name();
        match self.constant_value(place.of, &inside) {
            Some(value) => format!("for z: {over} do {target} := {value}; end; "),
            None => format!("for z: {over} do undefine {target}; end; "),
        }
    }

    /// Returns a place that is in scope.
    fn place(&mut self, scope: &[TypedName], chosen: &[Place]) -> Option<(String, ScalarType)> {
        let mut all = self.scalars.clone();
        all.extend_from_slice(chosen);
        if all.is_empty() {
            return None;
        }
        let place = self.pick(&all);
        let indices = place.indices.iter().map(|ty| self.constant_value(*ty, scope));
        let indices = indices.collect::<Option<Vec<String>>>()?;
        Some((with_indices(&place.text, &indices), place.of))
    }

    /// Returns a constant or a parameter of a type, if there is one.
    fn constant_value(&mut self, of: ScalarType, scope: &[TypedName]) -> Option<String> {
        let mut all: Vec<String> = Vec::new();
        if of == Bool {
            all.extend(["false", "true"].map(String::from));
        }
        if of == Number {
            all.extend(["0", "1", "2"].map(String::from));
        }
        if of.has(Enum) {
            all.extend(["e0", "e1", "e2"].map(String::from));
        }
        let fits = |ty: ScalarType| match ty {
            Union(_, members) => members.iter().all(|&member| of.has(member)),
            single => of.has(single),
        };
        let named = scope.iter().filter(|(_, ty)| fits(*ty)).map(|(name, _)| name.clone());
        all.extend(named);
        (!all.is_empty()).then(|| self.pick(&all))
    }

    /// Returns a value of a type: a place, a constant or a parameter.
    fn value(&mut self, of: ScalarType, scope: &[TypedName], chosen: &[Place]) -> Option<String> {
        if self.chance(35)
            && let Some((place, ty)) = self.place(scope, chosen)
            && (ty == of || matches!(of, Union(_, members) if members.contains(&ty)))
        {
            return Some(place);
        }
        self.constant_value(of, scope)
    }

    fn condition(&mut self, scope: &[TypedName], chosen: &[Place]) -> String {
        match self.below(7) {
            0 => "true".into(),
            1 => {
                let (one, other) = (self.condition(scope, chosen), self.atom(scope, chosen));
                let operator = self.pick(&["&", "|", "->"]);
                format!("({one} {operator} {other})")
            }
            2 => {
                let over = self.pick(&[A, B, UNIONS[0]]);
                let mut inside = scope.to_vec();
                let name = format!("q{}", scope.len());
                inside.push((name.clone(), over));
                let which = self.pick(&["exists", "forall"]);
                let body = self.safe_atom(&inside);
                format!("({which} {name}: {} do {body} end)", over.name())
            }
            _ => self.atom(scope, chosen),
        }
    }

    /// Returns a comparison. It may fail if an operand is undefined.
    fn atom(&mut self, scope: &[TypedName], chosen: &[Place]) -> String {
        if self.chance(60) {
            return self.safe_atom(scope);
        }
        let Some((place, of)) = self.place(scope, chosen) else { return "true".into() };
        match self.value(of, scope, chosen) {
            Some(value) => format!("({place} = {value})"),
            None => format!("isundefined({place})"),
        }
    }

    /// Returns a condition whose evaluation cannot fail.
    fn safe_atom(&mut self, scope: &[TypedName]) -> String {
        let Some((place, of)) = self.place(scope, &[]) else { return "true".into() };
        let operator = self.pick(&["=", "!="]);
        match self.constant_value(of, scope) {
            Some(value) if of.compares() => format!("({place} {operator} {value})"),
            _ => format!("isundefined({place})"),
        }
    }
}

/// Returns a place with its indices filled in.
fn with_indices(text: &str, indices: &[String]) -> String {
    indices.iter().fold(text.to_owned(), |text, index| text.replacen('#', index, 1))
}
