//! Statements of every form, and their nesting.

use super::{Around, Maker, Ty, Urgency};

/// The maximum nesting depth.
const DEPTH_MAX: usize = 3;

impl Maker<'_> {
    pub(super) fn statement(&mut self, around: Around) -> String {
        let simple = [
            34u32, // an assignment
            10,    // a condition
            12,    // a send
            14,    // a receive
            3,     // an assertion
            3,     // a message to the user
            2,     // nothing
            4,     // a jump
            3,     // leaving a loop
            3,     // an inline or a macro
            2,     // a process more
            3,     // waiting for everybody else
            2,     // a choice of a number
        ];
        let nested = [12u32, 10, 8, 6, 5, 3, 2];
        let weights: Vec<u32> = match around.depth < DEPTH_MAX {
            true => simple.iter().chain(&nested).copied().collect(),
            false => simple.to_vec(),
        };
        let chosen = self.choices.weighted(&weights);
        match chosen {
            0 => self.assignment(),
            1 if around.urgency != Urgency::DStep => self.condition_statement(),
            2 => self.send(around.urgency).unwrap_or_else(|| self.assignment()),
            3 => self.receive(around.urgency).unwrap_or_else(|| self.assignment()),
            4 => {
                self.used.insert("assert");
                format!("assert({})", self.condition(1))
            }
            5 => {
                self.used.insert("printf");
                format!("printf(\"%d\\n\", {})", self.place().text)
            }
            6 => self.choices.pick(&["skip", "true", "1"]).into(),
            7 => self.jump(around),
            8 if around.in_loop => {
                self.used.insert("break");
                "break".into()
            }
            9 => self.shorthand(around),
            10 if around.urgency != Urgency::DStep => self.spawn(),
            11 if around.urgency != Urgency::DStep => {
                self.used.insert("timeout");
                "timeout".into()
            }
            12 => self.select(around),
            13 => self.alternatives(around),
            14 => self.repetition(around),
            15 => self.atomic(around),
            16 if around.urgency == Urgency::None => self.d_step(around),
            17 if around.urgency != Urgency::DStep => self.unless(around),
            18 => self.counted(),
            19 => {
                self.used.insert("block");
                format!("{{ {} }}", self.sequence(around, 3))
            }
            _ => self.assignment(),
        }
    }

    fn condition_statement(&mut self) -> String {
        let condition = self.condition(1);
        match self.choices.chance(60) {
            true => format!("({condition})"),
            false => condition,
        }
    }

    fn assignment(&mut self) -> String {
        let place = self.place();
        match place.ty {
            Ty::Byte | Ty::Short | Ty::Int | Ty::Unsigned(_) if self.choices.chance(12) => {
                self.used.insert("++ and --");
                format!("{}{}", place.text, self.choices.pick(&["++", "--"]))
            }
            ty => format!("{} = {}", place.text, self.value(ty)),
        }
    }

    /// Returns a few statements, one after another.
    pub(super) fn sequence(&mut self, around: Around, most: usize) -> String {
        let inside = Around { depth: around.depth + 1, ..around };
        let mut lines = Vec::new();
        for number in 0..1 + self.choices.below(most) {
            let statement = self.statement(inside);
            // A backward jump inside an atomic sequence would not end, so no label comes first.
            match around.urgency == Urgency::None && number > 0 && self.choices.chance(6) {
                true if !statement.starts_with("goto") => {
                    self.fresh += 1;
                    let label = format!("M{}", self.fresh);
                    lines.push(format!("{label}: {statement}"));
                    self.inner.push(label);
                    self.used.insert("inner label");
                }
                _ => lines.push(statement),
            }
        }
        lines.join(self.choices.pick(&["; ", " -> "]))
    }

    /// Returns a jump to a label; out of an atomic sequence only forward.
    fn jump(&mut self, around: Around) -> String {
        if around.urgency == Urgency::DStep {
            return self.assignment();
        }
        let ahead = around.urgency == Urgency::Atomic;
        let tops = self.labels.iter().filter(|(top, _)| !ahead || *top > around.top);
        let mut targets: Vec<String> = tops.map(|(_, label)| label.clone()).collect();
        if !ahead {
            targets.extend(self.inner.iter().cloned());
        }
        if targets.is_empty() {
            return self.assignment();
        }
        self.used.insert("goto");
        format!("goto {}", targets[self.choices.below(targets.len())])
    }

    fn shorthand(&mut self, around: Around) -> String {
        let numbers = |ty| matches!(ty, Ty::Byte | Ty::Short | Ty::Int);
        let place = self.places().into_iter().find(|it| numbers(it.ty));
        match (place, self.inlines.is_empty()) {
            // The context of an inline's body is unknown, so its statements may not be allowed in a deterministic
            // step.
            (Some(place), false) if around.urgency == Urgency::None => {
                self.used.insert("inline");
                format!("change({})", place.text)
            }
            (Some(place), _) if self.used.contains("macro") => match self.choices.chance(50) {
                true => format!("{} = NEXT({0})", place.text),
                false => format!("FLIP({})", place.text),
            },
            _ => self.assignment(),
        }
    }

    /// Starts another process while there are few.
    fn spawn(&mut self) -> String {
        let at = self.choices.below(self.processes.len());
        let run = self.run(at);
        match self.choices.below(2) {
            0 => format!("if :: _nr_pr < 4 -> {run} :: else fi"),
            _ => format!("atomic {{ _nr_pr < 4 -> {run} }}"),
        }
    }

    /// Builds a `run` with parameters.
    pub(super) fn run(&mut self, at: usize) -> String {
        self.used.insert("run");
        let mut arguments = Vec::new();
        for ty in self.processes[at].parameters.clone() {
            self.used.insert("parameter");
            arguments.push(match ty {
                Ty::Chan => {
                    let first = self.first_kind();
                    // Without channels the parameter is unused.
                    match first.is_empty() {
                        true => "0".into(),
                        false => {
                            self.used.insert("channel argument");
                            self.choices.pick(&first).into()
                        }
                    }
                }
                ty => self.constant(ty),
            });
        }
        format!("run {}({})", self.processes[at].name, arguments.join(", "))
    }

    fn select(&mut self, around: Around) -> String {
        let mut places = self.places().into_iter().filter(|it| {
            matches!(it.ty, Ty::Byte | Ty::Short | Ty::Int) && !it.text.contains(['[', '.'])
        });
        let Some(place) = places.next_back() else { return self.assignment() };
        if around.urgency == Urgency::DStep {
            return self.assignment();
        }
        self.used.insert("select");
        format!("select({} : 0 .. {})", place.text, 1 + self.choices.below(2))
    }

    /// Returns the options of an `if` or a `do`; the last may be `else`.
    fn options(&mut self, around: Around, enough: bool) -> String {
        let mut text = String::new();
        let mut conditions_only = true;
        for _ in 0..1 + self.choices.below(3) {
            let guard = match around.urgency {
                Urgency::DStep => self.condition(1),
                _ => match self.choices.weighted(&[10, 4, 4, 5, 2]) {
                    0 => self.condition(1),
                    1 => self.send(around.urgency).unwrap_or_else(|| self.condition(0)),
                    2 => self.receive(around.urgency).unwrap_or_else(|| self.condition(0)),
                    4 => {
                        self.used.insert("timeout");
                        "timeout".into()
                    }
                    _ => {
                        let deeper = Around { depth: around.depth + 1, ..around };
                        self.statement(deeper)
                    }
                },
            };
            conditions_only &= !guard.contains(['!', '?', '{']) || guard.contains("!=");
            match self.choices.chance(70) {
                true => {
                    text += &format!(" :: {guard} -> {}", self.sequence(around, 2));
                }
                false => text += &format!(" :: {guard}"),
            }
        }
        let beside_messages = !conditions_only && self.choices.chance(30);
        if enough || self.choices.chance(40) && (conditions_only || beside_messages) {
            self.used.insert(if conditions_only { "else" } else { "else beside messages" });
            let sequence = match self.choices.chance(50) {
                true if around.in_loop => "break".into(),
                _ => self.sequence(around, 1),
            };
            text += &format!(" :: else -> {sequence}");
        }
        text
    }

    fn alternatives(&mut self, around: Around) -> String {
        self.used.insert("if");
        let enough = around.urgency == Urgency::DStep;
        format!("if{} fi", self.options(around, enough))
    }

    fn repetition(&mut self, around: Around) -> String {
        if around.urgency != Urgency::None {
            return self.alternatives(around);
        }
        self.used.insert("do");
        let inside = Around { in_loop: true, ..around };
        format!("do{} od", self.options(inside, false))
    }

    fn atomic(&mut self, around: Around) -> String {
        if around.urgency == Urgency::DStep {
            return self.assignment();
        }
        self.used.insert("atomic");
        let inside = Around { urgency: Urgency::Atomic, ..around };
        format!("atomic {{ {} }}", self.sequence(inside, 4))
    }

    /// Returns a deterministic step that begins with a condition or an assignment, and rarely blocks.
    fn d_step(&mut self, around: Around) -> String {
        self.used.insert("d_step");
        let inside = Around { urgency: Urgency::DStep, in_loop: false, ..around };
        let first = match self.choices.below(3) {
            0 => format!("({})", self.condition(1)),
            1 => self.receive(Urgency::DStep).unwrap_or_else(|| self.assignment()),
            _ => self.assignment(),
        };
        let mut lines = vec![first];
        for _ in 0..self.choices.below(3) {
            lines.push(match self.choices.below(4) {
                0 => self.alternatives(Around { depth: around.depth + 1, ..inside }),
                1 => self.counted(),
                2 if self.choices.chance(30) => {
                    self.send(Urgency::DStep).unwrap_or_else(|| self.assignment())
                }
                _ => self.assignment(),
            });
        }
        format!("d_step {{ {} }}", lines.join("; "))
    }

    fn unless(&mut self, around: Around) -> String {
        self.used.insert("unless");
        let inside = Around { in_loop: false, ..around };
        let main = self.sequence(inside, 3);
        let guard = match self.choices.below(3) {
            0 => self.receive(around.urgency).unwrap_or_else(|| self.condition(1)),
            _ => self.condition(1),
        };
        let escape = match self.choices.chance(60) {
            true => format!("{guard} -> {}", self.sequence(inside, 1)),
            false => guard,
        };
        format!("{{ {main} }} unless {{ {escape} }}")
    }

    /// Returns a counted loop over numbers.
    fn counted(&mut self) -> String {
        let mut places = self.places().into_iter().filter(|it| {
            matches!(it.ty, Ty::Byte | Ty::Short | Ty::Int) && !it.text.contains(['[', '.'])
        });
        let Some(place) = places.next_back() else { return self.assignment() };
        let assigned = self.place();
        if assigned.text.contains(&place.text) || assigned.ty == place.ty {
            return self.assignment();
        }
        self.used.insert("for");
        let value = self.value(assigned.ty);
        format!("for ({} : 0 .. 1) {{ {} = {value} }}", place.text, assigned.text)
    }
}
