//! Expressions: small numbers, and queries about all visible objects.

use super::{ModelGenerator, Place, Ty};

impl ModelGenerator<'_> {
    /// Returns a constant of this type.
    pub(super) fn constant(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bit => self.choices.below(2).to_string(),
            Ty::Bool => self.choices.pick(&["false", "true"]).into(),
            Ty::Mtype => self.choices.pick(&self.names).into(),
            Ty::Fruit => self.choices.pick(&self.fruits).into(),
            Ty::Short | Ty::Int => self.choices.pick(&["0", "1", "-1", "2", "300"]).into(),
            Ty::Unsigned(_) | Ty::Byte => self.choices.below(3).to_string(),
            Ty::Chan => unreachable!("channels have no constants"),
        }
    }

    pub(super) fn places(&self) -> Vec<Place> {
        self.globals.iter().chain(&self.locals).cloned().collect()
    }

    /// Returns a target of an assignment.
    pub(super) fn place(&mut self) -> Place {
        let places = self.places();
        places[self.choices.below(places.len())].clone()
    }

    /// Returns a value for a variable of this type.
    pub(super) fn value(&mut self, ty: Ty) -> String {
        let place = self.place();
        let text = &place.text;
        match ty {
            Ty::Fruit => self.constant(ty),
            Ty::Mtype if !self.choices.chance(10) => match self.choices.chance(20) {
                true => {
                    let other = self.places().into_iter().find(|it| it.ty == Ty::Mtype);
                    other.map_or("green".into(), |it| it.text)
                }
                false => self.constant(ty),
            },
            Ty::Bit | Ty::Bool => match self.choices.below(4) {
                0 => self.constant(ty),
                1 => format!("!{text}"),
                _ => format!("({})", self.operand(1)),
            },
            _ => match self.choices.below(12) {
                0..=3 => self.constant(ty),
                4 => format!("1 - ({text} & 1)"),
                5 => format!("({text} + 1) % 3"),
                6 => text.clone(),
                7 => {
                    self.constructs.insert("conditional expression");
                    let condition = self.operand(1);
                    let [one, other] = [self.constant(Ty::Byte), self.constant(Ty::Byte)];
                    format!("(({condition}) -> {one} : {other})")
                }
                8 => self.builtin_number(),
                9 => format!("({text} ^ {}) & 3", self.choices.below(4)),
                10 => format!("({text} << 1) % 5"),
                _ => format!("{text} - 1"),
            },
        }
    }

    /// Returns a number that is not a variable.
    fn builtin_number(&mut self) -> String {
        let buffered: Vec<String> = self.buffered();
        match self.choices.below(4) {
            0 => {
                self.constructs.insert("_pid");
                "_pid".into()
            }
            1 => {
                self.constructs.insert("_nr_pr");
                "_nr_pr".into()
            }
            _ if !buffered.is_empty() => {
                self.constructs.insert("len");
                format!("len({})", buffered[self.choices.below(buffered.len())])
            }
            _ => "2".into(),
        }
    }

    /// Channels whose length can be queried.
    fn buffered(&self) -> Vec<String> {
        let all = self.channels.iter().chain(&self.own_channels);
        all.filter(|it| it.buffered).map(|it| it.text.clone()).collect()
    }

    /// Returns a condition.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        let place = self.place();
        let text = &place.text;
        let constant = self.constant(place.ty);
        match self.choices.weighted(&[30, 15, 10, 10, 6, 6, 6, 5, 3, 4, 3, 3]) {
            0 => format!("{text} == {constant}"),
            1 => format!("{text} != {constant}"),
            2 => format!("{text} < {}", self.choices.between(1, 3)),
            3 => {
                let other = self.place().text;
                format!("{text} == {other}")
            }
            4 if depth > 0 => {
                let [one, other] = [self.condition(depth - 1), self.condition(depth - 1)];
                let operator = self.choices.pick(&["&&", "||"]);
                format!("({one} {operator} {other})")
            }
            5 if depth > 0 => format!("!({})", self.operand(depth - 1)),
            6 => self.channel_query(),
            7 => self.poll().unwrap_or_else(|| text.clone()),
            8 => format!("{} > {}", self.builtin_number(), self.choices.between(0, 2)),
            9 => self.remote_reference(),
            10 => self.timeout_condition(),
            11 => self.enabled(),
            _ => text.clone(),
        }
    }

    /// Returns a condition that reads `timeout`.
    fn timeout_condition(&mut self) -> String {
        self.constructs.insert("timeout in an expression");
        let text = self.place().text;
        match self.choices.below(4) {
            0 => format!("(timeout && {text} == 1)"),
            1 => format!("({text} != 1 && timeout)"),
            2 => "!timeout".into(),
            _ => format!("(timeout || {text} == 2)"),
        }
    }

    /// Returns a query whether a process of an earlier type is enabled. SPIN does not allow the query with rendezvous
    /// channels.
    ///
    /// A process that queries itself and cyclic queries are errors. Queries of earlier types exclude both.
    fn enabled(&mut self) -> String {
        let earlier = &self.processes[..self.current.unwrap_or_default()];
        let count: usize = earlier.iter().map(|it| it.active).sum();
        let buffered = self.channels.iter().all(|it| it.buffered);
        if count == 0 || !buffered {
            return "true".into();
        }
        self.constructs.insert("enabled");
        format!("enabled({})", self.choices.below(count))
    }

    /// Returns a condition as a part of another. It contains no queries about the length of a channel.
    fn operand(&mut self, depth: usize) -> String {
        let condition = self.condition(depth);
        match condition.contains("full(") || condition.contains("empty(") {
            true => "true".into(),
            false => condition,
        }
    }

    fn channel_query(&mut self) -> String {
        let buffered = self.buffered();
        if buffered.is_empty() {
            return "true".into();
        }
        let channel = buffered[self.choices.below(buffered.len())].clone();
        let question = self.choices.pick(&["full", "empty", "nfull", "nempty"]);
        self.constructs.insert(question);
        format!("{question}({channel})")
    }

    /// Returns a query about the location of a process or about one of its variables.
    fn remote_reference(&mut self) -> String {
        let at = self.choices.below(self.processes.len());
        // Pids are in the order of the declarations.
        let pid: usize = self.processes[..at].iter().map(|it| it.active).sum();
        let process = &self.processes[at];
        if process.active == 0 {
            return "true".into();
        }
        let name = &process.name;
        match (&process.local, process.labels.as_slice()) {
            // A process can only query its own earlier labels.
            (_, [.., label]) if self.choices.chance(70) && self.current != Some(at) => {
                self.constructs.insert("remote label");
                format!("{name}[{pid}]@{label}")
            }
            (Some(local), _) => {
                self.constructs.insert("remote variable");
                format!("{name}[{pid}]:{local} == 1")
            }
            _ => "true".into(),
        }
    }

    /// Returns a condition on global variables only.
    pub(super) fn global_condition(&mut self) -> String {
        let locals = std::mem::take(&mut self.locals);
        let place = self.place();
        self.locals = locals;
        let constant = self.constant(place.ty);
        format!("{} {} {constant}", place.text, self.choices.pick(&["!=", "=="]))
    }

    /// Returns a condition of a claim.
    pub(super) fn claim_condition(&mut self) -> String {
        match self.choices.below(3) {
            0 => self.remote_reference(),
            1 => self.channel_query(),
            _ => self.global_condition(),
        }
    }
}
