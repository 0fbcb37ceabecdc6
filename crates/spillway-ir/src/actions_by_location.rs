//! The actions that leave each location, or that reach it.

use super::{ActionId, Entity as _, LocationId, ProcessEdge, ProcessId, Program};

/// The actions of each process at each of its locations, ascending.
#[derive(Clone, Debug)]
pub struct ActionsByLocation(Vec<Vec<Vec<ActionId>>>);

impl ActionsByLocation {
    /// Returns the actions that leave each location.
    pub fn leaving(program: &Program) -> ActionsByLocation {
        ActionsByLocation::by(program, |edge| edge.from)
    }

    /// Returns the actions that reach each location.
    pub fn reaching(program: &Program) -> ActionsByLocation {
        ActionsByLocation::by(program, |edge| edge.to)
    }

    fn by(program: &Program, end: impl Fn(ProcessEdge) -> LocationId) -> ActionsByLocation {
        let locations = program.processes.values().map(|it| vec![Vec::new(); it.locations.len()]);
        let mut all: Vec<Vec<Vec<ActionId>>> = locations.collect();
        for (id, action) in program.actions.iter() {
            if let Some(edge) = action.edge {
                all[edge.process.index()][end(edge).index()].push(id);
            }
        }
        ActionsByLocation(all)
    }

    /// Returns the actions at a location of a process.
    pub fn at(&self, process: ProcessId, location: LocationId) -> &[ActionId] {
        &self.0[process.index()][location.index()]
    }

    /// Returns the actions of a process, location by location.
    pub fn of_process(&self, process: ProcessId) -> impl Iterator<Item = ActionId> {
        self.0[process.index()].iter().flatten().copied()
    }
}
