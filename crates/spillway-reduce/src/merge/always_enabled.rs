//! Whether some action is always enabled at a location.

use spillway_analysis::access::AccessTable;
use spillway_analysis::instances::InstanceId;
use spillway_exec::Interp;
use spillway_ir::interval::Interval;
use spillway_ir::layout::CellId;
use spillway_ir::{ActionId, Expr, LocationId, ProcessId, ProcessInstance};

/// The most tuples of values for which guards are evaluated.
const TRIED_MAX: u64 = 1 << 12;

/// Whether a process at a location can always execute one of these actions, which are local and all that start there.
pub(crate) fn is_always_enabled(
    table: &AccessTable<'_>,
    written: &Interp,
    process: ProcessId,
    at: LocationId,
    actions: &[ActionId],
) -> bool {
    let program = table.program();
    let is_unguarded = |id: &ActionId| {
        let action = &program.actions[*id];
        // An `else` action is enabled where no other is.
        action.guard.as_ref().is_none_or(|it| it.as_constant() == Some(1))
    };
    if actions.iter().any(is_unguarded) {
        return true;
    }
    (0..program.slots(process)).all(|slot| {
        let mover = ProcessInstance { process, slot };
        InstanceGuards::of(table, mover, actions).hold(table, written, at)
    })
}

/// The guards of one instance, and the cells that they read.
struct InstanceGuards<'t> {
    mover: ProcessInstance,
    guards: Vec<&'t Expr>,
    /// The cells with the range of their values; `None` if a range is unknown.
    cells: Option<Vec<(CellId, Interval)>>,
}

impl<'t> InstanceGuards<'t> {
    fn of(
        table: &'t AccessTable<'_>,
        mover: ProcessInstance,
        actions: &[ActionId],
    ) -> InstanceGuards<'t> {
        let mut read = spillway_analysis::access::CellSet::default();
        for &id in actions {
            let Some(number) = table.instances().first_alone(id, mover.slot) else { continue };
            let access = table.access(InstanceId(number));
            access.guard.iter().for_each(|it| read.extend(&it.reads().reads));
        }
        let held = read.iter().map(|cell| Some((cell, table.cell_values(cell)?)));
        let cells = held.collect();
        let guards = actions.iter().filter_map(|&id| table.program().actions[id].guard.as_ref());
        InstanceGuards { mover, guards: guards.collect(), cells }
    }

    /// Whether one of the guards holds for all values of the cells.
    fn hold(&self, table: &AccessTable<'_>, written: &Interp, at: LocationId) -> bool {
        let Some(cells) = &self.cells else { return false };
        let counts = cells.iter().map(|(_, (low, high))| high.abs_diff(*low).saturating_add(1));
        let tries = counts.fold(1u64, u64::saturating_mul);
        if tries > TRIED_MAX {
            return false;
        }
        let layout = written.layout();
        let mut state = vec![0; layout.bytes];
        let has_slots = table.program().processes[self.mover.process].has_slots();
        let place = table.location_cell(self.mover.process, self.mover.slot);
        layout.set_code(&mut state, place, at.0 + u32::from(has_slots));
        (0..tries).all(|number| {
            let mut left = number;
            for &(cell, (low, high)) in cells {
                let count = high.abs_diff(low) + 1;
                layout.set(&mut state, cell, Some(low + (left % count) as i64));
                left /= count;
            }
            let mover = Some(self.mover);
            self.guards
                .iter()
                .any(|it| written.judge_condition(it, mover, &[], &state) == Some(true))
        })
    }
}
