//! Random models in Promela: a few processes that share small variables and channels.
//!
//! SPIN should accept the generated models, and they should end. So numbers stay small, indices stay within their
//! arrays, divisors are constants, and loops inside `atomic` and `d_step` are counted. Some constructs always reach a
//! difference that `docs/reference/languages.md` explains. These are omitted: messages into narrower variables, queries
//! about the length of a rendezvous channel, channel variables without a channel.

mod declare;
mod exprs;
mod messages;
mod stmts;

use super::choices::Choices;
use std::collections::BTreeSet;

/// A basic type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ty {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned(u32),
    Mtype,
    /// The second set of names.
    Fruit,
    /// A channel of the first kind.
    Chan,
}

/// A place that can be assigned.
#[derive(Clone)]
struct Place {
    text: String,
    ty: Ty,
}

/// A channel, or an element of an array of them.
#[derive(Clone)]
struct Channel {
    text: String,
    /// The number of its kind of messages.
    kind: usize,
    /// Whether it is buffered.
    buffered: bool,
    /// Whether it is a variable, which may denote an unbuffered channel.
    variable: bool,
}

/// A process type.
struct Process {
    name: String,
    /// The number of initial instances.
    active: usize,
    /// The parameters that `run` passes.
    parameters: Vec<Ty>,
    /// Labels that other processes can query.
    labels: Vec<String>,
    /// A local variable that other processes can query.
    local: Option<String>,
}

/// The context of a statement.
#[derive(Clone, Copy)]
struct StatementContext {
    /// The nesting depth.
    depth: usize,
    /// The kind of the enclosing atomic sequence, if there is one.
    urgency: Urgency,
    /// Whether a loop can be left here.
    in_loop: bool,
    /// The number of the top-level statement of the process that contains it.
    top: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Urgency {
    None,
    Atomic,
    DStep,
}

/// Builds one model.
pub struct ModelGenerator<'a> {
    choices: Choices<'a>,
    constructs: BTreeSet<&'static str>,
    names: Vec<&'static str>,
    fruits: Vec<&'static str>,
    globals: Vec<Place>,
    locals: Vec<Place>,
    /// The field types of each kind of messages.
    kinds: Vec<Vec<Ty>>,
    channels: Vec<Channel>,
    own_channels: Vec<Channel>,
    processes: Vec<Process>,
    /// The current process.
    current: Option<usize>,
    inlines: Vec<(&'static str, usize)>,
    /// Labels before top-level statements of this process, by the number of the statement.
    labels: Vec<(usize, String)>,
    /// Earlier labels of nested statements.
    inner: Vec<String>,
    fresh: usize,
}

/// Builds a model from these numbers. Returns it with its constructs.
pub fn make(numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
    let mut generator = ModelGenerator {
        choices: Choices::new(numbers),
        constructs: BTreeSet::new(),
        names: Vec::new(),
        fruits: Vec::new(),
        globals: Vec::new(),
        locals: Vec::new(),
        kinds: Vec::new(),
        channels: Vec::new(),
        own_channels: Vec::new(),
        processes: Vec::new(),
        current: None,
        inlines: Vec::new(),
        labels: Vec::new(),
        inner: Vec::new(),
        fresh: 0,
    };
    let text = generator.model();
    (text, generator.constructs)
}

impl ModelGenerator<'_> {
    fn model(&mut self) -> String {
        let mut text = self.declarations();
        let count = 1 + self.choices.below(3);
        for at in 0..count {
            let process = self.header(at);
            self.processes.push(process);
        }
        for at in 0..count {
            self.current = Some(at);
            text += &self.process(at);
        }
        self.current = None;
        if self.processes.iter().any(|it| it.active == 0) || self.choices.chance(10) {
            text += &self.init();
        }
        if self.choices.chance(8) {
            text += &self.claim();
        }
        text
    }

    fn header(&mut self, at: usize) -> Process {
        let name = format!("P{at}");
        let run = at > 0 && self.choices.chance(30);
        let active = if run { 0 } else { 1 + self.choices.weighted(&[5, 3]) };
        let mut parameters = Vec::new();
        if run {
            for _ in 0..self.choices.below(3) {
                let types = [Ty::Byte, Ty::Bit, Ty::Chan, Ty::Chan, Ty::Int];
                parameters.push(self.choices.pick(&types));
            }
        }
        Process { name, active, parameters, labels: Vec::new(), local: None }
    }

