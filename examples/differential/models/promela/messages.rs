//! Sends, receives and polls of every form.

use super::{Channel, ModelGenerator, Ty, Urgency};

impl ModelGenerator<'_> {
    /// Returns a channel for a send or a receive at this point.
    fn channel(&mut self, urgency: Urgency) -> Option<Channel> {
        // If there is no channel, a parameter may still have the name of one.
        let own = self.own_channels.iter().filter(|_| !self.kinds.is_empty());
        let all = self.channels.iter().chain(own);
        // A deterministic step contains no rendezvous.
        let fitting: Vec<&Channel> =
            all.filter(|it| urgency != Urgency::DStep || it.buffered).collect();
        match fitting.len() {
            0 => None,
            count => Some(fitting[self.choices.below(count)].clone()),
        }
    }

    pub(super) fn send(&mut self, urgency: Urgency) -> Option<String> {
        let channel = self.channel(urgency)?;
        let fields = self.kinds[channel.kind].clone();
        let sorted = channel.buffered && self.choices.chance(15);
        if sorted {
            self.constructs.insert("sorted send");
        }
        if channel.variable {
            self.constructs.insert("through a chan variable");
        }
        let mut values = Vec::new();
        for ty in fields {
            values.push(self.message_value(ty));
        }
        let operator = if sorted { "!!" } else { "!" };
        Some(match values.len() > 1 && self.choices.chance(15) {
            true => format!("{}{operator}{}({})", channel.text, values[0], values[1..].join(", ")),
            false => format!("{}{operator}{}", channel.text, values.join(", ")),
        })
    }

    /// Returns a value for the field.
    fn message_value(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Chan => {
                let first = self.first_kind();
                self.choices.pick(&first).into()
            }
            // Computed values stay in the range of all types of variables.
            Ty::Byte | Ty::Short | Ty::Int if self.choices.chance(50) => {
                let value = self.value(Ty::Byte);
                format!("(({value}) & 3)")
            }
            Ty::Byte => self.constant(Ty::Byte),
            ty => self.constant(ty),
        }
    }

    pub(super) fn receive(&mut self, urgency: Urgency) -> Option<String> {
        let channel = self.channel(urgency)?;
        let arguments = self.arguments(channel.kind, false);
        let operator = match channel.buffered && self.choices.chance(20) {
            true => {
                self.constructs.insert("random receive");
                "??"
            }
            false => "?",
        };
        let copies = channel.buffered && self.choices.chance(12);
        Some(match copies {
            true => {
                self.constructs.insert("copy");
                format!("{}{operator}<{arguments}>", channel.text)
            }
            false => format!("{}{operator}{arguments}", channel.text),
        })
    }

    pub(super) fn poll(&mut self) -> Option<String> {
        let channel = self.channel(Urgency::DStep)?;
        self.constructs.insert("poll");
        let arguments = self.arguments(channel.kind, true);
        let operator = if self.choices.chance(20) { "??" } else { "?" };
        Some(format!("{}{operator}[{arguments}]", channel.text))
    }

    /// Returns the patterns and targets of a receive.
    ///
    /// Each variable is stored once, and no compared variable is stored. Otherwise SPIN's verifier does not undo the
    /// step correctly.
    fn arguments(&mut self, kind: usize, poll: bool) -> String {
        let fields = self.kinds[kind].clone();
        let mut taken: Vec<String> = Vec::new();
        let mut arguments = Vec::new();
        for ty in fields {
            let places = self.places().into_iter();
            let fitting: Vec<String> = places
                .filter(|it| it.ty == ty && !it.text.contains("& 1]"))
                .map(|it| it.text)
                .filter(|it| !taken.contains(it))
                .collect();
            let form = self.choices.below(10);
            arguments.push(match form {
                _ if ty == Ty::Chan
                    && self.own_channels.iter().any(|it| it.text == "q")
                    && !poll =>
                {
                    self.constructs.insert("chan received");
                    match taken.contains(&"q".to_owned()) {
                        true => "_".into(),
                        false => {
                            taken.push("q".into());
                            "q".into()
                        }
                    }
                }
                _ if ty == Ty::Chan => "_".into(),
                0 | 1 => self.constant(ty),
                2 => {
                    self.constructs.insert("eval");
                    format!("eval({})", self.place().text)
                }
                3 => "_".into(),
                _ if fitting.is_empty() || poll => "_".into(),
                _ => {
                    let name = fitting[self.choices.below(fitting.len())].clone();
                    taken.push(name.clone());
                    name
                }
            });
        }
        let base = |text: &str| text.split(['[', '.']).next().unwrap_or_default().to_owned();
        let stored: Vec<String> = taken.iter().map(|it| base(it)).collect();
        for argument in &mut arguments {
            if argument.starts_with("eval(") && stored.iter().any(|it| argument.contains(it)) {
                *argument = "_".into();
            }
        }
        arguments.join(", ")
    }
}
