//! Statements.

use super::exprs::{Access, Expr};
use super::{ModelGenerator, Ty, type_name};

impl ModelGenerator<'_> {
    pub(super) fn statements(&mut self, most: usize, depth: usize, indent: &str) -> String {
        let count = 1 + self.choices.below(most);
        (0..count).map(|_| self.statement(depth, indent)).collect()
    }

    fn statement(&mut self, depth: usize, indent: &str) -> String {
        let simple = [60u32, 6, 3, 3, 6, 5, 5, 5, 1, 1, 2];
        let nested = [14u32, 6, 10, 5, 5];
        let weights: Vec<u32> = match depth < 2 {
            true => simple.iter().chain(&nested).copied().collect(),
            false => simple.to_vec(),
        };
        let line = match self.choices.weighted(&weights) {
            1 => self.undefine(),
            2 => self.clear(),
            3 if self.record_names.len() + self.arrays.len() > 1 => self.copy(),
            4 if self.functions.contains(&"change") => self.change(),
            5 if self.functions.contains(&"set") => self.set(),
            6 if !self.multisets.is_empty() => self.multiset(),
            7 => self.count(),
            8 => {
                self.constructs.insert("assert");
                let what = self.condition(1);
                format!("assert {what} \"asserted\"")
            }
            9 => {
                self.constructs.insert("error");
                let when = self.condition(1);
                format!("if {when} then error \"failed\"; end")
            }
            10 => {
                self.constructs.insert("return");
                let when = self.condition(1);
                format!("if {when} then return; end")
            }
            11 => self.alternatives(depth, indent),
            12 => self.switch(depth, indent),
            13 => self.symmetric_loop(),
            14 => self.numbered_loop(depth, indent),
            15 => self.alias(depth, indent),
            _ => self.assignment(),
        };
        format!("{indent}{line};\n")
    }

    /// Returns the statement, guarded by tests of the places that it reads.
    fn guarded(&mut self, needs: Vec<String>, statement: String) -> String {
        match (Expr { text: String::new(), needs }).definedness_test() {
            Some(definedness_test) if !self.choices.chance(3) => {
                format!("if {definedness_test} then {statement}; end")
            }
            _ => statement,
        }
    }

    pub(super) fn assignment(&mut self) -> String {
        let Access { text, ty, mut needs, may_be_undefined } = self.access();
        if self.choices.chance(35)
            && let Some(next) = next(&text, ty)
        {
            // Cyclic changes give more states than assignments of constants.
            needs.extend(may_be_undefined.then(|| text.clone()));
            return self.guarded(needs, format!("{text} := {next}"));
        }
        if self.choices.chance(3) && ty == Ty::Range {
            self.constructs.insert("maybe out of range");
            return self
                .guarded([needs, vec![text.clone()]].concat(), format!("{text} := {text} + 1"));
        }
        match self.value(ty) {
            Some(value) => {
                needs.extend(value.needs);
                self.guarded(needs, format!("{text} := {}", value.text))
            }
            None => {
                self.constructs.insert("undefine");
                self.guarded(needs, format!("undefine {text}"))
            }
        }
    }

    fn undefine(&mut self) -> String {
        for _ in 0..4 {
            let Access { text, needs, may_be_undefined, .. } = self.access();
            if may_be_undefined {
                self.constructs.insert("undefine");
                return self.guarded(needs, format!("undefine {text}"));
            }
        }
        self.assignment()
    }

    fn clear(&mut self) -> String {
        let Access { text, ty, needs, .. } = self.access();
        match ty {
            Ty::Scalar(_) | Ty::Union => self.assignment(),
            _ => {
                self.constructs.insert("clear");
                self.guarded(needs, format!("clear {text}"))
            }
        }
    }

    /// Builds a copy of a record.
    fn copy(&mut self) -> String {
        let mut records: Vec<String> = self.record_names.clone();
        if let Some(array) = self.arrays.iter().find(|it| it.name == "r").cloned()
            && let Some(name) = self.bound_name(array.index)
        {
            records.push(format!("r[{name}]"));
        }
        if records.len() < 2 {
            return self.assignment();
        }
        self.constructs.insert("copied record");
        match self.choices.chance(50) {
            true => format!("{} := {}", records[0], records[1]),
            false => format!("{} := {}", records[1], records[0]),
        }
    }

    fn change(&mut self) -> String {
        let Some(Access { text, needs, may_be_undefined: false, .. }) = self.access_of(Ty::Range)
        else {
            return self.assignment();
        };
        let given = self.choices.below(3);
        self.guarded(needs, format!("x := change({given}, {text})"))
    }

    fn set(&mut self) -> String {
        let Some(Access { text, mut needs, may_be_undefined: false, .. }) =
            self.access_of(Ty::Range)
        else {
            return self.assignment();
        };
        let value = self.value(Ty::Enum).expect("enumerations have constants");
        needs.extend(value.needs);
        self.guarded(needs, format!("set({text}, {})", value.text))
    }

    fn multiset(&mut self) -> String {
        if self.choices.chance(65) {
            self.constructs.insert("MultiSetAdd");
            let value =
                if self.multisets[0].records { "q".into() } else { self.constant(Ty::Range) };
            let add = format!("MultiSetAdd({value}, m)");
            return match self.choices.chance(90) {
                true => format!("if MultiSetCount(k: m, true) < 2 then {add}; end"),
                false => add,
            };
        }
        self.constructs.insert("MultiSetRemovePred");
        let which = self.multiset_condition("k");
        format!("MultiSetRemovePred(k: m, {which})")
    }

    /// Generates a sum over a scalarset. The order of its iterations does not matter.
    fn count(&mut self) -> String {
        self.constructs.insert("sum over a scalarset");
        let name = self.name("j");
        let arrays = self.arrays.iter().filter(|it| it.index == Ty::Scalar('S')).cloned();
        let arrays: Vec<_> = arrays.collect();
        if arrays.is_empty() {
            return self.assignment();
        }
        let array = arrays[self.choices.below(arrays.len())].clone();
        let (field, ty, may_be_undefined) =
            array.fields[self.choices.below(array.fields.len())].clone();
        let element = format!("{}[{name}]{field}", array.name);
        let what = match ty {
            Ty::Scalar(_) => format!("isundefined({element})"),
            ty => {
                let constant = self.constant(ty);
                match may_be_undefined {
                    true => format!("!isundefined({element}) & {element} = {constant}"),
                    false => format!("{element} = {constant}"),
                }
            }
        };
        format!("for {name}: S do if {what} then x := (x + 1) % 3; end; end")
    }

    fn alternatives(&mut self, depth: usize, indent: &str) -> String {
        self.constructs.insert("if");
        let deeper = format!("{indent}  ");
        let (when, then) = (self.condition(1), self.statements(2, depth + 1, &deeper));
        let mut text = format!("if {when} then\n{then}");
        if self.choices.chance(30) {
            self.constructs.insert("elsif");
            let (when, then) = (self.condition(1), self.statements(2, depth + 1, &deeper));
            text += &format!("{indent}elsif {when} then\n{then}");
        }
        if self.choices.chance(40) {
            text += &format!("{indent}else\n{}", self.statements(2, depth + 1, &deeper));
        }
        text + indent + "end"
    }

    fn switch(&mut self, depth: usize, indent: &str) -> String {
        self.constructs.insert("switch");
        let deeper = format!("{indent}  ");
        let ty = self.choices.pick(&[Ty::Enum, Ty::Range]);
        let value = self.value(ty).expect("there are constants");
        let cases = if ty == Ty::Enum { ["e0", "e1, e2"] } else { ["0, 2", "1"] };
        let [first, second] = [(); 2].map(|()| self.statements(1, depth + 1, &deeper));
        let other = match self.choices.chance(50) {
            true => format!("{indent}else\n{second}"),
            false => format!("{indent}case {}:\n{second}", cases[1]),
        };
        let text =
            format!("switch {}\n{indent}case {}:\n{first}{other}{indent}end", value.text, cases[0]);
        self.guarded(value.needs, text)
    }

    /// Builds a loop that treats each element of a scalarset independently.
    fn symmetric_loop(&mut self) -> String {
        let ty = Ty::Scalar(if self.has_second && self.choices.chance(40) { 'T' } else { 'S' });
        let arrays = self.arrays.iter().filter(|it| it.index == ty).cloned();
        let arrays: Vec<_> = arrays.collect();
        if arrays.is_empty() {
            return self.assignment();
        }
        self.constructs.insert("for over a scalarset");
        let name = self.name("j");
        let array = arrays[self.choices.below(arrays.len())].clone();
        let (field, of, may_be_undefined) =
            array.fields[self.choices.below(array.fields.len())].clone();
        let element = format!("{}[{name}]{field}", array.name);
        let first = match of {
            Ty::Scalar(_) if of == ty && self.choices.chance(50) => format!("{element} := {name}"),
            Ty::Scalar(_) => format!("undefine {element}"),
            of => format!("{element} := {}", self.constant(of)),
        };
        let content = match of {
            Ty::Range if !may_be_undefined && self.choices.chance(50) => {
                format!("{element} := ({element} + 1) % 3")
            }
            Ty::Boolean if !may_be_undefined && self.choices.chance(50) => {
                format!("{element} := !{element}")
            }
            Ty::Range if !may_be_undefined => format!("if {element} = 1 then {first}; end"),
            _ => first,
        };
        format!("for {name}: {} do {content}; end", type_name(ty))
    }

    /// Generates a loop over numbers, names or truth values, or one with a condition.
    fn numbered_loop(&mut self, depth: usize, indent: &str) -> String {
        let deeper = format!("{indent}  ");
        if self.choices.chance(30) {
            self.constructs.insert("while");
            let content = self.statements(1, depth + 1, &deeper);
            // Even if the body also changes `x`, the loop ends: by a run-time error at the latest.
            return format!("while x > 0 do\n{content}{deeper}x := x - 1;\n{indent}end");
        }
        self.constructs.insert("for");
        let name = self.name("j");
        let (ty, range) = match self.choices.below(5) {
            0 => (Ty::Range, format!("{name}: R")),
            1 => (Ty::Range, format!("{name} := 0 to 2")),
            2 => (Ty::Range, format!("{name} := 0 to 2 by 2")),
            3 => (Ty::Enum, format!("{name}: E")),
            _ => (Ty::Boolean, format!("{name}: boolean")),
        };
        let content = self.with(&name, ty, |it| it.statements(2, depth + 1, &deeper));
        format!("for {range} do\n{content}{indent}end")
    }

    fn alias(&mut self, depth: usize, indent: &str) -> String {
        let Access { text, ty, needs, may_be_undefined } = self.access();
        if !needs.is_empty() || may_be_undefined {
            return self.assignment();
        }
        self.constructs.insert("alias");
        let name = self.name("z");
        self.places.push(super::Place { text: name.clone(), ty, may_be_undefined });
        let content = self.statements(2, depth + 1, &format!("{indent}  "));
        self.places.pop();
        format!("alias {name}: {text} do\n{content}{indent}end")
    }
}

/// Returns the next value of a place, cyclically.
fn next(place: &str, ty: Ty) -> Option<String> {
    match ty {
        Ty::Boolean => Some(format!("!{place}")),
        Ty::Range => Some(format!("({place} + 1) % 3")),
        Ty::Signed => Some(format!("({place} + 2) % 3 - 1")),
        Ty::Enum => Some(format!("({place} = e0 ? e1 : ({place} = e1 ? e2 : e0))")),
        Ty::Scalar(_) | Ty::Union => None,
    }
}
