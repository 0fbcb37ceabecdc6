//! Random models in DVE: processes that share variables and channels of every kind.
//!
//! There is no reference tool: only Spillway's searches are compared.

use super::choices::Choices;
use std::collections::BTreeSet;

/// A channel: the number of values of a message, and whether it is buffered.
#[derive(Clone, Copy)]
struct Channel {
    values: usize,
    buffered: bool,
}

/// Builds one model.
struct ModelGenerator<'a> {
    choices: Choices<'a>,
    constructs: BTreeSet<&'static str>,
    /// Variables, in the form in which they are read and assigned.
    globals: Vec<String>,
    locals: Vec<String>,
    channels: Vec<Channel>,
    /// The number of states of each process.
    sizes: Vec<usize>,
}

/// Builds a model from these numbers. Returns it with its constructs.
pub fn make(numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
    let mut generator = ModelGenerator {
        choices: Choices::new(numbers),
        constructs: BTreeSet::new(),
        globals: Vec::new(),
        locals: Vec::new(),
        channels: Vec::new(),
        sizes: Vec::new(),
    };
    let text = generator.model();
    (text, generator.constructs)
}

impl ModelGenerator<'_> {
    fn model(&mut self) -> String {
        let is_synchronous = self.choices.chance(8);
        let mut text = self.declarations(is_synchronous);
        let count = 2 + self.choices.below(2);
        for _ in 0..count {
            let size = 2 + self.choices.below(3);
            self.sizes.push(size);
        }
        for at in 0..count {
            text += &self.process(at);
        }
        if is_synchronous {
            self.constructs.insert("lockstep");
        }
        text + if is_synchronous { "system sync;\n" } else { "system async;\n" }
    }

    fn declarations(&mut self, is_synchronous: bool) -> String {
        let mut text = String::from("const byte N = 2;\nbyte g = 0;\n");
        self.globals.push("g".into());
        for at in 0..self.choices.below(3) {
            let ty = self.choices.pick(&["byte", "int"]);
            match self.choices.chance(40) {
                true => {
                    self.constructs.insert("array");
                    text += &format!("{ty} v{at}[N] = {{0, {}}};\n", self.choices.below(3));
                    for index in ["0", "1", "g % 2"] {
                        self.globals.push(format!("v{at}[{index}]"));
                    }
                }
                false => {
                    text += &format!("{ty} v{at} = {};\n", self.choices.below(3));
                    self.globals.push(format!("v{at}"));
                }
            }
        }
        for at in 0..if is_synchronous { 0 } else { self.choices.below(4) } {
            let values = self.choices.below(3);
            let buffered = values > 0 && self.choices.chance(40);
            let types = ["byte", "int"];
            let fields: Vec<&str> = (0..values).map(|_| self.choices.pick(&types)).collect();
            let (form, declared) = match (buffered, values > 0 && self.choices.chance(50)) {
                (true, _) => {
                    let capacity = 1 + self.choices.below(2);
                    ("buffered", format!("channel {{{}}} c{at}[{capacity}];\n", fields.join(", ")))
                }
                (false, true) => {
                    ("typed rendezvous", format!("channel {{{}}} c{at}[0];\n", fields.join(", ")))
                }
                (false, false) => ("rendezvous", format!("channel c{at};\n")),
            };
            self.constructs.insert(form);
            text += &declared;
            // A rendezvous without types passes at most one value.
            let values = if form == "rendezvous" { values.min(1) } else { values };
            self.channels.push(Channel { values, buffered });
        }
        text
    }

    fn process(&mut self, at: usize) -> String {
        self.locals.clear();
        let mut text = format!("process P{at} {{\n");
        for number in 0..self.choices.below(3) {
            let ty = self.choices.pick(&["byte", "int"]);
            text += &format!("{ty} l{number} = {};\n", self.choices.below(2));
            self.locals.push(format!("l{number}"));
        }
        let size = self.sizes[at];
        let states: Vec<String> = (0..size).map(|state| format!("s{state}")).collect();
        text += &format!("state {};\n", states.join(", "));
        if self.choices.chance(25) {
            self.constructs.insert("commit");
            text += &format!("commit s{};\n", self.choices.below(size));
        }
        text += "init s0;\n";
        if self.choices.chance(20) {
            self.constructs.insert("assert");
            let condition = self.condition(1);
            text += &format!("assert s{}: {condition};\n", self.choices.below(size));
        }
        let mut lines = Vec::new();
        for number in 0..size + self.choices.below(4) {
            // Each state has an outgoing transition.
            let from = if number < size { number } else { self.choices.below(size) };
            let to = self.choices.below(size);
            let body = self.transition_body();
            lines.push(format!("    s{from} -> s{to} {{{body} }}"));
        }
        text + "trans\n" + &lines.join(",\n") + ";\n}\n"
    }

    fn transition_body(&mut self) -> String {
        let mut text = String::new();
        if self.choices.chance(35) {
            self.constructs.insert("guard");
            text += &format!(" guard {};", self.condition(1));
        }
        if !self.channels.is_empty() && self.choices.chance(30) {
            text += &self.sync();
        }
        if self.choices.chance(65) {
            self.constructs.insert("effect");
            let effects: Vec<String> =
                (0..1 + self.choices.below(3)).map(|_| self.effect()).collect();
            text += &format!(" effect {};", effects.join(", "));
        }
        text
    }

    fn sync(&mut self) -> String {
        let at = self.choices.below(self.channels.len());
        let Channel { values, buffered } = self.channels[at];
        let sends = self.choices.chance(50);
        self.constructs.insert(match (sends, buffered) {
            (true, true) => "send",
            (false, true) => "receive",
            (true, false) => "send by rendezvous",
            (false, false) => "receive by rendezvous",
        });
        let listed: Vec<String> =
            (0..values).map(|_| if sends { self.value() } else { self.target() }).collect();
        let listed = match listed.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            many => format!("{{{}}}", many.join(", ")),
        };
        format!(" sync c{at}{}{listed};", if sends { "!" } else { "?" })
    }

    fn target(&mut self) -> String {
        let all: Vec<&String> = self.globals.iter().chain(&self.locals).collect();
        all[self.choices.below(all.len())].clone()
    }

    fn effect(&mut self) -> String {
        let target = self.target();
        let value = match self.choices.below(12) {
            // Some values may be out of the type's range.
            0 => format!("{target} - 1"),
            _ => self.value(),
        };
        format!("{target} = {value}")
    }

    fn value(&mut self) -> String {
        let target = self.target();
        match self.choices.below(9) {
            0..=2 => self.choices.below(3).to_string(),
            3 => format!("({target} + 1) % 3"),
            4 => format!("1 - ({target} & 1)"),
            5 => format!("({target} ^ 1) & 3"),
            6 => format!("({target} << 1) % 3"),
            7 => format!("({})", self.condition(0)),
            _ => target,
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let target = self.target();
        match self.choices.weighted(&[30, 12, 10, 10, 8, 6, 4]) {
            0 => format!("{target} == {}", self.choices.below(3)),
            1 => format!("{target} != {}", self.choices.below(3)),
            2 => format!("{target} < {}", self.choices.between(1, 3)),
            3 => {
                self.constructs.insert("state of a process");
                let at = self.choices.below(self.sizes.len());
                format!("P{at}.s{}", self.choices.below(self.sizes[at]))
            }
            4 if depth > 0 => {
                let [one, other] = [self.condition(depth - 1), self.condition(depth - 1)];
                let operator = self.choices.pick(&["and", "or", "imply", "&&", "||"]);
                format!("({one}) {operator} ({other})")
            }
            5 if depth > 0 => format!("not ({})", self.condition(depth - 1)),
            _ => format!("{target} >= {}", self.target()),
        }
    }
}
