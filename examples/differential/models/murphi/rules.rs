//! Rules and properties.

use super::{Maker, Place, Ty, word};

impl Maker<'_> {
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
            4 if depth == 0 && !self.bags.is_empty() => {
                self.used.insert("choose");
                let rule = self.body(at, true);
                format!("choose k: m do\n{rule}end;\n")
            }
            _ => self.body(at, false),
        }
    }

    fn ruleset(&mut self, at: usize, depth: usize, ty: Ty) -> String {
        self.used.insert("ruleset");
        let name = self.name("i");
        let inside = self.with(&name, ty, |it| it.parameters(at, depth + 1));
        format!("ruleset {name}: {} do\n{inside}end;\n", word(ty))
    }

    fn body(&mut self, at: usize, chosen: bool) -> String {
        let mut guard = match self.choices.chance(75) {
            true => Some(self.condition(1)),
            false => None,
        };
        if chosen && self.choices.chance(50) {
            guard = Some(self.bag_condition("k"));
        }
        let priority = match self.rich && self.choices.chance(15) {
            true => {
                self.used.insert("priority");
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
            self.used.insert("local variable");
            text += "var l: R;\nbegin\n  l := x;\n";
            self.places.push(Place { text: "l".into(), ty: Ty::Range, loose: false });
        } else {
            text += "begin\n";
        }
        if chosen && self.choices.chance(70) {
            self.used.insert("MultiSetRemove");
            text += "  MultiSetRemove(k, m);\n";
        }
        text += &self.statements(3, 0, "  ");
        if self.choices.chance(3) {
            self.used.insert("assume in a rule");
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
            self.used.insert("invariant");
            let one = self.condition(1);
            // Most conditions hold often.
            let other = self.condition(2);
            text += &match self.choices.chance(60) {
                true => format!("invariant \"p{at}\"\n  {one} | {other};\n"),
                false => format!("invariant \"p{at}\"\n  {other};\n"),
            };
        }
        if self.choices.chance(8) {
            self.used.insert("assume");
            let one = self.condition(1);
            text += &format!("assume \"a\" {one};\n");
        }
        text
    }
}
