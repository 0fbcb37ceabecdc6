//! Random modules in TLA+: expressions of all kinds without variables, and a state machine over a few variables.
//!
//! Expressions are well typed. Their evaluation still fails in some modules. The causes are a CHOOSE or CASE without a
//! match, an argument outside of a domain, a division by zero, the head of an empty sequence, and integers of more than
//! 32 bits. The machine stays finite, because a value outside of the variable's domain is replaced by the old value.

mod actions;
mod expressions;
mod kinds;
mod parts;

use crate::models::choices::Choices;
use kinds::{FIELDS, Kind, MODEL_VALUES, STRINGS};
use std::collections::BTreeSet;

/// The configuration of every module.
pub const CONFIGURATION: &str = "CONSTANTS m2 = m2 m1 = m1 m3 = m3\nINIT Init\nNEXT Next\nINVARIANT Inv\n\
     CONSTRAINT Con\nCHECK_DEADLOCK FALSE\n";

/// The maximum size of the domain of a variable, and of all variables together.
const VARIABLE_SIZE_MAX: usize = 27;
const STATES_MAX: usize = 500;

/// A name with a value.
#[derive(Clone, Debug)]
struct NamedValue {
    name: String,
    kind: Kind,
}

/// An operator of the module.
#[derive(Clone, Debug)]
struct Operator {
    name: String,
    parameters: Vec<Kind>,
    result: Kind,
}

/// Builds one module.
struct ModuleGenerator<'a> {
    choices: Choices<'a>,
    constructs: BTreeSet<&'static str>,
    /// The names that an expression may use.
    scope: Vec<NamedValue>,
    operators: Vec<Operator>,
    /// The variables of the machine.
    variables: Vec<NamedValue>,
    /// The number of the last new name.
    last_name: usize,
}

/// Builds a module from these numbers. Returns it with its constructs.
///
/// The expressions are the definitions `E1`, `E2` and so on.
pub fn make(numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
    let mut generator = ModuleGenerator {
        choices: Choices::new(numbers),
        constructs: BTreeSet::new(),
        scope: Vec::new(),
        operators: Vec::new(),
        variables: Vec::new(),
        last_name: 0,
    };
    let text = generator.module();
    (text, generator.constructs)
}

/// Returns the number of expressions of a module.
pub fn expression_count(text: &str) -> usize {
    (1..).take_while(|it| text.contains(&format!("\nE{it} =="))).count()
}

impl ModuleGenerator<'_> {
    fn module(&mut self) -> String {
        let mut definitions = String::new();
        for _ in 0..self.choices.below(4) {
            definitions += &self.operator();
        }
        // The machine is generated first, because the last choices are the simplest.
        let state_machine = self.state_machine();
        for number in 1..=1 + self.choices.below(6) {
            let kind = Kind::choose(&mut self.choices, 10_000);
            definitions += &format!("E{number} == {}\n", self.expression(&kind, 4));
        }
        let names: Vec<&str> = self.variables.iter().map(|it| it.name.as_str()).collect();
        let strings = STRINGS.map(|it| format!("\"{it}\"")).join(", ");
        let fields = FIELDS.map(|it| format!("{it} |-> 0")).join(", ");
        let model_values = MODEL_VALUES.join(", ");
        // TLC orders strings and fields by their first appearance in the virtual machine. So all modules have the same
        // beginning.
        format!(
            "---- MODULE Model ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\n\
             CONSTANTS {model_values}\nVARIABLES {}\n\
             Prelude == <<{strings}, [{fields}]>>\nM == {{{model_values}}}\n\
             Sequences(S, n) == UNION {{[1 .. k -> S] : k \\in 0 .. n}}\n\
             Keep(new, S, old) == IF new \\in S THEN new ELSE old\n{definitions}{state_machine}====\n",
            names.join(", ")
        )
    }

    /// Defines an operator. The first parameter of a recursive operator is counted down.
    fn operator(&mut self) -> String {
        let name = self.fresh("Op");
        let is_recursive = self.choices.chance(35);
        let result = Kind::choose(&mut self.choices, 1000);
        let mut parameters: Vec<NamedValue> = Vec::new();
        if is_recursive {
            parameters.push(NamedValue { name: self.fresh("n"), kind: Kind::Integer });
        }
        for _ in 0..self.choices.below(3) {
            let kind = Kind::choose(&mut self.choices, 1000);
            parameters.push(NamedValue { name: self.fresh("p"), kind });
        }
        let outer = std::mem::take(&mut self.scope);
        self.scope.clone_from(&parameters);
        let mut body = self.expression(&result, 2);
        let mut declaration = String::new();
        if is_recursive {
            self.constructs.insert("RECURSIVE");
            let counter = &parameters[0].name.clone();
            let mut arguments = vec![format!("{counter} - 1")];
            for it in &parameters[1..] {
                arguments.push(self.expression(&it.kind.clone(), 1));
            }
            let again = self.fresh("again");
            self.scope.push(NamedValue { name: again.clone(), kind: result.clone() });
            let step = self.expression(&result, 2);
            body = format!(
                "IF {counter} <= 0 THEN {body} ELSE LET {again} == {name}({}) IN {step}",
                arguments.join(", ")
            );
            let places = vec!["_"; parameters.len()].join(", ");
            declaration = format!("RECURSIVE {name}({places})\n");
        }
        self.scope = outer;
        let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
        let list = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
        let text = format!("{declaration}{name}{list} == {body}\n");
        let parameters = parameters.into_iter().map(|it| it.kind).collect();
        self.operators.push(Operator { name, parameters, result });
        text
    }

    /// Returns a new name.
    fn fresh(&mut self, base: &str) -> String {
        self.last_name += 1;
        format!("{base}{}", self.last_name)
    }
}