    fn process(&mut self, at: usize) -> String {
        self.locals.clear();
        self.own_channels.clear();
        self.labels.clear();
        self.inner.clear();
        let active = self.processes[at].active;
        let parameters = self.processes[at].parameters.clone();
        let mut text = match active {
            0 => "proctype ".to_owned(),
            1 => "active proctype ".to_owned(),
            many => format!("active [{many}] proctype "),
        };
        let mut listed = Vec::new();
        for (number, ty) in parameters.into_iter().enumerate() {
            let name = format!("a{number}");
            listed.push(format!("{} {name}", type_name(ty)));
            match ty {
                Ty::Chan => self.own_channels.push(variable(name)),
                ty => self.locals.push(Place { text: name, ty }),
            }
        }
        text += &format!("P{at}({})", listed.join("; "));
        // Priorities and rendezvous cannot be combined.
        let buffered = self.channels.iter().all(|it| it.buffered);
        if active > 0 && buffered && self.choices.chance(6) {
            self.constructs.insert("priority");
            text += &format!(" priority {}", 1 + self.choices.below(3));
        }
        if self.choices.chance(4) {
            self.constructs.insert("provided");
            text += &format!(" provided ({})", self.global_condition());
        }
        text += " {\n";
        text += &self.local_declarations();
        if let Some(place) = self.locals.iter().find(|it| !it.text.contains(['[', '.'])) {
            self.processes[at].local = Some(place.text.clone());
        }
        text += &self.body(at);
        text + "}\n"
    }

    /// Returns the statements of a process, some of them with labels.
    fn body(&mut self, at: usize) -> String {
        let count = 1 + self.choices.below(5);
        for number in 0..count {
            if self.choices.chance(25) {
                let sort = ["L", "L", "L", "end", "progress"][self.choices.below(5)];
                self.labels.push((number, format!("{sort}{number}")));
            }
        }
        self.processes[at].labels = self.labels.iter().map(|(_, label)| label.clone()).collect();
        let mut text = String::new();
        for number in 0..count {
            let context =
                StatementContext { depth: 0, urgency: Urgency::None, in_loop: false, top: number };
            let label = self.labels.iter().find(|(top, _)| *top == number);
            let label = label.map(|(_, label)| label.clone());
            let mut statement = self.statement(context);
            if let Some(label) = label {
                self.constructs.insert("label");
                text += &format!("{label}: ");
                // SPIN has no steps for a cycle of jumps only.
                if statement.starts_with("goto") {
                    statement = format!("skip; {statement}");
                }
            }
            text += &format!("  {statement};\n");
        }
        text
    }

    fn init(&mut self) -> String {
        self.locals.clear();
        self.own_channels.clear();
        self.labels.clear();
        self.inner.clear();
        self.constructs.insert("init");
        let mut lines = Vec::new();
        for at in 0..self.processes.len() {
            for _ in 0..usize::from(self.processes[at].active == 0) + self.choices.below(2) {
                lines.push(self.run(at));
            }
        }
        let alone = self.choices.chance(50);
        let urgency = if alone { Urgency::Atomic } else { Urgency::None };
        if self.choices.chance(40) {
            lines.push(self.statement(StatementContext {
                depth: 1,
                urgency,
                in_loop: false,
                top: 0,
            }));
        }
        if lines.is_empty() {
            lines.push("skip".into());
        }
        match alone {
            true => format!("init {{ atomic {{ {} }} }}\n", lines.join("; ")),
            false => format!("init {{ {} }}\n", lines.join("; ")),
        }
    }

    /// Returns a never claim that reads global variables.
    fn claim(&mut self) -> String {
        self.constructs.insert("never");
        self.locals.clear();
        self.own_channels.clear();
        let [one, two, three] = [(); 3].map(|()| self.claim_condition());
        match self.choices.below(3) {
            0 => format!("never {{ do :: ({one}) -> break :: true od; ({two}) }}\n"),
            1 => format!(
                "never {{ T0: do :: ({one}) -> goto T1 :: true od;\n  T1: if :: ({two}) -> goto T0 :: ({three}) fi }}\n"
            ),
            _ => format!("never {{ do :: assert(!({one}) || {two}) od }}\n"),
        }
    }
}

/// Returns a channel variable of the first kind.
fn variable(text: String) -> Channel {
    Channel { text, kind: 0, buffered: false, variable: true }
}

/// Returns the type in a declaration; the width of an `unsigned` follows the name.
fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bit => "bit",
        Ty::Bool => "bool",
        Ty::Byte => "byte",
        Ty::Short => "short",
        Ty::Int => "int",
        Ty::Unsigned(_) => "unsigned",
        Ty::Mtype => "mtype",
        Ty::Fruit => "mtype:fruit",
        Ty::Chan => "chan",
    }
}
