//! How processes with slots come and go, and how their actions hang together.

use super::expr::Emitter;
use crate::ir::{Control, Life, Pid, Turn};

impl Emitter<'_> {
    /// What an action's head says about its place among others, in the order: tier, otherwise, then.
    pub(super) fn control(&mut self, control: Control) {
        if control.tier != 0 {
            self.put(" tier ");
            self.number(control.tier);
        }
        if control.otherwise {
            self.put(" otherwise");
        }
        self.put(match control.turn {
            Turn::Open => "",
            Turn::Atomic => " then atomic",
            Turn::First => " then first",
        });
    }

    /// The lines of a process that say how its instances come and when they move.
    pub(super) fn life(&mut self, life: &Life) {
        match life.pid {
            Pid::None => {}
            Pid::From(first) => {
                self.line();
                self.put("pids from ");
                self.number(first);
            }
            Pid::In(variable) => {
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
