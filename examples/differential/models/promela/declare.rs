//! Declarations: names, macros, structures, channels, global and local variables.

use super::{Channel, ModelGenerator, Place, Ty, type_name, variable};

const SCALARS: [Ty; 9] = [
    Ty::Byte,
    Ty::Bit,
    Ty::Bool,
    Ty::Byte,
    Ty::Short,
    Ty::Int,
    Ty::Unsigned(2),
    Ty::Unsigned(3),
    Ty::Mtype,
];

impl ModelGenerator<'_> {
    pub(super) fn declarations(&mut self) -> String {
        self.names = vec!["red", "green", "blue"];
        let mut text = String::from("mtype = { red, green, blue };\n");
        if self.choices.chance(10) {
            self.constructs.insert("several mtype sets");
            self.fruits = vec!["apple", "pear"];
            text += "mtype:fruit = { apple, pear };\nmtype:fruit fruit = apple;\n";
            self.globals.push(Place { text: "fruit".into(), ty: Ty::Fruit });
        }
        if self.choices.chance(30) {
            self.constructs.insert("macro");
            text += "#define NEXT(x) ((x + 1) % 3)\n#define FLIP(x) x = 1 - x\n";
        }
        let fields = self.choices.chance(25).then(|| self.structure(&mut text));
        self.channels(&mut text);
        for at in 0..1 + self.choices.below(3) {
            self.variable(&mut text, &format!("g{at}"), false);
        }
        if let Some(fields) = fields {
            self.constructs.insert("typedef");
            let many = self.choices.chance(40);
            let places = if many { vec!["s[0]", "s[1]", "s[g0 & 1]"] } else { vec!["s"] };
            text += if many { "T s[2];\n" } else { "T s;\n" };
            for place in places {
                for (field, ty) in &fields {
                    self.globals.push(Place { text: format!("{place}.{field}"), ty: *ty });
                }
            }
        }
        self.inlines(&mut text);
        text
    }

    /// Declares a structure. Returns its fields in the form of their access.
    fn structure(&mut self, text: &mut String) -> Vec<(String, Ty)> {
        let mut fields = Vec::new();
        *text += "typedef T {";
        for at in 0..1 + self.choices.below(3) {
            let ty = self.choices.pick(&SCALARS);
            let array = self.choices.chance(25) && !matches!(ty, Ty::Unsigned(_));
            *text += &format!(" {};", declared(ty, &format!("f{at}"), array.then_some(2)));
            match array {
                true => {
                    fields.push((format!("f{at}[0]"), ty));
                    fields.push((format!("f{at}[g0 & 1]"), ty));
                }
                false => fields.push((format!("f{at}"), ty)),
            }
        }
        *text += " }\n";
        fields
    }

    /// Declares a variable with an initial value or without.
    fn variable(&mut self, text: &mut String, name: &str, local: bool) {
        let ty = self.choices.pick(&SCALARS);
        let array = self.choices.chance(15) && !matches!(ty, Ty::Unsigned(_)) && name != "g0";
        let value = self.choices.chance(30).then(|| self.constant(ty));
        let initial = value.map(|it| format!(" = {it}")).unwrap_or_default();
        *text += &format!("{}{initial};\n", declared(ty, name, array.then_some(2)));
        let places = match array {
            true => {
                self.constructs.insert("array");
                let index = self.choices.pick(&["g0 & 1", "1 - (g0 & 1)", "_pid & 1"]);
                // Where only globals are allowed, `_pid` is not available.
                let index = if local { index } else { index.replace("_pid", "g0").leak() };
                vec![format!("{name}[0]"), format!("{name}[1]"), format!("{name}[{index}]")]
            }
            false => vec![name.to_owned()],
        };
        let into = if local { &mut self.locals } else { &mut self.globals };
        into.extend(places.into_iter().map(|text| Place { text, ty }));
    }

    fn channels(&mut self, text: &mut String) {
        let count = self.choices.below(4);
        if count == 0 {
            return;
        }
        for kind in 0..1 + self.choices.below(2) {
            let mut fields = Vec::new();
            for _ in 0..1 + self.choices.weighted(&[5, 3, 1]) {
                let types = [Ty::Byte, Ty::Mtype, Ty::Bit, Ty::Bool, Ty::Short, Ty::Int, Ty::Chan];
                // Channels in messages are of the first kind, which contains no channels.
                fields.push(self.choices.pick(&types[..types.len() - usize::from(kind == 0)]));
            }
            if fields.contains(&Ty::Chan) {
                self.constructs.insert("chan in message");
            }
            self.kinds.push(fields);
        }
        for at in 0..count {
            // At least one channel is of the first kind, for variables.
            let kind = if at == 0 { 0 } else { self.choices.below(self.kinds.len()) };
            let capacity = self.choices.below(3);
            let (size, names) = match self.choices.chance(15) {
                true => {
                    self.constructs.insert("array of channels");
                    ("[2]", vec![format!("c{at}[0]"), format!("c{at}[1]")])
                }
                false => ("", vec![format!("c{at}")]),
            };
            let constructs = if capacity == 0 { "rendezvous" } else { "buffered" };
            self.constructs.insert(constructs);
            let fields: Vec<&str> = self.kinds[kind].iter().map(|ty| type_name(*ty)).collect();
            let fields = fields.join(", ");
            *text += &format!("chan c{at}{size} = [{capacity}] of {{ {fields} }};\n");
            self.channels.extend(names.into_iter().map(|text| Channel {
                text,
                kind,
                buffered: capacity > 0,
                variable: false,
            }));
        }
    }

    fn inlines(&mut self, text: &mut String) {
        if !self.choices.chance(25) {
            return;
        }
        let body = self.choices.pick(&[
            "x = (x + 1) % 3",
            "if :: x > 0 -> x-- :: else -> x = 2 fi",
            "atomic { x < 2; x++ }",
            "d_step { x = 1 - (x & 1); x = x * 2 }",
            "byte y; y = x & 1; x = y",
            "do :: x > 1 -> x = 0 :: else -> break od",
        ]);
        *text += &format!("inline change(x) {{ {body} }}\n");
        self.inlines.push(("change", 1));
    }

    pub(super) fn local_declarations(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.choices.below(3) {
            self.variable(&mut text, &format!("l{at}"), true);
        }
        if !self.channels.is_empty() && self.choices.chance(15) {
            self.constructs.insert("chan variable");
            let first = self.choices.pick(&self.first_kind());
            match self.choices.chance(50) {
                true => text += &format!("chan q = {first};\n"),
                false => text += &format!("chan q; q = {first};\n"),
            }
            self.own_channels.push(variable("q".into()));
        }
        if self.choices.chance(10)
            && let Some(channel) = self.channels.iter().find(|it| !it.text.contains('['))
        {
            self.constructs.insert("xr and xs");
            let claim = self.choices.pick(&["xr", "xs"]);
            text += &format!("{claim} {};\n", channel.text);
        }
        if self.choices.chance(12) && !self.kinds.is_empty() {
            self.constructs.insert("local channel");
            let fields: Vec<&str> = self.kinds[0].iter().map(|ty| type_name(*ty)).collect();
            text += &format!("chan own = [1] of {{ {} }};\n", fields.join(", "));
            let channel = Channel { text: "own".into(), kind: 0, buffered: true, variable: false };
            self.own_channels.push(channel);
        }
        text
    }

    /// Returns the names of the global channels of the first kind.
    pub(super) fn first_kind(&self) -> Vec<&'static str> {
        let first = self.channels.iter().filter(|it| it.kind == 0);
        first.map(|it| &*it.text.clone().leak()).collect()
    }
}

fn declared(ty: Ty, name: &str, array: Option<usize>) -> String {
    let size = array.map(|it| format!("[{it}]")).unwrap_or_default();
    let width = match ty {
        Ty::Unsigned(bits) => format!(" : {bits}"),
        _ => String::new(),
    };
    format!("{} {name}{size}{width}", type_name(ty))
}
