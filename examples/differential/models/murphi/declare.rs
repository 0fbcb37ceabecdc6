//! Declarations of types, variables and functions, and start states, which assign a value to each variable.

use super::{Array, ModelGenerator, Multiset, Place, Ty, type_name};

impl ModelGenerator<'_> {
    pub(super) fn declarations(&mut self) -> String {
        self.sizes = (2 + self.choices.below(2), 2);
        self.has_second = self.choices.chance(15);
        let mut text = format!("const N: {};\ntype\n  S: scalarset(N);\n", self.sizes.0);
        if self.has_second {
            self.constructs.insert("two scalarsets");
            text += "  T: scalarset(2);\n";
        }
        text += "  R: 0..2;\n  W: -1..1;\n  E: enum {e0, e1, e2};\n";
        if self.has_all_constructs {
            text += "  U: union {S, E};\n";
        }
        self.has_records = self.choices.chance(40);
        let fields = if self.has_records { self.record(&mut text) } else { Vec::new() };
        let multiset = self.has_all_constructs && self.choices.chance(60);
        if multiset {
            self.constructs.insert("multiset");
            self.multisets.push(Multiset { records: self.has_records });
            let element = if self.has_records { "Rec" } else { "R" };
            text += &format!("  M: multiset [2] of {element};\n");
        }
        text += "var\n  x: R;\n";
        self.places.push(Place { text: "x".into(), ty: Ty::Range, may_be_undefined: false });
        for at in 0..2 + self.choices.below(3) {
            self.variable(&mut text, &format!("v{at}"));
        }
        if self.has_records {
            self.record_variables(&mut text, &fields);
        }
        if multiset {
            text += "  m: M;\n";
        }
        self.functions(&mut text);
        text
    }

    fn scalar(&mut self) -> Ty {
        let second = Ty::Scalar(if self.has_second { 'T' } else { 'S' });
        let union = if self.has_all_constructs { Ty::Union } else { Ty::Scalar('S') };
        let all = [Ty::Range, Ty::Boolean, Ty::Scalar('S'), Ty::Enum, second, Ty::Signed, union];
        let ty = self.choices.pick(&all);
        self.constructs.insert(match ty {
            Ty::Union => "union",
            Ty::Scalar(_) => "scalarset variable",
            Ty::Enum => "enum",
            Ty::Signed => "negative range",
            _ => "plain scalar",
        });
        ty
    }

    /// Returns whether a variable of this type may be undefined.
    fn may_be_undefined(&mut self, ty: Ty) -> bool {
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
        let may_be_undefined = self.may_be_undefined(ty);
        if self.choices.chance(45) {
            self.constructs.insert("array");
            let index = self.index();
            *text += &format!("  {name}: array [{}] of {};\n", type_name(index), type_name(ty));
            let fields = vec![(String::new(), ty, may_be_undefined)];
            self.arrays.push(Array { name: name.to_owned(), index, fields });
        } else {
            *text += &format!("  {name}: {};\n", type_name(ty));
            self.places.push(Place { text: name.to_owned(), ty, may_be_undefined });
        }
    }

    /// Declares `Rec`. Returns its fields, in the form that follows a record.
    fn record(&mut self, text: &mut String) -> Vec<(String, Ty, bool)> {
        self.constructs.insert("record");
        let mut fields = Vec::new();
        *text += "  Rec: record";
        for at in 0..1 + self.choices.below(3) {
            let ty = self.scalar();
            let may_be_undefined = self.may_be_undefined(ty);
            if self.choices.chance(15) {
                self.constructs.insert("array in record");
                *text += &format!(" f{at}: array [boolean] of {};", type_name(ty));
                fields.push((format!(".f{at}[false]"), ty, may_be_undefined));
                fields.push((format!(".f{at}[true]"), ty, may_be_undefined));
            } else {
                *text += &format!(" f{at}: {};", type_name(ty));
                fields.push((format!(".f{at}"), ty, may_be_undefined));
            }
        }
        *text += " end;\n";
        fields
    }

    fn record_variables(&mut self, text: &mut String, fields: &[(String, Ty, bool)]) {
        let array = self.choices.chance(40);
        if array {
            self.constructs.insert("array of records");
            let index = self.index();
            *text += &format!("  r: array [{}] of Rec;\n", type_name(index));
            self.arrays.push(Array { name: "r".into(), index, fields: fields.to_vec() });
        }
        if !array || !self.multisets.is_empty() || self.choices.chance(50) {
            *text += "  q: Rec;\n";
            self.record_names.push("q".into());
            let places = fields.iter().map(|(field, ty, may_be_undefined)| Place {
                text: format!("q{field}"),
                ty: *ty,
                may_be_undefined: *may_be_undefined,
            });
            self.places.extend(places);
        }
    }

    fn functions(&mut self, text: &mut String) {
        if self.choices.chance(25) {
            self.constructs.insert("function with var parameter");
            self.functions.push("change");
            *text += self.choices.pick(&[
                "function change(v: R; var w: R): R;\nvar l: R;\nbegin\n  l := w;\n  w := v;\n  if l > v then\n    return l - v;\n  end;\n  return v - l;\nend;\n",
                "function change(v: R; var w: R): R;\nbegin\n  for k: R do\n    if k = v then w := (w + k) % 3; end;\n  end;\n  return (v + w) % 3;\nend;\n",
                "function change(v: R; var w: R): R;\nvar l: R;\nbegin\n  l := v;\n  while l > 0 do\n    l := l - 1;\n    w := (w + 1) % 3;\n  end;\n  return w;\nend;\n",
            ]);
        }
        if self.choices.chance(20) {
            self.constructs.insert("procedure");
            self.functions.push("set");
            *text += self.choices.pick(&[
                "procedure set(var w: R; v: E);\nbegin\n  switch v\n    case e0: w := 0;\n    case e1, e2: w := 2;\n  end;\nend;\n",
                "procedure set(var w: R; v: E);\nbegin\n  if v = e1 then return; end;\n  x := w;\n  w := 1;\nend;\n",
            ]);
        }
        if self.choices.chance(20) {
            self.constructs.insert("function in a guard");
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
            self.constructs.insert("several start states");
        }
        let mut text = String::new();
        for at in 0..1 + usize::from(several) {
            let ruleset = self.choices.chance(10);
            let lines = match ruleset {
                true => {
                    self.constructs.insert("start states with parameters");
                    self.with("p", Ty::Scalar('S'), |it| it.initial())
                }
                false => self.initial(),
            };
            let start = format!("startstate \"s{at}\"\n{lines}end;\n");
            text += &if ruleset { format!("ruleset p: S do\n{start}end;\n") } else { start };
        }
        text
    }

    /// Assigns a value to all variables except some that may stay undefined.
    fn initial(&mut self) -> String {
        let mut text = String::new();
        for place in self.places.clone() {
            if let Some(value) = self.first_value(place.ty, place.may_be_undefined) {
                text += &format!("  {} := {value};\n", place.text);
            }
        }
        for array in self.arrays.clone() {
            let counter = format!("i_{}", array.name);
            let mut content = String::new();
            for (field, ty, may_be_undefined) in &array.fields {
                if let Some(value) = self.first_value(*ty, *may_be_undefined) {
                    content += &format!("    {}[{counter}]{field} := {value};\n", array.name);
                }
            }
            if !content.is_empty() {
                text +=
                    &format!("  for {counter}: {} do\n{content}  end;\n", type_name(array.index));
            }
        }
        if text.is_empty() { "  x := 0;\n".into() } else { text }
    }

    fn first_value(&mut self, ty: Ty, may_be_undefined: bool) -> Option<String> {
        // A scalarset has no constants; there may be a parameter.
        let names = self.bound.iter().filter(|it| it.ty == ty).map(|it| it.name.clone());
        let names: Vec<String> = names.collect();
        if may_be_undefined && (names.is_empty() || self.choices.chance(50)) {
            return None;
        }
        match ty {
            Ty::Scalar(_) => names.first().cloned(),
            ty => Some(self.constant(ty)),
        }
    }
}
