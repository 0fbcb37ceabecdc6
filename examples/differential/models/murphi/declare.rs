//! Declarations: types, variables, functions, and start states, which give each variable a value.

use super::{Array, Bag, Maker, Place, Ty, word};

impl Maker<'_> {
    pub(super) fn declarations(&mut self) -> String {
        self.sizes = (2 + self.choices.below(2), 2);
        self.has_second = self.choices.chance(15);
        let mut text = format!("const N: {};\ntype\n  S: scalarset(N);\n", self.sizes.0);
        if self.has_second {
            self.used.insert("two scalarsets");
            text += "  T: scalarset(2);\n";
        }
        text += "  R: 0..2;\n  W: -1..1;\n  E: enum {e0, e1, e2};\n";
        if self.rich {
            text += "  U: union {S, E};\n";
        }
        self.has_records = self.choices.chance(40);
        let fields = if self.has_records { self.record(&mut text) } else { Vec::new() };
        let bag = self.rich && self.choices.chance(60);
        if bag {
            self.used.insert("multiset");
            self.bags.push(Bag { records: self.has_records });
            let element = if self.has_records { "Rec" } else { "R" };
            text += &format!("  M: multiset [2] of {element};\n");
        }
        text += "var\n  x: R;\n";
        self.places.push(Place { text: "x".into(), ty: Ty::Range, loose: false });
        for at in 0..2 + self.choices.below(3) {
            self.variable(&mut text, &format!("v{at}"));
        }
        if self.has_records {
            self.record_variables(&mut text, &fields);
        }
        if bag {
            text += "  m: M;\n";
        }
        self.functions(&mut text);
        text
    }

    fn scalar(&mut self) -> Ty {
        let second = Ty::Scalar(if self.has_second { 'T' } else { 'S' });
        let union = if self.rich { Ty::Union } else { Ty::Scalar('S') };
        let all = [Ty::Range, Ty::Boolean, Ty::Scalar('S'), Ty::Enum, second, Ty::Signed, union];
        let ty = self.choices.pick(&all);
        self.used.insert(match ty {
            Ty::Union => "union",
            Ty::Scalar(_) => "scalarset variable",
            Ty::Enum => "enum",
            Ty::Signed => "negative range",
            _ => "plain scalar",
        });
        ty
    }

    /// Returns whether a variable of this type may be undefined.
    fn loose(&mut self, ty: Ty) -> bool {
        self.choices.chance(match ty {
            // Elements of a scalarset have names only inside loops and rules.
            Ty::Scalar(_) => return true,
            Ty::Union => 60,
            _ => 8,
        })
    }

    fn index(&mut self) -> Ty {
        let others = [Ty::Range, Ty::Boolean, Ty::Enum];
        match self.choices.chance(30) {
            true => self.choices.pick(&others),
            false => Ty::Scalar(if self.has_second && self.choices.chance(40) { 'T' } else { 'S' }),
        }
    }

    fn variable(&mut self, text: &mut String, name: &str) {
        let ty = self.scalar();
        let loose = self.loose(ty);
        if self.choices.chance(45) {
            self.used.insert("array");
            let index = self.index();
            *text += &format!("  {name}: array [{}] of {};\n", word(index), word(ty));
            let fields = vec![(String::new(), ty, loose)];
            self.arrays.push(Array { name: name.to_owned(), index, fields });
        } else {
            *text += &format!("  {name}: {};\n", word(ty));
            self.places.push(Place { text: name.to_owned(), ty, loose });
        }
    }

    /// Declares `Rec`. Returns its fields, in the form that follows a record.
    fn record(&mut self, text: &mut String) -> Vec<(String, Ty, bool)> {
        self.used.insert("record");
        let mut fields = Vec::new();
        *text += "  Rec: record";
        for at in 0..1 + self.choices.below(3) {
            let ty = self.scalar();
            let loose = self.loose(ty);
            if self.choices.chance(15) {
                self.used.insert("array in record");
                *text += &format!(" f{at}: array [boolean] of {};", word(ty));
                fields.push((format!(".f{at}[false]"), ty, loose));
                fields.push((format!(".f{at}[true]"), ty, loose));
            } else {
                *text += &format!(" f{at}: {};", word(ty));
                fields.push((format!(".f{at}"), ty, loose));
            }
        }
        *text += " end;\n";
        fields
    }

    fn record_variables(&mut self, text: &mut String, fields: &[(String, Ty, bool)]) {
        let array = self.choices.chance(40);
        if array {
            self.used.insert("array of records");
            let index = self.index();
            *text += &format!("  r: array [{}] of Rec;\n", word(index));
            self.arrays.push(Array { name: "r".into(), index, fields: fields.to_vec() });
        }
        if !array || !self.bags.is_empty() || self.choices.chance(50) {
            *text += "  q: Rec;\n";
            self.wholes.push("q".into());
            let places = fields.iter().map(|(field, ty, loose)| Place {
                text: format!("q{field}"),
                ty: *ty,
                loose: *loose,
            });
            self.places.extend(places);
        }
    }

    fn functions(&mut self, text: &mut String) {
        if self.choices.chance(25) {
            self.used.insert("function with var parameter");
            self.functions.push("change");
            *text += self.choices.pick(&[
                "function change(v: R; var w: R): R;\nvar l: R;\nbegin\n  l := w;\n  w := v;\n  if l > v then\n    return l - v;\n  end;\n  return v - l;\nend;\n",
                "function change(v: R; var w: R): R;\nbegin\n  for k: R do\n    if k = v then w := (w + k) % 3; end;\n  end;\n  return (v + w) % 3;\nend;\n",
                "function change(v: R; var w: R): R;\nvar l: R;\nbegin\n  l := v;\n  while l > 0 do\n    l := l - 1;\n    w := (w + 1) % 3;\n  end;\n  return w;\nend;\n",
            ]);
        }
        if self.choices.chance(20) {
            self.used.insert("procedure");
            self.functions.push("set");
            *text += self.choices.pick(&[
                "procedure set(var w: R; v: E);\nbegin\n  switch v\n    case e0: w := 0;\n    case e1, e2: w := 2;\n  end;\nend;\n",
                "procedure set(var w: R; v: E);\nbegin\n  if v = e1 then return; end;\n  x := w;\n  w := 1;\nend;\n",
            ]);
        }
        if self.choices.chance(20) {
            self.used.insert("function in a guard");
            self.functions.push("asks");
            *text += self.choices.pick(&[
                "function asks(v: R): boolean;\nbegin\n  return v = x | v = 2;\nend;\n",
                "function asks(v: R): boolean;\nvar l: boolean;\nbegin\n  l := exists k: R do k > v & k != x end;\n  return !l;\nend;\n",
            ]);
        }
    }

    pub(super) fn starts(&mut self) -> String {
        let several = self.choices.chance(20);
        if several {
            self.used.insert("several start states");
        }
        let mut text = String::new();
        for at in 0..1 + usize::from(several) {
            let ruleset = self.choices.chance(10);
            let lines = match ruleset {
                true => {
                    self.used.insert("start states with parameters");
                    self.with("p", Ty::Scalar('S'), |it| it.initial())
                }
                false => self.initial(),
            };
            let start = format!("startstate \"s{at}\"\n{lines}end;\n");
            text += &if ruleset { format!("ruleset p: S do\n{start}end;\n") } else { start };
        }
        text
    }

    /// Assigns a value to all variables but some that may stay undefined.
    fn initial(&mut self) -> String {
        let mut text = String::new();
        for place in self.places.clone() {
            if let Some(value) = self.first_value(place.ty, place.loose) {
                text += &format!("  {} := {value};\n", place.text);
            }
        }
        for array in self.arrays.clone() {
            let counter = format!("i_{}", array.name);
            let mut inside = String::new();
            for (field, ty, loose) in &array.fields {
                if let Some(value) = self.first_value(*ty, *loose) {
                    inside += &format!("    {}[{counter}]{field} := {value};\n", array.name);
                }
            }
            if !inside.is_empty() {
                text += &format!("  for {counter}: {} do\n{inside}  end;\n", word(array.index));
            }
        }
        if text.is_empty() { "  x := 0;\n".into() } else { text }
    }

    fn first_value(&mut self, ty: Ty, loose: bool) -> Option<String> {
        // A scalarset has no constants; there may be a parameter.
        let names = self.bound.iter().filter(|it| it.ty == ty).map(|it| it.name.clone());
        let names: Vec<String> = names.collect();
        if loose && (names.is_empty() || self.choices.chance(50)) {
            return None;
        }
        match ty {
            Ty::Scalar(_) => names.first().cloned(),
            ty => Some(self.constant(ty)),
        }
    }
}
