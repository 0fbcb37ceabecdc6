//! Expressions that may have any kind of value: names, IF, CASE, LET, CHOOSE, and parts of other values.

use super::{FIELDS, Kind, MODEL_VALUES, ModuleGenerator, NamedValue, STRINGS};

/// The maximum number of elements of a set that is enumerated.
const ELEMENTS_MAX: usize = 9;

impl ModuleGenerator<'_> {
    /// Returns an expression of a kind, in parentheses where needed.
    pub(super) fn expression(&mut self, kind: &Kind, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(kind);
        }
        match self.choices.weighted(&[12, 40, 8, 5, 7, 4, 5, 3, 3, 3, 8, 4, 4]) {
            0 => self.leaf(kind),
            1 => self.constructed(kind, depth - 1),
            2 => {
                self.constructs.insert("IF");
                let condition = self.expression(&Kind::Boolean, depth - 1);
                let (one, other) =
                    (self.expression(kind, depth - 1), self.expression(kind, depth - 1));
                format!("(IF {condition} THEN {one} ELSE {other})")
            }
            3 => self.case(kind, depth - 1),
            4 => self.let_value(kind, depth - 1),
            5 => self.choose(kind, depth - 1),
            6 => self.applied(kind, depth - 1),
            7 => self.part_of_tuple(kind, depth - 1),
            8 => self.part_of_record(kind, depth - 1),
            9 => self.part_of_sequence(kind, depth - 1),
            10 => self.call(kind, depth - 1),
            11 => self.let_operator(kind, depth - 1),
            _ => self.let_function(kind, depth - 1),
        }
    }

    /// Returns a name or a small expression.
    pub(super) fn leaf(&mut self, kind: &Kind) -> String {
        let names: Vec<String> =
            self.scope.iter().filter(|it| it.kind == *kind).map(|it| it.name.clone()).collect();
        if !names.is_empty() && !self.choices.chance(25) {
            return names[self.choices.below(names.len())].clone();
        }
        self.literal(kind)
    }

    fn literal(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Integer => {
                let number = self.choices.between(0, 5);
                if number == 5 { "(-1)".to_owned() } else { number.to_string() }
            }
            Kind::Boolean => self.choices.pick(&["TRUE", "FALSE"]).to_owned(),
            Kind::Text => format!("\"{}\"", self.choices.pick(&STRINGS)),
            Kind::Model => self.choices.pick(&MODEL_VALUES).to_owned(),
            Kind::Set(of) => format!("{{{}}}", self.literals(of, 3)),
            Kind::Function(from, to) => {
                let name = self.fresh("x");
                format!("[{name} \\in {} |-> {}]", from.domain(), self.literal(to))
            }
            Kind::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|it| self.literal(it)).collect();
                format!("<<{}>>", parts.join(", "))
            }
            Kind::Record(parts) => {
                let fields: Vec<String> = FIELDS
                    .iter()
                    .zip(parts)
                    .map(|(name, kind)| format!("{name} |-> {}", self.literal(kind)))
                    .collect();
                format!("[{}]", fields.join(", "))
            }
            Kind::Sequence(of) => format!("<<{}>>", self.literals(of, 3)),
        }
    }

    /// Returns a list of fewer than `count` literals.
    fn literals(&mut self, kind: &Kind, count: usize) -> String {
        let count = self.choices.below(count);
        (0..count).map(|_| self.literal(kind)).collect::<Vec<_>>().join(", ")
    }

    /// Returns a list of expressions.
    pub(super) fn list(&mut self, kind: &Kind, count: usize, depth: u32) -> String {
        (0..count).map(|_| self.expression(kind, depth)).collect::<Vec<_>>().join(", ")
    }

    /// Returns an expression that may use further names.
    pub(super) fn within(&mut self, names: &[NamedValue], kind: &Kind, depth: u32) -> String {
        let outer = self.scope.len();
        self.scope.extend_from_slice(names);
        let text = self.expression(kind, depth);
        self.scope.truncate(outer);
        text
    }

    /// Returns a new bound name of a kind.
    pub(super) fn bound(&mut self, kind: &Kind) -> NamedValue {
        NamedValue { name: self.fresh("x"), kind: kind.clone() }
    }

    /// Returns a set of few elements of a kind: its domain if that is small.
    pub(super) fn small_set(&mut self, kind: &Kind, depth: u32) -> String {
        if kind.size() <= ELEMENTS_MAX && self.choices.chance(60) {
            return kind.domain();
        }
        self.constructed(&Kind::Set(Box::new(kind.clone())), depth.min(2))
    }

    fn case(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("CASE");
        let arms: Vec<String> = (0..1 + self.choices.below(2))
            .map(|_| {
                let condition = self.expression(&Kind::Boolean, depth);
                format!("{condition} -> {}", self.expression(kind, depth))
            })
            .collect();
        let other = match self.choices.chance(10) {
            true => String::new(),
            false => format!(" [] OTHER -> {}", self.expression(kind, depth)),
        };
        format!("(CASE {}{other})", arms.join(" [] "))
    }

    fn let_value(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("LET");
        let of = Kind::choose(&mut self.choices, 1000);
        let value = self.expression(&of, depth);
        let name = self.bound(&of);
        let body = self.within(std::slice::from_ref(&name), kind, depth);
        format!("(LET {} == {value} IN {body})", name.name)
    }

    fn let_operator(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("LET operator");
        let (of, name) = (Kind::choose(&mut self.choices, 1000), self.fresh("F"));
        let parameter = self.bound(&of);
        let result = self.within(std::slice::from_ref(&parameter), kind, depth);
        let argument = self.expression(&of, depth);
        if self.choices.chance(30) {
            self.constructs.insert("LAMBDA");
            let (apply, higher) = (self.fresh("A"), self.fresh("G"));
            return format!(
                "(LET {apply}({higher}(_)) == {higher}({argument}) IN {apply}(LAMBDA {} : {result}))",
                parameter.name
            );
        }
        format!("(LET {name}({}) == {result} IN {name}({argument}))", parameter.name)
    }

    /// Returns the value of a function that LET defines, in some cases by recursion over numbers.
    fn let_function(&mut self, kind: &Kind, depth: u32) -> String {
        let name = self.fresh("f");
        if self.choices.chance(50) {
            self.constructs.insert("recursive function");
            let (counter, last) = (self.bound(&Kind::Integer), self.choices.between(1, 3));
            let first = self.expression(kind, depth);
            let again =
                NamedValue { name: format!("{name}[{} - 1]", counter.name), kind: kind.clone() };
            let step = self.within(&[counter.clone(), again], kind, depth);
            return format!(
                "(LET {name}[{0} \\in 0 .. {last}] == IF {0} = 0 THEN {first} ELSE {step} IN {name}[{last}])",
                counter.name
            );
        }
        let from = Kind::choose(&mut self.choices, ELEMENTS_MAX);
        let parameter = self.bound(&from);
        let body = self.within(std::slice::from_ref(&parameter), kind, depth);
        let argument = self.argument(&from, depth);
        format!(
            "(LET {name}[{} \\in {}] == {body} IN {name}[{argument}])",
            parameter.name,
            from.domain()
        )
    }

    fn choose(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("CHOOSE");
        let set = self.small_set(kind, depth);
        let NamedValue { name, .. } = self.bound(kind);
        let named = NamedValue { name: name.clone(), kind: kind.clone() };
        let predicate = self.within(&[named], &Kind::Boolean, depth);
        if self.choices.chance(10) {
            return format!("(CHOOSE {name} \\in {set} : {predicate})");
        }
        // If no element satisfies the predicate, the value is a literal.
        let (other, literal, least) = (self.fresh("x"), self.literal(kind), self.fresh("x"));
        format!(
            "(LET {other} == {{{name} \\in {set} : {predicate}}} IN \
             CHOOSE {least} \\in (IF {other} = {{}} THEN {{{literal}}} ELSE {other}) : TRUE)"
        )
    }

    fn applied(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("application");
        let from = Kind::choose(&mut self.choices, ELEMENTS_MAX);
        let function = Kind::Function(Box::new(from.clone()), Box::new(kind.clone()));
        let function = self.expression(&function, depth);
        let text = format!("{function}[{}]", self.argument(&from, depth));
        // TLC ignores EXCEPT if it evaluates a function as an action. It evaluates an operand completely.
        match *kind == Kind::Boolean && function.contains("EXCEPT") {
            true => format!("({text} = TRUE)"),
            false => text,
        }
    }

    /// Returns an argument of a function, in most cases one in its domain.
    fn argument(&mut self, from: &Kind, depth: u32) -> String {
        let argument = self.expression(from, depth);
        if self.choices.chance(10) {
            return argument;
        }
        let (name, domain) = (self.fresh("x"), from.domain());
        format!("Keep({argument}, {domain}, CHOOSE {name} \\in {domain} : TRUE)")
    }

    fn part_of_tuple(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("tuple");
        let other = Kind::choose_scalar(&mut self.choices);
        let index = self.choices.below(2);
        let mut parts = vec![other];
        parts.insert(index, kind.clone());
        format!("{}[{}]", self.expression(&Kind::Tuple(parts), depth), index + 1)
    }

    fn part_of_record(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("record");
        let index = self.choices.below(2);
        let mut fields = vec![Kind::choose_scalar(&mut self.choices)];
        fields.insert(index, kind.clone());
        format!("{}.{}", self.expression(&Kind::Record(fields), depth), FIELDS[index])
    }

    fn part_of_sequence(&mut self, kind: &Kind, depth: u32) -> String {
        self.constructs.insert("sequence");
        let sequence = Kind::Sequence(Box::new(kind.clone()));
        let one = self.expression(kind, depth);
        let rest = self.expression(&sequence, depth);
        match self.choices.weighted(&[4, 4, 1]) {
            0 => format!("Head(<<{one}>> \\o {rest})"),
            1 => format!("Append({rest}, {one})[1]"),
            _ => format!("Head({rest})"),
        }
    }

    fn call(&mut self, kind: &Kind, depth: u32) -> String {
        let fitting: Vec<usize> =
            (0..self.operators.len()).filter(|it| self.operators[*it].result == *kind).collect();
        if fitting.is_empty() {
            return self.constructed(kind, depth);
        }
        self.constructs.insert("operator");
        let operator = self.operators[fitting[self.choices.below(fitting.len())]].clone();
        let arguments: Vec<String> =
            operator.parameters.iter().map(|it| self.expression(it, depth.min(2))).collect();
        match arguments.is_empty() {
            true => operator.name,
            false => format!("{}({})", operator.name, arguments.join(", ")),
        }
    }
}
