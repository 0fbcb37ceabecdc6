//! How processes with slots come and go, and how their actions hang together.

use super::expr::TextEmitter;
use crate::ir::{ActionControl, PidRule, ProcessLifecycle, TurnRule};

impl TextEmitter<'_> {
    /// What an action's head says about its place among others, in the order: tier, otherwise, then.
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

    /// The lines of a process that say how its instances come and when they move.
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
