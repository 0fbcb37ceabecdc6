//! Statements of every form, and their nesting.

use super::{ModelGenerator, StatementContext, Ty, Urgency};

/// The maximum nesting depth.
const DEPTH_MAX: usize = 3;

impl ModelGenerator<'_> {
    pub(super) fn statement(&mut self, context: StatementContext) -> String {
        let simple = [
            34u32, // an assignment
            10,    // a condition
            12,    // a send
            14,    // a receive
            3,     // an assertion
            3,     // a message to the user
            2,     // a statement without effect
            4,     // a jump
            3,     // an exit from a loop
            3,     // an inline or a macro
            2,     // another process
            3,     // a wait for all other processes
            2,     // a choice of a number
        ];
        let nested = [12u32, 10, 8, 6, 5, 3, 2];
        let weights: Vec<u32> = match context.depth < DEPTH_MAX {
            true => simple.iter().chain(&nested).copied().collect(),
            false => simple.to_vec(),
        };
        let chosen = self.choices.weighted(&weights);
        match chosen {
            0 => self.assignment(),
            1 if context.urgency != Urgency::DStep => self.condition_statement(),
            2 => self.send(context.urgency).unwrap_or_else(|| self.assignment()),
            3 => self.receive(context.urgency).unwrap_or_else(|| self.assignment()),
            4 => {
                self.constructs.insert("assert");
                format!("assert({})", self.condition(1))
            }
            5 => {
                self.constructs.insert("printf");
                format!("printf(\"%d\\n\", {})", self.place().text)
            }
            6 => self.choices.pick(&["skip", "true", "1"]).into(),
            7 => self.jump(context),
            8 if context.in_loop => {
                self.constructs.insert("break");
                "break".into()
            }
            9 => self.shorthand(context),
            10 if context.urgency != Urgency::DStep => self.bounded_run(),
            11 if context.urgency != Urgency::DStep => {
                self.constructs.insert("timeout");
                "timeout".into()
            }
            12 => self.select(context),
            13 => self.alternatives(context),
            14 => self.repetition(context),
            15 => self.atomic(context),
            16 if context.urgency == Urgency::None => self.d_step(context),
            17 if context.urgency != Urgency::DStep => self.unless(context),
            18 => self.counted(),
            19 => {
                self.constructs.insert("block");
                format!("{{ {} }}", self.sequence(context, 3))
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
                self.constructs.insert("++ and --");
                format!("{}{}", place.text, self.choices.pick(&["++", "--"]))
            }
            ty => format!("{} = {}", place.text, self.value(ty)),
        }
    }

    /// Returns a few statements, one after another.
    pub(super) fn sequence(&mut self, context: StatementContext, most: usize) -> String {
        let inside = StatementContext { depth: context.depth + 1, ..context };
        let mut lines = Vec::new();
        for number in 0..1 + self.choices.below(most) {
            let statement = self.statement(inside);
            // A backward jump inside an atomic sequence might not end, so the label is not the first.
            match context.urgency == Urgency::None && number > 0 && self.choices.chance(6) {
                true if !statement.starts_with("goto") => {
                    self.fresh += 1;
                    let label = format!("M{}", self.fresh);
                    lines.push(format!("{label}: {statement}"));
                    self.inner.push(label);
                    self.constructs.insert("inner label");
                }
                _ => lines.push(statement),
            }
        }
        lines.join(self.choices.pick(&["; ", " -> "]))
    }

    /// Returns a jump to a label. A jump out of an atomic sequence is forward.
    fn jump(&mut self, context: StatementContext) -> String {
        if context.urgency == Urgency::DStep {
            return self.assignment();
        }
        let ahead = context.urgency == Urgency::Atomic;
        let tops = self.labels.iter().filter(|(top, _)| !ahead || *top > context.top);
        let mut targets: Vec<String> = tops.map(|(_, label)| label.clone()).collect();
        if !ahead {
            targets.extend(self.inner.iter().cloned());
        }
        if targets.is_empty() {
            return self.assignment();
        }
        self.constructs.insert("goto");
        format!("goto {}", targets[self.choices.below(targets.len())])
    }

    fn shorthand(&mut self, context: StatementContext) -> String {
        let numbers = |ty| matches!(ty, Ty::Byte | Ty::Short | Ty::Int);
        let place = self.places().into_iter().find(|it| numbers(it.ty));
        match (place, self.inlines.is_empty()) {
            // The context of an inline's body is unknown, so its statements may not be allowed in a deterministic step.
            (Some(place), false) if context.urgency == Urgency::None => {
                self.constructs.insert("inline");
                format!("change({})", place.text)
            }
            (Some(place), _) if self.constructs.contains("macro") => {
                match self.choices.chance(50) {
                    true => format!("{} = NEXT({0})", place.text),
                    false => format!("FLIP({})", place.text),
                }
            }
            _ => self.assignment(),
        }
    }

    /// Starts another process if there are few.
    fn bounded_run(&mut self) -> String {
        let at = self.choices.below(self.processes.len());
        let run = self.run(at);
        match self.choices.below(2) {
            0 => format!("if :: _nr_pr < 4 -> {run} :: else fi"),
            _ => format!("atomic {{ _nr_pr < 4 -> {run} }}"),
        }
    }

    /// Builds a `run` with parameters.
    pub(super) fn run(&mut self, at: usize) -> String {
        self.constructs.insert("run");
        let mut arguments = Vec::new();
        for ty in self.processes[at].parameters.clone() {
            self.constructs.insert("parameter");
            arguments.push(match ty {
                Ty::Chan => {
                    let mut first = self.first_kind();
                    if !first.is_empty() && !self.own_channels.is_empty() {
                        // A process passes on its own channels, or those that it got.
                        let own = self.choices.below(self.own_channels.len());
                        first.extend([&*self.own_channels[own].text.clone().leak(); 2]);
                    }
                    // Without channels the parameter is unused.
                    match first.is_empty() {
                        true => "0".into(),
                        false => {
                            self.constructs.insert("channel argument");
                            self.choices.pick(&first).into()
                        }
                    }
                }
                ty => self.constant(ty),
            });
        }
        format!("run {}({})", self.processes[at].name, arguments.join(", "))
    }

    fn select(&mut self, context: StatementContext) -> String {
        let mut places = self.places().into_iter().filter(|it| {
            matches!(it.ty, Ty::Byte | Ty::Short | Ty::Int) && !it.text.contains(['[', '.'])
        });
        let Some(place) = places.next_back() else { return self.assignment() };
        if context.urgency == Urgency::DStep {
            return self.assignment();
        }
        self.constructs.insert("select");
        format!("select({} : 0 .. {})", place.text, 1 + self.choices.below(2))
    }

    /// Returns the options of an `if` or a `do`; the last may be `else`.
    fn options(&mut self, context: StatementContext, enough: bool) -> String {
        let mut text = String::new();
        let mut conditions_only = true;
        for _ in 0..1 + self.choices.below(3) {
            let guard = match context.urgency {
                Urgency::DStep => self.condition(1),
                _ => match self.choices.weighted(&[10, 4, 4, 5, 2]) {
                    0 => self.condition(1),
                    1 => self.send(context.urgency).unwrap_or_else(|| self.condition(0)),
                    2 => self.receive(context.urgency).unwrap_or_else(|| self.condition(0)),
                    4 => {
                        self.constructs.insert("timeout");
                        "timeout".into()
                    }
                    _ => {
                        let deeper = StatementContext { depth: context.depth + 1, ..context };
                        self.statement(deeper)
                    }
                },
            };
            conditions_only &= !guard.contains(['!', '?', '{']) || guard.contains("!=");
            match self.choices.chance(70) {
                true => {
                    text += &format!(" :: {guard} -> {}", self.sequence(context, 2));
                }
                false => text += &format!(" :: {guard}"),
            }
        }
        let beside_messages = !conditions_only && self.choices.chance(30);
        if enough || self.choices.chance(40) && (conditions_only || beside_messages) {
            self.constructs.insert(if conditions_only { "else" } else { "else beside messages" });
            let sequence = match self.choices.chance(50) {
                true if context.in_loop => "break".into(),
                _ => self.sequence(context, 1),
            };
            text += &format!(" :: else -> {sequence}");
        }
        text
    }

    fn alternatives(&mut self, context: StatementContext) -> String {
        self.constructs.insert("if");
        let enough = context.urgency == Urgency::DStep;
        format!("if{} fi", self.options(context, enough))
    }

    fn repetition(&mut self, context: StatementContext) -> String {
        if context.urgency != Urgency::None {
            return self.alternatives(context);
        }
        self.constructs.insert("do");
        let inside = StatementContext { in_loop: true, ..context };
        format!("do{} od", self.options(inside, false))
    }

    fn atomic(&mut self, context: StatementContext) -> String {
        if context.urgency == Urgency::DStep {
            return self.assignment();
        }
        self.constructs.insert("atomic");
        let inside = StatementContext { urgency: Urgency::Atomic, ..context };
        format!("atomic {{ {} }}", self.sequence(inside, 4))
    }

    /// Returns a deterministic step that begins with a condition, a receive or an assignment, and rarely blocks.
    fn d_step(&mut self, context: StatementContext) -> String {
        self.constructs.insert("d_step");
        let inside = StatementContext { urgency: Urgency::DStep, in_loop: false, ..context };
        let first = match self.choices.below(3) {
            0 => format!("({})", self.condition(1)),
            1 => self.receive(Urgency::DStep).unwrap_or_else(|| self.assignment()),
            _ => self.assignment(),
        };
        let mut lines = vec![first];
        for _ in 0..self.choices.below(3) {
            lines.push(match self.choices.below(4) {
                0 => self.alternatives(StatementContext { depth: context.depth + 1, ..inside }),
                1 => self.counted(),
                2 if self.choices.chance(30) => {
                    self.send(Urgency::DStep).unwrap_or_else(|| self.assignment())
                }
                _ => self.assignment(),
            });
        }
        format!("d_step {{ {} }}", lines.join("; "))
    }

    fn unless(&mut self, context: StatementContext) -> String {
        self.constructs.insert("unless");
        let inside = StatementContext { in_loop: false, ..context };
        let main = self.sequence(inside, 3);
        let guard = match self.choices.below(3) {
            0 => self.receive(context.urgency).unwrap_or_else(|| self.condition(1)),
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
        self.constructs.insert("for");
        let value = self.value(assigned.ty);
        format!("for ({} : 0 .. 1) {{ {} = {value} }}", place.text, assigned.text)
    }
}
