//! The state machine: variables, Init, actions, Next, an invariant and a constraint.

use super::{Kind, ModuleGenerator, NamedValue, STATES_MAX, VARIABLE_SIZE_MAX};
use std::slice::from_ref;

impl ModuleGenerator<'_> {
    pub(super) fn state_machine(&mut self) -> String {
        self.scope.clear();
        let mut states = 1;
        for number in 1..=1 + self.choices.below(3) {
            let mut kind = Kind::choose(&mut self.choices, VARIABLE_SIZE_MAX);
            if states * kind.size() > STATES_MAX {
                kind = Kind::Boolean;
            }
            states *= kind.size();
            self.variables.push(NamedValue { name: format!("v{number}"), kind });
        }
        let init = self.init();
        let mut actions = String::new();
        let mut calls = Vec::new();
        for number in 1..=1 + self.choices.below(3) {
            self.scope.clone_from(&self.variables);
            let body;
            if self.choices.chance(40) {
                let kind = Kind::choose(&mut self.choices, 9);
                let (parameter, set) = (self.bound(&kind), self.small_set(&kind, 1));
                self.scope.push(parameter.clone());
                body = self.action();
                actions += &format!("A{number}({}) == {body}\n", parameter.name);
                let name = self.fresh("y");
                calls.push(format!("\\E {name} \\in {set} : A{number}({name})"));
            } else {
                body = self.action();
                actions += &format!("A{number} == {body}\n");
                calls.push(format!("A{number}"));
            }
        }
        self.scope.clone_from(&self.variables);
        let invariant = self.check(15, "invariant");
        let constraint = self.check(25, "constraint");
        self.scope.clear();
        let calls: String = calls.iter().map(|it| format!("\n  \\/ {it}")).collect();
        format!("Init =={init}\n{actions}Next =={calls}\nInv == {invariant}\nCon == {constraint}\n")
    }

    /// Returns a state predicate, which is TRUE for most models.
    fn check(&mut self, percent: u64, name: &'static str) -> String {
        if !self.choices.chance(percent) {
            return "TRUE".to_owned();
        }
        self.constructs.insert(name);
        // A disjunction holds in more states.
        format!(
            "({} \\/ {})",
            self.expression(&Kind::Boolean, 2),
            self.expression(&Kind::Boolean, 2)
        )
    }

    fn init(&mut self) -> String {
        let mut text = String::new();
        for variable in self.variables.clone() {
            let NamedValue { name, kind } = &variable;
            let assigned = match self.choices.weighted(&[2, 4, 2]) {
                0 => {
                    let value = self.expression(kind, 1);
                    format!("{name} = Keep({value}, {0}, CHOOSE x \\in {0} : TRUE)", kind.domain())
                }
                1 => format!("{name} \\in {}", kind.domain()),
                _ => {
                    let bound = self.bound(kind);
                    let body = self.within(from_ref(&bound), &Kind::Boolean, 1);
                    format!("{name} \\in {{{} \\in {} : {body}}}", bound.name, kind.domain())
                }
            };
            text += &format!("\n  /\\ {assigned}");
            self.scope.push(variable);
        }
        self.scope.clear();
        text
    }

    fn action(&mut self) -> String {
        let mut conjuncts = Vec::new();
        for _ in 0..self.choices.below(2) {
            conjuncts.push(self.expression(&Kind::Boolean, 2));
        }
        let mut unassigned = self.variables.clone();
        while !unassigned.is_empty() {
            let variable = unassigned.remove(self.choices.below(unassigned.len()));
            conjuncts.push(self.assignment(&variable, 2));
            // Later conjuncts may use the value in the next state.
            if self.choices.chance(40) {
                self.constructs.insert("primed value");
                let name = format!("{}'", variable.name);
                self.scope.push(NamedValue { name, kind: variable.kind.clone() });
                if self.choices.chance(25) {
                    conjuncts.push(self.expression(&Kind::Boolean, 1));
                }
            }
        }
        conjuncts.iter().map(|it| format!("\n  /\\ {it}")).collect()
    }

    /// Returns a formula that determines the next value of a variable.
    fn assignment(&mut self, variable: &NamedValue, depth: u32) -> String {
        let NamedValue { name, kind } = variable;
        let inner = depth.saturating_sub(1);
        let weights: &[u32] = if depth == 0 { &[5, 1] } else { &[5, 1, 5, 2, 3, 3, 2, 1, 2, 1] };
        match self.choices.weighted(weights) {
            0 => {
                let value = self.expression(kind, 2);
                format!("{name}' = Keep({value}, {}, {name})", kind.domain())
            }
            1 => format!("UNCHANGED {name}"),
            2 => {
                self.constructs.insert("x' \\in S");
                let bound = self.bound(kind);
                let body = self.within(from_ref(&bound), &Kind::Boolean, 1);
                format!("{name}' \\in {{{} \\in {} : {body}}}", bound.name, kind.domain())
            }
            3 => {
                self.constructs.insert("IF of actions");
                let condition = self.expression(&Kind::Boolean, 1);
                let (one, other) =
                    (self.assignment(variable, inner), self.assignment(variable, inner));
                format!("(IF {condition} THEN {one} ELSE {other})")
            }
            4 => {
                self.constructs.insert("disjunction of actions");
                let (one, other) =
                    (self.assignment(variable, inner), self.assignment(variable, inner));
                format!("({one} \\/ {other})")
            }
            5 => {
                self.constructs.insert("\\E of actions");
                let of = Kind::choose(&mut self.choices, 9);
                let (bound, set) = (self.bound(&of), self.small_set(&of, 1));
                self.scope.push(bound.clone());
                let body = self.assignment(variable, inner);
                self.scope.retain(|it| it.name != bound.name);
                format!("(\\E {} \\in {set} : {body})", bound.name)
            }
            6 => {
                self.constructs.insert("LET of actions");
                let of = Kind::choose(&mut self.choices, 1000);
                let (value, bound) = (self.expression(&of, 1), self.bound(&of));
                self.scope.push(bound.clone());
                let body = self.assignment(variable, inner);
                self.scope.retain(|it| it.name != bound.name);
                format!("(LET {} == {value} IN {body})", bound.name)
            }
            7 => {
                self.constructs.insert("\\A of actions");
                let of = Kind::choose_scalar(&mut self.choices);
                let bound = self.bound(&of);
                let choice = self.assignment(variable, 0);
                let condition = self.within(from_ref(&bound), &Kind::Boolean, 1);
                // The first element assigns, the others compare.
                format!(
                    "(\\A {} \\in {} : {choice} /\\ ({condition} \\/ {name}' # {name}))",
                    bound.name,
                    of.domain()
                )
            }
            8 => {
                self.constructs.insert("assigned twice");
                let first = self.assignment(variable, inner);
                let value = self.expression(kind, 1);
                format!("({first} /\\ {name}' \\in {{{name}, {value}}})")
            }
            _ => {
                self.constructs.insert("CASE of actions");
                let condition = self.expression(&Kind::Boolean, 1);
                let (one, other) =
                    (self.assignment(variable, inner), self.assignment(variable, inner));
                format!("(CASE {condition} -> {one} [] OTHER -> {other})")
            }
        }
    }
}
