//! The instances that may change what a claim reads of a state.
//!
//! An instance that writes a variable of a condition need not change the condition: `x = 0` does not change `x > 5` if
//! `x` was 1. So a condition over a few cells is evaluated for all their values. An instance is invisible to it if none
//! of its executions leads from values to others for which the condition is different. What an instance stores is known
//! for constants, for counters and for locations. A condition over too many cells is divided into its operands: if none
//! of them changes, it does not change either (`docs/reductions/properties.md`).

use spillway_analysis::access::{
    AccessSet, ConjunctCondition, CounterAddition, InstanceAccess, LocationChange,
};
use spillway_analysis::dependence::DependenceRelation;
use spillway_analysis::instances::InstanceId;
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{BinaryOp, Claim, Expr, ExprKind, LocationId, PropertyId, StmtKind, UnaryOp};
use std::collections::BTreeSet;

/// The most combinations of values for which a condition is evaluated.
const COMBINATIONS_MAX: usize = 1 << 12;

/// The most evaluations for a claim: in a program, and in one configuration. A program may have thousands of
/// configurations.
const EVALUATIONS_MAX: usize = 1 << 14;
const EVALUATIONS_MAX_EACH: usize = 1 << 11;

/// Finds the instances that may change what a claim reads.
pub(super) struct ClaimVisibility<'c> {
    interp: &'c Interp,
    dependence: &'c DependenceRelation<'c>,
    /// The number of evaluations that are left.
    left: usize,
}

/// A cell of a condition.
struct TabledCell {
    cell: CellId,
    /// The possible values; `None` stands for an undefined one.
    values: Vec<Option<i64>>,
    /// The number of the first location, if the cell holds the location of a process.
    first_location: Option<i64>,
}

/// What an instance makes of a cell of a condition: for each possible value, the possible values after it. There are none
/// if the instance is not enabled.
type CellSteps = Vec<Vec<usize>>;

impl<'c> ClaimVisibility<'c> {
    pub fn new(
        interp: &'c Interp,
        dependence: &'c DependenceRelation<'c>,
        of_configuration: bool,
    ) -> ClaimVisibility<'c> {
        let left = if of_configuration { EVALUATIONS_MAX_EACH } else { EVALUATIONS_MAX };
        ClaimVisibility { interp, dependence, left }
    }

    /// Returns the instances that may change a guard or an assertion of a claim.
    pub fn visible(&mut self, property: PropertyId, claim: &Claim) -> Vec<InstanceId> {
        let all = self.dependence.visible(property);
        let Some(conditions) = conditions(claim) else { return all };
        let mut visible = BTreeSet::new();
        for condition in conditions {
            visible.extend(self.changers(condition, &all));
        }
        visible.into_iter().collect()
    }

    /// Returns those of some instances that may change a condition.
    fn changers(&mut self, condition: &Expr, among: &[InstanceId]) -> Vec<InstanceId> {
        let read = self.dependence.table().expression(condition);
        let mut changers = among.to_vec();
        changers.retain(|it| self.dependence.access(*it).effect.may_change(&read));
        if changers.is_empty() {
            return changers;
        }
        if let Some(cells) = self.tabled_cells(&read) {
            let steps =
                |it: &InstanceId| steps_of(self.interp, &cells, self.dependence.access(*it));
            let known: Vec<Option<Vec<CellSteps>>> = changers.iter().map(steps).collect();
            if known.iter().all(Option::is_none) {
                return changers;
            }
            if let Some(results) = self.evaluate(condition, &cells) {
                let mut known = known.into_iter();
                let may_change = |steps: Vec<CellSteps>| differs(&results, &steps, 0, 0);
                changers.retain(|_| known.next().flatten().is_none_or(may_change));
                return changers;
            }
        }
        let operands = operands(condition);
        if operands.is_empty() {
            return changers;
        }
        let mut all = BTreeSet::new();
        for operand in operands {
            all.extend(self.changers(operand, &changers));
        }
        all.into_iter().collect()
    }

    /// Returns the cells of these reads, if they read nothing else and the cells have few values.
    fn tabled_cells(&self, read: &AccessSet) -> Option<Vec<TabledCell>> {
        let AccessSet { reads, asks, failures, .. } = read.clone();
        let of_cells = AccessSet { reads, asks, failures, ..AccessSet::default() };
        if *read != of_cells {
            return None;
        }
        let asked = read.asks.iter().map(|(cell, _)| *cell);
        let cells: BTreeSet<CellId> = read.reads.iter().chain(asked).collect();
        cells.into_iter().map(|cell| self.tabled(cell)).collect()
    }

    /// Evaluates a condition for all values of these cells, if they are few. The values of the first cell vary slowest.
    /// The result is `None` if the evaluation fails.
    fn evaluate(&mut self, condition: &Expr, cells: &[TabledCell]) -> Option<Vec<Option<bool>>> {
        let counts = cells.iter().map(|it| it.values.len());
        let count = counts.fold(1_usize, usize::saturating_mul);
        if count > COMBINATIONS_MAX {
            return None;
        }
        self.left = self.left.checked_sub(count)?;
        let layout = self.interp.layout();
        let mut state = vec![0; layout.bytes];
        let results = (0..count).map(|number| {
            let mut rest = number;
            for it in cells.iter().rev() {
                layout.set(&mut state, it.cell, it.values[rest % it.values.len()]);
                rest /= it.values.len();
            }
            self.interp.judge_condition(condition, None, &[], &state)
        });
        Some(results.collect())
    }

    /// Returns a cell with its possible values, if they are few.
    fn tabled(&self, cell: CellId) -> Option<TabledCell> {
        let (layout, program) = (self.interp.layout(), self.interp.program());
        let about = layout.cells.get(cell).filter(|it| !it.is_wide())?;
        let range = self.dependence.table().cell_values(cell);
        let is_possible = |value: &Option<i64>| match (value, range) {
            (_, None) => true,
            (Some(value), Some((least, most))) => (least..=most).contains(value),
            (None, Some(_)) => false,
        };
        let codes = 0..about.count();
        if codes.len() > COMBINATIONS_MAX {
            return None;
        }
        let values = codes.map(|code| about.value(code)).filter(is_possible).collect();
        let first_location = layout.first_location(program, cell);
        Some(TabledCell { cell, values, first_location })
    }
}

