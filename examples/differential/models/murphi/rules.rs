//! Rules and properties.

use super::{ModelGenerator, Place, Ty, type_name};

impl ModelGenerator<'_> {
    /// Returns a rule, alone or in a ruleset.
    pub(super) fn rule(&mut self, at: usize) -> String {
        self.parameters(at, 0)
    }

    fn parameters(&mut self, at: usize, depth: usize) -> String {
        let weights = [8, if depth == 0 { 20 } else { 5 }, 3, 3, 2];
        match self.choices.weighted(&weights) {
            1 if depth < 2 => self.ruleset(at, depth, Ty::Scalar('S')),
            2 if depth < 2 => {
                let types = [Ty::Range, Ty::Boolean, Ty::Enum, Ty::Scalar('S')];
                let ty = self.choices.pick(&types);
                self.ruleset(at, depth, ty)
            }
            3 if depth < 2 && self.has_second => self.ruleset(at, depth, Ty::Scalar('T')),
            4 if depth == 0 && !self.multisets.is_empty() => {
                self.constructs.insert("choose");
                let rule = self.body(at, true);
                format!("choose k: m do\n{rule}end;\n")
            }
            _ => self.body(at, false),
        }
    }

    fn ruleset(&mut self, at: usize, depth: usize, ty: Ty) -> String {
        self.constructs.insert("ruleset");
        let name = self.name("i");
        let content = self.with(&name, ty, |it| it.parameters(at, depth + 1));
        format!("ruleset {name}: {} do\n{content}end;\n", type_name(ty))
    }

    fn body(&mut self, at: usize, chosen: bool) -> String {
        let mut guard = match self.choices.chance(75) {
            true => Some(self.condition(1)),
            false => None,
        };
        if chosen && self.choices.chance(50) {
            guard = Some(self.multiset_condition("k"));
        }
        let priority = match self.has_all_constructs && self.choices.chance(15) {
            true => {
                self.constructs.insert("priority");
                format!("{} ", self.choices.below(3))
            }
            false => String::new(),
        };
        let local = self.choices.chance(20);
        let mut text = format!("rule {priority}\"r{at}\"\n");
        if let Some(guard) = guard {
            text += &format!("  {guard}\n==>\n");
        }
        if local {
            self.constructs.insert("local variable");
            text += "var l: R;\nbegin\n  l := x;\n";
            self.places.push(Place { text: "l".into(), ty: Ty::Range, may_be_undefined: false });
        } else {
            text += "begin\n";
        }
        if chosen && self.choices.chance(70) {
            self.constructs.insert("MultiSetRemove");
            text += "  MultiSetRemove(k, m);\n";
        }
        text += &self.statements(3, 0, "  ");
        if self.choices.chance(3) {
            self.constructs.insert("assume in a rule");
            let what = self.condition(1);
            text += &format!("  assume {what};\n");
        }
        if local {
            self.places.pop();
        }
        text + "end;\n"
    }

    pub(super) fn properties(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.choices.weighted(&[6, 4, 1]) {
            self.constructs.insert("invariant");
            let one = self.condition(1);
            // Most conditions hold often.
            let other = self.condition(2);
            text += &match self.choices.chance(60) {
                true => format!("invariant \"p{at}\"\n  {one} | {other};\n"),
                false => format!("invariant \"p{at}\"\n  {other};\n"),
            };
        }
        if self.choices.chance(8) {
            self.constructs.insert("assume");
            let one = self.condition(1);
            text += &format!("assume \"a\" {one};\n");
        }
        text
    }
}
