//! Printing of the start of instances, and of the control of actions of processes with slots.

use super::expr::TextEmitter;
use crate::{ActionControl, PidRule, ProcessLifecycle, TurnRule};

impl TextEmitter<'_> {
    /// Writes the control of an action in this order: tier, otherwise, then.
    pub(super) fn control(&mut self, control: ActionControl) {
        if control.tier != 0 {
            self.put(" tier ");
            self.number(control.tier);
        }
        if control.otherwise {
            self.put(" otherwise");
        }
        self.put(match control.turn {
            TurnRule::Open => "",
            TurnRule::Atomic => " then atomic",
            TurnRule::First => " then first",
        });
    }

    /// Writes the lines of a process about the start of its instances and the conditions on their moves.
    pub(super) fn life(&mut self, life: &ProcessLifecycle) {
        match life.pid {
            PidRule::None => {}
            PidRule::From(first) => {
                self.line();
                self.put("pids from ");
                self.number(first);
            }
            PidRule::In(variable) => {
                self.line();
                self.put("pid in ");
                self.put(&self.names.bare_variable(variable));
            }
        }
        if let Some(provided) = &life.provided {
            self.line();
            self.put("provided ");
            self.condition(provided);
        }
        if let Some(priority) = life.priority {
            self.line();
            self.put("priority in ");
            self.put(&self.names.bare_variable(priority));
        }
        if !life.prologue.is_empty() {
            self.line();
            self.put("begins ");
            self.block(&life.prologue);
        }
    }
}