/// Returns what an instance makes of some cells, if it is known.
fn steps_of(
    interp: &Interp,
    cells: &[TabledCell],
    access: &InstanceAccess<'_>,
) -> Option<Vec<CellSteps>> {
    cells.iter().map(|it| it.steps(interp, access)).collect()
}

/// Returns whether a condition has another result after steps of its cells. `from` and `to` number the values of the
/// cells before these.
fn differs(results: &[Option<bool>], steps: &[CellSteps], from: usize, to: usize) -> bool {
    let Some((first, others)) = steps.split_first() else { return results[from] != results[to] };
    let count = first.len();
    first.iter().enumerate().any(|(before, after)| {
        let mut after = after.iter();
        after.any(|after| differs(results, others, from * count + before, to * count + after))
    })
}

impl TabledCell {
    /// Returns the steps of an instance, if they are known.
    fn steps(&self, interp: &Interp, access: &InstanceAccess<'_>) -> Option<CellSteps> {
        let AccessSet { writes, sets, adds, moves, definite_writes, .. } = &access.effect;
        if writes.contains(self.cell) {
            return None;
        }
        let constants: Vec<i64> =
            sets.iter().filter(|it| it.0 == self.cell).map(|it| it.1).collect();
        let added: Vec<&CounterAddition> =
            adds.iter().filter(|it| it.cells.contains(self.cell)).collect();
        let moved: Vec<&LocationChange> =
            moves.iter().filter(|it| it.cell == self.cell && it.from != it.to).collect();
        let is_replaced = constants.len() == 1 && definite_writes.contains(self.cell);
        let mut steps = CellSteps::new();
        for (at, &value) in self.values.iter().enumerate() {
            if !self.is_enabled(interp, access, value) {
                steps.push(Vec::new());
                continue;
            }
            let stays = (!is_replaced).then_some(at);
            let after = match (&constants[..], &added[..], &moved[..]) {
                (constants, [], []) => {
                    let stored = constants.iter().map(|it| self.index(Some(*it)));
                    stored.collect::<Option<Vec<usize>>>()?
                }
                ([], [addition], []) => vec![self.after_addition(interp, addition, value)?],
                ([], [], moved) => self.after_moves(moved, value)?,
                _ => return None,
            };
            steps.push(stays.into_iter().chain(after).collect());
        }
        Some(steps)
    }

    /// Returns the value after an addition. If the sum is out of range, it is wrapped, or the step fails.
    fn after_addition(
        &self,
        interp: &Interp,
        addition: &CounterAddition,
        value: Option<i64>,
    ) -> Option<usize> {
        let is_known = addition.is_once && addition.cells.single() == Some(self.cell);
        let sum = value.and_then(|it| it.checked_add(addition.by)).filter(|_| is_known)?;
        self.index(Some(interp.layout().cells[self.cell].wrap(sum)))
    }

    /// Returns the locations after some moves. An atomic sequence makes several.
    fn after_moves(&self, moved: &[&LocationChange], value: Option<i64>) -> Option<Vec<usize>> {
        let first = self.first_location?;
        let (mut reached, mut open) = (BTreeSet::new(), vec![value]);
        while let Some(here) = open.pop() {
            for change in moved {
                let location = |it: LocationId| Some(i64::from(it.0) + first);
                let (from, to) = (location(change.from?), location(change.to?));
                if here == from && reached.insert(self.index(to)?) {
                    open.push(to);
                }
            }
        }
        Some(reached.into_iter().collect())
    }

    fn index(&self, value: Option<i64>) -> Option<usize> {
        self.values.iter().position(|it| *it == value)
    }

    /// Returns whether an instance may be enabled if the cell has a value.
    fn is_enabled(&self, interp: &Interp, access: &InstanceAccess<'_>, value: Option<i64>) -> bool {
        let arithmetic = interp.program().arithmetic;
        access.certain_conjuncts().all(|it| match (&it.condition, value) {
            (ConjunctCondition::At(cell, location), Some(value)) if *cell == self.cell => {
                self.first_location.is_none_or(|first| value == first + i64::from(location.0))
            }
            (ConjunctCondition::Compares(cell, ..), Some(value)) if *cell == self.cell => {
                it.condition.holds_of(arithmetic, value)
            }
            _ => true,
        })
    }
}

/// Returns the guards and assertions of a claim. `None` if a move does anything else.
fn conditions(claim: &Claim) -> Option<Vec<&Expr>> {
    let mut all = Vec::new();
    for it in &claim.moves {
        all.extend(&it.action.guard);
        for statement in &it.action.body {
            match &statement.kind {
                StmtKind::Assert { condition, .. } => all.push(condition),
                _ => return None,
            }
        }
    }
    Some(all)
}

/// Returns the operands of a condition, if they are conditions.
fn operands(condition: &Expr) -> Vec<&Expr> {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => vec![operand],
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, left, right) => {
            vec![left, right]
        }
        _ => Vec::new(),
    }
}
